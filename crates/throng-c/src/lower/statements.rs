//! Statements.

use crate::syntax::ast::*;

use super::attributes::pragma;
use super::expressions::calls;
use super::{Lower, Place, Result, Switch, Value, unsupported, wrong};
use crate::library::special::ASYNC_LABEL;
use crate::types::{Ty, promote};
use throng_goto::program::{BinOp, Expr, INT, Instr, Int, Violation};

impl<'a> Lower<'a> {
    /// A statement; what is wrong with it is recorded, so that one run shows several mistakes.
    pub(super) fn statement(&mut self, s: &'a Node<Statement>) {
        let here = std::mem::replace(&mut self.here, s.span);
        self.attempt(|l| l.try_statement(s));
        self.here = here;
    }

    fn try_statement(&mut self, s: &'a Node<Statement>) -> Result<()> {
        match &s.node {
            Statement::Labeled(l) if starts_thread(&l.node) => self.asynchronous(&l.node.statement),
            Statement::Labeled(l) => {
                self.labeled(&l.node, s.span)?;
                self.statement(&l.node.statement);
                Ok(())
            }
            Statement::Compound(items) => {
                self.enter_block();
                for i in items {
                    self.item(i);
                }
                self.leave_block();
                Ok(())
            }
            Statement::Expression(None) => Ok(()),
            Statement::Expression(Some(e)) if self.question.whole_statements && !calls(&e.node) => {
                let from = self.current.template.code.len();
                self.emit(Instr::AtomicBegin);
                let done = self.value(e).map(|_| ());
                if self.accesses_memory(from) {
                    self.emit(Instr::AtomicEnd);
                }
                done
            }
            Statement::Expression(Some(e)) => self.value(e).map(|_| ()),
            Statement::If(i) => self.if_statement(&i.node),
            Statement::While(w) => self.while_loop(&w.node),
            Statement::DoWhile(w) => self.do_loop(&w.node),
            Statement::For(f) => self.for_loop(&f.node),
            Statement::Switch(w) => self.switch(&w.node),
            Statement::Goto(n) => {
                let name = self.label_name(&n.node.name);
                self.user_label(&name);
                let (first, open) = (self.label(), self.current.blocks.clone());
                self.current.gotos.push((name, first, open));
                self.emit(Instr::Jump(first));
                Ok(())
            }
            Statement::Continue => {
                let Some(&(to, outer)) = self.current.continues.last() else {
                    return wrong(s.span, "`continue` outside a loop");
                };
                self.leave_blocks(outer);
                self.emit(Instr::Jump(to));
                Ok(())
            }
            Statement::Break => {
                let Some(&(to, outer)) = self.current.breaks.last() else {
                    return wrong(s.span, "`break` outside a loop or switch");
                };
                self.leave_blocks(outer);
                self.emit(Instr::Jump(to));
                Ok(())
            }
            Statement::Return(e) => self.return_statement(e.as_deref(), s.span),
            Statement::Asm(a) => self.assembly(&a.node, s.span),
            Statement::GotoAddress(e) => self.computed_goto(e),
            Statement::Attributed(attributes, inner) => {
                self.without_effect(attributes)?;
                self.statement(inner);
                Ok(())
            }
        }
    }

    fn if_statement(&mut self, i: &'a IfStatement) -> Result<()> {
        let (yes, no, end) = (self.label(), self.label(), self.label());
        self.attempt(|s| s.condition(&i.condition, yes, no));
        self.place_label(yes);
        self.block(&i.then_statement);
        self.emit(Instr::Jump(end));
        self.place_label(no);
        if let Some(s) = &i.else_statement {
            self.block(s);
        }
        self.place_label(end);
        Ok(())
    }

    fn while_loop(&mut self, w: &'a WhileStatement) -> Result<()> {
        let (head, body, end) = (self.label(), self.label(), self.label());
        self.place_label(head);
        self.attempt(|s| s.condition(&w.expression, body, end));
        self.place_label(body);
        self.looped(&w.statement, end, head);
        self.emit(Instr::Jump(head));
        self.place_label(end);
        Ok(())
    }

    fn do_loop(&mut self, w: &'a DoWhileStatement) -> Result<()> {
        let (body, test, end) = (self.label(), self.label(), self.label());
        self.place_label(body);
        self.looped(&w.statement, end, test);
        self.place_label(test);
        self.attempt(|s| s.condition(&w.expression, body, end));
        self.place_label(end);
        Ok(())
    }

