//! Findings limited to what a question is about.

use throng_goto::Program;

use super::findings::{Findings, Shared, Status};

/// Leaves out the objects without a possible race that a question about races does not name. The
/// races that it is not about are not among the findings (`Report`).
pub fn narrowed(program: &Program, found: Findings) -> Findings {
    let possible = |shared: &Shared| matches!(shared.status, Status::Possible(_));
    let named = |shared: &Shared| program.about.iter().any(|about| about.names(&shared.name));
    let kept = |shared: &Shared| program.about.is_empty() || possible(shared) || named(shared);
    Findings { objects: found.objects.into_iter().filter(kept).collect(), ..found }
}
