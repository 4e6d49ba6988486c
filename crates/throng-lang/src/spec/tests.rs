use super::*;
use crate::source::Span;
use throng_model::Describe;
use throng_model::table::Names;
use throng_model::{Bag, Config, Local, Model, Shared, Step, semantics};

/// Returns a net with variables a b c d, these rules, a=1 and the rest 0, and target d>=1.
fn net(rules: &str) -> String {
    format!("vars a b c d rules {rules} init a=1, b=0, c=0, d=0 target d>=1")
}

fn good(text: &str) -> System {
    let (system, findings) = read(text, Options::default());
    assert_eq!(findings, [], "{text}");
    system.unwrap()
}

/// Returns code, message and the underlined text of each finding.
fn findings(text: &str) -> Vec<(String, String)> {
    let (system, findings) = read(text, Options::default());
    assert_eq!(system.is_none(), findings.iter().any(Diagnostic::is_error), "{text}");
    let under = |d: &Diagnostic| text[d.span.map_or(0..0, Span::range)].to_string();
    findings.iter().map(|d| (format!("{} {}", d.code, d.message), under(d))).collect()
}

fn bag(counts: &[u32]) -> Bag {
    counts.iter().enumerate().map(|(l, &n)| (Local(l as u64), n)).collect()
}

/// Returns all markings after one firing.
fn fired(rules: &str, marking: &[u32]) -> Vec<Vec<u32>> {
    let (system, _) = read(&net(rules), Options::default());
    let table = system.unwrap().table;
    let mut after: Vec<(Step, Config)> = Vec::new();
    semantics::successors(&*table, &Config::new(Shared(0), bag(marking)), None, &mut after).unwrap();
    let counts = |c: &Config| (0..marking.len() as u64).map(|l| c.threads.count(Local(l))).collect();
    let mut found: Vec<Vec<u32>> = after.iter().map(|(_, c)| counts(c)).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn a_guard_beyond_the_consumption_is_put_back() {
    let system = good(&net("a>=3, b>=1 -> a'=a-1, c'=c+2;"));
    let step = &system.table.steps()[0];
    assert_eq!((&step.take, &step.put), (&bag(&[3, 1]), &bag(&[2, 1, 2])));
    assert!(step.spawn.is_empty() && system.table.fates(step.edge).is_empty());
    assert_eq!(system.table.locals(), &Names::List(["a", "b", "c", "d"].map(String::from).to_vec()));
    assert_eq!(system.table.edge_place(step.edge).text, "a>=3, b>=1 -> a'=a-1, c'=c+2;");
    assert_eq!(system.targets[0].name, "d>=1");
}

#[test]
fn updates_are_simultaneous() {
    for (rules, before, after) in [
        ("a>=1 -> b'=b+a, a'=0;", [3, 2, 0, 0], [0, 5, 0, 0]),
        ("a>=2 -> b'=b+a-1, a'=0;", [3, 2, 0, 0], [0, 4, 0, 0]),
        ("a>=1 -> a'=b, b'=a;", [3, 7, 1, 0], [7, 3, 1, 0]),
        ("a>=1 -> b'=a+1, a'=2;", [3, 7, 0, 0], [2, 4, 0, 0]),
        ("a>=1 -> a'=0;", [3, 7, 0, 0], [0, 7, 0, 0]),
        ("a>=1 -> a'=1;", [3, 7, 0, 0], [1, 7, 0, 0]),
        ("-> a'=a+1;", [0, 0, 0, 0], [1, 0, 0, 0]),
        ("true -> a'=a+2;", [0, 0, 0, 0], [2, 0, 0, 0]),
        ("a>=1, b=2 -> c'=c+b, b'=0;", [1, 2, 5, 0], [1, 0, 7, 0]),
        ("a=0 -> b'=b+1;", [0, 3, 0, 0], [0, 4, 0, 0]),
        ("a in [1,3] -> a'=a-1, b'=b+1;", [3, 0, 0, 0], [2, 1, 0, 0]),
        ("a>=1 -> b'=a+b+c-2, a'=0, c'=0;", [1, 0, 1, 0], [0, 0, 0, 0]),
        ("-> b'=a+b+c-1, a'=0, c'=0;", [0, 0, 4, 0], [0, 3, 0, 0]),
    ] {
        assert_eq!(fired(rules, &before), [after.to_vec()], "{rules}");
    }
    for (rules, before) in [
        ("a=0 -> b'=b+1;", [1, 0, 0, 0]),
        ("a in [1,3] -> b'=b+1;", [4, 0, 0, 0]),
        ("a in [1,3] -> b'=b+1;", [0, 0, 0, 0]),
        ("a=2 -> a'=0;", [3, 0, 0, 0]),
        ("a=2 -> a'=0;", [1, 0, 0, 0]),
        ("-> b'=a+b+c-1, a'=0, c'=0;", [0, 0, 0, 1]),
    ] {
        assert!(fired(rules, &before).is_empty(), "{rules}");
    }
}

#[test]
fn missing_tokens_may_come_from_any_summand() {
    let system = good(&net("-> b'=a+b+c-2, a'=0, c'=0;"));
    assert_eq!(system.table.steps().len(), 6);
}

#[test]
fn rules_without_effect_are_dropped() {
    assert!(good(&net("a>=1 -> ; a>=1 -> a'=a; a=1 -> a'=1; ->;")).table.steps().is_empty());
}

#[test]
fn initial_markings_may_be_parametric() {
    let text = "vars a b c rules init a>=2, b=1, c in [0,2] target a>=9";
    let system = good(text);
    assert_eq!(system.initial.len(), 3);
    assert_eq!(system.initial[2].threads, bag(&[2, 1, 2]));
    assert_eq!(system.initial[2].any, [Local(0)]);
    assert_eq!(system.initial_text, "a>=2, b=1, c in [0,2]");
}

#[test]
fn variables_missing_in_init_are_empty_or_free() {
    let text = "vars a b c rules init a=1 target a>=9";
    assert_eq!(findings(text), [("W404 not in init, so empty: b c".to_string(), "a=1".to_string())]);
    let (system, findings) = read(text, Options { init_free: true, ..Options::default() });
    assert_eq!(findings, []);
    let system = system.unwrap();
    assert_eq!(system.initial[0].any, [Local(1), Local(2)]);
    assert_eq!(system.initial_text, "a=1, others any number");
}

#[test]
fn targets_follow_one_another_and_may_be_missing() {
    let text = "vars a b goal rules init a=1, b=0, goal=0 target a>=1,\n b>=2 a>=3\n a=0, b in [1,2]";
    let system = good(text);
    let names: Vec<&str> = system.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["a>=1, b>=2", "a>=3", "a=0, b in [1,2]"]);
    assert_eq!(system.targets[0].configs[0].threads, bag(&[1, 2]));
    assert!(system.targets[0].is_upward_closed() && system.targets[1].is_upward_closed());
    let hit = |a, b| {
        let config = Config::new(Shared(0), [(Local(0), a), (Local(1), b)].into_iter().collect());
        system.targets[2].is_hit(&config, &*system.table)
    };
    assert!(hit(0, 1) && hit(0, 2) && !hit(0, 0) && !hit(0, 3) && !hit(1, 1), "exactly so");
    assert!(system.table.steps().is_empty() && system.table.traits().blocking.is_none());
    assert!(good("vars a rules init a=1").targets.is_empty());
}

