//! Calls of functions of the library that are known by what they read and return.

use std::rc::Rc;

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::{Lower, Result, Value, unsupported};
use crate::library::format::{Conversion, Precision, conversions};
use crate::library::special::Scan;
use crate::library::{Returns, Use, known};
use crate::types::{Func, Ty};
use throng_goto::program::{
    Access, BinOp, Doubt, Expr, FUNCTION, INT, Instr, Int, PTR, Reg, address, object_of,
};

impl<'a> Lower<'a> {
    /// Lowers a call of a function that the table of the library describes; `None` if it does not,
    /// or if the function may write here.
    pub(super) fn known_call(
        &mut self,
        name: &str,
        ty: &Rc<Func>,
        arguments: &[Value],
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let Some(function) = known(name) else { return Ok(None) };
        let unmodelled = |(what, v): (&Use, &Value)| match what {
            _ if v.expr == Expr::Const(0) => false,
            Use::Null => true,
            Use::Writes => self.parts_behind(v).is_empty(),
            _ => false,
        };
        if function.arguments.iter().zip(arguments).any(unmodelled) {
            return Ok(None);
        }
        let arguments: Vec<Value> = arguments.iter().map(|v| self.kept(v.clone())).collect();
        for (i, &what) in function.arguments.iter().enumerate().take(arguments.len()) {
            match what {
                Use::Writes => self.write_something(&arguments[i], name),
                what => self.use_argument(what, &arguments, i, span)?,
            }
        }
        self.any_result(ty, span, |s, r| match function.returns {
            Returns::Between(least, most) => s.any_between(r, least, most),
            Returns::Something => s.emit_doubtful(r, Doubt::Result(name.into())),
            Returns::Perhaps => s.emit_doubtful(r, Doubt::Returns(name.into())),
        })
        .map(Some)
    }

    fn use_argument(&mut self, what: Use, arguments: &[Value], i: usize, span: Span) -> Result<()> {
        let v = &arguments[i];
        match what {
            Use::Value | Use::Null | Use::Writes => {}
            Use::Text => self.read_text(&v.expr, None),
            Use::Object => self.read_object(v),
            Use::Format => self.read_format(v, &arguments[i + 1..], span)?,
            Use::Bytes(factors) => {
                let factors = factors.iter().filter_map(|&n| arguments.get(n));
                let mut n = Expr::Const(1);
                for factor in factors {
                    let factor = self.convert(factor.clone(), &Ty::Int(PTR), span)?.expr;
                    n = Expr::bin(BinOp::Mul, n, factor, PTR);
                }
                self.each(Some(n), 1, |s, at, _| {
                    _ = s.load_as(Access::Plain, &s.moved(&v.expr, at), 0, BYTE)
                });
            }
        }
        Ok(())
    }

    /// Reads bytes up to a zero, or up to a number of them. What a literal holds never changes.
    fn read_text(&mut self, text: &Expr, most: Option<Expr>) {
        if self.literal(text).is_none() {
            self.each(most, 1, |s, at, end| {
                let c = s.load_as(Access::Plain, &s.moved(text, at), 0, BYTE);
                s.leave_unless(c, end);
            });
        }
    }

    /// Reads the parts of what a pointer points to.
    fn read_object(&mut self, v: &Value) {
        for (offset, at) in self.parts_behind(v) {
            self.load_as(Access::Plain, &v.expr, offset, at);
        }
    }

    /// Writes some value to each part of what a pointer points to, unless it is null.
    fn write_something(&mut self, v: &Value, function: &str) {
        let end = self.label();
        if v.expr != Expr::Const(0) {
            if !matches!(v.expr, Expr::Const(_)) {
                self.leave_unless(v.expr.clone(), end);
            }
            for (offset, at) in self.parts_behind(v) {
                let r = self.register(at, None);
                self.emit_doubtful(r, Doubt::Result(function.into()));
                self.store_as(Access::Plain, &v.expr, offset, Expr::Reg(r), at);
            }
        }
        self.place_label(end);
    }

    /// Returns the parts of what a pointer points to: where, and of which type. None if they are
    /// not known.
    fn parts_behind(&self, v: &Value) -> Vec<(i64, Int)> {
        let mut parts = Vec::new();
        let known = pointee(v).is_some_and(|t| t.parts(&self.structs, 0, "", &mut parts));
        parts.into_iter().filter(|_| known).map(|(offset, at, _)| (i64::from(offset), at)).collect()
    }

