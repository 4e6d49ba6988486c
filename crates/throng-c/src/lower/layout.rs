//! Structures, unions and enumerations: their members, where these are, and which type they have.

use std::rc::Rc;

use crate::syntax::ast::*;

use super::{Lower, Problem, Result, Symbol, unsupported, wrong};
use crate::constructs::On;
use crate::types::{Bits, Field, Struct, Ty};
use throng_goto::program::{INT, Int};

/// Where the members of a structure go, as the ABI of x86-64 says.
struct Layout {
    union: bool,
    /// Number of bits that are taken so far.
    bits: u128,
    align: u64,
    /// True if members need no alignment.
    packed: bool,
    /// What `#pragma pack` says: the strictest alignment of a member.
    pack: Option<u64>,
}

impl Layout {
    fn bytes(&self) -> u64 {
        u64::try_from(self.bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    /// Returns the offset of a member of a size and alignment.
    fn place(&mut self, size: u64, align: u64) -> u64 {
        self.align = self.align.max(align);
        let offset = if self.union { 0 } else { self.bytes().saturating_add(align - 1) / align * align };
        self.bits = self.bits.max((u128::from(offset) + u128::from(size)) * 8);
        offset
    }

    /// Returns the first bit of a bit-field. It does not go over the end of an object of its type,
    /// unless the structure is packed.
    fn place_bits(&mut self, size: u64, own: u64, member: &Member, width: u64) -> u64 {
        let (packed, aligned) = (self.packed || member.packed, member.aligned.unwrap_or(1));
        let most = self.pack.unwrap_or(u64::MAX);
        // A width of 0 begins a new unit, also in structures that are packed.
        let desired = match (width, member.aligned) {
            (0, _) => own.max(aligned) * 8,
            (_, None) => 1,
            (_, Some(align)) => align.min(most) * 8,
        };
        if member.name.is_some() {
            let natural = if packed && self.pack.is_none() { 1 } else { own };
            self.align = self.align.max(natural.min(most)).max(aligned.min(most));
        }
        if self.union {
            self.bits = self.bits.max(u128::from(width));
            return 0;
        }
        self.bits = self.bits.next_multiple_of(u128::from(desired));
        let (unit, align) = (u128::from(size) * 8, u128::from(own) * 8);
        let spans = (self.bits % align + u128::from(width)).div_ceil(align) > unit / align;
        if width > 0 && !packed && self.pack.is_none() && spans {
            self.bits = self.bits.next_multiple_of(align);
        }
        let at = self.bits;
        self.bits += u128::from(width);
        u64::try_from(at).unwrap_or(u64::MAX)
    }
}

/// A member as it is declared.
struct Member {
    name: Option<String>,
    ty: Ty,
    /// Its width, if it is a bit-field.
    bits: Option<u64>,
    packed: bool,
    /// The alignment that its `typedef` has instead of its type's own one.
    type_aligned: Option<u64>,
    /// Its least alignment.
    aligned: Option<u64>,
}

impl Member {
    /// Returns its alignment in a structure, by that of its type.
    fn align(&self, own: u64, layout: &Layout) -> u64 {
        let natural = if self.packed || layout.packed { 1 } else { self.type_aligned.unwrap_or(own) };
        let align = natural.max(self.aligned.unwrap_or(1));
        layout.pack.map_or(align, |most| align.min(most))
    }
}

impl<'a> Lower<'a> {
    pub(super) fn struct_type(&mut self, s: &'a Node<StructType>) -> Result<Ty> {
        let number = self.struct_number(s)?;
        let Some(declarations) = &s.node.declarations else {
            self.said(&s.node.attributes, On::Structure)?;
            return Ok(Ty::Struct(number));
        };
        match self.structs[number].at {
            Some(at) if at == s.span.start => return Ok(Ty::Struct(number)),
            Some(_) => return wrong(s.span, format!("`{}` is defined twice", self.structs[number].name)),
            None => self.structs[number].at = Some(s.span.start),
        }
        // What is not modelled is refused where the structure is used.
        match self.members(number, &s.node, declarations).map_err(|p| p.construct().ok_or(p)) {
            Ok(()) => {}
            Err(Ok(what)) => self.structs[number].refused = Some(what),
            Err(Err(p)) => return Err(p),
        }
        Ok(Ty::Struct(number))
    }

    /// `struct s;` in a block makes a new type, which hides one of that name.
    pub(super) fn declare_tag(&mut self, s: &'a Node<StructType>) {
        let Some(name) = s.node.identifier.as_ref().map(|n| &n.node.name) else { return };
        let tag = format!("struct {name}");
        if s.node.declarations.is_none() && self.scopes.last().is_some_and(|scope| !scope.contains_key(&tag))
        {
            let n = self.new_struct(name.clone(), s.node.kind);
            self.bind(tag, Symbol::Tag(n));
        }
    }

    fn new_struct(&mut self, name: String, kind: StructKind) -> usize {
        let (union, unit) = (kind == StructKind::Union, self.linkage.unit);
        self.structs.push(Struct { name, align: 1, union, unit, ..Struct::default() });
        self.structs.len() - 1
    }

    /// Returns the number of a structure, which may be new.
    fn struct_number(&mut self, s: &'a Node<StructType>) -> Result<usize> {
        let name = s.node.identifier.as_ref().map_or_else(String::new, |n| n.node.name.clone());
        let tag = format!("struct {name}");
        let known = match &s.node.declarations {
            _ if name.is_empty() => None,
            // A definition makes a new type in its scope.
            Some(_) => self.scopes.last().unwrap_or(self.linkage.names()).get(&tag).cloned(),
            None => self.lookup(&tag).cloned(),
        };
        match known {
            Some(Symbol::Tag(n)) => return Ok(n),
            Some(_) => return wrong(s.span, format!("`{name}` is declared as something else as well")),
            None => {}
        }
        let named = !name.is_empty();
        let n = self.new_struct(name, s.node.kind);
        if named {
            self.bind(tag, Symbol::Tag(n));
        }
        Ok(n)
    }

    /// Reads and lays out the members of a structure.
    fn members(
        &mut self,
        number: usize,
        of: &'a StructType,
        declarations: &'a [Node<StructDeclaration>],
    ) -> Result<()> {
        let said = self.said(&of.attributes, On::Structure)?;
        let (union, pack) = (self.structs[number].union, of.pack);
        let mut layout = Layout { union, bits: 0, align: 1, packed: said.packed, pack };
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
                fields.extend(self.field(&mut layout, member, f.span)?);
            }
        }
        let align = layout.align.max(said.aligned.unwrap_or(1));
        let size = layout.bytes().checked_next_multiple_of(align).unwrap_or(u64::MAX);
        let fields = self.with_units(fields, union, size);
        let s = &mut self.structs[number];
        s.fields = fields;
        s.align = align;
        s.size = size;
        s.transparent = said.transparent;
        s.complete = true;
        Ok(())
    }

