//! Programs with one thing changed.

use super::{Code, Posed};
use throng_lang::mutant::Mutant;

impl Posed {
    /// Returns every way to change one thing.
    pub(crate) fn mutants(&self) -> Vec<Mutant> {
        self.loaded.mutants()
    }
}

impl Code {
    /// Returns the program with something changed.
    pub(crate) fn mutated(&self, mutant: &Mutant) -> Code {
        Code { text: self.text.mutated(mutant), ..self.clone() }
    }
}
