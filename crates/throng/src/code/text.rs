//! A program behind the reader of its language: what it means depends on the question.

use std::path::Path;
use std::sync::Arc;

use throng_goto::{Query, Question};
use throng_lang::load::{Format, Rejected};
use throng_lang::mutant::Mutant;
use throng_lang::question::CodeQuestion;
use throng_lang::source::Source;
#[cfg(feature = "llvm")]
use throng_model::assumption::Assumption;

/// A program as its reader keeps it.
#[derive(Clone)]
pub(super) enum Text {
    /// In C.
    #[cfg(feature = "c")]
    C(throng_c::Text),
    /// In LLVM IR, or in what a compiler makes it of.
    #[cfg(feature = "llvm")]
    Ir(Box<Ir>),
}

/// A program in LLVM IR.
#[cfg(feature = "llvm")]
#[derive(Clone)]
pub(super) struct Ir {
    /// The modules.
    pub(super) text: throng_llvm::Text,
    /// The language that people wrote it in.
    pub(super) format: Format,
    /// The files that were read, if it was compiled.
    pub(super) files: Vec<std::path::PathBuf>,
    /// The compiler, if it was compiled.
    pub(super) compiler: Option<String>,
    /// What is changed in what it means.
    pub(super) mutant: Option<Mutant>,
}

#[cfg(feature = "llvm")]
impl Ir {
    fn asking(&self, question: &Question) -> Result<Query, Rejected> {
        let mut query = self.text.asking(question)?.query;
        let by = self.compiler.clone().map(|by| Assumption::Compiled { by });
        query.notes.extend(by);
        if let Some(mutant) = &self.mutant {
            query.program = Arc::new(throng_goto::mutants::mutated(&query.program, mutant));
        }
        Ok(query)
    }

    fn files(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        match self.compiler {
            Some(_) => Box::new(self.files.iter().map(|file| file.as_path())),
            None => Box::new(self.text.files()),
        }
    }
}

impl Text {
    /// Its language.
    pub(super) fn format(&self) -> Format {
        match self {
            #[cfg(feature = "c")]
            Text::C(_) => Format::C,
            #[cfg(feature = "llvm")]
            Text::Ir(ir) => ir.format,
        }
    }

    /// The file that messages are about.
    pub(super) fn source(&self) -> &Arc<Source> {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => &text.source,
            #[cfg(feature = "llvm")]
            Text::Ir(ir) => &ir.text.source,
        }
    }

    /// The files that were read, those of the program first.
    pub(super) fn files(&self) -> Box<dyn Iterator<Item = &Path> + '_> {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => Box::new(text.files().chain(text.beside())),
            #[cfg(feature = "llvm")]
            Text::Ir(ir) => ir.files(),
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
            Text::Ir(ir) => Ok(Loaded {
                query: ir.asking(question)?,
                text: self.clone(),
                #[cfg(feature = "c")]
                c: None,
            }),
        }
    }

    /// Returns the program with something changed.
    pub(super) fn mutated(&self, mutant: &Mutant) -> Text {
        match self {
            #[cfg(feature = "c")]
            Text::C(text) => Text::C(text.mutated(mutant)),
            #[cfg(feature = "llvm")]
            Text::Ir(ir) => Text::Ir(Box::new(Ir { mutant: Some(mutant.clone()), ..(**ir).clone() })),
        }
    }

    /// Returns the program whose threads begin also in other roles than a question names.
    pub(super) fn with_roles(&self, question: &CodeQuestion) -> Text {
        #[cfg(not(feature = "llvm"))]
        let _ = question;
        match self {
            #[cfg(feature = "llvm")]
            Text::Ir(ir) => {
                let roles = throng_llvm::Roles::new(question.setup.clone(), question.one.clone());
                Text::Ir(Box::new(Ir { text: ir.text.clone().with(roles), ..(**ir).clone() }))
            }
            #[cfg(feature = "c")]
            Text::C(_) => self.clone(),
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
        throng_goto::mutants::mutants(&self.query.program)
    }
}
