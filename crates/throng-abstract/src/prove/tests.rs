//! Programs that create threads without bound: proved with certificates that stand, and that do not
//! when they are changed; and programs that must not be proved.

use std::time::Duration;

use crate::blast::eval;
use crate::prove::{Ended, is_violation, prove};
use crate::readings::attempt;
use crate::testing::limits;
use rustc_hash::FxHashMap;
use throng_c::Options;
use throng_check::certify::Fault;
use throng_goto::Query;
use throng_goto_check::abstraction::certificate::{Document, check, document};
use throng_goto_check::abstraction::cube::{Cube, Side, edge};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, Reading};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::variables::{INPUT, OTHER};
use throng_model::limits::Limits;

const MAIN: &str = "
int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, thread, 0); } }
";

fn load(text: &str) -> Query {
    crate::testing::load(&format!("{text}{MAIN}"))
}

fn proved(loaded: &Query) -> Document {
    match attempt(&loaded.program, &[], &limits(), &mut |_| {}) {
        Ok((graph, Ended::Proved(proof))) => document(loaded, &graph, &proof.evidence),
        Ok((graph, Ended::Found(run, _))) => panic!("a run, violation: {}", is_violation(&graph, &run)),
        Err(why) => panic!("no proof: {why}"),
    }
}

/// The same without the facts that come before: these alone would do for small programs.
fn proved_by_predicates(loaded: &Query) -> Document {
    let reading = Reading { trusting: false, summarising: true, counting: false };
    let graph = Graph::of(&loaded.program, reading).expect("there is a graph");
    match prove(&loaded.program, &graph, &[], &Facts::none(&graph), &limits(), &mut |_| {}) {
        Ok(Ended::Proved(proof)) => document(loaded, &graph, &proof.evidence),
        _ => panic!("no proof"),
    }
}

fn breaks(text: &str) {
    let loaded = load(text);
    match attempt(&loaded.program, &[], &limits(), &mut |_| {}) {
        Ok((graph, Ended::Found(run, _))) => assert!(is_violation(&graph, &run)),
        Ok((_, Ended::Proved(_))) => panic!("this is not safe, and was proved"),
        Err(why) => panic!("no answer: {why}"),
    }
}

const COUNTER: &str = "unsigned value, m;
void lock(void) { __VERIFIER_atomic_begin(); __VERIFIER_assume(m == 0); m = 1; __VERIFIER_atomic_end(); }
void *thread(void *arg) {
  lock();
  if (value == 4294967295u) { m = 0; return 0; }
  unsigned v = value;
  value = v + 1;
  m = 0;
  if (!(value > v)) reach_error();
  return 0;
}";

#[test]
fn a_counter_of_32_bits_grows_for_any_number_of_threads() {
    let loaded = load(COUNTER);
    for certificate in [proved(&loaded), proved_by_predicates(&loaded)] {
        assert!(!certificate.trusts_bounds);
        let checked = check(&loaded, &certificate, &limits()).expect("it stands");
        let by_facts = !certificate.facts.impossible.is_empty();
        assert!(by_facts || checked.predicates > 0 && checked.facts > 0);
    }
}

/// The run of the second needs more than four thousand million threads.
#[test]
fn without_the_lock_or_where_it_wraps_around_the_counter_is_not_proved() {
    for (part, instead) in
        [("__VERIFIER_assume(m == 0);", ""), ("if (value == 4294967295u) { m = 0; return 0; }", "")]
    {
        let loaded = load(&COUNTER.replace(part, instead));
        let done = attempt(&loaded.program, &[], &limits(), &mut |_| {});
        assert!(!matches!(done, Ok((_, Ended::Proved(_)))), "{part}");
    }
}

#[test]
fn an_unlocked_section_breaks() {
    breaks(
        "int inside;
         void *thread(void *arg) {
           inside = inside + 1;
           if (inside != 1) reach_error();
           inside = inside - 1;
           return 0;
         }",
    );
}

/// A thread that waits for what never comes has done what came before.
#[test]
fn a_thread_that_is_stuck_has_released_its_lock() {
    breaks(
        "int count, m;
         void *thread(void *arg) {
           int signalled = 0;
           __VERIFIER_atomic_begin(); __VERIFIER_assume(m == 0); m = 1; __VERIFIER_atomic_end();
           count = count + 1;
           if (count != 2) { m = 0; __VERIFIER_assume(signalled); }
           else { m = 0; reach_error(); }
           return 0;
         }",
    );
}

