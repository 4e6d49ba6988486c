//! C that was preprocessed already: it is read or refused, and what was read can be executed and
//! printed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_c::interpreter::Interpreter;
use throng_c::{Options, read};
use throng_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let options = Options::default();
    if let Ok(loaded) = read(Source::new("a.i", text.clone()), text, &options) {
        let mut n = bytes.len();
        Interpreter::new(&loaded.program).run(30, |choices| {
            n = n.wrapping_mul(31).wrapping_add(7);
            n % choices
        });
        assert!(!loaded.program.print().is_empty());
        assert!(throng_c::dot::dot(&loaded.program).starts_with("digraph"));
    }
});
