//! `throng bench`

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, Parser};

use super::console::{Console, Failure};
use super::{Cli, OutputArgs, engine_parser, files, seconds};
use crate::bench::compare::{Change, compare};
use crate::bench::instances::{Instance, instances, with_bounds};
use crate::bench::page::{page, pictures};
use crate::bench::schedule::{self, Plan, Progress};
#[cfg(not(feature = "cluster"))]
use crate::bench::schedule::{Guests, NoGuests};
use crate::bench::store::{self, Store};
use crate::bench::summary::{contested, summary};
use crate::bench::tools::{self, Tool, words};
use crate::bench::{Run, names};
use throng::Engine;
use throng_model::limits::Limits;

const NOTES: &str = "\
Every run is a process of its own; limits are processor time (user and system) and resident memory, and so are the numbers that are compared. Configurations \
of throng get `--jobs 1` unless their options say otherwise.

Written to the folder --out: runs.jsonl (each run as soon as it is known; a second call resumes there), runs.csv, summary.md, index.html with all \
tables and pictures, and the pictures as *.svg. The summary is also printed.

A file of tools (--tools) describes configurations of throng and other programs:
  [[tool]]
  name = \"reduced\"
  options = \"--engine symbolic\"
  [[tool]]
  name = \"other\"
  command = [\"other\", \"{file}\", [\"-t\", \"{targets}\"], [\"-n\", \"{threads}\"]]
  kinds = [\"tts\"]               # which inputs it takes; without it, all
  safe = \"no bug found\"         # a text in its output, or an exit status
  unsafe = 1
Filled in: {file} {targets} {label} {initial} {threads} {timeout} {memory} {throng}; a list in a command is left out if something in it has no value.
Also: finished, refused (as safe), and value = \"/pointer\" (a number in JSON output, drawn as a histogram).

Exit status: 0 done, 10 a verdict contradicts another one or the expected one, 1 something became worse than in --compare or the benchmark was stopped \
before its end, 2 wrong input or call.";

/// Options of `throng bench`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct BenchArgs {
    /// Folders of inputs, or manifests: CSV with the columns path, property, initial, expected
    #[arg(required = true, value_name = "FOLDER|MANIFEST")]
    paths: Vec<PathBuf>,
    /// Run this engine of throng. May be repeated; without any tool, auto
    #[arg(long, value_parser = engine_parser(), help_heading = "Tools")]
    engine: Vec<Engine>,
    /// Run throng with these options of `throng check`, under this name. May be repeated
    #[arg(long, value_name = "NAME=OPTIONS", help_heading = "Tools")]
    tool: Vec<String>,
    /// Run the tools that this file describes (see below). May be repeated
    #[arg(long, value_name = "FILE", help_heading = "Tools")]
    tools: Vec<PathBuf>,
    /// Only instances whose name contains this. May be repeated: any of them
    #[arg(long, value_name = "TEXT", help_heading = "Instances")]
    only: Vec<String>,
    /// Every instance with each of these thread bounds instead of its own; `any`: none
    #[arg(long, value_name = "N,N", value_delimiter = ',', value_parser = bound, help_heading = "Instances")]
    threads: Vec<Bound>,
    /// Processor seconds for each run
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "20", help_heading = "Limits")]
    timeout: Duration,
    /// Seconds on the wall for each run (default: ten times the processor time)
    #[arg(long, value_name = "SECS", value_parser = seconds, help_heading = "Limits")]
    wall: Option<Duration>,
    /// MiB for each run
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    memory: Option<u64>,
    /// Number of runs at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    jobs: u32,
    /// Number of repetitions of each run; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    repeat: u32,
    /// Once a tool runs into a limit, do not try it on the same file with more threads
    #[arg(long, help_heading = "Limits")]
    give_up: bool,
    /// Where results are kept
    #[arg(long, value_name = "FOLDER", default_value = "throng-bench", help_heading = "Results")]
    out: PathBuf,
    /// Forget earlier results in that folder
    #[arg(long, help_heading = "Results")]
    fresh: bool,
    /// Compare and draw these two tools. May be repeated (default: the first with each other one)
    #[arg(long, value_name = "A,B", help_heading = "Results")]
    pair: Vec<String>,
    /// Compare with an earlier benchmark: its folder, runs.jsonl or runs.csv. What seems worse is
    /// run twice more before it counts
    #[arg(long, value_name = "OLD", help_heading = "Results")]
    compare: Option<PathBuf>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: super::cluster::HostArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// A thread bound, or none.
type Bound = Option<u32>;

fn bound(text: &str) -> Result<Bound, String> {
    match text {
        "any" => Ok(None),
        number => {
            number.parse().map(Some).map_err(|_| format!("`{text}` is neither a number of threads nor `any`"))
        }
    }
}

