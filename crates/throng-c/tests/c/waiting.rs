//! Which loops of C programs are waiting loops, with the macros of the compiler's headers.

use throng_c::{Options, load};
use throng_goto::program::{Expr, Instr, Program};
use throng_goto::waiting::{WaitingLoop, possible_waits, waiting_loops};

use crate::compiled::{folder, has_compiler};

const HEAD: &str = "
    #include <pthread.h>
    #include <sched.h>
    #include <stdatomic.h>
    #include <stdbool.h>
    #include <time.h>
    atomic_int lock, flag, turn; atomic_uint next, serving; int plain, data[4];
    pthread_mutex_t m; atomic_flag busy;
    struct node { atomic_int locked; struct node *_Atomic after; } first, *_Atomic tail;
";

/// Returns the program whose threads execute a function body.
fn program(body: &str) -> Option<Program> {
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let n = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    if !has_compiler() {
        return None;
    }
    let text = format!(
        "{HEAD} void *worker(void *mine) {{ {body} return 0; }}
         int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, &first);
             pthread_create(&t, 0, worker, &first); flag = 1; lock = 0; serving = 1; plain = 0; turn = 0; return 0; }}"
    );
    let folder = folder(&format!("waiting-{n}"));
    let path = folder.join("waiting.c");
    std::fs::write(&path, text).unwrap();
    let loaded = load(&path, &Options::default()).unwrap_or_else(|e| panic!("{body}: {:?}", e.diagnostics));
    std::fs::remove_dir_all(folder).unwrap();
    Some(Program::clone(&loaded.query.program))
}

fn found(body: &str) -> Option<(Program, Vec<WaitingLoop>)> {
    let program = program(body)?;
    let loops = waiting_loops(&program);
    for l in &loops {
        assert!(l.points.contains(&l.head) && l.returns.iter().all(|pc| l.points.contains(pc)), "{l:?}");
        assert!(l.reads.iter().all(|r| matches!(program.templates[l.template].code[r.at], Instr::Load(..))));
        let possible = possible_waits(&program);
        let covers = |p: &throng_goto::waiting::PossibleWait| {
            p.template == l.template && l.points.iter().all(|pc| p.points.contains(pc))
        };
        assert!(l.reads.is_empty() || possible.iter().any(covers), "{body}: {l:?} {possible:?}");
    }
    Some((program, loops))
}

#[track_caller]
fn waits(body: &str) -> Option<WaitingLoop> {
    let (_, loops) = found(body)?;
    assert_eq!(loops.len(), 1, "{body}: {loops:#?}");
    loops.into_iter().next()
}

#[track_caller]
fn does_not_wait(body: &str) {
    if let Some((_, loops)) = found(body) {
        assert_eq!(loops, [], "{body}");
    }
}

#[test]
fn loops_that_only_read_wait() {
    for body in [
        "while (flag) ;",
        "while (!atomic_load(&flag)) sched_yield();",
        "while (atomic_load_explicit(&flag, memory_order_acquire) == 0) { __asm__ volatile(\"\"); }",
        "while (plain != 1) { struct timespec t = {0, 1000}; nanosleep(&t, 0); }",
        "int v; do { v = flag; } while (v != 3); plain = v;",
        "int v = flag; while (v) v = flag;",
        "int v = flag; while (v) { sched_yield(); v = atomic_load(&flag); }",
        "int last = 0; while (flag != last) last = flag;",
        "for (;;) { if (flag == 1) break; if (turn == 2) break; }",
        "l: if (flag) goto l;",
        "unsigned mine = atomic_fetch_add(&next, 1); while (serving != mine) ;",
        "struct node *n = mine; while (atomic_load(&n->locked)) ;",
        "struct node *n = mine, *s; while (!(s = atomic_load(&n->after))) ; atomic_store(&s->locked, 0);",
        "while (flag == 0 || turn == 1) { }",
    ] {
        let Some(l) = waits(body) else { return };
        assert!(l.only_reads() && !l.reads.is_empty() && !l.exits.is_empty(), "{body}: {l:?}");
    }
}

#[test]
fn counters_that_only_let_time_pass_do_not_matter() {
    for body in [
        "int n = 1; while (flag) { for (int i = 0; i < n; i++) __asm__ volatile(\"\"); if (n < 64) n *= 2; }",
        "unsigned n = 0; while (flag) { n++; if (n % 8 == 0) sched_yield(); }",
        "int n = 0; while (lock) { if (++n > 100) { sched_yield(); n = 0; } }",
    ] {
        let Some(l) = waits(body) else { return };
        assert!(l.only_reads(), "{body}: {l:?}");
    }
}

#[test]
fn a_compare_and_swap_that_fails_is_a_read() {
    for body in [
        "int e = 0; while (!atomic_compare_exchange_strong(&lock, &e, 1)) e = 0;",
        "int e; do { e = 0; } while (!atomic_compare_exchange_weak(&lock, &e, 1));",
        "for (;;) { while (lock) sched_yield(); int e = 0; if (atomic_compare_exchange_weak(&lock, &e, 1)) break; }",
        "while (!__sync_bool_compare_and_swap(&plain, 0, 1)) ;",
        "while (pthread_mutex_trylock(&m)) sched_yield();",
    ] {
        let Some(l) = waits(body) else { return };
        assert!(l.only_reads(), "{body}: {l:?}");
    }
}

