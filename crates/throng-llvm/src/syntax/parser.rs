//! Modules: what stands outside functions.

use rustc_hash::FxHashMap;
use throng_lang::source::Span;

use super::lexer::{Lexer, Token};
use super::tree::{Function, Global, Module, Parameter, Type, Value};
use super::{DEEPEST, Read, SyntaxError};

/// A parser of one text.
pub struct Parser<'t> {
    pub(super) lexer: Lexer<'t>,
    /// Where the last token was.
    pub(super) last: Span,
}

/// Reads a module.
pub fn parse(text: &str) -> Read<Module<'_>> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError { span: Span::default(), message: "the text is too long".into() });
    }
    let mut p = Parser { lexer: Lexer::new(text), last: Span::default() };
    let mut module = Module::default();
    while p.peek()? != Token::End {
        p.item(&mut module)?;
    }
    Ok(module)
}

/// Words about linkage, visibility and the like in front of a definition.
#[derive(Default)]
struct Linkage {
    internal: bool,
    weak: bool,
    thread_local: bool,
}

impl<'t> Parser<'t> {
    // ---- tokens ----

    pub(super) fn peek(&self) -> Read<Token<'t>> {
        let mut ahead = self.lexer;
        Ok(ahead.token()?.0)
    }

    pub(super) fn peek_second(&self) -> Read<Token<'t>> {
        let mut ahead = self.lexer;
        ahead.token()?;
        Ok(ahead.token()?.0)
    }

    pub(super) fn take(&mut self) -> Read<Token<'t>> {
        let (token, span) = self.lexer.token()?;
        self.last = span;
        Ok(token)
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(SyntaxError { span: self.last, message: message.into() })
    }

    pub(super) fn unexpected<T>(&self, found: Token<'_>, wanted: &str) -> Read<T> {
        self.fail(format!("{wanted} is expected, not {}", found.describe()))
    }

    pub(super) fn mark_if(&mut self, mark: char) -> Read<bool> {
        let found = self.peek()? == Token::Mark(mark);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    pub(super) fn mark(&mut self, mark: char) -> Read<()> {
        match self.take()? {
            Token::Mark(c) if c == mark => Ok(()),
            other => self.unexpected(other, &format!("`{mark}`")),
        }
    }

    pub(super) fn word_if(&mut self, word: &str) -> Read<bool> {
        let found = self.peek()? == Token::Word(word);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Read<()> {
        match self.take()? {
            Token::Word(w) if w == word => Ok(()),
            other => self.unexpected(other, &format!("`{word}`")),
        }
    }

    pub(super) fn count(&mut self) -> Read<u64> {
        match self.take()? {
            Token::Word(w) if w.parse::<u64>().is_ok() => Ok(w.parse().unwrap_or(0)),
            other => self.unexpected(other, "a number"),
        }
    }

    /// Skips what is in parentheses, brackets or braces.
    pub(super) fn balanced(&mut self) -> Read<()> {
        let mut open = 0usize;
        loop {
            match self.take()? {
                Token::Mark('(' | '[' | '{') => open += 1,
                Token::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
                Token::End => return self.fail("a closing bracket is missing"),
                other if open == 0 => return self.unexpected(other, "an opening bracket"),
                _ => {}
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn skip_words_and_brackets(&mut self) -> Read<()> {
        match self.peek()? {
            Token::Mark('(') => self.balanced(),
            _ => self.take().map(|_| ()),
        }
    }

    /// Skips the rest of a line, and what is in brackets that are opened in it.
    pub(super) fn skip_line(&mut self) -> Read<()> {
        let mut open = 0usize;
        while open > 0 || !self.lexer.begins_line() {
            match self.take()? {
                Token::Mark('(' | '[' | '{') => open += 1,
                Token::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
                Token::End => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    // ---- items ----

    fn item(&mut self, module: &mut Module<'t>) -> Read<()> {
        match self.take()? {
            Token::Word("target") => {
                let what = self.take()?;
                self.mark('=')?;
                match (what, self.take()?) {
                    (Token::Word("datalayout"), Token::Text(layout)) => module.layout = layout,
                    (_, Token::Text(_)) => {}
                    (_, other) => return self.unexpected(other, "a string"),
                }
                Ok(())
            }
            Token::Word("module") => {
                let start = self.last;
                self.skip_line()?;
                module.assembly.get_or_insert(start.to(self.last));
                Ok(())
            }
            Token::Word("source_filename" | "uselistorder" | "uselistorder_bb") => self.skip_line(),
            Token::Word("attributes") => self.attributes(module),
            Token::Word("declare") => {
                let f = self.header(false)?;
                module.functions.push(f);
                Ok(())
            }
            Token::Word("define") => {
                let mut f = self.header(true)?;
                self.mark('{')?;
                f.blocks = self.body()?;
                module.functions.push(f);
                Ok(())
            }
            Token::Local(name) => self.type_definition(name, module),
            Token::Global(name) => {
                let span = self.last;
                let g = self.global(name, span)?;
                module.globals.extend(g);
                Ok(())
            }
            Token::Meta(name) => self.metadata(name, module),
            Token::Word(word) if word.starts_with('$') => self.skip_line(),
            // `^0 = module: …`, summaries.
            other => self.unexpected(other, "a definition"),
        }
    }

    fn attributes(&mut self, module: &mut Module<'t>) -> Read<()> {
        let Token::Hash(group) = self.take()? else { return self.fail("`#` and a number is expected") };
        self.mark('=')?;
        self.mark('{')?;
        loop {
            match self.take()? {
                Token::Mark('}') => return Ok(()),
                Token::Word("noreturn") => module.noreturn.push(group),
                Token::End => return self.fail("`}` is missing"),
                _ => {}
            }
        }
    }

    fn type_definition(&mut self, name: &'t str, module: &mut Module<'t>) -> Read<()> {
        self.mark('=')?;
        self.expect_word("type")?;
        let ty = if self.word_if("opaque")? { None } else { Some(self.ty(0)?) };
        module.types.insert(name, ty);
        Ok(())
    }

    fn metadata(&mut self, name: &'t str, module: &mut Module<'t>) -> Read<()> {
        self.mark('=')?;
        // Strings and values may stand there as well.
        let node = match self.meta(0)? {
            super::metadata::Meta::Node(node) => node,
            _ => super::metadata::Node::default(),
        };
        if let Ok(n) = name.parse() {
            module.metadata.insert(n, node);
        }
        Ok(())
    }

    fn linkage(&mut self) -> Read<Linkage> {
        let mut linkage = Linkage::default();
        loop {
            match self.peek()? {
                Token::Word("private" | "internal") => linkage.internal = true,
                Token::Word(
                    "linkonce"
                    | "linkonce_odr"
                    | "weak"
                    | "weak_odr"
                    | "common"
                    | "extern_weak"
                    | "available_externally",
                ) => linkage.weak = true,
                Token::Word("thread_local") => linkage.thread_local = true,
                Token::Word(
                    "external"
                    | "dso_local"
                    | "dso_preemptable"
                    | "hidden"
                    | "protected"
                    | "default"
                    | "unnamed_addr"
                    | "local_unnamed_addr"
                    | "dllimport"
                    | "dllexport"
                    | "appending"
                    | "externally_initialized"
                    | "addrspace",
                ) => {}
                _ => return Ok(linkage),
            }
            self.take()?;
            if self.peek()? == Token::Mark('(') {
                self.balanced()?;
            }
        }
    }

    fn global(&mut self, name: &'t str, span: Span) -> Read<Option<Global<'t>>> {
        self.mark('=')?;
        let linkage = self.linkage()?;
        let kind = self.take()?;
        let (constant, alias) = match kind {
            Token::Word("global") => (false, false),
            Token::Word("constant") => (true, false),
            Token::Word("alias") => (true, true),
            Token::Word("ifunc") => {
                self.skip_line()?;
                return Ok(None);
            }
            other => return self.unexpected(other, "`global` or `constant`"),
        };
        let ty = self.ty(0)?;
        let initial = if alias {
            self.mark(',')?;
            Some(self.typed(0)?.1)
        } else if matches!(self.peek()?, Token::Mark(',')) || self.lexer.begins_line() {
            None
        } else {
            Some(self.value(&ty, 0)?)
        };
        let (mut align, mut described) = (0, None);
        while self.mark_if(',')? {
            match self.take()? {
                Token::Word("align") => align = self.count()?.min(1 << 16) as u32,
                Token::Meta("dbg") => described = described.or(self.reference()?),
                Token::Meta(_) => _ = self.meta(0)?,
                Token::Word("comdat") if self.peek()? == Token::Mark('(') => self.balanced()?,
                Token::Word(_) if matches!(self.peek()?, Token::Text(_)) => _ = self.take()?,
                _ => {}
            }
        }
        while matches!(self.peek()?, Token::Hash(_)) {
            self.take()?;
        }
        let Linkage { internal, weak, thread_local } = linkage;
        Ok(Some(Global {
            name,
            ty,
            initial,
            constant,
            thread_local,
            align,
            described,
            internal,
            weak,
            alias,
            span,
        }))
    }

    /// Reads a reference to metadata with a number.
    pub(super) fn reference(&mut self) -> Read<Option<u32>> {
        Ok(match self.meta(0)? {
            super::metadata::Meta::Number(n) => Some(n),
            _ => None,
        })
    }

    /// Skips attributes, and returns what a parameter points to that is copied, and its alignment.
    pub(super) fn skip_attributes(&mut self) -> Read<(Option<Type<'t>>, u32)> {
        let (mut by_value, mut align) = (None, 0);
        loop {
            match self.peek()? {
                Token::Text(_) => {
                    self.take()?;
                    if self.mark_if('=')? {
                        self.take()?;
                    }
                }
                Token::Word(word) if !is_value_word(word) => {
                    self.take()?;
                    match (word, self.peek()?) {
                        ("byval" | "preallocated" | "inalloca", Token::Mark('(')) => {
                            self.mark('(')?;
                            by_value = Some(self.ty(0)?);
                            self.mark(')')?;
                        }
                        (_, Token::Mark('(')) => self.balanced()?,
                        ("align", _) => align = self.count()?.min(1 << 16) as u32,
                        ("cc", _) => _ = self.take()?,
                        _ => {}
                    }
                }
                _ => return Ok((by_value, align)),
            }
        }
    }

    fn header(&mut self, defined: bool) -> Read<Function<'t>> {
        // Metadata of declarations stands in front.
        let mut described = None;
        while let Token::Meta(kind) = self.peek()? {
            self.take()?;
            let number = self.reference()?;
            if kind == "dbg" {
                described = number;
            }
        }
        let linkage = self.linkage()?;
        self.skip_to_type()?;
        let result = self.ty(0)?;
        let Token::Global(name) = self.take()? else {
            return self.fail("the name of a function is expected");
        };
        let span = self.last;
        let (parameters, variadic) = self.parameters(defined)?;
        let mut groups = Vec::new();
        while !(self.peek()? == Token::Mark('{') && defined) && (defined || !self.lexer.begins_line()) {
            match self.take()? {
                Token::Hash(group) => groups.push(group),
                Token::Meta("dbg") => described = described.or(self.reference()?),
                Token::Meta(_) => _ = self.meta(0)?,
                Token::Mark('(') => {
                    return self.fail("this is not expected behind the parameters");
                }
                Token::Word("personality" | "prefix" | "prologue") => _ = self.typed(0)?,
                Token::End => return self.fail("the function has no body"),
                Token::Word(_) if self.peek()? == Token::Mark('(') => self.balanced()?,
                _ => {}
            }
        }
        let Linkage { internal, weak, .. } = linkage;
        Ok(Function {
            name,
            result,
            parameters,
            variadic,
            blocks: Vec::new(),
            described,
            internal,
            weak,
            groups,
            span,
        })
    }

    /// Skips calling conventions and attributes of results.
    pub(super) fn skip_to_type(&mut self) -> Read<()> {
        while !self.at_type()? {
            match self.take()? {
                Token::Word("cc" | "align") => _ = self.take()?,
                Token::Word(_) if self.peek()? == Token::Mark('(') => self.balanced()?,
                Token::Word(_) => {}
                Token::Text(_) => {
                    if self.mark_if('=')? {
                        self.take()?;
                    }
                }
                other => return self.unexpected(other, "a type"),
            }
        }
        Ok(())
    }

    fn parameters(&mut self, defined: bool) -> Read<(Vec<Parameter<'t>>, bool)> {
        self.mark('(')?;
        let (mut parameters, mut variadic) = (Vec::new(), false);
        while !self.mark_if(')')? {
            if self.word_if("...")? {
                variadic = true;
            } else {
                let ty = self.ty(0)?;
                if ty == Type::Metadata {
                    self.skip_attributes()?;
                }
                let by_value = self.skip_attributes()?.0;
                let name = match self.peek()? {
                    Token::Local(name) => {
                        self.take()?;
                        name
                    }
                    _ => "",
                };
                // Unnamed parameters have the numbers from 0 on.
                let name = if name.is_empty() && defined { number(parameters.len()) } else { name };
                parameters.push(Parameter { ty, name, by_value });
            }
            if !self.mark_if(',')? {
                self.mark(')')?;
                break;
            }
        }
        Ok((parameters, variadic))
    }
}

/// Returns a small number as a name.
fn number(n: usize) -> &'static str {
    const NAMES: [&str; 16] =
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"];
    NAMES.get(n).copied().unwrap_or("")
}

/// Returns whether a value, and not an attribute, begins with a word.
fn is_value_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
        || matches!(
            word,
            "null"
                | "none"
                | "zeroinitializer"
                | "undef"
                | "poison"
                | "true"
                | "false"
                | "asm"
                | "splat"
                | "blockaddress"
                | "dso_local_equivalent"
                | "no_cfi"
                | "ptrauth"
                | "getelementptr"
                | "inttoptr"
                | "ptrtoint"
                | "ptrtoaddr"
                | "bitcast"
                | "addrspacecast"
                | "trunc"
                | "add"
                | "sub"
                | "mul"
                | "xor"
                | "and"
                | "or"
                | "shl"
                | "lshr"
                | "icmp"
                | "select"
        )
}

/// Returns types with the names that stand for them replaced, or what is wrong with them.
pub fn resolve<'t>(
    ty: &Type<'t>,
    types: &FxHashMap<&'t str, Option<Type<'t>>>,
    depth: usize,
) -> Result<Type<'t>, String> {
    if depth > DEEPEST {
        return Err("a type that contains itself".into());
    }
    Ok(match ty {
        Type::Named(name) => match types.get(name) {
            Some(Some(ty)) => resolve(ty, types, depth + 1)?,
            Some(None) => return Err(format!("the opaque type `%{name}`")),
            None => return Err(format!("the type `%{name}`, which is not defined,")),
        },
        Type::Array(n, of) => Type::Array(*n, resolve(of, types, depth + 1)?.into()),
        Type::Struct(fields, packed) => {
            let fields: Result<Vec<_>, _> = fields.iter().map(|f| resolve(f, types, depth + 1)).collect();
            Type::Struct(fields?.into(), *packed)
        }
        other => other.clone(),
    })
}

/// Returns whether a value is a constant that is 0.
pub fn is_zero(v: &Value<'_>) -> bool {
    matches!(v, Value::Null | Value::Zero | Value::Int(0))
}
