//! Private variables in memory become registers, and what is known to be constant is computed.
//!
//! What compilers write keeps in memory what functions hand to one another by address: guards of
//! locks, closures, results. Once functions are in place of their calls, such a variable is named by
//! its loads and stores alone, and provers see more of the program if it is a register: which lock a
//! guard belongs to, and that the branch behind a result is never taken.
//!
//! **Registers.** A part of a variable of one thread that no expression names except to load or store
//! exactly these bytes has one value at a time: no pointer and no other thread comes to it. A part
//! becomes a register only if it is written before it is read on every way from where its lifetime
//! begins, and is not read where that has ended, so that lifetimes no longer matter to it.
//!
//! **Constants.** Registers are private, so that a value that one has on all ways to an instruction
//! is its value there. Ways behind a condition that is known are not taken (Wegman and Zadeck, 1991).
//!
//! **Flags.** Where ways meet that differ in a constant only, the code behind is written once for each
//! of them (`specialise`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::specialise::specialise;
use super::{
    Access, Expr, Instr, Int, PRIVATE, Program, Reg, Template, expressions, next, object_of, offset_of,
    reads, writes,
};

/// The most entries of a table: what is larger stays as it is.
const MOST: usize = 1 << 22;

impl Program {
    /// Replaces private variables in memory by registers, computes what is constant, and removes
    /// what is never executed. The program has functions in place of their calls, and is to be
    /// finished afterwards.
    pub fn simplify(&mut self) {
        self.simplify_once();
        self.templates.iter_mut().for_each(specialise);
        // What depends on flags is constant now, and fewer variables are told to others.
        self.simplify_once();
    }

    fn simplify_once(&mut self) {
        let users = self.users();
        for t in 0..self.templates.len() {
            self.promote(t, &users);
            let template = &mut self.templates[t];
            propagate(template);
            straighten(template);
            forget_unread(template);
        }
    }

    /// Returns which templates name an object: for each, the only one, or none.
    fn users(&self) -> FxHashMap<i64, Option<usize>> {
        let mut users: FxHashMap<i64, Option<usize>> = FxHashMap::default();
        for (t, template) in self.templates.iter().enumerate() {
            for i in &template.code {
                named(i, &mut |c| {
                    let known = users.entry(object_of(c)).or_insert(Some(t));
                    *known = known.filter(|&other| other == t);
                });
            }
        }
        users
    }

    /// Returns the name and size of a variable that one thread of a template alone can access, if
    /// its address is not told.
    fn own(&self, t: usize, object: i64, users: &FxHashMap<i64, Option<usize>>) -> Option<(&str, u32)> {
        let private = object.checked_sub(PRIVATE).and_then(|n| self.locals.get(usize::try_from(n).ok()?));
        if let Some(p) = private {
            return Some((&p.name, p.size));
        }
        let own = self.templates[t].single && users.get(&object) == Some(&Some(t));
        let o = self.objects.get(usize::try_from(object).ok()?.checked_sub(1)?)?;
        (own && !o.global && !o.external).then_some((&*o.name, o.init.len() as u32))
    }

    fn promote(&mut self, t: usize, users: &FxHashMap<i64, Option<usize>>) {
        let parts = Parts::of(self, t, users);
        if parts.list.is_empty() {
            return;
        }
        let mut registers: FxHashMap<i64, (Reg, Int)> = FxHashMap::default();
        for &(a, at) in &parts.list {
            let whole = self.own(t, object_of(a), users).filter(|own| own.1 == u32::from(at.size));
            let name = whole.map(|own| own.0.to_string());
            let template = &mut self.templates[t];
            let owner = if name.is_some() { template.name.clone() } else { String::new() };
            template.registers.push(at);
            template.names.push(name);
            template.owners.push(owner);
            registers.insert(a, (template.registers.len() as Reg - 1, at));
        }
        let template = &mut self.templates[t];
        for pc in 0..template.code.len() {
            let known = |a: &Expr| a.constant().and_then(|a| registers.get(&a).copied());
            let new = match &template.code[pc] {
                Instr::Load(r, a, at) => known(a)
                    .map(|(from, _)| Instr::Let(*r, Expr::Reg(from).converted(*at, &template.registers))),
                Instr::Store(a, e, _) => {
                    known(a).map(|(to, at)| Instr::Let(to, e.clone().converted(at, &template.registers)))
                }
                _ => None,
            };
            if let Some(new) = new {
                template.code[pc] = new;
                template.access[pc] = Access::Plain;
            }
        }
    }
}

