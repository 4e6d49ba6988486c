// Everything that comes from the server or the input is put into the page as text, never as markup.
"use strict";
const $ = (id) => document.getElementById(id);
const ask = (path, value, signal) => fetch(path, { method: "POST", body: JSON.stringify(value), signal });

/** The name of a thread, which has a number. */
const thread = (number) => `T${number}`;

/** The walk that is shown: steps of the known run (or null), then choices. */
let route = { run: null, path: [] };
let shared = new Map();
let checking = null;

function question() {
  const mutex = $("mutex").value.trim();
  return {
    name: $("file").value || "program.bp",
    text: $("text").value,
    threads: $("threads").value ? Number($("threads").value) : null,
    initial: $("initial").value.trim() || null,
    mutex: mutex ? mutex.split(/[ ,]+/) : [],
  };
}

function say(text, kind = "") {
  $("status").textContent = text;
  $("status").className = kind;
}

function show(id) {
  for (const other of ["welcome", "report", "page", "explorer"]) $(other).hidden = other !== id;
}

function complain(text) {
  show("report");
  $("report").textContent = text;
  say("error", "error");
}

function el(tag, text, name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
}

// ── the editor ──

function numbers(active = new Set()) {
  const count = $("text").value.split("\n").length;
  const lines = Array.from({ length: count }, (_, i) => el("span", `${i + 1}\n`, active.has(i + 1) ? "active" : ""));
  $("lines").replaceChildren(...lines);
  $("lines").scrollTop = $("text").scrollTop;
}

async function open(name) {
  const answer = await ask("file", name);
  const text = await answer.text();
  if (!answer.ok) return complain(text);
  $("text").value = text;
  $("text").scrollTop = 0;
  numbers();
  show("welcome");
  say("");
}

// ── checking ──

async function check() {
  checking?.abort();
  const mine = (checking = new AbortController());
  $("stop").disabled = false;
  say("checking …");
  try {
    const answer = await ask("check", question(), mine.signal);
    if (!answer.ok) return complain(await answer.text());
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      lines.forEach((line) => heard(JSON.parse(line)));
    }
  } catch (why) {
    if (why.name === "AbortError") say("stopped");
    else complain(String(why));
  } finally {
    if (checking === mine) {
      checking = null;
      $("stop").disabled = true;
    }
  }
}

function heard(message) {
  if (message.error) return complain(message.error);
  if (message.progress) {
    const { engine, phase, configurations } = message.progress;
    return say(`checking … ${engine}, ${phase}: ${configurations} configurations`);
  }
  say(message.report.split("\n")[0].replace(/\s+/g, " "), message.status.toLowerCase());
  $("page").src = message.page;
  show("page");
}

// ── the explorer ──

async function explore(next) {
  const answer = await ask("explore", { question: question(), ...next });
  if (!answer.ok) {
    say(await answer.text(), "error");
    return;
  }
  const now = await answer.json();
  // A run ends somewhere: the answer says where this one did.
  route = { run: now.run ? now.run.at : null, path: next.path };
  draw(now);
}

function draw(now) {
  show("explorer");
  say("");
  const far = now.run ? `step ${now.run.at} of ${now.run.of} of the run` : "";
  $("where").textContent = [`after ${now.steps} step${now.steps === 1 ? "" : "s"}`, far].filter((part) => part).join("; ");
  $("back").disabled = now.steps === 0;
  $("forward").hidden = !now.run || route.path.length > 0 || now.run.at >= now.run.of;
  $("violated").hidden = now.violated.length === 0;
  $("violated").textContent = `violated here: ${now.violated.join(", ")}`;
  const values = new Map(Object.entries(now.situation.shared));
  $("shared").replaceChildren(
    ...[...values].map(([name, value]) => {
      const row = el("tr", "", shared.has(name) && shared.get(name) !== value ? "changed" : "");
      row.append(el("td", name), el("td", value));
      return row;
    }),
  );
  shared = values;
  $("counts").replaceChildren(
    ...now.situation.counts.map((count) => {
      const row = el("tr", "");
      const locals = Object.entries(count.locals).map(([name, value]) => `${name}=${value}`);
      const place = count.line ? `line ${count.line}: ${count.statement}` : count.name;
      row.append(el("td", count.threads.map(thread).join(" ") || `${count.count} ×`), el("td", [place, ...locals].join("  ")));
      return row;
    }),
  );
  const choices = now.choices.map(({ choice, threads, event, violated }) => {
    const button = el("button", `${threads.join("+")} ${event.line ? event.line + ": " : ""}${event.statement}`, violated.length ? "bad" : "");
    const changes = event.changes.map((c) => `${c.thread ? thread(c.thread) + "." : ""}${c.variable}: ${c.before} → ${c.after}`);
    if (violated.length) changes.push(`violates ${violated.join(", ")}`);
    if (changes.length) button.append(el("small", changes.join(", ")));
    button.onclick = () => explore({ ...route, path: [...route.path, choice] });
    const item = el("li", "");
    item.append(button);
    return item;
  });
  if (now.more) choices.push(el("li", `and ${now.more} more`));
  $("choices").replaceChildren(...(choices.length ? choices : [el("li", "no thread can move")]));
  numbers(new Set(now.situation.counts.map((count) => count.line)));
}

function back() {
  if (route.path.length) explore({ ...route, path: route.path.slice(0, -1) });
  else if (route.run) explore({ run: route.run - 1, path: [] });
}

$("check").onclick = check;
$("stop").onclick = () => checking?.abort();
$("explore").onclick = () => explore({ run: null, path: [] });
$("restart").onclick = () => explore({ run: null, path: [] });
$("violation").onclick = () => explore({ run: 1e9, path: [] });
$("forward").onclick = () => explore({ run: route.run + 1, path: [] });
$("back").onclick = back;
$("file").onchange = () => open($("file").value);
$("text").oninput = () => numbers();
$("text").onscroll = () => ($("lines").scrollTop = $("text").scrollTop);

fetch("files")
  .then((answer) => answer.json())
  .then((files) => {
    $("file").replaceChildren(...files.map((name) => el("option", name)));
    if (files.length) return open(files[0]);
    numbers();
    say("there are no inputs in this folder: write one");
  });
