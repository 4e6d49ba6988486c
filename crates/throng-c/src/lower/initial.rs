//! Initial values, of variables at a fixed address and of local ones.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use crate::syntax::ast::*;

use super::floating::{LONG_DOUBLE, extended, fixed_value};
use super::literals::{kind_of, string_units};
use super::{Lower, MOST_BYTES, Place, Result, Value, unsupported, wrong};
use crate::types::{Bits, Field, Ty};
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, PRIVATE, PTR, object_of, offset_of};
use throng_goto::step::OPEN;

/// Initial values of scalar parts, by offset, and how many elements an array without a size gets.
#[derive(Default)]
struct Values {
    list: Vec<(u64, Int, Expr)>,
    /// Parts of structure types, by offset, that are copied from an address; before the others are
    /// written.
    copies: Vec<(u64, Ty, Expr)>,
    /// Bit-fields, by the offset of their structure.
    bits: Vec<(u64, Int, Rc<Bits>, Expr)>,
    length: u64,
    /// The end of the last element of an array without a size.
    extent: u64,
    /// True if they are inside a union, where a part may be read as another one.
    in_union: bool,
}

impl Values {
    /// Later values replace earlier ones.
    fn clear(&mut self, from: u64, size: u64) {
        let other = |at: u64| at < from || at >= from + size;
        self.list.retain(|v| other(v.0));
        self.copies.retain(|v| other(v.0));
        self.bits.retain(|v| other(v.0 + v.2.at / 8));
    }

    /// Gives a bit-field a value.
    fn put_bits(&mut self, at: u64, of: Int, bits: &Rc<Bits>, v: Expr) {
        self.bits.retain(|b| b.0 != at || b.2 != *bits);
        self.bits.push((at, of, bits.clone(), v));
    }

    /// Gives the values of the part at `from` to the one at `to` as well.
    fn repeat(&mut self, from: u64, to: u64, size: u64) {
        self.clear(to, size);
        let inside = |at: &u64| (from..from + size).contains(at);
        let list: Vec<_> = self.list.iter().filter(|v| inside(&v.0)).cloned().collect();
        self.list.extend(list.into_iter().map(|(at, i, v)| (at - from + to, i, v)));
        let copies: Vec<_> = self.copies.iter().filter(|v| inside(&v.0)).cloned().collect();
        self.copies.extend(copies.into_iter().map(|(at, ty, v)| (at - from + to, ty, v)));
        let bits: Vec<_> = self.bits.iter().filter(|v| inside(&(v.0 + v.2.at / 8))).cloned().collect();
        self.bits.extend(bits.into_iter().map(|(at, of, b, v)| (at - from + to, of, b, v)));
    }
}

/// A part of an array or structure: its offset, its type, and where it is if it is a bit-field.
type Part = (u64, Ty, Option<Rc<Bits>>);

type Items<'a> = std::iter::Peekable<std::slice::Iter<'a, Node<InitializerListItem>>>;

/// Returns whether text can be the initial value of an array of this type.
fn takes_text(ty: &Ty, init: &Initializer) -> bool {
    let Initializer::Expression(e) = init else { return false };
    let Expression::StringLiteral(s) = &e.node else { return false };
    let size = kind_of(&s.node).unit().size;
    matches!(ty.plain(), Ty::Array(t, _) if t.scalar().is_some_and(|i| i.size == size))
}

impl<'a> Lower<'a> {
    /// Returns whether an object of a type has a single value, that is no structure.
    fn is_number(&self, ty: &Ty) -> bool {
        ty.scalar().is_some() || ty.is_float() || self.is_complex(ty)
    }

    /// An array type with its size, if it has none, from its initial value.
    pub(super) fn sized(&mut self, ty: Ty, init: &'a Node<Initializer>) -> Result<Ty> {
        let Ty::Array(t, None) = &ty else { return Ok(ty) };
        let length = self.dry_length(|l, values| l.collect(0, &ty, init, values))?;
        Ok(Ty::Array(t.clone(), Some(length)))
    }

