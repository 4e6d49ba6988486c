//! The fields of a value, read from what `Debug` prints of it, so that a run shows which of them
//! change.

/// Returns the name of a value and its fields, if it prints as a struct with named fields: as
/// `#[derive(Debug)]` does it, or as a data class of Python.
pub(super) fn of(text: &str) -> Option<(&str, Vec<(String, String)>)> {
    let (open, close, sign) = match text.chars().last()? {
        '}' => (" { ", " }", ": "),
        ')' => ("(", ")", "="),
        _ => return None,
    };
    let (name, rest) = text.split_once(open)?;
    let inner = rest.strip_suffix(close)?;
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let field = |part: &str| {
        let (name, value) = part.split_once(sign)?;
        is_name(name).then(|| (name.to_string(), value.to_string()))
    };
    let fields: Option<Vec<_>> = parts(inner)?.into_iter().map(field).collect();
    is_name(name).then_some((name, fields?))
}

/// Splits a text at its commas outside brackets and texts; `None` if brackets do not match.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0i32, 0);
    let (mut quote, mut escaped) = (None, false);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[from..i].trim());
                from = i + 1;
            }
            (None, _) => {}
        }
        if depth < 0 {
            return None;
        }
    }
    parts.push(text[from..].trim());
    (depth == 0 && quote.is_none()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[derive(Debug)]
    #[allow(dead_code, reason = "they are printed")]
    struct Ring<'a> {
        slots: [Option<u8>; 2],
        name: &'a str,
        sign: char,
        inner: (u8, Inner),
    }

    #[derive(Debug)]
    #[allow(dead_code, reason = "it is printed")]
    struct Inner {
        x: i32,
    }

    #[test]
    fn fields_are_those_that_are_printed() {
        let ring =
            Ring { slots: [None, Some(1)], name: "a, \"b\" }", sign: ',', inner: (1, Inner { x: -1 }) };
        let text = format!("{ring:?}");
        let (name, fields) = of(&text).expect("a struct");
        assert_eq!(name, "Ring");
        let expected = [
            ("slots", format!("{:?}", ring.slots)),
            ("name", format!("{:?}", ring.name)),
            ("sign", format!("{:?}", ring.sign)),
            ("inner", format!("{:?}", ring.inner)),
        ];
        assert_eq!(fields, expected.map(|(name, value)| (name.to_string(), value)));
        let (name, fields) = of("At(line=3, tickets=(1, 2))").expect("a data class");
        assert_eq!((name, fields.len()), ("At", 2));
        assert_eq!(fields[1], ("tickets".to_string(), "(1, 2)".to_string()));
    }

    #[test]
    fn other_values_have_no_fields() {
        for text in [
            "",
            "()",
            "true",
            "Some(3)",
            "Empty",
            "(1, 2)",
            "A { }",
            "A {",
            "{1: 2}",
            "Some(\"a=b\")",
            "A { b: (1 }",
            "f(g(x=1))",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
