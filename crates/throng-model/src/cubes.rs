//! States as cubes: each variable may be 0, 1, or either, independently of the others.

use smallvec::SmallVec;

use crate::{Local, Shared};

/// The mask of a variable that is 0.
pub const ZERO: u8 = 1;
/// The mask of a variable that is 1.
pub const ONE: u8 = 2;
/// The mask of a variable that may be either.
pub const FREE: u8 = 3;

/// Returns the mask of one value.
pub fn mask(value: bool) -> u8 {
    if value { ONE } else { ZERO }
}

/// A mask for each of some variables.
pub type Cube = SmallVec<[u8; 32]>;

/// A model whose states are cubes.
pub trait Cubes: Send + Sync {
    /// Returns whether a thread is inside an atomic section, and the masks of the shared variables.
    fn shared_cube(&self, s: Shared) -> (bool, Cube);

    /// Returns the program point and the masks of the slots; one point past the last stands for a
    /// thread that has ended.
    fn local_cube(&self, l: Local) -> (u32, Cube);

    /// Encodes a shared state.
    fn encode_shared(&self, inside: bool, masks: &[u8]) -> Shared;

    /// Encodes a local state.
    fn encode_local(&self, point: u32, masks: &[u8]) -> Local;
}

/// Returns the member of a cube in which every open variable is 0.
pub fn sample(masks: &[u8]) -> Cube {
    masks.iter().map(|&m| if m == FREE { ZERO } else { m }).collect()
}

/// Returns every member of a cube.
pub fn members(masks: &[u8]) -> Vec<Cube> {
    let mut found = vec![Cube::from_slice(masks)];
    for i in 0..masks.len() {
        if masks[i] == FREE {
            let with = |value: u8| {
                move |cube: &Cube| {
                    let mut cube = cube.clone();
                    cube[i] = value;
                    cube
                }
            };
            found = found.iter().map(with(ZERO)).chain(found.iter().map(with(ONE))).collect();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_all_choices_and_the_sample_is_one_of_them() {
        let cube = [FREE, ONE, FREE, ZERO];
        let members = members(&cube);
        assert_eq!(members.len(), 4);
        assert!(members.iter().all(|m| m.iter().zip(&cube).all(|(m, c)| *m != FREE && m & c == *m)));
        assert!(members.contains(&sample(&cube)));
    }
}
