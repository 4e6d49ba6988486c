//! Findings limited to what a question is about.

use throng_goto::Program;

use super::findings::{Findings, Shared, Status, Touch};

/// Leaves only the objects that a question about races names, and pairs with an access that it
/// names; all, if it is about all races.
pub fn narrowed(program: &Program, found: Findings) -> Findings {
    if program.about.is_empty() {
        return found;
    }
    let narrow = |mut shared: Shared| {
        let name = shared.name.clone();
        let asked = |touch: &Touch| program.is_asked_about(Some(&name), touch.at);
        if let Status::Possible(pairs) = &mut shared.status {
            pairs.retain(|pair| asked(&pair.first) || asked(&pair.second));
            return (!pairs.is_empty()).then_some(shared);
        }
        program.about.iter().any(|about| about.names(&shared.name)).then_some(shared)
    };
    Findings { objects: found.objects.into_iter().filter_map(narrow).collect(), ..found }
}
