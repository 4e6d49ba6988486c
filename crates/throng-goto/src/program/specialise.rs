//! Code that is written once for each value of a flag.
//!
//! What compilers write says in a register how something went, and asks it behind the place where
//! the ways meet: `done = 1; goto end; … done = 0; end: … if done`. Such a register is a flag: only
//! constants are assigned to it. If the code between is there once for each value, the question is
//! answered where it stands, places say what was in the flag, and an address that was one of two is
//! a constant.
//!
//! A variant of an instruction is the instruction with values of flags that hold whenever control
//! comes to it: those that were assigned on the way, as long as the flag is still read. Each way
//! through the code has its way through the variants, and the other way round, with the same
//! instructions in the same order except for jumps; so nothing has to be known about what they do.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Access, Expr, Instr, Reg, Template, next, reads, writes};

/// Maximum number of flags of a template.
const MOST_FLAGS: usize = 64;
/// Maximum number of instructions of a template whose code is written in variants.
const LONGEST: usize = 8_000;

/// A place in the code, and what flags are there, as far as it is known.
type Variant = (usize, Vec<Option<i64>>);

/// Writes code once for each value of flags, where it does not become much longer by that.
pub(super) fn specialise(t: &mut Template) {
    if t.code.len() > LONGEST {
        return;
    }
    let most = t.code.len() * 2;
    let mut flags: Vec<Reg> = Vec::new();
    for r in candidates(t) {
        flags.push(r);
        if Variants::of(t, &flags, most).is_none() {
            flags.pop();
        }
    }
    let variants = Variants::of(t, &flags, most).filter(|v| v.list.len() > v.reached());
    if let Some(variants) = variants {
        variants.write(t);
    }
}

/// Registers to which constants alone are assigned, at least two, and which are asked for or lead
/// to memory.
fn candidates(t: &Template) -> Vec<Reg> {
    let mut values: Vec<Option<BTreeSet<i64>>> = vec![Some(BTreeSet::new()); t.registers.len()];
    values.iter_mut().take(t.arguments).for_each(|v| *v = None);
    let mut asked = vec![false; t.registers.len()];
    for i in &t.code {
        if let Some(r) = writes(i) {
            let known = &mut values[r as usize];
            match constant(t, i) {
                Some(c) => known.iter_mut().for_each(|set| _ = set.insert(c)),
                None => *known = None,
            }
        }
        let mut ask = |e: &Expr| e.registers(&mut |r| asked[r as usize] = true);
        match i {
            Instr::Branch(e, ..) | Instr::Load(_, e, _) | Instr::Store(e, ..) => ask(e),
            _ => {}
        }
    }
    let is_flag =
        |r: &Reg| asked[*r as usize] && values[*r as usize].as_ref().is_some_and(|set| set.len() > 1);
    (0..t.registers.len() as Reg).filter(is_flag).take(MOST_FLAGS).collect()
}

/// Returns the constant that an instruction assigns to a register.
fn constant(t: &Template, i: &Instr) -> Option<i64> {
    match i {
        Instr::Let(r, Expr::Const(c)) => Some(*c).filter(|c| t.registers[*r as usize].wrap(*c) == *c),
        _ => None,
    }
}

/// The variants of instructions that control may come to.
struct Variants {
    list: Vec<Variant>,
    numbers: FxHashMap<Variant, usize>,
    /// Where control goes from each.
    ways: Vec<Vec<usize>>,
}

impl Variants {
    /// Returns all variants; `None` if there are more than `most`, or control may leave the code.
    fn of(t: &Template, flags: &[Reg], most: usize) -> Option<Variants> {
        let live = live(t, flags);
        let mut all = Variants { list: Vec::new(), numbers: FxHashMap::default(), ways: Vec::new() };
        if t.code.is_empty() {
            return Some(all);
        }
        all.number((0, vec![None; flags.len()]));
        let mut at = 0;
        while at < all.list.len() {
            if all.list.len() > most {
                return None;
            }
            let (pc, mut values) = all.list[at].clone();
            let targets = targets(t, flags, pc, &values);
            if let Some(k) = writes(&t.code[pc]).and_then(|r| flags.iter().position(|&f| f == r)) {
                values[k] = constant(t, &t.code[pc]);
            }
            // The store behind what is copied stays right behind it.
            let copied = t.copies.binary_search(&pc).is_ok();
            if targets.iter().any(|&to| to >= t.code.len()) {
                return None;
            }
            let ways = targets.into_iter().map(|to| {
                let read = |k: usize| copied || live[to] & 1 << k != 0;
                let kept = values.iter().enumerate().map(|(k, v)| v.filter(|_| read(k))).collect();
                all.number((to, kept))
            });
            let ways: Vec<usize> = ways.collect();
            all.ways.push(ways);
            at += 1;
        }
        Some(all)
    }

    fn number(&mut self, v: Variant) -> usize {
        if let Some(&n) = self.numbers.get(&v) {
            return n;
        }
        let n = self.list.len();
        self.numbers.insert(v.clone(), n);
        self.list.push(v);
        n
    }

