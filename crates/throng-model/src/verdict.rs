//! Answers, and the evidence they carry.

use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;
use std::time::Duration;

use crate::Incomplete;
use crate::localisation::Localisation;
use crate::packed::Packed;
use crate::predicate::Sum;
use crate::problem::{Asks, Target};
use crate::quotient::QuotientMap;
use crate::reduction::Reductions;
use crate::views::Views;
use crate::{Bag, Config, Local, Shared, Step};

/// The answer about one target.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It cannot be reached within the thread bound, for this reason.
    Safe(Certificate),
    /// It can be reached, by this run.
    Unsafe(Trace),
    /// It is not decided, for this reason.
    Unknown(Unknown),
}

impl Verdict {
    /// Returns the kind of evidence, as certificates call it, and its number of elements.
    pub fn evidence(&self) -> Option<(&'static str, usize)> {
        match self {
            Verdict::Unsafe(trace) => Some(("trace", trace.steps.len() + 1)),
            Verdict::Safe(certificate) => Some(certificate.measure()),
            Verdict::Unknown(_) => None,
        }
    }
}

impl Target {
    /// Returns whether the formula that the target stands for is true, as it is written.
    pub fn holds(&self, verdict: &Verdict) -> Option<bool> {
        let reached = match verdict {
            Verdict::Unsafe(_) => true,
            Verdict::Safe(_) => false,
            Verdict::Unknown(_) => return None,
        };
        match self.asks()? {
            Asks::Exists => Some(reached),
            Asks::Always => Some(!reached),
            _ => None,
        }
    }

    /// Returns the largest value that the question asks for.
    pub fn bound(&self, verdict: &Verdict) -> Option<i64> {
        match (self.asks(), verdict) {
            (Some(Asks::AtMost(most)), Verdict::Safe(_)) => Some(*most),
            _ => None,
        }
    }
}

/// Evidence that a target cannot be reached.
#[derive(Clone, PartialEq, Debug)]
pub enum Certificate {
    /// Every reachable configuration within the bound: closed under steps, contains every initial
    /// configuration of the problem, hits no target. Shared, because one set may answer for
    /// thousands of targets.
    Closed(Arc<Vec<Config>>),
    /// The same, as a search stored it. It may be closed only under the steps of one thread that
    /// may go first ([`crate::partial_order`]), where there is one.
    Packed(Arc<Packed>),
    /// The same, with products of sets instead of configurations.
    Products(Arc<Products>),
    /// ω-configurations that together cover every configuration that any number of threads can
    /// reach: the set they cover contains every initial configuration, is closed under steps, and
    /// hits no target.
    Downward(Arc<Vec<Config>>),
    /// Minimal configurations of a set that is closed upwards and under predecessors: it contains
    /// every bad configuration and no initial one.
    Upward(Arc<Vec<Config>>),
    /// A set of views such that no target has all its views in the set.
    Views(Arc<Views>),
    /// A basis as in [`Certificate::Upward`], but only of the configurations that some invariants
    /// do not exclude.
    Relative(Arc<Relative>),
    /// A contradiction between the state equation and each case of the target.
    Refutation(Arc<Refutation>),
    /// Evidence about the quotient model ([`crate::quotient`]).
    Quotient(Arc<QuotientMap>, Box<Certificate>),
    /// Evidence about a net after structural reductions ([`crate::reduction`]).
    Reduced(Arc<Reductions>, Box<Certificate>),
    /// Evidence about localised models ([`crate::localisation`]), one for each bad configuration.
    Localised(Arc<Vec<LocalProof>>),
    /// A set as in [`Certificate::Closed`] that stays with the workers that found it. Each worker
    /// has checked its part; only the sizes are kept here.
    Spread(Arc<Spread>),
    /// A proof about the source program of the model, in a form of its own. Its own checker has
    /// accepted it; only its description is kept here.
    OfSource(Arc<SourceProof>),
}

/// Evidence about a localised model.
#[derive(Clone, PartialEq, Debug)]
pub struct LocalProof {
    /// The variables and places that are kept.
    pub map: Localisation,
    /// The proof covers the bad configurations whose threads are all at the places of these states,
    /// whatever their variables.
    pub at: Vec<Local>,
    /// The evidence.
    pub proof: Certificate,
}

