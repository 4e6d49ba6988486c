//! Erases spans, so that two trees can be compared regardless of their layout.

use crate::bp::ast::{Decl, Expr, ExprKind, Function, Ident, Initial, Program, Stmt, StmtKind, Target, Type};
use crate::source::Span;

/// Sets every span of the tree to the default one.
pub fn strip_spans(program: &mut Program) {
    for constant in &mut program.constants {
        ident(&mut constant.name);
        expr(&mut constant.value);
    }
    for enumeration in &mut program.enumerations {
        ident(&mut enumeration.name);
        enumeration.values.iter_mut().for_each(ident);
    }
    program.globals.iter_mut().for_each(decl);
    program.functions.iter_mut().for_each(function);
}

fn function(function: &mut Function) {
    function.span = Span::default();
    function.end = Span::default();
    ident(&mut function.name);
    function.parameters.iter_mut().for_each(ident);
    function.parameter_types.iter_mut().chain(&mut function.result_types).for_each(ty);
    block(&mut function.body);
}

fn decl(decl: &mut Decl) {
    decl.span = Span::default();
    for variable in &mut decl.variables {
        ident(&mut variable.name);
        variable.length.iter_mut().for_each(expr);
        variable.ty.iter_mut().for_each(ty);
        if let Some(Initial::Value(e)) = &mut variable.initial {
            expr(e);
        }
    }
}

fn ty(ty: &mut Type) {
    match ty {
        Type::Bool => {}
        Type::Range(from, to) => {
            expr(from);
            expr(to);
        }
        Type::Named(name) => ident(name),
    }
}

fn target(target: &mut Target) {
    ident(&mut target.ident);
    target.index.iter_mut().for_each(expr);
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
            targets.iter_mut().for_each(target);
            values.iter_mut().chain(constrain).for_each(expr);
        }
        StmtKind::Call { targets, callee, arguments } => {
            targets.iter_mut().for_each(target);
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
        StmtKind::For { variable, from, to, body } => {
            ident(variable);
            expr(from);
            expr(to);
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
        ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Any | ExprKind::Name { .. } => {}
        ExprKind::Not(a) | ExprKind::Index { index: a, .. } => expr(a),
        ExprKind::Chain(_, operands) => operands.iter_mut().for_each(expr),
        ExprKind::Series(first, rest) => {
            expr(first);
            rest.iter_mut().for_each(|(_, e)| expr(e));
        }
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
