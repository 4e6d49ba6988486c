//! The rule for sets that are closed only under the steps of a thread that may go first
//! ([`throng_model::partial_order`]), where there is one; and for products of sets.
//!
//! It relies on the model for the variables that a statement reads and writes. Certificates in
//! files do not rely on it.

use rustc_hash::FxHashSet;

use super::Flaw;
use super::forward::{Inside, Kind, check_closed, check_packed};
use super::run::Led;
use throng_model::limits::Ticker;
use throng_model::packed::Packed;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Products, Unknown};
use throng_model::{Config, Footprint, Local, Shared};

/// Maximum number of configurations of a product that is checked.
pub(super) const MOST: usize = 1 << 20;

/// Checks a set of configurations.
pub(super) fn check_reduced(
    problem: &Problem,
    target: &Target,
    set: &Packed,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let reduction = Reduction::for_target(problem, target);
    let exempt = |config: &Config, inside: Inside<'_>, led: &mut Led| {
        reduction.as_ref().is_some_and(|r| Member::of(config).some_thread_goes_first(problem, r, inside, led))
    };
    check_packed(problem, target, set, &exempt, ticker)
}

/// Checks products: each stands for all of its configurations.
pub(super) fn check_products(
    problem: &Problem,
    target: &Target,
    products: &Products,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let (mut set, mut ends) = (Vec::new(), Vec::new());
    for product in &products.members {
        let Some(configs) = products.configs(product, MOST) else {
            return Err(Flaw::Limit(Unknown::Inconclusive("a product of sets is too large to check".into())));
        };
        ticker.ticks(configs.len() as u32)?;
        set.extend(configs);
        ends.push(set.len());
    }
    let reduction = if products.reduced { Reduction::for_target(problem, target) } else { None };
    let (mut at, mut first, mut known) = (0, 0, None);
    let mut exempt = |i: usize, inside: Inside<'_>, led: &mut Led| {
        let Some(reduction) = &reduction else { return false };
        while ends[at] <= i {
            (first, at, known) = (ends[at], at + 1, None);
        }
        *known.get_or_insert_with(|| {
            let threads = products.members[at].threads.iter();
            let threads = threads.map(|&(set, n)| (&*products.locals[set as usize], n)).collect();
            let member = Member { configs: &set[first..ends[at]], threads };
            member.some_thread_goes_first(problem, reduction, inside, led)
        })
    };
    check_closed(problem, target, &set, Kind::Closed, &mut exempt, ticker)
}

/// A product of sets.
struct Member<'a> {
    /// All its configurations.
    configs: &'a [Config],
    /// Sets of local states, each at one place, and the number of threads in each.
    threads: Vec<(&'a [Local], u32)>,
}

impl Member<'_> {
    /// Returns the product that is one configuration.
    fn of(config: &Config) -> Member<'_> {
        let threads = config.threads.entries().iter().map(|(l, n)| (std::slice::from_ref(l), *n)).collect();
        Member { configs: std::slice::from_ref(config), threads }
    }

    /// Returns whether some thread may go first, can move in every shared state of the product, and
    /// stays inside with each of its steps.
    fn some_thread_goes_first(
        &self,
        problem: &Problem,
        reduction: &Reduction,
        inside: Inside<'_>,
        led: &mut Led,
    ) -> bool {
        let model = &*problem.model;
        let footprint =
            |(states, n): &(&[Local], u32)| Some((model.footprints()?.footprint(*states.first()?), *n));
        let Some(threads) = self.threads.iter().map(footprint).collect::<Option<Vec<(Footprint, u32)>>>()
        else {
            return false;
        };
        (0..threads.len())
            .filter(|&i| reduction.goes_first(&threads, i))
            .any(|i| self.goes_first(led, self.threads[i].0, problem.bound.threads(), inside))
    }

    fn goes_first(&self, led: &mut Led, thread: &[Local], bound: Option<u32>, inside: Inside<'_>) -> bool {
        let mut stuck: FxHashSet<Shared> = self.configs.iter().map(|c| c.shared).collect();
        let mut after = Vec::new();
        for config in self.configs {
            for &l in thread.iter().filter(|&&l| config.threads.count(l) > 0) {
                if led.fire(config, Some(l), bound, &mut after).is_err() {
                    return false;
                }
                if !after.is_empty() {
                    stuck.remove(&config.shared);
                }
                if after.drain(..).any(|c| !inside(&c)) {
                    return false;
                }
            }
        }
        stuck.is_empty()
    }
}
