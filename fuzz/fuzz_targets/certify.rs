//! Any bytes as a certificate, of a few inputs that are always the same, or of one that is in the
//! bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_dev::reader_contract::probe_certificate;

fuzz_target!(|bytes: &[u8]| {
    probe_certificate(bytes);
});
