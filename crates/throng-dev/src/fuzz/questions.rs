//! Claims about deadlocks, and about labels that threads are at together, against a naive search with growing numbers of threads.

use super::case::{Body, Program};
use super::compare::{Asked, Kind, Trouble};
use super::oracles::Answers;
use crate::interpreter::{Answer, Naive, Question};
use throng::{Engine, Error, Input, Job, Settings};
use throng_check::certificate::write::{NOT_STANDING, Origin, document, write};
use throng_check::certify;
use throng_lang::bp::parser;
use throng_lang::question;
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

/// The name of the oracle. It makes no claims about the targets of the case.
pub const NAME: &str = "deadlocks and labels";

/// Runs with more threads are not looked for.
const MOST_THREADS: u32 = 3;

fn trouble(why: impl Into<String>) -> Trouble {
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
    let search = |within: u32| search(&naive, program, bound, within);
    let ask = |question: question::Question, engine: Engine, violated: &dyn Fn(&Answer) -> bool| {
        let name = format!("{question:?}");
        let wrong = |why: &str| Err(trouble(format!("{} about {name}: {why}", engine.name())));
        match answer(asked, question, engine, limits)? {
            Verdict::Unknown(_) => Ok(()),
            Verdict::Safe(_) => {
                let sizes = bound.map_or(1..=MOST_THREADS, |n| n..=n);
                match sizes.into_iter().any(|n| search(n).is_some_and(|found| violated(&found))) {
                    true => wrong("safe, but it can be reached"),
                    false => Ok(()),
                }
            }
            Verdict::Unsafe(trace) => {
                let threads = bound.unwrap_or(trace.threads());
                match search(threads) {
                    Some(found) if !violated(&found) => wrong("unsafe, but it cannot be reached"),
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
    for engine in [Engine::Auto, Engine::Explicit, Engine::Equations] {
        ask(question::Question { deadlock: true, ..plain() }, engine, &|found| found.deadlock.is_some())?;
    }
    if let [a, .., b] = labels[..] {
        let pair = (a.to_string(), b.to_string());
        let mutex = vec![format!("{a}, {b}")];
        ask(question::Question { mutex, ..plain() }, Engine::Auto, &|found| found.together.contains(&pair))?;
        let at_most = vec![format!("{a} = 1")];
        ask(question::Question { at_most, ..plain() }, Engine::Auto, &|found| {
            found.most_at.get(a).is_some_and(|&most| most > 1)
        })?;
    }
    Ok(None)
}

fn search(naive: &Naive<'_>, program: &Program, bound: Option<u32>, within: u32) -> Option<Answer> {
    let question = Question {
        bound: bound.map_or(usize::MAX, |n| n as usize),
        initial: program.initial.map(|n| n as usize),
        keep_ended: program.keep_ended,
        limit: 3_000,
    };
    naive.search_within(&question, within as usize, None, None)
}

/// What the tool answers about the one property that is asked for besides assertions; its evidence stands, also as a certificate.
fn answer(
    asked: &Asked<'_>,
    question: question::Question,
    engine: Engine,
    limits: &Limits,
) -> Result<Verdict, Trouble> {
    let evidence = |why: String| Trouble::new(Kind::Evidence, why);
    let input = Input::from_text_as(&asked.loaded.source.text, asked.loaded.format, asked.reading)
        .map_err(|why| evidence(why.to_string()))?;
    let mut settings = Settings::default();
    (settings.partial_order, settings.max_threads, settings.jobs) = (false, Some(MOST_THREADS), 1);
    let job = Job::new(&input).question(question).settings(settings);
    let outcome = match job.check(engine, limits) {
        Ok(outcome) => outcome,
        Err(Error::Flawed(why)) => return Err(evidence(why)),
        Err(why) => return Err(evidence(format!("refused: {why}"))),
    };
    let reading = asked.reading;
    let origin = Origin { loaded: input.loaded(), reading: &reading, problem: &outcome.problem };
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
