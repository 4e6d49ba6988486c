//! `karp-miller`: the coverability set of any number of threads, forward (STAR, chapter 3; Karp and
//! Miller 1969).
//!
//! # The tree
//!
//! Labels are ω-configurations: a shared state, and for each local state how many threads are
//! there, ω for "arbitrarily many". Roots are the initial families. Each step enabled in a node's
//! label leads to a successor. Where a successor's label covers the label of an ancestor and has
//! more threads in some local states, the part of the branch between the two can be repeated, so
//! these counts become ω (*acceleration*). A node is not added if some node discovered before,
//! anywhere in the tree, covers it (STAR 3.3.2.1). Steps are computed just in time, for thread
//! states that occur in labels.
//!
//! # Sound
//!
//! Every label is a limit of reachable configurations: each finite configuration that it covers is
//! covered by a reachable one. Steps preserve this because larger configurations can do more;
//! accelerations, because the steps of the branch can be repeated. `witness` makes it constructive:
//! UNSAFE is only answered with a concrete run.
//!
//! # Where states stand for sets
//!
//! Where states stand for sets ([`throng_model`]), the entries of a label bound numbers of threads
//! in sets of states. Firing and acceleration treat them as plain states, for which all of the
//! above holds literally. *Comparing* does not: a thread in (a part of) a set is covered by a
//! thread in the whole ([`Config::includes`]), and an entry that is a part of another one with ω is
//! *absorbed*, left out, because the label stands for the same without it. So the 2ⁿ states in
//! which n variables have been read cost nothing once the state that leaves them open has ω. To
//! achieve that early, the newest local states of a label lead first: they tend to be the larger
//! sets. (For plain states the oldest lead first; on the corpus, that finds more violations of
//! systems in time.)
//!
//! Steps are exact on sets: the whole can take each step of a part, and the result contains that of
//! the part. So covering in this sense is monotone, too, which is all that the next section needs;
//! and `witness` only requires threads that labels have kept.
//!
//! # Complete, in spite of pruning
//!
//! Let D be the set of all labels ever discovered. *Every label of D is covered by one in D all of
//! whose successors were built.* For a node is left without (all of) its successors only if a label
//! discovered later strictly covers it; if that one is left too, then for a still larger one
//! (larger as a set of configurations; labels of equal sets are equal, because neither has an entry
//! that could be absorbed), and since D is finite the last one is not left. Each successor, once
//! accelerated, is in D or covered by D. So, by monotonicity, the downward closure of D contains
//! the initial configurations and is closed under steps: it contains all reachable configurations.
//! The maximal labels of D are themselves never left, so they alone are a certificate
//! ([`Certificate::Downward`]) that is checked without trusting this argument.
//!
//! Nothing in it needs the *tree*: a label is never withdrawn from D. This is the difference to
//! Finkel's minimal coverability tree and to Beacon's figure 1. They delete explored nodes with
//! their subtrees, because an ancestor was accelerated; a node elsewhere that had been left because
//! a deleted one covered it is then not covered at all (Finkel, Geeraerts, Raskin and Van Begin
//! 2005; `crates/throng-dev/tests/engines/karp_miller.rs` has such a net). Reynier and Servais
//! repair deletion; here nothing is deleted. The saving is achieved otherwise: a node that is
//! covered by a later one gets no further successors, even if some have been explored
//! ([`Order::OneByOne`]).
//!
//! # Ends
//!
//! Branches are finite: on an infinite one, there would be infinitely many nodes with the same
//! shared state and growing labels; none covers a later one, so each is strictly larger than the
//! one before, and acceleration has given it at least one more ω; but there are only finitely many
//! local states. (Absorbing may take an ω away, but only one below another; so the set of states
//! that are part of one with ω grows.) Nodes have finitely many successors.
//!
//! # Not for every model
//!
//! Broadcasts and signals move bystanders, so the effect of a part of a branch is not the same each
//! time: the engine refuses such models.
//!
//! # Parts
//!
//! `vector` (labels), `steps` (the model, compiled), `tree`, `antichain` (maximal labels), `path`
//! (ancestors and acceleration), `targets`, `search` (the loop), `witness` (from ω to concrete
//! numbers), `shorten`, `saved` (for a later process).

mod antichain;
mod path;
mod saved;
mod search;
mod shorten;
mod steps;
mod targets;
mod tree;
mod vector;
mod witness;

use std::sync::Arc;

use self::search::{Search, Stop};
use super::{Algorithm, Answer, Statistics, Watch};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Unknown, Verdict};
use throng_model::{Config, Local, Shared};

const NAME: &str = "karp-miller";

/// The engine and its options. The answers do not depend on them; they serve to measure the
/// contribution of each optimisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KarpMiller {
    /// The order in which the tree grows (STAR 3.3.1).
    pub order: Order,
    /// True: a node covered by any discovered one is not added (STAR 3.3.2.1). False: only a node
    /// that equals an ancestor is not explored.
    pub prune: bool,
    /// True: a node that a later one covers gets no further successors (STAR 3.3.2.1).
    pub drop_covered: bool,
    /// True: successors with the same shared state come first (STAR 3.3.2.2).
    pub same_shared_first: bool,
    /// True: new labels are compared with the minimal ancestors only (STAR 3.3.3).
    pub minimal_ancestors: bool,
}

