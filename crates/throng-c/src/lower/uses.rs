//! How a function uses names, which decides what lives in registers and what in memory.

use std::collections::HashSet;

use lang_c::ast::*;

/// How a function uses names: whose address it takes, and which it uses other than by subscript or
/// member.
#[derive(Default)]
pub(super) struct Uses {
    /// Names whose address is taken.
    pub(super) addressed: HashSet<String>,
    /// Names that are used other than by subscript or member.
    pub(super) bare: HashSet<String>,
}

impl Uses {
    pub(super) fn statement(&mut self, s: &Statement) {
        match s {
            Statement::Labeled(l) => self.statement(&l.node.statement.node),
            Statement::Compound(items) => {
                for i in items {
                    match &i.node {
                        BlockItem::Declaration(d) => self.declaration(&d.node),
                        BlockItem::Statement(s) => self.statement(&s.node),
                        BlockItem::StaticAssert(_) => {}
                    }
                }
            }
            Statement::Expression(e) => e.iter().for_each(|e| self.expression(&e.node)),
            Statement::If(i) => {
                self.expression(&i.node.condition.node);
                self.statement(&i.node.then_statement.node);
                i.node.else_statement.iter().for_each(|s| self.statement(&s.node));
            }
            Statement::Switch(s) => {
                self.expression(&s.node.expression.node);
                self.statement(&s.node.statement.node);
            }
            Statement::While(w) => {
                self.expression(&w.node.expression.node);
                self.statement(&w.node.statement.node);
            }
            Statement::DoWhile(w) => {
                self.expression(&w.node.expression.node);
                self.statement(&w.node.statement.node);
            }
            Statement::For(f) => {
                match &f.node.initializer.node {
                    ForInitializer::Expression(e) => self.expression(&e.node),
                    ForInitializer::Declaration(d) => self.declaration(&d.node),
                    _ => {}
                }
                f.node.condition.iter().chain(&f.node.step).for_each(|e| self.expression(&e.node));
                self.statement(&f.node.statement.node);
            }
            Statement::Return(e) => e.iter().for_each(|e| self.expression(&e.node)),
            Statement::Goto(_) | Statement::Continue | Statement::Break | Statement::Asm(_) => {}
        }
    }

    fn declaration(&mut self, d: &Declaration) {
        for i in &d.declarators {
            if let Some(init) = &i.node.initializer {
                self.initializer(&init.node);
            }
        }
    }

    fn initializer(&mut self, i: &Initializer) {
        match i {
            Initializer::Expression(e) => self.expression(&e.node),
            Initializer::List(items) => items.iter().for_each(|i| self.initializer(&i.node.initializer.node)),
        }
    }

    /// The operand of a subscript or member, or of `&`: the variable it is a part of.
    fn part(&mut self, e: &Expression, address: bool) {
        match e {
            Expression::Identifier(n) if address => {
                self.addressed.insert(n.node.name.clone());
            }
            Expression::Identifier(_) => {}
            Expression::Member(m) if m.node.operator.node == MemberOperator::Direct => {
                self.part(&m.node.expression.node, address)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(&b.node.lhs.node, address);
                self.expression(&b.node.rhs.node);
            }
            e => self.expression(e),
        }
    }

    fn expression(&mut self, e: &Expression) {
        match e {
            Expression::Identifier(n) => {
                self.bare.insert(n.node.name.clone());
            }
            Expression::Constant(_) | Expression::StringLiteral(_) => {}
            Expression::GenericSelection(g) => {
                self.expression(&g.node.expression.node);
                for a in &g.node.associations {
                    match &a.node {
                        GenericAssociation::Type(t) => self.expression(&t.node.expression.node),
                        GenericAssociation::Default(e) => self.expression(&e.node),
                    }
                }
            }
            Expression::Member(m) => match m.node.operator.node {
                MemberOperator::Direct => self.part(&m.node.expression.node, false),
                MemberOperator::Indirect => self.expression(&m.node.expression.node),
            },
            Expression::Call(c) => {
                self.expression(&c.node.callee.node);
                c.node.arguments.iter().for_each(|a| self.expression(&a.node));
            }
            Expression::CompoundLiteral(c) => {
                c.node.initializer_list.iter().for_each(|i| self.initializer(&i.node.initializer.node))
            }
            Expression::SizeOfVal(_) | Expression::SizeOfTy(_) | Expression::AlignOf(_) => {}
            Expression::UnaryOperator(u) => match u.node.operator.node {
                UnaryOperator::Address => self.part(&u.node.operand.node, true),
                _ => self.expression(&u.node.operand.node),
            },
            Expression::Cast(c) => self.expression(&c.node.expression.node),
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(e, false)
            }
            Expression::BinaryOperator(b) => {
                self.expression(&b.node.lhs.node);
                self.expression(&b.node.rhs.node);
            }
            Expression::Conditional(c) => {
                self.expression(&c.node.condition.node);
                self.expression(&c.node.then_expression.node);
                self.expression(&c.node.else_expression.node);
            }
            Expression::Comma(list) => list.iter().for_each(|e| self.expression(&e.node)),
            Expression::OffsetOf(_) => {}
            Expression::VaArg(v) => self.expression(&v.node.va_list.node),
            Expression::Statement(s) => self.statement(&s.node),
        }
    }
}
