//! From a user's question to a [`Problem`]: the initial configurations, the targets, and the bound
//! on threads.
//!
//! The possible questions depend on the input: labels and assertions belong to programs, `s|l,l` to
//! systems. Other questions are refused here, with their text underlined like any other input.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bp::Jit;
use crate::configuration::{parse_config, parse_target, read_prop};
use crate::load::{Format, Input, Loaded, Reading, read_source};
use crate::pnml;
use crate::property::{self, Annotation, Part, Property, Together, annotations};
use crate::source::{Diagnostic, Severity, Source, Span};
use crate::system::{System, notation};
use crate::vocabulary::Vocabulary;
use throng_model::Model;
use throng_model::memory::MemoryModel;
use throng_model::problem::{Bound, Initial, Problem, Target};

/// A question about an input; everything left open has a default.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The initial configuration: `K` or `any` for programs, `s|l,l/u,u` for systems.
    pub initial: Option<String>,
    /// The bound on threads.
    pub threads: Option<u32>,
    /// The part of the question that is for programs in a source language only.
    pub code: CodeQuestion,
    /// Targets: configurations `s|l,l`; of programs, thread states `x=1 | L: a=0`
    /// ([`crate::bp::thread_state`]).
    pub targets: Vec<String>,
    /// A file with targets.
    pub prop: Option<PathBuf>,
    /// Labels that no thread may reach.
    pub error_labels: Vec<String>,
    /// Places at which no two threads may be, see [`property::mutex`].
    pub mutex: Vec<String>,
    /// Places, and the maximum number of threads there, see [`property::at_most`].
    pub at_most: Vec<String>,
    /// Combinations of threads that must not occur, see [`property::never`].
    pub never: Vec<String>,
    /// Shared variables that must have no data race: two threads about to access one, one of them
    /// to write.
    pub races: Vec<String>,
    /// True if there must be no deadlock: a configuration in which no thread can move although some
    /// thread has not ended.
    pub deadlock: bool,
    /// Places at which no thread may be stuck, see [`property::stuck`].
    pub stuck: Vec<String>,
    /// Places that every thread leaves under a fair scheduler, see [`property::starvation`].
    pub starvation: Vec<String>,
    /// Expressions over the shared variables that must hold.
    pub invariants: Vec<String>,
    /// True if a question without any property is accepted (simulation, translation).
    pub may_lack_target: bool,
    /// The names of the parts of a question in messages.
    pub vocabulary: &'static Vocabulary,
}

/// The part of a question that is for programs in a source language such as C only. The default is
/// that assertions hold, unless another property is given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeQuestion {
    /// Functions that any number of threads call, instead of one thread in `main`.
    pub entries: Vec<String>,
    /// A function that runs to its end before any other: what it leaves in memory is where threads
    /// start. Of Rust and LLVM IR only.
    pub setup: Option<String>,
    /// Functions that one thread each calls, beside `entries`. Of Rust and LLVM IR only.
    pub one: Vec<String>,
    /// True if there must be no data race: two threads access the same memory at the same time, one
    /// of them writing, not both atomically.
    pub data_race: bool,
    /// True if no computation with signed integers may overflow, divide by zero or shift too far.
    pub overflow: bool,
    /// True if no lock may be released by a thread that does not hold it, or destroyed while it is
    /// held.
    pub locks: bool,
    /// True if no memory may be accessed outside objects or after it was freed, or freed twice.
    pub memory_safety: bool,
    /// True if assertions must hold in addition to another property.
    pub assertions: bool,
    /// A property file of SV-COMP, with a single property.
    pub property: Option<PathBuf>,
    /// True if a wait for a condition variable only ends by a signal.
    pub no_spurious: bool,
    /// True if statements without calls, and conditions, are one step.
    pub whole_statements: bool,
    /// True if accesses to variables that are declared `volatile` count as atomic.
    pub volatile_atomic: bool,
    /// The memory model; without one, that of the language where the program names memory orders
    /// that are weaker than sequential consistency.
    pub memory_model: Option<MemoryModel>,
}

