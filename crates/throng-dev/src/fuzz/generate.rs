//! From a seed to a case.

use super::case::{Body, Case, Program};
use super::known::{Kept, Known, Walk, edge_keeps, other_than, rule_keeps, weight};
use super::naive::{State, Steps};
use super::nets::{Net, Rule, Tokens, Update};
use super::threads::{Edge, Threads};
use crate::Rng;
use crate::programs::{Knobs, expression, program};
use throng_lang::bp;

/// Ways to generate an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// At random.
    Free,
    /// Around an invariant.
    Safe,
    /// Along a run.
    Unsafe,
}

/// A case; equal seeds and sizes give equal cases. `size` is about how large: 1 is tiny, 3 is what
/// engines answer in milliseconds.
pub fn generate(seed: u64, size: usize) -> Case {
    let rng = &mut Rng::new(seed);
    rng.bits();
    let plan = [Plan::Free, Plan::Safe, Plan::Unsafe][rng.index(3)];
    let threads = (!rng.one_in(2)).then(|| 1 + rng.index(4) as u32);
    match rng.index(20) {
        0..=8 => programs(rng, size, plan, threads),
        9..=14 => systems(rng, size, plan, threads),
        _ => nets(rng, size, plan, threads),
    }
}

// ── thread-transition systems ──

fn systems(rng: &mut Rng, size: usize, plan: Plan, threads: Option<u32>) -> Case {
    let mut system = Threads::empty(rng, size);
    let count = 1 + rng.index(2 + 4 * size);
    let known = match plan {
        Plan::Free => {
            system.edges = (0..count).map(|_| system.edge(rng, None)).collect();
            None
        }
        Plan::Safe => weighed_system(rng, &mut system, count),
        Plan::Unsafe => Some(Known::Run(walked_system(rng, &mut system, count))),
    };
    let threads = threads.map(|n| n.max(system.start.1.len() as u32).max(1));
    Case { body: Body::Threads(system), threads, known }
}

fn weights(rng: &mut Rng, count: usize) -> Vec<i64> {
    (0..count).map(|_| [0, 0, 1, 1, 2][rng.index(5)]).collect()
}

fn weighed_system(rng: &mut Rng, system: &mut Threads, count: usize) -> Option<Known> {
    let shared = weights(rng, system.shared as usize);
    let mut local = weights(rng, system.locals as usize);
    system.start.2.iter().for_each(|&l| local[l as usize] = 0);
    for _ in 0..4 * count {
        let edge: Edge = system.edge(rng, None);
        if system.edges.len() < count && edge_keeps(&edge, &shared, &local) {
            system.edges.push(edge);
        }
    }
    let start = weight((system.start.0, &system.start.1), &shared, &local);
    let heavy: Vec<u32> = (0..system.locals).filter(|&l| local[l as usize] > 0).collect();
    let target = &mut system.targets[0];
    while weight((target.0, &target.1), &shared, &local) <= start && target.1.len() < 6 {
        if heavy.is_empty() {
            break;
        }
        target.1.push(*rng.pick(&heavy));
    }
    target.1.sort_unstable();
    let safe = weight((target.0, &target.1), &shared, &local) > start;
    safe.then_some(Known::Weights { shared, local })
}

/// Adds edges that a run uses, then some more.
fn walked_system(rng: &mut Rng, system: &mut Threads, count: usize) -> Vec<State> {
    let more = if system.start.2.is_empty() { 0 } else { rng.index(4) as u32 };
    let starts = system.starts(system.start.1.len() as u32 + more);
    let mut run = vec![rng.pick(&starts).clone()];
    for _ in 0..1 + rng.index(count) {
        let now = run[run.len() - 1].clone();
        let leader = if now.len() > 1 { now[1 + rng.index(now.len() - 1)] } else { 0 };
        let edge = system.edge(rng, Some((now[0], leader)));
        let mut after = Vec::new();
        system.by(&edge, &now, None, &mut after);
        after.retain(|state| system.size(state) <= 6);
        if !after.is_empty() {
            run.push(rng.pick(&after).clone());
            system.edges.push(edge);
        }
    }
    for _ in 0..rng.index(count) {
        let edge = system.edge(rng, None);
        let at = rng.index(system.edges.len() + 1);
        system.edges.insert(at, edge);
    }
    let last = &run[run.len() - 1];
    let seen = last[1..].iter().copied().filter(|_| !rng.one_in(3)).collect();
    system.targets[0] = (last[0], seen);
    run
}

