//! Every flag of a compiler that is known, and what becomes of it.

/// A flag, or all that begin with a word.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) meaning: Meaning,
}

/// Where the value of a flag is.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    /// There is none.
    Nothing,
    /// Whatever follows in the same word, perhaps nothing.
    Joined,
    /// What follows in the same word; if nothing does, the next word.
    Value,
}

/// What becomes of a flag.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// It has no effect on what a program means.
    None,
    /// The preprocessor gets the word as it is.
    Passed,
    /// The preprocessor gets it and its value, which is a folder.
    Folder,
    /// The same; the value is a header.
    Header,
    /// `long` and pointers have so many bits.
    Bits(u32),
    /// The language of what follows.
    Language,
    /// Further flags, between commas.
    List,
    /// It changes what a program means, and is not modelled.
    Refused(&'static str),
}

use Meaning::{Bits, Folder, Header, Language, List, Passed, Refused};
use Takes::{Joined, Nothing, Value};

const LAYOUT: Meaning = Refused("changes the layout of types, which is not supported");
const MACHINE: Meaning = Refused("is about another machine, which is not supported");
const LANGUAGE: Meaning = Refused("changes the language, which is not supported");
const ARITHMETIC: Meaning = Refused("changes how numbers are computed, which is not supported");
const THREADS: Meaning = Refused("adds threads to the program, which is not supported");

const fn row(name: &'static str, takes: Takes, meaning: Meaning) -> Row {
    Row { name, takes, meaning }
}

