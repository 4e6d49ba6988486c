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

/// A part of what `sprintf` writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// Characters of the format.
    Text(Vec<u8>),
    /// An argument.
    Field(Field),
}

/// How `sprintf` writes an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Field {
    /// One of `d`, `u`, `x`, `X`, `o`, `c`, `s`.
    pub(crate) letter: u8,
    /// Flag `-`
    pub(crate) left: bool,
    /// What stands before a number that is not negative: `+`, a space, or 0 for nothing.
    pub(crate) sign: u8,
    /// Flag `#`
    pub(crate) alternate: bool,
    /// Flag `0`
    pub(crate) zero: bool,
    pub(crate) width: Amount,
    pub(crate) precision: Amount,
    pub(crate) length: Length,
}

/// A width or a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Amount {
    #[default]
    None,
    Number(u16),
    /// An argument before the one that is written.
    Argument,
}

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Length {
    Char,
    Short,
    #[default]
    Int,
    /// `long`, `size_t` and `ptrdiff_t`
    Long,
    /// `long long` and `intmax_t`
    LongLong,
}

/// Returns the pieces of a format of `sprintf`, up to its first zero; or the conversion that is not
/// known exactly.
pub(crate) fn pieces(format: &[u8]) -> Result<Vec<Piece>, String> {
    let mut found = Vec::new();
    let mut text = Vec::new();
    let end = format.iter().position(|&b| b == 0).unwrap_or(format.len());
    let mut rest = format[..end].iter().copied().peekable();
    while let Some(b) = rest.next() {
        if b != b'%' || rest.next_if_eq(&b'%').is_some() {
            text.push(b);
            continue;
        }
        if !text.is_empty() {
            found.push(Piece::Text(std::mem::take(&mut text)));
        }
        let from = end - rest.len() - 1;
        let read = field(&mut rest);
        let written = || format!("`{}`", String::from_utf8_lossy(&format[from..end - rest.len()]));
        found.push(Piece::Field(read.ok_or_else(written)?));
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    Ok(found)
}

/// Returns what is behind a `%`, if C says what it means.
fn field(rest: &mut Rest<'_>) -> Option<Field> {
    let mut f = Field::default();
    while let Some(flag) = rest.next_if(|b| b"-+ #0".contains(b)) {
        match flag {
            b'-' => f.left = true,
            b'#' => f.alternate = true,
            b'0' => f.zero = true,
            b'+' => f.sign = b'+',
            _ if f.sign == 0 => f.sign = b' ',
            _ => {}
        }
    }
    f.width = amount(rest)?;
    if rest.next_if_eq(&b'.').is_some() {
        f.precision = match amount(rest)? {
            Amount::None => Amount::Number(0),
            given => given,
        };
    }
    let mut letter = rest.next()?;
    f.length = match letter {
        b'h' if rest.next_if_eq(&b'h').is_some() => Length::Char,
        b'h' => Length::Short,
        b'l' if rest.next_if_eq(&b'l').is_some() => Length::LongLong,
        b'l' | b'z' | b't' => Length::Long,
        b'j' | b'q' => Length::LongLong,
        _ => Length::Int,
    };
    let sized = b"hlztjq".contains(&letter);
    if sized {
        letter = rest.next()?;
    }
    f.letter = if letter == b'i' { b'd' } else { letter };
    // What C leaves undefined is not among them.
    let is_known = match f.letter {
        b'd' | b'u' => !f.alternate,
        b'x' | b'X' | b'o' => true,
        b'c' => !sized && !f.zero && !f.alternate && f.sign == 0 && f.precision == Amount::None,
        b's' => !sized && !f.zero && !f.alternate && f.sign == 0,
        _ => false,
    };
    is_known.then_some(f)
}

fn amount(rest: &mut Rest<'_>) -> Option<Amount> {
    if rest.next_if_eq(&b'*').is_some() {
        return Some(Amount::Argument);
    }
    let mut n = None;
    while let Some(d) = rest.next_if(u8::is_ascii_digit) {
        n = Some(n.unwrap_or(0u16).checked_mul(10)?.checked_add(u16::from(d - b'0'))?);
    }
    Some(n.map_or(Amount::None, Amount::Number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_sprintf_are_taken_apart() {
        let text = |t: &str| Piece::Text(t.as_bytes().to_vec());
        let found = pieces(b"a%%b%-+05.3ld%*sc\0%g").unwrap();
        let number = Field {
            letter: b'd',
            left: true,
            sign: b'+',
            zero: true,
            width: Amount::Number(5),
            precision: Amount::Number(3),
            length: Length::Long,
            ..Field::default()
        };
        let string = Field { letter: b's', width: Amount::Argument, ..Field::default() };
        assert_eq!(found, [text("a%b"), Piece::Field(number), Piece::Field(string), text("c")]);
        for (format, named) in [
            ("x%5.2f", "`%5.2f`"),
            ("%p%d", "`%p`"),
            ("%n", "`%n`"),
            ("%ls", "`%ls`"),
            ("5%", "`%`"),
            ("%05s", "`%05s`"),
            ("%#d", "`%#d`"),
            ("%1$d", "`%1$`"),
            ("%Lf", "`%L`"),
            ("%99999d", "`%99999`"),
        ] {
            assert_eq!(pieces(format.as_bytes()).unwrap_err(), named, "{format}");
        }
    }

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
