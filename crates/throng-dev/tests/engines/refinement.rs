//! Refinement of machines: random programs and machines against a search that shares nothing with
//! the product but the parser, and certificates tried on machines that were changed.

use std::collections::HashSet;

use throng::{Format, Input, Job, Limits, RefinesOutcome, RefinesVerdict};
use throng_check::certificate::refinement::RefinementDocument;
use throng_check::certificate::write::write;
use throng_dev::interpreter::refinement::Plain;
use throng_dev::interpreter::{Naive, Question};
use throng_dev::programs::{self, Knobs};
use throng_dev::{Rng, naive};
use throng_lang::bp::parser;
use throng_lang::load;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::{Bag, Config, Local, Shared};

const LOCALS: usize = 2;

/// A machine and its text.
#[derive(Clone)]
struct Random {
    plain: Plain,
    text: String,
}

impl Random {
    /// Shared states for parts of the values of the variables, and each edge with this chance.
    fn new(rng: &mut Rng, variables: &[String], chance: u64) -> Random {
        let states = 1 + rng.index(3);
        let mut conditions = vec![Vec::new(); states];
        for values in 0..1usize << variables.len() {
            let literal = |(i, name): (usize, &String)| {
                format!("{}{name}", if values >> i & 1 == 1 { "" } else { "!" })
            };
            let cube: Vec<String> = variables.iter().enumerate().map(literal).collect();
            // Most programs start with all variables 0; now and then, values mean nothing.
            if values == 0 || !rng.one_in(12) {
                conditions[if values == 0 { 0 } else { rng.index(states) }].push(cube.join(" & "));
            }
        }
        let conditions = conditions.into_iter().map(|cubes| match cubes[..] {
            [] => "0".to_string(),
            _ => format!("({})", cubes.join(") | (")),
        });
        let mut edges = Vec::new();
        for from in (0..states).flat_map(|g| (0..LOCALS).map(move |l| (g, l))) {
            for to in (0..states).flat_map(|g| (0..LOCALS).map(move |l| (g, l))) {
                if from != to && rng.chance(chance) {
                    edges.push((from.0, from.1, to.0, to.1));
                }
            }
        }
        Random::of(conditions.collect(), edges)
    }

    fn of(conditions: Vec<String>, edges: Vec<(usize, usize, usize, usize)>) -> Random {
        let names =
            |letter: &str, n: usize| (0..n).map(|i| format!("{letter}{i}")).collect::<Vec<_>>().join(" ");
        let mut text =
            format!("shared {}\nlocal {}\ninit s0 / l0\n", names("s", conditions.len()), names("l", LOCALS));
        for (i, condition) in conditions.iter().enumerate() {
            text.push_str(&format!("means s{i} {condition}\n"));
        }
        for (g, l, h, m) in &edges {
            text.push_str(&format!("s{g} l{l} -> s{h} l{m}\n"));
        }
        let mut plain = Plain { conditions, edges, reachable: HashSet::new() };
        plain.reachable = reachable(&text, plain.conditions.len());
        Random { plain, text }
    }

    /// The same with many edges more, or with many less.
    fn changed(&self, rng: &mut Rng, more: bool) -> Random {
        let states = self.plain.conditions.len();
        let mut edges = self.plain.edges.clone();
        edges.retain(|_| more || rng.chance(50));
        for from in (0..states).flat_map(|g| (0..LOCALS).map(move |l| (g, l))) {
            for to in (0..states).flat_map(|g| (0..LOCALS).map(move |l| (g, l))) {
                let edge = (from.0, from.1, to.0, to.1);
                if more && from != to && !edges.contains(&edge) && rng.chance(70) {
                    edges.push(edge);
                }
            }
        }
        Random::of(self.plain.conditions.clone(), edges)
    }

    fn input(&self) -> Input {
        Input::from_text(&self.text, Format::Ntts).unwrap_or_else(|why| panic!("{why}\n{}", self.text))
    }
}

