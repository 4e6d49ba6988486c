//! Places that two threads must not be in at the same time: a variable for each is 1 while a thread
//! is there.

use crate::syntax::ast::Span;

use super::{Lower, Problem, written_name};
use crate::types::Ty;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Violation, address};

impl Lower<'_> {
    /// The variables that say whether a thread is there.
    pub(super) fn exclusive_places(&mut self) {
        for text in &self.question.exclusive {
            let names: Vec<String> = text.split(',').map(|n| n.trim().to_string()).collect();
            let a = self.object(format!("<{text}>"), &Ty::int(), vec![0; 4]);
            debug_assert_eq!(a, address(self.program.objects.len() as i64, 0));
            self.exclusive.push((names, a));
        }
        self.program.exclusive = self.question.exclusive.clone();
    }

    /// Labels that were asked for and are not there.
    pub(super) fn missing_labels(&mut self) {
        let places = self.exclusive.iter().flat_map(|(names, _)| names);
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
        for message in missing {
            self.problems.push(Problem { code: "E804", span: Span::none(), message, hint: None });
        }
    }

    /// The thread enters a function that is asked about; not if it is in such a function of the
    /// same set already.
    pub(super) fn enter_function(&mut self, name: &str) -> Option<usize> {
        let place = self.exclusive.iter().position(|(names, _)| names.iter().any(|n| n == name))?;
        self.labels.insert(name.to_string());
        let names = &self.exclusive[place].0;
        let around = &self.current.frames[..self.current.frames.len() - 1];
        if around.iter().any(|f| names.iter().any(|n| n == written_name(&f.name))) {
            return None;
        }
        self.enter_place(place);
        Some(place)
    }

    /// The thread is at a label that is asked about, and then goes on.
    pub(super) fn pass_label(&mut self, name: &str) {
        self.labels.insert(name.to_string());
        if let Some(place) = self.exclusive.iter().position(|(names, _)| names.iter().any(|n| n == name)) {
            self.enter_place(place);
            self.leave_place(place);
        }
    }

    fn enter_place(&mut self, place: usize) {
        let (free, taken) = (self.label(), self.label());
        let a = Expr::Const(self.exclusive[place].1);
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
    pub(super) fn leave_place(&mut self, place: usize) {
        let before = std::mem::replace(&mut self.access, Access::Internal);
        self.emit(Instr::Store(Expr::Const(self.exclusive[place].1), Expr::Const(0), INT));
        self.access = before;
    }

    /// The thread ends inside the functions that it is in.
    pub(super) fn leave_all(&mut self) {
        for place in 0..self.exclusive.len() {
            let names = &self.exclusive[place].0;
            if self.current.frames.iter().any(|f| names.iter().any(|n| n == written_name(&f.name))) {
                self.leave_place(place);
            }
        }
    }
}
