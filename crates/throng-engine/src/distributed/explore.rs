//! One level, breadth first: round r expands layer r. New configurations are stored at once by
//! their worker. All workers learn of a hit target, or of a reason to stop, one round later, so
//! they all decide the same.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::climb::Position;
use super::part::{CONFIGS, Part, damaged};
use super::rounds::{Send, Task, Turn};
use super::wire::{Link, number, read_bytes, write_bytes};
use super::{Setup, prefer};
use crate::explicit::pack::put;
use crate::explicit::store::Id;
use crate::levels::SizeLimit;
use throng_model::verdict::Unknown;

const HIT: u8 = b'H';
const STOP: u8 = b'S';
const SAVE: u8 = b'V';
const SAVED: u8 = b'O';

/// A hit of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The target.
    pub target: usize,
    /// The layer of the configuration.
    pub layer: usize,
    /// Its link. Of several hits in a layer, the one with the smallest link and worker counts.
    pub link: Link,
    /// The worker that stores it.
    pub worker: usize,
    /// Its id there.
    pub id: Id,
}

/// Keeps the earlier of two hits.
pub fn earliest(known: &mut Option<Hit>, hit: Hit) {
    let key = |hit: &Hit| (hit.layer, hit.link, hit.worker);
    if known.as_ref().is_none_or(|other| key(&hit) < key(other)) {
        *known = Some(hit);
    }
}

/// Expands layer after layer.
pub struct Exploring {
    /// This worker's configurations.
    pub part: Part,
    /// The hit of each target, as far as all workers know it.
    pub hits: Vec<Option<Hit>>,
    /// Why the search stopped, if it did not finish.
    pub stopped: Option<Unknown>,
    /// True if every requested target is decided.
    pub decided: bool,
    /// The last complete layer.
    pub last: usize,
    setup: Arc<Setup>,
    position: Position,
    /// Rounds at whose beginning a state is to be saved, with its number. Worker 0 may be a round
    /// ahead.
    save: Vec<(u64, u64)>,
    /// The number of workers that have saved each state; worker 0 counts. The next state may begin
    /// before the last is complete.
    saved: FxHashMap<u64, usize>,
    size_limit: SizeLimit,
    base: usize,
    /// Hits, with the round from which on all workers know them. Another worker may be a round
    /// ahead.
    fresh: Vec<(u64, Hit)>,
    /// A failure here that the others do not know yet.
    failed: Option<Unknown>,
    begun: Option<u64>,
}

impl Exploring {
    /// Begins with the stored layer `base`, unless storing it failed.
    pub fn new(
        part: Part,
        hits: Vec<Option<Hit>>,
        setup: Arc<Setup>,
        position: Position,
        size_limit: SizeLimit,
        base: usize,
        failed: Option<Unknown>,
    ) -> Exploring {
        Exploring {
            part,
            hits,
            stopped: None,
            decided: false,
            last: base,
            setup,
            position,
            save: Vec::new(),
            saved: FxHashMap::default(),
            size_limit,
            base,
            fresh: Vec::new(),
            failed,
            begun: None,
        }
    }

    /// Applies the hits that all workers know by now.
    pub fn settle(&mut self, round: u64) {
        for (_, hit) in self.fresh.extract_if(.., |(known, _)| *known <= round) {
            earliest(&mut self.hits[hit.target], hit);
        }
    }

    /// Returns whether the search is over.
    fn is_over(&self) -> bool {
        self.decided || self.stopped.is_some()
    }

    /// Begins a round, unless the search is over by what all workers know.
    fn begin(&mut self, round: u64, send: Send<'_>) {
        self.begun = Some(round);
        self.settle(round);
        self.decided = self.setup.is_decided(&self.hits);
        let layer = self.base + round as usize;
        if self.is_over() {
            self.last = layer.saturating_sub(1);
            return;
        }
        self.last = layer;
        self.part.begin_layer(layer);
        self.keep(round, layer, send);
        let Exploring { part, hits, fresh, .. } = self;
        let worker = part.me;
        let judged = part.judge(
            layer,
            |target| hits[target].is_none(),
            |target, id, link| fresh.push((round + 1, Hit { target, layer, link, worker, id })),
        );
        if let Err(why) = judged {
            self.fail(why);
        }
        for (_, hit) in self.fresh.iter().filter(|(_, hit)| hit.worker == worker && hit.layer == layer) {
            let mut message = vec![HIT];
            let numbers = [hit.target, hit.layer, hit.link as usize, hit.worker, hit.id as usize];
            numbers.into_iter().for_each(|n| put(&mut message, n as u64));
            self.to_others(message, send);
        }
    }

