//! Mutexes, spin locks, and locks for readers and writers.

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::{Lower, Result, Value};
use crate::library::special::Wait;
use throng_goto::program::{BinOp, Expr, INT, Instr, Violation};

impl<'a> Lower<'a> {
    pub(super) fn mutex(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        self.address_of("pthread_mutex_t", args, i, span)
    }

    /// Returns where the kind of a mutex is kept, if there is room for one and any can be
    /// recursive.
    pub(super) fn mutex_kind(&self, m: &Value) -> Option<i64> {
        (self.recursive_locks && self.pointee_size(m) >= 20).then_some(16)
    }

    pub(super) fn lock(&mut self, m: &Value, wait: Wait) -> Expr {
        let result = self.register(INT, None);
        let (free, held, end) = (self.label(), self.label(), self.label());
        let owner = self.lock_owner(m);
        self.emit(Instr::AtomicBegin);
        let word = self.load(&m.expr, 0, INT);
        self.emit(Instr::Branch(Self::equals(word.clone(), 0), free, held));
        self.place_label(held);
        if let Some(kind) = self.mutex_kind(m) {
            let (recursive, blocked, own) = (self.label(), self.label(), self.label());
            let k = self.load(&m.expr, kind, INT);
            let mine = Expr::bin(BinOp::Eq, word, owner.clone(), INT);
            self.emit(Instr::Branch(mine, own, blocked));
            self.place_label(own);
            // 1 is recursive, 2 checks for errors and returns EDEADLK, or EBUSY where it is only
            // tried.
            let check = self.label();
            self.emit(Instr::Branch(Self::equals(k.clone(), 1), recursive, check));
            self.place_label(check);
            let error = self.label();
            self.emit(Instr::Branch(Self::equals(k, 2), error, blocked));
            self.place_label(error);
            let busy = if let Wait::Else(busy) = wait { busy } else { 35 };
            self.emit(Instr::Let(result, Expr::Const(busy)));
            self.emit(Instr::Jump(end));
            self.place_label(recursive);
            let count = self.load(&m.expr, 4, INT);
            self.store(&m.expr, 4, Self::plus(count, 1), INT);
            self.emit(Instr::Let(result, Expr::Const(0)));
            self.emit(Instr::Jump(end));
            self.place_label(blocked);
        }
        match wait {
            Wait::Ever => self.wait_until(Expr::Const(0)),
            Wait::Else(busy) => {
                self.emit(Instr::Let(result, Expr::Const(busy)));
                self.emit(Instr::Jump(end));
            }
        }
        self.place_label(free);
        self.store(&m.expr, 0, owner, INT);
        self.emit(Instr::Acquire(m.expr.clone()));
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        Expr::Reg(result)
    }

    pub(super) fn lock_owner(&mut self, m: &Value) -> Expr {
        match self.mutex_kind(m) {
            Some(_) => {
                self.program.numbered = true;
                Expr::bin(BinOp::Add, Expr::SelfId, Expr::Const(1), INT)
            }
            None => Expr::Const(1),
        }
    }