/// What seven threads reach. Where more threads reached more, the answers below would differ.
fn reachable(text: &str, states: usize) -> HashSet<(usize, usize)> {
    let input = Input::from_text(text, Format::Ntts).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let load::Input::System(system) = &input.loaded().expect("a system").input else {
        unreachable!("a system")
    };
    let all: Vec<(usize, usize)> = (0..states).flat_map(|g| (0..LOCALS).map(move |l| (g, l))).collect();
    let target = |&(g, l): &(usize, usize)| {
        Target::covering("", vec![Config::new(Shared(g as u64), Bag::one(Local(l as u64)))])
    };
    let targets = all.iter().map(target).collect();
    let problem = Problem { targets, ..system.problem(Bound::Any) };
    let found = naive(&problem, 7);
    all.into_iter().zip(found).filter_map(|(state, found)| found.map(|_| state)).collect()
}

fn bytes(document: &RefinementDocument) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(document, &mut bytes).expect("writable");
    bytes
}

fn is_certified(program: &Input, machine: &Random, document: &RefinementDocument) -> bool {
    let job = Job::new(program);
    job.certify_refinement(&machine.input(), &[], &bytes(document), &Limits::none()).is_ok()
}

/// Everything that the certificate can lose. What is left may not prove the opposite, and a pair
/// that is needed is missed.
fn tampered(document: &RefinementDocument) -> Vec<RefinementDocument> {
    let mut all = Vec::new();
    let mut change = |change: &dyn Fn(&mut RefinementDocument)| {
        let mut other = document.clone();
        change(&mut other);
        all.push(other);
    };
    for i in 0..document.related.len() {
        change(&|d| drop(d.related.remove(i)));
        change(&|d| d.related[i].machine = vec!["l0".into()]);
        change(&|d| d.related[i].machine = vec!["l1".into()]);
        change(&|d| d.related[i].machine.clear());
    }
    if let Some(life) = &document.run {
        for i in 0..life.moves.len() {
            change(&|d| {
                if let Some(life) = &mut d.run {
                    life.moves.remove(i);
                }
            });
        }
    }
    change(&|d| d.thread_states = None);
    all
}

#[test]
fn random_programs_and_machines_agree_with_a_naive_search() {
    let (mut refined, mut deviating, mut escaped, mut refused) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let knobs =
            Knobs { spawn: false, wake: false, passive: false, blocking: false, ..Knobs::random(&mut rng) };
        let text = programs::program(&mut rng, &Knobs { shared: 2, locals: knobs.locals.min(1), ..knobs });
        let (tree, _) = parser::parse(&text);
        let shared = tree.globals.iter().filter(|d| !d.thread_local).flat_map(|d| &d.variables);
        let names: Vec<String> = shared.map(|v| v.name.name.clone()).collect();
        let chance = [60, 90, 100][rng.index(3)];
        let machine = Random::new(&mut rng, &names, chance);
        let searcher = Naive::new(&text, &tree);
        let Some(expected) = searcher.refines(&machine.plain, 20_000) else { continue };
        let program = Input::from_text(&text, Format::Bp).expect("a program");
        let found = Job::new(&program).refines(&machine.input(), &[], &Limits::none());
        let RefinesOutcome { verdict, document, .. } =
            found.unwrap_or_else(|why| panic!("{seed}: {why}\n{text}\n{}", machine.text));
        let document = document.unwrap_or_else(|| panic!("{seed}: {verdict:?}\n{text}\n{}", machine.text));
        let is = matches!(verdict, RefinesVerdict::Refines { .. });
        assert_eq!(is, expected, "{seed}: {verdict:?}\n{text}\n{}", machine.text);
        assert!(is_certified(&program, &machine, &document), "{seed}");
        if is {
            refined += 1;
            let question = Question { bound: 2, initial: None, keep_ended: false, limit: 20_000 };
            if let Some(escapes) = searcher.escapes(&machine.plain, &question, 2) {
                assert!(!escapes, "{seed}: two threads leave the machine\n{text}\n{}", machine.text);
                escaped += 1;
            }
        } else {
            deviating += 1;
        }
        for _ in 0..3 {
            let other = machine.changed(&mut rng, !is);
            if searcher.refines(&other.plain, 20_000) == Some(!is) {
                assert!(!is_certified(&program, &other, &document), "{seed}\n{text}\n{}", other.text);
                refused += 1;
            }
        }
    }
    assert!(
        refined > 40 && deviating > 40 && escaped > 20 && refused > 5,
        "{refined} {deviating} {escaped} {refused}"
    );
}

