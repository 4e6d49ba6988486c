//! Statements as relations between sets.
//!
//! # Variables
//!
//! Every shared variable and every slot has two adjacent variables of the diagrams: the value
//! before a step and the one after. A set of shared states is over the shared ones "before", a set
//! of local states at one point over the slots "before"; dead slots and those not in use are
//! quantified away.
//!
//! # `*` is never enumerated
//!
//! An expression has two sets: the states in which it *can be* 1, and those in which it can be 0. A
//! `*` can be both anywhere ([`can`]).
//!
//! # Splice variables (Boom, section 6.2)
//!
//! A statement is a conjunction: its guards, one conjunct for each assigned variable, its
//! constraints. A conjunct that mentions shared *and* local variables relates the two. Once the
//! shared variables that it mentions (before or after the step) have one value each, the rest of it
//! is about local variables only. So these are the splice variables of the statement, which its
//! text determines; for each of their values the image of a product of sets is a product of sets.

use crate::bdd::{Full, Renaming, Set, Space, Variables};
use throng_lang::bp::program::expr::{Cube, Expr, FREE, ONE, Var, ZERO, mask};
use throng_lang::bp::program::live::live_slots;
use throng_lang::bp::program::{BystanderEffect, Effect, Program};
use throng_model::limits::Ticker;
use throng_model::verdict::Unknown;

/// A variable of the diagrams and a value.
pub type Literal = (u32, bool);

/// A program over diagrams.
pub struct Encoder<'p> {
    /// The program.
    pub program: &'p Program,
    /// The space of all sets.
    pub space: Space,
    rules: Vec<Rule>,
    /// For each point, the slots to quantify away there; one more entry for threads that have
    /// ended.
    idle: Vec<Variables>,
    live: Vec<Vec<bool>>,
}

/// An edge as a relation.
pub struct Rule {
    /// Conjuncts over shared variables only.
    pub shared: Set,
    /// Conjuncts over local variables only.
    pub local: Set,
    /// Conjuncts over both; they constrain only local variables once `splice` is fixed.
    pub mixed: Set,
    /// Variables of the diagrams that must have one value each; shared ones first.
    pub splice: Vec<u32>,
    forget_shared: Variables,
    forget_local: Variables,
    new_shared: Variables,
    rename_shared: Renaming,
    rename_local: Renaming,
}

/// Cost in ticks of a cube of a set.
const CUBE: u32 = 4;

/// A condition as conjuncts.
struct Conjunct {
    set: Set,
    shared: Vec<u32>,
    touches_local: bool,
}

