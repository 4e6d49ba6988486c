//! `plain`: symbolic search without counting and without symmetry, only to compare with (Boom,
//! section 7.1).
//!
//! Threads have numbers 1 … N. A state is a program point for each thread and one decision diagram
//! over the shared variables and *all* threads' variables; so nothing is ever split, and states
//! with the same points merge by themselves. What it answers is right but not backed by evidence,
//! so it is reported as unknown unless asked through [`UncountedSymbolic::search`].

use rustc_hash::FxHashMap;

use throng_engine::bdd::{Full, Renaming, Set, Space, Variables};
use throng_engine::symbolic::watched;
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_lang::bp::program::access::footprints;
use throng_lang::bp::program::expr::{Cube, Expr, FREE, ONE, Var};
use throng_lang::bp::program::live::live_slots;
use throng_lang::bp::program::{Coded, EdgeKind, Program};
use throng_model::limits::Limits;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Config, Footprint};

/// The engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncountedSymbolic {
    /// Partial-order reduction.
    pub por: bool,
}

/// What a plain search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// For each target, whether it can be hit.
    pub hit: Vec<bool>,
    /// Vectors of program points met.
    pub points: u64,
    /// Largest number of diagram nodes.
    pub nodes: u64,
}

impl Algorithm for UncountedSymbolic {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn run(&self, problem: &Problem, limits: &Limits, _watch: &dyn Watch) -> Answer {
        let (why, statistics) = match self.search(problem, limits) {
            Ok(outcome) => {
                let (hit, all) = (outcome.hit.iter().filter(|h| **h).count(), outcome.hit.len());
                let why = format!("plain search hits {hit} of {all} targets, but gives no evidence");
                let mut statistics = Statistics::default();
                statistics.configurations = outcome.points;
                statistics.complete_up_to = problem.bound.threads().filter(|_| hit == 0);
                (Unknown::Inconclusive(why), statistics)
            }
            Err(why) => (why, Statistics::default()),
        };
        let verdicts = problem.targets.iter().map(|_| Verdict::Unknown(why.clone())).collect();
        Answer::new(verdicts, statistics)
    }
}

impl UncountedSymbolic {
    /// Searches all that the problem's bound allows, without stopping at a hit.
    pub fn search(&self, problem: &Problem, limits: &Limits) -> Result<Outcome, Unknown> {
        let (Some(coded), Bound::Threads(bound)) =
            (throng_lang::bp::program::program_of(&*problem.model), problem.bound)
        else {
            return Err(Unknown::NotForThisModel("plain search is for programs with a bound".into()));
        };
        let most = limits.memory_limit().map_or(1 << 26, |b| b / 40).clamp(1 << 12, 1 << 28) as usize;
        let mut nodes = most.min(1 << 18);
        loop {
            let reduction = if self.por { Reduction::of(problem) } else { None };
            match Search::run(problem, coded, bound, nodes, reduction, limits) {
                Ok(outcome) => return Ok(outcome),
                Err(Stop::Limit(why)) => return Err(why),
                Err(Stop::Full) if nodes == most => return Err(Unknown::Memory(most as u64 * 40)),
                Err(Stop::Full) => nodes = nodes.saturating_mul(8).min(most),
            }
        }
    }
}

enum Stop {
    Limit(Unknown),
    Full,
}

impl From<Full> for Stop {
    fn from(_: Full) -> Stop {
        Stop::Full
    }
}

impl From<Unknown> for Stop {
    fn from(why: Unknown) -> Stop {
        Stop::Limit(why)
    }
}

/// Where each thread is; none if it does not exist.
type Points = Vec<Option<u32>>;

struct Search<'p> {
    program: &'p Program,
    problem: &'p Problem,
    coded: &'p dyn Coded,
    space: Space,
    bound: usize,
    reduction: Option<Reduction>,
    footprints: Vec<Footprint>,
    rules: FxHashMap<(u32, usize), Rule>,
    other_rules: FxHashMap<(u32, usize, usize, u32), Option<Set>>,
    /// For each point, the slots that can still matter, as in `symbolic`: a comparison that forgot
    /// them only there would not be fair.
    live: Vec<Vec<bool>>,
    /// For each thread and point, the variables that a thread there does not keep.
    idle: FxHashMap<(usize, u32), Variables>,
}

