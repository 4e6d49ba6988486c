//! What the analysis and its checker say about small programs.

mod common;

use common::{DECLARATIONS, findings};
use throng_goto::program::About;
use throng_goto_check::races::findings::Status;
use throng_goto_check::races::{check, narrowed};

/// Returns the names of the objects that may be raced for.
fn possible(text: &str) -> Vec<String> {
    let found = findings(text);
    assert_eq!(found.open, Vec::<String>::new(), "{text}");
    let objects = found.objects.into_iter();
    objects.filter(|o| matches!(o.status, Status::Possible(_))).map(|o| o.name).collect()
}

#[test]
fn one_lock_at_all_accesses_and_different_locks() {
    let with = |lock: &str, unlock: &str| {
        format!(
            "void *f(void *v) {{ {lock} x++; {unlock} return 0; }}
            int main(void) {{ threads(f, 0); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }}"
        )
    };
    assert!(possible(&with("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);")).is_empty());
    assert_eq!(possible(&with("pthread_mutex_lock(&n);", "pthread_mutex_unlock(&n);")), ["x"]);
    assert_eq!(possible(&with("", "")), ["x"]);
    assert!(
        possible(&with("if (pthread_mutex_trylock(&m) == 0) {", "pthread_mutex_unlock(&m); }")).is_empty()
    );
    assert_eq!(possible(&with("pthread_mutex_trylock(&m);", "pthread_mutex_unlock(&m);")), ["x"]);
}

#[test]
fn races_are_asked_about_by_their_bytes_and_by_each_of_their_lines() {
    let code = "\nvoid *f(void *v) {\nfor (int i = 0; i < 4; i++) a[i] = i;\nx = 1;\nx = 2;\nreturn 0; }
        int main(void) { threads(f, 0); return 0; }";
    let first = DECLARATIONS.matches('\n').count() + 1;
    let raced = |about: &str| {
        let text = format!("{DECLARATIONS}{code}");
        let mut options = throng_c::Options::default();
        options.question.race = true;
        options.question.about = vec![About::read(about)];
        let source = throng_lang::source::Source::new("a.i", &text);
        let query = throng_c::read(source, text, &options).map_err(|r| r.diagnostics).expect("read").query;
        let facts = throng_static::analyse(&query.program);
        let found = narrowed(&query.program, check(&query.program, &facts).expect("right"));
        found.objects.iter().any(|o| matches!(o.status, Status::Possible(_)))
    };
    assert!(["a", "a[1]", "a[3]", "x"].into_iter().all(raced));
    assert!(!raced("y"));
    let lines = |n: usize| raced(&format!("a.i:{}", first + n));
    assert!([2, 3, 4].into_iter().all(lines));
    assert!(!lines(5));
}

#[test]
fn readers_and_writers() {
    let with = |reader: &str, writer: &str| {
        format!(
            "void *f(void *v) {{ pthread_rwlock_{reader}(&rw); y = x; pthread_rwlock_unlock(&rw);
               pthread_rwlock_{writer}(&rw); x++; pthread_rwlock_unlock(&rw); return 0; }}
            int main(void) {{ threads(f, 0); }}"
        )
    };
    assert_eq!(possible(&with("rdlock", "wrlock")), ["y"]);
    assert!(possible(&with("wrlock", "wrlock")).is_empty());
    assert_eq!(possible(&with("rdlock", "rdlock")), ["x", "y"]);
}

#[test]
fn before_creation_and_after_join() {
    let with = |before: &str, between: &str, after: &str| {
        format!(
            "void *f(void *v) {{ x++; return 0; }}
            int main(void) {{ {before} pthread_create(&t, 0, f, 0); {between} pthread_join(t, 0); {after} }}"
        )
    };
    assert!(possible(&with("x = 1;", "", "x = 2;")).is_empty());
    assert_eq!(possible(&with("", "x = 1;", "")), ["x"]);
    assert_eq!(possible(&with("", "pthread_create(&u, 0, f, 0); t = u;", "x = 2;")), ["x"]);
}

