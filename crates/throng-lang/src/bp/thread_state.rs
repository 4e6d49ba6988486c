//! Thread states of a program as text: `x=1 n=3 | L: a=1, M` means that the shared variables x and
//! n are 1 and 3, one thread is at label L and its variable a is 1, and another is at label M.
//! Other variables may have any value.

use super::expr::{Cube, ONE, ZERO};
use super::program::Program;
use super::types::Group;
use crate::similar::did_you_mean;
use crate::source::{Diagnostic, Span};
use throng_model::{Bag, Local};

/// A shared state and threads, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadStates {
    /// Shared variables and their values.
    pub shared: Vec<Value>,
    /// The threads.
    pub threads: Vec<Thread>,
}

/// The place of a thread, and its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// A label, or the number of a line.
    pub place: String,
    /// Its variables, as visible there, and their values.
    pub values: Vec<Value>,
    span: Span,
}

/// A variable and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The variable.
    pub name: String,
    /// Its value: 0 or 1, a number, or a value of an enumeration.
    pub value: String,
    span: Span,
}

/// Some bits and their values.
type Bits = Vec<(usize, bool)>;

/// A part of a text and its offset.
#[derive(Clone, Copy)]
struct Part<'t>(&'t str, usize);

impl<'t> Part<'t> {
    fn trimmed(self) -> Part<'t> {
        Part(self.0.trim(), self.1 + self.0.len() - self.0.trim_start().len())
    }

    fn span(self) -> Span {
        Span::new(self.1, self.1 + self.0.len())
    }

    fn cut(self, at: usize, skip: usize) -> (Part<'t>, Part<'t>) {
        (Part(&self.0[..at], self.1).trimmed(), Part(&self.0[at + skip..], self.1 + at + skip).trimmed())
    }

    /// Returns the parts before and after the first such character.
    fn split(self, sign: char) -> Option<(Part<'t>, Part<'t>)> {
        self.0.find(sign).map(|at| self.cut(at, sign.len_utf8()))
    }
}

fn wrong(part: Part<'_>, message: String) -> Diagnostic {
    Diagnostic::error("E611", part.span(), message)
        .hint("write `x=1 n=3 | L: a=1, M`: shared variables, `|`, then for each thread a label or a line, and its variables")
}

impl ThreadStates {
    /// Parses thread states; spans of diagnostics are into `text`.
    pub fn parse(text: &str) -> Result<ThreadStates, Diagnostic> {
        let whole = Part(text, 0).trimmed();
        let Some((shared, mut rest)) = whole.split('|') else {
            return Err(wrong(whole, "a target of a program has a `|` behind its shared variables".into()));
        };
        let mut found = ThreadStates { shared: values(shared)?, threads: Vec::new() };
        while !rest.0.is_empty() {
            let (thread, more) = rest.split(',').unwrap_or((rest, Part("", 0)));
            let (place, of) = thread.split(':').unwrap_or((thread, Part("", 0)));
            if place.0.is_empty() || place.0.contains('=') {
                return Err(wrong(thread, "where is this thread?".into()));
            }
            found.threads.push(Thread { place: place.0.into(), values: values(of)?, span: place.span() });
            rest = more;
        }
        Ok(found)
    }

    /// Returns whether variables of threads are mentioned: then every value has to be kept, see
    /// [`super::Options::exact_copies`].
    pub fn mentions_locals(&self) -> bool {
        self.threads.iter().any(|t| !t.values.is_empty())
    }
}

/// Parses `x=1 y=0`.
fn values(list: Part<'_>) -> Result<Vec<Value>, Diagnostic> {
    let mut found = Vec::new();
    let mut rest = list;
    while !rest.0.is_empty() {
        let end = rest.0.find(char::is_whitespace).unwrap_or(rest.0.len());
        let (word, more) = rest.cut(end, 0);
        let value = word.0.rsplit_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let Some((name, value)) = value else {
            return Err(wrong(word, format!("`{}` is not a value of a variable", word.0)));
        };
        found.push(Value { name: name.into(), value: value.into(), span: word.span() });
        rest = more;
    }
    Ok(found)
}

impl Thread {
    /// Returns the error that there is no such place; the hint may suggest one of these labels.
    pub fn no_such_place<'a>(&self, labels: impl IntoIterator<Item = &'a String>) -> Diagnostic {
        let message = format!("`{}` is neither a label nor a line with a statement", self.place);
        let hint = did_you_mean(&self.place, labels.into_iter().map(String::as_str));
        Diagnostic { hint, ..Diagnostic::error("E606", self.span, message) }
    }

    /// Returns the line, if the place is given as one.
    pub fn line(&self) -> Option<u32> {
        self.place.strip_prefix("line").unwrap_or(&self.place).trim().parse().ok()
    }
}