impl CodeQuestion {
    /// Returns the name of the first setting that is given, as these do not apply to other inputs.
    fn first(&self, vocabulary: &Vocabulary) -> Option<&'static str> {
        let given = [
            (!self.entries.is_empty(), vocabulary.entry),
            (self.setup.is_some(), vocabulary.setup),
            (!self.one.is_empty(), vocabulary.one),
            (self.data_race, vocabulary.data_race),
            (self.overflow, vocabulary.overflow),
            (self.locks, vocabulary.locks),
            (self.memory_safety, vocabulary.memory_safety),
            (self.assertions, vocabulary.assertions),
            (self.property.is_some(), vocabulary.property),
            (self.no_spurious, vocabulary.no_spurious),
            (self.whole_statements, vocabulary.whole_statements),
            (self.volatile_atomic, vocabulary.volatile_atomic),
            (self.memory_model.is_some(), vocabulary.memory_model),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, name)| *name)
    }
}

/// A diagnostic with the text that it points into: the input, an option, or a file that an option
/// names.
#[derive(Clone, Debug)]
pub struct SourceDiagnostic {
    /// The text that the message points into.
    pub source: Arc<Source>,
    /// The message.
    pub diagnostic: Diagnostic,
}

/// A problem, and warnings about it.
pub struct PosedProblem {
    /// The problem.
    pub problem: Problem,
    /// Warnings about options and property files.
    pub warnings: Vec<SourceDiagnostic>,
    /// Properties that are not supported, and why; they get no answer.
    pub left_out: Vec<(String, String)>,
}

impl SourceDiagnostic {
    fn whole(source: &Arc<Source>, diagnostic: Diagnostic) -> SourceDiagnostic {
        SourceDiagnostic { source: source.clone(), diagnostic }
    }

    /// Returns an error that underlines the whole value of an option.
    pub fn about_option(
        name: &str,
        value: &str,
        code: &'static str,
        message: String,
        hint: Option<&str>,
    ) -> SourceDiagnostic {
        wrong(name, value, code, message, hint)
    }

    /// Creates a diagnostic about the value of an option.
    fn option(name: &str, value: &str, diagnostic: Diagnostic) -> SourceDiagnostic {
        SourceDiagnostic { source: Arc::new(Source::new(name, value)), diagnostic }
    }
}

/// Returns an error that underlines the whole value of an option.
fn wrong(
    name: &str,
    value: &str,
    code: &'static str,
    message: String,
    hint: Option<&str>,
) -> SourceDiagnostic {
    let mut diagnostic = Diagnostic::error(code, Span::new(0, value.len()), message);
    diagnostic.hint = hint.map(str::to_string);
    SourceDiagnostic::option(name, value, diagnostic)
}

impl Question {
    /// Returns the options for reading a program with this question: where it mentions values of
    /// threads' variables, none may be forgotten.
    pub fn reading(&self, reading: Reading) -> Reading {
        let condition = |text: &String| {
            property::never(text).is_ok_and(|p| p.together().is_some_and(Together::has_conditions))
        };
        let of_threads = !self.targets.is_empty() || self.never.iter().any(condition);
        Reading { exact_copies: reading.exact_copies || of_threads, ..reading }
    }

