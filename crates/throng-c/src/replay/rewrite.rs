//! The user's code with a turnstile before every access that other threads can see.
//!
//! Expressions that access memory are spliced apart with the statement expressions of GNU C: `x++`
//! becomes a turn, a read, a turn, a write. What is an access is what the goto program says,
//! passage by passage.

mod bits;
mod calls;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::syntax::ast::*;

use crate::library::Library;
use crate::library::special::{ASYNC_LABEL, Meaning, special};
use crate::lower::declared_at;
use throng_goto::program::{FieldPart, Instr, Program, is_private};
use throng_goto::question::Question;

/// How a passage accesses memory. Numbers are those of the turnstile.
pub(super) const READ: u8 = 0;
pub(super) const WRITE: u8 = 1;
pub(super) const OTHER: u8 = 2;

/// The passages of the program at which threads can be seen.
pub(super) struct Sites {
    numbers: HashMap<(usize, usize), usize>,
    kinds: Vec<[bool; 3]>,
}

impl Sites {
    pub(super) fn of(program: &Program) -> Sites {
        // Number 0 does not stand for a site.
        let mut sites = Sites { numbers: HashMap::new(), kinds: vec![[false; 3]] };
        for t in &program.templates {
            for (pc, i) in t.code.iter().enumerate() {
                let span = program.origins[t.origins[pc] as usize].span;
                let n = sites.number(span);
                if let Some(kind) = kind(i) {
                    sites.kinds[n][kind as usize] = true;
                }
            }
        }
        sites
    }

    pub(super) fn number(&mut self, span: (usize, usize)) -> usize {
        let next = self.kinds.len();
        let n = *self.numbers.entry(span).or_insert(next);
        if n == next {
            self.kinds.push([false; 3]);
        }
        n
    }

    fn at(&self, span: Span) -> Option<(usize, [bool; 3])> {
        let n = *self.numbers.get(&(span.start, span.end))?;
        Some((n, self.kinds[n]))
    }
}

/// Returns how an instruction can be seen.
pub(super) fn kind(i: &Instr) -> Option<u8> {
    use throng_goto::program::Expr;
    let private = |a: &Expr| matches!(a, Expr::Const(a) if is_private(*a));
    match i {
        Instr::Load(_, a, _) if !private(a) => Some(READ),
        Instr::Store(a, ..) if !private(a) => Some(WRITE),
        Instr::AtomicBegin
        | Instr::Spawn(..)
        | Instr::Join(..)
        | Instr::Alloc(..)
        | Instr::Free(_)
        | Instr::Resize(..)
        | Instr::Halt => Some(OTHER),
        _ => None,
    }
}

/// The turns that a text waits for: site, and the kind if only accesses of one kind wait.
pub(super) type Turns = HashSet<(usize, Option<u8>)>;

/// Returns the turns that a rewritten program waits for.
pub(super) fn turns(body: &str) -> Turns {
    let call = |(at, word): (usize, &str)| {
        let rest = &body[at + word.len()..];
        let (name, arguments) = rest.split_once('(')?;
        let mut numbers = arguments.split([',', ')']).map(|n| n.trim().parse::<usize>().ok());
        let site = numbers.next()??;
        let kind = matches!(name, "maybe" | "all").then(|| numbers.next().flatten()).flatten();
        Some((site, kind.map(|k| k as u8)))
    };
    body.match_indices("__throng_").filter_map(call).collect()
}

/// Text in place of a passage.
type Edits = Vec<(usize, usize, String)>;

/// A function with a body.
struct Defined {
    /// Whether it returns nothing.
    void: bool,
    /// Where its name is.
    at: Span,
}