    /// The number of instructions of which there are variants.
    fn reached(&self) -> usize {
        self.list.iter().map(|v| v.0).collect::<BTreeSet<usize>>().len()
    }

    /// Writes the variants in the order of the code, each behind the one that leads to it.
    fn write(&self, t: &mut Template) {
        let old = t.clone();
        let mut placed: Vec<Option<usize>> = vec![None; self.list.len()];
        let mut waiting: BTreeSet<(usize, usize)> = BTreeSet::from([(self.list[0].0, 0)]);
        let mut code = Code::default();
        while let Some((_, first)) = waiting.pop_first() {
            let mut now = first;
            while placed[now].is_none() {
                placed[now] = Some(code.instructions.len());
                let pc = self.list[now].0;
                code.copy(&old, pc);
                let ways = &self.ways[now];
                let goes_on = !matches!(old.code[pc], Instr::Branch(..) | Instr::Jump(_));
                match (ways.as_slice(), goes_on) {
                    (&[to], true) => {
                        if placed[to].is_some() {
                            code.jump(&old, pc, to);
                        }
                        now = to;
                    }
                    _ => {
                        code.leave(ways);
                        let open = ways.iter().filter(|&&to| placed[to].is_none());
                        waiting.extend(open.map(|&to| (self.list[to].0, to)));
                    }
                }
            }
        }
        code.finish(t, &placed);
    }
}

/// Where control goes from an instruction, if flags have these values.
fn targets(t: &Template, flags: &[Reg], pc: usize, values: &[Option<i64>]) -> Vec<usize> {
    let value = |e: &Expr| match e {
        Expr::Reg(r) => values[flags.iter().position(|f| f == r)?].map(Expr::Const),
        _ => None,
    };
    match &t.code[pc] {
        Instr::Branch(e, yes, no) => match e.replaced(&value).constant() {
            Some(0) => vec![*no],
            Some(_) => vec![*yes],
            None => vec![*yes, *no],
        },
        _ => next(&t.code, pc),
    }
}

/// For each instruction, which flags are read from there on before they are assigned.
fn live(t: &Template, flags: &[Reg]) -> Vec<u64> {
    let bit = |r: Reg| flags.iter().position(|&f| f == r).map_or(0, |k| 1u64 << k);
    let mut live = vec![0u64; t.code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..t.code.len()).rev() {
            let behind = next(&t.code, pc).into_iter().filter_map(|to| live.get(to));
            let mut now = behind.fold(0, |all, l| all | l);
            now &= !writes(&t.code[pc]).map_or(0, bit);
            reads(&t.code[pc], &mut |r| now |= bit(r));
            changed |= now != live[pc];
            live[pc] = now;
        }
    }
    live
}

/// Code being written: branches and jumps lead to variants until all have their places.
#[derive(Default)]
struct Code {
    instructions: Vec<Instr>,
    /// The instruction that each is a variant of; jumps that were added: the one before.
    of: Vec<usize>,
    /// Whether it was added.
    added: Vec<bool>,
    origins: Vec<u32>,
    access: Vec<Access>,
}

impl Code {
    fn copy(&mut self, old: &Template, pc: usize) {
        self.push(old, pc, old.code[pc].clone(), false);
    }

    fn push(&mut self, old: &Template, pc: usize, i: Instr, added: bool) {
        self.instructions.push(i);
        self.of.push(pc);
        self.added.push(added);
        self.origins.push(old.origins[pc]);
        self.access.push(if added { Access::Plain } else { old.access[pc] });
    }

    fn jump(&mut self, old: &Template, pc: usize, to: usize) {
        self.push(old, pc, Instr::Jump(to), true);
    }

    /// The last instruction leads to these variants.
    fn leave(&mut self, ways: &[usize]) {
        let Some(last) = self.instructions.last_mut() else { return };
        match (&mut *last, ways) {
            (Instr::Branch(..) | Instr::Jump(_), &[to]) => *last = Instr::Jump(to),
            (Instr::Branch(_, yes, no), &[a, b]) => (*yes, *no) = (a, b),
            _ => {}
        }
    }

    /// Puts the code into the template, variants replaced by their places.
    fn finish(mut self, t: &mut Template, placed: &[Option<usize>]) {
        let place = |n: &mut usize| *n = placed[*n].unwrap_or(0);
        for i in &mut self.instructions {
            match i {
                Instr::Branch(_, a, b) => [a, b].into_iter().for_each(place),
                Instr::Jump(a) => place(a),
                _ => {}
            }
        }
        let again = |pc: usize| {
            let of = self.of.iter().zip(&self.added).enumerate();
            of.filter(move |(_, (of, added))| **of == pc && !**added).map(|(n, _)| n)
        };
        t.doubts = t.doubts.iter().flat_map(|(pc, d)| again(*pc).map(move |n| (n, d.clone()))).collect();
        t.copies = t.copies.iter().flat_map(|&pc| again(pc)).collect();
        t.bits = t.bits.iter().flat_map(|&(pc, bits)| again(pc).map(move |n| (n, bits))).collect();
        t.copies.sort_unstable();
        t.bits.sort_unstable();
        (t.code, t.origins, t.access) = (self.instructions, self.origins, self.access);
    }
}
