//! Expressions: the type and the bits of each part.

use super::number::{Number, and, choose, constant, is_open, not, or, size, xor};
use super::statement::too_large;
use super::{Declared, Lowering, MOST_DEPTH, MOST_NODES, Result, describe, element_bits, error};
use crate::bp::ast::{BinaryOp, ChainOp, Expr, ExprKind, Ident};
use crate::bp::types::Type;
use crate::source::Span;

/// A value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A truth value, perhaps with a `*`.
    Bool(Expr),
    /// A number.
    Number(Number),
    /// A value of an enumeration.
    Enum(Type, Number),
}

impl Value {
    /// Returns its bits.
    pub(super) fn bits(self, span: Span) -> Vec<Expr> {
        match self {
            Value::Bool(e) => vec![e],
            Value::Number(n) | Value::Enum(_, n) => {
                n.low_bits(super::number::width(n.low, n.high).max(1), span)
            }
        }
    }

    /// Returns it as a truth value; the numbers 0 and 1 are converted.
    pub(super) fn into_bool(self) -> Option<Expr> {
        match self {
            Value::Bool(e) => Some(e),
            Value::Number(n) => match n.value() {
                Some(value @ 0..=1) => Some(constant(value == 1, Span::default())),
                _ => None,
            },
            Value::Enum(..) => None,
        }
    }

    fn describe(&self) -> String {
        match self {
            Value::Bool(_) => "a truth value".into(),
            Value::Number(_) => "a number".into(),
            Value::Enum(ty, _) => format!("a value of {}", describe(ty)),
        }
    }
}

/// Returns `guard => check`.
fn guarded(guard: Expr, check: Expr) -> Expr {
    or(not(guard), check)
}

impl Lowering {
    /// Returns the value of a constant expression, which is a number.
    pub(super) fn constant(&mut self, e: &Expr) -> Result<i64> {
        match self.constant_of(e)? {
            (value, None) => Ok(value),
            (_, Some(ty)) => {
                Err(error("E220", e.span, format!("this is a value of {}, not a number", describe(&ty))))
            }
        }
    }

    /// Returns the value of a constant expression, and its type if it is of an enumeration.
    pub(super) fn constant_of(&mut self, e: &Expr) -> Result<(i64, Option<Type>)> {
        let mut check = constant(true, e.span);
        let (n, ty) = match self.value(e, &mut check)? {
            Value::Enum(ty, n) => (n, Some(ty)),
            Value::Number(n) => (n, None),
            Value::Bool(e) => (Number::from_bool(e), None),
        };
        match n.value() {
            Some(value) => Ok((value, ty)),
            None => Err(error("E221", e.span, "this must be a constant")),
        }
    }

    /// Returns a variable, and whether another thread's is meant.
    pub(super) fn lookup(&self, spelling: &str) -> Option<(&Declared, bool)> {
        let find = |name: &str| self.locals.get(name).or_else(|| self.lowered.globals.variables.get(name));
        match find(spelling) {
            Some(declared) => Some((declared, false)),
            None => find(spelling.strip_suffix('$')?).map(|declared| (declared, true)),
        }
    }

    pub(super) fn is_passive(&self, bit: &str) -> bool {
        // No bit has a declared name, except that of a Boolean variable.
        self.lookup(bit).is_none_or(|(_, passive)| passive)
    }

    pub(super) fn loop_value(&self, name: &str) -> Option<i64> {
        self.loops.iter().rev().find(|l| l.0 == name).map(|l| l.1)
    }

    /// Returns an expression as a truth value.
    pub(super) fn boolean(&mut self, e: &Expr, check: &mut Expr) -> Result<Expr> {
        let value = self.value(e, check)?;
        self.as_boolean(value, e.span)
    }

