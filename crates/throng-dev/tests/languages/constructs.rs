//! Every construct of the language means what the reference says: one small program each, with the
//! answer and its reason.
//!
//! Answers are fewest steps to a configuration where an assertion can be violated (`None`: safe),
//! so that the number of steps a construct takes is tested too. The naive interpreter must agree on
//! each program, thread states included.
//!
//! | construct | test |
//! |---|---|
//! | `decl x;` | `an_uninitialised_variable_can_be_anything`, `a_free_variable_has_one_value_for_all_readers` |
//! | `decl x := 0, y := 1, z := *;` | `an_initialiser_says_the_first_value` |
//! | `decl thread_local x;` | `every_thread_has_its_own_copy_of_a_thread_local_variable` |
//! | `void`, `bool`, `bool<n>` functions | `results_are_assigned_together_and_may_be_discarded` |
//! | `dfs`, unused functions | `a_function_that_is_never_called_does_not_matter` |
//! | parameters | `arguments_are_passed_by_value`, `the_parameters_of_main_can_be_anything` |
//! | `;` | `empty_statements_and_missing_separators_are_fine` |
//! | labels | `labels_may_be_many_and_repeated`, `control_follows_the_text_not_the_numbers` |
//! | initialising prefix | `constant_assignments_before_numeric_labels_initialise`, `elsewhere_they_are_statements` |
//! | `skip`, `dead`, `print` | `statements_without_effect_take_a_step` |
//! | `goto L1, L2` | `goto_goes_to_any_of_its_labels` |
//! | `assume` | `a_thread_waits_until_its_assumption_holds` |
//! | `assert` | `an_assertion_fails_if_it_can` |
//! | `x, y := e, f` | `assignments_are_parallel` |
//! | `constrain` | `constrain_reads_old_values_and_primed_new_ones`, `a_constraint_without_solution_blocks` |
//! | `f(a)`, `x, _ := f(a)`, `call f()` | `results_are_assigned_together_and_may_be_discarded`, `a_call_may_drop_all_results` |
//! | recursion | `recursive_calls_are_refused_but_threads_may_start_themselves` |
//! | `return` | `nothing_after_return_is_executed`, `without_return_the_results_can_be_anything`, `main_may_return_values` |
//! | `if`, `elsif`, `else` | `each_test_of_an_if_is_one_step` |
//! | `while` | `a_loop_tests_before_every_round` |
//! | `decl` in a function | `locals_are_fresh_at_every_call`, `a_declaration_may_stand_anywhere`, `a_local_hides_a_parameter_and_a_shared_variable` |
//! | `enforce` | `enforce_holds_for_the_rest_of_its_block`, `enforce_constrains_results_but_not_callees` |
//! | `abortif` | `abortif_is_a_negated_assertion` |
//! | `start_thread goto L`, `start_thread L` | `a_child_starts_at_the_label_with_a_copy_of_all_locals`, `parent_and_child_agree_on_an_uninitialised_local`, `listed_thread_states_need_exact_copies` |
//! | `start_thread f(e)` | `arguments_of_a_started_call_are_evaluated_by_the_child` |
//! | `start_thread S` | `a_started_statement_is_executed_by_a_thread_that_then_ends` |
//! | `ASYNC_` | `an_async_label_starts_its_statement`, `a_declaration_is_no_statement_to_start` |
//! | `end_thread` | `a_thread_that_ends_frees_its_slot_by_default`, `at_the_bound_start_thread_is_skip` |
//! | `atomic_begin`, `atomic_end` | `no_other_thread_moves_during_an_atomic_section`, `children_wait_for_the_end_of_the_section`, `an_assertion_inside_a_section_is_checked`, `a_failed_assumption_inside_a_section_stops_everything` |
//! | `atomic { }` | `an_inner_section_has_no_effect`, `sections_must_be_proper` |
//! | `wait`, `signal` | `a_signal_is_lost_if_no_thread_waits`, `a_signal_wakes_exactly_one`, `a_section_can_wake_others`, `a_wait_in_a_block_releases_the_section_whoever_began_it` |
//! | `broadcast` | `a_broadcast_wakes_all` |
//! | `x$ := e` | `a_passive_assignment_changes_every_other_thread`, `who_has_no_such_variable_takes_no_part` |
//! | `x$` in `constrain` | `a_passive_constraint_must_hold_for_every_other_thread`, `a_passive_constraint_can_choose_new_values` |
//! | `x$` in guards | `a_passive_guard_needs_all_other_threads` |
//! | `constrain` alone, `sync`, misplaced `'x` and `x$` | `what_has_no_meaning_is_refused` |
//! | `*`, `?` | `every_star_is_a_choice_of_its_own` |
//! | `schoose[p, n]` | `schoose_prefers_its_first_argument` |
//! | `c ? a : b`, `! & | ^ = != => <=>` | `operators_bind_as_the_reference_says` |
//! | error labels | `reaching_an_error_label_is_a_violation` |
//! | mutual exclusion, invariants | `questions_about_states_ignore_the_inside_of_sections` |
//! | many variables | `more_than_64_shared_variables_are_no_problem`, `more_than_64_bits_of_locals_are_no_problem` |

use throng_dev::harness as common;

use common::model::{explore, read, read_as, search};
use common::naive::{Answer, Naive, Question};
use throng_lang::bp::{self, Options};

const LIMIT: usize = 100_000;

