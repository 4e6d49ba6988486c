use super::*;
use std::sync::Arc;
use throng_model::Predecessors;

use crate::system::Kind;
use crate::{configuration, ntts, pnml, spec, tts};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Initial, Target};
use throng_model::random::Random;
use throng_model::unfold::unfold;
use throng_model::{Bag, Bystanders, Config, Edge, Local, Model, Place, Shared, Step, semantics};

/// Returns whether some target can be covered from some initial configuration: naive backward
/// search, for any number of threads. `None` if it gets too large.
fn coverable(system: &System) -> Option<bool> {
    let model = &*system.table;
    assert_eq!(model.traits().blocking, None);
    let mut basis: Vec<Config> = Vec::new();
    let mut queue: Vec<Config> = system.targets.iter().flat_map(|t| t.configs.clone()).collect();
    while let Some(config) = queue.pop() {
        if basis.iter().any(|b| config.covers(b)) {
            continue;
        }
        basis.retain(|b| !b.covers(&config));
        let mut steps = Vec::new();
        model.pre_shared(config.shared, &mut steps).unwrap();
        for &(l, _) in config.threads.entries() {
            model.pre(config.shared, l, &mut steps).unwrap();
        }
        for step in &steps {
            semantics::unfire(model, &config, step, &mut queue).unwrap();
        }
        basis.push(config);
        if basis.len() > 3000 || queue.len() > 100_000 {
            return None;
        }
    }
    Some(basis.iter().any(|b| system.initial.iter().any(|i| i.omega().covers(b))))
}

/// Reads the output of a writer, with its own initial configuration and targets.
fn reread(written: &Written, format: Format) -> System {
    let (system, findings) = match format {
        Format::Tts => tts::read(&written.text),
        Format::Ntts => ntts::read(&written.text),
        Format::Spec => spec::read(&written.text, spec::Options::default()),
        Format::Pnml => pnml::read(&written.text),
        Format::Dot | Format::Bp => unreachable!("not read here"),
    };
    let errors: Vec<_> = findings.iter().filter(|d| d.is_error()).collect();
    let mut system = system.unwrap_or_else(|| panic!("{errors:?}\n{}", written.text));
    if let Some(initial) = &written.initial {
        let table = &system.table;
        system.initial = vec![configuration::parse_config(initial, table.shared(), table.locals()).unwrap()];
    }
    if let Some(companion) = &written.companion {
        let properties = pnml::read_properties(&companion.text, &system.table).unwrap();
        system.targets = properties.into_iter().map(|p| p.target.unwrap()).collect();
    }
    system
}

const READABLE: [Format; 4] = [Format::Tts, Format::Ntts, Format::Spec, Format::Pnml];

fn read_tts(text: &str, initial: &str) -> System {
    let (system, findings) = tts::read(text);
    assert_eq!(findings, []);
    let mut system = system.unwrap();
    let table = &system.table;
    system.initial = vec![configuration::parse_config(initial, table.shared(), table.locals()).unwrap()];
    system
}

fn with_target(system: &System, target: &str) -> System {
    let target = configuration::parse_target(target, system.table.shared(), system.table.locals()).unwrap();
    System { targets: vec![target], ..system.clone() }
}

#[test]
fn the_worked_example_keeps_its_answers_in_every_format() {
    let winner = read_tts("3 4\n0 0 +> 1 1\n1 0 -> 0 0\n0 1 -> 2 2  1 ~> 3\n", "0|0");
    for (target, expected) in [("2|2,3", true), ("2|1", false), ("2|2,2", false), ("2|", true)] {
        for initial in ["0|0", "0/0"] {
            let table = &winner.table;
            let initial = configuration::parse_config(initial, table.shared(), table.locals()).unwrap();
            let system = System { initial: vec![initial], ..with_target(&winner, target) };
            assert_eq!(coverable(&system), Some(expected), "{target}");
            for format in [Format::Tts, Format::Ntts, Format::Spec] {
                let written = write(&system, format).unwrap();
                assert_eq!(
                    coverable(&reread(&written, format)),
                    Some(expected),
                    "{target}\n{}",
                    written.text
                );
            }
            let unfolded = unfold(&system.problem(Bound::Any), &Limits::none()).unwrap();
            assert_eq!(coverable(&unfolded.into()), Some(expected));
        }
        assert!(write(&winner, Format::Pnml).unwrap_err().0.contains("line 4: `0 1 -> 2 2 1 ~> 3` moves"));
        let program = write(&winner, Format::Bp).unwrap().text;
        assert!(program.contains("l0$,l1$,l2$ := "), "{program}");
        assert!(program.contains("atomic_begin") && program.contains("assert(0)"), "{program}");
    }
}

