//! Random programs: the model of a Boolean program against the naive interpreter, and against its own laws.
//!
//! `THRONG_RANDOM=20000 THRONG_SEED=7 cargo test --release --test programs -- --nocapture` compares that many programs.

mod common;

use std::collections::{BTreeSet, HashMap, HashSet};

use common::naive::{Answer, Naive, Place, Question, Role, State};
use throng::lang::bp::{self, Jit, Options};
use throng::model::{Config, Local, Model, Shared, semantics};
use throng::problem::Target;
use throng::testing::programs::{Knobs, Rng, expression, program};

/// More configurations than this are not compared.
const LIMIT: usize = 3_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

fn read(text: &str, keep_ended: bool, exact_copies: bool) -> Jit {
    let (jit, diagnostics) = bp::read(text, &Options { keep_ended, exact_copies });
    jit.unwrap_or_else(|| panic!("{text}\n{diagnostics:?}"))
}

// ── the model's answers as plain data ──

/// Every assignment of values to the parts of a state; `*` is both.
fn expand(values: &[(String, String)]) -> Vec<Vec<bool>> {
    values.iter().fold(vec![Vec::new()], |rows, (_, text)| {
        let options: &[bool] = match text.as_str() {
            "0" => &[false],
            "1" => &[true],
            _ => &[false, true],
        };
        rows.iter().flat_map(|row| options.iter().map(move |&v| [&row[..], &[v]].concat())).collect()
    })
}

fn place(jit: &Jit, l: Local) -> Place {
    let Some(p) = jit.place(l) else {
        return Place { line: 0, column: 0, functions: String::new(), role: Role::Ended };
    };
    let role = if p.text == "end of the started statement" {
        Role::Behind
    } else if p.labels.iter().any(|l| l.starts_with("ASYNC_")) {
        Role::Async
    } else {
        Role::Plain
    };
    Place { line: p.line, column: p.column, functions: p.function, role }
}

fn states(jit: &Jit, s: Shared, l: Local, found: &mut BTreeSet<State>) {
    let place = place(jit, l);
    let values = if place.role == Role::Ended { Vec::new() } else { jit.local_values(l) };
    for shared in expand(&jit.shared_values(s)) {
        for values in expand(&values) {
            found.insert(State { place: place.clone(), shared: shared.clone(), values });
        }
    }
}

fn initial(jit: &Jit, question: &Question) -> Vec<Config> {
    let family = jit.initial(question.initial.map(|n| n as u32));
    match question.initial {
        Some(n) => family.of_size(n as u32),
        None => (1..=question.bound as u32).flat_map(|n| family.of_size(n)).collect(),
    }
}

/// Breadth-first search over the model: the answers to the naive interpreter's questions.
fn search(jit: &Jit, question: &Question, label: Option<&str>, invariant: Option<&str>) -> Option<Answer> {
    let label_targets = label.map(|l| (jit.error_label(l).ok(), jit.mutex(l).ok())).unwrap_or_default();
    let targets: [Option<Target>; 4] = [
        jit.assertions(),
        label_targets.0,
        label_targets.1,
        invariant.map(|text| jit.invariant_text(text).expect("an expression over shared variables")),
    ];
    let mut distance = [None; 4];
    let mut seen: HashSet<Config> = HashSet::new();
    let mut words: HashSet<(Shared, Local)> = HashSet::new();
    let mut level = initial(jit, question);
    let mut depth = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        for config in level {
            if !seen.insert(config.clone()) {
                continue;
            }
            for (target, distance) in targets.iter().zip(&mut distance) {
                if target.as_ref().is_some_and(|t| t.is_hit(&config, jit)) {
                    distance.get_or_insert(depth);
                }
            }
            if !jit.inside_atomic(config.shared) {
                words.extend(config.threads.entries().iter().map(|e| (config.shared, e.0)));
            }
            let mut successors = Vec::new();
            semantics::successors(jit, &config, Some(question.bound as u32), &mut successors);
            next.extend(successors.into_iter().map(|(_, c)| c));
            if seen.len() > 4 * LIMIT {
                return None;
            }
        }
        level = next;
        depth += 1;
    }
    let mut reached = BTreeSet::new();
    words.into_iter().for_each(|(s, l)| states(jit, s, l, &mut reached));
    let [violated, error_label, mutex, invariant] = distance;
    Some(Answer { violated, error_label, mutex, invariant, reached, configurations: seen.len() })
}

