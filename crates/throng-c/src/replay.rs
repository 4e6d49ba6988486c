//! A run as a C program: the user's code, forced through the schedule and the inputs of the run, with real threads.
//!
//! Every access that other threads can see waits for its turn. The program ends in the assertion that the run violates; locks
//! cannot be in its way, because the run says who takes them when.

mod rewrite;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use throng_model::verdict::Trace;

use crate::goto::{Instr, Program, Reg, Start};
use crate::step::{After, Event, Memory, Outcome, Thread, initial_memory, start, step};
use crate::{Concrete, Loaded};
use rewrite::{OTHER, Rewriter, Sites, kind};

/// A run with its threads: which moves, and what it does.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The templates of the threads that are there at the start.
    pub first: Vec<usize>,
    /// Which thread moves, by number in the order of creation, and how.
    pub moves: Vec<(usize, Outcome)>,
    /// The threads that are about to make conflicting accesses, and where: template and instruction.
    pub racing: Vec<(usize, usize, u32)>,
    /// Where the threads are at the end, if the run does not end in a violation: thread, template and instruction.
    pub ends: Vec<(usize, usize, u32)>,
    /// The values of the program's variables after each step, as (C expression, value).
    pub values: Vec<Vec<(String, i64)>>,
}

impl Run {
    /// The threads of a trace of the concrete model, told apart.
    pub fn of(model: &Concrete, trace: &Trace) -> Option<Run> {
        let program = model.program();
        let mut threads: Vec<Option<Thread>> = Vec::new();
        for &(l, n) in trace.start.threads.entries() {
            let thread = model.thread(l)?;
            threads.extend((0..n).map(|_| Some(Thread::clone(&thread))));
        }
        let first = threads.iter().flatten().map(|t| t.template as usize).collect();
        let mut run = Run { first, ..Run::default() };
        let mut memory = Arc::new(initial_memory(program));
        for taken in &trace.steps {
            let mover = model.thread(taken.step.take.entries().first()?.0)?;
            let i = threads.iter().position(|t| t.as_ref() == Some(&*mover))?;
            if let Some(touch) = model.is_probe(taken.step.to).or_else(|| model.race_at(&taken.step)) {
                run.racing.push((i, mover.template as usize, touch));
                threads[i] = None;
                continue;
            }
            let outcomes = step(program, &memory, &mover).outcomes;
            let outcome = outcomes.into_iter().nth(taken.step.choice as usize)?;
            threads[i] = outcome.thread.clone();
            threads.extend(outcome.started.iter().cloned().map(Some));
            if let After::Runs(after) = &outcome.after {
                memory = after.clone();
            }
            run.moves.push((i, outcome));
        }
        Some(run)
    }

    /// A run of the interpreter by random choices, for comparison with compiled programs.
    pub fn random(program: &Program, most: usize, mut choose: impl FnMut(usize) -> usize) -> Run {
        let Start::One(first) = program.start else { return Run::default() };
        let mut threads = vec![Some(start(program, first, &[], 0))];
        let mut memory = Arc::new(initial_memory(program));
        let mut run = Run { first: vec![first], ..Run::default() };
        for _ in 0..most {
            let mut choices = Vec::new();
            for (i, t) in threads.iter().enumerate() {
                if let Some(t) = t {
                    let outcomes = step(program, &memory, t).outcomes;
                    choices.extend(outcomes.into_iter().map(|o| (i, o)));
                }
            }
            if choices.is_empty() {
                break;
            }
            let (i, outcome) = choices.swap_remove(choose(choices.len()) % choices.len());
            let After::Runs(after) = &outcome.after else { break };
            memory = after.clone();
            threads[i] = outcome.thread.clone();
            threads.extend(outcome.started.iter().cloned().map(Some));
            run.values.push(values(program, &memory));
            run.moves.push((i, outcome));
        }
        let ends = threads.iter().enumerate();
        run.ends = ends.filter_map(|(i, t)| t.as_ref().map(|t| (i, t.template as usize, t.pc))).collect();
        run
    }
}

/// The values of variables whose bytes mean the same in the compiled program: no pointers, and nothing of the C library.
fn values(program: &Program, memory: &Memory) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    for o in program.objects.iter().filter(|o| o.global && !o.library) {
        for (offset, at, suffix) in o.parts.iter().take(16) {
            let from = o.base + *offset as usize;
            let Some(bytes) = memory.fixed.get(from..from + at.size as usize) else { continue };
            if at.size == 8 && !at.signed || bytes.contains(&crate::step::OPEN) {
                continue;
            }
            let v = at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)));
            found.push((format!("{}{suffix}", o.name), v));
        }
    }
    found
}

/// How the program ends that [`write()`] writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// In a violation: it aborts.
    Aborts,
    /// In a deadlock: it aborts when it has seen that every thread has to wait.
    Stuck,
    /// After the last step, with status 0; the values of variables are printed after each step.
    AfterTheLastStep,
}