#[test]
fn a_plain_system_is_written_as_it_was_read() {
    let text = "# initial 0/0\n3 4\n0 0 +> 1 1\n1 0 -> 0 0\n0 1 -> 2 2  1 ~> 2  1 ~> 3\n2 1 ~> 0 3\n# target 2|2,3\n2|2,3\n";
    let system = read_tts(text, "0/0");
    let written = write(&system, Format::Tts).unwrap();
    assert_eq!(written.text, text);
    assert_eq!((written.initial.as_deref(), written.notes.len()), (Some("0/0"), 0));
    let named = "shared s0 s1 s2\nlocal l0 l1 l2 l3\ninit s0 / l0\n# 2|2,3\ntarget s2 | l2, l3\ns0 l0 +> s1 l1\ns1 l0 -> s0 l0\n\
        s0 l1 -> s2 l2  l1 ~> l2  l1 ~> l3\ns2 l1 ~> s0 l3\n";
    assert_eq!(write(&system, Format::Ntts).unwrap().text, named);
    assert!(write(&system, Format::Spec).unwrap_err().0.contains("choose where it goes"));
    assert!(write(&system, Format::Dot).unwrap().text.starts_with("digraph"));
}

#[test]
fn a_net_keeps_its_answer_as_threads() {
    let text = "vars x y z rules x>=2, y>=1 -> x'=x-1, y'=y-1, z'=z+3; z>=2 -> z'=z-2, x'=x+1; -> y'=y+1; x>=1 -> z'=z+y, y'=0;\
        init x=2, y=0, z=0 target z>=4";
    let (system, findings) = spec::read(text, spec::Options::default());
    assert_eq!(findings, []);
    let system = system.unwrap();
    assert_eq!(coverable(&system), Some(true));
    let same = write(&system, Format::Spec).unwrap();
    assert!(same.text.contains("x>=2, y>=1 -> x'=x-1, y'=y-1, z'=z+3;"), "{}", same.text);
    for (target, expected) in [("|z,z,z,z", true), ("|x,x,x", true), ("|y,y,x,x", true)] {
        let system = with_target(&system, target);
        assert_eq!(coverable(&system), Some(expected), "{target}");
        for format in [Format::Tts, Format::Ntts, Format::Spec] {
            let written = write(&system, format).unwrap();
            assert_eq!(coverable(&reread(&written, format)), Some(expected), "{target}\n{}", written.text);
        }
    }
}

#[test]
fn a_net_is_a_program_with_an_assertion() {
    let text = "vars x y rules x>=2 -> x'=x-2, y'=y+1; init x>=1, y=0 target y>=2, x>=1";
    let (system, _) = spec::read(text, spec::Options::default());
    let written = write(&system.unwrap(), Format::Bp).unwrap().text;
    for part in ["decl b0 := ", "void main() begin", "start_thread goto at_x;", ": assert(0);", "constrain"] {
        assert!(written.contains(part), "{part} is missing in\n{written}");
    }
    let empty = read_tts("1 1\n0|\n", "0/0");
    assert!(
        write(&empty, Format::Bp).unwrap().text.contains("start_thread"),
        "so that one thread is the default"
    );
}

#[test]
fn a_target_that_nothing_meets_is_an_assertion_that_nothing_reaches() {
    let transfers = read_tts("2 3\n0 0 -> 1 1 0 ~> 2\n0 1 -> 0 0\n", "0/0");
    let never = Target::covering("never", Vec::new());
    let written = write(&System { targets: vec![never], ..transfers }, Format::Bp).unwrap().text;
    assert!(written.contains("bad: assume(0);\n    assert(0);"), "{written}");
}

#[test]
fn a_state_that_is_named_twice_is_open_once() {
    let mut system = with_target(&read_tts("1 2\n0 0 -> 0 1\n", "0/0"), "0|1,1");
    system.initial[0].any = vec![Local(0), Local(0)];
    for format in READABLE {
        let written = write(&system, format).unwrap();
        assert_eq!(coverable(&reread(&written, format)), Some(true), "{}", written.text);
    }
}

#[test]
fn zero_tests_go_into_specs_only() {
    let text = "vars x y rules x=0, y=2 -> y'=y-1; x>=1 -> x'=0; init x=1, y=2 target y>=1";
    let (system, _) = spec::read(text, spec::Options::default());
    let system = system.unwrap();
    let written = write(&system, Format::Spec).unwrap();
    assert!(
        written.text.contains("y=2, x=0 -> y'=y-1;") && written.text.contains("x>=1 -> x'=0;"),
        "{}",
        written.text
    );
    for format in [Format::Tts, Format::Ntts] {
        assert!(write(&system, format).unwrap_err().0.contains("needs that some place is empty"));
    }
    assert!(write(&system, Format::Pnml).is_err() && write(&system, Format::Bp).is_err());
    assert!(write(&system, Format::Dot).unwrap().text.contains("odot"));
}

