//! One worker's part of the configurations: a packed store, as in `explicit`, of those whose hash
//! belongs to this worker.
//!
//! Instead of its predecessor's id, a record keeps the predecessor's link ([`super::wire::Link`]).
//! That needs no more bytes, does not depend on how many workers there are, and is enough to find
//! the predecessor again: it is in the previous layer, at the worker that the link names, and has a
//! step to here.

use std::sync::Arc;

use super::rounds::Send;
use super::wire::{Damaged, Hashes, Known, Link, Translation, owner};
use crate::Occupied;
use crate::explicit::batch::{Batch, Filling, check_growth};
use crate::explicit::pack::{Packer, Unpacked};
use crate::explicit::steps::{Scratch, Sink, Steps};
use crate::explicit::store::{self, Id, ROOT, Store};
use crate::explicit::targets::Targets;
use crate::levels::{Levels, SizeLimit};
use throng_model::Config;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;

/// Number of successors that are collected before they are stored.
const BATCH: usize = 256;

/// Size of a message in bytes.
const MESSAGE: usize = 1 << 15;

/// The configurations of a worker.
pub struct Part {
    /// The question.
    pub problem: Arc<Problem>,
    /// The number of this worker.
    pub me: usize,
    /// The number of workers.
    pub workers: usize,
    /// The steps of the model, and the numbering of states.
    pub steps: Steps,
    /// The configurations.
    pub store: Store,
    /// The beginning of each layer in the store; the last one may not have begun.
    pub layers: Vec<usize>,
    /// The number of configurations stored when each layer began.
    pub counts: Vec<u64>,
    /// New configurations that may hit a target and have not been checked.
    pub suspects: Vec<Id>,
    /// Steps fired, over all levels.
    pub fired: u64,
    /// Number of local states that configurations occupy, over all levels.
    pub occupied: Occupied,
    /// The smallest configuration that this level left out.
    pub pruned: Option<u32>,
    /// Bytes sent to other workers.
    pub bytes_sent: u64,
    /// Configurations sent to other workers.
    pub configs_sent: u64,
    /// The result of [`Part::states_met`] in earlier processes.
    pub met_before: [Vec<u64>; 2],
    limits: Limits,
    hashes: Hashes,
    peers: Vec<Peer>,
    next: usize,
    scratch: Scratch,
    batch: Batch,
    packer: Packer,
    incoming: Unpacked,
}

/// The view that this worker has of another one.
#[derive(Default)]
struct Peer {
    known: Known,
    translation: Translation,
    /// Configurations to send.
    outgoing: Outgoing,
}

#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    count: u64,
}

impl Outgoing {
    fn push(&mut self, link: Link, may_hit: bool, packed: &[u8]) {
        self.bytes.extend_from_slice(&link.to_le_bytes());
        self.bytes.push(may_hit.into());
        self.bytes.extend_from_slice(packed);
        self.count += 1;
    }
}

impl Part {
    /// Creates an empty part.
    pub fn new(problem: Arc<Problem>, me: usize, workers: usize, limits: Limits) -> Part {
        let targets = Targets::new(problem.model.clone(), &problem.targets);
        Part {
            steps: Steps::new(problem.model.clone(), targets, None),
            problem,
            me,
            workers,
            store: Store::default(),
            layers: Vec::new(),
            counts: Vec::new(),
            suspects: Vec::new(),
            fired: 0,
            occupied: Occupied::default(),
            pruned: None,
            bytes_sent: 0,
            configs_sent: 0,
            met_before: Default::default(),
            limits,
            hashes: Hashes::default(),
            peers: (0..workers).map(|_| Peer::default()).collect(),
            next: 0,
            scratch: Scratch::default(),
            batch: Batch::new(1),
            packer: Packer::default(),
            incoming: Unpacked::default(),
        }
    }

    /// Removes all configurations.
    pub fn clear(&mut self) {
        self.store.clear();
        self.layers.clear();
        self.counts.clear();
    }