    fn return_statement(&mut self, e: Option<&'a Node<Expression>>, span: Span) -> Result<()> {
        let (place, exit) = (self.current.result.clone(), self.current.exit);
        if let Some(e) = e {
            let v = self.value(e)?;
            if let Some(place) = place {
                self.assign(&place, v, span)?;
            }
        } else if let Some(Place::Register(r, _)) = place {
            self.emit(Instr::Any(r));
        }
        self.clean_up(self.current.outer.last().copied().unwrap_or(0));
        self.emit(Instr::Jump(exit));
        Ok(())
    }

    /// Returns whether there is an access to memory after instruction `from`; if not, the atomic
    /// section that begins there does not.
    pub(super) fn accesses_memory(&mut self, from: usize) -> bool {
        let code = &mut self.current.template.code;
        let accesses = |i: &Instr| matches!(i, Instr::Load(..) | Instr::Store(..));
        if from >= code.len() || code[from..].iter().any(accesses) {
            return true;
        }
        self.current.labels.push(from + 1);
        code[from] = Instr::Jump(self.current.labels.len() - 1);
        false
    }

    fn item(&mut self, i: &'a Node<BlockItem>) {
        match &i.node {
            BlockItem::Declaration(d) => {
                let here = std::mem::replace(&mut self.here, d.span);
                self.attempt(|s| s.declaration(d));
                self.here = here;
            }
            BlockItem::StaticAssert(a) => self.attempt(|s| s.static_assert(a)),
            BlockItem::Statement(s) => self.statement(s),
            BlockItem::LocalLabels(names) => self.local_labels(names),
            BlockItem::Function(f) => self.attempt(|s| s.define_nested(f)),
            BlockItem::Pragma(text) => self.attempt(|_| pragma(text, i.span)),
        }
    }

    /// A statement that is a block, with or without braces.
    fn block(&mut self, s: &'a Node<Statement>) {
        self.enter_block();
        self.statement(s);
        self.leave_block();
    }

    fn looped(&mut self, s: &'a Node<Statement>, end: usize, head: usize) {
        let outer = self.current.blocks.len();
        self.current.breaks.push((end, outer));
        self.current.continues.push((head, outer));
        self.block(s);
        self.current.breaks.pop();
        self.current.continues.pop();
    }

    fn for_loop(&mut self, f: &'a ForStatement) -> Result<()> {
        self.enter_block();
        match &f.initializer.node {
            ForInitializer::Expression(e) => self.attempt(|s| s.value(e).map(|_| ())),
            ForInitializer::Declaration(d) => self.attempt(|s| s.declaration(d)),
            ForInitializer::Empty => {}
            ForInitializer::StaticAssert(a) => self.attempt(|s| s.static_assert(a)),
        }
        let (head, body, step, end) = (self.label(), self.label(), self.label(), self.label());
        self.place_label(head);
        if let Some(c) = &f.condition {
            self.attempt(|s| s.condition(c, body, end));
        }
        self.place_label(body);
        self.looped(&f.statement, end, step);
        self.place_label(step);
        if let Some(e) = &f.step {
            self.attempt(|s| s.value(e).map(|_| ()));
        }
        self.emit(Instr::Jump(head));
        self.place_label(end);
        self.leave_block();
        Ok(())
    }

    fn switch(&mut self, w: &'a SwitchStatement) -> Result<()> {
        let (mut v, mut ty) = (Value { expr: Expr::Const(0), ty: Ty::int() }, INT);
        self.attempt(|s| {
            (v, ty) = s.switched(&w.expression)?;
            Ok(())
        });
        let (dispatch, end) = (self.label(), self.label());
        self.emit(Instr::Jump(dispatch));
        let outer = self.current.blocks.len();
        self.current.breaks.push((end, outer));
        self.current.switches.push(Switch { cases: Vec::new(), default: None, ty, outer });
        self.statement(&w.statement);
        self.emit(Instr::Jump(end));
        self.place_label(dispatch);
        self.current.breaks.pop();
        let Some(switch) = self.current.switches.pop() else { return Ok(()) };
        for (low, high, label) in switch.cases {
            let next = self.label();
            if low == high {
                let is = Expr::bin(BinOp::Eq, v.expr.clone(), Expr::Const(low), ty);
                self.emit(Instr::Branch(is, label, next));
            } else {
                let middle = self.label();
                let above = Expr::bin(BinOp::Le, Expr::Const(low), v.expr.clone(), ty);
                self.emit(Instr::Branch(above, middle, next));
                self.place_label(middle);
                let below = Expr::bin(BinOp::Le, v.expr.clone(), Expr::Const(high), ty);
                self.emit(Instr::Branch(below, label, next));
            }
            self.place_label(next);
        }
        self.emit(Instr::Jump(switch.default.unwrap_or(end)));
        self.place_label(end);
        Ok(())
    }

