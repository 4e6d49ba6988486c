//! The interpreter as a [`Model`], for the rules of the checker.

use std::any::Any;

use super::control::{Move, Spot};
use super::{Interpreter, Plan, Values};
use throng_lang::bp::function::Kind;
use throng_lang::bp::program::Cubes;
use throng_lang::bp::program::expr::{Cube, FREE, ONE, ZERO};
use throng_model::waiting::Waits;
use throng_model::{
    Bag, Bystanders, Describe, Edge, Incomplete, Local, Model, Place, Predecessors, SetStates, Shared, Step,
    Traits, Transfers,
};

impl Cubes for Interpreter {
    fn shared_cube(&self, s: Shared) -> (bool, Cube) {
        self.shared.value(s.0)
    }

    fn local_cube(&self, l: Local) -> (u32, Cube) {
        self.local.value(l.0)
    }

    fn encode_shared(&self, inside: bool, masks: &[u8]) -> Shared {
        Shared(self.shared.number((inside, masks.into())))
    }

    fn encode_local(&self, point: u32, masks: &[u8]) -> Local {
        Local(self.local.number((point, masks.into())))
    }
}

/// Moves by their effect.
#[derive(Default)]
pub(super) struct Index {
    /// Moves of the thread, or its child, to each place.
    into: Vec<Vec<u32>>,
    ends: Vec<u32>,
    wakes: Vec<u32>,
    passive: Vec<u32>,
    /// Moves that may change the shared state.
    shared: Vec<u32>,
    /// Places to which a thread may be woken, and the conditions that it waits for.
    woken: Vec<(u32, u32)>,
}

impl Index {
    pub(super) fn new(of: &Interpreter) -> Index {
        let mut index = Index { into: vec![Vec::new(); of.control.spots.len()], ..Index::default() };
        let woken = |spot: &Spot| match of.control.kind(spot) {
            Kind::Wait { condition, .. } => Some((spot.woken?, *condition)),
            _ => None,
        };
        index.woken = of.control.spots.iter().filter_map(woken).collect();
        for (id, m) in (0..).zip(&of.control.moves) {
            let plan = of.plan(m);
            for &to in m.to.iter().chain(m.child.iter().filter(|&&c| Some(c) != m.to)) {
                index.into[to as usize].push(id);
            }
            let flips = of.inside(m.to) != of.inside(Some(m.from));
            if flips || plan.assigns.iter().any(|a| matches!(a.0, super::To::Shared(_))) {
                index.shared.push(id);
            }
            if matches!(of.move_kind(m), Kind::Signal { .. } | Kind::Broadcast { .. }) {
                index.wakes.push(id);
            }
            if plan.is_passive() {
                index.passive.push(id);
            }
            if m.to.is_none() {
                index.ends.push(id);
            }
        }
        index
    }
}

impl Interpreter {
    fn spot(&self, spot: u32) -> Option<&Spot> {
        self.control.spots.get(spot as usize)
    }

    fn inside(&self, spot: Option<u32>) -> bool {
        spot.and_then(|s| self.spot(s)).is_some_and(|s| s.inside)
    }

    fn move_kind(&self, m: &Move) -> &Kind {
        self.control.kind(&self.control.spots[m.from as usize])
    }

    /// Returns the step of a move with these values.
    fn step(&self, id: u32, plan: &Plan, values: &Values, from: Shared, take: Local) -> Step {
        let m = &self.control.moves[id as usize];
        let (shared, local) = Interpreter::after(plan, values);
        let put = match m.to {
            Some(to) => Bag::one(self.encode_local(to, &local)),
            None if self.keep_ended => Bag::one(self.encode_local(self.control.spots.len() as u32, &[])),
            None => Bag::new(),
        };
        let others = match self.move_kind(m) {
            Kind::Signal { .. } => Bystanders::WakeOne,
            Kind::Broadcast { .. } => Bystanders::Transfer,
            _ if plan.is_passive() => Bystanders::Transfer,
            _ => Bystanders::Stay,
        };
        let seen = if plan.is_passive() { Interpreter::seen(plan, values) } else { Values::default() };
        Step {
            from,
            to: self.encode_shared(self.inside(m.to), &shared),
            take: Bag::one(take),
            put,
            spawn: m.child.map(|c| self.encode_local(c, &values.local)).into_iter().collect(),
            others,
            edge: Edge(self.edges.number((id, seen)) as u32),
            choice: 0,
        }
    }

