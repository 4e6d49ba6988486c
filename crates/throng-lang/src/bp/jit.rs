//! A Boolean program as a [`Model`]: statements are executed when a step is requested, in either
//! direction, and nothing is built for a state that no search reaches (IJIT).
//!
//! A shared state is the atomic flag and a mask per shared variable; a local state is a point and a
//! mask per slot. The flag is set if some thread is inside an atomic section: then only a thread at
//! an inside point moves, else only those outside (there is never more than one inside). Thus
//! reference 2.12 is a property of states, and engines need not know about it.

mod describe;
mod index;
mod predecessors;
mod sets;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use self::describe::cut;
use self::index::Index;
use super::encoding::StateCodec;
use super::expr::{Cube, FREE, ONE, Var, ZERO};
use super::program::access::{footprints, shared_bits};
use super::program::{BystanderEffect, Coded, Cubes, EdgeKind, Program, live, waiting};
use super::relation::{Direction, Env, Patience, solve, solve_other};
use super::{Options, ast};
use throng_model::problem::Initial;
use throng_model::waiting::Waits;
use throng_model::{
    Bag, Bystanders, Edge, Footprint, Footprints, Incomplete, Local, Model, Persist, Predecessors, SetStates,
    Shared, Step, Traits, Transfers,
};

/// A program that can be explored.
#[derive(Debug)]
pub struct Jit {
    pub(super) program: Program,
    tree: ast::Program,
    pub(super) shared: StateCodec,
    pub(super) local: StateCodec,
    index: Index,
    footprints: Vec<Footprint>,
    /// A thread that has ended keeps its slot, in a local state of its own.
    keep_ended: bool,
    /// Parents and children agree on all variables.
    pub(super) exact_copies: bool,
    /// The values to forget, if any.
    forgotten: Option<Forgotten>,
    /// For each point, the slots that can still matter, where nothing is forgotten.
    live: OnceLock<Vec<Vec<bool>>>,
    /// Statements of waiting loops.
    waiting: OnceLock<waiting::Nodes>,
    blocking: OnceLock<Option<String>>,
    /// A message about a statement with more cases than were listed, if there was one.
    pub(super) gave_up: OnceLock<String>,
    pub(super) patience: Patience,
    fates: Mutex<Fates>,
}

/// The next states of bystanders of passive statements, by the parts of the step that matter to
/// them: its edge, its choice, the states that it leads to.
type Fates = FxHashMap<(Edge, u64, Shared, Option<Local>, Local), Vec<Option<Local>>>;

/// Maximum number of entries of the cache of fates, which is emptied when it is full. Checking a
/// set of configurations asks for the same ones again and again.
const MOST_FATES: usize = 1 << 16;

/// Values that can never be observed again (see [`live`]).
#[derive(Debug)]
struct Forgotten {
    /// For each point, the slots that can still matter.
    live: Vec<Vec<bool>>,
    /// For each edge, the assignments whose value cannot.
    faint: Vec<Vec<bool>>,
}

impl Jit {
    /// Creates a model of the program.
    pub fn new(program: Program, tree: ast::Program, options: &Options) -> Jit {
        let forgotten = (!options.exact_copies && !options.keep_dead).then(|| {
            let live = live::live_slots(&program, &[]);
            Forgotten { faint: live::faint_assignments(&program, &live), live }
        });
        Jit {
            shared: StateCodec::new(1, program.shared.len()),
            local: StateCodec::new(program.points.len() as u64, program.slots),
            index: Index::new(&program),
            footprints: footprints(&program),
            program,
            tree,
            keep_ended: options.keep_ended,
            exact_copies: options.exact_copies,
            forgotten,
            live: OnceLock::new(),
            blocking: OnceLock::new(),
            waiting: OnceLock::new(),
            gave_up: OnceLock::new(),
            patience: Patience::default(),
            fates: Mutex::default(),
        }
    }

    /// Returns the control-flow graph.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the syntax tree.
    pub fn tree(&self) -> &ast::Program {
        &self.tree
    }

