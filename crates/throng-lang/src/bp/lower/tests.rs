use crate::bp::lower::{lower, plain::plain};
use crate::bp::{Options, parser, printer, read};
use throng_model::{Describe, Local, Model, Shared};

fn codes(text: &str) -> Vec<&'static str> {
    let (_, diagnostics) = read(text, &Options::default());
    diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect()
}

/// Returns the shared states, as displayed, that one thread can reach, and whether it can violate
/// an assertion.
fn explore(text: &str) -> (Vec<String>, bool) {
    let (jit, diagnostics) = read(text, &Options { exact_copies: true, ..Options::default() });
    let jit = jit.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let start = jit.initial(Some(1));
    let first = start.threads.entries()[0].0;
    let mut open: Vec<(Shared, Option<Local>)> = vec![(start.shared, Some(first))];
    let mut seen = open.clone();
    while let Some((s, l)) = open.pop() {
        let Some(l) = l else { continue };
        let mut steps = Vec::new();
        jit.post(s, l, &mut steps).unwrap();
        for step in steps {
            let next = (step.to, step.put.entries().first().map(|e| e.0));
            if !seen.contains(&next) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    let bad = jit.assertions().is_some_and(|target| {
        let meets = |(s, l): &(Shared, Option<Local>)| {
            let sets = jit.sets().unwrap();
            l.is_some_and(|l| {
                target.configs.iter().any(|c| {
                    sets.meets_shared(c.shared, *s)
                        && c.threads.entries().iter().all(|e| sets.meets_local(e.0, l))
                })
            })
        };
        seen.iter().any(meets)
    });
    let mut shown: Vec<String> = seen
        .iter()
        .map(|(s, _)| {
            let values = jit.shared_values(*s);
            values.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ")
        })
        .collect();
    shown.sort();
    shown.dedup();
    (shown, bad)
}

fn violates(text: &str) -> bool {
    explore(text).1
}

#[test]
fn values_are_shown_as_they_were_declared() {
    let text = "enum phase { idle, trying, critical };
        decl p : phase := trying, n : 0..7 := 3, a[2] : 1..3 := 2, x : bool := 1, f[2] : bool := 0;
        void main() begin p, n, a[n - 2], f[0] := critical, n + 1, 3, 1; end";
    let (shown, bad) = explore(text);
    assert_eq!(
        shown,
        ["p=critical n=4 a[0]=2 a[1]=3 x=1 f[0]=1 f[1]=0", "p=trying n=3 a[0]=2 a[1]=2 x=1 f[0]=0 f[1]=0"]
    );
    assert!(!bad);
}

#[test]
fn leaving_a_range_is_a_violation_and_does_not_happen() {
    let (shown, bad) = explore("decl n : 0..2 := 0; void main() begin while * do n := n + 1; od end");
    assert_eq!(shown, ["n=0", "n=1", "n=2"]);
    assert!(bad);
    assert!(violates("decl n : 0..2 := 0; void main() begin n := n - 1; end"));
    assert!(!violates("decl n : 0..2 := 0; void main() begin while n < 2 do n := n + 1; od end"));
    // A thread that waits assigns nothing.
    assert!(!violates("decl n : 0..2 := 2; void main() begin n := n + 1 constrain n < 2 & 'n > 0; end"));
    assert!(violates("decl n : 0..2 := 2; void main() begin n := n + 1 constrain n > 0; end"));
    // A constant outside the range is a violation where it is assigned, not an error in the text.
    assert!(violates("decl n : 0..2 := 0; void main() begin n := 3; end"));
}

#[test]
fn what_surely_fits_is_not_checked() {
    let checks = |statement: &str| {
        let text = format!(
            "decl n : 0..2 := 0, m : 0..7 := 0, a[4] : bool := 0; void main() begin {statement}; end"
        );
        let (tree, _) = parser::parse(&text);
        let (lowered, diagnostics) = lower(&tree);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        lowered.tree.functions[0].body[0].check.is_some()
    };
    for sure in [
        "m := n + 5",
        "n := n + 1 constrain n < 2",
        "a[n + 1] := 1",
        "n := m < 3 ? m : 0",
        "assume(m > 3 | a[m])",
    ] {
        assert!(!checks(sure), "{sure}");
    }
    for unsure in ["m := n + 6", "n := n + 1", "a[n + 2] := 1", "n := m < 4 ? m : 0", "assume(m > 4 | a[m])"]
    {
        assert!(checks(unsure), "{unsure}");
    }
}

#[test]
fn unsigned_numbers_wrap_around() {
    let (shown, bad) = explore("decl n : u2 := 2; void main() begin n := n + 3; n := n - 2; end");
    assert_eq!((shown, bad), (vec!["n=1".into(), "n=2".into(), "n=3".into()], false));
}

#[test]
fn an_index_outside_its_array_is_a_violation() {
    for (statement, bad) in [
        ("x := a[i]", true),
        ("a[i] := 1", true),
        ("a[i + 1] := 1", true),
        ("a[i - 3] := 1", false),
        ("if a[i] then skip; fi", true),
        ("while a[i] do skip; od", true),
        ("if 0 then skip; elsif a[i] then skip; fi", true),
        ("assume(a[i])", true),
        ("assume(i < 3 & a[i])", false),
        ("assume(i >= 3 | a[i])", false),
        ("assume(i < 3 => a[i])", false),
        ("x := i < 3 ? a[i] : 0", false),
        ("x := i < 4 ? a[i] : 0", true),
        ("f(i + 1)", true),
        ("f(i)", false),
        ("start_thread f(i)", false),
    ] {
        let text = format!(
            "decl i : 0..3 := 3, a[3] : bool := 0; decl x := 0; void f(k : 0..3) begin skip; end void main() begin {statement}; end"
        );
        assert_eq!(violates(&text), bad, "{statement}");
    }
}

#[test]
fn results_and_parameters_have_types() {
    let text = "decl n : 0..5 := 0; enum e { A, B, C }; decl p : e := A;
        u2, e next(k : u2, q : e) begin return k + 1, q = A ? B : C; end
        void main() begin decl k : u2 := 3; k, p := next(k, p); n := k + 4; k, p := next(k, p); n := k + 4; end";
    let (shown, bad) = explore(text);
    assert_eq!(shown, ["n=0 p=A", "n=0 p=B", "n=4 p=B", "n=4 p=C", "n=5 p=C"]);
    assert!(!bad);
    let text = "0..2 f() begin return 3; end decl n : 0..2 := 0; void main() begin n := f(); end";
    assert!(violates(text));
}

#[test]
fn loops_are_repeated_for_each_number() {
    let text = "const N = 3; decl a[N] : 0..9 := 0;
        void main() begin for i in 0..N - 1 do for j in i..1 do a[i] := a[i] + i + j * 2; od od end";
    let (shown, bad) = explore(text);
    assert!(!bad);
    assert!(shown.contains(&"a[0]=2 a[1]=3 a[2]=0".into()), "{shown:?}");
}

#[test]
fn any_value_is_a_value_of_the_type() {
    for declaration in ["decl n : 0..4", "decl n : 0..4 := *", "decl n : 1..3 := 1", "decl n : -2..2 := 0"] {
        let text = format!(
            "{declaration}; decl m : -2..4 := 0; void main() begin if * then n := *; fi; m := n; assert(n >= -2 & n <= 4); end"
        );
        let (shown, bad) = explore(&text);
        assert!(!bad, "{declaration}");
        let (low, high) = if declaration.contains("0..4") {
            (0, 4)
        } else if declaration.contains("1..3") {
            (1, 3)
        } else {
            (-2, 2)
        };
        for m in -2..=4 {
            let there =
                shown.iter().any(|s| s.contains(&format!(" m={m}")) || s.ends_with(&format!("m={m}")));
            assert_eq!(there, (low..=high).contains(&m) || m == 0, "m={m} after {declaration}: {shown:?}");
        }
    }
}

#[test]
fn mistakes_are_reported() {
    let of = |declarations: &str, statement: &str| {
        codes(&format!("enum e {{ A, B }}; {declarations}; void main() begin {statement}; end"))
    };
    let typed = "decl n : 0..5 := 0, a[3] : u2 := 0, p : e := A, x : bool := 0";
    for (statement, code) in [
        ("n := p", "E220"),
        ("p := 1", "E220"),
        ("x := n", "E220"),
        ("if n then skip; fi", "E220"),
        ("x := p = n", "E220"),
        ("A := B", "E220"),
        ("x := 2", "E113"),
        ("x := x = 2", "E113"),
        ("for i in 0..n do skip; od", "E221"),
        ("decl m : v3", "E222"),
        ("decl m : 3..2", "E222"),
        ("decl m : u17", "E222"),
        ("decl m[0] : u2", "E222"),
        ("a := 1", "E223"),
        ("n[1] := 1", "E223"),
        ("n := a", "E223"),
        ("n := n + *", "E224"),
        ("n := * ? 1 : 2", "E224"),
        ("n := n * n * n * n * n", "E225"),
        ("decl m : 0..3 := 4", "E226"),
        ("for i in 0..2 do L: skip; od", "E227"),
        ("for i in 0..65536 do for j in 0..65536 do skip; od od", "E227"),
        ("n := 1 constrain 'a[n] = 1", ""),
        ("n := 1 constrain a['n] = 1", "E228"),
        ("enforce a[n] = 0", "E228"),
        ("a[0], a[n] := 1, 2", "E209"),
        ("a[0], a[1] := 1, 2", ""),
        ("n := n-1", "E201"),
        ("decl n.0", "E202"),
        ("n := m + 1", "E201"),
    ] {
        let found = of(typed, statement);
        assert_eq!(found.first().copied().unwrap_or_default(), code, "{statement}: {found:?}");
    }
    assert_eq!(of("decl m, n : 0..3", "skip"), ["E129"]);
    assert_eq!(of("decl A", "skip"), ["E202"]);
    assert_eq!(of("const A = 3", "skip"), ["E202"]);
}

#[test]
fn words_of_the_extension_are_names_elsewhere() {
    let text = "decl enum, const, for, in, u3, of; void const1() begin enum := const; end
        void main() begin for: in := for; u3, of := of, u3; enum: const1(); goto for; end";
    assert_eq!(codes(text), [""; 0]);
    assert!(!parser::parse(text).0.extended);
}

#[test]
fn a_printed_program_is_the_same_and_its_bits_are_plain() {
    let text = "const N = 4; enum e { A, B, C }; decl a[N] : -2..N - 1 := -1, p : e := B; decl x; decl thread_local t : u2;
        u2, bool f(k : 0..3, b : bool) begin return k * 2 - -1, b; end
        void main() begin
          decl k : 0..3 := 0;
          while a[k] < 3 & p != C do a[k] := a[k] + 1; od;
          k, x := f(k, x);
          for i in 0..N - 1 do a[i] := (x ? 1 : 2) constrain a[k] <= 'a[i] + (1 - 2); od;
          assume(a[k] = 2); t := t + 1; assert(t > 0);
          start_thread f(k + 1, 1);
        end";
    let (mut once, diagnostics) = parser::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let printed = printer::print(&once);
    let (mut again, _) = parser::parse(&printed);
    crate::bp::spans::strip_spans(&mut once);
    crate::bp::spans::strip_spans(&mut again);
    assert_eq!(once, again, "{printed}");
    let (lowered, diagnostics) = lower(&again);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let bits = printer::print(&plain(lowered.tree));
    let (tree, diagnostics) = parser::parse(&bits);
    assert!(diagnostics.is_empty() && !tree.extended, "{diagnostics:?} in {bits}");
    assert!(read(&bits, &Options::default()).0.is_some(), "{bits}");
    assert_eq!(violates(text), violates(&bits), "{bits}");
}

/// Returns a random expression over `m : 0..4`, `n : -2..1` and `b : bool`, as text, and its value.
fn random(rng: &mut impl FnMut(u32) -> u32, depth: u32, values: (i64, i64, bool)) -> (String, i64) {
    if depth == 0 {
        return match rng(4) {
            0 => ("m".into(), values.0),
            1 => ("n".into(), values.1),
            2 => ("(b + 0)".into(), values.2.into()),
            _ => {
                let k = rng(4);
                (k.to_string(), k.into())
            }
        };
    }
    let (a, x) = random(rng, depth - 1, values);
    let (b, y) = random(rng, depth - 1, values);
    match rng(8) {
        0 | 1 => (format!("({a} + {b})"), x + y),
        2 | 3 => (format!("({a} - {b})"), x - y),
        4 if depth == 1 => (format!("({a} * {b})"), x * y),
        4 => (format!("(-{a})"), -x),
        5 => (format!("({a} < {b} ? {a} : {b})"), x.min(y)),
        6 => (format!("((({a}) + 0 = ({b}) + 0 | {a} >= {b}) + 0)"), (x >= y).into()),
        _ => (format!("(({a} != {b} + 0 => b = (1 = 0)) + 0)"), (x == y || !values.2).into()),
    }
}

#[test]
fn random_expressions_agree_with_integers() {
    let mut random_number = throng_model::random::Random::new(7);
    let mut next = |n: u32| random_number.below(n as usize) as u32;
    for round in 0..400 {
        let values = (i64::from(next(5)), i64::from(next(4)) - 2, next(2) == 1);
        let (text, value) = random(&mut next, 1 + round % 3, values);
        let (m, n, b) = values;
        let program = |declared: &str| {
            format!(
                "decl m : 0..4{}, n : -2..1{}, b : bool{}; {declared}; void main() begin {} r := {text}; w := {text}; assert(({text}) + 0 = {value}); end",
                if round % 2 == 0 { format!(" := {m}") } else { String::new() },
                if round % 2 == 0 { format!(" := {n}") } else { String::new() },
                if round % 2 == 0 { format!(" := {}", u8::from(b)) } else { String::new() },
                if round % 2 == 0 {
                    String::new()
                } else {
                    format!("assume(m = {m} & n = {n} & b = {});", u8::from(b))
                },
            )
        };
        let (shown, bad) =
            explore(&program(&format!("decl r : {}..{} := {value}, w : u3 := 0", value - 1, value + 1)));
        assert!(!bad, "{text} is not {value} with {values:?}");
        let wrapped = value.rem_euclid(8);
        assert!(shown.iter().any(|s| s.ends_with(&format!("r={value} w={wrapped}"))), "{text}: {shown:?}");
        let (_, bad) = explore(&program(&format!(
            "decl r : {}..{} := {}, w : u3 := 0",
            value + 1,
            value + 2,
            value + 1
        )));
        assert!(bad, "{text} = {value} is not outside the range above it");
    }
}

#[test]
fn long_series_are_read_from_the_left_and_do_not_nest() {
    let many = |sign: &str, count: usize| format!(" {sign} n").repeat(count);
    let text = |condition: &str| {
        format!("decl n : u2 := 1; decl b := 0; void main() begin assert({condition}); end")
    };
    // A sum of 5000 ones, and one minus 4999.
    assert!(!explore(&text(&format!("n{} = 5000", many("+", 4_999)))).1);
    assert!(explore(&text(&format!("n{} = 5001", many("+", 4_999)))).1);
    assert!(!explore(&text(&format!("n{} = 0 - 4998", many("-", 4_999)))).1);
    // 0 = 0 is 1, 1 = 0 is 0, …
    let equal = |count: usize| format!("b{}", " = b".repeat(count));
    assert!(!explore(&text(&equal(4_999))).1);
    assert!(explore(&text(&equal(5_000))).1);
    let plain = |condition: &str| format!("decl b := 0; void main() begin assert({condition}); end");
    assert!(!explore(&plain(&equal(4_999))).1);
    assert!(explore(&plain(&equal(5_000))).1);
    assert!(!explore(&plain("b != b = b")).1);
    assert!(explore(&plain("b != b = b <=> b")).1);
    assert!(explore(&plain("b != b != b")).1);
    assert_eq!(codes(&text(&format!("n{}", many("<", 4_999)))), ["E225"]);
}
