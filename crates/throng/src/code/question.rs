//! What is asked, as the goto program takes it; what cannot be asked about C is refused by name.

use std::sync::Arc;

use super::property;
use super::text::Loaded;
use throng_goto::Question as GotoQuestion;
use throng_goto::program::About;
use throng_lang::load::Format;
use throng_lang::question::{CodeQuestion, Question, SourceDiagnostic};
use throng_lang::source::{Diagnostic, Severity, Source};
use throng_lang::vocabulary::Vocabulary;

/// Returns the question about a goto program, or all that is wrong with it.
pub(super) fn translate(
    question: &Question,
    format: Format,
    source: &Arc<Source>,
) -> Result<GotoQuestion, Vec<SourceDiagnostic>> {
    let refused = inapplicable(question, format, source);
    if !refused.is_empty() {
        return Err(refused);
    }
    let code = &question.code;
    let mut asked = GotoQuestion::default();
    asked.entries.clone_from(&code.entries);
    asked.no_spurious = code.no_spurious;
    asked.whole_statements = code.whole_statements;
    asked.volatile_atomic = code.volatile_atomic;
    asked.memory_model = code.memory_model;
    asked.error_labels.clone_from(&question.error_labels);
    asked.exclusive.clone_from(&question.mutex);
    asked.deadlock = question.deadlock;
    asked.stuck.clone_from(&question.stuck);
    asked.starvation.clone_from(&question.starvation);
    asked.race = code.data_race || !question.races.is_empty();
    if !code.data_race {
        asked.about = question.races.iter().map(|text| About::read(text)).collect();
    }
    asked.overflow = code.overflow;
    asked.locks = code.locks;
    asked.memory_safety = code.memory_safety;
    asked.assertions = code.assertions;
    if let Some(file) = &code.property {
        property::ask(file, question.vocabulary, &mut asked)?;
    }
    Ok(asked)
}

/// Returns warnings about a question and the program that it is about.
pub(super) fn warnings(question: &Question, loaded: &Loaded) -> Vec<SourceDiagnostic> {
    let query = &loaded.query;
    let only_assertions =
        query.question.violations().iter().all(|v| *v == throng_goto::program::Violation::Assertion)
            && query.question.error_labels.is_empty()
            && !query.question.asks_who_waits()
            && !query.question.by_property_file;
    // Behind what is not modelled, something may be.
    let code = query.program.templates.iter().flat_map(|t| &t.code);
    let hidden = code.into_iter().any(|i| matches!(i, throng_goto::program::Instr::Unmodelled(_)));
    if question.may_lack_target || !only_assertions || query.program.asserts || hidden {
        return Vec::new();
    }
    let Vocabulary { error_label, mutex, data_race, deadlock, stuck, overflow, locks, memory_safety, .. } =
        *question.vocabulary;
    let message = "nothing is asserted in the code that runs, so nothing can fail".to_string();
    let hint = format!(
        "use assert(), or ask for {error_label}, {mutex}, {data_race}, {deadlock}, {stuck}, {overflow}, {locks} or {memory_safety}"
    );
    let diagnostic = Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W601", message) };
    vec![SourceDiagnostic { source: query.source.clone(), diagnostic: diagnostic.hint(hint) }]
}

/// Refuses to limit a question about races to what is not there.
pub(super) fn limits(
    question: &Question,
    asked: &GotoQuestion,
    loaded: &Loaded,
) -> Result<(), Vec<SourceDiagnostic>> {
    let programs = [Some(&loaded.query.program), loaded.query.whole.as_ref()];
    let missing = asked.about.iter().filter(|about| !programs.iter().flatten().any(|p| p.has(about)));
    let refused = |about: &About| {
        let option = question.vocabulary.race;
        let (what, hint) = match about {
            About::Variable(_) => (
                "there is no such variable",
                "a variable outside functions, `function::variable`, or FILE:LINE",
            ),
            About::Line(..) => ("nothing is executed in this line", "FILE:LINE, or a variable"),
        };
        SourceDiagnostic::about_option(option, &about.to_string(), "E602", what.into(), Some(hint))
    };
    let refused: Vec<SourceDiagnostic> = missing.map(refused).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

/// Returns a message for each thing that cannot be asked about a program in a source language.
fn inapplicable(question: &Question, format: Format, source: &Arc<Source>) -> Vec<SourceDiagnostic> {
    let names = question.vocabulary;
    let is_c = format == Format::C;
    let Question { initial, prop, targets, invariants, at_most, never, .. } = question;
    let first = |list: &[String]| list.first().cloned();
    let start = format!("`main`, or {}, says where threads start", names.entry);
    let asked = format!(
        "what must not happen is said by assertions, {}, {}, {}, {}, {}, {}, {} and {}",
        names.error_label,
        names.mutex,
        names.data_race,
        names.deadlock,
        names.stuck,
        names.overflow,
        names.locks,
        names.memory_safety
    );
    let mut found: Vec<SourceDiagnostic> = [
        (names.initial, initial.clone(), &start),
        (names.prop, prop.as_ref().map(|p| p.display().to_string()), &asked),
        (names.target, first(targets), &asked),
        (names.invariant, first(invariants), &asked),
        (names.at_most, first(at_most), &asked),
        (names.never, first(never), &asked),
        (names.setup, question.code.setup.clone().filter(|_| is_c), &start),
        (names.one, first(&question.code.one).filter(|_| is_c), &start),
    ]
    .into_iter()
    .filter_map(|(option, value, hint)| {
        let message = format!("`{option}` does not apply: {} is {}", source.name, format.description());
        Some(SourceDiagnostic::about_option(option, &value?, "E602", message, Some(hint)))
    })
    .collect();
    let CodeQuestion { data_race, whole_statements, property, .. } = &question.code;
    if (*data_race || !question.races.is_empty()) && *whole_statements {
        let message = format!("`{}` is about single accesses to memory", names.data_race);
        let hint = format!("drop `{}`", names.whole_statements);
        found.push(SourceDiagnostic::about_option(
            names.data_race,
            names.data_race,
            "E602",
            message,
            Some(&hint),
        ));
    }
    if property.is_some() && asks_beside_a_file(question) {
        let message = format!("`{}` asks for one thing only: drop the other questions", names.property);
        found.push(SourceDiagnostic::about_option(names.property, names.property, "E602", message, None));
    }
    if question.threads == Some(0) {
        let message = "a program without threads does nothing".to_string();
        let hint = format!("{} 1 or more", names.threads);
        found.push(SourceDiagnostic::about_option(names.threads, "0", "E604", message, Some(&hint)));
    }
    found
}

fn asks_beside_a_file(question: &Question) -> bool {
    let code = &question.code;
    question.deadlock
        || !question.stuck.is_empty()
        || !question.starvation.is_empty()
        || code.data_race
        || !question.races.is_empty()
        || code.overflow
        || code.locks
        || code.memory_safety
        || code.assertions
        || !(question.error_labels.is_empty() && question.mutex.is_empty())
}
