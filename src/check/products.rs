//! Checks [`Products`]: closed sets of products of sets of states.
//!
//! Everything is computed from the model's own steps, word by word; no decision diagrams. An image is what one step, from one word of the
//! shared states and one word of the acting thread's, makes of a member. Its threads must fit into some members, and its shared
//! states must be in those of one of these; where that fails, what arrived is split by values. Bystanders keep their sets,
//! or each goes where the step sends the words of its set.

use rustc_hash::FxHashMap;

use super::{Flaw, each_initial};
use crate::limits::Ticker;
use crate::model::program::Cubes;
use crate::model::program::expr::{Cube, FREE, ONE, ZERO};
use crate::model::{Footprint, Local, Model, Others, Shared, Step};
use crate::problem::{Problem, Target};
use crate::reduction::Reduction;
use crate::verdict::{Product, Products};

/// How often one image is split at most.
const MOST_SPLITS: u32 = 16;

/// Checks that no member hits `target`, every initial configuration is in one, and images of members are in members.
pub fn check_products(
    problem: &Problem,
    target: &Target,
    products: &Products,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let malformed = |what: &str| Flaw::Malformed(what.to_string());
    let Some(coded) = problem.model.as_cubes() else {
        return Err(malformed("products of sets are for programs"));
    };
    let mut court = Court::new(problem, coded, products)?;
    for product in &products.members {
        if court.is_hit(target, product) {
            return Err(Flaw::BadMember(court.describe(product)));
        }
    }
    let mut missing = Ok(());
    each_initial(problem, &mut |config| {
        let threads: Crowd = config.threads.entries().iter().map(|&(l, n)| (court.set_of(&[l]), n)).collect();
        if missing.is_ok() && !court.is_covered(config.shared, &threads) {
            missing = Err(Flaw::InitialMissing(config.describe(&*problem.model)));
        }
        Ok(())
    })?;
    missing?;
    let reduction = if products.reduced { Reduction::for_target(problem, target) } else { None };
    for product in &products.members {
        ticker.ticks(64)?;
        if !court.someone_goes_first(reduction.as_ref(), product)? {
            court.is_closed(product)?;
        }
    }
    Ok(())
}

/// A set of local states: one point, and cubes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LocalSet {
    point: u32,
    cubes: Vec<Cube>,
}

struct Court<'a> {
    problem: &'a Problem,
    model: &'a dyn Model,
    coded: &'a dyn Cubes,
    products: &'a Products,
    shared: Vec<(bool, Vec<Cube>)>,
    /// The certificate's sets first, then those that come up.
    sets: Vec<(LocalSet, Vec<Local>)>,
    numbers: FxHashMap<LocalSet, usize>,
    within: FxHashMap<(usize, usize), bool>,
    /// Members by points and counts.
    by_skeleton: FxHashMap<Vec<(u32, u32)>, Vec<usize>>,
}

/// Threads by number of set, with counts.
type Crowd = Vec<(usize, u32)>;

