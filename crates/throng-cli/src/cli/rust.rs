//! Options for programs in Rust.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use throng::rust::{Options, Package, Target};
use throng::{Error, Input};
use throng_model::limits::Limits;

use super::InputArgs;

/// Options for programs in Rust.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct RustArgs {
    /// Rust: the package of this folder, compiled by cargo with its tests; the build goes into
    /// `target/throng`
    #[arg(long, conflicts_with_all = ["project", "from"], help_heading = "Rust")]
    pub cargo: bool,
    /// Rust: the package of the workspace
    #[arg(long, short, value_name = "CRATE", requires = "cargo", help_heading = "Rust")]
    package: Option<String>,
    /// Rust: the package's library, which is meant without this if there is one
    #[arg(long, requires = "cargo", conflicts_with_all = ["bin", "test", "example"], help_heading = "Rust")]
    lib: bool,
    /// Rust: this program of the package
    #[arg(long, value_name = "NAME", requires = "cargo", conflicts_with_all = ["test", "example"], help_heading = "Rust")]
    bin: Option<String>,
    /// Rust: this integration test of the package
    #[arg(long, value_name = "NAME", requires = "cargo", conflicts_with = "example", help_heading = "Rust")]
    test: Option<String>,
    /// Rust: this example of the package
    #[arg(long, value_name = "NAME", requires = "cargo", help_heading = "Rust")]
    example: Option<String>,
    /// Rust: features of the package, as for cargo
    #[arg(long, value_name = "FEATURES", requires = "cargo", help_heading = "Rust")]
    features: Vec<String>,
    /// Rust: all features of the package
    #[arg(long, requires = "cargo", help_heading = "Rust")]
    all_features: bool,
    /// Rust: without its default features
    #[arg(long, requires = "cargo", help_heading = "Rust")]
    no_default_features: bool,
    /// Rust: the edition of a file that is not part of a package; without it 2021
    #[arg(long, value_name = "YEAR", value_parser = ["2015", "2018", "2021", "2024"], help_heading = "Rust")]
    pub edition: Option<String>,
    /// Rust: this function runs to its end before any other; what it leaves in memory is where
    /// threads start
    #[arg(long, value_name = "FUNCTION", help_heading = "Rust")]
    pub setup: Option<String>,
    /// Rust: one thread calls this function, beside those of `--entry`; `A,B` for several
    #[arg(long, value_name = "FUNCTION", value_delimiter = ',', help_heading = "Rust")]
    pub one: Vec<String>,
}

impl RustArgs {
    fn target(&self) -> Target {
        let Self { bin, test, example, .. } = self;
        match (bin, test, example) {
            (Some(name), _, _) => Target::Bin(name.clone()),
            (_, Some(name), _) => Target::Test(name.clone()),
            (_, _, Some(name)) => Target::Example(name.clone()),
            _ if self.lib => Target::Lib,
            _ => Target::Default,
        }
    }

    fn package(&self) -> Package {
        let mut arguments = Vec::new();
        for features in &self.features {
            arguments.extend(["--features".to_string(), features.clone()]);
        }
        arguments.extend(self.all_features.then(|| "--all-features".into()));
        arguments.extend(self.no_default_features.then(|| "--no-default-features".into()));
        let (name, target) = (self.package.clone(), self.target());
        Package { name, target, arguments, ..Package::new(PathBuf::from(".")) }
    }
}

impl InputArgs {
    /// Reads a program in Rust.
    pub(super) fn read_rust(&self, limits: &Limits) -> Result<Input, Error> {
        if self.rust.cargo {
            return Input::open_package(&self.rust.package(), limits);
        }
        let mut options = Options::default();
        options.edition = self.rust.edition.clone().unwrap_or(options.edition);
        Input::open_rust(self.file(), &options, limits)
    }
}

/// Returns the words of a call of `throng` that `cargo throng …` means: it checks the package, and
/// other commands are as always.
pub(super) fn words_of_cargo(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    // Cargo repeats the name of the command.
    if words.get(1).is_some_and(|word| word == "throng") {
        words.remove(1);
    }
    let first = words.get(1).map(|word| word.to_string_lossy().into_owned());
    match first.as_deref() {
        Some("check") => words.insert(2, "--cargo".into()),
        Some("-h" | "--help" | "-V" | "--version") => {}
        Some(option) if option.starts_with('-') => {
            words.splice(1..1, ["check".into(), "--cargo".into()]);
        }
        _ => {}
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_checks_the_package() {
        for (said, meant) in [
            ("cargo-throng throng check --entry f", "cargo-throng check --cargo --entry f"),
            ("cargo-throng throng --entry f", "cargo-throng check --cargo --entry f"),
            ("cargo-throng check -p a", "cargo-throng check --cargo -p a"),
            ("cargo-throng throng certify a.rs b", "cargo-throng certify a.rs b"),
            ("cargo-throng throng --version", "cargo-throng --version"),
            ("cargo-throng throng", "cargo-throng"),
        ] {
            let words = words_of_cargo(said.split(' ').map(OsString::from));
            assert_eq!(words, meant.split(' ').map(OsString::from).collect::<Vec<_>>(), "{said}");
        }
    }
}
