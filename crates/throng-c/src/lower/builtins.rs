//! Functions with a meaning of their own: threads, locks, atomics, inputs, assertions.
//!
//! Locks and their kin are written with the atomic sections of the goto program, on the first bytes of their objects: 0 is
//! what a static initialiser leaves there.

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Lower, Result, Value, unatomic, unsupported, wrong};
use crate::goto::{BinOp, Expr, INT, Instr, Int, PTR};
use crate::types::Ty;

/// Common library functions that change no variable of the program.
const HARMLESS: &[&str] = &[
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "perror",
    "fflush",
    "fputs",
    "fputc",
    "sleep",
    "usleep",
    "nanosleep",
    "sched_yield",
    "srand",
    "srandom",
    "time",
    "rand",
    "random",
    "pthread_yield",
    "strlen",
    "strcmp",
    "getpid",
    "printk",
    "__printf_chk",
    "__fprintf_chk",
];

/// Whether a function that is not defined needs no note.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet")
}

type Args<'a> = &'a [Node<Expression>];

impl<'a> Lower<'a> {
    /// A call with a meaning of its own: `Some(result)`.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let defined = self.definitions.contains_key(name);
        let special = matches!(
            name,
            "__VERIFIER_error"
                | "reach_error"
                | "__VERIFIER_atomic_begin"
                | "__VERIFIER_atomic_end"
                | "__CPROVER_atomic_begin"
                | "__CPROVER_atomic_end"
                | "__assert_fail"
        );
        if defined && !special {
            return Ok(None);
        }
        let zero = || Some(Value { expr: Expr::Const(0), ty: Ty::int() });
        let result = match name {
            "__VERIFIER_error" | "reach_error" | "__assert_fail" | "__assert_rtn" | "__assert" => {
                let what = match name {
                    "__VERIFIER_error" | "reach_error" => format!("{name} is called"),
                    _ => "the assertion fails".into(),
                };
                self.emit(Instr::Fail(what));
                None
            }
            "assert" | "__CPROVER_assert" | "__VERIFIER_assert" | "unsafe_assert" => {
                self.check(args, span, |s| s.emit(Instr::Fail("the assertion fails".into())))?;
                None
            }
            "__VERIFIER_assume" | "__CPROVER_assume" | "assume" | "__builtin_assume" => {
                self.check(args, span, |s| s.emit(Instr::Assume(Expr::Const(0))))?;
                None
            }
            "__builtin_unreachable" => {
                self.emit(Instr::Assume(Expr::Const(0)));
                None
            }
            "abort" | "exit" | "_exit" | "_Exit" | "__builtin_trap" | "__builtin_abort" => {
                self.all(args)?;
                self.emit(Instr::Halt);
                None
            }
            "__builtin_expect" => Some(self.arg(args, 0, span)?),
            "__builtin_constant_p" => zero(),
            "__builtin_types_compatible_p"
            | "__builtin_va_start"
            | "__builtin_va_end"
            | "__builtin_va_copy" => {
                return unsupported(span, format!("`{name}`"));
            }
            "longjmp" | "_longjmp" | "siglongjmp" | "setjmp" | "_setjmp" | "__sigsetjmp" | "fork"
            | "vfork" => {
                return unsupported(span, format!("`{name}`"));
            }
            "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" => {
                self.emit(Instr::AtomicBegin);
                None
            }
            "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" => {
                self.emit(Instr::AtomicEnd);
                None
            }
            "malloc" | "calloc" | "__builtin_malloc" | "alloca" | "__builtin_alloca" => {
                let a = self.arg(args, 0, span)?;
                let mut size = self.convert(a, &Ty::Int(PTR), span)?.expr;
                if name == "calloc" {
                    let b = self.arg(args, 1, span)?;
                    let b = self.convert(b, &Ty::Int(PTR), span)?.expr;
                    size = Expr::bin(BinOp::Mul, size, b, PTR);
                }
                let r = self.register(PTR, None);
                self.emit(Instr::AtomicBegin);
                self.emit(Instr::Alloc(r, size.clone()));
                if name == "calloc" {
                    self.clear_bytes(Expr::Reg(r), size, Expr::Const(0));
                }
                self.emit(Instr::AtomicEnd);
                Some(Value { expr: Expr::Reg(r), ty: Ty::ptr(Ty::Void) })
            }
            "free" => {
                let a = self.arg(args, 0, span)?;
                self.emit(Instr::Free(a.expr));
                None
            }
            "realloc" => return unsupported(span, "`realloc`"),
            "memset" | "__builtin_memset" => {
                let a = self.arg(args, 0, span)?;
                let v = self.arg(args, 1, span)?;
                let n = self.arg(args, 2, span)?;
                self.note("`memset` is one step".into());
                let n = self.convert(n, &Ty::Int(PTR), span)?;
                self.emit(Instr::AtomicBegin);
                self.clear_bytes(a.expr.clone(), n.expr, v.expr);
                self.emit(Instr::AtomicEnd);
                Some(a)
            }
            "strcpy" => {
                let (to, from) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                self.copy_text(&to.expr, &from.expr);
                Some(to)
            }
            "memcpy" | "memmove" | "strncpy" | "strcat" | "sprintf" | "snprintf" | "scanf" | "fscanf"
            | "sscanf" | "read" | "fgets" | "gets" | "__isoc99_scanf" | "__isoc99_sscanf"
            | "__isoc99_fscanf" => {
                return unsupported(span, format!("`{name}`"));
            }
            _ if name.starts_with("pthread_") => return self.pthread(&name["pthread_".len()..], args, span),
            _ if name.starts_with("sem_") => return self.semaphore(name, args, span),
            _ if name.starts_with("__atomic_") || name.starts_with("__sync_") => {
                return self.atomic(name, args, span);
            }
            _ if name.starts_with("atomic_") => return self.standard_atomic(name, args, span),
            _ if name.starts_with("__CPROVER_") && name.ends_with("predicate")
                || name.ends_with("_predicates") =>
            {
                // Hints for another tool.
                None
            }
            _ if name.starts_with("__VERIFIER_nondet_")
                && !matches!(self.lookup(name), Some(super::Symbol::Function(_))) =>
            {
                let ty = match &name["__VERIFIER_nondet_".len()..] {
                    "bool" | "_Bool" => Int { size: 1, signed: false, truth: true },
                    "char" => Int::new(1, true),
                    "uchar" | "u8" => Int::new(1, false),
                    "short" => Int::new(2, true),
                    "ushort" | "u16" => Int::new(2, false),
                    "uint" | "unsigned" | "u32" => Int::new(4, false),
                    "long" | "longlong" => Int::new(8, true),
                    "ulong" | "size_t" | "pointer" => PTR,
                    _ => INT,
                };
                let r = self.register(ty, None);
                self.emit(Instr::Any(r));
                Some(Value { expr: Expr::Reg(r), ty: Ty::Int(ty) })
            }
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    /// If the condition is false, what `otherwise` writes.
    fn check(&mut self, args: Args<'a>, span: Span, otherwise: impl FnOnce(&mut Self)) -> Result<()> {
        let Some(c) = args.first() else { return wrong(span, "an argument is missing") };
        if self.dry {
            return Ok(());
        }
        let (yes, no) = (self.label(), self.label());
        self.condition(c, yes, no)?;
        self.place_label(no);
        otherwise(self);
        self.place_label(yes);
        Ok(())
    }

    fn arg(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        match args.get(i) {
            Some(e) => {
                let v = self.value(e)?;
                // The address may be used several times.
                Ok(self.kept(v))
            }
            None => wrong(span, "an argument is missing"),
        }
    }

    fn all(&mut self, args: Args<'a>) -> Result<()> {
        for e in args {
            self.value(e)?;
        }
        Ok(())
    }

    fn load(&mut self, a: &Expr, offset: i64, at: Int) -> Expr {
        let r = self.register(at, None);
        self.emit(Instr::Load(r, Expr::bin(BinOp::Add, a.clone(), Expr::Const(offset), PTR), at));
        Expr::Reg(r)
    }

    fn store(&mut self, a: &Expr, offset: i64, v: Expr, at: Int) {
        self.emit(Instr::Store(Expr::bin(BinOp::Add, a.clone(), Expr::Const(offset), PTR), v, at));
    }

    fn equals(a: Expr, v: i64) -> Expr {
        Expr::bin(BinOp::Eq, a, Expr::Const(v), INT)
    }

    fn plus(a: Expr, v: i64) -> Expr {
        Expr::bin(BinOp::Add, a, Expr::Const(v), INT)
    }

    fn int_value(expr: Expr) -> Option<Value> {
        Some(Value { expr, ty: Ty::int() })
    }

    /// Writes `n` bytes.
    fn clear_bytes(&mut self, a: Expr, n: Expr, v: Expr) {
        let byte = Int::new(1, false);
        let i = self.register(PTR, None);
        let (head, body, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::Let(i, Expr::Const(0)));
        self.place_label(head);
        self.emit(Instr::Branch(Expr::bin(BinOp::Lt, Expr::Reg(i), n, PTR), body, end));
        self.place_label(body);
        self.emit(Instr::Store(Expr::bin(BinOp::Add, a, Expr::Reg(i), PTR), Expr::cast(v, byte), byte));
        self.emit(Instr::Let(i, Expr::bin(BinOp::Add, Expr::Reg(i), Expr::Const(1), PTR)));
        self.emit(Instr::Jump(head));
        self.place_label(end);
    }

    /// The number of bytes that a pointer argument points to.
    fn pointee_size(&self, v: &Value) -> u64 {
        match v.ty.plain() {
            Ty::Ptr(t) => t.layout(&self.structs).map_or(0, |l| l.0),
            _ => 0,
        }
    }

    /// Where the kind of a mutex is kept, if there is room for one and any can be recursive.
    fn mutex_kind(&self, m: &Value) -> Option<i64> {
        (self.recursive_locks && self.pointee_size(m) >= 20).then_some(16)
    }

    fn lock(&mut self, m: &Value, wait: bool) -> Expr {
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
            // 1 is recursive, 2 checks for errors and returns EDEADLK.
            let check = self.label();
            self.emit(Instr::Branch(Self::equals(k.clone(), 1), recursive, check));
            self.place_label(check);
            let error = self.label();
            self.emit(Instr::Branch(Self::equals(k, 2), error, blocked));
            self.place_label(error);
            self.emit(Instr::Let(result, Expr::Const(35)));
            self.emit(Instr::Jump(end));
            self.place_label(recursive);
            let count = self.load(&m.expr, 4, INT);
            self.store(&m.expr, 4, Self::plus(count, 1), INT);
            self.emit(Instr::Let(result, Expr::Const(0)));
            self.emit(Instr::Jump(end));
            self.place_label(blocked);
        }
        if wait {
            self.emit(Instr::Assume(Expr::Const(0)));
        } else {
            // EBUSY
            self.emit(Instr::Let(result, Expr::Const(16)));
            self.emit(Instr::Jump(end));
        }
        self.place_label(free);
        self.store(&m.expr, 0, owner, INT);
        self.emit(Instr::Let(result, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        Expr::Reg(result)
    }

    fn lock_owner(&mut self, m: &Value) -> Expr {
        match self.mutex_kind(m) {
            Some(_) => {
                self.program.numbered = true;
                Expr::bin(BinOp::Add, Expr::SelfId, Expr::Const(1), INT)
            }
            None => Expr::Const(1),
        }
    }

    fn unlock(&mut self, m: &Value) {
        if self.mutex_kind(m).is_none() {
            return self.store(&m.expr, 0, Expr::Const(0), INT);
        }
        let (last, more, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let count = self.load(&m.expr, 4, INT);
        self.emit(Instr::Branch(Self::equals(count.clone(), 0), last, more));
        self.place_label(more);
        self.store(&m.expr, 4, Self::plus(count, -1), INT);
        self.emit(Instr::Jump(end));
        self.place_label(last);
        self.store(&m.expr, 0, Expr::Const(0), INT);
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
    }

    fn pthread(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Option<Option<Value>>> {
        let ok = || Self::int_value(Expr::Const(0));
        if self.dry {
            return Ok(Some(match name {
                "self" => Some(Value { expr: Expr::SelfId, ty: Ty::Int(PTR) }),
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
                self.emit(Instr::Join(t.expr, r));
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
                self.emit(Instr::End(v.expr));
                None
            }
            "self" => {
                self.program.numbered = true;
                Some(Value { expr: Expr::SelfId, ty: Ty::Int(PTR) })
            }
            "equal" => {
                let (a, b) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                Self::int_value(Expr::bin(BinOp::Eq, a.expr, b.expr, PTR))
            }
            "mutex_lock" => {
                let m = self.arg(args, 0, span)?;
                Self::int_value(self.lock(&m, true))
            }
            "mutex_trylock" => {
                let m = self.arg(args, 0, span)?;
                Self::int_value(self.lock(&m, false))
            }
            "mutex_unlock" => {
                let m = self.arg(args, 0, span)?;
                self.unlock(&m);
                ok()
            }
            "mutex_init" => {
                let m = self.arg(args, 0, span)?;
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
                ok()
            }
            "cond_wait" | "cond_timedwait" => {
                // Wake-ups may be spurious, so a wait may end at any time, and signals need not be kept in mind.
                self.arg(args, 0, span)?;
                let m = self.arg(args, 1, span)?;
                self.unlock(&m);
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
                self.arg(args, 0, span)?;
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
                    self.emit(Instr::Assume(Expr::Const(0)));
                }
                self.place_label(free);
                let new = if write { Expr::Const(-1) } else { Self::plus(word, 1) };
                self.store(&m.expr, 0, new, INT);
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
                self.emit(Instr::AtomicEnd);
                ok()
            }
            // How many meet, how many are there, how often they have met.
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
                let round = self.load(&b.expr, 8, INT);
                let here = Self::plus(here, 1);
                self.emit(Instr::Branch(Expr::bin(BinOp::Eq, here.clone(), n, INT), last, wait));
                self.place_label(last);
                self.store(&b.expr, 4, Expr::Const(0), INT);
                let next = Expr::bin(BinOp::And, Self::plus(round.clone(), 1), Expr::Const(1), INT);
                self.store(&b.expr, 8, next, INT);
                self.emit(Instr::Let(result, Expr::Const(-1)));
                self.emit(Instr::AtomicEnd);
                self.emit(Instr::Jump(out));
                self.place_label(wait);
                self.store(&b.expr, 4, here, INT);
                self.emit(Instr::AtomicEnd);
                self.emit(Instr::AtomicBegin);
                let now = self.load(&b.expr, 8, INT);
                self.emit(Instr::Assume(Expr::bin(BinOp::Ne, now, round, INT)));
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
                self.emit(Instr::Assume(Self::equals(word, 2)));
                self.emit(Instr::AtomicEnd);
                self.emit(Instr::Jump(end));
                self.place_label(first);
                self.store(&o.expr, 0, Expr::Const(1), INT);
                self.emit(Instr::AtomicEnd);
                if !self.definitions.contains_key(&f.node.name) {
                    return wrong(span, format!("`{}` is not defined", f.node.name));
                }
                self.inline(&f.node.name, Vec::new(), span)?;
                self.store(&o.expr, 0, Expr::Const(2), INT);
                self.place_label(end);
                ok()
            }
            "key_create" | "key_delete" | "setspecific" | "getspecific" | "cleanup_push" | "cleanup_pop"
            | "cancel" | "atfork" | "kill" => {
                return unsupported(span, format!("`pthread_{name}`"));
            }
            _ if ["attr_", "mutexattr_", "condattr_", "rwlockattr_", "barrierattr_", "set", "get"]
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

    fn create(&mut self, args: Args<'a>, span: Span) -> Result<Option<Value>> {
        let handle = self.arg(args, 0, span)?;
        self.arg(args, 1, span)?;
        let function = self.arg(args, 2, span)?;
        let argument = self.arg(args, 3, span)?;
        let number = self.register(PTR, None);
        let arguments = [argument];
        match function.expr {
            Expr::Const(a) => match self.program.name_of(a) {
                Some(name) if a >> 32 >= crate::goto::FUNCTION => {
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
                self.emit(Instr::Store(a, Expr::Reg(number), size));
            }
        }
        // Creation is taken to succeed.
        Ok(Self::int_value(Expr::Const(0)))
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

    /// Copies bytes up to and including a zero, one access at a time.
    fn copy_text(&mut self, to: &Expr, from: &Expr) {
        let byte = Int::new(1, true);
        let i = self.register(PTR, None);
        let (head, more, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::Let(i, Expr::Const(0)));
        self.place_label(head);
        let at = |base: &Expr| Expr::bin(BinOp::Add, base.clone(), Expr::Reg(i), PTR);
        let c = self.load(&at(from), 0, byte);
        self.store(&at(to), 0, c.clone(), byte);
        self.emit(Instr::Branch(Self::equals(c, 0), end, more));
        self.place_label(more);
        self.emit(Instr::Let(i, Expr::bin(BinOp::Add, Expr::Reg(i), Expr::Const(1), PTR)));
        self.emit(Instr::Jump(head));
        self.place_label(end);
    }

    fn semaphore(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Option<Option<Value>>> {
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
                    self.emit(Instr::Assume(Expr::Const(0)));
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
                self.store(&to.expr, 0, n, INT);
                ok()
            }
            "sem_destroy" => ok(),
            _ => return unsupported(span, format!("`{name}`")),
        };
        Ok(Some(result))
    }

    /// The object that an atomic operation is about: its address and type.
    fn atomic_object(&mut self, args: Args<'a>, span: Span) -> Result<(Expr, Ty, Int)> {
        let p = self.arg(args, 0, span)?;
        let Ty::Ptr(t) = p.ty.plain() else { return wrong(span, "this is not a pointer") };
        let ty = unatomic(Ty::clone(t));
        match ty.scalar() {
            Some(i) => Ok((p.expr, ty, i)),
            None => unsupported(span, "an atomic operation on this type"),
        }
    }

    /// `old = *p; *p = old op v` in one step: the old and the new value.
    fn modify(&mut self, p: &Expr, i: Int, op: Option<BinOp>, v: Expr, negate: bool) -> (Expr, Expr) {
        self.emit(Instr::AtomicBegin);
        let old = self.load(p, 0, i);
        let mut new = match op {
            Some(op) => Expr::bin(op, old.clone(), v, i),
            None => v,
        };
        if negate {
            new = Expr::bin(BinOp::Xor, new, Expr::Const(i.wrap(-1)), i);
        }
        let r = self.register(i, None);
        self.emit(Instr::Let(r, Expr::cast(new, i)));
        self.store(p, 0, Expr::Reg(r), i);
        self.emit(Instr::AtomicEnd);
        (old, Expr::Reg(r))
    }

    /// Compares and exchanges in one step: whether it did, and the old value. `into`: where the old value goes if not.
    fn exchange(&mut self, p: &Expr, i: Int, expected: Expr, new: Expr, into: Option<&Expr>) -> (Expr, Expr) {
        let done = self.register(INT, None);
        let (same, other, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let old = self.load(p, 0, i);
        self.emit(Instr::Branch(Expr::bin(BinOp::Eq, old.clone(), expected, i), same, other));
        self.place_label(same);
        self.store(p, 0, new, i);
        self.emit(Instr::Let(done, Expr::Const(1)));
        self.emit(Instr::Jump(end));
        self.place_label(other);
        if let Some(a) = into {
            self.store(a, 0, old.clone(), i);
        }
        self.emit(Instr::Let(done, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        (Expr::Reg(done), old)
    }

    fn operation(word: &str) -> Option<(BinOp, bool)> {
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

    /// `__atomic_*` and `__sync_*`. Weaker orders are executed as the strongest.
    fn atomic(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Option<Option<Value>>> {
        let truth = |expr| Some(Value { expr, ty: Ty::Int(Int { size: 1, signed: false, truth: true }) });
        if matches!(name, "__sync_synchronize" | "__atomic_thread_fence" | "__atomic_signal_fence") {
            return Ok(Some(None));
        }
        if matches!(name, "__atomic_is_lock_free" | "__atomic_always_lock_free") {
            return Ok(Some(truth(Expr::Const(1))));
        }
        if matches!(name, "__atomic_test_and_set" | "__atomic_clear") {
            let p = self.arg(args, 0, span)?;
            let byte = Int { size: 1, signed: false, truth: true };
            if name == "__atomic_clear" {
                self.store(&p.expr, 0, Expr::Const(0), byte);
                return Ok(Some(None));
            }
            let (old, _) = self.modify(&p.expr, byte, None, Expr::Const(1), false);
            return Ok(Some(truth(old)));
        }
        let (p, ty, i) = self.atomic_object(args, span)?;
        let typed = |expr| Some(Value { expr, ty: ty.clone() });
        let operand = |s: &mut Self, n: usize| -> Result<Expr> {
            let v = s.arg(args, n, span)?;
            Ok(s.convert(v, &ty, span)?.expr)
        };
        let result = match name {
            "__atomic_load_n" => {
                let v = self.load(&p, 0, i);
                typed(v)
            }
            "__atomic_load" => {
                let to = self.arg(args, 1, span)?;
                let v = self.load(&p, 0, i);
                self.store(&to.expr, 0, v, i);
                None
            }
            "__atomic_store_n" => {
                let v = operand(self, 1)?;
                self.store(&p, 0, v, i);
                None
            }
            "__atomic_store" => {
                let from = self.arg(args, 1, span)?;
                let v = self.load(&from.expr, 0, i);
                self.store(&p, 0, v, i);
                None
            }
            "__atomic_exchange_n" | "__sync_lock_test_and_set" => {
                let v = operand(self, 1)?;
                typed(self.modify(&p, i, None, v, false).0)
            }
            "__atomic_exchange" => {
                let (from, to) = (self.arg(args, 1, span)?, self.arg(args, 2, span)?);
                let v = self.load(&from.expr, 0, i);
                let (old, _) = self.modify(&p, i, None, v, false);
                self.store(&to.expr, 0, old, i);
                None
            }
            "__sync_lock_release" => {
                self.store(&p, 0, Expr::Const(0), i);
                None
            }
            "__atomic_compare_exchange_n" | "__atomic_compare_exchange" => {
                let expected = self.arg(args, 1, span)?;
                let new = if name.ends_with("_n") {
                    operand(self, 2)?
                } else {
                    let from = self.arg(args, 2, span)?;
                    self.load(&from.expr, 0, i)
                };
                let e = self.load(&expected.expr, 0, i);
                truth(self.exchange(&p, i, e, new, Some(&expected.expr)).0)
            }
            "__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap" => {
                let (e, new) = (operand(self, 1)?, operand(self, 2)?);
                let (done, old) = self.exchange(&p, i, e, new, None);
                if name.starts_with("__sync_bool") { truth(done) } else { typed(old) }
            }
            _ => {
                let rest = name.trim_start_matches("__atomic_").trim_start_matches("__sync_");
                let (word, old) = if let Some(word) = rest.strip_prefix("fetch_and_") {
                    (word, true)
                } else if let Some(word) = rest.strip_prefix("fetch_") {
                    (word, true)
                } else {
                    (rest.strip_suffix("_and_fetch").or(rest.strip_suffix("_fetch")).unwrap_or(rest), false)
                };
                let Some((op, negate)) = Self::operation(word) else {
                    return unsupported(span, format!("`{name}`"));
                };
                let v = self.arg(args, 1, span)?;
                let v = Expr::cast(v.expr, i);
                let (before, after) = self.modify(&p, i, Some(op), v, negate);
                typed(if old { before } else { after })
            }
        };
        Ok(Some(result))
    }

    /// The functions of `<stdatomic.h>`, where they are not macros.
    fn standard_atomic(&mut self, name: &str, args: Args<'a>, span: Span) -> Result<Option<Option<Value>>> {
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
        if rest.starts_with("compare_exchange") && args.len() < 3 {
            return Ok(None);
        }
        self.atomic(&as_builtin, args, span)
    }
}
