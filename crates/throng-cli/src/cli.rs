//! The command line: what the options are. What the commands do is in the modules below.
//!
//! The contract: the first word on standard output is `SAFE`, `UNSAFE` or `UNKNOWN`; messages go to
//! standard error; the exit status is 0 for safe, 10 for unsafe, 1 for unknown, 2 for a wrong input
//! or call.

mod bench;
mod brief;
mod certify;
mod check;
mod checkpoint;
#[cfg(feature = "cluster")]
mod cluster;
mod compiler;
pub mod console;
mod cutoff;
mod explain;
pub mod files;
mod lsp;
mod machine;
mod meter;
mod mutate;
mod orders;
mod reach;
mod refines;
mod replay;
mod rust;
mod serve;
mod setup;
mod several;
mod simulate;
mod store;
mod translate;
mod vocabulary;
mod witness;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use bench::BenchArgs;
use compiler::CompilerFlags;
use console::{Console, Failure};
use rust::RustArgs;
use throng::{
    CodeQuestion, Compiling, CutoffMethod, Engine, Error, Flags, Input, Library, Selection, Settings,
};
use throng_lang::load::{Format, Reading, format_of};
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::memory::MemoryModel;
use vocabulary::OPTIONS;

/// The text that `throng` without arguments prints.
const WELCOME: &str = "\
Throng proves concurrent programs safe for any number of threads, or shows the
execution that breaks them. Three commands to begin with:

  throng init lock.c                      writes a small program with comments
  throng check lock.c                     finds its bug, and says how it happens
  throng check lock.c --html lock.html    the same as a page for your browser

`throng help` lists all commands.";

const EXAMPLES: &str = "\
Examples:
  throng init lock.c
  throng check lock.c
  throng check lock.c --html lock.html

`throng COMMAND --help` explains a command and its options.
Exit status: 0 safe, 10 unsafe, 1 unknown, 2 wrong input or call.";

const CHECK_NOTES: &str = "\
The first word of the output is SAFE, UNSAFE or UNKNOWN.
Exit status: 0 safe, 10 unsafe, 1 unknown (a limit was hit), 2 wrong input or call.";

const CERTIFY_NOTES: &str = "\
The first word of the output is VALID or INVALID; INVALID says which rule failed on what.
The question is that of `throng check` with the same options (of `throng cutoff`, if the certificate is about a
cutoff and no property is asked for); an answer to another one is INVALID.
Exit status: 0 valid, 10 invalid, 1 a limit was hit, 2 unreadable certificate or input.";

const REFINES_NOTES: &str = "\
The first word of the output is SAFE (the program refines the machine), UNSAFE (it has a step that
the machine does not allow) or UNKNOWN. What the machine never reaches, asked with
`throng check MACHINE`, a program that refines it never reaches either.
Exit status: 0 safe, 10 unsafe, 1 unknown (a limit was hit), 2 wrong input or call.";

const MUTATE_NOTES: &str = "\
Changed, one at a time: assertions are negated; locks are disabled; atomic sections are no
longer atomic; in C, atomic operations that read and write become a read and a write; in Boolean
programs, conditions of `assume` and `constrain` are dropped.
The limits are for each program; without --timeout, 20 seconds. -v shows the report of each.
Exit status: 0 the program is SAFE and every changed one UNSAFE, so that the proof depends on
everything that was changed; 1 otherwise; 2 wrong input or call.";

/// Proves concurrent programs safe for any number of threads, or shows the execution that breaks
/// them.
#[derive(Debug, Parser)]
#[command(name = "throng", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Is it safe, for any number of threads? (start here)
    Check(Box<CheckArgs>),
    /// List every reachable thread state
    Reach(ReachArgs),
    /// The smallest number of threads that shows every reachable thread state
    Cutoff(CutoffArgs),
    /// Does each thread of a Boolean program move as a local/global state machine allows?
    Refines(RefinesArgs),
    /// Check a certificate against its input, independently of the search that found it
    Certify(CertifyArgs),
    /// What does the proof depend on? Each lock, atomic section and assertion is changed, one at a
    /// time
    Mutate(Box<MutateArgs>),
    /// C: how weak may each memory order be? One at a time, and all together
    Orders(Box<OrdersArgs>),
    /// Write the same system in another format
    Translate(TranslateArgs),
    /// Walk through executions, at random or by hand
    Simulate(SimulateArgs),
    /// Run and compare engines, and other tools, on a folder of inputs
    Bench(BenchArgs),
    /// A page to work on: an editor, checks with live progress, and an explorer of configurations
    Serve(ServeArgs),
    /// Several processes that work on one command, on this machine
    #[cfg(feature = "cluster")]
    Cluster(cluster::ClusterCommandArgs),
    /// Serve an editor: diagnostics, names and verdicts (Language Server Protocol, on standard
    /// input and output)
    Lsp(LspArgs),
    /// What an error or warning means, with an example
    Explain(ExplainArgs),
    /// Write a small program with comments, to start from
    Init(InitArgs),
    /// Completions for a shell, on standard output
    Completions(CompletionsArgs),
    /// The manual page, on standard output
    Man(ManArgs),
}

