use proptest::prelude::*;

use super::*;
use crate::bp::ast::DeclVar;
use crate::bp::parser::parse;
use crate::bp::spans::strip_spans;
use crate::source::{Diagnostic, Span};

fn parsed(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let (mut program, diagnostics) = parse(text);
    strip_spans(&mut program);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok(program) }
}

/// Parses, prints, parses again; returns the printed text.
fn round_trip(text: &str) -> String {
    let first = parsed(text).expect("the text is correct");
    let printed = print(&first);
    let (mut second, diagnostics) = parse(&printed);
    assert!(diagnostics.is_empty(), "{printed}\n{diagnostics:#?}");
    strip_spans(&mut second);
    assert_eq!(first, second, "{printed}");
    printed
}

// ---- examples

#[test]
fn a_program_is_laid_out_readably() {
    let text = "\
decl x, y := 0;
decl thread_local t;

bool<2> f(a, b) begin
  return a, b;
end

dfs void main() begin
  decl z;
  // file a.c line 3 function c::main
  L1: PC2: x, z := 1, * constrain !x & 'z;
  if x = y then
    goto L1;
  elsif (x = y) & z then
    start_thread f(x, 1);
  else
    atomic {
      _, x := f(1, !y);
    };
  fi;
  while * do
    start_thread goto L1;
    call print(1);
  od;
  return;
end
";
    assert_eq!(round_trip(text), text);
}

#[test]
fn expressions_have_only_necessary_parentheses() {
    for text in [
        "!(a & b) | c",
        "(a = b) & c",
        "a = (b & c)",
        "(a ^ b) | c",
        "a ^ b & c",
        "a & (b & c)",
        "a = b = c",
        "a = (b = c)",
        "a => b => c",
        "(a => b) => c",
        "a <=> b <=> c",
        "(a ? b : c) ? d : e ? f : g",
        "!!'x$",
        "schoose[a | b, a ? b : c]",
    ] {
        let printed = round_trip(&format!("void f() begin enforce ({text}); end"));
        assert!(printed.contains(&format!("enforce({text});")), "{text}: {printed}");
    }
}

#[test]
fn a_statement_fits_on_one_line() {
    for (text, line) in [
        ("L: x, y := 1, ? constrain ~x", "x, y := 1, * constrain !x"),
        ("if (x) then skip; else skip; fi", "if x then ..."),
        ("while x do skip; od", "while x do ..."),
        ("atomic { skip; }", "atomic { ..."),
        ("x := call f(1)", "x := f(1)"),
        ("return", "return"),
    ] {
        let (program, _) = parse(&format!("void f() begin {text} end"));
        assert_eq!(stmt_to_string(&program.functions[0].body[0]), line);
    }
}

#[test]
fn an_expression_fits_on_one_line() {
    let (program, _) = parse("void f() begin assume ((x&&(y))); end");
    assert!(
        matches!(&program.functions[0].body[0].kind, StmtKind::Assume(e) if expr_to_string(e) == "x & y")
    );
}

// ---- random trees

fn ident(name: String) -> Ident {
    Ident { name, span: Span::default() }
}

fn one_of(words: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(words.split(' ').collect::<Vec<_>>()).prop_map(String::from)
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[xyz]",
        1 => one_of("b$ $m a#1 a-b a.b {x==1} t f"),
        1 => one_of("atomic wait print dead sync call dfs thread_local"),
    ]
}

fn names() -> impl Strategy<Value = Vec<Ident>> {
    prop::collection::vec(name().prop_map(ident), 1..4)
}

fn label() -> impl Strategy<Value = Ident> {
    prop_oneof!["L[0-9]", "[0-9]{1,30}", "ASYNC_[0-9]", name()].prop_map(ident)
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(ExprKind::Const),
        Just(ExprKind::Any),
        (name(), any::<bool>()).prop_map(|(name, primed)| ExprKind::Name { name, primed }),
    ];
    let at = |kind| Expr { kind, span: Span::default() };
    leaf.prop_map(at).prop_recursive(6, 60, 4, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let chain = prop::sample::select(vec![ChainOp::And, ChainOp::Or, ChainOp::Xor]);
        let binary =
            prop::sample::select(vec![BinaryOp::Equal, BinaryOp::Unequal, BinaryOp::Implies, BinaryOp::Iff]);
        let equality = prop::sample::select(vec![BinaryOp::Equal, BinaryOp::Unequal]);
        prop_oneof![
            boxed.clone().prop_map(ExprKind::Not),
            (chain, prop::collection::vec(inner.clone(), 2..4)).prop_map(|(op, e)| ExprKind::Chain(op, e)),
            (binary, boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| ExprKind::Binary(op, a, b)),
            (boxed.clone(), prop::collection::vec((equality, inner.clone()), 2..4))
                .prop_map(|(a, rest)| ExprKind::Series(a, rest)),
            (boxed.clone(), boxed.clone(), boxed.clone())
                .prop_map(|(c, a, b)| ExprKind::Conditional(c, a, b)),
            (boxed.clone(), boxed).prop_map(|(a, b)| ExprKind::Schoose(a, b)),
        ]
        .prop_map(at)
    })
}

fn exprs(least: usize) -> impl Strategy<Value = Vec<Expr>> {
    prop::collection::vec(expr(), least..4)
}

fn declaration(thread_local: bool) -> impl Strategy<Value = Decl> {
    let initial =
        prop::sample::select(vec![None, Some(Initial::False), Some(Initial::True), Some(Initial::Any)]);
    let variable = (name().prop_map(ident), initial).prop_map(|(name, initial)| DeclVar {
        name,
        length: None,
        ty: None,
        initial,
    });
    let variables = prop::collection::vec(variable, 1..4);
    (any::<bool>(), variables).prop_map(move |(t, variables)| Decl {
        thread_local: t && thread_local,
        variables,
        span: Span::default(),
    })
}

