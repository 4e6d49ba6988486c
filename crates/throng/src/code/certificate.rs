//! What was proved about a C program as a file, and such files as answers to what is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::deadlock::{Known, Proof};
use super::parts::{Part, questions, together};
use super::{Answered, Posed, abstraction, deadlock, locksets, races};
use crate::outcome::Outcome;
use throng_check::certify::{Certified, CertifiedAnswer, Fault};
use throng_goto::Question;
use throng_goto::program::Violation;
use throng_goto_check::abstraction::certificate as by_abstraction;
use throng_goto_check::{documents, states};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::Bound;
use throng_model::verdict::Verdict;

/// Several proofs, each about a question of its own.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proofs {
    format: String,
    version: u32,
    tool: String,
    proofs: Vec<Value>,
}

const SEVERAL: &str = "throng-c-proofs";
const VERSION: u32 = 1;

/// Returns the proofs of an outcome as a file, or why there is none.
pub(crate) fn write(answered: &Answered, outcome: &Outcome) -> Result<String, String> {
    if outcome.is_unsafe() {
        return Err("there is a run into a violation, and certificates of C programs are about proofs".into());
    }
    if !outcome.is_safe() {
        return Err("not everything was proved".into());
    }
    let races =
        |p: &Part| p.posed.loaded.query.is_weak() && p.posed.program().asked.contains(&Violation::Race);
    if answered.parts.iter().any(races) {
        return Err("no certificate is written of the absence of races under the memory model of C11".into());
    }
    let proofs: Vec<String> = answered.parts.iter().map(document).collect::<Result<_, _>>()?;
    let [one] = &proofs[..] else { return several(&proofs).map_err(|why| why.to_string()) };
    Ok(format!("{one}\n"))
}

fn several(proofs: &[String]) -> serde_json::Result<String> {
    let document = Proofs {
        format: SEVERAL.into(),
        version: VERSION,
        tool: format!("throng {}", env!("CARGO_PKG_VERSION")),
        proofs: proofs.iter().map(|proof| serde_json::from_str(proof)).collect::<Result<_, _>>()?,
    };
    Ok(serde_json::to_string(&document)? + "\n")
}

/// Returns the proof about one question.
fn document(part: &Part) -> Result<String, String> {
    let query = &part.posed.loaded.query;
    let failed = |why: serde_json::Error| why.to_string();
    match part.outcome.answered_by().as_str() {
        deadlock::NAME
            if let Some(Known::Proof(proof, _)) = deadlock::known(&part.posed, &Limits::none()) =>
        {
            match proof {
                Proof::Order(order) => documents::write_order(query, &order).map_err(failed),
                Proof::Facts(facts, _) => documents::write_waits(query, &facts).map_err(failed),
            }
        }
        locksets::NAME => {
            let sets = throng_goto_check::locksets::locksets(&query.program);
            documents::write_locksets(query, &sets).map_err(failed)
        }
        races::NAME => races::document(&part.posed),
        by => match part.abstraction.document() {
            Some(document) => serde_json::to_string(&document).map_err(failed),
            None => by_search(part).map_err(|why| format!("the proof is by a search ({by}): {why}")),
        },
    }
}

/// Returns the proof of a search of real values.
fn by_search(part: &Part) -> Result<String, String> {
    let Part { posed, outcome, .. } = part;
    let mut proofs = Vec::new();
    for (target, verdict) in outcome.problem.targets.iter().zip(&outcome.answer.verdicts) {
        let Verdict::Safe(certificate) = verdict else { return Err("not everything was proved".into()) };
        proofs.push((target.name.as_str(), certificate));
    }
    states::write(&posed.loaded.query, &posed.model, posed.problem.bound, &proofs)
}