// ── nets ──

fn nets(rng: &mut Rng, size: usize, plan: Plan, threads: Option<u32>) -> Case {
    let mut net = Net::empty(rng, size);
    let count = 1 + rng.index(1 + 3 * size);
    let known = match plan {
        Plan::Free => {
            net.rules = (0..count).map(|_| net.rule(rng)).collect();
            None
        }
        Plan::Safe => weighed_net(rng, &mut net, count),
        Plan::Unsafe => walked_net(rng, &mut net, count),
    };
    Case { body: Body::Net(net), threads, known }
}

fn weighed_net(rng: &mut Rng, net: &mut Net, count: usize) -> Option<Known> {
    let mut local = weights(rng, net.start.len());
    for (tokens, w) in net.start.iter().zip(&mut local) {
        if tokens.most().is_none() {
            *w = 0;
        }
    }
    for _ in 0..4 * count {
        let rule: Rule = net.rule(rng);
        if net.rules.len() < count && rule_keeps(&rule, &local) {
            net.rules.push(rule);
        }
    }
    let start: i64 = net.start.iter().zip(&local).map(|(t, w)| w * i64::from(t.most().unwrap_or(0))).sum();
    let heavy = (0..).zip(&local).find(|(_, w)| **w > 0).map(|(p, _)| p)?;
    let w = local[heavy as usize];
    for part in &mut net.targets {
        let now: i64 = part.iter().map(|(&p, t)| local[p as usize] * i64::from(t.least())).sum();
        if now <= start {
            let old = part.get(&heavy).map_or(0, |t| t.least());
            let needed = (start - now) / w + 1;
            part.insert(heavy, Tokens::AtLeast(old + needed as u32));
        }
    }
    Some(Known::Weights { shared: Vec::new(), local })
}

/// Adds rules that a run uses, then some more.
fn walked_net(rng: &mut Rng, net: &mut Net, count: usize) -> Option<Known> {
    let starts = net.starts_of_tokens(rng.index(4) as u32);
    let mut run = vec![rng.pick(&starts).clone()];
    for _ in 0..1 + rng.index(count) {
        let now = run[run.len() - 1].clone();
        let rule = net.rule(rng);
        if let Some(after) = rule.fire(&now).filter(|after| net.size(after) <= 10) {
            net.rules.push(rule);
            run.push(after);
        }
    }
    for _ in 0..rng.index(count) {
        let rule = net.rule(rng);
        let at = rng.index(net.rules.len() + 1);
        net.rules.insert(at, rule);
    }
    let last = run[run.len() - 1].clone();
    let part = (0..).zip(&last).filter(|(_, n)| **n > 0 && !rng.one_in(3));
    let part = part.map(|(p, &n)| (p, Tokens::AtLeast(n))).collect();
    net.targets[0] = part;
    // A conjunction of nothing cannot be written.
    if net.targets[0].is_empty() {
        net.targets[0].insert(0, Tokens::AtLeast(last[0]));
    }
    Some(Known::Run(run))
}

/// Lists the kinds of updates that a rule has, for coverage.
pub(super) fn updates(rule: &Rule) -> Vec<&'static str> {
    let of = |u: &Update| match u {
        Update::Add(c) if *c < 0 => "x' = x - c",
        Update::Add(_) => "x' = x + c",
        Update::Set(0) => "x' = 0",
        Update::Set(_) => "x' = c",
        Update::Gather { keep: true, .. } => "x' = x + y",
        Update::Gather { keep: false, .. } => "x' = y",
    };
    rule.update.values().map(of).collect()
}

