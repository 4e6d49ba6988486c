//! From a branch with ω to a concrete run: computes how often each acceleration must be repeated,
//! and how many threads start.
//!
//! Along the branch, each acceleration is an instruction "repeat the part since that ancestor".
//! Going backward from the threads that the target needs, a step gives back what it put and asks
//! for what it took; an acceleration repeats its part, backward, until what is needed where it put
//! ω is no more than what was there before. Whenever an earlier label of the branch covers the
//! need, everything between is skipped; without that, nested repetitions would make runs of
//! exponential length where a short one suffices.
//!
//! # Why this ends, and in a run
//!
//! What is needed at a point never exceeds the label there, except while an enclosing repetition
//! lowers it. This holds at the target, and a step backward keeps it because the step was enabled
//! in the label before. A part that is repeated has the same effect each time on every local state
//! whose count is finite at its end (ω never goes away along a branch): at least 1 where its own
//! acceleration put ω, else 0. So each repetition lowers the need by 1 where it is too high, and
//! raises it nowhere but in local states that were ω before, of which the label has arbitrarily
//! many. Skipping always goes to an earlier point. At the root the need is within the initial
//! family.
//!
//! Entries that a label absorbed ([`super`]) are not needed after it. A repeated part that contains
//! such a label does not raise them: while the larger entry has ω, the smaller one is in no label,
//! so no label that had it before is covered again.

use rustc_hash::FxHashMap;

use super::path::pump;
use super::steps::Steps;
use super::tree::{NodeId, Tree};
use super::vector::{Entry, Signature, add, count, covers, remove};
use throng_model::OMEGA;
use throng_model::limits::Ticker;
use throng_model::verdict::Unknown;

/// An instruction of the run that a branch describes.
enum Instruction {
    /// Fire this step.
    Fire(u32),
    /// Repeat the instructions from `from` on until there are more threads than `had`, the counts
    /// that became ω.
    Repeat { from: usize, had: Vec<Entry> },
}

/// A branch as instructions.
struct Program {
    instructions: Vec<Instruction>,
    /// The labels of the branch by shared state, each with the number of instructions before it.
    labels: FxHashMap<u32, Vec<(usize, Signature, Vec<Entry>)>>,
}

/// A run: its steps, and the threads it needs at the root.
pub struct Unrolled {
    /// The threads needed at the start.
    pub need: Vec<Entry>,
    /// The steps, in order.
    pub steps: Vec<u32>,
}

/// Finds the steps of a concrete run along the branch to `leaf` that ends with at least `goal`,
/// which the label of `leaf` covers.
pub fn unroll(
    tree: &Tree,
    steps: &Steps,
    leaf: NodeId,
    goal: Vec<Entry>,
    ticker: &mut Ticker<'_>,
) -> Result<Unrolled, Unknown> {
    let program = Program::new(tree, steps, leaf);
    let shared = tree.node(leaf).shared;
    let top = program.instructions.len();
    let mut run = Backward { steps, program: &program, shared, need: goal, fired: Vec::new(), top, ticker };
    while run.top > 0 {
        run.top = run.earliest(run.top + 1).unwrap_or(run.top);
        if let Some(before) = run.top.checked_sub(1) {
            run.top = run.undo(before, run.top)?.unwrap_or(before);
        }
    }
    let Backward { need, mut fired, .. } = run;
    fired.reverse();
    Ok(Unrolled { need, steps: fired })
}

impl Program {
    fn new(tree: &Tree, steps: &Steps, leaf: NodeId) -> Program {
        let branch = tree.branch(leaf);
        let mut program = Program { instructions: Vec::new(), labels: FxHashMap::default() };
        program.note(tree.node(branch[0]).shared, tree.counts(branch[0]));
        // For each node of the branch, the end of the instructions that lead to it.
        let mut ends = FxHashMap::from_iter([(branch[0], 0)]);
        let mut label = Vec::new();
        for pair in branch.windows(2) {
            let node = tree.node(pair[1]);
            steps.step(node.step).fire(tree.counts(pair[0]), &mut label);
            program.instructions.push(Instruction::Fire(node.step));
            program.note(node.shared, &label);
            for ancestor in &node.pumped {
                let before = label.clone();
                pump(tree.counts(*ancestor), &mut label);
                let became = |e: &&Entry| e.1 != OMEGA && count(&label, e.0) == OMEGA;
                let had = before.iter().filter(became).copied().collect();
                program.instructions.push(Instruction::Repeat { from: ends[ancestor], had });
                program.note(node.shared, &label);
            }
            ends.insert(pair[1], program.instructions.len());
        }
        program
    }

    /// Records the label after the instructions so far.
    fn note(&mut self, shared: u32, label: &[Entry]) {
        let at = self.instructions.len();
        self.labels.entry(shared).or_default().push((at, Signature::of(label), label.to_vec()));
    }
}

struct Backward<'a, 't> {
    steps: &'a Steps,
    program: &'a Program,
    /// The shared state at the present point.
    shared: u32,
    need: Vec<Entry>,
    /// Steps, last first.
    fired: Vec<u32>,
    /// The number of remaining instructions, not counting the current repetitions.
    top: usize,
    ticker: &'a mut Ticker<'t>,
}

impl Backward<'_, '_> {
    /// Goes back from the end of the instructions `from..to` to their beginning; or returns a point
    /// before `top` whose label covers the need, as soon as there is one.
    fn undo(&mut self, from: usize, to: usize) -> Result<Option<usize>, Unknown> {
        for at in (from..to).rev() {
            match &self.program.instructions[at] {
                Instruction::Fire(step) => {
                    self.unfire(*step)?;
                    if let Some(earlier) = self.earliest(self.top) {
                        return Ok(Some(earlier));
                    }
                }
                Instruction::Repeat { from, had } => {
                    while had.iter().any(|&(l, n)| count(&self.need, l) > n) {
                        if let Some(earlier) = self.undo(*from, at)? {
                            return Ok(Some(earlier));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn unfire(&mut self, id: u32) -> Result<(), Unknown> {
        self.ticker.tick()?;
        let step = self.steps.step(id);
        for &(l, n) in &step.give {
            remove(&mut self.need, l, n);
        }
        for &(l, n) in &step.take {
            add(&mut self.need, l, n);
            if count(&self.need, l) == OMEGA - 1 {
                return Err(Unknown::uncountable());
            }
        }
        self.shared = step.from;
        self.fired.push(id);
        Ok(())
    }

    /// Returns the first point before `end` whose label covers the need.
    fn earliest(&self, end: usize) -> Option<usize> {
        let signature = Signature::of(&self.need);
        let labels = self.program.labels.get(&self.shared)?;
        let before = labels.iter().take_while(|l| l.0 < end);
        let mut enough =
            before.filter(|(_, s, label)| signature.may_be_below(*s) && covers(label, &self.need));
        enough.next().map(|l| l.0)
    }
}
