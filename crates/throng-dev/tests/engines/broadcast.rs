//! Broadcasts, signals, transfers, resets and passive variables for real: the same answers from
//! bounded search, from backward search and, for programs, from the naive interpreter; all evidence
//! is checked.
//!
//! No public tool is a reliable oracle here, so every case below says what it must answer and why.
//!
//! `THRONG_RANDOM=100000 THRONG_SEED=7 cargo test --release -p throng-dev --test engines broadcast:: -- --nocapture random`
//! compares that many random models.

#![allow(clippy::print_stderr)]

use throng_dev::harness as common;
use throng_dev::harness::public_corpus;

use std::sync::Arc;
use std::time::Duration;

use common::naive::{self, Naive};
use throng::{Error, Input, Job, Limits, Outcome, Question, Status};
use throng_dev::{Knobs, Rng, Signals, programs, random_problem, random_table};
use throng_engine::Algorithm;
use throng_engine::auto::Auto;
use throng_engine::backward::Backward;
use throng_engine::explicit::Explicit;
use throng_lang::bp::lower::{lower, plain::plain};
use throng_lang::bp::{self, parser, printer};
use throng_lang::load::Format;
use throng_model::Model;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Unknown, Verdict};

/// Safe for any number of threads, or the fewest with which it breaks.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Expect {
    Safe,
    Unsafe(u32),
}
use Expect::{Safe, Unsafe};

/// Beyond this many threads (or tokens), bounded search does not look.
const MOST: u32 = 4;

/// What `backward` and bounded search say, evidence checked; each may do so much.
fn both(problem: &Problem, most: u32, work: u64) -> (Outcome, Outcome) {
    let hunt = Explicit { max_threads: Some(most), ..Explicit::default() };
    let ask = |engine: &dyn Algorithm| {
        let limits = Limits::none().work(work);
        let outcome = Job::of(problem.clone()).check_by(engine, &limits);
        outcome.unwrap_or_else(|e| panic!("{}: {e}", engine.name()))
    };
    let (backward, explicit) = (ask(&Backward), ask(&hunt));
    (backward, explicit)
}

/// The problem that a text is asked.
fn problem_of(text: &str, format: Format, question: Question) -> Problem {
    let input = Input::from_text(text, format).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let job = Job::new(&input).question(question);
    job.prepare().unwrap_or_else(|e| panic!("{e}\n{text}")).problem.clone()
}

/// Asks `text` and expects `expected` of every target, in order.
fn expect(format: Format, text: &str, question: Question, expected: &[Expect]) {
    let problem = problem_of(text, format, question);
    let (backward, explicit) = both(&problem, MOST, 1 << 26);
    for (i, expected) in expected.iter().enumerate() {
        let found = &explicit.answer.verdicts[i];
        match (expected, &backward.answer.verdicts[i]) {
            (Safe, Verdict::Safe(_)) => {
                let nothing = matches!(found, Verdict::Safe(_) | Verdict::Unknown(Unknown::Bound(_)));
                assert!(nothing, "target {i}: {explicit}\n{text}");
            }
            (Unsafe(n), Verdict::Unsafe(run)) => {
                assert!(run.threads() >= *n, "target {i}: {backward}\n{text}");
                let fewest = matches!(found, Verdict::Unsafe(run) if run.threads() == *n);
                assert!(fewest, "target {i}: {explicit}\n{text}");
            }
            _ => panic!("target {i}, expected {expected:?}: {backward}\n{text}"),
        }
    }
    assert_eq!(expected.len(), problem.targets.len());
}

/// A program in which any number of threads (or `initial`) run main; the naive interpreter must say
/// the same.
fn program(initial: &str, text: &str, expected: Expect) {
    let question = Question { initial: Some(initial.into()), ..Question::default() };
    expect(Format::Bp, text, question, &[expected]);
    let (jit, _) = bp::read(text, &bp::Options::default());
    let tree = jit.expect("accepted").tree().clone();
    let initial = initial.parse().ok();
    for bound in initial.unwrap_or(1)..=3 {
        let asked = naive::Question { bound, initial, keep_ended: false, limit: 200_000 };
        let found = Naive::new(text, &tree).search(&asked, None, None).expect("small").violated.is_some();
        let within = matches!(expected, Unsafe(n) if n as usize <= bound);
        // At the bound start_thread acts like skip: such runs are none of the program without a
        // bound.
        let more = text.contains("start_thread");
        assert!(found == within || found && more, "{bound} threads, naive says {found}: {text}");
    }
}

