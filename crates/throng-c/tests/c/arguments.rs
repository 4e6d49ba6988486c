//! The arguments of `main`: a list of strings with null behind them, of which the bytes are open.

use std::time::Duration;

use crate::programs::program;
use crate::search::{Found, search};

fn found(body: &str) -> Found {
    let text = format!("int main(int argc, char **argv) {{ {body} return 0; }}");
    search(&program(&text).query.problem(), 1, 1_000_000, Duration::from_secs(60))
}

#[test]
fn arguments_are_strings() {
    for body in [
        "assert(argc > 0 && argv[0] != 0 && argv[argc] == 0);",
        "for (int i = 0; i < argc; i++) assert(argv[i] != 0);",
        "if (argc > 1) { char *p = argv[1]; while (*p == 'a') p++; assert(*p != 'a'); }",
        "argv[0][0] = 'x'; assert(*argv[0] == 'x');",
    ] {
        let found = found(body);
        // There may be more of them, and longer ones.
        assert!(matches!(found, Found::Incomplete(_)), "{body}: {found:?}");
    }
    for body in [
        "assert(argc < 3);",
        "assert(argv[1] != 0);",
        "if (argc > 1) assert(argv[1][0] != '-' || argv[1][1] != 'x' || argv[1][2] != 0);",
        "argv[argc][0] = 1;",
    ] {
        let found = found(body);
        assert!(matches!(found, Found::Unsafe(..)), "{body}: {found:?}");
    }
}

#[test]
fn what_is_not_used_is_not_there() {
    let found = found("int x = 1; assert(x);");
    assert!(matches!(found, Found::Safe(_)), "{found:?}");
    let text = "int main(int argc) { assert(argc > 0); return 0; }";
    let found = search(&program(text).query.problem(), 1, 1000, Duration::from_secs(60));
    assert!(!matches!(found, Found::Unsafe(..)), "{found:?}");
}

#[test]
fn a_run_with_very_many_arguments_is_in_doubt() {
    let loaded = program("int main(int argc) { assert(argc < 2000); return 0; }");
    let model = loaded.query.model();
    let problem = loaded.query.problem_of(model.clone());
    let Found::Unsafe(_, trace) = search(&problem, 1, 1000, Duration::from_secs(60)) else {
        panic!("there is a run")
    };
    let doubts = throng_goto::doubt::doubts(&model, &trace);
    assert!(doubts.iter().any(|d| d.to_string().contains("more than 2 arguments")), "{doubts:?}");
}
