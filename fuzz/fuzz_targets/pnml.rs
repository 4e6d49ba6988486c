//! Petri nets in XML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng::lang::load::Format;
use throng::testing::probe::Reader;

fuzz_target!(|bytes: &[u8]| {
    Reader::Input(Format::Pnml).probe(bytes);
});