    fn declared_members(&mut self, f: &'a Node<StructField>) -> Result<Vec<Member>> {
        let base = self.specifiers(&f.node.specifiers)?;
        let attributes = || base.attributes.iter().copied();
        let mut members = Vec::new();
        if f.node.declarators.is_empty() {
            let said = self.said(attributes(), On::Member)?;
            let (packed, aligned) = (said.packed, said.aligned.max(base.aligned));
            let (name, bits, type_aligned) = (None, None, base.type_aligned);
            members.push(Member { name, ty: base.ty.clone(), bits, packed, type_aligned, aligned });
        }
        for m in &f.node.declarators {
            let own = m.node.declarator.iter().flat_map(|d| &d.node.attributes);
            let said = self.said(attributes().chain(own).chain(&m.node.attributes), On::Member)?;
            let (name, ty) = match &m.node.declarator {
                Some(d) => self.declarator(base.ty.clone(), d)?,
                None => (None, base.ty.clone()),
            };
            let ty = self.in_mode(ty, said.mode, m.span)?;
            let ty = self.in_vector(ty, &said, m.span)?;
            let bits = match &m.node.bit_width {
                Some(w) => Some(self.constant(w)? as u64),
                None => None,
            };
            let simple = said.vector.is_none() && m.node.declarator.as_ref().is_none_or(|d| is_name(&d.node));
            let type_aligned = base.type_aligned.filter(|_| simple);
            let (packed, aligned) = (said.packed, said.aligned.max(base.aligned));
            members.push(Member { name, ty, bits, packed, type_aligned, aligned });
        }
        Ok(members)
    }

