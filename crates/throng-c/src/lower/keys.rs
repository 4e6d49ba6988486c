//! `pthread_key_create` and its like: values that each thread has for itself, and functions that
//! are called with them when it ends.
//!
//! The values are private memory. What all threads share is a table: how many keys there are, and
//! the function of each.

use std::rc::Rc;

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::{Lower, Result, Value, unsupported};
use crate::library::special::{KEY_CREATE, Thread};
use crate::types::{Func, Ty};
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, PTR};

/// The most keys.
const MOST: i64 = 16;

/// Where values and functions are.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    values: i64,
    table: i64,
}

/// An element of pointers from an address on.
fn element(start: i64, key: &Expr) -> Expr {
    let offset = Expr::bin(BinOp::Mul, key.clone(), Expr::Const(8), PTR);
    Expr::bin(BinOp::Add, Expr::Const(start), offset, PTR)
}

impl<'a> Lower<'a> {
    /// Makes room for keys if the program creates some.
    pub(super) fn make_keys(&mut self) {
        if self.definitions.values().any(|d| KEY_CREATE.iter().any(|name| d.bare.contains(*name))) {
            let values = self.thread_local("keys", MOST as u64 * 8, 8);
            let ty = Ty::Array(Ty::Int(PTR).into(), Some(MOST as u64 + 1));
            let table = self.object("keys".into(), &ty, vec![0; (MOST as usize + 1) * 8]);
            self.keys = Some(Keys { values, table });
        }
    }

    pub(super) fn key_function(
        &mut self,
        function: Thread,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Value>> {
        let Some(keys) = self.keys else { return unsupported(span, "a key that is created nowhere") };
        let first = self.arg(args, 0, span)?;
        if function == Thread::KeyCreate {
            let end = self.arg(args, 1, span)?;
            let (room, full) = (self.label(), self.label());
            self.emit(Instr::AtomicBegin);
            let count = self.load(&Expr::Const(keys.table), 0, INT);
            self.emit(Instr::Branch(Expr::bin(BinOp::Lt, count.clone(), Expr::Const(MOST), INT), room, full));
            self.place_label(full);
            self.emit(Instr::Unmodelled(format!("more than {MOST} keys")));
            self.place_label(room);
            self.store(&Expr::Const(keys.table), 0, Self::plus(count.clone(), 1), INT);
            self.store(&element(keys.table + 8, &count), 0, end.expr, PTR);
            self.emit(Instr::AtomicEnd);
            self.store_as(Access::Plain, &first.expr, 0, count, INT);
            return Ok(Self::int_value(Expr::Const(0)));
        }
        let key = self.convert(first, &Ty::Int(PTR), span)?.expr;
        let (known, unknown) = (self.label(), self.label());
        self.emit(Instr::Branch(Expr::bin(BinOp::Lt, key.clone(), Expr::Const(MOST), PTR), known, unknown));
        self.place_label(unknown);
        self.emit(Instr::Unmodelled("a key that was not created".into()));
        self.place_label(known);
        match function {
            Thread::GetSpecific => {
                let expr = self.load(&element(keys.values, &key), 0, PTR);
                return Ok(Some(Value { expr, ty: Ty::ptr(Ty::Void) }));
            }
            Thread::SetSpecific => {
                let v = self.arg(args, 1, span)?;
                let v = self.convert(v, &Ty::ptr(Ty::Void), span)?.expr;
                self.store(&element(keys.values, &key), 0, v, PTR);
            }
            // A deleted key: the function is called no more.
            _ => self.store(&element(keys.table + 8, &key), 0, Expr::Const(0), PTR),
        }
        Ok(Self::int_value(Expr::Const(0)))
    }

    /// At the end of a thread: each value that is not null goes to the function of its key, until
    /// none is left.
    pub(super) fn end_keys(&mut self, span: Span) -> Result<()> {
        let Some(keys) = self.keys else { return Ok(()) };
        let i = self.register(PTR, None);
        let [head, body, some, call, next, end] = [(); 6].map(|()| self.label());
        self.emit(Instr::Let(i, Expr::Const(0)));
        self.place_label(head);
        let key = Expr::Reg(i);
        self.emit(Instr::Branch(Expr::bin(BinOp::Lt, key.clone(), Expr::Const(MOST), PTR), body, end));
        self.place_label(body);
        let value = self.load(&element(keys.values, &key), 0, PTR);
        self.emit(Instr::Branch(Expr::is_zero(value.clone()), next, some));
        self.place_label(some);
        let function = self.load(&element(keys.table + 8, &key), 0, PTR);
        self.emit(Instr::Branch(Expr::is_zero(function.clone()), next, call));
        self.place_label(call);
        self.store(&element(keys.values, &key), 0, Expr::Const(0), PTR);
        let ty = Ty::Func(Rc::new(Func {
            result: Ty::Void,
            parameters: vec![(None, Ty::ptr(Ty::Void))],
            variadic: false,
        }));
        let function = Value { expr: function, ty: Ty::ptr(ty) };
        let value = Value { expr: value, ty: Ty::ptr(Ty::Void) };
        let ty = self.function_type(&function, span)?;
        self.call_value(&function, &ty, vec![value], span)?;
        // The library calls it again, a few times.
        let left = self.load(&element(keys.values, &key), 0, PTR);
        let odd = self.label();
        let restart = self.label();
        self.emit(Instr::Branch(Expr::is_zero(left), restart, odd));
        self.place_label(odd);
        self.emit(Instr::Unmodelled("the function of a key sets the value of the key".into()));
        self.place_label(restart);
        self.emit(Instr::Let(i, Expr::Const(0)));
        self.emit(Instr::Jump(head));
        self.place_label(next);
        self.emit(Instr::Let(i, Expr::bin(BinOp::Add, key, Expr::Const(1), PTR)));
        self.emit(Instr::Jump(head));
        self.place_label(end);
        Ok(())
    }
}
