//! The statements of one function to nodes. A block is lowered from its last statement to its first,
//! so that each statement knows where control goes next.

mod names;

use std::collections::HashMap;
use std::rc::Rc;

use super::{Resolver, each_stmt};
use crate::bp::ast::{self, StmtKind, Waking};
use crate::bp::expr::Expr;
use crate::bp::function::{Kind, Name, Node, Ref};
use crate::source::{Diagnostic, Span};

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
pub(super) struct Lowering<'r, 'a> {
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
    pub(super) fn new(
        resolver: &'r mut Resolver<'a>,
        index: usize,
        tree: &'a ast::Function,
    ) -> Lowering<'r, 'a> {
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

    pub(super) fn run(mut self, body: Vec<&'a ast::Stmt>) {
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
}
