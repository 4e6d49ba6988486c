//! Channels of the standard library: their queues are read as they are compiled, and a thread
//! that waits for a message or for room tries again and again.
//!
//! A thread that finds a queue empty, or full, enrols among those that wait and parks. It may wake
//! up for no reason, and then tries again; so a thread that never enrols does what one may do that
//! wakes up at once, each time, and a sender finds none to wake. Where it is asked whether
//! threads can be stuck, that would hide it.

use super::Model;
use crate::lower::{Operand, Problem, Result, Site, Writer};
use crate::names::without_types;
use throng_goto::program::Instr;

pub(super) fn model(name: &str) -> Option<Model> {
    Some(match without_types(name).as_str() {
        "<std::sync::mpmc::context::Context>::with" => waits,
        "<std::sync::mpmc::waker::SyncWaker>::notify" | "<std::sync::mpmc::waker::SyncWaker>::disconnect" => {
            notifies
        }
        "<std::time::Instant>::now" => time,
        _ => return None,
    })
}

/// A thread that waits until something has happened. Where the message is handed over meanwhile, the
/// call returns it: such channels have no queue, and are not modelled.
fn waits<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    if w.lower.asked.question.exact_waits() {
        return Err(Problem::unsupported("a channel, where it is asked whether threads get stuck,"));
    }
    // `with::<F, R>`: what `R` is.
    match site.name.ends_with(", ()>") {
        true => Ok(()),
        false => unmodelled(w, site, "a channel without a queue (`sync_channel(0)`)"),
    }
}

/// Code that is there for every channel, whether or not this one gets there: a run that does makes
/// the answer UNKNOWN.
fn unmodelled<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>, what: &str) -> Result<()> {
    let parts = w.leaves(&site.call.result)?.len();
    w.emit(Instr::Unmodelled(what.into()));
    w.set(site.result, vec![Operand::Undefined; parts]);
    Ok(())
}

/// A call that has no deadline does not look at the time, though the code for it is there.
fn time<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    unmodelled(w, site, "`Instant::now`")
}

fn notifies<'t>(_: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    Ok(())
}
