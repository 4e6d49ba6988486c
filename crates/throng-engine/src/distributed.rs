//! `distributed`: the search of [`super::explicit`], spread over workers: threads of one process,
//! or of many processes on many machines.
//!
//! Every configuration belongs to one worker, by a hash of it, and that worker alone stores and
//! expands it; successors are sent to their owners. What is stored, level by level and layer by
//! layer, is what `explicit` stores without partial orders, so the first violation has the fewest
//! threads, and for that many the shortest run. Timely dataflow exchanges the messages and finds
//! out when a layer, and when a search, is over (`rounds`).
//!
//! Evidence: a run is collected backwards through the workers and replayed by the checker like any
//! other. A closed set is not collected: each worker checks its part by
//! [`throng_check::rules::part`], over steps that come from [`throng_model::semantics`], not from
//! what the search compiled.
//!
//! # Parts
//!
//! `rounds` (timely), `wire` (how workers name states to each other), `part` (what a worker keeps),
//! `explore` (one level), `trace` (runs), `verify` (closed sets), `climb` (level after level),
//! `saved` (for later processes).

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

use self::climb::{Found, climb};
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

/// Timely's channels for the workers of a process, and what has to live as long as they.
pub type Allocators = (Vec<AllocatorBuilder>, Box<dyn Any + Send>);

/// Other processes that take part in a search.
pub trait Mesh: Send + Sync {
    /// What `workers` workers of this process need to exchange messages with those of all
    /// processes; or what went wrong. The stopper is for when another process calls [`Mesh::stop`].
    fn connect(&self, workers: usize, stopper: Stopper) -> Result<Allocators, String>;

    /// Lets the other processes know that the search stops, so that they need not finish their
    /// layer.
    fn stop(&self);

    /// A connection failed during the search. Returns only if this process should go on to say that
    /// there is no answer.
    fn lost(&self);
}

/// The engine and its options.
#[derive(Clone)]
pub struct Distributed {
    /// Workers of this process; the same number in all processes.
    pub workers: usize,
    /// The other processes, if there are any.
    pub mesh: Option<Arc<dyn Mesh>>,
    /// Give up after this many threads (or tokens).
    pub max_threads: Option<u32>,
    /// Stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Keeps the state between layers, for later processes.
    pub parts: Option<Arc<dyn Parts>>,
    /// What each worker of the last search kept and sent.
    pub traffic: Arc<Mutex<Vec<Traffic>>>,
}

impl Distributed {
    /// Workers in this process only.
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

/// What all workers of a process share.
struct Setup {
    problem: Arc<Problem>,
    limits: Limits,
    mesh: Option<Arc<dyn Mesh>>,
    max_threads: Option<u32>,
    stop_at_first: bool,
    parts: Option<Arc<dyn Parts>>,
    /// The number of the next state that is kept; worker 0 counts.
    states: AtomicU64,
    phase: Mutex<String>,
    /// How many configurations each worker of this process has stored.
    stored: Vec<AtomicU64>,
    /// A worker of this process panicked: the others would wait for it forever.
    broken: AtomicBool,
}

impl Setup {
    /// Stops all workers, in all processes, as soon as they look.
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

/// Keeps the reason that says most: that others were stopped because of one worker's limit is no
/// reason of its own.
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
            let why = "the states of this model mean nothing to another process";
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
    /// Lets the workers of this process search, and reports progress meanwhile.
    fn search(&self, setup: &Arc<Setup>, watch: &dyn Watch) -> Result<Found, String> {
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
                // Dropped, the guards would join threads that do not end.
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
        // Timely panics where a connection is lost, also while the last threads are waited for.
        let joined = catch_unwind(AssertUnwindSafe(|| workers.join()));
        let found = joined.map_err(|_| "a connection to another process was lost".to_string());
        match found.and_then(|all| all.into_iter().collect::<Result<Vec<Found>, String>>()) {
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

/// One verdict per target, checked.
fn answer(problem: &Problem, limits: &Limits, found: Found) -> Answer {
    let incomplete = found.incomplete.map(Unknown::Inconclusive);
    let mut flaw = None;
    let unchecked = |why: &Unknown| {
        let why = format!("an answer was found, but its evidence not checked: {why}");
        Verdict::Unknown(Unknown::Inconclusive(why))
    };
    let mut checked: Vec<Checked> = found.checked.into_iter().collect();
    let rest = match (found.open, found.flaw) {
        // Where not all steps were listed, a bound on the search is not what kept it from an
        // answer.
        (Some(why @ (Unknown::Bound(_) | Unknown::Inconclusive(_) | Unknown::NotForThisModel(_))), _) => {
            Verdict::Unknown(incomplete.clone().unwrap_or(why))
        }
        (Some(why), _) => Verdict::Unknown(why),
        (None, _) if incomplete.is_some() => {
            Verdict::Unknown(incomplete.clone().unwrap_or(Unknown::Cancelled))
        }
        (None, Some(Flaw::Limit(why))) => unchecked(&why),
        (None, Some(wrong)) => {
            flaw = Some(format!("the closed set does not stand: {wrong}"));
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
                flaw = Some(format!("the evidence for target `{}` does not stand: {wrong}", target.name))
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
