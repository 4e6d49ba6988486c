use super::*;

/// Returns a number between bounds whose bits are variables, named by its letter.
fn variable(letter: char, low: i64, high: i64) -> Number {
    let bit = |i| Expr {
        kind: ExprKind::Name { name: format!("{letter}.{i}"), primed: false },
        span: Span::default(),
    };
    Number::new((0..width(low, high)).map(bit).collect(), low, high)
}

/// Returns the value of an expression when the variables have these values.
fn truth(e: &Expr, values: &[(char, i64)]) -> bool {
    evaluate(e, &|leaf| {
        let ExprKind::Name { name, .. } = &leaf.kind else { panic!("{leaf:?}") };
        let bit: i64 = name[2..].parse().unwrap();
        values.iter().find(|v| name.starts_with(v.0)).unwrap().1 >> bit & 1 == 1
    })
}

fn number(n: &Number, values: &[(char, i64)]) -> i64 {
    let code: i64 = n.bits.iter().enumerate().map(|(i, b)| i64::from(truth(b, values)) << i).sum();
    let sign = 1i64 << n.bits.len() >> 1;
    if n.low < 0 && code & sign != 0 { code - 2 * sign } else { code }
}

const BOUNDS: [(i64, i64); 8] = [(0, 0), (0, 1), (0, 3), (0, 5), (2, 4), (-2, 1), (-3, 2), (-5, -3)];

#[test]
fn operations_agree_with_those_of_integers_on_all_values() {
    let span = Span::default();
    for a in BOUNDS {
        for b in BOUNDS {
            let (x, y) = (variable('x', a.0, a.1), variable('y', b.0, b.1));
            type Direct = fn(i64, i64) -> i64;
            let results: [(Number, Direct); 4] = [
                (Number::plus(&x, &y, span), |x, y| x + y),
                (Number::minus(&x, &y, span), |x, y| x - y),
                (Number::times(&x, &y, span).unwrap(), |x, y| x * y),
                (Number::choose(&Number::less(&x, &y, span), &x, &y), i64::min),
            ];
            for m in a.0..=a.1 {
                for n in b.0..=b.1 {
                    let values = [('x', m), ('y', n)];
                    for (i, (result, direct)) in results.iter().enumerate() {
                        assert_eq!(
                            number(result, &values),
                            direct(m, n),
                            "operation {i} of {m} and {n} in {a:?} {b:?}"
                        );
                        assert_eq!(number(&result.clone().compact(), &values), direct(m, n));
                    }
                    assert_eq!(
                        truth(&Number::less(&x, &y, span), &values),
                        m < n,
                        "{m} < {n} in {a:?} {b:?}"
                    );
                    assert_eq!(
                        truth(&Number::equal(&x, &y, span), &values),
                        m == n,
                        "{m} = {n} in {a:?} {b:?}"
                    );
                    assert_eq!(truth(&x.is_within(b.0, n, span), &values), (b.0..=n).contains(&m));
                }
            }
        }
    }
}

#[test]
fn clamping_gives_the_nearest_value() {
    for (low, high) in BOUNDS {
        let raw = variable('x', -8, 7);
        let clamped = raw.clamp(low, high, Span::default());
        for x in -8..=7 {
            assert_eq!(number(&clamped, &[('x', x)]), x.clamp(low, high), "{x} in {low}..{high}");
        }
    }
}

#[test]
fn an_element_is_selected_by_its_index() {
    for length in 1..=6 {
        let elements: Vec<Number> =
            (0..length).map(|k| Number::constant(10 + 3 * k, Span::default())).collect();
        let index = variable('i', 0, 5);
        let selected = Number::select(&elements, &index, Span::default());
        for i in 0..length {
            assert_eq!(number(&selected, &[('i', i)]), 10 + 3 * i, "{i} of {length}");
        }
    }
}

#[test]
fn constants_are_folded() {
    let c = |n| Number::constant(n, Span::default());
    let span = Span::default();
    assert_eq!(Number::plus(&c(3), &c(-5), span).value(), Some(-2));
    assert_eq!(Number::times(&c(-3), &c(5), span).unwrap().value(), Some(-15));
    assert_eq!(Number::less(&c(3), &c(4), span).kind, ExprKind::Const(true));
    assert_eq!(Number::equal(&variable('x', 0, 3), &c(4), span).kind, ExprKind::Const(false));
    assert!(Number::times(&variable('x', 0, 100), &variable('y', 0, 100), span).is_none());
}
