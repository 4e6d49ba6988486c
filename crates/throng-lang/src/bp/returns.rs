//! Calls that return alike share one copy of the callee.
//!
//! Two calls of one function by another return alike if they assign the results to the same
//! variables under the same constraints and control then goes to the same statement. They cannot be
//! distinguished inside the callee, so a thread there is said to come from the first of them, its
//! *site*. A binary call tree whose branches join again thus has one copy of each function, not two
//! to the power of its depth.
//!
//! Whether a thread is inside an atomic section is a property of its point (`atomic`), so two calls
//! share a copy only if that is the same at both. Here it is known relative to the beginning of the
//! function ([`Section`]).

use std::collections::HashMap;

use super::function::{Function, Kind, Resolved};

/// The atomic sections that a thread has entered or left since the beginning of its function.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Section {
    /// True inside an `atomic { … }` of this function.
    block: bool,
    /// True after `atomic_begin`, false after `atomic_end`; none if there was neither since the
    /// beginning or the innermost `{`.
    begun: Option<bool>,
}

const AS_AT_ENTRY: Section = Section { block: false, begun: None };

/// The knowledge about a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    Always(Section),
    Differs,
}

/// Computes the site of every call.
pub fn mark(resolved: &mut Resolved) {
    // The section at the end of each function; `None` if it depends on the path, or is not known
    // yet, as in a recursion.
    let mut leaves: Vec<Option<Section>> = vec![None; resolved.functions.len()];
    for f in callees_first(resolved) {
        let function = &resolved.functions[f];
        let uses_sections = function.nodes.iter().any(|node| match &node.kind {
            Kind::AtomicBegin { .. } | Kind::AtomicEnd { .. } | Kind::AtomicEnter { .. } => true,
            Kind::Call { callee, .. } => leaves[*callee] != Some(AS_AT_ENTRY),
            _ => false,
        });
        let seen = match uses_sections {
            true => sections(function, &leaves),
            false => vec![Seen::Always(AS_AT_ENTRY); function.nodes.len()],
        };
        let mut returns = (0..seen.len()).filter(|&n| matches!(function.nodes[n].kind, Kind::Return { .. }));
        leaves[f] = returns
            .try_fold(None, |all, n| match (all, seen[n]) {
                (all, Seen::Never) => Some(all),
                (None, Seen::Always(section)) => Some(Some(section)),
                (Some(all), Seen::Always(section)) if all == section => Some(Some(all)),
                _ => None,
            })
            .flatten();
        let sites = sites(function, &seen);
        for (node, first) in resolved.functions[f].nodes.iter_mut().zip(sites) {
            if let Kind::Call { site, .. } = &mut node.kind {
                *site = first;
            }
        }
    }
}

