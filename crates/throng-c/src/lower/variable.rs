//! Types whose size is not constant: arrays, and pointers to them.
//!
//! The sizes are evaluated where the type is written, and kept in registers. A local array is
//! allocated where it is declared and freed where its block is left; its name is its address.

use std::rc::Rc;

use super::cleanup::Cleanup;
use super::{Lower, Result, Symbol, decay, unsupported, wrong};
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{BinOp, Expr, Instr, PTR, Reg};

impl<'a> Lower<'a> {
    /// Returns an array type.
    pub(super) fn array(&mut self, element: Ty, size: &'a ArraySize, span: Span) -> Result<Ty> {
        let variable = matches!(element.plain(), Ty::Variable(..));
        let e = match size {
            ArraySize::Unknown if !variable => return Ok(Ty::Array(Rc::new(element), None)),
            ArraySize::Unknown | ArraySize::VariableUnknown => {
                return Ok(Ty::Variable(Rc::new(element), None));
            }
            ArraySize::Expression(e) | ArraySize::StaticExpression(e) => e,
        };
        match self.constant(e) {
            Ok(n) if n < 0 => wrong(span, "the size of an array is negative"),
            Ok(n) if !variable => Ok(Ty::Array(Rc::new(element), Some(n as u64))),
            _ if self.in_prototype => Ok(Ty::Variable(Rc::new(element), None)),
            _ if self.scopes.is_empty() => unsupported(span, "an array whose size is not constant"),
            _ => {
                let count = self.count(e)?;
                Ok(Ty::Variable(Rc::new(element), Some(count)))
            }
        }
    }

    /// Evaluates a number of elements.
    fn count(&mut self, e: &'a Node<Expression>) -> Result<Reg> {
        let v = self.value(e)?;
        let v = self.convert(v, &Ty::Int(PTR), e.span)?;
        let r = self.register(PTR, None);
        self.emit(Instr::Let(r, v.expr));
        Ok(r)
    }

    /// Returns the number of bytes of a type.
    pub(super) fn bytes_of(&mut self, ty: &Ty, span: Span) -> Result<Expr> {
        match ty.plain() {
            Ty::Variable(t, Some(count)) => {
                let one = self.bytes_of(t, span)?;
                Ok(Expr::bin(BinOp::Mul, Expr::Reg(*count), one, PTR))
            }
            _ => Ok(Expr::Const(self.size_of(ty, span)? as i64)),
        }
    }

    /// Allocates a local array whose size is not constant.
    pub(super) fn variable_array(
        &mut self,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        cleanup: bool,
    ) -> Result<()> {
        let span = item.span;
        if cleanup {
            return unsupported(span, "the attribute `cleanup` of an array whose size is not constant");
        }
        if item.node.initializer.is_some() {
            return unsupported(span, "an initial value of an array whose size is not constant");
        }
        let bytes = self.bytes_of(&ty, span)?;
        let r = self.register(PTR, Some(name.clone()));
        self.program.unaligned = true;
        let here = std::mem::replace(&mut self.here, span);
        self.emit(Instr::AtomicBegin);
        self.emit(Instr::Alloc(r, bytes));
        self.emit(Instr::AtomicEnd);
        self.here = here;
        if let (Some(block), false) = (self.current.blocks.last_mut(), self.dry) {
            block.cleanups.push(Cleanup::Free(r, span));
        }
        self.bind(name, Symbol::Array(r, ty));
        Ok(())
    }

    /// Evaluates the sizes in the types of parameters, which may name other parameters.
    pub(super) fn variable_parameters(&mut self, d: &'a Declarator) -> Result<()> {
        let function = d.derived.iter().find_map(|x| match &x.node {
            DerivedDeclarator::Function(f) => Some(f),
            _ => None,
        });
        if let (None, DeclaratorKind::Declarator(inner)) = (function, &d.kind.node) {
            return self.variable_parameters(&inner.node);
        }
        for p in function.iter().flat_map(|f| &f.parameters) {
            let Some(declarator) = &p.node.declarator else { continue };
            if !self.has_variable_size(&declarator.node) {
                continue;
            }
            let base = self.specifiers(&p.node.specifiers)?;
            let (name, ty) = self.declarator(base.ty, declarator)?;
            let Some(name) = name else { continue };
            match self.scopes.last_mut().and_then(|scope| scope.get_mut(&name)) {
                Some(Symbol::Register(_, old) | Symbol::Local(_, old)) => *old = decay(ty),
                _ => return unsupported(declarator.span, "the type of this parameter"),
            }
        }
        Ok(())
    }

    fn has_variable_size(&mut self, d: &'a Declarator) -> bool {
        let own = d.derived.iter().any(|x| match &x.node {
            DerivedDeclarator::Array(a) => match &a.size {
                ArraySize::Expression(e) | ArraySize::StaticExpression(e) => self.constant(e).is_err(),
                _ => false,
            },
            _ => false,
        });
        own || matches!(&d.kind.node, DeclaratorKind::Declarator(inner) if self.has_variable_size(&inner.node))
    }
}
