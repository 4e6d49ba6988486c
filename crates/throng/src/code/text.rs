//! A program behind the reader of its language: what it means depends on the question.

use std::path::Path;
use std::sync::Arc;

use throng_goto::{Query, Question};
use throng_lang::load::{Format, Rejected};
use throng_lang::mutant::Mutant;
use throng_lang::source::Source;

/// A program as its reader keeps it.
#[derive(Clone)]
pub(super) enum Text {
    /// In C.
    #[cfg(feature = "c")]
    C(throng_c::Text),
    /// In LLVM IR.
    #[cfg(feature = "llvm")]
    Llvm(throng_llvm::Text),
}

impl Text {
    /// Its language.
    pub(super) fn format(&self) -> Format {
        match self {
            #[cfg(feature = "c")]
            Text::C(_) => Format::C,
            #[cfg(feature = "llvm")]
            Text::Llvm(_) => Format::Llvm,
        }
    }

    /// The file that messages are about.
    pub(super) fn source(&self) -> &Arc<Source> {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => &text.source,
            #[cfg(feature = "llvm")]
            Text::Llvm(text) => &text.source,
        }
    }

    /// The files that were read, those of the program first.
    pub(super) fn files(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => Box::new(text.files().chain(text.beside())),
            #[cfg(feature = "llvm")]
            Text::Llvm(text) => Box::new(text.files()),
        }
    }

    /// Returns what the program means to a question.
    pub(super) fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => {
                let loaded = text.asking(question)?;
                Ok(Loaded { query: loaded.query.clone(), text: self.clone(), c: Some(loaded) })
            }
            #[cfg(feature = "llvm")]
            Text::Llvm(text) => {
                let query = text.asking(question)?.query;
                Ok(Loaded {
                    query,
                    text: self.clone(),
                    #[cfg(feature = "c")]
                    c: None,
                })
            }
        }
    }

    /// Returns the program with something changed.
    pub(super) fn mutated(&self, mutant: &Mutant) -> Text {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => Text::C(text.mutated(mutant)),
            // Nothing is offered that could be changed.
            #[cfg(feature = "llvm")]
            Text::Llvm(_) => self.clone(),
        }
    }
}

/// A program that was read: what it means, and what is asked.
#[derive(Clone)]
pub(super) struct Loaded {
    /// The goto program and the question.
    pub(super) query: Query,
    text: Text,
    /// As the reader of C keeps it: what replays, witnesses and mutants are made of.
    #[cfg(feature = "c")]
    c: Option<throng_c::Loaded>,
}

impl Loaded {
    /// Returns the same program with another question.
    pub(super) fn asking(&self, question: &Question) -> Result<Loaded, Rejected> {
        self.text.asking(question)
    }

    /// The program as the reader of C keeps it, if it is in C.
    #[cfg(feature = "c")]
    pub(super) fn in_c(&self) -> Option<&throng_c::Loaded> {
        self.c.as_ref()
    }

    /// Returns every way to change one thing of the program.
    pub(super) fn mutants(&self) -> Vec<Mutant> {
        #[cfg(feature = "c")]
        if let Some(loaded) = &self.c {
            return throng_c::mutants::mutants(loaded);
        }
        Vec::new()
    }
}