/// Asks both, compares everything, returns the answer.
fn ask(
    text: &str,
    bound: usize,
    initial: Option<usize>,
    keep_ended: bool,
    label: &str,
    invariant: &str,
) -> Answer {
    let question = Question { bound, initial, keep_ended, limit: LIMIT };
    let (label, invariant) =
        ((!label.is_empty()).then_some(label), (!invariant.is_empty()).then_some(invariant));
    let jit = read(text, keep_ended, true);
    let tree = jit.tree().clone();
    let naive = Naive::new(text, &tree).search(&question, label, invariant).expect("small enough");
    let found = search(&jit, &question, label, invariant).expect("small enough");
    let distances = |a: &Answer| (a.violated, a.error_label, a.mutex, a.invariant);
    assert_eq!(distances(&found), distances(&naive), "the naive interpreter disagrees on\n{text}");
    assert_eq!(found.reached, naive.reached, "the naive interpreter disagrees on\n{text}");
    found
}

/// Fewest steps to a violation from one thread, at most `bound` threads.
fn fails(text: &str, bound: usize) -> Option<usize> {
    ask(text, bound, Some(1), false, "", "").violated
}

/// Fewest steps to a violation from any number of threads, at most `bound`.
fn fails_any(text: &str, bound: usize) -> Option<usize> {
    ask(text, bound, None, false, "", "").violated
}

/// Returns the fewest steps to a violation from exactly this many threads.
fn fails_from(text: &str, threads: usize) -> Option<usize> {
    ask(text, threads, Some(threads), false, "", "").violated
}

/// Fewest steps from one thread to the label.
fn reaches(text: &str, bound: usize, label: &str) -> Option<usize> {
    ask(text, bound, Some(1), false, label, "").error_label
}

/// Returns the fewest steps from exactly this many threads to two threads at the label.
fn meet(text: &str, threads: usize, label: &str) -> Option<usize> {
    ask(text, threads, Some(threads), false, label, "").mutex
}

/// The first error.
fn refused(text: &str) -> String {
    let (jit, diagnostics) = bp::read(text, &Default::default());
    assert!(jit.is_none(), "accepted: {text}");
    diagnostics.into_iter().find(|d| d.is_error()).expect("an error").message
}

// ── values ──

#[test]
fn an_uninitialised_variable_can_be_anything() {
    assert_eq!(fails("decl g; void main() begin assert(g); end", 1), Some(0));
    assert_eq!(fails("decl g; void main() begin assert(!g); end", 1), Some(0));
    assert_eq!(fails("void main() begin decl x; assert(x); end", 1), Some(0));
    assert_eq!(fails("void main() begin decl x; assert(!x); end", 1), Some(0));
    assert_eq!(fails("decl thread_local x; void main() begin assert(x); end", 1), Some(0));
}

#[test]
fn a_free_variable_has_one_value_for_all_readers() {
    assert_eq!(fails_any("decl g; void main() begin decl x; x := g; assert(x = g); end", 3), None);
    let other = "decl g, h, done := 0; void main() begin goto A, B;
        A: h, done := g, 1; end_thread;
        B: assume(done); assert(g = h); end";
    assert_eq!(fails_from(other, 2), None);
}

#[test]
fn an_initialiser_says_the_first_value() {
    assert_eq!(fails_any("decl a := 0, b := 1; void main() begin assert(!a & b); end", 2), None);
    assert_eq!(fails("decl a := *; void main() begin assert(a); end", 1), Some(0));
    assert_eq!(fails("void main() begin decl a := 0, b := T, c := F; assert(!a & b & !c); end", 1), None);
}

#[test]
fn every_star_is_a_choice_of_its_own() {
    assert_eq!(fails("void main() begin assert(* = *); end", 1), Some(0));
    assert_eq!(fails("decl x, y; void main() begin x, y := *, ?; assert(x = y); end", 1), Some(1));
    assert_eq!(fails("decl x, y; void main() begin x := *; y := x; assert(x = y); end", 1), None);
}

#[test]
fn schoose_prefers_its_first_argument() {
    let chosen = |e: &str, check: &str| {
        fails(&format!("decl a; void main() begin a := schoose[{e}]; assert({check}); end"), 1)
    };
    assert_eq!(chosen("1, 1", "a"), None, "both: 1");
    assert_eq!(chosen("1, 0", "a"), None);
    assert_eq!(chosen("0, 1", "!a"), None);
    assert_eq!((chosen("0, 0", "a"), chosen("0, 0", "!a")), (Some(1), Some(1)), "neither: any");
}

#[test]
fn operators_bind_as_the_reference_says() {
    let holds = |e: &str| {
        fails(&format!("decl a := 0, b := 1, c := 0; void main() begin assert({e}); end"), 1).is_none()
    };
    assert!(!holds("a = b & c"), "(a = b) & c, not a = (b & c)");
    assert!(holds("!a & b ^ c"));
    assert!(holds("a ^ b | c") && holds("b => !c") && !holds("b -> c") && holds("a <=> c"));
    assert!(holds("c => a => c"), "to the right");
    assert!(holds("b ? !c : c") && holds("a ? 0 : b ? 1 : 0"));
    assert!(holds("a != b") && holds("a <> b") && holds("~a") && holds("a == c"));
}

// ── statements ──

#[test]
fn empty_statements_and_missing_separators_are_fine() {
    let text = "decl g := 0; void main() begin ;; if 1 then g := 1 fi while 0 do od atomic { skip } ; assert(!g) end";
    assert_eq!(fails(text, 1), Some(6));
}

#[test]
fn statements_without_effect_take_a_step() {
    let text = "decl g := 0; void main() begin skip; dead g; print(g, 1); assert(g); end";
    assert_eq!(fails(text, 1), Some(3));
}

#[test]
fn goto_goes_to_any_of_its_labels() {
    let text = "void main() begin goto A, B; A: assert(0); B: C: skip; end";
    assert_eq!((fails(text, 1), reaches(text, 1, "B"), reaches(text, 1, "C")), (Some(1), Some(1), Some(1)));
    assert_eq!(reaches("void main() begin A: skip; goto A; B: skip; end", 1, "A"), Some(0));
    assert_eq!(fails("void main() begin goto A; assert(0); A: skip; end", 1), None);
}