const LOCK: &str = "shared free held\nlocal l0 l1\ninit free / l0\nmeans free !lock\nmeans held lock\n\
                    free l0 -> held l1\nheld l1 -> free l0\n";

fn lock(body: &str) -> Input {
    let text = format!("decl lock := 0; void main() begin while * do {body} od end");
    Input::from_text(&text, Format::Bp).expect("a program")
}

fn outcome(program: &Input) -> RefinesOutcome {
    let machine = Input::from_text(LOCK, Format::Ntts).expect("a machine");
    Job::new(program).refines(&machine, &[], &Limits::none()).expect("an outcome")
}

#[test]
fn a_certificate_that_lost_something_is_refused() {
    let machine = Random {
        plain: Plain { conditions: Vec::new(), edges: Vec::new(), reachable: HashSet::new() },
        text: LOCK.into(),
    };
    for body in ["lock := 1 constrain !lock; lock := 0;", "assume !lock; lock := 1; lock := 0;"] {
        let program = lock(body);
        let document = outcome(&program).document.expect("evidence");
        assert!(is_certified(&program, &machine, &document));
        let all = tampered(&document);
        assert!(all.len() > 3);
        for other in all.iter().filter(|other| bytes(other) != bytes(&document)) {
            assert!(!is_certified(&program, &machine, other), "{body}\n{other:#?}");
        }
    }
}

#[test]
fn wakes_are_steps_of_others() {
    let program = lock("lock := 1 constrain !lock; lock := 0; wait;");
    let found = outcome(&program);
    assert!(found.is_refinement(), "{}", found.text());
    // It releases what another thread may hold by then.
    let program = lock("signal; lock := 1 constrain !lock; lock := 0; wait; lock := 0;");
    let found = outcome(&program);
    assert!(!found.is_refinement(), "{}", found.text());
    assert!(found.text().contains("others wake it"), "{}", found.text());
}

#[test]
fn what_a_machine_cannot_specify_is_refused() {
    let machine = Input::from_text(LOCK, Format::Ntts).expect("a machine");
    for (text, why) in [
        ("decl lock := 0; void main() begin start_thread L; L: skip; end", "starts threads"),
        ("decl lock := 0; void main() begin decl x := 0; x$ := 1; end", "other threads"),
        ("decl other := 0; void main() begin skip; end", "lock"),
    ] {
        let program = Input::from_text(text, Format::Bp).expect("a program");
        let refused = Job::new(&program).refines(&machine, &[], &Limits::none()).expect_err("refused");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let program = lock("skip;");
    for (text, why) in [
        (LOCK.replace("means held lock\n", "means held 1\n"), "same values"),
        (LOCK.replace("free l0 -> held l1", "free l0 +> held l1"), "edges"),
        (LOCK.replace("means", "# means"), "means"),
        (LOCK.replace("/ l0", "| l0"), "say in which one"),
    ] {
        let machine = Input::from_text(&text, Format::Ntts).expect("a machine");
        let refused = Job::new(&program).refines(&machine, &[], &Limits::none()).expect_err("refused");
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn a_meaning_is_a_state_and_a_condition_and_is_given_once() {
    for (line, code) in [("means free lock", "E316"), ("means free", "E303"), ("means other lock", "E312")] {
        let refused = Input::from_text(&format!("{LOCK}{line}\n"), Format::Ntts).err().expect("refused");
        assert!(refused.to_string().contains(code), "{line}: {refused}");
    }
}