    /// Releases a lock; the result is 0, or EPERM for one that knows its owner and has another.
    pub(super) fn unlock(&mut self, m: &Value) -> Expr {
        let Some(kind) = self.mutex_kind(m) else {
            self.store(&m.expr, 0, Expr::Const(0), INT);
            self.emit(Instr::Release(m.expr.clone()));
            return Expr::Const(0);
        };
        let result = self.register(INT, None);
        let owner = self.lock_owner(m);
        let (plain, known, mine, other) = (self.label(), self.label(), self.label(), self.label());
        let (last, more, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let k = self.load(&m.expr, kind, INT);
        self.emit(Instr::Branch(Self::equals(k, 0), plain, known));
        self.place_label(known);
        let word = self.load(&m.expr, 0, INT);
        self.emit(Instr::Branch(Expr::bin(BinOp::Eq, word, owner, INT), mine, other));
        self.place_label(other);
        self.emit(Instr::Let(result, Expr::Const(1)));
        self.emit(Instr::Jump(end));
        self.place_label(mine);
        let count = self.load(&m.expr, 4, INT);
        self.emit(Instr::Branch(Self::equals(count.clone(), 0), last, more));
        self.place_label(more);
        self.store(&m.expr, 4, Self::plus(count, -1), INT);
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.emit(Instr::Jump(end));
        self.place_label(plain);
        self.place_label(last);
        self.store(&m.expr, 0, Expr::Const(0), INT);
        self.emit(Instr::Release(m.expr.clone()));
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        Expr::Reg(result)
    }

    pub(super) fn mutex_init(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let m = self.mutex(args, 0, span)?;
        let attribute = self.arg(args, 1, span)?;
        self.emit(Instr::AtomicBegin);
        self.store(&m.expr, 0, Expr::Const(0), INT);
        if let Some(kind) = self.mutex_kind(&m) {
            self.store(&m.expr, 4, Expr::Const(0), INT);
            let (with, without, end) = (self.label(), self.label(), self.label());
            self.emit(Instr::Branch(Expr::is_zero(attribute.expr.clone()), without, with));
            self.place_label(with);
            let k = self.load(&attribute.expr, 0, INT);
            self.store(&m.expr, kind, k, INT);
            self.emit(Instr::Jump(end));
            self.place_label(without);
            self.store(&m.expr, kind, Expr::Const(0), INT);
            self.place_label(end);
        }
        self.emit(Instr::AtomicEnd);
        Ok(Expr::Const(0))
    }

    /// `mtx_init`: bit 0 of the second argument says that it is recursive.
    pub(super) fn plain_mutex_init(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let m = self.mutex(args, 0, span)?;
        let kind = self.arg(args, 1, span)?;
        self.emit(Instr::AtomicBegin);
        self.store(&m.expr, 0, Expr::Const(0), INT);
        if let Some(at) = self.mutex_kind(&m) {
            self.store(&m.expr, 4, Expr::Const(0), INT);
            let recursive = Expr::bin(BinOp::And, kind.expr, Expr::Const(1), INT);
            self.store(&m.expr, at, recursive, INT);
        }
        self.emit(Instr::AtomicEnd);
        Ok(Expr::Const(0))
    }

    pub(super) fn mutex_destroy(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let m = self.mutex(args, 0, span)?;
        let (free, held) = (self.label(), self.label());
        let word = self.load(&m.expr, 0, INT);
        self.emit(Instr::Branch(Self::equals(word, 0), free, held));
        self.place_label(held);
        self.emit(Instr::Fail(Violation::Locks, "a mutex is destroyed while it is held".into()));
        self.place_label(free);
        Ok(Expr::Const(0))
    }

    /// Takes a lock for readers and writers: -1 is a writer; a positive number, readers.
    pub(super) fn read_write_lock(
        &mut self,
        write: bool,
        wait: Wait,
        args: Args<'a>,
        span: Span,
    ) -> Result<Expr> {
        let m = self.arg(args, 0, span)?;
        let result = self.register(INT, None);
        let (free, held, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let word = self.load(&m.expr, 0, INT);
        if write {
            self.emit(Instr::Branch(Self::equals(word.clone(), 0), free, held));
        } else {
            self.emit(Instr::Branch(Self::equals(word.clone(), -1), held, free));
        }
        self.place_label(held);
        match wait {
            Wait::Ever => self.wait_until(Expr::Const(0)),
            Wait::Else(busy) => {
                self.emit(Instr::Let(result, Expr::Const(busy)));
                self.emit(Instr::Jump(end));
            }
        }
        self.place_label(free);
        let new = if write { Expr::Const(-1) } else { Self::plus(word, 1) };
        self.store(&m.expr, 0, new, INT);
        self.emit(Instr::Acquire(m.expr));
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        Ok(Expr::Reg(result))
    }

    pub(super) fn read_write_unlock(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let m = self.arg(args, 0, span)?;
        let (writer, reader, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let word = self.load(&m.expr, 0, INT);
        self.emit(Instr::Branch(Self::equals(word.clone(), -1), writer, reader));
        self.place_label(writer);
        self.store(&m.expr, 0, Expr::Const(0), INT);
        self.emit(Instr::Jump(end));
        self.place_label(reader);
        self.store(&m.expr, 0, Self::plus(word, -1), INT);
        self.place_label(end);
        self.emit(Instr::Release(m.expr));
        self.emit(Instr::AtomicEnd);
        Ok(Expr::Const(0))
    }
}
