//! Explicit models: thread-transition systems and nets are read as such.
//!
//! Steps are kept once, in input order; `post`, `pre` and `pre_shared` use three sorted indices.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::waiting::Waits;
use super::{
    Bag, Bystanders, Describe, Edge, Incomplete, Local, Model, Persist, Place, Predecessors, SetStates,
    Shared, Step, Traits, Transfers,
};

/// The fate of a bystander in a broadcast step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// It goes there.
    To(Local),
    /// It disappears (a net's reset).
    Vanish,
    /// It must not be there: it blocks the step (a net's zero test).
    Block,
}

/// An explicit model.
#[derive(Clone, Debug)]
pub struct Table {
    shared: Names,
    locals: Names,
    steps: Vec<Step>,
    /// The effect of each step on bystanders, sorted; those not listed stay.
    fates: Vec<Vec<(Local, Fate)>>,
    /// True if some step moves bystanders. Kept up to date, because every step asks for it.
    moves: bool,
    /// True if some step creates threads.
    creates: bool,
    /// The first step that a bystander may block.
    blocked: Option<Edge>,
    /// The location of each step in the input.
    places: Vec<Origin>,
    /// The text that [`Origin::Text`] points into.
    source: Arc<str>,
    index: Index,
}

/// The location of a step. Large files have a step per line, so that case is kept small.
#[derive(Clone, Debug)]
enum Origin {
    /// A passage of the source.
    Text { line: u32, start: u32, end: u32 },
    /// Anything else.
    Place(Box<Place>),
}

/// The names of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Numbers; there are this many states.
    Numbers(u64),
    /// These names.
    List(Vec<String>),
}

impl Default for Names {
    fn default() -> Names {
        Names::Numbers(0)
    }
}

