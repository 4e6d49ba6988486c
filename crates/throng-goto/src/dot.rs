//! The control flow of a program as a picture, in the language of Graphviz.

use std::fmt::Write as _;

use crate::program::{Instr, Program, next};

/// One cluster per function that threads start in, one node per line of C that control goes
/// through.
pub fn dot(program: &Program) -> String {
    let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace];\n");
    for (k, t) in program.templates.iter().enumerate() {
        _ = writeln!(out, "  subgraph cluster{k} {{\n    label={};", quoted(&t.name));
        let mut reached = vec![false; t.code.len()];
        let mut work = vec![0];
        while let Some(pc) = work.pop() {
            if pc < t.code.len() && !std::mem::replace(&mut reached[pc], true) {
                work.extend(next(&t.code, pc));
            }
        }
        // Consecutive instructions of one line are one node.
        let targets: Vec<usize> = (0..t.code.len())
            .filter(|&pc| reached[pc] && matches!(t.code[pc], Instr::Branch(..) | Instr::Jump(_)))
            .flat_map(|pc| next(&t.code, pc))
            .collect();
        let mut node = vec![0; t.code.len()];
        for pc in 0..t.code.len() {
            let falls = pc > 0
                && reached[pc - 1]
                && next(&t.code, pc - 1) == [pc]
                && !matches!(t.code[pc - 1], Instr::Jump(_))
                && !targets.contains(&pc)
                && t.origins[pc] == t.origins[pc - 1];
            node[pc] = if falls { node[pc - 1] } else { pc };
        }
        for pc in (0..t.code.len()).filter(|&pc| reached[pc] && node[pc] == pc) {
            let origin = program.origin(k, pc);
            let code = (pc..t.code.len()).take_while(|&q| node[q] == pc && reached[q]);
            let mut lines: Vec<String> = code.map(|q| program.instruction(t, &t.code[q])).collect();
            lines.truncate(6);
            let text = format!("{} {}: {}", origin.function, origin.line, origin.text);
            lines.insert(0, text);
            let colour = if matches!(t.code[pc], Instr::Fail(..)) { ", color=red" } else { "" };
            _ = writeln!(out, "    n{k}_{pc} [label={}{colour}];", quoted(&lines.join("\n")));
        }
        for pc in (0..t.code.len()).filter(|&pc| reached[pc]) {
            for (i, to) in next(&t.code, pc).into_iter().enumerate() {
                if node[to] == node[pc] && to == pc + 1 && node[to] != to {
                    continue;
                }
                let label = match (&t.code[pc], i) {
                    (Instr::Branch(..), 0) => " [label=\"yes\"]",
                    (Instr::Branch(..), _) => " [label=\"no\"]",
                    _ => "",
                };
                _ = writeln!(out, "    n{k}_{} -> n{k}_{}{label};", node[pc], node[to]);
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\l"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push_str("\\l\"");
    out
}
