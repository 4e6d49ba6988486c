//! The loop: abstract, ask the engines, follow the run that they find, learn predicates from it.

use std::time::{Duration, Instant};

use throng::{Engine, Format, Input, Job, Settings, Start};
use throng_c::goto::{BinOp, Expr, Int, Program};
use throng_check::certificate::write::document;
use throng_model::limits::Limits;
use throng_model::thread_names::{Role, ThreadNames};
use throng_model::verdict::{Trace, Unknown};

use crate::abstraction::{Abstraction, Cube, edge, edge_count};
use crate::edges::{Graph, To};
use crate::predicates::{Predicate, Predicates};
use crate::refine::{Move, Simulated, discover, simulate};
use crate::render::{Rendered, render};
use crate::simplify::type_of;
use crate::variables::Variables;

/// What happened in one round, for people.
#[derive(Clone, Debug)]
pub struct Round {
    /// From 1.
    pub number: usize,
    /// Predicates in use, and how many of them each thread has for itself.
    pub predicates: (usize, usize),
    /// What the engines said about the abstraction.
    pub said: String,
    /// Which engine.
    pub engine: String,
    /// How long the abstraction took, and the engines.
    pub times: (Duration, Duration),
    /// What comes of it.
    pub then: String,
    /// The abstract program.
    pub program: String,
}

/// A proof for any number of threads.
pub struct Proof {
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// For each edge, what no step along it satisfies.
    pub never: Vec<Vec<Cube>>,
    /// The certificate of the abstract program.
    pub abstract_proof: serde_json::Value,
    /// How many rounds it took.
    pub rounds: usize,
    /// Who proved the abstraction.
    pub engine: String,
}

/// Tries to prove that no violation can happen: first with every computed access inside its object as a part of the proof, then, if that fails, taking
/// it for granted ([`Graph::trusts`]). The graph that the result is about comes with it.
pub fn attempt(
    program: &Program,
    limits: &Limits,
    watch: &mut dyn FnMut(&Round),
) -> Result<(Graph, Ended), Unknown> {
    let refused = Unknown::Inconclusive;
    let strict = Graph::of(program, false).map_err(refused)?;
    let trusting = Graph::of(program, true).map_err(refused)?;
    let seeds = Vec::new();
    if !trusting.trusts {
        let ended = prove(program, &strict, seeds, limits, watch)?;
        return Ok((strict, ended));
    }
    let share = limits.time_left().map_or(LONGEST_STRICT, |left| (left / 3).min(LONGEST_STRICT));
    match prove(program, &strict, seeds.clone(), &limits.part().timeout(share), watch) {
        Ok(Ended::Found(run, values)) if is_violation(&strict, &run) => {
            return Ok((strict, Ended::Found(run, values)));
        }
        Ok(Ended::Proved(proof)) => return Ok((strict, Ended::Proved(proof))),
        Ok(Ended::Found(..)) | Err(_) => limits.check()?,
    }
    let ended = prove(program, &trusting, seeds, limits, watch)?;
    Ok((trusting, ended))
}

/// How long a proof is tried that also shows accesses to be inside their objects.
const LONGEST_STRICT: Duration = Duration::from_secs(10);

/// How the loop ended.
pub enum Ended {
    /// No violation can happen, for any number of threads.
    Proved(Box<Proof>),
    /// The abstraction has a run that exact values can follow, step by step with the inputs of each.
    Found(Vec<Move>, Vec<Vec<i64>>),
}

/// The most rounds.
const MOST_ROUNDS: usize = 40;
/// The most predicates.
const MOST_PREDICATES: usize = 40;

