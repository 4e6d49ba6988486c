//! Initial values, of variables at a fixed address and of local ones.

use crate::syntax::ast::*;

use super::literals::string_bytes;
use super::{Lower, MOST_BYTES, Place, Result, Value, unsupported, wrong};
use crate::types::{Field, Ty};
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, PRIVATE, PTR, object_of};

/// Initial values of scalar parts, by offset, and how many elements an array without a size gets.
#[derive(Default)]
struct Values {
    list: Vec<(u64, Int, Expr)>,
    length: u64,
    /// True if they are inside a union, where a part may be read as another one.
    in_union: bool,
}

impl Values {
    /// Later values replace earlier ones.
    fn clear(&mut self, from: u64, size: u64) {
        self.list.retain(|v| v.0 < from || v.0 >= from + size);
    }
}

type Items<'a> = std::iter::Peekable<std::slice::Iter<'a, Node<InitializerListItem>>>;

/// Returns whether an expression is 0 as it is written, whose bytes are all 0.
fn is_zero(e: &Expression) -> bool {
    match e {
        Expression::Constant(c) => match &c.node {
            Constant::Integer(i) => i.value == 0,
            Constant::Float(f) => f.number.bytes().all(|b| matches!(b, b'0' | b'.')),
            Constant::Character(_) => false,
        },
        _ => false,
    }
}

/// Returns whether text can be the initial value of an array of this type.
fn takes_text(ty: &Ty, init: &Initializer) -> bool {
    matches!(init, Initializer::Expression(e) if matches!(e.node, Expression::StringLiteral(_)))
        && matches!(ty.plain(), Ty::Array(t, _) if matches!(t.scalar(), Some(Int { size: 1, .. })))
}

impl<'a> Lower<'a> {
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

    /// Returns the initial value of a variable at a fixed address.
    pub(super) fn fixed_initial(
        &mut self,
        a: i64,
        ty: &Ty,
        item: &'a Node<InitDeclarator>,
        span: Span,
    ) -> Result<()> {
        let Some(init) = &item.node.initializer else { return Ok(()) };
        let mut values = Values::default();
        let before = self.current.template.code.len();
        self.collect(0, ty, init, &mut values)?;
        if self.current.template.code.len() != before {
            return wrong(span, "the initial value is not constant");
        }
        for (offset, i, v) in values.list {
            let Expr::Const(v) = v else { return wrong(span, "the initial value is not constant") };
            self.note_function(v);
            let object = object_of(a);
            let bytes = if object >= PRIVATE {
                let at = self.program.locals[(object - PRIVATE) as usize].base as usize;
                self.program.private.get_mut(at..)
            } else {
                self.program.objects.get_mut(object as usize - 1).map(|o| &mut o.init[..])
            };
            let Some(bytes) =
                bytes.and_then(|b| b.get_mut(offset as usize..offset as usize + i.size as usize))
            else {
                return wrong(span, "too many initial values");
            };
            for (k, b) in bytes.iter_mut().enumerate() {
                *b = (v >> (8 * k) & 255) as u16;
            }
        }
        Ok(())
    }

