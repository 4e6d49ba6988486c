//! Programs with transfers: one loop, the local state in local bits, passive assignments `x$` that
//! move bystanders.
//!
//! A move is one assignment. A child copies its parent's locals, so the parent temporarily has the
//! child's, inside an atomic section.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Bits, Program, guarded};
use throng_model::table::Fate;
use throng_model::{Local, Step};

/// Returns the text of the program.
pub(super) fn program(program: &Program<'_>) -> String {
    let locals = Bits::new("l", program.used.locals.keys());
    let mut text = program.head();
    for (i, value) in locals.values(program.entry().map_or(0, |l| l.0)).into_iter().enumerate() {
        let _ = writeln!(text, "    decl l{i} := {};", u8::from(value));
    }
    text.push_str(program.creates());
    let mut labels: Vec<String> = (0..program.system.table.steps().len()).map(|i| format!("e{i}")).collect();
    labels.push("bad".into());
    let _ = writeln!(text, "loop: goto {};", labels.join(", "));
    for step in program.system.table.steps() {
        edge(program, &locals, step, &mut text);
    }
    // If no configuration meets a target, no thread is in the error state, which then has no code.
    let is_met = program.used.locals.contains_key(&program.error.0);
    let bad = if is_met { locals.hold(program.error.0, "", "") } else { "0".into() };
    let _ = writeln!(text, "bad: assume({bad});\n    assert(0);");
    text.push_str("stop: end_thread;\nend\n");
    text
}

fn edge(program: &Program<'_>, locals: &Bits, step: &Step, text: &mut String) {
    let first = |entries: &[(Local, u32)]| entries.first().map(|e| e.0.0);
    let label = step.edge.0;
    let (Some(l), Some(m)) = (first(step.take.entries()), first(step.put.entries())) else {
        let _ = writeln!(text, "e{label}: goto stop;");
        return;
    };
    let guard = format!("{} & {}", program.bits.hold(step.from.0, "", ""), locals.hold(l, "", ""));
    let mut changes = program.bits.changes(step.from.0, step.to.0);
    if let Some(child) = first(step.spawn.entries()) {
        changes.extend(locals.changes(l, child));
        let _ = writeln!(text, "e{label}: atomic_begin;\n    {};", guarded(&changes, &guard));
        text.push_str("    start_thread goto loop;\n");
        let back = locals.changes(child, m);
        if !back.is_empty() {
            let _ = writeln!(text, "    {};", guarded(&back, "1"));
        }
        text.push_str("    atomic_end;\n    goto loop;\n");
        return;
    }
    changes.extend(locals.changes(l, m));
    let fates = program.system.table.fates(step.edge);
    if fates.is_empty() {
        let _ = writeln!(text, "e{label}: {};\n    goto loop;", guarded(&changes, &guard));
        return;
    }
    changes.extend((0..locals.width).map(|i| (format!("l{i}$"), "*")));
    let relation = relation(locals, fates);
    let _ = writeln!(text, "e{label}: {} & {relation};\n    goto loop;", guarded(&changes, &guard));
}

/// Returns the relation of bystanders' states: the listed ones move to one of their fates, all
/// others stay. Every thread has a choice.
fn relation(locals: &Bits, fates: &[(Local, Fate)]) -> String {
    let mut goes: BTreeMap<Local, Vec<String>> = BTreeMap::new();
    for &(p, fate) in fates {
        if let Fate::To(q) = fate {
            goes.entry(p).or_default().push(format!("({})", locals.hold(q.0, "'", "$")));
        }
    }
    let at = |p: &Local| format!("({})", locals.hold(p.0, "", "$"));
    let mut conjuncts: Vec<String> =
        goes.iter().map(|(p, to)| format!("(!{} | {})", at(p), to.join(" | "))).collect();
    let listed: Vec<String> = goes.keys().map(at).collect();
    let same: Vec<String> = (0..locals.width).map(|i| format!("('l{i}$ = l{i}$)")).collect();
    conjuncts.push(format!("({} | ({}))", listed.join(" | "), same.join(" & ")));
    conjuncts.join(" & ")
}
