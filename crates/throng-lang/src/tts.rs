//! Thread-transition systems with numbered states (`.tts`, `.ttd`), as BFC reads and SATABS writes
//! them (reference 3).
//!
//! Files have up to millions of lines and declare more states than they use: reading is one pass
//! over the bytes, and nothing is kept per declared state. After an error reading continues with
//! the next line.

use std::sync::Arc;

use crate::configuration::{out_of_range, shifted};
pub use crate::configuration::{parse_config, parse_target, read_prop};
use crate::patience::Patience;
use crate::source::{Diagnostic, Span};
use crate::system::{Findings, Kind, System};
use throng_model::table::{Fate, Names, Table, thread_step};
use throng_model::{Bag, Local, Step};

/// Reads a `.tts` file. There is a system unless there are errors.
///
/// The initial configuration is BFC's default `0/0`: shared state 0, any number of threads in local
/// state 0.
pub fn read(text: &str) -> (Option<System>, Vec<Diagnostic>) {
    read_within(text, &Patience::default())
}

/// Like [`read`], but returns no system once the patience is over.
pub fn read_within(text: &str, patience: &Patience) -> (Option<System>, Vec<Diagnostic>) {
    let mut reader = Reader {
        header: Vec::new(),
        table: Table::default(),
        targets: Vec::new(),
        findings: Findings::within(patience),
    };
    let (mut at, mut number) = (0, 0);
    for line in text.split_inclusive('\n') {
        number += 1;
        let end = at + memchr(line.as_bytes(), b'#').unwrap_or(line.len());
        if let Err(d) = reader.line(Cursor { text, at, end }, number) {
            reader.findings.push(d);
        }
        at += line.len();
        if reader.findings.full() || reader.header.len() < 2 && reader.findings.has_errors() {
            break; // without the header, every line would be wrong
        }
    }
    reader.finish(text.len())
}

struct Reader {
    header: Vec<u64>,
    table: Table,
    targets: Vec<throng_model::problem::Target>,
    findings: Findings,
}

impl Reader {
    fn line(&mut self, mut cursor: Cursor<'_>, number: u32) -> Result<(), Diagnostic> {
        while self.header.len() < 2 {
            let Some((token, span)) = cursor.next() else { return Ok(()) };
            self.header(token, span, cursor.text)?;
        }
        cursor.skip_blanks();
        let start = cursor.at;
        let Some((first, span)) = cursor.next() else { return Ok(()) };
        let s = cursor.number(first, span, "a shared state")?;
        let after = cursor.at;
        match cursor.next() {
            Some((Token::Number(_), _)) => {
                cursor.at = after;
                self.edge(cursor, (s, span), number)
            }
            _ => {
                let config = &cursor.text[start..cursor.end];
                if !config.contains(['|', '/', 'B', 'U']) {
                    let whole = Span::new(start, start + config.trim_end().len());
                    return Err(Diagnostic::error("E303", whole, "this is neither an edge nor a target")
                        .label("expected `s l -> s' l'` or `s|l,l`"));
                }
                let target = parse_target(config, self.table.shared(), self.table.locals());
                self.targets.push(target.map_err(|d| shifted(d, start))?);
                Ok(())
            }
        }
    }

    /// Reads one of the first two numbers: how many shared and local states there are.
    fn header(&mut self, token: Token, span: Span, text: &str) -> Result<(), Diagnostic> {
        let which = ["shared", "local"][self.header.len()];
        let Token::Number(n) = token else {
            return Err(Diagnostic::error("E301", span, "the file must begin with two numbers")
                .label(format!("expected the number of {which} states")));
        };
        let n = n.ok_or_else(|| too_large(span))?;
        if n == 0 {
            return Err(Diagnostic::error("E302", span, format!("there must be at least one {which} state")));
        }
        self.header.push(n);
        if let [shared, locals] = self.header[..] {
            self.table = Table::of_source(Names::Numbers(shared), Names::Numbers(locals), text, 16);
        }
        Ok(())
    }

