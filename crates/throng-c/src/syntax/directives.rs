//! Pragmas: `#pragma pack`, which belongs to structures, and others, which stand in the tree.

use super::ast::Span;
use super::{Errors, SyntaxError};

/// The pragmas of a text.
#[derive(Default)]
pub(super) struct Pragmas {
    /// Those other than `pack`: the index of the token that follows, the text, its place.
    others: Vec<(usize, String, Span)>,
    /// The index of the first token for which a limit on alignment holds, and the limit.
    packs: Vec<(usize, Option<u64>)>,
    /// The stack of `#pragma pack`: names and limits.
    pushed: Vec<(String, Option<u64>)>,
}

impl Pragmas {
    /// Takes note of a pragma before the token with an index.
    pub(super) fn add(&mut self, token: usize, text: &str, span: Span, errors: &mut Errors) {
        match text.strip_prefix("pack").map(str::trim_start) {
            Some(arguments) if arguments.starts_with('(') => {
                if !self.pack(token, arguments) {
                    let message = format!("`#pragma {text}` is not a form that is known");
                    errors.add(SyntaxError::new(span, message));
                }
            }
            _ => self.others.push((token, text.to_string(), span)),
        }
    }

    /// Returns the limit on alignment that holds at a token.
    pub(super) fn pack_at(&self, token: usize) -> Option<u64> {
        let after = self.packs.partition_point(|p| p.0 <= token);
        after.checked_sub(1).and_then(|i| self.packs[i].1)
    }

    /// Returns the pragma with an index if it stands before a token.
    pub(super) fn before(&self, index: usize, token: usize) -> Option<(&str, Span)> {
        self.others.get(index).filter(|p| p.0 <= token).map(|p| (p.1.as_str(), p.2))
    }

    /// `#pragma pack` with its arguments in brackets; returns whether they are understood.
    fn pack(&mut self, token: usize, arguments: &str) -> bool {
        let Some(inner) = arguments[1..].split(')').next() else { return false };
        let words: Vec<&str> = inner.split(',').map(str::trim).collect();
        let now = self.packs.last().and_then(|p| p.1);
        let limit = match words[..] {
            [""] => None,
            ["push", ..] => {
                let (names, numbers): (Vec<&str>, Vec<&str>) =
                    words[1..].iter().partition(|w| limit(w).is_none());
                if names.len() > 1 || numbers.len() > 1 || names.iter().any(|n| !is_name(n)) {
                    return false;
                }
                self.pushed.push((names.concat(), now));
                numbers.first().and_then(|n| limit(n)).unwrap_or(now)
            }
            ["pop"] => self.pushed.pop().map_or(now, |p| p.1),
            ["pop", name] if is_name(name) => match self.pushed.iter().rposition(|p| p.0 == name) {
                Some(found) => self.pushed.drain(found..).next().map_or(now, |p| p.1),
                // Compilers differ.
                None => return false,
            },
            [number] => match limit(number) {
                Some(limit) => limit,
                None => return false,
            },
            _ => return false,
        };
        self.packs.push((token, limit));
        true
    }
}

/// Returns the limit that a number sets, if it is one that compilers take; zero sets none.
fn limit(word: &str) -> Option<Option<u64>> {
    match word.parse() {
        Ok(0) => Some(None),
        Ok(n @ (1 | 2 | 4 | 8 | 16)) => Some(Some(n)),
        _ => None,
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
