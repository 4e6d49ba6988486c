//! What the readers owe to any text at all: an answer or a reason, never a panic.
//!
//! Fuzz targets (`fuzz/`) and the cheap fuzzing of `cargo test` both call these. A broken promise
//! is a panic, which is what a fuzzer looks for.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use throng::report::story::describe_run;
use throng_check::certificate::Document;
use throng_check::certify;
use throng_check::rules::check;
use throng_engine::explicit::Explicit;
use throng_engine::{Algorithm, Silent};
use throng_lang::bp::{parser, printer, spans};
use throng_lang::load::{Format, Input, Loaded, Reading, decode, read};
use throng_lang::question::{Question, SourceDiagnostic};
use throng_lang::source::{Diagnostic, Severity, Source, render};
use throng_lang::system::System;
use throng_lang::write::{self, write};
use throng_lang::{configuration, pnml};
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::table::Names;
use throng_model::unfold::unfold;
use throng_model::verdict::Verdict;

/// Everything that reads text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// A reader of inputs.
    Input(Format),
    /// Property files of thread-transition systems, and the notation of `--initial` and `--target`.
    Prop,
    /// Property files of the model-checking contest.
    Mcc,
}

impl Reader {
    /// All of them.
    pub const ALL: [Reader; 7] = [
        Reader::Input(Format::Bp),
        Reader::Input(Format::Tts),
        Reader::Input(Format::Ntts),
        Reader::Input(Format::Spec),
        Reader::Input(Format::Pnml),
        Reader::Prop,
        Reader::Mcc,
    ];

    /// Reads any bytes; whether they were accepted.
    ///
    /// # Panics
    ///
    /// If the reader breaks a promise: a diagnostic points outside the text or cannot be shown,
    /// something is refused without an error, or a printed program reads differently.
    pub fn probe(self, bytes: &[u8]) -> bool {
        let source = match decode("fuzz", bytes.to_vec()) {
            Ok(source) => source,
            Err(rejected) => {
                judge(&rejected.source, &rejected.diagnostics, true);
                return false;
            }
        };
        match self {
            Reader::Input(format) => probe_input(source, format),
            Reader::Prop => probe_prop(&source),
            Reader::Mcc => probe_mcc(&source),
        }
    }
}

/// Every diagnostic points into the text and can be shown; what was refused was refused for an
/// error.
fn judge(source: &Source, diagnostics: &[Diagnostic], refused: bool) {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    assert_eq!(errors > 0, refused, "refused without an error, or accepted with one: {diagnostics:?}");
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        if let Some(span) = diagnostic.span {
            let inside = span.start <= span.end && source.text.get(span.range()).is_some();
            assert!(inside, "not a passage of the text: {diagnostic:?}");
        }
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        let long = diagnostic.message.len() + diagnostic.label.len();
        assert!(long < 2_000, "too long to read: {diagnostic:?}");
        // A reader may have found thousands; they all go the same way, and showing one costs more
        // than reading. So for every other text only.
        if i < 2 && source.text.len().is_multiple_of(2) {
            let shown = render(diagnostic, source, i % 2 == 1);
            assert!(shown.contains(diagnostic.code), "{shown}");
        }
    }
}

fn probe_input(source: Source, format: Format) -> bool {
    let copy = source.clone();
    match read(source, format, &Reading::default()) {
        Ok(loaded) => {
            judge(&copy, &loaded.warnings, false);
            if format == Format::Bp {
                printing_is_faithful(&copy.text);
            }
            true
        }
        Err(rejected) => {
            judge(&copy, &rejected.diagnostics, true);
            false
        }
    }
}

/// Printing a program and reading it again gives the same tree.
fn printing_is_faithful(text: &str) {
    let (mut once, _) = parser::parse(text);
    let printed = printer::print(&once);
    let (mut again, diagnostics) = parser::parse(&printed);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{printed}\n{diagnostics:?}");
    spans::strip_spans(&mut once);
    spans::strip_spans(&mut again);
    assert!(once == again, "what was printed reads differently:\n{printed}");
}

