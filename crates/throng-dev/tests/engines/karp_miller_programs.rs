//! `karp-miller` on programs: against the other engines on random ones, and on programs with
//! millions of conceivable local states.
//!
//! `THRONG_RANDOM=10000 cargo test --release -p throng-dev --test engines karp_miller_programs:: -- --nocapture`
//! runs 10 000 random programs.

#![allow(clippy::print_stderr)] // how much was run

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng_check::rules::check;
use throng_dev::Rng;
use throng_dev::programs::{Knobs, program};
use throng_engine::backward::Backward;
use throng_engine::explicit::{Explicit, reachable};
use throng_engine::karp_miller::{KarpMiller, reachable_unbounded};
use throng_engine::{Algorithm, Silent};
use throng_lang::bp::{Jit, Options, read};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;
use throng_model::waiting::Waits;
use throng_model::{
    Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step, Traits, Transfers,
};

fn jit(text: &str, options: Options) -> Arc<Jit> {
    let (jit, diagnostics) = read(text, &options);
    Arc::new(jit.unwrap_or_else(|| panic!("{text}\n{diagnostics:?}")))
}

fn problem(jit: &Arc<Jit>, initial: Option<u32>) -> Problem {
    Problem {
        initial: vec![jit.initial(initial)],
        initial_text: String::new(),
        targets: jit.assertions().into_iter().collect(),
        bound: Bound::Any,
        model: jit.clone(),
    }
}

fn limits() -> Limits {
    Limits::none().work(1 << 24)
}

/// The verdict, if there is one within the limits; its evidence stands.
fn verdict(engine: &dyn Algorithm, problem: &Problem, context: &str) -> Option<Verdict> {
    let verdict = engine.run(problem, &limits(), &Silent).verdicts.remove(0);
    let flaw = check(problem, &problem.targets[0], &verdict).err();
    assert_eq!(flaw, None, "{}: {context}", engine.name());
    (!matches!(verdict, Verdict::Unknown(_))).then_some(verdict)
}

fn is_unsafe(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unsafe(_))
}

/// The same program, its words taken as plain states: nothing is compared as sets.
struct Words(Arc<Jit>);

impl Model for Words {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.post(s, l, out)
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: true }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, l: Local) -> bool {
        self.0.has_ended(l)
    }

    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Describe for Words {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        self.0.shared_values(s)
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.0.local_values(l)
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.0.place(l)
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.0.edge_place(edge)
    }
}

/// Every concrete thread state.
fn members(jit: &Jit, states: &[(Shared, Local)]) -> BTreeSet<(Shared, Local)> {
    let of = |&(s, l): &(Shared, Local)| {
        let locals = jit.members_local(l);
        jit.members_shared(s)
            .into_iter()
            .flat_map(move |s| locals.clone().into_iter().map(move |l| (s, l)))
            .collect::<Vec<_>>()
    };
    states.iter().flat_map(of).collect()
}

/// Compares the reachable thread states with those of a search over plain words, and of few
/// threads; says whether it was quick enough.
fn reach_alike(text: &str, initial: Option<u32>) -> bool {
    let jit = jit(text, Options { exact_copies: true, ..Options::default() });
    let any = problem(&jit, initial);
    let words = Problem { model: Arc::new(Words(jit.clone())), targets: Vec::new(), ..any.clone() };
    let Ok(found) = reachable_unbounded(&any, &limits(), &Silent) else { return false };
    let found = members(&jit, &found);
    let few = Problem { bound: Bound::Threads(3), ..any };
    if let Ok(few) = reachable(&few, 1, &limits(), &Silent) {
        assert!(members(&jit, &few).is_subset(&found), "three threads reach more:\n{text}");
    }
    let Ok(expected) = reachable_unbounded(&words, &limits(), &Silent) else { return false };
    assert_eq!(found, members(&jit, &expected), "{text}");
    true
}

#[test]
fn random_programs_agree_with_the_other_engines() {
    let rounds = std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(150_u64);
    let (mut asked, mut bad, mut both, mut reached) = (0, 0, 0, 0);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_039));
        let knobs = Knobs { wake: false, passive: false, asserts: true, ..Knobs::random(&mut rng) };
        let text = program(&mut rng, &knobs);
        let initial = if rng.one_in(2) { None } else { Some(1 + rng.index(2) as u32) };
        let context = format!("seed {seed}, initially {initial:?}\n{text}");
        let problem = problem(&jit(&text, Options::default()), initial);
        if problem.targets.is_empty() || problem.model.blocking().is_some() {
            continue;
        }
        asked += 1;
        let Some(forward) = verdict(&KarpMiller::default(), &problem, &context) else { continue };
        bad += u64::from(is_unsafe(&forward));
        if let Some(backward) = verdict(&Backward, &problem, &context) {
            both += 1;
            assert_eq!(is_unsafe(&forward), is_unsafe(&backward), "{context}");
        }
        let most = if let Verdict::Unsafe(trace) = &forward { trace.threads().min(4) } else { 3 };
        let hunt = Explicit { max_threads: Some(most), ..Explicit::default() };
        if let Some(hunted) = verdict(&hunt, &problem, &context) {
            assert_eq!(is_unsafe(&forward), is_unsafe(&hunted), "{context}");
        }
        reached += u64::from(reach_alike(&text, initial));
    }
    eprintln!(
        "{rounds} programs: {asked} asked, {bad} unsafe, {both} also backward, {reached} with the same thread states"
    );
    assert!(both * 2 > asked && bad * 10 > asked && reached * 2 > asked);
}

