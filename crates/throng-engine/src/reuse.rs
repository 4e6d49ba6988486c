//! Reuse of evidence: tries the certificate of an earlier version of the input on this one, and
//! runs another engine for targets that it no longer proves. The checker verifies the result, as
//! with any other evidence.

use std::mem::take;
use std::time::Instant;

use super::{Algorithm, Answer, Statistics, Watch};
use throng_check::certificate::Document;
use throng_check::certify::translate;
use throng_check::rules::check_within;
use throng_lang::load::Loaded;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Unknown, Verdict};

/// An engine that first tries an earlier certificate.
pub struct Reuse<'a> {
    loaded: &'a Loaded,
    old: Document,
    then: Box<dyn Algorithm + Send + 'a>,
}

impl<'a> Reuse<'a> {
    /// Tries `old` on the input, then runs `then`.
    pub fn new(loaded: &'a Loaded, old: Document, then: Box<dyn Algorithm + Send + 'a>) -> Reuse<'a> {
        Reuse { loaded, old, then }
    }
}

impl Algorithm for Reuse<'_> {
    fn name(&self) -> &'static str {
        "reuse"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let began = Instant::now();
        let mut checked = Vec::new();
        let mut stands = |(target, old): (&Target, Option<Verdict>)| {
            let old = old?;
            checked.push(check_within(problem, target, &old, limits).ok()?);
            Some(old)
        };
        let old = translate(self.loaded, &self.old, problem);
        let old: Vec<Option<Verdict>> = problem.targets.iter().zip(old).map(&mut stands).collect();
        let checking = began.elapsed();
        let open: Vec<usize> = (0..old.len()).filter(|&i| old[i].is_none()).collect();
        let mut answer = Answer::new(Vec::new(), Statistics::default());
        answer.checked = checked.first().copied();
        if !open.is_empty() {
            let targets = open.iter().map(|&i| problem.targets[i].clone()).collect();
            answer = self.then.run(&Problem { targets, ..problem.clone() }, limits, watch);
        }
        let (verdicts, by, fewest) =
            (take(&mut answer.verdicts), take(&mut answer.by), take(&mut answer.fewest));
        let mut found = verdicts.into_iter().zip(by).zip(fewest);
        for old in old {
            let ((verdict, engine), few) = match old {
                Some(verdict) => ((verdict, Some(self.name())), false),
                None => found.next().unwrap_or(((Verdict::Unknown(Unknown::Cancelled), None), false)),
            };
            answer.verdicts.push(verdict);
            answer.by.push(engine.or(Some(self.then.name())));
            answer.fewest.push(few);
        }
        answer.checking += checking;
        answer
    }
}
