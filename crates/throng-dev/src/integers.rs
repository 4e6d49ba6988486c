//! Random programs with numbers, enumerations and arrays, and what they mean, computed with
//! integers.
//!
//! A program is made as a tree, written as text for Throng, and run here from the tree: no reader,
//! no bits. The two share nothing but the reference (2.17).

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

use crate::Rng;

/// The values of the enumeration that every program has.
const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Bool,
    Range(i64, i64),
    Wrap(u32),
    Colour,
}

impl Type {
    fn text(self) -> String {
        match self {
            Type::Bool => "bool".into(),
            Type::Range(l, h) => format!("{l}..{h}"),
            Type::Wrap(k) => format!("u{k}"),
            Type::Colour => "colour".into(),
        }
    }

    fn values(self) -> std::ops::RangeInclusive<i64> {
        match self {
            Type::Bool => 0..=1,
            Type::Range(l, h) => l..=h,
            Type::Wrap(k) => 0..=(1 << k) - 1,
            Type::Colour => 0..=COLOURS.len() as i64 - 1,
        }
    }

    /// The value that a variable gets; none: it does not fit.
    fn fit(self, value: i64) -> Option<i64> {
        match self {
            Type::Wrap(k) => Some(value.rem_euclid(1 << k)),
            _ => self.values().contains(&value).then_some(value),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Type::Range(..) | Type::Wrap(_))
    }

    fn written(self, value: i64) -> String {
        if self == Type::Colour { COLOURS[value as usize].into() } else { value.to_string() }
    }
}

/// A variable: its elements are values `at..at + length` of the shared or the thread's values.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Type,
    shared: bool,
    at: usize,
    /// None: no array.
    length: Option<usize>,
    initial: Option<i64>,
}

/// An expression; numbers, colours and truth values alike.
#[derive(Clone, Debug)]
enum Expr {
    Const(i64, Type),
    Var(usize),
    Element(usize, Box<Expr>),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choose(Box<[Expr; 3]>),
}

/// Kinds of statements.
#[derive(Clone, Debug)]
enum Kind {
    Skip,
    Assume(Expr),
    Assert(Expr),
    /// Targets with indices, values (none: any), and a condition.
    Assign(Vec<(usize, Option<Expr>)>, Vec<Option<Expr>>, Option<Expr>),
    /// Goes on behind it, or at the second place if the condition (none: any) does not hold.
    Branch(Option<Expr>, usize),
    Jump(usize),
    End,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    inside: bool,
}

/// A program, as text and as a graph.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text.
    pub text: String,
    variables: Vec<Variable>,
    nodes: Vec<Node>,
}

/// Some check failed.
struct Violated;

/// The position of a thread and its values.
type Thread = (usize, Vec<i64>);

/// The shared values, and the threads, sorted.
type State = (Vec<i64>, Vec<Thread>);

struct Generator<'r> {
    rng: &'r mut Rng,
    variables: Vec<Variable>,
    nodes: Vec<Node>,
    text: String,
    inside: bool,
}

/// A random program; equal seeds give equal programs.
pub fn generate(rng: &mut Rng) -> Program {
    let mut made =
        Generator { rng, variables: Vec::new(), nodes: Vec::new(), text: String::new(), inside: false };
    let _ = writeln!(made.text, "const N = 2;\nenum colour {{ {} }};", COLOURS.join(", "));
    let (mut shared, mut local) = (0, 0);
    for i in 0..2 + made.rng.index(2) {
        let length = (i == 0 && made.rng.one_in(2)).then_some(2);
        made.declare(format!("g{i}"), true, length, &mut shared);
    }
    made.text.push_str("void main() begin\n");
    for i in 0..1 + made.rng.index(2) {
        made.declare(format!("l{i}"), false, None, &mut local);
    }
    let statements = 2 + made.rng.index(5);
    made.block(statements, 2);
    made.push(Kind::End);
    made.text.push_str("end\n");
    Program { text: made.text, variables: made.variables, nodes: made.nodes }
}

