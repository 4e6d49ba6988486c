//! Random programs with threads, locks, pointers, allocated memory and joins: what the analysis
//! calls free of races is so for up to four threads, as exhaustive search finds.
//!
//! `CASES=5000 SEED=1 cargo test --release -p throng-static --test random -- --nocapture` looks at
//! more of them.

#![allow(clippy::print_stderr)]

mod common;

use std::fmt::Write;

use common::{DECLARATIONS, Random, Word, exhaustive, word};

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
    let mut random = Random::new(seed);
    let places = [random.of(&PLACES), random.of(&PLACES)];
    let locks = [random.below(9), random.below(9)];
    Writer { random, text: String::new(), names: 0, function: 3, starts: 0, places, locks }.program()
}

/// Writes a program that starts threads in a loop and waits for them in another one: most parts are
/// right, some are not.
fn loops(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut pick = |right: &'static str, wrong: &[&'static str]| match random.below(3 + wrong.len()) {
        n if n < wrong.len() => wrong[n],
        _ => right,
    };
    let array = pick("all", &["own", "list", "list", "e"]);
    let number = |index: &str| match array {
        "e" => format!("e[{index}].t"),
        array => format!("{array}[{index}]"),
    };
    let (bound, other) = (pick("n", &["count", "2", "count"]), pick("n", &["count", "2", "n - 1", "1", "i"]));
    let started = number(pick("i", &["i", "0", "i / 2", "i ^ 1", "n - i"]));
    let given = pick(
        "(void *)(long)i",
        &["&e[i]", "&e[i]", "&b[i]", "&e[0]", "(void *)(long)(i / 2)", "(void *)(long)-i"],
    );
    let between =
        pick("", &["if (y) i = 0;", "count = 1;", "n = 1;", "all[0] = 0;", "e[0].t = e[i].t;", "i++;"]);
    let waited = number(pick("j", &["j", "j", "0", "1 - j", "j + 1"]));
    let (from, next) = (pick("0", &["0", "1", "y"]), pick("j++", &["j++", "j += 2", "j = j + count"]));
    let beside = pick("", &["if (y) break;", "if (y) continue;", "x = 1;", "all[1] = all[0];", "count = 2;"]);
    let between_loops = pick(
        "",
        &["count = 1;", "i = 1;", "less();", "x = 1;", "b[0] = 1;", "pthread_create(&t, 0, f, &e[0]);"],
    );
    let mut body = |depth: usize| {
        let plain = pick(
            "b[k]++;",
            &[
                "o->x++;",
                "o->y++; o->x = 1;",
                "x++;",
                "b[k / 2]++;",
                "b[0] = 1;",
                "o[1].y = 0;",
                "k = 0; b[k]++;",
                "if (y) count = 1;",
                "if (y) all[0] = 0;",
                "e[k].x++; e[k].y++;",
                "less();",
            ],
        );
        match (depth, pick("", &["m", "m", "m"])) {
            (_, "m") => format!("pthread_mutex_lock(&m); {plain} pthread_mutex_unlock(&m);"),
            _ => plain.to_string(),
        }
    };
    let (first, second, last) = (body(0), body(1), body(2));
    format!(
        "struct e {{ int x; long y; pthread_t t; }} e[4]; int b[4], count = 2; pthread_t all[4];
        void less(void) {{ if (y) count--; }}
        void *f(void *v) {{ int k = (int)(long)v; struct e *o = v; {first}
          {second} return 0; }}
        int main(void) {{ int n = 2, i, k = 1; pthread_t own[4], *list = malloc(4 * sizeof(pthread_t)); struct e *o = e;
          for (i = 0; i < {bound}; i++) {{ pthread_create(&{started}, 0, f, {given}); {between} }}
          {between_loops}
          for (int j = {from}; j < {other}; {next}) {{ {beside} pthread_join({waited}, 0); }}
          {last} return 0; }}
        "
    )
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_is_called_free_of_races_has_none() {
    compare(150, &program);
}

#[test]
fn loops_that_are_called_free_of_races_have_none() {
    compare(150, &loops);
}

fn compare(cases: u64, program: &dyn Fn(u64) -> String) {
    let (cases, seed) = (number("CASES").unwrap_or(cases), number("SEED").unwrap_or(0));
    let (mut safe, mut racy, mut missed) = (0, 0, 0);
    for n in seed..seed + cases {
        let text = program(n);
        let said = word(&text);
        if said == Word::Open {
            continue;
        }
        let Some(found) = exhaustive(&text, 150_000) else { continue };
        racy += u64::from(found);
        safe += u64::from(said == Word::Safe);
        missed += u64::from(said == Word::Possible && !found);
        assert!(!(found && said == Word::Safe), "seed {n}: called safe\n{DECLARATIONS}\n{text}");
    }
    eprintln!("{cases} programs: {safe} called free of races, {racy} with a race, {missed} with none found");
    assert!(safe * 10 > cases && racy * 10 > cases, "{safe} and {racy} of {cases}");
}