#[test]
fn a_thread_that_ends_in_a_function_has_not_waited() {
    let with = |leave: &str| {
        format!(
            "void pthread_exit(void *);
            void leave(void) {{ if (__VERIFIER_nondet_int()) {leave}; }}
            void *g(void *v) {{ x++; return 0; }}
            void *f(void *v) {{ pthread_create(&u, 0, g, 0); leave(); pthread_join(u, 0); return 0; }}
            int main(void) {{ pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 2; }}"
        )
    };
    assert!(possible(&with("y = 1")).is_empty());
    assert_eq!(possible(&with("pthread_exit(0)")), ["x"]);
}

#[test]
fn what_is_published_is_shared_from_then_on() {
    let with = |after: &str| {
        format!(
            "void *f(void *v) {{ pthread_mutex_lock(&m); struct s *h = head; pthread_mutex_unlock(&m);
               if (h) h->x++; return 0; }}
            int main(void) {{ pthread_create(&t, 0, f, 0); struct s *k = malloc(sizeof *k); k->x = 1;
              pthread_mutex_lock(&m); head = k; pthread_mutex_unlock(&m); {after} }}"
        )
    };
    assert!(possible(&with("")).is_empty());
    assert_eq!(possible(&with("k->x = 2;")).len(), 1);
}

#[test]
fn locks_that_are_held_on_some_ways_or_given_back_by_others() {
    let with = |before: &str, after: &str, main: &str| {
        format!(
            "void *f(void *v) {{ int c = __VERIFIER_nondet_int(); {before} x++; {after} return 0; }}
            int main(void) {{ threads(f, 0); {main} }}"
        )
    };
    let (lock, unlock) = ("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);");
    assert!(possible(&with(lock, unlock, "")).is_empty());
    assert!(
        possible(&with("if (c) pthread_mutex_lock(&m); if (c)", "if (c) pthread_mutex_unlock(&m);", ""))
            .is_empty()
    );
    assert_eq!(
        possible(&with("if (c) pthread_mutex_lock(&m);", "if (c) pthread_mutex_unlock(&m);", "")),
        ["x"]
    );
    // A thread that does not hold it gives it back, or makes it anew.
    assert_eq!(possible(&with(lock, unlock, unlock)), ["x"]);
    assert_eq!(possible(&with(lock, unlock, "pthread_mutex_init(&m, 0);")), ["x"]);
    assert_eq!(possible(&with(lock, unlock, "m.a[0] = 0;")), ["x"]);
    let begin = "if (c) __VERIFIER_atomic_begin();";
    assert_eq!(possible(&with(begin, "if (c) __VERIFIER_atomic_end();", "")), ["x"]);
}

#[test]
fn a_lock_of_a_pointer_that_has_changed() {
    let with = |between: &str| {
        format!(
            "void *f(void *v) {{ struct s *o = v; pthread_mutex_lock(&o->m); {between} o->x++; return 0; }}
            int main(void) {{ for (int i = 0; i < 9; i++) {{ struct s *k = malloc(sizeof *k);
                pthread_mutex_init(&k->m, 0); k->x = 0; k->next = head; head = k; }}
              for (struct s *k = head; k; k = k->next) {{ threads(f, k); }} }}"
        )
    };
    assert!(possible(&with("")).is_empty());
    assert_eq!(possible(&with("if (o->next) o = o->next;")).len(), 1);
    assert_eq!(possible(&with("while (o->next) { o->x++; o = o->next; }")).len(), 1);
}

#[test]
fn two_threads_of_one_parent_in_either_order() {
    let with = |first: &str, between: &str, second: &str| {
        format!(
            "void *f(void *v) {{ x++; return 0; }} void *g(void *v) {{ x = 1; return 0; }}
            int main(void) {{ pthread_create(&t, 0, {first}, 0); {between} pthread_create(&u, 0, {second}, 0); }}"
        )
    };
    for (first, second) in [("f", "g"), ("g", "f")] {
        assert_eq!(possible(&with(first, "", second)), ["x"]);
        assert!(possible(&with(first, "pthread_join(t, 0);", second)).is_empty());
    }
    // The second one may still run when the first one is started again.
    let again = with("f", "pthread_join(t, 0);", "g")
        .replace("{ pthread_create(&t", "{ for (;;) { pthread_create(&t");
    assert_eq!(possible(&again.replace("&u, 0, g, 0); }", "&u, 0, g, 0); } }")), ["x"]);
}

