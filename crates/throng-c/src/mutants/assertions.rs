//! Assertions: the conditions on which an error is called. An error is a call of `reach_error` and
//! its like, or of a function that always calls one, or a jump to one. A function that asserts one
//! of its parameters is an assertion wherever it is called.

use std::collections::{BTreeMap, HashMap, HashSet};

use lang_c::ast::*;
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

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
        fn visit_identifier(&mut self, identifier: &'a Identifier, _: &'a Span) {
            self.0.push(&identifier.name);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_expression(&condition.node, &condition.span);
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
    walk.visit_statement(&body.node, &body.span);
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
    fn visit_call_expression(&mut self, c: &'a CallExpression, span: &'a Span) {
        visit::visit_call_expression(self, c, span);
        let Some(name) = callee(c) else { return };
        if self.errors.contains(name) {
            self.error();
        } else if let Some(argument) = self.asserts.get(name).and_then(|&n| c.arguments.get(n)) {
            self.seen.guards.push(argument);
        }
    }

    fn visit_if_statement(&mut self, i: &'a IfStatement, _: &'a Span) {
        self.visit_expression(&i.condition.node, &i.condition.span);
        self.under(&i.condition, |s| {
            s.visit_statement(&i.then_statement.node, &i.then_statement.span);
            i.else_statement.iter().for_each(|e| s.visit_statement(&e.node, &e.span));
        });
    }

    fn visit_conditional_expression(&mut self, c: &'a ConditionalExpression, _: &'a Span) {
        self.visit_expression(&c.condition.node, &c.condition.span);
        self.under(&c.condition, |s| {
            s.visit_expression(&c.then_expression.node, &c.then_expression.span);
            s.visit_expression(&c.else_expression.node, &c.else_expression.span);
        });
    }

    fn visit_binary_operator_expression(&mut self, b: &'a BinaryOperatorExpression, span: &'a Span) {
        if !matches!(b.operator.node, BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr) {
            return visit::visit_binary_operator_expression(self, b, span);
        }
        self.visit_expression(&b.lhs.node, &b.lhs.span);
        self.under(&b.lhs, |s| s.visit_expression(&b.rhs.node, &b.rhs.span));
    }

    fn visit_label(&mut self, label: &'a Label, _: &'a Span) {
        if let Label::Identifier(n) = label {
            self.label = Some(&n.node.name);
            // A label that must not be reached.
            if self.guard.is_some() && self.labels.contains(n.node.name.as_str()) {
                self.error();
            }
        }
    }

    fn visit_block_item(&mut self, item: &'a BlockItem, span: &'a Span) {
        visit::visit_block_item(self, item, span);
        // The reader puts an empty statement after a label.
        if !matches!(item, BlockItem::Statement(Node { node: Statement::Labeled(_), .. })) {
            self.label = None;
        }
    }

    fn visit_statement(&mut self, s: &'a Statement, span: &'a Span) {
        if let Statement::Goto(n) = s {
            self.seen.jumps.insert(&n.node.name);
            if self.labels.contains(n.node.name.as_str()) {
                self.label = None;
                self.error();
            }
            return;
        }
        visit::visit_statement(self, s, span);
    }
}
