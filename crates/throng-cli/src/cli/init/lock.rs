//! A lock for two threads, and what must hold: no other thread is inside.
//!
//!     throng check lock.rs
//!
//! finds an execution in which both are. The lock looks first and takes later, in two steps;
//! between them, another thread looks as well. To mend it, look and take in one step:
//! replace the two lines marked below by
//!
//!     while LOCK.swap(true, SeqCst) {}
//!
//! `throng check lock.rs --entry worker` then asks about any number of threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

static LOCK: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicU32 = AtomicU32::new(0);

pub fn worker() {
    while LOCK.load(SeqCst) {} // looks
    LOCK.store(true, SeqCst); // takes
    assert!(INSIDE.fetch_add(1, SeqCst) == 0);
    INSIDE.fetch_sub(1, SeqCst);
    LOCK.store(false, SeqCst);
}

fn main() {
    let other = std::thread::spawn(worker);
    worker();
    other.join().unwrap();
}