    /// Returns what a `switch` looks at, and its type.
    fn switched(&mut self, e: &'a Node<Expression>) -> Result<(Value, Int)> {
        let v = self.value(e)?;
        let Some(i) = v.ty.integer() else { return wrong(e.span, "this is not an integer") };
        let ty = promote(i);
        let v = self.convert(v, &Ty::Int(ty), e.span)?;
        // All comparisons come before the body, so that a variable needs no copy.
        let v = if matches!(v.expr, Expr::Reg(_)) { v } else { self.kept(v) };
        Ok((v, ty))
    }

    /// `__label__`: these labels are those of the block.
    fn local_labels(&mut self, names: &'a [Node<Identifier>]) {
        let Some(block) = self.current.blocks.last_mut() else { return };
        let number = block.number;
        let local = |n: &Node<Identifier>| (n.node.name.clone(), format!("{}@{number}", n.node.name));
        block.labels.extend(names.iter().map(local));
    }

    /// Returns the name by which the labels of a function are told apart.
    pub(super) fn label_name(&self, name: &str) -> String {
        let blocks = self.current.blocks.iter().rev();
        let local = blocks.flat_map(|b| &b.labels).find(|l| l.0 == name);
        local.map_or(name, |l| &l.1).to_string()
    }

    pub(super) fn user_label(&mut self, name: &str) -> usize {
        if let Some(&l) = self.current.named.get(name) {
            return l;
        }
        let l = self.label();
        self.current.named.insert(name.to_string(), l);
        l
    }

    /// Writes down where a label is at which threads may wait: at the statement behind it.
    fn mark_label(&mut self, name: &str, statement: Span) {
        let question = self.question;
        let mut places = question.stuck.iter().chain(&question.starvation).flat_map(|text| text.split('|'));
        if self.dry || !places.any(|place| place.trim() == name) {
            return;
        }
        let here = std::mem::replace(&mut self.here, statement);
        let origin = self.origin() as usize;
        self.program.origins[origin].labels.push(name.into());
        // An instruction takes the label along to where the function is put in place of its calls.
        let next = self.label();
        self.emit(Instr::Jump(next));
        self.place_label(next);
        self.here = here;
    }

    fn labeled(&mut self, l: &'a LabeledStatement, span: Span) -> Result<()> {
        match &l.label.node {
            Label::Identifier(n) => {
                let name = &n.node.name;
                let key = self.label_name(name);
                let label = self.user_label(&key);
                self.place_label(label);
                self.here = l.label.span;
                self.cross_blocks();
                let blocks = self.current.blocks.clone();
                self.current.targets.insert(key, blocks);
                self.pass_label(name);
                self.mark_label(name, l.statement.span);
                if self.question.error_labels.contains(name) {
                    self.emit(Instr::Fail(Violation::Assertion, format!("label {name} is reached")));
                }
            }
            Label::Case(e) => self.range_of_cases(e, e, span),
            Label::CaseRange(low, high) => self.range_of_cases(low, high, span),
            Label::Default => {
                let label = self.label();
                self.place_label(label);
                let label = self.entered(label);
                match self.current.switches.last_mut() {
                    Some(s) => s.default = Some(label),
                    None => return wrong(span, "`default` outside a switch"),
                }
            }
        }
        self.without_effect(&l.attributes)
    }

    /// A case. One that is not modelled cannot be left out: the program is refused.
    fn range_of_cases(&mut self, low: &'a Node<Expression>, high: &'a Node<Expression>, span: Span) {
        let bounds = self.constant(low).and_then(|low| Ok((low, self.constant(high)?)));
        let done = bounds.and_then(|(low, high)| self.case(low, high, span));
        self.record(done);
    }

    /// Returns where a switch goes to come to a label of its body: past the declarations before it.
    fn entered(&mut self, label: usize) -> usize {
        let outer = self.current.switches.last().map(|s| s.outer);
        let declared = self.declared(outer.unwrap_or(usize::MAX));
        if declared.0.is_empty() && declared.1.is_empty() {
            return label;
        }
        let (from, on) = (self.label(), self.label());
        // What comes from above goes on without it.
        self.emit(Instr::Jump(on));
        self.place_label(from);
        self.enter_past(&declared);
        self.place_label(on);
        from
    }

