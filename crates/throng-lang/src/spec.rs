//! Nets in mist's `.spec` format: variables hold tokens, rules move them (reference 5).
//!
//! A net becomes a table with one shared state in which tokens are threads. A rule `x>=2, y>=1 ->
//! x'=x-1, z'=z+1` takes `{x, x, y}` and puts `{x, y, z}`: tokens that a guard requires beyond
//! those consumed are taken and put back. All right-hand sides read old values; a variable that
//! flows into another one moves its other tokens along, one that flows nowhere is reset. Upper
//! bounds (`x=0`, `x in [0,3]`) block: only bounded search and views accept those. A variable that
//! is always 0 or 1 and tested for 0 has a complement, so that the test requires a token instead
//! (`complement`). Differences from mist are warned about; see `read`.

mod complement;
mod invariants;
mod lexer;
mod lower;
mod parse;

use crate::patience::Patience;
use crate::source::Diagnostic;
use crate::system::{Findings, System};
use crate::vocabulary::Vocabulary;

/// Options for reading a net, where the format leaves a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A variable that `init` does not mention starts with any number of tokens, as in mist, rather
    /// than none.
    pub init_free: bool,
    /// The names of the settings of a reader in messages.
    pub vocabulary: &'static Vocabulary,
    /// Every target with upper bounds becomes a rule and a place `goal…`, so that no target has a
    /// formula; for formats without formulas.
    pub goals: bool,
}

/// Reads a `.spec` file. There is a system unless there are errors. A file without targets is fine.
///
/// A target with upper bounds is not upward closed. In a plain net with one initial marking it has
/// a formula; else it becomes a rule that puts a token on a fresh place `goal…` when the marking is
/// exactly so, and the target is a token there.
pub fn read(text: &str, options: Options) -> (Option<System>, Vec<Diagnostic>) {
    read_within(text, options, &Patience::default())
}

/// Like [`read`], but returns no system once the patience is over.
pub fn read_within(text: &str, options: Options, patience: &Patience) -> (Option<System>, Vec<Diagnostic>) {
    let mut findings = Findings::within(patience);
    let wanted: Vec<(u32, String)>;
    let system = match parse::parse(text, &mut findings) {
        Some(mut net) => {
            invariants::check(&net, &mut findings);
            wanted = complement::wanted(&net, options.init_free);
            let pairs = complement::complemented(&mut net, &wanted);
            lower::lower(&net, &pairs, options, &mut findings)
        }
        None => None,
    };
    let system = system.filter(|_| !findings.has_errors());
    (system, findings.finish("E499", "W499"))
}

#[cfg(test)]
mod tests;
