//! Properties about the places of threads, for every input language: sets of places, numbers of
//! threads there, conditions on the variables that a thread sees.
//!
//! All of them are the same question: can distinct threads occur at once, each of which matches a
//! [`Pattern`]? `READ,WRITE` asks for two, a bound of `L=2` for three at `L`. The input language
//! defines places and conditions.

use crate::source::{Diagnostic, Span};
pub use throng_model::property::{Part, Pattern, Property, Together};

/// Maximum number of threads that a bound may allow.
const MOST_THREADS: u32 = 100;

impl From<&Part> for Span {
    fn from(part: &Part) -> Span {
        let range = part.range();
        Span::new(range.start, range.end)
    }
}

/// Returns the error that there is no such place.
pub fn no_such_place(place: &Part) -> Diagnostic {
    let message = format!("`{}` is neither a label nor a line with a statement", place.text);
    Diagnostic::error("E606", place.into(), message)
}

fn wrong(part: &Part, message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("E614", part.into(), message).hint(hint)
}

/// Parses a mutual exclusion. `L`: no two threads at L. `A|B`: no two at these places. `A|B, C`: no
/// thread at A or B while another is at C. Spans of diagnostics are into `text`.
pub fn mutex(text: &str) -> Result<Property, Diagnostic> {
    let hint =
        "write `L`, `A|B` (no two threads in these places) or `A, B` (no thread at A while another is at B)";
    let parts = split(text, 0, ',');
    let mut threads = Vec::new();
    for part in &parts {
        threads.push(Pattern { places: places(part, hint)?, condition: None });
    }
    match threads.len() {
        1 => threads.push(threads[0].clone()),
        2 => {}
        _ => return Err(wrong(&parts[2], "exclusion is between two sets of places".into(), hint)),
    }
    Ok(Property::Mutex(Together { text: text.into(), threads, outside_atomic: true }))
}

/// Parses `L=2` or `A|B=3`: at most this many threads at these places. Spans of diagnostics are
/// into `text`.
pub fn at_most(text: &str) -> Result<Property, Diagnostic> {
    let hint = "write `L=2` or `A|B=3`: places, and how many threads may be there at once";
    let Some((before, number)) = text.rsplit_once('=') else {
        return Err(wrong(&Part::of(text, 0), "how many threads may be there?".into(), hint));
    };
    let number = Part::of(number, before.len() + 1);
    let most = match number.text.parse::<u32>() {
        Ok(most) if most <= MOST_THREADS => most,
        Ok(_) => {
            return Err(wrong(&number, format!("the bound is at most {MOST_THREADS} threads"), hint));
        }
        Err(_) => return Err(wrong(&number, format!("`{}` is not a number", number.text), hint)),
    };
    let pattern = Pattern { places: places(&Part::of(before, 0), hint)?, condition: None };
    let threads = vec![pattern; most as usize + 1];
    Ok(Property::AtMost(Together { text: text.into(), threads, outside_atomic: true }))
}

/// Parses `L & x, M & !y`: threads, each at a place where a condition holds. Spans of diagnostics
/// are into `text`.
pub fn never(text: &str) -> Result<Property, Diagnostic> {
    let hint =
        "write `L & x, M & !y`: for each thread a label or a line, `&`, and a condition on what it sees";
    let mut threads = Vec::new();
    for part in split(text, 0, ',') {
        let (place, condition) = match part.text.split_once('&') {
            None => (part.clone(), None),
            Some((place, condition)) => {
                let begins = part.start + place.len() + 1;
                let also = usize::from(condition.starts_with('&'));
                let condition = Part::of(&condition[also..], begins + also);
                if condition.text.is_empty() {
                    return Err(wrong(&part, "a condition is missing behind `&`".into(), hint));
                }
                (Part::of(place, part.start), Some(condition))
            }
        };
        threads.push(Pattern { places: places(&place, hint)?, condition });
    }
    Ok(Property::Never(Together { text: text.into(), threads, outside_atomic: false }))
}

/// Parses `L`, `L|M` or `wait`: one thread, at one of these places. Spans of diagnostics are into
/// `text`.
pub fn stuck(text: &str) -> Result<Property, Diagnostic> {
    let hint = "write `L`, `L|M` for one of several places, or `wait` for every `wait` of the program";
    let threads = vec![Pattern { places: places(&Part::of(text, 0), hint)?, condition: None }];
    Ok(Property::Stuck(Together { text: text.into(), threads, outside_atomic: false }))
}

/// Parses `L` or `L|M`: one thread, at one of these places. Spans of diagnostics are into `text`.
pub fn starvation(text: &str) -> Result<Property, Diagnostic> {
    let hint = "write `L`, or `L|M` for one of several places";
    let threads = vec![Pattern { places: places(&Part::of(text, 0), hint)?, condition: None }];
    Ok(Property::Starvation(Together { text: text.into(), threads, outside_atomic: false }))
}

