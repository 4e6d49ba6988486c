//! From a branch with ω to a concrete run: how often must each acceleration be repeated, and how many threads start?
//!
//! Along the branch, each acceleration is an instruction "repeat the part since that ancestor". Going backward from the threads that
//! the target needs, a step gives back what it put and asks for what it took; an acceleration repeats its part, backward, until what is
//! needed where it put ω is no more than what was there before.
//!
//! # Why this ends, and in a run
//!
//! What is needed at a point never exceeds the label there, except where an enclosing repetition is just working on it. It holds at the target,
//! and a step backward keeps it because the step was enabled in the label before. A part that is repeated
//! has the same effect each time on every local state whose count is finite at its end (ω never goes away along a branch): at least 1 where its own
//! acceleration put ω, else 0. So each repetition lowers the need by 1 where it is too high, and raises it nowhere but in
//! local states that were ω before, of which the label has as many as one likes. At the root the need is within the initial family.

use super::path::pump;
use super::steps::Steps;
use super::tree::{NodeId, Tree};
use super::vector::{Entry, add, count, remove};
use crate::limits::Ticker;
use crate::model::OMEGA;
use crate::verdict::Unknown;

/// What a branch tells to do.
enum Instruction {
    /// Fire this step.
    Fire(u32),
    /// Repeat the instructions from here on until there are more threads than these; they are the counts that became ω.
    Repeat { from: usize, had: Vec<Entry> },
}

/// A run: which threads it needs at the root, and its steps.
pub struct Unrolled {
    /// The threads needed at the start.
    pub need: Vec<Entry>,
    /// The steps, in order.
    pub steps: Vec<u32>,
}

/// Finds the steps of a concrete run along the branch to `leaf` that ends with at least `goal`, which the label of `leaf` covers.
pub fn unroll(
    tree: &Tree,
    steps: &Steps<'_>,
    leaf: NodeId,
    goal: Vec<Entry>,
    ticker: &mut Ticker<'_>,
) -> Result<Unrolled, Unknown> {
    let program = instructions(tree, steps, leaf);
    let mut run = Backward { steps, program: &program, need: goal, fired: Vec::new(), ticker };
    run.undo(0, program.len())?;
    let Backward { need, mut fired, .. } = run;
    fired.reverse();
    Ok(Unrolled { need, steps: fired })
}

/// The branch as instructions.
fn instructions(tree: &Tree, steps: &Steps<'_>, leaf: NodeId) -> Vec<Instruction> {
    let branch = tree.branch(leaf);
    let mut program = Vec::new();
    // Where the instructions that lead to each node of the branch end.
    let mut ends = vec![0];
    let mut label = Vec::new();
    for pair in branch.windows(2) {
        let node = tree.node(pair[1]);
        steps.step(node.step).fire(tree.counts(pair[0]), &mut label);
        program.push(Instruction::Fire(node.step));
        for &ancestor in &node.pumped {
            let before = label.clone();
            pump(tree.counts(ancestor), &mut label);
            let became = |e: &&Entry| e.1 != OMEGA && count(&label, e.0) == OMEGA;
            let had = before.iter().filter(became).copied().collect();
            let from = branch.iter().position(|&n| n == ancestor).map_or(0, |i| ends[i]);
            program.push(Instruction::Repeat { from, had });
        }
        ends.push(program.len());
    }
    program
}

struct Backward<'a, 't> {
    steps: &'a Steps<'a>,
    program: &'a [Instruction],
    need: Vec<Entry>,
    /// Steps, last first.
    fired: Vec<u32>,
    ticker: &'a mut Ticker<'t>,
}

impl Backward<'_, '_> {
    /// Goes back from the end of the instructions `from..to` to their beginning.
    fn undo(&mut self, from: usize, to: usize) -> Result<(), Unknown> {
        for at in (from..to).rev() {
            match &self.program[at] {
                Instruction::Fire(step) => self.unfire(*step)?,
                Instruction::Repeat { from, had } => {
                    while had.iter().any(|&(l, n)| count(&self.need, l) > n) {
                        self.undo(*from, at)?;
                    }
                }
            }
        }
        Ok(())
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
                let why = "the run that was found needs more than four billion threads";
                return Err(Unknown::NotForThisModel(why.into()));
            }
        }
        self.fired.push(id);
        Ok(())
    }
}
