//! Hints for misspelt names.

/// Returns a hint that one of these names was meant: one that differs in one character, in two
/// swapped characters, or in case.
pub fn did_you_mean<'a>(spelling: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    names.into_iter().find(|name| is_close(name, spelling)).map(|name| format!("did you mean `{name}`?"))
}

fn is_close(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let prefix = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a.as_bytes()[prefix..], &b.as_bytes()[prefix..]);
    let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
    let swapped = matches!((a, b), ([x, y], [v, w]) if x == w && y == v);
    prefix + suffix > 1 && (swapped || a.len() <= 1 && b.len() <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_forgiven() {
        let names = ["lock", "BUSY", "count"];
        for (spelling, meant) in [("lok", "lock"), ("busy", "BUSY"), ("cuont", "count"), ("locks", "lock")] {
            assert_eq!(did_you_mean(spelling, names), Some(format!("did you mean `{meant}`?")));
        }
        assert_eq!(did_you_mean("clk", names), None);
    }
}
