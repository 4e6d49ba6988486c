//! Dropping long chains. A sum of a hundred thousand operands is a tree as deep, which would be
//! dropped by recursion as deep: the chains that the parser reads in loops are taken apart in loops.

use super::ast::*;

fn take(expression: &mut Node<Expression>) -> Node<Expression> {
    std::mem::replace(expression, Node::new(Expression::Comma(Vec::new()), Span::none()))
}

/// Drops an expression from the outside to the inside.
fn unlink(first: &mut Node<Expression>) {
    let mut next = take(first);
    loop {
        next = match &mut next.node {
            Expression::BinaryOperator(e) => take(&mut e.node.lhs),
            Expression::Member(e) => take(&mut e.node.expression),
            Expression::Call(e) => take(&mut e.node.callee),
            Expression::Conditional(e) => take(&mut e.node.else_expression),
            Expression::UnaryOperator(e) => take(&mut e.node.operand),
            _ => return,
        };
    }
}

impl Drop for BinaryOperatorExpression {
    fn drop(&mut self) {
        unlink(&mut self.lhs);
    }
}

impl Drop for MemberExpression {
    fn drop(&mut self) {
        unlink(&mut self.expression);
    }
}

impl Drop for CallExpression {
    fn drop(&mut self) {
        unlink(&mut self.callee);
    }
}

impl Drop for ConditionalExpression {
    fn drop(&mut self) {
        unlink(&mut self.else_expression);
    }
}

impl Drop for UnaryOperatorExpression {
    fn drop(&mut self) {
        unlink(&mut self.operand);
    }
}

impl Drop for IfStatement {
    fn drop(&mut self) {
        let mut next = self.else_statement.take();
        while let Some(mut statement) = next {
            next = match &mut statement.node {
                Statement::If(s) => s.node.else_statement.take(),
                _ => None,
            };
        }
    }
}

impl Drop for LabeledStatement {
    fn drop(&mut self) {
        let empty = || Node::new(Statement::Continue, Span::none());
        let mut next = std::mem::replace(&mut *self.statement, empty());
        while let Statement::Labeled(s) = &mut next.node {
            next = std::mem::replace(&mut *s.node.statement, empty());
        }
    }
}