    /// Returns the initial configurations with this many threads at the entry of `main`, or any
    /// number.
    pub fn initial(&self, threads: Option<u32>) -> Initial {
        let masks: Cube = self.program.shared.iter().map(|v| v.initial).collect();
        let start = Local(self.local.encode(self.program.entry, &self.program.initial_slots()));
        Initial {
            shared: self.encode_shared(false, &masks),
            threads: [(start, threads.unwrap_or(0))].into_iter().collect(),
            any: if threads.is_none() { vec![start] } else { Vec::new() },
        }
    }

    pub(super) fn free_shared(&self) -> Cube {
        std::iter::repeat_n(FREE, self.program.shared.len()).collect()
    }

    pub(super) fn free_local(&self, point: u32) -> Local {
        Local(self.local.encode(point, &self.program.free_slots(point)))
    }

    pub(super) fn encode_shared(&self, inside: bool, masks: &[u8]) -> Shared {
        Shared(self.shared.encode(inside.into(), masks))
    }

    /// Records that not all cases of a statement were listed, unless `complete`.
    pub(super) fn note(&self, complete: bool, point: u32) {
        if !complete {
            let info = self.program.info(point);
            let why = if self.patience.is_over() {
                "has more cases than could be listed within the limits"
            } else {
                "has too many cases"
            };
            self.gave_up.get_or_init(|| format!("line {}: `{}` {why}", info.line, cut(&info.text)));
        }
    }

    fn fates(&self) -> MutexGuard<'_, Fates> {
        self.fates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if some list was incomplete. Once a statement or a target had too many
    /// cases, no later list counts as complete.
    fn complete(&self) -> Result<(), Incomplete> {
        self.gave_up.get().map_or(Ok(()), |why| Err(Incomplete(why.clone())))
    }

    fn is_ended(&self, point: u32) -> bool {
        point as usize == self.program.points.len()
    }

    fn ended(&self) -> Local {
        let zero: Cube = std::iter::repeat_n(ZERO, self.program.slots).collect();
        Local(self.local.encode(self.program.points.len() as u32, &zero))
    }

    fn inside(&self, point: Option<u32>) -> bool {
        point.is_some_and(|p| self.program.points[p as usize].inside)
    }

    /// Returns the values after the step: those before, with the assigned ones replaced.
    fn after(&self, edge: u32, env: &Env) -> (Cube, Cube) {
        let (mut shared, mut local) = (env.shared.clone(), env.local.clone());
        for ((place, _), &new) in self.program.edges[edge as usize].effect.assigns.iter().zip(&env.new) {
            match place {
                Var::Shared(i) => shared[*i as usize] = new,
                Var::Local(i) => local[*i as usize] = new,
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => {}
            }
        }
        (shared, local)
    }

    /// Returns the points at which a thread waits.
    pub(super) fn waits(&self) -> &[u32] {
        &self.index.waits
    }

    /// Leaves the dead variables of a thread at `point` open.
    pub(super) fn forget(&self, point: u32, slots: &mut Cube) {
        if let Some(Forgotten { live, .. }) = &self.forgotten {
            self.open(point, slots, live);
        }
    }

    fn open(&self, point: u32, slots: &mut Cube, live: &[Vec<bool>]) {
        let used = self.program.used_slots(point);
        for (slot, lives) in slots.iter_mut().zip(&live[point as usize]).take(used) {
            if !lives {
                *slot = FREE;
            }
        }
    }

    /// Returns the step of a solution, from the given states; with the values of dead variables
    /// only if `in_full`.
    fn step(&self, id: u32, env: &Env, from: Shared, take: Local, in_full: bool) -> Step {
        let edge = &self.program.edges[id as usize];
        let (shared, mut local) = self.after(id, env);
        let mut copied = env.local.clone();
        // Bystanders read the new values in the step.
        if !in_full && edge.effect.others.is_none() {
            edge.to.into_iter().for_each(|to| self.forget(to, &mut local));
            edge.child.into_iter().for_each(|child| self.forget(child, &mut copied));
        }
        let put = match edge.to {
            Some(to) => Bag::one(Local(self.local.encode(to, &local))),
            None if self.keep_ended => Bag::one(self.ended()),
            None => Bag::new(),
        };
        let child = edge.child.map(|c| Local(self.local.encode(c, &copied)));
        let reads = edge.effect.others.as_ref().map_or(&[][..], |o| &o.reads);
        let choice = reads.iter().rev().fold(0, |bits, v| bits << 1 | u64::from(old(env, *v) == ONE));
        Step {
            from,
            to: self.encode_shared(self.inside(edge.to), &shared),
            take: Bag::one(take),
            put,
            spawn: child.into_iter().collect(),
            others: match edge.kind {
                EdgeKind::Plain => Bystanders::Stay,
                EdgeKind::Passive | EdgeKind::Broadcast => Bystanders::Transfer,
                EdgeKind::Signal => Bystanders::WakeOne,
            },
            edge: Edge(id),
            choice,
        }
    }