    fn field(&mut self, layout: &mut Layout, member: Member, span: Span) -> Result<Option<Field>> {
        let size = match &member.ty {
            Ty::Array(t, None) => t.layout(&self.structs).map(|l| (0, l.1)),
            ty => ty.layout(&self.structs),
        };
        let Some((bytes, own)) = size else {
            return match self.refusal(&member.ty) {
                Some(what) => unsupported(span, what),
                None => wrong(span, "a member has a type that is not complete"),
            };
        };
        let align = member.align(own, layout);
        let Some(width) = member.bits else {
            let offset = layout.place(bytes, align);
            return Ok(Some(Field { name: member.name, ty: member.ty, offset, bits: None }));
        };
        let Ty::Int(own_type) = &member.ty else {
            return match member.ty {
                Ty::Atomic(_) => unsupported(span, "an `_Atomic` bit-field"),
                _ => wrong(span, "a bit-field has a type that is not an integer type"),
            };
        };
        if width > if own_type.truth { 1 } else { bytes * 8 } {
            return wrong(span, "a bit-field is wider than its type");
        }
        if width == 0 && member.name.is_some() {
            return wrong(span, "a bit-field with a name has no bits");
        }
        let at = layout.place_bits(bytes, member.type_aligned.unwrap_or(own), &member, width);
        let bits = Bits { at, width: width as u32, units: Vec::new() };
        Ok(Some(Field { name: member.name, ty: member.ty, offset: 0, bits: Some(Rc::new(bits)) }))
    }

    /// Returns the members that have names, with the units in which bit-fields are accessed.
    fn with_units(&self, mut fields: Vec<Field>, union: bool, size: u64) -> Vec<Field> {
        let extent = |f: &Field| match &f.bits {
            Some(b) => (b.at / 8, (b.at + u64::from(b.width)).div_ceil(8)),
            None => (f.offset, f.offset),
        };
        let extents: Vec<(u64, u64)> = fields.iter().map(extent).collect();
        let width = |f: &Field| f.bits.as_ref().map_or(0, |b| b.width);
        let mut n = 0;
        while n < fields.len() {
            let mut end = n + 1;
            while !union && width(&fields[n]) > 0 && end < fields.len() && width(&fields[end]) > 0 {
                end += 1;
            }
            if fields[n].bits.is_none() {
                n = end;
                continue;
            }
            let limit = if union { size } else { extents.get(end).map_or(size, |e| e.0) };
            let location = units((extents[n].0, extents[end - 1].1), limit);
            for f in &mut fields[n..end] {
                if let Some(bits) = &f.bits {
                    f.bits = Some(Rc::new(in_units(bits, &location)));
                }
            }
            n = end;
        }
        fields.retain(|f| f.bits.is_none() || f.name.is_some());
        fields
    }

    /// Returns why a type is refused, if it is.
    pub(super) fn refusal(&self, ty: &Ty) -> Option<String> {
        match ty.plain() {
            Ty::Array(t, _) => self.refusal(t),
            Ty::Variable(..) => Some("an array whose size is not constant".into()),
            Ty::Struct(s) => self.structs[*s].refused.clone(),
            _ => None,
        }
    }

    /// Returns the type of an enumeration: what it is declared to be, or `unsigned int` unless a
    /// constant is negative or too large.
    pub(super) fn enumeration(&mut self, e: &'a Node<EnumType>) -> Result<Ty> {
        self.known_enumeration(e).inspect_err(|p| self.refuse_enumeration(e, p))
    }

    /// The names of an enumeration that is not modelled cannot be used.
    fn refuse_enumeration(&mut self, e: &'a Node<EnumType>, p: &Problem) {
        let (Some(what), false) = (p.construct(), e.node.enumerators.is_empty()) else { return };
        for name in e.node.enumerators.iter().map(|item| &item.node.identifier.node.name) {
            self.bind(name.clone(), Symbol::Refused(what.clone()));
        }
        if let Some(n) = &e.node.identifier {
            self.bind(format!("struct {}", n.node.name), Symbol::Refused(what));
        }
    }

    fn known_enumeration(&mut self, e: &'a Node<EnumType>) -> Result<Ty> {
        let tag = e.node.identifier.as_ref().map(|n| format!("struct {}", n.node.name));
        let said = self.said(&e.node.attributes, On::Enumeration)?;
        let fixed = match &e.node.underlying {
            Some(t) => match self.type_name(t)?.plain() {
                Ty::Int(i) => Some(*i),
                _ => return wrong(t.span, "this is not an integer type"),
            },
            None => None,
        };
        if e.node.enumerators.is_empty() {
            return match (tag.as_ref().and_then(|tag| self.lookup(tag)), fixed, tag) {
                (Some(Symbol::Enumeration(i)), ..) => Ok(Ty::Int(*i)),
                (_, Some(i), Some(tag)) => {
                    self.bind(tag, Symbol::Enumeration(i));
                    Ok(Ty::Int(i))
                }
                _ => unsupported(e.span, "an enumeration before its definition"),
            };
        }
        let values = self.enumerators(e, fixed)?;
        let (low, high) = (values.iter().map(|v| v.1).min(), values.iter().map(|v| v.1).max());
        let chosen = enumeration_type(low.unwrap_or(0), high.unwrap_or(0), said.packed);
        let ty = fixed.unwrap_or(chosen);
        for (name, v) in values {
            self.bind_constant(name, v, ty, fixed.is_some(), e.span)?;
        }
        if let Some(tag) = tag {
            self.bind(tag, Symbol::Enumeration(ty));
        }
        Ok(Ty::Int(ty))
    }

