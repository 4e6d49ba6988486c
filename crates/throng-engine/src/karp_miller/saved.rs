//! Saving and resuming a search, as numbers ([`crate::checkpoint`]).
//!
//! Nodes refer to steps by number, so steps are compiled again in the same order. The antichain
//! consists of the nodes that no other dominates; its answers do not depend on how it lists them.
//! The path consists of the nodes of the frames.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::antichain::Antichain;
use super::search::{Frame, Search};
use super::steps::{Led, Steps};
use super::tree::{NONE, Node, NodeId, Tree};
use super::vector::{Entry, Signature};
use crate::checkpoint::{Damaged, Reader, Writer};
use crate::{Occupied, TreeStatistics};
use throng_model::{Local, Shared};

/// Stands for the local state of steps that take no thread.
const NO_LEADER: u32 = u32::MAX;

impl Search<'_> {
    /// Writes the state between two steps; `states` is the model's export of its states.
    pub fn write(&self, states: &[u8], out: &mut Writer<'_>) {
        out.bytes(states);
        self.steps.write(out);
        self.tree.write(out);
        let TreeStatistics { accelerations, dropped, antichain_peak, .. } = self.statistics;
        let (comparisons, looked_at) = (self.antichain.comparisons(), self.antichain.looked_at());
        let numbers = [accelerations, dropped, antichain_peak, comparisons, looked_at, self.fired];
        numbers.into_iter().for_each(|n| out.number(n));
        self.occupied.write(out);
        out.count(self.frames.len());
        for &Frame { node, pass, leader, at, end } in &self.frames {
            out.number(node);
            out.number(pass);
            out.count(leader);
            out.number(at);
            out.number(end);
        }
        out.count(self.families);
        out.option(self.unjudged);
        out.traces(&self.traces);
        self.uncountable.iter().for_each(|&hit| out.number(hit));
    }

    /// Restores the state that another process wrote into a search that has not begun.
    pub fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        let states = input.bytes()?;
        if !self.problem.model.persist().is_some_and(|p| p.import_states(&states)) {
            return Err(Damaged);
        }
        self.steps.read(input)?;
        self.tree = Tree::read(&self.steps, self.problem.initial.len(), input)?;
        let mut number = || input.number();
        self.statistics.accelerations = number()?;
        self.statistics.dropped = number()?;
        self.statistics.antichain_peak = number()?;
        let (comparisons, looked_at) = (number()?, number()?);
        self.fired = number()?;
        self.occupied = Occupied::read(input)?;
        self.antichain = Antichain::of_earlier(&self.tree, &self.steps, comparisons, looked_at);
        self.ticked = looked_at;
        for _ in 0..input.count()? {
            let node = input.below(self.tree.len())?;
            let leaders = self.tree.counts(node).len() + 2;
            let (pass, leader) = (input.below(2)? as u8, input.below(leaders)? as usize);
            let end = self.steps.compiled.len() + 1;
            let (at, end) = (input.below(end)?, input.below(end)?);
            if at > end {
                return Err(Damaged);
            }
            self.path.push(&self.tree, node);
            self.frames.push(Frame { node, pass, leader, at, end });
        }
        self.families = input.below(self.problem.initial.len() + 1)? as usize;
        self.unjudged = input.option()?;
        if self.unjudged.is_some_and(|node| node as usize >= self.tree.len()) {
            return Err(Damaged);
        }
        self.traces = input.traces(self.traces.len())?;
        self.uncountable.iter_mut().try_for_each(|hit| input.flag().map(|read| *hit = read))
    }
}

impl Steps {
    fn write(&self, out: &mut Writer<'_>) {
        out.count(self.listing.shared.values().len());
        self.listing.shared.values().iter().for_each(|s| out.number(s.0));
        out.count(self.listing.locals.values().len());
        for (id, l) in self.listing.locals.values().iter().enumerate() {
            out.number(l.0);
            let above = self.above(id as u32);
            out.count(above.len());
            above.iter().for_each(|&a| out.number(a));
        }
        let alone = self.alone.iter().map(|(&s, &led)| (led, s, NO_LEADER));
        let led = self.led.iter().map(|(&(s, l), &led)| (led, s, l));
        let mut compiled: Vec<(Led, u32, u32)> = alone.chain(led).collect();
        compiled.sort_unstable_by_key(|&(led, s, l)| (led.start, led.end, s, l));
        out.count(compiled.len());
        for (_, s, l) in compiled {
            out.number(s);
            out.option(Some(l).filter(|&l| l != NO_LEADER));
        }
        out.number(self.fingerprint());
    }

    fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        let same = |id: u32, wanted: usize| if id as usize == wanted { Ok(()) } else { Err(Damaged) };
        let shared = input.count()?;
        for i in 0..shared {
            same(self.shared_id(Shared(input.number()?)), i)?;
        }
        let locals = input.count()?;
        for i in 0..locals {
            let state = Local(input.number()?);
            let above = input.count()?;
            let above = (0..above).map(|_| input.below(locals)).collect::<Result<Vec<u32>, _>>()?;
            same(self.listing.locals.intern(state).0, i)?;
            if let Some(order) = &mut self.order {
                order.add_known(&*self.listing.model, state, above);
            }
        }
        if let Some(order) = &mut self.order {
            order.index_below();
        }
        for _ in 0..input.count()? {
            let s = input.below(shared)?;
            match input.option()? {
                None => _ = self.without_leader(s),
                Some(l) if (l as usize) < locals => _ = self.led_by(s, l),
                Some(_) => return Err(Damaged),
            }
        }
        // The fingerprint shows whether the numbers of steps mean the same.
        if input.number()? == self.fingerprint() { Ok(()) } else { Err(Damaged) }
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for step in &self.compiled {
            (step.from, step.to, &step.take[..], &step.give[..]).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Tree {
    fn write(&self, out: &mut Writer<'_>) {
        out.count(self.len());
        for node in self.nodes() {
            out.number(node.shared);
            out.option(Some(node.parent).filter(|&p| p != NONE));
            out.number(node.step);
            out.number(node.dominated);
            out.pairs(&node.counts);
            out.count(node.pumped.len());
            node.pumped.iter().for_each(|&n| out.number(n));
        }
    }

    fn read(steps: &Steps, families: usize, input: &mut Reader<'_>) -> Result<Tree, Damaged> {
        let mut tree = Tree::default();
        for id in 0..input.count()? {
            let shared = input.below(steps.listing.shared.values().len())?;
            let parent = input.option()?.unwrap_or(NONE);
            let step = input.below(if parent == NONE { families } else { steps.compiled.len() })?;
            if parent != NONE && parent as usize >= id {
                return Err(Damaged);
            }
            let dominated = input.flag()?;
            let counts: Vec<Entry> = input.pairs()?;
            let sorted = counts.windows(2).all(|w| w[0].0 < w[1].0);
            if !sorted || counts.last().is_some_and(|e| e.0 as usize >= steps.listing.locals.values().len()) {
                return Err(Damaged);
            }
            let plain = Signature::of(&counts);
            let pumped = input.count()?;
            tree.push(Node {
                shared,
                parent,
                step,
                signature: steps.signature(plain, &counts),
                plain,
                counts: counts.into(),
                pumped: (0..pumped).map(|_| input.below(id)).collect::<Result<Box<[NodeId]>, _>>()?,
                dominated,
            });
        }
        Ok(tree)
    }
}
