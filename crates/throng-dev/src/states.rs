//! Thread states of a program's model as plain data that can be compared with those of the naive
//! interpreter.

use std::collections::BTreeSet;

use super::interpreter::{Place, Role, State};
use throng_model::{Local, Model, Shared};

/// Adds every concrete thread state of a shared and a local state.
pub fn states(model: &dyn Model, s: Shared, l: Local, found: &mut BTreeSet<State>) {
    let place = place(model, l);
    let values = if place.role == Role::Ended { Vec::new() } else { model.local_values(l) };
    for shared in expand(&model.shared_values(s)) {
        for values in expand(&values) {
            found.insert(State { place: place.clone(), shared: shared.clone(), values });
        }
    }
}

/// Every assignment of values to the parts of a state; `*` is both.
fn expand(values: &[(String, String)]) -> Vec<Vec<bool>> {
    values.iter().fold(vec![Vec::new()], |rows, (_, text)| {
        let options: &[bool] = match text.as_str() {
            "0" => &[false],
            "1" => &[true],
            _ => &[false, true],
        };
        rows.iter().flat_map(|row| options.iter().map(move |&v| [&row[..], &[v]].concat())).collect()
    })
}

fn place(model: &dyn Model, l: Local) -> Place {
    let Some(p) = model.place(l) else {
        return Place { line: 0, column: 0, functions: String::new(), role: Role::Ended };
    };
    let role = if p.text == "end of the started statement" {
        Role::Behind
    } else if p.labels.iter().any(|l| l.starts_with("ASYNC_")) {
        Role::Async
    } else {
        Role::Plain
    };
    Place { line: p.line, column: p.column, functions: p.function, role }
}
