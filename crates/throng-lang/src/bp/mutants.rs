//! Mutants of a Boolean program. Assertions, atomic sections, and conditions that threads wait for
//! (locks are written that way) can be changed.

use super::ast::{Expr, Program, Stmt, StmtKind};
use super::parser::parse;
use crate::mutant::{Change, Edit, Mutant};
use crate::source::{Diagnostic, LineIndex, Span};

/// Returns all mutants of a program, in the order of the text; none if it cannot be read.
pub fn mutants(text: &str) -> Vec<Mutant> {
    let (tree, diagnostics) = parse(text);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Vec::new();
    }
    let mut finder = Finder { text, lines: LineIndex::new(text), begun: Vec::new(), found: Vec::new() };
    finder.program(&tree);
    finder.found.sort_by_key(|m| m.edits.first().map(|e| e.from));
    finder.found
}

struct Finder<'t> {
    text: &'t str,
    lines: LineIndex,
    /// `atomic_begin` and `atomic_end` of the function, in the order of the text.
    begun: Vec<(Span, bool)>,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    fn program(&mut self, tree: &Program) {
        for function in &tree.functions {
            self.block(&function.body);
            let sections = sections(&std::mem::take(&mut self.begun));
            for spans in sections {
                let edits = spans.iter().map(|s| replaced(*s, "skip".into())).collect();
                self.add(Change::Unatomic, &spans, "atomic_begin".into(), edits);
            }
        }
    }

    fn add(&mut self, change: Change, spans: &[Span], what: String, edits: Vec<Edit>) {
        let mut lines: Vec<u32> = spans.iter().map(|s| self.lines.position(s.start).0).collect();
        lines.dedup();
        self.found.push(Mutant { change, lines, what, edits });
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    fn written(&self, span: Span) -> String {
        self.text[span.range()].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Assert(e) => {
                let edit = replaced(e.span, format!("(!({}))", &self.text[e.span.range()]));
                self.add(Change::Negated, &[s.span], self.written(s.span), vec![edit]);
            }
            StmtKind::Assume(e) => self.unguarded(s, e),
            StmtKind::Assign { constrain: Some(e), .. } => self.unguarded(s, e),
            StmtKind::AtomicBegin => self.begun.push((s.span, true)),
            StmtKind::AtomicEnd => self.begun.push((s.span, false)),
            StmtKind::Atomic(body, end) => {
                let open = self.text[s.span.range()]
                    .find('{')
                    .map_or(s.span.start as usize, |n| s.span.start as usize + n + 1);
                // An `if` replaces the section: the last statement in it, and the section itself,
                // may or may not end with a semicolon.
                let ended = self.text[end.end as usize..].trim_start().starts_with(';');
                let edits = vec![
                    replaced(Span::new(s.span.start as usize, open), "if (1) then ".into()),
                    replaced(*end, if ended { "fi" } else { "fi;" }.into()),
                ];
                self.add(Change::Unatomic, &[s.span], "atomic".into(), edits);
                self.block(body);
            }
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|arm| self.block(&arm.1));
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::While(_, body) | StmtKind::For { body, .. } => self.block(body),
            StmtKind::Start(inner) => self.statement(inner),
            _ => {}
        }
    }

    fn unguarded(&mut self, s: &Stmt, condition: &Expr) {
        let edits = vec![replaced(condition.span, "(1)".into())];
        self.add(Change::Unguarded, &[s.span], self.written(s.span), edits);
    }
}

fn replaced(span: Span, with: String) -> Edit {
    Edit { from: span.start as usize, to: span.end as usize, with }
}

/// Pairs each `atomic_begin` with the `atomic_end`s before the next one. If some end has no begin,
/// or some begin no end, all are one section.
fn sections(begun: &[(Span, bool)]) -> Vec<Vec<Span>> {
    let mut found: Vec<Vec<Span>> = Vec::new();
    for &(span, begins) in begun {
        match found.last_mut() {
            Some(last) if !begins => last.push(span),
            _ => found.push(vec![span]),
        }
    }
    let paired = begun.first().is_none_or(|b| b.1) && found.iter().all(|s| s.len() > 1);
    if paired { found } else { vec![begun.iter().map(|b| b.0).collect()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bp::{Options, read};
    use crate::mutant::apply;

    #[test]
    fn every_mutant_is_a_program_with_one_thing_changed() {
        let text = "decl l := 0; decl b := 0;
void main() begin
  l := 1 constrain !l;
  atomic_begin; b := 1; atomic_end;
  atomic { assert(!b | l); }
  assume(b);
end";
        let found = mutants(text);
        let named: Vec<(Change, &[u32], &str)> =
            found.iter().map(|m| (m.change, &m.lines[..], m.what.as_str())).collect();
        let expected: [(Change, &[u32], &str); 5] = [
            (Change::Unguarded, &[3], "l := 1 constrain !l"),
            (Change::Unatomic, &[4], "atomic_begin"),
            (Change::Unatomic, &[5], "atomic"),
            (Change::Negated, &[5], "assert(!b | l)"),
            (Change::Unguarded, &[6], "assume(b)"),
        ];
        assert_eq!(named, expected);
        for m in &found {
            let changed = apply(text, &m.edits);
            let (program, diagnostics) = read(&changed, &Options::default());
            assert!(program.is_some(), "{changed}: {diagnostics:?}");
        }
        assert!(apply(text, &found[3].edits).contains("(!((!b | l)))"), "{}", apply(text, &found[3].edits));
        assert!(mutants("void main() begin assert(").is_empty());
    }

    #[test]
    fn ends_without_a_begin_are_one_section() {
        let at = |n: usize| Span::new(n, n + 1);
        assert_eq!(
            sections(&[(at(0), true), (at(1), false), (at(2), false), (at(3), true), (at(4), false)]).len(),
            2
        );
        assert_eq!(sections(&[(at(0), false), (at(1), true)]).len(), 1);
    }
}
