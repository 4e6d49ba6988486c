//! What integration tests share. Each uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod certificates;
pub mod duality;
pub mod manifest;
pub mod model;

pub use manifest::{Row, corpus, manifest, pose, try_pose};
pub use throng::testing::interpreter as naive;
