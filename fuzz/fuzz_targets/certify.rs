//! Any bytes as a certificate, for a small system, a net, and a program.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use throng::certify::{certify, read, reading};
use throng::lang::load::{self, Format};
use throng::lang::source::Source;
use throng::limits::Limits;

const INPUTS: [(Format, &str); 3] = [
    (Format::Tts, "2 3\n0 0 -> 1 1\n1 1 -> 0 2 0 ~> 1\n0 2 +> 0 0\n"),
    (Format::Spec, "vars a b\nrules\na >= 1 -> a' = a-1, b' = b+1;\ninit a >= 1, b = 0\ntarget b >= 2\n"),
    (
        Format::Bp,
        "decl g := 0; void f() begin decl x; x := g; end void main() begin decl y; start_thread f(); \
         g := 1 constrain !g; L: assert y | g; atomic { g := 0; } wait; end",
    ),
];

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = read(bytes) else { return };
    for (format, text) in INPUTS {
        let reading = reading(&document, Some(format));
        let Ok(loaded) = load::read(Source::new("fuzz", text), format, &reading) else { return };
        let _ = certify(&loaded, &document, &Limits::none().timeout(Duration::from_secs(5)));
    }
});
