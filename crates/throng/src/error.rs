//! Why there is no outcome.

use std::fmt;

use throng_check::certify::Fault;
use throng_lang::load::{Rejected, Unread};
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::render;
use throng_model::verdict::Unknown;

/// Why there is no outcome at all. Prints what the command line prints: of a wrong input the
/// position, and the text underlined.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// The input or the question is wrong.
    Refused(Vec<SourceDiagnostic>),
    /// The problem could not be built.
    Impossible(Unknown),
    /// Evidence does not stand, and why: a bug in an engine or in the model, never in the input.
    Flawed(String),
    /// The engine does not answer questions of this kind, and which do.
    Unsuitable(String),
    /// A certificate was not accepted.
    NotCertified(Fault),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(messages) => messages
                .iter()
                .try_for_each(|c| writeln!(f, "{}", render(&c.diagnostic, &c.source, false).trim_end())),
            Error::Impossible(why) => why.fmt(f),
            Error::Flawed(why) | Error::Unsuitable(why) => f.write_str(why),
            Error::NotCertified(fault) => fault.fmt(f),
        }
    }
}

/// The same: `main` and `unwrap` show errors in this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Error {
        let Rejected { source, diagnostics } = rejected;
        let message = |diagnostic| SourceDiagnostic { source: source.clone(), diagnostic };
        Error::Refused(diagnostics.into_iter().map(message).collect())
    }
}

impl From<Unread> for Error {
    fn from(unread: Unread) -> Error {
        match unread {
            Unread::Rejected(rejected) => rejected.into(),
            Unread::Stopped(why) => Error::Impossible(why),
        }
    }
}

impl From<Vec<SourceDiagnostic>> for Error {
    fn from(messages: Vec<SourceDiagnostic>) -> Error {
        Error::Refused(messages)
    }
}

impl From<Unknown> for Error {
    fn from(why: Unknown) -> Error {
        Error::Impossible(why)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::NotCertified(fault)
    }
}

#[cfg(test)]
mod tests {
    use crate::Input;
    use throng_lang::load::Format;

    #[test]
    fn errors_show_where_and_what() {
        let why = Input::from_text("void main() begin\n  x := 1;\nend\n", Format::Bp)
            .err()
            .expect("x is not declared");
        let text = why.to_string();
        assert!(text.starts_with("error[E201]: `x` is not declared"), "{text}");
        assert!(text.contains(":2:3\n") && text.contains("2 |   x := 1;\n  |   ^"), "{text}");
        assert_eq!(format!("{why:?}"), text);
    }
}
