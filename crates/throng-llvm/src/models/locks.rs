//! Locks of the standard library, as they are on Linux: a word that is 0 when the lock is free, and
//! a slow path that waits.
//!
//! The word never says that threads wait: a thread that finds a lock taken does not go on before it
//! is free ([`Words`]). What a waiting thread does instead, and who wakes it, then makes no
//! difference to what can happen.
//!
//! If only functions that are known touch the words of a kind of lock, and none of them may find a
//! lock taken and go on, then nobody sees the words, and they are those of locks as the provers know
//! them ([`crate::lower::Lower::knows`]): 0 is free, -1 a writer, another number that of the readers.
//! Otherwise words are those of the standard library, and atomic objects with its memory orders.

use super::Model;
use crate::lower::{Family, Operand, Problem, Result, Site, Words, Writer};
use crate::names::without_types;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Int, Order, PTR};

const WORD: Int = Int::new(4, false);

/// How a lock is taken, and how it is left: both read and write, in one step.
const TAKES: Access = Access::Update(Order::Acquire, Order::Relaxed);
const LEAVES: Access = Access::Update(Order::Release, Order::Relaxed);

/// The word of a lock that a writer has, where nobody sees it.
const WRITER: i64 = -1;

/// The bits of the word of a lock for readers and writers that count readers; all of them: a writer.
const READERS: i64 = (1 << 30) - 1;

/// Functions whose code is read, and in which a compare-exchange, an exchange or a subtraction of a
/// word takes or leaves a lock.
const WORDS: &[(&str, Words)] = &[
    ("mutex::Mutex>::lock", Words::Locks),
    ("mutex::Mutex>::try_lock", Words::TriesToLock),
    ("mutex::MutexGuard as core::ops::drop::Drop>::drop", Words::Unlocks),
    ("rwlock::RwLock>::write", Words::LocksToWrite),
    ("rwlock::RwLock>::try_read", Words::Sees),
    ("rwlock::RwLock>::try_write", Words::Sees),
    ("rwlock::RwLockReadGuard as core::ops::drop::Drop>::drop", Words::UnlocksReader),
    ("rwlock::RwLockWriteGuard as core::ops::drop::Drop>::drop", Words::UnlocksWriter),
    ("rwlock::RwLockWriteGuard>::downgrade", Words::Sees),
];

/// Returns what operations on words do in a function.
pub(crate) fn words(name: &str) -> Option<Words> {
    let path = without_types(name);
    let modules = ["<std::sync::poison::", "<std::sync::nonpoison::"];
    let path = modules.iter().find_map(|module| path.strip_prefix(module))?;
    WORDS.iter().find(|(known, _)| *known == path).map(|(_, words)| *words)
}

/// Returns the kind of lock that a function is the slow path of: where it is called outside of those
/// of [`WORDS`], nothing is known about the locks any more.
pub(crate) fn slow_path(name: &str) -> Option<Family> {
    let path = without_types(name);
    let (family, function) = match path.strip_prefix("<std::sys::sync::")?.split_once("::futex::")? {
        ("mutex", function) => (Family::Mutex, function.strip_prefix("Mutex>::")?),
        ("rwlock", function) => (Family::RwLock, function.strip_prefix("RwLock>::")?),
        _ => return None,
    };
    let slow = ["lock_contended", "wake", "read_contended", "write_contended", "wake_writer_or_readers"];
    slow.contains(&function).then_some(family)
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

/// When a lock can be taken.
#[derive(Clone, Copy)]
enum Free {
    If(i64),
    Unless(i64),
}

fn equals(e: &Expr, v: i64) -> Expr {
    Expr::bin(BinOp::Eq, e.clone(), Expr::Const(v), INT)
}

fn masked(e: &Expr) -> Expr {
    Expr::bin(BinOp::And, e.clone(), Expr::Const(READERS), WORD)
}

fn plus(e: &Expr, v: i64, at: Int) -> Expr {
    Expr::bin(BinOp::Add, e.clone(), Expr::Const(v), at)
}

fn locks<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    w.lock(&word);
    Ok(())
}

fn reads<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    match w.lower.knows(Family::RwLock) {
        true => w.take(&word, Free::Unless(WRITER), |old| plus(old, 1, INT)),
        false => w.change(&word, |old| {
            let fits = Expr::bin(BinOp::Lt, masked(old), Expr::Const(READERS - 1), WORD);
            (fits, plus(old, 1, WORD))
        }),
    }
    Ok(())
}

