//! Everything from the text to the answer: reads, poses the question, searches a little, translates. The first byte names the format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng::lang::load::Format;
use throng::testing::probe::probe_command;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let format = match first {
        b'b' => Format::Bp,
        b't' => Format::Tts,
        b'n' => Format::Ntts,
        b's' => Format::Spec,
        b'p' => Format::Pnml,
        _ => return,
    };
    probe_command(text, format);
});
