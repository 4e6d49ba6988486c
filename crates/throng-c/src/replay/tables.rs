//! The schedule of a run and its inputs, as the tables of a replay.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::Ends;
use super::rewrite::{OTHER, READ, Sites, Turns, WRITE, kind};
use crate::Loaded;
use throng_goto::held::Held;
use throng_goto::program::{Instr, Point, Program, Reg, Violation};
use throng_goto::run::{Racing, Run};
use throng_goto::step::{After, Event};

/// An access, as the turnstile recognises it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Gate {
    site: usize,
    kind: u8,
}

/// A turn of a thread.
struct Turn {
    thread: usize,
    gate: Gate,
    /// How often the thread comes by before without being seen: through a pointer to something of
    /// its own.
    skip: usize,
    /// Where the instruction is.
    at: Point,
    /// Which move of the run it belongs to.
    step: usize,
}

/// A value that was open, by when it was opened.
struct Opened {
    thread: usize,
    /// Where; `None` for an argument of a thread that is there at the start.
    site: Option<usize>,
    value: Option<i64>,
}

/// Where a race ends: the access that is not made, and how often the thread comes by before.
type Stop = (Gate, usize);

/// What a replay has to know about a run.
pub(super) struct Tables {
    order: Vec<Turn>,
    opened: Vec<Opened>,
    /// For each thread, the opened value that each of its registers holds.
    held: Held<usize>,
    /// Values of memory that was never written: thread, site, value.
    founds: Vec<(usize, usize, i64)>,
    /// How often each thread came by a gate since its last turn, unseen.
    passed: HashMap<(usize, Gate), usize>,
    /// The templates of all threads.
    templates: Vec<usize>,
    /// The threads that go on after their last turn, to their end or into the violation.
    go_on: Vec<usize>,
    /// Where each thread stops in front of an access that races.
    stops: HashMap<usize, Stop>,
    /// Where each thread ends.
    end_sites: Vec<usize>,
    /// Where threads are at the end of a run without a violation.
    last_sites: HashMap<usize, usize>,
    /// The thread that only starts others is none of the compiled program.
    starter: bool,
}

fn site(program: &Program, sites: &mut Sites, at: Point) -> usize {
    sites.number(program.origin_at(at).span)
}

/// Returns the gate of an instruction that others can see.
fn gate(program: &Program, sites: &mut Sites, at: Point) -> Gate {
    let kind = kind(program.instruction_at(at));
    Gate { site: site(program, sites, at), kind: kind.unwrap_or(OTHER) }
}

/// Returns the gate of a load or a store, whatever its address.
fn memory_gate(program: &Program, sites: &mut Sites, at: Point) -> Gate {
    let loads = matches!(program.instruction_at(at), Instr::Load(..));
    Gate { site: site(program, sites, at), kind: if loads { READ } else { WRITE } }
}

impl Tables {
    pub(super) fn new(loaded: &Loaded, run: &Run, sites: &mut Sites) -> Tables {
        let program = &*loaded.query.program;
        let mut tables = Tables {
            order: Vec::new(),
            opened: Vec::new(),
            held: Held::default(),
            founds: Vec::new(),
            passed: HashMap::new(),
            templates: run.first.clone(),
            go_on: Vec::new(),
            stops: HashMap::new(),
            end_sites: Vec::new(),
            last_sites: HashMap::new(),
            starter: program.starter().is_some(),
        };
        tables.open_arguments(program);
        for (n, (i, outcome)) in run.moves.iter().enumerate() {
            for event in &outcome.events {
                tables.event(program, sites, *i, n, event);
            }
            tables.templates.extend(outcome.started.iter().map(|t| t.template as usize));
            if matches!(outcome.after, After::Failed(..)) || outcome.thread.is_none() {
                tables.go_on.push(*i);
            }
        }
        for racing in &run.racing {
            let stop = tables.stop(program, sites, racing, run.moves.len());
            tables.stops.insert(racing.thread, stop);
        }
        for &(i, at) in &run.ends {
            tables.last_sites.insert(i, site(program, sites, at));
        }
        tables.end_sites = tables.templates.iter().map(|&t| end_site(program, sites, t)).collect();
        let starter = tables.starter;
        tables.order.retain(|turn| !(starter && turn.thread == 0));
        tables
    }

    /// The first argument of `main` is an input; nothing is known about the others.
    fn open_arguments(&mut self, program: &Program) {
        for (i, &t) in self.templates.iter().enumerate() {
            let template = &program.templates[t];
            for r in 0..if template.single { 1 } else { template.arguments } {
                self.held.set(i, r as Reg, Some(self.opened.len()));
                self.opened.push(Opened { thread: i, site: None, value: None });
            }
        }
    }

