//! Memory orders.

use std::fmt;
use std::str::FromStr;

/// The memory order of an access or a fence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// Not atomic: an access that may be part of a data race.
    Plain,
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

impl Order {
    /// All orders with the words that programs and messages use for them.
    pub const NAMES: [(Order, &'static str); 6] = [
        (Order::Plain, "plain"),
        (Order::Relaxed, "relaxed"),
        (Order::Acquire, "acquire"),
        (Order::Release, "release"),
        (Order::AcqRel, "acq_rel"),
        (Order::SeqCst, "seq_cst"),
    ];

    /// Returns whether a read or a fence of this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Returns whether a write or a fence of this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// The least order that is at least as strong as both.
    pub fn join(self, other: Order) -> Order {
        match (self, other) {
            (a, b) if a == b => a,
            (Order::Acquire, Order::Release) | (Order::Release, Order::Acquire) => Order::AcqRel,
            (a, b) => a.max(b),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Order::NAMES.iter().find(|(order, _)| order == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let text = if text == "sc" { "seq_cst" } else { text };
        Order::NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(order, _)| *order)
            .ok_or_else(|| format!("expected one of {}", Order::NAMES.map(|(_, name)| name).join(", ")))
    }
}