/// What differs, in words; empty if nothing does.
///
/// Without `exact` copies, values that a thread never reads again may be more than there really are.
fn difference(model: &Answer, naive: &Answer, exact: bool) -> String {
    let mut text = String::new();
    let mut compare = |what: &str, a: Option<usize>, b: Option<usize>| {
        if a != b {
            text += &format!("{what}: model {a:?}, naive {b:?}\n");
        }
    };
    compare("assertions", model.violated, naive.violated);
    compare("error label", model.error_label, naive.error_label);
    compare("mutex", model.mutex, naive.mutex);
    compare("invariant", model.invariant, naive.invariant);
    for state in naive.reached.difference(&model.reached).take(3) {
        text += &format!("only naive: {state:?}\n");
    }
    let places: BTreeSet<_> = naive.reached.iter().map(|s| (&s.place, &s.shared)).collect();
    let more = model.reached.difference(&naive.reached);
    for state in more.filter(|s| exact || !places.contains(&(&s.place, &s.shared))).take(3) {
        text += &format!("only in the model: {state:?}\n");
    }
    text
}

/// Bound, initial threads, whether ended threads count.
const QUESTIONS: [(usize, Option<usize>, bool); 7] = [
    (1, Some(1), false),
    (2, Some(1), false),
    (2, None, false),
    (3, Some(1), false),
    (3, None, false),
    (2, Some(2), true),
    (3, Some(1), true),
];

/// Compares both on one program; returns how many questions were small enough, or what differs.
fn compare(text: &str, rng: &mut Rng) -> Result<usize, String> {
    let jits = [false, true].map(|keep_ended| [false, true].map(|exact| read(text, keep_ended, exact)));
    let tree = jits[0][0].tree().clone();
    let naive = Naive::new(text, &tree);
    let labels: Vec<&str> =
        text.split_whitespace().filter_map(|w| w.strip_suffix(':')).filter(|w| !w.is_empty()).collect();
    let label = if labels.is_empty() { None } else { Some(*rng.pick(&labels)) };
    let shared: Vec<String> = jits[0][0].program().shared.iter().map(|v| v.name.clone()).collect();
    let invariant = expression(rng, &shared, 2);
    let mut asked = 0;
    for (bound, initial, keep_ended) in QUESTIONS {
        let question = Question { bound, initial, keep_ended, limit: LIMIT };
        let Some(expected) = naive.search(&question, label, Some(&invariant)) else { continue };
        for (exact, jit) in [false, true].into_iter().zip(&jits[usize::from(keep_ended)]) {
            let differs = match search(jit, &question, label, Some(&invariant)) {
                Some(found) => difference(&found, &expected, exact),
                None => "the model has many more configurations".into(),
            };
            if !differs.is_empty() {
                let asked = format!("{question:?}, exact {exact}, label {label:?}, invariant {invariant}");
                return Err(format!("{asked}\n{differs}"));
            }
        }
        asked += 1;
    }
    Ok(asked)
}

/// Removes lines and simplifies words while the two still differ.
fn shrink(text: &str, differs: &dyn Fn(&str) -> bool) -> String {
    let mut best = text.to_string();
    loop {
        let lines: Vec<&str> = best.lines().collect();
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
                let inner = &line[at + 1..end - 1];
                for op in [" & ", " | ", " ^ ", " = ", " != ", " => ", " <=> "] {
                    for part in inner.split(op).filter(|p| *p != inner) {
                        replace(format!("{}{part}{}", &line[..at], &line[end..]));
                    }
                }
            }
        }
        match candidates.into_iter().find(|c| c.len() < best.len() && differs(c)) {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
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

fn accepted(text: &str) -> bool {
    bp::read(text, &Options::default()).0.is_some()
}

#[test]
#[allow(clippy::print_stdout)]
fn random_programs_mean_what_the_naive_interpreter_says() {
    let (count, seed) = (number("THRONG_RANDOM", 1_000), number("THRONG_SEED", 1));
    let mut asked = HashMap::new();
    for i in 0..count {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(i);
        let mut rng = Rng::new(seed);
        let knobs = Knobs::random(&mut rng);
        let text = program(&mut rng, &knobs);
        match compare(&text, &mut rng.clone()) {
            Ok(n) => *asked.entry(n).or_insert(0) += 1,
            Err(_) => {
                let small = shrink(&text, &|t| accepted(t) && compare(t, &mut rng.clone()).is_err());
                let differs = compare(&small, &mut rng).unwrap_err();
                panic!("seed {seed}\n{text}\nshrunk:\n{small}\n{differs}");
            }
        }
    }
    let total: usize = asked.iter().map(|(n, k)| n * k).sum();
    println!("{count} programs from seed {seed}: {total} questions agree");
    assert!(total as u64 >= 3 * count, "most searches must be small enough");
}
