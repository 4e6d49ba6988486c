//! A goto program and what is asked about it, as problems that engines answer.

use std::sync::Arc;

use throng_lang::source::Source;
use throng_model::assumption::Assumption;
use throng_model::memory::MemoryModel;
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::{Bag, Config};

use crate::model::{Concrete, Remarks};
use crate::program::{Program, Start, Violation};
use crate::question::Question;

/// A goto program, the source file it was read from, and what is asked about it.
#[derive(Clone)]
pub struct Query {
    /// The user's file.
    pub source: Arc<Source>,
    /// What it means.
    pub program: Arc<Program>,
    /// The same with all its calls, where races or deadlocks are asked for: what a static analysis
    /// reads.
    pub whole: Option<Arc<Program>>,
    /// What was asked.
    pub question: Question,
    /// What was left open in reading it.
    pub notes: Vec<Assumption>,
}

impl Query {
    /// The program as a model.
    pub fn model(&self) -> Arc<Concrete> {
        Arc::new(Concrete::new(self.program.clone()))
    }

    /// The question whether some run violates a property, over concrete values.
    pub fn problem(&self) -> Problem {
        self.problem_of(self.model())
    }

    /// The same about a model of the program.
    pub fn problem_of(&self, model: Arc<Concrete>) -> Problem {
        let (shared, threads) = model.initial();
        let initial = match &self.program.start {
            Start::One(_) => Initial { shared, threads: threads.iter().copied().collect(), any: Vec::new() },
            Start::Any(_) => Initial { shared, threads: Bag::new(), any: threads.to_vec() },
        };
        let names = self.question.entries.join(", ");
        let initial_text = match &self.program.start {
            Start::One(_) if self.question.entries.is_empty() => "one thread at main".into(),
            Start::One(_) => format!("one thread that starts any number of threads, each calling {names}"),
            Start::Any(_) => format!("any number of threads, each calling {names}"),
        };
        let targets = self.program.asked.iter().enumerate().map(|(n, &what)| {
            let mut bad = vec![Config::new(model.failed(n), Bag::new())];
            // Nothing is known about what the program does after a memory error.
            if self.program.memory_errors && what != Violation::Memory {
                bad.push(Config::new(model.memory_error(), Bag::new()));
            }
            Target {
                property: self.question.property(what).map(Arc::new),
                ..Target::covering(self.question.name(what), bad)
            }
        });
        Problem { targets: targets.collect(), initial: vec![initial], initial_text, bound: Bound::Any, model }
    }

    /// The functions that are called, and neither defined nor known: they may do anything, so that
    /// nothing is proved about the program.
    pub fn undefined(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(|note| match note {
            Assumption::Undefined { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// The memory model that is asked about: that of C11 where the program names an order that is
    /// weaker than `seq_cst`, unless the question says another.
    pub fn memory_model(&self) -> MemoryModel {
        let own = if self.program.weak_orders { MemoryModel::C11 } else { MemoryModel::Sequential };
        self.question.memory_model.unwrap_or(own)
    }

    /// Returns whether more executions are asked about than those of sequential consistency.
    pub fn is_weak(&self) -> bool {
        self.memory_model() != MemoryModel::Sequential
    }

    /// Returns what a verdict takes for granted, the notes of the reader included.
    pub fn assumptions(&self, remarks: &Remarks) -> Vec<Assumption> {
        let wraps = remarks.overflow.is_some() && !self.question.overflow;
        let no_spurious = self.program.waits && self.question.exact_waits();
        let all = [
            (true, Assumption::SequentialConsistency { guaranteed: false }),
            (self.program.weak_orders, Assumption::StrongOrders),
            (wraps, Assumption::Wraps),
            (no_spurious, Assumption::NoSpuriousWakeups),
            (self.question.whole_statements, Assumption::WholeStatements),
        ];
        let made = all.into_iter().filter(|(made, _)| *made).map(|(_, assumption)| assumption);
        made.chain(self.notes.iter().cloned()).collect()
    }
}
