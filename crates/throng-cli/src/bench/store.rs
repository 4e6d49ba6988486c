//! Where runs are kept: appended to a file of JSON lines, each as soon as it is known, so that
//! nothing is lost when the benchmark is stopped.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Ending, Question, Run};

/// The file of JSON lines in a folder of results.
pub const LINES: &str = "runs.jsonl";

/// Runs that are kept in a file.
pub struct Store {
    file: File,
    /// All runs, oldest first.
    pub runs: Vec<Run>,
}

impl Store {
    /// Opens the runs in a folder, which is made if it is not there. `fresh`: forgets what is in
    /// it.
    pub fn open(folder: &Path, fresh: bool) -> Result<Store, String> {
        let path = folder.join(LINES);
        let wrong = |why: io::Error| format!("{}: {why}", path.display());
        fs::create_dir_all(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        if fresh && path.exists() {
            fs::remove_file(&path).map_err(wrong)?;
        }
        let text = if path.exists() { fs::read_to_string(&path).map_err(wrong)? } else { String::new() };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let runs = parse(&text[..whole]).map_err(|why| format!("{}: {why}", path.display()))?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
        // A process that was killed while writing left half a line: that run is repeated.
        file.set_len(whole as u64).map_err(wrong)?;
        Ok(Store { file, runs })
    }

    /// Keeps a run.
    pub fn add(&mut self, run: Run) -> io::Result<()> {
        let mut line = serde_json::to_string(&run).map_err(io::Error::other)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.runs.push(run);
        Ok(())
    }

    /// Returns how often a run like this one has been made; with `skipped`, counts skipped runs as
    /// well.
    pub fn count(&self, like: &Run, skipped: bool) -> usize {
        let counts = |r: &&Run| (skipped || r.result != Ending::Skipped) && key(r) == key(like);
        self.runs.iter().filter(counts).count()
    }
}

/// Returns what identifies a run: a run with the same key is not made again.
fn key(run: &Run) -> Key<'_> {
    (run.question(), &run.tool, &run.command, run.timeout.to_bits(), run.memory, &run.hash)
}

type Key<'a> = (Question<'a>, &'a str, &'a str, u64, u64, &'a str);

/// For each of `asked` (made or not) the best run that was made just so, with the expectation of
/// the former.
pub fn counted(runs: &[Run], asked: &[Run]) -> Vec<Run> {
    let mut made: BTreeMap<Key<'_>, &Run> = BTreeMap::new();
    for run in runs {
        let place = made.entry(key(run)).or_insert(run);
        if better(run, place) {
            *place = run;
        }
    }
    let of = |like: &Run| {
        let Run { expected, family, .. } = like.clone();
        made.get(&key(like)).map(|&run| Run { expected, family, ..run.clone() })
    };
    asked.iter().filter_map(of).collect()
}

fn parse(text: &str) -> Result<Vec<Run>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(i, line)| serde_json::from_str(line).map_err(|why| format!("line {}: {why}", i + 1)))
        .collect()
}

/// The runs of an earlier benchmark: its folder, its JSON lines or its CSV.
pub fn read(path: &Path) -> Result<Vec<Run>, String> {
    let path: PathBuf = if path.is_dir() { path.join(LINES) } else { path.into() };
    let wrong = |why: String| format!("{}: {why}", path.display());
    if path.extension().is_some_and(|e| e == "csv") {
        let mut reader = csv::Reader::from_path(&path).map_err(|why| wrong(why.to_string()))?;
        return reader.deserialize().map(|run| run.map_err(|why| wrong(why.to_string()))).collect();
    }
    let text = fs::read_to_string(&path).map_err(|why| wrong(why.to_string()))?;
    parse(&text).map_err(wrong)
}

/// The runs as CSV.
pub fn csv(runs: &[Run]) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    runs.iter().try_for_each(|run| writer.serialize(run)).map_err(|why| why.to_string())?;
    let bytes = writer.into_inner().map_err(|why| why.to_string())?;
    String::from_utf8(bytes).map_err(|why| why.to_string())
}

/// For each question and tool the run that counts: one that answered, and of those the fastest.
/// What was made under other limits or with another command is left to the latest.
pub fn best(runs: &[Run]) -> Vec<Run> {
    let mut order: Vec<&Run> = Vec::new();
    let mut places = BTreeMap::new();
    for run in runs {
        let place = *places.entry((run.question(), &run.tool)).or_insert(order.len());
        match order.get_mut(place) {
            None => order.push(run),
            Some(old) if key(old) != key(run) || better(run, old) => *old = run,
            Some(_) => {}
        }
    }
    order.into_iter().cloned().collect()
}

fn better(new: &Run, old: &Run) -> bool {
    // A wrong verdict is never covered up by a right one.
    let rank = |r: &Run| (!r.wrong(), !r.solved(), r.cpu);
    rank(new) < rank(old)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A run for tests.
    pub(crate) fn run(file: &str, tool: &str, result: Ending, cpu: f64) -> Run {
        Run {
            file: file.into(),
            property: "assertions".into(),
            initial: "1".into(),
            threads: None,
            family: "bp".into(),
            expected: "safe".into(),
            tool: tool.into(),
            command: "--engine auto".into(),
            hash: String::new(),
            timeout: 10.0,
            memory: 0,
            result,
            cpu,
            wall: cpu,
            peak: 5.0,
            status: Some(0),
            configurations: None,
            value: None,
            note: String::new(),
        }
    }

    #[test]
    fn half_a_line_is_forgotten_and_the_rest_is_kept() {
        let folder = std::env::temp_dir().join(format!("throng-store-{}", std::process::id()));
        let mut store = Store::open(&folder, true).unwrap();
        store.add(run("a", "x", Ending::Safe, 1.0)).unwrap();
        store.add(run("b", "x", Ending::Timeout, 9.0)).unwrap();
        drop(store);
        let path = folder.join(LINES);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut store = Store::open(&folder, false).unwrap();
        assert_eq!(store.runs, [run("a", "x", Ending::Safe, 1.0)]);
        store.add(run("c", "x", Ending::Safe, 2.0)).unwrap();
        assert_eq!(read(&folder).unwrap().len(), 2);
        assert_eq!(store.count(&run("c", "x", Ending::Unknown, 0.0), false), 1);
        assert_eq!(store.count(&Run { timeout: 11.0, ..run("c", "x", Ending::Safe, 0.0) }, true), 0);
        fs::write(folder.join("runs.csv"), csv(&store.runs).unwrap()).unwrap();
        assert_eq!(read(&folder.join("runs.csv")).unwrap(), store.runs, "CSV says the same");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn of_several_runs_the_fastest_answer_counts_but_a_wrong_one_stays() {
        let runs = [
            run("a", "x", Ending::Safe, 3.0),
            run("a", "x", Ending::Timeout, 1.0),
            run("a", "x", Ending::Safe, 2.0),
            run("a", "y", Ending::Unsafe, 2.0),
            run("a", "y", Ending::Safe, 1.0),
        ];
        let best = best(&runs);
        assert_eq!(best.len(), 2);
        assert_eq!((best[0].cpu, best[0].solved()), (2.0, true));
        let asked = Run { expected: "unsafe".into(), ..run("a", "x", Ending::Unknown, 0.0) };
        let counted = counted(&runs, &[asked.clone(), Run { hash: "other".into(), ..asked }]);
        assert_eq!(counted.len(), 1, "what changed was not run");
        assert!(counted[0].wrong(), "what is expected now counts");
        assert!(best[1].wrong());
    }
}
