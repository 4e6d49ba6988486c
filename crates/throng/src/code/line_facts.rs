//! What a proof by abstraction shows about lines of the source.
//!
//! The checked certificate says what holds whenever a thread is at a place, a point where other
//! threads may move. A fact about a line is one that holds at every place of it.

use std::collections::{BTreeMap, BTreeSet};

use throng_goto::Program;
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::Graph;

use crate::report::facts::LineFacts;

/// Returns the facts that hold at all places of each line of the first file.
pub(super) fn of(program: &Program, graph: &Graph, facts: &Facts) -> Vec<LineFacts> {
    let texts: Vec<String> = facts.predicates.iter().map(|p| p.text(&graph.variables)).collect();
    let mut lines: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (place, held) in graph.places.iter().zip(&facts.at) {
        let Some(line) = line(program, place.template, place.pc) else { continue };
        let held: BTreeSet<u32> = held.iter().copied().collect();
        lines.entry(line).and_modify(|all| all.retain(|p| held.contains(p))).or_insert(held);
    }
    let said = |(line, held): (u32, BTreeSet<u32>)| {
        let facts = held.into_iter().map(|p| texts[p as usize].clone()).filter(|text| is_readable(text));
        LineFacts { line, facts: facts.collect() }
    };
    lines.into_iter().map(said).filter(|found| !found.facts.is_empty()).collect()
}

/// Returns the line of an instruction, if it is one of the first file.
fn line(program: &Program, template: usize, pc: usize) -> Option<u32> {
    let origin = *program.templates.get(template)?.origins.get(pc)?;
    let origin = program.origins.get(origin as usize)?;
    (origin.file.is_none() && origin.line > 0).then_some(origin.line)
}

/// Returns whether a comparison speaks of what the source has names for: not of registers, of
/// variables that readers add, or of the elements of an array in general.
pub(super) fn is_readable(text: &str) -> bool {
    let is_register = |word: &str| {
        let number = word.strip_prefix('t').and_then(|rest| rest.split_once('.'));
        number.is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok())
    };
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    !text.contains('#') && !text.contains("__") && !words.any(is_register)
}

#[cfg(test)]
mod tests {
    use super::is_readable;

    #[test]
    fn values_without_a_name_are_not_for_people() {
        for text in ["lock != 0", "s.t1 == 3", "t4 <= t5", "(x + 1) < ring[2]"] {
            assert!(is_readable(text), "{text}");
        }
        for text in ["t4.0 == 1", "1 <= t7.0", "__atomic_exchange_tmp == 0", "v == #[v, w]"] {
            assert!(!is_readable(text), "{text}");
        }
    }
}
