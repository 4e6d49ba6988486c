//! `throng reach`

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::console::{Console, Failure};
use super::cutoff::{needs_prover, prover, refuse_what_does_nothing};
use super::{EngineName, ReachArgs};
use throng::engine::Watch;
use throng::engine::cutoff::{self, ThreadState, outside_atomic};
use throng::engine::explicit::explore;
use throng::engine::facts::FactStore;
use throng::engine::karp_miller::reachable_unbounded;
use throng::engine::symbolic::thread_states::{self, expanded};
use throng::report::reach::{Reached, places, stopped};
use throng_lang::load::Reading;
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Unknown;

pub(super) fn run(args: &ReachArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    refuse_what_does_nothing(&args.search)?;
    args.property.refuse()?;
    let limits = args.search.limits();
    let (file, json) = (args.input.file.display().to_string(), args.json);
    console.begin(
        &limits,
        Arc::new(move |why| if json { stopped(&file, why) } else { format!("UNKNOWN  {why}\n") }),
    );
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    let loaded = console.load(&args.input.file, &reading)?;
    let question = Question { may_lack_target: true, ..args.start.question() };
    let problem = console.pose(&question, &loaded, &args.input.file)?.problem;
    let jobs = args.search.jobs as usize;
    let any_number = problem.bound == Bound::Any;
    let engine = args.search.engine;
    let found = match engine {
        EngineName::Auto if any_number && needs_prover(&problem) => {
            grown(engine, &problem, jobs, &limits, console)
        }
        EngineName::Backward if any_number => grown(engine, &problem, jobs, &limits, console),
        EngineName::Auto | EngineName::KarpMiller if any_number => {
            reachable_unbounded(&problem, &limits, console)
        }
        EngineName::Auto | EngineName::Explicit => {
            explore(&problem, jobs, &limits, console).map(|found| found.thread_states())
        }
        EngineName::Symbolic => thread_states::reachable(&problem, &limits, console),
        EngineName::Backward
        | EngineName::Equations
        | EngineName::Guided
        | EngineName::Views
        | EngineName::KarpMiller => {
            let why = "thread states are listed by `explicit` and `symbolic` (with `--threads N`) and by `karp-miller` and `backward` (without)";
            return Err(Failure::Other(why.into()));
        }
    };
    let model = &*problem.model;
    let places = found.as_ref().map_or_else(|_| HashSet::new(), |found| places(model, found));
    let states = found.and_then(|found| {
        let listed = if args.inside_atomic { found } else { outside_atomic(model, found) };
        Ok(expanded(model, thread_states::canonical(&problem, &listed, &limits)?))
    });
    let reached = Reached {
        file: &loaded.source.name,
        problem: &problem,
        states: &states,
        places: &places,
        seconds: began.elapsed().as_secs_f64(),
    };
    console.print(&if args.json { reached.json() } else { reached.text(console.output.quiet) })?;
    Ok(if states.is_ok() { 0 } else { 1 })
}

/// By growing the number of threads, and proving that more bring nothing new.
fn grown(
    engine: EngineName,
    problem: &Problem,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<ThreadState>, Unknown> {
    let shelf = Arc::new(FactStore::default());
    match prover(engine, problem, &shelf) {
        Some(prover) => cutoff::reachable(problem, &*prover, &shelf, jobs, limits, watch),
        None => Err(Unknown::NotForThisModel(
            "this engine does not decide what any number of threads reach".into(),
        )),
    }
}
