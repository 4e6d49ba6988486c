//! The thread states that a proof allows. Some certificates describe every reachable configuration,
//! and perhaps more: states that occur in none of their members are never reached. They were
//! checked, so conclusions from them hold.

use std::borrow::Cow;
use std::sync::Arc;

use throng_engine::Silent;
use throng_engine::explicit::explore;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::singles::Singles;
use throng_model::verdict::{Certificate, Products, Verdict};
use throng_model::views::Views;
use throng_model::{Config, Local, Shared};

/// One of these shared states, and threads: each in one of these local states, alone or together
/// with others of the same.
pub(crate) struct Member<'a> {
    pub shared: Cow<'a, [Shared]>,
    pub threads: Vec<(Cow<'a, [Local]>, bool)>,
}

impl Member<'_> {
    /// Returns its thread states.
    pub fn thread_states(&self) -> impl Iterator<Item = (Shared, Local)> {
        let locals = || self.threads.iter().flat_map(|(locals, _)| locals.iter().copied());
        self.shared.iter().flat_map(move |&s| locals().map(move |l| (s, l)))
    }
}

/// Maximum number of thread states that are listed only for warnings and facts about a proof.
const MOST: usize = 2_000;

/// Budget in ticks of a search for all configurations that is made only for warnings and facts
/// about a proof.
const WORK: u64 = 1 << 17;

/// Every reachable configuration, and perhaps more, according to the proof of the first verdict
/// with such a proof.
pub(crate) struct Covering<'a>(Cow<'a, Certificate>);

impl<'a> Covering<'a> {
    /// `search`: if no proof describes them, searches for all configurations within a thread bound,
    /// if they are few; otherwise uses the thread states of the single-thread views, if those are
    /// few.
    pub fn new(problem: &Problem, verdicts: &'a [Verdict], search: Option<&Limits>) -> Option<Covering<'a>> {
        let mut proofs = verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Safe(certificate) => Some(certificate),
            Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
        });
        proofs.clone().next()?;
        if let Some(proof) = proofs.find(|certificate| covers(certificate)) {
            return Some(Covering(Cow::Borrowed(proof)));
        }
        let limits = search?;
        if problem.bound != Bound::Any
            && let Ok(explored) = explore(problem, 1, &limits.part().work(WORK), &Silent)
        {
            return Some(Covering(Cow::Owned(Certificate::Packed(Arc::new(explored.into_packed())))));
        }
        let singles = Singles::of(&*problem.model, &problem.initial, MOST, limits).ok()?.ok()?;
        Some(Covering(Cow::Owned(Certificate::Views(Arc::new(singles.views())))))
    }

    /// Returns every thread state of a member; some may be repeated.
    pub fn thread_states(&self) -> Box<dyn Iterator<Item = (Shared, Local)> + '_> {
        match &*self.0 {
            Certificate::Views(views) => Box::new(views.thread_states()),
            Certificate::Relative(relative) => Box::new(relative.views.thread_states()),
            _ => Box::new(self.members().flat_map(|member| member.thread_states().collect::<Vec<_>>())),
        }
    }

    pub fn members(&self) -> Box<dyn Iterator<Item = Member<'_>> + '_> {
        match &*self.0 {
            Certificate::Closed(set) | Certificate::Downward(set) => Box::new(set.iter().map(of_config)),
            Certificate::Packed(set) if !set.reduced => Box::new(set.iter().map(|config| of_config(&config))),
            Certificate::Views(views) => of_views(views),
            Certificate::Relative(relative) => of_views(&relative.views),
            Certificate::Products(products) => of_products(products),
            Certificate::Packed(_)
            | Certificate::Upward(_)
            | Certificate::Quotient(..)
            | Certificate::Reduced(..)
            | Certificate::Refutation(_)
            | Certificate::Spread(_)
            | Certificate::OfSource(_)
            | Certificate::Localised(_) => Box::new(std::iter::empty()),
        }
    }
}

/// Returns whether every reachable configuration is in a member.
fn covers(certificate: &Certificate) -> bool {
    match certificate {
        Certificate::Closed(_)
        | Certificate::Downward(_)
        | Certificate::Views(_)
        | Certificate::Relative(_) => true,
        Certificate::Packed(set) => !set.reduced,
        Certificate::Products(products) => !products.reduced,
        Certificate::Upward(_)
        | Certificate::Quotient(..)
        | Certificate::Reduced(..)
        | Certificate::Refutation(_)
        | Certificate::Spread(_)
        | Certificate::OfSource(_)
        | Certificate::Localised(_) => false,
    }
}

fn of_config<'a>(config: &Config) -> Member<'a> {
    Member {
        shared: Cow::Owned(vec![config.shared]),
        threads: config.threads.entries().iter().map(|&(l, n)| (vec![l].into(), n > 1)).collect(),
    }
}

fn of_views(views: &Views) -> Box<dyn Iterator<Item = Member<'_>> + '_> {
    Box::new(views.blocks().map(|block| {
        let left = Cow::Owned(block.left);
        let threads = match block.right {
            None => vec![(left, true)],
            Some(right) => vec![(left, false), (Cow::Owned(right), false)],
        };
        Member { shared: Cow::Owned(vec![block.shared]), threads }
    }))
}

fn of_products(products: &Products) -> Box<dyn Iterator<Item = Member<'_>> + '_> {
    Box::new(products.members.iter().map(|product| {
        Member {
            shared: Cow::Borrowed(&products.shared[product.shared as usize][..]),
            threads: product
                .threads
                .iter()
                .map(|&(set, n)| (Cow::Borrowed(&products.locals[set as usize][..]), n > 1))
                .collect(),
        }
    }))
}
