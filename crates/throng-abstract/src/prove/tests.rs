//! Programs that create threads without bound: proved with certificates that stand, and that do not when they are changed; and programs
//! that must not be proved.

use std::time::Duration;

use crate::certificate::{Document, check, document};
use crate::prove::{Ended, attempt, is_violation};
use throng_c::{Loaded, Options};
use throng_check::certify::Fault;
use throng_lang::source::Source;
use throng_model::limits::Limits;

const HEAD: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *t, const void *a, void *(*f)(void *), void *arg);
void __VERIFIER_assume(int c);
void reach_error(void);
int __VERIFIER_nondet_int(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
";
const MAIN: &str = "
int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, thread, 0); } }
";

fn load(text: &str) -> Loaded {
    let raw = format!("{HEAD}{text}{MAIN}");
    match throng_c::read(Source::new("test.c", &raw), raw.clone(), &Options::default()) {
        Ok(loaded) => loaded,
        Err(rejected) => panic!("{:?}", rejected.diagnostics),
    }
}

fn limits() -> Limits {
    Limits::none().timeout(Duration::from_secs(60))
}

fn proved(loaded: &Loaded) -> Document {
    match attempt(&loaded.program, &[], &limits(), &mut |_| {}) {
        Ok((graph, Ended::Proved(proof))) => document(loaded, &graph, &proof),
        Ok((graph, Ended::Found(run, _))) => panic!("a run, violation: {}", is_violation(&graph, &run)),
        Err(why) => panic!("no proof: {why}"),
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
    let certificate = proved(&loaded);
    assert!(!certificate.trusts_bounds);
    let checked = check(&loaded, &certificate, &limits()).expect("it stands");
    assert!(checked.predicates > 0 && checked.facts > 0);
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
    let outside = load(
        "int a[3], b = 1;
         void *thread(void *arg) {
           int i = __VERIFIER_nondet_int();
           if (a[i] != 0) reach_error();
           return 0;
         }",
    );
    assert!(proved(&outside).trusts_bounds);
}

fn rejected(loaded: &Loaded, certificate: &Document) {
    match check(loaded, certificate, &limits()) {
        Err(Fault::Invalid(_)) => {}
        Err(fault) => panic!("{fault}"),
        Ok(_) => panic!("a changed certificate was accepted"),
    }
}

#[test]
fn a_changed_certificate_is_rejected() {
    let loaded = load(COUNTER);
    let good = proved(&loaded);
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
    let (mut strengthened, mut weakened) = (0, 0);
    for (n, cubes) in good.never.iter().enumerate() {
        for k in (n % 3..cubes.len()).step_by(3) {
            for l in 0..cubes[k].len() {
                // The opposite of a literal: if no step satisfied that either, the rest of the cube would be a fact, and a shorter one.
                let mut flipped = good.clone();
                flipped.never[n][k][l].2 ^= true;
                strengthened += usize::from(check(&loaded, &flipped, &limits()).is_err());
            }
            let mut fewer = good.clone();
            fewer.never[n].remove(k);
            weakened += usize::from(check(&loaded, &fewer, &limits()).is_err());
        }
    }
    assert!(strengthened > 0 && weakened > 0, "{strengthened} {weakened}");
    let mut impossible = good.clone();
    impossible.never[0] = vec![Vec::new()];
    rejected(&loaded, &impossible);
}
