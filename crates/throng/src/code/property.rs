//! Property files of SV-COMP.

use std::path::Path;

use throng_goto::Question;
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::{Diagnostic, Source};
use throng_lang::vocabulary::Vocabulary;

const EXPECTED: &str = "expected `CHECK( init(main()), LTL(G ! …) )`";

/// Asks what a property file says.
pub(super) fn ask(
    path: &Path,
    vocabulary: &Vocabulary,
    question: &mut Question,
) -> Result<(), Vec<SourceDiagnostic>> {
    let source = throng_lang::load::read_source(path).map_err(|rejected| {
        let about = |d: Diagnostic| SourceDiagnostic { source: rejected.source.clone(), diagnostic: d };
        rejected.diagnostics.iter().cloned().map(about).collect::<Vec<_>>()
    })?;
    read(&source.text, question).map_err(|why| {
        let diagnostic = Diagnostic::whole("E602", format!("{why} ({})", vocabulary.property));
        vec![SourceDiagnostic { source: Source::clone(&source).into(), diagnostic }]
    })
}

fn read(text: &str, question: &mut Question) -> Result<(), String> {
    let checks: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let check = *checks.first().ok_or(EXPECTED)?;
    let tight: String = check.split_whitespace().collect();
    let formula = tight.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))"));
    let formula = formula.ok_or_else(|| format!("`{check}` is not supported: {EXPECTED}"))?;
    if let Some(other) = checks.get(1).filter(|_| !known(formula).starts_with("valid")) {
        return Err(format!("one property at a time: `{other}`"));
    }
    question.by_property_file = true;
    match formula {
        "G!data-race" => question.race = true,
        "G!overflow" => question.overflow = true,
        _ => {
            let called = formula.strip_prefix("G!call(").and_then(|rest| rest.strip_suffix("())"));
            let name = called.filter(|name| is_name(name)).ok_or_else(|| {
                format!(
                    "the property `{}` is not supported: supported are unreach-call (`G ! call(reach_error())`), no-data-race and no-overflow",
                    known(formula)
                )
            })?;
            question.error_function = Some(name.to_string());
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns what a property of SV-COMP is called.
fn known(formula: &str) -> &str {
    match formula {
        "Fend" => "termination",
        "Gvalid-free" | "Gvalid-deref" | "Gvalid-memtrack" => "valid-memsafety",
        "Gvalid-memcleanup" => "valid-memcleanup",
        other => other,
    }
}
