//! Assertions: the conditions on which an error is called. An error is a call of `reach_error` and
//! its like, or of a function that always calls one, or a jump to one. A function that asserts one
//! of its parameters is an assertion wherever it is called.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::syntax::ast::*;
use crate::syntax::visit::{self, Visit};

use super::{callee, edit, line, named, written};
use crate::library::special::{Meaning, names};
use crate::preprocess::Prepared;
use throng_lang::mutant::{Change, Mutant};

pub(super) fn mutants(
    text: &Prepared,
    unit: &TranslationUnit,
    live: &HashSet<&str>,
    error_labels: &[String],
) -> Vec<Mutant> {
    let functions: Vec<(&str, Vec<&str>, &Node<Statement>)> = unit
        .0
        .iter()
        .filter_map(|item| match &item.node {
            ExternalDeclaration::FunctionDefinition(f) => {
                let (name, parameters) = named(&f.node);
                Some((name, parameters, &f.node.statement))
            }
            _ => None,
        })
        .collect();
    let defined: HashSet<&str> = functions.iter().map(|f| f.0).collect();
    let known: HashSet<&str> = names(|m| matches!(m, Meaning::Error | Meaning::FailedAssertion(_))).collect();
    let mut errors = known.clone();
    // Functions that assert a parameter, and which.
    let mut asserts: HashMap<&str, usize> = names(|m| m == Meaning::Assert)
        .filter(|name| !defined.contains(name))
        .map(|name| (name, 0))
        .collect();
    // Until nothing new is an error or an assertion.
    loop {
        let before = (errors.len(), asserts.len());
        let mut conditions: BTreeMap<usize, Span> = BTreeMap::new();
        for (name, parameters, body) in functions.iter().filter(|f| !known.contains(f.0)) {
            let mut labels: HashSet<&str> = error_labels.iter().map(String::as_str).collect();
            let mut seen = guards(body, &errors, &asserts, &labels);
            // A label before an error is one, if there are jumps to it.
            while let Some(label) = seen.error_label.filter(|label| labels.insert(label)) {
                if seen.jumps.contains(label) {
                    seen = guards(body, &errors, &asserts, &labels);
                }
            }
            if seen.always && !matches!(*name, "main") {
                errors.insert(name);
            }
            for guard in seen.guards {
                match of_parameter(guard, parameters).filter(|_| *name != "main") {
                    Some(n) => _ = asserts.insert(name, n),
                    None if live.contains(name) => _ = conditions.insert(guard.span.start, guard.span),
                    None => {}
                }
            }
        }
        if before == (errors.len(), asserts.len()) {
            let negated = |span: &Span| Mutant {
                change: Change::Negated,
                lines: vec![line(text, *span)],
                what: written(text, *span),
                edits: vec![edit(*span, format!("!({})", &text.text[span.start..span.end]))],
            };
            return conditions.values().map(negated).collect();
        }
    }
}

/// Returns the parameter that a condition is about, if it is about one and about nothing else.
fn of_parameter(condition: &Node<Expression>, parameters: &[&str]) -> Option<usize> {
    struct Names<'a>(Vec<&'a str>);
    impl<'a> Visit<'a> for Names<'a> {
        fn expression(&mut self, e: &'a Node<Expression>) {
            match &e.node {
                Expression::Identifier(n) => self.0.push(&n.node.name),
                // The name of a member is a name, too.
                Expression::Member(m) => self.0.push(&m.node.identifier.node.name),
                _ => {}
            }
            visit::expression(self, e);
        }
    }
    let mut names = Names(Vec::new());
    names.expression(condition);
    let (first, rest) = names.0.split_first()?;
    let position = parameters.iter().position(|p| p == first)?;
    rest.iter().all(|n| n == first).then_some(position)
}

/// What was seen in a function.
#[derive(Default)]
struct Seen<'a> {
    /// The conditions on which an error is called.
    guards: Vec<&'a Node<Expression>>,
    /// True if one is called on no condition.
    always: bool,
    /// The label after which one is called on no condition.
    error_label: Option<&'a str>,
    /// Labels that are jumped to.
    jumps: HashSet<&'a str>,
}

