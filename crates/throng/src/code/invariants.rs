//! What a proof shows before lines, as C: the location invariants of correctness witnesses.
//!
//! A fact holds whenever a thread is at a place of the graph. It holds before a line if from each
//! first instruction of the line a thread comes to such places without a choice and without a step
//! that others see: what it does for itself changes no shared variable, and only facts about these
//! are said. Only comparisons that mean the same in C are, without sums, of variables outside of
//! functions that no local variable hides.

use std::collections::{BTreeMap, BTreeSet};

use throng_goto::Program;
use throng_goto::program::{BinOp, Expr, Instr, Int, next};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::Graph;
use throng_goto_check::abstraction::predicate::Predicate;

/// A line, its function, and an expression of C that holds before it.
pub(super) type Invariant = (u32, String, String);

/// Returns what facts say before lines of the first file, whose text is `source`.
pub(super) fn of(program: &Program, graph: &Graph, facts: &Facts, source: &str) -> Vec<Invariant> {
    let said: Vec<Option<Said>> = facts.predicates.iter().map(|p| in_c(program, graph, p)).collect();
    let mut lines: BTreeMap<(u32, String), BTreeSet<u32>> = BTreeMap::new();
    for template in 0..program.templates.len() {
        for (pc, line) in firsts(program, template) {
            let held = held_from(program, graph, facts, (template, pc));
            lines.entry(line).and_modify(|all| all.retain(|i| held.contains(i))).or_insert(held);
        }
    }
    let mut found = Vec::new();
    for ((line, function), held) in lines {
        let said = held.into_iter().filter_map(|i| said[i as usize].as_ref());
        let known = said.filter(|said| said.names.iter().all(|name| is_declared(source, line, name)));
        found.extend(known.map(|said| (line, function.clone(), said.text.clone())));
    }
    found
}

/// Returns the line of an instruction in the first file, and its function.
fn line(program: &Program, template: usize, pc: usize) -> Option<(u32, String)> {
    let origin = program.origins.get(*program.templates[template].origins.get(pc)? as usize)?;
    let function = origin.function.rsplit(" > ").next().unwrap_or_default().to_string();
    (origin.file.is_none() && origin.line > 0).then_some((origin.line, function))
}

/// Returns the instructions at which a thread comes to a line, with the line.
fn firsts(program: &Program, template: usize) -> Vec<(usize, (u32, String))> {
    let code = &program.templates[template].code;
    let mut enters = vec![false; code.len()];
    if let Some(first) = enters.first_mut() {
        *first = true;
    }
    for pc in 0..code.len() {
        for to in next(code, pc).into_iter().filter(|&to| to < code.len()) {
            // A jump back may be to the beginning of a loop that is written on one line.
            enters[to] |= to <= pc || line(program, template, pc) != line(program, template, to);
        }
    }
    (0..code.len())
        .filter(|&pc| enters[pc])
        .filter_map(|pc| Some((pc, line(program, template, pc)?)))
        .collect()
}

/// Returns the facts of the places that a thread comes to from an instruction, if it has no choice.
fn held_from(program: &Program, graph: &Graph, facts: &Facts, from: (usize, usize)) -> BTreeSet<u32> {
    let (template, mut pc) = from;
    let code = &program.templates[template].code;
    for _ in 0..code.len() {
        let here = graph.places.iter().zip(&facts.at).filter(|(p, _)| (p.template, p.pc) == (template, pc));
        let mut here = here.map(|(_, held)| held);
        if let Some(first) = here.next() {
            let mut all: BTreeSet<u32> = first.iter().copied().collect();
            here.for_each(|held| all.retain(|i| held.contains(i)));
            return all;
        }
        match (code.get(pc), next(code, pc)[..].first()) {
            (Some(Instr::Let(..) | Instr::Jump(_) | Instr::Begins(..) | Instr::Pointer(_)), Some(&to))
                if to < code.len() =>
            {
                pc = to;
            }
            _ => break,
        }
    }
    BTreeSet::new()
}

/// A comparison in C, and the variables that it names.
struct Said {
    text: String,
    names: BTreeSet<String>,
}

fn in_c(program: &Program, graph: &Graph, p: &Predicate) -> Option<Said> {
    if p.template.is_some() {
        return None;
    }
    let mut names = BTreeSet::new();
    let text = expression(program, graph, &p.expr, &mut names)?;
    Some(Said { text, names })
}

fn expression(program: &Program, graph: &Graph, e: &Expr, names: &mut BTreeSet<String>) -> Option<String> {
    let Expr::Bin(op, a, b, at) = e else { return None };
    if let BinOp::Or | BinOp::And = op {
        let (a, b) = (expression(program, graph, a, names)?, expression(program, graph, b, names)?);
        return Some(format!("({a}) {0}{0} ({b})", op.symbol()));
    }
    if !matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le) {
        return None;
    }
    let ty = match (&**a, &**b) {
        (Expr::Reg(x), Expr::Reg(y)) => {
            let (x, y) = (graph.variables.ty(*x), graph.variables.ty(*y));
            (x == y).then_some(x)?
        }
        (Expr::Reg(x), Expr::Const(c)) | (Expr::Const(c), Expr::Reg(x)) => {
            let ty = graph.variables.ty(*x);
            let small = c.unsigned_abs() <= i32::MAX as u64 && (*c >= 0 || ty.signed);
            small.then_some(ty)?
        }
        _ => return None,
    };
    if !means_the_same(ty, *at) {
        return None;
    }
    let mut operand = |e: &Expr| match e {
        Expr::Const(c) => Some(c.to_string()),
        Expr::Reg(id) => {
            let name = name(program, graph, *id)?;
            names.insert(base(&name).to_string());
            Some(name)
        }
        _ => None,
    };
    Some(format!("{} {} {}", operand(a)?, op.symbol(), operand(b)?))
}

/// Returns whether values of a type compare as in C if they are compared as those of another.
fn means_the_same(ty: Int, at: Int) -> bool {
    let fits = ty.size < 8 || ty.signed;
    let wide = at.signed && at.size == 8;
    fits && (wide || !ty.signed && at.size >= ty.size)
}

/// Returns how C names a variable outside of functions.
fn name(program: &Program, graph: &Graph, id: u32) -> Option<String> {
    let v = graph.variables.list.get(id as usize)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let known = !graph.variables.is_any_element(id) && !graph.is_tally(id) && v.name.chars().all(plain);
    let of = base(&v.name);
    let global = program.objects.iter().filter(|o| o.name == of).all(|o| o.global && o.visible);
    let exists = program.objects.iter().any(|o| o.name == of);
    let local = |t: &throng_goto::program::Template| {
        t.names.iter().flatten().any(|n| n == of) || t.locals.iter().any(|l| l.name == of)
    };
    let hidden = program.templates.iter().any(local) || program.locals.iter().any(|l| l.name == of);
    (known && global && exists && !hidden && !of.starts_with("__") && !v.name.contains("__"))
        .then(|| v.name.clone())
}

/// The variable that a part belongs to.
fn base(name: &str) -> &str {
    &name[..name.find(['.', '[']).unwrap_or(name.len())]
}

/// Returns whether a name occurs before a line, as a word.
fn is_declared(source: &str, line: u32, name: &str) -> bool {
    let words =
        |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    source.lines().take(line as usize - 1).any(words)
}
