//! A spin lock that looks first and takes the lock later: two threads may both have looked.

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
        while self.taken.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        self.taken.store(true, Ordering::Relaxed);
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
