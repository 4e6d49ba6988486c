//! Operands: names, constants, what is in brackets, and the builtins that take types.

use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;
use super::{SyntaxError, literals};

type Operand = Node<Expression>;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed<Operand> {
        let start = self.start();
        match self.kind() {
            Kind::Identifier => {
                let name = self.name("a name")?;
                Ok(self.node(start, Expression::Identifier(Box::new(name))))
            }
            Kind::Number => self.number(),
            Kind::Character => {
                let text = literals::quoted(self.spelling(self.at));
                Ok(self.constant(Constant::Character(text)))
            }
            Kind::Text => {
                let literal = self.string()?;
                Ok(self.node(start, Expression::StringLiteral(Box::new(literal))))
            }
            Kind::LeftParen => self.in_brackets(),
            Kind::Generic => self.generic_selection(),
            Kind::OffsetOf => self.offset_of(),
            Kind::VaArg => self.va_arg(),
            Kind::TypesCompatible => self.types_compatible(),
            Kind::True => Ok(self.cast_number(1, TypeSpecifier::Bool, false)),
            Kind::False => Ok(self.cast_number(0, TypeSpecifier::Bool, false)),
            Kind::Nullptr => Ok(self.cast_number(0, TypeSpecifier::Void, true)),
            Kind::Caret => Err(self.refuse("blocks are an extension of Clang and are not supported", None)),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn constant(&mut self, constant: Constant) -> Operand {
        let start = self.start();
        self.bump();
        let constant = self.node(start, constant);
        self.node(start, Expression::Constant(Box::new(constant)))
    }

    fn number(&mut self) -> Parsed<Operand> {
        let text = self.spelling(self.at);
        match literals::number(text) {
            Ok(constant) => Ok(self.constant(constant)),
            Err(why) => {
                let error = SyntaxError::new(self.token_span(self.at), why);
                Err(self.report(error))
            }
        }
    }

    /// `true`, `false` and `nullptr` of C23: a number of a type that they have.
    fn cast_number(&mut self, value: u128, specifier: TypeSpecifier, pointer: bool) -> Operand {
        let start = self.start();
        let size = IntegerSize::Int;
        let number = Integer { value, decimal: true, unsigned: false, size, imaginary: false };
        let expression = Box::new(self.constant(Constant::Integer(number)));
        let specifier = self.node(start, specifier);
        let specifiers = vec![self.node(start, DeclarationSpecifier::TypeSpecifier(specifier))];
        let declarator = pointer.then(|| {
            let kind = self.node(start, DeclaratorKind::Abstract);
            let derived = vec![self.node(start, DerivedDeclarator::Pointer(Vec::new()))];
            self.node(start, Declarator { kind, derived, attributes: Vec::new(), label: None })
        });
        let type_name = self.node(start, TypeName { specifiers, declarator });
        let cast = self.node(start, CastExpression { type_name, expression });
        self.node(start, Expression::Cast(Box::new(cast)))
    }

    /// Adjacent strings.
    pub(super) fn string(&mut self) -> Parsed<Node<StringLiteral>> {
        let start = self.start();
        let mut parts = Vec::new();
        while self.kind() == Kind::Text {
            parts.push(literals::quoted(self.spelling(self.at)));
            self.bump();
        }
        if parts.is_empty() {
            return Err(self.unexpected("a string"));
        }
        Ok(self.node(start, parts))
    }

    /// `(a)`, whose place is that of its brackets, or `({ … })`.
    fn in_brackets(&mut self) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        let inner = if self.kind() == Kind::LeftBrace {
            Expression::Statement(Box::new(self.nested(Self::block)?))
        } else {
            self.expression()?.node
        };
        self.expect(Kind::RightParen)?;
        Ok(self.node(start, inner))
    }

    fn generic_selection(&mut self) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        if self.is_type(self.at) {
            return Err(self.refuse("`_Generic` of a type is not supported", None));
        }
        let expression = Box::new(self.assignment()?);
        let mut associations = Vec::new();
        while self.eat(Kind::Comma) {
            associations.push(self.association()?);
        }
        self.expect(Kind::RightParen)?;
        let selection = self.node(start, GenericSelection { expression, associations });
        Ok(self.node(start, Expression::GenericSelection(Box::new(selection))))
    }

    fn association(&mut self) -> Parsed<Node<GenericAssociation>> {
        let start = self.start();
        let type_name = if self.eat(Kind::Default) { None } else { Some(self.type_name()?) };
        self.expect(Kind::Colon)?;
        let value = Box::new(self.assignment()?);
        let association = match type_name {
            Some(t) => GenericAssociation::Type(t, value),
            None => GenericAssociation::Default(value),
        };
        Ok(self.node(start, association))
    }

    fn offset_of(&mut self) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        let type_name = self.type_name()?;
        self.expect(Kind::Comma)?;
        let base = self.name("the name of a member")?;
        let mut members = Vec::new();
        while let Some(member) = self.offset_member()? {
            members.push(member);
        }
        self.expect(Kind::RightParen)?;
        let offset = self.node(start, OffsetOfExpression { type_name, base, members });
        Ok(self.node(start, Expression::OffsetOf(Box::new(offset))))
    }

    fn offset_member(&mut self) -> Parsed<Option<Node<OffsetMember>>> {
        let start = self.start();
        let member = if self.eat(Kind::Dot) {
            OffsetMember::Member(self.name("the name of a member")?)
        } else if self.eat(Kind::Arrow) {
            OffsetMember::IndirectMember(self.name("the name of a member")?)
        } else if self.eat(Kind::LeftBracket) {
            let index = self.expression()?;
            self.expect(Kind::RightBracket)?;
            OffsetMember::Index(index)
        } else {
            return Ok(None);
        };
        Ok(Some(self.node(start, member)))
    }

    fn va_arg(&mut self) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        let va_list = Box::new(self.assignment()?);
        self.expect(Kind::Comma)?;
        let type_name = self.type_name()?;
        self.expect(Kind::RightParen)?;
        let va_arg = self.node(start, VaArgExpression { va_list, type_name });
        Ok(self.node(start, Expression::VaArg(Box::new(va_arg))))
    }

    fn types_compatible(&mut self) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        let left = self.type_name()?;
        self.expect(Kind::Comma)?;
        let right = self.type_name()?;
        self.expect(Kind::RightParen)?;
        Ok(self.node(start, Expression::TypesCompatible(Box::new((left, right)))))
    }
}
