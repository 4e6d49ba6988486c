//! Reachability cutoffs: two ways that must agree, a naive one, STAR's program, and the corpus.

#![allow(clippy::print_stderr)] // tables, what was skipped, and how much was run

use throng_dev::harness as common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{manifest, pose, public_corpus};
use throng_check::rules::check;
use throng_check::rules::cutoff::check_cutoff;
use throng_dev::{Knobs, Rng, naive, random_problem, random_table};
use throng_engine::Silent;
use throng_engine::cutoff::{Closed, Cutoff, Method, cutoff, runs};
use throng_engine::explicit::explore;
use throng_engine::facts::FactStore;
use throng_engine::karp_miller::{KarpMiller, reachable_unbounded};
use throng_lang::bp;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Unknown, Verdict};
use throng_model::{Bag, Config};

fn limits(seconds: u64) -> Limits {
    Limits::none().timeout(Duration::from_secs(seconds))
}

/// Finds the cutoff both ways, and checks that they agree and all evidence.
fn both(problem: &Problem, limits: &Limits) -> Result<Cutoff, Unknown> {
    let engine = KarpMiller::default();
    let exact = cutoff(problem, &Method::Exact(&engine), 1, limits, &Silent)?;
    let dynamic = cutoff(problem, &Method::Dynamic(&engine, &FactStore::default()), 1, limits, &Silent)?;
    assert_eq!(exact.threads, dynamic.threads);
    assert_eq!(exact.reachable, dynamic.reachable);
    for (cutoff, level) in [&exact, &dynamic].iter().flat_map(|c| c.levels.iter().map(move |l| (c, l))) {
        assert!(level.new > 0 && level.threads <= cutoff.threads);
        assert_eq!(level.trace.threads(), level.threads, "a run with the fewest threads");
        let (s, l) = level.example;
        let target = Target::covering("", vec![Config::new(s, Bag::one(l))]);
        check(problem, &target, &Verdict::Unsafe(level.trace.clone())).unwrap();
    }
    let Closed::Downward(set) = &exact.closed else { panic!("{:?}", exact.closed) };
    let nothing = Target::covering("", Vec::new());
    check(problem, &nothing, &Verdict::Safe(Certificate::Downward(set.clone()))).unwrap();
    Ok(exact)
}

#[test]
fn random_systems_have_the_cutoff_that_a_naive_search_finds() {
    let mut histogram: BTreeMap<u32, u32> = BTreeMap::new();
    let rounds = std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let knobs = Knobs {
            shared: 1 + rng.below(4),
            locals: 2 + rng.below(4),
            steps: 4 + rng.below(7),
            multi: 10 * rng.below(3),
            leaderless: 2,
            broadcasts: 0,
            ..Knobs::default()
        };
        let table = Arc::new(random_table(&mut rng, &knobs));
        let problem = random_problem(&mut rng, &knobs, table, Bound::Any);
        let found = match both(&problem, &Limits::none().work(1 << 22)) {
            Ok(found) => found,
            // Where tokens are weighed by the dozen, levels become large.
            Err(Unknown::Time(_)) => continue,
            Err(why) => panic!("seed {seed}: {why}"),
        };
        *histogram.entry(found.threads).or_default() += 1;
        let mut asked = problem.clone();
        asked.targets = found
            .reachable
            .iter()
            .map(|&(s, l)| Target::covering("", vec![Config::new(s, Bag::one(l))]))
            .collect();
        let fewest = naive(&asked, found.threads);
        let most = fewest.iter().map(|f| f.expect("reachable with that many").0).max().unwrap_or(0);
        assert_eq!(found.threads, most, "seed {seed}");
        assert_eq!(found.levels.iter().map(|l| l.new).sum::<usize>(), found.reachable.len(), "seed {seed}");
    }
    eprintln!("cutoffs and how often: {histogram:?}");
    assert!(histogram.values().sum::<u32>() * 10 > rounds as u32 * 9 && histogram.len() > 3);
}

/// STAR's program (section 4.2): a thread increments a shared variable of range 0 … `top`, in
/// unary, and then looks whether it is `top`.
fn counting(top: u32) -> Problem {
    let bits: Vec<String> = (1..=top).map(|i| format!("s{i}")).collect();
    let shifted: Vec<String> =
        std::iter::once("1".to_string()).chain(bits.iter().cloned()).take(top as usize).collect();
    let declared: Vec<String> = bits.iter().map(|b| format!("{b} := 0")).collect();
    let text = format!(
        "decl {};\nvoid main() begin\n  {} := {};\n  assert(!s{top});\nend\n",
        declared.join(", "),
        bits.join(", "),
        shifted.join(", ")
    );
    program(&text)
}

fn program(text: &str) -> Problem {
    let (program, findings) = bp::read(text, &bp::Options { exact_copies: true, ..bp::Options::default() });
    let program = program.unwrap_or_else(|| panic!("{findings:?}"));
    Problem {
        initial: vec![program.initial(None)],
        initial_text: "any".into(),
        targets: program.assertions().into_iter().collect(),
        bound: Bound::Any,
        model: Arc::new(program),
    }
}

