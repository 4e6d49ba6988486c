// The page of `throng serve` in a real browser: a file is opened, checked and explored, and nothing but the server is asked for anything.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const shots = process.argv[2] === "--screenshots" ? resolve(process.argv[3]) : null;
const server = spawn(resolve(process.env.THRONG), ["serve", resolve("../../../../examples")], { stdio: ["ignore", "pipe", "ignore"] });
const [address] = (await once(server.stdout, "data")).map((data) => String(data).trim());
assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const tab = await browser.newPage({ viewport: { width: 1400, height: 860 } });
  const problems = [];
  tab.on("pageerror", (e) => problems.push(String(e)));
  tab.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  tab.on("request", (r) => r.url().startsWith(address) || problems.push("asked for " + r.url()));
  await tab.goto(address);
  await tab.selectOption("#file", "spinlock-broken.bp");
  await tab.waitForFunction(() => document.getElementById("text").value.includes("looks first"));

  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 60000 });
  assert.equal(await tab.innerText("#status"), "UNSAFE assertions 2 threads, 8 steps");
  const report = tab.frameLocator("#page");
  await report.locator("#counter").waitFor();
  assert.match(await report.locator(".verdict").first().innerText(), /UNSAFE/);
  if (shots) await tab.screenshot({ path: shots + "/serve-check.png" });

  await tab.fill("#threads", "2");
  await tab.click("#explore");
  await tab.waitForSelector("#choices button");
  assert.equal(await tab.innerText("#where"), "after 0 steps");
  assert.ok(await tab.isDisabled("#back"));
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
  if (shots) await tab.screenshot({ path: shots + "/serve-graph.png" });
  await tab.locator("#drawing .bad").first().press("Enter");
  await tab.waitForSelector("#violated:not([hidden])");
  assert.match(await tab.locator("#drawing .here").getAttribute("class"), /bad/);
  await tab.click("#draw");
  await tab.waitForSelector("#graph", { state: "hidden" });

  await tab.click("#violation");
  await tab.waitForFunction(() => document.getElementById("where").textContent.includes("of the run"));
  assert.equal(await tab.innerText("#violated"), "violated here: assertions");
  assert.match(await tab.innerText("#where"), /after 8 steps; step 8 of 8/);
  if (shots) await tab.screenshot({ path: shots + "/serve-explore.png" });
  await tab.click("#back");
  await tab.waitForSelector("#violated", { state: "hidden" });
  await tab.click("#forward");
  await tab.waitForSelector("#violated:not([hidden])");
  assert.deepEqual(problems, []);

  // C: what is asked about it has controls of its own.
  assert.ok(await tab.isHidden("#entries"));
  await tab.fill("#threads", "");
  await tab.selectOption("#file", "c/spinlock-broken.c");
  await tab.waitForFunction(() => document.getElementById("text").value.includes("atomic"));
  assert.ok((await tab.isVisible("#entries")) && (await tab.isHidden("#initial")));
  await tab.fill("#entries", "worker");
  await tab.click("#check");
  await tab.waitForSelector("#status.unsafe", { timeout: 60000 });
  assert.match(await tab.innerText("#status"), /^UNSAFE .*2 threads/);
  await report.locator(".row").first().waitFor();
  assert.match(await report.locator(".verdict").first().innerText(), /UNSAFE/);
  assert.match(await report.locator("body").innerText(), /spinlock-broken\.c/);
  if (shots) await tab.screenshot({ path: shots + "/serve-c.png" });
  await tab.click("#explore");
  await tab.waitForSelector("#choices button");
  await tab.click("#violation");
  await tab.waitForSelector("#violated:not([hidden])");
  if (shots) await tab.screenshot({ path: shots + "/serve-c-explore.png" });
  await tab.selectOption("#file", "c/spinlock.c");
  await tab.waitForFunction(() => document.getElementById("text").value.includes("one step"));
  await tab.check("#assertions");
  await tab.check("#dataRace");
  await tab.click("#check");
  await tab.waitForSelector("#status.safe", { timeout: 60000 });
  // A proof of C has no box for members that it does not have, and C is coloured as C.
  await report.locator(".obligations").first().waitFor();
  assert.equal(await report.locator(".browse").count(), 0);
  assert.match(await report.locator(".source .line i").first().innerText(), /^\/\//);
  assert.ok((await report.locator(".source .line b", { hasText: "int" }).count()) > 0);
  // On a phone, nothing is wider than the screen.
  await tab.setViewportSize({ width: 420, height: 860 });
  assert.ok((await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
  if (shots) await tab.screenshot({ path: shots + "/serve-phone.png" });
  await tab.setViewportSize({ width: 1400, height: 860 });
  await tab.fill("#text", "int worker(void) { return nothing; }");
  await tab.click("#check");
  await tab.waitForSelector("#status.error");
  assert.match(await tab.innerText("#report"), /c\/spinlock\.c:1[\s\S]*nothing/);
  await tab.selectOption("#file", "spinlock.bp");
  await tab.waitForFunction(() => document.getElementById("text").value.includes("decl"));
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
  server.kill();
}
