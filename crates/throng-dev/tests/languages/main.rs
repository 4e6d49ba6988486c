//! The input languages: what each construct means, that models keep the laws of `throng_model`, and
//! that no text makes a reader fail.

mod constructs;
#[path = "../../../throng-memory/tests/memory/generate.rs"]
mod generate;
mod integers;
mod laws;
mod orders;
mod printer;
mod programs;
mod readers;
mod systems;
