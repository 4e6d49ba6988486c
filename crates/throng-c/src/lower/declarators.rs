//! Types as they are declared: specifiers, structures, declarators.

use std::rc::Rc;

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Base, Lower, MOST_BYTES, Problem, Result, Symbol, decay, unsupported, wrong};
use crate::types::{Func, Ty};
use throng_goto::program::{BinOp, Expr, Instr, Int, PTR};

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
                // `inline` matters to linkage only; a function that is `_Noreturn` does not return.
                DeclarationSpecifier::Function(_) => {}
                DeclarationSpecifier::Alignment(_) => return unsupported(s.span, "`_Alignas`"),
                // Attributes are not seen by the parser.
                DeclarationSpecifier::Extension(_) => return unsupported(s.span, "this extension"),
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
                TypeSpecifier::Complex => return unsupported(t.span, "`_Complex`"),
                TypeSpecifier::TS18661Float(f) => float = Some(float_size(f)),
                TypeSpecifier::Atomic(t) => {
                    let ty = self.type_name(t)?;
                    return Ok(Ty::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(s) => return self.struct_type(s),
                TypeSpecifier::Enum(e) => return self.enumeration(e),
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
                        TypeOf::Expression(e) if self.is_variable_array(&e.node) => {
                            unsupported(e.span, "`typeof` an array whose size is not constant")
                        }
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

    pub(super) fn type_name(&mut self, t: &'a Node<TypeName>) -> Result<Ty> {
        let base = self.qualified(&t.node.specifiers, t.span)?;
        match &t.node.declarator {
            Some(d) => Ok(self.declarator(base, d)?.1),
            None => Ok(base),
        }
    }

    /// A local array whose size is not constant: memory is allocated for it, and its name is the
    /// address, which does not change. Says whether the declarator is such a one.
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
        self.assume("arrays of computed size, and what `alloca` returns, are not used after their block");
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

    /// Returns whether an expression is the name of a [`Lower::variable_array`].
    pub(super) fn is_variable_array(&self, e: &Expression) -> bool {
        let Expression::Identifier(n) = e else { return false };
        matches!(self.lookup(&n.node.name), Some(Symbol::Register(r, _)) if self.current.variable_arrays.contains(r))
    }

    /// Returns the name and type that a declarator declares.
    pub(super) fn declarator(&mut self, base: Ty, d: &'a Node<Declarator>) -> Result<(Option<String>, Ty)> {
        let mut ty = base;
        // Pointers come first in the list and bind last; arrays and functions are read from the
        // right.
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
            None => match self.refusal(ty) {
                Some(what) => unsupported(span, what),
                None => wrong(span, "the size of this type is not known"),
            },
        }
    }
}

/// Number of bytes of `_Float32` and its like.
fn float_size(f: &TS18661FloatType) -> u8 {
    let extended = matches!(f.format, TS18661FloatFormat::BinaryExtended);
    match f.width {
        ..=32 if !extended => 4,
        ..=32 => 8,
        33..=64 if !extended => 8,
        _ => 16,
    }
}