    /// Appends the steps of a move that end with these shared and local values.
    fn backward(&self, id: u32, flag: bool, shared: &Cube, local: &Cube, out: &mut Vec<Step>) {
        let m = &self.control.moves[id as usize];
        if self.inside(m.to) != flag {
            return;
        }
        let plan = self.plan(m);
        let mut values = Values { shared: shared.clone(), local: local.clone(), ..Values::default() };
        values.local.truncate(plan.keep);
        values.local.resize(self.control.spots[m.from as usize].width, FREE);
        for (to, _) in &plan.assigns {
            match *to {
                super::To::Shared(i) => {
                    values.new.push(shared[i]);
                    values.shared[i] = FREE;
                }
                super::To::Local(i) => {
                    values.new.push(local[i]);
                    if i < plan.keep {
                        values.local[i] = FREE;
                    }
                }
            }
        }
        for values in self.solve(values, &|v| self.execute_active(m, &plan, v, true)) {
            let from = self.encode_shared(self.control.spots[m.from as usize].inside, &values.shared);
            let take = self.encode_local(m.from, &values.local);
            out.push(self.step(id, &plan, &values, from, take));
        }
    }

    /// Like [`Interpreter::backward`], for any local values of the thread after the step.
    fn backward_anywhere(&self, id: u32, flag: bool, shared: &Cube, out: &mut Vec<Step>) {
        let plan = self.plan(&self.control.moves[id as usize]);
        let free = std::iter::repeat_n(FREE, plan.width).collect();
        self.backward(id, flag, shared, &free, out);
    }

    /// Returns the first slot of a bystander's variables that a passive move accesses; `None` if it
    /// does not take part.
    fn bystander_base(&self, plan: &Plan, spot: u32) -> Option<usize> {
        let spot = self.spot(spot)?;
        if !plan.needs_frame() {
            return Some(0);
        }
        let mut base = self.program().thread_locals.len();
        for &(function, _) in &spot.stack {
            if function == plan.function {
                return Some(base);
            }
            base += self.program().functions[function].variables.len();
        }
        None
    }

    /// Returns the slot of a bystander's variable.
    fn their_slot(name: throng_lang::bp::function::Name, base: usize) -> usize {
        use throng_lang::bp::function::Name;
        match name {
            Name::OtherLocal(i) | Name::Local(i) => base + i as usize,
            Name::OtherThreadLocal(i) | Name::ThreadLocal(i) | Name::Shared(i) => i as usize,
        }
    }

    /// Returns whether some bystander, reachable or not, may be unable to take part in a move.
    fn blocks(&self, m: &Move) -> bool {
        const MOST: usize = 14;
        let plan = self.plan(m);
        let mut read: Vec<usize> = Vec::new();
        let thread_locals = self.program().thread_locals.len();
        for e in plan.passive() {
            e.each_var(&mut |r| {
                if r.name.is_other() {
                    read.push(Self::their_slot(r.name, thread_locals));
                }
            });
        }
        read.sort_unstable();
        read.dedup();
        let only_assigns = plan.constraints.iter().all(|e| !super::is_other(e))
            && plan.guard.is_none_or(|(e, _)| !super::is_other(e));
        if only_assigns {
            return false;
        }
        if read.len() > MOST {
            return true;
        }
        let width = thread_locals + self.program().functions[plan.function].variables.len();
        let mut values =
            Values { shared: self.free_shared(), local: self.free_local(m.from), ..Values::default() };
        values.new.resize(plan.assigns.len(), FREE);
        let active = self.solve(values, &|v| self.execute_active(m, &plan, v, false));
        active.iter().any(|values| {
            (0..1u32 << read.len()).any(|bits| {
                let mut values = values.clone();
                values.other.resize(width, FREE);
                values.other_new.resize(plan.theirs.len(), FREE);
                for (k, &slot) in read.iter().enumerate() {
                    values.other[slot] = if bits >> k & 1 == 1 { ONE } else { ZERO };
                }
                self.solve(values, &|v| Interpreter::execute_bystander(&plan, v, thread_locals, false))
                    .is_empty()
            })
        })
    }
}

