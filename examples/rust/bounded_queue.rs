//! A bounded queue behind a mutex: producers wait until there is room, consumers until there is
//! something.

use std::sync::{Condvar, Mutex};

const ROOM: u32 = 1;

pub struct Queue {
    length: Mutex<u32>,
    changed: Condvar,
}

impl Queue {
    pub const fn new() -> Self {
        Queue { length: Mutex::new(0), changed: Condvar::new() }
    }

    pub fn put(&self) {
        let mut length = self.length.lock().unwrap();
        while *length == ROOM {
            length = self.changed.wait(length).unwrap();
        }
        *length += 1;
        assert!(*length <= ROOM, "there is no room");
        self.changed.notify_all();
    }

    pub fn take(&self) {
        let mut length = self.length.lock().unwrap();
        while *length == 0 {
            length = self.changed.wait(length).unwrap();
        }
        *length -= 1;
        self.changed.notify_all();
    }
}

static QUEUE: Queue = Queue::new();

pub fn producer() {
    QUEUE.put();
}

pub fn consumer() {
    QUEUE.take();
}
