//! What verdicts about programs in a source language take for granted.

use std::fmt;

/// An assumption of a verdict. It is displayed as a clause of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Assumption {
    /// Threads see all accesses in one order; `guaranteed`: the language promises that, because the
    /// program was proved free of data races.
    SequentialConsistency {
        /// True if the language guarantees it.
        guaranteed: bool,
    },
    /// Memory orders that are weaker than `seq_cst` are executed as `seq_cst`.
    StrongOrders,
    /// No read takes its value from a write that is executed later, which depends on no earlier
    /// read of its thread.
    NoLoadBuffering,
    /// Later writes of the same thread continue a release sequence, as C11 says and C++20 does not.
    ReleaseSequences,
    /// Signed integers wrap around.
    Wraps,
    /// Waits for condition variables end with a signal only.
    NoSpuriousWakeups,
    /// Statements without calls, and conditions, are one step.
    WholeStatements,
    /// The program makes no memory error.
    MemorySafe,
    /// Accesses to arrays stay inside them.
    WithinArrays,
    /// Fewer threads than this exist at a time.
    FewThreads(u64),
    /// These variables do not count past the end of their types.
    CountersFit(Vec<String>),
    /// This function is called, and neither defined nor known: it may do anything.
    Undefined {
        /// Its name.
        name: String,
        /// How to say what it does, to be changed where it does more: a row of a library.
        row: String,
    },
    /// A compiler made the program that was read.
    Compiled {
        /// The compiler in one line, and how it compiled.
        by: String,
    },
    /// An assumption of a language's reader, in its words.
    Reader(&'static str),
}

impl Assumption {
    /// Returns whether this one says more than the other: what `other` assumes, and why.
    pub fn explains(&self, other: &Assumption) -> bool {
        use Assumption::SequentialConsistency as Sequential;
        *self == Sequential { guaranteed: true } && *other == Sequential { guaranteed: false }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Assumption::SequentialConsistency { guaranteed: false } => "sequential consistency",
            Assumption::SequentialConsistency { guaranteed: true } => {
                "sequential consistency, which C guarantees to programs without data races"
            }
            Assumption::StrongOrders => "weaker memory orders are executed as memory_order_seq_cst",
            Assumption::NoLoadBuffering => "C11 without load buffering (RC11)",
            Assumption::ReleaseSequences => {
                "release sequences of C11: later writes of the same thread belong to them (in C++20 not)"
            }
            Assumption::Wraps => "signed integers wrap around",
            Assumption::NoSpuriousWakeups => "condition variables do not wake up spuriously",
            Assumption::WholeStatements => "statements without calls, and conditions, are one step",
            Assumption::MemorySafe => "the program makes no memory error",
            Assumption::WithinArrays => "accesses to arrays stay inside them",
            Assumption::FewThreads(n) => return write!(f, "fewer than {n} threads exist at a time"),
            Assumption::CountersFit(names) => {
                return write!(f, "counters do not wrap around: `{}`", names.join("`, `"));
            }
            Assumption::Undefined { name, .. } => {
                return write!(f, "`{name}` is not defined: it may do anything");
            }
            Assumption::Compiled { by } => return write!(f, "compiled by {by}"),
            Assumption::Reader(what) => what,
        })
    }
}