    /// Returns the same for a compound literal.
    pub(super) fn sized_literal(&mut self, ty: Ty, c: &'a CompoundLiteral, span: Span) -> Result<Ty> {
        let Ty::Array(t, None) = &ty else { return Ok(ty) };
        let length =
            self.dry_length(|l, values| l.collect_list(0, &ty, &c.initializer_list, values, span))?;
        Ok(Ty::Array(t.clone(), Some(length)))
    }

    fn dry_length(&mut self, collect: impl FnOnce(&mut Self, &mut Values) -> Result<()>) -> Result<u64> {
        let mut values = Values::default();
        let dry = std::mem::replace(&mut self.dry, true);
        let done = collect(self, &mut values);
        self.dry = dry;
        done.map(|()| values.length)
    }

    /// Gives a variable at a fixed address its initial value.
    pub(super) fn fixed_initial(
        &mut self,
        a: i64,
        ty: &Ty,
        item: &'a Node<InitDeclarator>,
        span: Span,
    ) -> Result<()> {
        let Some(init) = &item.node.initializer else { return Ok(()) };
        let values = self.fixed(span, |l, values| l.collect(0, ty, init, values))?;
        self.fill_fixed(a, values, span)
    }

    /// Returns a compound literal outside of functions, which is an object of its own.
    pub(super) fn fixed_literal(&mut self, ty: &Ty, c: &'a CompoundLiteral, span: Span) -> Result<Place> {
        let size = self.size_of(ty, span)?;
        let values =
            self.fixed(span, |l, values| l.collect_list(0, ty, &c.initializer_list, values, span))?;
        if self.dry {
            return Ok(Place::Memory(Expr::Local(0), ty.clone()));
        }
        let a = self.object("(literal)".into(), ty, vec![0; size as usize]);
        self.fill_fixed(a, values, span)?;
        Ok(Place::Memory(Expr::Const(a), ty.clone()))
    }

    /// Collects initial values that have to be constant.
    fn fixed(
        &mut self,
        span: Span,
        collect: impl FnOnce(&mut Self, &mut Values) -> Result<()>,
    ) -> Result<Values> {
        let mut values = Values::default();
        let outer = self.constants.replace(false);
        let done = collect(self, &mut values);
        let computes = std::mem::replace(&mut self.constants, outer);
        done?;
        match computes {
            Some(false) => Ok(values),
            _ => wrong(span, "the initial value is not constant"),
        }
    }

    /// Returns whether an instruction is not written, because it belongs to a value that has to be
    /// constant. What a value of the file scope does with addresses, threads do when they start.
    pub(super) fn is_constant_use(&mut self, i: &Instr) -> bool {
        let (Some(computes), in_function) = (&mut self.constants, !self.current.template.name.is_empty())
        else {
            return false;
        };
        match i {
            Instr::Pointer(_) if in_function => return false,
            Instr::Pointer(using) if self.fixed_uses.contains(using) => {}
            Instr::Pointer(using) => self.fixed_uses.push(using.clone()),
            _ => *computes = true,
        }
        true
    }

    /// Does what initial values of the file scope do with addresses.
    pub(super) fn emit_fixed_uses(&mut self) {
        for using in self.fixed_uses.clone() {
            self.emit(Instr::Pointer(using));
        }
    }