fn writes<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let word = w.keep(PTR, word);
    w.lock_to_write(&word);
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
        match self.lower.knows(Family::Mutex) {
            true => self.take(word, Free::If(0), |_| Expr::Const(1)),
            false => self.change(word, |old| (equals(old, 0), Expr::Const(1))),
        }
    }

    /// Leaves a mutex.
    pub(crate) fn unlock(&mut self, word: &Expr) {
        match self.lower.knows(Family::Mutex) {
            true => self.give(word),
            false => self.change_as(LEAVES, word, |_| (Expr::Const(1), Expr::Const(0))),
        }
    }

    /// Takes a lock alone, once nobody has it.
    pub(crate) fn lock_to_write(&mut self, word: &Expr) {
        match self.lower.knows(Family::RwLock) {
            true => self.take(word, Free::If(0), |_| Expr::Const(WRITER)),
            false => self.change(word, |old| {
                let new = Expr::bin(BinOp::Or, old.clone(), Expr::Const(READERS), WORD);
                (equals(&masked(old), 0), new)
            }),
        }
    }

    /// A reader leaves a lock whose words nobody sees.
    pub(crate) fn unlock_reader(&mut self, word: &Expr) {
        let (writer, reader, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let old = self.load_as(Access::Internal, word, INT);
        self.emit(Instr::Branch(equals(&old, WRITER), writer, reader));
        self.place_label(writer);
        self.emit_as(Access::Internal, Instr::Store(word.clone(), Expr::Const(0), INT));
        self.emit(Instr::Jump(end));
        self.place_label(reader);
        self.emit_as(Access::Internal, Instr::Store(word.clone(), plus(&old, -1, INT), INT));
        self.place_label(end);
        self.emit(Instr::Release(word.clone()));
        self.emit(Instr::AtomicEnd);
    }

    /// A writer leaves a lock whose words nobody sees.
    pub(crate) fn unlock_writer(&mut self, word: &Expr) {
        self.give(word);
    }

    /// Takes a lock whose words nobody sees, once it is free, in the shape that checkers recognise.
    fn take(&mut self, word: &Expr, free: Free, new: impl FnOnce(&Expr) -> Expr) {
        let (takes, held) = (self.label(), self.label());
        self.test(word, free, takes, held, |w, old| {
            w.place_label(held);
            w.emit_as(Access::Internal, Instr::Assume(Expr::Const(0)));
            w.place_label(takes);
            w.taken(word, new(old));
        });
        self.emit(Instr::AtomicEnd);
    }

    /// Takes a mutex whose words nobody sees, if it is free, and returns what was in the word.
    pub(crate) fn try_to_lock(&mut self, word: &Expr) -> Expr {
        let (takes, held) = (self.label(), self.label());
        let mut found = Expr::Const(0);
        self.test(word, Free::If(0), takes, held, |w, old| {
            w.place_label(takes);
            w.taken(word, Expr::Const(1));
            w.place_label(held);
            found = old.clone();
        });
        self.emit(Instr::AtomicEnd);
        found
    }

    fn test(
        &mut self,
        word: &Expr,
        free: Free,
        takes: usize,
        held: usize,
        then: impl FnOnce(&mut Self, &Expr),
    ) {
        self.emit(Instr::AtomicBegin);
        let old = self.load_as(Access::Internal, word, INT);
        self.emit(match free {
            Free::If(v) => Instr::Branch(equals(&old, v), takes, held),
            Free::Unless(v) => Instr::Branch(equals(&old, v), held, takes),
        });
        then(self, &old);
    }

    fn taken(&mut self, word: &Expr, new: Expr) {
        self.emit_as(Access::Internal, Instr::Store(word.clone(), new, INT));
        self.emit(Instr::Acquire(word.clone()));
    }

    fn give(&mut self, word: &Expr) {
        self.emit(Instr::AtomicBegin);
        self.emit_as(Access::Internal, Instr::Store(word.clone(), Expr::Const(0), INT));
        self.emit(Instr::Release(word.clone()));
        self.emit(Instr::AtomicEnd);
    }

    /// Waits until the word of a lock that others see fits, and changes it.
    fn change(&mut self, word: &Expr, change: impl FnOnce(&Expr) -> (Expr, Expr)) {
        self.change_as(TAKES, word, change);
    }

    fn change_as(&mut self, kind: Access, word: &Expr, change: impl FnOnce(&Expr) -> (Expr, Expr)) {
        self.lower.program.weak_orders = true;
        self.emit(Instr::AtomicBegin);
        let old = self.load_as(kind, word, WORD);
        let (fits, new) = change(&old);
        if fits.constant().is_none() {
            self.emit_as(Access::Internal, Instr::Assume(fits));
        }
        self.emit_as(kind, Instr::Store(word.clone(), new, WORD));
        self.emit(Instr::AtomicEnd);
    }

    fn load_as(&mut self, kind: Access, word: &Expr, at: Int) -> Expr {
        let r = self.register(at, None);
        self.emit_as(kind, Instr::Load(r, word.clone(), at));
        Expr::Reg(r)
    }
}
