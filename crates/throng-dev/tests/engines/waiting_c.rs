//! Threads of C programs that wait for ever: random programs with spin loops, locks, condition
//! variables, semaphores, futexes and joins, against an exhaustive search.
//!
//! The search here shares nothing with the product: it has its own language of operations, from
//! which the C program is written, and tells threads apart. A thread is stuck if in no world that
//! can follow it *acts*: changes something that others can tell, or ends. All threads are in a
//! deadlock if none acts any more.

#![allow(clippy::print_stderr)] // how much was run, and what was not

use std::collections::{BTreeMap, BTreeSet};

use throng::{Engine, Input, Job, Property};
use throng_model::limits::Limits;
use throng_model::random::Random;
use throng_model::verdict::Verdict;

/// What threads do. Variables are x and y, with values from 0 to 3.
#[derive(Clone, Copy, Debug)]
enum Op {
    Set(usize, u8),
    Xor(usize, u8),
    /// A load and a store of another value.
    Compute(usize, u8),
    While(usize, u8),
    Until(usize, u8),
    /// Two loads in each pass.
    Both(u8, u8),
    /// Exchange with the first value as long as the second one is found.
    Exchange(usize, u8, u8),
    Or(usize),
    Cas(usize, u8, u8),
    /// A loop of which some passes store to the other variable.
    Mixed(usize, u8),
    /// A loop that counts up to 2; the count is stored behind it.
    Count(usize, u8),
    /// Waits until the variable has changed.
    Change(usize),
    Locked(usize, u8),
    LockedWhile(usize, u8),
    Try(usize, u8),
    /// Waits for a condition variable as long as the variable has this value.
    Condition(usize, u8),
    Signal,
    Broadcast,
    Post,
    Down,
    Sleep(usize, u8),
    Wake(usize, u8),
}

const NAMES: [&str; 2] = ["x", "y"];

impl Op {
    fn random(random: &mut Random) -> Op {
        let mut below = |n: usize| random.below(n);
        let (v, c, d) = (below(2), below(3) as u8, below(3) as u8);
        match below(24) {
            0 | 1 => Op::Set(v, c),
            2 => Op::Xor(v, 1 + c),
            3 => Op::Compute(v, 1 + c),
            4 => Op::While(v, c),
            5 => Op::Until(v, c),
            6 => Op::Both(c, d),
            7 => Op::Exchange(v, c, d),
            8 => Op::Or(v),
            9 => Op::Cas(v, c, d),
            10 => Op::Mixed(v, c),
            11 => Op::Count(v, c),
            12 => Op::Change(v),
            13 => Op::Locked(v, c),
            14 => Op::LockedWhile(v, c),
            15 => Op::Try(v, c),
            16 | 17 => Op::Condition(v, c),
            18 => Op::Signal,
            19 => Op::Broadcast,
            20 => Op::Post,
            21 => Op::Down,
            22 => Op::Sleep(v, c),
            _ => Op::Wake(v, 1 + below(2) as u8),
        }
    }