#[test]
fn accesses_to_arrays_are_part_of_the_proof_or_named() {
    let inside = load(
        "int a[3];
         void *thread(void *arg) {
           int i = __VERIFIER_nondet_int();
           __VERIFIER_assume(i >= 0 && i < 3);
           if (a[i] != 0) reach_error();
           return 0;
         }",
    );
    assert!(!proved(&inside).trusts_bounds);
    // Exact values refute it, so that it is not taken for granted.
    let outside = load(
        "int a[3], b = 1;
         void *thread(void *arg) {
           int i = __VERIFIER_nondet_int();
           if (a[i] != 0) reach_error();
           return 0;
         }",
    );
    let ended = attempt(&outside.program, &[], &limits(), &mut |_| {});
    assert!(matches!(ended, Ok((_, Ended::Found(..)))));
    // The graph does not know that the thread that is waited for has ended.
    let later = crate::testing::load(
        "int pthread_join(pthread_t t, void **result);
         int a[3], i = 7;
         void *thread(void *arg) { i = 0; return 0; }
         int main(void) {
           pthread_t t;
           pthread_create(&t, 0, thread, 0);
           pthread_join(t, 0);
           if (a[i] != 0) reach_error();
           return 0;
         }",
    );
    assert!(proved(&later).trusts_bounds);
}

fn rejected(loaded: &Query, certificate: &Document) {
    match check(loaded, certificate, &limits()) {
        Err(Fault::Invalid(_)) => {}
        Err(fault) => panic!("{fault}"),
        Ok(_) => panic!("a changed certificate was accepted"),
    }
}

#[test]
fn a_changed_certificate_is_rejected() {
    let loaded = load(COUNTER);
    let good = proved_by_predicates(&loaded);
    let mut dropped = good.clone();
    dropped.predicates.pop();
    rejected(&loaded, &dropped);
    let mut swapped = good.clone();
    swapped.predicates.swap(0, 1);
    rejected(&loaded, &swapped);
    let mut about = good.clone();
    about.safe = vec!["race".into()];
    rejected(&loaded, &about);
    let broken = load(&COUNTER.replace("__VERIFIER_assume(m == 0);", ""));
    rejected(&broken, &good);
    // That it is about another program is not all that keeps it from being accepted.
    let own = proved(&load(&COUNTER.replace("value == 4294967295u", "value == 4294967294u")));
    let mut forged = good.clone();
    forged.program = own.program;
    rejected(&broken, &forged);
    let mut impossible = good.clone();
    impossible.never[0] = vec![Vec::new()];
    rejected(&loaded, &impossible);
}

/// Returns whether some step along an edge, tried with small numbers, satisfies all literals of a
/// cube.
fn some_step_satisfies(graph: &Graph, list: &[Predicate], n: usize, cube: &Cube) -> bool {
    let e = edge(graph, n);
    let mut seed = 7u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as i64
    };
    (0..3000).any(|_| {
        let mut now: FxHashMap<u32, i64> = FxHashMap::default();
        for id in 0..graph.variables.list.len() as u32 {
            for (id, ty) in [(id, graph.variables.ty(id)), (id + OTHER, graph.variables.ty(id))] {
                now.insert(id, ty.wrap([random() % 3, random() % 3 - 1][random() as usize % 2]));
            }
        }
        for (k, ty) in e.inputs.iter().enumerate() {
            now.insert(INPUT + k as u32, ty.wrap(random() % 3));
        }
        if !e.guard.iter().all(|g| eval(g, &now).is_some_and(|v| v != 0)) {
            return false;
        }
        let mut then = now.clone();
        for (id, x) in &e.updates {
            let Some(v) = eval(x, &now) else { return false };
            then.insert(*id, v);
        }
        cube.iter().all(|&(p, side, value)| {
            let p = &list[p as usize];
            let (expr, values) = match side {
                Side::Before => (p.expr.clone(), &now),
                Side::After => (p.expr.clone(), &then),
                Side::OtherBefore => (p.of_other(&graph.variables), &now),
                Side::OtherAfter => (p.of_other(&graph.variables), &then),
            };
            eval(&expr, values).is_some_and(|v| (v != 0) == value)
        })
    })
}

