//! Locksets: no two threads race for memory that each accesses only while it holds one and the same
//! lock, however many threads there are.
//!
//! For each instruction, the certificate has the locks that are held whenever a thread comes there.
//! [`locksets`] finds them, and [`check`] decides whether given sets are right and rule out every
//! race. The search and the check share what an instruction does to a set (`Code::after`), which is
//! trusted. Accesses through pointers that are not known are left to other engines.

mod search;

pub use self::search::locksets;

use std::collections::{BTreeMap, BTreeSet};
use throng_check::Checked;

use throng_goto::program::{
    Access, BinOp, Expr, Instr, PRIVATE, Program, Start, Template, address, is_private, next, object_of,
    offset_of, writes,
};

/// What is known at each instruction of each template; `None` where no thread comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locksets {
    /// By template and instruction.
    pub at: Vec<Vec<Option<Held>>>,
}

/// What a thread that comes to an instruction holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// The addresses of the locks.
    pub locks: BTreeSet<i64>,
    /// Number of atomic sections that it is inside of.
    pub atomic: u32,
    /// Whether it may have started other threads.
    pub started: bool,
}

impl Held {
    /// Returns what is known if either is.
    fn meet(&self, other: &Held) -> Held {
        Held {
            locks: self.locks.intersection(&other.locks).copied().collect(),
            atomic: self.atomic.min(other.atomic),
            started: self.started || other.started,
        }
    }

    /// Returns whether whatever `other` describes is described by this, too.
    fn covers(&self, other: &Held) -> bool {
        self.meet(other) == *self
    }
}

/// The code of a template, with what is asked for often.
pub(crate) struct Code<'p> {
    t: &'p Template,
    /// Where control comes from.
    before: Vec<Vec<usize>>,
    /// What a register is, if it is assigned once.
    definitions: Vec<Option<&'p Expr>>,
}

impl<'p> Code<'p> {
    pub(crate) fn new(t: &'p Template) -> Code<'p> {
        let mut before = vec![Vec::new(); t.code.len()];
        let mut assigned = vec![0; t.registers.len()];
        let mut definitions = vec![None; t.registers.len()];
        for (pc, i) in t.code.iter().enumerate() {
            next(&t.code, pc).into_iter().filter(|to| *to < t.code.len()).for_each(|to| before[to].push(pc));
            if let Some(r) = writes(i) {
                assigned[r as usize] += 1;
                definitions[r as usize] = match i {
                    Instr::Let(_, e) if assigned[r as usize] == 1 && r as usize >= t.arguments => Some(e),
                    _ => None,
                };
            }
        }
        Code { t, before, definitions }
    }

    /// Returns what is known after an instruction. `None`: it does not come to an end.
    fn after(&self, pc: usize, held: &Held) -> Option<Held> {
        let mut held = held.clone();
        match &self.t.code[pc] {
            Instr::Assume(Expr::Const(0)) => return None,
            Instr::AtomicBegin => held.atomic += 1,
            Instr::AtomicEnd => held.atomic = held.atomic.saturating_sub(1),
            Instr::Spawn(..) => held.started = true,
            Instr::Acquire(e) => {
                if let Some(a) = self.exclusive(pc, e) {
                    held.locks.insert(a);
                }
            }
            Instr::Release(e) => match self.known(e) {
                Some(a) => _ = held.locks.remove(&a),
                None => held.locks.clear(),
            },
            _ => {}
        }
        Some(held)
    }

    /// Returns the lock that is taken, if no other thread can hold it then: its word was 0 in the same
    /// atomic section, and is not any more. Of a private variable each thread has one of its own,
    /// which keeps no other thread out.
    pub(crate) fn exclusive(&self, pc: usize, lock: &Expr) -> Option<i64> {
        let (a, code) = (self.known(lock).filter(|a| !is_private(*a))?, &self.t.code);
        let store = pc.checked_sub(1)?;
        let Instr::Store(to, v, at) = &code[store] else { return None };
        let mut registers = 0;
        v.registers(&mut |_| registers += 1);
        if self.known(to) != Some(a) || at.size != 4 || registers > 0 || *v == Expr::Const(0) {
            return None;
        }
        let mut tested = false;
        for &p in &self.before[store] {
            match &code[p] {
                Instr::Assume(Expr::Const(0)) => {}
                Instr::Branch(Expr::Bin(BinOp::Eq, x, y, _), yes, no)
                    if *yes == store && *no != store && p >= 2 =>
                {
                    let (Expr::Reg(r), Expr::Const(0)) = (&**x, &**y) else { return None };
                    let loads = matches!(&code[p - 1], Instr::Load(q, from, at) if q == r && at.size == 4 && self.known(from) == Some(a));
                    // Nothing jumps in between.
                    let straight = self.before[p] == [p - 1] && self.before[p - 1] == [p - 2];
                    if !loads || !straight || code[p - 2] != Instr::AtomicBegin {
                        return None;
                    }
                    tested = true;
                }
                _ => return None,
            }
        }
        tested.then_some(a)
    }

    /// Returns the address that an expression always has, if it is known.
    pub(crate) fn known(&self, e: &Expr) -> Option<i64> {
        match self.resolve(e, 20)? {
            (a, true) => Some(a),
            _ => None,
        }
    }

    /// Returns the object that an expression is an address in, with its offset if that is known (`true`).
    pub(crate) fn resolve(&self, e: &Expr, depth: u32) -> Option<(i64, bool)> {
        let depth = depth.checked_sub(1)?;
        match e {
            Expr::Const(a) if object_of(*a) > 0 => Some((*a, true)),
            Expr::Bin(BinOp::Add, a, b, _) => match (&**a, &**b) {
                (base, Expr::Const(n)) if object_of(*n) == 0 => {
                    self.resolve(base, depth).map(|(a, exact)| (a + n, exact))
                }
                // An index: a number, not an address.
                (base, Expr::Bin(BinOp::Mul, ..)) => {
                    self.resolve(base, depth).map(|(a, _)| (address(object_of(a), 0), false))
                }
                _ => None,
            },
            Expr::Reg(r) => self.resolve(self.definitions[*r as usize]?, depth),
            _ => None,
        }
    }
}

/// An access to shared memory, and what is known there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Touched {
    template: usize,
    /// The bytes of the object, if they are known.
    bytes: Option<(i64, i64)>,
    writes: bool,
    atomic: bool,
    locks: BTreeSet<i64>,
    /// Whether there may be other threads.
    started: bool,
}

