//! Narrowing a run over sets of states down to concrete values, one step at a time, back to front.
//!
//! A step of the model starts from a set of states. Given the part of its result into which the run
//! must lead, these functions return the part of the set from which that is possible. The same
//! solver is used: both sides are known, in part.

use super::expr::{Cube, FREE, ONE, Var, ZERO};
use super::jit::Jit;
use super::relation::{Direction, Env, solve, solve_other};
use throng_model::{Local, Shared, Step};

impl Jit {
    pub(super) fn narrow_active(
        &self,
        step: &Step,
        to: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)> {
        let edge = &self.program.edges[step.edge.0 as usize];
        let take = step.take.entries().first()?.0;
        let (_, shared_after) = self.shared.decode(to.0);
        let forgets = edge.effect.others.is_none();
        let decode = |(at, l): (u32, Local)| {
            let mut slots = self.local.decode(l.0).1;
            if forgets {
                self.forget(at, &mut slots);
            }
            slots
        };
        let local_after = edge.to.zip(put).map(decode);
        let mut env = Env {
            shared: self.shared.decode(step.from.0).1,
            local: self.local.decode(take.0).1,
            ..Env::default()
        };
        let mut kept_shared = vec![true; env.shared.len()];
        let mut kept_local = vec![true; env.local.len()];
        for (place, _) in &edge.effect.assigns {
            match *place {
                Var::Shared(i) => {
                    env.new.push(shared_after[i as usize]);
                    kept_shared[i as usize] = false;
                }
                Var::Local(i) => {
                    env.new.push(local_after.as_ref().map_or(FREE, |l| l[i as usize]));
                    kept_local[i as usize] = false;
                }
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => {}
            }
        }
        narrow_masks(&mut env.shared, &shared_after, &kept_shared)?;
        if let Some(after) = &local_after {
            narrow_masks(&mut env.local, after, &kept_local)?;
        }
        // A new thread has a copy of its parent's old variables.
        if let Some(copied) = edge.child.zip(spawn).map(decode) {
            narrow_masks(&mut env.local, &copied, &vec![true; kept_local.len()])?;
        }
        for (i, v) in edge.effect.others.iter().flat_map(|o| &o.reads).enumerate() {
            let value = if step.choice >> i & 1 == 1 { ONE } else { ZERO };
            let mask = match *v {
                Var::Shared(j) => &mut env.shared[j as usize],
                Var::Local(j) => &mut env.local[j as usize],
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => continue,
            };
            *mask &= value;
            if *mask == 0 {
                return None;
            }
        }
        let mut found = Vec::new();
        let complete = solve(&edge.effect, env, Direction::Backward, &[], &self.patience, &mut found);
        self.note(complete || !found.is_empty(), edge.from); // any one will do
        let env = found.into_iter().next()?;
        let inside = self.program.points[edge.from as usize].inside;
        Some((self.encode_shared(inside, &env.shared), Local(self.local.encode(edge.from, &env.local))))
    }

    pub(super) fn narrow_other(&self, step: &Step, before: Local, after: Local) -> Option<Local> {
        let (point, mut slots) = self.local.decode(before.0);
        let (_, after) = self.local.decode(after.0);
        let part = self.others_of(step).and_then(|o| self.taking_part(o, before).map(|(view, ..)| (o, view)));
        let Some((others, view)) = part else {
            // It stays or is woken: either way it keeps its variables.
            let all = vec![true; slots.len()];
            narrow_masks(&mut slots, &after, &all)?;
            return Some(Local(self.local.encode(point, &slots)));
        };
        let assigned: Vec<usize> =
            others.assigns.iter().filter_map(|a| view.get(a.0 as usize).copied()).collect();
        let kept: Vec<bool> = (0..slots.len()).map(|s| !assigned.contains(&s)).collect();
        narrow_masks(&mut slots, &after, &kept)?;
        let mut env = self.active_env(step, others);
        env.other = view.iter().map(|&slot| slots[slot]).collect();
        env.other_new =
            others.assigns.iter().map(|a| view.get(a.0 as usize).map_or(FREE, |&s| after[s])).collect();
        let mut found = Vec::new();
        let complete = solve_other(others, env, Direction::Backward, &self.patience, &mut found);
        self.note(complete || !found.is_empty(), point);
        let env = found.into_iter().next()?;
        view.iter().zip(&env.other).for_each(|(&slot, &m)| slots[slot] = m);
        Some(Local(self.local.encode(point, &slots)))
    }
}

/// Intersects the masks with `by`, where `which` is true; `None` if some mask becomes empty.
fn narrow_masks(masks: &mut Cube, by: &Cube, which: &[bool]) -> Option<()> {
    for ((mask, by), which) in masks.iter_mut().zip(by).zip(which) {
        if *which {
            *mask &= by;
            if *mask == 0 {
                return None;
            }
        }
    }
    Some(())
}
