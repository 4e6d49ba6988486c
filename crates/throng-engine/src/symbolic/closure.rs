//! Evidence for SAFE: products of sets that are closed under steps, member by member.
//!
//! The visited set is closed as a whole. The checker requires more: that each image of a member
//! lies in a *single* member, so that inclusion alone is checked. Images that do not are added
//! until there are none.

use rustc_hash::FxHashMap;

use super::registry::{State, Threads};
use super::search::{EXPANSION, Search, Stop};
use throng_model::Shared;
use throng_model::limits::Ticker;
use throng_model::verdict::{Product, Products, Unknown};

/// Returns the visited states and those needed to close them, in the model's states.
pub fn closure(search: &mut Search<'_>, reduced: bool) -> Result<Products, Stop> {
    let members = close(search)?;
    let mut ticker = Ticker::new(search.limits);
    let mut products = Products { reduced, ..Products::default() };
    let (mut shared, mut locals) = (FxHashMap::default(), FxHashMap::default());
    for state in &members {
        ticker.tick()?;
        let inside = search.machine.is_inside(state);
        let s = match shared.get(&(state.shared, inside)) {
            Some(&known) => known,
            None => {
                products.shared.push(shared_states(search, state.shared, inside, &mut ticker)?);
                let number = products.shared.len() as u32 - 1;
                shared.insert((state.shared, inside), number);
                number
            }
        };
        let mut threads = Vec::new();
        for &(l, n) in &state.threads {
            let l = match locals.get(&l) {
                Some(&known) => known,
                None => {
                    let (point, set) = search.registry().local(l);
                    let cubes = search.machine.encoder.local_cubes(point, set, &mut ticker)?;
                    products.locals.push(cubes.iter().map(|c| search.coded.encode_local(point, c)).collect());
                    let number = products.locals.len() as u32 - 1;
                    locals.insert(l, number);
                    number
                }
            };
            threads.push((l, n));
        }
        products.members.push(Product { shared: s, threads });
    }
    Ok(products)
}

fn shared_states(
    search: &Search<'_>,
    id: u32,
    inside: bool,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<Shared>, Unknown> {
    let cubes = search.machine.encoder.shared_cubes(search.registry().shared(id), ticker)?;
    Ok(cubes.iter().map(|c| search.coded.encode_shared(inside, c)).collect())
}

/// Returns states such that each image of one is within one.
fn close(search: &mut Search<'_>) -> Result<Vec<State>, Stop> {
    let size_limit = search.levels.size_limit(search.reached);
    let mut todo: Vec<State> = search.visited.members().map(|m| m.state.clone()).collect();
    let mut by_skeleton: FxHashMap<Threads, Vec<State>> = FxHashMap::default();
    for state in &todo {
        by_skeleton.entry(search.registry().skeleton(&state.threads)).or_default().push(state.clone());
    }
    let mut after = Vec::new();
    while let Some(state) = todo.pop() {
        search.ticker.ticks(EXPANSION)?;
        search.machine.expand(&state, size_limit, &mut after)?;
        for (_, image) in after.drain(..) {
            let registry = &mut search.machine.registry;
            let there = by_skeleton.entry(registry.skeleton(&image.threads)).or_default();
            let mut is_in = false;
            for member in there.iter() {
                if registry.state_within(&image, member)? {
                    is_in = true;
                    break;
                }
            }
            if !is_in {
                there.push(image.clone());
                todo.push(image);
            }
        }
    }
    Ok(by_skeleton.into_values().flatten().collect())
}
