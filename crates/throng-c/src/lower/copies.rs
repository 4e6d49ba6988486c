//! Copies of structures, and what objects consist of.

use crate::syntax::ast::Span;

use super::library::BYTE;
use super::{Lower, Result, Value, unsupported};
use crate::types::{Field, Struct, Ty};
use throng_goto::program::{Access, Expr, Instr, Int, Order};

/// Maximum number of parts that are copied one by one; beyond, arrays are copied in loops.
pub(super) const MOST_PARTS: usize = 256;
/// Maximum number of parts of which a replay is told.
const MOST_LISTED: usize = 1 << 12;

/// A part of an object that is copied at once: where, and as which number.
pub(super) type Chunk = (u64, Int);

/// Returns the parts of an object that are copied at once. They cover its members; with `padding`,
/// every byte. Parts that lie over one another are one part, or bytes. `None` if they are too many.
pub(super) fn chunks(ty: &Ty, structs: &[Struct], padding: bool, most: usize) -> Option<Vec<Chunk>> {
    let mut found = Vec::new();
    collect(ty, structs, 0, most, &mut found)?;
    found.sort_by_key(|&(at, i)| (at, std::cmp::Reverse(i.size)));
    let (mut list, mut end) = (Vec::new(), 0u64);
    for (at, i) in found {
        let after = at + u64::from(i.size);
        if at >= end {
            if padding {
                list.extend((end..at).map(|b| (b, BYTE)));
            }
            list.push((at, i));
        } else if after > end {
            // It begins in another part and goes beyond it.
            list.extend((end..after).map(|b| (b, BYTE)));
        }
        end = end.max(after);
    }
    if padding {
        let (size, _) = ty.layout(structs)?;
        list.extend((end..size).map(|b| (b, BYTE)));
    }
    (list.len() <= most).then_some(list)
}

fn collect(ty: &Ty, structs: &[Struct], at: u64, most: usize, out: &mut Vec<Chunk>) -> Option<()> {
    if out.len() > most {
        return None;
    }
    match ty.plain() {
        Ty::Array(t, Some(n)) => {
            let (size, _) = t.layout(structs)?;
            (0..*n).try_for_each(|i| collect(t, structs, at + i * size, most, out))
        }
        Ty::Array(_, None) => Some(()),
        Ty::Struct(s) => {
            let Struct { fields, .. } = &structs[*s];
            let of = |f: &Field| f.bits.iter().flat_map(|b| b.units.clone()).collect::<Vec<_>>();
            for (offset, size) in fields.iter().flat_map(of) {
                // Bytes of which a part has no value are kept in numbers of four bytes.
                let unit = Int::new(size.min(4), false);
                out.extend((0..u64::from(size)).step_by(unit.size.into()).map(|k| (at + offset + k, unit)));
            }
            let mut whole = fields.iter().filter(|f| f.bits.is_none());
            whole.try_for_each(|f| collect(&f.ty, structs, at + f.offset, most, out))
        }
        t => {
            // A copy keeps all bits, also those that `_Bool` does not have.
            let whole = t.scalar().map(|i| Int::new(i.size, i.signed));
            let size = t.layout(structs)?.0;
            // Numbers of 16 bytes are two parts.
            let part = whole.unwrap_or(Int::new(size.clamp(1, 8) as u8, false));
            out.extend((at..at + size).step_by(part.size.into()).map(|b| (b, part)));
            Some(())
        }
    }
}

