//! Whether so many threads show every reachable thread state, and fewer do not: see `docs/formats.md`.

use super::{Flaw, check_within, is_initial, singles};
use crate::limits::Limits;
use crate::model::{Config, Local, Model, Shared, semantics};
use crate::problem::{Problem, Target};
use crate::verdict::{Certificate, RunNode, Verdict};

/// Evidence about a cutoff.
pub struct CutoffProof {
    /// The cutoff.
    pub threads: u32,
    /// Runs.
    pub runs: Vec<RunNode>,
    /// Every reachable thread state, and the node where it is reached.
    pub reachable: Vec<(Shared, Local, usize)>,
    /// A downward set or views: whatever they do not hold cannot be reached.
    pub rest: Certificate,
    /// Thread states that they hold, and why those cannot be reached either.
    pub except: Vec<(Shared, Local, Certificate)>,
    /// A thread state that fewer threads do not reach, and all that they do reach.
    pub needed: Option<((Shared, Local), Vec<Config>)>,
}

/// Checks all of it; `problem` has no targets.
pub fn check_cutoff(problem: &Problem, proof: &CutoffProof, limits: &Limits) -> Result<(), Flaw> {
    let model = &*problem.model;
    let malformed = |what: &str| Err(Flaw::Malformed(what.into()));
    for (i, node) in proof.runs.iter().enumerate() {
        check_node(problem, proof, i, node)?;
    }
    for &(s, l, at) in &proof.reachable {
        let Some(node) = proof.runs.get(at) else { return malformed("a run is not there") };
        if !holds(model, &node.config, s, l) {
            return Err(Flaw::EndIsNotBad(node.config.describe(model)));
        }
    }
    let none = Target { name: "nothing".into(), configs: Vec::new() };
    check_within(problem, &none, &Verdict::Safe(proof.rest.clone()), limits)?;
    for (s, l, why) in &proof.except {
        let target = Target { name: "a thread state".into(), configs: vec![state(*s, *l)] };
        check_within(problem, &target, &Verdict::Safe(why.clone()), limits)?;
    }
    let within = |(s, l): (Shared, Local), (t, m): (Shared, Local)| {
        (s, l) == (t, m) || !model.is_exact() && model.within_shared(s, t) && model.within_local(l, m)
    };
    let Some(held) = singles(&proof.rest) else {
        return malformed("this does not hold all that is reachable");
    };
    let listed: std::collections::HashSet<(Shared, Local)> =
        proof.reachable.iter().map(|r| (r.0, r.1)).chain(proof.except.iter().map(|e| (e.0, e.1))).collect();
    for state in held {
        if !listed.contains(&state) && (model.is_exact() || !listed.iter().any(|&t| within(state, t))) {
            return Err(Flaw::BadMember(self::state(state.0, state.1).describe(model)));
        }
    }
    match &proof.needed {
        None => Ok(()),
        Some((state, set)) => check_needed(problem, proof.threads, *state, set, limits),
    }
}

fn state(s: Shared, l: Local) -> Config {
    Config::new(s, std::iter::once(l).collect())
}

/// Whether all of a thread state is in a configuration.
fn holds(model: &dyn Model, config: &Config, s: Shared, l: Local) -> bool {
    model.within_shared(s, config.shared)
        && config.threads.entries().iter().any(|e| model.within_local(l, e.0))
}

fn check_node(problem: &Problem, proof: &CutoffProof, i: usize, node: &RunNode) -> Result<(), Flaw> {
    let model = &*problem.model;
    if node.config.threads.size() > proof.threads {
        let what = format!("{} has more than {} threads", node.config.describe(model), proof.threads);
        return Err(Flaw::Malformed(what));
    }
    let Some(parent) = node.parent else {
        let initial = is_initial(problem, &node.config);
        return if initial { Ok(()) } else { Err(Flaw::NotInitial(node.config.describe(model))) };
    };
    let Some(before) = proof.runs[..i].get(parent) else {
        return Err(Flaw::Malformed("a run comes from later".into()));
    };
    let mut steps = Vec::new();
    match node.by {
        None => model.post_shared(before.config.shared, &mut steps),
        Some(by) => model.post(before.config.shared, by, &mut steps),
    }
    let mut after = Vec::new();
    steps.iter().for_each(|s| semantics::fire(model, &before.config, s, None, &mut after));
    if after.iter().any(|c| node.config.is_within(c, model)) {
        Ok(())
    } else {
        Err(Flaw::LeadsElsewhere(i + 1, node.config.describe(model)))
    }
}

/// Closed under the steps after which there are fewer threads than the cutoff: the state is in none.
fn check_needed(
    problem: &Problem,
    threads: u32,
    (s, l): (Shared, Local),
    set: &[Config],
    limits: &Limits,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    let inside = super::Inside::new(model, set);
    let fewer = threads.saturating_sub(1);
    for family in &problem.initial {
        for size in 0..=fewer {
            family.each_of_size(size, &mut |c| {
                if inside.holds(&c) { Ok(()) } else { Err(Flaw::InitialMissing(c.describe(model))) }
            })?;
        }
    }
    let mut after = Vec::new();
    for config in set {
        limits.check()?;
        let meets = model.meets_shared(s, config.shared)
            && config.threads.entries().iter().any(|e| model.meets_local(l, e.0));
        if meets {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        semantics::successors(model, config, None, &mut after);
        let outside = after.drain(..).map(|a| a.1).find(|c| c.threads.size() <= fewer && !inside.holds(c));
        if let Some(outside) = outside {
            return Err(Flaw::NotClosed(config.describe(model), outside.describe(model)));
        }
    }
    Ok(())
}
