//! Condition variables.

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::{Lower, Result, Value, unsupported};
use crate::library::special::{Thread, Wait};
use throng_goto::program::{BOOL, BinOp, Expr, INT, Instr};

/// The type of a condition variable.
const CONDITION: &str = "pthread_cond_t";

impl<'a> Lower<'a> {
    pub(super) fn condition_wait(&mut self, wait: Wait, args: Args<'a>, span: Span) -> Result<Expr> {
        let c = self.address_of(CONDITION, args, 0, span)?;
        let m = self.mutex(args, 1, span)?;
        let timed = wait != Wait::Ever;
        self.program.waits = true;
        if self.question.exact_waits() {
            if self.pointee_size(&c) < 8 {
                return unsupported(span, "`pthread_cond_t` with fewer than 8 bytes");
            }
            self.exact_wait(&c, &m, timed);
        } else {
            // Wake-ups may be spurious, so a wait may end at any time, and signals need not
            // be kept in mind.
            self.unlock(&m);
        }
        self.lock(&m, Wait::Ever);
        let Wait::Else(code) = wait else { return Ok(Expr::Const(0)) };
        let late = self.register(BOOL, None);
        self.emit(Instr::Any(late));
        Ok(Expr::bin(BinOp::Mul, Expr::Reg(late), Expr::Const(code), INT))
    }

    /// Makes a condition variable, or wakes threads that wait for it.
    pub(super) fn condition_function(
        &mut self,
        function: Thread,
        args: Args<'a>,
        span: Span,
    ) -> Result<Expr> {
        let c = self.address_of(CONDITION, args, 0, span)?;
        if self.question.exact_waits() && self.pointee_size(&c) >= 8 {
            match function {
                Thread::ConditionSignal => self.exact_signal(&c),
                Thread::ConditionBroadcast => self.exact_broadcast(&c),
                _ => {}
            }
        }
        Ok(Expr::Const(0))
    }

    /// Threads that wait have a bit each in the first word of a condition variable; those that a
    /// signal has woken, in the second.
    fn exact_wait(&mut self, c: &Value, m: &Value, timed: bool) {
        const SLOTS: i64 = 16;
        let (head, taken, free) = (self.label(), self.label(), self.label());
        let bit = self.register(INT, None);
        self.emit(Instr::AtomicBegin);
        self.unlock(m);
        let waiting = self.load(&c.expr, 0, INT);
        let woken = self.load(&c.expr, 4, INT);
        self.emit(Instr::Let(bit, Expr::Const(1)));
        self.place_label(head);
        let used = Expr::bin(BinOp::Or, waiting.clone(), woken, INT);
        let used = Expr::bin(BinOp::And, used, Expr::Reg(bit), INT);
        self.emit(Instr::Branch(Expr::is_zero(used), free, taken));
        self.place_label(taken);
        self.emit(Instr::Let(bit, Expr::bin(BinOp::Mul, Expr::Reg(bit), Expr::Const(2), INT)));
        let (more, full) = (self.label(), self.label());
        let most = Expr::bin(BinOp::Eq, Expr::Reg(bit), Expr::Const(1 << SLOTS), INT);
        self.emit(Instr::Branch(most, full, more));
        self.place_label(full);
        self.emit(Instr::Unmodelled(format!("more than {SLOTS} threads wait for one condition")));
        self.place_label(more);
        self.emit(Instr::Jump(head));
        self.place_label(free);
        self.store(&c.expr, 0, Expr::bin(BinOp::Or, waiting, Expr::Reg(bit), INT), INT);
        self.emit(Instr::AtomicEnd);
        self.emit(Instr::AtomicBegin);
        let without = |e: Expr| {
            Expr::bin(BinOp::And, e, Expr::bin(BinOp::Xor, Expr::Reg(bit), Expr::Const(-1), INT), INT)
        };
        let woken = self.load(&c.expr, 4, INT);
        if timed {
            // It may be late: then nothing need have happened.
            let waiting = self.load(&c.expr, 0, INT);
            self.store(&c.expr, 0, without(waiting), INT);
        } else {
            let mine = Expr::bin(BinOp::And, woken.clone(), Expr::Reg(bit), INT);
            self.wait_until(Expr::bin(BinOp::Ne, mine, Expr::Const(0), INT));
        }
        self.store(&c.expr, 4, without(woken), INT);
        self.emit(Instr::AtomicEnd);
    }

    /// Wakes one of the threads that wait, if there is one.
    fn exact_signal(&mut self, c: &Value) {
        let (head, look, take, next, end) =
            (self.label(), self.label(), self.label(), self.label(), self.label());
        let first = self.label();
        let bit = self.register(INT, None);
        let this = self.register(BOOL, None);
        self.emit(Instr::AtomicBegin);
        let waiting = self.load(&c.expr, 0, INT);
        self.emit(Instr::Branch(Expr::is_zero(waiting.clone()), end, first));
        self.place_label(first);
        self.emit(Instr::Let(bit, Expr::Const(1)));
        self.place_label(head);
        // After the last one there is nothing left to choose.
        let left = Expr::bin(BinOp::Lt, Expr::Reg(bit), Expr::Const(1 << 16), INT);
        self.emit(Instr::Assume(left));
        let is = Expr::bin(BinOp::And, waiting.clone(), Expr::Reg(bit), INT);
        self.emit(Instr::Branch(Expr::is_zero(is), next, look));
        self.place_label(look);
        self.emit(Instr::Any(this));
        self.emit(Instr::Branch(Expr::Reg(this), take, next));
        self.place_label(next);
        self.emit(Instr::Let(bit, Expr::bin(BinOp::Mul, Expr::Reg(bit), Expr::Const(2), INT)));
        self.emit(Instr::Jump(head));
        self.place_label(take);
        let woken = self.load(&c.expr, 4, INT);
        self.store(&c.expr, 0, Expr::bin(BinOp::Xor, waiting, Expr::Reg(bit), INT), INT);
        self.store(&c.expr, 4, Expr::bin(BinOp::Or, woken, Expr::Reg(bit), INT), INT);
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
    }

    /// Wakes all threads that wait.
    fn exact_broadcast(&mut self, c: &Value) {
        self.emit(Instr::AtomicBegin);
        let waiting = self.load(&c.expr, 0, INT);
        let woken = self.load(&c.expr, 4, INT);
        self.store(&c.expr, 0, Expr::Const(0), INT);
        self.store(&c.expr, 4, Expr::bin(BinOp::Or, waiting, woken, INT), INT);
        self.emit(Instr::AtomicEnd);
    }
}
