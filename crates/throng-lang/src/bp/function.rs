//! Functions with names resolved: one node per executable statement, before calls are inlined.

use super::expr::Expr;
use super::lower::Globals;
pub use super::program::Variable;
use super::types::Groups;
use crate::source::Span;

/// A program with names resolved.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Shared variables.
    pub shared: Vec<Variable>,
    /// Thread-local variables, visible in all functions.
    pub thread_locals: Vec<Variable>,
    /// Functions in text order.
    pub functions: Vec<Function>,
    /// Index of `main`.
    pub main: usize,
    /// The bits of each variable.
    pub groups: Groups,
    /// Constants, and types of variables.
    pub globals: Globals,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The span of its declaration.
    pub span: Span,
    /// Number of parameters, which come first in `variables`.
    pub parameters: usize,
    /// Parameters and locals.
    pub variables: Vec<Variable>,
    /// Number of results.
    pub results: usize,
    /// One node per executable statement; the last is the end of the function.
    pub nodes: Vec<Node>,
    /// Its first node.
    pub entry: usize,
}

/// A variable as written in one function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Name {
    /// Shared variable.
    Shared(u32),
    /// The thread's own copy.
    ThreadLocal(u32),
    /// Variable of the current function.
    Local(u32),
    /// `x$` for a thread-local x.
    OtherThreadLocal(u32),
    /// `x$` for a local x of the current function.
    OtherLocal(u32),
}

impl Function {
    /// Returns whether a thread at a node of an atomic section has released it, because it waits or
    /// is about to enter it again.
    pub fn releases(&self, node: usize) -> bool {
        match self.nodes[node].kind {
            Kind::Wait { next, .. } => matches!(self.nodes[next].kind, Kind::Resume { .. }),
            Kind::Resume { .. } => true,
            _ => false,
        }
    }
}

impl Name {
    /// Returns whether it is the variable of another thread.
    pub fn is_other(self) -> bool {
        matches!(self, Name::OtherThreadLocal(_) | Name::OtherLocal(_))
    }
}

/// The value of a variable before the step, or after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ref {
    /// The variable.
    pub name: Name,
    /// True for the value after the step (`'x`).
    pub primed: bool,
}

/// One executable statement.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its operation.
    pub kind: Kind,
    /// Its span.
    pub span: Span,
    /// Its text, on one line.
    pub text: String,
    /// Labels on it.
    pub labels: Vec<String>,
    /// C location from a SATABS comment.
    pub origin: Option<String>,
    /// The condition that must hold when it is executed, or else an assertion is violated.
    pub check: Option<Expr<Ref>>,
    /// The shared variables whose old values its text reads, whether or not its effect depends on
    /// them.
    pub reads: Vec<u32>,
    /// If it is a call: the further shared variables that are read when its results are assigned,
    /// because of an `enforce`.
    pub reads_at_return: Vec<u32>,
}

/// The operation of a node. `next` and the like are indices of nodes of the same function.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    /// Also `dead`, `print`.
    Skip {
        next: usize,
    },
    Goto {
        targets: Vec<usize>,
    },
    Assume {
        condition: Expr<Ref>,
        next: usize,
    },
    Branch {
        condition: Expr<Ref>,
        then: usize,
        otherwise: usize,
    },
    Assert {
        condition: Expr<Ref>,
        next: usize,
    },
    /// `constraints` are conjuncts, those of enclosing `enforce`s included.
    Assign {
        assigns: Vec<(Name, Expr<Ref>)>,
        constraints: Vec<Expr<Ref>>,
        next: usize,
    },
    /// `site` is the first call that returns as this one does (`returns`), from which threads in
    /// the callee are said to come.
    Call {
        callee: usize,
        arguments: Vec<Expr<Ref>>,
        targets: Vec<Option<Name>>,
        constraints: Vec<Expr<Ref>>,
        next: usize,
        site: usize,
    },
    /// The first step of a thread made by `start_thread f(..)`: nothing is kept below the call.
    TailCall {
        callee: usize,
        arguments: Vec<Expr<Ref>>,
    },
    /// `None`: the end of the function was reached, results are free.
    Return {
        results: Option<Vec<Expr<Ref>>>,
    },
    Start {
        child: usize,
        next: usize,
    },
    EndThread,
    AtomicBegin {
        next: usize,
    },
    AtomicEnd {
        next: usize,
    },
    /// `atomic {`
    AtomicEnter {
        next: usize,
    },
    /// `}`: whether the thread is inside afterwards is as it was at `enter`.
    AtomicLeave {
        enter: usize,
        next: usize,
    },
    /// `condition` is 0 if it has no name. Inside `atomic { }`, next comes a `Resume`, and the
    /// section is released meanwhile.
    Wait {
        next: usize,
        condition: u32,
    },
    /// A thread that waited inside `atomic { }` enters the section again.
    Resume {
        next: usize,
    },
    Signal {
        next: usize,
        condition: u32,
    },
    Broadcast {
        next: usize,
        condition: u32,
    },
}

impl Kind {
    /// Returns the nodes of the same function to which control can go from here, except those of a
    /// new thread; a call returns.
    pub fn successors(&self) -> Vec<usize> {
        match self {
            Kind::Skip { next }
            | Kind::Assume { next, .. }
            | Kind::Assert { next, .. }
            | Kind::Assign { next, .. }
            | Kind::Call { next, .. }
            | Kind::Start { next, .. }
            | Kind::AtomicBegin { next }
            | Kind::AtomicEnd { next }
            | Kind::AtomicEnter { next }
            | Kind::AtomicLeave { next, .. }
            | Kind::Wait { next, .. }
            | Kind::Resume { next }
            | Kind::Signal { next, .. }
            | Kind::Broadcast { next, .. } => vec![*next],
            Kind::Goto { targets } => targets.clone(),
            Kind::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Kind::TailCall { .. } | Kind::Return { .. } | Kind::EndThread => Vec::new(),
        }
    }
}
