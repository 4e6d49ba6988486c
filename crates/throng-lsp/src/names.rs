//! The names of a program: where each is declared and where it is used.
//!
//! The order of lookup is that of the reader (reference 2.4): the variables of enclosing `for`
//! loops, variables and parameters of the function, global variables, then constants and values of
//! enumerations. `x$` means `x` if no variable is called `x$`.

use std::collections::HashMap;

use throng_lang::bp::ast::{
    Decl, DeclVar, Expr, ExprKind, Function, Ident, Initial, Program, Stmt, StmtKind, Target, Type,
};
use throng_lang::bp::lexer::{Lexer, Tok};
use throng_lang::source::Span;

/// The kind of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A constant.
    Constant,
    /// An enumeration.
    Enumeration,
    /// A value of an enumeration.
    Value,
    /// A shared variable.
    Shared,
    /// A global variable of which every thread has its own copy.
    ThreadLocal,
    /// A function.
    Function,
    /// A parameter.
    Parameter,
    /// A variable of a function.
    Local,
    /// The variable of a `for` loop.
    Loop,
    /// A label.
    Label,
}

impl Kind {
    /// Returns the kind in words.
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Constant => "constant",
            Kind::Enumeration => "enumeration",
            Kind::Value => "value of an enumeration",
            Kind::Shared => "shared variable",
            Kind::ThreadLocal => "variable, one per thread",
            Kind::Function => "function",
            Kind::Parameter => "parameter",
            Kind::Local => "local variable",
            Kind::Loop => "variable of a `for` loop",
            Kind::Label => "label",
        }
    }
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The span of the declared name.
    pub span: Span,
    /// The whole declaration.
    pub declaration: Span,
    /// The function it belongs to, by index.
    pub function: Option<usize>,
}

/// All names of a program.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The declared names, in the order of declaration.
    pub symbols: Vec<Symbol>,
    /// The places where they are written, in text order, and the indices of their symbols. The
    /// place of a declaration is one of them.
    pub uses: Vec<(Span, usize)>,
}

impl Names {
    /// Finds the names of a program; of one with errors, those that could be read.
    pub fn new(program: &Program, text: &str) -> Names {
        let mut finder = Finder { text, ..Finder::default() };
        finder.program(program);
        let mut names = finder.names;
        names.uses.sort_unstable_by_key(|u| u.0);
        names
    }

    /// Returns the use at a byte, or right after the name.
    pub fn at(&self, byte: usize) -> Option<(Span, usize)> {
        let byte = byte as u32;
        let next = self.uses.partition_point(|u| u.0.start <= byte);
        self.uses[..next].last().copied().filter(|(span, _)| byte <= span.end)
    }

    /// Returns every place where this symbol is written.
    pub fn uses_of(&self, symbol: usize) -> impl Iterator<Item = Span> + '_ {
        self.uses.iter().filter(move |u| u.1 == symbol).map(|u| u.0)
    }
}

#[derive(Default)]
struct Finder<'t> {
    text: &'t str,
    names: Names,
    globals: HashMap<String, usize>,
    constants: HashMap<String, usize>,
    types: HashMap<String, usize>,
    functions: HashMap<String, usize>,
    // State for the current function:
    function: Option<usize>,
    locals: HashMap<String, usize>,
    labels: HashMap<String, usize>,
    loops: Vec<(String, usize)>,
}

