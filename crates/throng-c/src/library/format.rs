//! Formats of `printf` and `scanf`.

/// A part of a format of `printf` or `scanf` that stands for an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conversion {
    /// The letter behind it.
    pub(crate) letter: u8,
    /// `printf`: the most bytes that are read, if that is limited by the format.
    pub(crate) precision: Precision,
    /// `scanf`: whether `*` says that nothing is assigned. `printf`: whether `*` takes the width
    /// from an argument before it.
    pub(crate) star: bool,
}

/// Maximum number of bytes of a text that are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Precision {
    /// All.
    None,
    /// At most this number.
    Most(u64),
    /// At most the number that an argument before it says.
    Argument,
}

type Rest<'f> = std::iter::Peekable<std::iter::Copied<std::slice::Iter<'f, u8>>>;

/// Returns the conversions of a format, in order, without `%%`.
pub(crate) fn conversions(format: &[u8]) -> Vec<Conversion> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(b) = rest.next() {
        let conversion = if b == b'%' { conversion(&mut rest) } else { None };
        found.extend(conversion.filter(|c| !b"%m".contains(&c.letter)));
    }
    found
}

/// Returns the conversion behind a `%`.
fn conversion(rest: &mut Rest<'_>) -> Option<Conversion> {
    let (mut star, mut precision) = (false, Precision::None);
    while let Some(b) = rest.next_if(|b| !b.is_ascii_alphabetic() && !b"%[".contains(b)) {
        precision = match (b, precision) {
            (b'.', _) => Precision::Most(0),
            (b'*', Precision::Most(_)) => Precision::Argument,
            (b'0'..=b'9', Precision::Most(n)) => {
                Precision::Most(n.saturating_mul(10).saturating_add(u64::from(b - b'0')))
            }
            (_, precision) => precision,
        };
        star |= b == b'*' && precision == Precision::None;
    }
    while rest.next_if(|b| b"hlLjztq".contains(b)).is_some() {}
    let letter = rest.next()?;
    if letter == b'[' {
        // The first `]` may belong to the set.
        rest.next_if_eq(&b'^');
        rest.next_if_eq(&b']');
        while rest.next().is_some_and(|b| b != b']') {}
    }
    Some(Conversion { letter, precision, star })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let letters =
            |format: &str| conversions(format.as_bytes()).iter().map(|c| c.letter).collect::<Vec<_>>();
        assert_eq!(letters("%d of %5.2s, 100%%, %-3c: %llu %zu\n"), b"dscuu");
        assert_eq!(letters("%[]a-z] %[^\n]%x"), b"[[x");
        assert!(letters("no conversion, 5%").is_empty());
        let stars = conversions(b"%*.*s %.3s %s");
        assert!(stars[0].star && stars[0].precision == Precision::Argument);
        assert_eq!((stars[1].precision, stars[2].precision), (Precision::Most(3), Precision::None));
    }
}
