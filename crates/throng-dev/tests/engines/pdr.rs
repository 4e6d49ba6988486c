//! Property-directed reachability: bases with less in them than those of `backward`.

use throng::{Input, Job};
use throng_check::rules::check;
use throng_engine::backward::Backward;
use throng_engine::pdr::Pdr;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::Format;
use throng_model::limits::Limits;
use throng_model::verdict::{Certificate, Verdict};

/// Groups of variables, each under a lock of its own, two of which are always equal when the lock
/// is free; the third depends on that of the next group.
fn groups(count: usize) -> String {
    let names: Vec<String> =
        (0..count).flat_map(|i| ["l", "x", "y", "z"].map(|v| format!("{v}{i} := 0"))).collect();
    let body = |i: usize| {
        let next = (i + 1) % count;
        format!(
            "if * then
               l{i} := 1 constrain !l{i};
               x{i} := !x{i};
               c := z{i};
               y{i} := !y{i};
               assert(x{i} = y{i});
               z{i} := z{next} ^ c;
               l{i} := 0;
             fi;\n"
        )
    };
    let bodies: String = (0..count).map(body).collect();
    format!("decl {};\nvoid main() begin decl c := 0; while * do\n{bodies} od end\n", names.join(", "))
}

#[test]
fn variables_and_threads_that_do_not_matter_are_left_out() {
    let input = Input::from_text(&groups(3), Format::Bp).expect("a program");
    let job = Job::new(&input);
    let problem = &job.prepare().expect("a question").problem;
    let size = |engine: &dyn Algorithm| {
        let answer = engine.run(problem, &Limits::none(), &Silent);
        let verdict = &answer.verdicts[0];
        check(problem, &problem.targets[0], verdict).expect("evidence");
        match verdict {
            Verdict::Safe(Certificate::Upward(basis)) => basis.len(),
            _ => panic!("{}: {verdict:?}", engine.name()),
        }
    };
    let (general, special) = (size(&Pdr), size(&Backward));
    assert!(general < special, "{general} elements, and {special} of `backward`");
}
