//! The only definition of what a step does, forward ([`fire`]) and backward ([`unfire`]).
//!
//! Engines may cache or specialise, but every trace is replayed with [`fire`].

use std::borrow::Cow;

use super::{Bag, Bystanders, Config, Incomplete, Local, Model, OMEGA, Predecessors, Shared, Step};

/// Appends all configurations that one `step` of `config` leads to: several if bystanders have a
/// choice, none if the step is not enabled.
///
/// With a `bound`, a step that would leave more threads than that creates none (reference 1.5:
/// `start_thread` acts like `skip`); and if even what it puts back would be too many (a net's
/// transition may put more than it takes), it is not enabled. An ω of bystanders with several fates
/// becomes ω of each, the least upper bound of what can happen.
pub fn fire(
    model: &dyn Model,
    config: &Config,
    step: &Step,
    bound: Option<u32>,
    out: &mut Vec<Config>,
) -> Result<(), Incomplete> {
    if config.shared != step.from {
        return Ok(());
    }
    let Some(rest) = config.threads.minus(&step.take) else { return Ok(()) };
    let arrived = match !step.spawn.is_empty() && !exceeds(&rest, step, bound) {
        true => Cow::Owned(sum(step.put.clone(), &step.spawn)),
        false => Cow::Borrowed(&step.put),
    };
    let first = out.len();
    let mut complete = Ok(());
    match step.others {
        Bystanders::Stay if exceeds_bound(&rest, &arrived, bound) => {}
        Bystanders::WakeOne if exceeds_bound(&rest, &arrived, bound) => {}
        Bystanders::Stay => out.push(Config::new(step.to, sum(rest, &arrived))),
        Bystanders::WakeOne => {
            wake(model, step, &rest, |rest| out.push(Config::new(step.to, sum(rest, &arrived))))
        }
        Bystanders::Transfer => {
            let mut fates = Vec::new();
            for &(l, n) in rest.entries() {
                let mut of_l = Vec::new();
                complete = complete.and(model.bystander(step, l, &mut of_l));
                of_l.sort_unstable();
                of_l.dedup();
                if of_l.is_empty() {
                    return complete;
                }
                fates.push((n, of_l));
            }
            few_enough(&fates)?;
            distribute(&fates, arrived.into_owned(), &mut |threads| out.push(Config::new(step.to, threads)));
            out[first..].sort_unstable();
            let mut tail = out.split_off(first);
            tail.dedup();
            tail.retain(|c| bound.is_none_or(|n| c.threads.size() <= n));
            out.append(&mut tail);
        }
    }
    complete
}

/// Maximum number of configurations that one step may lead to because bystanders have a choice.
const MOST_WAYS: u64 = 1 << 16;

/// Returns an error if `fates` (count, possible fates) can be distributed in too many ways to list.
fn few_enough(fates: &[(u32, Vec<Option<Local>>)]) -> Result<(), Incomplete> {
    let too_many = || {
        Err(Incomplete(format!("a step that moves bystanders leads to more than {MOST_WAYS} configurations")))
    };
    let mut ways: u64 = 1;
    for (count, options) in fates.iter().filter(|f| f.0 != OMEGA) {
        // The binomial coefficient (count + options - 1 over options - 1), while it is small.
        let mut compositions: u64 = 1;
        for k in 1..options.len() as u64 {
            compositions = compositions.saturating_mul(u64::from(*count) + k) / k;
            if compositions > MOST_WAYS {
                return too_many();
            }
        }
        ways = ways.saturating_mul(compositions);
    }
    if ways > MOST_WAYS { too_many() } else { Ok(()) }
}

/// Returns whether `rest` and `arrived` together are more threads than the bound allows.
fn exceeds_bound(rest: &Bag, arrived: &Bag, bound: Option<u32>) -> bool {
    bound.is_some_and(|n| u64::from(rest.size()) + u64::from(arrived.size()) > u64::from(n))
}

