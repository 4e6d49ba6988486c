//! `throng reach`

use std::time::Instant;

use super::console::{Console, Failure, stop_on_interrupt};
use super::{EngineName, ReachArgs};
use crate::engine::explicit::explore;
use crate::lang::load::Reading;
use crate::question::Question;
use crate::report::reach::Reached;

pub(super) fn run(args: &ReachArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    if args.start.threads.is_none() {
        let why = "`throng reach` needs a bound for now: add `--threads N`";
        return Err(Failure::Other(why.into()));
    }
    let limits = args.search.limits();
    stop_on_interrupt(&limits);
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    let loaded = console.load(&args.input.file, &reading)?;
    let question = Question { may_lack_target: true, ..args.start.question() };
    let problem = console.pose(&question, &loaded, &args.input.file)?;
    let jobs = args.search.jobs as usize;
    let mut states = match args.search.engine {
        EngineName::Auto | EngineName::Explicit => {
            explore(&problem, jobs, &limits, console).map(|found| found.thread_states())
        }
        EngineName::Backward | EngineName::Views => {
            return Err(Failure::Other("only `--engine explicit` lists thread states".into()));
        }
    };
    if let Ok(states) = &mut states
        && !args.inside_atomic
    {
        states.retain(|&(s, _)| !problem.model.inside_atomic(s));
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
