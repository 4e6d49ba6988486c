//! Flows: integer weights of places whose weighted sum no transition changes. A basis of them is a
//! much smaller linear program than the state equation: one row for each flow, and no variable for
//! a transition. It refutes less, but fast.

use super::net::Net;

/// A weighted sum that no transition changes: place and weight, sorted by place.
pub type Flow = Vec<(u32, i64)>;

/// Maximum number of additions of terms in the computation of a basis.
const MOST_WORK: usize = 40_000_000;

/// A place in elimination: the remaining effects of transitions on a sum, and the sum.
#[derive(Clone, Default)]
struct Row {
    changes: Vec<(u32, i64)>,
    sum: Vec<(u32, i64)>,
}

/// Returns a basis of the flows of a net, by elimination; `None` if that takes too long or its
/// numbers are too large.
pub fn flows(net: &Net) -> Option<Vec<Flow>> {
    let mut rows: Vec<Row> =
        (0..net.places.len() as u32).map(|p| Row { changes: Vec::new(), sum: vec![(p, 1)] }).collect();
    for (t, changes) in net.changes.iter().enumerate() {
        changes.iter().for_each(|&(p, n)| rows[p as usize].changes.push((t as u32, n)));
    }
    // The rows in which each transition occurs, and some in which it occurred earlier.
    let mut users: Vec<Vec<u32>> =
        net.changes.iter().map(|changes| changes.iter().map(|c| c.0).collect()).collect();
    let mut work = 0;
    let mut waiting: std::collections::BTreeSet<(usize, u32)> =
        users.iter().enumerate().map(|(t, users)| (users.len(), t as u32)).collect();
    // The transition that occurs in the fewest rows is eliminated first.
    while let Some((known, t)) = waiting.pop_first() {
        let has = |rows: &[Row], r: u32| rows[r as usize].changes.binary_search_by_key(&t, |c| c.0).is_ok();
        users[t as usize].sort_unstable();
        users[t as usize].dedup();
        users[t as usize].retain(|&r| has(&rows, r));
        let using = users[t as usize].clone();
        if using.len() > known {
            waiting.insert((using.len(), t));
            continue;
        }
        let size = |r: &&u32| rows[**r as usize].changes.len() + rows[**r as usize].sum.len();
        let Some(&pivot) = using.iter().min_by_key(size) else { continue };
        let pivot_row = std::mem::take(&mut rows[pivot as usize]);
        for &r in using.iter().filter(|&&r| r != pivot) {
            let row = combined(&rows[r as usize], &pivot_row, t)?;
            work += row.changes.len() + row.sum.len();
            if work > MOST_WORK {
                return None;
            }
            pivot_row.changes.iter().for_each(|c| users[c.0 as usize].push(r));
            rows[r as usize] = row;
        }
    }
    Some(rows.into_iter().map(|row| row.sum).filter(|sum| !sum.is_empty()).collect())
}

/// Returns a combination of two rows with a transition such that the transition does not occur in
/// it.
fn combined(row: &Row, pivot: &Row, t: u32) -> Option<Row> {
    let of = |row: &Row| row.changes.binary_search_by_key(&t, |c| c.0).map_or(0, |i| row.changes[i].1);
    let (a, b) = (of(pivot), -of(row));
    let mut found =
        Row { changes: added(&row.changes, a, &pivot.changes, b)?, sum: added(&row.sum, a, &pivot.sum, b)? };
    let all = found.changes.iter().chain(&found.sum);
    let divisor = all.map(|e| e.1.unsigned_abs()).fold(0, gcd).max(1) as i64;
    found.changes.iter_mut().chain(&mut found.sum).for_each(|e| e.1 /= divisor);
    Some(found)
}

/// Returns a · left + b · right.
fn added(left: &[(u32, i64)], a: i64, right: &[(u32, i64)], b: i64) -> Option<Vec<(u32, i64)>> {
    let (mut i, mut j) = (0, 0);
    let mut sum = Vec::with_capacity(left.len() + right.len());
    while i < left.len() || j < right.len() {
        let at = left.get(i).map_or(u32::MAX, |e| e.0).min(right.get(j).map_or(u32::MAX, |e| e.0));
        let mut n = 0i64;
        if left.get(i).is_some_and(|e| e.0 == at) {
            n = left[i].1.checked_mul(a)?;
            i += 1;
        }
        if right.get(j).is_some_and(|e| e.0 == at) {
            n = n.checked_add(right[j].1.checked_mul(b)?)?;
            j += 1;
        }
        if n != 0 {
            sum.push((at, n));
        }
    }
    Some(sum)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::super::net::tests::random_net;
    use super::*;
    use throng_model::random::Random;

    #[test]
    fn flows_are_constant_and_as_many_as_there_can_be() {
        let mut found = 0;
        for seed in 0..200 {
            let problem = random_net(&mut Random::new(seed), 6);
            let net = Net::new(&problem).unwrap();
            let flows = flows(&net).unwrap();
            for flow in &flows {
                let weight = |p: u32| flow.iter().find(|e| e.0 == p).map_or(0, |e| e.1);
                assert!(!flow.is_empty() && flow.iter().all(|e| e.1 != 0));
                for changes in &net.changes {
                    assert_eq!(changes.iter().map(|&(p, n)| weight(p) * n).sum::<i64>(), 0, "seed {seed}");
                }
            }
            assert_eq!(flows.len(), net.places.len() - rank(&net), "seed {seed}");
            found += flows.len();
        }
        assert!(found > 0);
    }

    /// Returns the rank of the effects of transitions, by elimination in floating point; numbers
    /// are small.
    fn rank(net: &Net) -> usize {
        let dense = |changes: &Vec<(u32, i64)>| {
            let mut row = vec![0.0; net.places.len()];
            changes.iter().for_each(|&(p, n)| row[p as usize] = n as f64);
            row
        };
        let mut rows: Vec<Vec<f64>> = net.changes.iter().map(dense).collect();
        let mut rank = 0;
        for column in 0..net.places.len() {
            let Some(pivot) = (rank..rows.len()).find(|&r| rows[r][column].abs() > 1e-9) else { continue };
            rows.swap(rank, pivot);
            let (above, below) = rows.split_at_mut(rank + 1);
            for row in below {
                let factor = row[column] / above[rank][column];
                row.iter_mut().zip(&above[rank]).for_each(|(x, y)| *x -= factor * y);
            }
            rank += 1;
        }
        rank
    }
}
