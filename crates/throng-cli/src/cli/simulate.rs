//! `throng simulate`

use std::io;

use super::SimulateArgs;
use super::console::{Console, Failure, forgive_closed_pipe};
use crate::simulate::{Walk, start};
use throng::Job;
use throng::report::text::wrap;
use throng::report::{plural, threads_text};
use throng_lang::load::Reading;
use throng_lang::question::Question;
use throng_model::random::Random;

pub(super) fn run(args: &SimulateArgs, console: &Console) -> Result<u8, Failure> {
    let question = Question { may_lack_target: true, ..args.input.asking(args.question.question()) };
    let reading = Reading { keep_dead: true, ..question.reading(args.input.reading()) };
    let input = console.open(&args.input, reading)?;
    let unit = input.format().unit();
    let job = Job::new(&input).question(question);
    let prepared = console.prepare(&job, Job::prepare)?;
    console.assume(prepared);
    let problem = &prepared.problem;
    let mut random = Random::new(args.seed);
    let first = start(problem, &mut random)
        .ok_or_else(|| Failure::Other("there is no initial configuration".into()))?;
    if !console.output.quiet {
        let size = plural(first.threads.size().into(), unit);
        let initial = wrap("initial: ", &problem.initial_text, 9);
        let bound = threads_text(problem);
        console.print(&format!("{initial}threads: {bound}; the walk starts with {size}\n"))?;
    }
    let mut walk = Walk::new(problem, first);
    let mut out = io::stdout().lock();
    let done = if args.interactive {
        walk.interactive(&mut random, &mut io::stdin().lock(), &mut out)
    } else {
        walk.random(args.steps, &mut random, &mut io::BufWriter::new(out))
    };
    match done {
        Err(why) if why.kind() == io::ErrorKind::Other => Err(Failure::Other(why.to_string())),
        done => forgive_closed_pipe(done).map(|()| 0),
    }
}
