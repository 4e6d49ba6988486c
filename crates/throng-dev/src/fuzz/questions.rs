//! Claims about deadlocks, stuck threads, labels that threads are at together, and races, against a
//! naive search with growing numbers of threads.

use super::case::{Body, Program};
use super::compare::{Asked, Kind, Trouble};
use super::oracles::Answers;
use crate::interpreter::{Answer, Naive, Question};
use throng::{Engine, Error, Input, Job, Settings};
use throng_check::certificate::write::{NOT_STANDING, Origin, document, write};
use throng_check::certify;
use throng_lang::bp::{self, parser};
use throng_lang::question;
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

/// The name of the oracle. It makes no claims about the targets of the case.
pub const NAME: &str = "deadlocks and labels";

/// Runs with more threads are not looked for.
const MOST_THREADS: u32 = 3;

pub(super) fn trouble(why: impl Into<String>) -> Trouble {
    Trouble::new(Kind::Disagreement, why)
}

/// Compares what the tool says about further questions, if the case is a program.
pub fn compare(asked: &Asked<'_>, limits: &Limits) -> Answers {
    let Body::Program(program) = &asked.case.body else { return Ok(None) };
    let (tree, _) = parser::parse(&program.text);
    let naive = Naive::new(&program.text, &tree);
    let words = program.text.split_whitespace().filter_map(|w| w.strip_suffix(':'));
    let labels: Vec<&str> = words.filter(|w| !w.is_empty() && w.parse::<u32>().is_err()).take(2).collect();
    let bound = asked.case.threads;
    let input = Input::from_text_as(&asked.loaded.source.text, asked.loaded.format, asked.reading)
        .map_err(|why| evidence(why.to_string()))?;
    let search = |within: u32| search(&naive, program, bound, within);
    let ask = |question: question::Question, engine: Engine, violated: &dyn Fn(u32) -> Option<bool>| {
        let name = format!("{question:?}");
        let wrong = |why: &str| Err(trouble(format!("{} about {name}: {why}", engine.name())));
        match answer(&input, question, engine, limits)? {
            Verdict::Unknown(_) => Ok(()),
            Verdict::Safe(_) => {
                let sizes = bound.map_or(1..=MOST_THREADS, |n| n..=n);
                match sizes.into_iter().any(|n| violated(n) == Some(true)) {
                    true => wrong("safe, but it can be reached"),
                    false => Ok(()),
                }
            }
            Verdict::Unsafe(trace) => {
                let threads = bound.unwrap_or(trace.threads());
                match violated(threads) {
                    Some(false) => wrong("unsafe, but it cannot be reached"),
                    _ => Ok(()),
                }
            }
        }
    };
    let plain = || question::Question {
        initial: Some(program.initial.map_or("any".into(), |n| n.to_string())),
        threads: bound,
        ..question::Question::default()
    };
    // The naive search knows no waiting loops; of these, tests/engines/waiting.rs has its own.
    let loops = bp::resolved(&program.text).and_then(|resolved| bp::waiting_nodes(&resolved, &program.text));
    let waits = loops.is_none_or(|nodes| !nodes.is_empty());
    let engines = [Engine::Auto, Engine::Explicit, Engine::Equations, Engine::Symbolic];
    for engine in engines.into_iter().filter(|_| !waits) {
        ask(question::Question { deadlock: true, ..plain() }, engine, &|n| {
            Some(search(n)?.deadlock.is_some())
        })?;
    }
    let within = naive_question(program, bound);
    for label in labels.iter().filter(|_| !waits) {
        let stuck = vec![label.to_string()];
        for engine in [Engine::Auto, Engine::Explicit, Engine::Symbolic] {
            let question = question::Question { stuck: stuck.clone(), ..plain() };
            ask(question, engine, &|n| naive.stuck_at(&within, n as usize, label))?;
        }
    }
    let declared = tree.globals.iter().filter(|d| !d.thread_local).flat_map(|d| &d.variables);
    // Conditions are about what a thread sees: a name that no local variable hides.
    let said_twice = |name: &str| program.text.matches(&format!("decl {name}")).count() > 1;
    let hidden = |name: &str| tree.functions.iter().any(|f| f.parameters.iter().any(|p| p.name == name));
    let plain_name =
        |name: &&str| name.chars().all(char::is_alphanumeric) && !said_twice(name) && !hidden(name);
    let shared = declared.map(|v| v.name.name.as_str()).find(plain_name);
    if let Some(x) = shared.filter(|_| !program.text.contains("enforce")) {
        let question = question::Question { races: vec![x.to_string()], ..plain() };
        ask(question, Engine::Auto, &|n| naive.races(&within, n as usize, x))?;
    }
    if let [a, .., b] = labels[..] {
        let pair = (a.to_string(), b.to_string());
        let mutex = vec![format!("{a}, {b}")];
        ask(question::Question { mutex, ..plain() }, Engine::Auto, &|n| {
            Some(search(n)?.together.contains(&pair))
        })?;
        let at_most = vec![format!("{a} = 1")];
        ask(question::Question { at_most, ..plain() }, Engine::Auto, &|n| {
            Some(search(n)?.most_at.get(a).is_some_and(|&most| most > 1))
        })?;
        if let Some(x) = shared {
            let never = vec![format!("{a} & {x}, {b}")];
            ask(question::Question { never, ..plain() }, Engine::Auto, &|n| {
                naive.meets(&within, n as usize, (a, x), b)
            })?;
        }
    }
    Ok(None)
}

