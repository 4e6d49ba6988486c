//! Locks of the standard library, as they are on Linux: a word that is 0 when the lock is free, and
//! a slow path that waits.
//!
//! The word never says that threads wait: a thread that finds a mutex taken does not go on before it
//! is free ([`Words`]). What a waiting thread does instead, and who wakes it, then makes no
//! difference to what can happen.

use super::Model;
use crate::lower::{Operand, Problem, Result, Site, Words, Writer};
use crate::names::without_types;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Order, PTR};

const WORD: throng_goto::program::Int = throng_goto::program::Int::new(4, false);

/// How a lock is taken, and how it is left.
const TAKES: Access = Access::Update(Order::Acquire, Order::Relaxed);
const LEAVES: Access = Access::Atomic(Order::Release);

/// The bits of the word of a lock for readers and writers that count readers; all of them: a writer.
const READERS: i64 = (1 << 30) - 1;

/// Functions whose code is read, and in which a compare-exchange, or an exchange, of a word takes or
/// leaves a lock.
const WORDS: &[(&str, Words)] = &[
    ("<std::sync::poison::mutex::Mutex>::lock", Words::Locks),
    ("<std::sync::poison::mutex::Mutex>::try_lock", Words::TriesToLock),
    ("<std::sync::poison::mutex::MutexGuard as core::ops::drop::Drop>::drop", Words::Unlocks),
    ("<std::sync::nonpoison::mutex::Mutex>::lock", Words::Locks),
    ("<std::sync::nonpoison::mutex::Mutex>::try_lock", Words::TriesToLock),
    ("<std::sync::nonpoison::mutex::MutexGuard as core::ops::drop::Drop>::drop", Words::Unlocks),
    ("<std::sync::poison::rwlock::RwLock>::write", Words::Waits),
];

/// Returns what operations on words do in a function.
pub(crate) fn words(name: &str) -> Option<Words> {
    let path = without_types(name);
    WORDS.iter().find(|(known, _)| *known == path).map(|(_, words)| *words)
}

/// Returns whether a function is part of a lock, so that outside of those of [`WORDS`] nothing is
/// known about the lock any more.
pub(crate) fn is_slow_path(name: &str) -> bool {
    let path = without_types(name);
    path.ends_with("futex::Mutex>::lock_contended") || path.ends_with("futex::Mutex>::wake")
}

pub(super) fn model(name: &str) -> Option<Model> {
    let path = without_types(name);
    Some(match path.as_str() {
        "<std::sys::sync::mutex::futex::Mutex>::lock_contended" => locks,
        "<std::sys::sync::mutex::futex::Mutex>::wake" => nothing,
        "<std::sys::sync::rwlock::futex::RwLock>::read" => reads,
        "<std::sys::sync::rwlock::futex::RwLock>::read_contended" => reads,
        "<std::sys::sync::rwlock::futex::RwLock>::write_contended" => writes,
        "<std::sys::sync::rwlock::futex::RwLock>::wake_writer_or_readers" => nothing,
        "<std::sys::sync::condvar::futex::Condvar>::wait" => waits,
        "<std::sys::sync::condvar::futex::Condvar>::notify_one"
        | "<std::sync::poison::condvar::Condvar>::notify_one"
        | "<std::sync::poison::condvar::Condvar>::notify_all"
        | "<std::sync::nonpoison::condvar::Condvar>::notify_one"
        | "<std::sync::nonpoison::condvar::Condvar>::notify_all"
        | "<std::sys::sync::condvar::futex::Condvar>::notify_all" => notifies,
        "<std::sync::poison::Flag>::guard" => no_poison,
        "<std::sync::poison::Flag>::done" => nothing,
        "std::panicking::panic_count::is_zero_slow_path" => not_panicking,
        "std::sys::pal::unix::futex::futex_wake" => not_panicking,
        _ => return None,
    })
}

fn nothing<'t>(_: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    Ok(())
}

/// A panic is a violation, so that no thread is panicking and no lock is poisoned.
fn not_panicking<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    w.finish(site, Expr::Const(1))
}

