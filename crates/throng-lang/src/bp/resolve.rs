//! Syntax tree to functions: names are resolved, and every statement becomes one node (reference
//! 2.3 to 2.11).
//!
//! A block is lowered from its last statement to its first, so that each statement knows where
//! control goes next.

use std::collections::HashMap;
use std::rc::Rc;

use super::ast::{self, BinaryOp, ChainOp, ExprKind, StmtKind, Waking};
use super::expr::{Expr, FREE, ONE, ZERO};
use super::function::{Function, Kind, Name, Node, Ref, Resolved, Variable};
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

/// Returns the shared variables that are not assigned.
fn without(shared: &[u32], assigned: &[Name]) -> Vec<u32> {
    shared.iter().copied().filter(|&x| !assigned.contains(&Name::Shared(x))).collect()
}

/// The kinds of names that may occur in an expression: another thread's, or primed.
#[derive(Clone, Copy)]
struct Allow {
    passive: bool,
    primed: bool,
}

const PLAIN: Allow = Allow { passive: false, primed: false };
const GUARD: Allow = Allow { passive: true, primed: false };
const CONSTRAINT: Allow = Allow { passive: true, primed: true };

/// The context of a statement.
#[derive(Clone)]
struct Context {
    /// The constraints of the `enforce`s in scope.
    enforced: Rc<Vec<Expr<Ref>>>,
    /// The shared variables that they read.
    enforced_reads: Rc<Vec<u32>>,
    /// Enclosing `atomic { }` blocks, outermost first.
    blocks: Vec<usize>,
}

/// Turns the body of one function into nodes.
struct Lowering<'r, 'a> {
    resolver: &'r mut Resolver<'a>,
    index: usize,
    tree: &'a ast::Function,
    nodes: Vec<Node>,
    /// Enclosing `atomic { }` blocks of each node.
    blocks: Vec<Vec<usize>>,
    labels: HashMap<String, usize>,
    /// Jumps to patch when all labels are known: node, label.
    jumps: Vec<(usize, &'a ast::Ident)>,
    returns: bool,
}

impl<'r, 'a> Lowering<'r, 'a> {
    fn new(resolver: &'r mut Resolver<'a>, index: usize, tree: &'a ast::Function) -> Lowering<'r, 'a> {
        Lowering {
            resolver,
            index,
            tree,
            nodes: Vec::new(),
            blocks: Vec::new(),
            labels: HashMap::new(),
            jumps: Vec::new(),
            returns: false,
        }
    }

    fn run(mut self, body: Vec<&'a ast::Stmt>) {
        self.check_labels();
        let context = Context { enforced: Rc::default(), enforced_reads: Rc::default(), blocks: Vec::new() };
        let end = self.add(Kind::Return { results: None }, self.tree.end, "end".into(), &context);
        let entry = self.block(&body, end, &context);
        self.patch_jumps();
        let function = &mut self.resolver.out.functions[self.index];
        function.nodes = self.nodes;
        function.entry = entry;
        if function.results > 0 && !self.returns && function.name != "main" {
            let message =
                format!("`{}` never returns a value: its results are nondeterministic", function.name);
            let span = function.span;
            self.resolver.warn("W203", span, message);
        }
    }

    fn check_labels(&mut self) {
        let mut owner: HashMap<&str, Span> = HashMap::new();
        let mut numeric: Option<u64> = None;
        let mut problems = Vec::new();
        each_stmt(&self.tree.body, &mut |s| {
            for label in &s.labels {
                if *owner.entry(label.name.as_str()).or_insert(s.span) != s.span {
                    problems.push(Diagnostic::error(
                        "E204",
                        label.span,
                        format!("label `{}` is on two statements", label.name),
                    ));
                }
            }
            let number = s.labels.iter().find_map(|l| l.name.parse::<u64>().ok());
            if let (Some(before), Some(now)) = (numeric, number)
                && now != before.wrapping_add(1)
                && let Some(first) = s.labels.first()
            {
                let message = format!(
                    "label {now} follows label {before}: control goes on in text order, not by number"
                );
                problems.push(Diagnostic::warning("W204", first.span, message));
            }
            numeric = number.or(numeric);
        });
        self.resolver.diagnostics.extend(problems);
    }