#[test]
fn a_thread_waits_until_its_assumption_holds() {
    let text = "decl g := 0; void main() begin start_thread goto L; assume(g); assert(0); L: g := 1; end_thread; end";
    assert_eq!(fails(text, 1), None, "no thread sets g");
    assert_eq!(fails(text, 2), Some(3), "start, g := 1, assume");
    assert_eq!(reaches("void main() begin assume *; L: skip; end", 1, "L"), Some(1));
}

#[test]
fn an_assertion_fails_if_it_can() {
    let text = "void main() begin assert(*); L: skip; end";
    assert_eq!((fails(text, 1), reaches(text, 1, "L")), (Some(0), Some(1)), "it can also pass");
    assert_eq!(
        reaches("void main() begin assert(0); L: skip; end", 1, "L"),
        None,
        "nothing behind a failure"
    );
}

#[test]
fn assignments_are_parallel() {
    assert_eq!(fails("decl a := 0, b := 1; void main() begin a, b := b, a; assert(a & !b); end", 1), None);
    assert_eq!(fails("decl a := 0; void main() begin _, a := 0, 1; assert(!a); end", 1), Some(1));
    assert!(refused("decl a; void main() begin a, a := 0, 1; end").contains("twice"));
}

#[test]
fn constrain_reads_old_values_and_primed_new_ones() {
    let lock = "decl s := 0; void main() begin s := 1 constrain !s; L: skip; s := 0; end";
    assert_eq!(meet(lock, 2, "L"), None, "the old value: a lock");
    let no_lock = "decl s := 0; void main() begin s := 1 constrain 's; L: skip; s := 0; end";
    assert_eq!(meet(no_lock, 2, "L"), Some(2), "the new value: no lock");
    let rise =
        "decl x, y; void main() begin x, y := *, * constrain 'x = !x & ('y | !'x); assert(x => y); end";
    assert_eq!(fails(rise, 1), None);
    let kept = "decl x := 0, y := 1; void main() begin x := * constrain 'x = 'y; assert(x); end";
    assert_eq!(fails(kept, 1), None, "the new value of what is not assigned is the old one");
    let both = "decl x; void main() begin x := * constrain 'x | *; assert(x); end";
    assert_eq!(fails(both, 1), Some(1), "a constraint must be able to hold");
}

#[test]
fn a_constraint_without_solution_blocks() {
    assert_eq!(fails("decl x; void main() begin x := 0 constrain 'x; assert(0); end", 1), None);
    assert_eq!(fails("decl x; void main() begin x := * constrain 'x & !'x; assert(0); end", 1), None);
}

#[test]
fn each_test_of_an_if_is_one_step() {
    assert_eq!(fails("void main() begin if * then assert(0); fi; end", 1), Some(1));
    assert_eq!(fails("void main() begin if 0 then skip; elsif 1 then assert(0); fi; end", 1), Some(2));
    assert_eq!(
        fails("void main() begin if 0 then skip; elsif 0 then skip; else assert(0); fi; end", 1),
        Some(2)
    );
    assert_eq!(fails("void main() begin if 0 then assert(0); fi; end", 1), None);
    let text = "void main() begin if * then goto L; fi; skip; L: skip; end";
    assert_eq!(reaches(text, 1, "L"), Some(2), "the test and the goto, or the test and skip");
    assert_eq!(
        reaches("void main() begin goto L; if 0 then L: skip; fi; end", 1, "L"),
        Some(1),
        "jumps into a branch"
    );
}

#[test]
fn a_loop_tests_before_every_round() {
    assert_eq!(fails("void main() begin while * do skip; od; assert(0); end", 1), Some(1));
    let count =
        "decl a := 0, b := 0; void main() begin while !(a & b) do a, b := !a, a ^ b; od; assert(0); end";
    assert_eq!(fails(count, 1), Some(7), "three rounds of two steps and the last test");
    assert_eq!(fails("void main() begin while 1 do od; assert(0); end", 1), None);
}

#[test]
fn abortif_is_a_negated_assertion() {
    assert_eq!(fails("decl a := 0; void main() begin abortif a; a := 1; abortif a; end", 1), Some(2));
    assert_eq!(fails("void main() begin abortif *; end", 1), Some(0));
}

#[test]
fn enforce_holds_for_the_rest_of_its_block() {
    let main = |body: &str| format!("decl x := 0; void main() begin {body} end");
    assert_eq!(fails(&main("enforce !x; x := *; assert(!x);"), 1), None);
    assert_eq!(
        fails(&main("x := *; enforce !x; assert(!x); x := 1; assert(0);"), 1),
        None,
        "also an assumption"
    );
    assert_eq!(
        fails(&main("if 1 then enforce !x; fi; x := 1; assert(!x);"), 1),
        Some(3),
        "not behind its block"
    );
    assert_eq!(
        fails(&main("enforce !x; if 1 then while 1 do x := 1; assert(0); od; fi;"), 1),
        None,
        "but in inner ones"
    );
    assert_eq!(fails(&main("goto L; enforce !x; L: x := *; assert(!x);"), 1), None, "the scope is textual");
    assert_eq!(
        fails(&main("enforce !x; start_thread x := 1; skip; assert(!x);"), 2),
        None,
        "for children, too"
    );
}

#[test]
fn enforce_constrains_results_but_not_callees() {
    let text = |result: &str| {
        format!(
            "decl x := 0; void main() begin enforce !x; x := f(); assert(!x); L: skip; end bool f() begin return {result}; end"
        )
    };
    assert_eq!((fails(&text("*"), 1), reaches(&text("*"), 1, "L")), (None, Some(4)));
    assert_eq!(reaches(&text("1"), 1, "L"), None);
    let inner = "decl x := 0; void main() begin enforce !x; f(); end void f() begin x := 1; assert(!x); end";
    assert_eq!(fails(inner, 1), Some(3));
    let nothing = "decl x := 1; void main() begin enforce x; f(); assert(x); end void f() begin x := 0; end";
    assert_eq!(fails(nothing, 1), Some(4), "a call without targets assigns nothing");
}

