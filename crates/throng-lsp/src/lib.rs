//! A language server: diagnostics while typing, declarations and uses of names, and verdicts in the
//! editor.
//!
//! ```text
//! stdin ─ transport ─► server ─► document (names, entries, position, format)      answers at once
//!                         └────► verdict, on a thread of its own         answers when it is known, or cancelled
//! ```
//!
//! The server speaks the Language Server Protocol 3.17. Texts are read again after every change,
//! and of a burst of changes only the last is read. Checks run in the background: a check shows
//! progress, ends when the request is cancelled or the text changes, and keeps its outcome for the
//! same text and question.

mod asked;
mod document;
mod entries;
mod format;
mod names;
mod position;
mod server;
mod transport;
mod verdict;

pub use asked::Asked;
pub use server::{Config, serve};
