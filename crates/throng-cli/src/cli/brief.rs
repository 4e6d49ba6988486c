//! `-h`: the options that most calls need, one line each, in the order of the questions that people
//! have. `--help` explains all of them.

use clap::{Arg, Command};

/// A group of options of the short help.
struct Group {
    heading: &'static str,
    /// The name of each option, and what it is in a few words.
    options: &'static [(&'static str, &'static str)],
}

const GROUPS: &[Group] = &[
    Group {
        heading: "What to ask (without any of these: does an assertion fail?)",
        options: &[
            ("race", "No data race"),
            ("deadlock", "No configuration in which no thread can move"),
            ("mutex", "No two threads at this label; `A,B`: none at A while one is at B"),
            ("memory_safety", "C: no memory error"),
            ("overflow", "C: no signed overflow, no division by zero"),
            ("target", "Can this configuration be reached?"),
            ("entry", "C, Rust: any number of threads, each calls this function"),
            ("threads", "At most N threads; without it, any number"),
            ("memory_model", "C, Rust: what memory orders mean"),
        ],
    },
    Group {
        heading: "What to read",
        options: &[
            ("from", "The format, if the name of the file does not say it"),
            ("project", "C: the files of a build: compile_commands.json, or its folder"),
            ("cargo", "Rust: the package of this folder, compiled with its tests"),
            ("package", "Rust: the package of the workspace"),
            ("D", "C: define a macro"),
            ("I", "C: look for headers in this directory too"),
        ],
    },
    Group {
        heading: "How long",
        options: &[
            ("timeout", "Stop after this many seconds"),
            ("memory", "Stop beyond this much memory"),
            ("jobs", "Number of processor cores to use"),
            ("engine", "The engine that searches"),
        ],
    },
    Group {
        heading: "What to write",
        options: &[
            ("html", "A page to look at the run or the proof"),
            ("json", "One JSON document instead of text"),
            ("sarif", "The result for code scanning and editors"),
            ("certificate", "The evidence, for `throng certify`"),
            ("replay", "C: a program that takes the steps of the run"),
            ("replay_run", "C: also compile that program and run it"),
            ("quiet", "Verdicts only"),
            ("verbose", "Details and progress"),
            ("color", "Colours: auto, always, never (also NO_COLOR)"),
        ],
    },
];

/// Returns the same command with a short help of its own for each command below it that has more
/// options than fit a screen.
pub(super) fn with_short_help(command: Command) -> Command {
    command.mut_subcommands(|sub| match sub.get_arguments().count() > 20 {
        true => sub.mut_args(shorten).after_help("All options, and what they mean: --help"),
        false => sub,
    })
}

/// Says less about an option in the short help, or nothing.
fn shorten(arg: Arg) -> Arg {
    let place = GROUPS.iter().find_map(|group| {
        let (_, brief) = group.options.iter().find(|(name, _)| arg.get_id() == name)?;
        Some((group.heading, *brief))
    });
    let long = arg.get_long_help().or(arg.get_help()).cloned();
    match place {
        Some((heading, brief)) => {
            let values = arg.get_action().takes_values();
            let arg = arg.help(brief).help_heading(heading).hide_possible_values(values);
            long.into_iter().fold(arg, Arg::long_help)
        }
        None if arg.get_help_heading().is_some() => arg.hide_short_help(true),
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_short_help_of_check_fits_a_screen_and_names_options_that_exist() {
        let mut command = with_short_help(Cli::command());
        command.build();
        let check = command.find_subcommand_mut("check").unwrap();
        for (name, _) in GROUPS.iter().flat_map(|group| group.options) {
            assert!(check.get_arguments().any(|arg| arg.get_id() == name), "{name}");
        }
        let text = check.clone().term_width(100).render_help().to_string();
        assert!(text.lines().count() <= 50, "{text}");
        assert!(!text.contains("--checkpoint-every") && text.contains("--help"));
        let all = check.render_long_help().to_string();
        assert!(all.contains("--checkpoint-every") && all.contains("one of them to write it"));
    }
}
