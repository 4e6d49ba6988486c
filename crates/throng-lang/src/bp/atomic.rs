//! Which points are inside an atomic section (reference 2.12): a static property, or an error.

use rustc_hash::FxHashMap;

use super::function::{Kind, Resolved};
use super::program::{Point, Program};
use crate::source::Diagnostic;

/// Fills in [`super::program::Point::inside`]. A second `atomic_begin` has no effect; `}` restores what was before its `{`.
pub fn mark(program: &mut Program, resolved: &Resolved) -> Result<(), Diagnostic> {
    let mut inside: Vec<Option<bool>> = vec![None; program.points.len()];
    let is_enter =
        |p: &Point| matches!(resolved.functions[p.function].nodes[p.node].kind, Kind::AtomicEnter { .. });
    let entered: FxHashMap<(usize, usize), usize> = (program.points.iter().enumerate())
        .filter_map(|(i, p)| is_enter(p).then_some(((p.instance, p.node), i)))
        .collect();
    let mut todo = vec![(program.entry, false)];
    while let Some((at, now)) = todo.pop() {
        let point = &program.points[at as usize];
        let node = &resolved.functions[point.function].nodes[point.node];
        let error = |message: &str| Err(Diagnostic::error("E211", node.span, message));
        match inside[at as usize] {
            Some(before) if before != now => {
                return error("this statement can be reached both inside and outside an atomic section");
            }
            Some(_) => continue,
            None => inside[at as usize] = Some(now),
        }
        let after = match &node.kind {
            Kind::AtomicBegin { .. } | Kind::AtomicEnter { .. } => true,
            Kind::AtomicEnd { .. } if !now => return error("`atomic_end` outside an atomic section"),
            Kind::AtomicEnd { .. } => false,
            Kind::AtomicLeave { .. } if !now => {
                return error("the section of this block has ended inside it");
            }
            Kind::AtomicLeave { enter, .. } => {
                // Jumps into blocks are refused, so the `{` was seen before its `}`.
                entered.get(&(point.instance, *enter)).and_then(|&i| inside[i]).unwrap_or(false)
            }
            _ => now,
        };
        for &e in &point.edges {
            let edge = &program.edges[e as usize];
            match edge.to {
                Some(to) => todo.push((to, after)),
                None if after => return error("a thread ends inside an atomic section"),
                None => {}
            }
            todo.extend(edge.child.map(|child| (child, false)));
        }
        todo.extend(point.woken.map(|woken| (woken, now)));
    }
    for (point, inside) in program.points.iter_mut().zip(inside) {
        point.inside = inside.unwrap_or(false);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn refused(body: &str) -> Option<String> {
        let text = format!("decl g; void main() begin {body} end");
        let (jit, diagnostics) = read(&text, &Default::default());
        assert_eq!(jit.is_none(), diagnostics.iter().any(|d| d.is_error()));
        diagnostics.into_iter().find(|d| d.is_error()).map(|d| d.message)
    }

    #[test]
    fn sections_must_be_left_and_entered_properly() {
        assert_eq!(refused("atomic_begin; g := 1; atomic_end;"), None);
        assert_eq!(refused("atomic { atomic { g := 1; } g := 0; } g := 1;"), None);
        assert!(refused("atomic_end;").unwrap().contains("outside"));
        assert!(refused("atomic_begin;").unwrap().contains("ends inside"));
        assert!(refused("if * then atomic_begin; fi; g := 1; goto L; L: skip;").unwrap().contains("section"));
        assert!(refused("atomic { goto L; } L: skip;").unwrap().contains("out of"));
        assert!(refused("goto L; atomic { L: skip; }").unwrap().contains("into"));
        assert!(refused("atomic { return; }").unwrap().contains("return"));
        assert!(refused("atomic { atomic_end; g := 1; }").unwrap().contains("ended inside"));
        assert!(refused("atomic_begin; atomic { atomic_end; g := 1; }").unwrap().contains("ended inside"));
    }
}
