use super::parse;
use crate::bp::ast::{
    BinaryOp, ChainOp, Expr, ExprKind, Ident, Initial, Origin, Program, Stmt, StmtKind, StmtKind::*,
};
use crate::source::Diagnostic;

fn program(text: &str) -> Program {
    let (program, diagnostics) = parse(text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    program
}

fn in_main(body: &str) -> String {
    format!("void main() begin\n{body}\nend")
}

fn body(text: &str) -> Vec<Stmt> {
    program(&in_main(text)).functions.remove(0).body
}

fn stmt(text: &str) -> StmtKind {
    let mut body = body(text);
    assert_eq!(body.len(), 1, "{text}");
    body.remove(0).kind
}

fn names(idents: &[Ident]) -> Vec<&str> {
    idents.iter().map(|i| i.name.as_str()).collect()
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Equal => "=",
        BinaryOp::Unequal => "!=",
        BinaryOp::Implies => "=>",
        BinaryOp::Iff => "<=>",
        BinaryOp::Less => "<",
        BinaryOp::AtMost => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::AtLeast => ">=",
        BinaryOp::Plus => "+",
        BinaryOp::Minus => "-",
        BinaryOp::Times => "*",
    }
}

/// Prints an expression with all parentheses, chains with one pair.
fn shape(e: &Expr) -> String {
    let join = |sign: &str, parts: Vec<String>| format!("({})", parts.join(sign));
    match &e.kind {
        ExprKind::Number(n) => n.to_string(),
        ExprKind::Index { name, index, .. } => format!("{name}[{}]", shape(index)),
        ExprKind::Const(value) => u8::from(*value).to_string(),
        ExprKind::Any => "*".into(),
        ExprKind::Name { name, primed } => format!("{}{name}", if *primed { "'" } else { "" }),
        ExprKind::Not(a) => format!("!{}", shape(a)),
        ExprKind::Chain(op, operands) => {
            let sign = match op {
                ChainOp::And => "&",
                ChainOp::Or => "|",
                ChainOp::Xor => "^",
            };
            join(sign, operands.iter().map(shape).collect())
        }
        ExprKind::Series(first, rest) => {
            rest.iter().fold(shape(first), |left, (op, e)| join(sign(*op), vec![left, shape(e)]))
        }
        ExprKind::Binary(op, a, b) => join(sign(*op), vec![shape(a), shape(b)]),
        ExprKind::Conditional(c, a, b) => format!("({}?{}:{})", shape(c), shape(a), shape(b)),
        ExprKind::Schoose(a, b) => format!("schoose[{},{}]", shape(a), shape(b)),
    }
}

fn parsed_expr(text: &str) -> (Expr, Vec<Diagnostic>) {
    let (mut program, diagnostics) = parse(&in_main(&format!("assume {text};")));
    match program.functions.remove(0).body.remove(0).kind {
        Assume(e) => (e, diagnostics),
        other => panic!("{other:?}"),
    }
}

fn check_expr(text: &str, expected: &str) {
    let (e, diagnostics) = parsed_expr(text);
    assert!(diagnostics.iter().all(|d| !d.is_error()), "{text}: {diagnostics:#?}");
    assert_eq!(shape(&e), expected, "{text}");
}

fn warnings(text: &str) -> Vec<&'static str> {
    parsed_expr(text).1.iter().map(|d| d.code).collect()
}

/// Returns the codes of the errors and the text they point at.
fn errors(text: &str) -> Vec<(&'static str, &str)> {
    let (_, diagnostics) = parse(text);
    let errors = diagnostics.iter().filter(|d| d.is_error());
    errors.map(|d| (d.code, d.span.map_or("", |s| text.get(s.range()).expect("a passage")))).collect()
}

