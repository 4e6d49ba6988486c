//! `distributed`: the search of [`super::explicit`], spread over workers: threads of one process,
//! or of many processes on many machines.
//!
//! A hash of each configuration determines the worker that alone stores and expands it; successors
//! are sent to their owners. Level by level and layer by layer, the stored configurations are those
//! of `explicit` without partial-order reduction, so the first violation has the fewest threads,
//! and for that many the shortest run. Timely dataflow exchanges the messages and detects the end
//! of each layer and of the search (`rounds`).
//!
//! Evidence: a run is collected backwards through the workers and replayed by the checker like any
//! other. A closed set is not collected: each worker checks its part by
//! [`throng_check::rules::part`], over steps that come from [`throng_model::semantics`], not from
//! the search's compiled ones.
//!
//! # Parts
//!
//! `rounds` (timely), `wire` (how workers name states to each other), `part` (a worker's
//! configurations), `explore` (one level), `trace` (runs), `verify` (closed sets), `climb` (level
//! after level), `saved` (for later processes).

mod climb;
mod explore;
mod part;
mod rounds;
mod saved;
mod trace;
mod verify;
mod wire;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use timely::CommunicationConfig;
use timely::WorkerConfig;
use timely::communication::allocator::AllocatorBuilder;
use timely::execute::execute_from;

use self::climb::{SearchResult, climb};
use self::explore::Hit;
use self::part::Part;
use super::explicit::search::run_through;
use super::{Algorithm, Answer, Progress, Statistics, Watch};
use throng_check::Checked;
use throng_check::rules::{Flaw, check_within};
use throng_model::limits::{Limits, Stopper};
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Spread, Unknown, Verdict};

pub use self::climb::Traffic;
pub use self::saved::{Fill, Parts, Take};

/// The name of the engine.
pub const NAME: &str = "distributed";

/// Timely's channels for the workers of a process, and an object that must live as long as they do.
pub type Allocators = (Vec<AllocatorBuilder>, Box<dyn Any + Send>);

/// The other processes of a search.
pub trait Mesh: Send + Sync {
    /// Returns the channels by which `workers` workers of this process exchange messages with those
    /// of all processes, or an error message. The stopper is used when another process calls
    /// [`Mesh::stop`].
    fn connect(&self, workers: usize, stopper: Stopper) -> Result<Allocators, String>;

    /// Tells the other processes that the search stops, so that they need not finish their layer.
    fn stop(&self);

    /// Handles a connection that failed during the search. Returns only if this process is to
    /// report that there is no answer.
    fn lost(&self);
}

/// The engine and its options.
#[derive(Clone)]
pub struct Distributed {
    /// Number of workers of this process; the same in all processes.
    pub workers: usize,
    /// The other processes, if any.
    pub mesh: Option<Arc<dyn Mesh>>,
    /// Maximum number of threads (or tokens).
    pub max_threads: Option<u32>,
    /// True to stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Stores the state between layers, for later processes.
    pub parts: Option<Arc<dyn Parts>>,
    /// The storage and traffic of each worker of the last search.
    pub traffic: Arc<Mutex<Vec<Traffic>>>,
}

impl Distributed {
    /// Creates an engine with workers in this process only.
    pub fn new(workers: usize) -> Distributed {
        Distributed {
            workers: workers.max(1),
            mesh: None,
            max_threads: None,
            stop_at_first: false,
            parts: None,
            traffic: Arc::default(),
        }
    }
}

/// The state that all workers of a process share.
struct Setup {
    problem: Arc<Problem>,
    limits: Limits,
    mesh: Option<Arc<dyn Mesh>>,
    max_threads: Option<u32>,
    stop_at_first: bool,
    parts: Option<Arc<dyn Parts>>,
    /// The number of the next state to be saved; worker 0 counts.
    states: AtomicU64,
    phase: Mutex<String>,
    /// The number of configurations stored by each worker of this process.
    stored: Vec<AtomicU64>,
    /// True if a worker of this process panicked: the others would wait for it forever.
    broken: AtomicBool,
}

impl Setup {
    /// Stops all workers, in all processes, at their next check of the limits.
    fn stop(&self) {
        self.limits.stopper().stop();
        self.mesh.iter().for_each(|mesh| mesh.stop());
    }

    fn is_decided(&self, hits: &[Option<Hit>]) -> bool {
        let mut found = hits.iter().map(Option::is_some);
        !hits.is_empty() && if self.stop_at_first { found.any(|f| f) } else { found.all(|f| f) }
    }

    fn begin(&self, phase: String) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn report(&self, part: &Part) {
        self.stored[part.me % self.stored.len()].store(part.store.len() as u64, Ordering::Relaxed);
    }

    fn progress(&self) -> Progress {
        Progress {
            engine: NAME,
            phase: self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            configurations: self.stored.iter().map(|n| n.load(Ordering::Relaxed)).sum(),
            frontier: 0,
        }
    }
}

/// Keeps the more specific reason: that a worker was stopped because of another worker's limit is
/// not a reason of its own.
fn prefer(kept: &mut Option<Unknown>, why: Unknown) {
    if kept.as_ref().is_none_or(|kept| *kept == Unknown::Cancelled) {
        *kept = Some(why);
    }
}

