//! Restricts an engine to upward-closed targets: most engines know no others.

use super::{Algorithm, Answer, Progress, Watch};
use crate::checkpoint::Keeper;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// Wraps an engine that does not know formulas.
pub struct OnCovering(pub Box<dyn Algorithm + Send>);

impl Algorithm for OnCovering {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let places: Vec<usize> =
            (0..problem.targets.len()).filter(|&i| problem.targets[i].is_upward_closed()).collect();
        if places.len() == problem.targets.len() {
            return self.0.run(problem, limits, watch);
        }
        let targets = places.iter().map(|&i| problem.targets[i].clone()).collect();
        let known = Problem { targets, ..problem.clone() };
        let mut all = self.0.run(&known, limits, &Numbered { places: &places, watch });
        let why = "it only decides upward-closed targets; use `reachability`";
        let refused = Verdict::Unknown(Unknown::NotForThisModel(why.into()));
        let mut verdicts = vec![refused; problem.targets.len()];
        let (mut by, mut fewest) = (vec![None; verdicts.len()], vec![false; verdicts.len()]);
        for (given, &i) in places.iter().enumerate() {
            verdicts[i] = all.verdicts[given].clone();
            by[i] = all.by.get(given).copied().flatten();
            fewest[i] = all.fewest.get(given).copied().unwrap_or(false);
        }
        (all.verdicts, all.by, all.fewest) = (verdicts, by, fewest);
        all
    }
}

/// Passes on verdicts, with the number of the target in the whole problem.
struct Numbered<'a> {
    places: &'a [usize],
    watch: &'a dyn Watch,
}

impl Watch for Numbered<'_> {
    fn progress(&self, now: &Progress) {
        self.watch.progress(now);
    }

    fn found(&self, target: usize, verdict: &Verdict) {
        self.watch.found(self.places[target], verdict);
    }

    fn keeper(&self) -> Option<&dyn Keeper> {
        self.watch.keeper()
    }
}
