// What the tests of the pages and the script that takes pictures of them share: the program, a browser, a server.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

export const ROOT = resolve("../../../..");
const THRONG = resolve(process.env.THRONG);

/** Runs a check; any verdict is fine, an error is not. */
export function throng(file, ...options) {
  const ran = spawnSync(THRONG, ["check", file, ...options], { encoding: "utf8", maxBuffer: 1 << 28, cwd: ROOT });
  assert.ok([0, 1, 10].includes(ran.status), ran.stderr);
  return ran;
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/** Starts `throng serve` on a folder; the address of its page, and how to end it. */
export async function serve(folder, ...options) {
  const server = spawn(THRONG, ["serve", folder, ...options], { stdio: ["ignore", "pipe", "ignore"] });
  const [address] = (await once(server.stdout, "data")).map((data) => String(data).trim());
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  return { address, end: () => server.kill() };
}

/** Opens a file in the page of `throng serve`. */
export async function choose(tab, name) {
  await tab.selectOption("#file", name);
  await tab.waitForFunction((name) => document.getElementById("text").dataset.file === name, name);
}
