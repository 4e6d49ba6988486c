//! Queries that work on every model, whatever its capabilities.

use crate::{Incomplete, Local, Model, Shared, Step, StopCheck};

/// Queries about a model's states and steps, answered by its capabilities. Without them, states are
/// plain and bystanders stay.
impl dyn Model + '_ {
    /// Returns whether states are plain: then `meets` and `within` are equality.
    pub fn is_exact(&self) -> bool {
        self.sets().is_none()
    }

    /// Returns whether a step may move bystanders: then accelerations are not exact.
    pub fn moves_bystanders(&self) -> bool {
        self.transfers().is_some()
    }

    /// Returns whether some step creates threads.
    pub fn spawns(&self) -> bool {
        self.traits().spawns
    }

    /// Returns why a thread's mere presence may block a step, if it may.
    pub fn blocking(&self) -> Option<String> {
        self.traits().blocking
    }

    /// See [`crate::SetStates::set_stop_check`].
    pub fn set_stop_check(&self, check: Option<StopCheck>) {
        if let Some(sets) = self.sets() {
            sets.set_stop_check(check);
        }
    }

    /// Returns every step, if the model is explicit.
    pub fn listed(&self) -> Option<&[Step]> {
        self.predecessors().and_then(|p| p.listed())
    }

    /// See [`crate::Transfers::bystander`].
    pub fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        match self.transfers() {
            Some(transfers) => transfers.bystander(step, l, out),
            None => {
                out.push(Some(l));
                Ok(())
            }
        }
    }

    /// See [`crate::Transfers::woken`].
    pub fn woken(&self, l: Local) -> Option<Local> {
        self.transfers().and_then(|t| t.woken(l))
    }

    /// Returns where a thread at `l` goes if `step`, with [`crate::Bystanders::WakeOne`], wakes it;
    /// `None` if the step cannot wake it.
    pub fn woken_by(&self, step: &Step, l: Local) -> Option<Local> {
        self.transfers().filter(|t| t.waits_for(l) == t.wakes(step)).and_then(|t| t.woken(l))
    }

    /// See [`crate::SetStates::meets_shared`].
    pub fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        a == b || self.sets().is_some_and(|sets| sets.meets_shared(a, b))
    }

    /// See [`crate::SetStates::meets_local`].
    pub fn meets_local(&self, a: Local, b: Local) -> bool {
        a == b || self.sets().is_some_and(|sets| sets.meets_local(a, b))
    }

    /// See [`crate::SetStates::within_shared`].
    pub fn within_shared(&self, a: Shared, b: Shared) -> bool {
        a == b || self.sets().is_some_and(|sets| sets.within_shared(a, b))
    }

    /// See [`crate::SetStates::within_local`].
    pub fn within_local(&self, a: Local, b: Local) -> bool {
        a == b || self.sets().is_some_and(|sets| sets.within_local(a, b))
    }

    /// See [`crate::SetStates::meet_shared`].
    pub fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        if a == b { Some(a) } else { self.sets()?.meet_shared(a, b) }
    }

    /// See [`crate::SetStates::meet_local`].
    pub fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        if a == b { Some(a) } else { self.sets()?.meet_local(a, b) }
    }

    /// See [`crate::SetStates::local_class`].
    pub fn local_class(&self, l: Local) -> u64 {
        self.sets().map_or(l.0, |sets| sets.local_class(l))
    }

    /// See [`crate::SetStates::local_shape`].
    pub fn local_shape(&self, l: Local) -> u64 {
        self.sets().map_or(l.0, |sets| sets.local_shape(l))
    }

    /// See [`crate::SetStates::inside_atomic`].
    pub fn inside_atomic(&self, s: Shared) -> bool {
        self.sets().is_some_and(|sets| sets.inside_atomic(s))
    }

    /// See [`crate::SetStates::sample_shared`].
    pub fn sample_shared(&self, s: Shared) -> Shared {
        self.sets().map_or(s, |sets| sets.sample_shared(s))
    }

    /// See [`crate::SetStates::sample_local`].
    pub fn sample_local(&self, l: Local) -> Local {
        self.sets().map_or(l, |sets| sets.sample_local(l))
    }

    /// See [`crate::SetStates::free_bits`].
    pub fn free_bits(&self, s: Shared, l: Local) -> u32 {
        self.sets().map_or(0, |sets| sets.free_bits(s, l))
    }

    /// See [`crate::SetStates::members_shared`].
    pub fn members_shared(&self, s: Shared) -> Vec<Shared> {
        self.sets().map_or_else(|| vec![s], |sets| sets.members_shared(s))
    }

    /// See [`crate::SetStates::members_local`].
    pub fn members_local(&self, l: Local) -> Vec<Local> {
        self.sets().map_or_else(|| vec![l], |sets| sets.members_local(l))
    }

    /// See [`crate::SetStates::narrow`].
    pub fn narrow(
        &self,
        step: &Step,
        to: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)> {
        match self.sets() {
            Some(sets) => sets.narrow(step, to, put, spawn),
            None => Some((step.from, step.take.entries().first()?.0)),
        }
    }

    /// See [`crate::SetStates::narrow_bystander`].
    pub fn narrow_bystander(&self, step: &Step, before: Local, after: Local) -> Option<Local> {
        match self.sets() {
            Some(sets) => sets.narrow_bystander(step, before, after),
            None => Some(before),
        }
    }

    /// See [`crate::SetStates::post_in_full`].
    pub fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        match self.sets() {
            Some(sets) => sets.post_in_full(s, l, out),
            None => self.post(s, l, out),
        }
    }
}
