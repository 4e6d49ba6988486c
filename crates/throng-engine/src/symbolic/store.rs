//! A store of merged states (Boom, section 7.1).
//!
//! Two states may be merged if they are identical except for (i) the shared states, or (ii) the
//! local states of *one* thread. Any other union of sets would contain configurations that neither
//! state holds.
//!
//! Invariants: no two members can be merged by (i); each member is indexed by every thread it has,
//! so that rule (ii) takes one look-up per thread; a state within a member stays within a member,
//! because members are only replaced by larger ones. A state within a member is never added again,
//! so a search ends.

use rustc_hash::FxHashMap;

use super::registry::{Registry, State, Threads, add, remove_one};
use crate::bdd::Full;

/// The origin of a state: the node and the edge.
pub type Origin = (u32, u32);

/// A set of states, merged as far as the two rules allow.
#[derive(Default)]
pub struct Store {
    members: Vec<Option<Member>>,
    alive: usize,
    by_threads: FxHashMap<Threads, u32>,
    /// Members by shared states, all threads but one, and the point of that one.
    by_rest: FxHashMap<(u32, Threads, u32), u32>,
    /// Members by points and counts.
    by_skeleton: FxHashMap<Threads, Vec<u32>>,
}

/// A state and its origins.
#[derive(Clone)]
pub struct Member {
    /// The state.
    pub state: State,
    /// The nodes and edges that led to it, or to a part of it.
    pub origins: Vec<Origin>,
}

impl Store {
    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Returns the members.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().flatten()
    }

    /// Returns the members, in the order in which they were last changed.
    pub fn into_members(self) -> impl Iterator<Item = Member> {
        self.members.into_iter().flatten()
    }

    /// Adds a state and returns a part of it that contains everything new; `None` if nothing is
    /// new.
    pub fn insert(
        &mut self,
        registry: &mut Registry,
        state: State,
        origins: &[Origin],
    ) -> Result<Option<State>, Full> {
        if let Some(m) = self.holder(registry, &state)? {
            self.absorb(m, Member { state, origins: origins.to_vec() });
            return Ok(None);
        }
        let mut new = state.clone();
        let mut grown = Member { state, origins: origins.to_vec() };
        let mut is_whole = true;
        loop {
            if let Some(&m) = self.by_threads.get(&grown.state.threads) {
                let there = self.get(m).state.shared;
                let (mine, theirs) = (registry.shared(grown.state.shared), registry.shared(there));
                if mine.within(theirs)? {
                    self.absorb(m, grown);
                    return Ok((!is_whole).then_some(new));
                }
                let (both, more) = (mine.or(theirs)?, mine.minus(theirs)?);
                if is_whole {
                    new.shared = registry.shared_id(more);
                }
                self.swallow(registry, m, &mut grown);
                grown.state.shared = registry.shared_id(both);
            }
            match self.merge_one(registry, &mut grown, &mut new, &mut is_whole)? {
                Merge::Nothing => break,
                Merge::Inside(m) => {
                    self.absorb(m, grown);
                    return Ok((!is_whole).then_some(new));
                }
                Merge::Grown => {}
            }
        }
        self.put(registry, grown);
        Ok(Some(new))
    }

    /// Returns the member that contains a state, if there is one.
    fn holder(&self, registry: &mut Registry, state: &State) -> Result<Option<u32>, Full> {
        let Some(there) = self.by_skeleton.get(&registry.skeleton(&state.threads)) else { return Ok(None) };
        for &m in there {
            if registry.state_within(state, &self.get(m).state)? {
                return Ok(Some(m));
            }
        }
        Ok(None)
    }

    /// Adds the origins of `grown` to member `m`, which contains it.
    fn absorb(&mut self, m: u32, grown: Member) {
        if let Some(member) = &mut self.members[m as usize] {
            member.origins.extend(grown.origins);
        }
    }

    /// Tries rule (ii) for each thread.
    fn merge_one(
        &mut self,
        registry: &mut Registry,
        grown: &mut Member,
        new: &mut State,
        is_whole: &mut bool,
    ) -> Result<Merge, Full> {
        for i in 0..grown.state.threads.len() {
            let l = grown.state.threads[i].0;
            let mut rest = grown.state.threads.clone();
            remove_one(&mut rest, l);
            let point = registry.point(l);
            let key = (grown.state.shared, rest, point);
            let Some(&m) = self.by_rest.get(&key) else { continue };
            let rest = key.1;
            let other = one_more(&self.get(m).state.threads, &rest);
            if other == l {
                continue;
            }
            let (mine, theirs) = (registry.local(l).1, registry.local(other).1);
            if mine.within(theirs)? {
                return Ok(Merge::Inside(m));
            }
            let (both, more) = (mine.or(theirs)?, mine.minus(theirs)?);
            if *is_whole {
                let more = registry.local_id(point, more);
                new.threads = rest.clone();
                add(&mut new.threads, more, 1);
                *is_whole = false;
            }
            self.swallow(registry, m, grown);
            let both = registry.local_id(point, both);
            grown.state.threads = rest;
            add(&mut grown.state.threads, both, 1);
            return Ok(Merge::Grown);
        }
        Ok(Merge::Nothing)
    }

    fn get(&self, m: u32) -> &Member {
        self.members[m as usize].as_ref().expect("indexed members exist")
    }

    /// Removes member `m`, which becomes part of `grown`.
    fn swallow(&mut self, registry: &Registry, m: u32, grown: &mut Member) {
        let Some(member) = self.members[m as usize].take() else { return };
        self.alive -= 1;
        self.by_threads.remove(&member.state.threads);
        if let Some(there) = self.by_skeleton.get_mut(&registry.skeleton(&member.state.threads)) {
            there.retain(|&other| other != m);
        }
        each_rest(registry, &member.state, |key| {
            if self.by_rest.get(&key) == Some(&m) {
                self.by_rest.remove(&key);
            }
        });
        grown.origins.extend(member.origins);
    }

    fn put(&mut self, registry: &Registry, member: Member) {
        let m = self.members.len() as u32;
        self.by_threads.insert(member.state.threads.clone(), m);
        each_rest(registry, &member.state, |key| _ = self.by_rest.insert(key, m));
        self.by_skeleton.entry(registry.skeleton(&member.state.threads)).or_default().push(m);
        self.members.push(Some(member));
        self.alive += 1;
    }
}

enum Merge {
    /// No rule applies.
    Nothing,
    /// A member contains all of it.
    Inside(u32),
    /// It has absorbed a member.
    Grown,
}

fn each_rest(registry: &Registry, state: &State, mut found: impl FnMut((u32, Threads, u32))) {
    for &(l, _) in &state.threads {
        let mut rest = state.threads.clone();
        remove_one(&mut rest, l);
        found((state.shared, rest, registry.point(l)));
    }
}

/// Returns the thread that `threads` has and `rest` lacks.
fn one_more(threads: &Threads, rest: &Threads) -> u32 {
    let has = |l: u32| rest.iter().find(|e| e.0 == l).map_or(0, |e| e.1);
    threads.iter().find(|&&(l, n)| n > has(l)).map_or(0, |e| e.0)
}
