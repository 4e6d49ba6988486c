//! Places that two threads must not be in at the same time: a variable for each is 1 while a thread
//! is there.

use std::collections::HashSet;

use crate::syntax::ast::Span;

use super::{Lower, Problem, written_name};
use crate::library::special::THREAD_EXIT;
use crate::types::Ty;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Violation, address};
use throng_model::property::ANYWHERE;

/// Places that two threads must not be in at the same time.
pub(super) struct Exclusive {
    names: Vec<String>,
    /// The variable that is 1 while a thread is there.
    taken: i64,
    /// A variable of each thread that counts how many of the functions it is in, if it may be in
    /// several, or end in one.
    depth: Option<i64>,
}

impl Lower<'_> {
    /// The variables that say whether a thread is there.
    pub(super) fn exclusive_places(&mut self) {
        for text in &self.question.exclusive {
            let names: Vec<String> = text.split(',').map(|n| n.trim().to_string()).collect();
            let a = self.object(format!("<{text}>"), &Ty::int(), vec![0; 4]);
            debug_assert_eq!(a, address(self.program.objects.len() as i64, 0));
            let depth = self.may_nest(&names).then(|| self.thread_local(&format!("<depth of {text}>"), 4, 4));
            self.exclusive.push(Exclusive { names, taken: a, depth });
        }
        self.program.exclusive = self.question.exclusive.clone();
    }

    /// Returns whether a thread may come from one of these functions into another, or end in one.
    fn may_nest(&self, names: &[String]) -> bool {
        let is_one = |link: &String| names.iter().any(|n| n == written_name(link));
        let (mut seen, mut work) = (HashSet::new(), Vec::new());
        work.extend(self.definitions.keys().filter(|link| is_one(link)));
        let pointed = work.iter().any(|link| self.values.contains(written_name(link)));
        let (any, mut ends) = (!work.is_empty(), false);
        while let Some(link) = work.pop() {
            let used = &self.definitions[link].bare;
            ends |= used.contains(THREAD_EXIT);
            let next = self.definitions.keys().filter(|link| used.contains(written_name(link)));
            work.extend(next.filter(|link| seen.insert(*link)));
        }
        any && (pointed || ends || seen.into_iter().any(is_one))
    }

    /// Labels that were asked for and are not there.
    pub(super) fn missing_labels(&mut self) {
        let places = self.exclusive.iter().flat_map(|e| &e.names);
        let labels = self.question.error_labels.iter();
        let missing: Vec<String> = labels
            .filter(|l| !self.labels.contains(*l))
            .map(|l| format!("there is no label `{l}` in code that runs"))
            .chain(
                places
                    .filter(|n| !self.labels.contains(*n))
                    .map(|n| format!("there is no label and no function `{n}` in code that runs")),
            )
            .collect();
        let lost = self
            .question
            .stuck
            .iter()
            .chain(&self.question.starvation)
            .flat_map(|text| text.split('|'))
            .filter(|n| !self.is_place(n));
        let lost =
            lost.map(|n| format!("there is no label, function or line `{}` in code that runs", n.trim()));
        for message in missing.into_iter().chain(lost.collect::<Vec<_>>()) {
            self.problems.push(Problem { code: "E804", span: Span::none(), message, hint: None });
        }
    }

    /// Returns whether a thread can be at a place with this name.
    fn is_place(&self, name: &str) -> bool {
        let name = name.trim();
        let is_line = name.strip_prefix("line").unwrap_or(name).trim().parse::<u32>().is_ok();
        name == ANYWHERE
            || is_line
            || self.labels.contains(name)
            || self.definitions.keys().any(|link| written_name(link) == name)
    }

    /// Returns the place that a name stands for.
    fn exclusive_place(&mut self, name: &str) -> Option<usize> {
        let place = self.exclusive.iter().position(|e| e.names.iter().any(|n| n == name))?;
        self.labels.insert(name.to_string());
        Some(place)
    }

    /// The thread enters a function that is asked about; if it is in such a function of the same
    /// set already, it is there.
    pub(super) fn enter_function(&mut self, name: &str) -> Option<usize> {
        let place = self.exclusive_place(name)?;
        self.unless_nested(place, 0, 1, |s| s.enter_place(place));
        Some(place)
    }

    /// The thread leaves the function.
    pub(super) fn leave_function(&mut self, place: usize) {
        self.unless_nested(place, 1, -1, |s| s.leave_place(place));
    }

    /// Counts the functions of a place that the thread is in; `write` writes what happens where
    /// there are so many before.
    fn unless_nested(&mut self, place: usize, outer: i64, step: i64, write: impl FnOnce(&mut Self)) {
        let Some(depth) = self.exclusive[place].depth else { return write(self) };
        let (outside, inside) = (self.label(), self.label());
        let count = self.load(&Expr::Const(depth), 0, INT);
        self.store(&Expr::Const(depth), 0, Self::plus(count.clone(), step), INT);
        self.emit(Instr::Branch(Self::equals(count, outer), outside, inside));
        self.place_label(outside);
        write(self);
        self.place_label(inside);
    }

    /// The thread is at a label that is asked about, and then goes on.
    pub(super) fn pass_label(&mut self, name: &str) {
        self.labels.insert(name.to_string());
        if let Some(place) = self.exclusive_place(name) {
            self.enter_place(place);
            self.leave_place(place);
        }
    }

    fn enter_place(&mut self, place: usize) {
        let (free, taken) = (self.label(), self.label());
        let a = Expr::Const(self.exclusive[place].taken);
        let before = std::mem::replace(&mut self.access, Access::Internal);
        self.emit(Instr::AtomicBegin);
        let r = self.register(INT, None);
        self.emit(Instr::Load(r, a.clone(), INT));
        self.emit(Instr::Branch(Expr::bin(BinOp::Eq, Expr::Reg(r), Expr::Const(0), INT), free, taken));
        self.place_label(taken);
        let why = format!("two threads are in {}", self.question.exclusive[place]);
        self.emit(Instr::Fail(Violation::Exclusion(place as u32), why));
        self.place_label(free);
        self.emit(Instr::Store(a, Expr::Const(1), INT));
        self.emit(Instr::AtomicEnd);
        self.access = before;
    }

    /// The thread is no longer there.
    fn leave_place(&mut self, place: usize) {
        let before = std::mem::replace(&mut self.access, Access::Internal);
        self.emit(Instr::Store(Expr::Const(self.exclusive[place].taken), Expr::Const(0), INT));
        self.access = before;
    }

    /// The thread ends inside the functions that it is in.
    pub(super) fn leave_all(&mut self) {
        for place in 0..self.exclusive.len() {
            let Some(depth) = self.exclusive[place].depth else { continue };
            let (inside, outside) = (self.label(), self.label());
            let count = self.load(&Expr::Const(depth), 0, INT);
            self.emit(Instr::Branch(Expr::is_zero(count), outside, inside));
            self.place_label(inside);
            self.leave_place(place);
            self.place_label(outside);
        }
    }
}
