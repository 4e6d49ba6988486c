//! Facts that prove programs without any predicate; facts that do not hold and are refused.

use std::time::Duration;

use super::{Shown, find};
use crate::guarded::guarded;
use crate::prove::{Ended, prove};
use crate::readings::attempt;
use crate::tallies::tallied;
use crate::testing::{limits, load};
use throng_goto::Query;
use throng_goto_check::abstraction::certificate::{self, Document};
use throng_goto_check::abstraction::facts::{Facts, check};
use throng_goto_check::abstraction::graph::{Graph, Reading, To};

fn proved(loaded: &Query) -> Option<Document> {
    match attempt(&loaded.program, &[], &limits().timeout(Duration::from_secs(600)), &mut |_| {}) {
        Ok((graph, Ended::Proved(proof))) => Some(certificate::document(loaded, &graph, &proof.evidence)),
        Ok((_, Ended::Found(..))) | Err(_) => None,
    }
}

fn graph_of(loaded: &Query, summarising: bool) -> Graph {
    let reading = Reading { trusting: false, summarising, counting: false };
    Graph::of(&loaded.program, reading).expect("it has a graph")
}

/// Each of 50 threads makes `x` larger by one at most, whatever the others do in between.
const ADDING: &str = "int x;
void *adds(void *arg) { int t = x; x = t + 1; return 0; }
void *looks(void *arg) { if (x > 50) reach_error(); return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, looks, 0);
  for (int i = 0; i < 50; i++) pthread_create(&t, 0, adds, 0);
  return 0;
}";

#[test]
fn threads_are_counted() {
    let loaded = load(ADDING);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(certificate.counts_threads && certificate.predicates.is_empty());
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    // One thread more, one value less, or a second addition: all of these are violations.
    for (part, instead) in [
        ("i < 50", "i <= 50"),
        ("x > 50", "x > 49"),
        ("x = t + 1;", "x = t + 2;"),
        ("x = t + 1;", "x = t + 1; t = x; x = t + 1;"),
    ] {
        assert!(proved(&load(&ADDING.replace(part, instead))).is_none(), "{instead}");
    }
}

/// A stack that is pushed to as often as it has room, and popped from by others, under a lock.
const STACK: &str = "int top, m;
void lock(void) { __VERIFIER_atomic_begin(); __VERIFIER_assume(m == 0); m = 1; __VERIFIER_atomic_end(); }
void *pops(void *arg) { while (1) { lock(); if (top > 0) top = top - 1; m = 0; } }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, pops, 0);
  pthread_create(&t, 0, pops, 0);
  for (int i = 0; i < 400; i++) {
    lock();
    if (top == 400) reach_error();
    top = top + 1;
    m = 0;
  }
  return 0;
}";

#[test]
fn a_lock_keeps_variables_together() {
    let loaded = load(STACK);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(!certificate.counts_threads && certificate.predicates.is_empty());
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    let broken = [
        ("i < 400", "i <= 400"),
        ("m == 0", "m <= 1"),
        // Without the test, it may become negative, but not too large.
        ("top == 400", "top == -1"),
    ];
    for (part, instead) in broken {
        let text = STACK.replace(part, instead).replace(
            "if (top > 0)",
            match instead {
                "top == -1" => "",
                _ => "if (top > 0)",
            },
        );
        assert!(proved(&load(&text)).is_none(), "{instead}");
    }
}

#[test]
fn facts_that_do_not_hold_are_refused() {
    let loaded = load(STACK);
    let graph = graph_of(&loaded, true);
    let facts =
        find(&loaded.program, &graph, &[], &mut Shown::default(), &limits()).expect("there are facts");
    let stands = |facts: &Facts| check(&loaded.program, &graph, facts, &limits()).expect("in time").is_none();
    assert!(facts.rule_all_out(&graph) && stands(&facts));
    let (mut tried, mut refused) = (0, 0);
    for place in 0..facts.at.len() {
        for k in 0..facts.at[place].len() {
            // Most of those that are kept are needed by another one, or to rule a violation out;
            // without any other, the rest still stands.
            let mut fewer = facts.clone();
            fewer.at[place].remove(k);
            tried += 1;
            refused += usize::from(!stands(&fewer));
        }
    }
    assert!(tried > 5 && refused * 2 > tried, "{refused} of {tried}");
    // What contradicts a fact of a place does not hold there: threads come to each of them.
    for place in 0..facts.at.len() {
        let Some(&known) = facts.at[place].first() else { continue };
        let e = &facts.predicates[known as usize];
        let opposite = throng_goto_check::abstraction::predicate::Predicate {
            expr: throng_goto_check::abstraction::simplify::negate(e.expr.clone()),
            ..e.clone()
        };
        let mut false_one = facts.clone();
        false_one.predicates.push(opposite);
        false_one.at[place].push(facts.predicates.len() as u32);
        assert!(!stands(&false_one), "place {place}");
    }
    for n in (0..graph.edges.len()).filter(|n| !matches!(graph.edges[*n].to, To::Fail(..))) {
        let mut bold = facts.clone();
        bold.impossible.push(n);
        assert!(!stands(&bold), "edge {n}");
    }
}

