//! What is asked about a C program.

use throng_model::memory::MemoryModel;
use throng_model::property::{Part, Property, Together};

use crate::program::{About, Violation};

/// What is asked, and how threads start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Question {
    /// Ask about assertions also where one of the other kinds of failure is asked for.
    pub assertions: bool,
    /// Ask only what is named here: not about assertions as well.
    pub only: bool,
    /// Asked by a property file, which asks for one thing only.
    pub by_property_file: bool,
    /// Labels that must not be reached.
    pub error_labels: Vec<String>,
    /// Labels and functions in which two threads must not be at the same time; `A,B` for several
    /// that exclude one another.
    pub exclusive: Vec<String>,
    /// No data race.
    pub race: bool,
    /// What the question about races is limited to; empty: nothing.
    pub about: Vec<About>,
    /// No signed overflow, no division by zero, no shift that is too far.
    pub overflow: bool,
    /// No misuse of locks.
    pub locks: bool,
    /// No memory error: no access where no object is, no use of what was freed or has ended.
    pub memory_safety: bool,
    /// No deadlock.
    pub deadlock: bool,
    /// Places at which no thread may be stuck: labels, functions, lines; or `any`.
    pub stuck: Vec<String>,
    /// Places that every thread leaves under a fair scheduler: labels, functions, lines.
    pub starvation: Vec<String>,
    /// Functions that any number of threads call, instead of one thread in `main`.
    pub entries: Vec<String>,
    /// A wait for a condition variable ends with a signal only.
    pub no_spurious: bool,
    /// Statements without calls, and conditions, are one step.
    pub whole_statements: bool,
    /// Accesses to variables that are declared `volatile` are atomic.
    pub volatile_atomic: bool,
    /// The only function whose call is an error, instead of all that say so; an assertion that
    /// fails then ends the process.
    pub error_function: Option<String>,
    /// `long` and sizes have 32 bits.
    pub ilp32: bool,
    /// The memory model that is asked about; without one, the program decides.
    pub memory_model: Option<MemoryModel>,
}

impl Question {
    /// The violations that are asked for. Assertions are, unless another kind of failure is asked
    /// for by itself.
    pub fn violations(&self) -> Vec<Violation> {
        let kinds = [
            (self.race, Violation::Race),
            (self.overflow, Violation::Overflow),
            (self.locks, Violation::Locks),
            (self.memory_safety, Violation::Memory),
        ];
        let alone = self.only || self.asks_who_waits() || kinds.iter().any(|k| k.0);
        let mut asked = Vec::new();
        if self.assertions || !alone || !self.error_labels.is_empty() {
            asked.push(Violation::Assertion);
        }
        asked.extend((0..self.exclusive.len() as u32).map(Violation::Exclusion));
        asked.extend(kinds.iter().filter(|k| k.0).map(|k| k.1));
        asked
    }

    /// Returns whether a memory error that is met is reported, asked for or not.
    pub fn reports_memory_errors(&self) -> bool {
        !self.by_property_file || self.memory_safety
    }

    /// The same question for each thing that is asked.
    pub fn singles(&self) -> Vec<Question> {
        let nothing = Question {
            assertions: false,
            only: true,
            error_labels: Vec::new(),
            exclusive: Vec::new(),
            race: false,
            overflow: false,
            locks: false,
            memory_safety: false,
            deadlock: false,
            stuck: Vec::new(),
            starvation: Vec::new(),
            ..self.clone()
        };
        let mut found = Vec::new();
        if self.violations().contains(&Violation::Assertion) {
            found.push(Question {
                assertions: true,
                error_labels: self.error_labels.clone(),
                ..nothing.clone()
            });
        }
        for place in &self.exclusive {
            let exclusive = vec![place.clone()];
            found.push(Question { exclusive, ..nothing.clone() });
        }
        let mut one = |asked: bool, set: fn(&mut Question)| {
            if asked {
                let mut question = nothing.clone();
                set(&mut question);
                found.push(question);
            }
        };
        one(self.race, |q| q.race = true);
        one(self.overflow, |q| q.overflow = true);
        one(self.locks, |q| q.locks = true);
        one(self.memory_safety, |q| q.memory_safety = true);
        one(self.deadlock, |q| q.deadlock = true);
        for place in &self.stuck {
            found.push(Question { stuck: vec![place.clone()], ..nothing.clone() });
        }
        for place in &self.starvation {
            found.push(Question { starvation: vec![place.clone()], ..nothing.clone() });
        }
        found
    }

    /// Returns whether the question is about threads that wait for ever.
    pub fn asks_who_waits(&self) -> bool {
        self.deadlock || !(self.stuck.is_empty() && self.starvation.is_empty())
    }

    /// Returns whether, of threads that wait for ever, only deadlocks are asked about.
    pub fn asks_about_deadlocks_only(&self) -> bool {
        self.deadlock && self.stuck.is_empty() && self.starvation.is_empty()
    }

    /// Returns whether waits for condition variables are modelled with their signals: a thread that
    /// waits for a signal that never comes is part of a deadlock.
    pub fn exact_waits(&self) -> bool {
        self.no_spurious || self.asks_who_waits()
    }

    /// The property that a violation violates, where it has a name in other languages as well.
    pub fn property(&self, what: Violation) -> Option<Property> {
        Some(match what {
            Violation::Assertion => Property::Assertions,
            Violation::Exclusion(n) => {
                let text = self.exclusive.get(n as usize)?;
                let places = text.split(',').map(|place| Part::of(place, 0)).collect();
                Property::Mutex(Together::two_at(text, places))
            }
            Violation::Race => Property::Race(None),
            Violation::Memory => Property::MemorySafety,
            Violation::Overflow | Violation::Locks => return None,
        })
    }

    /// What a violation is called in reports.
    pub fn name(&self, what: Violation) -> String {
        match what {
            Violation::Assertion => "assertions".into(),
            Violation::Exclusion(n) => {
                let place = self.exclusive.get(n as usize).map_or("", String::as_str);
                format!("mutex {place}")
            }
            Violation::Race => {
                let about = self.about.iter().map(|about| format!(" {about}"));
                std::iter::once("race".into()).chain(about).collect()
            }
            Violation::Overflow => "overflow".into(),
            Violation::Locks => "locks".into(),
            Violation::Memory => Property::MemorySafety.name(),
        }
    }
}
