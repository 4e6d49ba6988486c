//! Parses preprocessed C files and says how long that takes:
//! `cargo run --release -p throng-c --example parse -- a.i b.i`
#![allow(clippy::print_stdout)]

use std::time::Instant;

use throng_c::syntax::parse;
use throng_lang::source::Source;

fn main() -> std::io::Result<()> {
    let (mut lines, mut seconds, mut refused) = (0, 0.0, 0);
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        lines += text.lines().count();
        let begun = Instant::now();
        let parsed = parse(&text, 0..text.len());
        seconds += begun.elapsed().as_secs_f64();
        let Err(errors) = parsed else { continue };
        refused += 1;
        let source = Source::new(path, text);
        for e in errors {
            let (line, column) = source.position(e.span.start);
            let label = e.label.map(|l| format!(": {l}")).unwrap_or_default();
            let hint = e.hint.map(|h| format!(" ({h})")).unwrap_or_default();
            println!("{}:{line}:{column}: {}{label}{hint}", source.name, e.message);
        }
    }
    println!("{lines} lines in {seconds:.3} s, {:.0} lines per minute", lines as f64 / seconds * 60.0);
    println!("{refused} files refused");
    Ok(())
}
