//! Types as they are declared: specifiers, structures, declarators.

use std::rc::Rc;

use crate::syntax::ast::*;

use super::attributes::power_of_two;
use super::floating::LONG_DOUBLE;
use super::{Base, Lower, MOST_BYTES, Problem, Result, Symbol, decay, unatomic, unsupported, wrong};
use crate::constructs::On;
use crate::types::{Func, Ty};
use throng_goto::program::{BOOL, Int};

impl<'a> Lower<'a> {
    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).or_else(|| self.linkage.names().get(name))
    }

    /// What a name means that is used in code; some cannot be used.
    pub(super) fn usable_name(&self, name: &str, span: Span) -> Result<Option<&Symbol>> {
        self.usable(name, span)?;
        Ok(self.lookup(name))
    }

    pub(super) fn bind(&mut self, name: String, symbol: Symbol) {
        match self.scopes.last_mut() {
            Some(scope) => _ = scope.insert(name, symbol),
            None => self.linkage.insert(name, symbol),
        }
    }

    /// Reads the specifiers of a declaration, or of a type name.
    pub(super) fn specifiers(&mut self, list: &'a [Node<DeclarationSpecifier>]) -> Result<Base<'a>> {
        let mut base = Base::default();
        let mut types = Vec::new();
        let mut atomic = false;
        for s in list {
            match &s.node {
                DeclarationSpecifier::StorageClass(StorageClassSpecifier::ThreadLocal) => {
                    base.thread_local = true
                }
                DeclarationSpecifier::StorageClass(StorageClassSpecifier::Constexpr) => {
                    return unsupported(s.span, "`constexpr`");
                }
                DeclarationSpecifier::StorageClass(c) => base.class = Some(*c),
                DeclarationSpecifier::TypeSpecifier(t) => types.push(t),
                DeclarationSpecifier::TypeQualifier(TypeQualifier::Unsupported(name)) => {
                    return unsupported(s.span, format!("`{name}`"));
                }
                DeclarationSpecifier::TypeQualifier(q) => {
                    atomic |= *q == TypeQualifier::Atomic;
                    base.volatile |= *q == TypeQualifier::Volatile;
                }
                DeclarationSpecifier::Function(f) => base.noreturn |= *f == FunctionSpecifier::Noreturn,
                DeclarationSpecifier::Alignment(a) => {
                    let align = self.alignment(a, s.span)?;
                    base.aligned = base.aligned.max(align);
                }
                DeclarationSpecifier::Attributes(list) => base.attributes.extend(list),
            }
        }
        base.ty = self.base_type(&types)?;
        if let [Node { node: TypeSpecifier::TypedefName(n), .. }] = types[..] {
            base.type_aligned = match self.lookup(&n.node.name) {
                Some(Symbol::Typedef(_, aligned)) => *aligned,
                _ => None,
            };
        }
        self.vector_specifiers(&mut base)?;
        if atomic && self.is_complex(&base.ty) {
            return unsupported(list[0].span, "an `_Atomic` complex number");
        }
        if atomic {
            base.ty = Ty::Atomic(Rc::new(base.ty));
        }
        Ok(base)
    }

    /// `_Alignas`; 0 is without effect.
    fn alignment(&mut self, a: &'a AlignmentSpecifier, span: Span) -> Result<Option<u64>> {
        match a {
            AlignmentSpecifier::Type(t) => {
                let (ty, said) = self.aligned_type_name(t)?;
                self.size_of(&ty, t.span)?;
                Ok(said.or(ty.layout(&self.structs).map(|l| l.1)))
            }
            AlignmentSpecifier::Constant(e) => match self.constant(e)? {
                0 => Ok(None),
                align => power_of_two(align, span).map(Some),
            },
        }
    }

    fn base_type(&mut self, list: &[&'a Node<TypeSpecifier>]) -> Result<Ty> {
        let (mut size, mut longs, mut unsigned) = (4, 0, false);
        let (mut float, mut complex, mut integer) = (None, None, false);
        for t in list {
            integer |= is_integer_word(&t.node);
            match &t.node {
                TypeSpecifier::Void => return Ok(Ty::Void),
                TypeSpecifier::Char => size = 1,
                TypeSpecifier::Short => size = 2,
                TypeSpecifier::Int | TypeSpecifier::Signed => {}
                TypeSpecifier::Long => longs += 1,
                TypeSpecifier::Unsigned => unsigned = true,
                TypeSpecifier::Float => float = Some(4),
                TypeSpecifier::Double => float = Some(8),
                TypeSpecifier::Bool => return Ok(Ty::Int(BOOL)),
                TypeSpecifier::Complex => complex = Some(t.span),
                TypeSpecifier::Int128 => return unsupported(t.span, "`__int128`"),
                TypeSpecifier::Unsupported(name) => match float_size(name) {
                    Some(size) => float = Some(size),
                    None => return unsupported(t.span, format!("`{name}`")),
                },
                TypeSpecifier::Auto => return Ok(Ty::Auto),
                TypeSpecifier::VaList => return Ok(super::variadic::list_type()),
                TypeSpecifier::Atomic(t) => {
                    let ty = self.type_name(t)?;
                    if self.is_complex(&ty) {
                        return unsupported(t.span, "an `_Atomic` complex number");
                    }
                    return Ok(Ty::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(s) => return self.struct_type(s),
                TypeSpecifier::Enum(e) => return self.enumeration(e),
                TypeSpecifier::TypedefName(n) => {
                    let name = &n.node.name;
                    return match self.lookup(name) {
                        Some(Symbol::Typedef(t, _)) => Ok(t.clone()),
                        _ => wrong(n.span, format!("`{name}` is not a type")),
                    };
                }
                TypeSpecifier::TypeOf(of) => return self.type_of_type(of),
            }
        }
        // `_Complex` alone is that of `double`.
        if complex.is_some() && float.is_none() && !integer {
            float = Some(8);
        }
        if longs > 0 {
            size = if longs == 1 { self.long().size } else { 8 };
        }
        let ty = match float {
            Some(_) if longs > 0 => Ty::Float(LONG_DOUBLE),
            Some(size) => Ty::Float(size),
            None => Ty::Int(Int::new(size, !unsigned)),
        };
        match complex {
            Some(span) => self.complex_type(&ty, span),
            None => Ok(ty),
        }
    }

    fn type_of_type(&mut self, of: &'a TypeOf) -> Result<Ty> {
        match of {
            TypeOf::Type(t) => self.type_name(t),
            TypeOf::Expression(e) => self.type_of(e),
            // The qualifiers of a type other than `_Atomic` are not kept.
            TypeOf::Unqualified(of) => self.type_of_type(of).map(unatomic),
        }
    }

    pub(super) fn type_name(&mut self, t: &'a Node<TypeName>) -> Result<Ty> {
        self.aligned_type_name(t).map(|t| t.0)
    }

    /// Returns a type and the alignment that its `typedef` gives it.
    pub(super) fn aligned_type_name(&mut self, t: &'a Node<TypeName>) -> Result<(Ty, Option<u64>)> {
        let base = self.specifiers(&t.node.specifiers)?;
        self.said(base.attributes.iter().copied(), On::Other)?;
        match &t.node.declarator {
            Some(d) => {
                self.without_effect(&d.node.attributes)?;
                Ok((self.declarator(base.ty, d)?.1, None))
            }
            None => Ok((base.ty, base.type_aligned)),
        }
    }

    /// Returns the name and type that a declarator declares.
    pub(super) fn declarator(&mut self, base: Ty, d: &'a Node<Declarator>) -> Result<(Option<String>, Ty)> {
        let mut ty = base;
        // Pointers come first in the list and bind last; arrays and functions are read from the
        // right.
        let is_pointer = |x: &&Node<DerivedDeclarator>| matches!(x.node, DerivedDeclarator::Pointer(_));
        let (pointers, rest): (Vec<_>, Vec<_>) = d.node.derived.iter().partition(is_pointer);
        for x in pointers.into_iter().chain(rest.into_iter().rev()) {
            ty = self.derived(ty, x)?;
        }
        if let DeclaratorKind::Declarator(inner) = &d.node.kind.node {
            self.without_effect(&inner.node.attributes)?;
        }
        match &d.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(n) => Ok((Some(n.node.name.clone()), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    /// Returns the type that is derived from another one.
    fn derived(&mut self, ty: Ty, x: &'a Node<DerivedDeclarator>) -> Result<Ty> {
        Ok(match &x.node {
            DerivedDeclarator::Pointer(qualifiers) => self.pointer(ty, qualifiers, x.span)?,
            DerivedDeclarator::Array(a) => self.array(ty, &a.size, x.span)?,
            DerivedDeclarator::Function(f) => {
                let outer = std::mem::replace(&mut self.in_prototype, true);
                let parameters = f.parameters.iter().map(|p| self.parameter(p)).collect::<Result<Vec<_>>>();
                self.in_prototype = outer;
                let mut parameters = parameters?;
                if matches!(&parameters[..], [(None, Ty::Void)]) {
                    parameters.clear();
                }
                Ty::Func(Rc::new(Func { result: ty, parameters, variadic: f.variadic }))
            }
            DerivedDeclarator::KRFunction(names) => {
                let parameters = names.iter().map(|n| (Some(n.node.name.clone()), Ty::int())).collect();
                Ty::Func(Rc::new(Func { result: ty, parameters, variadic: names.is_empty() }))
            }
        })
    }

    fn pointer(&mut self, ty: Ty, qualifiers: &'a [PointerQualifier], span: Span) -> Result<Ty> {
        let mut pointer = Ty::ptr(ty);
        for q in qualifiers {
            match q {
                PointerQualifier::TypeQualifier(TypeQualifier::Atomic) => {
                    pointer = Ty::Atomic(Rc::new(pointer))
                }
                PointerQualifier::TypeQualifier(TypeQualifier::Unsupported(name)) => {
                    return unsupported(span, format!("`{name}`"));
                }
                PointerQualifier::TypeQualifier(_) => {}
                PointerQualifier::Attributes(list) => self.without_effect(list)?,
            }
        }
        Ok(pointer)
    }

    pub(super) fn parameter(&mut self, p: &'a Node<ParameterDeclaration>) -> Result<(Option<String>, Ty)> {
        let base = self.specifiers(&p.node.specifiers)?;
        let own = p.node.declarator.iter().flat_map(|d| &d.node.attributes);
        self.said(base.attributes.iter().copied().chain(own), On::Other)?;
        let (name, ty) = match &p.node.declarator {
            Some(d) => self.declarator(base.ty, d)?,
            None => (None, base.ty),
        };
        Ok((name, self.passed(decay(ty))))
    }

    /// Returns the type as which a value of a parameter type is passed.
    fn passed(&self, ty: Ty) -> Ty {
        match &ty {
            Ty::Struct(s) if self.structs[*s].transparent => match self.structs[*s].fields.first() {
                Some(f) => f.ty.clone(),
                None => ty,
            },
            _ => ty,
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
            None => match self.refusal(ty) {
                Some(what) => unsupported(span, what),
                None => wrong(span, "the size of this type is not known"),
            },
        }
    }
}

/// Returns whether a word says that a type is one of integers.
fn is_integer_word(t: &TypeSpecifier) -> bool {
    use TypeSpecifier as T;
    matches!(t, T::Char | T::Short | T::Int | T::Long | T::Signed | T::Unsigned)
}

/// Returns the number of bytes of `_Float32` and its like.
fn float_size(name: &str) -> Option<u8> {
    Some(match name {
        "_Float32" => 4,
        "_Float64" | "_Float32x" => 8,
        "_Float64x" | "_Float128" | "__float128" | "__float80" => LONG_DOUBLE,
        _ => return None,
    })
}
