//! Programs with numbers, enumerations and arrays: every fourth program of a campaign comes with
//! one, made from its text, which engines answer about as bits and a search answers about with
//! integers.

use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;

use super::case::Body;
use super::compare::Asked;
use super::oracles::Answers;
use super::questions::{answer, trouble};
use crate::Rng;
use crate::integers::generate;
use throng::{Engine, Format, Input};
use throng_lang::bp::lower::{lower, plain::plain};
use throng_lang::bp::{parser, printer};
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

/// The name of the oracle. It makes no claims about the targets of the case.
pub const NAME: &str = "integers";

/// The most configurations of the search with integers.
const MOST: usize = 20_000;

/// Compares the answers about a program with integers.
pub fn compare(asked: &Asked<'_>, limits: &Limits) -> Answers {
    let Body::Program(program) = &asked.case.body else { return Ok(None) };
    let seed = BuildHasherDefault::<FxHasher>::default().hash_one(&program.text);
    if !seed.is_multiple_of(4) {
        return Ok(None);
    }
    let program = generate(&mut Rng::new(seed));
    // Some mix truth values and numbers in ways that the reader refuses.
    let Ok(input) = Input::from_text(&program.text, Format::Bp) else { return Ok(None) };
    let bits = printer::print(&plain(lower(&parser::parse(&program.text).0).0.tree));
    let bits = Input::from_text(&bits, Format::Bp).map_err(|why| trouble(format!("{why}\n{bits}")))?;
    let wrong = |what: &str, violated: bool| {
        let expected = if violated { "it can be violated" } else { "it cannot be violated" };
        Err(trouble(format!("{what}, but {expected}:\n{}", program.text)))
    };
    let about = |verdict: &Verdict| match verdict {
        Verdict::Safe(_) => Some(false),
        Verdict::Unsafe(_) => Some(true),
        Verdict::Unknown(_) => None,
    };
    let mut any_violated = false;
    for threads in 1..=2 {
        let Some(violated) = program.is_violated(threads as usize, MOST) else { return Ok(None) };
        any_violated |= violated;
        let fixed = || Question {
            initial: Some(threads.to_string()),
            threads: Some(threads),
            may_lack_target: true,
            ..Question::default()
        };
        for engine in [Engine::Explicit, Engine::Symbolic, Engine::Views, Engine::Auto] {
            let verdict = answer(&input, fixed(), engine, limits)?;
            if about(&verdict).is_some_and(|claims| claims != violated) {
                return wrong(&format!("{} with {threads} threads", engine.name()), violated);
            }
        }
        if about(&answer(&bits, fixed(), Engine::Explicit, limits)?).is_some_and(|claims| claims != violated)
        {
            return wrong(&format!("as bits, with {threads} threads"), violated);
        }
    }
    for engine in [Engine::Auto, Engine::KarpMiller, Engine::Backward] {
        let question = Question { initial: Some("any".into()), may_lack_target: true, ..Question::default() };
        if any_violated && about(&answer(&input, question, engine, limits)?) == Some(false) {
            return wrong(&format!("{} with any number of threads", engine.name()), true);
        }
    }
    Ok(None)
}
