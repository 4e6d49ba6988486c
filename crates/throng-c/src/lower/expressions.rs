//! Expressions: values, places, conversions, calls. Operands are evaluated from left to right.

use crate::syntax::ast::*;

use super::{Lower, Result, Symbol, Value, unsupported, written_name};
use crate::types::Ty;
use throng_goto::program::{Expr, Instr, Int};

pub(super) const LONG: Int = Int::new(8, true);

impl<'a> Lower<'a> {
    /// Returns the type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, e: &'a Node<Expression>) -> Result<Ty> {
        let key = (e.span.start, e.span.end);
        // The same passage has the same type wherever it is inlined.
        if let Some(t) = self.types.get(&key) {
            return Ok(t.clone());
        }
        let dry = std::mem::replace(&mut self.dry, true);
        let ty = self.place_or_value(e).map(|r| match r {
            Ok(place) => place.ty(),
            Err(v) => v.ty,
        });
        self.dry = dry;
        let ty = ty?;
        // Sizes that are not constant belong to the function.
        if !ty.is_variable() {
            self.types.insert(key, ty.clone());
        }
        Ok(ty)
    }

    /// Goes to `yes` or `no`.
    pub(super) fn condition(&mut self, e: &'a Node<Expression>, yes: usize, no: usize) -> Result<()> {
        if !self.question.whole_statements || calls(&e.node) {
            return self.decide(e, yes, no);
        }
        let (then, otherwise) = (self.label(), self.label());
        let from = self.current.template.code.len();
        self.emit(Instr::AtomicBegin);
        self.decide(e, then, otherwise)?;
        let accesses = self.accesses_memory(from);
        for (from, to) in [(then, yes), (otherwise, no)] {
            self.place_label(from);
            if accesses {
                self.emit(Instr::AtomicEnd);
            }
            self.emit(Instr::Jump(to));
        }
        Ok(())
    }

    fn decide(&mut self, e: &'a Node<Expression>, yes: usize, no: usize) -> Result<()> {
        match &e.node {
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Negate => {
                return self.decide(&u.node.operand, no, yes);
            }
            Expression::BinaryOperator(b)
                if matches!(b.node.operator.node, BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr) =>
            {
                let middle = self.label();
                if b.node.operator.node == BinaryOperator::LogicalAnd {
                    self.decide(&b.node.lhs, middle, no)?;
                } else {
                    self.decide(&b.node.lhs, yes, middle)?;
                }
                self.place_label(middle);
                return self.decide(&b.node.rhs, yes, no);
            }
            _ => {}
        }
        let v = self.value(e)?;
        let at = self.here;
        self.here = e.span;
        match self.truth(v, e.span)? {
            Expr::Const(v) => self.emit(Instr::Jump(if v != 0 { yes } else { no })),
            c => self.emit(Instr::Branch(c, yes, no)),
        }
        self.here = at;
        Ok(())
    }

    /// Returns the value of an expression.
    pub(super) fn value(&mut self, e: &'a Node<Expression>) -> Result<Value> {
        let at = std::mem::replace(&mut self.here, e.span);
        let v = self.value_here(e);
        self.here = at;
        v
    }

    fn value_here(&mut self, e: &'a Node<Expression>) -> Result<Value> {
        let span = e.span;
        match &e.node {
            Expression::Identifier(n) => self.named(e, &n.node.name),
            Expression::Constant(c) => self.literal_constant(&c.node, span),
            Expression::StringLiteral(_) | Expression::Member(_) | Expression::CompoundLiteral(_) => {
                let place = self.place(e)?;
                self.read(&place, span)
            }
            Expression::GenericSelection(g) => self.generic(&g.node, span),
            Expression::Call(c) => match self.call(&c.node, span)? {
                Some(v) => Ok(v),
                None => Ok(Value { expr: Expr::Const(0), ty: Ty::Void }),
            },
            Expression::SizeOfTy(t) => {
                let ty = self.type_name(t)?;
                let size = self.bytes_of(&ty, span)?;
                Ok(self.size_value(size))
            }
            Expression::SizeOfVal(v) => {
                let ty = self.type_of(v)?;
                if matches!(ty.plain(), Ty::Variable(..)) && has_effects(&v.node) {
                    return unsupported(span, "`sizeof` of this, whose size is not constant,");
                }
                let size = self.bytes_of(&ty, span)?;
                Ok(self.size_value(size))
            }
            Expression::AlignOfTy(t) => {
                let (ty, said) = self.aligned_type_name(t)?;
                self.size_of(&ty, span)?;
                let own = ty.layout(&self.structs).map_or(1, |l| l.1);
                Ok(self.size_value(Expr::Const(said.unwrap_or(own) as i64)))
            }
            Expression::AlignOfVal(e) => self.alignment_of(e, span),
            Expression::UnaryOperator(u) => self.unary(&u.node, span),
            Expression::Cast(c) => {
                let ty = self.type_name(&c.node.type_name)?;
                let v = self.value(&c.node.expression)?;
                match self.vector(&v.ty).or_else(|| self.vector(&ty)) {
                    Some(_) => self.cast_vector(v, &ty, span),
                    None => self.convert(v, &ty, span),
                }
            }
            Expression::BinaryOperator(b) => self.binary(e, &b.node, span),
            Expression::Conditional(c) => self.conditional(&c.node, span),
            Expression::Comma(list) => {
                let mut last = Value { expr: Expr::Const(0), ty: Ty::Void };
                for e in list.iter() {
                    last = self.value(e)?;
                }
                Ok(last)
            }
            Expression::OffsetOf(o) => self.offset_of(&o.node, span),
            Expression::VaArg(v) => self.variable_argument(&v.node, span),
            Expression::Statement(s) => self.statement_expression(s),
            Expression::LabelAddress(label) => Ok(self.label_address(&label.node)),
            Expression::TypesCompatible(types) => self.types_compatible(types, span),
            Expression::Unsupported(name) => unsupported(span, format!("`{name}`")),
        }
    }

    /// Returns the value of what a name stands for.
    fn named(&mut self, e: &'a Node<Expression>, name: &str) -> Result<Value> {
        match self.usable_name(name, e.span)?.cloned() {
            Some(Symbol::Argument(v)) => Ok(v.clone()),
            Some(Symbol::Constant(v, i)) => Ok(Value { expr: Expr::Const(v), ty: Ty::Int(i) }),
            Some(Symbol::Function(f)) => {
                let link = self.linked(name);
                if self.linkage.weak.contains(&link) && !self.definitions.contains_key(&link) {
                    return unsupported(e.span, format!("the weak function `{name}`, which is not defined,"));
                }
                let a = self.function_address(&link);
                Ok(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Func(f)) })
            }
            Some(Symbol::Nested(ty, key)) => self.nested_value(ty, &key, e.span),
            None if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let name = written_name(&self.current.template.name).to_string();
                let (a, _) = self.text(name.into_bytes());
                Ok(Value { expr: Expr::Const(a), ty: Ty::ptr(Ty::Int(Int::new(1, true))) })
            }
            _ => {
                let place = self.place(e)?;
                self.read(&place, e.span)
            }
        }
    }

    // ---- literals ----
}

