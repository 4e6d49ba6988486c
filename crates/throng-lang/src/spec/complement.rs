//! Complements: a variable that is always 0 or 1 and tested for 0 gets a second one that is 1
//! exactly where it is 0. A test for 0 then requires a token, as any other guard does, so that the
//! engines that decide nets for any number of tokens accept it; and tokens that exist only while
//! the variable is 0 are in views together with its complement.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::parse::{Condition, Net, Rule, Update};

/// Maximum factor by which the number of rules may grow.
const MOST_GROWTH: usize = 4;

/// Returns the variables that get complements, with names for these. There are none if the net
/// starts with a fixed number of tokens: bounded search then decides it as it is.
pub(super) fn wanted(net: &Net<'_>, init_free: bool) -> Vec<(u32, String)> {
    let free = init_free && net.init.conditions.len() < net.names.len();
    if !free && net.init.conditions.iter().all(|c| c.high.is_some()) {
        return Vec::new();
    }
    let zero_tests = net.rules.iter().flat_map(|rule| &rule.guard).filter(|c| c.high == Some(0));
    let tested: BTreeSet<u32> = zero_tests.map(|c| c.var).collect();
    if tested.is_empty() {
        return Vec::new();
    }
    let mut starts: FxHashMap<u32, bool> = FxHashMap::default();
    for c in &net.init.conditions {
        starts.entry(c.var).or_insert(c.high == Some(c.low) && c.low <= 1);
    }
    let mut leaves: FxHashSet<u32> = FxHashSet::default();
    for rule in &net.rules {
        let changed = rule.updates.iter().flat_map(|u| u.sum.iter().chain([&u.var]));
        let may = |x: &u32| tested.contains(x) && (0..=1).any(|old| after(rule, *x, old).is_err());
        leaves.extend(changed.copied().filter(may));
    }
    let mut taken: FxHashSet<String> = net.names.iter().map(|name| name.to_string()).collect();
    let fit = |x: &u32| starts.get(x).copied().unwrap_or(!init_free) && !leaves.contains(x);
    tested
        .into_iter()
        .filter(fit)
        .map(|x| {
            let mut name = format!("not_{}", net.names[x as usize]);
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            (x, name)
        })
        .collect()
}

/// Adds these complements to the net, except those that would take too many rules; returns the
/// pairs.
pub(super) fn complemented<'n>(net: &mut Net<'n>, wanted: &'n [(u32, String)]) -> Vec<(u32, u32)> {
    let most = net.rules.len() * MOST_GROWTH;
    let mut pairs = Vec::new();
    for (x, name) in wanted {
        let (x, not_x) = (*x, net.names.len() as u32);
        let cases: Vec<Option<Vec<Rule>>> = net.rules.iter().map(|rule| cases(rule, x, not_x)).collect();
        if cases.iter().map(|c| c.as_ref().map_or(1, Vec::len)).sum::<usize>() > most {
            continue;
        }
        let rules = std::mem::take(&mut net.rules).into_iter().zip(cases);
        net.rules = rules.flat_map(|(rule, cases)| cases.unwrap_or_else(|| vec![rule])).collect();
        net.names.push(name);
        let starts = net.init.conditions.iter().any(|c| c.var == x && c.low == 1);
        let tokens = u32::from(!starts);
        let span = net.init.span;
        net.init.conditions.push(Condition { var: not_x, low: tokens, high: Some(tokens), span });
        pairs.push((x, not_x));
    }
    pairs
}

/// Returns the value after a rule of a variable that was `old`; none if the rule does not fire
/// then. Returns an error if the value may not be 0 or 1.
fn after(rule: &Rule, x: u32, old: i64) -> Result<Option<i64>, ()> {
    let excluded = |c: &Condition| old < i64::from(c.low) || c.high.is_some_and(|high| old > i64::from(high));
    if rule.updates.iter().any(|u| u.var != x && u.sum.contains(&x)) {
        return Err(());
    }
    if rule.condition(x).is_some_and(excluded) {
        return Ok(None);
    }
    let mut updates = rule.updates.iter().filter(|u| u.var == x);
    let new = match (updates.next(), updates.next()) {
        (None, _) => old,
        (Some(u), None) if u.sum.is_empty() => u.plus,
        (Some(u), None) if u.sum == [x] => old + u.plus,
        _ => return Err(()),
    };
    match new {
        0 | 1 => Ok(Some(new)),
        // A guard is raised to the tokens taken.
        ..0 if rule.updates.iter().any(|u| u.var == x && !u.sum.is_empty()) => Ok(None),
        _ => Err(()),
    }
}

/// Returns a rule for each value of a variable with a complement; `None` if the rule stays as it
/// is.
fn cases(rule: &Rule, x: u32, not_x: u32) -> Option<Vec<Rule>> {
    let updated = rule.updates.iter().any(|u| u.var == x);
    if !updated && rule.condition(x).is_none_or(|c| c.high.is_none()) {
        return None;
    }
    let mut found = Vec::new();
    for old in 0..=1 {
        let Ok(Some(new)) = after(rule, x, old) else { continue };
        let holds = if old == 1 { x } else { not_x };
        let mut guard: Vec<Condition> = rule.guard.iter().filter(|c| c.var != x).copied().collect();
        let span = rule.condition(x).map_or(rule.span, |c| c.span);
        guard.push(Condition { var: holds, low: 1, high: None, span });
        guard.sort_by_key(|c| c.var);
        let mut updates: Vec<Update> = rule.updates.iter().filter(|u| u.var != x).cloned().collect();
        if new != old {
            let change = |var, plus| Update { var, sum: vec![var], plus, span };
            updates.extend([change(x, new - old), change(not_x, old - new)]);
        }
        found.push(Rule { guard, updates, span: rule.span });
    }
    // A rule that never fires is kept, so that there is a warning about it.
    Some(found).filter(|found| !found.is_empty())
}
