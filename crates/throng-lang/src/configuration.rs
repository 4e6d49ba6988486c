//! BFC's notation for configurations: `s|l,l/u,u` is shared state s, threads in l and l, any number
//! of threads in u and in u (reference 7).
//!
//! Initial configurations, targets and property files all use it. Positions in messages count from
//! the start of the given text.

use crate::source::{Diagnostic, Severity, Span};
use crate::system::Findings;
use throng_model::problem::{Initial, Target};
use throng_model::table::Names;
use throng_model::{Config, Local, Shared};

/// Reads an initial configuration: `s|l,l/u,u`, `s/u`, or the words `unbounded` (`0/0`) and
/// `single` (`0|0`).
///
/// Where states are numbers, `B` and `U` may stand for `|` and `/` (shells dislike `|`).
pub fn parse_config(text: &str, shared: &Names, locals: &Names) -> Result<Initial, Diagnostic> {
    match text.trim() {
        "unbounded" => configuration(&format!("{}/{}", shared.name(0), locals.name(0)), shared, locals),
        "single" => configuration(&format!("{}|{}", shared.name(0), locals.name(0)), shared, locals),
        _ => configuration(text, shared, locals),
    }
}

fn configuration(text: &str, shared: &Names, locals: &Names) -> Result<Initial, Diagnostic> {
    let letters = matches!((shared, locals), (Names::Numbers(_), Names::Numbers(_)));
    let is_bar = |c: char| c == '|' || letters && c == 'B';
    let is_slash = |c: char| c == '/' || letters && c == 'U';
    let whole = trimmed(text, 0);
    let Some(first) = text.find(|c| is_bar(c) || is_slash(c)) else {
        let message = format!("`{}` is not a configuration", shortened(text.trim()));
        return Err(Diagnostic::error("E651", whole.1, message)
            .label("expected `s|l,l`, or `s/l` for any number of threads in l"));
    };
    let slash = text[first..].find(is_slash).map_or(text.len(), |i| first + i);
    let head = trimmed(&text[..first], 0);
    let exact_from = text.len().min(first + 1).min(slash);
    let exact = &text[exact_from..slash];
    let mut found = Initial {
        shared: Shared(state(head, shared, "shared", letters)?),
        threads: Default::default(),
        any: Vec::new(),
    };
    for piece in pieces(exact, exact_from)? {
        found.threads.insert(Local(state(piece, locals, "local", letters)?), 1);
    }
    if slash < text.len() {
        let many = pieces(&text[slash + 1..], slash + 1)?;
        if many.is_empty() {
            let at = Span::new(slash, slash + 1);
            return Err(Diagnostic::error("E651", at, "nothing follows `/`")
                .label("expected a local state after this"));
        }
        for piece in many {
            found.any.push(Local(state(piece, locals, "local", letters)?));
        }
        found.any.sort_unstable();
        found.any.dedup();
    }
    Ok(found)
}

/// Reads a target `s|l,l`; `s|` constrains the shared state only.
pub fn parse_target(text: &str, shared: &Names, locals: &Names) -> Result<Target, Diagnostic> {
    let found = configuration(text, shared, locals)?;
    if !found.any.is_empty() {
        let span = trimmed(text, 0).1;
        return Err(Diagnostic::error("E653", span, "a target cannot ask for any number of threads")
            .label("expected `s|l,l`")
            .hint("`s|l` is met by every configuration with at least one thread in l"));
    }
    Ok(Target::covering(normalised(text), vec![Config::new(found.shared, found.threads)]))
}

/// The code of errors about a number that is too large for a state.
const OUT_OF_RANGE: &str = "E655";

/// Returns a text with single blanks.
fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a property file: one target per line; `#` starts a comment. A target with a number that is
/// not a state is unreachable and gives a warning.
pub fn read_prop(text: &str, shared: &Names, locals: &Names) -> (Vec<Target>, Vec<Diagnostic>) {
    let (mut targets, mut findings) = (Vec::new(), Findings::default());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.split('#').next().unwrap_or_default();
        if !content.trim().is_empty() {
            match parse_target(content, shared, locals) {
                Ok(target) => targets.push(target),
                // As in BFC: a state that does not exist is unreachable.
                Err(d) if d.code == OUT_OF_RANGE => {
                    let message = format!("{}: this target cannot be reached", d.message);
                    let warning = Diagnostic { severity: Severity::Warning, code: "W611", message, ..d };
                    findings.push(shifted(warning, at));
                    targets.push(Target::covering(normalised(content), Vec::new()));
                }
                Err(d) => findings.push(shifted(d, at)),
            }
        }
        at += line.len();
        if findings.full() {
            break;
        }
    }
    (targets, findings.finish("E699", "W699"))
}

/// Returns the diagnostic about a text that starts at byte `by`.
pub(crate) fn shifted(mut diagnostic: Diagnostic, by: usize) -> Diagnostic {
    diagnostic.span = diagnostic.span.map(|s| Span::new(s.start as usize + by, s.end as usize + by));
    diagnostic
}

/// Returns a part of the text without blanks around it, and its span.
fn trimmed(text: &str, at: usize) -> (&str, Span) {
    let start = at + (text.len() - text.trim_start().len());
    let word = text.trim();
    (word, Span::new(start, start + word.len()))
}

