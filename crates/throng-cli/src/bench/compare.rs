//! Against an earlier benchmark: what became slower, larger, or unsolved, beyond noise.
//!
//! Two benchmarks are never made under the same load, so a tool's runs are first compared with each
//! other: let r be the ratio of new to old processor time of an instance. The median of r says how
//! the machine (or the whole tool) changed; the median deviation of log r from it says how much it
//! scatters. A run is a regression if r lies above the median by three standard deviations of that
//! scatter, and by a quarter at least, and by a tenth of a second. The median itself counts as one
//! if it is above 1.5 over at least ten runs; with fewer, it says nothing, and runs are compared as
//! they are.

use super::{Question, Run, names};

/// Differences smaller than this are not looked at, in seconds and MiB.
const SECONDS: f64 = 0.1;
const MEBIBYTES: f64 = 16.0;
/// Nor are ratios below this.
const RATIO: f64 = 1.25;
/// Runs shorter than this say nothing about noise.
const SHORT: f64 = 0.05;
/// Minimum number of runs whose median shows how the machine or the whole tool changed.
const MANY: usize = 10;

/// Differences between two benchmarks for one tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The tool.
    pub tool: String,
    /// Runs that both benchmarks have.
    pub common: usize,
    /// Median ratio of processor times, and over how many runs.
    pub median: f64,
    /// Number of runs that were long enough to be compared.
    pub measured: usize,
    /// Ratios up to this are noise.
    pub noise: f64,
    /// The runs that became worse.
    pub regressions: Vec<Regression>,
    /// Number of runs that are better by the same measure: solved now, or faster beyond noise.
    pub better: usize,
}

/// A run that became worse.
#[derive(Clone, PartialEq, Debug)]
pub struct Regression {
    /// The run now.
    pub new: Run,
    /// The run then.
    pub old: Run,
    /// In what way.
    pub why: &'static str,
}

impl Change {
    /// Returns whether the tool as a whole became slower.
    pub fn slower(&self) -> bool {
        self.measured >= MANY && self.median > 1.5
    }
}

/// Compares the runs that count of two benchmarks, tool by tool.
pub fn compare(new: &[Run], old: &[Run]) -> Vec<Change> {
    let by = |runs: &'_ [Run], tool: &str| -> Vec<Run> {
        runs.iter().filter(|r| r.tool == tool).cloned().collect()
    };
    let both: Vec<&str> = names(new).into_iter().filter(|&name| old.iter().any(|r| r.tool == name)).collect();
    both.into_iter().map(|tool| change(tool, &by(new, tool), &by(old, tool))).collect()
}

fn change(tool: &str, new: &[Run], old: &[Run]) -> Change {
    let before: std::collections::BTreeMap<Question, &Run> = old.iter().map(|r| (r.question(), r)).collect();
    let pairs: Vec<(&Run, &Run)> =
        new.iter().filter_map(|n| Some((n, *before.get(&n.question())?))).collect();
    let long = pairs.iter().filter(|(n, o)| n.solved() && o.solved() && n.cpu.max(o.cpu) >= SHORT);
    let logs: Vec<f64> = long.map(|(n, o)| (n.cpu.max(1e-3) / o.cpu.max(1e-3)).ln()).collect();
    let measured = logs.len();
    let middle = median(&logs);
    let typical = if measured >= MANY { middle } else { 0.0 };
    // 1.4826 times the median deviation estimates the standard deviation of a normal distribution.
    let scatter = 1.4826 * median(&logs.iter().map(|l| (l - middle).abs()).collect::<Vec<_>>());
    let noise = (3.0 * scatter).exp().max(RATIO);
    let slower = |n: &Run, o: &Run, typical: f64| {
        n.cpu > o.cpu * typical * noise && n.cpu - o.cpu * typical.max(1.0) > SECONDS
    };
    let mut found = Change {
        tool: tool.into(),
        common: pairs.len(),
        median: middle.exp(),
        measured,
        noise,
        regressions: Vec::new(),
        better: 0,
    };
    for (n, o) in pairs {
        let why = match (o.solved(), n.solved()) {
            (_, _) if n.wrong() && !o.wrong() => Some("wrong now"),
            (true, false) => Some("no longer solved"),
            (true, true) if n.result != o.result => Some("another verdict"),
            (true, true) if slower(n, o, typical.exp()) => Some("slower"),
            (true, true) if n.peak > RATIO * o.peak && n.peak - o.peak > MEBIBYTES => Some("more memory"),
            _ => None,
        };
        let better = !o.solved() && n.solved() || n.solved() && slower(o, n, (-typical).exp());
        found.better += usize::from(why.is_none() && better);
        found.regressions.extend(why.map(|why| Regression { new: n.clone(), old: o.clone(), why }));
    }
    found
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::super::store::tests::run;
    use super::*;

    /// Twenty runs of a second, give or take, on a machine that is `load` times slower.
    fn twenty(load: f64) -> Vec<Run> {
        let shaken = |i: usize| load * (1.0 + 0.05 * ((i * 7) % 5) as f64);
        (0..20).map(|i| run(&format!("f{i}"), "x", Ending::Safe, shaken(i))).collect()
    }

    #[test]
    fn noise_and_load_are_no_regressions() {
        let mut new = twenty(1.3);
        new.rotate_left(3);
        let changes = compare(&new, &twenty(1.0));
        assert_eq!((changes.len(), changes[0].common), (1, 20));
        assert!(changes[0].regressions.is_empty() && !changes[0].slower(), "{changes:?}");
        let tiny: Vec<Run> = (0..9).map(|i| run(&i.to_string(), "x", Ending::Safe, 0.01)).collect();
        let slow: Vec<Run> = (0..9).map(|i| run(&i.to_string(), "x", Ending::Safe, 0.04)).collect();
        assert!(compare(&slow, &tiny)[0].regressions.is_empty(), "four times nothing is nothing");
    }

    #[test]
    fn outliers_losses_and_memory_are_regressions() {
        let mut new = twenty(1.0);
        new[3].cpu *= 2.0;
        new[5].result = Ending::Timeout;
        new[7].result = Ending::Unsafe;
        new[9].peak += 50.0;
        new[11].cpu /= 3.0;
        let change = compare(&new, &twenty(1.0)).remove(0);
        let why: Vec<_> = change.regressions.iter().map(|r| (r.new.file.as_str(), r.why)).collect();
        assert_eq!(
            why,
            [("f3", "slower"), ("f5", "no longer solved"), ("f7", "wrong now"), ("f9", "more memory")]
        );
        assert_eq!(change.better, 1);
    }

    #[test]
    fn a_few_runs_that_are_all_slower_are_regressions() {
        let few = |load: f64| twenty(load).into_iter().take(5).collect::<Vec<_>>();
        assert_eq!(compare(&few(19.0), &few(1.0))[0].regressions.len(), 5);
        assert!(compare(&few(1.1), &few(1.0))[0].regressions.is_empty());
    }

    #[test]
    fn a_tool_that_is_slower_everywhere_is_reported() {
        let change = compare(&twenty(1.7), &twenty(1.0)).remove(0);
        assert!(change.slower() && change.regressions.is_empty(), "{change:?}");
    }
}
