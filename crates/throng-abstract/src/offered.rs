//! Predicates that the user offers: `//@ predicate x <= y` on a line of the C file.

use throng_goto::program::{BinOp, Expr, INT, Int};
use throng_lang::source::{Diagnostic, Source, Span};

use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::simplify::{binary, cast};
use throng_goto_check::abstraction::variables::Variables;

const CODE: &str = "E810";
const MARK: &str = "//@";
const WORD: &str = "predicate";
/// A name may be that of several variables: of several functions, or of a function that is inlined
/// more than once.
const MOST_MEANINGS: usize = 16;

/// The predicates that a file offers. A variable of several functions makes one of each.
pub fn offered(source: &Source, variables: &Variables) -> Result<Vec<Predicate>, Vec<Diagnostic>> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (at, text) in lines(&source.text) {
        match read(at, text, variables) {
            Ok(list) => found.extend(list),
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}

/// Returns whether a file offers any.
pub fn offers(source: &Source) -> bool {
    lines(&source.text).next().is_some()
}

/// What stands behind each mark, and where.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let numbered = text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end())
    });
    numbered.filter_map(|(at, line)| {
        let rest = &line[line.find(MARK)? + MARK.len()..];
        let word = rest.trim_start().strip_prefix(WORD)?;
        let separated = !word.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        separated.then(|| (at + line.len() - word.len(), word))
    })
}

fn read(at: usize, text: &str, variables: &Variables) -> Result<Vec<Predicate>, Diagnostic> {
    let mut parser = Parser { text, at: 0, base: at };
    let term = parser.comparison()?;
    let mut names: Vec<(String, Span)> = Vec::new();
    term.names(&mut names);
    let mut meanings: Vec<Vec<(String, u32)>> = vec![Vec::new()];
    for (name, span) in names {
        if meanings.first().is_some_and(|m| m.iter().any(|n| n.0 == name)) {
            continue;
        }
        let named = |id: &u32| variables.list[*id as usize].name == name && !variables.is_any_element(*id);
        let ids: Vec<u32> = (0..variables.list.len() as u32).filter(named).collect();
        if ids.is_empty() {
            return Err(Diagnostic::error(CODE, span, format!("`{name}` is not a variable of this program"))
                .hint("variables that are never used, and those whose address is taken inside a function, have no name here"));
        }
        let each = meanings.iter().flat_map(|m| {
            ids.iter().map(|&id| {
                let mut m = m.clone();
                m.push((name.clone(), id));
                m
            })
        });
        // Variables of two functions that different threads run make no predicate.
        let of_one_thread = |m: &Vec<(String, u32)>| {
            let mut owners = m.iter().filter_map(|(_, id)| variables.list[*id as usize].template);
            let first = owners.next();
            owners.all(|t| Some(t) == first)
        };
        meanings = each.filter(of_one_thread).take(MOST_MEANINGS).collect();
    }
    let predicates = meanings.iter().filter_map(|m| {
        let id = |name: &str| m.iter().find(|n| n.0 == name).map_or(0, |n| n.1);
        Predicate::of(term.expr(&id, variables).0, variables)
    });
    let predicates: Vec<Predicate> = predicates.collect();
    match predicates.is_empty() {
        false => Ok(predicates),
        true => Err(parser.wrong(0, "this is not a predicate: it needs variables, all of them shared or of one thread, and divides by constants only")),
    }
}

/// An expression with names.
enum Term {
    Number(i64, Int),
    Name(String, Span),
    Operator(BinOp, Box<Term>, Box<Term>),
}

impl Term {
    fn names(&self, found: &mut Vec<(String, Span)>) {
        match self {
            Term::Number(..) => {}
            Term::Name(name, span) => found.push((name.clone(), *span)),
            Term::Operator(_, a, b) => {
                a.names(found);
                b.names(found);
            }
        }
    }