    fn text(self) -> String {
        let n = |v: usize| NAMES[v];
        let load = |v: usize| format!("atomic_load(&{})", NAMES[v]);
        let locked =
            |inner: String| format!("{{ pthread_mutex_lock(&m); {inner} pthread_mutex_unlock(&m); }}");
        match self {
            Op::Set(v, c) => format!("atomic_store(&{}, {c});", n(v)),
            Op::Xor(v, c) => format!("atomic_fetch_xor(&{}, {c});", n(v)),
            Op::Compute(v, c) => format!("atomic_store(&{}, {} ^ {c});", n(v), load(v)),
            Op::While(v, c) => format!("while ({} == {c}) ;", load(v)),
            Op::Until(v, c) => format!("while ({} != {c}) sched_yield();", load(v)),
            Op::Both(c, d) => format!("while ({} == {c} && {} == {d}) ;", load(0), load(1)),
            Op::Exchange(v, c, d) => format!("while (atomic_exchange(&{}, {c}) == {d}) ;", n(v)),
            Op::Or(v) => format!("while (atomic_fetch_or(&{}, 1) & 1) ;", n(v)),
            Op::Cas(v, c, d) => {
                format!("do e = {c}; while (!atomic_compare_exchange_strong(&{}, &e, {d}));", n(v))
            }
            Op::Mixed(v, c) => format!(
                "while ({} == {c}) {{ if ({} == 2) atomic_store(&{}, 0); }}",
                load(v),
                load(1 - v),
                n(1 - v)
            ),
            Op::Count(v, c) => format!(
                "{{ k = 0; while ({} == {c}) {{ if (k < 2) k++; }} atomic_store(&{}, k); }}",
                load(v),
                n(1 - v)
            ),
            Op::Change(v) => {
                format!("{{ e = {0}; do {{ t = {0}; k = t != e; e = t; }} while (!k); }}", load(v))
            }
            Op::Locked(v, c) => locked(format!("atomic_store(&{}, {c});", n(v))),
            Op::LockedWhile(v, c) => locked(format!("while ({} == {c}) ;", load(v))),
            Op::Try(v, c) => format!(
                "{{ while (pthread_mutex_trylock(&m)) ; atomic_store(&{}, {c}); pthread_mutex_unlock(&m); }}",
                n(v)
            ),
            Op::Condition(v, c) => locked(format!("while ({} == {c}) pthread_cond_wait(&q, &m);", load(v))),
            Op::Signal => "pthread_cond_signal(&q);".into(),
            Op::Broadcast => "pthread_cond_broadcast(&q);".into(),
            Op::Post => "sem_post(&s);".into(),
            Op::Down => "sem_wait(&s);".into(),
            Op::Sleep(v, c) => {
                format!("while ({} == {c}) syscall(SYS_futex, &{}, FUTEX_WAIT, {c}, 0);", load(v), n(v))
            }
            Op::Wake(v, k) => format!("syscall(SYS_futex, &{}, FUTEX_WAKE, {k});", n(v)),
        }
    }
}

/// A function that threads run.
#[derive(Clone, Debug)]
struct Function {
    ops: Vec<Op>,
    again: bool,
}

#[derive(Clone, Debug)]
struct Written {
    functions: Vec<Function>,
    /// The functions of the threads that the first one starts and waits for.
    workers: Vec<usize>,
}

