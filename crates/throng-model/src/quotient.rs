//! The quotient of a model: equivalent local states are merged, and transient shared states are
//! skipped.
//!
//! # Merged local states
//!
//! Let h map each local state to another one, or to none: the thread is removed. For any h, the
//! model with every step ⟨take → put⟩ replaced by ⟨h(take) → h(put)⟩ simulates the original on the
//! images of its configurations. So what is not coverable there is not coverable in the original.
//! (That the converse holds as well depends on the choice of h, made in `throng::quotient`.)
//!
//! # Skipped shared states
//!
//! While the shared state is `m`, only steps from `m` can fire. So if nothing starts in `m`,
//! nothing bad is in `m`, and no cycle of steps stays within such states, a run is a sequence of
//! *paths* between other shared states (and perhaps the beginning of one more path, which reaches
//! nothing bad). A path of steps ⟨take₁→put₁⟩, ⟨take₂→put₂⟩ in which bystanders stay needs exactly
//! take₁ + (take₂ ∖ put₁) and leaves put₂ + (put₁ ∖ take₂) in their place: it is itself a step. At
//! the other shared states, the same configurations are coverable in both models, for any number of
//! threads. (In nets this is called agglomeration, Berthelot 1986.)
//!
//! The steps into and out of a skipped state become one step.
//!
//! The checker rebuilds this model from a [`QuotientMap`], so a certificate need state nothing
//! else.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::{SmallVec, smallvec};

use super::table::{Names, Table};
use super::waiting::Waits;
use super::{
    Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Persist, Place, Predecessors,
    SetStates, Shared, Step, Traits, Transfers,
};

/// The effect of a step: from, to, takes, puts.
type Whole = (Shared, Shared, Bag, Bag);

/// The indices of the steps that a step is made of.
type Places = SmallVec<[u32; 4]>;

/// For the index of a step, the indices of other steps that become the same when local states are
/// merged.
type Alike = HashMap<u32, Vec<u32>>;

/// The states of a model that its quotient merges or skips.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuotientMap {
    /// Skipped shared states. No initial and no target configuration has one.
    pub skipped: Vec<Shared>,
    /// Merged local states with their representatives; `None`: the thread is removed. Sorted.
    pub merged: Vec<(Local, Option<Local>)>,
}

impl QuotientMap {
    /// Returns the image of a multiset of threads.
    pub fn merge(&self, threads: &Bag) -> Bag {
        threads.entries().iter().filter_map(|&(l, n)| Some((self.merge_one(l)?, n))).collect()
    }

    /// Returns the image of a local state.
    pub fn merge_one(&self, l: Local) -> Option<Local> {
        match self.merged.binary_search_by_key(&l, |e| e.0) {
            Ok(at) => self.merged[at].1,
            Err(_) => Some(l),
        }
    }

    /// Returns the image of a configuration.
    pub fn merge_config(&self, config: &Config) -> Config {
        Config::new(config.shared, self.merge(&config.threads))
    }

    /// Returns the steps between merged local states.
    pub fn merge_steps(&self, listed: &[Step]) -> Merged {
        if self.merged.is_empty() {
            return Merged::default();
        }
        let mut found: IndexMap<Whole, u32, FxBuildHasher> = IndexMap::default();
        let mut alike = Alike::default();
        for (i, step) in (0..).zip(listed) {
            let (take, mut put) = (self.merge(&step.take), self.merge(&step.put));
            put.add_all(&self.merge(&step.spawn));
            let first = *found.entry((step.from, step.to, take, put)).or_insert(i);
            if first != i {
                alike.entry(first).or_default().push(i);
            }
        }
        let step = |((from, to, take, put), i): (Whole, u32)| {
            (i, Step { from, to, take, put, spawn: Bag::new(), ..listed[i as usize].clone() })
        };
        Merged { steps: Some(found.into_iter().map(step).collect()), alike }
    }
}

/// The steps between merged local states, each once.
#[derive(Default)]
pub struct Merged {
    /// Each with the index of the first step that becomes it. `None` if nothing is merged: the
    /// steps, which may be many, are then not copied.
    steps: Option<Vec<(u32, Step)>>,
    alike: Alike,
}

impl Merged {
    /// Returns for each step its shared states before and after.
    pub fn passages(&self, listed: &[Step]) -> Vec<(Shared, Shared)> {
        numbered(&self.steps, listed).into_iter().map(|(_, step)| (step.from, step.to)).collect()
    }
}

