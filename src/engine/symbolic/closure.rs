//! Evidence for SAFE: products of sets that are closed under steps, member by member.
//!
//! What the search has visited is closed as a whole. The checker wants more: that each image of a member lies in a *single* member, so that
//! it can be checked by inclusion alone. Images that do not are added until there are none.

use rustc_hash::FxHashMap;

use super::registry::{State, Threads};
use super::search::{Search, Stop};
use crate::model::Shared;
use crate::verdict::{Product, Products};

/// The visited states and what is needed to close them, in the model's words.
pub fn closure(search: &mut Search<'_>, reduced: bool) -> Result<Products, Stop> {
    let members = close(search)?;
    let mut products = Products { reduced, ..Products::default() };
    let (mut shared, mut locals) = (FxHashMap::default(), FxHashMap::default());
    for state in &members {
        search.limits.check()?;
        let inside = search.machine.is_inside(state);
        let s = *shared.entry((state.shared, inside)).or_insert_with(|| {
            products.shared.push(shared_words(search, state.shared, inside));
            products.shared.len() as u32 - 1
        });
        let threads = state.threads.iter().map(|&(l, n)| {
            let l = *locals.entry(l).or_insert_with(|| {
                let (point, set) = search.registry().local(l);
                let cubes = search.machine.encoder.local_cubes(point, set);
                products.locals.push(cubes.iter().map(|c| search.coded.local_word(point, c)).collect());
                products.locals.len() as u32 - 1
            });
            (l, n)
        });
        products.members.push(Product { shared: s, threads: threads.collect() });
    }
    Ok(products)
}

fn shared_words(search: &Search<'_>, id: u32, inside: bool) -> Vec<Shared> {
    let cubes = search.machine.encoder.shared_cubes(search.registry().shared(id));
    cubes.iter().map(|c| search.coded.shared_word(inside, c)).collect()
}

/// States such that each image of one is within one.
fn close(search: &mut Search<'_>) -> Result<Vec<State>, Stop> {
    let room = search.levels.room(search.reached);
    let mut todo: Vec<State> = search.visited.members().map(|m| m.state.clone()).collect();
    let mut by_skeleton: FxHashMap<Threads, Vec<State>> = FxHashMap::default();
    for state in &todo {
        by_skeleton.entry(search.registry().skeleton(&state.threads)).or_default().push(state.clone());
    }
    let mut after = Vec::new();
    while let Some(state) = todo.pop() {
        search.limits.check()?;
        search.machine.expand(&state, room, &mut after)?;
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