    /// Stores the initial configurations of this worker after level `below` and up to `level`, as
    /// layer `layer`.
    pub fn start(&mut self, below: Option<u32>, level: u32, layer: usize) -> Result<(), Unknown> {
        self.limits.check()?;
        self.open_layer(layer);
        self.suspects.clear();
        self.pruned = None;
        let (problem, limits) = (self.problem.clone(), self.limits.clone());
        let mut ticker = Ticker::new(&limits);
        Levels::new(&problem).starts(below, level, &mut |config| {
            ticker.tick()?;
            let config = self.unpacked(&config);
            if owner(self.hashes.link(&config), self.workers) == self.me {
                let packed = self.packer.pack(config.shared, &config.entries);
                self.suspects.extend(self.store.insert(packed, store::hash(packed), ROOT)?);
            }
            Ok(())
        })
    }

    /// Begins to store a layer: later configurations belong to it or a later one. Skipped layers
    /// are empty.
    pub fn open_layer(&mut self, layer: usize) {
        while self.layers.len() <= layer {
            self.layers.push(self.store.end());
            self.counts.push(self.store.len() as u64);
        }
    }

    /// Begins to expand a layer, which is complete.
    pub fn begin_layer(&mut self, layer: usize) {
        self.hashes.extend(&*self.problem.model, &self.steps);
        self.open_layer(layer + 1);
        self.next = self.layers[layer];
    }

    /// Expands some configurations of the current layer. Returns whether there are more.
    pub fn expand(&mut self, layer: usize, size_limit: SizeLimit, send: Send<'_>) -> Result<bool, Unknown> {
        self.limits.check()?;
        let limits = self.limits.clone();
        let mut ticker = Ticker::new(&limits);
        let end = self.layers[layer + 1];
        // After a few batches, messages are received.
        for _ in 0..8 {
            self.expand_batch(end, size_limit, &mut ticker)?;
        }
        let more = self.next < end;
        self.send(send, !more);
        Ok(more)
    }

    fn expand_batch(
        &mut self,
        end: usize,
        size_limit: SizeLimit,
        ticker: &mut Ticker<'_>,
    ) -> Result<(), Unknown> {
        self.batch.clear();
        let mut at = self.next;
        while at < end && self.batch.len() < BATCH {
            ticker.tick()?;
            let length = self.scratch.config.read(self.store.packed(at as Id));
            let work = self.steps.prepare(&mut self.scratch);
            ticker.ticks(work)?;
            self.hashes.extend(&*self.problem.model, &self.steps);
            let mut sink = Routing {
                me: self.me,
                hashes: &self.hashes,
                peers: &mut self.peers,
                config: &mut self.incoming,
                here: Filling {
                    batch: &mut self.batch,
                    parent: self.hashes.link(&self.scratch.config),
                    ticker,
                    bytes: 0,
                },
            };
            let fired = self.steps.expand(&mut self.scratch, size_limit, &mut sink)?;
            self.batch.fired += fired;
            self.batch.occupied.count(self.scratch.config.entries.len());
            at = Store::after(at as Id, length);
        }
        self.hashes.extend(&*self.problem.model, &self.steps);
        check_growth(self.store.growth(self.batch.len()), &self.limits)?;
        self.batch.store_part(0, &mut self.store, &mut self.suspects)?;
        self.next = at;
        self.fired += self.batch.fired;
        self.occupied.add(self.batch.occupied);
        self.pruned = [self.pruned, self.batch.pruned].into_iter().flatten().min();
        Ok(())
    }

    /// Sends waiting configurations: all of them, or only full messages.
    fn send(&mut self, send: Send<'_>, all: bool) {
        for (to, peer) in self.peers.iter_mut().enumerate() {
            let waiting = peer.outgoing.bytes.len();
            if waiting == 0 || !all && waiting < MESSAGE {
                continue;
            }
            let mut message = vec![CONFIGS];
            message.extend_from_slice(&(self.me as u32).to_le_bytes());
            peer.known.write_new(&*self.problem.model, &self.steps, &mut message);
            message.append(&mut peer.outgoing.bytes);
            self.configs_sent += std::mem::take(&mut peer.outgoing.count);
            self.bytes_sent += message.len() as u64;
            send(to, message);
        }
    }

