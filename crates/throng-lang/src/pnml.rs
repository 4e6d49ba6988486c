//! Petri nets in PNML, and the model-checking contest's property files for them (reference 6).
//!
//! Only place/transition nets are read: a coloured, timed or inhibitor net is refused, not
//! approximated, and so is every unknown element: it may change the meaning of the net. Nodes are
//! identified by their `id`; pages are transparent; reference nodes stand for the nodes that they
//! refer to.

mod properties;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use properties::{Property, read_properties};

use crate::configuration::shortened;
use crate::patience::Patience;
use crate::source::{Diagnostic, LineIndex};
use crate::system::{Findings, Kind, System};
use crate::xml::{Element, tree};
use throng_model::problem::Initial;
use throng_model::table::{Names, Table};
use throng_model::{Bag, Bystanders, Edge, Local, Place, Shared, Step};

/// Reads a PNML file. There is a system unless there are errors; it has no targets.
pub fn read(text: &str) -> (Option<System>, Vec<Diagnostic>) {
    read_within(text, &Patience::default())
}

/// Like [`read`], but returns no system once the patience is over.
pub fn read_within(text: &str, patience: &Patience) -> (Option<System>, Vec<Diagnostic>) {
    let mut findings = Findings::within(patience);
    let system = match tree(text, &["toolspecific", "graphics", "name"], patience) {
        Ok(root) => net_of(&root, &mut findings).map(|net| lower(text, net, patience, &mut findings)),
        Err(d) => {
            findings.push(d);
            None
        }
    };
    let system = system.filter(|_| !findings.has_errors());
    (system, findings.finish("E599", "W599"))
}

/// Returns the only net of the file, if it is of the right kind.
fn net_of<'a>(root: &'a Element, findings: &mut Findings) -> Option<&'a Element> {
    if root.name == "hlpnml" {
        findings.push(
            Diagnostic::error("E505", root.span, "coloured nets are not supported")
                .hint("unfold the net first"),
        );
        return None;
    }
    let nets: Vec<&Element> = root.children.iter().filter(|c| c.name == "net").collect();
    let (Some(net), "pnml") = (nets.first(), root.name.as_str()) else {
        let d = Diagnostic::error("E504", root.span, "there is no net").label("expected `<pnml><net>`");
        findings.push(d);
        return None;
    };
    if let Some(second) = nets.get(1) {
        findings
            .push(Diagnostic::error("E504", second.span, "there is a second net").label("expected one net"));
    }
    let kind = net.attribute("type").unwrap_or("ptnet");
    let known = ["ptnet", "pt-net", "ptnetb", "p/t net", "p/t", "pntd/ptnet"];
    let ends_so = |k: &str| {
        let before =
            kind.to_lowercase().strip_suffix(k).map(|before| before.ends_with(char::is_alphanumeric));
        before == Some(false)
    };
    if !known.into_iter().any(ends_so) {
        let message = format!("nets of type `{}` are not supported", shortened(kind));
        findings.push(
            Diagnostic::error("E505", net.span, message)
                .label("expected a place/transition net")
                .hint("the type must be `http://www.pnml.org/version-2009/grammar/ptnet`"),
        );
        return None;
    }
    Some(net)
}

/// The node with an id.
#[derive(Clone, Copy)]
enum Node<'a> {
    Place(u64),
    Transition(usize),
    Reference(&'a str),
}

#[derive(Default)]
struct Parts<'a> {
    places: Vec<&'a Element>,
    transitions: Vec<&'a Element>,
    arcs: Vec<&'a Element>,
    nodes: FxHashMap<&'a str, Node<'a>>,
}

