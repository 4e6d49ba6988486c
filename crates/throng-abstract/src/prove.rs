//! The loop: abstract, ask the engines, follow the run that they find, learn predicates from it.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use throng_check::certificate::write::document;
use throng_engine::Answer;
use throng_goto::program::{BinOp, Expr, Int, Program};
use throng_goto_check::abstraction::boolean::Boolean;
use throng_goto_check::abstraction::certificate::Evidence;
use throng_goto_check::abstraction::cube::{Cube, edge, edge_count};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, To};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::program::{AbstractProgram, build, edge_of, predicate_of};
use throng_goto_check::abstraction::simplify::{size, type_of};
use throng_goto_check::abstraction::variables::Variables;
use throng_model::concrete::{Moment, needed};
use throng_model::limits::Limits;
use throng_model::plural;
use throng_model::problem::Problem;
use throng_model::thread_names::Role;
use throng_model::verdict::{Trace, Unknown, Verdict};

use crate::abstraction::Abstraction;
use crate::decide::decide;
use crate::predicates::Predicates;
use crate::refine::{Move, Reason, Simulated, beginnings, discover, late_reason, simulate};
use crate::transitions::{Seen, Values, facts_against};

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
    /// What the loop learns from it.
    pub then: String,
    /// The line at which the run stops that was followed.
    pub stops: Option<u32>,
    /// The predicates.
    pub tried: Vec<String>,
    /// The run of the abstraction that was followed: threads and lines of the C file.
    pub run: Vec<(u32, u32)>,
    /// The abstract program.
    pub program: AbstractProgram,
}

/// A proof for any number of threads.
pub struct Proof {
    /// What a certificate says.
    pub evidence: Evidence,
    /// Number of rounds.
    pub rounds: usize,
    /// The engine that proved the abstraction.
    pub engine: String,
}

/// What the engines decided about the abstraction: the first target that is reached counts, then
/// the first that is open.
enum Decided<'a> {
    Safe,
    Unsafe(usize, &'a Trace),
    Unknown(&'a Unknown),
}

impl Decided<'_> {
    fn of(answer: &Answer) -> Decided<'_> {
        let verdicts = || answer.verdicts.iter().enumerate();
        let reached = verdicts().find_map(|(n, v)| match v {
            Verdict::Unsafe(trace) => Some(Decided::Unsafe(n, trace)),
            _ => None,
        });
        let open = verdicts().find_map(|(_, v)| match v {
            Verdict::Unknown(why) => Some(Decided::Unknown(why)),
            _ => None,
        });
        match answer.verdicts.is_empty() {
            true => Decided::Unknown(&Unknown::Cancelled),
            false => reached.or(open).unwrap_or(Decided::Safe),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Decided::Safe => "safe",
            Decided::Unsafe(..) => "unsafe",
            Decided::Unknown(_) => "unknown",
        }
    }
}

/// Returns the engines that answered, by name.
fn answered_by(answer: &Answer) -> String {
    let mut names: Vec<&str> = answer.by.iter().flatten().copied().collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { "auto".to_string() } else { names.join(", ") }
}

/// How the loop ended.
pub enum Ended {
    /// No violation can happen, for any number of threads.
    Proved(Box<Proof>),
    /// The abstraction has a run that exact values can follow, step by step with the inputs of
    /// each.
    Found(Vec<Move>, Vec<Vec<i64>>),
}

/// Maximum time to look for another reason why a run stops.
const LONGEST_LATE: Duration = Duration::from_secs(2);
/// Maximum number of rounds.
const MOST_ROUNDS: usize = 200;
/// Maximum number of predicates.
const MOST_PREDICATES: usize = 40;
/// Number of predicates that differ only in their constants from which on they repeat themselves.
const MOST_ALIKE: usize = 4;

/// Tries to prove that no violation can happen, beginning with these predicates, and without the
/// violations that facts rule out.
pub fn prove(
    program: &Program,
    graph: &Graph,
    offered: &[Predicate],
    facts: &Facts,
    limits: &Limits,
    watch: &mut dyn FnMut(&Round),
) -> Result<Ended, Unknown> {
    let mut refinement = Refinement::new(program, graph, facts, offered);
    match refinement.go_on(false, limits, watch)? {
        Some(ended) => Ok(ended),
        None => Err(Unknown::Cancelled),
    }
}

/// The loop of abstraction and refinement, which can be left and resumed.
pub(crate) struct Refinement<'a> {
    program: &'a Program,
    graph: &'a Graph,
    facts: &'a Facts,
    limits: Limits,
    /// Predicates to begin with.
    offered: Vec<Predicate>,
    predicates: Predicates,
    abstraction: Abstraction,
    /// Facts that runs showed to be missing, by edge.
    missing: Vec<Vec<Cube>>,
    /// Number of rounds that were begun.
    rounds: usize,
}