impl Generator<'_> {
    fn declare(&mut self, name: String, shared: bool, length: Option<usize>, next: &mut usize) {
        let ty = match self.rng.index(8) {
            0 | 1 => Type::Bool,
            2 => Type::Colour,
            3 | 4 => Type::Wrap(1 + self.rng.index(2) as u32),
            5 => Type::Range(-1, 1),
            _ => Type::Range(0, 1 + self.rng.index(3) as i64),
        };
        let values: Vec<i64> = ty.values().collect();
        let initial = (!self.rng.one_in(4)).then(|| *self.rng.pick(&values));
        let many = length.map_or_else(String::new, |n| if n == 2 { "[N]".into() } else { format!("[{n}]") });
        let start = initial.map_or_else(String::new, |v| format!(" := {}", ty.written(v)));
        let _ = writeln!(self.text, "decl {name}{many} : {}{start};", ty.text());
        self.variables.push(Variable { name, ty, shared, at: *next, length, initial });
        *next += length.unwrap_or(1);
    }

    fn push(&mut self, kind: Kind) -> usize {
        self.nodes.push(Node { kind, inside: self.inside });
        self.nodes.len() - 1
    }

    fn block(&mut self, statements: usize, depth: usize) {
        for _ in 0..statements {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.index(12) {
            0 => {
                self.push(Kind::Skip);
                self.text.push_str("skip;\n");
            }
            1 if !self.inside => {
                let e = self.truth(2);
                let _ = writeln!(self.text, "assume({});", self.written(&e));
                self.push(Kind::Assume(e));
            }
            2 | 3 => {
                let e = self.truth(2);
                let _ = writeln!(self.text, "assert({});", self.written(&e));
                self.push(Kind::Assert(e));
            }
            4 | 5 if depth > 0 => self.conditional(depth),
            6 if depth > 0 && !self.inside => self.repeated(depth),
            7 if depth > 0 && !self.inside => {
                self.text.push_str("atomic {\n");
                // Entering is a step of its own, and so is leaving, which belongs to the section.
                self.push(Kind::Skip);
                self.inside = true;
                self.block(1 + depth, depth - 1);
                self.push(Kind::Skip);
                self.inside = false;
                self.text.push_str("}\n");
            }
            8 if depth > 0 => {
                // The same statements for each number: here they are written twice.
                let i = self.index_variable();
                let Some(i) = i else { return self.assignment() };
                let array = self.variables[i].clone();
                self.text.push_str("for k in 0..N - 1 do\n");
                let e = if array.ty.is_number() { self.number(1) } else { self.of(array.ty, 1) };
                let _ = writeln!(self.text, "{}[k] := {};\nod\n", array.name, self.written(&e));
                for k in 0..2 {
                    let index = Expr::Const(k, Type::Range(0, 1));
                    self.push(Kind::Assign(vec![(i, Some(index))], vec![Some(e.clone())], None));
                }
            }
            _ => self.assignment(),
        }
    }

    fn index_variable(&self) -> Option<usize> {
        self.variables.iter().position(|v| v.length == Some(2))
    }

    fn conditional(&mut self, depth: usize) {
        let condition = (!self.rng.one_in(3)).then(|| self.truth(2));
        let said = condition.as_ref().map_or_else(|| "*".into(), |e| self.written(e));
        let _ = writeln!(self.text, "if {said} then");
        let branch = self.push(Kind::Branch(condition.clone(), 0));
        self.block(1, depth - 1);
        let jump = self.push(Kind::Jump(0));
        self.text.push_str("else\n");
        let otherwise = self.nodes.len();
        self.block(1, depth - 1);
        self.text.push_str("fi;\n");
        self.nodes[branch].kind = Kind::Branch(condition, otherwise);
        self.nodes[jump].kind = Kind::Jump(self.nodes.len());
    }

    fn repeated(&mut self, depth: usize) {
        let condition = self.rng.one_in(2).then(|| self.truth(2));
        let said = condition.as_ref().map_or_else(|| "*".into(), |e| self.written(e));
        let _ = writeln!(self.text, "while {said} do");
        let branch = self.push(Kind::Branch(condition.clone(), 0));
        let statements = 1 + self.rng.index(2);
        self.block(statements, depth - 1);
        self.push(Kind::Jump(branch));
        self.text.push_str("od;\n");
        self.nodes[branch].kind = Kind::Branch(condition, self.nodes.len());
    }

    fn assignment(&mut self) {
        let mut targets = vec![self.rng.index(self.variables.len())];
        let other = self.rng.index(self.variables.len());
        if self.rng.one_in(4) && other != targets[0] {
            targets.push(other);
        }
        let mut places = Vec::new();
        let mut values = Vec::new();
        for &v in &targets {
            let Variable { ty, length, .. } = self.variables[v].clone();
            let index = length.map(|_| self.number(1));
            places.push((v, index));
            values.push((!self.rng.one_in(8)).then(|| match ty.is_number() {
                true => self.number(2),
                false => self.of(ty, 2),
            }));
        }
        let simple = places.iter().all(|p| p.1.is_none());
        let condition = (simple && !self.inside && self.rng.one_in(3)).then(|| self.truth(1));
        let left: Vec<String> = places
            .iter()
            .map(|(v, index)| match index {
                None => self.variables[*v].name.clone(),
                Some(e) => format!("{}[{}]", self.variables[*v].name, self.written(e)),
            })
            .collect();
        let right: Vec<String> =
            values.iter().map(|e| e.as_ref().map_or_else(|| "*".into(), |e| self.written(e))).collect();
        let constrained =
            condition.as_ref().map_or_else(String::new, |e| format!(" constrain {}", self.written(e)));
        let _ = writeln!(self.text, "{} := {}{constrained};", left.join(", "), right.join(", "));
        self.push(Kind::Assign(places, values, condition));
    }

    /// A variable, or an element, of a type that fits.
    fn variable(&mut self, fits: impl Fn(Type) -> bool) -> Option<Expr> {
        let known: Vec<usize> = (0..self.variables.len()).filter(|&v| fits(self.variables[v].ty)).collect();
        if known.is_empty() {
            return None;
        }
        let v = *self.rng.pick(&known);
        Some(match self.variables[v].length {
            None => Expr::Var(v),
            Some(_) => Expr::Element(v, Box::new(self.number(0))),
        })
    }

    fn number(&mut self, depth: usize) -> Expr {
        let constant = |rng: &mut Rng| Expr::Const(rng.index(3) as i64, Type::Range(0, 2));
        if depth == 0 {
            let scalar: Vec<usize> = (0..self.variables.len())
                .filter(|&v| self.variables[v].ty.is_number() && self.variables[v].length.is_none())
                .collect();
            return match scalar.is_empty() || self.rng.one_in(2) {
                true => constant(self.rng),
                false => Expr::Var(*self.rng.pick(&scalar)),
            };
        }
        match self.rng.index(8) {
            0 | 1 => constant(self.rng),
            2 | 3 => self.variable(Type::is_number).unwrap_or_else(|| constant(self.rng)),
            4 => Expr::Choose(Box::new([
                self.truth(depth - 1),
                self.number(depth - 1),
                self.number(depth - 1),
            ])),
            // A truth value counts 0 or 1, but only 0 and 1 may be compared with it directly.
            5 => match self.variable(|ty| ty == Type::Bool) {
                Some(e) => Expr::Binary("+", Box::new(e), Box::new(constant(self.rng))),
                None => constant(self.rng),
            },
            _ => {
                let sign = ["+", "-", "*"][self.rng.index(3)];
                Expr::Binary(sign, Box::new(self.number(depth - 1)), Box::new(self.number(depth - 1)))
            }
        }
    }

    /// A truth value or a colour.
    fn of(&mut self, ty: Type, depth: usize) -> Expr {
        if ty == Type::Bool {
            return self.truth(depth);
        }
        let constant = |rng: &mut Rng| Expr::Const(rng.index(COLOURS.len()) as i64, Type::Colour);
        match self.rng.index(4) {
            0 | 1 => constant(self.rng),
            2 if depth > 0 => Expr::Choose(Box::new([
                self.truth(depth - 1),
                self.of(ty, depth - 1),
                self.of(ty, depth - 1),
            ])),
            _ => self.variable(|of| of == Type::Colour).unwrap_or_else(|| constant(self.rng)),
        }
    }

    fn truth(&mut self, depth: usize) -> Expr {
        match self.rng.index(if depth == 0 { 4 } else { 9 }) {
            0 | 1 => {
                let sign = ["=", "!=", "<", "<=", ">", ">="][self.rng.index(6)];
                Expr::Binary(sign, Box::new(self.number(depth)), Box::new(self.number(depth)))
            }
            2 => {
                let sign = ["=", "!=", "<"][self.rng.index(3)];
                let (a, b) = (self.of(Type::Colour, 0), self.of(Type::Colour, 0));
                Expr::Binary(sign, Box::new(a), Box::new(b))
            }
            3 => match self.variable(|ty| ty == Type::Bool) {
                Some(e) => e,
                None => Expr::Const(self.rng.index(2) as i64, Type::Bool),
            },
            4 => Expr::Not(Box::new(self.truth(depth - 1))),
            5 => {
                Expr::Choose(Box::new([self.truth(depth - 1), self.truth(depth - 1), self.truth(depth - 1)]))
            }
            _ => {
                let sign = ["&", "|", "=>"][self.rng.index(3)];
                Expr::Binary(sign, Box::new(self.truth(depth - 1)), Box::new(self.truth(depth - 1)))
            }
        }
    }

    fn written(&self, e: &Expr) -> String {
        match e {
            Expr::Const(value, ty) => ty.written(*value),
            Expr::Var(v) => self.variables[*v].name.clone(),
            Expr::Element(v, i) => format!("{}[{}]", self.variables[*v].name, self.written(i)),
            Expr::Not(a) => format!("!({})", self.written(a)),
            Expr::Binary(sign, a, b) => format!("({} {sign} {})", self.written(a), self.written(b)),
            Expr::Choose(es) => {
                let [c, a, b] = &**es;
                format!("({} ? {} : {})", self.written(c), self.written(a), self.written(b))
            }
        }
    }
}