/// A thread-transition system; `0/0` unless `initial` says otherwise.
fn system(initial: &str, text: &str, expected: &[Expect]) {
    let question = Question { initial: Some(initial.into()), ..Question::default() };
    expect(Format::Tts, text, question, expected);
}

fn net(text: &str, expected: Expect) {
    expect(Format::Spec, text, Question::default(), &[expected]);
}

/// Waiters; one thread wakes them with `how`, once. `two` says that a second waiter has passed.
fn woken_twice(how: &str) -> String {
    format!(
        "decl sent := 0, one := 0, two := 0;
         void main() begin
           if * then
             wait;
             one, two := 1, one;
             assert(!two);
           else
             sent := 1 constrain !sent;
             {how};
           fi
         end"
    )
}

#[test]
fn a_signal_wakes_one_thread() {
    program("any", &woken_twice("signal"), Safe);
}

#[test]
fn a_broadcast_wakes_them_all() {
    program("any", &woken_twice("broadcast"), Unsafe(3));
}

#[test]
fn two_signals_wake_two_threads() {
    program("any", &woken_twice("signal; signal"), Unsafe(3));
}

/// Who is woken must find `sent` set, unless the signal comes first.
fn sent_before(first: &str, second: &str) -> String {
    format!(
        "decl sent := 0;
         void main() begin
           if * then wait; assert(sent);
           else {first}; {second};
           fi
         end"
    )
}

#[test]
fn the_order_of_flag_and_signal_matters() {
    program("any", &sent_before("sent := 1", "signal"), Safe);
    program("any", &sent_before("sent := 1", "broadcast"), Safe);
    program("any", &sent_before("signal", "sent := 1"), Unsafe(2));
    program("any", &sent_before("broadcast", "sent := 1"), Unsafe(2));
}

/// A signal that no thread waits for is lost: then the waiter sleeps on, and `late` needs a second
/// signal.
#[test]
fn a_lost_signal_wakes_no_thread_later() {
    let text = |again: &str| {
        format!(
            "decl sent := 0, slept := 0;
             void main() begin
               if * then
                 slept := 1 constrain sent & !slept;
                 wait;
                 assert(0);
               else
                 sent := 1 constrain !sent;
                 {again}
               fi
             end"
        )
    };
    program("any", &text("skip;"), Safe);
    program("any", &text("signal;"), Unsafe(2));
    // Signalled only before any thread can sleep.
    let early = "decl sent := 0, slept := 0;
        void main() begin
          if * then
            slept := 1 constrain sent & !slept; wait; assert(0);
          else
            atomic { assume(!sent); signal; sent := 1; }
          fi
        end";
    program("any", early, Safe);
}

/// There are no condition names: a thread that waits for `a` is woken by the signal for `b`.
#[test]
fn conditions_have_no_names() {
    for how in ["signal", "broadcast"] {
        let text = format!(
            "decl a := 0, b := 0;
             void main() begin
               if * then wait; assert(a);
               else
                 if * then a := 1; {how};
                 else b := 1; {how};
                 fi
               fi
             end"
        );
        program("any", &text, Unsafe(2));
    }
}

/// Inside an atomic section no other thread moves, but a broadcast moves those that wait; they
/// continue when it is over.
#[test]
fn who_is_woken_inside_a_section_goes_on_after_it() {
    let text = |flag: &str| {
        format!(
            "decl busy := 0;
             void main() begin
               if * then wait; assert(!busy);
               else atomic {{ busy := 1; broadcast; busy := {flag}; }}
               fi
             end"
        )
    };
    program("any", &text("0"), Safe);
    program("any", &text("1"), Unsafe(2));
}

/// A barrier that is used twice: a thread of the second round must not pass with the first.
#[test]
fn a_barrier_with_rounds() {
    let text = |opens: &str| {
        format!(
            "decl round := 0, here := 0;
             void main() begin
               decl mine := 0, last := 0;
               mine := round;
               atomic {{ last, here := here, !here; if last then {opens}; fi; }}
               if last then broadcast; else wait; fi;
               assert(mine != round);
             end"
        )
    };
    program("2", &text("round := !round"), Safe);
    program("2", &text("skip"), Unsafe(2));
    program("any", &text("round := !round"), Unsafe(3));
}

/// `mine` says: no thread has changed the tag since I read it. A thread that changes it takes
/// `mine` from all others.
fn tag(change: &str) -> String {
    format!(
        "decl tag := 0;
         void main() begin
           decl mine := 0, copy := 0;
           while * do
             {change};
             assert(!mine | copy = tag);
           od
         end"
    )
}

