//! Threads that wait for ever, and starvation: random programs with spin loops, against an
//! exhaustive search with threads that have names.
//!
//! The search here shares nothing with the product: it has its own language of operations, from
//! which the Boolean program is written; it tells threads apart, so that fairness is about threads;
//! and it looks for fair cycles by walking from every configuration.

#![allow(clippy::print_stderr)] // how much was run, and what was not

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use throng::{Engine, Input, Job, Property, Start};
use throng_check::rules::check;
use throng_lang::load::Format;
use throng_model::limits::Limits;
use throng_model::random::Random;
use throng_model::verdict::{Certificate, Relative, Verdict};

/// What threads do, in a loop or once. Variables are x and y.
#[derive(Clone, Copy, Debug)]
enum Op {
    Set(usize, bool),
    Flip(usize),
    /// `while x = v do skip`
    Spin(usize, bool),
    /// Exchange with 1 until a 0 was there.
    Take(usize),
    /// Exchange with the other variable until a 0 was there.
    Swap(usize),
    /// `assume(x = v)`
    Until(usize, bool),
    /// The next operation, or not.
    Perhaps,
}

#[derive(Clone, Debug)]
struct Written {
    ops: Vec<Op>,
    again: bool,
    threads: usize,
}

const NAMES: [&str; 2] = ["x", "y"];

impl Written {
    fn random(random: &mut Random) -> Written {
        let below = |random: &mut Random, n: usize| random.below(n);
        let count = 2 + below(random, 4);
        let mut ops: Vec<Op> = Vec::new();
        for _ in 0..count {
            let (v, b) = (below(random, 2), below(random, 2) == 1);
            ops.push(match below(random, 10) {
                0 | 1 => Op::Set(v, b),
                2 => Op::Flip(v),
                3 | 4 => Op::Spin(v, b),
                5 | 6 => Op::Take(v),
                7 => Op::Until(v, b),
                8 => Op::Swap(v),
                _ => Op::Perhaps,
            });
        }
        ops.push(Op::Set(0, below(random, 2) == 1));
        let threads = 2 + below(random, 3);
        let threads = if ops.len() > 4 { threads.min(3) } else { threads };
        Written { ops, again: below(random, 3) > 0, threads }
    }

    fn text(&self) -> String {
        let mut body = String::new();
        let mut skip = None;
        for (k, op) in self.ops.iter().enumerate() {
            let open = skip == Some(k);
            let is = |v: usize, b: bool| format!("{}{}", if b { "" } else { "!" }, NAMES[v]);
            body += &match *op {
                Op::Set(v, b) => format!("L{k}: {} := {};\n", NAMES[v], u8::from(b)),
                Op::Flip(v) => format!("L{k}: {0} := !{0};\n", NAMES[v]),
                Op::Spin(v, b) => format!("L{k}: while {} do skip; od\n", is(v, b)),
                Op::Take(v) => format!("t := 1;\nL{k}: while t do t, {0} := {0}, 1; od\n", NAMES[v]),
                Op::Swap(v) => {
                    format!("t := 1;\nL{k}: while t do t, {0} := {0}, {1}; od\n", NAMES[v], NAMES[1 - v])
                }
                Op::Until(v, b) => format!("L{k}: assume({});\n", is(v, b)),
                Op::Perhaps => {
                    skip = Some(k + 1);
                    "if * then\n".into()
                }
            };
            if open {
                body += "fi\n";
                skip = skip.filter(|&s| s != k);
                if matches!(op, Op::Perhaps) {
                    unreachable!("operations to skip are not `Perhaps`");
                }
            }
        }
        let (before, after) = if self.again { ("while 1 do\n", "od\n") } else { ("", "") };
        format!("decl x := 0, y := 0;\nvoid main() begin\ndecl t := 0;\n{before}{body}{after}end\n")
    }
}

/// Where a thread is: its operation and the step of it; and its variable. The end is behind the
/// last operation.
type Thread = (usize, u8, bool);

