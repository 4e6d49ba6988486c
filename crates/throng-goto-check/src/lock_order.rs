//! No deadlock, for any number of threads, by the order in which locks are taken.
//!
//! Threads that wait for nothing but locks, and end with none, are never stuck all together if
//! there is an order in which every thread takes them: the thread that waits for the last lock of
//! the order among those that are waited for waits for a thread that does not wait.

use std::collections::{BTreeMap, BTreeSet};
use throng_check::Checked;

use crate::locksets::{Code, locksets, place, words};
use throng_goto::program::{Access, Expr, Instr, Program, Violation, next, object_of, offset_of};

/// Locks in an order in which every thread takes them, by address; and how many instructions wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// The addresses of the locks: a thread that holds one takes only later ones.
    pub locks: Vec<i64>,
    /// How many instructions wait for a lock.
    pub waits: usize,
}

/// The locks that are taken, and for each those that may be held then; or why nothing follows from
/// their order.
struct Taken {
    while_held: BTreeMap<i64, BTreeSet<i64>>,
    waits: usize,
}

/// An order of the locks that rules deadlocks out, or why there is none.
pub fn order(program: &Program) -> Result<Order, String> {
    let Taken { mut while_held, waits } = taken(program)?;
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

/// Whether an order is one that rules deadlocks out.
pub fn check_order(program: &Program, order: &Order) -> Result<Checked, String> {
    let Taken { while_held, waits } = taken(program)?;
    let number = |a: &i64| order.locks.iter().position(|l| l == a);
    for (lock, held) in &while_held {
        let Some(at) = number(lock) else { return Err("a lock is missing".into()) };
        if held.iter().any(|h| number(h).is_none_or(|h| h >= at)) {
            return Err("a lock is taken while a later one may be held".into());
        }
    }
    match waits == order.waits {
        true => Ok(Checked::of_source()),
        false => Err("another number of instructions waits".into()),
    }
}

/// Atomic sections inside each other, at most.
const MOST_SECTIONS: u32 = 16;

fn taken(program: &Program) -> Result<Taken, String> {
    let mut found = Taken { while_held: BTreeMap::new(), waits: 0 };
    for (template, t) in program.templates.iter().enumerate() {
        let code = Code::new(t);
        // The locks that a thread may hold, and in how many atomic sections it may be; `None` where
        // it does not come.
        let mut may: Vec<Option<(BTreeSet<i64>, u32)>> = vec![None; t.code.len()];
        let mut work = Vec::new();
        if let Some(first) = may.first_mut() {
            *first = Some((BTreeSet::new(), 0));
            work.push(0);
        }
        while let Some(pc) = work.pop() {
            let Some((mut held, mut sections)) = may[pc].clone() else { continue };
            let why = |what: &str| Err(format!("{}: {what}", place(program, template, pc)));
            match &t.code[pc] {
                Instr::Acquire(e) => match code.exclusive(pc, e) {
                    Some(a) => _ = held.insert(a),
                    None => return why("it is not known which lock is taken, or it is not a plain mutex"),
                },
                Instr::Release(e) => match code.known(e) {
                    Some(a) => _ = held.remove(&a),
                    None => return why("it is not known which lock is released"),
                },
                Instr::AtomicBegin if sections > MOST_SECTIONS => return why("too many atomic sections"),
                Instr::AtomicBegin => sections += 1,
                Instr::AtomicEnd => sections = sections.saturating_sub(1),
                _ => {}
            }
            let on = match &t.code[pc] {
                Instr::Fail(Violation::Locks, _) => vec![pc + 1],
                Instr::Assume(Expr::Const(0)) => Vec::new(),
                _ => next(&t.code, pc),
            };
            for to in on.into_iter().filter(|to| *to < t.code.len()) {
                let known = may[to].clone();
                let all = known.iter().flat_map(|k| &k.0).chain(&held).copied().collect();
                let all = Some((all, known.as_ref().map_or(0, |k| k.1).max(sections)));
                if known != all {
                    may[to] = all;
                    work.push(to);
                }
            }
        }
        for (pc, held) in may.iter().enumerate() {
            let Some((held, sections)) = held else { continue };
            let why = |what: &str| Err(format!("{}: {what}", place(program, template, pc)));
            match &t.code[pc] {
                Instr::Join(..) => return why("a thread waits for the end of another"),
                Instr::Unmodelled(what) => return why(what),
                Instr::End(_) if !held.is_empty() => return why("a thread may end with a lock"),
                Instr::Assume(_) if t.access[pc] == Access::Internal => {
                    // It waits for the lock that is taken behind it.
                    let lock = match t.code.get(pc + 2) {
                        Some(Instr::Acquire(e)) => code.exclusive(pc + 2, e),
                        _ => None,
                    };
                    let Some(lock) = lock else { return why("it waits for something else than a mutex") };
                    // Taking a lock is a section of its own. What came before it in another one has
                    // not happened while it waits.
                    if *sections > 1 {
                        return why("a thread waits for a lock inside an atomic section");
                    }
                    found.waits += 1;
                    found.while_held.entry(lock).or_default().extend(held);
                }
                Instr::Acquire(e) => {
                    // A lock that is only tried does not wait, but others may wait for it.
                    found.while_held.entry(code.known(e).unwrap_or_default()).or_default();
                }
                Instr::Store(to, v, at) => {
                    let Some((a, exact)) = code.resolve(to, 20) else {
                        return why("a write through a pointer that is not known");
                    };
                    let taken = matches!(t.code.get(pc + 1), Some(Instr::Acquire(_)));
                    let word = |l: i64| match exact {
                        true => l < a + i64::from(at.size) && a < l + 4,
                        false => object_of(l) == object_of(a),
                    };
                    if !taken && *v != Expr::Const(0) && locks_of(program).any(word) {
                        return why("a lock may become taken here, without a thread that holds it");
                    }
                }
                _ => {}
            }
        }
    }
    let locks: BTreeSet<i64> = found.while_held.keys().copied().collect();
    for &a in &locks {
        let object = usize::try_from(object_of(a) - 1).ok().and_then(|o| program.objects.get(o));
        let offset = offset_of(a) as usize;
        let word = object.and_then(|o| o.init.get(offset..offset + 4));
        if word != Some(&[0; 4]) {
            return Err("a lock is taken at the start".into());
        }
    }
    words(program, &locksets(program), &locks)?;
    Ok(found)
}

/// The locks of a program, as far as they are known.
fn locks_of(program: &Program) -> impl Iterator<Item = i64> + '_ {
    program.templates.iter().flat_map(|t| {
        let code = Code::new(t);
        let acquired = t.code.iter().filter_map(move |i| match i {
            Instr::Acquire(e) => code.known(e),
            _ => None,
        });
        acquired.collect::<Vec<i64>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locksets::tests::program;

    const M: (&str, &str) = ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);");
    const N: (&str, &str) = ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);");

    #[test]
    fn one_order_of_locks_is_enough_and_necessary() {
        let nested = format!("{}{} x++; {}{}", M.0, N.0, N.1, M.1);
        let found = order(&program(&nested)).unwrap();
        assert_eq!((found.locks.len(), found.waits), (2, 2));
        assert!(order(&program(&format!("{nested}{} x++; {}", N.0, N.1))).is_ok());
        let refused = [
            // The other way round as well.
            format!("{nested}{}{} x++; {}{}", N.0, M.0, M.1, N.1),
            // Twice.
            format!("{}{} x++; {}", M.0, M.0, M.1),
            // A thread that ends with it.
            format!("{} if (x) return 0; {}", M.0, M.1),
            M.0.to_string(),
            // A thread that does not hold it gives it back.
            format!("{} {} {}", M.0, M.1, M.1),
            // A section that cannot go on has not released m, either.
            format!(
                "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); {} __VERIFIER_atomic_begin(); {} {} __VERIFIER_atomic_end(); x++; {}",
                M.0, M.1, N.0, N.1
            ),
            // Taken without a thread that holds it.
            format!("{} x++; {} m.a[0] = 1;", M.0, M.1),
        ];
        for body in &refused {
            assert!(order(&program(body)).is_err(), "{body}");
        }
    }

    #[test]
    fn another_order_is_refused() {
        let program = program(&format!("{}{} x++; {}{}", M.0, N.0, N.1, M.1));
        let right = order(&program).unwrap();
        assert!(check_order(&program, &right).is_ok());
        let mut swapped = right.clone();
        swapped.locks.swap(0, 1);
        let mut missing = right.clone();
        missing.locks.pop();
        let mut fewer = right.clone();
        fewer.waits -= 1;
        for wrong in [swapped, missing, fewer] {
            assert!(check_order(&program, &wrong).is_err(), "{wrong:?}");
        }
    }
}
