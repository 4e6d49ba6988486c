//! The state of the parser, and the steps that all of its parts take.

use super::ast::*;
use super::directives::Pragmas;
use super::errors::Errors;
use super::lexer::Lexed;
use super::literals;
use super::scopes::Scopes;
use super::token::{Kind, Token};
use super::{DEEPEST, SyntaxError, hints};

/// An error was reported, and what was being read cannot be completed.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Parsed<T> = Result<T, Failed>;

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    tokens: Vec<Token>,
    /// The index of the next token.
    pub(super) at: usize,
    pub(super) pragmas: Pragmas,
    /// The index of the next pragma that is not in the tree yet.
    next_pragma: usize,
    pub(super) scopes: Scopes<'t>,
    /// Whether some keyword may be declared as a name.
    soft_declared: bool,
    depth: usize,
    pub(super) errors: Errors,
    /// Whether errors are not reported: what cannot be read is passed over.
    pub(super) quiet: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, lexed: Lexed, errors: Errors) -> Parser<'t> {
        Parser {
            text,
            tokens: lexed.tokens,
            at: 0,
            pragmas: lexed.pragmas,
            next_pragma: 0,
            scopes: Scopes::default(),
            soft_declared: false,
            depth: 0,
            errors,
            quiet: false,
        }
    }

    pub(super) fn into_errors(self) -> Vec<SyntaxError> {
        let cplusplus = !self.errors.is_empty() && hints::is_cplusplus(self.text, &self.tokens);
        let mut errors = self.errors.sorted();
        if let Some(first) = errors.first_mut().filter(|_| cplusplus) {
            first.hint = Some("this looks like C++, which is not read".into());
        }
        errors
    }

    // ---- tokens ----

    /// Returns the kind of the next token.
    pub(super) fn kind(&self) -> Kind {
        self.kind_of(self.at)
    }

    /// Returns the kind of the token `n` tokens ahead.
    pub(super) fn ahead(&self, n: usize) -> Kind {
        self.kind_of(self.at + n)
    }

    /// Returns the kind of a token: a keyword that is declared as a name is a name.
    pub(super) fn kind_of(&self, index: usize) -> Kind {
        let token = self.token(index);
        if token.soft && self.soft_declared && self.scopes.is_declared(self.spelling(index)) {
            return Kind::Identifier;
        }
        token.kind
    }

    pub(super) fn token(&self, index: usize) -> Token {
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    pub(super) fn spelling(&self, index: usize) -> &'t str {
        let token = self.token(index);
        &self.text[token.start as usize..token.end as usize]
    }

    pub(super) fn token_span(&self, index: usize) -> Span {
        let token = self.token(index);
        Span::new(token.start as usize, token.end as usize)
    }

    pub(super) fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, kind: Kind) -> Parsed<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.unexpected(&kind.symbol())) }
    }

    /// Passes a semicolon. One that is missing at the end of a line, or before something that
    /// begins anew, is reported and taken as written.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let failed = self.missing(Kind::Semicolon);
        let new_line = self.text[self.last_end()..self.start()].contains('\n');
        let begins = matches!(self.kind(), Kind::RightBrace) || self.begins_statement();
        if (new_line || begins) && !self.quiet && self.kind() != Kind::LeftBrace {
            Ok(())
        } else {
            Err(failed)
        }
    }

    /// Returns whether a statement begins here, seen by its keyword.
    pub(super) fn begins_statement(&self) -> bool {
        use Kind::*;
        matches!(
            self.kind(),
            If | While | For | Do | Switch | Return | Break | Continue | Goto | Case | Default
        )
    }

    // ---- places ----

    /// Returns where the next token begins.
    pub(super) fn start(&self) -> usize {
        self.token(self.at).start as usize
    }

    /// Returns where the last token ended.
    pub(super) fn last_end(&self) -> usize {
        match self.at {
            0 => self.start(),
            at => self.token(at - 1).end as usize,
        }
    }

    /// Returns a part of the tree that began at `start` and ends with the last token.
    pub(super) fn node<T>(&self, start: usize, node: T) -> Node<T> {
        Node::new(node, Span::new(start, self.last_end().max(start)))
    }

    // ---- names ----

    /// Returns whether a token can be a name where one is declared or where no keyword fits.
    pub(super) fn is_name(&self, index: usize) -> bool {
        self.kind_of(index) == Kind::Identifier || self.token(index).soft
    }

    /// Reads a name; keywords of some dialects are names here.
    pub(super) fn name(&mut self, expected: &str) -> Parsed<Node<Identifier>> {
        if !self.is_name(self.at) {
            return Err(self.unexpected(expected));
        }
        let name = literals::name(self.spelling(self.at));
        let node = Node::new(Identifier { name }, self.token_span(self.at));
        self.bump();
        Ok(node)
    }

    /// Declares the name that stands at a place of the text.
    pub(super) fn declare(&mut self, name: Span, is_type: bool) {
        let text = &self.text[name.start..name.end];
        self.soft_declared |= super::token::word(text).1;
        self.scopes.declare(text, is_type);
    }

    // ---- nesting ----

    /// Reads something nested, unless it is nested too deeply.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            let error = SyntaxError::new(self.token_span(self.at), "nested too deeply");
            if !self.quiet {
                self.errors.fatal(error);
            }
            return Err(Failed);
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Reads something that is a scope.
    pub(super) fn in_scope<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.scopes.enter();
        let done = read(self);
        self.scopes.leave();
        done
    }

    // ---- pragmas ----

    /// Returns the pragmas before the next token that are not in the tree yet.
    pub(super) fn pending_pragmas(&mut self) -> Vec<Node<String>> {
        let mut found = Vec::new();
        // What is read quietly may not come into the tree.
        while !self.quiet
            && let Some((text, span)) = self.pragmas.before(self.next_pragma, self.at)
        {
            found.push(Node::new(text.to_string(), span));
            self.next_pragma += 1;
        }
        found
    }

    // ---- after errors ----

    /// Passes over what began at token `first` and had an error: to behind a semicolon, or to a
    /// brace that opens or closes; brackets are passed as a whole.
    pub(super) fn recover(&mut self, first: usize) {
        let failed_at = self.at;
        self.at = first;
        while self.kind() != Kind::End && !self.errors.is_full() {
            let passed = self.at >= failed_at;
            match self.kind() {
                Kind::Semicolon if passed => return self.bump(),
                Kind::RightBrace => return,
                Kind::LeftBrace if passed && self.at > first => return,
                _ if passed && self.at > first && self.begins_statement() => return,
                kind => self.pass(kind),
            }
        }
    }

    /// Passes over a declaration outside functions that had an error, with the body behind it.
    pub(super) fn recover_outside(&mut self, first: usize) {
        let failed_at = self.at;
        self.at = first;
        while self.kind() != Kind::End && !self.errors.is_full() {
            let kind = self.kind();
            self.pass(kind);
            let passed = self.at > failed_at;
            let ended = matches!(kind, Kind::Semicolon | Kind::RightBrace)
                || kind == Kind::LeftBrace && self.kind() != Kind::Semicolon;
            if passed && ended {
                return;
            }
        }
    }

    /// Passes over the next token, with all that it encloses.
    pub(super) fn pass_all(&mut self) {
        self.pass(self.kind());
    }

    /// Passes over a token, or over all that it encloses.
    fn pass(&mut self, kind: Kind) {
        if kind.opens() {
            let closing = self.token(self.at).closing as usize;
            if closing + 1 < self.tokens.len() {
                self.at = closing;
            }
        }
        self.bump();
    }
}