pub(super) fn run(args: &BenchArgs, console: &Console) -> Result<u8, Failure> {
    let stopped = Limits::none();
    console.stoppable(&stopped);
    let stop = || stopped.check().is_err();
    #[cfg(feature = "cluster")]
    let guests = match super::cluster::bench(&args.cluster, &plan(args)?, &stop)? {
        Some(guests) => guests,
        None => return Ok(0),
    };
    #[cfg(not(feature = "cluster"))]
    let guests: Box<dyn Guests> = Box::new(NoGuests);
    args.paths.iter().chain(&args.tools).chain(&args.compare).for_each(|path| files::was_read(path));
    let tools = tools(args)?;
    let pairs = schedule::pairs(&chosen(args)?, &tools);
    let old = args.compare.as_deref().map(store::read).transpose().map_err(Failure::Other)?;
    let plan = plan(args)?;
    let mut store = Store::open(&args.out, args.fresh).map_err(Failure::Other)?;
    let results = ["runs.csv", "summary.md", "index.html"].map(|name| args.out.join(name));
    files::claim(results.iter().map(|path| (path, files::Kind::Own)), true)?;
    if !store.runs.is_empty() && newer(&plan.throng, &args.out.join(store::LINES)) {
        console.note("note: some runs were made by an older build of throng; --fresh forgets them");
    }
    let progress = Told::new(console);
    let mut go = |pairs: &[(Instance, Tool)], plan: &Plan| {
        let done = schedule::run(pairs, plan, &mut store, &*guests, &stop, &|now| progress.tell(now));
        progress.end();
        let asked: Vec<Run> = pairs.iter().map(|(i, t)| schedule::blank(i, t, plan)).collect();
        done.map(|done| (done, store::counted(&store.runs, &asked))).map_err(Failure::Other)
    };
    let (mut complete, mut runs) = go(&pairs, &plan)?;
    let mut changes = changed(&runs, old.as_deref());
    let suspects = suspects(&pairs, &changes);
    if complete && !suspects.is_empty() {
        console.note(&format!("{} runs seem worse than before; they are run again", suspects.len()));
        go(&suspects, &Plan { repeat: plan.repeat + 2, ..plan.clone() })?;
        (complete, runs) = go(&pairs, &plan)?;
        changes = changed(&runs, old.as_deref());
    }
    let text = summary(&runs, &compared(args, &runs)?, &changes);
    write(args, &text, &runs)?;
    console.print(&text)?;
    if !complete {
        console.note("stopped before the end; the same command goes on");
    }
    let nothing_in_common = old.is_some() && changes.iter().all(|c| c.common == 0);
    if nothing_in_common {
        console.note(
            "note: the earlier benchmark has no run of these tools on these inputs: nothing was compared",
        );
    }
    let worse = nothing_in_common || changes.iter().any(|c| c.slower() || !c.regressions.is_empty());
    Ok(match () {
        () if !contested(&runs).is_empty() => 10,
        () if worse || !complete => 1,
        () => 0,
    })
}

/// The tools that were asked for. Options of throng itself are tried out on the command line's own
/// definition.
fn tools(args: &BenchArgs) -> Result<Vec<Tool>, Failure> {
    let mut found = Vec::new();
    for engine in &args.engine {
        found.push(Tool::own(engine.name(), vec!["--engine".into(), engine.name().into()]));
    }
    for text in &args.tool {
        let (name, options) = text
            .split_once('=')
            .ok_or_else(|| Failure::Other(format!("--tool `{text}`: NAME=OPTIONS is expected")))?;
        found.push(Tool::own(name.trim(), words(options)));
    }
    for path in &args.tools {
        let wrong = |why: String| Failure::Other(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|why| wrong(why.to_string()))?;
        found.extend(tools::read(&text).map_err(wrong)?);
    }
    if found.is_empty() {
        found.push(Tool::own("auto", vec!["--engine".into(), "auto".into()]));
    }
    for (i, tool) in found.iter().enumerate() {
        if tool.name.is_empty() || found[..i].iter().any(|t| t.name == tool.name) {
            return Err(Failure::Other(format!("two tools are called `{}`, or one has no name", tool.name)));
        }
        let options = tool.options().unwrap_or_default().iter().map(String::as_str);
        let words = ["throng", "check"].into_iter().chain(options).chain(["FILE"]);
        if let Err(why) = Cli::try_parse_from(words) {
            return Err(Failure::Other(format!(
                "tool `{}`: {}",
                tool.name,
                why.render().to_string().trim_end()
            )));
        }
    }
    Ok(found)
}

/// The instances that were asked for.
fn chosen(args: &BenchArgs) -> Result<Vec<Instance>, Failure> {
    let mut found = Vec::new();
    for path in &args.paths {
        found.extend(instances(path).map_err(Failure::Other)?);
    }
    if !args.only.is_empty() {
        found.retain(|i| args.only.iter().any(|text| i.file.contains(text.as_str())));
    }
    if found.is_empty() {
        return Err(Failure::Other("no instance has such a name".into()));
    }
    let mut questions = BTreeMap::new();
    for instance in &found {
        let other = questions.insert(instance.question(), &instance.path);
        if let Some(other) = other.filter(|&other| *other != instance.path) {
            return Err(Failure::Other(format!(
                "{} and {} would both be called {}: give a folder above both",
                other.display(),
                instance.path.display(),
                instance.file
            )));
        }
    }
    if !args.threads.is_empty() {
        found = with_bounds(&found, &args.threads);
    }
    Ok(found)
}

