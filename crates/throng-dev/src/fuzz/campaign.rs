//! Many cases, by several threads, with counts that can be saved and resumed.
//!
//! Cases are numbered; number and seed determine a case. Threads take the next number and send what
//! came of it to the one place that counts. A case whose result was not counted when the process
//! ended is simply run again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::case::{Body, Case};
use super::compare::{Effort, Failure, Kind, Tally, compare, processor_time};
use super::coverage::constructs;
use super::generate::generate;
use super::known::Known;
use super::oracles::Oracle;
use super::shrink::shrink;
use crate::Rng;

/// Deeply nested inputs recurse deeply; this is address space, not memory.
const STACK: usize = 256 << 20;

/// More failures of one kind are counted but not kept, in one call.
const MOST_ALIKE: usize = 5;

/// Parameters of a campaign.
pub struct Campaign {
    /// The seed of its cases.
    pub seed: u64,
    /// The size of cases, see [`generate`].
    pub size: usize,
    /// Number of threads that run cases.
    pub jobs: usize,
    /// Maximum number of cases.
    pub count: Option<u64>,
    /// Stop after this long.
    pub time: Option<Duration>,
    /// Limits on the cost of each answer.
    pub effort: Effort,
    /// A case that takes longer hangs.
    pub patience: Duration,
    /// The oracles to compare.
    pub oracles: Arc<Vec<Oracle>>,
}

/// All that was counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// For each seed and size, which cases were run.
    pub seeds: BTreeMap<String, Progress>,
    /// Number of cases of each kind.
    pub cases: BTreeMap<String, u64>,
    /// In how many cases a construct occurred.
    pub constructs: BTreeMap<String, u64>,
    /// Claims about any number of threads.
    pub any: Tally,
    /// Claims with `--threads`.
    pub bounded: Tally,
    /// Failures, each with how often it was met.
    pub failures: BTreeMap<String, u64>,
    /// Processor time.
    pub processor_seconds: f64,
}

/// The cases of a seed that were run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// All below this.
    pub next: u64,
    /// And these.
    pub later: BTreeSet<u64>,
}

impl Progress {
    fn add(&mut self, number: u64) {
        self.later.insert(number);
        while self.later.remove(&self.next) {
            self.next += 1;
        }
    }
}

impl State {
    /// Returns the number of cases that were run.
    pub fn total(&self) -> u64 {
        self.cases.values().sum()
    }

    fn add(&mut self, campaign: &Campaign, done: &Done) {
        self.seeds.entry(campaign.name()).or_default().add(done.number);
        *self.cases.entry(making(&done.case)).or_default() += 1;
        for construct in constructs(&done.case) {
            *self.constructs.entry(construct.to_string()).or_default() += 1;
        }
        let tally = if done.case.threads.is_some() { &mut self.bounded } else { &mut self.any };
        match &done.result {
            Ok(more) => tally.add(more),
            Err(found) => *self.failures.entry(found.title()).or_default() += 1,
        }
        self.processor_seconds += done.took.as_secs_f64();
    }
}

/// Returns the kind of a case.
fn making(case: &Case) -> String {
    let what = match case.body {
        Body::Program(_) => "programs",
        Body::Threads(_) => "thread-transition systems",
        Body::Net(_) => "nets",
    };
    let how = match case.known {
        None => "at random",
        Some(Known::Weights { .. } | Known::Invariant(_)) => "around an invariant",
        Some(Known::Run(_) | Known::Walk(_)) => "along a run",
    };
    format!("{what}, {how}")
}

/// A failure, and the smallest case that shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Found {
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the case.
    pub number: u64,
    /// The size of its cases.
    pub size: usize,
    /// The failure that the small case shows.
    pub failure: Failure,
    /// The small case.
    pub case: Case,
    /// The case as it was made.
    pub original: Case,
}

impl Found {
    /// Returns the title of failures of this kind.
    pub fn title(&self) -> String {
        format!("{:?}: {}", self.failure.kind, self.failure.oracles.join(" against "))
    }
}

