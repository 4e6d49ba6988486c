//! A model whose states are Python objects and whose moves are computed by a Python method.
//!
//! Python may fail or be interrupted where a [`Template`] cannot. The first failure is kept, no
//! further move is listed, and the result of the search is discarded ([`Objects::failure`]): an
//! incomplete model gets no verdict.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use rustc_hash::FxHashMap;
use throng::model::limits::Limits;
use throng::model::verdict::Unknown;
use throng::template::{Move, Start, System, Template};

/// Maximum number of moves of one thread state: a generator may never end.
const MOST_MOVES: usize = 1 << 16;

/// A state: a Python object, identified by its number.
#[derive(Clone)]
pub(crate) struct State(Arc<Known>);

struct Known {
    number: usize,
    object: Py<PyAny>,
    shown: String,
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.number.hash(state);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.shown)
    }
}

/// The states of one kind, shared or local, by Python's equality.
struct States {
    known: Py<PyDict>,
    values: Mutex<Vec<State>>,
}

impl States {
    fn new(py: Python<'_>) -> States {
        States { known: PyDict::new(py).unbind(), values: Mutex::default() }
    }

    /// Returns the state of an object. Python's own dictionary compares objects, under Python's
    /// lock.
    fn state(&self, object: &Bound<'_, PyAny>) -> PyResult<State> {
        let py = object.py();
        if let Some(number) = self.known.bind(py).get_item(object)? {
            return Ok(locked(&self.values)[number.extract::<usize>()?].clone());
        }
        // Comparing objects may let another thread run, which may add the same one: `setdefault`
        // decides whose number is used.
        let mut made = Known { number: 0, object: object.clone().unbind(), shown: shown(object)? };
        let number = {
            let mut values = locked(&self.values);
            made.number = values.len();
            values.push(State(Arc::new(made)));
            values.len() - 1
        };
        let counts = self.known.bind(py).call_method1("setdefault", (object, number))?.extract::<usize>()?;
        Ok(locked(&self.values)[counts].clone())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the text of an object: strings as they are, members of enumerations by name, other
/// objects by `repr`; `None`, for "nothing is shared", as in the library.
fn shown(object: &Bound<'_, PyAny>) -> PyResult<String> {
    if object.is_none() {
        return Ok("()".into());
    }
    let members = object.py().import("enum")?.getattr("Enum")?;
    let text: String = if object.is_instance(&members)? {
        object.getattr("name")?.extract()?
    } else if object.is_instance_of::<PyString>() {
        object.extract()?
    } else {
        object.repr()?.extract()?
    };
    let plain = !text.is_empty() && !text.chars().any(char::is_control);
    Ok(if plain { text } else { format!("{text:?}") })
}

/// The reason why not all moves are known.
pub(crate) enum Failure {
    Raised(PyErr),
    Limit(Unknown),
}

type Moves = Arc<Vec<Move<State, State>>>;

/// The Python objects of a model.
pub(crate) struct Objects {
    model: Py<PyAny>,
    shared: States,
    locals: States,
    /// Computed once: Python is slow, and a model's moves must not change.
    moves: Mutex<FxHashMap<(usize, usize), Moves>>,
    failure: Mutex<Option<Failure>>,
    limits: Limits,
}

impl Objects {
    fn fail(&self, failure: Failure) {
        locked(&self.failure).get_or_insert(failure);
    }

    fn has_failed(&self) -> bool {
        locked(&self.failure).is_some()
    }

    /// Returns the failure that invalidates all results about the model, if there was one.
    pub(crate) fn failure(&self) -> Option<Failure> {
        locked(&self.failure).take()
    }

    fn all(&self, states: &States, objects: &Bound<'_, PyAny>) -> PyResult<Vec<State>> {
        objects.try_iter()?.map(|object| states.state(&object?)).collect()
    }

    fn asked(self: &Arc<Objects>, py: Python<'_>, shared: &State, local: &State) -> PyResult<Moves> {
        let arguments = (&shared.0.object, &local.0.object);
        let listed = self.model.bind(py).call_method1("moves", arguments)?;
        if listed.is_none() {
            let why =
                "moves() returned None: return a list, which is empty if the thread cannot move, or yield";
            return Err(PyTypeError::new_err(why));
        }
        let mut moves = Vec::new();
        for it in listed.try_iter()? {
            if moves.len() == MOST_MOVES {
                return Err(PyValueError::new_err(format!("moves() lists more than {MOST_MOVES} moves")));
            }
            moves.push(self.one(&it?)?);
        }
        Ok(Arc::new(moves))
    }

    /// Converts a `throng.Move`.
    fn one(self: &Arc<Objects>, it: &Bound<'_, PyAny>) -> PyResult<Move<State, State>> {
        let py = it.py();
        if !it.is_instance(&py.import("throng.model")?.getattr("Move")?)? {
            return Err(PyTypeError::new_err(format!(
                "moves() lists throng.Move objects, not {}",
                it.repr()?
            )));
        }
        let shared = self.shared.state(&it.getattr("shared")?)?;
        let local = it.getattr("local")?;
        let ends = local.is(&py.import("throng.model")?.getattr("EXIT")?);
        let mut made = if ends { Move::exit(shared) } else { Move::to(shared, self.locals.state(&local)?) };
        made = made.named(it.getattr("name")?.extract::<String>()?);
        for started in self.all(&self.locals, &it.getattr("spawn")?)? {
            made = made.spawning(started);
        }
        for pair in it.getattr("partners")?.try_iter()? {
            let (at, becomes): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            made = made.with(self.locals.state(&at)?, self.locals.state(&becomes)?);
        }
        let carry = it.getattr("carry")?;
        Ok(if carry.is_none() { made } else { made.carrying(self.carry(carry.unbind())) })
    }

    /// Converts the function that a broadcast applies to bystanders.
    fn carry(self: &Arc<Objects>, carry: Py<PyAny>) -> impl Fn(&State) -> State + Send + Sync + 'static {
        let (objects, carried) = (Arc::downgrade(self), Mutex::new(FxHashMap::default()));
        move |l| {
            let Some(objects) = objects.upgrade() else { return l.clone() };
            if let Some(becomes) = locked(&carried).get(&l.0.number) {
                return State::clone(becomes);
            }
            let called = |py: Python<'_>| objects.locals.state(&carry.bind(py).call1((&l.0.object,))?);
            match Python::attach(called) {
                Ok(becomes) => locked(&carried).entry(l.0.number).or_insert(becomes).clone(),
                Err(error) => {
                    objects.fail(Failure::Raised(error));
                    l.clone()
                }
            }
        }
    }

    /// Returns the value of a predicate of these objects.
    fn holds(&self, predicate: &Py<PyAny>, states: &[&State]) -> bool {
        if self.has_failed() {
            return false;
        }
        let called = |py: Python<'_>| {
            let objects = states.iter().map(|state| &state.0.object);
            predicate.bind(py).call1(PyTuple::new(py, objects)?)?.is_truthy()
        };
        Python::attach(called).unwrap_or_else(|error| {
            self.fail(Failure::Raised(error));
            false
        })
    }
}

