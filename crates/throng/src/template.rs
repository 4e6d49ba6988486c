//! Your own Rust type as a system of threads.
//!
//! Describe one thread: the state that threads share, the state of each thread, the start, and the
//! [`Move`]s. That is a [`Template`]. A [`System`] is any number of such threads with properties;
//! every engine can check it, with evidence.
//!
//! ```
//! use throng::template::{Move, Start, System, Template};
//!
//! #[derive(Clone, PartialEq, Eq, Hash, Debug)]
//! enum At { Out, Trying, In }
//! use At::*;
//!
//! /// A spin lock; the shared state is whether the lock is taken.
//! struct SpinLock;
//!
//! impl Template for SpinLock {
//!     type Shared = bool;
//!     type Local = At;
//!     fn start(&self) -> Start<bool, At> {
//!         Start::any(false, Out)
//!     }
//!     fn moves(&self, &locked: &bool, at: &At) -> Vec<Move<bool, At>> {
//!         match at {
//!             Out => vec![Move::to(locked, Trying)],
//!             Trying if !locked => vec![Move::to(true, In).named("take the lock")],
//!             Trying => vec![],
//!             In => vec![Move::to(false, Out).named("release")],
//!         }
//!     }
//! }
//!
//! let outcome = System::new(SpinLock)
//!     .never_two("mutual exclusion", |_, a, b| (a, b) == (&In, &In))
//!     .verify()?;
//! assert!(outcome.is_safe(), "{outcome}");
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! In a test, [`assert_safe!`](crate::assert_safe) fails with the run, step by step:
//!
//! ```should_panic
//! # use throng::template::{Move, Start, System, Template};
//! # struct Broken;
//! # impl Template for Broken {
//! #     type Shared = (); type Local = bool;
//! #     fn start(&self) -> Start<(), bool> { Start::any((), false) }
//! #     fn moves(&self, _: &(), _: &bool) -> Vec<Move<(), bool>> { vec![Move::to((), true)] }
//! # }
//! let system = System::new(Broken).never_two("two are inside", |_, a, b| *a && *b);
//! throng::assert_safe!(system);
//! ```
//!
//! # How it works
//!
//! [`TemplateModel`] gives every value that occurs a number, and these numbers are the states of a
//! [`throng_model::Model`]. Moves are computed when an engine needs steps. Backward search needs
//! predecessors, which a function from states to moves cannot list; when they are first needed,
//! every thread state that may occur is explored once ([`throng_model::singles`], at most
//! [`TemplateModel::MOST`] of them) and its moves are indexed by their targets. Steps between
//! thread states that cannot occur are in no run, so nothing is lost. Types with more thread states
//! can only be used with forward engines.

mod fields;
mod inverse;
mod model;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

pub use self::model::TemplateModel;
use crate::error::Error;
use crate::job::Job;
use crate::outcome::Outcome;
use throng_engine::explicit::explore;
use throng_engine::{Engine, Silent};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::Unknown;
use throng_model::{Bag, Config, Local, Shared};

/// The data that states consist of: anything that can be compared, hashed and shown.
pub trait Value: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Value for T {}

/// The behaviour of one thread. See the [module](self) for an example.
pub trait Template: Send + Sync + 'static {
    /// The state that all threads share.
    type Shared: Value;
    /// The state of each thread: its program counter and its variables.
    type Local: Value;

    /// Returns the initial states of the system.
    fn start(&self) -> Start<Self::Shared, Self::Local>;

    /// Returns the moves of a thread at `local` in shared state `shared`; always the same ones, in
    /// the same order.
    ///
    /// Without a move, the thread is blocked for now. The method may panic for states that no
    /// thread reaches: that none does is then proved as a property of its own, and a run to such a
    /// state is shown otherwise.
    fn moves(&self, shared: &Self::Shared, local: &Self::Local) -> Vec<Move<Self::Shared, Self::Local>>;
}

/// The initial states of a system: one shared state, some threads, and states in which any number
/// of further threads may start.
#[derive(Clone, Debug)]
pub struct Start<S, L> {
    shared: S,
    threads: Vec<L>,
    any: Vec<L>,
}

impl<S, L> Start<S, L> {
    /// Starts with any number of threads, all at `local`.
    pub fn any(shared: S, local: L) -> Start<S, L> {
        Start { shared, threads: Vec::new(), any: vec![local] }
    }

    /// Starts with these threads.
    pub fn exactly(shared: S, threads: impl IntoIterator<Item = L>) -> Start<S, L> {
        Start { shared, threads: threads.into_iter().collect(), any: Vec::new() }
    }

