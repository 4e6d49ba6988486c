//! The places of a program at which threads wait: in loops, and where others can hold them up.

use std::collections::{HashMap, HashSet};

use throng_model::property::ANYWHERE;

use crate::program::{Origin, Point, Program};
use crate::step::Thread;
use crate::waiting::{WaitingLoop, possible_waits, waiting_loop_around};

/// Where threads may wait.
pub(crate) struct Places {
    /// Instructions of loops in which threads may wait, with the number of the loop.
    loops: HashMap<Point, u32>,
    /// Instructions at which stuck threads are asked for.
    stuck: HashSet<Point>,
}

impl Places {
    pub(crate) fn new(program: &Program) -> Places {
        let all = possible_waits(program);
        let numbered = (0..).zip(&all).flat_map(|(n, l)| l.places().map(move |at| (at, n)));
        Places { loops: numbered.collect(), stuck: asked(program, &program.stuck) }
    }

    /// Returns the loop in which a thread, or a function that it has called, may wait: the outermost
    /// one.
    pub(crate) fn loop_of(&self, thread: &Thread) -> Option<u32> {
        points(thread).find_map(|at| self.loops.get(&at).copied())
    }

    /// Returns whether a thread is where it is asked for, as one that is stuck or stays for ever.
    pub(crate) fn is_asked(&self, program: &Program, thread: &Thread) -> bool {
        points(thread).any(|at| program.is_watched(at) || self.stuck.contains(&at))
    }
}

/// Returns the calls that a thread has not returned from, the outermost one first, and its next
/// instruction.
fn points(thread: &Thread) -> impl Iterator<Item = Point> + '_ {
    thread.frames.iter().map(|frame| frame.at).chain([thread.point()])
}

/// Returns the instructions at places that are listed, `A|B` for several.
pub(crate) fn asked(program: &Program, places: &[String]) -> HashSet<Point> {
    let places = places.iter().flat_map(|text| text.split('|')).map(str::trim);
    places.flat_map(|place| at_place(program, place)).collect()
}

/// Returns the instructions at a place. A thread that comes to a label or line waits there in all of
/// the innermost loop around it, if that is a waiting loop.
fn at_place(program: &Program, place: &str) -> HashSet<Point> {
    let (mut found, mut loops) = (HashSet::new(), Vec::new());
    for (template, t) in program.templates.iter().enumerate() {
        for pc in 0..t.code.len() {
            let at = Point { template: template as u32, pc: pc as u32 };
            if is_in(program, at, place) {
                found.insert(at);
            } else if is_on(program, at, place) {
                found.insert(at);
                loops.extend(waiting_loop_around(program, at));
            }
        }
    }
    // What comes before a loop at its line is in the loop around it, which is another place.
    let inside = |a: &WaitingLoop, b: &WaitingLoop| {
        a.template == b.template && a.points != b.points && a.points.iter().all(|pc| b.points.contains(pc))
    };
    let innermost = loops.iter().filter(|l| !loops.iter().any(|other| inside(other, l)));
    found.extend(innermost.flat_map(WaitingLoop::places));
    found
}

/// Returns whether an instruction is executed by a function, or by one that it calls.
fn is_in(program: &Program, at: Point, function: &str) -> bool {
    function == ANYWHERE || program.origin_at(at).function.split(" > ").any(|name| name == function)
}

/// Returns whether an instruction is at a line, or that of a label, there or on the way of the calls
/// to it.
fn is_on(program: &Program, at: Point, place: &str) -> bool {
    let origin = program.origin_at(at);
    let line = place.strip_prefix("line").unwrap_or(place).trim().parse::<u32>().ok();
    let lines: Vec<u32> = origin.calls.iter().copied().chain([origin.line]).collect();
    let labelled = |o: &Origin| {
        let depth = o.calls.len();
        o.labels.iter().any(|l| l == place)
            && lines.get(depth) == Some(&o.line)
            && lines.starts_with(&o.calls)
            && origin.function.starts_with(&o.function)
    };
    line.is_some_and(|line| lines.contains(&line)) || program.origins.iter().any(labelled)
}
