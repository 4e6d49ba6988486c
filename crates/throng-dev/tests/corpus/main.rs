//! Inputs with known answers: the project's own few in `tests/corpus`, and the public corpus.

mod karp_miller;
mod public;
