//! A smaller model: some local states are taken for others, and some shared states are only passed through.
//!
//! # Merged local states
//!
//! Let h say what each local state is taken for: another one, or nobody. Whatever the original can do, the model with every step ⟨take → put⟩ replaced by
//! ⟨h(take) → h(put)⟩ can do to the images of its configurations, whatever h is. So what is not coverable there is not coverable in the original. (That the converse
//! holds as well is up to who chooses h, `contract/equivalent.rs`.)
//!
//! # Skipped shared states
//!
//! While the shared state is `m`, only steps from `m` can fire. So if nothing starts in `m`, nothing bad is in `m`, and
//! no cycle of steps stays within such states, a run is a sequence of *paths* between other shared states (and perhaps the beginning of
//! one more path, which meets nothing bad). A path of steps ⟨take₁→put₁⟩, ⟨take₂→put₂⟩ in which bystanders stay needs exactly
//! take₁ + (take₂ ∖ put₁) and leaves put₂ + (put₁ ∖ take₂) in their place: it is a step itself. What is coverable at the other shared states is the
//! same in both models, for any number of threads. (In nets this is called agglomeration, Berthelot 1986.)
//!
//! The steps into and out of them become one.
//!
//! The checker rebuilds this model from a [`Contraction`], so that is all that evidence has to name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::table::{Names, Table};
use super::{Bag, Config, Edge, Local, Model, Others, Place, Shared, Step};

/// How a smaller model is made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contraction {
    /// Shared states that are only passed through. Nothing starts in them and nothing bad is in them.
    pub skipped: Vec<Shared>,
    /// Local states that are taken for another, or for nobody at all; sorted.
    pub merged: Vec<(Local, Option<Local>)>,
}

impl Contraction {
    /// Who is there, if local states are merged.
    pub fn merge(&self, threads: &Bag) -> Bag {
        threads.entries().iter().filter_map(|&(l, n)| Some((self.merge_one(l)?, n))).collect()
    }

    /// What a local state is taken for.
    pub fn merge_one(&self, l: Local) -> Option<Local> {
        match self.merged.binary_search_by_key(&l, |e| e.0) {
            Ok(at) => self.merged[at].1,
            Err(_) => Some(l),
        }
    }

    /// A configuration of the smaller model.
    pub fn merge_config(&self, config: &Config) -> Config {
        Config::new(config.shared, self.merge(&config.threads))
    }
}

/// See the module documentation.
pub struct Through {
    original: Arc<dyn Model>,
    table: Table,
    /// The steps that make up each step of the table, local states merged.
    paths: Vec<Vec<Step>>,
    /// The steps of the original that are such a step; in `edge` there is the number of its entry here.
    origins: Vec<Vec<Step>>,
}

/// More steps than this are not built: passing through states is meant to make models smaller.
const MOST_STEPS: usize = 1 << 23;

/// A step made of several.
#[derive(Clone)]
struct Path {
    steps: Vec<Step>,
    take: Bag,
    put: Bag,
}

impl Path {
    fn one(step: &Step) -> Path {
        let mut put = step.put.clone();
        put.add_all(&step.spawn);
        Path { steps: vec![step.clone()], take: step.take.clone(), put }
    }

    /// First this, then `later`.
    fn then(&self, later: &Path) -> Path {
        let mut take = self.take.clone();
        take.add_all(&without(&later.take, &self.put));
        let mut put = later.put.clone();
        put.add_all(&without(&self.put, &later.take));
        Path { steps: self.steps.iter().chain(&later.steps).cloned().collect(), take, put }
    }
}

/// What of `a` is not in `b`.
fn without(a: &Bag, b: &Bag) -> Bag {
    let mut rest = a.clone();
    b.entries().iter().for_each(|&(l, n)| _ = rest.remove(l, n));
    rest
}

