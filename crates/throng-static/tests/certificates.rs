//! Facts as a file, and facts that were tampered with: the checker refuses every claim that is
//! stronger than the program, and a weaker one does not show as much.

mod common;

use common::{Word, of, query};
use throng_goto::Query;
use throng_goto_check::documents::{certify, write_races};
use throng_goto_check::races::facts::{Kind, Known, Lock, Owned, State, Sum};
use throng_goto_check::races::points::{Pointers, Site};
use throng_goto_check::races::{Facts, check};

const PROGRAM: &str = "
    void *g(void *v) { struct s *o = v; o->x++; return 0; }
    void *f(void *v) {
      struct s *o = v; pthread_mutex_lock(&m); x++; p->x = x; pthread_mutex_unlock(&m);
      __VERIFIER_atomic_begin(); y++; __VERIFIER_atomic_end();
      pthread_mutex_lock(&o->m); o->x++; pthread_mutex_unlock(&o->m);
      struct s *k = malloc(sizeof *k); k->x = 1; pthread_create(&u, 0, g, k); return 0; }
    int main(void) {
      p = malloc(sizeof *p); p->x = 0; one.x = 0;
      pthread_create(&t, 0, f, &one); pthread_mutex_lock(&one.m); one.x++; pthread_mutex_unlock(&one.m);
      if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }
      pthread_join(t, 0); x = 5; }";

fn analysed() -> (Query, Facts) {
    let query = query(PROGRAM);
    let facts = throng_static::analyse(&query.program);
    let found = check(&query.program, &facts).expect("right");
    assert_eq!(of(&found), Word::Safe, "{found:#?}");
    (query, facts)
}

/// Returns whether facts are refused.
fn refused(query: &Query, facts: &Facts) -> bool {
    check(&query.program, facts).is_err()
}

/// Calls `f` on every state of the facts, each in a copy of its own; counts the copies.
fn each_state(facts: &Facts, f: &mut dyn FnMut(&mut State) -> bool, after: &mut dyn FnMut(&Facts)) -> usize {
    let mut count = 0;
    for t in 0..facts.at.len() {
        for (pc, states) in &facts.at[t] {
            for n in 0..states.len() {
                let mut changed = facts.clone();
                if f(&mut changed.at[t].get_mut(pc).expect("there")[n]) {
                    count += 1;
                    after(&changed);
                }
            }
        }
    }
    count
}

#[test]
fn a_document_stands_and_a_changed_one_does_not() {
    let (query, facts) = analysed();
    let document = write_races(&query, &facts, true).expect("written");
    assert_eq!(certify(&query, document.as_bytes()).expect("valid").property, "race");
    let changed = |from: &str, to: &str| {
        assert!(document.contains(from), "{from} is not in {document}");
        document.replacen(from, to, 1).into_bytes()
    };
    for bytes in [
        changed("\"program\":\"", "\"program\":\"0"),
        changed("\"version\":1", "\"version\":2"),
        changed("{\"Object\":", "{\"Object\":9"),
        changed("\"registers\":[[", "\"registers\":[[],["),
        changed("\"returned\":[", "\"returned\":[[],"),
    ] {
        assert!(certify(&query, &bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_target_that_is_removed_from_a_pointer_is_missed() {
    let (query, facts) = analysed();
    let mut count = 0;
    let mut without = |change: &dyn Fn(&mut Facts) -> &mut Pointers, site: Site| {
        let mut changed = facts.clone();
        change(&mut changed).0.remove(&site);
        assert!(refused(&query, &changed), "{site:?}");
        count += 1;
    };
    for t in 0..facts.points.registers.len() {
        for r in 0..facts.points.registers[t].len() {
            for site in facts.points.registers[t][r].sites() {
                without(&|f| &mut f.points.registers[t][r], site);
            }
        }
    }
    for (of, entries) in &facts.points.memory {
        for (n, (_, content)) in entries.iter().enumerate() {
            for site in content.sites() {
                without(&|f| &mut f.points.memory.get_mut(of).expect("there")[n].1, site);
            }
        }
    }
    assert!(count > 15, "{count}");
    for site in &facts.escaped {
        let mut changed = facts.clone();
        changed.escaped.remove(site);
        assert!(refused(&query, &changed), "{site:?}");
    }
}

#[test]
fn claims_that_are_too_strong_are_refused() {
    let (query, facts) = analysed();
    let lock = |o: i64| Lock { address: Sum::address(Site::Object(o), 0), kind: Kind::Alone };
    let objects = query.program.objects.iter().enumerate();
    let mutex = objects.clone().find(|(_, o)| o.name == "m").expect("there").0 as i64 + 1;
    type Change<'a> = dyn Fn(&mut State) -> bool + 'a;
    let changes: [(&str, &Change<'_>); 6] = [
        ("a lock that is not held", &|s| s.locks.insert(lock(mutex))),
        ("a thread that is said to have ended", &|s| s.alive.pop_first().is_some()),
        ("an atomic section", &|s| {
            s.sections += 1;
            true
        }),
        ("a register that is said to have a value", &|s| s.known.insert(0, Known::Is(77)).is_none()),
        ("an object of its own", &|s| s.owned.insert(0, Owned::Private).is_none()),
        ("a register that is said to be a sum", &|s| s.equal.insert(0, Sum::number(3)).is_none()),
    ];
    for (what, change) in changes {
        let count = each_state(&facts, &mut |s| change(s), &mut |f| assert!(refused(&query, f), "{what}"));
        assert!(count > 0, "{what}");
    }
    let mut changed = facts.clone();
    for exit in changed.exits.iter_mut().flatten() {
        exit.alive.clear();
    }
    assert!(refused(&query, &changed), "a join that was invented");
    let mut changed = facts.clone();
    changed.at.iter_mut().for_each(|at| at.retain(|pc, _| *pc == 0));
    assert!(refused(&query, &changed), "instructions that are said not to be reached");
}

#[test]
fn a_lock_that_is_removed_from_the_sets_shows_a_race() {
    let (query, facts) = analysed();
    let mut changed = facts.clone();
    let states = changed.at.iter_mut().flat_map(|at| at.values_mut().flatten());
    states.for_each(|s| s.locks.clear());
    assert!(changed != facts);
    let shows = check(&query.program, &changed).is_ok_and(|found| of(&found) == Word::Safe);
    assert!(!shows);
}
