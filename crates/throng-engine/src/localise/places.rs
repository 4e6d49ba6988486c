//! Merges places that are equivalent with respect to the kept variables.
//!
//! An edge is *silent* if it neither tests nor changes a kept variable, and affects no other
//! thread. A place whose edges are all silent and lead to one class belongs to that class; all
//! places of a cycle of silent edges are in one class. Of the others, places are merged that have
//! the same edges into the same classes: the coarsest such partition, found by refinement.
//!
//! The choice need not be correct: any classes give a sound model.

use rustc_hash::FxHashMap;

use super::variables::{Access, Dependences, Variable, Variables, in_slot, variable};
use throng_lang::bp::program::expr::{Expr, FREE, Var, ZERO};
use throng_lang::bp::program::{Coded, Edge, EdgeKind};
use throng_model::Local;
use throng_model::cubes::Cube;
use throng_model::localisation::Localisation;

/// The kept variables of a program and a property.
pub(super) struct Places<'a> {
    pub(super) dependences: &'a Dependences<'a>,
    pub(super) states: &'a dyn Coded,
    pub(super) kept: &'a Variables,
    /// For each point, the slots whose values can still matter.
    pub(super) live: &'a [Vec<bool>],
    /// Places of bad configurations, sorted.
    pub(super) bad: &'a [u32],
}

/// The kept part of a thread at a place.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    inside: bool,
    bad: bool,
    waits: bool,
    /// The kept slots, and the call they belong to: variables of different calls are distinguished.
    slots: Vec<usize>,
    instance: usize,
}

/// The distinguishing features of a place: its shape, and the targets of its edges. Two edges with
/// the same label have the same effect.
type Signature = (u32, Vec<(u32, Option<u32>, Option<u32>)>);

