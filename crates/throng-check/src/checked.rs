//! That evidence was checked, as a value that only checkers make.

/// A checker has accepted evidence. What was accepted is beside it: a checker returns this for one
/// verdict, and who holds several verdicts needs one for each of them ([`Checked::all`]).
///
/// There are two ways to get one. [`crate::rules`] return it for evidence that stands. The checkers
/// of proofs about sources, which are crates of their own, make it with [`Checked::of_source`]:
/// a call of that is as much a part of what has to be trusted as the rules are, and a test of the
/// workspace lists the calls. No engine makes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked(());

impl Checked {
    /// Some rule has accepted evidence.
    pub(crate) fn by_rules() -> Checked {
        Checked(())
    }

    /// The caller, a checker of proofs about sources, has just accepted one.
    pub fn of_source() -> Checked {
        Checked(())
    }

    /// One for all of these, if each has one and there is any.
    pub fn all(each: impl IntoIterator<Item = Option<Checked>>) -> Option<Checked> {
        let mut each = each.into_iter();
        let first = each.next()?;
        each.fold(first, |all, one| all.and(one))
    }
}
