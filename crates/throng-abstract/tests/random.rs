//! Random C programs: what is proved for any number of threads, no search with a few threads
//! refutes; and each proof is VALID.
//!
//! `THRONG_RANDOM_C=5000 cargo test -p throng-abstract --test random` runs more of them than the
//! fixed number; `THRONG_RANDOM_C=5000+3000` others.

#![allow(clippy::print_stdout, reason = "campaigns say what was compared")]

use std::fmt::Write as _;
use std::time::Duration;

use throng::{Bound, Engine, Job, Status};
use throng_abstract::prove::{Ended, prove};
use throng_abstract::readings::attempt;
use throng_c::{Loaded, Options, read};
use throng_goto_check::abstraction::certificate;
use throng_goto_check::abstraction::facts::Facts;
use throng_goto_check::abstraction::graph::{Graph, Reading};
use throng_goto_check::states;
use throng_lang::source::Source;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Verdict;

const HEAD: &str = "typedef unsigned long pthread_t;
typedef struct { int w[10]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
int __VERIFIER_nondet_int(void);
void reach_error(void);
pthread_mutex_t l;
int x, y, m, a[3];
unsigned u, v;
void *malloc(unsigned long);
void free(void *);
";

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn value(&mut self) -> String {
        match self.below(5) {
            0 => self.pick(&["x + 1", "y + 1", "r + 1", "x - 1", "5 - r"]).into(),
            1 => self.place(),
            _ => self.pick(&["0", "1", "1", "2", "3", "x", "y", "r"]).into(),
        }
    }

    /// What can be assigned to.
    fn place(&mut self) -> String {
        match self.below(6) {
            0 => format!("a[{}]", self.pick(&["0", "2", "r & 1", "s & 1", "n", "i"])),
            _ => self.pick(&["x", "x", "y", "r", "s"]).into(),
        }
    }

    fn condition(&mut self) -> String {
        let left = self.place();
        let right = if self.below(3) == 0 { self.place() } else { self.below(4).to_string() };
        format!("{left} {} {right}", self.pick(&["==", "!=", "<", ">", "<=", ">"]))
    }

    fn statements(&mut self, depth: usize, first: bool) -> String {
        (0..1 + self.below(3)).map(|_| self.statement(depth, first)).collect()
    }

    fn statement(&mut self, depth: usize, first: bool) -> String {
        let deeper = depth < 2;
        match self.below(16) {
            0 | 1 if deeper => {
                let (condition, then) = (self.condition(), self.statements(depth + 1, first));
                format!("if ({condition}) {{ {then} }} ")
            }
            2 if deeper => {
                let condition = if self.below(2) == 0 { self.condition() } else { "1".into() };
                format!("while ({condition}) {{ {} }} ", self.statements(depth + 1, first))
            }
            3 if deeper => {
                let (most, body) = (1 + self.below(3), self.statements(depth + 1, first));
                format!("for (i = 0; i < {most}; i++) {{ {body} }} ")
            }
            4..=6 if deeper => {
                let (enter, leave) = match self.below(5) {
                    0 => ("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"),
                    1 => ("pthread_mutex_lock(&l);", "pthread_mutex_unlock(&l);"),
                    // A test and then a change: two threads may have seen 0.
                    2 => ("__VERIFIER_assume(m == 0); m = 1;", "m = 0;"),
                    _ => (
                        "__VERIFIER_atomic_begin(); __VERIFIER_assume(m == 0); m = 1; __VERIFIER_atomic_end();",
                        "m = 0;",
                    ),
                };
                // A thread is not started inside an atomic section.
                format!("{enter} {}{leave} ", self.statements(2, first && !enter.ends_with("begin();")))
            }
            7 => format!("__VERIFIER_assume({}); ", self.condition()),
            // A ticket, and perhaps waiting for its turn.
            14 => {
                let wait =
                    self.pick(&["", "__VERIFIER_assume(r == y); ", "__VERIFIER_assume(r == y); y = y + 1; "]);
                format!("__VERIFIER_atomic_begin(); r = x; x = x + 1; __VERIFIER_atomic_end(); {wait}")
            }
            8 | 9 => format!("if ({}) reach_error(); ", self.condition()),
            10 => format!("r = {}; ", self.value()),
            11 if self.below(2) == 0 => {
                "s = __VERIFIER_nondet_int(); __VERIFIER_assume(s >= 0 && s < 3); ".into()
            }
            12 | 13 if first => {
                let f = self.pick(&["f", "g"]);
                let join = self.pick(&["", "", "pthread_join(t, 0); "]);
                format!("pthread_create(&t, 0, {f}, (void *){}L); {join}", self.below(3))
            }
            _ => format!("{} = {}; ", self.place(), self.value()),
        }
    }

    fn program(&mut self) -> String {
        let mut text = HEAD.to_string();
        for name in ["f", "g"] {
            let body = self.statements(0, false);
            let _ = writeln!(
                text,
                "void *{name}(void *p) {{ int n = (int)(long)p, r = 0, s = 0, i = 0; {body} return 0; }}"
            );
        }
        let (before, after) = (self.statements(0, true), self.statements(0, true));
        let starts = self.pick(&[
            "while (1) pthread_create(&t, 0, f, (void *)1L);",
            "pthread_create(&t, 0, f, (void *)1L); pthread_create(&t, 0, g, (void *)0L);",
            "while (1) { pthread_create(&t, 0, f, (void *)0L); pthread_create(&t, 0, g, (void *)2L); }",
            "for (i = 0; i < 2; i++) pthread_create(&t, 0, g, (void *)2L);",
            "",
        ]);
        let (open, close) = if self.below(3) == 0 { ("while (1) {", "}") } else { ("", "") };
        let _ = writeln!(
            text,
            "int main(void) {{ pthread_t t; int n = 0, r = 0, s = 0, i = 0; {open} {before} {starts} {after} {close} return 0; }}"
        );
        text
    }
}

