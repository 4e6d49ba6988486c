//! Statements. Chains of `else if` and of labels are read in loops.

use super::ast::*;
use super::declarations::Declared;
use super::parser::{Parsed, Parser};
use super::token::Kind;

type Inner = Node<Statement>;

impl Parser<'_> {
    /// `{ … }`
    pub(super) fn block(&mut self) -> Parsed<Inner> {
        self.in_scope(Self::block_in_scope)
    }

    /// A block whose scope is that of what it stands in.
    pub(super) fn block_in_scope(&mut self) -> Parsed<Inner> {
        let (start, opening) = (self.start(), self.at);
        self.expect(Kind::LeftBrace)?;
        let mut items = Vec::new();
        loop {
            let pragmas = self.pending_pragmas();
            items.extend(pragmas.into_iter().map(|p| Node::new(BlockItem::Pragma(p.node), p.span)));
            let first = self.at;
            match self.kind() {
                Kind::RightBrace => break,
                Kind::End => return Err(self.unclosed(opening)),
                _ => match self.block_item() {
                    Ok(item) => items.push(item),
                    Err(failed) if self.quiet || self.errors.is_full() => return Err(failed),
                    Err(_) => self.recover_item(first),
                },
            }
        }
        self.bump();
        Ok(self.node(start, Statement::Compound(items)))
    }

    /// Passes over an item that had an error; always passes a token.
    fn recover_item(&mut self, first: usize) {
        self.suggest_keyword(first);
        self.recover(first);
        if self.at == first && self.kind() != Kind::RightBrace {
            self.pass_all();
        }
    }

    fn block_item(&mut self) -> Parsed<Node<BlockItem>> {
        let start = self.start();
        let item = match self.kind() {
            Kind::LocalLabel => self.local_labels()?,
            Kind::StaticAssert => BlockItem::StaticAssert(self.static_assert()?),
            _ if self.is_label() || !self.is_block_declaration() => BlockItem::Statement(self.statement()?),
            _ => match self.declaration()? {
                Declared::Declaration(d) => BlockItem::Declaration(d),
                Declared::Function(f) => BlockItem::Function(f),
            },
        };
        Ok(self.node(start, item))
    }

    fn is_label(&self) -> bool {
        self.is_name(self.at) && self.ahead(1) == Kind::Colon
    }

    fn is_block_declaration(&self) -> bool {
        let behind = self.behind_attributes(self.at);
        let is_label = self.is_name(behind) && self.kind_of(behind + 1) == Kind::Colon;
        self.is_declaration(self.at) && !is_label
    }

    /// `__label__ a, b;`
    fn local_labels(&mut self) -> Parsed<BlockItem> {
        self.bump();
        let mut labels = vec![self.name("a label")?];
        while self.eat(Kind::Comma) {
            labels.push(self.name("a label")?);
        }
        self.semicolon()?;
        Ok(BlockItem::LocalLabels(labels))
    }

    pub(super) fn statement(&mut self) -> Parsed<Inner> {
        let start = self.start();
        match self.kind() {
            Kind::LeftBrace => self.block(),
            _ if self.is_label() => self.labeled(),
            Kind::Case | Kind::Default => self.labeled(),
            _ if self.is_attribute(self.at) => {
                let attributes = self.attributes()?;
                let statement = Box::new(self.nested(Self::statement)?);
                Ok(self.node(start, Statement::Attributed(attributes, statement)))
            }
            _ => self.nested(Self::unlabeled),
        }
    }

    fn unlabeled(&mut self) -> Parsed<Inner> {
        let start = self.start();
        let statement = match self.kind() {
            Kind::If => return self.if_chain(),
            Kind::Switch => self.switch()?,
            Kind::While => self.while_loop()?,
            Kind::Do => self.do_loop()?,
            Kind::For => self.in_scope(Self::for_loop)?,
            Kind::Asm => self.assembly()?,
            Kind::Else => return Err(self.refuse("this `else` has no `if`", None)),
            _ => self.simple()?,
        };
        Ok(self.node(start, statement))
    }

    /// A statement that ends with a semicolon.
    fn simple(&mut self) -> Parsed<Statement> {
        let kind = self.kind();
        if matches!(kind, Kind::Goto | Kind::Continue | Kind::Break | Kind::Return) {
            self.bump();
        }
        let statement = match kind {
            Kind::Semicolon => Statement::Expression(None),
            Kind::Continue => Statement::Continue,
            Kind::Break => Statement::Break,
            Kind::Return if self.kind() == Kind::Semicolon => Statement::Return(None),
            Kind::Return => Statement::Return(Some(Box::new(self.expression()?))),
            Kind::Goto if self.eat(Kind::Star) => Statement::GotoAddress(Box::new(self.expression()?)),
            Kind::Goto => Statement::Goto(self.name("a label")?),
            _ => Statement::Expression(Some(Box::new(self.expression_statement()?))),
        };
        self.semicolon()?;
        Ok(statement)
    }

    fn expression_statement(&mut self) -> Parsed<Node<Expression>> {
        if self.is_declaration(self.at) {
            let hint = "put the declaration and what follows it in braces";
            return Err(self.refuse("a declaration stands where a statement has to be", Some(hint)));
        }
        self.expression()
    }

    /// `(e)`
    fn condition(&mut self) -> Parsed<Box<Node<Expression>>> {
        self.expect(Kind::LeftParen)?;
        let condition = Box::new(self.expression()?);
        self.expect(Kind::RightParen)?;
        Ok(condition)
    }

    /// `if` with all that follow by `else if`.
    fn if_chain(&mut self) -> Parsed<Inner> {
        let mut branches = Vec::new();
        let mut last = loop {
            let start = self.start();
            self.bump();
            let condition = self.condition()?;
            branches.push((start, condition, Box::new(self.statement()?)));
            if !self.eat(Kind::Else) {
                break None;
            }
            if self.kind() != Kind::If {
                break Some(self.statement()?);
            }
        };
        while let Some((start, condition, then_statement)) = branches.pop() {
            let branch = IfStatement { condition, then_statement, else_statement: last.map(Box::new) };
            let branch = self.node(start, branch);
            last = Some(self.node(start, Statement::If(Box::new(branch))));
        }
        last.ok_or(super::parser::Failed)
    }

    fn switch(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.bump();
        let expression = self.condition()?;
        let statement = Box::new(self.statement()?);
        let switch = self.node(start, SwitchStatement { expression, statement });
        Ok(Statement::Switch(Box::new(switch)))
    }

    fn while_loop(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.bump();
        let expression = self.condition()?;
        let statement = Box::new(self.statement()?);
        let repeated = self.node(start, WhileStatement { expression, statement });
        Ok(Statement::While(Box::new(repeated)))
    }

    fn do_loop(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.bump();
        let statement = Box::new(self.statement()?);
        self.expect(Kind::While)?;
        let expression = self.condition()?;
        self.semicolon()?;
        let repeated = self.node(start, DoWhileStatement { statement, expression });
        Ok(Statement::DoWhile(Box::new(repeated)))
    }

    fn for_loop(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.bump();
        self.expect(Kind::LeftParen)?;
        let initializer = self.for_initializer()?;
        let condition = self.optional(Kind::Semicolon)?;
        self.expect(Kind::Semicolon)?;
        let step = self.optional(Kind::RightParen)?;
        self.expect(Kind::RightParen)?;
        let statement = Box::new(self.statement()?);
        let repeated = self.node(start, ForStatement { initializer, condition, step, statement });
        Ok(Statement::For(Box::new(repeated)))
    }

    fn for_initializer(&mut self) -> Parsed<Node<ForInitializer>> {
        let start = self.start();
        let initializer = match self.kind() {
            Kind::StaticAssert => ForInitializer::StaticAssert(self.static_assert()?),
            _ if self.is_declaration(self.at) => match self.declaration()? {
                Declared::Declaration(d) => ForInitializer::Declaration(d),
                Declared::Function(_) => return Err(self.unexpected("`;`")),
            },
            _ => {
                let first = self.optional(Kind::Semicolon)?;
                self.expect(Kind::Semicolon)?;
                first.map_or(ForInitializer::Empty, ForInitializer::Expression)
            }
        };
        Ok(self.node(start, initializer))
    }

    /// An expression, unless the token behind it comes next.
    fn optional(&mut self, end: Kind) -> Parsed<Option<Box<Node<Expression>>>> {
        if self.kind() == end { Ok(None) } else { Ok(Some(Box::new(self.expression()?))) }
    }

    /// A statement with its labels.
    fn labeled(&mut self) -> Parsed<Inner> {
        let mut labels = Vec::new();
        while self.is_label() || matches!(self.kind(), Kind::Case | Kind::Default) {
            let start = self.start();
            let label = self.label()?;
            labels.push((start, self.node(start, label), self.attributes_of_label()?));
        }
        let here = self.last_end();
        let mut last = if self.kind() == Kind::RightBrace || self.is_block_declaration() {
            Node::new(Statement::Expression(None), Span::new(here, here))
        } else {
            self.statement()?
        };
        for (start, label, attributes) in labels.into_iter().rev() {
            let labeled = LabeledStatement { label, attributes, statement: Box::new(last) };
            let labeled = self.node(start, labeled);
            last = self.node(start, Statement::Labeled(Box::new(labeled)));
        }
        Ok(last)
    }

    /// Attributes of GNU C behind the name of a label; those behind `case` belong to the statement.
    fn attributes_of_label(&mut self) -> Parsed<Vec<Attribute>> {
        let named = self.is_name(self.at.saturating_sub(2));
        let empty = self.kind_of(self.behind_attributes(self.at)) == Kind::Semicolon;
        if named && self.kind() == Kind::Attribute && !empty { self.attributes() } else { Ok(Vec::new()) }
    }

    fn label(&mut self) -> Parsed<Label> {
        let label = if self.eat(Kind::Default) {
            Label::Default
        } else if self.eat(Kind::Case) {
            let from = Box::new(self.conditional()?);
            match self.eat(Kind::Ellipsis) {
                true => Label::CaseRange(from, Box::new(self.conditional()?)),
                false => Label::Case(from),
            }
        } else {
            Label::Identifier(self.name("a label")?)
        };
        self.expect(Kind::Colon)?;
        Ok(label)
    }

    /// `asm volatile ("…" : outputs : inputs : clobbers : labels);`
    fn assembly(&mut self) -> Parsed<Statement> {
        let start = self.start();
        self.bump();
        let mut goto = false;
        while matches!(self.kind(), Kind::Volatile | Kind::Inline | Kind::Goto | Kind::Const) {
            goto |= self.kind() == Kind::Goto;
            self.bump();
        }
        if self.kind() == Kind::LeftBrace {
            self.refuse("assembly of this form is not supported", None);
            self.pass_all();
            return Ok(Statement::Expression(None));
        }
        self.expect(Kind::LeftParen)?;
        let template = self.string()?;
        let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
        let (mut clobbers, mut labels) = (Vec::new(), Vec::new());
        if self.eat(Kind::Colon) {
            outputs = self.listed(Self::asm_operand)?;
        }
        if self.eat(Kind::Colon) {
            inputs = self.listed(Self::asm_operand)?;
        }
        if self.eat(Kind::Colon) {
            clobbers = self.listed(Self::string)?;
        }
        if self.eat(Kind::Colon) {
            labels = self.listed(|p| p.name("a label"))?;
        }
        self.expect(Kind::RightParen)?;
        self.semicolon()?;
        let assembly = AsmStatement { goto, template, outputs, inputs, clobbers, labels };
        Ok(Statement::Asm(Box::new(self.node(start, assembly))))
    }

    /// What stands between two colons, with commas.
    fn listed<T>(&mut self, read: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !matches!(self.kind(), Kind::Colon | Kind::RightParen) {
            list.push(read(self)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok(list)
    }

    /// `[name] "constraint" (e)`
    fn asm_operand(&mut self) -> Parsed<Node<AsmOperand>> {
        let start = self.start();
        let symbolic_name = if self.eat(Kind::LeftBracket) {
            let name = self.name("a name")?;
            self.expect(Kind::RightBracket)?;
            Some(name)
        } else {
            None
        };
        let constraints = self.string()?;
        self.expect(Kind::LeftParen)?;
        let expression = self.expression()?;
        self.expect(Kind::RightParen)?;
        Ok(self.node(start, AsmOperand { symbolic_name, constraints, expression }))
    }
}