/// Tries to prove that no violation can happen, beginning with these predicates.
pub fn prove(
    program: &Program,
    graph: &Graph,
    seeds: Vec<Predicate>,
    limits: &Limits,
    watch: &mut dyn FnMut(&Round),
) -> Result<Ended, Unknown> {
    let mut predicates = Predicates::default();
    for p in seeds {
        predicates.add(p, &graph.variables, limits)?;
    }
    let mut abstraction = Abstraction::default();
    for number in 1..=MOST_ROUNDS {
        let began = Instant::now();
        let never = (0..edge_count(graph))
            .map(|n| abstraction.facts(program, graph, &predicates, n, limits))
            .collect::<Result<Vec<_>, _>>()?;
        let rendered = render(program, graph, &predicates.list, &never);
        let abstracting = began.elapsed();
        let began = Instant::now();
        // Evidence that was found with partial orders cannot be written down.
        let mut settings = Settings::default();
        settings.partial_order = false;
        let input = Input::from_text(&rendered.text, Format::Bp).map_err(|why| internal(&why.to_string()))?;
        let job = Job::new(&input).start(Start::Threads(1)).settings(settings);
        let outcome = job.check(Engine::Auto, &limits.part()).map_err(|why| internal(&why.to_string()))?;
        let private = predicates.list.iter().filter(|p| p.template.is_some()).count();
        let mut round = Round {
            number,
            predicates: (predicates.list.len(), private),
            said: outcome.status().lower().to_string(),
            engine: outcome.answered_by(),
            times: (abstracting, began.elapsed()),
            then: String::new(),
            program: rendered.text.clone(),
        };
        if outcome.is_safe() {
            watch(&round);
            let origin = job.prepare().ok().and_then(|p| p.origin());
            let origin = origin.ok_or_else(|| internal("the abstraction has no origin"))?;
            let proof =
                document(&origin, &outcome.answer.verdicts).map_err(|why| internal(&why.to_string()))?;
            let abstract_proof = serde_json::to_value(&proof).map_err(|why| internal(&why.to_string()))?;
            return Ok(Ended::Proved(Box::new(Proof {
                predicates: predicates.list,
                never,
                abstract_proof,
                rounds: number,
                engine: outcome.answered_by(),
            })));
        }
        let Some(trace) = outcome.trace() else {
            watch(&round);
            let why = outcome.unknown().cloned().unwrap_or(Unknown::Cancelled);
            return Err(match why {
                Unknown::Inconclusive(why) => Unknown::Inconclusive(format!(
                    "the engines did not decide the abstraction with {} predicates: {why}",
                    predicates.list.len()
                )),
                why => why,
            });
        };
        let moves =
            moves(&outcome.problem, trace, &rendered).ok_or_else(|| internal("a run has no names"))?;
        match simulate(graph, &moves, limits)? {
            Simulated::Feasible(values) => {
                round.then = "a run with exact values".into();
                watch(&round);
                return Ok(Ended::Found(moves, values));
            }
            Simulated::Infeasible(last, core) => {
                let mut added = Vec::new();
                for p in discover(graph, &moves, last, &core) {
                    let bounds = bounds(&p, &predicates.list, &graph.variables);
                    for p in std::iter::once(p).chain(bounds) {
                        let text = p.text(&graph.variables);
                        if predicates.add(p, &graph.variables, limits)? {
                            added.push(text);
                        }
                    }
                }
                let place = place(program, graph, &moves[last]);
                round.then = match added.is_empty() {
                    true => format!("no predicate tells why a run stops at {place}"),
                    false => format!("a run stops at {place}: {}", added.join("; ")),
                };
                watch(&round);
                if added.is_empty() {
                    return Err(Unknown::Inconclusive(format!("abstraction is stuck: {}", round.then)));
                }
            }
        }
        if predicates.list.len() > MOST_PREDICATES {
            return Err(Unknown::Inconclusive(format!("more than {MOST_PREDICATES} predicates")));
        }
    }
    Err(Unknown::Inconclusive(format!("no proof after {MOST_ROUNDS} rounds of abstraction")))
}

/// Against `x == 0`, `x == 2`, `x == 4` and so on: with the second of these, whether x is less or more than the first.
fn bounds(p: &Predicate, list: &[Predicate], variables: &Variables) -> Vec<Predicate> {
    let constant = |e: &Expr| match e {
        Expr::Bin(BinOp::Eq, x, c, _) => match **c {
            Expr::Const(c) => Some((x.clone(), c)),
            _ => None,
        },
        _ => None,
    };
    let Some((x, new)) = constant(&p.expr) else { return Vec::new() };
    let earlier = list.iter().filter_map(|q| constant(&q.expr)).find(|(y, old)| *y == x && *old != new);
    let Some((_, old)) = earlier else { return Vec::new() };
    let ty = type_of(&x, &|id| variables.ty(id)).unwrap_or(Int::new(8, true));
    // Values of smaller types are the same with a sign.
    let at = Int::new(8, ty.signed || ty.size < 8);
    let less = |a: Box<Expr>, b: Box<Expr>| Predicate::of(Expr::Bin(BinOp::Lt, a, b, at), variables);
    let old = Box::new(Expr::Const(old));
    [less(old.clone(), x.clone()), less(x, old)].into_iter().flatten().collect()
}

fn internal(why: &str) -> Unknown {
    Unknown::Inconclusive(format!("abstraction failed: {why}"))
}

/// Where a step is in the C program.
pub fn place(program: &Program, graph: &Graph, m: &Move) -> String {
    let Some(e) = graph.edges.get(m.edge) else { return "the start".into() };
    let from = graph.places[e.from];
    let pc = match (&e.to, e.path.last()) {
        (To::Fail(..), Some(&pc)) => pc,
        _ => e.path.first().copied().unwrap_or(from.pc),
    };
    format!("line {}", program.origin(from.template, pc).line)
}

/// The edges that a run of the abstract program takes.
fn moves(problem: &throng_model::problem::Problem, trace: &Trace, rendered: &Rendered) -> Option<Vec<Move>> {
    let mut names = ThreadNames::new(&trace.start.threads)?;
    let mut found: Vec<Move> = Vec::new();
    for taken in &trace.steps {
        let changes = names.step(&*problem.model, &taken.step, &taken.after, None)?;
        let line = problem.model.edge_place(taken.step.edge).line;
        let acts = changes.iter().find(|c| c.role == Role::Acts)?.thread.0;
        if let Some(&edge) = rendered.edges.get(&line) {
            found.push(Move { thread: acts, edge, started: None });
        }
        for change in changes.iter().filter(|c| c.role == Role::Created) {
            if let Some(m) = found.iter_mut().rev().find(|m| m.thread == acts) {
                m.started.get_or_insert(change.thread.0);
            }
        }
    }
    Some(found)
}

/// Whether a run ends in a violation that was asked for.
pub fn is_violation(graph: &Graph, moves: &[Move]) -> bool {
    moves.last().is_some_and(|m| matches!(edge(graph, m.edge).to, To::Fail(Some(_), _)))
}

#[cfg(test)]
mod tests;