/// Why no reachable configuration of a net satisfies the predicate of a target
/// ([`crate::problem::Target::predicate`]): for each case, a linear argument (Farkas' lemma for the
/// state equation, strengthened by traps).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refutation {
    /// Sets of local states that are never without a thread: there is one at the start, and every
    /// step that takes a thread from the set puts one there.
    pub traps: Vec<Vec<Local>>,
    /// A tree of cases, each followed by its parts.
    pub cases: Vec<Case>,
}

/// One case of a [`Refutation`]: comparisons that hold in it, and disjunctions that are not yet
/// split.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Case {
    /// One case for each part of this disjunction.
    Split(u32),
    /// The comparisons of the case contradict what is reachable.
    Linear(Contradiction),
}

/// A sum that no step increases, and that exceeds its initial value wherever certain comparisons
/// hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contradiction {
    /// The weight of a thread in each local state; 0 for those not listed.
    pub weights: Sum,
    /// Comparisons by number, and their multipliers. The combination of all of them and of `traps`
    /// is at most the sum, term by term, but requires more than its value at the start.
    pub comparisons: Vec<(u32, i64)>,
    /// Traps by number, and their multipliers.
    pub traps: Vec<(u32, i64)>,
}

/// Invariants, each proved with the help of the previous ones, and a basis relative to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relative {
    /// Views of every reachable configuration; they also restrict the steps that the other parts
    /// consider.
    pub views: Arc<Views>,
    /// Linear invariants: no reachable configuration exceeds the value of some initial
    /// configuration.
    pub vectors: Vec<Vector>,
    /// Minimal configurations of a set that is closed upwards, and closed under those predecessors
    /// that the invariants do not exclude: it contains every bad configuration that the invariants
    /// do not exclude, and no initial one. Empty if they exclude all of them.
    pub basis: Vec<Config>,
    /// For starvation, why some steps are taken only finitely often ([`crate::fair`]).
    pub ranks: Vec<Rank>,
}

/// A sum that no step increases of those that may be taken again and again, while one thread stays
/// where it is: a step that decreases it is not one of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rank {
    /// The weight of each shared state with the local state of the thread that stays; 0 for those
    /// not listed.
    pub nodes: Vec<((Shared, Local), i64)>,
    /// The weight of another thread in each local state, never negative; 0 for those not listed.
    pub locals: Vec<(Local, i64)>,
}

/// A linear function of configurations that no step increases: TSE's equations, turned into a proof
/// (Farkas). A configuration that covers another has at least its value, because weights of local
/// states are not negative.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vector {
    /// The weight of each shared state; 0 for those not listed.
    pub shared: Vec<(Shared, i64)>,
    /// The weight of a thread in each local state, never negative; 0 for those not listed.
    pub locals: Vec<(Local, i64)>,
}

impl Certificate {
    /// Returns the kind, as certificates call it, and the number of elements.
    pub fn measure(&self) -> (&'static str, usize) {
        match self {
            Certificate::Closed(set) => ("closed", set.len()),
            Certificate::Packed(set) => (if set.reduced { "reduced" } else { "closed" }, set.len()),
            Certificate::Products(products) => ("products", products.members.len()),
            Certificate::Downward(set) => ("downward", set.len()),
            Certificate::Upward(set) => ("upward", set.len()),
            Certificate::Views(views) => ("views", views.len()),
            Certificate::Relative(relative) if relative.basis.is_empty() => {
                ("linear", relative.views.len() + relative.vectors.len() + relative.ranks.len())
            }
            Certificate::Relative(relative) => {
                let Relative { views, vectors, basis, .. } = &**relative;
                ("relative", views.len() + vectors.len() + basis.len())
            }
            Certificate::Refutation(refutation) => ("refutation", refutation.cases.len()),
            Certificate::Quotient(_, proof) | Certificate::Reduced(_, proof) => proof.measure(),
            Certificate::Spread(spread) => ("spread", spread.members as usize),
            Certificate::OfSource(proof) => (proof.kind, proof.size),
            Certificate::Localised(parts) => {
                ("localised", parts.iter().map(|part| part.proof.measure().1).sum())
            }
        }
    }