/// Calls `f` on every constant in an instruction, addresses of lifetimes included.
fn named(i: &Instr, f: &mut impl FnMut(i64)) {
    expressions(i, &mut |e| e.constants(f));
    match i {
        Instr::Begins(a, _) => a.constants(f),
        Instr::Ends(list) => list.iter().for_each(|(a, _)| a.constants(f)),
        _ => {}
    }
}

/// The parts of private variables that can be registers.
struct Parts {
    list: Vec<(i64, Int)>,
}

impl Parts {
    fn of(program: &Program, t: usize, users: &FxHashMap<i64, Option<usize>>) -> Parts {
        let template = &program.templates[t];
        let mut found: FxHashMap<i64, Option<Int>> = FxHashMap::default();
        let mut told: FxHashSet<i64> = FxHashSet::default();
        for (pc, i) in template.code.iter().enumerate() {
            let before = pc.checked_sub(1);
            let copied = |pc: &usize| template.copies.binary_search(pc).is_ok();
            let (accessed, rest) = match i {
                Instr::Load(_, Expr::Const(a), at) => (Some((*a, *at, copied(&pc))), None),
                Instr::Store(Expr::Const(a), e, at) => {
                    (Some((*a, *at, before.as_ref().is_some_and(copied))), Some(e))
                }
                _ => (None, None),
            };
            let Some((a, at, copied)) = accessed else {
                expressions(i, &mut |e| e.constants(&mut |c| _ = told.insert(object_of(c))));
                continue;
            };
            rest.into_iter().for_each(|e| e.constants(&mut |c| _ = told.insert(object_of(c))));
            let odd = copied || template.field(pc).is_some() || template.access[pc] != Access::Plain;
            let known = found.entry(a).or_insert(Some(at));
            *known = known.filter(|known| !odd && same_bits(*known, at));
        }
        let inside = |(a, at): &(i64, Option<Int>)| {
            let (object, from) = (object_of(*a), offset_of(*a));
            let own = program.own(t, object, users).filter(|_| !told.contains(&object));
            let size = at.map_or(1, |at| i64::from(at.size));
            own.is_some_and(|(_, bytes)| from >= 0 && from + size <= i64::from(bytes))
        };
        let mut all: Vec<(i64, Option<Int>)> = found.into_iter().filter(inside).collect();
        all.sort_unstable_by_key(|part| part.0);
        let mut parts = Parts { list: apart(&all) };
        parts.keep_written(template);
        parts
    }

    /// Forgets parts that may be read before they are written, or after their lifetimes have ended.
    fn keep_written(&mut self, t: &Template) {
        let (n, words) = (t.code.len(), self.list.len().div_ceil(64));
        if n.saturating_mul(words) > MOST {
            self.list.clear();
            return;
        }
        let number = |a: &Expr| self.list.binary_search_by_key(&a.constant()?, |part| part.0).ok();
        let bit = |k: usize| (k / 64, 1u64 << (k % 64));
        let mut read = vec![vec![0u64; words]; n + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (0..n).rev() {
                let mut now = later(&read, t, pc, words);
                match &t.code[pc] {
                    Instr::Load(_, a, _) => {
                        number(a).map(bit).into_iter().for_each(|(w, b)| now[w] |= b);
                    }
                    Instr::Store(a, ..) => {
                        number(a).map(bit).into_iter().for_each(|(w, b)| now[w] &= !b);
                    }
                    _ => {}
                }
                changed |= now != read[pc];
                read[pc] = now;
            }
        }
        let mut open = read[0].clone();
        for pc in 0..n {
            let mut ends = |a: &Expr| {
                let Some(object) = a.constant().map(object_of) else { return };
                let after = later(&read, t, pc, words);
                let own = self.list.iter().enumerate().filter(|(_, part)| object_of(part.0) == object);
                for (k, _) in own {
                    let (w, b) = bit(k);
                    open[w] |= after[w] & b;
                }
            };
            match &t.code[pc] {
                Instr::Begins(a, _) => ends(a),
                Instr::Ends(list) => list.iter().for_each(|(a, _)| ends(a)),
                _ => {}
            }
        }
        let mut k = 0;
        self.list.retain(|_| {
            let (w, b) = bit(k);
            k += 1;
            open[w] & b == 0
        });
    }
}