/// What is stored in an array is small, so what is read from it is, whatever the place.
const SMALL: &str = "int a[100];
void *writes(void *arg) {
  while (1) { unsigned k; int v; __VERIFIER_assume(k < 100); __VERIFIER_assume(v >= 0 && v < 5); a[k] = v; }
}
int main(void) {
  pthread_t t;
  while (1) { unsigned k; pthread_create(&t, 0, writes, 0); __VERIFIER_assume(k < 100); if (a[k] > 4) reach_error(); }
}";

/// Returns whether facts alone rule all violations out, and the second encoder agrees.
fn ruled_out(text: &str) -> bool {
    let loaded = load(text);
    let graph = graph_of(&loaded, true);
    let facts =
        find(&loaded.program, &graph, &[], &mut Shown::default(), &limits()).expect("facts are found");
    assert_eq!(check(&loaded.program, &graph, &facts, &limits()), Ok(None), "{text}");
    facts.rule_all_out(&graph)
}

#[test]
fn all_elements_of_an_array_are_known() {
    assert!(ruled_out(SMALL));
    let atomically = |text: &str| format!("__VERIFIER_atomic_begin(); {text} __VERIFIER_atomic_end();");
    for (part, instead) in [
        ("v < 5", "v < 6".to_string()),
        ("int a[100];", "int a[100] = {0, 9};".to_string()),
        // An element with a name.
        ("a[k] = v;", "a[k] = v; a[3] = 5;".to_string()),
        // Two elements in one step: the second is small.
        ("a[k] = v;", atomically("a[k] = 7; a[k / 2] = v;")),
        // What was stored in the same step is read.
        ("a[k] = v;", atomically("a[k] = 9; if (a[k] > 4) reach_error(); a[k] = 0;")),
        // Parts of two elements.
        ("a[k] = v;", "*(int *)((char *)a + k) = v;".to_string()),
        // Through a pointer that may be to another array.
        ("a[k] = v;", "int b[100]; int *p = v ? a : b; p[k] = 9;".to_string()),
    ] {
        assert!(SMALL.contains(part) && !ruled_out(&SMALL.replace(part, &instead)), "{instead}");
    }
}

#[test]
fn a_fact_about_elements_that_is_not_kept_is_refused() {
    let loaded = load(SMALL);
    let graph = graph_of(&loaded, true);
    let facts =
        find(&loaded.program, &graph, &[], &mut Shown::default(), &limits()).expect("facts are found");
    assert!(facts.rule_all_out(&graph));
    // The same facts about a program that stores larger values.
    let larger = load(&SMALL.replace("v < 5", "v < 6"));
    let graph = graph_of(&larger, true);
    assert!(check(&larger.program, &graph, &facts, &limits()).expect("it is checked").is_some());
}

/// A thread that comes back to where it was alone is not alone there any more. (No random run shows
/// that here.)
#[test]
fn a_loop_that_starts_threads_is_not_before_them() {
    let text = "int x, y;
void *f(void *p) { int d = __VERIFIER_nondet_int() - __VERIFIER_nondet_int(); if (d == 123456) x = 5; return 0; }
int main(void) {
  pthread_t t;
  while (1) {
    x = 0;
    if (x != 0) reach_error();
    pthread_create(&t, 0, f, 0);
    y = 1;
    y = 2;
  }
}";
    assert!(!ruled_out(text));
    // Without the loop, it is.
    assert!(ruled_out(&text.replace("while (1)", "")));
}

/// What `never` says about steps that store somewhere in an array is no fact about the element that
/// a variable stands for.
#[test]
fn the_abstraction_is_not_about_any_element() {
    let loaded = load(SMALL);
    let mut certificate = proved(&loaded).expect("it is proved");
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    let of_any = certificate.facts.predicates.iter().find(|p| p.text.contains("[any]"));
    let of_any = of_any.expect("it takes a fact about elements").clone();
    certificate.predicates.push(of_any);
    let why = certificate::check(&loaded, &certificate, &limits()).expect_err("it is refused");
    assert!(why.to_string().contains("any element"), "{why}");
}