    /// Returns this question with the annotations of the input, in comments `//@ mutex L`:
    /// properties are added, initial configurations or a bound only where this question leaves them
    /// open.
    pub fn with_annotations(&self, loaded: &Loaded) -> Result<Question, Vec<SourceDiagnostic>> {
        let (mut question, mut diagnostics) = (self.clone(), Vec::new());
        let Input::Program(_) = loaded.input else { return Ok(question) };
        let (mut initial, mut threads) = (None, None);
        for Annotation { word, value } in annotations(&loaded.source.text) {
            let mut wrong = |part: &Part, message: String| {
                let hint = "a program can ask with `//@ mutex L`, `//@ at-most L=2`, `//@ never L & x, M`, `//@ race x`, `//@ deadlock`, `//@ stuck L`, `//@ starvation L`, `//@ error-label L`, \
                            `//@ invariant E`, `//@ target x=1 | L`, `//@ initial any` and `//@ threads 3`";
                let why = Diagnostic::error("E615", part.into(), message).hint(hint);
                diagnostics.push(SourceDiagnostic::whole(&loaded.source, why));
            };
            if word.text == "deadlock" {
                question.deadlock = true;
                if !value.text.is_empty() {
                    wrong(&value, "nothing follows `//@ deadlock`".into());
                }
                continue;
            }
            if value.text.is_empty() {
                wrong(&word, format!("`//@ {}` does not say what is asked", word.text));
                continue;
            }
            let list = match word.text.as_str() {
                "mutex" => &mut question.mutex,
                "at-most" => &mut question.at_most,
                "never" => &mut question.never,
                "race" => &mut question.races,
                "stuck" => &mut question.stuck,
                "starvation" => &mut question.starvation,
                "error-label" => &mut question.error_labels,
                "invariant" => &mut question.invariants,
                "target" => &mut question.targets,
                "initial" if initial.is_none() => {
                    initial = Some(value.text);
                    continue;
                }
                "threads" if threads.is_none() => {
                    match value.text.parse() {
                        Ok(n) => threads = Some(n),
                        Err(_) => wrong(&value, format!("`{}` is not a number of threads", value.text)),
                    }
                    continue;
                }
                "initial" | "threads" => {
                    wrong(&word, format!("`//@ {}` is said twice", word.text));
                    continue;
                }
                other => {
                    wrong(&word, format!("`//@ {other}` is not a question"));
                    continue;
                }
            };
            if !list.contains(&value.text) {
                list.push(value.text);
            }
        }
        question.initial = question.initial.or(initial);
        question.threads = question.threads.or(threads);
        if diagnostics.is_empty() { Ok(question) } else { Err(diagnostics) }
    }

    /// Returns the problem, or all errors in the question. `path` is the path of the input, which
    /// may have a property file of the same name beside it.
    pub fn pose(&self, loaded: &Loaded, path: &Path) -> Result<PosedProblem, Vec<SourceDiagnostic>> {
        let all = self.with_annotations(loaded)?;
        let complain = |list: Vec<SourceDiagnostic>| in_place(list, loaded, self.vocabulary);
        all.pose_all(loaded, path).map_err(complain)
    }

