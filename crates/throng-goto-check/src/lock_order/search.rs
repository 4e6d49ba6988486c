//! The search for an order of locks. Nothing here has to be trusted: what it finds is checked by
//! [`super::check_order`].

use throng_goto::program::{Program, next};

use super::{May, MaySets, Order, Taken, after, taken};
use crate::locksets::{Code, locksets, place};

/// Returns an order of the locks that rules deadlocks out, or why there is none.
pub fn order(program: &Program) -> Result<Order, String> {
    let Taken { mut while_held, waits } = taken(program, &may_hold(program)?, &locksets(program))?;
    let mut locks = Vec::new();
    while !while_held.is_empty() {
        let first = while_held.iter().find(|(_, held)| held.iter().all(|h| locks.contains(h)));
        let Some(first) = first.map(|f| *f.0) else {
            let names: Vec<String> = while_held.keys().filter_map(|&a| program.name_of(a)).collect();
            return Err(format!("locks are not always taken in the same order: {}", names.join(", ")));
        };
        while_held.remove(&first);
        locks.push(first);
    }
    Ok(Order { locks, waits })
}

/// Returns what a thread may hold at each instruction.
pub(super) fn may_hold(program: &Program) -> Result<MaySets, String> {
    let mut found = Vec::new();
    for (template, t) in program.templates.iter().enumerate() {
        let code = Code::new(t);
        let mut may: Vec<Option<May>> = vec![None; t.code.len()];
        let mut work = Vec::new();
        if let Some(first) = may.first_mut() {
            *first = Some(May::default());
            work.push(0);
        }
        while let Some(pc) = work.pop() {
            let Some(here) = &may[pc] else { continue };
            let then = after(&code, &t.code, pc, here);
            let then = then.map_err(|why| format!("{}: {why}", place(program, template, pc)))?;
            let Some(then) = then else { continue };
            for to in next(&t.code, pc).into_iter().filter(|to| *to < t.code.len()) {
                let all = may[to].as_ref().map_or(then.clone(), |known| known.join(&then));
                if may[to].as_ref() != Some(&all) {
                    may[to] = Some(all);
                    work.push(to);
                }
            }
        }
        found.push(may);
    }
    Ok(found)
}
