//! The question of a certificate in words. All text from the certificate is made printable: it may
//! have been forged.

use serde_json::{Value, json};

use crate::certificate::names::{LocalName, SharedName};
use crate::certificate::{Condition, Configuration, Count, Document, Property, Start};
use throng_model::problem::{Bound, Problem};

/// Maximum number of configurations of a target that are listed by name, and of threads in one
/// state that are listed one by one.
const LISTED: usize = 8;

/// Escapes the characters that a terminal would not print as they are: control characters, and
/// marks that change the direction of writing.
pub fn printable(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let shown = |c: char| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

pub(super) fn bound_text(problem: &Problem) -> String {
    match (problem.bound, problem.fixed_threads()) {
        (Bound::Any, Some((least, most))) if least == most => format!("{most}; no step adds any"),
        (Bound::Any, Some((least, most))) => format!("{least} to {most}; no step adds any"),
        (Bound::Any, None) => "any number".into(),
        (Bound::Threads(n), _) => format!("at most {n}"),
        (Bound::Tokens(n), _) => {
            format!(
                "at most {n} initial tokens, or the least allowed, in each place that may start with any number"
            )
        }
    }
}

pub(super) fn initial_text(document: &Document) -> String {
    let families = match &document.problem.initial {
        Start::Main(Count::Any(_)) => return "any number of threads at the entry of main".into(),
        Start::Main(Count::Exactly(1)) => return "1 thread at the entry of main".into(),
        Start::Main(Count::Exactly(n)) => return format!("{n} threads at the entry of main"),
        Start::Families(families) => families,
    };
    let texts = families.iter().map(|family| {
        let exactly = family.threads.iter().map(|&(l, n)| match n {
            1 => local(document, l),
            n => format!("{n} × {}", local(document, l)),
        });
        let mut text =
            format!("{}|{}", shared(document, family.shared), exactly.collect::<Vec<_>>().join(","));
        if !family.any.is_empty() {
            let any: Vec<String> = family.any.iter().map(|&l| local(document, l)).collect();
            text.push_str(&format!("/{}", any.join(",")));
        }
        text
    });
    printable(&texts.collect::<Vec<_>>().join(" or "))
}

/// Returns a name for a target that describes its property; the name in the certificate is not
/// used.
pub(super) fn property_text(document: &Document, property: &Property) -> String {
    let configs = match property {
        Property::Assertions => return "assertions".into(),
        Property::Deadlock => return "deadlock".into(),
        Property::ErrorLabel(label) => return printable(&format!("error label {label}")),
        Property::Mutex(label) => return printable(&format!("mutex {label}")),
        Property::AtMost(text) => return printable(&format!("at-most {text}")),
        Property::Never(text) => return printable(&format!("never {text}")),
        Property::Stuck(text) => return printable(&format!("stuck {text}")),
        Property::Starvation(text) => return printable(&format!("starvation {text}")),
        Property::Race(name) => return printable(&format!("race {name}")),
        Property::Invariant(text) => return printable(&format!("invariant {text}")),
        Property::State(text) => return printable(&format!("state {text}")),
        Property::Satisfies(condition) => return printable(&condition_text(document, condition)),
        Property::Covers(configs) => configs,
    };
    let config = |(s, threads): &Configuration| {
        let each = threads.iter().map(|&(l, n)| match n {
            Count::Exactly(n) if n as usize <= LISTED => vec![local(document, l); n as usize].join(","),
            Count::Exactly(n) => format!("{n} × {}", local(document, l)),
            Count::Any(_) => format!("any × {}", local(document, l)),
        });
        format!("{}|{}", shared(document, *s), each.collect::<Vec<_>>().join(","))
    };
    let mut texts: Vec<String> = configs.iter().take(LISTED).map(config).collect();
    if configs.is_empty() {
        texts.push("no configuration at all".into());
    }
    if configs.len() > LISTED {
        texts.push(format!("{} more", configs.len() - LISTED));
    }
    printable(&texts.join(" or "))
}

/// Returns a condition in words; at most [`LISTED`] parts of it.
fn condition_text(document: &Document, condition: &Condition) -> String {
    let joined = |parts: &[Condition], by: &str| {
        let mut texts: Vec<String> =
            parts.iter().take(LISTED).map(|p| format!("({})", condition_text(document, p))).collect();
        if parts.len() > LISTED {
            texts.push(format!("{} more", parts.len() - LISTED));
        }
        texts.join(by)
    };
    match condition {
        Condition::AtLeast(sum, least) => {
            let mut terms: Vec<String> =
                sum.iter().take(LISTED).map(|&(l, n)| format!("{n}·{}", local(document, l))).collect();
            if sum.len() > LISTED {
                terms.push(format!("{} more", sum.len() - LISTED));
            }
            format!("{} >= {least}", terms.join(" + "))
        }
        Condition::Dead => "nothing can move".into(),
        Condition::Live => "something can move".into(),
        Condition::All(parts) if parts.is_empty() => "anything".into(),
        Condition::Any(parts) if parts.is_empty() => "nothing at all".into(),
        Condition::All(parts) => joined(parts, " and "),
        Condition::Any(parts) => joined(parts, " or "),
    }
}

fn condition_json(document: &Document, condition: &Condition) -> Value {
    let each = |parts: &[Condition]| parts.iter().map(|p| condition_json(document, p)).collect::<Vec<_>>();
    match condition {
        Condition::AtLeast(sum, least) => {
            let terms: Vec<Value> = sum.iter().map(|(l, n)| json!([local(document, *l), n])).collect();
            json!({ "at-least": [terms, least] })
        }
        Condition::Dead | Condition::Live => json!(condition),
        Condition::All(parts) => json!({ "all": each(parts) }),
        Condition::Any(parts) => json!({ "any": each(parts) }),
    }
}

/// Returns the property as in the certificate, with names of states instead of indices.
pub(super) fn property_json(document: &Document, property: &Property) -> Value {
    if let Property::Satisfies(condition) = property {
        return json!({ "satisfies": condition_json(document, condition) });
    }
    let Property::Covers(configs) = property else { return json!(property) };
    let config = |(s, threads): &Configuration| {
        let threads: Vec<Value> = threads.iter().map(|(l, n)| json!([local(document, *l), n])).collect();
        json!([shared(document, *s), threads])
    };
    json!({ "covers": configs.iter().map(config).collect::<Vec<_>>() })
}

fn shared(document: &Document, i: u32) -> String {
    match document.states.shared.get(i as usize) {
        Some(SharedName::Name(name)) => name.clone(),
        _ => "?".into(),
    }
}

fn local(document: &Document, i: u32) -> String {
    match document.states.local.get(i as usize) {
        Some(LocalName::Name(name)) => name.clone(),
        _ => "?".into(),
    }
}
