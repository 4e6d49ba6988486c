//! How a function uses names, which decides what lives in registers and what in memory.

use std::collections::HashSet;

use crate::syntax::ast::*;
use crate::syntax::visit::{self, Visit};

/// How code uses names.
#[derive(Default)]
pub(super) struct Uses {
    /// Names whose address is taken.
    pub(super) addressed: HashSet<String>,
    /// Names that are used other than by subscript or member.
    pub(super) bare: HashSet<String>,
    /// Names that are used other than to call them, subscripts and members among them: a function
    /// with such a name may be called through a pointer.
    pub(super) values: HashSet<String>,
}

impl Uses {
    /// The operand of a subscript or member, or of `&`: the variable it is a part of.
    fn part(&mut self, e: &Node<Expression>, address: bool) {
        match &e.node {
            Expression::Identifier(n) => {
                self.values.insert(n.node.name.clone());
                if address {
                    self.addressed.insert(n.node.name.clone());
                }
            }
            Expression::Member(m) if m.node.operator == MemberOperator::Direct => {
                self.part(&m.node.expression, address)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(&b.node.lhs, address);
                self.expression(&b.node.rhs);
            }
            Expression::UnaryOperator(u)
                if matches!(u.node.operator.node, UnaryOperator::Real | UnaryOperator::Imaginary) =>
            {
                self.part(&u.node.operand, address)
            }
            _ => self.expression(e),
        }
    }
}

impl<'a> Visit<'a> for Uses {
    fn expression(&mut self, e: &'a Node<Expression>) {
        match &e.node {
            Expression::Identifier(n) => {
                self.bare.insert(n.node.name.clone());
                self.values.insert(n.node.name.clone());
            }
            Expression::Member(m) if m.node.operator == MemberOperator::Direct => {
                self.part(&m.node.expression, false)
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Address => {
                self.part(&u.node.operand, true)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(e, false)
            }
            Expression::Call(c) => {
                match &c.node.callee.node {
                    Expression::Identifier(n) => _ = self.bare.insert(n.node.name.clone()),
                    _ => self.expression(&c.node.callee),
                }
                c.node.arguments.iter().for_each(|a| self.expression(a));
            }
            _ => visit::expression(self, e),
        }
    }
}