/// Returns the merged steps, or all steps if nothing is merged, with their indices.
fn numbered<'a>(merged: &'a Option<Vec<(u32, Step)>>, listed: &'a [Step]) -> Vec<(u32, &'a Step)> {
    match merged {
        None => (0..).zip(listed).collect(),
        Some(steps) => steps.iter().map(|(i, step)| (*i, step)).collect(),
    }
}

/// A quotient model; see the module documentation.
pub struct QuotientModel {
    original: Arc<dyn Model>,
    table: Table,
    /// For each step of the table, the steps of the original model that it is made of, by index; of
    /// equivalent ones the first.
    paths: Vec<Places>,
    /// The other equivalent steps.
    alike: Alike,
}

/// Maximum number of steps: skipping states is meant to make models smaller.
const MOST_STEPS: usize = 1 << 23;

/// The steps from each skipped state, with their indices.
type From<'a> = HashMap<Shared, SmallVec<[(u32, &'a Step); 1]>>;

/// A step made of several.
#[derive(Clone)]
struct Path {
    steps: Places,
    to: Shared,
    take: Bag,
    put: Bag,
}

impl Path {
    fn one((place, step): (u32, &Step)) -> Result<Path, String> {
        let mut put = step.put.clone();
        put.add_all(&step.spawn);
        Path { steps: smallvec![place], to: step.to, take: step.take.clone(), put }.countable()
    }

    /// Returns an error if there are too many threads to count: their number would be cut off, so
    /// the path would not do what its steps do.
    fn countable(self) -> Result<Path, String> {
        let counts = self.take.is_countable() && self.put.is_countable();
        if counts { Ok(self) } else { Err("a path takes or puts too many threads to count".into()) }
    }

    /// Appends a step.
    fn then(mut self, (place, step): (u32, &Step)) -> Result<Path, String> {
        for &(l, n) in step.take.entries() {
            let missing = self.put.remove(l, n);
            self.take.insert(l, missing);
        }
        self.put.add_all(&step.put);
        self.put.add_all(&step.spawn);
        self.steps.push(place);
        self.to = step.to;
        self.countable()
    }
}

impl QuotientModel {
    /// Builds the quotient of `model`, or says why there is none.
    ///
    /// The caller guarantees that no initial and no target configuration has a skipped state.
    pub fn new(model: Arc<dyn Model>, map: &QuotientMap) -> Result<QuotientModel, String> {
        let merged = map.merge_steps(model.listed().unwrap_or_default());
        QuotientModel::of_merged(model, merged, &map.skipped)
    }

    /// Builds the same from local states that are merged already.
    pub fn of_merged(
        model: Arc<dyn Model>,
        merged: Merged,
        skipped: &[Shared],
    ) -> Result<QuotientModel, String> {
        let Some(listed) = model.listed() else { return Err("the model does not list its steps".into()) };
        if listed.iter().any(|s| s.others != Bystanders::Stay) {
            return Err("a step moves bystanders".into());
        }
        let skipped: HashSet<Shared> = skipped.iter().copied().collect();
        let Merged { steps, alike } = merged;
        let numbered = numbered(&steps, listed);
        let numbered = || numbered.iter().copied();
        let mut from = From::default();
        for (i, step) in numbered().filter(|(_, s)| skipped.contains(&s.from)) {
            from.entry(step.from).or_default().push((i, step));
        }
        let leads_on = leads_on(&from, &skipped)?;
        let ends = |s: Shared| leads_on.get(&s) == Some(&false);
        from.values_mut().for_each(|steps| steps.retain(|(_, step)| !ends(step.to)));
        let mut built: HashSet<Whole> = HashSet::default();
        let (mut table, mut paths) = (Table::new(Names::Numbers(0), Names::Numbers(0)), Vec::new());
        let (mut open, mut total) = (Vec::new(), 0);
        for (i, step) in numbered().filter(|(_, s)| !skipped.contains(&s.from)) {
            open.push(Path::one((i, step))?);
            while let Some(path) = open.pop() {
                if total > MOST_STEPS {
                    return Err("there are too many paths".into());
                }
                match leads_on.get(&path.to) {
                    None => total += path.steps.len(),
                    Some(false) => continue,
                    Some(true) => {
                        let (&first, others) = from[&path.to].split_first().expect("it leads on");
                        // Copies count as well: unfinished paths, one at each of many branches, may
                        // take more memory than finished ones.
                        total += path.steps.len() * others.len();
                        for &next in others.iter().rev() {
                            open.push(path.clone().then(next)?);
                        }
                        open.push(path.then(first)?);
                        continue;
                    }
                }
                let Path { steps, to, take, put } = path;
                let idle = step.from == to && take == put;
                if idle || !built.insert((step.from, to, take.clone(), put.clone())) {
                    continue;
                }
                let spawn = Bag::new();
                let whole = Step { to, take, put, spawn, ..step.clone() };
                // The original knows where the step is written.
                table.add_at(whole, Vec::new(), 0, 0..0);
                paths.push(steps);
            }
        }
        Ok(QuotientModel { original: model.clone(), table, paths, alike })
    }