#[test]
fn two_locks_in_one_object() {
    let with = |lock: &str| {
        format!(
            "struct d {{ pthread_mutex_t a, b; int x; }};
            void *f(void *v) {{ struct d *o = v; pthread_mutex_lock(&o->a); o->x++; pthread_mutex_unlock(&o->a);
              return 0; }}
            void *g(void *v) {{ struct d *o = v; pthread_mutex_lock(&o->{lock}); o->x++;
              pthread_mutex_unlock(&o->{lock}); return 0; }}
            int main(void) {{ for (int i = 0; i < 9; i++) {{ struct d *k = malloc(sizeof *k);
              pthread_mutex_init(&k->a, 0); pthread_mutex_init(&k->b, 0); k->x = 0;
              pthread_create(&t, 0, f, k); pthread_create(&u, 0, g, k); }} }}"
        )
    };
    assert!(possible(&with("a")).is_empty());
    assert_eq!(possible(&with("b")).len(), 1);
}

#[test]
fn a_pointer_that_no_longer_points_to_an_object_of_its_own() {
    let with = |change: &str| {
        format!(
            "void *f(void *v) {{ pthread_mutex_lock(&m); struct s *h = head; pthread_mutex_unlock(&m);
               if (h) h->x++; return 0; }}
            int main(void) {{ head = &one; pthread_create(&t, 0, f, 0); struct s *k = malloc(sizeof *k);
              k->x = 1; pthread_mutex_lock(&m); {change} pthread_mutex_unlock(&m); k->x = 2; }}"
        )
    };
    assert!(possible(&with("")).is_empty());
    assert_eq!(possible(&with("k = head;")).len(), 1);
}

#[test]
fn more_ways_than_are_told_apart() {
    let with = |begin: &str, end: &str| {
        format!(
            "void *f(void *v) {{ int c = __VERIFIER_nondet_int(), d = __VERIFIER_nondet_int();
               int e = __VERIFIER_nondet_int(); if (d) pthread_mutex_lock(&n); if (e) pthread_mutex_lock(&one.m);
               if (c) {begin} x++; if (c) {end} return 0; }}
            int main(void) {{ threads(f, 0); }}"
        )
    };
    assert_eq!(possible(&with("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);")), ["x"]);
    assert_eq!(possible(&with("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();")), ["x"]);
}

#[test]
fn one_join_for_several_threads() {
    let with = |times: &str, join: &str| {
        format!(
            "void *f(void *v) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ for (int i = 0; i < {times}; i++) {{ pthread_create(&t, 0, f, 0); {join} }}
              pthread_join(t, 0); x = 2; }}"
        )
    };
    assert_eq!(possible(&with("2", "")), ["x"]);
    assert!(possible(&with("2", "pthread_join(t, 0);")).is_empty());
}

#[test]
fn threads_that_start_threads() {
    let with = |end: &str| {
        format!(
            "void *g(void *v) {{ x++; return 0; }}
            void *f(void *v) {{ pthread_create(&u, 0, g, 0); {end} return 0; }}
            int main(void) {{ pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 2; }}"
        )
    };
    assert!(possible(&with("pthread_join(u, 0);")).is_empty());
    assert_eq!(possible(&with("")), ["x"]);
}

#[test]
fn a_lock_in_the_same_object() {
    let with = |lock: &str| {
        format!(
            "void *f(void *v) {{ struct s *p = v; pthread_mutex_lock(&({lock})->m); p->x++;
               pthread_mutex_unlock(&({lock})->m); return 0; }}
            int main(void) {{ q = malloc(sizeof *q); pthread_mutex_init(&q->m, 0);
              for (int i = 0; i < 9; i++) {{ struct s *p = malloc(sizeof *p); pthread_mutex_init(&p->m, 0);
                p->x = 0; p->next = i ? q : p; pthread_create(&t, 0, f, p); pthread_create(&t, 0, f, p); }} }}"
        )
    };
    assert!(possible(&with("p")).is_empty());
    assert!(possible(&with("q")).is_empty());
    assert_eq!(possible(&with("p->next")).len(), 1);
}

