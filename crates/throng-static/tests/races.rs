//! What the analysis and its checker say about small programs.

mod common;

use common::findings;
use throng_goto_check::races::findings::Status;

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
