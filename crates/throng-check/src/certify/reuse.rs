//! Translates an old certificate to an input that may have changed. Nothing is checked here;
//! [`crate::rules`] must check the result.

use std::collections::HashMap;

use super::decode::{Decoder, most_threads, system_states};
use crate::certificate::{Answered, Document, ProgramNames, Property};
use throng_lang::load::{Input, Loaded};
use throng_model::problem::{Problem, Target};
use throng_model::verdict::Verdict;

/// Returns the answers of a certificate in the states of `problem`, for those of its targets with
/// the same property. Elements with states that the input no longer has are omitted.
pub fn translate(loaded: &Loaded, document: &Document, problem: &Problem) -> Vec<Option<Verdict>> {
    let (shared, locals) = (&document.states.shared, &document.states.local);
    let (shared, locals) = match &loaded.input {
        Input::System(system) => system_states(&system.table, shared, locals),
        Input::Program(jit) => ProgramNames::new(jit).states(shared, locals),
    };
    let decoder = Decoder {
        document,
        problem: Problem { targets: Vec::new(), ..problem.clone() },
        shared,
        locals,
        program: None,
        lenient: true,
        most: most_threads(&*problem.model),
    };
    let mut decoded: HashMap<u32, Option<Verdict>> = HashMap::new();
    let of = |target: &Target| {
        let same = |a: &&Answered| match &a.property {
            Property::Covers(configs) => {
                target.is_upward_closed()
                    && decoder.configs(configs, false).is_ok_and(|c| c == target.configs)
            }
            Property::Satisfies(condition) => {
                !target.is_upward_closed()
                    && decoder.predicate(condition).is_ok_and(|p| p == target.predicate())
            }
            property => Property::of(target).as_ref() == Some(property),
        };
        let answered = document.targets.iter().find(same)?;
        let verdict = decoded.entry(answered.evidence).or_insert_with(|| {
            let evidence = document.evidence.get(answered.evidence as usize)?;
            decoder.verdict(evidence).ok()
        });
        verdict.clone()
    };
    problem.targets.iter().map(of).collect()
}
