//! Rows of the table of library functions: what a function does with what its arguments point to,
//! and what it returns. `docs/reference/library.md` is about the words in them.

use serde::Deserialize;

/// What is known about a function.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub(crate) enum Row {
    /// It means what another function means.
    Like(String),
    /// It changes no variable of the program but those that its row names.
    Function(Box<Function>),
}

/// A function that is described by what it reads, writes, calls and returns.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// What it does with each argument; with further ones, as the format says, or nothing.
    pub(crate) arguments: Vec<Use>,
    /// What it returns.
    pub(crate) returns: Returns,
    /// Whether it may set `errno`.
    pub(crate) errno: bool,
    /// Where it leads instead of returning.
    pub(crate) ends: Option<Ends>,
    /// Variables of the library that it may write.
    pub(crate) sets: Vec<String>,
    /// Whether it keeps a state that calls in other threads share.
    pub(crate) hidden: bool,
    /// The functions among its arguments that it calls, once each.
    pub(crate) calls: Vec<Callee>,
    /// A function among its arguments that a new thread runs.
    pub(crate) starts: Option<Callee>,
}

/// What a function does with an argument.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Use {
    /// It uses the value alone. Streams are values.
    Value,
    /// It reads bytes up to a zero, and not more than this many.
    Text { most: Option<Amount>, optional: bool },
    /// It accesses what the argument points to.
    Memory { access: Access, amount: Amount, optional: bool },
    /// It reads a format of `printf`, and of the arguments that follow what the format says.
    Format,
    /// It may do anything with the argument, unless that is a null pointer.
    Null,
    /// It may call the argument at any time, unless that is `SIG_DFL` or `SIG_IGN`.
    Handler,
    /// It frees what the argument points to.
    Frees,
}

/// How a function accesses what an argument points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Reads,
    /// It writes values of which it is not known which ones are possible.
    Writes,
    /// It writes values from outside: all are possible.
    Fills,
}

/// How much of what an argument points to is accessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Amount {
    /// The object that the type of the argument says.
    Object,
    /// A number of bytes: all of these multiplied.
    Bytes(Vec<Term>),
}

/// A number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    Number(i64),
    /// The value of an argument, counted from 0.
    Argument(usize),
}

/// What a function returns.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Returns {
    /// Any value in this range is possible.
    Between(Option<Term>, Option<Term>),
    /// Some value of its type, or nothing: which ones are possible is not modelled.
    Anything,
    /// The same, if it returns at all.
    Perhaps,
    /// The value of an argument.
    Argument(usize),
    /// A pointer into what an argument points to, or null.
    Into { argument: usize, optional: bool },
    /// A pointer to a new object, or null, if `optional`.
    New { amount: Amount, optional: bool },
    /// A pointer to an object that all calls share, or null, if `optional`.
    Static { optional: bool },
}

impl Returns {
    /// Returns the least of one or two numbers (`true`) that are possible, if there are no others.
    pub(crate) fn two(&self) -> Option<(i64, bool)> {
        match self {
            Returns::Between(Some(Term::Number(a)), Some(Term::Number(b))) if b.checked_sub(*a)? <= 1 => {
                Some((*a, a != b))
            }
            _ => None,
        }
    }
}

/// Where a function leads that does not return.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ends {
    /// The process exits: what runs after `main` comes first.
    Process,
    /// The process ends at once.
    ProcessAtOnce,
    /// The thread ends.
    Thread,
}

/// A function among the arguments, and the arguments that it gets.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Callee {
    pub(crate) function: usize,
    pub(crate) arguments: Vec<Term>,
}

/// A row as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Written {
    arguments: Vec<Use>,
    returns: Option<Returns>,
    errno: bool,
    ends: Option<Ends>,
    sets: Vec<String>,
    hidden: bool,
    calls: Vec<Callee>,
    starts: Option<Callee>,
    like: Option<String>,
}

impl TryFrom<Written> for Row {
    type Error = String;