impl Names {
    /// Returns the number of states.
    pub fn len(&self) -> u64 {
        match self {
            Names::Numbers(n) => *n,
            Names::List(names) => names.len() as u64,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of state `i`.
    pub fn name(&self, i: u64) -> String {
        match self {
            Names::Numbers(_) => i.to_string(),
            Names::List(names) => names.get(i as usize).cloned().unwrap_or_else(|| i.to_string()),
        }
    }
}

/// Indices of steps; each is built when first needed.
#[derive(Clone, Debug, Default)]
struct Index {
    forward: OnceLock<Forward>,
    backward: OnceLock<Backward>,
    /// Local states from which some step takes or moves a thread.
    taken: OnceLock<Vec<Local>>,
}

/// Steps by their beginning.
#[derive(Clone, Debug, Default)]
struct Forward {
    /// (from, leader) of steps that take a thread.
    by_leader: Vec<(Shared, Local, u32)>,
    /// `from` of steps that take no thread.
    leaderless: Vec<(Shared, u32)>,
}

/// Steps by their end.
#[derive(Clone, Debug, Default)]
struct Backward {
    /// (to, l) for every l that is put, spawned, or may be moved to.
    by_arrival: Vec<(Shared, Local, u32)>,
    /// `to` of steps that change the shared state or take no thread.
    by_shared: Vec<(Shared, u32)>,
}

impl Default for Table {
    fn default() -> Table {
        Table::new(Names::default(), Names::default())
    }
}

impl Table {
    /// Creates a table without steps.
    pub fn new(shared: Names, locals: Names) -> Table {
        Table {
            shared,
            locals,
            steps: Vec::new(),
            fates: Vec::new(),
            moves: false,
            creates: false,
            blocked: None,
            places: Vec::new(),
            source: Arc::from(""),
            index: Index::default(),
        }
    }

    /// Creates a table without steps, for steps that are written in `source`, one in about `length`
    /// bytes.
    pub fn of_source(shared: Names, locals: Names, source: &str, length: usize) -> Table {
        let mut table = Table { source: Arc::from(source), ..Table::new(shared, locals) };
        let expected = (source.len() / length.max(1)).min(1 << 20);
        table.steps.reserve(expected);
        table.fates.reserve(expected);
        table.places.reserve(expected);
        table
    }

    /// Adds local states with these names, if states have names.
    pub fn add_locals(&mut self, names: Vec<String>) {
        match &mut self.locals {
            Names::List(list) => list.extend(names),
            Names::Numbers(n) => *n += names.len() as u64,
        }
    }

    /// Adds a step and gives it its edge number. `fates` are its effects on bystanders;
    /// `step.others` and `step.edge` are set here.
    pub fn add(&mut self, step: Step, fates: Vec<(Local, Fate)>, place: Place) -> Edge {
        self.push(step, fates, Origin::Place(Box::new(place)))
    }

    /// Adds a step, as [`Table::add`] does, that is written at these bytes of the source, in this
    /// line.
    pub fn add_at(&mut self, step: Step, fates: Vec<(Local, Fate)>, line: u32, bytes: Range<u32>) -> Edge {
        self.push(step, fates, Origin::Text { line, start: bytes.start, end: bytes.end })
    }

    fn push(&mut self, mut step: Step, mut fates: Vec<(Local, Fate)>, place: Origin) -> Edge {
        fates.sort_unstable();
        fates.dedup();
        let edge = Edge(self.steps.len() as u32);
        step.edge = edge;
        step.others = if fates.is_empty() { Bystanders::Stay } else { Bystanders::Transfer };
        self.moves |= !fates.is_empty();
        self.creates |= step.creates();
        self.blocked = self.blocked.or(fates.iter().any(|f| f.1 == Fate::Block).then_some(edge));
        self.steps.push(step);
        self.fates.push(fates);
        self.places.push(place);
        self.index = Index::default();
        edge
    }

    /// Returns all steps in input order; step `i` has `Edge(i)`.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the effects of a step on bystanders, sorted by their local states; those not listed
    /// stay.
    pub fn fates(&self, edge: Edge) -> &[(Local, Fate)] {
        &self.fates[edge.0 as usize]
    }

    /// Returns the names of the shared states.
    pub fn shared(&self) -> &Names {
        &self.shared
    }

    /// Returns the names of the local states.
    pub fn locals(&self) -> &Names {
        &self.locals
    }

    fn forward(&self) -> &Forward {
        self.index.forward.get_or_init(|| {
            let mut index = Forward::default();
            for (i, step) in (0..).zip(&self.steps) {
                match step.take.entries().first() {
                    Some(&(leader, _)) => index.by_leader.push((step.from, leader, i)),
                    None => index.leaderless.push((step.from, i)),
                }
            }
            index.by_leader.sort_unstable();
            index.leaderless.sort_unstable();
            index
        })
    }

    fn backward(&self) -> &Backward {
        self.index.backward.get_or_init(|| {
            let mut index = Backward::default();
            for ((i, step), fates) in (0..).zip(&self.steps).zip(&self.fates) {
                let moved = fates.iter().filter_map(|f| match f.1 {
                    Fate::To(l) => Some(l),
                    Fate::Vanish | Fate::Block => None,
                });
                let arrivals = step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0);
                index.by_arrival.extend(arrivals.chain(moved).map(|l| (step.to, l, i)));
                if step.from != step.to || step.take.is_empty() {
                    index.by_shared.push((step.to, i));
                }
            }
            index.by_arrival.sort_unstable();
            index.by_arrival.dedup();
            index.by_shared.sort_unstable();
            index
        })
    }

    fn taken(&self) -> &[Local] {
        self.index.taken.get_or_init(|| {
            let taken = self.steps.iter().flat_map(|step| step.take.entries()).map(|e| e.0);
            let leaves = |f: &&(Local, Fate)| ![Fate::To(f.0), Fate::Block].contains(&f.1);
            let moved = self.fates.iter().flatten().filter(leaves).map(|f| f.0);
            let mut taken: Vec<Local> = taken.chain(moved).collect();
            taken.sort_unstable();
            taken.dedup();
            taken
        })
    }

    fn fates_of<'a>(&'a self, step: &Step, l: Local) -> impl Iterator<Item = Fate> + 'a {
        let fates = &self.fates[step.edge.0 as usize];
        let from = fates.partition_point(|f| f.0 < l);
        fates[from..].iter().take_while(move |f| f.0 == l).map(|f| f.1)
    }

    fn listed_at(&self, list: &[(Shared, u32)], s: Shared, out: &mut Vec<Step>) {
        let from = list.partition_point(|e| e.0 < s);
        out.extend(list[from..].iter().take_while(|e| e.0 == s).map(|e| self.steps[e.1 as usize].clone()));
    }

    fn triples(&self, list: &[(Shared, Local, u32)], s: Shared, l: Local, out: &mut Vec<Step>) {
        let from = list.partition_point(|e| (e.0, e.1) < (s, l));
        // Counting first allows one reservation: a hub has thousands of steps.
        let count = list[from..].iter().take_while(|e| (e.0, e.1) == (s, l)).count();
        out.extend(list[from..from + count].iter().map(|e| self.steps[e.2 as usize].clone()));
    }
}

impl Model for Table {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.triples(&self.forward().by_leader, s, l, out);
        Ok(())
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.listed_at(&self.forward().leaderless, s, out);
        Ok(())
    }

    fn traits(&self) -> Traits {
        let blocking = self.blocked.map(|edge| {
            let place = self.edge_place(edge);
            format!(
                "line {}: `{}` tests that a place is empty or holds an exact number of tokens",
                place.line, place.text
            )
        });
        Traits { blocking, spawns: self.creates }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        self.moves.then_some(self)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    /// Returns whether no step takes a thread from there.
    fn has_ended(&self, l: Local) -> bool {
        self.taken().binary_search(&l).is_err()
    }

    /// Systems and nets have no loops that are written as such.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(self)
    }

    fn persist(&self) -> Option<&dyn Persist> {
        Some(self)
    }
}