impl Finder<'_> {
    fn declare(&mut self, ident: &Ident, kind: Kind, declaration: Span) -> usize {
        let symbol = self.names.symbols.len();
        let function = self.function;
        self.names.symbols.push(Symbol {
            name: ident.name.clone(),
            kind,
            span: ident.span,
            declaration,
            function,
        });
        self.names.uses.push((ident.span, symbol));
        symbol
    }

    fn used(&mut self, span: Span, symbol: Option<usize>) {
        self.names.uses.extend(symbol.map(|symbol| (span, symbol)));
    }

    fn program(&mut self, program: &Program) {
        for c in &program.constants {
            let symbol = self.declare(&c.name, Kind::Constant, c.name.span.to(c.value.span));
            self.constants.entry(c.name.name.clone()).or_insert(symbol);
        }
        for e in &program.enumerations {
            let whole = e.values.last().map_or(e.name.span, |v| e.name.span.to(v.span));
            let symbol = self.declare(&e.name, Kind::Enumeration, whole);
            self.types.entry(e.name.name.clone()).or_insert(symbol);
            for value in &e.values {
                let symbol = self.declare(value, Kind::Value, whole);
                self.constants.entry(value.name.clone()).or_insert(symbol);
            }
        }
        for decl in &program.globals {
            let kind = if decl.thread_local { Kind::ThreadLocal } else { Kind::Shared };
            for v in &decl.variables {
                let symbol = self.declare(&v.name, kind, decl.span);
                self.globals.entry(v.name.name.clone()).or_insert(symbol);
            }
        }
        for f in &program.functions {
            let symbol = self.declare(&f.name, Kind::Function, f.span);
            self.functions.entry(f.name.name.clone()).or_insert(symbol);
        }
        for c in &program.constants {
            self.expr(&c.value);
        }
        program.globals.iter().for_each(|decl| self.declaration(decl));
        for (i, f) in program.functions.iter().enumerate() {
            self.function = Some(i);
            self.function(f);
        }
    }

    fn function(&mut self, f: &Function) {
        self.locals.clear();
        self.labels.clear();
        self.loops.clear();
        for p in &f.parameters {
            let symbol = self.declare(p, Kind::Parameter, f.name.span);
            self.locals.insert(p.name.clone(), symbol);
        }
        f.parameter_types.iter().chain(&f.result_types).for_each(|ty| self.ty(ty));
        // Declarations and labels are in scope in the whole function; a variable hides a parameter.
        self.collect(&f.body);
        self.block(&f.body);
    }

    fn collect(&mut self, body: &[Stmt]) {
        for s in body {
            for label in &s.labels {
                match self.labels.get(&label.name) {
                    Some(&symbol) => self.used(label.span, Some(symbol)),
                    None => {
                        let symbol = self.declare(label, Kind::Label, s.span);
                        self.labels.insert(label.name.clone(), symbol);
                    }
                }
            }
            match &s.kind {
                StmtKind::Decl(d) => {
                    for v in &d.variables {
                        let symbol = self.declare(&v.name, Kind::Local, d.span);
                        self.locals.insert(v.name.name.clone(), symbol);
                    }
                }
                StmtKind::If { arms, otherwise } => {
                    arms.iter().for_each(|(_, body)| self.collect(body));
                    otherwise.iter().for_each(|body| self.collect(body));
                }
                StmtKind::While(_, body) | StmtKind::Atomic(body, _) | StmtKind::For { body, .. } => {
                    self.collect(body);
                }
                StmtKind::Start(s) => self.collect(std::slice::from_ref(s)),
                _ => {}
            }
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(&s.kind));
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Skip | StmtKind::EndThread | StmtKind::AtomicBegin | StmtKind::AtomicEnd => {}
            StmtKind::Wait | StmtKind::Signal | StmtKind::Broadcast => {}
            StmtKind::Goto(labels) => labels.iter().for_each(|l| self.label(l)),
            StmtKind::StartGoto { label, .. } => self.label(label),
            StmtKind::Dead(names) => names.iter().for_each(|n| self.variable(&n.name, n.span)),
            StmtKind::Assume(e) | StmtKind::Assert(e) | StmtKind::Enforce(e) | StmtKind::Abortif(e) => {
                self.expr(e);
            }
            StmtKind::Assign { targets, values, constrain } => {
                targets.iter().for_each(|t| self.target(t));
                values.iter().chain(constrain).for_each(|e| self.expr(e));
            }
            StmtKind::Call { targets, callee, arguments } => {
                targets.iter().for_each(|t| self.target(t));
                self.used(callee.span, self.functions.get(&callee.name).copied());
                arguments.iter().for_each(|e| self.expr(e));
            }
            StmtKind::Return(es) | StmtKind::Print(es) => es.iter().for_each(|e| self.expr(e)),
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.expr(condition);
                    self.block(body);
                }
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::While(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            StmtKind::For { variable, from, to, body } => {
                self.expr(from);
                self.expr(to);
                let symbol = self.declare(variable, Kind::Loop, variable.span.to(to.span));
                self.loops.push((variable.name.clone(), symbol));
                self.block(body);
                self.loops.pop();
            }
            StmtKind::Decl(decl) => self.declaration(decl),
            StmtKind::Start(s) => self.stmt(&s.kind),
            StmtKind::Atomic(body, _) => self.block(body),
        }
    }

    /// Finds the names in lengths, types and initial values.
    fn declaration(&mut self, decl: &Decl) {
        for DeclVar { length, ty, initial, .. } in &decl.variables {
            length.iter().for_each(|e| self.expr(e));
            ty.iter().for_each(|ty| self.ty(ty));
            if let Some(Initial::Value(e)) = initial {
                self.expr(e);
            }
        }
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Bool => {}
            Type::Range(from, to) => {
                self.expr(from);
                self.expr(to);
            }
            Type::Named(name) => self.used(name.span, self.types.get(&name.name).copied()),
        }
    }

    fn target(&mut self, target: &Target) {
        self.variable(&target.ident.name, target.ident.span);
        target.index.iter().for_each(|e| self.expr(e));
    }

    fn label(&mut self, label: &Ident) {
        self.used(label.span, self.labels.get(&label.name).copied());
    }

    fn variable(&mut self, spelling: &str, span: Span) {
        let find = |name: &str| self.locals.get(name).or_else(|| self.globals.get(name)).copied();
        let (symbol, span) = match (find(spelling), spelling.strip_suffix('$')) {
            (None, Some(base)) => (find(base), Span { end: span.end - 1, ..span }),
            (found, _) => (found, span),
        };
        self.used(span, symbol);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Number(_) | ExprKind::Any => {}
            ExprKind::Name { name, primed } => self.name(e, name, !primed),
            ExprKind::Index { name, index, .. } => {
                self.name(e, name, false);
                self.expr(index);
            }
            ExprKind::Not(a) => self.expr(a),
            ExprKind::Chain(_, es) => es.iter().for_each(|e| self.expr(e)),
            ExprKind::Series(first, rest) => {
                self.expr(first);
                rest.iter().for_each(|(_, e)| self.expr(e));
            }
            ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr(e)),
        }
    }

    /// Resolves a name in an expression; `plain` if it may be a constant or the variable of a loop.
    fn name(&mut self, e: &Expr, name: &str, plain: bool) {
        let Some(span) = self.place(e.span) else { return };
        if let Some(&(_, symbol)) = self.loops.iter().rev().find(|l| plain && l.0 == name) {
            return self.used(span, Some(symbol));
        }
        let before = self.names.uses.len();
        self.variable(name, span);
        if self.names.uses.len() == before && plain {
            self.used(span, self.constants.get(name).copied());
        }
    }

    /// Returns the span of the name in an expression, whose span may begin with parentheses and a
    /// prime: the name is the first one in it.
    fn place(&self, span: Span) -> Option<Span> {
        let mut lexer = Lexer::new(self.text.get(span.range())?);
        loop {
            let token = lexer.token();
            match token.tok {
                Tok::Ident => {
                    let shift = |at: u32| at + span.start;
                    return Some(Span { start: shift(token.span.start), end: shift(token.span.end) });
                }
                Tok::Eof => return None,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::bp::parser::parse;

    /// Returns every use as `name@line of its declaration`.
    fn uses(text: &str) -> Vec<String> {
        let names = Names::new(&parse(text).0, text);
        let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
        names
            .uses
            .iter()
            .map(|&(span, symbol)| {
                let symbol = &names.symbols[symbol];
                assert!(text[span.range()].starts_with(&symbol.name), "{} {span:?}", symbol.name);
                format!("{}@{}", &text[span.range()], line(symbol.span.start))
            })
            .collect()
    }

    #[test]
    fn locals_hide_globals_and_labels_are_of_their_function() {
        let text = "decl x, y;\nvoid f(x) begin\nL: x := y; goto L;\nend\nvoid main() begin\nL: x := (('x)); f(y); goto L;\nend";
        let expected = [
            "x@1", "y@1", "f@2", "x@2", "L@3", "x@2", "y@1", "L@3", "main@5", "L@6", "x@1", "x@1", "f@2",
            "y@1", "L@6",
        ];
        assert_eq!(uses(text), expected);
    }

    #[test]
    fn constants_enumerations_loops_and_passive_names() {
        let text = "const N = 2;\nenum p { idle, busy };\ndecl a[N] : p;\nvoid main() begin\ndecl s : p := idle;\nfor i in 0..N - 1 do a[i] := busy; od\ns$ := s; assume(a[0] = idle);\nend";
        let expected = [
            "N@1", "p@2", "idle@2", "busy@2", "a@3", "N@3", "p@2", "main@4", "s@5", "p@2", "idle@2", "i@6",
            "N@1", "a@3", "i@6", "busy@2", "s@5", "s@5", "a@3", "idle@2",
        ]
        .map(|e| e.replace("N@3", "N@1"));
        assert_eq!(uses(text), expected);
    }

    #[test]
    fn the_end_of_a_name_is_at_the_name() {
        let text = "decl ab; void main() begin skip; end";
        let names = Names::new(&parse(text).0, text);
        assert!(names.at(5).is_some() && names.at(7).is_some());
        assert!(names.at(8).is_none() && names.at(4).is_none());
    }
}