/// Reports of a campaign while it runs.
pub enum News<'a> {
    /// Something is wrong; it should be kept.
    Found(&'a Found),
    /// The counts so far, which should be kept; `true` at the end.
    Counted(&'a State, bool),
}

struct Done {
    number: u64,
    case: Case,
    result: Result<Tally, Box<Found>>,
    took: Duration,
}

/// Numbers of cases that have not been run.
struct Numbers {
    progress: Progress,
    next: u64,
    left: Option<u64>,
}

impl Numbers {
    fn take(&mut self) -> Option<u64> {
        self.left = match self.left {
            Some(0) => return None,
            left => left.map(|n| n - 1),
        };
        while self.progress.later.contains(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

/// The case that a thread works on, and since when.
type Busy = Arc<Mutex<Option<(u64, Instant)>>>;

impl Campaign {
    /// Returns the name under which a state keeps the cases of this campaign.
    pub fn name(&self) -> String {
        format!("{} size {}", self.seed, self.size)
    }

    /// A case of this campaign.
    pub fn case(&self, number: u64) -> Case {
        let base = Rng::new(self.seed).bits();
        generate(base.wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95)), self.size)
    }

    /// Runs cases until there are enough, time is up or `stop` says so; `state` is resumed.
    pub fn run(
        self: &Arc<Campaign>,
        mut state: State,
        stop: &Arc<dyn Fn() -> bool + Send + Sync>,
        report: &mut dyn FnMut(News<'_>),
    ) -> State {
        let progress = state.seeds.get(&self.name()).cloned().unwrap_or_default();
        let numbers = Arc::new(Mutex::new(Numbers { next: progress.next, progress, left: self.count }));
        let until = self.time.map(|time| Instant::now() + time);
        let (send, receive) = channel();
        let busy: Vec<Busy> = (0..self.jobs.max(1)).map(|_| Busy::default()).collect();
        for busy in &busy {
            let (campaign, numbers, stop) = (self.clone(), numbers.clone(), stop.clone());
            let (send, busy) = (send.clone(), busy.clone());
            let work = move || campaign.work(&numbers, until, &*stop, &busy, &send);
            let started = thread::Builder::new().name("throng".into()).stack_size(STACK).spawn(work);
            if started.is_err() {
                break;
            }
        }
        drop(send);
        let mut kept = Instant::now();
        let mut alike = BTreeMap::new();
        loop {
            match receive.recv_timeout(Duration::from_secs(1)) {
                Ok(done) => self.count(&mut state, &done, &mut alike, report),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if kept.elapsed() > Duration::from_secs(10) {
                if let Some(done) = busy.iter().find_map(|busy| self.hangs(busy)) {
                    self.count(&mut state, &done, &mut alike, report);
                    // A thread cannot be ended; the end of the process ends it.
                    break;
                }
                report(News::Counted(&state, false));
                kept = Instant::now();
            }
        }
        report(News::Counted(&state, true));
        state
    }

    fn count(
        &self,
        state: &mut State,
        done: &Done,
        alike: &mut BTreeMap<String, usize>,
        report: &mut dyn FnMut(News<'_>),
    ) {
        state.add(self, done);
        let Err(found) = &done.result else { return };
        let kept = alike.entry(found.title()).or_default();
        *kept += 1;
        if *kept <= MOST_ALIKE {
            report(News::Found(found));
            report(News::Counted(state, false));
        }
    }

    fn work(
        &self,
        numbers: &Mutex<Numbers>,
        until: Option<Instant>,
        stop: &(dyn Fn() -> bool + Send + Sync),
        busy: &Busy,
        send: &Sender<Done>,
    ) {
        while !stop() && until.is_none_or(|until| Instant::now() < until) {
            let Some(number) = numbers.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
            *busy.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, Instant::now()));
            let done = self.one(number);
            *busy.lock().unwrap_or_else(PoisonError::into_inner) = None;
            if send.send(done).is_err() {
                return;
            }
        }
    }

    fn one(&self, number: u64) -> Done {
        let began = processor_time();
        let case = self.case(number);
        let result = compare(&case, &self.oracles, &self.effort);
        let result = result.map_err(|failure| Box::new(self.shrunk(number, &case, failure)));
        Done { number, case, result, took: processor_time().saturating_sub(began) }
    }

    fn shrunk(&self, number: u64, case: &Case, failure: Failure) -> Found {
        let Campaign { seed, size, .. } = *self;
        let mut found = Found { seed, number, size, failure, case: case.clone(), original: case.clone() };
        // Of what is refused, the smallest is nonsense.
        if found.failure.kind != Kind::Refused {
            let mut last = None;
            let first = found.failure.clone();
            found.case = shrink(case, self.patience / 4, &mut |smaller| match compare(
                smaller,
                &self.oracles,
                &self.effort,
            ) {
                Err(failure) if failure.is_like(&first) => {
                    last = Some(failure);
                    true
                }
                _ => false,
            });
            found.failure = last.unwrap_or(first);
        }
        found
    }

    /// A case that takes too long, as a failure.
    fn hangs(&self, busy: &Busy) -> Option<Done> {
        let (number, since) = (*busy.lock().unwrap_or_else(PoisonError::into_inner))?;
        if since.elapsed() < self.patience {
            return None;
        }
        let case = self.case(number);
        let what = format!("the case does not come to an end within {} s", self.patience.as_secs());
        let failure =
            Failure { kind: Kind::Overrun, oracles: vec!["an oracle".into()], what, sort: String::new() };
        let Campaign { seed, size, .. } = *self;
        let found = Found { seed, number, size, failure, case: case.clone(), original: case.clone() };
        Some(Done { number, case, result: Err(Box::new(found)), took: since.elapsed() })
    }
}