/// Maximum number of different accesses to one object.
const MOST: usize = 2000;

/// What sets of locks were found to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    /// The number of instructions that were compared.
    pub instructions: usize,
    /// That the sets were checked.
    pub checked: Checked,
}

/// Checks that the sets are right and that no two threads can race. Returns what was compared, or
/// why they may race.
pub fn check(program: &Program, sets: &Locksets) -> Result<Compared, String> {
    // By object; alike ones once, with the first line.
    let mut touched: BTreeMap<i64, BTreeMap<Touched, String>> = BTreeMap::new();
    // The locks that some set relies on.
    let mut locks: BTreeSet<i64> = BTreeSet::new();
    let mut count = 0;
    follow_from_the_start(program, sets)?;
    for (template, (t, known_at)) in program.templates.iter().zip(&sets.at).enumerate() {
        let code = Code::new(t);
        for (pc, held) in known_at.iter().enumerate() {
            let Some(held) = held else { continue };
            locks.extend(&held.locks);
            let here = || place(program, template, pc);
            match &t.code[pc] {
                Instr::Unmodelled(why) => return Err(format!("{}: {why}", here())),
                Instr::Free(_) | Instr::Resize(..) => return Err(format!("{}: memory is freed", here())),
                _ => {}
            }
            if let Some((object, touch)) = access(program, &code, template, pc, held)? {
                count += 1;
                touched.entry(object).or_default().entry(touch).or_insert_with(here);
            }
        }
    }
    words(program, sets, &locks)?;
    for list in touched.values() {
        if list.len() > MOST {
            return Err(format!("more than {MOST} different accesses to one object"));
        }
        for (i, (a, at)) in list.iter().enumerate() {
            if let Some((_, other)) = list.iter().skip(i).find(|(b, _)| may_race(program, a, b)) {
                return Err(format!("{at} and {other}: no lock is held at both"));
            }
        }
    }
    Ok(Compared { instructions: count, checked: Checked::of_source() })
}

