//! A ring for one producer and one consumer: each moves an index of its own.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

const SLOTS: usize = 2;

pub struct Ring {
    slots: [UnsafeCell<u8>; SLOTS],
    /// What was put in, modulo twice the number of slots; only the producer moves it.
    put: AtomicUsize,
    /// What was taken out; only the consumer moves it.
    taken: AtomicUsize,
}

// A slot belongs to the producer until `put` says it is full, and to the consumer until `taken` says
// it is free.
unsafe impl Sync for Ring {}

impl Ring {
    pub const fn new() -> Self {
        Ring {
            slots: [const { UnsafeCell::new(0) }; SLOTS],
            put: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    pub fn push(&self, value: u8) -> bool {
        let put = self.put.load(Ordering::Relaxed);
        let taken = self.taken.load(Ordering::Acquire);
        if (put + 2 * SLOTS - taken) % (2 * SLOTS) == SLOTS {
            return false;
        }
        unsafe { *self.slots[put % SLOTS].get() = value };
        self.put.store((put + 1) % (2 * SLOTS), Ordering::Release);
        true
    }

    pub fn pop(&self) -> Option<u8> {
        let taken = self.taken.load(Ordering::Relaxed);
        if self.put.load(Ordering::Acquire) == taken {
            return None;
        }
        let value = unsafe { *self.slots[taken % SLOTS].get() };
        self.taken.store((taken + 1) % (2 * SLOTS), Ordering::Release);
        Some(value)
    }
}

static RING: Ring = Ring::new();

pub fn producer() {
    let mut next = 0;
    loop {
        if RING.push(next) {
            next = (next + 1) % 8;
        }
    }
}

pub fn consumer() {
    let mut expected = 0;
    loop {
        if let Some(value) = RING.pop() {
            assert!(value == expected, "a value is lost, or comes twice");
            expected = (expected + 1) % 8;
        }
    }
}
