//! Certificates of proofs by abstraction, written by hand: that they stand, and that none stands
//! with one thing changed that matters. No prover is needed for that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use throng_c::Options;
use throng_check::certificate::write;
use throng_check::certify::Fault;
use throng_goto::Query;
use throng_goto::program::{BinOp, Expr, Int};
use throng_goto_check::abstraction::boolean::Boolean;
use throng_goto_check::abstraction::certificate::{Document, Evidence, check, document, read};
use throng_goto_check::abstraction::cube::{Cube, Side, edge_count};
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, Reading, To};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::program::build;
use throng_lang::source::Source;
use throng_model::limits::Limits;
use throng_model::verdict::{Certificate, Verdict};
use throng_model::{Bag, Config, Local, OMEGA, Shared};

const PROGRAM: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *t, const void *a, void *(*f)(void *), void *arg);
void reach_error(void);
int x, y;
void *thread(void *arg) {
  int mine = 1;
  x = mine;
  if (x > 1) reach_error();
  y = x;
  return 0;
}
int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, thread, 0); } }
";

fn load() -> Query {
    let loaded = throng_c::read(Source::new("test.c", PROGRAM), PROGRAM.into(), &Options::default());
    loaded.map_err(|why| why.diagnostics).expect("this is C").query
}

fn graph(query: &Query) -> Graph {
    let reading = Reading { trusting: false, summarising: true, counting: false };
    Graph::of(&query.program, reading).expect("there is a graph")
}

fn compare(graph: &Graph, op: BinOp, name: &str, value: i64) -> Predicate {
    let id = graph.variables.list.iter().position(|v| v.name == name).expect("a variable") as u32;
    let (x, value) = (Box::new(Expr::Reg(id)), Box::new(Expr::Const(value)));
    Predicate::of(Expr::Bin(op, x, value, Int::new(8, true)), &graph.variables).expect("a predicate")
}

/// The edges into a violation.
fn failing(graph: &Graph) -> Vec<usize> {
    (0..graph.edges.len()).filter(|&n| matches!(graph.edges[n].to, To::Fail(..))).collect()
}

/// A certificate of the abstract program: for each shared state, any number of threads in each of
/// the local states that some thread may have then.
fn all_states(query: &Query, graph: &Graph, list: &[Predicate], never: &[Vec<Cube>]) -> serde_json::Value {
    let boolean = Boolean::of(build(&query.program, graph, list, never)).expect("it is well formed");
    let problem = &boolean.problem;
    let mut found: BTreeMap<Shared, BTreeSet<Local>> = BTreeMap::new();
    for start in &problem.initial {
        found.entry(start.shared).or_default().extend(start.threads.entries().iter().map(|e| e.0));
    }
    loop {
        let before = found.clone();
        for (&s, locals) in &before {
            let mut steps = Vec::new();
            locals.iter().for_each(|&l| problem.model.post(s, l, &mut steps).expect("complete"));
            for step in steps {
                let then = found.entry(step.to).or_default();
                then.extend(locals);
                then.extend(step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0));
            }
        }
        if before == found {
            break;
        }
    }
    let config = |(s, locals): (Shared, BTreeSet<Local>)| {
        let mut threads = Bag::new();
        locals.iter().for_each(|&l| threads.insert(l, OMEGA));
        Config::new(s, threads)
    };
    let all = found.into_iter().map(config).collect();
    let verdicts = vec![Verdict::Safe(Certificate::Downward(Arc::new(all))); problem.targets.len()];
    let proof = write::document(&boolean.origin(), &verdicts).expect("it can be written");
    serde_json::to_value(&proof).expect("it is JSON")
}

fn certificate(
    query: &Query,
    graph: &Graph,
    list: Vec<Predicate>,
    never: Vec<Vec<Cube>>,
    facts: Facts,
) -> Document {
    let abstract_proof = all_states(query, graph, &list, &never);
    document(query, graph, &Evidence { predicates: list, never, abstract_proof, facts })
}

