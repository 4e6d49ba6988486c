//! Numbers as bits that are Boolean expressions, in two's complement, lowest bit first.
//!
//! A number has bounds, and just as many bits as these need: no operation overflows. The bits
//! contain no `*`: an operand occurs more than once in the result, and every copy must have the
//! same value.

use crate::bp::ast::{BinaryOp, ChainOp, Expr, ExprKind};
use crate::source::Span;

/// Maximum number of bits of the two factors of a product, which is a table over them.
pub const MOST_FACTOR_BITS: usize = 10;

/// A number between two bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// The bits that the bounds need; the last is the sign if `low` is negative.
    bits: Vec<Expr>,
    /// The lower bound.
    pub low: i64,
    /// The upper bound.
    pub high: i64,
}

/// Returns how many bits numbers between these bounds need.
pub fn width(low: i64, high: i64) -> usize {
    let unsigned = |n: i64| (i64::BITS - n.leading_zeros()) as usize;
    if low >= 0 { unsigned(high) } else { 1 + unsigned(high.max(0)).max(unsigned(-low - 1)) }
}

impl Number {
    /// Returns a constant number.
    pub fn constant(value: i64, span: Span) -> Number {
        let bits = (0..width(value, value)).map(|i| constant(value >> i & 1 == 1, span)).collect();
        Number { bits, low: value, high: value }
    }

    /// Creates the number with these bits, known to be between the bounds; there may be more bits
    /// than the bounds need.
    pub fn new(mut bits: Vec<Expr>, low: i64, high: i64) -> Number {
        bits.truncate(width(low, high));
        Number { bits, low, high }
    }

    /// Converts a truth value to 0 or 1.
    pub fn from_bool(e: Expr) -> Number {
        match e.kind {
            ExprKind::Const(value) => Number::constant(value.into(), e.span),
            _ => Number { bits: vec![e], low: 0, high: 1 },
        }
    }

