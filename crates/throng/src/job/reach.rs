//! Every thread state that can be reached.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::cutoff::{needs_prover, prover};
use super::{Job, hit, obeying, room_for_the_start};
use crate::error::Error;
use crate::report::reach::{ReachOutcome, places};
use throng_engine::Engine;
use throng_engine::cutoff::{self, ThreadState, outside_atomic};
use throng_engine::explicit;
use throng_engine::facts::FactStore;
use throng_engine::karp_miller::reachable_unbounded;
use throng_engine::thread_states::{self, expanded};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;

/// Which thread states are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Moments {
    /// Those at moments at which no thread is inside an atomic section.
    #[default]
    OutsideAtomic,
    /// All.
    All,
}

impl Job<'_> {
    /// Lists every thread state that can be reached, whatever the properties. Where that cannot be
    /// known, the outcome says why; it never lists a part of them as if it were all.
    ///
    /// ```
    /// use throng::{Engine, Format, Input, Job, Limits, Moments};
    /// let input = Input::from_text("2 2\n0 0 -> 1 1\n", Format::Tts)?;
    /// let found = Job::new(&input).reach(Engine::Auto, Moments::All, &Limits::none())?;
    /// assert_eq!(found.states.as_ref().map(Vec::len), Ok(3), "{}", found.text(false));
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn reach(&self, engine: Engine, moments: Moments, limits: &Limits) -> Result<ReachOutcome, Error> {
        let prepared = self.prepare_listing()?;
        let problem = &prepared.problem;
        room_for_the_start(problem)?;
        let began = Instant::now();
        let found = obeying(problem, limits, || self.thread_states(engine, problem, limits))?;
        let found = found.map_err(|why| hit(limits, why));
        let model = &*problem.model;
        let places = found.as_ref().map_or_else(|_| HashSet::new(), |found| places(model, found));
        let states = found.and_then(|found| {
            let listed = match moments {
                Moments::All => found,
                Moments::OutsideAtomic => outside_atomic(model, found),
            };
            Ok(expanded(model, thread_states::canonical(problem, &listed, limits)?))
        });
        Ok(ReachOutcome {
            problem: problem.clone(),
            states,
            places,
            time: began.elapsed(),
            subject: prepared.subject(self.question.vocabulary),
        })
    }

    fn thread_states(
        &self,
        engine: Engine,
        problem: &Problem,
        limits: &Limits,
    ) -> Result<Result<Vec<ThreadState>, Unknown>, Error> {
        let (jobs, watch) = (self.settings.jobs, self.watch);
        let any_number = problem.bound == Bound::Any;
        if let Err(why) = self.check_doubt() {
            return Ok(Err(why));
        }
        Ok(match engine {
            Engine::Auto if any_number && needs_prover(problem) => self.grown(engine, problem, limits),
            Engine::Backward if any_number => self.grown(engine, problem, limits),
            Engine::Auto | Engine::KarpMiller if any_number => reachable_unbounded(problem, limits, watch),
            Engine::Auto | Engine::Explicit => explicit::reachable(problem, jobs, limits, watch),
            #[cfg(feature = "symbolic")]
            Engine::Symbolic => throng_engine::symbolic::thread_states::reachable(problem, limits, watch),
            _ => {
                let why = "thread states are listed by `explicit` and `symbolic` (with a thread bound) and by `karp-miller` and `backward` (without)";
                return Err(Error::Unsuitable(why.into()));
            }
        })
    }

    /// By growing the number of threads, and proving that more bring nothing new.
    fn grown(&self, engine: Engine, problem: &Problem, limits: &Limits) -> Result<Vec<ThreadState>, Unknown> {
        let facts = Arc::new(FactStore::default());
        match prover(engine, problem, &facts) {
            Some(prover) => {
                cutoff::reachable(problem, &*prover, &facts, self.settings.jobs, limits, self.watch)
            }
            None => Err(Unknown::NotForThisModel(
                "this engine does not decide what any number of threads reach".into(),
            )),
        }
    }
}
