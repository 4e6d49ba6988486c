//! Random programs: the model of a Boolean program against the naive interpreter, and against its
//! own laws.
//!
//! `THRONG_RANDOM=20000 THRONG_SEED=7 cargo test --release -p throng-dev --test languages programs:: -- --nocapture`
//! compares that many programs.

use throng_dev::harness as common;
use throng_model::Model as _;
use throng_model::Predecessors;
use throng_model::SetStates;

use std::collections::{BTreeSet, HashMap};

use common::duality::Duality;
use common::model::{explore, initial, read, read_as, search};
use common::naive::{Answer, Naive, Question};
use throng_dev::Rng;
use throng_dev::fuzz::shrink::smaller_programs;
use throng_dev::laws;
use throng_dev::programs::{Knobs, expression, program};
use throng_lang::bp::{self, Jit, Options, parser, printer};
use throng_model::concrete::concretise;
use throng_model::problem::Target;
use throng_model::verdict::{Taken, Trace};
use throng_model::{Config, Incomplete, Local, Shared, Step, semantics};

/// More configurations than this are not compared.
const LIMIT: usize = 3_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// What differs, in words; empty if nothing does.
///
/// Without `exact` copies, values that a thread never reads again may be more than there really
/// are.
fn difference(model: &Answer, naive: &Answer, exact: bool, blocks: bool) -> String {
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
    // Where presence blocks, deadlocks cannot be asked about.
    if !blocks {
        compare("deadlock", model.deadlock, naive.deadlock);
    }
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
    let jits = [false, true].map(|keep_ended| {
        [false, true]
            .map(|exact_copies| read_as(text, Options { keep_ended, exact_copies, keep_dead: !exact_copies }))
    });
    let forgetful = [false, true].map(|keep_ended| read(text, keep_ended, false));
    let tree = jits[0][0].tree().clone();
    let naive = Naive::new(text, &tree);
    let blocks = jits[0][0].traits().blocking.is_some();
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
                Some(found) => difference(&found, &expected, exact, blocks),
                None => "the model has many more configurations".into(),
            };
            if !differs.is_empty() {
                let asked = format!("{question:?}, exact {exact}, label {label:?}, invariant {invariant}");
                return Err(format!("{asked}\n{differs}"));
            }
        }
        // What is never read again is open here, so there is no list of states to compare, only
        // distances.
        let Some((mut found, _)) =
            explore(&forgetful[usize::from(keep_ended)], &question, label, Some(&invariant))
        else {
            return Err(format!("{question:?}: forgetting gives many more configurations"));
        };
        found.reached = expected.reached.clone();
        let differs = difference(&found, &expected, true, blocks);
        if !differs.is_empty() {
            return Err(format!(
                "{question:?}, forgetting, label {label:?}, invariant {invariant}\n{differs}"
            ));
        }
        asked += 1;
    }
    Ok(asked)
}

/// Removes lines and simplifies words while the two still differ.
fn shrink(text: &str, differs: &dyn Fn(&str) -> bool) -> String {
    let mut best = text.to_string();
    while let Some(smaller) = smaller_programs(&best).into_iter().find(|c| differs(c)) {
        best = smaller;
    }
    best
}

/// Adds so many variables that the program's states do not fit into a word.
fn widened(text: &str) -> String {
    let decl = |name: &str| {
        let all: Vec<String> = (0..33).map(|i| format!("{name}{i} := {}", i % 2)).collect();
        format!("decl {};\n", all.join(", "))
    };
    decl("shared") + &text.replacen("begin\n", &format!("begin\n{}", decl("local")), 1)
}

/// Printing a program and reading it again gives the same program.
fn prints(text: &str) -> bool {
    let again = |text: &str| printer::print(&parser::parse(text).0);
    let printed = again(text);
    accepted(&printed) && again(&printed) == printed
}

fn accepted(text: &str) -> bool {
    bp::read(text, &Options::default()).0.is_some()
}

