//! Small programs that were once answered wrongly, or not at all, each with its answer.

use throng_dev::harness::command::{Scratch, run};

/// Returns the exit status of `throng check` about a program in C, and all that it says.
fn asked(text: &str, rest: &[&str]) -> (Option<i32>, String) {
    let scratch = Scratch::new("corners");
    let file = scratch.file_argument("corner.c", text);
    let (status, said, noted) = run(&[&["check", &file], rest].concat());
    (status, said + &noted)
}

#[test]
fn a_lock_that_each_thread_has_for_itself_protects_nothing() {
    let text = |keyword: &str| {
        format!(
            "#include <pthread.h>
            static {keyword} pthread_mutex_t own; int x;
            void work(void) {{ pthread_mutex_lock(&own); x++; pthread_mutex_unlock(&own); }}"
        )
    };
    let (status, said) = asked(&text(""), &["--entry", "work", "--race"]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = asked(&text("__thread"), &["--entry", "work", "--race"]);
    assert_eq!(status, Some(10), "{said}");
}

#[test]
fn a_loop_on_a_node_of_the_stack_waits_for_who_knows_its_address() {
    let text = "#include <pthread.h>
        #include <stdatomic.h>
        struct node { struct node *next; atomic_int locked; };
        struct node *_Atomic tail;
        void *f(void *unused) {
          struct node me = {0, 1};
          struct node *before = atomic_exchange(&tail, &me);
          if (before) { before->next = &me; while (me.locked) ; }
          return 0;
        }
        int main(void) {
          pthread_t t, u;
          pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
          pthread_join(t, 0); pthread_join(u, 0);
        }";
    let (status, said) = asked(text, &["--deadlock"]);
    assert_ne!(status, Some(0), "{said}");
}

#[test]
fn functions_without_variables_get_a_monitor_as_others_do() {
    let text = "int x; void idle(void) {} void one(void) { x = 1; } void two(void) { x = 2; }";
    let rest = ["--entry", "idle,one,two", "--memory-model", "c11", "--jobs", "1"];
    let (status, said) = asked(text, &rest);
    assert_eq!(status, Some(10), "{said}");
}

/// A program in which two threads execute these statements of a function.
fn twice(variables: &str, statements: &str) -> String {
    format!(
        "#include <pthread.h>\n{variables}\nvoid *f(void *unused) {{\n{statements}\nreturn 0; }}
        int main(void) {{
          pthread_t t, u;
          pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
          pthread_join(t, 0); pthread_join(u, 0);
        }}"
    )
}

#[test]
fn a_race_is_asked_about_by_its_bytes_and_by_each_of_its_lines() {
    let variables = "int a[4]; union { int i; char c[4]; } u; int x, y;";
    let text = twice(variables, "for (int i = 0; i < 4; i++) a[i] = i;\nu.c[2] = 1;\nx = 1;\nx = 2;");
    let raced = ["a", "a[1]", "a[3]", "u", "u.i", "u.c[2]", "x", "corner.c:6", "corner.c:7"];
    for (about, status) in raced.map(|about| (about, 10)).into_iter().chain([("y", 0), ("u.c[1]", 0)]) {
        let (found, said) = asked(&text, &["--race", about]);
        assert_eq!(found, Some(status), "{about}: {said}");
    }
}
