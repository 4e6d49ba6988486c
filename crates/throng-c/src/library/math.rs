//! Functions of `<math.h>` whose results are exact, and what the compiler has for them.

/// What a function does with floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Math {
    /// `fabs`
    Absolute,
    /// `copysign`
    CopySign,
    /// `sqrt`
    Root,
    /// `floor`
    Floor,
    /// `ceil`
    Ceiling,
    /// `trunc`
    Truncate,
    /// `round`: halves away from zero.
    Round,
    /// `rint`, `nearbyint`: halves to even numbers.
    ToEven,
    /// `fmin`
    Least,
    /// `fmax`
    Greatest,
    /// Whether it is not a number.
    IsNan,
    /// Whether it is infinite.
    IsInfinite,
    /// 1 or -1 if it is infinite.
    InfiniteSign,
    /// Whether it is neither infinite nor not a number.
    IsFinite,
    /// Whether it is finite, not 0 and not subnormal.
    IsNormal,
    /// Whether its sign is negative.
    SignBit,
    /// Which of its other arguments says what it is: not a number, infinite, normal, subnormal, 0.
    Classify,
    /// Comparisons: whether the first number is greater, and so on.
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    LessOrGreater,
    Unordered,
    /// `__builtin_inf`, `__builtin_huge_val`
    Infinity,
    /// `__builtin_nan`
    Nan,
}

impl Math {
    /// Number of numbers that it is about.
    pub(crate) fn operands(self) -> usize {
        use Math::*;
        match self {
            Infinity | Nan => 0,
            Classify => 6,
            CopySign | Least | Greatest => 2,
            Greater | GreaterOrEqual | Less | LessOrEqual | LessOrGreater | Unordered => 2,
            _ => 1,
        }
    }

    /// Returns whether its result is an integer that tells something about its operands.
    pub(crate) fn tells(self) -> bool {
        use Math::*;
        let alone =
            matches!(self, IsNan | IsInfinite | InfiniteSign | IsFinite | IsNormal | SignBit | Classify);
        let pair = matches!(self, Greater | GreaterOrEqual | Less | LessOrEqual | LessOrGreater | Unordered);
        alone || pair
    }
}

/// The size that a function takes its arguments in, if not in their own types.
pub(crate) type Size = Option<u8>;

/// Functions with the suffixes `f` and `l` for other types than `double`.
const TYPED: &[(&str, Math)] = &[
    ("fabs", Math::Absolute),
    ("copysign", Math::CopySign),
    ("sqrt", Math::Root),
    ("floor", Math::Floor),
    ("ceil", Math::Ceiling),
    ("trunc", Math::Truncate),
    ("round", Math::Round),
    ("rint", Math::ToEven),
    ("nearbyint", Math::ToEven),
    ("fmin", Math::Least),
    ("fmax", Math::Greatest),
    ("inf", Math::Infinity),
    ("huge_val", Math::Infinity),
    ("nan", Math::Nan),
];

/// What compilers have for arguments of all types.
const GENERIC: &[(&str, Math)] = &[
    ("isnan", Math::IsNan),
    ("isinf", Math::IsInfinite),
    ("isinf_sign", Math::InfiniteSign),
    ("isfinite", Math::IsFinite),
    ("finite", Math::IsFinite),
    ("isnormal", Math::IsNormal),
    ("signbit", Math::SignBit),
    ("fpclassify", Math::Classify),
    ("isgreater", Math::Greater),
    ("isgreaterequal", Math::GreaterOrEqual),
    ("isless", Math::Less),
    ("islessequal", Math::LessOrEqual),
    ("islessgreater", Math::LessOrGreater),
    ("isunordered", Math::Unordered),
];

/// Returns what a function does with numbers, and their size.
pub(crate) fn math(name: &str) -> Option<(Math, Size)> {
    let plain = name.strip_prefix("__builtin_");
    let short = plain.unwrap_or(name);
    let row = |table: &[(&str, Math)], name: &str| table.iter().find(|row| row.0 == name).map(|row| row.1);
    let typed = |name: &str| {
        // There is a function `nan`, and none of the other constants.
        row(TYPED, name).filter(|math| plain.is_some() || *math != Math::Infinity)
    };
    if let Some(math) = typed(short) {
        return Some((math, Some(8)));
    }
    let suffixed = [("f", 4), ("l", 16)].into_iter().find_map(|(suffix, size)| {
        let base = short.strip_suffix(suffix)?;
        // Without a prefix, `signbit` and its like are macros.
        let generic = || row(GENERIC, base);
        typed(base).or_else(generic).map(|math| (math, Some(size)))
    });
    suffixed.or_else(|| row(GENERIC, short).map(|math| (math, None)))
}

/// What a function of `<complex.h>` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Complex {
    /// `creal`
    Real,
    /// `cimag`
    Imaginary,
    /// `conj`
    Conjugate,
    /// `__builtin_complex`: the number of two parts.
    Make,
}

/// Returns what a function does with complex numbers, and the size of their parts.
pub(crate) fn complex(name: &str) -> Option<(Complex, Size)> {
    let short = name.strip_prefix("__builtin_").unwrap_or(name);
    let row = |name: &str| match name {
        "creal" => Some(Complex::Real),
        "cimag" => Some(Complex::Imaginary),
        "conj" => Some(Complex::Conjugate),
        _ => None,
    };
    match name {
        "__builtin_complex" => Some((Complex::Make, None)),
        _ => row(short).map(|function| (function, Some(8))).or_else(|| {
            let typed = |(suffix, size)| Some((row(short.strip_suffix(suffix)?)?, Some(size)));
            [("f", 4), ("l", 16)].into_iter().find_map(typed)
        }),
    }
}

/// Other functions of numbers that compilers know without a declaration.
const OPEN: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fdim",
    "fma",
    "fmod",
    "gamma",
    "hypot",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nextafter",
    "nexttoward",
    "pow",
    "remainder",
    "roundeven",
    "scalb",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "tgamma",
    "y0",
    "y1",
    "yn",
];

/// Returns the size of the result of such a function.
pub(crate) fn open_result(name: &str) -> Option<u8> {
    let suffixed = |suffix, size| name.strip_suffix(suffix).filter(|n| OPEN.contains(n)).map(|_| size);
    let plain = OPEN.contains(&name).then_some(8);
    plain.or_else(|| suffixed("f", 4)).or_else(|| suffixed("l", 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_type() {
        assert_eq!(math("fabs"), Some((Math::Absolute, Some(8))));
        assert_eq!(math("__builtin_fabsf"), Some((Math::Absolute, Some(4))));
        assert_eq!(math("ceill"), Some((Math::Ceiling, Some(16))));
        assert_eq!(math("__builtin_inff"), Some((Math::Infinity, Some(4))));
        assert_eq!(math("__builtin_inf"), Some((Math::Infinity, Some(8))));
        assert_eq!(math("inf"), None);
        assert_eq!(math("__builtin_isinf"), Some((Math::IsInfinite, None)));
        assert_eq!(math("__builtin_signbitf"), Some((Math::SignBit, Some(4))));
        assert_eq!(math("sin"), None);
        assert_eq!(
            [open_result("sin"), open_result("powf"), open_result("fmal")],
            [Some(8), Some(4), Some(16)]
        );
        assert_eq!([open_result("erf"), open_result("erff"), open_result("fabs")], [Some(8), Some(4), None]);
    }
}
