//! Initialisers and designators.

use super::ast::*;
use super::parser::{Parsed, Parser};
use super::token::Kind;

impl Parser<'_> {
    pub(super) fn initializer(&mut self) -> Parsed<Node<Initializer>> {
        let start = self.start();
        let initializer = if self.kind() == Kind::LeftBrace {
            Initializer::List(self.nested(Self::initializer_list)?)
        } else {
            Initializer::Expression(Box::new(self.assignment()?))
        };
        Ok(self.node(start, initializer))
    }

    /// What stands in braces, with them.
    pub(super) fn initializer_list(&mut self) -> Parsed<Vec<Node<InitializerListItem>>> {
        self.expect(Kind::LeftBrace)?;
        let mut items = Vec::new();
        while self.kind() != Kind::RightBrace {
            items.push(self.initializer_item()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.eat(Kind::RightBrace) {
            return Err(self.unexpected("`,` or `}`"));
        }
        Ok(items)
    }

    fn initializer_item(&mut self) -> Parsed<Node<InitializerListItem>> {
        let start = self.start();
        let designation = self.designation()?;
        let initializer = Box::new(self.initializer()?);
        Ok(self.node(start, InitializerListItem { designation, initializer }))
    }

    /// `.a[1] =`, `[1 ... 2] =`, and what GNU C had before: `a:` and `[1]` without a sign.
    fn designation(&mut self) -> Parsed<Vec<Node<Designator>>> {
        let mut designators = Vec::new();
        if self.is_name(self.at) && self.ahead(1) == Kind::Colon {
            let name = self.name("the name of a member")?;
            let span = name.span;
            self.bump();
            return Ok(vec![Node::new(Designator::Member(name), span)]);
        }
        loop {
            let start = self.start();
            let designator = match self.kind() {
                Kind::Dot => {
                    self.bump();
                    Designator::Member(self.name("the name of a member")?)
                }
                Kind::LeftBracket => self.index_designator()?,
                _ => break,
            };
            designators.push(self.node(start, designator));
        }
        let only_index = matches!(&designators[..], [d] if !matches!(d.node, Designator::Member(_)));
        if !designators.is_empty() && !self.eat(Kind::Assign) && !only_index {
            return Err(self.unexpected("`=`"));
        }
        Ok(designators)
    }

    fn index_designator(&mut self) -> Parsed<Designator> {
        self.bump();
        let from = self.assignment()?;
        let designator = if self.eat(Kind::Ellipsis) {
            Designator::Range(Box::new(from), Box::new(self.assignment()?))
        } else {
            Designator::Index(from)
        };
        self.expect(Kind::RightBracket)?;
        Ok(designator)
    }
}
