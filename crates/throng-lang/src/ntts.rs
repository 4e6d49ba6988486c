//! Thread-transition systems with named states (`.ntts`): the lines of a `.tts` file with names for
//! numbers (reference 4).
//!
//! ```text
//! shared  free held error        # order gives the numbers; may be spread over several lines
//! local   out trying in
//! init    free / out             # any number of threads in `out`; default: the first states
//! target  error |
//! means   free !lock             # the values of a program's variables that the state stands for
//! free trying -> held in         # also `+>`, passive lists `p ~> q`, and top-level `~>`
//! *    x -> * y                  # one edge per shared state, which does not change
//! ```
//!
//! With only `->` edges this is Beacon's LGFSM. A line with an arrow is an edge, so any name may be
//! used.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::configuration::{parse_config, parse_target, shifted, shortened};
use crate::patience::Patience;
use crate::property::Part;
use crate::source::{Diagnostic, Span};
use crate::system::{Findings, Kind, System, notation};
use crate::tts::Arrow;
use throng_model::problem::{Initial, Target};
use throng_model::table::{Fate, Names, Table, thread_step};
use throng_model::{Bag, Local, Shared, Step};

/// Maximum number of steps of one file after `*` is expanded; more are surely a mistake.
const MOST_EDGES: u64 = 5_000_000;

/// Reads a `.ntts` file. There is a system unless there are errors. States may be used before they
/// are declared.
pub fn read(text: &str) -> (Option<System>, Vec<Diagnostic>) {
    read_within(text, &Patience::default())
}

/// Like [`read`], but returns no system once the patience is over.
pub fn read_within(text: &str, patience: &Patience) -> (Option<System>, Vec<Diagnostic>) {
    let mut findings = Findings::within(patience);
    let shared = declared("shared", text, &mut findings);
    let locals = declared("local", text, &mut findings);
    if findings.has_errors() {
        return (None, findings.finish("E399", "W399"));
    }
    let table = Table::of_source(Names::List(shared.list()), Names::List(locals.list()), text, 24);
    let mut reader =
        Reader { shared, locals, table, initial: Vec::new(), targets: Vec::new(), meanings: Vec::new() };
    for line in lines(text) {
        if let Err(d) = reader.line(&line) {
            findings.push(d);
        }
        if findings.full() {
            break;
        }
    }
    if findings.has_errors() {
        return (None, findings.finish("E399", "W399"));
    }
    (Some(reader.finish()), findings.finish("E399", "W399"))
}

/// A line without its comment.
struct Line<'a> {
    number: u32,
    start: usize,
    text: &'a str,
    words: Vec<Word<'a>>,
    is_edge: bool,
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    span: Span,
}

impl Line<'_> {
    fn end(&self) -> Span {
        let end = self.words.last().map_or(self.start as u32, |w| w.span.end);
        Span { start: end, end }
    }

    /// Returns whether this is a `what …` line, not an edge.
    fn is(&self, what: &str) -> bool {
        !self.is_edge && self.words.first().is_some_and(|w| w.text == what)
    }
}

/// Returns the lines that are not blank, one at a time: a list of all words would be larger than
/// the table.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut next = 0;
    let all = text.split_inclusive('\n').enumerate().map(move |(i, line)| {
        let start = next;
        next += line.len();
        let content = line.split('#').next().unwrap_or_default();
        let words = words(content, start);
        let is_edge = words.iter().any(|w| arrow(w.text).is_some());
        Line { number: i as u32 + 1, start, text: content, words, is_edge }
    });
    all.filter(|line| !line.words.is_empty())
}

/// Returns the words of a line, separated by blanks; arrows are words of their own.
fn words(line: &str, start: usize) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut push = |from: usize, to: usize| {
        if from < to {
            found.push(Word { text: &line[from..to], span: Span::new(start + from, start + to) });
        }
    };
    let mut from = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c.is_whitespace() {
            push(from, i);
            from = i + c.len_utf8();
        } else if line.get(i..i + 2).and_then(arrow).is_some() {
            push(from, i);
            push(i, i + 2);
            chars.next();
            from = i + 2;
        }
    }
    push(from, line.len());
    found
}

