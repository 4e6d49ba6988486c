//! Everything from the text to the answer: reads, poses the question, searches a little,
//! translates. The first byte names the format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_dev::reader_contract::{named_format, probe_command};

fuzz_target!(|bytes: &[u8]| {
    if let Some((format, text)) = named_format(bytes) {
        probe_command(text, format);
    }
});
