//! The abstraction as a Boolean program, with a line for each edge.

use rustc_hash::FxHashMap;
use throng_goto::program::Program;

use crate::abstraction::{Cube, Literal, Side, changed, edge, living};
use crate::edges::{Edge, Graph, To};
use crate::predicates::Predicate;

/// A Boolean program, and what its lines are.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// The edge that a line stands for.
    pub edges: FxHashMap<u32, usize>,
    line: u32,
}

impl Rendered {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        self.line += 1;
    }
}

/// Writes the program that allows everything but what is never satisfied, edge by edge.
pub fn render(program: &Program, graph: &Graph, list: &[Predicate], never: &[Vec<Cube>]) -> Rendered {
    let mut out = Rendered::default();
    for (i, p) in list.iter().enumerate() {
        let owner = p
            .template
            .map_or(String::new(), |t| format!("   of each thread in {}", program.templates[t].name));
        out.line(
            &format!("// {}: {}{owner}", name(list, i as u32), p.text(&graph.variables)).replace('\n', " "),
        );
    }
    let names = |shared: bool| {
        let which = (0..list.len() as u32).filter(|&i| list[i as usize].template.is_none() == shared);
        which.map(|i| name(list, i)).collect::<Vec<_>>().join(", ")
    };
    if !names(true).is_empty() {
        out.line(&format!("decl {};", names(true)));
    }
    out.line("void main() begin");
    if !names(false).is_empty() {
        out.line(&format!("  decl {};", names(false)));
    }
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.places.len()];
    for (n, e) in graph.edges.iter().enumerate() {
        // An empty cube: there is no such step.
        if !never[n].iter().any(Vec::is_empty) {
            from[e.from].push(n);
        }
    }
    let writer = Writer { program, graph, list, never, from: &from };
    let (first, any) = Graph::first(program);
    let start = graph.edges.len();
    let begin = writer.statement(start);
    out.edges.insert(out.line + 1, start);
    out.line(&format!("  {begin};"));
    let heads: Vec<String> = first.iter().map(|t| format!("G{t}")).collect();
    if any {
        let choices: Vec<String> = (0..first.len()).map(|k| format!("S{k}")).collect();
        out.line(&format!("  START: goto {};", choices.join(", ")));
        for (k, head) in heads.iter().enumerate() {
            out.line(&format!("  S{k}: start_thread goto {head};"));
            out.line("  goto START;");
        }
    } else {
        out.line(&format!("  goto {};", heads.join(", ")));
    }
    for (t, (place, _)) in graph.entries.iter().enumerate() {
        let begin = writer.statement(start + 1 + t);
        out.edges.insert(out.line + 1, start + 1 + t);
        out.line(&format!("  G{t}: {begin};"));
        out.line(&format!("  goto {};", writer.ways(*place)));
    }
    for (place, edges) in from.iter().enumerate() {
        let origin = program.origin(graph.places[place].template, graph.places[place].pc);
        let text = origin.text.trim().replace(['\n', '\r'], " ");
        out.line(&format!("  // {} line {}: {text}", origin.function, origin.line));
        let atomic = graph.places[place].atomic;
        match edges[..] {
            // Inside an atomic section, a thread may not end.
            [] if atomic => out.line(&format!("  L{place}: assume(0); atomic_end; goto END;")),
            [] => out.line(&format!("  L{place}: assume(0); goto END;")),
            _ => out.line(&format!("  L{place}: goto {};", writer.ways(place))),
        }
        for &n in edges {
            writer.edge(n, &mut out);
        }
    }
    out.line("  END: skip;");
    out.line("end");
    out
}

fn name(list: &[Predicate], i: u32) -> String {
    let kind = if list[i as usize].template.is_none() { 's' } else { 'b' };
    format!("{kind}{i}")
}

struct Writer<'a> {
    program: &'a Program,
    graph: &'a Graph,
    list: &'a [Predicate],
    never: &'a [Vec<Cube>],
    /// The edges that leave each place.
    from: &'a [Vec<usize>],
}

