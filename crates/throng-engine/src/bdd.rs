//! Sets of Boolean valuations as binary decision diagrams: a thin layer over oxidd, so that it can
//! be replaced.
//!
//! Variables are numbered, and smaller numbers are nearer to the root. Equal sets are equal values,
//! so comparing and hashing are cheap. A [`Space`] holds a fixed number of nodes; when it is full
//! and nothing can be collected, operations fail with [`Full`].

use std::convert::Infallible;

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel, Manager,
    ManagerRef, Node, Subst, error::OutOfMemory,
};

/// The space for nodes is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// Values of variables; all other variables are free.
pub type Literals = [(u32, bool)];

/// The space that sets are built in.
pub struct Space {
    manager: BDDManagerRef,
}

/// A set of valuations.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set(BDDFunction);

/// Variables to quantify over together.
#[derive(Clone)]
pub struct Variables {
    cube: BDDFunction,
    is_empty: bool,
}

/// A renaming of variables.
pub struct Renaming(Option<Subst<BDDFunction, Vec<u32>, Vec<BDDFunction>>>);

impl Space {
    /// Creates a space with this many variables and nodes.
    pub fn new(variables: u32, nodes: usize) -> Space {
        let manager = new_manager(nodes, (nodes / 4).clamp(1 << 10, 1 << 20), 1);
        manager.with_manager_exclusive(|m| m.add_vars(variables));
        Space { manager }
    }

    /// Returns the set of all valuations.
    pub fn all(&self) -> Set {
        self.manager.with_manager_shared(|m| Set(BDDFunction::t(m)))
    }

    /// Returns the empty set.
    pub fn none(&self) -> Set {
        self.manager.with_manager_shared(|m| Set(BDDFunction::f(m)))
    }

    /// Returns all valuations in which `variable` has the value.
    pub fn literal(&self, variable: u32, value: bool) -> Result<Set, Full> {
        self.manager.with_manager_shared(|m| {
            let made = if value { BDDFunction::var(m, variable) } else { BDDFunction::not_var(m, variable) };
            made.map(Set).map_err(|OutOfMemory| Full)
        })
    }

    /// Returns all valuations that agree with these values.
    pub fn cube(&self, values: impl IntoIterator<Item = (u32, bool)>) -> Result<Set, Full> {
        values.into_iter().try_fold(self.all(), |cube, (v, value)| cube.and(&self.literal(v, value)?))
    }

    /// Prepares variables to quantify over.
    pub fn to_forget(&self, variables: impl IntoIterator<Item = u32>) -> Result<Variables, Full> {
        let cube = self.cube(variables.into_iter().map(|v| (v, true)))?;
        Ok(Variables { is_empty: cube.is_all(), cube: cube.0 })
    }

    /// Prepares a renaming of each first variable to the second. The second ones must not occur in
    /// the renamed set.
    pub fn renaming(&self, pairs: &[(u32, u32)]) -> Result<Renaming, Full> {
        if pairs.is_empty() {
            return Ok(Renaming(None));
        }
        let new = pairs.iter().map(|p| Ok(self.literal(p.1, true)?.0)).collect::<Result<Vec<_>, Full>>()?;
        Ok(Renaming(Some(Subst::new(pairs.iter().map(|p| p.0).collect(), new))))
    }
}

impl Set {
    /// Performs an operation, and retries it after a garbage collection if space runs out.
    fn attempt(&self, operation: impl Fn() -> Result<BDDFunction, OutOfMemory>) -> Result<Set, Full> {
        if let Ok(found) = operation() {
            return Ok(Set(found));
        }
        self.0.manager_ref().with_manager_shared(|m| m.gc());
        operation().map(Set).map_err(|OutOfMemory| Full)
    }

    /// Returns the intersection.
    pub fn and(&self, other: &Set) -> Result<Set, Full> {
        self.attempt(|| self.0.and(&other.0))
    }

    /// Returns the union.
    pub fn or(&self, other: &Set) -> Result<Set, Full> {
        self.attempt(|| self.0.or(&other.0))
    }

    /// Returns the difference.
    pub fn minus(&self, other: &Set) -> Result<Set, Full> {
        self.attempt(|| other.0.imp_strict(&self.0))
    }

    /// Quantifies over variables: they may have any value afterwards.
    pub fn forget(&self, variables: &Variables) -> Result<Set, Full> {
        if variables.is_empty {
            return Ok(self.clone());
        }
        self.attempt(|| self.0.exists(&variables.cube))
    }

    /// Returns the intersection, quantified over variables.
    pub fn and_forget(&self, other: &Set, variables: &Variables) -> Result<Set, Full> {
        if variables.is_empty {
            return self.and(other);
        }
        self.attempt(|| self.0.apply_exists(BooleanOperator::And, &other.0, &variables.cube))
    }

    /// Returns the cofactor: the members that agree with `cube`, whose variables are then free.
    pub fn fix(&self, cube: &Set) -> Result<Set, Full> {
        self.attempt(|| self.0.restrict(&cube.0))
    }

