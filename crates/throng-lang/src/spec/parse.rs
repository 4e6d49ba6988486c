//! The grammar of `.spec` files: tokens to sections, rules and conditions.

use rustc_hash::FxHashMap;

use super::lexer::{SECTIONS, Token, tokens};
use crate::configuration::shortened;
use crate::source::{Diagnostic, LineIndex, Span};
use crate::system::Findings;

/// Maximum number of tokens in a text; it leaves room for sums.
const MOST_TOKENS: u32 = 1 << 30;

/// A net as written.
pub(super) struct Net<'a> {
    pub text: &'a str,
    pub lines: LineIndex,
    pub names: Vec<&'a str>,
    pub rules: Vec<Rule>,
    pub init: Conjunction,
    pub targets: Vec<Conjunction>,
    pub invariants: Vec<Invariant>,
}

/// `x>=1, y=0 -> x'=x-1;`
#[derive(Clone)]
pub(super) struct Rule {
    pub guard: Vec<Condition>,
    pub updates: Vec<Update>,
    pub span: Span,
}

impl Rule {
    /// Returns the condition of the guard on `x`.
    pub(super) fn condition(&self, x: u32) -> Option<&Condition> {
        self.guard.binary_search_by_key(&x, |c| c.var).ok().map(|i| &self.guard[i])
    }
}

/// Conditions that all hold; sorted by variable, each of which occurs once.
pub(super) struct Conjunction {
    pub conditions: Vec<Condition>,
    pub span: Span,
}

/// `low <= x <= high`
#[derive(Clone, Copy)]
pub(super) struct Condition {
    pub var: u32,
    pub low: u32,
    pub high: Option<u32>,
    pub span: Span,
}

/// `var' = sum + plus`
#[derive(Clone)]
pub(super) struct Update {
    pub var: u32,
    pub sum: Vec<u32>,
    pub plus: i64,
    pub span: Span,
}

/// `x=1, y=2`: claims that x + 2·y is constant.
pub(super) struct Invariant {
    pub weights: Vec<(u32, u32)>,
    pub span: Span,
}

/// Reads the sections; `None` if too little could be read.
pub(super) fn parse<'a>(text: &'a str, findings: &mut Findings) -> Option<Net<'a>> {
    let tokens = tokens(text, findings);
    let mut parser =
        Parser { text, tokens, at: 0, vars: FxHashMap::default(), spelled: FxHashMap::default(), findings };
    let net = parser.net();
    let failed = parser.findings.has_errors();
    net.filter(|_| !failed)
}

struct Parser<'a, 'f> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    vars: FxHashMap<&'a str, u32>,
    /// Names with other characters than letters, as some tools spell them in rules: `a.b[]` becomes
    /// `adotbleftbracketrightbracket`.
    spelled: FxHashMap<String, Option<u32>>,
    findings: &'f mut Findings,
}