    fn pose_all(&self, loaded: &Loaded, path: &Path) -> Result<PosedProblem, Vec<SourceDiagnostic>> {
        let mut diagnostics = self.inapplicable(loaded);
        // Boolean programs have memory orders, too.
        let mut code = self.code.clone();
        if matches!(loaded.input, Input::Program(_)) {
            code.memory_model = None;
        }
        if let Some(option) = code.first(self.vocabulary) {
            diagnostics.push(self.only_for_code(option, &loaded.input));
        }
        if self.threads == Some(0) {
            let hint =
                Some("the bound counts all threads, initial ones included; without it, any number may run");
            let message = "a system without threads does nothing".to_string();
            diagnostics.push(wrong(self.vocabulary.threads, "0", "E604", message, hint));
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let (mut warnings, mut left_out) = (Vec::new(), Vec::new());
        let problem = match &loaded.input {
            Input::Program(program) => self.about_program(program, loaded, &mut warnings),
            Input::System(system) => self.about_system(system, loaded, path, &mut warnings, &mut left_out),
        }?;
        self.fits_bound(&problem, loaded, &mut warnings)?;
        Ok(PosedProblem { problem, warnings, left_out })
    }

    fn only_for_code(&self, option: &'static str, input: &Input) -> SourceDiagnostic {
        // Where one option asks both, with a variable and without.
        let message = match (input, option == self.vocabulary.race) {
            (Input::Program(_), true) => {
                format!("`{0}` needs a shared variable of the program: `{0} VAR`", self.vocabulary.race)
            }
            _ => format!("`{option}` is for C: files that end in .c or .i"),
        };
        wrong(option, option, "E602", message, None)
    }

    /// Reports options that do not apply to this kind of input.
    fn inapplicable(&self, loaded: &Loaded) -> Vec<SourceDiagnostic> {
        let first = |list: &[String]| list.first().cloned();
        let Vocabulary {
            target,
            prop,
            error_label,
            mutex,
            at_most,
            never,
            race,
            stuck,
            starvation,
            invariant,
            ..
        } = *self.vocabulary;
        let labels = || format!("labels are for programs; use {target} 's|l,l'");
        let given: Vec<(&str, Option<String>, String)> = match loaded.input {
            Input::Program(_) => vec![(
                prop,
                self.prop.as_ref().map(|p| p.display().to_string()),
                format!(
                    "a program's properties are its assertions; add {error_label}, {mutex} or {invariant}"
                ),
            )],
            Input::System(_) => vec![
                (error_label, first(&self.error_labels), labels()),
                (mutex, first(&self.mutex), labels()),
                (at_most, first(&self.at_most), labels()),
                (never, first(&self.never), labels()),
                (stuck, first(&self.stuck), labels()),
                (starvation, first(&self.starvation), labels()),
                (race, first(&self.races), format!("variables are for programs; use {target} 's|l,l'")),
                (
                    invariant,
                    first(&self.invariants),
                    format!("expressions are for programs; use {target} 's|'"),
                ),
            ],
        };
        given
            .into_iter()
            .filter_map(|(option, value, hint)| {
                let what = loaded.format.description();
                let message = format!("`{option}` does not apply: {} is {what}", loaded.source.name);
                Some(wrong(option, &value?, "E602", message, Some(&hint)))
            })
            .collect()
    }

    fn bound(&self, format: Format) -> Bound {
        match self.threads {
            None => Bound::Any,
            Some(n) if format.is_net() => Bound::Tokens(n),
            Some(n) => Bound::Threads(n),
        }
    }

    fn fits_bound(
        &self,
        problem: &Problem,
        loaded: &Loaded,
        warnings: &mut Vec<SourceDiagnostic>,
    ) -> Result<(), Vec<SourceDiagnostic>> {
        let Bound::Threads(bound) = problem.bound else { return Ok(()) };
        let sizes = problem.initial.iter().map(|i| i.threads.size());
        let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
        if least <= bound {
            if most > bound {
                let message = format!(
                    "an initial configuration has {most} threads, but only {bound} are allowed: it is left out"
                );
                let why = Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W605", message) };
                warnings.push(SourceDiagnostic::whole(&loaded.source, why));
            }
            return Ok(());
        }
        let message = format!("{least} threads exist at the start, but only {bound} are allowed");
        let hint = Some("the bound counts all threads, initial ones included");
        Err(vec![wrong(self.vocabulary.threads, &bound.to_string(), "E605", message, hint)])
    }

    fn about_program(
        &self,
        program: &Arc<Jit>,
        loaded: &Loaded,
        warnings: &mut Vec<SourceDiagnostic>,
    ) -> Result<Problem, Vec<SourceDiagnostic>> {
        let count = self.initial_threads(program).map_err(|c| vec![c])?;
        let targets = self.program_targets(program, loaded, warnings)?;
        let only_dead = self.initial.is_none() && count.is_some() && !program.traits().spawns;
        let initial_text = match count {
            Some(_) if only_dead => format!(
                "1 thread at the entry of main, because the program has `start_thread`, though control never gets there ({} any: any number)",
                self.vocabulary.initial
            ),
            None => "any number of threads at the entry of main".to_string(),
            Some(1) => "1 thread at the entry of main".to_string(),
            Some(n) => format!("{n} threads at the entry of main"),
        };
        Ok(Problem {
            initial: vec![program.initial(count)],
            initial_text,
            targets,
            bound: self.bound(loaded.format),
            model: program.clone(),
        })
    }

    /// Returns the number of threads with which a program starts; `None` is any number. The default
    /// is one if the program has `start_thread` anywhere: it starts its threads itself.
    fn initial_threads(&self, program: &Jit) -> Result<Option<u32>, SourceDiagnostic> {
        let Some(text) = &self.initial else {
            return Ok(program.tree().starts_threads().then_some(1));
        };
        match text.trim() {
            "any" => Ok(None),
            word => match word.parse::<u32>() {
                Ok(n) if n > 0 && n < u32::MAX => Ok(Some(n)),
                _ => {
                    let message = format!("`{word}` is not a number of initial threads");
                    let initial = self.vocabulary.initial;
                    let hint =
                        format!("programs start with `{initial} K`, K being 1 or more, or `{initial} any`");
                    Err(wrong(initial, text, "E603", message, Some(&hint)))
                }
            },
        }
    }

    /// Returns the assertions and the other targets of a program. A program that cannot reach an
    /// assertion is safe, but gets a warning.
    fn program_targets(
        &self,
        program: &Jit,
        loaded: &Loaded,
        warnings: &mut Vec<SourceDiagnostic>,
    ) -> Result<Vec<Target>, Vec<SourceDiagnostic>> {
        let mut targets: Vec<Target> = program.assertions().into_iter().collect();
        let mut diagnostics = Vec::new();
        let mut at_label = |option: &str, label: &str, found: Result<Target, String>| match found {
            Ok(target) => {
                if target.configs.is_empty() {
                    warnings.push(SourceDiagnostic::whole(&loaded.source, unreachable(label)));
                }
                targets.push(target);
            }
            Err(why) => diagnostics.push(wrong(option, label, "E606", why, None)),
        };
        for label in &self.error_labels {
            at_label(self.vocabulary.error_label, label, program.error_label(label));
        }
        type Reader = fn(&str) -> Result<Property, Diagnostic>;
        let names = self.vocabulary;
        let together: [(&str, &[String], Reader); 5] = [
            (names.mutex, &self.mutex, property::mutex),
            (names.at_most, &self.at_most, property::at_most),
            (names.never, &self.never, property::never),
            (names.stuck, &self.stuck, property::stuck),
            (names.starvation, &self.starvation, property::starvation),
        ];
        for (option, texts, read) in together {
            for text in texts {
                match read(text).and_then(|asked| program.together(asked)) {
                    Ok(target) => {
                        if target.configs.is_empty() {
                            warnings.push(SourceDiagnostic::whole(&loaded.source, impossible(&target.name)));
                        }
                        targets.push(target);
                    }
                    Err(why) => diagnostics.push(SourceDiagnostic::option(option, text, why)),
                }
            }
        }
        for name in &self.races {
            match program.race(name.trim()) {
                Ok(target) => targets.push(target),
                Err(why) => diagnostics.push(SourceDiagnostic::option(names.race, name, why)),
            }
        }
        for text in &self.invariants {
            match program.invariant_text(text) {
                Ok(target) => targets.push(target),
                Err(why) => diagnostics.push(SourceDiagnostic::option(self.vocabulary.invariant, text, why)),
            }
        }
        for text in &self.targets {
            match program.thread_states(text) {
                Ok(target) => targets.push(target),
                Err(why) => diagnostics.push(SourceDiagnostic::option(self.vocabulary.target, text, why)),
            }
        }
        targets.extend(self.deadlock.then(Target::deadlock));
        if targets.is_empty() && diagnostics.is_empty() {
            // Races are looked for beside memory orders, unless the question excludes it.
            let sequential = self.code.memory_model == Some(MemoryModel::Sequential);
            let races = !program.tree().orders.is_empty() && !sequential;
            if !self.may_lack_target && !races {
                warnings.push(SourceDiagnostic::whole(&loaded.source, nothing_asserted(self.vocabulary)));
            }
            targets.push(Target::of(Property::Assertions, Vec::new()));
        }
        if diagnostics.is_empty() { Ok(targets) } else { Err(diagnostics) }
    }

    fn about_system(
        &self,
        system: &System,
        loaded: &Loaded,
        path: &Path,
        warnings: &mut Vec<SourceDiagnostic>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<Problem, Vec<SourceDiagnostic>> {
        let (initial, initial_text) = self.system_initial(system).map_err(|c| vec![c])?;
        let targets = self.system_targets(system, loaded, path, warnings, left_out)?;
        Ok(Problem {
            initial,
            initial_text,
            targets,
            bound: self.bound(loaded.format),
            model: system.table.clone(),
        })
    }

    fn system_initial(&self, system: &System) -> Result<(Vec<Initial>, String), SourceDiagnostic> {
        let Some(text) = &self.initial else {
            return Ok((system.initial.clone(), system.initial_text.clone()));
        };
        let (shared, locals) = (system.table.shared(), system.table.locals());
        match parse_config(text, shared, locals) {
            Ok(mut initial) => match system.complete(&mut initial) {
                Ok(()) => {
                    let canonical = notation(&initial, shared, locals);
                    Ok((vec![initial], canonical))
                }
                Err(why) => Err(wrong(self.vocabulary.initial, text, "E651", why, None)),
            },
            Err(why) => Err(SourceDiagnostic::option(self.vocabulary.initial, text, why)),
        }
    }

    /// Returns the property file that [`Question::pose`] reads, if it reads one: the given one,
    /// else the one beside the input at `path`.
    pub fn property_file(&self, loaded: &Loaded, path: &Path) -> Option<PathBuf> {
        let Input::System(_) = loaded.input else { return None };
        self.prop.clone().or_else(|| {
            let found = beside(loaded, path);
            let looks = self.targets.is_empty() && loaded.format != Format::Spec && found.is_file();
            looks.then_some(found)
        })
    }

    /// Returns the targets of the question, or else of the property file beside the input, or else
    /// of the input itself.
    fn system_targets(
        &self,
        system: &System,
        loaded: &Loaded,
        path: &Path,
        warnings: &mut Vec<SourceDiagnostic>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<Vec<Target>, Vec<SourceDiagnostic>> {
        let mut diagnostics = Vec::new();
        let mut targets = Vec::new();
        for text in &self.targets {
            match parse_target(text, system.table.shared(), system.table.locals()) {
                Ok(target) => targets.push(target),
                Err(why) => diagnostics.push(SourceDiagnostic::option(self.vocabulary.target, text, why)),
            }
        }
        let (beside, file) = (beside(loaded, path), self.property_file(loaded, path));
        if self.prop.is_none() && file.is_some() && !system.targets.is_empty() {
            let message =
                format!("the targets of this file are not asked for: {} has others", beside.display());
            let why = Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W609", message) };
            warnings.push(SourceDiagnostic::whole(&loaded.source, why));
        }
        if let Some(file) = &file {
            match read_properties(file, system, loaded.format, left_out) {
                Ok((found, odd)) => {
                    targets.extend(found);
                    warnings.extend(odd);
                }
                Err(found) => diagnostics.extend(found),
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        if targets.is_empty() {
            targets = system.targets.clone();
        }
        targets.extend(self.deadlock.then(Target::deadlock));
        if targets.is_empty() && !self.may_lack_target {
            let message = match loaded.format {
                Format::Spec => "there is nothing to check: no target is given".to_string(),
                _ => format!(
                    "there is nothing to check: no target is given, and there is no {}",
                    beside.display()
                ),
            };
            let hint =
                format!("ask with {} 's|l,l' or {} FILE", self.vocabulary.target, self.vocabulary.prop);
            let why = Diagnostic::whole("E601", message).hint(hint);
            return Err(vec![SourceDiagnostic::whole(&loaded.source, why)]);
        }
        Ok(targets)
    }
}

/// Returns the path of a property file with the input's name.
fn beside(loaded: &Loaded, path: &Path) -> PathBuf {
    path.with_extension(if loaded.format == Format::Pnml { "xml" } else { "prop" })
}

fn nothing_asserted(names: &Vocabulary) -> Diagnostic {
    let message = "there is nothing to check: control reaches no assertion in this program";
    Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W601", message) }.hint(format!(
        "ask with {} LABEL, {} LABEL, {} EXPR or {}",
        names.error_label, names.mutex, names.invariant, names.deadlock
    ))
}

/// Lets errors about annotations point into the input.
fn in_place(list: Vec<SourceDiagnostic>, loaded: &Loaded, names: &Vocabulary) -> Vec<SourceDiagnostic> {
    let asked = annotations(&loaded.source.text);
    let option = |a: &Annotation| match a.word.text.as_str() {
        "mutex" => names.mutex,
        "at-most" => names.at_most,
        "never" => names.never,
        "race" => names.race,
        "error-label" => names.error_label,
        "invariant" => names.invariant,
        "target" => names.target,
        "initial" => names.initial,
        "threads" => names.threads,
        _ => "",
    };
    let moved = |about: SourceDiagnostic| {
        let SourceDiagnostic { source, diagnostic } = about;
        match asked.iter().find(|a| source.name == option(a) && a.value.text == source.text) {
            Some(a) => SourceDiagnostic::whole(&loaded.source, diagnostic.moved(a.value.start as u32)),
            None => SourceDiagnostic { source, diagnostic },
        }
    };
    list.into_iter().map(moved).collect()
}

fn impossible(name: &str) -> Diagnostic {
    let message = format!("`{name}` can only be violated in code that control cannot reach");
    Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W610", message) }
}

fn unreachable(label: &str) -> Diagnostic {
    let message = format!("label `{label}` is only in code that control cannot reach");
    Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W610", message) }
}

/// Reads the targets of a property file, and returns warnings about it.
fn read_properties(
    file: &Path,
    system: &System,
    format: Format,
    left_out: &mut Vec<(String, String)>,
) -> Result<(Vec<Target>, Vec<SourceDiagnostic>), Vec<SourceDiagnostic>> {
    let source = match read_source(file) {
        Ok(source) => Arc::new(source),
        Err(rejected) => {
            let why = rejected.diagnostics.into_iter();
            return Err(why
                .map(|diagnostic| SourceDiagnostic::whole(&rejected.source, diagnostic))
                .collect());
        }
    };
    let (targets, found) = if source.text.trim_start().starts_with('<') {
        contest_properties(&source.text, system, format, left_out)
    } else {
        read_prop(&source.text, system.table.shared(), system.table.locals())
    };
    let refused = found.iter().any(Diagnostic::is_error);
    let mut diagnostics: Vec<SourceDiagnostic> =
        found.into_iter().map(|d| SourceDiagnostic::whole(&source, d)).collect();
    if targets.is_empty() && !refused {
        let why = Diagnostic::whole("E607", "this property file names no target that can be checked")
            .hint("write one target `s|l,l` per line");
        diagnostics.push(SourceDiagnostic::whole(&source, why));
        return Err(diagnostics);
    }
    if refused { Err(diagnostics) } else { Ok((targets, diagnostics)) }
}

/// Reads the targets of a property file of the model-checking contest; formulas that are not about
/// reachability are omitted with a warning.
fn contest_properties(
    text: &str,
    system: &System,
    format: Format,
    left_out: &mut Vec<(String, String)>,
) -> (Vec<Target>, Vec<Diagnostic>) {
    if !format.is_net() {
        let message = "property files of the model-checking contest are about Petri nets";
        let why = Diagnostic::whole("E610", message).hint("write one target `s|l,l` per line");
        return (Vec::new(), vec![why]);
    }
    let properties = match pnml::read_properties(text, &system.table) {
        Ok(properties) => properties,
        Err(why) => return (Vec::new(), vec![why]),
    };
    let (mut targets, mut found) = (Vec::new(), Vec::new());
    for property in properties {
        match property.target {
            Ok(target) => targets.push(target),
            Err(why) => {
                let message = format!("property `{}` is left out: {why}", property.id);
                left_out.push((property.id, why));
                found.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::whole("W608", message) });
            }
        }
    }
    (targets, found)
}
