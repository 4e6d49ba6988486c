//! Tree to text, such that parsing the text gives the same tree.
//!
//! Expressions get as few parentheses as possible, but enough that no reader has to know whether
//! `=` binds tighter than `&`: where the parser would warn, there are parentheses. `assume` and
//! `assert` always have them, because some tools require them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::bp::ast::{
    BinaryOp, ChainOp, Decl, Expr, ExprKind, Function, Ident, Initial, Mark, Origin, Program, Stmt, StmtKind,
    Target, Type,
};

/// Prints a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { orders: program.orders.clone(), ..Printer::default() };
    for constant in &program.constants {
        printer.word(format_args!("const {} = {};\n", constant.name.name, expr_to_string(&constant.value)));
    }
    for enumeration in &program.enumerations {
        printer.word(format_args!("enum {} {{ ", enumeration.name.name));
        printer.names(&enumeration.values);
        printer.out.push_str(" };\n");
    }
    for decl in &program.globals {
        printer.decl(decl);
        printer.out.push_str(";\n");
    }
    for function in &program.functions {
        printer.function(function);
    }
    printer.out
}

/// Prints an expression on one line.
pub fn expr_to_string(expr: &Expr) -> String {
    let mut printer = Printer::default();
    printer.expr(expr, LOOSEST);
    printer.out
}

/// Prints a statement on one line, without its labels; of a block only the head, as in `while x do
/// ...`.
pub fn stmt_to_string(stmt: &Stmt) -> String {
    let mut printer = Printer { heads_only: true, ..Printer::default() };
    printer.kind(&stmt.kind);
    printer.out
}

/// Levels of precedence, as in the parser; a higher one binds tighter.
const LOOSEST: u8 = 0;
const EQUALITY: u8 = 6;
const ORDER: u8 = 7;
const SUM: u8 = 8;
const PRODUCT: u8 = 9;
const UNARY: u8 = 10;

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
    heads_only: bool,
    orders: BTreeMap<u32, Mark>,
}

impl Printer {
    fn word(&mut self, word: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{word}");
    }

    fn line_start(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn list<T>(&mut self, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            print(self, item);
        }
    }

    fn names(&mut self, names: &[Ident]) {
        self.list(names, |p, name| p.word(&name.name));
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        self.list(exprs, |p, e| p.expr(e, LOOSEST));
    }

    // ---- program

