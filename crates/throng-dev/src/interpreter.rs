//! A slow and simple interpreter of Boolean programs, to compare the real one with.
//!
//! It is a second reading of the language reference: concrete values, one call stack per thread,
//! one breadth-first search. It shares the parser with the tool and nothing else: names are looked
//! up when they are read, calls push a frame, every `*` is tried both ways. A configuration is the
//! shared values and the sorted list of threads; whether it is inside an atomic section is part of
//! each thread. Only programs that the tool accepts may be given to it: it checks nothing.

mod asked;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use throng_lang::bp::ast::{
    BinaryOp, ChainOp, DeclVar, Expr, ExprKind, Function, Ident, Initial, Program, Stmt, StmtKind, Target,
    Waking,
};
use throng_lang::bp::parser;

/// A thread: its own variables, its calls (innermost last), and whether it is inside an atomic
/// section.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    /// Values of the `thread_local` variables.
    own: Vec<bool>,
    stack: Vec<Frame>,
    inside: bool,
    /// True inside an `atomic {`, perhaps of a caller.
    block: bool,
    /// True for the thread that [`Naive::stuck_at`] follows.
    followed: bool,
}

/// An active call.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Frame {
    function: usize,
    /// Index into the code of the function. In a caller: the call.
    at: usize,
    /// Parameters, then locals.
    values: Vec<bool>,
    /// For each `atomic {` that is open: whether the thread was inside before, and inside another
    /// block.
    before: Vec<(bool, bool)>,
}

/// The whole system.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Config {
    shared: Vec<bool>,
    /// Sorted.
    threads: Vec<Thread>,
    /// Number of threads that have ended and keep their slot.
    ended: usize,
}

/// A thread state as plain data.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The position of the thread.
    pub place: Place,
    /// Values of the shared variables, in order of declaration.
    pub shared: Vec<bool>,
    /// Thread-local variables, those of the innermost call, those of its caller, and so on.
    pub values: Vec<bool>,
}

/// The position of a thread.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Line of the statement, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The functions on the stack, outermost first.
    pub functions: String,
    /// Distinguishes points that have one position.
    pub role: Role,
}

/// Points of one statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Role {
    /// The statement itself.
    Plain,
    /// Starting the thread that a label `ASYNC_` asks for.
    Async,
    /// Behind a started statement, about to end.
    Behind,
    /// A thread that has ended and keeps its slot.
    Ended,
}

/// The number of threads, and the treatment of those that end.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Maximum number of threads.
    pub bound: usize,
    /// Initial number of threads; `None`: any number up to the bound.
    pub initial: Option<usize>,
    /// A thread that has ended still counts.
    pub keep_ended: bool,
    /// Maximum number of configurations.
    pub limit: usize,
}

/// The result of a search. Distances are the fewest steps to a configuration where the event can
/// happen.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Some assertion can be violated.
    pub violated: Option<usize>,
    /// Some thread can execute the statement with the error label.
    pub error_label: Option<usize>,
    /// Two threads are at the mutex label, no thread is inside an atomic section.
    pub mutex: Option<usize>,
    /// The invariant can be false, no thread being inside an atomic section.
    pub invariant: Option<usize>,
    /// No thread can move, and some thread has not ended.
    pub deadlock: Option<usize>,
    /// Pairs of labels that two threads are at, no thread being inside an atomic section.
    pub together: BTreeSet<(String, String)>,
    /// For each label, how many threads are there at most, no thread being inside an atomic
    /// section.
    pub most_at: BTreeMap<String, usize>,
    /// Thread states of configurations with no thread inside an atomic section.
    pub reached: BTreeSet<State>,
    /// Lines and columns at which threads are, also inside atomic sections.
    pub positions: BTreeSet<(u32, u32)>,
    /// Number of configurations.
    pub configurations: usize,
    /// True if a step was not taken because it would have left more threads than
    /// [`Naive::search_within`] allows.
    pub left_out: bool,
}

/// Observations at the end of a walk.
#[derive(Clone, Debug)]
pub struct Met {
    /// Largest number of threads that existed at once.
    pub threads: usize,
    /// Labels at which a thread is and can move.
    pub at: Vec<String>,
    /// Labels at which two threads are, no thread being inside an atomic section.
    pub twice: Vec<String>,
    /// The shared variables, unless a thread is inside an atomic section.
    pub shared: Option<Vec<(String, bool)>>,
}

/// The effect of one point of a function.
enum Do<'a> {
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

struct Point<'a> {
    what: Do<'a>,
    /// The point where control continues, unless `what` states it.
    next: usize,
    /// The `enforce`s in whose scope this is.
    enforced: Vec<&'a Expr>,
    offset: u32,
    role: Role,
}

struct Code<'a> {
    tree: &'a Function,
    /// Names of parameters and locals; a local comes after the parameter that it hides.
    names: Vec<&'a str>,
    /// Possible values of each at function entry; both values for parameters.
    initial: Vec<Vec<bool>>,
    points: Vec<Point<'a>>,
    labels: HashMap<&'a str, usize>,
    program: &'a Program,
    /// Number of `atomic { }` blocks around what is being added.
    blocks: usize,
}