    /// Adds one thread at `local`.
    pub fn and(mut self, local: L) -> Start<S, L> {
        self.threads.push(local);
        self
    }

    /// Adds any number of threads at `local`.
    pub fn and_any(mut self, local: L) -> Start<S, L> {
        self.any.push(local);
        self
    }
}

impl<S: Debug, L: Debug> Start<S, L> {
    /// Returns a description for people.
    fn text(&self) -> String {
        let some = self.threads.iter().map(|l| format!("1 thread at {l:?}"));
        let any = self.any.iter().map(|l| format!("any number of threads at {l:?}"));
        let threads: Vec<String> = some.chain(any).collect();
        format!("{}; shared: {:?}", threads.join(", "), self.shared)
    }
}

/// The effect of a broadcast on a bystander.
type Carry<L> = Arc<dyn Fn(&L) -> L + Send + Sync>;

/// One indivisible step of a thread.
#[derive(Clone)]
pub struct Move<S, L> {
    name: Cow<'static, str>,
    shared: S,
    becomes: Vec<L>,
    starts: Vec<L>,
    partners: Vec<L>,
    carry: Option<Carry<L>>,
}

impl<S, L> Move<S, L> {
    /// Moves the thread to `local`, and sets the shared state to `shared`.
    pub fn to(shared: S, local: L) -> Move<S, L> {
        Move { becomes: vec![local], ..Move::exit(shared) }
    }

    /// Ends the thread, and sets the shared state to `shared`.
    pub fn exit(shared: S) -> Move<S, L> {
        Move {
            name: Cow::Borrowed("move"),
            shared,
            becomes: Vec::new(),
            starts: Vec::new(),
            partners: Vec::new(),
            carry: None,
        }
    }

    /// Sets the name of the move in traces.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Move<S, L> {
        Move { name: name.into(), ..self }
    }

    /// Creates a thread at `local`.
    pub fn spawning(mut self, local: L) -> Move<S, L> {
        self.starts.push(local);
        self
    }

    /// Requires another thread at `partner`, which goes to `becomes` in the same step (a
    /// rendezvous).
    ///
    /// List the move for only one of the two threads.
    pub fn with(mut self, partner: L, becomes: L) -> Move<S, L> {
        self.partners.push(partner);
        self.becomes.push(becomes);
        self
    }

    /// Moves every other thread from its local state `l` to `carry(&l)` (a broadcast). Partners and
    /// new threads are not moved.
    pub fn carrying(self, carry: impl Fn(&L) -> L + Send + Sync + 'static) -> Move<S, L> {
        Move { carry: Some(Arc::new(carry)), ..self }
    }
}

/// The name of the property that is added if `moves` panics for a thread state that may occur.
const NO_PANIC: &str = "`moves` does not panic";

/// Ticks of work of the search for the states that a bounded number of threads reaches.
const SHORT: u64 = 1 << 20;

/// A condition that must never hold.
enum Never<S, L> {
    Shared(BadShared<S>),
    One(BadThread<S, L>),
    Two(BadPair<S, L>),
    Exactly(S, Vec<L>),
}

/// The name of a property and its condition.
type Forbidden<S, L> = (String, Never<S, L>);

type BadShared<S> = Box<dyn Fn(&S) -> bool>;
type BadThread<S, L> = Box<dyn Fn(&S, &L) -> bool>;
type BadPair<S, L> = Box<dyn Fn(&S, &L, &L) -> bool>;

/// Any number of threads of one template, and properties of them.
pub struct System<T: Template> {
    model: Arc<TemplateModel<T>>,
    bound: Bound,
    nevers: Vec<Forbidden<T::Shared, T::Local>>,
}

impl<T: Template> System<T> {
    /// Creates a system of threads of this template, without properties.
    pub fn new(template: T) -> System<T> {
        System { model: Arc::new(TemplateModel::new(template)), bound: Bound::Any, nevers: Vec::new() }
    }

    /// Allows at most `n` threads at any time; at the bound, moves create no thread.
    pub fn threads(self, n: u32) -> System<T> {
        System { bound: Bound::Threads(n), ..self }
    }

    /// Forbids shared states.
    pub fn never_shared(self, name: &str, bad: impl Fn(&T::Shared) -> bool + 'static) -> System<T> {
        self.forbid(name, Never::Shared(Box::new(bad)))
    }

    /// Forbids thread states: an assertion.
    pub fn never(self, name: &str, bad: impl Fn(&T::Shared, &T::Local) -> bool + 'static) -> System<T> {
        self.forbid(name, Never::One(Box::new(bad)))
    }

