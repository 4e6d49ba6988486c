//! What tests of several modules share: the laws of a model, generators with known answers.

/// The laws of [`crate::model`].
pub fn laws() {}
