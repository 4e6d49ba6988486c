//! What is wrong with a failing execution, and which orders would rule it out.

use crate::axioms::{Judged, judge};
use crate::graph::{Event, Graph, Id};
use crate::order::Order;
use crate::rules::{Kind, Location};
use crate::search::{Failure, strengthened};

/// A read that sequential consistency rules out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outdated {
    /// The read.
    pub reader: Id,
    /// The write that it reads from.
    pub from: Id,
    /// A later write, which comes before the read.
    pub although: Id,
}

/// The reads of a graph that sequential consistency rules out.
pub fn outdated(graph: &Graph) -> Vec<Outdated> {
    let found = Judged::new(graph).map(|judged| judged.outdated()).unwrap_or_default();
    found.into_iter().map(|(reader, from, although)| Outdated { reader, from, although }).collect()
}

/// A place in the program, and the order that it needs.
pub type Repair = (u32, Order);

/// The fewest places, at most two, whose orders rule an execution out if they are made stronger;
/// none if there are no such places. Accesses of `fixed` locations stay as they are.
pub fn repair(graph: &Graph, failure: &Failure, fixed: &dyn Fn(Location) -> bool) -> Vec<Repair> {
    let mut weak: Vec<Repair> = Vec::new();
    let open = |event: &Event| event.order != Order::Plain && (!event.is_access() || !fixed(event.location));
    for (_, event) in graph.events().filter(|(_, event)| open(event)) {
        let wanted = match event.kind {
            Kind::Load => Order::Acquire,
            Kind::Store => Order::Release,
            Kind::Update | Kind::Fence => Order::AcqRel,
        };
        let needs = (event.site, event.order.join(wanted));
        if event.order != needs.1 && !weak.contains(&needs) {
            weak.push(needs);
        }
    }
    let strong: Vec<Repair> = weak
        .iter()
        .copied()
        .chain(graph.events().filter(|(_, e)| open(e)).map(|(_, e)| (e.site, Order::SeqCst)))
        .collect();
    for candidates in [&weak, &strong] {
        if let Some(&one) = candidates.iter().find(|one| rules_out(graph, failure, &[**one])) {
            return vec![one];
        }
    }
    let pairs = |candidates: &[Repair]| {
        let all = candidates.iter().enumerate();
        let pairs = all.flat_map(|(i, &a)| candidates[i + 1..].iter().map(move |&b| [a, b])).collect();
        let pairs: Vec<[Repair; 2]> = pairs;
        pairs.into_iter().find(|[a, b]| a.0 != b.0 && rules_out(graph, failure, &[*a, *b]))
    };
    pairs(&weak).or_else(|| pairs(&strong)).map_or_else(Vec::new, Vec::from)
}

fn rules_out(graph: &Graph, failure: &Failure, repairs: &[Repair]) -> bool {
    let repaired =
        repairs.iter().fold(graph.clone(), |graph, &(site, order)| strengthened(&graph, site, order));
    judge(&repaired).is_none_or(|judgement| match failure {
        Failure::Race(..) => judgement.race.is_none(),
        Failure::Assertion(..) => false,
    })
}
