//! Initial values, of variables at a fixed address and of local ones.

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Lower, Place, Result, Value, unsupported, wrong};
use crate::goto::{BinOp, Expr, INT, Instr, Int, PRIVATE, PTR, object_of};
use crate::types::Ty;

impl<'a> Lower<'a> {
    /// How many elements an initial value has, for an array without a size.
    pub(super) fn initial_length(&mut self, element: &Ty, init: &'a Node<Initializer>) -> Result<u64> {
        match &init.node {
            Initializer::Expression(e) => match &e.node {
                Expression::StringLiteral(s) => Ok(Self::string_bytes(&s.node).len() as u64 + 1),
                _ => wrong(init.span, "this is not an initial value for an array"),
            },
            Initializer::List(items) => {
                if let [item] = &items[..]
                    && let Initializer::Expression(e) = &item.node.initializer.node
                    && let (Expression::StringLiteral(s), Some(Int { size: 1, .. })) =
                        (&e.node, element.scalar())
                {
                    return Ok(Self::string_bytes(&s.node).len() as u64 + 1);
                }
                let (mut next, mut most) = (0u64, 0);
                for item in items {
                    if let Some(Node { node: Designator::Index(e), .. }) = item.node.designation.first() {
                        next = self.constant(e)? as u64;
                    }
                    next = next.saturating_add(1);
                    most = most.max(next);
                }
                Ok(most)
            }
        }
    }

