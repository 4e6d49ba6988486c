//! Several threads expand configurations at the same time.
//!
//! The queue is cut into chunks. Workers expand chunks against the store as it is and keep the successors that are
//! not in it; then one thread stores what they kept, chunk by chunk. A chunk for which something must be compiled first
//! is left to that thread. So the store is filled in the very order in which one thread alone would
//! fill it: verdicts, traces and numbers do not depend on how many threads there are.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::pack;
use super::search::note_pruned;
use super::steps::{Scratch, Sink, Steps};
use super::store::{self, Id, Store};
use crate::engine::levels::Room;
use crate::verdict::Unknown;

/// Configurations per chunk.
const CHUNK: usize = 512;

/// Chunks per thread and round: enough to make up for starting threads, few enough for what is kept to stay small.
const CHUNKS_PER_JOB: usize = 16;

/// Bytes of queue below which starting threads does not pay.
const LEAST_QUEUE: usize = 64 << 10;

/// Whether to expand a queue of so many bytes by several threads.
pub fn worthwhile(jobs: usize, queue: usize) -> bool {
    jobs > 1 && queue >= LEAST_QUEUE
}

/// Cuts the queue from `at` on into chunks for one round, and says where the next round begins.
pub fn split(store: &Store, at: usize, jobs: usize) -> (Vec<Range<usize>>, usize) {
    let mut chunks = Vec::new();
    let mut next = at;
    while next < store.end() && chunks.len() < jobs * CHUNKS_PER_JOB {
        let start = next;
        for _ in 0..CHUNK {
            if next < store.end() {
                next = Store::after(next as Id, pack::length(store.packed(next as Id)));
            }
        }
        chunks.push(start..next);
    }
    (chunks, next)
}

/// What expanding a chunk gave.
#[derive(Default)]
pub struct Expanded {
    /// Packed successors, one after another.
    bytes: Vec<u8>,
    candidates: Vec<Candidate>,
    /// Steps fired.
    pub fired: u64,
    /// Configurations expanded.
    pub expanded: u64,
    /// The smallest size that was left out.
    pub pruned: Option<u32>,
}

/// A successor that was not in the store.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// Its hash.
    pub hash: u64,
    /// Whose successor it is.
    pub parent: Id,
    /// Whether it may hit a target.
    pub may_hit: bool,
    length: u32,
}

impl Expanded {
    /// The successors in the order in which they were found, with their packed form.
    pub fn candidates(&self) -> impl Iterator<Item = (Candidate, &[u8])> {
        let mut rest = &self.bytes[..];
        self.candidates.iter().map(move |&candidate| {
            let (packed, later) = rest.split_at(candidate.length as usize);
            rest = later;
            (candidate, packed)
        })
    }
}

/// Expands every chunk; `None` for one that needs something compiled.
pub fn expand(
    chunks: &[Range<usize>],
    steps: &Steps<'_>,
    store: &Store,
    room: Room,
    jobs: usize,
) -> Vec<Option<Expanded>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        let mut scratch = Scratch::default();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(i) else { return done };
            done.push((i, expand_chunk(chunk.clone(), steps, store, room, &mut scratch)));
        }
    };
    let mut expanded: Vec<Option<Expanded>> = chunks.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        // A worker that panicked leaves its chunks to the caller, where the panic shows itself again.
        done.extend(workers.into_iter().filter_map(|w| w.join().ok()).flatten());
        for (i, found) in done {
            expanded[i] = found;
        }
    });
    expanded
}

fn expand_chunk(
    chunk: Range<usize>,
    steps: &Steps<'_>,
    store: &Store,
    room: Room,
    scratch: &mut Scratch,
) -> Option<Expanded> {
    let mut sink = Keeping { store, parent: 0, found: Expanded::default() };
    let mut at = chunk.start;
    while at < chunk.end {
        sink.parent = at as Id;
        let length = scratch.config.read(store.packed(sink.parent));
        if !steps.ready(scratch) {
            return None;
        }
        sink.found.fired += steps.expand(scratch, room, &mut sink).ok()?;
        sink.found.expanded += 1;
        at = Store::after(sink.parent, length);
    }
    Some(sink.found)
}

/// Keeps successors that are not in the store.
struct Keeping<'a> {
    store: &'a Store,
    parent: Id,
    found: Expanded,
}

/// Successors that one chunk may keep; with more, it is left to the thread that stores, which watches the limits.
const MOST_KEPT: usize = 1 << 18;

impl Sink for Keeping<'_> {
    fn successor(&mut self, packed: &[u8], may_hit: bool) -> Result<(), Unknown> {
        let hash = store::hash(packed);
        if self.store.contains(packed, hash) {
            return Ok(());
        }
        if self.found.candidates.len() == MOST_KEPT {
            return Err(Unknown::Cancelled);
        }
        self.found.bytes.extend_from_slice(packed);
        let length = packed.len() as u32;
        self.found.candidates.push(Candidate { hash, parent: self.parent, may_hit, length });
        Ok(())
    }

    fn pruned(&mut self, size: u64) {
        note_pruned(&mut self.found.pruned, size);
    }
}
