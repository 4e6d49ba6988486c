//! Says whether the public corpus is there, so that the tests that need it are reported as ignored
//! where it is not.

use std::env;
use std::path::PathBuf;

fn main() {
    let beside = || {
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo")).join("../../../shared/corpus")
    };
    let manifest = env::var_os("THRONG_CORPUS").map_or_else(beside, PathBuf::from).join("MANIFEST.csv");
    println!("cargo::rerun-if-env-changed=THRONG_CORPUS");
    println!("cargo::rustc-check-cfg=cfg(public_corpus)");
    // Cargo takes a file that is missing for one that changes all the time, and would compile this
    // crate and those that use it in every call. So a corpus that comes later is found when
    // THRONG_CORPUS names it, or this file is touched.
    println!("cargo::rerun-if-changed=build.rs");
    if manifest.is_file() {
        println!("cargo::rerun-if-changed={}", manifest.display());
        println!("cargo::rustc-cfg=public_corpus");
    }
}
