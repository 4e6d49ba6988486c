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
/** The text that the last answer is about. */
let checked = "";

/** What can be asked about source code, each by a check box; the second list is about C alone. */
const OF_CODE = ["assertions", "dataRace", "memorySafety"];
const OF_C = ["overflow", "locks"];

const isC = () => /\.[ci]$/i.test($("file").value);
const isRust = () => /\.(rs|ll)$/i.test($("file").value);
const isCode = () => isC() || isRust();
const words = (id) => $(id).value.split(/[ ,]+/).filter((word) => word);

function asked() {
  const all = { threads: $("threads").value ? Number($("threads").value) : null, mutex: words("mutex"), deadlock: $("deadlock").checked };
  if (!isCode()) return { ...all, initial: $("initial").value.trim() || null };
  const chosen = [...OF_CODE, ...(isC() ? OF_C : [])].map((id) => [id, $(id).checked]);
  const one = isRust() ? { one: words("one") } : {};
  return { ...all, ...one, entries: words("entries"), memoryModel: $("memoryModel").value || null, ...Object.fromEntries(chosen) };
}

function question() {
  return { name: $("file").value || "program.bp", text: $("text").value, question: asked() };
}

function say(text, kind = "") {
  $("status").textContent = $("status").title = text;
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

/** Numbers of lines; marks say of some of them what they are and which threads are there. */
function numbers(marks = new Map()) {
  const count = $("text").value.split("\n").length;
  const lines = Array.from({ length: count }, (_, i) => {
    const { kind, who } = marks.get(i + 1) ?? { kind: "", who: "" };
    const line = el("span", "", kind);
    line.append(el("b", shortened(who, 6)), ` ${i + 1}`);
    line.title = who;
    return line;
  });
  $("lines").replaceChildren(...lines);
  $("lines").scrollTop = $("text").scrollTop;
}

const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/** Brings a line into view. */
function reveal(line) {
  const [top, height] = [(line - 1) * 20, $("text").clientHeight];
  if (top < $("text").scrollTop || top + 40 > $("text").scrollTop + height) $("text").scrollTop = Math.max(0, top - height / 2);
}

/** The page of the answer says which lines its step is about, as long as the text is the one that was checked. */
addEventListener("message", (event) => {
  if (event.source !== $("page").contentWindow || event.data?.throng !== "lines" || $("page").hidden) return;
  if ($("text").value !== checked) return;
  numbers(new Map(event.data.lines.map(({ line, classes, who }) => [line, { kind: classes.join(" "), who }])));
  if (event.data.focus) reveal(event.data.focus);
});

async function open(name) {
  const answer = await ask("file", name);
  const text = await answer.text();
  // Meanwhile another file may have been chosen.
  if ($("file").value !== name) return;
  if (!answer.ok) return complain(text);
  $("text").value = text;
  $("text").dataset.file = name;
  $("text").scrollTop = 0;
  const applies = { c: isC(), rust: isRust(), code: isCode(), model: !isCode() };
  for (const [name, shown] of Object.entries(applies)) document.querySelectorAll(`header .${name}`).forEach((control) => (control.hidden = !shown));
  numbers();
  show("welcome");
  say("");
}

// ── checking ──

async function check() {
  checking?.abort();
  const mine = (checking = new AbortController());
  $("stop").disabled = false;
  $("progress").className = "";
  say("checking …");
  try {
    const asked = question();
    checked = asked.text;
    const answer = await ask("check", asked, mine.signal);
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
      $("progress").className = "idle";
    }
  }
}

