//! The program `throng` as a user meets it: every command, what it prints and writes, and with
//! which exit status it ends.

mod abstraction;
mod agreement;
mod bench;
mod c;
mod checkpoint;
mod ci;
mod combined;
mod commands;
mod compiler;
mod docs;
mod editors;
mod explain;
mod honest;
mod integers;
mod library;
mod lsp;
mod memory;
mod modelling;
mod mutate;
mod options;
mod orders;
mod outputs;
mod page;
mod papers;
mod questions;
mod races;
mod schemas;
mod serve;
mod setup;
mod store;
mod svcomp;
mod translate;
mod vacuity;
