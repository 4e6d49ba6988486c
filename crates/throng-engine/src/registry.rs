//! The engines by name: one list for the command line, the library, the portfolio and the fuzzer.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use throng_lang::bp::program::program_of;
use throng_model::problem::{Bound, Problem};

use crate::Algorithm;
use crate::auto::Auto;
use crate::backward::Pruned;
#[cfg(feature = "cluster")]
use crate::distributed::Distributed;
use crate::equations::Equations;
use crate::explicit::Explicit;
use crate::facts::FactStore;
use crate::guided::Guided;
use crate::karp_miller::KarpMiller;
use crate::localise::Localise;
use crate::on_covering::OnCovering;
use crate::on_quotient::OnQuotient;
use crate::reachability::Reachability;
#[cfg(feature = "symbolic")]
use crate::symbolic::Symbolic;
use crate::views::Views;

/// An engine that Throng ships.
///
/// ```
/// use throng_engine::Engine;
/// assert_eq!("karp-miller".parse(), Ok(Engine::KarpMiller));
/// assert!(Engine::ALL.iter().all(|engine| engine.name().parse() == Ok(*engine)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Engine {
    /// The portfolio: several of the others in turn or in parallel.
    #[default]
    Auto,
    /// Forward, breadth first, over counted threads.
    Explicit,
    /// Forward with ω for "any number": the coverability set.
    KarpMiller,
    /// Thread-state equations.
    Equations,
    /// Best-first search guided by the equations.
    Guided,
    /// Backward over upward-closed sets.
    Backward,
    /// Pair views.
    Views,
    /// Proofs and runs with few of a program's variables.
    Localise,
    /// Walks, the state equation and exhaustive search of nets.
    Reachability,
    /// `explicit` over several workers.
    #[cfg(feature = "cluster")]
    Distributed,
    /// Forward with decision diagrams.
    #[cfg(feature = "symbolic")]
    Symbolic,
}

/// Settings of a search. An engine ignores those that do not concern it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Number of processor cores to use; with one, the search is deterministic.
    pub jobs: usize,
    /// Without a thread bound: maximum number of threads in the search for a bug.
    pub max_threads: Option<u32>,
    /// True to stop as soon as one target is reached; the others stay unknown.
    pub stop_at_first: bool,
    /// Enables partial-order reduction, where the model allows it. A proof found with it cannot be
    /// written as a certificate.
    pub partial_order: bool,
    /// True to search a smaller quotient of the problem, where there is one.
    pub quotient: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { jobs: 1, max_threads: None, stop_at_first: false, partial_order: true, quotient: true }
    }
}