function heard(message) {
  if (message.error) return complain(message.error);
  if (message.progress) {
    const { engine, phase, configurations } = message.progress;
    const many = configurations ? `: ${configurations.toLocaleString("en")} configurations` : "";
    return say(`checking … ${engine}, ${phase}${many}`);
  }
  say(message.report.split("\n")[0].replace(/\s+/g, " "), message.status.toLowerCase());
  show("page");
  $("page").src = message.page + "#beside";
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
    const way = wayOf(event);
    if (way) button.append(el("em", ` ${way}`));
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
  const at = new Map();
  for (const { line, origin, threads, count } of now.situation.counts) {
    if (!line || origin) continue;
    const who = threads.map(thread).join(" ") || `${count}×`;
    at.set(line, { kind: "active", who: at.has(line) ? `${at.get(line).who} ${who}` : who });
  }
  numbers(at);
  if (at.size) reveal(Math.min(...at.keys()));
  here = now.name;
  mark();
}

/** Where a choice leads, in words: a loop is entered or left. */
function wayOf({ statement, line, goes_to }) {
  if (!goes_to) return "";
  const to = Number(/^line (\d+)/.exec(goes_to)?.[1] ?? 0);
  const loop = /^while\b/.test(statement) ? endOfLoop(line) : 0;
  if (!loop || to === line) return `→ ${goes_to}`;
  const inside = to > line && to <= loop;
  return inside ? `enter the loop → ${goes_to}` : `leave the loop → ${goes_to}`;
}

/** The line with the `od` of the loop that begins in this one; 0 if it is not found. */
function endOfLoop(first) {
  const lines = $("text").value.split("\n");
  let depth = 0;
  for (let i = first - 1; i < lines.length; i++) {
    for (const [word] of lines[i].replace(/\/\/.*/, "").matchAll(/\b(do|od)\b/g)) {
      depth += word === "do" ? 1 : -1;
      if (depth === 0) return i + 1;
    }
  }
  return 0;
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

const BOX = { width: 148, height: 36 };
const GAP = { x: BOX.width + 56, y: BOX.height + 18 };

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
      places[i] = { x: BOX.width / 2 + 12 + x * GAP.x, y: 30 + (row + (tallest - column.length) / 2) * GAP.y };
    });
  });
  return { places, width: BOX.width + 24 + (columns.length - 1) * GAP.x, height: 60 + (tallest - 1) * GAP.y };
}

function arrow(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  // Where the line leaves a box, and a little further.
  const edge = Math.min((BOX.width / 2) / (Math.abs(dx) / length || 1e-9), (BOX.height / 2) / (Math.abs(dy) / length || 1e-9));
  const cut = (by) => [from.x + (dx * by) / length, from.y + (dy * by) / length];
  const [[x1, y1], [x2, y2]] = [cut(edge + 1), cut(length - edge - 3)];
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
  const boxes = nodes.map((node, i) => {
    const { x, y } = places[i];
    const about = [node.name, ...node.violated.map((name) => `violated: ${name}`), ...loops[i].map((what) => `stays: ${what}`)].join("\n");
    const group = titled(svg("g", { class: node.violated.length ? "node bad" : "node", tabindex: 0, role: "button", "aria-label": about }), about);
    group.dataset.name = node.name;
    const [values, threads] = node.name.split(" | ").map((part) => shortened(part.replaceAll("line ", ""), 22));
    const text = (content, dy, name) => {
      const made = svg("text", { x, y: y + dy, class: name });
      made.textContent = content;
      return made;
    };
    group.append(svg("rect", { x: x - BOX.width / 2, y: y - BOX.height / 2, width: BOX.width, height: BOX.height, rx: 7 }), text(values, -3, "values"), text(threads ?? "", 11, "threads"));
    group.onclick = () => explore({ run: null, path: node.path });
    group.onkeydown = (event) => event.key === "Enter" && group.onclick();
    group.onmouseenter = group.onfocus = () => ($("named").textContent = about);
    return group;
  });
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.replaceChildren(head, ...arrows, ...boxes);
  // The start is in view.
  const box = picture.parentElement;
  [box.scrollLeft, box.scrollTop] = [0, Math.max(0, places[0].y - box.clientHeight / 2)];
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
