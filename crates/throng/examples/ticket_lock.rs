//! A ticket lock as a Rust type, verified for any number of threads.
//!
//! Tickets are numbers below `TICKETS` and wrap around. That is fine as long as no more tickets are
//! out than there are numbers: the correct lock makes a thread wait before it draws. The broken one
//! lets every thread draw, and fails as soon as two threads hold the same number: with one thread
//! more than there are numbers. No test with fewer threads will ever see it.
//!
//! `cargo run --example ticket_lock`

#![allow(clippy::print_stdout)]

use throng::template::{Move, Start, System, Template};
use throng::{Error, Outcome};

/// How many different tickets there are.
pub const TICKETS: u8 = 4;

/// What the threads share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Counters {
    next: u8,
    serving: u8,
}

/// Where a thread is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// Does something else.
    Outside,
    /// Has drawn a ticket.
    Waiting {
        /// Its number.
        ticket: u8,
    },
    /// Is served.
    Critical,
}
use At::{Critical, Outside, Waiting};

/// The lock; `careful` says whether a thread waits before it draws the last free number.
pub struct TicketLock {
    careful: bool,
}

impl Template for TicketLock {
    type Shared = Counters;
    type Local = At;

    fn start(&self) -> Start<Counters, At> {
        Start::any(Counters { next: 0, serving: 0 }, Outside)
    }

    fn moves(&self, now: &Counters, at: &At) -> Vec<Move<Counters, At>> {
        let after = |n: u8| (n + 1) % TICKETS;
        let Counters { next, serving } = *now;
        match at {
            Outside if self.careful && after(next) == serving => vec![],
            Outside => {
                let drawn = Counters { next: after(next), serving };
                vec![Move::to(drawn, Waiting { ticket: next }).named("draw a ticket")]
            }
            Waiting { ticket } if *ticket == serving => vec![Move::to(now.clone(), Critical).named("enter")],
            Waiting { .. } => vec![],
            Critical => {
                let called = Counters { next, serving: after(serving) };
                vec![Move::to(called, Outside).named("leave and call the next number")]
            }
        }
    }
}

/// Can two threads be in the critical section?
pub fn verify(careful: bool) -> Result<Outcome, Error> {
    System::new(TicketLock { careful })
        .never_two("mutual exclusion", |_, a, b| (a, b) == (&Critical, &Critical))
        .verify()
}

#[test]
fn ticket_lock_is_safe_for_any_number_of_threads() {
    let outcome = verify(true).unwrap();
    assert!(outcome.is_safe(), "{outcome}");
}

#[test]
fn the_careless_one_breaks_with_one_thread_more_than_there_are_tickets() {
    let outcome = verify(false).unwrap();
    assert_eq!(outcome.trace().map(|run| run.threads()), Some(TICKETS as u32 + 1), "{outcome}");
}

fn main() -> Result<(), Error> {
    println!("{}\n{}", verify(true)?, verify(false)?);
    Ok(())
}
