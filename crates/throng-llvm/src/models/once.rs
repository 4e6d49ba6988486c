//! What happens once: `Once`, and what is made of it; and barriers.

use super::Model;
use crate::layout::Leaf;
use crate::lower::{Operand, Problem, Result, Site, Writer};
use crate::names::without_types;
use throng_goto::program::{Access, BOOL, BinOp, Expr, Instr, Int, Order, PTR};

const WORD: Int = Int::new(4, false);

/// The states of a `Once`: its word, on Linux, as the standard library of 1.95 has it.
const COMPLETE: i64 = 0;
const RUNNING: i64 = 1;
const POISONED: i64 = 2;
const INCOMPLETE: i64 = 3;

/// How a word is read and changed in one step, and how it says that something is done.
const CHANGES: Access = Access::Update(Order::AcqRel, Order::Acquire);
const TELLS: Access = Access::Atomic(Order::Release);

/// Where `FnMut::call_mut` is in a table of methods.
const CALL_MUT: i64 = 32;

pub(super) fn model(name: &str) -> Option<Model> {
    Some(match without_types(name).as_str() {
        "<std::sys::sync::once::futex::Once>::call" => calls,
        "<std::sync::barrier::Barrier>::wait" => meets,
        _ => return None,
    })
}

fn is(e: &Expr, v: i64) -> Expr {
    Expr::bin(BinOp::Eq, e.clone(), Expr::Const(v), WORD)
}

/// `call(&self, ignore_poisoning, &mut dyn FnMut(&OnceState))`
fn calls<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let word = w.argument(site, 0)?;
    let (word, ignores) = (w.keep(PTR, word), w.argument(site, 1)?);
    let (data, table) = (w.argument(site, 2)?, w.argument(site, 3)?);
    let (data, table) = (w.keep(PTR, data), w.keep(PTR, table));
    let (first, later, poisoned, known, end) = (w.label(), w.label(), w.label(), w.label(), w.label());
    w.emit(Instr::AtomicBegin);
    let state = w.register(WORD, None);
    w.emit_as(CHANGES, Instr::Load(state, word.clone(), WORD));
    let state = Expr::Reg(state);
    w.emit(Instr::Branch(is(&state, INCOMPLETE), first, later));
    w.place_label(later);
    w.emit(Instr::Branch(is(&state, POISONED), poisoned, known));
    w.place_label(poisoned);
    w.unless(ignores, |w| w.fail("panics: a `Once` instance is poisoned"));
    w.emit(Instr::Jump(first));
    w.place_label(known);
    w.emit_as(Access::Internal, Instr::Assume(is(&state, COMPLETE)));
    w.emit(Instr::AtomicEnd);
    w.emit(Instr::Jump(end));
    w.place_label(first);
    w.emit_as(CHANGES, Instr::Store(word.clone(), Expr::Const(RUNNING), WORD));
    w.emit(Instr::AtomicEnd);
    // `OnceState`: what the word becomes, and whether it was poisoned before.
    let seen = w.local("state", 8, 4, true);
    let seen = Expr::Local(seen);
    w.emit(Instr::Begins(seen.clone(), 8));
    w.emit(Instr::Store(seen.clone(), Expr::Const(COMPLETE), WORD));
    let was = Expr::cast(is(&state, POISONED), WORD);
    w.emit(Instr::Store(moved(&seen, 4), was, WORD));
    let function = match w.constant_in(&table, CALL_MUT as u64, Leaf::Pointer) {
        Some(a) => Expr::Const(a),
        None => {
            let function = w.register(PTR, None);
            w.emit(Instr::Load(function, moved(&table, CALL_MUT), PTR));
            Expr::Reg(function)
        }
    };
    w.call_at(function, vec![(data, PTR), (seen.clone(), PTR)])?;
    let new = w.register(WORD, None);
    w.emit(Instr::Load(new, seen.clone(), WORD));
    w.emit_as(TELLS, Instr::Store(word, Expr::Reg(new), WORD));
    w.emit(Instr::Ends(vec![(seen, 8)]));
    w.place_label(end);
    Ok(())
}

fn moved(e: &Expr, by: i64) -> Expr {
    Expr::bin(BinOp::Add, e.clone(), Expr::Const(by), PTR)
}

/// A barrier: how many threads have come, which round it is, and how many threads it is for.
fn meets<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let places = w.debug().places(
        "Barrier",
        &[&["lock", "data", "value", "count"], &["lock", "data", "value", "generation_id"], &["num_threads"]],
    );
    let Some(&[count, round, threads]) = places.as_deref() else {
        return Err(Problem::unsupported("a `Barrier` of this standard library"));
    };
    let barrier = w.argument(site, 0)?;
    let barrier = w.keep(PTR, barrier);
    let (last, wait, end) = (w.label(), w.label(), w.label());
    let is_leader = w.register(BOOL, None);
    let load = |w: &mut Writer<'_, '_, 't>, at: u64| {
        let r = w.register(PTR, None);
        w.emit_as(CHANGES, Instr::Load(r, moved(&barrier, at as i64), PTR));
        Expr::Reg(r)
    };
    let store = |w: &mut Writer<'_, '_, 't>, at: u64, e: Expr| {
        w.emit_as(CHANGES, Instr::Store(moved(&barrier, at as i64), e, PTR));
    };
    let plus = |e: &Expr| Expr::bin(BinOp::Add, e.clone(), Expr::Const(1), PTR);
    w.emit(Instr::AtomicBegin);
    let (come, now, all) = (load(w, count), load(w, round), load(w, threads));
    w.emit(Instr::Branch(Expr::bin(BinOp::Lt, plus(&come), all, PTR), wait, last));
    w.place_label(last);
    store(w, count, Expr::Const(0));
    store(w, round, plus(&now));
    w.emit(Instr::AtomicEnd);
    w.emit(Instr::Let(is_leader, Expr::Const(1)));
    w.emit(Instr::Jump(end));
    w.place_label(wait);
    store(w, count, plus(&come));
    w.emit(Instr::AtomicEnd);
    w.emit(Instr::AtomicBegin);
    let later = load(w, round);
    w.emit_as(Access::Internal, Instr::Assume(Expr::bin(BinOp::Ne, later, now, PTR)));
    w.emit(Instr::AtomicEnd);
    w.emit(Instr::Let(is_leader, Expr::Const(0)));
    w.place_label(end);
    w.set(site.result, vec![Operand::Is(Expr::Reg(is_leader))]);
    Ok(())
}
