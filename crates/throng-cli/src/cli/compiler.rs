//! Flags of a C compiler on the command line, as compilers spell them: `-include` has one dash.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use throng::{Flags, split_flags};

use super::console::Failure;

/// An option that is a flag of a compiler.
struct Flag {
    /// Its name without dashes; that of a single letter has one dash.
    name: &'static str,
    value: &'static str,
    help: &'static str,
}

const FLAGS: &[Flag] = &[
    Flag { name: "D", value: "NAME", help: "C: define a macro, NAME or NAME=VALUE" },
    Flag { name: "U", value: "NAME", help: "C: forget a macro; `-D` and `-U` count in their order" },
    Flag { name: "I", value: "DIR", help: "C: look for headers in this directory too" },
    Flag {
        name: "include",
        value: "FILE",
        help: "C: read this header before the file; like the next three, also with one dash, `-include FILE`",
    },
    Flag {
        name: "isystem",
        value: "DIR",
        help: "C: look for headers in this directory after those of `-I`, and before those of the system",
    },
    Flag { name: "iquote", value: "DIR", help: "C: look for headers in quotes in this directory too" },
    Flag { name: "std", value: "STANDARD", help: "C: the edition of the language, such as `c11` or `gnu17`" },
];

/// A whole command line of flags.
const LINE: &str = "cflags";

/// Names that compilers write with one dash, and this program with two.
const ONE_DASH: [&str; 6] = ["include", "isystem", "iquote", "std", "m32", "m64"];

/// Flags of a C compiler, in their order.
#[derive(Clone, Debug, Default)]
pub struct CompilerFlags {
    words: Vec<String>,
}

impl CompilerFlags {
    /// Returns the name of an option that was given, if there is one.
    pub fn given(&self) -> Option<&str> {
        let first = self.words.first()?;
        let letter = first.get(..2).filter(|f| ["-D", "-U", "-I"].contains(f));
        Some(letter.unwrap_or_else(|| first.split('=').next().unwrap_or(first)))
    }

    /// Returns what they mean, with one more.
    pub fn flags(&self, more: Option<&str>) -> Result<Flags, Failure> {
        let words = self.words.iter().map(String::as_str).chain(more);
        Flags::read(words).map_err(Failure::Other)
    }
}

impl Args for CompilerFlags {
    fn augment_args(command: Command) -> Command {
        let line = Arg::new(LINE)
            .long(LINE)
            .value_name("FLAGS")
            .allow_hyphen_values(true)
            .value_parser(split_flags)
            .help("C: flags as a compiler takes them, split as a shell does: `--cflags '-O2 -DN=3 -m32'`. Flags that only say how code is made have no effect; those that change the meaning in a way that is not modelled are refused");
        let options = FLAGS.iter().map(|flag| {
            let option = Arg::new(flag.name).value_name(flag.value).help(flag.help);
            match flag.name.chars().next() {
                Some(letter) if flag.name.len() == 1 => option.short(letter),
                _ => option.long(flag.name),
            }
        });
        let all = options.chain([line]).map(|o| o.action(ArgAction::Append).help_heading("C"));
        command.args(all)
    }

    fn augment_args_for_update(command: Command) -> Command {
        CompilerFlags::augment_args(command)
    }
}

impl FromArgMatches for CompilerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CompilerFlags, clap::Error> {
        let mut placed: Vec<(usize, Vec<String>)> = Vec::new();
        for flag in FLAGS {
            let places = matches.indices_of(flag.name).into_iter().flatten();
            let values = matches.get_many::<String>(flag.name).into_iter().flatten();
            placed.extend(places.zip(values.map(|value| flag.words(value))));
        }
        let places = matches.indices_of(LINE).into_iter().flatten();
        let lines = matches.get_many::<Vec<String>>(LINE).into_iter().flatten();
        placed.extend(places.zip(lines.cloned()));
        placed.sort_by_key(|(place, _)| *place);
        Ok(CompilerFlags { words: placed.into_iter().flat_map(|(_, words)| words).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = CompilerFlags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Flag {
    /// Returns it as a compiler takes it.
    fn words(&self, value: &str) -> Vec<String> {
        match self.name {
            "std" => vec![format!("-std={value}")],
            name => vec![format!("-{name}"), value.to_string()],
        }
    }
}

/// Returns the words of a command line with two dashes before the flags that compilers write with
/// one: `-include x.h`, `-std=c11` and `-m32` become `--include x.h`, `--std=c11` and `--m32`. For
/// clap, a single dash begins options of one letter.
pub fn with_two_dashes(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut spelled: Vec<OsString> = Vec::new();
    let mut options = true;
    for word in words {
        let is_value = spelled.last().is_some_and(|last| last == "--cflags");
        options &= word != "--";
        let renamed = word.to_str().filter(|_| options && !is_value).and_then(two_dashes);
        spelled.push(renamed.map_or(word, OsString::from));
    }
    spelled
}

fn two_dashes(word: &str) -> Option<String> {
    let flag = word.strip_prefix('-')?;
    let name = ONE_DASH.iter().find(|name| flag.starts_with(**name))?;
    match &flag[name.len()..] {
        "" => Some(format!("--{name}")),
        value if value.starts_with('=') => Some(format!("--{name}{value}")),
        // The value may follow at once, `-isystem/usr/include`.
        value => ["include", "isystem", "iquote"].contains(name).then(|| format!("--{name}={value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(line: &str) -> String {
        let words = with_two_dashes(line.split(' ').map(OsString::from));
        words.iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_of_one_dash_get_two() {
        let cases = [
            ("check a.c -include x.h -std=c11 -m32", "check a.c --include x.h --std=c11 --m32"),
            ("-isystem/usr -iquote . -I. -DX", "--isystem=/usr --iquote . -I. -DX"),
            ("--include x.h --cflags -m32 -m32", "--include x.h --cflags -m32 --m32"),
            ("check -- -include", "check -- -include"),
            ("-m3 -stdio --m32 - -i", "-m3 -stdio --m32 - -i"),
        ];
        for (line, same) in cases {
            assert_eq!(spelled(line), same);
        }
    }

    #[test]
    fn flags_keep_their_order() {
        let command = CompilerFlags::augment_args(Command::new("check"));
        let line =
            ["check", "-DA", "--std=c11", "-UA", "--cflags", "-O2 '-DB=1 2'", "-DA=2", "--include", "x.h"];
        let found = CompilerFlags::from_arg_matches(&command.get_matches_from(line)).unwrap();
        let words = ["-D", "A", "-std=c11", "-U", "A", "-O2", "-DB=1 2", "-D", "A=2", "-include", "x.h"];
        assert_eq!(found.words, words);
        assert_eq!(found.given(), Some("-D"));
        assert!(found.flags(Some("-fshort-enums")).is_err() && found.flags(None).is_ok());
    }
}
