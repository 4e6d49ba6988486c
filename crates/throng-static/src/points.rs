//! Where addresses may be: constraints are satisfied one by one until all are.

use std::collections::{BTreeSet, HashMap};

use throng_goto::program::{Expr, Instr, Program, Reg, reads};
use throng_goto_check::races::escaping;
use throng_goto_check::races::inclusion::{Holder, Index, Values};
use throng_goto_check::races::points::{Offsets, Pointers, Points, Site};

/// Maximum number of offsets in an object that are told apart for one value.
const MOST_OFFSETS: usize = 8;
/// Maximum number of places in an object that are told apart.
const MOST_PLACES: usize = 64;

/// Returns sets that satisfy all constraints; `None` if it has to stop.
pub(crate) fn solve(program: &Program, index: &Index, stop: &dyn Fn() -> bool) -> Option<Points> {
    let registers = program.templates.iter().map(|t| vec![Pointers::default(); t.registers.len()]);
    let mut points = Points {
        registers: registers.collect(),
        returned: vec![Pointers::default(); program.templates.len()],
        ..Points::default()
    };
    let mut required = Vec::new();
    Values { program, index, points: &points }.at_start(&mut |h, p| required.push((h, p)));
    required.drain(..).for_each(|(h, p)| _ = add(&mut points, h, &p));
    let mut search = Search::new(program, index, points);
    while search.pass(stop)? {}
    Some(search.points)
}

/// When something changed, as numbers that grow.
struct Search<'p> {
    program: &'p Program,
    index: &'p Index,
    points: Points,
    now: u64,
    registers: Vec<Vec<u64>>,
    memory: HashMap<Site, u64>,
    /// The last change of what some function returns.
    returned: u64,
    /// By instruction, the registers that it reads, and when it was looked at.
    reads: Vec<Vec<(Vec<Reg>, u64)>>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, index: &'p Index, points: Points) -> Search<'p> {
        let read = |i: &Instr| {
            let mut found = Vec::new();
            reads(i, &mut |r| found.push(r));
            (found, 0)
        };
        Search {
            program,
            index,
            points,
            now: 1,
            registers: program.templates.iter().map(|t| vec![1; t.registers.len()]).collect(),
            memory: HashMap::new(),
            returned: 1,
            reads: program.templates.iter().map(|t| t.code.iter().map(read).collect()).collect(),
        }
    }

    /// Goes through the instructions of which something has changed that they read; returns whether
    /// sets have grown.
    fn pass(&mut self, stop: &dyn Fn() -> bool) -> Option<bool> {
        let (before, mut required) = (self.now, Vec::new());
        for t in 0..self.program.templates.len() {
            if stop() {
                return None;
            }
            for pc in 0..self.program.templates[t].code.len() {
                if !self.is_due(t, pc) {
                    continue;
                }
                let seen = std::mem::replace(&mut self.reads[t][pc].1, self.now);
                match &self.program.templates[t].code[pc] {
                    Instr::Load(r, a, _) => {
                        self.load((t, *r), a, seen);
                        continue;
                    }
                    Instr::Store(a, e, _) => {
                        self.store(t, a, e);
                        continue;
                    }
                    _ => {}
                }
                Values { program: self.program, index: self.index, points: &self.points }.requires(
                    t,
                    pc,
                    &mut |h, p| required.push((h, p)),
                );
                for (h, p) in required.drain(..) {
                    if add(&mut self.points, h, &p) {
                        self.note(h);
                    }
                }
            }
        }
        Some(self.now != before)
    }

    /// A register is loaded: of objects whose content has not changed since, nothing is new, unless
    /// the address is.
    fn load(&mut self, (t, r): (usize, Reg), a: &Expr, seen: u64) {
        let mut address_is_new = seen == 0;
        a.registers(&mut |q| address_is_new |= self.registers[t][q as usize] > seen);
        let borrowed = match a {
            Expr::Reg(q) if *q != r => Some(*q),
            _ => None,
        };
        let computed = if borrowed.is_none() { self.values().of(t, a) } else { Pointers::default() };
        let mut set = std::mem::take(&mut self.points.registers[t][r as usize]);
        let from = borrowed.map_or(&computed, |q| self.points.register(t, q));
        let mut changed = false;
        for (site, list) in &from.0 {
            if *site == Site::Unknown {
                changed |= set.add(Site::Unknown, Offsets::ANY, MOST_OFFSETS);
            }
            let is_new = address_is_new || self.memory.get(site).is_some_and(|at| *at > seen);
            let Some(entries) = self.points.memory.get(site).filter(|_| is_new) else { continue };
            for (place, content) in entries {
                let found = list.iter().filter_map(|at| at.finds(*place)).max();
                changed |= match found {
                    Some(true) => extend(&mut set, content),
                    Some(false) => extend(&mut set, &content.anywhere()),
                    None => false,
                };
            }
        }
        self.points.registers[t][r as usize] = set;
        if changed {
            self.note(Holder::Register(t, r));
        }
    }

    /// A value is stored wherever the address may be.
    fn store(&mut self, t: usize, a: &Expr, e: &Expr) {
        let value = self.values().of(t, e);
        if value.is_empty() {
            return;
        }
        for (site, at) in self.values().of(t, a).all() {
            if store(&mut self.points, site, at, &value) {
                self.note(Holder::Memory(site, at));
            }
        }
    }

    fn values(&self) -> Values<'_> {
        Values { program: self.program, index: self.index, points: &self.points }
    }

    fn note(&mut self, holder: Holder) {
        self.now += 1;
        match holder {
            Holder::Register(t, r) => self.registers[t][r as usize] = self.now,
            Holder::Returned(_) => self.returned = self.now,
            Holder::Memory(site, _) => _ = self.memory.insert(site, self.now),
        }
    }

    fn is_due(&self, t: usize, pc: usize) -> bool {
        let (registers, seen) = &self.reads[t][pc];
        let i = &self.program.templates[t].code[pc];
        let new = |at: u64| at > *seen;
        if *seen == 0 || registers.iter().any(|r| new(self.registers[t][*r as usize])) {
            return true;
        }
        match i {
            Instr::Load(_, a, _) | Instr::Resize(_, a, _) => {
                let is_new = |site| self.memory.get(&site).is_some_and(|at| new(*at));
                match a {
                    Expr::Reg(r) => self.points.register(t, *r).sites().any(is_new),
                    a => self.values().of(t, a).sites().any(is_new),
                }
            }
            Instr::Call { .. } | Instr::CallPointer { .. } | Instr::Join(..) => new(self.returned),
            _ => false,
        }
    }
}

