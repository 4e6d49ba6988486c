//! Models as unit tests: what `cargo test` of a project says when a lock is broken.
//!
//! A test verifies for any number of threads, so it needs no loop over sizes and no luck. Of a
//! broken model the message is the run.

#[cfg(test)]
use throng::{Engine, Input, Job, Limits};

/// A file of this project.
pub const LOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/spinlock.bp");

#[test]
fn the_lock_is_safe_for_any_number_of_threads() -> Result<(), throng::Error> {
    let outcome = throng::verify(LOCK)?;
    // Strictly: an assertion that no thread reaches does not count.
    assert!(outcome.is_strictly_safe(), "{outcome}");
    Ok(())
}

#[test]
fn two_threads_are_never_in_the_critical_section() -> Result<(), throng::Error> {
    let outcome =
        Job::new(&Input::open(LOCK)?).never_two_at("CRITICAL").check(Engine::Auto, &Limits::none())?;
    assert!(outcome.is_strictly_safe(), "{outcome}");
    Ok(())
}

fn main() {}
