//! Stands in for the model of Boolean programs until it lands.

use crate::lang::source::Diagnostic;
use crate::model::{Edge, Local, Model, Place, Shared, Step};
use crate::problem::{Initial, Target};

/// How to read a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A thread that has ended keeps its slot under a thread bound.
    pub keep_ended: bool,
}

/// A program whose steps are computed when asked for.
pub struct Jit {
    never: std::convert::Infallible,
}

/// Reads a program.
pub fn read(_: &str, _: &Options) -> (Option<Jit>, Vec<Diagnostic>) {
    (None, vec![Diagnostic::whole("E299", "Boolean programs are not supported yet")])
}

impl Jit {
    /// Exactly `n` threads at the entry of `main`, or any number.
    pub fn initial(&self, _: Option<u32>) -> Initial {
        match self.never {}
    }

    /// The assertions as a target.
    pub fn assertions(&self) -> Option<Target> {
        match self.never {}
    }

    /// Nobody reaches the label.
    pub fn error_label(&self, _: &str) -> Result<Target, String> {
        match self.never {}
    }

    /// No two threads at the label.
    pub fn mutex(&self, _: &str) -> Result<Target, String> {
        match self.never {}
    }

    /// The expression always holds.
    pub fn invariant(&self, _: &str) -> Result<Target, Diagnostic> {
        match self.never {}
    }

    /// The syntax tree.
    pub fn tree(&self) -> &super::ast::Program {
        match self.never {}
    }
}

impl Model for Jit {
    fn post(&self, _: Shared, _: Local, _: &mut Vec<Step>) {}
    fn shared_values(&self, _: Shared) -> Vec<(String, String)> {
        match self.never {}
    }
    fn local_values(&self, _: Local) -> Vec<(String, String)> {
        match self.never {}
    }
    fn place(&self, _: Local) -> Option<Place> {
        match self.never {}
    }
    fn edge_place(&self, _: Edge) -> Place {
        match self.never {}
    }
}
