//! The program `throng` as a user meets it: every command, what it prints and writes, and with which exit status it ends.

mod bench;
mod checkpoint;
mod commands;
mod docs;
mod editors;
mod explain;
mod honest;
mod integers;
mod lsp;
mod outputs;
mod page;
mod papers;
mod schemas;
mod serve;
mod setup;
mod translate;
