//! Input languages: every reader turns text into a model, or into diagnostics that say why not.

pub mod bp;
pub mod configuration;
pub mod load;
pub mod machine;
pub mod mutant;
pub mod ntts;
pub mod patience;
pub mod pnml;
pub mod property;
pub mod question;
pub mod similar;
pub mod source;
pub mod spec;
pub mod system;
pub mod tts;
pub mod vocabulary;
pub mod write;
pub(crate) mod xml;
