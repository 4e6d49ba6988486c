//! Edges of a program by their effect, for steps backward.

use crate::bp::expr::Var;
use crate::bp::program::{EdgeKind, Program};

/// Edges by their effect.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Edges to each point.
    pub(super) into: Vec<Vec<u32>>,
    /// Edges that start a thread at each point.
    pub(super) child: Vec<Vec<u32>>,
    /// Wait points from which a thread is woken to each point.
    pub(super) woken: Vec<Vec<u32>>,
    /// All wait points.
    pub(super) waits: Vec<u32>,
    /// Edges that wake other threads.
    pub(super) wakers: Vec<u32>,
    pub(super) passive: Vec<u32>,
    /// Edges that assign a shared variable or enter or leave an atomic section.
    pub(super) shared: Vec<u32>,
    /// Edges that end the thread.
    pub(super) ends: Vec<u32>,
}

impl Index {
    pub(super) fn new(program: &Program) -> Index {
        let points = program.points.len();
        let mut index = Index { into: vec![Vec::new(); points], ..Index::default() };
        (index.child, index.woken) = (index.into.clone(), index.into.clone());
        for (i, edge) in program.edges.iter().enumerate() {
            let i = i as u32;
            match edge.to {
                Some(to) => index.into[to as usize].push(i),
                None => index.ends.push(i),
            }
            if let Some(child) = edge.child {
                index.child[child as usize].push(i);
            }
            match edge.kind {
                EdgeKind::Plain => {}
                EdgeKind::Passive => index.passive.push(i),
                EdgeKind::Signal | EdgeKind::Broadcast => index.wakers.push(i),
            }
            let flips = edge.to.is_some_and(|to| {
                program.points[to as usize].inside != program.points[edge.from as usize].inside
            });
            if flips || edge.effect.assigns.iter().any(|a| matches!(a.0, Var::Shared(_))) {
                index.shared.push(i);
            }
        }
        for (i, point) in program.points.iter().enumerate() {
            if let Some(woken) = point.woken {
                index.waits.push(i as u32);
                index.woken[woken as usize].push(i as u32);
            }
        }
        index
    }
}
