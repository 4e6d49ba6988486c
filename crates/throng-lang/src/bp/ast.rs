//! The syntax tree of a Boolean program: the text as written, with spans, before names are
//! resolved.
//!
//! Nothing is desugared here: `elsif`, `atomic { }`, `schoose` and `ASYNC_` labels are kept as
//! written, so that printing a tree and parsing it again gives the same tree (spans and comments
//! apart).

use crate::source::Span;
use std::collections::BTreeMap;
use throng_memory::Order;

/// A whole file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// True if the program uses an extension: a type, an array, a constant, arithmetic, `for`.
    pub extended: bool,
    /// Constants in text order.
    pub constants: Vec<Constant>,
    /// Enumerations in text order.
    pub enumerations: Vec<Enumeration>,
    /// Top-level declarations in text order.
    pub globals: Vec<Decl>,
    /// Functions in text order.
    pub functions: Vec<Function>,
    /// Memory orders, each by the place where its statement starts. A `fence(sc)` is a `skip` with
    /// an order.
    pub orders: BTreeMap<u32, Mark>,
}

/// The memory order of a statement, as in `x := 1 @release`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The order.
    pub order: Order,
    /// Its place.
    pub span: Span,
}

/// A name and its span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The spelling. A passive reference keeps its `$`, a braced name its braces; `_` discards a
    /// value.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// `const N = 4;`
#[derive(Clone, PartialEq, Debug)]
pub struct Constant {
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
}

/// `enum phase { idle, trying, critical };`
#[derive(Clone, PartialEq, Debug)]
pub struct Enumeration {
    /// Its name.
    pub name: Ident,
    /// The names of its values.
    pub values: Vec<Ident>,
}

/// The type of a variable, a parameter or a result, as written.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// `bool`
    Bool,
    /// `0..7`
    Range(Box<Expr>, Box<Expr>),
    /// `u3`, or the name of an enumeration.
    Named(Ident),
}

/// `decl [thread_local] x, y := 0;`
#[derive(Clone, PartialEq, Debug)]
pub struct Decl {
    /// True if every thread has its own copy (top level only).
    pub thread_local: bool,
    /// The declared variables.
    pub variables: Vec<DeclVar>,
    /// The whole declaration.
    pub span: Span,
}

/// One declared variable.
#[derive(Clone, PartialEq, Debug)]
pub struct DeclVar {
    /// Its name.
    pub name: Ident,
    /// The number of elements, if it is an array.
    pub length: Option<Expr>,
    /// Its type; `None` if omitted (which means `bool`).
    pub ty: Option<Type>,
    /// `:= 0`, `:= 1` or `:= *`; `None` if omitted (which also means `*`).
    pub initial: Option<Initial>,
}

/// The initial value in a declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum Initial {
    /// `0`, `F`, `false`
    False,
    /// `1`, `T`, `true`
    True,
    /// `*`
    Any,
    /// Another value: a number, a constant, or a value of an enumeration.
    Value(Expr),
}

/// `[dfs] void f(a, b) begin … end`
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// True if the keyword `dfs`, which has no meaning, precedes it.
    pub dfs: bool,
    /// Number of results: `void` 0, `bool` 1, `bool<n>` n.
    pub results: u32,
    /// The types of the results if they are written one by one (`u3, bool f()`), else none.
    pub result_types: Vec<Type>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Ident>,
    /// The types of the parameters, one for each if some have types, else none.
    pub parameter_types: Vec<Type>,
    /// Its body.
    pub body: Vec<Stmt>,
    /// From the type to `end`.
    pub span: Span,
    /// The keyword `end`.
    pub end: Span,
}

/// Prefix of labels that start a thread.
pub const ASYNC: &str = "ASYNC_";

impl Program {
    /// Returns whether some statement starts a thread, even if it is unreachable.
    pub fn starts_threads(&self) -> bool {
        let mut open: Vec<&Stmt> = self.functions.iter().flat_map(|f| &f.body).collect();
        while let Some(stmt) = open.pop() {
            let starts = matches!(stmt.kind, StmtKind::Start(_) | StmtKind::StartGoto { .. });
            if starts || stmt.labels.iter().any(|l| l.name.starts_with(ASYNC)) {
                return true;
            }
            match &stmt.kind {
                StmtKind::If { arms, otherwise } => {
                    open.extend(arms.iter().flat_map(|arm| &arm.1).chain(otherwise.iter().flatten()));
                }
                StmtKind::While(_, body) | StmtKind::Atomic(body, _) | StmtKind::For { body, .. } => {
                    open.extend(body);
                }
                _ => {}
            }
        }
        false
    }
}