impl Program {
    /// Returns whether `threads` threads can violate an assertion, a range or an array; `None` if
    /// there are more than `most` configurations.
    pub fn is_violated(&self, threads: usize, most: usize) -> Option<bool> {
        let mut seen: BTreeSet<State> = BTreeSet::new();
        let mut queue: VecDeque<State> = VecDeque::new();
        let locals = self.starts(false);
        for shared in self.starts(true) {
            let mut all: Vec<Vec<Thread>> = vec![Vec::new()];
            for _ in 0..threads {
                let with = |list: &Vec<Thread>, l: &Vec<i64>| [&list[..], &[(0, l.clone())]].concat();
                all = all.iter().flat_map(|list| locals.iter().map(move |l| with(list, l))).collect();
            }
            for mut list in all {
                list.sort();
                queue.push_back((shared.clone(), list));
            }
        }
        while let Some(state) = queue.pop_front() {
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > most {
                return None;
            }
            let inside = state.1.iter().any(|t| self.nodes[t.0].inside);
            for t in (0..state.1.len()).filter(|&t| self.nodes[state.1[t].0].inside == inside) {
                match self.step(&state, t) {
                    Err(Violated) => return Some(true),
                    Ok(after) => queue.extend(after),
                }
            }
        }
        Some(false)
    }