/// Returns whether creating the threads of `step` beside `rest` would exceed the bound.
pub fn exceeds(rest: &Bag, step: &Step, bound: Option<u32>) -> bool {
    exceeds_bound(rest, &sum(step.put.clone(), &step.spawn), bound)
}

/// Appends every `(step, configuration)` that one step of `config` leads to, in a fixed order.
pub fn successors(
    model: &dyn Model,
    config: &Config,
    bound: Option<u32>,
    out: &mut Vec<(Step, Config)>,
) -> Result<(), Incomplete> {
    let mut steps = Vec::new();
    let mut complete = model.post_shared(config.shared, &mut steps);
    for &(l, _) in config.threads.entries() {
        complete = complete.and(model.post(config.shared, l, &mut steps));
    }
    let mut after = Vec::new();
    for step in steps {
        complete = complete.and(fire(model, config, &step, bound, &mut after));
        out.extend(after.drain(..).map(|c| (step.clone(), c)));
    }
    complete
}

/// Appends the smallest configurations from which `step` reaches something that covers `config`.
///
/// `step` must come from `pre` or `pre_shared` of a part of `config`, so that it ends within
/// `config.shared`. Elements may repeat or cover one another; an antichain drops those. There is no
/// thread bound: backward search is for any number.
pub fn unfire(
    model: &dyn Model,
    config: &Config,
    step: &Step,
    out: &mut Vec<Config>,
) -> Result<(), Incomplete> {
    if !model.within_shared(step.to, config.shared) {
        return Ok(());
    }
    let Some(back) = model.predecessors() else {
        return Err(Incomplete("the model does not list predecessors".into()));
    };
    let mut brought = step.put.clone();
    brought.add_all(&step.spawn);
    let mut needs = Vec::new();
    without_brought(model, config.threads.clone(), brought.entries(), &mut needs);
    let mut complete = Ok(());
    for need in needs {
        complete = complete.and(unmove(model, back, step, &need, step.from, &step.take, out));
    }
    if !model.is_exact() && !step.spawn.is_empty() {
        complete = complete.and(with_child(model, back, config, step, out));
    }
    complete
}

/// Returns the smallest configurations in `from` with `take` from which the bystanders of `step`
/// become `need`.
fn unmove(
    model: &dyn Model,
    back: &dyn Predecessors,
    step: &Step,
    need: &Bag,
    from: Shared,
    take: &Bag,
    out: &mut Vec<Config>,
) -> Result<(), Incomplete> {
    let mut complete = Ok(());
    match step.others {
        Bystanders::Stay => out.push(Config::new(from, sum(need.clone(), take))),
        Bystanders::WakeOne => {
            unwake(model, back, step, need, |need| out.push(Config::new(from, sum(need, take))))
        }
        Bystanders::Transfer => {
            let mut origins = Vec::new();
            for &(l, n) in need.entries() {
                let mut of_l = Vec::new();
                complete = complete.and(back.bystander_back(step, l, &mut of_l));
                if of_l.is_empty() {
                    return complete;
                }
                origins.push((n, of_l.into_iter().map(Some).collect()));
            }
            few_enough(&origins)?;
            distribute(&origins, take.clone(), &mut |threads| out.push(Config::new(from, threads)));
        }
    }
    complete
}

/// A step that creates a thread puts two threads at once, the acting one and the new one. Where
/// states stand for sets, `pre` was given the state of *one* of them. If both are needed, only a
/// part of the states before the step leads into both.
fn with_child(
    model: &dyn Model,
    back: &dyn Predecessors,
    config: &Config,
    step: &Step,
    out: &mut Vec<Config>,
) -> Result<(), Incomplete> {
    let (&[(put, 1)], &[(spawn, 1)]) = (step.put.entries(), step.spawn.entries()) else { return Ok(()) };
    for &(acts, n) in config.threads.entries() {
        let Some(put) = model.meet_local(put, acts) else { continue };
        for &(child, _) in config.threads.entries().iter().filter(|e| e.0 != acts || n > 1) {
            let Some(spawn) = model.meet_local(spawn, child) else { continue };
            if let Some((from, take)) = model.narrow(step, step.to, Some(put), Some(spawn)) {
                let mut need = config.threads.clone();
                need.remove(acts, 1);
                need.remove(child, 1);
                unmove(model, back, step, &need, from, &Bag::one(take), out)?;
            }
        }
    }
    Ok(())
}

