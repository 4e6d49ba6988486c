//! Proofs with tallies, written by hand: that they stand, and that none stands with another place
//! counted, or one not counted.

use throng_c::Options;
use throng_goto::Query;
use throng_goto::program::{BinOp, Expr, Int};
use throng_goto_check::abstraction::facts::{Facts, check};
use throng_goto_check::abstraction::graph::{Graph, Reading, To};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::regions::reachable;
use throng_goto_check::abstraction::tallies::Tally;
use throng_lang::source::Source;
use throng_model::limits::Limits;

const HEAD: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *t, const void *a, void *(*f)(void *), void *arg);
void reach_error(void);
void __VERIFIER_assume(int c);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
int x, y;
";

/// Threads that count themselves in `x` while they look at it.
const COUNTED: &str = "void *thread(void *arg) {
  __VERIFIER_atomic_begin(); x = x + 1; __VERIFIER_atomic_end();
  y = 1;
  if (x < 1) reach_error();
  y = 2;
  __VERIFIER_atomic_begin(); x = x - 1; __VERIFIER_atomic_end();
  y = 3;
  return 0;
}
int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, thread, 0); } }
";

fn load(text: &str) -> Query {
    let text = format!("{HEAD}{text}");
    let loaded = throng_c::read(Source::new("test.c", &text), text.clone(), &Options::default());
    loaded.map_err(|why| why.diagnostics).expect("this is C").query
}

fn graph(query: &Query) -> Graph {
    let reading = Reading { trusting: false, summarising: true, counting: false };
    Graph::of(&query.program, reading).expect("there is a graph")
}

/// The places between the step that makes `x` larger and the one that makes it smaller.
fn counted(graph: &Graph) -> Vec<usize> {
    let x = graph.variables.list.iter().position(|v| v.name == "x").expect("x") as u32;
    let writes: Vec<usize> =
        (0..graph.edges.len()).filter(|&n| graph.edges[n].updates.iter().any(|u| u.0 == x)).collect();
    let [more, less] = writes[..] else { panic!("x is written twice") };
    let To::Place(first) = graph.edges[more].to else { panic!("it goes on") };
    let inside = reachable(graph, vec![first], &|e| e.from != graph.edges[less].from);
    (0..graph.places.len()).filter(|&p| inside[p]).collect()
}

/// Returns what is wrong with the proof by `x == start + #` that `x < 1` does not happen.
fn checked(
    query: &Query,
    graph: &Graph,
    at: Vec<usize>,
    ended: Vec<usize>,
    start: i64,
) -> Result<(), String> {
    let tally = Tally { name: "#".into(), at, ended };
    let graph = graph.clone().with_tallies(&query.program, &[tally])?;
    let wide = Int::new(8, true);
    let id = |name: &str| {
        let found = graph.variables.list.iter().position(|v| v.name == name);
        Expr::Reg(found.expect("a variable") as u32)
    };
    let plus = Expr::Bin(BinOp::Add, Box::new(id("#")), Box::new(Expr::Const(start)), wide);
    let same = Expr::Bin(BinOp::Eq, Box::new(id("x")), Box::new(plus), wide);
    let mut facts = Facts::none(&graph);
    facts.predicates = vec![Predicate::of(same, &graph.variables).expect("a predicate")];
    facts.at = vec![vec![0]; graph.places.len()];
    let fails = |n: &usize| matches!(graph.edges[*n].to, To::Fail(..));
    facts.impossible = (0..graph.edges.len()).filter(fails).collect();
    assert!(!facts.impossible.is_empty());
    match check(&query.program, &graph, &facts, &Limits::none()) {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(why),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn a_counter_is_the_number_of_threads_at_places() {
    let query = load(COUNTED);
    let graph = graph(&query);
    let at = counted(&graph);
    assert!(at.len() > 2 && at.len() < graph.places.len());
    assert_eq!(checked(&query, &graph, at.clone(), vec![], 0), Ok(()));
    // Another place, one place less, or what is counted elsewhere: none of these is inductive.
    for p in 0..graph.places.len() {
        let mut other = at.clone();
        match other.iter().position(|&q| q == p) {
            Some(k) => _ = other.remove(k),
            None => other.push(p),
        }
        assert!(checked(&query, &graph, other, vec![], 0).is_err(), "place {p}");
    }
    assert!(checked(&query, &graph, at.clone(), vec![], 1).is_err(), "another start");
    assert!(checked(&query, &graph, vec![], vec![], 0).is_err(), "nothing is counted");
    let ends: Vec<usize> = (0..graph.edges.len()).filter(|&n| graph.edges[n].to == To::End).collect();
    assert!(!ends.is_empty());
    for n in ends {
        // Threads that have ended are not in `x`.
        assert!(checked(&query, &graph, at.clone(), vec![n], 0).is_err(), "end {n}");
    }
    assert!(checked(&query, &graph, vec![graph.places.len()], vec![], 0).is_err(), "no such place");
    assert!(checked(&query, &graph, at.clone(), vec![0], 0).is_err(), "no thread ends there");
    assert!(checked(&query, &graph, at, vec![graph.edges.len()], 0).is_err(), "no such path");
}

#[test]
fn programs_that_count_otherwise_are_refused() {
    for (part, instead) in [
        ("x = x + 1", "x = x + 2"),
        ("x = x - 1", "x = 0"),
        ("x = x - 1", "x = x"),
        ("x < 1", "x < 2"),
        ("y = 3;", "__VERIFIER_atomic_begin(); x = y; __VERIFIER_atomic_end();"),
        // Another step in between.
        ("__VERIFIER_atomic_begin(); x = x - 1; __VERIFIER_atomic_end();", "y = x; x = y - 1;"),
    ] {
        let query = load(&COUNTED.replacen(part, instead, 1));
        let graph = graph(&query);
        let good = load(COUNTED);
        // No set of places that was right for the program before, nor the one found here, is now.
        let sets = [counted(&self::graph(&good))];
        for at in sets {
            assert!(checked(&query, &graph, at, vec![], 0).is_err(), "{instead}");
        }
    }
}

#[test]
fn any_number_of_threads_at_the_start_is_not_counted() {
    let mut query = load(COUNTED);
    let graph = graph(&query);
    let entry = graph.entries[0].0;
    assert!(graph.clone().with_tallies(&query.program, &[tally(entry)]).is_ok());
    let mut program = (*query.program).clone();
    program.start = throng_goto::program::Start::Any(vec![0]);
    query.program = std::sync::Arc::new(program);
    assert!(graph.with_tallies(&query.program, &[tally(entry)]).is_err());
}

fn tally(place: usize) -> Tally {
    Tally { name: "#".into(), at: vec![place], ended: Vec::new() }
}