/// A thread of a Python model.
pub(crate) struct PythonTemplate {
    objects: Arc<Objects>,
    start: Start<State, State>,
}

impl Template for PythonTemplate {
    type Shared = State;
    type Local = State;

    fn start(&self) -> Start<State, State> {
        self.start.clone()
    }

    fn moves(&self, shared: &State, local: &State) -> Vec<Move<State, State>> {
        let (objects, key) = (&self.objects, (shared.0.number, local.0.number));
        if objects.has_failed() {
            return Vec::new();
        }
        if let Some(known) = locked(&objects.moves).get(&key).cloned() {
            return known.to_vec();
        }
        // All thread states are listed once before engines, which have limits, start.
        if let Err(why) = objects.limits.check() {
            objects.fail(Failure::Limit(why));
            return Vec::new();
        }
        match Python::attach(|py| objects.asked(py, shared, local)) {
            Ok(moves) => locked(&objects.moves).entry(key).or_insert(moves).to_vec(),
            Err(error) => {
                objects.fail(Failure::Raised(error));
                Vec::new()
            }
        }
    }
}

/// A target, as Python passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Never {
    /// `shared`, `one` or `two`: the arguments of the predicate; `together`: no predicate.
    kind: String,
    name: String,
    /// The predicate, or a pair of a shared state and local states.
    bad: Py<PyAny>,
}

