//! What the graph of waiting threads says about deadlocks, and whether that is so: small programs,
//! and random ones against exhaustive search with up to four threads.
//!
//! `CASES=2000 SEED=1 cargo test -p throng-static --test deadlocks -- --nocapture` looks at more.

#![allow(clippy::print_stderr)]

mod common;

use std::fmt::Write;

use common::{DECLARATIONS, Random};
use throng_engine::Statistics;
use throng_engine::hunt::breadth_first::{Found, search};
use throng_goto::Query;
use throng_goto_check::documents::{certify, write_waits};
use throng_goto_check::races::Facts;
use throng_goto_check::races::order_of_waits;
use throng_goto_check::races::waits::Ordered;
use throng_model::deadlock::deadlocked;
use throng_model::limits::Limits;

fn query(text: &str) -> Query {
    let text = format!("{DECLARATIONS}{text}");
    let mut options = throng_c::Options::default();
    options.question.deadlock = true;
    let source = throng_lang::source::Source::new("a.i", &text);
    throng_c::read(source, text, &options).map_err(|r| r.diagnostics).expect("read").query
}

fn analysed(text: &str) -> (Query, Facts, Ordered) {
    let query = query(text);
    let facts = throng_static::analyse_waits(&query.program, &|| false).expect("facts");
    let found = order_of_waits(&query.program, &facts).unwrap_or_else(|why| panic!("{why}\n{text}"));
    (query, facts, found)
}

/// Returns whether deadlocks are ruled out; `None`: that is not known, and no circle was found.
fn ruled_out(text: &str) -> Option<bool> {
    match analysed(text).2 {
        Ordered::Yes { .. } => Some(true),
        Ordered::Circle(circle) => {
            assert!(!circle.is_empty());
            Some(false)
        }
        Ordered::No(_) => None,
    }
}

/// Returns whether a deadlock is found with up to four threads; `None`: not all was searched.
fn exhaustive(text: &str) -> Option<bool> {
    let query = query(text);
    let model = query.model();
    let problem = query.problem_of(model.clone());
    let is_it = |config: &_| Ok(deadlocked(&*model, config, None)?.is_some());
    match search(&problem, 4, 40_000, &Limits::none(), &mut Statistics::default(), is_it) {
        Found::Run(_) => Some(true),
        Found::Nothing(_, false, Ok(())) => Some(false),
        _ => None,
    }
}

const M: (&str, &str) = ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);");
const N: (&str, &str) = ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);");
const G: (&str, &str) = ("pthread_mutex_lock(&one.m);", "pthread_mutex_unlock(&one.m);");

fn within(lock: (&str, &str), inner: &str) -> String {
    format!("{} {inner} {}", lock.0, lock.1)
}

/// Two functions for threads, with these bodies, and `main`.
fn two(f: &str, g: &str, main: &str) -> String {
    format!(
        "void *f(void *v) {{ struct s *o = v; int c = __VERIFIER_nondet_int(); {f} return 0; }}
        void *g(void *v) {{ struct s *o = v; int c = __VERIFIER_nondet_int(); {g} return 0; }}
        int main(void) {{ {main} return 0; }}"
    )
}

const BOTH: &str = "threads(f, 0); threads(g, 0);";

#[test]
fn the_search_finds_what_is_there() {
    let (mn, nm) = (within(M, &within(N, "x++;")), within(N, &within(M, "x++;")));
    let start =
        "pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0);";
    assert_eq!(exhaustive(&two(&mn, &nm, start)), Some(true));
    assert_eq!(exhaustive(&two(&mn, &mn, start)), Some(false));
}

#[test]
fn an_order_and_what_keeps_circles_apart() {
    let (mn, nm) = (within(M, &within(N, "x++;")), within(N, &within(M, "x++;")));
    assert_eq!(ruled_out(&two(&mn, &mn, BOTH)), Some(true));
    assert_eq!(ruled_out(&two(&mn, &nm, BOTH)), Some(false));
    // A gate, at one of them and at both.
    assert_eq!(ruled_out(&two(&within(G, &mn), &nm, BOTH)), Some(false));
    assert_eq!(ruled_out(&two(&within(G, &mn), &within(G, &nm), BOTH)), Some(true));
    // Threads that never run at the same time.
    let start = |f: &str, between: &str, after: &str| {
        format!("{f} pthread_create(&t, 0, f, 0); {between} pthread_create(&u, 0, g, 0); {after}")
    };
    assert_eq!(ruled_out(&two(&mn, &nm, &start("", "", ""))), Some(false));
    assert_eq!(ruled_out(&two(&mn, &nm, &start("", "pthread_join(t, 0);", ""))), Some(true));
    assert_eq!(ruled_out(&two(&mn, &mn, &start(&nm, "", ""))), Some(true));
    assert_eq!(ruled_out(&two(&mn, &mn, &start("", &nm, ""))), Some(false));
    // One thread, once, is not in its own way.
    let one = format!("{mn} {nm}");
    assert_eq!(ruled_out(&two(&one, "", "pthread_create(&t, 0, f, 0);")), Some(true));
    assert_eq!(ruled_out(&two(&one, "", BOTH)), Some(false));
}

