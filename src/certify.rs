//! Checks a certificate against the original input, without any engine.
//!
//! The input is read again, the question is put together from what the certificate says, states are looked up by name, and the rules of
//! [`crate::check`] decide. A system or net is checked against the steps that its file lists. For a program, statements are
//! executed by an interpreter of its own ([`interpreter`]), which shares the parser and the meaning of names with the
//! engines' model, and nothing that executes anything.
//!
//! What has to be believed for `VALID`: this module, [`crate::check`], [`crate::problem`], what a step does ([`crate::model::semantics`]), and the reader
//! of the input's language.

mod court;
pub mod interpreter;
mod shrink;

use std::fmt;

pub use self::shrink::shrink;

use crate::certificate::{Claim, Count, Document, FORMAT, Most, Start, VERSION, hash};
use crate::lang::load::{Format, Loaded, Reading};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::verdict::{Unknown, Verdict};

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
            Fault::Unreadable(why) | Fault::Invalid(why) => f.write_str(why),
            Fault::Limit(why) => write!(f, "checking did not finish: {why}"),
        }
    }
}

/// What a valid certificate says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// What is true now: target, answer, kind of evidence, its number of elements.
    pub answers: Vec<(String, Claim, &'static str, usize)>,
    /// What is true about a cutoff.
    pub cutoff: Option<CertifiedCutoff>,
    /// The initial configurations in words.
    pub initial: String,
    /// The thread bound in words.
    pub bound: String,
    /// What else somebody should know.
    pub notes: Vec<String>,
}

/// A cutoff that was shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertifiedCutoff {
    /// So many threads show every reachable thread state.
    pub threads: u32,
    /// So many there are.
    pub states: usize,
    /// Whether fewer threads do not.
    pub smallest: bool,
}

/// Reads a certificate from bytes.
pub fn read(bytes: &[u8]) -> Result<Document, Fault> {
    /// Read first: whatever else has changed, a later version says so here.
    #[derive(serde::Deserialize)]
    struct Head {
        format: String,
        version: u32,
    }
    let no = |why: serde_json::Error| Fault::Unreadable(format!("this is no certificate: {why}"));
    let head: Head = serde_json::from_slice(bytes).map_err(no)?;
    if head.format != FORMAT {
        return Err(Fault::Unreadable(format!("this is no certificate: its format is not `{FORMAT}`")));
    }
    if head.version != VERSION {
        let (theirs, ours) = (head.version, VERSION);
        let why = format!("the certificate has version {theirs}, but this checker knows version {ours}");
        return Err(Fault::Unreadable(why));
    }
    serde_json::from_slice(bytes).map_err(no)
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

/// Checks everything that a certificate says about this input, which was read as [`reading`] says.
pub fn certify(loaded: &Loaded, document: &Document, limits: &Limits) -> Result<Certified, Fault> {
    let court = court::Court::new(loaded, document)?;
    let answers = court.judge(limits)?;
    let cutoff = court.cutoff(limits)?;
    let mut notes = Vec::new();
    if document.input.hash != hash(&loaded.source.text) {
        notes.push(format!("the input has changed since `{}` was certified", document.input.name));
    }
    if !document.undecided.is_empty() {
        notes.push(format!("nothing is said about {}", document.undecided.join(", ")));
    }
    Ok(Certified {
        answers,
        cutoff,
        initial: initial_text(document),
        bound: bound_text(document.problem.bound),
        notes,
    })
}

/// The answers of a certificate in the words of `problem`, for those targets that ask for the same, to be tried on an input that may
/// have changed. Nothing is checked: that is for [`crate::check`].
pub fn translate(loaded: &Loaded, document: &Document, problem: &Problem) -> Vec<Option<Verdict>> {
    court::translate(loaded, document, problem)
}

fn bound_text(bound: Most) -> String {
    match bound {
        Most::Any => "any number".into(),
        Most::Threads(n) => format!("at most {n}"),
        Most::Tokens(n) => {
            format!("at most {n} initial tokens in each place that may start with any number")
        }
    }
}

fn initial_text(document: &Document) -> String {
    use crate::certificate::names::{LocalName, SharedName};
    let families = match &document.problem.initial {
        Start::Main(Count::Any(_)) => return "any number of threads at the entry of main".into(),
        Start::Main(Count::Exactly(1)) => return "1 thread at the entry of main".into(),
        Start::Main(Count::Exactly(n)) => return format!("{n} threads at the entry of main"),
        Start::Families(families) => families,
    };
    let shared = |i: u32| match document.states.shared.get(i as usize) {
        Some(SharedName::Name(name)) => name.clone(),
        _ => "?".into(),
    };
    let local = |i: u32| match document.states.local.get(i as usize) {
        Some(LocalName::Name(name)) => name.clone(),
        _ => "?".into(),
    };
    let texts = families.iter().map(|family| {
        let exactly = family.threads.iter().map(|&(l, n)| match n {
            1 => local(l),
            n => format!("{n} × {}", local(l)),
        });
        let mut text = format!("{}|{}", shared(family.shared), exactly.collect::<Vec<_>>().join(","));
        if !family.any.is_empty() {
            let any: Vec<String> = family.any.iter().map(|&l| local(l)).collect();
            text.push_str(&format!("/{}", any.join(",")));
        }
        text
    });
    texts.collect::<Vec<_>>().join(" or ")
}
