//! A program with the monitor of one slice: bits beside its variables, an assertion before each
//! access that may violate robustness, and each access with what it does to the bits.
//!
//! The assertions of the program itself are left out: they are asked about on their own.

use super::{Orders, PREFIX, guard};
use crate::bp::ast::{
    self, BinaryOp, ChainOp, Decl, DeclVar, Expr, ExprKind, Ident, Initial, Stmt, StmtKind,
};
use crate::bp::ast::{Function, Target};
use crate::source::Span;
use std::collections::BTreeSet;
use throng_memory::rules::{Bit, Class, Features, Formula, Location, Mine, Monitor, Of, Update};
use throng_memory::slices::Instruction;

/// A slice of the monitor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The location that it is about.
    pub target: Location,
    /// The writes of it that it is about.
    pub class: Class,
    /// The locations through which threads get to know of writes.
    pub sources: BTreeSet<Location>,
}

/// Returns the program with the monitor of a slice. The places of statements stay.
pub fn monitored(tree: &ast::Program, orders: &Orders, slice: &Slice) -> ast::Program {
    let accesses: Vec<_> = orders.instructions.values().map(|i| i.access).collect();
    let features = Features::of(&accesses);
    let monitor = Monitor::new(slice.target, slice.class, slice.sources.iter().copied(), features);
    let monitor = if orders.auxiliary.is_empty() { monitor } else { monitor.beside(AUXILIARY) };
    let writer = Writer { orders, monitor: &monitor };
    let mut result = ast::Program { orders: Default::default(), ..tree.clone() };
    result.globals.extend(writer.declarations(tree));
    for function in &mut result.functions {
        let body = std::mem::take(&mut function.body);
        let Function { body: new, .. } = function;
        *new = writer.block(body);
    }
    result
}

/// The number that stands for all auxiliary variables.
const AUXILIARY: Location = Location::MAX;

struct Writer<'m> {
    orders: &'m Orders,
    monitor: &'m Monitor,
}

/// The name of the variable with the value that a slice is about.
fn value_name() -> String {
    format!("{PREFIX}value")
}