impl Transfers for Table {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let mut stays = true;
        for fate in self.fates_of(step, l) {
            stays = false;
            match fate {
                Fate::To(m) => out.push(Some(m)),
                Fate::Vanish => out.push(None),
                Fate::Block => {}
            }
        }
        if stays {
            out.push(Some(l));
        }
        Ok(())
    }

    fn woken(&self, _: Local) -> Option<Local> {
        None
    }
}

impl Predecessors for Table {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.triples(&self.backward().by_arrival, s, l, out);
        Ok(())
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.listed_at(&self.backward().by_shared, s, out);
        Ok(())
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        if self.fates_of(step, l).next().is_none() {
            out.push(l);
        }
        out.extend(self.fates(step.edge).iter().filter(|f| f.1 == Fate::To(l)).map(|f| f.0));
        Ok(())
    }

    fn woken_back(&self, _: Local, _: &mut Vec<Local>) {}

    fn waiting(&self, _: &mut Vec<Local>) {}

    fn listed(&self) -> Option<&[Step]> {
        Some(&self.steps)
    }
}

impl Persist for Table {
    fn export_states(&self) -> Vec<u8> {
        Vec::new()
    }

    fn import_states(&self, states: &[u8]) -> bool {
        states.is_empty()
    }
}

impl Describe for Table {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        if self.shared.len() <= 1 { Vec::new() } else { vec![("shared".into(), self.shared.name(s.0))] }
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        vec![("local".into(), self.locals.name(l.0))]
    }

    fn place(&self, _: Local) -> Option<Place> {
        None
    }

    fn edge_place(&self, edge: Edge) -> Place {
        match &self.places[edge.0 as usize] {
            Origin::Place(place) => (**place).clone(),
            &Origin::Text { line, start, end } => {
                let passage = self.source.get(start as usize..end as usize).unwrap_or_default();
                let before = self.source.get(..start as usize).unwrap_or_default();
                let column = before[before.rfind('\n').map_or(0, |i| i + 1)..].chars().count() as u32 + 1;
                Place { line, column, text: one_line(passage), ..Place::default() }
            }
        }
    }

    fn shared_name(&self, s: Shared) -> String {
        if self.shared.len() <= 1 { String::new() } else { self.shared.name(s.0) }
    }

    fn local_name(&self, l: Local) -> String {
        self.locals.name(l.0)
    }
}

/// Returns a passage without comments and line breaks, with single blanks; long ones are cut.
fn one_line(passage: &str) -> String {
    let mut text = String::new();
    let lines = passage.lines().map(|line| line.split('#').next().unwrap_or_default());
    for word in lines.flat_map(str::split_whitespace) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
        if text.len() > 200 {
            text.truncate(text.floor_char_boundary(200));
            text.push('…');
            break;
        }
    }
    text
}

/// Builds a step of a single thread: `s l -> s' l'`. Broadcasts, spawns and other effects are added
/// by [`Table::add`] or the caller.
pub fn thread_step(from: u64, l: u64, to: u64, m: u64) -> Step {
    Step {
        from: Shared(from),
        to: Shared(to),
        take: Bag::one(Local(l)),
        put: Bag::one(Local(m)),
        spawn: Bag::new(),
        others: Bystanders::Stay,
        edge: Edge(0),
        choice: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the example of reference 3.7: a spawner in 0, workers in 1; one worker wins and
    /// sends all others to 3.
    fn winner() -> Table {
        let mut table = Table::new(Names::Numbers(3), Names::Numbers(4));
        let spawn = Step { spawn: Bag::one(Local(1)), ..thread_step(0, 0, 1, 0) };
        table.add(spawn, vec![], Place::default());
        table.add(thread_step(1, 0, 0, 0), vec![], Place::default());
        table.add(thread_step(0, 1, 2, 2), vec![(Local(1), Fate::To(Local(3)))], Place::default());
        table
    }

    #[test]
    fn steps_are_found_from_both_ends() {
        let table = winner();
        let mut out = Vec::new();
        table.post(Shared(0), Local(1), &mut out).unwrap();
        assert_eq!(out, [table.steps()[2].clone()]);
        for arrived in [2, 3] {
            out.clear();
            table.pre(Shared(2), Local(arrived), &mut out).unwrap();
            assert_eq!(out, [table.steps()[2].clone()], "put at 2, carried along to 3");
        }
        out.clear();
        table.pre_shared(Shared(1), &mut out).unwrap();
        assert_eq!(out, [table.steps()[0].clone()]);
    }

    #[test]
    fn bystanders_are_moved_and_found_back() {
        let table = winner();
        let step = &table.steps()[2];
        let (mut fates, mut origins) = (Vec::new(), Vec::new());
        Transfers::bystander(&table, step, Local(1), &mut fates).unwrap();
        Transfers::bystander(&table, step, Local(0), &mut fates).unwrap();
        assert_eq!(fates, [Some(Local(3)), Some(Local(0))]);
        table.bystander_back(step, Local(3), &mut origins).unwrap();
        assert_eq!(origins, [Local(3), Local(1)]);
        origins.clear();
        table.bystander_back(step, Local(1), &mut origins).unwrap();
        assert!(origins.is_empty());
    }
}
