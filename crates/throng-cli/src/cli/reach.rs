//! `throng reach`

use std::sync::Arc;
use std::time::Instant;

use super::ReachArgs;
use super::console::{Console, Failure};
use super::cutoff::refuse_what_does_nothing;
use super::files::{self, Kind};
use throng::report::reach::stopped;
use throng::{Error, Job, Moments};
use throng_lang::load::Reading;

pub(super) fn run(args: &ReachArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    refuse_what_does_nothing(&args.search)?;
    args.property.refuse()?;
    let limits = args.search.limits()?;
    let (file, json) = (args.input.file().display().to_string(), args.json);
    console.begin(
        &limits,
        Arc::new(move |why, doing| match json {
            true => stopped(&file, why),
            false => format!("UNKNOWN  {why}; {doing}\n"),
        }),
    );
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    let input = console.open(&args.input, reading)?;
    let question = args.input.asking(args.start.question());
    let job = Job::new(&input).question(question).settings(args.search.settings()).watch(console);
    console.assume(console.prepare(&job, Job::prepare_listing)?);
    files::claim(args.html.iter().map(|path| (path, Kind::Report)), args.force)?;
    let moments = if args.inside_atomic { Moments::All } else { Moments::OutsideAtomic };
    let mut found = job.reach(args.search.engine, moments, &limits).map_err(|error| match error {
        Error::Unsuitable(why) => Failure::Other(why.replace("a thread bound", "`--threads N`")),
        error => error.into(),
    })?;
    found.time = began.elapsed();
    console.print(&if args.json { found.json() } else { found.text(console.output.quiet) })?;
    args.html.as_ref().map_or(Ok(()), |path| files::replace(path, &found.html()))?;
    Ok(if found.states.is_ok() { 0 } else { 1 })
}
