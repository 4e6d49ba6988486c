//! Several threads expand configurations and store their successors at the same time.
//!
//! In a round, workers first expand tasks (some configurations of the layer each) into batches with
//! a list for each part of the store; then each part is filled by one worker from the lists of all
//! batches, in the order of the tasks. A task for which something must be compiled first is
//! expanded in between by one thread, because ids of states are assigned in order. So each part is
//! filled in the same order however many threads there are. A single thread keeps everything in one
//! part, in another order: it may find another one of several shortest runs.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::batch::{Batch, Filling};
use super::queue::{Queue, Turn};
use super::steps::{Scratch, Steps};
use super::store::{Id, Store};
use crate::levels::SizeLimit;
use throng_model::limits::{Limits, Ticker};
use throng_model::packed::shards::Shards;
use throng_model::verdict::Unknown;

/// Number of turns in a task, so that the lists of successors are long enough to be efficient.
const TURNS: usize = 16;

/// Number of tasks per thread and round: enough to outweigh the start of threads, few enough to
/// keep batches small.
const TASKS_PER_JOB: usize = 16;

/// Configurations that one thread expands.
pub type Task = Vec<Turn>;

/// Takes the tasks of a round from the queue.
pub fn tasks(store: &Shards, queue: &mut Queue, jobs: usize) -> Vec<Task> {
    let turns = std::iter::from_fn(|| queue.pop_turn(store));
    let mut tasks: Vec<Task> = Vec::new();
    for turn in turns.take(jobs * TASKS_PER_JOB * TURNS) {
        match tasks.last_mut().filter(|task| task.len() < TURNS) {
            Some(task) => task.push(turn),
            None => tasks.push(vec![turn]),
        }
    }
    tasks
}

/// Expands every task; `None` for a task whose steps must be compiled first.
pub fn expand(
    tasks: &[Task],
    steps: &Steps,
    store: &Shards,
    size_limit: SizeLimit,
    jobs: usize,
    limits: &Limits,
    spare: &mut Vec<Batch>,
) -> Vec<Option<Batch>> {
    let next = AtomicUsize::new(0);
    // The memory of earlier rounds is reused: requesting it anew takes longer than filling it.
    let spare = Mutex::new(spare);
    let empty = || spare.lock().ok()?.pop();
    let work = || {
        let mut done = Vec::new();
        let mut scratch = Scratch::default();
        let mut ticker = Ticker::new(limits);
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(i) else { return done };
            let mut batch = empty().unwrap_or_else(|| Batch::new(store.parts()));
            batch.clear();
            let expanded = expand_task(task, steps, store, size_limit, &mut scratch, &mut ticker, &mut batch);
            done.push((i, expanded.map(|()| batch)));
        }
    };
    let mut expanded: Vec<Option<Batch>> = tasks.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        // If a worker panicked, the caller expands its tasks and panics in the same way.
        done.extend(workers.into_iter().filter_map(|w| w.join().ok()).flatten());
        for (i, batch) in done {
            expanded[i] = batch;
        }
    });
    expanded
}

fn expand_task(
    task: &Task,
    steps: &Steps,
    store: &Shards,
    size_limit: SizeLimit,
    scratch: &mut Scratch,
    ticker: &mut Ticker<'_>,
    batch: &mut Batch,
) -> Option<()> {
    for turn in task {
        let mut at = turn.places.start;
        while at < turn.places.end {
            let parent = Shards::id(turn.part, at);
            let length = scratch.config.read(store.packed(parent));
            if !steps.ready(scratch) {
                return None;
            }
            // The caller runs into an exceeded limit, too.
            let mut sink = Filling { batch: &mut *batch, parent, ticker: &mut *ticker, bytes: 0 };
            let fired = steps.expand(scratch, size_limit, &mut sink).ok()?;
            batch.fired += fired;
            batch.expanded += 1;
            batch.occupied.count(scratch.config.entries.len());
            at = Store::after(at as Id, length);
        }
    }
    Some(())
}

/// Stores the successors of a round, and adds those that may hit a target to `suspects`: by task,
/// then by part.
pub fn store(
    batches: &[Batch],
    store: &mut Shards,
    jobs: usize,
    suspects: &mut Vec<Id>,
) -> Result<(), Unknown> {
    let parts: Vec<Mutex<&mut Store>> = store.parts_mut().iter_mut().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(Ok(mut part)) = parts.get(number).map(Mutex::lock) else { return (found, Ok(())) };
            for (task, batch) in batches.iter().enumerate() {
                let mut new = Vec::new();
                let stored = batch.store_part(number, &mut part, &mut new);
                if !new.is_empty() {
                    found.push((task, number, new));
                }
                if stored.is_err() {
                    return (found, stored);
                }
            }
        }
    };
    let (mut found, stored) = thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let (mut found, mut stored) = work();
        for worker in workers {
            let (more, result) = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            found.extend(more);
            stored = stored.and(result);
        }
        (found, stored)
    });
    found.sort_unstable();
    suspects.extend(found.into_iter().flat_map(|(.., new)| new));
    stored
}
