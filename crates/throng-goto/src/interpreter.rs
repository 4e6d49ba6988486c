//! A direct interpreter of whole configurations: which thread moves and which way is the caller's
//! choice.

use std::sync::Arc;

use crate::program::{Program, Start};
use crate::step::{After, Memory, Outcome, Thread, initial_memory, start, step};

/// A running program.
pub struct Interpreter<'p> {
    program: &'p Program,
    /// Shared memory.
    pub memory: Arc<Memory>,
    /// The threads; `None` has ended.
    pub threads: Vec<Option<Thread>>,
    /// How it ended, if it has.
    pub ended: Option<After>,
}

impl<'p> Interpreter<'p> {
    /// The program at its start; where any number of threads may start, with none.
    pub fn new(program: &'p Program) -> Interpreter<'p> {
        let threads = match program.start {
            Start::One(template) => vec![Some(start(program, template, &[], 0))],
            Start::Any(_) => Vec::new(),
        };
        Interpreter { program, memory: Arc::new(initial_memory(program)), threads, ended: None }
    }

    /// What each thread can do next.
    pub fn choices(&self) -> Vec<(usize, Outcome)> {
        let mut found = Vec::new();
        if self.ended.is_some() {
            return found;
        }
        for (i, t) in self.threads.iter().enumerate() {
            if let Some(t) = t {
                found.extend(step(self.program, &self.memory, t).outcomes.into_iter().map(|o| (i, o)));
            }
        }
        found
    }

    /// Thread `i` moves.
    pub fn take(&mut self, i: usize, outcome: Outcome) {
        match outcome.after {
            After::Runs(memory) => self.memory = memory,
            after => self.ended = Some(after),
        }
        self.threads[i] = outcome.thread;
        self.threads.extend(outcome.started.into_iter().map(Some));
    }

    /// Runs until nothing can move, or `most` steps, by choosing with `choose(n)` among n
    /// possibilities. The number of steps.
    pub fn run(&mut self, most: usize, mut choose: impl FnMut(usize) -> usize) -> usize {
        for done in 0..most {
            let mut choices = self.choices();
            if choices.is_empty() {
                return done;
            }
            let n = choose(choices.len()) % choices.len();
            let (i, outcome) = choices.swap_remove(n);
            self.take(i, outcome);
        }
        most
    }
}
