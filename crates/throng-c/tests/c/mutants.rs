//! Programs with one thing changed are programs, and positions in them lead to the same lines.

use std::path::Path;

use throng_c::mutants::{mutants, mutated};
use throng_c::{Options, load, read};
use throng_lang::mutant::Change;
use throng_lang::source::Source;

#[test]
fn every_kind_of_change_is_made() {
    let text = "typedef struct { int a; } pthread_mutex_t; typedef struct { int a; } pthread_cond_t;
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void assert(int);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int x; pthread_mutex_t m; pthread_cond_t c;
void __VERIFIER_atomic_take(void) { x = x + 1; }
void unused(void) { assert(x); }
int main(void) {
  pthread_mutex_lock(&m);
  pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  __VERIFIER_atomic_begin();
  x = 2;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_take();
  int old = 3;
  x += __sync_fetch_and_add(&x, 1) + __atomic_exchange_n(&x, 7, 5) + __sync_bool_compare_and_swap(&x, 7, 8);
  x += __atomic_compare_exchange_n(&x, &old, 4, 0, 5, 5) + __atomic_add_fetch(&x, 2, 5) + __sync_val_compare_and_swap(&x, 1, 2);
  assert(x != 5);
}
";
    let loaded =
        read(Source::new("a.i", text), text.into(), &Options::default()).map_err(|r| r.diagnostics).unwrap();
    let found = mutants(&loaded);
    let count = |change: Change| found.iter().filter(|m| m.change == change).count();
    assert_eq!((count(Change::Negated), count(Change::Unlocked)), (1, 1), "{found:#?}");
    assert_eq!((count(Change::Unatomic), count(Change::Split)), (2, 6), "{found:#?}");
    let last = found.iter().find(|m| m.change == Change::Negated).unwrap();
    assert_eq!((&last.lines[..], last.what.as_str()), (&[19][..], "assert(x != 5);"));
    let lock = found.iter().find(|m| m.change == Change::Unlocked).unwrap();
    assert_eq!((&lock.lines[..], lock.what.as_str()), (&[9, 10, 11][..], "&m"));
    for mutant in &found {
        let changed = mutated(&loaded, mutant).map_err(|r| r.diagnostics).unwrap();
        assert_ne!(changed.text.text, loaded.text.text);
        // What comes after the change is where it was.
        let fails = changed.query.program.origins.iter().any(|o| o.line == 19);
        assert!(fails, "{mutant:?}\n{}", changed.query.program.print());
    }
}

#[test]
fn every_mutant_of_the_examples_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let mut options = Options::default();
        let first = std::fs::read_to_string(&path).unwrap();
        let entry =
            first.lines().next().unwrap().split_once("--entry ").map(|e| e.1.split(' ').next().unwrap());
        options.question.entries = entry.map(str::to_string).into_iter().collect();
        let Ok(loaded) = load(&path, &options) else { continue };
        for mutant in mutants(&loaded) {
            assert!(mutated(&loaded, &mutant).is_ok(), "{}: {mutant:?}", path.display());
            count += 1;
        }
    }
    assert!(count == 0 || count > 20, "without a preprocessor none, else many: {count}");
}
