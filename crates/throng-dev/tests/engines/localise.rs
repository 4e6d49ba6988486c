//! Proofs and runs with few of a program's variables: what they prove, what they find, what they
//! leave open, and what the checker refuses.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use throng::{Input, Job};
use throng_check::rules::{Flaw, check};
use throng_dev::Rng;
use throng_dev::harness::certificates::{judge, written};
use throng_engine::backward::Backward;
use throng_engine::explicit::{Explicit, explore};
use throng_engine::localise::Localise;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::{Format, Reading};
use throng_lang::source::Source;
use throng_lang::tts;
use throng_model::limits::Limits;
use throng_model::localisation::localise;
use throng_model::problem::{Bound, Problem};
use throng_model::quotient::{QuotientMap, QuotientModel};
use throng_model::verdict::{Certificate, LocalProof, Trace, Unknown, Verdict};
use throng_model::views::{Block, Views};
use throng_model::{Local, Model};

/// `routines` functions between lock and unlock that branch on and assign 24 shared variables which
/// nothing else depends on.
fn driver(routines: usize) -> String {
    let noise: Vec<String> = (0..24).map(|i| format!("s{i} := 0")).collect();
    let mut text = format!("decl lock := 0, held := 0;\ndecl {};\n", noise.join(", "));
    for f in 0..routines {
        let (a, b, c) = (f % 24, (7 * f + 3) % 24, (5 * f + 1) % 24);
        write!(
            text,
            "void routine{f}(p) begin
               decl q;
               q := p;
               lock := 1 constrain !lock;
               assert(!held);
               held := 1;
               if q then s{a} := s{b}; else q := s{c}; fi;
               while s{b} do s{b} := *; od;
               held := 0;
               lock := 0;
             end\n"
        )
        .expect("a text");
    }
    let calls: String = (0..routines).map(|f| format!("if * then routine{f}(r); fi;\n")).collect();
    text + &format!("void main() begin decl r; while * do\n{calls} od end\n")
}

/// Groups of variables, each with a lock of its own and an assertion about it.
fn groups(n: usize) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("l{i} := 0, x{i} := 0, y{i} := 0")).collect();
    let body: String = (0..n)
        .map(|i| {
            format!(
                "if * then l{i} := 1 constrain !l{i}; x{i} := !x{i}; y{i} := !y{i};
                 assert(x{i} = y{i}); l{i} := 0; fi;\n"
            )
        })
        .collect();
    format!("decl {};\nvoid main() begin while * do\n{body} od end\n", names.join(", "))
}

fn job(text: &str) -> Job<'static> {
    Job::new(&Input::from_text(text, Format::Bp).expect("a program"))
}

fn problem(text: &str) -> Problem {
    job(text).prepare().expect("a question").problem.clone()
}

fn verdict(problem: &Problem) -> Verdict {
    let answer = Localise::default().run(problem, &Limits::none().work(1 << 20), &Silent);
    answer.verdicts.into_iter().next().expect("one target")
}

