//! What integration tests share.

pub mod naive;
