//! Facts against executions: whatever random programs do in random runs is among what the facts say
//! about each access: the object and the offset, the locks that are held, the threads that run.
//!
//! `CASES=5000 SEED=1 cargo test --release -p throng-static --test concrete` looks at more of them.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::programs::{counts, loops, program};
use common::{Random, query};
use throng_goto::interpreter::Interpreter;
use throng_goto::program::{Split, object_of, offset_of};
use throng_goto::step::{Outcome, Slot, Touch};
use throng_goto_check::races::accesses;
use throng_goto_check::races::accesses::{Accesses, Touched};
use throng_goto_check::races::facts::Kind;
use throng_goto_check::races::points::{Offsets, Site};

/// A run of a program, with what is known of its threads and objects.
struct Execution<'p> {
    split: &'p Split,
    facts: &'p Accesses,
    running: Interpreter<'p>,
    /// By thread, the one that started it, and the template that it starts in.
    origin: Vec<(usize, u32)>,
    /// By allocated object, where it may have been allocated, after all that was seen of it.
    sites: BTreeMap<i64, BTreeSet<Site>>,
}

impl<'p> Execution<'p> {
    fn new(split: &'p Split, facts: &'p Accesses) -> Execution<'p> {
        let running = Interpreter::new(&split.program);
        let origin = vec![(0, running.threads[0].as_ref().expect("a first thread").template)];
        Execution { split, facts, running, origin, sites: BTreeMap::new() }
    }

    /// Returns the number of accesses that were compared, until nothing can move.
    fn run(&mut self, random: &mut Random) -> usize {
        let mut compared = 0;
        for _ in 0..400 {
            let mut choices = self.running.choices();
            if choices.is_empty() {
                break;
            }
            let (i, outcome) = choices.swap_remove(random.below(choices.len()));
            for touch in &outcome.touches {
                compared += 1;
                self.compare(i, &outcome, touch);
            }
            let templates: Vec<u32> = outcome.started.iter().map(|t| t.template).collect();
            self.origin.extend(templates.into_iter().map(|t| (i, t)));
            self.running.take(i, outcome);
            self.forget_what_ended();
        }
        compared
    }

    fn forget_what_ended(&mut self) {
        let fixed = self.split.program.objects.len() as i64;
        let heap = &self.running.memory.heap;
        let lives = |o: i64| {
            let slot = usize::try_from(o - fixed - 1).ok().and_then(|n| heap.get(n));
            matches!(slot, Some(Slot::Used(..) | Slot::Local(..)))
        };
        self.sites.retain(|o, _| lives(*o));
    }

    fn compare(&mut self, i: usize, outcome: &Outcome, touch: &Touch) {
        let object = object_of(touch.address);
        let fixed = self.split.program.objects.len() as i64;
        let is_site = |site: &Site| match site {
            Site::Object(o) => *o == object,
            Site::Heap(_) | Site::Local(..) => object > fixed,
            _ => false,
        };
        let place = (touch.at.template, touch.at.pc);
        let mut sites = BTreeSet::new();
        for (site, list) in self.facts.iter().filter(|(site, _)| is_site(site)) {
            let said = list.iter().filter(|(_, places)| places.contains(&place)).map(|(said, _)| said);
            if { said }.any(|said| self.is_so(said, i, outcome, touch)) {
                sites.insert(*site);
            }
        }
        if object > fixed {
            let known = self.sites.entry(object).or_insert_with(|| sites.clone());
            known.retain(|site| sites.contains(site));
            sites.clone_from(known);
        }
        let line = self.split.program.origin_at(touch.at).line;
        assert!(!sites.is_empty(), "line {line}, {place:?}: {touch:?} is not among the facts");
    }

    /// Returns whether what is said of an access is so.
    fn is_so(&self, said: &Touched, i: usize, outcome: &Outcome, touch: &Touch) -> bool {
        let at = Offsets::one(offset_of(touch.address));
        let right = said.at.overlaps(said.size, at, touch.size.into()) && said.writes == touch.writes;
        let before = self.running.threads[i].iter().flat_map(|t| &t.held);
        let after = outcome.thread.iter().flat_map(|t| &t.held);
        let held: BTreeSet<i64> = before.chain(after).copied().collect();
        let fixed = said.locks.iter().filter(|l| l.address.terms.is_empty() && l.kind != Kind::Semaphore);
        let is_held = |address: i64| held.contains(&address);
        let locks = { fixed }.all(|l| match l.address.base {
            Some(Site::Object(o)) => is_held(throng_goto::program::address(o, l.address.offset)),
            _ => true,
        });
        right && locks && (!said.atomic || touch.atomic) && self.runs_beside(said, i)
    }

    /// Returns whether all threads that were started below this one and run are among those said.
    fn runs_beside(&self, said: &Touched, i: usize) -> bool {
        let is_below = |mut t: usize| {
            while t != 0 {
                t = self.origin[t].0;
                if t == i {
                    return true;
                }
            }
            false
        };
        let running = self.running.threads.iter().enumerate().filter(|(_, t)| t.is_some());
        { running }.all(|(t, _)| !is_below(t) || said.alive.contains_key(&self.origin[t].1))
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn compare(cases: u64, write: &dyn Fn(u64) -> String) {
    let (cases, seed) = (number("CASES").unwrap_or(cases), number("SEED").unwrap_or(0));
    let mut compared = 0;
    for n in seed..seed + cases {
        let text = write(n);
        let query = query(&text);
        for program in [query.whole.as_deref().expect("with its calls"), &query.program] {
            let facts = throng_static::analyse(program);
            let (split, said) = accesses(program, &facts).unwrap_or_else(|why| panic!("{why}\n{text}"));
            let mut random = Random::new(n);
            for _ in 0..6 {
                let mut execution = Execution::new(&split, &said);
                let done = std::panic::AssertUnwindSafe(|| execution.run(&mut random));
                match std::panic::catch_unwind(done) {
                    Ok(found) => compared += found,
                    Err(_) => panic!("seed {n}\n{text}"),
                }
            }
        }
    }
    assert!(compared as u64 > 5 * cases, "only {compared} accesses");
}

#[test]
fn what_random_programs_do_is_among_the_facts() {
    compare(60, &program);
}

#[test]
fn what_loops_do_is_among_the_facts() {
    compare(60, &loops);
}

#[test]
fn what_counting_threads_do_is_among_the_facts() {
    compare(60, &counts);
}
