//! Atomic operations, with their memory orders.

use crate::syntax::ast::{Expression, Node, Span};

use super::builtins::Args;
use super::{Lower, Result, Value, unatomic, unsupported, wrong};
use crate::types::Ty;
use throng_goto::program::{Access, BOOL, BinOp, Expr, INT, Instr, Int, Order};

/// The assumption about an operation that may fail for no reason.
const NOT_WEAK: &str = "a weak compare-exchange does not fail without a reason";

fn truth(expr: Expr) -> Option<Value> {
    Some(Value { expr, ty: Ty::Int(BOOL) })
}

impl<'a> Lower<'a> {
    /// Returns the object that an atomic operation is about: its address and type.
    pub(super) fn atomic_object(&mut self, args: Args<'a>, span: Span) -> Result<(Expr, Ty, Int)> {
        let p = self.arg(args, 0, span)?;
        let Ty::Ptr(t) = p.ty.plain() else { return wrong(span, "this is not a pointer") };
        let ty = unatomic(Ty::clone(t));
        match ty.scalar() {
            Some(i) => Ok((p.expr, ty, i)),
            None => unsupported(span, "an atomic operation on this type"),
        }
    }

    /// `old = *p; *p = old op v` in one step: the old and the new value.
    pub(super) fn modify(
        &mut self,
        p: &Expr,
        i: Int,
        op: Option<BinOp>,
        v: Expr,
        negate: bool,
        order: Order,
    ) -> (Expr, Expr) {
        let kind = Access::Update(order, order);
        self.emit(Instr::AtomicBegin);
        let old = self.load_as(kind, p, 0, i);
        let mut new = match op {
            // Atomic operations wrap around.
            Some(op) => Expr::bin(op, old.clone(), v, Int { signed: false, ..i }),
            None => v,
        };
        if negate {
            new = Expr::bin(BinOp::Xor, new, Expr::Const(i.wrap(-1)), i);
        }
        let r = self.register(i, None);
        self.emit(Instr::Let(r, Expr::cast(new, i)));
        self.store_as(kind, p, 0, Expr::Reg(r), i);
        self.emit(Instr::AtomicEnd);
        (old, Expr::Reg(r))
    }