/// Certificates with one thing changed, and the edge that was changed: a predicate or a fact about
/// a place dropped, predicates swapped, facts about edges dropped, shortened, negated, or exchanged
/// with those of the edge before.
fn changed_ones(good: &Document) -> Vec<(Document, Option<usize>)> {
    let mut found = Vec::new();
    let mut change = |edge: Option<usize>, act: &dyn Fn(&mut Document)| {
        let mut changed = good.clone();
        act(&mut changed);
        found.push((changed, edge));
    };
    for k in 0..good.predicates.len() {
        change(None, &|d| _ = d.predicates.remove(k));
        (0..k).for_each(|other| change(None, &|d| d.predicates.swap(k, other)));
    }
    for (k, (_, facts)) in good.facts.at.iter().enumerate() {
        (0..facts.len()).for_each(|i| change(None, &|d| _ = d.facts.at[k].1.remove(i)));
    }
    for (n, cubes) in good.never.iter().enumerate() {
        for (k, cube) in cubes.iter().enumerate() {
            change(Some(n), &|d| _ = d.never[n].remove(k));
            for l in (0..cube.len()).filter(|l| (l + k) % 3 == 0) {
                change(Some(n), &|d| d.never[n][k][l].2 ^= true);
                change(Some(n), &|d| _ = d.never[n][k].remove(l));
            }
        }
        if n > 0 && cubes != &good.never[n - 1] {
            change(Some(n), &|d| d.never.swap(n, n - 1));
        }
    }
    found
}

/// Each changed certificate, or so many of them, is rejected; or every fact in it holds, as trying
/// steps confirms, and the proof needs no more. How many were rejected, and how many were tried.
fn rejected_or_true(loaded: &Query, most: usize) -> Option<(usize, usize)> {
    // What is not proved soon is left out: some predicates never end.
    let limits = Limits::none().timeout(Duration::from_secs(20));
    let Ok((graph, Ended::Proved(proof))) = attempt(&loaded.program, &[], &limits, &mut |_| {}) else {
        return None;
    };
    let good = document(loaded, &graph, &proof.evidence);
    assert!(check(loaded, &good, &self::limits()).is_ok());
    let list: Vec<Predicate> = good.predicates.iter().filter_map(|p| p.predicate(&graph)).collect();
    assert_eq!(list.len(), good.predicates.len());
    let is_false = |n: usize, c: &Cube| !c.is_empty() && some_step_satisfies(&graph, &list, n, c);
    for (n, cubes) in good.never.iter().enumerate().filter(|(n, _)| !good.facts.impossible.contains(n)) {
        for (k, cube) in cubes.iter().enumerate() {
            assert!(!is_false(n, cube), "fact {k} about edge {n}");
        }
    }
    let changed = changed_ones(&good);
    let step = changed.len().div_ceil(most).max(1);
    let (mut refused, mut all) = (0, 0);
    for (mutant, edge) in changed.into_iter().step_by(step) {
        all += 1;
        match (check(loaded, &mutant, &self::limits()), edge) {
            (Err(_), _) => refused += 1,
            // What a place does not need any more was not needed.
            (Ok(_), None) => assert_eq!(mutant.predicates.len(), good.predicates.len()),
            (Ok(_), Some(n)) => {
                let known = good.facts.impossible.contains(&n);
                let wrong = mutant.never[n].iter().filter(|c| !known && is_false(n, c)).count();
                assert_eq!(wrong, 0, "a mutant with a false fact about edge {n} was accepted");
            }
        }
    }
    Some((refused, all))
}

#[test]
fn every_mutant_of_a_certificate_is_rejected_or_true() {
    let (refused, all) = rejected_or_true(&load(COUNTER), usize::MAX).expect("there is a proof");
    assert!(refused * 2 > all, "{refused} of {all}");
}

/// The same for the examples, each asked as its first line says.
#[test]
fn mutants_of_the_certificates_of_examples_are_rejected_or_true() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let (mut read, mut proved, mut refused, mut all) = (0, 0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        let others = ["--deadlock", "--race", "--stuck", "--starvation"];
        if !first.ends_with(": SAFE") || others.iter().any(|other| first.contains(other)) {
            continue;
        }
        let mut options = Options::default();
        let entry = first.split_once("--entry ").and_then(|e| e.1.split(' ').next());
        options.question.entries = entry.map(str::to_string).into_iter().collect();
        // Without a preprocessor, there is nothing to read.
        let Ok(loaded) = throng_c::load(&path, &options) else { continue };
        read += 1;
        if let Some((no, tried)) = rejected_or_true(&loaded.query, 30) {
            (proved, refused, all) = (proved + 1, refused + no, all + tried);
        }
    }
    assert!(
        read == 0 || proved > 3 && refused * 3 > all,
        "{read} read, {proved} proved, {refused} of {all} rejected"
    );
}