    /// Returns its value, if it is constant.
    pub fn value(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Returns the lowest bits, sign-extended as needed.
    pub fn low_bits(&self, count: usize, span: Span) -> Vec<Expr> {
        (0..count).map(|i| self.bit(i, span)).collect()
    }

    fn bit(&self, i: usize, span: Span) -> Expr {
        match self.bits.get(i) {
            Some(bit) => bit.clone(),
            None if self.low < 0 => self.bits.last().cloned().unwrap_or(constant(true, span)),
            None => constant(false, span),
        }
    }

    /// Returns `a + b`.
    pub fn plus(a: &Number, b: &Number, span: Span) -> Number {
        Number::sum(a, b, false, (a.low + b.low, a.high + b.high), span)
    }

    /// Returns `a - b`.
    pub fn minus(a: &Number, b: &Number, span: Span) -> Number {
        Number::sum(a, b, true, (a.low - b.high, a.high - b.low), span)
    }

    /// Adds with a carry, or adds the complement and 1.
    fn sum(a: &Number, b: &Number, complement: bool, (low, high): (i64, i64), span: Span) -> Number {
        if low == high {
            return Number::constant(low, span);
        }
        let mut carry = constant(complement, span);
        let mut bits = Vec::new();
        for i in 0..width(low, high) {
            let (x, y) = (a.bit(i, span), b.bit(i, span));
            let y = if complement { not(y) } else { y };
            bits.push(xor(xor(x.clone(), y.clone()), carry.clone()));
            carry = or(and(x.clone(), y.clone()), and(or(x, y), carry));
        }
        Number { bits, low, high }
    }

    /// Returns `a * b`; `None` if the factors have too many bits.
    pub fn times(a: &Number, b: &Number, span: Span) -> Option<Number> {
        let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        let low = corners.into_iter().min()?;
        let high = corners.into_iter().max()?;
        if low == high {
            return Some(Number::constant(low, span));
        }
        let (mine, theirs) = (a.variable_bits(), b.variable_bits());
        if mine.len() + theirs.len() > MOST_FACTOR_BITS {
            return None;
        }
        let inputs: Vec<&Expr> = mine.iter().chain(&theirs).collect();
        let bits = (0..width(low, high)).map(|i| {
            table(&inputs, 0, span, &|code| {
                let x = a.decode(code & ((1 << mine.len()) - 1));
                let y = b.decode(code >> mine.len());
                ((x * y) >> i) & 1 == 1
            })
        });
        Some(Number { bits: bits.collect(), low, high })
    }

    /// Returns an equivalent, smaller number, if it is large and reads few variables: sums of sums
    /// repeat their operands.
    pub fn compact(self) -> Number {
        const LONG: usize = 64;
        let length: usize = self.bits.iter().map(|b| size(b).0).sum();
        if length < LONG {
            return self;
        }
        let mut names = Vec::new();
        self.bits.iter().for_each(|b| leaves(b, &mut names));
        if !can_list(names.len(), length) {
            return self;
        }
        let inputs: Vec<&Expr> = names.iter().collect();
        let value = |e: &Expr, code: u64| {
            evaluate(e, &|leaf| {
                inputs.iter().position(|i| i.kind == leaf.kind).is_some_and(|i| code >> i & 1 == 1)
            })
        };
        let bits: Vec<Expr> =
            self.bits.iter().map(|b| table(&inputs, 0, b.span, &|code| value(b, code))).collect();
        let shorter = bits.iter().map(|b| size(b).0).sum::<usize>() < length;
        if shorter { Number { bits, ..self } } else { self }
    }

    /// Returns how many nodes its bits have together, and how deep they nest.
    pub fn size(&self) -> (usize, usize) {
        self.bits.iter().map(size).fold((0, 0), |(n, deep), (m, d)| (n + m, deep.max(d)))
    }

    /// Returns the bits of a number; none if it is constant.
    fn variable_bits(&self) -> Vec<Expr> {
        if self.value().is_some() { Vec::new() } else { self.bits.clone() }
    }

    /// Returns the value for these values of [`Number::variable_bits`].
    fn decode(&self, code: u64) -> i64 {
        if let Some(value) = self.value() {
            return value;
        }
        let sign = 1i64 << (self.bits.len() - 1);
        let code = code as i64;
        if self.low < 0 && code & sign != 0 { code - 2 * sign } else { code }
    }

    /// Returns `a < b`.
    pub fn less(a: &Number, b: &Number, span: Span) -> Expr {
        if a.high < b.low {
            return constant(true, span);
        }
        if a.low >= b.high {
            return constant(false, span);
        }
        let signed = a.low < 0 || b.low < 0;
        let length = a.bits.len().max(b.bits.len()) + usize::from(signed);
        let mut less = constant(false, span);
        for i in 0..length {
            let (mut x, mut y) = (a.bit(i, span), b.bit(i, span));
            if signed && i == length - 1 {
                (x, y) = (y, x);
            }
            let x = not(x);
            less = or(and(x.clone(), y.clone()), and(or(x, y), less));
        }
        less
    }

    /// Returns `a = b`.
    pub fn equal(a: &Number, b: &Number, span: Span) -> Expr {
        if a.high < b.low || b.high < a.low {
            return constant(false, span);
        }
        let signed = a.low < 0 || b.low < 0;
        let length = a.bits.len().max(b.bits.len()) + usize::from(signed);
        (0..length).fold(constant(true, span), |all, i| and(all, not(xor(a.bit(i, span), b.bit(i, span)))))
    }

    /// Returns the condition that it is between these bounds.
    pub fn is_within(&self, low: i64, high: i64, span: Span) -> Expr {
        let below = Number::less(self, &Number::constant(low, span), span);
        let above = Number::less(&Number::constant(high, span), self, span);
        and(not(below), not(above))
    }

    /// Returns `c ? a : b`.
    pub fn choose(c: &Expr, a: &Number, b: &Number) -> Number {
        let (low, high) = (a.low.min(b.low), a.high.max(b.high));
        let bits = (0..width(low, high)).map(|i| choose(c.clone(), a.bit(i, c.span), b.bit(i, c.span)));
        Number { bits: bits.collect(), low, high }
    }

    /// Returns the element with this index; any of them if the index is out of bounds.
    pub fn select(elements: &[Number], index: &Number, span: Span) -> Number {
        let at = |i: i64| elements[i.clamp(0, elements.len() as i64 - 1) as usize].clone();
        match index.value() {
            Some(i) => at(i),
            None => {
                index.select_from(elements.len().next_power_of_two().trailing_zeros() as usize, 0, &at, span)
            }
        }
    }

    fn select_from(&self, bits: usize, base: i64, at: &dyn Fn(i64) -> Number, span: Span) -> Number {
        let Some(top) = bits.checked_sub(1) else { return at(base) };
        let [zero, one] = [0, 1i64 << top].map(|more| self.select_from(top, base + more, at, span));
        if one == zero { zero } else { Number::choose(&self.bit(top, span), &one, &zero) }
    }

    /// Returns the number, or the nearest bound if it is not between the bounds.
    pub fn clamp(&self, low: i64, high: i64, span: Span) -> Number {
        let (least, most) = (Number::constant(low, span), Number::constant(high, span));
        let below = Number::less(self, &least, span);
        let above = Number::less(&most, self, span);
        let inner = Number::choose(&above, &most, self);
        let all = Number::choose(&below, &least, &inner);
        Number::new(all.low_bits(width(low, high), span), low, high)
    }
}

/// Returns the function of these bits, whose value for a code is `value(code)`.
fn table(bits: &[&Expr], code: u64, span: Span, value: &dyn Fn(u64) -> bool) -> Expr {
    let Some((last, rest)) = bits.split_last() else { return constant(value(code), span) };
    let zero = table(rest, code, span, value);
    let one = table(rest, code | 1 << rest.len(), span, value);
    choose((*last).clone(), one, zero)
}

// ── Boolean expressions, simplified as they are made ──

/// Returns a constant.
pub fn constant(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), span }
}

