//! Petri nets in XML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_dev::reader_contract::Reader;
use throng_lang::load::Format;

fuzz_target!(|bytes: &[u8]| {
    Reader::Input(Format::Pnml).probe(bytes);
});
