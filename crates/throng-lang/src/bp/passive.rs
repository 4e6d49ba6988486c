//! A check for statements about variables of other threads that only some of these threads have.
//!
//! `x$` of a local variable is about the threads with an activation of its function, `x$` of a
//! thread-local one about all (reference 2.13). A statement about both would have two meanings at
//! once, so it is refused if there are threads without the activation.

use super::expr::Var;
use super::function::Resolved;
use super::program::{BystanderEffect, Program};
use crate::source::Diagnostic;

/// Refuses statements for which it is ambiguous which threads they are about.
pub fn check(program: &Program, resolved: &Resolved) -> Result<(), Diagnostic> {
    let points = || 0..program.points.len() as u32;
    for point in &program.points {
        for &e in &point.edges {
            let Some(others) = program.edges[e as usize].effect.others.as_deref() else { continue };
            let is_mixed = others.frame_of.is_some() && is_about_all(others, program.thread_locals.len());
            if is_mixed && points().any(|at| program.view(others, at).is_none()) {
                let span = resolved.functions[point.function].nodes[point.node].span;
                let message = "this is about a thread-local variable of all other threads, and about a local one that some lack";
                return Err(Diagnostic::error("E217", span, message).hint("write two statements"));
            }
        }
    }
    Ok(())
}

/// Returns whether it reads or assigns `x$` of a thread-local variable.
fn is_about_all(others: &BystanderEffect, thread_locals: usize) -> bool {
    let mut found = others.assigns.iter().any(|(i, _)| (*i as usize) < thread_locals);
    let mut see = |v: &Var| {
        if let Var::Other(i) = v {
            found |= (*i as usize) < thread_locals;
        }
    };
    others.guards.iter().for_each(|(e, _)| e.each_var(&mut see));
    others.assigns.iter().for_each(|(_, e)| e.each_var(&mut see));
    others.constraints.iter().for_each(|e| e.each_var(&mut see));
    found
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn refused(statement: &str, start: &str) -> bool {
        let text = format!(
            "decl g; decl thread_local w; void f() begin skip; end void main() begin decl a; {start}; {statement}; L: skip; end"
        );
        let (jit, diagnostics) = read(&text, &Default::default());
        assert_eq!(jit.is_none(), diagnostics.iter().any(|d| d.code == "E217"), "{diagnostics:?}");
        jit.is_none()
    }

    #[test]
    fn who_is_meant_must_be_clear() {
        for mixed in ["w$, a$ := 1, 0", "a := 0 constrain !w$ & !a$", "assume !w$ | !a$", "a$ := w$"] {
            assert!(refused(mixed, "start_thread f()"), "{mixed}");
            assert!(!refused(mixed, "start_thread goto L"), "{mixed}: every thread has them");
        }
        for clear in ["w$ := 1", "a$ := 0", "a := 0 constrain !w$", "w := 0 constrain !a$ & w"] {
            assert!(!refused(clear, "start_thread f()"), "{clear}");
        }
    }
}
