//! Random models and problems, from a seed.

use std::sync::Arc;

use crate::Rng;
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::table::{Fate, Names, Table};
use throng_model::waiting::Waits;
use throng_model::{
    Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, Predecessors, SetStates,
    Shared, Step, Traits, Transfers,
};

/// Knobs for what a random table may have, each in per cent of the steps.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// Shared states.
    pub shared: u64,
    /// Local states.
    pub locals: u64,
    /// Steps.
    pub steps: u64,
    /// Steps that create one or two threads.
    pub spawns: u64,
    /// Steps whose thread ends.
    pub exits: u64,
    /// Steps that take and put several threads.
    pub multi: u64,
    /// Steps that take no thread.
    pub leaderless: u64,
    /// Steps that move bystanders.
    pub broadcasts: u64,
    /// Fates that let a bystander vanish.
    pub vanish: u64,
    /// Fates that block.
    pub block: u64,
}

impl Default for Knobs {
    fn default() -> Knobs {
        Knobs {
            shared: 3,
            locals: 4,
            steps: 9,
            spawns: 15,
            exits: 10,
            multi: 15,
            leaderless: 5,
            broadcasts: 15,
            vanish: 10,
            block: 5,
        }
    }
}

/// A random table.
pub fn random_table(rng: &mut Rng, knobs: &Knobs) -> Table {
    let mut table = Table::new(Names::Numbers(knobs.shared), Names::Numbers(knobs.locals));
    for _ in 0..knobs.steps {
        let step = random_step(rng, knobs);
        let fates = if rng.chance(knobs.broadcasts) { random_fates(rng, knobs) } else { Vec::new() };
        table.add(step, fates, Place::default());
    }
    table
}

fn random_step(rng: &mut Rng, knobs: &Knobs) -> Step {
    let locals = knobs.locals;
    let one = |rng: &mut Rng| Bag::one(Local(rng.below(locals)));
    let (mut take, mut put, mut spawn) = (one(rng), one(rng), Bag::new());
    if rng.chance(knobs.multi) {
        take.add_all(&rng.bag(locals, 2));
        put = rng.bag(locals, 3);
    } else if rng.chance(knobs.leaderless) {
        (take, put) = (Bag::new(), rng.bag(locals, 1));
    } else if rng.chance(knobs.exits) {
        put = Bag::new();
    }
    if rng.chance(knobs.spawns) {
        spawn = one(rng);
        spawn.add_all(&rng.bag(locals, 1));
    }
    let (from, to) = (Shared(rng.below(knobs.shared)), Shared(rng.below(knobs.shared)));
    Step { from, to, take, put, spawn, others: Bystanders::Stay, edge: Edge(0), choice: 0 }
}

fn random_fates(rng: &mut Rng, knobs: &Knobs) -> Vec<(Local, Fate)> {
    let fate = |rng: &mut Rng| {
        let from = Local(rng.below(knobs.locals));
        if rng.chance(knobs.vanish) {
            (from, Fate::Vanish)
        } else if rng.chance(knobs.block) {
            (from, Fate::Block)
        } else {
            (from, Fate::To(Local(rng.below(knobs.locals))))
        }
    };
    (0..=rng.below(3)).map(|_| fate(rng)).collect()
}

/// A table in which some edges are signals and some states wait for one.
#[derive(Clone, Debug)]
pub struct Signals {
    /// The rest.
    pub table: Table,
    /// These edges, unless they move bystanders, wake a thread.
    pub signals: Vec<Edge>,
    /// Local states where threads wait, and where they go when woken.
    pub waiting: Vec<(Local, Local)>,
}

impl Signals {
    /// Makes some steps of a table signals, and lets threads wait in one of its states.
    pub fn random(rng: &mut Rng, table: Table) -> Signals {
        let locals = table.locals().len();
        let signals = table.steps().iter().map(|s| s.edge).filter(|_| rng.chance(30)).collect();
        Signals { table, signals, waiting: vec![(Local(rng.below(locals)), Local(rng.below(locals)))] }
    }

    fn with_signals(&self, first: usize, out: &mut [Step]) {
        for step in &mut out[first..] {
            if step.others == Bystanders::Stay && self.signals.contains(&step.edge) {
                step.others = Bystanders::WakeOne;
            }
        }
    }
}

impl Model for Signals {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let first = out.len();
        self.table.post(s, l, out)?;
        self.with_signals(first, out);
        Ok(())
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let first = out.len();
        self.table.post_shared(s, out)?;
        self.with_signals(first, out);
        Ok(())
    }

    fn traits(&self) -> Traits {
        self.table.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, l: Local) -> bool {
        self.table.has_ended(l) && self.woken(l).is_none()
    }

    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(self)
    }
}

impl Transfers for Signals {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        self.table.bystander(step, l, out)
    }

    fn woken(&self, l: Local) -> Option<Local> {
        self.waiting.iter().find(|w| w.0 == l).map(|w| w.1)
    }
}

impl Predecessors for Signals {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let first = out.len();
        self.table.pre(s, l, out)?;
        if self.waiting.iter().any(|w| w.1 == l) {
            let woke = |step: &&Step| step.to == s && self.signals.contains(&step.edge);
            out.extend(self.table.steps().iter().filter(woke).cloned());
        }
        self.with_signals(first, out);
        Ok(())
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let first = out.len();
        self.table.pre_shared(s, out)?;
        self.with_signals(first, out);
        Ok(())
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        self.table.bystander_back(step, l, out)
    }

    fn woken_back(&self, l: Local, out: &mut Vec<Local>) {
        out.extend(self.waiting.iter().filter(|w| w.1 == l).map(|w| w.0));
    }

    fn waiting(&self, out: &mut Vec<Local>) {
        out.extend(self.waiting.iter().map(|w| w.0));
    }
}

impl Describe for Signals {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        self.table.shared_values(s)
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.table.local_values(l)
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.table.place(l)
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.table.edge_place(edge)
    }
}

/// A random question about `model`, which has as many states as `knobs` says.
pub fn random_problem(rng: &mut Rng, knobs: &Knobs, model: Arc<dyn Model>, bound: Bound) -> Problem {
    let initial = |rng: &mut Rng| Initial {
        shared: Shared(rng.below(knobs.shared)),
        threads: rng.bag(knobs.locals, 2),
        any: (0..rng.below(3)).map(|_| Local(rng.below(knobs.locals))).collect(),
    };
    let target = |rng: &mut Rng, i: u64| {
        Target::covering(format!("target {i}"), random_configs(rng, knobs, 1 + i % 2, 3))
    };
    let initial = (0..=rng.below(2)).map(|_| initial(rng)).collect();
    let targets = (0..=rng.below(5)).map(|i| target(rng, i)).collect();
    Problem { model, initial, initial_text: "random".into(), targets, bound }
}

/// Generates `count` random configurations of up to `most` threads.
pub fn random_configs(rng: &mut Rng, knobs: &Knobs, count: u64, most: u64) -> Vec<Config> {
    let config = |rng: &mut Rng| Config::new(Shared(rng.below(knobs.shared)), rng.bag(knobs.locals, most));
    (0..count).map(|_| config(rng)).collect()
}