/// Returns whether a function is called in it, or it has statements inside.
pub(super) fn calls(e: &Expression) -> bool {
    let any = |list: &[&Node<Expression>]| list.iter().any(|e| calls(&e.node));
    match e {
        Expression::Call(_) | Expression::Statement(_) | Expression::VaArg(_) => true,
        Expression::Member(m) => calls(&m.node.expression.node),
        Expression::UnaryOperator(u) => calls(&u.node.operand.node),
        Expression::Cast(c) => calls(&c.node.expression.node),
        Expression::BinaryOperator(b) => any(&[&b.node.lhs, &b.node.rhs]),
        Expression::Conditional(c) => {
            let then = c.node.then_expression.as_ref();
            any(&[&c.node.condition, then.unwrap_or(&c.node.condition), &c.node.else_expression])
        }
        Expression::Comma(list) => list.iter().any(|e| calls(&e.node)),
        Expression::GenericSelection(_) | Expression::CompoundLiteral(_) => true,
        _ => false,
    }
}

/// Returns whether evaluating it may change a variable.
pub(super) fn has_effects(e: &Expression) -> bool {
    match e {
        Expression::Identifier(_)
        | Expression::Constant(_)
        | Expression::StringLiteral(_)
        | Expression::SizeOfTy(_)
        | Expression::SizeOfVal(_)
        | Expression::AlignOfTy(_)
        | Expression::AlignOfVal(_)
        | Expression::TypesCompatible(_)
        | Expression::OffsetOf(_) => false,
        Expression::Member(m) => has_effects(&m.node.expression.node),
        Expression::Cast(c) => has_effects(&c.node.expression.node),
        Expression::UnaryOperator(u) => {
            use UnaryOperator as U;
            matches!(
                u.node.operator.node,
                U::PostIncrement | U::PostDecrement | U::PreIncrement | U::PreDecrement
            ) || has_effects(&u.node.operand.node)
        }
        Expression::BinaryOperator(b) => {
            use BinaryOperator as B;
            !matches!(
                b.node.operator.node,
                B::Index
                    | B::Multiply
                    | B::Divide
                    | B::Modulo
                    | B::Plus
                    | B::Minus
                    | B::ShiftLeft
                    | B::ShiftRight
                    | B::Less
                    | B::Greater
                    | B::LessOrEqual
                    | B::GreaterOrEqual
                    | B::Equals
                    | B::NotEquals
                    | B::BitwiseAnd
                    | B::BitwiseXor
                    | B::BitwiseOr
            ) || has_effects(&b.node.lhs.node)
                || has_effects(&b.node.rhs.node)
        }
        _ => true,
    }
}
