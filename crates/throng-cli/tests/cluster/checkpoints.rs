//! A search that is stopped again and again comes to the same end, with the same or another number
//! of workers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::processes::{LONG, Processes, hosts, number, wait_for_state};
use throng_dev::harness::inputs::pose;
use throng_dev::harness::{Scratch, example, run};
use throng_engine::distributed::{Distributed, Fill, Parts, Take};
use throng_engine::explicit::Explicit;
use throng_engine::{Algorithm, Answer, Silent};
use throng_model::limits::{Limits, Stopper};
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// Keeps parts in memory; it is always time to write. Stops the search after some states.
#[derive(Default)]
struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    parts: HashMap<(u64, usize), Vec<u8>>,
    latest: Option<(u64, usize)>,
    stop: Option<(usize, Stopper)>,
}

impl Memory {
    /// Limits that end a search when this many states have been written.
    fn stop_after(&self, states: usize) -> Limits {
        let limits = Limits::none();
        self.0.lock().unwrap().stop = Some((states, limits.stopper()));
        limits
    }
}

impl Parts for Memory {
    fn is_due(&self) -> bool {
        true
    }

    fn write(&self, state: u64, worker: usize, content: &dyn Fn(Take<'_>)) -> bool {
        let mut part = Vec::new();
        content(&mut |bytes| part.extend_from_slice(bytes));
        let mut kept = self.0.lock().unwrap();
        assert!(kept.latest.is_none_or(|latest| latest.0 < state), "no complete state is written over");
        kept.parts.insert((state, worker), part);
        true
    }

    fn complete(&self, state: u64, workers: usize) {
        let mut kept = self.0.lock().unwrap();
        assert!((0..workers).all(|worker| kept.parts.contains_key(&(state, worker))));
        kept.latest = Some((state, workers));
        kept.parts.retain(|part, _| part.0 >= state);
        if let Some((left, stopper)) = &mut kept.stop {
            *left = left.saturating_sub(1);
            if *left == 0 {
                stopper.stop();
            }
        }
    }

    fn latest(&self) -> Option<(u64, usize)> {
        self.0.lock().unwrap().latest
    }

    fn open(&self, state: u64, worker: usize) -> Option<Fill> {
        let part = self.0.lock().unwrap().parts.get(&(state, worker))?.clone();
        let mut at = 0;
        Some(Box::new(move |block: &mut [u8]| match part.get(at..at + block.len()) {
            Some(bytes) => {
                block.copy_from_slice(bytes);
                at += block.len();
                true
            }
            None => false,
        }))
    }
}

/// Everything that must not depend on how often a search was stopped.
fn numbers(answer: &Answer) -> String {
    let about = |verdict: &Verdict| match verdict {
        Verdict::Unsafe(run) => format!("{} threads, {} steps", run.threads(), run.steps.len()),
        Verdict::Safe(certificate) => format!("{} members", certificate.measure().1),
        Verdict::Unknown(why) => panic!("{why}"),
    };
    let verdicts: Vec<String> = answer.verdicts.iter().map(about).collect();
    format!("{verdicts:?} {:?}", answer.statistics)
}

/// Searches and is stopped after every few states, with one number of workers after another.
fn in_shares(problem: &Problem, workers: &[usize], states: usize) -> (Answer, usize) {
    let memory = Arc::new(Memory::default());
    for stops in 0..200 {
        let workers = workers[stops % workers.len()];
        let engine = Distributed { parts: Some(memory.clone()), ..Distributed::new(workers) };
        let answer = engine.run(problem, &memory.stop_after(states), &Silent);
        assert_eq!(answer.flaw, None);
        let mut open = answer.verdicts.iter().filter_map(|v| match v {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        });
        let Some(first) = open.next() else { return (answer, stops) };
        let expected = |why: &Unknown| {
            *why == Unknown::Cancelled
                || matches!(why, Unknown::Inconclusive(text) if text.contains("not checked"))
        };
        assert!(expected(first) && open.all(expected), "{first}");
    }
    panic!("it does not come to an end");
}

#[test]
fn a_search_in_many_shares_has_the_same_numbers() {
    for (name, threads, states) in [("rwlock.bp", 4, 3), ("buffer.bp", 3, 10), ("winner.tts", 4, 1)] {
        let problem = pose(&example(name), Some(threads));
        let whole = Distributed::new(2).run(&problem, &Limits::none(), &Silent);
        let explicit = Explicit { por: false, ..Explicit::default() }.run(&problem, &Limits::none(), &Silent);
        assert_eq!(whole.statistics, explicit.statistics, "{name}");
        for workers in [&[1][..], &[2], &[3, 1, 2]] {
            let (answer, stops) = in_shares(&problem, workers, states);
            assert_eq!(numbers(&answer), numbers(&whole), "{name} with {workers:?} workers");
            assert!(stops > 1, "{name} was stopped only {stops} times");
        }
    }
}

#[test]
fn damaged_parts_are_refused() {
    let problem = pose(&example("rwlock.bp"), Some(4));
    let memory = Arc::new(Memory::default());
    let engine = |workers| Distributed { parts: Some(memory.clone()), ..Distributed::new(workers) };
    engine(2).run(&problem, &memory.stop_after(10), &Silent);
    let (state, _) = memory.latest().expect("something was kept");
    let mut whole = memory.0.lock().unwrap().parts.clone();
    whole.retain(|part, _| part.0 == state);
    for (part, bytes) in &whole {
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            memory.0.lock().unwrap().parts.insert(*part, bytes[..at].to_vec());
            let answer = engine(3).run(&problem, &Limits::none(), &Silent);
            let Verdict::Unknown(why) = &answer.verdicts[0] else { panic!("cut at {at}") };
            assert!(why.to_string().contains("the checkpoint is damaged"), "cut at {at}: {why}");
        }
        memory.0.lock().unwrap().parts.insert(*part, bytes.clone());
    }
    let answer = engine(3).run(&problem, &Limits::none(), &Silent);
    assert!(matches!(answer.verdicts[0], Verdict::Safe(_)), "and whole again, they are not");
}

#[test]
fn processes_keep_their_parts_in_a_folder() {
    let folder = Scratch::new("parts");
    let kept = folder.argument("kept");
    let file = example("rockall.bp");
    let file = file.to_str().unwrap();
    let question = [file, "--threads", "3", "--json"];
    let explicit = [&["check"], &question[..], &["--engine", "explicit", "--no-por"]].concat();
    let (status, alone, _) = run(&explicit);
    assert_eq!(status, Some(0), "{alone}");
    // Two processes, of which one is killed once a state is complete.
    let (hosts, _) = hosts(&folder, 2);
    let stopped = [&question[..], &["--checkpoint", &kept, "--checkpoint-every", "0.02"]].concat();
    let mut processes = Processes::start(&folder, &hosts, 0..2, &stopped);
    wait_for_state(&kept, &mut processes);
    processes.signal(1, "-KILL");
    let (status, out, errors) = processes.end(0, LONG);
    assert_eq!(status, Some(1), "{out}{errors}");
    // Three resume.
    let resumed = [&["cluster", "run", "-n", "3", "--", "check"], &question[..], &["--checkpoint", &kept]];
    let (status, together, errors) = run(&resumed.concat());
    assert_eq!(status, Some(0), "{together}{errors}");
    assert!(errors.contains("written by 2 workers"), "{errors}");
    for pointer in ["/statistics/configurations", "/statistics/steps"] {
        assert_eq!(number(&together, pointer), number(&alone, pointer), "{pointer}");
    }
    assert!(!folder.0.join("kept").exists(), "with the answer, it is removed");
}
