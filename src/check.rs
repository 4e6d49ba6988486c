//! The checker: whether the evidence of a verdict holds. It calls no engine and takes nothing from one on trust.
//!
//! A run is replayed, a closed set is shown to be closed, both through [`semantics::fire`] alone. What has to be believed
//! is this file, [`crate::model`], [`crate::problem`] and the model itself.

mod cubes;
pub mod cutoff;
mod products;
mod relative;
mod views;

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::cubes::Parts;

use crate::limits::{Limits, Ticker};
use crate::model::through::Through;
use crate::model::{Bag, Config, Local, Model, OMEGA, Shared, Step, semantics};
use crate::problem::{Bound, Initial, Problem, Target};
use crate::reduction::Reduction;
use crate::verdict::{Certificate, Trace, Unknown, Verdict};

/// Checks that the evidence of `verdict` shows what the verdict says about `target`.
///
/// A verdict that claims nothing passes.
pub fn check(problem: &Problem, target: &Target, verdict: &Verdict) -> Result<(), Flaw> {
    check_within(problem, target, verdict, &Limits::none())
}

/// As [`check`], but gives up with [`Flaw::Limit`] when a limit is hit.
pub fn check_within(
    problem: &Problem,
    target: &Target,
    verdict: &Verdict,
    limits: &Limits,
) -> Result<(), Flaw> {
    let ticker = &mut Ticker::new(limits);
    check_evidence(problem, target, verdict, ticker)?;
    match (verdict, problem.model.gave_up()) {
        (Verdict::Safe(_), Some(why)) => Err(Flaw::Limit(Unknown::Inconclusive(why))),
        _ => Ok(()),
    }
}

fn check_evidence(
    problem: &Problem,
    target: &Target,
    verdict: &Verdict,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    match verdict {
        Verdict::Unsafe(trace) => check_trace(problem, target, trace),
        Verdict::Safe(Certificate::Closed(set)) => check_closed(problem, target, set, None, ticker),
        Verdict::Safe(Certificate::Reduced(set)) => {
            check_closed(problem, target, set, Reduction::for_target(problem, target).as_ref(), ticker)
        }
        Verdict::Safe(Certificate::Products(products)) => {
            products::check_products(problem, target, products, ticker)
        }
        Verdict::Safe(Certificate::Downward(set)) => check_downward(problem, target, set, ticker),
        Verdict::Safe(Certificate::Upward(basis)) => check_basis(problem, target, basis, &|_| false, ticker),
        Verdict::Safe(Certificate::Views(set)) => views::check_views(problem, target, set, ticker),
        Verdict::Safe(Certificate::Relative(relative)) => {
            relative::check_relative(problem, target, relative, ticker)
        }
        Verdict::Safe(Certificate::Through(skipped, proof)) => {
            let problem = pass_through(problem, target, skipped)?;
            check_evidence(&problem, target, &Verdict::Safe((**proof).clone()), ticker)
        }
        Verdict::Unknown(_) => Ok(()),
    }
}

/// The problem in which these shared states are only passed through, if nothing starts there and nothing bad is there.
fn pass_through(problem: &Problem, target: &Target, skipped: &[Shared]) -> Result<Problem, Flaw> {
    let model = &problem.model;
    let matters = |s: &&Shared| {
        problem.initial.iter().any(|family| model.meets_shared(family.shared, **s))
            || target.configs.iter().any(|bad| model.meets_shared(bad.shared, **s))
    };
    if let Some(s) = skipped.iter().find(matters) {
        return Err(Flaw::Malformed(format!("{} cannot be passed through", model.shared_name(*s))));
    }
    if problem.bound != Bound::Any {
        return Err(Flaw::NotForThisModel("states are passed through for any number of threads only".into()));
    }
    let through = Through::new(model.clone(), skipped).map_err(Flaw::NotForThisModel)?;
    Ok(Problem { model: Arc::new(through), ..problem.clone() })
}

