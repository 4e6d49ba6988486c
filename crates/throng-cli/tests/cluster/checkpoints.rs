//! A search that is stopped again and again comes to the same end, with the same or another number of workers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use throng::engine::distributed::{Distributed, Fill, Parts, Take};
use throng::engine::explicit::Explicit;
use throng::engine::{Algorithm, Answer, Silent};
use throng_dev::harness::inputs::pose;
use throng_dev::harness::{Scratch, example, run};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Verdict};

/// Keeps parts in memory; it is always time to write.
#[derive(Default)]
struct Memory(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    parts: HashMap<(u64, usize), Vec<u8>>,
    latest: Option<(u64, usize)>,
}

impl Parts for Memory {
    fn is_due(&self) -> bool {
        true
    }

    fn write(&self, state: u64, worker: usize, content: &dyn Fn(Take<'_>)) -> bool {
        let mut part = Vec::new();
        content(&mut |bytes| part.extend_from_slice(bytes));
        assert!(
            self.0.lock().unwrap().parts.insert((state, worker), part).is_none(),
            "nothing is written over"
        );
        true
    }

    fn complete(&self, state: u64, workers: usize) {
        let mut kept = self.0.lock().unwrap();
        assert!((0..workers).all(|worker| kept.parts.contains_key(&(state, worker))));
        kept.latest = Some((state, workers));
        kept.parts.retain(|part, _| part.0 >= state);
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

/// Searches in shares of work, with one number of workers after another.
fn in_shares(problem: &Problem, workers: &[usize], share: u64) -> (Answer, usize) {
    let memory = Arc::new(Memory::default());
    for stops in 0..200 {
        let workers = workers[stops % workers.len()];
        let engine = Distributed { parts: Some(memory.clone()), ..Distributed::new(workers) };
        // More from time to time: a layer may need more than a share.
        let limits = Limits::none().work(share + share * stops as u64 / 4);
        let answer = engine.run(problem, &limits, &Silent);
        assert_eq!(answer.flaw, None);
        if !answer.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_))) {
            return (answer, stops);
        }
        let mut why = answer.verdicts.iter().filter_map(|v| match v {
            Verdict::Unknown(why) => Some(why.clone()),
            _ => None,
        });
        let expected = |why: Unknown| {
            why == Unknown::Work
                || matches!(&why, Unknown::Inconclusive(text) if text.contains("not checked"))
        };
        assert!(why.all(expected));
    }
    panic!("it does not come to an end");
}

#[test]
fn a_search_in_many_shares_has_the_same_numbers() {
    for (name, threads, share) in [("rwlock.bp", 4, 4000), ("buffer.bp", 3, 3000), ("winner.tts", 4, 300)] {
        let problem = pose(&example(name), Some(threads));
        let whole = Distributed::new(2).run(&problem, &Limits::none(), &Silent);
        let explicit = Explicit { por: false, ..Explicit::default() }.run(&problem, &Limits::none(), &Silent);
        assert_eq!(whole.statistics, explicit.statistics, "{name}");
        for workers in [&[1][..], &[2], &[3, 1, 2]] {
            let (answer, stops) = in_shares(&problem, workers, share);
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
    engine(2).run(&problem, &Limits::none().work(20_000), &Silent);
    assert!(memory.latest().is_some(), "something was kept");
    let whole = memory.0.lock().unwrap().parts.clone();
    for (part, bytes) in &whole {
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            memory.0.lock().unwrap().parts.insert(*part, bytes[..at].to_vec());
            let answer = engine(3).run(&problem, &Limits::none().work(10), &Silent);
            assert!(matches!(answer.verdicts[0], Verdict::Unknown(_)), "cut at {at}");
        }
        memory.0.lock().unwrap().parts.insert(*part, bytes.clone());
    }
}

#[test]
fn processes_keep_their_parts_in_a_folder() {
    let folder = Scratch::new("parts");
    let kept = folder.argument("kept");
    let file = example("rockall.bp");
    let file = file.to_str().unwrap();
    let question = ["check", file, "--threads", "3", "--json"];
    let (status, alone, _) = run(&[&question[..], &["--engine", "distributed", "--workers", "1"]].concat());
    assert_eq!(status, Some(0), "{alone}");
    let kept_so = ["--checkpoint", &kept, "--checkpoint-every", "0.1"];
    let mut stops = 0;
    let together = loop {
        // Longer from time to time, and with another number of processes.
        let timeout = format!("{}", 0.4 + 0.3 * f64::from(stops));
        let processes = ["2", "3", "1"][stops as usize % 3];
        let args =
            [&["cluster", "run", "-n", processes, "--"], &question[..], &kept_so, &["--timeout", &timeout]];
        let (status, out, errors) = run(&args.concat());
        match status {
            Some(0) => break out,
            Some(1) => stops += 1,
            _ => panic!("{out}{errors}"),
        }
        assert!(stops < 60, "it does not come to an end: {out}{errors}");
    };
    let configurations = |json: &str| {
        let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        json["statistics"]["configurations"].as_u64().expect("a number")
    };
    assert_eq!(configurations(&together), configurations(&alone));
    assert!(!folder.0.join("kept").exists(), "with the answer, it is removed");
}