fn meet(a: &Cube, b: &Cube) -> Option<Cube> {
    let both: Cube = a.iter().zip(b).map(|(x, y)| x & y).collect();
    (a.len() == b.len() && both.iter().all(|&m| m != 0)).then_some(both)
}

fn within(a: &Cube, b: &Cube) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x & y == *x)
}

fn text(mask: u8) -> String {
    ["", "0", "1", "*"][mask as usize & 3].into()
}

impl Interpreter {
    fn blocking(&self) -> Option<String> {
        let mut passive = self.index.passive.iter().map(|&id| &self.control.moves[id as usize]);
        let m = passive.find(|m| self.blocks(m))?;
        let at = &self.control.spots[m.from as usize].name;
        Some(format!("a thread can block `{at}` by its mere presence"))
    }

    /// Returns an error if some list was incomplete.
    fn complete(&self) -> Result<(), Incomplete> {
        self.gave_up.get().map_or(Ok(()), |why| Err(Incomplete(why.clone())))
    }
}

impl Model for Interpreter {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared_cube(s);
        let (at, local) = self.local_cube(l);
        let Some(spot) = self.spot(at).filter(|spot| spot.inside == flag) else { return self.complete() };
        debug_assert_eq!(spot.width, local.len());
        let first = out.len();
        for &id in &self.control.out[at as usize] {
            let m = &self.control.moves[id as usize];
            let plan = self.plan(m);
            let mut values = Values { shared: shared.clone(), local: local.clone(), ..Values::default() };
            values.new.resize(plan.assigns.len(), FREE);
            for values in self.solve(values, &|v| self.execute_active(m, &plan, v, false)) {
                let step = self.step(id, &plan, &values, s, l);
                if !out[first..].contains(&step) {
                    out.push(step);
                }
            }
        }
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        Traits { blocking: self.blocking(), spawns: self.control.moves.iter().any(|m| m.child.is_some()) }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        (!self.index.passive.is_empty() || !self.index.wakes.is_empty()).then_some(self as &dyn Transfers)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        Some(self)
    }

    fn has_ended(&self, l: Local) -> bool {
        self.spot(self.local_cube(l).0).is_none()
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(self)
    }
}

impl Interpreter {
    /// Returns the statement at which a thread is: function and node.
    fn statement(&self, l: Local) -> Option<(usize, usize)> {
        self.spot(self.local_cube(l).0).map(Spot::top)
    }
}

impl Waits for Interpreter {
    fn loop_of(&self, l: Local) -> Option<u32> {
        self.waiting.loops_of(self.statement(l)?).0
    }

    fn possible_loop_of(&self, l: Local) -> Option<u32> {
        self.waiting.loops_of(self.statement(l)?).1
    }