fn lower(text: &str, net: &Element, patience: &Patience, findings: &mut Findings) -> System {
    let mut parts = Parts::default();
    collect(net, &mut parts, findings);
    let mut arcs: Vec<(Bag, Bag)> = vec![Default::default(); parts.transitions.len()];
    for arc in parts.arcs.iter().take_while(|_| !patience.is_over()) {
        match ends(arc, &parts) {
            Ok((Node::Place(p), Node::Transition(t), weight)) => arcs[t].0.insert(Local(p), weight),
            Ok((Node::Transition(t), Node::Place(p), weight)) => arcs[t].1.insert(Local(p), weight),
            Ok(_) => {
                let message = "an arc must join a place and a transition";
                findings.push(Diagnostic::error("E508", arc.span, message));
            }
            Err(d) => findings.push(d),
        }
    }
    let id = |e: &Element| e.attribute("id").unwrap_or_default().to_string();
    let names = parts.places.iter().map(|p| id(p)).collect();
    let mut table = Table::new(Names::Numbers(1), Names::List(names));
    let lines = LineIndex::new(text);
    for (transition, (take, put)) in parts.transitions.iter().zip(arcs) {
        let step = Step {
            from: Shared(0),
            to: Shared(0),
            take,
            put,
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge: Edge(0),
            choice: 0,
        };
        let (line, column) = lines.position(transition.span.start);
        table.add(step, Vec::new(), Place { line, column, text: id(transition), ..Place::default() });
    }
    let mut threads = Bag::new();
    for (i, place) in parts.places.iter().enumerate() {
        match count(place, "initialMarking", 0) {
            Ok(n) => threads.insert(Local(i as u64), n),
            Err(d) => findings.push(d),
        }
    }
    System {
        table: Arc::new(table),
        initial: vec![Initial { shared: Shared(0), threads, any: Vec::new() }],
        initial_text: "the initial marking of the file".into(),
        targets: Vec::new(),
        kind: Kind::Pnml,
        complements: Vec::new(),
        meanings: Vec::new(),
    }
}

/// Gathers nodes and arcs of a net or page and of the pages inside.
fn collect<'a>(page: &'a Element, parts: &mut Parts<'a>, findings: &mut Findings) {
    for child in &page.children {
        let node = match child.name.as_str() {
            "page" => {
                collect(child, parts, findings);
                continue;
            }
            "arc" => {
                refuse_inside(child, &["inscription", "type", "arctype"], findings);
                parts.arcs.push(child);
                continue;
            }
            "place" => {
                refuse_inside(child, &["initialMarking"], findings);
                parts.places.push(child);
                Node::Place(parts.places.len() as u64 - 1)
            }
            "transition" => {
                refuse_inside(child, &[], findings);
                parts.transitions.push(child);
                Node::Transition(parts.transitions.len() - 1)
            }
            "referencePlace" | "referenceTransition" => {
                Node::Reference(child.attribute("ref").unwrap_or_default())
            }
            "declaration" => {
                findings.push(Diagnostic::error("E505", child.span, "coloured nets are not supported"));
                continue;
            }
            _ => {
                refuse(child, findings);
                continue;
            }
        };
        match child.attribute("id") {
            None => {
                findings.push(Diagnostic::error("E506", child.span, format!("this {} has no id", child.name)))
            }
            Some(id) => {
                if parts.nodes.insert(id, node).is_some() {
                    let message = format!("id `{}` is used twice", shortened(id));
                    findings.push(Diagnostic::error("E506", child.span, message));
                }
            }
        }
    }
}

/// Refuses the contents of a node, apart from elements that are read, at most once each; and
/// attributes that some tools write instead of elements.
fn refuse_inside(node: &Element, read: &[&str], findings: &mut Findings) {
    for (i, child) in node.children.iter().enumerate() {
        if !read.contains(&child.name.as_str()) {
            refuse(child, findings);
        } else if node.children[..i].iter().any(|other| other.name == child.name) {
            let message = format!("there is a second `{}`", child.name);
            findings.push(Diagnostic::error("E505", child.span, message).label("expected one"));
        }
    }
    let means_nothing = [("capacity", "0"), ("urgent", "false"), ("invariant", "< inf"), ("player", "0")];
    let known = ["initialMarking", "marking", "tokens", "weight", "inscription", "multiplicity", "priority"];
    for name in known.into_iter().chain(means_nothing.map(|known| known.0)) {
        if node.attribute(name).is_some_and(|value| !means_nothing.contains(&(name, value))) {
            let message = format!("the attribute `{name}` of `{}` is not supported", node.name);
            let why = Diagnostic::error("E505", node.span, message);
            findings.push(why.hint("markings and weights are elements: `<initialMarking><text>1</text></initialMarking>`, `<inscription>`"));
        }
    }
}

