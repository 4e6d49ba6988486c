//! Answers that are known because a case was built around them.
//!
//! Each comes with what makes it true, and that is looked at again before it counts: a case that
//! was shrunk may have lost it.

use serde::{Deserialize, Serialize};

use super::case::{Body, Case, Program};
use super::claim::Claim;
use super::naive::{State, Steps};
use super::nets::{Net, Rule, Tokens, Update};
use super::threads::{Arrow, Edge, Threads};
use crate::Rng;
use crate::interpreter::{Met, Naive, Question};
use throng_lang::bp::parser;

/// Reasons why the answer about a target is known: about the first one of systems and nets, and
/// about the label or invariant of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Known {
    /// No step makes a configuration heavier, and the target is heavier than every start.
    Weights {
        /// Weights of shared states; empty for nets.
        shared: Vec<i64>,
        /// Weights of threads in local states, or of tokens in places; never negative.
        local: Vec<i64>,
    },
    /// This run ends in the target.
    Run(Vec<State>),
    /// Every assignment of the program keeps an expression over the shared variables true.
    Invariant(Kept),
    /// A random walk of the naive interpreter ends in the target.
    Walk(Walk),
}

/// An invariant of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The expression.
    pub expression: String,
    /// The same about the values after a step.
    pub primed: String,
    /// Initial values of the shared variables: together they make it true.
    pub start: Vec<(String, bool)>,
    /// True if every function begins with `enforce`; else every assignment has a constraint.
    pub enforced: bool,
}

/// A walk and what it met.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Walk {
    /// Maximum number of threads at once.
    pub within: usize,
    /// Indices of the steps taken among the possible ones, in order; the first chooses the start.
    pub choices: Vec<usize>,
}

impl Known {
    /// Returns what is known about each target, in the order of the problem; `None` if it no longer
    /// stands.
    pub fn claims(&self, case: &Case, names: &[String]) -> Option<Vec<Claim>> {
        let mut claims = vec![Claim::UNKNOWN; names.len()];
        match (self, &case.body) {
            (Known::Weights { shared, local }, Body::Threads(threads)) => {
                *claims.first_mut()? = threads_weigh_less(threads, shared, local).then_some(Claim::SAFE)?;
            }
            (Known::Weights { local, .. }, Body::Net(net)) => {
                *claims.first_mut()? = net_weighs_less(net, local).then_some(Claim::SAFE)?;
            }
            (Known::Run(run), Body::Threads(threads)) => *claims.first_mut()? = along(threads, run, case)?,
            (Known::Run(run), Body::Net(net)) => {
                let claim = along(net, run, case)?;
                *claims.first_mut()? = if net.counts() { claim } else { claim.uncounted() };
            }
            (Known::Invariant(kept), Body::Program(program)) => {
                kept.holds(program).then_some(())?;
                let safe = |name: &String| name == "assertions" || name.starts_with("invariant ");
                claims = names.iter().map(|n| if safe(n) { Claim::SAFE } else { Claim::UNKNOWN }).collect();
            }
            (Known::Walk(walk), Body::Program(program)) => {
                let met = walk.again(program, case.threads)?;
                for (claim, name) in claims.iter_mut().zip(names) {
                    if met_target(&met, program, name) {
                        *claim = Claim::hit(met.threads as u32);
                    }
                }
                claims.iter().any(|s| s.hit.is_some()).then_some(())?;
            }
            _ => return None,
        }
        Some(claims)
    }
}

// ── weights ──

/// Returns whether an edge makes no configuration heavier.
pub(super) fn edge_keeps(edge: &Edge, shared: &[i64], local: &[i64]) -> bool {
    let s = |i: u32| shared[i as usize];
    let l = |i: u32| local[i as usize];
    let change = if edge.anywhere { 0 } else { s(edge.to.0) - s(edge.from.0) };
    match edge.arrow {
        Arrow::Move => {
            change + l(edge.to.1) - l(edge.from.1) <= 0 && edge.passive.iter().all(|&(p, q)| l(q) <= l(p))
        }
        Arrow::Spawn => change + l(edge.to.1) <= 0,
        Arrow::Transfer => change <= 0 && l(edge.to.1) <= l(edge.from.1),
    }
}

