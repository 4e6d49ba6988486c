//! Memory orders as a question: how weak may each be, if the verdict is to stay SAFE?
//!
//! An order changes nothing under sequential consistency, so that only robustness and the absence
//! of races are asked about again, for each weaker order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Posed, orders};
use crate::error::Error;
use crate::job::Job;
use throng_goto::program::{Access, Instr, Order, Program};
use throng_model::limits::Limits;

/// An atomic operation or a fence, and the weakest orders with which the program stays SAFE.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WeakestOrder {
    /// The file, if it is not the user's.
    pub file: Option<String>,
    /// The line.
    pub line: u32,
    /// The text of the statement.
    pub text: String,
    /// What it is: `load`, `store`, `update`, `fence`.
    pub kind: &'static str,
    /// The order in the program.
    pub order: Order,
    /// The weakest order if all others stay as they are.
    pub alone: Order,
    /// One of a choice for all operations that can be made at once: each is as weak as those before
    /// it allow.
    pub together: Order,
}

/// A place in the source, and what is there.
type Site = ((Option<String>, u32, (usize, usize)), &'static str);

fn kind(i: &Instr, access: Access) -> Option<(&'static str, Order)> {
    match (i, access) {
        (Instr::Fence(order), _) => Some(("fence", *order)),
        (Instr::Load(..), Access::Atomic(order)) => Some(("load", order)),
        (Instr::Store(..), Access::Atomic(order)) => Some(("store", order)),
        (Instr::Load(..) | Instr::Store(..), Access::Update(done, _)) => Some(("update", done)),
        _ => None,
    }
}

/// The orders that an operation may have, weaker ones first; a relaxed fence does nothing.
fn orders_of(kind: &str) -> &'static [Order] {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    match kind {
        "load" => &[Relaxed, Acquire, SeqCst],
        "store" => &[Relaxed, Release, SeqCst],
        _ => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
    }
}

fn site(program: &Program, template: usize, pc: usize, kind: &'static str) -> Site {
    let origin = program.origin(template, pc);
    ((origin.file.clone(), origin.line, origin.span), kind)
}

/// All operations with their orders, in the order of lines, and their text.
fn sites(program: &Program) -> BTreeMap<Site, (Order, String)> {
    let mut found = BTreeMap::new();
    for (k, t) in program.templates.iter().enumerate() {
        for (pc, (i, access)) in t.code.iter().zip(&t.access).enumerate() {
            if let Some((kind, order)) = kind(i, *access) {
                let text = program.origin(k, pc).text.clone();
                found.entry(site(program, k, pc, kind)).or_insert((order, text));
            }
        }
    }
    found
}

/// The program with other orders at some places.
fn changed(program: &Program, orders: &BTreeMap<Site, Order>) -> Program {
    let mut next = program.clone();
    next.weak_orders = true;
    for (k, t) in next.templates.iter_mut().enumerate() {
        for pc in 0..t.code.len() {
            let Some((kind, _)) = kind(&t.code[pc], t.access[pc]) else { continue };
            let Some(&to) = orders.get(&site(program, k, pc, kind)) else { continue };
            match (&mut t.code[pc], &mut t.access[pc]) {
                (Instr::Fence(order), _) | (_, Access::Atomic(order)) => *order = to,
                // A failure that has the order of a success is an operation that cannot fail, or
                // both are changed.
                (_, Access::Update(done, failed)) if done == failed => (*done, *failed) = (to, to),
                (_, Access::Update(done, _)) => *done = to,
                _ => {}
            }
        }
    }
    next
}

/// Asks about one operation after the other; the program is SAFE as it stands.
pub(crate) fn weakest(job: &Job<'_>, posed: &Posed, limits: &Limits) -> Result<Vec<WeakestOrder>, Error> {
    let program = posed.loaded.query.program.clone();
    let sites = sites(&program);
    let mut together = BTreeMap::new();
    let mut found = Vec::new();
    let mut left = 2 * sites.len() as u32;
    for (site, (order, text)) in &sites {
        let mut try_with = |before: &BTreeMap<Site, Order>| -> Result<Order, Error> {
            left = left.saturating_sub(1);
            let weaker = orders_of(site.1).iter().filter(|o| *o != order && o.join(*order) == *order);
            for &candidate in weaker {
                let mut orders = before.clone();
                orders.insert(site.clone(), candidate);
                let next = posed.with_program(Arc::new(changed(&program, &orders)));
                if orders::holds(job, &next, &orders::share(limits, left + 1))? {
                    return Ok(candidate);
                }
            }
            Ok(*order)
        };
        let alone = try_with(&BTreeMap::new())?;
        let greedily = if alone == *order { *order } else { try_with(&together)? };
        together.insert(site.clone(), greedily);
        let ((file, line, _), kind) = site.clone();
        found.push(WeakestOrder {
            file,
            line,
            text: text.clone(),
            kind,
            order: *order,
            alone,
            together: greedily,
        });
    }
    Ok(found)
}
