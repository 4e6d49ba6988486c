//! A run as a C program: the user's code, forced through the schedule and the inputs of the run,
//! with real threads.
//!
//! Every access that other threads can see waits for its turn. The program ends in the assertion
//! that the run violates; locks cannot be in its way, because the run says who takes them when.

mod arguments;
mod rewrite;
mod tables;

use std::fmt::Write as _;

use crate::Loaded;
use rewrite::{Rewriter, Sites};
use tables::Tables;
use throng_goto::program::Start;
use throng_goto::run::Run;

/// How the program ends that [`write()`] writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// In a violation: it aborts.
    Aborts,
    /// In a memory error: it aborts if it was compiled with `-fsanitize=address`.
    MemoryError,
    /// In a deadlock: it aborts when it has seen that every thread has to wait.
    Stuck,
    /// After the last step, with status 0; the values of variables are printed after each step.
    AfterTheLastStep,
}

/// Returns the program that goes through a run; or why there cannot be one.
pub fn write(loaded: &Loaded, run: &Run, ends: Ends) -> Result<String, String> {
    const STACK: usize = 512 << 20;
    let work = || -> Result<String, String> {
        let units = crate::parse(&loaded.text).map_err(|_| "the program cannot be read again".to_string())?;
        let [unit] = &units[..] else {
            // Each has a scope of its own, and what is written is one file.
            return Err("a replay of a program of several files is not supported".into());
        };
        // A passage that computes with vectors accesses memory once for each element.
        if loaded.text.text.contains("vector_size") {
            return Err("a replay of a program with vectors is not supported".into());
        }
        let mut sites = Sites::of(&loaded.query.program);
        let (program, question) = (&loaded.query.program, &loaded.query.question);
        let mut rewriter = Rewriter::new(&loaded.text.text, unit, program, &sites, question, &loaded.library);
        let body = rewriter.unit(unit);
        if let Some(name) = &rewriter.refused {
            return Err(format!("a replay of a program that calls `{name}` is not supported"));
        }
        if rewriter.errno && rewriter.sets_errno {
            return Err("a replay of a program that depends on `errno` is not supported".into());
        }
        let inputs = std::mem::take(&mut rewriter.inputs);
        let tables = Tables::new(loaded, run, &mut sites);
        tables.all_wait(&loaded.query.program, &rewrite::turns(&body))?;
        let text = tables.write(loaded, run, &|site| inputs.contains(&site), ends);
        let main = main(loaded, run, &tables.arguments());
        let head = include_str!("replay/head.c");
        let tail = include_str!("replay/tail.c");
        Ok(format!("{head}{body}\n{text}{tail}{main}"))
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

fn main(loaded: &Loaded, run: &Run, arguments: &[(usize, i64)]) -> String {
    let program = &*loaded.query.program;
    let mut out = String::from("int main(void) {\n");
    let is_main = matches!(program.start, Start::One(_)) && program.starter().is_none();
    if is_main {
        let count = arguments.first().map_or(0, |a| a.1);
        _ = writeln!(
            out,
            "{}  __throng_me = 0;\n  \
             ((int (*)(int, char **, char **))__throng_main)({count}, arguments, 0);\n  __throng_release();",
            arguments::written(program, run, count)
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
                let of = arguments.iter().filter(|a| a.0 == i);
                threads.push((t, of.map(|a| a.1).collect()));
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
                tables::literal(argument)
            );
        }
    }
    out.push_str("  __throng_park();\n  return 0;\n}\n");
    out
}
