//! `throng check --cluster`, `throng bench --cluster`, and `throng cluster run`.
//!
//! Process 0 reads the input, sends it with its command line to all others, and prints. The others
//! search along and print nothing, unless a process dies: then every process that is left says so.

mod folder;

pub(super) use self::folder::PartFolder;

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use serde::{Deserialize, Serialize};

use super::check::{self, last_words, settings};
use super::console::{Console, Failure, complain};
use super::{CheckArgs, Cli, cores, seconds};
use crate::bench::elsewhere::{self, Visitors};
use crate::bench::schedule::{Guests, NoGuests, Plan};
use crate::cluster::control::Control;
use crate::cluster::frame::Kind;
use crate::cluster::{Hosts, SILENCE};
use throng::{Engine, Input, Job};
use throng_engine::distributed::{Distributed, Traffic};
use throng_engine::on_covering::OnCovering;
use throng_engine::{Algorithm, Answer, Watch};
use throng_lang::load::Loaded;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;

/// Environment variable with the secret that only processes of the same run know.
const TOKEN: &str = "THRONG_CLUSTER_TOKEN";

/// Environment variables in which schedulers pass the number of the process.
const NUMBERS: [&str; 2] = ["SLURM_PROCID", "JOB_COMPLETION_INDEX"];

/// Options of `throng check` for several workers.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ClusterArgs {
    /// `distributed`: threads of this process that search, each with its part of the configurations
    /// (default: one per core, with `--cluster` one); the same number in all processes
    #[arg(long, value_name = "W", help_heading = "Cluster", value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,
    #[command(flatten)]
    pub(super) hosts: HostArgs,
    #[arg(skip)]
    joined: Joined,
}

/// Options for the list of processes and the number of this one.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct HostArgs {
    /// Work with one process per line of FILE, `host` or `host:port`, on these hosts; start them
    /// all with the same command. The first reads the input and prints the answer. Limits are for
    /// each process
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    pub(super) cluster: Option<PathBuf>,
    /// Which line of that file this process is, from 0 (default: what Slurm or Kubernetes says)
    #[arg(long, value_name = "I", requires = "cluster", help_heading = "Cluster")]
    process: Option<usize>,
    /// Seconds to wait for all processes to be there
    #[arg(long, value_name = "SECS", value_parser = seconds, requires = "cluster", help_heading = "Cluster")]
    connect_timeout: Option<Duration>,
}

impl HostArgs {
    /// Returns the number of this process.
    fn process(&self, processes: usize) -> Result<usize, Failure> {
        let said = || NUMBERS.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        let me = self.process.or_else(said);
        let me =
            me.ok_or_else(|| Failure::Other("--cluster needs --process: which of them is this?".into()))?;
        if me < processes {
            return Ok(me);
        }
        Err(Failure::Other(format!("there is no process {me}: the hosts are for {processes}, from 0")))
    }

    fn patience(&self) -> Duration {
        self.connect_timeout.unwrap_or(Duration::from_secs(60))
    }
}

fn token() -> Vec<u8> {
    std::env::var_os(TOKEN).unwrap_or_default().into_encoded_bytes()
}

/// The other processes, once they are there.
#[derive(Clone, Default)]
struct Joined(Option<Arc<Control>>);

impl std::fmt::Debug for Joined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Joined").field(&self.0.is_some()).finish()
    }
}

/// Options of `throng cluster`.
#[derive(Debug, Args)]
pub(super) struct ClusterCommandArgs {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Start several processes on this machine that work on one command: throng cluster run -n 4 --
    /// check FILE --threads 3
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// Number of processes
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    processes: u32,
    /// The command: `check` or `bench`, with its options
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The engine `distributed`, with the other processes, if there are any.
pub(super) fn engine(args: &CheckArgs, parts: Option<Arc<PartFolder>>) -> Box<dyn Algorithm + Send> {
    let settings = settings(args);
    let joined = &args.cluster.joined.0;
    let workers = args.cluster.workers.unwrap_or(if joined.is_some() { 1 } else { cores() });
    let engine = Distributed {
        mesh: joined.clone().map(|control| control as _),
        max_threads: settings.max_threads,
        stop_at_first: settings.stop_at_first,
        parts: parts.map(|parts| parts as _),
        ..Distributed::new(workers as usize)
    };
    Box::new(OnCovering(Box::new(Talking { engine, verbose: args.output.verbose })))
}

/// Says what each worker did, if details are wanted.
struct Talking {
    engine: Distributed,
    verbose: bool,
}

impl Algorithm for Talking {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let answer = self.engine.run(problem, limits, watch);
        if self.verbose {
            let traffic = self.engine.traffic.lock().unwrap_or_else(PoisonError::into_inner);
            for (worker, Traffic { stored, memory, configs, bytes, .. }) in traffic.iter().enumerate() {
                complain(&format!(
                    "worker {worker}: {stored} configurations in {memory} bytes, {configs} sent in {bytes} bytes"
                ));
            }
        }
        answer
    }
}

