//! What names mean, and the values of expressions.

use super::{BOTH, Naive, PLAIN, Thread, product, unique};
use throng_lang::bp::ast::{BinaryOp, ChainOp, Expr, ExprKind};

/// The context in which a step reads a variable.
pub(super) struct View<'v> {
    pub(super) shared: &'v [bool],
    pub(super) thread: &'v Thread,
    /// The values after the step, for primed names.
    pub(super) after: Option<(&'v [bool], &'v Thread)>,
    /// Another thread before and after the step; without one, `x$` can have either value.
    pub(super) other: Option<(&'v Thread, &'v Thread)>,
    /// Read every name as if primed.
    pub(super) primed: bool,
}

/// The meaning of a name in the innermost call of a thread.
pub(super) enum Meaning {
    Shared(usize),
    Own(usize),
    Local(usize),
    OtherOwn(usize),
    OtherLocal(usize),
}

impl Naive<'_> {
    pub(super) fn meaning(&self, function: usize, name: &str) -> Meaning {
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
    pub(super) fn activation(thread: &Thread, function: usize) -> Option<usize> {
        thread.stack.iter().position(|f| f.function == function)
    }

    /// All values that an expression can have.
    pub(super) fn eval(&self, e: &Expr, view: &View) -> Vec<bool> {
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

    pub(super) fn read(&self, name: &str, primed: bool, view: &View) -> Vec<bool> {
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
    pub(super) fn names<'e>(e: &'e Expr, found: &mut Vec<&'e str>) {
        Self::each_name(e, &mut |name, _| found.push(name));
    }

    /// Every name in an expression, and whether it is primed.
    pub(super) fn each_name<'e>(e: &'e Expr, found: &mut dyn FnMut(&'e str, bool)) {
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
    pub(super) fn passive(&self, function: usize, e: &Expr) -> (bool, bool) {
        let mut names = Vec::new();
        Self::names(e, &mut names);
        self.passive_names(function, &names)
    }

    pub(super) fn passive_names(&self, function: usize, names: &[&str]) -> (bool, bool) {
        let meanings: Vec<Meaning> =
            names.iter().filter(|n| **n != "_").map(|n| self.meaning(function, n)).collect();
        let local = meanings.iter().any(|m| matches!(m, Meaning::OtherLocal(_)));
        (local || meanings.iter().any(|m| matches!(m, Meaning::OtherOwn(_))), local)
    }

    /// The conjuncts of a constraint.
    pub(super) fn conjuncts(e: &Expr) -> Vec<&Expr> {
        match &e.kind {
            ExprKind::Chain(ChainOp::And, es) => es.iter().flat_map(Self::conjuncts).collect(),
            _ => vec![e],
        }
    }
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