impl Through {
    /// `model` made smaller; or why that is not possible.
    ///
    /// Whoever asks sees to it that nothing starts and nothing bad is in a skipped state.
    pub fn new(model: Arc<dyn Model>, contraction: &Contraction) -> Result<Through, String> {
        let Some(listed) = model.listed() else { return Err("the model does not list its steps".into()) };
        if listed.iter().any(|s| s.others != Others::Stay) {
            return Err("a step moves bystanders".into());
        }
        let (listed, origins) = merge(listed, contraction);
        let skipped: HashSet<Shared> = contraction.skipped.iter().copied().collect();
        let mut from: HashMap<Shared, Vec<&Step>> = HashMap::new();
        for step in listed.iter().filter(|s| skipped.contains(&s.from)) {
            from.entry(step.from).or_default().push(step);
        }
        let tails = tails(&from, &skipped)?;
        let mut built: HashSet<(Shared, Shared, Bag, Bag)> = HashSet::new();
        let (mut table, mut paths) = (Table::new(Names::Numbers(0), Names::Numbers(0)), Vec::new());
        for step in listed.iter().filter(|s| !skipped.contains(&s.from)) {
            let first = Path::one(step);
            let whole: Vec<Path> = match tails.get(&step.to) {
                Some(tails) => tails.iter().map(|tail| first.then(tail)).collect(),
                None => vec![first],
            };
            for Path { steps, take, put } in whole {
                let to = steps[steps.len() - 1].to;
                let idle = step.from == to && take == put;
                if idle || !built.insert((step.from, to, take.clone(), put.clone())) {
                    continue;
                }
                if paths.len() == MOST_STEPS {
                    return Err("there are too many paths".into());
                }
                let spawn = Bag::new();
                let whole = Step { to, take, put, spawn, ..step.clone() };
                table.add(whole, Vec::new(), Place::default());
                paths.push(steps);
            }
        }
        Ok(Through { original: model, table, paths, origins })
    }

    /// One after the other, what `step` stands for: for each, the steps of the original model that it may be.
    pub fn path(&self, step: &Step) -> impl Iterator<Item = &[Step]> {
        self.paths[step.edge.0 as usize].iter().map(|step| &self.origins[step.edge.0 as usize][..])
    }
}

/// Steps between merged local states, each once, and which steps they are made of. What is created counts as put.
fn merge(steps: &[Step], contraction: &Contraction) -> (Vec<Step>, Vec<Vec<Step>>) {
    let mut found: HashMap<(Shared, Shared, Bag, Bag), usize> = HashMap::new();
    let (mut merged, mut origins): (Vec<Step>, Vec<Vec<Step>>) = (Vec::new(), Vec::new());
    for step in steps {
        let (take, mut put) = (contraction.merge(&step.take), contraction.merge(&step.put));
        put.add_all(&contraction.merge(&step.spawn));
        let new = merged.len();
        let at = match contraction.merged.is_empty() {
            true => new,
            false => *found.entry((step.from, step.to, take.clone(), put.clone())).or_insert(new),
        };
        if at == new {
            merged.push(Step { take, put, spawn: Bag::new(), edge: Edge(at as u32), ..step.clone() });
            origins.push(Vec::new());
        }
        origins[at].push(step.clone());
    }
    (merged, origins)
}

