//! The rules for refinement: does each thread of a program move as a local/global state machine
//! allows (Beacon, rules 1, 2 and 5)?
//!
//! # What it means
//!
//! A thread of the program takes steps; between them, while no thread is inside an atomic section,
//! *others* change the shared variables. The machine's local states that a thread may be in are
//! those in which some thread of the machine can be after the same changes of the shared state: for
//! a step, it takes any number of edges that do not change the shared state, one that changes it
//! as the step does if it does, and again any number that do not. Others leave only values behind
//! with which the machine can have a thread in one of these local states, whatever the number of
//! its threads. The program *refines* the machine if no step of a thread leaves it without a local
//! state of the machine.
//!
//! # Why that suffices
//!
//! Then any number of threads of the program reach only shared states that as many threads of the
//! machine reach, in the sense of its meanings. By induction over a run: as long as no thread has
//! been left without a local state, each thread's part of the run is one of a thread of the
//! machine; together these are a run of the machine, so that each thread state in it occurs there,
//! and the others left only values behind that are allowed. So the next step leaves its thread a
//! local state as well.
//!
//! A *simulation* is a set of pairs of a local state of the program (inside of an atomic section
//! with the shared variables) and a set of local states of the machine: it has the start, and for
//! each step from a pair one whose states are among those that are possible after it.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use throng_lang::machine::{Machine, Meanings};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Initial;
use throng_model::{Bystanders, Incomplete, Local, Model, Shared, Step};

/// A program and the machine that it may refine.
pub struct Refinement<'a> {
    /// The program.
    pub program: &'a dyn Model,
    /// Where the program's threads start.
    pub start: Initial,
    /// The machine.
    pub machine: &'a Machine,
    /// What the machine's shared states say about the program's variables.
    pub meanings: Meanings,
}

/// Thread states of the machine, by shared and local state.
pub type MachineStates = FxHashSet<(Shared, Local)>;

/// A pair of a simulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// The local state of the program's thread.
    pub local: Local,
    /// The shared variables, if the thread is inside an atomic section.
    pub inside: Option<Shared>,
    /// Local states of the machine, sorted: the thread's own is one that can be reached like one of
    /// these.
    pub machine: Vec<Local>,
}

/// One move in the life of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Other threads leave these shared variables behind.
    Others(Shared),
    /// Another thread wakes this one, which is here afterwards.
    Woken(Local),
    /// A step of its own, to these shared variables and this local state, if it has not ended.
    Own(Shared, Option<Local>),
}

/// The life of a thread up to a step that the machine does not allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deviation {
    /// The shared variables and the local state at the start.
    pub start: (Shared, Local),
    /// The moves.
    pub moves: Vec<Move>,
}

impl Refinement<'_> {
    /// Returns the local states of the machine in which a thread can be after a step that changes
    /// the shared state from `g` to `h`, if it was in one of `from`.
    pub fn after(&self, from: &[Local], g: Shared, h: Shared) -> Vec<Local> {
        let mut found: BTreeSet<Local> = from.iter().copied().collect();
        self.add_quiet(&mut found, g);
        if g != h {
            found = found.iter().flat_map(|&l| self.edges(g, l, h)).collect();
            self.add_quiet(&mut found, h);
        }
        found.into_iter().collect()
    }

    /// Adds what is reached by edges that keep the shared state.
    fn add_quiet(&self, found: &mut BTreeSet<Local>, g: Shared) {
        let mut todo: Vec<Local> = found.iter().copied().collect();
        while let Some(l) = todo.pop() {
            todo.extend(self.edges(g, l, g).into_iter().filter(|&m| found.insert(m)));
        }
    }

    fn edges(&self, g: Shared, l: Local, h: Shared) -> Vec<Local> {
        let mut steps = Vec::new();
        // All steps of a table are listed.
        Incomplete::irrelevant(self.machine.table.post(g, l, &mut steps));
        let to = steps.iter().filter(|s| s.to == h);
        to.flat_map(|s| s.put.entries().iter().map(|e| e.0)).collect()
    }

    /// Returns the steps of a thread; an error if they start threads.
    pub fn steps(&self, s: Shared, l: Local) -> Result<Vec<Step>, Flaw> {
        let mut steps = Vec::new();
        self.program.post(s, l, &mut steps)?;
        match steps.iter().all(|step| step.spawn.is_empty()) {
            true => Ok(steps),
            false => Err(Flaw::NotForThisModel("the program starts threads".into())),
        }
    }

    /// Returns the state of the machine that stands for all of these values, if one does; an error
    /// if several stand for parts of them.
    pub fn one(&self, values: Shared) -> Result<Option<Shared>, Flaw> {
        let parts = self.meanings.parts(self.program, values);
        match parts.split_first() {
            Some((first, rest)) if rest.iter().all(|part| part.0 == first.0) => Ok(first.0),
            _ => {
                let name = self.program.shared_name(values);
                Err(Flaw::Malformed(format!("several states of the machine stand for {name}")))
            }
        }
    }

    /// Returns the name of a shared state of the machine.
    fn name(&self, g: Option<Shared>) -> String {
        g.map_or("no state of the machine".into(), |g| self.machine.table.shared().name(g.0))
    }
}

