//! First contact: an example to start from, completions for shells, manual pages.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use throng_lang::load::{Reading, format_of};

use super::console::{Console, Failure};
use super::{Cli, CompletionsArgs, InitArgs, ManArgs, files};

/// The first programs, by the extension of their files.
const FIRST: &[(&str, &str)] = &[
    ("c", include_str!("init/lock.c")),
    ("rs", include_str!("init/lock.rs")),
    ("bp", include_str!("init/lock.bp")),
];

/// `throng init`: never writes over a file.
pub(super) fn init(args: &InitArgs, console: &Console) -> Result<u8, Failure> {
    let path = args.file.display();
    let extension = args.file.extension().unwrap_or_default();
    let Some((_, first)) = FIRST.iter().find(|(of, _)| extension == *of) else {
        let known: Vec<String> = FIRST.iter().map(|(of, _)| format!(".{of}")).collect();
        let known = known.join(", ");
        return Err(Failure::Other(format!("`throng init` writes files that end in {known}, not {path}")));
    };
    let written = File::create_new(&args.file).and_then(|mut file| {
        let written = file.write_all(first.as_bytes());
        written.inspect_err(|_| _ = fs::remove_file(&args.file))
    });
    match written {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::Other(format!("{path} exists already; name another file: throng init FILE")))
        }
        Err(why) => Err(Failure::Other(format!("cannot write {path}: {why}"))),
        Ok(()) => console.print(&format!("wrote {path}\nnext: throng check {path}\n")).map(|()| 0),
    }
}

/// What `throng check` could check in a folder, if it was called without a file.
pub(super) fn what_is_here(why: &clap::Error, folder: &Path) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let Some(ContextValue::Strings(missing)) = why.get(ContextKind::InvalidArg) else { return None };
    if why.kind() != ErrorKind::MissingRequiredArgument || !missing.iter().any(|m| m == "<FILE>") {
        return None;
    }
    let builds = ["compile_commands.json", "build/compile_commands.json"];
    if let Some(build) = builds.iter().find(|build| folder.join(build).is_file()) {
        return Some(format!("  tip: there is a build of C here: throng check --project {build}"));
    }
    match inputs(folder).as_slice() {
        [] => Some("  tip: `throng init lock.c` writes a first program".into()),
        [one] => Some(format!("  tip: there is an input here: throng check {one}")),
        [one, ..] => Some(format!("  tip: there are inputs here, {one} for example: throng check {one}")),
    }
}

/// The names of files in a folder that can be checked, in their order.
fn inputs(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(10_000);
    let readable = |name: &String| format_of(Path::new(name), &Reading::default()).is_ok();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(readable).collect();
    names.sort();
    names
}

/// `throng completions`
pub(super) fn completions(args: &CompletionsArgs, console: &Console) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "throng", &mut script);
    console.print(&String::from_utf8_lossy(&script)).map(|()| 0)
}

/// `throng man`: one page, or all of them as files.
pub(super) fn man(args: &ManArgs, console: &Console) -> Result<u8, Failure> {
    let mut all = Cli::command().name("throng").disable_help_subcommand(true);
    all.build();
    let Some(dir) = &args.dir else {
        let asked = args.command.as_deref();
        let command = match asked {
            None => &all,
            Some(name) => all
                .find_subcommand(name)
                .ok_or_else(|| Failure::Other(format!("there is no command `{name}`")))?,
        };
        return console.print(&page(command)?).map(|()| 0);
    };
    fs::create_dir_all(dir)
        .map_err(|why| Failure::Other(format!("cannot write {}: {why}", dir.display())))?;
    save(dir, "throng", &all)?;
    for command in all.get_subcommands().filter(|c| !c.is_hide_set()) {
        save(dir, &format!("throng-{}", command.get_name()), command)?;
    }
    Ok(0)
}

fn save(dir: &Path, name: &str, command: &clap::Command) -> Result<(), Failure> {
    files::replace(&dir.join(format!("{name}.1")), &page(command)?)
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let title = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let mut text = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).title(title.to_uppercase());
    man.render(&mut text).map_err(|why| Failure::Other(why.to_string()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
