//! Types as they are declared: specifiers, structures, declarators.

use std::rc::Rc;

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Base, Lower, MOST_BYTES, Problem, Result, Symbol, decay, unsupported, wrong};
use crate::goto::{BinOp, Expr, Instr, Int, PTR};
use crate::types::{Field, Func, Struct, Ty};

impl<'a> Lower<'a> {
    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).or_else(|| self.globals.get(name))
    }

    pub(super) fn bind(&mut self, name: String, symbol: Symbol) {
        match self.scopes.last_mut() {
            Some(scope) => scope.insert(name, symbol),
            None => self.globals.insert(name, symbol),
        };
    }

    pub(super) fn specifiers(&mut self, list: &'a [Node<DeclarationSpecifier>], span: Span) -> Result<Base> {
        let mut base = Base { ty: Ty::int(), class: None, thread_local: false };
        let mut types = Vec::new();
        let mut atomic = false;
        for s in list {
            match &s.node {
                DeclarationSpecifier::StorageClass(c) => match c.node {
                    StorageClassSpecifier::ThreadLocal => base.thread_local = true,
                    _ => base.class = Some(c.node.clone()),
                },
                DeclarationSpecifier::TypeSpecifier(t) => types.push(t),
                DeclarationSpecifier::TypeQualifier(q) => atomic |= q.node == TypeQualifier::Atomic,
                _ => {}
            }
        }
        base.ty = self.base_type(&types, span)?;
        if atomic {
            base.ty = Ty::Atomic(Rc::new(base.ty));
        }
        Ok(base)
    }

    pub(super) fn qualified(&mut self, list: &'a [Node<SpecifierQualifier>], span: Span) -> Result<Ty> {
        let mut types = Vec::new();
        let mut atomic = false;
        for s in list {
            match &s.node {
                SpecifierQualifier::TypeSpecifier(t) => types.push(t),
                SpecifierQualifier::TypeQualifier(q) => atomic |= q.node == TypeQualifier::Atomic,
                SpecifierQualifier::Extension(_) => {}
            }
        }
        let ty = self.base_type(&types, span)?;
        Ok(if atomic { Ty::Atomic(Rc::new(ty)) } else { ty })
    }

    pub(super) fn base_type(&mut self, list: &[&'a Node<TypeSpecifier>], span: Span) -> Result<Ty> {
        let (mut size, mut longs, mut unsigned, mut signed) = (4, 0, false, false);
        let mut float = None;
        for t in list {
            match &t.node {
                TypeSpecifier::Void => return Ok(Ty::Void),
                TypeSpecifier::Char => size = 1,
                TypeSpecifier::Short => size = 2,
                TypeSpecifier::Int => {}
                TypeSpecifier::Long => longs += 1,
                TypeSpecifier::Signed => signed = true,
                TypeSpecifier::Unsigned => unsigned = true,
                TypeSpecifier::Float => float = Some(4),
                TypeSpecifier::Double => float = Some(8),
                TypeSpecifier::Bool => return Ok(Ty::Int(Int { size: 1, signed: false, truth: true })),
                TypeSpecifier::Complex => float = float.or(Some(8)),
                TypeSpecifier::TS18661Float(f) => {
                    float = Some(if f.width <= 32 {
                        4
                    } else if f.width <= 64 {
                        8
                    } else {
                        16
                    })
                }
                TypeSpecifier::Atomic(t) => {
                    let ty = self.type_name(t)?;
                    return Ok(Ty::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(s) => return self.struct_type(s),
                TypeSpecifier::Enum(e) => {
                    let mut next = 0;
                    for item in &e.node.enumerators {
                        if let Some(v) = &item.node.expression {
                            next = self.constant(v)?;
                        }
                        self.bind(item.node.identifier.node.name.clone(), Symbol::Constant(next));
                        next = next.wrapping_add(1);
                    }
                    return Ok(Ty::Int(Int::new(4, false)));
                }
                TypeSpecifier::TypedefName(n) => {
                    let name = &n.node.name;
                    return match self.lookup(name) {
                        Some(Symbol::Typedef(t)) => Ok(t.clone()),
                        _ if name == "__builtin_va_list" => Ok(Ty::Array(Rc::new(Ty::Int(PTR)), Some(3))),
                        _ => wrong(n.span, format!("`{name}` is not a type")),
                    };
                }
                TypeSpecifier::TypeOf(t) => {
                    return match &t.node {
                        TypeOf::Type(t) => self.type_name(t),
                        TypeOf::Expression(e) => self.type_of(e),
                    };
                }
            }
        }
        if let Some(size) = float {
            return Ok(Ty::Float(if longs > 0 { 16 } else { size }));
        }
        if longs > 0 {
            size = if longs == 1 { self.long().size } else { 8 };
        }
        _ = (signed, span);
        Ok(Ty::Int(Int::new(size, !unsigned)))
    }

    pub(super) fn struct_type(&mut self, s: &'a Node<StructType>) -> Result<Ty> {
        let tag = s.node.identifier.as_ref().map(|n| format!("struct {}", n.node.name));
        let known = match &tag {
            // A definition makes a new type in its scope.
            Some(tag) if s.node.declarations.is_some() => {
                let scope = self.scopes.last().unwrap_or(&self.globals);
                scope.get(tag).cloned()
            }
            Some(tag) => self.lookup(tag).cloned(),
            None => None,
        };
        let number = match known {
            Some(Symbol::Tag(n)) => n,
            _ => {
                let name = s.node.identifier.as_ref().map_or_else(String::new, |n| n.node.name.clone());
                if name == "__throng_auto" {
                    return Ok(Ty::Auto);
                }
                self.structs.push(Struct { name, align: 1, ..Struct::default() });
                let n = self.structs.len() - 1;
                if let Some(tag) = tag {
                    self.bind(tag, Symbol::Tag(n));
                }
                n
            }
        };
        let Some(declarations) = &s.node.declarations else { return Ok(Ty::Struct(number)) };
        if self.structs[number].complete {
            return Ok(Ty::Struct(number));
        }
        let union = s.node.kind.node == StructKind::Union;
        let mut fields = Vec::new();
        let (mut size, mut align) = (0u64, 1u64);
        // Bits used of the storage unit that ends at `size`.
        let mut bits_left = 0u64;
        for d in declarations {
            let StructDeclaration::Field(f) = &d.node else { continue };
            let base = self.qualified(&f.node.specifiers, f.span)?;
            let mut members = Vec::new();
            if f.node.declarators.is_empty() {
                members.push((None, base.clone(), None));
            }
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
            for (name, ty, width) in members {
                let flexible = matches!(ty, Ty::Array(_, None));
                let layout = if flexible {
                    let Ty::Array(t, _) = &ty else { continue };
                    t.layout(&self.structs).map(|l| (0, l.1))
                } else {
                    ty.layout(&self.structs)
                };
                let Some((bytes, aligned)) = layout else {
                    return wrong(f.span, "a member has a type that is not complete");
                };
                align = align.max(aligned);
                if let Some(width) = width {
                    if width == 0 {
                        bits_left = 0;
                    } else if union {
                        size = size.max(bytes);
                    } else if bits_left >= width {
                        bits_left -= width;
                    } else {
                        size = size.next_multiple_of(aligned) + bytes;
                        bits_left = bytes * 8 - width.min(bytes * 8);
                    }
                    if name.is_some() {
                        fields.push(Field { name, ty, offset: size - bytes.min(size), bits: true });
                    }
                    continue;
                }
                bits_left = 0;
                let offset = if union { 0 } else { size.next_multiple_of(aligned) };
                size = size.max(offset.saturating_add(bytes));
                fields.push(Field { name, ty, offset, bits: false });
            }
        }
        let s = &mut self.structs[number];
        s.fields = fields;
        s.align = align;
        s.size = size.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        s.complete = true;
        Ok(Ty::Struct(number))
    }

    pub(super) fn type_name(&mut self, t: &'a Node<TypeName>) -> Result<Ty> {
        let base = self.qualified(&t.node.specifiers, t.span)?;
        match &t.node.declarator {
            Some(d) => Ok(self.declarator(base, d)?.1),
            None => Ok(base),
        }
    }

    /// A local array whose size is not constant: memory is allocated for it, and its name is the address, which does not change. Says whether the declarator
    /// is such a one.
    pub(super) fn variable_array(&mut self, base: &Ty, item: &'a Node<InitDeclarator>) -> Result<bool> {
        let declarator = &item.node.declarator.node;
        let (DeclaratorKind::Identifier(name), Some((last, pointers))) =
            (&declarator.kind.node, declarator.derived.split_last())
        else {
            return Ok(false);
        };
        let DerivedDeclarator::Array(array) = &last.node else { return Ok(false) };
        let ArraySize::VariableExpression(size) = &array.node.size else { return Ok(false) };
        let simple = pointers.iter().all(|p| matches!(p.node, DerivedDeclarator::Pointer(_)));
        if self.scopes.is_empty() || !simple || item.node.initializer.is_some() || self.constant(size).is_ok()
        {
            return Ok(false);
        }
        let element = pointers.iter().fold(base.clone(), |ty, _| Ty::ptr(ty));
        let count = self.value(size)?;
        let count = self.convert(count, &Ty::Int(PTR), size.span)?.expr;
        let bytes = self.size_of(&element, item.span)?;
        let r = self.register(PTR, Some(name.node.name.clone()));
        let here = std::mem::replace(&mut self.here, item.span);
        self.emit(Instr::AtomicBegin);
        self.emit(Instr::Alloc(r, Expr::bin(BinOp::Mul, count, Expr::Const(bytes as i64), PTR)));
        self.emit(Instr::AtomicEnd);
        self.here = here;
        self.current.variable_arrays.insert(r);
        self.bind(name.node.name.clone(), Symbol::Register(r, Ty::ptr(element)));
        Ok(true)
    }

    /// Whether an expression is the name of a [`Lower::variable_array`].
    pub(super) fn is_variable_array(&self, e: &Expression) -> bool {
        let Expression::Identifier(n) = e else { return false };
        matches!(self.lookup(&n.node.name), Some(Symbol::Register(r, _)) if self.current.variable_arrays.contains(r))
    }

    /// The name and type that a declarator declares.
    pub(super) fn declarator(&mut self, base: Ty, d: &'a Node<Declarator>) -> Result<(Option<String>, Ty)> {
        let mut ty = base;
        // Pointers come first in the list and bind last; arrays and functions are read from the right.
        let (pointers, rest): (Vec<_>, Vec<_>) = d
            .node
            .derived
            .iter()
            .partition(|x| matches!(x.node, DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_)));
        for p in pointers {
            ty = Ty::ptr(ty);
            if let DerivedDeclarator::Pointer(qualifiers) = &p.node {
                let is_atomic = |q: &Node<PointerQualifier>| matches!(&q.node, PointerQualifier::TypeQualifier(t) if t.node == TypeQualifier::Atomic);
                if qualifiers.iter().any(is_atomic) {
                    ty = Ty::Atomic(Rc::new(ty));
                }
            }
        }
        for x in rest.into_iter().rev() {
            ty = match &x.node {
                DerivedDeclarator::Array(a) => {
                    let size = match &a.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => None,
                        ArraySize::VariableExpression(e) | ArraySize::StaticExpression(e) => {
                            match self.constant(e) {
                                Ok(n) if n >= 0 => Some(n as u64),
                                Ok(_) => return wrong(x.span, "the size of an array is negative"),
                                Err(_) => return unsupported(x.span, "an array whose size is not constant"),
                            }
                        }
                    };
                    Ty::Array(Rc::new(ty), size)
                }
                DerivedDeclarator::Function(f) => {
                    let mut parameters = Vec::new();
                    for p in &f.node.parameters {
                        let base = self.specifiers(&p.node.specifiers, p.span)?;
                        let (name, t) = match &p.node.declarator {
                            Some(d) => self.declarator(base.ty, d)?,
                            None => (None, base.ty),
                        };
                        parameters.push((name, decay(t)));
                    }
                    if matches!(&parameters[..], [(None, Ty::Void)]) {
                        parameters.clear();
                    }
                    let variadic = f.node.ellipsis == Ellipsis::Some;
                    Ty::Func(Rc::new(Func { result: ty, parameters, variadic }))
                }
                DerivedDeclarator::KRFunction(names) => {
                    let parameters = names.iter().map(|n| (Some(n.node.name.clone()), Ty::int())).collect();
                    Ty::Func(Rc::new(Func { result: ty, parameters, variadic: names.is_empty() }))
                }
                DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => ty,
            };
        }
        match &d.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(n) => Ok((Some(n.node.name.clone()), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    pub(super) fn size_of(&self, ty: &Ty, span: Span) -> Result<u64> {
        match ty.layout(&self.structs) {
            Some((size, _)) if size <= MOST_BYTES => Ok(size),
            Some(_) => Err(Problem {
                code: "E807",
                span,
                message: format!("an object is larger than {MOST_BYTES} bytes"),
                hint: Some("make the array smaller".into()),
            }),
            None => wrong(span, "the size of this type is not known"),
        }
    }
}
