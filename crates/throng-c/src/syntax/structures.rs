//! Structures, unions and enumerations.

use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;

impl Parser<'_> {
    /// `struct s { … }`
    pub(super) fn structure(&mut self) -> Parsed<TypeSpecifier> {
        let start = self.start();
        let kind = if self.kind() == Kind::Struct { StructKind::Struct } else { StructKind::Union };
        self.bump();
        let mut attributes = self.attributes()?;
        let identifier = self.tag()?;
        let behind = self.behind_attributes(self.at);
        let mut declarations = None;
        let mut pack = None;
        if self.kind_of(behind) == Kind::LeftBrace {
            attributes.extend(self.attributes()?);
            declarations = Some(self.fields()?);
            // Compilers lay a structure out when it is complete.
            pack = self.pragmas.pack_at(self.at - 1);
            attributes.extend(self.gnu_attributes_behind()?);
        } else if identifier.is_none() {
            return Err(self.unexpected("a name or `{`"));
        }
        let structure = StructType { kind, identifier, declarations, attributes, pack };
        Ok(TypeSpecifier::Struct(Box::new(self.node(start, structure))))
    }

    /// The name of a structure or enumeration, if it has one; a type may have the same.
    fn tag(&mut self) -> Parsed<Option<Node<Identifier>>> {
        if self.is_name(self.at) { self.name("a name").map(Some) } else { Ok(None) }
    }

    /// Attributes of GNU C behind a closing brace.
    fn gnu_attributes_behind(&mut self) -> Parsed<Vec<Attribute>> {
        if self.kind() == Kind::Attribute { self.attributes() } else { Ok(Vec::new()) }
    }

    fn fields(&mut self) -> Parsed<Vec<Node<StructDeclaration>>> {
        let opening = self.at;
        self.expect(Kind::LeftBrace)?;
        let mut fields = Vec::new();
        loop {
            let first = self.at;
            match self.kind() {
                Kind::RightBrace => break,
                Kind::End => return Err(self.unclosed(opening)),
                Kind::Semicolon => self.bump(),
                _ => match self.struct_declaration() {
                    Ok(field) => fields.push(field),
                    Err(failed) if self.quiet || self.errors.is_full() => return Err(failed),
                    Err(_) => self.recover_field(first),
                },
            }
        }
        self.bump();
        Ok(fields)
    }

    /// Passes over a member that had an error; always passes a token.
    fn recover_field(&mut self, first: usize) {
        self.recover(first);
        if self.at == first || self.kind() == Kind::LeftBrace {
            self.pass_all();
        }
    }

    fn struct_declaration(&mut self) -> Parsed<Node<StructDeclaration>> {
        let start = self.start();
        if self.kind() == Kind::StaticAssert {
            let assert = self.static_assert()?;
            return Ok(self.node(start, StructDeclaration::StaticAssert(assert)));
        }
        let specifiers = self.specifiers()?;
        if specifiers.list.is_empty() {
            return Err(self.unexpected("a member or `}`"));
        }
        let mut declarators = Vec::new();
        while !matches!(self.kind(), Kind::Semicolon | Kind::RightBrace) {
            declarators.push(self.struct_declarator()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        // The last one may lack its semicolon in GNU C.
        if self.kind() != Kind::RightBrace {
            self.semicolon()?;
        }
        let field = self.node(start, StructField { specifiers: specifiers.list, declarators });
        Ok(self.node(start, StructDeclaration::Field(field)))
    }

    fn struct_declarator(&mut self) -> Parsed<Node<StructDeclarator>> {
        let start = self.start();
        let before = self.attributes()?;
        let mut declarator = match self.kind() {
            Kind::Colon => None,
            _ => Some(self.named_declarator()?),
        };
        let bit_width = if self.eat(Kind::Colon) { Some(Box::new(self.conditional()?)) } else { None };
        let mut attributes = before;
        attributes.extend(self.attributes()?);
        if let Some(d) = &mut declarator {
            d.node.attributes.append(&mut attributes);
        }
        Ok(self.node(start, StructDeclarator { declarator, bit_width, attributes }))
    }

    /// `enum e : T { … }`
    pub(super) fn enumeration(&mut self) -> Parsed<TypeSpecifier> {
        let start = self.start();
        self.bump();
        let mut attributes = self.attributes()?;
        let identifier = self.tag()?;
        // In a structure, a width may follow.
        let underlying = if self.kind() == Kind::Colon && self.is_type(self.at + 1) {
            self.bump();
            Some(self.specifiers_only()?)
        } else {
            None
        };
        let behind = self.behind_attributes(self.at);
        let mut enumerators = Vec::new();
        if self.kind_of(behind) == Kind::LeftBrace {
            attributes.extend(self.attributes()?);
            enumerators = self.enumerators()?;
            attributes.extend(self.gnu_attributes_behind()?);
        } else if identifier.is_none() {
            return Err(self.unexpected("a name or `{`"));
        }
        let enumeration = EnumType { identifier, underlying, enumerators, attributes };
        Ok(TypeSpecifier::Enum(Box::new(self.node(start, enumeration))))
    }

    fn enumerators(&mut self) -> Parsed<Vec<Node<Enumerator>>> {
        self.expect(Kind::LeftBrace)?;
        let mut enumerators = Vec::new();
        while self.kind() != Kind::RightBrace {
            enumerators.push(self.enumerator()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.eat(Kind::RightBrace) {
            return Err(self.unexpected("`,` or `}`"));
        }
        Ok(enumerators)
    }

    fn enumerator(&mut self) -> Parsed<Node<Enumerator>> {
        let start = self.start();
        let identifier = self.name("the name of a constant")?;
        let attributes = self.attributes()?;
        let expression = if self.eat(Kind::Assign) { Some(Box::new(self.conditional()?)) } else { None };
        self.declare(identifier.span, false);
        Ok(self.node(start, Enumerator { identifier, expression, attributes }))
    }
}