    fn add(&mut self, kind: Kind, span: Span, text: String, context: &Context) -> usize {
        self.nodes.push(Node {
            kind,
            span,
            text,
            labels: Vec::new(),
            origin: None,
            check: None,
            reads: Vec::new(),
            reads_at_return: Vec::new(),
        });
        self.blocks.push(context.blocks.clone());
        self.nodes.len() - 1
    }

    /// Lowers statements so that control goes to `follow` afterwards; returns their first node.
    fn block(&mut self, stmts: &[&'a ast::Stmt], follow: usize, context: &Context) -> usize {
        // An `enforce` applies to the statements after it, so contexts are computed front to back.
        let mut context = context.clone();
        let contexts: Vec<Context> = stmts
            .iter()
            .map(|s| {
                let here = context.clone();
                if let StmtKind::Enforce(e) = &s.kind {
                    let primed =
                        self.expr(e, GUARD).map(&mut |r: &Ref| Expr::Var(Ref { primed: true, ..*r }));
                    Rc::make_mut(&mut context.enforced).extend(primed.conjuncts());
                    let reads = s.reads().concat();
                    let shared = reads.iter().filter_map(|read| self.shared(&read.name));
                    Rc::make_mut(&mut context.enforced_reads).extend(shared);
                }
                here
            })
            .collect();
        let mut next = follow;
        for (stmt, context) in stmts.iter().zip(contexts).rev() {
            next = self.labelled(stmt, next, &context);
        }
        next
    }

    fn labelled(&mut self, stmt: &'a ast::Stmt, next: usize, context: &Context) -> usize {
        let is_async = stmt.labels.iter().any(|l| l.name.starts_with(ast::ASYNC));
        let entry = if matches!(stmt.kind, StmtKind::Decl(_)) {
            if is_async {
                let message = "a thread is started with a statement, not with a declaration";
                self.resolver.error("E215", stmt.span, message);
            }
            next
        } else if is_async {
            self.started(stmt, stmt, next, context)
        } else {
            self.statement(stmt, next, context)
        };
        for label in &stmt.labels {
            self.labels.entry(label.name.clone()).or_insert(entry);
            if !self.nodes[entry].labels.contains(&label.name) {
                self.nodes[entry].labels.push(label.name.clone());
            }
        }
        if let (Some(origin), false) = (&stmt.origin, matches!(stmt.kind, StmtKind::Decl(_))) {
            let function = origin.function.as_ref().map(|f| format!(" ({f})")).unwrap_or_default();
            self.nodes[entry].origin = Some(format!("{}:{}{function}", origin.file, origin.line));
        }
        entry
    }

    fn text(&self, span: Span) -> String {
        let raw = self.resolver.text.get(span.range()).unwrap_or_default();
        let without_comments: Vec<&str> =
            raw.lines().map(|l| l.split("//").next().unwrap_or_default()).collect();
        without_comments.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self, stmt: &'a ast::Stmt, next: usize, context: &Context) -> usize {
        let at = self.unchecked(stmt, next, context);
        self.check(at, stmt);
        self.note_reads(at, stmt, context);
        at
    }

    /// Gives a node the check of its statement.
    fn check(&mut self, at: usize, stmt: &ast::Stmt) {
        if let Some(check) = &stmt.check {
            self.nodes[at].check = Some(self.expr(check, PLAIN));
        }
    }

    /// Sets the variables that the text of a node's statement reads.
    fn note_reads(&mut self, at: usize, stmt: &ast::Stmt, context: &Context) {
        let assigned: Vec<Name> = match &self.nodes[at].kind {
            Kind::Assign { assigns, .. } => assigns.iter().map(|a| a.0).collect(),
            Kind::Call { targets, .. } => targets.iter().flatten().copied().collect(),
            _ => Vec::new(),
        };
        let enforced = without(&context.enforced_reads, &assigned);
        match &stmt.kind {
            // Each condition is a node of its own.
            StmtKind::If { .. } => return,
            StmtKind::Assign { .. } => self.nodes[at].reads.extend(enforced),
            StmtKind::Call { targets, .. } if !targets.is_empty() => {
                self.nodes[at].reads_at_return = enforced;
            }
            _ => {}
        }
        let old = self.old(&stmt.reads().concat(), &assigned);
        self.nodes[at].reads.extend(old);
    }

    /// Returns the shared variables whose old values are read; `'x` is the new value if x is
    /// assigned.
    fn old(&self, reads: &[ast::Read], assigned: &[Name]) -> Vec<u32> {
        let shared = |read: &ast::Read| {
            let x = self.shared(&read.name)?;
            (!(read.primed && assigned.contains(&Name::Shared(x)))).then_some(x)
        };
        reads.iter().filter_map(shared).collect()
    }

    fn shared(&self, spelling: &str) -> Option<u32> {
        match self.declared(spelling) {
            Some(Name::Shared(x)) => Some(x),
            _ => None,
        }
    }

    fn unchecked(&mut self, stmt: &'a ast::Stmt, next: usize, context: &Context) -> usize {
        let span = stmt.span;
        let text = self.text(span);
        let kind = match &stmt.kind {
            StmtKind::Skip => Kind::Skip { next },
            StmtKind::Dead(names) => {
                names.iter().for_each(|n| _ = self.lookup(n));
                Kind::Skip { next }
            }
            StmtKind::Print(es) => {
                es.iter().for_each(|e| _ = self.expr(e, PLAIN));
                Kind::Skip { next }
            }
            StmtKind::Goto(labels) => {
                let at = self.add(Kind::Goto { targets: Vec::new() }, span, text, context);
                self.jumps.extend(labels.iter().map(|l| (at, l)));
                return at;
            }
            StmtKind::Assume(e) | StmtKind::Enforce(e) => {
                Kind::Assume { condition: self.expr(e, GUARD), next }
            }
            StmtKind::Assert(e) => Kind::Assert { condition: self.expr(e, PLAIN), next },
            StmtKind::Abortif(e) => Kind::Assert { condition: Expr::negation(self.expr(e, PLAIN)), next },
            StmtKind::Assign { targets, values, constrain } => {
                self.assign(stmt, targets, values, constrain.as_ref(), next, context)
            }
            kind if let Some((what, name)) = self.resolver.tree.waking(kind) => {
                let condition = name.map_or(0, |name| self.resolver.condition(name, what, span));
                match what {
                    Waking::Wait if !context.blocks.is_empty() => {
                        let end = Span { start: span.end, ..span };
                        let next = self.add(Kind::Resume { next }, end, format!("{text} (resume)"), context);
                        Kind::Wait { next, condition }
                    }
                    Waking::Wait => Kind::Wait { next, condition },
                    Waking::Signal => Kind::Signal { next, condition },
                    Waking::Broadcast => Kind::Broadcast { next, condition },
                }
            }
            StmtKind::Call { targets, callee, arguments } => {
                self.call(targets, callee, arguments, next, context)
            }
            StmtKind::Return(es) => self.return_(stmt, es, context),
            StmtKind::If { arms, otherwise } => {
                return self.if_(stmt, arms, otherwise.as_deref(), next, context);
            }
            StmtKind::While(e, body) => return self.while_(stmt, e, body, next, context),
            // `for` loops have been lowered.
            StmtKind::Decl(_) | StmtKind::For { .. } => return next,
            StmtKind::StartGoto { label, .. } => {
                let at = self.add(Kind::Start { child: 0, next }, span, text, context);
                self.jumps.push((at, label));
                return at;
            }
            StmtKind::Start(child) => return self.started(stmt, child, next, context),
            StmtKind::EndThread => Kind::EndThread,
            StmtKind::AtomicBegin => Kind::AtomicBegin { next },
            StmtKind::AtomicEnd => Kind::AtomicEnd { next },
            StmtKind::Atomic(body, end) => return self.atomic(stmt, body, *end, next, context),
            // Handled above.
            StmtKind::Wait | StmtKind::Signal | StmtKind::Broadcast => Kind::Skip { next },
        };
        self.add(kind, span, text, context)
    }

    fn assign(
        &mut self,
        stmt: &ast::Stmt,
        targets: &[ast::Target],
        values: &[ast::Expr],
        constrain: Option<&ast::Expr>,
        next: usize,
        context: &Context,
    ) -> Kind {
        if targets.len() != values.len() {
            let message = format!("{} variables are assigned {} values", targets.len(), values.len());
            self.resolver.error("E206", stmt.span, message);
        }
        let names = self.targets(targets);
        let mut assigns = Vec::new();
        for (name, value) in names.into_iter().zip(values) {
            let allow = Allow { passive: name.is_some_and(Name::is_other), primed: false };
            let value = self.expr(value, allow);
            assigns.extend(name.map(|name| (name, value)));
        }
        let mut constraints = Vec::clone(&context.enforced);
        if let Some(c) = constrain {
            constraints.extend(self.expr(c, CONSTRAINT).conjuncts());
        }
        Kind::Assign { assigns, constraints, next }
    }

    fn targets(&mut self, targets: &[ast::Target]) -> Vec<Option<Name>> {
        let mut names: Vec<Option<Name>> = Vec::new();
        for ast::Target { ident: target, .. } in targets {
            let name = if target.name == "_" { None } else { self.lookup(target) };
            if name.is_some() && names.contains(&name) {
                self.resolver.error("E209", target.span, format!("`{}` is assigned twice", target.name));
            }
            names.push(name);
        }
        names
    }

    fn callee(&mut self, callee: &ast::Ident, arguments: &[ast::Expr]) -> usize {
        let Some(index) = self.resolver.out.functions.iter().position(|f| f.name == callee.name) else {
            self.resolver.error("E213", callee.span, format!("no function `{}`", callee.name));
            return 0;
        };
        let takes = self.resolver.out.functions[index].parameters;
        if takes != arguments.len() {
            let message = format!("`{}` takes {takes} arguments, not {}", callee.name, arguments.len());
            self.resolver.error("E206", callee.span, message);
        }
        index
    }

    fn call(
        &mut self,
        targets: &[ast::Target],
        callee: &ast::Ident,
        arguments: &[ast::Expr],
        next: usize,
        context: &Context,
    ) -> Kind {
        let index = self.callee(callee, arguments);
        let results = self.resolver.out.functions[index].results;
        let mut names = self.targets(targets);
        if let Some(t) =
            targets.iter().map(|t| &t.ident).find(|t| t.name.ends_with('$') && self.is_passive(&t.name))
        {
            self.resolver.error("E208", t.span, "a result cannot be assigned to another thread's variable");
        }
        if targets.is_empty() {
            names = vec![None; results];
        } else if targets.len() != results {
            let message = format!("`{}` returns {results} values, not {}", callee.name, targets.len());
            self.resolver.error("E206", callee.span, message);
        }
        let arguments = arguments.iter().map(|e| self.expr(e, PLAIN)).collect();
        // An `enforce` applies to assignments; a call without `:=` is not one.
        let constraints = if targets.is_empty() { Vec::new() } else { Vec::clone(&context.enforced) };
        Kind::Call { callee: index, arguments, targets: names, constraints, next, site: 0 }
    }

    fn return_(&mut self, stmt: &ast::Stmt, es: &[ast::Expr], context: &Context) -> Kind {
        let results = self.resolver.out.functions[self.index].results;
        if es.len() != results {
            let message = format!("`{}` returns {results} values, not {}", self.tree.name.name, es.len());
            self.resolver.error("E214", stmt.span, message);
        }
        if !context.blocks.is_empty() {
            self.resolver.error("E211", stmt.span, "return inside `atomic { }`");
        }
        self.returns = true;
        Kind::Return { results: Some(es.iter().map(|e| self.expr(e, PLAIN)).collect()) }
    }

    fn if_(
        &mut self,
        stmt: &'a ast::Stmt,
        arms: &'a [(ast::Expr, Vec<ast::Stmt>)],
        otherwise: Option<&'a [ast::Stmt]>,
        next: usize,
        context: &Context,
    ) -> usize {
        let body = |body: &'a [ast::Stmt]| body.iter().collect::<Vec<_>>();
        let reads = stmt.reads();
        let mut other = otherwise.map_or(next, |b| self.block(&body(b), next, context));
        for (i, (condition, then)) in arms.iter().enumerate().rev() {
            let then = self.block(&body(then), next, context);
            let word = if i == 0 { "if" } else { "elsif" };
            let text = format!("{word} {}", self.text(condition.span));
            let span = if i == 0 { Span { end: condition.span.end, ..stmt.span } } else { condition.span };
            let condition = self.expr(condition, GUARD);
            other = self.add(Kind::Branch { condition, then, otherwise: other }, span, text, context);
            self.nodes[other].reads = self.old(&reads[i], &[]);
        }
        other
    }

    fn while_(
        &mut self,
        stmt: &'a ast::Stmt,
        e: &'a ast::Expr,
        body: &'a [ast::Stmt],
        next: usize,
        context: &Context,
    ) -> usize {
        let text = format!("while {}", self.text(e.span));
        let head = self.add(Kind::Skip { next }, Span { end: e.span.end, ..stmt.span }, text, context);
        let then = self.block(&body.iter().collect::<Vec<_>>(), head, context);
        let condition = self.expr(e, GUARD);
        self.nodes[head].kind = Kind::Branch { condition, then, otherwise: next };
        head
    }

    fn atomic(
        &mut self,
        stmt: &'a ast::Stmt,
        body: &'a [ast::Stmt],
        end: Span,
        next: usize,
        context: &Context,
    ) -> usize {
        let enter = self.add(
            Kind::Skip { next },
            Span { end: stmt.span.start + 6, ..stmt.span },
            "atomic {".into(),
            context,
        );
        let mut inner = context.clone();
        inner.blocks.push(enter);
        let leave = self.add(Kind::AtomicLeave { enter, next }, end, "}".into(), &inner);
        let next = self.block(&body.iter().collect::<Vec<_>>(), leave, &inner);
        self.nodes[enter].kind = Kind::AtomicEnter { next };
        enter
    }

    /// Lowers `start_thread S`, or `ASYNC_1: S`, where `stmt` and `child` are the same.
    fn started(
        &mut self,
        stmt: &'a ast::Stmt,
        child: &'a ast::Stmt,
        next: usize,
        context: &Context,
    ) -> usize {
        let outside = Context { blocks: Vec::new(), ..context.clone() };
        let text = self.text(stmt.span);
        let child = match &child.kind {
            StmtKind::Goto(labels) if let [label] = &labels[..] => {
                let at = self.add(Kind::Start { child: 0, next }, stmt.span, text, context);
                self.jumps.push((at, label));
                return at;
            }
            StmtKind::Call { targets, callee, arguments }
                if targets.is_empty() && self.resolver.tree.waking(&child.kind).is_none() =>
            {
                let index = self.callee(callee, arguments);
                let arguments = arguments.iter().map(|e| self.expr(e, PLAIN)).collect();
                let kind = Kind::TailCall { callee: index, arguments };
                let at = self.add(kind, child.span, self.text(child.span), &outside);
                self.check(at, child);
                self.note_reads(at, child, &outside);
                at
            }
            StmtKind::Decl(_) => {
                self.resolver.error("E215", stmt.span, "`start_thread` needs a statement, not a declaration");
                return next;
            }
            _ => {
                let end =
                    self.add(Kind::EndThread, stmt.span, "end of the started statement".into(), &outside);
                self.statement(child, end, &outside)
            }
        };
        self.add(Kind::Start { child, next }, stmt.span, text, context)
    }

    fn patch_jumps(&mut self) {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let Some(&to) = self.labels.get(&label.name) else {
                let message = format!("no label `{}` in `{}`", label.name, self.tree.name.name);
                self.resolver.error("E205", label.span, message);
                continue;
            };
            let start = matches!(self.nodes[at].kind, Kind::Start { .. });
            let from: &[usize] = if start { &[] } else { &self.blocks[at] };
            if !self.blocks[to].starts_with(from) {
                self.resolver.error("E211", label.span, "jump out of `atomic { }`");
            } else if self.blocks[to].len() > from.len() {
                self.resolver.error("E211", label.span, "jump into `atomic { }`");
            }
            match &mut self.nodes[at].kind {
                Kind::Goto { targets } => targets.push(to),
                Kind::Start { child, .. } => *child = to,
                _ => {}
            }
        }
    }

