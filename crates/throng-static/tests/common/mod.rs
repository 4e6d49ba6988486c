//! Programs as text, and what is said about them.
#![allow(dead_code)]

pub mod programs;

use throng_engine::{Engine, Settings, Silent};
use throng_goto::Query;
use throng_goto_check::races::check;
use throng_goto_check::races::findings::{Findings, Status};
use throng_model::limits::Limits;
use throng_model::verdict::Verdict;

pub const DECLARATIONS: &str = "
    typedef union { int a[10]; } pthread_mutex_t; typedef union { int a[14]; } pthread_rwlock_t;
    typedef unsigned long pthread_t; typedef unsigned long size_t; typedef int pthread_once_t;
    int pthread_mutex_init(pthread_mutex_t *, void *);
    int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
    int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *);
    int pthread_rwlock_unlock(pthread_rwlock_t *);
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); int pthread_once(pthread_once_t *, void (*)(void));
    void *malloc(size_t); void free(void *); int __VERIFIER_nondet_int(void);
    void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
    typedef union { int a[8]; } sem_t; int sem_init(sem_t *, int, unsigned);
    typedef union { int a[12]; } pthread_cond_t; int pthread_cond_signal(pthread_cond_t *);
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
    int sem_wait(sem_t *); int sem_post(sem_t *); sem_t semaphore;
    pthread_mutex_t m, n; pthread_rwlock_t rw; int x, y, a[10]; pthread_t t, u;
    struct s { pthread_mutex_t m; int x; struct s *next; } *p, *q, *head, one;
    void *threads(void *(*f)(void *), void *arg) {
      for (int i = 0; i < 10; i++) pthread_create(&t, 0, f, arg); return 0; }
    ";

/// Reads a program and asks about races.
pub fn query(text: &str) -> Query {
    let text = format!("{DECLARATIONS}{text}");
    let mut options = throng_c::Options::default();
    options.question.race = true;
    let source = throng_lang::source::Source::new("a.i", &text);
    throng_c::read(source, text, &options).map_err(|r| r.diagnostics).expect("read").query
}

/// Returns what is found out about a program, by the checker.
pub fn findings(text: &str) -> Findings {
    let query = query(text);
    let found = |program: &throng_goto::Program| {
        let facts = throng_static::analyse(program);
        check(program, &facts).unwrap_or_else(|why| panic!("{why}\n{text}"))
    };
    // With its calls; what is not shown so may be with functions in place of them.
    let whole = found(query.whole.as_deref().expect("with its calls"));
    if of(&whole) == Word::Safe { whole } else { found(&query.program) }
}

/// What is said about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Safe,
    Possible,
    Open,
}

/// Returns what is said about a program.
pub fn word(text: &str) -> Word {
    of(&findings(text))
}

pub fn of(found: &Findings) -> Word {
    let possible = found.objects.iter().any(|o| matches!(o.status, Status::Possible(_)));
    match (found.open.is_empty(), possible) {
        (false, _) => Word::Open,
        (true, true) => Word::Possible,
        (true, false) => Word::Safe,
    }
}

/// Returns whether a race is found among up to four threads, with so much work; `None`: the program
/// makes a memory error, behind which nothing is known.
pub fn exhaustive(text: &str, work: u64) -> Option<bool> {
    let query = query(text);
    let model = query.model();
    let mut problem = query.problem_of(model.clone());
    problem.bound = throng_model::problem::Bound::Threads(4);
    let mut settings = Settings::default();
    settings.jobs = 1;
    let answer = Engine::Explicit.build(&settings).run(&problem, &Limits::none().work(work), &Silent);
    let run = answer.verdicts.iter().find_map(|v| match v {
        Verdict::Unsafe(run) => Some(run),
        _ => None,
    });
    match run {
        Some(run) if run.end().shared == model.memory_error() => None,
        run => Some(run.is_some()),
    }
}

/// A source of numbers (xorshift).
pub struct Random(u64);

impl Random {
    /// The source with a number.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = random.below(2));
        random
    }

    /// Returns a number less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// Returns one of a list.
    pub fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }
}