impl<'a> Court<'a> {
    fn new(problem: &'a Problem, coded: &'a dyn Cubes, products: &'a Products) -> Result<Court<'a>, Flaw> {
        let model = &*problem.model;
        let mut court = Court {
            problem,
            model,
            coded,
            products,
            shared: Vec::new(),
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            within: FxHashMap::default(),
            by_skeleton: FxHashMap::default(),
        };
        for words in &products.shared {
            let cubes: Vec<(bool, Cube)> = words.iter().map(|&s| coded.shared_cube(s)).collect();
            let Some(inside) = cubes.first().map(|c| c.0).filter(|f| cubes.iter().all(|c| c.0 == *f)) else {
                return Err(Flaw::Malformed("a set of shared states is empty or mixed".into()));
            };
            court.shared.push((inside, cubes.into_iter().map(|c| c.1).collect()));
        }
        for words in &products.locals {
            let points = words.iter().map(|&l| coded.local_cube(l).0);
            if words.is_empty() || points.clone().any(|p| Some(p) != points.clone().next()) {
                return Err(Flaw::Malformed("a set of local states is empty or mixed".into()));
            }
            let set = court.decode(words);
            let number = court.sets.len();
            court.numbers.entry(set.clone()).or_insert(number);
            court.sets.push((set, words.clone()));
        }
        for (i, product) in products.members.iter().enumerate() {
            let in_range = (product.shared as usize) < products.shared.len()
                && product.threads.iter().all(|t| (t.0 as usize) < products.locals.len() && t.1 > 0);
            if !in_range {
                return Err(Flaw::Malformed("a product names a set that is not there".into()));
            }
            let skeleton = court.skeleton(&crowd(product));
            court.by_skeleton.entry(skeleton).or_default().push(i);
        }
        Ok(court)
    }

    fn decode(&self, words: &[Local]) -> LocalSet {
        let mut cubes: Vec<(u32, Cube)> = words.iter().map(|&l| self.coded.local_cube(l)).collect();
        cubes.sort_unstable();
        cubes.dedup();
        LocalSet { point: cubes.first().map_or(0, |c| c.0), cubes: cubes.into_iter().map(|c| c.1).collect() }
    }

    /// The number of the set of these words, which are all at one point.
    fn set_of(&mut self, words: &[Local]) -> usize {
        let set = self.decode(words);
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        self.numbers.insert(set.clone(), self.sets.len());
        self.sets.push((set, words.to_vec()));
        self.sets.len() - 1
    }

    fn skeleton(&self, crowd: &Crowd) -> Vec<(u32, u32)> {
        let mut points: Vec<(u32, u32)> = crowd.iter().map(|&(l, n)| (self.sets[l].0.point, n)).collect();
        points.sort_unstable();
        points.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
        points
    }

    fn is_hit(&self, target: &Target, product: &Product) -> bool {
        let (inside, shared) = &self.shared[product.shared as usize];
        target.configs.iter().any(|bad| {
            let (flag, cube) = self.coded.shared_cube(bad.shared);
            if flag != *inside || !shared.iter().any(|c| meet(c, &cube)) {
                return false;
            }
            let wanted: Vec<(LocalSet, u32)> =
                bad.threads.entries().iter().map(|&(l, n)| (self.decode(&[l]), n)).collect();
            let fits = |i: usize, j: usize| {
                let (want, have) = (&wanted[i].0, &self.sets[product.threads[j].0 as usize].0);
                want.point == have.point && have.cubes.iter().any(|c| meet(c, &want.cubes[0]))
            };
            let from: Vec<u32> = wanted.iter().map(|w| w.1).collect();
            let to: Vec<u32> = product.threads.iter().map(|t| t.1).collect();
            matching(&from, &to, &fits)
        })
    }

    /// Whether everything with this shared state and these threads is in members.
    fn is_covered(&mut self, shared: Shared, threads: &Crowd) -> bool {
        let (flag, cube) = self.coded.shared_cube(shared);
        let skeleton = self.skeleton(threads);
        let members = self.by_skeleton.get(&skeleton).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for m in members {
            let product = &self.products.members[m];
            let (inside, cubes) = &self.shared[product.shared as usize];
            if *inside != flag || !cubes.iter().any(|c| meet(c, &cube)) {
                continue;
            }
            let to = crowd(product);
            let fits: Vec<Vec<bool>> = threads
                .iter()
                .map(|&(l, _)| to.iter().map(|&(m, _)| self.is_within(l, m)).collect())
                .collect();
            let counts = |c: &Crowd| c.iter().map(|e| e.1).collect::<Vec<u32>>();
            if matching(&counts(threads), &counts(&to), &|i, j| fits[i][j]) {
                all.extend(self.shared[product.shared as usize].1.iter().cloned());
                if covered(&cube, &all) {
                    return true;
                }
            }
        }
        false
    }

    /// The same, splitting the words that `arrived` until it is clear.
    fn is_covered_with(&mut self, shared: Shared, rest: &Crowd, arrived: &[Local], splits: u32) -> bool {
        let mut threads = rest.clone();
        for &l in arrived {
            threads.push((self.set_of(&[l]), 1));
        }
        if self.is_covered(shared, &threads) {
            return true;
        }
        let open = arrived.iter().enumerate().find_map(|(i, &l)| {
            let (point, masks) = self.coded.local_cube(l);
            Some((i, point, masks.iter().position(|&m| m == FREE)?, masks))
        });
        let Some((i, point, slot, masks)) = open.filter(|_| splits > 0) else { return false };
        [ZERO, ONE].into_iter().all(|value| {
            let mut half = masks.clone();
            half[slot] = value;
            let mut words = arrived.to_vec();
            words[i] = self.coded.local_word(point, &half);
            self.is_covered_with(shared, rest, &words, splits - 1)
        })
    }

    fn is_within(&mut self, a: usize, b: usize) -> bool {
        if a == b {
            return true;
        }
        if let Some(&known) = self.within.get(&(a, b)) {
            return known;
        }
        let (x, y) = (&self.sets[a].0, &self.sets[b].0);
        let within = x.point == y.point && x.cubes.iter().all(|c| covered(c, &y.cubes));
        self.within.insert((a, b), within);
        within
    }

    /// Whether some thread may go first, can move for each shared word, and stays within the members.
    fn someone_goes_first(&mut self, reduction: Option<&Reduction>, product: &Product) -> Result<bool, Flaw> {
        let Some(reduction) = reduction else { return Ok(false) };
        let footprint = |&(l, n): &(u32, u32)| {
            Some((self.model.footprint(*self.products.locals[l as usize].first()?)?, n))
        };
        let Some(threads) = product.threads.iter().map(footprint).collect::<Option<Vec<(Footprint, u32)>>>()
        else {
            return Ok(false);
        };
        for i in (0..threads.len()).filter(|&i| reduction.goes_first(&threads, i)) {
            let moves = self.products.shared[product.shared as usize].iter().all(|&s| {
                let mut steps = Vec::new();
                let words = &self.products.locals[product.threads[i].0 as usize];
                words.iter().for_each(|&l| self.model.post(s, l, &mut steps));
                !steps.is_empty()
            });
            if moves && self.thread_is_closed(product, i).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_closed(&mut self, product: &Product) -> Result<(), Flaw> {
        (0..product.threads.len()).try_for_each(|i| self.thread_is_closed(product, i))
    }

    /// Whether all that the `i`-th thread can do leads to members.
    fn thread_is_closed(&mut self, product: &Product, i: usize) -> Result<(), Flaw> {
        let mut rest = crowd(product);
        rest[i].1 -= 1;
        rest.retain(|e| e.1 > 0);
        let mut steps = Vec::new();
        for &s in &self.products.shared[product.shared as usize] {
            for &l in &self.products.locals[product.threads[i].0 as usize] {
                self.model.post(s, l, &mut steps);
            }
        }
        for step in steps {
            let (crowds, arrived) = self.after(&step, &rest);
            for rest in crowds {
                if !self.is_covered_with(step.to, &rest, &arrived, MOST_SPLITS) {
                    let what = self.model.edge_place(step.edge).text;
                    return Err(Flaw::NotClosed(self.describe(product), format!("by {what}")));
                }
            }
        }
        Ok(())
    }

    /// What may become of `rest` in a step, and who arrives.
    fn after(&mut self, step: &Step, rest: &Crowd) -> (Vec<Crowd>, Vec<Local>) {
        let mut arrived: Vec<Local> = step.put.entries().iter().map(|e| e.0).collect();
        let total: u32 = rest.iter().map(|e| e.1).sum::<u32>() + step.put.size() + step.spawn.size();
        if self.problem.bound.threads().is_none_or(|n| total <= n) {
            arrived.extend(step.spawn.entries().iter().map(|e| e.0));
        }
        let crowds = match step.others {
            Others::Stay => vec![rest.clone()],
            Others::Wake => self.wake(rest),
            Others::Move => self.carry(step, rest).into_iter().collect(),
        };
        (crowds, arrived)
    }

    fn wake(&mut self, rest: &Crowd) -> Vec<Crowd> {
        let mut found = Vec::new();
        for i in 0..rest.len() {
            let words: Option<Vec<Local>> =
                self.sets[rest[i].0].1.iter().map(|&l| self.model.woken(l)).collect();
            if let Some(words) = words {
                let mut after = rest.clone();
                after[i].1 -= 1;
                after.retain(|e| e.1 > 0);
                after.push((self.set_of(&words), 1));
                found.push(after);
            }
        }
        if found.is_empty() {
            found.push(rest.clone());
        }
        found
    }

    fn carry(&mut self, step: &Step, rest: &Crowd) -> Option<Crowd> {
        let mut after = Vec::new();
        for &(l, n) in rest {
            let mut fates = Vec::new();
            self.sets[l].1.iter().for_each(|&l| self.model.bystander(step, l, &mut fates));
            let words: Vec<Local> = fates.into_iter().flatten().collect();
            if words.is_empty() {
                return None;
            }
            after.push((self.set_of(&words), n));
        }
        Some(after)
    }

    fn describe(&self, product: &Product) -> String {
        let shared = self.products.shared[product.shared as usize].iter().map(|&s| self.model.shared_name(s));
        let threads = product.threads.iter().map(|&(l, n)| {
            let words = self.products.locals[l as usize].iter().map(|&l| self.model.local_name(l));
            format!("{n} × {{{}}}", words.collect::<Vec<_>>().join(", "))
        });
        format!(
            "⟨{{{}}} | {}⟩",
            shared.collect::<Vec<_>>().join(", "),
            threads.collect::<Vec<_>>().join(", ")
        )
    }
}

fn crowd(product: &Product) -> Crowd {
    product.threads.iter().map(|&(l, n)| (l as usize, n)).collect()
}

fn meet(a: &Cube, b: &Cube) -> bool {
    a.iter().zip(b).all(|(x, y)| x & y != 0)
}

/// Whether every valuation of `cube` is in one of `cubes`: splits where that is not yet clear.
fn covered(cube: &Cube, cubes: &[Cube]) -> bool {
    if cubes.iter().any(|c| cube.iter().zip(c).all(|(x, y)| x & y == *x)) {
        return true;
    }
    let near: Vec<Cube> = cubes.iter().filter(|c| meet(c, cube)).cloned().collect();
    let open = (0..cube.len()).find(|&i| cube[i] == FREE && near.iter().any(|c| c[i] != FREE));
    let Some(i) = open else { return false };
    [ZERO, ONE].into_iter().all(|value| {
        let mut half = cube.clone();
        half[i] = value;
        covered(&half, &near)
    })
}

/// Whether each of `from` can be given one of `to` of its own that fits; both are counts.
fn matching(from: &[u32], to: &[u32], fits: &dyn Fn(usize, usize) -> bool) -> bool {
    let people: Vec<usize> = (0..from.len()).flat_map(|i| (0..from[i]).map(move |_| i)).collect();
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); to.len()];
    (0..people.len()).all(|p| seat(p, &people, to, fits, &mut given, &mut vec![false; to.len()]))
}

fn seat(
    person: usize,
    people: &[usize],
    to: &[u32],
    fits: &dyn Fn(usize, usize) -> bool,
    given: &mut [Vec<usize>],
    seen: &mut [bool],
) -> bool {
    for j in 0..to.len() {
        if seen[j] || !fits(people[person], j) {
            continue;
        }
        seen[j] = true;
        if given[j].len() < to[j] as usize {
            given[j].push(person);
            return true;
        }
        for k in 0..given[j].len() {
            if seat(given[j][k], people, to, fits, given, seen) {
                given[j][k] = person;
                return true;
            }
        }
    }
    false
}
