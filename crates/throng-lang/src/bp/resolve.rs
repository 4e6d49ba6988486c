//! Syntax tree to functions: names are resolved, and every statement becomes one node (reference
//! 2.3 to 2.11). Here are the program and its declarations; `statement` has the bodies of functions.

mod statement;

use std::collections::HashMap;

use self::statement::Lowering;
use super::ast::{self, BinaryOp, ChainOp, ExprKind, StmtKind, Waking};
use super::expr::{Expr, FREE, ONE, ZERO};
use super::function::{Function, Name, Resolved, Variable};
use super::returns;
use crate::similar::did_you_mean;
use crate::source::{Diagnostic, Span};

/// Resolves all names. On errors the result is not usable.
pub fn resolve(tree: &ast::Program, text: &str) -> (Resolved, Vec<Diagnostic>) {
    let (out, diagnostics) = (Resolved::default(), Vec::new());
    let mut resolver = Resolver { conditions: Vec::new(), text, tree, out, diagnostics };
    resolver.program();
    resolver.warn_about_conditions();
    let Resolver { mut out, mut diagnostics, .. } = resolver;
    if diagnostics.iter().all(|d| !d.is_error()) {
        returns::mark(&mut out);
    }
    diagnostics.sort_by_key(|d| d.span);
    (out, diagnostics)
}

/// Resolves an expression over the shared variables alone (`--invariant`).
pub fn resolve_shared(
    e: &ast::Expr,
    variables: &[Variable],
    only_shared: bool,
) -> Result<Expr<u32>, Diagnostic> {
    let mut error = None;
    let resolved = lower_expr(e, &mut |name, primed, span| {
        let found = variables.iter().position(|v| v.name == name);
        if primed || found.is_none() {
            let message = if primed {
                "a prime has no meaning here".into()
            } else if only_shared {
                format!("no shared variable `{name}`")
            } else {
                format!("there is no variable `{name}` here")
            };
            let hint = did_you_mean(name, variables.iter().map(|v| v.name.as_str())).filter(|_| !primed);
            error.get_or_insert(Diagnostic { hint, ..Diagnostic::error("E608", span, message) });
        }
        Expr::Var(found.unwrap_or(0) as u32)
    });
    error.map_or(Ok(resolved), Err)
}

/// A condition that threads wait for, with the first statements that wait for it and signal it.
struct Condition {
    name: String,
    waited: Option<Span>,
    signalled: Option<Span>,
}

