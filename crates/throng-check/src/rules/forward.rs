//! Sets that hold every initial configuration, are closed under steps, and hold nothing bad: by
//! induction over the length of a run, nothing outside is ever reached.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use super::Flaw;
use super::run::{Led, countable, each_initial};
use super::sets::{Order, Set};
use throng_model::Config;
use throng_model::limits::Ticker;
use throng_model::packed::{Finder, Packed};
use throng_model::problem::{Initial, Problem, Target};

/// What a set holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every configuration that is reached within the bound.
    Closed,
    /// Every configuration that is reached by a run that never has more threads than the bound: a
    /// step that would create more is not taken, and does not create fewer instead.
    Within,
    /// With counts up to ω, configurations that cover all that any number of threads can reach.
    /// That needs no more than that larger configurations can do at least as much; firing handles ω
    /// exactly, or by its least upper bound. A thread bound removes only behaviour: where a step
    /// creates no thread, what it leads to is covered by what it leads to without the bound.
    Downward,
}

pub(super) fn check_forward(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    kind: Kind,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    check_closed(problem, target, set, kind, &mut |_, _, _| false, ticker)
}

/// Whether successors of a member may be outside.
pub(super) type Exempt<'a> = &'a (dyn Fn(&Config, Inside<'_>, &mut Led) -> bool + Sync);

/// The same for a set as a search stored it: what is inside is a member. As many threads as the
/// limits allow share its members.
pub(super) fn check_packed(
    problem: &Problem,
    target: &Target,
    set: &Packed,
    exempt: Exempt<'_>,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    check_starts(problem, &mut set.finder(), Kind::Closed)?;
    let limits = ticker.limits();
    let workers = if set.len() < MANY { 1 } else { limits.checkers() };
    let work = |worker: usize| {
        let (mut finder, mut ticker) = (set.finder(), Ticker::new(limits));
        let members = set.share(worker, workers).map(Cow::Owned);
        let mut exempt = |_, config: &Config, inside: Inside<'_>, led: &mut Led| exempt(config, inside, led);
        check_members(problem, target, members, &mut finder, Kind::Closed, &mut exempt, &mut ticker)
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let own = work(0);
        let join = |other: ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| resume_unwind(panic));
        others.into_iter().map(join).fold(own, Result::and)
    })
}

/// A set with fewer members is checked by one thread.
const MANY: usize = 1 << 14;

/// A set of configurations that members lead to.
trait Members {
    /// Whether a configuration is inside.
    fn holds(&mut self, config: &Config) -> bool;

    /// The first that is not.
    fn first_missing(&mut self, configs: &[Config]) -> Option<usize> {
        configs.iter().position(|config| !self.holds(config))
    }
}

impl Members for Set<'_> {
    fn holds(&mut self, config: &Config) -> bool {
        Set::holds(self, config)
    }
}

impl Members for Finder<'_> {
    fn holds(&mut self, config: &Config) -> bool {
        Finder::holds(self, config)
    }

    fn first_missing(&mut self, configs: &[Config]) -> Option<usize> {
        Finder::first_missing(self, configs)
    }
}

/// Whether a configuration is in a set.
pub(super) type Inside<'a> = &'a mut dyn FnMut(&Config) -> bool;

/// The same, but members that are `exempt`, given by their number, may have successors outside.
pub(super) fn check_closed(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    kind: Kind,
    exempt: &mut dyn FnMut(usize, Inside<'_>, &mut Led) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let order = if kind == Kind::Downward { Order::Below } else { Order::Same };
    let mut inside = Set::new(&*problem.model, set, order);
    let members = set.iter().map(Cow::Borrowed);
    let mut exempt = |i, _: &Config, inside: Inside<'_>, led: &mut Led| exempt(i, inside, led);
    check_starts(problem, &mut inside, kind)?;
    check_members(problem, target, members, &mut inside, kind, &mut exempt, ticker)
}

/// Whether every initial configuration is inside.
fn check_starts(problem: &Problem, inside: &mut dyn Members, kind: Kind) -> Result<(), Flaw> {
    let model = &*problem.model;
    let mut starts = |config: Config| {
        if inside.holds(&config) { Ok(()) } else { Err(Flaw::InitialMissing(config.describe(model))) }
    };
    match (kind, model.blocking()) {
        (Kind::Downward, Some(why)) => Err(Flaw::NotForThisModel(why)),
        (Kind::Downward, None) => problem.initial.iter().map(Initial::omega).try_for_each(starts),
        _ => each_initial(problem, &mut starts),
    }
}

/// Whether none of these members is bad and all that they lead to is inside.
fn check_members<'a>(
    problem: &Problem,
    target: &Target,
    members: impl Iterator<Item = Cow<'a, Config>>,
    inside: &mut dyn Members,
    kind: Kind,
    exempt: &mut dyn FnMut(usize, &Config, Inside<'_>, &mut Led) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    let bound = problem.bound.threads();
    let counts = |c: &Config| kind != Kind::Within || bound.is_none_or(|n| c.threads.size() <= n);
    let bound = bound.filter(|_| kind == Kind::Closed);
    let (mut led, mut after) = (Led::new(model), Vec::new());
    for (i, config) in members.enumerate() {
        let config = &*config;
        ticker.ticks(16)?;
        countable(config)?;
        // Where members stand for all that they cover, a formula says nothing about them.
        let is_bad = match kind {
            Kind::Downward => target.may_be_hit(config, model),
            Kind::Closed | Kind::Within => target.hits(config, model)?,
        };
        if is_bad {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        if exempt(i, config, &mut |c| inside.holds(c), &mut led) {
            continue;
        }
        led.fire(config, None, bound, &mut after)?;
        config.threads.entries().iter().try_for_each(|e| led.fire(config, Some(e.0), bound, &mut after))?;
        ticker.ticks(after.len() as u32)?;
        after.retain(counts);
        if let Some(outside) = inside.first_missing(&after) {
            return Err(Flaw::NotClosed(config.describe(model), after[outside].describe(model)));
        }
        after.clear();
    }
    Ok(())
}
