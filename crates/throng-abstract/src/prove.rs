//! The loop: abstract, ask the engines, follow the run that they find, learn predicates from it.

use std::time::{Duration, Instant};

use throng_check::certificate::write::document;
use throng_engine::Answer;
use throng_goto::program::{BinOp, Expr, Instr, Int, Program};
use throng_model::concrete::{Moment, needed};
use throng_model::limits::Limits;
use throng_model::plural;
use throng_model::problem::Problem;
use throng_model::thread_names::Role;
use throng_model::verdict::{Trace, Unknown, Verdict};

use crate::abstraction::{Abstraction, Cube, edge, edge_count};
use crate::boolean::Boolean;
use crate::edges::{Graph, Reading, To};
use crate::facts::{Facts, find};
use crate::predicates::{Predicate, Predicates};
use crate::refine::{Move, Simulated, beginnings, discover, late_reason, simulate};
use crate::render::{Rendered, render};
use crate::simplify::{size, type_of};
use crate::transitions::{Seen, Values, facts_against};
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
    /// The predicates.
    pub tried: Vec<String>,
    /// The run of the abstraction that was followed: threads and lines of the C file.
    pub run: Vec<(u32, u32)>,
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
    /// What was known before the abstraction.
    pub facts: Facts,
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
    let mut last = None;
    let mut graphs = [false, true].map(|trusting| {
        let mut graphs: Vec<Graph> = Vec::new();
        for (counting, summarising) in [(false, true), (false, false), (true, true), (true, false)] {
            let reading = Reading { trusting, summarising, counting };
            match Graph::of(program, reading) {
                Ok(graph) if graph.reading() == reading => graphs.push(graph),
                Ok(_) => {}
                Err(why) => last = Some(Err(Unknown::Inconclusive(why))),
            }
        }
        graphs
    });
    // What takes accesses for granted comes last, and gets its part of the time.
    let mut later = graphs[1].iter().filter(|graph| !graph.counts).count() as u32;
    'readings: for graphs in &mut graphs {
        let mut known = Vec::new();
        for graph in std::mem::take(graphs) {
            // Most are found soon or not at all.
            let most = limits.time_left().map_or(LONGEST_FACTS, |time| (time / 4).min(LONGEST_FACTS));
            let facts = match find(program, &graph, &limits.part().timeout(most)) {
                Ok(facts) => facts,
                Err(_) => {
                    limits.check()?;
                    Facts::none(&graph)
                }
            };
            if facts.rule_all_out(&graph)
                && let Ok(Ended::Proved(proof)) = prove(program, &graph, &[], &facts, limits, watch)
            {
                return Ok((graph, Ended::Proved(proof)));
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
                // What a whole array hides, its parts may show to be impossible.
                Ok(Ended::Found(run, values)) => {
                    // Threads that are waited for may end later than the graph says.
                    let exact = is_violation(&graph, &run) || !joins(program);
                    let real = exact && !graph.summarises;
                    last = Some(Ok((graph, Ended::Found(run, values))));
                    if real {
                        break 'readings;
                    }
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

/// Returns whether some thread waits for the end of another.
fn joins(program: &Program) -> bool {
    program.templates.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instr::Join(..)))
}

/// How long facts are looked for.
const LONGEST_FACTS: Duration = Duration::from_secs(15);
/// How long a proof is tried before the next reading is.
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

/// How long another reason is looked for why a run stops.
const LONGEST_LATE: Duration = Duration::from_secs(2);
/// The most rounds.
const MOST_ROUNDS: usize = 200;
/// The most predicates.
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
    let mut abstraction = Abstraction::default();
    // Facts that runs showed to be missing, by edge.
    let mut more: Vec<Vec<Cube>> = vec![Vec::new(); edge_count(graph)];
    for number in 1..=MOST_ROUNDS {
        let began = Instant::now();
        let mut never = (0..edge_count(graph))
            .map(|n| match facts.impossible.contains(&n) {
                true => Ok(vec![Vec::new()]),
                false => abstraction.facts(program, graph, &predicates, n, limits),
            })
            .collect::<Result<Vec<_>, _>>()?;
        never.iter_mut().zip(&more).for_each(|(facts, more)| facts.extend(more.iter().cloned()));
        let rendered = render(program, graph, &predicates.list, &never);
        let abstracting = began.elapsed();
        let began = Instant::now();
        let boolean = Boolean::read(&rendered.text).map_err(|why| internal(&why))?;
        let answer = boolean.decide(&limits.part())?;
        let decided = Decided::of(&answer);
        let engine = answered_by(&answer);
        let private = predicates.list.iter().filter(|p| p.template.is_some()).count();
        let mut round = Round {
            number,
            predicates: (predicates.list.len(), private),
            said: decided.word().to_string(),
            engine: engine.clone(),
            times: (abstracting, began.elapsed()),
            then: String::new(),
            tried: predicates.list.iter().map(|p| p.text(&graph.variables)).collect(),
            run: Vec::new(),
            program: rendered.text.clone(),
        };
        if let Decided::Safe = decided {
            watch(&round);
            let proof = document(&boolean.origin(), &answer.verdicts).map_err(|why| internal(&why))?;
            let abstract_proof = serde_json::to_value(&proof).map_err(|why| internal(&why.to_string()))?;
            return Ok(Ended::Proved(Box::new(Proof {
                predicates: predicates.list,
                never,
                abstract_proof,
                rounds: number,
                engine,
                facts: facts.clone(),
            })));
        }
        let (target, trace) = match decided {
            Decided::Unsafe(target, trace) => (target, trace),
            Decided::Safe => unreachable!("a proof ends the loop"),
            Decided::Unknown(why) => {
                watch(&round);
                return Err(match why {
                    Unknown::Inconclusive(why) => Unknown::Inconclusive(format!(
                        "the engines did not decide the abstraction with {} predicates: {why}",
                        predicates.list.len()
                    )),
                    why => why.clone(),
                });
            }
        };
        let (moves, seen) = moves(&boolean.problem, target, trace, &rendered)
            .ok_or_else(|| internal("a run has no names"))?;
        round.run = moves.iter().filter_map(|m| Some((m.thread, line(program, graph, m)?))).collect();
        match simulate(graph, &moves, limits)? {
            Simulated::Feasible(values) => {
                round.then = "a run with exact values".into();
                watch(&round);
                return Ok(Ended::Found(moves, values));
            }
            Simulated::Infeasible(last, core) => {
                let place = line(program, graph, &moves[last]);
                let place = place.map_or("the start".into(), |line| format!("line {line}"));
                round.run.truncate(round.run.len() - (moves.len() - 1 - last).min(round.run.len()));
                let mut missing = 0;
                for (m, seen) in moves.iter().zip(&seen).take(last + 1) {
                    let known = &never[m.edge];
                    for cube in facts_against(program, graph, &predicates.list, m.edge, seen, limits)? {
                        if !known.contains(&cube) && !more[m.edge].contains(&cube) {
                            more[m.edge].push(cube);
                            missing += 1;
                        }
                    }
                }
                if missing > 0 {
                    round.then = format!("a run stops at {place}: {}", plural(missing, "more fact"));
                    watch(&round);
                    continue;
                }
                let early = discover(graph, &moves, last, &core);
                let mut found = unused(early, &mut predicates, graph, limits)?;
                let short =
                    limits.part().timeout(limits.time_left().map_or(LONGEST_LATE, |t| t.min(LONGEST_LATE)));
                let late = match late_reason(graph, &moves, &short) {
                    Ok(late) => late,
                    Err(_) => {
                        limits.check()?;
                        None
                    }
                };
                if let Some(late) = late {
                    let run = &moves[late.first..];
                    let late = discover(graph, run, late.stop.0, &late.stop.1);
                    let late = unused(late, &mut predicates, graph, limits)?;
                    if !late.is_empty() && (found.is_empty() || cost(&late, graph) < cost(&found, graph)) {
                        found = late;
                    }
                }
                if found.is_empty() {
                    found = unused(beginnings(graph, &moves, &core), &mut predicates, graph, limits)?;
                }
                let mut added = Vec::new();
                for p in found {
                    let bounds = bounds(&p, &predicates.list, &graph.variables);
                    for p in std::iter::once(p).chain(bounds) {
                        let text = p.text(&graph.variables);
                        if predicates.add(p, &graph.variables, limits)? {
                            added.push(text);
                        }
                    }
                }
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

/// Those of some predicates that are not in use.
fn unused(
    found: Vec<Predicate>,
    predicates: &mut Predicates,
    graph: &Graph,
    limits: &Limits,
) -> Result<Vec<Predicate>, Unknown> {
    let mut new = Vec::new();
    for p in found {
        if predicates.is_new(&p, &graph.variables, limits)? {
            new.push(p);
        }
    }
    Ok(new)
}

/// How much is to be feared from predicates: their size, and constants that the program does not
/// have, of which there may be no end.
fn cost(list: &[Predicate], graph: &Graph) -> usize {
    let strange = |p: &Predicate| {
        let mut n = 0;
        p.expr.constants(&mut |c| n += usize::from(!graph.constants.contains(&c)));
        n
    };
    list.iter().map(|p| size(&p.expr) + 10 * strange(p)).sum()
}

/// Against `x == 0`, `x == 2`, `x == 4` and so on: with the second of these, whether x is less or
/// more than the first.
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

/// Where a step is in the C program; `None`: before it.
fn line(program: &Program, graph: &Graph, m: &Move) -> Option<u32> {
    let e = graph.edges.get(m.edge)?;
    let from = graph.places[e.from];
    let pc = match (&e.to, e.path.last()) {
        (To::Fail(..), Some(&pc)) => pc,
        _ => e.path.first().copied().unwrap_or(from.pc),
    };
    Some(program.origin(from.template, pc).line)
}

/// The edges that a run of the abstract program takes, and the predicates that matter at each.
fn moves(
    problem: &Problem,
    reached: usize,
    trace: &Trace,
    rendered: &Rendered,
) -> Option<(Vec<Move>, Vec<Seen>)> {
    let model = &*problem.model;
    let (moments, changes) = needed(model, problem.targets.get(reached)?, trace, None)?;
    let values = |named: Vec<(String, String)>| -> Values {
        let known = named.iter().filter_map(|(name, value)| {
            let number = name.strip_prefix(['s', 'b'])?.parse().ok()?;
            Some((number, value.parse::<u8>().ok()? == 1))
        });
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
    let mut found: Vec<Move> = Vec::new();
    let mut seen: Vec<Seen> = Vec::new();
    for (k, (taken, changes)) in trace.steps.iter().zip(&changes).enumerate() {
        let line = model.edge_place(taken.step.edge).line;
        let acts = changes.iter().find(|c| c.role == Role::Acts)?.thread;
        if let Some(&edge) = rendered.edges.get(&line) {
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
    Some((found, seen))
}

/// Whether a run ends in a violation that was asked for.
pub fn is_violation(graph: &Graph, moves: &[Move]) -> bool {
    moves.last().is_some_and(|m| matches!(edge(graph, m.edge).to, To::Fail(Some(_), _)))
}

#[cfg(test)]
mod tests;