impl Random {
    /// Code that makes a counter larger or smaller, in one step or in several, with or without a
    /// condition.
    fn change(&mut self, counter: &str, by: i32) -> String {
        let condition = match self.below(3) {
            0 => format!("{counter} {} {}", self.pick(&["<", ">=", "!=", "=="]), self.below(3)),
            _ => "1".into(),
        };
        match self.below(12) {
            // Another thread may change it in between.
            0 => format!("r = {counter}; {counter} = r + ({by}); "),
            1 => {
                format!("pthread_mutex_lock(&l); {counter} = {counter} + ({by}); pthread_mutex_unlock(&l); ")
            }
            2 => format!(
                "r = {counter}; __VERIFIER_atomic_begin(); __VERIFIER_assume({counter} == r); {counter} = r + ({by}); __VERIFIER_atomic_end(); "
            ),
            3 => format!(
                "__VERIFIER_atomic_begin(); __VERIFIER_assume({counter} == 0); {counter} = {by}; __VERIFIER_atomic_end(); "
            ),
            _ => format!(
                "__VERIFIER_atomic_begin(); __VERIFIER_assume({condition}); {counter} = {counter} + ({by}); __VERIFIER_atomic_end(); "
            ),
        }
    }

    /// A thread that is counted for a while, and looks at what counts.
    fn counted(&mut self, depth: usize) -> String {
        let counter = self.pick(&["x", "x", "y"]);
        let by = [1, 1, 1, -1, 2][self.below(5)];
        let enter = self.change(counter, by);
        let leave = match self.below(9) {
            0 => String::new(),
            1 => format!("{counter} = 0; "),
            2 => self.change(counter, -1),
            _ => format!(
                "__VERIFIER_atomic_begin(); {counter} = {counter} - ({by}); __VERIFIER_atomic_end(); "
            ),
        };
        let looks = |this: &mut Random| {
            let of = this.pick(&["x", "x", "y", "a[0]"]);
            format!(
                "if ({of} {} {}) reach_error(); ",
                this.pick(&["<", ">", "==", "!="]),
                this.below(4) as i32 - 1
            )
        };
        let inside = match self.below(4) {
            0 if depth < 1 => self.counted(depth + 1),
            1 => "a[0] = 1 - a[0]; ".into(),
            // Nothing is counted, while this thread is.
            2 => format!("if ({counter} == 0) reach_error(); "),
            _ if self.below(2) == 0 => format!("if ({counter} < 1) reach_error(); "),
            _ => looks(self),
        };
        let after = if self.below(8) == 0 { looks(self) } else { String::new() };
        format!("{enter}{inside}{leave}{after}")
    }