    /// Appends the steps that a thread at `l` leads in `s`, see [`Jit::step`].
    fn forward(&self, s: Shared, l: Local, in_full: bool, out: &mut Vec<Step>) {
        let (flag, shared) = self.shared.decode(s.0);
        let (point, local) = self.local.decode(l.0);
        if self.is_ended(point) || self.inside(Some(point)) != (flag == 1) {
            return;
        }
        let mut steps: IndexSet<Step, FxBuildHasher> = IndexSet::default();
        let mut found = Vec::new();
        for &id in &self.program.points[point as usize].edges {
            let effect = &self.program.edges[id as usize].effect;
            let mut env = Env { shared: shared.clone(), local: local.clone(), ..Env::default() };
            env.new.resize(effect.assigns.len(), FREE);
            let faint =
                self.forgotten.as_ref().filter(|_| !in_full).map_or(&[][..], |f| &f.faint[id as usize]);
            self.note(solve(effect, env, Direction::Forward, faint, &self.patience, &mut found), point);
            steps.extend(found.drain(..).map(|env| self.step(id, &env, s, l, in_full)));
        }
        out.extend(steps);
    }

    /// Returns the values that the bystanders' part of a step reads, from the step's states and its
    /// choice.
    pub(super) fn active_env(&self, step: &Step, others: &BystanderEffect) -> Env {
        let effect = &self.program.edges[step.edge.0 as usize].effect;
        let mut env = Env { shared: self.free_shared(), ..Env::default() };
        env.local.resize(self.program.slots, FREE);
        for (i, v) in others.reads.iter().enumerate() {
            let value = if step.choice >> i & 1 == 1 { ONE } else { ZERO };
            match *v {
                Var::Shared(j) => env.shared[j as usize] = value,
                Var::Local(j) => env.local[j as usize] = value,
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => {}
            }
        }
        let shared = self.shared.decode(step.to.0).1;
        let local = step.put.entries().first().map(|e| self.local.decode(e.0.0).1);
        env.new = effect
            .assigns
            .iter()
            .map(|(place, _)| match *place {
                Var::Shared(j) => shared[j as usize],
                Var::Local(j) => local.as_ref().map_or(FREE, |l| l[j as usize]),
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => FREE,
            })
            .collect();
        env
    }

    /// Returns the slots of a thread at `l` that a passive step accesses, its point and its values;
    /// `None` if it does not take part.
    pub(super) fn taking_part(&self, others: &BystanderEffect, l: Local) -> Option<(Vec<usize>, u32, Cube)> {
        let (point, slots) = self.local.decode(l.0);
        if self.is_ended(point) {
            return None;
        }
        Some((self.program.view(others, point)?, point, slots))
    }

    pub(super) fn others_of(&self, step: &Step) -> Option<&BystanderEffect> {
        self.program.edges[step.edge.0 as usize].effect.others.as_deref()
    }

