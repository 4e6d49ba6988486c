//! What the interpreter says about a program of one thread, and tables of such answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use throng_c::{Loaded, Options, load};
use throng_goto::interpreter::Interpreter;
use throng_goto::program::Program;
use throng_goto::step::{After, Outcome, step};

/// What the interpreter says about a program that must end without a violation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Answer {
    /// It ends.
    Right,
    /// It says something else than the compiled program.
    Wrong(String),
    /// The reader refuses the program, by name.
    Refused(String),
    /// A value or an effect is not known, or it takes too long.
    Open(String),
}

/// Returns what the interpreter says about a program within some time.
pub fn answer(path: &Path, options: &Options, patience: Duration) -> Answer {
    match load(path, options) {
        Ok(loaded) => executed(&loaded, patience),
        Err(why) => {
            let first = why.diagnostics.first().map(|d| format!("{} {}", d.code, d.message));
            Answer::Refused(first.unwrap_or_default())
        }
    }
}

/// The most runs of one program, where values that are open are all tried.
const RUNS: usize = 300;

fn executed(loaded: &Loaded, patience: Duration) -> Answer {
    let begun = Instant::now();
    let mut waiting = vec![Interpreter::new(&loaded.query.program)];
    let mut runs = 0;
    while let Some(run) = waiting.pop() {
        runs += 1;
        if runs > RUNS {
            return Answer::Open("it depends on a value that is open".into());
        }
        let doubtful = loaded.query.program.templates.iter().any(|t| !t.doubts.is_empty());
        match executed_to_a_choice(loaded, run, &mut waiting, begun + patience) {
            Answer::Right => {}
            // Not every choice is one of the program's.
            Answer::Wrong(_) if runs > 1 && doubtful => {
                return Answer::Open("it depends on a value that is not modelled".into());
            }
            other => return other,
        }
    }
    Answer::Right
}

/// Follows a run to its end, or to where it can go on in several ways, which wait then.
fn executed_to_a_choice<'p>(
    loaded: &'p Loaded,
    mut run: Interpreter<'p>,
    waiting: &mut Vec<Interpreter<'p>>,
    until: Instant,
) -> Answer {
    let program = &*loaded.query.program;
    loop {
        let mut choices = run.choices();
        if choices.len() != 1 || Instant::now() > until {
            match &run.ended {
                Some(After::Halted) => return Answer::Right,
                Some(After::Failed(what, why)) => return Answer::Wrong(format!("{what:?}: {why}")),
                _ => {}
            }
            let thread = run.threads.iter().flatten().next();
            let missing = thread.and_then(|t| step(program, &run.memory, t).missing);
            return match (choices.len(), missing) {
                (_, Some(missing)) => Answer::Open(missing.to_string()),
                (0, None) => Answer::Open("it cannot go on".into()),
                (1, None) => Answer::Open("it takes too long".into()),
                (_, None) => {
                    waiting.extend(choices.into_iter().map(|(i, outcome)| after(program, &run, i, outcome)));
                    Answer::Right
                }
            };
        }
        let (i, outcome) = choices.swap_remove(0);
        run.take(i, outcome);
    }
}

/// Returns what a run is after a step.
fn after<'p>(program: &'p Program, run: &Interpreter<'p>, i: usize, outcome: Outcome) -> Interpreter<'p> {
    let mut next = Interpreter::new(program);
    (next.memory, next.threads) = (run.memory.clone(), run.threads.clone());
    next.take(i, outcome);
    next
}

/// Answers about programs, by the names of their files.
pub type Answers = Vec<(PathBuf, Answer)>;

/// Prints how many answers there are of each kind and reason, and returns how many are right.
pub fn table(answers: &Answers) -> usize {
    let mut reasons: BTreeMap<&Answer, Vec<String>> = BTreeMap::new();
    for (path, answer) in answers {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        reasons.entry(answer).or_default().push(name);
    }
    for (answer, names) in reasons.iter().filter(|r| *r.0 != &Answer::Right) {
        println!("{:4} {answer:?}: {}", names.len(), names.join(" "));
    }
    answers.iter().filter(|a| a.1 == Answer::Right).count()
}

/// Answers for all, by as many threads as asked for, as far as they come before a time.
pub fn each<T: Sync>(
    items: &[T],
    jobs: usize,
    until: Option<Instant>,
    answer: impl Fn(&T) -> (PathBuf, Answer) + Sync,
) -> Answers {
    let next = AtomicUsize::new(0);
    let in_time = || until.is_none_or(|until| Instant::now() < until);
    let work = || {
        let mut found = Vec::new();
        while in_time()
            && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
        {
            found.push(answer(item));
        }
        found
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("an answer")).collect()
    })
}

/// Returns whether a program can be started.
pub fn is_there(program: &str) -> bool {
    let silent = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    silent.is_ok_and(|s| s.success())
}

/// A folder of its own for what is compiled.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("throng-fidelity-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}