fn check_errors(text: &str, expected: &[(&'static str, &str)]) {
    assert_eq!(errors(text), expected, "{text}");
}

/// Returns the only error of this body.
fn body_error(text: &str) -> Diagnostic {
    let (_, mut diagnostics) = parse(&in_main(text));
    assert_eq!(diagnostics.len(), 1, "{text}: {diagnostics:#?}");
    diagnostics.remove(0)
}

fn check_body_error(text: &str, code: &str, help: &str) {
    let error = body_error(text);
    assert_eq!(error.code, code, "{text}: {error:#?}");
    let words = format!("{} / {} / {}", error.message, error.label, error.hint.unwrap_or_default());
    assert!(words.contains(help), "{text}: {words}");
}

// ---- programs

#[test]
fn an_empty_file_is_an_empty_program() {
    assert_eq!(program(" // nothing"), Program::default());
}

#[test]
fn globals_may_have_initial_values_and_be_local_to_threads() {
    let p =
        program("decl x, y := 0, z := 1, u := *, v := T, w := F; decl thread_local t; decl thread_local;");
    let initial: Vec<_> = p.globals[0].variables.iter().map(|v| v.initial.clone()).collect();
    let (no, yes) = (Some(Initial::False), Some(Initial::True));
    assert_eq!(initial, [None, no.clone(), yes.clone(), Some(Initial::Any), yes, no]);
    assert!(p.globals[1].thread_local);
    assert!(!p.globals[2].thread_local);
    assert_eq!(p.globals[2].variables[0].name.name, "thread_local");
}

#[test]
fn globals_and_functions_come_in_any_order() {
    let p = program("void f() begin end decl x; dfs bool<3> g(a, b) begin end bool h() begin end decl y;");
    assert_eq!(p.globals.len(), 2);
    let results: Vec<_> = p.functions.iter().map(|f| (f.dfs, f.results, f.parameters.len())).collect();
    assert_eq!(results, [(false, 0, 0), (true, 3, 2), (false, 1, 0)]);
}

#[test]
fn spans_cover_functions_statements_and_parentheses() {
    let text = "dfs void f() begin L: x := (a & b) ; end";
    let p = program(text);
    let f = &p.functions[0];
    assert_eq!(&text[f.span.range()], "void f() begin L: x := (a & b) ; end");
    assert_eq!(&text[f.end.range()], "end");
    assert_eq!(&text[f.body[0].span.range()], "x := (a & b)");
    assert!(matches!(&f.body[0].kind, Assign { values, .. } if &text[values[0].span.range()] == "(a & b)"));
}

// ---- statements

#[test]
fn semicolons_separate_and_may_be_repeated_or_left_out_after_blocks() {
    assert_eq!(body(";;skip;;if x then fi while x do od atomic { skip } skip").len(), 5);
}

#[test]
fn single_words_are_statements() {
    let kinds: Vec<_> = body("skip; end_thread; atomic_begin; atomic_end; wait; signal; broadcast");
    let kinds: Vec<_> = kinds.into_iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [Skip, EndThread, AtomicBegin, AtomicEnd, Wait, Signal, Broadcast]);
}

#[test]
fn a_goto_takes_names_and_numbers() {
    assert!(matches!(stmt("goto L1, 36, wait"), Goto(l) if names(&l) == ["L1", "36", "wait"]));
}

#[test]
fn conditions_stand_with_or_without_parentheses() {
    assert!(matches!(stmt("assume (x)"), Assume(_)));
    assert!(matches!(stmt("assert x"), Assert(_)));
    assert!(matches!(stmt("enforce x"), Enforce(_)));
    assert!(matches!(stmt("abortif(x)"), Abortif(_)));
}

#[test]
fn an_assignment_is_parallel_and_may_be_constrained() {
    let Assign { targets, values, constrain } = stmt("x, y$, _ := 1, *, z constrain 'x & !y") else {
        panic!()
    };
    let targets: Vec<&str> = targets.iter().map(|t| t.ident.name.as_str()).collect();
    assert_eq!(targets, ["x", "y$", "_"]);
    assert_eq!(values.len(), 3);
    assert_eq!(constrain.as_ref().map(shape).as_deref(), Some("('x&!y)"));
}

#[test]
fn calls_have_targets_or_none_and_the_word_call_or_not() {
    for (text, targets, arguments) in
        [("f()", 0, 0), ("call f(x)", 0, 1), ("x, _ := f(a & b, 1)", 2, 2), ("x := call f(*)", 1, 1)]
    {
        let Call { targets: t, callee, arguments: a } = stmt(text) else { panic!("{text}") };
        assert_eq!((t.len(), callee.name.as_str(), a.len()), (targets, "f", arguments), "{text}");
    }
}

#[test]
fn a_return_may_have_values() {
    assert_eq!(stmt("return"), Return(vec![]));
    assert!(matches!(stmt("return x, 1"), Return(v) if v.len() == 2));
}

#[test]
fn an_if_has_arms_and_perhaps_an_else() {
    let If { arms, otherwise } = stmt("if (a) then skip; elsif b then skip; skip else fi") else { panic!() };
    assert_eq!(arms.iter().map(|(_, b)| b.len()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(otherwise, Some(vec![]));
}

#[test]
fn a_while_has_a_body() {
    assert!(matches!(stmt("while * do skip; skip od"), While(_, b) if b.len() == 2));
}

#[test]
fn a_declaration_may_stand_inside_a_function_and_have_labels() {
    let body = body("L: decl x, y := 1; skip");
    assert!(matches!(&body[0].kind, Decl(d) if d.variables.len() == 2));
    assert_eq!(names(&body[0].labels), ["L"]);
}

#[test]
fn a_thread_starts_at_a_label_or_with_a_statement() {
    assert!(matches!(stmt("start_thread goto L"), StartGoto { goto: true, .. }));
    assert!(matches!(stmt("start_thread L"), StartGoto { goto: false, .. }));
    assert!(matches!(stmt("start_thread 7;"), StartGoto { goto: false, .. }));
    assert!(matches!(stmt("start_thread f(x)"), Start(s) if matches!(s.kind, Call { .. })));
    assert!(matches!(stmt("start_thread x := 1"), Start(s) if matches!(s.kind, Assign { .. })));
    assert!(matches!(stmt("start_thread wait;"), Start(s) if s.kind == Wait));
}

#[test]
fn an_atomic_block_has_braces() {
    assert!(matches!(stmt("atomic { skip; skip; }"), Atomic(b, _) if b.len() == 2));
    assert!(matches!(stmt("atomic{skip}"), Atomic(b, _) if b.len() == 1));
}

#[test]
fn dead_and_print_take_lists() {
    assert!(matches!(stmt("dead x, y"), Dead(n) if n.len() == 2));
    assert!(matches!(stmt("print(x, !y)"), Print(n) if n.len() == 2));
}

#[test]
fn labels_may_be_many_repeated_and_numeric() {
    let body = body("L: L: 7: ASYNC_1: f();\n 8:\n L2: skip");
    assert_eq!(names(&body[0].labels), ["L", "L", "7", "ASYNC_1"]);
    assert_eq!(names(&body[1].labels), ["8", "L2"]);
}

#[test]
fn contextual_words_are_names_elsewhere() {
    let text = "decl atomic, wait, signal, broadcast, dead, print, sync, call, dfs, thread_local;
        void dfs(call) begin
          atomic := wait; wait, signal := signal, 1; dead := 0; print, sync := 1, 0; sync := 1; call := dfs;
          print: dead: sync: wait: atomic: skip; x := call; x := call(1); call(1); dfs(call); goto dead
        end";
    assert_eq!(program(text).functions[0].body.len(), 12);
}

#[test]
fn a_comment_of_satabs_belongs_to_the_next_statement_only() {
    let body =
        body("// file a.c line 3 function f\nL:\n PC1: skip; skip;\nif x then // file b.c line 4\n fi; skip");
    let origin = Origin { file: "a.c".into(), line: 3, function: Some("f".into()) };
    assert_eq!(body[0].origin, Some(origin));
    assert!(body[1..].iter().all(|s| s.origin.is_none()));
}

// ---- expressions

#[test]
fn operators_bind_as_documented() {
    check_expr("a = !b & c ^ d | e => f <=> g ? h : i", "(((((((a=!b)&c)^d)|e)=>f)<=>g)?h:i)");
    check_expr("a ? b : c <=> d => e | f ^ g & h = i", "(a?b:(c<=>(d=>(e|(f^(g&(h=i)))))))");
    check_expr("!a = b", "(!a=b)");
}

#[test]
fn operators_associate_as_documented() {
    check_expr("a = b != c", "((a=b)!=c)");
    check_expr("a => b -> c", "(a=>(b=>c))");
    check_expr("a <=> b <=> c", "((a<=>b)<=>c)");
    check_expr("a ? b : c ? d : e", "(a?b:(c?d:e))");
}

#[test]
fn chains_are_flat_but_parentheses_stay() {
    check_expr("a & b & c", "(a&b&c)");
    check_expr("(a & b) & (c & d)", "((a&b)&(c&d))");
    check_expr("a | b | c & d", "(a|b|(c&d))");
    check_expr("a ^ b ^ c", "(a^b^c)");
}

#[test]
fn synonyms_mean_the_same() {
    check_expr("~a && b || (c == d) || (c <> d)", "((!a&b)|(c=d)|(c!=d))");
    check_expr("T | F | true | false | 0 | 1", "(1|0|1|0|0|1)");
}

#[test]
fn a_question_mark_is_a_value_or_an_operator_by_position() {
    check_expr("? ? ? : ?", "(*?*:*)");
    check_expr("x & ?", "(x&*)");
}

#[test]
fn primes_stand_before_names() {
    check_expr("!'x | 'x$", "(!'x|'x$)");
}

#[test]
fn schoose_takes_two_arguments() {
    check_expr("schoose[a & b, !c]", "schoose[(a&b),!c]");
}

#[test]
fn braced_names_are_names() {
    check_expr("{x==1} & !{y}", "({x==1}&!{y})");
}

#[test]
fn mixed_operators_without_parentheses_are_warned_of() {
    for text in ["a = b & c", "a | b != c", "a ^ b = c", "a = b & c = d"] {
        assert_eq!(warnings(text), ["W101"], "{text}");
    }
    assert_eq!(warnings("a ^ b | c"), ["W102"]);
    for text in ["(a = b) & c", "a = (b & c)", "(a ^ b) | c", "a & b | c", "!a = b", "a = b => c"] {
        assert!(warnings(text).is_empty(), "{text}");
    }
}

#[test]
fn only_the_first_warnings_are_shown() {
    let (_, diagnostics) = parse(&in_main(&"assume a = b & c;\n".repeat(1000)));
    assert_eq!(diagnostics.len(), 21);
    assert_eq!(diagnostics.last().map(|d| d.message.as_str()), Some("980 more warnings are not shown"));
}

// ---- errors

#[test]
fn a_prime_after_a_name_gets_a_hint() {
    check_body_error("x := y';", "E112", "write `'y`");
    check_body_error("x' := 1;", "E112", "'x");
    check_body_error("assume(x' & y);", "E112", "write `'x`");
}

#[test]
fn an_equals_sign_does_not_assign() {
    check_body_error("x = 1;", "E116", "expected `:=`");
    check_body_error("x, y == 1, 0; skip;", "E116", "expected `:=`");
    check_errors("decl x = 0;", &[("E116", "=")]);
}

#[test]
fn a_missing_semicolon_is_one_error() {
    check_body_error("x := 1\ny := 0;", "E117", "expected `;`");
    check_body_error("skip goto L;", "E117", "expected `;`");
    check_body_error("x := y z; skip;", "E117", "expected `;`");
    check_body_error("x := y);", "E110", "expected `;`");
    check_errors("decl x\ndecl y;", &[("E117", "")]);
    check_errors("decl x y; decl z;", &[("E117", "y")]);
}

#[test]
fn a_missing_closing_word_is_one_error() {
    check_body_error("if x then skip;", "E118", "expected `fi`");
    check_body_error("while x do skip;", "E118", "the `while` of line 2 is still open");
    check_body_error("if x then while y do skip; fi;", "E118", "expected `od`");
    check_body_error("while x do skip; fi; skip;", "E118", "expected `od`");
    check_body_error("atomic { skip;", "E118", "expected `}`");
    check_errors("void f() begin skip; void g() begin end", &[("E118", "void")]);
    check_errors("void f() begin skip;", &[("E118", "")]);
}

#[test]
fn a_closing_word_too_many_is_one_error() {
    check_body_error("skip; fi; skip;", "E119", "without `if`");
    check_body_error("od;", "E119", "without `while`");
    check_body_error("if x then else else skip; fi;", "E118", "after `else`");
    check_body_error("if x then else elsif y then fi;", "E118", "after `else`");
    check_errors("void f() begin end end decl x;", &[("E110", "end")]);
    check_errors("void f() begin end; decl x;", &[("E110", ";")]);
}

#[test]
fn a_wrong_condition_does_not_break_its_block() {
    check_body_error("if x y then skip; fi;", "E110", "expected `then`");
    check_body_error("if x goto L; fi;", "E110", "expected `then`");
    check_body_error("while (x & ) do skip; od;", "E111", "an expression");
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let text = in_main("x := ;\n y = 1;\n if (z then skip; fi;\n goto ;\n x := 99999;\n skip;");
    let codes: Vec<_> = errors(&text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["E111", "E116", "E110", "E110", "E113"]);
    assert_eq!(parse(&text).0.functions[0].body.len(), 3);
}

#[test]
fn after_many_errors_the_rest_is_not_read() {
    let found = errors(&"` ".repeat(1000)).len();
    assert_eq!(found, 21);
    assert_eq!(errors(&in_main(&"x := ;".repeat(1000))).len(), 21);
}

#[test]
fn c_like_text_is_refused_with_a_hint() {
    check_errors("void main() {\n x := 1; }", &[("E128", "{")]);
    check_errors("f() begin skip; end main()", &[("E110", "")]);
    check_errors("int x; decl y;", &[("E128", "int")]);
    check_errors("int main() begin end", &[("E128", "int")]);
    check_errors("void f(bool x) begin end", &[("E110", "bool")]);
    check_errors("void f(); void main() begin end", &[("E110", ";")]);
    check_body_error("if (x) {\n y := 1; }", "E128", "write `if e then ... fi`");
    check_body_error("int x;", "E110", "decl");
    check_body_error("bool x;", "E110", "decl");
    check_body_error("x := y / z;", "E101", "division");
}

#[test]
fn what_the_language_leaves_out_is_refused() {
    check_body_error("start_thread goto L1, L2;", "E122", "one label");
    check_body_error("ASYNC_1: goto L1, L2;", "E122", "one label");
    check_body_error("constrain x;", "E121", "constrain");
    check_body_error("sync x;", "E121", "sync");
    check_body_error("skip & skip;", "E123", "joined");
    check_body_error("goto 3 | goto 4;", "E123", "joined");
    check_body_error("x := schoose[a];", "E115", "two");
    check_body_error("x := schoose[a, b, c];", "E115", "two");
    check_body_error("x := f(a) & b;", "E123", "expected `;`");
    check_body_error("x := a & f(b);", "E114", "first");
    check_body_error("x := 65537;", "E113", "larger than 65536");
    check_body_error("x := 99999999999999999999;", "E113", "larger");
    check_body_error("x := _;", "E111", "discards");
    check_body_error("x, y := 1;", "E124", "2 targets but 1 value");
    check_body_error("decl thread_local x;", "E126", "outside");
    check_body_error("'x := 1;", "E110", "without a prime");
    check_body_error("T: skip;", "E110", "cannot be a label");
    check_body_error("decl then;", "E110", "cannot be a name");
    check_errors("decl x := 2;", &[("E127", "2")]);
}

#[test]
fn a_label_needs_a_statement() {
    for text in ["L:", "L: ;", "if x then L: fi", "L: M: ;", "atomic { L: }"] {
        check_body_error(text, "E120", "a label needs a statement");
    }
}

#[test]
fn a_function_returns_a_sensible_number_of_values() {
    for width in ["0", "1025", "99999999999999999999999999"] {
        check_errors(&format!("bool<{width}> f() begin end"), &[("E125", width)]);
    }
    assert_eq!(program("bool<1024> f() begin end").functions[0].results, 1024);
}

// ---- sizes

#[test]
fn deep_nesting_is_refused_without_overflow() {
    let many = 100_000;
    for unit in [
        "(",
        "!",
        "a => ",
        "a ? ",
        "a ? b : ",
        "a = (",
        "a <=> (",
        "schoose[",
        "(a <=> b => c | d ^ e & f = ",
    ] {
        let text = format!("assume {}a;", unit.repeat(many));
        assert_eq!(body_error(&text).code, "E103", "{unit}");
    }
    for unit in ["if x then ", "while x do ", "atomic { ", "start_thread ", "if x then else "] {
        assert_eq!(body_error(&unit.repeat(many)).code, "E103", "{unit}");
    }
}

#[test]
fn operators_that_group_to_the_left_do_not_nest() {
    for sign in ["=", "!=", "<=>", "+", "-", "*", "<"] {
        let text = format!("assume a{};", format!(" {sign} a").repeat(100_000));
        assert!(
            matches!(stmt(&text), Assume(e) if matches!(&e.kind, ExprKind::Series(_, o) if o.len() == 100_000)),
            "{sign}"
        );
    }
    let mut text = "a".to_string();
    for _ in 0..250 {
        text = format!("({text} = a = a)");
    }
    assert_eq!(body_error(&format!("assume {text};")).code, "E103", "parentheses nest");
}

#[test]
fn sensible_nesting_is_accepted() {
    let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(150), close.repeat(150));
    assert!(matches!(stmt(&format!("assume {}", deep("(", ")"))), Assume(_)));
    assert!(matches!(stmt(&format!("assume {}", deep("!", ""))), Assume(_)));
    let text = format!("{}skip;{}", "if x then ".repeat(150), "fi;".repeat(150));
    assert!(matches!(stmt(&text), If { .. }));
}

#[test]
fn long_chains_and_long_lists_are_no_problem() {
    let text = format!("assume {}b", "(a | 'b) & ".repeat(100_000));
    assert!(
        matches!(stmt(&text), Assume(e) if matches!(&e.kind, ExprKind::Chain(_, o) if o.len() == 100_001))
    );
    assert_eq!(body(&"L: skip;".repeat(100_000)).len(), 100_000);
    let arms = "elsif x then skip;".repeat(10_000);
    assert!(matches!(stmt(&format!("if x then {arms} fi")), If { arms, .. } if arms.len() == 10_001));
}