    /// Parses `l ARROW s' l' { p ~> q }`, after the first number.
    fn edge(&mut self, mut cursor: Cursor<'_>, first: (u64, Span), line: u32) -> Result<(), Diagnostic> {
        let s = self.in_range(0, first)?;
        let l = self.state(&mut cursor, 1)?;
        let arrow = cursor.arrow(|_| true, "`->`, `+>` or `~>`")?;
        let to = self.state(&mut cursor, 0)?;
        let m = self.state(&mut cursor, 1)?;
        let mut fates = Vec::new();
        while let Some((token, span)) = cursor.next() {
            if arrow != Arrow::Move {
                return Err(Diagnostic::error("E304", span, "only `->` can move other threads along")
                    .label("expected the end of the line"));
            }
            let p = self.in_range(1, (cursor.number(token, span, "a local state")?, span))?;
            cursor.arrow(|arrow| arrow == Arrow::All, "`~>`")?;
            fates.push((Local(p), Fate::To(Local(self.state(&mut cursor, 1)?))));
        }
        let step = thread_step(s, l, to, m);
        let step = match arrow {
            Arrow::Move if (s, l) == (to, m) && fates.is_empty() => return Ok(()),
            Arrow::Move => step,
            Arrow::Spawn => Step { put: step.take.clone(), spawn: step.put, ..step },
            Arrow::All if (s, l) == (to, m) => return Ok(()),
            Arrow::All => {
                if l != m {
                    fates.push((Local(l), Fate::To(Local(m))));
                }
                Step { take: Bag::new(), put: Bag::new(), ..step }
            }
        };
        self.table.add_at(step, fates, line, first.1.start..cursor.end as u32);
        Ok(())
    }

    fn state(&self, cursor: &mut Cursor<'_>, which: usize) -> Result<u64, Diagnostic> {
        let what = ["a shared state", "a local state"][which];
        let Some((token, span)) = cursor.next() else { return Err(cursor.expected(what)) };
        let number = cursor.number(token, span, what)?;
        self.in_range(which, (number, span))
    }

    fn in_range(&self, which: usize, (i, span): (u64, Span)) -> Result<u64, Diagnostic> {
        let n = self.header[which];
        if i < n { Ok(i) } else { Err(out_of_range("E305", span, ["shared", "local"][which], i, n)) }
    }

