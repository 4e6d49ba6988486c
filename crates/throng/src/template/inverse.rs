//! The moves of a template, indexed by their targets.

use rustc_hash::{FxHashMap, FxHashSet};

use throng_model::{Bystanders, Incomplete, Local, Model, Shared, Step};

/// The possible steps, indexed by both ends.
pub(super) struct Inverse {
    views: Vec<(Shared, Vec<Local>)>,
    /// The position of each shared state's view.
    places: FxHashMap<Shared, usize>,
    steps: Vec<Step>,
    /// Steps that leave a thread in a state.
    arrivals: FxHashMap<(Shared, Local), Vec<u32>>,
    /// Steps that change the shared state to a state.
    changes: FxHashMap<Shared, Vec<u32>>,
}

impl Inverse {
    /// Lists the steps of `model` between the thread states `views`.
    pub(super) fn new(model: &dyn Model, views: Vec<(Shared, Vec<Local>)>) -> Result<Inverse, Incomplete> {
        let mut inverse = Inverse {
            places: views.iter().enumerate().map(|(i, view)| (view.0, i)).collect(),
            steps: Vec::new(),
            arrivals: FxHashMap::default(),
            changes: FxHashMap::default(),
            views: Vec::new(),
        };
        for (s, view) in &views {
            let occurs: FxHashSet<Local> = view.iter().copied().collect();
            let mut steps = Vec::new();
            view.iter().try_for_each(|&l| model.post(*s, l, &mut steps))?;
            steps.retain(|step| step.take.entries().iter().all(|e| occurs.contains(&e.0)));
            steps.into_iter().try_for_each(|step| inverse.add(model, view, step))?;
        }
        Ok(Inverse { views, ..inverse })
    }

    fn add(&mut self, model: &dyn Model, view: &[Local], step: Step) -> Result<(), Incomplete> {
        let number = self.steps.len() as u32;
        let brought = step.put.entries().iter().chain(step.spawn.entries());
        let mut arrivals: FxHashSet<Local> = brought.map(|e| e.0).collect();
        if step.others == Bystanders::Transfer {
            let mut fates = Vec::new();
            view.iter().try_for_each(|&l| model.bystander(&step, l, &mut fates))?;
            arrivals.extend(fates.into_iter().flatten());
        }
        for l in arrivals {
            self.arrivals.entry((step.to, l)).or_default().push(number);
        }
        if step.from != step.to {
            self.changes.entry(step.to).or_default().push(number);
        }
        self.steps.push(step);
        Ok(())
    }

    /// Returns every shared state that may occur, with its local states.
    pub(super) fn views(&self) -> &[(Shared, Vec<Local>)] {
        &self.views
    }

    /// Returns the local states that may occur in a shared state.
    pub(super) fn view(&self, s: Shared) -> &[Local] {
        self.places.get(&s).map_or(&[], |&i| &self.views[i].1)
    }

    pub(super) fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) {
        self.append(self.arrivals.get(&(s, l)), out);
    }

    pub(super) fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) {
        self.append(self.changes.get(&s), out);
    }

    fn append(&self, found: Option<&Vec<u32>>, out: &mut Vec<Step>) {
        out.extend(found.into_iter().flatten().map(|&i| self.steps[i as usize].clone()));
    }

    pub(super) fn moves_others(&self) -> bool {
        self.steps.iter().any(|step| step.others != Bystanders::Stay)
    }

    pub(super) fn spawns(&self) -> bool {
        self.steps.iter().any(Step::creates)
    }
}