    fn counting(&mut self) -> String {
        let mut text = HEAD.to_string();
        for name in ["f", "g"] {
            let (open, close) = if self.below(3) == 0 { ("while (1) {", "}") } else { ("", "") };
            let body = self.counted(0);
            let _ = writeln!(text, "void *{name}(void *p) {{ int r = 0; {open} {body} {close} return 0; }}");
        }
        let start = self.pick(&["", "x = 1; ", "x = 2; ", "y = 1; "]);
        let starts = self.pick(&[
            "while (1) pthread_create(&t, 0, f, 0);",
            "while (1) { pthread_create(&t, 0, f, 0); pthread_create(&t, 0, g, 0); }",
            "while (1) { __VERIFIER_atomic_begin(); x = x + 1; __VERIFIER_atomic_end(); pthread_create(&t, 0, f, 0); }",
            "pthread_create(&t, 0, g, 0); pthread_create(&t, 0, f, 0); pthread_create(&t, 0, f, 0);",
        ]);
        let _ = writeln!(text, "int main(void) {{ pthread_t t; {start}{starts} return 0; }}");
        text
    }
}

/// One step.
const ATOMIC: [&str; 2] = ["__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();"];

impl Random {
    /// The first of some texts, mostly.
    fn mostly<'a>(&mut self, of: &[&'a str]) -> &'a str {
        if self.below(4) > 0 { of[0] } else { self.pick(of) }
    }

    /// Threads that wait for their turn, look at a version twice, or say that they are there before
    /// they look for others, with something wrong now and then.
    fn guarding(&mut self) -> String {
        let [begin, end] = ATOMIC;
        let step = |what: &str| format!("{begin} {what} {end} ");
        let more = |s: &str| format!("{begin} {s} = {s} + 1; {end} ");
        let (one, other) = match self.below(3) {
            0 => {
                let draw = self.mostly(&["", "r = u; u = r + 1; "]);
                let draw = if draw.is_empty() { step("r = u; u = u + 1;") } else { draw.into() };
                let wait = self.mostly(&["__VERIFIER_assume(v == r); ", "__VERIFIER_assume(v <= r); ", ""]);
                let leave = self.mostly(&["v = r + 1; ", "v = v + 1; ", "v = v + 2; ", ""]);
                let inside = "m = m + 1; if (m != 1) reach_error(); m = m - 1; ";
                let both = format!("{draw}{wait}{inside}{leave}");
                (both.clone(), both)
            }
            1 => {
                let (first, last) = (self.mostly(&["u", "v"]), self.mostly(&["u", "v"]));
                let writes = ["x = x + 1; y = y + 1; ", "y = x + 1; x = y; ", "x = r; y = r; "];
                let writes = self.mostly(&writes);
                let (first, last) = (more(first), more(last));
                let writer =
                    format!("pthread_mutex_lock(&l); {first}{writes}{last}pthread_mutex_unlock(&l); ");
                let even = self.mostly(&["__VERIFIER_assume((r & 1) == 0); ", ""]);
                let again = self.mostly(&["__VERIFIER_assume(u == r); ", "", "__VERIFIER_assume(v == r); "]);
                let reader = format!("r = u; {even}s = x; i = y; {again}if (s != i) reach_error(); ");
                (writer, reader)
            }
            _ => {
                let look = self.mostly(&["__VERIFIER_assume(m == 0); ", ""]);
                let before = self.mostly(&["", "look"]);
                let (early, late) = if before.is_empty() { ("", look) } else { (look, "") };
                let check = self.mostly(&["if (x != y) reach_error(); ", "if (x != 0) reach_error(); "]);
                let (come, go) = (more("v"), step("v = v - 1;"));
                let reader = format!("{early}{come}{late}{check}{go}");
                let wait = self.mostly(&["__VERIFIER_assume(v == 0); ", "__VERIFIER_assume(v < 2); "]);
                let free = self.mostly(&["m = 0; ", ""]);
                let take = step("__VERIFIER_assume(m == 0); m = 1;");
                (format!("{take}{wait}x = 1 - x; y = 1 - y; {free}"), reader)
            }
        };
        let mut text = HEAD.to_string();
        for (name, body) in [("f", one), ("g", other)] {
            let (open, close) = if self.below(3) == 0 { ("while (1) {", "}") } else { ("", "") };
            let _ = writeln!(
                text,
                "void *{name}(void *p) {{ unsigned r = 0; int s = 0, i = 0; {open} {body} {close} return 0; }}"
            );
        }
        text += "int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, f, 0); pthread_create(&t, 0, g, 0); } }";
        text
    }

    /// Threads that allocate objects of their own, and share one.
    fn allocating(&mut self) -> String {
        let (enter, leave) = ("pthread_mutex_lock(&l); ", "pthread_mutex_unlock(&l); ");
        let (enter, leave) = if self.below(4) > 0 { (enter, leave) } else { ("", "") };
        let change = self.mostly(&["o[0] = o[0] + 1; o[1] = o[1] + 1; ", "o[0] = o[0] + 1; o[1] = o[0]; "]);
        let shared = self.pick(&["if (o[0] != o[1]) reach_error(); ", "if (o[0] < 0) reach_error(); "]);
        let shared = format!("{enter}{change}{shared}{leave}");
        let value = self.pick(&["1", "x", "s"]);
        let frees = self.mostly(&["free(q); ", "", "free(q); free(q); "]);
        let looks = self.pick(&["if (*q != 1) reach_error(); ", "if (*q < 0) reach_error(); "]);
        let (looks, late) = if self.below(4) > 0 { (looks, "") } else { ("", looks) };
        let own = format!("int *q = malloc(4); *q = {value}; {looks}{frees}{late}");
        let own = if self.below(3) == 0 { format!("while (1) {{ {own} }}") } else { own };
        let before = self.mostly(&["o[0] = 0; o[1] = 0; ", "o[0] = 0; ", ""]);
        let after = self.mostly(&["", "free(o); ", "o[0] = 1; "]);
        let mut text = HEAD.to_string();
        let _ = writeln!(text, "void *f(void *p) {{ int s = 0; int *o = p; {shared} return 0; }}");
        let _ = writeln!(text, "void *g(void *p) {{ int s = 0; {own} return 0; }}");
        let starts = self.pick(&[
            "pthread_create(&t, 0, f, o); pthread_create(&t, 0, g, 0); ",
            "pthread_create(&t, 0, f, o); pthread_create(&t, 0, f, o); ",
            "for (int i = 0; i < 3; i++) pthread_create(&t, 0, f, o); pthread_create(&t, 0, g, 0); ",
        ]);
        let _ = writeln!(
            text,
            "int main(void) {{ pthread_t t; int *o = malloc(8); {before}{starts}{after} return 0; }}"
        );
        text
    }
}

