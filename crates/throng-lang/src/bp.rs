//! Boolean programs: text to tree ([`parser`]), tree to functions (names), functions to one
//! control-flow graph (calls inlined, [`program`]), graph to model ([`jit`]). The language is
//! chapter 2 of docs/reference.

pub mod ast;
mod atomic;
mod encoding;
pub mod function;
mod inline;
pub mod jit;
pub mod lexer;
pub mod lint;
pub mod lower;
pub mod mutants;
mod narrow;
pub mod orders;
pub mod parser;
mod passive;
pub mod printer;
mod relation;
mod resolve;
mod returns;
pub mod spans;
mod targets;
pub mod thread_state;
pub mod types;

pub mod program;
pub use jit::Jit;
pub use program::expr;

use super::patience::Patience;
use super::source::{Diagnostic, Span};
use throng_model::problem::Target;

/// Options for reading a program, where tools differ.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// A thread that has ended still counts towards the bound (the Boom tool's reading).
    pub keep_ended: bool,
    /// A parent and its child agree even on variables that one of them never reads again. Lists of
    /// thread states need that; verdicts do not, and it can cost a factor of two for each such
    /// variable.
    pub exact_copies: bool,
    /// Keep the values of variables that are never read again, to show them. Verdicts do not need
    /// them; thread states do, so `exact_copies` implies this option.
    pub keep_dead: bool,
}

/// Reads a program. There is a model unless some diagnostic is an error.
pub fn read(text: &str, options: &Options) -> (Option<Jit>, Vec<Diagnostic>) {
    read_within(text, options, &Patience::default())
}

/// Like [`read`], but returns no model once the patience is over.
pub fn read_within(text: &str, options: &Options, patience: &Patience) -> (Option<Jit>, Vec<Diagnostic>) {
    let (tree, mut diagnostics) = parser::parse_within(text, patience);
    if failed(&diagnostics, text, patience) {
        return (None, diagnostics);
    }
    let (model, more) = of_tree(tree, text, options, patience);
    diagnostics.extend(more);
    diagnostics.dedup();
    (model, diagnostics)
}

/// Returns whether reading stops: after each pass over all statements, which have some eight
/// characters or more.
fn failed(found: &[Diagnostic], text: &str, patience: &Patience) -> bool {
    found.iter().any(Diagnostic::is_error) || patience.is_over_after(text.len() / 8)
}

/// Returns the model of a tree, with spans into `text`.
pub(crate) fn of_tree(
    tree: ast::Program,
    text: &str,
    options: &Options,
    patience: &Patience,
) -> (Option<Jit>, Vec<Diagnostic>) {
    let (resolved, mut diagnostics) = resolve_tree(&tree, text);
    diagnostics.extend(orders::orders(&tree).err().unwrap_or_default());
    if failed(&diagnostics, text, patience) {
        return (None, diagnostics);
    }
    let program = inline::inline(&resolved, text, options.exact_copies)
        .and_then(|mut program| atomic::mark(&mut program, &resolved).map(|()| program))
        .and_then(|program| passive::check(&program, &resolved).map(|()| program));
    match program {
        Ok(program) => (Some(Jit::new(program, tree, options)), diagnostics),
        Err(error) => {
            diagnostics.push(error);
            (None, diagnostics)
        }
    }
}

/// Lowers a tree to bits if there is anything to lower, and resolves its names.
fn resolve_tree(tree: &ast::Program, text: &str) -> (function::Resolved, Vec<Diagnostic>) {
    if !tree.extended {
        return resolve::resolve(tree, text);
    }
    let (lowered, mut diagnostics) = lower::lower(tree);
    if !diagnostics.is_empty() {
        return (function::Resolved::default(), diagnostics);
    }
    let (resolved, more) = resolve::resolve(&lowered.tree, text);
    diagnostics.extend(more);
    (function::Resolved { groups: lowered.groups, globals: lowered.globals, ..resolved }, diagnostics)
}

/// Returns the functions of a program with their names resolved; `None` if there is an error.
pub fn resolved(text: &str) -> Option<function::Resolved> {
    let (tree, diagnostics) = parser::parse(text);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    resolved_tree(&tree, text)
}

/// Returns the functions of a tree with their names resolved; `None` if there is an error. Spans
/// are into `text`.
pub fn resolved_tree(tree: &ast::Program, text: &str) -> Option<function::Resolved> {
    let (resolved, diagnostics) = resolve_tree(tree, text);
    (!diagnostics.iter().any(Diagnostic::is_error)).then_some(resolved)
}

/// Returns the statements that belong to waiting loops ([`program::waiting`]): the definition of where a thread may wait in a loop. `None` if the program is refused.
pub fn waiting_nodes(resolved: &function::Resolved, text: &str) -> Option<program::waiting::Nodes> {
    let mut program = inline::inline(resolved, text, true).ok()?;
    atomic::mark(&mut program, resolved).ok()?;
    Some(program::waiting::nodes(&program))
}

/// Parses an expression over these shared variables, by index; spans of diagnostics are into
/// `text`.
pub fn shared_expression(
    text: &str,
    shared: &[function::Variable],
    globals: &lower::Globals,
) -> Result<expr::Expr<u32>, Diagnostic> {
    scoped_expression(text, shared, globals, None)
}

/// Parses an expression over these variables, by index; of several with the same name the first is
/// meant. Numbers have the types that they have in the function of this name. Spans of diagnostics
/// are into `text`.
pub fn scoped_expression(
    text: &str,
    variables: &[function::Variable],
    globals: &lower::Globals,
    function: Option<&str>,
) -> Result<expr::Expr<u32>, Diagnostic> {
    const BEFORE: &str = "void main() begin assume ";
    let shifted = |mut d: Diagnostic| {
        let back = |x: u32| x.saturating_sub(BEFORE.len() as u32).min(text.len() as u32);
        d.span = d.span.map(|s| Span { start: back(s.start), end: back(s.end) });
        d
    };
    let (tree, diagnostics) = parser::parse(&format!("{BEFORE}{text}\n; end"));
    if let Some(d) = diagnostics.into_iter().find(Diagnostic::is_error) {
        return Err(shifted(d));
    }
    match tree.functions.first().map(|f| &f.body[..]) {
        Some([ast::Stmt { kind: ast::StmtKind::Assume(e), .. }]) => {
            let lowered = lower::lower_condition(e, globals, function).map_err(shifted)?;
            resolve::resolve_shared(&lowered, variables, function.is_none()).map_err(shifted)
        }
        _ => Err(Diagnostic::error("E609", Span::new(0, text.len()), "expected one expression")),
    }
}

impl Jit {
    /// Returns the target "this expression over the shared variables is false"; spans of
    /// diagnostics are into `text`.
    pub fn invariant_text(&self, text: &str) -> Result<Target, Diagnostic> {
        Ok(self.invariant(
            text.trim(),
            &shared_expression(text, &self.program().shared, &self.program().globals)?,
        ))
    }
}
