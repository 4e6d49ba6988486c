//! The results of readers of explicit systems, and the collection of their diagnostics.

use std::sync::Arc;

use crate::patience::Patience;
use crate::property::Part;
use crate::source::Diagnostic;
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::table::{Names, Table};
use throng_model::unfold::Unfolded;
use throng_model::{Bag, Local, Shared};

/// A system whose steps are all listed, with the questions its file asks.
#[derive(Clone, Debug)]
pub struct System {
    /// States and steps.
    pub table: Arc<Table>,
    /// The initial configurations.
    pub initial: Vec<Initial>,
    /// The initial configurations as written in the input.
    pub initial_text: String,
    /// The targets, which must not be reached; empty if the file names none.
    pub targets: Vec<Target>,
    /// The kind of its file.
    pub kind: Kind,
    /// Local states of which exactly one has a thread, and only one, wherever the system starts: a
    /// variable of a net that is 0 or 1, and its complement.
    pub complements: Vec<(Local, Local)>,
    /// What shared states say about the variables of a program, see [`crate::machine`].
    pub meanings: Vec<(Shared, Part)>,
}

/// Kinds of explicit systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Thread-transition system with numbers.
    Tts,
    /// Thread-transition system with names.
    Ntts,
    /// mist net.
    Spec,
    /// PNML net.
    Pnml,
}

impl System {
    /// Adds complements to an initial configuration that lacks them, or returns why the system
    /// cannot start there.
    pub fn complete(&self, initial: &mut Initial) -> Result<(), String> {
        for &(x, not_x) in &self.complements {
            let any = initial.any.iter().any(|l| [x, not_x].contains(l));
            match initial.threads.count(x).saturating_add(initial.threads.count(not_x)) {
                1 if !any => {}
                0 if !any => initial.threads.insert(not_x, 1),
                _ => {
                    let name = |l: Local| self.table.locals().name(l.0);
                    return Err(format!("`{}` is 0 or 1, and `{}` is its complement", name(x), name(not_x)));
                }
            }
        }
        Ok(())
    }

    /// Returns the question that the file asks, for this many threads.
    pub fn problem(&self, bound: Bound) -> Problem {
        Problem {
            model: self.table.clone(),
            initial: self.initial.clone(),
            initial_text: self.initial_text.clone(),
            targets: self.targets.clone(),
            bound,
        }
    }
}

impl From<Unfolded> for System {
    fn from(unfolded: Unfolded) -> System {
        System {
            table: Arc::new(unfolded.table),
            initial: unfolded.initial,
            initial_text: unfolded.initial_text,
            targets: unfolded.targets,
            kind: Kind::Tts,
            complements: Vec::new(),
            meanings: Vec::new(),
        }
    }
}

/// Returns an initial family in BFC's notation: `0|1,1/2` is two threads in 1 and any number in 2,
/// in shared state 0.
pub fn notation(initial: &Initial, shared: &Names, locals: &Names) -> String {
    let mut text = shared.name(initial.shared.0);
    if !initial.threads.is_empty() || initial.any.is_empty() {
        text.push('|');
        text.push_str(&listed(&initial.threads, locals));
    }
    if !initial.any.is_empty() {
        text.push('/');
        text.push_str(&initial.any.iter().map(|l| locals.name(l.0)).collect::<Vec<_>>().join(","));
    }
    text
}

/// Returns the threads of a bag, with repetitions: `1,1,2`.
pub(crate) fn listed(threads: &Bag, locals: &Names) -> String {
    let each = threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l));
    each.map(|l| locals.name(l.0)).collect::<Vec<_>>().join(",")
}

/// The diagnostics found so far; at most [`Findings::MOST`] errors and as many warnings are kept.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    patience: Patience,
}

impl Findings {
    /// Maximum number of errors, and of warnings, that are reported.
    pub(crate) const MOST: usize = 20;

    /// Returns an empty list for a reader that gives up when its patience is over.
    pub(crate) fn within(patience: &Patience) -> Findings {
        Findings { patience: patience.clone(), ..Findings::default() }
    }

    /// Adds a diagnostic, unless there are enough of its severity.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count <= Findings::MOST {
            self.list.push(diagnostic);
        }
    }

    /// Returns whether the reader should stop.
    pub(crate) fn full(&self) -> bool {
        self.errors >= Findings::MOST || self.patience.is_over()
    }

    /// Returns whether the input must be refused, or was not read to its end.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0 || self.patience.hit().is_some()
    }

    /// Returns all diagnostics; `error` and `warning` are the codes of the note that some were
    /// omitted.
    pub(crate) fn finish(mut self, error: &'static str, warning: &'static str) -> Vec<Diagnostic> {
        if self.errors >= Findings::MOST {
            self.list.push(Diagnostic::whole(error, format!("stopped after {} errors", Findings::MOST)));
        }
        if let Some(more) = self.warnings.checked_sub(Findings::MOST).filter(|&more| more > 0) {
            let mut note = Diagnostic::whole(warning, format!("{more} more warnings are not shown"));
            note.severity = crate::source::Severity::Warning;
            self.list.push(note);
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;
    use throng_model::{Local, Shared};

    #[test]
    fn notation_repeats_threads() {
        let names = Names::Numbers(9);
        let mut initial = Initial { shared: Shared(4), threads: Bag::new(), any: vec![Local(2), Local(3)] };
        assert_eq!(notation(&initial, &names, &names), "4/2,3");
        initial.threads = [(Local(1), 2)].into_iter().collect();
        assert_eq!(notation(&initial, &names, &names), "4|1,1/2,3");
        initial.any.clear();
        assert_eq!(notation(&initial, &names, &names), "4|1,1");
        initial.threads = Bag::new();
        assert_eq!(notation(&initial, &names, &names), "4|");
    }

    #[test]
    fn findings_are_cut_off_with_a_note() {
        let mut findings = Findings::default();
        for _ in 0..50 {
            findings.push(Diagnostic::warning("W1", Span::default(), "odd"));
        }
        assert!(!findings.has_errors());
        let list = findings.finish("E2", "W2");
        assert_eq!(list.len(), Findings::MOST + 1);
        assert_eq!(list.last().map(|d| (d.code, d.is_error())), Some(("W2", false)));
    }
}
