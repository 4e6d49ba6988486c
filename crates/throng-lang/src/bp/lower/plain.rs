//! Writes checks as statements, so that a lowered program can be printed for other tools.
//!
//! An assignment that is always possible becomes `atomic { assert(c); x := e; }`. Another statement
//! could block in such a section, and all threads with it. Instead, a detour `if * then assert(c);
//! fi` is placed before it, which a thread there can take at any time: some thread can fail the
//! assertion just if some thread can violate the check.

use std::collections::HashMap;

use super::number::{and, constant, not};
use crate::bp::ast::{Expr, ExprKind, Function, Ident, Initial, Program, Stmt, StmtKind};
use crate::bp::resolve::{each_stmt, initialisers};
use crate::source::Span;

/// Returns the program with every check as a statement.
pub fn plain(mut program: Program) -> Program {
    declare_initial_values(&mut program);
    for function in &mut program.functions {
        let mut has_enforce = false;
        each_stmt(&function.body, &mut |s| has_enforce |= matches!(s.kind, StmtKind::Enforce(_)));
        let mut writer = Writer { can_block: has_enforce, labels: labels(function), made: 0 };
        function.body = writer.block(std::mem::take(&mut function.body));
    }
    program
}

/// Moves initialising assignments into declarations. In IJIT's dialect assignments at the beginning
/// initialise because all other statements are numbered; the statements that are added here have no
/// numbers.
fn declare_initial_values(program: &mut Program) {
    let Some(main) = program.functions.iter_mut().find(|f| f.name.name == "main") else { return };
    let mut values: HashMap<String, Initial> = HashMap::new();
    let first: Vec<Stmt> = initialisers(main).into_iter().cloned().collect();
    for stmt in &first {
        let StmtKind::Assign { targets, values: assigned, .. } = &stmt.kind else { continue };
        for (target, value) in targets.iter().zip(assigned) {
            let initial = match value.kind {
                ExprKind::Const(false) => Initial::False,
                ExprKind::Const(true) => Initial::True,
                _ => Initial::Any,
            };
            values.insert(target.ident.name.clone(), initial);
        }
    }
    main.body.retain(|stmt| !first.contains(stmt));
    let own = main.body.iter_mut().filter_map(|stmt| match &mut stmt.kind {
        StmtKind::Decl(decl) => Some(decl),
        _ => None,
    });
    for variable in own.chain(&mut program.globals).flat_map(|decl| &mut decl.variables) {
        // A local variable hides a global one.
        if let Some(initial) = values.remove(&variable.name.name) {
            variable.initial = Some(initial);
        }
    }
}

fn labels(function: &Function) -> Vec<String> {
    let mut found = Vec::new();
    each_stmt(&function.body, &mut |s| found.extend(s.labels.iter().map(|l| l.name.clone())));
    found
}

struct Writer {
    /// True if assignments can block because of an `enforce`.
    can_block: bool,
    /// Labels that are taken.
    labels: Vec<String>,
    /// Labels made so far.
    made: usize,
}

impl Writer {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        body.into_iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn fresh(&mut self, span: Span) -> Ident {
        loop {
            self.made += 1;
            let name = format!("AGAIN{}", self.made);
            if !self.labels.contains(&name) {
                return Ident { name, span };
            }
        }
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Vec<Stmt> {
        stmt.kind = match stmt.kind {
            StmtKind::If { arms, otherwise } => StmtKind::If {
                arms: arms.into_iter().map(|(e, body)| (e, self.block(body))).collect(),
                otherwise: otherwise.map(|body| self.block(body)),
            },
            StmtKind::While(e, body) => StmtKind::While(e, self.block(body)),
            StmtKind::Atomic(body, end) => StmtKind::Atomic(self.block(body), end),
            StmtKind::Start(child) => StmtKind::Start(Box::new(started(*child))),
            kind => kind,
        };
        let Some(check) = stmt.check.take() else { return vec![stmt] };
        let span = stmt.span;
        match stmt.kind {
            StmtKind::Assert(e) => {
                stmt.kind = StmtKind::Assert(and(check, e));
                vec![stmt]
            }
            StmtKind::Abortif(e) => {
                stmt.kind = StmtKind::Assert(and(check, not(e)));
                vec![stmt]
            }
            StmtKind::Assign { constrain: None, .. } if !self.can_block => {
                let (labels, origin) = (std::mem::take(&mut stmt.labels), stmt.origin.take());
                let kind = StmtKind::Atomic(vec![bare(StmtKind::Assert(check), span), stmt], span);
                vec![Stmt { labels, kind, span, origin, check: None, reads: Vec::new() }]
            }
            StmtKind::While(e, mut body) => {
                // The condition is evaluated, and so checked, in every round.
                let again = self.fresh(span);
                body.push(bare(StmtKind::Goto(vec![again.clone()]), span));
                let mut detour = detour(check, span);
                detour.labels = std::mem::take(&mut stmt.labels);
                detour.labels.push(again);
                stmt.kind = StmtKind::If { arms: vec![(e, body)], otherwise: None };
                vec![detour, stmt]
            }
            _ => {
                let mut detour = detour(check, span);
                detour.labels = std::mem::take(&mut stmt.labels);
                vec![detour, stmt]
            }
        }
    }
}

fn bare(kind: StmtKind, span: Span) -> Stmt {
    Stmt { labels: Vec::new(), kind, span, origin: None, check: None, reads: Vec::new() }
}

fn detour(check: Expr, span: Span) -> Stmt {
    let any = Expr { kind: ExprKind::Any, span };
    let fails = vec![bare(StmtKind::Assert(check), span)];
    bare(StmtKind::If { arms: vec![(any, fails)], otherwise: None }, span)
}

/// Returns a started statement with its check, as one statement.
fn started(mut child: Stmt) -> Stmt {
    let Some(check) = child.check.take() else { return child };
    let span = child.span;
    let any = Expr { kind: ExprKind::Any, span };
    let fails =
        vec![bare(StmtKind::Assert(check), span), bare(StmtKind::Assume(constant(false, span)), span)];
    bare(StmtKind::If { arms: vec![(any, fails)], otherwise: Some(vec![child]) }, span)
}