struct Resolver<'a> {
    conditions: Vec<Condition>,
    text: &'a str,
    tree: &'a ast::Program,
    out: Resolved,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    /// Returns the number of a condition; 0 is the one without a name.
    fn condition(&mut self, name: &str, what: Waking, span: Span) -> u32 {
        let at = self.conditions.iter().position(|c| c.name == name).unwrap_or_else(|| {
            self.conditions.push(Condition { name: name.into(), waited: None, signalled: None });
            self.conditions.len() - 1
        });
        let condition = &mut self.conditions[at];
        let place = if what == Waking::Wait { &mut condition.waited } else { &mut condition.signalled };
        place.get_or_insert(span);
        at as u32 + 1
    }

    /// Warns about conditions that are only waited for, or only signalled: they are probably
    /// misspelt.
    fn warn_about_conditions(&mut self) {
        for Condition { name, waited, signalled } in &self.conditions {
            let (span, message) = match (waited, signalled) {
                (Some(span), None) => (span, format!("`{name}` is never signalled")),
                (None, Some(span)) => (span, format!("no thread ever waits for `{name}`")),
                _ => continue,
            };
            self.diagnostics.push(Diagnostic::warning("W205", *span, message));
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::warning(code, span, message));
    }

    fn program(&mut self) {
        let tree = self.tree;
        let globals: Vec<&ast::DeclVar> = tree.globals.iter().flat_map(|d| &d.variables).collect();
        self.distinct(globals.iter().map(|v| &v.name), "variable");
        self.distinct(tree.functions.iter().map(|f| &f.name), "function");
        for decl in &tree.globals {
            let place = if decl.thread_local { &mut self.out.thread_locals } else { &mut self.out.shared };
            place.extend(decl.variables.iter().map(variable));
        }
        let functions: Vec<Function> = tree.functions.iter().map(|f| self.declare(f)).collect();
        self.out.functions = functions;
        match tree.functions.iter().position(|f| f.name.name == "main") {
            Some(main) => self.out.main = main,
            None => self.diagnostics.push(
                Diagnostic::whole("E203", "no function `main`")
                    .hint("a program starts at `void main() begin … end`"),
            ),
        }
        for (index, function) in tree.functions.iter().enumerate() {
            let body = self.take_initialisers(index, function);
            Lowering::new(self, index, function).run(body);
        }
    }

    fn distinct<'b>(&mut self, names: impl Iterator<Item = &'b ast::Ident>, what: &str) {
        let mut seen = HashMap::new();
        for ident in names {
            if seen.insert(ident.name.as_str(), ident.span).is_some() {
                self.error("E202", ident.span, format!("{what} `{}` is declared twice", ident.name)).label =
                    "second declaration".into();
            }
        }
    }

    fn declare(&mut self, tree: &ast::Function) -> Function {
        let mut locals = Vec::new();
        each_stmt(&tree.body, &mut |s| {
            if let StmtKind::Decl(d) = &s.kind {
                locals.extend(&d.variables);
            }
        });
        self.distinct(locals.iter().map(|v| &v.name), "variable");
        self.distinct(tree.parameters.iter(), "parameter");
        let mut variables = Vec::new();
        for p in &tree.parameters {
            let hidden = locals.iter().any(|l| l.name.name == p.name);
            if hidden {
                self.warn("W202", p.span, format!("a local variable hides the parameter `{}`", p.name));
            }
            let name = if hidden { format!("parameter {}", p.name) } else { p.name.clone() };
            variables.push(Variable { name, initial: FREE });
        }
        variables.extend(locals.into_iter().map(variable));
        Function {
            name: tree.name.name.clone(),
            span: tree.name.span,
            parameters: tree.parameters.len(),
            variables,
            results: tree.results as usize,
            nodes: Vec::new(),
            entry: 0,
        }
    }

    /// Takes the initialisers off the body of `main` and returns the rest. Where every statement of
    /// `main` after an unlabelled prefix of constant assignments has a numeric label (IJIT's
    /// dialect), that prefix initialises and is not executed (reference 2.6).
    fn take_initialisers(&mut self, index: usize, tree: &'a ast::Function) -> Vec<&'a ast::Stmt> {
        let first = initialisers(tree);
        for stmt in &first {
            let StmtKind::Assign { targets, values, .. } = &stmt.kind else { continue };
            for (target, value) in targets.iter().zip(values) {
                let initial = match value.kind {
                    ExprKind::Const(false) => ZERO,
                    ExprKind::Const(true) => ONE,
                    _ => FREE,
                };
                match Lowering::new(self, index, tree).lookup(&target.ident) {
                    Some(Name::Shared(i)) => self.out.shared[i as usize].initial = initial,
                    Some(Name::ThreadLocal(i)) => self.out.thread_locals[i as usize].initial = initial,
                    Some(Name::Local(i)) => self.out.functions[index].variables[i as usize].initial = initial,
                    _ => {}
                }
            }
        }
        tree.body.iter().filter(|s| !first.iter().any(|f| std::ptr::eq(*f, *s))).collect()
    }
}

/// Returns the statements of `main` that only initialise.
pub(super) fn initialisers(tree: &ast::Function) -> Vec<&ast::Stmt> {
    let executable: Vec<&ast::Stmt> =
        tree.body.iter().filter(|s| !matches!(s.kind, StmtKind::Decl(_))).collect();
    let prefix = executable.iter().take_while(|s| is_initialiser(s)).count();
    let (first, rest) = executable.split_at(prefix);
    let is_ijit = tree.name.name == "main" && !rest.is_empty() && rest.iter().all(|s| is_numbered(s));
    if is_ijit { first.to_vec() } else { Vec::new() }
}

fn variable(v: &ast::DeclVar) -> Variable {
    let initial = match &v.initial {
        Some(ast::Initial::False) => ZERO,
        Some(ast::Initial::True) => ONE,
        // Other values belong to numbers, which have been lowered.
        Some(ast::Initial::Any | ast::Initial::Value(_)) | None => FREE,
    };
    Variable { name: v.name.name.clone(), initial }
}

fn is_initialiser(s: &ast::Stmt) -> bool {
    let StmtKind::Assign { targets, values, constrain: None } = &s.kind else { return false };
    s.labels.is_empty()
        && s.check.is_none()
        && targets.iter().all(|t| t.ident.name != "_" && !t.ident.name.ends_with('$'))
        && values.iter().all(|v| matches!(v.kind, ExprKind::Const(_) | ExprKind::Any))
}