/// A run of the abstraction, and the predicates that matter at each step.
struct Run {
    moves: Vec<Move>,
    seen: Vec<Seen>,
}

impl<'a> Refinement<'a> {
    pub(crate) fn new(
        program: &'a Program,
        graph: &'a Graph,
        facts: &'a Facts,
        offered: &[Predicate],
    ) -> Refinement<'a> {
        Refinement {
            program,
            graph,
            facts,
            limits: Limits::none(),
            offered: offered.to_vec(),
            predicates: Predicates::default(),
            abstraction: Abstraction::default(),
            missing: vec![Vec::new(); edge_count(graph)],
            rounds: 0,
        }
    }

    /// The graph that it is about.
    pub(crate) fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Goes on with the rounds. `None`: the predicates begin to repeat themselves, and `impatient`
    /// asks to stop there.
    pub(crate) fn go_on(
        &mut self,
        impatient: bool,
        limits: &Limits,
        watch: &mut dyn FnMut(&Round),
    ) -> Result<Option<Ended>, Unknown> {
        self.limits = limits.clone();
        while let Some(p) = self.offered.first().cloned() {
            self.predicates.add(p, &self.graph.variables, limits)?;
            self.offered.remove(0);
        }
        while self.rounds < MOST_ROUNDS {
            self.rounds += 1;
            if let Some(ended) = self.round(self.rounds, watch)? {
                return Ok(Some(ended));
            }
            if self.predicates.list.len() > MOST_PREDICATES {
                return Err(Unknown::Inconclusive(format!("more than {MOST_PREDICATES} predicates")));
            }
            if impatient && self.repeats() {
                return Ok(None);
            }
        }
        Err(Unknown::Inconclusive(format!("no proof after {MOST_ROUNDS} rounds of abstraction")))
    }

    /// Returns whether there are many predicates that differ only in constants which the program
    /// does not have, such as `64 < n + 2`, `64 < n + 3` and so on: of those there may be no end.
    fn repeats(&self) -> bool {
        let mut alike: FxHashMap<Expr, usize> = FxHashMap::default();
        let strange = self.predicates.list.iter().filter(|p| strange_constants(p, self.graph) > 0);
        strange.for_each(|p| *alike.entry(shape(&p.expr)).or_default() += 1);
        alike.values().any(|&n| n >= MOST_ALIKE)
    }

    /// Abstracts, decides, and learns from a run; `None`: the next round may come to more.
    fn round(&mut self, number: usize, watch: &mut dyn FnMut(&Round)) -> Result<Option<Ended>, Unknown> {
        let began = Instant::now();
        let never = self.never()?;
        let abstraction = build(self.program, self.graph, &self.predicates.list, &never);
        let mut round = self.describe(number, &abstraction);
        round.times.0 = began.elapsed();
        let began = Instant::now();
        let boolean = Boolean::of(abstraction).map_err(|why| internal(&why))?;
        let answer = decide(&boolean.problem, &self.limits.part())?;
        let decided = Decided::of(&answer);
        round.times.1 = began.elapsed();
        round.said = decided.word().to_string();
        round.engine = answered_by(&answer);
        match decided {
            Decided::Safe => {
                watch(&round);
                let proof = self.proof(&round, never, &boolean, &answer)?;
                Ok(Some(Ended::Proved(Box::new(proof))))
            }
            Decided::Unknown(why) => {
                watch(&round);
                Err(match why {
                    Unknown::Inconclusive(why) => Unknown::Inconclusive(format!(
                        "the engines did not decide the abstraction with {} predicates: {why}",
                        self.predicates.list.len()
                    )),
                    why => why.clone(),
                })
            }
            Decided::Unsafe(target, trace) => {
                let run =
                    follow(&boolean.problem, target, trace).ok_or_else(|| internal("a run has no names"))?;
                let ended = self.learn(run, &never, &mut round);
                if !round.then.is_empty() {
                    watch(&round);
                }
                ended
            }
        }
    }

    /// The facts about each edge.
    fn never(&mut self) -> Result<Vec<Vec<Cube>>, Unknown> {
        let mut never = Vec::new();
        for n in 0..edge_count(self.graph) {
            let mut facts = match self.facts.impossible.contains(&n) {
                true => vec![Vec::new()],
                false => {
                    self.abstraction.facts(self.program, self.graph, &self.predicates, n, &self.limits)?
                }
            };
            facts.extend(self.missing[n].iter().cloned());
            never.push(facts);
        }
        Ok(never)
    }

    /// What people are told about a round, as far as it is known before the engines have answered.
    fn describe(&self, number: usize, abstraction: &AbstractProgram) -> Round {
        let list = &self.predicates.list;
        let private = list.iter().filter(|p| p.template.is_some()).count();
        Round {
            number,
            predicates: (list.len(), private),
            said: String::new(),
            engine: String::new(),
            times: Default::default(),
            then: String::new(),
            stops: None,
            tried: list.iter().map(|p| p.text(&self.graph.variables)).collect(),
            run: Vec::new(),
            program: abstraction.clone(),
        }
    }

    fn proof(
        &self,
        round: &Round,
        never: Vec<Vec<Cube>>,
        boolean: &Boolean,
        answer: &Answer,
    ) -> Result<Proof, Unknown> {
        let proof = document(&boolean.origin(), &answer.verdicts).map_err(|why| internal(&why))?;
        let abstract_proof = serde_json::to_value(&proof).map_err(|why| internal(&why.to_string()))?;
        let (predicates, facts) = (self.predicates.list.clone(), self.facts.clone());
        let evidence = Evidence { predicates, never, abstract_proof, facts };
        Ok(Proof { evidence, rounds: round.number, engine: round.engine.clone() })
    }

    /// Follows a run with exact values. If it stops, the next round knows more.
    fn learn(&mut self, run: Run, never: &[Vec<Cube>], round: &mut Round) -> Result<Option<Ended>, Unknown> {
        let line = |m: &Move| line(self.program, self.graph, m);
        round.run = run.moves.iter().filter_map(|m| Some((m.thread, line(m)?))).collect();
        let (last, core) = match simulate(self.graph, &run.moves, &self.limits)? {
            Simulated::Feasible(values) => {
                round.then = "a run with exact values".into();
                return Ok(Some(Ended::Found(run.moves, values)));
            }
            Simulated::Infeasible(last, core) => (last, core),
        };
        round.stops = line(&run.moves[last]);
        let place = round.stops.map_or("the start".into(), |line| format!("line {line}"));
        let behind = run.moves.len() - 1 - last;
        round.run.truncate(round.run.len() - behind.min(round.run.len()));
        let missing = self.add_missing_facts(&run, last, never)?;
        if missing > 0 {
            round.then = format!("a run stops at {place}: {}", plural(missing, "more fact"));
            return Ok(None);
        }
        let added = self.add_predicates(&run.moves, last, &core)?;
        if added.is_empty() {
            round.then = format!("no predicate tells why a run stops at {place}");
            return Err(Unknown::Inconclusive(format!("abstraction is stuck: {}", round.then)));
        }
        round.then = format!("a run stops at {place}: {}", added.join("; "));
        Ok(None)
    }

    /// Adds facts that exclude steps of a run up to the last one; returns how many.
    fn add_missing_facts(&mut self, run: &Run, last: usize, never: &[Vec<Cube>]) -> Result<u64, Unknown> {
        let (program, graph, list) = (self.program, self.graph, &self.predicates.list);
        let mut missing = 0;
        for (m, seen) in run.moves.iter().zip(&run.seen).take(last + 1) {
            for cube in facts_against(program, graph, list, m.edge, seen, &self.limits)? {
                let more = &mut self.missing[m.edge];
                if !never[m.edge].contains(&cube) && !more.contains(&cube) {
                    more.push(cube);
                    missing += 1;
                }
            }
        }
        Ok(missing)
    }

    /// Adds predicates that tell why a run stops; returns them as text.
    fn add_predicates(
        &mut self,
        moves: &[Move],
        last: usize,
        core: &[(usize, usize)],
    ) -> Result<Vec<String>, Unknown> {
        let graph = self.graph;
        let mut found = self.unused(discover(graph, moves, last, core))?;
        if let Some(late) = self.late_reason(moves)? {
            let run = &moves[late.first..];
            let late = self.unused(discover(graph, run, late.stop.0, &late.stop.1))?;
            if !late.is_empty() && (found.is_empty() || cost(&late, graph) < cost(&found, graph)) {
                found = late;
            }
        }
        if found.is_empty() {
            found = self.unused(beginnings(graph, moves, core))?;
        }
        let mut added = Vec::new();
        for p in found {
            let bounds = bounds(&p, &self.predicates.list, &graph.variables);
            for p in std::iter::once(p).chain(bounds) {
                let text = p.text(&graph.variables);
                if self.predicates.add(p, &graph.variables, &self.limits)? {
                    added.push(text);
                }
            }
        }
        Ok(added)
    }

    /// A reason why a run stops that depends on its end only, if one is found soon.
    fn late_reason(&self, moves: &[Move]) -> Result<Option<Reason>, Unknown> {
        let most = self.limits.time_left().map_or(LONGEST_LATE, |t| t.min(LONGEST_LATE));
        match late_reason(self.graph, moves, &self.limits.part().timeout(most)) {
            Ok(late) => Ok(late),
            Err(_) => {
                self.limits.check()?;
                Ok(None)
            }
        }
    }

    /// Those of some predicates that are not in use.
    fn unused(&mut self, found: Vec<Predicate>) -> Result<Vec<Predicate>, Unknown> {
        let mut new = Vec::new();
        for p in found {
            if self.predicates.is_new(&p, &self.graph.variables, &self.limits)? {
                new.push(p);
            }
        }
        Ok(new)
    }
}