#[test]
fn a_passive_assignment_reaches_every_other_thread() {
    program("any", &tag("tag, copy, mine, mine$ := !tag, !tag, 1, 0"), Safe);
    program("any", &tag("tag, copy, mine := !tag, !tag, 1"), Unsafe(2));
}

/// All threads toggle together, or all but the active one.
#[test]
fn passive_variables_read_their_own_thread() {
    let toggle = |assign: &str| {
        format!(
            "decl p := 0;
             void main() begin
               decl x := 0;
               while * do {assign}; assert(x = p); od
             end"
        )
    };
    program("any", &toggle("p, x, x$ := !p, !x, !x$"), Safe);
    program("any", &toggle("p, x$ := !p, !x$"), Unsafe(1));
    program("any", &toggle("x$ := *"), Unsafe(2));
    program("any", &toggle("x$ := x$"), Safe);
    program("any", &toggle("p, x, x$ := *, *, * constrain 'x = 'p & 'x$ = 'p"), Safe);
}

/// A broadcast reaches all threads that exist; one that is created later may not know of it.
#[test]
fn who_is_born_later_has_not_heard() {
    let text = |forget: &str| {
        format!(
            "decl told := 0;
             void main() begin
               decl heard := 0;
               while * do start_thread goto CHILD; od;
               told, heard, heard$ := 1, 1, 1;
               while * do start_thread goto CHILD; od;
               goto END;
               CHILD: {forget};
               LOOK: assert(!told | heard);
               END: skip;
             end"
        )
    };
    program("1", &text("skip"), Safe);
    program("1", &text("heard := 0"), Unsafe(2));
}

/// Found by the random programs below: going backward over the spawn, the parent must have `a` = 0
/// and the child one value of `b`. Both are variables of the same thread before, and no other
/// variable ties the two together.
#[test]
fn a_parent_and_its_child_can_both_be_needed() {
    let text = |value: &str| {
        format!(
            "decl t := 1;
             void main() begin
               decl a := {value}, b := 0;
               ASYNC_1: t := b ^ !b ^ t;
               assert(t | a);
             end"
        )
    };
    program("1", &text("0"), Unsafe(2));
    program("1", &text("1"), Safe);
}

/// MSI: locals 0 invalid, 1 shared, 2 modified. Targets: two writers; a writer and a reader.
fn msi(read: &str, upgrade: &str) -> String {
    format!(
        "1 3
         0 0 -> 0 1 {read}
         0 0 -> 0 2  1 ~> 0 2 ~> 0
         0 1 -> 0 2 {upgrade}
         0 2 -> 0 0
         0|2,2
         0|1,2"
    )
}

#[test]
fn caches_invalidate_by_transfer() {
    system("0/0", &msi("2 ~> 1", "1 ~> 0 2 ~> 0"), &[Safe, Safe]);
    system("0/0", &msi("", "1 ~> 0 2 ~> 0"), &[Safe, Unsafe(2)]);
    system("0/0", &msi("2 ~> 1", ""), &[Unsafe(2), Unsafe(2)]);
}

/// A transfer with a choice: each bystander goes its own way.
#[test]
fn bystanders_choose_for_themselves() {
    let text = "2 4
        0 0 -> 0 1
        0 0 -> 1 0  1 ~> 2 1 ~> 3
        1|2,3
        1|1
        1|2,2,3";
    system("0/0", text, &[Unsafe(3), Safe, Unsafe(4)]);
}

/// `s l ~> s' l'` moves all threads in l, and there need not be any.
#[test]
fn a_transfer_without_a_leader_takes_all() {
    let text = "3 3
        0 0 -> 0 1
        0 1 ~> 1 2
        1 2 -> 2 2
        1|1
        1|2,2
        1|
        2|1";
    system("0/0", text, &[Safe, Unsafe(2), Unsafe(0), Safe]);
}

/// A transfer into a place that others leave: no thread is there twice.
#[test]
fn transfers_swap_two_places_at_once() {
    let text = "2 4
        0 0 -> 0 1
        0 0 -> 0 2
        0 0 -> 1 3  1 ~> 2 2 ~> 1
        1|1,1,2
        1|0,3,3";
    system("0|0,0,0,0", text, &[Unsafe(4), Safe]);
    system("0|0,0,0", text, &[Safe, Safe]);
}

