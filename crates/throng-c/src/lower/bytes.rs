//! Functions on bytes and texts in memory, with one access at a time.

use lang_c::span::Span;

use super::builtins::Args;
use super::library::{BYTE, pointee};
use super::{Lower, Result, Value, unsupported};
use crate::goto::{Access, BinOp, Expr, INT, Instr, Int, PTR, Reg};
use crate::types::Ty;

/// Loops of at most so many rounds are written out: then it is known which variables are accessed.
const MOST_ROUNDS: i64 = 64;

/// What ends a comparison, beside a difference.
#[derive(Clone, PartialEq)]
struct Ends {
    /// So many bytes were compared.
    most: Option<Expr>,
    /// A zero was compared.
    at_zero: bool,
}

impl<'a> Lower<'a> {
    /// A call of such a function: `Some(result)`.
    pub(super) fn byte_function(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let short = name.strip_prefix("__builtin_").unwrap_or(name);
        let result = match short {
            "memset" => {
                let (to, v, n) =
                    (self.arg(args, 0, span)?, self.arg(args, 1, span)?, self.size_argument(args, 2, span)?);
                self.set_bytes(&to.expr, &v.expr, n);
                to
            }
            "bzero" => {
                let (to, n) = (self.arg(args, 0, span)?, self.size_argument(args, 1, span)?);
                self.set_bytes(&to.expr, &Expr::Const(0), n);
                return Ok(Some(None));
            }
            "memcpy" | "memmove" => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let n = self.size_argument(args, 2, span)?;
                self.copy_bytes(short, &to, &from, n, span)?;
                to
            }
            "memcmp" | "bcmp" | "strcmp" | "strncmp" => {
                let (a, b) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let limited = short != "strcmp";
                let most = if limited { Some(self.size_argument(args, 2, span)?) } else { None };
                if !self.dry && [&a, &b].into_iter().any(|v| self.has_padding(v)) {
                    return unsupported(span, format!("`{name}` on structures with padding"));
                }
                self.compare_bytes(&a.expr, &b.expr, Ends { most, at_zero: short.starts_with("str") })
            }
            "strlen" => {
                let text = self.arg(args, 0, span)?;
                let length = self.length(&text.expr);
                Value { expr: Expr::cast(length, self.size_type()), ty: Ty::Int(self.size_type()) }
            }
            "strchr" => {
                let (text, c) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let c = Expr::cast(c.expr, BYTE);
                Value {
                    expr: Expr::Reg(self.find_byte(&text.expr, &c)),
                    ty: Ty::ptr(Ty::Int(Int::new(1, true))),
                }
            }
            "strcpy" => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                self.copy_text(&to.expr, &from.expr);
                to
            }
            "strcat" => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let length = self.length(&to.expr);
                let end = self.moved(&to.expr, &length);
                self.copy_text(&end, &from.expr);
                to
            }
            "abs" | "labs" | "llabs" => {
                let ty = match short {
                    "abs" => INT,
                    "labs" => self.long(),
                    _ => Int::new(8, true),
                };
                let v = self.arg(args, 0, span)?;
                let v = self.convert(v, &Ty::Int(ty), span)?;
                Value { expr: Expr::Reg(self.absolute(v.expr, ty)), ty: Ty::Int(ty) }
            }
            _ => return Ok(None),
        };
        Ok(Some(Some(result)))
    }

    fn size_argument(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Expr> {
        let n = self.arg(args, i, span)?;
        let n = self.convert(n, &Ty::Int(PTR), span)?;
        Ok(self.kept(n).expr)
    }

    /// `for (i = 0; i < n; i++)`, with the offset of element i, each of `size` bytes, and where the loop ends. Without `n`, the body ends it.
    pub(super) fn each(
        &mut self,
        n: Option<Expr>,
        size: i64,
        mut body: impl FnMut(&mut Self, &Expr, usize),
    ) -> Expr {
        let end = self.label();
        if let Some(Expr::Const(n @ 0..=MOST_ROUNDS)) = n {
            (0..n).for_each(|i| body(self, &Expr::Const(i * size), end));
            self.place_label(end);
            return Expr::Const(n);
        }
        let (i, head) = (self.register(PTR, None), self.label());
        self.emit(Instr::Let(i, Expr::Const(0)));
        self.place_label(head);
        if let Some(n) = n {
            self.leave_unless(Expr::bin(BinOp::Lt, Expr::Reg(i), n, PTR), end);
        }
        body(self, &Expr::bin(BinOp::Mul, Expr::Reg(i), Expr::Const(size), PTR), end);
        self.emit(Instr::Let(i, Expr::bin(BinOp::Add, Expr::Reg(i), Expr::Const(1), PTR)));
        self.emit(Instr::Jump(head));
        self.place_label(end);
        Expr::Reg(i)
    }

    /// Goes to a label unless a value is other than 0.
    pub(super) fn leave_unless(&mut self, condition: Expr, to: usize) {
        let on = self.label();
        self.emit(Instr::Branch(condition, on, to));
        self.place_label(on);
    }

    /// The address so many bytes behind another.
    pub(super) fn moved(&self, base: &Expr, by: &Expr) -> Expr {
        Expr::bin(BinOp::Add, base.clone(), by.clone(), PTR)
    }

    pub(super) fn set_bytes(&mut self, to: &Expr, v: &Expr, n: Expr) {
        let v = Expr::cast(v.clone(), BYTE);
        self.each(Some(n), 1, |s, at, _| s.store_as(Access::Plain, &s.moved(to, at), 0, v.clone(), BYTE));
    }

    /// The number of bytes before a zero.
    fn length(&mut self, text: &Expr) -> Expr {
        self.each(None, 1, |s, at, end| {
            let c = s.load_as(Access::Plain, &s.moved(text, at), 0, BYTE);
            s.leave_unless(c, end);
        })
    }

    /// Copies bytes up to and including a zero.
    fn copy_text(&mut self, to: &Expr, from: &Expr) {
        self.each(None, 1, |s, at, end| {
            let c = s.load_as(Access::Plain, &s.moved(from, at), 0, BYTE);
            s.store_as(Access::Plain, &s.moved(to, at), 0, c.clone(), BYTE);
            s.leave_unless(c, end);
        });
    }

    /// The address of the first byte of this value, or null if a zero comes first.
    fn find_byte(&mut self, text: &Expr, c: &Expr) -> Reg {
        let (result, end) = (self.register(PTR, None), self.label());
        self.each(None, 1, |s, at, none| {
            let here = s.moved(text, at);
            let byte = s.load_as(Access::Plain, &here, 0, BYTE);
            let (is, is_not) = (s.label(), s.label());
            s.emit(Instr::Branch(Expr::bin(BinOp::Eq, byte.clone(), c.clone(), BYTE), is, is_not));
            s.place_label(is);
            s.emit(Instr::Let(result, here));
            s.emit(Instr::Jump(end));
            s.place_label(is_not);
            s.leave_unless(byte, none);
        });
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        result
    }

    /// Which of two byte sequences is larger: -1, 0 or 1.
    fn compare_bytes(&mut self, a: &Expr, b: &Expr, ends: Ends) -> Value {
        self.assume("`strcmp` and its like return -1, 0 or 1");
        let (result, done) = (self.register(INT, None), self.label());
        self.each(ends.most, 1, |s, at, end| {
            let x = s.load_as(Access::Plain, &s.moved(a, at), 0, BYTE);
            let y = s.load_as(Access::Plain, &s.moved(b, at), 0, BYTE);
            let (same, other) = (s.label(), s.label());
            s.emit(Instr::Branch(Expr::bin(BinOp::Eq, x.clone(), y.clone(), BYTE), same, other));
            s.place_label(other);
            let less = Expr::bin(BinOp::Lt, x.clone(), y, BYTE);
            let doubled = Expr::bin(BinOp::Mul, less, Expr::Const(2), INT);
            s.emit(Instr::Let(result, Expr::bin(BinOp::Sub, Expr::Const(1), doubled, INT)));
            s.emit(Instr::Jump(done));
            s.place_label(same);
            if ends.at_zero {
                s.leave_unless(x, end);
            }
        });
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(done);
        Value { expr: Expr::Reg(result), ty: Ty::int() }
    }

    fn absolute(&mut self, v: Expr, at: Int) -> Reg {
        let (result, negative, end) = (self.register(at, None), self.label(), self.label());
        self.emit(Instr::Let(result, v));
        let is = Expr::bin(BinOp::Lt, Expr::Reg(result), Expr::Const(0), at);
        self.emit(Instr::Branch(is, negative, end));
        self.place_label(negative);
        self.emit(Instr::Let(result, Expr::bin(BinOp::Sub, Expr::Const(0), Expr::Reg(result), at)));
        self.place_label(end);
        result
    }

    /// Copies the parts of elements of the type that one of the pointers points to; of bytes, if neither says more.
    fn copy_bytes(&mut self, name: &str, to: &Value, from: &Value, n: Expr, span: Span) -> Result<()> {
        if self.dry {
            return Ok(());
        }
        let specific =
            |v: &Value| pointee(v).filter(|t| !matches!(t, Ty::Void | Ty::Int(Int { size: 1, .. }))).cloned();
        let element = match (specific(to), specific(from)) {
            (Some(a), Some(b)) if a != b => {
                return unsupported(span, format!("`{name}` between objects of different types"));
            }
            (a, b) => a.or(b).unwrap_or(Ty::Int(BYTE)),
        };
        let size = self.size_of(&element, span)? as i64;
        let mut parts = Vec::new();
        if !element.parts(&self.structs, 0, "", &mut parts) || !is_dense(size, &parts) {
            return unsupported(
                span,
                format!("`{name}` of structures with padding or floating-point numbers"),
            );
        }
        self.whole_elements(name, &n, size);
        let count = Expr::bin(BinOp::Div, n.clone(), Expr::Const(size), PTR);
        let parts: Vec<(i64, Int)> = parts.iter().map(|p| (i64::from(p.0), p.1)).collect();
        let (to, from) = (to.expr.clone(), from.expr.clone());
        let (forward, backward, end) = (self.label(), self.label(), self.label());
        let distance = Expr::bin(BinOp::Sub, to.clone(), from.clone(), PTR);
        // Unsigned: small only if the target begins inside the source.
        match Expr::bin(BinOp::Lt, distance, n, PTR) {
            Expr::Const(0) => self.emit(Instr::Jump(forward)),
            overlaps => self.emit(Instr::Branch(overlaps, backward, forward)),
        }
        self.place_label(backward);
        if name == "memcpy" {
            self.emit(Instr::Unmodelled("`memcpy` between objects that overlap".into()));
        } else {
            self.copy_elements(&to, &from, &count, size, &parts, true);
            self.emit(Instr::Jump(end));
        }
        self.place_label(forward);
        self.copy_elements(&to, &from, &count, size, &parts, false);
        self.place_label(end);
        Ok(())
    }

    /// What follows is not modelled if `n` bytes are not a number of elements.
    fn whole_elements(&mut self, name: &str, n: &Expr, size: i64) {
        let (whole, odd) = (self.label(), self.label());
        let rest = Expr::bin(BinOp::Rem, n.clone(), Expr::Const(size), PTR);
        if rest != Expr::Const(0) && size > 1 {
            self.emit(Instr::Branch(Expr::is_zero(rest), whole, odd));
            self.place_label(odd);
            self.emit(Instr::Unmodelled(format!("`{name}` of a part of an object")));
            self.place_label(whole);
        }
    }

    fn copy_elements(
        &mut self,
        to: &Expr,
        from: &Expr,
        count: &Expr,
        size: i64,
        parts: &[(i64, Int)],
        backward: bool,
    ) {
        let last = Expr::bin(BinOp::Sub, count.clone(), Expr::Const(1), PTR);
        let last = Expr::bin(BinOp::Mul, last, Expr::Const(size), PTR);
        self.each(Some(count.clone()), size, |s, at, _| {
            let at = if backward { Expr::bin(BinOp::Sub, last.clone(), at.clone(), PTR) } else { at.clone() };
            for &(offset, part) in parts {
                let v = s.load_as(Access::Plain, &s.moved(from, &at), offset, part);
                s.store_as(Access::Plain, &s.moved(to, &at), offset, v, part);
            }
        });
    }

    /// Whether a pointer points to structures of which some bytes belong to no member.
    fn has_padding(&self, v: &Value) -> bool {
        let Some(t @ Ty::Struct(_)) = pointee(v) else { return false };
        let mut parts = Vec::new();
        let known = t.parts(&self.structs, 0, "", &mut parts);
        !known || t.layout(&self.structs).is_none_or(|(size, _)| !is_dense(size as i64, &parts))
    }
}

/// Whether parts cover every byte.
fn is_dense(size: i64, parts: &[(u32, Int, String)]) -> bool {
    parts.iter().map(|p| i64::from(p.1.size)).sum::<i64>() == size
}
