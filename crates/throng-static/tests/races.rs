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