/// What is read behind an instruction.
fn later(read: &[Vec<u64>], t: &Template, pc: usize, words: usize) -> Vec<u64> {
    let mut all = vec![0; words];
    for to in next(&t.code, pc) {
        all.iter_mut().zip(&read[to.min(read.len() - 1)]).for_each(|(a, b)| *a |= b);
    }
    all
}

/// Returns whether numbers of one type are those of the other, up to their sign.
fn same_bits(a: Int, b: Int) -> bool {
    a.size == b.size && a.truth == b.truth && !a.float && !b.float
}

/// Returns the parts that overlap with no other, of all that are accessed, which are sorted.
fn apart(all: &[(i64, Option<Int>)]) -> Vec<(i64, Int)> {
    let end = |(a, at): &(i64, Option<Int>)| a + at.map_or(8, |at| i64::from(at.size));
    let mut found = Vec::new();
    let mut reached = i64::MIN;
    for (n, part) in all.iter().enumerate() {
        let clear = part.0 >= reached && all.get(n + 1).is_none_or(|next| next.0 >= end(part));
        reached = reached.max(end(part));
        found.extend(part.1.filter(|_| clear).map(|at| (part.0, at)));
    }
    found
}

/// What is known of registers: their values, where they have one on all ways.
type Known = Vec<Option<i64>>;

/// Computes what is constant, and removes what is not executed.
fn propagate(t: &mut Template) {
    let Some(known) = known(t) else { return };
    let mut keep = vec![false; t.code.len()];
    for (pc, known) in known.iter().enumerate() {
        let Some(known) = known else { continue };
        keep[pc] = true;
        let constant = |e: &Expr| match e {
            Expr::Reg(r) => known[*r as usize].map(Expr::Const),
            _ => None,
        };
        t.code[pc] = match t.code[pc].mapped(&|e| e.replaced(&constant), &|r| r) {
            Instr::Branch(Expr::Const(v), yes, no) => Instr::Jump(if v != 0 { yes } else { no }),
            i => i,
        };
    }
    keep_only(t, keep);
}

/// Returns what is known at each instruction that may be executed; `None` if the code is too long.
fn known(t: &Template) -> Option<Vec<Option<Known>>> {
    let (n, registers) = (t.code.len(), t.registers.len());
    if n.saturating_mul(registers) > MOST {
        return None;
    }
    let mut at: Vec<Option<Known>> = vec![None; n];
    let mut work = vec![0];
    if n > 0 {
        at[0] = Some(vec![None; registers]);
    }
    while let Some(pc) = work.pop() {
        let Some(mut now) = at[pc].clone() else { continue };
        let value = |e: &Expr| {
            let leaf = |e: &Expr| match e {
                Expr::Reg(r) => now[*r as usize].map(Expr::Const),
                _ => None,
            };
            e.replaced(&leaf).constant()
        };
        let ways = match &t.code[pc] {
            Instr::Branch(e, yes, no) => match value(e) {
                Some(0) => vec![*no],
                Some(_) => vec![*yes],
                None => vec![*yes, *no],
            },
            _ => next(&t.code, pc),
        };
        if let Some(r) = writes(&t.code[pc]) {
            let fits = |v: &i64| t.registers[r as usize].wrap(*v) == *v;
            now[r as usize] = match &t.code[pc] {
                Instr::Let(_, e) => value(e).filter(fits),
                _ => None,
            };
        }
        for to in ways.into_iter().filter(|to| *to < n) {
            if joined(&mut at[to], &now) {
                work.push(to);
            }
        }
    }
    Some(at)
}

