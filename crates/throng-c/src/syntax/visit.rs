//! Walks over the syntax tree.
//!
//! Each method of [`Visit`] is called for the nodes of one kind; unless it is overridden, it goes
//! on to what is inside of the node. What is only measured (`sizeof`, `typeof`, `_Alignof`) is not
//! executed and has a method of its own, [`Visit::measured`], which does nothing by default.

use super::ast::*;

/// Something that walks over the tree.
pub trait Visit<'a>: Sized {
    /// Called for an expression.
    fn expression(&mut self, e: &'a Node<Expression>) {
        expression(self, e);
    }

    /// Called for a statement.
    fn statement(&mut self, s: &'a Node<Statement>) {
        statement(self, s);
    }

    /// Called for an item of a block.
    fn block_item(&mut self, item: &'a Node<BlockItem>) {
        block_item(self, item);
    }

    /// Called for a declaration, inside of functions or outside.
    fn declaration(&mut self, d: &'a Node<Declaration>) {
        declaration(self, d);
    }

    /// Called for an initial value.
    fn initializer(&mut self, i: &'a Node<Initializer>) {
        initializer(self, i);
    }

    /// Called for the label of a statement; the expressions of a `case` are constants.
    fn label(&mut self, _: &'a Node<Label>) {}

    /// Called for an expression that is not executed.
    fn measured(&mut self, _: &'a Node<Expression>) {}
}

/// Visits everything that an external declaration contains.
pub fn external<'a>(v: &mut impl Visit<'a>, item: &'a Node<ExternalDeclaration>) {
    match &item.node {
        ExternalDeclaration::Declaration(d) => v.declaration(d),
        ExternalDeclaration::FunctionDefinition(f) => function(v, f),
        ExternalDeclaration::StaticAssert(_)
        | ExternalDeclaration::Asm(_)
        | ExternalDeclaration::Pragma(_) => {}
    }
}

/// Visits what is inside of a function.
pub fn function<'a>(v: &mut impl Visit<'a>, f: &'a Node<FunctionDefinition>) {
    specifiers(v, &f.node.specifiers);
    declarator(v, &f.node.declarator);
    v.statement(&f.node.statement);
}

/// Visits what is inside of an expression.
pub fn expression<'a>(v: &mut impl Visit<'a>, e: &'a Node<Expression>) {
    match &e.node {
        Expression::Identifier(_)
        | Expression::Constant(_)
        | Expression::StringLiteral(_)
        | Expression::LabelAddress(_)
        | Expression::Unsupported(_) => {}
        Expression::GenericSelection(g) => {
            v.measured(&g.node.expression);
            for a in &g.node.associations {
                match &a.node {
                    GenericAssociation::Type(_, e) | GenericAssociation::Default(e) => v.expression(e),
                }
            }
        }
        Expression::Member(m) => v.expression(&m.node.expression),
        Expression::Call(c) => {
            v.expression(&c.node.callee);
            c.node.arguments.iter().for_each(|a| v.expression(a));
        }
        Expression::CompoundLiteral(c) => {
            type_name(v, &c.node.type_name);
            items(v, &c.node.initializer_list);
        }
        Expression::SizeOfVal(inner) | Expression::AlignOfVal(inner) => v.measured(inner),
        Expression::SizeOfTy(t) | Expression::AlignOfTy(t) => type_name(v, t),
        Expression::UnaryOperator(u) => v.expression(&u.node.operand),
        Expression::Cast(c) => {
            type_name(v, &c.node.type_name);
            v.expression(&c.node.expression);
        }
        Expression::BinaryOperator(b) => {
            v.expression(&b.node.lhs);
            v.expression(&b.node.rhs);
        }
        Expression::Conditional(c) => {
            v.expression(&c.node.condition);
            c.node.then_expression.iter().for_each(|e| v.expression(e));
            v.expression(&c.node.else_expression);
        }
        Expression::Comma(list) => list.iter().for_each(|e| v.expression(e)),
        Expression::OffsetOf(o) => {
            for m in &o.node.members {
                if let OffsetMember::Index(e) = &m.node {
                    v.expression(e);
                }
            }
        }
        Expression::VaArg(a) => v.expression(&a.node.va_list),
        Expression::Statement(s) => v.statement(s),
        Expression::TypesCompatible(_) => {}
    }
}