/// Returns how costly predicates may be: their size, and constants that the program does not have,
/// of which there may be no end.
fn cost(list: &[Predicate], graph: &Graph) -> usize {
    list.iter().map(|p| size(&p.expr) + 10 * strange_constants(p, graph)).sum()
}

/// Number of constants of a predicate that the program does not have.
fn strange_constants(p: &Predicate, graph: &Graph) -> usize {
    let mut n = 0;
    p.expr.constants(&mut |c| n += usize::from(!graph.constants.contains(&c)));
    n
}

/// Returns an expression with 0 for all of its constants.
fn shape(e: &Expr) -> Expr {
    match e {
        Expr::Const(_) => Expr::Const(0),
        Expr::Cast(e, to) => Expr::Cast(Box::new(shape(e)), *to),
        Expr::Bin(op, a, b, at) => Expr::Bin(*op, Box::new(shape(a)), Box::new(shape(b)), *at),
        e => e.clone(),
    }
}

/// Returns bounds that keep the loop from adding `x == 0`, `x == 2`, `x == 4` and so on: with the
/// second of these, whether x is less or more than the first.
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

/// Returns the line of a step in the C program; `None`: it is before the first line.
fn line(program: &Program, graph: &Graph, m: &Move) -> Option<u32> {
    let e = graph.edges.get(m.edge)?;
    let from = graph.places[e.from];
    let pc = match (&e.to, e.path.last()) {
        (To::Fail(..), Some(&pc)) => pc,
        _ => e.path.first().copied().unwrap_or(from.pc),
    };
    Some(program.origin(from.template, pc).line)
}

