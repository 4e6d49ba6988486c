//! Functions of the C library and of POSIX that are known without their code: what they do with
//! what their arguments point to, and what they return.
//!
//! A function that is not here, has no meaning of its own ([`special`]) and is not defined by the
//! program may do anything.

pub(crate) mod format;
pub(crate) mod math;
pub(crate) mod special;

/// What a function does with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// It uses the value alone. Streams are values.
    Value,
    /// It reads bytes up to a zero.
    Text,
    /// It reads as many bytes as these arguments, multiplied, say.
    Bytes(&'static [usize]),
    /// It reads the object that the parameter points to.
    Object,
    /// It reads a format of `printf`, and of the arguments that follow what the format says.
    Format,
    /// It writes something to the object that the parameter points to, unless that is a null
    /// pointer.
    Writes,
    /// It writes through the argument in a way that is not modelled, unless that is a null pointer.
    Null,
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Returns {
    /// Any value in this range is possible.
    Between(i64, i64),
    /// Some value of its type, or nothing: which ones are possible is not modelled.
    Something,
    /// The same, if it returns at all.
    Perhaps,
}

/// A function that changes no variable of the program but what its arguments point to, and calls
/// none of its functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// What it does with each argument; with further ones, as the format says, or nothing.
    pub(crate) arguments: &'static [Use],
    /// What it returns.
    pub(crate) returns: Returns,
}

use Returns::{Between, Perhaps, Something};
use Use::{Bytes, Format, Null, Object, Text, Value, Writes};

/// The largest `int`.
const INT_MAX: i64 = i32::MAX as i64;
/// `EOF`
const EOF: i64 = -1;

/// The functions, by name.
const TABLE: &[(&str, &[Use], Returns)] = &[
    // Output.
    ("printf", &[Format], Something),
    ("fprintf", &[Value, Format], Something),
    ("dprintf", &[Value, Format], Something),
    ("printk", &[Format], Something),
    ("__printf_chk", &[Value, Format], Something),
    ("__fprintf_chk", &[Value, Value, Format], Something),
    ("syslog", &[Value, Format], Something),
    ("puts", &[Text], Something),
    ("fputs", &[Text, Value], Something),
    ("perror", &[Text], Something),
    ("putchar", &[Value], Something),
    ("putc", &[Value, Value], Something),
    ("fputc", &[Value, Value], Something),
    ("fwrite", &[Bytes(&[1, 2]), Value, Value, Value], Something),
    ("write", &[Value, Bytes(&[2]), Value], Something),
    ("fflush", &[Value], Something),
    // Files.
    ("fopen", &[Text, Text], Something),
    ("fclose", &[Value], Something),
    ("feof", &[Value], Something),
    ("ferror", &[Value], Something),
    ("close", &[Value], Something),
    // Input, character by character.
    ("getchar", &[], Between(EOF, 255)),
    ("getc", &[Value], Between(EOF, 255)),
    ("fgetc", &[Value], Between(EOF, 255)),
    // Time. A thread may go on at any time.
    ("sleep", &[Value], Something),
    ("usleep", &[Value], Something),
    ("nanosleep", &[Object, Writes], Something),
    ("sched_yield", &[], Between(0, 0)),
    ("pause", &[], Perhaps),
    ("time", &[Writes], Something),
    ("clock_gettime", &[Value, Writes], Something),
    ("gettimeofday", &[Writes, Null], Something),
    ("clock", &[], Something),
    // Numbers.
    ("rand", &[], Between(0, INT_MAX)),
    ("random", &[], Between(0, INT_MAX)),
    ("srand", &[Value], Something),
    ("srandom", &[Value], Something),
    ("atoi", &[Text], Something),
    ("atol", &[Text], Something),
    ("atoll", &[Text], Something),
    ("atof", &[Text], Something),
    ("frexp", &[Value, Writes], Something),
    ("frexpf", &[Value, Writes], Something),
    ("modf", &[Value, Writes], Something),
    ("modff", &[Value, Writes], Something),
    // The process and its environment.
    ("getpid", &[], Between(1, INT_MAX)),
    ("getppid", &[], Between(0, INT_MAX)),
    ("getenv", &[Text], Something),
    ("sysconf", &[Value], Something),
    ("isatty", &[Value], Between(0, 1)),
];

/// Returns what is known about a function.
pub(crate) fn known(name: &str) -> Option<Function> {
    let row = TABLE.iter().find(|row| row.0 == name);
    let of_numbers = || math::open_result(name).map(|_| Function { arguments: &[], returns: Something });
    row.map(|&(_, arguments, returns)| Function { arguments, returns }).or_else(of_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_is_there_twice() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|other| other.0 != row.0), "{}", row.0);
        }
    }
}