/// Refuses an unknown element, unless it is graphical.
fn refuse(element: &Element, findings: &mut Findings) {
    let what = match element.name.as_str() {
        "description" | "text" | "arcpath" | "orientation" | "labels" => return,
        "hlinitialMarking" | "condition" | "hlinscription" | "type" => "coloured nets are",
        "delay" | "interval" | "timeInterval" | "invariant" | "rate" | "timed" => "timed nets are",
        "capacity" => "places with a capacity are",
        "priority" => "priorities are",
        name => &format!("`{}` is", shortened(name)),
    };
    findings.push(Diagnostic::error("E505", element.span, format!("{what} not supported")));
}

/// Returns source, target and weight of an arc.
fn ends<'a>(arc: &Element, parts: &Parts<'a>) -> Result<(Node<'a>, Node<'a>, u32), Diagnostic> {
    let value = |e: &Element| e.attribute("value").map_or_else(|| e.text.trim().to_string(), str::to_string);
    let written = |e: &Element| e.child("text").map_or_else(|| value(e), |text| text.text.trim().to_string());
    let kinds = [arc.child("type"), arc.child("arctype")].into_iter().flatten().map(written);
    let kinds =
        kinds.chain(["type", "arctype"].into_iter().filter_map(|a| arc.attribute(a).map(str::to_string)));
    if let Some(kind) = kinds.into_iter().find(|kind| kind != "normal") {
        let message = format!("arcs of type `{}` are not supported", shortened(&kind));
        return Err(Diagnostic::error("E505", arc.span, message).label("expected a normal arc"));
    }
    let end = |which: &str| {
        let Some(mut id) = arc.attribute(which) else {
            return Err(Diagnostic::error("E507", arc.span, format!("this arc has no {which}")));
        };
        // A chain of references longer than the number of nodes is a cycle.
        for _ in 0..=parts.nodes.len() {
            match parts.nodes.get(id) {
                Some(Node::Reference(to)) => id = to,
                Some(node) => return Ok(*node),
                None => break,
            }
        }
        Err(Diagnostic::error("E507", arc.span, format!("there is no node `{}`", shortened(id))))
    };
    let weight = count(arc, "inscription", 1)?;
    if weight == 0 {
        return Err(Diagnostic::error("E509", arc.span, "the weight of an arc must be at least 1"));
    }
    Ok((end("source")?, end("target")?, weight))
}