fn probe_prop(source: &Source) -> bool {
    let named = |names: &[&str]| Names::List(names.iter().map(|n| n.to_string()).collect());
    let tables = [
        (Names::Numbers(3), Names::Numbers(4)),
        (named(&["free", "held"]), named(&["out", "trying", "in"])),
        (Names::Numbers(1), named(&["x", "y"])),
    ];
    let mut accepted = false;
    for (shared, locals) in tables {
        let (targets, found) = configuration::read_prop(&source.text, &shared, &locals);
        let refused = found.iter().any(Diagnostic::is_error);
        judge(source, &found, refused);
        accepted |= !refused && !targets.is_empty();
        for line in source.text.lines().take(2) {
            let line = Source::new("--target", line);
            let target = configuration::parse_target(&line.text, &shared, &locals).err();
            let initial = configuration::parse_config(&line.text, &shared, &locals).err();
            target.into_iter().chain(initial).for_each(|why| judge(&line, &[why], true));
        }
    }
    accepted
}

/// A net for properties to speak of.
const NET: &str = "<pnml><net id='n' type='ptnet'><page id='g'>\
    <place id='p'><initialMarking><text>2</text></initialMarking></place><place id='q'/>\
    <transition id='t'/><transition id='u'/>\
    <arc id='a' source='p' target='t'/><arc id='b' source='t' target='q'/>\
    <arc id='c' source='q' target='u'><inscription><text>2</text></inscription></arc></page></net></pnml>";

fn probe_mcc(source: &Source) -> bool {
    static SYSTEM: LazyLock<System> = LazyLock::new(|| pnml::read(NET).0.expect("the net is correct"));
    match pnml::read_properties(&source.text, &SYSTEM.table) {
        Ok(properties) => properties.iter().any(|p| p.target.is_ok()),
        Err(why) => {
            judge(source, &[why], true);
            false
        }
    }
}

/// Reads any bytes as an input, poses the question that it asks, searches a little and renders what
/// was found; writes it in every format and reads that again. Whether it came that far.
///
/// # Panics
///
/// If a promise is broken: see [`Reader::probe`]; and if evidence has a flaw, or what was written
/// cannot be read.
pub fn probe_command(bytes: &[u8], format: Format) -> bool {
    let Ok(source) = decode("fuzz", bytes.to_vec()) else { return false };
    let Ok(loaded) = read(source, format, &Reading::default()) else { return false };
    let mut posed = false;
    for threads in [None, Some(2)] {
        let question = Question { threads, ..Question::default() };
        match question.pose(&loaded, Path::new("no such folder/fuzz")) {
            Ok(found) => {
                judge_all(&found.warnings, false);
                posed = true;
                probe_problem(&found.problem);
                if threads.is_none() {
                    probe_translation(&loaded, &found.problem);
                }
            }
            Err(diagnostics) => judge_all(&diagnostics, true),
        }
    }
    posed
}

fn judge_all(diagnostics: &[SourceDiagnostic], refused: bool) {
    assert!(!refused || diagnostics.iter().any(|c| c.diagnostic.is_error()), "{diagnostics:?}");
    for c in diagnostics {
        judge(&c.source, std::slice::from_ref(&c.diagnostic), c.diagnostic.severity == Severity::Error);
    }
}

/// A system, a net and a program for certificates to speak of.
const CERTIFIED: [(Format, &str); 3] = [
    (Format::Tts, "2 3\n0 0 -> 1 1\n1 1 -> 0 2 0 ~> 1\n0 2 +> 0 0\n"),
    (Format::Spec, "vars a b\nrules\na >= 1 -> a' = a-1, b' = b+1;\ninit a >= 1, b = 0\ntarget b >= 2\n"),
    (
        Format::Bp,
        "decl g := 0; void f() begin decl x; x := g; end void main() begin decl y; start_thread f(); \
         g := 1 constrain !g; L: assert y | g; atomic { g := 0; } wait; end",
    ),
];

/// Separator between an input and its certificate.
const DIVIDER: &[u8] = b"\n%%\n";

