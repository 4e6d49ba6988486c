//! Every example is what its comment says: `expect: safe`, or `expect: unsafe, N threads`.

use throng_dev::harness::inputs;

use std::fs;
use std::path::Path;
use std::time::Duration;

use inputs::{examples, extension, hunt, pose};
use throng_check::rules::check;
use throng_engine::auto::Auto;
use throng_engine::explicit::Explicit;
use throng_engine::{Algorithm, Silent};
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

const PATIENCE: Duration = Duration::from_secs(600);

/// With how many threads a violation is expected, if one is; `None` if the file does not say.
fn expectation(path: &Path) -> Option<Option<u32>> {
    let text = fs::read_to_string(path).expect("readable");
    let line = text.lines().find_map(|l| l.trim_start_matches(['/', '#', ' ']).strip_prefix("expect: "))?;
    if line == "safe" {
        return Some(None);
    }
    let count = line.strip_prefix("unsafe, ").and_then(|l| l.strip_suffix(" threads"));
    Some(Some(count.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{}: {line}", path.display()))))
}

/// A shortest run with the fewest threads exists, and values can be chosen for it.
fn is_unsafe(path: &Path, threads: u32) {
    let problem = pose(path, None);
    let found = hunt(&problem, threads + 1, 1 << 26).expect("work enough");
    let runs = problem.targets.iter().zip(&found).filter_map(|(target, run)| Some((target, run.as_ref()?)));
    let fewest = runs.clone().map(|(_, run)| run.threads()).min();
    assert_eq!(fewest, Some(threads), "{}", path.display());
    for (target, run) in runs {
        let chosen = concretise(&*problem.model, target, run, None).expect("values can be chosen");
        assert_eq!(chosen.steps.len(), run.steps.len());
        assert!(target.is_hit(chosen.end(), &*problem.model), "{}", path.display());
    }
}

/// Proved for any number of threads, and for two threads by listing all that is reached; the
/// checker agrees.
fn is_safe(path: &Path) {
    let limits = Limits::none().timeout(PATIENCE);
    let explicit = Explicit::default();
    let auto = Auto { jobs: 2, ..Auto::default() };
    let ways: [(Option<u32>, &dyn Algorithm); 2] = [(None, &auto), (Some(2), &explicit)];
    for (threads, engine) in ways {
        let problem = pose(path, threads);
        assert!(!problem.targets.is_empty(), "{} asks something", path.display());
        let answer = engine.run(&problem, &limits, &Silent);
        for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
            assert!(
                matches!(verdict, Verdict::Safe(_)),
                "{}: {}: {verdict:?}",
                path.display(),
                engine.name()
            );
            assert!(check(&problem, target, verdict).is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn every_example_is_as_its_comment_says() {
    let (mut safe, mut broken) = (0, 0);
    for path in examples().iter().filter(|p| extension(p) != "prop") {
        match expectation(path).unwrap_or_else(|| panic!("{} says what to expect", path.display())) {
            None => {
                is_safe(path);
                safe += 1;
            }
            Some(threads) => {
                is_unsafe(path, threads);
                broken += 1;
            }
        }
    }
    assert!(safe >= 8 && broken >= 8, "{safe} safe, {broken} broken");
}

/// The questions of winner.prop, line by line.
#[test]
fn a_winner_and_a_loser_can_happen_and_two_winners_cannot() {
    let path = examples().into_iter().find(|p| p.ends_with("winner.tts")).expect("it is there");
    let problem = pose(&path, None);
    let found = hunt(&problem, 5, 1 << 26).expect("work enough");
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
}
