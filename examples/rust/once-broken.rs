//! A value that threads take for made while it is being made.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

const EMPTY: u8 = 0;
const MAKING: u8 = 1;
const READY: u8 = 2;

pub struct Once<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

// The value is written by the thread that made MAKING of EMPTY, and read when it is READY.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    pub const fn new() -> Self {
        Once { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }

    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        match self.state.compare_exchange(EMPTY, MAKING, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                unsafe { *self.value.get() = Some(make()) };
                self.state.store(READY, Ordering::Release);
            }
            Err(_) => {
                while self.state.load(Ordering::Acquire) == EMPTY {
                    std::hint::spin_loop();
                }
            }
        }
        unsafe { (*self.value.get()).as_ref() }.expect("a value that is ready")
    }
}

static ANSWER: Once<u32> = Once::new();

pub fn worker() {
    let answer = *ANSWER.get(|| 42);
    assert!(answer == 42);
}