/// Checks a file as an answer to what is asked about a program.
pub(crate) fn certify(posed: &Posed, bytes: &[u8], limits: &Limits) -> Result<Certified, Fault> {
    if let Some(names) = posed.undefined() {
        return Err(Fault::Invalid(format!("the program calls what is not defined: {names}")));
    }
    let proofs = match documents::format(bytes)?.as_str() {
        SEVERAL => read_several(bytes)?,
        _ => vec![bytes.to_vec()],
    };
    let (candidates, asked) = candidates(posed);
    let mut certified = Certified::about(posed.problem.initial_text.clone(), "any number".into());
    certified.assumptions = posed.loaded.query.assumptions(&Default::default());
    for proof in &proofs {
        let shown = one(posed, &candidates, proof, limits)?;
        certified.answers.extend(shown.answers);
        certified.assumptions.extend(shown.assumptions);
        // What is proved for any number of threads holds for fewer as well.
        if let Bound::Threads(n) = shown.bound {
            certified.bound = format!("at most {n}");
        }
    }
    let mut made: Vec<Assumption> = Vec::new();
    certified.assumptions.retain(|a| {
        !made.contains(a) && {
            made.push(a.clone());
            true
        }
    });
    match asked.iter().find(|name| !certified.answers.iter().any(|a| a.name == **name)) {
        Some(name) => Err(Fault::Invalid(format!("it does not answer what is asked: {name}"))),
        None => Ok(certified),
    }
}

fn read_several(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    let no = |why: String| Fault::Unreadable(format!("this is not a certificate about a program: {why}"));
    let document: Proofs = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    if document.version != VERSION {
        return Err(no(format!(
            "it has version {}, but this checker knows version {VERSION}",
            document.version
        )));
    }
    document.proofs.iter().map(|p| serde_json::to_vec(p).map_err(|why| no(why.to_string()))).collect()
}

/// Returns the questions that a proof may be about, and the names of all that is asked.
fn candidates(posed: &Posed) -> (Vec<Question>, Vec<String>) {
    let whole = &posed.loaded.query.question;
    let (plain, others) = questions(posed);
    let names = |q: &Question| -> Vec<String> {
        let deadlock = q.deadlock.then(|| "deadlock".to_string());
        let stuck = q.stuck.iter().map(|place| format!("stuck {place}"));
        let starvation = q.starvation.iter().map(|place| format!("starvation {place}"));
        let waits = stuck.chain(starvation);
        q.violations().iter().map(|&v| q.name(v)).chain(deadlock).chain(waits).collect()
    };
    let asked = plain.iter().chain(&others).flat_map(names).collect();
    let mut candidates = vec![whole.clone()];
    if plain.len() + others.len() > 1 {
        candidates.push(together(whole));
        candidates.extend(plain);
        candidates.extend(others);
    }
    (candidates, asked)
}

/// What one proof shows.
struct Shown {
    answers: Vec<CertifiedAnswer>,
    assumptions: Vec<Assumption>,
    bound: Bound,
}

/// Checks one proof against the question that it is about.
fn one(posed: &Posed, candidates: &[Question], bytes: &[u8], limits: &Limits) -> Result<Shown, Fault> {
    let mut found = Err(Fault::Invalid("it is about another program or another question".into()));
    for question in candidates {
        let posed = match *question == posed.loaded.query.question {
            true => posed.clone(),
            false => posed.asking(question).map_err(|why| Fault::Invalid(why.to_string()))?,
        };
        found = about(&posed, bytes, limits);
        if !matches!(found, Err(Fault::Invalid(_))) {
            break;
        }
    }
    found
}

fn about(posed: &Posed, bytes: &[u8], limits: &Limits) -> Result<Shown, Fault> {
    let query = &posed.loaded.query;
    let limited = if query.is_weak() { ", under sequential consistency" } else { "" };
    let format = documents::format(bytes)?;
    if format == states::FORMAT {
        let shown = states::certify(query, posed.problem.bound, bytes, limits)?;
        let answer = |(name, kind, size)| CertifiedAnswer::safe(name, format!("{kind}{limited}"), size);
        return Ok(Shown {
            answers: shown.answers.into_iter().map(answer).collect(),
            assumptions: shown.assumptions,
            bound: posed.problem.bound,
        });
    }
    if documents::is_known(&format) {
        let shown = documents::certify(query, bytes)?;
        let kind = format!("{}{limited}", shown.kind);
        return Ok(Shown {
            answers: vec![CertifiedAnswer::safe(shown.property, kind, shown.elements)],
            assumptions: vec![Assumption::MemorySafe],
            bound: Bound::Any,
        });
    }
    let document = by_abstraction::read(bytes)?;
    let checked = by_abstraction::check(query, &document, limits)?;
    let kind = format!("predicate abstraction{limited}");
    let size = checked.predicates + checked.facts;
    let answer = |name: &String| CertifiedAnswer::safe(name.clone(), kind.clone(), size);
    Ok(Shown {
        answers: document.safe.iter().map(answer).collect(),
        assumptions: abstraction::assumed(posed.program(), Some(&document)),
        bound: Bound::Any,
    })
}
