//! Checks a certificate against the original input, without any engine.
//!
//! The input is read again, the question in the certificate is compared with the question asked
//! ([`Asked`]), states are looked up by name, and the rules of [`crate::rules`] decide. A system or
//! net is checked against the steps that its file lists. For a program, statements are executed by
//! an interpreter of its own ([`interpreter`]), which shares the parser and the resolution of names
//! with the engines' model, but nothing that executes statements.
//!
//! The trusted base of `VALID` is this module, [`crate::rules`], [`throng_model::problem`], the
//! effect of steps ([`throng_model::semantics`]), and the reader of the input's language.

mod asked;
mod decode;
pub mod interpreter;
pub mod refinement;
mod reuse;
mod wording;

use std::fmt;

pub use self::reuse::translate;
pub use self::wording::printable;

use self::wording::{bound_text, initial_text};
use crate::certificate::write::Origin;
use crate::certificate::{Claim, Document, FORMAT, VERSION, hash};
use throng_lang::load::{Format, Loaded, Reading};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

/// The reason why a certificate was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is not a certificate, or not one for this kind of input.
    Unreadable(String),
    /// It does not prove its claims: the rule that failed, and where.
    Invalid(String),
    /// A limit was hit before everything was checked.
    Limit(Unknown),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The message may quote the certificate.
            Fault::Unreadable(why) | Fault::Invalid(why) => f.write_str(&printable(why)),
            Fault::Limit(why) => write!(f, "checking did not finish: {why}"),
        }
    }
}

/// The question that a certificate has to answer, about a loaded input.
pub enum Asked<'a> {
    /// The question of `throng check`: the initial configurations, the bound, and every target of
    /// the problem.
    Check(Origin<'a>),
    /// The question of `throng cutoff`: the initial configurations; targets are ignored.
    Cutoff(Origin<'a>),
    /// The question that the certificate states. A valid certificate then says nothing about any
    /// other question, that of the input included.
    Own(&'a Loaded),
}

impl Asked<'_> {
    fn loaded(&self) -> &Loaded {
        match self {
            Asked::Check(origin) | Asked::Cutoff(origin) => origin.loaded,
            Asked::Own(loaded) => loaded,
        }
    }
}

/// The content of a valid certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Certified {
    /// The proved answers.
    pub answers: Vec<CertifiedAnswer>,
    /// The proved cutoff.
    pub cutoff: Option<CertifiedCutoff>,
    /// The initial configurations in words.
    pub initial: String,
    /// The thread bound in words.
    pub bound: String,
    /// The assumptions of the proof.
    pub assumptions: Vec<Assumption>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl Certified {
    /// Creates an empty result about these initial configurations and this bound, for checkers of
    /// other kinds of files.
    pub fn about(initial: String, bound: String) -> Certified {
        Certified {
            answers: Vec::new(),
            cutoff: None,
            initial,
            bound,
            assumptions: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// A proved answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CertifiedAnswer {
    /// The target's name in the question, or else a description of what was checked; never a name
    /// from the certificate.
    pub name: String,
    /// The target as in certificates, but with names of states.
    pub property: serde_json::Value,
    /// The verdict: whether the target can be reached.
    pub verdict: Claim,
    /// The kind of evidence.
    pub kind: String,
    /// Its number of elements.
    pub elements: usize,
    /// True if the question asks for it; certificates may answer more.
    pub asked: bool,
}

impl CertifiedAnswer {
    /// Creates the answer that a property of the question holds, with this kind of evidence, for
    /// checkers of other kinds of files.
    pub fn safe(name: String, kind: String, elements: usize) -> CertifiedAnswer {
        let property = serde_json::Value::String(name.clone());
        CertifiedAnswer { name, property, verdict: Claim::Safe, kind, elements, asked: true }
    }
}

/// A proved cutoff.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CertifiedCutoff {
    /// The number of threads with which every reachable thread state is reached.
    pub threads: u32,
    /// True if fewer threads do not suffice.
    pub smallest: bool,
}

/// Reads a certificate from bytes.
pub fn read(bytes: &[u8]) -> Result<Document, Fault> {
    /// The fields that every version of the format has.
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
        version: u32,
    }
    let no = |why: serde_json::Error| Fault::Unreadable(format!("this is not a certificate: {why}"));
    let done = serde_json::from_slice(bytes).map_err(no);
    let head = match &done {
        Ok(Document { format, version, .. }) => Head { format: format.clone(), version: *version },
        Err(_) => serde_json::from_slice(bytes).map_err(no)?,
    };
    if head.format != FORMAT {
        return Err(Fault::Unreadable(format!("this is not a certificate: its format is not `{FORMAT}`")));
    }
    if !(1..=VERSION).contains(&head.version) {
        let (theirs, ours) = (head.version, VERSION);
        let why =
            format!("the certificate has version {theirs}, but this checker knows versions 1 to {ours}");
        return Err(Fault::Unreadable(why));
    }
    done
}

/// Returns how the input must be read for this certificate; `from` is its format if its name does
/// not tell.
pub fn reading(document: &Document, from: Option<Format>) -> Reading {
    Reading {
        from,
        init_free: document.problem.init_free,
        keep_ended: !document.problem.slot_reuse,
        ..Reading::default()
    }
}

/// Checks that a certificate answers the question asked, and all its claims.
pub fn certify(asked: &Asked<'_>, document: &Document, limits: &Limits) -> Result<Certified, Fault> {
    if document.targets.is_empty() && document.cutoff.is_none() {
        return Err(Fault::Invalid("it answers nothing: there is no target in it, and no cutoff".into()));
    }
    let mut decoder = decode::Decoder::new(asked.loaded(), document)?;
    let asked_for = decoder.answers(asked)?;
    let answers = decoder.judge(&asked_for, limits)?;
    let cutoff = decoder.cutoff(limits)?;
    let mut notes = Vec::new();
    if document.input.hash != hash(&asked.loaded().source.text) {
        notes.push("the input has changed since the certificate was written".to_string());
    }
    if !document.undecided.is_empty() {
        notes.push(format!("targets that the certificate lists as undecided: {}", document.undecided.len()));
    }
    Ok(Certified {
        answers,
        cutoff,
        initial: initial_text(document),
        bound: bound_text(&decoder.problem),
        assumptions: Vec::new(),
        notes,
    })
}