    fn fill_fixed(&mut self, a: i64, values: Values, span: Span) -> Result<()> {
        self.grow(a, values.extent);
        for (offset, ty, from) in values.copies {
            let size = self.size_of(&ty, span)?;
            let known = from.constant().and_then(|from| self.initial_bytes(from, size));
            let Some(bytes) = known.map(<[u16]>::to_vec) else {
                return wrong(span, "the initial value is not constant");
            };
            self.put_fixed(a, offset, &bytes, span)?;
        }
        for (offset, i, v) in values.list {
            let Some(v) = fixed_value(&v) else { return wrong(span, "the initial value is not constant") };
            self.note_function(v);
            let bytes: Vec<u16> = (0..i.size).map(|k| (v >> (8 * k) & 255) as u16).collect();
            self.put_fixed(a, offset, &bytes, span)?;
        }
        for (at, _, bits, v) in values.bits {
            let Expr::Const(v) = v else { return wrong(span, "the initial value is not constant") };
            for &(offset, size) in &bits.units {
                let own = bits.part(v, (offset, size));
                let (offset, all) = (at + offset, self.fixed_bytes(a)?);
                let old = all.get(offset as usize..).unwrap_or_default().to_vec();
                let merged = |k: u8| Some(old.get(usize::from(k))? | (own >> (8 * k) & 255) as u16);
                let Some(bytes) = (0..size).map(merged).collect::<Option<Vec<u16>>>() else {
                    return wrong(span, "too many initial values");
                };
                self.put_fixed(a, offset, &bytes, span)?;
            }
        }
        Ok(())
    }

    /// Returns the bytes of a variable at a fixed address.
    fn fixed_bytes(&mut self, a: i64) -> Result<&mut [u16]> {
        let object = object_of(a);
        let all = if object >= PRIVATE {
            let at = self.program.locals[(object - PRIVATE) as usize].base as usize;
            self.program.private.get_mut(at..)
        } else {
            self.program.objects.get_mut(object as usize - 1).map(|o| &mut o.init[..])
        };
        Ok(all.unwrap_or_default())
    }

    /// An array at the end of a structure takes as much room as its initial values.
    fn grow(&mut self, a: i64, extent: u64) {
        let object = usize::try_from(object_of(a) - 1).ok();
        if let Some(o) = object.and_then(|o| self.program.objects.get_mut(o))
            && o.init.len() < extent as usize
        {
            o.init.resize(extent as usize, 0);
        }
    }

    fn put_fixed(&mut self, a: i64, offset: u64, bytes: &[u16], span: Span) -> Result<()> {
        match self.fixed_bytes(a)?.get_mut(offset as usize..offset as usize + bytes.len()) {
            Some(place) => place.copy_from_slice(bytes),
            None => return wrong(span, "too many initial values"),
        }
        Ok(())
    }

    /// Returns the bytes that a variable has from the start.
    pub(super) fn initial_bytes(&self, a: i64, size: u64) -> Option<&[u16]> {
        let object = self.program.objects.get(usize::try_from(object_of(a) - 1).ok()?)?;
        let from = usize::try_from(offset_of(a)).ok()?;
        let bytes = object.init.get(from..from.checked_add(usize::try_from(size).ok()?)?)?;
        (!object.external && !bytes.contains(&OPEN)).then_some(bytes)
    }

    /// Writes the initial value of a local variable.
    pub(super) fn initialise(&mut self, place: &Place, ty: &Ty, init: &'a Node<Initializer>) -> Result<()> {
        match &init.node {
            Initializer::Expression(e) if !matches!(ty.plain(), Ty::Array(..)) => {
                let v = self.value(e)?;
                self.assign(place, v, init.span)
            }
            Initializer::List(items) if self.is_number(ty) => match &items[..] {
                [item] => self.initialise(place, ty, &item.node.initializer),
                _ => wrong(init.span, "too many initial values"),
            },
            _ => {
                let Place::Memory(a, _) = place else { return wrong(init.span, "too many initial values") };
                let mut values = Values::default();
                self.collect(0, ty, init, &mut values)?;
                self.store_all(a, ty, values, init.span)
            }
        }
    }

