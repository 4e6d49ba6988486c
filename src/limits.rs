//! When to stop: time, memory, and somebody saying so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::verdict::Unknown;

/// What a run may use. Cheap to clone; clones share the stop flag.
#[derive(Clone, Debug)]
pub struct Limits {
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    memory: Option<u64>,
    stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::none()
    }
}

impl Limits {
    /// No limits; can still be stopped.
    pub fn none() -> Limits {
        Limits { deadline: None, timeout: None, memory: None, stop: Arc::default() }
    }

    /// Stops after this long, counted from now.
    pub fn timeout(mut self, timeout: Duration) -> Limits {
        self.timeout = Some(timeout);
        self.deadline = Instant::now().checked_add(timeout);
        self
    }

    /// Stops when the process uses more than this many bytes.
    pub fn memory(mut self, bytes: u64) -> Limits {
        self.memory = Some(bytes);
        self
    }

    /// The memory limit in bytes, if there is one.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory
    }

    /// A handle that stops the run from elsewhere, e.g. on Ctrl-C.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// `Err` once time or memory is up or somebody asked to stop: `limits.check()?`.
    ///
    /// Costs a system call or two; use a [`Ticker`] in inner loops.
    pub fn check(&self) -> Result<(), Unknown> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unknown::Cancelled);
        }
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            return Err(Unknown::Time(self.timeout.unwrap_or_default()));
        }
        if let Some(limit) = self.memory
            && memory_in_use() > limit
        {
            return Err(Unknown::Memory(limit));
        }
        Ok(())
    }
}

/// Stops the runs that share its [`Limits`].
#[derive(Clone, Debug)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Asks them to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks limits every so many ticks, so that an inner loop can afford to ask.
#[derive(Debug)]
pub struct Ticker<'a> {
    limits: &'a Limits,
    ticks: u32,
}

impl<'a> Ticker<'a> {
    /// Ticks between two looks at the clock.
    const EVERY: u32 = 512;

    /// A ticker for these limits.
    pub fn new(limits: &'a Limits) -> Ticker<'a> {
        Ticker { limits, ticks: 0 }
    }

    /// One unit of work was done.
    pub fn tick(&mut self) -> Result<(), Unknown> {
        self.ticks += 1;
        if self.ticks < Self::EVERY {
            return Ok(());
        }
        self.ticks = 0;
        self.limits.check()
    }
}

/// Bytes of memory the process uses now, as the operating system counts them; 0 where it does not say.
pub fn memory_in_use() -> u64 {
    memory_stats::memory_stats().map_or(0, |m| m.physical_mem as u64)
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
    fn time_and_memory_run_out() {
        let limits = Limits::none().timeout(Duration::ZERO);
        assert_eq!(limits.check(), Err(Unknown::Time(Duration::ZERO)));
        assert_eq!(Limits::none().memory(1).check(), Err(Unknown::Memory(1)));
        let mut ticker = Ticker::new(&limits);
        assert!((0..Ticker::EVERY).any(|_| ticker.tick().is_err()));
    }
}
