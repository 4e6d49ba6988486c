//! Proofs about few places. The net without some of its places can do at least as much: what it
//! cannot reach, the whole net cannot reach. So the places of a target are kept, and others only as
//! far as they are needed: if a run of the smaller net is blocked in the whole one, a place that
//! blocks it is kept as well. A run that is not blocked is a run of the whole net.

use super::explore::{TooNarrow, search};
use super::net::{FEW, Formula, Marking, Net};
use super::walk::Wanted;
use throng_model::Config;
use throng_model::limits::Ticker;
use throng_model::predicate::Predicate;
use throng_model::quotient::QuotientMap;
use throng_model::verdict::Unknown;

/// The result of a projection.
pub enum Projected {
    /// Transitions that lead to the target.
    Run(Vec<u32>),
    /// The removed places, and the set that can be reached without them.
    Proof(QuotientMap, Vec<Config>),
    /// No result.
    Nothing,
}

/// Maximum number of kept places.
const MOST_KEPT: usize = 60;

/// Budget of all smaller nets together, as a multiple of the work for `most` markings of one; a
/// marking and each entry of a transition's effect count as one.
const MOST_NETS: usize = 40;

/// Decides a target, with at most `most` markings of a net with fewer places.
pub fn project(
    net: &Net,
    predicate: &Predicate,
    most: usize,
    ticker: &mut Ticker,
) -> Result<Projected, Unknown> {
    if predicate.asks_for_steps() {
        return Ok(Projected::Nothing);
    }
    let mut kept = Vec::new();
    predicate.each_local(&mut |l| kept.push(net.number(l)));
    let building: usize = net.changes.iter().map(Vec::len).sum();
    let mut left = most.saturating_mul(MOST_NETS);
    loop {
        kept.sort_unstable();
        kept.dedup();
        if kept.len() > MOST_KEPT.min(net.places.len() - 1) {
            return Ok(Projected::Nothing);
        }
        let Some(rest) = left.checked_sub(building) else { return Ok(Projected::Nothing) };
        ticker.ticks(building as u32 / 8 + 1)?;
        let (few, origins) = net.project(&kept);
        let wanted = [Wanted { target: 0, formula: Formula::new(&few, predicate) }];
        let width = if few.start.iter().all(|&n| n < FEW) { 1 } else { 4 };
        let found = search(&few, &wanted, most.min(rest), width, ticker)?;
        left = rest.saturating_sub(found.as_ref().map_or(most, |found| found.markings));
        let more = match found {
            Err(TooNarrow(fullest)) => suppliers(net, &kept, kept[fullest]),
            Ok(found) => match (found.reached.first(), found.all) {
                (Some((_, fired)), _) => match follow(net, fired, &origins) {
                    Ok(fired) => return Ok(Projected::Run(fired)),
                    Err(lacking) => lacking,
                },
                (None, Some(all)) => return Ok(Projected::Proof(without_others(net, &kept), all)),
                (None, None) => {
                    let fullest = kept.iter().zip(&found.largest).max_by_key(|e| e.1);
                    fullest.map_or_else(Vec::new, |(&p, _)| suppliers(net, &kept, p))
                }
            },
        };
        let before = kept.len();
        kept.extend(more.into_iter().filter(|p| kept.binary_search(p).is_err()).collect::<Vec<_>>());
        if kept.len() == before {
            return Ok(Projected::Nothing);
        }
    }
}

/// Returns the run of the whole net that fires one of the originals of each transition; or the
/// places that lack tokens if it is blocked.
fn follow(net: &Net, fired: &[u32], origins: &[Vec<u32>]) -> Result<Vec<u32>, Vec<u32>> {
    let (mut marking, mut run): (Marking, Vec<u32>) = (net.start.clone(), Vec::new());
    for &abstract_ in fired {
        let lacking = |t: u32| {
            let needs = net.needs[t as usize].iter();
            needs.filter(|&&(p, n)| marking[p as usize] < n).map(|n| n.0).collect::<Vec<u32>>()
        };
        let options = origins[abstract_ as usize].iter().map(|&t| (t, lacking(t)));
        match options.min_by_key(|(_, lacking)| lacking.len()) {
            Some((t, lacking)) if lacking.is_empty() => {
                net.fire(&mut marking, t);
                run.push(t);
            }
            // Keeping one of them is enough to block this run.
            Some((_, lacking)) => return Err(lacking[..1].to_vec()),
            None => return Err(Vec::new()),
        }
    }
    Ok(run)
}