    /// Returns an identity that certificates of one kind have in common if they share their
    /// evidence; only valid while they exist.
    pub fn identity(&self) -> (Discriminant<Certificate>, usize) {
        let address = match self {
            Certificate::Closed(set) | Certificate::Downward(set) | Certificate::Upward(set) => {
                Arc::as_ptr(set).addr()
            }
            Certificate::Packed(set) => Arc::as_ptr(set).addr(),
            Certificate::Views(views) => Arc::as_ptr(views).addr(),
            Certificate::Relative(relative) => Arc::as_ptr(relative).addr(),
            Certificate::Products(products) => Arc::as_ptr(products).addr(),
            Certificate::Refutation(refutation) => Arc::as_ptr(refutation).addr(),
            Certificate::Quotient(_, inner) | Certificate::Reduced(_, inner) => return inner.identity(),
            Certificate::Localised(parts) => Arc::as_ptr(parts).addr(),
            Certificate::Spread(spread) => Arc::as_ptr(spread).addr(),
            Certificate::OfSource(proof) => Arc::as_ptr(proof).addr(),
        };
        (discriminant(self), address)
    }
}

/// The description of a proof in a form of its own, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceProof {
    /// A short name: `locksets`.
    pub kind: &'static str,
    /// The number of members.
    pub size: usize,
    /// The name of one member: `instruction`.
    pub member: &'static str,
    /// Says what the members are and why they prove the verdict.
    pub words: String,
    /// What its checker has to establish, in order.
    pub obligations: [&'static str; 3],
}

/// A closed set that is divided among workers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spread {
    /// The number of configurations.
    pub members: u64,
    /// The number of workers that hold them.
    pub workers: u32,
}

/// A set of products of sets of states; each set is given as a list of states whose union it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Products {
    /// Sets of shared states.
    pub shared: Vec<Vec<Shared>>,
    /// Sets of local states.
    pub locals: Vec<Vec<Local>>,
    /// The products.
    pub members: Vec<Product>,
    /// True if the set is closed only under the steps of one thread that may go first
    /// ([`crate::partial_order`]), where there is one.
    pub reduced: bool,
}

impl Products {
    /// Returns all configurations, member after member; `None` if some member has more than `most`.
    pub fn all(&self, most: usize) -> Option<Vec<Config>> {
        let each: Option<Vec<_>> = self.members.iter().map(|member| self.configs(member, most)).collect();
        Some(each?.concat())
    }

    /// Returns all configurations of a member; `None` if there are more than `most`.
    pub fn configs(&self, product: &Product, most: usize) -> Option<Vec<Config>> {
        let shared = self.shared.get(product.shared as usize)?;
        let mut bags = vec![Bag::new()];
        for &(set, n) in &product.threads {
            let states = self.locals.get(set as usize)?;
            let mut next = Vec::new();
            for bag in &bags {
                spread(states, n, bag.clone(), &mut next, most)?;
            }
            bags = next;
        }
        if bags.len().saturating_mul(shared.len()) > most {
            return None;
        }
        Some(shared.iter().flat_map(|&s| bags.iter().map(move |b| Config::new(s, b.clone()))).collect())
    }
}

/// Returns every way to put `n` threads into the states `states`.
fn spread(states: &[Local], n: u32, base: Bag, found: &mut Vec<Bag>, most: usize) -> Option<()> {
    let Some((&first, later)) = states.split_first() else {
        return if n == 0 {
            found.push(base);
            (found.len() <= most).then_some(())
        } else {
            Some(())
        };
    };
    let least = if later.is_empty() { n } else { 0 };
    (least..=n).try_for_each(|k| {
        let mut bag = base.clone();
        bag.insert(first, k);
        spread(later, n - k, bag, found, most)
    })
}

/// Every configuration with a shared state in a set and, for each entry, the entry's number of
/// threads in the entry's set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Product {
    /// Index into [`Products::shared`].
    pub shared: u32,
    /// Indices into [`Products::locals`], with counts.
    pub threads: Vec<(u32, u32)>,
}