fn no_poison<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let parts = w.leaves(&site.call.result)?.len();
    w.set(site.result, (0..parts).map(|_| Operand::Is(Expr::Const(0))).collect());
    Ok(())
}

/// Waits until the word of a lock fits, and changes it.
fn take<'t>(
    w: &mut Writer<'_, '_, 't>,
    word: Expr,
    fits: impl FnOnce(&Expr) -> Expr,
    new: impl FnOnce(&Expr) -> Expr,
) {
    w.emit(Instr::AtomicBegin);
    let old = w.load_word(word.clone());
    w.emit_as(Access::Internal, Instr::Assume(fits(&old)));
    w.store_word(word, new(&old));
    w.emit(Instr::AtomicEnd);
}

fn equals(e: &Expr, v: i64) -> Expr {
    Expr::bin(BinOp::Eq, e.clone(), Expr::Const(v), WORD)
}

fn masked(e: &Expr) -> Expr {
    Expr::bin(BinOp::And, e.clone(), Expr::Const(READERS), WORD)
}

fn locks<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    take(w, word, |old| equals(old, 0), |_| Expr::Const(1));
    Ok(())
}

fn reads<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    let fits = |old: &Expr| Expr::bin(BinOp::Lt, masked(old), Expr::Const(READERS - 1), WORD);
    take(w, word, fits, |old| Expr::bin(BinOp::Add, old.clone(), Expr::Const(1), WORD));
    Ok(())
}

fn writes<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    let new = |old: &Expr| Expr::bin(BinOp::Or, old.clone(), Expr::Const(READERS), WORD);
    take(w, word, |old| equals(&masked(old), 0), new);
    Ok(())
}

/// A wait may end for no reason, at any time, as the documentation allows: signals need not be kept
/// in mind. Where it is asked whether threads can be stuck, that would hide it.
fn waits<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    refuse_exact(w)?;
    w.lower.program.waits = true;
    let word = w.argument(site, 1)?;
    let word = w.keep(PTR, word);
    w.unlock(&word);
    w.lock(&word);
    Ok(())
}

fn notifies<'t>(w: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    refuse_exact(w)
}

fn refuse_exact(w: &Writer<'_, '_, '_>) -> Result<()> {
    match w.lower.asked.question.exact_waits() {
        true => {
            Err(Problem::unsupported("a condition variable, where it is asked whether threads get stuck,"))
        }
        false => Ok(()),
    }
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Takes a mutex, once it is free.
    pub(crate) fn lock(&mut self, word: &Expr) {
        self.emit(Instr::AtomicBegin);
        let old = self.load_word(word.clone());
        self.emit_as(Access::Internal, Instr::Assume(equals(&old, 0)));
        self.store_word(word.clone(), Expr::Const(1));
        self.acquired(word);
        self.emit(Instr::AtomicEnd);
    }

    /// Leaves a mutex.
    pub(crate) fn unlock(&mut self, word: &Expr) {
        self.emit(Instr::AtomicBegin);
        self.emit_as(LEAVES, Instr::Store(word.clone(), Expr::Const(0), WORD));
        self.released(word);
        self.emit(Instr::AtomicEnd);
    }

    /// From here on the thread holds the lock, if all that takes and leaves it is known.
    pub(crate) fn acquired(&mut self, word: &Expr) {
        if self.lower.knows_locks() {
            self.emit(Instr::Acquire(word.clone()));
        }
    }

    pub(crate) fn released(&mut self, word: &Expr) {
        if self.lower.knows_locks() {
            self.emit(Instr::Release(word.clone()));
        }
    }

    fn load_word(&mut self, word: Expr) -> Expr {
        let r = self.register(INT, None);
        self.template.registers[r as usize] = WORD;
        self.emit_as(TAKES, Instr::Load(r, word, WORD));
        Expr::Reg(r)
    }

    fn store_word(&mut self, word: Expr, e: Expr) {
        self.emit_as(TAKES, Instr::Store(word, e, WORD));
    }
}