/// Returns all functions, each after those that it calls where that is possible.
fn callees_first(resolved: &Resolved) -> Vec<usize> {
    let callees = |f: usize| {
        let callee = |kind: &Kind| if let Kind::Call { callee, .. } = kind { Some(*callee) } else { None };
        resolved.functions[f].nodes.iter().filter_map(|node| callee(&node.kind)).collect::<Vec<_>>()
    };
    let mut begun = vec![false; resolved.functions.len()];
    let (mut order, mut stack) = (Vec::new(), Vec::new());
    for root in 0..resolved.functions.len() {
        if !begun[root] {
            begun[root] = true;
            stack.push((root, callees(root)));
        }
        while let Some((f, open)) = stack.last_mut() {
            match open.pop() {
                Some(callee) if begun[callee] => {}
                Some(callee) => {
                    begun[callee] = true;
                    stack.push((callee, callees(callee)));
                }
                None => {
                    order.push(*f);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Returns, for every node, the first call that returns as it does; itself if it is not a call.
fn sites(function: &Function, seen: &[Seen]) -> Vec<usize> {
    let mut known: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    let mut sites: Vec<usize> = (0..function.nodes.len()).collect();
    for n in 0..function.nodes.len() {
        let Kind::Call { callee, targets, constraints, next, .. } = &function.nodes[n].kind else { continue };
        let reads = |n: usize| &function.nodes[n].reads_at_return;
        let alike = |&m: &usize| {
            let Kind::Call { targets: ts, constraints: cs, .. } = &function.nodes[m].kind else {
                return false;
            };
            matches!(seen[n], Seen::Always(_))
                && seen[m] == seen[n]
                && ts == targets
                && cs == constraints
                && reads(m) == reads(n)
        };
        let firsts = known.entry((*callee, *next)).or_default();
        match firsts.iter().copied().find(alike) {
            Some(first) => sites[n] = first,
            None => firsts.push(n),
        }
    }
    sites
}

/// Returns the knowledge about each node, given the sections at the ends of its callees.
fn sections(function: &Function, leaves: &[Option<Section>]) -> Vec<Seen> {
    let mut seen = vec![Seen::Never; function.nodes.len()];
    let mut todo = vec![(function.entry, Seen::Always(AS_AT_ENTRY))];
    let leave_of: HashMap<usize, usize> = (0..function.nodes.len())
        .filter_map(|n| {
            if let Kind::AtomicLeave { enter, .. } = function.nodes[n].kind { Some((enter, n)) } else { None }
        })
        .collect();
    while let Some((n, arriving)) = todo.pop() {
        let now = match (seen[n], arriving) {
            (before, arriving) if before == arriving => continue,
            (Seen::Differs, _) => continue,
            (Seen::Never, arriving) => arriving,
            _ => Seen::Differs,
        };
        seen[n] = now;
        let kind = &function.nodes[n].kind;
        let after = match (kind, now) {
            (Kind::AtomicLeave { enter, .. }, _) => seen[*enter],
            (Kind::AtomicEnter { .. }, _) => {
                // The section that its `}` restores may have changed.
                if let Some(&leave) = leave_of.get(&n).filter(|&&leave| seen[leave] != Seen::Never) {
                    let section = std::mem::replace(&mut seen[leave], Seen::Never);
                    todo.push((leave, section));
                }
                Seen::Always(Section { block: true, begun: None })
            }
            (_, Seen::Differs | Seen::Never) => Seen::Differs,
            (Kind::AtomicBegin { .. }, Seen::Always(s)) => Seen::Always(Section { begun: Some(true), ..s }),
            (Kind::AtomicEnd { .. }, Seen::Always(s)) => Seen::Always(Section { begun: Some(false), ..s }),
            (Kind::Call { callee, .. }, Seen::Always(s)) => match leaves[*callee] {
                None => Seen::Differs,
                Some(left) => Seen::Always(Section { begun: left.begun.or(s.begun), ..s }),
            },
            (_, now) => now,
        };
        todo.extend(kind.successors().into_iter().map(|next| (next, after)));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::super::{program::program_of, read, resolved};
    use super::*;

    /// Returns, for each call of `main` with this body, in text order, the first one that has the
    /// same site.
    fn sites(body: &str) -> Vec<usize> {
        let functions = "decl g, h; bool f(a) begin g := a; return a; end \
            void lock() begin atomic_begin; assume(!g); g := 1; atomic_end; end \
            void enter() begin atomic_begin; end void leave() begin atomic_end; end ";
        let resolved = resolved(&format!("{functions} void main() begin decl b, c; {body} end")).unwrap();
        let nodes = &resolved.functions[resolved.main].nodes;
        let mut calls: Vec<(usize, u32)> = Vec::new();
        for node in nodes {
            if let Kind::Call { site, .. } = node.kind {
                calls.push((site, node.span.start));
            }
        }
        calls.sort_by_key(|call| call.1);
        calls.iter().map(|call| calls.iter().position(|other| other.0 == call.0).unwrap()).collect()
    }

    #[test]
    fn calls_share_a_site_if_they_return_alike() {
        assert_eq!(sites("if * then b := f(0); else g := 1; b := f(1); fi; h := b;"), [0, 0]);
        assert_eq!(sites("if * then lock(); else lock(); fi;"), [0, 0]);
        assert_eq!(sites("b := f(0); b := f(1);"), [0, 1], "control goes elsewhere");
        assert_eq!(sites("if * then b := f(0); else c := f(1); fi;"), [0, 1], "another variable");
    }

    #[test]
    fn calls_inside_and_outside_a_section_have_their_own_copies() {
        assert_eq!(sites("if * then atomic_begin; lock(); else lock(); fi;"), [0, 1]);
        assert_eq!(sites("if * then enter(); lock(); else lock(); fi;"), [0, 1, 2]);
        assert_eq!(sites("if * then lock(); b := f(0); else lock(); b := f(1); fi;"), [0, 1, 2, 1]);
        assert_eq!(sites("atomic { if * then b := f(0); else b := f(1); fi; } lock();"), [0, 0, 2]);
        // After the loop's first round a section has ended, before it none has begun: here these
        // count as different.
        assert_eq!(sites("while * do if * then lock(); else lock(); fi; od"), [0, 1]);
    }

    #[test]
    fn call_trees_that_join_have_one_copy_of_each_function() {
        let mut text = String::from("decl x; void f0() begin x := 1; end ");
        for i in 1..=60 {
            let j = i - 1;
            text += &format!("void f{i}() begin decl v; if v then f{j}(); else x := !x; f{j}(); fi; end ");
        }
        let (jit, diagnostics) = read(&(text + "void main() begin f60(); end"), &Default::default());
        assert!(diagnostics.iter().all(|d| !d.is_error()));
        assert!(program_of(&jit.unwrap()).unwrap().program().points.len() < 400);
    }
}
