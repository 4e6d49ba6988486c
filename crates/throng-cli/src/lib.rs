//! The command line of Throng: everything that talks to a terminal, a file system or another
//! process.

pub mod bench;
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod serve;
pub mod simulate;