#[test]
fn what_differs_from_mist_or_looks_odd_is_warned_about() {
    for (rules, message, under) in [
        ("a>=1 -> a'=a-2;", "W401 the guard does not ensure that enough tokens are on `a`", "a'=a-2"),
        ("-> a'=a-1;", "W401 the guard does not ensure that enough tokens are on `a`", "a'=a-1"),
        ("a>=1 -> b'=b+a;", "W402 `a` moves but is not emptied", "b'=b+a"),
        ("a>=1 -> b'=a, a'=0;", "W403 `b` loses its tokens: the right side does not mention it", "b'=a"),
        ("a=1 -> a'=a-2;", "W405 this rule can never fire", "a=1 -> a'=a-2;"),
        ("a in [2,1] -> b'=b+1;", "W405 this rule can never fire", "a in [2,1] -> b'=b+1;"),
    ] {
        assert_eq!(findings(&net(rules)), [(message.to_string(), under.to_string())], "{rules}");
    }
    assert_eq!(fired("a>=1 -> a'=a-2;", &[1, 0, 0, 0]), Vec::<Vec<u32>>::new());
    assert_eq!(fired("a>=1 -> b'=b+a;", &[3, 1, 0, 0]), [[0, 4, 0, 0]]);
}

#[test]
fn invariants_are_checked_as_hints() {
    let rules = "a>=1 -> a'=a-1, b'=b+2; b>=1 -> c'=c+b, b'=0;";
    let text = format!("{} invariants a=2, b=1, c=1\n a=1, b=1\n", net(rules));
    let found = findings(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "W406 these weights are not an invariant: the rule in line 1 changes their sum");
    assert_eq!(found[0].1, "a=1, b=1");
    assert_eq!(findings(&format!("{} invariants a=1", net("a=1 -> a'=1;"))), []);
}

#[test]
fn what_no_step_can_do_is_refused() {
    for (rules, message, under) in [
        ("a>=1 -> a'=a-1, a'=a+1;", "E407 `a` is assigned twice in one rule", "a'=a+1"),
        ("a>=1 -> b'=b+a, a'=a+1;", "E408 `a` moves to another variable and is kept", "b'=b+a"),
        ("a>=1 -> b'=b+a, c'=c+a, a'=0;", "E409 the tokens of `a` go to two places", "c'=c+a"),
        ("a>=1 -> a'=a+a;", "E409 the tokens of `a` go to two places", "a'=a+a"),
        ("a in [0,5000] -> ;", "E410 these intervals stand for 5001 cases", "a in [0,5000] -> ;"),
        (
            "-> a'=a+b+c-90, b'=0, c'=0;",
            "E410 there are more than 1000 ways to take the tokens that this rule removes",
            "-> a'=a+b+c-90, b'=0, c'=0;",
        ),
    ] {
        assert_eq!(findings(&net(rules)), [(message.to_string(), under.to_string())], "{rules}");
    }
}

