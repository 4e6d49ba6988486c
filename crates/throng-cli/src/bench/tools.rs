//! What is compared: configurations of this program, and other programs, described in a small file.
//!
//! ```toml
//! [[tool]]
//! name = "symbolic"                  # this program: `throng check FILE …` with these options
//! options = "--engine symbolic --no-por"
//!
//! [[tool]]
//! name = "bfc"                       # another program
//! command = ["bfc", "{file}", "--target", "{targets}", ["--ini-shared", "{initial}"]]
//! kinds = ["tts"]                    # the inputs it takes; without it, all
//! safe = "VERIFICATION SUCCESSFUL"   # a text that its output contains, or an exit status
//! unsafe = "VERIFICATION FAILED"
//! ```
//!
//! `{file}`, `{targets}` (the file with targets), `{label}`, `{initial}`, `{threads}`, `{timeout}`
//! (seconds), `{memory}` (MiB) and `{throng}` (this program) are filled in. A list inside a command
//! is left out as a whole if something in it has no value. A tool whose command does not mention
//! `{threads}` is asked about any number of threads. `finished` reads like `safe` and means that
//! the work was done, `refused` that the tool does not take the input; `value` is a JSON pointer to
//! a number in the output, of which the page draws a histogram.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Ending;
use super::instances::Instance;

/// A column of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    kind: Kind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Kind {
    /// Options of `throng check`.
    Own(Vec<String>),
    Other(Described),
}

/// A file of tools.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tool: Vec<Described>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    options: Option<String>,
    command: Option<Vec<Part>>,
    kinds: Option<Vec<String>>,
    safe: Option<Sign>,
    r#unsafe: Option<Sign>,
    finished: Option<Sign>,
    refused: Option<Sign>,
    value: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    One(String),
    Together(Vec<String>),
}

/// Signs by which a tool reports a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Sign {
    Status(i32),
    Text(String),
}

/// The output and exit status of a process.
pub struct Output<'a> {
    /// The exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub out: &'a str,
    /// Standard error.
    pub err: &'a str,
}

/// The answer of a tool.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reported {
    /// The verdict or why there is none; none if the output explains nothing.
    pub ending: Option<Ending>,
    /// Configurations stored.
    pub configurations: Option<u64>,
    /// The number asked for.
    pub value: Option<f64>,
    /// A reason.
    pub note: String,
}

impl Tool {
    /// A configuration of this program.
    pub fn own(name: &str, options: Vec<String>) -> Tool {
        Tool { name: name.into(), kind: Kind::Own(options) }
    }

    /// The options, if it is this program.
    pub fn options(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Own(options) => Some(options),
            Kind::Other(_) => None,
        }
    }

    /// Its options or command, before anything is filled in.
    pub fn template(&self) -> String {
        match &self.kind {
            Kind::Own(options) => options.join(" "),
            Kind::Other(described) => {
                let parts = described.command.iter().flatten().map(|part| match part {
                    Part::One(word) => word.clone(),
                    Part::Together(words) => format!("[{}]", words.join(" ")),
                });
                parts.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Returns whether it takes an instance at all.
    pub fn takes(&self, instance: &Instance) -> bool {
        let Kind::Other(Described { kinds: Some(kinds), .. }) = &self.kind else { return true };
        instance.path.extension().is_some_and(|e| kinds.iter().any(|k| e == k.as_str()))
    }

    /// The thread bound that it is asked about.
    pub fn bound(&self, instance: &Instance) -> Option<u32> {
        match &self.kind {
            Kind::Own(options) => {
                value(options, "--threads").and_then(|n| n.parse().ok()).or(instance.threads)
            }
            Kind::Other(_) if self.template().contains("{threads}") => instance.threads,
            Kind::Other(_) => None,
        }
    }

    /// The command line for an instance: a program and its arguments.
    pub fn command(&self, instance: &Instance, throng: &Path, timeout: f64, memory: u64) -> Vec<String> {
        match &self.kind {
            Kind::Own(options) => own(options, instance, throng, memory),
            Kind::Other(described) => fill(described, instance, throng, timeout, memory),
        }
    }

    /// Reads its answer.
    pub fn read(&self, output: &Output) -> Reported {
        match &self.kind {
            Kind::Own(_) => read_own(output),
            Kind::Other(described) => described.read(output),
        }
    }
}

/// The value of an option, as `--name value` or `--name=value`.
fn value<'a>(options: &'a [String], name: &str) -> Option<&'a str> {
    let spaced = options.iter().position(|o| o == name).and_then(|i| options.get(i + 1)).map(String::as_str);
    spaced.or_else(|| options.iter().find_map(|o| o.strip_prefix(name)?.strip_prefix('=')))
}