/// A ticket lock: two threads never have the same ticket, so only one is served.
const TICKETS: &str = "unsigned next, serving, inside;
void *worker(void *arg) {
  while (1) {
    unsigned my;
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(next != -1);
    my = next; next = next + 1;
    __VERIFIER_atomic_end();
    while (serving != my) {}
    inside = 1; if (inside != 1) reach_error(); inside = 0;
    serving = serving + 1;
  }
}
int main(void) { pthread_t t; while (1) pthread_create(&t, 0, worker, 0); }";

#[test]
fn tickets_differ() {
    let loaded = load(TICKETS);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(!certificate.facts.apart.is_empty() && certificate.predicates.is_empty());
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    // The first thread is one of them.
    let with_main = TICKETS.replace(
        "while (1) pthread_create(&t, 0, worker, 0);",
        "while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0); worker(0);",
    );
    assert!(ruled_out(&with_main));
    for (part, instead) in [
        // Tickets wrap around: more threads than there are numbers share some.
        ("__VERIFIER_assume(next != -1);", ""),
        // Two threads draw at the same time.
        ("__VERIFIER_atomic_end();", ""),
        ("my = next; next = next + 1;", "my = next; if (__VERIFIER_nondet_int()) next = next + 1;"),
        ("my = next; next = next + 1;", "my = next / 2; next = next + 1;"),
        ("my = next; next = next + 1;", "my = next; next = next + 1; if (__VERIFIER_nondet_int()) my = 0;"),
        ("my = next; next = next + 1;", "my = next; next = 1;"),
        // Two are served, or the next one too early, or one that was not yet there.
        ("serving != my", "serving != my && serving + 1 != my"),
        ("inside = 1;", "serving = serving + 1; inside = 1;"),
        ("serving = serving + 1;", "serving = serving + 1; serving = serving + 1;"),
        // A ticket changes afterwards.
        ("while (serving != my) {}", "while (serving != my) { if (__VERIFIER_nondet_int()) my = my + 1; }"),
        ("while (serving != my) {}", "while (serving != my) { my = serving; }"),
        // Someone else hands tickets out again.
        ("pthread_create(&t, 0, worker, 0);", "{ next = 0; pthread_create(&t, 0, worker, 0); }"),
        ("pthread_create(&t, 0, worker, 0);", "{ pthread_create(&t, 0, worker, 0); next = serving; }"),
    ] {
        assert!(TICKETS.contains(part), "{part}");
        let text = TICKETS.replace(part, instead);
        // What opens a section has to close it.
        let text = if instead.is_empty() && part.contains("end") {
            text.replace("__VERIFIER_atomic_begin();", "")
        } else {
            text
        };
        assert!(!ruled_out(&text), "{instead}");
    }
}

#[test]
fn facts_about_two_threads_that_do_not_hold_are_refused() {
    let loaded = load(TICKETS);
    let graph = graph_of(&loaded, false);
    let facts =
        find(&loaded.program, &graph, &[], &mut Shown::default(), &limits()).expect("facts are found");
    let stands = |facts: &Facts| check(&loaded.program, &graph, facts, &limits()).expect("in time").is_none();
    assert!(facts.rule_all_out(&graph) && stands(&facts) && !facts.apart.is_empty());
    // All of them are needed, for another one or to rule the violation out.
    for k in 0..facts.apart.len() {
        let mut fewer = facts.clone();
        fewer.apart.remove(k);
        assert!(!stands(&fewer), "{:?}", facts.apart[k]);
    }
    let (p, q, a, b) = facts.apart[0];
    // No other variable of these threads differs there, and none that is shared or another
    // template's is theirs.
    for v in (0..graph.variables.list.len() as u32).filter(|v| *v != a) {
        let mut bold = facts.clone();
        bold.apart.push((p, q, v, b));
        assert!(!stands(&bold), "{v}");
    }
    // Where threads begin they have no tickets.
    for (entry, _) in &graph.entries {
        let mut bold = facts.clone();
        bold.apart.push((*entry, q, a, b));
        assert!(!stands(&bold), "{entry}");
    }
    for wrong in [
        (99, q, a, b),
        (p, 99, a, b),
        (p, q, 99_999, b),
        (p, q, a, a + throng_goto_check::abstraction::variables::OTHER),
    ] {
        let mut bold = facts.clone();
        bold.apart.push(wrong);
        assert!(!stands(&bold), "{wrong:?}");
    }
    // The same facts about a program in which tickets may be the same.
    let shared = load(&TICKETS.replace("__VERIFIER_assume(next != -1);", ""));
    let graph = graph_of(&shared, false);
    assert!(check(&shared.program, &graph, &facts, &limits()).expect("it is checked").is_some());
}

