//! Which runs are made, in which order, and by how many workers at once.
//!
//! Instance by instance, all tools one after the other: what is compared is measured under the same
//! load. Runs that the store has are not made again.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustc_hash::FxHasher;

use super::child::{self, Allowance, Exceeded, Measured};
use super::instances::Instance;
use super::store::Store;
use super::tools::{Output, Reported, Tool};
use super::{Ending, Run};

/// Parameters of a benchmark.
#[derive(Clone, Debug)]
pub struct Plan {
    /// This program.
    pub throng: PathBuf,
    /// Seconds of processor time per run.
    pub timeout: f64,
    /// Seconds on the wall per run.
    pub wall: f64,
    /// MiB per run; 0: no limit.
    pub memory: u64,
    /// Runs at the same time.
    pub jobs: usize,
    /// Number of repetitions of each run.
    pub repeat: usize,
    /// Once a tool fails on a file with some thread bound, it is not tried with larger ones.
    pub give_up: bool,
}

/// Progress of the benchmark.
pub struct Progress<'a> {
    /// Runs that are done, or were there before.
    pub done: usize,
    /// Runs in all.
    pub of: usize,
    /// The run just made; none for those that were there.
    pub run: Option<&'a Run>,
    /// Something that went wrong and does not end the benchmark.
    pub warning: Option<&'a str>,
}

/// Everything to run, in order.
pub fn pairs(instances: &[Instance], tools: &[Tool]) -> Vec<(Instance, Tool)> {
    let all = instances.iter().flat_map(|i| tools.iter().filter(|t| t.takes(i)).map(move |t| (i, t)));
    all.map(|(i, t)| (i.with_bound(t.bound(i)), t.clone())).collect()
}