    fn try_from(w: Written) -> Result<Row, String> {
        let Written { arguments, returns, errno, ends, sets, hidden, calls, starts, like } = w;
        let says = !arguments.is_empty() || returns.is_some() || errno || ends.is_some() || hidden;
        let says = says || !sets.is_empty() || !calls.is_empty() || starts.is_some();
        match like {
            Some(_) if says => Err("`like` stands alone: what the other function does is all".into()),
            Some(name) => Ok(Row::Like(name)),
            None => {
                let returns = returns.unwrap_or(Returns::Anything);
                let f = Function { arguments, returns, errno, ends, sets, hidden, calls, starts };
                f.check()?;
                Ok(Row::Function(Box::new(f)))
            }
        }
    }
}

impl Function {
    /// Checks that the arguments that are named are there.
    fn check(&self) -> Result<(), String> {
        let terms = self.terms();
        let far = terms.into_iter().find(|&n| n >= self.arguments.len());
        far.map_or(Ok(()), |n| Err(format!("`#{}`: there are {} arguments", n + 1, self.arguments.len())))
    }

    /// Returns whether a replay can stand for a call: it is an input, or one of its arguments.
    pub(crate) fn is_replayed(&self) -> bool {
        let returns = matches!(
            self.returns,
            Returns::Between(..) | Returns::Anything | Returns::Perhaps | Returns::Argument(_)
        );
        let effects = self.ends.is_some() || !self.calls.is_empty() || self.starts.is_some();
        returns && !effects && self.sets.is_empty() && !self.arguments.contains(&Use::Frees)
    }

    /// Returns the arguments that the row names.
    fn terms(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut amount = |amount: &Amount| {
            if let Amount::Bytes(terms) = amount {
                found.extend(terms.iter().filter_map(Term::argument));
            }
        };
        for u in &self.arguments {
            match u {
                Use::Text { most: Some(a), .. } | Use::Memory { amount: a, .. } => amount(a),
                _ => {}
            }
        }
        if let Returns::New { amount: a, .. } = &self.returns {
            amount(a);
        }
        match &self.returns {
            Returns::Argument(n) | Returns::Into { argument: n, .. } => found.push(*n),
            Returns::Between(a, b) => found.extend([a, b].into_iter().flatten().filter_map(Term::argument)),
            _ => {}
        }
        for callee in self.calls.iter().chain(&self.starts) {
            found.push(callee.function);
            found.extend(callee.arguments.iter().filter_map(Term::argument));
        }
        found
    }
}

impl Term {
    fn argument(&self) -> Option<usize> {
        match self {
            Term::Argument(n) => Some(*n),
            Term::Number(_) => None,
        }
    }

    fn read(text: &str) -> Result<Term, String> {
        let wrong = || format!("`{text}` is neither a number nor `#` and the number of an argument");
        match text.strip_prefix('#') {
            Some(n) => match n.parse::<usize>() {
                Ok(n @ 1..=99) => Ok(Term::Argument(n - 1)),
                _ => Err(wrong()),
            },
            None => text.parse().map(Term::Number).map_err(|_| wrong()),
        }
    }
}

impl Amount {
    /// Reads what follows a word: `#2*#3`, or nothing.
    fn read(text: &str) -> Result<Amount, String> {
        match text {
            "" => Ok(Amount::Object),
            text => {
                text.split('*').map(|t| Term::read(t.trim())).collect::<Result<_, _>>().map(Amount::Bytes)
            }
        }
    }
}

