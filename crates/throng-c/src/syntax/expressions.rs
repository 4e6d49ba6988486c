//! Expressions. Chains of operators are read in loops, so that long ones need no stack.

use super::ast::*;
use super::operators;
use super::parser::{Parsed, Parser};
use super::token::Kind;

type Operand = Node<Expression>;

impl Parser<'_> {
    /// `a, b`
    pub(super) fn expression(&mut self) -> Parsed<Operand> {
        let start = self.start();
        let first = self.assignment()?;
        if self.kind() != Kind::Comma {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(Kind::Comma) {
            parts.push(self.assignment()?);
        }
        Ok(self.node(start, Expression::Comma(parts)))
    }

    /// `a = b`, and everything without a comma.
    pub(super) fn assignment(&mut self) -> Parsed<Operand> {
        self.nested(|p| {
            let left = p.conditional()?;
            let Some(operator) = operators::assignment(p.kind()) else { return Ok(left) };
            let operator = p.operator(operator);
            let right = p.assignment()?;
            Ok(combined(left, operator, right))
        })
    }

    /// `a ? b : c`; used by itself where a constant is demanded.
    pub(super) fn conditional(&mut self) -> Parsed<Operand> {
        let mut last = self.binary()?;
        let mut before = Vec::new();
        while self.eat(Kind::Question) {
            let then = if self.kind() == Kind::Colon { None } else { Some(self.expression()?) };
            self.expect(Kind::Colon)?;
            before.push((last, then));
            last = self.binary()?;
        }
        for (condition, then) in before.into_iter().rev() {
            let span = Span::new(condition.span.start, last.span.end);
            let conditional = ConditionalExpression {
                condition: Box::new(condition),
                then_expression: then.map(Box::new),
                else_expression: Box::new(last),
            };
            last = Node::new(Expression::Conditional(Box::new(Node::new(conditional, span))), span);
        }
        Ok(last)
    }

    /// Binary operators, by their strength: what waits for its right operand is on a stack.
    fn binary(&mut self) -> Parsed<Operand> {
        let mut last = self.cast()?;
        let mut waiting: Vec<(Operand, Node<BinaryOperator>, u8)> = Vec::new();
        while let Some((operator, strength)) = operators::binary(self.kind()) {
            while let Some((left, operator, _)) = waiting.pop_if(|w| w.2 >= strength) {
                last = combined(left, operator, last);
            }
            let operator = self.operator(operator);
            waiting.push((last, operator, strength));
            last = self.cast()?;
        }
        while let Some((left, operator, _)) = waiting.pop() {
            last = combined(left, operator, last);
        }
        Ok(last)
    }

    /// Passes the token of an operator.
    pub(super) fn operator<T>(&mut self, operator: T) -> Node<T> {
        let span = self.token_span(self.at);
        self.bump();
        Node::new(operator, span)
    }

    /// `(T) a`, or a compound literal with what follows it, or an operand with its prefixes.
    pub(super) fn cast(&mut self) -> Parsed<Operand> {
        if self.kind() != Kind::LeftParen || !self.is_type_in_brackets(self.at + 1) {
            return self.unary();
        }
        let start = self.start();
        let type_name = self.type_in_brackets()?;
        if self.kind() == Kind::LeftBrace {
            let literal = self.compound_literal(start, type_name)?;
            return self.postfix(start, literal);
        }
        let expression = Box::new(self.nested(Self::cast)?);
        let cast = self.node(start, CastExpression { type_name, expression });
        Ok(self.node(start, Expression::Cast(Box::new(cast))))
    }

    /// `(T)`
    pub(super) fn type_in_brackets(&mut self) -> Parsed<Node<TypeName>> {
        self.expect(Kind::LeftParen)?;
        let type_name = self.type_name()?;
        self.expect(Kind::RightParen)?;
        Ok(type_name)
    }

    /// The braces of a compound literal whose type has been read.
    pub(super) fn compound_literal(&mut self, start: usize, type_name: Node<TypeName>) -> Parsed<Operand> {
        let initializer_list = self.initializer_list()?;
        let literal = self.node(start, CompoundLiteral { type_name, initializer_list });
        Ok(self.node(start, Expression::CompoundLiteral(Box::new(literal))))
    }

    fn unary(&mut self) -> Parsed<Operand> {
        let start = self.start();
        if let Some(operator) = operators::prefix(self.kind()) {
            let operator = self.operator(operator);
            let operand = Box::new(self.nested(Self::cast)?);
            let unary = self.node(start, UnaryOperatorExpression { operator, operand });
            return Ok(self.node(start, Expression::UnaryOperator(Box::new(unary))));
        }
        match self.kind() {
            Kind::SizeOf => self.measured(Expression::SizeOfTy, Expression::SizeOfVal),
            Kind::AlignOf => self.measured(Expression::AlignOfTy, Expression::AlignOfVal),
            Kind::Extension => {
                self.bump();
                self.nested(Self::cast)
            }
            Kind::And => {
                self.bump();
                let label = self.name("a label")?;
                Ok(self.node(start, Expression::LabelAddress(label)))
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(start, primary)
            }
        }
    }

    /// `sizeof (T)` or `sizeof a`, and the same for alignment.
    fn measured(
        &mut self,
        of_type: fn(Box<Node<TypeName>>) -> Expression,
        of_value: fn(Box<Operand>) -> Expression,
    ) -> Parsed<Operand> {
        let start = self.start();
        self.bump();
        if self.kind() != Kind::LeftParen || !self.is_type_in_brackets(self.at + 1) {
            let operand = self.nested(Self::unary)?;
            return Ok(self.node(start, of_value(Box::new(operand))));
        }
        let inner = self.start();
        let type_name = self.type_in_brackets()?;
        if self.kind() == Kind::LeftBrace {
            let literal = self.compound_literal(inner, type_name)?;
            let operand = self.postfix(inner, literal)?;
            return Ok(self.node(start, of_value(Box::new(operand))));
        }
        Ok(self.node(start, of_type(Box::new(type_name))))
    }

    /// What stands behind an operand: indices, calls, members, `++` and `--`.
    pub(super) fn postfix(&mut self, start: usize, first: Operand) -> Parsed<Operand> {
        let mut last = first;
        loop {
            last = match self.kind() {
                Kind::LeftBracket => self.index(last)?,
                Kind::LeftParen => self.call(start, last)?,
                Kind::Dot => self.member(start, last, MemberOperator::Direct)?,
                Kind::Arrow => self.member(start, last, MemberOperator::Indirect)?,
                Kind::Increment => self.stepped(start, last, UnaryOperator::PostIncrement),
                Kind::Decrement => self.stepped(start, last, UnaryOperator::PostDecrement),
                _ => return Ok(last),
            };
        }
    }

    fn index(&mut self, array: Operand) -> Parsed<Operand> {
        let operator = self.operator(BinaryOperator::Index);
        let index = self.expression()?;
        self.expect(Kind::RightBracket)?;
        let span = Span::new(array.span.start, self.last_end());
        let binary = BinaryOperatorExpression { operator, lhs: Box::new(array), rhs: Box::new(index) };
        Ok(Node::new(Expression::BinaryOperator(Box::new(Node::new(binary, span))), span))
    }

    fn member(&mut self, start: usize, of: Operand, operator: MemberOperator) -> Parsed<Operand> {
        self.bump();
        let identifier = self.name("the name of a member")?;
        let member = MemberExpression { operator, expression: Box::new(of), identifier };
        let member = self.node(start, member);
        Ok(self.node(start, Expression::Member(Box::new(member))))
    }

    fn stepped(&mut self, start: usize, operand: Operand, operator: UnaryOperator) -> Operand {
        let operator = self.operator(operator);
        let unary = UnaryOperatorExpression { operator, operand: Box::new(operand) };
        let unary = self.node(start, unary);
        self.node(start, Expression::UnaryOperator(Box::new(unary)))
    }

    /// A call. A builtin that takes a type for an argument is not a call, and not supported.
    fn call(&mut self, start: usize, callee: Operand) -> Parsed<Operand> {
        let name = match &callee.node {
            Expression::Identifier(i) => i.node.name.clone(),
            _ => String::new(),
        };
        self.bump();
        let read = self.arguments(name.starts_with('_'));
        let (arguments, takes_type) = read.inspect_err(|_| self.suggest_header(&name))?;
        if takes_type {
            return Ok(self.node(start, Expression::Unsupported(name)));
        }
        let call = self.node(start, CallExpression { callee: Box::new(callee), arguments });
        Ok(self.node(start, Expression::Call(Box::new(call))))
    }

    /// The arguments of a call with the bracket behind them, and whether a type is among them.
    fn arguments(&mut self, is_builtin: bool) -> Parsed<(Vec<Operand>, bool)> {
        let (mut arguments, mut takes_type) = (Vec::new(), false);
        if self.eat(Kind::RightParen) {
            return Ok((arguments, false));
        }
        loop {
            if is_builtin && self.is_type(self.at) {
                self.type_name()?;
                takes_type = true;
            } else {
                arguments.push(self.assignment()?);
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.eat(Kind::RightParen) {
            return Err(self.unexpected("`,` or `)`"));
        }
        Ok((arguments, takes_type))
    }
}

fn combined(left: Operand, operator: Node<BinaryOperator>, right: Operand) -> Operand {
    let span = Span::new(left.span.start, right.span.end);
    let binary = BinaryOperatorExpression { operator, lhs: Box::new(left), rhs: Box::new(right) };
    Node::new(Expression::BinaryOperator(Box::new(Node::new(binary, span))), span)
}