/// A place where runs are made: this machine or another.
pub trait Place {
    /// Makes one run; none if it was stopped on the way.
    fn make(
        &mut self,
        instance: &Instance,
        tool: &Tool,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Run>, Failed>;

    /// There is nothing to do now; asked about once a second.
    fn wait(&mut self) -> Result<(), Failed> {
        Ok(())
    }
}

/// Reasons why a run was not made.
pub enum Failed {
    /// The benchmark cannot go on.
    Here(String),
    /// The place is gone; the run is made elsewhere.
    Lost(String),
}

/// Places that come while the benchmark runs.
pub trait Guests: Sync {
    /// Waits for the next one; none if no other comes, or it is `over`.
    fn next(&self, over: &dyn Fn() -> bool) -> Option<Box<dyn Place + Send>>;
}

/// A benchmark on this machine alone.
pub struct NoGuests;

impl Guests for NoGuests {
    fn next(&self, _: &dyn Fn() -> bool) -> Option<Box<dyn Place + Send>> {
        None
    }
}

/// This machine.
struct Here;

impl Place for Here {
    fn make(
        &mut self,
        instance: &Instance,
        tool: &Tool,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Run>, Failed> {
        one(instance, tool, plan, stop).map_err(Failed::Here)
    }
}

/// Runs that are still to be made.
struct Queue<'a> {
    tasks: VecDeque<&'a (Instance, Tool)>,
    /// Taken and not yet done: they come back if a place is lost.
    taken: usize,
    /// The reason why the benchmark cannot continue, if there is one.
    failed: Option<String>,
}

/// Makes all runs that the store does not have, `plan.jobs` at once on this machine and one on each
/// place that comes. `Ok(false)`: it was stopped before the end.
pub fn run(
    pairs: &[(Instance, Tool)],
    plan: &Plan,
    store: &mut Store,
    guests: &dyn Guests,
    stop: &(dyn Fn() -> bool + Sync),
    on_progress: &(dyn Fn(&Progress) + Sync),
) -> Result<bool, String> {
    let made: Vec<usize> = pairs.iter().map(|(i, t)| store.count(&blank(i, t, plan), plan.give_up)).collect();
    let tasks: VecDeque<&(Instance, Tool)> =
        pairs.iter().zip(&made).flat_map(|(p, &made)| vec![p; plan.repeat.saturating_sub(made)]).collect();
    let of = pairs.len() * plan.repeat;
    let done = AtomicUsize::new(of - tasks.len().min(of));
    let queue = Mutex::new(Queue { tasks, taken: 0, failed: None });
    let (queue, bell) = (&queue, &Condvar::new());
    let store = Mutex::new(store);
    on_progress(&Progress { done: done.load(Ordering::Relaxed), of, run: None, warning: None });
    let over = || {
        let queue = lock(queue);
        stop() || queue.failed.is_some() || queue.tasks.is_empty() && queue.taken == 0
    };
    // The next run to be made; none at the end.
    let next = |place: &mut dyn Place| loop {
        if over() {
            return Ok(None);
        }
        let mut queue = lock(queue);
        if let Some(task) = queue.tasks.pop_front() {
            queue.taken += 1;
            return Ok(Some(task));
        }
        drop(bell.wait_timeout(queue, Duration::from_secs(1)));
        place.wait()?;
    };
    let keep = |run: Run| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        on_progress(&Progress { done, of, run: Some(&run), warning: None });
        lock(&store).add(run).map_err(|why| Failed::Here(format!("cannot keep a run: {why}")))
    };
    let work = |place: &mut dyn Place| -> Result<(), Failed> {
        while let Some(task @ (instance, tool)) = next(place)? {
            let skip = plan.give_up && gave_up(&lock(&store), instance, tool, plan);
            let made = match skip {
                true => Ok(Some(Run { result: Ending::Skipped, ..blank(instance, tool, plan) })),
                false => place.make(instance, tool, plan, stop),
            };
            let lost = matches!(made, Err(Failed::Lost(_)));
            let kept = made.and_then(|run| run.map_or(Ok(()), keep));
            let mut queue = lock(queue);
            queue.taken -= 1;
            if lost {
                queue.tasks.push_front(task);
            }
            drop(queue);
            bell.notify_all();
            kept?;
        }
        Ok(())
    };
    let work = |mut place: Box<dyn Place + Send>| match work(&mut *place) {
        Ok(()) => {}
        Err(Failed::Lost(why)) => {
            let done = done.load(Ordering::Relaxed);
            on_progress(&Progress { done, of, run: None, warning: Some(&why) });
        }
        Err(Failed::Here(why)) => {
            lock(queue).failed.get_or_insert(why);
            bell.notify_all();
        }
    };
    let work = &work;
    thread::scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| work(Box::new(Here)));
        }
        while let Some(place) = guests.next(&over) {
            scope.spawn(move || work(place));
        }
    });
    let failed = lock(queue).failed.take();
    match failed {
        Some(why) => Err(why),
        None => Ok(!stop()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the tool hit a limit on the same file with fewer threads.
fn gave_up(store: &Store, instance: &Instance, tool: &Tool, plan: &Plan) -> bool {
    let like = blank(instance, tool, plan);
    store.runs.iter().any(|r| {
        let same = (&r.file, &r.initial, &r.property, &r.tool, &r.command, &r.hash, r.memory)
            == (
                &like.file,
                &like.initial,
                &like.property,
                &like.tool,
                &like.command,
                &like.hash,
                like.memory,
            );
        let limit = matches!(r.result, Ending::Timeout | Ending::Memory | Ending::Unknown);
        same && limit && r.threads.is_some() && r.threads < like.threads && r.timeout == plan.timeout
    })
}

/// A run that has not been made.
pub fn blank(instance: &Instance, tool: &Tool, plan: &Plan) -> Run {
    Run {
        file: instance.file.clone(),
        property: instance.property.clone(),
        initial: instance.initial.clone(),
        threads: instance.threads,
        family: instance.family.clone(),
        expected: instance.expected.clone(),
        tool: tool.name.clone(),
        command: tool.template(),
        hash: fingerprint(instance, tool),
        timeout: plan.timeout,
        memory: plan.memory,
        result: Ending::Unknown,
        cpu: 0.0,
        wall: 0.0,
        peak: 0.0,
        status: None,
        configurations: None,
        value: None,
        note: String::new(),
    }
}

fn fingerprint(instance: &Instance, tool: &Tool) -> String {
    let mut hasher = FxHasher::default();
    for path in instance.files().iter().flatten() {
        if path.is_file() {
            std::fs::read(path).unwrap_or_default().hash(&mut hasher);
        }
    }
    format!("{tool:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Makes one run on this machine; none if it was stopped on the way.
pub fn one(
    instance: &Instance,
    tool: &Tool,
    plan: &Plan,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Run>, String> {
    let words = tool.command(instance, &plan.throng, plan.timeout, plan.memory);
    // This program watches its memory itself and ends with an answer; others are stopped at the
    // limit.
    let slack = if tool.options().is_some() { 5 } else { 4 };
    let allowance = Allowance {
        cpu: Duration::from_secs_f64(plan.timeout),
        wall: Duration::from_secs_f64(plan.wall),
        memory: (plan.memory > 0).then(|| (plan.memory << 20) / 4 * slack),
    };
    let measured = child::run(&words, &allowance, stop)
        .map_err(|why| format!("tool `{}`: cannot run `{}`: {why}", tool.name, words.join(" ")))?;
    if measured.exceeded == Some(Exceeded::Stopped) {
        return Ok(None);
    }
    let output = Output { status: measured.status, out: &measured.out, err: &measured.err };
    let said = tool.read(&output);
    Ok(Some(Run {
        result: ending(&measured, &said, tool.options().is_some()),
        cpu: measured.cpu.as_secs_f64(),
        wall: measured.wall.as_secs_f64(),
        peak: measured.peak as f64 / 1048576.0,
        status: measured.status,
        configurations: said.configurations,
        value: said.value,
        note: match measured.exceeded {
            Some(Exceeded::Wall) => "stopped by the clock on the wall, not for processor time".into(),
            _ => said.note,
        },
        ..blank(instance, tool, plan)
    }))
}

/// This program says what it has established when time is up; others that are stopped say nothing:
/// their exit status may mean anything then.
fn ending(measured: &Measured, said: &Reported, own: bool) -> Ending {
    match (said.ending, measured.exceeded) {
        (Some(ending), exceeded) if ending.is_verdict() && (own || exceeded.is_none()) => ending,
        (_, Some(Exceeded::Memory)) => Ending::Memory,
        (_, Some(_)) => Ending::Timeout,
        (ending, None) => ending.unwrap_or(Ending::Crash),
    }
}
