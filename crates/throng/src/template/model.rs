//! A [`Template`] as a [`Model`]: values are numbered when they first occur.

use std::any::Any;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{OnceLock, RwLock};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::inverse::Inverse;
use super::{Carry, Move, Start, Template};
use throng_model::limits::Limits;
use throng_model::problem::Initial;
use throng_model::singles::Singles;
use throng_model::verdict::Unknown;
use throng_model::waiting::Waits;
use throng_model::{
    Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, Predecessors, SetStates,
    Shared, Step, Traits, Transfers,
};

/// A template whose values are numbered.
pub struct TemplateModel<T: Template> {
    template: T,
    shared: Numbered<T::Shared>,
    locals: Numbered<T::Local>,
    edges: RwLock<Edges<T::Local>>,
    initial: Initial,
    inverse: OnceLock<Result<Inverse, Unknown>>,
    /// Thread states for which the template panicked, with the message. The template is called once
    /// for each.
    panics: RwLock<FxHashMap<(Shared, Local), Incomplete>>,
}

/// Moves by the thread state they start from and their index in its list.
type Edges<L> = IndexMap<(Shared, Local, usize), Origin<L>, FxBuildHasher>;

/// The moves of a thread.
type Moves<T> = Vec<Move<<T as Template>::Shared, <T as Template>::Local>>;

/// The part of a move that its step does not contain.
#[derive(Clone)]
struct Origin<L> {
    name: String,
    carry: Option<Carry<L>>,
}

impl<T: Template> TemplateModel<T> {
    /// Maximum number of thread states of a type whose predecessors are listed.
    pub const MOST: usize = 1 << 18;

    /// Creates the model of a template.
    pub fn new(template: T) -> TemplateModel<T> {
        let (shared, locals) = (Numbered::default(), Numbered::default());
        let Start { shared: s, threads, any } = template.start();
        let initial = Initial {
            shared: Shared(shared.number(&s)),
            threads: threads.iter().map(|l| Local(locals.number(l))).collect(),
            any: any.iter().map(|l| Local(locals.number(l))).collect(),
        };
        TemplateModel {
            template,
            shared,
            locals,
            edges: RwLock::default(),
            initial,
            inverse: OnceLock::new(),
            panics: RwLock::default(),
        }
    }

    /// Returns the template.
    pub fn template(&self) -> &T {
        &self.template
    }

    /// Returns the initial configurations.
    pub fn initial(&self) -> &Initial {
        &self.initial
    }

    /// Returns the code of a shared state.
    pub fn encode_shared(&self, value: &T::Shared) -> Shared {
        Shared(self.shared.number(value))
    }

    /// Returns the code of a local state.
    pub fn encode_local(&self, value: &T::Local) -> Local {
        Local(self.locals.number(value))
    }

    /// Returns the shared state of a code that this model has handed out.
    pub fn decode_shared(&self, s: Shared) -> T::Shared {
        self.shared.value(s.0)
    }

    /// Returns the local state of a code that this model has handed out.
    pub fn decode_local(&self, l: Local) -> T::Local {
        self.locals.value(l.0)
    }

    /// Returns the values of a configuration, e.g. of a trace; every thread is listed.
    pub fn values(&self, config: &Config) -> (T::Shared, Vec<T::Local>) {
        let each = config.threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l));
        (self.decode_shared(config.shared), each.map(|l| self.decode_local(l)).collect())
    }

    /// Returns every shared state that may occur, with the local states that may occur in it,
    /// unless a thread reaches a state for which the template panics
    /// ([`TemplateModel::panicking`]); computed when first needed.
    pub fn thread_states(&self) -> Result<&[(Shared, Vec<Local>)], Unknown> {
        self.inverse().map(|inverse| inverse.views())
    }

    fn inverse(&self) -> Result<&Inverse, Unknown> {
        let found = self.inverse.get_or_init(|| {
            let initial = std::slice::from_ref(&self.initial);
            let listing = Listing(self);
            let found = Singles::of(&listing, initial, Self::MOST, &Limits::none())?
                .map_err(|why| Unknown::NotForThisModel(why.0))?;
            let views = found.shared().map(|s| (s, found.at(s).collect())).collect();
            Ok(Inverse::new(&listing, views)?)
        });
        found.as_ref().map_err(Unknown::clone)
    }

    /// Returns the moves of a thread, or an error if the template panics; no engine then concludes
    /// anything from the missing moves.
    fn moves(&self, s: Shared, l: Local) -> Result<Moves<T>, Incomplete> {
        if let Some(why) = self.panics.read().expect("no panic while locked").get(&(s, l)) {
            return Err(why.clone());
        }
        let (shared, local) = (self.decode_shared(s), self.decode_local(l));
        catch_unwind(AssertUnwindSafe(|| self.template.moves(&shared, &local))).map_err(|panic| {
            let why = format!("the moves of a thread at {local:?} with {shared:?} panic{}", said(&*panic));
            let why = Incomplete(why);
            self.panics.write().expect("no panic while locked").insert((s, l), why.clone());
            why
        })
    }

    /// Returns the thread states for which the template has panicked so far, whose successors are
    /// unknown.
    pub fn panicking(&self) -> Vec<(Shared, Local)> {
        let mut found: Vec<_> = self.panics.read().expect("no panic while locked").keys().copied().collect();
        found.sort_unstable();
        found
    }

    /// Returns the step of a move.
    fn step(&self, s: Shared, l: Local, i: usize, it: Move<T::Shared, T::Local>) -> Step {
        let bag = |values: &[T::Local]| -> Bag { values.iter().map(|v| self.encode_local(v)).collect() };
        let mut take = bag(&it.partners);
        take.insert(l, 1);
        Step {
            from: s,
            to: self.encode_shared(&it.shared),
            take,
            put: bag(&it.becomes),
            spawn: bag(&it.starts),
            others: if it.carry.is_some() { Bystanders::Transfer } else { Bystanders::Stay },
            edge: self.edge((s, l, i), Origin { name: it.name.into_owned(), carry: it.carry }),
            choice: 0,
        }
    }

    fn edge(&self, key: (Shared, Local, usize), origin: Origin<T::Local>) -> Edge {
        if let Some(i) = self.edges.read().expect("no panic while locked").get_index_of(&key) {
            return Edge(i as u32);
        }
        let mut edges = self.edges.write().expect("no panic while locked");
        let entry = edges.entry(key);
        let edge = Edge(entry.index() as u32);
        entry.or_insert(origin);
        edge
    }

    fn origin(&self, edge: Edge) -> Option<Origin<T::Local>> {
        let edges = self.edges.read().expect("no panic while locked");
        edges.get_index(edge.0 as usize).map(|(_, origin)| origin.clone())
    }
}