pub(super) struct Rewriter<'a> {
    text: &'a str,
    sites: &'a Sites,
    question: &'a Question,
    /// Functions with a body.
    defined: HashMap<String, Defined>,
    declared: HashSet<String>,
    /// Copies of structures, with their parts.
    copies: &'a HashMap<(usize, usize), Vec<(u32, u8)>>,
    /// Bit-fields, with the numbers that have them.
    fields: &'a HashMap<(usize, usize), Vec<FieldPart>>,
    /// Number of variables that each declaration leaves open.
    opened: HashMap<(usize, usize), usize>,
    fresh: usize,
    /// Passages that ask for an input.
    pub(super) inputs: BTreeSet<usize>,
    library: Arc<Library>,
    /// A function that a replay cannot stand for, if one is called.
    pub(super) refused: Option<String>,
    /// Whether `errno` is used, and whether functions are called that may set it.
    pub(super) errno: bool,
    pub(super) sets_errno: bool,
}

fn name_of(d: &Declarator) -> Option<&str> {
    match &d.kind.node {
        DeclaratorKind::Identifier(n) => Some(&n.node.name),
        DeclaratorKind::Declarator(inner) => name_of(&inner.node),
        DeclaratorKind::Abstract => None,
    }
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        text: &'a str,
        unit: &TranslationUnit,
        program: &'a Program,
        sites: &'a Sites,
        question: &'a Question,
        library: &Arc<Library>,
    ) -> Rewriter<'a> {
        let (mut defined, mut declared) = (HashMap::new(), HashSet::new());
        for item in &unit.0 {
            match &item.node {
                ExternalDeclaration::FunctionDefinition(f) => {
                    let pointer = f
                        .node
                        .declarator
                        .node
                        .derived
                        .iter()
                        .any(|d| matches!(d.node, DerivedDeclarator::Pointer(_)));
                    let void = f.node.specifiers.iter().any(
                        |s| matches!(&s.node, DeclarationSpecifier::TypeSpecifier(t) if t.node == TypeSpecifier::Void),
                    );
                    if let Some(name) = name_of(&f.node.declarator.node) {
                        let at = declared_at(&f.node.declarator.node).unwrap_or(f.span);
                        defined.insert(name.to_string(), Defined { void: void && !pointer, at });
                        declared.insert(name.to_string());
                    }
                }
                ExternalDeclaration::Declaration(d) => {
                    let names = d.node.declarators.iter().filter_map(|i| name_of(&i.node.declarator.node));
                    declared.extend(names.map(str::to_string));
                }
                _ => {}
            }
        }
        let mut opened: HashMap<(usize, usize), usize> = HashMap::new();
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        for t in &program.templates {
            for (pc, i) in t.code.iter().enumerate() {
                // Once for each place that a declaration is inlined at.
                if matches!(i, Instr::Any(_)) && seen.insert((t.origins[pc], pc as u32)) {
                    let origin = &program.origins[t.origins[pc] as usize];
                    *opened.entry(origin.span).or_default() += 1;
                }
            }
        }
        let (copies, fields, inputs) = (&program.copies, &program.fields, BTreeSet::new());
        Rewriter {
            text,
            sites,
            question,
            defined,
            declared,
            copies,
            fields,
            opened,
            fresh: 0,
            inputs,
            library: library.clone(),
            refused: None,
            errno: false,
            sets_errno: false,
        }
    }

    /// Returns the whole text, rewritten.
    pub(super) fn unit(&mut self, unit: &TranslationUnit) -> String {
        let mut edits = Vec::new();
        for item in &unit.0 {
            if let ExternalDeclaration::FunctionDefinition(f) = &item.node {
                let declarator = &f.node.declarator.node;
                if name_of(declarator) == Some("main")
                    && let DeclaratorKind::Identifier(n) = &declarator.kind.node
                {
                    edits.push((n.span.start, n.span.end, "__throng_main".into()));
                }
                let name = name_of(declarator).unwrap_or_default();
                let body = &f.node.statement;
                // What these mean is not their body.
                if !matches!(special(name, true), Some(Meaning::AtomicBegin | Meaning::AtomicEnd)) {
                    if let Some((site, kinds)) = self.sites.at(f.node.declarator.span)
                        && kinds[WRITE as usize]
                    {
                        // Parameters that other threads can see; no more than there are.
                        let commas = self.raw(f.node.declarator.span).matches(',').count();
                        let turns = format!("__throng_maybe({site}, {WRITE});").repeat(commas + 1);
                        edits.push((body.span.start + 1, body.span.start + 1, turns));
                    }
                    self.statement(body, &mut edits);
                }
            }
        }
        self.splice(0, self.text.len(), edits)
    }

    fn splice(&self, from: usize, to: usize, mut edits: Edits) -> String {
        edits.sort_by_key(|e| (e.0, e.1));
        let mut out = String::new();
        let mut at = from;
        for (start, end, with) in edits {
            if start < at || end > to {
                continue;
            }
            out.push_str(&self.text[at..start]);
            out.push_str(&with);
            at = end;
        }
        out.push_str(&self.text[at..to]);
        out
    }

    fn raw(&self, span: Span) -> &'a str {
        &self.text[span.start..span.end]
    }

    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("__throng_{}", self.fresh)
    }

    fn statement(&mut self, s: &Node<Statement>, edits: &mut Edits) {
        match &s.node {
            Statement::Labeled(l) => self.labeled(&l.node, edits),
            Statement::Compound(items) => items.iter().for_each(|i| match &i.node {
                BlockItem::Declaration(d) => self.declaration(d, edits),
                BlockItem::Statement(s) => self.statement(s, edits),
                BlockItem::Function(f) => self.statement(&f.node.statement, edits),
                _ => {}
            }),
            Statement::Expression(Some(e)) => self.expression(e, edits),
            Statement::If(i) => {
                self.expression(&i.node.condition, edits);
                self.statement(&i.node.then_statement, edits);
                i.node.else_statement.iter().for_each(|s| self.statement(s, edits));
            }
            Statement::Switch(w) => {
                self.expression(&w.node.expression, edits);
                self.statement(&w.node.statement, edits);
            }
            Statement::While(w) => {
                self.expression(&w.node.expression, edits);
                self.statement(&w.node.statement, edits);
            }
            Statement::DoWhile(w) => {
                self.statement(&w.node.statement, edits);
                self.expression(&w.node.expression, edits);
            }
            Statement::For(f) => {
                match &f.node.initializer.node {
                    ForInitializer::Expression(e) => self.expression(e, edits),
                    ForInitializer::Declaration(d) => self.initial_values(d, edits),
                    _ => {}
                }
                f.node.condition.iter().chain(&f.node.step).for_each(|e| self.expression(e, edits));
                self.statement(&f.node.statement, edits);
            }
            Statement::Return(Some(e)) => match self.copied_parts(s.span) {
                Some(parts) => {
                    let text = self.copied_value(e, &parts);
                    edits.push((e.span.start, e.span.end, text));
                }
                None => self.expression(e, edits),
            },
            Statement::Attributed(_, inner) => self.statement(inner, edits),
            Statement::Expression(None)
            | Statement::Return(None)
            | Statement::Goto(_)
            | Statement::GotoAddress(_)
            | Statement::Continue
            | Statement::Break
            | Statement::Asm(_) => {}
        }
    }

    fn labeled(&mut self, l: &LabeledStatement, edits: &mut Edits) {
        if let Label::Identifier(n) = &l.label.node {
            let label = &n.node.name;
            let site = self.sites.at(l.label.span).map_or(0, |s| s.0);
            let mut extra = String::new();
            for (place, names) in self.question.exclusive.iter().enumerate() {
                if names.split(',').any(|n| n.trim() == label) {
                    extra += &format!("__throng_enter({site}, {place}); __throng_leave({site}, {place}); ");
                }
            }
            if self.question.error_labels.contains(label) {
                extra += &format!("__throng_failed(\"label {label} is reached\"); ");
            }
            if !extra.is_empty() {
                let at = l.statement.span.start;
                edits.push((at, at, format!("; {extra}")));
            }
            if label.starts_with(ASYNC_LABEL)
                && let Statement::Expression(Some(e)) = &l.statement.node
                && let Expression::Call(c) = &e.node
            {
                let site = self.sites.at(l.statement.span).map_or(0, |s| s.0);
                let argument = match c.node.arguments.first() {
                    Some(a) => format!("(void *)(unsigned long)({})", self.value(a)),
                    None => "0".into(),
                };
                let callee = self.raw(c.node.callee.span);
                let text = format!("__throng_create({site}, 0, 0, (void *)({callee}), {argument})");
                edits.push((e.span.start, e.span.end, text));
                return;
            }
        }
        self.statement(&l.statement, edits);
    }

    fn declaration(&mut self, d: &Node<Declaration>, edits: &mut Edits) {
        self.initial_values(d, edits);
        let (site, _, writes, _) = self.kinds(d.span);
        let in_parts = |i: &Node<InitDeclarator>| match i.node.initializer.as_ref().map(|init| &init.node) {
            Some(Initializer::List(_)) => true,
            Some(Initializer::Expression(e)) => matches!(e.node, Expression::StringLiteral(_)),
            None => false,
        };
        if writes && d.node.declarators.iter().any(in_parts) {
            // No other thread knows the new variable, so its parts may get their values before
            // their turns.
            edits.push((d.span.end, d.span.end, format!(" __throng_all({site}, {WRITE});")));
        }
        let span = (d.span.start, d.span.end);
        let open: Vec<&str> = d
            .node
            .declarators
            .iter()
            .filter(|i| i.node.initializer.is_none() && !self.kinds(i.span).3)
            .filter_map(|i| name_of(&i.node.declarator.node))
            .collect();
        let Some(&count) = self.opened.get(&span).filter(|_| !open.is_empty()) else { return };
        // Each place that it is inlined at opens all of its scalars.
        if count % open.len() == 0
            && let Some((site, _)) = self.sites.at(d.span)
        {
            self.inputs.insert(site);
            let each = open.iter().map(|n| format!(" __throng_open({site}, &{n}, sizeof {n});"));
            edits.push((d.span.end, d.span.end, each.collect()));
        }
    }

    fn initial_values(&mut self, d: &Node<Declaration>, edits: &mut Edits) {
        let specifiers = &d.node.specifiers;
        let fixed = specifiers
            .iter()
            .any(|s| matches!(s.node, DeclarationSpecifier::StorageClass(StorageClassSpecifier::Static)));
        let (site, _, writes, _) = self.kinds(d.span);
        let parts = self.copied_parts(d.span);
        for i in d.node.declarators.iter().filter(|_| !fixed) {
            let whole = i.node.declarator.node.derived.is_empty();
            match i.node.initializer.as_ref().map(|init| &init.node) {
                Some(Initializer::Expression(e)) if whole && parts.is_some() => {
                    let text = self.copied_value(e, parts.as_ref().unwrap_or_else(|| unreachable!()));
                    edits.push((e.span.start, e.span.end, text));
                }
                // A variable whose address other threads may know.
                Some(Initializer::Expression(e))
                    if writes && !matches!(e.node, Expression::StringLiteral(_)) =>
                {
                    let (v, text) = (self.name(), self.value(e));
                    let with =
                        format!("({{ __auto_type {v} = ({text}); __throng_maybe({site}, {WRITE}); {v}; }})");
                    edits.push((e.span.start, e.span.end, with));
                }
                Some(init) => self.initializer(init, edits),
                None => self.variable_array(i, edits),
            }
        }
    }

    /// An array whose size is not constant takes a turn where it is allocated, and one where its
    /// block is left: there, a variable beside it is cleaned up.
    fn variable_array(&mut self, i: &Node<InitDeclarator>, edits: &mut Edits) {
        let (declarator, (site, _, _, allocates)) = (&i.node.declarator, self.kinds(i.span));
        if !allocates {
            return;
        }
        let size = declarator.node.derived.iter().find_map(|d| match &d.node {
            DerivedDeclarator::Array(ArrayDeclarator { size: ArraySize::Expression(e), .. }) => Some(e),
            _ => None,
        });
        let beside = format!("*{} __attribute__((cleanup(__throng_leave_array)))", self.name());
        let (start, end) = (declarator.span.start, declarator.span.end);
        match size {
            Some(size) => {
                let counted = format!("__throng_array({site}, {})", self.value(size));
                edits.push((size.span.start, size.span.end, counted));
                edits.push((end, end, format!(", {beside} = (void *){site}L")));
            }
            // Its type has the size.
            None => {
                edits.push((start, start, format!("{beside} = (void *)__throng_array({site}, {site}), ")))
            }
        }
    }

    fn initializer(&mut self, i: &Initializer, edits: &mut Edits) {
        match i {
            Initializer::Expression(e) => self.expression(e, edits),
            Initializer::List(items) => {
                items.iter().for_each(|i| self.initializer(&i.node.initializer.node, edits))
            }
        }
    }

    fn expression(&mut self, e: &Node<Expression>, edits: &mut Edits) {
        let text = self.value(e);
        if text != self.raw(e.span) {
            edits.push((e.span.start, e.span.end, text));
        }
    }

    /// Returns whether a turn is taken somewhere inside.
    fn is_seen(&mut self, e: &Node<Expression>) -> bool {
        let fresh = self.fresh;
        let text = self.value(e);
        self.fresh = fresh;
        text != self.raw(e.span)
    }

    fn kinds(&self, span: Span) -> (usize, bool, bool, bool) {
        self.sites.at(span).map_or((0, false, false, false), |(n, [r, w, o])| (n, r, w, o))
    }

    /// An expression as a value.
    fn value(&mut self, e: &Node<Expression>) -> String {
        let (site, reads, ..) = self.kinds(e.span);
        match &e.node {
            Expression::Member(_) if reads && self.is_field(e) => self.read_field(e, site),
            Expression::Identifier(_) | Expression::Member(_) => self.place_value(e, site, reads),
            Expression::BinaryOperator(b) => self.binary(e, &b.node),
            Expression::UnaryOperator(u) => self.unary(e, &u.node),
            Expression::Cast(c) => {
                let inner = self.value(&c.node.expression);
                self.around(e.span, &[(c.node.expression.span, inner)])
            }
            Expression::Conditional(c) => self.conditional(e.span, &c.node),
            Expression::Comma(list) => {
                let parts: Vec<(Span, String)> = list.iter().map(|e| (e.span, self.value(e))).collect();
                self.around(e.span, &parts)
            }
            Expression::Statement(s) => {
                let mut edits = Vec::new();
                self.statement(s, &mut edits);
                self.splice(e.span.start, e.span.end, edits)
            }
            Expression::Call(c) => self.call(e, &c.node),
            Expression::CompoundLiteral(c) => {
                let mut edits = Vec::new();
                for i in &c.node.initializer_list {
                    self.initializer(&i.node.initializer.node, &mut edits);
                }
                self.splice(e.span.start, e.span.end, edits)
            }
            _ => self.raw(e.span).to_string(),
        }
    }

    fn binary(&mut self, e: &Node<Expression>, b: &BinaryOperatorExpression) -> String {
        let (site, reads, writes, other) = self.kinds(e.span);
        match b.operator.node {
            BinaryOperator::Index => self.place_value(e, site, reads),
            BinaryOperator::Assign if self.copied_parts(e.span).is_some() => {
                let parts = self.copied_parts(e.span).unwrap_or_default();
                let (a, l) = (self.name(), self.place(&b.lhs));
                let (from, source) = self.copied_from(&b.rhs);
                let copy = parts.call(&a, &from);
                format!("({{ __auto_type {a} = &({l}); {source}{copy} *{a}; }})")
            }
            BinaryOperator::Assign if writes && self.is_field(&b.lhs) => {
                let r = self.value(&b.rhs);
                self.write_field(&b.lhs, site, &r)
            }
            BinaryOperator::Assign if writes => {
                let (a, v) = (self.name(), self.name());
                let (l, r) = (self.place(&b.lhs), self.value(&b.rhs));
                format!(
                    "({{ __auto_type {a} = &({l}); __typeof__(*{a}) {v} = ({r}); __throng_turn({site}, 1); *{a} = {v}; {v}; }})"
                )
            }
            BinaryOperator::Assign => {
                let (l, r) = (self.place(&b.lhs), self.value(&b.rhs));
                self.around(e.span, &[(b.lhs.span, l), (b.rhs.span, r)])
            }
            ref op if compound(op).is_some() => {
                let op = compound(op).unwrap_or("+");
                let seen = reads || writes || other;
                if (seen || self.question.overflow) && self.is_field(&b.lhs) {
                    let r = self.value(&b.rhs);
                    return self.update_field(&b.lhs, seen.then_some(site), op, &r, Gives::New);
                }
                let (l, r) = (self.place(&b.lhs), self.value(&b.rhs));
                if !seen && !self.question.overflow {
                    return self.around(e.span, &[(b.lhs.span, l), (b.rhs.span, r)]);
                }
                let v = self.name();
                let update =
                    self.update(Turn { site: seen.then_some(site), atomic: other }, &l, op, &v, Gives::New);
                format!("({{ __auto_type {v} = ({r}); {update} }})")
            }
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                let (l, r) = (self.value(&b.lhs), self.value(&b.rhs));
                self.around(e.span, &[(b.lhs.span, l), (b.rhs.span, r)])
            }
            _ => {
                let both = self.is_seen(&b.lhs) && self.is_seen(&b.rhs);
                let (l, r) = (self.value(&b.lhs), self.value(&b.rhs));
                let op = self.raw(b.operator.span);
                let checked = self.question.overflow && ARITHMETIC.contains(&op);
                if !both && !checked {
                    return self.around(e.span, &[(b.lhs.span, l), (b.rhs.span, r)]);
                }
                // From left to right.
                let (x, y) = (self.name(), self.name());
                let check = self.checked(&x, op, &y);
                format!("({{ __auto_type {x} = ({l}); __auto_type {y} = ({r}); {check}{x} {op} {y}; }})")
            }
        }
    }

    fn unary(&mut self, e: &Node<Expression>, u: &UnaryOperatorExpression) -> String {
        let (site, reads, writes, other) = self.kinds(e.span);
        match u.operator.node {
            UnaryOperator::Indirection | UnaryOperator::Real | UnaryOperator::Imaginary => {
                self.place_value(e, site, reads)
            }
            UnaryOperator::Address => {
                let inner = self.place(&u.operand);
                self.around(e.span, &[(u.operand.span, inner)])
            }
            UnaryOperator::PostIncrement
            | UnaryOperator::PostDecrement
            | UnaryOperator::PreIncrement
            | UnaryOperator::PreDecrement => {
                let seen = reads || writes || other;
                let inner = self.place(&u.operand);
                if !seen && !self.question.overflow {
                    return self.around(e.span, &[(u.operand.span, inner)]);
                }
                use UnaryOperator as U;
                let op = match u.operator.node {
                    U::PostIncrement | U::PreIncrement => "+",
                    _ => "-",
                };
                let gives = match u.operator.node {
                    U::PostIncrement | U::PostDecrement => Gives::Old,
                    _ => Gives::New,
                };
                if self.is_field(&u.operand) {
                    return self.update_field(&u.operand, seen.then_some(site), op, "1", gives);
                }
                let turn = Turn { site: seen.then_some(site), atomic: other };
                format!("({{ {} }})", self.update(turn, &inner, op, "1", gives))
            }
            UnaryOperator::Minus if self.question.overflow => {
                let (x, inner) = (self.name(), self.value(&u.operand));
                format!("({{ __auto_type {x} = ({inner}); {}-{x}; }})", self.checked("0", "-", &x))
            }
            _ => {
                let inner = self.value(&u.operand);
                self.around(e.span, &[(u.operand.span, inner)])
            }
        }
    }

    fn conditional(&mut self, span: Span, c: &ConditionalExpression) -> String {
        let condition = self.value(&c.condition);
        let otherwise = self.value(&c.else_expression);
        let Some(second) = &c.then_expression else {
            return format!("(({condition}) ?: ({otherwise}))");
        };
        let then = self.value(second);
        let parts = [(c.condition.span, condition), (second.span, then), (c.else_expression.span, otherwise)];
        self.around(span, &parts)
    }

    /// Returns the text of an expression with parts replaced, in brackets where they were changed.
    fn around(&self, span: Span, parts: &[(Span, String)]) -> String {
        let edits = parts.iter().filter(|(inner, text)| text != self.raw(*inner));
        let edits = edits.map(|(inner, text)| (inner.start, inner.end, format!("({text})")));
        self.splice(span.start, span.end, edits.collect())
    }

    fn place_value(&mut self, e: &Node<Expression>, site: usize, reads: bool) -> String {
        let place = self.place(e);
        if !reads {
            return place;
        }
        let a = self.name();
        format!(
            "({{ __auto_type {a} = &({place}); __throng_read({site}, (void *){a}, sizeof *{a}); *{a}; }})"
        )
    }

    /// An expression as a place: its own access takes no turn.
    fn place(&mut self, e: &Node<Expression>) -> String {
        match &e.node {
            Expression::Member(m) => {
                let inner = match m.node.operator {
                    MemberOperator::Direct => self.place(&m.node.expression),
                    MemberOperator::Indirect => self.value(&m.node.expression),
                };
                self.around(e.span, &[(m.node.expression.span, inner)])
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                let (l, r) = (self.value(&b.node.lhs), self.value(&b.node.rhs));
                self.around(e.span, &[(b.node.lhs.span, l), (b.node.rhs.span, r)])
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                let inner = self.value(&u.node.operand);
                self.around(e.span, &[(u.node.operand.span, inner)])
            }
            Expression::UnaryOperator(u)
                if matches!(u.node.operator.node, UnaryOperator::Real | UnaryOperator::Imaginary) =>
            {
                let inner = self.place(&u.node.operand);
                self.around(e.span, &[(u.node.operand.span, inner)])
            }
            Expression::Identifier(_) | Expression::StringLiteral(_) => self.raw(e.span).to_string(),
            _ => self.value(e),
        }
    }

    /// Returns the parts of the structure that a passage copies, if other threads can see it.
    fn copied_parts(&self, span: Span) -> Option<Parts> {
        let (site, reads, writes, _) = self.kinds(span);
        let list =
            self.copies.get(&(span.start, span.end)).filter(|list| !list.is_empty() && (reads || writes))?;
        Some(Parts { site, list: list.clone() })
    }

    /// A structure that is copied part by part, as a value.
    fn copied_value(&mut self, e: &Node<Expression>, parts: &Parts) -> String {
        let (v, (from, source)) = (self.name(), self.copied_from(e));
        let copy = parts.call(&format!("&{v}"), &from);
        format!("({{ {source}__typeof__(*{from}) {v}; {copy} {v}; }})")
    }

    /// Returns where a structure is copied from: a variable that holds its address, and what
    /// declares that.
    fn copied_from(&mut self, e: &Node<Expression>) -> (String, String) {
        let from = self.name();
        match self.structure(e) {
            Some(place) => (from.clone(), format!("__auto_type {from} = &({place}); ")),
            None => {
                let (v, text) = (self.name(), self.value(e));
                (from.clone(), format!("__auto_type {v} = ({text}); __auto_type {from} = &{v}; "))
            }
        }
    }

    /// An expression of a structure type as a place, if it is one: which of two may depend on a
    /// condition.
    fn structure(&mut self, e: &Node<Expression>) -> Option<String> {
        match &e.node {
            Expression::Conditional(c) => {
                let condition = self.value(&c.node.condition);
                let then = self.structure(c.node.then_expression.as_ref()?)?;
                let otherwise = self.structure(&c.node.else_expression)?;
                Some(format!("*(({condition}) ? &({then}) : &({otherwise}))"))
            }
            Expression::Identifier(_) | Expression::CompoundLiteral(_) => Some(self.place(e)),
            Expression::Member(m) => match m.node.operator {
                MemberOperator::Indirect => Some(self.place(e)),
                MemberOperator::Direct => self.structure(&m.node.expression).map(|_| self.place(e)),
            },
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                Some(self.place(e))
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                Some(self.place(e))
            }
            _ => None,
        }
    }

    /// Returns the check that an operation does not overflow, if that is the question.
    fn checked(&self, x: &str, op: &str, y: &str) -> String {
        match op.bytes().next().filter(|_| self.question.overflow && ARITHMETIC.contains(&op)) {
            Some(symbol) => format!("__throng_checked('{}', {x} {op} {y}, {x}, {y}); ", char::from(symbol)),
            None => String::new(),
        }
    }

    /// Writes `place op= v`.
    fn update(&mut self, turn: Turn, place: &str, op: &str, v: &str, gives: Gives) -> String {
        let (a, o, n) = (self.name(), self.name(), self.name());
        let value = if gives == Gives::Old { &o } else { &n };
        let (first, second) = match turn.site {
            None => (String::new(), String::new()),
            Some(site) if turn.atomic => (format!("__throng_turn({site}, 2);"), String::new()),
            Some(site) => (
                format!("__throng_read({site}, (void *){a}, sizeof *{a});"),
                format!("__throng_turn({site}, 1);"),
            ),
        };
        let check = if turn.atomic { String::new() } else { self.checked(&o, op, v) };
        format!(
            "__auto_type {a} = &({place}); {first} __typeof__(*{a}) {o} = *{a}; {check}__typeof__(*{a}) {n} = {o} {op} {v}; {second} *{a} = {n}; {value};"
        )
    }
}

