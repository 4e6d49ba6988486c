//! Parses preprocessed C and says how long that took: `parse FILE.i …`
//!
//! Errors are printed as `FILE:LINE: message`; a file that is refused makes the status 1.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use throng_c::syntax::{self, SyntaxError};

fn main() -> ExitCode {
    let (mut lines, mut time, mut refused) = (0, Duration::ZERO, false);
    for file in std::env::args().skip(1) {
        let text = match std::fs::read(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(why) => {
                eprintln!("{file}: {why}");
                return ExitCode::from(2);
            }
        };
        let begun = Instant::now();
        let parsed = syntax::parse(&text, 0..text.len());
        time += begun.elapsed();
        lines += text.lines().count();
        for error in parsed.err().into_iter().flatten() {
            refused = true;
            println!("{}", shown(&file, &text, &error));
        }
    }
    let minutes = time.as_secs_f64().max(1e-9) / 60.0;
    println!("{lines} lines in {time:.1?}: {:.1} million lines per minute", lines as f64 / minutes / 1e6);
    ExitCode::from(u8::from(refused))
}

fn shown(file: &str, text: &str, error: &SyntaxError) -> String {
    let line = text[..error.span.start].matches('\n').count() + 1;
    let label = error.label.iter().map(|label| format!(": {label}"));
    let hint = error.hint.iter().map(|hint| format!("; {hint}"));
    format!("{file}:{line}: {}{}", error.message, label.chain(hint).collect::<String>())
}
