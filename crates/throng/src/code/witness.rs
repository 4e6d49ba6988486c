//! Witnesses of SV-COMP: written from an outcome, and followed through a program.

use super::{Answered, Posed};
use throng_c::witness::{self, Task, sha256};
use throng_check::certify::Fault;
use throng_goto::Question;
use throng_goto::run::Run;
use throng_model::verdict::{Unknown, Verdict};

/// What a witness says about the task beside the program.
#[derive(Clone, Debug)]
pub struct WitnessOf<'a> {
    /// The file as it was named.
    pub file: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// When the witness is made, as in `2026-11-16T12:00:00Z`.
    pub created: String,
}

/// Returns a witness of the verdict, or why there is none.
pub(crate) fn write(answered: &Answered, of: &WitnessOf<'_>) -> Result<String, String> {
    let part = answered.shown();
    if part.executions {
        return Err("the format is about sequential consistency".into());
    }
    let loaded = part.posed.loaded.in_c().ok_or("witnesses are about programs in C")?;
    let question = &part.posed.loaded.query.question;
    let specification = specification(question).ok_or("the format has no property for what was asked")?;
    if !question.entries.is_empty() || part.posed.files > 1 {
        return Err("the format is about one file with a `main`".into());
    }
    let hash = sha256(of.bytes);
    let task = Task {
        uuid: uuid(&hash, &of.created),
        file: (of.file.into(), hash),
        specification,
        data_model: if question.ilp32 { "ILP32" } else { "LP64" }.into(),
        created: of.created.clone(),
    };
    match &part.outcome.answer.verdicts[..] {
        [Verdict::Unsafe(trace)] => {
            let run = Run::of(&part.posed.model, trace).ok_or("the run cannot be replayed")?;
            Ok(witness::violation(&task, &witness::segments(loaded, &run)))
        }
        [Verdict::Safe(_)] => Ok(witness::correctness(&task, &part.abstraction.invariants())),
        _ => Err("there is no verdict".into()),
    }
}

/// Returns the property in the words of SV-COMP.
fn specification(question: &Question) -> Option<String> {
    let kinds = [
        question.race,
        question.overflow,
        question.locks,
        question.asks_who_waits(),
        !question.exclusive.is_empty(),
    ];
    let what = match kinds {
        [true, false, false, false, false] if !question.assertions => "data-race".to_string(),
        [false, true, false, false, false] if !question.assertions => "overflow".to_string(),
        [false, false, false, false, false] if question.error_labels.is_empty() => {
            format!("call({}())", question.error_function.as_deref().unwrap_or("reach_error"))
        }
        _ => return None,
    };
    Some(format!("CHECK( init(main()), LTL(G ! {what}) )"))
}

/// Returns a number that no other witness has, in the form of a random UUID.
fn uuid(hash: &str, created: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let digits = sha256(format!("{hash} {created} {now:?} {}", std::process::id()).as_bytes());
    format!(
        "{}-{}-4{}-a{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..32]
    )
}

/// Looks for a run through a violation witness; `program`: the bytes of the file.
pub(crate) fn follow(posed: &Posed, program: &[u8], text: &[u8]) -> Result<(), Fault> {
    let unreadable = |why: String| Fault::Unreadable(why);
    let text = std::str::from_utf8(text).map_err(|why| unreadable(why.to_string()))?;
    let found = witness::read(text).map_err(unreadable)?;
    if !found.violation {
        return Err(unreadable(
            "this is a correctness witness: only runs can be followed; `check --certificate` writes proofs that can be checked".into(),
        ));
    }
    if !found.hashes.is_empty() && !found.hashes.contains(&sha256(program)) {
        return Err(Fault::Invalid("the witness is about another file: the hash differs".into()));
    }
    let open = |why: &str| Err(Fault::Limit(Unknown::Inconclusive(why.into())));
    if posed.undefined().is_some() {
        return open("the program calls what is not defined");
    }
    let Some(loaded) = posed.loaded.in_c() else {
        return Err(unreadable("witnesses are about programs in C".into()));
    };
    match witness::follow(loaded, &found) {
        Some(true) => Ok(()),
        Some(false) => Err(Fault::Invalid("no run follows the witness".into())),
        None => open("the witness leaves too much open to be followed"),
    }
}