    /// Returns whether some bystander might be unable to take part in an edge. Checks every value
    /// of the variables that the statement mentions, reachable or not.
    fn blocks(&self, id: u32) -> bool {
        const MOST: usize = 1 << 14;
        let edge = &self.program.edges[id as usize];
        let Some(others) = edge.effect.others.as_deref() else { return false };
        if others.guards.is_empty() && others.constraints.is_empty() {
            return false;
        }
        let mut read: Vec<u32> = Vec::new();
        let mut see = |v: &Var| {
            if let Var::Other(i) = v {
                read.push(*i);
            }
        };
        others.guards.iter().for_each(|(e, _)| e.each_var(&mut see));
        others.assigns.iter().for_each(|(_, e)| e.each_var(&mut see));
        others.constraints.iter().for_each(|e| e.each_var(&mut see));
        read.sort_unstable();
        read.dedup();
        let mut env =
            Env { shared: self.free_shared(), local: self.program.free_slots(edge.from), ..Env::default() };
        env.new.resize(edge.effect.assigns.len(), FREE);
        let mut active = Vec::new();
        if !solve(&edge.effect, env, Direction::Forward, &[], &self.patience, &mut active)
            || read.len() > 14
            || active.len() > MOST
        {
            return true;
        }
        let width =
            self.program.thread_locals.len() + self.program.functions[others.function].variables.len();
        active.iter().any(|env| {
            (0..1u32 << read.len()).any(|bits| {
                let mut env = env.clone();
                env.other.resize(width, FREE);
                env.other_new.resize(others.assigns.len(), FREE);
                for (k, &i) in read.iter().enumerate() {
                    env.other[i as usize] = if bits >> k & 1 == 1 { ONE } else { ZERO };
                }
                let mut found = Vec::new();
                !solve_other(others, env, Direction::Forward, &self.patience, &mut found) || found.is_empty()
            })
        })
    }
}

fn old(env: &Env, v: Var) -> u8 {
    match v {
        Var::Shared(i) => env.shared[i as usize],
        Var::Local(i) => env.local[i as usize],
        Var::New(_) | Var::Other(_) | Var::OtherNew(_) => FREE,
    }
}

impl Coded for Jit {
    fn program(&self) -> &Program {
        &self.program
    }

    fn keeps_ended(&self) -> bool {
        self.keep_ended
    }
}

impl Cubes for Jit {
    fn shared_cube(&self, s: Shared) -> (bool, Cube) {
        let (flag, masks) = self.shared.decode(s.0);
        (flag == 1, masks)
    }

    fn local_cube(&self, l: Local) -> (u32, Cube) {
        self.local.decode(l.0)
    }

    fn encode_shared(&self, inside: bool, masks: &[u8]) -> Shared {
        Jit::encode_shared(self, inside, masks)
    }

    fn encode_local(&self, point: u32, masks: &[u8]) -> Local {
        Local(self.local.encode(point, masks))
    }
}

impl Jit {
    fn waiting(&self) -> &waiting::Nodes {
        self.waiting.get_or_init(|| waiting::nodes(&self.program))
    }

    /// Returns the statement at which a thread is: function and node.
    fn statement(&self, l: Local) -> Option<(usize, usize)> {
        let point = self.program.points.get(self.local.head(l.0) as usize)?;
        Some((point.function, point.node))
    }
}

impl Waits for Jit {
    fn loop_of(&self, l: Local) -> Option<u32> {
        self.waiting().loops_of(self.statement(l)?).0
    }

    fn possible_loop_of(&self, l: Local) -> Option<u32> {
        self.waiting().loops_of(self.statement(l)?).1
    }

    fn is_inside(&self, place: Local, l: Local) -> bool {
        let both = self.statement(place).zip(self.statement(l));
        both.is_some_and(|(place, l)| self.waiting().is_inside(place, l))
    }

    fn is_waiting(&self, _: Shared, _: Local) -> Result<bool, Incomplete> {
        Ok(true)
    }

    fn is_alone(&self, s: Shared) -> bool {
        self.shared_cube(s).0
    }

    fn is_asked(&self, _: Local) -> Option<bool> {
        None
    }
}

impl Model for Jit {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.forward(s, l, false, out);
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        let blocking = self
            .blocking
            .get_or_init(|| {
                let id = *self.index.passive.iter().find(|&&id| self.blocks(id))?;
                let info = self.program.info(self.program.edges[id as usize].from);
                Some(format!("line {}: a thread can block `{}` by its mere presence", info.line, info.text))
            })
            .clone();
        Traits { blocking, spawns: self.program.spawns() }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        (!self.index.passive.is_empty() || !self.index.wakers.is_empty()).then_some(self as &dyn Transfers)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        Some(self)
    }

    fn has_ended(&self, l: Local) -> bool {
        self.is_ended(self.local.head(l.0))
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(self)
    }

    fn footprints(&self) -> Option<&dyn Footprints> {
        Some(self)
    }

    fn persist(&self) -> Option<&dyn Persist> {
        Some(self)
    }
}

