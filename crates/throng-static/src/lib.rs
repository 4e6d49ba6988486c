//! Static analysis of goto programs for any number of threads: where pointers may point, which
//! threads may run at the same time, which locks are held, what belongs to one thread.
//!
//! [`analyse`] solves; what it returns is checked by [`throng_goto_check::races::check`].

mod points;
mod states;

use throng_goto::program::Program;
use throng_goto_check::races::Facts;
use throng_goto_check::races::inclusion::{Index, Values};
use throng_goto_check::races::transfer::Flow;

/// Finds out facts about a program, whose calls may be calls.
pub fn analyse(program: &Program) -> Facts {
    analyse_until(program, &|| false).unwrap_or_default()
}

/// Finds out facts about a program, unless it is asked to stop before.
pub fn analyse_until(program: &Program, stop: &dyn Fn() -> bool) -> Option<Facts> {
    solve(program, false, stop)
}

/// Finds out facts about a program with functions in place of their calls, which also say which locks
/// may be held.
pub fn analyse_waits(program: &Program, stop: &dyn Fn() -> bool) -> Option<Facts> {
    solve(program, true, stop)
}

fn solve(program: &Program, holds: bool, stop: &dyn Fn() -> bool) -> Option<Facts> {
    let split = program.split();
    let index = Index::of(&split.program);
    let points = points::solve(&split.program, &index, stop)?;
    let mut facts = Facts { holds, ..Facts::default() };
    let values = Values { program: &split.program, index: &index, points: &points };
    let escaped = points::escaped(&values);
    let flow = Flow::new(values, &escaped, holds);
    states::solve(&flow, &mut facts, stop)?;
    Some(Facts { points, escaped, ..facts })
}