/// Checks that sets hold: at the start, and after each instruction if they do before it. Calls are
/// not followed, so that there must be none.
pub(crate) fn follow_from_the_start(program: &Program, sets: &Locksets) -> Result<(), String> {
    if let Some(why) = program.not_flat() {
        return Err(why);
    }
    if sets.at.len() != program.templates.len() {
        return Err("there are other templates".into());
    }
    for (template, (t, known_at)) in program.templates.iter().zip(&sets.at).enumerate() {
        let code = Code::new(t);
        if known_at.len() != t.code.len() {
            return Err("there are other instructions".into());
        }
        match known_at.first() {
            Some(Some(first)) if first.covers(&Held::default()) => {}
            Some(_) => return Err("something is claimed about threads that start".into()),
            None => {}
        }
        for (pc, held) in known_at.iter().enumerate() {
            let Some(then) = held.as_ref().and_then(|held| code.after(pc, held)) else { continue };
            for to in next(&t.code, pc) {
                let claimed = known_at.get(to).and_then(Option::as_ref);
                if !claimed.is_some_and(|claimed| claimed.covers(&then)) {
                    let here = place(program, template, pc);
                    return Err(format!("{here}: what is claimed after it does not follow"));
                }
            }
        }
    }
    Ok(())
}

fn may_race(program: &Program, a: &Touched, b: &Touched) -> bool {
    let apart = match (a.bytes, b.bytes) {
        (Some(x), Some(y)) => x.1 <= y.0 || y.1 <= x.0,
        _ => false,
    };
    let alone = a.template == b.template && program.templates[a.template].single;
    let harmless = apart || alone || !(a.writes || b.writes) || a.atomic && b.atomic;
    // Before the first thread starts another one, there is no other.
    !harmless && a.started && b.started && a.locks.is_disjoint(&b.locks)
}

/// Returns the access that an instruction makes, if it is one that can be part of a race, and the object.
fn access(
    program: &Program,
    code: &Code<'_>,
    template: usize,
    pc: usize,
    held: &Held,
) -> Result<Option<(i64, Touched)>, String> {
    let t = code.t;
    let (address, size, writes) = match &t.code[pc] {
        Instr::Load(_, a, at) => (a, at.size, false),
        Instr::Store(a, _, at) => (a, at.size, true),
        _ => return Ok(None),
    };
    if t.access[pc] == Access::Internal {
        return Ok(None);
    }
    let Some((a, exact)) = code.resolve(address, 20) else {
        return Err(format!("{}: an access through a pointer", place(program, template, pc)));
    };
    let object = object_of(a);
    if object >= PRIVATE {
        return Ok(None);
    }
    match usize::try_from(object - 1).ok().and_then(|o| program.objects.get(o)) {
        None => return Err(format!("{}: an access to what is not a variable", place(program, template, pc))),
        Some(o) if !o.visible => return Ok(None),
        Some(_) => {}
    }
    let from = offset_of(a);
    let touch = Touched {
        template,
        bytes: exact.then_some((from, from + i64::from(size))),
        writes,
        atomic: t.access[pc].is_atomic() || held.atomic > 0,
        locks: held.locks.clone(),
        started: held.started || !is_first(program, template),
    };
    Ok(Some((object, touch)))
}

/// Returns whether the template is that of the thread with which the program starts, and of no other.
fn is_first(program: &Program, template: usize) -> bool {
    program.start == Start::One(template) && program.templates[template].single
}

