//! Variables that only one thread writes, as registers with large numbers: what they are equal to
//! stays known until that thread writes them again, whatever other threads do.

use std::collections::{BTreeMap, BTreeSet};

use throng_goto::program::{Expr, Instr, Int, Program, Reg, object_of, offset_of};

use super::accesses::accessed;
use super::facts::{Known, State, Sum};
use super::inclusion::Values;
use super::points::{Offsets, Pointers, Site};
use super::threads::Threads;
use super::transfer::{Flow, forget, forget_unless};

/// The number of the first one.
pub(super) const FIRST: Reg = 1 << 30;

/// Who writes an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writer {
    /// Only this thread, by the template that it starts in.
    One(usize),
    /// Several may.
    Several,
}

/// Variables that are loaded, and who writes what.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Addresses and types of variables that are always loaded in the same way.
    list: Vec<(i64, Int)>,
    by_address: BTreeMap<i64, Reg>,
    by_site: BTreeMap<Site, Vec<Reg>>,
    writers: BTreeMap<Site, Writer>,
    /// Whether something is written that may be anything.
    anything: bool,
    /// By template, the objects that it writes.
    written: Vec<BTreeSet<Site>>,
}

/// Returns how many variables of a program may be told from others.
pub(super) fn count(program: &Program) -> usize {
    candidates(program).len()
}

fn candidates(program: &Program) -> Vec<(i64, Int)> {
    let mut found: BTreeMap<i64, Option<Int>> = BTreeMap::new();
    for i in program.templates.iter().flat_map(|t| &t.code) {
        let Instr::Load(_, Expr::Const(a), at) = i else { continue };
        let object = usize::try_from(object_of(*a) - 1).ok().and_then(|o| program.objects.get(o));
        if object.is_some_and(|o| !o.external) && !at.truth && !at.float {
            found.entry(*a).and_modify(|known| *known = known.filter(|k| k == at)).or_insert(Some(*at));
        }
    }
    found.into_iter().filter_map(|(a, at)| Some((a, at?))).collect()
}

impl Cells {
    pub(super) fn new(values: &Values<'_>, threads: &Threads) -> Cells {
        let program = values.program;
        let mut cells = Cells { list: candidates(program), ..Cells::default() };
        for (r, (a, _)) in (FIRST..).zip(&cells.list) {
            cells.by_address.insert(*a, r);
            cells.by_site.entry(Site::Object(object_of(*a))).or_default().push(r);
        }
        for (t, template) in program.templates.iter().enumerate() {
            let mut written = BTreeSet::new();
            for i in &template.code {
                each_written(values, t, i, &mut |places| written.extend(places.sites()));
            }
            cells.written.push(written);
            if !threads.of[t].is_empty() {
                cells.add_writers(t, threads);
            }
        }
        cells
    }

    fn add_writers(&mut self, t: usize, threads: &Threads) {
        let only = threads.of[t].first().copied().filter(|_| threads.of[t].len() == 1);
        let writer = match only.filter(|thread| threads.once[*thread]) {
            Some(thread) => Writer::One(thread),
            None => Writer::Several,
        };
        for site in &self.written[t] {
            self.anything |= *site == Site::Unknown;
            let known = self.writers.entry(*site).or_insert(writer);
            if *known != writer {
                *known = Writer::Several;
            }
        }
    }

    /// Returns the address of one.
    pub(super) fn address(&self, cell: Reg) -> Option<i64> {
        self.list.get(cell.checked_sub(FIRST)? as usize).map(|c| c.0)
    }
}

/// Calls `f` on the places that an instruction may write to.
pub(super) fn each_written(values: &Values<'_>, t: usize, i: &Instr, f: &mut dyn FnMut(Pointers)) {
    match i {
        Instr::Begins(a, _) => f(values.of(t, a)),
        Instr::Ends(list) => list.iter().for_each(|(a, _)| f(values.of(t, a))),
        i => {
            if let Some((a, _, true)) = accessed(i) {
                f(values.of(t, a));
            }
        }
    }
}

impl Flow<'_> {
    /// Returns whether no other thread than this one, which is the only one that starts where it
    /// does, writes an object.
    pub(super) fn is_only_writer(&self, thread: Option<usize>, site: Site) -> bool {
        let only = |w: &Writer| matches!(*w, Writer::One(t) if Some(t) == thread);
        !self.cells.anything && self.cells.writers.get(&site).is_none_or(only)
    }

    /// Returns the thread that runs a template, if it is only one.
    pub(super) fn runner(&self, t: usize) -> Option<usize> {
        let thread = self.threads.of[t].first().copied().filter(|_| self.threads.of[t].len() == 1)?;
        self.threads.once[thread].then_some(thread)
    }

    /// Returns the variable that an address is that of.
    fn cell(&self, t: usize, address: &Expr, at: Int) -> Option<Reg> {
        let Expr::Const(a) = address else { return None };
        let cell = *self.cells.by_address.get(a)?;
        let right = self.cells.list[(cell - FIRST) as usize].1 == at;
        (right && self.is_only_writer(self.runner(t), Site::Object(object_of(*a)))).then_some(cell)
    }

    /// A register has the value of a variable.
    pub(super) fn read_cell(
        &self,
        t: usize,
        (r, from, at): (Reg, &Expr, Int),
        before: &State,
        then: &mut State,
    ) {
        let Some(cell) = self.cell(t, from, at) else { return };
        let sum = before.equal.get(&cell).cloned().unwrap_or_else(|| Sum::register(cell));
        if sum.factor(r) == 0 {
            then.equal.insert(r, sum);
        }
        if let Some(known) = before.known.get(&cell) {
            then.known.insert(r, *known);
        }
    }

    /// A value is written to a variable.
    pub(super) fn write_cell(
        &self,
        t: usize,
        (to, value, at): (&Expr, &Expr, Int),
        before: &State,
        then: &mut State,
    ) {
        self.forget_cells(&self.values.of(t, to), at.size.into(), then);
        let Some(cell) = self.cell(t, to, at).filter(|_| at.size == 8 || self.fits(t, value, before, at))
        else {
            return;
        };
        let sum = self.sum(t, value, before).filter(|sum| sum.factor(cell) == 0);
        forget_unless(cell, None, then);
        if let Some(v) = sum.as_ref().and_then(|sum| before.value(sum)) {
            then.known.insert(cell, Known::Is(v));
        }
        if let Some(sum) = sum.filter(|s| s.base.is_some() || !s.terms.is_empty()) {
            then.equal.insert(cell, sum);
        }
    }

    /// Something is written at some places.
    pub(super) fn forget_cells(&self, places: &Pointers, size: i64, then: &mut State) {
        for (site, at) in places.all() {
            for cell in self.cells.by_site.get(&site).into_iter().flatten() {
                let (a, kind) = self.cells.list[(cell - FIRST) as usize];
                if at.overlaps(size, Offsets::one(offset_of(a)), kind.size.into()) {
                    forget(*cell, then);
                }
            }
        }
    }

    /// Returns all places in the objects that a call of a template may write.
    pub(super) fn written_inside(&self, callee: usize) -> Pointers {
        let mut found = Pointers::default();
        for t in self.threads.inside(callee) {
            self.cells.written[t].iter().for_each(|site| _ = found.add(*site, Offsets::ANY, usize::MAX));
        }
        found
    }
}