/// An interpreter of one program.
pub struct Naive<'a> {
    text: &'a str,
    shared: Vec<&'a str>,
    own: Vec<&'a str>,
    shared_initial: Vec<Vec<bool>>,
    own_initial: Vec<Vec<bool>>,
    codes: Vec<Code<'a>>,
    main: usize,
}

const BOTH: [bool; 2] = [false, true];

fn initial_values(v: &DeclVar) -> Vec<bool> {
    match v.initial {
        Some(Initial::False) => vec![false],
        Some(Initial::True) => vec![true],
        Some(Initial::Any) | None => BOTH.to_vec(),
        Some(Initial::Value(_)) => unreachable!("{PLAIN}"),
    }
}

/// Every way to take one element of each.
fn product(sets: &[Vec<bool>]) -> Vec<Vec<bool>> {
    sets.iter().fold(vec![Vec::new()], |rows, set| {
        rows.iter().flat_map(|row| set.iter().map(move |&v| [&row[..], &[v]].concat())).collect()
    })
}

fn unique<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items.dedup();
    items
}

/// Message of panics about parts of trees that cannot occur.
const PLAIN: &str = "this reads plain programs, without numbers";

// ── from tree to points ──

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
    fn new(program: &'a Program, tree: &'a Function, body: &[&'a Stmt]) -> Code<'a> {
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

    fn here(&self) -> usize {
        self.points.len()
    }

    /// Adds a point that leads to the one added next.
    fn add(&mut self, what: Do<'a>, offset: u32, enforced: &[&'a Expr]) -> usize {
        let next = self.here() + 1;
        self.points.push(Point { what, next, enforced: enforced.to_vec(), offset, role: Role::Plain });
        next - 1
    }

    fn block(&mut self, body: &[&'a Stmt], enforced: &[&'a Expr]) {
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

    fn inner(&mut self, body: &'a [Stmt], enforced: &[&'a Expr]) {
        self.block(&body.iter().collect::<Vec<_>>(), enforced);
    }

    fn statement(&mut self, s: &'a Stmt, enforced: &[&'a Expr]) {
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

    fn if_(
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
    fn start(&mut self, s: &'a Stmt, child: &'a Stmt, role: Role, enforced: &[&'a Expr]) {
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
    fn settled(&self, mut at: usize) -> usize {
        while let Do::Jump(to) = self.points[at].what {
            at = to;
        }
        at
    }
}

/// Section 7, row 5: the unlabelled constant assignments before the numeric labels of `main`, if
/// all the rest has such.
fn initialisers(tree: &Function) -> Vec<&Stmt> {
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

/// The context in which a step reads a variable.
struct View<'v> {
    shared: &'v [bool],
    thread: &'v Thread,
    /// The values after the step, for primed names.
    after: Option<(&'v [bool], &'v Thread)>,
    /// Another thread before and after the step; without one, `x$` can have either value.
    other: Option<(&'v Thread, &'v Thread)>,
    /// Read every name as if primed.
    primed: bool,
}

/// The meaning of a name in the innermost call of a thread.
enum Meaning {
    Shared(usize),
    Own(usize),
    Local(usize),
    OtherOwn(usize),
    OtherLocal(usize),
}

impl<'a> Naive<'a> {
    /// An interpreter. `text` is what `tree` was parsed from.
    pub fn new(text: &'a str, tree: &'a Program) -> Naive<'a> {
        let globals = |wanted: bool| -> Vec<&'a DeclVar> {
            tree.globals.iter().filter(|d| d.thread_local == wanted).flat_map(|d| &d.variables).collect()
        };
        let main = tree.functions.iter().position(|f| f.name.name == "main").expect("a main");
        let first = initialisers(&tree.functions[main]);
        let codes = tree.functions.iter().map(|f| {
            let body = f.body.iter().filter(|s| !first.iter().any(|i| std::ptr::eq(*i, *s)));
            Code::new(tree, f, &body.collect::<Vec<_>>())
        });
        let mut naive = Naive {
            text,
            shared: globals(false).iter().map(|v| v.name.name.as_str()).collect(),
            own: globals(true).iter().map(|v| v.name.name.as_str()).collect(),
            shared_initial: globals(false).into_iter().map(initial_values).collect(),
            own_initial: globals(true).into_iter().map(initial_values).collect(),
            codes: codes.collect(),
            main,
        };
        for s in first {
            let StmtKind::Assign { targets, values, .. } = &s.kind else { continue };
            for (target, value) in targets.iter().zip(values) {
                let values = match value.kind {
                    ExprKind::Const(v) => vec![v],
                    _ => BOTH.to_vec(),
                };
                match naive.meaning(main, &target.ident.name) {
                    Meaning::Shared(i) => naive.shared_initial[i] = values,
                    Meaning::Own(i) => naive.own_initial[i] = values,
                    Meaning::Local(i) => naive.codes[main].initial[i] = values,
                    Meaning::OtherOwn(_) | Meaning::OtherLocal(_) => {}
                }
            }
        }
        naive
    }

    // ── names and expressions ──

    fn meaning(&self, function: usize, name: &str) -> Meaning {
        let plain = |name: &str| {
            let local = self.codes[function].names.iter().rposition(|n| *n == name).map(Meaning::Local);
            let own = || self.own.iter().position(|n| *n == name).map(Meaning::Own);
            let shared = || self.shared.iter().position(|n| *n == name).map(Meaning::Shared);
            local.or_else(own).or_else(shared)
        };
        if let Some(meaning) = plain(name) {
            return meaning;
        }
        match name.strip_suffix('$').and_then(plain) {
            Some(Meaning::Own(i)) => Meaning::OtherOwn(i),
            Some(Meaning::Local(i)) => Meaning::OtherLocal(i),
            _ => panic!("{name} has no meaning"),
        }
    }

    /// The activation of `function` in a thread, if it has one.
    fn activation(thread: &Thread, function: usize) -> Option<usize> {
        thread.stack.iter().position(|f| f.function == function)
    }

    /// All values that an expression can have.
    fn eval(&self, e: &Expr, view: &View) -> Vec<bool> {
        let set = |values: Vec<bool>| unique(values);
        let all = |es: &[&Expr]| product(&es.iter().map(|e| self.eval(e, view)).collect::<Vec<_>>());
        match &e.kind {
            ExprKind::Number(_) | ExprKind::Index { .. } => unreachable!("{PLAIN}"),
            ExprKind::Const(v) => vec![*v],
            ExprKind::Any => BOTH.to_vec(),
            ExprKind::Name { name, primed } => self.read(name, *primed || view.primed, view),
            ExprKind::Not(e) => set(self.eval(e, view).into_iter().map(|v| !v).collect()),
            ExprKind::Chain(op, es) => {
                let rows = all(&es.iter().collect::<Vec<_>>()).into_iter();
                set(rows
                    .map(|row| match op {
                        ChainOp::And => row.iter().all(|v| *v),
                        ChainOp::Or => row.iter().any(|v| *v),
                        ChainOp::Xor => row.iter().filter(|v| **v).count() % 2 == 1,
                    })
                    .collect())
            }
            ExprKind::Binary(op, a, b) => {
                set(all(&[a, b]).into_iter().map(|row| joined(*op, row[0], row[1])).collect())
            }
            ExprKind::Series(first, rest) => rest.iter().fold(self.eval(first, view), |left, (op, e)| {
                let rows = product(&[left, self.eval(e, view)]).into_iter();
                set(rows.map(|row| joined(*op, row[0], row[1])).collect())
            }),
            ExprKind::Conditional(c, a, b) => {
                let branch = |v: bool| self.eval(if v { a } else { b }, view);
                set(self.eval(c, view).into_iter().flat_map(branch).collect())
            }
            // 1 if p, else 0 if n, else either.
            ExprKind::Schoose(p, n) => set(all(&[p, n])
                .into_iter()
                .flat_map(|row| match (row[0], row[1]) {
                    (true, _) => vec![true],
                    (false, true) => vec![false],
                    (false, false) => BOTH.to_vec(),
                })
                .collect()),
        }
    }

    fn read(&self, name: &str, primed: bool, view: &View) -> Vec<bool> {
        let (shared, thread) = match view.after {
            Some(after) if primed => after,
            _ => (view.shared, view.thread),
        };
        let frame = |t: &Thread| t.stack.last().expect("a thread has a call").clone();
        let function = frame(view.thread).function;
        let other = view.other.map(|(before, after)| if primed { after } else { before });
        match self.meaning(function, name) {
            Meaning::Shared(i) => vec![shared[i]],
            Meaning::Own(i) => vec![thread.own[i]],
            Meaning::Local(i) => vec![frame(thread).values[i]],
            Meaning::OtherOwn(i) => other.map_or(BOTH.to_vec(), |t| vec![t.own[i]]),
            Meaning::OtherLocal(i) => other.map_or(BOTH.to_vec(), |t| {
                vec![t.stack[Self::activation(t, function).expect("takes part")].values[i]]
            }),
        }
    }

    /// Every name in an expression.
    fn names<'e>(e: &'e Expr, found: &mut Vec<&'e str>) {
        Self::each_name(e, &mut |name, _| found.push(name));
    }

    /// Every name in an expression, and whether it is primed.
    fn each_name<'e>(e: &'e Expr, found: &mut dyn FnMut(&'e str, bool)) {
        match &e.kind {
            ExprKind::Number(_) | ExprKind::Index { .. } => unreachable!("{PLAIN}"),
            ExprKind::Const(_) | ExprKind::Any => {}
            ExprKind::Name { name, primed } => found(name, *primed),
            ExprKind::Not(e) => Self::each_name(e, found),
            ExprKind::Chain(_, es) => es.iter().for_each(|e| Self::each_name(e, found)),
            ExprKind::Series(first, rest) => {
                Self::each_name(first, found);
                rest.iter().for_each(|(_, e)| Self::each_name(e, found));
            }
            ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
                [a, b].into_iter().for_each(|e| Self::each_name(e, found));
            }
            ExprKind::Conditional(c, a, b) => {
                [c, a, b].into_iter().for_each(|e| Self::each_name(e, found));
            }
        }
    }

    /// Returns whether an expression reads another thread's variables, and whether some of them are
    /// locals of `function`.
    fn passive(&self, function: usize, e: &Expr) -> (bool, bool) {
        let mut names = Vec::new();
        Self::names(e, &mut names);
        self.passive_names(function, &names)
    }

    fn passive_names(&self, function: usize, names: &[&str]) -> (bool, bool) {
        let meanings: Vec<Meaning> =
            names.iter().filter(|n| **n != "_").map(|n| self.meaning(function, n)).collect();
        let local = meanings.iter().any(|m| matches!(m, Meaning::OtherLocal(_)));
        (local || meanings.iter().any(|m| matches!(m, Meaning::OtherOwn(_))), local)
    }

    /// The conjuncts of a constraint.
    fn conjuncts(e: &Expr) -> Vec<&Expr> {
        match &e.kind {
            ExprKind::Chain(ChainOp::And, es) => es.iter().flat_map(Self::conjuncts).collect(),
            _ => vec![e],
        }
    }

    // ── steps ──

    fn point(&self, thread: &Thread) -> &Point<'a> {
        let frame = thread.stack.last().expect("a thread has a call");
        &self.codes[frame.function].points[frame.at]
    }

    /// The thread, now at another point of its innermost call.
    fn at(&self, thread: &Thread, at: usize) -> Thread {
        let mut thread = thread.clone();
        let frame = thread.stack.last_mut().expect("a thread has a call");
        frame.at = self.codes[frame.function].settled(at);
        thread
    }

    fn at_label(&self, thread: &Thread, label: &str) -> Thread {
        let function = thread.stack.last().expect("a thread has a call").function;
        self.at(thread, self.codes[function].labels[label])
    }

    /// New calls of a function: one for each choice of what is not given.
    fn calls(&self, function: usize, given: &[bool]) -> Vec<Frame> {
        let code = &self.codes[function];
        let mut sets: Vec<Vec<bool>> = code.initial.clone();
        given.iter().enumerate().for_each(|(i, &v)| sets[i] = vec![v]);
        let frame = |values| Frame { function, at: code.settled(0), values, before: Vec::new() };
        product(&sets).into_iter().map(frame).collect()
    }

    fn waits(&self, thread: &Thread, name: Option<&str>) -> bool {
        matches!(self.point(thread).what, Do::Wait(condition, _) if condition == name)
    }

    /// Returns whether the thread keeps others from moving.
    fn holds(&self, thread: &Thread) -> bool {
        thread.inside && !matches!(self.point(thread).what, Do::Wait(_, true) | Do::Resume)
    }

    fn woken(&self, thread: &Thread) -> Thread {
        self.at(thread, self.point(thread).next)
    }

    fn may_move(&self, config: &Config, thread: &Thread) -> bool {
        self.holds(thread) || !config.threads.iter().any(|t| self.holds(t))
    }

    /// Returns whether the thread can violate the assertion it is at, if it is at one.
    fn violates(&self, config: &Config, thread: &Thread) -> bool {
        match self.point(thread).what {
            Do::Fail(e, bad) => {
                let view = View { shared: &config.shared, thread, after: None, other: None, primed: false };
                self.eval(e, &view).contains(&bad)
            }
            _ => false,
        }
    }

    /// All configurations that are one step away.
    fn successors(&self, config: &Config, question: &Question) -> Vec<Config> {
        let mut found = Vec::new();
        for (i, thread) in config.threads.iter().enumerate() {
            if self.may_move(config, thread) {
                let mut others = config.threads.clone();
                others.remove(i);
                self.moves(config, thread, &others, question, &mut found);
            }
        }
        unique(found)
    }

    /// Lists the steps of one thread.
    fn moves(
        &self,
        config: &Config,
        thread: &Thread,
        others: &[Thread],
        question: &Question,
        found: &mut Vec<Config>,
    ) {
        let point = self.point(thread);
        let frame = thread.stack.last().expect("a thread has a call");
        let next = |thread: &Thread| self.at(thread, point.next);
        let shared = &config.shared;
        let mut put = |shared: &[bool], threads: Vec<Thread>, more_ended: usize| {
            let mut threads = threads;
            threads.sort();
            found.push(Config { shared: shared.to_vec(), threads, ended: config.ended + more_ended });
        };
        let with = |thread: Thread, others: &[Thread]| [&[thread], others].concat();
        let view = View { shared, thread, after: None, other: None, primed: false };
        match &point.what {
            Do::Jump(_) => unreachable!("control never stays at a jump"),
            Do::Skip | Do::Print(_) => put(shared, with(next(thread), others), 0),
            Do::Goto(labels) => {
                for label in *labels {
                    put(shared, with(self.at_label(thread, &label.name), others), 0);
                }
            }
            Do::Assume(e) => {
                if self.outcomes(e, &view, others).contains(&true) {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Branch(e, yes, no) => {
                for outcome in self.outcomes(e, &view, others) {
                    let to = if outcome { *yes } else { *no };
                    put(shared, with(self.at(thread, to), others), 0);
                }
            }
            Do::Fail(e, bad) => {
                if self.eval(e, &view).contains(&!bad) {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Assign { targets, values, constrain } => {
                let choices: Vec<Vec<bool>> = targets
                    .iter()
                    .zip(*values)
                    .map(|(t, e)| {
                        let passive = self.passive_names(frame.function, &[&t.ident.name]).0;
                        if passive { vec![false] } else { self.eval(e, &view) }
                    })
                    .collect();
                for row in product(&choices) {
                    let (after_shared, after) = self.assigned(shared, thread, targets, &row);
                    let step = Assignment {
                        before: (shared, thread),
                        after: (&after_shared, &after),
                        targets,
                        values,
                        constrain: *constrain,
                        enforced: &point.enforced,
                    };
                    for others in self.bystanders(&step, others) {
                        put(&after_shared, with(next(&after), &others), 0);
                    }
                }
            }
            Do::Call { callee, arguments, .. } | Do::Become { callee, arguments } => {
                let function = self.codes.iter().position(|c| c.tree.name.name == *callee).expect("declared");
                let given = arguments.iter().map(|e| self.eval(e, &view)).collect::<Vec<_>>();
                for row in product(&given) {
                    for call in self.calls(function, &row) {
                        let mut thread = thread.clone();
                        if matches!(point.what, Do::Become { .. }) {
                            thread.stack.clear();
                        }
                        thread.stack.push(call);
                        put(shared, with(thread, others), 0);
                    }
                }
            }
            Do::Return(_) | Do::End if thread.stack.len() == 1 || matches!(point.what, Do::End) => {
                put(shared, others.to_vec(), usize::from(question.keep_ended));
            }
            Do::End => unreachable!("covered above"),
            Do::Return(results) => {
                let count = self.codes[frame.function].tree.results as usize;
                let choices: Vec<Vec<bool>> = match results {
                    Some(es) => es.iter().map(|e| self.eval(e, &view)).collect(),
                    None => vec![BOTH.to_vec(); count],
                };
                let mut caller = thread.clone();
                caller.stack.pop();
                let call = self.point(&caller);
                let Do::Call { targets, .. } = &call.what else { unreachable!("callers are at calls") };
                for row in product(&choices) {
                    let (after_shared, after) = self.assigned(shared, &caller, targets, &row);
                    let step = Assignment {
                        before: (shared, &caller),
                        after: (&after_shared, &after),
                        targets: &[],
                        values: &[],
                        constrain: None,
                        enforced: if targets.is_empty() { &[] } else { &call.enforced },
                    };
                    for others in self.bystanders(&step, others) {
                        put(&after_shared, with(self.at(&after, call.next), &others), 0);
                    }
                }
            }
            Do::Start(_) | Do::StartLabel(_) => {
                let mut threads = with(next(thread), others);
                if threads.len() + config.ended < question.bound {
                    let mut child = match &point.what {
                        Do::Start(at) => self.at(thread, *at),
                        Do::StartLabel(label) => self.at_label(thread, label),
                        _ => unreachable!("matched above"),
                    };
                    // It begins outside all blocks of this function; what its callers have open
                    // stays open.
                    (child.inside, child.block, child.followed) = (false, false, false);
                    child.stack.last_mut().expect("a call").before.clear();
                    threads.push(child);
                }
                put(shared, threads, 0);
            }
            Do::AtomicBegin | Do::AtomicEnd => {
                let mut after = next(thread);
                after.inside = matches!(point.what, Do::AtomicBegin) || thread.block;
                put(shared, with(after, others), 0);
            }
            Do::Open => {
                let mut after = next(thread);
                after.stack.last_mut().expect("a call").before.push((thread.inside, thread.block));
                (after.inside, after.block) = (true, true);
                put(shared, with(after, others), 0);
            }
            Do::Close => {
                let mut after = next(thread);
                let before = after.stack.last_mut().expect("a call").before.pop();
                (after.inside, after.block) = before.expect("opened");
                put(shared, with(after, others), 0);
            }
            Do::Wait(..) => {}
            Do::Resume => put(shared, with(next(thread), others), 0),
            Do::Signal(name) => {
                let waiting: Vec<usize> =
                    (0..others.len()).filter(|&i| self.waits(&others[i], *name)).collect();
                for &i in &waiting {
                    let mut others = others.to_vec();
                    others[i] = self.woken(&others[i]);
                    put(shared, with(next(thread), &others), 0);
                }
                if waiting.is_empty() {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Broadcast(name) => {
                let woken = |t: &Thread| if self.waits(t, *name) { self.woken(t) } else { t.clone() };
                let others: Vec<Thread> = others.iter().map(woken).collect();
                put(shared, with(next(thread), &others), 0);
            }
        }
    }

    /// Values of a guard: those possible for every other thread that takes part.
    fn outcomes(&self, e: &Expr, view: &View, others: &[Thread]) -> Vec<bool> {
        let function = view.thread.stack.last().expect("a call").function;
        let mut outcomes = self.eval(e, view);
        let (passive, local) = self.passive(function, e);
        if passive {
            for other in others.iter().filter(|t| !local || Self::activation(t, function).is_some()) {
                let theirs = self.eval(e, &View { other: Some((other, other)), ..*view });
                outcomes.retain(|v| theirs.contains(v));
            }
        }
        outcomes
    }

    /// The shared values and the thread after its own targets got the values; `_` and `x$` are
    /// passed over.
    fn assigned(
        &self,
        shared: &[bool],
        thread: &Thread,
        targets: &[Target],
        values: &[bool],
    ) -> (Vec<bool>, Thread) {
        let (mut shared, mut thread) = (shared.to_vec(), thread.clone());
        for (target, &value) in targets.iter().zip(values).filter(|(t, _)| t.ident.name != "_") {
            let frame = thread.stack.last_mut().expect("a call");
            match self.meaning(frame.function, &target.ident.name) {
                Meaning::Shared(i) => shared[i] = value,
                Meaning::Own(i) => thread.own[i] = value,
                Meaning::Local(i) => frame.values[i] = value,
                Meaning::OtherOwn(_) | Meaning::OtherLocal(_) => {}
            }
        }
        (shared, thread)
    }

    /// Lists the possible results for the other threads of an assignment whose own part is chosen;
    /// nothing if a constraint fails.
    ///
    /// A thread takes part if it has all the variables of other threads that the statement
    /// mentions.
    fn bystanders(&self, step: &Assignment, others: &[Thread]) -> Vec<Vec<Thread>> {
        let function = step.before.1.stack.last().expect("a call").function;
        // An `enforce` is a constraint on new values only.
        let constraints: Vec<(&Expr, bool)> = step
            .constrain
            .iter()
            .flat_map(|e| Self::conjuncts(e).into_iter().map(|e| (e, false)))
            .chain(step.enforced.iter().flat_map(|e| Self::conjuncts(e).into_iter().map(|e| (e, true))))
            .collect();
        let holds = |e: &Expr, primed: bool, other: Option<(&Thread, &Thread)>| {
            let view =
                View { shared: step.before.0, thread: step.before.1, after: Some(step.after), other, primed };
            self.eval(e, &view).contains(&true)
        };
        let (theirs, own): (Vec<_>, Vec<_>) =
            constraints.into_iter().partition(|(e, _)| self.passive(function, e).0);
        if !own.iter().all(|&(e, primed)| holds(e, primed, None)) {
            return Vec::new();
        }
        let mut names: Vec<&str> = step.targets.iter().map(|t| t.ident.name.as_str()).collect();
        theirs.iter().for_each(|(e, _)| Self::names(e, &mut names));
        step.values.iter().for_each(|e| Self::names(e, &mut names));
        let (passive, local) = self.passive_names(function, &names);
        let mut rows: Vec<Vec<Thread>> = vec![Vec::new()];
        for other in others {
            let takes_part = passive && (!local || Self::activation(other, function).is_some());
            let fates = if takes_part { self.fates(step, other, function) } else { vec![other.clone()] };
            let fates: Vec<Thread> = fates
                .into_iter()
                .filter(|after| {
                    !takes_part || theirs.iter().all(|&(e, primed)| holds(e, primed, Some((other, after))))
                })
                .collect();
            rows = rows
                .iter()
                .flat_map(|row| fates.iter().map(move |t| [&row[..], std::slice::from_ref(t)].concat()))
                .collect();
        }
        rows
    }

    /// Every way to assign the `x$` of the statement in one other thread.
    fn fates(&self, step: &Assignment, other: &Thread, function: usize) -> Vec<Thread> {
        let view = View {
            shared: step.before.0,
            thread: step.before.1,
            after: None,
            other: Some((other, other)),
            primed: false,
        };
        let mut fates = vec![other.clone()];
        for (target, value) in step.targets.iter().zip(step.values).filter(|(t, _)| t.ident.name != "_") {
            let meaning = self.meaning(function, &target.ident.name);
            if matches!(meaning, Meaning::Shared(_) | Meaning::Own(_) | Meaning::Local(_)) {
                continue;
            }
            let mut more = Vec::new();
            for v in self.eval(value, &view) {
                for fate in &fates {
                    let mut fate = fate.clone();
                    match meaning {
                        Meaning::OtherOwn(i) => fate.own[i] = v,
                        Meaning::OtherLocal(i) => {
                            let frame = Self::activation(&fate, function).expect("takes part");
                            fate.stack[frame].values[i] = v;
                        }
                        _ => unreachable!("own targets were passed over"),
                    }
                    more.push(fate);
                }
            }
            fates = more;
        }
        unique(fates)
    }

    // ── search ──

    fn initial(&self, question: &Question, within: usize) -> Vec<Config> {
        let mut starts = Vec::new();
        for own in product(&self.own_initial) {
            for call in self.calls(self.main, &[]) {
                starts.push(Thread {
                    own: own.clone(),
                    stack: vec![call],
                    inside: false,
                    block: false,
                    followed: false,
                });
            }
        }
        let mut lists: Vec<Vec<Thread>> = vec![Vec::new()];
        // Any number may be none.
        let mut all = if question.initial.is_none() { lists.clone() } else { Vec::new() };
        let most = question.initial.unwrap_or(question.bound.min(within));
        if most > within {
            return Vec::new();
        }
        for size in 1..=most {
            lists = lists
                .iter()
                .flat_map(|l| {
                    starts.iter().map(move |t| {
                        let mut l = [&l[..], std::slice::from_ref(t)].concat();
                        l.sort();
                        l
                    })
                })
                .collect();
            lists = unique(lists);
            if question.initial.is_none() || size == most {
                all.extend(lists.clone());
            }
        }
        let mut configs = Vec::new();
        for shared in product(&self.shared_initial) {
            configs.extend(all.iter().map(|threads| Config {
                shared: shared.clone(),
                threads: threads.clone(),
                ended: 0,
            }));
        }
        configs
    }

    /// Searches all configurations; `None` if there are too many. The label serves as error label
    /// and for mutual exclusion, the invariant is an expression over the shared variables.
    pub fn search(
        &self,
        question: &Question,
        label: Option<&str>,
        invariant: Option<&str>,
    ) -> Option<Answer> {
        self.search_within(question, usize::MAX, label, invariant)
    }

    /// The same over runs in which at most `within` threads exist at once: steps that would leave
    /// more are not taken.
    pub fn search_within(
        &self,
        question: &Question,
        within: usize,
        label: Option<&str>,
        invariant: Option<&str>,
    ) -> Option<Answer> {
        let invariant = invariant.map(|text| {
            let (tree, _) = parser::parse(&format!("void main() begin assume ({text}); end"));
            match &tree.functions[0].body[0].kind {
                StmtKind::Assume(e) => e.clone(),
                _ => unreachable!("written so"),
            }
        });
        let mut answer = Answer::default();
        let mut states: HashSet<(Vec<bool>, Option<Thread>)> = HashSet::new();
        let mut offsets = BTreeSet::new();
        let mut seen: HashSet<Config> = HashSet::new();
        let mut level = self.initial(question, within);
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for config in level {
                if seen.contains(&config) {
                    continue;
                }
                self.look(&config, depth, label, invariant.as_ref(), &mut answer);
                offsets.extend(config.threads.iter().map(|t| self.point(t).offset));
                if !config.threads.iter().any(|t| self.holds(t)) {
                    for thread in &config.threads {
                        states.insert((config.shared.clone(), Some(thread.clone())));
                    }
                    if config.ended > 0 {
                        states.insert((config.shared.clone(), None));
                    }
                }
                let successors = self.successors(&config, question);
                let mut moving = config.threads.iter().filter(|t| self.may_move(&config, t));
                if successors.is_empty()
                    && !config.threads.is_empty()
                    && !moving.any(|t| self.violates(&config, t))
                {
                    answer.deadlock.get_or_insert(depth);
                }
                for after in successors {
                    if after.threads.len() + after.ended <= within {
                        next.push(after);
                    } else {
                        answer.left_out = true;
                    }
                }
                seen.insert(config);
                if seen.len() > question.limit {
                    return None;
                }
            }
            level = next;
            depth += 1;
        }
        answer.reached = states.into_iter().map(|(shared, thread)| self.state(shared, thread)).collect();
        answer.positions = offsets.into_iter().map(|offset| self.position(offset)).collect();
        answer.configurations = seen.len();
        Some(answer)
    }

    /// Takes random steps, `choose(n)` being a number below `n`, and says what can be seen where
    /// the walk ends (or gets stuck).
    pub fn walk(
        &self,
        question: &Question,
        within: usize,
        steps: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Met> {
        let mut starts = self.initial(question, within);
        if starts.is_empty() {
            return None;
        }
        let mut now = starts.swap_remove(choose(starts.len()));
        let mut most = now.threads.len() + now.ended;
        for _ in 0..steps {
            let mut after = self.successors(&now, question);
            after.retain(|c| c.threads.len() + c.ended <= within);
            if after.is_empty() {
                break;
            }
            now = after.swap_remove(choose(after.len()));
            most = most.max(now.threads.len() + now.ended);
        }
        let label_of = |t: &Thread| self.labels_of(t);
        let moving = now.threads.iter().filter(|t| self.may_move(&now, t));
        let inside = now.threads.iter().any(|t| self.holds(t));
        let all: Vec<String> = unique(now.threads.iter().flat_map(label_of).collect());
        let count = |label: &String| now.threads.iter().filter(|t| label_of(t).contains(label)).count();
        Some(Met {
            threads: most,
            at: unique(moving.flat_map(label_of).collect()),
            twice: all.into_iter().filter(|l| !inside && count(l) > 1).collect(),
            shared: (!inside)
                .then(|| self.shared.iter().map(|n| n.to_string()).zip(now.shared.clone()).collect()),
        })
    }

    /// The labels that a thread is at.
    fn labels_of(&self, t: &Thread) -> Vec<String> {
        let frame = t.stack.last().expect("a call");
        let code = &self.codes[frame.function];
        let here = code.labels.iter().filter(|(_, at)| code.settled(**at) == frame.at);
        here.map(|(name, _)| name.to_string()).collect()
    }

    /// Takes note of which labels threads are at together.
    fn look_at_labels(&self, config: &Config, answer: &mut Answer) {
        let labels: Vec<Vec<String>> = config.threads.iter().map(|t| self.labels_of(t)).collect();
        for (i, here) in labels.iter().enumerate() {
            for label in here {
                let count = labels.iter().filter(|l| l.contains(label)).count();
                let most = answer.most_at.entry(label.clone()).or_default();
                *most = count.max(*most);
                for (_, there) in labels.iter().enumerate().filter(|(j, _)| *j != i) {
                    answer.together.extend(there.iter().map(|other| (label.clone(), other.clone())));
                }
            }
        }
    }

    fn look(
        &self,
        config: &Config,
        depth: usize,
        label: Option<&str>,
        invariant: Option<&Expr>,
        answer: &mut Answer,
    ) {
        let labelled = |t: &Thread| {
            let frame = t.stack.last().expect("a call");
            let code = &self.codes[frame.function];
            label.is_some_and(|l| code.labels.get(l).is_some_and(|&at| code.settled(at) == frame.at))
        };
        let moving = || config.threads.iter().filter(|t| self.may_move(config, t));
        if moving().any(|t| self.violates(config, t)) {
            answer.violated.get_or_insert(depth);
        }
        if moving().any(labelled) {
            answer.error_label.get_or_insert(depth);
        }
        if config.threads.iter().any(|t| self.holds(t)) {
            return;
        }
        self.look_at_labels(config, answer);
        if config.threads.iter().filter(|t| labelled(t)).count() > 1 {
            answer.mutex.get_or_insert(depth);
        }
        if let Some(e) = invariant {
            // Any thread will do: only shared variables are read, and no local can hide one outside
            // functions.
            let thread = Thread {
                own: vec![false; self.own.len()],
                stack: vec![Frame { function: usize::MAX, at: 0, values: Vec::new(), before: Vec::new() }],
                inside: false,
                block: false,
                followed: false,
            };
            if self.eval_shared(e, &config.shared, &thread).contains(&false) {
                answer.invariant.get_or_insert(depth);
            }
        }
    }

    /// Evaluates an expression over shared variables by writing their values into it.
    fn eval_shared(&self, e: &Expr, shared: &[bool], thread: &Thread) -> Vec<bool> {
        fn fill(e: &mut Expr, names: &[&str], shared: &[bool]) {
            match &mut e.kind {
                ExprKind::Name { name, .. } => {
                    let i = names.iter().position(|n| n == name).expect("shared");
                    e.kind = ExprKind::Const(shared[i]);
                }
                ExprKind::Number(_) | ExprKind::Index { .. } => unreachable!("{PLAIN}"),
                ExprKind::Const(_) | ExprKind::Any => {}
                ExprKind::Not(e) => fill(e, names, shared),
                ExprKind::Chain(_, es) => es.iter_mut().for_each(|e| fill(e, names, shared)),
                ExprKind::Series(first, rest) => {
                    fill(first, names, shared);
                    rest.iter_mut().for_each(|(_, e)| fill(e, names, shared));
                }
                ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
                    fill(a, names, shared);
                    fill(b, names, shared);
                }
                ExprKind::Conditional(c, a, b) => {
                    fill(c, names, shared);
                    fill(a, names, shared);
                    fill(b, names, shared);
                }
            }
        }
        let mut e = e.clone();
        fill(&mut e, &self.shared, shared);
        self.eval(&e, &View { shared, thread, after: None, other: None, primed: false })
    }

    /// Line and column.
    fn position(&self, offset: u32) -> (u32, u32) {
        let before = &self.text[..offset as usize];
        let line = before.matches('\n').count() as u32 + 1;
        (line, (before.len() - before.rfind('\n').map_or(0, |i| i + 1)) as u32 + 1)
    }

    /// A thread state as plain data.
    fn state(&self, shared: Vec<bool>, thread: Option<Thread>) -> State {
        let Some(thread) = thread else {
            let place = Place { line: 0, column: 0, functions: String::new(), role: Role::Ended };
            return State { place, shared, values: Vec::new() };
        };
        let point = self.point(&thread);
        let (line, column) = self.position(point.offset);
        let functions: Vec<&str> =
            thread.stack.iter().map(|f| self.codes[f.function].tree.name.name.as_str()).collect();
        let mut values = thread.own.clone();
        thread.stack.iter().rev().for_each(|f| values.extend(&f.values));
        let place = Place { line, column, functions: functions.join(" > "), role: point.role };
        State { place, shared, values }
    }
}

/// An assignment whose own part has been carried out.
struct Assignment<'s> {
    before: (&'s [bool], &'s Thread),
    after: (&'s [bool], &'s Thread),
    targets: &'s [Target],
    values: &'s [Expr],
    constrain: Option<&'s Expr>,
    enforced: &'s [&'s Expr],
}

/// The value of `a op b` for truth values.
fn joined(op: BinaryOp, a: bool, b: bool) -> bool {
    match op {
        BinaryOp::Equal | BinaryOp::Iff => a == b,
        BinaryOp::Unequal => a != b,
        BinaryOp::Implies => !a || b,
        _ => unreachable!("{PLAIN}"),
    }
}
