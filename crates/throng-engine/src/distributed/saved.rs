//! The state of a search between two layers, in parts, so that it can be resumed by the same or
//! another number of workers.
//!
//! Worker 0 decides when to save. Its message arrives at all workers before the next round, so they
//! all save the same layers; when all have done so, it tells the keeper to resume from this state.
//! States are saved only between layers: whatever is found later is found again.
//!
//! A part does not depend on its writer: states are written as bytes that mean the same everywhere,
//! and predecessors are links, not places. To resume, every worker reads all parts, layer by layer,
//! and stores what belongs to it.

use super::climb::Position;
use super::part::Part;
use super::wire::{Damaged, Known, Translation, number, read_config, write_bytes, write_config};
use crate::Occupied;
use crate::explicit::pack::put;
use crate::explicit::store::{Id, UNIT};
use throng_model::verdict::Unknown;

/// Fills a block of bytes from a file; returns whether there were enough.
pub type Fill = Box<dyn FnMut(&mut [u8]) -> bool>;

/// Consumes bytes.
pub type Take<'a> = &'a mut dyn FnMut(&[u8]);

/// Stores the parts of a state.
pub trait Parts: Send + Sync {
    /// Returns whether the next state is due; worker 0 asks.
    fn is_due(&self) -> bool;

    /// Writes a worker's part of the state with this number; returns whether that succeeded.
    fn write(&self, state: u64, worker: usize, content: &dyn Fn(Take<'_>)) -> bool;

    /// Marks a state as complete: all workers have written their parts, and earlier states are not
    /// needed any more.
    fn complete(&self, state: u64, workers: usize);

    /// Returns the state to resume from and its number of parts, if there is one.
    fn latest(&self) -> Option<(u64, usize)>;

    /// Opens a part, whose integrity has been checked.
    fn open(&self, state: u64, worker: usize) -> Option<Fill>;
}

/// Returns the reason for a state that cannot be resumed.
pub fn unusable() -> Unknown {
    Unknown::Inconclusive(
        "the checkpoint is damaged, or not the same for all processes; remove it to start anew".into(),
    )
}

impl Part {
    /// Writes this part of the state before `layer`, which is complete, is expanded.
    pub fn save(&self, position: &Position, layer: usize, file: Take<'_>) {
        let model = &*self.problem.model;
        let mut out = Vec::new();
        position.write(model, &mut out);
        put(&mut out, layer as u64);
        put(&mut out, self.fired);
        let Occupied { sum, configurations, most } = self.occupied;
        [sum, configurations, most].into_iter().for_each(|n| put(&mut out, n));
        for met in self.states_met() {
            put(&mut out, met.len() as u64);
            met.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
        }
        put(&mut out, self.pruned.map_or(0, |n| u64::from(n) + 1));
        Known::default().write_new(model, &self.steps, &mut out);
        let mut head = Vec::new();
        write_bytes(&out, &mut head);
        file(&head);
        for records in self.layer_blocks(layer) {
            let mut length = Vec::new();
            put(&mut length, records.len() as u64);
            file(&length);
            file(records);
        }
    }

    /// Resumes from a state. Returns its position and the layer to expand next.
    pub fn resume(
        &mut self,
        parts: &dyn Parts,
        state: u64,
        count: usize,
    ) -> Result<(Position, usize), Unknown> {
        self.read_parts(parts, state, count).unwrap_or(Err(unusable()))
    }

    fn read_parts(
        &mut self,
        parts: &dyn Parts,
        state: u64,
        count: usize,
    ) -> Result<Result<(Position, usize), Unknown>, Damaged> {
        let problem = self.problem.clone();
        let model = &*problem.model;
        let mut files = Vec::new();
        let mut found = None;
        for worker in 0..count {
            let mut file = parts.open(state, worker).ok_or(Damaged)?;
            let head = block(&mut file)?;
            let mut at = 0;
            let position = Position::read(model, &head, &mut at)?;
            let layer = number(&head, &mut at)? as usize;
            let fired = number(&head, &mut at)?;
            let mut occupied = || number(&head, &mut at);
            let occupied = Occupied { sum: occupied()?, configurations: occupied()?, most: occupied()? };
            let met = [hashes(&head, &mut at)?, hashes(&head, &mut at)?];
            let pruned = number(&head, &mut at)?.checked_sub(1).map(|n| n as u32);
            self.pruned = [self.pruned, pruned].into_iter().flatten().min();
            // Each earlier worker's counts are added to those of one present worker.
            if worker % self.workers == self.me {
                self.fired += fired;
                self.occupied.add(occupied);
                self.met_before.iter_mut().zip(met).for_each(|(all, met)| all.extend(met));
            }
            let mut translation = Translation::default();
            translation.read_new(model, &mut self.steps, &head, &mut at)?;
            if found.get_or_insert((position.clone(), layer)) != &(position, layer) {
                return Err(Damaged);
            }
            files.push((file, translation));
        }
        let (position, last) = found.ok_or(Damaged)?;
        for layer in 0..=last {
            self.open_layer(layer);
            for (file, translation) in &mut files {
                let records = block(file)?;
                if let Err(why) = self.store_records(&records, translation, layer == last)? {
                    return Ok(Err(why));
                }
            }
        }
        Ok(Ok((position, last)))
    }

    /// Stores the records of a layer that belong here. Those of the last layer have not been
    /// checked for hits.
    fn store_records(
        &mut self,
        records: &[u8],
        translation: &Translation,
        last: bool,
    ) -> Result<Result<(), Unknown>, Damaged> {
        let mut at = 0;
        while at < records.len() {
            let link = Id::from_le_bytes(*records[at..].first_chunk().ok_or(Damaged)?);
            at += 4;
            match self.store_translated(records, &mut at, translation, link)? {
                Ok(new) => self.suspects.extend(new.filter(|_| last)),
                Err(why) => return Ok(Err(why)),
            }
            at = at.next_multiple_of(UNIT);
        }
        Ok(Ok(()))
    }

    /// Returns the records of each layer up to `layer`, as blocks.
    fn layer_blocks(&self, layer: usize) -> impl Iterator<Item = &[u8]> {
        let bound = |i: usize| self.layers.get(i).copied().unwrap_or(self.store.end());
        (0..=layer).map(move |i| self.store.records_in(bound(i)..bound(i + 1)))
    }
}

fn hashes(bytes: &[u8], at: &mut usize) -> Result<Vec<u64>, Damaged> {
    let count = number(bytes, at)?;
    let hash = |_| {
        let hash = bytes.get(*at..).and_then(<[u8]>::first_chunk).ok_or(Damaged)?;
        *at += 8;
        Ok(u64::from_le_bytes(*hash))
    };
    (0..count).map(hash).collect()
}

/// Reads a block that begins with its length.
fn block(file: &mut Fill) -> Result<Vec<u8>, Damaged> {
    let mut length = 0_u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        if !file(&mut byte) {
            return Err(Damaged);
        }
        length |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            break;
        }
    }
    let mut bytes = Vec::new();
    // Reading in pieces detects a wrong length before much memory is allocated for it.
    while (bytes.len() as u64) < length {
        let (read, next) = (bytes.len(), (length - bytes.len() as u64).min(1 << 20));
        bytes.resize(read + next as usize, 0);
        if !file(&mut bytes[read..]) {
            return Err(Damaged);
        }
    }
    Ok(bytes)
}

