//! Tokens to tree: recursive descent with error recovery.
//!
//! A method that cannot continue reports why and returns `Failed`; the statement list that called
//! it skips to the next `;` or to the end of the block and continues. Three rules limit follow-up
//! errors: at most one error per place is reported, a missing `then` or `fi` is supplied instead of
//! searched for, and a closing keyword is left to the block that it closes.
//!
//! Trees are consumed by recursive functions, here and in later stages, so their depth is limited
//! on the way down (`depth`, which also counts parentheses) and on the way up (the height of
//! expressions). Whatever the input, the parser neither panics nor overflows its stack, and its
//! time is linear.
//!
//! This file has the access to tokens, errors and recovery, and the outermost level; `stmt` and
//! `expr` have the rest of the grammar.

mod expr;
mod stmt;
#[cfg(test)]
mod tests;

use crate::bp::ast::{
    Constant, Decl, DeclVar, Enumeration, Expr, ExprKind, Function, Ident, Initial, Mark, Origin, Program,
    Stmt, Type,
};
use crate::bp::lexer::{Lexer, Tok, Token};
use crate::patience::Patience;
use crate::source::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Maximum nesting of statements and expressions together in the tree.
pub const MAX_NESTING: usize = 200;

/// Maximum depth of the parser's recursion. A tree as deep as allowed can be written with one pair
/// of parentheses around every part of it, hence the factor.
const MAX_RECURSION: usize = 2 * MAX_NESTING + 10;

/// Maximum number of errors, after which the rest of the file is not read, and of warnings, which
/// are only counted from then on.
const MAX_MESSAGES: usize = 20;

/// Maximum number of values that a function may return.
const MAX_RESULTS: u32 = 1024;

/// Reads a Boolean program. The tree is complete if no diagnostic is an error; otherwise it
/// contains the parts that could be parsed. Diagnostics come in text order.
pub fn parse(text: &str) -> (Program, Vec<Diagnostic>) {
    parse_within(text, &Patience::default())
}

/// Like [`parse`], but omits the rest of the text once the patience is over.
pub fn parse_within(text: &str, patience: &Patience) -> (Program, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        return (Program::default(), vec![Diagnostic::whole("E100", "the file is larger than 4 GiB")]);
    }
    let mut parser = Parser::new(text, patience);
    let mut program = parser.program();
    program.extended = parser.extended;
    program.orders = std::mem::take(&mut parser.orders);
    if parser.extended {
        // These two warnings concern other tools, which do not read extended programs at all.
        parser.diagnostics.retain(|d| !matches!(d.code, "W101" | "W102"));
    }
    (program, parser.finish())
}

/// The parser has reported why it cannot continue here.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// A construct that a closing keyword can close.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Function,
    If,
    While,
    Atomic,
}

struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    patience: Patience,
    /// The current token and the two after it; no decision needs more.
    ahead: [Token; 3],
    previous: Token,
    /// Blocks around the current token, outermost first.
    open: Vec<Block>,
    /// Number of statements around the current token.
    statements: usize,
    /// Depth of the parser's recursion.
    depth: usize,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// The place of the last error, where no second one is reported.
    last_error: Option<u32>,
    /// True if the rest of the file is not parsed.
    stopped: bool,
    /// True if the program uses an extension: a type, a constant, a number.
    extended: bool,
    orders: BTreeMap<u32, Mark>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, patience: &Patience) -> Parser<'t> {
        let nothing = Token { tok: Tok::Semi, span: Span::default() };
        let mut parser = Parser {
            text,
            lexer: Lexer::new(text),
            patience: patience.clone(),
            ahead: [nothing; 3],
            previous: nothing,
            open: Vec::new(),
            statements: 0,
            depth: 0,
            diagnostics: Vec::new(),
            errors: 0,
            warnings: 0,
            last_error: None,
            stopped: false,
            extended: false,
            orders: BTreeMap::new(),
        };
        for _ in 0..parser.ahead.len() {
            parser.bump();
        }
        parser
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|d| d.span.map_or(u32::MAX, |s| s.start));
        if self.warnings > MAX_MESSAGES {
            let message = format!("{} more warnings are not shown", self.warnings - MAX_MESSAGES);
            let span = Span::new(self.text.len(), self.text.len());
            self.diagnostics.push(Diagnostic { span: None, ..Diagnostic::warning("W199", span, message) });
        }
        if self.errors >= MAX_MESSAGES {
            self.diagnostics
                .push(Diagnostic::whole("E199", "too many errors: the rest of the file was not read"));
        }
        self.diagnostics
    }

    // ---- tokens

    fn tok(&self) -> Tok {
        self.ahead[0].tok
    }

    fn next_tok(&self) -> Tok {
        self.ahead[1].tok
    }

    fn span(&self) -> Span {
        self.ahead[0].span
    }

    fn text_of(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the spelling of the current token.
    fn word(&self) -> &'t str {
        self.text_of(self.span())
    }

    fn at(&self, tok: Tok) -> bool {
        self.tok() == tok
    }

    /// Returns whether the current token is this contextual keyword, which is a name elsewhere.
    fn at_word(&self, word: &str) -> bool {
        self.at(Tok::Ident) && self.word() == word
    }

    fn bump(&mut self) -> Token {
        let [current, second, third] = self.ahead;
        self.previous = current;
        self.ahead = [second, third, self.lexer.token()];
        // Taking the diagnostics one by one keeps the limit on errors exact.
        for error in std::mem::take(&mut self.lexer.diagnostics) {
            self.report(error);
        }
        if self.patience.is_over() {
            self.stop();
        }
        current
    }

    fn accept(&mut self, tok: Tok) -> Option<Token> {
        self.at(tok).then(|| self.bump())
    }

    fn expect(&mut self, tok: Tok) -> Parsed<Token> {
        match self.accept(tok) {
            Some(token) => Ok(token),
            None => Err(self.unexpected(tok.symbol())),
        }
    }

    fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(Tok::Comma).is_some() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn ident(&mut self) -> Ident {
        let token = self.bump();
        Ident { name: self.text_of(token.span).to_string(), span: token.span }
    }

    /// Parses the name of something that is declared.
    fn name(&mut self, what: &str) -> Parsed<Ident> {
        if self.at(Tok::Ident) {
            return Ok(self.ident());
        }
        let hint = self.tok().is_reserved().then(|| format!("`{}` cannot be a name", self.word()));
        Err(self.unexpected_hint(what, hint))
    }

    // ---- errors

    fn report(&mut self, diagnostic: Diagnostic) {
        let start = diagnostic.span.map(|s| s.start);
        if self.stopped || self.last_error == start {
            return;
        }
        self.last_error = start;
        self.diagnostics.push(diagnostic);
        self.errors += 1;
        if self.errors >= MAX_MESSAGES {
            self.stop();
        }
    }

    fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings += 1;
        if self.warnings <= MAX_MESSAGES && !self.stopped {
            self.diagnostics.push(diagnostic);
        }
    }

    fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        self.report(diagnostic);
        Failed
    }

    /// Reports an error and skips the rest of the file, which would only produce misleading errors.
    fn fatal(&mut self, diagnostic: Diagnostic) -> Failed {
        self.report(diagnostic);
        self.stop();
        Failed
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.lexer.stop();
        let end = Span::new(self.text.len(), self.text.len());
        self.ahead = [Token { tok: Tok::Eof, span: end }; 3];
    }

    fn unexpected_error(&self, expected: &str) -> Diagnostic {
        let message = match self.tok() {
            Tok::Eof => "the file ends too early".to_string(),
            _ => format!("unexpected `{}`", shortened(self.word())),
        };
        Diagnostic::error("E110", self.span(), message).label(format!("expected {expected}"))
    }

    /// Reports what was expected here.
    fn unexpected(&mut self, expected: &str) -> Failed {
        self.unexpected_hint(expected, None)
    }

    /// Reports what was expected here, unless the lexer has already reported junk.
    fn unexpected_hint(&mut self, expected: &str, hint: Option<String>) -> Failed {
        match self.tok() {
            Tok::Junk => Failed,
            _ => self.fail(Diagnostic { hint, ..self.unexpected_error(expected) }),
        }
    }

    /// Reports `{` where a word was expected: this is not a Boolean program, and further errors
    /// would not help.
    fn refuse_brace(&mut self, expected: &str, hint: &str) -> Failed {
        let error = Diagnostic::error("E128", self.span(), "braces do not enclose statements here");
        self.fatal(error.label(format!("expected {expected}")).hint(hint))
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_RECURSION {
            return Err(self.too_deep(self.span()));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self, span: Span) -> Failed {
        let error = Diagnostic::error("E103", span, "nested too deeply");
        self.fatal(
            error
                .label(format!("the limit is {MAX_NESTING} levels"))
                .hint("split it with variables or gotos"),
        )
    }

    /// Returns the line of a place, counted from 1.
    fn line_of(&self, span: Span) -> usize {
        let before = self.text.as_bytes().get(..span.start as usize).unwrap_or_default();
        before.iter().filter(|&&b| b == b'\n').count() + 1
    }

    // ---- comments

    /// Returns the location named by the last comment before this place.
    fn take_origin(&mut self, before: u32) -> Option<Origin> {
        let mut last = None;
        while self.lexer.origins.front().is_some_and(|(at, _)| *at < before) {
            last = self.lexer.origins.pop_front().map(|(_, origin)| origin);
        }
        last
    }

    // ---- program

    fn program(&mut self) -> Program {
        let mut program = Program::default();
        while !self.at(Tok::Eof) {
            let _ = self.global(&mut program).or_else(|Failed| self.next_global());
        }
        program
    }

    fn global(&mut self, program: &mut Program) -> Parsed<()> {
        if self.at(Tok::Decl) {
            program.globals.push(self.declaration()?);
            if self.accept(Tok::Semi).is_none() {
                self.missing_semicolon();
                self.accept(Tok::Semi);
            }
        } else if self.at_constant() {
            program.constants.push(self.constant()?);
            self.expect(Tok::Semi)?;
        } else if self.at_enumeration() {
            program.enumerations.push(self.enumeration()?);
            self.expect(Tok::Semi)?;
        } else if self.at_function() || self.refuse_c_type() || self.at_typed_function() {
            program.functions.push(self.function()?);
        } else {
            return Err(self.not_a_global());
        }
        Ok(())
    }

    /// Skips to a token that surely starts a declaration or a function. Always makes progress,
    /// because the error was either at a token that starts neither, or after one that does.
    fn next_global(&mut self) -> Parsed<()> {
        while !(matches!(self.tok(), Tok::Decl | Tok::Void | Tok::Bool | Tok::Eof)
            || self.at_dfs()
            || self.at_constant()
            || self.at_enumeration())
        {
            self.bump();
        }
        Ok(())
    }

    fn at_constant(&self) -> bool {
        self.at_word("const") && self.next_tok() == Tok::Ident
    }

    fn at_enumeration(&self) -> bool {
        self.at_word("enum") && self.next_tok() == Tok::Ident && self.ahead[2].tok == Tok::LBrace
    }

    /// Returns whether a function whose results have types starts here: `u3 f(`, `0..3 f(`, `u3,
    /// bool f(`.
    fn at_typed_function(&self) -> bool {
        match self.tok() {
            Tok::Ident => match self.next_tok() {
                Tok::Ident => self.ahead[2].tok == Tok::LParen,
                tok => matches!(tok, Tok::DotDot | Tok::Comma | Tok::Plus | Tok::Minus | Tok::Star),
            },
            Tok::Int | Tok::Minus => true,
            _ => false,
        }
    }

    /// Parses `const N = 4`.
    fn constant(&mut self) -> Parsed<Constant> {
        self.extended = true;
        self.bump();
        let name = self.ident();
        self.expect(Tok::Equal)?;
        Ok(Constant { name, value: self.expr()? })
    }

    /// Parses `enum phase { idle, trying }`.
    fn enumeration(&mut self) -> Parsed<Enumeration> {
        self.extended = true;
        self.bump();
        let name = self.ident();
        self.expect(Tok::LBrace)?;
        let values = self.comma_list(|p| p.name("the name of a value"))?;
        self.expect(Tok::RBrace)?;
        Ok(Enumeration { name, values })
    }

    /// Parses `bool`, `0..7`, `u3` or the name of an enumeration.
    fn type_(&mut self) -> Parsed<Type> {
        self.extended = true;
        if self.accept(Tok::Bool).is_some() {
            return Ok(Type::Bool);
        }
        let from = self.sum()?;
        if self.accept(Tok::DotDot).is_some() {
            return Ok(Type::Range(Box::new(from), Box::new(self.sum()?)));
        }
        match from {
            Expr { kind: ExprKind::Name { name, primed: false }, span } => {
                Ok(Type::Named(Ident { name, span }))
            }
            _ => Err(self.unexpected("`..` and the largest number")),
        }
    }

    fn at_dfs(&self) -> bool {
        self.at_word("dfs") && matches!(self.next_tok(), Tok::Void | Tok::Bool)
    }

    /// Returns whether a function starts here, perhaps without its type.
    fn at_function(&self) -> bool {
        let typed = matches!(self.tok(), Tok::Void | Tok::Bool) || self.at_dfs();
        typed || (self.at(Tok::Ident) && self.next_tok() == Tok::LParen)
    }

    fn not_a_global(&mut self) -> Failed {
        let after_end = self.previous.tok == Tok::End && self.at(Tok::Semi);
        let hint = after_end.then(|| "no `;` follows the `end` of a function".to_string());
        self.unexpected_hint("`decl` or a function", hint)
    }

    /// Reports a C declaration such as `int x`, and returns whether a function follows the type.
    fn refuse_c_type(&mut self) -> bool {
        const TYPES: [&str; 8] = ["int", "char", "unsigned", "long", "short", "_Bool", "boolean", "static"];
        if !(self.at(Tok::Ident) && TYPES.contains(&self.word()) && self.next_tok() == Tok::Ident) {
            return false;
        }
        let name = self.text_of(self.ahead[1].span);
        let function = self.ahead[2].tok == Tok::LParen;
        let hint = match function {
            true => format!("write `void {name}(...) begin ... end` or `bool {name}(...) begin ... end`"),
            false => format!("write `decl {name};` or `decl {name} : 0..7;`"),
        };
        let message = format!(
            "`{}` is not a type: there are `bool`, ranges `0..7`, `u3` and enumerations",
            self.word()
        );
        self.report(Diagnostic::error("E128", self.span(), message).hint(hint));
        if function {
            self.bump();
        }
        function
    }

    // ---- declarations

    /// Parses `decl [thread_local] x, y := 0`.
    fn declaration(&mut self) -> Parsed<Decl> {
        let start = self.bump().span;
        let thread_local = self.at_word("thread_local") && self.next_tok() == Tok::Ident;
        if thread_local {
            self.bump();
        }
        let variables = self.comma_list(Self::declared_variable)?;
        let mixed = variables.iter().any(|v| v.ty.is_some());
        if let Some(untyped) = variables.iter().find(|v| mixed && v.ty.is_none()) {
            self.report(untyped_beside_typed(&untyped.name));
        }
        Ok(Decl { thread_local, variables, span: start.to(self.previous.span) })
    }

    fn declared_variable(&mut self) -> Parsed<DeclVar> {
        let name = self.name("the name of a variable")?;
        let length = match self.accept(Tok::LBracket) {
            Some(_) => {
                self.extended = true;
                let length = self.expr()?;
                self.expect(Tok::RBracket)?;
                Some(length)
            }
            None => None,
        };
        let ty = match self.accept(Tok::Colon) {
            Some(_) => Some(self.type_()?),
            None => None,
        };
        if self.at(Tok::Equal) {
            self.equal_for_becomes();
        }
        let initial = match self.accept(Tok::Becomes) {
            Some(_) => Some(self.initial_value(ty.is_some())?),
            None => None,
        };
        Ok(DeclVar { name, length, ty, initial })
    }

    /// Reports `=` and reads it as `:=`.
    fn equal_for_becomes(&mut self) {
        let error = Diagnostic::error("E116", self.span(), "`=` compares, it does not assign");
        self.report(error.label("expected `:=`").hint("write `:=` to assign"));
        self.ahead[0].tok = Tok::Becomes;
    }

    fn initial_value(&mut self, is_typed: bool) -> Parsed<Initial> {
        if is_typed {
            let value = self.expr()?;
            return Ok(match value.kind {
                ExprKind::Const(false) => Initial::False,
                ExprKind::Const(true) => Initial::True,
                ExprKind::Any => Initial::Any,
                _ => Initial::Value(value),
            });
        }
        let value = match (self.tok(), self.word()) {
            (Tok::False, _) | (Tok::Int, "0") => Initial::False,
            (Tok::True, _) | (Tok::Int, "1") => Initial::True,
            (Tok::Star, _) => Initial::Any,
            (Tok::Junk, _) => return Err(Failed),
            _ => {
                let error = Diagnostic::error("E127", self.span(), "an initial value is 0, 1 or *");
                return Err(self.fail(error.label("expected `0`, `1` or `*`")));
            }
        };
        self.bump();
        Ok(value)
    }

    // ---- functions

    fn function(&mut self) -> Parsed<Function> {
        let dfs = self.at_dfs();
        if dfs {
            self.bump();
        }
        let start = self.span();
        let head = self.head();
        if head.is_err() {
            self.skip_to_body();
        }
        if !self.at(Tok::Begin) {
            return Err(self.no_body(head.is_ok()));
        }
        let begin = self.bump().span;
        let body = self.block(Block::Function);
        let end = self.close(Tok::End, begin, Tok::Begin);
        let span = start.to(end);
        Ok(Function { dfs, body, span, end, ..head? })
    }

    /// Parses the type, name and parameters of a function.
    fn head(&mut self) -> Parsed<Function> {
        let (results, result_types) = self.result_type()?;
        let name = self.name("the name of a function")?;
        self.expect(Tok::LParen)?;
        let parameters = match self.at(Tok::RParen) {
            true => Vec::new(),
            false => self.comma_list(Self::parameter)?,
        };
        self.expect(Tok::RParen)?;
        let (parameters, types): (Vec<Ident>, Vec<Option<Type>>) = parameters.into_iter().unzip();
        if types.iter().any(Option::is_some)
            && let Some(untyped) = parameters.iter().zip(&types).find(|(_, ty)| ty.is_none())
        {
            self.report(untyped_beside_typed(untyped.0));
        }
        let parameter_types = types.into_iter().flatten().collect();
        let (span, end) = Default::default();
        Ok(Function {
            dfs: false,
            results,
            result_types,
            name,
            parameters,
            parameter_types,
            body: Vec::new(),
            span,
            end,
        })
    }

    fn parameter(&mut self) -> Parsed<(Ident, Option<Type>)> {
        if matches!(self.tok(), Tok::Bool | Tok::Void)
            || (self.at(Tok::Ident) && self.next_tok() == Tok::Ident)
        {
            let hint = "write `f(x, y)`, or `f(x : bool, y : 0..7)`".to_string();
            return Err(self.unexpected_hint("the name of a parameter", Some(hint)));
        }
        let name = self.name("the name of a parameter")?;
        let ty = match self.accept(Tok::Colon) {
            Some(_) => Some(self.type_()?),
            None => None,
        };
        Ok((name, ty))
    }

    /// Parses `void`, `bool`, `bool<n>`, types one by one, or nothing, which is `void`.
    fn result_type(&mut self) -> Parsed<(u32, Vec<Type>)> {
        match (self.tok(), self.next_tok()) {
            (Tok::Void, _) => {
                self.bump();
                Ok((0, Vec::new()))
            }
            (Tok::Bool, next) if next != Tok::Comma => {
                self.bump();
                Ok((self.width()?, Vec::new()))
            }
            // The papers' programs omit the type of `main`.
            (Tok::Ident, Tok::LParen) => Ok((0, Vec::new())),
            _ if self.at(Tok::Bool) || self.at_typed_function() => {
                let types = self.comma_list(Self::type_)?;
                Ok((types.len() as u32, types))
            }
            _ => Ok((0, Vec::new())),
        }
    }

    /// Parses an optional `<n>` after `bool`.
    fn width(&mut self) -> Parsed<u32> {
        if self.accept(Tok::Less).is_none() {
            return Ok(1);
        }
        if !self.at(Tok::Int) {
            return Err(self.unexpected("the number of results"));
        }
        // A number that does not fit into a `u32` exceeds the limit, too.
        let width = self.word().parse().unwrap_or(u32::MAX);
        if !(1..=MAX_RESULTS).contains(&width) {
            let message = format!("a function returns between 1 and {MAX_RESULTS} values");
            self.report(Diagnostic::error("E125", self.span(), message));
        }
        self.bump();
        self.expect(Tok::Greater)?;
        Ok(width)
    }

    /// Recovers from an error in a head: skips to the body, but not beyond the next declaration or
    /// function.
    fn skip_to_body(&mut self) {
        while !matches!(self.tok(), Tok::Begin | Tok::LBrace | Tok::Semi | Tok::Decl | Tok::End | Tok::Eof) {
            self.bump();
        }
    }

    fn no_body(&mut self, complain: bool) -> Failed {
        if self.at(Tok::LBrace) {
            return self.refuse_brace("`begin`", "write `begin ... end` around the body of a function");
        }
        if !complain {
            return Failed;
        }
        let hint = self.at(Tok::Semi).then(|| "a function is defined where it is declared".to_string());
        self.unexpected_hint("`begin`", hint)
    }

    /// Parses the statements of a block, up to its closing keyword.
    fn block(&mut self, block: Block) -> Vec<Stmt> {
        self.take_origin(self.previous.span.end); // comments outside belong to no statement inside
        self.open.push(block);
        let statements = self.statements();
        self.open.pop();
        self.take_origin(self.span().start);
        statements
    }

    /// Expects the keyword that closes a block; supplies it if it is missing.
    fn close(&mut self, closer: Tok, opener: Span, opening: Tok) -> Span {
        if let Some(token) = self.accept(closer) {
            return token.span;
        }
        let line = self.line_of(opener);
        let message = format!("{} without {}", opening.symbol(), closer.symbol());
        let error =
            Diagnostic::error("E118", self.span(), message).label(format!("expected {}", closer.symbol()));
        self.report(error.hint(format!("the {} of line {line} is still open", opening.symbol())));
        if self.stray_closer() {
            self.bump(); // the wrong keyword in the right place
        }
        self.previous.span
    }

    /// Returns whether the current token is a closing keyword that closes nothing.
    fn stray_closer(&self) -> bool {
        let opener = match self.tok() {
            Tok::End => Block::Function,
            Tok::Fi | Tok::Else | Tok::Elsif => Block::If,
            Tok::Od => Block::While,
            Tok::RBrace => Block::Atomic,
            _ => return false,
        };
        !self.open.contains(&opener)
    }
}

/// Returns the error about `decl a, b : 0..3`, which looks as if both had the type.
fn untyped_beside_typed(name: &Ident) -> Diagnostic {
    let message = format!("`{}` has no type, but another one beside it has", name.name);
    Diagnostic::error("E129", name.span, message)
        .hint(format!("write a type for each, as in `{} : bool`", name.name))
}

/// Shortens a word for a message.
fn shortened(word: &str) -> String {
    const LONGEST: usize = 40;
    match word.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", word.get(..at).unwrap_or_default()),
        None => word.to_string(),
    }
}
