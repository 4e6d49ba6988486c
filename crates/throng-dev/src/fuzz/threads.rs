//! Thread-transition systems: how they are made up, written, and executed naively.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::naive::{State, Steps, product};
use crate::Rng;

/// A thread-transition system with its question. A state is its shared state, then the local states
/// of its threads, sorted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Threads {
    /// Written with names (`.ntts`) rather than numbers (`.tts`).
    pub named: bool,
    /// Number of shared states.
    pub shared: u32,
    /// Number of local states.
    pub locals: u32,
    /// The start: the shared state, the threads that are there, and where any number may be.
    pub start: (u32, Vec<u32>, Vec<u32>),
    /// The edges.
    pub edges: Vec<Edge>,
    /// Shared state and threads.
    pub targets: Vec<(u32, Vec<u32>)>,
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The kind of step.
    pub arrow: Arrow,
    /// Shared and local state before.
    pub from: (u32, u32),
    /// After.
    pub to: (u32, u32),
    /// Local states to which other threads may or must go, for moves.
    pub passive: Vec<(u32, u32)>,
    /// In whatever shared state, which stays (`*`, with names only).
    pub anywhere: bool,
}

/// Kinds of edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Arrow {
    /// `->`: the thread moves.
    Move,
    /// `+>`: the thread stays, another one appears.
    Spawn,
    /// `~>`: all threads move, were there any or not.
    Transfer,
}

impl Threads {
    /// A system without edges: its states, its start and some targets.
    pub fn empty(rng: &mut Rng, size: usize) -> Threads {
        let shared = 1 + rng.index(1 + size) as u32;
        let locals = 1 + rng.index(2 + size) as u32;
        let some = |rng: &mut Rng, most: usize| -> Vec<u32> {
            let mut threads: Vec<u32> =
                (0..rng.index(most + 1)).map(|_| rng.index(locals as usize) as u32).collect();
            threads.sort_unstable();
            threads
        };
        let mut any = some(rng, 2);
        any.dedup();
        let start = (rng.index(shared as usize) as u32, some(rng, 2), any);
        let targets = (0..1 + rng.index(3)).map(|_| (rng.index(shared as usize) as u32, some(rng, 3)));
        let targets = targets.collect();
        Threads { named: rng.one_in(3), shared, locals, start, edges: Vec::new(), targets }
    }

    /// Some edge; from there, if something is given.
    pub fn edge(&self, rng: &mut Rng, from: Option<(u32, u32)>) -> Edge {
        let shared = |rng: &mut Rng| rng.index(self.shared as usize) as u32;
        let local = |rng: &mut Rng| rng.index(self.locals as usize) as u32;
        let from = from.unwrap_or_else(|| (shared(rng), local(rng)));
        let arrow = match rng.index(12) {
            0 | 1 => Arrow::Spawn,
            2 => Arrow::Transfer,
            _ => Arrow::Move,
        };
        let anywhere = self.named && rng.one_in(8);
        let to = (if anywhere { from.0 } else { shared(rng) }, local(rng));
        let mut passive: Vec<(u32, u32)> = Vec::new();
        // On an edge that changes nothing else, transfers are refused.
        if arrow == Arrow::Move && from != to && rng.one_in(5) {
            passive = (0..1 + rng.index(3)).map(|_| (local(rng), local(rng))).collect();
            passive.sort_unstable();
            passive.dedup();
        }
        Edge { arrow, from, to, passive, anywhere }
    }

