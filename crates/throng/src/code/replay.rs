//! A run as a C program that is forced through it.

use throng_c::replay::{self, Ends};
use throng_goto::run::Run;
use throng_model::property::Property;
use throng_model::verdict::Verdict;

use super::Answered;

/// A C program that goes through a run with real threads.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Its text.
    pub text: String,
    ends: Ends,
}

impl Replay {
    /// Returns whether the run ends in a memory error, which the address sanitizer notices.
    pub fn needs_sanitizer(&self) -> bool {
        self.ends == Ends::MemoryError
    }
}

/// Returns a replay of the first run of the answers; `None` if there is no run, `Err` if it cannot
/// be replayed.
pub(crate) fn replay(answered: &Answered) -> Option<Result<Replay, String>> {
    let part = answered.shown();
    if part.executions {
        let why = "no replay is written of an execution of C11 that is not one of sequential consistency";
        return Some(Err(why.into()));
    }
    let runs = part.outcome.answer.verdicts.iter().enumerate().filter_map(|(n, v)| match v {
        Verdict::Unsafe(trace) => Some((n, trace)),
        _ => None,
    });
    let (n, trace) = { runs }.next()?;
    let ends = match part.outcome.problem.targets[n].property.as_deref() {
        Some(Property::Deadlock) => Ends::Stuck,
        Some(Property::MemorySafety) => Ends::MemoryError,
        _ => Ends::Aborts,
    };
    let Some(run) = Run::of(&part.posed.model, trace) else {
        return Some(Err("the threads of the run cannot be told apart".into()));
    };
    let Some(loaded) = part.posed.loaded.in_c() else {
        return Some(Err("replays are C programs, of programs in C".into()));
    };
    Some(replay::write(loaded, &run, ends).map(|text| Replay { text, ends }))
}
