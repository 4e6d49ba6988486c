//! What holds where threads are: states are followed until nothing new is found.

use std::collections::BTreeSet;

use throng_goto_check::races::Facts;
use throng_goto_check::races::facts::State;
use throng_goto_check::races::transfer::Flow;

/// Maximum number of states at an instruction that are told apart.
const MOST_STATES: usize = 6;

/// Finds facts about instructions and returns.
pub(crate) fn solve(flow: &Flow<'_>, facts: &mut Facts, stop: &dyn Fn() -> bool) -> Option<()> {
    let n = flow.program.templates.len();
    (facts.at, facts.exits) = (vec![Default::default(); n], vec![None; n]);
    let mut search = Search { flow, facts, work: BTreeSet::new() };
    for t in flow.program.first_templates() {
        search.add(t, 0, &flow.at_start(t));
    }
    while let Some((t, pc)) = search.work.pop_first() {
        if stop() {
            return None;
        }
        for state in search.facts.at[t][&(pc as u32)].clone() {
            search.block(t, pc, state);
        }
    }
    Some(())
}

struct Search<'a> {
    flow: &'a Flow<'a>,
    facts: &'a mut Facts,
    work: BTreeSet<(usize, usize)>,
}

impl Search<'_> {
    /// Adds a state where facts are kept.
    fn add(&mut self, t: usize, pc: usize, state: &State) {
        let list = self.facts.at[t].entry(pc as u32).or_default();
        if list.iter().any(|known| known.covers(state)) {
            return;
        }
        let alike = |known: &State| {
            known.locks == state.locks && known.sections == state.sections && known.alive == state.alive
        };
        match list.iter().position(alike) {
            Some(n) => list[n] = list[n].join(state),
            None => list.push(state.clone()),
        }
        if list.len() > MOST_STATES {
            let all = list.iter().skip(1).fold(list[0].clone(), |all, state| all.join(state));
            *list = vec![all];
        }
        self.work.insert((t, pc));
    }

    fn block(&mut self, t: usize, pc: usize, state: State) {
        let mut work = vec![(pc, state)];
        while let Some((pc, state)) = work.pop() {
            for (to, then) in self.flow.enters((t, pc), &state) {
                self.add(to, 0, &then);
            }
            if let Some(left) = self.flow.leaves((t, pc), &state) {
                self.leave(t, &left);
            }
            for (to, then) in self.flow.after((t, pc), &state, self.facts) {
                if self.flow.code[t].is_head(to) {
                    self.add(t, to, &then);
                } else {
                    work.push((to, then));
                }
            }
        }
    }

    /// A template returns; its callers, and those that wait for it, are looked at again.
    fn leave(&mut self, t: usize, left: &State) {
        let known = self.facts.exits[t].clone();
        if known.as_ref().is_some_and(|known| known.covers(left)) {
            return;
        }
        self.facts.exits[t] = Some(known.map_or(left.clone(), |known| known.join(left)));
        for (k, at) in self.facts.at.iter().enumerate() {
            if self.flow.depends(k, t) {
                self.work.extend(at.keys().map(|pc| (k, *pc as usize)));
            }
        }
    }
}
