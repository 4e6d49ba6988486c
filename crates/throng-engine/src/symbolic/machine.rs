//! Execution of edges on states (Boom, algorithm 2).
//!
//! The image of (S, L) under an edge is cut into [`Piece`]s, one for each value of the splice
//! variables that S, L and the statement allow. It depends on S, L and the edge only, so it is
//! cached.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::encode::{Encoder, Literal, OtherRule};
use super::registry::{Registry, State, Threads, add, remove_one, size};
use crate::bdd::{Full, Set};
use crate::levels::SizeLimit;
use throng_lang::bp::program::{Coded, Edge, EdgeKind};
use throng_model::Footprint;
use throng_model::partial_order::Reduction;

/// Executes edges.
pub struct Machine<'p> {
    /// Statements as relations.
    pub encoder: Encoder<'p>,
    /// All sets.
    pub registry: Registry,
    keeps_ended: bool,
    reduction: Option<Reduction>,
    footprints: Vec<Footprint>,
    images: FxHashMap<(u32, u32, u32, bool), Rc<Image>>,
    other_rules: FxHashMap<(u32, u32, Vec<bool>), Option<Rc<OtherRule>>>,
    others: FxHashMap<(u32, Vec<bool>, u32), Option<u32>>,
    /// The smallest state left out because of the level.
    pub pruned: Option<u32>,
    /// Edges executed.
    pub fired: u64,
}

/// The image of a set of thread states under an edge.
struct Image {
    pieces: Vec<Piece>,
    /// The shared states from which it can be taken.
    before: Set,
}

/// One cofactor of an image.
struct Piece {
    shared: u32,
    /// The local state of the active thread; `None` if it has ended.
    put: Option<u32>,
    child: Option<u32>,
    /// The values of the splice variables.
    known: Vec<bool>,
}

/// A piece during the cut.
#[derive(Clone)]
struct Cut {
    shared: Set,
    local: Set,
    mixed: Set,
    known: Vec<bool>,
}

