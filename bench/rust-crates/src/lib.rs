//! Crates of the registry as they are, and what is asked about each: `run` prints a table.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static CALLS: AtomicU32 = AtomicU32::new(0);

static SPIN: spin::Mutex<u32> = spin::Mutex::new(0);

pub fn spin_mutex() {
    let mut inside = SPIN.lock();
    *inside += 1;
    assert!(*inside == 1);
    *inside -= 1;
}

static TICKET: spin::mutex::ticket::TicketMutex<u32> = spin::mutex::ticket::TicketMutex::<u32>::new(0);

pub fn spin_ticket() {
    let mut inside = TICKET.lock();
    *inside += 1;
    assert!(*inside == 1);
    *inside -= 1;
}

static ONCE: spin::Once<u32> = spin::Once::new();

pub fn spin_once() {
    let value = *ONCE.call_once(|| {
        assert!(CALLS.fetch_add(1, Relaxed) == 0);
        7
    });
    assert!(value == 7);
}

static TRY: try_lock::TryLock<u32> = try_lock::TryLock::new(0);

pub fn trying() {
    if let Some(mut inside) = TRY.try_lock() {
        *inside += 1;
        assert!(*inside == 1);
        *inside -= 1;
    }
}

static RACE: once_cell::race::OnceNonZeroUsize = once_cell::race::OnceNonZeroUsize::new();

pub fn once_race() {
    let value = RACE.get_or_init(|| NonZeroUsize::new(3).unwrap());
    assert!(value.get() == 3);
}

static CELL: crossbeam_utils::atomic::AtomicCell<[u32; 4]> =
    crossbeam_utils::atomic::AtomicCell::new([0; 4]);

pub fn atomic_cell() {
    let value = CELL.load();
    assert!(value[0] == value[3]);
    CELL.store([value[0] ^ 1; 4]);
}

static WAKER: atomic_waker::AtomicWaker = atomic_waker::AtomicWaker::new();

pub fn waker() {
    let _ = WAKER.take();
}

static QUEUE: heapless::mpmc::Q2<u8> = heapless::mpmc::Q2::new();

pub fn heapless_queue() {
    if QUEUE.enqueue(5).is_ok() && let Some(value) = QUEUE.dequeue() {
        assert!(value == 5);
    }
}

pub fn array_queue() {
    let queue = Arc::new(crossbeam_queue::ArrayQueue::<u8>::new(2));
    let own = queue.clone();
    let sender = thread::spawn(move || {
        let _ = own.push(1);
        let _ = own.push(2);
    });
    if let (Some(a), Some(b)) = (queue.pop(), queue.pop()) {
        assert!(a == 1 && b == 2);
    }
    sender.join().unwrap();
}

pub fn ring() {
    let (mut sends, mut receives) = rtrb::RingBuffer::<u8>::new(2);
    let sender = thread::spawn(move || {
        let _ = sends.push(1);
        let _ = sends.push(2);
    });
    if let Ok(a) = receives.pop() {
        assert!(a == 1);
        if let Ok(b) = receives.pop() {
            assert!(b == 2);
        }
    }
    sender.join().unwrap();
}

pub fn swap() {
    let shared = Arc::new(arc_swap::ArcSwap::from_pointee(1u32));
    let own = shared.clone();
    let writer = thread::spawn(move || own.store(Arc::new(2)));
    let value = **shared.load();
    assert!(value == 1 || value == 2);
    writer.join().unwrap();
}