fn naive_question(program: &Program, bound: Option<u32>) -> Question {
    Question {
        bound: bound.map_or(usize::MAX, |n| n as usize),
        initial: program.initial.map(|n| n as usize),
        keep_ended: program.keep_ended,
        limit: 3_000,
    }
}

fn search(naive: &Naive<'_>, program: &Program, bound: Option<u32>, within: u32) -> Option<Answer> {
    naive.search_within(&naive_question(program, bound), within as usize, None, None)
}

fn evidence(why: String) -> Trouble {
    Trouble::new(Kind::Evidence, why)
}

/// Returns the tool's answer about the last property, of assertions and what else is asked for; its
/// evidence stands, also as a certificate.
pub(super) fn answer(
    input: &Input,
    question: question::Question,
    engine: Engine,
    limits: &Limits,
) -> Result<Verdict, Trouble> {
    let mut settings = Settings::default();
    (settings.partial_order, settings.max_threads, settings.jobs) = (false, Some(MOST_THREADS), 1);
    let job = Job::new(input).question(question).settings(settings);
    let outcome = match job.check(engine, limits) {
        Ok(outcome) => outcome,
        Err(Error::Flawed(why)) => return Err(evidence(why)),
        Err(why) => return Err(evidence(format!("refused: {why}"))),
    };
    let prepared = job.prepare().map_err(|why| evidence(why.to_string()))?;
    let origin = prepared.origin().ok_or_else(|| evidence("the question has no input".into()))?;
    let origin = Origin { problem: &outcome.problem, ..origin };
    let verdicts = &outcome.answer.verdicts;
    if verdicts.iter().all(|v| !matches!(v, Verdict::Unknown(_))) {
        let certificate = |why: String| Trouble::new(Kind::Certificate, why);
        let mut bytes = Vec::new();
        let written = match document(&origin, verdicts) {
            // Said instead of writing one that `certify` rejects.
            Err(why) if why == NOT_STANDING => return last(verdicts),
            written => written.map_err(certificate)?,
        };
        write(&written, &mut bytes).map_err(|why| certificate(why.to_string()))?;
        let read = certify::read(&bytes).map_err(|why| certificate(why.to_string()))?;
        match certify::certify(&certify::Asked::Check(origin), &read, limits) {
            Ok(_) | Err(certify::Fault::Limit(_)) => {}
            Err(fault) => return Err(certificate(fault.to_string())),
        }
    }
    last(verdicts)
}

fn last(verdicts: &[Verdict]) -> Result<Verdict, Trouble> {
    verdicts.last().cloned().ok_or_else(|| Trouble::new(Kind::Evidence, "nothing is answered"))
}
