//! What the tests of several modules need: programs with the declarations that they use.

use std::time::Duration;

use throng_c::Options;
use throng_goto::Query;
use throng_lang::source::Source;
use throng_model::limits::Limits;

const HEAD: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *t, const void *a, void *(*f)(void *), void *arg);
void __VERIFIER_assume(int c);
void reach_error(void);
int __VERIFIER_nondet_int(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
";

/// Reads a program.
pub(crate) fn load(text: &str) -> Query {
    let raw = format!("{HEAD}{text}");
    match throng_c::read(Source::new("test.c", &raw), raw.clone(), &Options::default()) {
        Ok(loaded) => loaded.query,
        Err(rejected) => panic!("{:?}", rejected.diagnostics),
    }
}

/// A minute.
pub(crate) fn limits() -> Limits {
    Limits::none().timeout(Duration::from_secs(600))
}
