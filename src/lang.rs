//! Input languages: every reader turns text into a model, or into diagnostics that say why not.

pub mod bp;
pub mod source;