/// The first thread draws a ticket, too, into a variable whose address is taken: memory that others
/// might write.
const POINTED: &str = "unsigned next, serving, inside;
void draw(unsigned *to) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(next != -1);
  *to = next; next = next + 1;
  __VERIFIER_atomic_end();
}
void *worker(void *arg) {
  unsigned my;
  draw(&my);
  while (serving != my) {}
  inside = 1; if (inside != 1) reach_error(); inside = 0;
  serving = serving + 1;
  return 0;
}
int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, worker, 0); worker(0); return 0; }";

#[test]
fn a_shared_ticket_of_one_thread_differs_from_all_others() {
    assert!(ruled_out(POINTED));
    // A thread that keeps its ticket where others see it.
    let seen = POINTED
        .replace("void draw", "unsigned ticket; void draw")
        .replace("worker(0);", "draw(&ticket); while (serving != ticket) {} inside = 1; if (inside != 1) reach_error(); inside = 0; serving = serving + 1;");
    assert!(ruled_out(&seen));
    for (text, part, instead) in [
        (POINTED, "__VERIFIER_assume(next != -1);", ""),
        (
            POINTED,
            "*to = next; next = next + 1;",
            "*to = next; if (__VERIFIER_nondet_int()) next = next + 1;",
        ),
        // Another thread writes the variable, or may do so.
        (&seen, "unsigned my;", "unsigned my; if (__VERIFIER_nondet_int()) ticket = serving;"),
        (&seen, "unsigned my;", "unsigned my; if (__VERIFIER_nondet_int()) ticket = ticket + 1;"),
        (&seen, "serving = serving + 1;\n", "serving = serving + 1; ticket = my + 1;\n"),
        // Two threads have it.
        (&POINTED.replace("void draw", "unsigned my; void draw"), "unsigned my;\n  draw", "draw"),
        // Its owner changes it.
        (&seen, "while (serving != ticket) {}", "ticket = serving;"),
    ] {
        assert!(text.contains(part), "{part}");
        assert!(!ruled_out(&text.replace(part, instead)), "{part}: {instead}");
    }
}

/// A thread waits until its ticket is served; both numbers may wrap around.
const SERVED: &str = "unsigned next, serving; int inside;
void *worker(void *arg) {
  while (1) {
    __VERIFIER_atomic_begin(); unsigned mine = next; next = mine + 1; __VERIFIER_atomic_end();
    while (serving != mine) { }
    inside = inside + 1;
    if (inside != 1) reach_error();
    inside = inside - 1;
    serving = mine + 1;
  }
}
int main(void) { pthread_t t; while (1) pthread_create(&t, 0, worker, 0); }";

#[test]
fn a_ticket_lock_is_proved_though_its_numbers_wrap_around() {
    let loaded = load(SERVED);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(certificate.bounded.is_empty() && !certificate.tallies.is_empty());
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    let without = |change: &dyn Fn(&mut Document)| {
        let mut document = certificate.clone();
        change(&mut document);
        certificate::check(&loaded, &document, &limits()).is_err()
    };
    assert!(without(&|d| d.facts.apart.clear()));
    assert!(without(&|d| d.tallies.clear()));
    assert!(without(&|d| d.facts.at.iter_mut().for_each(|f| f.1.truncate(1))));
}

#[test]
fn tickets_that_two_threads_may_draw_are_not_proved() {
    let broken = SERVED.replace("__VERIFIER_atomic_begin(); ", "").replace("__VERIFIER_atomic_end();", "");
    assert!(proved(&load(&broken)).is_none());
}

