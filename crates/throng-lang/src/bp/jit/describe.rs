//! Names of states, places and steps of a program, for people.

use super::Jit;
use crate::bp::program::{FunctionInfo, NodeInfo};
use crate::bp::types::{Groups, grouped};
use throng_model::{Describe, Edge, Local, Place, Shared};

impl Describe for Jit {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        let (_, masks) = self.shared.decode(s.0);
        grouped(&self.program.shared, &masks, &self.program.groups.shared)
    }

    fn shared_bits(&self, s: Shared) -> Vec<(String, String)> {
        if self.program.groups.shared.is_empty() {
            return Vec::new();
        }
        grouped(&self.program.shared, &self.shared.decode(s.0).1, &[])
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.values_of(l, &self.program.groups)
    }

    fn local_bits(&self, l: Local) -> Vec<(String, String)> {
        let Groups { thread_locals, functions, .. } = &self.program.groups;
        if thread_locals.is_empty() && functions.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        self.values_of(l, &Groups::default())
    }

    fn way(&self, edge: Edge) -> Option<String> {
        let to = self.program.edges[edge.0 as usize].to;
        let ways = self.program.points[self.program.edges[edge.0 as usize].from as usize].edges.iter();
        let mut others = ways.map(|&e| self.program.edges[e as usize].to).filter(|&other| other != to);
        let first = others.next()?;
        let Some(to) = to else { return Some("the end".into()) };
        let line = |point: u32| self.program.info(point).line;
        let alike = std::iter::once(first).chain(others).flatten().any(|other| line(other) == line(to));
        let text = if alike { format!(": {}", cut(&self.program.info(to).text)) } else { String::new() };
        Some(format!("line {}{text}", line(to)))
    }

    fn place(&self, l: Local) -> Option<Place> {
        let point = self.local.head(l.0);
        (!self.is_ended(point)).then(|| self.place_of(point))
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.place_of(self.program.edges[edge.0 as usize].from)
    }

    fn places(&self) -> Vec<Place> {
        let of = |f: &FunctionInfo| f.nodes.iter().map(|n| place(n, f.name.clone())).collect::<Vec<_>>();
        self.program.functions.iter().flat_map(of).collect()
    }
}

impl Jit {
    /// Returns the variables of a local state; the bits of a group are one value.
    fn values_of(&self, l: Local, groups: &Groups) -> Vec<(String, String)> {
        let (point, slots) = self.local.decode(l.0);
        if self.is_ended(point) {
            return vec![("ended".into(), "1".into())];
        }
        let mut named = grouped(&self.program.thread_locals, &slots, &groups.thread_locals);
        let innermost = self.program.points[point as usize].instance;
        let mut frames = vec![innermost];
        while let Some((caller, _)) = frames.last().and_then(|&i| self.program.instances[i].caller) {
            frames.push(caller);
        }
        for i in frames {
            let instance = &self.program.instances[i];
            let function = &self.program.functions[instance.function];
            let its = groups.functions.get(instance.function).map_or(&[][..], |g| g);
            for (name, value) in grouped(&function.variables, &slots[instance.base..], its) {
                let name = if i == innermost { name } else { format!("{}.{name}", function.name) };
                named.push((name, value));
            }
        }
        named
    }

    fn place_of(&self, point: u32) -> Place {
        place(self.program.info(point), self.program.call_path(point))
    }
}

fn place(info: &NodeInfo, function: String) -> Place {
    Place {
        line: info.line,
        column: info.column,
        text: info.text.clone(),
        labels: info.labels.clone(),
        function,
        origin: info.origin.clone(),
        ..Place::default()
    }
}

/// Shortens a long text.
pub(super) fn cut(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
