//! Completion of views, so that their rounding is determined.
//!
//! Where states are sets, the checker rounds a step's result up to the least state of the views
//! that contains it. An engine's views may have a pair of larger states instead: they are closed
//! under the engine's own steps, which split states differently. So every pair of states of the
//! views that is within a pair view is added. This adds no concrete configuration of two threads.

use std::collections::{BTreeMap, BTreeSet};

use throng_model::views::{Block, Views};
use throng_model::{Local, Model, Shared};

type Rows = BTreeMap<Local, BTreeSet<Local>>;

/// Returns the views with every pair of their states that is within a pair view.
pub(super) fn complete(model: &dyn Model, views: &Views) -> Views {
    let mut groups: BTreeMap<Shared, Rows> = BTreeMap::new();
    for (s, group) in views.groups() {
        let with = |a: u32| group.with(a).into_iter().flat_map(|row| row.iter()).map(|b| views.local(b));
        groups.insert(s, group.all().iter().map(|a| (views.local(a), with(a).collect())).collect());
    }
    let within = |&s: &Shared| {
        let mut rows = Rows::new();
        for (_, theirs) in groups.iter().filter(|(t, _)| model.within_shared(s, **t)) {
            theirs.iter().for_each(|(&a, with)| rows.entry(a).or_default().extend(with));
        }
        (s, shared_rows(below(model, &rows)))
    };
    Views::of_blocks(groups.keys().map(within).flat_map(|(shared, classes)| {
        let empty = classes.is_empty().then(|| Block { shared, left: Vec::new(), right: None });
        let block = move |(left, with)| Block { shared, left, right: Some(with) };
        empty.into_iter().chain(classes.into_iter().map(block))
    }))
}

/// Returns every pair of these states that is within a pair of rows.
fn below(model: &dyn Model, rows: &Rows) -> Rows {
    let mut classes: BTreeMap<u64, Vec<Local>> = BTreeMap::new();
    rows.keys().for_each(|&l| classes.entry(model.local_class(l)).or_default().push(l));
    let parts = |l: Local| {
        let near = classes[&model.local_class(l)].iter().copied();
        near.filter(move |&part| model.within_local(part, l)).collect::<Vec<Local>>()
    };
    let parts: BTreeMap<Local, Vec<Local>> = rows.keys().map(|&l| (l, parts(l))).collect();
    let mut found = Rows::new();
    for (a, with) in rows {
        let with: BTreeSet<Local> = with.iter().flat_map(|b| &parts[b]).copied().collect();
        parts[a].iter().for_each(|&part| found.entry(part).or_default().extend(&with));
    }
    found
}

/// Groups states with the same partners.
fn shared_rows(rows: Rows) -> Vec<(Vec<Local>, Vec<Local>)> {
    let mut groups: BTreeMap<BTreeSet<Local>, Vec<Local>> = BTreeMap::new();
    rows.into_iter().for_each(|(a, with)| groups.entry(with).or_default().push(a));
    groups.into_iter().map(|(with, members)| (members, with.into_iter().collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::bp::program::Cubes;
    use throng_lang::bp::program::expr::{FREE, ONE, ZERO};
    use throng_lang::load::{Format, Input, Reading, read};
    use throng_lang::source::Source;

    /// With `s` open, two threads may be at the first statement for any `a`; so they may with `s` =
    /// 0, and with `a` = 1.
    #[test]
    fn pairs_within_pairs_are_added() {
        let text = "decl s; void main() begin decl a; s := a; end";
        let loaded = read(Source::new("pairs", text), Format::Bp, &Reading::default()).expect("a program");
        let Input::Program(jit) = &loaded.input else { panic!("a program") };
        let (any, zero) = (jit.encode_shared(false, &[FREE]), jit.encode_shared(false, &[ZERO]));
        let (open, one) = (jit.encode_local(0, &[FREE]), jit.encode_local(0, &[ONE]));
        let block = |shared, left| Block { shared, left, right: None };
        let pairs = |views: &Views| views.each().collect::<BTreeSet<_>>();
        let wide = vec![block(any, vec![open])];
        let views = Views::of_blocks([wide.clone(), vec![block(zero, vec![one])]].concat());
        let all = Views::of_blocks([wide, vec![block(zero, vec![open, one])]].concat());
        assert_eq!(pairs(&complete(&**jit, &views)), pairs(&all));
        assert_eq!(pairs(&complete(&**jit, &all)), pairs(&all), "nothing is left to add");
    }
}
