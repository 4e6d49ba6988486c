//! The command of a build: which of its words is the compiler, and what language it reads.

use std::path::Path;

/// Programs that compile C, by a part of their name between dashes, as in `arm-none-eabi-gcc-12`.
const C: [&str; 9] = ["cc", "gcc", "clang", "c89", "c99", "c11", "tcc", "icc", "icx"];

/// Programs that compile C++.
const CXX: [&str; 5] = ["c++", "g++", "clang++", "icpc", "icpx"];

/// Splits the words of a command into the name of the compiler and its arguments. Programs that
/// start the compiler, such as `ccache` and `libtool`, come before it.
pub(super) fn split_off_compiler(mut words: Vec<String>) -> (String, Vec<String>) {
    let begins = words.iter().position(|w| is_compiler(w, &C) || is_compiler(w, &CXX)).unwrap_or(0);
    let arguments = words.split_off(words.len().min(begins + 1));
    (words.pop().unwrap_or_default(), arguments)
}

/// Returns what a file is, if not C.
pub(super) fn other_language(path: &Path, compiler: &str, asked: Option<&str>) -> Option<&'static str> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    match asked {
        Some("c" | "cpp-output") => return None,
        Some("c++") => return Some("C++"),
        Some("assembler" | "assembler-with-cpp") => return Some("assembly"),
        Some("none") | None => {}
        Some(_) => return Some("in another language"),
    }
    match &*ending {
        "c" | "i" if is_compiler(compiler, &CXX) => Some("compiled as C++"),
        "c" | "i" => None,
        "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CPP" | "ii" => Some("C++"),
        "s" | "S" | "asm" => Some("assembly"),
        _ => Some("in another language"),
    }
}

fn is_compiler(word: &str, names: &[&str]) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    !word.starts_with('-') && name.split('-').any(|part| names.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_found_behind_what_starts_it() {
        let cases = [
            ("gcc -c a.c", "gcc"),
            ("/usr/bin/cc -DX=gcc a.c", "/usr/bin/cc"),
            ("ccache /opt/arm-none-eabi-gcc-12 a.c", "/opt/arm-none-eabi-gcc-12"),
            ("libtool --tag=CC --mode=compile clang-18 a.c", "clang-18"),
            ("env A=b nice distcc clang++ a.c", "clang++"),
            ("my-compiler -c a.c", "my-compiler"),
        ];
        for (line, compiler) in cases {
            let (found, rest) = split_off_compiler(line.split(' ').map(str::to_string).collect());
            assert_eq!((&found[..], rest.last().map(|w| &w[..])), (compiler, Some("a.c")), "{line}");
        }
        assert_eq!(split_off_compiler(Vec::new()), (String::new(), Vec::new()));
    }

    #[test]
    fn other_languages_are_known_by_the_ending_the_flag_or_the_compiler() {
        let said = |file: &str, compiler: &str, asked| other_language(Path::new(file), compiler, asked);
        assert_eq!((said("a.c", "cc", None), said("a.x", "cc", Some("c"))), (None, None));
        assert_eq!((said("a.cpp", "c++", None), said("a.c", "cc", Some("c++"))), (Some("C++"), Some("C++")));
        assert_eq!(
            (said("a.S", "cc", None), said("a.c", "g++", None)),
            (Some("assembly"), Some("compiled as C++"))
        );
    }
}