impl Transfers for Jit {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let Some(others) = self.others_of(step) else {
            let woken = self.woken(l).filter(|_| self.waits_for(l) == self.wakes(step));
            out.push(Some(woken.unwrap_or(l)));
            return Ok(());
        };
        let Some((view, point, slots)) = self.taking_part(others, l) else {
            out.push(Some(l));
            return Ok(());
        };
        let key = (step.edge, step.choice, step.to, step.put.entries().first().map(|e| e.0), l);
        if let Some(known) = self.fates().get(&key) {
            out.extend_from_slice(known);
            return self.complete();
        }
        let mut env = self.active_env(step, others);
        env.other = view.iter().map(|&slot| slots[slot]).collect();
        env.other_new.resize(others.assigns.len(), FREE);
        let (mut found, mut fates) = (Vec::new(), Vec::new());
        self.note(solve_other(others, env, Direction::Forward, &self.patience, &mut found), point);
        for env in found {
            let mut after = slots.clone();
            view.iter().zip(&env.other).for_each(|(&slot, &m)| after[slot] = m);
            for ((i, _), &new) in others.assigns.iter().zip(&env.other_new) {
                if let Some(&slot) = view.get(*i as usize) {
                    after[slot] = new;
                }
            }
            let fate = Some(Local(self.local.encode(point, &after)));
            if !fates.contains(&fate) {
                fates.push(fate);
            }
        }
        out.extend_from_slice(&fates);
        self.complete()?;
        let mut known = self.fates();
        if known.len() >= MOST_FATES {
            known.clear();
        }
        known.insert(key, fates);
        Ok(())
    }

    fn woken(&self, l: Local) -> Option<Local> {
        let point = self.local.head(l.0);
        if self.is_ended(point) {
            return None;
        }
        let woken = self.program.points[point as usize].woken?;
        Some(Local(self.local.encode(woken, &self.local.decode(l.0).1)))
    }

    fn waits_for(&self, l: Local) -> u32 {
        self.program.points.get(self.local.head(l.0) as usize).map_or(0, |p| p.condition)
    }

    fn wakes(&self, step: &Step) -> u32 {
        self.program.edges[step.edge.0 as usize].condition
    }
}

impl Footprints for Jit {
    fn footprint(&self, l: Local) -> Footprint {
        let point = self.local.head(l.0);
        let ended = Footprint { place: point, ..Footprint::default() };
        self.footprints.get(point as usize).copied().unwrap_or(ended)
    }

    fn constrained(&self, s: Shared) -> u64 {
        shared_bits(self.shared.decode(s.0).1.iter().map(|&m| m == FREE))
    }
}

impl Persist for Jit {
    fn export_states(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.shared.write_table(&mut bytes);
        self.local.write_table(&mut bytes);
        bytes
    }

    fn import_states(&self, mut bytes: &[u8]) -> bool {
        // One more than the program has: ended threads have a point of their own.
        let points = self.program.points.len() as u32 + 1;
        self.shared.import_states(2, self.program.shared.len(), &mut bytes)
            && self.local.import_states(points, self.program.slots, &mut bytes)
            && bytes.is_empty()
    }

    fn shared_bytes(&self, s: Shared) -> Vec<u8> {
        self.shared.to_bytes(s.0)
    }

    fn shared_of(&self, bytes: &[u8]) -> Option<Shared> {
        self.shared.of_bytes(2, self.program.shared.len(), bytes).map(Shared)
    }

    fn local_bytes(&self, l: Local) -> Vec<u8> {
        self.local.to_bytes(l.0)
    }

    fn local_of(&self, bytes: &[u8]) -> Option<Local> {
        let points = self.program.points.len() as u32 + 1;
        self.local.of_bytes(points, self.program.slots, bytes).map(Local)
    }
}