/// Flags by their beginning; the longest one counts.
const ROWS: &[Row] = &[
    // For the preprocessor.
    row("-D", Value, Passed),
    row("-U", Value, Passed),
    row("-I", Value, Folder),
    row("-isystem", Value, Folder),
    row("-iquote", Value, Folder),
    row("-idirafter", Value, Folder),
    row("-isysroot", Value, Folder),
    row("--sysroot=", Joined, Passed),
    row("-include", Value, Header),
    row("-imacros", Value, Header),
    row("-include-pch", Value, Refused("names a header that was compiled, which is not supported")),
    row("-std=", Joined, Passed),
    row("-std=c++", Joined, LANGUAGE),
    row("-std=gnu++", Joined, LANGUAGE),
    row("--std=", Joined, Passed),
    row("-ansi", Nothing, Passed),
    row("-nostdinc", Nothing, Passed),
    row("-undef", Nothing, Passed),
    row("-trigraphs", Nothing, Passed),
    row("-pthread", Nothing, Passed),
    row("-finput-charset=", Joined, Passed),
    row("-ffreestanding", Nothing, Passed),
    row("-fhosted", Nothing, Passed),
    row("-fgnu89-inline", Nothing, Passed),
    row("-fno-gnu89-inline", Nothing, Passed),
    row("-Wp,", Joined, List),
    row("-Xpreprocessor", Value, List),
    // The machine. What else there is may be asked for by macros, such as `__AVX2__`.
    row("-m", Joined, Passed),
    row("-m32", Nothing, Bits(32)),
    row("-m64", Nothing, Bits(64)),
    row("-m16", Nothing, MACHINE),
    row("-mx32", Nothing, MACHINE),
    row("-mbig-endian", Nothing, MACHINE),
    row("-mlong-double", Joined, LAYOUT),
    row("-m96bit-long-double", Nothing, LAYOUT),
    row("-malign-double", Nothing, LAYOUT),
    row("-mms-bitfields", Nothing, LAYOUT),
    row("-EB", Nothing, MACHINE),
    row("-target", Value, MACHINE),
    row("--target=", Joined, MACHINE),
    row("-arch", Value, MACHINE),
    // The layout of types.
    row("-fshort-enums", Nothing, LAYOUT),
    row("-fshort-wchar", Nothing, LAYOUT),
    row("-fshort-double", Nothing, LAYOUT),
    row("-fpack-struct", Joined, LAYOUT),
    row("-freg-struct-return", Nothing, Meaning::None),
    row("-funsigned-char", Nothing, Refused("makes `char` unsigned, which is not supported")),
    row("-fno-signed-char", Nothing, Refused("makes `char` unsigned, which is not supported")),
    row("-funsigned-bitfields", Nothing, LAYOUT),
    row("-fno-signed-bitfields", Nothing, LAYOUT),
    // Arithmetic.
    row("-ftrapv", Nothing, ARITHMETIC),
    row("-Ofast", Nothing, ARITHMETIC),
    row("-ffast-math", Nothing, ARITHMETIC),
    row("-funsafe-math-optimizations", Nothing, ARITHMETIC),
    row("-fassociative-math", Nothing, ARITHMETIC),
    row("-freciprocal-math", Nothing, ARITHMETIC),
    row("-ffinite-math-only", Nothing, ARITHMETIC),
    row("-fsingle-precision-constant", Nothing, ARITHMETIC),
    row("-frounding-math", Nothing, ARITHMETIC),
    // The language.
    row("-x", Value, Language),
    row("-fopenmp", Joined, THREADS),
    row("-fopenacc", Joined, THREADS),
    row("-fcilkplus", Nothing, THREADS),
    row("-ftree-parallelize-loops", Joined, Meaning::None),
    row("-fgnu-tm", Nothing, LANGUAGE),
    row("-fblocks", Nothing, LANGUAGE),
    row("-fms-extensions", Nothing, LANGUAGE),
    row("-fms-compatibility", Joined, LANGUAGE),
    row("-fplan9-extensions", Nothing, LANGUAGE),
    row("-fpascal-strings", Nothing, LANGUAGE),
    row("-fwritable-strings", Nothing, LANGUAGE),
    row("-fno-asm", Nothing, LANGUAGE),
    row("-fexec-charset=", Joined, LANGUAGE),
    row("-fwide-exec-charset=", Joined, LANGUAGE),
    row("-traditional", Joined, LANGUAGE),
    row("-ftrivial-auto-var-init=", Joined, Refused("gives variables a value, which is not supported")),
    row("-ftrivial-auto-var-init=uninitialized", Nothing, Meaning::None),
    row("-finstrument-functions", Joined, Refused("adds calls of functions, which is not supported")),
    // Code, warnings, files: of no effect.
    row("-O", Joined, Meaning::None),
    row("-W", Joined, Meaning::None),
    row("-w", Nothing, Meaning::None),
    row("-g", Joined, Meaning::None),
    row("-f", Joined, Meaning::None),
    row("-c", Nothing, Meaning::None),
    row("-S", Nothing, Meaning::None),
    row("-E", Nothing, Meaning::None),
    row("-o", Value, Meaning::None),
    row("-C", Nothing, Meaning::None),
    row("-CC", Nothing, Meaning::None),
    row("-P", Nothing, Meaning::None),
    row("-H", Nothing, Meaning::None),
    row("-v", Nothing, Meaning::None),
    row("-p", Nothing, Meaning::None),
    row("-pg", Nothing, Meaning::None),
    row("-pedantic", Joined, Meaning::None),
    row("--coverage", Nothing, Meaning::None),
    row("-coverage", Nothing, Meaning::None),
    row("-mllvm", Value, Meaning::None),
    row("-Xclang", Value, Refused("is for the inside of one compiler, which is not supported")),
    row("-pipe", Nothing, Meaning::None),
    row("-save-temps", Joined, Meaning::None),
    row("-no-canonical-prefixes", Nothing, Meaning::None),
    row("-M", Nothing, Meaning::None),
    row("-MM", Nothing, Meaning::None),
    row("-MD", Nothing, Meaning::None),
    row("-MMD", Nothing, Meaning::None),
    row("-MG", Nothing, Meaning::None),
    row("-MP", Nothing, Meaning::None),
    row("-MV", Nothing, Meaning::None),
    row("-MF", Value, Meaning::None),
    row("-MT", Value, Meaning::None),
    row("-MQ", Value, Meaning::None),
    row("-MJ", Value, Meaning::None),
    row("-B", Value, Meaning::None),
    row("-Qunused-arguments", Nothing, Meaning::None),
    row("--param", Value, Meaning::None),
    row("--param=", Joined, Meaning::None),
    row("-dumpbase", Value, Meaning::None),
    row("-dumpdir", Value, Meaning::None),
    row("-fdiagnostics", Joined, Meaning::None),
    row("--serialize-diagnostics", Value, Meaning::None),
    row("-nostdinc++", Nothing, Meaning::None),
    // The linker and the assembler.
    row("-L", Value, Meaning::None),
    row("-l", Value, Meaning::None),
    row("-Xlinker", Value, Meaning::None),
    row("-Xassembler", Value, Meaning::None),
    row("-T", Value, Meaning::None),
    row("-u", Value, Meaning::None),
    row("-z", Value, Meaning::None),
    row("-framework", Value, Meaning::None),
    row("-s", Nothing, Meaning::None),
    row("-r", Nothing, Meaning::None),
    row("-static", Joined, Meaning::None),
    row("-shared", Joined, Meaning::None),
    row("-rdynamic", Nothing, Meaning::None),
    row("-pie", Nothing, Meaning::None),
    row("-no-pie", Nothing, Meaning::None),
    row("-nostdlib", Nothing, Meaning::None),
    row("-nodefaultlibs", Nothing, Meaning::None),
    row("-nostartfiles", Nothing, Meaning::None),
    row("-nolibc", Nothing, Meaning::None),
];

/// Returns what is known of a flag, and what follows its name in the word.
pub(super) fn look_up(word: &str) -> Result<(Row, &str), String> {
    let fits = |row: &&Row| match row.takes {
        Nothing => word == row.name,
        Joined | Value => word.starts_with(row.name),
    };
    let row = ROWS.iter().filter(fits).max_by_key(|row| row.name.len());
    let row = row.ok_or_else(|| format!("the flag `{word}` is not known"))?;
    Ok((*row, &word[row.name.len()..]))
}
