//! Calls: of functions that are defined, which are inlined, of others, and through pointers.

use std::rc::Rc;

use crate::syntax::ast::*;

use super::expressions::has_effects;
use super::{Lower, Result, Symbol, Value, unatomic, unsupported, written_name, wrong};
use crate::library::special::is_input;
use crate::types::{Func, Ty};
use throng_goto::program::{BinOp, Doubt, Expr, INT, Instr, PTR, Reg};
use throng_model::assumption::Assumption;

impl<'a> Lower<'a> {
    pub(super) fn call(&mut self, c: &'a CallExpression, span: Span) -> Result<Option<Value>> {
        if let Expression::Identifier(n) = &c.callee.node {
            let name = n.node.name.as_str();
            let variable = matches!(self.lookup(name), Some(Symbol::Memory(..) | Symbol::Register(..)));
            if !variable {
                self.usable(name, span)?;
                if let Some(result) = self.builtin(name, &c.arguments, span)? {
                    return Ok(result);
                }
                let ty = match self.lookup(name) {
                    Some(Symbol::Function(f)) => f.clone(),
                    _ => Rc::new(Func { result: Ty::int(), parameters: Vec::new(), variadic: true }),
                };
                let arguments = self.arguments(&ty, &c.arguments)?;
                return self.call_named(&self.linked(name), &ty, arguments, span);
            }
        }
        let callee = self.value(&c.callee)?;
        let Ty::Ptr(t) = callee.ty.plain().clone() else { return wrong(span, "this is not a function") };
        let Ty::Func(ty) = &*t else { return wrong(span, "this is not a function") };
        let callee = self.kept(callee);
        let arguments = self.arguments(ty, &c.arguments)?;
        if self.dry {
            return Ok(Some(Value { expr: Expr::SelfId, ty: unatomic(ty.result.clone()) }));
        }
        if let Expr::Const(a) = callee.expr {
            return match self.program.name_of(a) {
                Some(name) if throng_goto::program::object_of(a) >= throng_goto::program::FUNCTION => {
                    self.call_named(&name, ty, arguments, span)
                }
                _ => wrong(span, "this is not a function"),
            };
        }
        self.call_pointer(callee, ty, arguments, span)
    }

    /// A call through a pointer: each function whose address is taken somewhere, and that fits.
    fn call_pointer(
        &mut self,
        callee: Value,
        ty: &Rc<Func>,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        let end = self.label();
        let result = ty.result.scalar().map(|i| self.register(i, None));
        let arguments: Vec<Value> = arguments.into_iter().map(|v| self.kept(v)).collect();
        for name in self.candidates(arguments.len()) {
            let a = self.function_address(&name);
            let (here, next) = (self.label(), self.label());
            let is = Expr::bin(BinOp::Eq, callee.expr.clone(), Expr::Const(a), PTR);
            self.emit(Instr::Branch(is, here, next));
            self.place_label(here);
            let definition = self.definitions[&name].ty.clone();
            let mut converted = Vec::new();
            for (v, (_, t)) in arguments.iter().zip(&definition.parameters) {
                converted.push(self.convert(v.clone(), t, span)?);
            }
            let v = self.inline(&name, converted, span)?;
            if let (Some(r), Some(v)) = (result, v) {
                let v = self.convert(v, &ty.result, span)?;
                self.emit(Instr::Let(r, v.expr));
            }
            self.emit(Instr::Jump(end));
            self.place_label(next);
        }
        self.emit(Instr::Unmodelled("a pointer is called that is not a known function".into()));
        self.place_label(end);
        Ok(result.map(|r| Value { expr: Expr::Reg(r), ty: unatomic(ty.result.clone()) }))
    }

    /// Returns the functions that a pointer may point to.
    pub(super) fn candidates(&self, arguments: usize) -> Vec<String> {
        let mut found: Vec<String> = self
            .definitions
            .iter()
            .filter(|(name, d)| {
                let taken = self.pointed.contains(*name) || self.values.contains(written_name(name));
                taken && d.ty.parameters.len() == arguments
            })
            .map(|(name, _)| name.clone())
            .filter(|name| !self.current.frames.iter().any(|f| f.name == *name))
            .collect();
        found.sort();
        found
    }

    fn arguments(&mut self, ty: &Rc<Func>, arguments: &'a [Node<Expression>]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, e) in arguments.iter().enumerate() {
            let v = self.value(e)?;
            let v = match ty.parameters.get(i) {
                Some((_, t)) if !matches!(t.plain(), Ty::Float(_)) => self.convert(v, t, e.span)?,
                _ => v,
            };
            let later = arguments[i + 1..].iter().any(|e| has_effects(&e.node));
            values.push(if later { self.kept(v) } else { v });
        }
        Ok(values)
    }

    pub(super) fn call_named(
        &mut self,
        name: &str,
        ty: &Rc<Func>,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        if name.starts_with("__builtin_") && !self.definitions.contains_key(name) {
            return unsupported(span, format!("`{name}`"));
        }
        if self.dry {
            return Ok(Some(Value { expr: Expr::SelfId, ty: unatomic(ty.result.clone()) }));
        }
        if self.definitions.contains_key(name) {
            let wanted = self.definitions[name].ty.parameters.clone();
            let mut converted = Vec::new();
            for (v, (_, t)) in arguments.into_iter().zip(&wanted) {
                converted.push(self.convert(v, t, span)?);
            }
            return self.inline(name, converted, span);
        }
        if is_input(name) {
            return self.any_result(ty, span, |s, r| s.emit(Instr::Any(r)));
        }
        let result = match self.known_call(name, ty, &arguments, span)? {
            Some(result) => result,
            None => self.unknown_call(name, ty, span)?,
        };
        if self.linkage.noreturn.contains(name) {
            let r = self.register(INT, None);
            self.emit_doubtful(r, Doubt::Undefined(written_name(name).into()));
            self.emit(Instr::Assume(Expr::Const(0)));
        }
        Ok(result)
    }

    /// A function that is not defined may do anything. What follows stands for the case that it
    /// changes nothing.
    fn unknown_call(&mut self, name: &str, ty: &Rc<Func>, span: Span) -> Result<Option<Value>> {
        let name = written_name(name);
        if ["thrd_", "mtx_", "cnd_", "call_once"].iter().any(|part| name.starts_with(part)) {
            return unsupported(span, format!("`{name}` (the threads of C11: use pthreads)"));
        }
        if name.starts_with("__builtin_") {
            return unsupported(span, format!("`{name}`"));
        }
        self.note(Assumption::Undefined(name.into()));
        let called = Doubt::Undefined(name.into());
        if ty.result.scalar().is_none() {
            let r = self.register(INT, None);
            self.emit_doubtful(r, called.clone());
        }
        self.any_result(ty, span, |s, r| s.emit_doubtful(r, called))
    }

    /// Returns the result of a function without a body; `open` makes a register open.
    pub(super) fn any_result(
        &mut self,
        ty: &Rc<Func>,
        span: Span,
        open: impl FnOnce(&mut Self, Reg),
    ) -> Result<Option<Value>> {
        match ty.result.plain() {
            Ty::Void => Ok(None),
            t => match t.scalar() {
                Some(i) => {
                    let r = self.register(i, None);
                    open(self, r);
                    Ok(Some(Value { expr: Expr::Reg(r), ty: t.clone() }))
                }
                None if matches!(t, Ty::Float(_)) => Ok(Some(Value { expr: Expr::Const(0), ty: t.clone() })),
                None => unsupported(span, "an undefined function that returns a structure"),
            },
        }
    }
}