    /// Writes the initial value of a local variable.
    pub(super) fn initialise(&mut self, place: &Place, ty: &Ty, init: &'a Node<Initializer>) -> Result<()> {
        match &init.node {
            Initializer::Expression(e) if !matches!(ty.plain(), Ty::Array(..)) => {
                let v = self.value(e)?;
                self.assign(place, v, init.span)
            }
            Initializer::List(items) if ty.scalar().is_some() => match &items[..] {
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
        if let (Some(_), [item]) = (ty.scalar(), items) {
            return self.initialise(place, ty, &item.node.initializer);
        }
        let Place::Memory(a, _) = place else { return wrong(span, "too many initial values") };
        let mut values = Values::default();
        self.collect_list(0, ty, items, &mut values, span)?;
        self.store_all(a, ty, values, span)
    }

    fn store_all(&mut self, a: &Expr, ty: &Ty, values: Values, span: Span) -> Result<()> {
        let mut parts = Vec::new();
        if ty.has_bit_fields(&self.structs) {
            return unsupported(span, "an initial value of bit-fields");
        }
        if !ty.parts(&self.structs, 0, "", &mut parts) {
            return unsupported(span, "an initial value of this many parts, or with floating-point numbers,");
        }
        let at = |o: u64| Expr::bin(BinOp::Add, a.clone(), Expr::Const(o as i64), PTR);
        // What is not mentioned is zero.
        for (offset, i, _) in parts {
            if !values.list.iter().any(|v| v.0 == u64::from(offset) && v.1.size == i.size) {
                self.emit(Instr::Store(at(u64::from(offset)), Expr::Const(0), i));
            }
        }
        for (offset, i, v) in values.list {
            self.emit(Instr::Store(at(offset), v, i));
        }
        Ok(())
    }

    fn collect(&mut self, at: u64, ty: &Ty, init: &'a Node<Initializer>, out: &mut Values) -> Result<()> {
        let e = match &init.node {
            Initializer::List(items) if ty.scalar().is_some() => match &items[..] {
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
                let mut bytes = string_bytes(&s.node, init.span)?;
                let n = n.unwrap_or_else(|| {
                    out.length = bytes.len() as u64 + 1;
                    out.length
                });
                bytes.resize(usize::try_from(n).unwrap_or(0).min(1 << 20), 0);
                let i = t.scalar().unwrap_or(INT);
                let byte = |(k, b)| (at + k as u64, i, Expr::Const(i.wrap(i64::from(b))));
                out.list.extend(bytes.into_iter().enumerate().map(byte));
                Ok(())
            }
            (Ty::Float(_), e) if is_zero(e) => Ok(()),
            (Ty::Float(_), _) => unsupported(init.span, "a floating-point number other than 0"),
            _ => {
                let Some(i) = ty.scalar() else {
                    return unsupported(init.span, "this initial value of a structure");
                };
                let v = self.value(e)?;
                let v: Value = self.convert(v, ty, init.span)?;
                // Later values may change what it is computed from.
                let v = self.kept(v);
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
            if !designators.is_empty() {
                (next, rest) = self.designated(ty, designators)?;
            }
            let Some((offset, part)) = self.part(ty, next, span)? else { break };
            if self.is_union(ty) {
                self.once(at, ty, out, span)?;
            }
            self.fill_part((at + offset, &part), items, out, rest, span)?;
            // A union has one value.
            next = if self.is_union(ty) { u64::MAX } else { next + 1 };
            if matches!(ty.plain(), Ty::Array(_, None)) {
                out.length = out.length.max(next);
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
        let nested = matches!(part.plain(), Ty::Array(..) | Ty::Struct(_));
        let init = &item.node.initializer;
        let braces = matches!(init.node, Initializer::List(_)) || takes_text(part, &init.node);
        if !path.is_empty() || nested && !braces {
            let before = items.len();
            self.fill(at, part, items, out, Some(path), span)?;
            if items.len() == before {
                return wrong(span, "this initial value does not fit");
            }
            return Ok(());
        }
        items.next();
        out.clear(at, self.size_of(part, span)?);
        self.collect(at, part, init, out)
    }

    /// Refuses a second value of a union: what is left of the first depends on the compiler.
    fn once(&self, at: u64, ty: &Ty, out: &Values, span: Span) -> Result<()> {
        let size = self.size_of(ty, span)?;
        match out.list.iter().any(|v| v.0 >= at && v.0 < at + size) {
            true => unsupported(span, "a second initial value of a union"),
            false => Ok(()),
        }
    }

    fn is_union(&self, ty: &Ty) -> bool {
        matches!(ty.plain(), Ty::Struct(s) if self.structs[*s].union)
    }

    /// Part number `n` of an array, structure or union; an array without a size has any number.
    fn part(&self, ty: &Ty, n: u64, span: Span) -> Result<Option<(u64, Ty)>> {
        match ty.plain() {
            Ty::Array(t, size) => {
                let bytes = self.size_of(t, span)?;
                Ok((n < size.unwrap_or(MOST_BYTES)).then(|| (n * bytes, Ty::clone(t))))
            }
            Ty::Struct(s) => match self.structs[*s].fields.get(usize::try_from(n).unwrap_or(usize::MAX)) {
                Some(f) if f.bits => unsupported(span, "an initial value of a bit-field"),
                Some(f) if matches!(f.ty, Ty::Array(_, None)) => {
                    unsupported(span, "an initial value of an array without a size in a structure")
                }
                f => Ok(f.map(|f| (f.offset, f.ty.clone()))),
            },
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
            Designator::Range(..) => unsupported(d.span, "a range of elements as initial value"),
        }
    }
}
