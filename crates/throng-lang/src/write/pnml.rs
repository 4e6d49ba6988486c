//! PNML place/transition nets, with the targets as a property file.
//!
//! PNML has no transfers, and no "any number of tokens": a place that may start with any number
//! gets a transition that adds tokens to it, which preserves the answers for plain nets.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::threads::{with_met_targets, with_one_initial};
use super::{Companion, Refusal, Used, Written, origin_text};
use crate::system::System;
use throng_model::{Bag, Local};

/// Writes `.pnml` and properties.
pub(super) fn write(system: &System) -> Result<Written, Refusal> {
    let system = with_met_targets(with_one_initial(system)?)?;
    if let Some(step) = system.table.steps().iter().find(|s| !system.table.fates(s.edge).is_empty()) {
        return Err(Refusal(format!(
            "{} moves, removes or tests other threads; PNML has only plain arcs",
            origin_text(&system.table, step.edge)
        )));
    }
    let used = Used::of(&system, &[]);
    let with_shared = used.shared.len() > 1;
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
         <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n<page id=\"page\">\n",
    );
    let initial = system.initial.first();
    for (&l, id) in &used.locals {
        place(&mut text, id, initial.map_or(0, |i| i.threads.count(Local(l))));
    }
    if with_shared {
        for (&s, id) in &used.shared {
            place(&mut text, id, u32::from(initial.is_some_and(|i| i.shared.0 == s)));
        }
    }
    let mut net = Net { text, arcs: 0 };
    for step in system.table.steps() {
        let t = format!("t.{}", step.edge.0);
        net.transition(&t);
        net.arcs(&step.take, &used, |p| (p.to_string(), t.clone()));
        net.arcs(&step.put, &used, |p| (t.clone(), p.to_string()));
        net.arcs(&step.spawn, &used, |p| (t.clone(), p.to_string()));
        if with_shared {
            net.arc(used.shared(step.from), &t, 1);
            net.arc(&t, used.shared(step.to), 1);
        }
    }
    let any: BTreeSet<Local> = initial.iter().flat_map(|i| i.any.iter().copied()).collect();
    for l in any {
        let t = format!("more.{}", used.local(l));
        net.transition(&t);
        net.arc(&t, used.local(l), 1);
    }
    net.text.push_str("</page>\n</net>\n</pnml>\n");
    let mut written = Written::new(net.text);
    written.companion = Some(Companion { extension: "xml", text: properties(&system, &used, with_shared) });
    Ok(written)
}

fn place(text: &mut String, id: &str, tokens: u32) {
    let _ = match tokens {
        0 => writeln!(text, "<place id=\"{id}\"/>"),
        n => writeln!(text, "<place id=\"{id}\"><initialMarking><text>{n}</text></initialMarking></place>"),
    };
}

struct Net {
    text: String,
    arcs: u64,
}

impl Net {
    fn transition(&mut self, id: &str) {
        let _ = writeln!(self.text, "<transition id=\"{id}\"/>");
    }

    fn arc(&mut self, source: &str, target: &str, weight: u32) {
        self.arcs += 1;
        let _ = write!(self.text, "<arc id=\"a.{}\" source=\"{source}\" target=\"{target}\"", self.arcs);
        let _ = match weight {
            1 => writeln!(self.text, "/>"),
            n => writeln!(self.text, "><inscription><text>{n}</text></inscription></arc>"),
        };
    }

    fn arcs(&mut self, bag: &Bag, used: &Used, ends: impl Fn(&str) -> (String, String)) {
        for &(l, n) in bag.entries() {
            let (source, target) = ends(used.local(l));
            self.arc(&source, &target, n);
        }
    }
}

/// Writes one property per target: it can be reached.
fn properties(system: &System, used: &Used, with_shared: bool) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<property-set xmlns=\"http://mcc.lip6.fr/\">\n",
    );
    for (i, target) in system.targets.iter().enumerate() {
        let name = escaped(&target.name);
        let _ = writeln!(text, "<property><id>target-{i}</id><description>{name}</description>");
        text.push_str("<formula><exists-path><finally><disjunction>\n");
        for config in &target.configs {
            text.push_str("<conjunction>");
            if with_shared {
                at_least(&mut text, used.shared(config.shared), 1);
            }
            for &(l, n) in config.threads.entries() {
                at_least(&mut text, used.local(l), n);
            }
            text.push_str("</conjunction>\n");
        }
        text.push_str("</disjunction></finally></exists-path></formula></property>\n");
    }
    text.push_str("</property-set>\n");
    text
}

fn at_least(text: &mut String, place: &str, n: u32) {
    let _ = write!(
        text,
        "<integer-le><integer-constant>{n}</integer-constant><tokens-count><place>{place}</place></tokens-count></integer-le>"
    );
}

fn escaped(text: &str) -> String {
    quick_xml::escape::escape(super::comment(text)).into_owned()
}
