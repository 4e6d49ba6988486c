//! Backward steps of a program: the same statements, solved for what was before.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::Jit;
use crate::bp::expr::{Cube, FREE, Var, ZERO};
use crate::bp::relation::{Direction, Env, solve, solve_other};
use throng_model::{Incomplete, Local, Predecessors, Shared, Step, Transfers};

impl Jit {
    /// Appends the steps of an edge that end within the given values; `local` belongs to a point,
    /// and `flag` must fit the point to which the edge leads.
    fn backward(
        &self,
        id: u32,
        flag: bool,
        shared: &Cube,
        (at, local): (Option<u32>, &Cube),
        out: &mut IndexSet<Step, FxBuildHasher>,
    ) {
        let edge = &self.program.edges[id as usize];
        if self.inside(edge.to) != flag {
            return;
        }
        let mut local = local.clone();
        if let (Some(at), None) = (at, &edge.effect.others) {
            self.forget(at, &mut local);
        }
        let mut env = Env { shared: shared.clone(), local: local.clone(), ..Env::default() };
        let used = self.program.used_slots(edge.from);
        for (place, _) in &edge.effect.assigns {
            match *place {
                Var::Shared(i) => {
                    env.new.push(shared[i as usize]);
                    env.shared[i as usize] = FREE;
                }
                Var::Local(i) => {
                    env.new.push(local[i as usize]);
                    env.local[i as usize] = if (i as usize) < used { FREE } else { ZERO };
                }
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => {}
            }
        }
        let mut found = Vec::new();
        self.note(solve(&edge.effect, env, Direction::Backward, &[], &self.patience, &mut found), edge.from);
        for env in found {
            let from = self.encode_shared(self.program.points[edge.from as usize].inside, &env.shared);
            let take = Local(self.local.encode(edge.from, &env.local));
            out.insert(self.step(id, &env, from, take, false));
        }
    }

    /// Like [`Jit::backward`], for any point and values of the active thread after the step.
    fn backward_anywhere(&self, id: u32, flag: bool, shared: &Cube, out: &mut IndexSet<Step, FxBuildHasher>) {
        let edge = &self.program.edges[id as usize];
        let local = self.program.free_slots(edge.to.unwrap_or(edge.from));
        self.backward(id, flag, shared, (edge.to, &local), out);
    }
}

impl Predecessors for Jit {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared.decode(s.0);
        let (point, local) = self.local.decode(l.0);
        let flag = flag == 1;
        let mut steps = IndexSet::default();
        if self.is_ended(point) {
            self.index.ends.iter().for_each(|&id| self.backward_anywhere(id, flag, &shared, &mut steps));
            out.extend(steps);
            return self.complete();
        }
        let at = point as usize;
        let there = (Some(point), &local);
        self.index.into[at].iter().for_each(|&id| self.backward(id, flag, &shared, there, &mut steps));
        // The child has the parent's variables.
        self.index.child[at].iter().for_each(|&id| self.backward(id, flag, &shared, there, &mut steps));
        for &id in &self.index.wakers {
            let condition = self.program.edges[id as usize].condition;
            let waits = |&w: &u32| self.program.points[w as usize].condition == condition;
            if self.index.woken[at].iter().any(waits) {
                self.backward_anywhere(id, flag, &shared, &mut steps);
            }
        }
        for &id in &self.index.passive {
            let others = self.program.edges[id as usize].effect.others.as_deref();
            if others.is_some_and(|o| self.program.view(o, point).is_some()) {
                self.backward_anywhere(id, flag, &shared, &mut steps);
            }
        }
        out.extend(steps);
        self.complete()
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared.decode(s.0);
        let mut steps = IndexSet::default();
        self.index.shared.iter().for_each(|&id| self.backward_anywhere(id, flag == 1, &shared, &mut steps));
        out.extend(steps);
        self.complete()
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        let Some(others) = self.others_of(step) else {
            if self.woken(l).is_none() || self.waits_for(l) != self.wakes(step) {
                out.push(l);
            }
            let mut origins = Vec::new();
            self.woken_back(l, &mut origins);
            out.extend(origins.into_iter().filter(|&w| self.waits_for(w) == self.wakes(step)));
            return Ok(());
        };
        let Some((view, point, slots)) = self.taking_part(others, l) else {
            out.push(l);
            return Ok(());
        };
        let mut env = self.active_env(step, others);
        env.other = view.iter().map(|&slot| slots[slot]).collect();
        for (i, _) in &others.assigns {
            env.other_new.push(env.other.get(*i as usize).copied().unwrap_or(FREE));
        }
        for (i, _) in &others.assigns {
            if let Some(m) = env.other.get_mut(*i as usize) {
                *m = FREE;
            }
        }
        let mut found = Vec::new();
        self.note(solve_other(others, env, Direction::Backward, &self.patience, &mut found), point);
        for env in found {
            let mut before = slots.clone();
            view.iter().zip(&env.other).for_each(|(&slot, &m)| before[slot] = m);
            let origin = Local(self.local.encode(point, &before));
            if !out.contains(&origin) {
                out.push(origin);
            }
        }
        self.complete()
    }

    fn woken_back(&self, l: Local, out: &mut Vec<Local>) {
        let (point, slots) = self.local.decode(l.0);
        if !self.is_ended(point) {
            out.extend(self.index.woken[point as usize].iter().map(|&w| Local(self.local.encode(w, &slots))));
        }
    }

    fn waiting(&self, out: &mut Vec<Local>) {
        out.extend(self.index.waits.iter().map(|&w| self.free_local(w)));
    }
}
