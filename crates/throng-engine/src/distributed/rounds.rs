//! Rounds on timely dataflow, in which workers cooperate.
//!
//! A message sent in round r arrives in round r + 1, and a worker begins round r when timely's
//! progress tracking reports that no message of round r can arrive any more, at any worker. The
//! task is over when no worker has anything to do and no message is on its way; timely detects
//! that, too. The graph is one operator whose output is fed back to its input.

use std::cell::RefCell;
use std::rc::Rc;

use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback, Probe};
use timely::worker::Worker;

/// The destination and the content of a message.
type Message = (u64, Vec<u8>);

/// Sends a message to a worker.
pub type Send<'a> = &'a mut dyn FnMut(usize, Vec<u8>);

/// The result of a turn of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// There is more to do in this round.
    More,
    /// There is work in the next round, whether messages arrive or not.
    Next,
    /// There is no work unless messages arrive.
    Done,
}

/// One worker's part in a common task.
pub trait Task {
    /// Receives a message of this round; earlier rounds are over everywhere, except perhaps the
    /// last.
    fn receive(&mut self, round: u64, message: &[u8]);

    /// Works for a short while, after all messages of this round have been received. Round 0 has no
    /// messages.
    fn work(&mut self, round: u64, send: Send<'_>) -> Turn;
}

/// Performs a task together with the other workers, and returns it when it is over everywhere.
pub fn run<T: Task + 'static>(worker: &mut Worker, task: T) -> T {
    let shared = Rc::new(RefCell::new(Some(task)));
    let inside = shared.clone();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        let (handle, cycle) = scope.feedback::<Vec<Message>>(1);
        let to = Exchange::new(|message: &Message| message.0);
        let stream = cycle.unary_frontier(to, "rounds", |first, info| {
            let activator = scope.activator_for(info.address);
            // The rounds in which there is work.
            let mut due: Vec<Capability<u64>> = vec![first];
            move |(input, frontier), output| {
                let mut inside = inside.borrow_mut();
                let Some(task) = inside.as_mut() else { return };
                let port = output.output_index();
                input.for_each(|time, messages| {
                    let round = *time.time();
                    messages.drain(..).for_each(|(_, message)| task.receive(round, &message));
                    if !due.iter().any(|d| *d.time() == round) {
                        due.push(time.retain(port));
                        due.sort_by_key(|d| *d.time());
                    }
                });
                let Some(now) = due.first().filter(|d| !frontier.less_equal(d.time())).cloned() else {
                    return;
                };
                let round = *now.time();
                let mut session = output.session(&now);
                let turn = task.work(round, &mut |to, message| session.give((to as u64, message)));
                drop(session);
                if turn != Turn::More {
                    due.remove(0);
                }
                if turn == Turn::Next && !due.iter().any(|d| *d.time() == round + 1) {
                    due.insert(0, now.delayed(&(round + 1)));
                }
                // Timely calls again when the frontier moves, but not for work that is ready now.
                if due.first().is_some_and(|d| !frontier.less_equal(d.time())) {
                    activator.activate();
                }
            }
        });
        let (probe, stream) = stream.probe();
        stream.connect_loop(handle);
        probe
    });
    worker.step_or_park_while(None, || !probe.done());
    let task = shared.borrow_mut().take();
    task.expect("the task comes back")
}

/// Exchanges data: returns what each worker contributed, by worker number.
pub fn gather(worker: &mut Worker, mine: Vec<u8>) -> Vec<Vec<u8>> {
    let (me, workers) = (worker.index(), worker.peers());
    run(worker, Gathering { me, mine, all: vec![Vec::new(); workers] }).all
}

struct Gathering {
    me: usize,
    mine: Vec<u8>,
    all: Vec<Vec<u8>>,
}

impl Task for Gathering {
    fn receive(&mut self, _: u64, message: &[u8]) {
        let (from, what) = message.split_at(4);
        let from = from.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
        self.all[from] = what.to_vec();
    }

    fn work(&mut self, round: u64, send: Send<'_>) -> Turn {
        if round == 0 {
            let message = [&(self.me as u32).to_le_bytes()[..], &self.mine].concat();
            (0..self.all.len()).for_each(|to| send(to, message.clone()));
        }
        Turn::Done
    }
}