    fn finish(mut self, length: usize) -> (Option<System>, Vec<Diagnostic>) {
        if self.header.len() < 2 && !self.findings.has_errors() {
            let end = Span::new(length, length);
            self.findings.push(
                Diagnostic::error("E301", end, "the file must begin with two numbers")
                    .label("expected the numbers of shared and of local states"),
            );
        }
        if self.findings.has_errors() {
            return (None, self.findings.finish("E399", "W399"));
        }
        let initial = parse_config("0/0", self.table.shared(), self.table.locals());
        let system = System {
            table: Arc::new(self.table),
            initial: initial.into_iter().collect(),
            initial_text: "0/0: any number of threads in local state 0, shared state 0".into(),
            targets: self.targets,
            kind: Kind::Tts,
            complements: Vec::new(),
            meanings: Vec::new(),
        };
        (Some(system), self.findings.finish("E399", "W399"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrow {
    /// `->`
    Move,
    /// `+>`
    Spawn,
    /// `~>`
    All,
}

enum Token {
    /// A number; `None` if it is too large.
    Number(Option<u64>),
    Arrow(Arrow),
    Other,
}

/// The tokens of one line.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl Cursor<'_> {
    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < self.end && bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<(Token, Span)> {
        self.skip_blanks();
        let (start, bytes) = (self.at, &self.text.as_bytes()[..self.end]);
        let first = *bytes.get(start)?;
        let token = match (first, bytes.get(start + 1)) {
            (b'0'..=b'9', _) => Token::Number(self.digits()),
            (b'-', Some(b'>')) => Token::Arrow(Arrow::Move),
            (b'+', Some(b'>')) => Token::Arrow(Arrow::Spawn),
            (b'~', Some(b'>')) => Token::Arrow(Arrow::All),
            _ => Token::Other,
        };
        match token {
            Token::Number(_) => {}
            Token::Arrow(_) => self.at += 2,
            Token::Other => self.at += self.text[start..].chars().next().map_or(1, char::len_utf8),
        }
        Some((token, Span::new(start, self.at)))
    }

    fn digits(&mut self) -> Option<u64> {
        let bytes = self.text.as_bytes();
        let mut value = Some(0u64);
        while self.at < self.end && bytes[self.at].is_ascii_digit() {
            let digit = u64::from(bytes[self.at] - b'0');
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(digit));
            self.at += 1;
        }
        value
    }

    fn number(&self, token: Token, span: Span, what: &str) -> Result<u64, Diagnostic> {
        match token {
            Token::Number(Some(n)) => Ok(n),
            Token::Number(None) => Err(too_large(span)),
            Token::Arrow(_) | Token::Other => {
                let found = &self.text[span.range()];
                Err(Diagnostic::error("E303", span, format!("unexpected `{found}`"))
                    .label(format!("expected {what}")))
            }
        }
    }

    fn arrow(&mut self, accept: impl Fn(Arrow) -> bool, what: &str) -> Result<Arrow, Diagnostic> {
        let before = self.at;
        match self.next() {
            Some((Token::Arrow(arrow), _)) if accept(arrow) => Ok(arrow),
            _ => {
                self.at = before;
                Err(self.expected(what))
            }
        }
    }

    /// Returns the error that the next token is wrong, or missing.
    fn expected(&mut self, what: &str) -> Diagnostic {
        let end = self.text[..self.at].trim_end().len();
        let (message, span) = match self.next() {
            None => ("the line ends too early".to_string(), Span::new(end, end)),
            Some((_, span)) => (format!("unexpected `{}`", &self.text[span.range()]), span),
        };
        Diagnostic::error("E303", span, message).label(format!("expected {what}"))
    }
}

fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error("E306", span, "this number does not fit into 64 bits")
}

fn memchr(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|&b| b == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::problem::Initial;
    use throng_model::{Config, Shared};

    fn good(text: &str) -> System {
        let (system, findings) = read(text);
        assert_eq!(findings, [], "{text}");
        system.unwrap()
    }

    fn steps(text: &str) -> Vec<Step> {
        good(text).table.steps().to_vec()
    }

    /// Returns code, message and the underlined text of each error.
    fn errors(text: &str) -> Vec<(String, String)> {
        let (system, findings) = read(text);
        assert!(system.is_none(), "{text}");
        let line = |d: &Diagnostic| format!("{} {}: {}", d.code, d.message, d.label);
        findings.iter().map(|d| (line(d), text[d.span.map_or(0..0, Span::range)].to_string())).collect()
    }

    fn bag(ls: &[u64]) -> Bag {
        ls.iter().map(|&l| Local(l)).collect()
    }

    #[test]
    fn the_worked_example_is_read() {
        let system = good("# winner\n3 4\n0 0 +> 1 1\n1 0 -> 0 0 # ready\n0 1 -> 2 2  1 ~> 3\n2|2,3\n");
        let table = &system.table;
        assert_eq!((table.shared(), table.locals()), (&Names::Numbers(3), &Names::Numbers(4)));
        let [spawn, ready, win] = table.steps() else { panic!("three edges") };
        assert_eq!((&spawn.take, &spawn.put, &spawn.spawn), (&bag(&[0]), &bag(&[0]), &bag(&[1])));
        assert_eq!((ready.from, ready.to, &ready.put), (Shared(1), Shared(0), &bag(&[0])));
        assert_eq!(table.fates(win.edge), [(Local(1), Fate::To(Local(3)))]);
        assert_eq!(system.targets[0].configs, [Config::new(Shared(2), bag(&[2, 3]))]);
        assert_eq!(system.initial, [Initial { shared: Shared(0), threads: Bag::new(), any: vec![Local(0)] }]);
        let place = throng_model::Describe::edge_place(&**table, ready.edge);
        assert_eq!((place.line, place.text.as_str()), (4, "1 0 -> 0 0"));
    }

    #[test]
    fn tabs_carriage_returns_comments_and_odd_headers_are_fine() {
        assert_eq!(steps("2\t2\r\n0\t0\t->\t1\t1\r\n").len(), 1);
        assert_eq!(steps("#x\n\n2 # shared\n2 # local\n0 0 -> 1 1").len(), 1);
        assert_eq!(steps("2 2 0 0 -> 1 1").len(), 1, "an edge in the header's line");
        assert_eq!(steps("2 2\n0 0->1 1 0~>1").len(), 1, "blanks around arrows are not needed");
        assert_eq!(steps("18446744073709551615 18446744073709551615\n").len(), 0);
        assert_eq!(good("2 3\n1B2\n0|1,1\n1|\n").targets.len(), 3);
    }

    #[test]
    fn self_loops_are_ignored_unless_they_move_others() {
        assert_eq!(steps("1 2\n0 0 -> 0 0\n0 1 ~> 0 1\n").len(), 0);
        assert_eq!(steps("1 2\n0 0 -> 0 0 1 ~> 0\n").len(), 1);
        assert_eq!(steps("1 2\n0 0 +> 0 0\n").len(), 1);
        assert_eq!(
            steps("2 2\n0 0 -> 1 0 1 ~> 0\n0 0 -> 1 0\n0 0 -> 1 0\n").len(),
            3,
            "repeated edges are kept"
        );
    }

    #[test]
    fn a_transfer_takes_no_thread_and_fates_may_be_a_choice() {
        let system = good("2 3\n0 0 ~> 1 2\n0 0 -> 1 0 1 ~> 0 1 ~> 2\n0 1 ~> 1 1\n");
        let [all, choice, shared_only] = system.table.steps() else { panic!("three edges") };
        assert!(all.take.is_empty() && all.put.is_empty());
        assert_eq!(system.table.fates(all.edge), [(Local(0), Fate::To(Local(2)))]);
        assert_eq!(system.table.fates(choice.edge).len(), 2);
        assert!(system.table.fates(shared_only.edge).is_empty() && shared_only.take.is_empty());
    }

    #[test]
    fn errors_say_what_was_expected_and_where() {
        for (text, message, under) in [
            (
                "",
                "E301 the file must begin with two numbers: expected the numbers of shared and of local states",
                "",
            ),
            (
                "2",
                "E301 the file must begin with two numbers: expected the numbers of shared and of local states",
                "",
            ),
            ("x 2", "E301 the file must begin with two numbers: expected the number of shared states", "x"),
            ("0 2", "E302 there must be at least one shared state: ", "0"),
            ("2 0", "E302 there must be at least one local state: ", "0"),
            ("2 2\n0 0 -> 1", "E303 the line ends too early: expected a local state", ""),
            ("2 2\n0 0", "E303 the line ends too early: expected `->`, `+>` or `~>`", ""),
            ("2 2\n0", "E303 this is neither an edge nor a target: expected `s l -> s' l'` or `s|l,l`", "0"),
            ("2 2\n0 0 > 1 1", "E303 unexpected `>`: expected `->`, `+>` or `~>`", ">"),
            ("2 2\n0 0 -> 1 é", "E303 unexpected `é`: expected a local state", "é"),
            ("2 2\n0 0 -> 1 1 0 -> 1", "E303 unexpected `->`: expected `~>`", "->"),
            ("2 2\n0 0 -> 1 1 0 ~>", "E303 the line ends too early: expected a local state", ""),
            (
                "2 2\n0 0 +> 1 1 0 ~> 1",
                "E304 only `->` can move other threads along: expected the end of the line",
                "0",
            ),
            ("2 2\n2 0 -> 1 1", "E305 shared state 2 is out of range: expected 0 to 1", "2"),
            ("2 2\n0 7 -> 1 1", "E305 local state 7 is out of range: expected 0 to 1", "7"),
            ("2 2\n0 0 -> 1 1 5 ~> 1", "E305 local state 5 is out of range: expected 0 to 1", "5"),
            (
                "99999999999999999999 2",
                "E306 this number does not fit into 64 bits: ",
                "99999999999999999999",
            ),
            ("2 2\n-1 0 -> 1 1", "E303 unexpected `-`: expected a shared state", "-"),
            ("2 2\n\n  0|7", "E655 local state 7 is out of range: expected 0 to 1", "7"),
            ("2 2\n0/1", "E653 a target cannot ask for any number of threads: expected `s|l,l`", "0/1"),
        ] {
            assert_eq!(errors(text), [(message.to_string(), under.to_string())], "{text:?}");
        }
    }

    #[test]
    fn one_run_shows_several_errors_but_not_thousands() {
        assert_eq!(errors("2 2\n0 0 1 1\n0 0 -> 1 1\n9 0 -> 1 1\n").len(), 2);
        assert_eq!(errors(&format!("2 2\n{}", "0 0 1 1\n".repeat(1000))).len(), Findings::MOST + 1);
    }
}