/// Returns the map that removes all places but these.
fn without_others(net: &Net, kept: &[u32]) -> QuotientMap {
    let others = (0..net.places.len() as u32).filter(|p| kept.binary_search(p).is_err());
    let merged = others.map(|p| (net.places[p as usize], None)).collect();
    QuotientMap { skipped: Vec::new(), merged }
}

/// Returns places that limit the number of tokens on a kept place: for each transition that puts
/// tokens there, one that it needs.
fn suppliers(net: &Net, kept: &[u32], fullest: u32) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for changes in net.changes.iter().filter(|c| c.iter().any(|&(p, n)| p == fullest && n > 0)) {
        let takes = || changes.iter().filter(|c| c.1 < 0).map(|c| c.0);
        if !takes().any(|p| kept.binary_search(&p).is_ok() || found.contains(&p)) {
            found.extend(takes().min_by_key(|&p| net.users[p as usize].len()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::super::net::tests::random_net;
    use super::*;
    use throng_model::limits::Limits;
    use throng_model::problem::{Asks, Problem, Target};
    use throng_model::random::Random;
    use throng_model::verdict::{Certificate, Verdict};

    /// Returns every marking that a net reaches.
    fn all_reachable(net: &Net) -> HashSet<Marking> {
        let (mut seen, mut waiting) = (HashSet::from([net.start.clone()]), vec![net.start.clone()]);
        while let Some(marking) = waiting.pop() {
            for t in (0..net.needs.len() as u32).filter(|&t| net.enables(&marking, t)) {
                let mut after = marking.clone();
                net.fire(&mut after, t);
                if seen.insert(after.clone()) {
                    waiting.push(after);
                }
            }
        }
        seen
    }

    #[test]
    fn proofs_stand_and_runs_reach_their_targets() {
        let (mut proofs, mut runs) = (0, 0);
        for seed in 0..300 {
            let random = &mut Random::new(seed);
            let problem = random_net(random, 9);
            let net = Net::new(&problem).unwrap();
            let (p, n) = (net.places[random.below(net.places.len())], 1 + random.below(4) as i64);
            let predicate = Predicate::AtLeast(vec![(p, 1)], n);
            let formula = Formula::new(&net, &predicate);
            let reached = all_reachable(&net).iter().any(|m| formula.holds(m, 0));
            match project(&net, &predicate, 10_000, &mut Ticker::new(&Limits::none())).unwrap() {
                Projected::Nothing => {}
                Projected::Run(fired) => {
                    let mut marking = net.start.clone();
                    for t in fired {
                        assert!(net.enables(&marking, t) && net.fire(&mut marking, t), "seed {seed}");
                    }
                    assert!(formula.holds(&marking, 0), "seed {seed}");
                    runs += 1;
                }
                Projected::Proof(map, all) => {
                    assert!(!reached, "seed {seed}");
                    let asks = throng_model::problem::Formula { when: predicate, asks: Asks::Exists };
                    let everything = vec![net.config(&vec![0; net.places.len()])];
                    let target = Target::satisfying("t", everything, asks);
                    let proof = Box::new(Certificate::Closed(Arc::new(all)));
                    let verdict = Verdict::Safe(Certificate::Quotient(Arc::new(map), proof));
                    let problem = Problem { targets: vec![target.clone()], ..problem.clone() };
                    throng_check::rules::check(&problem, &target, &verdict).unwrap();
                    proofs += 1;
                }
            }
        }
        assert!(proofs > 10 && runs > 10, "{proofs} proofs, {runs} runs");
    }
}
