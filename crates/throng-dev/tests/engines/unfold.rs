//! Models unfolded into tables.

use std::any::Any;
use std::sync::Arc;

use throng_lang::tts;
use throng_model::cubes::Cubes;
use throng_model::limits::Limits;
use throng_model::problem::Bound;
use throng_model::problem::{Initial, Problem, Target};
use throng_model::table::{Fate, Names};
use throng_model::unfold::*;
use throng_model::verdict::Unknown;
use throng_model::waiting::Waits;
use throng_model::*;
use throng_model::{Describe, Edge, Incomplete, Place, SetStates, Traits, Transfers};

fn unfolded(text: &str) -> Unfolded {
    let (system, findings) = tts::read(text);
    assert_eq!(findings, []);
    unfold(&system.unwrap().problem(Bound::Any), &Limits::none()).unwrap()
}

#[test]
fn only_what_may_occur_is_written() {
    let u = unfolded("9 9\n0 0 -> 5 1\n5 1 -> 0 7\n4 4 -> 5 5\n5 0 -> 5 2\n5|1,2\n4|4\n");
    assert_eq!(u.table.shared(), &Names::List(vec!["0".into(), "5".into()]));
    assert_eq!(u.table.steps().len(), 3);
    assert_eq!(u.targets[0].configs.len(), 1);
    assert!(u.targets[1].configs.is_empty(), "shared state 4 does not occur");
    assert_eq!(u.initial[0].any, [Local(0)]);
}

#[test]
fn bystanders_follow_into_the_next_shared_state() {
    let u = unfolded("3 5\n0 0 -> 0 1\n0 0 -> 1 2 1 ~> 3 1 ~> 4\n1 3 -> 2 3\n0 4 ~> 2 4\n");
    assert_eq!(u.table.locals().len(), 5);
    let broadcast = u.table.steps().iter().find(|s| !u.table.fates(s.edge).is_empty()).unwrap();
    assert_eq!(u.table.fates(broadcast.edge).len(), 2);
    assert!(u.table.steps().iter().any(|s| s.take.is_empty() && s.from != s.to));
}

/// Words are masks of two bits; thread 1 signals, and target words overlap.
struct Masks(Bystanders);

impl Model for Masks {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        if l == Local(3) {
            let step = |m: u64| Step {
                from: s,
                to: s,
                take: Bag::one(l),
                put: Bag::one(Local(m)),
                spawn: Bag::new(),
                others: self.0,
                edge: Edge(0),
                choice: 0,
            };
            out.extend([step(1), step(2)]);
        }
        Ok(())
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: true }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        Some(self)
    }

    fn has_ended(&self, _: Local) -> bool {
        false
    }

    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Transfers for Masks {
    fn bystander(&self, _: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        if l != Local(1) {
            out.push(Some(l));
        }
        Ok(())
    }

    fn woken(&self, _: Local) -> Option<Local> {
        None
    }
}

impl SetStates for Masks {
    fn meets_shared(&self, a: Shared, b: Shared) -> bool {
        a == b
    }

    fn meets_local(&self, a: Local, b: Local) -> bool {
        a.0 & b.0 != 0
    }

    fn within_shared(&self, a: Shared, b: Shared) -> bool {
        a == b
    }

    fn within_local(&self, a: Local, b: Local) -> bool {
        a == b
    }

    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared> {
        (a == b).then_some(a)
    }

    fn meet_local(&self, a: Local, b: Local) -> Option<Local> {
        (a == b).then_some(a)
    }

    fn local_class(&self, l: Local) -> u64 {
        l.0
    }

    fn inside_atomic(&self, _: Shared) -> bool {
        false
    }

    fn sample_shared(&self, s: Shared) -> Shared {
        s
    }

    fn sample_local(&self, l: Local) -> Local {
        l
    }

    fn narrow(&self, step: &Step, _: Shared, _: Option<Local>, _: Option<Local>) -> Option<(Shared, Local)> {
        Some((step.from, step.take.entries().first()?.0))
    }

    fn narrow_bystander(&self, _: &Step, before: Local, _: Local) -> Option<Local> {
        Some(before)
    }

    fn cubes(&self) -> &dyn Cubes {
        panic!("these sets are not cubes")
    }

    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.post(s, l, out)
    }

    fn set_stop_check(&self, _: Option<StopCheck>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Describe for Masks {
    fn shared_values(&self, _: Shared) -> Vec<(String, String)> {
        Vec::new()
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        vec![("x".into(), if l.0 == 3 { "*" } else { "c" }.to_string())]
    }

    fn place(&self, _: Local) -> Option<Place> {
        None
    }

    fn edge_place(&self, _: Edge) -> Place {
        Place::default()
    }
}

fn masks(others: Bystanders) -> Result<Unfolded, Unknown> {
    let bad = Config::new(Shared(0), [(Local(1), 2)].into_iter().collect());
    let problem = Problem {
        model: Arc::new(Masks(others)),
        initial: vec![Initial { shared: Shared(0), threads: Bag::new(), any: vec![Local(3)] }],
        initial_text: "any".into(),
        targets: vec![Target::covering("x", vec![bad])],
        bound: Bound::Any,
    };
    unfold(&problem, &Limits::none())
}

#[test]
fn words_that_meet_a_target_are_listed_in_all_combinations() {
    let u = masks(Bystanders::Stay).unwrap();
    assert_eq!(u.targets[0].configs.len(), 3, "two of the words 3 and 1");
    assert_eq!(u.table.locals(), &Names::List(vec!["x=*".into(), "x=c".into(), "x=c (2)".into()]));
}

#[test]
fn blocked_bystanders_block_and_signals_are_refused() {
    let u = masks(Bystanders::Transfer).unwrap();
    assert_eq!(u.table.fates(Edge(0)), [(Local(1), Fate::Block)]);
    assert!(
        matches!(masks(Bystanders::WakeOne), Err(Unknown::NotForThisModel(why)) if why.contains("signal"))
    );
}