impl<'p> Machine<'p> {
    /// Prepares the execution of a program's edges.
    pub fn new(coded: &'p dyn Coded, encoder: Encoder<'p>, reduction: Option<Reduction>) -> Machine<'p> {
        let footprints = match reduction {
            Some(_) => throng_lang::bp::program::access::footprints(coded.program()),
            None => Vec::new(),
        };
        Machine {
            encoder,
            registry: Registry::default(),
            keeps_ended: coded.keeps_ended(),
            reduction,
            footprints,
            images: FxHashMap::default(),
            other_rules: FxHashMap::default(),
            others: FxHashMap::default(),
            pruned: None,
            fired: 0,
        }
    }

    /// Appends the successors of `state`, each with its edge.
    pub fn expand(
        &mut self,
        state: &State,
        size_limit: SizeLimit,
        out: &mut Vec<(u32, State)>,
    ) -> Result<(), Full> {
        let inside = self.is_inside(state);
        if let Some(i) = self.goes_first(state, inside)? {
            return self.expand_thread(state, i, size_limit, out);
        }
        for i in 0..state.threads.len() {
            if self.inside(self.registry.point(state.threads[i].0)) == inside {
                self.expand_thread(state, i, size_limit, out)?;
            }
        }
        Ok(())
    }

    /// Returns whether a thread is inside an atomic section.
    pub fn is_inside(&self, state: &State) -> bool {
        state.threads.iter().any(|e| self.inside(self.registry.point(e.0)))
    }

    fn inside(&self, point: u32) -> bool {
        self.encoder.program.points.get(point as usize).is_some_and(|p| p.inside)
    }

    /// Returns a thread whose steps suffice for the exploration: see
    /// [`throng_model::partial_order`].
    fn goes_first(&mut self, state: &State, inside: bool) -> Result<Option<usize>, Full> {
        if self.reduction.is_none() {
            return Ok(None);
        }
        let threads: Vec<(Footprint, u32)> = state
            .threads
            .iter()
            .map(|&(l, n)| {
                let place = self.registry.point(l);
                let ended = Footprint { place, ..Footprint::default() };
                (self.footprints.get(place as usize).copied().unwrap_or(ended), n)
            })
            .collect();
        for i in 0..threads.len() {
            let first = self.reduction.as_ref().is_some_and(|r| r.goes_first(&threads, i));
            if first && self.inside(threads[i].0.place) == inside && self.always_moves(state, i)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// Returns whether thread `i` can move for every value of the shared variables.
    fn always_moves(&mut self, state: &State, i: usize) -> Result<bool, Full> {
        let l = state.threads[i].0;
        let mut before = self.encoder.space.none();
        let program = self.encoder.program;
        for &edge in &program.points[self.registry.point(l) as usize].edges {
            before = before.or(&self.image(edge, state.shared, l, false)?.before)?;
        }
        Ok(before == *self.registry.shared(state.shared))
    }

    /// Appends the successors by the `i`-th thread.
    fn expand_thread(
        &mut self,
        state: &State,
        i: usize,
        size_limit: SizeLimit,
        out: &mut Vec<(u32, State)>,
    ) -> Result<(), Full> {
        let l = state.threads[i].0;
        let Some(point) = self.encoder.program.points.get(self.registry.point(l) as usize) else {
            return Ok(());
        };
        let mut rest = state.threads.clone();
        remove_one(&mut rest, l);
        for &id in &point.edges {
            let edge = &self.encoder.program.edges[id as usize];
            let creates = edge.child.is_some() && size_limit.bound.is_none_or(|n| size(&state.threads) < n);
            let image = self.image(id, state.shared, l, creates)?;
            for piece in &image.pieces {
                self.fired += 1;
                self.arrive(edge, id, piece, &rest, size_limit, out)?;
            }
        }
        Ok(())
    }

    /// Appends the states that a piece leads to beside `rest`.
    fn arrive(
        &mut self,
        edge: &Edge,
        id: u32,
        piece: &Piece,
        rest: &Threads,
        size_limit: SizeLimit,
        out: &mut Vec<(u32, State)>,
    ) -> Result<(), Full> {
        let total = size(rest) + u32::from(piece.put.is_some()) + u32::from(piece.child.is_some());
        if total > size_limit.level {
            self.pruned = Some(self.pruned.map_or(total, |least| least.min(total)));
            return Ok(());
        }
        let mut outcomes = Vec::new();
        match edge.kind {
            EdgeKind::Plain => outcomes.push(rest.clone()),
            EdgeKind::Passive => outcomes.extend(self.carry(edge, id, piece, rest)?),
            EdgeKind::Broadcast => outcomes.push(self.wake_all(edge, rest)?),
            EdgeKind::Signal => self.wake_one(edge, rest, &mut outcomes)?,
        }
        for mut threads in outcomes {
            piece.put.iter().chain(&piece.child).for_each(|&l| add(&mut threads, l, 1));
            out.push((id, State { shared: piece.shared, threads }));
        }
        Ok(())
    }

    /// Returns where threads at a `wait` go when an edge wakes them.
    fn woken(&mut self, edge: &Edge, l: u32) -> Result<Option<u32>, Full> {
        let (point, set) = self.registry.local(l);
        let Some(to) = self
            .encoder
            .program
            .points
            .get(point as usize)
            .filter(|p| p.condition == edge.condition)
            .and_then(|p| p.woken)
        else {
            return Ok(None);
        };
        let set = self.encoder.at(to, set)?;
        Ok(Some(self.registry.local_id(to, set)))
    }

    fn wake_all(&mut self, edge: &Edge, rest: &Threads) -> Result<Threads, Full> {
        let mut after = Threads::new();
        for &(l, n) in rest {
            let to = self.woken(edge, l)?.unwrap_or(l);
            add(&mut after, to, n);
        }
        Ok(after)
    }

    fn wake_one(&mut self, edge: &Edge, rest: &Threads, outcomes: &mut Vec<Threads>) -> Result<(), Full> {
        for &(l, _) in rest {
            if let Some(to) = self.woken(edge, l)? {
                let mut after = rest.clone();
                remove_one(&mut after, l);
                add(&mut after, to, 1);
                outcomes.push(after);
            }
        }
        if outcomes.is_empty() {
            outcomes.push(rest.clone());
        }
        Ok(())
    }

    /// Applies a statement with `$` to the bystanders; `None` if one of them blocks it.
    fn carry(
        &mut self,
        edge: &Edge,
        id: u32,
        piece: &Piece,
        rest: &Threads,
    ) -> Result<Option<Threads>, Full> {
        let mut after = Threads::new();
        for &(l, n) in rest {
            let key = (id, piece.known.clone(), l);
            let to = match self.others.get(&key) {
                Some(&to) => to,
                None => {
                    let to = self.carry_one(edge, id, &piece.known, l)?;
                    self.others.insert(key, to);
                    to
                }
            };
            let Some(to) = to else { return Ok(None) };
            add(&mut after, to, n);
        }
        Ok(Some(after))
    }

    fn carry_one(&mut self, edge: &Edge, id: u32, known: &[bool], l: u32) -> Result<Option<u32>, Full> {
        let point = self.registry.point(l);
        let key = (id, point, known.to_vec());
        if !self.other_rules.contains_key(&key) {
            let splice = &self.encoder.rule_of(id).splice;
            let value = |v: u32| splice.binary_search(&v).is_ok_and(|i| known[i]);
            let rule = match edge.effect.others.as_deref() {
                Some(others) => self.encoder.other_rule(&edge.effect, others, point, &value)?,
                None => None,
            };
            self.other_rules.insert(key.clone(), rule.map(Rc::new));
        }
        let Some(rule) = self.other_rules[&key].clone() else { return Ok(Some(l)) };
        let after = self.encoder.at(point, &rule.image(self.registry.local(l).1)?)?;
        Ok(if after.is_empty() { None } else { Some(self.registry.local_id(point, after)) })
    }

    fn image(&mut self, edge: u32, shared: u32, local: u32, creates: bool) -> Result<Rc<Image>, Full> {
        let key = (edge, shared, local, creates);
        if let Some(image) = self.images.get(&key) {
            return Ok(image.clone());
        }
        let image = Rc::new(self.compute(edge, shared, local, creates)?);
        self.images.insert(key, image.clone());
        Ok(image)
    }

    fn compute(&mut self, id: u32, shared: u32, local: u32, creates: bool) -> Result<Image, Full> {
        let edge = &self.encoder.program.edges[id as usize];
        let rule = self.encoder.rule_of(id);
        // Without a new thread, its relation to the parent does not matter.
        let splice: &[u32] = if edge.child.is_some() && !creates { &[] } else { &rule.splice };
        let cut = Cut {
            shared: self.registry.shared(shared).and(&rule.shared)?,
            local: self.registry.local(local).1.and(&rule.local)?,
            mixed: rule.mixed.clone(),
            known: Vec::new(),
        };
        let mut cuts = Vec::new();
        self.cut(splice, cut, &mut cuts)?;
        let mut pieces = Vec::new();
        let mut before = self.encoder.space.none();
        for cut in cuts {
            let rule = self.encoder.rule_of(id);
            before = before.or(&rule.before_shared(&cut.shared)?)?;
            let (after, relation) = (rule.after_shared(&cut.shared)?, cut.local);
            let shared = self.registry.shared_id(after);
            let mut shares = vec![relation];
            if let (true, Some(child), Some(to)) = (creates, edge.child, edge.to) {
                shares = self.distinguish(shares.swap_remove(0), to, child)?;
            }
            for relation in shares {
                let after = self.encoder.rule_of(id).after_local(&relation)?;
                let ended = self.encoder.program.points.len() as u32;
                let put = match edge.to {
                    Some(to) => Some((to, self.encoder.at(to, &after)?)),
                    None if self.keeps_ended => Some((ended, self.encoder.space.all())),
                    None => None,
                };
                let child = match edge.child.filter(|_| creates) {
                    Some(child) => Some((child, self.encoder.at(child, &relation)?)),
                    None => None,
                };
                let put = put.map(|(point, set)| self.registry.local_id(point, set));
                let child = child.map(|(point, set)| self.registry.local_id(point, set));
                pieces.push(Piece { shared, put, child, known: cut.known.clone() });
            }
        }
        pieces
            .dedup_by(|a, b| (a.shared, a.put, a.child) == (b.shared, b.put, b.child) && a.known == b.known);
        Ok(Image { pieces, before })
    }

    /// Fixes the splice variables one by one, and drops impossible combinations.
    fn cut(&self, splice: &[u32], cut: Cut, out: &mut Vec<Cut>) -> Result<(), Full> {
        if cut.shared.is_empty() || cut.local.is_empty() || cut.mixed.is_empty() {
            return Ok(());
        }
        let Some((&variable, later)) = splice.split_first() else {
            let local = cut.local.and(&cut.mixed)?;
            if !local.is_empty() {
                out.push(Cut { local, ..cut });
            }
            return Ok(());
        };
        for value in [false, true] {
            let literal: Literal = (variable, value);
            let fixed = self.encoder.space.literal(literal.0, literal.1)?;
            let mut part = cut.clone();
            if variable < self.encoder.slot(0) {
                part.shared = part.shared.and(&fixed)?;
            } else {
                part.local = part.local.and(&fixed)?;
            }
            part.mixed = part.mixed.fix(&fixed)?;
            part.known.push(value);
            self.cut(later, part, out)?;
        }
        Ok(())
    }

    /// Cuts a set of local states until the parts kept by a parent and by its new child are
    /// independent of each other.
    fn distinguish(&self, set: Set, parent: u32, child: u32) -> Result<Vec<Set>, Full> {
        let keeps = |point: u32, slot: usize| self.encoder.keeps(point, slot);
        let mut todo = vec![set];
        let mut found = Vec::new();
        while let Some(set) = todo.pop() {
            if set.is_empty() {
                continue;
            }
            if let Some(variable) = self.open_variable(&set, |s| keeps(parent, s) && keeps(child, s))? {
                todo.push(set.and(&self.encoder.space.literal(variable, true)?)?);
                todo.push(set.and(&self.encoder.space.literal(variable, false)?)?);
                continue;
            }
            let (p, c) = (self.encoder.at(parent, &set)?, self.encoder.at(child, &set)?);
            let both = p.and(&c)?;
            if both.within(&self.encoder.kept_by_either(&set, parent, child)?)? {
                found.push(set);
                continue;
            }
            let Some(variable) = self.open_variable(&set, |s| keeps(child, s))? else {
                found.push(set);
                continue;
            };
            for value in [true, false] {
                todo.push(set.and(&self.encoder.space.literal(variable, value)?)?);
            }
        }
        Ok(found)
    }

    /// Returns the variable of a slot among these that may have either value in `set`.
    fn open_variable(&self, set: &Set, among: impl Fn(usize) -> bool) -> Result<Option<u32>, Full> {
        for slot in (0..self.encoder.program.slots).filter(|&s| among(s)) {
            let [one, zero] = self.encoder.sides(self.encoder.slot(slot))?;
            if set.meets(&one)? && set.meets(&zero)? {
                return Ok(Some(self.encoder.slot(slot)));
            }
        }
        Ok(None)
    }
}