/// Checks verdicts about several targets, given by number. Targets that share a certificate are checked against it together: going through
/// a large set once is enough. The name of the target that fails comes with the flaw.
pub fn check_all(
    problem: &Problem,
    verdicts: &[(usize, &Verdict)],
    limits: &Limits,
) -> Result<(), (String, Flaw)> {
    let mut jobs: Vec<(Target, &Verdict)> = Vec::new();
    let mut job_of = FxHashMap::default();
    for &(i, verdict) in verdicts {
        let target = &problem.targets[i];
        let next = jobs.len();
        let job = match verdict {
            Verdict::Safe(certificate) => *job_of.entry(certificate.identity()).or_insert(next),
            Verdict::Unsafe(_) | Verdict::Unknown(_) => next,
        };
        match jobs.get_mut(job) {
            Some((joint, _)) => joint.configs.extend_from_slice(&target.configs),
            None => jobs.push((target.clone(), verdict)),
        }
    }
    jobs.iter().try_for_each(|(target, verdict)| {
        check_within(problem, target, verdict, limits).map_err(|flaw| (target.name.clone(), flaw))
    })
}

/// What is wrong with a piece of evidence. Configurations are in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// A run starts where the system does not.
    NotInitial(String),
    /// A step of a run, counted from 1, is not a step of the model.
    NoSuchStep(usize),
    /// A step of a run, counted from 1, does not lead where the run says, or is not enabled.
    LeadsElsewhere(usize, String),
    /// A run ends in a configuration that is not bad.
    EndIsNotBad(String),
    /// A closed set is offered for a question about infinitely many initial configurations.
    TooManyInitial,
    /// An initial configuration is missing in a closed set.
    InitialMissing(String),
    /// A member of a set has a successor outside.
    NotClosed(String, String),
    /// Nothing is wrong so far, but a limit was hit before everything was checked.
    Limit(Unknown),
    /// A member of a set is bad.
    BadMember(String),
    /// A bad configuration is not above any element of a basis.
    TargetMissing(String),
    /// An element of a basis has a predecessor above no element.
    PredecessorMissing(String, String),
    /// An initial configuration is above an element of a basis.
    InitialInside(String),
    /// A set of views lacks one that follows from it, or is no set of views.
    ViewMissing(String),
    /// A step, or the start, increases a vector.
    Grows(String),
    /// The evidence says nothing about a model in which larger configurations can do less, or that lists no predecessors.
    NotForThisModel(String),
    /// It is no evidence at all.
    Malformed(String),
}

