//! Memory orders of a Boolean program (reference 2.22): which shared variables are locations of
//! memory, what each statement does to them, and what is refused.
//!
//! A shared variable is a *location* if some statement with an order accesses it; then all its
//! accesses must have one. Other shared variables are *auxiliary*: they order the statements that
//! use them, as under sequential consistency, but never let a thread know what another did.

mod executed;
mod monitored;

pub use executed::{At, Executed};
pub use monitored::{Slice, monitored};

use super::ast::{self, Expr, Stmt, StmtKind};
use crate::source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};
use throng_memory::Order;
use throng_memory::rules::{Access, Class, Kind, Location};
use throng_memory::slices::{Instruction, Mixed, is_sequential, slices};

/// How names that the monitor adds begin.
pub(crate) const PREFIX: &str = "order#";

/// The locations of a program, and what its statements do to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Orders {
    /// The names of the locations; their numbers are their places here.
    pub locations: Vec<String>,
    /// What statements with an order do, by the place where they start.
    pub instructions: BTreeMap<u32, Instruction>,
    /// The places of the statements that use auxiliary variables.
    auxiliary: BTreeSet<u32>,
}

impl Orders {
    /// Returns whether every order is sequentially consistent, or no access is atomic.
    pub fn is_sequential(&self) -> bool {
        is_sequential(&self.all())
    }

    /// Returns whether there is no statement with an order.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    fn all(&self) -> Vec<Instruction> {
        self.instructions.values().copied().collect()
    }

    /// The slices of the monitor that the program needs. What is sequentially consistent is robust:
    /// then only races are left.
    pub fn slices(&self) -> Vec<(Location, Class)> {
        let found = slices(&self.all()).unwrap_or_default();
        let races = |(_, class): &(Location, Class)| matches!(class, Class::LastWrite | Class::Watched);
        let sequential = self.is_sequential();
        found.into_iter().filter(|slice| !sequential || races(slice)).collect()
    }

    /// Returns whether some access is a plain one.
    pub fn has_plain(&self) -> bool {
        self.instructions.values().any(|i| i.access.order == Order::Plain)
    }

    /// Returns whether hardware may let a relaxed read take its value from a later write, which the
    /// axioms rule out: there are relaxed reads and relaxed writes.
    pub fn may_buffer_loads(&self) -> bool {
        let atomic = |i: &&Instruction| i.access.is_access() && i.access.order != Order::Plain;
        let mut atomics = self.instructions.values().filter(atomic).map(|i| i.access);
        atomics.clone().any(|a| a.reads() && !a.order.acquires())
            && atomics.any(|a| a.writes() && !a.order.releases())
    }

    /// The atomic locations.
    pub fn atomics(&self) -> BTreeSet<Location> {
        let atomic = |i: &&Instruction| i.access.is_access() && i.access.order != Order::Plain;
        self.instructions.values().filter(atomic).map(|i| i.access.location).collect()
    }
}

/// Finds the locations of a program; the diagnostics say what is refused.
pub fn orders(tree: &ast::Program) -> Result<Orders, Vec<Diagnostic>> {
    if tree.orders.is_empty() {
        return Ok(Orders::default());
    }
    let mut finder = Finder::new(tree);
    for function in &tree.functions {
        finder.locals = locals(function);
        finder.block(&function.body, Around::default(), Finder::find);
    }
    finder.shadows(tree);
    for function in &tree.functions {
        finder.locals = locals(function);
        finder.block(&function.body, Around::default(), Finder::judge);
    }
    if let Err(Mixed(location)) = slices(&finder.orders.all()) {
        let name = finder.orders.locations[location as usize].clone();
        let message = format!("`{name}` is accessed both as a plain and as an atomic variable");
        let at = finder.places.get(&name).copied().unwrap_or_default();
        finder.errors.push(Diagnostic::error("E231", at, message));
    }
    if finder.errors.is_empty() { Ok(finder.orders) } else { Err(finder.errors) }
}

/// What stands around a statement.
#[derive(Clone, Copy, Default)]
struct Around {
    atomic: bool,
    start: bool,
}

struct Finder<'t> {
    tree: &'t ast::Program,
    /// The shared variables; true of arrays.
    shared: BTreeMap<&'t str, bool>,
    /// The names that are local where the statement is.
    locals: BTreeSet<&'t str>,
    /// The first access of each location.
    places: BTreeMap<String, Span>,
    orders: Orders,
    errors: Vec<Diagnostic>,
}

