//! The symbolic engine and partial-order reduction, against the explicit engine without it.
//!
//! `THRONG_PROGRAMS` says how many random programs to try, `THRONG_SEED` where to start.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use throng_model::Describe;

use throng_check::rules::check;
use throng_dev::Rng;
use throng_dev::programs::{Knobs, program};
use throng_engine::auto::Auto;
use throng_engine::explicit::{self, Explicit};
use throng_engine::symbolic::{self, Symbolic};
use throng_engine::thread_states;
use throng_engine::{Algorithm, Answer, Silent, Watch};
use throng_lang::bp::{Jit, Options, read};
use throng_model::limits::Limits;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Config, Footprint, Local, Model, Shared, semantics};

fn jit(text: &str, options: Options) -> Arc<Jit> {
    let (jit, diagnostics) = read(text, &options);
    Arc::new(jit.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}")))
}

/// The assertions and every label, asked about `initial` of at most `bound` threads.
fn problem(jit: &Arc<Jit>, initial: Option<u32>, bound: u32) -> Problem {
    let mut targets: Vec<_> = jit.assertions().into_iter().collect();
    for label in ["L", "L0", "L1", "CS", "ERROR"] {
        targets.extend(jit.error_label(label));
        targets.extend(jit.mutex(label));
    }
    let invariant = jit.program().shared.first().map(|v| jit.invariant_text(&format!("!{}", v.name)));
    targets.extend(invariant.into_iter().flatten());
    Problem {
        initial: vec![jit.initial(initial)],
        initial_text: String::new(),
        targets,
        bound: Bound::Threads(bound),
        model: jit.clone(),
    }
}

fn limits() -> Limits {
    Limits::none().timeout(Duration::from_secs(120))
}

fn run(engine: &dyn Algorithm, problem: &Problem) -> Answer {
    let answer = engine.run(problem, &limits(), &Silent);
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        if let Err(flaw) = check(problem, target, verdict) {
            panic!("{} about {}: {flaw}", engine.name(), target.name);
        }
    }
    answer
}

/// What two engines must agree on: safe, or the fewest threads; and the fewest steps.
fn summary(answer: &Answer, length: bool) -> Vec<Option<(u32, usize)>> {
    let about = |v: &Verdict| match v {
        Verdict::Safe(_) => None,
        Verdict::Unsafe(trace) => Some((trace.threads(), if length { trace.steps.len() } else { 0 })),
        Verdict::Unknown(why) => panic!("{why}"),
    };
    answer.verdicts.iter().map(about).collect()
}

/// Remembers what it was reported.
#[derive(Default)]
struct Told(Mutex<Vec<(usize, Verdict)>>);

impl Watch for Told {
    fn found(&self, target: usize, verdict: &Verdict) {
        self.0.lock().unwrap().push((target, verdict.clone()));
    }
}

/// With reduction, too, runs are shortest, and each is reported once and as it is answered.
fn reported_as_answered(
    engine: &dyn Algorithm,
    problem: &Problem,
    expected: &[Option<(u32, usize)>],
    context: &str,
) {
    let reported = Told::default();
    let answer = engine.run(problem, &limits(), &reported);
    assert_eq!(summary(&answer, true), expected, "{}, shortest: {context}", engine.name());
    let mut reported = reported.0.into_inner().unwrap();
    reported.sort_by_key(|t| t.0);
    let hit = |(_, v): &(usize, Verdict)| matches!(v, Verdict::Unsafe(_));
    let answered: Vec<_> = answer.verdicts.into_iter().enumerate().filter(hit).collect();
    assert_eq!(reported, answered, "{context}");
}