impl Algorithm for Distributed {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let unknown = |why: Unknown| {
            Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], Statistics::default())
        };
        if self.mesh.is_some() && problem.model.persist().is_none() {
            let why = "the states of this model cannot be sent to another process";
            return unknown(Unknown::NotForThisModel(why.into()));
        }
        let setup = Arc::new(Setup {
            problem: Arc::new(problem.clone()),
            limits: limits.part(),
            mesh: self.mesh.clone(),
            max_threads: self.max_threads,
            stop_at_first: self.stop_at_first,
            parts: self.parts.clone().filter(|_| problem.model.persist().is_some()),
            states: AtomicU64::new(
                self.parts.as_ref().and_then(|parts| parts.latest()).map_or(0, |l| l.0) + 1,
            ),
            phase: Mutex::default(),
            stored: (0..self.workers).map(|_| AtomicU64::new(0)).collect(),
            broken: AtomicBool::new(false),
        });
        match self.search(&setup, watch) {
            Ok(found) => {
                *self.traffic.lock().unwrap_or_else(PoisonError::into_inner) = found.traffic.clone();
                answer(problem, limits, found)
            }
            Err(why) => unknown(Unknown::Inconclusive(why)),
        }
    }
}

impl Distributed {
    /// Runs the workers of this process, and reports progress meanwhile.
    fn search(&self, setup: &Arc<Setup>, watch: &dyn Watch) -> Result<SearchResult, String> {
        let (builders, connections) = self.allocators(&setup.limits)?;
        let shared = setup.clone();
        let workers = execute_from(builders, connections, WorkerConfig::default(), move |worker| {
            catch_unwind(AssertUnwindSafe(|| climb(worker, &shared))).unwrap_or_else(|panic| {
                shared.broken.store(true, Ordering::SeqCst);
                resume_unwind(panic)
            })
        })?;
        let (mut reported, mut pause) = (Instant::now(), Duration::from_micros(100));
        while !workers.guards().iter().all(|worker| worker.is_finished()) {
            if setup.broken.load(Ordering::SeqCst) {
                // Dropping the guards would join threads that do not end.
                std::mem::forget(workers);
                self.mesh.iter().for_each(|mesh| mesh.lost());
                return Err("a worker failed, or lost its connection to another process".into());
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
            if reported.elapsed() >= Duration::from_millis(250) {
                reported = Instant::now();
                watch.progress(&setup.progress());
            }
        }
        // Timely panics where a connection is lost, even while the last threads are joined.
        let joined = catch_unwind(AssertUnwindSafe(|| workers.join()));
        let found = joined.map_err(|_| "a connection to another process was lost".to_string());
        match found.and_then(|all| all.into_iter().collect::<Result<Vec<SearchResult>, String>>()) {
            Ok(mut found) => Ok(found.swap_remove(0)),
            Err(why) => {
                self.mesh.iter().for_each(|mesh| mesh.lost());
                Err(why)
            }
        }
    }

    fn allocators(&self, limits: &Limits) -> Result<Allocators, String> {
        match &self.mesh {
            Some(mesh) => mesh.connect(self.workers, limits.stopper()),
            None => CommunicationConfig::Process(self.workers).try_build(),
        }
    }
}

/// Returns one checked verdict per target.
fn answer(problem: &Problem, limits: &Limits, found: SearchResult) -> Answer {
    let incomplete = found.incomplete.map(Unknown::Inconclusive);
    let mut flaw = None;
    let unchecked = |why: &Unknown| {
        let why = format!("an answer was found, but its evidence was not checked: {why}");
        Verdict::Unknown(Unknown::Inconclusive(why))
    };
    let mut checked: Vec<Checked> = found.checked.into_iter().collect();
    let rest = match (found.open, found.flaw) {
        // Where not all steps were listed, the search has no answer for that reason, not because of
        // its bound.
        (Some(why @ (Unknown::Bound(_) | Unknown::Inconclusive(_) | Unknown::NotForThisModel(_))), _) => {
            Verdict::Unknown(incomplete.clone().unwrap_or(why))
        }
        (Some(why), _) => Verdict::Unknown(why),
        (None, _) if incomplete.is_some() => {
            Verdict::Unknown(incomplete.clone().unwrap_or(Unknown::Cancelled))
        }
        (None, Some(Flaw::Limit(why))) => unchecked(&why),
        (None, Some(wrong)) => {
            flaw = Some(format!("the closed set is invalid: {wrong}"));
            Verdict::Unknown(Unknown::Cancelled)
        }
        (None, None) => {
            if found.checked.is_none() && found.runs.iter().any(Option::is_none) {
                flaw = Some("the closed set was not checked".to_string());
            }
            let workers = found.traffic.len() as u32;
            Verdict::Safe(Certificate::Spread(Arc::new(Spread { members: found.members, workers })))
        }
    };
    let mut statistics = found.statistics;
    let began = Instant::now();
    let mut verdicts = Vec::with_capacity(found.runs.len());
    for (target, run) in problem.targets.iter().zip(found.runs) {
        let Some(configs) = run else {
            verdicts.push(rest.clone());
            continue;
        };
        if configs.is_empty() {
            flaw = Some(format!("the run to target `{}` could not be collected", target.name));
            continue;
        }
        let mut verdict = Verdict::Unsafe(run_through(problem, configs));
        match check_within(problem, target, &verdict, limits) {
            Ok(stands) => checked.push(stands),
            Err(Flaw::Limit(why)) => {
                statistics.withdraw(&verdict);
                verdict = unchecked(&why);
            }
            Err(wrong) => {
                flaw = Some(format!("the evidence for target `{}` is invalid: {wrong}", target.name))
            }
        }
        verdicts.push(verdict);
    }
    if incomplete.is_some() {
        statistics.complete_up_to = None;
    }
    let mut answer = match incomplete {
        None => Answer::ascending(verdicts, statistics),
        Some(_) => Answer::new(verdicts, statistics),
    };
    answer.checked = checked.first().copied();
    answer.checking = found.checking + began.elapsed();
    answer.flaw = flaw;
    answer
}