impl Random {
    /// Threads that keep addresses which they have computed, while indices change and others write;
    /// and numbers of threads that are stored behind their creation.
    fn pointing(&mut self) -> String {
        let mut text = HEAD.to_string();
        let first = "int r = 0, *q = &a[0], *p = &a[1];";
        for name in ["f", "g"] {
            let body: String = (0..4 + self.below(4)).map(|_| self.through()).collect();
            let _ = writeln!(text, "void *{name}(void *n) {{ {first} {body} return 0; }}");
        }
        let (before, after): (String, String) =
            ((0..3).map(|_| self.through()).collect(), (0..3).map(|_| self.through()).collect());
        let most = self.mostly(&["2", "3"]);
        let starts = self.pick(&[
            "for (i = 0; i < MOST; i++) pthread_create(&t[i], 0, f, 0); ",
            "pthread_create(&t[r], 0, f, 0); pthread_create(&t[2], 0, g, 0); ",
            "while (1) pthread_create(&t[0], 0, g, 0); ",
        ]);
        let starts = starts.replace("MOST", most);
        let _ = writeln!(
            text,
            "int main(void) {{ pthread_t t[3]; int i; {first} {before} {starts} {after} return 0; }}"
        );
        text
    }

    fn through(&mut self) -> String {
        match self.below(6) {
            0 => self.pick(&["r = 1; ", "r = 2 - r; ", "r = 2; "]).into(),
            1 => self.pick(&["q = &a[r]; ", "q = &a[r]; p = q; ", "p = &a[2 - r]; "]).into(),
            2 => self.pick(&["x = 1; ", "y = x; ", "x = y; "]).into(),
            3 => format!("if ({}) reach_error(); ", self.pick(&["*q == 2", "*p == 3", "a[r] == 2", "x > 1"])),
            _ => format!("{} = {}; ", self.pick(&["*q", "*p", "a[r]"]), self.pick(&["1", "2", "3", "x"])),
        }
    }
}

