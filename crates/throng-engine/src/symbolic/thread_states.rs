//! Computation of all reachable thread states by decision diagrams.

use rustc_hash::FxHashMap;

use super::encode::Encoder;
use super::machine::Machine;
use super::search::{Search, Stop};
use super::targets::Targets;
use super::{program_of, with_enough_nodes};
use crate::Watch;
use crate::bdd::{Full, Set};
use crate::thread_states::canonical;
use throng_lang::bp::program::Coded;
use throng_lang::bp::program::expr::{Cube, FREE, mask};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;
use throng_model::{Local, Shared};

/// Thread states by atomic flag and point.
type ByPoint = FxHashMap<(bool, u32), Set>;

/// Returns every thread state that can be reached within the problem's bound, as returned by
/// [`canonical`].
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
    // The encoding lists no steps, but the model may have had to leave something out.
    problem.complete()?;
    let found = with_enough_nodes(limits, |nodes| match explore(problem, coded, nodes, limits, watch) {
        Ok(found) => Some(Ok(found)),
        Err(Stop::Limit(why)) => Some(Err(why)),
        Err(Stop::Full | Stop::Decided) => None,
    })??;
    canonical(problem, &found, limits)
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
            found.push((coded.encode_shared(inside, &shared), coded.encode_local(point, &local)));
            Ok::<(), Unknown>(())
        })?;
    }
    found.sort_unstable();
    Ok(found)
}