    /// Reads a format of `printf`, and the texts among the arguments behind it.
    fn read_format(&mut self, format: &Value, arguments: &[Value], span: Span) -> Result<()> {
        let Some(literal) = self.literal(&format.expr) else {
            if arguments.is_empty() {
                self.read_text(&format.expr, None);
                return Ok(());
            }
            return unsupported(span, "a format that is not a string literal");
        };
        let mut arguments = arguments.iter();
        for conversion in conversions(&literal) {
            if conversion.star {
                arguments.next();
            }
            let most = match conversion.precision {
                Precision::None => None,
                Precision::Most(n) => Some(Expr::Const(n as i64)),
                Precision::Argument => arguments.next().map(|v| v.expr.clone()),
            };
            match (conversion.letter, arguments.next()) {
                (b'n', _) => return unsupported(span, "`%n` in a format"),
                (b's', Some(text)) => self.read_text(&text.expr, most),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the text of a string literal, by its address.
    fn literal(&self, e: &Expr) -> Option<Vec<u8>> {
        let Expr::Const(a) = e else { return None };
        let object = self.program.objects.get(usize::try_from(object_of(*a)).ok()?.checked_sub(1)?)?;
        let mut bytes: Vec<u8> = object.init.iter().map(|&b| b as u8).collect();
        let is_literal = self.strings.get(&bytes) == Some(a);
        bytes.pop();
        is_literal.then_some(bytes)
    }

    /// `r = any value` from one to another.
    pub(super) fn any_between(&mut self, r: Reg, least: i64, most: i64) {
        let at = self.current.template.registers[r as usize];
        let none = self.label();
        self.emit(Instr::Any(r));
        self.leave_unless(Expr::bin(BinOp::Le, Expr::Const(least), Expr::Reg(r), at), none);
        let (some, is) = (self.label(), Expr::bin(BinOp::Le, Expr::Reg(r), Expr::Const(most), at));
        self.emit(Instr::Branch(is, some, none));
        self.place_label(none);
        self.emit(Instr::Assume(Expr::Const(0)));
        self.place_label(some);
    }

    /// Lowers `scanf` and its like: a number of conversions, and values for as many integers.
    pub(super) fn scan(&mut self, source: Scan, args: Args<'a>, span: Span) -> Result<Option<Value>> {
        match source {
            Scan::Input => {}
            Scan::Stream => _ = self.arg(args, 0, span)?,
            Scan::Text => {
                let text = self.arg(args, 0, span)?;
                self.read_text(&text.expr, None);
            }
        }
        let to = self.scan_targets(source.format(), args, span)?;
        let done = self.register(INT, None);
        self.any_between(done, -1, to.len() as i64);
        let end = self.label();
        for (i, (a, at)) in to.into_iter().enumerate() {
            self.leave_unless(Expr::bin(BinOp::Lt, Expr::Const(i as i64), Expr::Reg(done), INT), end);
            let r = self.register(at, None);
            self.emit(Instr::Any(r));
            self.emit(Instr::Store(a, Expr::Reg(r), at));
        }
        self.place_label(end);
        Ok(Self::int_value(Expr::Reg(done)))
    }

    /// Returns the integers that a format of `scanf` assigns to: where, and of which type.
    fn scan_targets(&mut self, format: usize, args: Args<'a>, span: Span) -> Result<Vec<(Expr, Int)>> {
        let at = self.arg(args, format, span)?.expr;
        let Some(literal) = self.literal(&at).or(self.dry.then(Vec::new)) else {
            return unsupported(span, "a format that is not a string literal");
        };
        let assigned = conversions(&literal).into_iter().filter(|c| !c.star);
        let target = |(i, c): (usize, Conversion)| {
            let v = self.arg(args, format + 1 + i, span)?;
            match pointee(&v).and_then(Ty::scalar).filter(|_| !b"sc[nS".contains(&c.letter)) {
                Some(at) => Ok((v.expr, at)),
                None => unsupported(span, "input that is not an integer"),
            }
        };
        assigned.enumerate().map(target).collect()
    }

    /// Returns the initial bytes of a standard stream: an address at which there is nothing.
    pub(super) fn stream(&mut self, name: &str) -> Option<Vec<u16>> {
        let is_one = matches!(name, "stdin" | "stdout" | "stderr");
        let a = is_one.then(|| address(FUNCTION + self.function_number(name), 0));
        a.map(|a| a.to_le_bytes().map(u16::from).to_vec())
    }
}

/// Returns what an argument points to.
pub(super) fn pointee(v: &Value) -> Option<&Ty> {
    match v.ty.plain() {
        Ty::Ptr(t) => Some(t.plain()),
        _ => None,
    }
}

/// `unsigned char`
pub(super) const BYTE: Int = Int::new(1, false);