    fn is_inside(&self, place: Local, l: Local) -> bool {
        let both = self.statement(place).zip(self.statement(l));
        both.is_some_and(|(place, l)| self.waiting.is_inside(place, l))
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

impl Transfers for Interpreter {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let (id, mut values) = self.edges.value(step.edge.0.into());
        let plan = self.plan(&self.control.moves[id as usize]);
        if !plan.is_passive() {
            let woken = self.woken(l).filter(|_| self.waits_for(l) == self.wakes(step));
            out.push(Some(woken.unwrap_or(l)));
            return Ok(());
        }
        let (at, local) = self.local_cube(l);
        let Some(base) = self.bystander_base(&plan, at) else {
            out.push(Some(l));
            return Ok(());
        };
        values.other = local;
        values.other_new.resize(plan.theirs.len(), FREE);
        for values in self.solve(values, &|v| Interpreter::execute_bystander(&plan, v, base, false)) {
            let mut after = values.other.clone();
            for ((name, _), &new) in plan.theirs.iter().zip(&values.other_new) {
                after[Self::their_slot(*name, base)] = new;
            }
            let fate = Some(self.encode_local(at, &after));
            if !out.contains(&fate) {
                out.push(fate);
            }
        }
        self.complete()
    }

    fn woken(&self, l: Local) -> Option<Local> {
        let (at, local) = self.local_cube(l);
        Some(self.encode_local(self.spot(at)?.woken?, &local))
    }

    fn waits_for(&self, l: Local) -> u32 {
        match self.spot(self.local_cube(l).0).map(|spot| self.control.kind(spot)) {
            Some(Kind::Wait { condition, .. }) => *condition,
            _ => 0,
        }
    }

    fn wakes(&self, step: &Step) -> u32 {
        let (id, _) = self.edges.value(step.edge.0.into());
        match self.move_kind(&self.control.moves[id as usize]) {
            Kind::Signal { condition, .. } | Kind::Broadcast { condition, .. } => *condition,
            _ => 0,
        }
    }
}

impl Predecessors for Interpreter {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared_cube(s);
        let (at, local) = self.local_cube(l);
        // A new thread has copies of its parent's variables.
        for &id in self.index.into.get(at as usize).into_iter().flatten() {
            self.backward(id, flag, &shared, &local, out);
        }
        let ends = self.index.ends.iter().filter(|_| self.spot(at).is_none());
        let wakes = self.index.wakes.iter().filter(|&&id| {
            let (Kind::Signal { condition, .. } | Kind::Broadcast { condition, .. }) =
                self.move_kind(&self.control.moves[id as usize])
            else {
                return false;
            };
            self.index.woken.contains(&(at, *condition))
        });
        let bystander_base =
            |id: &&u32| self.bystander_base(&self.plan(&self.control.moves[**id as usize]), at).is_some();
        for &id in ends.chain(wakes).chain(self.index.passive.iter().filter(bystander_base)) {
            self.backward_anywhere(id, flag, &shared, out);
        }
        self.complete()
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared_cube(s);
        self.index.shared.iter().for_each(|&id| self.backward_anywhere(id, flag, &shared, out));
        self.complete()
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        let (id, mut values) = self.edges.value(step.edge.0.into());
        let plan = self.plan(&self.control.moves[id as usize]);
        if !plan.is_passive() {
            if self.woken(l).is_none() || self.waits_for(l) != self.wakes(step) {
                out.push(l);
            }
            let mut origins = Vec::new();
            self.woken_back(l, &mut origins);
            out.extend(origins.into_iter().filter(|&w| self.waits_for(w) == self.wakes(step)));
            return Ok(());
        }
        let (at, local) = self.local_cube(l);
        let Some(base) = self.bystander_base(&plan, at) else {
            out.push(l);
            return Ok(());
        };
        let slots: Vec<usize> = plan.theirs.iter().map(|t| Self::their_slot(t.0, base)).collect();
        values.other_new = slots.iter().map(|&slot| local[slot]).collect();
        values.other = local;
        slots.iter().for_each(|&slot| values.other[slot] = FREE);
        for values in self.solve(values, &|v| Interpreter::execute_bystander(&plan, v, base, true)) {
            let origin = self.encode_local(at, &values.other);
            if !out.contains(&origin) {
                out.push(origin);
            }
        }
        self.complete()
    }

    fn woken_back(&self, l: Local, out: &mut Vec<Local>) {
        let (at, local) = self.local_cube(l);
        let waits = (0..self.control.spots.len() as u32)
            .filter(|&w| self.control.spots[w as usize].woken == Some(at));
        out.extend(waits.map(|w| self.encode_local(w, &local)));
    }

    fn waiting(&self, out: &mut Vec<Local>) {
        out.extend(self.waits().into_iter().map(|w| self.encode_local(w, &self.free_local(w))));
    }
}