#[test]
fn waiting_for_the_end_of_a_thread() {
    let main =
        |lock: (&str, &str), join: &str| format!("pthread_create(&t, 0, f, 0); {} {join} {}", lock.0, lock.1);
    let body = within(M, "x++;");
    assert_eq!(ruled_out(&two(&body, "", &main(M, "pthread_join(t, 0);"))), Some(false));
    assert_eq!(ruled_out(&two(&body, "", &main(N, "pthread_join(t, 0);"))), Some(true));
    assert_eq!(ruled_out(&two(&body, "", &main(("", ""), "pthread_join(t, 0);"))), Some(true));
    // Held by a third one, which the thread that is waited for has to wait for.
    let third = "pthread_create(&u, 0, g, 0); pthread_create(&t, 0, f, 0);";
    let waits = within(M, "pthread_join(t, 0);");
    assert_eq!(
        ruled_out(&two(&within(N, "x++;"), &within(N, &within(M, "")), &format!("{third} {waits}"))),
        Some(false)
    );
    assert_eq!(
        ruled_out(&two(&within(N, "x++;"), &within(M, &within(N, "")), &format!("{third} {waits}"))),
        Some(true)
    );
}

#[test]
fn what_may_be_held() {
    let nm = within(N, &within(M, "x++;"));
    let maybe = "if (c) pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); if (c) pthread_mutex_unlock(&m);";
    assert_eq!(ruled_out(&two(maybe, &nm, BOTH)), Some(false));
    assert_eq!(ruled_out(&two(&within(M, M.0), "", BOTH)), Some(false), "twice");
    assert_eq!(ruled_out(&two(&within(M, "if (c) return 0;"), "", BOTH)), None, "ends with it");
    assert_eq!(ruled_out(&two(&within(M, ""), M.1, BOTH)), None, "given back by another one");
    assert_eq!(ruled_out(&two(&within(M, ""), "m.a[0] = 1;", BOTH)), None, "taken by nobody");
    assert_eq!(ruled_out(&two(&within(M, ""), "while (!y) { }", BOTH)), None, "waits for a variable");
    // A lock that is tried is held, and not waited for.
    let tried = "if (!pthread_mutex_trylock(&n)) { pthread_mutex_unlock(&n); }";
    assert_eq!(ruled_out(&two(&within(M, tried), &nm, BOTH)), Some(true));
    let tried = format!("if (!pthread_mutex_trylock(&n)) {{ {} pthread_mutex_unlock(&n); }}", within(M, ""));
    assert_eq!(ruled_out(&two(&tried, &within(M, &within(N, "")), BOTH)), Some(false));
    let section = format!("__VERIFIER_atomic_begin(); {} __VERIFIER_atomic_end();", within(M, ""));
    assert_eq!(ruled_out(&two(&section, &within(M, ""), BOTH)), None);
}

#[test]
fn a_loop_on_a_private_variable_whose_address_others_know_may_wait() {
    let waits = |known: &str| {
        let body = format!("int go = 1; {known} while (go) ; {}", within(M, "x++;"));
        ruled_out(&format!("int *shared; {}", two(&body, "", BOTH)))
    };
    assert_eq!(waits(""), Some(true));
    assert_eq!(waits("shared = &go;"), None);
}

#[test]
fn locks_in_objects() {
    let main = "for (int i = 0; i < 9; i++) { struct s *k = malloc(sizeof *k); pthread_mutex_init(&k->m, 0);
        k->next = head; head = k; } threads(f, head);";
    let walk =
        "while (o) { pthread_mutex_lock(&o->m); struct s *k = o->next; pthread_mutex_unlock(&o->m); o = k; }";
    assert_eq!(ruled_out(&two(walk, "", main)), Some(true));
    let coupled = "pthread_mutex_lock(&o->m); struct s *k = o->next; if (k) { pthread_mutex_lock(&k->m);
        pthread_mutex_unlock(&k->m); } pthread_mutex_unlock(&o->m);";
    assert_ne!(ruled_out(&two(coupled, "", main)), Some(true), "one after the other");
    let changed = "pthread_mutex_lock(&o->m); if (o->next) o = o->next; pthread_mutex_unlock(&o->m);";
    assert_eq!(ruled_out(&two(changed, "", main)), None);
}

