//! Certificates and their two checkers.

mod certify;
mod second_checker;
