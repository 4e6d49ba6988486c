//! How far threads are from an instruction: numbers of instructions along the graph of the program,
//! through calls, returns and the threads that are started on the way. What no distance leads to is
//! not reached; else these numbers only guide a search.

use std::collections::VecDeque;

use throng_goto::program::{Instr, Point, Program, next};
use throng_goto::step::Thread;

/// Farther than any instruction.
pub(super) const FAR: u32 = u32::MAX / 8;

/// Distances to a set of instructions, by template and place in its code.
pub(super) struct Distances {
    /// By the thread itself.
    own: Vec<Vec<u32>>,
    /// By a thread that it starts, or that one of those starts.
    started: Vec<Vec<u32>>,
}

/// The graph of a program, backwards: which instructions lead to one, in the same thread, and by
/// starting another one.
pub(super) struct Graph {
    before: Vec<Vec<Vec<Point>>>,
    starts: Vec<Vec<Point>>,
}

fn point(template: usize, pc: usize) -> Point {
    Point { template: template as u32, pc: pc as u32 }
}

impl Graph {
    pub(super) fn of(program: &Program) -> Graph {
        let sizes = || program.templates.iter().map(|t| vec![Vec::new(); t.code.len()]);
        let mut graph =
            Graph { before: sizes().collect(), starts: vec![Vec::new(); program.templates.len()] };
        for (t, template) in program.templates.iter().enumerate() {
            for (pc, instruction) in template.code.iter().enumerate() {
                let here = point(t, pc);
                let after = next(&template.code, pc).into_iter().filter(|&to| to < template.code.len());
                after.for_each(|to| graph.before[t][to].push(here));
                match instruction {
                    Instr::Call { function, .. } => graph.enters(*function, here),
                    Instr::CallPointer { .. } => {
                        let pointed =
                            (0..program.templates.len()).filter(|&f| program.templates[f].pointer.is_some());
                        pointed.for_each(|f| graph.enters(f, here));
                    }
                    Instr::Spawn(child, ..) => graph.starts[*child].push(here),
                    _ => {}
                }
            }
        }
        graph
    }

    fn enters(&mut self, function: usize, here: Point) {
        if let Some(first) = self.before[function].first_mut() {
            first.push(here);
        }
    }

    /// Returns the distances to these instructions.
    pub(super) fn to(&self, targets: &[Point]) -> Distances {
        let far = || self.before.iter().map(|code| vec![FAR; code.len()]).collect::<Vec<_>>();
        let (mut own, mut started) = (far(), far());
        self.spread(&mut own, targets.iter().map(|&at| (at, 0)).collect());
        loop {
            // A child's distance is one step behind the instruction that starts it.
            let mut new = Vec::new();
            for (child, sites) in self.starts.iter().enumerate() {
                let Some(first) = own[child].first().map(|d| (*d).min(started[child][0])) else { continue };
                let better = |at: &&Point| first + 1 < started[at.template as usize][at.pc as usize];
                new.extend(sites.iter().filter(better).filter(|_| first < FAR).map(|&at| (at, first + 1)));
            }
            if new.is_empty() {
                return Distances { own, started };
            }
            new.sort_by_key(|n| n.1);
            self.spread(&mut started, new.into());
        }
    }

    /// Lowers distances from these instructions backwards.
    fn spread(&self, distances: &mut [Vec<u32>], mut work: VecDeque<(Point, u32)>) {
        while let Some((at, distance)) = work.pop_front() {
            let known = &mut distances[at.template as usize][at.pc as usize];
            if distance < *known {
                *known = distance;
                let before = &self.before[at.template as usize][at.pc as usize];
                work.extend(before.iter().map(|&p| (p, distance + 1)));
            }
        }
    }
}

impl Distances {
    /// Returns the distances of a thread: by itself, and by a thread that it starts.
    pub(super) fn of(&self, thread: &Thread) -> (u32, u32) {
        if thread.stopped {
            return (FAR, FAR);
        }
        let here = thread.point();
        let returned = thread.frames.iter().map(|frame| Point { pc: frame.at.pc + 1, ..frame.at });
        let all = std::iter::once(here).chain(returned);
        let at = |table: &Vec<Vec<u32>>, p: Point| {
            table[p.template as usize].get(p.pc as usize).copied().unwrap_or(FAR)
        };
        all.fold((FAR, FAR), |(own, started), p| {
            (own.min(at(&self.own, p)), started.min(at(&self.started, p)))
        })
    }
}