impl SetStates for Interpreter {
    fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        self.shared.compare(a.0, b.0, |a, b| a.0 == b.0 && meet(&a.1, &b.1).is_some())
    }

    fn meets_local(&self, a: Local, b: Local) -> bool {
        self.local.compare(a.0, b.0, |a, b| a.0 == b.0 && meet(&a.1, &b.1).is_some())
    }

    fn within_shared(&self, a: Shared, b: Shared) -> bool {
        a == b || self.shared.compare(a.0, b.0, |a, b| a.0 == b.0 && within(&a.1, &b.1))
    }

    fn within_local(&self, a: Local, b: Local) -> bool {
        a == b || self.local.compare(a.0, b.0, |a, b| a.0 == b.0 && within(&a.1, &b.1))
    }

    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        let (a, b) = (self.shared_cube(a), self.shared_cube(b));
        let both = meet(&a.1, &b.1).filter(|_| a.0 == b.0)?;
        Some(self.encode_shared(a.0, &both))
    }

    fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        let (a, b) = (self.local_cube(a), self.local_cube(b));
        let both = meet(&a.1, &b.1).filter(|_| a.0 == b.0)?;
        Some(self.encode_local(a.0, &both))
    }

    fn local_class(&self, l: Local) -> u64 {
        self.local.compare(l.0, l.0, |l, _| l.0.into())
    }

    fn inside_atomic(&self, s: Shared) -> bool {
        self.shared_cube(s).0
    }

    /// Called only for a thread that starts another and changes nothing: both have its variables.
    fn narrow(
        &self,
        step: &Step,
        _: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)> {
        let (at, mut local) = self.local_cube(step.take.entries().first()?.0);
        for l in put.into_iter().chain(spawn) {
            local = meet(&local, &self.local_cube(l).1)?;
        }
        Some((step.from, self.encode_local(at, &local)))
    }

    fn narrow_bystander(&self, _: &Step, before: Local, _: Local) -> Option<Local> {
        Some(before)
    }

    fn cubes(&self) -> &dyn Cubes {
        self
    }

    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.post(s, l, out)
    }

    fn moving(&self, s: Shared, l: Local, out: &mut Vec<(Shared, Local)>) -> Result<(), Incomplete> {
        let (flag, shared) = self.shared_cube(s);
        let (at, local) = self.local_cube(l);
        let Some(_) = self.spot(at).filter(|spot| spot.inside == flag) else { return self.complete() };
        let part = |v: Values| (self.encode_shared(flag, &v.shared), self.encode_local(at, &v.local));
        for &id in &self.control.out[at as usize] {
            let m = &self.control.moves[id as usize];
            let plan = self.plan(m);
            let mut values = Values { shared: shared.clone(), local: local.clone(), ..Values::default() };
            values.new.resize(plan.assigns.len(), FREE);
            out.extend(
                self.solve(values, &|v| self.execute_active(m, &plan, v, false)).into_iter().map(part),
            );
        }
        let values = Values { shared, local, ..Values::default() };
        out.extend(self.violating(at, values).into_iter().map(part));
        self.complete()
    }

    fn set_stop_check(&self, _: Option<throng_model::StopCheck>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Describe for Interpreter {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        let (inside, masks) = self.shared_cube(s);
        let mut values: Vec<(String, String)> =
            self.program().shared.iter().zip(masks).map(|(v, m)| (v.name.clone(), text(m))).collect();
        if inside {
            values.push(("(atomic)".into(), "1".into()));
        }
        values
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        let (at, masks) = self.local_cube(l);
        let name = self.spot(at).map_or("ended".to_string(), |spot| spot.name.clone());
        let variables = if self.spot(at).is_some() { self.variables(at) } else { Vec::new() };
        let mut values = vec![("at".to_string(), name)];
        values.extend(variables.into_iter().zip(masks).map(|(v, m)| (v, text(m))));
        values
    }

    fn place(&self, _: Local) -> Option<Place> {
        None
    }

    fn edge_place(&self, edge: Edge) -> Place {
        let (id, _) = self.edges.value(edge.0.into());
        let spot = &self.control.spots[self.control.moves[id as usize].from as usize];
        let (function, node) = spot.top();
        let node = &self.program().functions[function].nodes[node];
        Place { text: format!("{} ({})", node.text, spot.name), ..Place::default() }
    }
}