/// Everything agrees on a program; says what does not.
fn agree(text: &str, initial: Option<u32>, bound: u32, keep_ended: bool) -> Vec<Option<(u32, usize)>> {
    let model = jit(text, Options { keep_ended, ..Options::default() });
    let problem = problem(&model, initial, bound);
    let plain = Explicit { por: false, ..Explicit::default() };
    let expected = run(&plain, &problem);
    let (full, threads) = (summary(&expected, true), summary(&expected, false));
    let names: Vec<_> = problem.targets.iter().map(|t| t.name.as_str()).collect();
    let context = format!("{names:?}, initially {initial:?} of {bound}\n{text}");
    let reduced = Explicit { shortest: false, ..Explicit::default() };
    assert_eq!(summary(&run(&reduced, &problem), false), threads, "explicit, reduced: {context}");
    for engine in [&Explicit::default() as &dyn Algorithm, &Symbolic::default()] {
        reported_as_answered(engine, &problem, &full, &context);
    }
    let auto = Auto { jobs: 1, max_threads: None, stop_at_first: false, por: true };
    let answer = run(&auto, &problem);
    assert_eq!(answer.flaw, None, "auto: {context}");
    assert_eq!(summary(&answer, false), threads, "auto: {context}");
    let symbolic = Symbolic { por: false, ..Symbolic::default() };
    assert_eq!(summary(&run(&symbolic, &problem), true), full, "symbolic: {context}");
    let reduced = Symbolic { shortest: false, ..Symbolic::default() };
    assert_eq!(summary(&run(&reduced, &problem), false), threads, "symbolic, reduced: {context}");
    full
}

/// Both engines reach the same thread states.
fn reach_alike(text: &str, initial: Option<u32>, bound: u32, keep_ended: bool) {
    let model = jit(text, Options { keep_ended, exact_copies: true, ..Options::default() });
    let problem = problem(&model, initial, bound);
    let explicit = explicit::reachable(&problem, 1, &limits(), &Silent).unwrap();
    let all = explicit::explore(&problem, 1, &limits(), &Silent).unwrap().thread_states();
    assert_eq!(explicit, all, "{text}");
    let explicit = thread_states::canonical(&problem, &explicit, &limits()).unwrap();
    let symbolic = symbolic::thread_states::reachable(&problem, &limits(), &Silent).unwrap();
    if explicit != symbolic {
        let name = |&(s, l): &(Shared, Local)| format!("{} | {}", model.shared_name(s), model.local_name(l));
        let only = |a: &[(Shared, Local)], b: &[(Shared, Local)]| {
            a.iter().filter(|x| !b.contains(x)).map(name).collect::<Vec<_>>()
        };
        panic!(
            "only explicit: {:#?}\nonly symbolic: {:#?}\n{text}",
            only(&explicit, &symbolic),
            only(&symbolic, &explicit)
        );
    }
}

/// Both about one program, for one, two and three threads.
fn all_about(text: &str, initial: Option<u32>) -> Vec<Option<(u32, usize)>> {
    let mut last = Vec::new();
    for bound in 1..=3 {
        for keep_ended in [false, true] {
            reach_alike(text, initial, bound, keep_ended);
            last = agree(text, initial, bound, keep_ended);
        }
    }
    last
}

const LISTING_1: &str = "decl s;
    void main() begin
      s := *; start_thread goto P2;
      P1: assume(s); end_thread;
      P2: assume(!s); assert(F);
    end";

const LISTING_2: &str = "decl s;
    void main() begin
      decl l;
      s := T; start_thread goto P2;
      P1: l := T; s := F; end_thread;
      P2: assert(s);
    end";

