//! Random programs with threads, locks, pointers, allocated memory and joins: what the analysis
//! calls free of races is so for up to four threads, as exhaustive search finds.
//!
//! `CASES=5000 SEED=1 cargo test --release -p throng-static --test random -- --nocapture` looks at
//! more of them.

#![allow(clippy::print_stderr)]

mod common;

use std::fmt::Write;

use common::{DECLARATIONS, Word, exhaustive, word};

/// A source of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }
}

/// Writes one program.
struct Writer {
    random: Random,
    text: String,
    /// Number of names that were used.
    names: usize,
    /// The number of the function that is written: 0 is `main`, which may start 1, 2 and 3.
    function: usize,
    starts: usize,
    /// What is accessed, and the numbers of the locks.
    places: [&'static str; 2],
    locks: [usize; 2],
}

/// What programs access.
const PLACES: [&str; 9] = ["x", "y", "a[1]", "p->x", "q->x", "o->x", "o->x", "o->x", "a[i & 1]"];

impl Writer {
    fn access(&mut self) {
        let place = self.places[self.random.below(2)];
        let how = match self.random.below(4) {
            0 => format!("l = {place};"),
            1 => format!("{place} = 1;"),
            _ => format!("{place}++;"),
        };
        self.text += &how;
    }

    fn locked(&mut self, depth: usize) {
        let (lock, unlock) = match self.locks[self.random.below(2)] {
            0 => ("pthread_rwlock_rdlock(&rw);", "pthread_rwlock_unlock(&rw);"),
            1 => ("pthread_rwlock_wrlock(&rw);", "pthread_rwlock_unlock(&rw);"),
            2 => ("pthread_mutex_lock(&o->m);", "pthread_mutex_unlock(&o->m);"),
            3 => ("pthread_mutex_lock(&p->m);", "pthread_mutex_unlock(&p->m);"),
            4 => ("if (!pthread_mutex_trylock(&m)) {", "pthread_mutex_unlock(&m); }"),
            8 => ("sem_wait(&semaphore);", "sem_post(&semaphore);"),
            5 => ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);"),
            _ => ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
        };
        self.text += lock;
        self.block(depth);
        // Sometimes too early, too late, or the other one.
        match self.random.below(12) {
            0 if !unlock.ends_with('}') => self.text += "pthread_mutex_unlock(&m);",
            1 => {
                let _ = write!(self.text, "if (__VERIFIER_nondet_int()) {{ y = 1; }} {unlock}");
            }
            _ => self.text += unlock,
        }
    }

    fn start(&mut self, depth: usize) {
        if self.function >= 3 || self.starts >= 3 || depth == 0 {
            return self.access();
        }
        self.starts += 1;
        self.names += 1;
        let (t, child) = (self.names, self.function + 1 + self.random.below(3 - self.function));
        let argument = self.random.of(&["p", "q", "o", "fresh()", "fresh()", "&one"]);
        let handle = self.random.of(&["t", "u", "own"]);
        let declared = if handle == "own" { format!("pthread_t own{t};") } else { String::new() };
        let handle = if handle == "own" { format!("own{t}") } else { handle.to_string() };
        let _ = write!(self.text, "{declared} pthread_create(&{handle}, 0, f{child}, {argument});");
        self.block(depth - 1);
        if self.random.below(3) > 0 {
            let _ = write!(self.text, "pthread_join({handle}, 0);");
        }
    }

    fn pointer(&mut self) {
        let list = [
            "p = o;",
            "q = p;",
            "o = fresh();",
            "o = p;",
            "o = q;",
            "p = fresh();",
            "o->next = p;",
            "o = o->next ? o->next : o;",
            "{ struct s *k = fresh(); k->x = 2; q = k; }",
            "{ struct s *k = fresh(); k->x = 2; k->next = o; o = k; }",
        ];
        self.text += self.random.of(&list);
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(10) {
            0..=2 => self.access(),
            3..=5 if depth > 0 => self.locked(depth - 1),
            7 if depth > 0 => {
                self.text += "if (__VERIFIER_nondet_int()) {";
                self.block(depth - 1);
                self.text += "}";
            }
            6 => self.start(depth),
            8 => self.pointer(),
            9 if depth > 0 => {
                self.text += "__VERIFIER_atomic_begin();";
                self.access();
                self.text += "__VERIFIER_atomic_end();";
            }
            _ => self.access(),
        }
        self.text.push('\n');
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(4) / 3 {
            self.statement(depth);
        }
    }

    fn program(mut self) -> String {
        self.text += "struct s *fresh(void) { struct s *n = malloc(sizeof(struct s));
            pthread_mutex_init(&n->m, 0); n->x = 0; n->next = 0; return n; }\n";
        for function in [3, 2, 1] {
            self.function = function;
            let _ =
                writeln!(self.text, "void *f{function}(void *arg) {{ struct s *o = arg; int l = 0, i = 1;");
            self.block(2);
            self.text += "return 0; }\n";
        }
        self.function = 0;
        self.starts = 0;
        self.text += "int main(void) { int l = 0, i = 0; struct s *o = fresh(); p = fresh(); q = &one; sem_init(&semaphore, 0, 1);\n";
        self.statement(1);
        self.start(2);
        if self.random.below(2) == 0 {
            self.start(1);
        }
        self.statement(1);
        self.text += "}\n";
        self.text
    }
}

/// Writes the program with a number.
fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..8).for_each(|_| _ = random.below(2));
    let places = [random.of(&PLACES), random.of(&PLACES)];
    let locks = [random.below(9), random.below(9)];
    Writer { random, text: String::new(), names: 0, function: 3, starts: 0, places, locks }.program()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_is_called_free_of_races_has_none() {
    let (cases, seed) = (number("CASES").unwrap_or(150), number("SEED").unwrap_or(0));
    let (mut safe, mut racy, mut missed) = (0, 0, 0);
    for n in seed..seed + cases {
        let text = program(n);
        let said = word(&text);
        if said == Word::Open {
            continue;
        }
        let found = exhaustive(&text, 150_000);
        racy += u64::from(found);
        safe += u64::from(said == Word::Safe);
        missed += u64::from(said == Word::Possible && !found);
        assert!(!(found && said == Word::Safe), "seed {n}: called safe\n{DECLARATIONS}\n{text}");
    }
    eprintln!("{cases} programs: {safe} called free of races, {racy} with a race, {missed} with none found");
    assert!(safe * 10 > cases && racy * 10 > cases, "{safe} and {racy} of {cases}");
}
