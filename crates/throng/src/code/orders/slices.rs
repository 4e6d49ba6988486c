//! Robustness and races by predicate abstraction, slice by slice, for any number of threads; and
//! the proof as a file.
//!
//! The program with the monitor of a slice ([`throng_goto_check::monitored`]) is an ordinary
//! program, and so is its certificate. The checker of a file writes the monitored programs again,
//! and asks for a certificate of each slice that the program has.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use throng_abstract::prove::Ended;
use throng_abstract::readings::attempt;
use throng_check::certify::Fault;
use throng_goto::{Query, Question};
use throng_goto_check::abstraction::certificate::{self, Document};
use throng_goto_check::monitored::{Asks, Slice, monitored, predicates, slices};
use throng_model::limits::Limits;

use super::super::Posed;

/// What a proof of robustness calls itself.
pub(in crate::code) const FORMAT: &str = "throng-c-orders";
const VERSION: u32 = 1;

/// A proof that a program is robust and has no data race.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::code) struct Proof {
    format: String,
    version: u32,
    /// The program, by its hash.
    program: String,
    slices: Vec<Proved>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proved {
    /// The name of the address; for people.
    name: String,
    address: i64,
    asks: Asks,
    proof: Document,
}

/// Proves all slices of a program; every proof is checked.
pub(super) fn prove(posed: &Posed, limits: &Limits) -> Option<Proof> {
    let query = &posed.loaded.query;
    let list = slices(&query.program).ok()?;
    let mut proved = Vec::new();
    let mut left = list.len() as u32;
    for slice in list {
        let part = limits.time_left().map_or(limits.part(), |time| limits.part().timeout(time / left));
        left -= 1;
        let monitored = asked(query, slice).ok()?;
        let (graph, ended) =
            attempt(&monitored.program, &predicates(&monitored.program), &part, &mut |_| {}).ok()?;
        let Ended::Proved(found) = ended else { return None };
        let proof = certificate::document(&monitored, &graph, &found.evidence);
        certificate::check(&monitored, &proof, limits).ok()?;
        let name = query.program.name_of(slice.address).unwrap_or_default();
        proved.push(Proved { name, address: slice.address, asks: slice.asks, proof });
    }
    let program = certificate::identity(query);
    Some(Proof { format: FORMAT.into(), version: VERSION, program, slices: proved })
}

/// The question about the program with the monitor of a slice.
fn asked(query: &Query, slice: Slice) -> Result<Query, String> {
    let program = Arc::new(monitored(&query.program, slice)?);
    let mut question = Question::default();
    question.assertions = true;
    Ok(Query { program, whole: None, question, ..query.clone() })
}

/// Returns a proof as it is written.
pub(in crate::code) fn text(proof: &Proof) -> serde_json::Result<String> {
    serde_json::to_string(proof)
}

/// Checks a file as a proof that a program is robust and has no data race. Returns what the
/// proofs take for granted.
pub(in crate::code) fn certify(query: &Query, bytes: &[u8], limits: &Limits) -> Result<Vec<Document>, Fault> {
    let no = |why: String| Fault::Unreadable(format!("this is not a proof about memory orders: {why}"));
    let proof: Proof = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    if (proof.format.as_str(), proof.version) != (FORMAT, VERSION) {
        return Err(no(format!("it is not version {VERSION}")));
    }
    if proof.program != certificate::identity(query) {
        return Err(Fault::Invalid("it is about another program or another question".into()));
    }
    let list = slices(&query.program).map_err(Fault::Invalid)?;
    for slice in list {
        let is_it = |p: &&Proved| (p.address, p.asks) == (slice.address, slice.asks);
        let name = query.program.name_of(slice.address).unwrap_or_default();
        let Some(found) = proof.slices.iter().find(is_it) else {
            return Err(Fault::Invalid(format!("a slice about `{name}` is missing")));
        };
        let monitored = asked(query, slice).map_err(Fault::Invalid)?;
        certificate::check(&monitored, &found.proof, limits)?;
    }
    Ok(proof.slices.into_iter().map(|p| p.proof).collect())
}