fn known(e: &Expr) -> Option<bool> {
    if let ExprKind::Const(value) = e.kind { Some(value) } else { None }
}

/// Returns `!e`.
pub fn not(e: Expr) -> Expr {
    let span = e.span;
    match e.kind {
        ExprKind::Const(value) => constant(!value, span),
        ExprKind::Not(inner) => *inner,
        _ => Expr { kind: ExprKind::Not(Box::new(e)), span },
    }
}

/// Returns `a & b`.
pub fn and(a: Expr, b: Expr) -> Expr {
    chain(ChainOp::And, a, b)
}

/// Returns `a | b`.
pub fn or(a: Expr, b: Expr) -> Expr {
    chain(ChainOp::Or, a, b)
}

/// Returns `a ^ b`.
pub fn xor(a: Expr, b: Expr) -> Expr {
    match (known(&a), known(&b)) {
        (Some(true), _) => not(b),
        (Some(false), _) => b,
        (_, Some(true)) => not(a),
        (_, Some(false)) => a,
        _ => chain(ChainOp::Xor, a, b),
    }
}

/// Returns a chain of `&` or `|`, or of `^` without constants.
fn chain(op: ChainOp, a: Expr, b: Expr) -> Expr {
    let absorbing = op == ChainOp::Or;
    for (this, other) in [(&a, &b), (&b, &a)] {
        match known(this) {
            Some(value) if value == absorbing => return constant(value, this.span),
            Some(_) => return other.clone(),
            None => {}
        }
    }
    if a == b && op != ChainOp::Xor && !is_open(&a) {
        return a;
    }
    let span = a.span;
    let mut operands = Vec::new();
    for e in [a, b] {
        match e.kind {
            ExprKind::Chain(inner, more) if inner == op => operands.extend(more),
            _ => operands.push(e),
        }
    }
    Expr { kind: ExprKind::Chain(op, operands), span }
}

/// Returns `c ? a : b` of truth values.
pub fn choose(c: Expr, a: Expr, b: Expr) -> Expr {
    if let Some(value) = known(&c) {
        return if value { a } else { b };
    }
    if a == b && !is_open(&a) {
        return a;
    }
    match (known(&a), known(&b)) {
        (Some(true), Some(false)) => c,
        (Some(false), Some(true)) => not(c),
        (Some(true), None) => or(c, b),
        (Some(false), None) => and(not(c), b),
        (None, Some(true)) => or(not(c), a),
        (None, Some(false)) => and(c, a),
        _ => {
            let span = c.span;
            Expr { kind: ExprKind::Conditional(Box::new(c), Box::new(a), Box::new(b)), span }
        }
    }
}

