//! Certificates of searches: that they stand, and that none stands with one thing changed that
//! matters. Closed sets are found here by the simplest search; no engine is needed for that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use throng_c::Options;
use throng_check::certify::Fault;
use throng_goto::{Concrete, Query, Question};
use throng_goto_check::abstraction::certificate::identity;
use throng_goto_check::states::{Shown, certify, write};
use throng_lang::source::Source;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Unknown};
use throng_model::views::Views;
use throng_model::{Config, Incomplete, Local, Model, OMEGA, Shared, semantics};

const THREADS: &str = "typedef unsigned long pthread_t; void *malloc(unsigned long); void free(void *);
    int pthread_create(pthread_t *t, const void *a, void *(*f)(void *), void *arg);
    int pthread_join(pthread_t t, void **r); void reach_error(void); int __VERIFIER_nondet_int(void);
    typedef union { int a[10]; } pthread_mutex_t;
    int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
    pthread_mutex_t m, n; int x, y; int *p;
    ";

/// Two threads add under a lock, with allocated memory and local variables in play.
const ADDS: &str = "void *f(void *a) {
        int mine[2]; mine[0] = 1; mine[1] = mine[0] + *(int *)a;
        pthread_mutex_lock(&m); x = x + mine[1] - 1; pthread_mutex_unlock(&m);
        return 0;
    }
    int main(void) {
        pthread_t t, u; p = malloc(4); *p = 1;
        pthread_create(&t, 0, f, p); pthread_create(&u, 0, f, p);
        pthread_join(t, 0); pthread_join(u, 0); free(p);
        if (x != 2) reach_error();
    }";

/// As many threads as there is room for.
const MANY: &str = "void *f(void *a) { y = 1; return 0; }
    int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, f, 0); if (y > 1) reach_error(); } }";

fn load(text: &str, ask: fn(&mut Question)) -> Query {
    let mut options = Options::default();
    ask(&mut options.question);
    let text = format!("{THREADS}{text}");
    let loaded = throng_c::read(Source::new("test.c", &text), text.clone(), &options);
    loaded.map_err(|why| why.diagnostics).expect("this is C").query
}

/// Everything that is reached.
fn closed(query: &Query, model: &Arc<Concrete>, bound: Bound) -> Result<Vec<Config>, Incomplete> {
    let problem: Problem = query.problem_of(model.clone());
    let mut open = problem.initial.iter().flat_map(|i| i.of_size(1)).collect::<Vec<_>>();
    let mut found: BTreeSet<Config> = open.iter().cloned().collect();
    while let Some(config) = open.pop() {
        let mut after = Vec::new();
        semantics::successors(&**model, &config, bound.threads(), &mut after)?;
        open.extend(after.into_iter().map(|(_, c)| c).filter(|c| found.insert(c.clone())));
    }
    Ok(found.into_iter().collect())
}

fn proof(query: &Query, bound: Bound) -> Value {
    let model = query.model();
    let set = closed(query, &model, bound).expect("complete");
    written(query, &model, bound, &Certificate::Closed(Arc::new(set)))
}

