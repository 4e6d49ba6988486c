//! Forgetting spans, so that two trees can be compared by what they say and not by where they stand.

use crate::bp::ast::{Decl, Expr, ExprKind, Function, Ident, Program, Stmt, StmtKind};
use crate::source::Span;

/// Sets every span of the tree to the default one.
pub fn strip_spans(program: &mut Program) {
    program.globals.iter_mut().for_each(decl);
    program.functions.iter_mut().for_each(function);
}

fn function(function: &mut Function) {
    function.span = Span::default();
    function.end = Span::default();
    ident(&mut function.name);
    function.parameters.iter_mut().for_each(ident);
    block(&mut function.body);
}

fn decl(decl: &mut Decl) {
    decl.span = Span::default();
    decl.variables.iter_mut().for_each(|v| ident(&mut v.name));
}

fn ident(ident: &mut Ident) {
    ident.span = Span::default();
}

fn block(block: &mut [Stmt]) {
    block.iter_mut().for_each(stmt);
}

fn stmt(stmt: &mut Stmt) {
    stmt.span = Span::default();
    stmt.labels.iter_mut().for_each(ident);
    kind(&mut stmt.kind);
}

fn kind(kind: &mut StmtKind) {
    match kind {
        StmtKind::Skip | StmtKind::EndThread | StmtKind::AtomicBegin | StmtKind::AtomicEnd => {}
        StmtKind::Wait | StmtKind::Signal | StmtKind::Broadcast => {}
        StmtKind::Goto(names) | StmtKind::Dead(names) => names.iter_mut().for_each(ident),
        StmtKind::Assume(e) | StmtKind::Assert(e) | StmtKind::Enforce(e) | StmtKind::Abortif(e) => expr(e),
        StmtKind::Assign { targets, values, constrain } => {
            targets.iter_mut().for_each(ident);
            values.iter_mut().chain(constrain).for_each(expr);
        }
        StmtKind::Call { targets, callee, arguments } => {
            targets.iter_mut().for_each(ident);
            ident(callee);
            arguments.iter_mut().for_each(expr);
        }
        StmtKind::Return(values) | StmtKind::Print(values) => values.iter_mut().for_each(expr),
        StmtKind::If { arms, otherwise } => {
            for (condition, body) in arms {
                expr(condition);
                block(body);
            }
            otherwise.iter_mut().for_each(|body| block(body));
        }
        StmtKind::While(condition, body) => {
            expr(condition);
            block(body);
        }
        StmtKind::Decl(d) => decl(d),
        StmtKind::StartGoto { label, .. } => ident(label),
        StmtKind::Start(inner) => stmt(inner),
        StmtKind::Atomic(body, close) => {
            block(body);
            *close = Span::default();
        }
    }
}

fn expr(e: &mut Expr) {
    e.span = Span::default();
    match &mut e.kind {
        ExprKind::Const(_) | ExprKind::Any | ExprKind::Name { .. } => {}
        ExprKind::Not(a) => expr(a),
        ExprKind::Chain(_, operands) => operands.iter_mut().for_each(expr),
        ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
            expr(a);
            expr(b);
        }
        ExprKind::Conditional(a, b, c) => {
            expr(a);
            expr(b);
            expr(c);
        }
    }
}
