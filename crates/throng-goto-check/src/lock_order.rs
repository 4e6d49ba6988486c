//! No deadlock, for any number of threads, by the order in which locks are taken.
//!
//! Threads that wait for nothing but locks, and end with none, are never stuck all together if
//! there is an order in which every thread takes them: the thread that waits for the last lock of
//! the order among those that are waited for waits for a thread that does not wait.
//!
//! The first thread may also wait for the end of others, if it holds no lock then and no other
//! thread does so: who waits for a lock waits for a thread that holds one, which is not a thread
//! that waits for an end; so the argument stands, no thread waits for a lock, and the thread whose
//! end is waited for, which is not the first one, does not wait at all.
//!
//! The certificate is the order. The checker needs to know besides which locks a thread may hold
//! where, and which it does hold; it finds that in the same way as the search for an order does,
//! and then checks that what was found holds at the start and after each instruction if it does
//! before it. So what is trusted of what both share is what one instruction does to a set (`after`
//! and that of [`crate::locksets`]), and what it takes (`taken`); the fixpoints are not.

mod search;

pub use self::search::order;

use std::collections::{BTreeMap, BTreeSet};
use throng_check::Checked;

use throng_goto::program::{Access, Expr, Instr, Program, Start, expressions, next, object_of, offset_of};
use throng_goto::waiting::possible_waits;

use crate::locksets::{Code, Locksets, follow_from_the_start, locksets, place, words};

/// Locks in an order in which every thread takes them, by address; and how many instructions wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// The addresses of the locks: a thread that holds one takes only later ones.
    pub locks: Vec<i64>,
    /// How many instructions wait for a lock.
    pub waits: usize,
}

/// What a thread that comes to an instruction may hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct May {
    locks: BTreeSet<i64>,
    /// The atomic sections that it may be inside of, at most.
    sections: u32,
}

/// By template and instruction; `None` where no thread comes.
type MaySets = Vec<Vec<Option<May>>>;

impl May {
    /// Returns what may be held if either may.
    fn join(&self, other: &May) -> May {
        May {
            locks: self.locks.union(&other.locks).copied().collect(),
            sections: self.sections.max(other.sections),
        }
    }
}

/// The locks that are taken, and for each those that may be held then.
struct Taken {
    while_held: BTreeMap<i64, BTreeSet<i64>>,
    waits: usize,
}

