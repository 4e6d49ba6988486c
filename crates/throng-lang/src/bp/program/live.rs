//! Liveness of the variables of a thread: the values of dead ones do not matter.
//!
//! A slot is *live* at a point if its value may be read before it is overwritten, by a condition,
//! by another thread, or for a value of something that is live in turn (strong liveness; what is
//! not live in this sense is also called faint). `x := !x` alone keeps nothing alive.
//!
//! # Forgetting
//!
//! Models leave a variable open where it is not live. Two states that differ only there have the
//! same steps and stay alike, so no assertion, label or invariant depends on it; but a list of
//! thread states with all values does.
//!
//! # Copies
//!
//! `start_thread` copies the parent's variables. A variable that is still free would then be free
//! in both, although parent and child must agree. So a spawn fixes its value, but only if both can
//! still read it: otherwise the difference is unobservable, and 2ⁿ cases of n variables that are
//! never read are one.
//!
//! This loses the relation between the value of a variable that its thread never reads again and
//! its copy. No verdict depends on it, but a list of thread states with all values does.

use super::expr::{Expr, Var};
use super::{Edge, Effect, Program};

/// Makes every spawn fix the variables that parent and child can both still read; all of them if
/// `exact`.
pub fn resolve_copies(program: &mut Program, exact: bool) {
    if !program.spawns() {
        return;
    }
    let live = live_slots(program, &[]);
    for i in 0..program.edges.len() {
        let edge = &program.edges[i];
        let (Some(to), Some(child)) = (edge.to, edge.child) else { continue };
        let both: Vec<Var> = (0..program.slots)
            .filter(|&s| exact || live[to as usize][s] && live[child as usize][s])
            .map(|s| Var::Local(s as u32))
            .collect();
        program.edges[i].effect.resolve.extend(both);
    }
}

/// Returns, for each edge, the assignments whose value can never be observed, given the live slots.
pub fn faint_assignments(program: &Program, live: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let of = |edge: &Edge| (0..edge.effect.assigns.len()).map(|i| is_faint(program, edge, i, live)).collect();
    program.edges.iter().map(of).collect()
}

/// Returns whether the value of the `i`-th assignment of an edge can never be observed.
fn is_faint(program: &Program, edge: &Edge, i: usize, live: &[Vec<bool>]) -> bool {
    let Effect { assigns, new_is_read, others, .. } = &edge.effect;
    // A slot that is no longer in use must become 0.
    let fades =
        |slot: usize| edge.to.is_none_or(|to| slot < program.used_slots(to) && !live[to as usize][slot]);
    slot_of(&assigns[i].0).is_some_and(fades) && !new_is_read[i] && others.is_none()
}

/// Returns, for each point, the slots whose value can still matter: the usual backward fixpoint.
///
/// `watched` are the slots of threads at some points that other threads read.
pub fn live_slots(program: &Program, watched: &[(u32, usize)]) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; program.slots]; program.points.len()];
    for &(point, slot) in watched {
        live[point as usize][slot] = true;
    }
    let passive = passive_slots(program);
    for (point, slots) in live.iter_mut().enumerate() {
        for &(function, variable) in &passive {
            let thread_locals = program.thread_locals.len();
            match variable.checked_sub(thread_locals) {
                None => slots[variable] = true,
                Some(v) => {
                    if let Some(base) = program.frame(point as u32, function) {
                        slots[base + v] = true;
                    }
                }
            }
        }
    }
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); program.points.len()];
    for edge in &program.edges {
        push_edge(&mut into, edge.to, edge.from);
        push_edge(&mut into, edge.child, edge.from);
    }
    for (i, point) in program.points.iter().enumerate() {
        push_edge(&mut into, point.woken, i as u32);
    }
    let mut todo: Vec<u32> = (0..program.points.len() as u32).collect();
    while let Some(point) = todo.pop() {
        let now = live_at(program, &live, point);
        if now != live[point as usize] {
            live[point as usize] = now;
            todo.extend(&into[point as usize]);
        }
    }
    live
}

fn push_edge(into: &mut [Vec<u32>], to: Option<u32>, from: u32) {
    if let Some(to) = to {
        into[to as usize].push(from);
    }
}

fn live_at(program: &Program, live: &[Vec<bool>], point: u32) -> Vec<bool> {
    let mut now = live[point as usize].clone();
    let p = &program.points[point as usize];
    if let Some(woken) = p.woken {
        merge(&mut now, &live[woken as usize], &[]);
    }
    for &e in &p.edges {
        let edge = &program.edges[e as usize];
        let written: Vec<usize> = edge.effect.assigns.iter().filter_map(|a| slot_of(&a.0)).collect();
        if let Some(to) = edge.to {
            merge(&mut now, &live[to as usize], &written);
        }
        if let Some(child) = edge.child {
            merge(&mut now, &live[child as usize], &[]);
        }
        let mut read = Vec::new();
        reads(program, edge, live, &mut |slot| read.push(slot));
        read.into_iter().for_each(|slot| now[slot] = true);
    }
    if let Some(e) = &p.assertion {
        e.each_var(&mut |v| slot_of(v).into_iter().for_each(|s| now[s] = true));
    }
    now
}

/// Adds the slots that are live later and not written in between.
fn merge(now: &mut [bool], later: &[bool], written: &[usize]) {
    for (slot, &is) in later.iter().enumerate() {
        now[slot] |= is && !written.contains(&slot);
    }
}

fn slot_of(v: &Var) -> Option<usize> {
    if let Var::Local(slot) = v { Some(*slot as usize) } else { None }
}

fn reads(program: &Program, edge: &Edge, live: &[Vec<bool>], see: &mut dyn FnMut(usize)) {
    let effect = &edge.effect;
    let mut each = |e: &Expr| e.each_var(&mut |v| slot_of(v).into_iter().for_each(&mut *see));
    effect.guards.iter().for_each(|(e, _)| each(e));
    let seen = effect.assigns.iter().enumerate().filter(|(i, _)| !is_faint(program, edge, *i, live));
    seen.for_each(|(_, (_, e))| each(e));
    effect.constraints.iter().for_each(&mut each);
    if let Some(others) = &effect.others {
        others.reads.iter().for_each(|v| slot_of(v).into_iter().for_each(&mut *see));
    }
}

/// Returns the variables that other threads' statements read as `x$`: (function, index into the
/// view).
fn passive_slots(program: &Program) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for others in program.edges.iter().filter_map(|e| e.effect.others.as_ref()) {
        let mut see = |v: &Var| {
            if let Var::Other(i) = v {
                found.push((others.function, *i as usize));
            }
        };
        others.guards.iter().for_each(|(e, _)| e.each_var(&mut see));
        others.assigns.iter().for_each(|(_, e)| e.each_var(&mut see));
        others.constraints.iter().for_each(|e| e.each_var(&mut see));
    }
    found.sort_unstable();
    found.dedup();
    found
}
