//! An execution as a litmus test in the format of herd (C), for other tools to judge.
//!
//! The test is what the threads did in this execution, without conditions and loops: each
//! read-modify-write exchanges the value that it wrote. Its question is whether the reads can get
//! the same values, and the locations end with the same ones.

use crate::graph::{Event, Graph, Id};
use crate::order::Order;
use crate::program::Value;
use crate::rules::{Kind, Location};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns the test; `None` if threads start or wait for others, which the format cannot say.
/// `name`: of a location, a word of C.
pub fn litmus(title: &str, graph: &Graph, name: &dyn Fn(Location) -> String) -> Option<String> {
    if !graph.created.is_empty() || !graph.joined.is_empty() {
        return None;
    }
    let threads: Vec<&Vec<Event>> = graph.threads.iter().filter(|events| !events.is_empty()).collect();
    let writer = Writer { graph, name };
    let mut out = format!("C {title}\n\n{{ {} }}\n", writer.initial());
    let mut wanted = Vec::new();
    for (number, events) in threads.iter().enumerate() {
        out.push_str(&writer.thread(number, events, &mut wanted));
    }
    wanted.extend(writer.finals());
    let _ = write!(out, "\nexists ({})\n", wanted.join(" /\\ "));
    Some(out)
}

struct Writer<'g> {
    graph: &'g Graph,
    name: &'g dyn Fn(Location) -> String,
}

fn order(order: Order) -> String {
    format!("memory_order_{order}")
}

impl Writer<'_> {
    fn initial(&self) -> String {
        let set = |(&x, &value): (&Location, &Value)| format!("[{}] = {value};", (self.name)(x));
        self.graph.initial.iter().map(set).collect::<Vec<_>>().join(" ")
    }

    fn thread(&self, number: usize, events: &[Event], wanted: &mut Vec<String>) -> String {
        let mut used: BTreeMap<Location, bool> = BTreeMap::new();
        for event in events.iter().filter(|event| event.is_access()) {
            used.insert(event.location, event.order != Order::Plain);
        }
        let parameter = |(&x, &atomic): (&Location, &bool)| {
            format!("{}int* {}", if atomic { "atomic_" } else { "" }, (self.name)(x))
        };
        let parameters: Vec<String> = used.iter().map(parameter).collect();
        let mut out = format!("\nP{number} ({}) {{\n", parameters.join(", "));
        for (i, event) in events.iter().enumerate() {
            let _ = writeln!(out, "  {}", self.statement(i, event));
            if let Some((value, _)) = event.read {
                wanted.push(format!("{number}:r{i}={value}"));
            }
        }
        out.push_str("}\n");
        out
    }

    fn statement(&self, number: usize, event: &Event) -> String {
        let (x, mo) = ((self.name)(event.location), order(event.order));
        let value = event.written.unwrap_or_default();
        match (event.kind, event.order) {
            (Kind::Fence, _) => format!("atomic_thread_fence({mo});"),
            (Kind::Load, Order::Plain) => format!("int r{number} = *{x};"),
            (Kind::Load, _) => format!("int r{number} = atomic_load_explicit({x}, {mo});"),
            (Kind::Store, Order::Plain) => format!("*{x} = {value};"),
            (Kind::Store, _) => format!("atomic_store_explicit({x}, {value}, {mo});"),
            (Kind::Update, _) => format!("int r{number} = atomic_exchange_explicit({x}, {value}, {mo});"),
        }
    }

    /// The last values of locations that are written several times.
    fn finals(&self) -> Vec<String> {
        let several = self.graph.writes.iter().filter(|(_, writes)| writes.len() > 2);
        let last = |(&x, writes): (&Location, &Vec<Id>)| {
            let last = writes.last().map_or(0, |&id| self.graph.value(id));
            format!("[{}]={last}", (self.name)(x))
        };
        several.map(last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::{Instruction, Litmus};
    use crate::search::{Hunt, Search};

    #[test]
    fn store_buffering_is_the_classical_test() {
        let side = |mine, other| {
            vec![
                Instruction::Store(mine, 1, Order::Release),
                Instruction::Load(other, Order::Acquire),
                Instruction::AssertNot(0),
                Instruction::Store(2, 1, Order::Relaxed),
            ]
        };
        let program = Litmus { threads: vec![side(0, 1)], values: 2 };
        let Hunt::Failing(found, _) = Search::default().hunt(&program, true) else { panic!("it fails") };
        let name = |x: Location| ["x", "y", "z"][x as usize].to_string();
        let text = litmus("SB", &found.graph, &name).expect("no threads are started");
        let expected = "C SB\n\n{ [x] = 0; [y] = 0; }\n\nP0 (atomic_int* x, atomic_int* y) {\n  \
            atomic_store_explicit(x, 1, memory_order_release);\n  \
            int r1 = atomic_load_explicit(y, memory_order_acquire);\n}\n\nexists (0:r1=0)\n";
        assert_eq!(text, expected);
    }
}
