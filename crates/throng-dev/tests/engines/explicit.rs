//! The explicit engine against a naive search, and the checker against forged evidence.

use std::any::Any;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use throng_check::rules::{Flaw, check};
use throng_dev::{Knobs, Rng, Signals, laws, naive, random_configs, random_problem, random_table};
use throng_engine::explicit::{Explicit, explore, reachable};
use throng_engine::{Algorithm, Answer, Progress, Silent, Watch};
use throng_model::cubes::{Cube, Cubes, ONE};
use throng_model::limits::{Limits, Stopper};
use throng_model::packed::Packed;
use throng_model::packed::pack::Packer;
use throng_model::packed::shards::Shards;
use throng_model::packed::store::{ROOT, hash};
use throng_model::problem::{Bound, Initial, Problem, Target};
use throng_model::table::{Fate, Names, Table, thread_step};
use throng_model::verdict::{Certificate, Trace, Unknown, Verdict};
use throng_model::waiting::Waits;
use throng_model::{
    Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, Predecessors, SetStates,
    Shared, Step, Traits, Transfers,
};

fn bag(ls: &[u64]) -> Bag {
    ls.iter().map(|&l| Local(l)).collect()
}

fn config(s: u64, ls: &[u64]) -> Config {
    Config::new(Shared(s), bag(ls))
}

fn target(s: u64, ls: &[u64]) -> Target {
    Target::covering(format!("{s}|{ls:?}"), vec![config(s, ls)])
}

fn run(engine: &Explicit, problem: &Problem) -> Answer {
    let answer = engine.run(problem, &Limits::none(), &Silent);
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        check(problem, target, verdict).unwrap_or_else(|flaw| panic!("{}: {flaw}", target.name));
    }
    answer
}

/// What a verdict says, as [`naive`] says it.
fn summary(verdict: &Verdict) -> Option<(u32, usize)> {
    match verdict {
        Verdict::Unsafe(trace) => Some((trace.threads(), trace.steps.len())),
        Verdict::Safe(_) | Verdict::Unknown(Unknown::Bound(_)) => None,
        Verdict::Unknown(why) => panic!("{why}"),
    }
}

/// The example of reference 3.7: a spawner in 0, workers in 1; one worker wins and sends all others
/// to 3.
fn winner(bound: Bound, any: Vec<Local>, targets: Vec<Target>) -> Problem {
    let mut table = Table::new(Names::Numbers(3), Names::Numbers(4));
    let spawn = Step { spawn: bag(&[1]), ..thread_step(0, 0, 1, 0) };
    table.add(spawn, vec![], Place::default());
    table.add(thread_step(1, 0, 0, 0), vec![], Place::default());
    table.add(thread_step(0, 1, 2, 2), vec![(Local(1), Fate::To(Local(3)))], Place::default());
    let initial = vec![Initial { shared: Shared(0), threads: bag(&[0]), any }];
    Problem { model: Arc::new(table), initial, initial_text: "0|0".into(), targets, bound }
}

#[test]
fn the_worked_example_has_its_published_answers() {
    for any in [vec![], vec![Local(0)]] {
        let targets = vec![target(2, &[2, 3]), target(2, &[1]), target(2, &[2, 2])];
        let problem = winner(Bound::Threads(6), any, targets);
        let answer = run(&Explicit::default(), &problem);
        let Verdict::Unsafe(trace) = &answer.verdicts[0] else { panic!("{:?}", answer.verdicts[0]) };
        // Two spawns with a step back after each, then one wins.
        assert_eq!((trace.threads(), trace.steps.len()), (3, 5));
        assert!(answer.verdicts[1..].iter().all(|v| matches!(v, Verdict::Safe(_))));
        assert_eq!(answer.statistics.complete_up_to, Some(6));
    }
}

#[test]
fn without_a_bound_the_worked_example_is_hunted_up_to_the_cap() {
    let problem = winner(Bound::Any, vec![], vec![target(2, &[2, 3]), target(2, &[2, 2])]);
    let engine = Explicit { max_threads: Some(8), ..Explicit::default() };
    let answer = run(&engine, &problem);
    assert!(matches!(&answer.verdicts[0], Verdict::Unsafe(t) if t.threads() == 3));
    assert_eq!(answer.verdicts[1], Verdict::Unknown(Unknown::Bound(8)));
    assert_eq!(answer.statistics.complete_up_to, Some(8));
}

