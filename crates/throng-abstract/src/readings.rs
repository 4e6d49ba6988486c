//! One reading of a program after another: facts about it first, then abstraction.
//!
//! A reading that is exact about accesses comes before one that takes them for granted. Where the
//! predicates of one begin to repeat themselves, the others have their turn before it goes on.

use std::time::Duration;

use throng_goto::program::{Instr, Program};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, Reading};
use throng_goto_check::abstraction::heap::placed;
use throng_goto_check::abstraction::predicate::Predicate;
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::facts::{Shown, find};
use crate::guarded::guarded;
use crate::prove::{Ended, Refinement, Round, is_violation, prove};
use crate::refine::Move;
use crate::tallies::tallied;

/// Maximum time to look for facts.
const LONGEST_FACTS: Duration = Duration::from_secs(15);
/// The same where variables count threads or guard others, which decides the program or is of no
/// use.
const LONGEST_SUMS: Duration = Duration::from_secs(90);
/// Maximum time to try a proof before the next reading is tried.
const LONGEST_SHARE: Duration = Duration::from_secs(15);

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
    let mut search = Search { program, limits, watch, last: None };
    let exact = match search.by_facts(false)? {
        Facing::Proved(proved) => return Ok(*proved),
        Facing::Open(exact) => exact,
    };
    let begin = |(graph, facts)| Refinement::new(program, graph, facts, offered);
    let mut open = exact.iter().map(|(graph, facts)| begin((graph, facts))).collect();
    if let Some(found) = search.refine(&mut open, true)? {
        return Ok(found);
    }
    let trusting = match search.by_facts(true)? {
        Facing::Proved(proved) => return Ok(*proved),
        Facing::Open(trusting) => trusting,
    };
    let mut more = trusting.iter().map(|(graph, facts)| begin((graph, facts))).collect();
    if let Some(found) = search.refine(&mut more, true)? {
        return Ok(found);
    }
    open.append(&mut more);
    if let Some(found) = search.refine(&mut open, false)? {
        return Ok(found);
    }
    search.last.unwrap_or_else(|| Err(Unknown::Inconclusive("there is no abstraction".into())))
}

/// The readings of one program.
struct Search<'a> {
    program: &'a Program,
    limits: &'a Limits,
    watch: &'a mut dyn FnMut(&Round),
    /// What the last one came to.
    last: Option<Result<(Graph, Ended), Unknown>>,
}

/// What facts came to.
enum Facing {
    Proved(Box<(Graph, Ended)>),
    /// Graphs and facts that do not suffice.
    Open(Vec<(Graph, Facts)>),
}

impl Search<'_> {
    /// Tries to prove it by facts alone.
    fn by_facts(&mut self, trusting: bool) -> Result<Facing, Unknown> {
        let (graphs, why) = graphs(self.program, trusting);
        self.last = why.map(|why| Err(Unknown::Inconclusive(why))).or(self.last.take());
        let mut open = Vec::new();
        for graph in graphs {
            let mut shown = Shown::default();
            let facts = quick_facts(self.program, &graph, &mut shown, self.limits)?;
            if facts.rule_all_out(&graph)
                && let Ok(Ended::Proved(proof)) =
                    prove(self.program, &graph, &[], &facts, self.limits, self.watch)
            {
                return Ok(Facing::Proved(Box::new((graph, Ended::Proved(proof)))));
            }
            let left = self.limits.time_left();
            let most = left.map_or(LONGEST_SUMS, |time| (time / 2).min(LONGEST_SUMS));
            let part = self.limits.part().timeout(most);
            match by_more_facts(self.program, &graph, &mut shown, &part, self.watch) {
                Ok(Some(proved)) => return Ok(Facing::Proved(Box::new(proved))),
                Ok(None) => {}
                Err(_) => self.limits.check()?,
            }
            // Counting is of no use to the abstraction.
            if !graph.counts {
                open.push((graph, facts));
            }
        }
        Ok(Facing::Open(open))
    }

    /// Goes on with each of some refinements, and keeps those that may come to more later. Who is
    /// impatient comes back to one whose predicates repeat themselves.
    fn refine(
        &mut self,
        all: &mut Vec<Refinement<'_>>,
        impatient: bool,
    ) -> Result<Option<(Graph, Ended)>, Unknown> {
        let mut kept = Vec::new();
        let mut left = all.len() as u32;
        for mut one in all.drain(..) {
            let is_last = left == 1 && !impatient;
            let share =
                self.limits.time_left().map_or(LONGEST_SHARE, |time| (time / left).min(LONGEST_SHARE));
            left -= 1;
            let part = if is_last { self.limits.part() } else { self.limits.part().timeout(share) };
            let graph = one.graph();
            match one.go_on(impatient, &part, self.watch) {
                Ok(Some(Ended::Proved(proof))) => return Ok(Some((graph.clone(), Ended::Proved(proof)))),
                Ok(Some(Ended::Found(run, values))) => {
                    let real = is_real(self.program, graph, &run);
                    let found = (graph.clone(), Ended::Found(run, values));
                    if real {
                        return Ok(Some(found));
                    }
                    self.last = Some(Ok(found));
                }
                Ok(None) => kept.push(one),
                Err(why) => {
                    self.limits.check()?;
                    if matches!(why, Unknown::Time(_)) {
                        kept.push(one);
                    }
                    self.last = Some(Err(why));
                }
            }
        }
        *all = kept;
        Ok(None)
    }
}

/// Tries a proof by facts about how many threads are where, and about what comparisons guard; then
/// the same for counters that do not reach the end of their types.
fn by_more_facts(
    program: &Program,
    graph: &Graph,
    shown: &mut Shown,
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
        let facts = find(program, &graph, &offered, shown, limits)?;
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
fn quick_facts(
    program: &Program,
    graph: &Graph,
    shown: &mut Shown,
    limits: &Limits,
) -> Result<Facts, Unknown> {
    let most = limits.time_left().map_or(LONGEST_FACTS, |time| (time / 3).min(LONGEST_FACTS));
    match find(program, graph, &[], shown, &limits.part().timeout(most)) {
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
