//! The Rust programs in `examples/`, run: what they say is what their documentation promises.

#![allow(dead_code)]

#[path = "../../../throng/examples/context_bound.rs"]
mod context_bound;
#[path = "../../../throng/examples/explore.rs"]
mod explore;
#[path = "../../../throng/examples/ticket_lock.rs"]
mod ticket_lock;
#[path = "../../../throng/examples/unit_tests.rs"]
mod unit_tests;

use throng::{Input, Job, Limits};
use throng_model::unfold::unfold;

#[test]
fn one_explore_runs_on_every_format() {
    let says = |file: &str, threads| {
        explore::run(&format!("{}/examples/{file}", throng_dev::ROOT), threads).unwrap()
    };
    assert!(says("winner.tts", 3).contains("found ⟨2 | "), "{}", says("winner.tts", 3));
    assert!(says("spinlock-broken.bp", 2).contains("busy=1"));
    for safe in ["spinlock.bp", "mutex.ntts"] {
        assert!(says(safe, 3).contains("not found among"), "{safe}");
    }
    assert!(says("ticketlock-broken.bp", 4).contains("not found"), "it takes five threads");
}

/// IJIT's claim: the same algorithm on the program and on its transition system gives the same
/// answers.
#[test]
fn explore_says_the_same_just_in_time_and_unfolded() {
    for file in ["spinlock.bp", "spinlock-broken.bp", "rwlock-broken.bp", "barrier.bp"] {
        let job = Job::new(&Input::open(format!("{}/examples/{file}", throng_dev::ROOT)).unwrap());
        let mut problem = job.prepare().unwrap().problem.clone();
        let (found, seen) = explore::explore(&problem, 3);
        let table = unfold(&problem, &Limits::none()).unwrap();
        problem.initial = table.initial;
        problem.targets = table.targets;
        problem.model = std::sync::Arc::new(table.table);
        let (again, seen_again) = explore::explore(&problem, 3);
        assert_eq!(found.is_some(), again.is_some(), "{file}");
        assert!(found.is_some() || seen == seen_again, "{file}: {seen} and {seen_again} configurations");
    }
}

#[test]
fn few_context_switches_are_enough() {
    let needed = |file: &str, threads| {
        context_bound::run(&format!("{}/examples/{file}", throng_dev::ROOT), threads, 4).unwrap()
    };
    assert_eq!(needed("spinlock.bp", 3), None);
    assert_eq!(needed("spinlock-broken.bp", 2), Some(2));
    assert_eq!(needed("spinlock-broken.bp", 1), None, "one thread breaks nothing");
    assert_eq!(needed("rwlock-broken.bp", 3), Some(2));
}

/// Without a limit on switches, context-bounded search is plain search.
#[test]
fn with_many_context_switches_nothing_is_missed() {
    for file in
        ["barrier-broken.bp", "barrier.bp", "producer-broken.bp", "producer.bp", "mutex.ntts", "winner.tts"]
    {
        let path = format!("{}/examples/{file}", throng_dev::ROOT);
        let asked = Job::new(&Input::open(&path).unwrap());
        let (plain, _) = explore::explore(&asked.prepare().unwrap().problem, 3);
        assert_eq!(context_bound::run(&path, 3, 50).unwrap().is_some(), plain.is_some(), "{file}");
    }
}

#[test]
fn a_trace_of_an_own_type_can_be_read_as_values() {
    let outcome = ticket_lock::verify(false).unwrap();
    let run = outcome.trace().unwrap();
    assert_eq!(outcome.problem.model.shared_name(run.start.shared), "Counters { next: 0, serving: 0 }");
    assert!(outcome.to_string().contains("draw a ticket"), "{outcome}");
}
