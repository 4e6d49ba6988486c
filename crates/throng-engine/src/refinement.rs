//! Does a Boolean program refine a local/global state machine? [`throng_check::rules::simulation`]
//! defines the question and checks the answer.
//!
//! # How
//!
//! Breadth first over pairs of a local state of the program and the set of local states of the
//! machine that its thread may be in: a subset construction, so that a pair without a state of the
//! machine is reached if and only if the program has a step that the machine does not allow. A pair
//! whose set contains that of another pair with the same local state is left out, because what the
//! machine allows from fewer states it allows from more. Shared variables are known inside of
//! atomic sections only; elsewhere, others may have left any values behind with which the machine
//! can have a thread in one of the states.
//!
//! The steps are those of the interpreter that checks certificates, so that its states have names.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use throng_check::rules::Flaw;
use throng_check::rules::simulation::{Deviation, MachineStates, Move, Refinement, Related};
use throng_model::limits::{Limits, Ticker};
use throng_model::{Edge, Local, Shared, Step};

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// The program refines the machine.
    Refines {
        /// The pairs.
        related: Vec<Related>,
        /// Thread states that threads of the machine must never be in.
        never: Vec<(Shared, Local)>,
    },
    /// The program has a step that the machine does not allow.
    Deviates {
        /// The life of a thread that takes it.
        deviation: Deviation,
        /// Thread states that threads of the machine can be in: others leave these shared states.
        met: Vec<(Shared, Local)>,
        /// Thread states that threads of the machine must never be in.
        never: Vec<(Shared, Local)>,
    },
}

/// Searches, given every thread state that any number of threads of the machine can reach.
pub fn refines(question: &Refinement<'_>, reachable: &MachineStates, limits: &Limits) -> Result<Found, Flaw> {
    let mut search = Search {
        question,
        reachable,
        nodes: Vec::new(),
        todo: VecDeque::new(),
        known: FxHashMap::default(),
        never: Vec::new(),
        ticker: Ticker::new(limits),
    };
    let wrong = search.start();
    let wrong = match wrong {
        None => search.explore()?,
        some => some,
    };
    search.never.sort_unstable();
    search.never.dedup();
    match wrong {
        Some(wrong) => search.deviation(&wrong),
        None => Ok(search.simulation()),
    }
}

/// A pair that was reached.
struct Node {
    pair: Related,
    /// The pair before and what happened.
    before: Option<(usize, Happened)>,
    /// True if another pair stands for this one.
    superseded: bool,
}

/// What leads from a pair to the next.
#[derive(Clone, Copy)]
enum Happened {
    /// A thread that waited was woken.
    Woken,
    /// A step, from the shared state of the machine and with these values to these.
    Step { from: Shared, edge: Edge, to: Shared, put: Option<Local> },
}

/// A step that the machine does not allow; without a node, the start.
struct Wrong {
    at: Option<(usize, Happened)>,
    start: Shared,
}

struct Search<'a> {
    question: &'a Refinement<'a>,
    reachable: &'a MachineStates,
    nodes: Vec<Node>,
    todo: VecDeque<usize>,
    known: FxHashMap<(Local, Option<Shared>), Vec<usize>>,
    never: Vec<(Shared, Local)>,
    ticker: Ticker<'a>,
}