    /// Returns the constants of an enumeration. Each can be used in those that follow.
    fn enumerators(&mut self, e: &'a Node<EnumType>, fixed: Option<Int>) -> Result<Vec<(&'a String, i128)>> {
        let mut values = Vec::new();
        let (mut next, mut last) = (0i128, fixed.unwrap_or(INT));
        for item in &e.node.enumerators {
            self.without_effect(&item.node.attributes)?;
            if let Some(v) = &item.node.expression {
                let (v, i) = self.constant_value(v)?;
                next = if i.signed { i128::from(v) } else { i128::from(v as u64) };
                last = fixed.unwrap_or(i);
            }
            if !fits(next, next, last) {
                return wrong(item.span, "the constants of the enumeration overflow");
            }
            let name = &item.node.identifier.node.name;
            let ty = fixed.unwrap_or(enumeration_type(next, next, false));
            self.bind_constant(name, next, ty, fixed.is_some(), e.span)?;
            values.push((name, next));
            next += 1;
        }
        Ok(values)
    }

    /// A constant has type `int` if it fits and no other is declared, else that of the enumeration.
    fn bind_constant(&mut self, name: &str, v: i128, ty: Int, fixed: bool, span: Span) -> Result<()> {
        let symbol = Symbol::Constant(v as i64, if !fixed && fits(v, v, INT) { INT } else { ty });
        match self.scopes.last().unwrap_or(self.linkage.names()).get(name) {
            Some(Symbol::Constant(known, _)) if *known == v as i64 => {}
            Some(_) => return wrong(span, format!("`{name}` is declared as something else as well")),
            None => {}
        }
        self.bind(name.to_string(), symbol);
        Ok(())
    }
}

/// Returns the numbers that cover the bytes of a memory location, and no others that belong to a
/// member before `limit`.
fn units((mut from, to): (u64, u64), limit: u64) -> Vec<(u64, u8)> {
    let whole = (to - from).next_power_of_two();
    let mut list = Vec::new();
    if whole <= 8 && from + whole <= limit {
        return vec![(from, whole as u8)];
    }
    while from < to {
        let size = [8, 4, 2, 1].into_iter().find(|size| from + size <= to).unwrap_or(1);
        list.push((from, size as u8));
        from += size;
    }
    list
}

/// Returns a bit-field with the units of its location in which it is, and the first one.
fn in_units(bits: &Bits, location: &[(u64, u8)]) -> Bits {
    let shared = |n: usize| n == 0 && location.len() > 1;
    let belongs = |(n, unit): &(usize, (u64, u8))| shared(*n) || bits.within(*unit).0 != 0;
    let units = location.iter().copied().enumerate().filter(belongs).map(|(_, unit)| unit).collect();
    Bits { units, ..bits.clone() }
}

/// Returns whether a type has all values from one to another.
fn fits(low: i128, high: i128, i: Int) -> bool {
    let bits = u32::from(i.size) * 8 - u32::from(i.signed);
    high < 1 << bits && low >= if i.signed { -(1i128 << bits) } else { 0 }
}

/// Returns the first type of `unsigned int`, `int`, `unsigned long` and `long` that has all values;
/// if it is packed, smaller types come first.
fn enumeration_type(low: i128, high: i128, packed: bool) -> Int {
    let sizes: &[u8] = if packed { &[1, 2, 4, 8] } else { &[4, 8] };
    let mut types = sizes.iter().flat_map(|&size| [Int::new(size, false), Int::new(size, true)]);
    types.find(|i| fits(low, high, *i)).unwrap_or(Int::new(8, true))
}

/// Returns whether a declarator is a name and nothing else.
fn is_name(d: &Declarator) -> bool {
    d.derived.is_empty() && matches!(d.kind.node, DeclaratorKind::Identifier(_))
}
