//! The rule for localised models: each target configuration is ruled out by some part, and each
//! part is checked by the rule of its kind, in the model that the checker builds itself from the
//! variables that are kept ([`throng_model::localisation`]).

use std::sync::Arc;

use super::{Flaw, check_safe};
use throng_model::limits::Ticker;
use throng_model::localisation::{LocalisedModel, localise};
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Branch, Certificate, LocalProof, Vector};
use throng_model::views::Views;
use throng_model::{Config, Local, Shared};

pub(super) fn check_localised(
    problem: &Problem,
    target: &Target,
    parts: &[LocalProof],
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let Some(sets) = problem.model.sets() else {
        return Err(Flaw::NotForThisModel("only programs are localised".into()));
    };
    let place = |l: Local| sets.cubes().local_cube(l).0;
    let mut open: Vec<&Config> = target.configs.iter().collect();
    for LocalProof { map, at, proof } in parts {
        let mut at: Vec<u32> = at.iter().map(|&l| place(l)).collect();
        at.sort_unstable();
        let concerned =
            |bad: &Config| bad.threads.entries().iter().all(|&(l, _)| at.binary_search(&place(l)).is_ok());
        let (configs, rest): (Vec<&Config>, Vec<&Config>) = open.iter().partition(|bad| concerned(bad));
        open = rest;
        if configs.is_empty() {
            continue;
        }
        let target = target.with_configs(configs.into_iter().cloned().collect());
        let (problem, model) = localise(problem, &target, map).map_err(Flaw::NotForThisModel)?;
        of_images(&model, proof)?;
        check_safe(&problem, &problem.targets[0], proof, ticker)?;
    }
    match open.first() {
        None => Ok(()),
        Some(bad) => Err(Flaw::Malformed(format!("no part is about {}", bad.describe(&*problem.model)))),
    }
}

/// Checks that all states of a proof are states of the localised model.
fn of_images(model: &Arc<LocalisedModel>, proof: &Certificate) -> Result<(), Flaw> {
    let shared = |s: Shared| model.is_image(s);
    let config =
        |c: &Config| shared(c.shared) && c.threads.entries().iter().all(|&(l, _)| model.is_local_image(l));
    let views_fit = |views: &Views| {
        views.groups().all(|e| shared(e.0)) && views.locals().all(|l| model.is_local_image(l))
    };
    let fits = match proof {
        Certificate::Closed(set) | Certificate::Downward(set) | Certificate::Upward(set) => {
            set.iter().all(config)
        }
        Certificate::Views(views) => views_fit(views),
        Certificate::Relative(relative) => {
            let vector = |v: &Vector| {
                v.shared.iter().all(|e| shared(e.0)) && v.locals.iter().all(|e| model.is_local_image(e.0))
            };
            views_fit(&relative.views)
                && relative.basis.iter().all(config)
                && relative.vectors.iter().all(vector)
                && relative.trees.iter().flatten().all(|branch| match branch {
                    Branch::Split(states) => states.iter().copied().all(shared),
                    Branch::Leaf { vector: v, .. } => vector(v),
                })
        }
        Certificate::Packed(_)
        | Certificate::Products(_)
        | Certificate::Quotient(..)
        | Certificate::Reduced(..)
        | Certificate::Refutation(_)
        | Certificate::Spread(_)
        | Certificate::OfSource(_)
        | Certificate::Localised(_) => {
            return Err(Flaw::NotForThisModel("this kind of evidence is not about localised models".into()));
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Flaw::Malformed("a state has a value of a variable that is not kept".into())),
    }
}