/// Options of `throng check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_NOTES)]
struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Further inputs: each is checked, limits are for each, and a first line sums up. After a C
    /// file, further C files are parts of the same program
    #[arg(value_name = "FILE")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: cluster::ClusterArgs,
    /// Give up hunting for a bug beyond this many threads (nets: tokens for each open count)
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_threads: Option<u32>,
    /// Stop as soon as one target is reached; the others stay unknown
    #[arg(long, help_heading = "Limits")]
    stop_at_first: bool,
    /// `explicit`, `karp-miller`: write the state of the search to FILE every 20 seconds; the same
    /// command then resumes there, whatever stopped it. With the answer, FILE is removed.
    /// `distributed`, where it is compiled in: FILE is a folder that all processes see
    #[arg(long, value_name = "FILE", conflicts_with = "reuse", help_heading = "Limits")]
    checkpoint: Option<PathBuf>,
    /// Write the state of the search every SECS seconds instead
    #[arg(long, value_name = "SECS", value_parser = seconds, requires = "checkpoint", help_heading = "Limits")]
    checkpoint_every: Option<Duration>,
    /// An engine other than `auto`: search the problem as it is, not a smaller quotient
    #[arg(long, conflicts_with = "checkpoint", help_heading = "Limits")]
    no_quotient: bool,
    /// Print verdicts without checking their evidence first
    #[arg(long, help_heading = "Output")]
    no_check: bool,
    /// Exit status 1 instead of 0 if a proof is vacuous: no thread reaches an assertion (or a label
    /// of `--mutex`, `--at-most`, `--never`, `--stuck`), or an `assume` never holds; also searches
    /// for that where the proof does not say it
    #[arg(long, help_heading = "Output")]
    strict: bool,
    /// Warn about statements outside atomic sections that use several shared variables: in the
    /// program that is modelled these may be several steps
    #[arg(long, help_heading = "Output")]
    lint: bool,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Also write a web page to look at the run or the proof; it needs no network
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Also write the result as SARIF 2.1.0, for code-scanning pages and editors
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sarif: Option<PathBuf>,
    /// Write an execution that fails under the memory model of C11 as a litmus test, in herd's
    /// format for C
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    litmus: Option<PathBuf>,
    /// C, with `--race`: exit status 10 also where a race is possible that no run shows, so that
    /// only a proof, or a baseline, lets a build pass
    #[arg(long, value_name = "WHAT", value_parser = ["possible"], help_heading = "C")]
    fail_on: Option<String>,
    /// C, with `--race`: accept the races in this file, which `--write-baseline` has written. The
    /// exit status is 0 if these are all; lines may have moved since
    #[arg(long, value_name = "FILE", help_heading = "C")]
    baseline: Option<PathBuf>,
    /// C, with `--race`: write all races that are found, possible or shown by a run, to this file,
    /// for `--baseline`
    #[arg(long, value_name = "FILE", help_heading = "C")]
    write_baseline: Option<PathBuf>,
    /// C: write a program that goes through the run with real threads, if there is one;
    /// `cc -pthread FILE` compiles it
    #[arg(long, value_name = "FILE", help_heading = "C")]
    replay: Option<PathBuf>,
    /// C: compile the program of `--replay` and run it, and say what happened; without `--replay` it
    /// is a temporary file
    #[arg(long, help_heading = "C")]
    replay_run: bool,
    /// C: write a witness in the YAML format of SV-COMP: the run of an UNSAFE program, thread by
    /// thread; `throng certify` follows it
    #[arg(long, value_name = "FILE", help_heading = "C")]
    witness: Option<PathBuf>,
    /// Write verdicts and evidence to this file, for `throng certify`; the search then does without
    /// partial orders
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    certificate: Option<PathBuf>,
    /// Write also over a file whose name ends like that of an input; inputs of this command and
    /// read-only files stay all the same
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Try the evidence of this certificate first, and search only for what it no longer shows
    #[arg(long, value_name = "CERT", help_heading = "Limits")]
    reuse: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng certify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CERTIFY_NOTES)]
struct CertifyArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The certificate, as `throng check --certificate` or `throng cutoff --certificate` wrote it.
    /// C: also a violation witness of SV-COMP, whose name ends in .yml
    #[arg(required_unless_present_any = ["project", "cargo"])]
    certificate: Option<PathBuf>,
    /// C: of several files, those of the program come first and the certificate last. Of `throng
    /// refines`: the program, the machine, the certificate
    #[arg(value_name = "FILE")]
    more: Vec<PathBuf>,
    /// As for `throng refines`
    #[arg(long, value_name = "STATE", help_heading = "Question")]
    role: Vec<String>,
    #[command(flatten)]
    question: QuestionArgs,
    /// Check the answer to whatever question the certificate states, which may not be that of the
    /// input
    #[arg(long, help_heading = "Question", conflicts_with_all = ["initial", "threads", "target", "prop",
          "error_label", "mutex", "at_most", "never", "race", "deadlock", "stuck", "starvation", "invariant", "init_free", "no_slot_reuse"])]
    its_own_question: bool,
    /// Stop after this many seconds, or at most half a second later; fractions are fine
    #[arg(long, value_name = "SECS", value_parser = seconds, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// Stop when the process uses more than this many MiB; without it, more than three quarters of
    /// the memory of the machine, or of the control group (on Linux)
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    memory: Option<u64>,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl CertifyArgs {
    /// Returns the same with the certificate in its place: of a build, no file need be named before
    /// it.
    fn with_certificate(&self) -> Result<CertifyArgs, Failure> {
        let mut args = self.clone();
        let mut files: Vec<PathBuf> = args.input.file.take().into_iter().collect();
        files.extend(args.certificate.take());
        files.append(&mut args.more);
        args.certificate = files.pop();
        let mut files = files.into_iter();
        args.input.file = files.next();
        args.more = files.collect();
        let is_build = args.input.project.is_some() || args.input.rust.cargo;
        let is_named = args.certificate.is_some() && (args.input.file.is_some() || is_build);
        if is_named { Ok(args) } else { Err(Failure::Other("the certificate is missing".into())) }
    }

    fn certificate(&self) -> &Path {
        self.certificate.as_deref().unwrap_or(Path::new("-"))
    }
}