    // ── names ──

    /// Returns whether a spelling that ends in `$` is not itself declared and so means another
    /// thread's variable.
    fn is_passive(&self, spelling: &str) -> bool {
        self.declared(spelling).is_none() && spelling.len() > 1 && spelling.ends_with('$')
    }

    /// Looks up a declared name: local (or parameter), then thread-local, then shared.
    fn declared(&self, spelling: &str) -> Option<Name> {
        let out = &self.resolver.out;
        let find = |vs: &[Variable]| vs.iter().position(|v| v.name == spelling).map(|i| i as u32);
        find(&out.functions[self.index].variables)
            .map(Name::Local)
            .or_else(|| find(&out.thread_locals).map(Name::ThreadLocal))
            .or_else(|| find(&out.shared).map(Name::Shared))
    }

    fn lookup(&mut self, ident: &ast::Ident) -> Option<Name> {
        self.lookup_str(&ident.name, ident.span)
    }

    fn lookup_str(&mut self, spelling: &str, span: Span) -> Option<Name> {
        if let Some(name) = self.declared(spelling) {
            return Some(name);
        }
        if let Some(base) = spelling.strip_suffix('$').filter(|b| !b.is_empty()) {
            match self.declared(base) {
                Some(Name::Local(i)) => return Some(Name::OtherLocal(i)),
                Some(Name::ThreadLocal(i)) => return Some(Name::OtherThreadLocal(i)),
                Some(_) => {
                    let message =
                        format!("`{spelling}`: only local variables have a value in another thread");
                    self.resolver.error("E208", span, message).label = format!("`{base}` is shared");
                    return None;
                }
                None => {}
            }
        }
        let close = self.closest(spelling);
        let error = self.resolver.error("E201", span, format!("`{spelling}` is not declared"));
        error.hint = close;
        None
    }

    /// Returns a hint if a declared variable was probably meant.
    fn closest(&self, spelling: &str) -> Option<String> {
        let out = &self.resolver.out;
        let all = out.functions[self.index].variables.iter().chain(&out.thread_locals).chain(&out.shared);
        did_you_mean(spelling, all.map(|v| v.name.as_str()))
    }

    fn expr(&mut self, e: &ast::Expr, allow: Allow) -> Expr<Ref> {
        lower_expr(e, &mut |spelling, primed, span| {
            if primed && !allow.primed {
                let message =
                    format!("`'{spelling}` (the value after the step) has a meaning only in `constrain`");
                self.resolver.error("E207", span, message);
            }
            let Some(name) = self.lookup_str(spelling, span) else { return Expr::Any };
            if name.is_other() && !allow.passive {
                let message = format!("`{spelling}`: another thread's value has no meaning here");
                self.resolver.error("E208", span, message);
            }
            Expr::Var(Ref { name, primed })
        })
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