/// A reader counts itself and looks for a writer, a writer says that it is there and looks for
/// readers.
const READERS: &str = "int writing, readers, data, copy;
void enter(void) { __VERIFIER_atomic_begin(); readers = readers + 1; __VERIFIER_atomic_end(); }
void leave(void) { __VERIFIER_atomic_begin(); readers = readers - 1; __VERIFIER_atomic_end(); }
void *reader(void *arg) {
  enter();
  if (writing == 0) { if (data != copy) reach_error(); }
  leave();
  return 0;
}
void *writer(void *arg) {
  __VERIFIER_atomic_begin(); __VERIFIER_assume(writing == 0); writing = 1; __VERIFIER_atomic_end();
  while (readers != 0) { }
  data = 1 - data; copy = 1 - copy;
  writing = 0;
  return 0;
}
int main(void) {
  pthread_t t;
  while (1) { pthread_create(&t, 0, reader, 0); pthread_create(&t, 0, writer, 0); }
}";

#[test]
fn places_that_exclude_each_other_are_proved_and_checked() {
    let loaded = load(READERS);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    let excluded = certificate.facts.apart.clone();
    assert!(!excluded.is_empty() && excluded.iter().all(|f| f.2 == f.3));
    let mut fewer = certificate.clone();
    fewer.facts.apart.clear();
    assert!(certificate::check(&loaded, &fewer, &limits()).is_err());
    // Places that do not exclude each other, among them those at which threads begin.
    let places = graph_of(&loaded, true).places.len();
    let shared = excluded[0].2;
    for fact in (0..places).map(|p| (p, p, shared, shared)).filter(|f| !excluded.contains(f)) {
        let mut more = certificate.clone();
        more.facts.apart.push(fact);
        let held = certificate::check(&loaded, &more, &limits()).is_ok();
        assert!(!held || is_alone(&loaded, fact.0), "{fact:?}");
    }
    for (part, instead) in [("while (readers != 0) { }", ""), ("enter();", ""), ("if (writing == 0)", "")] {
        assert!(proved(&load(&READERS.replacen(part, instead, 1))).is_none(), "{part}");
    }
}

/// Whether a place is one that one thread at a time comes to: of the writer, or of the first thread.
fn is_alone(loaded: &Query, place: usize) -> bool {
    let template = graph_of(loaded, true).places[place].template;
    loaded.program.templates[template].name != "reader"
}

/// A reader that sees the same even version before and after has seen one write.
const VERSIONS: &str = "unsigned version; int lock, a, b;
void more(void) { __VERIFIER_atomic_begin(); version = version + 1; __VERIFIER_atomic_end(); }
void *writer(void *arg) {
  while (1) {
    __VERIFIER_atomic_begin(); __VERIFIER_assume(lock == 0); lock = 1; __VERIFIER_atomic_end();
    more();
    a = a + 1;
    b = b + 1;
    more();
    lock = 0;
  }
}
void *reader(void *arg) {
  unsigned before = version;
  __VERIFIER_assume((before & 1) == 0);
  int x = a, y = b;
  __VERIFIER_assume(version == before);
  if (x != y) reach_error();
  return 0;
}
int main(void) {
  pthread_t t;
  while (1) { pthread_create(&t, 0, reader, 0); pthread_create(&t, 0, writer, 0); }
}";

/// A proof where counters are taken not to wrap around.
fn proved_with_bounds(loaded: &Query) -> Option<Document> {
    let (program, limits) = (&*loaded.program, limits());
    let graph = graph_of(loaded, true).with_bounds(program)?;
    let (graph, mut offered) = tallied(program, &graph, &limits).ok()?.unwrap_or((graph, Vec::new()));
    offered.extend(guarded(&graph));
    let facts = find(program, &graph, &offered, &mut Shown::default(), &limits).ok()?;
    match prove(program, &graph, &[], &facts, &limits, &mut |_| {}) {
        Ok(Ended::Proved(proof)) if facts.rule_all_out(&graph) => {
            Some(certificate::document(loaded, &graph, &proof.evidence))
        }
        _ => None,
    }
}

#[test]
fn versions_are_taken_not_to_wrap_around_and_the_certificate_says_so() {
    let loaded = load(VERSIONS);
    let certificate = proved_with_bounds(&loaded).expect("it is proved");
    assert!(certificate.bounded.contains(&"version".to_string()));
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    for names in [vec![], vec!["lock".to_string()]] {
        let mut document = certificate.clone();
        document.bounded = names;
        assert!(certificate::check(&loaded, &document, &limits()).is_err());
    }
    for part in ["__VERIFIER_assume((before & 1) == 0);", "__VERIFIER_assume(version == before);"] {
        let broken = load(&VERSIONS.replace(part, ""));
        let graph = graph_of(&broken, true).with_bounds(&broken.program).expect("it counts");
        let offered = guarded(&graph);
        let facts =
            find(&broken.program, &graph, &offered, &mut Shown::default(), &limits()).expect("there is time");
        assert!(!facts.rule_all_out(&graph), "{part}");
    }
}