/// Checks that a set of pairs is a simulation, where no thread of the machine is ever in one of
/// the thread states `never`.
pub fn check_simulation(
    question: &Refinement<'_>,
    never: &MachineStates,
    related: &[Related],
    limits: &Limits,
) -> Result<(), Flaw> {
    let rule = Simulation::new(question, never, related);
    rule.check_start()?;
    let mut ticker = Ticker::new(limits);
    for pair in related {
        match pair.inside {
            Some(s) => rule.check_steps(pair, s, &mut ticker)?,
            None => {
                for (g, s) in question.meanings.outside() {
                    if pair.machine.iter().any(|&m| !never.contains(&(g, m))) {
                        rule.check_steps(pair, s, &mut ticker)?;
                    }
                }
                rule.check_woken(pair)?;
            }
        }
    }
    Ok(())
}

struct Simulation<'a> {
    question: &'a Refinement<'a>,
    never: &'a MachineStates,
    related: &'a [Related],
    by_class: FxHashMap<u64, Vec<&'a Related>>,
}

impl<'a> Simulation<'a> {
    fn new(question: &'a Refinement<'a>, never: &'a MachineStates, related: &'a [Related]) -> Simulation<'a> {
        let mut by_class: FxHashMap<u64, Vec<&Related>> = FxHashMap::default();
        for pair in related {
            by_class.entry(question.program.local_class(pair.local)).or_default().push(pair);
        }
        Simulation { question, never, related, by_class }
    }

    /// Returns whether some pair stands for this one.
    fn has(&self, local: Local, inside: Option<Shared>, machine: &[Local]) -> bool {
        let model = self.question.program;
        let stands = |pair: &&Related| {
            let shared = match (inside, pair.inside) {
                (None, None) => true,
                (Some(s), Some(t)) => model.within_shared(s, t),
                _ => false,
            };
            shared
                && model.within_local(local, pair.local)
                && !pair.machine.is_empty()
                && pair.machine.iter().all(|m| machine.contains(m))
        };
        self.by_class.get(&model.local_class(local)).is_some_and(|pairs| pairs.iter().any(stands))
    }

    fn check_start(&self) -> Result<(), Flaw> {
        let Refinement { program, start, machine, meanings } = self.question;
        if let Some((g, _)) =
            meanings.parts(*program, start.shared).into_iter().find(|p| p.0 != Some(machine.start))
        {
            let why = format!("the program may start in {}", self.question.name(g));
            return Err(Flaw::InitialMissing(why));
        }
        let locals = start.any.iter().chain(start.threads.entries().iter().map(|e| &e.0));
        match locals.copied().find(|&l| !self.has(l, None, &machine.roles)) {
            Some(l) => Err(Flaw::InitialMissing(program.local_name(l))),
            None => Ok(()),
        }
    }

    /// Checks the steps of a pair with these shared variables.
    fn check_steps(&self, pair: &Related, s: Shared, ticker: &mut Ticker) -> Result<(), Flaw> {
        let Refinement { program, meanings, .. } = self.question;
        for (g, s) in meanings.parts(*program, s) {
            ticker.tick()?;
            let Some(g) = g else {
                return Err(Flaw::BadMember(program.shared_name(s)));
            };
            let possible = pair.machine.iter().copied().filter(|&m| !self.never.contains(&(g, m)));
            let possible: Vec<Local> = possible.collect();
            for step in self.question.steps(s, pair.local)? {
                if step.others == Bystanders::Transfer {
                    self.check_bystanders(&step)?;
                }
                self.check_step(pair, (g, &possible), &step)?;
            }
        }
        Ok(())
    }

    fn check_step(&self, pair: &Related, (g, possible): (Shared, &[Local]), step: &Step) -> Result<(), Flaw> {
        let program = self.question.program;
        for (h, to) in self.question.meanings.parts(program, step.to) {
            let after = h.map_or_else(Vec::new, |h| self.question.after(possible, g, h));
            let inside = program.inside_atomic(to).then_some(to);
            let put = step.put.entries();
            if after.is_empty() || put.iter().any(|e| !self.has(e.0, inside, &after)) {
                let put: Vec<String> = put.iter().map(|e| program.local_name(e.0)).collect();
                let to = format!("{} | {}", self.question.name(h), put.join(", "));
                return Err(Flaw::NotClosed(program.local_name(pair.local), to));
            }
        }
        Ok(())
    }

    /// Checks that a thread that waits may be woken at any time.
    fn check_woken(&self, pair: &Related) -> Result<(), Flaw> {
        let program = self.question.program;
        match program.transfers().and_then(|t| t.woken(pair.local)) {
            Some(l) if !self.has(l, None, &pair.machine) => {
                Err(Flaw::NotClosed(program.local_name(pair.local), program.local_name(l)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that whatever a step does to another thread leads to a pair with the same local
    /// states of the machine.
    fn check_bystanders(&self, step: &Step) -> Result<(), Flaw> {
        let program = self.question.program;
        for other in self.related.iter().filter(|pair| pair.inside.is_none()) {
            let mut fates = Vec::new();
            program.bystander(step, other.local, &mut fates)?;
            if let Some(l) = fates.into_iter().flatten().find(|&l| !self.has(l, None, &other.machine)) {
                return Err(Flaw::NotClosed(program.local_name(other.local), program.local_name(l)));
            }
        }
        Ok(())
    }
}

/// Checks that the last move of a thread's life is one that the machine does not allow, where
/// threads of the machine can be in the thread states `met` and never in `never`.
pub fn check_deviation(
    question: &Refinement<'_>,
    (met, never): (&MachineStates, &MachineStates),
    deviation: &Deviation,
) -> Result<(), Flaw> {
    let (program, machine) = (question.program, question.machine);
    let (mut s, mut l) = (deviation.start.0, Some(deviation.start.1));
    let starts = question.start.any.iter().chain(question.start.threads.entries().iter().map(|e| &e.0));
    let is_start = starts.copied().any(|at| program.within_local(deviation.start.1, at));
    if !is_start || !program.within_shared(s, question.start.shared) {
        return Err(Flaw::NotInitial(program.shared_name(s)));
    }
    let mut now = question.one(s)?;
    let mut possible: Vec<Local> =
        if now == Some(machine.start) { machine.roles.clone() } else { Vec::new() };
    for (i, step) in (1..).zip(&deviation.moves) {
        let elsewhere = || Flaw::LeadsElsewhere(i, format!("{step:?}"));
        let Some(g) = now.filter(|_| !possible.is_empty()) else {
            return Err(Flaw::Malformed("a step follows the one that the machine does not allow".into()));
        };
        match *step {
            Move::Others(to) => {
                let h = question.one(to)?.ok_or_else(elsewhere)?;
                let outside = !program.inside_atomic(s) && !program.inside_atomic(to);
                if !outside || !possible.iter().any(|&m| met.contains(&(h, m))) {
                    return Err(elsewhere());
                }
                (s, now) = (to, Some(h));
            }
            Move::Woken(to) => {
                let woken = l.and_then(|l| program.transfers()?.woken(l)).ok_or_else(elsewhere)?;
                if !program.within_local(to, woken) {
                    return Err(elsewhere());
                }
                l = Some(to);
            }
            Move::Own(to, put) => {
                let leads = |step: &Step| {
                    let there = step.put.entries().first().map(|e| e.0);
                    program.within_shared(to, step.to)
                        && match (put, there) {
                            (Some(put), Some(there)) => program.within_local(put, there),
                            (put, there) => put == there,
                        }
                };
                if !question.steps(s, l.ok_or_else(elsewhere)?)?.iter().any(leads) {
                    return Err(elsewhere());
                }
                possible.retain(|&m| !never.contains(&(g, m)));
                let h = question.one(to)?;
                possible = h.map_or_else(Vec::new, |h| question.after(&possible, g, h));
                (s, l, now) = (to, put, h);
            }
        }
    }
    match possible.is_empty() {
        true => Ok(()),
        false => Err(Flaw::EndIsNotBad(program.shared_name(s))),
    }
}