/// Options of `throng mutate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = MUTATE_NOTES)]
struct MutateArgs {
    #[command(flatten)]
    input: InputArgs,
    /// C: further files of the same program
    #[arg(value_name = "FILE")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// C: write into this directory, for each changed program that is UNSAFE, a program that goes
    /// through its run with real threads: 1.c, 2.c, …
    #[arg(long, value_name = "DIR", help_heading = "C")]
    replay: Option<PathBuf>,
    /// C: also compile each of these programs and run it, and say what happened
    #[arg(long, requires = "replay", help_heading = "C")]
    replay_run: bool,
    /// Write one JSON document instead of text, with the report of each check
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng orders`.
#[derive(Clone, Debug, Args)]
struct OrdersArgs {
    #[command(flatten)]
    input: InputArgs,
    /// C: further files of the same program
    #[arg(value_name = "FILE")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng reach`.
#[derive(Debug, Args)]
struct ReachArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    start: StartArgs,
    #[command(flatten)]
    property: PropertyArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// List also what holds only while a thread is inside an atomic section
    #[arg(long, help_heading = "Question")]
    inside_atomic: bool,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Also write a web page with the thread states and the lines that no thread reaches
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Write also over a file whose name ends like that of an input; inputs of this command and
    /// read-only files stay all the same
    #[arg(long, help_heading = "Output")]
    force: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng cutoff`.
#[derive(Debug, Args)]
struct CutoffArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Where to start: `K` or `any` for programs, `s|l,l/u,u` for systems
    #[arg(long, value_name = "CONFIG", help_heading = "Question")]
    initial: Option<String>,
    /// Write the cutoff and its evidence to this file, for `throng certify`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    certificate: Option<PathBuf>,
    /// Write also over a file whose name ends like that of an input; inputs of this command and
    /// read-only files stay all the same
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// How to know that nothing more can appear (default: exact if `karp-miller` takes the model,
    /// else dynamic)
    #[arg(long, value_enum, help_heading = "Question")]
    method: Option<MethodName>,
    /// Also write a web page with what each number of threads brings
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
    /// Print the cutoff without checking its evidence first
    #[arg(long, help_heading = "Output")]
    no_check: bool,
    #[command(flatten)]
    search: SearchArgs,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Methods to establish a cutoff.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum MethodName {
    /// Compare with the exact set, which Karp-Miller computes
    Exact,
    /// Grow the number of threads, and prove the remaining candidates unreachable when nothing new
    /// appears
    Dynamic,
}

impl From<MethodName> for CutoffMethod {
    fn from(name: MethodName) -> CutoffMethod {
        match name {
            MethodName::Exact => CutoffMethod::Exact,
            MethodName::Dynamic => CutoffMethod::Dynamic,
        }
    }
}

/// Options of `throng refines`.
#[derive(Debug, Args)]
#[command(after_help = REFINES_NOTES)]
struct RefinesArgs {
    /// The program: .bp
    program: PathBuf,
    /// The machine: .ntts, with lines `means STATE CONDITION`
    machine: PathBuf,
    /// A local state of the machine in which threads of the program start; may be repeated. Without
    /// it, those in which any number of threads starts
    #[arg(long, value_name = "STATE", help_heading = "Question")]
    role: Vec<String>,
    /// Write the answer and its evidence to this file, for `throng certify PROGRAM MACHINE FILE`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    certificate: Option<PathBuf>,
    /// Write also over a file whose name ends like that of an input; inputs of this command and
    /// read-only files stay all the same
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print the answer without checking its evidence first
    #[arg(long, help_heading = "Output")]
    no_check: bool,
    /// Stop after this many seconds, or at most half a second later; fractions are fine
    #[arg(long, value_name = "SECS", value_parser = seconds, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// Stop when the process uses more than this many MiB; without it, more than three quarters of
    /// the memory of the machine, or of the control group (on Linux)
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    memory: Option<u64>,
    /// Write one JSON document instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng translate`.
#[derive(Debug, Args)]
struct TranslateArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    question: QuestionArgs,
    /// The format to write
    #[arg(long, value_enum)]
    to: Language,
    /// With `--to bp`: write numbers, enumerations and arrays as Boolean variables
    #[arg(long)]
    plain: bool,
    /// With `--to dot`, of a program: write the graph of its thread states instead of its
    /// control-flow graph
    #[arg(long)]
    net: bool,
    /// Write to this file instead of standard output, which is `-`
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Replace also a file of properties beside it that `throng translate` did not write; inputs of
    /// this command and read-only files stay all the same
    #[arg(long)]
    force: bool,
    /// Give up after this many seconds; fractions are fine
    #[arg(long, value_name = "SECS", value_parser = seconds, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// Give up when the process uses more than this many MiB; without it, more than three quarters
    /// of the memory of the machine, or of the control group (on Linux)
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    memory: Option<u64>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng simulate`.
#[derive(Debug, Args)]
struct SimulateArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    question: QuestionArgs,
    /// Choose every step yourself, reading choices from standard input
    #[arg(long, short)]
    interactive: bool,
    /// Which random walk: the same number gives the same walk
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of random steps to take
    #[arg(long, value_name = "N", default_value_t = 50)]
    steps: usize,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `throng serve`.
#[derive(Debug, Args)]
struct ServeArgs {
    /// The folder whose inputs the page shows; nothing else is read, and nothing is written
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The port to listen on, at 127.0.0.1 only; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Give up a check after this many seconds
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "60")]
    timeout: Duration,
    /// Give up a check when the server uses more than this many MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory: u64,
}

/// Options of `throng lsp`.
#[derive(Debug, Args)]
struct LspArgs {
    /// Give up a check after this many seconds
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value = "60")]
    timeout: Duration,
    /// Give up a check when the server uses more than this many MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    memory: u64,
    /// Standard input and output, which is the only way; editors ask for it
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Options of `throng explain`.
#[derive(Debug, Args)]
struct ExplainArgs {
    /// The code, such as E101; without it, all of them
    code: Option<String>,
}

/// Options of `throng init`.
#[derive(Debug, Args)]
struct InitArgs {
    /// The file to write, which must not exist: C (.c), Rust (.rs) or a Boolean program (.bp)
    #[arg(default_value = "lock.c")]
    file: PathBuf,
}

/// Options of `throng completions`.
#[derive(Debug, Args)]
struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Options of `throng man`.
#[derive(Debug, Args)]
struct ManArgs {
    /// The page of this command instead of that of throng
    command: Option<String>,
    /// Write all pages into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Options for the input.
#[derive(Clone, Debug, Args)]
struct InputArgs {
    /// The input: .bp .nbp .tts .ttd .ntts .spec .pnml .c .i .rs .ll, or `-` for standard input
    #[arg(required_unless_present_any = ["project", "cargo"])]
    file: Option<PathBuf>,
    /// The format of the input, if its extension does not say
    #[arg(long, value_name = "KIND", value_parser = format_parser())]
    from: Option<Format>,
    /// Nets: a variable that `init` does not mention may start with any number of tokens (mist's
    /// reading)
    #[arg(long, help_heading = "Question")]
    init_free: bool,
    /// Programs: a thread that has ended still counts towards --threads (the Boom tool's reading)
    #[arg(long, help_heading = "Question")]
    no_slot_reuse: bool,
    #[command(flatten)]
    compiler: CompilerFlags,
    /// C: read the C files of a build, each with its own flags: `compile_commands.json`, which
    /// CMake, Meson and Bear write, or its folder. Files that are named are the only ones
    #[arg(long, value_name = "FILE", help_heading = "C")]
    project: Option<PathBuf>,
    /// C: of a build with several programs, the one whose `main` is in this file
    #[arg(long, value_name = "FILE", requires = "project", help_heading = "C")]
    main: Option<PathBuf>,
    /// C: what functions do that are neither defined nor known: rows as in the table that is built
    /// in, see the reference. May be repeated
    #[arg(long, value_name = "FILE", help_heading = "C")]
    library: Vec<PathBuf>,
    #[command(flatten)]
    rust: RustArgs,
    /// Any number of threads each call this function (integers as arguments: any value; in C,
    /// pointers: null), and `main` is not run; `A,B` for several. In Rust its path, or the end of
    /// it: `tests::worker`
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',', help_heading = "C and Rust")]
    entry: Vec<String>,
    /// C: a wait for a condition variable ends with a signal only; `--deadlock` implies it
    #[arg(long, help_heading = "C")]
    no_spurious: bool,
    /// C: statements without calls, and conditions, are one step, however many shared variables
    /// they access (the SATABS tool's reading)
    #[arg(long, help_heading = "C")]
    whole_statements: bool,
    /// C: accesses to variables that are declared `volatile` are atomic, as much old code takes for
    /// granted: they race with nothing atomic. Accesses through pointers to volatile are not
    #[arg(long, help_heading = "C")]
    volatile_atomic: bool,
    /// C, Rust: the memory model: `c11` (memory orders mean what C says, as in Rust) or `sc` (sequential
    /// consistency). Without it, `c11` for a program that names an order weaker than `seq_cst`,
    /// else `sc`
    #[arg(long, value_name = "MODEL", value_parser = memory_model(), help_heading = "C")]
    memory_model: Option<MemoryModel>,
    /// C: `long`, `size_t` and `ptrdiff_t` have 32 bits (pointers keep 8 bytes, which the verdict
    /// says); `-m32` is the same
    #[arg(long, alias = "m32", help_heading = "C", conflicts_with = "lp64")]
    ilp32: bool,
    /// C: `long`, `size_t` and `ptrdiff_t` have 64 bits, which is the default; `-m64` is the same
    #[arg(long, alias = "m64", help_heading = "C")]
    lp64: bool,
}

/// Options for the initial configuration and the number of threads.
#[derive(Clone, Debug, Args)]
struct StartArgs {
    /// The initial configuration. Programs: K threads, or `any` number (default: 1 if the program
    /// has `start_thread`, else any). Systems: `s|l,l/u,u`, threads in l and l, any number in u and
    /// u (default: `0/0`)
    #[arg(long, value_name = "START", help_heading = "Question")]
    initial: Option<String>,
    /// At most N threads at any time, initial ones included (nets: N tokens for each open initial
    /// count); without it, any number
    #[arg(long, value_name = "N", help_heading = "Question")]
    threads: Option<u32>,
}

/// Options for the question.
#[derive(Clone, Debug, Args)]
struct QuestionArgs {
    #[command(flatten)]
    start: StartArgs,
    /// Systems, `s|l,l`: is a configuration with shared state s and at least threads in l and l
    /// reachable? Programs, `x=1 n=3 | L: a=1, M`: is one with these shared values, a thread at
    /// label (or line) L with a = 1, and another at M? May be repeated
    #[arg(long, value_name = "STATE", help_heading = "Question")]
    target: Vec<String>,
    /// Systems: read targets from this file (default: the .prop file of the same name)
    #[arg(long, value_name = "FILE", help_heading = "Question")]
    prop: Option<PathBuf>,
    /// Programs: no thread may reach this label. May be repeated
    #[arg(long, value_name = "LABEL", help_heading = "Question")]
    error_label: Vec<String>,
    /// Programs: no two threads may be at this label, no thread being inside an atomic section.
    /// `A|B`: at these labels or lines; `A,B`: no thread at A while another is at B. May be
    /// repeated
    #[arg(long, value_name = "LABELS", help_heading = "Question")]
    mutex: Vec<String>,
    /// Programs: `L=2`, at most two threads may be at label L (or `A|B=2`), no thread being inside
    /// an atomic section. May be repeated
    #[arg(long, value_name = "BOUND", help_heading = "Question")]
    at_most: Vec<String>,
    /// Programs: `L & x, M & !y`, no thread may be at label (or line) L and see x true while
    /// another is at M and sees y false; any number of threads, each with its condition on local
    /// and shared variables. May be repeated
    #[arg(long, value_name = "THREADS", help_heading = "Question")]
    never: Vec<String>,
    /// No data race. Programs, `--race VAR`: no two threads may be about to access this shared
    /// variable, one of them to write it, no thread being inside an atomic section; may be
    /// repeated. C, `--race` without a variable, after the file: no two threads about to access the
    /// same memory, one writing, not both atomically; `--race VAR` and `--race FILE:LINE` ask about
    /// races on a variable, or a part of one, and in a line. Assertions are then not asked for,
    /// unless by `--assertions`
    #[arg(long, value_name = "VAR", num_args = 0..=1, default_missing_value = "", help_heading = "Question")]
    race: Vec<String>,
    /// No configuration may be reached in which no thread can move although some thread has not
    /// ended. C: assertions are then not asked for, unless by `--assertions`
    #[arg(long, help_heading = "Question")]
    deadlock: bool,
    /// Programs and C: no thread at label L (`A|B`: at one of these labels or lines; `wait`: at any
    /// `wait`; C: functions, too; `any`: anywhere) may be stuck there: unable to move ever again,
    /// other than around a loop that only reads, whatever the other threads do. May be repeated
    #[arg(long, value_name = "LABELS", help_heading = "Question")]
    stuck: Vec<String>,
    /// Programs and C: under a fair scheduler, every thread at label L (`A|B`: at one of these
    /// labels or lines; C: functions, too) gets past it. May be repeated
    #[arg(long, value_name = "LABELS", help_heading = "Question")]
    starvation: Vec<String>,
    /// Programs: this expression over the shared variables must always hold. May be repeated
    #[arg(long, value_name = "EXPR", help_heading = "Question")]
    invariant: Vec<String>,
    /// C: ask what this property file of SV-COMP says: unreach-call.prp, no-data-race.prp or
    /// no-overflow.prp
    #[arg(long, value_name = "FILE", help_heading = "C", conflicts_with_all = ["race", "deadlock", "overflow", "locks", "memory_safety", "assertions", "error_label", "mutex"])]
    property: Option<PathBuf>,
    #[command(flatten)]
    failures: FailureArgs,
}

/// Kinds of failure of C programs.
#[derive(Clone, Debug, Default, Args)]
struct FailureArgs {
    /// C: no signed overflow, division by zero or shift that is too far; as for the next,
    /// assertions are then not asked for, unless by `--assertions`
    #[arg(long, help_heading = "C")]
    overflow: bool,
    /// C: no lock is released by a thread that does not hold it, or destroyed while it is held
    /// (without it, a warning)
    #[arg(long, help_heading = "C")]
    locks: bool,
    /// C: no memory error: nothing is accessed outside of live objects, no null pointer, nothing
    /// that was freed, and nothing is freed twice. A memory error that a search meets is reported
    /// in any case; this asks for the proof that there is none
    #[arg(long, help_heading = "C")]
    memory_safety: bool,
    /// C: assertions, also where another kind of failure is asked for
    #[arg(long, help_heading = "C")]
    assertions: bool,
}

/// Options that `check` has and `reach` has not; they are parsed so that they can be refused with a
/// reason.
#[derive(Debug, Args)]
struct PropertyArgs {
    #[arg(long, hide = true)]
    target: Vec<String>,
    #[arg(long, hide = true)]
    prop: Option<PathBuf>,
    #[arg(long, hide = true)]
    error_label: Vec<String>,
    #[arg(long, hide = true)]
    mutex: Vec<String>,
    #[arg(long, hide = true)]
    at_most: Vec<String>,
    #[arg(long, hide = true)]
    never: Vec<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "")]
    race: Vec<String>,
    #[arg(long, hide = true)]
    deadlock: bool,
    #[arg(long, hide = true)]
    stuck: Vec<String>,
    #[arg(long, hide = true)]
    starvation: Vec<String>,
    #[arg(long, hide = true)]
    invariant: Vec<String>,
}

impl PropertyArgs {
    fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--target", !self.target.is_empty()),
            ("--prop", self.prop.is_some()),
            ("--error-label", !self.error_label.is_empty()),
            ("--mutex", !self.mutex.is_empty()),
            ("--at-most", !self.at_most.is_empty()),
            ("--never", !self.never.is_empty()),
            ("--race", !self.race.is_empty()),
            ("--deadlock", self.deadlock),
            ("--stuck", !self.stuck.is_empty()),
            ("--starvation", !self.starvation.is_empty()),
            ("--invariant", !self.invariant.is_empty()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::Other(format!(
                "`throng reach` lists every thread state, whatever the property: drop `{option}` here and give it to `throng check`"
            ))),
        }
    }
}

/// Options for the search and its limits.
#[derive(Clone, Debug, Args)]
struct SearchArgs {
    /// The engine that searches
    #[arg(long, value_parser = engine_parser(), default_value_t = Engine::Auto, help_heading = "Limits")]
    engine: Engine,
    /// Do not leave out interleavings that make no difference (partial-order reduction)
    #[arg(long, help_heading = "Limits")]
    no_por: bool,
    /// Stop after this many seconds, or at most half a second later; fractions are fine
    #[arg(long, value_name = "SECS", value_parser = seconds, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// Stop when the process uses more than this many MiB; without it, more than three quarters of
    /// the memory of the machine, or of the control group (on Linux)
    #[arg(long, value_name = "MIB", help_heading = "Limits")]
    memory: Option<u64>,
    /// Keep the configurations of explicit searches in files of this folder, mapped into memory:
    /// for sets that do not fit into it
    #[arg(long, value_name = "FOLDER", help_heading = "Limits")]
    store: Option<PathBuf>,
    /// Number of processor cores to use; with 1 the search is deterministic
    #[arg(long, value_name = "N", default_value_t = cores(), help_heading = "Limits",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,
}

/// Options for output.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Verdicts only: no warnings, no traces
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    /// Details on standard error, also progress; all shared variables after every step of a trace
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Output")]
    verbose: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN", help_heading = "Output")]
    color: ColorChoice,
    /// Progress of long searches, on standard error
    #[arg(long, value_enum, default_value_t = meter::When::Auto, value_name = "WHEN", help_heading = "Output")]
    progress: meter::When,
}

/// The formats that can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Language {
    /// Boolean program
    Bp,
    /// Thread-transition system
    Tts,
    /// Thread-transition system with names
    Ntts,
    /// mist net
    Spec,
    /// Petri net in XML
    Pnml,
    /// Drawing for Graphviz
    Dot,
    /// The goto program of a C program: calls inlined, every access written out
    Goto,
}

impl InputArgs {
    fn reading(&self) -> Reading {
        Reading {
            from: self.from,
            init_free: self.init_free,
            keep_ended: self.no_slot_reuse,
            vocabulary: &OPTIONS,
            ..Reading::default()
        }
    }

    /// Returns the file that was named: the input, or what names its files.
    fn file(&self) -> &Path {
        let nothing = if self.rust.cargo { "Cargo.toml" } else { "" };
        self.file.as_ref().or(self.project.as_ref()).map_or(Path::new(nothing), PathBuf::as_path)
    }

    fn format(&self) -> Option<Format> {
        match self.project {
            Some(_) => Some(Format::C),
            None if self.rust.cargo => Some(Format::Rust),
            None => format_of(self.file(), &self.reading()).ok(),
        }
    }

    /// Returns whether it is a program in C.
    fn is_c(&self) -> bool {
        self.format() == Some(Format::C)
    }

    /// Returns whether it is a program in a source language.
    fn is_code(&self) -> bool {
        self.format().is_some_and(Format::is_code)
    }

    /// The flags of the compiler.
    fn flags(&self) -> Result<Flags, Failure> {
        let bits = [(self.ilp32, "-m32"), (self.lp64, "-m64")];
        self.compiler.flags(bits.iter().find(|(given, _)| *given).map(|(_, flag)| *flag))
    }

    /// Reads a program in C; `more`: its further files.
    fn read_c(&self, more: &[PathBuf], limits: &Limits) -> Result<Result<Input, Error>, Failure> {
        let flags = self.flags()?;
        let library = match Library::open(&self.library) {
            Ok(library) => Arc::new(library),
            Err(why) => return Ok(Err(why.into())),
        };
        let Some(project) = &self.project else {
            let compiling = Compiling { library, ..Compiling::alike(flags, more) };
            return Ok(Input::open_c(self.file(), &compiling, limits));
        };
        let files = self.file.iter().chain(more).cloned().collect();
        let selection =
            Selection { files, main: self.main.clone(), entries: self.entry.clone(), flags, library };
        Ok(Input::open_project(project, &selection, limits))
    }

    /// Refuses options that say nothing about an input of this kind.
    fn refuse(&self) -> Result<(), Failure> {
        let Some(format) = self.format() else { return Ok(()) };
        let flag = self.compiler.given();
        let (is_rust, is_ir) = (format == Format::Rust, format == Format::Llvm);
        let given = [
            (flag.unwrap_or("-D"), flag.is_some(), format == Format::C, C_FILES),
            ("--ilp32", self.ilp32, format == Format::C, C_FILES),
            ("--lp64", self.lp64, format == Format::C, C_FILES),
            ("--library", !self.library.is_empty(), format == Format::C, C_FILES),
            (
                "--edition",
                self.rust.edition.is_some(),
                is_rust && !self.rust.cargo,
                "a file that ends in .rs",
            ),
            ("--setup", self.rust.setup.is_some(), is_rust || is_ir, RUST_FILES),
            ("--one", !self.rust.one.is_empty(), is_rust || is_ir, RUST_FILES),
            ("--init-free", self.init_free, format == Format::Spec, "nets in files that end in .spec"),
            ("--no-slot-reuse", self.no_slot_reuse, format == Format::Bp, "Boolean programs"),
        ];
        match given.iter().find(|(_, given, fits, _)| *given && !fits) {
            Some((option, _, _, what)) => Err(Failure::Other(format!("`{option}` is for {what}"))),
            None => Ok(()),
        }
    }

    /// Asks what can be said of C beside the properties.
    fn asking(&self, question: Question) -> Question {
        let code = CodeQuestion {
            entries: self.entry.clone(),
            setup: self.rust.setup.clone(),
            one: self.rust.one.clone(),
            no_spurious: self.no_spurious,
            whole_statements: self.whole_statements,
            volatile_atomic: self.volatile_atomic,
            memory_model: self.memory_model,
            ..question.code
        };
        Question { code, ..question }
    }
}

/// Reads the name of a memory model.
fn memory_model() -> impl clap::builder::TypedValueParser<Value = MemoryModel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = MemoryModel::NAMES.map(|(_, name)| name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<MemoryModel>())
}

const C_FILES: &str = "C: files that end in .c or .i";
const RUST_FILES: &str = "Rust and LLVM IR: files that end in .rs or .ll, and `--cargo`";

impl StartArgs {
    fn question(&self) -> Question {
        Question {
            initial: self.initial.clone(),
            threads: self.threads,
            vocabulary: &OPTIONS,
            ..Question::default()
        }
    }
}

impl QuestionArgs {
    fn question(&self) -> Question {
        Question {
            targets: self.target.clone(),
            prop: self.prop.clone(),
            error_labels: self.error_label.clone(),
            mutex: self.mutex.clone(),
            at_most: self.at_most.clone(),
            never: self.never.clone(),
            races: self.race.iter().filter(|variable| !variable.is_empty()).cloned().collect(),
            deadlock: self.deadlock,
            stuck: self.stuck.clone(),
            starvation: self.starvation.clone(),
            invariants: self.invariant.clone(),
            code: CodeQuestion {
                data_race: self.race.iter().any(String::is_empty),
                overflow: self.failures.overflow,
                locks: self.failures.locks,
                memory_safety: self.failures.memory_safety,
                assertions: self.failures.assertions,
                property: self.property.clone(),
                ..CodeQuestion::default()
            },
            ..self.start.question()
        }
    }
}

impl SearchArgs {
    fn limits(&self) -> Result<Limits, Failure> {
        Ok(within(self.unlimited()?, self.timeout, self.memory))
    }

    /// No limits, and where large sets are kept.
    fn unlimited(&self) -> Result<Limits, Failure> {
        let Some(path) = &self.store else { return Ok(Limits::none()) };
        let folder = store::Folder::new(path).map_err(|why| {
            Failure::Other(format!("--store: files cannot be kept in `{}`: {why}", path.display()))
        })?;
        Ok(Limits::none().with_storage(Some(Arc::new(folder))))
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.jobs = self.jobs as usize;
        settings.partial_order = !self.no_por;
        settings
    }
}

fn limits(timeout: Option<Duration>, mebibytes: Option<u64>) -> Limits {
    within(Limits::none(), timeout, mebibytes)
}

fn within(mut limits: Limits, timeout: Option<Duration>, mebibytes: Option<u64>) -> Limits {
    if let Some(timeout) = timeout {
        limits = limits.timeout(timeout);
    }
    let bytes = mebibytes.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    bytes.or_else(machine::fair_share).into_iter().fold(limits, Limits::memory)
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(Format::NAMES).try_map(|name| name.parse::<Format>())
}

/// The engines of the library's registry, with their descriptions.
fn engine_parser() -> impl clap::builder::TypedValueParser<Value = Engine> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
    let named = |engine: Engine| {
        let about = engine.description().replace("questions with a thread bound", "`--threads N`");
        PossibleValue::new(engine.name()).help(about)
    };
    PossibleValuesParser::new(Engine::ALL.iter().copied().map(named)).try_map(|name| name.parse::<Engine>())
}

/// A number of seconds, as options take it.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

impl OutputArgs {
    /// Returns whether only the first line is wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }
}

/// The cores of this machine.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Runs the command that the process was started with and returns the exit status.
pub fn main() -> u8 {
    run(std::env::args_os().collect())
}

/// The same for the words that cargo starts a command of its own with.
pub fn main_of_cargo() -> u8 {
    run(rust::words_of_cargo(std::env::args_os()))
}

fn run(words: Vec<OsString>) -> u8 {
    if words.len() <= 1 {
        console::complain(WELCOME);
        return 2;
    }
    let cli = Cli::read(compiler::with_two_dashes(words)).unwrap_or_else(|why| {
        if let Some(file) = file_as_command(&why) {
            console::complain(&format!(
                "error: `{file}` is not a command; to check that file: throng check {file}"
            ));
            std::process::exit(2);
        }
        let _ = why.print();
        setup::what_is_here(&why, Path::new(".")).into_iter().for_each(|tip| console::complain(&tip));
        unknown_flag(&why).into_iter().for_each(|tip| console::complain(&tip));
        std::process::exit(why.exit_code())
    });
    let console = Console::new(cli.command.output());
    match console::with_large_stack(move || cli.run(&console)) {
        Ok(status) => status,
        Err(panicked) => {
            console::complain(&format!(
                "internal error: {panicked}\nThis is a bug in throng, not in your input. Please report it with the \
                 command you ran, the input file and the version ({}).",
                env!("CARGO_PKG_VERSION")
            ));
            2
        }
    }
}

/// What to do with a flag of a compiler that is no option, if that is what is wrong.
fn unknown_flag(why: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let Some(ContextValue::String(word)) = why.get(ContextKind::InvalidArg) else { return None };
    let flag = word.starts_with('-') && !word.starts_with("--");
    (why.kind() == ErrorKind::UnknownArgument && flag)
        .then(|| format!("\n  tip: further flags of a C compiler are given as one: --cflags '{word}…'"))
}

/// The file that was named where a command belongs, if that is what is wrong.
fn file_as_command(why: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    match (why.kind(), why.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => {
            Path::new(word).is_file().then(|| word.clone())
        }
        _ => None,
    }
}

impl Command {
    fn output(&self) -> OutputArgs {
        match self {
            Command::Check(args) => args.output,
            Command::Certify(args) => args.output,
            Command::Mutate(args) => args.output,
            Command::Orders(args) => args.output,
            Command::Reach(args) => args.output,
            Command::Cutoff(args) => args.output,
            Command::Refines(args) => args.output,
            Command::Translate(args) => args.output,
            Command::Simulate(args) => args.output,
            Command::Bench(args) => args.output,
            Command::Serve(_)
            | Command::Lsp(_)
            | Command::Explain(_)
            | Command::Init(_)
            | Command::Completions(_)
            | Command::Man(_) => OutputArgs::default(),
            #[cfg(feature = "cluster")]
            Command::Cluster(_) => OutputArgs::default(),
        }
    }
}

impl Cli {
    /// Parses a call.
    fn read(words: Vec<OsString>) -> Result<Cli, clap::Error> {
        let mut command = Cli::command();
        if words.iter().any(|word| word == "-h") {
            command = brief::with_short_help(command);
        }
        let matches = command.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches(&matches).map_err(|why| why.format(&mut command))
    }

    fn run(&self, console: &Console) -> u8 {
        let done = match &self.command {
            Command::Check(args) => check::run(args, console),
            Command::Certify(args) => certify::run(args, console),
            Command::Mutate(args) => mutate::run(args, console),
            Command::Orders(args) => orders::run(args, console),
            Command::Reach(args) => reach::run(args, console),
            Command::Cutoff(args) => cutoff::run(args, console),
            Command::Refines(args) => refines::run(args, console),
            Command::Translate(args) => translate::run(args, console),
            Command::Simulate(args) => simulate::run(args, console),
            Command::Bench(args) => bench::run(args, console),
            Command::Serve(args) => serve::run(args, console),
            #[cfg(feature = "cluster")]
            Command::Cluster(args) => cluster::run(args, console),
            Command::Lsp(args) => lsp::run(args),
            Command::Explain(args) => explain::run(args, console),
            Command::Init(args) => setup::init(args, console),
            Command::Completions(args) => setup::completions(args, console),
            Command::Man(args) => setup::man(args, console),
        };
        done.unwrap_or_else(|failure: Failure| {
            console.fail(&failure);
            2
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seconds_may_have_fractions_but_must_be_times() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["-1", "nan", "inf", "", "x", "1e300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
