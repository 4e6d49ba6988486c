//! What stands before declarators: storage classes, types, qualifiers, attributes.

use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;
use super::{SyntaxError, hints};

/// The specifiers of a declaration, and what the parser has to know of them.
pub(super) struct Specifiers {
    pub(super) list: Vec<Node<DeclarationSpecifier>>,
    pub(super) start: usize,
    pub(super) is_typedef: bool,
    /// Whether there is a type; else it is `int`, or follows from what is assigned.
    pub(super) has_type: bool,
}

impl Specifiers {
    /// `auto` is a type where there is no other one, as in C23.
    pub(super) fn auto_is_type(&mut self) {
        for s in self.list.iter_mut().filter(|_| !self.has_type) {
            if let DeclarationSpecifier::StorageClass(StorageClassSpecifier::Auto) = s.node {
                s.node = DeclarationSpecifier::TypeSpecifier(Node::new(TypeSpecifier::Auto, s.span));
            }
        }
    }
}

impl<'t> Parser<'t> {
    /// Returns whether a type or another specifier begins at a token.
    pub(super) fn is_type(&self, index: usize) -> bool {
        use Kind::*;
        match self.kind_of(index) {
            Identifier => self.scopes.is_type(self.spelling(index)),
            Extension => self.is_type(index + 1),
            Typedef | Extern | Static | ThreadLocal | Auto | Register | Constexpr | Void | Char | Short
            | Int | Long | Float | Double | Signed | Unsigned | Bool | Complex | Int128 | UnsignedInt128
            | AutoType | VaList | BitInt | OtherType | Atomic | Struct | Union | Enum | TypeOf
            | TypeOfUnqualified | Const | Restrict | Volatile | OtherQualifier | Inline | Noreturn
            | AlignAs | Declspec => true,
            _ => false,
        }
    }

    /// Returns whether the token behind a bracket begins a type, and not an operand.
    pub(super) fn is_type_in_brackets(&self, index: usize) -> bool {
        let index = self.behind_attributes(index);
        self.is_type(index) || self.is_unknown_type(index, true)
    }

    /// Returns whether a declaration begins at a token.
    pub(super) fn is_declaration(&self, index: usize) -> bool {
        let index = if self.kind_of(index) == Kind::Extension { index + 1 } else { index };
        let index = self.behind_attributes(index);
        self.is_type(index) || self.is_unknown_type(index, false)
    }

    /// Returns whether a name that is not declared stands where a type has to be.
    fn is_unknown_type(&self, index: usize, in_brackets: bool) -> bool {
        let name = self.spelling(index);
        if self.kind_of(index) != Kind::Identifier || self.scopes.is_declared(name) {
            return false;
        }
        let mut at = index + 1;
        while matches!(self.kind_of(at), Kind::Star | Kind::Const | Kind::Restrict | Kind::Volatile) {
            at += 1;
        }
        let pointer = self.kind_of(index + 1) == Kind::Star;
        let after = self.kind_of(at);
        let listed = || hints::header_of(name).is_some();
        match after {
            Kind::Identifier if pointer => !in_brackets && self.is_behind_declarator(at + 1),
            Kind::Identifier => true,
            Kind::RightParen => pointer || listed(),
            Kind::Comma => listed(),
            _ => at == index + 1 && after != Kind::TypeOf && self.is_type(at),
        }
    }

    /// Returns whether a token can stand behind the name that is declared.
    fn is_behind_declarator(&self, index: usize) -> bool {
        use Kind::*;
        matches!(self.kind_of(index), Semicolon | Comma | Assign | LeftBracket | LeftParen | RightParen)
    }

    /// Reads all specifiers that come next, of which there may be none.
    pub(super) fn specifiers(&mut self) -> Parsed<Specifiers> {
        let start = self.start();
        let mut s = Specifiers { list: Vec::new(), start, is_typedef: false, has_type: false };
        loop {
            let start = self.start();
            if self.is_attribute(self.at) {
                let attributes = self.attributes()?;
                s.list.push(self.node(start, DeclarationSpecifier::Attributes(attributes)));
            } else if s.has_type && self.token(self.at).soft && self.is_soft_name() {
                break;
            } else if let Some(specifier) = self.plain_specifier(&mut s) {
                self.bump();
                s.list.push(self.node(start, specifier));
            } else if self.kind() == Kind::AlignAs {
                let alignment = self.alignment()?;
                s.list.push(self.node(start, DeclarationSpecifier::Alignment(alignment)));
            } else if self.kind() == Kind::Extension {
                self.bump();
            } else if self.kind() == Kind::Declspec {
                self.declspec();
            } else if self.lacks_semicolon(&s) || !self.type_specifier(&mut s)? {
                break;
            }
        }
        Ok(s)
    }

