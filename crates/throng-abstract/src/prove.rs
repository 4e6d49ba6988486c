//! The loop: abstract, ask the engines, follow the run that they find, learn predicates from it.

use std::time::{Duration, Instant};

use throng_check::certificate::write::document;
use throng_engine::Answer;
use throng_goto::program::{BinOp, Expr, Instr, Int, Program};
use throng_goto_check::abstraction::boolean::Boolean;
use throng_goto_check::abstraction::certificate::Evidence;
use throng_goto_check::abstraction::cube::{Cube, edge, edge_count};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, Reading, To};
use throng_goto_check::abstraction::heap::placed;
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
use crate::facts::find;
use crate::guarded::guarded;
use crate::predicates::Predicates;
use crate::refine::{Move, Reason, Simulated, beginnings, discover, late_reason, simulate};
use crate::tallies::tallied;
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

/// Tries to prove that no violation can happen, with one [`Reading`] after another: first with
/// arrays as a whole, then with their parts; first with every computed access inside its object as
/// a part of the proof, then taking it for granted. Cheap facts come before that
/// ([`crate::facts`]): where these rule all violations out, nothing else is tried. The predicates
/// that are offered are used from the first round on. The graph that the result is about comes with
/// it.
pub fn attempt(
    program: &Program,
    offered: &[Predicate],
    limits: &Limits,
    watch: &mut dyn FnMut(&Round),
) -> Result<(Graph, Ended), Unknown> {
    let placed = placed(program);
    let program = placed.as_ref().unwrap_or(program);
    let mut last = None;
    let mut graphs = [false, true].map(|trusting| {
        let (graphs, why) = graphs(program, trusting);
        last = why.map(|why| Err(Unknown::Inconclusive(why))).or(last.take());
        graphs
    });
    // What takes accesses for granted comes last, and gets its part of the time.
    let mut later = graphs[1].iter().filter(|graph| !graph.counts).count() as u32;
    for graphs in &mut graphs {
        let mut known = Vec::new();
        for graph in std::mem::take(graphs) {
            let facts = quick_facts(program, &graph, limits)?;
            if facts.rule_all_out(&graph)
                && let Ok(Ended::Proved(proof)) = prove(program, &graph, &[], &facts, limits, watch)
            {
                return Ok((graph, Ended::Proved(proof)));
            }
            let most = limits.time_left().map_or(LONGEST_SUMS, |time| (time / 2).min(LONGEST_SUMS));
            match by_more_facts(program, &graph, &limits.part().timeout(most), watch) {
                Ok(Some(proved)) => return Ok(proved),
                Ok(None) => {}
                Err(_) => limits.check()?,
            }
            // Counting is of no use to the abstraction.
            if !graph.counts {
                known.push((graph, facts));
            }
        }
        let mut left = known.len() as u32 + std::mem::take(&mut later);
        for (graph, facts) in known {
            let share = limits.time_left().map_or(LONGEST_SHARE, |time| (time / left).min(LONGEST_SHARE));
            left -= 1;
            let part = if left == 0 { limits.part() } else { limits.part().timeout(share) };
            match prove(program, &graph, offered, &facts, &part, watch) {
                Ok(Ended::Proved(proof)) => return Ok((graph, Ended::Proved(proof))),
                Ok(Ended::Found(run, values)) => {
                    let real = is_real(program, &graph, &run);
                    let found = Ok((graph, Ended::Found(run, values)));
                    if real {
                        return found;
                    }
                    last = Some(found);
                }
                Err(why) => {
                    limits.check()?;
                    last = Some(Err(why));
                }
            }
        }
    }
    last.unwrap_or_else(|| Err(Unknown::Inconclusive("there is no abstraction".into())))
}

/// Tries a proof by facts about how many threads are where, and about what comparisons guard; then
/// the same for counters that do not reach the end of their types.
fn by_more_facts(
    program: &Program,
    graph: &Graph,
    limits: &Limits,
    watch: &mut dyn FnMut(&Round),
) -> Result<Option<(Graph, Ended)>, Unknown> {
    // What counts threads otherwise has no use for it.
    if graph.counts {
        return Ok(None);
    }
    for graph in std::iter::once(graph.clone()).chain(graph.clone().with_bounds(program)) {
        let counted = tallied(program, &graph, limits)?;
        let (graph, mut offered) = counted.unwrap_or((graph, Vec::new()));
        offered.extend(guarded(&graph));
        if offered.is_empty() {
            continue;
        }
        let facts = find(program, &graph, &offered, limits)?;
        if facts.rule_all_out(&graph)
            && let Ok(Ended::Proved(proof)) = prove(program, &graph, &[], &facts, limits, watch)
        {
            return Ok(Some((graph, Ended::Proved(proof))));
        }
    }
    Ok(None)
}