/// The folder with the state of the search, if one is asked for.
pub(super) fn parts(
    args: &CheckArgs,
    loaded: &Loaded,
    problem: &Problem,
) -> Result<Option<Arc<PartFolder>>, Failure> {
    let open = |path: &PathBuf| PartFolder::open(path, args, loaded, problem).map(Arc::new);
    args.checkpoint.as_ref().map(open).transpose()
}

/// Refuses options that a search spread over workers does not have.
pub(super) fn refuse(args: &CheckArgs) -> Result<(), Failure> {
    let given = [
        ("--certificate", args.certificate.is_some()),
        ("--reuse", args.reuse.is_some()),
        ("--store", args.search.store.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Other(format!(
            "`{option}` is not for `--engine distributed`: use `--engine explicit`"
        ))),
        None => Ok(()),
    }
}

/// `throng check --cluster`.
pub(super) fn check(args: &CheckArgs, hosts: &Path, console: &Console) -> Result<u8, Failure> {
    let hosts = Hosts::read(hosts).map_err(Failure::Other)?;
    let me = args.cluster.hosts.process(hosts.0.len())?;
    if !matches!(args.search.engine, Engine::Auto | Engine::Distributed) {
        return Err(Failure::Other("--cluster is for `--engine distributed`".into()));
    }
    refuse(args)?;
    if args.input.is_code() || !args.more.is_empty() || args.input.file() == Path::new("-") {
        let why = "--cluster is for one Boolean program, system or net in a file";
        return Err(Failure::Other(why.into()));
    }
    let limits = args.search.limits()?;
    let patience = args.cluster.hosts.patience();
    let control = match Control::join(hosts, me, token(), patience, console.emergency(last_words(args))) {
        Ok(control) => control,
        Err(why) => {
            console.print(&last_words(args)(&Unknown::Inconclusive(why), "still joining"))?;
            return Ok(1);
        }
    };
    if me > 0 {
        return follow(&control);
    }
    console.wait_for_others();
    console.begin(&limits, last_words(args));
    let mut mine = args.clone();
    mine.search.engine = Engine::Distributed;
    mine.cluster.joined = Joined(Some(control.clone()));
    let done = ship(args, &control)
        .and_then(|()| check::check(&mine, console, &limits, true, &mut |text| console.print(text)));
    let status = *done.as_ref().unwrap_or(&2);
    control.end();
    control.announce(Kind::Done, &[status]);
    done
}

/// `throng bench --cluster`: the helpers of the first process; none if this process is a helper and
/// its work is done.
pub(super) fn bench(
    args: &HostArgs,
    plan: &Plan,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Box<dyn Guests>>, Failure> {
    let Some(path) = &args.cluster else { return Ok(Some(Box::new(NoGuests))) };
    let hosts = Hosts::read(path).map_err(Failure::Other)?;
    let me = args.process(hosts.0.len())?;
    if me > 0 {
        let folder = Folder::new()?;
        elsewhere::help(&hosts.0[0], me, &token(), args.patience(), plan, &folder.0, stop)
            .map_err(Failure::Other)?;
        return Ok(None);
    }
    let visitors = Visitors::at(&hosts.listening(0), token());
    let visitors =
        visitors.map_err(|why| Failure::Other(format!("{} cannot listen: {why}", hosts.describe(0))))?;
    Ok(Some(Box::new(visitors)))
}

/// The message that process 0 sends to the others; the texts follow.
#[derive(Serialize, Deserialize)]
struct Work {
    throng: String,
    command: Vec<String>,
    /// Names and lengths: the input, and the file of properties beside it or asked for.
    files: Vec<(String, usize)>,
}

/// Sends the command and its input to all other processes.
fn ship(args: &CheckArgs, control: &Control) -> Result<(), Failure> {
    let question = args.input.asking(args.question.question());
    let input = Input::open_as(args.input.file(), question.reading(args.input.reading()))?;
    let properties = Job::new(&input).question(question).property_file();
    let mut texts = Vec::new();
    let mut files = Vec::new();
    for path in std::iter::once(args.input.file().to_path_buf()).chain(properties) {
        let text = fs::read(&path)
            .map_err(|why| Failure::Other(format!("cannot read {}: {why}", path.display())))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, text.len()));
        texts.extend(text);
    }
    let command = std::env::args_os().map(|arg| arg.into_string());
    let command = command.collect::<Result<Vec<String>, _>>();
    let command = command.map_err(|_| Failure::Other("the command is not UTF-8".into()))?;
    let work = Work { throng: env!("CARGO_PKG_VERSION").into(), command, files };
    let mut body = serde_json::to_vec(&work).map_err(|why| Failure::Other(why.to_string()))?;
    body.push(b'\n');
    body.extend(texts);
    control.announce(Kind::Work, &body);
    Ok(())
}