/// Returns whether a statement and all inside it have numeric labels; the `goto` of `if e then goto
/// L; fi` needs none.
fn is_numbered(s: &ast::Stmt) -> bool {
    s.labels.iter().any(|l| l.name.bytes().all(|b| b.is_ascii_digit())) && is_numbered_inside(s)
}

fn is_numbered_inside(s: &ast::Stmt) -> bool {
    let all = |body: &[ast::Stmt]| body.iter().all(is_numbered);
    let branch = |body: &[ast::Stmt]| {
        matches!(body, [ast::Stmt { kind: StmtKind::Goto(_), labels, .. }] if labels.is_empty()) || all(body)
    };
    match &s.kind {
        StmtKind::If { arms, otherwise } => {
            arms.iter().all(|(_, body)| branch(body)) && otherwise.as_deref().is_none_or(branch)
        }
        StmtKind::While(_, body) | StmtKind::Atomic(body, _) => all(body),
        StmtKind::Start(child) => is_numbered_inside(child),
        _ => true,
    }
}

/// Calls `see` on every statement, nested ones included, in text order.
pub(super) fn each_stmt<'a>(body: &'a [ast::Stmt], see: &mut dyn FnMut(&'a ast::Stmt)) {
    for s in body {
        see(s);
        match &s.kind {
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| each_stmt(body, see));
                otherwise.iter().for_each(|body| each_stmt(body, see));
            }
            StmtKind::While(_, body) | StmtKind::Atomic(body, _) | StmtKind::For { body, .. } => {
                each_stmt(body, see);
            }
            StmtKind::Start(s) => each_stmt(std::slice::from_ref(s), see),
            _ => {}
        }
    }
}

/// Resolves an expression; `name` resolves each variable.
fn lower_expr<V>(e: &ast::Expr, name: &mut dyn FnMut(&str, bool, Span) -> Expr<V>) -> Expr<V> {
    match &e.kind {
        ExprKind::Const(v) => Expr::Const(*v),
        // Numbers and arrays have been lowered.
        ExprKind::Any | ExprKind::Number(_) | ExprKind::Index { .. } => Expr::Any,
        ExprKind::Name { name: spelling, primed } => name(spelling, *primed, e.span),
        ExprKind::Not(a) => Expr::negation(lower_expr(a, name)),
        ExprKind::Chain(op, es) => {
            let es = es.iter().map(|e| lower_expr(e, name)).collect();
            match op {
                ChainOp::And => Expr::And(es),
                ChainOp::Or => Expr::Or(es),
                ChainOp::Xor => Expr::Xor(es),
            }
        }
        // Equalities of truth values: the parity of all operands, negated once for each `=`. Other
        // series have been lowered.
        ExprKind::Series(first, rest) => {
            let operands = std::iter::once(&**first).chain(rest.iter().map(|(_, e)| e));
            let parity = Expr::Xor(operands.map(|e| lower_expr(e, name)).collect());
            let equal = |op: &BinaryOp| matches!(op, BinaryOp::Equal | BinaryOp::Iff);
            match rest.iter().filter(|(op, _)| equal(op)).count() % 2 {
                0 => parity,
                _ => Expr::negation(parity),
            }
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (lower_expr(a, name), lower_expr(b, name));
            match op {
                BinaryOp::Equal | BinaryOp::Iff => Expr::equal(a, b),
                BinaryOp::Unequal => Expr::Xor(vec![a, b]),
                BinaryOp::Implies => Expr::Or(vec![Expr::negation(a), b]),
                BinaryOp::Less | BinaryOp::AtMost | BinaryOp::Greater | BinaryOp::AtLeast => Expr::Any,
                BinaryOp::Plus | BinaryOp::Minus | BinaryOp::Times => Expr::Any,
            }
        }
        ExprKind::Conditional(c, a, b) => {
            Expr::Conditional(Box::new([lower_expr(c, name), lower_expr(a, name), lower_expr(b, name)]))
        }
        // 1 if p, else 0 if n, else any: p | (* & !n).
        ExprKind::Schoose(p, n) => {
            let (p, n) = (lower_expr(p, name), lower_expr(n, name));
            Expr::Or(vec![p, Expr::And(vec![Expr::Any, Expr::negation(n)])])
        }
    }
}
