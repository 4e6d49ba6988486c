//! Shrinks evidence: removes parts as long as the checker still accepts the rest.
//!
//! Sets that an engine closed under steps or predecessors are the least such sets, so single
//! elements cannot be removed. These can: pair views where views of single threads suffice,
//! redundant invariants, elements of a relative basis that an invariant rules out or another
//! element covers, and the common divisor of the numbers in a vector.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rules::check_all;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Relative, Vector, Verdict};
use throng_model::views::Views;

/// Returns the verdicts with evidence that is at most as large; each attempt counts against
/// `limits`.
pub fn shrink(problem: &Problem, verdicts: &[Verdict], limits: &Limits) -> Vec<Verdict> {
    let mut smaller: HashMap<_, Certificate> = HashMap::new();
    for verdict in verdicts {
        let Verdict::Safe(certificate) = verdict else { continue };
        let key = certificate.identity();
        if smaller.contains_key(&key) {
            continue;
        }
        let shares = |v: &Verdict| matches!(v, Verdict::Safe(c) if c.identity() == key);
        let targets: Vec<usize> = (0..verdicts.len()).filter(|&i| shares(&verdicts[i])).collect();
        let stands = |candidate: &Certificate| {
            let candidate = Verdict::Safe(candidate.clone());
            let all: Vec<(usize, &Verdict)> = targets.iter().map(|&i| (i, &candidate)).collect();
            check_all(problem, &all, limits).is_ok()
        };
        smaller.insert(key, shrunk(certificate, &stands));
    }
    let replace = |verdict: &Verdict| match verdict {
        Verdict::Safe(certificate) => Verdict::Safe(smaller[&certificate.identity()].clone()),
        verdict => verdict.clone(),
    };
    verdicts.iter().map(replace).collect()
}

fn shrunk(certificate: &Certificate, stands: &dyn Fn(&Certificate) -> bool) -> Certificate {
    match certificate {
        Certificate::Views(views) if !views.are_single() => {
            let single = Certificate::Views(Arc::new(singles(views)));
            if stands(&single) { single } else { certificate.clone() }
        }
        Certificate::Relative(relative) => shrunk_relative(relative, stands),
        Certificate::Quotient(map, proof) => {
            let inside =
                |inner: &Certificate| stands(&Certificate::Quotient(map.clone(), Box::new(inner.clone())));
            Certificate::Quotient(map.clone(), Box::new(shrunk(proof, &inside)))
        }
        Certificate::Reduced(how, proof) => {
            let inside =
                |inner: &Certificate| stands(&Certificate::Reduced(how.clone(), Box::new(inner.clone())));
            Certificate::Reduced(how.clone(), Box::new(shrunk(proof, &inside)))
        }
        certificate => certificate.clone(),
    }
}

/// Returns the views without pair views.
fn singles(views: &Views) -> Views {
    Views::of_singles(views.groups().map(|(s, group)| (s, views.singles(group).collect())))
}

fn shrunk_relative(relative: &Arc<Relative>, stands: &dyn Fn(&Certificate) -> bool) -> Certificate {
    let mut best = (**relative).clone();
    best.vectors.iter_mut().for_each(divide);
    let holds = |candidate: &Relative| stands(&Certificate::Relative(Arc::new(candidate.clone())));
    if !best.views.are_single() {
        let candidate = Relative { views: Arc::new(singles(&best.views)), ..best.clone() };
        if holds(&candidate) {
            best = candidate;
        }
    }
    for i in (0..best.vectors.len()).rev() {
        let mut candidate = best.clone();
        candidate.vectors.remove(i);
        if holds(&candidate) {
            best = candidate;
        }
    }
    for i in (0..best.trees.len()).rev() {
        let mut candidate = best.clone();
        candidate.trees.remove(i);
        if holds(&candidate) {
            best = candidate;
        }
    }
    // Tries to remove all elements, then halves, then quarters: one by one would take a check for
    // each element.
    let mut width = best.basis.len();
    while width > best.basis.len() / 64 && width > 0 {
        let mut at = 0;
        while at < best.basis.len() {
            let mut candidate = best.clone();
            candidate.basis.drain(at..(at + width).min(best.basis.len()));
            if holds(&candidate) {
                best = candidate;
            } else {
                at += width;
            }
        }
        width /= 2;
    }
    // Perhaps the views alone, or the basis alone, suffice.
    let alone = match (best.vectors.is_empty() && best.trees.is_empty(), best.basis.is_empty()) {
        (true, true) => Some(Certificate::Views(best.views.clone())),
        (true, false) => Some(Certificate::Upward(Arc::new(best.basis.clone()))),
        _ => None,
    };
    alone.filter(stands).unwrap_or_else(|| Certificate::Relative(Arc::new(best)))
}

/// Divides a vector by the greatest common divisor of its numbers.
fn divide(vector: &mut Vector) {
    vector.shared.retain(|e| e.1 != 0);
    vector.locals.retain(|e| e.1 != 0);
    let values = vector.shared.iter().map(|e| e.1).chain(vector.locals.iter().map(|e| e.1));
    let common = values.fold(0, |a: i64, b| gcd(a.unsigned_abs(), b.unsigned_abs()).try_into().unwrap_or(1));
    if common > 1 {
        vector.shared.iter_mut().for_each(|e| e.1 /= common);
        vector.locals.iter_mut().for_each(|e| e.1 /= common);
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::{Local, Shared};

    #[test]
    fn vectors_are_divided_by_what_they_have_in_common() {
        let mut vector = Vector {
            shared: vec![(Shared(0), -4), (Shared(1), 0)],
            locals: vec![(Local(0), 6), (Local(1), 2)],
        };
        divide(&mut vector);
        assert_eq!(vector.shared, [(Shared(0), -2)]);
        assert_eq!(vector.locals, [(Local(0), 3), (Local(1), 1)]);
        let mut odd = Vector { shared: vec![(Shared(0), i64::MIN)], locals: vec![(Local(0), 3)] };
        divide(&mut odd);
        assert_eq!(odd.shared, [(Shared(0), i64::MIN)]);
    }
}