/// Parses `A|B`.
fn places(part: &Part, hint: &str) -> Result<Vec<Part>, Diagnostic> {
    let found = split(&part.text, part.start, '|');
    match found.iter().find(|p| p.text.is_empty()) {
        Some(empty) => Err(wrong(empty, "a label or a line is missing".into(), hint)),
        None => Ok(found),
    }
}

/// Returns the parts between these signs, outside of parentheses and brackets.
fn split(text: &str, start: usize, sign: char) -> Vec<Part> {
    let (mut found, mut depth, mut from) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if c == sign && depth <= 0 => {
                found.push(Part::of(&text[from..i], start + from));
                from = i + sign.len_utf8();
            }
            _ => {}
        }
    }
    found.push(Part::of(&text[from..], start + from));
    found
}

/// A question in the input itself, in a comment line `//@ WORD VALUE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The kind of question: `mutex`, `initial`.
    pub word: Part,
    /// The rest of the line.
    pub value: Part,
}

/// Returns the annotations of a text: lines that begin with `//@`, but not inside `/* … */`.
pub fn annotations(text: &str) -> Vec<Annotation> {
    if !text.contains("//@") {
        return Vec::new();
    }
    let (mut found, mut start, mut inside) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        if !inside && let Some(rest) = line.trim_start().strip_prefix("//@") {
            let begins = start + line.len() - rest.len();
            let rest = Part::of(rest, begins);
            let end = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
            let begins = rest.start;
            found.push(Annotation {
                word: Part::of(&rest.text[..end], begins),
                value: Part::of(&rest.text[end..], begins + end),
            });
        }
        inside = ends_inside(line, inside);
        start += line.len();
    }
    found
}

/// Returns whether the end of a line is inside a comment `/* … */`, given whether its beginning is.
fn ends_inside(line: &str, mut inside: bool) -> bool {
    let mut rest = line;
    loop {
        let (sign, other) = if inside { ("*/", None) } else { ("/*", rest.find("//")) };
        match (rest.find(sign), other) {
            (Some(at), other) if other.is_none_or(|o| at < o) => {
                rest = &rest[at + 2..];
                inside = !inside;
            }
            _ => return inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(found: Result<Property, Diagnostic>) -> Vec<(Vec<String>, Option<String>)> {
        let threads = found.unwrap().together().unwrap().threads.clone().into_iter();
        threads
            .map(|t| (t.places.into_iter().map(|p| p.text).collect(), t.condition.map(|c| c.text)))
            .collect()
    }

    #[test]
    fn the_notations_are_read() {
        let at = |names: &[&str]| (names.iter().map(|n| n.to_string()).collect::<Vec<_>>(), None);
        assert_eq!(shape(mutex("W")), [at(&["W"]), at(&["W"])]);
        assert_eq!(shape(mutex(" R | S , W ")), [at(&["R", "S"]), at(&["W"])]);
        assert_eq!(shape(at_most("A|B = 2")), vec![at(&["A", "B"]); 3]);
        let with = |name: &str, c: &str| (vec![name.to_string()], Some(c.to_string()));
        assert_eq!(
            shape(never("L & (x, y) | z, line 7 && !y,M")),
            [with("L", "(x, y) | z"), with("line 7", "!y"), at(&["M"])]
        );
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        type Read = fn(&str) -> Result<Property, Diagnostic>;
        let cases: [(&str, Read, &str); 6] = [
            ("A,B,C", mutex, "C"),
            ("A,,B", mutex, ""),
            ("L", at_most, "L"),
            ("L=x", at_most, "x"),
            ("L=1000", at_most, "1000"),
            ("L & ", never, "L &"),
        ];
        for (text, read, under) in cases {
            let why = read(text).unwrap_err();
            assert_eq!(&text[why.span.unwrap().range()], under, "{text}");
        }
    }

    #[test]
    fn equal_patterns_do_not_swap() {
        let same = mutex("A").unwrap().together().unwrap().clone();
        let pairs = same.choices(&[vec![1, 2, 3], vec![1, 2, 3]], 100).unwrap();
        assert_eq!(pairs, [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]]);
        let other = mutex("A,B").unwrap().together().unwrap().clone();
        assert_eq!(other.choices(&[vec![1, 2], vec![3]], 100).unwrap(), [[1, 3], [2, 3]]);
        assert!(same.choices(&[vec![1, 2, 3], vec![1, 2, 3]], 5).is_none());
        assert!(same.choices(&[vec![1], Vec::new()], 5).unwrap().is_empty());
    }

    #[test]
    fn questions_in_comments_are_found() {
        let text =
            "//@ mutex A, B\n/* \n//@ deadlock\n*/ decl x; // /*\n  //@deadlock\nx //@ no\n//@ initial any";
        let found = annotations(text);
        let words: Vec<(&str, &str)> =
            found.iter().map(|a| (a.word.text.as_str(), a.value.text.as_str())).collect();
        assert_eq!(words, [("mutex", "A, B"), ("deadlock", ""), ("initial", "any")]);
        for a in &found {
            assert_eq!(&text[a.value.range()], a.value.text);
            assert_eq!(&text[a.word.range()], a.word.text);
        }
    }
}