#[test]
fn what_was_not_published_and_what_was_handed_over() {
    let with = |after: &str| {
        format!(
            "void *f(void *v) {{ struct s *p = v; p->x++; free(p); return 0; }}
            int main(void) {{ for (int i = 0; i < 9; i++) {{ struct s *p = malloc(sizeof *p);
                p->x = 0; pthread_create(&t, 0, f, p); {after} }} }}"
        )
    };
    assert!(possible(&with("")).is_empty());
    assert_eq!(possible(&with("p->x = 2;")).len(), 1);
    assert_eq!(possible(&with("pthread_create(&t, 0, f, p);")).len(), 1);
}

#[test]
fn fields_and_pointers_to_functions() {
    let text = "void add(int *to) { *to += 1; } void (*change)(int *) = add; struct s one;
        void *f(void *v) { change(&one.x); return 0; }
        int main(void) { pthread_create(&t, 0, f, 0); one.next = 0; }";
    assert!(possible(text).is_empty());
    assert_eq!(possible(&text.replace("one.next = 0", "one.x = 0")), ["one.x"]);
}

#[test]
fn semaphores_that_let_one_thread_past() {
    let with = |init: &str, body: &str, more: &str| {
        format!(
            "sem_t s; void *f(void *v) {{ {body} return 0; }}
            int main(void) {{ {init} threads(f, 0); {more} }}"
        )
    };
    let body = "sem_wait(&s); x++; sem_post(&s);";
    assert!(possible(&with("sem_init(&s, 0, 1);", body, "")).is_empty());
    assert_eq!(possible(&with("sem_init(&s, 0, 2);", body, "")), ["x"]);
    assert_eq!(possible(&with("sem_init(&s, 0, 1);", body, "sem_post(&s);")), ["x"]);
    assert_eq!(possible(&with("sem_init(&s, 0, 1);", body, "sem_init(&s, 0, 1);")), ["x"]);
    assert_eq!(possible(&with("sem_init(&s, 0, 1);", "sem_wait(&s); sem_post(&s); x++;", "")), ["x"]);
}

#[test]
fn conditions_on_what_only_the_thread_knows() {
    let with = |between: &str| {
        format!(
            "_Thread_local int own; void *f(void *v) {{ own = 1; {between}
               if (own == 1) pthread_mutex_lock(&m); x++; if (own == 1) pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ threads(f, 0); }}"
        )
    };
    assert!(possible(&with("")).is_empty());
    assert_eq!(possible(&with("if (x) own = 2;")).len(), 1);
    assert_eq!(possible(&with("int *k = &own; *k = 2;")).len(), 1);
}