/// The effect of a statement on waiting threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waking {
    /// `wait`
    Wait,
    /// `signal`
    Signal,
    /// `broadcast`
    Broadcast,
}

impl Program {
    /// Returns the effect of a statement on waiting threads, and the name of the condition if it
    /// has one: `wait(c)` is a call only if there is a function `wait`.
    pub fn waking<'s>(&self, kind: &'s StmtKind) -> Option<(Waking, Option<&'s str>)> {
        match kind {
            StmtKind::Wait => Some((Waking::Wait, None)),
            StmtKind::Signal => Some((Waking::Signal, None)),
            StmtKind::Broadcast => Some((Waking::Broadcast, None)),
            StmtKind::Call { targets, callee, arguments } if targets.is_empty() => {
                let what = match callee.name.as_str() {
                    "wait" => Waking::Wait,
                    "signal" => Waking::Signal,
                    "broadcast" => Waking::Broadcast,
                    _ => return None,
                };
                let [Expr { kind: ExprKind::Name { name, primed: false }, .. }] = &arguments[..] else {
                    return None;
                };
                let is_call = self.functions.iter().any(|f| f.name.name == callee.name);
                (!is_call).then_some((what, Some(name)))
            }
            _ => None,
        }
    }
}

/// A statement with its labels.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Labels in order, with repetitions; the spelling of a numeric label is its digits.
    pub labels: Vec<Ident>,
    /// The kind of statement.
    pub kind: StmtKind,
    /// From its first token (after the labels) to its end, without the `;`.
    pub span: Span,
    /// The location in a C file named by a comment `// file F line N function G` before this
    /// statement.
    pub origin: Option<Origin>,
    /// The condition that must hold whenever it is executed, or else an assertion is violated:
    /// numbers stay in their ranges, and indices in their arrays. Not part of the syntax; added by
    /// lowering.
    pub check: Option<Expr>,
    /// The names that its text reads, for each of its conditions; added by lowering where it may
    /// fold a read away. Not part of the syntax.
    pub reads: Vec<Vec<Read>>,
}

/// A Boolean variable that the text of a statement reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The spelling, with `$`.
    pub name: String,
    /// True if a prime precedes it.
    pub primed: bool,
}

impl Stmt {
    /// Returns what the text of the statement reads: one list for each condition of an `if`, else
    /// one list. A value assigned to `_` is not read.
    pub fn reads(&self) -> Vec<Vec<Read>> {
        if !self.reads.is_empty() {
            return self.reads.clone();
        }
        let together = |es: &mut dyn Iterator<Item = &Expr>| {
            let mut found = Vec::new();
            es.for_each(|e| e.reads(&mut found));
            vec![found]
        };
        match &self.kind {
            StmtKind::Assume(e) | StmtKind::Assert(e) | StmtKind::Enforce(e) | StmtKind::Abortif(e) => {
                together(&mut std::iter::once(e))
            }
            StmtKind::While(e, _) => together(&mut std::iter::once(e)),
            StmtKind::Assign { targets, values, constrain } => {
                let kept = targets.iter().zip(values).filter(|(t, _)| t.ident.name != "_").map(|(_, e)| e);
                together(&mut kept.chain(constrain))
            }
            StmtKind::Call { arguments: es, .. } | StmtKind::Return(es) | StmtKind::Print(es) => {
                together(&mut es.iter())
            }
            StmtKind::If { arms, .. } => {
                arms.iter().flat_map(|arm| together(&mut std::iter::once(&arm.0))).collect()
            }
            _ => vec![Vec::new()],
        }
    }
}

/// The origin of a statement, according to a SATABS comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The file, as written.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The function, if given.
    pub function: Option<String>,
}

