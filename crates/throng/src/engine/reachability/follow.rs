//! Follows the state equation: its solution says how often each transition fires on a way to the target, not in which order. So orders are tried, depth first; if none
//! leads to the target, the equation is solved again from where the longest of them ends.

use rustc_hash::{FxHashMap, FxHashSet};

use super::equation::plan;
use super::net::{Formula, Net};
use super::walk::{Random, Walker};
use throng_model::limits::{Limits, Ticker};
use throng_model::predicate::Sum;
use throng_model::verdict::Unknown;

/// So many steps a run may have.
const MOST_STEPS: usize = 100_000;

/// So many transitions are fired in search of an order, and some more for each that is to be ordered.
const MOST_TRIES: u32 = 20_000;
const TRIES_FOR_EACH: u32 = 4;

/// Looks for a run to where `formula` holds, in this case of it, with at most `plans` solutions of the state equation.
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
        let left = times.iter().map(|&(t, n)| (t, n.ceil().min(1e6) as u32)).collect();
        if order(&mut walker, formula, &group, left, random, &mut ticker)? {
            return Ok(Some(walker.fired));
        }
        // A plan that cannot begin is the same again: something else has to happen first.
        let stuck = walker.fired.len() == before;
        let lost = walker.enabled.is_empty()
            || walker.fired.len() >= MOST_STEPS
            || stuck && !walker.fire(walker.enabled[random.below(walker.enabled.len())]);
        let next = if lost { None } else { plan(net, &walker.marking, case, limits)? };
        times = next.unwrap_or_else(|| {
            walker = start.clone();
            first_plan.clone()
        });
    }
    Ok(None)
}

/// Fires transitions, each at most as often as it is left, until the formula holds; whether it does. Otherwise the longest order that was found is fired.
fn order(
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
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    let mut longest: Vec<u32> = Vec::new();
    // What can still be tried after each step.
    let mut open: Vec<Vec<u32>> = Vec::new();
    let in_all = left.iter().fold(0, |all: u32, n| all.saturating_add(*n)).min(MOST_STEPS as u32);
    let mut tries = MOST_TRIES + TRIES_FOR_EACH * in_all;
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
    open.push(choices(walker, &left, random));
    while let Some(choice) = open.last_mut() {
        let Some(t) = choice.pop() else {
            open.pop();
            if let Some(&back) = walker.fired[base..].last() {
                left[number[&group[back as usize]]] += 1;
                walker.undo();
            }
            continue;
        };
        ticker.ticks(1 + walker.enabled.len() as u32 / 8)?;
        if tries == 0 || walker.fired.len() >= MOST_STEPS {
            break;
        }
        tries -= 1;
        left[number[&group[t as usize]]] -= 1;
        let fits = walker.fire(t);
        if formula.holds(&walker.marking, walker.enabled.len()) {
            return Ok(true);
        }
        if walker.fired.len() - base > longest.len() {
            longest = walker.fired[base..].to_vec();
        }
        let fresh = fits && seen.insert(left.clone());
        open.push(if fresh { choices(walker, &left, random) } else { Vec::new() });
    }
    while walker.fired.len() > base {
        walker.undo();
    }
    longest.into_iter().for_each(|t| _ = walker.fire(t));
    Ok(false)
}
