// VS Code's own implementation of the protocol against the built `throng`, and the walk through a run.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
const require = createRequire(import.meta.url);
const rpc = require("vscode-languageserver-protocol/node");
const { Walk, describe } = require("../out/run.js");

const root = new URL("../../../", import.meta.url);
const program = process.env.THRONG ?? new URL("target/debug/throng", root).pathname;

function connect() {
  const server = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const client = rpc.createProtocolConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
  client.onRequest(rpc.WorkDoneProgressCreateRequest.type, () => {});
  client.listen();
  const ended = new Promise((resolve) => server.on("exit", resolve));
  return { client, ended };
}

test("a broken lock is checked, and its run walked through", async () => {
  const { client, ended } = connect();
  const hello = await client.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: { window: { workDoneProgress: true } } });
  assert.ok(hello.capabilities.executeCommandProvider.commands.includes("throng.check"));
  await client.sendNotification(rpc.InitializedNotification.type, {});
  const uri = new URL("examples/spinlock-broken.bp", root).href;
  const published = [];
  client.onNotification(rpc.PublishDiagnosticsNotification.type, (params) => published.push(params));
  await client.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "bp", version: 1, text: readFileSync(new URL(uri), "utf8") },
  });
  const answer = await client.sendRequest(rpc.ExecuteCommandRequest.type, { command: "throng.check", arguments: [uri] });
  assert.equal(answer.status, "UNSAFE");
  const lenses = await client.sendRequest(rpc.CodeLensRequest.type, { textDocument: { uri } });
  assert.deepEqual(lenses.map((l) => l.command.command), ["throng.check", "throng.showRun"]);
  assert.equal(published.at(-1).diagnostics[0].code, "violated");
  assert.ok(rpc.Diagnostic.is(published.at(-1).diagnostics[0]));

  const walk = new Walk(answer.runs[0]);
  walk.previous();
  const texts = [];
  for (let i = 0; i <= 20; i += 1) {
    texts.push(walk.here.text);
    assert.ok(rpc.Location.is(walk.here.location));
    walk.next();
  }
  assert.equal(new Set(texts).size, answer.runs[0].steps.length + 1);
  assert.match(texts.at(-1), /^violated: assertions by T\d/);
  assert.ok(texts.some((t) => t.includes("lock: 0 → 1")), texts.join("\n"));
  await client.sendRequest(rpc.ShutdownRequest.type);
  await client.sendNotification(rpc.ExitNotification.type);
  assert.equal(await ended, 0);
});

test("examples in C are checked as on the command line", { skip: spawnSync("cc", ["--version"]).error && "there is no C compiler" }, async () => {
  const { client, ended } = connect();
  await client.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
  await client.sendNotification(rpc.InitializedNotification.type, {});
  const check = async (name, question) => {
    const uri = new URL(`examples/c/${name}`, root).href;
    const textDocument = { uri, languageId: "c", version: 1, text: readFileSync(new URL(uri), "utf8") };
    await client.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument });
    return client.sendRequest(rpc.ExecuteCommandRequest.type, { command: "throng.check", arguments: [uri, question] });
  };
  const broken = await check("spinlock-broken.c", { entries: ["worker"] });
  assert.equal(broken.status, "UNSAFE");
  const walk = new Walk(broken.runs[0]);
  for (let i = 0; i <= broken.runs[0].steps.length; i += 1) walk.next();
  assert.match(walk.here.text, /^violated: assertions by T\d/);
  assert.equal((await check("spinlock.c", { entries: ["worker"], dataRace: true, assertions: true })).status, "SAFE");
  assert.equal((await check("transfer-broken.c", { deadlock: true })).status, "UNSAFE");
  await client.sendRequest(rpc.ShutdownRequest.type);
  await client.sendNotification(rpc.ExitNotification.type);
  assert.equal(await ended, 0);
});

test("changes are described with the thread whose variable it is", () => {
  const changes = [{ thread: null, variable: "x", before: "0", after: "1" }, { thread: "T2", variable: "y", before: "1", after: "0" }];
  assert.equal(describe({ step: 3, thread: "T2", statement: "", location: null, changes }), "3  T2  x: 0 → 1, T2.y: 1 → 0");
});