/// Returns whether it contains a `*`, so that it has no single value.
pub fn is_open(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Any | ExprKind::Schoose(..) => true,
        ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Name { .. } => false,
        ExprKind::Not(a) | ExprKind::Index { index: a, .. } => is_open(a),
        ExprKind::Chain(_, es) => es.iter().any(is_open),
        ExprKind::Series(first, rest) => is_open(first) || rest.iter().any(|(_, e)| is_open(e)),
        ExprKind::Binary(_, a, b) => is_open(a) || is_open(b),
        ExprKind::Conditional(c, a, b) => is_open(c) || is_open(a) || is_open(b),
    }
}

/// Adds the variables in an expression of bits to `found`, each once.
pub fn leaves(e: &Expr, found: &mut Vec<Expr>) {
    match &e.kind {
        ExprKind::Name { .. } if found.iter().any(|f| f.kind == e.kind) => {}
        ExprKind::Name { .. } => found.push(e.clone()),
        ExprKind::Not(a) => leaves(a, found),
        ExprKind::Chain(_, es) => es.iter().for_each(|e| leaves(e, found)),
        ExprKind::Series(first, rest) => {
            leaves(first, found);
            rest.iter().for_each(|(_, e)| leaves(e, found));
        }
        ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
            [a, b].into_iter().for_each(|e| leaves(e, found));
        }
        ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().for_each(|e| leaves(e, found)),
        ExprKind::Any | ExprKind::Const(_) | ExprKind::Number(_) => {}
        ExprKind::Index { .. } => {}
    }
}

/// Returns whether an expression of this size may be evaluated for all values of this many
/// variables.
fn can_list(variables: usize, size: usize) -> bool {
    variables <= MOST_FACTOR_BITS && size << variables <= 1 << 22
}

/// Returns whether an expression surely holds; `false` may mean that it reads too many variables to
/// decide.
pub fn always_holds(e: &Expr) -> bool {
    if let Some(value) = known(e) {
        return value;
    }
    let mut names = Vec::new();
    leaves(e, &mut names);
    let bit = |code: u64, leaf: &Expr| {
        names.iter().position(|n| n.kind == leaf.kind).is_some_and(|i| code >> i & 1 == 1)
    };
    can_list(names.len(), size(e).0)
        && !is_open(e)
        && (0..1u64 << names.len()).all(|code| evaluate(e, &|leaf| bit(code, leaf)))
}

/// Returns the value of an expression of bits.
fn evaluate(e: &Expr, look: &dyn Fn(&Expr) -> bool) -> bool {
    let of = |e: &Expr| evaluate(e, look);
    match &e.kind {
        ExprKind::Const(value) => *value,
        ExprKind::Not(a) => !of(a),
        ExprKind::Chain(ChainOp::And, es) => es.iter().all(of),
        ExprKind::Chain(ChainOp::Or, es) => es.iter().any(of),
        ExprKind::Chain(ChainOp::Xor, es) => es.iter().fold(false, |sum, e| sum ^ of(e)),
        ExprKind::Binary(BinaryOp::Unequal, a, b) => of(a) != of(b),
        ExprKind::Binary(BinaryOp::Implies, a, b) => !of(a) || of(b),
        ExprKind::Binary(_, a, b) => of(a) == of(b),
        ExprKind::Conditional(c, a, b) => of(if of(c) { a } else { b }),
        _ => look(e),
    }
}

/// Returns how many nodes an expression has, and how deep they nest.
pub fn size(e: &Expr) -> (usize, usize) {
    let over = |parts: &mut dyn Iterator<Item = &Expr>| {
        parts.map(size).fold((1, 1), |(n, deep), (m, d)| (n + m, deep.max(d + 1)))
    };
    match &e.kind {
        ExprKind::Any | ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Name { .. } => (1, 1),
        ExprKind::Not(a) | ExprKind::Index { index: a, .. } => over(&mut [&**a].into_iter()),
        ExprKind::Chain(_, es) => over(&mut es.iter()),
        ExprKind::Series(first, rest) => {
            over(&mut std::iter::once(&**first).chain(rest.iter().map(|r| &r.1)))
        }
        ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => over(&mut [&**a, &**b].into_iter()),
        ExprKind::Conditional(c, a, b) => over(&mut [&**c, &**a, &**b].into_iter()),
    }
}

#[cfg(test)]
mod tests;