impl Places<'_> {
    fn shape(&self, point: u32) -> Shape {
        let program = self.dependences.program;
        let is_kept = |slot: &usize| {
            self.live[point as usize][*slot]
                && in_slot(program, point, *slot).is_some_and(|v| self.kept.contains(&v))
        };
        let slots: Vec<usize> = (0..program.used_slots(point)).filter(is_kept).collect();
        let at = &program.points[point as usize];
        Shape {
            inside: at.inside,
            bad: self.bad.binary_search(&point).is_ok(),
            waits: at.woken.is_some(),
            instance: if slots.is_empty() { usize::MAX } else { at.instance },
            slots,
        }
    }

    /// Returns the class of each place, by number.
    fn classes(&self, shapes: &[u32]) -> Vec<u32> {
        let program = self.dependences.program;
        let count = program.points.len();
        let silent = |id: u32| {
            let (edge, access) = (&program.edges[id as usize], &self.dependences.accesses[id as usize]);
            matches!(edge.kind, EdgeKind::Plain | EdgeKind::Passive)
                && edge.child.is_none()
                && edge.to.is_some_and(|to| shapes[to as usize] == shapes[edge.from as usize])
                && !access.touches(self.kept)
        };
        let silent: Vec<bool> = (0..program.edges.len() as u32).map(silent).collect();
        // First, the places of a cycle of silent edges are merged.
        let mut class = components(count, |p| {
            let out = program.points[p as usize].edges.iter().filter(|&&e| silent[e as usize]);
            out.filter_map(|&e| program.edges[e as usize].to).collect()
        });
        let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        (0..count as u32).for_each(|p| members.entry(class[p as usize]).or_default().push(p));
        // Then places whose edges are all silent and lead to one class join it, from the last to
        // the first: later places tend to have larger numbers.
        let mut changed = true;
        while changed {
            changed = false;
            let mut order: Vec<u32> = members.keys().copied().collect();
            order.sort_unstable_by(|a, b| b.cmp(a));
            for c in order {
                let own = &members[&c];
                let edges = || own.iter().flat_map(|&p| &program.points[p as usize].edges);
                if !edges().all(|&e| silent[e as usize]) {
                    continue;
                }
                let mut next =
                    edges().filter_map(|&e| program.edges[e as usize].to).map(|p| class[p as usize]);
                let mut others: Vec<u32> = next.by_ref().filter(|&d| d != c).collect();
                others.dedup();
                if let (Some(&to), true) = (others.first(), others.iter().all(|d| *d == others[0])) {
                    let moved = members.remove(&c).unwrap_or_default();
                    moved.iter().for_each(|&p| class[p as usize] = to);
                    members.entry(to).or_default().extend(moved);
                    changed = true;
                }
            }
        }
        self.refined(shapes, &silent, class)
    }

    /// Returns the coarsest partition above `class` whose classes have the same edges into the same
    /// classes.
    fn refined(&self, shapes: &[u32], silent: &[bool], class: Vec<u32>) -> Vec<u32> {
        let program = self.dependences.program;
        let labels = self.labels();
        let mut blocks: Vec<u32> = class.iter().map(|&c| shapes[c as usize]).collect();
        let mut number = 0;
        loop {
            let mut out: FxHashMap<u32, Signature> = FxHashMap::default();
            for (p, point) in program.points.iter().enumerate() {
                let signature = out.entry(class[p]).or_insert_with(|| (blocks[p], Vec::new()));
                if let Some(woken) = point.woken {
                    signature.1.push((u32::MAX, Some(blocks[woken as usize]), None));
                }
                for &e in &point.edges {
                    let edge = &program.edges[e as usize];
                    let to = edge.to.map(|to| blocks[to as usize]);
                    // A silent edge within a class changes nothing.
                    if !(silent[e as usize] && to == Some(blocks[p])) {
                        let child = edge.child.map(|child| blocks[child as usize]);
                        signature.1.push((labels[e as usize], to, child));
                    }
                }
            }
            let mut numbers: FxHashMap<Signature, u32> = FxHashMap::default();
            let mut block_of: FxHashMap<u32, u32> = FxHashMap::default();
            let mut order: Vec<(u32, Signature)> = out.into_iter().collect();
            order.sort_unstable_by_key(|e| e.0);
            for (c, mut signature) in order {
                signature.1.sort_unstable();
                signature.1.dedup();
                let next = numbers.len() as u32;
                block_of.insert(c, *numbers.entry(signature).or_insert(next));
            }
            blocks = class.iter().map(|c| block_of[c]).collect();
            if numbers.len() == number {
                return blocks;
            }
            number = numbers.len();
        }
    }

    /// Returns a number for each edge; edges with the same number have the same effect on the kept
    /// variables.
    fn labels(&self) -> Vec<u32> {
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut number = |text: String| {
            let next = known.len() as u32;
            *known.entry(text).or_insert(next)
        };
        self.dependences
            .program
            .edges
            .iter()
            .zip(&self.dependences.accesses)
            .map(|(e, a)| number(self.label(e, a)))
            .collect()
    }

    /// Describes the effect of an edge on the kept variables; everything else may have any value.
    fn label(&self, edge: &Edge, access: &Access) -> String {
        if !access.touches(self.kept) {
            return format!("{:?}", edge.kind);
        }
        let program = self.dependences.program;
        let is_kept = |v: Option<Variable>| v.is_some_and(|v| self.kept.contains(&v));
        let mut own = false;
        let mut seen = |e: &Expr| {
            e.map(&mut |v: &Var| {
                let variable = variable(program, edge, v);
                own |= is_kept(variable) && !matches!(variable, Some(Variable::Shared(_)));
                if is_kept(variable) { Expr::Var(*v) } else { Expr::Any }
            })
        };
        let guards: Vec<_> = edge.effect.guards.iter().map(|(e, value)| (seen(e), *value)).collect();
        let constraints: Vec<Expr> = edge.effect.constraints.iter().map(&mut seen).collect();
        let assigns = edge.effect.assigns.iter().zip(&access.assigns).filter(|(_, a)| is_kept(a.0));
        let assigns: Vec<_> = assigns.map(|((v, e), _)| (*v, seen(e))).collect();
        let others = edge.effect.others.as_ref().map(|others| {
            let guards: Vec<_> = others.guards.iter().map(|(e, value)| (seen(e), *value)).collect();
            let constraints: Vec<Expr> = others.constraints.iter().map(&mut seen).collect();
            let assigns: Vec<_> = others.assigns.iter().map(|(i, e)| (*i, seen(e))).collect();
            (others.function, guards, assigns, constraints)
        });
        own |= assigns.iter().any(|(v, _)| !matches!(v, Var::Shared(_)));
        // Slots of different calls may mean different variables.
        let instance = own.then(|| program.points[edge.from as usize].instance);
        format!("{:?} {instance:?} {guards:?} {assigns:?} {constraints:?} {others:?}", edge.kind)
    }

    /// Returns the localisation.
    pub(super) fn localisation(&self) -> Localisation {
        let program = self.dependences.program;
        let mut known: FxHashMap<Shape, u32> = FxHashMap::default();
        let all: Vec<Shape> = (0..program.points.len() as u32).map(|p| self.shape(p)).collect();
        let shapes: Vec<u32> = all
            .iter()
            .map(|shape| {
                let next = known.len() as u32;
                *known.entry(shape.clone()).or_insert(next)
            })
            .collect();
        let class = self.classes(&shapes);
        let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        (0..program.points.len() as u32).for_each(|p| members.entry(class[p as usize]).or_default().push(p));
        let state = |p: u32, slots: &[usize]| -> Local {
            let mut masks = program.free_slots(p);
            slots.iter().for_each(|&slot| masks[slot] = ZERO);
            self.states.encode_local(p, &masks)
        };
        let mut classes: Vec<(Local, Vec<Local>)> = Vec::new();
        let mut sorted: Vec<Vec<u32>> = members.into_values().collect();
        sorted.sort_unstable();
        for members in sorted {
            // The place with the fewest slots is the representative, so that all members use its
            // slots.
            let Some(&first) = members.iter().min_by_key(|&&p| (program.used_slots(p), p)) else { continue };
            let own = members.iter().map(|&p| state(p, &all[p as usize].slots)).collect();
            classes.push((state(first, &[]), own));
        }
        let kept = |i: usize| self.kept.contains(&Variable::Shared(i as u32));
        let masks: Cube = (0..program.shared.len()).map(|i| if kept(i) { ZERO } else { FREE }).collect();
        Localisation { shared: self.states.encode_shared(false, &masks), classes }
    }
}

/// Returns the strongly connected components of a graph: for each node the number of one node of
/// its component. It is iterative, because chains are long.
fn components(count: usize, out: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let (mut index, mut low, mut component) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut next, mut open) = (0, Vec::new());
    for root in 0..count as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        let mut stack: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut enter = Some(root);
        loop {
            if let Some(v) = enter.take() {
                (index[v as usize], low[v as usize]) = (next, next);
                next += 1;
                open.push(v);
                stack.push((v, out(v)));
            }
            let Some((v, left)) = stack.last_mut() else { break };
            let v = *v;
            if let Some(w) = left.pop() {
                if index[w as usize] == NONE {
                    enter = Some(w);
                } else if component[w as usize] == NONE {
                    low[v as usize] = low[v as usize].min(index[w as usize]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                low[*parent as usize] = low[*parent as usize].min(low[v as usize]);
            }
            if low[v as usize] == index[v as usize] {
                while let Some(w) = open.pop() {
                    component[w as usize] = v;
                    if w == v {
                        break;
                    }
                }
            }
        }
    }
    component
}
