//! Calls: of functions that are defined, of others, and through pointers.

use std::rc::Rc;

use crate::syntax::ast::*;

use super::expressions::has_effects;
use super::floating::{is_opaque, opaque};
use super::functions::{Role, returns_by_address, takes_more};
use super::{Lower, Place, Result, Symbol, Value, unatomic, unsupported, written_name, wrong};
use crate::library::math::open_result;
use crate::library::special::{Meaning, is_input, special};
use crate::types::{Func, Ty};
use throng_goto::program::{Doubt, Expr, FUNCTION, INT, Instr, Int, PTR, Reg, object_of};
use throng_model::assumption::Assumption;

/// Where the result of a call comes to be.
struct Received {
    register: Option<Reg>,
    value: Option<Value>,
}

/// Functions of the library that return `int`, so that nothing has to declare them.
const RETURN_INT: [&str; 7] = ["printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc"];

impl<'a> Lower<'a> {
    pub(super) fn call(&mut self, c: &'a CallExpression, span: Span) -> Result<Option<Value>> {
        if let Expression::Identifier(n) = &c.callee.node {
            if let Some(Symbol::Nested(ty, key)) = self.lookup(&n.node.name).cloned() {
                let arguments = self.arguments(&ty, &c.arguments)?;
                return self.call_named(&key, &ty, arguments, span);
            }
            let name = self.library_name(&n.node.name);
            let variable = matches!(
                self.lookup(name),
                Some(Symbol::Memory(..) | Symbol::Local(..) | Symbol::Register(..) | Symbol::Argument(_))
            );
            if !variable {
                self.usable(name, span)?;
                if let Some(result) = self.builtin(name, &c.arguments, span)? {
                    return Ok(result);
                }
                let ty = match (self.lookup(name).cloned(), self.prelude_type(name)) {
                    (Some(Symbol::Function(f)), _) => f,
                    (_, Some(f)) => f,
                    _ => Rc::new(Func { result: undeclared(name), parameters: Vec::new(), variadic: true }),
                };
                let arguments = self.arguments(&ty, &c.arguments)?;
                return self.call_named(&self.linked(name), &ty, arguments, span);
            }
        }
        let callee = self.value(&c.callee)?;
        let ty = self.function_type(&callee, span)?;
        let callee = self.kept(callee);
        let arguments = self.arguments(&ty, &c.arguments)?;
        if self.dry {
            return Ok(Some(Value { expr: Expr::SelfId, ty: unatomic(ty.result.clone()) }));
        }
        self.call_value(&callee, &ty, arguments, span)
    }