/// A Python model that is ready for a search.
pub(crate) struct PythonModel {
    pub(crate) objects: Arc<Objects>,
    start: Start<State, State>,
    nevers: Vec<(String, Forbidden)>,
    threads: Option<u32>,
}

enum Forbidden {
    Shared(Py<PyAny>),
    One(Py<PyAny>),
    Two(Py<PyAny>),
    Together(State, Vec<State>),
}

impl PythonModel {
    pub(crate) fn new(
        model: &Bound<'_, PyAny>,
        nevers: Vec<Never>,
        threads: Option<u32>,
        limits: Limits,
    ) -> PyResult<PythonModel> {
        let py = model.py();
        let objects = Arc::new(Objects {
            model: model.clone().unbind(),
            shared: States::new(py),
            locals: States::new(py),
            moves: Mutex::default(),
            failure: Mutex::default(),
            limits,
        });
        let start = model.call_method0("start")?;
        if !start.is_instance(&py.import("throng.model")?.getattr("Start")?)? {
            return Err(PyTypeError::new_err(format!(
                "start() returns a throng.Start, not {}",
                start.repr()?
            )));
        }
        let mut from = Start::exactly(
            objects.shared.state(&start.getattr("shared")?)?,
            objects.all(&objects.locals, &start.getattr("threads")?)?,
        );
        for local in objects.all(&objects.locals, &start.getattr("any")?)? {
            from = from.and_any(local);
        }
        let forbidden = |Never { kind, name, bad }: Never| {
            let forbidden = match kind.as_str() {
                "shared" => Forbidden::Shared(bad),
                "one" => Forbidden::One(bad),
                "two" => Forbidden::Two(bad),
                "together" => {
                    let (shared, locals): (Bound<'_, PyAny>, Bound<'_, PyAny>) = bad.extract(py)?;
                    Forbidden::Together(
                        objects.shared.state(&shared)?,
                        objects.all(&objects.locals, &locals)?,
                    )
                }
                _ => return Err(PyValueError::new_err(format!("no such kind of property: {kind}"))),
            };
            Ok((name, forbidden))
        };
        let nevers = nevers.into_iter().map(forbidden).collect::<PyResult<_>>()?;
        Ok(PythonModel { objects, start: from, nevers, threads })
    }

    /// Returns the system. Predicates are called when its problem is built.
    pub(crate) fn system(self) -> System<PythonTemplate> {
        let objects = self.objects.clone();
        let mut system = System::new(PythonTemplate { objects: self.objects, start: self.start });
        if let Some(threads) = self.threads {
            system = system.threads(threads);
        }
        for (name, never) in self.nevers {
            let objects = objects.clone();
            system = match never {
                Forbidden::Shared(bad) => system.never_shared(&name, move |s| objects.holds(&bad, &[s])),
                Forbidden::One(bad) => system.never(&name, move |s, l| objects.holds(&bad, &[s, l])),
                Forbidden::Two(bad) => {
                    system.never_two(&name, move |s, l, m| objects.holds(&bad, &[s, l, m]))
                }
                Forbidden::Together(shared, locals) => system.never_together(&name, shared, locals),
            };
        }
        system
    }
}
