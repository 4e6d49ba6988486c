//! Follows solutions of the state equation, which say how often each transition fires on a way to
//! the target, but not in which order. Orders are tried depth first; if none leads to the target,
//! the equation is solved again from the end of the longest one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::equation::plan;
use super::net::{Formula, Net};
use super::walk::Walker;
use throng_model::limits::{Limits, Ticker};
use throng_model::predicate::Sum;
use throng_model::random::Random;
use throng_model::verdict::Unknown;

/// Number of firings in the search for an order, besides some for each transition that is to be
/// ordered.
const MOST_TRIES: u32 = 20_000;
const TRIES_FOR_EACH: u32 = 4;

/// Number of transitions in a plan above which several are fired in a row.
const MANY: u32 = 200;

/// Searches for a run to where `formula` holds, in this case of it, with at most `plans` solutions
/// of the state equation.
pub fn follow(
    net: &Net,
    formula: &Formula,
    case: &[(Sum, i64)],
    plans: u32,
    random: &mut Random,
    limits: &Limits,
) -> Result<Option<Vec<u32>>, Unknown> {
    let mut first: FxHashMap<&[(u32, i64)], u32> = FxHashMap::default();
    let group: Vec<u32> =
        (0..net.changes.len() as u32).map(|t| *first.entry(&net.changes[t as usize]).or_insert(t)).collect();
    let mut ticker = Ticker::new(limits);
    let start = Walker::new(net);
    let Some(first_plan) = plan(net, &start.marking, case, limits)? else { return Ok(None) };
    let (mut walker, mut times) = (start.clone(), first_plan.clone());
    for _ in 0..plans {
        let before = walker.fired.len();
        let left = times.iter().map(|&(t, n)| (t, n.ceil().min(1e7) as u32)).collect();
        if order(net, &mut walker, formula, &group, left, random, &mut ticker)? {
            return Ok(Some(walker.fired));
        }
        // A plan that cannot begin would be the solution again, so something else has to happen
        // first.
        let stuck = walker.fired.len() == before;
        let lost = walker.enabled.is_empty()
            || walker.fired.len() >= net.most_steps()
            || stuck && !walker.fire(walker.enabled[random.below(walker.enabled.len())]);
        let next = if lost { None } else { plan(net, &walker.marking, case, limits)? };
        times = next.unwrap_or_else(|| {
            walker = start.clone();
            first_plan.clone()
        });
    }
    Ok(None)
}

/// Fires transitions, each at most as often as it is left, until the formula holds. Returns whether
/// it does. Otherwise the longest order that was found is fired.
fn order(
    net: &Net,
    walker: &mut Walker,
    formula: &Formula,
    group: &[u32],
    left: FxHashMap<u32, u32>,
    random: &mut Random,
    ticker: &mut Ticker,
) -> Result<bool, Unknown> {
    let base = walker.fired.len();
    let names: Vec<u32> = left.keys().copied().collect();
    let number: FxHashMap<u32, usize> = names.iter().copied().zip(0..).collect();
    let mut left: Vec<u32> = names.iter().map(|t| left[t]).collect();
    // Hashes of the remaining firings where the search has been: nothing is concluded from orders
    // that are not tried.
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mark = |i: usize| Random::new(i as u64).bits();
    let mut hash: u64 = 0;
    let mut longest: Vec<u32> = Vec::new();
    // The remaining choices after each step, and how often its transition fired.
    let mut open: Vec<(Vec<u32>, u32)> = Vec::new();
    let most_steps = net.most_steps();
    let in_all = left.iter().fold(0, |all: u32, n| all.saturating_add(*n)).min(most_steps as u32);
    let mut tries = MOST_TRIES + TRIES_FOR_EACH * in_all;
    // Large plans are tried mostly with many firings in a row.
    let leaps = in_all > MANY && random.below(4) > 0;
    let choices = |walker: &Walker, left: &[u32], random: &mut Random| {
        let fits = |t: &u32| number.get(&group[*t as usize]).is_some_and(|&i| left[i] > 0);
        let mut found: Vec<u32> = walker.enabled.iter().copied().filter(fits).collect();
        for i in (1..found.len()).rev() {
            found.swap(i, random.below(i + 1));
        }
        found
    };
    if formula.holds(&walker.marking, walker.enabled.len()) {
        return Ok(true);
    }
    open.push((choices(walker, &left, random), 0));
    while let Some((choice, times)) = open.last_mut() {
        let Some(t) = choice.pop() else {
            if walker.fired.len() - base > longest.len() {
                longest = walker.fired[base..].to_vec();
            }
            if let Some(&back) = walker.fired[base..].last() {
                let i = number[&group[back as usize]];
                left[i] += *times;
                hash = hash.wrapping_sub(mark(i).wrapping_mul(u64::from(*times)));
                walker.undo(*times);
            }
            open.pop();
            continue;
        };
        ticker.ticks(1 + walker.enabled.len() as u32 / 8)?;
        if tries == 0 || walker.fired.len() >= most_steps {
            break;
        }
        tries -= 1;
        let i = number[&group[t as usize]];
        let times = if leaps { net.times(&walker.marking, t, left[i]) } else { 1 };
        left[i] -= times;
        hash = hash.wrapping_add(mark(i).wrapping_mul(u64::from(times)));
        let fits = walker.fire_times(t, times);
        if formula.holds(&walker.marking, walker.enabled.len()) {
            return Ok(true);
        }
        let fresh = fits && seen.insert(hash);
        open.push((if fresh { choices(walker, &left, random) } else { Vec::new() }, times));
    }
    if walker.fired.len() - base >= longest.len() {
        return Ok(false);
    }
    while let Some((_, times)) = open.pop() {
        walker.undo(times);
    }
    longest.into_iter().for_each(|t| _ = walker.fire(t));
    Ok(false)
}