/// For every skipped state, the paths from it to states that are not skipped.
fn tails(
    from: &HashMap<Shared, Vec<&Step>>,
    skipped: &HashSet<Shared>,
) -> Result<HashMap<Shared, Vec<Path>>, String> {
    let mut tails: HashMap<Shared, Vec<Path>> = HashMap::new();
    let mut begun: HashSet<Shared> = HashSet::new();
    let mut total = 0;
    let mut stack: Vec<Shared> = skipped.iter().copied().collect();
    while let Some(&m) = stack.last() {
        if tails.contains_key(&m) {
            stack.pop();
            continue;
        }
        let steps = from.get(&m).map_or(&[][..], Vec::as_slice);
        let open = |s: &&&Step| skipped.contains(&s.to) && !tails.contains_key(&s.to);
        if begun.insert(m) {
            stack.extend(steps.iter().filter(open).map(|s| s.to));
            continue;
        }
        if steps.iter().any(|s| open(&s)) {
            return Err("a cycle of steps stays within the skipped states".into());
        }
        let mut of_m = Vec::new();
        for &step in steps {
            let first = Path::one(step);
            match tails.get(&step.to) {
                Some(later) => of_m.extend(later.iter().map(|tail| first.then(tail))),
                None => of_m.push(first),
            }
            if total + of_m.len() > MOST_STEPS {
                return Err("there are too many paths".into());
            }
        }
        total += of_m.len();
        tails.insert(m, of_m);
        stack.pop();
    }
    Ok(tails)
}

impl Model for Through {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) {
        self.table.post(s, l, out);
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) {
        self.table.post_shared(s, out);
    }

    fn has_pre(&self) -> bool {
        true
    }

    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) {
        self.table.pre(s, l, out);
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) {
        self.table.pre_shared(s, out);
    }

    fn spawns(&self) -> bool {
        false
    }

    fn listed(&self) -> Option<&[Step]> {
        Some(self.table.steps())
    }

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
        let steps = &self.paths[edge.0 as usize];
        let place_of = |step: &Step| self.original.edge_place(self.origins[step.edge.0 as usize][0].edge);
        let mut place = place_of(&steps[0]);
        for step in &steps[1..] {
            place.text = format!("{}; {}", place.text, place_of(step).text);
        }
        place
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

    fn skip(states: &[u64]) -> Contraction {
        Contraction { skipped: states.iter().map(|&s| Shared(s)).collect(), merged: Vec::new() }
    }

    #[test]
    fn merged_states_share_their_steps() {
        let steps = [(0, 1, 1, 2), (0, 3, 1, 4), (1, 2, 0, 5), (1, 6, 1, 6)];
        let merged = vec![(Local(3), Some(Local(1))), (Local(4), Some(Local(2))), (Local(5), None)];
        let through = Through::new(model(&steps), &Contraction { skipped: vec![Shared(1)], merged }).unwrap();
        let [step] = through.listed().unwrap() else { panic!("one path") };
        assert_eq!((&step.take, &step.put), (&bag(&[1]), &bag(&[])), "5 is nobody");
        let origins: Vec<usize> = through.path(step).map(<[Step]>::len).collect();
        assert_eq!(origins, [2, 1]);
    }

    #[test]
    fn a_path_takes_what_it_does_not_bring_itself() {
        let rendezvous = model(&[(0, 1, 5, 2), (5, 3, 6, 4), (6, 2, 0, 7)]);
        let through = Through::new(rendezvous, &skip(&[5, 6])).unwrap();
        let [step] = through.listed().unwrap() else { panic!("one path") };
        assert_eq!((step.from, step.to), (Shared(0), Shared(0)));
        assert_eq!(
            (&step.take, &step.put),
            (&bag(&[1, 3]), &bag(&[4, 7])),
            "the thread put at 2 is taken again"
        );
        assert_eq!(through.path(step).count(), 3);
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
        let through = Through::new(model(&steps), &skip(&[5, 6, 7])).unwrap();
        assert_eq!(through.listed().unwrap().len(), 2, "only over 8, which is not skipped");
    }

    #[test]
    fn a_cycle_is_refused() {
        let cycle = model(&[(0, 1, 5, 2), (5, 2, 6, 3), (6, 3, 5, 2), (6, 4, 0, 4)]);
        assert!(Through::new(cycle.clone(), &skip(&[5, 6])).is_err());
        assert!(Through::new(cycle, &skip(&[5])).is_ok());
        let own = model(&[(0, 1, 5, 2), (5, 2, 5, 3), (5, 3, 0, 3)]);
        assert!(Through::new(own, &skip(&[5])).is_err());
    }
}