#[test]
fn a_loop_that_waits_for_all_that_a_loop_has_started() {
    let with = |n: &str, create: &str, join: &str, more: &str| {
        format!(
            "int count = 4; pthread_t all[8]; {more}
            void *f(void *v) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{ int n = {n}; pthread_t *list = malloc(n * sizeof(pthread_t)), own[8];
              for (int i = 0; i < {create}) {{ BODY }}
              for (int j = {join}
              x = 2; }}"
        )
    };
    let body = |text: &str, body: &str| text.replace("BODY", body);
    for n in ["4", "__VERIFIER_nondet_int()"] {
        for array in ["all", "list", "own"] {
            let start = format!("pthread_create(&{array}[i], 0, f, 0);");
            let right =
                body(&with(n, "n; i++", &format!("0; j < n; j++) pthread_join({array}[j], 0);"), ""), &start);
            assert!(possible(&right).is_empty(), "{right}");
            for join in [
                "1; j < n; j++) pthread_join(ARRAY[j], 0);",
                "0; j < n - 1; j++) pthread_join(ARRAY[j], 0);",
                "0; j < n; j += 2) pthread_join(ARRAY[j], 0);",
                "0; j < n; j++) pthread_join(ARRAY[0], 0);",
                "0; j < n; j++) { if (y) break; pthread_join(ARRAY[j], 0); }",
                "0; j < n; j++) { if (y) pthread_join(ARRAY[j], 0); }",
                "0; j < n; j++) { n--; pthread_join(ARRAY[j], 0); }",
                "-1; j < n; j++) { ARRAY[j + 1] = ARRAY[0]; pthread_join(ARRAY[j], 0); }",
            ] {
                let wrong = body(&with(n, "n; i++", &join.replace("ARRAY", array), ""), &start);
                assert_eq!(possible(&wrong), ["x"], "{wrong}");
            }
        }
    }
    let right = "0; j < n; j++) pthread_join(all[j], 0);";
    for wrong in [
        // One number is written over, one thread more is started, the numbers are elsewhere.
        "pthread_create(&all[i], 0, f, 0); if (y) all[0] = 1;",
        "pthread_create(&all[i], 0, f, 0); pthread_create(&all[i], 0, f, 0);",
        "pthread_create(&all[i], 0, f, 0); if (y) pthread_create(&t, 0, f, 0);",
        "pthread_create(&all[i / 2], 0, f, 0);",
        "pthread_create(&all[0], 0, f, 0);",
        "pthread_create(&all[i], 0, f, 0); if (y) i = 0;",
        "for (int k = 0; k < 2; k++) pthread_create(&all[i], 0, f, 0);",
    ] {
        let wrong = body(&with("4", "n; i++", right, ""), wrong);
        assert_eq!(possible(&wrong), ["x"], "{wrong}");
    }
    let start = "pthread_create(&all[i], 0, f, 0);";
    for (create, join) in [
        ("n; i++", "0; j < count; j++) pthread_join(all[j], 0);"),
        ("count; i++", "0; j < n; j++) pthread_join(all[j], 0);"),
        ("n; i++", "0; (unsigned)j < n; j++) pthread_join(all[j], 0);"),
    ] {
        let wrong = body(&with("4", create, join, ""), start);
        assert_eq!(possible(&wrong), ["x"], "{wrong}");
    }
    // A variable that only the first thread writes stays what it is; one that others write does not.
    let join = "0; j < count; j++) pthread_join(all[j], 0);";
    let shared = body(&with("4", "count; i++", join, ""), start);
    assert!(possible(&shared).is_empty());
    let lowered = body(
        &with("4", "count; i++", &format!("0; j < 0; j++) ; count = 2; for (int j = {join}"), ""),
        start,
    );
    assert_eq!(possible(&lowered), ["x"]);
    let called = body(&with("4", "count; i++", join, "void less(void) { count--; }"), start);
    assert_eq!(possible(&called.replace("for (int j", "less(); for (int j")), ["x"]);
    let raced = shared.replace("x++; p", "x++; if (y) count = 2; p");
    assert!(possible(&raced).contains(&"x".to_string()));
    let raced = shared.replace("x++; p", "x++; if (y) all[1] = 2; p");
    assert!(possible(&raced).contains(&"x".to_string()));
}

#[test]
fn indices_and_addresses_of_their_own() {
    let with = |given: &str, access: &str| {
        format!(
            "struct e {{ int x; long y; }} e[8]; int b[8];
            void *f(void *v) {{ int i = (int)(long)v; struct e *o = v; {access} return 0; }}
            int main(void) {{ struct e *list = malloc(8 * sizeof(struct e));
              for (int i = 0; i < 8; i++) {{ list[i].x = list[i].y = 0; }}
              for (int i = 0; i < 8; i++) {{ {given} }} return 0; }}"
        )
    };
    let index = "pthread_create(&t, 0, f, (void *)(long)i);";
    for access in ["b[i]++;", "e[i].y++; e[i].x++;", "b[i]++; e[i].x = b[i];"] {
        assert!(possible(&with(index, access)).is_empty(), "{access}");
    }
    for access in
        ["b[i / 2]++;", "b[0]++;", "b[i]++; b[i + 1]++;", "i = 3; b[i]++;", "i++; v = 0; b[(long)v]++;"]
    {
        assert_eq!(possible(&with(index, access)).len(), 1, "{access}");
    }
    for given in [
        "pthread_create(&t, 0, f, (void *)(long)(i / 2));",
        "pthread_create(&t, 0, f, (void *)(long)i); if (y) i--;",
        "for (int k = 0; k < 2; k++) pthread_create(&t, 0, f, (void *)(long)i);",
        "pthread_create(&t, 0, f, (void *)(long)-i); if (y) i = 2;",
    ] {
        assert_eq!(possible(&with(given, "b[i]++;")).len(), 1, "{given}");
    }
    // Again and again, but never two of them at the same time.
    assert!(
        possible(&with("pthread_create(&t, 0, f, (void *)(long)3); pthread_join(t, 0);", "b[i]++;"))
            .is_empty()
    );
    for (given, access, few) in [
        ("pthread_create(&t, 0, f, &e[i]);", "o->x++; o->y++;", true),
        ("pthread_create(&t, 0, f, &list[i]);", "o->x++; o->y++;", true),
        ("pthread_create(&t, 0, f, &list[i]);", "o[0].y++;", true),
        ("pthread_create(&t, 0, f, &list[i]);", "o[0].y++; o[1].x++;", true),
        ("pthread_create(&t, 0, f, &list[i]);", "o[0].x++; o[1].x++;", false),
        ("pthread_create(&t, 0, f, &e[i]);", "o = e; o->x++;", false),
        ("pthread_create(&t, 0, f, &e[i]); i--;", "o->x++;", false),
    ] {
        assert_eq!(possible(&with(given, access)).is_empty(), few, "{given} {access}");
    }
}

