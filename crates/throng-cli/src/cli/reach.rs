//! `throng reach`

use std::sync::Arc;
use std::time::Instant;

use super::console::{Console, Failure};
use super::{EngineName, ReachArgs};
use throng::engine::explicit::explore;
use throng::engine::karp_miller::reachable_unbounded;
use throng::engine::symbolic::thread_states;
use throng::report::reach::{Reached, stopped};
use throng_lang::load::Reading;
use throng_lang::question::Question;
use throng_model::problem::Bound;
use throng_model::{Local, Model, Shared};

pub(super) fn run(args: &ReachArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
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
    let mut states = match args.search.engine {
        EngineName::Auto | EngineName::KarpMiller if any_number => {
            reachable_unbounded(&problem, &limits, console)
        }
        EngineName::Auto | EngineName::Explicit => explore(&problem, jobs, &limits, console)
            .and_then(|found| thread_states::canonical(&problem, &found.thread_states(), &limits)),
        EngineName::Symbolic => thread_states::reachable(&problem, &limits, console),
        EngineName::Backward
        | EngineName::Equations
        | EngineName::Guided
        | EngineName::Views
        | EngineName::KarpMiller => {
            let why = "thread states are listed by `explicit` and `symbolic` (with `--threads N`) and by `karp-miller` (without)";
            return Err(Failure::Other(why.into()));
        }
    };
    if let Ok(states) = &mut states
        && !args.inside_atomic
    {
        states.retain(|&(s, _)| !problem.model.inside_atomic(s));
    }
    if let Ok(states) = &mut states {
        expand(&*problem.model, states);
    }
    let reached = Reached {
        file: &loaded.source.name,
        problem: &problem,
        states: &states,
        seconds: began.elapsed().as_secs_f64(),
    };
    console.print(&if args.json { reached.json() } else { reached.text(console.output.quiet) })?;
    Ok(if states.is_ok() { 0 } else { 1 })
}

/// Lists concrete thread states instead of sets of them, unless that would be very many.
fn expand(model: &dyn Model, states: &mut Vec<(Shared, Local)>) {
    const MOST: u64 = 1 << 20;
    let size = |&(s, l): &(Shared, Local)| 1u64.checked_shl(model.free_bits(s, l)).unwrap_or(u64::MAX);
    if model.is_exact() || states.iter().map(size).fold(0, u64::saturating_add) > MOST {
        return;
    }
    let of = |&(s, l): &(Shared, Local)| {
        let locals = model.members_local(l);
        model.members_shared(s).into_iter().flat_map(move |s| locals.clone().into_iter().map(move |l| (s, l)))
    };
    *states = states.iter().flat_map(of).collect();
    states.sort_unstable();
    states.dedup();
}
