//! Calls of functions that the library has in C ([`crate::library::prelude`]): their code stands in
//! place of the call, and all of it happens where the call is.

use std::collections::HashMap;
use std::rc::Rc;

use super::functions::takes_more;
use super::{Lower, Place, Result, Symbol, Value, unsupported};
use crate::library::prelude::{defines, exact_futex, is_sorting, is_system_call};
use crate::syntax::ast::Span;
use crate::types::{Func, Ty};
use throng_goto::program::{Expr, Instr, PTR};

/// How deep functions of the library call one another.
const DEEPEST: usize = 8;

impl<'a> Lower<'a> {
    /// Returns the function of the library, by its name among the definitions, that is written in C
    /// and called by this name.
    pub(super) fn prelude_function(&mut self, name: &str) -> Option<String> {
        let library = self.library.clone();
        let name = library.plain(name);
        let name = if defines(name) { name } else { name.strip_prefix("__builtin_")? };
        let (n, file, tree) = self.prelude.file(name, self.prepared.text.len())?;
        if self.prelude_units[n].is_none() {
            let unit = self.linkage.add_library(file, tree);
            self.prelude_units[n] = Some(unit);
            let here = std::mem::replace(&mut self.linkage.unit, unit);
            let scopes = std::mem::take(&mut self.scopes);
            let values = self.values.clone();
            let (at, dry) = (self.here, std::mem::replace(&mut self.dry, false));
            self.unit(tree);
            (self.linkage.unit, self.scopes, self.values) = (here, scopes, values);
            (self.here, self.dry) = (at, dry);
        }
        Some(format!("{file}:{name}"))
    }

    /// Returns the type of a function that is written in C here, and not declared by the program.
    pub(super) fn prelude_type(&mut self, name: &str) -> Option<Rc<Func>> {
        let function = self.prelude_function(name)?;
        self.definitions.get(&function).map(|d| d.ty.clone())
    }

    /// Writes the code of a function of the library in place of its call; `ty`: as the program
    /// declares it.
    pub(super) fn prelude_call(
        &mut self,
        function: &str,
        ty: &Func,
        arguments: Vec<Value>,
        span: Span,
    ) -> Result<Option<Value>> {
        let d = self.definitions[function].clone();
        if self.current.outer.len() >= DEEPEST {
            return unsupported(span, format!("`{function}` inside of itself"));
        }
        if arguments.len() < d.ty.parameters.len() {
            return unsupported(span, format!("a call of `{function}` without an argument"));
        }
        if is_system_call(function) {
            self.check_system_call(&arguments, span)?;
            if self.question.exact_waits() && is_futex(&arguments) {
                let mut arguments: Vec<Value> = arguments.into_iter().skip(1).take(4).collect();
                if arguments.len() == 3 {
                    // To wake threads takes no time limit.
                    arguments.push(Value { expr: Expr::Const(0), ty: Ty::ptr(Ty::Void) });
                }
                return self.prelude_call(&exact_futex(function), ty, arguments, span);
            }
        }
        if is_sorting(function) {
            self.assume("`qsort` sorts by insertion");
        }
        let mut given = arguments.into_iter();
        let mut scope = HashMap::new();
        for ((name, t), v) in d.ty.parameters.iter().zip(given.by_ref()) {
            let v = self.convert(v, t, span)?;
            let v = self.kept(v);
            scope.extend(name.clone().map(|name| (name, Symbol::Argument(v))));
        }
        let more = match takes_more(&d.ty) {
            true => {
                let block = self.more_arguments(given.collect(), span)?;
                let r = self.register(PTR, None);
                self.emit(Instr::Let(r, block));
                Some(r)
            }
            false => None,
        };
        let result = self.prelude_result(&d.ty, span)?;
        let exit = self.label();
        let first = self.current.template.locals.len() as u32;
        let outer = self.current.blocks.len();

        let frozen = self.frozen;
        self.frozen = frozen.or(Some(self.here));
        let unit = std::mem::replace(&mut self.linkage.unit, d.unit);
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let addressed = std::mem::replace(&mut self.current.addressed, d.addressed.clone());
        let bare = std::mem::replace(&mut self.current.bare, d.bare.clone());
        let old_result = std::mem::replace(&mut self.current.result, result.clone());
        let old_exit = std::mem::replace(&mut self.current.exit, exit);
        let old_more = std::mem::replace(&mut self.current.variable_arguments, more);
        self.current.outer.push(outer);

        self.statement(&d.node.node.statement);
        self.place_label(exit);

        self.current.outer.pop();
        (self.current.addressed, self.current.bare) = (addressed, bare);
        (self.current.result, self.current.exit) = (old_result, old_exit);
        self.current.variable_arguments = old_more;
        (self.linkage.unit, self.scopes) = (unit, scopes);
        self.ends((first..self.current.template.locals.len() as u32).collect());
        self.frozen = frozen;
        Ok(match result {
            Some(Place::Register(r, t)) => {
                let v = Value { expr: Expr::Reg(r), ty: t };
                // A program may declare a pointer to another type.
                match ty.result.scalar() {
                    Some(_) => Some(self.convert(v, &ty.result.plain().clone(), span)?),
                    None => None,
                }
            }
            Some(Place::Memory(a, _)) => Some(Value { expr: a, ty: ty.result.clone() }),
            _ => None,
        })
    }

    /// Calls of the kernel by number: that of the thread, and futexes.
    fn check_system_call(&self, arguments: &[Value], span: Span) -> Result<()> {
        match arguments.first().map(|v| &v.expr) {
            Some(Expr::Const(186)) => Ok(()),
            _ if is_futex(arguments) => Ok(()),
            Some(Expr::Const(n)) => unsupported(span, format!("`syscall` with the number {n}")),
            _ => unsupported(span, "`syscall` with a number that is not constant"),
        }
    }

    fn prelude_result(&mut self, ty: &Func, span: Span) -> Result<Option<Place>> {
        let result = ty.result.clone();
        Ok(match result.scalar() {
            _ if result == Ty::Void => None,
            Some(i) => Some(Place::Register(self.register(i, None), result)),
            None => Some(Place::Memory(self.space("(result)", &result, span)?, result)),
        })
    }
}

/// Returns whether these are the arguments of a call of the kernel about a futex.
fn is_futex(arguments: &[Value]) -> bool {
    matches!(arguments.first().map(|v| &v.expr), Some(Expr::Const(202)))
}
