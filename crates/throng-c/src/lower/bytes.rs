//! Functions on bytes and texts in memory, with one access at a time.

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::copies::{Chunk, MOST_PARTS, chunks};
use super::library::{BYTE, pointee};
use super::{Lower, Result, Value, unsupported};
use crate::library::special::Bytes;
use crate::types::Ty;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Int, PTR, Reg, object_of};

/// Maximum number of rounds of a loop that is written out, so that it is known which variables are
/// accessed.
const MOST_ROUNDS: i64 = 64;

/// What ends a comparison, beside a difference.
#[derive(Clone, PartialEq)]
struct Ends {
    /// Maximum number of bytes that are compared.
    most: Option<Expr>,
    /// A zero was compared.
    at_zero: bool,
}

/// What is copied one by one.
struct Elements {
    /// Bytes of each.
    size: i64,
    /// The parts of each, which cover every byte.
    parts: Vec<Chunk>,
}

impl<'a> Lower<'a> {
    /// Lowers a call of such a function; the result is its value.
    pub(super) fn byte_function(
        &mut self,
        function: Bytes,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Value>> {
        let short = name.strip_prefix("__builtin_").unwrap_or(name);
        Ok(Some(match function {
            Bytes::Set => {
                let (to, v) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let n = self.size_argument(args, 2, span)?;
                self.set_bytes(&to.expr, &v.expr, n);
                Value { ty: Ty::ptr(Ty::Void), ..to }
            }
            Bytes::Zero => {
                let (to, n) = (self.arg(args, 0, span)?, self.size_argument(args, 1, span)?);
                self.set_bytes(&to.expr, &Expr::Const(0), n);
                return Ok(None);
            }
            Bytes::Copy | Bytes::Move => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let n = self.size_argument(args, 2, span)?;
                self.copy_bytes(function, short, [&to, &from], n, span)?;
                Value { ty: Ty::ptr(Ty::Void), ..to }
            }
            Bytes::Compare { limited, at_zero } => {
                let (a, b) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let most = if limited { Some(self.size_argument(args, 2, span)?) } else { None };
                if !self.dry && [&a, &b].into_iter().any(|v| self.has_padding(v)) {
                    return unsupported(span, format!("`{short}` on structures with padding"));
                }
                self.compare_bytes(&a.expr, &b.expr, Ends { most, at_zero })
            }
            Bytes::Length => {
                let text = self.arg(args, 0, span)?;
                let (length, ty) = (self.length(&text.expr), self.size_type());
                Value { expr: Expr::cast(length, ty), ty: Ty::Int(ty) }
            }
            Bytes::Find => {
                let (text, c) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let found = self.find_byte(&text.expr, &Expr::cast(c.expr, BYTE));
                Value { expr: Expr::Reg(found), ty: text_type() }
            }
            Bytes::CopyText | Bytes::Append => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                let append = function == Bytes::Append;
                let length = if append { self.length(&to.expr) } else { Expr::Const(0) };
                let end = self.moved(&to.expr, &length);
                self.copy_text(&end, &from.expr);
                Value { ty: text_type(), ..to }
            }
            Bytes::Absolute => self.absolute(args, INT, span)?,
            Bytes::AbsoluteLong => self.absolute(args, self.long(), span)?,
            Bytes::AbsoluteLongLong => self.absolute(args, Int::new(8, true), span)?,
        }))
    }

    fn size_argument(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Expr> {
        let n = self.arg(args, i, span)?;
        let n = self.convert(n, &Ty::Int(PTR), span)?;
        Ok(self.kept(n).expr)
    }

    /// `for (i = 0; i < n; i++)`, with the offset of element i, each of `size` bytes, and where the
    /// loop ends. Without `n`, the body ends it.
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

    /// Returns the address a number of bytes behind another.
    pub(super) fn moved(&self, base: &Expr, by: &Expr) -> Expr {
        Expr::bin(BinOp::Add, base.clone(), by.clone(), PTR)
    }

    pub(super) fn set_bytes(&mut self, to: &Expr, v: &Expr, n: Expr) {
        let v = Expr::cast(v.clone(), BYTE);
        self.each(Some(n), 1, |s, at, _| s.store_as(Access::Plain, &s.moved(to, at), 0, v.clone(), BYTE));
    }

    /// Returns the number of bytes before a zero.
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

    /// Returns the address of the first byte of this value, or null if a zero comes first.
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

    /// Returns which of two byte sequences is larger: -1, 0 or 1.
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

    fn absolute(&mut self, args: Args<'a>, at: Int, span: Span) -> Result<Value> {
        let v = self.arg(args, 0, span)?;
        let v = self.convert(v, &Ty::Int(at), span)?;
        let (result, negative, end) = (self.register(at, None), self.label(), self.label());
        self.emit(Instr::Let(result, v.expr));
        let is = Expr::bin(BinOp::Lt, Expr::Reg(result), Expr::Const(0), at);
        self.emit(Instr::Branch(is, negative, end));
        self.place_label(negative);
        self.emit(Instr::Let(result, Expr::bin(BinOp::Sub, Expr::Const(0), Expr::Reg(result), at)));
        self.place_label(end);
        Ok(Value { expr: Expr::Reg(result), ty: Ty::Int(at) })
    }

    fn copy_bytes(
        &mut self,
        function: Bytes,
        name: &str,
        [to, from]: [&Value; 2],
        n: Expr,
        span: Span,
    ) -> Result<()> {
        if self.dry {
            return Ok(());
        }
        let elements = self.elements(to, from, span)?;
        let (to, from) = (&to.expr, &from.expr);
        let (forward, backward, end) = (self.label(), self.label(), self.label());
        let distance = Expr::bin(BinOp::Sub, to.clone(), from.clone(), PTR);
        // Unsigned: small only if the target begins inside the source.
        let apart = matches!((to, from), (Expr::Const(a), Expr::Const(b)) if object_of(*a) != object_of(*b));
        match Expr::bin(BinOp::Lt, distance, n.clone(), PTR) {
            _ if apart => self.emit(Instr::Jump(forward)),
            Expr::Const(0) => self.emit(Instr::Jump(forward)),
            overlaps => self.emit(Instr::Branch(overlaps, backward, forward)),
        }
        self.place_label(backward);
        if function == Bytes::Copy {
            self.emit(Instr::Unmodelled(format!("`{name}` between objects that overlap")));
        } else {
            self.copy_elements(to, from, &n, &elements, true);
            self.emit(Instr::Jump(end));
        }
        self.place_label(forward);
        self.copy_elements(to, from, &n, &elements, false);
        self.place_label(end);
        Ok(())
    }

    /// Returns what is copied: elements of the type that the pointers point to, with all their
    /// bytes; single bytes, if that is not known.
    fn elements(&self, to: &Value, from: &Value, span: Span) -> Result<Elements> {
        let is_specific = |t: &&Ty| {
            !matches!(t, Ty::Void | Ty::Func(_) | Ty::Int(Int { size: 1, .. }))
                && t.layout(&self.structs).is_some_and(|l| l.0 > 0)
        };
        let specific = |v: &Value| pointee(v).filter(is_specific).cloned();
        let element = match (specific(to), specific(from)) {
            (Some(a), Some(b)) if !self.same_type(a.plain(), b.plain()) => {
                let sizes = [&a, &b].map(|t| t.layout(&self.structs));
                let numbers = a.scalar().is_some() && b.scalar().is_some();
                if numbers && sizes[0] == sizes[1] { a } else { Ty::Int(BYTE) }
            }
            (a, b) => a.or(b).unwrap_or(Ty::Int(BYTE)),
        };
        Ok(match chunks(&element, &self.structs, true, MOST_PARTS) {
            Some(parts) => Elements { size: self.size_of(&element, span)? as i64, parts },
            None => Elements { size: 1, parts: vec![(0, BYTE)] },
        })
    }

    /// Copies `n` bytes: by elements if they are a number of these, else one by one.
    fn copy_elements(&mut self, to: &Expr, from: &Expr, n: &Expr, elements: &Elements, backward: bool) {
        let bytes = Elements { size: 1, parts: vec![(0, BYTE)] };
        let size = Expr::Const(elements.size);
        match Expr::bin(BinOp::Rem, n.clone(), size, PTR) {
            _ if elements.size == 1 => self.copy_whole(to, from, n, &bytes, backward),
            Expr::Const(0) => self.copy_whole(to, from, n, elements, backward),
            Expr::Const(_) => self.copy_whole(to, from, n, &bytes, backward),
            rest => {
                let (whole, odd, end) = (self.label(), self.label(), self.label());
                self.emit(Instr::Branch(Expr::is_zero(rest), whole, odd));
                self.place_label(odd);
                self.copy_whole(to, from, n, &bytes, backward);
                self.emit(Instr::Jump(end));
                self.place_label(whole);
                self.copy_whole(to, from, n, elements, backward);
                self.place_label(end);
            }
        }
    }

    fn copy_whole(&mut self, to: &Expr, from: &Expr, n: &Expr, elements: &Elements, backward: bool) {
        let size = Expr::Const(elements.size);
        let count = Expr::bin(BinOp::Div, n.clone(), size.clone(), PTR);
        let last = Expr::bin(BinOp::Sub, n.clone(), size, PTR);
        let mut parts = elements.parts.clone();
        if backward {
            parts.reverse();
        }
        self.each(Some(count), elements.size, |s, at, _| {
            let at = if backward { Expr::bin(BinOp::Sub, last.clone(), at.clone(), PTR) } else { at.clone() };
            for &part in &parts {
                s.copy_part(&s.moved(to, &at), &s.moved(from, &at), part);
            }
        });
    }

    /// Returns whether a pointer points to structures of which some bytes belong to no member.
    fn has_padding(&self, v: &Value) -> bool {
        let Some(t @ Ty::Struct(_)) = pointee(v) else { return false };
        let mut parts = Vec::new();
        let known = t.parts(&self.structs, 0, "", &mut parts);
        !known || t.layout(&self.structs).is_none_or(|(size, _)| !is_dense(size as i64, &parts))
    }
}

/// Returns the type of texts, `char *`.
fn text_type() -> Ty {
    Ty::ptr(Ty::Int(Int::new(1, true)))
}

/// Returns whether parts cover every byte; those of a union lie over one another.
fn is_dense(size: i64, parts: &[(u32, Int, String)]) -> bool {
    let bytes = parts.iter().flat_map(|p| p.0..p.0 + u32::from(p.1.size));
    bytes.collect::<std::collections::BTreeSet<u32>>().len() as i64 == size
}