/// Checks that an order is one that rules deadlocks out.
pub fn check_order(program: &Program, order: &Order) -> Result<Checked, String> {
    if !possible_waits(program).is_empty() {
        return Err("threads wait in loops".into());
    }
    let (may, held) = (search::may_hold(program)?, locksets(program));
    are_closed(program, &may)?;
    follow_from_the_start(program, &held)?;
    let Taken { while_held, waits } = taken(program, &may, &held)?;
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

/// Maximum number of atomic sections inside each other.
const MOST_SECTIONS: u32 = 16;

/// Returns what a thread may hold after an instruction. `None`: it does not come to an end; `Err`:
/// nothing follows from the order of locks.
fn after(code: &Code<'_>, list: &[Instr], pc: usize, may: &May) -> Result<Option<May>, String> {
    let mut may = may.clone();
    match &list[pc] {
        Instr::Acquire(e) => match code.exclusive(pc, e) {
            Some(a) => _ = may.locks.insert(a),
            None => return Err("it is not known which lock is taken, or it is not a plain mutex".into()),
        },
        Instr::Release(e) => match code.known(e) {
            Some(a) => _ = may.locks.remove(&a),
            None => return Err("it is not known which lock is released".into()),
        },
        Instr::AtomicBegin if may.sections > MOST_SECTIONS => return Err("too many atomic sections".into()),
        Instr::AtomicBegin => may.sections += 1,
        Instr::AtomicEnd => may.sections = may.sections.saturating_sub(1),
        Instr::Assume(Expr::Const(0)) => return Ok(None),
        _ => {}
    }
    Ok(Some(may))
}

/// Checks that sets hold: at the start, and after each instruction if they do before it.
fn are_closed(program: &Program, sets: &MaySets) -> Result<(), String> {
    let covers = |set: Option<&Option<May>>, then: &May| {
        set.and_then(Option::as_ref).is_some_and(|set| set.join(then) == *set)
    };
    for (t, sets) in program.templates.iter().zip(sets) {
        let code = Code::new(t);
        if !t.code.is_empty() && !covers(sets.first(), &May::default()) {
            return Err("something is claimed about threads that start".into());
        }
        for (pc, may) in sets.iter().enumerate() {
            let Some(may) = may else { continue };
            let Some(then) = after(&code, &t.code, pc, may)? else { continue };
            let mut on = next(&t.code, pc).into_iter().filter(|to| *to < t.code.len());
            if !on.all(|to| covers(sets.get(to), &then)) {
                return Err("what may be held after an instruction does not follow".into());
            }
        }
    }
    Ok(())
}

/// Collects what is taken while what may be held; `Err`: nothing follows from the order of locks.
fn taken(program: &Program, may: &MaySets, held: &Locksets) -> Result<Taken, String> {
    let mut found = Taken { while_held: BTreeMap::new(), waits: 0 };
    for (template, (t, sets)) in program.templates.iter().zip(may).enumerate() {
        let code = Code::new(t);
        for (pc, may) in sets.iter().enumerate() {
            let Some(may) = may else { continue };
            take(program, &code, &mut found, (template, pc), may)
                .map_err(|why| format!("{}: {why}", place(program, template, pc)))?;
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
    words(program, held, &locks)?;
    Ok(found)
}

/// Returns whether only the first thread waits for the end of others, and not for its own: no
/// thread knows a number but those of the threads that were created.
fn only_the_first_joins(program: &Program) -> bool {
    let Start::One(first) = program.start else { return false };
    let joins = |i: &Instr| matches!(i, Instr::Join(..));
    let others = program.templates.iter().enumerate().filter(|(t, _)| *t != first);
    let numbers = program.templates.iter().flat_map(|t| &t.code).any(asks_for_its_number);
    program.runs_once(first) && !others.into_iter().any(|(_, t)| t.code.iter().any(joins)) && !numbers
}

/// Returns whether a thread asks for its own number.
fn asks_for_its_number(i: &Instr) -> bool {
    let found = std::cell::Cell::new(false);
    expressions(i, &mut |e| {
        e.replaced(&|leaf| {
            found.set(found.get() || *leaf == Expr::SelfId);
            None
        });
    });
    found.get()
}

/// Adds what an instruction takes, by template and number.
fn take(
    program: &Program,
    code: &Code<'_>,
    found: &mut Taken,
    (template, pc): (usize, usize),
    may: &May,
) -> Result<(), String> {
    let t = &program.templates[template];
    match &t.code[pc] {
        Instr::Join(..) if !may.locks.is_empty() => {
            Err("a thread that may hold a lock waits for the end of another".into())
        }
        Instr::Join(..) if may.sections > 0 => {
            Err("a thread waits for the end of another inside an atomic section".into())
        }
        Instr::Join(..) if !only_the_first_joins(program) => {
            Err("not only the first thread waits for the end of another".into())
        }
        Instr::Unmodelled(what) => Err(what.clone()),
        Instr::End(_) if !may.locks.is_empty() => Err("a thread may end with a lock".into()),
        Instr::Assume(_) if t.access[pc] == Access::Internal => {
            // It waits for the lock that is taken behind it.
            let lock = match t.code.get(pc + 2) {
                Some(Instr::Acquire(e)) => code.exclusive(pc + 2, e),
                _ => None,
            };
            let lock = lock.ok_or("it waits for something else than a mutex")?;
            // Taking a lock is a section of its own. What came before it in another one has not
            // happened while it waits.
            if may.sections > 1 {
                return Err("a thread waits for a lock inside an atomic section".into());
            }
            found.waits += 1;
            found.while_held.entry(lock).or_default().extend(&may.locks);
            Ok(())
        }
        Instr::Acquire(e) => {
            // A lock that is only tried does not wait, but others may wait for it.
            found.while_held.entry(code.known(e).unwrap_or_default()).or_default();
            Ok(())
        }
        Instr::Store(to, v, at) => {
            let (a, exact) = code.resolve(to, 20).ok_or("a write through a pointer that is not known")?;
            let taken = matches!(t.code.get(pc + 1), Some(Instr::Acquire(_)));
            let word = |l: i64| match exact {
                true => l < a + i64::from(at.size) && a < l + 4,
                false => object_of(l) == object_of(a),
            };
            match !taken && *v != Expr::Const(0) && locks_of(program).any(word) {
                true => Err("a lock may become taken here, without a thread that holds it".into()),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
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

    /// A first thread that waits for the end of two others, each with this body.
    fn joining(body: &str, before: &str) -> Result<Order, String> {
        order(&crate::locksets::tests::whole(&format!(
            "void *w(void *a) {{ {body} return 0; }}
             int main(void) {{
               pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, w, 0);
               {before} pthread_join(t, 0); pthread_join(u, 0); return 0; }}"
        )))
    }

    #[test]
    fn the_first_thread_may_wait_for_the_end_of_others_without_a_lock() {
        let nested = format!("{}{} x++; {}{}", M.0, N.0, N.1, M.1);
        assert!(joining(&nested, "").is_ok());
        assert!(joining(&nested, &format!("{} x++; {}", M.0, M.1)).is_ok());
        for (body, before) in [
            (&*nested, M.0),
            (&*nested, "t = pthread_self();"),
            ("pthread_t s = 0; if (x) pthread_join(s, 0);", ""),
        ] {
            assert!(joining(body, before).is_err(), "{body} {before}");
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