/// Seconds; longer is for ever.
const LONGEST: f64 = 1e9;

fn plan(args: &BenchArgs) -> Result<Plan, Failure> {
    let throng =
        std::env::current_exe().map_err(|why| Failure::Other(format!("where is this program? {why}")))?;
    Ok(Plan {
        throng,
        timeout: args.timeout.as_secs_f64().min(LONGEST),
        wall: args.wall.map_or(args.timeout.as_secs_f64() * 10.0, |wall| wall.as_secs_f64()).min(LONGEST),
        memory: args.memory.unwrap_or(0),
        jobs: args.jobs as usize,
        repeat: args.repeat as usize,
        give_up: args.give_up,
    })
}

fn newer(one: &Path, other: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    matches!((changed(one), changed(other)), (Some(one), Some(other)) if one > other)
}

fn changed(runs: &[Run], old: Option<&[Run]>) -> Vec<Change> {
    old.map_or(Vec::new(), |old| compare(runs, &store::best(old)))
}

fn suspects(pairs: &[(Instance, Tool)], changes: &[Change]) -> Vec<(Instance, Tool)> {
    let worse: Vec<&Run> = changes.iter().flat_map(|c| &c.regressions).map(|r| &r.new).collect();
    let is_worse =
        |i: &Instance, t: &Tool| worse.iter().any(|r| r.tool == t.name && r.question() == i.question());
    pairs.iter().filter(|(i, t)| is_worse(i, t)).cloned().collect()
}

/// The pairs of tools that are compared.
fn compared(args: &BenchArgs, runs: &[Run]) -> Result<Vec<(String, String)>, Failure> {
    let names = names(runs);
    if args.pair.is_empty() {
        let first = names.first().copied().unwrap_or_default();
        return Ok(names.iter().skip(1).map(|other| (first.to_string(), other.to_string())).collect());
    }
    let pair = |text: &String| match text.split_once(',') {
        Some((a, b)) if names.contains(&a) && names.contains(&b) => Ok((a.to_string(), b.to_string())),
        _ => Err(Failure::Other(format!(
            "--pair `{text}`: A,B is expected, with A and B among {}",
            names.join(", ")
        ))),
    };
    args.pair.iter().map(pair).collect()
}

fn write(args: &BenchArgs, text: &str, runs: &[Run]) -> Result<(), Failure> {
    let paths: Vec<String> = args.paths.iter().map(|p| p.display().to_string()).collect();
    let title = format!("throng bench {}", paths.join(" "));
    let pictures = pictures(runs, &compared(args, runs)?);
    let csv = store::csv(runs).map_err(Failure::Other)?;
    let mut files = vec![
        ("runs.csv".to_string(), csv),
        ("summary.md".into(), text.to_string()),
        ("index.html".into(), page(&title, text, &pictures, runs)),
    ];
    files.extend(pictures.into_iter().map(|p| (format!("{}.svg", p.name), p.svg)));
    files.into_iter().try_for_each(|(name, content)| files::replace(&args.out.join(name), &content))
}

/// Progress: one line that is written over on a terminal, else a line now and then.
struct Told<'a> {
    console: &'a Console,
    terminal: bool,
    last: Mutex<Option<Instant>>,
}

impl Told<'_> {
    fn new(console: &Console) -> Told<'_> {
        Told { console, terminal: io::stderr().is_terminal(), last: Mutex::new(None) }
    }

    fn tell(&self, now: &Progress) {
        let Progress { done, of, run, warning } = now;
        if let Some(warning) = warning {
            self.console.note(&format!("warning: {warning}"));
        }
        let line =
            run.map_or(String::new(), |r| format!("{} {}: {} {:.2} s", r.tool, r.title(), r.result, r.cpu));
        let output = self.console.output;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = last.is_none_or(|l| l.elapsed() > Duration::from_secs(30));
        if output.verbose || run.is_some_and(Run::wrong) {
            self.console.note(&format!("[{done}/{of}] {line}"));
        } else if output.quiet {
        } else if self.terminal {
            let filled = 24 * done / of.max(&1);
            let bar: String = (0..24).map(|i| if i < filled { '█' } else { '░' }).collect();
            let shown: String = line.chars().take(60).collect();
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{bar} {done}/{of} {shown}");
        } else if waited {
            self.console.note(&format!("[{done}/{of}] {line}"));
        }
        if waited {
            *last = Some(Instant::now());
        }
    }

    fn end(&self) {
        if self.terminal && !self.console.output.quiet && !self.console.output.verbose {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}
