//! The differential fuzzer: `cargo run -p throng-dev -- --help`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;

use throng_cli::cli::console::{Console, Failure};
use throng_cli::cli::{OutputArgs, cores, files, seconds};
use throng_dev::fuzz::campaign::{Campaign, Found, News, State};
use throng_dev::fuzz::compare::{Effort, compare};
use throng_dev::fuzz::oracles::oracles;
use throng_dev::fuzz::summary::summary;
use throng_model::limits::Limits;

/// The file that keeps what was counted.
const STATE: &str = "state.json";

const NOTES: &str = "\
Random Boolean programs, thread-transition systems and nets are made up from a seed, a third of them around an invariant and a third along a run, so that an \
answer is known beforehand. Every engine, both checkers of evidence, a naive search and the translations into every format are asked; any two answers must fit \
together, all evidence must stand, runs must have the fewest threads where that is promised, and limits must be kept.

Written to the folder --out: state.json (which cases were run, and all counts; a second call resumes there), summary.txt, and for every failure NAME.json \
(the smallest case that shows it; `throng-fuzz --repeat NAME.json` runs it again), the input itself, and NAME.txt with what is wrong.

Exit status: 0 all oracles agree, 10 something is wrong, 1 stopped before the end, 2 wrong call.";

/// Options of `throng-fuzz`.
#[derive(Debug, Parser)]
#[command(name = "throng-fuzz", about = "Differential fuzzing: every engine, both checkers and naive references on random inputs", after_help = NOTES)]
struct FuzzArgs {
    /// Stop after this many seconds (default: 60, unless --count is given)
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    time: Option<Duration>,
    /// Stop after this many cases
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Which cases; the same number gives the same cases (default: the one that was used last
    /// in --out, else a new one)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How large cases are: 1 is tiny
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    size: u32,
    /// Number of threads that run cases
    #[arg(long, value_name = "N", default_value_t = cores(), value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Where results are kept
    #[arg(long, value_name = "FOLDER", default_value = "throng-fuzz")]
    out: PathBuf,
    /// Forget earlier results in that folder
    #[arg(long)]
    fresh: bool,
    /// Run the cases in these files again instead, and say what is wrong
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["time", "count", "seed", "fresh"])]
    repeat: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

fn run(args: &FuzzArgs, console: &Console) -> Result<u8, Failure> {
    if !args.repeat.is_empty() {
        return repeat(args, console);
    }
    let limits = Limits::none();
    console.stoppable(&limits);
    let wrong = |path: &Path, why: String| Failure::Other(format!("{}: {why}", path.display()));
    std::fs::create_dir_all(&args.out).map_err(|why| wrong(&args.out, why.to_string()))?;
    let path = args.out.join(STATE);
    let kept: Kept = if args.fresh || !path.exists() {
        Kept::default()
    } else {
        let text = std::fs::read_to_string(&path).map_err(|why| wrong(&path, why.to_string()))?;
        serde_json::from_str(&text).map_err(|why| wrong(&path, why.to_string()))?
    };
    files::claim([(&path, files::Kind::Own)], true)?;
    let seed = args.seed.or(kept.seed).unwrap_or_else(fresh_seed);
    let campaign = Arc::new(Campaign {
        seed,
        size: args.size as usize,
        jobs: args.jobs as usize,
        count: args.count,
        time: args.time.or((args.count.is_none()).then_some(Duration::from_secs(60))),
        effort: Effort::default(),
        patience: Duration::from_secs(300),
        oracles: Arc::new(oracles()),
    });
    console.note(&format!("seed {seed}, size {}, {} cases before", args.size, kept.state.total()));
    let stopped = limits.clone();
    let stop: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || stopped.check().is_err());
    let mut unkept = Ok(());
    let state = campaign.run(kept.state, &stop, &mut |news| {
        let done = match news {
            News::Found(found) => keep(&args.out, found, console),
            News::Counted(state, last) => {
                if !last {
                    console.note(&format!("{} cases", state.total()));
                }
                let written = files::replace(&args.out.join("summary.txt"), &summary(state));
                save(&path, seed, state).and(written)
            }
        };
        if unkept.is_ok() {
            unkept = done;
        }
    });
    unkept?;
    let text = summary(&state);
    let shown =
        if console.output.is_quiet() { text.lines().take(1).collect::<String>() + "\n" } else { text };
    console.print(&shown)?;
    Ok(match () {
        () if !state.failures.is_empty() => 10,
        () if stop() => 1,
        () => 0,
    })
}

fn main() -> ExitCode {
    let args = FuzzArgs::parse();
    let console = Console::new(args.output);
    let done = run(&args, &console);
    ExitCode::from(done.unwrap_or_else(|failure| {
        console.fail(&failure);
        2
    }))
}

/// The contents of the file.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Kept {
    seed: Option<u64>,
    state: State,
}

fn save(path: &Path, seed: u64, state: &State) -> Result<(), Failure> {
    let kept = Kept { seed: Some(seed), state: state.clone() };
    let text = serde_json::to_string_pretty(&kept).map_err(|why| Failure::Other(why.to_string()))?;
    files::replace(path, &text)
}

fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_secs() ^ u64::from(d.subsec_nanos()))
}

/// Writes a failure: the case to repeat it, the input, and what is wrong.
fn keep(folder: &Path, found: &Found, console: &Console) -> Result<(), Failure> {
    let name = format!("{:?}-{}-{}", found.failure.kind, found.seed, found.number).to_lowercase();
    let json = serde_json::to_string_pretty(found).map_err(|why| Failure::Other(why.to_string()))?;
    let (file, format) = (folder.join(&name), found.case.format());
    files::replace(&file.with_extension("json"), &json)?;
    files::replace(&folder.join(format!("{name}.{format}")), &found.case.text())?;
    let note = format!(
        "{}\n\nthrong-fuzz --repeat {name}.json\nthrong check {name}.{format}{}\n\ncase {} of seed {}, size {}, as it was made:\n\n{}",
        found.failure,
        found.case.options(),
        found.number,
        found.seed,
        found.size,
        found.original.text(),
    );
    files::replace(&file.with_extension("txt"), &note)?;
    console.note(&format!("{}\n  kept as {}", found.failure, file.with_extension("json").display()));
    Ok(())
}

fn repeat(args: &FuzzArgs, console: &Console) -> Result<u8, Failure> {
    let oracles = oracles();
    let mut text = String::new();
    let mut failed = false;
    for path in &args.repeat {
        let wrong = |why: String| Failure::Other(format!("{}: {why}", path.display()));
        let json = std::fs::read_to_string(path).map_err(|why| wrong(why.to_string()))?;
        let found: Found = serde_json::from_str(&json).map_err(|why| wrong(why.to_string()))?;
        let status = match compare(&found.case, &oracles, &Effort::default()) {
            Ok(_) => "AGREED".to_string(),
            Err(failure) => {
                failed = true;
                format!("FAILED  {failure}")
            }
        };
        text += &format!("{status}  {}\n", path.display());
    }
    console.print(&text)?;
    Ok(if failed { 10 } else { 0 })
}
