//! Tables: what each tool solved, per family; which tools disagree; how pairs of tools compare.
//! Markdown, for terminals and files alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::compare::Change;
use super::{Ending, Question, Run, names};

/// All runs of two tools that answer the same question.
pub type Pairs<'a> = Vec<(&'a Run, &'a Run)>;

/// All tables.
pub fn summary(runs: &[Run], pairs: &[(String, String)], changes: &[Change]) -> String {
    let mut text = overall(runs) + &families(runs) + &disagreements(runs);
    if !growing(runs).is_empty() {
        text += &growth(runs);
    }
    if !pairs.is_empty() {
        text += &compared(runs, pairs);
    }
    if !changes.is_empty() {
        text += &regressions(changes);
    }
    text
}

/// Penalised average runtime: the mean of processor times, where what was not solved counts as
/// twice the limit.
pub fn par2<'a>(runs: impl IntoIterator<Item = &'a Run>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for run in runs {
        sum += if run.solved() { run.cpu } else { 2.0 * run.timeout };
        count += 1;
    }
    sum / count.max(1) as f64
}

fn overall(runs: &[Run]) -> String {
    let used: Vec<Ending> = Ending::ALL.into_iter().filter(|e| runs.iter().any(|r| r.result == *e)).collect();
    let heads: Vec<&str> = used.iter().map(|e| e.word()).collect();
    let mut text = format!(
        "| tool | runs | solved | {} | wrong | PAR-2 (s) | processor time (s) | largest peak (MiB) |\n|---|---|---|{}---|---|---|---|\n",
        heads.join(" | "),
        "---|".repeat(heads.len())
    );
    for tool in names(runs) {
        let of: Vec<&Run> = runs.iter().filter(|r| r.tool == tool).collect();
        let count = |test: &dyn Fn(&Run) -> bool| of.iter().filter(|r| test(r)).count();
        let endings: Vec<String> = used.iter().map(|e| count(&|r| r.result == *e).to_string()).collect();
        _ = writeln!(
            text,
            "| {tool} | {} | {} | {} | {} | {:.2} | {:.1} | {:.0} |",
            of.len(),
            count(&Run::solved),
            endings.join(" | "),
            count(&Run::wrong),
            par2(of.iter().copied()),
            of.iter().map(|r| r.cpu).sum::<f64>(),
            of.iter().map(|r| r.peak).fold(0.0, f64::max)
        );
    }
    text
}

/// Solved of all, per family.
fn families(runs: &[Run]) -> String {
    let (names, families) = (names(runs), runs.iter().map(|r| &r.family).collect::<BTreeSet<_>>());
    let mut text = format!(
        "\nSolved, per family:\n\n| family | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for family in families {
        _ = write!(text, "| {} |", if family.is_empty() { "." } else { family });
        for tool in &names {
            let of: Vec<&Run> = runs.iter().filter(|r| r.tool == *tool && r.family == *family).collect();
            _ = write!(text, " {} of {} |", of.iter().filter(|r| r.solved()).count(), of.len());
        }
        text.push('\n');
    }
    text
}

/// Questions that got verdicts which contradict each other or what is expected.
pub fn contested(runs: &[Run]) -> Vec<Vec<&Run>> {
    let mut by_question: BTreeMap<_, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|r| r.result.is_verdict()) {
        let (file, _, initial, property) = run.question();
        by_question.entry((file, initial, property)).or_default().push(run);
    }
    // What is safe for some number of threads is safe for fewer.
    let contradicts = |safe: &Run, bug: &Run| {
        (safe.result, bug.result) == (Ending::Safe, Ending::Unsafe) && bug.question().1 <= safe.question().1
    };
    let odd =
        |runs: &Vec<&Run>| runs.iter().any(|r| r.wrong() || runs.iter().any(|other| contradicts(r, other)));
    by_question.into_values().filter(odd).collect()
}

fn disagreements(runs: &[Run]) -> String {
    let contested = contested(runs);
    if contested.is_empty() {
        return "\nNo verdict contradicts another or the expected one.\n".into();
    }
    let mut text = "\n**Verdicts that contradict each other or the expected one:**\n\n".to_string();
    for runs in contested {
        let bound = |r: &Run| match r.threads {
            Some(n) if runs.iter().any(|other| other.threads != r.threads) => format!(" for {n} threads"),
            _ => String::new(),
        };
        let said: Vec<String> =
            runs.iter().map(|r| format!("{} says {}{}", r.tool, r.result, bound(r))).collect();
        _ = writeln!(text, "- {}: expected {}; {}", runs[0].title(), runs[0].expected, said.join(", "));
    }
    text
}