fn sum(mut a: Bag, b: &Bag) -> Bag {
    a.add_all(b);
    a
}

/// Fires a signal: one waiting thread is woken if there is one.
fn wake(model: &dyn Model, step: &Step, rest: &Bag, mut found: impl FnMut(Bag)) {
    let mut lost = true;
    for &(l, _) in rest.entries() {
        if let Some(woken) = model.woken_by(step, l) {
            lost = false;
            let mut after = rest.clone();
            after.remove(l, 1);
            after.insert(woken, 1);
            found(after);
        }
    }
    if lost {
        found(rest.clone());
    }
}

/// Undoes a signal: one of the threads in `need` was woken; or, if none of them still waits, the
/// signal may have been lost (a waiting thread that is not needed makes no difference); otherwise
/// some further waiting thread was woken.
fn unwake(model: &dyn Model, back: &dyn Predecessors, step: &Step, need: &Bag, mut found: impl FnMut(Bag)) {
    let mut origins = Vec::new();
    for &(l, _) in need.entries() {
        origins.clear();
        back.woken_back(l, &mut origins);
        for &w in origins.iter().filter(|w| model.woken_by(step, **w).is_some()) {
            let mut before = need.clone();
            before.remove(l, 1);
            before.insert(w, 1);
            found(before);
        }
    }
    if !need.entries().iter().any(|&(l, _)| model.woken_by(step, l).is_some()) {
        return found(need.clone());
    }
    origins.clear();
    back.waiting(&mut origins);
    for &w in origins.iter().filter(|w| model.woken_by(step, **w).is_some()) {
        found(sum(need.clone(), &Bag::one(w)));
    }
}

/// Adds to `base` each way to give all threads of `fates` (count, possible fates) one of their
/// fates.
///
/// Threads without a choice are handled without recursion: there may be many of them, and
/// [`TooMany`] of the others.
fn distribute(mut fates: &[(u32, Vec<Option<Local>>)], mut base: Bag, found: &mut impl FnMut(Bag)) {
    let ((count, options), later) = loop {
        let Some((first, later)) = fates.split_first() else { return found(base) };
        if first.1.len() > 1 && first.0 != OMEGA {
            break (first, later);
        }
        first.1.iter().flatten().for_each(|&l| base.insert(l, first.0));
        fates = later;
    };
    let mut choose = |chosen: &mut dyn Iterator<Item = (Option<Local>, u32)>| {
        let mut threads = base.clone();
        for (fate, n) in chosen {
            if let Some(l) = fate {
                threads.insert(l, n);
            }
        }
        distribute(later, threads, found);
    };
    // This enumerates the compositions of `count` into `options.len()` parts in lexicographic
    // order.
    let mut parts = vec![0; options.len()];
    parts[options.len() - 1] = *count;
    loop {
        choose(&mut options.iter().copied().zip(parts.iter().copied()));
        let Some(i) = (0..parts.len() - 1).rev().find(|&i| parts[i + 1..].iter().any(|&p| p > 0)) else {
            return;
        };
        parts[i] += 1;
        let rest = *count - parts[..=i].iter().sum::<u32>();
        parts[i + 1..].fill(0);
        let last = parts.len() - 1;
        parts[last] += rest;
    }
}