/// What others can see.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Seen {
    values: [u8; 2],
    locked: bool,
    semaphore: u8,
    /// Threads that wait for the condition variable.
    waiting: Vec<usize>,
    /// Threads that sleep, and at which variable.
    asleep: Vec<(usize, usize)>,
    /// Threads that were woken and have not noticed.
    woken: Vec<usize>,
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thread {
    Absent,
    Ended,
    /// At an operation, at a step of it, with two numbers.
    At(usize, u8, u8, u8),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct World {
    seen: Seen,
    /// The first is `main`: it starts the others, and then waits for each.
    threads: Vec<Thread>,
}

/// A step: the thread that takes it, where it leads, and whether the thread acts.
type Edge = (usize, usize, bool);

/// Maximum number of worlds of a program that is compared.
const MOST: usize = 500;

/// Maximum value of the semaphore.
const MOST_POSTED: u8 = 3;

impl Written {
    fn random(random: &mut Random) -> Written {
        let functions = 1 + random.below(2);
        let functions: Vec<Function> = (0..functions)
            .map(|_| {
                let count = 1 + random.below(4);
                let mut ops: Vec<Op> = (0..count).map(|_| Op::random(random)).collect();
                let again = random.below(2) == 0;
                if again {
                    // So that every way around acts.
                    ops.push(Op::Set(random.below(2), random.below(3) as u8));
                }
                Function { ops, again }
            })
            .collect();
        let count = 2 + random.below(2);
        let workers = (0..count).map(|n| if n < functions.len() { n } else { random.below(functions.len()) });
        Written { workers: workers.collect(), functions }
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdatomic.h>\n#include <semaphore.h>\n#include <sched.h>\n\
             #include <unistd.h>\n#include <sys/syscall.h>\n#include <linux/futex.h>\natomic_int x, y;\n\
             pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\npthread_cond_t q = PTHREAD_COND_INITIALIZER;\nsem_t s;\n",
        );
        for (f, function) in self.functions.iter().enumerate() {
            text += &format!("void *f{f}(void *a) {{\nint e = 0, t = 0;\nunsigned char k = 0;\n");
            text += if function.again { "while (1) {\n" } else { "{\n" };
            for (k, op) in function.ops.iter().enumerate() {
                text += &format!("F{f}L{k}: {}\n", op.text());
            }
            text += "}\nreturn 0;\n}\n";
        }
        text += &format!("int main(void) {{\npthread_t h[{}];\n", self.workers.len());
        for (n, f) in self.workers.iter().enumerate() {
            text += &format!("pthread_create(&h[{n}], 0, f{f}, 0);\n");
        }
        for n in 0..self.workers.len() {
            text += &format!("pthread_join(h[{n}], 0);\n");
        }
        text + "return 0;\n}\n"
    }

    /// Returns what thread `i` can do, with whether it acts.
    fn steps(&self, world: &World, i: usize) -> Vec<(World, bool)> {
        let Thread::At(op, step, a, b) = world.threads[i] else { return Vec::new() };
        let mut found = Vec::new();
        if i == 0 {
            self.main(world, op, &mut found);
            return found;
        }
        let function = &self.functions[self.workers[i - 1]];
        let mut context = Context { function, world, i, at: (op, step, a, b), found };
        context.step();
        context.found
    }

    fn main(&self, world: &World, op: usize, found: &mut Vec<(World, bool)>) {
        let n = self.workers.len();
        let mut after = world.clone();
        match op {
            op if op < n => after.threads[op + 1] = Thread::At(0, 0, 0, 0),
            op if world.threads[op - n + 1] != Thread::Ended => return,
            _ => {}
        }
        after.threads[0] = if op + 1 < 2 * n { Thread::At(op + 1, 0, 0, 0) } else { Thread::Ended };
        found.push((after, true));
    }

    /// Returns every world and the steps from there; `None` if there are too many.
    fn worlds(&self) -> Option<(Vec<World>, Vec<Vec<Edge>>)> {
        let mut threads = vec![Thread::Absent; self.workers.len() + 1];
        threads[0] = Thread::At(0, 0, 0, 0);
        let first = World { seen: Seen::default(), threads };
        let mut numbers = BTreeMap::from([(first.clone(), 0)]);
        let (mut all, mut edges) = (vec![first], Vec::new());
        while edges.len() < all.len() {
            let here = all[edges.len()].clone();
            let mut out = Vec::new();
            for i in 0..here.threads.len() {
                for (after, acts) in self.steps(&here, i) {
                    if after.seen.semaphore > MOST_POSTED {
                        return None;
                    }
                    let n = *numbers.entry(after.clone()).or_insert_with(|| {
                        all.push(after);
                        all.len() - 1
                    });
                    out.push((i, n, acts));
                }
            }
            edges.push(out);
            if all.len() > MOST {
                return None;
            }
        }
        Some((all, edges))
    }
}

/// A thread that takes a step.
struct Context<'w> {
    function: &'w Function,
    world: &'w World,
    i: usize,
    at: (usize, u8, u8, u8),
    found: Vec<(World, bool)>,
}