#[test]
#[allow(clippy::print_stdout)]
fn random_programs_mean_what_the_naive_interpreter_says() {
    let (count, seed) = (number("THRONG_RANDOM", 400), number("THRONG_SEED", 1));
    let mut asked = HashMap::new();
    for i in 0..count {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(i);
        let mut rng = Rng::new(seed);
        let knobs = Knobs::random(&mut rng);
        let mut text = program(&mut rng, &knobs);
        if i % 8 == 0 {
            text = widened(&text);
        }
        assert!(prints(&text), "{text}");
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

// ── laws ──

/// Configurations with at most `most` threads that are reached first.
fn some_configurations(jit: &Jit, most: usize) -> Vec<Config> {
    let question = Question { bound: 3, initial: None, keep_ended: false, limit: LIMIT };
    let mut all = initial(jit, &question);
    let mut at = 0;
    while at < all.len() && all.len() < most {
        let mut successors = Vec::new();
        semantics::successors(jit, &all[at], Some(3), &mut successors).expect("few threads");
        for (_, c) in successors {
            if !all.contains(&c) {
                all.push(c);
            }
        }
        at += 1;
    }
    all
}

/// One concrete configuration of each, chosen at random.
fn concrete(jit: &Jit, config: &Config, rng: &mut Rng) -> Config {
    let shared = *rng.pick(&jit.members_shared(config.shared));
    let threads = config
        .threads
        .entries()
        .iter()
        .flat_map(|&(l, n)| (0..n).map(move |_| l))
        .map(|l| *rng.pick(&jit.members_local(l)))
        .collect();
    Config::new(shared, threads)
}

/// Thread states to test on: reachable ones, and some that lead to them or to violations, reachable
/// or not.
fn some_states(jit: &Jit, configs: &[Config], rng: &mut Rng) -> Vec<(Shared, Local)> {
    let mut found: Vec<(Shared, Local)> = Vec::new();
    for c in configs {
        found.extend(c.threads.entries().iter().map(|e| (c.shared, e.0)));
    }
    found.sort_unstable();
    found.dedup();
    while found.len() > 12 {
        found.swap_remove(rng.index(found.len()));
    }
    if let Some(target) = jit.assertions() {
        let bad: Vec<(Shared, Local)> =
            target.configs.iter().map(|c| (c.shared, c.threads.entries()[0].0)).collect();
        found.extend(bad.iter().take(4));
    }
    for _ in 0..12 {
        let &(s, l) = rng.pick(&found);
        let mut steps = Vec::new();
        Incomplete::irrelevant(jit.pre(s, l, &mut steps));
        if !steps.is_empty() {
            let step = rng.pick(&steps);
            found.push((step.from, step.take.entries()[0].0));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn lawful(text: &str, rng: &mut Rng) -> Result<usize, String> {
    let options = Options { keep_ended: rng.one_in(3), exact_copies: false, keep_dead: rng.one_in(2) };
    let jit = read_as(text, options);
    let configs = some_configurations(&jit, 40);
    let mut tested = laws(&jit, &configs[..configs.len().min(12)])?;
    let points: Vec<Config> =
        (0..8).map(|_| concrete(&jit, &configs[rng.index(configs.len())], rng)).collect();
    tested += laws(&jit, &points)?;
    let states = some_states(&jit, &configs, rng);
    let duality = Duality { jit: &jit, tested: tested.into() };
    for &(s, l) in &states {
        let bystanders: Vec<Local> = (0..3).map(|_| rng.pick(&states).1).collect();
        duality.sets_step_like_their_members(s, l)?;
        duality.forward_is_found_backward(s, l, &bystanders)?;
        duality.backward_is_possible(s, l)?;
    }
    Ok(duality.tested.get())
}

#[test]
#[allow(clippy::print_stdout)]
fn forward_and_backward_steps_of_random_programs_are_the_same() {
    let (count, seed) = (number("THRONG_RANDOM", 150), number("THRONG_SEED", 1));
    let mut tested = 0;
    for i in 0..count {
        let seed = seed.wrapping_mul(1_000_033).wrapping_add(i);
        let mut rng = Rng::new(seed);
        let knobs = Knobs::random(&mut rng);
        let text = program(&mut rng, &knobs);
        match lawful(&text, &mut rng.clone()) {
            Ok(n) => tested += n,
            Err(_) => {
                let small = shrink(&text, &|t| accepted(t) && lawful(t, &mut rng.clone()).is_err());
                let wrong = lawful(&small, &mut rng).unwrap_err();
                panic!("seed {seed}\n{text}\nshrunk:\n{small}\n{wrong}");
            }
        }
    }
    println!("{count} programs from seed {seed}: {tested} facts");
}

// ── runs ──

/// A shortest run into the target, as an engine finds it.
fn run_into(jit: &Jit, target: &Target, question: &Question) -> Option<Trace> {
    let mut seen: HashMap<Config, Option<(Step, Config)>> = HashMap::new();
    let mut queue: Vec<(Config, Option<(Step, Config)>)> =
        initial(jit, question).into_iter().map(|c| (c, None)).collect();
    let mut at = 0;
    while at < queue.len() && at < 4 * LIMIT {
        let (config, from) = queue[at].clone();
        at += 1;
        if seen.contains_key(&config) {
            continue;
        }
        seen.insert(config.clone(), from);
        if target.is_hit(&config, jit) {
            let mut steps = Vec::new();
            let mut end = config;
            while let Some(Some((step, before))) = seen.get(&end) {
                steps.push(Taken { step: step.clone(), after: end });
                end = before.clone();
            }
            steps.reverse();
            return Some(Trace { start: end, steps });
        }
        let mut successors = Vec::new();
        semantics::successors(jit, &config, Some(question.bound as u32), &mut successors)
            .expect("few threads");
        queue.extend(successors.into_iter().map(|(step, c)| (c, Some((step, config.clone())))));
    }
    None
}

/// Returns whether `part` is a single concrete configuration of `whole`.
fn is_member(jit: &Jit, part: &Config, whole: &Config) -> bool {
    let single = |l: Local| jit.members_local(l).len() == 1;
    jit.members_shared(part.shared).len() == 1
        && part.threads.entries().iter().all(|e| single(e.0))
        && part.threads.size() == whole.threads.size()
        && part.surely_covers(whole, jit)
}

/// Chooses values for a run and replays it; says whether there was a run.
fn replays(text: &str) -> Result<bool, String> {
    let jit = read(text, false, false);
    let question = Question { bound: 3, initial: None, keep_ended: false, limit: LIMIT };
    let Some(target) = jit.assertions() else { return Ok(false) };
    let Some(trace) = run_into(&jit, &target, &question) else { return Ok(false) };
    let Some(chosen) = concretise(&jit, &target, &trace, Some(3)) else {
        return Err("no values can be chosen".into());
    };
    if !initial(&jit, &question).iter().any(|c| is_member(&jit, &chosen.start, c)) {
        return Err("the chosen run does not begin at the beginning".into());
    }
    // Whatever a run left open, the values chosen are those that the program really has: nothing is
    // forgotten here. (The words are the same.)
    let jit = read_as(text, Options { keep_dead: true, ..Options::default() });
    let mut now = chosen.start.clone();
    for (i, taken) in chosen.steps.iter().enumerate() {
        let mut successors = Vec::new();
        semantics::successors(&jit, &now, Some(3), &mut successors).expect("few threads");
        if !successors.iter().any(|(_, c)| is_member(&jit, &taken.after, c)) {
            let (from, to) = (now.describe(&jit), taken.after.describe(&jit));
            return Err(format!("step {i} of the chosen run is impossible: {from} to {to}"));
        }
        now = taken.after.clone();
    }
    if !target.is_hit(&now, &jit) {
        return Err(format!("the chosen run ends in {}", now.describe(&jit)));
    }
    Ok(true)
}

#[test]
#[allow(clippy::print_stdout)]
fn runs_over_sets_of_states_have_concrete_runs_in_them() {
    let (count, seed) = (number("THRONG_RANDOM", 500), number("THRONG_SEED", 1));
    let mut runs = 0;
    for i in 0..count {
        let seed = seed.wrapping_mul(1_000_037).wrapping_add(i);
        let mut rng = Rng::new(seed);
        let knobs = Knobs { asserts: true, ..Knobs::random(&mut rng) };
        let text = program(&mut rng, &knobs);
        match replays(&text) {
            Ok(found) => runs += usize::from(found),
            Err(_) => {
                let small = shrink(&text, &|t| accepted(t) && replays(t).is_err());
                let wrong = replays(&small).unwrap_err();
                panic!("seed {seed}\n{text}\nshrunk:\n{small}\n{wrong}");
            }
        }
    }
    println!("{count} programs from seed {seed}: {runs} runs replayed");
}
