//! What a campaign came to, as text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::campaign::State;
use super::compare::Tally;

/// The oracle that knew the answer beforehand.
const HIDDEN: &str = "hidden answer";

/// The summary: cases, the claims of each oracle, which pairs agreed how often, and which
/// constructs occurred.
pub fn summary(state: &State) -> String {
    let mut text = String::new();
    let failures: u64 = state.failures.values().sum();
    let status = if failures == 0 { "AGREED" } else { "FAILED" };
    let _ = writeln!(
        text,
        "{status}  {} cases, {failures} failures, {:.0} s of processor time",
        state.total(),
        state.processor_seconds
    );
    for (title, count) in &state.failures {
        let _ = writeln!(text, "  {count:>9}  {title}");
    }
    let _ = writeln!(text, "\nseeds:");
    for (seed, progress) in &state.seeds {
        let _ = writeln!(text, "  {:>9}  cases of seed {seed}", progress.next + progress.later.len() as u64);
    }
    let _ = writeln!(text, "\ncases:");
    for (making, count) in &state.cases {
        let _ = writeln!(text, "  {count:>9}  {making}");
    }
    claims(&mut text, "any number of threads", &state.any);
    claims(&mut text, "with a bound", &state.bounded);
    pairs(&mut text, "any number of threads", &state.any);
    pairs(&mut text, "with a bound", &state.bounded);
    let _ = writeln!(text, "\nconstructs, in how many cases:");
    for (construct, count) in &state.constructs {
        let _ = writeln!(text, "  {count:>9}  {construct}");
    }
    text
}

fn claims(text: &mut String, title: &str, tally: &Tally) {
    let _ = writeln!(
        text,
        "\n{title}: {:>22} {:>9} {:>9}   confirms hidden answers",
        "safe", "unsafe", "unknown"
    );
    for (oracle, [safe, hit, open]) in &tally.claims {
        let hidden = tally.agreed.get(&Tally::pair(oracle, HIDDEN)).copied().unwrap_or(0);
        let _ = writeln!(text, "  {oracle:24} {safe:>17} {hit:>9} {open:>9}   {hidden}");
    }
}

/// Writes how often each pair of oracles decided the same target alike: a triangle, each oracle
/// with those before it.
fn pairs(text: &mut String, title: &str, tally: &Tally) {
    let names: BTreeSet<&str> = tally.claims.keys().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let _ = writeln!(text, "\npairs that decided the same targets, {title}:");
    for (i, oracle) in names.iter().enumerate() {
        let _ = write!(text, "  {:>2} {oracle:24}", i + 1);
        for other in &names[..i] {
            let _ =
                write!(text, " {:>8}", tally.agreed.get(&Tally::pair(oracle, other)).copied().unwrap_or(0));
        }
        text.push('\n');
    }
    let numbers: Vec<String> = (1..names.len()).map(|n| format!("{n:>8}")).collect();
    let _ = writeln!(text, "     {:24} {}", "", numbers.join(" "));
}