    /// Saves the state if that was decided, and decides when to save the next.
    fn keep(&mut self, round: u64, layer: usize, send: Send<'_>) {
        let Some(parts) = self.setup.parts.clone() else { return };
        // Runs are collected at the end of a level; until then, no saved state would contain them.
        let collected =
            self.hits.iter().zip(&self.position.runs).all(|(hit, run)| hit.is_none() || run.is_some());
        let now = self.save.extract_if(.., |save| save.0 == round).last();
        let Exploring { part, position, .. } = self;
        if let Some((_, state)) = now.filter(|_| collected && self.failed.is_none())
            && parts.write(state, part.me, &|file| part.save(position, layer, file))
        {
            let mut message = vec![SAVED];
            put(&mut message, state);
            send(0, message);
        }
        // An empty layer may be the last: a message sent then would cause another round, again and
        // again.
        let continues = self.part.layers[layer] < self.part.layers[layer + 1];
        if self.part.me == 0 && continues && collected && parts.is_due() {
            let mut message = vec![SAVE];
            put(&mut message, self.setup.states.fetch_add(1, Ordering::Relaxed));
            (0..self.part.workers).for_each(|to| send(to, message.clone()));
        }
    }

    fn to_others(&self, message: Vec<u8>, send: Send<'_>) {
        let others = (0..self.part.workers).filter(|&to| to != self.part.me);
        others.for_each(|to| send(to, message.clone()));
    }

    fn fail(&mut self, why: Unknown) {
        self.setup.stop();
        prefer(&mut self.failed, why);
    }

    /// Tells all workers that the search stops after this round.
    fn give_up(&mut self, why: Unknown, send: Send<'_>) -> Turn {
        let mut message = vec![STOP];
        write_why(&why, &mut message);
        self.to_others(message, send);
        prefer(&mut self.stopped, why);
        Turn::Done
    }

    fn read_hit(&self, message: &[u8]) -> Option<Hit> {
        let mut at = 1;
        let mut next = || number(message, &mut at).ok();
        let hit = Hit {
            target: next()? as usize,
            layer: next()? as usize,
            link: next()?.try_into().ok()?,
            worker: next()? as usize,
            id: next()?.try_into().ok()?,
        };
        (hit.target < self.hits.len() && hit.worker < self.part.workers).then_some(hit)
    }
}

impl Task for Exploring {
    fn receive(&mut self, round: u64, message: &[u8]) {
        match message.first() {
            Some(&CONFIGS) if self.is_over() || self.failed.is_some() => {}
            Some(&CONFIGS) => {
                if let Err(why) = self.part.store_all(self.base + round as usize, message) {
                    self.fail(why);
                }
            }
            Some(&HIT) => match self.read_hit(message) {
                Some(hit) => self.fresh.push((round, hit)),
                None => self.fail(damaged()),
            },
            Some(&SAVE) => self.save.extend(number(message, &mut 1).ok().map(|state| (round, state))),
            Some(&SAVED) => {
                let (Ok(state), Some(parts)) = (number(message, &mut 1), &self.setup.parts) else { return };
                let saved = self.saved.entry(state).or_default();
                *saved += 1;
                if *saved == self.part.workers {
                    parts.complete(state, self.part.workers);
                }
            }
            Some(&STOP) => prefer(&mut self.stopped, read_why(&message[1..])),
            _ => self.fail(damaged()),
        }
    }

    fn work(&mut self, round: u64, send: Send<'_>) -> Turn {
        if self.begun != Some(round) {
            self.begin(round, send);
        }
        if self.is_over() {
            return Turn::Done;
        }
        let layer = self.base + round as usize;
        let expanded = match self.failed.take() {
            Some(why) => Err(why),
            None => self.part.expand(layer, self.size_limit, send),
        };
        self.setup.report(&self.part);
        match expanded {
            Ok(true) => Turn::More,
            Ok(false) if self.part.store.end() > self.part.layers[layer + 1] || !self.fresh.is_empty() => {
                Turn::Next
            }
            Ok(false) => Turn::Done,
            Err(why) => {
                self.setup.stop();
                self.give_up(why, send)
            }
        }
    }
}

/// Writes why there is no answer; details that no other process needs are written as text.
pub fn write_why(why: &Unknown, out: &mut Vec<u8>) {
    match why {
        Unknown::Time(limit) => {
            out.push(0);
            put(out, limit.as_millis() as u64);
        }
        Unknown::Memory(limit) => {
            out.push(1);
            put(out, *limit);
        }
        Unknown::Cancelled => out.push(2),
        Unknown::Work => out.push(3),
        why => {
            out.push(4);
            write_bytes(why.to_string().as_bytes(), out);
        }
    }
}

/// Reads why there is no answer.
pub fn read_why(bytes: &[u8]) -> Unknown {
    let mut at = 1;
    let read = match bytes.first() {
        Some(0) => number(bytes, &mut at).map(|ms| Unknown::Time(std::time::Duration::from_millis(ms))),
        Some(1) => number(bytes, &mut at).map(Unknown::Memory),
        Some(2) => Ok(Unknown::Cancelled),
        Some(3) => Ok(Unknown::Work),
        _ => {
            read_bytes(bytes, &mut at).map(|text| Unknown::Inconclusive(String::from_utf8_lossy(text).into()))
        }
    };
    read.unwrap_or_else(|_| damaged())
}
