//! What is said about source code where a question stays open: the run that may be a violation, and
//! the line that an answer was lost at.

use super::Posed;
use crate::outcome::{Outcome, Status};
use crate::report::story::describe_run;
use crate::undecided::{Look, Possible};
use throng_goto::program::{Doubt, Point, Program};
use throng_goto::step::Missing;
use throng_model::problem::Problem;
use throng_model::verdict::Trace;

/// Returns everything that a run into target `n` depends on and the program may not bear out.
pub(super) fn doubts(posed: &Posed, n: usize, trace: &Trace) -> Vec<Doubt> {
    let mut doubts = throng_goto::doubt::doubts(&posed.model, trace);
    if n >= posed.program().asked.len() {
        // What threads do up to where they wait in a deadlock is not part of the run.
        doubts.extend(posed.loaded.query.undefined().map(|name| Doubt::Undefined(name.into())));
    }
    doubts.into_iter().collect()
}

/// Returns a run into target `n` that is in doubt, for people.
pub(super) fn possible(posed: &Posed, problem: &Problem, n: usize, trace: &Trace) -> Possible {
    let target = &problem.targets[n];
    Possible {
        target: target.name.clone(),
        uncertain: doubts(posed, n, trace).iter().map(Doubt::to_string).collect(),
        trace: Some(describe_run(problem, target, trace)),
        lines: Vec::new(),
    }
}

/// Says where the search met something that is not known, where a question stays open.
pub(super) fn look(posed: &Posed, outcome: &mut Outcome) {
    if outcome.answer.verdicts.iter().all(|v| Status::of(v) != Status::Unknown) {
        return;
    }
    if let Some(Missing { at, what, .. }) = posed.model.missing() {
        let advice = advice(&what);
        outcome.look.push(Look { advice, ..place(posed, at, what) });
    }
}

/// Returns a place in the program.
fn place(posed: &Posed, at: Point, why: String) -> Look {
    let origin = posed.program().origin_at(at);
    Look {
        file: origin.file.clone().unwrap_or_else(|| posed.loaded.query.source.name.clone()),
        line: origin.line,
        function: origin.function.clone(),
        statement: origin.text.trim().into(),
        why,
        advice: None,
    }
}

/// Returns a line of the user's file.
pub(super) fn line(posed: &Posed, line: u32, why: String) -> Look {
    let found = point_at(posed.program(), line).map(|at| place(posed, at, why.clone()));
    let file = posed.loaded.query.source.name.clone();
    let unknown =
        || Look { file, line, function: String::new(), statement: String::new(), why, advice: None };
    found.unwrap_or_else(unknown)
}

fn point_at(program: &Program, line: u32) -> Option<Point> {
    let points = program.templates.iter().enumerate().flat_map(|(t, template)| {
        (0..template.code.len()).map(move |pc| Point { template: t as u32, pc: pc as u32 })
    });
    let of_user = |at: &Point| {
        let origin = program.origin_at(*at);
        origin.line == line && origin.file.is_none()
    };
    points.into_iter().find(of_user)
}

/// Returns what may help against a value that is not known.
fn advice(what: &str) -> Option<String> {
    what.ends_with("has more values than those that were tried").then(|| {
        "give it a value, or a small range: after `if (x < 0 || x > 9) abort();` all values of `x` are tried"
            .into()
    })
}
