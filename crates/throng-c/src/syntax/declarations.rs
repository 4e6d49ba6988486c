//! Declarations, functions, and whole files.

use super::SyntaxError;
use super::ast::*;
use super::declarators::{declared_name, first_derived};
use super::parser::{Failed, Parsed, Parser};
use super::specifiers::Specifiers;
use super::token::Kind;

/// What a declaration turned out to be.
pub(super) enum Declared {
    Declaration(Node<Declaration>),
    Function(Box<Node<FunctionDefinition>>),
}

impl Parser<'_> {
    pub(super) fn translation_unit(&mut self) -> TranslationUnit {
        let mut items = Vec::new();
        while !self.errors.is_full() {
            self.outer_pragmas(&mut items);
            let first = self.at;
            match self.kind() {
                Kind::End => break,
                Kind::Semicolon => self.bump(),
                _ => match self.external_declaration() {
                    Ok(item) => items.push(item),
                    Err(_) => self.recover_outside(first),
                },
            }
        }
        TranslationUnit(items)
    }

    fn outer_pragmas(&mut self, items: &mut Vec<Node<ExternalDeclaration>>) {
        let pragmas = self.pending_pragmas();
        items.extend(pragmas.into_iter().map(|p| Node::new(ExternalDeclaration::Pragma(p.node), p.span)));
    }

    fn external_declaration(&mut self) -> Parsed<Node<ExternalDeclaration>> {
        let start = self.start();
        let item = match self.kind() {
            Kind::StaticAssert => ExternalDeclaration::StaticAssert(self.static_assert()?),
            Kind::Asm => ExternalDeclaration::Asm(self.outer_assembly()?),
            Kind::RightBrace => return Err(self.refuse("this `}` closes nothing", None)),
            _ => match self.declaration()? {
                Declared::Declaration(d) => ExternalDeclaration::Declaration(d),
                Declared::Function(f) => ExternalDeclaration::FunctionDefinition(f),
            },
        };
        Ok(self.node(start, item))
    }

    /// `asm("…");` outside functions; operands are passed over.
    fn outer_assembly(&mut self) -> Parsed<Node<StringLiteral>> {
        self.bump();
        while matches!(self.kind(), Kind::Volatile | Kind::Inline) {
            self.bump();
        }
        let closing = self.token(self.at).closing as usize;
        self.expect(Kind::LeftParen)?;
        let text = self.string()?;
        if self.kind() == Kind::Colon {
            self.at = closing;
        }
        self.expect(Kind::RightParen)?;
        self.semicolon()?;
        Ok(text)
    }

    /// `static_assert(e, "…");`
    pub(super) fn static_assert(&mut self) -> Parsed<Node<StaticAssert>> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        let expression = Box::new(self.conditional()?);
        let message = if self.eat(Kind::Comma) { Some(self.string()?) } else { None };
        self.expect(Kind::RightParen)?;
        self.semicolon()?;
        Ok(self.node(start, StaticAssert { expression, message }))
    }

    /// A declaration or the definition of a function.
    pub(super) fn declaration(&mut self) -> Parsed<Declared> {
        let mut specifiers = self.specifiers()?;
        let start = specifiers.start;
        let mut declarators = Vec::new();
        if self.lacks_semicolon(&specifiers) {
            self.missing(Kind::Semicolon);
            let declaration = Declaration { specifiers: specifiers.list, declarators };
            return Ok(Declared::Declaration(self.node(start, declaration)));
        }
        // Without any specifier it is an `int`, in the old style.
        let begins = matches!(self.kind(), Kind::Identifier | Kind::Star | Kind::LeftParen);
        if specifiers.list.is_empty() && !begins {
            return Err(self.unexpected("a declaration"));
        }
        while self.kind() != Kind::Semicolon || !declarators.is_empty() {
            let begin = self.start();
            let mut declarator = self.named_declarator()?;
            declarator.node.label = self.assembler_name()?;
            let attributes = self.attributes()?;
            declarator.node.attributes.extend(attributes);
            if declarators.is_empty() && self.is_body(&declarator.node) {
                return Ok(Declared::Function(Box::new(self.function_definition(specifiers, declarator)?)));
            }
            declarators.push(self.init_declarator(begin, &specifiers, declarator)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let initialized = !declarators.is_empty() && declarators.iter().all(|d| d.node.initializer.is_some());
        if initialized {
            specifiers.auto_is_type();
        }
        self.semicolon()?;
        Ok(Declared::Declaration(self.node(start, Declaration { specifiers: specifiers.list, declarators })))
    }

    fn init_declarator(
        &mut self,
        start: usize,
        specifiers: &Specifiers,
        declarator: Node<Declarator>,
    ) -> Parsed<Node<InitDeclarator>> {
        if let Some(name) = declared_name(&declarator.node) {
            self.declare(name, specifiers.is_typedef);
        }
        let initializer = if self.eat(Kind::Assign) { Some(self.initializer()?) } else { None };
        Ok(self.node(start, InitDeclarator { declarator, initializer }))
    }

    /// Returns whether the body of a function follows its declarator, or declarations of parameters
    /// in the old style.
    fn is_body(&self, declarator: &Declarator) -> bool {
        match first_derived(declarator) {
            Some(DerivedDeclarator::Function(_)) => self.kind() == Kind::LeftBrace,
            Some(DerivedDeclarator::KRFunction(names)) => {
                self.kind() == Kind::LeftBrace || !names.is_empty() && self.is_declaration(self.at)
            }
            _ => false,
        }
    }

    fn function_definition(
        &mut self,
        specifiers: Specifiers,
        declarator: Node<Declarator>,
    ) -> Parsed<Node<FunctionDefinition>> {
        if let Some(name) = declared_name(&declarator.node) {
            self.declare(name, false);
        }
        self.in_scope(|p| {
            p.declare_parameters(&declarator.node);
            let mut declarations = Vec::new();
            while p.kind() != Kind::LeftBrace {
                match p.declaration()? {
                    Declared::Declaration(d) => declarations.push(d),
                    Declared::Function(_) => return Err(p.unexpected("`{`")),
                }
            }
            let statement = p.block_in_scope()?;
            let list = specifiers.list;
            let definition = FunctionDefinition { specifiers: list, declarator, declarations, statement };
            Ok(p.node(specifiers.start, definition))
        })
    }

    fn declare_parameters(&mut self, declarator: &Declarator) {
        match first_derived(declarator) {
            Some(DerivedDeclarator::Function(f)) => {
                let declarators = f.parameters.iter().filter_map(|p| p.node.declarator.as_ref());
                let names: Vec<Span> = declarators.filter_map(|d| declared_name(&d.node)).collect();
                names.into_iter().for_each(|n| self.declare(n, false));
            }
            Some(DerivedDeclarator::KRFunction(names)) => {
                names.iter().for_each(|n| self.declare(n.span, false));
            }
            _ => {}
        }
    }

    /// Reports that a brace has no counterpart, where it stands.
    pub(super) fn unclosed(&mut self, opening: usize) -> Failed {
        self.report(SyntaxError::new(self.token_span(opening), "this `{` is not closed"))
    }
}