/// The turns that an update takes.
#[derive(Clone, Copy)]
struct Turn {
    /// `None` if other threads do not see it.
    site: Option<usize>,
    /// True if it is one step.
    atomic: bool,
}

/// The value of an update as an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Old,
    New,
}

/// A copy of a structure: its site, and offset and size of each part.
#[derive(Default)]
struct Parts {
    site: usize,
    list: Vec<(u32, u8)>,
}

impl Parts {
    /// Returns the statement that copies from one address to another.
    fn call(&self, to: &str, from: &str) -> String {
        let list: Vec<String> = self.list.iter().map(|(offset, size)| format!("{offset}, {size}")).collect();
        let (site, list) = (self.site, list.join(", "));
        format!(
            "__throng_copy({site}, (void *){to}, (void *){from}, {}, (int[]){{ {list} }});",
            self.list.len()
        )
    }
}

/// The operators that may overflow, or have no result.
const ARITHMETIC: [&str; 7] = ["+", "-", "*", "/", "%", "<<", ">>"];

fn compound(op: &BinaryOperator) -> Option<&'static str> {
    use BinaryOperator as B;
    Some(match op {
        B::AssignMultiply => "*",
        B::AssignDivide => "/",
        B::AssignModulo => "%",
        B::AssignPlus => "+",
        B::AssignMinus => "-",
        B::AssignShiftLeft => "<<",
        B::AssignShiftRight => ">>",
        B::AssignBitwiseAnd => "&",
        B::AssignBitwiseXor => "^",
        B::AssignBitwiseOr => "|",
        _ => return None,
    })
}
