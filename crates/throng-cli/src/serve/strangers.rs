//! Connections that have not shown the token yet. They wait for a short time, and only so many of
//! them: who comes when all places are taken gets that of the one that has waited longest. So
//! connections that say nothing cannot keep out one that shows the token at once.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of connections that may wait without having shown the token.
const MOST: usize = 32;

/// The connections that have not shown the token, in the order in which they came.
#[derive(Default)]
pub(super) struct Strangers {
    waiting: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl Strangers {
    /// Lets a connection wait, and closes the oldest one if that is one too many.
    pub(super) fn admit(&self, stream: &Arc<TcpStream>) {
        let mut waiting = self.waiting();
        waiting.push_back(stream.clone());
        if waiting.len() > MOST
            && let Some(oldest) = waiting.pop_front()
        {
            // Whoever reads from it now finds the end.
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }

    /// The connection has shown the token, or is done.
    pub(super) fn leave(&self, stream: &Arc<TcpStream>) {
        self.waiting().retain(|other| !Arc::ptr_eq(other, stream));
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
