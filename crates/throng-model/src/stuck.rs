//! Stuck threads: a reachable configuration with a thread at some place that can never move again,
//! although others may move.
//!
//! A lost wake-up is the usual cause. As for a deadlock, one more thread may help, so this is a
//! property of whole configurations and of their successors, which is defined here: a thread is
//! stuck if it can lead a step, be woken, or be moved elsewhere in no configuration that can follow
//! while it stays there.
//!
//! A thread that goes around a waiting loop ([`crate::waiting`]) does not move in this sense, as long
//! as it stays in the loop and does nothing that others can tell.
//!
//! Where states are sets, whether a thread can *ever* move differs between the members of a set. So
//! sets are split into their members here, except for values that no thread will read again
//! ([`crate::SetStates::forget`]).

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::cubes::{FREE, ZERO};
use crate::limits::Ticker;
use crate::problem::Target;
use crate::property::Property;
use crate::verdict::Unknown;
use crate::waiting::{Waits, around, is_in_same_loop, is_waiting, may_be_in_same_loop};
use crate::{Bag, Bystanders, Config, Incomplete, Local, Model, SetStates, Shared, Step, semantics};

/// Maximum number of members that a configuration may be split into.
const MOST_MEMBERS: usize = 1 << 14;

/// A followed thread: all other threads, and its local state.
pub type Followed = (Config, Local);

/// The thread states of a target, and the limits on the number of threads.
pub struct Stuck<'m> {
    model: &'m dyn Model,
    target: &'m Target,
    bound: Option<u32>,
    /// Configurations with more threads have not been explored: nothing is known about them.
    most: Option<u32>,
    /// Whether threads are asked for wherever they are.
    anywhere: bool,
}

/// What a thread can do alone.
pub enum Own {
    /// It can move, or nothing is known.
    Moves,
    /// It stays, or goes around its loop to one of these.
    Stays(Vec<Local>),
}

/// The successors while a thread is followed.
enum After {
    /// The thread can move, or nothing is known.
    Moves,
    /// The thread stays, and these follow.
    Stays(Vec<Followed>),
}