    fn case(&mut self, low: i64, high: i64, span: Span) -> Result<()> {
        let label = self.label();
        self.place_label(label);
        let label = self.entered(label);
        match self.current.switches.last_mut() {
            Some(s) => {
                let ty = s.ty;
                s.cases.push((ty.wrap(low), ty.wrap(high), label));
                Ok(())
            }
            None => wrong(span, "`case` outside a switch"),
        }
    }

    /// `__CPROVER_ASYNC_n: f(x);` starts a thread.
    fn asynchronous(&mut self, s: &'a Node<Statement>) -> Result<()> {
        let Statement::Expression(Some(e)) = &s.node else {
            return unsupported(s.span, "`__CPROVER_ASYNC_` before anything but a call");
        };
        let Expression::Call(c) = &e.node else {
            return unsupported(s.span, "`__CPROVER_ASYNC_` before anything but a call");
        };
        if let Expression::Identifier(n) = &c.node.callee.node
            && self.is_defined(&n.node.name)
        {
            let name = self.linked(&n.node.name);
            let parameters = self.definitions[&name].ty.parameters.clone();
            let mut arguments = Vec::new();
            for (e, (_, t)) in c.node.arguments.iter().zip(&parameters) {
                let v = self.value(e)?;
                arguments.push(self.convert(v, t, e.span)?);
            }
            let r = self.register(INT, None);
            self.here = s.span;
            return self.spawn(&name, &arguments, r, s.span);
        }
        let callee = self.value(&c.node.callee)?;
        let callee = self.kept(callee);
        let mut arguments = Vec::new();
        for e in &c.node.arguments {
            let v = self.value(e)?;
            arguments.push(self.kept(v));
        }
        let r = self.register(INT, None);
        let names = self.candidates(arguments.len());
        self.here = s.span;
        self.spawn_pointer(&callee.expr, names, &arguments, r, s.span)
    }

    /// Returns the value of the last statement of a block, if it has one: it may be behind labels.
    fn last_value(&mut self, s: &'a Node<Statement>) -> Option<Result<Value>> {
        let (mut last, mut labels) = (s, Vec::new());
        while let Statement::Labeled(l) = &last.node
            && !starts_thread(&l.node)
        {
            labels.push((&l.node, last.span));
            last = &l.node.statement;
        }
        let Statement::Expression(Some(e)) = &last.node else { return None };
        let marked = labels.into_iter().try_for_each(|(l, span)| self.labeled(l, span));
        Some(marked.and_then(|()| self.value(e)).map(|v| self.kept(v)))
    }

    /// `({ … })`: the value of its last statement.
    pub(super) fn statement_expression(&mut self, s: &'a Node<Statement>) -> Result<Value> {
        let Statement::Compound(items) = &s.node else {
            return unsupported(s.span, "this statement in an expression");
        };
        self.enter_block();
        let mut result = Ok(Value { expr: Expr::Const(0), ty: Ty::Void });
        for (i, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Statement(s) if i + 1 == items.len() => match self.last_value(s) {
                    Some(value) => result = value,
                    None => self.item(item),
                },
                _ => self.item(item),
            }
        }
        if let (Ok(v), Some(block)) = (&mut result, self.current.blocks.last())
            && matches!(v.ty.plain(), Ty::Struct(_))
            && !block.cleanups.is_empty()
        {
            // It may be in what is cleaned up.
            let to = self.space("(value)", &v.ty, s.span)?;
            self.copy(&to, &v.expr, &v.ty, s.span)?;
            v.expr = to;
        }
        match &result {
            // The value may be a structure among its variables, which therefore end with the block
            // around it.
            Ok(v) if matches!(v.ty.plain(), Ty::Struct(_)) => {
                self.clean_up(self.current.blocks.len().saturating_sub(1));
                self.scopes.pop();
                let inner = self.current.blocks.pop().unwrap_or_default();
                if let Some(outer) = self.current.blocks.last_mut() {
                    outer.variables.extend(inner.variables);
                    outer.registers.extend(inner.registers);
                }
            }
            _ => self.leave_block(),
        }
        result
    }
}

/// Returns whether a label says that the statement is executed by a new thread.
fn starts_thread(l: &LabeledStatement) -> bool {
    matches!(&l.label.node, Label::Identifier(n) if n.node.name.starts_with(ASYNC_LABEL))
}