impl From<Unknown> for Flaw {
    fn from(why: Unknown) -> Flaw {
        Flaw::Limit(why)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NotInitial(c) => write!(f, "the run starts in {c}, which is not initial within the bound"),
            Flaw::NoSuchStep(i) => write!(f, "step {i} of the run is not a step of the model"),
            Flaw::LeadsElsewhere(i, c) => write!(f, "step {i} of the run does not lead to {c}"),
            Flaw::EndIsNotBad(c) => write!(f, "the run ends in {c}, which does not cover the target"),
            Flaw::TooManyInitial => {
                write!(f, "a finite set cannot hold every initial configuration of any number of threads")
            }
            Flaw::InitialMissing(c) => write!(f, "the set lacks the initial configuration {c}"),
            Flaw::NotClosed(c, d) => write!(f, "the set holds {c} but not its successor {d}"),
            Flaw::Limit(why) => write!(f, "checking did not finish: {why}"),
            Flaw::Malformed(what) => f.write_str(what),
            Flaw::BadMember(c) => write!(f, "the set holds {c}, which covers the target"),
            Flaw::TargetMissing(c) => write!(f, "the bad configuration {c} is above no element of the basis"),
            Flaw::PredecessorMissing(c, p) => {
                write!(f, "{p} leads to {c} of the basis but is above no element")
            }
            Flaw::InitialInside(c) => write!(f, "an initial configuration is above {c} of the basis"),
            Flaw::ViewMissing(v) => write!(f, "the set of views lacks {v}"),
            Flaw::Grows(why) => write!(f, "a vector grows: {why}"),
            Flaw::NotForThisModel(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Flaw {}

fn check_trace(problem: &Problem, target: &Target, trace: &Trace) -> Result<(), Flaw> {
    let model = &*problem.model;
    if !is_initial(problem, &trace.start) {
        return Err(Flaw::NotInitial(trace.start.describe(model)));
    }
    let mut now = &trace.start;
    for (i, taken) in trace.steps.iter().enumerate() {
        if !is_listed(model, &taken.step) {
            return Err(Flaw::NoSuchStep(i + 1));
        }
        let mut after = Vec::new();
        semantics::fire(model, now, &taken.step, problem.bound.threads(), &mut after);
        if !after.iter().any(|c| taken.after.is_within(c, model)) {
            return Err(Flaw::LeadsElsewhere(i + 1, taken.after.describe(model)));
        }
        now = &taken.after;
    }
    if target.is_hit(now, model) { Ok(()) } else { Err(Flaw::EndIsNotBad(now.describe(model))) }
}

fn check_closed(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    reduction: Option<&Reduction>,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    let inside = Inside::new(model, set);
    let set = &inside.set;
    each_initial(problem, &mut |config| {
        if inside.holds(&config) { Ok(()) } else { Err(Flaw::InitialMissing(config.describe(model))) }
    })?;
    let mut after = Vec::new();
    for &config in set {
        ticker.ticks(16)?;
        if target.is_hit(config, model) {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        if reduction.is_some_and(|r| someone_goes_first(problem, r, config, set)) {
            continue;
        }
        semantics::successors(model, config, problem.bound.threads(), &mut after);
        ticker.ticks(after.len() as u32)?;
        if let Some((_, outside)) = after.drain(..).find(|(_, c)| !inside.holds(c)) {
            return Err(Flaw::NotClosed(config.describe(model), outside.describe(model)));
        }
    }
    Ok(())
}

/// How many threads there are of each class.
type Shape = Vec<(u64, u32)>;

/// A set of configurations, and whether all of a configuration is in it.
struct Inside<'a> {
    model: &'a dyn Model,
    set: FxHashSet<&'a Config>,
    parts: Parts<'a>,
    by_shape: OnceCell<FxHashMap<Shape, Vec<&'a Config>>>,
}

impl<'a> Inside<'a> {
    fn new(model: &'a dyn Model, set: &'a [Config]) -> Inside<'a> {
        Inside { model, set: set.iter().collect(), parts: Parts::new(model, set), by_shape: OnceCell::new() }
    }

    fn holds(&self, config: &Config) -> bool {
        if self.set.contains(config) || self.model.is_exact() {
            return self.set.contains(config);
        }
        let by_shape = self.by_shape.get_or_init(|| {
            let mut by_shape: FxHashMap<_, Vec<&Config>> = FxHashMap::default();
            self.set.iter().for_each(|c| by_shape.entry(self.shape(c)).or_default().push(c));
            by_shape
        });
        let Some(near) = by_shape.get(&self.shape(config)) else { return false };
        self.parts.pass(config, &mut |part| near.iter().any(|c| part.is_within(c, self.model)))
    }

    fn shape(&self, config: &Config) -> Shape {
        let class = |&(l, n): &(Local, u32)| (Local(self.model.local_class(l)), n);
        let classes: Bag = config.threads.entries().iter().map(class).collect();
        classes.entries().iter().map(|e| (e.0.0, e.1)).collect()
    }
}

/// ω-configurations cover all that is reachable if they cover the initial families and all their own successors. That needs no more
/// than that larger configurations can do at least as much; firing handles ω exactly, or by its least upper bound. Where words stand for
/// sets, a thread may be covered by one whose set is larger: each of its values can do what it does there.
fn check_downward(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    if let Some(why) = model.blocking() {
        return Err(Flaw::NotForThisModel(why));
    }
    let mut by_shared: FxHashMap<Shared, Vec<(u64, &Config)>> = FxHashMap::default();
    for config in set {
        by_shared.entry(config.shared).or_default().push((occupied(config), config));
    }
    let parts = Parts::new(model, set);
    let covered = |c: &Config| {
        let bits = occupied(c);
        let covers = |&(above, d): &(u64, &Config)| bits & !above == 0 && d.covers(c);
        by_shared.get(&c.shared).is_some_and(|group| group.iter().any(covers))
            || !model.is_exact() && parts.pass(c, &mut |part| set.iter().any(|d| part.is_below(d, model)))
    };
    for family in problem.initial.iter().map(Initial::omega) {
        if !covered(&family) {
            return Err(Flaw::InitialMissing(family.describe(model)));
        }
    }
    let mut after = Vec::new();
    for config in set {
        ticker.ticks(64)?;
        if target.is_hit(config, model) {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        // With a thread bound, a step may create nobody: what it leads to then is covered by what it leads to without.
        semantics::successors(model, config, None, &mut after);
        ticker.ticks(after.len() as u32)?;
        after.retain(|(_, c)| !config.includes(c, model));
        if let Some((_, outside)) = after.drain(..).find(|(_, c)| !covered(c)) {
            return Err(Flaw::NotClosed(config.describe(model), outside.describe(model)));
        }
    }
    Ok(())
}

/// Which local states are occupied, as 64 bits of a hash: what covers has at least the bits of what it covers.
fn occupied(config: &Config) -> u64 {
    let bit = |l: u64| 1 << (l.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
    config.threads.entries().iter().fold(0, |bits, e| bits | bit(e.0.0))
}

/// A basis stands for all that can reach the target: everything bad is above it, so is whatever leads above it, and no start is; but what is
/// ruled out otherwise may be missing. Where presence blocks, larger configurations may do less than it says, never more.
fn check_basis(
    problem: &Problem,
    target: &Target,
    basis: &[Config],
    ruled_out: &dyn Fn(&Config) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    if target.configs.is_empty() && basis.is_empty() {
        return Ok(()); // nothing is bad
    }
    let model = &*problem.model;
    if !model.has_pre() {
        return Err(Flaw::NotForThisModel("the model lists no predecessors".into()));
    }
    let below = Below::new(model, basis);
    let parts = Parts::new(model, basis);
    let above = |c: &Config| parts.pass(c, &mut |part| below.is_above(part) || ruled_out(part));
    if let Some(bad) = target.configs.iter().find(|c| !above(c)) {
        return Err(Flaw::TargetMissing(bad.describe(model)));
    }
    for element in basis {
        ticker.ticks(64)?;
        if problem.initial.iter().any(|family| family.omega().may_cover(element, model)) {
            return Err(Flaw::InitialInside(element.describe(model)));
        }
        let mut before = Vec::new();
        for step in steps_into(model, element) {
            semantics::unfire(model, element, &step, &mut before);
        }
        if let Some(p) = before.iter().find(|p| !above(p)) {
            return Err(Flaw::PredecessorMissing(element.describe(model), p.describe(model)));
        }
    }
    Ok(())
}

/// The elements of a basis by shared state. Comparing is what costs; sizes and the classes of local states rule out most pairs.
struct Below<'a> {
    model: &'a dyn Model,
    groups: FxHashMap<Shared, Vec<(u32, u64, &'a Config)>>,
}

impl<'a> Below<'a> {
    fn new(model: &'a dyn Model, basis: &'a [Config]) -> Below<'a> {
        let mut below = Below { model, groups: FxHashMap::default() };
        for config in basis {
            let entry = (config.threads.size(), below.classes(config), config);
            below.groups.entry(config.shared).or_default().push(entry);
        }
        below
    }

    /// A bit for every class that occurs; classes may share a bit.
    fn classes(&self, config: &Config) -> u64 {
        config.threads.entries().iter().fold(0, |bits, e| bits | 1 << (self.model.local_class(e.0) % 64))
    }

    /// Whether every concrete configuration of `config` is above some element.
    fn is_above(&self, config: &Config) -> bool {
        let (size, classes) = (config.threads.size(), self.classes(config));
        let covers = |group: &Vec<(u32, u64, &Config)>| {
            let fits = |e: &&(u32, u64, &Config)| e.0 <= size && e.1 & !classes == 0;
            group.iter().filter(fits).any(|e| config.surely_covers(e.2, self.model))
        };
        if self.model.is_exact() {
            return self.groups.get(&config.shared).is_some_and(covers);
        }
        self.groups.iter().any(|(s, group)| self.model.within_shared(config.shared, *s) && covers(group))
    }
}

/// The thread states that a downward set or a set of views holds; `None` for other evidence.
fn singles(certificate: &Certificate) -> Option<FxHashSet<(Shared, Local)>> {
    let set: &[Config] = match certificate {
        Certificate::Downward(set) => set,
        Certificate::Views(views) => &views.set,
        _ => return None,
    };
    Some(set.iter().flat_map(|c| c.threads.entries().iter().map(|e| (c.shared, e.0))).collect())
}

/// Every step that can lead above a configuration from elsewhere.
fn steps_into(model: &dyn Model, config: &Config) -> Vec<Step> {
    let mut steps = Vec::new();
    model.pre_shared(config.shared, &mut steps);
    for &(l, _) in config.threads.entries() {
        model.pre(config.shared, l, &mut steps);
    }
    steps
}

/// Whether some thread of `config` may go first, can move, and stays within `set` whatever it does.
fn someone_goes_first(
    problem: &Problem,
    reduction: &Reduction,
    config: &Config,
    set: &FxHashSet<&Config>,
) -> bool {
    let model = &*problem.model;
    let footprint = |&(l, n): &(Local, u32)| Some((model.footprint(l)?, n));
    let Some(threads) = config.threads.entries().iter().map(footprint).collect::<Option<Vec<_>>>() else {
        return false;
    };
    (0..threads.len()).filter(|&i| reduction.goes_first(&threads, i)).any(|i| {
        let (mut steps, mut after) = (Vec::new(), Vec::new());
        model.post(config.shared, config.threads.entries()[i].0, &mut steps);
        steps.iter().for_each(|s| semantics::fire(model, config, s, problem.bound.threads(), &mut after));
        !after.is_empty() && after.iter().all(|c| set.contains(c))
    })
}

/// Whether the model lists this step for one of the threads it takes, or for nobody.
fn is_listed(model: &dyn Model, step: &Step) -> bool {
    let mut listed = Vec::new();
    if step.take.is_empty() {
        model.post_shared(step.from, &mut listed);
    }
    for &(leader, _) in step.take.entries() {
        model.post(step.from, leader, &mut listed);
    }
    listed.contains(step)
}

/// Whether the system may start in `config`, within the bound.
fn is_initial(problem: &Problem, config: &Config) -> bool {
    let finite = config.threads.entries().iter().all(|e| e.1 != OMEGA);
    let fits = |family: &Initial| match problem.bound {
        Bound::Any => true,
        Bound::Threads(n) => config.threads.size() <= n,
        Bound::Tokens(n) => {
            let more = config.threads.minus(&family.threads);
            more.is_some_and(|more| more.entries().iter().all(|e| config.threads.count(e.0) <= n))
        }
    };
    finite
        && problem.initial.iter().any(|family| {
            let config = &rounded(&*problem.model, family, config);
            family.contains(config) && fits(family)
        })
}

/// Where states are sets: `config` with every state replaced by one of the family that it is within, if there is one.
fn rounded(model: &dyn Model, family: &Initial, config: &Config) -> Config {
    if model.is_exact() {
        return config.clone();
    }
    let up = |&(l, n): &(Local, u32)| {
        let mut starts = family.any.iter().chain(family.threads.entries().iter().map(|e| &e.0));
        (starts.find(|&&start| model.within_local(l, start)).copied().unwrap_or(l), n)
    };
    let shared =
        if model.within_shared(config.shared, family.shared) { family.shared } else { config.shared };
    Config::new(shared, config.threads.entries().iter().map(up).collect())
}

/// Shows every initial configuration within the bound to `found`.
fn each_initial(problem: &Problem, found: &mut impl FnMut(Config) -> Result<(), Flaw>) -> Result<(), Flaw> {
    for family in &problem.initial {
        let least = family.threads.size();
        match problem.bound {
            Bound::Any if !family.any.is_empty() => return Err(Flaw::TooManyInitial),
            Bound::Any => family.each_of_size(least, found)?,
            Bound::Threads(n) if family.any.is_empty() && least > n => {}
            Bound::Threads(_) if family.any.is_empty() => family.each_of_size(least, found)?,
            Bound::Threads(n) => (least..=n).try_for_each(|size| family.each_of_size(size, found))?,
            Bound::Tokens(n) => (0..=n).try_for_each(|most| family.each_of_tokens(most, found))?,
        }
    }
    Ok(())
}