impl<T: Template> Model for TemplateModel<T> {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let moves = self.moves(s, l)?;
        out.extend(moves.into_iter().enumerate().map(|(i, it)| self.step(s, l, i, it)));
        Ok(())
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: self.inverse().map_or(true, Inverse::spawns) }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        (self.inverse().map_or(true, Inverse::moves_others)).then_some(self as &dyn Transfers)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    /// A thread that ends is gone, see [`super::Move::exit`].
    fn has_ended(&self, _: Local) -> bool {
        false
    }

    /// A method of a template is one step, however long it loops.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        // Panicking moves are missing from the index.
        (self.inverse().is_ok() && self.panicking().is_empty()).then_some(self as &dyn Predecessors)
    }
}

impl<T: Template> Transfers for TemplateModel<T> {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let carry = self.origin(step.edge).and_then(|origin| origin.carry);
        out.push(Some(carry.map_or(l, |carry| self.encode_local(&carry(&self.decode_local(l))))));
        Ok(())
    }

    fn woken(&self, _: Local) -> Option<Local> {
        None
    }
}

impl<T: Template> Predecessors for TemplateModel<T> {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        if let Ok(inverse) = self.inverse() {
            inverse.pre(s, l, out);
        }
        Ok(())
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        if let Ok(inverse) = self.inverse() {
            inverse.pre_shared(s, out);
        }
        Ok(())
    }

    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        let Ok(inverse) = self.inverse() else { return Ok(()) };
        let mut fate = Vec::new();
        for &m in inverse.view(step.from) {
            self.bystander(step, m, &mut fate)?;
            if fate.pop() == Some(Some(l)) {
                out.push(m);
            }
        }
        Ok(())
    }

    fn woken_back(&self, _: Local, _: &mut Vec<Local>) {}

    fn waiting(&self, _: &mut Vec<Local>) {}
}

impl<T: Template> Describe for TemplateModel<T> {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        let name = self.shared_name(s);
        if name.is_empty() { Vec::new() } else { vec![("shared".into(), name)] }
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        vec![("local".into(), self.local_name(l))]
    }

    fn place(&self, _: Local) -> Option<Place> {
        None
    }

    fn edge_place(&self, edge: Edge) -> Place {
        let text = self.origin(edge).map(|origin| origin.name).unwrap_or_default();
        Place { text, ..Place::default() }
    }

    fn shared_name(&self, s: Shared) -> String {
        let name = format!("{:?}", self.decode_shared(s));
        if name == "()" { String::new() } else { name }
    }

    fn local_name(&self, l: Local) -> String {
        format!("{:?}", self.decode_local(l))
    }
}

/// The model during its exploration: exploring the model itself would start another exploration.
struct Listing<'a, T: Template>(&'a TemplateModel<T>);

impl<T: Template> Model for Listing<'_, T> {
    /// A thread state for which the template panics has no moves here: if a thread reaches it, the
    /// model itself reports that.
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        Incomplete::irrelevant(self.0.post(s, l, out));
        Ok(())
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: true }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self.0)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, l: Local) -> bool {
        self.0.has_ended(l)
    }

    fn waits(&self) -> Option<&dyn Waits> {
        self.0.waits()
    }
}

impl<T: Template> Describe for Listing<'_, T> {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        self.0.shared_values(s)
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.0.local_values(l)
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.0.place(l)
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.0.edge_place(edge)
    }
}

/// Returns the message of a panic, if it is text.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    text.map(|text| format!(": {text}")).unwrap_or_default()
}

/// Values numbered in order of appearance.
struct Numbered<T>(RwLock<IndexSet<T, FxBuildHasher>>);

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered(RwLock::default())
    }
}

impl<T: Clone + Eq + Hash + Debug> Numbered<T> {
    fn number(&self, value: &T) -> u64 {
        if let Some(i) = self.0.read().expect("no panic while locked").get_index_of(value) {
            return i as u64;
        }
        self.0.write().expect("no panic while locked").insert_full(value.clone()).0 as u64
    }

    fn value(&self, number: u64) -> T {
        let values = self.0.read().expect("no panic while locked");
        values.get_index(number as usize).expect("a word of this model").clone()
    }
}