    fn as_boolean(&self, value: Value, span: Span) -> Result<Expr> {
        let what = value.describe();
        if let Value::Number(n) = &value
            && let Some(n) = n.value().filter(|n| !(0..=1).contains(n))
        {
            let message = format!("a truth value is expected here, not the number {n}");
            return Err(error("E113", span, message).label("not a Boolean constant"));
        }
        let bool = value.into_bool().ok_or_else(|| {
            error("E220", span, format!("a truth value is expected here, not {what}"))
                .hint("compare it, as in `n != 0`")
        })?;
        Ok(Expr { span, ..bool })
    }

    /// Returns an expression as a number; truth values are 0 and 1.
    pub(super) fn number(&mut self, e: &Expr, check: &mut Expr) -> Result<Number> {
        let value = self.value(e, check)?;
        self.as_number(value, e.span)
    }

    fn as_number(&self, value: Value, span: Span) -> Result<Number> {
        match value {
            Value::Number(n) => Ok(n),
            Value::Bool(b) => Ok(Number::from_bool(settled(b, span)?)),
            Value::Enum(ty, _) => Err(error(
                "E220",
                span,
                format!("a number is expected here, not a value of {}", describe(&ty)),
            )),
        }
    }

    /// Returns the bits of a value that is assigned to a variable of this type.
    pub(super) fn converted(&mut self, e: &Expr, ty: &Type, check: &mut Expr) -> Result<Vec<Expr>> {
        let bits = ty.bits();
        if matches!(e.kind, ExprKind::Any) {
            return Ok(vec![e.clone(); bits]);
        }
        match ty {
            Type::Bool => Ok(vec![self.boolean(e, check)?]),
            Type::Wrap(_) => Ok(self.number(e, check)?.low_bits(bits, e.span)),
            Type::Range(low, high) => {
                let n = self.number(e, check)?;
                *check = and(check.clone(), n.is_within(*low, *high, e.span));
                Ok(n.low_bits(bits, e.span))
            }
            Type::Enum { .. } => match self.value(e, check)? {
                Value::Enum(of, n) if of == *ty => Ok(n.low_bits(bits, e.span)),
                other => {
                    let message =
                        format!("a value of {} is expected here, not {}", describe(ty), other.describe());
                    Err(error("E220", e.span, message))
                }
            },
        }
    }

    /// Returns the index of a target or an operand, which must be given just if the variable is an
    /// array.
    pub(super) fn index(
        &mut self,
        ident: &Ident,
        index: Option<&Expr>,
        declared: &Declared,
        check: &mut Expr,
    ) -> Result<Option<Number>> {
        match (index, declared.length) {
            (None, None) => Ok(None),
            (Some(e), Some(length)) => {
                let index = self.number(e, check)?;
                *check = and(check.clone(), index.is_within(0, length as i64 - 1, e.span));
                Ok(Some(index))
            }
            (None, Some(_)) => {
                let message = format!("`{}` is an array", ident.name);
                Err(error("E223", ident.span, message)
                    .hint(format!("choose an element: `{}[0]`", ident.name)))
            }
            (Some(_), None) => Err(error("E223", ident.span, format!("`{}` is not an array", ident.name))),
        }
    }