/// Returns the weight of a configuration.
pub(super) fn weight((s, threads): (u32, &[u32]), shared: &[i64], local: &[i64]) -> i64 {
    shared[s as usize] + threads.iter().map(|&l| local[l as usize]).sum::<i64>()
}

fn threads_weigh_less(threads: &Threads, shared: &[i64], local: &[i64]) -> bool {
    let (s, exactly, any) = &threads.start;
    let start = weight((*s, exactly), shared, local);
    let Some((s, target)) = threads.targets.first() else { return false };
    local.iter().all(|&w| w >= 0)
        && any.iter().all(|&l| local[l as usize] == 0)
        && threads.edges.iter().all(|edge| edge_keeps(edge, shared, local))
        && weight((*s, target), shared, local) > start
}

/// Returns whether a rule makes no marking heavier: its largest change, over all markings that it
/// can fire in.
pub(super) fn rule_keeps(rule: &Rule, local: &[i64]) -> bool {
    let w = |p: u32| local[p as usize];
    let least = |p: u32| rule.guard.get(&p).map_or(0, |g| i64::from(g.least()));
    let goes_to = |p: u32| {
        rule.update.iter().find_map(|(&q, update)| match update {
            Update::Gather { from, .. } if from.contains(&p) => Some(q),
            _ => None,
        })
    };
    let mut change = 0;
    for (&p, update) in &rule.update {
        match update {
            Update::Add(c) => change += w(p) * i64::from(*c),
            Update::Set(c) => {
                let to = goes_to(p).map_or(0, w);
                if to > w(p) {
                    return false;
                }
                change += w(p) * i64::from(*c) + (to - w(p)) * least(p);
            }
            Update::Gather { keep, add, .. } => {
                let lost = if *keep { 0 } else { w(p) * least(p) };
                change += w(p) * i64::from(*add) - lost;
            }
        }
    }
    change <= 0
}

fn net_weighs_less(net: &Net, local: &[i64]) -> bool {
    let heaviest = |(tokens, w): (&Tokens, &i64)| match tokens.most() {
        _ if *w == 0 => Some(0),
        Some(most) => Some(w * i64::from(most)),
        None => None,
    };
    let Some(start) = net.start.iter().zip(local).map(heaviest).sum::<Option<i64>>() else { return false };
    let heavy = |(&p, t): (&u32, &Tokens)| local[p as usize] * i64::from(t.least());
    let target = net.targets.first().map(|part| part.iter().map(heavy).sum::<i64>());
    local.iter().all(|&w| w >= 0)
        && net.rules.iter().all(|rule| rule_keeps(rule, local))
        && target.is_some_and(|target| target > start)
}

// ── runs ──

/// Returns what a run shows about the first target, if it is one and the bound allows it.
fn along(system: &dyn Steps, run: &[State], case: &Case) -> Option<Claim> {
    let (first, last) = (run.first()?, run.last()?);
    let most = run.iter().map(|state| system.size(state)).max()?;
    let is_net = matches!(case.body, Body::Net(_));
    let starts = match case.threads {
        Some(n) if is_net => system.starts_of_tokens(n),
        Some(n) if most > n => return None,
        _ => system.starts(system.size(first)),
    };
    let steps = |pair: &[State]| system.after(&pair[0], None).contains(&pair[1]);
    let stands = starts.contains(first) && run.windows(2).all(steps) && system.hits(last, 0);
    let threads = if is_net && case.threads.is_some() { Claim::UNCOUNTED } else { most };
    stands.then(|| Claim::hit(threads))
}

// ── programs ──