    /// Compares and exchanges in one step: whether it did, and the old value. `into`: where the old
    /// value goes if not.
    pub(super) fn exchange(
        &mut self,
        p: &Expr,
        i: Int,
        expected: Expr,
        new: Expr,
        into: Option<&Expr>,
        orders: (Order, Order),
    ) -> (Expr, Expr) {
        let kind = Access::Update(orders.0, orders.1);
        let done = self.register(INT, None);
        let (same, other, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let old = self.load_as(kind, p, 0, i);
        self.emit(Instr::Branch(Expr::bin(BinOp::Eq, old.clone(), expected, i), same, other));
        self.place_label(same);
        self.store_as(kind, p, 0, new, i);
        self.emit(Instr::Let(done, Expr::Const(1)));
        self.emit(Instr::Jump(end));
        self.place_label(other);
        if let Some(a) = into {
            self.store_as(Access::Plain, a, 0, old.clone(), i);
        }
        self.emit(Instr::Let(done, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        (Expr::Reg(done), old)
    }

    /// Returns the order of an operation, and that of a compare-exchange that fails. Notes orders
    /// that are weaker than `seq_cst`. Among the operations `__sync_*`, those that are made for
    /// locks have one.
    fn memory_orders(&mut self, name: &str, args: Args<'a>) -> (Order, Order) {
        let weak = |s: &mut Self, order| {
            s.program.weak_orders = true;
            (order, order)
        };
        let first = match name {
            "__sync_lock_test_and_set" => return weak(self, Order::Acquire),
            "__sync_lock_release" => return weak(self, Order::Release),
            _ if !name.starts_with("__atomic_") => return (Order::SeqCst, Order::SeqCst),
            "__atomic_thread_fence" => 0,
            "__atomic_load_n" | "__atomic_test_and_set" | "__atomic_clear" => 1,
            "__atomic_load" | "__atomic_store" | "__atomic_store_n" | "__atomic_exchange_n" => 2,
            "__atomic_exchange" => 3,
            "__atomic_compare_exchange" | "__atomic_compare_exchange_n" => 4,
            "__atomic_signal_fence" => return (Order::SeqCst, Order::SeqCst),
            _ if name.contains("lock_free") => return (Order::SeqCst, Order::SeqCst),
            _ => 2,
        };
        self.orders(&args[first.min(args.len())..])
    }

    fn orders(&mut self, orders: Args<'a>) -> (Order, Order) {
        let read: Vec<Order> = orders.iter().take(2).map(|e| self.order(e)).collect();
        let done = read.first().copied().unwrap_or(Order::SeqCst);
        (done, read.get(1).copied().unwrap_or(done))
    }

    /// Returns the order that an argument names. `consume` is no weaker than relaxed, and what is
    /// not a constant may be anything: both are noted.
    fn order(&mut self, e: &'a Node<Expression>) -> Order {
        let order = match self.constant(e) {
            Ok(0) => Order::Relaxed,
            Ok(2) => Order::Acquire,
            Ok(3) => Order::Release,
            Ok(4) => Order::AcqRel,
            Ok(5) => Order::SeqCst,
            _ => {
                self.program.unclear_orders = true;
                Order::Relaxed
            }
        };
        self.program.weak_orders |= order != Order::SeqCst;
        order
    }

    pub(super) fn operation(word: &str) -> Option<(BinOp, bool)> {
        Some(match word {
            "add" => (BinOp::Add, false),
            "sub" => (BinOp::Sub, false),
            "and" => (BinOp::And, false),
            "or" => (BinOp::Or, false),
            "xor" => (BinOp::Xor, false),
            "nand" => (BinOp::And, true),
            _ => return None,
        })
    }

    /// Lowers a call of `__atomic_*` or `__sync_*`.
    pub(super) fn atomic(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Option<Option<Value>>> {
        let orders = self.memory_orders(name, args);
        self.atomic_with(name, args, span, orders)
    }

    fn atomic_with(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
        orders: (Order, Order),
    ) -> Result<Option<Option<Value>>> {
        match name {
            "__sync_synchronize" | "__atomic_thread_fence" => {
                self.program.fences = true;
                self.emit(Instr::Fence(orders.0));
                Ok(Some(None))
            }
            // It is about handlers of the same thread, and only tells the compiler something.
            "__atomic_signal_fence" => Ok(Some(None)),
            "__atomic_is_lock_free" | "__atomic_always_lock_free" => Ok(Some(truth(Expr::Const(1)))),
            "__atomic_test_and_set" => self.flag(false, args, span, orders.0).map(Some),
            "__atomic_clear" => self.flag(true, args, span, orders.0).map(Some),
            _ => self.atomic_access(name, args, span, orders).map(Some),
        }
    }

    /// Lowers an atomic operation on an object of a type.
    fn atomic_access(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
        orders: (Order, Order),
    ) -> Result<Option<Value>> {
        let (order, kind) = (orders.0, Access::Atomic(orders.0));
        let (p, ty, i) = self.atomic_object(args, span)?;
        let typed = |expr| Some(Value { expr, ty: ty.clone() });
        let operand = |s: &mut Self, n: usize| -> Result<Expr> {
            let v = s.arg(args, n, span)?;
            Ok(s.convert(v, &ty, span)?.expr)
        };
        let result = match name {
            "__atomic_load_n" => {
                let v = self.load_as(kind, &p, 0, i);
                typed(v)
            }
            "__atomic_load" => {
                let to = self.arg(args, 1, span)?;
                let v = self.load_as(kind, &p, 0, i);
                self.store_as(Access::Plain, &to.expr, 0, v, i);
                None
            }
            "__atomic_store_n" => {
                let v = operand(self, 1)?;
                self.store_as(kind, &p, 0, v, i);
                None
            }
            "__atomic_store" => {
                let from = self.arg(args, 1, span)?;
                let v = self.load_as(Access::Plain, &from.expr, 0, i);
                self.store_as(kind, &p, 0, v, i);
                None
            }
            "__atomic_exchange_n" | "__sync_lock_test_and_set" => {
                let v = operand(self, 1)?;
                typed(self.modify(&p, i, None, v, false, order).0)
            }
            "__atomic_exchange" => {
                let (from, to) = (self.arg(args, 1, span)?, self.arg(args, 2, span)?);
                let v = self.load_as(Access::Plain, &from.expr, 0, i);
                let (old, _) = self.modify(&p, i, None, v, false, order);
                self.store_as(Access::Plain, &to.expr, 0, old, i);
                None
            }
            "__sync_lock_release" => {
                self.store_as(kind, &p, 0, Expr::Const(0), i);
                None
            }
            "__atomic_compare_exchange_n" | "__atomic_compare_exchange" => {
                if args.len() > 4 && !matches!(self.constant(&args[3]), Ok(0)) {
                    self.assume(NOT_WEAK);
                }
                let expected = self.arg(args, 1, span)?;
                let new = if name.ends_with("_n") {
                    operand(self, 2)?
                } else {
                    let from = self.arg(args, 2, span)?;
                    self.load_as(Access::Plain, &from.expr, 0, i)
                };
                let e = self.load_as(Access::Plain, &expected.expr, 0, i);
                truth(self.exchange(&p, i, e, new, Some(&expected.expr), orders).0)
            }
            "__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap" => {
                let (e, new) = (operand(self, 1)?, operand(self, 2)?);
                let (done, old) = self.exchange(&p, i, e, new, None, orders);
                if name.starts_with("__sync_bool") { truth(done) } else { typed(old) }
            }
            _ => {
                let Some((op, negate, old)) = Self::fetched(name) else {
                    return unsupported(span, format!("`{name}`"));
                };
                if ty.is_float() {
                    return unsupported(span, format!("`{name}` on a floating-point number"));
                }
                let v = self.arg(args, 1, span)?;
                let v = Expr::cast(v.expr, i);
                let (before, after) = self.modify(&p, i, Some(op), v, negate, order);
                typed(if old { before } else { after })
            }
        };
        Ok(result)
    }

    /// Lowers a call of `__atomic_test_and_set` or `__atomic_clear`.
    fn flag(&mut self, clear: bool, args: Args<'a>, span: Span, order: Order) -> Result<Option<Value>> {
        let p = self.arg(args, 0, span)?;
        if clear {
            self.store_as(Access::Atomic(order), &p.expr, 0, Expr::Const(0), BOOL);
            return Ok(None);
        }
        Ok(truth(self.modify(&p.expr, BOOL, None, Expr::Const(1), false, order).0))
    }

    /// Returns the operation in a name such as `__atomic_fetch_add`, whether its result is negated,
    /// and whether the value is the old one.
    fn fetched(name: &str) -> Option<(BinOp, bool, bool)> {
        let rest = name.trim_start_matches("__atomic_").trim_start_matches("__sync_");
        let before = rest.strip_prefix("fetch_and_").or_else(|| rest.strip_prefix("fetch_"));
        let after = || rest.strip_suffix("_and_fetch").or(rest.strip_suffix("_fetch")).unwrap_or(rest);
        let (op, negate) = Self::operation(before.unwrap_or_else(after))?;
        Some((op, negate, before.is_some()))
    }

    /// Lowers a call of a function of `<stdatomic.h>`, where that is not a macro.
    pub(super) fn standard_atomic(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let rest = name["atomic_".len()..].trim_end_matches("_explicit");
        let as_builtin = match rest {
            "load" => "__atomic_load_n".to_string(),
            "store" | "init" => "__atomic_store_n".to_string(),
            "exchange" => "__atomic_exchange_n".to_string(),
            "thread_fence" | "signal_fence" => format!("__atomic_{rest}"),
            "flag_test_and_set" => "__atomic_test_and_set".to_string(),
            "flag_clear" => "__atomic_clear".to_string(),
            "compare_exchange_strong" | "compare_exchange_weak" => "__atomic_compare_exchange_n".to_string(),
            _ if rest.starts_with("fetch_") => format!("__atomic_{rest}"),
            _ => return Ok(None),
        };
        // A program may have functions of such names with another meaning, and no header.
        if rest == "compare_exchange_weak" {
            self.assume(NOT_WEAK);
        }
        if rest.starts_with("compare_exchange") && args.len() < 3 {
            return Ok(None);
        }
        if rest.starts_with("compare_exchange") {
            let orders = self.orders(&args[3..]);
            return self.atomic_with(&as_builtin, args, span, orders);
        }
        self.atomic(&as_builtin, args, span)
    }
}
