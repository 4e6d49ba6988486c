//! The engines and the evidence they give: against each other, against naive references, and on the
//! examples.

mod agreement;
mod broadcast;
mod by_hand;
mod concrete;
mod cutoff;
mod differential;
mod examples;
mod explicit;
mod karp_miller;
mod karp_miller_programs;
mod localise;
mod mutations;
mod reachability;
mod refinement;
mod rust_examples;
mod symbolic;
mod unfold;
mod waiting;
mod waiting_c;