    /// The initial value of a variable at a fixed address.
    pub(super) fn fixed_initial(
        &mut self,
        a: i64,
        ty: &Ty,
        item: &'a Node<InitDeclarator>,
        span: Span,
    ) -> Result<()> {
        let Some(init) = &item.node.initializer else { return Ok(()) };
        let mut values = Vec::new();
        let dry = self.dry;
        let before = self.current.template.code.len();
        self.collect(0, ty, init, &mut values)?;
        if self.current.template.code.len() != before {
            return wrong(span, "the initial value is not constant");
        }
        self.dry = dry;
        for (offset, i, v) in values {
            let Expr::Const(v) = v else { return wrong(span, "the initial value is not constant") };
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

    /// The initial value of a local variable.
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
                let mut values = Vec::new();
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
        let mut values = Vec::new();
        self.collect_list(0, ty, items, &mut values, span)?;
        self.store_all(a, ty, values, span)
    }

    fn store_all(&mut self, a: &Expr, ty: &Ty, values: Vec<(u64, Int, Expr)>, span: Span) -> Result<()> {
        let mut parts = Vec::new();
        if !ty.parts(&self.structs, 0, "", &mut parts) {
            return unsupported(span, "an initial value of so many parts, or with floating-point numbers,");
        }
        let at = |o: u64| Expr::bin(BinOp::Add, a.clone(), Expr::Const(o as i64), PTR);
        // What is not mentioned is zero.
        for (offset, i, _) in parts {
            if !values.iter().any(|v| v.0 == u64::from(offset)) {
                self.emit(Instr::Store(at(u64::from(offset)), Expr::Const(0), i));
            }
        }
        for (offset, i, v) in values {
            self.emit(Instr::Store(at(offset), v, i));
        }
        Ok(())
    }

    fn collect(
        &mut self,
        at: u64,
        ty: &Ty,
        init: &'a Node<Initializer>,
        out: &mut Vec<(u64, Int, Expr)>,
    ) -> Result<()> {
        match &init.node {
            Initializer::Expression(e) => {
                if let (Ty::Array(t, Some(n)), Expression::StringLiteral(s)) = (ty.plain(), &e.node) {
                    let mut bytes = Self::string_bytes(&s.node);
                    bytes.resize(usize::try_from(*n).unwrap_or(0).min(1 << 20), 0);
                    let i = t.scalar().unwrap_or(INT);
                    for (k, b) in bytes.into_iter().enumerate() {
                        out.push((at + k as u64, i, Expr::Const(i.wrap(i64::from(b)))));
                    }
                    return Ok(());
                }
                let Some(i) = ty.scalar() else {
                    if matches!(ty.plain(), Ty::Float(_)) {
                        // May be declared; using it is refused.
                        return Ok(());
                    }
                    return unsupported(init.span, "this initial value of a structure");
                };
                let v = self.value(e)?;
                let v: Value = self.convert(v, ty, init.span)?;
                out.push((at, i, v.expr));
                Ok(())
            }
            Initializer::List(items) if ty.scalar().is_some() => match &items[..] {
                [item] => self.collect(at, ty, &item.node.initializer, out),
                _ => wrong(init.span, "too many initial values"),
            },
            Initializer::List(items) => self.collect_list(at, ty, items, out, init.span),
        }
    }

    fn collect_list(
        &mut self,
        at: u64,
        ty: &Ty,
        items: &'a [Node<InitializerListItem>],
        out: &mut Vec<(u64, Int, Expr)>,
        span: Span,
    ) -> Result<()> {
        if let ([item], Ty::Array(..)) = (items, ty.plain())
            && let Initializer::Expression(e) = &item.node.initializer.node
            && matches!(e.node, Expression::StringLiteral(_))
            && item.node.designation.is_empty()
            && matches!(ty.plain(), Ty::Array(t, _) if matches!(t.scalar(), Some(Int { size: 1, .. })))
        {
            return self.collect(at, ty, &item.node.initializer, out);
        }
        let mut rest = items.iter().peekable();
        self.fill(at, ty, &mut rest, out, true, span)?;
        match rest.next() {
            Some(item) => wrong(item.span, "too many initial values"),
            None => Ok(()),
        }
    }

    /// Takes initial values for the parts of an array or structure, in order; braces inside may be left out.
    fn fill(
        &mut self,
        at: u64,
        ty: &Ty,
        items: &mut std::iter::Peekable<std::slice::Iter<'a, Node<InitializerListItem>>>,
        out: &mut Vec<(u64, Int, Expr)>,
        outermost: bool,
        span: Span,
    ) -> Result<()> {
        let mut next = 0u64;
        while let Some(item) = items.peek().copied() {
            let mut target: Option<(u64, Ty)> = None;
            if let Some(d) = item.node.designation.first() {
                if !outermost {
                    return Ok(());
                }
                target = Some(self.designated(ty, d, &mut next)?);
                for d in &item.node.designation[1..] {
                    let (o, t) = target.take().unwrap_or((0, Ty::Void));
                    let (o2, t2) = self.designated(&t, d, &mut 0)?;
                    target = Some((o + o2, t2));
                }
            } else if let Some(part) = self.part(ty, next) {
                target = Some(part);
            }
            let Some((offset, part)) = target else { return Ok(()) };
            next += 1;
            let nested = matches!(part.plain(), Ty::Array(..) | Ty::Struct(_));
            let braces = matches!(item.node.initializer.node, Initializer::List(_));
            let text = matches!(&item.node.initializer.node, Initializer::Expression(e) if matches!(e.node, Expression::StringLiteral(_)))
                && matches!(part.plain(), Ty::Array(t, _) if matches!(t.scalar(), Some(Int { size: 1, .. })));
            if nested && !braces && !text {
                let before = items.len();
                self.fill(at + offset, &part, items, out, false, span)?;
                if items.len() == before {
                    return wrong(span, "this initial value does not fit");
                }
            } else {
                items.next();
                out.retain(|v| v.0 != at + offset);
                self.collect(at + offset, &part, &item.node.initializer, out)?;
            }
        }
        Ok(())
    }

    /// Part number `n` of an array, structure or union.
    fn part(&self, ty: &Ty, n: u64) -> Option<(u64, Ty)> {
        match ty.plain() {
            Ty::Array(t, size) => {
                let bytes = t.layout(&self.structs)?.0;
                (n < (*size)?).then(|| (n * bytes, Ty::clone(t)))
            }
            Ty::Struct(s) => {
                let s = &self.structs[*s];
                let union = s.fields.len() > 1 && s.fields.iter().all(|f| f.offset == 0);
                if union && n > 0 {
                    return None;
                }
                s.fields.get(n as usize).map(|f| (f.offset, f.ty.clone()))
            }
            _ => None,
        }
    }

    fn designated(&mut self, ty: &Ty, d: &'a Node<Designator>, next: &mut u64) -> Result<(u64, Ty)> {
        match &d.node {
            Designator::Index(e) => {
                *next = self.constant(e)? as u64;
                match self.part(ty, *next) {
                    Some(part) => Ok(part),
                    None => wrong(d.span, "there is no such element"),
                }
            }
            Designator::Member(n) => {
                let Ty::Struct(s) = ty.plain() else { return wrong(d.span, "this is not a structure") };
                let named = |f: &crate::types::Field| f.name.as_ref() == Some(&n.node.name);
                if let Some(i) = self.structs[*s].fields.iter().position(named) {
                    *next = i as u64;
                }
                match self.member(*s, &n.node.name) {
                    Some((o, t, _)) => Ok((o, t)),
                    None => wrong(d.span, format!("there is no member `{}`", n.node.name)),
                }
            }
            Designator::Range(_) => unsupported(d.span, "a range of elements as initial value"),
        }
    }
}
