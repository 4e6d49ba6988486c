//! Localisation: a model with some of a program's variables left open, and with places of control
//! merged.
//!
//! Let h map every state to another one: of the shared variables and of those of a thread it keeps
//! some variables and leaves the others open, and a thread's place becomes that of its
//! representative. The model whose steps are the images of all steps, ⟨s, l⟩ → ⟨s′, l′⟩ as ⟨h(s),
//! h(l)⟩ → ⟨h(s′), h(l′)⟩, simulates the original, whatever h is: what is not coverable there is
//! not coverable in the original, for any number of threads and for any bound, because h neither
//! adds nor removes threads. The converse does not hold: a run of the localised model need not be
//! one of the original.
//!
//! The steps of ⟨s, l⟩ are found by asking the original about the states that h may have mapped
//! there: one cube for each place with the representative of `l`, in which only the kept variables
//! have a value. Original models are exact on cubes, so no step is missed.
//!
//! What a step does to bystanders is determined by the steps of the original that it is the image
//! of. A signal wakes one waiting thread, so either all places of a class wait or none does.
//!
//! States of the localised model are images: only kept variables have a value. The image of an
//! image is the image itself.
//!
//! The checker builds this model itself from a [`Localisation`], so which variables are kept and
//! which places are merged need not be believed.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::cubes::{Cube, Cubes, FREE};
use crate::problem::{Initial, Problem, Target};
use crate::waiting::Waits;
use crate::{
    Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, Predecessors, SetStates,
    Shared, Step, StopCheck, Traits, Transfers,
};

/// The variables and places of a program that are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Localisation {
    /// A shared state in which exactly the kept variables have a value; which value does not
    /// matter.
    pub shared: Shared,
    /// Classes of places: the representative, with every variable open, and the members, including
    /// it. In each member exactly the kept variables have a value: the same slots in all of them. A
    /// place in no class stays as it is, with all its variables.
    pub classes: Vec<(Local, Vec<Local>)>,
}

/// The image of the threads at a place.
struct Image {
    place: u32,
    /// The representative with every variable open.
    blank: Cube,
    /// For each slot, whether its value is kept.
    kept: Vec<bool>,
}

/// A place of a class.
struct Member {
    place: u32,
    /// The place, with values only for kept slots and slots that are not in use there.
    masks: Cube,
}

/// Steps of thread states, computed on demand.
type Listed = FxHashMap<(Shared, Local), Arc<[Step]>>;

/// A localised model; see the module documentation.
pub struct LocalisedModel {
    original: Arc<dyn Model>,
    kept: Vec<bool>,
    images: FxHashMap<u32, Image>,
    /// The members of each class, by the place of its representative.
    classes: FxHashMap<u32, Vec<Member>>,
    /// Steps computed so far: each list consists of the steps of all places of a class.
    steps: Mutex<Listed>,
    /// The steps of the original whose images were listed, by edge: they determine what bystanders
    /// do.
    originals: Mutex<IndexSet<Step, FxBuildHasher>>,
}

impl LocalisedModel {
    /// Builds the localised model, or says why there is none.
    pub fn new(original: Arc<dyn Model>, map: &Localisation) -> Result<LocalisedModel, String> {
        let Some(sets) = original.sets() else { return Err("the states of the model are not cubes".into()) };
        let cubes = sets.cubes();
        let kept = cubes.shared_cube(map.shared).1.iter().map(|&m| m != FREE).collect();
        let mut images: FxHashMap<u32, Image> = FxHashMap::default();
        let mut classes: FxHashMap<u32, Vec<Member>> = FxHashMap::default();
        for (representative, members) in &map.classes {
            let (place, blank) = cubes.local_cube(*representative);
            for &l in members {
                let (member, masks) = cubes.local_cube(l);
                let kept = |slot: usize| blank[slot] == FREE && masks.get(slot).is_some_and(|&m| m != FREE);
                let kept: Vec<bool> = (0..blank.len()).map(kept).collect();
                if images.insert(member, Image { place, blank: blank.clone(), kept }).is_some() {
                    return Err("a place is in two classes".into());
                }
                classes.entry(place).or_default().push(Member { place: member, masks });
            }
        }
        // Otherwise the image of an image could differ from the image.
        let own = |image: &Image| images.get(&image.place).filter(|own| own.place == image.place);
        if !images.values().all(|image| own(image).is_some_and(|own| own.kept == image.kept)) {
            return Err("the places of a class keep different variables".into());
        }
        let (steps, originals) = (Mutex::default(), Mutex::default());
        let model = LocalisedModel { original, kept, images, classes, steps, originals };
        // A signal wakes one waiting thread, so all places of a class wait or none does.
        let condition = |l: Local| model.original.transfers().map(|t| t.waits_for(l));
        let woken = |l: Local| model.original.woken(l).map(|woken| (model.local(woken), condition(l)));
        let alike = |ls: &Vec<Local>| ls.windows(2).all(|two| woken(two[0]) == woken(two[1]));
        match map.classes.iter().all(|(_, members)| alike(members)) {
            true => Ok(model),
            false => {
                Err("only some of the places of a class wait, or they are woken to different places".into())
            }
        }
    }

