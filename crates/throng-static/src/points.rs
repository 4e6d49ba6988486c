//! Where addresses may be: constraints are satisfied one by one until all are.

use std::collections::BTreeSet;

use throng_goto::program::Program;
use throng_goto_check::races::escaping;
use throng_goto_check::races::inclusion::{Holder, Index, Values};
use throng_goto_check::races::points::{Offsets, Pointers, Points, Site};

/// Maximum number of offsets in an object that are told apart for one value.
const MOST_OFFSETS: usize = 8;
/// Maximum number of places in an object that are told apart.
const MOST_PLACES: usize = 64;

/// Returns sets that satisfy all constraints.
pub(crate) fn solve(program: &Program, index: &Index) -> Points {
    let registers = program.templates.iter().map(|t| vec![Pointers::default(); t.registers.len()]);
    let mut points = Points {
        registers: registers.collect(),
        returned: vec![Pointers::default(); program.templates.len()],
        ..Points::default()
    };
    let mut required = Vec::new();
    Values { program, index, points: &points }.at_start(&mut |h, p| required.push((h, p)));
    required.drain(..).for_each(|(h, p)| _ = add(&mut points, h, &p));
    // A template is looked at again if something has changed that it may read.
    let mut again = true;
    while again {
        again = false;
        for (t, template) in program.templates.iter().enumerate() {
            for pc in 0..template.code.len() {
                Values { program, index, points: &points }.requires(t, pc, &mut |h, p| required.push((h, p)));
                for (h, p) in required.drain(..) {
                    again |= add(&mut points, h, &p);
                }
            }
        }
    }
    points
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
    let place = match entries.iter().position(|(place, _)| place.covers(at)) {
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
    let changed = extend(&mut entries[place].1, pointers);
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