impl Engine {
    /// The engines of this build.
    pub const ALL: &'static [Engine] = &[
        Engine::Auto,
        Engine::Explicit,
        Engine::KarpMiller,
        Engine::Equations,
        Engine::Guided,
        Engine::Backward,
        Engine::Views,
        Engine::Localise,
        Engine::Reachability,
        #[cfg(feature = "cluster")]
        Engine::Distributed,
        #[cfg(feature = "symbolic")]
        Engine::Symbolic,
    ];

    /// Returns its name, as the command line and [`FromStr`] take it.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Explicit => "explicit",
            Engine::KarpMiller => "karp-miller",
            Engine::Equations => "equations",
            Engine::Guided => "guided",
            Engine::Backward => "backward",
            Engine::Views => "views",
            Engine::Localise => "localise",
            Engine::Reachability => "reachability",
            #[cfg(feature = "cluster")]
            Engine::Distributed => "distributed",
            #[cfg(feature = "symbolic")]
            Engine::Symbolic => "symbolic",
        }
    }

    /// Returns a description in one line.
    pub fn description(self) -> &'static str {
        match self {
            Engine::Auto => "Several of the others in turn or in parallel; the first checked answer wins",
            Engine::Explicit => {
                "Breadth-first over counted threads: decides questions with a thread bound; without it, hunts bugs with 1, 2, 3, … threads"
            }
            Engine::KarpMiller => {
                "The coverability set of any number of threads, forward; no signals, broadcasts, transfers"
            }
            Engine::Equations => {
                "Thread-state equations: proofs by linear arithmetic, for any number of threads"
            }
            Engine::Guided => {
                "Best-first search towards the target, guided by the equations: deep bugs, for any number of threads"
            }
            Engine::Backward => {
                "Backward from the target over upward-closed sets: any number of threads, with signals and broadcasts"
            }
            Engine::Views => {
                "Which pairs of threads can occur together: proves safety, for any number of threads, often immediately"
            }
            Engine::Localise => {
                "Boolean programs with only the relevant variables, all others left open: proofs, and runs that are then followed in the program; variables are added as needed"
            }
            Engine::Reachability => {
                "Exact reachability in nets with one initial marking: targets with few tokens, deadlocks"
            }
            #[cfg(feature = "cluster")]
            Engine::Distributed => {
                "`explicit` without partial orders, spread over several workers, on one machine or many"
            }
            #[cfg(feature = "symbolic")]
            Engine::Symbolic => "The same over sets of states as decision diagrams, for Boolean programs",
        }
    }

    /// Creates the engine.
    pub fn build(self, settings: &Settings) -> Box<dyn Algorithm + Send> {
        let engine = self.build_with(settings, &Arc::default());
        let engine: Box<dyn Algorithm + Send> = match self {
            // These accept formulas.
            Engine::Auto | Engine::Reachability => return engine,
            // `explicit` finds shortest runs of the original, `symbolic` and `localise` are for
            // programs, and the portfolio decides for each of its engines.
            Engine::Explicit | Engine::Localise => engine,
            #[cfg(feature = "cluster")]
            Engine::Distributed => engine,
            #[cfg(feature = "symbolic")]
            Engine::Symbolic => engine,
            _ if settings.quotient => Box::new(OnQuotient(engine)),
            _ => engine,
        };
        Box::new(OnCovering(engine))
    }

    /// Creates the engine for the problem as it is, sharing `facts` with other engines.
    pub fn build_with(self, settings: &Settings, facts: &Arc<FactStore>) -> Box<dyn Algorithm + Send> {
        let Settings { jobs, max_threads, stop_at_first, partial_order: por, .. } = *settings;
        let store = facts.clone();
        match self {
            Engine::Auto => Box::new(Auto { jobs, max_threads, stop_at_first, por }),
            Engine::Reachability => Box::new(Reachability::default()),
            Engine::Explicit => {
                let explicit = Explicit { jobs, max_threads, stop_at_first, por, ..Explicit::default() };
                Box::new(explicit)
            }
            Engine::KarpMiller => Box::new(KarpMiller::default()),
            Engine::Equations => Box::new(Equations { store, por, only_proves: false }),
            Engine::Guided => Box::new(Guided { store }),
            Engine::Backward => Box::new(Pruned { store }),
            Engine::Views => Box::new(Views { store }),
            Engine::Localise => Box::new(Localise::default()),
            #[cfg(feature = "cluster")]
            Engine::Distributed => {
                Box::new(Distributed { max_threads, stop_at_first, ..Distributed::new(jobs) })
            }
            #[cfg(feature = "symbolic")]
            Engine::Symbolic => Box::new(Symbolic { max_threads, stop_at_first, por, ..Symbolic::default() }),
        }
    }
}

/// Returns the proving engines of the portfolio, in the order in which they take turns. They share
/// `facts`.
pub(crate) fn provers(problem: &Problem, facts: &Arc<FactStore>) -> Vec<Box<dyn Algorithm + Send>> {
    let store = || facts.clone();
    let mut engines: Vec<Box<dyn Algorithm + Send>> = vec![Box::new(Views { store: store() })];
    if problem.bound == Bound::Any {
        engines.push(Box::new(Equations { store: store(), only_proves: true, por: false }));
        // Its first turn is long, so it comes after those of all refuters.
        if program_of(&*problem.model).is_some() {
            engines.push(Box::new(Localise::default()));
        }
        engines.push(Box::new(Pruned { store: store() }));
    }
    engines
}

/// Returns the refuting engines of the portfolio, in the order in which they take turns.
pub(crate) fn refuters(
    settings: &Settings,
    bound: Bound,
    facts: &Arc<FactStore>,
) -> Vec<Box<dyn Algorithm + Send>> {
    let engines: &[Engine] = match bound {
        Bound::Any => &[Engine::Explicit, Engine::Guided, Engine::KarpMiller],
        _ => &[Engine::Explicit],
    };
    engines.iter().map(|engine| engine.build_with(settings, facts)).collect()
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(name: &str) -> Result<Engine, String> {
        let found = Engine::ALL.iter().copied().find(|engine| engine.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
            format!("`{name}` is not an engine; the engines are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_answers_under_the_name_by_which_it_is_asked_for() {
        for &engine in Engine::ALL {
            for quotient in [false, true] {
                let settings = Settings { quotient, ..Settings::default() };
                assert_eq!(engine.build(&settings).name(), engine.name());
            }
        }
        assert!("plain".parse::<Engine>().is_err());
    }
}
