//! Property files of the model-checking contest.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_dev::reader_contract::Reader;

fuzz_target!(|bytes: &[u8]| {
    Reader::Mcc.probe(bytes);
});