    /// Stores the new configurations of a message, as part of this layer.
    pub fn store_all(&mut self, layer: usize, message: &[u8]) -> Result<(), Unknown> {
        self.open_layer(layer);
        let stored = self.each_received(message, |part, link, may_hit| {
            check_growth(part.store.growth(1), &part.limits)?;
            let packed = part.packer.pack(part.incoming.shared, &part.incoming.entries);
            let new = part.store.insert(packed, store::hash(packed), link)?;
            part.suspects.extend(new.filter(|_| may_hit));
            Ok(())
        });
        stored.unwrap_or_else(|Damaged| Err(damaged()))
    }

    /// Stores a configuration that was packed with other numbers, if it belongs here. Returns its
    /// id if it is new.
    pub fn store_translated(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        translation: &Translation,
        link: Link,
    ) -> Result<Result<Option<Id>, Unknown>, Damaged> {
        translation.read(bytes, at, &mut self.incoming)?;
        self.hashes.extend(&*self.problem.model, &self.steps);
        if owner(self.hashes.link(&self.incoming), self.workers) != self.me {
            return Ok(Ok(None));
        }
        let packed = self.packer.pack(self.incoming.shared, &self.incoming.entries);
        Ok(self.store.insert(packed, store::hash(packed), link))
    }

    /// Returns a configuration of a message that is not stored, if there is one.
    pub fn find_missing(&mut self, message: &[u8]) -> Result<Option<Config>, Unknown> {
        let mut missing = None;
        let looked = self.each_received(message, |part, _, _| {
            if missing.is_none() && !part.holds_incoming() {
                missing = Some(part.steps.config(&part.incoming));
            }
            Ok(())
        });
        looked.unwrap_or_else(|Damaged| Err(damaged()))?;
        Ok(missing)
    }

    /// Calls `see` for each configuration of a message, which is then in `incoming`, with its link
    /// and whether it may hit a target.
    fn each_received(
        &mut self,
        message: &[u8],
        mut see: impl FnMut(&mut Part, Link, bool) -> Result<(), Unknown>,
    ) -> Result<Result<(), Unknown>, Damaged> {
        let mut at = 1;
        let from = u32::from_le_bytes(*message.get(at..).and_then(<[u8]>::first_chunk).ok_or(Damaged)?);
        at += 4;
        let peer = self.peers.get_mut(from as usize).ok_or(Damaged)?;
        let mut translation = std::mem::take(&mut peer.translation);
        translation.read_new(&*self.problem.model, &mut self.steps, message, &mut at)?;
        while at < message.len() {
            let link = u32::from_le_bytes(*message[at..].first_chunk().ok_or(Damaged)?);
            let may_hit = *message.get(at + 4).ok_or(Damaged)? != 0;
            at += 5;
            translation.read(message, &mut at, &mut self.incoming)?;
            if let Err(why) = see(self, link, may_hit) {
                return Ok(Err(why));
            }
        }
        self.peers[from as usize].translation = translation;
        Ok(Ok(()))
    }

    /// Returns the link of a configuration.
    pub fn link(&mut self, config: &Config) -> Link {
        let unpacked = self.unpacked(config);
        self.hashes.link(&unpacked)
    }

    /// Returns false if a configuration belongs here and is not stored; sends others to their
    /// owners, which look them up.
    pub fn look_up(&mut self, config: &Config, send: Send<'_>) -> bool {
        self.incoming = self.unpacked(config);
        let link = self.hashes.link(&self.incoming);
        let owner = owner(link, self.workers);
        if owner == self.me {
            return self.holds_incoming();
        }
        let packed = self.packer.pack(self.incoming.shared, &self.incoming.entries);
        self.peers[owner].outgoing.push(link, false, packed);
        self.send(send, false);
        true
    }

    /// Sends all waiting messages.
    pub fn flush(&mut self, send: Send<'_>) {
        self.send(send, true);
    }

    fn holds_incoming(&mut self) -> bool {
        let packed = self.packer.pack(self.incoming.shared, &self.incoming.entries);
        self.store.contains(packed, store::hash(packed))
    }

    fn unpacked(&mut self, config: &Config) -> Unpacked {
        let unpacked = self.steps.unpacked(config);
        self.hashes.extend(&*self.problem.model, &self.steps);
        unpacked
    }