#[test]
fn a_lock_of_a_pointer_that_is_loaded_again() {
    let with = |body: &str| {
        format!(
            "void *f(void *v) {{ int first = 1; for (;;) {{ pthread_mutex_lock(&n); struct s *k = head;
                pthread_mutex_unlock(&n); {body} }} }}
            int main(void) {{ head = &one; threads(f, 0); for (;;) {{
                struct s *k = malloc(sizeof *k); pthread_mutex_init(&k->m, 0); k->x = 0;
                pthread_mutex_lock(&n); head = k; pthread_mutex_unlock(&n); }} }}"
        )
    };
    assert!(possible(&with("pthread_mutex_lock(&k->m); k->x++; pthread_mutex_unlock(&k->m);")).is_empty());
    // The lock is that of the object before.
    let stale = "if (first) { pthread_mutex_lock(&k->m); first = 0; } else { k->x++; }";
    assert!(!possible(&with(stale)).is_empty());
}

/// A program whose first thread waits until the threads of a loop have counted themselves.
fn counted(thread: &str, before: &str, wait: &str) -> String {
    format!(
        "int alive; pthread_cond_t c;
        void in(void) {{ pthread_mutex_lock(&m); alive++; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }}
        void out(void) {{ pthread_mutex_lock(&m); alive--; pthread_cond_signal(&c); pthread_mutex_unlock(&m); }}
        void *f(void *v) {{ {thread} return 0; }}
        int main(void) {{
          int k = __VERIFIER_nondet_int();
          for (int i = 0; i < k; i++) {{ {before} pthread_create(&t, 0, f, 0); }}
          pthread_mutex_lock(&m);
          {wait}
          pthread_mutex_unlock(&m);
          x = 2;
        }}"
    )
}

const ALL: &str = "while (alive != k) pthread_cond_wait(&c, &m);";
const NONE: &str = "while (alive) pthread_cond_wait(&c, &m);";
const WORK: &str = "pthread_mutex_lock(&n); x++; pthread_mutex_unlock(&n);";

#[test]
fn threads_that_count_themselves_in_and_out_are_waited_for() {
    let thread = format!("in(); {WORK} out();");
    let both = format!("{ALL} {NONE}");
    assert!(possible(&counted(&thread, "", &both)).is_empty());
    // One that has not begun yet has not counted itself.
    assert_eq!(possible(&counted(&thread, "", NONE)), ["x"]);
    assert_eq!(possible(&counted(&thread, "", ALL)), ["x"]);
    assert_eq!(possible(&counted(&thread, "", &format!("{ALL} pthread_create(&t, 0, f, 0); {NONE}"))), ["x"]);
    assert_eq!(possible(&counted(&format!("in(); out(); {WORK}"), "", &both)), ["x"]);
    assert_eq!(possible(&counted(&format!("{WORK} in(); in(); out();"), "", &both)), ["x"]);
    assert_eq!(possible(&counted(&format!("if (y) in(); {WORK} out();"), "", &both)), ["x"]);
    // Read before all had counted themselves in.
    let stale = format!("int r = alive; {ALL} if (r) return 0;");
    assert_eq!(possible(&counted(&thread, "", &stale)), ["x"]);
}