/// The parameters and the variables of a function.
fn locals(function: &ast::Function) -> BTreeSet<&str> {
    let mut found: BTreeSet<&str> = function.parameters.iter().map(|p| p.name.as_str()).collect();
    each_statement(&function.body, &mut |stmt| match &stmt.kind {
        StmtKind::Decl(decl) => found.extend(decl.variables.iter().map(|v| v.name.name.as_str())),
        StmtKind::For { variable, .. } => _ = found.insert(&variable.name),
        _ => {}
    });
    found
}

fn each_statement<'t>(body: &'t [Stmt], see: &mut impl FnMut(&'t Stmt)) {
    let mut open: Vec<&Stmt> = body.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        see(stmt);
        match &stmt.kind {
            StmtKind::If { arms, otherwise } => {
                open.extend(arms.iter().flat_map(|arm| &arm.1).chain(otherwise.iter().flatten()));
            }
            StmtKind::While(_, body) | StmtKind::Atomic(body, _) | StmtKind::For { body, .. } => {
                open.extend(body);
            }
            StmtKind::Start(inner) => open.push(inner),
            _ => {}
        }
    }
}

impl<'t> Finder<'t> {
    fn new(tree: &'t ast::Program) -> Finder<'t> {
        let shared = tree.globals.iter().filter(|decl| !decl.thread_local);
        let variables = shared.flat_map(|decl| &decl.variables);
        Finder {
            tree,
            shared: variables.map(|v| (v.name.name.as_str(), v.length.is_some())).collect(),
            locals: BTreeSet::new(),
            places: BTreeMap::new(),
            orders: Orders::default(),
            errors: Vec::new(),
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: String) {
        self.errors.push(Diagnostic::error(code, span, message));
    }

    fn block(&mut self, body: &'t [Stmt], around: Around, see: fn(&mut Self, &'t Stmt, Around)) {
        for stmt in body {
            see(self, stmt, around);
            match &stmt.kind {
                StmtKind::If { arms, otherwise } => {
                    arms.iter().for_each(|arm| self.block(&arm.1, around, see));
                    otherwise.iter().for_each(|body| self.block(body, around, see));
                }
                StmtKind::While(_, body) | StmtKind::For { body, .. } => self.block(body, around, see),
                StmtKind::Atomic(body, _) => self.block(body, Around { atomic: true, ..around }, see),
                StmtKind::Start(inner) => {
                    self.block(std::slice::from_ref(inner), Around { start: true, ..around }, see);
                }
                _ => {}
            }
        }
    }

    /// The shared variables that a statement itself mentions, not what is in it: those that it
    /// reads, and those that it writes; without `$`.
    fn mentioned(&self, stmt: &'t Stmt) -> (BTreeSet<&'t str>, BTreeSet<&'t str>) {
        let declared = |name: &str| {
            let bare = name.trim_end_matches('$');
            let known = self.shared.get_key_value(bare).map(|(name, _)| *name);
            known.filter(|name| !self.locals.contains(name))
        };
        let reads = stmt.reads().concat();
        let read = reads.iter().filter(|read| !read.primed).filter_map(|read| declared(&read.name)).collect();
        let written = match &stmt.kind {
            StmtKind::Assign { targets, .. } | StmtKind::Call { targets, .. } => {
                targets.iter().filter_map(|t| declared(&t.ident.name)).collect()
            }
            StmtKind::Dead(names) => names.iter().filter_map(|name| declared(&name.name)).collect(),
            _ => BTreeSet::new(),
        };
        (read, written)
    }

    /// Finds what a statement with an order accesses.
    fn find(&mut self, stmt: &'t Stmt, around: Around) {
        let Some(mark) = self.tree.orders.get(&stmt.span.start).copied() else { return };
        let start = stmt.span.start;
        if around.atomic || around.start {
            let inside = if around.atomic { "inside an atomic section" } else { "after `start_thread`" };
            return self.error("E231", mark.span, format!("a memory order {inside} is not supported"));
        }
        if matches!(stmt.kind, StmtKind::Skip) {
            let access = Access::fence(mark.order);
            self.orders.instructions.insert(start, Instruction { access, selects: false });
            return;
        }
        let (read, written) = self.mentioned(stmt);
        let all: Vec<&str> = read.union(&written).copied().collect();
        let &[name] = &all[..] else {
            let message =
                format!("a statement with an order accesses one shared variable, not {}", all.len());
            return self.error("E229", stmt.span, message);
        };
        if self.shared.get(name) == Some(&true) {
            return self.error("E231", stmt.span, "memory orders of arrays are not supported".into());
        }
        let primed = stmt.reads().concat().iter().any(|read| read.primed && read.name == name);
        if primed || self.is_passive(stmt) {
            let message = "with a memory order, a statement has neither `'` nor `$`".to_string();
            return self.error("E231", stmt.span, message);
        }
        let kind = match (read.contains(name), written.contains(name)) {
            (true, true) => Kind::Update,
            (false, true) => Kind::Store,
            _ => Kind::Load,
        };
        let location = self.location(name, stmt.span);
        let access = Access { kind, location, order: mark.order };
        if kind == Kind::Update && mark.order == Order::Plain {
            let message = "a plain access reads or writes, not both".to_string();
            return self.error("E229", stmt.span, message);
        }
        let selects = guard(stmt).is_some_and(|guard| reads(guard, name));
        self.orders.instructions.insert(start, Instruction { access, selects });
    }

    fn is_passive(&self, stmt: &Stmt) -> bool {
        let targets = match &stmt.kind {
            StmtKind::Assign { targets, .. } => &targets[..],
            _ => &[],
        };
        targets.iter().any(|t| t.ident.name.ends_with('$'))
            || stmt.reads().concat().iter().any(|read| read.name.ends_with('$'))
    }

    fn location(&mut self, name: &str, at: Span) -> Location {
        self.places.entry(name.into()).or_insert(at);
        let known = self.orders.locations.iter().position(|location| location == name);
        known.unwrap_or_else(|| {
            self.orders.locations.push(name.into());
            self.orders.locations.len() - 1
        }) as Location
    }

    /// Refuses local variables with the name of a location, and names of the monitor.
    fn shadows(&mut self, tree: &'t ast::Program) {
        for function in &tree.functions {
            let locals = locals(function);
            for name in self.orders.locations.clone() {
                if locals.contains(name.as_str()) {
                    let message = format!("`{name}` has memory orders, and is also a local variable here");
                    self.error("E231", function.name.span, message);
                }
            }
        }
        let declared = tree.globals.iter().flat_map(|decl| &decl.variables);
        for variable in declared.filter(|v| v.name.name.starts_with(PREFIX)) {
            let message = format!("names that begin with `{PREFIX}` are taken where there are memory orders");
            self.errors.push(Diagnostic::error("E231", variable.name.span, message));
        }
    }

    /// Refuses what has no meaning beside memory orders.
    fn judge(&mut self, stmt: &'t Stmt, around: Around) {
        if self.tree.orders.contains_key(&stmt.span.start) {
            return;
        }
        if self.tree.waking(&stmt.kind).is_some() {
            let message = "waiting threads and memory orders in one program are not supported".to_string();
            return self.error("E231", stmt.span, message);
        }
        let (read, written) = self.mentioned(stmt);
        let mentioned: Vec<&str> = read.union(&written).copied().collect();
        let location = |name: &&&str| self.places.contains_key(**name);
        if let Some(name) = mentioned.iter().find(location) {
            let message = format!("this access of `{name}` has no memory order");
            let error = Diagnostic::error("E230", stmt.span, message).label("others have one");
            return self.errors.push(
                error.hint(format!("read `{name}` into a local variable, as in `r := {name} @relaxed`")),
            );
        }
        if mentioned.is_empty() {
            return;
        }
        let simple = matches!(
            stmt.kind,
            StmtKind::Assign { .. } | StmtKind::Assume(_) | StmtKind::Assert(_) | StmtKind::Dead(_)
        );
        if !simple || around.start {
            let names = mentioned.join("`, `");
            let message = format!("beside memory orders, `{names}` cannot be used in this statement");
            let error = Diagnostic::error("E231", stmt.span, message);
            return self.errors.push(error.hint("read it into a local variable first"));
        }
        self.orders.auxiliary.insert(stmt.span.start);
    }
}

/// The condition that a statement waits for.
fn guard(stmt: &Stmt) -> Option<&Expr> {
    match &stmt.kind {
        StmtKind::Assume(guard) => Some(guard),
        StmtKind::Assign { constrain, .. } => constrain.as_ref(),
        _ => None,
    }
}

fn reads(expr: &Expr, name: &str) -> bool {
    let mut found = Vec::new();
    expr.reads(&mut found);
    found.iter().any(|read| read.name == name)
}
