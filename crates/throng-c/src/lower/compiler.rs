//! Functions of the compiler about the program as it is compiled.

use super::builtins::Args;
use super::expressions::has_effects;
use super::{Lower, Result, Value, unsupported, written_name, wrong};
use crate::library::special::Compiler;
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{Doubt, Expr, INT, Int};

impl<'a> Lower<'a> {
    /// Lowers a call of such a function: its result, if it has one.
    pub(super) fn compiler(
        &mut self,
        what: Compiler,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Value>> {
        match what {
            Compiler::Prefetch => self.all(args).map(|()| None),
            Compiler::Choose => {
                let [condition, then, otherwise] = args else { return wrong(span, "an argument is missing") };
                let chosen = if self.decided(condition)? != 0 { then } else { otherwise };
                self.value(chosen).map(Some)
            }
            Compiler::Classify => match args {
                [e] if !has_effects(&e.node) => {
                    let ty = self.type_of(e)?;
                    let class = match ty.plain() {
                        Ty::Struct(s) if self.structs[*s].vector.is_some() => None,
                        ty if self.is_complex(ty) => Some(9),
                        Ty::Struct(s) => Some(if self.structs[*s].union { 13 } else { 12 }),
                        ty => class(ty),
                    };
                    let class =
                        class.map_or_else(|| unsupported(span, format!("`{name}` of this type")), Ok)?;
                    Ok(Self::int_value(Expr::Const(class)))
                }
                _ => unsupported(span, format!("`{name}` of this")),
            },
            // Without optimisation, sizes of objects are not known.
            Compiler::ObjectSize => {
                if args.first().is_some_and(|e| has_effects(&e.node)) {
                    return unsupported(span, format!("`{name}` of this"));
                }
                let ty = Ty::Int(self.size_type());
                Ok(Some(self.perhaps(name, ty)))
            }
            Compiler::Aligned => {
                let v = self.arg(args, 0, span)?;
                self.all(args.get(1..).unwrap_or_default())?;
                self.convert(v, &Ty::ptr(Ty::Void), span).map(Some)
            }
            Compiler::Line => {
                let line = self.prepared.origin(span.start, span.end).1;
                Ok(Self::int_value(Expr::Const(line.into())))
            }
            Compiler::Function => {
                let function = written_name(&self.current.template.name).to_string();
                let (a, _) = self.text(function.into_bytes());
                Ok(Some(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Int(Int::new(1, true))) }))
            }
            Compiler::Frame => {
                self.all(args)?;
                Ok(Some(self.perhaps(name, Ty::ptr(Ty::Void))))
            }
        }
    }

    /// Returns a value of which nothing is known. A run that depends on it counts for nothing.
    fn perhaps(&mut self, name: &str, ty: Ty) -> Value {
        let r = self.register(ty.scalar().unwrap_or(INT), None);
        self.emit_doubtful(r, Doubt::Result(name.into()));
        Value { expr: Expr::Reg(r), ty }
    }

    /// Returns a constant on which the text of the program depends. In it, what is not constant as
    /// it is written is not constant for `__builtin_constant_p`.
    fn decided(&mut self, e: &'a Node<Expression>) -> Result<i64> {
        let outer = self.constants.replace(false);
        let value = self.constant(e);
        self.constants = outer;
        value
    }

    /// `__builtin_constant_p`. What is not constant as it is written may become so when the program
    /// is optimised, unless it has effects, or is a pointer or a structure.
    pub(super) fn is_known(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Value> {
        let Some(e) = args.first() else { return wrong(span, "an argument is missing") };
        let known = |v| Ok(Value { expr: Expr::Const(v), ty: Ty::int() });
        // A variable is not a constant here, though an initial value may use what it has.
        let outer = self.constants.take();
        let is_constant = self.is_constant(e);
        self.constants = outer;
        if is_constant {
            return known(1);
        }
        let simple = matches!(self.type_of(e)?.plain(), Ty::Int(_) | Ty::Narrow(..) | Ty::Float(_));
        if has_effects(&e.node) && !matches!(e.node, Expression::Call(_))
            || !simple
            || self.constants.is_some()
        {
            return known(0);
        }
        let truth = Int { truth: true, ..Int::new(1, false) };
        let v = self.perhaps(name, Ty::Int(truth));
        Ok(Value { expr: Expr::cast(v.expr, INT), ty: Ty::int() })
    }
}

/// Returns the number of a class of types.
fn class(ty: &Ty) -> Option<i64> {
    Some(match ty.plain() {
        Ty::Void => 0,
        Ty::Int(_) | Ty::Narrow(..) => 1,
        Ty::Ptr(_) | Ty::Array(..) | Ty::Variable(..) | Ty::Func(_) => 5,
        Ty::Float(_) => 8,
        _ => return None,
    })
}