/// Runs a process other than the first.
fn follow(control: &Arc<Control>) -> Result<u8, Failure> {
    let status = |body: Vec<u8>| Ok(body.first().copied().unwrap_or(2));
    let work = match control.next(None) {
        Some((Kind::Work, body)) => body,
        Some((_, body)) => return status(body),
        None => return Err(Failure::Other("process 0 sent no work".into())),
    };
    let searched = search_along(&work, control);
    // What is wrong with the input process 0 says, too.
    let patience = searched.is_err().then_some(SILENCE);
    match (control.next(patience), searched) {
        (Some((_, body)), _) => status(body),
        (None, Err(why)) => Err(why),
        (None, Ok(())) => Err(Failure::Other("process 0 did not end".into())),
    }
}

/// Searches for what process 0 asks.
fn search_along(work: &[u8], control: &Arc<Control>) -> Result<(), Failure> {
    let wrong = || Failure::Other("process 0 sent something that is not work".into());
    let end = work.iter().position(|&b| b == b'\n').ok_or_else(wrong)?;
    let sent: Work = serde_json::from_slice(&work[..end]).map_err(|_| wrong())?;
    if sent.throng != env!("CARGO_PKG_VERSION") {
        return Err(Failure::Other(format!("process 0 is throng {}, and this is not", sent.throng)));
    }
    let Ok(Cli { command: super::Command::Check(mut args) }) = Cli::try_parse_from(&sent.command) else {
        return Err(wrong());
    };
    let folder = Folder::new()?;
    let mut texts = &work[end + 1..];
    let mut paths = Vec::new();
    for (name, length) in sent.files {
        let text = texts.split_off(..length).ok_or_else(wrong)?;
        let name = Path::new(&name).file_name().ok_or_else(wrong)?;
        paths.push(folder.0.join(name));
        fs::write(folder.0.join(name), text)?;
    }
    let mut paths = paths.into_iter();
    args.input.file = Some(paths.next().ok_or_else(wrong)?);
    if args.question.prop.is_some() {
        args.question.prop = paths.next();
    }
    args.output.verbose = false;
    args.search.engine = Engine::Distributed;
    args.cluster.joined = Joined(Some(control.clone()));
    let question = args.input.asking(args.question.question());
    let input = Input::open_as(args.input.file(), question.reading(args.input.reading()))?;
    let job = Job::new(&input).question(question).settings(settings(&args)).unchecked();
    let problem = &job.prepare()?.problem;
    drop(folder);
    let parts = parts(&args, input.loaded().ok_or_else(wrong)?, problem)?;
    job.check_by(&*engine(&args, parts), &args.search.limits()?)?;
    Ok(())
}

/// A folder for files that came from elsewhere.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let folder = std::env::temp_dir().join(format!("throng-{}-{}", std::process::id(), random()?));
        fs::create_dir(&folder)?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A name that cannot be guessed.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|why| Failure::Other(format!("no random numbers: {why}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// `throng cluster`.
pub(super) fn run(args: &ClusterCommandArgs, console: &Console) -> Result<u8, Failure> {
    let ClusterCommand::Run(args) = &args.command;
    let [first, ..] = &args.command[..] else { return Err(Failure::Other("there is no command".into())) };
    if first != "check" && first != "bench" {
        let why = "it runs `throng cluster run -n N -- check FILE …` and `throng cluster run -n N -- bench FOLDER …`";
        return Err(Failure::Other(why.into()));
    }
    let folder = Folder::new()?;
    let hosts = folder.0.join("hosts.txt");
    fs::write(&hosts, free_ports(args.processes)?)?;
    let token = random()?;
    // Ctrl-C reaches all processes; process 0 decides what happens next.
    let _ = ctrlc::set_handler(|| {});
    let mut processes = Vec::new();
    for i in 0..args.processes {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(&args.command).arg("--cluster").arg(&hosts).arg("--process").arg(i.to_string());
        command.env(TOKEN, &token).stdin(Stdio::null());
        command.stdout(if i == 0 { Stdio::piped() } else { Stdio::null() });
        processes.push(Process(command.spawn()?));
    }
    let mut printed = Vec::new();
    if let Some(out) = &mut processes[0].0.stdout {
        out.read_to_end(&mut printed)?;
    }
    let status = processes[0].0.wait()?;
    std::io::stdout().lock().write_all(&printed)?;
    if printed.is_empty() && status.code().is_none() {
        console.print("UNKNOWN  process 0 died\n")?;
    }
    let deadline = Instant::now() + 2 * SILENCE;
    while Instant::now() < deadline && processes.iter_mut().any(|p| matches!(p.0.try_wait(), Ok(None))) {
        thread::sleep(Duration::from_millis(10));
    }
    Ok(status.code().map_or(1, |code| code as u8))
}

/// A process that does not outlive this one.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Hosts on this machine, with ports that are free now.
fn free_ports(count: u32) -> Result<String, Failure> {
    let listeners = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    let addresses = listeners.iter().map(|l| l.local_addr()).collect::<Result<Vec<_>, _>>()?;
    Ok(addresses.iter().map(|address| format!("{address}\n")).collect())
}