    fn function(&mut self, function: &Function) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        if function.dfs {
            self.out.push_str("dfs ");
        }
        match function.results {
            _ if !function.result_types.is_empty() => {
                self.list(&function.result_types, Self::type_);
                self.out.push(' ');
            }
            0 => self.out.push_str("void "),
            1 => self.out.push_str("bool "),
            n => self.word(format_args!("bool<{n}> ")),
        }
        self.word(&function.name.name);
        self.out.push('(');
        let mut types = function.parameter_types.iter();
        self.list(&function.parameters, |p, name| {
            p.word(&name.name);
            p.typed(types.next());
        });
        self.out.push_str(") begin\n");
        self.block(&function.body);
        self.out.push_str("end\n");
    }

    fn decl(&mut self, decl: &Decl) {
        self.out.push_str(if decl.thread_local { "decl thread_local " } else { "decl " });
        self.list(&decl.variables, |p, variable| {
            p.word(&variable.name.name);
            if let Some(length) = &variable.length {
                p.element(length);
            }
            p.typed(variable.ty.as_ref());
            p.out.push_str(match &variable.initial {
                None => "",
                Some(Initial::False) => " := 0",
                Some(Initial::True) => " := 1",
                Some(Initial::Any) => " := *",
                Some(Initial::Value(e)) => return p.head(" := ", e, ""),
            });
        });
    }

    fn typed(&mut self, ty: Option<&Type>) {
        if let Some(ty) = ty {
            self.out.push_str(" : ");
            self.type_(ty);
        }
    }

    fn type_(&mut self, ty: &Type) {
        match ty {
            Type::Bool => self.out.push_str("bool"),
            Type::Range(from, to) => self.range(from, to),
            Type::Named(name) => self.word(&name.name),
        }
    }

    fn range(&mut self, from: &Expr, to: &Expr) {
        self.expr(from, SUM);
        self.out.push_str("..");
        self.expr(to, SUM);
    }

    fn element(&mut self, index: &Expr) {
        self.out.push('[');
        self.expr(index, LOOSEST);
        self.out.push(']');
    }

    fn targets(&mut self, targets: &[Target]) {
        self.list(targets, |p, target| {
            p.word(&target.ident.name);
            target.index.iter().for_each(|index| p.element(index));
        });
    }

    // ---- statements

    fn block(&mut self, statements: &[Stmt]) {
        self.indent += 1;
        for statement in statements {
            self.stmt(statement);
        }
        self.indent -= 1;
    }

    /// Prints a block inside a statement, and the word on the line after it.
    fn inner_block(&mut self, statements: &[Stmt], end: &str) {
        if self.heads_only {
            self.out.push_str(" ...");
            return;
        }
        self.out.push('\n');
        self.block(statements);
        self.line_start();
        self.out.push_str(end);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Some(origin) = &stmt.origin {
            self.line_start();
            self.origin(origin);
        }
        self.line_start();
        for label in &stmt.labels {
            self.word(format_args!("{}: ", label.name));
        }
        self.marked(stmt);
        self.out.push_str(";\n");
    }

    /// Prints a statement with its memory order.
    fn marked(&mut self, stmt: &Stmt) {
        match (self.orders.get(&stmt.span.start).copied(), &stmt.kind) {
            (Some(mark), StmtKind::Skip) => self.word(format_args!("fence({})", mark.order)),
            (Some(mark), kind @ (StmtKind::Assign { .. } | StmtKind::Assume(_))) => {
                self.kind(kind);
                self.word(format_args!(" @{}", mark.order));
            }
            (_, kind) => self.kind(kind),
        }
    }

    fn origin(&mut self, origin: &Origin) {
        self.word(format_args!("// file {} line {}", origin.file, origin.line));
        if let Some(function) = &origin.function {
            self.word(format_args!(" function {function}"));
        }
        self.out.push('\n');
    }

    fn kind(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Skip => self.out.push_str("skip"),
            StmtKind::EndThread => self.out.push_str("end_thread"),
            StmtKind::AtomicBegin => self.out.push_str("atomic_begin"),
            StmtKind::AtomicEnd => self.out.push_str("atomic_end"),
            StmtKind::Wait => self.out.push_str("wait"),
            StmtKind::Signal => self.out.push_str("signal"),
            StmtKind::Broadcast => self.out.push_str("broadcast"),
            StmtKind::Goto(labels) => self.worded_names("goto ", labels),
            StmtKind::Dead(names) => self.worded_names("dead ", names),
            StmtKind::Assume(e) => self.worded_expr("assume", e),
            StmtKind::Assert(e) => self.worded_expr("assert", e),
            StmtKind::Enforce(e) => self.worded_expr("enforce", e),
            StmtKind::Abortif(e) => self.worded_expr("abortif", e),
            StmtKind::Assign { targets, values, constrain } => {
                self.assign(targets, values, constrain.as_ref())
            }
            StmtKind::Call { targets, callee, arguments } => self.call(targets, &callee.name, arguments),
            StmtKind::Return(values) => {
                self.out.push_str(if values.is_empty() { "return" } else { "return " });
                self.exprs(values);
            }
            StmtKind::Print(values) => self.arguments("print", values),
            StmtKind::If { arms, otherwise } => self.if_statement(arms, otherwise.as_deref()),
            StmtKind::While(condition, body) => {
                self.head("while ", condition, " do");
                self.inner_block(body, "od");
            }
            StmtKind::For { variable, from, to, body } => {
                self.word(format_args!("for {} in ", variable.name));
                self.range(from, to);
                self.out.push_str(" do");
                self.inner_block(body, "od");
            }
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::StartGoto { label, goto } => {
                self.out.push_str(if *goto { "start_thread goto " } else { "start_thread " });
                self.word(&label.name);
            }
            StmtKind::Start(inner) => {
                self.out.push_str("start_thread ");
                self.kind(&inner.kind);
            }
            StmtKind::Atomic(body, _) => {
                self.out.push_str("atomic {");
                self.inner_block(body, "}");
            }
        }
    }

    fn worded_names(&mut self, word: &str, names: &[Ident]) {
        self.out.push_str(word);
        self.names(names);
    }

    fn worded_expr(&mut self, word: &str, e: &Expr) {
        self.arguments(word, std::slice::from_ref(e));
    }

    fn arguments(&mut self, word: &str, arguments: &[Expr]) {
        self.out.push_str(word);
        self.out.push('(');
        self.exprs(arguments);
        self.out.push(')');
    }

    fn head(&mut self, before: &str, condition: &Expr, after: &str) {
        self.out.push_str(before);
        self.expr(condition, LOOSEST);
        self.out.push_str(after);
    }

    fn assign(&mut self, targets: &[Target], values: &[Expr], constrain: Option<&Expr>) {
        self.targets(targets);
        self.out.push_str(" := ");
        self.exprs(values);
        if let Some(constrain) = constrain {
            self.head(" constrain ", constrain, "");
        }
    }

    fn call(&mut self, targets: &[Target], callee: &str, arguments: &[Expr]) {
        if !targets.is_empty() {
            self.targets(targets);
            self.out.push_str(" := ");
        } else if matches!(callee, "dead" | "print" | "sync") {
            self.out.push_str("call "); // without it, this would be another statement
        }
        self.arguments(callee, arguments);
    }

    fn if_statement(&mut self, arms: &[(Expr, Vec<Stmt>)], otherwise: Option<&[Stmt]>) {
        let shown = if self.heads_only { 1 } else { arms.len() };
        for (i, (condition, body)) in arms.iter().take(shown).enumerate() {
            self.head(if i == 0 { "if " } else { "elsif " }, condition, " then");
            self.inner_block(body, "");
        }
        if self.heads_only {
            return;
        }
        if let Some(body) = otherwise {
            self.out.push_str("else");
            self.inner_block(body, "");
        }
        self.out.push_str("fi");
    }

    // ---- expressions

    /// Prints an expression where operators below this level need parentheses.
    fn expr(&mut self, e: &Expr, least: u8) {
        let enclose = level(&e.kind) < least;
        if enclose {
            self.out.push('(');
        }
        self.bare_expr(&e.kind);
        if enclose {
            self.out.push(')');
        }
    }

    fn bare_expr(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Const(value) => self.out.push(if *value { '1' } else { '0' }),
            ExprKind::Number(value) => self.word(value),
            ExprKind::Any => self.out.push('*'),
            ExprKind::Name { name, primed } => {
                self.out.push_str(if *primed { "'" } else { "" });
                self.out.push_str(name);
            }
            ExprKind::Index { name, primed, index } => {
                self.out.push_str(if *primed { "'" } else { "" });
                self.out.push_str(name);
                self.element(index);
            }
            ExprKind::Not(a) => {
                self.out.push('!');
                self.expr(a, UNARY);
            }
            ExprKind::Chain(op, operands) => self.chain(*op, operands),
            ExprKind::Series(first, rest) => {
                let Some((op, _)) = rest.first() else { return self.expr(first, LOOSEST) };
                self.expr(first, binary(*op).1);
                for (op, e) in rest {
                    let (sign, _, right) = binary(*op);
                    self.out.push_str(sign);
                    self.expr(e, right);
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (sign, left, right) = binary(*op);
                self.expr(a, left);
                self.out.push_str(sign);
                self.expr(b, right);
            }
            ExprKind::Conditional(c, a, b) => {
                self.expr(c, LOOSEST + 1);
                self.out.push_str(" ? ");
                self.expr(a, LOOSEST);
                self.out.push_str(" : ");
                self.expr(b, LOOSEST);
            }
            ExprKind::Schoose(a, b) => {
                self.out.push_str("schoose[");
                self.expr(a, LOOSEST);
                self.out.push_str(", ");
                self.expr(b, LOOSEST);
                self.out.push(']');
            }
        }
    }

    fn chain(&mut self, op: ChainOp, operands: &[Expr]) {
        let sign = match op {
            ChainOp::And => " & ",
            ChainOp::Or => " | ",
            ChainOp::Xor => " ^ ",
        };
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.out.push_str(sign);
            }
            self.expr(operand, least_in_chain(op, &operand.kind));
        }
    }
}