// ── names ──

#[test]
fn locals_are_fresh_at_every_call() {
    let text = |decl: &str| {
        format!(
            "decl c := 0; void main() begin f(); f(); end
            void f() begin decl {decl}; if c then assert(x); fi; x := 0; c := 1; end"
        )
    };
    assert_eq!(fails(&text("x"), 1), Some(7), "call, if, x, c, end, call, if");
    assert_eq!(fails(&text("x := 1"), 1), None, "initialised at every call");
}

#[test]
fn a_declaration_may_stand_anywhere() {
    let text = "void main() begin skip; L: decl x := 1; assert(x); while * do decl y := 0; assert(!y); y := 1; od; end";
    assert_eq!(
        fails(text, 1),
        Some(6),
        "y is initialised at function entry, not in every round: skip, assert, while, assert, y := 1, while"
    );
    assert_eq!(reaches(text, 1, "L"), Some(1), "the label is on the next statement");
}

#[test]
fn a_local_hides_a_parameter_and_a_shared_variable() {
    assert_eq!(fails("decl g := 0; void main() begin decl g := 1; assert(g); g := 0; end", 1), None);
    assert_eq!(fails("void main() begin f(0); end void f(a) begin decl a := 1; assert(a); end", 1), None);
    assert_eq!(
        fails(
            "decl thread_local g := 0; void main() begin f(1); assert(!g); end void f(g) begin assert(g); g := 0; end",
            1
        ),
        None
    );
}

#[test]
fn every_thread_has_its_own_copy_of_a_thread_local_variable() {
    let own = "decl thread_local x := 0; void main() begin assert(!x); f(); assert(x); end void f() begin x := 1; end";
    assert_eq!(fails_any(own, 2), None, "visible in all functions, untouched by other threads");
    let child = "decl thread_local x; void main() begin x := 1; start_thread f(); end void f() begin assert(x); x := 0; end";
    assert_eq!(fails(child, 2), None, "a child has a copy");
    let passive =
        "decl thread_local x := 0; void main() begin goto A, B; A: x$ := 1; end_thread; B: assert(!x); end";
    assert_eq!(fails_from(passive, 2), Some(3));
}

#[test]
fn labels_may_be_many_and_repeated() {
    let text = "void main() begin goto A; assert(0); A: B: A: A: skip; C: assert(0); end";
    assert_eq!((reaches(text, 1, "B"), fails(text, 1)), (Some(1), Some(2)));
    assert!(refused("void main() begin A: skip; A: skip; end").contains("two statements"));
}

#[test]
fn control_follows_the_text_not_the_numbers() {
    assert_eq!(fails("void main() begin 1: skip; 5: goto 2; 3: skip; 2: assert(0); end", 1), Some(2));
    assert_eq!(reaches("void main() begin 1: skip; 3: skip; 2: skip; end", 1, "3"), Some(1));
}

#[test]
fn constant_assignments_before_numeric_labels_initialise() {
    let text = "decl x; void main() begin x := 0; 1: assert(!x); 2: x := 1; end";
    assert_eq!(fails_from(text, 1), None);
    assert_eq!(fails_from(text, 2), Some(2), "one passes and sets x; the other need not reset it");
    let star = "decl x := 0; void main() begin x := *; 1: assert(!x); end";
    assert_eq!(fails(star, 1), Some(0));
    let local = "void main() begin decl y; y := 1; 1: assert(y); end";
    assert_eq!(fails(local, 1), None);
}

#[test]
fn elsewhere_they_are_statements() {
    let text = "decl x; void main() begin x := 0; L1: assert(!x); L2: x := 1; end";
    assert_eq!(fails_from(text, 2), Some(4), "both execute x := 0");
    let mixed = "decl x; void main() begin x := 0; 1: assert(!x); x := 1; end";
    assert_eq!(fails_from(mixed, 2), Some(4), "not every statement has a number");
    for inside in ["if 1 then x := 1; assert(x); fi;", "while 1 do x := 1; assert(x); od;"] {
        let nested = format!("decl x; void main() begin x := 0; 1: {inside} end");
        assert!(fails_from(&nested, 2).is_some(), "what is nested has none: {inside}");
    }
    let jump = "decl x; void main() begin x := 0; 1: if x then goto 2; fi; 2: assert(!x); end";
    assert_eq!(fails_from(jump, 1), None, "a `goto` behind `then` needs none");
    assert_eq!(fails("decl x := 0; void main() begin x := 1; end", 1), None);
}

// ── calls ──

#[test]
fn arguments_are_passed_by_value() {
    let text = "decl g := 0; void main() begin decl x := 0; f(x, !g); assert(!x & !g); end
        void f(a, b) begin assert(!a & b); a, b := 1, 0; g := a; g := 0; end";
    assert_eq!(fails(text, 1), None);
    let star = "void main() begin f(*); end void f(a) begin assert(a); end";
    assert_eq!(fails(star, 1), Some(1), "the call is one step");
}

#[test]
fn results_are_assigned_together_and_may_be_discarded() {
    let text = "decl x := 0, y := 1; void main() begin x, y := f(y, x); assert(x & !y); _, x := f(1, 0); assert(!x); y := g(); assert(y); end
        bool<2> f(a, b) begin return a, b; end bool<1> g() begin return 1; end";
    assert_eq!(fails(text, 1), None);
    assert!(
        refused("decl x; void main() begin x := f(); end bool<2> f() begin return 0, 1; end")
            .contains("2 values")
    );
}