fn arrow(word: &str) -> Option<Arrow> {
    match word {
        "->" => Some(Arrow::Move),
        "+>" => Some(Arrow::Spawn),
        "~>" => Some(Arrow::All),
        _ => None,
    }
}

/// Declared names and their numbers.
struct Index<'a> {
    which: &'static str,
    numbers: FxHashMap<&'a str, u64>,
    names: Vec<&'a str>,
}

impl Index<'_> {
    fn list(&self) -> Vec<String> {
        self.names.iter().map(|n| n.to_string()).collect()
    }

    fn state(&self, word: Word<'_>) -> Result<u64, Diagnostic> {
        let which = self.which;
        let unknown = || {
            let d = Diagnostic::error(
                "E312",
                word.span,
                format!("there is no {which} state `{}`", shortened(word.text)),
            );
            d.label(format!("expected a declared {which} state"))
        };
        self.numbers.get(word.text).copied().ok_or_else(|| name_error(word).unwrap_or_else(unknown))
    }
}

/// Returns the error in a name, if there is one.
fn name_error(word: Word<'_>) -> Option<Diagnostic> {
    let mut chars = word.text.chars();
    let first = chars.next()?;
    let expected = "expected a letter or `_`, then letters, digits or one of `_ . $ '`";
    if first.is_ascii_digit() {
        let d = Diagnostic::error("E310", word.span, "a name may not start with a digit").label(expected);
        return Some(d.hint("systems with numbers for names go into a `.tts` file"));
    }
    let good = (first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '\''));
    (!good).then(|| {
        Diagnostic::error("E310", word.span, format!("`{}` is not a name", shortened(word.text)))
            .label(expected)
    })
}

/// Returns the names of all `which` lines.
fn declared<'a>(which: &'static str, text: &'a str, findings: &mut Findings) -> Index<'a> {
    let mut index = Index { which, numbers: FxHashMap::default(), names: Vec::new() };
    for line in lines(text).filter(|line| line.is(which)) {
        for word in &line.words[1..] {
            if let Some(d) = name_error(*word) {
                findings.push(d);
            } else if index.numbers.insert(word.text, index.names.len() as u64).is_some() {
                let message = format!("{which} state `{}` is declared twice", shortened(word.text));
                findings.push(Diagnostic::error("E311", word.span, message));
            } else {
                index.names.push(word.text);
            }
        }
    }
    if index.names.is_empty() && !findings.has_errors() {
        let message = format!("no {which} states are declared");
        let hint = format!("add a line `{which} name name …`");
        findings.push(Diagnostic::error("E313", Span::new(text.len(), text.len()), message).hint(hint));
    }
    index
}