/// The statements (reference 2.2).
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// `skip`
    Skip,
    /// `goto L1, L2`
    Goto(Vec<Ident>),
    /// `assume e`
    Assume(Expr),
    /// `assert e`
    Assert(Expr),
    /// `x, y := e, f constrain c`
    Assign {
        /// Left-hand sides; `_` discards, `x$` is the passive copy.
        targets: Vec<Target>,
        /// Right-hand sides, one for each target.
        values: Vec<Expr>,
        /// The constraint.
        constrain: Option<Expr>,
    },
    /// `x, _ := call f(a, b)`
    Call {
        /// Left-hand sides; empty if there is no `:=`.
        targets: Vec<Target>,
        /// The callee.
        callee: Ident,
        /// Arguments.
        arguments: Vec<Expr>,
    },
    /// `return e, f`
    Return(Vec<Expr>),
    /// `if e then … elsif f then … else … fi`: the first arm is the `if`, others `elsif`.
    If {
        /// Condition and body; at least one.
        arms: Vec<(Expr, Vec<Stmt>)>,
        /// The `else` part, if there is one.
        otherwise: Option<Vec<Stmt>>,
    },
    /// `while e do … od`
    While(Expr, Vec<Stmt>),
    /// `for i in 0..3 do … od`
    For {
        /// The name that stands for each number in turn.
        variable: Ident,
        /// The first.
        from: Expr,
        /// The last.
        to: Expr,
        /// Its body.
        body: Vec<Stmt>,
    },
    /// `decl x, y` inside a function
    Decl(Decl),
    /// `enforce e`
    Enforce(Expr),
    /// `abortif e`
    Abortif(Expr),
    /// `start_thread goto L` or `start_thread L`
    StartGoto {
        /// The label.
        label: Ident,
        /// True if `goto` was written.
        goto: bool,
    },
    /// `start_thread S`
    Start(Box<Stmt>),
    /// `end_thread`
    EndThread,
    /// `atomic_begin`
    AtomicBegin,
    /// `atomic_end`
    AtomicEnd,
    /// `atomic { … }` with the span of the closing brace
    Atomic(Vec<Stmt>, Span),
    /// `wait`
    Wait,
    /// `signal`
    Signal,
    /// `broadcast`
    Broadcast,
    /// `dead x, y`
    Dead(Vec<Ident>),
    /// `print(e, f)`
    Print(Vec<Expr>),
}

/// The target of an assignment: a variable, or an element of an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The variable.
    pub ident: Ident,
    /// The index.
    pub index: Option<Expr>,
}

impl From<Ident> for Target {
    fn from(ident: Ident) -> Target {
        Target { ident, index: None }
    }
}

/// An expression and its span (with surrounding parentheses, if any).
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

impl Expr {
    /// Adds the names that it reads to `found`.
    pub(crate) fn reads(&self, found: &mut Vec<Read>) {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Any => {}
            ExprKind::Name { name, primed } => found.push(Read { name: name.clone(), primed: *primed }),
            ExprKind::Index { name, primed, index } => {
                found.push(Read { name: name.clone(), primed: *primed });
                index.reads(found);
            }
            ExprKind::Not(a) => a.reads(found),
            ExprKind::Chain(_, es) => es.iter().for_each(|e| e.reads(found)),
            ExprKind::Series(first, rest) => {
                first.reads(found);
                rest.iter().for_each(|(_, e)| e.reads(found));
            }
            ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
                a.reads(found);
                b.reads(found);
            }
            ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().for_each(|e| e.reads(found)),
        }
    }
}

/// The expressions (reference 2.2).
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(bool),
    /// A number other than 0 and 1.
    Number(i64),
    /// `*` or `?` in operand position: any value, chosen anew at every occurrence and execution.
    Any,
    /// `x`, `x$`, and with `primed` `'x`, `'x$`.
    Name {
        /// The spelling, with `$`.
        name: String,
        /// True if a prime precedes it.
        primed: bool,
    },
    /// `a[e]`, and with `primed` `'a[e]`.
    Index {
        /// The spelling, with `$`.
        name: String,
        /// True if a prime precedes it.
        primed: bool,
        /// The index.
        index: Box<Expr>,
    },
    /// `!e`
    Not(Box<Expr>),
    /// A chain `a & b & c` of one associative operator (at least two operands), kept flat so that
    /// thousands of conjuncts do not nest.
    Chain(ChainOp, Vec<Expr>),
    /// `a op b op c` for operators of one level that group to the left (at least two), kept flat
    /// for the same reason.
    Series(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `a op b` for the other operators, and for two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `schoose[p, n]`
    Schoose(Box<Expr>, Box<Expr>),
}

/// Operators whose chains are kept flat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChainOp {
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `=`, `==`
    Equal,
    /// `!=`, `<>`
    Unequal,
    /// `=>`, `->`
    Implies,
    /// `<=>`
    Iff,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `+`
    Plus,
    /// `-`; a sign `-e` is read as `0 - e`
    Minus,
    /// `*`
    Times,
}
