//! `memcpy`, `memmove`, `memset`, for numbers of bytes that are known or computed.
//!
//! Bytes without a value stay so. The parts that are copied at once are those as which the two
//! variables are accessed elsewhere, so that a number is not taken apart.

use super::function::Writer;
use super::memory::moved;
use super::{Problem, Result};
use crate::syntax::tree::{Argument, Type, Value};
use throng_goto::program::{BOOL, BinOp, Expr, Instr, Int, PTR, PointerUse};

/// Maximum number of parts that are copied one by one; beyond, a loop copies them.
const MOST_PARTS: u64 = 64;

/// A part: its offset and its size.
type Part = (i64, u8);

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Lowers a call that copies bytes; where the two may overlap, by way of a variable.
    pub(crate) fn copy_bytes(&mut self, arguments: &[Argument<'t>], may_overlap: bool) -> Result<()> {
        let [to, from, length, ..] = arguments else {
            return Err(Problem::new("E853", "a copy without a length"));
        };
        let align = part_size(to.align.min(from.align));
        let shape = self.shape(&to.value).or_else(|| self.shape(&from.value));
        let (a, b) = (self.scalar(&Type::Pointer, &to.value)?, self.scalar(&Type::Pointer, &from.value)?);
        let length = self.scalar(&length.ty, &length.value)?;
        match length {
            Expr::Const(n @ 0..) => {
                let n = n as u64;
                let parts = parts(n, align, shape.as_deref());
                let (a, b) = (self.keep_address(a), self.keep_address(b));
                match parts.filter(|p| p.len() as u64 <= MOST_PARTS) {
                    Some(parts) if may_overlap && parts.len() > 1 => self.copy_over(&a, &b, n, &parts),
                    Some(parts) => parts.iter().for_each(|&p| self.copy_part(&a, &b, p)),
                    None if may_overlap => self.copy_either_way(a, b, Expr::Const(n as i64)),
                    None => self.copy_loop(&a, &b, Expr::Const(n as i64), align),
                }
            }
            length => {
                let (a, b, length) = (self.keep(PTR, a), self.keep(PTR, b), self.keep(PTR, length));
                match may_overlap {
                    true => self.copy_either_way(a, b, length),
                    false => self.copy_loop(&a, &b, length, align),
                }
            }
        }
        Ok(())
    }

    /// Keeps an address in a register, unless it is that of a place in a variable.
    fn keep_address(&mut self, e: Expr) -> Expr {
        match &e {
            Expr::Bin(BinOp::Add, a, b, _)
                if matches!((&**a, &**b), (Expr::Local(_) | Expr::Reg(_), Expr::Const(_))) =>
            {
                e
            }
            _ => self.keep(PTR, e),
        }
    }

    /// Copies bytes whose number is known.
    pub(crate) fn copy_known(&mut self, to: &Expr, from: &Expr, size: u64, align: u8) {
        match parts(size, align, None).filter(|p| p.len() as u64 <= MOST_PARTS) {
            Some(parts) => parts.iter().for_each(|&p| self.copy_part(to, from, p)),
            None => self.copy_loop(to, from, Expr::Const(size as i64), align),
        }
    }

    /// Returns as what parts the variable at an address is accessed.
    fn shape(&self, at: &Value<'t>) -> Option<Vec<Part>> {
        let Value::Local(name) = at else { return None };
        self.shapes.get(name).filter(|list| !list.is_empty()).cloned()
    }

    /// Copies a part, whose bytes may have no value.
    fn copy_part(&mut self, to: &Expr, from: &Expr, (offset, size): Part) {
        let at = Int::new(size, false);
        let r = self.register(at, None);
        self.template.copies.push(self.template.code.len());
        self.emit(Instr::Load(r, moved(from, offset), at));
        self.emit(Instr::Store(moved(to, offset), Expr::Reg(r), at));
    }

    /// Copies parts that may lie over one another, by way of a variable.
    fn copy_over(&mut self, to: &Expr, from: &Expr, size: u64, parts: &[Part]) {
        let k = self.local("(moved)", size as u32, 8, false);
        self.emit(Instr::Begins(Expr::Local(k), size as u32));
        parts.iter().for_each(|&p| self.copy_part(&Expr::Local(k), from, p));
        parts.iter().for_each(|&p| self.copy_part(to, &Expr::Local(k), p));
    }

    /// Copies bytes that may lie over one another, from the end that is not written first.
    fn copy_either_way(&mut self, to: Expr, from: Expr, length: Expr) {
        let (to, from) = (self.keep(PTR, to), self.keep(PTR, from));
        let (up, down, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::Pointer(PointerUse::Ordered(to.clone(), from.clone())));
        self.emit(Instr::Branch(Expr::bin(BinOp::Le, to.clone(), from.clone(), PTR), up, down));
        self.place_label(up);
        self.copy_loop(&to, &from, length.clone(), 1);
        self.emit(Instr::Jump(end));
        self.place_label(down);
        let left = self.register(PTR, None);
        self.emit(Instr::Let(left, length));
        let (head, body) = (self.label(), self.label());
        self.place_label(head);
        self.emit(Instr::Branch(Expr::Reg(left), body, end));
        self.place_label(body);
        self.emit(Instr::Let(left, Expr::bin(BinOp::Sub, Expr::Reg(left), Expr::Const(1), PTR)));
        let at = |base: &Expr| Expr::bin(BinOp::Add, base.clone(), Expr::Reg(left), PTR);
        self.copy_part(&at(&to), &at(&from), (0, 1));
        self.emit(Instr::Jump(head));
        self.place_label(end);
    }

    /// Copies bytes in a loop: as large parts as the alignment allows, then single bytes.
    fn copy_loop(&mut self, to: &Expr, from: &Expr, length: Expr, align: u8) {
        let (to, from) = (to.clone(), from.clone());
        self.each_part(length, align, |w, at, size| {
            let (a, b) = (
                Expr::bin(BinOp::Add, to.clone(), at.clone(), PTR),
                Expr::bin(BinOp::Add, from.clone(), at, PTR),
            );
            w.copy_part(&a, &b, (0, size));
        });
    }

    /// Writes code for each part of some bytes, in a loop.
    fn each_part(&mut self, length: Expr, align: u8, mut write: impl FnMut(&mut Self, Expr, u8)) {
        let done = self.register(PTR, None);
        self.emit(Instr::Let(done, Expr::Const(0)));
        let sizes = if align > 1 { vec![align, 1] } else { vec![1] };
        for size in sizes {
            let (head, body, end) = (self.label(), self.label(), self.label());
            self.place_label(head);
            let after = Expr::bin(BinOp::Add, Expr::Reg(done), Expr::Const(size.into()), PTR);
            let fits = Expr::bin(BinOp::Le, after.clone(), length.clone(), PTR);
            self.emit(Instr::Branch(fits, body, end));
            self.place_label(body);
            write(self, Expr::Reg(done), size);
            self.emit(Instr::Let(done, after));
            self.emit(Instr::Jump(head));
            self.place_label(end);
        }
    }

    /// Writes zero to some bytes.
    pub(crate) fn clear(&mut self, to: Expr, length: Expr) {
        self.each_part(length, 8, |w, at, size| {
            let to = Expr::bin(BinOp::Add, to.clone(), at, PTR);
            w.emit(Instr::Store(to, Expr::Const(0), Int::new(size, false)));
        });
    }

    /// Lowers a call that writes a byte many times.
    pub(crate) fn set_bytes(&mut self, arguments: &[Argument<'t>]) -> Result<()> {
        let [to, byte, length, ..] = arguments else {
            return Err(Problem::new("E853", "a `memset` without a length"));
        };
        let align = part_size(to.align);
        let shape = self.shape(&to.value);
        let a = self.scalar(&Type::Pointer, &to.value)?;
        let a = self.keep_address(a);
        let byte = self.scalar(&byte.ty, &byte.value)?;
        let byte = self.keep(Int::new(1, false), byte);
        let length = self.scalar(&length.ty, &length.value)?;
        let filled = |size: u8| {
            let all = Expr::Const(Int::new(size, false).wrap(0x0101_0101_0101_0101));
            Expr::bin(BinOp::Mul, Expr::cast(byte.clone(), Int::new(size, false)), all, Int::new(size, false))
        };
        let known = length.constant().filter(|n| *n >= 0);
        let parts = known.and_then(|n| parts(n as u64, align, shape.as_deref()));
        match parts.filter(|p| p.len() as u64 <= MOST_PARTS) {
            Some(parts) => {
                for (offset, size) in parts {
                    self.emit(Instr::Store(moved(&a, offset), filled(size), Int::new(size, false)));
                }
            }
            None => {
                let length = self.keep(PTR, length);
                self.each_part(length, align, |w, at, size| {
                    let to = Expr::bin(BinOp::Add, a.clone(), at, PTR);
                    w.emit(Instr::Store(to, filled(size), Int::new(size, false)));
                });
            }
        }
        Ok(())
    }

    /// Lowers a call that compares bytes: `memcmp`, or `bcmp`, whose result is 0 or not.
    pub(crate) fn compare_bytes(
        &mut self,
        result: Option<&'t str>,
        arguments: &[Argument<'t>],
    ) -> Result<()> {
        let [a, b, length, ..] = arguments else {
            return Err(Problem::new("E853", "a comparison without a length"));
        };
        let (a, b) = (self.scalar(&Type::Pointer, &a.value)?, self.scalar(&Type::Pointer, &b.value)?);
        let length = self.scalar(&length.ty, &length.value)?;
        let (a, b, length) = (self.keep(PTR, a), self.keep(PTR, b), self.keep(PTR, length));
        let (byte, whole) = (Int::new(1, false), Int::new(4, false));
        let (found, at) = (self.register(whole, None), self.register(PTR, None));
        let (head, body, same, other, end) =
            (self.label(), self.label(), self.label(), self.label(), self.label());
        self.emit(Instr::Let(found, Expr::Const(0)));
        self.emit(Instr::Let(at, Expr::Const(0)));
        self.place_label(head);
        self.emit(Instr::Branch(Expr::bin(BinOp::Lt, Expr::Reg(at), length, PTR), body, end));
        self.place_label(body);
        let access = self.access;
        let here = |base: &Expr| Expr::bin(BinOp::Add, base.clone(), Expr::Reg(at), PTR);
        let x = self.load_number(access, here(&a), byte, None);
        let y = self.load_number(access, here(&b), byte, None);
        let equal = Expr::bin(BinOp::Eq, x.clone(), y.clone(), byte);
        self.emit(Instr::Branch(equal, same, other));
        self.place_label(other);
        let less = self.register(BOOL, None);
        self.emit(Instr::Let(less, Expr::bin(BinOp::Lt, x, y, byte)));
        // 1, or -1.
        let minus = Expr::bin(BinOp::Mul, Expr::Reg(less), Expr::Const(2), whole);
        self.emit(Instr::Let(found, Expr::bin(BinOp::Sub, Expr::Const(1), minus, whole)));
        self.emit(Instr::Jump(end));
        self.place_label(same);
        self.emit(Instr::Let(at, Expr::bin(BinOp::Add, Expr::Reg(at), Expr::Const(1), PTR)));
        self.emit(Instr::Jump(head));
        self.place_label(end);
        self.define(result, whole, Expr::Reg(found));
        Ok(())
    }
}

/// Returns the size of the parts that something of an alignment is copied in.
fn part_size(align: u32) -> u8 {
    match align {
        8.. => 8,
        4..8 => 4,
        2..4 => 2,
        _ => 1,
    }
}

/// Returns the parts of some bytes: those that they are accessed as, and between them parts as large
/// as the alignment allows. `None` if they are too many.
fn parts(size: u64, align: u8, shape: Option<&[Part]>) -> Option<Vec<Part>> {
    if size > MOST_PARTS * 8 {
        return None;
    }
    let (mut found, mut at) = (Vec::new(), 0i64);
    let fill = |from: i64, to: i64, found: &mut Vec<Part>| {
        let mut at = from;
        while at < to {
            let mut part = i64::from(align.max(1));
            while at % part != 0 || at + part > to {
                part /= 2;
            }
            found.push((at, part as u8));
            at += part;
        }
    };
    for &(offset, length) in shape.unwrap_or_default() {
        let end = offset + i64::from(length);
        if offset >= at && end <= size as i64 {
            fill(at, offset, &mut found);
            found.push((offset, length));
            at = end;
        }
    }
    fill(at, size as i64, &mut found);
    Some(found)
}
