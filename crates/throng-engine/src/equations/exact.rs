//! Conversion from floating point to integers. The results are candidates that are checked exactly
//! elsewhere.

/// Returns candidates for the smallest integer vector proportional to `numbers`, best first.
pub fn vectors(numbers: &[f64]) -> impl Iterator<Item = Vec<i64>> {
    let smallest = numbers.iter().map(|n| n.abs()).filter(|&n| n > EPSILON).fold(f64::INFINITY, f64::min);
    let multiples = (1..=MULTIPLES).map(move |k| f64::from(k) / smallest.min(1.0));
    let common = common_denominator(numbers).map(|d| d as f64);
    let mut last: Option<Vec<i64>> = None;
    multiples.chain(common).filter_map(move |factor| {
        let rounded = scaled(numbers, factor)?;
        let fresh = last.as_ref() != Some(&rounded);
        last = Some(rounded.clone());
        fresh.then_some(rounded)
    })
}

/// Numbers below this count as zero.
const EPSILON: f64 = 1e-7;

/// Maximum factor of the smallest number: numbers are rarely multiples of it, but nearly always of
/// a small part of it.
const MULTIPLES: u32 = 60;

fn scaled(numbers: &[f64], factor: f64) -> Option<Vec<i64>> {
    let limit = 2f64.powi(52);
    let round = |n: &f64| Some((n * factor).round()).filter(|n| n.abs() < limit).map(|n| n as i64);
    numbers.iter().map(round).collect()
}

/// Returns a common denominator of all numbers, each rounded to the simplest fraction nearby.
fn common_denominator(numbers: &[f64]) -> Option<u64> {
    numbers.iter().try_fold(1u64, |common, &n| {
        let d = denominator(n)?;
        let lcm = common / gcd(common, d) * d;
        (lcm < 1 << 40).then_some(lcm)
    })
}

/// Returns the denominator of the first sufficiently close convergent of the continued fraction of
/// `n`.
fn denominator(n: f64) -> Option<u64> {
    let (mut before, mut now) = (0u64, 1u64);
    let mut rest = n.abs();
    for _ in 0..24 {
        if ((n * now as f64).round() / now as f64 - n).abs() < 1e-9 {
            return Some(now);
        }
        rest = 1.0 / rest.fract();
        if !rest.is_finite() {
            return Some(now);
        }
        (before, now) = (now, before.checked_add(now.checked_mul(rest as u64)?)?);
        if now > 1 << 20 {
            return None;
        }
    }
    None
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_finds_the_smallest_integers() {
        assert_eq!(vectors(&[0.5, 1.0, 0.0, -1.5]).next(), Some(vec![1, 2, 0, -3]));
        assert!(vectors(&[2.0 / 3.0, 1.0]).any(|v| v == [2, 3]));
        assert!(vectors(&[1.0, 1.0 / 7.0, 1.0 / 11.0]).any(|v| v == [77, 11, 7]));
        assert!(vectors(&[3.0 / 67.0, 5.0 / 71.0]).any(|v| v == [3 * 71, 5 * 67]));
    }

    #[test]
    fn nonsense_gives_nothing_that_overflows() {
        assert_eq!(vectors(&[f64::NAN, 1.0]).count(), 0);
        assert_eq!(vectors(&[1e300]).count(), 0);
        assert!(vectors(&[]).all(|v| v.is_empty()));
    }
}