    pub(super) fn initialise_list(
        &mut self,
        place: &Place,
        ty: &Ty,
        items: &'a [Node<InitializerListItem>],
        span: Span,
    ) -> Result<()> {
        if let (true, [item]) = (self.is_number(ty), items) {
            return self.initialise(place, ty, &item.node.initializer);
        }
        let Place::Memory(a, _) = place else { return wrong(span, "too many initial values") };
        let mut values = Values::default();
        self.collect_list(0, ty, items, &mut values, span)?;
        self.store_all(a, ty, values, span)
    }

    fn store_all(&mut self, a: &Expr, ty: &Ty, values: Values, span: Span) -> Result<()> {
        if values.extent > 0 && !matches!(ty.plain(), Ty::Array(..)) {
            return unsupported(span, "an initial value of an array without a size in a local structure");
        }
        let at = |o: u64| Expr::bin(BinOp::Add, a.clone(), Expr::Const(o as i64), PTR);
        let sized = |(offset, ty, _): &(u64, Ty, Expr)| Ok((*offset, self.size_of(ty, span)?));
        let copied: Vec<(u64, u64)> = values.copies.iter().map(sized).collect::<Result<_>>()?;
        let units = self.whole_units(&values.bits);
        let given = values.list.iter().map(|v| (v.0, v.1.size)).chain(units.keys().copied());
        let given: HashSet<(u64, u8)> = given.collect();
        let has_value = |offset: u64, i: Int| {
            let is_copied = copied.iter().any(|&(from, size)| (from..from + size).contains(&offset));
            is_copied || given.contains(&(offset, i.size))
        };
        // What is not mentioned is zero.
        self.clear_parts(a, ty, &has_value, span)?;
        for (offset, ty, from) in values.copies {
            let value = Value { expr: from, ty: ty.clone() };
            self.assign(&Place::Memory(at(offset), ty), value, span)?;
        }
        for (offset, i, v) in values.list {
            self.emit(Instr::Store(at(offset), v, i));
        }
        for ((offset, size), v) in units {
            self.emit(Instr::Store(at(offset), v, Int::new(size, false)));
        }
        Ok(())
    }

    /// Returns the numbers that bit-fields are parts of, with the values of all of their parts.
    fn whole_units(&self, bits: &[(u64, Int, Rc<Bits>, Expr)]) -> BTreeMap<(u64, u8), Expr> {
        let mut units = BTreeMap::new();
        for (at, of, bits, v) in bits {
            for &(offset, size) in &bits.units {
                let own = self.part_of_unit(v, *of, bits, (offset, size));
                let all = units.entry((at + offset, size)).or_insert(Expr::Const(0));
                let old = std::mem::replace(all, Expr::Const(0));
                let both = Expr::bin(BinOp::Or, old, own, Int::new(size.max(4), false));
                *all = both;
            }
        }
        units
    }

    /// Takes the initial value of a bit-field.
    fn collect_bits(
        &mut self,
        at: u64,
        (of, bits): (Int, &Rc<Bits>),
        init: &'a Node<Initializer>,
        out: &mut Values,
    ) -> Result<()> {
        match &init.node {
            Initializer::List(items) => match &items[..] {
                [item] if item.node.designation.is_empty() => {
                    self.collect_bits(at, (of, bits), &item.node.initializer, out)
                }
                _ => wrong(init.span, "this is not an initial value for a number"),
            },
            Initializer::Expression(e) => {
                let v = self.value(e)?;
                let v = self.convert(v, &Ty::Int(of), init.span)?;
                let v = self.kept(v);
                out.put_bits(at, of, bits, v.expr);
                Ok(())
            }
        }
    }