    pub(super) fn value(&mut self, e: &Expr, check: &mut Expr) -> Result<Value> {
        let span = e.span;
        Ok(match &e.kind {
            ExprKind::Const(_) | ExprKind::Any => Value::Bool(e.clone()),
            ExprKind::Number(n) => Value::Number(Number::constant(*n, span)),
            ExprKind::Name { name, primed } => self.name(e, name, *primed, None, check)?,
            ExprKind::Index { name, primed, index } => self.name(e, name, *primed, Some(index), check)?,
            ExprKind::Not(a) => Value::Bool(not(self.boolean(a, check)?)),
            ExprKind::Chain(op, es) => self.chain(*op, es, span, check)?,
            ExprKind::Series(first, rest) => self.series(first, rest, check)?,
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span, check)?,
            ExprKind::Conditional(c, a, b) => {
                let c = self.boolean(c, check)?;
                let (mut if_true, mut if_false) = (constant(true, span), constant(true, span));
                let (x, y) = (self.value(a, &mut if_true)?, self.value(b, &mut if_false)?);
                *check =
                    and(check.clone(), and(guarded(c.clone(), if_true), guarded(not(c.clone()), if_false)));
                match (x, y) {
                    (Value::Bool(x), Value::Bool(y)) => Value::Bool(choose(c, x, y)),
                    (Value::Enum(t, x), Value::Enum(u, y)) if t == u => {
                        Value::Enum(t, self.small(Number::choose(&settled(c, span)?, &x, &y), span)?)
                    }
                    (x, y) => {
                        let (x, y) = (self.as_number(x, a.span)?, self.as_number(y, b.span)?);
                        Value::Number(self.small(Number::choose(&settled(c, span)?, &x, &y), span)?)
                    }
                }
            }
            ExprKind::Schoose(p, n) => {
                let (p, n) = (self.boolean(p, check)?, self.boolean(n, check)?);
                Value::Bool(Expr { kind: ExprKind::Schoose(Box::new(p), Box::new(n)), span })
            }
        })
    }

    /// Returns the value of a variable, an element of an array, or a constant.
    fn name(
        &mut self,
        e: &Expr,
        name: &str,
        primed: bool,
        index: Option<&Expr>,
        check: &mut Expr,
    ) -> Result<Value> {
        let span = e.span;
        if let Some(value) = self.loop_value(name).filter(|_| !primed && index.is_none()) {
            return Ok(Value::Number(Number::constant(value, span)));
        }
        let Some((declared, passive)) = self.lookup(name) else {
            let constant = self.lowered.globals.constants.get(name).filter(|_| !primed && index.is_none());
            if let Some((value, ty)) = constant {
                let number = Number::constant(*value, span);
                return Ok(ty.clone().map_or(Value::Number(number.clone()), |ty| Value::Enum(ty, number)));
            }
            let unknown = error("E201", span, format!("`{name}` is not declared"));
            if let Some((first, _)) = name.split_once('-')
                && (self.lookup(first).is_some() || self.lowered.globals.constants.contains_key(first))
            {
                return Err(unknown.hint(format!("`{name}` is one name; put blanks around `-` to subtract")));
            }
            if index.is_some() {
                return Err(unknown);
            }
            // Boolean names are resolved later, where better hints can be given.
            self.read(name, primed);
            return Ok(Value::Bool(e.clone()));
        };
        if declared.ty == Type::Bool && declared.length.is_none() && index.is_none() {
            self.read(name, primed);
            return Ok(Value::Bool(e.clone()));
        }
        let declared = declared.clone();
        let index = self.index(&Ident { name: name.into(), span }, index, &declared, check)?;
        let base = if passive { &name[..name.len() - 1] } else { name };
        let suffix = if passive { "$" } else { "" };
        for k in elements(index.as_ref(), &declared) {
            let bits = element_bits(base, k, &declared.ty).into_iter();
            bits.for_each(|bit| self.read(&format!("{bit}{suffix}"), primed));
        }
        let element = |k: Option<usize>| {
            let bits = element_bits(base, k, &declared.ty)
                .into_iter()
                .map(|bit| Expr { kind: ExprKind::Name { name: format!("{bit}{suffix}"), primed }, span });
            let (low, high) = declared.ty.bounds();
            if declared.loose {
                let (least, most) = declared.ty.raw_bounds();
                return Number::new(bits.collect(), least, most).clamp(low, high, span);
            }
            Number::new(bits.collect(), low, high)
        };
        let number = match &index {
            None => element(None),
            Some(index) => match index.value().and_then(|k| usize::try_from(k).ok()) {
                Some(k) if declared.length.is_some_and(|n| k < n) => element(Some(k)),
                _ => {
                    let all: Vec<Number> =
                        (0..declared.length.unwrap_or(1)).map(|k| element(Some(k))).collect();
                    self.small(Number::select(&all, index, span), span)?
                }
            },
        };
        Ok(match &declared.ty {
            Type::Bool => Value::Bool(number.low_bits(1, span).remove(0)),
            Type::Enum { .. } => Value::Enum(declared.ty.clone(), number),
            Type::Range(..) | Type::Wrap(_) => Value::Number(number),
        })
    }

    /// Records that the current statement reads a Boolean variable, even if its value is folded
    /// away.
    fn read(&mut self, name: &str, primed: bool) {
        if let Some(reads) = self.reads.last_mut() {
            reads.push(crate::bp::ast::Read { name: name.into(), primed });
        }
    }

    /// Returns the value of a chain. Operands of `&` and `|` after one that decides are not
    /// evaluated.
    fn chain(&mut self, op: ChainOp, es: &[Expr], span: Span, check: &mut Expr) -> Result<Value> {
        let mut all: Option<Expr> = None;
        for e in es {
            let mut its = constant(true, e.span);
            let operand = self.boolean(e, &mut its)?;
            let its = match (&all, op) {
                (None, _) | (_, ChainOp::Xor) => its,
                (Some(so_far), ChainOp::And) => guarded(so_far.clone(), its),
                (Some(so_far), ChainOp::Or) => or(so_far.clone(), its),
            };
            *check = and(check.clone(), its);
            all = Some(match (all, op) {
                (None, _) => operand,
                (Some(so_far), ChainOp::And) => and(so_far, operand),
                (Some(so_far), ChainOp::Or) => or(so_far, operand),
                (Some(so_far), ChainOp::Xor) => xor(so_far, operand),
            });
        }
        Ok(Value::Bool(Expr { span, ..all.unwrap_or(constant(true, span)) }))
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span, check: &mut Expr) -> Result<Value> {
        let plain = |x: Expr, y: Expr| {
            Value::Bool(Expr { kind: ExprKind::Binary(op, Box::new(x), Box::new(y)), span })
        };
        if op == BinaryOp::Implies {
            let x = self.boolean(a, check)?;
            let mut its = constant(true, span);
            let y = self.boolean(b, &mut its)?;
            *check = and(check.clone(), guarded(x.clone(), its));
            return Ok(plain(x, y));
        }
        let (x, y) = (self.value(a, check)?, self.value(b, check)?);
        match (op, &x, &y) {
            (BinaryOp::Equal | BinaryOp::Unequal, Value::Bool(x), Value::Bool(y)) => {
                Ok(plain(x.clone(), y.clone()))
            }
            (BinaryOp::Iff, ..) => Ok(plain(self.as_boolean(x, a.span)?, self.as_boolean(y, b.span)?)),
            _ => self.combined(op, (x, a.span), (y, b.span), span),
        }
    }

    /// Returns `a op b op c`, from the left. Equalities of truth values are one flat parity.
    fn series(&mut self, first: &Expr, rest: &[(BinaryOp, Expr)], check: &mut Expr) -> Result<Value> {
        let (mut so_far, mut span) = (self.value(first, check)?, first.span);
        for (op, e) in rest {
            let next = self.value(e, check)?;
            let whole = span.to(e.span);
            let both = matches!((&so_far, &next), (Value::Bool(_), Value::Bool(_)));
            so_far = match op {
                BinaryOp::Equal | BinaryOp::Unequal | BinaryOp::Iff if both || *op == BinaryOp::Iff => {
                    let (x, y) = (self.as_boolean(so_far, span)?, self.as_boolean(next, e.span)?);
                    Value::Bool(parity(x, y, *op != BinaryOp::Unequal))
                }
                _ => self.combined(*op, (so_far, span), (next, e.span), whole)?,
            };
            span = whole;
        }
        Ok(so_far)
    }

    /// Returns `a op b` for operators on numbers.
    fn combined(&self, op: BinaryOp, a: (Value, Span), b: (Value, Span), span: Span) -> Result<Value> {
        Ok(match op {
            BinaryOp::Plus | BinaryOp::Minus | BinaryOp::Times => {
                let (x, y) = (self.as_number(a.0, a.1)?, self.as_number(b.0, b.1)?);
                let result = match op {
                    BinaryOp::Plus => Number::plus(&x, &y, span),
                    BinaryOp::Minus => Number::minus(&x, &y, span),
                    _ => Number::times(&x, &y, span).ok_or_else(|| too_large(span))?,
                };
                Value::Number(self.small(result, span)?)
            }
            _ => {
                let (x, y) = self.comparable(a, b)?;
                let result = match op {
                    BinaryOp::Equal => Number::equal(&x, &y, span),
                    BinaryOp::Unequal => not(Number::equal(&x, &y, span)),
                    BinaryOp::Less => Number::less(&x, &y, span),
                    BinaryOp::Greater => Number::less(&y, &x, span),
                    BinaryOp::AtMost => not(Number::less(&y, &x, span)),
                    _ => not(Number::less(&x, &y, span)),
                };
                let (nodes, depth) = size(&result);
                if nodes > MOST_NODES || depth > MOST_DEPTH {
                    return Err(too_large(span));
                }
                Value::Bool(result)
            }
        })
    }

    /// Returns two numbers, which may be two values of one enumeration.
    fn comparable(&self, a: (Value, Span), b: (Value, Span)) -> Result<(Number, Number)> {
        if let (Value::Enum(t, x), Value::Enum(u, y)) = (&a.0, &b.0)
            && t == u
        {
            return Ok((x.clone(), y.clone()));
        }
        if matches!(a.0, Value::Enum(..)) || matches!(b.0, Value::Enum(..)) {
            let message = format!("{} is compared with {}", a.0.describe(), b.0.describe());
            return Err(error("E220", a.1.to(b.1), message));
        }
        for (one, other) in [(&a, &b), (&b, &a)] {
            if let (Value::Bool(e), Value::Number(n)) = (&one.0, &other.0)
                && !matches!(e.kind, ExprKind::Const(_))
                && let Some(n) = n.value().filter(|n| !(0..=1).contains(n))
            {
                let message = format!("a truth value is compared with {n}");
                return Err(error("E113", other.1, message).label("not a Boolean constant"));
            }
        }
        Ok((self.as_number(a.0, a.1)?, self.as_number(b.0, b.1)?))
    }

    /// Refuses a number that has become too large.
    fn small(&self, n: Number, span: Span) -> Result<Number> {
        // A product of two numbers must fit an `i64`.
        const FAR: i64 = 1 << 30;
        let (nodes, depth) = n.size();
        if nodes > 8 * MOST_NODES || n.low < -FAR || n.high > FAR {
            return Err(too_large(span));
        }
        let n = n.compact();
        let nodes = if nodes > MOST_NODES { n.size().0 } else { nodes };
        if nodes > MOST_NODES || depth > 4 * MOST_DEPTH { Err(too_large(span)) } else { Ok(n) }
    }
}

/// Returns `x = y`, or `x != y`, of truth values, such that a long series stays flat.
fn parity(x: Expr, y: Expr, equal: bool) -> Expr {
    let span = x.span;
    let (x, turned) = match x.kind {
        ExprKind::Not(inner) => (*inner, true),
        kind => (Expr { kind, span }, false),
    };
    let differ = xor(x, y);
    if turned == equal { differ } else { not(differ) }
}

/// Returns the elements that an index can select; `None` stands for a variable that is not an
/// array.
fn elements(index: Option<&Number>, declared: &Declared) -> Vec<Option<usize>> {
    let Some(index) = index else { return vec![None] };
    let last = declared.length.unwrap_or(1) as i64 - 1;
    (index.low.max(0)..=index.high.min(last)).map(|k| Some(k as usize)).collect()
}

/// Returns an expression without `*`, as its value will be used several times; else an error.
fn settled(e: Expr, span: Span) -> Result<Expr> {
    if !is_open(&e) {
        return Ok(e);
    }
    Err(error("E224", span, "`*` has no single value, which is needed here")
        .hint("assign `*` to a variable first, in a statement of its own"))
}
