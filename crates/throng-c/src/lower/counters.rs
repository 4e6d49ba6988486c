//! Barriers and semaphores: what threads wait for by counting.

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::{Lower, Result};
use crate::library::special::{Thread, Wait};
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Side};

impl<'a> Lower<'a> {
    /// A barrier says how many meet, how many have come, and how many of those that have met are
    /// still to leave.
    pub(super) fn barrier_init(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let b = self.arg(args, 0, span)?;
        self.arg(args, 1, span)?;
        let n = self.arg(args, 2, span)?;
        self.emit(Instr::AtomicBegin);
        self.store(&b.expr, 0, n.expr, INT);
        self.store(&b.expr, 4, Expr::Const(0), INT);
        self.store(&b.expr, 8, Expr::Const(0), INT);
        self.emit(Instr::AtomicEnd);
        Ok(Expr::Const(0))
    }

    pub(super) fn barrier_wait(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let b = self.arg(args, 0, span)?;
        let result = self.register(INT, None);
        let (last, wait, end, out) = (self.label(), self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let n = self.load(&b.expr, 0, INT);
        let here = self.load(&b.expr, 4, INT);
        let leaving = self.load(&b.expr, 8, INT);
        // Threads that have met can always leave, and no other thread sees when they do, so
        // the next round may begin after that.
        self.wait_until(Self::equals(leaving, 0));
        self.emit(Instr::Meets(b.expr.clone(), Side::Releases));
        let here = Self::plus(here, 1);
        self.emit(Instr::Branch(Expr::bin(BinOp::Eq, here.clone(), n.clone(), INT), last, wait));
        self.place_label(last);
        self.store(&b.expr, 4, Expr::Const(0), INT);
        self.store(&b.expr, 8, Self::plus(n, -1), INT);
        self.emit(Instr::Meets(b.expr.clone(), Side::Acquires));
        self.emit(Instr::Let(result, Expr::Const(-1)));
        self.emit(Instr::AtomicEnd);
        self.emit(Instr::Jump(out));
        self.place_label(wait);
        self.store(&b.expr, 4, here, INT);
        self.emit(Instr::AtomicEnd);
        self.emit(Instr::AtomicBegin);
        let leaving = self.load(&b.expr, 8, INT);
        self.wait_until(Expr::bin(BinOp::Ne, leaving.clone(), Expr::Const(0), INT));
        self.store(&b.expr, 8, Self::plus(leaving, -1), INT);
        self.emit(Instr::Meets(b.expr, Side::Acquires));
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        self.place_label(out);
        Ok(Expr::Reg(result))
    }

    pub(super) fn semaphore(&mut self, function: Thread, args: Args<'a>, span: Span) -> Result<Expr> {
        let s = self.arg(args, 0, span)?.expr;
        match function {
            Thread::SemaphoreInit => {
                self.arg(args, 1, span)?;
                let n = self.arg(args, 2, span)?;
                self.store(&s, 0, n.expr, INT);
            }
            Thread::SemaphorePost => {
                self.emit(Instr::AtomicBegin);
                let n = self.load(&s, 0, INT);
                self.store(&s, 0, Self::plus(n, 1), INT);
                self.emit(Instr::Meets(s, Side::Releases));
                self.emit(Instr::AtomicEnd);
            }
            Thread::SemaphoreWait(wait) => return Ok(self.semaphore_wait(&s, wait)),
            _ => {
                let to = self.arg(args, 1, span)?;
                let n = self.load(&s, 0, INT);
                self.store_as(Access::Plain, &to.expr, 0, n, INT);
            }
        }
        Ok(Expr::Const(0))
    }

    fn semaphore_wait(&mut self, s: &Expr, wait: Wait) -> Expr {
        let result = self.register(INT, None);
        let (free, none, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let n = self.load(s, 0, INT);
        let positive = Expr::bin(BinOp::Lt, Expr::Const(0), n.clone(), INT);
        self.emit(Instr::Branch(positive, free, none));
        self.place_label(none);
        match wait {
            Wait::Ever => self.wait_until(Expr::Const(0)),
            Wait::Else(code) => {
                if let Some(errno) = self.errno {
                    self.store(&Expr::Const(errno), 0, Expr::Const(code), INT);
                }
                self.emit(Instr::Let(result, Expr::Const(-1)));
                self.emit(Instr::Jump(end));
            }
        }
        self.place_label(free);
        self.store(s, 0, Self::plus(n, -1), INT);
        self.emit(Instr::Meets(s.clone(), Side::Acquires));
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        Expr::Reg(result)
    }
}