/// `x <= 1` at every place rules the violation out.
fn by_facts(query: &Query) -> Document {
    let graph = graph(query);
    let predicates = vec![compare(&graph, BinOp::Le, "x", 1)];
    let at = vec![vec![0]; graph.places.len()];
    let facts = Facts { predicates, at, apart: Vec::new(), impossible: failing(&graph) };
    let never = (0..edge_count(&graph)).map(|n| match facts.impossible.contains(&n) {
        true => vec![Vec::new()],
        false => Vec::new(),
    });
    let never = never.collect();
    certificate(query, &graph, Vec::new(), never, facts)
}

/// `x <= 1` as a predicate: it holds at the start and after each step that writes `x`, and no step
/// into a violation is made where it does.
fn by_predicates(query: &Query) -> Document {
    let graph = graph(query);
    let predicate = compare(&graph, BinOp::Le, "x", 1);
    let x = predicate.variables[0];
    let mut never = vec![Vec::new(); edge_count(&graph)];
    for (n, e) in graph.edges.iter().chain([&graph.initial]).enumerate() {
        if matches!(e.to, To::Fail(..)) {
            never[n].push(vec![(0, Side::Before, true)]);
        } else if e.updates.iter().any(|u| u.0 == x) {
            never[n].push(vec![(0, Side::After, false)]);
        }
    }
    let facts = Facts::none(&graph);
    certificate(query, &graph, vec![predicate], never, facts)
}

#[test]
fn certificates_by_facts_and_by_predicates_stand() {
    let query = load();
    let facts = check(&query, &by_facts(&query), &Limits::none()).expect("it stands");
    assert!(facts.facts > 0 && facts.predicates == 0);
    let predicates = check(&query, &by_predicates(&query), &Limits::none()).expect("it stands");
    assert!(predicates.facts > 2 && predicates.predicates == 1);
}

#[test]
fn a_certificate_survives_being_written_and_read() {
    let query = load();
    let bytes = serde_json::to_vec(&by_facts(&query)).expect("it is JSON");
    let again = read(&bytes).expect("it is a certificate");
    assert!(check(&query, &again, &Limits::none()).is_ok());
    let text = String::from_utf8(bytes).expect("it is text");
    for (part, instead) in [
        ("throng-c-certificate", "throng-certificate"),
        ("\"version\":2", "\"version\":1"),
        ("\"safe\":", "\"unsafe\":"),
    ] {
        assert!(text.contains(part), "{part}");
        let wrong = text.replacen(part, instead, 1);
        assert!(matches!(read(wrong.as_bytes()), Err(Fault::Unreadable(_))), "{instead}");
    }
}

/// What is changed, and how.
type Change<'a> = (&'a str, Box<dyn Fn(&mut Document) + 'a>);

fn refused(query: &Query, good: &Document, changes: Vec<Change<'_>>) {
    for (what, change) in changes {
        let mut changed = good.clone();
        change(&mut changed);
        let found = check(query, &changed, &Limits::none());
        assert!(matches!(found, Err(Fault::Invalid(_))), "{what}: {found:?}");
    }
}

#[test]
fn a_certificate_of_another_program_or_question_is_refused() {
    let query = load();
    let good = by_facts(&query);
    refused(
        &query,
        &good,
        vec![
            ("program", Box::new(|d| d.program.push('0'))),
            ("nothing safe", Box::new(|d| d.safe.clear())),
            ("another property", Box::new(|d| d.safe[0].push('x'))),
            ("one more property", Box::new(|d| d.safe.push("deadlock".into()))),
        ],
    );
}

#[test]
fn facts_about_places_are_proved_again() {
    let query = load();
    let (good, graph) = (by_facts(&query), graph(&query));
    let possible = (0..graph.edges.len()).find(|n| !good.facts.impossible.contains(n)).expect("an edge");
    let mut changes: Vec<Change<'_>> = vec![
        ("a place that does not exist", Box::new(|d| d.facts.at.push((1000, vec![0])))),
        ("a comparison that does not exist", Box::new(|d| d.facts.at[0].1.push(7))),
        ("no comparison", Box::new(|d| d.facts.predicates.clear())),
        ("a possible edge", Box::new(move |d| d.facts.impossible.push(possible))),
        ("an edge that does not exist", Box::new(|d| d.facts.impossible.push(100_000))),
        ("threads of entries are apart", Box::new(|d| d.facts.apart.push((0, 0, 0, 0)))),
        ("variables that are not of threads are apart", Box::new(|d| d.facts.apart.push((1, 1, 0, 0)))),
    ];
    for (op, value) in [(BinOp::Le, 0), (BinOp::Eq, 1), (BinOp::Eq, 0), (BinOp::Ne, 0), (BinOp::Lt, 0)] {
        let graph = &graph;
        let stated = certificate_of(&query, graph, compare(graph, op, "x", value));
        changes.push((
            "a comparison that does not hold",
            Box::new(move |d| d.facts.predicates = stated.clone()),
        ));
    }
    // Also where only one place claims less, the violation or another place is not covered.
    let needed: Vec<usize> =
        graph.edges.iter().filter(|e| matches!(e.to, To::Fail(..))).map(|e| e.from).collect();
    for place in needed {
        changes.push(("less where it is needed", Box::new(move |d| d.facts.at.retain(|f| f.0 != place))));
    }
    refused(&query, &good, changes);
}