    /// Returns the values of the arguments of the threads that are there at the start: thread and
    /// value, in order.
    pub(super) fn arguments(&self) -> Vec<(usize, i64)> {
        let arguments = self.opened.iter().filter(|o| o.site.is_none());
        arguments.map(|o| (o.thread, o.value.unwrap_or(0))).collect()
    }

    fn event(&mut self, program: &Program, sites: &mut Sites, i: usize, step: usize, event: &Event) {
        self.held.follow(i, event);
        match event {
            Event::Visible(at) => {
                let gate = gate(program, sites, *at);
                let skip = self.passed.remove(&(i, gate)).unwrap_or(0);
                self.passed.retain(|(thread, _), _| *thread != i);
                self.order.push(Turn { thread: i, gate, skip, at: *at, step });
            }
            Event::Passed(at, inside) => {
                let is_memory = |i: &Instr| matches!(i, Instr::Load(..) | Instr::Store(..));
                if !inside && is_memory(program.instruction_at(*at)) {
                    let gate = memory_gate(program, sites, *at);
                    *self.passed.entry((i, gate)).or_default() += 1;
                }
            }
            Event::Opened(at, r)
                if program.templates[at.template as usize].copies.contains(&(at.pc as usize)) =>
            {
                // It is written to memory, and chosen where that is read.
                self.held.set(i, *r, None);
            }
            Event::Opened(at, r) => {
                let site = Some(site(program, sites, *at));
                self.held.set(i, *r, Some(self.opened.len()));
                self.opened.push(Opened { thread: i, site, value: None });
            }
            Event::Chosen(r, v) => {
                if let Some(&k) = self.held.get(i, *r) {
                    self.opened[k].value = Some(*v);
                }
            }
            Event::Found { at, value, .. } => self.founds.push((i, site(program, sites, *at), *value)),
            Event::Accessed(..) | Event::Copied(..) | Event::Called(_) | Event::Returned(_) => {}
        }
    }

    /// Returns where a racing thread stops. Of an atomic section it makes the beginning, with a
    /// turn; an operation that is a section by itself has one gate.
    fn stop(&mut self, program: &Program, sites: &mut Sites, racing: &Racing, step: usize) -> Stop {
        let (i, touch) = (racing.thread, &racing.touch);
        let end = memory_gate(program, sites, touch.at);
        let (mut inside, mut last) = (0, None);
        for event in &racing.events {
            match event {
                Event::Visible(at) => {
                    let gate = gate(program, sites, *at);
                    if gate.site == end.site {
                        return (gate, self.passed.get(&(i, gate)).copied().unwrap_or(0));
                    }
                }
                Event::Passed(at, true) => {
                    inside += usize::from(last.is_some_and(|at| memory_gate(program, sites, at) == end));
                    last = Some(*at);
                }
                Event::Accessed(a, _, _, writes)
                    if last == Some(touch.at) && (*a, *writes) == (touch.address, touch.writes) =>
                {
                    return (end, inside);
                }
                _ => {}
            }
            self.event(program, sites, i, step, event);
        }
        (end, inside)
    }

    /// Checks that the program that was written waits for every turn; the error says which step
    /// cannot be replayed.
    pub(super) fn all_wait(&self, program: &Program, turns: &Turns) -> Result<(), String> {
        let is_in_parts = |at: Point| {
            let parts = program.copies.get(&program.origin_at(at).span);
            parts.is_some_and(Vec::is_empty)
                && kind(program.instruction_at(at)).is_some_and(|kind| kind != OTHER)
        };
        let waits = |thread: usize, gate: Gate| {
            turns.contains(&(gate.site, None))
                || turns.contains(&(gate.site, Some(gate.kind)))
                || self.end_sites.get(thread) == Some(&gate.site)
        };
        let cannot = |turn: &&Turn| is_in_parts(turn.at) || !waits(turn.thread, turn.gate);
        let missing = self.order.iter().find(cannot).map(|turn| turn.at);
        match missing.map(|at| program.origin_at(at)) {
            None => Ok(()),
            Some(origin) => Err(format!(
                "line {}: a replay cannot wait before each access that this makes to what other threads see: {}",
                origin.line,
                origin.text.trim()
            )),
        }
    }

