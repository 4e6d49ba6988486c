// The page of `throng check --html` in a real browser: what is on it, that keys and links work, that it agrees with
// `--json`, stays quick with thousands of steps, loads nothing, and treats the input as text.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, launch, throng } from "./pages.mjs";

const EXAMPLES = join(ROOT, "examples");
const dir = mkdtempSync(join(tmpdir(), "throng-browser-"));

function page(name, file, ...options) {
  const html = join(dir, name + ".html");
  const json = JSON.parse(throng(file, "--html", html, "--json", "--jobs", "1", ...options).stdout);
  return { url: "file://" + html, json };
}

function input(name, text) {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const browser = await launch();

async function open(url, options = {}) {
  const tab = await browser.newPage({ viewport: { width: 1400, height: 860 }, ...options });
  tab.problems = [];
  tab.on("pageerror", (e) => tab.problems.push(String(e)));
  tab.on("console", (m) => ["error", "warning"].includes(m.type()) && tab.problems.push(m.text()));
  tab.on("request", (r) => r.url().startsWith("file:") || tab.problems.push("asked for " + r.url()));
  tab.on("dialog", (d) => (tab.problems.push("dialog " + d.message()), d.dismiss()));
  await tab.goto(url);
  return tab;
}

async function close(tab) {
  assert.deepEqual(tab.problems, []);
  await tab.close();
}

const text = (tab, selector) => tab.locator(selector).first().innerText();
const step = async (tab) => Number(/step (\d+)/.exec(await text(tab, "#counter"))[1]);
const background = (tab) => tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

const tests = {
  async "a run can be walked through by keys and buttons"() {
    const tab = await open(page("spin", join(EXAMPLES, "spinlock-broken.bp")).url);
    assert.equal(await text(tab, "h1"), "UNSAFE");
    assert.match(await text(tab, ".headline"), /2 threads, 8 steps/);
    assert.equal(await step(tab), 0);
    assert.deepEqual(await tab.locator(".lane-name").allInnerTexts(), ["T1", "T2"]);
    for (let i = 0; i < 5; i++) await tab.keyboard.press("ArrowRight");
    assert.equal(await step(tab), 5);
    assert.equal(await text(tab, ".row.now .number"), "5");
    assert.match(await text(tab, ".line.ran"), /12[\s\S]*lock := 1/);
    assert.match(await text(tab, "#shared .changed"), /lock\s*0\s*→\s*1/);
    assert.equal(await tab.locator(".line .chip").count(), 2);
    await tab.keyboard.press("ArrowLeft");
    assert.equal(await tab.locator("#shared .changed").count(), 0);
    await tab.click("#back");
    await tab.click("#forward");
    await tab.click("#forward");
    assert.equal(await step(tab), 5);
    await tab.keyboard.press("Shift+ArrowRight");
    assert.equal(await step(tab), 8);
    await tab.keyboard.press("End");
    assert.equal(await step(tab), 8);
    assert.ok(await tab.locator("#forward").isDisabled());
    assert.match(await text(tab, ".line.bad"), /13[\s\S]*assert\(!busy\)/);
    assert.match(await text(tab, "#told"), /Violated: assertions/);
    await tab.keyboard.press("Home");
    assert.equal(await step(tab), 0);
    await tab.locator('.row[data-step="3"]').click();
    assert.equal(await step(tab), 3);
    await close(tab);
  },

  async "a link to a step opens that step, and the address follows"() {
    const { url } = page("link", join(EXAMPLES, "spinlock-broken.bp"));
    const tab = await open(url + "#step-7");
    assert.equal(await step(tab), 7);
    await tab.keyboard.press("ArrowRight");
    await tab.waitForFunction(() => location.hash === "#step-8");
    await tab.reload();
    assert.equal(await step(tab), 8);
    await tab.locator('.row[data-step="2"] a').click();
    // The page hears of a new address a moment later.
    await tab.waitForFunction(() => document.getElementById("counter").textContent.startsWith("step 2 "));
    await tab.evaluate(() => (location.hash = "#step-999999"));
    await tab.waitForFunction(() => document.getElementById("counter").textContent === "step 8 of 8");
    await close(tab);
  },

  async "every step agrees with the JSON document"() {
    const cases = [["ticketlock-broken.bp"], ["buffer-broken.bp"], ["producer-broken.bp"], ["rockall-broken.bp"], ["mutex-broken.ntts"], ["winner.tts"]];
    for (const [name, ...options] of cases) {
      const { url, json } = page(name, join(EXAMPLES, name), ...options);
      const tab = await open(url);
      for (const [i, event] of json.trace.steps.entries()) {
        await tab.keyboard.press("ArrowRight");
        assert.equal(await step(tab), i + 1);
        const shown = await tab.$$eval("#shared .value", (nodes) => nodes.map((n) => [n.dataset.variable, n.querySelector("b").textContent]));
        assert.deepEqual(Object.fromEntries(shown), event.shared_after, `${name} step ${i + 1}`);
        const changed = await tab.$$eval("#shared .changed", (nodes) => nodes.map((n) => n.dataset.variable));
        assert.deepEqual(changed, event.changes.filter((c) => c.thread === null).map((c) => c.variable));
        if (event.line) assert.equal(await tab.locator(".line.ran").getAttribute("data-line"), String(event.line));
        for (const p of event.participants.filter((p) => p.after)) {
          const row = tab.locator(`.thread[data-thread="${p.thread}"]`);
          if (p.after.line) assert.equal(await row.locator(".number").innerText(), String(p.after.line));
          const locals = await row.locator(".value b").allInnerTexts();
          assert.deepEqual(locals, Object.values(p.after.locals));
        }
        const threads = await tab.locator(".thread[data-thread]").count();
        const counted = (await tab.locator(".count b").allInnerTexts()).reduce((sum, n) => sum + Number(n), 0);
        assert.equal(counted, threads);
      }
      await tab.keyboard.press("Home");
      const first = await tab.$$eval("#shared .value", (nodes) => nodes.map((n) => [n.dataset.variable, n.querySelector("b").textContent]));
      assert.deepEqual(Object.fromEntries(first), json.trace.start.shared, name + ": back at the start");
      await close(tab);
    }
  },

  async "a proof is explained and can be looked through"() {
    const dead = "decl lock := 0;\ndecl never := 0;\nvoid main() begin\n  while * do\n    lock := 1 constrain !lock;\n    assert(lock);\n    if never then\n      skip;\n    fi\n    lock := 0;\n  od\nend\n";
    const tab = await open(page("dead", input("dead.bp", dead), "--engine", "views").url);
    assert.equal(await text(tab, "h1"), "SAFE");
    assert.match(await text(tab, ".claim"), /assertions cannot be violated, for any number of threads/);
    assert.equal(await tab.locator(".obligations.yes li").count(), 3);
    assert.deepEqual(await tab.$$eval(".line.dead", (l) => l.map((n) => n.dataset.line)), ["8"]);
    assert.ok((await tab.$$eval(".line.reached", (l) => l.map((n) => n.dataset.line))).includes("5"));
    assert.match(await text(tab, '.fact[data-line="6"]'), /lock = 1[\s\S]*no other thread is at lines 6–10/);
    await tab.locator(".browse > summary").click();
    const members = await tab.locator(".member").count();
    await tab.fill("#filter", "lock=1 line 6");
    const fewer = await tab.locator(".member").count();
    assert.ok(fewer > 0 && fewer < members, `${fewer} of ${members}`);
    await tab.locator(".member").first().click();
    assert.match(await text(tab, "#member"), /Member \d+[\s\S]*line 6: assert\(lock\)/);
    assert.ok((await tab.locator(".line.chosen").count()) > 0);
    const before = await text(tab, "#member h3");
    await tab.locator(".members").focus();
    await tab.keyboard.press("ArrowDown");
    assert.notEqual(await text(tab, "#member h3"), before);
    await close(tab);
    const reduced = await open(page("reduced", input("dead.bp", dead), "--engine", "explicit", "--threads", "2").url);
    assert.equal(await reduced.locator(".line.dead").count(), 0, "this certificate says nothing about lines");
    assert.match(await text(reduced, ".legend"), /says nothing about which lines/);
    await close(reduced);
    const unchecked = await open(page("unchecked", input("dead.bp", dead), "--no-check", "--engine", "views").url);
    assert.match(await text(unchecked, ".facts"), /NOT checked/);
    assert.equal(await unchecked.locator(".obligations.no").count(), 1);
    await close(unchecked);
  },

  async "no answer: why, what is known, what next"() {
    const tab = await open(page("unknown", join(EXAMPLES, "ticketlock.bp"), "--engine", "explicit", "--max-threads", "3").url);
    assert.equal(await text(tab, "h1"), "UNKNOWN");
    assert.match(await text(tab, ".proof"), /gave up after 3 threads[\s\S]*no violation with up to 3 threads[\s\S]*--max-threads 6/);
    await close(tab);
  },

  async "several targets have a tab each"() {
    const { url } = page("winner", join(EXAMPLES, "winner.tts"));
    const tab = await open(url);
    assert.equal(await tab.locator(".tab").count(), 3);
    assert.equal(await tab.locator(".rows.timeline").count(), 1);
    await tab.locator(".tab").nth(1).click();
    assert.match(await text(tab, ".claim"), /2\|1 cannot be violated/);
    await tab.locator(".tab").nth(0).click();
    assert.equal(await step(tab), 0);
    await close(tab);
    const second = await open(url + "#target-3");
    assert.match(await text(second, ".claim"), /2\|2,2 cannot be violated/);
    await close(second);
  },

  async "nets have lanes and counters, too"() {
    const net = "vars\n  free busy done\nrules\n  free >= 1 -> free' = free - 1, busy' = busy + 1;\n  busy >= 2 -> busy' = busy - 2, done' = done + 1;\ninit\n  free >= 1, busy = 0, done = 0\ntarget\n  done >= 2\n";
    const tab = await open(page("net", input("net.spec", net)).url);
    assert.equal(await text(tab, "h1"), "UNSAFE");
    assert.equal(await tab.locator(".lane-name").count(), 4);
    await tab.keyboard.press("End");
    assert.match(await text(tab, "#counters"), /2\s+done/);
    assert.ok((await tab.locator(".line.ran").count()) === 1);
    await close(tab);
    const crowd = net.replace("free >= 1, busy", "free = 20000, busy");
    const many = await open(page("crowd", input("crowd.spec", crowd), "--engine", "explicit").url);
    assert.match(await text(many, ".time h2"), /too many tokens to tell apart/);
    await many.keyboard.press("End");
    assert.match(await text(many, "#counters"), /2\s+done[\s\S]*19,996\s+free/);
    await close(many);
  },

  async "the input is text, whatever it says"() {
    const evil = '// </script><script>document.title="owned"</script><img src=x onerror=alert(1)> {title} {data} &lt;\ndecl x := 0;  // <b>"quotes"\u2028\'\nvoid main() begin\n  x := 1 constrain !x;\n  assert(!x);\nend\n';
    const tab = await open(page("evil", input("evil<img src=x>.bp", evil)).url);
    assert.match(await tab.title(), /^UNSAFE: .*evil<img src=x>\.bp - Throng$/);
    assert.equal(await tab.locator("img").count(), 0);
    assert.equal(await tab.evaluate(() => document.scripts.length), 2);
    assert.ok((await text(tab, '.line[data-line="1"] code')).includes("</script><script>"));
    await close(tab);
  },

  async "thousands of steps stay quick"() {
    const n = 20000;
    const lines = Array.from({ length: n }, (_, i) => `${i} ${i % 2} -> ${i + 1} ${(i + 1) % 2}`);
    const { url } = page("long", input("long.tts", `${n + 1} 2\n${lines.join("\n")}\n${n}|0\n`));
    const began = Date.now();
    const tab = await open(url);
    const opened = Date.now() - began;
    assert.ok(opened < 5000, `opening took ${opened} ms`);
    const jump = await tab.evaluate(async () => {
      const began = performance.now();
      dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return performance.now() - began;
    });
    assert.ok(jump < 1500, `jumping to the end took ${jump} ms`);
    assert.equal(await step(tab), n);
    assert.match(await text(tab, "#shared .changed"), /19999\s*→\s*20000/);
    assert.ok((await tab.locator(".row").count()) < 200 && (await tab.locator(".line").count()) < 300);
    const keys = await tab.evaluate(async () => {
      const began = performance.now();
      for (let i = 0; i < 100; i++) dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return performance.now() - began;
    });
    assert.equal(await step(tab), n - 100);
    assert.ok(keys < 5000, `a hundred steps back took ${keys} ms`);
    console.log(`      20000 steps: opened in ${opened} ms, to the end in ${jump.toFixed(0)} ms, one step in ${(keys / 100).toFixed(1)} ms`);
    await tab.locator("#slider").fill("10000");
    assert.equal(await step(tab), 10000);
    await close(tab);
  },

  async "light and dark, and paper"() {
    const { url } = page("theme", join(EXAMPLES, "spinlock-broken.bp"));
    const light = await open(url, { colorScheme: "light" });
    const dark = await open(url, { colorScheme: "dark" });
    const [day, night] = [await background(light), await background(dark)];
    assert.notEqual(day, night);
    await dark.click("#theme");
    assert.equal(await background(dark), day);
    await dark.click("#theme");
    await dark.emulateMedia({ media: "print" });
    assert.equal(await background(dark), "rgb(255, 255, 255)");
    assert.ok(!(await dark.locator("#forward").isVisible()));
    assert.equal(await dark.locator(".row").count(), 10);
    assert.ok((await dark.pdf()).length > 10000);
    await close(light);
    await close(dark);
  },

  async "it can be used from the keyboard and read by a screen reader"() {
    const tab = await open(page("keys", join(EXAMPLES, "spinlock-broken.bp")).url);
    const nameless = await tab.$$eval("button, input, [tabindex]", (nodes) => nodes.filter((n) => !(n.getAttribute("aria-label") || n.textContent.trim())).length);
    assert.equal(nameless, 0);
    await tab.focus("#forward");
    await tab.keyboard.press("Enter");
    assert.equal(await step(tab), 1);
    await tab.keyboard.press("?");
    assert.ok(await tab.locator("#help").isVisible());
    await tab.keyboard.press("Escape");
    assert.ok(!(await tab.locator("#help").isVisible()));
    await tab.focus("#slider");
    await tab.keyboard.press("ArrowRight");
    assert.equal(await step(tab), 2, "a slider moves by itself, once");
    assert.equal(await tab.locator('.row[aria-current="step"]').getAttribute("data-step"), "2");
    await close(tab);
  },

  async "without scripts there is the report as text"() {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const tab = await context.newPage();
    await tab.goto(page("plain", join(EXAMPLES, "spinlock-broken.bp")).url);
    assert.match(await tab.locator("noscript").innerText(), /UNSAFE[\s\S]*assert\(!busy\)/);
    await context.close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log("ok    " + name);
  } catch (why) {
    failed += 1;
    console.log("FAILED " + name + "\n" + why.stack);
  }
}
await browser.close();
rmSync(dir, { recursive: true, force: true });
console.log(failed ? `${failed} browser tests failed` : `${Object.keys(tests).length} browser tests passed`);
process.exit(failed ? 1 : 0);