/// Splits `word? rest`: the word, whether there is a question mark, and the rest.
fn word(text: &str) -> (&str, bool, &str) {
    let (first, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    match first.strip_suffix('?') {
        Some(word) => (word, true, rest.trim()),
        None => (first, false, rest.trim()),
    }
}

impl TryFrom<String> for Use {
    type Error = String;

    fn try_from(text: String) -> Result<Use, String> {
        let (first, optional, rest) = word(&text);
        let memory = |access| Amount::read(rest).map(|amount| Use::Memory { access, amount, optional });
        match first {
            "text" => {
                let most = (!rest.is_empty()).then(|| Amount::read(rest)).transpose()?;
                Ok(Use::Text { most, optional })
            }
            "reads" => memory(Access::Reads),
            "writes" => memory(Access::Writes),
            "fills" => memory(Access::Fills),
            _ if optional || !rest.is_empty() => Err(unknown(&text)),
            "value" => Ok(Use::Value),
            "format" => Ok(Use::Format),
            "null" => Ok(Use::Null),
            "handler" => Ok(Use::Handler),
            "frees" => Ok(Use::Frees),
            _ => Err(unknown(&text)),
        }
    }
}

fn unknown(text: &str) -> String {
    let words = "`value`, `text`, `reads`, `writes`, `fills`, `format`, `null`, `handler`, `frees`";
    format!("`{text}` does not say what happens to an argument: {words}, some with the number of bytes")
}

impl TryFrom<String> for Returns {
    type Error = String;

    fn try_from(text: String) -> Result<Returns, String> {
        if let Some((least, most)) = text.split_once("..") {
            let end = |t: &str| match t.trim() {
                "" => Ok(None),
                t => Term::read(t).map(Some),
            };
            return Ok(Returns::Between(end(least)?, end(most)?));
        }
        let (first, optional, rest) = word(&text);
        match first {
            "in" => match Term::read(rest)? {
                Term::Argument(argument) => Ok(Returns::Into { argument, optional }),
                Term::Number(_) => Err("`in` stands before the number of an argument".into()),
            },
            "new" => Ok(Returns::New { amount: Amount::read(rest)?, optional }),
            "static" if rest.is_empty() => Ok(Returns::Static { optional }),
            "anything" if !optional && rest.is_empty() => Ok(Returns::Anything),
            "perhaps" if !optional && rest.is_empty() => Ok(Returns::Perhaps),
            _ => match Term::read(text.trim()) {
                Ok(Term::Argument(n)) => Ok(Returns::Argument(n)),
                Ok(term) => Ok(Returns::Between(Some(term), Some(term))),
                Err(_) => Err(format!(
                    "`{text}` does not say what is returned: `anything`, `perhaps`, a number, a range (`-1..#3`), an argument (`#1`), `in #1`, `new`, `static`"
                )),
            },
        }
    }
}

impl TryFrom<String> for Callee {
    type Error = String;

    fn try_from(text: String) -> Result<Callee, String> {
        let wrong = || format!("`{text}` is not a call of an argument, such as `#2(#3)`");
        let (function, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
        let list = rest.strip_suffix(')').ok_or_else(wrong)?;
        let Term::Argument(function) = Term::read(function.trim())? else { return Err(wrong()) };
        let terms = list.split(',').map(str::trim).filter(|t| !t.is_empty());
        Ok(Callee { function, arguments: terms.map(Term::read).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(text: &str) -> Result<Use, String> {
        Use::try_from(text.to_string())
    }

    #[test]
    fn words_are_read() {
        let product = Amount::Bytes(vec![Term::Argument(1), Term::Number(4)]);
        let reads = Use::Memory { access: Access::Reads, amount: product, optional: true };
        assert_eq!(used("reads? #2*4"), Ok(reads));
        assert_eq!(used("text"), Ok(Use::Text { most: None, optional: false }));
        assert!(used("value #1").is_err() && used("reads #0").is_err() && used("eats").is_err());
        let returns = |text: &str| Returns::try_from(text.to_string());
        assert_eq!(returns("-1..#3"), Ok(Returns::Between(Some(Term::Number(-1)), Some(Term::Argument(2)))));
        assert_eq!(returns("0"), Ok(Returns::Between(Some(Term::Number(0)), Some(Term::Number(0)))));
        assert_eq!(returns("#1"), Ok(Returns::Argument(0)));
        assert_eq!(returns("in? #1"), Ok(Returns::Into { argument: 0, optional: true }));
        assert!(returns("in 1").is_err() && returns("nothing").is_err());
        let callee = Callee { function: 1, arguments: vec![Term::Argument(2)] };
        assert_eq!(Callee::try_from("#2(#3)".to_string()), Ok(callee));
        assert!(Callee::try_from("2()".to_string()).is_err());
    }
}