/// Worlds, and for each the steps from there: the thread that moves, and the world it leads to.
type Worlds = (Vec<World>, Vec<Vec<(usize, usize)>>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct World {
    shared: [bool; 2],
    threads: Vec<Thread>,
}

impl Written {
    fn next(&self, op: usize) -> Thread {
        match op + 1 < self.ops.len() || !self.again {
            true => (op + 1, 0, false),
            false => (0, 0, false),
        }
    }

    /// Returns what a thread can do.
    fn steps(&self, world: &World, i: usize) -> Vec<World> {
        let (op, step, t) = world.threads[i];
        let Some(what) = self.ops.get(op) else { return Vec::new() };
        let mut found = Vec::new();
        let mut go = |to: Thread, shared: [bool; 2]| {
            let mut threads = world.threads.clone();
            threads[i] = to;
            found.push(World { shared, threads });
        };
        let with = |v: usize, b: bool| {
            let mut shared = world.shared;
            shared[v] = b;
            shared
        };
        match (*what, step) {
            (Op::Set(v, b), _) => go(self.next(op), with(v, b)),
            (Op::Flip(v), _) => go(self.next(op), with(v, !world.shared[v])),
            (Op::Spin(v, b), 0) if world.shared[v] == b => go((op, 1, false), world.shared),
            (Op::Spin(..), 0) => go(self.next(op), world.shared),
            (Op::Spin(..), _) => go((op, 0, false), world.shared),
            (Op::Take(_) | Op::Swap(_), 0) => go((op, 1, true), world.shared),
            (Op::Take(_) | Op::Swap(_), 1) if t => go((op, 2, true), world.shared),
            (Op::Take(_) | Op::Swap(_), 1) => go(self.next(op), world.shared),
            (Op::Swap(v), _) => go((op, 1, world.shared[v]), with(v, world.shared[1 - v])),
            (Op::Take(v), _) => go((op, 1, world.shared[v]), with(v, true)),
            (Op::Until(v, b), _) if world.shared[v] == b => go(self.next(op), world.shared),
            (Op::Until(..), _) => {}
            (Op::Perhaps, _) => {
                go(self.next(op), world.shared);
                go(self.next(op + 1), world.shared);
            }
        }
        found
    }

    fn is_at(&self, world: &World, i: usize, op: usize) -> bool {
        let (at, step, _) = world.threads[i];
        at == op && (step > 0 || !matches!(self.ops[op], Op::Take(_) | Op::Swap(_)))
    }

    /// Returns every world, with the number of the thread and of the world that each step leads to.
    fn worlds(&self) -> Worlds {
        let first = World { shared: [false; 2], threads: vec![(0, 0, false); self.threads] };
        let mut numbers = BTreeMap::from([(first.clone(), 0)]);
        let (mut all, mut edges) = (vec![first], Vec::new());
        while edges.len() < all.len() {
            let here = all[edges.len()].clone();
            let mut out = Vec::new();
            for i in 0..self.threads {
                for after in self.steps(&here, i) {
                    let n = *numbers.entry(after.clone()).or_insert_with(|| {
                        all.push(after);
                        all.len() - 1
                    });
                    out.push((i, n));
                }
            }
            edges.push(out);
        }
        (all, edges)
    }

    /// Returns whether thread 0 can be at an operation and never leave it, whatever happens.
    fn is_stuck(&self, op: usize, worlds: &Worlds) -> bool {
        let (all, edges) = worlds;
        let mut leaves: Vec<bool> = all.iter().map(|w| !self.is_at(w, 0, op)).collect();
        loop {
            let more: Vec<usize> =
                (0..all.len()).filter(|&n| !leaves[n] && edges[n].iter().any(|e| leaves[e.1])).collect();
            if more.is_empty() {
                return leaves.iter().any(|l| !l);
            }
            more.into_iter().for_each(|n| leaves[n] = true);
        }
    }

    /// Returns whether all threads can wait, or have ended, and one waits: whatever they do, each
    /// stays at its operation, and nothing changes.
    fn is_deadlock(&self, worlds: &Worlds) -> bool {
        let (all, edges) = worlds;
        let at = |n: usize| (all[n].shared, all[n].threads.iter().map(|t| t.0).collect::<Vec<_>>());
        let waits = |n: usize| all[n].threads.iter().any(|t| t.0 < self.ops.len());
        let mut stays: Vec<bool> = (0..all.len()).map(waits).collect();
        loop {
            let leaves = |n: usize| edges[n].iter().any(|e| !stays[e.1] || at(e.1) != at(n));
            let fewer: Vec<usize> = (0..all.len()).filter(|&n| stays[n] && leaves(n)).collect();
            if fewer.is_empty() {
                return stays.contains(&true);
            }
            fewer.into_iter().for_each(|n| stays[n] = false);
        }
    }

    /// Returns whether under a fair scheduler thread 0 can stay at an operation for ever: a set of
    /// worlds that reach each other while it does, in which every thread moves that can.
    fn starves(&self, op: usize, worlds: &Worlds) -> bool {
        let (all, edges) = worlds;
        let there = (0..all.len()).filter(|&n| self.is_at(&all[n], 0, op)).collect();
        self.has_fair_part(edges, there)
    }

    fn has_fair_part(&self, edges: &[Vec<(usize, usize)>], within: BTreeSet<usize>) -> bool {
        let mut left = within.clone();
        while let Some(&n) = left.first() {
            // All that n reaches, and that reaches n.
            let forward =
                reach(n, &|m| edges[m].iter().map(|e| e.1).filter(|k| within.contains(k)).collect());
            let part: BTreeSet<usize> = forward
                .iter()
                .copied()
                .filter(|&m| {
                    m == n
                        || reach(m, &|k| {
                            edges[k].iter().map(|e| e.1).filter(|j| within.contains(j)).collect()
                        })
                        .contains(&n)
                })
                .collect();
            part.iter().for_each(|m| _ = left.remove(m));
            let can = |m: usize, i: usize| edges[m].iter().any(|e| e.0 == i);
            let moves =
                |i: usize| part.iter().any(|&m| edges[m].iter().any(|e| e.0 == i && part.contains(&e.1)));
            let unfair: Vec<usize> =
                (0..self.threads).filter(|&i| part.iter().any(|&m| can(m, i)) && !moves(i)).collect();
            if unfair.is_empty() {
                return true;
            }
            let rest: BTreeSet<usize> =
                part.iter().copied().filter(|&m| !unfair.iter().any(|&i| can(m, i))).collect();
            if !rest.is_empty() && self.has_fair_part(edges, rest) {
                return true;
            }
        }
        false
    }
}

fn reach(from: usize, next: &dyn Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let (mut seen, mut work) = (BTreeSet::from([from]), vec![from]);
    while let Some(n) = work.pop() {
        work.extend(next(n).into_iter().filter(|&m| seen.insert(m)));
    }
    seen
}

fn asked<'i>(input: &'i Input, threads: usize) -> Job<'i> {
    Job::new(input).start(Start::Threads(threads as u32))
}

