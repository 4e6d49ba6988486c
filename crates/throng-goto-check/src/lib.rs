//! The checkers of proofs about goto programs: what has to be trusted for a SAFE about source code,
//! beside the front end. They call no engine and no prover.

pub mod documents;
pub mod lock_order;
pub mod locksets;
