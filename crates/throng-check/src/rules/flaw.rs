//! Errors in evidence.

use std::fmt;

use throng_model::Incomplete;
use throng_model::verdict::Unknown;

/// An error in evidence. Configurations are given as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// A run does not start in an initial configuration.
    NotInitial(String),
    /// A step of a run, counted from 1, is not a step of the model.
    NoSuchStep(usize),
    /// A step of a run, counted from 1, does not lead to the stated configuration, or is not
    /// enabled.
    LeadsElsewhere(usize, String),
    /// A run ends in a configuration that is not bad.
    EndIsNotBad(String),
    /// A closed set is given for infinitely many initial configurations.
    TooManyInitial,
    /// A closed set lacks an initial configuration.
    InitialMissing(String),
    /// A set lacks a successor of a member.
    NotClosed(String, String),
    /// A limit was hit before everything was checked; no error was found so far.
    Limit(Unknown),
    /// A member of a set is bad.
    BadMember(String),
    /// A bad configuration is not above any element of a basis.
    TargetMissing(String),
    /// An element of a basis has a predecessor that is not above any element.
    PredecessorMissing(String, String),
    /// An initial configuration is above an element of a basis.
    InitialInside(String),
    /// A set of views lacks one that follows from it.
    ViewMissing(String),
    /// A step, or the start, increases a vector.
    Grows(String),
    /// The evidence proves nothing about this model, in which larger configurations may have fewer
    /// steps, for example, or which lists no predecessors.
    NotForThisModel(String),
    /// It is not well-formed evidence.
    Malformed(String),
}

impl From<Incomplete> for Flaw {
    fn from(why: Incomplete) -> Flaw {
        Flaw::Limit(why.into())
    }
}

impl From<Unknown> for Flaw {
    fn from(why: Unknown) -> Flaw {
        Flaw::Limit(why)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NotInitial(c) => write!(f, "the run starts in {c}, which is not initial within the bound"),
            Flaw::NoSuchStep(i) => write!(f, "step {i} of the run is not a step of the model"),
            Flaw::LeadsElsewhere(i, c) => write!(f, "step {i} of the run does not lead to {c}"),
            Flaw::EndIsNotBad(c) => write!(f, "the run ends in {c}, which does not cover the target"),
            Flaw::TooManyInitial => {
                write!(f, "a finite set cannot hold every initial configuration of any number of threads")
            }
            Flaw::InitialMissing(c) => write!(f, "the set lacks the initial configuration {c}"),
            Flaw::NotClosed(c, d) => write!(f, "the set holds {c} but not its successor {d}"),
            Flaw::Limit(why) => write!(f, "checking did not finish: {why}"),
            Flaw::Malformed(what) => f.write_str(what),
            Flaw::BadMember(c) => write!(f, "the set holds {c}, which covers the target"),
            Flaw::TargetMissing(c) => write!(f, "the bad configuration {c} is above no element of the basis"),
            Flaw::PredecessorMissing(c, p) => {
                write!(f, "{p} leads to {c} of the basis but is above no element")
            }
            Flaw::InitialInside(c) => write!(f, "an initial configuration is above {c} of the basis"),
            Flaw::ViewMissing(v) => write!(f, "the set of views lacks {v}"),
            Flaw::Grows(why) => write!(f, "a vector grows: {why}"),
            Flaw::NotForThisModel(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Flaw {}