/// Returns the answer: UNKNOWN only where a thread may be stuck in a loop that does not always wait.
fn is_violated(text: &str, job: Job<'_>) -> Option<bool> {
    let outcome = job.check(Engine::Auto, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match &outcome.answer.verdicts[..] {
        [Verdict::Safe(_)] => Some(false),
        [Verdict::Unsafe(_)] => Some(true),
        [Verdict::Unknown(why)] if why.to_string().contains("goes around a loop") => None,
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn stuck_threads_and_starvation_are_those_of_an_exhaustive_search() {
    let mut random = Random::new(7);
    let (mut counts, mut open) = ([[0; 2]; 4], 0);
    for _ in 0..200 {
        let mut written = Written::random(&mut random);
        // `Perhaps` is about one operation that is not one itself.
        for k in 1..written.ops.len() {
            if matches!((written.ops[k - 1], written.ops[k]), (Op::Perhaps, Op::Perhaps)) {
                written.ops[k] = Op::Flip(1);
            }
        }
        let worlds = written.worlds();
        if worlds.0.len() > 500 {
            continue;
        }
        let text = written.text();
        let input = Input::from_text(&text, Format::Bp).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let waits = |op: usize| !matches!(written.ops[op], Op::Perhaps);
        let mut any = false;
        for op in (0..written.ops.len()).filter(|&op| waits(op)) {
            let label = format!("L{op}");
            let is_stuck = written.is_stuck(op, &worlds);
            any |= is_stuck;
            let said = is_violated(&text, asked(&input, written.threads).never_stuck_at(&label));
            if let Some(said) = said {
                assert_eq!(said, is_stuck, "stuck {label}, {} threads\n{text}", written.threads);
                counts[0][usize::from(said)] += 1;
            }
            open += u32::from(said.is_none());
            let starves = written.starves(op, &worlds);
            let said = is_violated(&text, asked(&input, written.threads).leaves(&label));
            assert_eq!(said, Some(starves), "starvation {label}, {} threads\n{text}", written.threads);
            counts[1][usize::from(starves)] += 1;
        }
        let said = is_violated(&text, asked(&input, written.threads).never_stuck_at("any"));
        assert_eq!(said, Some(any), "stuck any, {} threads\n{text}", written.threads);
        counts[2][usize::from(any)] += 1;
        let deadlock = written.is_deadlock(&worlds);
        let said = is_violated(&text, asked(&input, written.threads).property(Property::NoDeadlock));
        assert_eq!(said, Some(deadlock), "deadlock, {} threads\n{text}", written.threads);
        counts[3][usize::from(deadlock)] += 1;
    }
    eprintln!("holds, violated; stuck, starvation, stuck any, deadlock: {counts:?}, {open} open");
    assert!(counts.iter().flatten().all(|&n| n > 20), "both answers occur: {counts:?}");
    assert!(open * 10 < counts[0][0], "{open} are not answered");
}

/// What is asked about any number of threads.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Deadlock,
    Stuck(usize),
    Starvation(usize),
}

impl Asked {
    fn of(self, job: Job<'_>) -> Job<'_> {
        match self {
            Asked::Deadlock => job.property(Property::NoDeadlock),
            Asked::Stuck(op) => job.never_stuck_at(&format!("L{op}")),
            Asked::Starvation(op) => job.leaves(&format!("L{op}")),
        }
    }

    fn holds(self, written: &Written, worlds: &Worlds) -> bool {
        match self {
            Asked::Deadlock => written.is_deadlock(worlds),
            Asked::Stuck(op) => written.is_stuck(op, worlds),
            Asked::Starvation(op) => written.starves(op, worlds),
        }
    }
}

/// The most worlds that the search here looks at.
const MOST: usize = 700;

impl Written {
    /// A random program, for any number of threads.
    fn of_many(random: &mut Random) -> Written {
        let mut written = Written::random(random);
        for k in 1..written.ops.len() {
            if matches!((written.ops[k - 1], written.ops[k]), (Op::Perhaps, Op::Perhaps)) {
                written.ops[k] = Op::Flip(1);
            }
        }
        written
    }

    /// Returns the worlds of 1, 2, 3, 4 threads, as far as there are not too many.
    fn of_few(&self) -> Vec<(Written, Worlds)> {
        let each = (1..=4).map(|threads| {
            let few = Written { threads, ..self.clone() };
            let worlds = few.worlds();
            (few, worlds)
        });
        each.take_while(|(_, worlds)| worlds.0.len() <= MOST).collect()
    }

    fn questions(&self) -> Vec<Asked> {
        let waits = |op: &usize| !matches!(self.ops[*op], Op::Perhaps);
        let ops = || (0..self.ops.len()).filter(waits);
        let each = ops().map(Asked::Stuck).chain(ops().map(Asked::Starvation));
        each.chain([Asked::Deadlock]).collect()
    }
}

/// Numbers of questions: proved for any number of threads; not proved, although no few threads
/// violate them; violated.
type Counts = [[u32; 3]; 3];

fn count(counts: &mut Counts, asked: Asked, how: usize) {
    let kind = match asked {
        Asked::Deadlock => 0,
        Asked::Stuck(_) => 1,
        Asked::Starvation(_) => 2,
    };
    counts[kind][how] += 1;
}

/// Asks about a program, and compares the answer with what few threads do.
fn compare(text: &str, said: Vec<(Asked, Verdict)>, few: &[(Written, Worlds)], counts: &mut Counts) {
    for (asked, verdict) in said {
        let violated = few.iter().find(|(few, worlds)| asked.holds(few, worlds)).map(|e| e.0.threads);
        match (&verdict, violated) {
            (Verdict::Safe(_), Some(n)) => panic!("{asked:?} is violated by {n} threads\n{text}"),
            (Verdict::Safe(_), None) => count(counts, asked, 0),
            (_, None) => count(counts, asked, 1),
            (_, Some(_)) => count(counts, asked, 2),
        }
    }
}

#[test]
fn what_is_proved_for_any_number_of_threads_holds_for_few() {
    let mut random = Random::new(11);
    let mut counts = Counts::default();
    for _ in 0..120 {
        let written = Written::of_many(&mut random);
        let few = written.of_few();
        let text = written.text();
        let input = Input::from_text(&text, Format::Bp).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let ask = |asked: Asked| {
            let job = asked.of(Job::new(&input).start(Start::AnyNumber));
            // The prover alone: what a search finds is compared above.
            let outcome = job.check(Engine::Equations, &Limits::default());
            let outcome = outcome.unwrap_or_else(|e| panic!("{asked:?}: {e}\n{text}"));
            (asked, outcome.answer.verdicts[0].clone())
        };
        compare(&text, written.questions().into_iter().map(ask).collect(), &few, &mut counts);
    }
    eprintln!("proved, open, violated; deadlock, stuck, starvation: {counts:?}");
    assert!(counts.iter().all(|kind| kind[0] > 20 && kind[2] > 20), "{counts:?}");
}

/// Adds to one number.
fn add<T>(sum: &mut [(T, i64)], by: i64, random: &mut Random) {
    let n = random.below(sum.len());
    sum[n].1 += by;
}

/// Changes one number of a proof, or leaves a part of it out.
fn changed(proof: &Relative, random: &mut Random) -> Relative {
    let mut changed = proof.clone();
    let by = [-2, -1, 1, 2][random.below(4)];
    match random.below(4) {
        0 if !changed.ranks.is_empty() => {
            changed.ranks.remove(random.below(proof.ranks.len()));
        }
        1 if !changed.vectors.is_empty() => {
            changed.vectors.remove(random.below(proof.vectors.len()));
        }
        2 if !changed.ranks.is_empty() => {
            let rank = &mut changed.ranks[random.below(proof.ranks.len())];
            match rank.nodes.is_empty() {
                false => add(&mut rank.nodes, by, random),
                true => add(&mut rank.locals, by, random),
            }
        }
        _ if !changed.vectors.is_empty() => {
            let vector = &mut changed.vectors[random.below(proof.vectors.len())];
            match vector.shared.is_empty() {
                false => add(&mut vector.shared, by, random),
                true => add(&mut vector.locals, by, random),
            }
        }
        _ => {}
    }
    changed
}

/// No evidence is accepted for what is violated: not the proof of another question about the same
/// program, whose views are the same, nor a changed one.
#[test]
fn proofs_of_what_does_not_hold_are_rejected() {
    let mut random = Random::new(13);
    let (mut rejected, mut needed) = (0, 0);
    for _ in 0..60 {
        let written = Written::of_many(&mut random);
        let few = written.of_few();
        let text = written.text();
        let input = Input::from_text(&text, Format::Bp).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (mut proofs, mut violated) = (Vec::new(), Vec::new());
        for asked in written.questions() {
            let job = asked.of(Job::new(&input).start(Start::AnyNumber));
            let outcome = job.check(Engine::Equations, &Limits::default()).expect("an answer");
            let target = outcome.problem.targets[0].clone();
            match &outcome.answer.verdicts[0] {
                Verdict::Safe(Certificate::Relative(proof)) => {
                    proofs.push(Relative::clone(proof));
                    // Not every number matters, but some do.
                    let one = Verdict::Safe(Certificate::Relative(Arc::new(changed(proof, &mut random))));
                    needed += u32::from(check(&outcome.problem, &target, &one).is_err());
                }
                Verdict::Safe(Certificate::Views(views)) => {
                    proofs.push(Relative::of_views(views.clone()));
                }
                _ if few.iter().any(|(few, worlds)| asked.holds(few, worlds)) => {
                    violated.push((outcome.problem.clone(), target));
                }
                _ => {}
            }
        }
        for (problem, target) in &violated {
            for proof in &proofs {
                for proof in [proof.clone(), changed(proof, &mut random)] {
                    let claim = Verdict::Safe(Certificate::Relative(Arc::new(proof)));
                    assert!(check(problem, target, &claim).is_err(), "{}\n{text}", target.name);
                    rejected += 1;
                }
            }
        }
    }
    eprintln!("{rejected} false proofs rejected, {needed} changed ones");
    assert!(rejected > 500 && needed > 5, "{rejected}, {needed}");
}

/// A spin lock of which the section has two statements; a branch depends on data.
const SECTION: &str = "#include <stdatomic.h>
#include <pthread.h>
atomic_int lock; pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; int data;
void acquire(void) { while (atomic_exchange(&lock, 1)); }
void enter(void) { pthread_mutex_lock(&mutex); }
void spins(void) { while (1) { acquire(); data++; atomic_store(&lock, 0); } }
void sleeps(void) { while (1) { enter(); data++; pthread_mutex_unlock(&mutex); } }
";

/// Returns a file with one thing changed, for each thing that matters.
fn spoiled(document: &Value) -> Vec<Value> {
    let path = "/proofs/0/evidence/sums";
    let mut found = Vec::new();
    let mut change = |change: &dyn Fn(&mut Value)| {
        let mut other = document.clone();
        change(&mut other);
        if other != *document {
            found.push(other);
        }
    };
    change(&|d| _ = d.as_object_mut().map(|all| all.remove("sliced")));
    let sums = document.pointer(path).and_then(Value::as_array).expect("sums").clone();
    for part in 0..3 {
        change(&|d| d.pointer_mut(path).expect("sums")[part] = json!([]));
    }
    for n in 0..sums[0].as_array().map_or(0, Vec::len) {
        change(&|d| _ = d.pointer_mut(path).expect("sums")[0].as_array_mut().map(|all| all.remove(n)));
    }
    // Every weight with the other sign; those of nodes may count down from elsewhere.
    for (part, kind) in [(1, 0), (1, 1), (2, 1)] {
        change(&|d| {
            for sum in d.pointer_mut(path).expect("sums")[part].as_array_mut().into_iter().flatten() {
                for entry in sum[kind].as_array_mut().into_iter().flatten() {
                    let last = entry.as_array_mut().and_then(|entry| entry.last_mut()).expect("a weight");
                    *last = json!(-last.as_i64().expect("a number"));
                }
            }
        });
    }
    found
}

#[test]
fn certificates_about_waiting_in_c_stand_and_spoiled_ones_do_not() {
    if !throng_dev::harness::has_compiler() {
        eprintln!("ignored: there is no C compiler");
        return;
    }
    let path = std::env::temp_dir().join(format!("throng-section-{}.c", std::process::id()));
    std::fs::write(&path, SECTION).expect("written");
    let input = Input::open(&path).expect("read");
    let mut tried = 0;
    for (entry, property) in [
        ("spins", Property::NoDeadlock),
        ("spins", Property::NeverStuckAt("any".into())),
        ("sleeps", Property::NeverStuckAt("any".into())),
        ("sleeps", Property::Leaves("enter".into())),
    ] {
        let job = Job::new(&input).entry(entry).property(property.clone());
        let limits = Limits::default();
        let outcome = job.check(Engine::Auto, &limits).expect("an answer");
        assert!(outcome.is_safe(), "{entry} {property:?}");
        let mut bytes = Vec::new();
        let prepared = job.prepare().expect("prepared");
        outcome.certificate(prepared, &mut bytes).expect("written").expect("written");
        job.certify_file(&bytes, &limits).unwrap_or_else(|e| panic!("{entry} {property:?}: {e}"));
        let document: Value = serde_json::from_slice(&bytes).expect("JSON");
        for other in spoiled(&document) {
            let said = job.certify_file(other.to_string().as_bytes(), &limits);
            assert!(said.is_err(), "{entry} {property:?}: accepted\n{other}");
            tried += 1;
        }
    }
    std::fs::remove_file(&path).expect("removed");
    assert!(tried > 20, "{tried}");
}
