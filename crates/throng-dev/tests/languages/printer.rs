//! Programs of both corpora, parsed and printed: what is printed is read as the same program.

use std::fs;
use std::path::Path;

use throng_dev::harness::inputs::{extension, files};
use throng_dev::harness::{own_corpus, public_corpus};
use throng_lang::bp::ast::Program;
use throng_lang::bp::parser::parse;
use throng_lang::bp::printer::print;
use throng_lang::bp::spans::strip_spans;
use throng_lang::source::Diagnostic;

fn parsed(text: &str) -> (Program, Vec<Diagnostic>) {
    let (mut program, diagnostics) = parse(text);
    strip_spans(&mut program);
    (program, diagnostics)
}

/// How many programs were read and printed.
fn round_trips(corpus: &Path) -> usize {
    let mut programs = Vec::new();
    files(corpus, &mut programs);
    programs.retain(|path| ["bp", "nbp"].contains(&extension(path)));
    for path in &programs {
        let bytes = fs::read(path).expect("readable");
        let (first, diagnostics) = parsed(&String::from_utf8_lossy(&bytes));
        assert!(!diagnostics.iter().any(Diagnostic::is_error), "{}: {diagnostics:#?}", path.display());
        let printed = print(&first);
        let (second, diagnostics) = parsed(&printed);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:#?}\n{printed}", path.display());
        assert_eq!(first, second, "{}\n{printed}", path.display());
    }
    programs.len()
}

#[test]
fn own_programs_are_read_and_written_faithfully() {
    assert!(round_trips(&own_corpus()) >= 8);
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn public_programs_are_read_and_written_faithfully() {
    assert!(round_trips(&public_corpus()) > 250);
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn the_nastiest_public_programs_are_read_without_a_message() {
    let boppo = "p-peterson n-conc n-conc2 Function1 Return2 Enforce1 Deep1 Initialization2 Local_Variables1 Simple2 Threads3 Threads6 \
                 Constrain4 Taken1";
    let files = boppo.split_whitespace().map(|name| format!("bp/boppo/{name}.bp"));
    let mut read = 0;
    for file in files.chain(["bp/satabs/17_QRCU-4/satabs.28.bp".into()]) {
        // Some may not be redistributed, and so are not in the corpus.
        let Ok(bytes) = fs::read(public_corpus().join(&file)) else { continue };
        let (_, diagnostics) = parse(&String::from_utf8_lossy(&bytes));
        assert!(diagnostics.is_empty(), "{file}: {diagnostics:#?}");
        read += 1;
    }
    assert!(read > 0);
}
