//! C programs: the reader, what they mean, and compiled C as the reference.
#![allow(clippy::print_stdout)]

mod compiled;
mod corpus;
mod fidelity;
mod functions;
mod generated;
mod library;
mod mutants;
mod programs;
mod search;
mod sequential;
mod table;
mod units;