#[test]
fn a_call_may_drop_all_results() {
    let text = "decl g := 0; void main() begin call f(1); assert(!g); end bool<2> f(a) begin g := a; return a, a; end";
    assert_eq!(fails(text, 1), Some(3), "call, assignment, return");
}

#[test]
fn without_return_the_results_can_be_anything() {
    let text = |check: &str| {
        format!("decl x := 0; void main() begin x := f(); assert({check}); end bool f() begin end")
    };
    assert_eq!((fails(&text("x"), 1), fails(&text("!x"), 1)), (Some(2), Some(2)), "call, end");
    assert!(
        refused("decl x; void main() begin x := f(); end bool f() begin return; end").contains("1 values")
    );
}

#[test]
fn nothing_after_return_is_executed() {
    let text = "void main() begin f(); L: return; assert(0); end void f() begin if * then return; fi; return; assert(0); end";
    assert_eq!((fails(text, 1), reaches(text, 1, "L")), (None, Some(3)));
}

#[test]
fn main_may_return_values() {
    assert_eq!(fails("bool<2> main() begin return 0, *; assert(0); end", 2), None);
}

#[test]
fn the_parameters_of_main_can_be_anything() {
    assert_eq!(fails("void main(p) begin assert(p); end", 1), Some(0));
    assert_eq!(fails("void main(p) begin assert(!p); end", 1), Some(0));
}

#[test]
fn a_function_that_is_never_called_does_not_matter() {
    let text =
        "decl g := 0; dfs void main() begin assert(!g); end dfs void f() begin g := 1; f(); assert(0); end";
    assert_eq!(fails_any(text, 2), None, "not even if it is recursive");
    assert!(
        refused("void main() begin skip; end void f() begin x := 1; end").contains("x"),
        "but it is checked"
    );
}

#[test]
fn recursive_calls_are_refused_but_threads_may_start_themselves() {
    let message = refused("void main() begin f(); end void f() begin g(); end void g() begin f(); end");
    assert!(message.contains("main -> f -> g -> f"), "{message}");
    let text = "decl g := 0; void main() begin start_thread f(); end void f() begin start_thread f(); g := !g; assert(0); end";
    assert_eq!(fails(text, 3), Some(4));
}

// ── threads ──

#[test]
fn a_child_starts_at_the_label_with_a_copy_of_all_locals() {
    for start in ["start_thread goto L", "start_thread L", "start_thread goto L"] {
        let text = format!(
            "void main() begin decl x := 1, y := 0; {start}; x, y := 0, 1; assume(0); L: assert(x & !y); x := 0; end"
        );
        assert_eq!(fails(&text, 3), None, "{start}");
    }
    let inner = "decl g := 0; void main() begin f(1); g := 1; end
        void f(p) begin start_thread goto L; assume(0); L: assert(p); p := 0; end";
    assert_eq!(
        ask(inner, 2, Some(1), false, "", "!g").invariant,
        Some(6),
        "the child returns to its copy of main"
    );
    assert_eq!(fails(inner, 2), None);
}

