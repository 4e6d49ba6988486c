//! Searches over several workers and processes. Built with the feature `cluster` only.
//!
//! `THRONG_RANDOM` says how many random programs to try, `THRONG_PROCESSES=1` also runs the corpus
//! through processes.

mod agreement;
mod bench;
mod checkpoints;
mod processes;