fn written(query: &Query, model: &Concrete, bound: Bound, proof: &Certificate) -> Value {
    let names: Vec<String> = query.program.asked.iter().map(|&v| query.question.name(v)).collect();
    let deadlock = query.question.deadlock.then_some("deadlock");
    let names = names.iter().map(String::as_str).chain(deadlock);
    let proofs: Vec<_> = names.map(|name| (name, proof)).collect();
    let text = write(query, model, bound, &proofs).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

fn check(query: &Query, bound: Bound, document: &Value) -> Result<Shown, Fault> {
    certify(query, bound, document.to_string().as_bytes(), &Limits::none())
}

fn members(document: &mut Value) -> &mut Vec<Value> {
    document["proofs"][0]["evidence"]["closed"].as_array_mut().expect("a closed set")
}

#[test]
fn everything_that_is_reached_is_a_proof() {
    let query = load(ADDS, |_| {});
    let mut document = proof(&query, Bound::Any);
    let size = members(&mut document).len();
    let shown = check(&query, Bound::Any, &document).expect("valid");
    assert_eq!(shown.answers, [("assertions".to_string(), "closed", size)]);
    assert!(size > 40, "{size}");
    // Members by number are none by content: the order of the tables does not matter.
    let mut turned = document.clone();
    let last = turned["memories"].as_array().unwrap().len() - 1;
    turned["memories"].as_array_mut().unwrap().reverse();
    for member in members(&mut turned) {
        if let Some(n) = member[0].as_u64() {
            member[0] = json!(last as u64 - n);
        }
    }
    assert_eq!(check(&query, Bound::Any, &turned), Ok(shown));
}

#[test]
fn no_member_may_be_missing() {
    let query = load(ADDS, |_| {});
    let document = proof(&query, Bound::Any);
    for n in 0..members(&mut document.clone()).len() {
        let mut less = document.clone();
        members(&mut less).remove(n);
        let done = check(&query, Bound::Any, &less);
        assert!(matches!(done, Err(Fault::Invalid(_))), "{n}: {done:?}");
    }
}

/// Changes to what the states are: each takes some member away that is needed.
#[test]
fn states_are_what_the_document_says() {
    let query = load(ADDS, |_| {});
    let document = proof(&query, Bound::Any);
    let mut tried = 0;
    let mut refuse = |from: &str, path: &str, value: Value| {
        for n in 0..document[from].as_array().unwrap().len() {
            let mut other = document.clone();
            let Some(place) = other.pointer_mut(&format!("/{from}/{n}{path}")) else { continue };
            if *place == value {
                continue;
            }
            *place = value.clone();
            tried += 1;
            let done = check(&query, Bound::Any, &other);
            assert!(matches!(done, Err(Fault::Invalid(_) | Fault::Limit(_))), "{from} {n} {path}: {done:?}");
        }
    };
    for (path, value) in
        [("/fixed/0/1/0", json!(77)), ("/fixed/0/0", json!(1_000_000)), ("/ended/0", json!(5))]
    {
        refuse("memories", path, value);
    }
    refuse("memories", "/fixed/0/1/0", json!(999));
    refuse("memories", "/allocated/0", json!("freed"));
    for (path, value) in [
        ("/at", json!(0)),
        ("/at", json!(100_000)),
        ("/template", json!(9)),
        ("/number", json!(7)),
        ("/registers/0", json!(12345)),
        ("/registers", json!([])),
        ("/private/0/1/0", json!(3)),
        ("/held", json!([4])),
    ] {
        refuse("threads", path, value);
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn it_is_about_one_program_one_question_and_one_bound() {
    let bound = Bound::Threads(3);
    let query = load(MANY, |_| {});
    let document = proof(&query, bound);
    assert_eq!(check(&query, bound, &document).map(|shown| shown.answers.len()), Ok(1));
    assert!(matches!(check(&query, Bound::Threads(2), &document), Err(Fault::Invalid(_))));
    for other in [Bound::Any, Bound::Threads(4)] {
        assert!(matches!(check(&query, other, &document), Err(Fault::Invalid(_))));
        // Nor does it help to say so: the set is not closed then.
        let mut said = document.clone();
        match other.threads() {
            Some(n) => said["bound"] = json!(n),
            None => _ = said.as_object_mut().unwrap().remove("bound"),
        }
        assert!(matches!(check(&query, other, &said), Err(Fault::Invalid(_))));
    }
    for ask in [|q: &mut Question| q.race = true, |q: &mut Question| q.deadlock = true] {
        let query = load(MANY, ask);
        assert!(matches!(check(&query, bound, &document), Err(Fault::Invalid(_))));
        let mut said = document.clone();
        said["program"] = json!(identity(&query));
        assert!(matches!(check(&query, bound, &said), Err(Fault::Invalid(_))));
    }
    let other = load(&MANY.replace("y = 1", "y = 2"), |_| {});
    let mut said = document.clone();
    said["program"] = json!(identity(&other));
    for document in [&document, &said] {
        assert!(matches!(check(&other, bound, document), Err(Fault::Invalid(_))));
    }
    for (key, value) in
        [("version", json!(1)), ("version", json!(3)), ("format", json!("throng-c")), ("more", json!(1))]
    {
        let mut other = document.clone();
        other[key] = value;
        assert!(matches!(check(&query, bound, &other), Err(Fault::Unreadable(_))));
    }
    let mut silent = document.clone();
    silent["proofs"] = json!([]);
    assert!(matches!(check(&query, bound, &silent), Err(Fault::Invalid(_))));
}

/// A step that is not listed in full may lead anywhere.
#[test]
fn nothing_is_shown_where_steps_are_missing() {
    let text = "int main(void) { int v = __VERIFIER_nondet_int(); x = v * v; if (x == 3) reach_error(); }";
    let query = load(text, |_| {});
    let model = query.model();
    assert!(closed(&query, &model, Bound::Any).is_err());
    // What the model listed before it gave up.
    let mut found: BTreeSet<Config> = BTreeSet::new();
    let mut open: Vec<Config> = query.problem_of(model.clone()).initial.iter().map(|i| i.omega()).collect();
    while let Some(config) = open.pop().filter(|_| found.len() < 10_000) {
        let mut steps = Vec::new();
        for &(l, _) in config.threads.entries() {
            assert!(found.is_empty() || model.post(config.shared, l, &mut steps).is_err());
            model.post(config.shared, l, &mut steps).unwrap_err();
        }
        let mut after = Vec::new();
        for step in &steps {
            semantics::fire(&*model, &config, step, None, &mut after).expect("no bystanders");
        }
        found.insert(config);
        open.extend(after.into_iter().filter(|c| !found.contains(c)));
    }
    let all = Certificate::Closed(Arc::new(found.into_iter().collect()));
    let document = written(&query, &model, Bound::Any, &all);
    let done = check(&query, Bound::Any, &document);
    assert!(matches!(done, Err(Fault::Limit(Unknown::Inconclusive(_)))), "{done:?}");
}

#[test]
fn every_member_is_asked_whether_it_is_a_deadlock() {
    let ends = "void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); }";
    let query = load(ends, |q| q.deadlock = true);
    let document = proof(&query, Bound::Any);
    let shown = check(&query, Bound::Any, &document).expect("valid");
    assert_eq!(shown.answers[0].0, "deadlock");
    // A set that covers what is reached says nothing about deadlocks.
    let model = query.model();
    let set = Arc::new(closed(&query, &model, Bound::Any).expect("complete"));
    let covers = written(&query, &model, Bound::Any, &Certificate::Downward(set));
    assert!(matches!(check(&query, Bound::Any, &covers), Err(Fault::Invalid(_))));
    // A thread that keeps its lock for ever.
    let waits = ends.replace("pthread_mutex_unlock(&m);", "pthread_mutex_lock(&m);");
    let query = load(&waits, |q| q.deadlock = true);
    let done = check(&query, Bound::Any, &proof(&query, Bound::Any));
    assert!(matches!(&done, Err(Fault::Invalid(why)) if why.contains("deadlock")), "{done:?}");
}

#[test]
fn a_race_is_in_no_set() {
    let locked = "void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }";
    let query = load(locked, |q| q.race = true);
    let shown = check(&query, Bound::Any, &proof(&query, Bound::Any)).expect("valid");
    assert_eq!(shown.answers[0].0, "race");
    let racing = load(&locked.replace("{ pthread_mutex_lock(&m); x++", "{ x++"), |q| q.race = true);
    let model = racing.model();
    let set = closed(&racing, &model, Bound::Any).expect("complete");
    let (bad, good): (Vec<_>, Vec<_>) = set.into_iter().partition(|c| c.shared == model.failed(0));
    assert!(!bad.is_empty());
    let all = Certificate::Closed(Arc::new(bad));
    assert!(write(&racing, &model, Bound::Any, &[("race", &all)]).is_err());
    let document = written(&racing, &model, Bound::Any, &Certificate::Closed(Arc::new(good)));
    assert!(matches!(check(&racing, Bound::Any, &document), Err(Fault::Invalid(_))));
}

#[test]
fn views_and_sets_with_any_number_of_threads_are_proofs() {
    let query = load(MANY, |_| {});
    let model = query.model();
    let problem = query.problem_of(model.clone());
    let set = closed(&query, &model, Bound::Threads(4)).expect("complete");
    // Any number of threads wherever there may be two.
    let all = set.iter().map(|c| {
        let any = |&(l, n): &(_, u32)| (l, if n > 1 { OMEGA } else { n });
        Config::new(c.shared, c.threads.entries().iter().map(any).collect())
    });
    let all: BTreeSet<Config> = all.collect();
    let below = |a: &Config, b: &Config| a != b && a.is_below(b, &*problem.model);
    let largest: Vec<Config> = all.iter().filter(|a| !all.iter().any(|b| below(a, b))).cloned().collect();
    let document = written(&query, &model, Bound::Any, &Certificate::Downward(Arc::new(largest)));
    let shown = check(&query, Bound::Any, &document).expect("valid");
    assert_eq!(shown.answers[0].1, "downward");
    let mut found: BTreeMap<Shared, BTreeSet<Local>> = BTreeMap::new();
    let start = &problem.initial[0];
    found.entry(start.shared).or_default().extend(start.threads.entries().iter().map(|e| e.0));
    loop {
        let before = found.clone();
        for (&s, locals) in &before {
            let mut steps = Vec::new();
            locals.iter().for_each(|&l| model.post(s, l, &mut steps).expect("complete"));
            for step in steps {
                let then = found.entry(step.to).or_default();
                then.extend(locals);
                then.extend(step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0));
            }
        }
        if before == found {
            break;
        }
    }
    let singles = found.into_iter().map(|(s, locals)| (s, locals.into_iter().collect()));
    let views = Certificate::Views(Arc::new(Views::of_singles(singles)));
    let mut document = written(&query, &model, Bound::Any, &views);
    let shown = check(&query, Bound::Any, &document).expect("valid");
    assert_eq!(shown.answers[0].1, "views");
    document["proofs"][0]["evidence"]["views"].as_array_mut().unwrap().pop();
    assert!(matches!(check(&query, Bound::Any, &document), Err(Fault::Invalid(_))));
}
