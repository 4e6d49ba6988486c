//! States as cubes: each variable may be 0, 1, or either, independently of the others.

use smallvec::SmallVec;

use crate::{Local, Shared};

/// The mask of a variable that is 0.
pub const ZERO: u8 = 1;
/// The mask of a variable that is 1.
pub const ONE: u8 = 2;
/// The mask of a variable that may be either.
pub const FREE: u8 = 3;

/// The mask of one value.
pub fn mask(value: bool) -> u8 {
    if value { ONE } else { ZERO }
}

/// A mask for each of some variables.
pub type Cube = SmallVec<[u8; 32]>;

/// A model whose states are cubes.
pub trait Cubes: Send + Sync {
    /// Whether a thread is inside an atomic section, and the masks of the shared variables.
    fn shared_cube(&self, s: Shared) -> (bool, Cube);

    /// Point and masks of the slots; one point past the last stands for a thread that has ended.
    fn local_cube(&self, l: Local) -> (u32, Cube);

    /// The code of a shared state.
    fn shared_word(&self, inside: bool, masks: &[u8]) -> Shared;

    /// The code of a local state.
    fn local_word(&self, point: u32, masks: &[u8]) -> Local;
}