    fn collect(&mut self, at: u64, ty: &Ty, init: &'a Node<Initializer>, out: &mut Values) -> Result<()> {
        let e = match &init.node {
            Initializer::List(items) if self.is_number(ty) => match &items[..] {
                [item] if item.node.designation.is_empty() => {
                    return self.collect(at, ty, &item.node.initializer, out);
                }
                _ => return wrong(init.span, "this is not an initial value for a number"),
            },
            Initializer::List(items) => return self.collect_list(at, ty, items, out, init.span),
            Initializer::Expression(e) => e,
        };
        match (ty.plain(), &e.node) {
            (Ty::Array(t, n), Expression::StringLiteral(s)) if takes_text(ty, &init.node) => {
                let mut units = string_units(&s.node, init.span)?;
                let i = t.scalar().unwrap_or(INT);
                let size = u64::from(i.size);
                let n = n.unwrap_or_else(|| {
                    out.length = units.len() as u64 + 1;
                    out.extent = at + out.length * size;
                    out.length
                });
                units.resize(usize::try_from(n).unwrap_or(0).min(1 << 20), 0);
                let unit = |(k, u)| (at + k as u64 * size, i, Expr::Const(i.wrap(i64::from(u))));
                out.list.extend(units.into_iter().enumerate().map(unit));
                Ok(())
            }
            (Ty::Float(LONG_DOUBLE), _) => {
                let v = self.value(e)?;
                let v = self.convert(v, ty, init.span)?;
                match v.expr {
                    Expr::Const(bits) => {
                        let parts = extended(bits).into_iter();
                        out.list.extend(parts.map(|(offset, i, v)| (at + offset, i, Expr::Const(v))));
                        Ok(())
                    }
                    _ => unsupported(init.span, "this initial value of type `long double`"),
                }
            }
            _ if self.is_complex(ty) => {
                let v = self.value(e)?;
                let parts = self.initial_parts(v, ty, init.span)?;
                out.list.extend(parts.into_iter().map(|(offset, i, v)| (at + offset, i, v)));
                Ok(())
            }
            // What a literal consists of may be constant, or an array's initial value.
            (Ty::Array(..) | Ty::Struct(_), Expression::CompoundLiteral(c)) => {
                let own = self.type_name(&c.node.type_name)?;
                match self.same_type(own.plain(), ty.plain()) {
                    true => self.collect_list(at, ty, &c.node.initializer_list, out, init.span),
                    false => wrong(init.span, "structures of different types"),
                }
            }
            (Ty::Struct(_), _) => {
                let v = self.value(e)?;
                if !self.same_type(v.ty.plain(), ty.plain()) {
                    return wrong(init.span, "this is not an initial value of a structure");
                }
                if v.ty.is_atomic() || ty.is_atomic() {
                    return unsupported(init.span, "an initial value that is an `_Atomic` structure");
                }
                out.copies.push((at, ty.clone(), v.expr));
                Ok(())
            }
            _ => {
                let Some(i) = ty.scalar() else {
                    return unsupported(init.span, "this initial value of an array");
                };
                let v = self.value(e)?;
                let v: Value = self.convert(v, ty, init.span)?;
                // Later values may change what it is computed from.
                let v = if self.constants.is_some() { v } else { self.kept(v) };
                out.list.push((at, i, v.expr));
                Ok(())
            }
        }
    }

    fn collect_list(
        &mut self,
        at: u64,
        ty: &Ty,
        items: &'a [Node<InitializerListItem>],
        out: &mut Values,
        span: Span,
    ) -> Result<()> {
        if let [item] = items
            && item.node.designation.is_empty()
            && takes_text(ty, &item.node.initializer.node)
        {
            return self.collect(at, ty, &item.node.initializer, out);
        }
        if let (true, [item]) = (self.is_complex(ty), items) {
            return self.collect(at, ty, &item.node.initializer, out);
        }
        let mut rest = items.iter().peekable();
        self.fill(at, ty, &mut rest, out, None, span)?;
        match rest.next() {
            Some(item) => wrong(item.span, "too many initial values"),
            None => Ok(()),
        }
    }