/// The program that goes through a run.
pub fn write(loaded: &Loaded, run: &Run, ends: Ends) -> Result<String, String> {
    const STACK: usize = 512 << 20;
    if loaded.text.units.len() > 1 {
        // Each has a scope of its own, and what is written is one file.
        return Err("a replay of a program of several files is not supported".into());
    }
    let work = || -> Result<String, String> {
        let config = lang_c::driver::Config::with_gcc();
        let parsed = lang_c::driver::parse_preprocessed(&config, loaded.text.text.clone())
            .map_err(|_| "the program cannot be read again".to_string())?;
        let mut sites = Sites::of(&loaded.program);
        for (_, template, pc) in &run.racing {
            sites.number(span(&loaded.program, *template, *pc));
        }
        let mut rewriter =
            Rewriter::new(&loaded.text.text, &parsed.unit, &loaded.program, &sites, &loaded.question);
        let body = rewriter.unit(&parsed.unit, crate::preprocess::PRELUDE.len());
        let inputs = std::mem::take(&mut rewriter.inputs);
        let tables = tables(loaded, run, &mut sites, &|site| inputs.contains(&site), ends);
        let main = main(loaded, run, &tables);
        let head = include_str!("replay/head.c");
        let tail = include_str!("replay/tail.c");
        Ok(format!("{head}{body}\n{}{tail}{main}", tables.text))
    };
    // The tree is gone through by recursion.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(|t| t.join()) {
            Ok(Ok(done)) => done,
            _ => Err("the program is nested too deeply".into()),
        }
    })
}

fn span(program: &Program, template: usize, pc: u32) -> (usize, usize) {
    program.origin(template, pc as usize).span
}

struct Tables {
    text: String,
    /// Values of the open arguments of the threads that are there at the start: (thread, argument, value).
    arguments: Vec<(usize, usize, i64)>,
}

/// A value that was open, by when it was opened.
#[derive(Default)]
struct Opened {
    /// (thread, site, value), in the order in which they were opened.
    values: Vec<(usize, Option<usize>, Option<i64>)>,
    /// For each thread, the opened value that each of its registers holds.
    held: HashMap<(usize, Reg), usize>,
}

