//! The trusted base: certificates, the rules that check evidence, and an interpreter of programs
//! that shares nothing with the engines' model.
//!
//! [`rules`] decide whether evidence proves a verdict about a
//! [`Problem`](throng_model::problem::Problem). [`certificate`] is the file format of evidence;
//! [`certify`] checks such a file against the original input. None of this calls an engine.

pub mod certificate;
pub mod certify;
mod checked;
pub mod rules;

pub use checked::Checked;
