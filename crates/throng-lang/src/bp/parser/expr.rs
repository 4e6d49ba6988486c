//! Expressions, by precedence climbing.
//!
//! Tightest first: `'`, `!` and the sign `-`, `*`, `+` and `-`, `<` `<=` `>` `>=`, `=` and `!=`
//! (all left), `&`, `^`, `|`, `=>` (right), `<=>` (left), `? :` (right). Chains of `&`, `^` or `|`,
//! and series such as `a + b - c`, become one flat node, so that a conjunction of thousands of
//! clauses is a shallow tree. Other tools order `=` and `^` differently; the parser warns where
//! that would change the meaning.

use super::{Failed, MAX_NESTING, Parsed, Parser};
use crate::bp::ast::{BinaryOp, ChainOp, Expr, ExprKind, Ident};
use crate::bp::lexer::Tok;
use crate::source::{Diagnostic, Span};

/// The level of the loosest operator with two operands.
const LOOSEST: u8 = 1;

/// The level of `+`.
const SUM: u8 = 8;

enum Operator {
    Chain(ChainOp),
    Left(BinaryOp),
    Right(BinaryOp),
}

/// The largest number that is accepted; no type has larger ones.
pub(crate) const LARGEST: i64 = 1 << 16;

/// Returns the operator of a token and how tightly it binds.
fn operator(tok: Tok) -> Option<(u8, Operator)> {
    Some(match tok {
        Tok::Iff => (LOOSEST, Operator::Left(BinaryOp::Iff)),
        Tok::Implies => (2, Operator::Right(BinaryOp::Implies)),
        Tok::Or => (3, Operator::Chain(ChainOp::Or)),
        Tok::Xor => (4, Operator::Chain(ChainOp::Xor)),
        Tok::And => (5, Operator::Chain(ChainOp::And)),
        Tok::Equal => (6, Operator::Left(BinaryOp::Equal)),
        Tok::Unequal => (6, Operator::Left(BinaryOp::Unequal)),
        Tok::Less => (7, Operator::Left(BinaryOp::Less)),
        Tok::AtMost => (7, Operator::Left(BinaryOp::AtMost)),
        Tok::Greater => (7, Operator::Left(BinaryOp::Greater)),
        Tok::AtLeast => (7, Operator::Left(BinaryOp::AtLeast)),
        Tok::Plus => (SUM, Operator::Left(BinaryOp::Plus)),
        Tok::Minus => (SUM, Operator::Left(BinaryOp::Minus)),
        Tok::Star => (9, Operator::Left(BinaryOp::Times)),
        _ => return None,
    })
}

/// An expression while its surroundings are being read.
struct Operand {
    expr: Expr,
    height: usize,
    /// True if it is in parentheses, so that it cannot be misread.
    enclosed: bool,
}

impl Operand {
    fn leaf(kind: ExprKind, span: Span) -> Operand {
        Operand { expr: Expr { kind, span }, height: 1, enclosed: false }
    }

