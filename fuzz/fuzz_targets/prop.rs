//! Property files of thread-transition systems, `--initial` and `--target`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_dev::reader_contract::Reader;

fuzz_target!(|bytes: &[u8]| {
    Reader::Prop.probe(bytes);
});