/// Checks that the words of these locks are written only by those that take them, by those that hold
/// them and give them back, and before there are other threads.
pub(crate) fn words(program: &Program, sets: &Locksets, locks: &BTreeSet<i64>) -> Result<(), String> {
    let about = |a: i64, size: i64| locks.iter().any(|&l| l < a + size && a < l + 4);
    for (template, t) in program.templates.iter().enumerate() {
        let code = Code::new(t);
        for (pc, i) in t.code.iter().enumerate() {
            let Some(held) = &sets.at[template][pc] else { continue };
            let wrong = || Err(format!("{}: a lock may change here", place(program, template, pc)));
            match i {
                Instr::Release(e) => match code.known(e) {
                    Some(a) if !locks.contains(&a) || held.locks.contains(&a) => {}
                    _ => return wrong(),
                },
                Instr::Store(e, v, at) => {
                    let Some((a, exact)) = code.resolve(e, 20) else {
                        match t.access[pc] {
                            // Somewhere else: plain accesses through pointers were refused.
                            Access::Internal if !locks.is_empty() => return wrong(),
                            _ => continue,
                        }
                    };
                    let hit = if exact {
                        about(a, i64::from(at.size))
                    } else {
                        locks.iter().any(|l| object_of(*l) == object_of(a))
                    };
                    let alone = is_first(program, template) && !held.started;
                    if !hit || alone && held.locks.iter().all(|l| object_of(*l) != object_of(a)) {
                        continue;
                    }
                    let follows = t.code.get(pc + 1);
                    let takes =
                        matches!(follows, Some(Instr::Acquire(e)) if code.exclusive(pc + 1, e) == Some(a));
                    let gives = matches!(follows, Some(Instr::Release(e)) if code.known(e) == Some(a))
                        && held.locks.contains(&a);
                    if !(takes || gives && *v == Expr::Const(0)) {
                        return wrong();
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

pub(crate) fn place(program: &Program, template: usize, pc: usize) -> String {
    format!("line {}", program.origin(template, pc).line)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use throng_c::{Options, read};
    use throng_lang::source::Source;

    const HEAD: &str = "typedef unsigned long pthread_t; typedef struct { int a[6]; } pthread_mutex_t;
int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
pthread_mutex_t m, n; int x, a[4];
";

    pub(crate) fn program(body: &str) -> Program {
        let main = "int main(void) { pthread_t t; x = 7; while (1) pthread_create(&t, 0, f, 0); }";
        whole(&format!("void *f(void *p) {{ {body} return 0; }}\n{main}\n"))
    }

    /// Functions behind the declarations that all tests have.
    pub(crate) fn whole(functions: &str) -> Program {
        let text = format!("{HEAD}{functions}");
        let mut options = Options::default();
        options.question.race = true;
        let loaded =
            read(Source::new("a.i", text.clone()), text, &options).map_err(|r| r.diagnostics).unwrap();
        Program::clone(&loaded.query.program)
    }

    fn proved(body: &str) -> Result<Compared, String> {
        let program = program(body);
        check(&program, &locksets(&program))
    }

    #[test]
    fn one_lock_around_every_access_is_enough_and_necessary() {
        let lock =
            |l: &str, inside: &str| format!("pthread_mutex_lock(&{l}); {inside} pthread_mutex_unlock(&{l});");
        assert!(proved(&lock("m", "x++;")).is_ok());
        assert!(proved(&lock("m", "for (int i = 0; i < 4; i++) a[i]++;")).is_ok());
        assert!(proved(&lock("n", &lock("m", "x++;"))).is_ok());
        assert!(proved(&format!("int *q = &x; {}", lock("m", "*q = 1;"))).is_ok());
        let refused = [
            "x++;".to_string(),
            format!("{} x = 1;", lock("m", "x++;")),
            format!("{} {}", lock("m", "x++;"), lock("n", "x++;")),
            // Each thread has a lock of its own.
            format!("static _Thread_local pthread_mutex_t o; {}", lock("o", "x++;")),
            // A thread that does not hold the lock gives it back.
            format!("{} pthread_mutex_unlock(&m);", lock("m", "x++;")),
            // The word of the lock is written by other means.
            lock("m", "x++; m.a[0] = 0;"),
            lock("m", "pthread_mutex_unlock(&m); x++; pthread_mutex_lock(&m);"),
            "if (x) pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);".to_string(),
        ];
        for body in &refused {
            assert!(proved(body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_set_that_claims_too_much_is_refused() {
        let program = program("pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);");
        let right = locksets(&program);
        assert!(check(&program, &right).is_ok());
        let (mut tried, mut refused) = (0, 0);
        let lock = right.at.iter().flatten().flatten().flat_map(|h| &h.locks).next().copied().unwrap();
        for (t, list) in right.at.iter().enumerate() {
            for (pc, held) in list.iter().enumerate().filter(|h| h.1.is_some()) {
                let mut claims = right.clone();
                let Some(changed) = &mut claims.at[t][pc] else { continue };
                if held.as_ref().is_some_and(|h| !h.locks.contains(&lock)) {
                    changed.locks.insert(lock);
                    tried += 1;
                    refused += usize::from(check(&program, &claims).is_err());
                }
                let mut claims = right.clone();
                claims.at[t][pc] = None;
                tried += 1;
                refused += usize::from(check(&program, &claims).is_err());
            }
        }
        assert!(tried > 20 && refused == tried, "{refused} of {tried}");
    }
}