impl Writer<'_> {
    fn name(&self, bit: Bit) -> String {
        let location = |y: Location| self.orders.locations.get(y as usize).map_or("#auxiliary", |name| name);
        let word = match bit {
            Bit::Thread(Mine::Aware) => "aware".into(),
            Bit::Thread(Mine::Current) => "current".into(),
            Bit::Thread(Mine::Acquired) => "acquired".into(),
            Bit::Thread(Mine::Released) => "released".into(),
            Bit::Thread(Mine::Fenced) => "fenced".into(),
            Bit::Thread(Mine::Pending) => "pending".into(),
            Bit::Thread(Mine::Ordered) => "ordered".into(),
            Bit::Location(Of::WriterAware, y) => format!("writer#{}", location(y)),
            Bit::Location(Of::ReaderAware, y) => format!("reader#{}", location(y)),
            Bit::Location(Of::Message, y) => format!("message#{}", location(y)),
            Bit::Location(Of::FenceWrite, y) => format!("fence_write#{}", location(y)),
            Bit::Location(Of::FenceRead, y) => format!("fence_read#{}", location(y)),
            Bit::Location(Of::OrderedWrite, y) => format!("ordered_write#{}", location(y)),
            Bit::Location(Of::OrderedRead, y) => format!("ordered_read#{}", location(y)),
            Bit::Nothing => "nothing".into(),
        };
        format!("{PREFIX}{word}")
    }

    /// The bits, and the value that the slice is about: any, but always the same.
    fn declarations(&self, tree: &ast::Program) -> Vec<Decl> {
        let declare = |thread_local, name, ty, initial| Decl {
            thread_local,
            variables: vec![DeclVar { name: ident(name), length: None, ty, initial }],
            span: Span::default(),
        };
        let bits = self.monitor.bits().into_iter().map(|(bit, value)| {
            let initial = if value { Initial::True } else { Initial::False };
            declare(matches!(bit, Bit::Thread(_)), self.name(bit), None, Some(initial))
        });
        let mut found: Vec<Decl> = bits.collect();
        if self.monitor.class().is_valued() {
            let target = &self.orders.locations[self.monitor.target() as usize];
            let mut declared = tree.globals.iter().flat_map(|decl| &decl.variables);
            let ty = declared.find(|v| v.name.name == *target).and_then(|v| v.ty.clone());
            found.push(declare(false, value_name(), ty, None));
        }
        found
    }

    fn block(&self, body: Vec<Stmt>) -> Vec<Stmt> {
        body.into_iter().flat_map(|stmt| self.statement(stmt)).collect()
    }

    fn statement(&self, stmt: Stmt) -> Vec<Stmt> {
        if let Some(instruction) = self.orders.instructions.get(&stmt.span.start) {
            return self.access(stmt, instruction);
        }
        if self.orders.auxiliary.contains(&stmt.span.start) {
            return vec![self.auxiliary(stmt)];
        }
        let kind = match stmt.kind {
            StmtKind::Assert(_) | StmtKind::Abortif(_) => StmtKind::Skip,
            StmtKind::If { arms, otherwise } => StmtKind::If {
                arms: arms.into_iter().map(|(condition, body)| (condition, self.block(body))).collect(),
                otherwise: otherwise.map(|body| self.block(body)),
            },
            StmtKind::While(condition, body) => StmtKind::While(condition, self.block(body)),
            StmtKind::For { variable, from, to, body } => {
                StmtKind::For { variable, from, to, body: self.block(body) }
            }
            StmtKind::Atomic(body, end) => StmtKind::Atomic(self.block(body), end),
            kind => kind,
        };
        vec![Stmt { kind, ..stmt }]
    }

    fn auxiliary(&self, stmt: Stmt) -> Stmt {
        let stmt = match stmt.kind {
            StmtKind::Assert(_) => Stmt { kind: StmtKind::Skip, ..stmt },
            StmtKind::Dead(_) => return stmt,
            _ => stmt,
        };
        self.with(stmt, &self.monitor.auxiliary())
    }

    fn access(&self, mut stmt: Stmt, instruction: &Instruction) -> Vec<Stmt> {
        let labels = std::mem::take(&mut stmt.labels);
        let step = self.with(stmt.clone(), &self.monitor.step(&instruction.access));
        let mut found = Vec::from_iter(self.violation(&stmt, instruction));
        if self.monitor.may_watch(&instruction.access) {
            let watched = self.with(stmt.clone(), &self.monitor.watch());
            let any = Expr { kind: ExprKind::Any, span: stmt.span };
            let kind = StmtKind::If { arms: vec![(any, vec![watched])], otherwise: Some(vec![step]) };
            found.push(Stmt { kind, ..stmt });
        } else {
            found.push(step);
        }
        found[0].labels = labels;
        found
    }

    /// The assertion before an access, if one is needed.
    fn violation(&self, stmt: &Stmt, instruction: &Instruction) -> Option<Stmt> {
        let class = self.monitor.class();
        let races = matches!(class, Class::LastWrite | Class::Watched);
        if !races && class.is_valued() != instruction.selects {
            return None;
        }
        let found = self.expression(&self.monitor.violation(&instruction.access)?, false);
        let name = &self.orders.locations[self.monitor.target() as usize];
        // A race does not depend on the value that the access would see.
        let decides = |guard: &&Expr| !(races && super::reads(guard, name));
        let accepted = guard(stmt).filter(decides).map(|guard| replaced(guard, name));
        let bad = match accepted {
            Some(accepted) => expr(ExprKind::Chain(ChainOp::And, vec![found, accepted])),
            None => found,
        };
        let kind = StmtKind::Assert(expr(ExprKind::Not(Box::new(bad))));
        Some(Stmt { kind, ..stmt.clone() })
    }

    /// A statement that also does something to the bits.
    fn with(&self, stmt: Stmt, update: &Update) -> Stmt {
        if update.own.is_empty() && update.others.is_empty() {
            return stmt;
        }
        let (mut targets, mut values, constrain) = match stmt.kind {
            StmtKind::Assign { targets, values, constrain } => (targets, values, constrain),
            StmtKind::Assume(condition) => (Vec::new(), Vec::new(), Some(condition)),
            _ => (Vec::new(), Vec::new(), None),
        };
        for (bit, formula) in &update.own {
            targets.push(Target::from(ident(self.name(*bit))));
            values.push(self.expression(formula, false));
        }
        for (mine, formula) in &update.others {
            targets.push(Target::from(ident(format!("{}$", self.name(Bit::Thread(*mine))))));
            values.push(self.expression(formula, true));
        }
        Stmt { kind: StmtKind::Assign { targets, values, constrain }, ..stmt }
    }

    /// A formula as an expression; about the bits of another thread if that is `passive`.
    fn expression(&self, formula: &Formula, passive: bool) -> Expr {
        let all = |op, parts: &[Formula]| {
            ExprKind::Chain(op, parts.iter().map(|part| self.expression(part, passive)).collect())
        };
        expr(match formula {
            Formula::Constant(value) => ExprKind::Const(*value),
            Formula::Bit(bit @ Bit::Thread(_)) if passive => name(format!("{}$", self.name(*bit))),
            Formula::Bit(bit) => name(self.name(*bit)),
            Formula::Old => {
                let target = &self.orders.locations[self.monitor.target() as usize];
                let [a, b] = [target.clone(), value_name()].map(|n| Box::new(expr(name(n))));
                ExprKind::Binary(BinaryOp::Equal, a, b)
            }
            Formula::And(parts) => all(ChainOp::And, parts),
            Formula::Or(parts) => all(ChainOp::Or, parts),
        })
    }
}

fn ident(name: String) -> Ident {
    Ident { name, span: Span::default() }
}

fn name(name: String) -> ExprKind {
    ExprKind::Name { name, primed: false }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// A condition with the value that the slice is about in place of the target.
fn replaced(condition: &Expr, target: &str) -> Expr {
    let on = |e: &Expr| replaced(e, target);
    let boxed = |e: &Expr| Box::new(replaced(e, target));
    let kind = match &condition.kind {
        ExprKind::Name { name: n, primed: false } if n == target => name(value_name()),
        ExprKind::Not(a) => ExprKind::Not(boxed(a)),
        ExprKind::Chain(op, es) => ExprKind::Chain(*op, es.iter().map(on).collect()),
        ExprKind::Series(first, rest) => {
            ExprKind::Series(boxed(first), rest.iter().map(|(op, e)| (*op, on(e))).collect())
        }
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a), boxed(b)),
        ExprKind::Conditional(c, a, b) => ExprKind::Conditional(boxed(c), boxed(a), boxed(b)),
        ExprKind::Schoose(a, b) => ExprKind::Schoose(boxed(a), boxed(b)),
        ExprKind::Index { name, primed, index } => {
            ExprKind::Index { name: name.clone(), primed: *primed, index: boxed(index) }
        }
        kind => kind.clone(),
    };
    Expr { kind, ..condition.clone() }
}