/// Returns the parts between commas; none if the list is blank.
fn pieces(list: &str, at: usize) -> Result<Vec<(&str, Span)>, Diagnostic> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut start = at;
    for part in list.split(',') {
        let piece = trimmed(part, start);
        if piece.0.is_empty() {
            let here = Span::new(start, start + part.len());
            return Err(Diagnostic::error("E651", here, "a local state is missing between commas")
                .label("expected a local state"));
        }
        found.push(piece);
        start += part.len() + 1;
    }
    Ok(found)
}

/// Returns the index of a state.
fn state(
    (word, span): (&str, Span),
    names: &Names,
    which: &str,
    only_numbers: bool,
) -> Result<u64, Diagnostic> {
    let expected =
        |message: String| Diagnostic::error("E651", span, message).label(format!("expected a {which} state"));
    match names {
        Names::List(list) => {
            let found = list.iter().position(|name| name == word);
            found.map(|i| i as u64).ok_or_else(|| match word {
                "" => expected(format!("the {which} state is missing")),
                _ => Diagnostic::error("E652", span, format!("there is no {which} state `{word}`"))
                    .label(format!("expected one of the {} {which} states", list.len())),
            })
        }
        // A net has one shared state; its number may be omitted.
        Names::Numbers(1) if word.is_empty() && !only_numbers => Ok(0),
        Names::Numbers(n) => {
            if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()) {
                return Err(expected(match word {
                    "" => format!("the {which} state is missing"),
                    _ => format!("`{}` is not a number", shortened(word)),
                }));
            }
            match word.parse::<u64>() {
                Err(_) => Err(Diagnostic::error("E654", span, "this number does not fit into 64 bits")),
                Ok(i) if i >= *n => Err(out_of_range(OUT_OF_RANGE, span, which, i, *n)),
                Ok(i) => Ok(i),
            }
        }
    }
}

/// Returns the error "shared state 7 is out of range".
pub(crate) fn out_of_range(code: &'static str, span: Span, which: &str, i: u64, n: u64) -> Diagnostic {
    Diagnostic::error(code, span, format!("{which} state {i} is out of range"))
        .label(format!("expected 0 to {}", n.saturating_sub(1)))
}

/// Returns at most forty characters of a word, for messages.
pub(crate) fn shortened(word: &str) -> String {
    if word.chars().count() <= 40 {
        return word.to_string();
    }
    word.chars().take(40).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::notation;

    fn read(text: &str) -> Result<String, (String, u32)> {
        let names = Names::Numbers(5);
        match parse_config(text, &names, &names) {
            Ok(initial) => Ok(notation(&initial, &names, &names)),
            Err(d) => Err((format!("{} {}", d.code, d.message), d.span.map_or(99, |s| s.start))),
        }
    }

    #[test]
    fn notation_is_read() {
        for (text, canonical) in [
            ("0/0", "0/0"),
            ("0|0", "0|0"),
            (" 1 | 2 , 2 / 4,3 ", "1|2,2/3,4"),
            ("3|", "3|"),
            ("0BU0,4", "0/0,4"),
            ("0B1U2", "0|1/2"),
            ("unbounded", "0/0"),
            ("single", "0|0"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(canonical), "{text}");
        }
    }

    #[test]
    fn wrong_notation_is_refused_where_it_is_wrong() {
        for (text, message, at) in [
            ("4", "E651 `4` is not a configuration", 0),
            ("", "E651 `` is not a configuration", 0),
            ("|1", "E651 the shared state is missing", 0),
            ("0|1,,2", "E651 a local state is missing between commas", 4),
            ("0|5", "E655 local state 5 is out of range", 2),
            ("5|1", "E655 shared state 5 is out of range", 0),
            ("0|99999999999999999999", "E654 this number does not fit into 64 bits", 2),
            ("0/", "E651 nothing follows `/`", 1),
            ("0|1|2", "E651 `1|2` is not a number", 2),
            ("x|1", "E651 `x` is not a number", 0),
        ] {
            assert_eq!(read(text), Err((message.to_string(), at)), "{text}");
        }
    }

    #[test]
    fn names_are_looked_up() {
        let (shared, locals) = (Names::Numbers(1), Names::List(vec!["x".into(), "y".into()]));
        let target = parse_target("0|y,y", &shared, &locals).unwrap();
        assert_eq!(target.configs[0].threads.count(Local(1)), 2);
        assert!(parse_target("|x", &shared, &locals).is_ok(), "a net's shared state may be left out");
        assert_eq!(parse_target("0|z", &shared, &locals).unwrap_err().code, "E652");
        assert_eq!(parse_target("0/x", &shared, &locals).unwrap_err().code, "E653");
    }

    #[test]
    fn a_property_file_has_a_target_per_line() {
        let names = Names::Numbers(5);
        let (targets, findings) = read_prop("# two\n1|2,2\r\n\n3|  # shared only\n", &names, &names);
        assert_eq!(findings, []);
        assert_eq!(targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["1|2,2", "3|"]);
        let (targets, findings) = read_prop("1|9\n1|1\nx\n", &names, &names);
        assert_eq!(findings.iter().map(|d| d.code).collect::<Vec<_>>(), ["W611", "E651"]);
        assert_eq!(findings[1].span, Some(Span::new(8, 9)));
        assert_eq!((targets[0].name.as_str(), targets[0].configs.len()), ("1|9", 0));
        assert_eq!((targets.len(), targets[1].configs.len()), (2, 1));
    }
}