    /// Returns whether another declaration begins behind the braces of a structure or enumeration.
    pub(super) fn lacks_semicolon(&self, s: &Specifiers) -> bool {
        use Kind::*;
        if !s.has_type || self.at == 0 || self.kind_of(self.at - 1) != RightBrace {
            return false;
        }
        match self.kind() {
            Void | Char | Short | Int | Long | Float | Double | Signed | Unsigned | Bool | Struct | Union
            | Enum => true,
            Identifier => {
                let name = if self.ahead(1) == Star { 2 } else { 1 };
                self.is_type(self.at) && self.ahead(name) == Identifier
            }
            _ => false,
        }
    }

    /// Returns whether a keyword of some dialects is the name that is declared here.
    fn is_soft_name(&self) -> bool {
        use Kind::*;
        let takes_brackets = matches!(self.kind(), AlignAs | TypeOf | TypeOfUnqualified | Declspec);
        match self.ahead(1) {
            LeftParen => !takes_brackets,
            Semicolon | Comma | Assign | RightParen | LeftBracket | Colon | Attribute | Asm => true,
            _ => false,
        }
    }

    /// Returns the specifier that the next token is by itself, other than a type.
    fn plain_specifier(&self, s: &mut Specifiers) -> Option<DeclarationSpecifier> {
        use DeclarationSpecifier::{Function, StorageClass};
        s.is_typedef |= self.kind() == Kind::Typedef;
        Some(match self.kind() {
            Kind::Typedef => StorageClass(StorageClassSpecifier::Typedef),
            Kind::Extern => StorageClass(StorageClassSpecifier::Extern),
            Kind::Static => StorageClass(StorageClassSpecifier::Static),
            Kind::ThreadLocal => StorageClass(StorageClassSpecifier::ThreadLocal),
            Kind::Auto => StorageClass(StorageClassSpecifier::Auto),
            Kind::Register => StorageClass(StorageClassSpecifier::Register),
            Kind::Constexpr => StorageClass(StorageClassSpecifier::Constexpr),
            Kind::Inline => Function(FunctionSpecifier::Inline),
            Kind::Noreturn => Function(FunctionSpecifier::Noreturn),
            Kind::Atomic if self.ahead(1) == Kind::LeftParen => return None,
            _ => DeclarationSpecifier::TypeQualifier(self.qualifier()?),
        })
    }

    /// Returns the qualifier that the next token is.
    pub(super) fn qualifier(&self) -> Option<TypeQualifier> {
        Some(match self.kind() {
            Kind::Const => TypeQualifier::Const,
            Kind::Restrict => TypeQualifier::Restrict,
            Kind::Volatile => TypeQualifier::Volatile,
            Kind::Atomic => TypeQualifier::Atomic,
            Kind::OtherQualifier => TypeQualifier::Unsupported(self.spelling(self.at).to_string()),
            _ => return None,
        })
    }

    /// Reads a type if one comes next.
    fn type_specifier(&mut self, s: &mut Specifiers) -> Parsed<bool> {
        let start = self.start();
        let specifier = match self.kind() {
            Kind::Identifier if s.has_type => return Ok(false),
            Kind::Identifier => return self.typedef_name(s),
            Kind::UnsignedInt128 => {
                let unsigned = Node::new(TypeSpecifier::Unsigned, self.token_span(self.at));
                let span = unsigned.span;
                s.list.push(Node::new(DeclarationSpecifier::TypeSpecifier(unsigned), span));
                self.bump();
                TypeSpecifier::Int128
            }
            Kind::Struct | Kind::Union => self.nested(Self::structure)?,
            Kind::Enum => self.enumeration()?,
            Kind::TypeOf | Kind::TypeOfUnqualified => TypeSpecifier::TypeOf(Box::new(self.type_of()?)),
            Kind::Atomic => {
                self.bump();
                TypeSpecifier::Atomic(Box::new(self.type_in_brackets()?))
            }
            Kind::BitInt => {
                self.bump();
                self.expect(Kind::LeftParen)?;
                self.conditional()?;
                self.expect(Kind::RightParen)?;
                TypeSpecifier::Unsupported("_BitInt".into())
            }
            _ => match self.basic_type() {
                Some(specifier) => {
                    self.bump();
                    specifier
                }
                None => return Ok(false),
            },
        };
        // These two go with another type.
        let partial = specifier == TypeSpecifier::Complex
            || matches!(&specifier, TypeSpecifier::Unsupported(name) if name == "_Sat");
        s.has_type |= !partial;
        let specifier = self.node(start, specifier);
        s.list.push(self.node(start, DeclarationSpecifier::TypeSpecifier(specifier)));
        Ok(true)
    }

