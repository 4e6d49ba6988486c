//! Certificates and their two checkers.

mod certify;
mod formulas;
mod second_checker;