/// An edge of one thread.
struct Rule {
    relation: Set,
    /// Variables of the diagrams that it assigns.
    assigned: Vec<u32>,
}

impl<'p> Search<'p> {
    fn run(
        problem: &'p Problem,
        coded: &'p dyn Coded,
        bound: u32,
        nodes: usize,
        reduction: Option<Reduction>,
        limits: &Limits,
    ) -> Result<Outcome, Stop> {
        let program = coded.program();
        let variables = 2 * (program.shared.len() + bound as usize * program.slots) as u32;
        let mut search = Search {
            program,
            problem,
            coded,
            space: Space::new(variables.max(1), nodes),
            bound: bound as usize,
            footprints: footprints(program),
            reduction,
            rules: FxHashMap::default(),
            other_rules: FxHashMap::default(),
            live: live_slots(program, &watched(coded, &problem.targets)),
            idle: FxHashMap::default(),
        };
        let mut reached: FxHashMap<Points, Set> = FxHashMap::default();
        let mut frontier: Vec<(Points, Set)> = Vec::new();
        for family in &problem.initial {
            for size in 0..=bound {
                for config in family.of_size(size) {
                    frontier.push(search.start(&config)?);
                }
            }
        }
        for (points, set) in &frontier {
            search.include(&mut reached, points, set)?;
        }
        while !frontier.is_empty() {
            let mut after: FxHashMap<Points, Set> = FxHashMap::default();
            for (points, set) in &frontier {
                limits.check()?;
                for (points, image) in search.images(points, set)? {
                    let new = match reached.get(&points) {
                        Some(there) => image.minus(there)?,
                        None => image,
                    };
                    if !new.is_empty() {
                        search.include(&mut reached, &points, &new)?;
                        search.include(&mut after, &points, &new)?;
                    }
                }
            }
            frontier = after.into_iter().collect();
            frontier.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        }
        let hit = search.hits(&reached)?;
        Ok(Outcome { hit, points: reached.len() as u64, nodes: search.space.nodes() as u64 })
    }

    fn include(&self, states: &mut FxHashMap<Points, Set>, points: &Points, set: &Set) -> Result<(), Full> {
        let all = match states.get(points) {
            Some(there) => there.or(set)?,
            None => set.clone(),
        };
        states.insert(points.clone(), all);
        Ok(())
    }

    fn shared(&self, i: usize) -> u32 {
        2 * i as u32
    }

    /// Copies of a slot lie side by side, so that threads that agree give small diagrams.
    fn slot(&self, thread: usize, slot: usize) -> u32 {
        2 * (self.program.shared.len() + slot * self.bound + thread) as u32
    }

    fn cube(&self, masks: &Cube, variable: impl Fn(usize) -> u32) -> Result<Set, Full> {
        let fixed = masks.iter().enumerate().filter(|m| *m.1 != FREE);
        self.space.cube(fixed.map(|(i, &m)| (variable(i), m == ONE)))
    }

    /// Forgets what a thread at its point will never need.
    fn forget_dead(&mut self, set: Set, thread: usize, point: Option<u32>) -> Result<Set, Full> {
        let Some(point) = point else { return Ok(set) };
        if !self.idle.contains_key(&(thread, point)) {
            // A thread that has ended needs nothing.
            let live = self.live.get(point as usize);
            let used = if live.is_some() { self.program.used_slots(point) } else { 0 };
            let keeps = |slot: usize| slot < used && live.is_some_and(|live| live[slot]);
            let dead =
                (0..self.program.slots).filter(|&slot| !keeps(slot)).map(|slot| self.slot(thread, slot));
            let dead = self.space.to_forget(dead.collect::<Vec<_>>())?;
            self.idle.insert((thread, point), dead);
        }
        set.forget(&self.idle[&(thread, point)])
    }

