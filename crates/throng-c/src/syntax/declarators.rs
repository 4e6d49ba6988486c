//! Declarators: pointers, arrays, functions, and the names in them.

use super::SyntaxError;
use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;

/// Which declarators are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Named,
    Unnamed,
    Either,
}

impl Parser<'_> {
    pub(super) fn named_declarator(&mut self) -> Parsed<Node<Declarator>> {
        self.declarator(Naming::Named)
    }

    /// A type with nothing declared.
    pub(super) fn type_name(&mut self) -> Parsed<Node<TypeName>> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        if specifiers.list.is_empty() {
            return Err(self.unexpected("a type"));
        }
        let declarator = self.unnamed_declarator(Naming::Unnamed)?;
        Ok(self.node(start, TypeName { specifiers: specifiers.list, declarator }))
    }

    /// A type without a declarator.
    pub(super) fn specifiers_only(&mut self) -> Parsed<Node<TypeName>> {
        let start = self.start();
        let specifiers = self.specifiers()?.list;
        Ok(self.node(start, TypeName { specifiers, declarator: None }))
    }

    /// A declarator that may be missing altogether.
    fn unnamed_declarator(&mut self, naming: Naming) -> Parsed<Option<Node<Declarator>>> {
        let begins = matches!(self.kind(), Kind::Star | Kind::LeftParen | Kind::LeftBracket | Kind::Caret)
            || self.is_attribute(self.at)
            || naming == Naming::Either && self.is_name(self.at);
        if begins { self.declarator(naming).map(Some) } else { Ok(None) }
    }

    fn declarator(&mut self, naming: Naming) -> Parsed<Node<Declarator>> {
        self.nested(|p| {
            let start = p.start();
            let mut attributes = p.attributes()?;
            let mut derived = Vec::new();
            while p.kind() == Kind::Star {
                derived.push(p.pointer()?);
                p.limit(&derived)?;
            }
            let kind = p.declarator_kind(naming)?;
            loop {
                attributes.extend(p.attributes()?);
                let start = p.start();
                let suffix = match p.kind() {
                    Kind::LeftBracket => DerivedDeclarator::Array(p.array()?),
                    Kind::LeftParen => p.function()?,
                    _ => break,
                };
                derived.push(p.node(start, suffix));
                p.limit(&derived)?;
            }
            Ok(p.node(start, Declarator { kind, derived, attributes, label: None }))
        })
    }

    /// Types are nested as deeply as declarators are long.
    fn limit(&mut self, derived: &[Node<DerivedDeclarator>]) -> Parsed<()> {
        if derived.len() < super::DEEPEST { Ok(()) } else { Err(self.refuse("nested too deeply", None)) }
    }

    fn declarator_kind(&mut self, naming: Naming) -> Parsed<Node<DeclaratorKind>> {
        let start = self.start();
        if self.kind() == Kind::LeftParen && (naming == Naming::Named || self.is_nested_declarator()) {
            self.bump();
            let inner = self.declarator(naming)?;
            self.expect(Kind::RightParen)?;
            return Ok(self.node(start, DeclaratorKind::Declarator(Box::new(inner))));
        }
        if naming != Naming::Unnamed && self.is_name(self.at) {
            let name = self.name("a name")?;
            return Ok(self.node(start, DeclaratorKind::Identifier(name)));
        }
        if self.kind() == Kind::Caret {
            return Err(self.refuse("blocks are an extension of Clang and are not supported", None));
        }
        match naming {
            Naming::Named => Err(self.unexpected("a name")),
            _ => Ok(Node::new(DeclaratorKind::Abstract, Span::new(start, start))),
        }
    }

    /// Returns whether a bracket encloses a declarator, and not the parameters of a function
    /// without a name.
    fn is_nested_declarator(&self) -> bool {
        let first = self.behind_attributes(self.at + 1);
        !matches!(self.kind_of(first), Kind::RightParen | Kind::Ellipsis) && !self.is_type_in_brackets(first)
    }

    fn pointer(&mut self) -> Parsed<Node<DerivedDeclarator>> {
        let start = self.start();
        self.bump();
        let mut qualifiers = Vec::new();
        loop {
            if let Some(qualifier) = self.qualifier() {
                self.bump();
                qualifiers.push(PointerQualifier::TypeQualifier(qualifier));
            } else if self.is_attribute(self.at) {
                qualifiers.push(PointerQualifier::Attributes(self.attributes()?));
            } else {
                return Ok(self.node(start, DerivedDeclarator::Pointer(qualifiers)));
            }
        }
    }

    /// `[n]`
    fn array(&mut self) -> Parsed<ArrayDeclarator> {
        self.bump();
        let (mut qualifiers, mut is_static) = (Vec::new(), false);
        loop {
            if self.eat(Kind::Static) {
                is_static = true;
            } else if let Some(qualifier) = self.qualifier() {
                self.bump();
                qualifiers.push(qualifier);
            } else {
                break;
            }
        }
        let size = match self.kind() {
            Kind::RightBracket => ArraySize::Unknown,
            Kind::Star if self.ahead(1) == Kind::RightBracket => {
                self.bump();
                ArraySize::VariableUnknown
            }
            _ => {
                let size = Box::new(self.expression()?);
                if is_static { ArraySize::StaticExpression(size) } else { ArraySize::Expression(size) }
            }
        };
        self.expect(Kind::RightBracket)?;
        Ok(ArrayDeclarator { qualifiers, size })
    }

    /// `(int a, …)`, or the names of parameters in the old style.
    fn function(&mut self) -> Parsed<DerivedDeclarator> {
        self.bump();
        let is_list = self.kind() == Kind::Identifier
            && matches!(self.ahead(1), Kind::Comma | Kind::RightParen)
            && !self.is_type_in_brackets(self.at);
        if is_list || self.kind() == Kind::RightParen {
            return self.names();
        }
        let function = self.in_scope(Self::parameters)?;
        self.expect(Kind::RightParen)?;
        Ok(DerivedDeclarator::Function(function))
    }

    fn names(&mut self) -> Parsed<DerivedDeclarator> {
        let mut names = Vec::new();
        while self.kind() != Kind::RightParen {
            names.push(self.name("the name of a parameter")?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::RightParen)?;
        Ok(DerivedDeclarator::KRFunction(names))
    }

    fn parameters(&mut self) -> Parsed<FunctionDeclarator> {
        let mut parameters = Vec::new();
        loop {
            if self.eat(Kind::Ellipsis) {
                return Ok(FunctionDeclarator { parameters, variadic: true });
            }
            parameters.push(self.parameter()?);
            if self.kind() == Kind::Semicolon {
                return Err(self.refuse("parameters that are declared in advance are not supported", None));
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if self.kind() != Kind::RightParen {
            return Err(self.unexpected("`,` or `)`"));
        }
        Ok(FunctionDeclarator { parameters, variadic: false })
    }

    fn parameter(&mut self) -> Parsed<Node<ParameterDeclaration>> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        if specifiers.list.is_empty() {
            return Err(self.unexpected("a parameter"));
        }
        let declarator = self.unnamed_declarator(Naming::Either)?;
        if let Some(name) = declarator.as_ref().and_then(|d| declared_name(&d.node)) {
            self.declare(name, false);
        }
        if self.kind() == Kind::Assign {
            let error = SyntaxError::new(self.token_span(self.at), "a parameter has no initial value in C");
            return Err(self.report(error));
        }
        Ok(self.node(start, ParameterDeclaration { specifiers: specifiers.list, declarator }))
    }
}

/// Returns where the name stands that a declarator declares.
pub(super) fn declared_name(declarator: &Declarator) -> Option<Span> {
    match &declarator.kind.node {
        DeclaratorKind::Abstract => None,
        DeclaratorKind::Identifier(name) => Some(name.span),
        DeclaratorKind::Declarator(inner) => declared_name(&inner.node),
    }
}

/// Returns what stands next to the declared name: the parameters, if it is a function.
pub(super) fn first_derived(declarator: &Declarator) -> Option<&DerivedDeclarator> {
    if let DeclaratorKind::Declarator(inner) = &declarator.kind.node
        && let Some(derived) = first_derived(&inner.node)
    {
        return Some(derived);
    }
    let is_pointer = |d: &DerivedDeclarator| matches!(d, DerivedDeclarator::Pointer(_));
    let mut derived = declarator.derived.iter().map(|d| &d.node);
    derived.clone().find(|d| !is_pointer(d)).or_else(|| derived.next())
}