impl<'m> Stuck<'m> {
    /// Checks for threads in the states of `target`. A step creates no more than `bound` threads,
    /// and configurations with more than `most` threads are unknown.
    pub fn new(model: &'m dyn Model, target: &'m Target, bound: Option<u32>, most: Option<u32>) -> Stuck<'m> {
        let anywhere = target.property.as_deref().is_some_and(Property::is_stuck_anywhere);
        Stuck { model, target, bound, most, anywhere }
    }

    /// Returns a member of a configuration of `all` with a stuck thread, and the index of that
    /// configuration. `all` must be closed under steps except for configurations with too many
    /// threads.
    pub fn find<'c>(
        &self,
        all: impl Iterator<Item = &'c Config>,
        ticker: &mut Ticker,
    ) -> Result<Option<(Config, usize)>, Unknown> {
        let mut nodes: IndexSet<Followed, FxBuildHasher> = IndexSet::default();
        let mut origins = Vec::new();
        for (origin, config) in all.enumerate() {
            ticker.ticks(4)?;
            if !config.threads.entries().iter().any(|e| self.is_there(e.0)) {
                continue;
            }
            for member in members(self.model, config)? {
                ticker.ticks(4)?;
                for node in self.followed(&member) {
                    if nodes.insert(node) {
                        origins.push(origin);
                    }
                }
            }
        }
        let (mut edges, mut open) = (Vec::new(), Vec::new());
        let (mut next, mut moves) = (0, Vec::new());
        while let Some(node) = nodes.get_index(next).cloned() {
            ticker.ticks(16)?;
            moves.push(false);
            match self.after(&node)? {
                After::Moves => open.push(next as u32),
                After::Stays(after) => {
                    ticker.ticks(8 * after.len() as u32)?;
                    edges.extend(after.into_iter().map(|to| (nodes.insert_full(to).0 as u32, next as u32)));
                }
            }
            next += 1;
        }
        // This marks all nodes from which the thread can come to move, backward along the edges.
        edges.sort_unstable();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut moves[node as usize], true) {
                let first = edges.partition_point(|e| e.0 < node);
                open.extend(edges[first..].iter().take_while(|e| e.0 == node).map(|e| e.1));
            }
        }
        // Nodes that were only reached while a thread was followed are members of `all` as well, so
        // the first nodes suffice.
        let stuck = (0..origins.len()).find(|&i| !moves[i]);
        Ok(stuck.map(|i| (whole(&nodes[i]), origins[i])))
    }

    /// Returns whether some thread of some member of `config` is stuck.
    pub fn is_stuck(&self, config: &Config, ticker: &mut Ticker) -> Result<bool, Unknown> {
        let starts = members(self.model, config)?.into_iter().flat_map(|member| self.followed(&member));
        'threads: for start in starts {
            let mut seen: IndexSet<Followed, FxBuildHasher> = IndexSet::from_iter([start]);
            let mut next = 0;
            while let Some(node) = seen.get_index(next).cloned() {
                ticker.ticks(16)?;
                match self.after(&node)? {
                    After::Moves => continue 'threads,
                    After::Stays(after) => seen.extend(after),
                }
                next += 1;
            }
            return Ok(true);
        }
        Ok(false)
    }

    pub(crate) fn model(&self) -> &'m dyn Model {
        self.model
    }

    /// Returns what a thread at `l` can do in `s` whoever else is there. States are plain.
    pub(crate) fn own(&self, s: Shared, l: Local) -> Result<Own, Incomplete> {
        let alone = Config::new(s, Bag::new());
        Ok(match around(self.model, s, l)? {
            Some(stays) if self.passes(l, &stays) => Own::Moves,
            Some(stays) if !stays.is_empty() => Own::Stays(stays),
            _ if self.leads((&alone, l))? => Own::Moves,
            _ => Own::Stays(Vec::new()),
        })
    }

    /// Returns whether a thread at `l` is in one of the states of the target.
    pub(crate) fn is_there(&self, l: Local) -> bool {
        match self.model.waits().and_then(|waits| waits.is_asked(l)) {
            Some(asked) => return asked,
            None if self.anywhere => return !self.model.has_ended(l),
            None => {}
        }
        let mut asked = self.target.configs.iter().map(|c| c.threads.entries());
        asked.any(|threads| matches!(threads, &[(there, 1)] if self.model.meets_local(l, there)))
    }

    fn followed(&self, config: &Config) -> Vec<Followed> {
        let there = config.threads.entries().iter().filter(|e| self.is_there(e.0));
        there
            .map(|&(l, _)| {
                let mut others = config.clone();
                others.threads.remove(l, 1);
                (others, l)
            })
            .collect()
    }

    fn after(&self, (others, thread): &Followed) -> Result<After, Incomplete> {
        let (model, s) = (self.model, others.shared);
        if self.most.is_some_and(|most| others.threads.size() >= most && model.spawns()) {
            // A step may create too many threads.
            let mut all = Vec::new();
            semantics::successors(model, &whole(&(others.clone(), *thread)), self.bound, &mut all)?;
            if all.iter().any(|(_, c)| self.most.is_some_and(|most| c.threads.size() > most)) {
                return Ok(After::Moves);
            }
        }
        let mut next = Vec::new();
        match around(model, s, *thread)? {
            Some(stays) if self.passes(*thread, &stays) => return Ok(After::Moves),
            Some(stays) if !stays.is_empty() => next.extend(stays.into_iter().map(|l| (others.clone(), l))),
            _ if self.leads((others, *thread))? => return Ok(After::Moves),
            _ => {}
        }
        let mut steps = Vec::new();
        model.post_shared(s, &mut steps)?;
        for &(l, _) in others.threads.entries() {
            let before = steps.len();
            model.post(s, l, &mut steps)?;
            // A run in which an assumption has stopped some thread is not one of the program.
            if steps.len() == before && !model.has_ended(l) && !is_waiting(model, s, l)? {
                return Ok(After::Moves);
            }
        }
        let room = self.bound.map(|n| n.saturating_sub(1));
        for step in steps {
            // The thread takes part in another thread's step.
            if step.take.count(*thread) > others.threads.count(*thread)
                && whole(&(others.clone(), *thread)).threads.covers(&step.take)
            {
                return Ok(After::Moves);
            }
            let Some(fates) = self.fates(&step, *thread)? else { return Ok(After::Moves) };
            let mut after = Vec::new();
            semantics::fire(model, others, &step, room, &mut after)?;
            for config in after {
                for &fate in &fates {
                    for member in members(model, &config)? {
                        for l in live_members(model, fate) {
                            next.push((member.clone(), l));
                        }
                    }
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        Ok(After::Stays(next))
    }

    /// Returns whether a thread can lead a step, or no longer waits for others.
    fn leads(&self, (others, thread): (&Config, Local)) -> Result<bool, Incomplete> {
        let (model, s) = (self.model, others.shared);
        let leads = match model.sets() {
            None => {
                let (mut led, mut after) = (Vec::new(), Vec::new());
                model.post(s, thread, &mut led)?;
                let whole = whole(&(others.clone(), thread));
                led.iter()
                    .try_for_each(|step| semantics::fire(model, &whole, step, self.bound, &mut after))?;
                !after.is_empty()
            }
            Some(sets) => {
                let mut moving = Vec::new();
                sets.moving(s, thread, &mut moving)?;
                !moving.is_empty()
            }
        };
        Ok(leads || !is_waiting(model, s, thread)?)
    }

    /// Returns where the followed thread is after another thread's step; `None` if it may move
    /// elsewhere.
    pub(crate) fn fates(&self, step: &Step, thread: Local) -> Result<Option<Vec<Local>>, Incomplete> {
        Ok(match step.others {
            Bystanders::Stay => Some(vec![thread]),
            Bystanders::WakeOne => match self.model.woken_by(step, thread) {
                None => Some(vec![thread]),
                // It may be another one that is woken.
                Some(to) => self.stays_in_loop(thread, to).then(|| vec![thread, to]),
            },
            Bystanders::Transfer => {
                let mut fates = Vec::new();
                self.model.bystander(step, thread, &mut fates)?;
                let stays = |fate: Option<Local>| {
                    fate.filter(|&l| self.is_listed(l) || self.stays_in_loop(thread, l))
                };
                fates.into_iter().map(stays).collect()
            }
        })
    }

    /// Returns whether a step around a loop leads a thread from the place that is asked for to another
    /// one. A waiting loop is one place.
    fn passes(&self, from: Local, to: &[Local]) -> bool {
        let Some(waits) = self.model.waits().filter(|_| !self.anywhere) else { return false };
        match (waits.is_asked(from), waits.loop_of(from)) {
            (Some(asked), _) => asked && to.iter().any(|&l| waits.is_asked(l) == Some(false)),
            (None, Some(here)) => to.iter().any(|&l| waits.loop_of(l) != Some(here)),
            (None, None) => !to.iter().all(|&l| self.is_in_statement(waits, l)),
        }
    }

    /// Returns whether a thread is in a statement that is asked for, which may be a loop.
    fn is_in_statement(&self, waits: &dyn Waits, l: Local) -> bool {
        let mut places = self.target.configs.iter().flat_map(|c| c.threads.entries());
        places.any(|&(place, _)| waits.is_inside(place, l))
    }

    /// Returns whether a thread in one of the states that the target lists counts as not moved.
    fn is_listed(&self, l: Local) -> bool {
        !self.anywhere && self.is_there(l)
    }

    pub(crate) fn stays_in_loop(&self, from: Local, to: Local) -> bool {
        match self.anywhere {
            true => may_be_in_same_loop(self.model, from, to),
            false => is_in_same_loop(self.model, from, to),
        }
    }
}

pub(crate) fn whole((others, thread): &Followed) -> Config {
    let mut all = others.clone();
    all.threads.insert(*thread, 1);
    all
}

/// Returns the members of a local state, up to values that no thread will read again.
pub(crate) fn live_members(model: &dyn Model, l: Local) -> Vec<Local> {
    let Some(sets) = model.sets() else { return vec![l] };
    sets.members_local(live(sets, l)).into_iter().map(|l| sets.forget(l)).collect()
}

/// Returns [`live_members`], if there are not too many.
pub(crate) fn few_live_members(model: &dyn Model, l: Local) -> Result<Vec<Local>, Incomplete> {
    match model.sets() {
        Some(sets) if is_large(&sets.cubes().local_cube(live(sets, l)).1) => Err(too_many()),
        _ => Ok(live_members(model, l)),
    }
}

/// Returns the members of a shared state, if there are not too many.
pub(crate) fn few_members_shared(model: &dyn Model, s: Shared) -> Result<Vec<Shared>, Incomplete> {
    match model.sets() {
        Some(sets) if is_large(&sets.cubes().shared_cube(s).1) => Err(too_many()),
        _ => Ok(model.members_shared(s)),
    }
}

/// Returns whether a cube has too many members to list them.
fn is_large(cube: &[u8]) -> bool {
    cube.iter().filter(|&&mask| mask == FREE).count() > MOST_MEMBERS.ilog2() as usize
}

fn too_many() -> Incomplete {
    Incomplete("a configuration stands for too many".into())
}

/// Returns the part of a local state in which values that no thread will read again are 0.
fn live(sets: &dyn SetStates, l: Local) -> Local {
    let (_, dead) = sets.cubes().local_cube(sets.forget(sets.sample_local(l)));
    let (point, mut masks) = sets.cubes().local_cube(l);
    for (mask, dead) in masks.iter_mut().zip(&dead) {
        if *dead == FREE {
            *mask = ZERO;
        }
    }
    sets.cubes().encode_local(point, &masks)
}

/// Returns the configurations that `config` stands for.
pub(crate) fn members(model: &dyn Model, config: &Config) -> Result<Vec<Config>, Incomplete> {
    let Some(sets) = model.sets() else { return Ok(vec![config.clone()]) };
    let is_large_at = |l: Local| is_large(&sets.cubes().local_cube(live(sets, l)).1);
    if config.threads.entries().iter().any(|e| is_large_at(e.0)) {
        return Err(too_many());
    }
    let shared = few_members_shared(model, config.shared)?;
    let mut found: Vec<Config> = shared.into_iter().map(|s| Config::new(s, Bag::new())).collect();
    for &(l, n) in config.threads.entries() {
        let each = live_members(model, l);
        for _ in 0..n {
            let with = |c: &Config, l: Local| {
                let mut c = c.clone();
                c.threads.insert(l, 1);
                c
            };
            found = found.iter().flat_map(|c| each.iter().map(|&l| with(c, l))).collect();
            found.sort_unstable();
            found.dedup();
            if found.len() > MOST_MEMBERS {
                return Err(too_many());
            }
        }
    }
    Ok(found)
}
