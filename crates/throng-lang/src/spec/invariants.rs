//! `invariants` are hints for other tools. They are checked, never trusted.

use super::lower::Flow;
use super::parse::Net;
use crate::source::Diagnostic;
use crate::system::Findings;

/// Maximum number of look-ups, after which the check gives up: invariants are only hints.
const PATIENCE: usize = 10_000_000;

/// Warns about weights whose sum some rule changes.
pub(super) fn check(net: &Net<'_>, findings: &mut Findings) {
    if net.invariants.is_empty() {
        return;
    }
    let mut of_var: Vec<Vec<(u32, i128)>> = vec![Vec::new(); net.names.len()];
    for (i, invariant) in net.invariants.iter().enumerate() {
        for &(var, weight) in &invariant.weights {
            of_var[var as usize].push((i as u32, i128::from(weight)));
        }
    }
    let mut broken_by = vec![None; net.invariants.len()];
    let mut work = 0;
    for (r, rule) in net.rules.iter().enumerate() {
        let Ok(flow) = Flow::of(net, rule, &mut |_| {}) else { continue };
        // Change of each invariant's sum: a fixed part, and a part for each token of a variable.
        let mut fixed: Vec<(u32, i128)> = Vec::new();
        for &(x, plus) in &flow.plus {
            fixed.extend(of_var[x as usize].iter().map(|&(i, w)| (i, w * i128::from(plus))));
        }
        for &(y, to) in &flow.moved {
            let mut per_token: Vec<(u32, i128)> = of_var[y as usize].iter().map(|&(i, w)| (i, -w)).collect();
            per_token.extend(to.iter().flat_map(|&x| &of_var[x as usize]));
            let exact = rule.condition(y).filter(|c| c.high == Some(c.low));
            for (i, change) in added_up(per_token) {
                match exact {
                    Some(c) => fixed.push((i, change * i128::from(c.low))),
                    None if change != 0 => broken_by[i as usize] = broken_by[i as usize].or(Some(r)),
                    None => {}
                }
            }
        }
        work += fixed.len() + flow.moved.len();
        for (i, change) in added_up(fixed) {
            if change != 0 {
                broken_by[i as usize] = broken_by[i as usize].or(Some(r));
            }
        }
        if work > PATIENCE {
            break;
        }
    }
    for (invariant, rule) in net.invariants.iter().zip(broken_by) {
        let Some(rule) = rule else { continue };
        let line = net.lines.position(net.rules[rule].span.start).0;
        let message =
            format!("these weights are not an invariant: the rule in line {line} changes their sum");
        findings.push(
            Diagnostic::warning("W406", invariant.span, message)
                .hint("invariants are not used; the verdict does not depend on this"),
        );
    }
}

/// Adds up the values of each key.
fn added_up(mut list: Vec<(u32, i128)>) -> Vec<(u32, i128)> {
    list.sort_unstable();
    list.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    list
}
