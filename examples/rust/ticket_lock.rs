//! A ticket lock: threads are let in in the order in which they drew a number.

use std::sync::atomic::{AtomicU32, Ordering};

pub struct TicketLock {
    next: AtomicU32,
    serving: AtomicU32,
}

impl TicketLock {
    pub const fn new() -> Self {
        TicketLock { next: AtomicU32::new(0), serving: AtomicU32::new(0) }
    }

    pub fn lock(&self) -> u32 {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != ticket {
            std::hint::spin_loop();
        }
        ticket
    }

    pub fn unlock(&self, ticket: u32) {
        self.serving.store(ticket.wrapping_add(1), Ordering::Release);
    }
}

static LOCK: TicketLock = TicketLock::new();
static INSIDE: AtomicU32 = AtomicU32::new(0);

pub fn worker() {
    let ticket = LOCK.lock();
    assert!(INSIDE.swap(1, Ordering::Relaxed) == 0, "two threads are inside");
    INSIDE.store(0, Ordering::Relaxed);
    LOCK.unlock(ticket);
}