impl<'p> Encoder<'p> {
    /// Encodes all edges. Slots that are `watched` at some point count as read there; without
    /// `forget_dead`, all slots in use are kept.
    pub fn new(
        program: &'p Program,
        nodes: usize,
        watched: &[(u32, usize)],
        forget_dead: bool,
    ) -> Result<Encoder<'p>, Full> {
        let variables = 2 * (program.shared.len() + program.slots) as u32;
        let mut live = live_slots(program, watched);
        for (point, slots) in live.iter_mut().enumerate() {
            let used = program.used_slots(point as u32);
            for (slot, live) in slots.iter_mut().enumerate() {
                *live = slot < used && (*live || !forget_dead);
            }
        }
        live.push(vec![false; program.slots]);
        let space = Space::new(variables.max(1), nodes);
        let mut encoder = Encoder { program, space, rules: Vec::new(), idle: Vec::new(), live };
        for slots in &encoder.live {
            let dead = (0..program.slots).filter(|&s| !slots[s]);
            encoder.idle.push(encoder.space.to_forget(dead.map(|s| encoder.slot(s)))?);
        }
        for edge in &program.edges {
            let rule = encoder.rule(&edge.effect)?;
            encoder.rules.push(rule);
        }
        Ok(encoder)
    }

    /// Returns the variable of a shared variable, before the step.
    pub fn shared(&self, i: usize) -> u32 {
        2 * i as u32
    }

    /// Returns the variable of a slot, before the step.
    pub fn slot(&self, slot: usize) -> u32 {
        2 * (self.program.shared.len() + slot) as u32
    }

    /// Returns the relation of an edge.
    pub fn rule_of(&self, edge: u32) -> &Rule {
        &self.rules[edge as usize]
    }

    /// Restricts a set of local states to the slots that a thread at `point` keeps.
    pub fn at(&self, point: u32, set: &Set) -> Result<Set, Full> {
        set.forget(&self.idle[point as usize])
    }

    /// Quantifies away the slots that threads at neither point keep.
    pub fn kept_by_either(&self, set: &Set, a: u32, b: u32) -> Result<Set, Full> {
        let dead = (0..self.program.slots).filter(|&s| !self.keeps(a, s) && !self.keeps(b, s));
        set.forget(&self.space.to_forget(dead.map(|s| self.slot(s)))?)
    }

    /// Returns whether a thread at `point` keeps this slot.
    pub fn keeps(&self, point: u32, slot: usize) -> bool {
        self.live[point as usize][slot]
    }

    /// Returns the shared states of a cube of masks.
    pub fn shared_set(&self, masks: &[u8]) -> Result<Set, Full> {
        let fixed = masks.iter().enumerate().filter(|m| *m.1 != FREE);
        self.space.cube(fixed.map(|(i, &m)| (self.shared(i), m == ONE)))
    }

    /// Returns the local states of a cube of masks at `point`.
    pub fn local_set(&self, point: u32, masks: &[u8]) -> Result<Set, Full> {
        let fixed = masks.iter().enumerate().filter(|m| *m.1 != FREE);
        self.at(point, &self.space.cube(fixed.map(|(i, &m)| (self.slot(i), m == ONE)))?)
    }

    /// Returns the cubes of a set of shared states; there can be very many.
    pub fn shared_cubes(&self, set: &Set, ticker: &mut Ticker<'_>) -> Result<Vec<Cube>, Unknown> {
        let mut found = Vec::new();
        set.try_each_cube(&mut |cube| -> Result<(), Unknown> {
            ticker.ticks(CUBE)?;
            let mut masks: Cube = std::iter::repeat_n(FREE, self.program.shared.len()).collect();
            cube.iter().for_each(|&(v, value)| masks[v as usize / 2] = mask(value));
            found.push(masks);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns masks without information: slots not in use at `point` are 0.
    pub fn free_slots(&self, point: u32) -> Cube {
        match self.program.points.get(point as usize) {
            Some(_) => self.program.free_slots(point),
            None => std::iter::repeat_n(ZERO, self.program.slots).collect(),
        }
    }

    /// Returns the cubes of a set of local states at `point`; slots not in use are 0. There can be
    /// very many.
    pub fn local_cubes(&self, point: u32, set: &Set, ticker: &mut Ticker<'_>) -> Result<Vec<Cube>, Unknown> {
        let free = self.free_slots(point);
        let mut found = Vec::new();
        set.try_each_cube(&mut |cube| -> Result<(), Unknown> {
            ticker.ticks(CUBE)?;
            let mut masks = free.clone();
            for &(v, value) in cube {
                masks[v as usize / 2 - self.program.shared.len()] = mask(value);
            }
            found.push(masks);
            Ok(())
        })?;
        Ok(found)
    }

    fn can(&self, e: &Expr, look: &dyn Fn(Var) -> Result<[Set; 2], Full>) -> Result<[Set; 2], Full> {
        can(&self.space, e, look)
    }

    /// Returns the positive and the negative literal of a variable of the diagrams.
    pub fn sides(&self, variable: u32) -> Result<[Set; 2], Full> {
        Ok([self.space.literal(variable, true)?, self.space.literal(variable, false)?])
    }

    /// Returns the variable of the diagrams for a variable of the active thread.
    pub fn variable(&self, effect: &Effect, v: Var) -> u32 {
        match v {
            Var::Shared(i) => self.shared(i as usize),
            Var::Local(slot) => self.slot(slot as usize),
            Var::New(i) => self.variable(effect, effect.assigns[i as usize].0) + 1,
            Var::Other(_) | Var::OtherNew(_) => {
                unreachable!("a bystander's variable in the active thread's part")
            }
        }
    }

    fn is_shared(&self, variable: u32) -> bool {
        variable < 2 * self.program.shared.len() as u32
    }

    fn rule(&self, effect: &Effect) -> Result<Rule, Full> {
        let all = self.space.all();
        let mut rule = Parts { shared: all.clone(), local: all.clone(), mixed: all, splice: Vec::new() };
        for conjunct in self.conjuncts(effect)? {
            match (conjunct.shared.is_empty(), conjunct.touches_local) {
                (false, true) => {
                    rule.mixed = rule.mixed.and(&conjunct.set)?;
                    rule.splice.extend(conjunct.shared);
                }
                (false, false) => rule.shared = rule.shared.and(&conjunct.set)?,
                (true, _) => rule.local = rule.local.and(&conjunct.set)?,
            }
        }
        rule.splice.extend(effect.resolve.iter().map(|&v| self.variable(effect, v)));
        rule.splice.sort_unstable();
        rule.splice.dedup();
        let assigned: Vec<u32> = effect.assigns.iter().map(|a| self.variable(effect, a.0)).collect();
        let (shared, local): (Vec<u32>, Vec<u32>) = assigned.iter().partition(|&&v| self.is_shared(v));
        let back = |vs: &[u32]| self.space.renaming(&vs.iter().map(|&v| (v + 1, v)).collect::<Vec<_>>());
        Ok(Rule {
            forget_shared: self.space.to_forget(shared.iter().copied())?,
            forget_local: self.space.to_forget(local.iter().copied())?,
            new_shared: self.space.to_forget(shared.iter().map(|v| v + 1))?,
            rename_shared: back(&shared)?,
            rename_local: back(&local)?,
            shared: rule.shared,
            local: rule.local,
            mixed: rule.mixed,
            splice: rule.splice,
        })
    }

    /// Returns the conditions on the active thread, in parts as small as possible.
    fn conjuncts(&self, effect: &Effect) -> Result<Vec<Conjunct>, Full> {
        let mut found = Vec::new();
        for (guard, value) in &effect.guards {
            for part in parts(guard, *value) {
                found.push(self.condition(effect, part, *value)?);
            }
        }
        for c in &effect.constraints {
            for part in parts(c, true) {
                found.push(self.condition(effect, part, true)?);
            }
        }
        for (place, e) in &effect.assigns {
            let new = self.variable(effect, *place) + 1;
            let [one, zero] = self.can(e, &|v| self.sides(self.variable(effect, v)))?;
            let [is_one, is_zero] = self.sides(new)?;
            let mut conjunct = self.describe(effect, e, is_one.and(&one)?.or(&is_zero.and(&zero)?)?);
            if self.is_shared(new) {
                conjunct.shared.push(new);
            } else {
                conjunct.touches_local = true;
            }
            found.push(conjunct);
        }
        Ok(found)
    }

    fn condition(&self, effect: &Effect, e: &Expr, value: bool) -> Result<Conjunct, Full> {
        let [one, zero] = self.can(e, &|v| self.sides(self.variable(effect, v)))?;
        Ok(self.describe(effect, e, if value { one } else { zero }))
    }

    /// Determines the variables of a conjunct.
    fn describe(&self, effect: &Effect, e: &Expr, set: Set) -> Conjunct {
        let mut conjunct = Conjunct { set, shared: Vec::new(), touches_local: false };
        e.each_var(&mut |v| {
            let variable = self.variable(effect, *v);
            if self.is_shared(variable) {
                conjunct.shared.push(variable);
            } else {
                conjunct.touches_local = true;
            }
        });
        conjunct
    }

    /// Returns the effect of a statement with `$` on a bystander at `point`, if it takes part: a
    /// relation over its slots, once the active thread's variables have the values given by
    /// `known`.
    pub fn other_rule(
        &self,
        effect: &Effect,
        others: &BystanderEffect,
        point: u32,
        known: &dyn Fn(u32) -> bool,
    ) -> Result<Option<OtherRule>, Full> {
        if point as usize >= self.program.points.len() {
            return Ok(None);
        }
        let Some(view) = self.program.view(others, point) else { return Ok(None) };
        let look = |v: Var| match v {
            Var::Other(i) => match view.get(i as usize) {
                Some(&slot) => self.sides(self.slot(slot)),
                None => Ok([self.space.all(), self.space.all()]),
            },
            Var::OtherNew(i) => match view.get(others.assigns[i as usize].0 as usize) {
                Some(&slot) => self.sides(self.slot(slot) + 1),
                None => Ok([self.space.all(), self.space.all()]),
            },
            v => Ok(if known(self.variable(effect, v)) {
                [self.space.all(), self.space.none()]
            } else {
                [self.space.none(), self.space.all()]
            }),
        };
        let mut relation = self.space.all();
        for (guard, value) in &others.guards {
            let [one, zero] = self.can(guard, &look)?;
            relation = relation.and(if *value { &one } else { &zero })?;
        }
        for c in &others.constraints {
            relation = relation.and(&self.can(c, &look)?[0])?;
        }
        let mut assigned = Vec::new();
        for (i, e) in &others.assigns {
            let Some(&slot) = view.get(*i as usize) else { continue };
            let [one, zero] = self.can(e, &look)?;
            let [is_one, is_zero] = self.sides(self.slot(slot) + 1)?;
            relation = relation.and(&is_one.and(&one)?.or(&is_zero.and(&zero)?)?)?;
            assigned.push(self.slot(slot));
        }
        let pairs: Vec<(u32, u32)> = assigned.iter().map(|&v| (v + 1, v)).collect();
        Ok(Some(OtherRule {
            relation,
            forget: self.space.to_forget(assigned)?,
            rename: self.space.renaming(&pairs)?,
        }))
    }
}

/// Returns the sets where `e` can be 1 and where it can be 0; `look` gives those of variables.
fn can(space: &Space, e: &Expr, look: &dyn Fn(Var) -> Result<[Set; 2], Full>) -> Result<[Set; 2], Full> {
    let constant = |v: bool| {
        let (all, none) = (space.all(), space.none());
        if v { [all, none] } else { [none, all] }
    };
    Ok(match e {
        Expr::Const(v) => constant(*v),
        Expr::Any => [space.all(), space.all()],
        Expr::Var(v) => look(*v)?,
        Expr::Not(e) => {
            let [one, zero] = can(space, e, look)?;
            [zero, one]
        }
        Expr::And(es) => es.iter().try_fold(constant(true), |[one, zero], e| {
            let [e1, e0] = can(space, e, look)?;
            Ok([one.and(&e1)?, zero.or(&e0)?])
        })?,
        Expr::Or(es) => es.iter().try_fold(constant(false), |[one, zero], e| {
            let [e1, e0] = can(space, e, look)?;
            Ok([one.or(&e1)?, zero.and(&e0)?])
        })?,
        Expr::Xor(es) => es.iter().try_fold(constant(false), |[one, zero], e| {
            let [e1, e0] = can(space, e, look)?;
            let differ = one.and(&e0)?.or(&zero.and(&e1)?)?;
            Ok([differ, one.and(&e1)?.or(&zero.and(&e0)?)?])
        })?,
        Expr::Conditional(cab) => {
            let [c1, c0] = can(space, &cab[0], look)?;
            let ([a1, a0], [b1, b0]) = (can(space, &cab[1], look)?, can(space, &cab[2], look)?);
            [c1.and(&a1)?.or(&c0.and(&b1)?)?, c1.and(&a0)?.or(&c0.and(&b0)?)?]
        }
    })
}

/// Returns the conjuncts of a condition that must be able to have `value`: `*`s are independent, so
/// each part can be checked by itself.
fn parts(e: &Expr, value: bool) -> Vec<&Expr> {
    match (e, value) {
        (Expr::And(es), true) | (Expr::Or(es), false) => es.iter().flat_map(|e| parts(e, value)).collect(),
        (e, _) => vec![e],
    }
}

struct Parts {
    shared: Set,
    local: Set,
    mixed: Set,
    splice: Vec<u32>,
}

impl Rule {
    /// Returns the shared states after the step, from a relation between before and after.
    pub fn after_shared(&self, relation: &Set) -> Result<Set, Full> {
        relation.forget(&self.forget_shared)?.rename(&self.rename_shared)
    }

    /// Returns the shared states before the step, from a relation between before and after.
    pub fn before_shared(&self, relation: &Set) -> Result<Set, Full> {
        relation.forget(&self.new_shared)
    }

    /// Returns the local states after the step, from a relation between before and after.
    pub fn after_local(&self, relation: &Set) -> Result<Set, Full> {
        relation.forget(&self.forget_local)?.rename(&self.rename_local)
    }
}

/// The effect on a bystander.
pub struct OtherRule {
    relation: Set,
    forget: Variables,
    rename: Renaming,
}

impl OtherRule {
    /// Returns the states that bystanders of `set` may be in afterwards.
    pub fn image(&self, set: &Set) -> Result<Set, Full> {
        set.and_forget(&self.relation, &self.forget)?.rename(&self.rename)
    }
}