fn simple() -> impl Strategy<Value = StmtKind> {
    use StmtKind::*;
    let words = vec![Skip, EndThread, AtomicBegin, AtomicEnd, Wait, Signal, Broadcast];
    let assign =
        prop::collection::vec((prop_oneof![name(), Just("_".to_string())].prop_map(ident), expr()), 1..4);
    let targets = prop::collection::vec(prop_oneof![name(), Just("_".to_string())].prop_map(ident), 0..3);
    prop_oneof![
        prop::sample::select(words),
        label().prop_map(|l| Goto(vec![l])),
        prop::sample::select(vec!["L1", "7"]).prop_map(|l| StartGoto { label: ident(l.into()), goto: false }),
        label().prop_map(|label| StartGoto { label, goto: true }),
        expr().prop_map(Assume),
        expr().prop_map(Assert),
        expr().prop_map(Enforce),
        expr().prop_map(Abortif),
        (assign, prop::option::of(expr())).prop_map(|(pairs, constrain)| {
            let (targets, values) = pairs.into_iter().map(|(t, e)| (Target::from(t), e)).unzip();
            Assign { targets, values, constrain }
        }),
        (targets, name().prop_map(ident), exprs(0)).prop_map(|(targets, callee, arguments)| Call {
            targets: targets.into_iter().map(Target::from).collect(),
            callee,
            arguments
        }),
        exprs(0).prop_map(Return),
        exprs(1).prop_map(Print),
        names().prop_map(Dead),
        declaration(false).prop_map(Decl),
    ]
}

fn labelled(kind: impl Strategy<Value = StmtKind>) -> impl Strategy<Value = Stmt> {
    let origin = ("[a-z/]{1,4}( [a-z]\\.c)?", any::<u32>(), prop::option::of("c::[a-z]{1,3}"))
        .prop_map(|(file, line, function)| Origin { file, line, function });
    let labels = prop::collection::vec(label(), 0..3);
    (labels, kind, prop::option::weighted(0.2, origin)).prop_map(|(labels, kind, origin)| Stmt {
        labels,
        kind,
        span: Span::default(),
        origin,
        check: None,
        reads: Vec::new(),
    })
}

fn stmt() -> impl Strategy<Value = Stmt> {
    labelled(simple()).prop_recursive(3, 20, 4, |inner| {
        let block = prop::collection::vec(inner.clone(), 0..4);
        let arms = prop::collection::vec((expr(), block.clone()), 1..3);
        let started = inner.prop_map(|s| Box::new(Stmt { labels: vec![], origin: None, ..s }));
        labelled(prop_oneof![
            (arms, prop::option::of(block.clone()))
                .prop_map(|(arms, otherwise)| StmtKind::If { arms, otherwise }),
            (expr(), block.clone()).prop_map(|(e, b)| StmtKind::While(e, b)),
            block.prop_map(|b| StmtKind::Atomic(b, Span::default())),
            started.prop_filter_map("`start_thread goto L` has a form of its own", |s| {
                (!matches!(s.kind, StmtKind::Goto(_))).then_some(StmtKind::Start(s))
            }),
        ])
    })
}

fn program() -> impl Strategy<Value = Program> {
    let body = prop::collection::vec(stmt(), 0..5);
    let parameters = prop::collection::vec(name().prop_map(ident), 0..3);
    let function = (any::<bool>(), 0u32..4, name().prop_map(ident), parameters, body).prop_map(
        |(dfs, results, name, parameters, body)| Function {
            dfs,
            results,
            result_types: Vec::new(),
            name,
            parameters,
            parameter_types: Vec::new(),
            body,
            span: Span::default(),
            end: Span::default(),
        },
    );
    let globals = prop::collection::vec(declaration(true), 0..3);
    (globals, prop::collection::vec(function, 0..3)).prop_map(|(globals, functions)| Program {
        globals,
        functions,
        ..Program::default()
    })
}

/// Pieces of programs, right and wrong.
fn soup() -> impl Strategy<Value = String> {
    let words = "begin end decl void bool goto if then else elsif fi while do od skip assume assert return \
        constrain start_thread end_thread atomic_begin atomic_end schoose enforce abortif atomic wait dead \
        print sync dfs call thread_local T F 0 1 2 x y L: ASYNC_1: _ ( ) { } [ ] < > : := ; ; ; , ! & | ^ \
        = != => <=> ? * ' @ {x} /* */ //\n bool< x:=1; f( é x'";
    let words: Vec<&'static str> = words.split(' ').collect();
    prop::collection::vec(prop::sample::select(words), 0..200).prop_map(|words| words.join(" "))
}

fn check_any_text(text: &str) {
    let (program, diagnostics) = parse(text);
    assert!(diagnostics.len() <= 42);
    for span in diagnostics.iter().filter_map(|d| d.span) {
        assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
    }
    let printed = print(&program);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        assert_eq!(round_trip(text), printed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_parsed_as_the_same_tree(program in program()) {
        let printed = print(&program);
        let (mut again, diagnostics) = parse(&printed);
        strip_spans(&mut again);
        prop_assert!(diagnostics.is_empty(), "{}\n{:#?}", printed, diagnostics);
        prop_assert_eq!(&again, &program, "{}", printed);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check_any_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_words_never_panic(text in soup()) {
        check_any_text(&text);
        check_any_text(&format!("decl x; void main() begin {text} end"));
    }
}
