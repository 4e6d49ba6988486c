//! What depends on the clock: limits that must be kept, answers that must come in time, and
//! processes that are stopped at some moment.
//!
//! Only these tests measure how long something takes. They run one after another, Cargo runs no
//! other test binary at the same time, and a machine may be twenty times as slow as one that does
//! nothing else.

use std::sync::{Mutex, MutexGuard, PoisonError};

mod editor;
mod growth;
mod limits;
mod numbers;
mod readers;
#[cfg(unix)]
mod stopped;

/// Factor by which a busy machine may take longer.
const BUSY: u32 = 20;

/// Held by every test here, so that none runs beside another.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
