//! Labels as values: their addresses, and `goto` to one of them.
//!
//! The labels of a function whose addresses are taken are numbered: the address of one is its number
//! behind the place of an object that stands for all of them, so that their distances are numbers.

use super::{Block, Lower, Result, Value};
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::{BinOp, Expr, FUNCTION, Instr, PTR, address};

/// A `goto` to a computed label.
pub(super) struct ComputedGoto {
    /// The address of the label.
    to: Expr,
    /// Where it leads first.
    first: usize,
    /// The blocks that are open.
    open: Vec<Block>,
    at: Span,
}

impl<'a> Lower<'a> {
    /// Returns the address of a label.
    pub(super) fn label_address(&mut self, label: &Identifier) -> Value {
        let ty = Ty::ptr(Ty::Void);
        if self.dry {
            return Value { expr: Expr::Const(0), ty };
        }
        let key = self.label_name(&label.name);
        self.user_label(&key);
        let function = self.current.template.name.clone();
        let taken = self.label_addresses.entry(function.clone()).or_default();
        let n = taken.iter().position(|known| *known == key).unwrap_or_else(|| {
            taken.push(key);
            taken.len() - 1
        });
        let object = FUNCTION + self.function_number(&format!("labels of {function}"));
        Value { expr: Expr::Const(address(object, n as i64)), ty }
    }

    /// `goto *address`
    pub(super) fn computed_goto(&mut self, e: &'a Node<Expression>) -> Result<()> {
        let v = self.value(e)?;
        let v = self.kept(v);
        let (first, open) = (self.label(), self.current.blocks.clone());
        self.current.computed_gotos.push(ComputedGoto { to: v.expr, first, open, at: e.span });
        self.emit(Instr::Jump(first));
        Ok(())
    }

    /// Each computed `goto` is one to the label whose address it has. All labels of the function
    /// whose addresses are taken are known now.
    pub(super) fn finish_computed_gotos(&mut self) {
        let function = self.current.template.name.clone();
        let taken = self.label_addresses.get(&function).cloned().unwrap_or_default();
        for ComputedGoto { to, first, open, at } in std::mem::take(&mut self.current.computed_gotos) {
            self.place_label(first);
            let outside = std::mem::replace(&mut self.here, at);
            let object = FUNCTION + self.function_number(&format!("labels of {function}"));
            for (n, name) in taken.iter().enumerate() {
                let (here, next) = (self.label(), self.label());
                let a = Expr::Const(address(object, n as i64));
                self.emit(Instr::Branch(Expr::bin(BinOp::Eq, to.clone(), a, PTR), here, next));
                self.current.gotos.push((name.clone(), here, open.clone()));
                self.place_label(next);
            }
            self.emit(Instr::Unmodelled("a `goto` to what is not the address of a label is taken".into()));
            self.here = outside;
        }
    }
}