/// The assertion needs exactly c threads. So does every thread state but one: a thread that has not
/// begun sees c only if c others have.
#[test]
fn the_cutoff_of_a_program_that_counts_is_what_it_counts_to() {
    for c in 1..=6 {
        let problem = counting(c);
        let found = both(&problem, &limits(600)).unwrap();
        assert_eq!(found.threads, c + 1);
        let last = found.levels.last().unwrap();
        assert_eq!(last.new, 1, "c is seen by a thread that has not begun");
        let least = (1..).find(|&n| {
            let bounded = Problem { bound: Bound::Threads(n), ..problem.clone() };
            let states = explore(&bounded, 1, &limits(600), &Silent).unwrap().thread_states();
            states
                .iter()
                .any(|&(s, l)| problem.targets[0].is_hit(&Config::new(s, Bag::one(l)), &*problem.model))
        });
        assert_eq!(least, Some(c), "the assertion");
    }
}

#[test]
fn the_shipped_example_has_the_cutoff_it_says() {
    let problem = program(include_str!("../../../../examples/cutoff.bp"));
    assert_eq!(both(&problem, &limits(600)).unwrap().threads, 4);
}

/// `a=*` is nothing new where `a=0` and `a=1` are known.
#[test]
fn what_is_new_is_counted_in_states_not_in_words() {
    let problem = program(
        "decl a := 0, h := 0;
        void main() begin
          L: goto S0, S1, H, E;
          S0: a := 0; goto S0, S1, H, X;
          S1: a := 1; goto S0, S1, H, X;
          H: h := 1; goto S0, S1, H, X;
          E: h := 0 constrain h;
          E2: a := *;
          X: skip;
        end",
    );
    let found = both(&problem, &limits(600)).unwrap();
    assert_eq!((found.threads, found.states(&*problem.model)), (2, 44), "with 1, 2, 3 threads: 28, 44, 44");
    assert_eq!(found.levels.iter().map(|l| l.new).collect::<Vec<_>>(), [28, 16]);
    let proof = runs::proof(&problem, &found, &limits(600)).unwrap();
    assert!(proof.needed.is_some(), "that fewer threads do not suffice is shown");
    check_cutoff(&problem, &proof, &limits(600)).unwrap();
}

/// What happens inside an atomic section is not among the thread states, so it needs no threads.
#[test]
fn moments_inside_atomic_sections_do_not_count() {
    let problem = program(
        "decl x := 0, y := 0;
        void main() begin
          atomic { x := !x; y := x; }
          skip;
        end",
    );
    let found = both(&problem, &limits(600)).unwrap();
    assert!(found.reachable.iter().all(|&(s, _)| !problem.model.inside_atomic(s)));
}

#[test]
fn a_bound_makes_no_sense_here() {
    let bounded = Problem { bound: Bound::Threads(2), ..counting(2) };
    let refused = cutoff(&bounded, &Method::Exact(&KarpMiller::default()), 1, &Limits::none(), &Silent);
    assert!(matches!(refused, Err(Unknown::NotForThisModel(_))));
}

#[test]
#[ignore = "prints a table; takes long"]
fn cutoffs_of_the_corpus() {
    let corpus = public_corpus();
    let part = std::env::var("THRONG_FAMILY").unwrap_or_default();
    let seconds = std::env::var("THRONG_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    let mut histogram: BTreeMap<(String, u32), u32> = BTreeMap::new();
    let (mut cheaper, mut dearer) = (0, 0);
    let mut seen = Vec::new();
    for row in manifest(&corpus) {
        let key = (row.path.clone(), row.initial.clone());
        if row.kind == "spec" || !row.path.contains(&part) || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let problem = pose(&corpus, &row, None);
        if problem.model.moves_bystanders() || problem.model.blocking().is_some() {
            continue;
        }
        let timed = |work: &mut dyn FnMut() -> Result<usize, Unknown>| {
            let begin = Instant::now();
            work().map(|n| (n, begin.elapsed().as_secs_f64()))
        };
        let all = timed(&mut || Ok(reachable_unbounded(&problem, &limits(seconds), &Silent)?.len()));
        let Ok((states, km)) = all else { continue };
        match cutoff(&problem, &Method::Exact(&KarpMiller::default()), 1, &limits(seconds), &Silent) {
            Ok(found) => {
                let bounded = Problem { bound: Bound::Threads(found.threads), ..problem.clone() };
                let at =
                    timed(&mut || Ok(explore(&bounded, 1, &limits(seconds), &Silent)?.thread_states().len()));
                let explicit = at.map_or(f64::INFINITY, |a| a.1);
                if explicit < km {
                    cheaper += 1
                } else {
                    dearer += 1
                }
                let new: Vec<String> =
                    found.levels.iter().map(|l| format!("{}:{}", l.threads, l.new)).collect();
                eprintln!(
                    "row,{},{},{},{states},{km:.3},{explicit:.3},{}",
                    row.path,
                    row.initial.replace(',', " "),
                    found.threads,
                    new.join(" ")
                );
                let family = row.path.split('/').take(2).collect::<Vec<_>>().join("/");
                *histogram.entry((family, found.threads)).or_default() += 1;
            }
            Err(why) => {
                eprintln!("row,{},{},-,{states},{km:.3},-,{why}", row.path, row.initial.replace(',', " "))
            }
        }
    }
    for ((family, threads), n) in &histogram {
        eprintln!("{family:20} cutoff {threads:3}: {n}");
    }
    eprintln!(
        "bounded search at the cutoff is cheaper than karp-miller in {cheaper} cases, dearer in {dearer}"
    );
}
