//! The places of a program at which threads wait: in loops, and where others can hold them up.

use std::collections::{HashMap, HashSet};

use throng_model::property::ANYWHERE;

use crate::program::{Instr, Origin, Point, Program};
use crate::waiting::{WaitingLoop, waiting_loops};

/// Where threads may wait.
pub(crate) struct Places {
    /// Instructions of waiting loops, with the number of the loop.
    loops: HashMap<Point, u32>,
    /// Instructions at which threads may wait, and where stuck threads are asked for.
    asked: HashSet<Point>,
}

impl Places {
    pub(crate) fn new(program: &Program) -> Places {
        // A loop that looks at nothing waits for nothing: it is how some programs stop.
        let all = waiting_loops(program).into_iter().filter(|l| !l.reads.is_empty());
        let all: Vec<Vec<Point>> = all.map(points).collect();
        let numbered = (0..).zip(&all).flat_map(|(n, points)| points.iter().map(move |&at| (at, n)));
        let loops: HashMap<Point, u32> = numbered.collect();
        let mut asked = HashSet::new();
        for (template, t) in program.templates.iter().enumerate() {
            let points = (0..t.code.len()).map(|pc| Point { template: template as u32, pc: pc as u32 });
            let may_wait = |at: &Point| loops.contains_key(at) || may_block(program.instruction_at(*at));
            let at_one = |list: &[String], at| {
                list.iter().flat_map(|text| text.split('|')).any(|place| is_at(program, at, place.trim()))
            };
            asked.extend(points.filter(|&at| {
                may_wait(&at) && at_one(&program.stuck, at) || at_one(&program.starvation, at)
            }));
        }
        // A thread that comes to a place waits there in all of a loop.
        for points in &all {
            if points.iter().any(|at| asked.contains(at)) {
                asked.extend(points);
            }
        }
        Places { loops, asked }
    }

    pub(crate) fn loop_of(&self, at: Point) -> Option<u32> {
        self.loops.get(&at).copied()
    }

    pub(crate) fn is_asked(&self, at: Point) -> bool {
        self.asked.contains(&at)
    }
}

fn points(l: WaitingLoop) -> Vec<Point> {
    let template = l.template as u32;
    l.points.into_iter().map(|pc| Point { template, pc: pc as u32 }).collect()
}

/// Returns whether a thread may be held up between two steps before an instruction.
fn may_block(i: &Instr) -> bool {
    matches!(i, Instr::AtomicBegin | Instr::Assume(_) | Instr::Join(..) | Instr::Load(..) | Instr::Store(..))
}

/// Returns whether an instruction is at a place: a function that runs or calls it; a line, or that of
/// a label, there or on the way of the calls to it.
fn is_at(program: &Program, at: Point, place: &str) -> bool {
    let origin = program.origin_at(at);
    let line = place.strip_prefix("line").unwrap_or(place).trim().parse::<u32>().ok();
    let path: Vec<&str> = origin.function.split(" > ").collect();
    let lines: Vec<u32> = origin.calls.iter().copied().chain([origin.line]).collect();
    let labelled = |o: &Origin| {
        let depth = o.calls.len();
        o.labels.iter().any(|l| l == place)
            && lines.get(depth) == Some(&o.line)
            && lines.starts_with(&o.calls)
            && origin.function.starts_with(&o.function)
    };
    place == ANYWHERE
        || line.is_some_and(|line| lines.contains(&line))
        || path.contains(&place)
        || program.origins.iter().any(labelled)
}
