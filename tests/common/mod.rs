//! What integration tests share. Each uses a part of it.
#![allow(dead_code)]

pub mod duality;
pub mod model;
pub mod naive;
