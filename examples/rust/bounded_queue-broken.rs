//! A bounded queue whose threads look once whether they may go on: when one of them wakes up, another
//! may have been quicker.

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
        if *length == ROOM {
            length = self.changed.wait(length).unwrap();
        }
        *length += 1;
        assert!(*length <= ROOM, "there is no room");
        self.changed.notify_all();
    }

    pub fn take(&self) {
        let mut length = self.length.lock().unwrap();
        if *length == 0 {
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
