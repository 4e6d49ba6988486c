//! Random programs with threads: most parts are right, some are not.

use std::fmt::Write;

use super::Random;

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
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let places = [random.of(&PLACES), random.of(&PLACES)];
    let locks = [random.below(9), random.below(9)];
    Writer { random, text: String::new(), names: 0, function: 3, starts: 0, places, locks }.program()
}

/// Writes a program that starts threads in a loop and waits for them in another one: most parts are
/// right, some are not.
pub fn loops(seed: u64) -> String {
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

/// Writes a program whose threads count themselves in and out, and whose first one waits for the
/// count: most parts are right, some are not.
pub fn counts(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut pick = |right: &'static str, wrong: &[&'static str]| match random.below(24 + 2 * wrong.len()) {
        n if n < wrong.len() => wrong[n],
        _ => right,
    };
    let kind = pick("int", &["_Atomic int"; 9]);
    let (lock, unlock) = match (kind, pick("", &["n"])) {
        ("_Atomic int", _) => ("", ""),
        (_, "n") => ("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);"),
        _ => ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"),
    };
    let mut section = |text: &str| match pick("", &["open"]) {
        "open" => text.to_string(),
        _ => format!("{lock} {text} {unlock}"),
    };
    let (first, second) = match Random::new(seed ^ 0xc0).below(4) {
        0 => ("".to_string(), section("alive--;")),
        1 => ("".to_string(), section("alive++;")),
        _ => (section("alive++;"), section("alive--;")),
    };
    let mut random = Random::new(seed ^ 0x5eed);
    let mut pick = |right: &'static str, wrong: &[&'static str]| match random.below(24 + 2 * wrong.len()) {
        n if n < wrong.len() => wrong[n],
        _ => right,
    };
    let ahead = first.is_empty() && second.contains("--");
    let before = match ahead {
        true => format!("{lock} {} {unlock}", pick("alive++;", &["", "alive = 1;", "alive += 2;"])),
        false => pick("", &["alive = 0;", "alive++;"]).to_string(),
    };
    let (beside, early) = (pick("", &["if (y) return 0;", "alive++;", "x = 1;"]), pick("", &["x = 2;"]));
    let wait = |until: &str| {
        format!(
            "pthread_mutex_lock(&m); while (!({until})) {{ pthread_mutex_unlock(&m); pthread_mutex_lock(&m); }} pthread_mutex_unlock(&m);"
        )
    };
    let all = pick("alive == k", &["alive >= k", "alive >= 2", "alive == 1", "alive > 0", "alive <= k"]);
    let none = pick("alive == 0", &["alive <= 0", "!alive", "alive != 1", "alive < 1", "alive < k"]);
    let waits = match (first.is_empty(), ahead) {
        (true, false) => wait(all),
        (true, true) => wait(none),
        _ => {
            format!("{} {} {}", wait(all), pick("", &["x = 3;", "pthread_create(&t, 0, f, 0);"]), wait(none))
        }
    };
    let starts = match pick("loop", &["two", "two", "two", "two", "two", "one", "one", "one"]) {
        "two" => format!("{before} pthread_create(&t, 0, f, 0); {before} pthread_create(&t, 0, f, 0);"),
        "one" => format!("{before} pthread_create(&t, 0, f, 0); int i = 0; k = 1;"),
        _ => format!("for (int i = 0; i < k; i++) {{ {before} pthread_create(&t, 0, f, 0); }}"),
    };
    // Threads may only do something while a flag is set, and the count be waited for after that.
    let (guard, clear) = match pick("", &["go"; 12]) {
        "go" => {
            let guard = pick("if (go)", &["if (!go)", "int r = go; if (r)", "while (go)"]);
            (guard, pick("go = 0;", &["go = 2;", "", "go = 0; go = 1;"]))
        }
        _ => ("", ""),
    };
    let locked = |text: &str| match text {
        "" => String::new(),
        text => format!("pthread_mutex_lock(&n); {text} pthread_mutex_unlock(&n);"),
    };
    let work = match guard {
        "" => "x++;".to_string(),
        guard => locked(&format!("{guard} {{ x++; }}")),
    };
    let (clear, waits) = match guard {
        "" => (String::new(), waits),
        _ if first.is_empty() => (locked(clear), waits),
        _ => (locked(clear), wait(none)),
    };
    let late = pick("", &["x = 4;", "y = 1;", "alive++;"]);
    let last = pick("x = 5;", &["pthread_create(&t, 0, f, 0); x = 5;", "y = x;"]);
    let starting = pick("", &["alive = 0;", "alive = 1;", "alive = -1;", "k = 1;"]);
    format!(
        "{kind} alive; int go = 1;
        void *f(void *v) {{ {early} {first} {beside} {work} {second} {late} return 0; }}
        int main(void) {{ int k = 2; {starting} {starts} {clear} {waits} {last} return 0; }}
        "
    )
}