/// Any bytes as a certificate: of three small inputs, or, with a line `%%` in them, of the input
/// before that line, whose format the first byte names as for [`probe_command`]. Whether it is
/// valid for any of them.
///
/// # Panics
///
/// If the checker breaks a promise: it is either convinced or says why not.
pub fn probe_certificate(bytes: &[u8]) -> bool {
    let Some(at) = bytes.windows(DIVIDER.len()).position(|w| w == DIVIDER) else {
        let Ok(document) = certify::read(bytes) else { return false };
        let judge =
            |(format, text): (Format, &str)| certificate_stands(&document, format, Source::new("fuzz", text));
        return CERTIFIED.map(judge).contains(&true);
    };
    let (input, certificate) = (&bytes[..at], &bytes[at + DIVIDER.len()..]);
    let (Some((format, text)), Ok(document)) = (named_format(input), certify::read(certificate)) else {
        return false;
    };
    decode("fuzz", text.to_vec()).is_ok_and(|source| certificate_stands(&document, format, source))
}

fn certificate_stands(document: &Document, format: Format, source: Source) -> bool {
    let Ok(loaded) = read(source, format, &certify::reading(document, Some(format))) else { return false };
    let limits = Limits::none().timeout(Duration::from_millis(100));
    match certify::certify(&certify::Asked::Own(&loaded), document, &limits) {
        Ok(_) => true,
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            false
        }
    }
}

/// The format that the first byte names (`b`, `t`, `n`, `s`, `p`), and the rest.
pub fn named_format(bytes: &[u8]) -> Option<(Format, &[u8])> {
    let (first, text) = bytes.split_first()?;
    let format = match first {
        b'b' => Format::Bp,
        b't' => Format::Tts,
        b'n' => Format::Ntts,
        b's' => Format::Spec,
        b'p' => Format::Pnml,
        _ => return None,
    };
    Some((format, text))
}

/// A short search; every piece of evidence is checked and rendered.
fn probe_problem(problem: &Problem) {
    let limits = Limits::none().timeout(Duration::from_millis(30));
    let engine = Explicit { max_threads: Some(3), ..Explicit::default() };
    let answer = engine.run(problem, &limits, &Silent);
    assert_eq!(answer.verdicts.len(), problem.targets.len());
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts).take(3) {
        if let Err(flaw) = check(problem, target, verdict) {
            panic!("{}: {flaw}", target.name);
        }
        let Verdict::Unsafe(trace) = verdict else { continue };
        let concrete = concretise(&*problem.model, target, trace, problem.bound.threads());
        assert!(concrete.is_some() || trace.start.threads.size() > 1_000, "values can be chosen");
        let _ = describe_run(problem, target, trace);
    }
}

/// Writes the problem in every format; each is refused, or can be read.
fn probe_translation(loaded: &Loaded, problem: &Problem) {
    let limits = Limits::none().timeout(Duration::from_millis(30));
    let system = match &loaded.input {
        Input::Program(_) => match unfold(problem, &limits) {
            Ok(unfolded) => System::from(unfolded),
            Err(_) => return,
        },
        Input::System(system) => System {
            initial: problem.initial.clone(),
            initial_text: problem.initial_text.clone(),
            targets: problem.targets.clone(),
            ..system.clone()
        },
    };
    if system.table.steps().len() > 200 {
        return;
    }
    let formats = [
        (write::Format::Bp, Some(Format::Bp)),
        (write::Format::Tts, Some(Format::Tts)),
        (write::Format::Ntts, Some(Format::Ntts)),
        (write::Format::Spec, Some(Format::Spec)),
        (write::Format::Pnml, Some(Format::Pnml)),
        (write::Format::Dot, None),
    ];
    for (to, back) in formats {
        match (write(&system, to), back) {
            (Ok(written), Some(format)) if written.text.len() < 100_000 => {
                let again = read(Source::new("written", written.text.clone()), format, &Reading::default());
                if let Err(rejected) = again {
                    panic!("{:?}\n{}", rejected.diagnostics, written.text);
                }
            }
            (Ok(_), _) => {}
            (Err(why), _) => assert!(!why.0.is_empty()),
        }
    }
}