#[test]
fn parent_and_child_agree_on_an_uninitialised_local() {
    let text = |change: &str| {
        format!("decl a, b, da := 0, db := 0; void main() begin decl x; start_thread goto C; {change} a, da := x, 1; assume(0);
            C: b, db := x, 1; assert(!(da & db) | (a = b)); end")
    };
    assert_eq!(fails(&text(""), 2), None, "a copy of the same value");
    assert_eq!(fails(&text("x := *;"), 2), Some(4), "unless it changes: start, x, a, b");
}

/// Shrunk from a random program. The parent never reads p again, so for verdicts its p need not
/// agree with the child's; but s is 1 in the end only if the child's p was.
#[test]
fn listed_thread_states_need_exact_copies() {
    let text = "decl s := 0; void main(p) begin start_thread if p then s := 1; fi; skip; end";
    let question = Question { bound: 2, initial: Some(1), keep_ended: false, limit: LIMIT };
    let states = |exact_copies| {
        let jit = read_as(text, Options { exact_copies, keep_dead: true, ..Options::default() });
        search(&jit, &question, None, None).expect("small").reached
    };
    let naive = ask(text, 2, Some(1), false, "", "").reached;
    assert_eq!(states(true), naive);
    let only_here: Vec<_> = states(false).difference(&naive).cloned().collect();
    assert!(!only_here.is_empty(), "otherwise the option is not needed");
    assert!(only_here.iter().all(|s| s.shared == [true] && s.values == [false]), "{only_here:?}");
}

#[test]
fn arguments_of_a_started_call_are_evaluated_by_the_child() {
    let text =
        "decl g := 0; void main() begin start_thread f(g); g := 1; end void f(p) begin assert(!p); end";
    assert_eq!(fails(text, 2), Some(3), "start, g := 1, call");
    assert_eq!(fails(text, 1), None, "at the bound no thread is there to call");
}

#[test]
fn a_started_statement_is_executed_by_a_thread_that_then_ends() {
    let text = "decl g := 0; void main() begin decl x := 0; start_thread x := 1; assert(!x); g := 1; end";
    assert_eq!(fails(text, 2), None, "the child changes its own x");
    assert_eq!(ask(text, 2, Some(1), false, "", "!g").invariant, Some(3), "only the parent goes on");
    let call = "decl g := 0, n := 0; void main() begin decl x := 0; start_thread x := f(); n := 1; end bool f() begin g := 1; return 1; end";
    assert_eq!(ask(call, 2, Some(1), false, "", "!g | n").invariant, Some(3), "start, call, g := 1");
    let block =
        "decl g := 0; void main() begin start_thread if * then g := 1; else assert(g); fi; end_thread; end";
    assert_eq!(fails(block, 2), Some(2));
    let return_ =
        "void main() begin f(); L: assert(0); end void f() begin start_thread return; assume(0); end";
    assert_eq!(fails(return_, 2), Some(3), "call, start, return of the child");
}

#[test]
fn an_async_label_starts_its_statement() {
    let text = |start: &str| {
        format!("decl g := 0; void main() begin {start} assume(0); end void f() begin g := 1; assert(0); end")
    };
    let expected = Some(3);
    for start in ["start_thread f();", "ASYNC_1: f();", "A: ASYNC_1: B: f();"] {
        assert_eq!(fails(&text(start), 2), expected, "{start}");
        assert_eq!(fails(&text(start), 1), None, "{start}");
    }
    let assignment = "decl g := 0; void main() begin ASYNC_x: g := 1; L: assert(!g); end";
    assert_eq!(fails(assignment, 2), Some(2));
    let many = "void main() begin loop: ASYNC_1: f(); goto loop; end void f() begin L: assume(0); end";
    assert_eq!(ask(many, 3, Some(1), false, "L", "").mutex, Some(5), "start, goto, start, two calls");
}

#[test]
fn at_the_bound_start_thread_is_skip() {
    let text = "void main() begin start_thread goto L; assert(0); L: assume(0); end";
    assert_eq!(fails(text, 1), Some(1));
    assert_eq!(fails_from("void main() begin start_thread goto L; assume(0); L: assert(0); end", 2), None);
}

#[test]
fn a_thread_that_ends_frees_its_slot_by_default() {
    for end in ["end_thread", "return", "goto E"] {
        let text = format!(
            "void main() begin start_thread goto A; start_thread goto B; assume(0); A: {end}; B: assert(0); E: skip; end"
        );
        let steps = if end == "goto E" { 5 } else { 3 };
        assert_eq!(fails(&text, 2), Some(steps), "start, the child ends, start");
        assert_eq!(ask(&text, 2, Some(1), true, "", "").violated, None, "--no-slot-reuse");
        assert_eq!(ask(&text, 3, Some(1), true, "", "").violated, Some(2));
    }
}

// ── atomic sections ──

#[test]
fn no_other_thread_moves_during_an_atomic_section() {
    let text = |begin: &str, end: &str| {
        format!(
            "decl g := 0; void main() begin goto A, B; A: {begin} g := 1; g := 0; {end} end_thread; B: assert(!g); end"
        )
    };
    assert_eq!(
        fails_any(&text("atomic_begin;", "atomic_end;"), 3),
        None,
        "a parked assertion is not violated"
    );
    assert_eq!(fails_any(&text("atomic {", "}"), 3), None);
    assert_eq!(fails_any(&text("", ""), 3), Some(3));
    let steps = "void main() begin atomic_begin; skip; atomic_end; atomic { skip; } L: skip; end";
    assert_eq!(reaches(steps, 1, "L"), Some(6), "entering and leaving are steps");
}

#[test]
fn children_wait_for_the_end_of_the_section() {
    let text = "decl g := 0; void main() begin atomic_begin; start_thread goto C; g := 1; g := 0; atomic_end; end_thread; C: assert(!g); end";
    assert_eq!(fails(text, 2), None);
    let after = "decl g := 0; void main() begin atomic { start_thread goto C; g := 1; } end_thread; C: assert(!g); end";
    assert_eq!(fails(after, 2), Some(4), "begin, start, g := 1, end");
}

#[test]
fn an_assertion_inside_a_section_is_checked() {
    assert_eq!(fails("decl g := 0; void main() begin atomic { g := 1; assert(!g); } end", 1), Some(2));
    assert_eq!(
        fails("decl g := 0; void main() begin atomic { g := 1; assert(!g); assume(0); } end", 1),
        Some(2),
        "even if it cannot go on"
    );
}

#[test]
fn a_failed_assumption_inside_a_section_stops_everything() {
    let text = |begin: &str, end: &str, block: &str| {
        format!(
            "decl s := 0, g := 0; void main() begin start_thread goto B; {begin} s := 1; {block} {end} end_thread; B: assume(s); assert(0); end"
        )
    };
    for block in ["assume(g);", "g := 1 constrain g;", "wait;"] {
        assert_eq!(fails(&text("atomic_begin;", "atomic_end;", block), 2), None, "{block}");
        assert_eq!(fails(&text("", "", block), 2), Some(3), "{block}");
    }
}

#[test]
fn an_inner_section_has_no_effect() {
    let text = |outer: &str, end: &str| {
        format!(
            "decl g := 0; void main() begin goto A, B; A: {outer} atomic {{ skip; }} g := 1; g := 0; {end} end_thread; B: assert(!g); end"
        )
    };
    assert_eq!(fails_any(&text("atomic {", "}"), 2), None, "the inner brace does not leave");
    assert_eq!(fails_any(&text("atomic_begin;", "atomic_end;"), 2), None);
    assert_eq!(fails_any(&text("", ""), 2), Some(6));
    let flag = "decl g := 0; void main() begin goto A, B; A: atomic_begin; atomic_begin; atomic_end; g := 1; g := 0; end_thread; B: assert(!g); end";
    assert_eq!(fails_any(flag, 2), Some(6), "a plain flag: one end is enough");
}

#[test]
fn sections_must_be_proper() {
    let main = |body: &str| refused(&format!("decl g; void main() begin {body} end"));
    assert!(main("atomic_end;").contains("outside"));
    assert!(main("atomic_begin; end_thread;").contains("ends inside"));
    assert!(main("if * then atomic_begin; fi; skip; goto L; L: skip;").contains("section"));
    assert!(main("atomic { goto L; } L: skip;").contains("out of"));
    assert!(main("atomic { atomic_end; g := 1; }").contains("section"));
    // A function with a section of its own may be called inside a block, which lasts until its end.
    let called = "decl x := 0, y; void main() begin atomic { f(); x := 1; x := 0; } assert(!x); end
        void f() begin atomic_begin; y := 1; atomic_end; end";
    assert_eq!(fails_any(called, 3), None);
}

#[test]
fn a_declaration_is_no_statement_to_start() {
    assert!(
        refused("void f() begin skip; end void main() begin ASYNC_1: decl y; f(); end")
            .contains("declaration")
    );
}

// ── waiting ──

#[test]
fn a_signal_is_lost_if_no_thread_waits() {
    assert_eq!(fails("void main() begin signal; wait; assert(0); end", 2), None);
    let text = "void main() begin start_thread goto W; signal; end_thread; W: wait; assert(0); end";
    assert_eq!(fails(text, 2), Some(2), "who waits is woken");
    assert_eq!(fails(text, 1), None);
}

#[test]
fn a_signal_wakes_exactly_one() {
    let text = "void main() begin goto W, S; W: wait; L: assume(0); S: signal; assume(0); end";
    assert_eq!(meet(text, 3, "L"), None, "one signal for two who wait, or two for one");
    assert_eq!(meet(text, 4, "L"), Some(6), "two for two");
    let must = "decl d := 0; void main() begin start_thread goto W; signal; d := 1; end_thread; W: wait; d := 0; assume(0); end";
    assert_eq!(ask(must, 2, Some(1), false, "W", "").error_label, Some(1));
}

#[test]
fn a_broadcast_wakes_all() {
    let text = "void main() begin goto W, S; W: wait; L: assume(0); S: broadcast; assume(0); end";
    assert_eq!(meet(text, 3, "L"), Some(4));
    let must =
        "decl n := 0; void main() begin goto W, S; W: wait; n := 1; assume(0); S: broadcast; assert(n); end";
    assert_eq!(fails_from(must, 1), Some(2), "with no other thread it does nothing");
    let twice = "void main() begin goto W, S; W: wait; wait; assert(0); S: broadcast; assume(0); end";
    assert_eq!(fails_from(twice, 2), None, "past one wait only");
    assert_eq!(fails_from(twice, 3), Some(5));
}

#[test]
fn a_section_can_wake_others() {
    for word in ["signal", "broadcast"] {
        let text = format!(
            "decl g := 0; void main() begin goto W, S; W: wait; assert(!g); S: atomic {{ g := 1; {word}; }} assume(0); end"
        );
        assert_eq!(
            fails_from(&text, 2),
            Some(6),
            "two gotos, begin, g := 1, {word}, end: only then the woken thread can fail"
        );
    }
}

#[test]
fn a_wait_in_a_block_releases_the_section_whoever_began_it() {
    for (begin, end) in [("atomic_begin;", "atomic_end;"), ("atomic {", "}")] {
        let called = format!(
            "decl x := 0; void f() begin atomic {{ W: wait(c); skip; }} end
            void main() begin goto A, B; A: {begin} f(); x := 1; x := 0; {end} end_thread; B: assert(!x); signal(c); end"
        );
        assert_eq!(meet(&called, 2, "W"), Some(8), "two gotos, then entering, calling, entering by each");
        assert_eq!(fails_from(&called, 3), None, "back in the section, nobody else moves");
        let not_in_a_block = called.replace("atomic { W: wait(c); skip; } end", "W: wait(c); end");
        assert_eq!(meet(&not_in_a_block, 2, "W"), None, "this one releases nothing");
        let nested = format!(
            "decl x := 0; void main() begin goto A, B;
            A: {begin} atomic {{ wait(c); skip; }} x := 1; x := 0; {end} end_thread; B: assert(!x); signal(c); end"
        );
        assert_eq!(fails_from(&nested, 3), None, "{begin}");
    }
}

// ── other threads' variables ──

#[test]
fn a_passive_assignment_changes_every_other_thread() {
    let text = "void main() begin decl x := 0; goto A, B; A: x$ := 1; assume(0); B: assert(!x); end";
    assert_eq!(fails_from(text, 1), None, "no other thread is there");
    assert_eq!(fails_from(text, 2), Some(3), "two gotos and the assignment; the other stays where it is");
    let all = "decl n := 0, d := 0; void main() begin decl x := 0; goto A, B;
        A: x, x$, d := 0, 1, 1 constrain !d; assert(!x); assume(0); B: assume(d); assert(x); end";
    assert_eq!(fails_from(all, 2), None, "its own x is another");
    let values = "void main() begin decl x := 0, y := 1; goto A, B; A: x$, y := y & !y$, 0; assume(0); B: y := 0; assert(!x); end";
    assert_eq!(fails_from(values, 2), Some(4), "y is the active thread's old value, y$ the other's");
    let free =
        "decl a, b, d := 0; void main() begin decl x := 0; x$ := *; goto A, B; A: a := x; d := 1; assume(0);
        B: assume(d); b := x; assert(a = b); end";
    assert!(fails_from(free, 2).is_some(), "each chooses for itself");
}

#[test]
fn who_has_no_such_variable_takes_no_part() {
    let text = "decl g := 0; void main() begin decl x := 0; start_thread f(); assume(g); g := 0 constrain x$; assert(0); end
        void f() begin g := 1; L: assume(0); end";
    assert_eq!(fails(text, 2), Some(5), "start, call, g := 1, assume, g := 0: the child has no x");
    let ended = "decl g := 0; void main() begin decl x := 0; start_thread goto C; assume(g); g := 0 constrain x$; assert(0); C: g := 1; end";
    assert_eq!(
        fails(ended, 2),
        Some(5),
        "a thread that has ended takes no part: start, g := 1, end, assume, g := 0"
    );
    let keeps = ask(ended, 2, Some(1), true, "", "");
    assert_eq!(keeps.violated, Some(5), "not even if it keeps its slot");
}

#[test]
fn a_passive_constraint_must_hold_for_every_other_thread() {
    let text = "decl g := 0; void main() begin decl x := 0; goto A, B; A: g := 1 constrain x$; assert(0); B: x := 1; assume(0); end";
    assert_eq!(fails_from(text, 1), Some(2), "vacuous without others");
    assert_eq!(fails_from(text, 2), Some(4), "goto, goto, x := 1, g := 1");
    assert_eq!(fails_from(text, 3), Some(6), "both others must have set x");
    let mixed = text.replace("constrain x$", "constrain g & x$");
    assert_eq!(fails_from(&mixed, 1), None, "what does not mention others must hold anyway");
}

#[test]
fn a_passive_constraint_can_choose_new_values() {
    let text = "void main() begin decl x := 0; goto A, B; A: x$ := * constrain 'x$ = !x$; assume(0); B: L: assert(!x); end";
    assert_eq!(fails_from(text, 2), Some(3));
    let none = text.replace("'x$ = !x$", "'x$ = x$");
    assert_eq!(fails_from(&none, 3), None);
}

#[test]
fn a_passive_guard_needs_all_other_threads() {
    let text =
        "void main() begin decl x := 0; goto A, B; A: assume(x$); assert(0); B: x := 1; assume(0); end";
    assert_eq!(fails_from(text, 1), Some(2), "without others x$ counts as *");
    assert_eq!((fails_from(text, 2), fails_from(text, 3)), (Some(4), Some(6)));
    let branch = "void main() begin decl x := 0; goto A, B; A: if x$ then Y: assert(0); else N: assert(0); fi; B: x := 1; assume(0); end";
    assert_eq!(fails_from(branch, 1), Some(2));
    assert_eq!(ask(branch, 2, Some(2), false, "Y", "").error_label, Some(4));
    assert_eq!(ask(branch, 2, Some(2), false, "N", "").error_label, Some(2));
}

// ── refusals and questions ──

#[test]
fn what_has_no_meaning_is_refused() {
    let main = |body: &str| refused(&format!("decl g; void main() begin decl x; {body} end"));
    main("constrain g;");
    main("sync g;");
    main("assume('g);");
    main("g := 1 constrain g';");
    main("g$ := 1;");
    main("assert(x$);");
    main("g := x$;");
    main("x$ := f(); end bool f() begin return 1;");
    main("start_thread goto A, B; A: B: skip;");
    main("g := 2;");
    main("L: end void f() begin");
    refused("decl g; void f() begin skip; end");
}

#[test]
fn reaching_an_error_label_is_a_violation() {
    let text = "decl g := 0; void main() begin goto A, B; A: assume(g); SLIC_ERROR: skip; B: g := 1; end_thread; end";
    assert_eq!(reaches(text, 1, "SLIC_ERROR"), None);
    assert_eq!(ask(text, 2, Some(2), false, "SLIC_ERROR", "").error_label, Some(4));
    let parked = "decl s := 0; void main() begin atomic_begin; start_thread goto E; assume(s); atomic_end; assume(0); E: skip; end";
    assert_eq!(
        reaches(parked, 2, "E"),
        None,
        "it is an assertion: who cannot execute it does not violate it"
    );
}

#[test]
fn questions_about_states_ignore_the_inside_of_sections() {
    let text =
        |begin: &str, end: &str| format!("decl g := 0; void main() begin {begin} g := 1; g := 0; {end} end");
    assert_eq!(ask(&text("atomic {", "}"), 2, None, false, "", "!g").invariant, None);
    assert_eq!(ask(&text("", ""), 2, None, false, "", "!g").invariant, Some(1));
    assert_eq!(ask(&text("", ""), 2, None, false, "", "* | 1").invariant, None);
    let inside = "void main() begin atomic { L: skip; } end";
    assert_eq!((meet(inside, 2, "L"), reaches(inside, 1, "L")), (None, Some(1)));
    assert_eq!(meet("void main() begin L: skip; end", 2, "L"), Some(0));
}

// ── size ──

#[test]
fn more_than_64_shared_variables_are_no_problem() {
    let names: Vec<String> = (0..70).map(|i| format!("v{i}")).collect();
    let text = format!(
        "decl {}; void main() begin if v69 then v0 := 1; else v0 := v68; fi; assert(v0 | !v68); L: skip; end",
        names.join(", ")
    );
    let question = Question { bound: 2, initial: None, keep_ended: false, limit: 10_000 };
    let jit = read(&text, false, false);
    let (answer, _) =
        explore(&jit, &question, Some("L"), Some("v1 | v2")).expect("unread variables cost nothing");
    assert_eq!(answer.violated, None);
    assert_eq!((answer.error_label, answer.invariant), (Some(3), Some(0)));
    let wrong = read(&text.replace("v0 | !v68", "v0"), false, false);
    assert_eq!(explore(&wrong, &question, None, None).unwrap().0.violated, Some(2));
}

#[test]
fn more_than_64_bits_of_locals_are_no_problem() {
    let names: Vec<String> = (0..70).map(|i| format!("x{i}")).collect();
    let text = format!(
        "decl g := 0; void main() begin decl {}; start_thread goto C; x69 := x0; assert(x69 = x0); assume(0);
         C: if x1 then g := x2; assert(g = x2); fi; end",
        names.join(", ")
    );
    let question = Question { bound: 2, initial: Some(1), keep_ended: false, limit: 10_000 };
    let (answer, _) =
        explore(&read(&text, false, false), &question, None, None).expect("unread variables cost nothing");
    assert_eq!(answer.violated, None);
    let wrong = read(&text.replace("x69 = x0", "x69 = x3"), false, false);
    assert_eq!(explore(&wrong, &question, None, None).unwrap().0.violated, Some(2));
}
