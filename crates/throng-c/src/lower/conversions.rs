//! Conversions between types, and the questions that C asks about types alone.

use super::bits::in_type;
use super::expressions::LONG;
use super::{Lower, Result, Value, decay, unatomic, unsupported, wrong};
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{BOOL, BinOp, Expr, Instr, PTR, PointerUse};

impl<'a> Lower<'a> {
    pub(super) fn convert(&mut self, v: Value, ty: &Ty, span: Span) -> Result<Value> {
        if *ty.plain() == Ty::Void {
            return Ok(Value { expr: Expr::Const(0), ty: Ty::Void });
        }
        if (self.vector(&v.ty).is_some() || self.vector(ty).is_some())
            && !self.same_type(ty.plain(), v.ty.plain())
        {
            return unsupported(span, "this conversion of a vector");
        }
        if self.is_complex(&v.ty) || self.is_complex(ty) {
            return self.convert_complex(v, ty, span);
        }
        if v.ty.is_float() || ty.is_float() {
            return self.convert_float(v, ty, span);
        }
        let (Some(from), Some(to)) = (v.ty.scalar(), ty.scalar()) else {
            if self.same_type(ty.plain(), v.ty.plain()) {
                return Ok(v);
            }
            if let Some(what) = self.refusal(ty).or(self.refusal(&v.ty)) {
                return unsupported(span, what);
            }
            return wrong(span, "this value cannot be converted");
        };
        let mut v = v;
        let pointer = matches!(v.ty.plain(), Ty::Ptr(_) | Ty::Func(_)) && !matches!(v.expr, Expr::Const(0));
        if self.question.ilp32 && pointer && to.size < 8 && !to.truth {
            // Addresses here are longer than the 32 bits of a pointer.
            v = self.kept(v);
            let (address, number) = (self.label(), self.label());
            let upper = Expr::bin(BinOp::Shr, v.expr.clone(), Expr::Const(32), PTR);
            self.emit(Instr::Branch(upper, address, number));
            self.place_label(address);
            self.emit(Instr::Unmodelled("an address becomes an integer of 32 bits".into()));
            self.place_label(number);
        }
        if let (Ty::Ptr(old), Ty::Ptr(new)) = (v.ty.plain(), ty.plain())
            && matches!(new.plain(), Ty::Int(_))
            && old.has_pointers(&self.structs)
        {
            self.emit(Instr::Pointer(PointerUse::Bytes));
        }
        if pointer && matches!(ty.plain(), Ty::Int(_)) && !to.truth {
            self.emit(Instr::Pointer(PointerUse::Number(v.expr.clone())));
        }
        let expr = if from == to { v.expr } else { Expr::cast(v.expr, to) };
        let narrower = matches!(ty, Ty::Narrow(..)) && v.ty != *ty;
        let v = Value { expr, ty: unatomic(ty.clone()) };
        Ok(if narrower { in_type(v) } else { v })
    }

    /// Returns whether a value is not 0, as 0 or 1.
    pub(super) fn truth(&mut self, v: Value, span: Span) -> Result<Expr> {
        if self.is_complex(&v.ty) {
            return self.complex_truth(&v, span);
        }
        if v.ty.is_float() {
            return Ok(self.convert_float(v, &Ty::Int(BOOL), span)?.expr);
        }
        if self.vector(&v.ty).is_some() {
            return unsupported(span, "a vector as a condition");
        }
        if v.ty.scalar().is_none() {
            return wrong(span, "this is not a condition");
        }
        Ok(match v.expr {
            Expr::Bin(op, ..) if op.compares() => v.expr,
            Expr::Float(op, ..) if op.compares() => v.expr,
            e => Expr::bin(BinOp::Ne, e, Expr::Const(0), LONG),
        })
    }

    /// `__builtin_types_compatible_p`, where the types here say all that matters.
    pub(super) fn types_compatible(
        &mut self,
        types: &'a (Node<TypeName>, Node<TypeName>),
        span: Span,
    ) -> Result<Value> {
        let (a, b) = (self.type_name(&types.0)?, self.type_name(&types.1)?);
        let same = self.same_type(&a, &b);
        // Enumerations are integers here, and several types of C may be one.
        let number = matches!(a.plain(), Ty::Int(_)) && ![&types.0, &types.1].into_iter().any(is_keywords);
        if same && (self.is_several_types(&a) || number) {
            return unsupported(span, "`__builtin_types_compatible_p` on these types");
        }
        Ok(Value { expr: Expr::Const(i64::from(same)), ty: Ty::int() })
    }

    /// Returns whether C has several types that are this one here, or complex numbers or
    /// vectors of them.
    pub(super) fn is_several_types(&self, ty: &Ty) -> bool {
        let element = self.element(ty).or_else(|| self.vector(ty).map(|v| v.0));
        is_several_types(&element.unwrap_or_else(|| ty.clone()))
    }

    pub(super) fn generic(&mut self, g: &'a GenericSelection, span: Span) -> Result<Value> {
        let ty = decay(unatomic(self.type_of(&g.expression)?));
        if self.is_several_types(&ty) {
            return unsupported(span, "`_Generic` on this type");
        }
        let mut default = None;
        for a in &g.associations {
            match &a.node {
                // A value has no qualifiers.
                GenericAssociation::Type(t, _) if is_qualified(&t.node) => {}
                GenericAssociation::Type(t, e) => {
                    if unatomic(self.type_name(t)?) == ty {
                        return self.value(e);
                    }
                }
                GenericAssociation::Default(e) => default = Some(e),
            }
        }
        match default {
            Some(e) => self.value(e),
            None => wrong(span, "no type of this `_Generic` fits"),
        }
    }
}

/// Returns whether C has several types that are this one here: `char` and `signed char`, `long` and
/// `long long`, pointers to what is `const` and what is not.
pub(super) fn is_several_types(ty: &Ty) -> bool {
    match ty.plain() {
        Ty::Int(i) => i.size == 8 || i.size == 1 && i.signed,
        Ty::Ptr(_) => true,
        _ => false,
    }
}

/// Returns whether a type name that is not that of a pointer has qualifiers.
pub(super) fn is_qualified(t: &TypeName) -> bool {
    let qualifier = |s: &Node<DeclarationSpecifier>| matches!(s.node, DeclarationSpecifier::TypeQualifier(_));
    t.declarator.is_none() && t.specifiers.iter().any(qualifier)
}

/// Returns whether a type name has keywords only, so that the type is not an enumeration.
pub(super) fn is_keywords(t: &Node<TypeName>) -> bool {
    t.node.specifiers.iter().all(|s| match &s.node {
        DeclarationSpecifier::TypeSpecifier(t) => !matches!(
            t.node,
            TypeSpecifier::Enum(_)
                | TypeSpecifier::TypedefName(_)
                | TypeSpecifier::TypeOf(_)
                | TypeSpecifier::Atomic(_)
        ),
        _ => true,
    })
}
