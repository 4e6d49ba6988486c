//! The smallest number of threads that shows every reachable thread state.

use std::sync::Arc;
use std::time::Instant;

use super::{Job, hit, obeying, room_for_the_start};
use crate::error::Error;
use crate::report::cutoff::CutoffOutcome;
use throng_check::Checked;
use throng_check::rules::Flaw;
use throng_check::rules::cutoff::{CutoffProof, check_cutoff};
use throng_engine::Algorithm;
use throng_engine::cutoff::{Cutoff, Method, cutoff, runs};
use throng_engine::facts::FactStore;
use throng_engine::karp_miller::KarpMiller;
use throng_engine::{Engine, Settings};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;

/// How it is known that nothing more can appear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CutoffMethod {
    /// Compare with the exact set, which Karp-Miller computes.
    Exact,
    /// Grow the number of threads, and prove the remaining candidates unreachable when nothing new
    /// appears.
    Dynamic,
}

/// A cutoff, or why there is none, and its proof.
type Proved = (Result<Cutoff, Unknown>, Option<(Arc<CutoffProof>, Checked)>);

impl Job<'_> {
    /// Finds the cutoff and checks its evidence. Without a method, the exact one is taken if
    /// `karp-miller` takes the model.
    ///
    /// ```
    /// use throng::{Engine, Format, Input, Job, Limits};
    /// let input = Input::from_text("2 2\n0 0 -> 1 1\n", Format::Tts)?;
    /// let found = Job::new(&input).cutoff(Engine::Auto, None, &Limits::none())?;
    /// assert_eq!(found.cutoff.as_ref().map(|c| c.threads), Ok(2), "{}", found.text());
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn cutoff(
        &self,
        engine: Engine,
        method: Option<CutoffMethod>,
        limits: &Limits,
    ) -> Result<CutoffOutcome, Error> {
        let prepared = self.prepare_listing()?;
        let problem = &prepared.problem;
        room_for_the_start(problem)?;
        let facts = Arc::new(FactStore::default());
        let prover = prover(engine, problem, &facts).ok_or_else(|| {
            let why =
                "a cutoff is found by the engines `karp-miller` and `backward`, which is helped by views";
            Error::Unsuitable(why.into())
        })?;
        let karp_miller = KarpMiller::default();
        let is_exact = engine == Engine::KarpMiller || engine == Engine::Auto && !needs_prover(problem);
        let method = match method {
            Some(CutoffMethod::Exact) if engine == Engine::Backward => {
                return Err(Error::Unsuitable("the exact method is for the engine `karp-miller`".into()));
            }
            Some(CutoffMethod::Exact) => Method::Exact(&karp_miller),
            None if is_exact => Method::Exact(&karp_miller),
            Some(CutoffMethod::Dynamic) | None => Method::Dynamic(&*prover, &facts),
        };
        let began = Instant::now();
        let (found, proof) = obeying(problem, limits, || {
            let found = self
                .check_doubt()
                .and_then(|()| cutoff(problem, &method, self.settings.jobs, limits, self.watch))
                .map_err(|why| hit(limits, why));
            self.checked_cutoff(problem, found, limits)
        })?;
        let (proof, checked) = proof.unzip();
        Ok(CutoffOutcome {
            problem: problem.clone(),
            cutoff: found,
            proof,
            checked,
            time: began.elapsed(),
            subject: prepared.subject(self.question.vocabulary),
        })
    }

    /// The cutoff with its proof, unless that cannot be had within the limits.
    fn checked_cutoff(
        &self,
        problem: &Problem,
        found: Result<Cutoff, Unknown>,
        limits: &Limits,
    ) -> Result<Proved, Error> {
        let cutoff = match found {
            Ok(cutoff) if self.checks => cutoff,
            unchecked => return Ok((unchecked, None)),
        };
        let checked = runs::proof(problem, &cutoff, limits)
            .map_err(Flaw::Limit)
            .and_then(|proof| Ok((check_cutoff(problem, &proof, limits)?, proof)));
        match checked {
            Ok((checked, proof)) => Ok((Ok(cutoff), Some((Arc::new(proof), checked)))),
            Err(Flaw::Limit(why)) => Ok((Err(why), None)),
            Err(flaw) => Err(Error::Flawed(format!("the cutoff does not stand: {flaw}"))),
        }
    }
}

/// Returns whether `karp-miller` does not take the model.
pub(super) fn needs_prover(problem: &Problem) -> bool {
    problem.model.moves_bystanders() || problem.model.blocking().is_some()
}

/// What decides whether a thread state can be reached by any number of threads, if this engine can.
pub(super) fn prover(
    engine: Engine,
    problem: &Problem,
    facts: &Arc<FactStore>,
) -> Option<Box<dyn Algorithm + Send>> {
    let engine = match engine {
        Engine::Backward | Engine::KarpMiller => engine,
        Engine::Auto if needs_prover(problem) => Engine::Backward,
        Engine::Auto => Engine::KarpMiller,
        _ => return None,
    };
    Some(engine.build_with(&Settings::default(), facts))
}