impl Context<'_> {
    fn to(&mut self, thread: Thread, acts: bool, change: impl FnOnce(&mut Seen)) {
        let mut after = self.world.clone();
        change(&mut after.seen);
        after.threads[self.i] = thread;
        let ends = thread == Thread::Ended;
        self.found.push((after, acts || ends));
    }

    /// Goes to another step of the operation.
    fn stay(&mut self, step: u8, numbers: (u8, u8), acts: bool, change: impl FnOnce(&mut Seen)) {
        self.to(Thread::At(self.at.0, step, numbers.0, numbers.1), acts, change);
    }

    /// Goes to the next operation.
    fn next(&mut self, acts: bool, change: impl FnOnce(&mut Seen)) {
        let next = match (self.at.0 + 1 < self.function.ops.len(), self.function.again) {
            (true, _) => Thread::At(self.at.0 + 1, 0, 0, 0),
            (false, true) => Thread::At(0, 0, 0, 0),
            (false, false) => Thread::Ended,
        };
        self.to(next, acts, change);
    }

    fn leave_if(&mut self, leaves: bool, changes: bool, change: impl FnOnce(&mut Seen)) {
        match leaves {
            true => self.next(changes, change),
            false => self.stay(0, (0, 0), changes, change),
        }
    }

    fn lock(&mut self, step: u8) {
        if !self.world.seen.locked {
            self.stay(step, (0, 0), true, |s| s.locked = true);
        }
    }

    fn unlock(&mut self) {
        self.next(true, |s| s.locked = false);
    }

    fn step(&mut self) {
        let (op, step, a, b) = self.at;
        let op = self.function.ops[op];
        let value = |v: usize| self.world.seen.values[v];
        let i = self.i;
        match (op, step) {
            (Op::Set(v, c), _) => self.next(true, |s| s.values[v] = c),
            (Op::Xor(v, c), _) => self.next(true, |s| s.values[v] ^= c),
            (Op::Compute(v, c), 0) => self.stay(1, (value(v) ^ c, 0), false, |_| {}),
            (Op::Compute(v, _), _) => self.next(true, |s| s.values[v] = a),
            (Op::While(v, c), _) => self.leave_if(value(v) != c, false, |_| {}),
            (Op::Until(v, c), _) => self.leave_if(value(v) == c, false, |_| {}),
            (Op::Both(c, _), 0) if value(0) != c => self.next(false, |_| {}),
            (Op::Both(..), 0) => self.stay(1, (0, 0), false, |_| {}),
            (Op::Both(_, d), _) => self.leave_if(value(1) != d, false, |_| {}),
            (Op::Exchange(v, c, d), _) => self.leave_if(value(v) != d, value(v) != c, |s| s.values[v] = c),
            (Op::Or(v), _) => self.leave_if(value(v) & 1 == 0, value(v) & 1 == 0, |s| s.values[v] |= 1),
            (Op::Cas(v, c, d), _) => {
                let is = value(v) == c;
                self.leave_if(is, is && c != d, |s| s.values[v] = if is { d } else { s.values[v] });
            }
            (Op::Mixed(v, c), 0) if value(v) != c => self.next(false, |_| {}),
            (Op::Mixed(..), 0) => self.stay(1, (0, 0), false, |_| {}),
            (Op::Mixed(v, _), 1) => {
                let stores = value(1 - v) == 2;
                self.stay(if stores { 2 } else { 0 }, (0, 0), false, |_| {});
            }
            (Op::Mixed(v, _), _) => self.stay(0, (0, 0), true, |s| s.values[1 - v] = 0),
            (Op::Count(v, c), 0) if value(v) == c => self.stay(0, ((a + 1).min(2), 0), false, |_| {}),
            (Op::Count(..), 0) => self.stay(1, (a, 0), false, |_| {}),
            (Op::Count(v, _), _) => self.next(true, |s| s.values[1 - v] = a),
            (Op::Change(v), 0) => self.stay(1, (value(v), 0), false, |_| {}),
            (Op::Change(v), _) if value(v) == a => self.stay(1, (a, b), false, |_| {}),
            (Op::Change(_), _) => self.next(false, |_| {}),
            (Op::Locked(..) | Op::LockedWhile(..) | Op::Condition(..), 0) => self.lock(1),
            (Op::Locked(v, c), 1) => self.stay(2, (0, 0), true, |s| s.values[v] = c),
            (Op::LockedWhile(v, c), 1) => {
                let step = if value(v) == c { 1 } else { 2 };
                self.stay(step, (0, 0), false, |_| {});
            }
            (Op::Try(..), 0) if self.world.seen.locked => self.stay(0, (0, 0), false, |_| {}),
            (Op::Try(..), 0) => self.lock(1),
            (Op::Try(v, c), 1) => self.stay(2, (0, 0), true, |s| s.values[v] = c),
            (Op::Locked(..) | Op::LockedWhile(..) | Op::Try(..), _) => self.unlock(),
            (Op::Condition(v, c), 1) => {
                let step = if value(v) == c { 2 } else { 5 };
                self.stay(step, (0, 0), false, |_| {});
            }
            (Op::Condition(..), 2) => self.stay(3, (0, 0), true, |s| {
                s.locked = false;
                s.waiting.push(i);
                s.waiting.sort_unstable();
            }),
            (Op::Condition(..), 3) => self.wake_up(4),
            (Op::Condition(..), 4) => self.lock(1),
            (Op::Condition(..), _) => self.unlock(),
            (Op::Signal, _) => self.signal(),
            (Op::Broadcast, _) => {
                let acts = !self.world.seen.waiting.is_empty();
                self.next(acts, |s| {
                    s.woken.append(&mut s.waiting);
                    s.woken.sort_unstable();
                });
            }
            (Op::Post, _) => self.next(true, |s| s.semaphore += 1),
            (Op::Down, _) if self.world.seen.semaphore > 0 => self.next(true, |s| s.semaphore -= 1),
            (Op::Down, _) => {}
            (Op::Sleep(v, c), 0) if value(v) != c => self.next(false, |_| {}),
            (Op::Sleep(..), 0) => self.stay(1, (0, 0), false, |_| {}),
            (Op::Sleep(v, c), 1) if value(v) != c => self.stay(0, (0, 0), false, |_| {}),
            (Op::Sleep(v, _), 1) => self.stay(2, (0, 0), true, |s| {
                s.asleep.push((i, v));
                s.asleep.sort_unstable();
            }),
            (Op::Sleep(..), _) => self.wake_up(0),
            (Op::Wake(v, n), _) => self.wake(v, n.into()),
        }
    }

    /// Notices that it was woken.
    fn wake_up(&mut self, step: u8) {
        let i = self.i;
        if self.world.seen.woken.contains(&i) {
            self.stay(step, (0, 0), true, |s| s.woken.retain(|&w| w != i));
        }
    }

    fn signal(&mut self) {
        let waiting = self.world.seen.waiting.clone();
        for &w in &waiting {
            self.next(true, |s| {
                s.waiting.retain(|&other| other != w);
                s.woken.push(w);
                s.woken.sort_unstable();
            });
        }
        if waiting.is_empty() {
            self.next(false, |_| {});
        }
    }

    /// Wakes as many of those that sleep at a variable: any.
    fn wake(&mut self, v: usize, most: usize) {
        let asleep: Vec<usize> = self.world.seen.asleep.iter().filter(|e| e.1 == v).map(|e| e.0).collect();
        let most = most.min(asleep.len());
        for chosen in 0..1u32 << asleep.len() {
            if chosen.count_ones() as usize != most {
                continue;
            }
            let woken: Vec<usize> =
                (0..asleep.len()).filter(|n| chosen >> n & 1 == 1).map(|n| asleep[n]).collect();
            self.next(most > 0, |s| {
                s.asleep.retain(|e| !woken.contains(&e.0));
                s.woken.extend(&woken);
                s.woken.sort_unstable();
            });
        }
    }
}

