//! The arguments of `main`.
//!
//! A program is called with its name and up to two further arguments, strings of up to fifteen
//! bytes. The bytes are open until something reads them, like those of other memory that was never
//! written. A run goes no further where it is called in another way; if only the number of arguments
//! is used, it goes on, and is in doubt.

use super::uses::Uses;
use super::{Definition, Lower, Result};
use crate::syntax::ast::Span;
use crate::syntax::visit::Visit as _;
use crate::types::Ty;
use throng_goto::doubt::Doubt;
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, PTR, Reg};

/// The most arguments, the name of the program among them.
pub(crate) const MOST: i64 = 3;
/// The bytes of an argument, the last of which is zero.
pub(crate) const BYTES: u64 = 16;

const CHAR: Int = Int::new(1, true);

/// What an argument is called as a variable, followed by its number. No variable of C is called so.
const ARGUMENT: &str = "argument ";

fn many_arguments() -> String {
    format!("a call of `main` with more than {} arguments", MOST - 1)
}

/// Returns which argument of `main` a variable is.
pub(crate) fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix(ARGUMENT)?.parse().ok()
}

impl<'a> Lower<'a> {
    /// Writes what the parameters of `main` are, as far as something uses them.
    pub(super) fn arguments_of_main(
        &mut self,
        definition: &Definition<'a>,
        registers: &[Reg],
        span: Span,
    ) -> Result<()> {
        let mut uses = Uses::default();
        uses.statement(&definition.node.node.statement);
        let used = |n: usize| {
            let (name, ty) = definition.ty.parameters.get(n)?;
            uses.values.contains(name.as_deref()?).then(|| (registers[n], ty.clone()))
        };
        let (count, list, environment) = (used(0), used(1), used(2));
        let pointer = |p: &Option<(Reg, Ty)>| match p {
            Some((r, ty)) if matches!(ty.plain(), Ty::Ptr(_)) => Some(*r),
            _ => None,
        };
        let number = registers.first().copied().filter(|_| definition.ty.parameters[0].1.scalar().is_some());
        if let Some(argc) = number.filter(|_| count.is_some() || list.is_some()) {
            self.assume("the first argument of `main` is its name");
            self.emit(Instr::Assume(Expr::bin(BinOp::Le, Expr::Const(1), Expr::Reg(argc), INT)));
            match pointer(&list) {
                Some(argv) => self.argument_list(argc, argv, span)?,
                None => self.argument_count(argc),
            }
        }
        if let Some(r) = pointer(&environment) {
            self.emit_doubtful(r, Doubt::Variable("environ".into()));
        }
        Ok(())
    }

    /// Nothing but their number is used: proofs cover all, and a run with many is not one to report.
    fn argument_count(&mut self, argc: Reg) {
        let (few, many) = (self.label(), self.label());
        self.emit(Instr::Branch(Expr::bin(BinOp::Le, Expr::Reg(argc), Expr::Const(MOST), INT), few, many));
        self.place_label(many);
        self.emit_doubtful(argc, Doubt::Value(many_arguments()));
        self.emit(Instr::Assume(Expr::bin(BinOp::Lt, Expr::Const(MOST), Expr::Reg(argc), INT)));
        self.place_label(few);
    }

    fn argument_list(&mut self, argc: Reg, argv: Reg, span: Span) -> Result<()> {
        let (few, many) = (self.label(), self.label());
        self.emit(Instr::Branch(Expr::bin(BinOp::Le, Expr::Reg(argc), Expr::Const(MOST), INT), few, many));
        self.place_label(many);
        self.emit(Instr::Unmodelled(many_arguments() + " is not modelled"));
        self.place_label(few);
        let text = Ty::Array(Ty::Int(CHAR).into(), Some(BYTES));
        let pointers = Ty::Array(Ty::ptr(Ty::Int(CHAR)).into(), Some(MOST as u64 + 1));
        let list = Expr::Local(self.local("argv", &pointers, true, span)?);
        for n in 0..MOST {
            let string = Expr::Local(self.local(&format!("{ARGUMENT}{n}"), &text, true, span)?);
            self.store(&string, BYTES as i64 - 1, Expr::Const(0), CHAR);
            self.argument(argc, n, &list, string);
        }
        self.store(&list, 8 * MOST, Expr::Const(0), PTR);
        self.emit(Instr::Let(argv, list));
        Ok(())
    }

    /// Stores an argument in the list, or null behind the last one.
    fn argument(&mut self, argc: Reg, n: i64, list: &Expr, string: Expr) {
        let (there, beyond, next) = (self.label(), self.label(), self.label());
        self.emit(Instr::Branch(Expr::bin(BinOp::Lt, Expr::Const(n), Expr::Reg(argc), INT), there, beyond));
        self.place_label(there);
        self.store(list, 8 * n, string, PTR);
        self.emit(Instr::Jump(next));
        self.place_label(beyond);
        self.store(list, 8 * n, Expr::Const(0), PTR);
        self.place_label(next);
    }
}