fn own(options: &[String], instance: &Instance, throng: &Path, memory: u64) -> Vec<String> {
    let has = |name: &str| options.iter().any(|o| o == name) || value(options, name).is_some();
    let mut words = vec![throng.display().to_string(), "check".into(), "--json".into(), "--quiet".into()];
    let mut add = |name: &str, value: String| {
        if !has(name) {
            words.extend([name.to_string(), value]);
        }
    };
    if !instance.initial.is_empty() {
        add("--initial", instance.initial.clone());
    }
    if let Some(threads) = instance.threads {
        add("--threads", threads.to_string());
    }
    if let Some(label) = instance.property.strip_prefix("label ") {
        add("--error-label", label.into());
    }
    if let Some(targets) = &instance.targets {
        add("--prop", targets.display().to_string());
    }
    if memory > 0 {
        add("--memory", memory.to_string());
    }
    add("--jobs", "1".into());
    words.extend(options.iter().cloned());
    words.extend(["--".into(), instance.path.display().to_string()]);
    words
}

fn fill(described: &Described, instance: &Instance, throng: &Path, timeout: f64, memory: u64) -> Vec<String> {
    let shown = |path: &Path| path.display().to_string();
    let label = instance.property.strip_prefix("label ").unwrap_or_default();
    let values = [
        ("{throng}", shown(throng)),
        ("{file}", shown(&instance.path)),
        ("{targets}", instance.targets.as_deref().map(shown).unwrap_or_default()),
        ("{label}", label.to_string()),
        ("{initial}", instance.initial.clone()),
        ("{threads}", instance.threads.map(|n| n.to_string()).unwrap_or_default()),
        ("{timeout}", timeout.to_string()),
        ("{memory}", if memory == 0 { String::new() } else { memory.to_string() }),
    ];
    let fill = |word: &String| values.iter().fold(word.clone(), |w, (name, value)| w.replace(name, value));
    let lacks = |word: &String| values.iter().any(|(name, value)| value.is_empty() && word.contains(name));
    let mut words = Vec::new();
    for part in described.command.iter().flatten() {
        match part {
            Part::One(word) => words.push(fill(word)),
            Part::Together(group) if group.iter().any(lacks) => {}
            Part::Together(group) => words.extend(group.iter().map(fill)),
        }
    }
    words
}

/// The answer of `throng check --json`.
fn read_own(output: &Output) -> Reported {
    let first_error = || output.err.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().to_string();
    let Ok(document) = serde_json::from_str::<serde_json::Value>(output.out) else {
        let ending =
            (output.status == Some(2) && !output.err.contains("internal error")).then_some(Ending::Refused);
        return Reported { ending, note: first_error(), ..Reported::default() };
    };
    let number = |key: &str| document["statistics"][key].as_u64();
    let open = document["targets"].as_array().into_iter().flatten().find(|t| t["cause"].is_string());
    let field = |key: &str| open.and_then(|t| t[key].as_str()).unwrap_or_default();
    let ending = match (document["verdict"].as_str(), field("cause")) {
        (Some("safe"), _) => Some(Ending::Safe),
        (Some("unsafe"), _) => Some(Ending::Unsafe),
        (Some("unknown"), "time") => Some(Ending::Timeout),
        (Some("unknown"), "memory") => Some(Ending::Memory),
        (Some("unknown"), "refused") => Some(Ending::Refused),
        (Some("unknown"), _) => Some(Ending::Unknown),
        _ => None,
    };
    Reported { ending, configurations: number("configurations"), value: None, note: field("reason").into() }
}

