//! States of a program as sets of values.

use std::any::Any;

use super::Jit;
use crate::bp::expr::FREE;
use crate::bp::program::{Cubes, live};
use crate::bp::relation::{Direction, Env, solve, solve_guard};
use throng_model::{Incomplete, Local, SetStates, Shared, Step, StopCheck};

impl SetStates for Jit {
    fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        self.shared.meets(a.0, b.0)
    }

    fn meets_local(&self, a: Local, b: Local) -> bool {
        self.local.meets(a.0, b.0)
    }

    fn within_shared(&self, a: Shared, b: Shared) -> bool {
        self.shared.within(a.0, b.0)
    }

    fn within_local(&self, a: Local, b: Local) -> bool {
        self.local.within(a.0, b.0)
    }

    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        self.shared.meet(a.0, b.0).map(Shared)
    }

    fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        self.local.meet(a.0, b.0).map(Local)
    }

    fn local_class(&self, l: Local) -> u64 {
        self.local.head(l.0).into()
    }

    fn local_shape(&self, l: Local) -> u64 {
        self.local.shape(l.0)
    }

    fn inside_atomic(&self, s: Shared) -> bool {
        self.shared.head(s.0) == 1
    }

    fn forgets(&self) -> bool {
        self.forgotten.is_none()
    }

    fn forget(&self, l: Local) -> Local {
        let live = self.live.get_or_init(|| live::live_slots(&self.program, &[]));
        let (point, mut slots) = self.local.decode(l.0);
        // A thread that has ended is not at a point of the program.
        if live.get(point as usize).is_none() {
            return l;
        }
        self.open(point, &mut slots, live);
        Local(self.local.encode(point, &slots))
    }

    fn narrow(
        &self,
        step: &Step,
        to: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)> {
        self.narrow_active(step, to, put, spawn)
    }

    fn narrow_bystander(&self, step: &Step, before: Local, after: Local) -> Option<Local> {
        self.narrow_other(step, before, after)
    }

    fn cubes(&self) -> &dyn Cubes {
        self
    }

    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.forward(s, l, true, out);
        self.complete()
    }

    fn moving(&self, s: Shared, l: Local, out: &mut Vec<(Shared, Local)>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared.decode(s.0);
        let (point, local) = self.local.decode(l.0);
        if self.is_ended(point) || self.inside(Some(point)) != (flag == 1) {
            return self.complete();
        }
        let mut found = Vec::new();
        for &id in &self.program.points[point as usize].edges {
            let effect = &self.program.edges[id as usize].effect;
            let mut env = Env { shared: shared.clone(), local: local.clone(), ..Env::default() };
            env.new.resize(effect.assigns.len(), FREE);
            self.note(solve(effect, env, Direction::Forward, &[], &self.patience, &mut found), point);
        }
        if let Some(condition) = &self.program.points[point as usize].assertion {
            self.note(solve_guard(condition, false, shared, local, &mut found), point);
        }
        let part = |env: Env| {
            (self.encode_shared(flag == 1, &env.shared), Local(self.local.encode(point, &env.local)))
        };
        out.extend(found.into_iter().map(part));
        self.complete()
    }

    fn set_stop_check(&self, check: Option<StopCheck>) {
        self.patience.set_stop_check(check);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