/// Work is counted, so that as much is found out on every machine. The time is for what is not
/// counted.
fn effort() -> Limits {
    Limits::none().work(1 << 18).timeout(Duration::from_secs(60))
}

/// Whether every violation is ruled out for any number of threads, with facts or by predicates
/// alone; the proof is checked.
fn is_proved(loaded: &Loaded, with_facts: bool) -> bool {
    proof_of(loaded, with_facts).is_some()
}

/// The same; returns the proof.
fn proof_of(loaded: &Loaded, with_facts: bool) -> Option<certificate::Document> {
    let limits = effort();
    let program = &loaded.query.program;
    let ended = if with_facts {
        attempt(program, &[], &limits, &mut |_| {})
    } else {
        let reading = Reading { trusting: false, summarising: true, counting: false };
        let graph = Graph::of(program, reading).expect("it has a graph");
        let ended = prove(program, &graph, &[], &Facts::none(&graph), &limits, &mut |_| {});
        ended.map(|ended| (graph, ended))
    };
    let Ok((graph, Ended::Proved(proof))) = ended else { return None };
    let document = certificate::document(&loaded.query, &graph, &proof.evidence);
    let limits = Limits::none().timeout(Duration::from_secs(600));
    certificate::check(&loaded.query, &document, &limits)
        .unwrap_or_else(|why| panic!("its proof is refused: {why}"));
    Some(document)
}

/// Whether a few threads violate something; that they do not is proved by a certificate, which
/// `certified` counts.
fn is_violated(loaded: &Loaded, threads: u32, certified: &mut u64) -> bool {
    let model = loaded.query.model();
    let bound = Bound::Threads(threads);
    let problem = Problem { bound, ..loaded.query.problem_of(model.clone()) };
    let limits = effort();
    let Ok(outcome) = Job::of(problem).certifiable().check(Engine::Explicit, &limits) else { return false };
    if let [Verdict::Safe(proof)] = &outcome.answer.verdicts[..] {
        let document =
            states::write(&loaded.query, &model, bound, &[("assertions", proof)]).expect("written");
        let shown = states::certify(&loaded.query, bound, document.as_bytes(), &Limits::none());
        assert_eq!(shown.map(|shown| shown.answers.len()), Ok(1), "a proof is refused");
        *certified += 1;
    }
    outcome.status() == Status::Unsafe
}

#[test]
fn what_is_proved_is_not_violated() {
    let asked = std::env::var("THRONG_RANDOM_C").unwrap_or_default();
    let (first, count) = asked.split_once('+').unwrap_or(("0", &asked));
    let number = |s: &str| s.parse::<u64>().ok();
    let (first, count) = (number(first).unwrap_or(0), number(count).unwrap_or(50));
    // Those that are proved with facts, and by predicates alone.
    let (mut proved, mut violated, mut certified) = ([0, 0], 0, 0);
    for seed in first..first + count {
        let text = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).program();
        let read = read(Source::new("random.c", &text), text.clone(), &Options::default());
        let loaded = read.unwrap_or_else(|why| panic!("{:?}\n{text}", why.diagnostics));
        let how = (seed % 2) as usize;
        if is_proved(&loaded, how == 0) {
            proved[how] += 1;
            let hit = is_violated(&loaded, 3, &mut certified) || is_violated(&loaded, 4, &mut certified);
            assert!(!hit, "seed {seed} is proved and violated:\n{text}");
        } else {
            violated += u64::from(is_violated(&loaded, 3, &mut certified));
        }
    }
    let [facts, predicates] = proved;
    println!(
        "{count} programs: {facts} proved with facts, {predicates} by predicates; {violated} violated; {certified} certificates of searches"
    );
    // All are common, or nothing is compared.
    let common = |n: &u64| n * 10 > count;
    assert!(count < 50 || proved.iter().chain([&violated, &certified]).all(common));
}

