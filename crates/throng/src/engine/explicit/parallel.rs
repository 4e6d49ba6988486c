//! Several threads expand configurations at the same time.
//!
//! The queue is cut into chunks. Workers expand chunks against the store as it is and keep the successors that are
//! not in it; then one thread stores what they kept, chunk by chunk. A chunk for which something must be compiled first
//! is left to that thread, since ids are given in order. So the store is filled in the very order in which one thread alone would
//! fill it: verdicts and traces do not depend on how many threads there are.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::batch::{Batch, Filling};
use super::pack;
use super::steps::{Scratch, Steps};
use super::store::{Id, Store, UNIT};
use crate::engine::levels::SizeLimit;
use throng_model::limits::{Limits, Ticker};

/// Configurations per chunk.
const CHUNK: usize = 256;

/// Chunks per thread and round: enough to make up for starting threads, few enough for what is kept to stay small.
const CHUNKS_PER_JOB: usize = 32;

/// Units of queue below which starting threads does not pay.
const LEAST_QUEUE: usize = (64 << 10) / UNIT;

/// Whether to expand a queue of so many units by several threads.
pub fn worthwhile(jobs: usize, queue: usize) -> bool {
    jobs > 1 && queue >= LEAST_QUEUE
}

/// Cuts the queue from `at` on into chunks for one round.
pub fn split(store: &Store, at: usize, jobs: usize) -> Vec<Range<usize>> {
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
    chunks
}

/// Expands every chunk; `None` for one that needs something compiled.
pub fn expand(
    chunks: &[Range<usize>],
    steps: &Steps,
    store: &Store,
    room: SizeLimit,
    jobs: usize,
    limits: &Limits,
) -> Vec<Option<Batch>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        let mut scratch = Scratch::default();
        let mut ticker = Ticker::new(limits);
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(i) else { return done };
            done.push((i, expand_chunk(chunk.clone(), steps, store, room, &mut scratch, &mut ticker)));
        }
    };
    let mut expanded: Vec<Option<Batch>> = chunks.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        // A worker that panicked leaves its chunks to the caller, where the panic shows itself again.
        done.extend(workers.into_iter().filter_map(|w| w.join().ok()).flatten());
        for (i, batch) in done {
            expanded[i] = batch;
        }
    });
    expanded
}

fn expand_chunk(
    chunk: Range<usize>,
    steps: &Steps,
    store: &Store,
    room: SizeLimit,
    scratch: &mut Scratch,
    ticker: &mut Ticker<'_>,
) -> Option<Batch> {
    let mut batch = Batch::default();
    let mut at = chunk.start;
    while at < chunk.end {
        let parent = at as Id;
        let length = scratch.config.read(store.packed(parent));
        if !steps.ready(scratch) {
            return None;
        }
        // When a limit is hit, the caller meets it too.
        let mut sink = Filling { batch: &mut batch, parent, ticker: &mut *ticker, bytes: 0 };
        let fired = steps.expand(scratch, room, &mut sink).ok()?;
        batch.fired += fired;
        batch.expanded += 1;
        batch.occupied.count(scratch.config.entries.len());
        at = Store::after(parent, length);
    }
    batch.drop_known(store);
    Some(batch)
}
