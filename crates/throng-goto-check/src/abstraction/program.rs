//! The abstraction as a Boolean program: a statement for each edge of the graph.
//!
//! The tree is built directly, and the prover and the checker build it with the same function. The
//! statement of edge `n` has the label `En`, by which a step of the program is mapped back to the
//! edge; the variables of predicate `n` are `sn` (shared) and `bn` (of each thread).

use throng_goto::program::Program;
use throng_lang::bp::ast::{
    self, ChainOp, Decl, DeclVar, Expr, ExprKind, Function, Ident, Origin, Stmt, StmtKind, Target,
};
use throng_lang::bp::printer::print;
use throng_lang::source::Span;

use super::cube::{Cube, Literal, Side, changed, edge, living};
use super::graph::{Edge, Graph, To};
use super::predicate::Predicate;

/// A Boolean program that does all that a program does.
#[derive(Clone, Debug, Default)]
pub struct AbstractProgram {
    /// The program; the span of each statement is its number.
    pub tree: ast::Program,
    /// The number of statements.
    pub statements: u32,
    /// What each variable stands for.
    pub meanings: Vec<String>,
}

impl AbstractProgram {
    /// Returns the program as text, for people.
    pub fn text(&self) -> String {
        let meanings = self.meanings.iter().map(|line| format!("// {line}\n"));
        meanings.chain([print(&self.tree)]).collect()
    }
}

/// Returns the edge that a statement with these labels stands for.
pub fn edge_of(labels: &[String]) -> Option<usize> {
    labels.iter().find_map(|label| label.strip_prefix('E')?.parse().ok())
}

/// Returns the predicate that a variable of the program stands for.
pub fn predicate_of(variable: &str) -> Option<u32> {
    variable.strip_prefix(['s', 'b'])?.parse().ok()
}

/// Builds the program that allows everything but what is never satisfied, edge by edge.
pub fn build(program: &Program, graph: &Graph, list: &[Predicate], never: &[Vec<Cube>]) -> AbstractProgram {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.places.len()];
    for (n, e) in graph.edges.iter().enumerate() {
        // An empty cube: there is no such step.
        if !never[n].iter().any(Vec::is_empty) {
            from[e.from].push(n);
        }
    }
    let mut builder = Builder { program, graph, list, never, from, body: Vec::new() };
    let globals = builder.declaration(true);
    if let Some(own) = builder.declaration(false) {
        builder.add(StmtKind::Decl(own));
    }
    builder.start();
    for place in 0..graph.places.len() {
        builder.place(place);
    }
    builder.labelled("END".into(), StmtKind::Skip);
    let statements = builder.body.len() as u32 + 1;
    let end = span(statements - 1);
    let function = Function {
        dfs: false,
        results: 0,
        result_types: Vec::new(),
        name: ident("main"),
        parameters: Vec::new(),
        parameter_types: Vec::new(),
        body: builder.body,
        span: end,
        end,
    };
    let tree = ast::Program {
        globals: globals.into_iter().collect(),
        functions: vec![function],
        ..ast::Program::default()
    };
    let meaning = |(i, p): (usize, &Predicate)| {
        let owner = p.template.map(|t| format!("   of each thread in {}", program.templates[t].name));
        let text = p.text(&graph.variables);
        format!("{}: {text}{}", name(list, i as u32), owner.unwrap_or_default()).replace('\n', " ")
    };
    AbstractProgram { tree, statements, meanings: list.iter().enumerate().map(meaning).collect() }
}

fn name(list: &[Predicate], i: u32) -> String {
    let kind = if list[i as usize].template.is_none() { 's' } else { 'b' };
    format!("{kind}{i}")
}

/// The span of a statement, by number.
fn span(n: u32) -> Span {
    Span { start: n, end: n }
}

fn ident(name: impl Into<String>) -> Ident {
    Ident { name: name.into(), span: Span::default() }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn constant(value: bool) -> Expr {
    expr(ExprKind::Const(value))
}

fn not(e: Expr) -> Expr {
    expr(ExprKind::Not(Box::new(e)))
}

/// Joins expressions; none of them are `empty`.
fn chain(op: ChainOp, mut parts: Vec<Expr>, empty: bool) -> Expr {
    match (parts.len(), parts.pop()) {
        (1, Some(one)) => one,
        (_, Some(last)) => {
            parts.push(last);
            expr(ExprKind::Chain(op, parts))
        }
        (_, None) => constant(empty),
    }
}

struct Builder<'a> {
    program: &'a Program,
    graph: &'a Graph,
    list: &'a [Predicate],
    never: &'a [Vec<Cube>],
    /// The edges that leave each place.
    from: Vec<Vec<usize>>,
    /// The statements so far.
    body: Vec<Stmt>,
}

