//! The places of a program at which threads wait: in loops, and where others can hold them up.

use std::collections::HashSet;

use throng_model::property::ANYWHERE;

use crate::program::{Instr, Origin, Point, Program};
use crate::waiting::waiting_loops;

/// Where threads may wait.
pub(crate) struct Places {
    /// Instructions of waiting loops.
    loops: HashSet<Point>,
    /// Instructions at which threads may wait, and where stuck threads are asked for.
    asked: HashSet<Point>,
}

impl Places {
    pub(crate) fn new(program: &Program) -> Places {
        // A loop that looks at nothing waits for nothing: it is how some programs stop.
        let all = waiting_loops(program).into_iter().filter(|l| !l.reads.is_empty());
        let loops: HashSet<Point> = all
            .flat_map(|l| {
                let point = move |pc: usize| Point { template: l.template as u32, pc: pc as u32 };
                l.points.into_iter().map(point)
            })
            .collect();
        let mut asked = HashSet::new();
        for (template, t) in program.templates.iter().enumerate() {
            let points = (0..t.code.len()).map(|pc| Point { template: template as u32, pc: pc as u32 });
            let may_wait = |at: &Point| loops.contains(at) || may_block(program.instruction_at(*at));
            asked.extend(points.filter(|at| may_wait(at) && is_asked(program, *at)));
        }
        Places { loops, asked }
    }

    pub(crate) fn is_in_loop(&self, at: Point) -> bool {
        self.loops.contains(&at)
    }

    pub(crate) fn is_asked(&self, at: Point) -> bool {
        self.asked.contains(&at)
    }
}

/// Returns whether a thread may be held up between two steps before an instruction.
fn may_block(i: &Instr) -> bool {
    matches!(i, Instr::AtomicBegin | Instr::Assume(_) | Instr::Join(..) | Instr::Load(..) | Instr::Store(..))
}

fn is_asked(program: &Program, at: Point) -> bool {
    program.stuck.iter().flat_map(|text| text.split('|')).any(|place| is_at(program, at, place.trim()))
}

/// Returns whether an instruction is at a place: a label, or the line of one; a function that runs
/// or calls it; a line.
fn is_at(program: &Program, at: Point, place: &str) -> bool {
    let origin = program.origin_at(at);
    let line = place.strip_prefix("line").unwrap_or(place).trim().parse::<u32>().ok();
    let labelled = |o: &Origin| {
        o.labels.iter().any(|l| l == place) && (o.line, &o.function) == (origin.line, &origin.function)
    };
    place == ANYWHERE
        || line.is_some_and(|line| line == origin.line)
        || origin.function.split(" > ").any(|name| name == place)
        || program.origins.iter().any(labelled)
}