/// Returns whether a search with at most two threads hits an assertion if `change` is made to what
/// statements are said to do; where several threads may go first, the one with the larger word does
/// if `last`.
fn hits_if(text: &str, last: bool, change: impl Fn(&str, &mut Footprint)) -> bool {
    let model = jit(text, Options::default());
    let problem =
        Problem { targets: model.assertions().into_iter().collect(), ..problem(&model, Some(1), 2) };
    // The naive versions do not look at targets either.
    let reduction = Reduction::new(&*model, &[]).unwrap();
    let mut seen: Vec<Config> = problem.initial[0].of_size(1);
    let mut at = 0;
    while at < seen.len() {
        let config = seen[at].clone();
        let footprint = |&(l, n): &(Local, u32)| {
            let mut footprint = model.footprints().unwrap().footprint(l);
            change(&model.place(l).unwrap().text, &mut footprint);
            (footprint, n)
        };
        let threads: Vec<_> = config.threads.entries().iter().map(footprint).collect();
        let steps = |i: usize| {
            let mut steps = Vec::new();
            model.post(config.shared, config.threads.entries()[i].0, &mut steps).unwrap();
            steps
        };
        let may = |i: &usize| reduction.goes_first(&threads, *i) && !steps(*i).is_empty();
        let first = if last { (0..threads.len()).rev().find(may) } else { (0..threads.len()).find(may) };
        for step in (0..threads.len()).filter(|&i| first.is_none_or(|f| f == i)).flat_map(steps) {
            let mut after = Vec::new();
            semantics::fire(&*model, &config, &step, Some(2), &mut after).expect("few threads");
            after.into_iter().for_each(|c| {
                if !seen.contains(&c) {
                    seen.push(c)
                }
            });
        }
        at += 1;
    }
    seen.iter().any(|c| problem.targets[0].is_hit(c, &*model))
}

/// Each of the paper's listings loses its violation under one naive version, if the wrong thread is
/// let go first.
#[test]
fn naive_reductions_miss_the_violations_of_the_listings() {
    // `assume` as a mere read.
    let first = |text: &str, f: &mut Footprint| {
        if text.starts_with("assume") {
            f.writes = 0;
        }
        f.later_writes &= !f.reads;
    };
    // An assertion as a mere read, compared with what the others do now, not with what they will
    // do.
    let second = |text: &str, f: &mut Footprint| {
        if text.starts_with("assert") {
            (f.writes, f.goes_first) = (0, true);
        }
        (f.later_reads, f.later_writes) = (f.reads, f.writes);
    };
    for last in [false, true] {
        assert!(hits_if(LISTING_1, last, |_, _| {}) && hits_if(LISTING_2, last, |_, _| {}));
    }
    assert!(!(hits_if(LISTING_1, false, first) && hits_if(LISTING_1, true, first)));
    assert!(!(hits_if(LISTING_2, false, second) && hits_if(LISTING_2, true, second)));
}

/// The paper's listing 1: `assume` narrows down the shared variable that another thread reads.
#[test]
fn an_assumption_can_disable_others() {
    assert_eq!(all_about(LISTING_1, Some(1))[0].map(|t| t.0), Some(2));
}

/// The paper's listing 2: an assertion is not invisible just because it only reads.
#[test]
fn an_assertion_is_visible() {
    assert_eq!(all_about(LISTING_2, Some(1))[0].map(|t| t.0), Some(2));
}

/// A thread that runs around a private loop must not keep the others from moving.
#[test]
fn a_private_loop_does_not_hide_the_others() {
    let text = "decl s;
        void main() begin
          decl l; s := 0; start_thread goto P2;
          P1: l := !l; goto P1;
          P2: s := 1; assert(!s);
        end";
    assert_eq!(all_about(text, Some(1))[0].map(|t| t.0), Some(2));
}

/// Shared variables that depend on each other: letting one thread rule out a value of x must not
/// rule out a value of y.
#[test]
fn reduction_keeps_values_that_hang_together() {
    let text = "decl x, y;
        void main() begin
          decl l; l := *; x, y := l, l; start_thread goto P2;
          P1: assume(x); end_thread;
          P2: assert(y);
        end";
    assert_eq!(all_about(text, Some(1))[0].map(|t| t.0), Some(2));
}

#[test]
fn splices_keep_shared_and_local_variables_together() {
    let text = "decl s, t;
        void main() begin
          decl l, m;
          l := *; s := l; assert(s = l);
          t, m := m, s; assert(m = l);
          s, t := *, * constrain 's = !'t; l := s; m := t; assert(l != m);
        end";
    assert_eq!(all_about(text, Some(1))[0], None);
    all_about(text, None);
}

#[test]
fn locks_keep_others_out() {
    let text = "decl lock;
        void main() begin
          lock := 0; start_thread goto W; start_thread goto W; start_thread goto W; goto END;
          W: lock := 1 constrain !lock; CS: skip; lock := 0; goto W;
          END: skip;
        end";
    let answers = all_about(text, Some(1));
    assert!(answers.iter().any(|a| a.is_some()) && answers.iter().any(|a| a.is_none()));
}

