//! The command line of Throng: everything that talks to a terminal, a file system or another process.

pub mod bench;
pub mod cli;
pub mod serve;
pub mod simulate;