    /// Takes initial values for the parts of an array or structure, in order. Inside braces, `path`
    /// is `None`. Where braces are left out, it has the designators of the first item that lead on
    /// from here, and the values end at the next item with designators.
    fn fill(
        &mut self,
        at: u64,
        ty: &Ty,
        items: &mut Items<'a>,
        out: &mut Values,
        path: Option<&'a [Node<Designator>]>,
        span: Span,
    ) -> Result<()> {
        let outside = out.in_union;
        out.in_union |= self.is_union(ty);
        let (mut next, mut first) = (0u64, true);
        while let Some(item) = items.peek().copied() {
            let own = &item.node.designation[..];
            let designators = match path {
                None => own,
                Some(path) if first => path,
                Some(_) if own.is_empty() => own,
                Some(_) => break,
            };
            first = false;
            let mut rest = designators;
            let mut last = None;
            if !designators.is_empty() {
                (next, rest) = self.designated(ty, designators)?;
                last = self.last_of_range(next, &designators[0])?;
            }
            let Some((offset, part, bits)) = self.part(ty, next, span)? else { break };
            if self.is_union(ty) {
                self.once(at, ty, out, span)?;
            }
            match (&bits, part.plain()) {
                (Some(bits), Ty::Int(of)) if rest.is_empty() => {
                    items.next();
                    self.collect_bits(at, (*of, bits), &item.node.initializer, out)?;
                }
                _ => self.fill_part((at + offset, &part), items, out, rest, span)?,
            }
            if let Some(last) = last {
                let size = self.size_of(&part, span)?;
                if self.part(ty, last, span)?.is_none() || (last - next).saturating_mul(size) > MOST_BYTES {
                    return wrong(designators[0].span, "there is no such element");
                }
                for n in 1..=last - next {
                    out.repeat(at + offset, at + offset + n * size, size);
                }
                next = last;
            }
            // A union has one value.
            next = if self.is_union(ty) { u64::MAX } else { next + 1 };
            if let Ty::Array(t, None) = ty.plain() {
                out.length = out.length.max(next);
                out.extent = out.extent.max(at + next * self.size_of(t, span)?);
            }
        }
        out.in_union = outside;
        Ok(())
    }

    /// Takes the initial values for one part, to which the designators of the next item lead on.
    fn fill_part(
        &mut self,
        (at, part): (u64, &Ty),
        items: &mut Items<'a>,
        out: &mut Values,
        path: &'a [Node<Designator>],
        span: Span,
    ) -> Result<()> {
        let Some(item) = items.peek().copied() else { return Ok(()) };
        let nested = matches!(part.plain(), Ty::Array(..) | Ty::Struct(_)) && !self.is_complex(part);
        let init = &item.node.initializer;
        let whole = matches!(init.node, Initializer::List(_)) || takes_text(part, &init.node);
        if !path.is_empty() || nested && !whole && !self.is_value_of(part, init) {
            let before = items.len();
            self.fill(at, part, items, out, Some(path), span)?;
            if items.len() == before {
                return wrong(span, "this initial value does not fit");
            }
            return Ok(());
        }
        items.next();
        let size = match part.plain() {
            Ty::Array(_, None) => MOST_BYTES,
            _ => self.size_of(part, span)?,
        };
        self.whole(at, size, out, span)?;
        out.clear(at, size);
        self.collect(at, part, init, out)
    }

    /// Refuses another value of a part of a structure that has one as a whole: compilers differ in
    /// what is left of that.
    fn whole(&self, at: u64, size: u64, out: &Values, span: Span) -> Result<()> {
        for (from, ty, _) in &out.copies {
            let end = from + self.size_of(ty, span)?;
            if *from < at + size && at < end && (*from < at || end > at + size) {
                return unsupported(span, "another initial value of a part of a structure that has one");
            }
        }
        Ok(())
    }

    /// Returns whether an initial value without braces is one of a whole structure, or a literal of a
    /// whole array.
    fn is_value_of(&mut self, part: &Ty, init: &'a Node<Initializer>) -> bool {
        let Initializer::Expression(e) = &init.node else { return false };
        let aggregate = match part.plain() {
            Ty::Struct(_) => true,
            _ => matches!(e.node, Expression::CompoundLiteral(_)),
        };
        aggregate && self.type_of(e).is_ok_and(|ty| self.same_type(ty.plain(), part.plain()))
    }