/// A parallel assignment.
type Assignment = (Vec<Target>, Vec<Expr>);

impl Builder<'_> {
    fn add(&mut self, kind: StmtKind) {
        self.body.push(Stmt {
            labels: Vec::new(),
            kind,
            span: span(self.body.len() as u32),
            origin: None,
            check: None,
            reads: Vec::new(),
        });
    }

    fn labelled(&mut self, label: String, kind: StmtKind) {
        self.add(kind);
        self.body.last_mut().into_iter().for_each(|s| s.labels.push(ident(&label)));
    }

    /// Declares the variables of predicates about shared variables only, or the other ones.
    fn declaration(&self, shared: bool) -> Option<Decl> {
        let which = (0..self.list.len() as u32).filter(|&i| self.is_shared(i) == shared);
        let variable = |i| DeclVar { name: ident(name(self.list, i)), length: None, ty: None, initial: None };
        let variables: Vec<DeclVar> = which.map(variable).collect();
        (!variables.is_empty()).then_some(Decl { thread_local: false, variables, span: Span::default() })
    }

    fn is_shared(&self, i: u32) -> bool {
        self.list[i as usize].template.is_none()
    }

    /// The start of the program and of its threads.
    fn start(&mut self) {
        let start = self.graph.edges.len();
        let (first, any) = Graph::first(self.program);
        self.labelled(format!("E{start}"), self.statement(start));
        let entry = |t: usize| ident(format!("E{}", start + 1 + t));
        if any {
            let choices = (0..first.len()).map(|k| ident(format!("S{k}"))).collect();
            self.labelled("START".into(), StmtKind::Goto(choices));
            for (k, &t) in first.iter().enumerate() {
                self.labelled(format!("S{k}"), StmtKind::StartGoto { label: entry(t), goto: true });
                self.add(StmtKind::Goto(vec![ident("START")]));
            }
        } else {
            self.add(StmtKind::Goto(first.iter().map(|&t| entry(t)).collect()));
        }
        for (t, (place, _)) in self.graph.entries.iter().enumerate() {
            self.labelled(format!("E{}", start + 1 + t), self.statement(start + 1 + t));
            self.add(StmtKind::Goto(self.ways(*place)));
        }
    }

    /// A place, and the edges that leave it.
    fn place(&mut self, place: usize) {
        let label = format!("L{place}");
        if self.from[place].is_empty() {
            self.labelled(label, StmtKind::Assume(constant(false)));
            // Inside an atomic section, a thread may not end.
            self.end(self.graph.places[place].atomic);
            return;
        }
        self.labelled(label, StmtKind::Goto(self.ways(place)));
        for n in self.from[place].clone() {
            self.edge(n);
        }
    }

    fn end(&mut self, inside: bool) {
        if inside {
            self.add(StmtKind::AtomicEnd);
        }
        self.add(StmtKind::Goto(vec![ident("END")]));
    }

    /// Where control goes from a place: to its edges at once, because a label of its own would be
    /// one more step.
    fn ways(&self, place: usize) -> Vec<Ident> {
        let head = |&n: &usize| match self.begins_section(n) {
            true => ident(format!("B{n}")),
            false => ident(format!("E{n}")),
        };
        let edges: Vec<Ident> = self.from[place].iter().map(head).collect();
        if edges.is_empty() { vec![ident(format!("L{place}"))] } else { edges }
    }

    /// Returns whether an edge ends inside an atomic section, if its thread goes on.
    fn stays(&self, e: &Edge) -> bool {
        match &e.to {
            To::Place(to) => self.graph.places[*to].atomic,
            To::Fail(..) => self.graph.places[e.from].atomic,
            To::End => false,
        }
    }

    fn begins_section(&self, n: usize) -> bool {
        let e = &self.graph.edges[n];
        self.stays(e) && !self.graph.places[e.from].atomic
    }

    fn edge(&mut self, n: usize) {
        let e = &self.graph.edges[n];
        let (inside, first) = (self.graph.places[e.from].atomic, self.body.len());
        if self.begins_section(n) {
            self.labelled(format!("B{n}"), StmtKind::AtomicBegin);
        }
        self.labelled(format!("E{n}"), self.statement(n));
        self.body[first].origin = Some(self.origin(e));
        if let To::Fail(..) = e.to {
            self.add(StmtKind::Assert(constant(false)));
        }
        for &child in &e.starts {
            // If it is the only one, its predicates were set by the step.
            let label = match is_exact(self.graph, e) {
                true => format!("L{}", self.graph.entries[child].0),
                false => format!("E{}", self.graph.edges.len() + 1 + child),
            };
            self.add(StmtKind::StartGoto { label: ident(label), goto: true });
        }
        if inside && !self.stays(e) {
            self.add(StmtKind::AtomicEnd);
        }
        match e.to {
            To::Place(to) => self.add(StmtKind::Goto(self.ways(to))),
            To::Fail(..) => self.end(inside),
            To::End => self.end(false),
        }
    }

    /// Where an edge begins in the program, for people.
    fn origin(&self, e: &Edge) -> Origin {
        let place = self.graph.places[e.from];
        let origin = self.program.origin(place.template, place.pc);
        let file = origin.file.clone().unwrap_or_else(|| "C".into());
        // For people: the statement stands behind the function.
        let text = origin.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts = [origin.function.as_str(), &text];
        let words: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Origin { file, line: origin.line, function: Some(words.join(": ")) }
    }

    /// What an edge does to predicates.
    fn statement(&self, n: usize) -> StmtKind {
        let e = edge(self.graph, n);
        let fails = matches!(e.to, To::Fail(..));
        let (targets, values) = self.assignment(n, e, fails);
        let single = |c: &&Cube| c.iter().filter(|l| is_later(l)).count() != 1;
        let conditions: Vec<Expr> = (self.never[n].iter())
            .filter(single)
            .filter(|c| c.iter().all(|l| !is_later(l) || !fails))
            .map(|c| not(self.cube(c.iter())))
            .collect();
        let constrain = (!conditions.is_empty()).then(|| chain(ChainOp::And, conditions, true));
        match (targets.is_empty(), constrain) {
            (true, None) => StmtKind::Skip,
            (true, Some(condition)) => StmtKind::Assume(condition),
            (false, constrain) => StmtKind::Assign { targets, values, constrain },
        }
    }

    /// The values that an edge gives to predicates.
    fn assignment(&self, n: usize, e: &Edge, fails: bool) -> Assignment {
        let (before, lives) = living(self.program, self.graph, self.list, n);
        let (changed, others) = changed(self.graph, self.list, e);
        let ends = fails || e.to == To::End && e.starts.is_empty();
        let (mut targets, mut values): Assignment = Default::default();
        for i in 0..self.list.len() as u32 {
            let now = lives[i as usize];
            let goes = before[i as usize] && !now;
            let value = if changed.contains(&i) && now {
                self.value(n, i, Side::After)
            } else if (changed.contains(&i) || goes) && !ends && !self.is_shared(i) {
                // Its value does not matter: any.
                expr(ExprKind::Any)
            } else {
                continue;
            };
            targets.push(ident(name(self.list, i)).into());
            values.push(value);
        }
        // The start changes shared variables before there are threads.
        if !fails && n < self.graph.edges.len() {
            for i in others {
                targets.push(ident(name(self.list, i) + "$").into());
                values.push(self.value(n, i, Side::OtherAfter));
            }
        }
        (targets, values)
    }

    /// The value that facts leave to a predicate after an edge.
    fn value(&self, n: usize, i: u32, side: Side) -> Expr {
        let is_about = |c: &&Cube| {
            c.iter().filter(|l| is_later(l)).count() == 1 && c.iter().any(|l| (l.0, l.1) == (i, side))
        };
        let force = |value: bool| -> Vec<Vec<&Literal>> {
            let cubes = self.never[n].iter().filter(is_about).filter(|c| c.contains(&(i, side, !value)));
            cubes.map(|c| c.iter().filter(|l| !is_later(l)).collect()).collect()
        };
        let (yes, no) = (force(true), force(false));
        let some = |cubes: &[Vec<&Literal>]| {
            chain(ChainOp::Or, cubes.iter().map(|c| self.cube(c.iter().copied())).collect(), false)
        };
        match () {
            () if yes.iter().any(Vec::is_empty) => constant(true),
            () if no.iter().any(Vec::is_empty) => constant(false),
            () if yes.is_empty() && no.is_empty() => expr(ExprKind::Any),
            () => expr(ExprKind::Schoose(Box::new(some(&yes)), Box::new(some(&no)))),
        }
    }

    fn cube<'l>(&self, literals: impl Iterator<Item = &'l Literal>) -> Expr {
        let literal = |l: &Literal| {
            let other = if is_other(l) { "$" } else { "" };
            let variable = name(self.list, l.0) + other;
            let e = expr(ExprKind::Name { name: variable, primed: is_later(l) });
            if l.2 { e } else { not(e) }
        };
        chain(ChainOp::And, literals.map(literal).collect(), true)
    }
}

/// Returns whether the predicates of the thread that an edge starts are set by the edge.
pub fn is_exact(graph: &Graph, e: &Edge) -> bool {
    matches!(e.starts[..], [child] if child != graph.places[e.from].template)
}

fn is_later(l: &Literal) -> bool {
    matches!(l.1, Side::After | Side::OtherAfter)
}

fn is_other(l: &Literal) -> bool {
    matches!(l.1, Side::OtherBefore | Side::OtherAfter)
}
