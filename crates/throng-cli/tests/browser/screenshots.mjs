// Pictures of every page in four settings: light and dark, wide and narrow.
//   crates/throng-cli/tests/browser/run --screenshots DIR     all of them, to be looked at
//   crates/throng-cli/tests/browser/run --screenshots         those of the book, into docs/images
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ROOT, choose, launch, serve, throng } from "./pages.mjs";

const everything = process.argv[2] && resolve(process.argv[2]);
const out = everything ?? join(ROOT, "docs/images");
mkdirSync(out, { recursive: true });
const dir = mkdtempSync(join(tmpdir(), "throng-pictures-"));

const verdict = (tab) => tab.waitForSelector("#status.safe, #status.unsafe, #status.unknown", { timeout: 200000 });
const check = async (tab) => (await tab.click("#check"), await verdict(tab), await tab.frameLocator("#page").locator("main > *").first().waitFor());
const report = (name, where, file, ...options) => ({
  name,
  where,
  address: () => {
    const html = join(dir, name + ".html");
    throng(file, "--html", html, "--quiet", "--jobs", "1", ...options);
    return "file://" + html;
  },
});
const work = (name, file, steps) => ({ name, where: "", address: () => server.address, steps: async (tab) => (await choose(tab, file), await steps(tab)) });

/** Pages of `check --html`, then those of `serve`; `BOOK` has the settings of those in the book. */
const PAGES = [
  report("page-unsafe", "#step-9", "examples/ticketlock-broken.bp"),
  report("page-safe", "#member-3", "examples/spinlock.bp", "--engine", "karp-miller"),
  report("page-c-unsafe", "#step-5", "examples/c/ring-broken.c"),
  report("page-c-safe", "", "examples/c/spinlock.c", "--entry", "worker"),
  report("page-c-race", "", "examples/c/once-broken.c", "--entry", "user", "--race"),
  report("page-c-unknown", "", "examples/c/permits.c", "--entry", "worker", "--engine", "explicit", "--max-threads", "2"),
  report("page-rust-unsafe", "#step-6", "examples/rust/spin_lock-broken.rs", "--entry", "worker"),
  report("page-rust-safe", "", "examples/rust/spin_lock.rs", "--entry", "worker"),
  work("serve-start", "spinlock.bp", async () => {}),
  work("serve-check", "spinlock-broken.bp", check),
  work("serve-explore", "spinlock-broken.bp", async (tab) => {
    await tab.fill("#threads", "2");
    await tab.click("#explore");
    await tab.waitForSelector("#choices button");
    await tab.click("#choices button");
    await tab.waitForFunction(() => document.getElementById("where").textContent.includes("1 step"));
  }),
  work("serve-graph", "spinlock-broken.bp", async (tab) => {
    await tab.fill("#threads", "2");
    await tab.click("#explore");
    await tab.waitForSelector("#choices button");
    await tab.click("#draw");
    await tab.waitForSelector("#drawing .here");
    await tab.locator("#graph").scrollIntoViewIfNeeded();
  }),
  work("serve-c", "c/spinlock.c", async (tab) => (await tab.fill("#entries", "worker"), await check(tab))),
  work("serve-c-explore", "c/spinlock-broken.c", async (tab) => {
    await tab.fill("#entries", "worker");
    await tab.click("#explore");
    await tab.waitForSelector("#choices button");
    await tab.click("#violation");
    await tab.waitForSelector("#violated:not([hidden])", { timeout: 60000 });
  }),
  work("serve-rust", "rust/spin_lock-broken.rs", async (tab) => (await tab.fill("#entries", "worker"), await check(tab))),
  work("serve-error", "c/spinlock.c", async (tab) => {
    await tab.fill("#text", "int worker(void) { return nothing; }");
    await tab.click("#check");
    await tab.waitForSelector("#status.error");
  }),
];

const BOOK = new Set(["page-unsafe-light-wide", "page-safe-light-wide", "page-c-safe-light-wide", "serve-c-explore-light-wide", "serve-graph-dark-wide"]);

const server = await serve(join(ROOT, "examples"), "--timeout", "180");
const browser = await launch();
let wrong = 0;
try {
  for (const { name, where, address, steps } of PAGES) {
    const settings = ["light", "dark"].flatMap((scheme) => ["wide", "narrow"].map((width) => [scheme, width]));
    const wanted = settings.filter(([scheme, width]) => everything || BOOK.has(`${name}-${scheme}-${width}`));
    const url = wanted.length ? address() : "";
    for (const [scheme, width] of wanted) {
      const viewport = width === "wide" ? { width: 1400, height: 800 } : { width: 420, height: 860 };
      const tab = await browser.newPage({ colorScheme: scheme, viewport });
      await tab.goto(url + where);
      await steps?.(tab);
      await tab.waitForTimeout(300);
      const picture = join(out, `${name}-${scheme}-${width}.png`);
      await tab.screenshot({ path: picture, fullPage: Boolean(everything) && width === "narrow" });
      // Nothing is wider than the screen, in the page and in the page within it.
      for (const frame of tab.frames()) {
        const over = await frame.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) console.log(`TOO WIDE ${name} ${scheme} ${width}: by ${over} px`, (wrong += 1));
      }
      console.log(picture);
      await tab.close();
    }
  }
} finally {
  await browser.close();
  server.end();
  rmSync(dir, { recursive: true, force: true });
}
assert.equal(wrong, 0, "pages that are too wide");
