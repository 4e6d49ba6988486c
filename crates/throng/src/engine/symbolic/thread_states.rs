//! All reachable thread states, in a form that does not depend on how they were found.

use rustc_hash::{FxHashMap, FxHashSet};

use super::encode::Encoder;
use super::machine::Machine;
use super::search::{Search, Stop};
use super::targets::Targets;
use super::{program_of, with_enough_nodes};
use crate::bdd::{Full, Set};
use crate::engine::Watch;
use throng_lang::bp::program::Coded;
use throng_lang::bp::program::expr::{Cube, FREE, mask};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;
use throng_model::{Local, Model, Shared};

/// Thread states by atomic flag and point.
type ByPoint = FxHashMap<(bool, u32), Set>;

/// Lists every thread state that can be reached within the problem's bound, as in [`canonical`].
pub fn reachable(
    problem: &Problem,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    let refused = |why: &str| Err(Unknown::NotForThisModel(why.into()));
    let Some(coded) = program_of(problem) else {
        return refused("the symbolic engine works on Boolean programs; use `explicit`");
    };
    if problem.bound == Bound::Any && problem.initial.iter().any(|family| !family.any.is_empty()) {
        return refused(
            "symbolic search cannot list what any number of threads reach; give a number of threads",
        );
    }
    // The encoding lists no steps; a model that cannot say everything says so when asked.
    problem.complete()?;
    with_enough_nodes(limits, |nodes| match explore(problem, coded, nodes, limits, watch) {
        Ok(found) => Some(Ok(found)),
        Err(Stop::Limit(why)) => Some(Err(why)),
        Err(Stop::Full | Stop::Decided) => None,
    })?
}

fn explore(
    problem: &Problem,
    coded: &dyn Coded,
    nodes: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<(Shared, Local)>, Stop> {
    let problem = Problem { targets: Vec::new(), ..problem.clone() };
    let encoder = Encoder::new(coded.program(), nodes, &[], false)?;
    let targets = Targets::new(coded, &encoder, &[])?;
    let machine = Machine::new(coded, encoder, None);
    let mut search = Search::new(&problem, coded, machine, targets, false, limits, watch);
    search.level(None, search.levels.last().unwrap_or(u32::MAX))?;
    let mut states = ByPoint::default();
    for member in search.visited.members() {
        let inside = search.machine.is_inside(&member.state);
        let shared = search.registry().shared(member.state.shared);
        for &(l, _) in &member.state.threads {
            let (point, local) = search.registry().local(l);
            include(&mut states, (inside, point), shared.and(local)?)?;
        }
    }
    Ok(list(coded, &search.machine.encoder, &states, &mut Ticker::new(limits))?)
}

/// The same thread states, disjoint and in a canonical form, sorted: equal lists if and only if equal sets.
///
/// Models that are no programs have singletons only, which are only sorted.
pub fn canonical(
    problem: &Problem,
    states: &[(Shared, Local)],
    limits: &Limits,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    without(problem, states, &[], limits)
}

/// The thread states of the first list that are not in the second, as in [`canonical`].
pub fn without(
    problem: &Problem,
    states: &[(Shared, Local)],
    others: &[(Shared, Local)],
    limits: &Limits,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    let Some(coded) = throng_lang::bp::program::program_of(&*problem.model) else {
        let others: FxHashSet<_> = others.iter().collect();
        let mut left: Vec<_> = states.iter().filter(|state| !others.contains(state)).copied().collect();
        left.sort_unstable();
        left.dedup();
        return Ok(left);
    };
    with_enough_nodes(limits, |nodes| match difference(coded, states, others, nodes, limits) {
        Ok(found) => Some(Ok(found)),
        Err(Stop::Limit(why)) => Some(Err(why)),
        Err(Stop::Full | Stop::Decided) => None,
    })?
}

/// Concrete thread states instead of disjoint sets of them, sorted, unless that would be very many.
pub fn expanded(model: &dyn Model, states: Vec<(Shared, Local)>) -> Vec<(Shared, Local)> {
    const MOST: u64 = 1 << 20;
    let size = |&(s, l): &(Shared, Local)| 1u64.checked_shl(model.free_bits(s, l)).unwrap_or(u64::MAX);
    if model.is_exact() || states.iter().map(size).fold(0, u64::saturating_add) > MOST {
        return states;
    }
    let of = |&(s, l): &(Shared, Local)| {
        let locals = model.members_local(l);
        model.members_shared(s).into_iter().flat_map(move |s| locals.clone().into_iter().map(move |l| (s, l)))
    };
    let mut states: Vec<_> = states.iter().flat_map(of).collect();
    states.sort_unstable();
    states
}

fn difference(
    coded: &dyn Coded,
    states: &[(Shared, Local)],
    others: &[(Shared, Local)],
    nodes: usize,
    limits: &Limits,
) -> Result<Vec<(Shared, Local)>, Stop> {
    let mut ticker = Ticker::new(limits);
    let encoder = Encoder::new(coded.program(), nodes, &[], false)?;
    let mut left = collect(coded, &encoder, states, &mut ticker)?;
    for (key, others) in collect(coded, &encoder, others, &mut ticker)? {
        if let Some(set) = left.get_mut(&key) {
            *set = set.minus(&others)?;
        }
    }
    Ok(list(coded, &encoder, &left, &mut ticker)?)
}

fn collect(
    coded: &dyn Coded,
    encoder: &Encoder<'_>,
    thread_states: &[(Shared, Local)],
    ticker: &mut Ticker<'_>,
) -> Result<ByPoint, Stop> {
    let mut states = ByPoint::default();
    for &(s, l) in thread_states {
        ticker.ticks(16)?;
        let (inside, shared) = coded.shared_cube(s);
        let (point, local) = coded.local_cube(l);
        let both = encoder.shared_set(&shared)?.and(&encoder.local_set(point, &local)?)?;
        include(&mut states, (inside, point), both)?;
    }
    Ok(states)
}

fn include(states: &mut ByPoint, key: (bool, u32), set: Set) -> Result<(), Full> {
    let all = match states.get(&key) {
        Some(there) => there.or(&set)?,
        None => set,
    };
    states.insert(key, all);
    Ok(())
}

fn list(
    coded: &dyn Coded,
    encoder: &Encoder<'_>,
    states: &ByPoint,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    let mut found = Vec::new();
    let program = coded.program();
    for (&(inside, point), set) in states {
        let free = encoder.free_slots(point);
        set.try_each_cube(&mut |cube| {
            ticker.tick()?;
            let mut shared: Cube = std::iter::repeat_n(FREE, program.shared.len()).collect();
            let mut local = free.clone();
            for &(v, value) in cube {
                match (v as usize / 2).checked_sub(program.shared.len()) {
                    None => shared[v as usize / 2] = mask(value),
                    Some(slot) => local[slot] = mask(value),
                }
            }
            found.push((coded.shared_word(inside, &shared), coded.local_word(point, &local)));
            Ok::<(), Unknown>(())
        })?;
    }
    found.sort_unstable();
    Ok(found)
}
