//! Alignments of variables, functions and expressions.

use std::collections::BTreeSet;

use super::{Base, Lower, Result, Value, unsupported};
use crate::syntax::ast::*;
use crate::types::Ty;
use throng_goto::program::Expr;

impl<'a> Lower<'a> {
    /// Takes note of the alignment that a variable or function is declared with: a least one, and
    /// one in place of its type's.
    pub(super) fn note_alignment(&mut self, name: &str, base: &Base, said: Option<u64>, simple: bool) {
        let declared = (said.max(base.aligned), base.type_aligned.filter(|_| simple));
        self.alignments.entry(name.to_string()).or_insert_with(BTreeSet::new).insert(declared);
    }

    /// The object of a variable has the alignment that it is declared with.
    pub(super) fn align_variable(&mut self, name: &str) {
        // More would take room and say nothing.
        const MOST: u64 = 64;
        let declared: Vec<_> = self.alignments.get(name).into_iter().flatten().copied().collect();
        let (&[(least, instead)], false) = (&declared[..], self.dry) else { return };
        let align =
            |own: u32| instead.map_or(own, |n| n.min(MOST) as u32).max(least.unwrap_or(1).min(MOST) as u32);
        match self.lookup(name) {
            Some(super::Symbol::Memory(a, _)) => {
                let object = usize::try_from(throng_goto::program::object_of(*a) - 1).ok();
                if let Some(o) = object.and_then(|o| self.program.objects.get_mut(o)) {
                    o.align = align(o.align);
                }
            }
            Some(&super::Symbol::Local(k, _)) => {
                if let Some(local) = self.current.template.locals.get_mut(k as usize) {
                    local.align = align(local.align);
                }
            }
            _ => {}
        }
    }

    /// `_Alignof` of an expression, where it is known.
    pub(super) fn alignment_of(&mut self, e: &'a Node<Expression>, span: Span) -> Result<Value> {
        let ty = self.type_of(e)?;
        let of_type = match ty.plain() {
            Ty::Func(_) => Some(1),
            Ty::Array(t, None) => t.layout(&self.structs).map(|l| l.1),
            _ => ty.layout(&self.structs).map(|l| l.1),
        };
        let own = match &e.node {
            Expression::Identifier(n) => {
                let function = matches!(self.lookup(&n.node.name), Some(super::Symbol::Function(_)));
                let of_type = if function { Some(1) } else { of_type };
                // Names say which variable it is only if all of one name are declared alike.
                let declared: Vec<_> =
                    self.alignments.get(&n.node.name).into_iter().flatten().copied().collect();
                match declared[..] {
                    [] => of_type,
                    _ if function => declared.iter().map(|d| d.0.unwrap_or(1)).max(),
                    [(least, instead)] => instead.or(of_type).map(|own| own.max(least.unwrap_or(1))),
                    _ => None,
                }
            }
            // Members may be packed.
            Expression::Member(_) => None,
            _ => of_type,
        };
        match own {
            Some(align) => Ok(self.size_value(Expr::Const(align as i64))),
            None => unsupported(span, "the alignment of this expression"),
        }
    }
}
