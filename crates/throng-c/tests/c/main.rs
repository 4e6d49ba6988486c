//! C programs: the reader, what they mean, and compiled C as the reference.
#![allow(clippy::print_stdout)]

mod arguments;
mod compiled;
mod corpus;
mod functions;
mod generated;
mod library;
mod mutants;
mod programs;
mod search;
mod sequential;
mod syntax;
mod table;
mod units;
mod waiting;
