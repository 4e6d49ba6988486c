//! The configurations that pair views exclude, and the steps that they allow.

use throng_model::bits::Row;
use throng_model::views::{Group, Views};
use throng_model::{Bag, Config, Incomplete, Local, Model, Step};

/// Returns the threads one by one, at most two for each local state, because views count no
/// further.
fn flat(threads: &Bag) -> impl Iterator<Item = Local> + Clone {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize))
}

/// Returns the possible steps.
pub fn steps(model: &dyn Model, views: &Views) -> Vec<Step> {
    let (mut listed, mut steps) = (Vec::new(), Vec::new());
    for (s, group) in views.groups() {
        // The same steps were listed completely before.
        Incomplete::irrelevant(model.post_shared(s, &mut listed));
        views.singles(group).for_each(|l| Incomplete::irrelevant(model.post(s, l, &mut listed)));
        let is_possible = |step: &Step| {
            let taken: Option<Vec<u32>> = flat(&step.take).map(|l| views.number(l)).collect();
            taken.is_some_and(|taken| group.together(&taken))
        };
        steps.extend(listed.drain(..).filter(is_possible));
    }
    steps
}

/// Returns whether the views exclude every configuration that covers `bad`.
pub fn exclude(model: &dyn Model, views: &Views, bad: &Config) -> bool {
    let wanted: Vec<Local> = flat(&bad.threads).collect();
    if model.is_exact() {
        let wanted: Option<Vec<u32>> = wanted.iter().map(|&l| views.number(l)).collect();
        let group = views.group(bad.shared);
        return !group.zip(wanted).is_some_and(|(group, wanted)| group.together(&wanted));
    }
    let mut meeting = views.groups().filter(|(s, _)| model.meets_shared(*s, bad.shared));
    !meeting.any(|(_, group)| fit(model, views, group, &wanted, group.all()))
}

/// Returns whether threads for all of `wanted` exist among `candidates` that may occur together.
fn fit(model: &dyn Model, views: &Views, group: &Group, wanted: &[Local], candidates: Row<'_>) -> bool {
    let Some((&first, rest)) = wanted.split_first() else { return true };
    candidates.iter().any(|a| {
        model.meets_local(views.local(a), first)
            && group.with(a).is_some_and(|row| fit(model, views, group, rest, candidates.and(row).row()))
    })
}