/// The order in which a tree grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Depth first, one successor at a time: the next one is built when everything below this one
    /// is explored, and only if it is still needed.
    OneByOne,
    /// Depth first; all successors of a node are discovered at once (STAR's algorithm 3).
    DepthFirst,
    /// Breadth first.
    BreadthFirst,
}

impl Default for KarpMiller {
    fn default() -> KarpMiller {
        KarpMiller {
            order: Order::OneByOne,
            prune: true,
            drop_covered: true,
            same_shared_first: true,
            minimal_ancestors: true,
        }
    }
}

impl Algorithm for KarpMiller {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Stops as soon as every target is hit (KM); otherwise completes the coverability set.
    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        if let Some(why) = refusal(problem) {
            let verdicts = vec![Verdict::Unknown(why); problem.targets.len()];
            return Answer::new(verdicts, Statistics::default());
        }
        let mut search = Search::new(problem, &problem.targets, self, limits, watch);
        let outcome = limits.check().map_err(Stop::Limit).and_then(|()| search.run());
        let statistics = statistics(&search);
        let rest = match outcome {
            Ok(()) => match search.steps.complete() {
                Ok(()) => Verdict::Safe(Certificate::Downward(Arc::new(search.maximal()))),
                Err(why) => Verdict::Unknown(why),
            },
            Err(Stop::Limit(why)) => Verdict::Unknown(why),
            Err(Stop::Decided) => Verdict::Unknown(Unknown::Cancelled),
        };
        let verdict = |(trace, uncountable)| match trace {
            Some(trace) => Verdict::Unsafe(trace),
            None if uncountable => Verdict::Unknown(Unknown::uncountable()),
            None => rest.clone(),
        };
        Answer::new(search.traces.into_iter().zip(search.uncountable).map(verdict).collect(), statistics)
    }
}

/// The configurations that any number of threads can reach.
#[derive(Clone, Debug)]
pub struct Coverability {
    /// The maximal ω-configurations, sorted: a finite configuration is covered by a reachable one
    /// if and only if it is covered by one of these.
    pub maximal: Arc<Vec<Config>>,
    /// The statistics of the search.
    pub statistics: Statistics,
}

impl KarpMiller {
    /// Computes the whole coverability set, whatever the targets (AKM).
    pub fn coverability(
        &self,
        problem: &Problem,
        limits: &Limits,
        watch: &dyn Watch,
    ) -> Result<Coverability, Unknown> {
        if let Some(why) = refusal(problem) {
            return Err(why);
        }
        limits.check()?;
        let mut search = Search::new(problem, &[], self, limits, watch);
        match search.run() {
            Ok(()) | Err(Stop::Decided) => {}
            Err(Stop::Limit(why)) => return Err(why),
        }
        search.steps.complete()?;
        Ok(Coverability { maximal: Arc::new(search.maximal()), statistics: statistics(&search) })
    }
}

impl Coverability {
    /// Returns every thread state that any number of threads can reach, sorted.
    pub fn thread_states(&self) -> Vec<(Shared, Local)> {
        let of = |c: &Config| c.threads.entries().iter().map(|e| (c.shared, e.0)).collect::<Vec<_>>();
        let mut states: Vec<_> = self.maximal.iter().flat_map(of).collect();
        states.sort_unstable();
        states.dedup();
        states
    }
}

/// Lists every thread state that any number of threads can reach, sorted.
pub fn reachable_unbounded(
    problem: &Problem,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<(Shared, Local)>, Unknown> {
    Ok(KarpMiller::default().coverability(problem, limits, watch)?.thread_states())
}

/// Returns why this engine cannot answer a problem, if so.
fn refusal(problem: &Problem) -> Option<Unknown> {
    let because = |why: String| Some(Unknown::NotForThisModel(why));
    if let Some(why) = problem.model.blocking() {
        return because(format!(
            "karp-miller requires that more threads can do at least as much, but {why}; use explicit with a thread bound"
        ));
    }
    if problem.model.moves_bystanders() {
        return because(
            "karp-miller cannot accelerate over steps that move other threads (signal, broadcast, transfers, passive \
             variables); use backward, or explicit with a thread bound"
                .into(),
        );
    }
    match problem.bound {
        Bound::Any => None,
        Bound::Threads(_) | Bound::Tokens(_) => because(
            "karp-miller is for any number of threads; with a thread bound, use explicit or symbolic".into(),
        ),
    }
}

fn statistics(search: &Search<'_>) -> Statistics {
    let (shared_states, local_states) = search.states();
    Statistics {
        configurations: search.statistics.nodes,
        steps: search.fired,
        shared_states,
        local_states,
        complete_up_to: None,
        occupied: Some(search.occupied),
        flow: None,
        tree: Some(search.statistics.clone()),
    }
}