#[test]
fn threads_that_find_a_flag_cleared_need_not_have_begun() {
    let with = |thread: &str, clear: &str| {
        let wait = format!("pthread_mutex_unlock(&m); {clear} pthread_mutex_lock(&m); {NONE}");
        format!("int go = 1; {}", counted(thread, "", &wait))
    };
    let read = "pthread_mutex_lock(&n); int r = go; pthread_mutex_unlock(&n);";
    let clear = "pthread_mutex_lock(&n); go = 0; pthread_mutex_unlock(&n);";
    let thread = format!("in(); {read} if (r) {{ {WORK} }} out();");
    assert!(possible(&with(&thread, clear)).is_empty());
    let looping = "in(); pthread_mutex_lock(&n); while (go) { x++; } pthread_mutex_unlock(&n); out();";
    assert!(possible(&with(looping, clear)).is_empty());
    assert_eq!(possible(&with(&thread, "")), ["x"]);
    assert_eq!(possible(&with(&thread, "pthread_mutex_lock(&n); go = 2; pthread_mutex_unlock(&n);")), ["x"]);
    // Read before it has counted itself, cleared too late, and set again.
    let early = format!("{read} in(); if (r) {{ {WORK} }} out();");
    assert_eq!(possible(&with(&early, clear)), ["x"]);
    let late = with(&thread, "").replace("x = 2;", &format!("{clear} x = 2;"));
    assert_eq!(possible(&late), ["x"]);
    let again = "pthread_mutex_lock(&n); go = 1; pthread_mutex_unlock(&n);";
    let again = with(&thread, clear).replace("x = 2;", &format!("{again} x = 2;"));
    assert_eq!(possible(&again), ["x"]);
}

#[test]
fn threads_that_are_counted_before_they_start_are_waited_for() {
    let thread = format!("{WORK} out();");
    assert!(possible(&counted(&thread, "in();", NONE)).is_empty());
    assert_eq!(possible(&counted(&thread, "if (y) in();", NONE)), ["x"]);
    assert_eq!(possible(&counted(&thread, "in();", "while (alive > 1) pthread_cond_wait(&c, &m);")), ["x"]);
    assert_eq!(possible(&counted(&format!("out(); {WORK}"), "in();", NONE)), ["x"]);
}

#[test]
fn threads_that_count_what_is_done_are_waited_for() {
    let thread = format!("{WORK} in();");
    assert!(possible(&counted(&thread, "", ALL)).is_empty());
    assert!(possible(&counted(&thread, "", "while (alive < k) pthread_cond_wait(&c, &m);")).is_empty());
    assert_eq!(possible(&counted(&thread, "", "while (alive < k - 1) pthread_cond_wait(&c, &m);")), ["x"]);
    assert_eq!(possible(&counted(&thread, "", "while (alive > k) pthread_cond_wait(&c, &m);")), ["x"]);
    assert_eq!(possible(&counted(&format!("in(); {WORK}"), "", ALL)), ["x"]);
    let unlocked = format!("{WORK} alive++;");
    assert!(possible(&counted(&unlocked, "", ALL)).contains(&"x".to_string()));
}

#[test]
fn memory_is_told_apart_by_the_call_that_allocates_it() {
    let with = |second: &str| {
        format!(
            "struct s *make(int v) {{ struct s *k = malloc(sizeof(struct s)); k->x = v; return k; }}
            void *f(void *v) {{ p->x++; return 0; }}
            int main(void) {{ p = make(1); q = {second}; pthread_create(&t, 0, f, 0); q->x = 2; }}"
        )
    };
    assert!(possible(&with("make(2)")).is_empty());
    assert_eq!(possible(&with("p")).len(), 1);
}

#[test]
fn a_lock_stays_that_of_the_old_object_where_a_pointer_is_loaded_again() {
    let with = |lock: &str, unlock: &str| {
        format!(
            "struct s two;
            void *f(void *v) {{
              for (int i = 0; i < 2; i++) {{
                struct s *k; pthread_mutex_lock(&n); k = q; pthread_mutex_unlock(&n);
                {lock} k->x++; {unlock}
              }}
              return 0;
            }}
            int main(void) {{
              q = &one; threads(f, 0);
              pthread_mutex_lock(&n); q = &two; pthread_mutex_unlock(&n);
            }}"
        )
    };
    assert!(possible(&with("pthread_mutex_lock(&k->m);", "pthread_mutex_unlock(&k->m);")).is_empty());
    assert!(!possible(&with("if (i == 0) pthread_mutex_lock(&k->m);", "")).is_empty());
}