#[test]
fn what_needs_too_much_is_refused() {
    let text = "vars x rules x>=100000000 -> x'=0; init x=1 target x>=1";
    let (system, _) = spec::read(text, spec::Options::default());
    assert!(write(&system.unwrap(), Format::Tts).unwrap_err().0.contains("one by one"));
    let text = "vars x rules init x=100000000 target x>=1";
    let (system, _) = spec::read(text, spec::Options::default());
    assert!(write(&system.unwrap(), Format::Tts).unwrap_err().0.contains("one by one"));
}

#[test]
fn names_become_unique_identifiers() {
    let names = Names::List(["x y", "x-y", "", "vars", "é", "x_y_2"].map(String::from).to_vec());
    let mut taken = FxHashSet::default();
    taken.insert("vars".to_string());
    let found: Vec<String> = identifiers((0..6).collect(), &names, "l", &mut taken).into_values().collect();
    assert_eq!(found, ["x_y", "x_y_2", "l", "vars_2", "l_", "x_y_2_2"]);
}

/// A generator of systems; the same in every run.
struct Generator(Random);

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    fn bag(&mut self, most: u64, locals: u64) -> Bag {
        let n = self.below(most + 1);
        (0..n).map(|_| Local(self.below(locals))).collect()
    }

    fn system(&mut self) -> System {
        let (shared, locals) = (1 + self.below(3), 2 + self.below(3));
        let mut table = Table::new(Names::Numbers(shared), Names::Numbers(locals));
        for _ in 0..2 + self.below(6) {
            let plain = self.below(2) == 0;
            let mut step = Step {
                from: Shared(self.below(shared)),
                to: Shared(self.below(shared)),
                take: Bag::one(Local(self.below(locals))),
                put: Bag::one(Local(self.below(locals))),
                spawn: Bag::new(),
                others: Bystanders::Stay,
                edge: Edge(0),
                choice: 0,
            };
            if !plain {
                step.take = self.bag(2, locals);
                step.put = self.bag(3, locals);
                step.spawn = self.bag(1, locals);
            }
            let mut fates = Vec::new();
            for l in (0..locals).map(Local) {
                match self.below(12) {
                    0 => fates.push((l, Fate::Vanish)),
                    1 => fates.push((l, Fate::To(Local(self.below(locals))))),
                    2 => fates.extend([(l, Fate::To(l)), (l, Fate::To(Local(self.below(locals))))]),
                    _ => {}
                }
            }
            table.add(step, fates, Place::default());
        }
        let initial = (0..1 + self.below(2))
            .map(|_| Initial {
                shared: Shared(self.below(shared)),
                threads: self.bag(2, locals),
                any: (0..self.below(2)).map(|_| Local(self.below(locals))).collect(),
            })
            .collect();
        let configs = (0..1 + self.below(2))
            .map(|_| Config::new(Shared(self.below(shared)), self.bag(3, locals)))
            .collect();
        System {
            table: Arc::new(table),
            initial,
            initial_text: String::new(),
            targets: vec![Target::covering("t", configs)],
            kind: Kind::Tts,
            complements: Vec::new(),
            meanings: Vec::new(),
        }
    }
}

#[test]
fn random_systems_keep_their_answers() {
    let mut random = Generator(Random::new(7));
    let (mut compared, mut reached, mut refused) = (0, 0, 0);
    for round in 0..400 {
        let system = random.system();
        let Some(before) = coverable(&system) else { continue };
        reached += u32::from(before);
        let unfolded: System = unfold(&system.problem(Bound::Any), &Limits::none()).unwrap().into();
        assert_eq!(coverable(&unfolded).unwrap_or(before), before, "round {round}, unfolded: {system:?}");
        for source in [&system, &unfolded] {
            for format in READABLE {
                let Ok(written) = write(source, format) else {
                    refused += 1;
                    continue;
                };
                let Some(after) = coverable(&reread(&written, format)) else { continue };
                compared += 1;
                assert_eq!(after, before, "round {round}, {format:?}:\n{}\n{system:?}", written.text);
            }
        }
    }
    assert!(compared > 1000 && reached > 50 && refused > 100, "{compared} {reached} {refused}");
}
