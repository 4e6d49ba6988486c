//! Limits of a run: time, memory, storage and processors; and cancellation by the caller.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::packed::region::Storage;
use crate::verdict::Unknown;

/// The limits of a run. Cheap to clone; clones share the stop flag.
#[derive(Clone, Debug)]
pub struct Limits {
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    /// The deadline and the duration of the first time limit that was set; the present one may be a
    /// share of it.
    whole: Option<(Instant, Duration)>,
    memory: Option<u64>,
    storage: Storage,
    jobs: usize,
    /// The stop flag of these limits, then those of the limits they are a part of.
    stops: Vec<Arc<AtomicBool>>,
    /// The remaining ticks of every share that this is a part of.
    work: Vec<Arc<AtomicU64>>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::none()
    }
}

impl Limits {
    /// Returns unlimited limits; the run can still be stopped.
    pub fn none() -> Limits {
        Limits {
            deadline: None,
            timeout: None,
            whole: None,
            memory: None,
            storage: None,
            jobs: 1,
            stops: vec![Arc::default()],
            work: Vec::new(),
        }
    }

    /// Returns the same limits with a stop flag of their own: stopping the part leaves the whole
    /// running, but stopping the whole stops the part.
    pub fn part(&self) -> Limits {
        let mut part = self.clone();
        part.stops.insert(0, Arc::default());
        part
    }

    /// Limits the work to this many ticks, a share that is the same on every machine. It is a part
    /// of the previous share, if there is one.
    pub fn work(mut self, ticks: u64) -> Limits {
        self.work.push(Arc::new(AtomicU64::new(ticks)));
        self
    }

    /// Limits the time, counted from now. If there is a limit already, this is a share of it.
    pub fn timeout(mut self, timeout: Duration) -> Limits {
        self.timeout = Some(timeout);
        self.deadline = Instant::now().checked_add(timeout);
        self.whole = self.whole.or(self.deadline.map(|deadline| (deadline, timeout)));
        self
    }

    /// Limits the memory of the process, in bytes.
    pub fn memory(mut self, bytes: u64) -> Limits {
        self.memory = Some(bytes);
        self
    }

    /// Keeps large sets of configurations in this storage, which does not count as memory.
    pub fn with_storage(mut self, storage: Storage) -> Limits {
        self.storage = storage;
        self
    }

    /// Returns where large sets of configurations are kept.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Sets the number of threads that check evidence.
    pub fn jobs(mut self, jobs: usize) -> Limits {
        self.jobs = jobs.max(1);
        self
    }

    /// Returns the number of threads that check evidence.
    pub fn checkers(&self) -> usize {
        self.jobs
    }

    /// Returns the memory limit in bytes, if there is one.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory
    }

    /// Returns the remaining time, if time is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns a handle that stops the run from elsewhere, e.g. on Ctrl-C.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stops[0].clone())
    }

    /// Takes ticks from the share of work, if there is one.
    fn spend(&self, ticks: u64) -> Result<(), Unknown> {
        for work in &self.work {
            let left = work.load(Ordering::Relaxed).saturating_sub(ticks);
            work.store(left, Ordering::Relaxed);
        }
        self.check_work()
    }

    fn check_work(&self) -> Result<(), Unknown> {
        let used_up = self.work.iter().any(|work| work.load(Ordering::Relaxed) == 0);
        if used_up { Err(Unknown::Work) } else { Ok(()) }
    }

    /// Returns an error if time or memory is used up or the caller asked to stop:
    /// `limits.check()?`.
    ///
    /// It costs a system call or two; inner loops use a [`Ticker`].
    pub fn check(&self) -> Result<(), Unknown> {
        if self.stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Unknown::Cancelled);
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|d| now >= d) {
            let whole = self.whole.filter(|(deadline, _)| now >= *deadline).map(|(_, timeout)| timeout);
            return Err(Unknown::Time(whole.or(self.timeout).unwrap_or_default()));
        }
        if let Some(limit) = self.memory
            && self.recent_memory() > limit
        {
            return Err(Unknown::Memory(limit));
        }
        self.check_work()
    }

    /// Returns an error if this many more bytes would exceed the memory limit.
    pub fn check_room(&self, bytes: u64) -> Result<(), Unknown> {
        match self.memory {
            Some(limit) if self.memory_in_use().saturating_add(bytes) > limit => Err(Unknown::Memory(limit)),
            _ => Ok(()),
        }
    }

    /// Returns the memory in use a millisecond ago at the most: to ask costs more than all else
    /// that is checked.
    fn recent_memory(&self) -> u64 {
        static RECENT: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
        const FRESH: Duration = Duration::from_millis(1);
        if self.storage.is_some() {
            return self.memory_in_use();
        }
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        match *recent {
            Some((when, bytes)) if when.elapsed() < FRESH => bytes,
            _ => {
                let bytes = self.memory_in_use();
                *recent = Some((Instant::now(), bytes));
                bytes
            }
        }
    }

    /// Returns the bytes of memory in use that count towards the limit.
    pub fn memory_in_use(&self) -> u64 {
        // Pages of mapped files do not count: the system reclaims them when memory is needed.
        if self.storage.is_some() { private_memory_in_use() } else { memory_in_use() }
    }
}