    /// The expression as C computes it, and its type after promotion.
    fn expr(&self, id: &dyn Fn(&str) -> u32, variables: &Variables) -> (Expr, Int) {
        let types = |id: u32| variables.ty(id);
        match self {
            Term::Number(v, ty) => (Expr::Const(*v), *ty),
            Term::Name(name, _) => {
                let id = id(name);
                let ty = variables.ty(id);
                (Expr::Reg(id), if ty.truth || ty.size < INT.size { INT } else { ty })
            }
            Term::Operator(op, a, b) => {
                let ((a, s), (b, t)) = (a.expr(id, variables), b.expr(id, variables));
                let size = s.size.max(t.size);
                let unsigned = |x: Int| x.size == size && !x.signed;
                let at = Int::new(size, !unsigned(s) && !unsigned(t));
                let e = binary(*op, cast(a, at, &types), cast(b, at, &types), at, &types);
                (e, if op.compares() { INT } else { at })
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    base: usize,
}

impl<'a> Parser<'a> {
    fn wrong(&self, from: usize, why: &str) -> Diagnostic {
        let from = self.text[from..].find(|c: char| !c.is_whitespace()).map_or(from, |n| from + n);
        Diagnostic::error(CODE, Span::new(self.base + from, self.base + self.text.len().max(from)), why)
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn take(&mut self, symbols: &[(&str, BinOp)]) -> Option<BinOp> {
        let rest = self.rest();
        let &(symbol, op) = symbols.iter().find(|s| rest.starts_with(s.0))?;
        self.at += symbol.len();
        Some(op)
    }

    fn comparison(&mut self) -> Result<Term, Diagnostic> {
        let a = self.sum()?;
        let from = self.at;
        let turned = self.rest().starts_with('>');
        let symbols = [
            ("==", BinOp::Eq),
            ("!=", BinOp::Ne),
            ("<=", BinOp::Le),
            (">=", BinOp::Le),
            ("<", BinOp::Lt),
            (">", BinOp::Lt),
        ];
        let Some(op) = self.take(&symbols) else {
            return Err(self.wrong(from, "a predicate is a comparison: expected ==, !=, <, <=, > or >="));
        };
        let b = self.sum()?;
        if !self.rest().is_empty() {
            return Err(self.wrong(self.at, "a predicate is one comparison: nothing may follow it"));
        }
        let (a, b) = if turned { (b, a) } else { (a, b) };
        Ok(Term::Operator(op, Box::new(a), Box::new(b)))
    }

    fn sum(&mut self) -> Result<Term, Diagnostic> {
        let mut a = self.product()?;
        while let Some(op) = self.take(&[("+", BinOp::Add), ("-", BinOp::Sub)]) {
            a = Term::Operator(op, Box::new(a), Box::new(self.product()?));
        }
        Ok(a)
    }

    fn product(&mut self) -> Result<Term, Diagnostic> {
        let mut a = self.factor(0)?;
        while let Some(op) = self.take(&[("*", BinOp::Mul), ("/", BinOp::Div), ("%", BinOp::Rem)]) {
            a = Term::Operator(op, Box::new(a), Box::new(self.factor(0)?));
        }
        Ok(a)
    }

    fn factor(&mut self, depth: usize) -> Result<Term, Diagnostic> {
        const DEEPEST: usize = 50;
        let begin = self.at;
        if depth > DEEPEST {
            return Err(self.wrong(begin, "there are too many signs in a row"));
        }
        let rest = self.rest();
        if rest.starts_with('-') {
            self.at += 1;
            let zero = Term::Number(0, INT);
            return Ok(Term::Operator(BinOp::Sub, Box::new(zero), Box::new(self.factor(depth + 1)?)));
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let number = number(&rest[..word]);
            self.at += word;
            return number.ok_or_else(|| self.wrong(begin, "this is not a number of at most 64 bits"));
        }
        if word == 0 {
            return Err(self.wrong(begin, "expected a variable or a number"));
        }
        // Parts of variables: `a[2]`, `m.x`.
        let mut length = word;
        loop {
            let more = &rest[length..];
            let part = match more.as_bytes().first() {
                Some(b'.') => 1 + more[1..].find(|c: char| !is_part(c)).unwrap_or(more.len() - 1),
                Some(b'[') => more.find(']').map_or(0, |n| n + 1),
                _ => 0,
            };
            if part < 2 {
                break;
            }
            length += part;
        }
        let name = rest[..length].to_string();
        let start = self.base + self.at;
        self.at += length;
        Ok(Term::Name(name, Span::new(start, start + length)))
    }
}

fn number(word: &str) -> Option<Term> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = word[digits.len()..].to_ascii_lowercase();
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let size = if suffix.contains('l') || value > u64::from(u32::MAX) { 8 } else { 4 };
    let signed = !suffix.contains('u');
    // A decimal number that is too large for int is long.
    let size = if signed && value > i32::MAX as u64 { 8 } else { size };
    Some(Term::Number(value as i64, Int::new(size, signed)))
}

#[cfg(test)]
mod tests;
