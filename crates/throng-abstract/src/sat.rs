//! The SAT solver behind a thin layer: gates with constants folded, assumptions, cores, a limit.

use std::cell::Cell;

use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

/// Clauses and gates.
pub struct Sat {
    solver: BasicSolver,
    truth: Lit,
    limits: Limits,
}

impl Sat {
    /// No clauses; gives up when the limits say so.
    pub fn new(limits: &Limits) -> Sat {
        let mut solver = BasicSolver::default();
        let (mine, calls, over) = (limits.clone(), Cell::new(0u32), Cell::new(false));
        solver.cb_mut().set_stop(move || {
            calls.set(calls.get().wrapping_add(1));
            // The solver asks again before it gives up, and goes on if the answer is another one.
            over.set(over.get() || calls.get().is_multiple_of(256) && mine.check().is_err());
            over.get()
        });
        let truth = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![truth]);
        Sat { solver, truth, limits: limits.clone() }
    }

    /// The literal that always has this value.
    pub fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    /// A literal whose value is open.
    pub fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    /// One of these holds.
    pub fn clause(&mut self, literals: &[Lit]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    /// Both hold.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.truth, !self.truth);
        match (a, b) {
            _ if a == no || b == no || a == !b => no,
            _ if a == yes || a == b => b,
            _ if b == yes => a,
            _ => {
                let c = self.fresh();
                self.clause(&[!c, a]);
                self.clause(&[!c, b]);
                self.clause(&[c, !a, !b]);
                c
            }
        }
    }

    /// One of two holds.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// They differ.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.truth, !self.truth);
        match (a, b) {
            _ if a == no => b,
            _ if b == no => a,
            _ if a == yes => !b,
            _ if b == yes => !a,
            _ if a == b => no,
            _ if a == !b => yes,
            _ => {
                let c = self.fresh();
                self.clause(&[!c, a, b]);
                self.clause(&[!c, !a, !b]);
                self.clause(&[c, !a, b]);
                self.clause(&[c, a, !b]);
                c
            }
        }
    }

    /// At least two of three hold.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
            match a {
                _ if a == self.truth => return self.or(b, c),
                _ if a == !self.truth => return self.and(b, c),
                _ if a == b => return a,
                _ if a == !b => return c,
                _ => {}
            }
        }
        let most = self.fresh();
        for (a, b) in [(a, b), (b, c), (c, a)] {
            self.clause(&[most, !a, !b]);
            self.clause(&[!most, a, b]);
        }
        most
    }

    /// `b` where `choice` holds, else `a`.
    pub fn mux(&mut self, choice: Lit, a: Lit, b: Lit) -> Lit {
        if a == b {
            return a;
        }
        let (left, right) = (self.and(!choice, a), self.and(choice, b));
        self.or(left, right)
    }

    /// Returns whether the clauses can hold together with the assumptions.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Result<bool, Unknown> {
        let found = self.solver.solve_limited(assumptions);
        if found == lbool::TRUE {
            Ok(true)
        } else if found == lbool::FALSE {
            Ok(false)
        } else {
            self.limits.check()?;
            Err(Unknown::Inconclusive("the SAT solver gave up".into()))
        }
    }

    /// A literal's value in the model that was found last.
    pub fn holds(&self, l: Lit) -> bool {
        self.solver.value_lit(l) == lbool::TRUE
    }

    /// The assumptions that contradict the clauses, after [`Sat::solve`] said no.
    pub fn core(&self) -> Vec<Lit> {
        self.solver.unsat_core().iter().map(|&l| !l).collect()
    }
}