/// Programs in which every thread has `n` local variables, and one assertion that holds unless
/// `broken`.
fn many_locals(n: usize, broken: bool) -> Vec<(&'static str, String)> {
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let each = |text: &dyn Fn(usize) -> String| (0..n).map(text).collect::<String>();
    let lock = if broken { "lock := 1" } else { "lock := 1 constrain !lock" };
    let critical = format!("{lock}; assert(!busy); busy := 1; busy := 0; lock := 0;");
    let whole = |init: &str, body: String| {
        let all: Vec<String> = names.iter().map(|x| format!("{x}{init}")).collect();
        format!("decl lock := 0, busy := 0; void main() begin decl {}; {body} end", all.join(", "))
    };
    let labels = |l: &str| (0..n).map(|i| format!("{l}{i}")).collect::<Vec<_>>().join(", ");
    let tests = each(&|i| format!("B{i}: if x{i} then skip; fi; goto N; "));
    let sets = each(&|i| format!("A{i}: x{i} := *; goto N; "));
    let toggles = each(&|i| format!("A{i}: x{i} := !x{i}; goto N; "));
    vec![
        // One after the other, each read once.
        ("sequence", whole(" := 0", each(&|i| format!("x{i} := *; if x{i} then skip; fi; ")) + &critical)),
        // Set from `*`, read all at once.
        (
            "flags",
            whole(
                " := 0",
                each(&|i| format!("x{i} := *; ")) + &format!("assume({}); {critical}", names.join(" & ")),
            ),
        ),
        // Set and read in any order, any number of times.
        (
            "loop",
            whole(
                " := 0",
                format!(
                    "while * do goto {}, {}, E; {sets} {tests} E: {critical} N: skip; od",
                    labels("A"),
                    labels("B")
                ),
            ),
        ),
        // Never set, read in any order.
        (
            "tests",
            whole("", format!("while * do goto {}, E; {tests} E: {critical} N: skip; od", labels("B"))),
        ),
        // Changed in any order, never read: two to the n values really occur.
        (
            "toggles",
            whole(
                " := 0",
                format!("while * do goto {}, E; {toggles} E: {critical} N: skip; od", labels("A")),
            ),
        ),
    ]
}

#[test]
fn many_local_variables_cost_what_is_reached() {
    for broken in [false, true] {
        for (name, text) in many_locals(24, broken) {
            let problem = problem(&jit(&text, Options::default()), None);
            let began = Instant::now();
            let answer = KarpMiller::default().run(
                &problem,
                &Limits::none().timeout(Duration::from_secs(600)),
                &Silent,
            );
            let nodes = answer.statistics.configurations;
            assert!(check(&problem, &problem.targets[0], &answer.verdicts[0]).is_ok(), "{name}");
            assert_eq!(is_unsafe(&answer.verdicts[0]), broken, "{name}: {:?}", answer.verdicts[0]);
            assert!(nodes < 10_000, "{name}: {nodes} nodes");
            eprintln!(
                "{name}, {}: {nodes} nodes, {:.2} s",
                if broken { "broken" } else { "safe" },
                began.elapsed().as_secs_f64()
            );
        }
    }
}

#[test]
fn a_spawner_with_many_local_variables() {
    let labels: Vec<String> = (0..8).map(|i| format!("B{i}")).collect();
    let tests: String = (0..8).map(|i| format!("B{i}: if x{i} then skip; fi; goto S; ")).collect();
    let names: Vec<String> = (0..8).map(|i| format!("x{i}")).collect();
    for (lock, broken) in [("lock := 1 constrain !lock", false), ("lock := 1", true)] {
        let text = format!(
            "decl lock := 0, busy := 0; void main() begin decl {}; S: start_thread goto W; goto {}; {tests} \
             W: {lock}; assert(!busy); busy := 1; busy := 0; lock := 0; goto W; end",
            names.join(", "),
            labels.join(", ")
        );
        let found =
            verdict(&KarpMiller::default(), &problem(&jit(&text, Options::default()), Some(1)), &text);
        assert_eq!(found.map(|v| is_unsafe(&v)), Some(broken));
    }
}
