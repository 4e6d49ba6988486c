//! Inputs with known answers: the project's own few in `tests/corpus`, and the public corpus
//! (`THRONG_CORPUS`, or `../shared/corpus` beside the repository). Without the public corpus, the
//! tests that need it are reported as ignored.

mod answers;
mod karp_miller;
