//! What tests of several modules share: the laws of a model, generators with known answers.

pub mod programs;

/// The laws of [`crate::model`].
pub fn laws() {}