/// MESI as a net with transfers, from Delzanno's formulation.
fn mesi(read_miss: &str) -> String {
    format!(
        "vars I M E S
         rules
           I >= 1 -> {read_miss};
           E >= 1 -> E' = E-1, M' = M+1;
           S >= 1 -> S' = 0, I' = I+E+M+S-1, E' = 1, M' = 0;
           I >= 1 -> I' = I+E+M+S-1, E' = 1, M' = 0, S' = 0;
         init I >= 1, M = 0, E = 0, S = 0
         target M >= 1, S >= 1"
    )
}

#[test]
fn a_cache_protocol_as_a_net() {
    net(&mesi("I' = I-1, S' = S+E+M+1, E' = 0, M' = 0"), Safe);
    net(&mesi("I' = I-1, S' = S+E+1, E' = 0"), Unsafe(2));
}

/// A reset forgets tokens: what was gathered before it is gone.
#[test]
fn resets_forget() {
    let again = "vars p q done
        rules
          p >= 1 -> p' = p-1, q' = q+1;
          q >= 1 -> q' = 0, done' = done+1;
        init p >= 1, q = 0, done = 0
        target done >= 3";
    net(again, Unsafe(3));
    let once = "vars p q done
        rules
          p >= 1 -> p' = p-1, q' = q+1;
          q >= 1, done >= 1 -> q' = 0, done' = done-1;
        init p = 3, q = 0, done = 1
        target p >= 1, q >= 3";
    net(once, Safe);
    let lost = "vars p q t
        rules
          t >= 1, p >= 1 -> p' = p-1, q' = q+1;
          t >= 1 -> t' = t-1, q' = 0;
        init p = 2, q = 0, t = 1
        target q >= 2";
    net(lost, Unsafe(3));
}

#[test]
fn the_shipped_examples_with_wait_and_signal() {
    for (name, expected) in
        [("barrier", Safe), ("barrier-broken", Unsafe(2)), ("buffer", Safe), ("buffer-broken", Unsafe(2))]
    {
        let text = std::fs::read_to_string(format!("{}/examples/{name}.bp", throng_dev::ROOT)).unwrap();
        // The naive interpreter reads bits.
        let (tree, _) = parser::parse(&text);
        let text = if tree.extended { printer::print(&plain(lower(&tree).0.tree)) } else { text };
        program("any", &text, expected);
    }
}

// ── The public corpus ────────────────────────────────────────────────────────────────────

/// The broadcast protocols of the mist collection: whatever `backward` decides is what is expected.
/// Nets that test for zero are not monotone, there it must refuse; all engines together decide most
/// of them, too.
#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn broadcast_protocols_are_decided() {
    let corpus = public_corpus();
    let manifest = std::fs::read_to_string(corpus.join("MANIFEST.csv")).unwrap();
    let rows = manifest.lines().filter(|line| line.starts_with("spec/mist-extended/"));
    let (mut backward, mut together) = (0, 0);
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        let (path, expected) = (fields[0], fields[4]);
        let asked = Input::open(corpus.join(path));
        let asked = asked.and_then(|input| Ok(Job::new(&input).prepare()?.problem.clone()));
        let problem = match asked {
            Ok(problem) => problem,
            Err(Error::Refused(diagnostics)) => {
                let why = diagnostics.iter().find(|c| c.diagnostic.is_error()).expect("an error");
                eprintln!("{path}: refused: {}", why.diagnostic.message);
                continue;
            }
            Err(why) => panic!("{path}: {why}"),
        };
        let alone = decide(path, expected, &problem, &Backward);
        backward += usize::from(alone);
        together += usize::from(alone || decide(path, expected, &problem, &Auto::default()));
    }
    eprintln!("{backward} decided by `backward`, {together} in all");
    assert!(backward >= 8 && together >= 12, "{backward}, {together}");
}

/// Returns whether an engine decides the problem within ten seconds; if so, as expected.
fn decide(path: &str, expected: &str, problem: &Problem, engine: &dyn Algorithm) -> bool {
    let limits = Limits::none().timeout(Duration::from_secs(10));
    let outcome = Job::of(problem.clone()).check_by(engine, &limits);
    let outcome = outcome.unwrap_or_else(|e| panic!("{path}: {e}"));
    let found = outcome.status();
    let (by, seconds) = (outcome.answered_by(), outcome.time.as_secs_f64());
    let why = outcome.unknown().map(|why| format!(" ({why})")).unwrap_or_default();
    eprintln!("{path}: {found}{why} by {by} in {seconds:.2} s, expected {expected}");
    assert!(found == Status::Unknown || expected == "?" || expected == found.lower(), "{path}: {found}");
    found != Status::Unknown
}

