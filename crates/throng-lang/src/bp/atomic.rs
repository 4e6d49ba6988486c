//! Computes the points inside an atomic section (reference 2.12): a static property, or an error.

use rustc_hash::FxHashMap;

use super::function::{Kind, Resolved};
use super::program::{Point, Program};
use crate::source::Diagnostic;

/// The atomic sections around a thread at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Section {
    /// True inside an `atomic { … }`, perhaps of a caller: then the section lasts until the
    /// outermost `}`, regardless of the sections that begin and end in it.
    block: bool,
    /// True after an `atomic_begin` without its `atomic_end`, since the innermost `{`; `None` if
    /// that depends on the path.
    begun: Option<bool>,
}

impl Section {
    const OUTSIDE: Section = Section { block: false, begun: Some(false) };

    fn inside(self) -> bool {
        self.block || self.begun == Some(true)
    }
}

/// Computes [`super::program::Point::inside`]. A second `atomic_begin` has no effect; `}` restores
/// the state before its `{`.
pub fn mark(program: &mut Program, resolved: &Resolved) -> Result<(), Diagnostic> {
    let mut sections: Vec<Option<Section>> = vec![None; program.points.len()];
    let kind = |p: &Point| &resolved.functions[p.function].nodes[p.node].kind;
    // `{` by instance and node, and the `}` of each.
    let (mut entered, mut left): (FxHashMap<_, usize>, FxHashMap<_, u32>) = Default::default();
    for (i, p) in program.points.iter().enumerate() {
        match kind(p) {
            Kind::AtomicEnter { .. } => _ = entered.insert((p.instance, p.node), i),
            Kind::AtomicLeave { enter, .. } => _ = left.insert((p.instance, *enter), i as u32),
            _ => {}
        }
    }
    let mut todo = vec![(program.entry, Section::OUTSIDE)];
    while let Some((at, arriving)) = todo.pop() {
        let point = &program.points[at as usize];
        let node = &resolved.functions[point.function].nodes[point.node];
        let error = |message: &str| Err(Diagnostic::error("E211", node.span, message));
        let now = match sections[at as usize] {
            Some(before) if (before.block, before.inside()) != (arriving.block, arriving.inside()) => {
                return error("this statement can be reached both inside and outside an atomic section");
            }
            Some(before) if before.begun == arriving.begun || before.begun.is_none() => continue,
            Some(before) => Section { begun: None, ..before },
            None => arriving,
        };
        sections[at as usize] = Some(now);
        let after = match &node.kind {
            Kind::AtomicBegin { .. } => Section { begun: Some(true), ..now },
            Kind::AtomicEnter { .. } => {
                // The section that its `}` restores may have changed.
                let leave = left.get(&(point.instance, point.node));
                if let Some((&leave, section)) = leave.and_then(|l| Some((l, sections[*l as usize].take()?)))
                {
                    todo.push((leave, section));
                }
                Section { block: true, begun: Some(false) }
            }
            Kind::AtomicEnd { .. } if !now.inside() => {
                return error("`atomic_end` outside an atomic section");
            }
            Kind::AtomicEnd { .. } if now.begun != Some(true) => {
                return error("the section of a block ends at its `}`, and not inside it");
            }
            Kind::AtomicEnd { .. } => Section { begun: Some(false), ..now },
            Kind::AtomicLeave { .. } if !now.inside() => {
                return error("the section of this block has ended inside it");
            }
            Kind::AtomicLeave { enter, .. } => {
                // Jumps into blocks are refused, so the `{` was seen before its `}`.
                let before = entered.get(&(point.instance, *enter)).and_then(|&i| sections[i]);
                before.unwrap_or(Section::OUTSIDE)
            }
            _ => now,
        };
        for &e in &point.edges {
            let edge = &program.edges[e as usize];
            match edge.to {
                Some(to) => todo.push((to, after)),
                None if after.inside() => return error("a thread ends inside an atomic section"),
                None => {}
            }
            todo.extend(edge.child.map(|child| (child, Section::OUTSIDE)));
        }
        todo.extend(point.woken.map(|woken| (woken, now)));
    }
    for (point, section) in program.points.iter_mut().zip(sections) {
        let releases = resolved.functions[point.function].releases(point.node);
        point.inside = section.is_some_and(Section::inside) && !releases;
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
        assert!(refused("atomic { atomic_end; g := 1; }").unwrap().contains("not inside it"));
        assert!(refused("atomic_begin; atomic { atomic_end; g := 1; }").unwrap().contains("not inside it"));
        assert!(
            refused("atomic { if * then atomic_begin; fi; atomic_end; }").unwrap().contains("not inside")
        );
        assert_eq!(refused("atomic { if * then atomic_begin; fi; atomic { g := 1; } } g := 0;"), None);
    }

    /// Returns, for each statement `g := …` in text order, whether it is inside.
    fn inside(text: &str) -> Vec<bool> {
        let (jit, diagnostics) = read(text, &Default::default());
        let program = jit.unwrap_or_else(|| panic!("{text}: {diagnostics:?}")).program;
        let of = |p: &u32| program.info(*p).text.starts_with("g :=");
        let mut points: Vec<u32> = (0..program.points.len() as u32).filter(of).collect();
        points.sort_by_key(|&p| (program.info(p).line, program.info(p).column));
        points.into_iter().map(|p| program.points[p as usize].inside).collect()
    }

    #[test]
    fn a_block_stays_atomic_whatever_begins_and_ends_in_it() {
        let called = "decl g; void f() begin atomic_begin; g := 1; atomic_end; end
            void main() begin atomic { f(); g := 0; } g := 1; end";
        assert_eq!(inside(called), [true, true, false]);
        let nested = "decl g; void main() begin
            atomic { atomic_begin; g := 1; atomic_end; g := 0; atomic { g := 1; } g := 0; } g := 1; end";
        assert_eq!(inside(nested), [true, true, true, true, false]);
        let both = "decl g; void f() begin atomic_begin; g := 1; atomic_end; g := 0; end
            void main() begin f(); atomic { f(); } end";
        assert_eq!(inside(both), [true, true, false, true], "a copy for each call");
    }
}