    fn start(&mut self, config: &Config) -> Result<(Points, Set), Full> {
        let mut points: Points = vec![None; self.bound];
        let mut set = self.cube(&self.coded.shared_cube(config.shared).1, |i| self.shared(i))?;
        let locals = config.threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l));
        for (thread, l) in locals.enumerate() {
            let (point, masks) = self.coded.local_cube(l);
            points[thread] = Some(point);
            set = set.and(&self.cube(&masks, |s| self.slot(thread, s))?)?;
            set = self.forget_dead(set, thread, Some(point))?;
        }
        Ok((points, set))
    }

    fn inside(&self, point: Option<u32>) -> bool {
        point.is_some_and(|p| self.program.points.get(p as usize).is_some_and(|p| p.inside))
    }

    fn images(&mut self, points: &Points, set: &Set) -> Result<Vec<(Points, Set)>, Full> {
        let inside = points.iter().any(|&p| self.inside(p));
        let able = |s: &Self, t: usize| points[t].is_some() && s.inside(points[t]) == inside;
        let mut out = Vec::new();
        if let Some(first) = self.goes_first(points, set, inside)? {
            self.thread_images(points, set, first, &mut out)?;
            return Ok(out);
        }
        for thread in 0..self.bound {
            if able(self, thread) {
                self.thread_images(points, set, thread, &mut out)?;
            }
        }
        Ok(out)
    }

    fn goes_first(&mut self, points: &Points, set: &Set, inside: bool) -> Result<Option<usize>, Full> {
        if self.reduction.is_none() {
            return Ok(None);
        }
        let there: Vec<usize> = (0..self.bound).filter(|&t| points[t].is_some()).collect();
        let footprint = |&t: &usize| {
            let place = points[t].unwrap_or_default();
            let ended = Footprint { place, ..Footprint::default() };
            (self.footprints.get(place as usize).copied().unwrap_or(ended), 1)
        };
        let threads: Vec<(Footprint, u32)> = there.iter().map(footprint).collect();
        for (i, &t) in there.iter().enumerate() {
            let first = self.reduction.as_ref().is_some_and(|r| r.goes_first(&threads, i));
            if first && self.inside(points[t]) == inside && self.always_moves(points, set, t)? {
                return Ok(Some(t));
            }
        }
        Ok(None)
    }

    /// Whether `thread` can move whatever the others and the shared variables are, for some value
    /// of its own.
    fn always_moves(&mut self, points: &Points, set: &Set, thread: usize) -> Result<bool, Full> {
        let Some(point) = points[thread].and_then(|p| self.program.points.get(p as usize)) else {
            return Ok(false);
        };
        let own = self.space.to_forget((0..self.program.slots).map(|s| self.slot(thread, s)))?;
        let mut able = self.space.none();
        for &e in &point.edges {
            let rule = self.rule(e, thread)?;
            let (relation, new) =
                (rule.relation.clone(), rule.assigned.iter().map(|v| v + 1).collect::<Vec<_>>());
            let new = self.space.to_forget(new)?;
            able = able.or(&set.and_forget(&relation, &new)?)?;
        }
        Ok(able.forget(&own)? == set.forget(&own)?)
    }

    fn thread_images(
        &mut self,
        points: &Points,
        set: &Set,
        thread: usize,
        out: &mut Vec<(Points, Set)>,
    ) -> Result<(), Full> {
        let program = self.program;
        let Some(point) = points[thread].and_then(|p| program.points.get(p as usize)) else { return Ok(()) };
        for &id in &point.edges {
            let edge = &program.edges[id as usize];
            let rule = self.rule(id, thread)?;
            let (mut pairs, mut assigned) = (set.and(&rule.relation)?, rule.assigned.clone());
            let mut after = points.clone();
            let ended = self.coded.keeps_ended().then_some(program.points.len() as u32);
            after[thread] = edge.to.or(ended);
            let free = points.iter().position(|p| p.is_none());
            if let (Some(child), Some(free)) = (edge.child, free) {
                after[free] = Some(child);
                pairs = pairs.and(&self.copy(thread, free)?)?;
            }
            if edge.kind == EdgeKind::Passive {
                for other in (0..self.bound).filter(|&o| o != thread) {
                    let Some(point) = points[other] else { continue };
                    if let Some(relation) = self.other_rule(id, thread, other, point)? {
                        pairs = pairs.and(&relation)?;
                        assigned.extend(self.other_assigned(id, other, point));
                    }
                }
            }
            if pairs.is_empty() {
                continue;
            }
            let mut image = self.finish(&pairs, &assigned, edge.to.is_none().then_some(thread))?;
            image = self.forget_dead(image, thread, after[thread])?;
            if let Some(free) = free {
                image = self.forget_dead(image, free, after[free])?;
            }
            match edge.kind {
                EdgeKind::Plain | EdgeKind::Passive => out.push((after, image)),
                EdgeKind::Broadcast => {
                    let woken = after
                        .iter()
                        .enumerate()
                        .map(|(t, &p)| self.woken(edge.condition, p).filter(|_| t != thread).or(p));
                    out.push((woken.collect(), image));
                }
                EdgeKind::Signal => {
                    let waiting: Vec<usize> = (0..self.bound)
                        .filter(|&t| t != thread && self.woken(edge.condition, after[t]).is_some())
                        .collect();
                    for &t in &waiting {
                        let mut one = after.clone();
                        one[t] = self.woken(edge.condition, after[t]);
                        out.push((one, image.clone()));
                    }
                    if waiting.is_empty() {
                        out.push((after, image));
                    }
                }
            }
        }
        Ok(())
    }

    fn woken(&self, condition: u32, point: Option<u32>) -> Option<u32> {
        self.program.points.get(point? as usize).filter(|p| p.condition == condition)?.woken
    }

    /// Forgets old values, renames new ones; a thread that is `gone` leaves zeros, so that equal
    /// states are equal.
    fn finish(&self, pairs: &Set, assigned: &[u32], gone: Option<usize>) -> Result<Set, Full> {
        let forget: Variables = self.space.to_forget(assigned.iter().copied())?;
        let back: Renaming =
            self.space.renaming(&assigned.iter().map(|&v| (v + 1, v)).collect::<Vec<_>>())?;
        let image = pairs.forget(&forget)?.rename(&back)?;
        let Some(thread) = gone else { return Ok(image) };
        let slots: Vec<u32> = (0..self.program.slots).map(|s| self.slot(thread, s)).collect();
        image.forget(&self.space.to_forget(slots)?)
    }

    /// The child has its parent's variables.
    fn copy(&self, parent: usize, child: usize) -> Result<Set, Full> {
        (0..self.program.slots).try_fold(self.space.all(), |all, slot| {
            let (p, c) = (self.sides(self.slot(parent, slot))?, self.sides(self.slot(child, slot))?);
            all.and(&p[0].and(&c[0])?.or(&p[1].and(&c[1])?)?)
        })
    }

    fn sides(&self, variable: u32) -> Result<[Set; 2], Full> {
        Ok([self.space.literal(variable, true)?, self.space.literal(variable, false)?])
    }

    fn rule(&mut self, id: u32, thread: usize) -> Result<&Rule, Full> {
        if !self.rules.contains_key(&(id, thread)) {
            let effect = &self.program.edges[id as usize].effect;
            let look = |v: Var| self.sides(self.active(id, thread, v));
            let mut relation = self.space.all();
            for (e, value) in &effect.guards {
                relation = relation.and(&self.can(e, &look)?[usize::from(!value)])?;
            }
            for e in &effect.constraints {
                relation = relation.and(&self.can(e, &look)?[0])?;
            }
            let mut assigned = Vec::new();
            for (place, e) in &effect.assigns {
                let variable = self.active(id, thread, *place);
                relation = relation.and(&self.assigned(variable, e, &look)?)?;
                assigned.push(variable);
            }
            self.rules.insert((id, thread), Rule { relation, assigned });
        }
        Ok(&self.rules[&(id, thread)])
    }

    fn assigned(
        &self,
        variable: u32,
        e: &Expr,
        look: &dyn Fn(Var) -> Result<[Set; 2], Full>,
    ) -> Result<Set, Full> {
        let ([one, zero], [is_one, is_zero]) = (self.can(e, look)?, self.sides(variable + 1)?);
        is_one.and(&one)?.or(&is_zero.and(&zero)?)
    }

    fn active(&self, id: u32, thread: usize, v: Var) -> u32 {
        match v {
            Var::Shared(i) => self.shared(i as usize),
            Var::Local(slot) => self.slot(thread, slot as usize),
            Var::New(i) => {
                self.active(id, thread, self.program.edges[id as usize].effect.assigns[i as usize].0) + 1
            }
            Var::Other(_) | Var::OtherNew(_) => {
                unreachable!("a bystander's variable in the active thread's part")
            }
        }
    }

    fn other_assigned(&self, id: u32, other: usize, point: u32) -> Vec<u32> {
        let Some(others) = self.program.edges[id as usize].effect.others.as_deref() else {
            return Vec::new();
        };
        let Some(view) = self.view(id, point) else { return Vec::new() };
        let slots = others.assigns.iter().filter_map(|a| view.get(a.0 as usize));
        slots.map(|&slot| self.slot(other, slot)).collect()
    }

    fn view(&self, id: u32, point: u32) -> Option<Vec<usize>> {
        let others = self.program.edges[id as usize].effect.others.as_deref()?;
        self.program.points.get(point as usize)?;
        self.program.view(others, point)
    }

    fn other_rule(&mut self, id: u32, thread: usize, other: usize, point: u32) -> Result<Option<Set>, Full> {
        let key = (id, thread, other, point);
        if let Some(known) = self.other_rules.get(&key) {
            return Ok(known.clone());
        }
        let relation = match (self.program.edges[id as usize].effect.others.as_deref(), self.view(id, point))
        {
            (Some(others), Some(view)) => {
                let both = || Ok([self.space.all(), self.space.all()]);
                let look = |v: Var| match v {
                    Var::Other(i) => {
                        view.get(i as usize).map_or_else(both, |&s| self.sides(self.slot(other, s)))
                    }
                    Var::OtherNew(i) => view
                        .get(others.assigns[i as usize].0 as usize)
                        .map_or_else(both, |&s| self.sides(self.slot(other, s) + 1)),
                    v => self.sides(self.active(id, thread, v)),
                };
                let mut relation = self.space.all();
                for (e, value) in &others.guards {
                    relation = relation.and(&self.can(e, &look)?[usize::from(!value)])?;
                }
                for e in &others.constraints {
                    relation = relation.and(&self.can(e, &look)?[0])?;
                }
                for (i, e) in &others.assigns {
                    let Some(&slot) = view.get(*i as usize) else { continue };
                    relation = relation.and(&self.assigned(self.slot(other, slot), e, &look)?)?;
                }
                Some(relation)
            }
            _ => None,
        };
        self.other_rules.insert(key, relation.clone());
        Ok(relation)
    }

    fn can(&self, e: &Expr, look: &dyn Fn(Var) -> Result<[Set; 2], Full>) -> Result<[Set; 2], Full> {
        throng_engine::symbolic::can(&self.space, e, look)
    }

    fn hits(&self, reached: &FxHashMap<Points, Set>) -> Result<Vec<bool>, Full> {
        let mut hit = vec![false; self.problem.targets.len()];
        for (points, set) in reached {
            let inside = points.iter().any(|&p| self.inside(p));
            for (target, hit) in self.problem.targets.iter().zip(&mut hit).filter(|h| !*h.1) {
                for bad in &target.configs {
                    let (flag, masks) = self.coded.shared_cube(bad.shared);
                    if flag == inside && !*hit {
                        let shared = set.and(&self.cube(&masks, |i| self.shared(i))?)?;
                        let wanted: Vec<(u32, Cube)> = bad
                            .threads
                            .entries()
                            .iter()
                            .flat_map(|&(l, n)| (0..n).map(move |_| l))
                            .map(|l| self.coded.local_cube(l))
                            .collect();
                        *hit = self.place(points, &wanted, shared, &mut vec![false; self.bound])?;
                    }
                }
            }
        }
        Ok(hit)
    }

    /// Whether each wanted thread can be found among those not yet used.
    fn place(
        &self,
        points: &Points,
        wanted: &[(u32, Cube)],
        set: Set,
        used: &mut [bool],
    ) -> Result<bool, Full> {
        if set.is_empty() {
            return Ok(false);
        }
        let Some(((point, masks), later)) = wanted.split_first() else { return Ok(true) };
        for t in 0..self.bound {
            if used[t] || points[t] != Some(*point) {
                continue;
            }
            used[t] = true;
            let part = set.and(&self.cube(masks, |s| self.slot(t, s))?)?;
            if self.place(points, later, part, used)? {
                return Ok(true);
            }
            used[t] = false;
        }
        Ok(false)
    }
}
