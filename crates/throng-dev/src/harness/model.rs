//! What the model of a Boolean program answers, as plain data that can be compared with the naive
//! interpreter's answers.

use std::collections::HashSet;
use throng_model::Describe;
use throng_model::SetStates;

use crate::states::states;
use throng_lang::bp::{self, Jit, Options};
use throng_model::deadlock::blocked;
use throng_model::problem::Target;
use throng_model::{Config, Local, Model, Shared, semantics};

use super::naive::{Answer, Question};

/// The model of a program that is accepted.
pub fn read(text: &str, keep_ended: bool, exact_copies: bool) -> Jit {
    read_as(text, Options { keep_ended, exact_copies, ..Options::default() })
}

/// The model of a program that is accepted.
pub fn read_as(text: &str, options: Options) -> Jit {
    let (jit, diagnostics) = bp::read(text, &options);
    jit.unwrap_or_else(|| panic!("{text}\n{diagnostics:?}"))
}

/// Returns the initial configurations of the search.
pub fn initial(jit: &Jit, question: &Question) -> Vec<Config> {
    let family = jit.initial(question.initial.map(|n| n as u32));
    match question.initial {
        Some(n) => family.of_size(n as u32),
        None => (1..=question.bound as u32).flat_map(|n| family.of_size(n)).collect(),
    }
}

/// Breadth-first search over the model: the answers to the naive interpreter's questions.
pub fn search(
    jit: &Jit,
    question: &Question,
    label: Option<&str>,
    invariant: Option<&str>,
) -> Option<Answer> {
    let (mut answer, thread_states) = explore(jit, question, label, invariant)?;
    thread_states.into_iter().for_each(|(s, l)| states(jit, s, l, &mut answer.reached));
    Some(answer)
}

/// As [`search`], with the reachable thread states as sets.
pub fn explore(
    jit: &Jit,
    question: &Question,
    label: Option<&str>,
    invariant: Option<&str>,
) -> Option<(Answer, HashSet<(Shared, Local)>)> {
    let label_targets = label.map(|l| (jit.error_label(l).ok(), jit.mutex(l).ok())).unwrap_or_default();
    let targets: [Option<Target>; 4] = [
        jit.assertions(),
        label_targets.0,
        label_targets.1,
        invariant.map(|text| jit.invariant_text(text).expect("an expression over shared variables")),
    ];
    let (mut distance, mut deadlock) = ([None; 4], None);
    let mut seen: HashSet<Config> = HashSet::new();
    let mut thread_states: HashSet<(Shared, Local)> = HashSet::new();
    let mut level = initial(jit, question);
    let mut depth = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        for config in level {
            if !seen.insert(config.clone()) {
                continue;
            }
            for (target, distance) in targets.iter().zip(&mut distance) {
                if target.as_ref().is_some_and(|t| t.is_hit(&config, jit)) {
                    distance.get_or_insert(depth);
                }
            }
            if !jit.inside_atomic(config.shared) {
                thread_states.extend(config.threads.entries().iter().map(|e| (config.shared, e.0)));
            }
            // The naive search knows no waiting loops.
            let ended = config.threads.entries().iter().all(|e| jit.has_ended(e.0));
            let stuck = match ended {
                true => None,
                false => blocked(jit, &config, Some(question.bound as u32)).expect("few variables"),
            };
            if stuck.is_some() && jit.traits().blocking.is_none() {
                deadlock.get_or_insert(depth);
            }
            let mut successors = Vec::new();
            semantics::successors(jit, &config, Some(question.bound as u32), &mut successors)
                .expect("few threads");
            next.extend(successors.into_iter().map(|(_, c)| c));
            if seen.len() > 4 * question.limit {
                return None;
            }
        }
        level = next;
        depth += 1;
    }
    let [violated, error_label, mutex, invariant] = distance;
    let configurations = seen.len();
    let answer =
        Answer { violated, error_label, mutex, invariant, deadlock, configurations, ..Answer::default() };
    Some((answer, thread_states))
}