// ── programs ──

fn programs(rng: &mut Rng, size: usize, plan: Plan, threads: Option<u32>) -> Case {
    let mut knobs = Knobs::random(rng);
    knobs.statements = (knobs.statements * (1 + size) / 4).max(2);
    let (text, kept) = match plan {
        Plan::Safe => invariant_program(rng, knobs),
        Plan::Free | Plan::Unsafe => {
            let text = program(rng, &knobs);
            (synonyms(rng, &text), None)
        }
    };
    let text = if rng.one_in(15) { padded(rng, &text) } else { text };
    let initial = match rng.index(4) {
        0 | 1 => None,
        n => Some(n as u32 - 1),
    };
    let threads = threads.map(|n| n.max(initial.unwrap_or(1)).min(3));
    let labels: Vec<&str> =
        text.split_whitespace().filter_map(|w| w.strip_suffix(':')).filter(|w| !w.is_empty()).collect();
    let label = if labels.is_empty() || rng.one_in(3) { None } else { Some(rng.pick(&labels).to_string()) };
    let shared: Vec<String> = shared_variables(&text);
    let invariant = rng.one_in(2).then(|| expression(rng, &shared, 2));
    let keep_ended = rng.one_in(4);
    let mut asked = Program { text, initial, label, invariant, keep_ended };
    let known = match (plan, kept) {
        (Plan::Safe, Some(kept)) => {
            asked.invariant = Some(kept.expression.clone());
            Some(Known::Invariant(kept))
        }
        (Plan::Unsafe, _) => walked_program(rng, &mut asked, threads),
        _ => None,
    };
    // An invariant may speak of what a program does not have, and some expressions are refused
    // there.
    let (read, _) = bp::read(&asked.text, &bp::Options::default());
    if let Some(jit) = read {
        if asked.invariant.as_ref().is_some_and(|text| jit.invariant_text(text).is_err()) {
            asked.invariant = None;
        }
        if asked.label.as_ref().is_some_and(|label| jit.error_label(label).is_err()) {
            asked.label = None;
        }
    }
    Case { body: Body::Program(asked), threads, known }
}

/// Adds so many variables that states do not fit into 64 bits; some of them are assigned
/// instead of skipping.
fn padded(rng: &mut Rng, text: &str) -> String {
    let mut declared = |name: &str| {
        let count = 20 + rng.index(40);
        let all: Vec<String> = (0..count).map(|i| format!("{name}{i} := {}", i % 2)).collect();
        format!("decl {};", all.join(", "))
    };
    let (shared, locals) = (declared("z"), declared("y"));
    let mut lines = vec![shared];
    let mut in_main = false;
    for line in text.lines() {
        // Everything inside a function is indented, also calls of `main`.
        if !line.starts_with(' ') && line.contains('(') {
            in_main = line.contains(" main(");
        }
        let x = if in_main && rng.one_in(2) { "y" } else { "z" };
        let assignment = format!("{x}{} := !z{};", rng.index(20), rng.index(20));
        lines.push(if line.contains("$") { line.into() } else { line.replacen("skip;", &assignment, 1) });
        if line == "begin" && in_main {
            lines.push(format!("  {locals}"));
        }
    }
    lines.join("\n") + "\n"
}

fn shared_variables(text: &str) -> Vec<String> {
    let declared = text.lines().filter_map(|l| l.strip_prefix("decl "));
    let name = |l: &str| l.split([' ', ';']).next().unwrap_or_default().to_string();
    declared.map(name).filter(|n| n != "thread_local").collect()
}

/// Spells operators and constants differently now and then.
fn synonyms(rng: &mut Rng, text: &str) -> String {
    let words = [
        (" & ", " && "),
        (" | ", " || "),
        (" != ", " <> "),
        (" => ", " -> "),
        (" = ", " == "),
        ("!", "~"),
        ("void ", "dfs void "),
    ];
    let mut text = text.to_string();
    for (word, other) in words {
        // `!=` is one token.
        if rng.one_in(12) && !(word == "!" && text.contains("!=")) {
            text = text.replace(word, other);
        }
    }
    text
}

