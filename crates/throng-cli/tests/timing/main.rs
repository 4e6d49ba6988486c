//! What depends on the clock: limits that must be kept, answers that must come in time, and processes that are stopped at some moment.
//!
//! These are the only tests that sleep or measure time, and they can fail on a machine that is very busy. So they run one after another, and
//! Cargo runs no other test binary at the same time; all margins are several times what is needed.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod editor;
mod growth;
mod limits;
mod numbers;
mod readers;
#[cfg(unix)]
mod stopped;

/// Held by every test here, so that none runs beside another.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
