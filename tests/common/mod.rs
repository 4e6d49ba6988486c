//! What integration tests share.

pub mod duality;
pub mod naive;
