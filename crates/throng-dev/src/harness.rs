//! What integration tests share. Each uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod certificates;
pub mod command;
pub mod duality;
pub mod editor;
pub mod inputs;
pub mod large;
pub mod manifest;
pub mod model;

pub use crate::interpreter as naive;
pub use command::{Scratch, example, has_compiler, program, run, said, test_file, throng};
pub use manifest::{Row, manifest, own_corpus, pose, public_corpus, try_pose};