fn level(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::Conditional(..) => LOOSEST,
        ExprKind::Binary(BinaryOp::Iff, ..) => 1,
        ExprKind::Binary(BinaryOp::Implies, ..) => 2,
        ExprKind::Chain(op, _) => chain_level(*op),
        ExprKind::Binary(op, ..) => binary(*op).2 - 1,
        ExprKind::Series(_, rest) => rest.first().map_or(UNARY, |(op, _)| binary(*op).2 - 1),
        ExprKind::Not(_) => UNARY,
        ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Any | ExprKind::Schoose(..) => UNARY + 1,
        ExprKind::Name { .. } | ExprKind::Index { .. } => UNARY + 1,
    }
}

fn chain_level(op: ChainOp) -> u8 {
    match op {
        ChainOp::Or => 3,
        ChainOp::Xor => 4,
        ChainOp::And => 5,
    }
}

/// Returns the sign of an operator and the least levels of its operands; `a - b - c` without
/// parentheses is a series.
fn binary(op: BinaryOp) -> (&'static str, u8, u8) {
    match op {
        BinaryOp::Iff => (" <=> ", 2, 2),
        BinaryOp::Implies => (" => ", 3, 2),
        BinaryOp::Equal => (" = ", EQUALITY + 1, EQUALITY + 1),
        BinaryOp::Unequal => (" != ", EQUALITY + 1, EQUALITY + 1),
        BinaryOp::Less => (" < ", ORDER + 1, ORDER + 1),
        BinaryOp::AtMost => (" <= ", ORDER + 1, ORDER + 1),
        BinaryOp::Greater => (" > ", ORDER + 1, ORDER + 1),
        BinaryOp::AtLeast => (" >= ", ORDER + 1, ORDER + 1),
        BinaryOp::Plus => (" + ", SUM + 1, SUM + 1),
        BinaryOp::Minus => (" - ", SUM + 1, SUM + 1),
        BinaryOp::Times => (" * ", PRODUCT + 1, PRODUCT + 1),
    }
}

/// Returns the least level of an operand of a chain: tighter than its operator, and so tight that
/// the parser does not warn.
fn least_in_chain(op: ChainOp, operand: &ExprKind) -> u8 {
    match (op, operand) {
        (_, ExprKind::Binary(BinaryOp::Equal | BinaryOp::Unequal, ..)) => UNARY,
        (_, ExprKind::Series(_, rest))
            if matches!(rest[..], [(BinaryOp::Equal | BinaryOp::Unequal, _), ..]) =>
        {
            UNARY
        }
        (ChainOp::Or, ExprKind::Chain(ChainOp::Xor, _)) => UNARY,
        _ => chain_level(op) + 1,
    }
}