impl Position {
    fn write(&self, model: &dyn throng_model::Model, out: &mut Vec<u8>) {
        put(out, self.level.into());
        put(out, self.below.map_or(0, |n| u64::from(n) + 1));
        put(out, self.configurations);
        put(out, self.complete_up_to.map_or(0, |n| u64::from(n) + 1));
        put(out, self.runs.len() as u64);
        for run in &self.runs {
            let configs = run.as_deref().unwrap_or_default();
            put(out, configs.len() as u64);
            configs.iter().for_each(|config| write_config(model, config, out));
        }
    }

    fn read(model: &dyn throng_model::Model, bytes: &[u8], at: &mut usize) -> Result<Position, Damaged> {
        let small = |n: u64| u32::try_from(n).map_err(|_| Damaged);
        let option = |n: u64| n.checked_sub(1).map(small).transpose();
        let level = small(number(bytes, at)?)?;
        let below = option(number(bytes, at)?)?;
        let configurations = number(bytes, at)?;
        let complete_up_to = option(number(bytes, at)?)?;
        let mut runs = Vec::new();
        for _ in 0..number(bytes, at)? {
            let count = number(bytes, at)?;
            let configs = (0..count).map(|_| read_config(model, bytes, at)).collect::<Result<Vec<_>, _>>()?;
            runs.push(Some(configs).filter(|configs| !configs.is_empty()));
        }
        Ok(Position { level, below, configurations, complete_up_to, runs })
    }
}
