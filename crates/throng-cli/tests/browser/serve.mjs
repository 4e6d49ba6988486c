// The page of `throng serve` in a real browser, flow by flow: open, type, check, cancel, step, explore, C, Rust, a phone's width.
// Nothing but the server is asked for anything.
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT, choose, launch, serve } from "./pages.mjs";

const server = await serve(join(ROOT, "examples"), "--timeout", "180");
const { address } = server;
const browser = await launch();
try {
  const tab = await browser.newPage({ viewport: { width: 1400, height: 860 } });
  const problems = [];
  tab.on("pageerror", (e) => problems.push(String(e)));
  tab.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  tab.on("request", (r) => r.url().startsWith(address) || problems.push("asked for " + r.url()));
  await tab.goto(address);
  await choose(tab, "spinlock-broken.bp");
  const top = () => tab.evaluate(() => document.querySelector("main").getBoundingClientRect().top);
  const before = await top();

  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 60000 });
  assert.equal(await tab.innerText("#status"), "UNSAFE assertions 2 threads, 8 steps");
  const report = tab.frameLocator("#page");
  await report.locator("#counter").waitFor();
  assert.match(await report.locator(".verdict").first().innerText(), /UNSAFE/);
  // What is said about the search has its place: nothing below it moves.
  assert.equal(await top(), before);

  // Stepping: there is one view of the source, the editor, and its lines follow the timeline.
  assert.ok(await report.locator(".source").isHidden());
  for (let i = 0; i < 5; i++) await report.locator("#forward").click();
  await tab.waitForFunction(() => /12$/.test(document.querySelector("#lines .ran")?.textContent));
  assert.match(await tab.locator("#lines span:has(b:text('T'))").first().innerText(), /T\d/);
  // Once the text is another one, they are not about it.
  await tab.locator("#text").press("End");
  await tab.locator("#text").type(" ");
  assert.equal(await tab.locator("#lines .ran").count(), 0);
  await choose(tab, "spinlock.bp");
  await choose(tab, "spinlock-broken.bp");
  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 60000 });

  // Choices have names.
  await tab.fill("#threads", "2");
  await tab.click("#explore");
  await tab.waitForSelector("#choices button");
  assert.equal(await tab.innerText("#where"), "after 0 steps");
  assert.ok(await tab.isDisabled("#back"));
  const ways = await tab.locator("#choices em").allInnerTexts();
  assert.ok(ways.some((way) => way.includes("enter the loop → line 11")) && ways.some((way) => way.includes("leave the loop")), ways.join("; "));
  const start = await tab.innerText("#counts");
  assert.match(start, /T1 T2\s+line 10/);
  await tab.click("#choices button");
  await tab.waitForFunction(() => document.getElementById("where").textContent === "after 1 step");
  assert.notEqual(await tab.innerText("#counts"), start);
  await tab.click("#back");
  await tab.waitForFunction(() => document.getElementById("where").textContent === "after 0 steps");
  assert.equal(await tab.innerText("#counts"), start);

  // The graph: every configuration of two threads; a click leads there.
  await tab.click("#draw");
  await tab.waitForSelector("#drawing .here");
  assert.match(await tab.innerText("#extent"), /^\d+ configurations, all that can be reached from this start$/);
  assert.match(await tab.locator("#drawing .here").getAttribute("aria-label"), /2 × line 10/);
  assert.ok((await tab.locator("#drawing .bad").count()) > 0);
  // States have names in it, and the start is in view.
  assert.match(await tab.locator("#drawing .here .values").first().textContent(), /lock=0/);
  const seen = await tab.evaluate(() => {
    const [box, start] = [document.querySelector(".drawing"), document.querySelector("#drawing .here")].map((node) => node.getBoundingClientRect());
    return start.left >= box.left && start.top >= box.top && start.bottom <= box.bottom;
  });
  assert.ok(seen, "the start of the graph is not in view");
  await tab.locator("#drawing .bad").first().press("Enter");
  await tab.waitForSelector("#violated:not([hidden])");
  assert.match(await tab.locator("#drawing .here").getAttribute("class"), /bad/);
  await tab.click("#draw");
  await tab.waitForSelector("#graph", { state: "hidden" });

  await tab.click("#violation");
  await tab.waitForFunction(() => document.getElementById("where").textContent.includes("of the run"));
  assert.equal(await tab.innerText("#violated"), "violated here: assertions");
  assert.match(await tab.innerText("#where"), /after 8 steps; step 8 of 8/);
  await tab.click("#back");
  await tab.waitForSelector("#violated", { state: "hidden" });
  await tab.click("#forward");
  await tab.waitForSelector("#violated:not([hidden])");
  assert.deepEqual(problems, []);

  // C: what is asked about it has controls of its own.
  assert.ok(await tab.isHidden("#entries"));
  await tab.fill("#threads", "");
  await choose(tab, "c/spinlock-broken.c");
  assert.ok((await tab.isVisible("#entries")) && (await tab.isHidden("#initial")));
  await tab.fill("#entries", "worker");
  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 60000 });
  assert.match(await tab.innerText("#status"), /^UNSAFE .*2 threads/);
  await report.locator(".row").first().waitFor();
  assert.match(await report.locator(".verdict").first().innerText(), /UNSAFE/);
  assert.match(await report.locator("body").innerText(), /spinlock-broken\.c/);
  await tab.click("#explore");
  await tab.waitForSelector("#choices button");
  await tab.click("#violation");
  await tab.waitForSelector("#violated:not([hidden])");
  await choose(tab, "c/spinlock.c");
  await tab.check("#assertions");
  await tab.check("#dataRace");
  await tab.click("#check");
  await tab.waitForSelector("#status.safe", { timeout: 60000 });
  // A proof of C has no box for members that it does not have, and C is coloured as C.
  await report.locator(".obligations").first().waitFor();
  assert.equal(await report.locator(".browse").count(), 0);
  // What was proved is said line by line, in names of the source.
  const facts = await report.locator("#facts .fact").allInnerTexts();
  assert.ok(facts.some((fact) => fact.includes("lock")) && !facts.some((fact) => fact.includes("__")), facts.join("; "));
  // On a phone, nothing is wider than the screen.
  await tab.setViewportSize({ width: 420, height: 860 });
  assert.ok((await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  const page = tab.frames().find((frame) => frame.url().includes("outcome"));
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  await tab.setViewportSize({ width: 1400, height: 860 });
  await tab.fill("#text", "int worker(void) { return nothing; }");
  await tab.click("#check");
  await tab.waitForSelector("#status.error");
  assert.match(await tab.innerText("#report"), /c\/spinlock\.c:1[\s\S]*nothing/);

  // Rust, as it is typed: the text counts, not the file.
  await choose(tab, "rust/spin_lock-broken.rs");
  assert.ok((await tab.isVisible("#one")) && (await tab.isHidden("#overflow")));
  for (const name of ["assertions", "dataRace"]) await tab.uncheck("#" + name);
  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 120000 });
  assert.match(await report.locator("body").innerText(), /assumes[\s\S]*rustc/);
  await tab.fill("#text", "fn worker() { missing(); }");
  await tab.click("#check");
  await tab.waitForSelector("#status.error", { timeout: 60000 });
  assert.match(await tab.innerText("#report"), /spin_lock-broken\.rs:1:15/);

  // A search is cancelled: the bakery of ever larger numbers has no end.
  await choose(tab, "c/counter.c");
  await tab.fill("#entries", "");
  const endless = "#include <assert.h>\nunsigned long x, y;\nvoid worker(void) { x = x * 3 + 1; y = y * 5 + x; assert(x != 77777777777777); }\n";
  await tab.fill("#text", endless);
  await tab.fill("#entries", "worker");
  await tab.click("#check");
  await tab.waitForFunction(() => document.getElementById("status").textContent.startsWith("checking"));
  assert.ok(await tab.isEnabled("#stop"));
  await tab.click("#stop");
  await tab.waitForFunction(() => document.getElementById("status").textContent === "stopped");
  assert.ok((await tab.isDisabled("#stop")) && (await tab.getAttribute("#progress", "class")) === "idle");

  await choose(tab, "spinlock.bp");
  assert.ok((await tab.isHidden("#entries")) && (await tab.isVisible("#initial")));
  assert.ok(problems.every((p) => p.includes("400")), problems.join("\n"));

  // An edit is checked as it stands, and an error is shown as text.
  await tab.fill("#text", "decl x; void main() begin y := 1; end // <img src=x onerror=alert(1)>");
  await tab.click("#check");
  await tab.waitForSelector("#status.error");
  assert.match(await tab.innerText("#report"), /is not declared/);
  assert.equal(await tab.locator("#report img").count(), 0);
  // The server says 400 to such a program, which the browser notes; there is nothing else.
  assert.ok(problems.every((p) => p.includes("400")), problems.join("\n"));
  console.log("serve: ok");
} finally {
  await browser.close();
  server.end();
}
