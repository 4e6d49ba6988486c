//! Steps of an abstract run that no values allow, whatever the predicates are called: facts that
//! rule them out.
//!
//! [`crate::abstraction`] finds the short facts about each edge. A run may need a longer one, or
//! one about a thread and a bystander together; it is looked for when a run shows that it is
//! missing.

use batsat::Lit;
use throng_goto::program::{Int, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::abstraction::after;
use crate::blast::Encoder;
use throng_goto_check::abstraction::cube::{Cube, Literal, Side, changed, edge, living};
use throng_goto_check::abstraction::graph::Graph;
use throng_goto_check::abstraction::predicate::Predicate;

/// Predicates by number with their values, as far as they matter.
pub type Values = Vec<(u32, bool)>;

/// A step of an abstract run.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The shared predicates and those of the thread that moves, before and after the step.
    pub mine: (Values, Values),
    /// Those of each bystander, before and after the step.
    pub others: Vec<(Values, Values)>,
}

/// Facts about an edge that rule a step along it out. None: some values allow it, looking at one
/// bystander at a time.
pub fn facts_against(
    program: &Program,
    graph: &Graph,
    list: &[Predicate],
    n: usize,
    seen: &Seen,
    limits: &Limits,
) -> Result<Vec<Cube>, Unknown> {
    let e = edge(graph, n);
    let (before, lives) = living(program, graph, list, n);
    let (changed, moved) = changed(graph, list, e);
    let types = |id: u32| -> Int { e.ty(&graph.variables, id) };
    let mut encoder = Encoder::new(limits, &types);
    for g in &e.guard {
        let l = encoder.truth(g);
        encoder.sat.clause(&[l]);
    }
    let mut query = Query { encoder };
    let mut literals = |values: &Values, side: Side, which: &dyn Fn(u32) -> bool| -> Vec<(Lit, Literal)> {
        let chosen = values.iter().filter(|v| which(v.0));
        let of = |&(i, value): &(u32, bool)| {
            let p = &list[i as usize];
            let expr = match side {
                Side::Before => p.expr.clone(),
                Side::After => after(graph, e, &p.expr),
                Side::OtherBefore => p.of_other(&graph.variables),
                Side::OtherAfter => after(graph, e, &p.of_other(&graph.variables)),
            };
            let l = query.encoder.truth(&expr);
            (if value { l } else { !l }, (i, side, value))
        };
        chosen.map(of).collect()
    };
    let mine = literals(&seen.mine.0, Side::Before, &|i| before[i as usize]);
    let then = literals(&seen.mine.1, Side::After, &|i| lives[i as usize] && changed.contains(&i));
    // The start and the entries have no bystanders.
    let others: Vec<_> = match n < graph.edges.len() {
        true => (seen.others.iter())
            .map(|(now, later)| {
                let private = |i: u32| list[i as usize].template.is_some();
                let now = literals(now, Side::OtherBefore, &private);
                (now, literals(later, Side::OtherAfter, &|i| moved.contains(&i)))
            })
            .collect(),
        false => Vec::new(),
    };
    let found = query.against(&[&mine], &then)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let mut found = Vec::new();
    for (now, later) in &others {
        for cube in query.against(&[now, &mine], later)? {
            if !found.contains(&cube) {
                found.push(cube);
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    for (now, later) in &others {
        let all: Vec<(Lit, Literal)> = [later, now, &then, &mine].into_iter().flatten().copied().collect();
        if let Some(cube) = query.contradiction(&all)? {
            return Ok(vec![cube]);
        }
    }
    Ok(found)
}

struct Query<'a> {
    encoder: Encoder<'a>,
}

impl Query<'_> {
    /// Facts that rule out values before and after: about one value afterwards if possible, because
    /// these can be written as assignments.
    fn against(
        &mut self,
        before: &[&Vec<(Lit, Literal)>],
        after: &[(Lit, Literal)],
    ) -> Result<Vec<Cube>, Unknown> {
        let before: Vec<(Lit, Literal)> = before.iter().copied().flatten().copied().collect();
        if let Some(cube) = self.contradiction(&before)? {
            return Ok(vec![cube]);
        }
        let mut found = Vec::new();
        for &later in after {
            let mut all = before.clone();
            all.push(later);
            found.extend(self.contradiction(&all)?);
        }
        if found.is_empty() && after.len() > 1 {
            let all: Vec<(Lit, Literal)> = before.iter().chain(after).copied().collect();
            found.extend(self.contradiction(&all)?);
        }
        Ok(found)
    }

    /// Literals of these that contradict each other, none of which can be left out.
    fn contradiction(&mut self, all: &[(Lit, Literal)]) -> Result<Option<Cube>, Unknown> {
        let lits = |list: &[(Lit, Literal)]| list.iter().map(|l| l.0).collect::<Vec<Lit>>();
        if self.encoder.solve(&lits(all))? {
            return Ok(None);
        }
        let mut cube: Cube = self.encoder.minimal_core(all)?;
        cube.sort_unstable();
        cube.dedup();
        Ok(Some(cube))
    }
}