/// Looks for something to ask about that a walk meets.
fn walked_program(rng: &mut Rng, asked: &mut Program, threads: Option<u32>) -> Option<Known> {
    for _ in 0..6 {
        let Some((walk, met)) = Walk::random(rng, asked, threads) else { continue };
        let labels = if met.twice.is_empty() || rng.one_in(3) { &met.at } else { &met.twice };
        if !labels.is_empty() && !rng.one_in(3) {
            asked.label = Some(rng.pick(labels).clone());
            return Some(Known::Walk(walk));
        }
        if let Some(values) = met.shared.filter(|v| !v.is_empty()) {
            asked.invariant = Some(other_than(&values));
            return Some(Known::Walk(walk));
        }
    }
    None
}

/// A program whose shared variables only ever have some of the values that they could have.
fn invariant_program(rng: &mut Rng, mut knobs: Knobs) -> (String, Option<Kept>) {
    knobs.asserts = false;
    let enforced = rng.one_in(2);
    knobs.calls &= enforced; // a result cannot be constrained where it is assigned
    let text = program(rng, &knobs);
    let shared = shared_variables(&text);
    let hides = |l: &str| {
        l.starts_with(' ') && shared.iter().any(|n| l.trim_start().starts_with(&format!("decl {n}")))
    };
    if text.lines().any(hides) {
        return (text, None);
    }
    let rows = 1_usize << shared.len();
    let start = rng.index(rows);
    let allowed: Vec<usize> = (0..rows).filter(|&row| row == start || rng.one_in(2)).collect();
    let value = |row: usize, i: usize| row >> i & 1 == 1;
    let formula = |prime: &str| {
        let literal =
            |row: usize, i: usize| format!("{}{prime}{}", if value(row, i) { "" } else { "!" }, shared[i]);
        let row = |&row: &usize| {
            let all: Vec<String> = (0..shared.len()).map(|i| literal(row, i)).collect();
            format!("({})", all.join(" & "))
        };
        allowed.iter().map(row).collect::<Vec<_>>().join(" | ")
    };
    let kept = Kept {
        expression: formula(""),
        primed: formula("'"),
        start: shared.iter().enumerate().map(|(i, n)| (n.clone(), value(start, i))).collect(),
        enforced,
    };
    let guarded = guard(rng, &text, &kept);
    let (read, _) = bp::read(&guarded, &bp::Options::default());
    if read.is_some() { (guarded, Some(kept)) } else { (text, None) }
}

/// Adds what keeps the invariant, and assertions of it.
fn guard(rng: &mut Rng, text: &str, kept: &Kept) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut begun = false;
    for line in text.lines() {
        let word = line.trim_start();
        if let Some((name, value)) = kept
            .start
            .iter()
            .find(|(n, _)| line.starts_with(&format!("decl {n}")) && !line.contains("thread_local"))
        {
            lines.push(format!("decl {name} := {};", u8::from(*value)));
            continue;
        }
        if begun && !word.starts_with("decl ") {
            begun = false;
            if kept.enforced {
                lines.push(kept.enforce());
            }
        }
        begun |= word == "begin";
        if !kept.enforced && line.contains(":=") && !word.starts_with("decl ") {
            let with = kept.constrain();
            lines.push(match line.find(" constrain ") {
                Some(at) => format!("{}{with} & {}", &line[..at], &line[at + " constrain ".len()..]),
                None => format!("{}{with};", line.trim_end_matches(';')),
            });
        } else {
            lines.push(line.to_string());
        }
        let inside = line.starts_with(' ') && line.ends_with(';') && !word.starts_with("decl ");
        if inside && rng.one_in(5) {
            lines.push(kept.assert());
        }
    }
    lines.join("\n") + "\n"
}
