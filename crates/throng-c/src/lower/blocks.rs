//! Blocks, and the lifetimes of local variables in memory.
//!
//! A lifetime begins where its block is entered, by whichever way, and ends where it is left: at
//! its end, by `break`, `continue`, `goto` or `return`. A `goto` or `switch` that passes
//! declarations enters their scope all the same: the variables are there, without a value.

use std::collections::HashMap;

use super::functions::Role;
use super::{Block, Declared, Lower};
use throng_goto::program::{Expr, Instr};

impl Lower<'_> {
    /// The lifetime of a variable in memory begins; it ends with the block.
    pub(super) fn begins(&mut self, k: u32) {
        self.begin_lifetime(k);
        let block = self.current.blocks.last_mut();
        self.current.lifetimes.push(block.as_ref().map_or(0, |b| b.number));
        block.into_iter().for_each(|b| b.variables.push(k));
    }

    fn begin_lifetime(&mut self, k: u32) {
        let size = self.current.template.locals[k as usize].size;
        self.emit(Instr::Begins(Expr::Local(k), size));
    }

    pub(super) fn enter_block(&mut self) {
        self.scopes.push(HashMap::new());
        self.current.next_block += 1;
        let block = Block { number: self.current.next_block, ..Block::default() };
        self.current.blocks.push(block);
    }

    pub(super) fn leave_block(&mut self) {
        self.clean_up(self.current.blocks.len().saturating_sub(1));
        self.scopes.pop();
        let ended = self.current.blocks.pop().map_or_else(Vec::new, |b| b.variables);
        self.ends(ended);
    }

    pub(super) fn ends(&mut self, ended: Vec<u32>) {
        if !ended.is_empty() {
            let ended = self.with_sizes(ended);
            self.emit(Instr::Ends(ended));
        }
    }

    /// Returns variables by their addresses, as instructions name them.
    fn with_sizes(&self, variables: Vec<u32>) -> Vec<(Expr, u32)> {
        let size = |k: u32| self.current.template.locals[k as usize].size;
        variables.into_iter().map(|k| (Expr::Local(k), size(k))).collect()
    }

    /// Each `goto` of the function comes to its label past the declarations in between.
    pub(super) fn finish_jumps(&mut self, exit: usize) {
        if self.current.gotos.is_empty() && self.current.computed_gotos.is_empty() {
            return;
        }
        self.emit(Instr::Jump(exit));
        self.finish_computed_gotos();
        let gotos = std::mem::take(&mut self.current.gotos);
        let targets = std::mem::take(&mut self.current.targets);
        for (name, from, open) in gotos {
            let mut passed = Declared::default();
            let target = targets.get(&name).map_or(&[][..], |blocks| blocks);
            for block in target {
                let known = open.iter().find(|b| b.number == block.number);
                let (v, r) = known.map_or((0, 0), |b| (b.variables.len(), b.registers.len()));
                passed.0.extend(block.variables.iter().skip(v));
                passed.1.extend(block.registers.iter().skip(r));
            }
            self.place_label(from);
            self.clean_up_between(&open, target);
            self.enter_past(&passed);
            let to = self.user_label(&name);
            self.emit(Instr::Jump(to));
        }
    }

    /// What was declared so far in the blocks inside of the first `outer` ones.
    pub(super) fn declared(&self, outer: usize) -> Declared {
        let inner = || self.current.blocks.iter().skip(outer);
        let variables = inner().flat_map(|b| b.variables.iter().copied()).collect();
        (variables, inner().flat_map(|b| b.registers.iter().copied()).collect())
    }

    /// Control comes into blocks past these declarations: the variables are there, without a value.
    pub(super) fn enter_past(&mut self, (variables, registers): &Declared) {
        for &k in variables {
            self.begin_lifetime(k);
        }
        for &r in registers {
            self.emit(Instr::Any(r));
        }
    }

    /// Control leaves all blocks inside of the first `outer` ones.
    pub(super) fn leave_blocks(&mut self, outer: usize) {
        self.clean_up(outer);
        let inner = self.current.blocks.iter().skip(outer);
        let ended = inner.flat_map(|b| b.variables.iter().copied()).collect();
        self.ends(ended);
    }

    /// Control may come here from anywhere in the function: the variables of all other blocks have
    /// ended. Which ones these are is known at the end of the function.
    pub(super) fn cross_blocks(&mut self) {
        let open = self.current.blocks.iter().map(|b| b.number).collect();
        self.current.crossings.push((self.current.template.code.len(), open));
        self.emit(Instr::Ends(Vec::new()));
    }

    /// The function ends: which variables are not alive at its labels is known now. Those of a
    /// function that was called end with it.
    pub(super) fn end_function(&mut self) {
        let lifetimes = std::mem::take(&mut self.current.lifetimes);
        for (pc, open) in std::mem::take(&mut self.current.crossings) {
            let gone = lifetimes.iter().enumerate().filter(|(_, block)| !open.contains(block));
            let gone = self.with_sizes(gone.map(|(k, _)| k as u32).collect());
            if let Some(i) = self.current.template.code.get_mut(pc) {
                *i = Instr::Ends(gone);
            }
        }
        if self.current.role == Role::Called {
            self.ends((0..lifetimes.len() as u32).collect());
        }
    }
}