struct Reader<'a> {
    shared: Index<'a>,
    locals: Index<'a>,
    table: Table,
    initial: Vec<Initial>,
    targets: Vec<Target>,
    meanings: Vec<(Shared, Part)>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line<'_>) -> Result<(), Diagnostic> {
        if line.is_edge {
            return self.edge(line);
        }
        let first = line.words[0];
        let from = first.span.end as usize - line.start;
        let (rest, at) = (&line.text[from..], line.start + from);
        let (shared, locals) = (self.table.shared(), self.table.locals());
        match first.text {
            "shared" | "local" => {}
            "init" => self.initial.push(parse_config(rest, shared, locals).map_err(|d| shifted(d, at))?),
            "target" => self.targets.push(parse_target(rest, shared, locals).map_err(|d| shifted(d, at))?),
            "means" => self.meaning(line)?,
            word => {
                let message = format!("unexpected `{}`", shortened(word));
                return Err(Diagnostic::error("E303", first.span, message).label(
                    "expected `shared`, `local`, `init`, `target`, `means` or an edge `s l -> s' l'`",
                ));
            }
        }
        Ok(())
    }

    /// Reads `means STATE CONDITION`. The condition is read where there is a program.
    fn meaning(&mut self, line: &Line<'_>) -> Result<(), Diagnostic> {
        let [_, state, condition, ..] = line.words[..] else {
            return Err(Diagnostic::error("E303", line.end(), "the line ends too early")
                .label("expected `means`, a shared state and a condition on the variables of a program"));
        };
        let of = Shared(self.shared.state(state)?);
        if self.meanings.iter().any(|m| m.0 == of) {
            let message = format!("`{}` has a meaning already", shortened(state.text));
            return Err(Diagnostic::error("E316", state.span, message)
                .hint("write one condition: `(a) | (b)` for two cases"));
        }
        let from = condition.span.start as usize;
        self.meanings.push((of, Part::of(&line.text[from - line.start..], from)));
        Ok(())
    }

    fn edge(&mut self, line: &Line<'_>) -> Result<(), Diagnostic> {
        let word = |i: usize, what: &str| {
            line.words.get(i).copied().ok_or_else(|| {
                Diagnostic::error("E303", line.end(), "the line ends too early")
                    .label(format!("expected {what}"))
            })
        };
        let every = line.words[0].text == "*";
        let from = if every { 0 } else { self.shared.state(line.words[0])? };
        let l = self.locals.state(word(1, "a local state")?)?;
        let middle = word(2, "`->`, `+>` or `~>`")?;
        let Some(arrow) = arrow(middle.text) else {
            return Err(Diagnostic::error(
                "E303",
                middle.span,
                format!("unexpected `{}`", shortened(middle.text)),
            )
            .label("expected `->`, `+>` or `~>`"));
        };
        let after = word(3, "a shared state")?;
        if every != (after.text == "*") {
            return Err(Diagnostic::error("E314", after.span, "`*` must stand on both sides or on none")
                .label(if every { "expected `*`" } else { "expected a shared state" })
                .hint("`* l -> * l'` is one edge for every shared state, which does not change"));
        }
        let to = if every { 0 } else { self.shared.state(after)? };
        let m = self.locals.state(word(4, "a local state")?)?;
        let fates = self.fates(line, arrow)?;
        let states = if every { 0..self.table.shared().len() } else { from..from + 1 };
        if every && (self.table.steps().len() as u64).saturating_add(states.end) > MOST_EDGES {
            return Err(Diagnostic::error("E315", line.words[0].span, "this `*` stands for too many edges"));
        }
        for s in states {
            self.add(line, arrow, (s, l), (if every { s } else { to }, m), fates.clone());
        }
        Ok(())
    }

    /// Parses `{ p ~> q }`.
    fn fates(&self, line: &Line<'_>, arrow: Arrow) -> Result<Vec<(Local, Fate)>, Diagnostic> {
        let rest = line.words.get(5..).unwrap_or_default();
        if let (Some(first), true) = (rest.first(), arrow != Arrow::Move) {
            return Err(Diagnostic::error("E304", first.span, "only `->` can move other threads along")
                .label("expected the end of the line"));
        }
        let mut fates = Vec::new();
        for part in rest.chunks(3) {
            let [p, middle, q] = part else {
                return Err(Diagnostic::error("E303", line.end(), "the line ends too early")
                    .label("expected `p ~> q`"));
            };
            if middle.text != "~>" {
                let message = format!("unexpected `{}`", shortened(middle.text));
                return Err(Diagnostic::error("E303", middle.span, message).label("expected `~>`"));
            }
            fates.push((Local(self.locals.state(*p)?), Fate::To(Local(self.locals.state(*q)?))));
        }
        Ok(fates)
    }

    fn add(
        &mut self,
        line: &Line<'_>,
        arrow: Arrow,
        (s, l): (u64, u64),
        (to, m): (u64, u64),
        mut fates: Vec<(Local, Fate)>,
    ) {
        let step = thread_step(s, l, to, m);
        let loops = (s, l) == (to, m);
        let step = match arrow {
            Arrow::Move if loops && fates.is_empty() => return,
            Arrow::Move => step,
            Arrow::Spawn => Step { put: step.take.clone(), spawn: step.put, ..step },
            Arrow::All if loops => return,
            Arrow::All => {
                if l != m {
                    fates.push((Local(l), Fate::To(Local(m))));
                }
                Step { take: Bag::new(), put: Bag::new(), ..step }
            }
        };
        let bytes = line.words[0].span.start..line.end().end;
        self.table.add_at(step, fates, line.number, bytes);
    }

    fn finish(mut self) -> System {
        if self.initial.is_empty() {
            let default = parse_config("unbounded", self.table.shared(), self.table.locals());
            self.initial.extend(default);
        }
        let texts: Vec<String> =
            self.initial.iter().map(|i| notation(i, self.table.shared(), self.table.locals())).collect();
        System {
            table: Arc::new(self.table),
            initial: self.initial,
            initial_text: texts.join(" or "),
            targets: self.targets,
            kind: Kind::Ntts,
            complements: Vec::new(),
            meanings: self.meanings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::Describe;
    use throng_model::{Config, Shared};

    const LOCK: &str = "shared free held error # three\nlocal out trying in\ninit free / out\ntarget error |\n\
        free trying -> held in\nheld in -> free out\n* out -> * trying\n";

    fn errors(text: &str) -> Vec<(String, String)> {
        let (system, findings) = read(text);
        assert!(system.is_none(), "{text}");
        let under = |d: &Diagnostic| text[d.span.map_or(0..0, Span::range)].to_string();
        findings.iter().map(|d| (format!("{} {}", d.code, d.message), under(d))).collect()
    }

    #[test]
    fn a_lock_is_read() {
        let (system, findings) = read(LOCK);
        assert_eq!(findings, []);
        let system = system.unwrap();
        assert_eq!(system.table.steps().len(), 5, "`*` is one edge per shared state");
        assert_eq!(system.initial_text, "free/out");
        assert_eq!(system.targets[0].name, "error |");
        assert_eq!(system.targets[0].configs, [Config::new(Shared(2), Bag::new())]);
        assert_eq!(system.table.edge_place(throng_model::Edge(1)).line, 6);
    }

    #[test]
    fn spawns_transfers_and_forward_references_work() {
        let text = "s a +> t b\ns a ~> t c\ns a -> s a b~>c b ~> a\nlocal a b\nshared s\nshared t\nlocal c\n\
            init s | a, a / b\ninit t|\n";
        let (system, findings) = read(text);
        assert_eq!(findings, []);
        let system = system.unwrap();
        let [spawn, all, choice] = system.table.steps() else { panic!("three edges") };
        assert_eq!((&spawn.put, &spawn.spawn), (&Bag::one(Local(0)), &Bag::one(Local(1))));
        assert!(all.take.is_empty());
        assert_eq!(system.table.fates(choice.edge).len(), 2);
        assert_eq!(system.initial_text, "s|a,a/b or t|");
        assert!(system.targets.is_empty());
    }

    #[test]
    fn names_that_look_like_keywords_are_names() {
        let (system, findings) =
            read("shared init target\nlocal local shared\ninit local -> target shared\n");
        assert_eq!(findings, []);
        assert_eq!(system.unwrap().table.steps().len(), 1);
    }

    #[test]
    fn errors_are_pointed_at() {
        let declared = "shared s t\nlocal a b\n";
        for (line, message, under) in [
            ("shared 7up", "E310 a name may not start with a digit", "7up"),
            ("local é-x", "E310 `é-x` is not a name", "é-x"),
            ("local a", "E311 local state `a` is declared twice", "a"),
            ("s a -> t c", "E312 there is no local state `c`", "c"),
            ("s 0 -> t a", "E310 a name may not start with a digit", "0"),
            ("s a -> *  a", "E314 `*` must stand on both sides or on none", "*"),
            ("* a -> t a", "E314 `*` must stand on both sides or on none", "t"),
            ("s a -> t", "E303 the line ends too early", ""),
            ("s a t ->", "E303 unexpected `t`", "t"),
            ("s a -> t b a ~>", "E303 the line ends too early", ""),
            ("s a -> t b a b ~>", "E303 unexpected `b`", "b"),
            ("s a +> t b a ~> b", "E304 only `->` can move other threads along", "a"),
            ("bogus line", "E303 unexpected `bogus`", "bogus"),
            ("init s", "E651 `s` is not a configuration", "s"),
            ("target s/a", "E653 a target cannot ask for any number of threads", "s/a"),
            ("target s|zz", "E652 there is no local state `zz`", "zz"),
        ] {
            let text = format!("{declared}{line}");
            assert_eq!(errors(&text), [(message.to_string(), under.to_string())], "{line}");
        }
        assert_eq!(errors("local a").len(), 1);
        assert_eq!(errors("").len(), 1, "one thing at a time");
    }
}