    /// Forbids pairs of threads at the same time, in either order.
    pub fn never_two(
        self,
        name: &str,
        bad: impl Fn(&T::Shared, &T::Local, &T::Local) -> bool + 'static,
    ) -> System<T> {
        self.forbid(name, Never::Two(Box::new(bad)))
    }

    /// Forbids configurations with this shared state and these threads, and perhaps more. Unlike
    /// the other properties, this one needs no list of all thread states, so it also works for
    /// types that have too many.
    pub fn never_together(
        self,
        name: &str,
        shared: T::Shared,
        threads: impl IntoIterator<Item = T::Local>,
    ) -> System<T> {
        self.forbid(name, Never::Exactly(shared, threads.into_iter().collect()))
    }

    fn forbid(mut self, name: &str, never: Never<T::Shared, T::Local>) -> System<T> {
        self.nevers.push((name.to_string(), never));
        self
    }

    /// Returns the model that engines use.
    pub fn model(&self) -> &Arc<TemplateModel<T>> {
        &self.model
    }

    /// Returns the verification problem. Predicates are evaluated on every thread state that the
    /// threads reach, where their number is bounded and the search is short, else on every one that
    /// may occur; too many of these are an error.
    pub fn problem(&self) -> Result<Problem, Unknown> {
        let reached = self.reached();
        let targets = self.nevers.iter().map(|(name, never)| {
            let configs = self.configs(never, reached.as_deref())?;
            Ok(Target::covering(name.clone(), configs))
        });
        let mut targets = targets.collect::<Result<Vec<_>, Unknown>>()?;
        // The forbidden configurations found are all of them only if no thread reaches a state for
        // which the template panics. A search that ended has met none.
        let panicking = if reached.is_some() { Vec::new() } else { self.model.panicking() };
        if !panicking.is_empty() {
            let configs = panicking.into_iter().map(|(s, l)| Config::new(s, Bag::one(l))).collect();
            targets.push(Target::covering(NO_PANIC, configs));
        }
        Ok(self.asking(targets))
    }

    fn asking(&self, targets: Vec<Target>) -> Problem {
        Problem {
            initial: vec![self.model.initial().clone()],
            initial_text: self.model.template().start().text(),
            targets,
            bound: self.bound,
            model: self.model.clone(),
        }
    }

    /// Returns every shared state that a bounded number of threads reaches, with the local states
    /// in it; `None` if a predicate needs none of them, or a short search does not end.
    fn reached(&self) -> Option<Vec<(Shared, Vec<Local>)>> {
        let is_whole = |(_, never): &Forbidden<_, _>| matches!(never, Never::Exactly(..));
        if self.nevers.iter().all(is_whole) {
            return None;
        }
        let (problem, limits) = (self.asking(Vec::new()), Limits::none().work(SHORT));
        let found = explore(&problem, 1, &limits, &Silent).ok()?;
        let mut states: BTreeMap<Shared, Vec<Local>> = BTreeMap::new();
        for (s, l) in found.thread_states() {
            states.entry(s).or_default().push(l);
        }
        // A shared state that all threads have left has none.
        found.into_packed().iter().for_each(|config| _ = states.entry(config.shared).or_default());
        Some(states.into_iter().collect())
    }

    /// Decides the problem with the default engine and without limits; for more control see
    /// [`Job::of`].
    pub fn verify(&self) -> Result<Outcome, Error> {
        Job::of(self.problem()?).check(Engine::Auto, &Limits::none())
    }

    /// Panics with the run if a property is violated, and with the reason if that is not known:
    /// what [`crate::assert_safe!`] calls.
    #[track_caller]
    pub fn assert_safe(&self) {
        match self.verify() {
            Ok(outcome) => outcome.assert_safe(),
            Err(why) => panic!("the system cannot be verified: {why}"),
        }
    }

    /// Returns the smallest forbidden configurations.
    fn configs(
        &self,
        never: &Never<T::Shared, T::Local>,
        reached: Option<&[(Shared, Vec<Local>)]>,
    ) -> Result<Vec<Config>, Unknown> {
        let model = &*self.model;
        if let Never::Exactly(s, threads) = never {
            let threads: Bag = threads.iter().map(|l| model.encode_local(l)).collect();
            return Ok(vec![Config::new(model.encode_shared(s), threads)]);
        }
        let mut configs = Vec::new();
        let states = reached.map_or_else(|| model.thread_states(), Ok)?;
        for (s, view) in states {
            let shared = model.decode_shared(*s);
            let locals: Vec<(Local, T::Local)> = view.iter().map(|&l| (l, model.decode_local(l))).collect();
            forbidden(never, *s, &shared, &locals, &mut configs);
        }
        Ok(configs)
    }
}