    fn cubes(&self) -> &dyn Cubes {
        self.original.sets().expect("checked when the model was built").cubes()
    }

    /// Returns the image of a shared state.
    pub fn shared(&self, s: Shared) -> Shared {
        let (inside, mut masks) = self.cubes().shared_cube(s);
        for (mask, &kept) in masks.iter_mut().zip(&self.kept) {
            if !kept {
                *mask = FREE;
            }
        }
        self.cubes().encode_shared(inside, &masks)
    }

    /// Returns the image of a local state.
    pub fn local(&self, l: Local) -> Local {
        let (place, masks) = self.cubes().local_cube(l);
        let Some(image) = self.images.get(&place) else { return l };
        let mut cube = image.blank.clone();
        for (slot, value) in cube.iter_mut().enumerate() {
            if image.kept[slot] && slot < masks.len() {
                *value = masks[slot];
            }
        }
        self.cubes().encode_local(image.place, &cube)
    }

    /// Returns the image of a multiset of threads.
    pub fn threads(&self, threads: &Bag) -> Bag {
        threads.entries().iter().map(|&(l, n)| (self.local(l), n)).collect()
    }

    /// Returns the image of a configuration.
    pub fn config(&self, config: &Config) -> Config {
        Config::new(self.shared(config.shared), self.threads(&config.threads))
    }

    /// Returns whether a shared state is an image: only kept variables have a value.
    pub fn is_image(&self, s: Shared) -> bool {
        self.shared(s) == s
    }

    /// Returns whether a local state is an image.
    pub fn is_local_image(&self, l: Local) -> bool {
        self.local(l) == l
    }

    /// Returns the local states whose image is `l`, as one cube for each place.
    fn origins(&self, l: Local) -> Vec<Local> {
        let (place, masks) = self.cubes().local_cube(l);
        let Some(image) = self.images.get(&place) else { return vec![l] };
        let members = self.classes.get(&image.place).into_iter().flatten();
        let origin = |member: &Member| {
            let mut cube = member.masks.clone();
            (0..masks.len()).filter(|&slot| image.kept[slot]).for_each(|slot| cube[slot] = masks[slot]);
            self.cubes().encode_local(member.place, &cube)
        };
        members.map(origin).collect()
    }

    /// Returns the images of steps, each once, without those that change nothing.
    fn images(&self, steps: &[Step]) -> Vec<Step> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut originals = self.originals.lock().unwrap_or_else(PoisonError::into_inner);
        // Most steps share a few shared states.
        let mut known: FxHashMap<Shared, Shared> = FxHashMap::default();
        let mut shared = |s: Shared| *known.entry(s).or_insert_with(|| self.shared(s));
        for step in steps {
            let image = Step {
                from: shared(step.from),
                to: shared(step.to),
                take: self.threads(&step.take),
                put: self.threads(&step.put),
                spawn: self.threads(&step.spawn),
                edge: Edge(0),
                choice: 0,
                others: step.others,
            };
            let stays = step.others == Bystanders::Stay;
            let idle = image.from == image.to && image.take == image.put && image.spawn.size() == 0;
            if stays && (idle || !seen.insert(image.clone())) {
                continue;
            }
            found.push(Step { edge: Edge(originals.insert_full(step.clone()).0 as u32), ..image });
        }
        found
    }

    /// Returns the step of the original that the step with this edge is the image of.
    pub fn original(&self, edge: Edge) -> Option<Step> {
        let originals = self.originals.lock().unwrap_or_else(PoisonError::into_inner);
        originals.get_index(edge.0 as usize).cloned()
    }

    /// Appends the images of local states, each once, after the present content of `out`.
    fn local_images(&self, ls: impl IntoIterator<Item = Local>, out: &mut Vec<Local>) {
        for image in ls.into_iter().map(|l| self.local(l)) {
            if !out.contains(&image) {
                out.push(image);
            }
        }
    }
}

/// Returns the localised problem for these bad configurations, and its model.
pub fn localise(
    problem: &Problem,
    target: &Target,
    map: &Localisation,
) -> Result<(Problem, Arc<LocalisedModel>), String> {
    let model = Arc::new(LocalisedModel::new(problem.model.clone(), map)?);
    let family = |family: &Initial| {
        let mut any: Vec<Local> = family.any.iter().map(|&l| model.local(l)).collect();
        any.sort_unstable();
        any.dedup();
        Initial { shared: model.shared(family.shared), threads: model.threads(&family.threads), any }
    };
    let initial = problem.initial.iter().map(family).collect();
    let mut configs: Vec<Config> = target.configs.iter().map(|bad| model.config(bad)).collect();
    configs.sort_unstable();
    configs.dedup();
    let targets = vec![target.with_configs(configs)];
    Ok((Problem { model: model.clone(), initial, targets, ..problem.clone() }, model))
}