    /// Checks which open targets the suspects of a layer hit, and calls `hit` with the target, the
    /// configuration and its link.
    pub fn judge(
        &mut self,
        layer: usize,
        open: impl Fn(usize) -> bool,
        mut hit: impl FnMut(usize, Id, Link),
    ) -> Result<(), Unknown> {
        let limits = self.limits.clone();
        let mut ticker = Ticker::new(&limits);
        self.hashes.extend(&*self.problem.model, &self.steps);
        let end = self.layers.get(layer + 1).copied().unwrap_or(self.store.end());
        let (now, later) =
            std::mem::take(&mut self.suspects).into_iter().partition(|&id| (id as usize) < end);
        self.suspects = later;
        let now: Vec<Id> = now;
        for id in now {
            ticker.tick()?;
            self.scratch.config.read(self.store.packed(id));
            let link = self.hashes.link(&self.scratch.config);
            self.steps.targets_hit(&self.scratch.config, &open, |target| hit(target, id, link));
        }
        Ok(())
    }

    /// Returns the configuration with this id, and the id after it.
    pub fn config(&mut self, id: Id) -> (Config, usize) {
        let length = self.incoming.read(self.store.packed(id));
        (self.steps.config(&self.incoming), Store::after(id, length))
    }

    /// Returns the first configuration of a layer with this link that satisfies `is_it`, and its
    /// id.
    pub fn find(
        &mut self,
        layer: usize,
        link: Link,
        is_it: impl Fn(&Config) -> bool,
    ) -> Option<(Config, Id)> {
        self.hashes.extend(&*self.problem.model, &self.steps);
        let mut at = *self.layers.get(layer)?;
        let end = self.layers.get(layer + 1).copied().unwrap_or(self.store.end());
        while at < end {
            let id = at as Id;
            at = Store::after(id, self.incoming.read(self.store.packed(id)));
            if self.hashes.link(&self.incoming) == link {
                let config = self.steps.config(&self.incoming);
                if is_it(&config) {
                    return Some((config, id));
                }
            }
        }
        None
    }

    /// Returns the link of the predecessor of `id`; `None` for initial configurations.
    pub fn predecessor(&self, id: Id) -> Option<Link> {
        self.store.parent(id)
    }

    /// Returns hashes of the shared and of the local states that occur in expanded configurations.
    pub fn states_met(&self) -> [Vec<u64>; 2] {
        let shared = (0..self.steps.alone.len() as u32).filter(|&s| self.steps.alone[s as usize].is_some());
        let mut locals: Vec<u32> = self.steps.thread_states.iter().map(|t| t.local).collect();
        locals.sort_unstable();
        locals.dedup();
        let [mut shared, mut locals] = self.hashes.of(shared, locals.into_iter());
        shared.extend(&self.met_before[0]);
        locals.extend(&self.met_before[1]);
        [shared, locals]
    }
}

/// The first byte of a message with configurations.
pub const CONFIGS: u8 = b'C';

/// A failure that cannot happen between processes of the same version over reliable connections.
pub fn damaged() -> Unknown {
    Unknown::Inconclusive("a message from another worker is damaged".into())
}

/// Routes each successor to the worker it belongs to.
struct Routing<'a, 'l> {
    me: usize,
    hashes: &'a Hashes,
    peers: &'a mut [Peer],
    config: &'a mut Unpacked,
    here: Filling<'a, 'l>,
}

impl Sink for Routing<'_, '_> {
    fn successor(&mut self, packed: &[u8], may_hit: bool) {
        if self.peers.len() > 1 {
            self.config.read(packed);
            let to = owner(self.hashes.link(self.config), self.peers.len());
            if to != self.me {
                return self.peers[to].outgoing.push(self.here.parent, may_hit, packed);
            }
        }
        self.here.successor(packed, may_hit);
    }

    fn one_of_many(&mut self) -> Result<(), Unknown> {
        self.here.one_of_many()
    }

    fn looked_at(&mut self, steps: u32) -> Result<(), Unknown> {
        self.here.looked_at(steps)
    }

    fn pruned(&mut self, size: u64) {
        self.here.pruned(size);
    }
}
