//! LLVM IR: it is read or refused, and what was read can be executed and printed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_goto::run::Run;
use throng_goto::{Question, dot};
use throng_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if let Ok(loaded) = throng_llvm::read(vec![Source::new("a.ll", text)], &Question::default()) {
        let (program, mut n) = (&loaded.query.program, bytes.len());
        Run::random(program, 30, |choices| {
            n = n.wrapping_mul(31).wrapping_add(7);
            n % choices
        });
        assert!(!program.print().is_empty());
        assert!(dot::dot(program).starts_with("digraph"));
    }
});