    /// Returns the function that a name such as `__builtin_free` stands for: the one of the library,
    /// which the program may define, or one that only the compiler has.
    fn library_name<'n>(&self, name: &'n str) -> &'n str {
        let Some(plain) = name.strip_prefix("__builtin_").filter(|_| !self.is_defined(name)) else {
            return name;
        };
        let declared = matches!(self.lookup(plain), Some(Symbol::Function(_)));
        let is_library = match special(name, false) {
            None => {
                self.is_defined(plain)
                    || self.library.known(plain).is_some() && (declared || RETURN_INT.contains(&plain))
            }
            Some(Meaning::Bytes(_)) => false,
            meaning => self.is_defined(plain) && meaning == special(plain, false),
        };
        if is_library { plain } else { name }
    }

    /// Returns the type of the function that a pointer points to.
    pub(super) fn function_type(&self, callee: &Value, span: Span) -> Result<Rc<Func>> {
        match callee.ty.plain() {
            Ty::Ptr(t) => match &**t {
                Ty::Func(ty) => Ok(ty.clone()),
                _ => wrong(span, "this is not a function"),
            },
            _ => wrong(span, "this is not a function"),
        }
    }

    /// A call of whatever function a pointer points to.
    pub(super) fn call_value(
        &mut self,
        callee: &Value,
        ty: &Rc<Func>,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        if let Expr::Const(a) = callee.expr {
            return match self.program.name_of(a).filter(|_| object_of(a) >= FUNCTION) {
                Some(name) => self.call_named(&name, ty, arguments, span),
                None => wrong(span, "this is not a function"),
            };
        }
        let (result, arguments) = self.passed_arguments(ty, arguments, span)?;
        let address = callee.expr.clone();
        self.emit(Instr::CallPointer { address, arguments, result: result.register });
        Ok(result.value)
    }

    /// A call of a function that is defined.
    pub(super) fn call_defined(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        let ty = self.definitions[name].ty.clone();
        if arguments.len() < ty.parameters.len() {
            return unsupported(span, format!("a call of `{}` without an argument", written_name(name)));
        }
        let (result, arguments) = self.passed_arguments(&ty, arguments, span)?;
        let mut arguments: Vec<Expr> = arguments.into_iter().map(|(e, _)| e).collect();
        arguments.extend(self.captured_arguments(name, span)?);
        let function = self.template(name, Role::Called);
        self.emit(Instr::Call { function, arguments, result: result.register });
        Ok(result.value)
    }

    /// Returns what a call hands over for its arguments, and where its result comes to be.
    fn passed_arguments(
        &mut self,
        ty: &Func,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<(Received, Vec<(Expr, Int)>)> {
        let mut passed = Vec::new();
        let mut result = Received { register: None, value: None };
        let of = unatomic(ty.result.clone());
        if returns_by_address(ty) {
            let place = self.space("(result)", &of, span)?;
            passed.push((place.clone(), PTR));
            result.value = Some(Value { expr: place, ty: of });
        } else if let Some(i) = of.scalar() {
            let r = self.register(i, None);
            result = Received { register: Some(r), value: Some(Value { expr: Expr::Reg(r), ty: of }) };
        } else if is_opaque(&of) {
            result.value = Some(opaque());
        }
        let mut arguments = arguments.into_iter();
        for ((_, t), v) in ty.parameters.iter().zip(arguments.by_ref()) {
            let v = self.convert(v, t, span)?;
            let expr = if is_opaque(t) { Expr::Const(0) } else { v.expr };
            passed.push((expr, t.scalar().unwrap_or(PTR)));
        }
        if takes_more(ty) {
            let block = self.more_arguments(arguments.collect(), span)?;
            passed.push((block, PTR));
        }
        Ok((result, passed))
    }

    fn arguments(&mut self, ty: &Rc<Func>, arguments: &'a [Node<Expression>]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, e) in arguments.iter().enumerate() {
            let v = self.value(e)?;
            let v = match ty.parameters.get(i) {
                Some((_, t)) => self.convert(v, t, e.span)?,
                None => v,
            };
            let later = arguments[i + 1..].iter().any(|e| has_effects(&e.node));
            values.push(match v.ty.plain() {
                _ if !later => v,
                Ty::Struct(_) => self.copied(v, e.span)?,
                _ => self.kept(v),
            });
        }
        Ok(values)
    }

    /// Returns a copy of a structure that later arguments cannot change.
    pub(super) fn copied(&mut self, v: Value, span: Span) -> Result<Value> {
        let copy = self.space("(argument)", &v.ty, span)?;
        self.assign(&Place::Memory(copy.clone(), v.ty.clone()), v.clone(), span)?;
        Ok(Value { expr: copy, ty: v.ty })
    }

    pub(super) fn call_named(
        &mut self,
        name: &str,
        ty: &Rc<Func>,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        let defined = self.definitions.contains_key(name);
        let prelude = if defined { None } else { self.prelude_function(name) };
        if name.starts_with("__builtin_") && !defined && prelude.is_none() {
            return unsupported(span, format!("`{name}`"));
        }
        if self.dry {
            return Ok(Some(Value { expr: Expr::SelfId, ty: unatomic(ty.result.clone()) }));
        }
        if defined {
            // Functions of the library stand in place of their calls in others, too.
            return match self.prelude_units.contains(&Some(self.definitions[name].unit)) {
                true => self.prelude_call(name, ty, arguments, span),
                false => self.call_defined(name, arguments, span),
            };
        }
        if let Some(function) = prelude {
            return self.prelude_call(&function, ty, arguments, span);
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
        if name.starts_with("__builtin_") {
            return unsupported(span, format!("`{name}`"));
        }
        self.note(Assumption::Undefined { name: name.into(), row: self.row_of(name, ty) });
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
                None if is_opaque(t) => Ok(Some(opaque())),
                None => unsupported(span, "an undefined function that returns a structure"),
            },
        }
    }
}

/// Returns what a function without a declaration returns: compilers know those of `<math.h>`.
fn undeclared(name: &str) -> Ty {
    open_result(name).map_or(Ty::int(), Ty::Float)
}