    /// The text of a `.tts` or `.ntts` file.
    pub fn text(&self) -> String {
        let shared = |s: u32| if self.named { format!("s{s}") } else { s.to_string() };
        let local = |l: u32| if self.named { format!("l{l}") } else { l.to_string() };
        let list = |ls: &[u32]| ls.iter().map(|&l| local(l)).collect::<Vec<_>>().join(",");
        let mut text = String::new();
        if self.named {
            let all = |n: u32, name: &dyn Fn(u32) -> String| (0..n).map(name).collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "shared {}", all(self.shared, &shared));
            let _ = writeln!(text, "local {}\ninit {}", all(self.locals, &local), self.initial());
        } else {
            let _ = writeln!(text, "{} {}", self.shared, self.locals);
        }
        for edge in &self.edges {
            let arrow = match edge.arrow {
                Arrow::Move => "->",
                Arrow::Spawn => "+>",
                Arrow::Transfer => "~>",
            };
            let at = |(s, l): (u32, u32)| {
                let s = if edge.anywhere { "*".to_string() } else { shared(s) };
                format!("{s} {}", local(l))
            };
            let _ = write!(text, "{} {arrow} {}", at(edge.from), at(edge.to));
            for &(p, q) in &edge.passive {
                let _ = write!(text, " {} ~> {}", local(p), local(q));
            }
            text.push('\n');
        }
        let word = if self.named { "target " } else { "" };
        for (s, threads) in &self.targets {
            let _ = writeln!(text, "{word}{}|{}", shared(*s), list(threads));
        }
        text
    }

    /// Returns the initial configuration as `--initial` takes it.
    pub fn initial(&self) -> String {
        let (shared, local) = if self.named { ("s", "l") } else { ("", "") };
        let list = |ls: &[u32]| ls.iter().map(|l| format!("{local}{l}")).collect::<Vec<_>>().join(",");
        let (s, threads, any) = &self.start;
        let slash = if any.is_empty() { String::new() } else { format!("/{}", list(any)) };
        format!("{shared}{s}|{}{slash}", list(threads))
    }

    /// All that one edge can do.
    pub fn by(&self, edge: &Edge, state: &State, bound: Option<u32>, found: &mut Vec<State>) {
        let mut from = edge.from;
        let mut to = edge.to;
        if edge.anywhere {
            (from.0, to.0) = (state[0], state[0]);
        }
        if state[0] != from.0 {
            return;
        }
        let threads = &state[1..];
        let with = |threads: Vec<u32>| {
            let mut threads = threads;
            threads.sort_unstable();
            [&[to.0], &threads[..]].concat()
        };
        if edge.arrow == Arrow::Transfer {
            found.push(with(threads.iter().map(|&l| if l == from.1 { to.1 } else { l }).collect()));
            return;
        }
        let Some(at) = threads.iter().position(|&l| l == from.1) else { return };
        if edge.arrow == Arrow::Spawn {
            let room = bound.is_none_or(|bound| (threads.len() as u32) < bound);
            let child: &[u32] = if room { &[to.1] } else { &[] };
            found.push(with([threads, child].concat()));
            return;
        }
        let mut others = threads.to_vec();
        others.remove(at);
        let goes = |l: u32| {
            let listed: Vec<u32> = edge.passive.iter().filter(|p| p.0 == l).map(|p| p.1).collect();
            if listed.is_empty() { vec![l] } else { listed }
        };
        let sets: Vec<Vec<u32>> = others.into_iter().map(goes).collect();
        found.extend(product(&sets).into_iter().map(|others| with([&others[..], &[to.1]].concat())));
    }
}

impl Steps for Threads {
    fn starts(&self, size: u32) -> Vec<State> {
        let (shared, threads, any) = &self.start;
        let Some(more) = size.checked_sub(threads.len() as u32) else { return Vec::new() };
        let mut found: Vec<State> = product(&vec![any.clone(); more as usize])
            .into_iter()
            .map(|more| {
                let mut all = [&threads[..], &more[..]].concat();
                all.sort_unstable();
                [&[*shared], &all[..]].concat()
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }

    fn starts_of_tokens(&self, _most: u32) -> Vec<State> {
        Vec::new() // threads are not tokens
    }

    fn largest_start(&self) -> Option<u32> {
        self.start.2.is_empty().then_some(self.start.1.len() as u32)
    }

    fn after(&self, state: &State, bound: Option<u32>) -> Vec<State> {
        let mut found = Vec::new();
        self.edges.iter().for_each(|edge| self.by(edge, state, bound, &mut found));
        found.sort();
        found.dedup();
        found
    }

    fn size(&self, state: &State) -> u32 {
        state.len() as u32 - 1
    }

    fn targets(&self) -> usize {
        self.targets.len()
    }

    fn hits(&self, state: &State, target: usize) -> bool {
        let (shared, threads) = &self.targets[target];
        let count = |list: &[u32], l: u32| list.iter().filter(|&&m| m == l).count();
        *shared == state[0] && threads.iter().all(|&l| count(&state[1..], l) >= count(threads, l))
    }
}