    /// Returns the tables as C.
    pub(super) fn write(
        &self,
        loaded: &Loaded,
        run: &Run,
        is_input: &dyn Fn(usize) -> bool,
        ends: Ends,
    ) -> String {
        let program = &*loaded.query.program;
        let mut out = String::from("struct __throng_value { int thread, site; long long value; };\n");
        let turn = |turn: &Turn| {
            let (Gate { site, kind }, line) = (turn.gate, program.origin_at(turn.at).line);
            format!("{{ {}, {site}, {kind}, {}, {line} }}", turn.thread, turn.skip)
        };
        let order = self.order.iter().map(turn).collect();
        table(&mut out, "{ int thread, site, kind, skip, line; } __throng_order", "__THRONG_STEPS", order);
        let inputs = self.opened.iter().filter_map(|o| o.site.filter(|s| is_input(*s)).map(|s| (o, s)));
        let inputs = inputs.map(|(o, site)| value(o.thread, site, o.value.unwrap_or(0))).collect();
        table(&mut out, "__throng_value __throng_inputs", "__THRONG_INPUTS", inputs);
        let founds = self.founds.iter().map(|&(i, site, v)| value(i, site, v)).collect();
        table(&mut out, "__throng_value __throng_founds", "__THRONG_FOUNDS", founds);
        let rows = (0..self.templates.len()).map(|i| self.last_row(i)).collect();
        let last = "{ int races, site, kind, skip, goes_on, end; } __throng_last";
        table(&mut out, last, "__THRONG_KNOWN", rows);
        let first = if self.starter { 1 } else { run.first.len() };
        let flags = [
            ("FAILS", ends != Ends::AfterTheLastStep),
            ("MEMORY", ends == Ends::MemoryError),
            ("STUCK", ends == Ends::Stuck),
            ("MISUSE", loaded.query.question.locks),
            ("ASSERTS", program.asked.contains(&Violation::Assertion)),
            ("NUMBERED", program.numbered),
            ("RECURSIVE", program.recursive_locks),
            ("WAITS", loaded.query.question.exact_waits()),
        ];
        let flags = flags.map(|(name, is)| format!("__THRONG_{name} = {}", u8::from(is)));
        _ = writeln!(out, "enum {{ __THRONG_FIRST = {first}, {} }};", flags.join(", "));
        out.push_str(&self.dump(run, ends));
        out
    }

    /// Returns how a thread goes on after its last turn.
    fn last_row(&self, i: usize) -> String {
        let goes_on = u8::from(self.go_on.contains(&i));
        let (races, site, kind, skip) = match self.stops.get(&i) {
            Some((gate, skip)) => (1, gate.site as i64, gate.kind, *skip),
            None => (0, self.last_sites.get(&i).map_or(-1, |&s| s as i64), OTHER, 0),
        };
        format!("{{ {races}, {site}, {kind}, {skip}, {goes_on}, {} }}", self.end_sites[i])
    }

    /// Returns the function that compares the values of variables after each step.
    fn dump(&self, run: &Run, ends: Ends) -> String {
        let mut out = String::from("static void __throng_dump(int step) {\n");
        let steps = self.order.iter().enumerate().filter(|_| ends == Ends::AfterTheLastStep);
        for (k, turn) in steps {
            let Some(values) = run.values.get(turn.step) else { continue };
            _ = writeln!(out, "  if (step == {k}) {{");
            for (name, at, v) in values {
                let v = literal(*v);
                if at.float {
                    _ = writeln!(out, "    __throng_compare(step, \"{name}\", &({name}), {v}, {});", at.size);
                    continue;
                }
                _ = writeln!(
                    out,
                    "    if ((long long)({name}) != {v}) {{ __throng_print(1, \"step %d: {name} is %lld, not %lld\\n\", step, (long long)({name}), {v}); __throng_quit(4); }}"
                );
            }
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        out
    }
}

/// Returns where the threads of a template end.
fn end_site(program: &Program, sites: &mut Sites, template: usize) -> usize {
    let code = &program.templates[template].code;
    let end = code.iter().rposition(|i| matches!(i, Instr::End(_)));
    end.map_or(0, |pc| site(program, sites, Point { template: template as u32, pc: pc as u32 }))
}

fn table(out: &mut String, name: &str, count: &str, rows: Vec<String>) {
    _ = writeln!(out, "enum {{ {count} = {} }};", rows.len());
    let rows = if rows.is_empty() { "{ -1 }".to_string() } else { rows.join(", ") };
    _ = writeln!(out, "static const struct {name}[] = {{ {rows} }};");
}

fn value(thread: usize, site: usize, v: i64) -> String {
    format!("{{ {thread}, {site}, {} }}", literal(v))
}

pub(super) fn literal(v: i64) -> String {
    if v == i64::MIN { "(-9223372036854775807LL - 1)".into() } else { format!("{v}LL") }
}