/// Threads that wait for each other, and what is allocated: what is proved is not violated with up
/// to four of them.
#[test]
fn what_is_guarded_or_allocated_is_proved_only_where_it_holds() {
    let asked = std::env::var("THRONG_RANDOM_GUARDS").unwrap_or_default();
    let (first, count) = asked.split_once('+').unwrap_or(("0", &asked));
    let number = |s: &str| s.parse::<u64>().ok();
    let (first, count) = (number(first).unwrap_or(0), number(count).unwrap_or(20));
    let (mut proved, mut violated, mut certified) = ([0, 0], [0, 0], 0);
    for seed in first..first + count {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let kind = (seed % 2) as usize;
        let text = if kind == 0 { random.guarding() } else { random.allocating() };
        let read = read(Source::new("random.c", &text), text.clone(), &Options::default());
        let loaded = read.unwrap_or_else(|why| panic!("{:?}\n{text}", why.diagnostics));
        let hit = is_violated(&loaded, 3, &mut certified) || is_violated(&loaded, 4, &mut certified);
        violated[kind] += u64::from(hit);
        if is_proved(&loaded, true) {
            proved[kind] += 1;
            assert!(!hit, "seed {seed} is proved and violated:\n{text}");
        }
    }
    println!("{count} programs: {proved:?} proved; {violated:?} violated");
    // All are common, or nothing is compared.
    assert!(count < 20 || proved.iter().chain(&violated).all(|n| n * 20 >= count));
}

/// Addresses that are kept: what is proved is not violated with up to four threads.
#[test]
fn what_is_kept_in_pointers_is_proved_only_where_it_holds() {
    let asked = std::env::var("THRONG_RANDOM_POINTERS").unwrap_or_default();
    let (first, count) = asked.split_once('+').unwrap_or(("0", &asked));
    let number = |s: &str| s.parse::<u64>().ok();
    let (first, count) = (number(first).unwrap_or(0), number(count).unwrap_or(20));
    let (mut proved, mut violated, mut certified) = (0, 0, 0);
    for seed in first..first + count {
        let text = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).pointing();
        let read = read(Source::new("random.c", &text), text.clone(), &Options::default());
        let loaded = read.unwrap_or_else(|why| panic!("{:?}\n{text}", why.diagnostics));
        let hit = is_violated(&loaded, 3, &mut certified) || is_violated(&loaded, 4, &mut certified);
        violated += u64::from(hit);
        if is_proved(&loaded, true) {
            proved += 1;
            assert!(!hit, "seed {seed} is proved and violated:\n{text}");
        }
    }
    println!("{count} programs: {proved} proved; {violated} violated");
    // Both are common, or nothing is compared.
    assert!(count < 20 || proved * 20 >= count && violated * 20 >= count);
}

/// Threads that are counted by variables: what is proved is not violated with up to four of them.
#[test]
fn what_counts_is_proved_only_where_it_holds() {
    let asked = std::env::var("THRONG_RANDOM_COUNTS").unwrap_or_default();
    let (first, count) = asked.split_once('+').unwrap_or(("0", &asked));
    let number = |s: &str| s.parse::<u64>().ok();
    let (first, count) = (number(first).unwrap_or(0), number(count).unwrap_or(30));
    let (mut proved, mut tallied, mut violated, mut certified) = (0, 0, 0, 0);
    for seed in first..first + count {
        let text = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).counting();
        let read = read(Source::new("random.c", &text), text.clone(), &Options::default());
        let loaded = read.unwrap_or_else(|why| panic!("{:?}\n{text}", why.diagnostics));
        match proof_of(&loaded, true) {
            Some(document) => {
                proved += 1;
                tallied += u64::from(!document.tallies.is_empty());
                let hit = is_violated(&loaded, 3, &mut certified) || is_violated(&loaded, 5, &mut certified);
                assert!(!hit, "seed {seed} is proved and violated:\n{text}");
            }
            None => violated += u64::from(is_violated(&loaded, 4, &mut certified)),
        }
    }
    println!("{count} programs: {proved} proved, {tallied} of them with tallies; {violated} violated");
    // All are common, or nothing is compared.
    assert!(count < 30 || [proved, tallied, violated].iter().all(|n| n * 10 >= count));
}