/// Returns all smallest remainders of `need` after each of the `brought` threads has replaced at
/// most one needed thread that it fits.
fn without_brought(model: &dyn Model, need: Bag, brought: &[(Local, u32)], out: &mut Vec<Bag>) {
    let Some((&(p, n), later)) = brought.split_first() else {
        if !out.contains(&need) {
            out.push(need);
        }
        return;
    };
    let fitting: Vec<Local> =
        need.entries().iter().map(|e| e.0).filter(|&l| model.within_local(p, l)).collect();
    match fitting[..] {
        [] => without_brought(model, need, later, out),
        [l] => {
            let mut less = need;
            less.remove(l, n.min(less.count(l)));
            without_brought(model, less, later, out);
        }
        // The sets overlap, so `p` may replace either of several needed threads: one thread at a
        // time.
        _ => {
            for l in fitting {
                let mut less = need.clone();
                less.remove(l, 1);
                let mut rest = vec![(p, n - 1)];
                rest.retain(|e| e.1 > 0);
                rest.extend_from_slice(later);
                without_brought(model, less, &rest, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Describe, Edge, Place, SetStates, Traits, Transfers};
    use super::*;

    /// Local 1 waits and is woken to 2; in a broadcast, a bystander at 5 goes to 6 or 7, one at 8
    /// vanishes, one at 9 blocks.
    struct Toy;

    impl Model for Toy {
        fn post(&self, _: Shared, _: Local, _: &mut Vec<Step>) -> Result<(), Incomplete> {
            Ok(())
        }

        fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
            Ok(())
        }

        fn traits(&self) -> Traits {
            Traits { blocking: None, spawns: true }
        }

        fn transfers(&self) -> Option<&dyn Transfers> {
            Some(self)
        }

        fn sets(&self) -> Option<&dyn SetStates> {
            None
        }

        fn has_ended(&self, _: Local) -> bool {
            false
        }

        fn predecessors(&self) -> Option<&dyn Predecessors> {
            Some(self)
        }
    }

    fn waits(&self) -> Option<&dyn crate::waiting::Waits> {
        None
    }

    impl Predecessors for Toy {
        fn pre(&self, _: Shared, _: Local, _: &mut Vec<Step>) -> Result<(), Incomplete> {
            Ok(())
        }

        fn pre_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
            Ok(())
        }

        fn bystander_back(&self, _: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
            match l.0 {
                6 | 7 => out.extend([Local(5), l]),
                5 => {}
                _ => out.push(l),
            }
            Ok(())
        }

        fn woken_back(&self, l: Local, out: &mut Vec<Local>) {
            if l.0 == 2 {
                out.push(Local(1));
            }
        }

        fn waiting(&self, out: &mut Vec<Local>) {
            out.push(Local(1));
        }
    }

    impl Transfers for Toy {
        fn bystander(&self, _: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
            match l.0 {
                5 => out.extend([Some(Local(6)), Some(Local(7))]),
                8 => out.push(None),
                9 => {}
                _ => out.push(Some(l)),
            }
            Ok(())
        }

        fn woken(&self, l: Local) -> Option<Local> {
            (l.0 == 1).then_some(Local(2))
        }
    }

    impl Describe for Toy {
        fn shared_values(&self, _: Shared) -> Vec<(String, String)> {
            Vec::new()
        }

        fn local_values(&self, _: Local) -> Vec<(String, String)> {
            Vec::new()
        }

        fn place(&self, _: Local) -> Option<Place> {
            None
        }

        fn edge_place(&self, _: Edge) -> Place {
            Place::default()
        }
    }

    fn bag(ls: &[u64]) -> Bag {
        ls.iter().map(|&l| Local(l)).collect()
    }

    fn config(ls: &[u64]) -> Config {
        Config::new(Shared(0), bag(ls))
    }

    fn step(take: &[u64], put: &[u64], spawn: &[u64], others: Bystanders) -> Step {
        Step {
            from: Shared(0),
            to: Shared(0),
            take: bag(take),
            put: bag(put),
            spawn: bag(spawn),
            others,
            edge: Edge(0),
            choice: 0,
        }
    }

    fn fired(ls: &[u64], s: &Step, bound: Option<u32>) -> Vec<Config> {
        let mut out = Vec::new();
        fire(&Toy, &config(ls), s, bound, &mut out).unwrap();
        out
    }

    fn unfired(ls: &[u64], s: &Step) -> Vec<Config> {
        let mut out = Vec::new();
        unfire(&Toy, &config(ls), s, &mut out).unwrap();
        out.sort();
        out
    }

    #[test]
    fn a_step_moves_one_thread_and_spawns_one() {
        let s = step(&[3], &[4], &[3], Bystanders::Stay);
        assert_eq!(fired(&[3, 3], &s, None), [config(&[3, 3, 4])]);
        assert_eq!(fired(&[3, 3], &s, Some(2)), [config(&[3, 4])], "at the bound no thread is created");
        assert!(fired(&[4], &s, None).is_empty());
        assert_eq!(unfired(&[3, 4], &s), [config(&[3])]);
        assert_eq!(unfired(&[10], &s), [config(&[3, 10])]);
    }

    #[test]
    fn no_step_leaves_more_threads_than_the_bound() {
        let net = step(&[3], &[4, 4], &[], Bystanders::Stay);
        assert_eq!(fired(&[3, 3], &net, Some(3)), [config(&[3, 4, 4])]);
        assert!(fired(&[3, 3, 3], &net, Some(3)).is_empty());
        let reset = step(&[3], &[4, 4], &[], Bystanders::Transfer);
        assert_eq!(fired(&[3, 8], &reset, Some(2)), [config(&[4, 4])], "vanishing threads do not count");
        assert!(fired(&[3, 6], &reset, Some(2)).is_empty());
    }

    #[test]
    fn a_signal_wakes_exactly_one_or_is_lost() {
        let s = step(&[3], &[4], &[], Bystanders::WakeOne);
        assert_eq!(fired(&[1, 1, 3], &s, None), [config(&[1, 2, 4])]);
        assert_eq!(fired(&[3, 6], &s, None), [config(&[4, 6])]);
        assert_eq!(unfired(&[2, 4], &s), [config(&[1, 3]), config(&[2, 3])]);
        assert_eq!(
            unfired(&[1, 4], &s),
            [config(&[1, 1, 3])],
            "a thread that still waits was not the only one"
        );
    }

    #[test]
    fn bystanders_choose_independently_vanish_or_block() {
        let s = step(&[3], &[4], &[], Bystanders::Transfer);
        assert_eq!(fired(&[3, 5, 5], &s, None), [config(&[4, 6, 7]), config(&[4, 6, 6]), config(&[4, 7, 7])]);
        assert_eq!(fired(&[3, 8, 8], &s, None), [config(&[4])]);
        assert!(fired(&[3, 9], &s, None).is_empty());
        assert_eq!(unfired(&[4, 6, 6], &s).len(), 3);
        assert!(unfired(&[4, 5], &s).is_empty());
    }

    #[test]
    fn too_many_ways_are_no_ways() {
        let s = step(&[3], &[4], &[], Bystanders::Transfer);
        let many = |n: u32| Config::new(Shared(0), [(Local(3), 1), (Local(5), n)].into_iter().collect());
        let mut out = Vec::new();
        assert!(fire(&Toy, &many(1 << 16), &s, None, &mut out).is_err());
        assert!(out.is_empty());
        assert_eq!(fire(&Toy, &many(1 << 10), &s, None, &mut out), Ok(()));
        assert_eq!(out.len(), (1 << 10) + 1);
        let need = |n: u32| Config::new(Shared(0), [(Local(4), 1), (Local(6), n)].into_iter().collect());
        out.clear();
        assert!(unfire(&Toy, &need(1 << 30), &s, &mut out).is_err());
        assert!(out.is_empty());
    }

    #[test]
    fn every_composition_is_listed_once() {
        let fates = [(3, vec![Some(Local(1)), Some(Local(2)), None])];
        let mut found = Vec::new();
        distribute(&fates, Bag::new(), &mut |b| found.push(b));
        assert_eq!(found.len(), 10);
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 10);
    }
}
