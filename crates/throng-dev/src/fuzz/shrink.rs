//! Smaller cases: lines and tokens of programs, edges, rules and numbers of systems and nets are
//! dropped while the failure stays the same.

use std::time::{Duration, Instant};

use super::case::{Body, Case, Program};
use super::known::Known;
use super::nets::{Net, Tokens, Update};
use super::threads::Threads;

/// The smallest case that still `fails`, as far as dropping one part after another finds it within
/// `patience`.
pub fn shrink(case: &Case, patience: Duration, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let began = Instant::now();
    let mut best = case.clone();
    loop {
        let next = smaller(&best).into_iter().find(|c| began.elapsed() < patience && fails(c));
        match next {
            Some(next) => best = next,
            None => return best,
        }
    }
}

/// Cases that are a little smaller, most daring first.
pub fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    let with = |body: Body| Case { body, ..case.clone() };
    if case.threads.is_some() {
        found.push(Case { threads: None, ..case.clone() });
    }
    match &case.body {
        Body::Program(program) => {
            found.extend(smaller_questions(program).into_iter().map(Body::Program).map(with));
            let text = |text| Body::Program(Program { text, ..program.clone() });
            found.extend(smaller_programs(&program.text).into_iter().map(text).map(with));
        }
        Body::Threads(threads) => {
            found.extend(smaller_threads(threads).into_iter().map(Body::Threads).map(with));
        }
        Body::Net(net) => found.extend(smaller_nets(net).into_iter().map(Body::Net).map(with)),
    }
    if let Some(Known::Run(run)) = &case.known {
        let shorter = (0..run.len()).map(|i| [&run[..i], &run[i + 1..]].concat());
        found.extend(shorter.map(|run| Case { known: Some(Known::Run(run)), ..case.clone() }));
    }
    if let Some(threads) = case.threads.filter(|&n| n > 1) {
        found.push(Case { threads: Some(threads - 1), ..case.clone() });
    }
    if case.known.is_some() {
        found.push(Case { known: None, ..case.clone() });
    }
    found
}

/// A list without one of its elements, in every way; without several of them first.
fn without<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let mut found = Vec::new();
    let mut width = list.len() / 2;
    while width > 0 {
        for start in (0..list.len()).step_by(width) {
            let end = (start + width).min(list.len());
            found.push([&list[..start], &list[end..]].concat());
        }
        width /= 2;
    }
    if list.len() == 1 {
        found.push(Vec::new());
    }
    found
}

fn smaller_threads(threads: &Threads) -> Vec<Threads> {
    let mut found: Vec<Threads> =
        without(&threads.edges).into_iter().map(|edges| Threads { edges, ..threads.clone() }).collect();
    // Their order is what a known answer is about.
    let later = without(threads.targets.get(1..).unwrap_or_default());
    for later in later {
        let targets = [&threads.targets[..1], &later[..]].concat();
        found.push(Threads { targets, ..threads.clone() });
    }
    if threads.targets.len() > 1 {
        found.push(Threads { targets: threads.targets[1..].to_vec(), ..threads.clone() });
    }
    for (i, (shared, target)) in threads.targets.iter().enumerate() {
        for fewer in without(target) {
            let mut smaller = threads.clone();
            smaller.targets[i] = (*shared, fewer);
            found.push(smaller);
        }
    }
    let (shared, exactly, any) = &threads.start;
    for fewer in without(exactly) {
        found.push(Threads { start: (*shared, fewer, any.clone()), ..threads.clone() });
    }
    for fewer in without(any) {
        found.push(Threads { start: (*shared, exactly.clone(), fewer), ..threads.clone() });
    }
    for (i, edge) in threads.edges.iter().enumerate() {
        for passive in without(&edge.passive) {
            let mut smaller = threads.clone();
            smaller.edges[i].passive = passive;
            found.push(smaller);
        }
        if edge.anywhere {
            let mut smaller = threads.clone();
            smaller.edges[i].anywhere = false;
            found.push(smaller);
        }
    }
    found
}