/// A run: concrete counts at the start, then steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// An initial configuration; counts are finite.
    pub start: Config,
    /// The steps, in order.
    pub steps: Vec<Taken>,
}

/// A configuration that a run reaches: initial, or by a step from an earlier one that the thread
/// state `by` leads (`None`: the step takes no thread).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunNode {
    /// The previous configuration, as an index into a list; `None` at the start.
    pub parent: Option<usize>,
    /// The thread that leads the step.
    pub by: Option<Local>,
    /// The configuration.
    pub config: Config,
}

/// One step of a trace and the configuration it led to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The step.
    pub step: Step,
    /// The configuration afterwards; the step does not determine it if bystanders had a choice.
    pub after: Config,
}

impl Trace {
    /// Returns the last configuration.
    pub fn end(&self) -> &Config {
        self.steps.last().map_or(&self.start, |t| &t.after)
    }

    /// Returns the largest number of threads that exist at the same time.
    pub fn threads(&self) -> u32 {
        let after = self.steps.iter().map(|t| t.after.threads.size());
        after.chain([self.start.threads.size()]).max().unwrap_or(0)
    }

    /// Returns the number of threads in all: those at the start and those created later, including
    /// ended ones.
    pub fn threads_in_all(&self) -> u32 {
        let started = self.steps.iter().map(|t| t.step.spawn.size());
        started.fold(self.start.threads.size(), u32::saturating_add)
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// Time is up.
    Time(Duration),
    /// The memory limit, in bytes, was hit.
    Memory(u64),
    /// The caller asked to stop.
    Cancelled,
    /// Its share of the work is used up.
    Work,
    /// The engine gave up at this many threads (or tokens); up to that number the target is not
    /// reachable.
    Bound(u32),
    /// The engine finished without an answer, and why.
    Inconclusive(String),
    /// An engine has answered, but a weaker or another question; says why.
    Unsure(String),
    /// The engine cannot answer this question; says why, and which engine can.
    NotForThisModel(String),
    /// An analysis leaves violations possible, and no search has shown one; says how many.
    Possible(String),
    /// The question cannot be asked; says why.
    LeftOut(String),
}

impl Unknown {
    /// Numbers of threads are no longer exact ([`crate::UNCOUNTABLE`]).
    pub fn uncountable() -> Unknown {
        Unknown::Inconclusive("there are too many threads to count".into())
    }

    /// Returns the kind of reason, in one word, for scripts.
    pub fn cause(&self) -> &'static str {
        match self {
            Unknown::Time(_) => "time",
            Unknown::Memory(_) => "memory",
            Unknown::Cancelled => "stopped",
            Unknown::Work => "work",
            Unknown::Bound(_) => "bound",
            Unknown::Inconclusive(_) => "inconclusive",
            Unknown::Unsure(_) => "unsure",
            Unknown::NotForThisModel(_) => "refused",
            Unknown::Possible(_) => "possible",
            Unknown::LeftOut(_) => "left-out",
        }
    }
}

impl From<Incomplete> for Unknown {
    fn from(why: Incomplete) -> Unknown {
        Unknown::Inconclusive(why.to_string())
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A share of the requested time may be any fraction of it, so it is rounded to
            // milliseconds.
            Unknown::Time(t) => {
                write!(f, "time limit of {} s reached", (t.as_secs_f64() * 1e3).round() / 1e3)
            }
            Unknown::Memory(bytes) => write!(f, "memory limit of {} MiB reached", bytes >> 20),
            Unknown::Work => write!(f, "its share of the work is used up"),
            Unknown::Cancelled => write!(f, "stopped on request"),
            Unknown::Bound(n) => write!(f, "gave up after {n} threads"),
            Unknown::Inconclusive(why)
            | Unknown::Unsure(why)
            | Unknown::NotForThisModel(why)
            | Unknown::Possible(why) => f.write_str(why),
            Unknown::LeftOut(why) => write!(f, "left out: {why}"),
        }
    }
}