struct Walk<'a, 'k> {
    errors: &'k HashSet<&'a str>,
    asserts: &'k HashMap<&'a str, usize>,
    labels: &'k HashSet<&'k str>,
    guard: Option<&'a Node<Expression>>,
    label: Option<&'a str>,
    seen: Seen<'a>,
}

fn guards<'a>(
    body: &'a Node<Statement>,
    errors: &HashSet<&'a str>,
    asserts: &HashMap<&'a str, usize>,
    labels: &HashSet<&str>,
) -> Seen<'a> {
    let mut walk = Walk { errors, asserts, labels, guard: None, label: None, seen: Seen::default() };
    walk.statement(body);
    walk.seen
}

impl<'a> Walk<'a, '_> {
    fn error(&mut self) {
        match (self.guard, self.label) {
            (Some(guard), _) => self.seen.guards.push(guard),
            (None, Some(label)) if self.labels.contains(label) => {}
            (None, Some(label)) => {
                self.seen.error_label.get_or_insert(label);
                self.seen.always = true;
            }
            (None, None) => self.seen.always = true,
        }
    }

    fn under(&mut self, guard: &'a Node<Expression>, act: impl FnOnce(&mut Self)) {
        let (outer, label) = (self.guard.replace(guard), self.label.take());
        act(self);
        (self.guard, self.label) = (outer, label);
    }
}

impl<'a> Visit<'a> for Walk<'a, '_> {
    fn expression(&mut self, e: &'a Node<Expression>) {
        match &e.node {
            Expression::Call(c) => {
                visit::expression(self, e);
                let Some(name) = callee(&c.node) else { return };
                if self.errors.contains(name) {
                    self.error();
                } else if let Some(argument) = self.asserts.get(name).and_then(|&n| c.node.arguments.get(n)) {
                    self.seen.guards.push(argument);
                }
            }
            Expression::Conditional(c) => {
                self.expression(&c.node.condition);
                self.under(&c.node.condition, |s| {
                    c.node.then_expression.iter().for_each(|e| s.expression(e));
                    s.expression(&c.node.else_expression);
                });
            }
            Expression::BinaryOperator(b)
                if matches!(b.node.operator.node, BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr) =>
            {
                self.expression(&b.node.lhs);
                self.under(&b.node.lhs, |s| s.expression(&b.node.rhs));
            }
            _ => visit::expression(self, e),
        }
    }

    fn label(&mut self, label: &'a Node<Label>) {
        if let Label::Identifier(n) = &label.node {
            self.label = Some(&n.node.name);
            // A label that must not be reached.
            if self.guard.is_some() && self.labels.contains(n.node.name.as_str()) {
                self.error();
            }
        }
    }

    fn block_item(&mut self, item: &'a Node<BlockItem>) {
        visit::block_item(self, item);
        // A declaration or a closing brace may follow a label.
        if !is_label(&item.node) {
            self.label = None;
        }
    }

    fn statement(&mut self, s: &'a Node<Statement>) {
        match &s.node {
            Statement::Goto(n) => {
                self.seen.jumps.insert(&n.node.name);
                if self.labels.contains(n.node.name.as_str()) {
                    self.label = None;
                    self.error();
                }
            }
            Statement::If(i) => {
                self.expression(&i.node.condition);
                self.under(&i.node.condition, |s| {
                    s.statement(&i.node.then_statement);
                    i.node.else_statement.iter().for_each(|e| s.statement(e));
                });
            }
            _ => visit::statement(self, s),
        }
    }
}

/// Returns whether an item of a block is a label before nothing but an empty statement.
fn is_label(item: &BlockItem) -> bool {
    let BlockItem::Statement(Node { node: Statement::Labeled(l), .. }) = item else { return false };
    matches!(l.node.statement.node, Statement::Expression(None))
}
