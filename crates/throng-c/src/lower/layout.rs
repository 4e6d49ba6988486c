//! Structures, unions and enumerations: their members, where these are, and which type they have.

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Lower, Result, Symbol, unsupported, wrong};
use crate::types::{Field, Struct, Ty};
use throng_goto::program::{INT, Int};

/// Where the members of a structure go, as the ABI of x86-64 says.
struct Layout {
    union: bool,
    /// Number of bits that are taken so far.
    bits: u128,
    align: u64,
    /// True if members need no alignment.
    packed: bool,
}

impl Layout {
    fn bytes(&self) -> u64 {
        u64::try_from(self.bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    /// Returns the offset of a member of a size and alignment.
    fn place(&mut self, size: u64, align: u64) -> u64 {
        let align = if self.packed { 1 } else { align };
        self.align = self.align.max(align);
        let offset = if self.union { 0 } else { self.bytes().saturating_add(align - 1) / align * align };
        self.bits = self.bits.max((u128::from(offset) + u128::from(size)) * 8);
        offset
    }

    /// Makes room for a bit-field: it does not go over the end of an object of its type.
    fn place_bits(&mut self, size: u64, align: u64, width: u64, named: bool) {
        let (unit, width) = (u128::from(size) * 8, u128::from(width));
        if named {
            self.align = self.align.max(align);
        }
        if self.union {
            self.bits = self.bits.max(width);
            return;
        }
        if width == 0 || self.bits / unit != (self.bits + width - 1) / unit {
            self.bits = self.bits.next_multiple_of(u128::from(align) * 8);
        }
        self.bits += width;
    }
}

/// A member as it is declared: name, type and width in bits.
type Member = (Option<String>, Ty, Option<u64>);

impl<'a> Lower<'a> {
    pub(super) fn struct_type(&mut self, s: &'a Node<StructType>) -> Result<Ty> {
        let number = match self.struct_number(s)? {
            Some(n) => n,
            None => return Ok(Ty::Auto),
        };
        let Some(declarations) = &s.node.declarations else { return Ok(Ty::Struct(number)) };
        let known = &self.structs[number];
        if known.at == s.span.start {
            return Ok(Ty::Struct(number));
        }
        if known.at != 0 {
            return wrong(s.span, format!("`{}` is defined twice", known.name));
        }
        self.structs[number].at = s.span.start;
        let mut layout = Layout { union: self.structs[number].union, bits: 0, align: 1, packed: false };
        self.structs[number].refused = self.layout_attributes(s, &mut layout);
        self.members(number, declarations, layout)?;
        Ok(Ty::Struct(number))
    }

    /// Attributes of a whole structure; the first construct that is not modelled.
    fn layout_attributes(&self, s: &'a Node<StructType>, layout: &mut Layout) -> Option<String> {
        if self.prepared.is_packed(s.span.start) || self.prepared.is_packed(s.span.end) {
            return Some("`#pragma pack`".to_string());
        }
        let text = &self.prepared.text[s.span.start..s.span.end];
        let braces = text.find('{').zip(text.rfind('}'));
        let inside = |at: usize| {
            braces.is_some_and(|(open, close)| (open..close).contains(&at.saturating_sub(s.span.start)))
        };
        for mark in self.prepared.marks_of_type(s.span.start, s.span.end) {
            match (&*mark.name, self.alignment(&mark.argument)) {
                _ if inside(mark.at) => return Some(mark.what.clone()),
                ("packed", _) => layout.packed = true,
                ("aligned", Some(align)) => layout.align = layout.align.max(align),
                _ => return Some(mark.what.clone()),
            }
        }
        None
    }

    /// Returns the argument of `aligned`, if it is a number or the size of a type that has a name.
    fn alignment(&self, argument: &str) -> Option<u64> {
        let inner = argument.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
        let align = match inner.strip_prefix("sizeof") {
            None => inner.parse().ok()?,
            Some(ty) => match ty.trim().strip_prefix('(')?.strip_suffix(')')?.trim() {
                ty if ty.ends_with('*') => Ty::ptr(Ty::Void).layout(&self.structs)?.0,
                ty => match self.lookup(ty)? {
                    Symbol::Typedef(ty) => ty.layout(&self.structs)?.0,
                    _ => return None,
                },
            },
        };
        u64::is_power_of_two(align).then_some(align)
    }

    /// Returns the number of a structure, which may be new; `None` for `__auto_type`.
    fn struct_number(&mut self, s: &'a Node<StructType>) -> Result<Option<usize>> {
        let name = s.node.identifier.as_ref().map_or_else(String::new, |n| n.node.name.clone());
        let tag = format!("struct {name}");
        let known = match &s.node.declarations {
            _ if name.is_empty() => None,
            // A definition makes a new type in its scope.
            Some(_) => self.scopes.last().unwrap_or(self.linkage.names()).get(&tag).cloned(),
            None => self.lookup(&tag).cloned(),
        };
        match known {
            Some(Symbol::Tag(n)) => return Ok(Some(n)),
            Some(_) => return wrong(s.span, format!("`{name}` is declared as something else as well")),
            None if name == "__throng_auto" => return Ok(None),
            None => {}
        }
        let (union, unit) = (s.node.kind.node == StructKind::Union, self.linkage.unit);
        let named = !name.is_empty();
        self.structs.push(Struct { name, align: 1, union, unit, ..Struct::default() });
        let n = self.structs.len() - 1;
        if named {
            self.bind(tag, Symbol::Tag(n));
        }
        Ok(Some(n))
    }

    /// Reads and lays out the members of a structure.
    fn members(
        &mut self,
        number: usize,
        declarations: &'a [Node<StructDeclaration>],
        mut layout: Layout,
    ) -> Result<()> {
        let mut fields = Vec::new();
        for d in declarations {
            let f = match &d.node {
                StructDeclaration::Field(f) => f,
                StructDeclaration::StaticAssert(a) => {
                    self.static_assert(a)?;
                    continue;
                }
            };
            for member in self.declared_members(f)? {
                if let Some(field) = self.field(number, &mut layout, member, f.span)? {
                    fields.push(field);
                }
            }
        }
        let s = &mut self.structs[number];
        s.fields = fields;
        s.align = layout.align;
        s.size = layout.bytes().checked_next_multiple_of(layout.align).unwrap_or(u64::MAX);
        // What is refused has no layout, so that nothing can be done with it.
        s.complete = s.refused.is_none();
        Ok(())
    }

    fn declared_members(&mut self, f: &'a Node<StructField>) -> Result<Vec<Member>> {
        let base = self.qualified(&f.node.specifiers, f.span)?;
        if f.node.declarators.is_empty() {
            return Ok(vec![(None, base, None)]);
        }
        let mut members = Vec::new();
        for m in &f.node.declarators {
            let (name, ty) = match &m.node.declarator {
                Some(d) => self.declarator(base.clone(), d)?,
                None => (None, base.clone()),
            };
            let width = match &m.node.bit_width {
                Some(w) => Some(self.constant(w)? as u64),
                None => None,
            };
            members.push((name, ty, width));
        }
        Ok(members)
    }

    fn field(&mut self, of: usize, layout: &mut Layout, member: Member, span: Span) -> Result<Option<Field>> {
        let (name, ty, width) = member;
        let size = match &ty {
            Ty::Array(t, None) => t.layout(&self.structs).map(|l| (0, l.1)),
            ty => ty.layout(&self.structs),
        };
        let Some((bytes, align)) = size else {
            let Some(what) = self.refusal(&ty) else {
                return wrong(span, "a member has a type that is not complete");
            };
            self.structs[of].refused = Some(what);
            return Ok(None);
        };
        match width {
            Some(_) if layout.packed => {
                self.structs[of].refused = Some("the attribute `packed` with bit-fields".into());
                Ok(None)
            }
            Some(width) if width > bytes * 8 => wrong(span, "a bit-field is wider than its type"),
            Some(width) => {
                layout.place_bits(bytes, align, width, name.is_some());
                Ok(name.map(|name| Field { name: Some(name), ty, offset: 0, bits: true }))
            }
            None => {
                let offset = layout.place(bytes, align);
                Ok(Some(Field { name, ty, offset, bits: false }))
            }
        }
    }

    /// Returns why a type is refused, if it is.
    pub(super) fn refusal(&self, ty: &Ty) -> Option<String> {
        match ty.plain() {
            Ty::Array(t, _) => self.refusal(t),
            Ty::Struct(s) => self.structs[*s].refused.clone(),
            _ => None,
        }
    }

    /// Returns the type of an enumeration: `unsigned int` unless a constant is negative or too
    /// large.
    pub(super) fn enumeration(&mut self, e: &'a Node<EnumType>) -> Result<Ty> {
        let tag = e.node.identifier.as_ref().map(|n| format!("struct {}", n.node.name));
        if e.node.enumerators.is_empty() {
            return match tag.as_ref().and_then(|tag| self.lookup(tag)) {
                Some(Symbol::Enumeration(i)) => Ok(Ty::Int(*i)),
                _ => unsupported(e.span, "an enumeration before its definition"),
            };
        }
        if let Some(mark) = self.prepared.marks_of_type(e.span.start, e.span.end).first() {
            return unsupported(e.span, mark.what.clone());
        }
        let mut values = Vec::new();
        let (mut next, mut last) = (0i128, INT);
        for item in &e.node.enumerators {
            if let Some(v) = &item.node.expression {
                let (v, i) = self.constant_value(v)?;
                next = if i.signed { i128::from(v) } else { i128::from(v as u64) };
                last = i;
            } else if !fits(next, next, last) {
                return wrong(item.span, "the constants of the enumeration overflow");
            }
            let name = &item.node.identifier.node.name;
            self.bind_constant(name, next, enumeration_type(next, next), e.span)?;
            values.push((name, next));
            next += 1;
        }
        let (low, high) = (values.iter().map(|v| v.1).min(), values.iter().map(|v| v.1).max());
        let ty = enumeration_type(low.unwrap_or(0), high.unwrap_or(0));
        for (name, v) in values {
            self.bind_constant(name, v, ty, e.span)?;
        }
        if let Some(tag) = tag {
            self.bind(tag, Symbol::Enumeration(ty));
        }
        Ok(Ty::Int(ty))
    }

    /// A constant has type `int` if it fits, else that of the enumeration.
    fn bind_constant(&mut self, name: &str, v: i128, ty: Int, span: Span) -> Result<()> {
        let symbol = Symbol::Constant(v as i64, if fits(v, v, INT) { INT } else { ty });
        match self.scopes.last().unwrap_or(self.linkage.names()).get(name) {
            Some(Symbol::Constant(known, _)) if *known == v as i64 => {}
            Some(_) => return wrong(span, format!("`{name}` is declared as something else as well")),
            None => {}
        }
        self.bind(name.to_string(), symbol);
        Ok(())
    }
}

/// Returns whether a type has all values from one to another.
fn fits(low: i128, high: i128, i: Int) -> bool {
    let bits = u32::from(i.size) * 8 - u32::from(i.signed);
    high < 1 << bits && low >= if i.signed { -(1i128 << bits) } else { 0 }
}

/// Returns the first type of `unsigned int`, `int`, `unsigned long` and `long` that has all values.
fn enumeration_type(low: i128, high: i128) -> Int {
    let types = [Int::new(4, false), INT, Int::new(8, false)];
    types.into_iter().find(|i| fits(low, high, *i)).unwrap_or(Int::new(8, true))
}