/// The worlds of a program.
struct Worlds<'w> {
    written: &'w Written,
    all: Vec<World>,
    edges: Vec<Vec<Edge>>,
}

impl Worlds<'_> {
    fn is_alive(&self, n: usize, i: usize) -> bool {
        matches!(self.all[n].threads[i], Thread::At(..))
    }

    fn is_at(&self, n: usize, i: usize, (f, op): (usize, usize)) -> bool {
        i > 0
            && self.written.workers[i - 1] == f
            && matches!(self.all[n].threads[i], Thread::At(at, ..) if at == op)
    }

    fn threads(&self) -> std::ops::Range<usize> {
        0..self.written.workers.len() + 1
    }

    /// Returns the worlds after which something of a kind can never come.
    fn never(&self, wanted: impl Fn(usize, &Edge) -> bool) -> Vec<bool> {
        let mut may: Vec<bool> =
            (0..self.all.len()).map(|n| self.edges[n].iter().any(|e| wanted(n, e))).collect();
        loop {
            let more: Vec<usize> =
                (0..may.len()).filter(|&n| !may[n] && self.edges[n].iter().any(|e| may[e.1])).collect();
            if more.is_empty() {
                return may.into_iter().map(|may| !may).collect();
            }
            more.into_iter().for_each(|n| may[n] = true);
        }
    }

    fn has_deadlock(&self) -> bool {
        let never = self.never(|_, e| e.2);
        (0..self.all.len()).any(|n| never[n] && self.threads().any(|i| self.is_alive(n, i)))
    }

    fn has_stuck(&self) -> bool {
        self.threads().any(|i| {
            let never = self.never(|_, e| e.0 == i && e.2);
            (0..self.all.len()).any(|n| never[n] && self.is_alive(n, i))
        })
    }

    fn has_stuck_at(&self, place: (usize, usize)) -> bool {
        self.threads().any(|i| {
            let never = self.never(|_, e| e.0 == i && (e.2 || !self.is_at(e.1, i, place)));
            (0..self.all.len()).any(|n| never[n] && self.is_at(n, i, place))
        })
    }

    fn starves(&self, place: (usize, usize)) -> bool {
        self.threads().any(|i| {
            let there = (0..self.all.len()).filter(|&n| self.is_at(n, i, place)).collect();
            self.has_fair_part(&there)
        })
    }

    /// Returns whether an execution can stay among worlds for ever, or end there, and be fair.
    fn has_fair_part(&self, within: &BTreeSet<usize>) -> bool {
        let mut left = within.clone();
        while let Some(&n) = left.first() {
            if self.edges[n].is_empty() {
                return true;
            }
            let forward = self.reach(n, within);
            let part: BTreeSet<usize> =
                forward.into_iter().filter(|&m| self.reach(m, within).contains(&n)).collect();
            part.iter().for_each(|m| _ = left.remove(m));
            left.remove(&n);
            if part.is_empty() {
                continue;
            }
            let can = |m: usize, i: usize| self.edges[m].iter().any(|e| e.0 == i);
            let moves = |i: usize| {
                part.iter().any(|&m| self.edges[m].iter().any(|e| e.0 == i && part.contains(&e.1)))
            };
            let unfair: Vec<usize> =
                self.threads().filter(|&i| part.iter().any(|&m| can(m, i)) && !moves(i)).collect();
            if unfair.is_empty() {
                return true;
            }
            let rest: BTreeSet<usize> =
                part.iter().copied().filter(|&m| !unfair.iter().any(|&i| can(m, i))).collect();
            if !rest.is_empty() && self.has_fair_part(&rest) {
                return true;
            }
        }
        false
    }

    /// Returns the worlds within some that are reached from one by at least one step.
    fn reach(&self, from: usize, within: &BTreeSet<usize>) -> BTreeSet<usize> {
        let next = |n: usize| self.edges[n].iter().map(|e| e.1).filter(|m| within.contains(m));
        let mut seen: BTreeSet<usize> = next(from).collect();
        let mut work: Vec<usize> = seen.iter().copied().collect();
        while let Some(n) = work.pop() {
            let more: Vec<usize> = next(n).filter(|&m| seen.insert(m)).collect();
            work.extend(more);
        }
        seen
    }
}