#[test]
fn passive_variables_signals_and_sections() {
    let passive = "decl s;
        void main() begin
          decl b, c; b := 0; c := *; start_thread goto W;
          W: b, b$ := 1, c$; assert(b);
          s := c constrain c$ | s; b$ := 0; assume(b$); assert(!s | c);
        end";
    all_about(passive, Some(1));
    let signals = "decl s;
        void main() begin
          decl b; s := 0; b := *; start_thread goto W; start_thread goto W;
          if b then signal; else broadcast; fi; s := 1; goto END;
          W: wait; assert(!s);
          END: skip;
        end";
    all_about(signals, Some(1));
    let sections = "decl s;
        void main() begin
          decl b; b := *; start_thread goto W;
          atomic_begin; s := 1; assume(b); s := 0; atomic_end; goto END;
          W: assert(!s); atomic_begin; assert(!s); s := b; atomic_end;
          END: skip;
        end";
    all_about(sections, Some(1));
}

#[test]
fn copies_agree_with_their_parents() {
    let text = "decl s, t;
        void main() begin
          decl a, b; s := 0; t := 0; a, b := *, * constrain 'a = 'b; start_thread goto W;
          s := a; L0: assume(t); assert(a = b); goto END;
          W: t := 1; assert(!s | b); L1: skip;
          END: skip;
        end";
    all_about(text, Some(1));
}

#[test]
fn calls_have_frames() {
    let text = "decl s;
        bool f(x) begin decl y; y := x & *; if y then return !x; fi; return x; end
        void main() begin
          decl b; b := *; start_thread goto W; b := f(b); s := b; goto END;
          W: b := f(s); assert(!b | s); L: skip;
          END: skip;
        end";
    all_about(text, Some(1));
    all_about(text, None);
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn engines_agree_on_random_programs() {
    let (count, first) = (number("THRONG_PROGRAMS", 60), number("THRONG_SEED", 1));
    for seed in first..first + count {
        let mut rng = Rng::new(seed);
        let knobs = Knobs::random(&mut rng);
        let text = program(&mut rng, &knobs);
        let initial = match rng.index(3) {
            0 => None,
            n => Some(n as u32),
        };
        let bound = 1 + initial.unwrap_or(1) + rng.index(2) as u32;
        let keep_ended = rng.one_in(3);
        let text = format!("// seed {seed}\n{text}");
        agree(&text, initial, bound.min(3), keep_ended);
        reach_alike(&text, initial, bound.min(3), keep_ended);
    }
}

/// Work is counted in ticks, so that a share is the same on every machine.
#[test]
fn a_share_of_work_ends_a_symbolic_search() {
    let bits: Vec<String> = (0..12).map(|i| format!("b{i}")).collect();
    let flips: String = bits.iter().map(|b| format!("if * then {b} := !{b}; fi; ")).collect();
    let tests: Vec<String> = bits.iter().map(|b| format!("({b} | !{b} | lock)")).collect();
    let text = format!(
        "decl lock := 0, {} := 0; void main() begin while * do {flips} od; assert({}); end",
        bits.join(" := 0, "),
        tests.join(" & ")
    );
    let model = jit(&text, Options::default());
    let problem = problem(&model, None, 4);
    let asked = Problem { targets: problem.targets.into_iter().take(1).collect(), ..problem };
    let engine = Symbolic { por: false, ..Symbolic::default() };
    let stopped = |ticks| {
        let answer = engine.run(&asked, &Limits::none().work(ticks), &Silent);
        (answer.verdicts[0].clone(), answer.statistics.configurations)
    };
    let (first, few) = stopped(4_000);
    assert_eq!(first, Verdict::Unknown(Unknown::Work));
    assert_eq!(stopped(4_000), (first.clone(), few));
    let (second, more) = stopped(40_000);
    assert!(second != first || more > few, "{few} {more}");
}