#[test]
fn a_skipped_spawn_is_no_run_of_a_larger_bound() {
    // The only step creates a thread; 1|1 alone means that it was skipped.
    let mut table = Table::new(Names::Numbers(2), Names::Numbers(3));
    table.add(Step { spawn: bag(&[2]), ..thread_step(0, 0, 1, 1) }, vec![], Place::default());
    table.add(thread_step(1, 2, 0, 2), vec![], Place::default());
    let initial = vec![Initial { shared: Shared(0), threads: bag(&[0]), any: vec![] }];
    let targets = vec![target(1, &[1])];
    let ask = |bound| Problem {
        model: Arc::new(table.clone()),
        initial: initial.clone(),
        initial_text: String::new(),
        targets: targets.clone(),
        bound,
    };
    let threads = |bound| summary(&run(&Explicit::default(), &ask(bound)).verdicts[0]).map(|found| found.0);
    assert_eq!(threads(Bound::Threads(1)), Some(1), "at the bound no thread is created");
    assert_eq!(threads(Bound::Threads(2)), Some(2), "below it, one is");
    assert_eq!(threads(Bound::Any), Some(2));
}

/// A random model: mostly a table, sometimes with signals, sometimes with words that overlap.
fn random_model(rng: &mut Rng, knobs: &Knobs) -> Arc<dyn Model> {
    let table = random_table(rng, knobs);
    match rng.below(4) {
        0 => Arc::new(Signals::random(rng, table)),
        1 => Arc::new(Overlapping(table)),
        _ => Arc::new(table),
    }
}

/// A table whose words stand for sets of bits when targets are looked at.
struct Overlapping(Table);

impl Model for Overlapping {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.post(s, l, out)
    }

    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.post_shared(s, out)
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: true }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        Some(self)
    }

    fn has_ended(&self, _: Local) -> bool {
        false
    }

    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Transfers for Overlapping {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        self.0.bystander(step, l, out)
    }

    fn woken(&self, _: Local) -> Option<Local> {
        None
    }
}

