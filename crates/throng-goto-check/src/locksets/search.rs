//! The search for locksets. Nothing here has to be trusted: [`super::follow_from_the_start`] checks
//! what it finds.

use throng_goto::program::{Program, next};

use super::{Code, Held, Locksets};

/// Returns the locks that are held at each instruction.
pub fn locksets(program: &Program) -> Locksets {
    let at = program.templates.iter().map(|t| {
        let code = Code::new(t);
        let mut found: Vec<Option<Held>> = vec![None; t.code.len()];
        let mut work = Vec::new();
        if let Some(first) = found.first_mut() {
            *first = Some(Held::default());
            work.push(0);
        }
        while let Some(pc) = work.pop() {
            let Some(held) = found[pc].as_ref().and_then(|held| code.after(pc, held)) else { continue };
            for to in next(&t.code, pc) {
                let new = found[to].as_ref().map_or(held.clone(), |known| known.meet(&held));
                if found[to].as_ref() != Some(&new) {
                    found[to] = Some(new);
                    work.push(to);
                }
            }
        }
        found
    });
    Locksets { at: at.collect() }
}