/// Stops the runs that share its [`Limits`].
#[derive(Clone, Debug)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Asks the runs to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks limits only once in a number of ticks, so that inner loops can afford it.
#[derive(Debug)]
pub struct Ticker<'a> {
    limits: &'a Limits,
    ticks: u32,
}

impl<'a> Ticker<'a> {
    /// Ticks between two looks at the clock.
    const EVERY: u32 = 512;

    /// Returns a ticker for these limits.
    pub fn new(limits: &'a Limits) -> Ticker<'a> {
        Ticker { limits, ticks: 0 }
    }

    /// Returns the limits that are checked.
    pub fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// Records one unit of work: about the cost of a look-up in a table.
    pub fn tick(&mut self) -> Result<(), Unknown> {
        self.ticks(1)
    }

    /// Records several units of work.
    pub fn ticks(&mut self, count: u32) -> Result<(), Unknown> {
        self.ticks = self.ticks.saturating_add(count);
        if self.ticks < Self::EVERY {
            return Ok(());
        }
        let done = std::mem::take(&mut self.ticks);
        self.limits.spend(done.into())?;
        self.limits.check()
    }
}

/// Returns the memory of the process in bytes, as the operating system counts it; 0 if unknown.
pub fn memory_in_use() -> u64 {
    memory_stats::memory_stats().map_or(0, |m| m.physical_mem as u64)
}

/// Returns the memory of the process without mapped files.
fn private_memory_in_use() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = statm.split_whitespace().skip(1).map_while(|n| n.parse::<u64>().ok());
    // The first numbers are the resident pages and those of files among them. The page size is not
    // given here, so only their ratio is used.
    let (Some(all), Some(files)) = (pages.next(), pages.next()) else { return memory_in_use() };
    let private = u128::from(all.saturating_sub(files)) * u128::from(memory_in_use());
    (private / u128::from(all.max(1))) as u64
}

/// Returns the peak memory of the process in bytes; the present memory where the operating system
/// does not record the peak.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map_or(0, |k| k << 10).max(memory_in_use())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopper_stops() {
        let limits = Limits::none();
        assert_eq!(limits.check(), Ok(()));
        limits.stopper().stop();
        assert_eq!(limits.check(), Err(Unknown::Cancelled));
    }

    #[test]
    fn a_part_stops_alone_and_with_the_whole() {
        let whole = Limits::none();
        let (one, other) = (whole.part(), whole.part());
        one.stopper().stop();
        assert_eq!((one.check(), other.check(), whole.check()), (Err(Unknown::Cancelled), Ok(()), Ok(())));
        whole.stopper().stop();
        assert_eq!(other.check(), Err(Unknown::Cancelled));
    }

    #[test]
    fn a_share_of_work_is_used_up() {
        let limits = Limits::none().work(2000);
        let mut ticker = Ticker::new(&limits);
        let ticks = (0..10_000).take_while(|_| ticker.tick().is_ok()).count();
        assert!((1000..=2100).contains(&ticks), "{ticks}");
    }

    #[test]
    fn memory_that_was_used_counts_after_it_is_gone() {
        let block = vec![1_u8; 64 << 20];
        let sum: u64 = block.iter().step_by(4096).map(|&b| u64::from(b)).sum();
        drop(block);
        assert!(sum > 0 && (memory_in_use() == 0 || peak_memory() >= 64 << 20));
    }

    #[test]
    fn time_and_memory_run_out() {
        let limits = Limits::none().timeout(Duration::ZERO);
        assert_eq!(limits.check(), Err(Unknown::Time(Duration::ZERO)));
        assert_eq!(Limits::none().memory(1).check(), Err(Unknown::Memory(1)));
        let mut ticker = Ticker::new(&limits);
        assert!((0..Ticker::EVERY).any(|_| ticker.tick().is_err()));
    }

    /// The message names the limit that the user set, not the internal share of it, in few digits.
    #[test]
    fn shares_of_a_time_limit_name_the_whole() {
        let asked = Duration::from_nanos(2);
        let share = Limits::none().timeout(asked).part().timeout(Duration::from_nanos(1));
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(share.check(), Err(Unknown::Time(asked)));
        let early = Limits::none().timeout(Duration::from_secs(3600)).part().timeout(Duration::ZERO);
        assert_eq!(early.check(), Err(Unknown::Time(Duration::ZERO)));
        let said = Unknown::Time(Duration::from_nanos(4_912_003_453)).to_string();
        assert_eq!(said, "time limit of 4.912 s reached");
    }
}