impl Model for LocalisedModel {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let known = || self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(steps) = known().get(&(s, l)) {
            out.extend_from_slice(steps);
            return Ok(());
        }
        let mut steps = Vec::new();
        for origin in self.origins(l) {
            self.original.post(s, origin, &mut steps)?;
        }
        let images = self.images(&steps);
        out.extend_from_slice(&images);
        known().insert((s, l), images.into());
        Ok(())
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let mut steps = Vec::new();
        self.original.post_shared(s, &mut steps)?;
        out.extend(self.images(&steps));
        Ok(())
    }

    fn traits(&self) -> Traits {
        self.original.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        self.original.transfers().map(|_| self as &dyn Transfers)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        Some(self)
    }

    /// The image of several states has ended if all of them have.
    fn has_ended(&self, l: Local) -> bool {
        self.origins(l).iter().all(|&l| self.original.has_ended(l))
    }

    /// Deadlocks and their like are not asked of localised models.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        self.original.predecessors().map(|_| self as &dyn Predecessors)
    }
}

impl Predecessors for LocalisedModel {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let Some(original) = self.original.predecessors() else { return Ok(()) };
        let mut steps = Vec::new();
        self.origins(l).into_iter().try_for_each(|origin| original.pre(s, origin, &mut steps))?;
        out.extend(self.images(&steps));
        Ok(())
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let Some(original) = self.original.predecessors() else { return Ok(()) };
        let mut steps = Vec::new();
        original.pre_shared(s, &mut steps)?;
        out.extend(self.images(&steps));
        Ok(())
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        let (Some(back), Some(original)) = (self.original.predecessors(), self.original(step.edge)) else {
            return Ok(());
        };
        let mut found = Vec::new();
        self.origins(l).into_iter().try_for_each(|l| back.bystander_back(&original, l, &mut found))?;
        self.local_images(found, out);
        Ok(())
    }

    fn woken_back(&self, l: Local, out: &mut Vec<Local>) {
        let Some(back) = self.original.predecessors() else { return };
        let mut found = Vec::new();
        self.origins(l).into_iter().for_each(|l| back.woken_back(l, &mut found));
        self.local_images(found, out);
    }

    fn waiting(&self, out: &mut Vec<Local>) {
        let Some(back) = self.original.predecessors() else { return };
        let mut found = Vec::new();
        back.waiting(&mut found);
        self.local_images(found, out);
    }
}

impl Transfers for LocalisedModel {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let Some(original) = self.original(step.edge) else { return Ok(()) };
        let mut fates = Vec::new();
        self.origins(l).into_iter().try_for_each(|l| self.original.bystander(&original, l, &mut fates))?;
        for fate in fates.into_iter().map(|fate| fate.map(|l| self.local(l))) {
            if !out.contains(&fate) {
                out.push(fate);
            }
        }
        Ok(())
    }

    fn woken(&self, l: Local) -> Option<Local> {
        let woken = self.original.woken(*self.origins(l).first()?)?;
        Some(self.local(woken))
    }

    fn waits_for(&self, l: Local) -> u32 {
        let first = self.origins(l).first().copied();
        first.and_then(|l| Some(self.original.transfers()?.waits_for(l))).unwrap_or(0)
    }

    fn wakes(&self, step: &Step) -> u32 {
        let original = self.original(step.edge);
        original.and_then(|step| Some(self.original.transfers()?.wakes(&step))).unwrap_or(0)
    }
}

impl SetStates for LocalisedModel {
    fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        self.original.meets_shared(a, b)
    }

    fn meets_local(&self, a: Local, b: Local) -> bool {
        self.original.meets_local(a, b)
    }

    fn within_shared(&self, a: Shared, b: Shared) -> bool {
        self.original.within_shared(a, b)
    }

    fn within_local(&self, a: Local, b: Local) -> bool {
        self.original.within_local(a, b)
    }

    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        self.original.meet_shared(a, b)
    }

    fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        self.original.meet_local(a, b)
    }

    fn local_class(&self, l: Local) -> u64 {
        self.original.local_class(l)
    }

    fn local_shape(&self, l: Local) -> u64 {
        self.original.local_shape(l)
    }

    fn cubes(&self) -> &dyn Cubes {
        LocalisedModel::cubes(self)
    }

    /// A step stands for many of the original, some of which may start anywhere in the taken
    /// states, so nothing is narrowed.
    fn narrow(&self, step: &Step, _: Shared, _: Option<Local>, _: Option<Local>) -> Option<(Shared, Local)> {
        Some((step.from, step.take.entries().first()?.0))
    }

    fn narrow_bystander(&self, _: &Step, before: Local, _: Local) -> Option<Local> {
        Some(before)
    }

    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.post(s, l, out)
    }

    fn set_stop_check(&self, check: Option<StopCheck>) {
        self.original.set_stop_check(check);
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Describe for LocalisedModel {
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
        self.original(edge).map(|step| self.original.edge_place(step.edge)).unwrap_or_default()
    }
}