    /// Every choice of initial values, of shared variables or of a thread's.
    fn starts(&self, shared: bool) -> Vec<Vec<i64>> {
        let mut found = vec![Vec::new()];
        for v in self.variables.iter().filter(|v| v.shared == shared) {
            for _ in 0..v.length.unwrap_or(1) {
                let values: Vec<i64> = v.initial.map_or_else(|| v.ty.values().collect(), |value| vec![value]);
                let with = |list: &Vec<i64>, value: i64| [&list[..], &[value]].concat();
                found = found.iter().flat_map(|list| values.iter().map(move |&x| with(list, x))).collect();
            }
        }
        found
    }

    fn step(&self, state: &State, t: usize) -> Result<Vec<State>, Violated> {
        let (shared, (at, own)) = (&state.0, &state.1[t]);
        let value = |e: &Expr| self.value(e, shared, own);
        let to = |shared: Vec<i64>, own: Vec<i64>, at: usize| {
            let mut threads = state.1.clone();
            threads[t] = (at, own);
            threads.sort();
            (shared, threads)
        };
        let stay = |at: usize| to(shared.clone(), own.clone(), at);
        Ok(match &self.nodes[*at].kind {
            Kind::End => Vec::new(),
            Kind::Skip => vec![stay(at + 1)],
            Kind::Jump(there) => {
                // No step of its own: wherever control comes from goes there at once.
                let mut state = state.clone();
                state.1[t].0 = *there;
                return self.step(&state, t);
            }
            Kind::Assume(e) => {
                if value(e)? == 1 {
                    vec![stay(at + 1)]
                } else {
                    Vec::new()
                }
            }
            Kind::Assert(e) => {
                if value(e)? == 1 {
                    vec![stay(at + 1)]
                } else {
                    return Err(Violated);
                }
            }
            Kind::Branch(None, otherwise) => vec![stay(at + 1), stay(*otherwise)],
            Kind::Branch(Some(e), otherwise) => vec![stay(if value(e)? == 1 { at + 1 } else { *otherwise })],
            Kind::Assign(places, values, condition) => {
                if let Some(condition) = condition
                    && value(condition)? == 0
                {
                    return Ok(Vec::new());
                }
                let mut found = vec![(shared.clone(), own.clone())];
                for ((v, index), e) in places.iter().zip(values) {
                    let variable = &self.variables[*v];
                    let element = index.as_ref().map_or(Ok(0), &value)?;
                    if !(0..variable.length.unwrap_or(1) as i64).contains(&element) {
                        return Err(Violated);
                    }
                    let new: Vec<i64> = match e {
                        None => variable.ty.values().collect(),
                        Some(e) => vec![variable.ty.fit(value(e)?).ok_or(Violated)?],
                    };
                    let place = variable.at + element as usize;
                    let write = |(mut shared, mut own): (Vec<i64>, Vec<i64>), x: i64| {
                        if variable.shared {
                            shared[place] = x
                        } else {
                            own[place] = x
                        }
                        (shared, own)
                    };
                    found = found.iter().flat_map(|f| new.iter().map(|&x| write(f.clone(), x))).collect();
                }
                found.into_iter().map(|(shared, own)| to(shared, own, at + 1)).collect()
            }
        })
    }

