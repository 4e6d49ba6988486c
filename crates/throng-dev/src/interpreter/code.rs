//! From the tree of a program to points.

use std::collections::HashMap;

use super::{BOTH, PLAIN, Role};
use throng_lang::bp::ast::{
    DeclVar, Expr, ExprKind, Function, Ident, Initial, Program, Stmt, StmtKind, Target, Waking,
};

/// The effect of one point of a function.
pub(super) enum Do<'a> {
    Skip,
    Print(&'a [Expr]),
    /// Not a point: control is already at the target.
    Jump(usize),
    Goto(&'a [Ident]),
    Assume(&'a Expr),
    /// Violated if the expression can have the value.
    Fail(&'a Expr, bool),
    Branch(&'a Expr, usize, usize),
    Assign {
        targets: &'a [Target],
        values: &'a [Expr],
        constrain: Option<&'a Expr>,
    },
    Call {
        targets: &'a [Target],
        callee: &'a str,
        arguments: &'a [Expr],
    },
    /// A call that the started thread will not come back from.
    Become {
        callee: &'a str,
        arguments: &'a [Expr],
    },
    Return(Option<&'a [Expr]>),
    Start(usize),
    StartLabel(&'a str),
    End,
    AtomicBegin,
    AtomicEnd,
    Open,
    Close,
    /// The name of the condition, and whether it is inside `atomic { }` and releases that
    /// meanwhile.
    Wait(Option<&'a str>, bool),
    /// Enters the section again that a `wait` released.
    Resume,
    Signal(Option<&'a str>),
    Broadcast(Option<&'a str>),
}

pub(super) struct Point<'a> {
    pub(super) what: Do<'a>,
    /// The point where control continues, unless `what` states it.
    pub(super) next: usize,
    /// The `enforce`s in whose scope this is.
    pub(super) enforced: Vec<&'a Expr>,
    pub(super) offset: u32,
    pub(super) role: Role,
}

pub(super) struct Code<'a> {
    pub(super) tree: &'a Function,
    /// Names of parameters and locals; a local comes after the parameter that it hides.
    pub(super) names: Vec<&'a str>,
    /// Possible values of each at function entry; both values for parameters.
    pub(super) initial: Vec<Vec<bool>>,
    pub(super) points: Vec<Point<'a>>,
    pub(super) labels: HashMap<&'a str, usize>,
    pub(super) program: &'a Program,
    /// Number of `atomic { }` blocks around what is being added.
    pub(super) blocks: usize,
}

pub(super) fn initial_values(v: &DeclVar) -> Vec<bool> {
    match v.initial {
        Some(Initial::False) => vec![false],
        Some(Initial::True) => vec![true],
        Some(Initial::Any) | None => BOTH.to_vec(),
        Some(Initial::Value(_)) => unreachable!("{PLAIN}"),
    }
}

fn nested_declarations<'a>(body: &'a [Stmt], found: &mut Vec<&'a DeclVar>) {
    for s in body {
        match &s.kind {
            StmtKind::Decl(d) => found.extend(&d.variables),
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, b)| nested_declarations(b, found));
                otherwise.iter().for_each(|b| nested_declarations(b, found));
            }
            StmtKind::While(_, b) | StmtKind::Atomic(b, _) => nested_declarations(b, found),
            StmtKind::Start(s) => nested_declarations(std::slice::from_ref(s), found),
            _ => {}
        }
    }
}

impl<'a> Code<'a> {
    pub(super) fn new(program: &'a Program, tree: &'a Function, body: &[&'a Stmt]) -> Code<'a> {
        let mut locals = Vec::new();
        nested_declarations(&tree.body, &mut locals);
        let parameters = tree.parameters.iter().map(|p| p.name.as_str());
        let mut code = Code {
            tree,
            names: parameters.chain(locals.iter().map(|v| v.name.name.as_str())).collect(),
            initial: vec![BOTH.to_vec(); tree.parameters.len()],
            points: Vec::new(),
            labels: HashMap::new(),
            program,
            blocks: 0,
        };
        code.initial.extend(locals.into_iter().map(initial_values));
        code.block(body, &[]);
        code.add(Do::Return(None), tree.end.start, &[]);
        code
    }

    pub(super) fn here(&self) -> usize {
        self.points.len()
    }

    /// Adds a point that leads to the one added next.
    pub(super) fn add(&mut self, what: Do<'a>, offset: u32, enforced: &[&'a Expr]) -> usize {
        let next = self.here() + 1;
        self.points.push(Point { what, next, enforced: enforced.to_vec(), offset, role: Role::Plain });
        next - 1
    }

    pub(super) fn block(&mut self, body: &[&'a Stmt], enforced: &[&'a Expr]) {
        let mut enforced = enforced.to_vec();
        for s in body {
            for label in &s.labels {
                let here = self.here();
                self.labels.entry(&label.name).or_insert(here);
            }
            if s.labels.iter().any(|l| l.name.starts_with("ASYNC_")) {
                self.start(s, s, Role::Async, &enforced);
            } else {
                self.statement(s, &enforced);
            }
            if let StmtKind::Enforce(e) = &s.kind {
                enforced.push(e);
            }
        }
    }

    pub(super) fn inner(&mut self, body: &'a [Stmt], enforced: &[&'a Expr]) {
        self.block(&body.iter().collect::<Vec<_>>(), enforced);
    }

    pub(super) fn statement(&mut self, s: &'a Stmt, enforced: &[&'a Expr]) {
        let what = match &s.kind {
            StmtKind::For { .. } => unreachable!("{PLAIN}"),
            StmtKind::Decl(_) => return,
            StmtKind::Skip | StmtKind::Dead(_) => Do::Skip,
            StmtKind::Print(es) => Do::Print(es),
            StmtKind::Goto(labels) => Do::Goto(labels),
            StmtKind::Assume(e) | StmtKind::Enforce(e) => Do::Assume(e),
            StmtKind::Assert(e) => Do::Fail(e, false),
            StmtKind::Abortif(e) => Do::Fail(e, true),
            StmtKind::Assign { targets, values, constrain } => {
                Do::Assign { targets, values, constrain: constrain.as_ref() }
            }
            kind if let Some((what, name)) = self.program.waking(kind) => match what {
                Waking::Wait => {
                    self.add(Do::Wait(name, self.blocks > 0), s.span.start, enforced);
                    if self.blocks > 0 {
                        self.add(Do::Resume, s.span.end, enforced);
                    }
                    return;
                }
                Waking::Signal => Do::Signal(name),
                Waking::Broadcast => Do::Broadcast(name),
            },
            StmtKind::Call { targets, callee, arguments } => {
                Do::Call { targets, callee: &callee.name, arguments }
            }
            StmtKind::Return(es) => Do::Return(Some(es)),
            StmtKind::StartGoto { label, .. } => Do::StartLabel(&label.name),
            StmtKind::EndThread => Do::End,
            StmtKind::AtomicBegin => Do::AtomicBegin,
            StmtKind::AtomicEnd => Do::AtomicEnd,
            StmtKind::Wait | StmtKind::Signal | StmtKind::Broadcast => unreachable!("these wake or wait"),
            StmtKind::Start(child) => return self.start(s, child, Role::Plain, enforced),
            StmtKind::If { arms, otherwise } => return self.if_(s, arms, otherwise.as_deref(), enforced),
            StmtKind::While(e, body) => {
                let head = self.add(Do::Skip, s.span.start, enforced);
                self.inner(body, enforced);
                self.add(Do::Jump(head), s.span.start, enforced);
                self.points[head].what = Do::Branch(e, head + 1, self.here());
                return;
            }
            StmtKind::Atomic(body, end) => {
                self.add(Do::Open, s.span.start, enforced);
                self.blocks += 1;
                self.inner(body, enforced);
                self.blocks -= 1;
                self.add(Do::Close, end.start, enforced);
                return;
            }
        };
        self.add(what, s.span.start, enforced);
    }

    pub(super) fn if_(
        &mut self,
        s: &'a Stmt,
        arms: &'a [(Expr, Vec<Stmt>)],
        otherwise: Option<&'a [Stmt]>,
        enforced: &[&'a Expr],
    ) {
        let mut leave = Vec::new();
        for (i, (e, body)) in arms.iter().enumerate() {
            let offset = if i == 0 { s.span.start } else { e.span.start };
            let test = self.add(Do::Skip, offset, enforced);
            self.inner(body, enforced);
            leave.push(self.add(Do::Skip, offset, enforced));
            self.points[test].what = Do::Branch(e, test + 1, self.here());
        }
        self.inner(otherwise.unwrap_or_default(), enforced);
        for point in leave {
            self.points[point].what = Do::Jump(self.here());
        }
    }

    /// `start_thread N; goto J; N: S; end_thread; J:` with the first two as one step.
    pub(super) fn start(&mut self, s: &'a Stmt, child: &'a Stmt, role: Role, enforced: &[&'a Expr]) {
        if let StmtKind::Goto(labels) = &child.kind {
            let at = self.add(Do::StartLabel(&labels[0].name), s.span.start, enforced);
            self.points[at].role = role;
            return;
        }
        let start = self.add(Do::Skip, s.span.start, enforced);
        self.points[start].what = Do::Start(start + 1);
        self.points[start].role = role;
        match &child.kind {
            StmtKind::Call { targets, callee, arguments }
                if targets.is_empty() && self.program.waking(&child.kind).is_none() =>
            {
                self.add(Do::Become { callee: &callee.name, arguments }, child.span.start, enforced);
            }
            _ => {
                let blocks = std::mem::take(&mut self.blocks);
                self.statement(child, enforced);
                self.blocks = blocks;
            }
        }
        let end = self.add(Do::End, s.span.start, enforced);
        self.points[end].role = Role::Behind;
        self.points[start].next = self.here();
    }

    /// The point that control is at when it is at `at`.
    pub(super) fn settled(&self, mut at: usize) -> usize {
        while let Do::Jump(to) = self.points[at].what {
            at = to;
        }
        at
    }
}

/// Section 7, row 5: the unlabelled constant assignments before the numeric labels of `main`, if
/// all the rest has such.
pub(super) fn initialisers(tree: &Function) -> Vec<&Stmt> {
    let executable: Vec<&Stmt> = tree.body.iter().filter(|s| !matches!(s.kind, StmtKind::Decl(_))).collect();
    let constant = |s: &&&Stmt| match &s.kind {
        StmtKind::Assign { targets, values, constrain: None } => {
            s.labels.is_empty()
                && targets.iter().all(|t| t.ident.name != "_" && !t.ident.name.ends_with('$'))
                && values.iter().all(|v| matches!(v.kind, ExprKind::Const(_) | ExprKind::Any))
        }
        _ => false,
    };
    let first: Vec<&Stmt> = executable.iter().take_while(constant).copied().collect();
    let rest = &executable[first.len()..];
    if rest.is_empty() || !rest.iter().all(|s| has_numbers(s)) { Vec::new() } else { first }
}

/// Returns whether a statement or one nested in it has a numeric label, except for `then goto L`
/// and what is started.
fn has_numbers(s: &Stmt) -> bool {
    s.labels.iter().any(|l| l.name.parse::<u64>().is_ok()) && has_numbers_inside(s)
}

fn has_numbers_inside(s: &Stmt) -> bool {
    let bodies: Vec<&[Stmt]> = match &s.kind {
        StmtKind::If { arms, otherwise } => {
            let all = arms.iter().map(|(_, body)| &body[..]).chain(otherwise.as_deref());
            let jumps = |body: &[Stmt]| {
                body.len() == 1 && body[0].labels.is_empty() && matches!(body[0].kind, StmtKind::Goto(_))
            };
            all.filter(|body| !jumps(body)).collect()
        }
        StmtKind::While(_, body) | StmtKind::Atomic(body, _) => vec![body],
        StmtKind::Start(child) => return has_numbers_inside(child),
        _ => Vec::new(),
    };
    bodies.iter().all(|body| body.iter().all(has_numbers))
}
