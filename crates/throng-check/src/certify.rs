//! Checks a certificate against the original input, without any engine.
//!
//! The input is read again, the question is put together from what the certificate says and
//! compared with what was asked ([`Asked`]), states are looked up by name, and the rules of
//! [`crate::rules`] decide. A system or net is checked against the steps that its file lists. For a
//! program, statements are executed by an interpreter of its own ([`interpreter`]), which shares
//! the parser and the meaning of names with the engines' model, and nothing that executes anything.
//!
//! What has to be believed for `VALID`: this module, [`crate::rules`], [`throng_model::problem`],
//! what a step does ([`throng_model::semantics`]), and the reader of the input's language.

mod asked;
mod decode;
pub mod interpreter;
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

/// Why a certificate was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is no certificate, or not one for this kind of input.
    Unreadable(String),
    /// It does not prove what it says: which rule failed, and where.
    Invalid(String),
    /// A limit was hit before everything was checked.
    Limit(Unknown),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // It may quote the certificate.
            Fault::Unreadable(why) | Fault::Invalid(why) => f.write_str(&printable(why)),
            Fault::Limit(why) => write!(f, "checking did not finish: {why}"),
        }
    }
}

/// The question that a certificate has to answer, about an input that was read.
pub enum Asked<'a> {
    /// What `throng check` asks: the start, the bound, and every target of the problem.
    Check(Origin<'a>),
    /// What `throng cutoff` asks: the start; targets play no part.
    Cutoff(Origin<'a>),
    /// Whatever question the certificate states. That it stands then says nothing about any other
    /// question, that of the input included.
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

/// What a valid certificate says.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Certified {
    /// What is true now.
    pub answers: Vec<CertifiedAnswer>,
    /// What is true about a cutoff.
    pub cutoff: Option<CertifiedCutoff>,
    /// The initial configurations in words.
    pub initial: String,
    /// The thread bound in words.
    pub bound: String,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

impl Certified {
    /// Says nothing yet about a start and a bound in words: for checkers of other kinds of files.
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

/// An answer that was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CertifiedAnswer {
    /// The target as the question calls it, or else in words that say what was checked; never a
    /// name that the certificate gives.
    pub name: String,
    /// What must not be reached, as in certificates, but with names of states.
    pub property: serde_json::Value,
    /// Whether it can be.
    pub verdict: Claim,
    /// The kind of evidence.
    pub kind: String,
    /// Its number of elements.
    pub elements: usize,
    /// Whether the question asks for it; certificates may answer more.
    pub asked: bool,
}

impl CertifiedAnswer {
    /// That a property holds, which was asked, by evidence of a kind: for checkers of other kinds
    /// of files.
    pub fn safe(name: String, kind: String, elements: usize) -> CertifiedAnswer {
        let property = serde_json::Value::String(name.clone());
        CertifiedAnswer { name, property, verdict: Claim::Safe, kind, elements, asked: true }
    }
}

/// A cutoff that was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CertifiedCutoff {
    /// So many threads show every reachable thread state.
    pub threads: u32,
    /// Whether fewer threads do not.
    pub smallest: bool,
}

/// Reads a certificate from bytes.
pub fn read(bytes: &[u8]) -> Result<Document, Fault> {
    /// Whatever else has changed, a later version says so here.
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
        version: u32,
    }
    let no = |why: serde_json::Error| Fault::Unreadable(format!("this is no certificate: {why}"));
    let done = serde_json::from_slice(bytes).map_err(no);
    let head = match &done {
        Ok(Document { format, version, .. }) => Head { format: format.clone(), version: *version },
        Err(_) => serde_json::from_slice(bytes).map_err(no)?,
    };
    if head.format != FORMAT {
        return Err(Fault::Unreadable(format!("this is no certificate: its format is not `{FORMAT}`")));
    }
    if !(1..=VERSION).contains(&head.version) {
        let (theirs, ours) = (head.version, VERSION);
        let why =
            format!("the certificate has version {theirs}, but this checker knows versions 1 to {ours}");
        return Err(Fault::Unreadable(why));
    }
    done
}

/// How the input must be read for this certificate; `from` if its name does not say the format.
pub fn reading(document: &Document, from: Option<Format>) -> Reading {
    Reading {
        from,
        init_free: document.problem.init_free,
        keep_ended: !document.problem.slot_reuse,
        ..Reading::default()
    }
}

/// Checks that a certificate answers what was asked, and everything that it says.
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
