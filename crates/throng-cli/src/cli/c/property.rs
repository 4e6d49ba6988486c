//! Property files of SV-COMP.

use std::path::Path;

use super::{Failure, files};
use throng_goto::Question;

/// Asks what a property file says.
pub(super) fn ask(path: &Path, question: &mut Question) -> Result<(), Failure> {
    files::was_read(path);
    let text = throng_lang::load::read_source(path)?.text;
    let wrong = |why: String| Failure::Other(format!("{}: {why}", path.display()));
    let checks: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some(&check) = checks.first() else {
        return Err(wrong("expected `CHECK( init(main()), LTL(G ! …) )`".into()));
    };
    let tight: String = check.split_whitespace().collect();
    let formula =
        tight.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))")).ok_or_else(
            || wrong(format!("`{check}` is not supported: expected `CHECK( init(main()), LTL(G ! …) )`")),
        )?;
    if let Some(other) = checks.get(1).filter(|_| !known(formula).starts_with("valid")) {
        return Err(wrong(format!("one property at a time: `{other}`")));
    }
    question.by_property_file = true;
    match formula {
        "G!data-race" => question.race = true,
        "G!overflow" => question.overflow = true,
        _ => {
            let called = formula.strip_prefix("G!call(").and_then(|rest| rest.strip_suffix("())"));
            let is_name = |name: &&str| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            };
            match called.filter(is_name) {
                Some(name) => question.error_function = Some(name.to_string()),
                None => {
                    let why = format!(
                        "the property `{}` is not supported: supported are unreach-call (`G ! call(reach_error())`), no-data-race and no-overflow",
                        known(formula)
                    );
                    return Err(wrong(why));
                }
            }
        }
    }
    Ok(())
}

/// What a property of SV-COMP is called.
fn known(formula: &str) -> &str {
    match formula {
        "Fend" => "termination",
        "Gvalid-free" | "Gvalid-deref" | "Gvalid-memtrack" => "valid-memsafety",
        "Gvalid-memcleanup" => "valid-memcleanup",
        other => other,
    }
}
