//! What integration tests share. Each uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod certificates;
pub mod duality;
pub mod inputs;
pub mod manifest;
pub mod model;

pub use crate::interpreter as naive;
pub use manifest::{Row, corpus, manifest, pose, try_pose};

/// The built program, beside the test binary that runs.
pub fn program() -> std::path::PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.join(format!("throng{}", std::env::consts::EXE_SUFFIX))
}
