//! Counters that no thread sees: how many threads of a template were created, and how many of them
//! have written a variable that each writes at most once.
//!
//! A thread that is still before its write was created and has not written, so there, the second
//! number is smaller than the first. The paths say so in their guards; a proof may use it:
//! `x <= written` holds where each thread makes `x` one larger at most, whatever they do at the
//! same time.
//!
//! Numbers are of 64 bits. That fewer than 2⁶² threads are ever created is taken for granted.

use throng_goto::program::{BinOp, Expr, Int, Program};

use super::graph::{Edge, Graph, To};

/// No program creates so many threads.
const MOST: i64 = 1 << 62;
const WIDE: Int = Int::new(8, true);

/// Adds the counters to a graph, and says whether there are any.
pub(crate) fn count(program: &Program, graph: &mut Graph) -> bool {
    let (first, any) = Graph::first(program);
    let mut found = false;
    for template in 0..program.templates.len() {
        if any || first.contains(&template) || program.runs_once(template) {
            continue;
        }
        let writes = once_written(graph, template);
        if writes.is_empty() {
            continue;
        }
        found = true;
        let name = &program.templates[template].name;
        let created = graph.variables.counter(format!("created({name})"));
        for e in graph.edges.iter_mut() {
            let more = e.starts.iter().filter(|&&t| t == template).count();
            if more > 0 {
                e.guard.push(less(created, Expr::Const(MOST)));
                e.updates.push((created, plus(created, more as i64)));
            }
        }
        for (x, edges, before) in writes {
            let name = format!("written({name}, {})", graph.variables.list[x as usize].name);
            let written = graph.variables.counter(name);
            for (n, e) in graph.edges.iter_mut().enumerate() {
                if before[e.from] {
                    e.guard.push(less(written, Expr::Reg(created)));
                    e.guard.push(less(created, Expr::Const(MOST + 1)));
                }
                if edges.contains(&n) {
                    e.updates.push((written, plus(written, 1)));
                }
            }
            graph.initial.updates.push((written, Expr::Const(0)));
        }
        graph.initial.updates.push((created, Expr::Const(0)));
    }
    for e in graph.edges.iter_mut().chain([&mut graph.initial]) {
        e.updates.sort_unstable_by_key(|u| u.0);
    }
    found
}

fn less(a: u32, b: Expr) -> Expr {
    Expr::Bin(BinOp::Lt, Box::new(Expr::Reg(a)), Box::new(b), WIDE)
}

fn plus(a: u32, n: i64) -> Expr {
    Expr::Bin(BinOp::Add, Box::new(Expr::Reg(a)), Box::new(Expr::Const(n)), WIDE)
}

/// Shared variables that each thread of a template writes at most once, and not with a constant:
/// the edges that do, and the places before them.
fn once_written(graph: &Graph, template: usize) -> Vec<(u32, Vec<usize>, Vec<bool>)> {
    let own = |e: &Edge| graph.places[e.from].template == template;
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    let mut variables: Vec<u32> = (graph.edges.iter().filter(|e| own(e)))
        .flat_map(|e| &e.updates)
        .filter(|u| shared(u.0) && !graph.variables.is_any_element(u.0) && !matches!(u.1, Expr::Const(_)))
        .map(|u| u.0)
        .collect();
    variables.sort_unstable();
    variables.dedup();
    let mut found = Vec::new();
    for x in variables {
        let writes = |e: &Edge| own(e) && e.updates.iter().any(|u| u.0 == x);
        let edges: Vec<usize> = (0..graph.edges.len()).filter(|&n| writes(&graph.edges[n])).collect();
        // Places from which a write can still come.
        let mut before = vec![false; graph.places.len()];
        let mut work: Vec<usize> = edges.iter().map(|&n| graph.edges[n].from).collect();
        while let Some(p) = work.pop() {
            if !std::mem::replace(&mut before[p], true) {
                work.extend(graph.edges.iter().filter(|e| e.to == To::Place(p)).map(|e| e.from));
            }
        }
        let again = |&n: &usize| matches!(graph.edges[n].to, To::Place(p) if before[p]);
        if !edges.iter().any(again) {
            found.push((x, edges, before));
        }
    }
    found
}