/// Adds a way to where others lead. Returns whether less is known there.
fn joined(there: &mut Option<Known>, new: &Known) -> bool {
    let Some(there) = there else {
        *there = Some(new.clone());
        return true;
    };
    let mut changed = false;
    for (old, new) in there.iter_mut().zip(new) {
        if old.is_some() && old != new {
            *old = None;
            changed = true;
        }
    }
    changed
}

/// Leads control past jumps to where they lead, and removes what it does not come to any more.
fn straighten(t: &mut Template) {
    let end = |to: usize| {
        let mut at = to;
        // A circle of jumps is left alone.
        for _ in 0..t.code.len() {
            match t.code[at] {
                Instr::Jump(next) if next < t.code.len() => at = next,
                _ => return at,
            }
        }
        to
    };
    let new = t.code.iter().map(|i| match i {
        Instr::Branch(e, yes, no) => Instr::Branch(e.clone(), end(*yes), end(*no)),
        Instr::Jump(to) => Instr::Jump(end(*to)),
        i => i.clone(),
    });
    t.code = new.collect();
    let mut keep = vec![false; t.code.len()];
    let mut work = vec![0];
    while let Some(pc) = work.pop() {
        if keep.get(pc) == Some(&false) {
            keep[pc] = true;
            work.extend(next(&t.code, pc));
        }
    }
    keep_only(t, keep);
}

/// Removes values that nothing reads, and the lifetimes of variables that nothing accesses. An
/// address that nothing reads is no reason for its variable to stay in memory.
fn forget_unread(t: &mut Template) {
    let mut read = vec![false; t.registers.len()];
    let mut used: FxHashSet<i64> = FxHashSet::default();
    for i in &t.code {
        reads(i, &mut |r| read[r as usize] = true);
        expressions(i, &mut |e| e.constants(&mut |c| _ = used.insert(object_of(c))));
    }
    let unused =
        |a: &Expr| a.constant().is_some_and(|a| object_of(a) >= PRIVATE && !used.contains(&object_of(a)));
    let mut keep = vec![true; t.code.len()];
    for (pc, i) in t.code.iter_mut().enumerate() {
        match i {
            Instr::Let(r, Expr::Const(c)) if object_of(*c) != 0 => keep[pc] = read[*r as usize],
            Instr::Let(r, Expr::Const(_) | Expr::Reg(_)) => {
                keep[pc] = read[*r as usize] || t.names[*r as usize].is_some();
            }
            Instr::Begins(a, _) => keep[pc] = !unused(a),
            Instr::Ends(list) => {
                list.retain(|(a, _)| !unused(a));
                keep[pc] = !list.is_empty();
            }
            _ => {}
        }
    }
    for pc in (0..t.code.len()).rev() {
        if let Instr::Jump(to) = t.code[pc]
            && to > pc
            && keep[pc + 1..to].iter().all(|kept| !kept)
        {
            keep[pc] = false;
        }
    }
    keep_only(t, keep);
}

/// Removes instructions. What is left behind one that is removed is executed in its place.
fn keep_only(t: &mut Template, keep: Vec<bool>) {
    let mut places = Vec::with_capacity(keep.len() + 1);
    let mut count = 0;
    for &kept in &keep {
        places.push(count);
        count += usize::from(kept);
    }
    places.push(count);
    let mut at = 0;
    t.code.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    for i in &mut t.code {
        match i {
            Instr::Branch(_, a, b) => (*a, *b) = (places[*a], places[*b]),
            Instr::Jump(a) => *a = places[*a],
            _ => {}
        }
    }
    let mut kept = keep.iter();
    t.origins.retain(|_| kept.next() == Some(&true));
    let mut kept = keep.iter();
    t.access.retain(|_| kept.next() == Some(&true));
    t.doubts.retain(|(pc, _)| keep[*pc]);
    t.doubts.iter_mut().for_each(|(pc, _)| *pc = places[*pc]);
    t.copies.retain(|pc| keep[*pc]);
    t.copies.iter_mut().for_each(|pc| *pc = places[*pc]);
    t.bits.retain(|(pc, _)| keep[*pc]);
    t.bits.iter_mut().for_each(|(pc, _)| *pc = places[*pc]);
}