    fn boxed(self) -> Box<Expr> {
        Box::new(self.expr)
    }
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(Self::conditional).map(|operand| operand.expr)
    }

    /// Parses an expression without operators that bind less tightly than `+`.
    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        self.nested(|p| p.binary(SUM)).map(|operand| operand.expr)
    }

    /// Builds a node above operands of at most this height.
    fn node(&mut self, kind: ExprKind, span: Span, height: usize) -> Parsed<Operand> {
        let height = height + 1;
        if self.statements + height > MAX_NESTING {
            return Err(self.too_deep(self.previous.span));
        }
        Ok(Operand { expr: Expr { kind, span }, height, enclosed: false })
    }

    /// Parses `c ? a : b`.
    fn conditional(&mut self) -> Parsed<Operand> {
        let condition = self.binary(LOOSEST)?;
        if self.accept(Tok::Question).is_none() {
            return Ok(condition);
        }
        let yes = self.nested(Self::conditional)?;
        self.expect(Tok::Colon)?;
        let no = self.nested(Self::conditional)?;
        let span = condition.expr.span.to(no.expr.span);
        let height = condition.height.max(yes.height).max(no.height);
        self.node(ExprKind::Conditional(condition.boxed(), yes.boxed(), no.boxed()), span, height)
    }

    /// Parses operators that bind at least as tightly as `loosest`.
    fn binary(&mut self, loosest: u8) -> Parsed<Operand> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = operator(self.tok()).filter(|(level, _)| *level >= loosest) {
            left = match operator {
                Operator::Chain(op) => self.chain(op, level, left)?,
                Operator::Left(op) => self.series(op, level, left)?,
                Operator::Right(op) => self.joined(op, left, level)?,
            };
        }
        Ok(left)
    }

    fn joined(&mut self, op: BinaryOp, left: Operand, loosest: u8) -> Parsed<Operand> {
        self.extended |=
            !matches!(op, BinaryOp::Equal | BinaryOp::Unequal | BinaryOp::Implies | BinaryOp::Iff);
        self.bump();
        let right = self.nested(|p| p.binary(loosest))?;
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height);
        self.node(ExprKind::Binary(op, left.boxed(), right.boxed()), span, height)
    }

    /// Parses the rest of `left + b - c`; the first operator is the current token.
    fn series(&mut self, op: BinaryOp, level: u8, left: Operand) -> Parsed<Operand> {
        let first = self.joined(op, left, level + 1)?;
        let mut height = first.height;
        let mut rest = Vec::new();
        while let Some((_, Operator::Left(op))) = operator(self.tok()).filter(|found| found.0 == level) {
            self.bump();
            let operand = self.nested(|p| p.binary(level + 1))?;
            height = height.max(operand.height + 1);
            rest.push((op, operand.expr));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let span = first.expr.span.to(self.previous.span);
        let ExprKind::Binary(op, a, b) = first.expr.kind else { unreachable!("two were joined") };
        rest.insert(0, (op, *b));
        self.node(ExprKind::Series(a, rest), span, height - 1)
    }

    /// Parses the rest of `left & b & c`; the operator is the current token.
    fn chain(&mut self, op: ChainOp, level: u8, left: Operand) -> Parsed<Operand> {
        let sign = self.tok();
        let start = left.expr.span;
        let mut height = 0;
        let mut doubt = None;
        let mut operands = Vec::new();
        let mut operand = left;
        loop {
            doubt = doubt.or_else(|| doubtful(op, &operand));
            height = height.max(operand.height);
            operands.push(operand.expr);
            if self.accept(sign).is_none() {
                break;
            }
            operand = self.nested(|p| p.binary(level + 1))?;
        }
        if let Some(warning) = doubt {
            self.warn(warning);
        }
        let span = start.to(self.previous.span);
        self.node(ExprKind::Chain(op, operands), span, height)
    }

    fn unary(&mut self) -> Parsed<Operand> {
        if let Some(minus) = self.accept(Tok::Minus) {
            self.extended = true;
            let operand = self.nested(Self::unary)?;
            let (span, height) = (minus.span.to(operand.expr.span), operand.height);
            let zero = Operand::leaf(ExprKind::Const(false), minus.span);
            return self.node(ExprKind::Binary(BinaryOp::Minus, zero.boxed(), operand.boxed()), span, height);
        }
        let Some(not) = self.accept(Tok::Not) else { return self.primary() };
        let operand = self.nested(Self::unary)?;
        let span = not.span.to(operand.expr.span);
        let height = operand.height;
        self.node(ExprKind::Not(operand.boxed()), span, height)
    }

    fn primary(&mut self) -> Parsed<Operand> {
        let span = self.span();
        let operand = match self.tok() {
            Tok::LParen => self.enclosed()?,
            Tok::Schoose => self.schoose()?,
            Tok::Prime => self.primed()?,
            Tok::Ident => self.plain_name()?,
            Tok::Star | Tok::Question => self.leaf(ExprKind::Any, span),
            Tok::True => self.leaf(ExprKind::Const(true), span),
            Tok::False => self.leaf(ExprKind::Const(false), span),
            Tok::Int => self.number()?,
            _ => return Err(self.not_an_expression()),
        };
        self.refuse_postfix_prime()?;
        Ok(operand)
    }

    fn leaf(&mut self, kind: ExprKind, span: Span) -> Operand {
        self.bump();
        Operand::leaf(kind, span)
    }

    fn enclosed(&mut self) -> Parsed<Operand> {
        let open = self.bump().span;
        let mut inner = self.nested(Self::conditional)?;
        let close = self.expect(Tok::RParen)?.span;
        inner.expr.span = open.to(close);
        Ok(Operand { enclosed: true, ..inner })
    }

    /// Parses `schoose[p, n]`.
    fn schoose(&mut self) -> Parsed<Operand> {
        let start = self.bump().span;
        self.expect(Tok::LBracket)?;
        let one = self.nested(Self::conditional)?;
        if !self.at(Tok::Comma) {
            return Err(self.wrong_schoose());
        }
        self.bump();
        let zero = self.nested(Self::conditional)?;
        if self.at(Tok::Comma) {
            return Err(self.wrong_schoose());
        }
        let span = start.to(self.expect(Tok::RBracket)?.span);
        let height = one.height.max(zero.height);
        self.node(ExprKind::Schoose(one.boxed(), zero.boxed()), span, height)
    }

    fn wrong_schoose(&mut self) -> Failed {
        if !matches!(self.tok(), Tok::Comma | Tok::RBracket) {
            return self.unexpected("`,`");
        }
        let error = Diagnostic::error("E115", self.span(), "`schoose` takes exactly two arguments");
        self.fail(error.hint("`schoose[p, n]` is 1 if p, else 0 if n, else either"))
    }

    fn primed(&mut self) -> Parsed<Operand> {
        let prime = self.bump().span;
        if !self.at(Tok::Ident) {
            let hint = "a prime stands before the name of a variable: `'x`".to_string();
            return Err(self.unexpected_hint("a name", Some(hint)));
        }
        let name = self.ident();
        self.element(name, true, prime)
    }

    fn plain_name(&mut self) -> Parsed<Operand> {
        if self.next_tok() == Tok::LParen {
            let error = Diagnostic::error("E114", self.span(), "a call is not an expression");
            return Err(self.fail(error.hint("assign the result to a variable first: `x := f(...)`")));
        }
        let name = self.ident();
        let start = name.span;
        self.element(name, false, start)
    }

    /// Parses the rest of a name: with an index after it, it is an element of an array.
    fn element(&mut self, name: Ident, primed: bool, start: Span) -> Parsed<Operand> {
        let span = start.to(name.span);
        let Ident { name, .. } = name;
        if self.accept(Tok::LBracket).is_none() {
            return Ok(Operand::leaf(ExprKind::Name { name, primed }, span));
        }
        self.extended = true;
        let index = self.nested(Self::conditional)?;
        let span = start.to(self.expect(Tok::RBracket)?.span);
        let height = index.height;
        self.node(ExprKind::Index { name, primed, index: index.boxed() }, span, height)
    }

    fn number(&mut self) -> Parsed<Operand> {
        let value = match self.word() {
            "0" => ExprKind::Const(false),
            "1" => ExprKind::Const(true),
            digits => {
                let Some(value) = digits.parse().ok().filter(|&n| n <= LARGEST) else {
                    let error = Diagnostic::error(
                        "E113",
                        self.span(),
                        format!("this number is larger than {LARGEST}"),
                    );
                    return Err(self.fail(error));
                };
                self.extended = true;
                match value {
                    0 => ExprKind::Const(false),
                    1 => ExprKind::Const(true),
                    n => ExprKind::Number(n),
                }
            }
        };
        Ok(self.leaf(value, self.span()))
    }

    fn not_an_expression(&mut self) -> Failed {
        if self.at(Tok::Junk) {
            return Failed;
        }
        let error = Diagnostic { code: "E111", ..self.unexpected_error("an expression") };
        let hint = match self.tok() {
            Tok::Underscore => Some("`_` discards a value; it has none".to_string()),
            tok if tok.is_reserved() => Some(format!("`{}` cannot be a name", self.word())),
            _ => None,
        };
        self.fail(Diagnostic { hint, ..error })
    }

    /// Refuses `x'` for the value after the step, which no dialect has.
    fn refuse_postfix_prime(&mut self) -> Parsed<()> {
        if !self.at(Tok::Prime) || self.span().start != self.previous.span.end {
            return Ok(());
        }
        Err(self.postfix_prime())
    }

    pub(super) fn postfix_prime(&mut self) -> Failed {
        let hint = match self.previous.tok {
            Tok::Ident => format!("write `'{}`", self.text_of(self.previous.span)),
            _ => "write a prime before each name".to_string(),
        };
        let error = Diagnostic::error("E112", self.span(), "a prime stands before the name, not after it");
        self.fail(error.hint(hint))
    }
}

/// Returns a warning if other tools would group this operand differently.
fn doubtful(op: ChainOp, operand: &Operand) -> Option<Diagnostic> {
    if operand.enclosed {
        return None;
    }
    let sign = match op {
        ChainOp::And => '&',
        ChainOp::Or => '|',
        ChainOp::Xor => '^',
    };
    let (code, inner) = match (&operand.expr.kind, op) {
        (ExprKind::Binary(BinaryOp::Equal, ..), _) => ("W101", "="),
        (ExprKind::Binary(BinaryOp::Unequal, ..), _) => ("W101", "!="),
        (ExprKind::Series(_, rest), _) if rest[0].0 == BinaryOp::Equal => ("W101", "="),
        (ExprKind::Series(_, rest), _) if rest[0].0 == BinaryOp::Unequal => ("W101", "!="),
        (ExprKind::Chain(ChainOp::Xor, _), ChainOp::Or) => ("W102", "^"),
        _ => return None,
    };
    let message =
        format!("`{inner}` next to `{sign}` without parentheses: other tools read this differently");
    let label = format!("read as one operand of `{sign}`");
    Some(Diagnostic::warning(code, operand.expr.span, message).label(label).hint("put it in parentheses"))
}
