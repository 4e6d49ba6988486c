//! The meaning of names in a function.

use super::{Allow, Lowering};
use crate::bp::ast;
use crate::bp::expr::Expr;
use crate::bp::function::{Name, Ref, Variable};
use crate::bp::resolve::lower_expr;
use crate::similar::did_you_mean;
use crate::source::Span;

impl Lowering<'_, '_> {
    /// Returns whether a spelling that ends in `$` is not itself declared and so means another
    /// thread's variable.
    pub(super) fn is_passive(&self, spelling: &str) -> bool {
        self.declared(spelling).is_none() && spelling.len() > 1 && spelling.ends_with('$')
    }

    /// Looks up a declared name: local (or parameter), then thread-local, then shared.
    pub(super) fn declared(&self, spelling: &str) -> Option<Name> {
        let out = &self.resolver.out;
        let find = |vs: &[Variable]| vs.iter().position(|v| v.name == spelling).map(|i| i as u32);
        find(&out.functions[self.index].variables)
            .map(Name::Local)
            .or_else(|| find(&out.thread_locals).map(Name::ThreadLocal))
            .or_else(|| find(&out.shared).map(Name::Shared))
    }

    pub(in crate::bp::resolve) fn lookup(&mut self, ident: &ast::Ident) -> Option<Name> {
        self.lookup_str(&ident.name, ident.span)
    }

    pub(super) fn lookup_str(&mut self, spelling: &str, span: Span) -> Option<Name> {
        if let Some(name) = self.declared(spelling) {
            return Some(name);
        }
        if let Some(base) = spelling.strip_suffix('$').filter(|b| !b.is_empty()) {
            match self.declared(base) {
                Some(Name::Local(i)) => return Some(Name::OtherLocal(i)),
                Some(Name::ThreadLocal(i)) => return Some(Name::OtherThreadLocal(i)),
                Some(_) => {
                    let message =
                        format!("`{spelling}`: only local variables have a value in another thread");
                    self.resolver.error("E208", span, message).label = format!("`{base}` is shared");
                    return None;
                }
                None => {}
            }
        }
        let close = self.closest(spelling);
        let error = self.resolver.error("E201", span, format!("`{spelling}` is not declared"));
        error.hint = close;
        None
    }

    /// Returns a hint if a declared variable was probably meant.
    pub(super) fn closest(&self, spelling: &str) -> Option<String> {
        let out = &self.resolver.out;
        let all = out.functions[self.index].variables.iter().chain(&out.thread_locals).chain(&out.shared);
        did_you_mean(spelling, all.map(|v| v.name.as_str()))
    }

    pub(super) fn expr(&mut self, e: &ast::Expr, allow: Allow) -> Expr<Ref> {
        lower_expr(e, &mut |spelling, primed, span| {
            if primed && !allow.primed {
                let message =
                    format!("`'{spelling}` (the value after the step) has a meaning only in `constrain`");
                self.resolver.error("E207", span, message);
            }
            let Some(name) = self.lookup_str(spelling, span) else { return Expr::Any };
            if name.is_other() && !allow.passive {
                let message = format!("`{spelling}`: another thread's value has no meaning here");
                self.resolver.error("E208", span, message);
            }
            Expr::Var(Ref { name, primed })
        })
    }
}
