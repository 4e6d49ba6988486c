//! The input languages: what each construct means, that models keep the laws of `throng_model`, and
//! that no text makes a reader fail.

mod constructs;
mod integers;
mod laws;
mod printer;
mod programs;
mod readers;
mod systems;
