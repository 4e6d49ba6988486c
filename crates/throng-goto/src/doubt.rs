//! Whether a run rests on something that is only known to be possible for all that the reader
//! knows: a function or variable that is defined nowhere, or the result of a function of the
//! library.

use std::collections::BTreeSet;
use std::fmt;

use throng_model::verdict::Trace;

use crate::held::Held;
use crate::model::Concrete;
use crate::program::{Program, Reg};
use crate::run::Run;
use crate::step::Event;

/// What may keep a run from being one of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Doubt {
    /// This function is called. It is not defined, so that it may do anything.
    Undefined(String),
    /// This function is called, which need not return.
    Returns(String),
    /// The run depends on the result of this function, which cannot have all values of its type.
    Result(String),
    /// The run depends on the initial value of this variable, which is not defined.
    Variable(String),
    /// The run depends on this value, which is not modelled.
    Value(String),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Undefined(name) => write!(f, "`{name}` is called, which is not defined"),
            Doubt::Returns(name) => write!(f, "`{name}` is called, which need not return"),
            Doubt::Result(name) => write!(f, "it depends on the result of `{name}`, which is not modelled"),
            Doubt::Value(what) => write!(f, "it depends on {what}, which is not modelled"),
            Doubt::Variable(name) => write!(f, "it depends on the value of `{name}`, which is not defined"),
        }
    }
}

/// Everything that a run depends on and that the program may not bear out.
pub fn doubts(model: &Concrete, trace: &Trace) -> BTreeSet<Doubt> {
    let program = model.program();
    match Run::of(model, trace) {
        Some(run) => of_run(program, &run),
        None => program.templates.iter().flat_map(|t| &t.doubts).map(|(_, doubt)| doubt.clone()).collect(),
    }
}

/// Everything that these steps depend on: the number of the thread, and what happened.
pub(crate) fn of_steps<'e>(
    program: &Program,
    steps: impl Iterator<Item = (usize, &'e [Event])>,
) -> BTreeSet<Doubt> {
    let mut doubts = Doubts { program, open: Held::default(), found: BTreeSet::new() };
    steps.for_each(|(thread, events)| doubts.step(thread, events));
    doubts.found
}

fn of_run(program: &Program, run: &Run) -> BTreeSet<Doubt> {
    let moves = run.moves.iter().map(|(thread, outcome)| (*thread, &outcome.events[..]));
    of_steps(program, moves.chain(run.racing.iter().map(|racing| (racing.thread, &racing.events[..]))))
}

struct Doubts<'p> {
    program: &'p Program,
    /// The registers of threads that hold a doubtful value which nothing has depended on yet.
    open: Held<Doubt>,
    found: BTreeSet<Doubt>,
}

impl Doubts<'_> {
    fn step(&mut self, thread: usize, events: &[Event]) {
        for event in events {
            self.open.follow(thread, event);
            match *event {
                Event::Opened(at, r) => {
                    let template = &self.program.templates[at.template as usize];
                    let doubt = template.doubt(at.pc as usize).cloned();
                    self.hold(thread, r, doubt);
                }
                Event::Chosen(r, _) => self.found.extend(self.open.get(thread, r).cloned()),
                Event::Found { address, .. } => {
                    let object = self.program.object_at(address).filter(|o| o.external);
                    self.found.extend(object.map(|o| Doubt::Variable(o.name.clone())));
                }
                _ => {}
            }
        }
    }

    /// A register receives an open value. That of a call counts at once, if the call itself is in
    /// doubt.
    fn hold(&mut self, thread: usize, r: Reg, doubt: Option<Doubt>) {
        match doubt {
            Some(doubt @ (Doubt::Undefined(_) | Doubt::Returns(_))) => _ = self.found.insert(doubt),
            doubt => self.open.set(thread, r, doubt),
        }
    }
}
