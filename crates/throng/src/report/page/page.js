// The page's script. It draws the report that stands in the page as data. What comes from the input is put into the
// page as text nodes only, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const app = document.getElementById("app");
  const HUES = [212, 28, 152, 282, 345, 188, 50, 312];
  const ALONE = 8; // with more threads than this, those that do the same share a column
  const FOLD = 3; // so many steps of one thread that change nothing are one row
  const LANES = 40; // more columns than this cannot be followed
  const WHOLE = 1500; // lists up to this long are drawn as a whole, so that the browser's own search finds everything

  // Beside the editor of `throng serve` the source is there already: this page says which lines it is about.
  const BESIDE = location.hash === "#beside";
  document.documentElement.classList.toggle("beside", BESIDE);

  // Values come as objects; here their order matters.
  for (const told of [...data.targets.map((t) => t.run), ...data.proofs]) {
    told?.states.forEach((state) => (state.locals = Object.entries(state.locals)));
  }

  // ---- small tools ----

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "class") node.className = value;
      else if (name === "hue") node.style.setProperty("--h", value);
      else if (name.startsWith("--")) node.style.setProperty(name, value);
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false));
    return node;
  }

  const hue = (thread) => HUES[(thread - 1) % HUES.length];
  const nameOf = (thread) => "T" + thread;
  const plural = (n, noun) => (n === 1 ? "1 " + noun : n.toLocaleString("en") + " " + noun + "s");
  const chip = (thread, extra) => el("span", { class: "chip " + (extra || ""), hue: hue(thread) }, nameOf(thread));
  const card = (title, ...content) => el("section", { class: "card" }, el("h2", {}, title), ...content);

  // A scrolling list of rows of equal height. A long one holds only the rows in view.
  class Rows {
    constructor(count, height, draw, kind, label) {
      Object.assign(this, { count, height, draw, shown: new Map() });
      this.inner = el("div", { class: "rows-inner" });
      this.box = el("div", { class: "rows " + kind, tabindex: "0", role: "list", "aria-label": label }, this.inner);
      this.inner.style.setProperty("--row", height + "px");
      this.whole = count <= WHOLE;
      if (this.whole) {
        for (let i = 0; i < count; i++) this.add(i);
      } else {
        this.inner.classList.add("long");
        this.inner.style.height = count * height + "px";
        let waiting = false;
        this.box.addEventListener("scroll", () => {
          if (waiting) return;
          waiting = true;
          requestAnimationFrame(() => ((waiting = false), this.update()));
        });
        new ResizeObserver(() => this.update()).observe(this.box);
      }
    }
    add(i) {
      const node = this.draw(i);
      node.setAttribute("role", "listitem");
      if (!this.whole) node.style.top = i * this.height + "px";
      this.shown.set(i, node);
      this.inner.append(node);
    }
    update(first, last) {
      if (this.whole) return;
      first = first ?? Math.max(0, Math.floor(this.box.scrollTop / this.height) - 12);
      last = last ?? Math.min(this.count - 1, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 12);
      for (const [i, node] of this.shown) {
        if (i < first || i > last) {
          node.remove();
          this.shown.delete(i);
        }
      }
      for (let i = first; i <= last; i++) if (!this.shown.has(i)) this.add(i);
    }
    each(what) {
      for (const [i, node] of this.shown) what(node, i);
    }
    reveal(i) {
      const head = this.box.querySelector(".rows-head");
      const offset = head ? head.offsetHeight : 0;
      const top = i * this.height;
      const room = this.box.clientHeight - offset;
      const margin = Math.min(3 * this.height, room / 3);
      if (top < this.box.scrollTop + margin || top + this.height > this.box.scrollTop + room - margin) {
        this.box.scrollTop = Math.max(0, top - room / 2);
      }
      this.update();
    }
    redraw() {
      this.shown.forEach((node) => node.remove());
      this.shown.clear();
      if (this.whole) for (let i = 0; i < this.count; i++) this.add(i);
      else this.update();
    }
  }

  // ---- the source ----

  const WORDS = new Set(
    ("decl void bool main begin end while do od if then else elsif fi goto assume assert abortif skip return start_thread end_thread " +
      "atomic_begin atomic_end atomic wait signal broadcast constrain schoose enforce thread_local dead print sync_start async " +
      "vars rules init target invariants").split(" "),
  );

  const WORDS_OF_CODE = new Set(
    ("auto break case char const continue default do double else enum extern float for goto if inline int long register return short " +
      "signed sizeof static struct switch typedef union unsigned void volatile while _Atomic _Bool bool _Thread_local " +
      "as async await crate dyn false fn impl in let loop match mod move mut pub ref self Self super trait true type unsafe use where").split(" "),
  );
  const IS_CODE = ["c", "i", "rs"].includes(data.language);
  // Comments, texts and characters, directives, then names; a comment over several lines is coloured in its first line only.
  const CODE = /(\/\/.*|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|^\s*#.*|\b[A-Za-z_]\w*\b)/;

  function colouredCode(text) {
    return text.split(CODE).map((piece) => {
      if (/^(\/\/|\/\*|\s*#)/.test(piece)) return el("i", {}, piece);
      if (/^["']/.test(piece)) return el("s", {}, piece);
      return WORDS_OF_CODE.has(piece) ? el("b", {}, piece) : piece;
    });
  }

  function coloured(text) {
    if (IS_CODE) return colouredCode(text);
    const comment = data.language === "bp" ? text.indexOf("//") : text.search(/#/);
    const code = comment < 0 ? text : text.slice(0, comment);
    const parts = [];
    if (data.language === "pnml") return [text];
    for (const piece of code.split(/(\b[A-Za-z_]\w*\b)/)) {
      parts.push(WORDS.has(piece) ? el("b", {}, piece) : piece);
    }
    if (comment >= 0) parts.push(el("i", {}, text.slice(comment)));
    return parts;
  }

  class Source {
    constructor() {
      this.lines = data.source.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
      this.marks = new Map();
      this.rows = new Rows(this.lines.length, 22, (i) => this.line(i), "code", "Source text");
      this.legend = el("p", { class: "legend" });
      this.view = el(
        "section",
        { class: "pane source", "aria-label": "Source" },
        el("h2", {}, data.file, data.cut ? el("small", {}, "the beginning only") : null),
        this.rows.box,
        this.legend,
      );
      const width = Math.max(...this.lines.slice(0, 20000).map((l) => l.length));
      this.rows.inner.style.setProperty("--columns", Math.min(width, 400));
    }
    line(i) {
      const node = el(
        "div",
        { class: "line", "data-line": i + 1 },
        el("span", { class: "number" }, i + 1),
        el("span", { class: "who" }),
        el("code", {}, coloured(this.lines[i]), el("span", { class: "remark" })),
      );
      this.paint(node, i + 1);
      return node;
    }
    paint(node, line) {
      const mark = this.marks.get(line);
      node.className = "line " + (mark ? mark.classes.join(" ") : "");
      node.style.setProperty("--h", mark && mark.hue !== undefined ? mark.hue : 0);
      const chips = !mark ? [] : mark.chips.length > 3 ? [...mark.chips.slice(0, 2), el("span", { class: "more" }, "+" + (mark.chips.length - 2))] : mark.chips;
      node.children[1].replaceChildren(...chips.map((c) => c.cloneNode(true)));
      node.querySelector(".remark").textContent = mark && mark.remark ? mark.remark : "";
    }
    // marks: line -> {classes, hue, chips, remark}
    mark(marks, focus) {
      this.marks = marks;
      if (BESIDE) {
        const lines = [...marks].map(([line, { classes, chips }]) => ({ line, classes, who: chips.map((c) => c.textContent).join(" ") }));
        parent.postMessage({ throng: "lines", lines, focus: focus || 0 }, "*");
        return;
      }
      this.rows.each((node, i) => this.paint(node, i + 1));
      if (focus) this.rows.reveal(focus - 1);
    }
    explain(...content) {
      this.legend.replaceChildren(...content.flat());
    }
  }

  function marks() {
    const map = new Map();
    const at = (line) => {
      if (!map.has(line)) map.set(line, { classes: [], chips: [], remark: "" });
      return map.get(line);
    };
    return { map, at };
  }

  // ---- a run ----

  class RunView {
    constructor(target, index, source) {
      Object.assign(this, { target, index, source, run: target.run, at: -1 });
      const run = this.run;
      this.length = run.steps.length;
      this.lanes = this.chooseLanes();
      this.foldRows();
      this.place = new Map(run.start);
      this.shared = run.shared.slice();
      this.counts = new Map(run.counts);
      this.applied = 0;
      this.build();
    }

    // Columns for the threads that do something; the others are counted.
    chooseLanes() {
      const run = this.run;
      const busy = new Set(run.violation.map((c) => c.thread));
      this.born = new Map(run.start.map(([t]) => [t, 0]));
      this.gone = new Map();
      run.steps.forEach((step, i) => {
        for (const [t, role, before, after] of step.m || []) {
          busy.add(t);
          if (before === null) this.born.set(t, i + 1);
          if (after === null) this.gone.set(t, i + 1);
        }
      });
      const all = [...busy].sort((a, b) => a - b);
      this.idle = this.born.size - all.length;
      const lanes = (all.length > ALONE ? this.alike(all) : all.map((t) => [t])).slice(0, LANES);
      this.laneOf = new Map(lanes.flatMap((lane, i) => lane.map((t) => [t, i])));
      this.hidden = all.length - this.laneOf.size;
      return lanes;
    }

    // Threads that start in the same state and go through the same states in the same roles.
    alike(threads) {
      const history = new Map(threads.map((t) => [t, []]));
      this.run.start.forEach(([t, s]) => history.get(t)?.push(s));
      this.run.steps.forEach((step) => (step.m || []).forEach(([t, role, , after]) => history.get(t)?.push(role + after)));
      const lanes = new Map();
      for (const t of threads) {
        const key = history.get(t).join();
        lanes.set(key, [...(lanes.get(key) || []), t]);
      }
      return [...lanes.values()];
    }

    // Rows: the start, the steps (several in one row where one thread only moves on), the end.
    foldRows() {
      const silent = (i) => {
        const step = this.run.steps[i - 1];
        return step && step.t !== undefined && (step.m || []).length === 1 && this.changesOf(step).length === 0;
      };
      this.groups = [[0]];
      for (let i = 1; i <= this.length; ) {
        let end = i;
        while (end - i < 49 && silent(i) && silent(end + 1) && this.run.steps[end].t === this.run.steps[i - 1].t) end++;
        if (end - i + 1 < FOLD) end = i;
        this.groups.push(Array.from({ length: end - i + 1 }, (_, k) => i + k));
        i = end + 1;
      }
      this.groups.push([this.length + 1]);
      this.rowOf = new Map(this.groups.flatMap((group, row) => group.map((i) => [i, row])));
    }

    build() {
      const n = this.length;
      this.slider = el("input", {
        type: "range", min: 0, max: n, value: 0, "aria-label": "Step", id: "slider",
        oninput: () => this.go(Number(this.slider.value)),
      });
      const button = (id, text, title, to) =>
        el("button", { type: "button", id, title, "aria-label": title, onclick: () => this.go(to()) }, text);
      this.counter = el("output", { class: "counter", id: "counter" });
      this.told = el("p", { class: "told", id: "told", "aria-live": "polite" });
      this.controls = el(
        "div",
        { class: "controls" },
        button("first", "|◀", "First (Home)", () => 0),
        button("back", "◀", "One step back (←)", () => this.at - 1),
        button("forward", "▶", "One step forward (→)", () => this.at + 1),
        button("last", "▶|", "Last (End)", () => n),
        this.slider,
        this.counter,
      );
      // Few columns with short statements: each statement in its column. Otherwise narrow columns, and statements beside them.
      const longest = Math.max(0, ...this.run.steps.map((s) => this.said(this.run.statements[s.e]).length + this.changesOf(s).reduce((sum, c) => sum + c.length + 2, 0)));
      this.roomy = this.lanes.length <= 3 && longest * this.lanes.length <= 56;
      this.head = el("div", { class: "rows-head" }, this.lanes.map((lane, i) => el("span", { class: "lane-name", hue: hue(lane[0]), "--i": i, title: lane.map(nameOf).join(" ") }, lane.length > 1 ? lane.length + "×" : nameOf(lane[0]))));
      this.rows = new Rows(this.groups.length, 34, (i) => this.row(i), "timeline", "Timeline, a column for each thread");
      this.rows.box.prepend(this.head);
      this.rows.box.classList.add(this.roomy ? "roomy" : "tight");
      this.rows.box.style.setProperty("--lanes", Math.max(1, this.lanes.length));
      const others = [];
      if (this.idle > 0) others.push(plural(this.idle, "more " + data.unit) + " never moving");
      if (this.hidden > 0) others.push(plural(this.hidden, "more " + data.unit) + " without a column");
      if (!this.run.named) others.push("too many " + data.unit + "s to tell apart: counters only");
      const timeline = el(
        "section",
        { class: "pane time", "aria-label": "Timeline" },
        el("h2", {}, "Timeline", others.length ? el("small", {}, others.join("; ")) : null),
        this.controls,
        this.rows.box,
        this.told,
      );
      this.sharedBox = el("div", { class: "values", id: "shared" });
      this.threadBox = el("div", { class: "threads", id: "threads" });
      this.countBox = el("div", { class: "counts", id: "counters" });
      const state = el(
        "section",
        { class: "pane state", "aria-label": "State" },
        this.run.variables.length ? card("Shared variables", this.sharedBox) : null,
        this.run.named ? card("Threads", this.threadBox) : null,
        card("Counters per location", this.countBox),
      );
      if (data.unit === "token") state.querySelectorAll("h2").forEach((h) => (h.textContent = h.textContent.replace("Threads", "Tokens")));
      this.view = el("div", { class: "grid three" }, this.source.view, timeline, state);
      this.varying = new Set();
      this.run.steps.forEach((s) => (s.s || []).forEach(([i]) => this.varying.add(i)));
    }

    alive(thread, step) {
      return this.born.get(thread) <= step && !(this.gone.get(thread) < step);
    }

    said(statement) {
      return (statement.text || "(step)") + (statement.goes ? " → " + statement.goes : "");
    }

    row(r) {
      const n = this.length;
      const group = this.groups[r];
      const i = group[group.length - 1];
      const lines = this.lanes.map((lane, at) => {
        const there = lane.filter((t) => this.alive(t, Math.min(i, n)));
        if (i > n || there.length === 0) return null;
        const all = (when) => there.every((t) => when.get(t) === i);
        return el("span", { class: "rail" + (all(this.born) ? " born" : "") + (all(this.gone) ? " gone" : ""), hue: hue(lane[0]), "--i": at });
      });
      if (i === 0) return this.plainRow(group, "start", lines, el("span", { class: "box start" }, this.startText()));
      if (i === n + 1) return this.plainRow(group, "✗", [], this.violationBox());
      const step = this.run.steps[i - 1];
      const statements = group.map((k) => this.run.statements[this.run.steps[k - 1].e]);
      const lane = step.t === undefined ? 0 : this.laneOf.get(step.t) || 0;
      const shared = step.t !== undefined && (this.lanes[lane] || []).length > 1;
      const shown = statements.length > 1 ? [statements[0], statements[statements.length - 1]] : statements;
      const box = el(
        "span",
        { class: "box", hue: step.t === undefined ? 0 : hue(step.t), title: statements.map((s) => (s.line ? s.line + ": " : "") + this.said(s)).join("\n") },
        (!this.roomy || shared) && step.t !== undefined ? chip(step.t, "active") : null,
        shown.map((s, k) => [k ? el("span", { class: "number" }, "…") : null, s.line ? el("span", { class: "number" }, s.line) : null, el("code", {}, shown.length > 1 ? s.text : this.said(s))]),
        group.length > 1 ? el("span", { class: "pill" }, plural(group.length, "step")) : null,
        this.pills(step),
      );
      const dots = (step.m || []).map(([t, role]) => {
        const at = this.laneOf.get(t);
        return at === undefined ? null : el("span", { class: "dot " + role, hue: hue(t), "--i": at, title: nameOf(t) + " " + ROLES[role] });
      });
      const node = this.plainRow(group, group.length > 1 ? group[0] + "–" + i : i, [...lines, ...dots], box);
      node.style.setProperty("--i", lane);
      return node;
    }

    plainRow(group, label, marks, box) {
      const i = group[group.length - 1];
      const step = Math.min(i, this.length);
      return el(
        "div",
        { class: "row" + (group.includes(this.at) ? " now" : "") + (group[0] > this.at ? " later" : "") + (i > this.length ? " end" : ""), onclick: (e) => e.target.closest("a") || this.go(step), "data-step": i },
        el("a", { class: "number", href: this.hash(step), "aria-label": "Step " + step }, label),
        el("div", { class: "track" }, marks, el("span", { class: "spacer" }), box),
      );
    }

    // What a step changes: strings, or [name, old, new] with a length of its own.
    changesOf(step) {
      const run = this.run;
      const found = [];
      const change = (name, old, value) => found.push({ name, old, value, length: name.length + old.length + value.length + 3 });
      for (const [v, before, after] of step.s || []) change(run.variables[v], before, after);
      for (const [t, role, before, after] of step.m || []) {
        if (after === null) found.push(nameOf(t) + " ends");
        else if (before === null) found.push(nameOf(t) + " starts");
        else if (role === "woken") found.push(nameOf(t) + " woken");
        else {
          const old = new Map(run.states[before].locals);
          for (const [name, value] of run.states[after].locals) {
            if (!old.has(name) || old.get(name) === value) continue;
            if (name === "local") change(nameOf(t), old.get(name), value);
            else change(role === "acts" ? name : nameOf(t) + "." + name, old.get(name), value);
          }
        }
      }
      return found;
    }

    pills(step) {
      const pills = this.changesOf(step).map((c) =>
        el("span", { class: "pill" }, typeof c === "string" ? c : [c.name + " ", el("s", {}, c.old), " → ", el("b", {}, c.value)]),
      );
      return pills.length > 6 ? [...pills.slice(0, 5), el("span", { class: "pill" }, "+" + (pills.length - 5) + " more")] : pills;
    }

    startText() {
      const run = this.run;
      const counts = new Map(run.counts);
      run.start.forEach(([, s]) => counts.set(s, (counts.get(s) || 0) + 1));
      const where = (s) => (run.states[s].line ? " at " : " in ") + run.states[s].name;
      return [...counts].map(([s, n]) => plural(n, data.unit) + where(s)).join(", ") || "no " + data.unit + "s";
    }

    violationBox() {
      const who = this.run.violation;
      return el(
        "span",
        { class: "box bad" },
        el("b", {}, "violated: " + this.target.name),
        who.map((c) => [" ", chip(c.thread), " ", c.line ? "line " + c.line + ": " + (c.does ? c.statement.replace(/;$/, "") : c.statement) : "in " + c.name, Object.entries(c.locals).map(([name, value]) => " " + name + "=" + value), c.does ? ": " + c.does : null]),
      );
    }

    hash(step) {
      return (this.index === 0 ? "#" : "#target-" + (this.index + 1) + "-") + "step-" + step;
    }

    apply(step, forward) {
      const [from, to] = forward ? [1, 2] : [2, 1];
      (step.s || []).forEach((s) => (this.shared[s[0]] = s[to]));
      (step.m || []).forEach((m) => (m[from + 1] !== undefined, m[to + 1] === null ? this.place.delete(m[0]) : this.place.set(m[0], m[to + 1])));
      (step.c || []).forEach((c) => (c[to] === 0 ? this.counts.delete(c[0]) : this.counts.set(c[0], c[to])));
    }

    go(step, quiet) {
      step = Math.max(0, Math.min(this.length, step));
      if (step === this.at) return;
      while (this.applied < step) this.apply(this.run.steps[this.applied++], true);
      while (this.applied > step) this.apply(this.run.steps[--this.applied], false);
      this.at = step;
      this.show();
      if (!quiet) remember(this.hash(step));
    }

    show() {
      const n = this.length;
      this.slider.value = this.at;
      this.counter.textContent = "step " + this.at + " of " + n;
      document.getElementById("back")?.toggleAttribute("disabled", this.at === 0);
      document.getElementById("first")?.toggleAttribute("disabled", this.at === 0);
      document.getElementById("forward")?.toggleAttribute("disabled", this.at === n);
      document.getElementById("last")?.toggleAttribute("disabled", this.at === n);
      this.rows.each((node, row) => {
        const now = this.groups[row].includes(this.at);
        node.classList.toggle("now", now);
        node.classList.toggle("later", this.groups[row][0] > this.at);
        if (now) node.setAttribute("aria-current", "step");
        else node.removeAttribute("aria-current");
      });
      this.rows.reveal(this.rowOf.get(this.at === n ? n + 1 : this.at));
      const step = this.at > 0 ? this.run.steps[this.at - 1] : null;
      this.tell(step);
      this.showSource(step);
      this.showShared(step);
      if (this.run.named) this.showThreads(step);
      this.showCounts(step);
    }

    tell(step) {
      if (!step) {
        this.told.replaceChildren("The start. ", el("kbd", {}, "→"), " takes a step.");
        return;
      }
      const statement = this.run.statements[step.e];
      const parts = [step.t === undefined ? "A step: " : [chip(step.t), " ran "]];
      if (statement.line) parts.push("line " + statement.line + ": ");
      parts.push(el("code", {}, this.said(statement)));
      if (statement.function && statement.function !== "main") parts.push(" in " + statement.function);
      if (statement.labels.length) parts.push(", label " + statement.labels.join(", "));
      for (const a of step.a ?? []) parts.push(", " + a.kind + " ", el("code", {}, a.variable + " = " + a.value));
      if (statement.origin) parts.push(el("small", {}, " from " + statement.origin));
      if (this.at === this.length) parts.push(el("strong", { class: "bad" }, " Violated: " + this.target.name + "."));
      this.told.replaceChildren(...parts.flat(3));
    }

    showSource(step) {
      const { map, at } = marks();
      let focus = 0;
      for (const [t, s] of [...this.place].sort((a, b) => a[0] - b[0])) {
        const { line, origin } = this.run.states[s];
        if (line && !origin) at(line).chips.push(chip(t, step && step.t === t ? "active" : ""));
      }
      if (step) {
        const { line, origin } = this.run.statements[step.e];
        if (line && !origin) {
          const mark = at(line);
          mark.classes.push("ran");
          mark.hue = step.t === undefined ? 0 : hue(step.t);
          focus = line;
        }
      }
      if (this.at === this.length) {
        for (const c of this.run.violation.filter((c) => c.line && !c.origin)) {
          const mark = at(c.line);
          mark.classes.push("bad");
          mark.remark = "✗ " + nameOf(c.thread);
          focus = c.line;
        }
      }
      if (!focus) focus = Math.min(...map.keys());
      this.source.mark(map, Number.isFinite(focus) ? focus : 0);
    }

    showShared(step) {
      const changed = new Map(step ? (step.s || []).map((s) => [s[0], s]) : []);
      const value = (i) => {
        const change = changed.get(i);
        return el(
          "div",
          { class: "value" + (change ? " changed" : ""), "data-variable": this.run.variables[i] },
          el("span", { class: "name" }, this.run.variables[i]),
          change ? [el("s", {}, change[1]), " → "] : null,
          el("b", {}, this.shared[i]),
        );
      };
      const all = this.run.variables.map((_, i) => i);
      if (all.length <= 24) {
        this.sharedBox.replaceChildren(...all.map(value));
        return;
      }
      const open = this.sharedBox.querySelector("details")?.open;
      const moving = all.filter((i) => this.varying.has(i));
      const fixed = all.filter((i) => !this.varying.has(i));
      const rest = el("details", { open }, el("summary", {}, plural(fixed.length, "variable") + " that never change"), el("div", { class: "values" }, fixed.map(value)));
      this.sharedBox.replaceChildren(...moving.map(value), rest);
    }

    showThreads(step) {
      const moved = new Map(step ? (step.m || []).map((m) => [m[0], m]) : []);
      const all = [...this.place.keys()].sort((a, b) => a - b);
      const shown = all.length <= 40 ? all : all.filter((t, i) => i < 40 || moved.has(t));
      const culprits = new Set(this.at === this.length ? this.run.violation.map((c) => c.thread) : []);
      const rows = shown.map((t) => {
        const state = this.run.states[this.place.get(t)];
        const move = moved.get(t);
        const old = move && move[2] !== null ? new Map(this.run.states[move[2]].locals) : null;
        const locals = state.locals.map(([name, value]) => {
          const before = old && old.has(name) && old.get(name) !== value ? old.get(name) : null;
          return el("span", { class: "value" + (before !== null ? " changed" : "") }, el("span", { class: "name" }, name), before !== null ? [el("s", {}, before), " → "] : null, el("b", {}, value));
        });
        const where = state.line ? [el("span", { class: "number" }, state.line), el("code", {}, state.statement)] : [];
        return el(
          "div",
          { class: "thread" + (move ? " moved" : "") + (culprits.has(t) ? " bad" : ""), hue: hue(t), "data-thread": t },
          chip(t, step && step.t === t ? "active" : ""),
          el("div", {}, where.length ? el("div", { class: "where" }, where) : null, locals.length ? el("div", { class: "values" }, locals) : null),
        );
      });
      const ended = (step ? step.m || [] : []).filter((m) => m[3] === null).map((m) => el("div", { class: "thread gone", hue: hue(m[0]) }, chip(m[0]), el("div", {}, "ended")));
      const rest = all.length - shown.length;
      this.threadBox.replaceChildren(...rows, ...ended, ...(rest > 0 ? [el("p", { class: "note" }, plural(rest, "more " + data.unit))] : []));
    }

    showCounts(step) {
      const counts = new Map();
      const add = (s, n) => {
        const state = this.run.states[s];
        const key = state.line ? state.line + ": " + state.statement : state.name;
        const entry = counts.get(key) || { line: state.line || 0, n: 0, key };
        entry.n += n;
        counts.set(key, entry);
      };
      if (this.run.named) this.place.forEach((s) => add(s, 1));
      else this.counts.forEach((n, s) => add(s, n));
      const touched = new Set();
      const key = (s) => (this.run.states[s].line ? this.run.states[s].line + ": " + this.run.states[s].statement : this.run.states[s].name);
      if (step) {
        for (const m of step.m || []) [m[2], m[3]].forEach((s) => s !== null && touched.add(key(s)));
        for (const c of step.c || []) touched.add(key(c[0]));
      }
      const list = [...counts.values()].sort((a, b) => a.line - b.line || (a.key < b.key ? -1 : 1));
      const most = Math.max(1, ...list.map((e) => e.n));
      const rows = list.slice(0, 60).map((e) =>
        el("div", { class: "count" + (touched.has(e.key) ? " changed" : "") }, el("b", {}, e.n.toLocaleString("en")), el("code", { title: e.key }, e.key), el("span", { class: "bar", "--share": e.n / most })),
      );
      if (list.length > 60) rows.push(el("p", { class: "note" }, plural(list.length - 60, "more location")));
      this.countBox.replaceChildren(...(rows.length ? rows : [el("p", { class: "note" }, "no " + data.unit + "s")]));
    }

    // The step at which another thread takes over.
    change(direction) {
      const actor = (i) => (i >= 1 && i <= this.length ? this.run.steps[i - 1].t : undefined);
      let i = this.at + direction;
      while (i > 0 && i < this.length && actor(i) === actor(this.at)) i += direction;
      return i;
    }

    key(event) {
      const moves = {
        ArrowRight: () => (event.shiftKey ? this.change(1) : this.at + 1),
        ArrowLeft: () => (event.shiftKey ? this.change(-1) : this.at - 1),
        ArrowDown: () => (this.rows.box.contains(event.target) ? this.at + 1 : null),
        ArrowUp: () => (this.rows.box.contains(event.target) ? this.at - 1 : null),
        j: () => this.at + 1,
        k: () => this.at - 1,
        Home: () => 0,
        End: () => this.length,
        PageDown: () => this.at + 10,
        PageUp: () => this.at - 10,
      };
      const to = moves[event.key]?.();
      if (to === null || to === undefined) return false;
      this.go(to);
      return true;
    }

    open(hash) {
      const found = /step-(\d+)$/.exec(hash);
      this.source.view.classList.remove("quiet");
      this.explain();
      if (found) this.go(Number(found[1]), true);
      else if (this.at < 0) this.go(0, true);
      else this.show();
    }

    explain() {
      const program = this.run.states.some((s) => s.line);
      this.source.explain(
        program ? [el("span", { class: "chip", hue: HUES[0] }, "T1"), " is about to run this line; "] : "",
        el("span", { class: "swatch ran", hue: HUES[0] }), " ran in this step",
      );
    }
  }

  const ROLES = { acts: "acts", created: "is created", woken: "is woken", carried: "is moved along" };

  // ---- a proof ----

  class ProofView {
    constructor(target, index, source) {
      Object.assign(this, { target, index, source, proof: data.proofs[target.proof], chosen: -1 });
      this.build();
    }

    text(member) {
      const proof = this.proof;
      const set = (names) => (names.length === 1 ? names[0] : "{" + names.join("; ") + "}");
      const shared = set(member.s.map((s) => proof.shared[s]));
      const threads = member.t.map(([n, states]) => (n === null ? "ω" : n) + " × " + set(states.map((s) => proof.states[s].name)));
      return (shared ? shared + "  |  " : "") + (threads.join(",  ") || "no threads");
    }

    build() {
      const { proof, target } = this;
      const many = target.detail;
      const all = proof.members.map((m) => this.text(m));
      this.all = all;
      this.match = all.map((_, i) => i);
      this.list = new Rows(all.length, 30, (i) => this.row(i), "members", "Members of the certificate");
      const input = el("input", {
        type: "search", id: "filter", placeholder: "Filter: words that must occur", "aria-label": "Filter members",
        oninput: () => {
          const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
          this.match = all.map((_, i) => i).filter((i) => words.every((w) => all[i].toLowerCase().includes(w)));
          this.refill();
        },
      });
      this.found = el("span", { class: "note" });
      this.listBox = el("div", {}, this.list.box);
      this.detail = el("div", { class: "member-detail", id: "member", "aria-live": "polite" });
      const verified = data.checked
        ? "A separate checker that knows nothing of the search has verified, member by member:"
        : "This certificate has not been checked. It would have to satisfy:";
      const cut = proof.size > all.length ? "The first " + all.length.toLocaleString("en") + " of " + proof.size.toLocaleString("en") + " are here." : "";
      this.view = el(
        "div",
        { class: "grid two" },
        this.source.view,
        el(
          "section",
          { class: "pane proof", "aria-label": "Proof" },
          card(
            "What was proved",
            el("p", { class: "claim" }, el("b", {}, target.name), " cannot be violated, " + many + "."),
            el("p", { class: "note" }, "Starting with " + data.facts[0][1] + (target.by ? "; found by " + target.by : "") + "."),
          ),
          card(
            "Why it holds",
            el("p", { class: "claim" }, proof.kind[0].toUpperCase() + proof.kind.slice(1) + ": " + plural(proof.size, proof.member) + "."),
            proof.words.map((w) => el("p", {}, w)),
            el("p", { class: "note" }, verified),
            el("ol", { class: "obligations " + (data.checked ? "yes" : "no") }, proof.obligations.map((o) => el("li", {}, o))),
          ),
          data.lines.length ? this.facts() : null,
          all.length === 0 ? null : el(
            "details",
            { class: "card browse", open: data.lines.length === 0 },
            el("summary", {}, "The certificate: " + plural(proof.size, proof.member)),
            el("p", { class: "note" }, "Choose a member to see in the source where its threads are. " + cut),
            el("div", { class: "filter" }, input, this.found),
            this.listBox,
            this.detail,
          ),
        ),
      );
      this.count();
    }

    // What holds whenever a thread is at a line.
    facts() {
      const row = ({ line, facts }) =>
        el("div", { class: "fact", "data-line": line, onclick: () => this.paintLine(line) }, el("span", { class: "number" }, line), el("code", {}, this.source.lines[line - 1]?.trim() || ""), facts.map((f) => el("span", { class: "pill" }, f)));
      return card("What holds at each line", el("p", { class: "note" }, (IS_CODE ? "Wherever other threads can move while a thread is at the line." : "Whenever a thread is about to run a line.") + " Each of these follows from the certificate."), el("div", { class: "line-facts", id: "facts" }, data.lines.map(row)));
    }

    paintLine(line) {
      this.paint(null);
      const { map, at } = marks();
      this.source.marks.forEach((mark, l) => map.set(l, mark));
      at(line).classes.push("chosen");
      this.source.mark(map, line);
    }

    refill() {
      this.list = new Rows(this.match.length, 30, (i) => this.row(i), "members", "Members of the certificate");
      this.listBox.replaceChildren(this.list.box);
      this.count();
    }

    count() {
      this.found.textContent = this.match.length === this.all.length ? plural(this.all.length, this.proof.member) : this.match.length + " of " + this.all.length;
    }

    row(i) {
      const member = this.match[i];
      return el(
        "div",
        { class: "member" + (member === this.chosen ? " now" : ""), onclick: () => this.choose(i), "data-member": member + 1 },
        el("span", { class: "number" }, member + 1),
        el("code", { title: this.all[member] }, this.all[member]),
      );
    }

    choose(i) {
      if (i < 0 || i >= this.match.length) return;
      this.chosen = this.match[i];
      this.view.querySelector(".browse").open = true;
      this.list.each((node, j) => node.classList.toggle("now", j === i));
      this.list.reveal(i);
      const member = this.proof.members[this.chosen];
      const shared = member.s.map((s) => this.proof.shared[s]).filter(Boolean);
      this.detail.replaceChildren(
        el("h3", {}, "Member " + (this.chosen + 1)),
        shared.length ? el("p", {}, el("span", { class: "name" }, "shared"), el("code", {}, shared.join("  or  "))) : "",
        ...member.t.map(([n, states]) =>
          el("p", {}, el("b", {}, n === null ? "any number" : n), " × ", el("code", {}, states.map((s) => this.describe(this.proof.states[s])).join("  or  "))),
        ),
      );
      this.paint(member);
      remember((this.index === 0 ? "#" : "#target-" + (this.index + 1) + "-") + "member-" + (this.chosen + 1));
    }

    describe(state) {
      const locals = state.locals.map(([n, v]) => n + "=" + v).join(" ");
      return state.line ? "line " + state.line + ": " + state.statement + (locals ? "  (" + locals + ")" : "") : state.name;
    }

    paint(member) {
      const { map, at } = marks();
      const lines = this.proof.lines;
      if (lines) {
        lines.occupied.forEach((line) => at(line).classes.push("reached"));
        lines.dead.forEach((line) => {
          at(line).classes.push("dead");
          at(line).remark = "never reached";
        });
      }
      let focus = 0;
      for (const [n, states] of member ? member.t : []) {
        for (const s of states) {
          const line = this.proof.states[s].line;
          if (!line) continue;
          at(line).classes.push("chosen");
          at(line).chips.push(el("span", { class: "chip tally" }, (n === null ? "ω" : n) + "×"));
          focus = focus || line;
        }
      }
      this.source.mark(map, focus);
    }

    key(event) {
      if (event.target.closest && !event.target.closest(".members") && !["ArrowLeft", "ArrowRight", "j", "k"].includes(event.key)) return false;
      const now = this.match.indexOf(this.chosen);
      const moves = {
        ArrowDown: now + 1, ArrowRight: now + 1, j: now + 1,
        ArrowUp: Math.max(0, now - 1), ArrowLeft: Math.max(0, now - 1), k: Math.max(0, now - 1),
        Home: 0, End: this.match.length - 1, PageDown: Math.min(now + 10, this.match.length - 1), PageUp: Math.max(0, now - 10),
      };
      if (moves[event.key] === undefined) return false;
      this.choose(moves[event.key]);
      return true;
    }

    open(hash) {
      const lines = this.proof.lines;
      const program = data.language === "bp";
      if (lines) {
        const dead = lines.dead.length;
        this.source.explain(
          el("span", { class: "swatch reached" }), " some member has a thread here; ",
          el("span", { class: "swatch dead" }), " no member has" + (data.checked ? ", so no thread ever gets here" : "") + ": ",
          dead === 0 ? "there is no such line" : plural(dead, "line"),
        );
      } else if (program) {
        this.source.explain("This certificate says nothing about which lines are reached: throng reach " + data.file + " lists them.");
      } else {
        this.source.explain();
      }
      this.source.view.classList.toggle("quiet", this.all.length === 0);
      this.paint(null);
      const found = /member-(\d+)$/.exec(hash);
      if (found) this.choose(this.match.indexOf(Number(found[1]) - 1));
    }
  }

  // ---- no answer ----

  class UnknownView {
    constructor(target, index, source) {
      Object.assign(this, { target, index, source });
      const attempts = data.attempts.map((a) =>
        el("tr", {}, el("td", {}, a.engine), el("td", {}, a.outcome), el("td", { class: "n" }, a.statistics.configurations.toLocaleString("en")), el("td", { class: "n" }, a.seconds.toFixed(2) + " s")),
      );
      this.view = el(
        "div",
        { class: "grid two" },
        source.view,
        el(
          "section",
          { class: "pane proof" },
          card("Why there is no answer", el("p", { class: "claim" }, el("b", {}, target.name), ": " + target.why + ".")),
          card("What is known all the same", el("p", {}, target.established ? "There is " + target.established + "." : "Nothing was established before the search stopped.")),
          data.look.length
            ? card("Where to look", el("ul", { class: "next" }, data.look.map((look) => el("li", {}, el("b", {}, look.file + ":" + look.line + (look.function ? " in " + look.function : "")), ": " + look.why + "."))))
            : null,
          data.possible.map((run) =>
            card(
              "A possible run",
              el("p", {}, "It may not be one of the program: " + run.uncertain.join("; ") + "."),
              el(
                "ol",
                { class: "next" },
                run.trace
                  ? run.trace.steps.map((step) => el("li", {}, (step.thread === null ? "" : step.thread + ", ") + "line " + step.line + ": " + step.statement))
                  : run.lines.map((stretch) => el("li", {}, "thread " + stretch.thread + ": lines " + stretch.lines.join(", "))),
              ),
            ),
          ),
          card("What to try next", el("ul", { class: "next" }, target.next.map((tip) => el("li", {}, tip)))),
          attempts.length
            ? card("What each engine did", el("table", {}, el("thead", {}, el("tr", {}, ["engine", "how it ended", "configurations", "time"].map((h) => el("th", {}, h)))), el("tbody", {}, attempts)))
            : null,
        ),
      );
    }
    key() {
      return false;
    }
    open() {
      this.source.explain();
      this.source.view.classList.add("quiet");
      this.source.mark(new Map());
    }
  }

  // ---- the frame ----

  let pending = 0;
  function remember(hash) {
    clearTimeout(pending);
    pending = setTimeout(() => {
      try {
        history.replaceState(null, "", hash);
      } catch {
        // A page that may not change its address still works.
      }
    }, 120);
  }

  const source = new Source();
  const views = new Map();
  const main = el("main", {});
  let current = null;

  function view(index) {
    if (!views.has(index)) {
      const target = data.targets[index];
      const Kind = target.run ? RunView : target.proof !== undefined ? ProofView : UnknownView;
      views.set(index, new Kind(target, index, source));
    }
    return views.get(index);
  }

  function open(index, hash) {
    const next = view(index);
    if (current !== next) {
      current = next;
      current.view.prepend(source.view);
      main.replaceChildren(current.view);
      document.querySelectorAll(".tab").forEach((tab, i) => tab.setAttribute("aria-pressed", i === index));
    }
    current.open(hash);
  }

  function follow() {
    clearTimeout(pending);
    const found = /^#target-(\d+)/.exec(location.hash);
    const plain = /^#(step|member)-/.test(location.hash);
    const worst = data.targets.findIndex((t) => t.verdict === data.verdict);
    const index = found ? Number(found[1]) - 1 : plain ? 0 : Math.max(0, worst);
    open(Math.min(index, data.targets.length - 1), location.hash);
  }

  function headline() {
    if (data.targets.length === 1) return data.targets[0].name + ": " + data.targets[0].detail;
    const count = data.targets.filter((t) => t.verdict === data.verdict).length;
    return count + " of " + data.targets.length + " targets: " + { safe: "proved", unsafe: "violated", unknown: "undecided" }[data.verdict];
  }

  function theme() {
    const root = document.documentElement;
    const set = (value) => {
      if (value) root.dataset.theme = value;
      else delete root.dataset.theme;
    };
    const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    try {
      set(localStorage.getItem("throng-theme"));
    } catch {
      // Some browsers keep nothing for local files.
    }
    return el("button", {
      type: "button", id: "theme", title: "Light or dark", "aria-label": "Light or dark",
      onclick: () => {
        set(dark() ? "light" : "dark");
        try {
          localStorage.setItem("throng-theme", root.dataset.theme);
        } catch {
          // As above.
        }
      },
    }, "◐");
  }

  const help = el(
    "dialog",
    { id: "help" },
    el("h2", {}, "Keys"),
    el(
      "dl",
      {},
      [
        ["→ or j", "one step forward (proofs: next member)"],
        ["← or k", "one step back"],
        ["Shift → / Shift ←", "to where another thread takes over"],
        ["Page Down / Page Up", "ten steps"],
        ["Home / End", "first and last"],
        ["?", "this list"],
      ].map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]),
    ),
    el("p", { class: "note" }, "The address follows the step: copy it to link to this moment. The page prints, and needs no network."),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );

  const word = data.verdict.toUpperCase();
  const tabs = data.targets.length > 1
    ? el(
        "nav",
        { class: "tabs", "aria-label": "Targets" },
        data.targets.map((t, i) =>
          el("button", { type: "button", class: "tab " + t.verdict, title: t.name + ": " + t.detail, "aria-pressed": "false", onclick: () => (remember("#target-" + (i + 1)), open(i, "")) }, el("span", { class: "light" }), t.name),
        ),
      )
    : null;
  // ---- shared objects ----

  function sharedObjects(races) {
    const place = (line) => (line > 0 ? { onclick: () => (source.rows.reveal(line - 1), source.view.scrollIntoView()), class: "link" } : {});
    const pair = (race) =>
      el("li", {}, el("b", {}, race.state), ": ", race.why, el("ul", {}, race.accesses.map(([kind, text, line]) => el("li", place(line), el("b", {}, kind), " ", text))));
    return card(
      "Shared objects",
      el("p", { class: "claim" }, races.summary),
      races.possible.map((o) => el("details", { open: true }, el("summary", {}, o.name), el("ul", {}, o.races.map(pair)))),
      races.open.length ? el("details", { open: true }, el("summary", {}, "Not known, so that nothing is proved"), el("ul", {}, races.open.map((what) => el("li", {}, what)))) : null,
      races.without.length
        ? el("details", {}, el("summary", {}, "Without a race: " + plural(races.without.length, "object")), el("ul", {}, races.without.map(([name, why]) => el("li", {}, el("b", {}, name), ": " + why))))
        : null,
    );
  }

  app.append(
    el(
      "header",
      {},
      el("div", { class: "top" }, el("h1", { class: "verdict " + data.verdict }, word), el("p", { class: "headline" }, headline()), el("span", { class: "room" }), el("button", { type: "button", title: "Keys (?)", "aria-label": "Keys", onclick: () => help.showModal() }, "?"), theme()),
      el(
        "dl",
        { class: "facts" },
        [["file", data.file], ...data.facts].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
      ),
      tabs,
    ),
    main,
    ...(data.races ? [sharedObjects(data.races)] : []),
    el("footer", {}, "Throng " + data.version),
    help,
  );

  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || !current) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "?") help.showModal();
    else if (!current.key(event)) return;
    event.preventDefault();
  });
  // Paper shows everything: rows that are not in view would be missing.
  addEventListener("beforeprint", () => {
    for (const rows of [source.rows, current && current.rows, current && current.list]) {
      if (rows && !rows.whole) rows.update(0, Math.min(rows.count - 1, 4000));
    }
  });
  addEventListener("afterprint", () => {
    for (const rows of [source.rows, current && current.rows, current && current.list]) if (rows) rows.update();
  });
  follow();
})();
