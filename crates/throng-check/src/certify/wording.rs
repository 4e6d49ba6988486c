//! The question of a certificate in words.

use crate::certificate::names::{LocalName, SharedName};
use crate::certificate::{Count, Document, Most, Start};

pub(super) fn bound_text(bound: Most) -> String {
    match bound {
        Most::Any => "any number".into(),
        Most::Threads(n) => format!("at most {n}"),
        Most::Tokens(n) => {
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
    let shared = |i: u32| match document.states.shared.get(i as usize) {
        Some(SharedName::Name(name)) => name.clone(),
        _ => "?".into(),
    };
    let local = |i: u32| match document.states.local.get(i as usize) {
        Some(LocalName::Name(name)) => name.clone(),
        _ => "?".into(),
    };
    let texts = families.iter().map(|family| {
        let exactly = family.threads.iter().map(|&(l, n)| match n {
            1 => local(l),
            n => format!("{n} × {}", local(l)),
        });
        let mut text = format!("{}|{}", shared(family.shared), exactly.collect::<Vec<_>>().join(","));
        if !family.any.is_empty() {
            let any: Vec<String> = family.any.iter().map(|&l| local(l)).collect();
            text.push_str(&format!("/{}", any.join(",")));
        }
        text
    });
    texts.collect::<Vec<_>>().join(" or ")
}
