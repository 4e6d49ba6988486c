//! The control-flow graph of a program, for Graphviz: a node for each statement, grouped by
//! function, and an edge to each successor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::dot::escaped;
use crate::bp::program::Program;

/// Index of a function and of its node.
type Id = (usize, usize);

/// Writes `.dot`; statements at positions (line, column) that are not among `reached` are grey.
pub fn flow(program: &Program, reached: Option<&BTreeSet<(u32, u32)>>) -> String {
    let mut text = String::from(
        "digraph program {\n    node [shape=box, fontname=\"monospace\", style=filled, fillcolor=white];\n    edge [fontname=\"sans-serif\"];\n",
    );
    let mut inside: BTreeMap<Id, bool> = BTreeMap::new();
    for point in &program.points {
        *inside.entry((point.function, point.node)).or_default() |= point.inside;
    }
    for (f, function) in program.functions.iter().enumerate() {
        let _ =
            writeln!(text, "    subgraph \"cluster_{f}\" {{\n        label=\"{}\";", escaped(&function.name));
        for n in (0..function.nodes.len()).filter(|&n| inside.contains_key(&(f, n))) {
            let node = &function.nodes[n];
            let labels: String = node.labels.iter().map(|l| format!("{l}: ")).collect();
            let grey = reached.is_some_and(|r| !r.contains(&(node.line, node.column)));
            let look = match () {
                () if grey => ", color=grey, fontcolor=grey, style=\"filled,dashed\"",
                () if node.text.starts_with("assert") => ", color=red",
                () if inside[&(f, n)] => ", fillcolor=lightyellow",
                () => "",
            };
            let start = if (f, n) == entry(program) { ", penwidth=2" } else { "" };
            let said = escaped(&format!("{}: {labels}{}", node.line, node.text));
            let _ = writeln!(text, "        {} [label=\"{said}\"{look}{start}];", name((f, n)));
        }
        text.push_str("    }\n");
    }
    for (from, to, look) in edges(program) {
        let _ = writeln!(text, "    {} -> {}{look};", name(from), name(to));
    }
    text.push_str("}\n");
    text
}

fn name((f, n): Id) -> String {
    format!("\"{f}.{n}\"")
}

fn entry(program: &Program) -> Id {
    let entry = &program.points[program.entry as usize];
    (entry.function, entry.node)
}

/// Returns each edge once: a statement is one node, regardless of the calls of its function.
fn edges(program: &Program) -> BTreeSet<(Id, Id, &'static str)> {
    let id = |point: u32| (program.points[point as usize].function, program.points[point as usize].node);
    let mut found = BTreeSet::new();
    for edge in &program.edges {
        let from = id(edge.from);
        if let Some(to) = edge.to.map(id) {
            found.insert((from, to, if to.0 == from.0 { "" } else { " [style=dashed]" }));
        }
        if let Some(child) = edge.child.map(id) {
            found.insert((from, child, " [style=dotted, label=\"starts\"]"));
        }
    }
    for (i, point) in program.points.iter().enumerate() {
        if let Some(woken) = point.woken {
            found.insert((id(i as u32), id(woken), " [style=dotted, label=\"woken\"]"));
        }
    }
    found
}