    /// Returns the steps of the original model that `step` stands for, in order; of equivalent ones
    /// the first.
    fn path(&self, step: Edge) -> impl Iterator<Item = (u32, &Step)> {
        let listed = self.original.listed().unwrap_or_default();
        self.paths[step.0 as usize].iter().map(|&i| (i, &listed[i as usize]))
    }

    /// Returns, for each step that `step` is made of, in order, the steps of the original model
    /// that it may be.
    pub fn options(&self, step: &Step) -> impl Iterator<Item = impl Iterator<Item = &Step>> {
        let listed = self.original.listed().unwrap_or_default();
        self.path(step.edge).map(|(i, first)| {
            let others = self.alike.get(&i).into_iter().flatten().map(|&j| &listed[j as usize]);
            std::iter::once(first).chain(others)
        })
    }
}

/// Returns for every skipped state whether steps lead from it to a state that is not skipped.
fn leads_on(from: &From, skipped: &HashSet<Shared>) -> Result<HashMap<Shared, bool>, String> {
    let mut leads: HashMap<Shared, bool> = HashMap::default();
    let mut begun: HashSet<Shared> = HashSet::default();
    let mut stack: Vec<Shared> = skipped.iter().copied().collect();
    while let Some(&m) = stack.last() {
        if leads.contains_key(&m) {
            stack.pop();
            continue;
        }
        let next = || from.get(&m).into_iter().flatten().map(|(_, step)| step.to);
        let open = |s: &Shared| skipped.contains(s) && !leads.contains_key(s);
        if begun.insert(m) {
            stack.extend(next().filter(open));
            continue;
        }
        if next().any(|s| open(&s)) {
            return Err("a cycle of steps stays within the skipped states".into());
        }
        let on = next().any(|s| leads.get(&s).is_none_or(|&on| on));
        leads.insert(m, on);
        stack.pop();
    }
    Ok(leads)
}

impl Model for QuotientModel {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.table.post(s, l, out)
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.table.post_shared(s, out)
    }

    fn traits(&self) -> Traits {
        self.table.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        self.table.transfers()
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    /// No class counts as ended if one of its members still leads a step.
    fn has_ended(&self, l: Local) -> bool {
        self.original.has_ended(l) && self.table.has_ended(l)
    }

    /// Deadlocks and their like are not asked of quotients.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(&self.table)
    }

    fn persist(&self) -> Option<&dyn Persist> {
        self.original.persist()
    }
}