/// Returns the graphs of a program that differ, and why one could not be built.
fn graphs(program: &Program, trusting: bool) -> (Vec<Graph>, Option<String>) {
    let (mut graphs, mut failed) = (Vec::new(), None);
    for (counting, summarising) in [(false, true), (false, false), (true, true), (true, false)] {
        let reading = Reading { trusting, summarising, counting };
        match Graph::of(program, reading) {
            Ok(graph) if graph.reading() == reading => graphs.push(graph),
            Ok(_) => {}
            Err(why) => failed = Some(why),
        }
    }
    (graphs, failed)
}

/// Finds facts, of which most are found soon or not at all.
fn quick_facts(program: &Program, graph: &Graph, limits: &Limits) -> Result<Facts, Unknown> {
    let most = limits.time_left().map_or(LONGEST_FACTS, |time| (time / 3).min(LONGEST_FACTS));
    match find(program, graph, &[], &limits.part().timeout(most)) {
        Ok(facts) => Ok(facts),
        Err(_) => {
            limits.check()?;
            Ok(Facts::none(graph))
        }
    }
}

/// Returns whether a run of the graph is one of the program. What a whole array hides, its parts
/// may show to be impossible; and threads that are waited for may end later than the graph says.
fn is_real(program: &Program, graph: &Graph, run: &[Move]) -> bool {
    (is_violation(graph, run) || !joins(program)) && !graph.summarises
}

/// Returns whether some thread waits for the end of another.
fn joins(program: &Program) -> bool {
    program.templates.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instr::Join(..)))
}

/// Maximum time to look for facts.
const LONGEST_FACTS: Duration = Duration::from_secs(15);
/// The same where variables count threads or guard others, which decides the program or is of no
/// use.
const LONGEST_SUMS: Duration = Duration::from_secs(90);
/// Maximum time to try a proof before the next reading is tried.
const LONGEST_SHARE: Duration = Duration::from_secs(15);

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
    let mut predicates = Predicates::default();
    for p in offered {
        predicates.add(p.clone(), &graph.variables, limits)?;
    }
    let missing = vec![Vec::new(); edge_count(graph)];
    let abstraction = Abstraction::default();
    let mut refinement = Refinement { program, graph, facts, limits, predicates, abstraction, missing };
    for number in 1..=MOST_ROUNDS {
        if let Some(ended) = refinement.round(number, watch)? {
            return Ok(ended);
        }
        if refinement.predicates.list.len() > MOST_PREDICATES {
            return Err(Unknown::Inconclusive(format!("more than {MOST_PREDICATES} predicates")));
        }
    }
    Err(Unknown::Inconclusive(format!("no proof after {MOST_ROUNDS} rounds of abstraction")))
}

/// The loop of abstraction and refinement.
struct Refinement<'a> {
    program: &'a Program,
    graph: &'a Graph,
    facts: &'a Facts,
    limits: &'a Limits,
    predicates: Predicates,
    abstraction: Abstraction,
    /// Facts that runs showed to be missing, by edge.
    missing: Vec<Vec<Cube>>,
}

/// A run of the abstraction, and the predicates that matter at each step.
struct Run {
    moves: Vec<Move>,
    seen: Vec<Seen>,
}

impl Refinement<'_> {
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
                    self.abstraction.facts(self.program, self.graph, &self.predicates, n, self.limits)?
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
        let (last, core) = match simulate(self.graph, &run.moves, self.limits)? {
            Simulated::Feasible(values) => {
                round.then = "a run with exact values".into();
                return Ok(Some(Ended::Found(run.moves, values)));
            }
            Simulated::Infeasible(last, core) => (last, core),
        };
        let place = line(&run.moves[last]).map_or("the start".into(), |line| format!("line {line}"));
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
            for cube in facts_against(program, graph, list, m.edge, seen, self.limits)? {
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
                if self.predicates.add(p, &graph.variables, self.limits)? {
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
            if self.predicates.is_new(&p, &self.graph.variables, self.limits)? {
                new.push(p);
            }
        }
        Ok(new)
    }
}

/// Returns how costly predicates may be: their size, and constants that the program does not have,
/// of which there may be no end.
fn cost(list: &[Predicate], graph: &Graph) -> usize {
    let strange = |p: &Predicate| {
        let mut n = 0;
        p.expr.constants(&mut |c| n += usize::from(!graph.constants.contains(&c)));
        n
    };
    list.iter().map(|p| size(&p.expr) + 10 * strange(p)).sum()
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
