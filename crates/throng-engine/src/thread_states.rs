//! Canonical sets of thread states, independent of how they were found.
//!
//! States of programs are cubes over the variables, and a search may find a set of thread states in
//! arbitrary overlapping parts. [`canonical`] makes them disjoint: the paths of the reduced ordered
//! decision diagram of the set, with the variables in the order of the program. The diagram is
//! small and lives for one call, so its nodes are only ever added.

use rustc_hash::{FxHashMap, FxHashSet};

use throng_lang::bp::program::program_of;
use throng_model::cubes::{Cube, Cubes, FREE, ONE, ZERO};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;
use throng_model::{Local, Model, Shared};

/// Returns the same thread states, disjoint and in a canonical form, sorted: two lists are equal if
/// and only if the sets are.
///
/// Models other than programs have only singletons, which are sorted.
pub fn canonical(
    problem: &Problem,
    states: &[(Shared, Local)],
    limits: &Limits,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    without(problem, states, &[], limits)
}

/// Returns the thread states of the first list that are not in the second, in the form of
/// [`canonical`].
pub fn without(
    problem: &Problem,
    states: &[(Shared, Local)],
    others: &[(Shared, Local)],
    limits: &Limits,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    let Some(coded) = program_of(&*problem.model) else {
        let others: FxHashSet<_> = others.iter().collect();
        let mut left: Vec<_> = states.iter().filter(|state| !others.contains(state)).copied().collect();
        left.sort_unstable();
        left.dedup();
        return Ok(left);
    };
    let mut ticker = Ticker::new(limits);
    let mut diagram = Diagram::default();
    let mut left = collect(coded, states, &mut diagram, &mut ticker)?;
    for (key, others) in collect(coded, others, &mut diagram, &mut ticker)? {
        if let Some(set) = left.get_mut(&key) {
            *set = diagram.minus(*set, others, &mut ticker)?;
        }
    }
    let width = coded.program().shared.len();
    let mut found = Vec::new();
    for ((inside, point), set) in left {
        let slots = coded.program().slots;
        diagram.each_path(set, width + slots, &mut ticker, &mut |cube| {
            found.push((
                coded.encode_shared(inside, &cube[..width]),
                coded.encode_local(point, &cube[width..]),
            ));
        })?;
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns concrete thread states instead of disjoint sets of them, sorted, unless there are very
/// many.
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

/// Returns the union of the thread states at each point, inside or outside an atomic section.
fn collect(
    cubes: &(impl Cubes + ?Sized),
    states: &[(Shared, Local)],
    diagram: &mut Diagram,
    ticker: &mut Ticker<'_>,
) -> Result<FxHashMap<(bool, u32), Node>, Unknown> {
    let mut sets = FxHashMap::default();
    for &(s, l) in states {
        let (inside, mut cube) = cubes.shared_cube(s);
        let (point, local) = cubes.local_cube(l);
        cube.extend_from_slice(&local);
        let set = diagram.cube(&cube);
        let there = sets.entry((inside, point)).or_insert(EMPTY);
        *there = diagram.or(*there, set, ticker)?;
    }
    Ok(sets)
}

/// A node of a diagram.
type Node = u32;

/// The empty set.
const EMPTY: Node = 0;
/// The set of everything.
const ALL: Node = 1;

/// Decision diagrams that share their nodes.
#[derive(Default)]
struct Diagram {
    /// Variable, and cofactors for 0 and for 1; the first two entries stand for the terminals.
    nodes: Vec<(u32, Node, Node)>,
    unique: FxHashMap<(u32, Node, Node), Node>,
    unions: FxHashMap<(Node, Node), Node>,
    differences: FxHashMap<(Node, Node), Node>,
}

impl Diagram {
    fn node(&mut self, variable: u32, zero: Node, one: Node) -> Node {
        if zero == one {
            return zero;
        }
        if self.nodes.is_empty() {
            self.nodes.extend([(u32::MAX, EMPTY, EMPTY), (u32::MAX, ALL, ALL)]);
        }
        let next = self.nodes.len() as Node;
        let found = *self.unique.entry((variable, zero, one)).or_insert(next);
        if found == next {
            self.nodes.push((variable, zero, one));
        }
        found
    }

    fn cube(&mut self, masks: &[u8]) -> Node {
        let mut set = ALL;
        for (i, &mask) in masks.iter().enumerate().rev() {
            set = match mask {
                ZERO => self.node(i as u32, set, EMPTY),
                ONE => self.node(i as u32, EMPTY, set),
                _ => set,
            };
        }
        set
    }

    /// Returns the first variable of either node, and the cofactors of both for each of its values.
    fn split(&self, a: Node, b: Node) -> (u32, [(Node, Node); 2]) {
        let ((v, a0, a1), (w, b0, b1)) = (self.nodes[a as usize], self.nodes[b as usize]);
        let variable = v.min(w);
        let (a0, a1) = if v == variable { (a0, a1) } else { (a, a) };
        let (b0, b1) = if w == variable { (b0, b1) } else { (b, b) };
        (variable, [(a0, b0), (a1, b1)])
    }

    fn or(&mut self, a: Node, b: Node, ticker: &mut Ticker<'_>) -> Result<Node, Unknown> {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (EMPTY, _) => return Ok(b),
            (ALL, _) => return Ok(ALL),
            _ if a == b => return Ok(a),
            _ => {}
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return Ok(known);
        }
        ticker.tick()?;
        let (variable, [(a0, b0), (a1, b1)]) = self.split(a, b);
        let (zero, one) = (self.or(a0, b0, ticker)?, self.or(a1, b1, ticker)?);
        let found = self.node(variable, zero, one);
        self.unions.insert((a, b), found);
        Ok(found)
    }

    fn minus(&mut self, a: Node, b: Node, ticker: &mut Ticker<'_>) -> Result<Node, Unknown> {
        match (a, b) {
            (EMPTY, _) | (_, ALL) => return Ok(EMPTY),
            (_, EMPTY) => return Ok(a),
            _ if a == b => return Ok(EMPTY),
            _ => {}
        }
        if let Some(&known) = self.differences.get(&(a, b)) {
            return Ok(known);
        }
        ticker.tick()?;
        let (variable, [(a0, b0), (a1, b1)]) = self.split(a, b);
        let (zero, one) = (self.minus(a0, b0, ticker)?, self.minus(a1, b1, ticker)?);
        let found = self.node(variable, zero, one);
        self.differences.insert((a, b), found);
        Ok(found)
    }

    /// Calls `found` with every path to [`ALL`] as a cube over `width` variables.
    fn each_path(
        &self,
        set: Node,
        width: usize,
        ticker: &mut Ticker<'_>,
        found: &mut dyn FnMut(&Cube),
    ) -> Result<(), Unknown> {
        let free: Cube = std::iter::repeat_n(FREE, width).collect();
        let mut todo = vec![(set, free)];
        while let Some((set, mut cube)) = todo.pop() {
            ticker.tick()?;
            if set == ALL {
                found(&cube);
            } else if set != EMPTY {
                let (variable, zero, one) = self.nodes[set as usize];
                let mut other = cube.clone();
                (cube[variable as usize], other[variable as usize]) = (ZERO, ONE);
                todo.extend([(zero, cube), (one, other)]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every member of some cubes over five variables, as bits.
    fn members(cubes: &[Cube]) -> FxHashSet<u32> {
        let fits = |m: u32, cube: &Cube| {
            cube.iter().enumerate().all(|(i, &mask)| mask & if m >> i & 1 == 1 { ONE } else { ZERO } != 0)
        };
        (0..32).filter(|&m| cubes.iter().any(|cube| fits(m, cube))).collect()
    }

    #[test]
    fn paths_are_disjoint_and_depend_on_the_set_alone() {
        let limits = Limits::none();
        let mut ticker = Ticker::new(&limits);
        let mut random = throng_model::random::Random::new(7);
        let mut mask = || random.below(3) as u8 + 1;
        for _ in 0..300 {
            let cubes: Vec<Cube> = (0..4).map(|_| (0..5).map(|_| mask()).collect()).collect();
            let (first, second) = cubes.split_at(2);
            let mut diagram = Diagram::default();
            let mut union = |diagram: &mut Diagram, cubes: &[Cube]| {
                let mut set = EMPTY;
                for cube in cubes {
                    let one = diagram.cube(cube);
                    set = diagram.or(set, one, &mut ticker).unwrap();
                }
                set
            };
            let (a, b) = (union(&mut diagram, first), union(&mut diagram, second));
            let reversed: Vec<Cube> = first.iter().rev().cloned().collect();
            assert_eq!(union(&mut diagram, &reversed), a);
            let left = diagram.minus(a, b, &mut ticker).unwrap();
            let mut paths = Vec::new();
            diagram.each_path(left, 5, &mut ticker, &mut |cube| paths.push(cube.clone())).unwrap();
            let expected: FxHashSet<u32> = members(first).difference(&members(second)).copied().collect();
            assert_eq!(members(&paths), expected);
            let sizes = paths.iter().map(|p| 1usize << p.iter().filter(|&&m| m == FREE).count());
            assert_eq!(sizes.sum::<usize>(), expected.len(), "disjoint");
        }
    }
}