/// Visits what is inside of a statement.
pub fn statement<'a>(v: &mut impl Visit<'a>, s: &'a Node<Statement>) {
    match &s.node {
        Statement::Labeled(l) => {
            v.label(&l.node.label);
            v.statement(&l.node.statement);
        }
        Statement::Compound(items) => items.iter().for_each(|i| v.block_item(i)),
        Statement::Expression(e) | Statement::Return(e) => e.iter().for_each(|e| v.expression(e)),
        Statement::If(i) => {
            v.expression(&i.node.condition);
            v.statement(&i.node.then_statement);
            i.node.else_statement.iter().for_each(|s| v.statement(s));
        }
        Statement::Switch(w) => {
            v.expression(&w.node.expression);
            v.statement(&w.node.statement);
        }
        Statement::While(w) => {
            v.expression(&w.node.expression);
            v.statement(&w.node.statement);
        }
        Statement::DoWhile(w) => {
            v.statement(&w.node.statement);
            v.expression(&w.node.expression);
        }
        Statement::For(f) => {
            match &f.node.initializer.node {
                ForInitializer::Expression(e) => v.expression(e),
                ForInitializer::Declaration(d) => v.declaration(d),
                ForInitializer::Empty | ForInitializer::StaticAssert(_) => {}
            }
            f.node.condition.iter().chain(&f.node.step).for_each(|e| v.expression(e));
            v.statement(&f.node.statement);
        }
        Statement::GotoAddress(e) => v.expression(e),
        Statement::Asm(a) => {
            a.node.outputs.iter().chain(&a.node.inputs).for_each(|o| v.expression(&o.node.expression));
        }
        Statement::Attributed(_, s) => v.statement(s),
        Statement::Goto(_) | Statement::Continue | Statement::Break => {}
    }
}

/// Visits what is inside of an item of a block.
pub fn block_item<'a>(v: &mut impl Visit<'a>, item: &'a Node<BlockItem>) {
    match &item.node {
        BlockItem::Declaration(d) => v.declaration(d),
        BlockItem::Statement(s) => v.statement(s),
        BlockItem::Function(f) => function(v, f),
        BlockItem::StaticAssert(_) | BlockItem::LocalLabels(_) | BlockItem::Pragma(_) => {}
    }
}

/// Visits what is inside of a declaration.
pub fn declaration<'a>(v: &mut impl Visit<'a>, d: &'a Node<Declaration>) {
    specifiers(v, &d.node.specifiers);
    for i in &d.node.declarators {
        declarator(v, &i.node.declarator);
        i.node.initializer.iter().for_each(|i| v.initializer(i));
    }
}

/// Visits what is inside of an initial value.
pub fn initializer<'a>(v: &mut impl Visit<'a>, i: &'a Node<Initializer>) {
    match &i.node {
        Initializer::Expression(e) => v.expression(e),
        Initializer::List(list) => items(v, list),
    }
}

fn items<'a>(v: &mut impl Visit<'a>, list: &'a [Node<InitializerListItem>]) {
    list.iter().for_each(|i| v.initializer(&i.node.initializer));
}

fn type_name<'a>(v: &mut impl Visit<'a>, t: &'a Node<TypeName>) {
    specifiers(v, &t.node.specifiers);
    t.node.declarator.iter().for_each(|d| declarator(v, d));
}

/// Types are measured, and sizes of arrays are computed.
fn specifiers<'a>(v: &mut impl Visit<'a>, list: &'a [Node<DeclarationSpecifier>]) {
    for s in list {
        let DeclarationSpecifier::TypeSpecifier(t) = &s.node else { continue };
        match &t.node {
            TypeSpecifier::TypeOf(of) => type_of(v, of),
            TypeSpecifier::Atomic(t) => type_name(v, t),
            _ => {}
        }
    }
}

fn type_of<'a>(v: &mut impl Visit<'a>, of: &'a TypeOf) {
    match of {
        TypeOf::Expression(e) => v.measured(e),
        TypeOf::Type(t) => type_name(v, t),
        TypeOf::Unqualified(inner) => type_of(v, inner),
    }
}

fn declarator<'a>(v: &mut impl Visit<'a>, d: &'a Node<Declarator>) {
    for part in &d.node.derived {
        if let DerivedDeclarator::Array(a) = &part.node
            && let ArraySize::Expression(e) | ArraySize::StaticExpression(e) = &a.size
        {
            v.expression(e);
        }
    }
    if let DeclaratorKind::Declarator(inner) = &d.node.kind.node {
        declarator(v, inner);
    }
}