/// Maps a run of the abstract program back to edges, by the labels of its statements.
fn follow(problem: &Problem, reached: usize, trace: &Trace) -> Option<Run> {
    let model = &*problem.model;
    let (moments, changes) = needed(model, problem.targets.get(reached)?, trace, None)?;
    let values = |named: Vec<(String, String)>| -> Values {
        let known = named
            .iter()
            .filter_map(|(name, value)| Some((predicate_of(name)?, value.parse::<u8>().ok()? == 1)));
        known.collect()
    };
    let local = |moment: &Moment, thread| -> Values {
        moment.threads.get(&thread).map(|&l| values(model.local_values(l))).unwrap_or_default()
    };
    let with_shared = |moment: &Moment, thread| -> Values {
        let mut all = values(model.shared_values(moment.shared));
        all.extend(local(moment, thread));
        all
    };
    let (mut found, mut seen): (Vec<Move>, Vec<Seen>) = Default::default();
    for (k, (taken, changes)) in trace.steps.iter().zip(&changes).enumerate() {
        let acts = changes.iter().find(|c| c.role == Role::Acts)?.thread;
        if let Some(edge) = edge_of(&model.edge_place(taken.step.edge).labels) {
            found.push(Move { thread: acts.0, edge, started: None });
            let (now, later) = (&moments[k], &moments[k + 1]);
            let others = now.threads.keys().filter(|&&t| t != acts);
            seen.push(Seen {
                mine: (with_shared(now, acts), with_shared(later, acts)),
                others: others.map(|&t| (local(now, t), local(later, t))).collect(),
            });
        }
        for change in changes.iter().filter(|c| c.role == Role::Created) {
            if let Some(m) = found.iter_mut().rev().find(|m| m.thread == acts.0) {
                m.started.get_or_insert(change.thread.0);
            }
        }
    }
    Some(Run { moves: found, seen })
}

/// Returns whether a run ends in a violation that was asked for.
pub fn is_violation(graph: &Graph, moves: &[Move]) -> bool {
    moves.last().is_some_and(|m| matches!(edge(graph, m.edge).to, To::Fail(Some(_), _)))
}

#[cfg(test)]
mod floating;
#[cfg(test)]
mod tests;
