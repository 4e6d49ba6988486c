//! Warnings about correct but suspicious programs: statements that do more in one step than a
//! processor does.

use std::collections::BTreeSet;

use super::expr::{Expr, Var};
use super::program::{Effect, Program};
use crate::source::{Diagnostic, Severity, Source, Span};

/// Warnings about statements outside atomic sections that use several shared variables: the model
/// executes them in one step, and the program that is modelled may not.
pub fn lint(program: &Program, source: &Source) -> Vec<Diagnostic> {
    let mut found: BTreeSet<(u32, u32, String)> = BTreeSet::new();
    for (id, point) in program.points.iter().enumerate().filter(|(_, point)| !point.inside) {
        let mut used = BTreeSet::new();
        for &edge in &point.edges {
            collect(program, &program.edges[edge as usize].effect, &mut used);
        }
        if used.len() > 1 {
            let info = program.info(id as u32);
            let names: Vec<&str> = used.into_iter().collect();
            found.insert((info.line, info.column, names.join("`, `")));
        }
    }
    let warning = |(line, column, names): (u32, u32, String)| {
        let at = offset(source, line, column);
        let message = format!("this statement uses the shared variables `{names}` in one step");
        let hint = "if the program does so in several steps, write several statements; if it really is one step, `atomic { … }` says so";
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error("W220", Span::new(at, at + 1), message)
        }
        .hint(hint)
    };
    found.into_iter().map(warning).collect()
}

/// Adds the shared variables that an effect reads or writes, by their declared names.
fn collect<'p>(program: &'p Program, effect: &Effect, used: &mut BTreeSet<&'p str>) {
    let mut see = |v: &Var| {
        if let Var::Shared(i) = v {
            used.insert(declared(program, &program.shared[*i as usize].name));
        }
    };
    let expressions = effect.guards.iter().map(|g| &g.0).chain(effect.assigns.iter().map(|a| &a.1));
    expressions.chain(&effect.constraints).for_each(|e: &Expr| e.each_var(&mut see));
    effect.assigns.iter().for_each(|(target, _)| see(target));
}

/// Returns the variable of a bit; of an array, the array.
fn declared<'p>(program: &'p Program, bit: &'p str) -> &'p str {
    let group = program.groups.shared.iter().find(|group| group.bits.iter().any(|b| b == bit));
    group.map_or(bit, |group| group.name.split('[').next().unwrap_or(&group.name))
}

fn offset(source: &Source, line: u32, column: u32) -> usize {
    let before: usize =
        source.text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let text = &source.text[before.min(source.text.len())..];
    before + text.char_indices().nth(column.saturating_sub(1) as usize).map_or(0, |c| c.0)
}