/// Returns the number in `<name><text>n</text></name>`.
fn count(node: &Element, name: &str, default: u32) -> Result<u32, Diagnostic> {
    let Some(inner) = node.child(name) else { return Ok(default) };
    if let Some(odd) = inner.children.iter().enumerate().find(|(i, child)| *i > 0 || child.name != "text") {
        let message = format!("`{name}` is more than a number");
        return Err(Diagnostic::error("E505", odd.1.span, message).label("expected one `<text>`"));
    }
    let text = inner.child("text").map_or(inner.text.as_str(), |t| t.text.as_str()).trim();
    match text.parse::<u32>() {
        Ok(n) if n <= 1 << 30 => Ok(n),
        _ => Err(Diagnostic::error(
            "E509",
            inner.span,
            format!("`{}` is not a number of tokens", shortened(text)),
        )
        .label(format!("expected a number from 0 to {}", 1 << 30))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(inside: &str) -> String {
        format!(
            "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'>{inside}</net></pnml>"
        )
    }

    const SMALL: &str = "<page id='p'><place id='a'><name><text>x</text></name><initialMarking><text> 2 </text></initialMarking></place>
        <page id='q'><place id='b'/><transition id='t'/><referencePlace id='r' ref='a'/>
        <arc id='1' source='r' target='t'><inscription><text>2</text></inscription></arc></page>
        <arc id='2' source='t' target='b'><toolspecific><x/></toolspecific></arc></page>";

    #[test]
    fn pages_weights_and_references_are_read() {
        let (system, findings) = read(&net(SMALL));
        assert_eq!(findings, []);
        let system = system.unwrap();
        let step = &system.table.steps()[0];
        assert_eq!(step.take, [(Local(0), 2)].into_iter().collect());
        assert_eq!(step.put, Bag::one(Local(1)));
        assert_eq!(system.initial[0].threads, [(Local(0), 2)].into_iter().collect());
        assert_eq!(system.table.locals(), &Names::List(vec!["a".into(), "b".into()]));
        assert_eq!(throng_model::Describe::edge_place(&*system.table, step.edge).text, "t");
    }

    #[test]
    fn what_is_no_plain_net_is_refused() {
        let arc = |inside: &str| {
            net(&format!(
                "<place id='a'/><transition id='t'/><arc id='1' source='a' target='t'>{inside}</arc>"
            ))
        };
        for (text, message) in [
            ("<x/>".to_string(), "E504 there is no net"),
            ("<hlpnml><net/></hlpnml>".to_string(), "E505 coloured nets are not supported"),
            (format!("<pnml>{0}{0}</pnml>", "<net/>"), "E504 there is a second net"),
            (
                "<pnml><net type='http://x/symmetricnet'/></pnml>".into(),
                "E505 nets of type `http://x/symmetricnet` are not supported",
            ),
            (
                "<pnml><net type='http://x/timedptnet'/></pnml>".into(),
                "E505 nets of type `http://x/timedptnet` are not supported",
            ),
            (
                net("<place id='a'><initialMarking><text>0</text><text>1</text></initialMarking></place>"),
                "E505 `initialMarking` is more than a number",
            ),
            (net("<declaration/>"), "E505 coloured nets are not supported"),
            (net("<place id='a'><hlinitialMarking/></place>"), "E505 coloured nets are not supported"),
            (net("<transition id='a'><delay/></transition>"), "E505 timed nets are not supported"),
            (net("<place id='a'><capacity/></place>"), "E505 places with a capacity are not supported"),
            (arc("<type value='inhibitor'/>"), "E505 arcs of type `inhibitor` are not supported"),
            (arc("<arctype><text>reset</text></arctype>"), "E505 arcs of type `reset` are not supported"),
            (
                net("<place id='a'/><transition id='t'/><arc x:type='inhibitor' source='a' target='t'/>"),
                "E505 arcs of type `inhibitor` are not supported",
            ),
            (arc("<hlinscription/>"), "E505 coloured nets are not supported"),
            (
                arc("<inscription><text>1</text></inscription><inscription><text>2</text></inscription>"),
                "E505 there is a second `inscription`",
            ),
            (net("<inhibitorArc id='a'/>"), "E505 `inhibitorArc` is not supported"),
            (net("<transition id='a'><guard/></transition>"), "E505 `guard` is not supported"),
            (
                net("<place id='a' initialMarking='1'/>"),
                "E505 the attribute `initialMarking` of `place` is not supported",
            ),
            (
                net("<place id='a'/><transition id='t'/><arc source='a' target='t' weight='3'/>"),
                "E505 the attribute `weight` of `arc` is not supported",
            ),
            (
                arc("<inscription><text>0</text></inscription>"),
                "E509 the weight of an arc must be at least 1",
            ),
            (arc("<inscription><text>x</text></inscription>"), "E509 `x` is not a number of tokens"),
            (net("<place/>"), "E506 this place has no id"),
            (net("<place id='a'/><transition id='a'/>"), "E506 id `a` is used twice"),
            (net("<place id='a'/><arc source='a' target='z'/>"), "E507 there is no node `z`"),
            (net("<place id='a'/><arc source='a'/>"), "E507 this arc has no target"),
            (
                net("<referencePlace id='a' ref='a'/><arc source='a' target='a'/>"),
                "E507 there is no node `a`",
            ),
            (
                net("<place id='a'/><place id='b'/><arc source='a' target='b'/>"),
                "E508 an arc must join a place and a transition",
            ),
            (
                net("<place id='a'><initialMarking><text>-1</text></initialMarking></place>"),
                "E509 `-1` is not a number of tokens",
            ),
        ] {
            let (system, findings) = read(&text);
            assert!(system.is_none(), "{text}");
            assert_eq!(
                findings.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>(),
                [message]
            );
        }
    }
}
