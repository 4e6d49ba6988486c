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

/** What can be asked about C alone, each by a check box. */
const OF_CODE = ["assertions", "dataRace", "overflow", "locks", "memorySafety"];

const isC = () => /\.[ci]$/i.test($("file").value);
const words = (id) => $(id).value.split(/[ ,]+/).filter((word) => word);

function asked() {
  const all = { threads: $("threads").value ? Number($("threads").value) : null, mutex: words("mutex"), deadlock: $("deadlock").checked };
  if (!isC()) return { ...all, initial: $("initial").value.trim() || null };
  return { ...all, entries: words("entries"), ...Object.fromEntries(OF_CODE.map((id) => [id, $(id).checked])) };
}

function question() {
  return { name: $("file").value || "program.bp", text: $("text").value, question: asked() };
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
  for (const control of document.querySelectorAll("header .c")) control.hidden = !isC();
  for (const control of document.querySelectorAll("header .model")) control.hidden = isC();
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
  // C that has failed has no memory.
  $("shared").previousElementSibling.hidden = values.size === 0;
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
  here = now.name;
  mark();
}

function back() {
  if (route.path.length) explore({ ...route, path: route.path.slice(0, -1) });
  else if (route.run) explore({ run: route.run - 1, path: [] });
}

// ── the graph of configurations ──

/** The name of the configuration that the explorer shows. */
let here = "";
/** The question whose graph is drawn. */
let drawn = "";

const GAP = { x: 84, y: 46 };

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Columns are numbers of steps; within a column, a node stands where those before it are on average. */
function layout(nodes, edges) {
  const before = nodes.map(() => []);
  for (const { from, to } of edges) if (nodes[from].depth < nodes[to].depth) before[to].push(from);
  const columns = [];
  nodes.forEach((node, i) => (columns[node.depth] ??= []).push(i));
  const tallest = Math.max(...columns.map((column) => column.length));
  const places = [];
  columns.forEach((column, x) => {
    const mean = (i) => before[i].reduce((sum, j) => sum + places[j].y, 0) / (before[i].length || 1);
    const order = column.map((i) => [mean(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    order.forEach(([, i], row) => {
      places[i] = { x: 30 + x * GAP.x, y: 30 + (row + (tallest - column.length) / 2) * GAP.y };
    });
  });
  return { places, width: 60 + (columns.length - 1) * GAP.x, height: 60 + (tallest - 1) * GAP.y };
}

function arrow(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const cut = (by) => [from.x + (dx * by) / length, from.y + (dy * by) / length];
  const [[x1, y1], [x2, y2]] = [cut(13), cut(length - 15)];
  // Steps back and within a column are bent, so that they do not lie on others.
  const bend = dx > 0 ? 0 : 26;
  const [cx, cy] = [(x1 + x2) / 2 - (dy * bend) / length, (y1 + y2) / 2 + (dx * bend) / length];
  return `M${x1} ${y1} Q${cx} ${cy} ${x2} ${y2}`;
}

function paint({ nodes, edges, complete }) {
  const { places, width, height } = layout(nodes, edges);
  const picture = $("drawing");
  const head = svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
  head.append(svg("path", { d: "M0 0 L8 4 L0 8 z" }));
  const lines = new Map();
  const loops = nodes.map(() => []);
  for (const { from, to, line, statement } of edges) {
    const what = `${line ? line + ": " : ""}${statement}`;
    if (from === to) loops[from].push(what);
    else if (lines.has(`${from} ${to}`)) lines.get(`${from} ${to}`).push(what);
    else lines.set(`${from} ${to}`, [what]);
  }
  const titled = (shape, text) => (shape.append(svg("title", {})), (shape.lastChild.textContent = text), shape);
  const arrows = [...lines].map(([pair, what]) => {
    const [from, to] = pair.split(" ").map(Number);
    return titled(svg("path", { d: arrow(places[from], places[to]), "marker-end": "url(#head)" }), what.join("\n"));
  });
  const circles = nodes.map((node, i) => {
    const { x, y } = places[i];
    const about = [node.name, ...node.violated.map((name) => `violated: ${name}`), ...loops[i].map((what) => `stays: ${what}`)].join("\n");
    const group = titled(svg("g", { class: node.violated.length ? "node bad" : "node", tabindex: 0, role: "button", "aria-label": about }), about);
    group.dataset.name = node.name;
    const number = svg("text", { x, y: y + 4 });
    number.textContent = i;
    group.append(svg("circle", { cx: x, cy: y, r: 12 }), number);
    group.onclick = () => explore({ run: null, path: node.path });
    group.onkeydown = (event) => event.key === "Enter" && group.onclick();
    group.onmouseenter = group.onfocus = () => ($("named").textContent = about);
    return group;
  });
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.replaceChildren(head, ...arrows, ...circles);
  const count = `${nodes.length} configuration${nodes.length === 1 ? "" : "s"}`;
  $("extent").textContent = complete ? `${count}, all that can be reached from this start` : `the first ${count}; there are more`;
  mark();
}

/** Marks the configuration that the explorer shows. */
function mark() {
  for (const group of $("drawing").querySelectorAll("g")) group.classList.toggle("here", group.dataset.name === here);
  if ($("graph").hidden) return;
  if (drawn === JSON.stringify(question())) $("named").textContent = here;
  else graph();
}

async function graph() {
  const asked = question();
  drawn = JSON.stringify(asked);
  const answer = await ask("graph", asked);
  if (!answer.ok) return say(await answer.text(), "error");
  paint(await answer.json());
}

$("draw").onclick = () => {
  $("graph").hidden = !$("graph").hidden;
  $("draw").setAttribute("aria-expanded", !$("graph").hidden);
  mark();
};

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
