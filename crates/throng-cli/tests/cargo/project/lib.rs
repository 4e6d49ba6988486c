//! A spin lock.
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::*};

pub struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}
unsafe impl<T: Send> Sync for SpinLock<T> {}
pub struct Guard<'a, T>(&'a SpinLock<T>);

impl<T> SpinLock<T> {
    pub const fn new(value: T) -> Self {
        SpinLock { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }
    pub fn lock(&self) -> Guard<'_, T> {
        while self.locked.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        Guard(self)
    }
    /// Looks first, and takes the lock later.
    pub fn hasty(&self) -> Guard<'_, T> {
        while self.locked.load(Acquire) {
            std::hint::spin_loop();
        }
        self.locked.store(true, Relaxed);
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
        self.0.locked.store(false, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    static LOCK: SpinLock<u32> = SpinLock::new(0);

    fn worker() {
        let mut inside = LOCK.lock();
        *inside += 1;
        assert_eq!(*inside, 1);
        *inside -= 1;
    }

    fn hasty_worker() {
        let mut inside = LOCK.hasty();
        let seen = *inside;
        *inside = seen + 1;
        assert_eq!(*inside, 1, "two threads are inside");
        *inside -= 1;
    }

    #[test]
    fn exclusion_holds_for_any_number_of_threads() {
        throng::rust::check!(any: worker).race().run();
    }

    #[test]
    fn a_hasty_lock_excludes() {
        throng::rust::check!(any: hasty_worker).run();
    }

    static READY: AtomicU32 = AtomicU32::new(0);
    static MADE: AtomicU32 = AtomicU32::new(0);
    fn make() {
        MADE.store(7, Relaxed);
    }
    fn producer() {
        READY.store(MADE.load(Relaxed), Release);
    }
    fn consumer() {
        let ready = READY.load(Acquire);
        assert!(ready == 0 || ready == 7);
    }

    #[test]
    fn roles() {
        throng::rust::check!(setup: make, one: producer, any: consumer).sequentially_consistent().run();
    }

    static TICKETS: AtomicU32 = AtomicU32::new(0);
    static SERVING: AtomicU32 = AtomicU32::new(0);
    static INSIDE: AtomicU32 = AtomicU32::new(0);

    fn ticket() {
        let mine = TICKETS.fetch_add(1, Relaxed);
        while SERVING.load(Acquire) != mine {
            std::hint::spin_loop();
        }
        assert_eq!(INSIDE.fetch_add(1, Relaxed), 0);
        INSIDE.fetch_sub(1, Relaxed);
        SERVING.store(mine.wrapping_add(1), Release);
    }

    #[test]
    fn tickets_within_a_bound() {
        let limit = std::time::Duration::from_secs(15);
        throng::rust::check!(any: ticket).sequentially_consistent().timeout(limit).or_bounded(2).run();
    }

    #[test]
    fn what_is_not_known_fails() {
        let limit = std::time::Duration::from_millis(1);
        throng::rust::check!(any: ticket).sequentially_consistent().timeout(limit).run();
    }
}
