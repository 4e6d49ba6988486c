//! Threads, locks and their like.
//!
//! They are written with the atomic sections of the goto program, on the first bytes of their
//! objects: 0 is what a static initialiser leaves there.

use lang_c::ast::*;
use lang_c::span::Span;

use super::builtins::Args;
use super::{Lower, Result, Symbol, Value, unsupported, wrong};
use crate::types::Ty;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Int, PTR, Violation};

/// The handle of the running thread: 0 is none.
fn handle() -> Expr {
    Expr::bin(BinOp::Add, Expr::SelfId, Expr::Const(1), PTR)
}

impl<'a> Lower<'a> {
    /// The number of bytes that a pointer argument points to.
    pub(super) fn pointee_size(&self, v: &Value) -> u64 {
        match v.ty.plain() {
            Ty::Ptr(t) => t.layout(&self.structs).map_or(0, |l| l.0),
            _ => 0,
        }
    }

    /// An argument that a function of the library takes for the address of a `name`, whatever it
    /// points to for the caller.
    fn address_of(&mut self, name: &str, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        let v = self.arg(args, i, span)?;
        Ok(match self.lookup(name) {
            Some(Symbol::Typedef(ty)) => Value { ty: Ty::ptr(ty.clone()), ..v },
            _ => v,
        })
    }

    fn mutex(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        self.address_of("pthread_mutex_t", args, i, span)
    }

    /// Where the kind of a mutex is kept, if there is room for one and any can be recursive.
    pub(super) fn mutex_kind(&self, m: &Value) -> Option<i64> {
        (self.recursive_locks && self.pointee_size(m) >= 20).then_some(16)
    }