impl Search<'_> {
    /// Adds the pairs at the start; returns values in which the machine does not start.
    fn start(&mut self) -> Option<Wrong> {
        let Refinement { program, start, machine, meanings } = self.question;
        let parts = meanings.parts(*program, start.shared);
        if let Some((_, values)) = parts.into_iter().find(|part| part.0 != Some(machine.start)) {
            return Some(Wrong { at: None, start: values });
        }
        for l in self.starts() {
            let pair = Related { local: l, inside: None, machine: machine.roles.clone() };
            self.add(pair, None);
        }
        None
    }

    fn starts(&self) -> Vec<Local> {
        let start = &self.question.start;
        start.any.iter().copied().chain(start.threads.entries().iter().map(|e| e.0)).collect()
    }

    /// Adds a pair unless another one stands for it.
    fn add(&mut self, pair: Related, before: Option<(usize, Happened)>) {
        let (known, nodes) = (self.known.entry((pair.local, pair.inside)).or_default(), &mut self.nodes);
        let within = |a: &[Local], b: &[Local]| a.iter().all(|m| b.binary_search(m).is_ok());
        if known.iter().any(|&i| within(&nodes[i].pair.machine, &pair.machine)) {
            return;
        }
        known.retain(|&i| {
            nodes[i].superseded = within(&pair.machine, &nodes[i].pair.machine);
            !nodes[i].superseded
        });
        known.push(nodes.len());
        self.todo.push_back(self.nodes.len());
        self.nodes.push(Node { pair, before, superseded: false });
    }

    fn explore(&mut self) -> Result<Option<Wrong>, Flaw> {
        while let Some(i) = self.todo.pop_front() {
            if self.nodes[i].superseded {
                continue;
            }
            if let Some(wrong) = self.expand(i)? {
                return Ok(Some(wrong));
            }
        }
        Ok(None)
    }

    fn expand(&mut self, i: usize) -> Result<Option<Wrong>, Flaw> {
        let question = self.question;
        let (program, pair) = (question.program, self.nodes[i].pair.clone());
        let values: Vec<(Shared, Shared)> = match pair.inside {
            None => question.meanings.outside().collect(),
            Some(s) => {
                question.meanings.parts(program, s).into_iter().filter_map(|(g, s)| Some((g?, s))).collect()
            }
        };
        for (g, s) in values {
            let possible = self.possible(&pair.machine, g);
            if possible.is_empty() {
                continue;
            }
            self.ticker.tick()?;
            for step in question.steps(s, pair.local)? {
                if let Some(wrong) = self.follow(i, (g, &possible), &step) {
                    return Ok(Some(wrong));
                }
            }
        }
        if let (None, Some(to)) = (pair.inside, program.transfers().and_then(|t| t.woken(pair.local))) {
            self.add(Related { local: to, ..pair }, Some((i, Happened::Woken)));
        }
        Ok(None)
    }

    /// Returns the local states in which threads of the machine can be with this shared state.
    fn possible(&mut self, machine: &[Local], g: Shared) -> Vec<Local> {
        let (can, cannot): (Vec<Local>, Vec<Local>) =
            machine.iter().partition(|&&m| self.reachable.contains(&(g, m)));
        self.never.extend(cannot.into_iter().map(|m| (g, m)));
        can
    }

    /// Adds the pairs after a step; returns it if the machine does not allow it.
    fn follow(&mut self, i: usize, (g, possible): (Shared, &[Local]), step: &Step) -> Option<Wrong> {
        let question = self.question;
        let put = step.put.entries().first().map(|e| e.0);
        for (h, to) in question.meanings.parts(question.program, step.to) {
            let machine = h.map_or_else(Vec::new, |h| question.after(possible, g, h));
            let happened = Happened::Step { from: g, edge: step.edge, to, put };
            if machine.is_empty() {
                return Some(Wrong { at: Some((i, happened)), start: to });
            }
            if let Some(local) = put {
                let inside = question.program.inside_atomic(to).then_some(to);
                self.add(Related { local, inside, machine }, Some((i, happened)));
            }
        }
        None
    }

    fn simulation(self) -> Found {
        let related = self.nodes.into_iter().filter(|n| !n.superseded).map(|n| n.pair).collect();
        Found::Refines { related, never: self.never }
    }

    /// Returns the life of a thread up to the wrong step.
    fn deviation(self, wrong: &Wrong) -> Result<Found, Flaw> {
        let Some(last) = wrong.at else {
            let start = (wrong.start, self.starts().first().copied().unwrap_or(Local(0)));
            let deviation = Deviation { start, moves: Vec::new() };
            return Ok(Found::Deviates { deviation, met: Vec::new(), never: Vec::new() });
        };
        let (mut way, mut at) = (vec![last.1], last.0);
        while let Some((before, happened)) = self.nodes[at].before {
            way.push(happened);
            at = before;
        }
        way.reverse();
        let local = self.nodes[at].pair.local;
        let question = self.question;
        let starts = question.meanings.parts(question.program, question.start.shared);
        // If sparing others takes too long, they may change the variables before each step.
        for ((_, shared), spares) in starts.iter().flat_map(|&start| [(start, true), (start, false)]) {
            let mut told = Telling { question, spares, left: MOST_TRIES, moves: Vec::new() };
            if told.tell((shared, local), &way)? {
                let moves = told.moves;
                let met = self.met(&moves)?;
                let deviation = Deviation { start: (shared, local), moves };
                return Ok(Found::Deviates { deviation, met, never: self.never });
            }
        }
        Err(Flaw::Malformed("a step that is not allowed has no run".into()))
    }

    /// Returns a thread state of the machine for each time that others leave values behind.
    fn met(&self, moves: &[Move]) -> Result<Vec<(Shared, Local)>, Flaw> {
        let question = self.question;
        let mut possible = question.machine.roles.clone();
        let (mut g, mut met) = (question.machine.start, Vec::new());
        for step in moves {
            match *step {
                Move::Others(s) => {
                    g = question.one(s)?.unwrap_or(g);
                    met.extend(possible.iter().map(|&m| (g, m)).find(|state| self.reachable.contains(state)));
                }
                Move::Woken(_) => {}
                Move::Own(s, _) => {
                    possible.retain(|&m| self.reachable.contains(&(g, m)));
                    if let Some(h) = question.one(s)? {
                        possible = question.after(&possible, g, h);
                        g = h;
                    }
                }
            }
        }
        met.sort_unstable();
        met.dedup();
        Ok(met)
    }
}