impl Value {
    /// Returns the bits that the value fixes: one list, or several if a value has several patterns
    /// of bits. Bits are numbered by `names`.
    fn bit_patterns(&self, names: &[&str], groups: &[&Group]) -> Result<Vec<Bits>, Diagnostic> {
        let place = |bit: &str| names.iter().position(|name| *name == bit);
        let no_value = |hint: String| {
            let message = format!("`{}` has no value `{}`", self.name, self.value);
            Err(Diagnostic::error("E611", self.span, message).hint(hint))
        };
        if let Some(i) = place(&self.name) {
            return match self.value.as_str() {
                "0" => Ok(vec![vec![(i, false)]]),
                "1" => Ok(vec![vec![(i, true)]]),
                _ => no_value("it is 0 or 1".into()),
            };
        }
        let Some(group) = groups.iter().find(|group| group.name == self.name) else {
            let message = format!("there is no variable `{}` here", self.name);
            let known = groups.iter().map(|g| g.name.as_str()).chain(names.iter().copied());
            let mut error = Diagnostic::error("E612", self.span, message);
            error.hint = did_you_mean(&self.name, known);
            return Err(error);
        };
        let bits: Vec<usize> = group.bits.iter().filter_map(|bit| place(bit)).collect();
        let patterns = (0..1u64 << bits.len()).map(|code| move |k: usize| code >> k & 1 == 1);
        let shown = patterns.filter(|bit| group.ty.show((0..bits.len()).map(bit)) == self.value);
        let ways: Vec<Bits> =
            shown.map(|bit| bits.iter().enumerate().map(|(k, &i)| (i, bit(k))).collect()).collect();
        if ways.is_empty() {
            no_value(format!("its values are {}", group.ty.values_text()))
        } else {
            Ok(ways)
        }
    }
}

/// Returns the cubes within `base` in which variables have these values. Variables are numbered by
/// `names`; `slot` maps a variable to its position in the cube.
pub fn constrained(
    base: &Cube,
    values: &[Value],
    names: &[&str],
    groups: &[&Group],
    slot: &dyn Fn(usize) -> usize,
) -> Result<Vec<Cube>, Diagnostic> {
    let mut found = vec![base.clone()];
    for value in values {
        let ways = value.bit_patterns(names, groups)?;
        let mut next = Vec::new();
        for cube in &found {
            for way in &ways {
                let mut cube = cube.clone();
                let mut possible = true;
                for &(i, is_one) in way {
                    let mask = &mut cube[slot(i)];
                    *mask &= if is_one { ONE } else { ZERO };
                    possible &= *mask != 0;
                }
                if possible {
                    next.push(cube);
                }
            }
        }
        found = next;
    }
    Ok(found)
}

/// Returns the slots of the variables that are visible at a point, by name: those of its function
/// hide the thread-local ones.
pub(super) fn visible(program: &Program, point: u32) -> Vec<(&str, usize)> {
    let instance = &program.instances[program.points[point as usize].instance];
    let own = program.functions[instance.function].variables.iter();
    let own = own.enumerate().map(|(k, v)| (v.name.as_str(), instance.base + k));
    own.chain(program.thread_locals.iter().enumerate().map(|(k, v)| (v.name.as_str(), k))).collect()
}

/// Returns each of the bags with one more thread, in each of these states.
pub fn with_each(bags: &[Bag], locals: &[Local]) -> Vec<Bag> {
    let with = |bag: &Bag, l: Local| {
        let mut bag = bag.clone();
        bag.insert(l, 1);
        bag
    };
    bags.iter().flat_map(|bag| locals.iter().map(move |&l| with(bag, l))).collect()
}

/// Returns all ways to choose one of each list; `None` if there are more than 4096.
pub fn choices(of: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
    const MOST: usize = 1 << 12;
    let ways = of.iter().try_fold(1usize, |n, list| n.checked_mul(list.len()).filter(|&n| n <= MOST));
    ways?;
    let one_more = |found: Vec<Vec<u32>>, list: &Vec<u32>| {
        found.iter().flat_map(|chosen| list.iter().map(move |&p| [&chosen[..], &[p]].concat())).collect()
    };
    Some(of.iter().fold(vec![Vec::new()], one_more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_is_read() {
        let found = ThreadStates::parse(" x=1  y=0 | L: a=1 {b==2}=0, line 7 ,12").unwrap();
        let values = |of: &[Value]| of.iter().map(|v| format!("{}={}", v.name, v.value)).collect::<Vec<_>>();
        assert_eq!(values(&found.shared), ["x=1", "y=0"]);
        let places: Vec<&str> = found.threads.iter().map(|t| t.place.as_str()).collect();
        assert_eq!(places, ["L", "line 7", "12"]);
        assert_eq!(values(&found.threads[0].values), ["a=1", "{b==2}=0"]);
        assert_eq!((found.threads[0].line(), found.threads[1].line()), (None, Some(7)));
        assert_eq!(ThreadStates::parse("|").unwrap(), ThreadStates { shared: vec![], threads: vec![] });
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (text, under) in [
            ("x=1", "x=1"),
            ("x= | L", "x="),
            ("x | L", "x"),
            ("x=1 | a=1", "a=1"),
            ("| L: =1", "=1"),
            ("| ,L", ""),
        ] {
            let why = ThreadStates::parse(text).unwrap_err();
            assert_eq!(&text[why.span.unwrap().range()], under, "{text}");
        }
    }
}
