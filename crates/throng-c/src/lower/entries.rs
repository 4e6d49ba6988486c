//! The functions in which threads may begin, for those who ask about a file without `main`.

use crate::syntax::ast::{DeclarationSpecifier, Span, StorageClassSpecifier};
use throng_lang::similar::did_you_mean;

use super::linkage::written_name;
use super::{Definition, Lower, Problem};

/// The number of functions that a message lists.
const MOST: usize = 12;

/// The most characters of a function's name and parameters.
const WIDEST: usize = 70;

impl<'a> Lower<'a> {
    /// Reports that a function in which threads should begin is not there, and lists those that are.
    pub(super) fn no_function(&mut self, name: &str) {
        let functions = self.own_functions();
        let names: Vec<&str> = functions.iter().map(|(name, _)| written_name(name)).collect();
        let asked = !self.question.entries.is_empty();
        let meant = did_you_mean(name, names.iter().copied()).filter(|_| asked);
        let hint = meant.or_else(|| match names.first() {
            None => (!asked).then(|| "define `main`, in which a program begins".to_string()),
            Some(first) => Some(format!(
                "name the functions that threads call (on the command line: `--entry {first}`){}; there are\n{}",
                if asked { "" } else { ", or define `main`, which starts them" },
                self.listed(&functions)
            )),
        });
        let message = format!("there is no function `{name}`");
        self.problems.push(Problem { code: "E804", span: Span::none(), message, hint });
    }

    /// Returns the functions with a body in the files of the program, not in headers: first those
    /// that other files can call, in the order of the text.
    fn own_functions(&self) -> Vec<(&str, &Definition<'a>)> {
        let units = &self.prepared.units;
        let is_own = |d: &Definition<'_>| {
            let span = d.node.span;
            let file = self.prepared.origin(span.start, span.start).0;
            let same =
                |unit: &str, file: &str| unit.trim_start_matches("./") == file.trim_start_matches("./");
            file.is_none_or(|file| units.iter().any(|(_, unit)| same(unit, &file)))
        };
        let all = self.definitions.iter().map(|(name, d)| (name.as_str(), d));
        let mut own: Vec<_> = all.filter(|(_, d)| is_own(d)).collect();
        own.sort_by_key(|(_, d)| (is_static(d), d.node.span.start));
        own
    }

    /// Returns a line for each function, with its parameters and where it is.
    fn listed(&self, functions: &[(&str, &Definition<'_>)]) -> String {
        let line = |(_, d): &(&str, &Definition<'_>)| {
            let span = d.node.node.declarator.span;
            let text: Vec<&str> = self.prepared.text[span.start..span.end].split_whitespace().collect();
            let mut text = text.join(" ");
            if text.chars().count() > WIDEST {
                text = text.chars().take(WIDEST).chain("…".chars()).collect();
            }
            let (file, line, ..) = self.prepared.origin(span.start, span.end);
            let place = file.map_or(format!("line {line}"), |file| format!("{file}:{line}"));
            format!("  {}{text}  ({place})", if is_static(d) { "static " } else { "" })
        };
        let mut lines: Vec<String> = functions.iter().take(MOST).map(line).collect();
        if let Some(more @ 1..) = functions.len().checked_sub(MOST) {
            lines.push(format!("  and {more} more"));
        }
        lines.join("\n")
    }
}

fn is_static(definition: &Definition<'_>) -> bool {
    definition.node.node.specifiers.iter().any(
        |s| matches!(&s.node, DeclarationSpecifier::StorageClass(c) if *c == StorageClassSpecifier::Static),
    )
}
