//! Threads that wait for ever, and starvation: random programs with spin loops, against an
//! exhaustive search with threads that have names.
//!
//! The search here shares nothing with the product: it has its own language of operations, from
//! which the Boolean program is written; it tells threads apart, so that fairness is about threads;
//! and it looks for fair cycles by walking from every configuration.

use std::collections::{BTreeMap, BTreeSet};

use throng::{Engine, Input, Job, Start};
use throng_lang::load::Format;
use throng_model::limits::Limits;
use throng_model::random::Random;
use throng_model::verdict::Verdict;

/// What threads do, in a loop or once. Variables are x and y.
#[derive(Clone, Copy, Debug)]
enum Op {
    Set(usize, bool),
    Flip(usize),
    /// `while x = v do skip`
    Spin(usize, bool),
    /// Exchange with 1 until a 0 was there.
    Take(usize),
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
            ops.push(match below(random, 9) {
                0 | 1 => Op::Set(v, b),
                2 => Op::Flip(v),
                3 | 4 => Op::Spin(v, b),
                5 | 6 => Op::Take(v),
                7 => Op::Until(v, b),
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
            (Op::Take(_), 0) => go((op, 1, true), world.shared),
            (Op::Take(_), 1) if t => go((op, 2, true), world.shared),
            (Op::Take(_), 1) => go(self.next(op), world.shared),
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
        at == op && (step > 0 || !matches!(self.ops[op], Op::Take(_)))
    }

    /// Returns every world, with the number of the thread and of the world that each step leads to.
    fn worlds(&self) -> (Vec<World>, Vec<Vec<(usize, usize)>>) {
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
    fn is_stuck(&self, op: usize, worlds: &(Vec<World>, Vec<Vec<(usize, usize)>>)) -> bool {
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

    /// Returns whether under a fair scheduler thread 0 can stay at an operation for ever: a set of
    /// worlds that reach each other while it does, in which every thread moves that can.
    fn starves(&self, op: usize, worlds: &(Vec<World>, Vec<Vec<(usize, usize)>>)) -> bool {
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

fn is_violated(text: &str, job: Job<'_>) -> bool {
    let outcome = job.check(Engine::Auto, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    match &outcome.answer.verdicts[..] {
        [Verdict::Safe(_)] => false,
        [Verdict::Unsafe(_)] => true,
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn stuck_threads_and_starvation_are_those_of_an_exhaustive_search() {
    let mut random = Random::new(7);
    let mut counts = [[0; 2]; 3];
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
            assert_eq!(said, is_stuck, "stuck {label}, {} threads\n{text}", written.threads);
            counts[0][usize::from(said)] += 1;
            let starves = written.starves(op, &worlds);
            let said = is_violated(&text, asked(&input, written.threads).leaves(&label));
            assert_eq!(said, starves, "starvation {label}, {} threads\n{text}", written.threads);
            counts[1][usize::from(said)] += 1;
        }
        let said = is_violated(&text, asked(&input, written.threads).never_stuck_at("any"));
        assert_eq!(said, any, "stuck any, {} threads\n{text}", written.threads);
        counts[2][usize::from(said)] += 1;
    }
    assert!(counts.iter().flatten().all(|&n| n > 20), "both answers occur: {counts:?}");
}