/// A number that is not a counter wraps around in one step.
#[test]
fn only_counters_are_taken_not_to_wrap_around() {
    let text = "unsigned x; int unknown(void);
void *f(void *arg) { unsigned mine = (unsigned)__VERIFIER_nondet_int(); x = mine + 1; if (x < mine) reach_error(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); }";
    assert!(graph_of(&load(text), true).with_bounds(&load(text).program).is_none());
    assert!(proved(&load(text)).is_none());
}

/// One object that is allocated and shared, one that each thread allocates for itself.
const ALLOCATED: &str = "void *malloc(unsigned long); void free(void *);
struct account { int lock, a, b; };
void *worker(void *arg) {
  struct account *o = arg;
  __VERIFIER_atomic_begin(); __VERIFIER_assume(o->lock == 0); o->lock = 1; __VERIFIER_atomic_end();
  o->a = o->a + 1; o->b = o->b + 1;
  if (o->a != o->b) reach_error();
  o->lock = 0;
  int *q = malloc(4);
  *q = 1;
  if (*q != 1) reach_error();
  FREE
  return 0;
}
int main(void) {
  pthread_t t;
  struct account *o = malloc(sizeof *o);
  o->lock = 0; o->a = 0; o->b = 0;
  while (1) pthread_create(&t, 0, worker, o);
}";

#[test]
fn allocated_objects_have_places() {
    let loaded = load(&ALLOCATED.replace("FREE", ""));
    let certificate = proved(&loaded).expect("it is proved");
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    // What is allocated at one place may have the address of what was allocated at another and freed.
    assert!(proved(&load(&ALLOCATED.replace("FREE", "free(q);"))).is_none());
    let misuses = [
        "free(q); if (*q != 1) reach_error();",
        "free(q); free(q);",
        "free(o);",
        "free(q); *q = 2;",
        "q[1] = 1;",
    ];
    for misuse in misuses {
        assert!(proved(&load(&ALLOCATED.replace("FREE", misuse))).is_none(), "{misuse}");
    }
    // Two objects are not one: what is allocated again has other contents.
    for (part, instead) in [
        ("*q = 1;", ""),
        ("o->b = 0;", ""),
        (
            "while (1) pthread_create(&t, 0, worker, o);",
            "while (1) { pthread_create(&t, 0, worker, o); o->a = 0; }",
        ),
        (
            "int *q = malloc(4);",
            "int *q, *p = 0; for (int i = 0; i < 2; i++) { q = malloc(4); if (p && *p != 1) reach_error(); *q = 1; p = q; *q = i; }",
        ),
    ] {
        assert!(proved(&load(&ALLOCATED.replace("FREE", "").replace(part, instead))).is_none(), "{instead}");
    }
}

/// Twenty threads, whose numbers are stored behind their creation.
const MANY: &str = "int x;
void *thread(void *arg) {
  __VERIFIER_atomic_begin(); x = x + 1; x = x - 1; __VERIFIER_atomic_end();
  if (x != 0) reach_error();
  return 0;
}
int main(void) {
  pthread_t t[20];
  for (int i = 0; i < 20; i++) pthread_create(&t[i], 0, thread, 0);
  return 0;
}";

#[test]
fn an_address_that_was_computed_before_a_creation_is_known_behind_it() {
    let loaded = load(MANY);
    let certificate = proved(&loaded).expect("it is proved");
    assert!(!certificate.trusts_bounds);
    assert!(certificate::check(&loaded, &certificate, &limits()).is_ok());
    // The last number is stored behind the array.
    let outside = proved(&load(&MANY.replace("i < 20", "i <= 20")));
    assert!(outside.is_none_or(|certificate| certificate.trusts_bounds));
}

#[test]
fn an_address_does_not_change_with_the_index_it_was_computed_from() {
    let text = |index: &str| {
        format!(
            "int a[2]; void *thread(void *arg) {{ return 0; }}
int main(void) {{
  pthread_t t; int k = 0; int *p = &a[k]; k = 1;
  pthread_create(&t, 0, thread, 0);
  *p = 7;
  if (a[{index}] == 7) reach_error();
  if (k != 1) reach_error();
  return 0;
}}"
        )
    };
    assert!(proved(&load(&text("0"))).is_none());
    assert!(proved(&load(&text("1"))).is_some());
}