    pub(super) fn lock(&mut self, m: &Value, wait: bool) -> Expr {
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
            self.emit(Instr::Let(result, Expr::Const(if wait { 35 } else { 16 })));
            self.emit(Instr::Jump(end));
            self.place_label(recursive);
            let count = self.load(&m.expr, 4, INT);
            self.store(&m.expr, 4, Self::plus(count, 1), INT);
            self.emit(Instr::Let(result, Expr::Const(0)));
            self.emit(Instr::Jump(end));
            self.place_label(blocked);
        }
        if wait {
            self.wait_until(Expr::Const(0));
        } else {
            // EBUSY
            self.emit(Instr::Let(result, Expr::Const(16)));
            self.emit(Instr::Jump(end));
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

    pub(super) fn pthread(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let ok = || Self::int_value(Expr::Const(0));
        if self.dry {
            return Ok(Some(match name {
                "self" => Some(Value { expr: handle(), ty: Ty::Int(self.size_type()) }),
                "getspecific" => Some(Value { expr: Expr::SelfId, ty: Ty::ptr(Ty::Void) }),
                "exit" => None,
                _ => Self::int_value(Expr::SelfId),
            }));
        }
        let result = match name {
            "create" => return self.create(args, span).map(Some),
            "join" => {
                let t = self.arg(args, 0, span)?;
                let to = self.arg(args, 1, span)?;
                self.program.numbered = true;
                let r = self.register(PTR, None);
                self.emit(Instr::Join(Expr::bin(BinOp::Sub, t.expr, Expr::Const(1), PTR), r));
                match to.expr {
                    Expr::Const(0) => {}
                    a => {
                        let (store, end) = (self.label(), self.label());
                        self.emit(Instr::Branch(a.clone(), store, end));
                        self.place_label(store);
                        self.emit(Instr::Store(a, Expr::Reg(r), PTR));
                        self.place_label(end);
                    }
                }
                ok()
            }
            "exit" => {
                let v = self.arg(args, 0, span)?;
                self.leave_all();
                self.end_keys(span)?;
                self.emit(Instr::End(v.expr));
                None
            }
            "self" => {
                self.program.numbered = true;
                self.assume("`pthread_self` is 1 in the first thread, 2 in the second, …");
                Some(Value { expr: handle(), ty: Ty::Int(self.size_type()) })
            }
            "equal" => {
                let (a, b) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                Self::int_value(Expr::bin(BinOp::Eq, a.expr, b.expr, PTR))
            }
            "mutex_lock" => {
                let m = self.mutex(args, 0, span)?;
                Self::int_value(self.lock(&m, true))
            }
            "mutex_trylock" => {
                let m = self.mutex(args, 0, span)?;
                Self::int_value(self.lock(&m, false))
            }
            "mutex_unlock" => {
                let m = self.mutex(args, 0, span)?;
                Self::int_value(self.unlock(&m))
            }
            "mutex_init" => {
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
                ok()
            }
            "mutexattr_init" => {
                let a = self.arg(args, 0, span)?;
                self.store(&a.expr, 0, Expr::Const(0), INT);
                ok()
            }
            "mutexattr_settype" => {
                let (a, k) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                self.store(&a.expr, 0, k.expr, INT);
                ok()
            }
            "mutex_destroy" => {
                let m = self.mutex(args, 0, span)?;
                let (free, held) = (self.label(), self.label());
                let word = self.load(&m.expr, 0, INT);
                self.emit(Instr::Branch(Self::equals(word, 0), free, held));
                self.place_label(held);
                self.emit(Instr::Fail(Violation::Locks, "a mutex is destroyed while it is held".into()));
                self.place_label(free);
                ok()
            }
            "spin_init" => {
                let m = self.arg(args, 0, span)?;
                self.store(&m.expr, 0, Expr::Const(0), INT);
                ok()
            }
            "spin_lock" | "spin_trylock" => {
                let m = self.arg(args, 0, span)?;
                let m = Value { ty: Ty::ptr(Ty::int()), ..m };
                Self::int_value(self.lock(&m, name == "spin_lock"))
            }
            "spin_unlock" => {
                let m = self.arg(args, 0, span)?;
                self.store(&m.expr, 0, Expr::Const(0), INT);
                self.emit(Instr::Release(m.expr));
                ok()
            }
            "cond_wait" | "cond_timedwait" => {
                let c = self.address_of("pthread_cond_t", args, 0, span)?;
                let m = self.mutex(args, 1, span)?;
                self.program.waits = true;
                if self.question.exact_waits() {
                    if self.pointee_size(&c) < 8 {
                        return unsupported(span, "`pthread_cond_t` with fewer than 8 bytes");
                    }
                    self.exact_wait(&c, &m, name == "cond_timedwait");
                } else {
                    // Wake-ups may be spurious, so a wait may end at any time, and signals need not
                    // be kept in mind.
                    self.unlock(&m);
                }
                self.lock(&m, true);
                if name == "cond_wait" {
                    ok()
                } else {
                    let late = self.register(Int { size: 1, signed: false, truth: true }, None);
                    self.emit(Instr::Any(late));
                    // ETIMEDOUT
                    Self::int_value(Expr::bin(BinOp::Mul, Expr::Reg(late), Expr::Const(110), INT))
                }
            }
            "cond_signal" | "cond_broadcast" | "cond_init" | "cond_destroy" => {
                let c = self.address_of("pthread_cond_t", args, 0, span)?;
                if self.question.exact_waits() && self.pointee_size(&c) >= 8 {
                    match name {
                        "cond_signal" => self.exact_signal(&c),
                        "cond_broadcast" => self.exact_broadcast(&c),
                        _ => {}
                    }
                }
                ok()
            }
            "rwlock_init" => {
                let m = self.arg(args, 0, span)?;
                self.store(&m.expr, 0, Expr::Const(0), INT);
                ok()
            }
            // -1 is a writer; a positive number, readers.
            "rwlock_rdlock" | "rwlock_tryrdlock" | "rwlock_wrlock" | "rwlock_trywrlock" => {
                let m = self.arg(args, 0, span)?;
                let write = name.ends_with("wrlock");
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
                if name.contains("try") {
                    self.emit(Instr::Let(result, Expr::Const(16)));
                    self.emit(Instr::Jump(end));
                } else {
                    self.wait_until(Expr::Const(0));
                }
                self.place_label(free);
                let new = if write { Expr::Const(-1) } else { Self::plus(word, 1) };
                self.store(&m.expr, 0, new, INT);
                self.emit(Instr::Acquire(m.expr));
                self.emit(Instr::Let(result, Expr::Const(0)));
                self.place_label(end);
                self.emit(Instr::AtomicEnd);
                Self::int_value(Expr::Reg(result))
            }
            "rwlock_unlock" => {
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
                ok()
            }
            // How many meet, how many have come, and how many of those that have met are still to
            // leave.
            "barrier_init" => {
                let b = self.arg(args, 0, span)?;
                self.arg(args, 1, span)?;
                let n = self.arg(args, 2, span)?;
                self.emit(Instr::AtomicBegin);
                self.store(&b.expr, 0, n.expr, INT);
                self.store(&b.expr, 4, Expr::Const(0), INT);
                self.store(&b.expr, 8, Expr::Const(0), INT);
                self.emit(Instr::AtomicEnd);
                ok()
            }
            "barrier_wait" => {
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
                let here = Self::plus(here, 1);
                self.emit(Instr::Branch(Expr::bin(BinOp::Eq, here.clone(), n.clone(), INT), last, wait));
                self.place_label(last);
                self.store(&b.expr, 4, Expr::Const(0), INT);
                self.store(&b.expr, 8, Self::plus(n, -1), INT);
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
                self.emit(Instr::Let(result, Expr::Const(0)));
                self.place_label(end);
                self.emit(Instr::AtomicEnd);
                self.place_label(out);
                Self::int_value(Expr::Reg(result))
            }
            // 0 not begun, 1 running, 2 done.
            "once" => {
                let o = self.arg(args, 0, span)?;
                let Some(Expression::Identifier(f)) = args.get(1).map(|e| &e.node) else {
                    return unsupported(span, "`pthread_once` with anything but the name of a function");
                };
                let (first, later, end) = (self.label(), self.label(), self.label());
                self.emit(Instr::AtomicBegin);
                let word = self.load(&o.expr, 0, INT);
                self.emit(Instr::Branch(Self::equals(word.clone(), 0), first, later));
                self.place_label(later);
                self.wait_until(Self::equals(word, 2));
                self.emit(Instr::AtomicEnd);
                self.emit(Instr::Jump(end));
                self.place_label(first);
                self.store(&o.expr, 0, Expr::Const(1), INT);
                self.emit(Instr::AtomicEnd);
                if !self.is_defined(&f.node.name) {
                    return wrong(span, format!("`{}` is not defined", f.node.name));
                }
                self.inline(&self.linked(&f.node.name), Vec::new(), span)?;
                self.store(&o.expr, 0, Expr::Const(2), INT);
                self.place_label(end);
                ok()
            }
            "key_create" | "key_delete" | "setspecific" | "getspecific" => {
                return self.key_function(name, args, span).map(Some);
            }
            "cleanup_push" | "cleanup_pop" | "cancel" | "atfork" | "kill" => {
                return unsupported(span, format!("`pthread_{name}`"));
            }
            // These write through a pointer.
            _ if name.contains("_get") || name.starts_with("get") => return Ok(None),
            "setcancelstate" | "setcanceltype" if !self.is_null(args, 1) => return Ok(None),
            _ if ["attr_", "mutexattr_", "condattr_", "rwlockattr_", "barrierattr_", "set"]
                .iter()
                .any(|p| name.starts_with(p))
                || matches!(name, "detach" | "testcancel" | "yield")
                || name.ends_with("_destroy") =>
            {
                self.all(args)?;
                ok()
            }
            _ => return unsupported(span, format!("`pthread_{name}`")),
        };
        Ok(Some(result))
    }

    /// Threads that wait have a bit each in the first word of a condition variable; those that a
    /// signal has woken, in the second.
    pub(super) fn exact_wait(&mut self, c: &Value, m: &Value, timed: bool) {
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
    pub(super) fn exact_signal(&mut self, c: &Value) {
        let (head, look, take, next, end) =
            (self.label(), self.label(), self.label(), self.label(), self.label());
        let first = self.label();
        let bit = self.register(INT, None);
        let this = self.register(Int { size: 1, signed: false, truth: true }, None);
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
    pub(super) fn exact_broadcast(&mut self, c: &Value) {
        self.emit(Instr::AtomicBegin);
        let waiting = self.load(&c.expr, 0, INT);
        let woken = self.load(&c.expr, 4, INT);
        self.store(&c.expr, 0, Expr::Const(0), INT);
        self.store(&c.expr, 4, Expr::bin(BinOp::Or, waiting, woken, INT), INT);
        self.emit(Instr::AtomicEnd);
    }

    pub(super) fn create(&mut self, args: Args<'a>, span: Span) -> Result<Option<Value>> {
        let handle = self.arg(args, 0, span)?;
        self.arg(args, 1, span)?;
        let function = self.arg(args, 2, span)?;
        let argument = self.arg(args, 3, span)?;
        let number = self.register(PTR, None);
        let arguments = [argument];
        match function.expr {
            Expr::Const(a) => match self.program.name_of(a) {
                Some(name) if throng_goto::program::object_of(a) >= throng_goto::program::FUNCTION => {
                    self.spawn(&name, &arguments, number, span)?
                }
                _ => return wrong(span, "this is not a function"),
            },
            ref f => {
                let mut names = self.candidates(1);
                names.extend(self.candidates(0));
                self.spawn_pointer(f, names, &arguments, number, span)?;
            }
        }
        match handle.expr {
            Expr::Const(0) => {}
            a => {
                let size = match handle.ty.plain() {
                    Ty::Ptr(t) => t.scalar().unwrap_or(PTR),
                    _ => PTR,
                };
                self.emit(Instr::Store(a, Self::plus_one(number), size));
            }
        }
        self.assume("threads can be created");
        Ok(Self::int_value(Expr::Const(0)))
    }

    /// The handle of the thread with a number: 0 is none.
    fn plus_one(number: u32) -> Expr {
        Expr::bin(BinOp::Add, Expr::Reg(number), Expr::Const(1), PTR)
    }

    /// Whether an argument is a null pointer.
    fn is_null(&mut self, args: Args<'a>, i: usize) -> bool {
        args.get(i).is_some_and(|e| matches!(self.constant(e), Ok(0)))
    }

    /// Starts a thread in a function; it may have fewer parameters than there are arguments.
    pub(super) fn spawn(&mut self, name: &str, arguments: &[Value], number: u32, span: Span) -> Result<()> {
        let Some(d) = self.definitions.get(name) else {
            return wrong(span, format!("`{name}` is not defined"));
        };
        if name == "main" {
            return unsupported(span, "a further thread in `main`");
        }
        let parameters = d.ty.parameters.clone();
        let mut converted = Vec::new();
        for (v, (_, t)) in arguments.iter().zip(&parameters) {
            converted.push(self.convert(v.clone(), t, span)?.expr);
        }
        let template = self.template(name);
        self.emit(Instr::Spawn(template, converted, number));
        Ok(())
    }

    /// Starts a thread in whichever of the functions a pointer points to.
    pub(super) fn spawn_pointer(
        &mut self,
        pointer: &Expr,
        names: Vec<String>,
        arguments: &[Value],
        number: u32,
        span: Span,
    ) -> Result<()> {
        let end = self.label();
        for name in names {
            let a = self.function_address(&name);
            let (here, next) = (self.label(), self.label());
            let is = Expr::bin(BinOp::Eq, pointer.clone(), Expr::Const(a), PTR);
            self.emit(Instr::Branch(is, here, next));
            self.place_label(here);
            self.spawn(&name, arguments, number, span)?;
            self.emit(Instr::Jump(end));
            self.place_label(next);
        }
        self.emit(Instr::Unmodelled("a thread starts in something that is not a known function".into()));
        self.place_label(end);
        Ok(())
    }

    pub(super) fn semaphore(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let ok = || Self::int_value(Expr::Const(0));
        if self.dry {
            return Ok(Some(Self::int_value(Expr::SelfId)));
        }
        let s = self.arg(args, 0, span)?;
        let result = match name {
            "sem_init" => {
                self.arg(args, 1, span)?;
                let n = self.arg(args, 2, span)?;
                self.store(&s.expr, 0, n.expr, INT);
                ok()
            }
            "sem_post" => {
                self.emit(Instr::AtomicBegin);
                let n = self.load(&s.expr, 0, INT);
                self.store(&s.expr, 0, Self::plus(n, 1), INT);
                self.emit(Instr::AtomicEnd);
                ok()
            }
            "sem_wait" | "sem_trywait" => {
                let result = self.register(INT, None);
                let (free, none, end) = (self.label(), self.label(), self.label());
                self.emit(Instr::AtomicBegin);
                let n = self.load(&s.expr, 0, INT);
                let positive = Expr::bin(BinOp::Lt, Expr::Const(0), n.clone(), INT);
                self.emit(Instr::Branch(positive, free, none));
                self.place_label(none);
                if name == "sem_wait" {
                    self.wait_until(Expr::Const(0));
                } else {
                    self.emit(Instr::Let(result, Expr::Const(-1)));
                    self.emit(Instr::Jump(end));
                }
                self.place_label(free);
                self.store(&s.expr, 0, Self::plus(n, -1), INT);
                self.emit(Instr::Let(result, Expr::Const(0)));
                self.place_label(end);
                self.emit(Instr::AtomicEnd);
                Self::int_value(Expr::Reg(result))
            }
            "sem_getvalue" => {
                let to = self.arg(args, 1, span)?;
                let n = self.load(&s.expr, 0, INT);
                self.store_as(Access::Plain, &to.expr, 0, n, INT);
                ok()
            }
            "sem_destroy" => ok(),
            _ => return unsupported(span, format!("`{name}`")),
        };
        Ok(Some(result))
    }
}
