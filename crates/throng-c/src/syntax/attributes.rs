//! Attributes, of GNU C and of C23, and names in assembly.

use super::SyntaxError;
use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;

/// The attributes that C23 has without a scope. Compilers pass over others that are written so.
const STANDARD: &[&str] = &[
    "deprecated",
    "fallthrough",
    "maybe_unused",
    "nodiscard",
    "noreturn",
    "_Noreturn",
    "reproducible",
    "unsequenced",
];

impl Parser<'_> {
    /// Returns whether attributes begin at a token.
    pub(super) fn is_attribute(&self, index: usize) -> bool {
        match self.kind_of(index) {
            Kind::Attribute => true,
            Kind::LeftBracket => self.kind_of(index + 1) == Kind::LeftBracket,
            _ => false,
        }
    }

    /// Returns the index of the first token from an index on that does not belong to attributes.
    pub(super) fn behind_attributes(&self, index: usize) -> usize {
        let mut at = index;
        while self.is_attribute(at) {
            let bracket = at + usize::from(self.kind_of(at) == Kind::Attribute);
            let closing = self.token(bracket).closing as usize;
            if closing <= at {
                return at;
            }
            at = closing + 1;
        }
        at
    }

    /// Reads all attributes that come next.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.is_attribute(self.at) {
            if self.eat(Kind::Attribute) {
                self.gnu_attributes(&mut attributes)?;
            } else {
                self.standard_attributes(&mut attributes)?;
            }
        }
        Ok(attributes)
    }

    /// `((a, b(c)))`
    fn gnu_attributes(&mut self, out: &mut Vec<Attribute>) -> Parsed<()> {
        self.expect(Kind::LeftParen)?;
        self.expect(Kind::LeftParen)?;
        while self.kind() != Kind::RightParen {
            if self.eat(Kind::Comma) {
                continue;
            }
            let span = self.attribute_name()?;
            let name = bare(&self.text[span.start..span.end]).to_string();
            out.push(self.attribute(Node::new(name, span))?);
            if !matches!(self.kind(), Kind::Comma | Kind::RightParen) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        self.bump();
        self.expect(Kind::RightParen)
    }

    /// `[[a, gnu::b(c)]]`
    fn standard_attributes(&mut self, out: &mut Vec<Attribute>) -> Parsed<()> {
        self.expect(Kind::LeftBracket)?;
        self.expect(Kind::LeftBracket)?;
        while self.kind() != Kind::RightBracket {
            if self.eat(Kind::Comma) {
                continue;
            }
            let first = self.attribute_name()?;
            let scoped = self.eat(Kind::Colon);
            let last = if scoped {
                self.expect(Kind::Colon)?;
                self.attribute_name()?
            } else {
                first
            };
            let name = bare(&self.text[last.start..last.end]);
            let scope = scoped.then(|| bare(&self.text[first.start..first.end]));
            let name = match scope {
                Some("gnu" | "clang") => name.to_string(),
                Some(scope) => format!("{scope}::{name}"),
                None if STANDARD.contains(&name) => name.to_string(),
                None => format!("[[{name}]]"),
            };
            let span = Span::new(first.start, last.end);
            out.push(self.attribute(Node::new(name, span))?);
            if !matches!(self.kind(), Kind::Comma | Kind::RightBracket) {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        self.bump();
        self.expect(Kind::RightBracket)
    }

    /// Passes the name of an attribute, which may be a keyword.
    fn attribute_name(&mut self) -> Parsed<Span> {
        let span = self.token_span(self.at);
        let text = self.spelling(self.at);
        if !text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') {
            return Err(self.unexpected("the name of an attribute"));
        }
        self.bump();
        Ok(span)
    }

    /// An attribute whose name has been read, with its arguments.
    fn attribute(&mut self, name: Node<String>) -> Parsed<Attribute> {
        if self.kind() != Kind::LeftParen {
            return Ok(Attribute { name, arguments: Vec::new(), text: String::new() });
        }
        let closing = self.token(self.at).closing as usize;
        let from = self.token_span(self.at).end;
        if self.kind_of(closing) != Kind::RightParen {
            self.bump();
            return Err(self.refuse("the arguments of this attribute are not closed", None));
        }
        self.bump();
        let arguments = self.attribute_arguments(closing);
        self.at = closing + 1;
        let text = self.text[from..self.token_span(closing).start].trim().to_string();
        Ok(Attribute { name, arguments, text })
    }

    /// Reads arguments as far as they are expressions; what is not is left out, since attributes
    /// have grammars of their own.
    fn attribute_arguments(&mut self, closing: usize) -> Vec<Node<Expression>> {
        let mut arguments = Vec::new();
        let quiet = std::mem::replace(&mut self.quiet, true);
        while self.at < closing {
            let is_type = self.is_type(self.at);
            let read = if is_type { self.type_name().map(|_| None) } else { self.assignment().map(Some) };
            match read {
                Ok(argument) => arguments.extend(argument),
                Err(_) => break,
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.quiet = quiet;
        arguments
    }

    /// `asm("name")` behind a declarator.
    pub(super) fn assembler_name(&mut self) -> Parsed<Option<Node<StringLiteral>>> {
        if !self.eat(Kind::Asm) {
            return Ok(None);
        }
        self.expect(Kind::LeftParen)?;
        let name = self.string()?;
        self.expect(Kind::RightParen)?;
        Ok(Some(name))
    }

    /// `__declspec(…)` of other compilers: refused, and passed over.
    pub(super) fn declspec(&mut self) {
        let error = SyntaxError::new(self.token_span(self.at), "`__declspec` is not supported");
        self.report(SyntaxError { hint: Some("write `__attribute__`".into()), ..error });
        self.bump();
        if self.kind() == Kind::LeftParen {
            self.at = self.token(self.at).closing as usize;
            self.eat(Kind::RightParen);
        }
    }
}

/// Returns the name of an attribute without the underscores around it.
fn bare(name: &str) -> &str {
    crate::constructs::bare(name)
}
