//! A spin lock with a guard: the thread that changes the flag from false to true is inside.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

pub struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// The value is only reached through a guard, and there is one guard at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

pub struct Guard<'a, T>(&'a SpinLock<T>);

impl<T> SpinLock<T> {
    pub const fn new(value: T) -> Self {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        while self.taken.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        Guard(self)
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

static INSIDE: SpinLock<u32> = SpinLock::new(0);

pub fn worker() {
    let mut inside = INSIDE.lock();
    *inside += 1;
    assert!(*inside == 1, "two threads are inside");
    *inside -= 1;
}