/// Maximum number of steps that are tried to tell a life with few changes by others.
const MOST_TRIES: u32 = 10_000;

/// Tells a way through pairs as a life.
struct Telling<'a> {
    question: &'a Refinement<'a>,
    /// True if others change the shared variables only where the next steps need it.
    spares: bool,
    left: u32,
    moves: Vec<Move>,
}

impl Telling<'_> {
    /// Continues from these values along the way; returns whether that succeeded.
    fn tell(&mut self, (s, l): (Shared, Local), way: &[Happened]) -> Result<bool, Flaw> {
        let program = self.question.program;
        let Some((first, rest)) = way.split_first() else { return Ok(true) };
        let Happened::Step { from, edge, to, put } = *first else {
            let woken = program.transfers().and_then(|t| t.woken(l));
            return match woken {
                Some(l) => self.after(Move::Woken(l), (s, l), rest),
                None => Ok(false),
            };
        };
        let mut tried = vec![(false, s)];
        if !program.inside_atomic(s) {
            let others = self.question.meanings.outside().filter(|part| part.0 == from);
            tried.extend(others.map(|(_, values)| (true, values)));
        }
        if !self.spares {
            tried.rotate_left(1);
        }
        for (by_others, values) in tried {
            if self.question.one(values).ok() != Some(Some(from)) {
                continue;
            }
            for step in self.question.steps(values, l)?.iter().filter(|step| step.edge == edge) {
                let there = step.put.entries().first().map(|e| e.0);
                let meets = program.meet_shared(step.to, to);
                let (Some(to), true) = (meets, there.is_some() == put.is_some()) else { continue };
                let before = self.moves.len();
                if by_others {
                    self.moves.push(Move::Others(values));
                }
                if self.after(Move::Own(to, there), (to, there.unwrap_or(l)), rest)? {
                    return Ok(true);
                }
                self.moves.truncate(before);
            }
        }
        Ok(false)
    }

    fn after(&mut self, step: Move, state: (Shared, Local), rest: &[Happened]) -> Result<bool, Flaw> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.moves.push(step);
        let done = self.tell(state, rest)?;
        if !done {
            self.moves.pop();
        }
        Ok(done)
    }
}