impl SetStates for Overlapping {
    fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        (a.0 + 1) & (b.0 + 1) != 0
    }

    fn meets_local(&self, a: Local, b: Local) -> bool {
        (a.0 + 1) & (b.0 + 1) != 0
    }

    fn within_shared(&self, a: Shared, b: Shared) -> bool {
        a == b
    }

    fn within_local(&self, a: Local, b: Local) -> bool {
        a == b
    }

    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        (a == b).then_some(a)
    }

    fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        (a == b).then_some(a)
    }

    fn local_class(&self, l: Local) -> u64 {
        l.0
    }

    fn inside_atomic(&self, _: Shared) -> bool {
        false
    }

    fn sample_shared(&self, s: Shared) -> Shared {
        s
    }

    fn sample_local(&self, l: Local) -> Local {
        l
    }

    fn narrow(&self, step: &Step, _: Shared, _: Option<Local>, _: Option<Local>) -> Option<(Shared, Local)> {
        Some((step.from, step.take.entries().first()?.0))
    }

    fn narrow_bystander(&self, _: &Step, before: Local, _: Local) -> Option<Local> {
        Some(before)
    }

    fn cubes(&self) -> &dyn Cubes {
        self
    }

    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.post(s, l, out)
    }

    fn set_stop_check(&self, _: Option<throng_model::StopCheck>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// No variable is open, so that nothing is ever split.
impl Cubes for Overlapping {
    fn shared_cube(&self, s: Shared) -> (bool, Cube) {
        (false, Cube::from_elem(ONE, s.0 as usize + 1))
    }

    fn local_cube(&self, l: Local) -> (u32, Cube) {
        (l.0 as u32, Cube::new())
    }

    fn encode_shared(&self, _: bool, masks: &[u8]) -> Shared {
        Shared(masks.len() as u64 - 1)
    }

    fn encode_local(&self, point: u32, _: &[u8]) -> Local {
        Local(point.into())
    }
}

impl Describe for Overlapping {
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

#[test]
fn bounded_answers_agree_with_a_naive_search() {
    let mut counts = [0; 2];
    for seed in 0..3000 {
        let rng = &mut Rng::new(seed);
        let knobs = Knobs { shared: 1 + rng.below(4), locals: 1 + rng.below(5), ..Knobs::default() };
        let model = random_model(rng, &knobs);
        let bound = rng.below(5) as u32;
        let problem = random_problem(rng, &knobs, model, Bound::Threads(bound));
        let answer = run(&Explicit::default(), &problem);
        let found: Vec<_> = answer.verdicts.iter().map(summary).collect();
        assert_eq!(found, naive(&problem, bound), "seed {seed}");
        for verdict in &answer.verdicts {
            counts[usize::from(matches!(verdict, Verdict::Safe(_)))] += 1;
        }
    }
    assert!(counts.iter().all(|&n| n > 1500), "both answers are common: {counts:?}");
}

#[test]
fn hunting_without_a_bound_agrees_with_a_naive_search() {
    let mut safe = 0;
    for seed in 0..1000 {
        let rng = &mut Rng::new(1 << 32 | seed);
        let knobs = Knobs { shared: 1 + rng.below(4), locals: 1 + rng.below(5), ..Knobs::default() };
        let model = random_model(rng, &knobs);
        let most = rng.below(5) as u32;
        let problem = random_problem(rng, &knobs, model, Bound::Any);
        let answer = run(&Explicit { max_threads: Some(most), ..Explicit::default() }, &problem);
        let found: Vec<_> = answer.verdicts.iter().map(summary).collect();
        assert_eq!(found, naive(&problem, most), "seed {seed}");
        safe += answer.verdicts.iter().filter(|v| matches!(v, Verdict::Safe(_))).count();
    }
    assert!(safe > 100, "some are safe for any number of threads: {safe}");
}

#[test]
fn reachable_thread_states_are_those_of_the_reachable_configurations() {
    for seed in 0..300 {
        let rng = &mut Rng::new(2 << 32 | seed);
        let knobs = Knobs::default();
        let model = random_model(rng, &knobs);
        let bound = Bound::Threads(1 + rng.below(4) as u32);
        let problem = random_problem(rng, &knobs, model, bound);
        let limits = Limits::none();
        let explored = explore(&problem, 1, &limits, &Silent).unwrap();
        let mut states: Vec<(Shared, Local)> = Vec::new();
        for c in explored.configurations().unwrap() {
            states.extend(c.threads.entries().iter().map(|e| (c.shared, e.0)));
        }
        states.sort_unstable();
        states.dedup();
        assert_eq!(reachable(&problem, 1, &limits, &Silent).unwrap(), states);
    }
}

#[test]
fn tables_and_signals_obey_the_laws() {
    let mut tested = 0;
    for seed in 0..400 {
        let rng = &mut Rng::new(3 << 32 | seed);
        let knobs = Knobs { block: 20 * (seed % 2), ..Knobs::default() };
        let table = random_table(rng, &knobs);
        let signals = Signals::random(rng, table.clone());
        let configs = random_configs(rng, &knobs, 12, 5);
        for model in [&table as &dyn Model, &signals] {
            tested += laws(model, &configs).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    }
    assert!(tested > 100_000, "{tested}");
}

/// A model that breaks a law: it forgets to list one step backward.
struct Forgetful(Table);

impl Model for Forgetful {
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
        self.0.waits()
    }

    fn predecessors(&self) -> Option<&dyn Predecessors> {
        Some(self)
    }
}

impl Predecessors for Forgetful {
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.pre(s, l, out).unwrap();
        out.retain(|step| step.edge != Edge(0));
        Ok(())
    }

    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.0.pre_shared(s, out)
    }

    fn bystander_back(&self, _: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete> {
        out.push(l);
        Ok(())
    }

    fn woken_back(&self, _: Local, _: &mut Vec<Local>) {}

    fn waiting(&self, _: &mut Vec<Local>) {}
}

impl Describe for Forgetful {
    fn shared_values(&self, _: Shared) -> Vec<(String, String)> {
        Vec::new()
    }

    fn local_values(&self, _: Local) -> Vec<(String, String)> {
        Vec::new()
    }

    fn place(&self, _: Local) -> Option<Place> {
        None
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.0.edge_place(edge)
    }
}

#[test]
fn a_model_that_forgets_a_step_breaks_a_law() {
    let mut table = Table::new(Names::Numbers(1), Names::Numbers(3));
    table.add(thread_step(0, 0, 0, 1), vec![], Place::default());
    table.add(thread_step(0, 1, 0, 2), vec![], Place::default());
    let configs = [config(0, &[0, 1])];
    assert!(laws(&table, &configs).is_ok());
    assert!(laws(&Forgetful(table), &configs).unwrap_err().contains("lacks"));
}

/// Threads that walk along `length` states; one at a time may be in the second half.
fn walkers(length: u64, bound: Bound, targets: Vec<Target>) -> Problem {
    let mut table = Table::new(Names::Numbers(2), Names::Numbers(length));
    for l in 0..length {
        let next = (l + 1) % length;
        let enters = next == length / 2;
        let leaves = next == 0;
        for s in 0..2 {
            if !(enters && s == 1) {
                let to = if leaves { 0 } else { s | u64::from(enters) };
                table.add(thread_step(s, l, to, next), vec![], Place::default());
            }
        }
    }
    let initial = vec![Initial { shared: Shared(0), threads: Bag::new(), any: vec![Local(0)] }];
    Problem { model: Arc::new(table), initial, initial_text: "0/0".into(), targets, bound }
}

#[test]
fn several_jobs_give_the_same_answer() {
    // Large enough for parallel rounds: 14 threads in 12 states.
    let crowd = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
    let targets = vec![target(1, &crowd), target(1, &[9, 4, 4, 4, 4]), target(1, &[6, 6])];
    let problem = walkers(12, Bound::Threads(14), targets);
    let alone = run(&Explicit::default(), &problem);
    let two = run(&Explicit { jobs: 2, ..Explicit::default() }, &problem);
    let three = run(&Explicit { jobs: 3, ..Explicit::default() }, &problem);
    assert!(two.verdicts == three.verdicts);
    // One thread may find other shortest runs, and has the same configurations in another order.
    let short = |answer: &Answer| answer.verdicts.iter().map(summary).collect::<Vec<_>>();
    assert_eq!(short(&alone), short(&two));
    let sorted = |verdict: &Verdict| match verdict {
        Verdict::Safe(Certificate::Packed(set)) => {
            let mut configs: Vec<Config> = set.iter().collect();
            configs.sort_unstable();
            configs
        }
        _ => panic!("it is safe"),
    };
    assert!(sorted(&alone.verdicts[2]) == sorted(&two.verdicts[2]));
    for together in [&two, &three] {
        assert_eq!(alone.statistics, together.statistics);
    }
    assert!(alone.statistics.configurations > 100_000);
    assert!(matches!(alone.verdicts[2], Verdict::Safe(_)));
}

#[test]
fn small_searches_may_be_shared_as_well() {
    let mut hits = 0;
    for seed in 0..200 {
        let knobs = Knobs { shared: 4, locals: 6, steps: 24, ..Knobs::default() };
        let mut rng = Rng::new(seed);
        let table = Arc::new(random_table(&mut rng, &knobs));
        let problem = random_problem(&mut rng, &knobs, table, Bound::Threads(4));
        let alone = run(&Explicit::default(), &problem);
        let shared = run(&Explicit { jobs: 2, share_from: 0, ..Explicit::default() }, &problem);
        for ((target, one), two) in problem.targets.iter().zip(&alone.verdicts).zip(&shared.verdicts) {
            assert_eq!(summary(one), summary(two), "{seed}");
            check(&problem, target, two).unwrap_or_else(|flaw| panic!("{seed}: {flaw}"));
            hits += usize::from(summary(two).is_some());
        }
    }
    assert!(hits > 50, "{hits}");
}

#[test]
fn one_finding_is_enough_if_asked() {
    let problem =
        winner(Bound::Threads(6), vec![], vec![target(2, &[1]), target(2, &[2, 3]), target(1, &[0])]);
    let answer = run(&Explicit { stop_at_first: true, ..Explicit::default() }, &problem);
    let is_unsafe: Vec<bool> = answer.verdicts.iter().map(|v| matches!(v, Verdict::Unsafe(_))).collect();
    assert_eq!(is_unsafe, [false, false, true]);
    assert_eq!(answer.verdicts[0], Verdict::Unknown(Unknown::Cancelled));
}

/// A net: 0 → 1 1 (doubles), 1 1 1 → 2 (needs three).
fn doubling(any: Vec<Local>, bound: Bound) -> Problem {
    let net = |take: &[u64], put: &[u64]| Step {
        from: Shared(0),
        to: Shared(0),
        take: bag(take),
        put: bag(put),
        spawn: Bag::new(),
        others: Bystanders::Stay,
        edge: Edge(0),
        choice: 0,
    };
    let mut table = Table::new(Names::Numbers(1), Names::Numbers(4));
    table.add(net(&[0], &[1, 1]), vec![], Place::default());
    table.add(net(&[1, 1, 1], &[2]), vec![], Place::default());
    let initial = vec![Initial { shared: Shared(0), threads: Bag::new(), any }];
    let targets = vec![target(0, &[2]), target(0, &[2, 2]), target(0, &[3])];
    Problem { model: Arc::new(table), initial, initial_text: String::new(), targets, bound }
}

#[test]
fn tokens_are_counted_at_the_start_only() {
    let problem = doubling(vec![Local(0)], Bound::Tokens(2));
    let answer = run(&Explicit::default(), &problem);
    let Verdict::Unsafe(trace) = &answer.verdicts[0] else { panic!("{:?}", answer.verdicts[0]) };
    assert_eq!((trace.start.threads.size(), trace.steps.len()), (2, 3));
    assert!(matches!(answer.verdicts[1], Verdict::Safe(_)), "that takes three tokens");
    assert!(matches!(answer.verdicts[2], Verdict::Safe(_)));
    assert_eq!(answer.statistics.complete_up_to, Some(2));
    // Counting what is there at once, four tokens are needed; of any number, the rest stays open.
    let hunted =
        run(&Explicit { max_threads: Some(5), ..Explicit::default() }, &doubling(vec![Local(0)], Bound::Any));
    assert_eq!(summary(&hunted.verdicts[0]), Some((4, 3)));
}

#[test]
fn a_finite_system_is_safe_for_any_number_of_threads() {
    let mut problem = doubling(vec![], Bound::Any);
    problem.initial[0].threads = bag(&[0, 0]);
    let answer = run(&Explicit::default(), &problem);
    assert!(matches!(answer.verdicts[0], Verdict::Unsafe(_)));
    assert!(answer.verdicts[1..].iter().all(|v| matches!(v, Verdict::Safe(_))));
}

#[test]
fn time_and_a_stop_end_the_search() {
    let problem = walkers(14, Bound::Any, vec![target(1, &[7, 7])]);
    let engine = Explicit::default();
    let ends = |limits: Limits| engine.run(&problem, &limits, &Silent);
    let timeout = Duration::from_millis(150);
    let answer = ends(Limits::none().timeout(timeout));
    assert_eq!(answer.verdicts, [Verdict::Unknown(Unknown::Time(timeout))]);
    let answer = ends(Limits::none().work(1 << 20));
    assert_eq!(answer.verdicts, [Verdict::Unknown(Unknown::Work)]);
    assert!(answer.statistics.complete_up_to.is_some_and(|k| k >= 2), "{:?}", answer.statistics);
    let stopped = Limits::none();
    stopped.stopper().stop();
    assert_eq!(ends(stopped).verdicts, [Verdict::Unknown(Unknown::Cancelled)]);
}

/// Keeps what it hears, and stops the search when it has heard enough.
struct Listening(Mutex<Vec<Progress>>, Stopper);

impl Watch for Listening {
    fn progress(&self, now: &Progress) {
        let mut heard = self.0.lock().unwrap();
        heard.push(now.clone());
        if heard.len() >= 3 {
            self.1.stop();
        }
    }
}

#[test]
fn a_watcher_hears_a_few_times_a_second() {
    let problem = walkers(14, Bound::Any, vec![target(1, &[7, 7])]);
    let (limits, began) = (Limits::none(), Instant::now());
    let listening = Listening(Mutex::default(), limits.stopper());
    Explicit::default().run(&problem, &limits, &listening);
    // However busy the machine is, it hears something, and not more than a few times a second.
    assert!(began.elapsed() >= Duration::from_millis(600), "{:?}", began.elapsed());
    let heard = listening.0.into_inner().unwrap();
    assert!(heard.iter().all(|p| p.engine == "explicit" && p.phase.ends_with("threads")));
}

#[test]
fn thousands_of_targets_are_decided_by_one_search() {
    let targets: Vec<Target> =
        (0..4000).map(|i| target(i % 2, &[i / 2 % 20, i / 40 % 20, i / 800])).collect();
    let problem = walkers(20, Bound::Threads(3), targets);
    let answer = Explicit::default().run(&problem, &Limits::none(), &Silent);
    let expected = naive(&problem, 3);
    for (i, verdict) in answer.verdicts.iter().enumerate() {
        assert_eq!(summary(verdict), expected[i], "{}", problem.targets[i].name);
    }
}

/// Evidence for the worked example: a run of five steps, and a closed set.
fn evidence() -> (Problem, Trace, Vec<Config>) {
    let problem = winner(Bound::Threads(3), vec![Local(0)], vec![target(2, &[2, 3]), target(2, &[1])]);
    let mut answer = run(&Explicit::default(), &problem);
    let Some(Verdict::Safe(Certificate::Packed(set))) = answer.verdicts.pop() else { panic!() };
    let Some(Verdict::Unsafe(trace)) = answer.verdicts.pop() else { panic!() };
    (problem, trace, set.iter().collect())
}

/// The set as a search would have stored it.
fn packed(set: &[Config]) -> Packed {
    let (shared, locals): (Vec<Shared>, Vec<Local>) =
        ((0..9).map(Shared).collect(), (0..9).map(Local).collect());
    let (mut store, mut packer) = (Shards::new(&None), Packer::default());
    for config in set {
        let entries: Vec<(u32, u32)> =
            config.threads.entries().iter().map(|&(l, n)| (l.0 as u32, n)).collect();
        let packed = packer.pack(config.shared.0 as u32, &entries);
        store.insert(packed, hash(packed), ROOT).expect("a small set");
    }
    let packed = Packed::new(store, shared, locals, false);
    assert!(packed.iter().eq(set.iter().cloned()));
    packed
}

#[test]
fn forged_runs_are_rejected() {
    let (problem, trace, _) = evidence();
    let verify = |trace: Trace| check(&problem, &problem.targets[0], &Verdict::Unsafe(trace));
    assert!(verify(trace.clone()).is_ok());
    assert!(check(&problem, &problem.targets[1], &Verdict::Unsafe(trace.clone())).is_err(), "another target");
    for i in 0..trace.steps.len() {
        let mut dropped = trace.clone();
        dropped.steps.remove(i);
        assert!(verify(dropped).is_err(), "without step {i}");
        for forge in [
            |c: &mut Config| c.threads.insert(Local(1), 1),
            |c: &mut Config| c.threads.insert(Local(3), 1),
            |c: &mut Config| c.threads = c.threads.minus(&bag(&[0])).unwrap_or_default(),
            |c: &mut Config| c.shared = Shared(1 - c.shared.0.min(1)),
        ] {
            let mut forged = trace.clone();
            forge(&mut forged.steps[i].after);
            assert!(verify(forged).is_err(), "other configuration after step {i}");
        }
        let mut invented = trace.clone();
        invented.steps[i].step.put.insert(Local(2), 1);
        assert_eq!(verify(invented), Err(Flaw::NoSuchStep(i + 1)));
        if i > 0 {
            let mut swapped = trace.clone();
            swapped.steps.swap(i - 1, i);
            assert!(verify(swapped).is_err(), "steps {i} and {} swapped", i + 1);
        }
    }
    for start in [config(0, &[1]), config(1, &[0]), config(0, &[0, 0, 0, 0]), config(0, &[])] {
        let forged = Trace { start: start.clone(), ..trace.clone() };
        assert_eq!(verify(forged), Err(Flaw::NotInitial(start.describe(&*problem.model))));
    }
    let smaller = Problem { bound: Bound::Threads(2), ..problem.clone() };
    assert!(check(&smaller, &problem.targets[0], &Verdict::Unsafe(trace)).is_err(), "beyond the bound");
}

#[test]
fn forged_sets_are_rejected() {
    let (problem, _, set) = evidence();
    let verify = |set: Vec<Config>, problem: &Problem, target: &Target| {
        let stored = Certificate::Packed(Arc::new(packed(&set)));
        let listed = check(problem, target, &Verdict::Safe(Certificate::Closed(Arc::new(set))));
        assert_eq!(check(problem, target, &Verdict::Safe(stored)), listed);
        listed
    };
    let safe = &problem.targets[1];
    assert!(verify(set.clone(), &problem, safe).is_ok());
    for i in 0..set.len() {
        let mut lacking = set.clone();
        lacking.swap_remove(i);
        assert!(verify(lacking, &problem, safe).is_err(), "without {:?}", set[i]);
    }
    let mut more = set.clone();
    more.push(config(2, &[1]));
    assert!(matches!(verify(more, &problem, safe), Err(Flaw::BadMember(_))));
    assert!(matches!(verify(set.clone(), &problem, &problem.targets[0]), Err(Flaw::BadMember(_))));
    let larger = Problem { bound: Bound::Threads(4), ..problem.clone() };
    assert!(verify(set.clone(), &larger, safe).is_err());
    let any = Problem { bound: Bound::Any, ..problem.clone() };
    let flaw = verify(set, &any, safe).unwrap_err();
    assert_eq!(flaw, Flaw::TooManyInitial);
    assert!(flaw.to_string().contains("any number"));
}
