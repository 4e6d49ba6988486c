//! The checkers of proofs about goto programs: what has to be trusted for a SAFE about source code,
//! beside the front end. They call no engine and no prover.
//!
//! | proof | what is trusted besides the goto program |
//! | --- | --- |
//! | [`abstraction`] | the graph of paths, how facts become a Boolean program, the second encoder, the SAT solver's "no", the checker of Boolean programs |
//! | [`locksets`] | what an instruction does to the locks that a thread holds, which accesses race |
//! | [`races`] | the inclusion constraints of pointers, what an instruction does to what is known where threads are, when two accesses cannot be a race |
//! | [`lock_order`] | which locks may be held where, which instructions wait, and the locksets |
//! | [`monitored`] | how the monitor of memory orders is written into a program; its proofs are those of [`abstraction`] |
//! | [`states`] | the steps of the goto program, the rules of `throng-check` |

pub mod abstraction;
pub mod documents;
pub mod lock_order;
pub mod locksets;
pub mod monitored;
pub mod races;
pub mod states;