    fn basic_type(&self) -> Option<TypeSpecifier> {
        Some(match self.kind() {
            Kind::Void => TypeSpecifier::Void,
            Kind::Char => TypeSpecifier::Char,
            Kind::Short => TypeSpecifier::Short,
            Kind::Int => TypeSpecifier::Int,
            Kind::Long => TypeSpecifier::Long,
            Kind::Float => TypeSpecifier::Float,
            Kind::Double => TypeSpecifier::Double,
            Kind::Signed => TypeSpecifier::Signed,
            Kind::Unsigned => TypeSpecifier::Unsigned,
            Kind::Bool => TypeSpecifier::Bool,
            Kind::Complex => TypeSpecifier::Complex,
            Kind::Int128 => TypeSpecifier::Int128,
            Kind::AutoType => TypeSpecifier::Auto,
            Kind::VaList => TypeSpecifier::VaList,
            Kind::OtherType => TypeSpecifier::Unsupported(self.spelling(self.at).to_string()),
            _ => return None,
        })
    }

    /// Reads a name as a type if it is one, or is not known and stands where a type has to be.
    fn typedef_name(&mut self, s: &mut Specifiers) -> Parsed<bool> {
        let text = self.spelling(self.at);
        let start = self.start();
        // `static T = 1;` declares T again.
        let declared = !s.list.is_empty() && self.ahead(1) == Kind::Assign;
        if !self.scopes.is_type(text) {
            if !self.is_unknown_type(self.at, false) && !self.is_unknown_type(self.at, true) {
                return Ok(false);
            }
            self.report_unknown(text);
            if self.is_type(self.at + 1) {
                self.bump();
                return Ok(true);
            }
            self.scopes.declare_everywhere(text);
        } else if declared {
            return Ok(false);
        }
        let name = self.name("a type")?;
        s.has_type = true;
        let specifier = self.node(start, TypeSpecifier::TypedefName(name));
        s.list.push(self.node(start, DeclarationSpecifier::TypeSpecifier(specifier)));
        Ok(true)
    }

    /// Reports a name that is not known before a declarator, or before a type.
    fn report_unknown(&mut self, name: &'t str) {
        let behind = self.is_type(self.at + 1);
        let what = if behind { "unknown word" } else { "unknown type name" };
        let error = SyntaxError::new(self.token_span(self.at), format!("{what} `{name}`"));
        let hint = match hints::for_unknown(name) {
            None if behind => Some("a macro that is not defined?".into()),
            hint => hint,
        };
        self.report(SyntaxError { hint, ..error });
    }

    /// `typeof (…)`
    fn type_of(&mut self) -> Parsed<TypeOf> {
        let unqualified = self.kind() == Kind::TypeOfUnqualified;
        self.bump();
        self.expect(Kind::LeftParen)?;
        let of = if self.is_type_in_brackets(self.at) {
            TypeOf::Type(self.type_name()?)
        } else {
            TypeOf::Expression(self.expression()?)
        };
        self.expect(Kind::RightParen)?;
        Ok(if unqualified { TypeOf::Unqualified(Box::new(of)) } else { of })
    }

    /// `_Alignas (…)`
    fn alignment(&mut self) -> Parsed<AlignmentSpecifier> {
        self.bump();
        self.expect(Kind::LeftParen)?;
        let alignment = if self.is_type_in_brackets(self.at) {
            AlignmentSpecifier::Type(self.type_name()?)
        } else {
            AlignmentSpecifier::Constant(Box::new(self.conditional()?))
        };
        self.expect(Kind::RightParen)?;
        Ok(alignment)
    }
}