    /// Refuses a second value of a union: what is left of the first depends on the compiler.
    fn once(&self, at: u64, ty: &Ty, out: &Values, span: Span) -> Result<()> {
        let size = self.size_of(ty, span)?;
        let inside = |v: u64| v >= at && v < at + size;
        match out.list.iter().any(|v| inside(v.0)) || out.bits.iter().any(|v| inside(v.0)) {
            true => unsupported(span, "a second initial value of a union"),
            false => Ok(()),
        }
    }

    fn is_union(&self, ty: &Ty) -> bool {
        matches!(ty.plain(), Ty::Struct(s) if self.structs[*s].union)
    }

    /// Part number `n` of an array, structure or union; an array without a size has any number.
    fn part(&self, ty: &Ty, n: u64, span: Span) -> Result<Option<Part>> {
        match ty.plain() {
            Ty::Array(t, size) => {
                let bytes = self.size_of(t, span)?;
                Ok((n < size.unwrap_or(MOST_BYTES)).then(|| (n * bytes, Ty::clone(t), None)))
            }
            Ty::Struct(s) => {
                if let Some((t, size)) = &self.structs[*s].vector {
                    let bytes = self.size_of(t, span)?;
                    return Ok((n < *size).then(|| (n * bytes, t.clone(), None)));
                }
                let f = self.structs[*s].fields.get(usize::try_from(n).unwrap_or(usize::MAX));
                Ok(f.map(|f| (f.offset, f.ty.clone(), f.bits.clone())))
            }
            _ => Ok(None),
        }
    }

    /// Returns the number of the part that designators lead to, and those that lead on from there.
    fn designated(&mut self, ty: &Ty, path: &'a [Node<Designator>]) -> Result<(u64, &'a [Node<Designator>])> {
        let Some((d, rest)) = path.split_first() else { return Ok((0, path)) };
        match &d.node {
            Designator::Index(e) => {
                let n = self.constant(e)? as u64;
                match self.part(ty, n, d.span)? {
                    Some(_) if matches!(ty.plain(), Ty::Array(..)) => Ok((n, rest)),
                    _ => wrong(d.span, "there is no such element"),
                }
            }
            Designator::Member(n) => {
                let Ty::Struct(s) = ty.plain() else { return wrong(d.span, "this is not a structure") };
                let (name, fields) = (&n.node.name, &self.structs[*s].fields);
                if let Some(i) = fields.iter().position(|f| f.name.as_ref() == Some(name)) {
                    return Ok((i as u64, rest));
                }
                // A member of an anonymous structure: the name leads on from there.
                let inside = |f: &Field| matches!((&f.name, f.ty.plain()), (None, Ty::Struct(s)) if self.member(*s, name).is_some());
                match fields.iter().position(inside) {
                    Some(i) => Ok((i as u64, path)),
                    None => wrong(d.span, format!("there is no member `{name}`")),
                }
            }
            Designator::Range(from, to) => {
                let (n, last) = (self.constant(from)?, self.constant(to)?);
                match self.part(ty, n as u64, d.span)? {
                    Some(_) if matches!(ty.plain(), Ty::Array(..)) && n <= last => Ok((n as u64, rest)),
                    _ => wrong(d.span, "there is no such element"),
                }
            }
        }
    }

    /// Returns the last element of a range that begins with element `first`.
    fn last_of_range(&mut self, first: u64, d: &'a Node<Designator>) -> Result<Option<u64>> {
        let Designator::Range(_, to) = &d.node else { return Ok(None) };
        let last = self.constant(to)? as u64;
        Ok(Some(last).filter(|&last| last >= first))
    }
}