fn tables(
    loaded: &Loaded,
    run: &Run,
    sites: &mut Sites,
    is_input: &dyn Fn(usize) -> bool,
    ends: Ends,
) -> Tables {
    let program = &*loaded.program;
    let mut templates: Vec<usize> = run.first.clone();
    let mut opened = Opened::default();
    let (mut order, mut founds, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    let mut arguments = Vec::new();
    for (i, &t) in templates.iter().enumerate() {
        // The first argument of `main` is an input; nothing is known about the others.
        let template = &program.templates[t];
        for r in 0..if template.single { 1 } else { template.arguments } {
            opened.held.insert((i, r as Reg), opened.values.len());
            arguments.push((i, r, opened.values.len()));
            opened.values.push((i, None, None));
        }
    }
    let mut failing = usize::MAX;
    for (n, (i, outcome)) in run.moves.iter().enumerate() {
        let t = templates[*i];
        for event in &outcome.events {
            match event {
                Event::Visible(pc) => {
                    let code = &program.templates[t].code[*pc as usize];
                    let site = sites.number(span(program, t, *pc));
                    order.push((*i, site, kind(code).unwrap_or(OTHER), n));
                }
                Event::Opened(pc, r) => {
                    let site = sites.number(span(program, t, *pc));
                    opened.held.insert((*i, *r), opened.values.len());
                    opened.values.push((*i, Some(site), None));
                }
                Event::Copied(from, to) => {
                    if let Some(&v) = opened.held.get(&(*i, *from)) {
                        opened.held.insert((*i, *to), v);
                    }
                }
                Event::Chosen(r, v) => {
                    if let Some(&k) = opened.held.get(&(*i, *r)) {
                        opened.values[k].2 = Some(*v);
                    }
                }
                Event::Found(pc, v) => {
                    founds.push((*i, sites.number(span(program, t, *pc)), *v));
                }
                Event::Accessed(..) => {}
            }
        }
        templates.extend(outcome.started.iter().map(|t| t.template as usize));
        match &outcome.after {
            After::Failed(..) => failing = *i,
            _ if outcome.thread.is_none() => ended.push(*i),
            _ => {}
        }
    }
    let arguments = arguments.into_iter().map(|(i, r, k)| (i, r, opened.values[k].2.unwrap_or(0))).collect();
    let starter = program.starter().is_some();
    order.retain(|entry| !(starter && entry.0 == 0));
    let mut out = String::from("struct __throng_value { int thread, site; long long value; };\n");
    let table = |out: &mut String, name: &str, macro_name: &str, rows: Vec<String>| {
        _ = writeln!(out, "enum {{ {macro_name} = {} }};", rows.len());
        let rows = if rows.is_empty() { "{ -1 }".to_string() } else { rows.join(", ") };
        _ = writeln!(out, "static const struct {name}[] = {{ {rows} }};");
    };
    let rows = order.iter().map(|(i, site, kind, _)| format!("{{ {i}, {site}, {kind} }}")).collect();
    table(&mut out, "{ int thread, site, kind; } __throng_order", "__THRONG_STEPS", rows);
    let rows = opened
        .values
        .iter()
        .filter_map(|(i, site, v)| site.filter(|s| is_input(*s)).map(|s| (i, s, v)))
        .map(|(i, site, v)| format!("{{ {i}, {site}, {} }}", literal(v.unwrap_or(0))))
        .collect();
    table(&mut out, "__throng_value __throng_inputs", "__THRONG_INPUTS", rows);
    let rows = founds.iter().map(|(i, site, v)| format!("{{ {i}, {site}, {} }}", literal(*v))).collect();
    table(&mut out, "__throng_value __throng_founds", "__THRONG_FOUNDS", rows);
    let rows = (0..templates.len())
        .map(|i| {
            let racing = run.racing.iter().chain(&run.ends).find(|r| r.0 == i);
            let site = racing.map_or(-1, |r| sites.number(span(program, r.1, r.2)) as i64);
            let code = &program.templates[templates[i]].code;
            let end = code.iter().rposition(|i| matches!(i, Instr::End(_)));
            let end = end.map_or(0, |pc| sites.number(span(program, templates[i], pc as u32)));
            format!("{{ {site}, {}, {end} }}", u8::from(i == failing || ended.contains(&i)))
        })
        .collect();
    table(&mut out, "{ int site, goes_on, end; } __throng_last", "__THRONG_KNOWN", rows);
    let first = if starter { 1 } else { run.first.len() };
    let flags = [
        ("FAILS", ends != Ends::AfterTheLastStep),
        ("STUCK", ends == Ends::Stuck),
        ("MISUSE", loaded.question.locks),
        ("NUMBERED", program.numbered),
    ];
    let flags = flags.map(|(name, is)| format!("__THRONG_{name} = {}", u8::from(is)));
    _ = writeln!(out, "enum {{ __THRONG_FIRST = {first}, {} }};", flags.join(", "));
    out.push_str("static void __throng_dump(int step) {\n");
    if ends == Ends::AfterTheLastStep {
        for (k, (_, _, _, n)) in order.iter().enumerate() {
            let Some(values) = run.values.get(*n) else { continue };
            _ = writeln!(out, "  if (step == {k}) {{");
            for (name, v) in values {
                let v = literal(*v);
                _ = writeln!(
                    out,
                    "    if ((long long)({name}) != {v}) {{ __throng_print(1, \"step %d: {name} is %lld, not %lld\\n\", step, (long long)({name}), {v}); __throng_quit(4); }}"
                );
            }
            out.push_str("  }\n");
        }
    }
    out.push_str("}\n");
    Tables { text: out, arguments }
}

fn literal(v: i64) -> String {
    if v == i64::MIN { "(-9223372036854775807LL - 1)".into() } else { format!("{v}LL") }
}

fn main(loaded: &Loaded, run: &Run, tables: &Tables) -> String {
    let program = &*loaded.program;
    let mut out = String::from("int main(void) {\n");
    let is_main = matches!(program.start, Start::One(_)) && program.starter().is_none();
    if is_main {
        let count = tables.arguments.first().map_or(0, |a| a.2);
        _ = writeln!(
            out,
            "  static char *arguments[] = {{ \"main\", 0 }};\n  __throng_me = 0;\n  \
             ((int (*)(int, char **, char **))__throng_main)({count}, arguments, 0);\n  __throng_release();"
        );
    } else {
        let mut threads: Vec<(usize, Vec<i64>)> = Vec::new();
        if program.starter().is_some() {
            for (i, outcome) in &run.moves {
                for t in outcome.started.iter().filter(|_| *i == 0) {
                    threads.push((t.template as usize, Vec::new()));
                }
            }
        } else {
            for (i, &t) in run.first.iter().enumerate() {
                let of = tables.arguments.iter().filter(|a| a.0 == i);
                threads.push((t, of.map(|a| a.2).collect()));
            }
        }
        let shift = usize::from(program.starter().is_some());
        // The thread that starts the others is none of the compiled program.
        _ = writeln!(out, "  __throng_count = {};\n  __throng_idle = {shift};", threads.len() + shift);
        for (k, (t, arguments)) in threads.iter().enumerate() {
            let argument = arguments.first().copied().unwrap_or(0);
            _ = writeln!(
                out,
                "  __throng_start({}, (void *){}, (void *){});",
                k + shift,
                program.templates[*t].name,
                literal(argument)
            );
        }
    }
    out.push_str("  __throng_park();\n  return 0;\n}\n");
    out
}