// ── Random models ────────────────────────────────────────────────────────────────────────

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// How many targets were compared, safe and unsafe.
#[derive(Default)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    open: usize,
}

/// If bounded search finds a bug, backward must; if backward says SAFE, bounded search must find
/// nothing; if backward says UNSAFE with n threads, bounded search must find it with n.
fn agree(problem: &Problem, most: u32, tally: &mut Tally) {
    let work = 1 << 20;
    let (backward, explicit) = both(problem, most, work);
    for (i, verdict) in backward.answer.verdicts.iter().enumerate() {
        let found = &explicit.answer.verdicts[i];
        match verdict {
            Verdict::Safe(_) => {
                assert!(!matches!(found, Verdict::Unsafe(_)), "target {i}: {backward}\n{explicit}");
                tally.safe += 1;
            }
            Verdict::Unsafe(run) => {
                let fewest = match found {
                    Verdict::Unsafe(run) => run.threads(),
                    _ => fewest_threads(problem, i, run.threads(), work),
                };
                assert!(fewest <= run.threads(), "target {i}: {backward}\n{explicit}");
                tally.unsafe_ += 1;
            }
            // Too much work to find an answer, or to check it.
            Verdict::Unknown(Unknown::Work | Unknown::Inconclusive(_)) => tally.open += 1,
            Verdict::Unknown(why) => panic!("target {i}: {why}"),
        }
    }
}

/// The fewest threads with which bounded search reaches target `i`, looking no further than `most`;
/// 0 if that is too much work.
fn fewest_threads(problem: &Problem, i: usize, most: u32, work: u64) -> u32 {
    let one = Problem { targets: vec![problem.targets[i].clone()], ..problem.clone() };
    let hunt = Explicit { max_threads: Some(most), ..Explicit::default() };
    let limits = Limits::none().work(work);
    let outcome = Job::of(one).check_by(&hunt, &limits).expect("evidence stands");
    match (outcome.trace(), outcome.unknown()) {
        (Some(run), _) => run.threads(),
        (None, Some(Unknown::Work | Unknown::Inconclusive(_))) => 0,
        _ => u32::MAX,
    }
}

#[test]
fn random_tables_with_broadcasts_agree() {
    let (count, seed) = (number("THRONG_RANDOM", 3000), number("THRONG_SEED", 1));
    let knobs = Knobs { broadcasts: 40, vanish: 15, block: 0, ..Knobs::default() };
    let mut tally = Tally::default();
    for i in 0..count {
        let mut rng = Rng::new(seed.wrapping_mul(1 << 32).wrapping_add(i));
        let table = random_table(&mut rng, &knobs);
        let model: Arc<dyn Model> =
            if rng.chance(40) { Arc::new(Signals::random(&mut rng, table)) } else { Arc::new(table) };
        let problem = random_problem(&mut rng, &knobs, model, Bound::Any);
        agree(&problem, 4, &mut tally);
    }
    let Tally { safe, unsafe_, open } = tally;
    eprintln!("{count} tables: {safe} targets safe, {unsafe_} unsafe, {open} open");
    assert!(safe + unsafe_ > 10 * open, "{open} open");
}

#[test]
fn random_programs_agree() {
    let (count, seed) = (number("THRONG_RANDOM", 400), number("THRONG_SEED", 1));
    let mut tally = Tally::default();
    for i in 0..count {
        let mut rng = Rng::new(seed.wrapping_mul(1 << 32).wrapping_add(i));
        let drawn = programs::Knobs::random(&mut rng);
        let knobs = programs::Knobs { blocking: false, wake: true, asserts: true, ..drawn };
        let text = programs::program(&mut rng, &knobs);
        let initial = ["any", "1", "2"][rng.index(3)].to_string();
        let question = Question { initial: Some(initial), ..Question::default() };
        let problem = &problem_of(&text, Format::Bp, question);
        if problem.model.blocking().is_some() {
            continue;
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| agree(problem, 3, &mut tally)));
        assert!(done.is_ok(), "program {i}:\n{text}");
    }
    let Tally { safe, unsafe_, open } = tally;
    eprintln!("{count} programs: {safe} safe, {unsafe_} unsafe, {open} open");
    assert!(safe + unsafe_ > 10 * open, "{open} open");
}