impl Writer<'_> {
    /// Where control goes from a place: to its edges at once, because a label of its own would be
    /// one more step.
    fn ways(&self, place: usize) -> String {
        let edges: Vec<String> = self.from[place].iter().map(|n| format!("E{n}")).collect();
        if edges.is_empty() { format!("L{place}") } else { edges.join(", ") }
    }

    fn edge(&self, n: usize, out: &mut Rendered) {
        let e = &self.graph.edges[n];
        let inside = self.graph.places[e.from].atomic;
        let statement = self.statement(n);
        let mut label = format!("E{n}: ");
        let stays = match &e.to {
            To::Place(to) => self.graph.places[*to].atomic,
            To::Fail(..) => inside,
            To::End => false,
        };
        if stays && !inside {
            out.line(&format!("  {label}atomic_begin;"));
            label.clear();
        }
        out.edges.insert(out.line + 1, n);
        out.line(&format!("  {label}{statement};"));
        if let To::Fail(_, why) = &e.to {
            out.line(&format!("  assert(0); // {}", why.replace(['\n', '\r'], " ")));
        }
        for &child in &e.starts {
            // If it is the only one, its predicates were set by the step.
            if is_exact(self.graph, e) {
                out.line(&format!("  start_thread goto L{};", self.graph.entries[child].0));
            } else {
                out.line(&format!("  start_thread goto G{child};"));
            }
        }
        if inside && !stays {
            out.line("  atomic_end;");
        }
        match &e.to {
            To::Place(to) => out.line(&format!("  goto {};", self.ways(*to))),
            To::Fail(..) if inside => out.line("  atomic_end; goto END;"),
            To::Fail(..) | To::End => out.line("  goto END;"),
        }
    }

    /// What an edge does to predicates.
    fn statement(&self, n: usize) -> String {
        let e = edge(self.graph, n);
        let (before, lives) = living(self.program, self.graph, self.list, n);
        let (changed, others) = changed(self.graph, self.list, e);
        let others = if n >= self.graph.edges.len() { Vec::new() } else { others };
        let never = &self.never[n];
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let fails = matches!(e.to, To::Fail(..));
        let ends = fails || e.to == To::End && e.starts.is_empty();
        let assigned = |i: u32, other: bool| {
            let side = if other { Side::OtherAfter } else { Side::After };
            let is_about = |c: &&Cube| {
                c.iter().filter(|l| is_later(l)).count() == 1 && c.iter().any(|l| (l.0, l.1) == (i, side))
            };
            let force = |value: bool| {
                let cubes = never.iter().filter(is_about).filter(|c| c.contains(&(i, side, !value)));
                cubes.map(|c| self.cube(c.iter().filter(|l| !is_later(l)))).collect::<Vec<_>>().join(" | ")
            };
            let (yes, no) = (force(true), force(false));
            let part = |text: String| if text.is_empty() { "0".into() } else { text };
            let value = match () {
                () if yes == "1" => "1".to_string(),
                () if no == "1" => "0".to_string(),
                () if yes.is_empty() && no.is_empty() => "*".to_string(),
                () => format!("schoose[{}, {}]", part(yes), part(no)),
            };
            (format!("{}{}", name(self.list, i), if other { "$" } else { "" }), value)
        };
        for i in 0..self.list.len() as u32 {
            let shared = self.list[i as usize].template.is_none();
            let now = lives[i as usize];
            let goes = before[i as usize] && !now;
            if changed.contains(&i) && now {
                let (target, value) = assigned(i, false);
                left.push(target);
                right.push(value);
            } else if (changed.contains(&i) || goes) && !ends && !shared {
                // Its value does not matter: any.
                left.push(name(self.list, i));
                right.push("*".into());
            }
        }
        if !fails {
            for (target, value) in others.iter().map(|&i| assigned(i, true)) {
                left.push(target);
                right.push(value);
            }
        }
        let single = |c: &&Cube| c.iter().filter(|l| is_later(l)).count() != 1;
        let conditions: Vec<String> = never
            .iter()
            .filter(single)
            .filter(|c| c.iter().all(|l| !is_later(l) || !fails))
            .map(|c| format!("!({})", self.cube(c.iter())))
            .collect();
        match (left.is_empty(), conditions.is_empty()) {
            (true, true) => "skip".into(),
            (true, false) => format!("assume({})", conditions.join(" & ")),
            (false, true) => format!("{} := {}", left.join(", "), right.join(", ")),
            (false, false) => {
                format!("{} := {} constrain {}", left.join(", "), right.join(", "), conditions.join(" & "))
            }
        }
    }

    fn cube<'l>(&self, literals: impl Iterator<Item = &'l Literal>) -> String {
        let show = |l: &Literal| {
            let sign = if l.2 { "" } else { "!" };
            let later = if is_later(l) { "'" } else { "" };
            let other = if is_other(l) { "$" } else { "" };
            format!("{sign}{later}{}{other}", name(self.list, l.0))
        };
        let parts: Vec<String> = literals.map(show).collect();
        match parts[..] {
            [] => "1".into(),
            [ref one] => one.clone(),
            _ => format!("({})", parts.join(" & ")),
        }
    }
}

/// Whether the predicates of the thread that an edge starts are set by the edge.
pub fn is_exact(graph: &Graph, e: &Edge) -> bool {
    matches!(e.starts[..], [child] if child != graph.places[e.from].template)
}

fn is_later(l: &Literal) -> bool {
    matches!(l.1, Side::After | Side::OtherAfter)
}

fn is_other(l: &Literal) -> bool {
    matches!(l.1, Side::OtherBefore | Side::OtherAfter)
}