/// Spells out the characters of a name that some tools cannot write; `None` if there are none.
fn spelled(name: &str) -> Option<String> {
    const WORDS: [(char, &str); 4] =
        [('.', "dot"), ('$', "dollar"), ('[', "leftbracket"), (']', "rightbracket")];
    name.contains(WORDS.map(|w| w.0))
        .then(|| WORDS.iter().fold(name.to_string(), |n, &(c, word)| n.replace(c, word)))
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Returns the span of the last token read.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    fn word(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek() == Token::Name && self.word(self.span()) == word
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn unexpected(&self, what: &str) -> Diagnostic {
        let message = match self.peek() {
            Token::End => "the file ends too early".to_string(),
            _ => format!("unexpected `{}`", shortened(self.word(self.span()))),
        };
        Diagnostic::error("E402", self.span(), message).label(format!("expected {what}"))
    }

    fn at_section(&self) -> bool {
        matches!(self.peek(), Token::Section | Token::End)
    }

    /// Accepts the start of the section `name`; returns whether it was there.
    fn section(&mut self, name: &str) -> bool {
        let here = self.peek() == Token::Section && self.word(self.span()) == name;
        if here {
            self.advance();
        }
        here
    }

    fn net(&mut self) -> Option<Net<'a>> {
        let start = self.span();
        if !self.require("vars") {
            return None;
        }
        let names = self.names();
        if !self.require("rules") {
            return None;
        }
        let mut rules = Vec::new();
        while !self.at_section() && !self.findings.full() {
            match self.rule() {
                Ok(rule) => rules.push(rule),
                Err(d) => self.recover(d),
            }
        }
        if !self.require("init") {
            return None;
        }
        let init = self.conjunctions(true).pop();
        let targets = if self.section("target") { self.conjunctions(false) } else { Vec::new() };
        let invariants = if self.section("invariants") { self.invariants() } else { Vec::new() };
        if self.peek() != Token::End && !self.findings.has_errors() {
            let expected = format!("the end of the file; the sections are {}", SECTIONS.join(", "));
            let d = self.unexpected(&expected);
            self.findings.push(d);
        }
        let lines = LineIndex::new(self.text);
        let empty = Conjunction { conditions: Vec::new(), span: start };
        Some(Net { text: self.text, lines, names, rules, init: init.unwrap_or(empty), targets, invariants })
    }

    fn require(&mut self, section: &str) -> bool {
        let here = self.section(section);
        if !here {
            let d = self.unexpected(&format!("`{section}`"));
            self.findings.push(d);
        }
        here
    }

    /// Records the error and continues after the next `;`, or at the next section.
    fn recover(&mut self, d: Diagnostic) {
        self.findings.push(d);
        while !self.at_section() {
            let end = self.is(";");
            self.advance();
            if end {
                return;
            }
        }
    }

    fn names(&mut self) -> Vec<&'a str> {
        let mut names = Vec::new();
        while !self.at_section() && !self.findings.full() {
            let span = self.span();
            let d = match self.peek() {
                Token::Name if matches!(self.word(span), "true" | "in") => Some(
                    Diagnostic::error("E402", span, format!("`{}` cannot be a variable", self.word(span)))
                        .label("expected a name"),
                ),
                Token::Name if self.vars.contains_key(self.word(span)) => Some(Diagnostic::error(
                    "E403",
                    span,
                    format!("variable `{}` is declared twice", self.word(span)),
                )),
                Token::Name => {
                    self.vars.insert(self.word(span), names.len() as u32);
                    if let Some(spelled) = spelled(self.word(span)) {
                        // Two names may be spelled alike: then the spelling means neither.
                        let var = Some(names.len() as u32);
                        self.spelled.entry(spelled).and_modify(|var| *var = None).or_insert(var);
                    }
                    names.push(self.word(span));
                    None
                }
                _ => Some(self.unexpected("a name")),
            };
            self.advance();
            if let Some(d) = d {
                self.findings.push(d);
            }
        }
        names
    }

    fn var(&mut self) -> Parsed<u32> {
        if self.peek() != Token::Name {
            return Err(self.unexpected("a variable"));
        }
        let word = self.word(self.span());
        let found = self.vars.get(word).copied();
        match found.or_else(|| self.spelled.get(word).copied().flatten()) {
            Some(var) => {
                self.advance();
                Ok(var)
            }
            None => Err(Diagnostic::error(
                "E404",
                self.span(),
                format!("variable `{}` is not declared", shortened(word)),
            )
            .label("expected a variable from `vars`")),
        }
    }

    fn number(&mut self) -> Parsed<u32> {
        if self.peek() != Token::Number {
            return Err(self.unexpected("a number"));
        }
        let span = self.span();
        match self.word(span).parse::<u32>() {
            Ok(n) if n <= MOST_TOKENS => {
                self.advance();
                Ok(n)
            }
            _ => Err(Diagnostic::error("E405", span, "this number of tokens is too large")
                .label(format!("expected at most {MOST_TOKENS}"))),
        }
    }

    /// Parses `x >= n`, `x = n` or `x in [a, b]`.
    fn condition(&mut self) -> Parsed<Condition> {
        let start = self.span();
        let var = self.var()?;
        let (low, high) = if self.accept(">=") {
            (self.number()?, None)
        } else if self.accept("=") {
            let n = self.number()?;
            (n, Some(n))
        } else if self.is_word("in") {
            self.advance();
            self.expect("[")?;
            let low = self.number()?;
            self.expect(",")?;
            let high = self.number()?;
            self.expect("]")?;
            (low, Some(high))
        } else {
            return Err(self.unexpected("`>=`, `=` or `in`"));
        };
        Ok(Condition { var, low, high, span: start.to(self.last()) })
    }

    /// Parses conditions; those of a rule may be `true`.
    fn conjunction(&mut self, of_rule: bool) -> Parsed<Conjunction> {
        let start = self.span();
        let mut conditions = Vec::new();
        loop {
            if of_rule && self.is_word("true") {
                self.advance();
            } else {
                conditions.push(self.condition()?);
            }
            if !self.accept(",") {
                break;
            }
        }
        let span = start.to(self.last());
        conditions.sort_by_key(|c| c.var);
        match conditions.windows(2).find(|w| w[0].var == w[1].var) {
            None => Ok(Conjunction { conditions, span }),
            Some(twice) => {
                Err(Diagnostic::error("E406", twice[1].span, "there is a second condition on this variable")
                    .label("expected at most one condition per variable")
                    .hint("write one interval: `x in [a, b]`"))
            }
        }
    }

    /// Parses one conjunction, or all until the next section. An error ends the section.
    fn conjunctions(&mut self, one: bool) -> Vec<Conjunction> {
        let mut found = Vec::new();
        while !self.at_section() {
            match self.conjunction(false) {
                Ok(conjunction) => found.push(conjunction),
                Err(d) => {
                    self.findings.push(d);
                    while !self.at_section() {
                        self.advance();
                    }
                }
            }
            if one && !self.at_section() {
                let d = self.unexpected("`,` or the next section");
                self.recover(d);
            }
        }
        if found.is_empty() && !self.findings.has_errors() {
            let d = self.unexpected("a condition");
            self.findings.push(d);
        }
        found
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.span();
        let guard = if self.is("->") { Vec::new() } else { self.conjunction(true)?.conditions };
        self.expect("->")?;
        let mut updates = Vec::new();
        while !self.is(";") {
            updates.push(self.update()?);
            if !self.is(";") {
                self.expect(",")?;
            }
        }
        let span = start.to(self.advance());
        Ok(Rule { guard, updates, span })
    }

    /// Parses `x' = y + z - 1`.
    fn update(&mut self) -> Parsed<Update> {
        let start = self.span();
        let var = self.var()?;
        self.expect("'")?;
        self.expect("=")?;
        let (mut sum, mut plus) = (Vec::new(), 0);
        if self.peek() == Token::Number {
            plus = i64::from(self.number()?);
        } else {
            sum.push(self.var()?);
            loop {
                let sign = match self.peek() {
                    Token::Symbol("+") => 1,
                    Token::Symbol("-") => -1,
                    _ => break,
                };
                self.advance();
                if sign > 0 && self.peek() == Token::Name {
                    sum.push(self.var()?);
                } else {
                    plus = sign * i64::from(self.number()?);
                    break;
                }
            }
        }
        Ok(Update { var, sum, plus, span: start.to(self.last()) })
    }

    fn invariants(&mut self) -> Vec<Invariant> {
        let mut found = Vec::new();
        while !self.at_section() && !self.findings.full() {
            let start = self.span();
            let mut weights = Vec::new();
            let outcome = loop {
                match self.weight() {
                    Ok(weight) => weights.push(weight),
                    Err(d) => break Err(d),
                }
                if !self.accept(",") {
                    break Ok(());
                }
            };
            match outcome {
                Ok(()) => found.push(Invariant { weights, span: start.to(self.last()) }),
                Err(d) => self.recover(d),
            }
        }
        found
    }

    fn weight(&mut self) -> Parsed<(u32, u32)> {
        let var = self.var()?;
        self.expect("=")?;
        Ok((var, self.number()?))
    }
}