#[test]
fn syntax_errors_are_pointed_at() {
    for (text, message, under) in [
        ("", "E402 the file ends too early", ""),
        ("rules", "E402 unexpected `rules`", "rules"),
        ("vars a % rules init a=1", "E401 `%` has no meaning in a net", "%"),
        ("vars a 7 rules init a=1", "E402 unexpected `7`", "7"),
        ("vars a a rules init a=1", "E403 variable `a` is declared twice", "a"),
        ("vars in rules init", "E402 `in` cannot be a variable", "in"),
        ("vars a rules init b=1", "E404 variable `b` is not declared", "b"),
        ("vars a rules a>=1 -> b'=1; init a=1", "E404 variable `b` is not declared", "b"),
        (
            "vars a rules a>=99999999999 -> ; init a=1",
            "E405 this number of tokens is too large",
            "99999999999",
        ),
        ("vars a rules a>=1, a=2 -> ; init a=1", "E406 there is a second condition on this variable", "a=2"),
        ("vars a rules a>1 -> ; init a=1", "E401 `>` has no meaning in a net", ">"),
        ("vars a rules a>=1 -> a'=a-a; init a=1", "E402 unexpected `a`", "a"),
        ("vars a rules a>=1 -> a'=a-1 init a=1", "E402 unexpected `init`", "init"),
        ("vars a rules init", "E402 the file ends too early", ""),
        ("vars a rules init a=1 target", "E402 the file ends too early", ""),
        ("vars a rules init a in [3,1]", "E411 there is no initial marking", "a in [3,1]"),
        ("vars a rules init a=1 target a>=1 vars", "E402 unexpected `vars`", "vars"),
        ("vars a rules init a=1 a>=1", "E402 unexpected `a`", "a"),
    ] {
        let found = findings(text);
        assert_eq!(found[0], (message.to_string(), under.to_string()), "{text}");
    }
    assert_eq!(
        findings("vars a rules x>=1 -> ; y>=1 -> ; a>=1 -> ; init a=1").len(),
        2,
        "errors cost a rule only"
    );
    assert_eq!(findings(&net(&"x>=1->;".repeat(100))).len(), Findings::MOST + 1);
}

#[test]
fn what_is_0_or_1_and_tested_for_0_has_a_complement() {
    let lock = |rules: &str| {
        format!("vars out inside flag rules {rules} init out>=1, inside=0, flag=0 target inside>=2")
    };
    let enter = "out>=1, flag=0 -> out'=out-1, inside'=inside+1, flag'=1;";
    let system = good(&lock(&format!("{enter} inside>=1 -> inside'=inside-1, out'=out+1, flag'=0;")));
    assert_eq!(system.complements, [(Local(2), Local(3))]);
    assert_eq!(system.table.locals().name(3), "not_flag");
    assert_eq!(system.initial[0].threads, bag(&[1, 0, 0, 1]));
    let steps: Vec<(Bag, Bag)> =
        system.table.steps().iter().map(|s| (s.take.clone(), s.put.clone())).collect();
    assert_eq!(
        steps,
        [
            (bag(&[1, 0, 0, 1]), bag(&[0, 1, 1, 0])),
            (bag(&[0, 1, 0, 1]), bag(&[1, 0, 0, 1])),
            (bag(&[0, 1, 1, 0]), bag(&[1, 0, 0, 1])),
        ]
    );
    assert!(system.table.steps().iter().all(|s| s.others == throng_model::Bystanders::Stay));
    // The variable may exceed 1: it is counted, moved, or added twice.
    for leave in ["flag'=flag+1", "flag'=0, out'=out+flag", "flag'=2", "flag'=inside"] {
        let (system, _) = read(&lock(&format!("{enter} inside>=1 -> {leave};")), Options::default());
        assert_eq!(system.unwrap().complements, [], "{leave}");
    }
    // Bounded search accepts a net that starts with a fixed number of tokens.
    let bounded =
        lock(&format!("{enter} inside>=1 -> flag'=0;")).replace("out>=1, inside=0", "out=1, inside=0");
    assert_eq!(good(&bounded).complements, []);
    let mut start = system.initial[0].clone();
    start.threads = bag(&[1, 0, 1]);
    assert!(system.complete(&mut start).is_ok() && start.threads == bag(&[1, 0, 1]));
    start.threads = bag(&[1]);
    assert!(system.complete(&mut start).is_ok() && start.threads == bag(&[1, 0, 0, 1]));
    start.threads = bag(&[1, 0, 2]);
    assert!(system.complete(&mut start).is_err());
}
