//! Calls: of functions of the program, of intrinsics, of what is modelled, and by pointers.

use super::function::{Operand, Writer};
use super::{Problem, Result, Role};
use crate::link::Id;
use crate::models;
use crate::names::demangled;
use crate::syntax::tree::{Call, Value};
use throng_goto::program::{Expr, Instr, Int};

/// A call of a function by name.
pub(crate) struct Site<'s, 't> {
    /// The call.
    pub call: &'s Call<'t>,
    /// The name of its result.
    pub result: Option<&'t str>,
    /// The function's name in the source.
    pub name: String,
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub(super) fn call(&mut self, result: Option<&'t str>, call: &'a Call<'t>) -> Result<()> {
        match &call.callee {
            Value::Global(name) => self.call_named(result, call, name),
            Value::Other(what) => self.call_assembly(what),
            callee => {
                let address = self.scalar(&crate::syntax::tree::Type::Pointer, callee)?;
                match address.constant().and_then(|a| self.lower.function_at(a)) {
                    Some(id) => self.call_function(result, call, id),
                    None => self.call_pointer(result, call, address),
                }
            }
        }
    }

    /// Assembly without instructions only tells the compiler something.
    fn call_assembly(&mut self, what: &str) -> Result<()> {
        let empty = what.strip_prefix("assembly::").is_some_and(|c| !c.contains('='));
        match empty {
            true => Ok(()),
            false => Err(Problem::unsupported("inline assembly")),
        }
    }

    fn call_named(&mut self, result: Option<&'t str>, call: &'a Call<'t>, name: &'t str) -> Result<()> {
        if let Some(intrinsic) = name.strip_prefix("llvm.") {
            return self.intrinsic(result, intrinsic, call);
        }
        let function = self.lower.function_named(self.module, name);
        let site = Site { call, result, name: demangled(name) };
        if let Some(model) = models::model(&site.name) {
            return model(self, &site);
        }
        match function {
            Some(id) if self.lower.is_defined(id) => self.call_function(result, call, id),
            _ => Err(Problem::unsupported(format!("a call of `{}`, which is not defined,", site.name))),
        }
    }

    /// Returns the numbers that the arguments of a call consist of, with their types.
    pub(crate) fn arguments(&mut self, call: &Call<'t>) -> Result<Vec<(Expr, Int)>> {
        let mut found = Vec::new();
        for a in &call.arguments {
            let leaves = self.leaves(&a.ty)?;
            for (part, (_, leaf)) in self.parts(&a.ty, &a.value)?.into_iter().zip(leaves) {
                let at = leaf.int();
                found.push((self.number(part, at), at));
            }
        }
        Ok(found)
    }

    /// Calls a function of the program.
    pub(super) fn call_function(&mut self, result: Option<&'t str>, call: &Call<'t>, id: Id) -> Result<()> {
        let arguments = self.arguments(call)?;
        let function = self.callee(id, arguments.len())?;
        let arguments = arguments.into_iter().map(|a| a.0).collect();
        self.finish_call(result, call, |result| Instr::Call { function, arguments, result })
    }

    /// Returns the template of a function that is called with so many numbers.
    fn callee(&mut self, id: Id, given: usize) -> Result<usize> {
        let linked = self.lower.linked;
        let mut wanted = 0;
        for p in &linked.function(id).parameters {
            let ty = self.lower.resolved(id.module, &p.ty)?;
            wanted += crate::layout::leaves(&ty).map_err(Problem::unsupported)?.len();
        }
        if wanted != given {
            let name = demangled(linked.function(id).name);
            return Err(Problem::new(
                "E853",
                format!("`{name}` is called with other arguments than it takes"),
            ));
        }
        Ok(self.lower.template(id, Role::Called))
    }

    /// Calls the function that a pointer points to.
    fn call_pointer(&mut self, result: Option<&'t str>, call: &Call<'t>, address: Expr) -> Result<()> {
        let arguments = self.arguments(call)?;
        self.finish_call(result, call, |result| Instr::CallPointer { address, arguments, result })
    }

    /// Emits a call, and gives its result to who reads it.
    fn finish_call(
        &mut self,
        result: Option<&'t str>,
        call: &Call<'t>,
        make: impl FnOnce(Option<throng_goto::program::Reg>) -> Instr,
    ) -> Result<()> {
        let leaves = self.leaves(&call.result)?;
        match leaves[..] {
            [] => self.emit(make(None)),
            [(_, leaf)] => {
                let used = result.filter(|r| self.uses.contains_key(r));
                let r = used.map(|name| self.named_register(leaf.int(), name));
                self.emit(make(r));
                if let Some(r) = r {
                    self.set(result, vec![Operand::Is(Expr::Reg(r))]);
                }
            }
            _ => {
                self.emit(make(None));
                let parts = self.take_over(&leaves)?;
                self.set(result, parts);
            }
        }
        Ok(())
    }

    // ---- for models ----

    /// Calls the function at an address, which returns nothing.
    pub(crate) fn call_at(&mut self, address: Expr, arguments: Vec<(Expr, Int)>) -> Result<()> {
        let known = address.constant().and_then(|a| self.lower.function_at(a));
        let call = match known.filter(|&id| self.lower.is_defined(id)) {
            Some(id) => {
                let function = self.callee(id, arguments.len())?;
                let arguments = arguments.into_iter().map(|a| a.0).collect();
                Instr::Call { function, arguments, result: None }
            }
            None => Instr::CallPointer { address, arguments, result: None },
        };
        self.emit(call);
        Ok(())
    }

    /// Returns an argument of a call that is one number.
    pub(crate) fn argument(&mut self, site: &Site<'_, 't>, n: usize) -> Result<Expr> {
        match site.call.argument(n) {
            Some(typed) => self.typed(&typed),
            None => Err(Problem::unsupported(format!("a call of `{}` with so few arguments", site.name))),
        }
    }

    /// Gives a call its result, which is one number.
    pub(crate) fn finish(&mut self, site: &Site<'_, 't>, e: Expr) -> Result<()> {
        let leaves = self.leaves(&site.call.result)?;
        let [(_, leaf)] = leaves[..] else { return Ok(()) };
        if let Some(name) = site.result {
            let r = self.named_register(leaf.int(), name);
            self.emit(Instr::Let(r, e));
            self.set(site.result, vec![Operand::Is(Expr::Reg(r))]);
        }
        Ok(())
    }

    /// Returns the text that two numbers, an address and a length, are, if both are constant.
    pub(crate) fn text(&self, at: &Expr, length: &Expr) -> Option<String> {
        self.lower.text_at(at.constant()?, length.constant()?)
    }
}