impl Kept {
    /// The statement that keeps it.
    pub(super) fn enforce(&self) -> String {
        format!("enforce ({});", self.expression)
    }

    /// The constraint that keeps it.
    pub(super) fn constrain(&self) -> String {
        format!(" constrain ({})", self.primed)
    }

    /// Returns whether the text still has all that makes it true.
    fn holds(&self, program: &Program) -> bool {
        let lines: Vec<&str> = program.text.lines().collect();
        let trimmed = |i: usize| lines.get(i).map_or("", |l| l.trim_start());
        let declared = self
            .start
            .iter()
            .all(|(name, value)| lines.contains(&format!("decl {name} := {};", u8::from(*value)).as_str()));
        let hidden = |l: &&str| {
            l.starts_with(' ')
                && self.start.iter().any(|(n, _)| l.trim_start().starts_with(&format!("decl {n}")))
        };
        let kept = if self.enforced {
            (0..lines.len()).filter(|&i| trimmed(i) == "begin").all(|i| {
                let first = (i + 1..lines.len()).find(|&j| !trimmed(j).starts_with("decl "));
                first.is_some_and(|j| trimmed(j) == self.enforce())
            })
        } else {
            let assigns = |l: &&&str| l.contains(":=") && !l.trim_start().starts_with("decl ");
            lines.iter().filter(assigns).all(|l| l.contains(&self.constrain()))
        };
        let asserts = |l: &str| l.contains("assert") || l.contains("abortif");
        let harmless = |l: &&str| !asserts(l) || l.trim_start() == self.assert();
        declared && !lines.iter().any(hidden) && kept && lines.iter().all(harmless)
    }

    /// An assertion that holds.
    pub(super) fn assert(&self) -> String {
        format!("assert ({});", self.expression)
    }
}

impl Walk {
    /// Takes a random walk through a program.
    pub(super) fn random(rng: &mut Rng, program: &Program, bound: Option<u32>) -> Option<(Walk, Met)> {
        let within = 1 + rng.index(5);
        let mut walk = Walk { within, choices: Vec::new() };
        let steps = 2 + rng.index(40);
        let mut choices = Vec::new();
        let met = walk.take(program, bound, steps, &mut |n| {
            choices.push(rng.index(n));
            choices[choices.len() - 1]
        });
        walk.choices = choices;
        met.map(|met| (walk, met))
    }

    /// The same walk, or what is left of it.
    fn again(&self, program: &Program, bound: Option<u32>) -> Option<Met> {
        let mut choices = self.choices.iter();
        let steps = self.choices.len().saturating_sub(1);
        self.take(program, bound, steps, &mut |n| choices.next().map_or(0, |c| c % n))
    }

    fn take(
        &self,
        program: &Program,
        bound: Option<u32>,
        steps: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Met> {
        let (tree, _) = parser::parse(&program.text);
        let question = Question {
            bound: bound.map_or(usize::MAX, |n| n as usize),
            initial: program.initial.map(|n| n as usize),
            keep_ended: program.keep_ended,
            limit: 0,
        };
        Naive::new(&program.text, &tree).walk(&question, self.within, steps, choose)
    }
}

/// Returns whether what a walk met is a target of this name.
fn met_target(met: &Met, program: &Program, name: &str) -> bool {
    let asked = |label: &str| program.label.as_deref() == Some(label);
    if name.starts_with("error label ") {
        met.at.iter().any(|l| asked(l))
    } else if name.starts_with("mutex ") {
        met.twice.iter().any(|l| asked(l))
    } else if name.starts_with("invariant ") {
        met.shared.as_ref().is_some_and(|values| program.invariant.as_deref() == Some(&other_than(values)))
    } else {
        false
    }
}

/// The expression that is false only for these values.
pub(super) fn other_than(values: &[(String, bool)]) -> String {
    let differs = values.iter().map(|(name, v)| if *v { format!("!{name}") } else { name.clone() });
    differs.collect::<Vec<_>>().join(" | ")
}