fn add(points: &mut Points, holder: Holder, pointers: &Pointers) -> bool {
    let set = match holder {
        Holder::Register(t, r) => &mut points.registers[t][r as usize],
        Holder::Returned(t) => &mut points.returned[t],
        Holder::Memory(site, at) => return store(points, site, at, pointers),
    };
    extend(set, pointers)
}

fn extend(set: &mut Pointers, pointers: &Pointers) -> bool {
    if set.includes(pointers) {
        return false;
    }
    let mut changed = false;
    for (site, at) in pointers.all() {
        changed |= set.add(site, at, MOST_OFFSETS);
    }
    changed
}

fn store(points: &mut Points, site: Site, at: Offsets, pointers: &Pointers) -> bool {
    if pointers.is_empty() {
        return false;
    }
    let entries = points.memory.entry(site).or_default();
    let known = entries.iter().position(|(place, _)| place.covers(at));
    let place = match known {
        Some(n) => n,
        None => {
            entries.push((at, Pointers::default()));
            let same = |e: &(Offsets, Pointers)| e.0 != at && at.covers(e.0);
            let inside: Vec<Pointers> = entries.iter().filter(|e| same(e)).map(|e| e.1.clone()).collect();
            entries.retain(|e| !same(e));
            let n = entries.len() - 1;
            inside.iter().for_each(|p| _ = extend(&mut entries[n].1, p));
            n
        }
    };
    let changed = extend(&mut entries[place].1, pointers) || known.is_none();
    if entries.len() > MOST_PLACES {
        let mut all = (at, Pointers::default());
        for (place, content) in entries.iter() {
            all.0 = all.0.joined(*place);
            extend(&mut all.1, content);
        }
        *entries = vec![all];
        return true;
    }
    changed
}

/// Returns the objects that other threads may come to know.
pub(crate) fn escaped(values: &Values<'_>) -> BTreeSet<Site> {
    let mut found: BTreeSet<Site> = BTreeSet::new();
    loop {
        let mut new = found.clone();
        escaping(values, &|site| found.contains(&site), &mut |site| _ = new.insert(site));
        if new.len() == found.len() {
            return found;
        }
        found = new;
    }
}