/// More files than this with several thread bounds are not shown one by one.
const MOST_GROWING: usize = 12;

/// Files that were run with at least three thread bounds, unless there are many.
pub fn growing(runs: &[Run]) -> Vec<&str> {
    let mut bounds: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for run in runs {
        bounds.entry(&run.file).or_default().extend(run.threads);
    }
    let growing: Vec<&str> = bounds.iter().filter(|(_, b)| b.len() >= 3).map(|(f, _)| *f).collect();
    if growing.len() > MOST_GROWING { Vec::new() } else { growing }
}

/// Writes how far each tool gets with growing thread bounds.
fn growth(runs: &[Run]) -> String {
    let names = names(runs);
    let mut text = format!(
        "\nThe largest thread bound that is solved, with processor time and peak memory there:\n\n| file | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for file in growing(runs) {
        _ = write!(text, "| {file} |");
        for tool in &names {
            let solved = runs.iter().filter(|r| r.file == file && r.tool == *tool && r.solved());
            match solved.max_by_key(|r| r.threads) {
                Some(Run { threads: Some(n), cpu, peak, .. }) => {
                    _ = write!(text, " {n}: {cpu:.2} s, {peak:.0} MiB |")
                }
                _ => text += " – |",
            }
        }
        text.push('\n');
    }
    text
}

/// The runs of two tools side by side.
pub fn side_by_side<'a>(runs: &'a [Run], one: &str, other: &str) -> Pairs<'a> {
    let others: BTreeMap<Question, &Run> =
        runs.iter().filter(|r| r.tool == other).map(|r| (r.question(), r)).collect();
    let ones = runs.iter().filter(|r| r.tool == one);
    ones.filter_map(|r| Some((r, *others.get(&r.question())?))).collect()
}

fn compared(runs: &[Run], pairs: &[(String, String)]) -> String {
    let mut text = "\nPairs (A against B), processor time; runs that neither solves are left out, and one that only one solves is a win for it. Ratios are B / A over runs \
                    that both solve, above 1 A is better; *long*: the slower one took at least 0.1 s.\n\n\
                    | A | B | threads | runs | both solve | only A | only B | A faster | long: A faster | time ratio, geometric mean | long: mean | \
                    long: most | long: least | memory ratio, mean |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for (a, b) in pairs {
        let all = side_by_side(runs, a, b);
        let bounds: BTreeSet<u32> = all.iter().map(|p| p.0.threads.unwrap_or(u32::MAX)).collect();
        text += &pair_row(a, b, "all", &all);
        for bound in bounds.iter().filter(|_| bounds.len() > 1) {
            let of: Pairs =
                all.iter().filter(|p| p.0.threads.unwrap_or(u32::MAX) == *bound).copied().collect();
            let name = if *bound == u32::MAX { "any".into() } else { bound.to_string() };
            if of.iter().any(|p| p.0.solved() || p.1.solved()) {
                text += &pair_row(a, b, &name, &of);
            }
        }
    }
    text
}

fn pair_row(a: &str, b: &str, threads: &str, pairs: &[(&Run, &Run)]) -> String {
    let some: Pairs = pairs.iter().filter(|p| p.0.solved() || p.1.solved()).copied().collect();
    let both: Pairs = some.iter().filter(|p| p.0.solved() && p.1.solved()).copied().collect();
    let only = |of: fn(&(&Run, &Run)) -> bool| some.iter().filter(|p| of(p)).count();
    let (only_a, only_b) = (only(|p| !p.1.solved()), only(|p| !p.0.solved()));
    let time = |r: &Run| if r.solved() { r.cpu } else { f64::INFINITY };
    let wins = |of: &[(&Run, &Run)]| {
        let won = of.iter().filter(|p| time(p.0) < time(p.1)).count();
        format!("{won} of {} ({:.0} %)", of.len(), 100.0 * won as f64 / of.len().max(1) as f64)
    };
    let is_long = |p: &&(&Run, &Run)| time(p.0).max(time(p.1)) >= 0.1;
    let long: Pairs = some.iter().filter(is_long).copied().collect();
    let ratios = |of: &[(&Run, &Run)], get: fn(&Run) -> f64| -> Vec<f64> {
        of.iter().map(|p| get(p.1).max(1e-3) / get(p.0).max(1e-3)).collect()
    };
    let times = ratios(&both, |r| r.cpu);
    let long_both: Pairs = both.iter().filter(is_long).copied().collect();
    let long_times = ratios(&long_both, |r| r.cpu);
    let most = long_times.iter().copied().reduce(f64::max);
    let least = long_times.iter().copied().reduce(f64::min);
    let shown = |ratio: Option<f64>| ratio.map_or("–".into(), |r| format!("{r:.2}"));
    format!(
        "| {a} | {b} | {threads} | {} | {} | {only_a} | {only_b} | {} | {} | {} | {} | {} | {} | {} |\n",
        some.len(),
        both.len(),
        wins(&some),
        wins(&long),
        shown(mean(&times)),
        shown(mean(&long_times)),
        shown(most),
        shown(least),
        shown(mean(&ratios(&both, |r| r.peak)))
    )
}