    fn value(&self, e: &Expr, shared: &[i64], own: &[i64]) -> Result<i64, Violated> {
        let of = |e: &Expr| self.value(e, shared, own);
        let read = |v: &Variable, i: usize| if v.shared { shared[v.at + i] } else { own[v.at + i] };
        Ok(match e {
            Expr::Const(value, _) => *value,
            Expr::Var(v) => read(&self.variables[*v], 0),
            Expr::Element(v, i) => {
                let (v, i) = (&self.variables[*v], of(i)?);
                let inside = (0..v.length.unwrap_or(1) as i64).contains(&i);
                if inside { read(v, i as usize) } else { return Err(Violated) }
            }
            Expr::Not(a) => 1 - of(a)?,
            Expr::Choose(es) => {
                if of(&es[0])? == 1 {
                    of(&es[1])?
                } else {
                    of(&es[2])?
                }
            }
            Expr::Binary(sign, a, b) => {
                let a = of(a)?;
                match (*sign, a) {
                    ("&", 0) => 0,
                    ("|", 1) | ("=>", 0) => 1,
                    ("&" | "|" | "=>", _) => of(b)?,
                    ("+", _) => a + of(b)?,
                    ("-", _) => a - of(b)?,
                    ("*", _) => a * of(b)?,
                    ("=", _) => (a == of(b)?).into(),
                    ("!=", _) => (a != of(b)?).into(),
                    ("<", _) => (a < of(b)?).into(),
                    ("<=", _) => (a <= of(b)?).into(),
                    (">", _) => (a > of(b)?).into(),
                    _ => (a >= of(b)?).into(),
                }
            }
        })
    }
}
