//! Memory orders of C11: the rules of the monitor of robustness ([`rules`]) and which slices of it
//! a program needs ([`slices`]).

pub mod order;
pub mod rules;
pub mod slices;

pub use order::Order;