/// Returns the forbidden configurations in one shared state.
fn forbidden<S, L>(
    never: &Never<S, L>,
    s: Shared,
    shared: &S,
    locals: &[(Local, L)],
    configs: &mut Vec<Config>,
) {
    let mut push = |threads: Bag| configs.push(Config::new(s, threads));
    match never {
        Never::Shared(bad) if bad(shared) => push(Bag::new()),
        Never::Shared(_) | Never::Exactly(..) => {}
        Never::One(bad) => {
            locals.iter().filter(|(_, v)| bad(shared, v)).for_each(|&(l, _)| push(Bag::one(l)));
        }
        Never::Two(bad) => {
            for (i, (l, v)) in locals.iter().enumerate() {
                for (m, w) in &locals[i..] {
                    if bad(shared, v, w) || bad(shared, w, v) {
                        push([*l, *m].into_iter().collect());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use throng_dev::laws;
    use throng_model::Model;

    /// A leader creates workers, meets one of them, and sends all of them home at the end.
    struct Team;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    enum At {
        Lead,
        Work,
        Met,
        Home,
    }

    impl Template for Team {
        type Shared = u8;
        type Local = At;

        fn start(&self) -> Start<u8, At> {
            Start::exactly(0, [At::Lead])
        }

        fn moves(&self, &day: &u8, at: &At) -> Vec<Move<u8, At>> {
            match (day, at) {
                (0, At::Lead) => vec![
                    Move::to(0, At::Lead).spawning(At::Work).named("hire"),
                    Move::to(1, At::Lead).with(At::Work, At::Met).named("meet"),
                ],
                (1, At::Lead) => vec![
                    Move::to(2, At::Home)
                        .carrying(|l| if *l == At::Work { At::Home } else { l.clone() })
                        .named("close"),
                ],
                (2, At::Home) => vec![Move::exit(2).named("leave")],
                _ => vec![],
            }
        }
    }

    /// A counter that two threads may read before either of them writes.
    struct Lossy;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Totals {
        sum: u8,
        done: u8,
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    enum Adder {
        Reads,
        Writes { read: u8 },
        Done,
    }

    impl Template for Lossy {
        type Shared = Totals;
        type Local = Adder;

        fn start(&self) -> Start<Totals, Adder> {
            Start::exactly(Totals { sum: 0, done: 0 }, [Adder::Reads, Adder::Reads])
        }

        fn moves(&self, now: &Totals, at: &Adder) -> Vec<Move<Totals, Adder>> {
            match at {
                Adder::Reads => vec![Move::to(now.clone(), Adder::Writes { read: now.sum }).named("read")],
                Adder::Writes { read } => {
                    let then = Totals { sum: read + 1, done: now.done + 1 };
                    vec![Move::to(then, Adder::Done).named("write")]
                }
                Adder::Done => vec![],
            }
        }
    }

    #[test]
    fn a_failed_assertion_shows_the_run_field_by_field() {
        let lost = |at: &Totals| at.done == 2 && at.sum < 2;
        let system = System::new(Lossy).never_shared("an addition is lost", lost);
        let failed =
            catch_unwind(AssertUnwindSafe(|| crate::assert_safe!(system))).expect_err("it is broken");
        let message = failed.downcast_ref::<String>().expect("a text");
        assert!(message.starts_with("UNSAFE"), "{message}");
        for part in ["violated: an addition is lost", "sum: 0 -> 1", "done: 1 -> 2"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let right = System::new(Lossy).never_shared("more than were added", |at: &Totals| at.sum > 2);
        crate::assert_safe!(right);
    }

    fn team() -> System<Team> {
        System::new(Team)
            .never("no one works at night", |&day, at| day == 2 && *at == At::Work)
            .never_two("one meeting", |_, a, b| (a, b) == (&At::Met, &At::Met))
            .never_together("a meeting and two at home", 2, [At::Met, At::Home, At::Home])
            .never_shared("night", |&day| day == 2)
    }

    #[test]
    fn spawn_rendezvous_broadcast_and_exit() {
        let outcome = team().verify().unwrap();
        let words: Vec<_> = outcome.answer.verdicts.iter().map(crate::outcome::Status::of).collect();
        use crate::outcome::Status::{Safe, Unsafe};
        assert_eq!(words, [Safe, Safe, Unsafe, Unsafe], "{outcome}");
        assert_eq!(outcome.trace().map(|t| t.threads()), Some(3));
        let text = outcome.to_string();
        assert!(text.contains("hire") && text.contains("close") && text.contains("Met"), "{text}");
        let problem = team().threads(4).problem().unwrap();
        let bounded = Job::of(problem).check(Engine::Explicit, &Limits::none()).unwrap();
        assert_eq!(bounded.answer.verdicts.iter().map(crate::outcome::Status::of).collect::<Vec<_>>(), words);
    }

    #[test]
    fn own_types_obey_the_laws_of_models() {
        let system = team();
        let model = &**system.model();
        assert!(model.predecessors().is_some() && model.transfers().is_some() && model.traits().spawns);
        let states = model.thread_states().unwrap().to_vec();
        let mut configs = Vec::new();
        for (s, view) in &states {
            for &l in view {
                for &m in view {
                    configs.push(Config::new(*s, [l, m, m].into_iter().collect()));
                }
            }
        }
        let tested = laws(model, &configs).unwrap();
        assert!(tested > 100, "{tested}");
    }

    /// A thread that takes turns with others. In another thread's turn it panics, because only an
    /// abstraction that loses information reaches that state.
    struct Turns {
        last: u8,
    }

    impl Template for Turns {
        type Shared = u8;
        type Local = u8;

        fn start(&self) -> Start<u8, u8> {
            Start::exactly(0, [0])
        }

        fn moves(&self, &turn: &u8, &at: &u8) -> Vec<Move<u8, u8>> {
            match (turn, at) {
                (0, 0) => vec![Move::to(1, 1), Move::to(2, 2)],
                (1, 1) | (2, 2) => vec![Move::to(0, self.last)],
                (0, 3) => vec![Move::to(1, 4)],
                (1, 4) => vec![],
                (turn, at) => unreachable!("turn {turn} at {at}"),
            }
        }
    }

    #[test]
    fn what_panics_where_no_thread_comes_does_no_harm() {
        let asked = |last: u8| {
            let system = System::new(Turns { last }).never("together", |&turn, &at| (turn, at) == (2, 4));
            system.verify().unwrap()
        };
        let (fine, wrong) = (asked(3), asked(5));
        assert!(fine.is_safe(), "{fine}");
        let text = wrong.to_string();
        assert!(
            wrong.is_unsafe() && text.contains("violated: `moves` does not panic: T1 is in 5; shared=0"),
            "{text}"
        );
    }

    /// What a property is called is for people: nothing else is asked because of it.
    #[test]
    fn names_mean_nothing() {
        for name in ["deadlock", "deadlock of C", "stuck Lead", "stuck ", "assertions", "mutex A", ""] {
            let system = System::new(Team)
                .never(name, |_, at| *at == At::Home)
                .never_two(name, |_, a, b| (a, b) == (&At::Met, &At::Met));
            for engine in [Engine::Auto, Engine::Backward, Engine::KarpMiller, Engine::Explicit] {
                let bounded = system_of(&system, (engine == Engine::Explicit).then_some(3));
                let outcome = Job::of(bounded).check(engine, &Limits::none()).unwrap();
                let found: Vec<_> = outcome.answer.verdicts.iter().map(crate::outcome::Status::of).collect();
                use crate::outcome::Status::{Safe, Unknown, Unsafe};
                // Broadcasts are not for every engine.
                let known = if engine == Engine::KarpMiller { [Unknown; 2] } else { [Unsafe, Safe] };
                assert_eq!(found, known, "`{name}` by {}: {outcome}", engine.name());
            }
        }
    }

    fn system_of(system: &System<Team>, most: Option<u32>) -> Problem {
        let problem = system.problem().unwrap();
        Problem { bound: most.map_or(Bound::Any, Bound::Threads), ..problem }
    }

    /// Counts forever.
    struct Counter;

    impl Template for Counter {
        type Shared = u64;
        type Local = ();

        fn start(&self) -> Start<u64, ()> {
            Start::any(0, ())
        }

        fn moves(&self, n: &u64, (): &()) -> Vec<Move<u64, ()>> {
            vec![Move::to(n + 1, ())]
        }
    }

    #[test]
    fn what_has_too_many_states_keeps_forward_engines() {
        let system = System::new(Counter).never_together("nine", 9, []);
        let problem = system.problem().unwrap();
        assert!(system.model().predecessors().is_none());
        let outcome = Job::of(problem).check(Engine::Auto, &Limits::none()).unwrap();
        assert_eq!((outcome.answered_by().as_str(), outcome.is_unsafe()), ("explicit", true));
        assert!(matches!(
            System::new(Counter).never_shared("large", |n| *n > 1 << 40).verify(),
            Err(Error::Impossible(_))
        ));
    }
}
