//! All that a goto program can do, by a search that knows nothing of engines.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use throng_goto::program::{Program, Start};
use throng_goto::step::{After, Memory, Thread, initial_memory, start, step};

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// With this number.
    Number(u64),
    Panics,
    /// Threads wait for ever.
    Stuck,
}

/// Returns all ends; or why some may be missing.
pub fn ends(program: &Program, variable: &str, most: usize) -> Result<BTreeSet<End>, String> {
    let Start::One(first) = program.start else { return Err("it starts otherwise".into()) };
    let begin = (Arc::new(initial_memory(program)), vec![start(program, first, &[], 0)]);
    let mut seen: HashSet<(Arc<Memory>, Vec<Thread>)> = HashSet::from([begin.clone()]);
    let (mut work, mut found) = (vec![begin], BTreeSet::new());
    while let Some((memory, threads)) = work.pop() {
        if seen.len() > most {
            return Err(format!("more than {most} states"));
        }
        let mut moves = false;
        for (i, thread) in threads.iter().enumerate() {
            let steps = step(program, &memory, thread);
            if let Some(missing) = steps.missing {
                return Err(missing.to_string());
            }
            for outcome in steps.outcomes {
                moves = true;
                let mut rest = threads.clone();
                rest.remove(i);
                rest.extend(outcome.thread);
                rest.extend(outcome.started);
                rest.sort_by_key(|t| (t.id, t.template, t.pc));
                match outcome.after {
                    After::Runs(memory) => {
                        let next = (memory, rest);
                        if seen.insert(next.clone()) {
                            work.push(next);
                        }
                    }
                    After::Failed(_, why) if why.starts_with("panics") => _ = found.insert(End::Panics),
                    After::Failed(what, why) => return Err(format!("{what:?}: {why}")),
                    After::Halted => return Err("it halts".into()),
                }
            }
        }
        if !moves {
            found.insert(match threads.is_empty() {
                true => End::Number(number(program, &memory, variable)),
                false => End::Stuck,
            });
        }
    }
    Ok(found)
}

fn number(program: &Program, memory: &Memory, variable: &str) -> u64 {
    let object = program.objects.iter().find(|o| o.name == variable).expect("the variable");
    let bytes = memory.fixed.range(object.base..object.base + object.init.len()).expect("its bytes");
    bytes.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b & 255))
}