fn smaller_nets(net: &Net) -> Vec<Net> {
    let mut found: Vec<Net> =
        without(&net.rules).into_iter().map(|rules| Net { rules, ..net.clone() }).collect();
    if net.targets.len() > 1 {
        found.extend(without(&net.targets).into_iter().map(|targets| Net { targets, ..net.clone() }));
    }
    let fewer = |tokens: Tokens| match tokens {
        Tokens::Exactly(n) => vec![Tokens::Exactly(n.saturating_sub(1))],
        Tokens::AtLeast(n) => vec![Tokens::Exactly(n), Tokens::AtLeast(n.saturating_sub(1))],
        Tokens::Between(a, b) => vec![Tokens::Exactly(a), Tokens::Exactly(b)],
    };
    for (p, tokens) in net.start.iter().enumerate() {
        for tokens in fewer(*tokens).into_iter().filter(|t| t != tokens) {
            let mut smaller = net.clone();
            smaller.start[p] = tokens;
            found.push(smaller);
        }
    }
    for (i, part) in net.targets.iter().enumerate() {
        for (p, tokens) in part {
            let mut smaller = net.clone();
            if part.len() > 1 {
                smaller.targets[i].remove(p);
                found.push(smaller.clone());
            }
            if tokens.least() > 1 {
                smaller.targets[i].insert(*p, Tokens::AtLeast(tokens.least() - 1));
                found.push(smaller);
            }
        }
    }
    for (i, rule) in net.rules.iter().enumerate() {
        for p in rule.guard.keys() {
            let mut smaller = net.clone();
            let taken = smaller.rules[i].guard.remove(p).map_or(0, Tokens::least);
            // What is not asked for cannot be taken.
            if taken > 0 && matches!(rule.update.get(p), Some(Update::Add(c)) if *c < 0) {
                smaller.rules[i].update.remove(p);
            }
            found.push(smaller);
        }
        for (p, update) in &rule.update {
            // Whose tokens go elsewhere must be set.
            let moved =
                rule.update.values().any(|u| matches!(u, Update::Gather { from, .. } if from.contains(p)));
            if !moved {
                let mut smaller = net.clone();
                smaller.rules[i].update.remove(p);
                found.push(smaller);
            }
            if let Update::Add(c) = update
                && c.abs() > 1
            {
                let mut smaller = net.clone();
                smaller.rules[i].update.insert(*p, Update::Add(c - c.signum()));
                found.push(smaller);
            }
        }
    }
    found
}

fn smaller_questions(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    if program.label.is_some() {
        found.push(Program { label: None, ..program.clone() });
    }
    if program.invariant.is_some() {
        found.push(Program { invariant: None, ..program.clone() });
    }
    if program.keep_ended {
        found.push(Program { keep_ended: false, ..program.clone() });
    }
    if program.initial.is_none_or(|n| n > 1) {
        found.push(Program { initial: Some(program.initial.map_or(1, |n| n - 1)), ..program.clone() });
    }
    found
}

/// Programs that are a little shorter: lines are missing, tokens are simpler. Not all are correct.
pub fn smaller_programs(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut candidates = Vec::new();
    for width in [6, 4, 3, 2, 1] {
        for start in 0..lines.len().saturating_sub(width - 1) {
            candidates.push([&lines[..start], &lines[start + width..]].concat().join("\n") + "\n");
        }
    }
    for (i, line) in lines.iter().enumerate() {
        let mut replace = |with: String| {
            let mut lines = lines.clone();
            lines[i] = &with;
            candidates.push(lines.join("\n") + "\n");
        };
        if let Some(at) = line.find(" constrain ") {
            replace(format!("{};", &line[..at]));
        }
        if let Some(at) = line.find(": ") {
            replace(line[at + 2..].to_string());
        }
        for (at, _) in line.match_indices('(') {
            let end = closing(line, at);
            for with in ["0", "1", "*"] {
                replace(format!("{}{with}{}", &line[..at], &line[end..]));
            }
            let inner = &line[at + 1..end.max(at + 2) - 1];
            for op in [" & ", " | ", " ^ ", " = ", " != ", " => ", " <=> "] {
                for part in inner.split(op).filter(|p| *p != inner) {
                    replace(format!("{}{part}{}", &line[..at], &line[end..]));
                }
            }
        }
    }
    candidates.retain(|c| c.len() < text.len());
    candidates
}

fn closing(line: &str, open: usize) -> usize {
    let mut depth = 0;
    for (i, c) in line[open..].char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return open + i + 1;
        }
    }
    line.len()
}