#[test]
fn an_exchange_that_finds_what_it_puts_is_as_good_as_a_read() {
    for body in [
        "while (atomic_exchange(&lock, 1)) sched_yield(); atomic_store(&lock, 0);",
        "for (;;) { while (lock) ; if (!atomic_exchange(&lock, 1)) break; }",
        "while (__sync_lock_test_and_set(&plain, 1)) ; __sync_lock_release(&plain);",
        "while (atomic_flag_test_and_set(&busy)) ; atomic_flag_clear(&busy);",
    ] {
        let Some(l) = waits(body) else { return };
        assert!(!l.only_reads() && l.test().is_none(), "{body}: {l:?}");
    }
    // The value may be another one than that which is put.
    does_not_wait("while (atomic_exchange(&lock, 1)) ; atomic_store(&lock, 2);");
    does_not_wait("int v = plain; while (atomic_exchange(&lock, 1)) ; atomic_store(&lock, v);");
}

#[test]
fn what_a_loop_does_makes_it_more_than_a_wait() {
    for body in [
        "while (flag) turn = 1;",
        "while (flag) atomic_fetch_add(&turn, 1);",
        "for (int i = 0; i < 100 && flag; i++) ;",
        "int n = 0; while (flag) n++; plain = n;",
        "int e = 0; while (!atomic_compare_exchange_strong(&lock, &e, e + 1)) ;",
        "for (;;) { int e = 0; if (atomic_compare_exchange_strong(&lock, &e, 1) && turn) break; }",
        "while (flag) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
        "while (flag) { pthread_t t; pthread_create(&t, 0, worker2, 0); }",
        "int sum = 0; for (int i = 0; i < 4; i++) sum += data[i]; plain = sum;",
        "while (!pthread_mutex_trylock(&m)) ;",
        "struct node *n = mine; while (n) n = n->after;",
    ] {
        let body = body.replace("worker2", "(void *(*)(void *))0 + 0 ? worker : worker");
        does_not_wait(&body);
    }
}

#[test]
fn a_wait_inside_of_a_loop_that_works_is_found() {
    let Some(l) = waits("for (int i = 0; i < 3; i++) { while (turn != i) ; plain = i; turn = i + 1; }")
    else {
        return;
    };
    assert_eq!((l.reads.len(), l.exits.len()), (1, 1), "{l:?}");
    let Some((_, loops)) = found("while (flag) ; while (!flag) ;") else { return };
    assert_eq!(loops.len(), 2);
}

#[test]
fn the_test_of_a_simple_wait_is_said() {
    let Some(l) = waits("unsigned mine = atomic_fetch_add(&next, 1); while (serving != mine) ;") else {
        return;
    };
    let (read, when) = l.test().unwrap_or_else(|| panic!("{l:?}"));
    let (mut value, mut mine) = (false, false);
    when.registers(&mut |r| {
        value |= r == read.value;
        mine |= r < throng_goto::waiting::Read::FIRST;
    });
    assert!(value && mine && matches!(read.address, Some(Expr::Const(_))), "{when:?} {read:?}");
    let leaves = |v: i64| {
        let with = when.replaced(&|e| match e {
            Expr::Reg(r) => Some(Expr::Const(if *r == read.value { v } else { 7 })),
            _ => None,
        });
        with.constant().map(|c| c != 0)
    };
    assert_eq!((leaves(7), leaves(8)), (Some(true), Some(false)));
}

#[test]
fn some_way_around_a_loop_may_wait() {
    for (body, waits) in [
        ("while (atomic_exchange(&lock, 1)) ; int v = plain; atomic_store(&lock, v);", true),
        ("while (atomic_exchange(&lock, turn)) ;", true),
        ("int n = 0; while (flag) n++; plain = n;", true),
        ("int n = 0; while (flag) { if (n < 10) n++; } plain = n;", true),
        ("while (flag) { if (turn) plain = 1; }", true),
        ("for (;;) { int e = 0; if (atomic_compare_exchange_strong(&lock, &e, 1) && turn) break; }", true),
        ("int old = flag, now, is; do { now = flag; is = now != old; old = now; } while (!is);", true),
        ("for (unsigned i = 0; ; i = (i + 1) % 4) if (data[i]) break;", true),
        ("while (1) { while (flag) ; turn = 1; }", true),
        ("while (flag) atomic_thread_fence(memory_order_acquire);", true),
        ("while (flag) turn = 1;", false),
        ("while (flag) atomic_fetch_add(&turn, 1);", false),
        ("while (!atomic_exchange(&lock, 1)) ;", false),
        ("for (int i = 0; i < 100 && flag; i++) ;", false),
        ("int sum = 0; for (int i = 0; i < 4; i++) sum += data[i]; plain = sum;", false),
        ("struct node *n = mine; while (n) n = n->after;", false),
        ("while (flag) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }", false),
        ("while (!pthread_mutex_trylock(&m)) ;", false),
        ("int e = 0; while (!atomic_compare_exchange_strong(&lock, &e, e + 1)) ;", false),
    ] {
        let Some(program) = program(body) else { return };
        let loops = possible_waits(&program);
        assert_eq!(!loops.is_empty(), waits, "{body}: {loops:?}");
    }
}