#[test]
fn a_document_stands_and_a_changed_one_does_not() {
    let text = two(
        &within(M, &within(N, "x++;")),
        &within(N, "y++;"),
        "pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0);",
    );
    let (query, mut facts, found) = analysed(&text);
    let Ordered::Yes { order, waits } = found else { panic!("{found:?}") };
    assert_eq!(waits, 4);
    let valid = |facts: &Facts| {
        let document = write_waits(&query, facts).expect("written");
        certify(&query, document.as_bytes()).is_ok()
    };
    assert!(!valid(&facts), "it has no order");
    facts.order = order.clone();
    assert!(valid(&facts));
    for (n, missing) in order.iter().enumerate() {
        let mut changed = facts.clone();
        changed.order.remove(n);
        assert!(!valid(&changed), "{missing:?} is missing");
    }
    let mut changed = facts.clone();
    changed.holds = false;
    assert!(!valid(&changed));
    let states = facts.at.iter_mut().flat_map(|at| at.values_mut().flatten());
    let holding: usize = states.map(|s| usize::from(!std::mem::take(&mut s.held).is_empty())).sum();
    assert!(holding > 0 && !valid(&facts), "locks that are said not to be held");
}

/// Writes a program that takes locks, in any order, and waits for threads.
fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    let body = |random: &mut Random, joins: bool| {
        let (mut text, mut open) = (String::new(), Vec::new());
        for _ in 0..3 + random.below(5) {
            let lock = random.of(&["&m", "&n", "&one.m", "&p->m"]);
            match random.below(8) {
                0..=2 if !open.contains(&lock) => {
                    open.push(lock);
                    let _ = write!(text, "pthread_mutex_lock({lock});");
                }
                3 => {
                    let _ = write!(
                        text,
                        "if (!pthread_mutex_trylock({lock})) {{ x = 1; pthread_mutex_unlock({lock}); }}"
                    );
                }
                4 if joins => text += random.of(&["pthread_join(t, 0);", "if (c) pthread_join(u, 0);"]),
                5 => text += "if (c) { y = 2; }",
                _ => {
                    if let Some(lock) = open.pop() {
                        let _ = write!(text, "pthread_mutex_unlock({lock});");
                    }
                }
            }
        }
        while !open.is_empty() {
            let n = random.below(open.len());
            let lock = open.remove(n);
            let _ = write!(text, "pthread_mutex_unlock({lock});");
        }
        text
    };
    for f in ["f", "g"] {
        let inner = body(&mut random, false);
        let _ = writeln!(text, "void *{f}(void *v) {{ int c = __VERIFIER_nondet_int(); {inner} return 0; }}");
    }
    let (before, between, after) =
        (body(&mut random, false), body(&mut random, false), body(&mut random, true));
    let (first, second) = (random.of(&["f", "g"]), random.of(&["f", "g"]));
    let p = random.of(&["&one", "malloc(sizeof *p); pthread_mutex_init(&p->m, 0)"]);
    let last = random.of(&[
        "pthread_join(t, 0); pthread_join(u, 0);",
        "pthread_join(t, 0); pthread_join(u, 0);",
        "",
    ]);
    let joined = random.of(&["", "pthread_join(t, 0);"]);
    let _ = writeln!(
        text,
        "int main(void) {{ int c = __VERIFIER_nondet_int(); p = {p}; {before} pthread_create(&t, 0, {first}, 0);
          {between} {joined} pthread_create(&u, 0, {second}, 0); {after}
          {last} return 0; }}"
    );
    text
}

#[test]
fn what_is_ruled_out_is_not_found() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let (cases, seed) = (number("CASES").unwrap_or(150), number("SEED").unwrap_or(0));
    let (mut safe, mut stuck, mut missed) = (0, 0, 0);
    for n in seed..seed + cases {
        let text = program(n);
        let (said, found) = (ruled_out(&text), exhaustive(&text));
        safe += u64::from(said == Some(true));
        stuck += u64::from(found == Some(true));
        missed += u64::from(said != Some(true) && found == Some(false));
        let wrong = said == Some(true) && found == Some(true);
        assert!(!wrong, "seed {n}: a deadlock that was ruled out\n{DECLARATIONS}\n{text}");
    }
    eprintln!("{cases} programs: {safe} without deadlocks, {stuck} with, {missed} not known to have none");
    assert!(safe * 10 > cases && stuck > 3, "{safe} and {stuck} of {cases}");
}