/// The geometric mean.
fn mean(ratios: &[f64]) -> Option<f64> {
    let logs: f64 = ratios.iter().map(|r| r.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

fn regressions(changes: &[Change]) -> String {
    let mut text = "\nAgainst the earlier benchmark (new / old processor time; ratios up to *noise* times the median are taken for noise):\n\n\
                    | tool | common runs | long enough | median ratio | noise | worse | better |\n|---|---|---|---|---|---|---|\n"
        .to_string();
    for c in changes {
        let slower = if c.slower() { " **slower**" } else { "" };
        _ = writeln!(
            text,
            "| {} | {} | {} | {:.2}{slower} | {:.2} | {} | {} |",
            c.tool,
            c.common,
            c.measured,
            c.median,
            c.noise,
            c.regressions.len(),
            c.better
        );
    }
    for r in changes.iter().flat_map(|c| &c.regressions) {
        _ = write!(text, "\n- **{}**: {}, {}: ", r.why, r.new.tool, r.new.title());
        let tell = |r: &Run| format!("{} {:.3} s {:.0} MiB", r.result, r.cpu, r.peak);
        _ = write!(text, "{} before, {} now", tell(&r.old), tell(&r.new));
    }
    if changes.iter().any(|c| !c.regressions.is_empty()) {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::run;
    use super::*;

    #[test]
    fn the_score_punishes_what_is_not_solved() {
        let runs = [run("a", "x", Ending::Safe, 1.0), run("b", "x", Ending::Timeout, 10.0)];
        assert_eq!(par2(&runs), 10.5);
        assert_eq!(par2(&[run("a", "x", Ending::Unsafe, 1.0)]), 20.0, "a wrong verdict solves nothing");
    }

    #[test]
    fn contradictions_are_found_with_and_without_an_expected_verdict() {
        let unknown = |r: Run| Run { expected: "?".into(), ..r };
        let runs = [
            run("a", "x", Ending::Safe, 1.0),
            run("b", "x", Ending::Unsafe, 1.0),
            unknown(run("c", "x", Ending::Safe, 1.0)),
            unknown(run("c", "y", Ending::Unsafe, 1.0)),
            unknown(run("d", "x", Ending::Safe, 1.0)),
            unknown(run("d", "y", Ending::Timeout, 1.0)),
        ];
        let files: Vec<&str> = contested(&runs).iter().map(|c| c[0].file.as_str()).collect();
        assert_eq!(files, ["b", "c"]);
        let text = summary(&runs, &[("x".into(), "y".into())], &[]);
        assert!(text.contains("expected safe; x says unsafe"), "{text}");
    }

    #[test]
    fn growing_bounds_are_summarised_by_the_largest_that_is_solved() {
        let at = |n: u32, result| Run { threads: Some(n), ..run("a", "x", result, f64::from(n)) };
        let runs = [at(1, Ending::Safe), at(3, Ending::Safe), at(2, Ending::Safe), at(4, Ending::Timeout)];
        let text = summary(&runs, &[], &[]);
        assert!(text.contains("| a | 3: 3.00 s, 5 MiB |"), "{text}");
        assert!(growing(&runs[..2]).is_empty(), "two are not a row");
    }

    #[test]
    fn pairs_count_what_only_one_solves_as_its_win() {
        let runs = [
            run("a", "x", Ending::Safe, 1.0),
            run("a", "y", Ending::Safe, 4.0),
            run("b", "x", Ending::Timeout, 10.0),
            run("b", "y", Ending::Safe, 9.0),
            run("c", "x", Ending::Timeout, 10.0),
            run("c", "y", Ending::Timeout, 10.0),
        ];
        let text = summary(&runs, &[("x".into(), "y".into())], &[]);
        assert!(
            text.contains("| x | y | all | 2 | 1 | 0 | 1 | 1 of 2 (50 %) | 1 of 2 (50 %) | 4.00 |"),
            "{text}"
        );
    }
}