/// Returns the questions about a program, and whether what is asked for happens.
fn questions(written: &Written, worlds: &Worlds<'_>) -> Vec<(Property, bool)> {
    let mut found = vec![
        (Property::NoDeadlock, worlds.has_deadlock()),
        (Property::NeverStuckAt("any".into()), worlds.has_stuck()),
    ];
    for (f, function) in written.functions.iter().enumerate() {
        for op in 0..function.ops.len() {
            let label = format!("F{f}L{op}");
            found.push((Property::NeverStuckAt(label.clone()), worlds.has_stuck_at((f, op))));
            found.push((Property::Leaves(label), worlds.starves((f, op))));
        }
    }
    found
}

/// Returns how many programs are compared: more, where that is asked for.
fn programs() -> usize {
    std::env::var("THRONG_WAITING_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

#[test]
fn threads_of_c_that_wait_are_those_of_an_exhaustive_search() {
    if !throng_dev::harness::has_compiler() {
        eprintln!("ignored: there is no C compiler");
        return;
    }
    let seed = std::env::var("THRONG_WAITING_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(17);
    let mut random = Random::new(seed);
    let path = std::env::temp_dir().join(format!("throng-waiting-{}.c", std::process::id()));
    let (mut counts, mut open, mut compared) = ([[0u32; 2]; 4], 0, 0);
    while compared < programs() {
        let written = Written::random(&mut random);
        let Some((all, edges)) = written.worlds() else { continue };
        compared += 1;
        let worlds = Worlds { written: &written, all, edges };
        let text = written.text();
        std::fs::write(&path, &text).expect("written");
        let input = Input::open(&path).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for (n, (property, happens)) in questions(&written, &worlds).into_iter().enumerate() {
            let job = Job::new(&input).property(property.clone());
            let outcome =
                job.check(Engine::Auto, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let said = match &outcome.answer.verdicts[..] {
                [Verdict::Safe(_)] => false,
                [Verdict::Unsafe(_)] => true,
                other => {
                    open += 1;
                    eprintln!("{property:?}: {other:?}\n{text}");
                    continue;
                }
            };
            assert_eq!(said, happens, "{property:?} (program {compared})\n{text}");
            let kind = if n < 2 { n } else { 2 + n % 2 };
            counts[kind][usize::from(said)] += 1;
        }
    }
    std::fs::remove_file(&path).expect("removed");
    eprintln!("safe, unsafe; deadlock, stuck any, stuck, starvation: {counts:?}; {open} open");
    assert!(counts.iter().flatten().all(|&n| n > 3), "both answers occur: {counts:?}");
    assert!(open * 20 < counts.iter().flatten().sum::<u32>(), "{open} are not answered");
}

/// What programs that are written by hand begin with.
const HEAD: &str = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x, y; int plain;\n";

/// Starts two threads, with the last two functions of a text.
const MAIN: &str =
    "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);
    pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";

/// Returns whether the answer about a program is UNSAFE.
fn is_violated(body: &str, property: &Property) -> bool {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let n = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("throng-waits-{}-{n}.c", std::process::id()));
    std::fs::write(&path, format!("{HEAD}{body}\n{MAIN}")).expect("written");
    let input = Input::open(&path).unwrap_or_else(|e| panic!("{e}\n{body}"));
    std::fs::remove_file(&path).expect("removed");
    let outcome = Job::new(&input).property(property.clone()).check(Engine::Auto, &Limits::default());
    match &outcome.unwrap_or_else(|e| panic!("{e}\n{body}")).answer.verdicts[..] {
        [Verdict::Safe(_)] => false,
        [Verdict::Unsafe(_)] => true,
        other => panic!("{property:?}: {other:?}\n{body}"),
    }
}

/// A thread that goes around one of these loops for ever changes nothing, although some way around
/// the loop does, or its registers differ.
#[test]
fn a_deadlock_of_threads_in_loops_is_seen_whatever_the_loops_look_like() {
    if !throng_dev::harness::has_compiler() {
        return;
    }
    let second = "void *g(void *a) { y = 1; x = 0; y = 0; return 0; }";
    for body in [
        "while (atomic_exchange(&x, 1)) ; x = x ^ 1; x = x | 1; while (atomic_exchange(&x, 1)) ;",
        "unsigned char n = 0; while (x == 0) n++; plain = n;",
        "int n = 0; while (x == 0) { if (n < 10) n++; } plain = n;",
        "while (x == 0) { if (y == 2) plain = 1; }",
        "int old = x, now, is; do { now = x; is = now != old; old = now; } while (!is);",
        "for (;;) { int e = 0; if (atomic_compare_exchange_strong(&x, &e, 1) && y == 2) break; }",
    ] {
        let text = format!("void *f(void *a) {{ {body} return 0; }}\n{second}");
        for property in [Property::NoDeadlock, Property::NeverStuckAt("any".into())] {
            assert!(is_violated(&text, &property), "{property:?}: {body}");
        }
    }
    let ends = format!("void *f(void *a) {{ return 0; }}\n{second}");
    assert!(!is_violated(&ends, &Property::NoDeadlock));
}

/// Labels, functions and lines are places, also where functions are called and not put in place.
#[test]
fn places_of_c_are_found() {
    if !throng_dev::harness::has_compiler() {
        return;
    }
    let stuck = |place: &str| Property::NeverStuckAt(place.into());
    let leaves = |place: &str| Property::Leaves(place.into());
    let waits =
        "void *f(void *a) {\nL: while (!x) ;\nM: y = 1;\nreturn 0; }\nvoid *g(void *a) { x = x; return 0; }";
    for (place, violated) in [("L", true), ("M", false), ("f", true), ("g", false), ("5", true), ("6", false)]
    {
        assert_eq!(is_violated(waits, &stuck(place)), violated, "stuck {place}");
        assert_eq!(is_violated(waits, &leaves(place)), violated, "starvation {place}");
    }
    // It comes back without an access to shared memory in between, or goes on to another call.
    for calls in
        ["while (1) acquire();", "while (1) { acquire(); acquire(); }", "while (1) {\nL: while (x) ;\n}"]
    {
        let text = format!(
            "void acquire(void) {{ while (x) ; }}\nvoid *f(void *a) {{ {calls} return 0; }}\n\
             void *g(void *a) {{ x = 1; x = 0; return 0; }}"
        );
        let place = if calls.contains('L') { "L" } else { "acquire" };
        assert!(!is_violated(&text, &leaves(place)), "{calls}");
    }
    let recursive = "void acquire(int n) { if (n) acquire(n - 1); else while (!x) ; }\n\
        void *f(void *a) { acquire(3); return 0; }\nvoid *g(void *a) { x = 1; x = 0; return 0; }";
    for property in [stuck("acquire"), leaves("acquire"), stuck("any"), Property::NoDeadlock] {
        assert!(is_violated(recursive, &property), "{property:?}");
    }
}