/// A predicate as certificates state it.
fn certificate_of(
    query: &Query,
    graph: &Graph,
    predicate: Predicate,
) -> Vec<throng_goto_check::abstraction::certificate::Stated> {
    let facts = Facts { predicates: vec![predicate], ..Facts::none(graph) };
    let abstract_proof = serde_json::Value::Null;
    document(query, graph, &Evidence { predicates: vec![], never: vec![], abstract_proof, facts })
        .facts
        .predicates
}

#[test]
fn facts_about_edges_are_proved_again() {
    let query = load();
    let good = by_predicates(&query);
    let known: Vec<usize> = (0..good.never.len()).filter(|&n| !good.never[n].is_empty()).collect();
    for &n in &known {
        refused(
            &query,
            &good,
            vec![
                ("the opposite", Box::new(move |d| d.never[n][0][0].2 ^= true)),
                ("no literal", Box::new(move |d| d.never[n][0].clear())),
                ("a predicate that does not exist", Box::new(move |d| d.never[n][0][0].0 = 9)),
                ("dropped", Box::new(move |d| d.never[n].clear())),
            ],
        );
    }
    let free = (0..good.never.len()).find(|n| !known.contains(n)).expect("an edge without facts");
    refused(
        &query,
        &good,
        vec![
            ("one edge less", Box::new(|d| _ = d.never.pop())),
            ("one edge more", Box::new(|d| d.never.push(Vec::new()))),
            ("a step that is possible", Box::new(move |d| d.never[free].push(Vec::new()))),
            ("no predicate", Box::new(|d| d.predicates.clear())),
        ],
    );
}

#[test]
fn the_proof_of_the_abstract_program_is_checked() {
    let query = load();
    let (facts, predicates) = (by_facts(&query), by_predicates(&query));
    let mut swapped = facts.clone();
    swapped.proof = predicates.proof.clone();
    assert!(check(&query, &swapped, &Limits::none()).is_err(), "the proof of another abstraction");
    let mut none = facts.clone();
    none.proof = serde_json::Value::Null;
    assert!(check(&query, &none, &Limits::none()).is_err(), "no proof");
    // Each local state is needed: a thread comes there.
    assert!(check(&query, &predicates, &Limits::none()).is_ok());
    let count = predicates.proof["states"]["local"].as_array().expect("a list").len();
    let configurations = predicates.proof["evidence"][0].clone();
    assert!(count > 3, "{configurations}");
    for n in 0..count {
        let mut less = predicates.clone();
        remove_state(&mut less.proof["evidence"][0], n as u64);
        assert_ne!(less.proof["evidence"][0], configurations, "state {n} is in the evidence");
        assert!(check(&query, &less, &Limits::none()).is_err(), "without state {n}");
    }
}

/// Removes `[state, count]` from all lists.
fn remove_state(value: &mut serde_json::Value, state: u64) {
    if let Some(list) = value.as_array_mut() {
        let is_entry = |v: &serde_json::Value| {
            v.as_array().is_some_and(|pair| pair.len() == 2 && pair[0] == state && !pair[1].is_array())
        };
        list.retain(|v| !is_entry(v));
        list.iter_mut().for_each(|v| remove_state(v, state));
    } else if let Some(fields) = value.as_object_mut() {
        fields.values_mut().for_each(|v| remove_state(v, state));
    }
}