impl Lower<'_> {
    /// Copies an object part by part.
    pub(super) fn copy(&mut self, to: &Expr, from: &Expr, ty: &Ty, span: Span) -> Result<()> {
        self.size_of(ty, span)?;
        self.list_copy(ty);
        self.copy_parts(to, from, ty, false, span)
    }

    /// A replay copies the same parts in the same order.
    fn list_copy(&mut self, ty: &Ty) {
        if let Some(list) = chunks(ty, &self.structs, false, MOST_LISTED) {
            let sizes = list.iter().map(|(offset, i)| (*offset as u32, i.size)).collect();
            self.program.copies.insert((self.here.start, self.here.end), sizes);
        }
    }

    /// Copies the parts of an object; with `padding`, all its bytes.
    pub(super) fn copy_parts(
        &mut self,
        to: &Expr,
        from: &Expr,
        ty: &Ty,
        padding: bool,
        span: Span,
    ) -> Result<()> {
        if let Some(list) = chunks(ty, &self.structs, padding, MOST_PARTS) {
            list.into_iter().for_each(|part| self.copy_part(to, from, part));
            return Ok(());
        }
        match ty.plain() {
            Ty::Array(t, Some(n)) => {
                let size = self.size_of(t, span)? as i64;
                let mut done = Ok(());
                self.each(Some(Expr::Const(*n as i64)), size, |s, at, _| {
                    done = s.copy_parts(&s.moved(to, at), &s.moved(from, at), t, padding, span);
                });
                done
            }
            Ty::Struct(s) if !self.structs[*s].union && !ty.has_bit_fields(&self.structs) && !padding => {
                for f in self.structs[*s].fields.clone() {
                    let at = Expr::Const(f.offset as i64);
                    self.copy_parts(&self.moved(to, &at), &self.moved(from, &at), &f.ty, padding, span)?;
                }
                Ok(())
            }
            _ => {
                let size = Expr::Const(self.size_of(ty, span)? as i64);
                self.each(Some(size), 1, |s, at, _| {
                    s.copy_part(&s.moved(to, at), &s.moved(from, at), (0, BYTE));
                });
                Ok(())
            }
        }
    }

    /// Copies a part, whose bytes may never have been written.
    pub(super) fn copy_part(&mut self, to: &Expr, from: &Expr, (offset, i): Chunk) {
        if !self.dry {
            self.current.template.copies.push(self.current.template.code.len());
        }
        let v = self.load_as(self.access, from, offset as i64, i);
        self.store_as(self.access, to, offset as i64, v, i);
    }

    /// Writes zero to all parts of an object but those at the offsets that are given.
    pub(super) fn clear_parts(
        &mut self,
        to: &Expr,
        ty: &Ty,
        given: &dyn Fn(u64, Int) -> bool,
        span: Span,
    ) -> Result<()> {
        if let Some(list) = chunks(ty, &self.structs, false, MOST_LISTED) {
            for (offset, i) in list.into_iter().filter(|&(offset, i)| !given(offset, i)) {
                self.store_as(self.access, to, offset as i64, Expr::Const(0), i);
            }
            return Ok(());
        }
        match ty.plain() {
            Ty::Array(t, Some(n)) => {
                let size = self.size_of(t, span)? as i64;
                let mut done = Ok(());
                self.each(Some(Expr::Const(*n as i64)), size, |s, at, _| {
                    done = s.clear_parts(&s.moved(to, at), t, &|_, _| false, span);
                });
                done
            }
            Ty::Struct(s) if !self.structs[*s].union && !ty.has_bit_fields(&self.structs) => {
                for f in self.structs[*s].fields.clone() {
                    let at = Expr::Const(f.offset as i64);
                    self.clear_parts(&self.moved(to, &at), &f.ty, &|_, _| false, span)?;
                }
                Ok(())
            }
            _ => {
                let size = self.size_of(ty, span)? as i64;
                self.set_bytes(to, &Expr::Const(0), Expr::Const(size));
                Ok(())
            }
        }
    }

    /// Copies an object that is atomic, or into one: all parts of the atomic one are accessed in
    /// one step.
    pub(super) fn copy_at_once(&mut self, to: &Expr, from: &Value, ty: &Ty, span: Span) -> Result<()> {
        self.size_of(ty, span)?;
        self.list_copy(ty);
        let Some(parts) = chunks(ty, &self.structs, false, MOST_PARTS) else {
            return unsupported(span, "a copy of an `_Atomic` structure of this many parts");
        };
        let values = self.section(from.ty.is_atomic(), |s, kind| {
            parts.iter().map(|&(offset, i)| s.load_as(kind, &from.expr, offset as i64, i)).collect::<Vec<_>>()
        });
        self.section(ty.is_atomic(), |s, kind| {
            for (&(offset, i), v) in parts.iter().zip(values) {
                s.store_as(kind, to, offset as i64, v, i);
            }
        });
        Ok(())
    }

    /// Emits accesses, in one step if they are atomic.
    fn section<T>(&mut self, atomic: bool, emit: impl FnOnce(&mut Self, Access) -> T) -> T {
        if !atomic {
            return emit(self, self.access);
        }
        self.emit(Instr::AtomicBegin);
        let done = emit(self, Access::Atomic(Order::SeqCst));
        self.emit(Instr::AtomicEnd);
        done
    }
}