impl Describe for QuotientModel {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        self.original.shared_values(s)
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.original.local_values(l)
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.original.place(l)
    }

    fn edge_place(&self, edge: Edge) -> Place {
        let mut places = self.path(edge).map(|(_, step)| self.original.edge_place(step.edge));
        let mut place = places.next().unwrap_or_default();
        places.for_each(|next| place.text = format!("{}; {}", place.text, next.text));
        place
    }

    fn way(&self, edge: Edge) -> Option<String> {
        self.path(edge).last().and_then(|(_, step)| self.original.way(step.edge))
    }

    fn shared_bits(&self, s: Shared) -> Vec<(String, String)> {
        self.original.shared_bits(s)
    }

    fn local_bits(&self, l: Local) -> Vec<(String, String)> {
        self.original.local_bits(l)
    }

    fn shared_name(&self, s: Shared) -> String {
        self.original.shared_name(s)
    }

    fn local_name(&self, l: Local) -> String {
        self.original.local_name(l)
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::thread_step;
    use super::*;

    fn model(steps: &[(u64, u64, u64, u64)]) -> Arc<dyn Model> {
        let mut table = Table::new(Names::Numbers(9), Names::Numbers(9));
        for &(from, l, to, m) in steps {
            table.add(thread_step(from, l, to, m), vec![], Place::default());
        }
        Arc::new(table)
    }

    fn bag(ls: &[u64]) -> Bag {
        ls.iter().map(|&l| Local(l)).collect()
    }

    fn skip(states: &[u64]) -> QuotientMap {
        QuotientMap { skipped: states.iter().map(|&s| Shared(s)).collect(), merged: Vec::new() }
    }

    #[test]
    fn merged_states_share_their_steps() {
        let steps = [(0, 1, 1, 2), (0, 3, 1, 4), (1, 2, 0, 5), (1, 6, 2, 6)];
        let merged = vec![(Local(3), Some(Local(1))), (Local(4), Some(Local(2))), (Local(5), None)];
        let map = QuotientMap { skipped: vec![Shared(1), Shared(2)], merged };
        let quotient = QuotientModel::new(model(&steps), &map).unwrap();
        let [step] = quotient.table.steps() else { panic!("one path") };
        assert_eq!((&step.take, &step.put), (&bag(&[1]), &bag(&[])), "threads at 5 are removed");
        let options: Vec<usize> = quotient.options(step).map(Iterator::count).collect();
        assert_eq!(options, [2, 1]);
    }

    #[test]
    fn a_path_takes_what_it_does_not_bring_itself() {
        let rendezvous = model(&[(0, 1, 5, 2), (5, 3, 6, 4), (6, 2, 0, 7)]);
        let quotient = QuotientModel::new(rendezvous, &skip(&[5, 6])).unwrap();
        let [step] = quotient.table.steps() else { panic!("one path") };
        assert_eq!((step.from, step.to), (Shared(0), Shared(0)));
        assert_eq!(
            (&step.take, &step.put),
            (&bag(&[1, 3]), &bag(&[4, 7])),
            "the thread put at 2 is taken again"
        );
        assert_eq!(quotient.options(step).count(), 3);
    }

    #[test]
    fn a_path_that_cannot_be_counted_is_none() {
        let many = |n: u32| {
            let mut table = Table::new(Names::Numbers(9), Names::Numbers(9));
            for (from, to) in [(0, 5), (5, 0)] {
                let put: Bag = [(Local(2), n)].into_iter().collect();
                table.add(Step { put, ..thread_step(from, 1, to, 1) }, vec![], Place::default());
            }
            QuotientModel::new(Arc::new(table), &skip(&[5]))
        };
        let put = many((1 << 30) - 1).unwrap().table.steps()[0].put.clone();
        assert_eq!(put.count(Local(2)), (1 << 31) - 2);
        assert!(many(1 << 30).is_err_and(|why| why.contains("count")));
    }

    #[test]
    fn dead_ends_idle_paths_and_repetitions_are_left_out() {
        let steps = [
            (0, 1, 5, 2),
            (5, 2, 0, 1),
            (0, 1, 6, 2),
            (0, 3, 7, 4),
            (0, 3, 8, 4),
            (7, 4, 0, 3),
            (8, 4, 1, 4),
        ];
        let quotient = QuotientModel::new(model(&steps), &skip(&[5, 6, 7])).unwrap();
        assert_eq!(quotient.table.steps().len(), 2, "only over 8, which is not skipped");
    }

    #[test]
    fn too_many_paths_are_refused() {
        // Two steps from each state to the next make 2⁴⁰ paths.
        let ways: Vec<_> = (0..40).flat_map(|s| [(s, 1, s + 1, 1), (s, 2, s + 1, 2)]).collect();
        let skipped: Vec<u64> = (1..40).collect();
        assert!(QuotientModel::new(model(&ways), &skip(&skipped)).is_err_and(|why| why.contains("paths")));
    }

    #[test]
    fn a_cycle_is_refused() {
        let cycle = model(&[(0, 1, 5, 2), (5, 2, 6, 3), (6, 3, 5, 2), (6, 4, 0, 4)]);
        assert!(QuotientModel::new(cycle.clone(), &skip(&[5, 6])).is_err());
        assert!(QuotientModel::new(cycle, &skip(&[5])).is_ok());
        let own = model(&[(0, 1, 5, 2), (5, 2, 5, 3), (5, 3, 0, 3)]);
        assert!(QuotientModel::new(own, &skip(&[5])).is_err());
    }
}
