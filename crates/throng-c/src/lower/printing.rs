//! `sprintf` and its like, with formats that are string literals: each piece of the format is
//! written by a function of the library that is written in C (`library/print.c`).

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::library::BYTE;
use super::{Lower, Result, Value, unsupported, wrong};
use crate::library::format::{Amount, Field, Length, Piece, pieces};
use crate::library::special::Print;
use crate::types::{Ty, promote};
use throng_goto::program::{Access, BinOp, Expr, INT, Int, PTR};

/// Where text is written.
struct Target {
    to: Value,
    /// For how many bytes there is room; -1: for all.
    room: Value,
    /// The number of characters before the next one.
    at: Value,
}

impl<'a> Lower<'a> {
    /// Lowers a call of `sprintf` or its like; the value is the number of characters.
    pub(super) fn print(
        &mut self,
        what: Print,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Value>> {
        let mut values = Vec::new();
        for e in args {
            let v = self.value(e)?;
            values.push(self.kept(v));
        }
        if self.dry {
            return Ok(Self::int_value(Expr::SelfId));
        }
        let Some((fixed, more)) = values.split_at_checked(what.format + 1) else {
            return wrong(span, "an argument is missing");
        };
        let Some(format) = self.literal(&fixed[what.format].expr) else {
            return unsupported(span, format!("`{name}` with a format that is not a string literal"));
        };
        let pieces = match pieces(&format) {
            Ok(pieces) => pieces,
            Err(conversion) => return unsupported(span, format!("{conversion} in a format of `{name}`")),
        };
        let to = self.convert(fixed[0].clone(), &Ty::ptr(Ty::Int(Int::new(1, true))), span)?;
        let room = what.room.map_or(number(-1), |n| fixed[n].clone());
        let at = Value { expr: Expr::Const(0), ty: Ty::Int(PTR) };
        let mut target = Target { to: self.kept(to), room, at };
        let mut more = more.iter();
        for piece in &pieces {
            match piece {
                Piece::Text(text) => self.print_text(&mut target, text, span)?,
                Piece::Field(field) => self.print_field(&mut target, field, name, &mut more, span)?,
            }
        }
        self.print_with(&mut target, "__throng_put_end", Vec::new(), span)?;
        let length = self.convert(target.at, &Ty::Int(INT), span)?;
        Ok(Some(self.kept(length)))
    }

    fn print_text(&mut self, target: &mut Target, text: &[u8], span: Span) -> Result<()> {
        if target.room.expr != Expr::Const(-1) {
            for &b in text {
                let c = number(i64::from(b as i8));
                self.print_with(target, "__throng_put", vec![c], span)?;
            }
            return Ok(());
        }
        let to = self.moved(&target.to.expr, &target.at.expr);
        for (i, &b) in text.iter().enumerate() {
            self.store_as(Access::Plain, &to, i as i64, Expr::Const(i64::from(b)), BYTE);
        }
        let at = Expr::bin(BinOp::Add, target.at.expr.clone(), Expr::Const(text.len() as i64), PTR);
        target.at = self.kept(Value { expr: at, ty: Ty::Int(PTR) });
        Ok(())
    }

    fn print_field<'v>(
        &mut self,
        target: &mut Target,
        field: &Field,
        name: &str,
        values: &mut impl Iterator<Item = &'v Value>,
        span: Span,
    ) -> Result<()> {
        let mut amount = |s: &mut Self, amount, without| match amount {
            Amount::None => Ok(number(without)),
            Amount::Number(n) => Ok(number(i64::from(n))),
            Amount::Argument => s.printed(values.next(), Length::Int, name, span),
        };
        let width = amount(self, field.width, 0)?;
        let precision = amount(self, field.precision, -1)?;
        let value = values.next();
        let (left, zero) = (number(field.left.into()), number(field.zero.into()));
        if field.letter == b's' {
            let Some(text) = value.filter(|v| matches!(v.ty.plain(), Ty::Ptr(_))) else {
                return unsupported(span, format!("`{name}` with arguments of other types than its format"));
            };
            let text = vec![text.clone(), width, precision, left];
            return self.print_with(target, "__throng_put_text", text, span);
        }
        let v = self.printed(value, field.length, name, span)?;
        if field.letter == b'c' {
            return self.print_with(target, "__throng_put_char", vec![v, width, left], span);
        }
        let size = match field.length {
            Length::Char => 1,
            Length::Short => 2,
            Length::Int => 4,
            Length::Long => self.long().size,
            Length::LongLong => 8,
        };
        let v = self.convert(v, &Ty::Int(Int::new(size, field.letter == b'd')), span)?;
        if field.letter == b'd' {
            let given = vec![v, number(field.sign.into()), width, precision, left, zero];
            return self.print_with(target, "__throng_put_signed", given, span);
        }
        let (base, ten) = match field.letter {
            b'o' => (8, b'a'),
            b'x' => (16, b'a'),
            b'X' => (16, b'A'),
            _ => (10, b'a'),
        };
        let alternate = number(field.alternate.into());
        let given =
            vec![v, number(0), number(base), number(ten.into()), alternate, width, precision, left, zero];
        self.print_with(target, "__throng_put_number", given, span)
    }

    /// Returns an argument that has to be a number of this length: C leaves others undefined.
    fn printed(&mut self, v: Option<&Value>, length: Length, name: &str, span: Span) -> Result<Value> {
        let expected = match length {
            Length::Long => self.long().size,
            Length::LongLong => 8,
            _ => 4,
        };
        let integer = v.and_then(|v| match v.ty.plain() {
            Ty::Int(i) | Ty::Narrow(i, _) => Some((v, promote(*i))),
            _ => None,
        });
        match integer.filter(|(_, i)| i.size == expected) {
            Some((v, i)) => self.convert(v.clone(), &Ty::Int(i), span),
            None => unsupported(span, format!("`{name}` with arguments of other types than its format")),
        }
    }

    /// Calls a function of `library/print.c`, which returns the next position, if anything.
    fn print_with(
        &mut self,
        target: &mut Target,
        function: &str,
        more: Vec<Value>,
        span: Span,
    ) -> Result<()> {
        let Some(function) = self.prelude_function(function) else {
            return unsupported(span, format!("`{function}`"));
        };
        let ty = self.definitions[&function].ty.clone();
        let mut given = vec![target.to.clone(), target.room.clone(), target.at.clone()];
        given.extend(more);
        if let Some(at) = self.prelude_call(&function, &ty, given, span)? {
            target.at = self.kept(at);
        }
        Ok(())
    }
}

fn number(n: i64) -> Value {
    Value { expr: Expr::Const(n), ty: Ty::int() }
}