fn proof(problem: &Problem) -> Vec<LocalProof> {
    match verdict(problem) {
        Verdict::Safe(Certificate::Localised(parts)) => parts.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Models that stand for another one know which of its threads have ended.
#[test]
fn wrappers_know_which_threads_have_ended() {
    let once = groups(2).replace("while * do", "if * then").replace("od end", "fi end");
    // Where a thread that has ended keeps its slot, it is in the configuration.
    let reading = Reading { keep_ended: true, ..Reading::default() };
    let input = Input::from_text_as(&once, Format::Bp, reading).expect("a program");
    let problem = Job::new(&input).prepare().expect("a question").problem.clone();
    let two = Problem { bound: Bound::Threads(2), ..problem.clone() };
    let states = explore(&two, 1, &Limits::none().work(1 << 18), &Silent).expect("few").thread_states();
    let locals: BTreeSet<Local> = states.into_iter().map(|(_, l)| l).collect();
    let ended = |l: &&Local| problem.model.has_ended(**l);
    assert!(locals.iter().any(|l| ended(&l)) && !locals.iter().all(|l| ended(&l)));
    for part in proof(&problem) {
        let (_, model) = localise(&problem, &problem.targets[0], &part.map).expect("it was localised");
        for l in &locals {
            assert_eq!(model.has_ended(model.local(*l)), ended(&l), "{}", problem.model.local_name(*l));
        }
    }
    let (system, _) = tts::read("2 3\n0 0 -> 0 1\n0 1 -> 1 2\n1|2\n");
    let table = system.expect("a system").table;
    let quotient = QuotientModel::new(table.clone(), &QuotientMap::default()).expect("a quotient");
    for l in (0..3).map(Local) {
        assert_eq!(quotient.has_ended(l), l == Local(2));
        assert_eq!(table.has_ended(l), l == Local(2));
    }
}

#[test]
fn irrelevant_variables_cost_nothing() {
    for text in [driver(40), groups(30)] {
        let problem = problem(&text);
        let found = verdict(&problem);
        check(&problem, &problem.targets[0], &found).expect("evidence");
    }
}

#[test]
fn places_of_all_routines_are_merged_and_each_group_has_its_own_part() {
    let [part] = &proof(&problem(&driver(40)))[..] else {
        panic!("one part: all assertions are about `held`")
    };
    assert!(part.map.classes.len() < 10, "{}", part.map.classes.len());
    assert_eq!(part.at.len(), 40);
    let small = proof(&problem(&driver(2)));
    assert_eq!(part.map.classes.len(), small[0].map.classes.len());
    assert_eq!(proof(&problem(&groups(30))).len(), 30);
}

/// Bad configurations with several threads are answered by one part.
#[test]
fn two_threads_at_a_label_are_ruled_out_together() {
    let text = "decl lock := 0, noise := 0;
                void f() begin lock := 1 constrain !lock; C: noise := *; lock := 0; end
                void g() begin lock := 1 constrain !lock; C: skip; lock := 0; end
                void main() begin while * do if noise then f(); else g(); fi; od end";
    let job = job(text).never_two_at("C");
    let problem = &job.prepare().expect("a question").problem;
    assert!(problem.targets[0].configs.len() > 1);
    let found = verdict(problem);
    assert!(matches!(found, Verdict::Safe(_)), "{found:?}");
    check(problem, &problem.targets[0], &found).expect("evidence");
}

/// What a value depends on is kept once it turns out to be needed, also through parameters and
/// results.
#[test]
fn variables_are_added_until_there_is_a_proof() {
    let text = "decl a := 0, b := 0, c := 0, noise;
                bool id(v) begin noise := !noise; return v; end
                void main() begin decl t := 0;
                  while * do a := b; b := c; t := id(a); noise := *; assert(!t); od
                end";
    let problem = problem(text);
    let found = verdict(&problem);
    assert!(matches!(found, Verdict::Safe(_)), "{found:?}");
    check(&problem, &problem.targets[0], &found).expect("evidence");
}

/// A model that could not list all cases of a statement proves nothing any more: leaving many
/// variables open must not lead there.
#[test]
fn statements_that_link_many_variables_are_left_alone() {
    let names: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    let zeros = names.iter().map(|x| format!("{x} := 0")).collect::<Vec<_>>().join(", ");
    let sum = names.join(" ^ ");
    let text = format!(
        "decl ok := 1, noise := 0; decl {zeros};
         void main() begin while * do noise := {sum}; x0 := !x0; assert(ok); od end"
    );
    let problem = problem(&text);
    assert!(matches!(verdict(&problem), Verdict::Unknown(Unknown::Inconclusive(_))));
    problem.complete().expect("nothing was left out");
}

/// The run of a violation, checked.
fn run(problem: &Problem) -> Trace {
    let found = verdict(problem);
    check(problem, &problem.targets[0], &found).expect("evidence");
    match found {
        Verdict::Unsafe(run) => run,
        other => panic!("{other:?}"),
    }
}

/// Runs of the smaller program are followed in the program, past branches, loops and calls that do
/// not matter.
#[test]
fn violations_are_found_behind_what_does_not_matter() {
    let broken = driver(40).replacen("lock := 1 constrain !lock", "lock := 1", 1);
    assert_eq!(run(&problem(&broken)).threads(), 2);
    // The parts that are safe do not hide the one that is not.
    let broken = groups(30).replacen("l17 := 1 constrain !l17;", "", 1);
    assert_eq!(run(&problem(&broken)).threads(), 2);
}

/// Where a run of the smaller program cannot be followed, the variables that it lacks are kept:
/// first a flag, then what its value depends on.
#[test]
fn variables_are_added_until_a_run_can_be_followed() {
    let text = |c: &str| {
        format!(
            "decl a := 0, b := 0, c := {c}, bad := 0, noise;
             void main() begin
               decl t;
               t := noise;
               if t then noise := *; else noise := !noise; fi;
               if * then b := c; fi;
               if * then a := b; fi;
               assume(a);
               while noise do noise := *; od;
               bad := 1;
               assert(!bad);
             end"
        )
    };
    assert_eq!(run(&problem(&text("1"))).threads(), 1);
    assert!(matches!(verdict(&problem(&text("0"))), Verdict::Safe(_)));
}

/// A thread that only another one can let go on: the handing over is seen once the flag is kept.
#[test]
fn runs_in_which_threads_wait_for_each_other_are_followed() {
    let text = "decl flag := 0, noise := 0, bad := 0;
                void main() begin
                  noise := !noise;
                  if * then flag := 1; else assume(flag); flag := 0; noise := *; bad := 1; fi;
                  assert(!bad);
                end";
    assert_eq!(run(&problem(text)).threads(), 2);
}

/// A few statements about a lock and a flag among others that mostly do not matter, but may block,
/// wait, call or start threads.
fn random_noise(rng: &mut Rng) -> String {
    fn statements(rng: &mut Rng, depth: usize) -> String {
        let (a, b) = (rng.index(3), rng.index(3));
        let some = |rng: &mut Rng| {
            (0..1 + rng.index(3)).map(|_| statements(rng, depth.saturating_sub(1))).collect::<String>()
        };
        let kinds = if depth == 0 { 10 } else { 14 };
        match rng.index(kinds) {
            0 => "lock := 1 constrain !lock; busy := 1; busy := 0; lock := 0;\n".into(),
            1 => "lock := 1 constrain !lock; assert(!busy); lock := 0;\n".into(),
            2 => "if !lock then lock := 1; busy := 1; skip; busy := 0; lock := 0; fi;\n".into(),
            3 => format!("assume(n{a});\n"),
            4 => format!("n{a} := *;\n"),
            5 => format!("n{a} := n{b} ^ t;\n"),
            6 => format!("t := n{a};\n"),
            7 => format!("n{a} := !n{a} constrain !n{b};\n"),
            8 => format!("t := help(n{a}, t);\n"),
            9 => if rng.one_in(2) { "broadcast;\n" } else { "if * then wait; fi;\n" }.into(),
            10 => format!("if n{a} & !t then\n{}else\n{}fi;\n", some(rng), some(rng)),
            11 => format!("while n{a} do\n{}n{b} := *;\nod;\n", some(rng)),
            12 => format!("if * then\n{}fi;\n", some(rng)),
            _ => format!("atomic_begin; n{a} := t; n{b} := !t; atomic_end;\n{}", some(rng)),
        }
    }
    let body: String = (0..3 + rng.index(5)).map(|_| statements(rng, 2)).collect();
    let start = if rng.one_in(4) { "start_thread help(t, n0);\n" } else { "" };
    format!(
        "decl lock := 0, busy := 0, n0 := 0, n1 := 1, n2;
         bool help(p, q) begin n1 := p; if q then return !p; fi; return n2; end
         void main() begin decl t := 0;\n{start}{body}assert(!busy); end"
    )
}

/// What is said with few variables is what is said with all of them, by search with counted threads
/// and backward.
#[test]
fn random_programs_with_noise() {
    let rounds = std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut safe, mut hit, mut open) = (0, 0, 0);
    for seed in 0..rounds {
        let text = random_noise(&mut Rng::new(0x0f0110 ^ seed));
        let problem = problem(&text);
        let found = verdict(&problem);
        check(&problem, &problem.targets[0], &found).unwrap_or_else(|flaw| panic!("{flaw}\n{text}"));
        let others: [&dyn Algorithm; 2] = [&Explicit::default(), &Backward];
        for other in others {
            let answer = other.run(&problem, &Limits::none().work(1 << 15), &Silent);
            let agrees = match (&answer.verdicts[0], &found) {
                (Verdict::Safe(_), found) => !matches!(found, Verdict::Unsafe(_)),
                (Verdict::Unsafe(_), found) => !matches!(found, Verdict::Safe(_)),
                (Verdict::Unknown(_), _) => true,
            };
            assert!(agrees, "{}: {:?}, but {found:?}\n{text}", other.name(), answer.verdicts[0]);
        }
        match found {
            Verdict::Safe(_) => safe += 1,
            Verdict::Unsafe(_) => hit += 1,
            Verdict::Unknown(_) => open += 1,
        }
    }
    assert!(safe > rounds / 10 && hit > rounds / 10 && open <= rounds / 10, "{safe} {hit} {open}");
}

/// Shares of work add up: what one share has proved the next need not prove again.
#[test]
fn a_search_goes_on_where_it_stopped() {
    let problem = problem(&groups(30));
    let engine = Localise::default();
    let mut shares = 0;
    let found = loop {
        shares += 1;
        let answer = engine.run(&problem, &Limits::none().work(1 << 12), &Silent);
        match answer.verdicts.into_iter().next().expect("one target") {
            Verdict::Unknown(why) => assert_eq!(why, Unknown::Work),
            found => break found,
        }
        assert!(shares < 1000, "each share is enough for some part");
    };
    assert!(shares > 2, "a single share is not enough: {shares}");
    assert!(matches!(found, Verdict::Safe(_)), "{found:?}");
    check(&problem, &problem.targets[0], &found).expect("evidence");
}

#[test]
fn other_models_are_refused() {
    let net = Input::from_text("vars x rules x >= 1 -> x' = x; init x = 1 target x >= 2", Format::Spec);
    let net = Job::new(&net.expect("a net")).prepare().expect("a question").problem.clone();
    assert!(matches!(verdict(&net), Verdict::Unknown(Unknown::NotForThisModel(_))));
}

/// Signals, broadcasts and statements about other threads.
#[test]
fn bystanders_move_in_the_smaller_program_too() {
    let text = |last: &str| {
        format!(
            "decl lock := 0, held := 0, noise := 0;
             void main() begin decl mine := 0, other;
               while * do
                 other := noise;
                 if other then noise := !noise; fi;
                 if * then wait; fi;
                 lock := 1 constrain !lock;
                 mine, mine$ := 1, 0;
                 assert(mine & !held);
                 held := 1; noise := *; held := 0;
                 if * then signal; else broadcast; fi;
                 lock := 0;
                 {last}
               od
             end"
        )
    };
    let safe = problem(&text("skip;"));
    let found = verdict(&safe);
    assert!(matches!(found, Verdict::Safe(_)), "{found:?}");
    check(&safe, &safe.targets[0], &found).expect("evidence");
    assert!(run(&problem(&text("held := 1;"))).threads() <= 2);
}

/// The certificate as a file, checked against the text by the interpreter.
#[test]
fn certificates_stand_without_the_compiled_model() {
    for text in [driver(5), groups(4)] {
        let source = Source::new("program.bp", text.clone());
        let loaded = throng_lang::load::read(source, Format::Bp, &Reading::default()).expect("a program");
        let asked = throng_dev::harness::certificates::problem(
            &loaded,
            std::path::Path::new(""),
            &throng_lang::question::Question::default(),
        );
        let found = verdict(&asked);
        assert!(matches!(found, Verdict::Safe(Certificate::Localised(_))), "{found:?}");
        let bytes = written(&loaded, &Reading::default(), &asked, &[found]);
        judge(&loaded, &bytes).expect("valid");
        // Without one of the places that it is about, nothing is known of the assertion there.
        let mut document: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        let at = &mut document["evidence"][0]["localised"]["parts"][0]["at"];
        at.as_array_mut().expect("places").pop();
        judge(&loaded, document.to_string().as_bytes()).expect_err("incomplete");
    }
}

#[test]
fn what_is_not_about_the_localised_model_is_refused() {
    let problem = problem(&driver(2));
    let refused = |change: &dyn Fn(&mut Vec<LocalProof>)| {
        let mut parts = proof(&problem);
        change(&mut parts);
        let verdict = Verdict::Safe(Certificate::Localised(Arc::new(parts)));
        check(&problem, &problem.targets[0], &verdict).expect_err("forged")
    };
    assert!(matches!(refused(&|parts| parts.clear()), Flaw::Malformed(_)));
    // A value of a variable that is not kept.
    let start = problem.initial[0].shared;
    assert!(matches!(
        refused(&|parts| {
            let Certificate::Views(views) = &mut parts[0].proof else { panic!("views") };
            let mut blocks: Vec<Block> = views.blocks().collect();
            blocks[0].shared = start;
            *views = Arc::new(Views::of_blocks(blocks));
        }),
        Flaw::Malformed(_)
    ));
    // A place in two classes, and a class whose representative is elsewhere.
    let class = |parts: &[LocalProof]| parts[0].map.classes.iter().position(|c| c.1.len() > 1).expect("one");
    refused(&|parts| {
        let at = class(parts);
        let again = parts[0].map.classes[at].clone();
        parts[0].map.classes.push(again);
    });
    refused(&|parts| {
        let at = class(parts);
        let (first, members) = &mut parts[0].map.classes[at];
        members.retain(|l| l != first);
    });
    // Without the lock the smaller program is not safe.
    let open = problem.targets[0].configs[0].shared;
    refused(&|parts| parts[0].map.shared = open);
}
