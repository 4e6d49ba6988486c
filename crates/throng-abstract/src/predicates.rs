//! The predicates in use, each of which says something that no other one says.

use rustc_hash::FxHashMap;
use throng_goto::program::{Expr, Int};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::variables::Variables;
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::blast::Encoder;

/// All predicates in use.
#[derive(Clone, Default)]
pub struct Predicates {
    /// By number.
    pub list: Vec<Predicate>,
    /// Pairs that were compared: whether they say the same, or the opposite.
    compared: FxHashMap<(Expr, Expr), bool>,
}

impl Predicates {
    /// Adds a predicate if it is new.
    pub fn add(&mut self, p: Predicate, variables: &Variables, limits: &Limits) -> Result<bool, Unknown> {
        let new = self.is_new(&p, variables, limits)?;
        if new {
            self.list.push(p);
        }
        Ok(new)
    }

    /// Returns whether a predicate is not in use, nor its opposite, and says something.
    pub fn is_new(&mut self, p: &Predicate, variables: &Variables, limits: &Limits) -> Result<bool, Unknown> {
        let types = |id: u32| -> Int { variables.ty(id) };
        for q in &self.list {
            if q == p {
                return Ok(false);
            }
            if q.variables != p.variables {
                continue;
            }
            let key = (q.expr.clone(), p.expr.clone());
            let same = match self.compared.get(&key) {
                Some(&same) => same,
                None => {
                    let mut encoder = Encoder::new(limits, &types);
                    let (a, b) = (encoder.truth(&q.expr), encoder.truth(&p.expr));
                    let differ = encoder.sat.xor(a, b);
                    let same = !encoder.solve(&[differ])? || !encoder.solve(&[!differ])?;
                    self.compared.insert(key, same);
                    same
                }
            };
            if same {
                return Ok(false);
            }
        }
        let mut encoder = Encoder::new(limits, &types);
        let it = encoder.truth(&p.expr);
        Ok(encoder.solve(&[it])? && encoder.solve(&[!it])?)
    }
}