impl Described {
    fn read(&self, output: &Output) -> Reported {
        let signs = [
            (Ending::Unsafe, &self.r#unsafe),
            (Ending::Safe, &self.safe),
            (Ending::Finished, &self.finished),
            (Ending::Refused, &self.refused),
        ];
        let seen = |sign: &Sign| match sign {
            Sign::Status(status) => output.status == Some(*status),
            Sign::Text(text) => output.out.contains(text) || output.err.contains(text),
        };
        let mut said = signs.into_iter().filter(|(_, sign)| sign.as_ref().is_some_and(seen)).map(|s| s.0);
        let ending = said.next().or((output.status.is_some()).then_some(Ending::Unknown));
        let value = self.value.as_ref().and_then(|pointer| {
            let document: serde_json::Value = serde_json::from_str(output.out).ok()?;
            document.pointer(pointer)?.as_f64()
        });
        let note = if said.next().is_some() { "the output has signs of two endings" } else { "" };
        Reported {
            ending: if note.is_empty() { ending } else { None },
            value,
            note: note.into(),
            ..Reported::default()
        }
    }
}

/// The tools of a file.
pub fn read(text: &str) -> Result<Vec<Tool>, String> {
    let file: File = toml::from_str(text).map_err(|why| why.to_string())?;
    file.tool.into_iter().map(tool).collect()
}

fn tool(described: Described) -> Result<Tool, String> {
    let name = described.name.clone();
    let signs = [&described.safe, &described.r#unsafe, &described.finished, &described.refused];
    match (&described.options, &described.command) {
        (Some(options), None) if signs.iter().all(|s| s.is_none()) && described.kinds.is_none() => {
            Ok(Tool::own(&name, words(options)))
        }
        (Some(_), None) => {
            Err(format!("tool `{name}`: verdicts and kinds are for commands; options are this program's"))
        }
        (None, Some(command)) if command.is_empty() => Err(format!("tool `{name}`: the command is empty")),
        (None, Some(_)) if signs[..3].iter().all(|s| s.is_none()) => {
            Err(format!("tool `{name}`: one of safe, unsafe, finished must say how to read what came out"))
        }
        (None, Some(_)) => Ok(Tool { name, kind: Kind::Other(described) }),
        _ => Err(format!("tool `{name}`: either `options` (of this program) or `command` (of another)")),
    }
}

/// Options separated by blanks.
pub fn words(options: &str) -> Vec<String> {
    options.split_whitespace().map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const TOOLS: &str = r#"
        [[tool]]
        name = "ours"
        options = "--engine symbolic --threads 2"
        [[tool]]
        name = "theirs"
        command = ["tool", "{file}", ["-t", "{targets}"], ["-n", "{threads}"], "-m{memory}"]
        kinds = ["tts"]
        safe = "PROVED"
        unsafe = 7
    "#;

    fn instance() -> Instance {
        Instance {
            file: "a.tts".into(),
            path: PathBuf::from("f/a.tts"),
            family: String::new(),
            property: "label L".into(),
            targets: None,
            initial: "1".into(),
            threads: Some(3),
            expected: "?".into(),
        }
    }

    #[test]
    fn commands_are_filled_in_and_options_win_over_the_manifest() {
        let tools = read(TOOLS).unwrap();
        let ours = tools[0].command(&instance(), Path::new("throng"), 5.0, 100).join(" ");
        let options = "--initial 1 --error-label L --memory 100 --jobs 1 --engine symbolic --threads 2";
        assert_eq!(ours, format!("throng check --json --quiet {options} -- f/a.tts"));
        assert_eq!(tools[0].bound(&instance()), Some(2));
        let theirs = tools[1].command(&instance(), Path::new("throng"), 5.0, 100);
        assert_eq!(theirs, ["tool", "f/a.tts", "-n", "3", "-m100"], "no targets, so no -t");
        assert!(!tools[1].takes(&Instance { path: "x.bp".into(), ..instance() }));
    }

    #[test]
    fn foreign_verdicts_are_read_from_texts_and_statuses() {
        let tools = read(TOOLS).unwrap();
        let read = |status, out| tools[1].read(&Output { status, out, err: "" }).ending;
        assert_eq!(read(Some(0), "it was PROVED"), Some(Ending::Safe));
        assert_eq!(read(Some(7), ""), Some(Ending::Unsafe));
        assert_eq!(read(Some(0), ""), Some(Ending::Unknown));
        assert_eq!(read(Some(7), "PROVED"), None, "both signs: neither counts");
        assert_eq!(read(None, ""), None, "ended by a signal");
    }

    #[test]
    fn descriptions_that_cannot_work_are_refused() {
        for text in [
            "[[tool]]\nname = 'a'",
            "[[tool]]\nname = 'a'\noptions = ''\ncommand = ['b']",
            "[[tool]]\nname = 'a'\ncommand = []\nsafe = 0",
            "[[tool]]\nname = 'a'\ncommand = ['b']",
            "[[tool]]\nname = 'a'\noptions = ''\nsafe = 0",
            "[[tool]]\nname = 'a'\nopts = ''",
            "tool = 3",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