    /// Renames variables.
    pub fn rename(&self, renaming: &Renaming) -> Result<Set, Full> {
        match &renaming.0 {
            None => Ok(self.clone()),
            Some(substitution) => self.attempt(|| self.0.substitute(substitution)),
        }
    }

    /// Returns whether there is no member.
    pub fn is_empty(&self) -> bool {
        !self.0.satisfiable()
    }

    /// Returns whether every valuation is a member.
    pub fn is_all(&self) -> bool {
        self.0.valid()
    }

    /// Returns whether there is a common member.
    pub fn meets(&self, other: &Set) -> Result<bool, Full> {
        Ok(!self.and(other)?.is_empty())
    }

    /// Returns whether every member is one of `other`.
    pub fn within(&self, other: &Set) -> Result<bool, Full> {
        Ok(self == other || self.minus(other)?.is_empty())
    }

    /// Returns the variable at the root and the two cofactors, for 1 and for 0; `None` if no or
    /// every valuation is a member.
    pub fn split(&self) -> Option<(u32, Set, Set)> {
        let level = self.0.with_manager_shared(|m, edge| match m.get_node(edge) {
            Node::Inner(node) => Some(node.level()),
            Node::Terminal(_) => None,
        })?;
        let (yes, no) = self.0.cofactors()?;
        Some((level, Set(yes), Set(no)))
    }

    /// Calls `found` with disjoint cubes whose union is the set, in a fixed order. A cube lists
    /// variables and their values; all others are free.
    pub fn each_cube(&self, found: &mut dyn FnMut(&Literals)) {
        let Ok(()) = self.try_each_cube(&mut |cube| {
            found(cube);
            Ok::<(), Infallible>(())
        });
    }

    /// Does the same; `found` may stop it.
    pub fn try_each_cube<E>(&self, found: &mut dyn FnMut(&Literals) -> Result<(), E>) -> Result<(), E> {
        fn walk<E>(
            set: &Set,
            path: &mut Vec<(u32, bool)>,
            found: &mut dyn FnMut(&Literals) -> Result<(), E>,
        ) -> Result<(), E> {
            let Some((variable, yes, no)) = set.split() else {
                return if set.is_all() { found(path) } else { Ok(()) };
            };
            for (value, part) in [(false, no), (true, yes)] {
                path.push((variable, value));
                walk(&part, path, found)?;
                path.pop();
            }
            Ok(())
        }
        walk(self, &mut Vec::new(), found)
    }
}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut cubes = f.debug_list();
        self.each_cube(&mut |cube| _ = cubes.entry(&cube));
        cubes.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the operations on every function of three variables with bit operations on tables
    /// of eight bits.
    #[test]
    fn operations_agree_with_truth_tables() {
        let space = Space::new(4, 1 << 12);
        let set = |table: u8| {
            let rows = (0..8u8).filter(|r| table >> r & 1 == 1);
            rows.fold(space.none(), |sum, r| {
                let cube = space.cube((0..3).map(|v| (v, r >> v & 1 == 1))).unwrap();
                sum.or(&cube).unwrap()
            })
        };
        let forget = space.to_forget([1]).unwrap();
        let renaming = space.renaming(&[(0, 3)]).unwrap();
        let back = space.renaming(&[(3, 0)]).unwrap();
        for table in 0..=255u8 {
            let a = set(table);
            let b = set(table.rotate_left(3) ^ 0b1010);
            let tb = table.rotate_left(3) ^ 0b1010;
            assert_eq!(a.and(&b).unwrap(), set(table & tb));
            assert_eq!(a.or(&b).unwrap(), set(table | tb));
            assert_eq!(a.minus(&b).unwrap(), set(table & !tb));
            assert_eq!(a.meets(&b).unwrap(), table & tb != 0);
            assert_eq!(a.within(&b).unwrap(), table & !tb == 0);
            let forgotten = (0..8u8)
                .filter(|r| (table >> (r & !2) | table >> (r | 2)) & 1 == 1)
                .fold(0, |t, r| t | 1 << r);
            assert_eq!(a.forget(&forget).unwrap(), set(forgotten));
            assert_eq!(a.and_forget(&b, &forget).unwrap(), a.and(&b).unwrap().forget(&forget).unwrap());
            assert_eq!(a.rename(&renaming).unwrap().rename(&back).unwrap(), a);
            let mut sum = space.none();
            a.each_cube(&mut |cube| sum = sum.or(&space.cube(cube.iter().copied()).unwrap()).unwrap());
            assert_eq!(sum, a);
        }
    }

    #[test]
    fn a_full_space_says_so() {
        let space = Space::new(40, 64);
        let mut kept = Vec::new();
        let mut sum = space.none();
        let full = (0..20).any(|i| {
            let pair = space.literal(i, true).and_then(|a| a.and(&space.literal(39 - i, true)?));
            match pair.and_then(|p| sum.or(&p)) {
                Ok(next) => {
                    kept.push(std::mem::replace(&mut sum, next));
                    false
                }
                Err(Full) => true,
            }
        });
        assert!(full);
    }
}
