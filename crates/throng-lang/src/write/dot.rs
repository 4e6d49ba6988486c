//! Graphs for Graphviz: thread states and moves if steps move single threads, else places and
//! transitions.

use std::fmt::Write;
use throng_model::Describe;

use super::Written;
use crate::system::System;
use throng_model::table::{Fate, Table};
use throng_model::{Bag, Local, Shared, Step};

/// Writes `.dot`.
pub(super) fn write(system: &System) -> Written {
    let table = &system.table;
    let mut text = String::from("digraph system {\n    rankdir=LR;\n    node [fontname=\"sans-serif\"];\n");
    let single = |s: &Step| s.take.size() == 1 && s.put.size() == 1;
    if table.steps().iter().all(single) {
        thread_states(system, &mut text);
    } else {
        net(table, &mut text);
    }
    text.push_str("}\n");
    Written::new(text)
}

/// Writes one node per thread state and one edge per move; moves of created threads and bystanders
/// are dashed.
fn thread_states(system: &System, text: &mut String) {
    let table = &system.table;
    let node = |s: Shared, l: Local| {
        format!("\"{}\"", escaped(&format!("{}|{}", table.shared().name(s.0), table.locals().name(l.0))))
    };
    for initial in &system.initial {
        for l in initial.threads.entries().iter().map(|e| e.0).chain(initial.any.iter().copied()) {
            let _ = writeln!(text, "    {} [style=bold];", node(initial.shared, l));
        }
    }
    for config in system.targets.iter().flat_map(|t| &t.configs) {
        for &(l, _) in config.threads.entries() {
            let _ = writeln!(text, "    {} [color=red];", node(config.shared, l));
        }
    }
    for step in table.steps() {
        let (Some(l), Some(m)) = (step.take.entries().first(), step.put.entries().first()) else { continue };
        let _ = writeln!(text, "    {} -> {};", node(step.from, l.0), node(step.to, m.0));
        for &(child, _) in step.spawn.entries() {
            let _ = writeln!(
                text,
                "    {} -> {} [style=dashed, label=\"+\"];",
                node(step.from, l.0),
                node(step.to, child)
            );
        }
        for &(p, fate) in table.fates(step.edge) {
            let _ = match fate {
                Fate::To(q) => {
                    writeln!(
                        text,
                        "    {} -> {} [style=dashed, label=\"~\"];",
                        node(step.from, p),
                        node(step.to, q)
                    )
                }
                Fate::Vanish | Fate::Block => Ok(()),
            };
        }
    }
}

fn net(table: &Table, text: &mut String) {
    let place = |l: Local| format!("\"{}\"", escaped(&format!("local {}", table.locals().name(l.0))));
    let shared = |s: Shared| format!("\"{}\"", escaped(&format!("shared {}", table.shared().name(s.0))));
    for step in table.steps() {
        let t = format!("t{}", step.edge.0);
        let title = escaped(&table.edge_place(step.edge).text);
        let _ = writeln!(text, "    {t} [shape=box, label=\"\", tooltip=\"{title}\"];");
        let mut arcs = |bag: &Bag, into: bool| {
            for &(l, n) in bag.entries() {
                let (a, b) = if into { (place(l), t.clone()) } else { (t.clone(), place(l)) };
                let weight = if n == 1 { String::new() } else { format!(" [label=\"{n}\"]") };
                let _ = writeln!(text, "    {a} -> {b}{weight};");
            }
        };
        arcs(&step.take, true);
        arcs(&step.put, false);
        arcs(&step.spawn, false);
        if table.shared().len() > 1 {
            let _ = writeln!(text, "    {} -> {t};\n    {t} -> {};", shared(step.from), shared(step.to));
        }
        for &(p, fate) in table.fates(step.edge) {
            let from = place(p);
            let _ = match fate {
                Fate::To(q) => writeln!(
                    text,
                    "    {from} -> {t} [style=dashed];\n    {t} -> {} [style=dashed];",
                    place(q)
                ),
                Fate::Vanish => writeln!(text, "    {from} -> {t} [style=dashed, label=\"all\"];"),
                Fate::Block => writeln!(text, "    {from} -> {t} [arrowhead=odot];"),
            };
        }
    }
}

pub(super) fn escaped(text: &str) -> String {
    super::comment(text).replace('\\', "\\\\").replace('"', "\\\"")
}
