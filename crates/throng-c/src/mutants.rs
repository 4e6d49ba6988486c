//! What can be changed in a C program: assertions, locks, atomic sections and operations, in the
//! functions that threads run.
//!
//! The text that the parser reads is changed, so that a changed program is a C program like any
//! other, and its runs can be replayed.

mod assertions;

use std::collections::{BTreeMap, HashSet};

use crate::syntax::ast::*;
use crate::syntax::visit::{self, Visit};

use crate::library::special::{ATOMIC_FUNCTION, Meaning, Thread, is_atomic_function, special};
use crate::lower::written_name;
use crate::preprocess::Prepared;
use crate::{Loaded, on_large_stack, parse};
use throng_lang::load::Rejected;
use throng_lang::mutant::{Change, Edit, Mutant};

/// Returns the program with one thing changed, in all ways, in the order of the text.
pub fn mutants(loaded: &Loaded) -> Vec<Mutant> {
    on_large_stack(|| {
        let Ok(units) = parse(&loaded.text) else { return Vec::new() };
        let unit = TranslationUnit(units.into_iter().flat_map(|u| u.0).collect());
        let mut live: HashSet<&str> = HashSet::new();
        for t in &loaded.query.program.templates {
            let functions = t.origins.iter().map(|&o| &loaded.query.program.origins[o as usize].function);
            live.extend(functions.flat_map(|f| f.split(" > ")).map(written_name));
        }
        let mut found = assertions::mutants(&loaded.text, &unit, &live, &loaded.query.question.error_labels);
        found.extend(synchronisation(&loaded.text, &unit, &live));
        found.sort_by_key(|m| m.edits.first().map(|e| e.from));
        found
    })
    .unwrap_or_default()
}

/// Reads a program with something changed.
pub fn mutated(loaded: &Loaded, mutant: &Mutant) -> Result<Loaded, Rejected> {
    loaded.text().mutated(mutant).asking(&loaded.query.question)
}

/// Returns the user's line of a passage.
fn line(text: &Prepared, span: Span) -> u32 {
    text.origin(span.start, span.end).1
}

/// Returns the user's line of a passage as it is written.
fn written(text: &Prepared, span: Span) -> String {
    text.origin(span.start, span.end).3
}

fn edit(span: Span, with: String) -> Edit {
    Edit { from: span.start, to: span.end, with }
}

/// Returns the name and parameters of a function.
fn named(f: &FunctionDefinition) -> (&str, Vec<&str>) {
    let mut declarator = &f.declarator.node;
    while let DeclaratorKind::Declarator(inner) = &declarator.kind.node {
        declarator = &inner.node;
    }
    let mut parameters = Vec::new();
    for part in &declarator.derived {
        if let DerivedDeclarator::Function(function) = &part.node {
            let names = function.parameters.iter().map(|p| match &p.node.declarator {
                Some(d) => name_of(&d.node),
                None => "",
            });
            parameters.extend(names);
        }
        if let DerivedDeclarator::KRFunction(names) = &part.node {
            parameters.extend(names.iter().map(|n| n.node.name.as_str()));
        }
    }
    (name_of(declarator), parameters)
}

fn name_of(declarator: &Declarator) -> &str {
    match &declarator.kind.node {
        DeclaratorKind::Identifier(n) => &n.node.name,
        DeclaratorKind::Declarator(inner) => name_of(&inner.node),
        DeclaratorKind::Abstract => "",
    }
}

/// Returns the name of the function that is called, if it is named.
fn callee(c: &CallExpression) -> Option<&str> {
    match &c.callee.node {
        Expression::Identifier(n) => Some(&n.node.name),
        _ => None,
    }
}

/// Locks, atomic sections and atomic operations.
fn synchronisation(text: &Prepared, unit: &TranslationUnit, live: &HashSet<&str>) -> Vec<Mutant> {
    let mut finder = Finder { text, locks: BTreeMap::new(), sections: Vec::new(), found: Vec::new() };
    for item in &unit.0 {
        let ExternalDeclaration::FunctionDefinition(f) = &item.node else { continue };
        let (name, _) = named(&f.node);
        if !live.contains(name) {
            continue;
        }
        if is_atomic_function(name) {
            finder.unatomic(name, f.node.declarator.span);
        }
        let before = finder.sections.len();
        finder.statement(&f.node.statement);
        finder.pair_sections(before);
    }
    let Finder { locks, sections, mut found, .. } = finder;
    for (name, mut edits) in locks {
        edits.sort_by_key(|e| e.from);
        let lines = lines(text, edits.iter());
        found.push(Mutant { change: Change::Unlocked, lines, what: name, edits });
    }
    for (_, mut edits) in sections {
        edits.sort_by_key(|e| e.from);
        let lines = lines(text, edits.iter());
        found.push(Mutant { change: Change::Unatomic, lines, what: "atomic section".into(), edits });
    }
    found
}

fn lines<'e>(text: &Prepared, edits: impl Iterator<Item = &'e Edit>) -> Vec<u32> {
    let mut lines: Vec<u32> = edits.map(|e| text.origin(e.from, e.to).1).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

struct Finder<'a> {
    text: &'a Prepared,
    /// What is done to each lock, by the expression that names it.
    locks: BTreeMap<String, Vec<Edit>>,
    /// Calls that begin (`true`) or end an atomic section; those of one section together.
    sections: Vec<(bool, Vec<Edit>)>,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    fn source(&self, span: Span) -> &str {
        &self.text.text[span.start..span.end]
    }

    /// A function that is an atomic section gets a name that says nothing.
    fn unatomic(&mut self, name: &str, at: Span) {
        let text = &self.text.text;
        let word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let is_whole = |i: &usize| {
            let bytes = text.as_bytes();
            !word(i.checked_sub(1).and_then(|i| bytes.get(i))) && !word(bytes.get(i + name.len()))
        };
        let with = name.replacen(ATOMIC_FUNCTION, "__throng_plain_", 1);
        let places = text.match_indices(name).map(|m| m.0).filter(is_whole);
        let edits = places.map(|i| Edit { from: i, to: i + name.len(), with: with.clone() }).collect();
        let lines = vec![line(self.text, at)];
        self.found.push(Mutant { change: Change::Unatomic, lines, what: name.to_string(), edits });
    }

    /// Of a function: each begin with the ends before the next one. If some end has no begin, or
    /// the other way round, all are one section.
    fn pair_sections(&mut self, from: usize) {
        let calls = self.sections.split_off(from);
        let mut found: Vec<Vec<Edit>> = Vec::new();
        for (begins, edits) in &calls {
            match found.last_mut() {
                Some(last) if !begins => last.extend(edits.iter().cloned()),
                _ => found.push(edits.clone()),
            }
        }
        let paired = calls.first().is_none_or(|c| c.0) && found.iter().all(|edits| edits.len() > 1);
        if paired {
            self.sections.extend(found.into_iter().map(|edits| (true, edits)));
        } else {
            // Another function begins or ends it.
            let all = calls.into_iter().flat_map(|c| c.1);
            match self.sections.iter_mut().find(|s| !s.0) {
                Some(open) => open.1.extend(all),
                None => self.sections.push((false, all.collect())),
            }
        }
    }

    /// A call that takes or releases a lock does nothing.
    fn lock(&mut self, c: &CallExpression, span: Span) {
        if let Some(lock) = self.argument(c, 0) {
            self.locks.entry(lock).or_default().push(edit(span, "0".into()));
        }
    }

    /// While a thread waits for a condition, it holds the lock for the wait alone.
    fn wait(&mut self, c: &CallExpression, span: Span) {
        let Some(lock) = self.argument(c, 1) else { return };
        let call = self.source(span);
        let with = format!("(pthread_mutex_lock({lock}), {call}, pthread_mutex_unlock({lock}))");
        self.locks.entry(lock).or_default().push(edit(span, with));
    }

    fn argument(&self, c: &CallExpression, n: usize) -> Option<String> {
        c.arguments.get(n).map(|a| self.source(a.span).trim().to_string())
    }

    /// An atomic operation as a read and a write.
    fn split(&mut self, name: &str, c: &CallExpression, span: Span) {
        let arguments: Vec<&str> = c.arguments.iter().map(|a| self.source(a.span)).collect();
        let Some(with) = in_two(name, &arguments, span.start) else { return };
        let (lines, what) = (vec![line(self.text, span)], written(self.text, span));
        self.found.push(Mutant { change: Change::Split, lines, what, edits: vec![edit(span, with)] });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    // What is only measured is not executed: `assert` has its condition in there a second time.
    fn expression(&mut self, e: &'ast Node<Expression>) {
        visit::expression(self, e);
        let Expression::Call(c) = &e.node else { return };
        let (c, span) = (&c.node, e.span);
        let Some(name) = callee(c) else { return };
        match special(name, false) {
            Some(Meaning::Thread(function)) if function.locks() => self.lock(c, span),
            Some(Meaning::Thread(Thread::ConditionWait(_))) => self.wait(c, span),
            Some(Meaning::AtomicBegin) => self.sections.push((true, vec![edit(span, "((void)0)".into())])),
            Some(Meaning::AtomicEnd) => self.sections.push((false, vec![edit(span, "((void)0)".into())])),
            _ => self.split(name, c, span),
        }
    }
}

/// A read and a write, each atomic, that do what an operation does; `None` if it does not both read
/// and write.
fn in_two(name: &str, arguments: &[&str], unique: usize) -> Option<String> {
    let rest = match name.strip_prefix("atomic_") {
        // Where these are no macros.
        Some(rest) => match rest.trim_end_matches("_explicit") {
            "exchange" => "exchange_n",
            "flag_test_and_set" => "test_and_set",
            "compare_exchange_strong" | "compare_exchange_weak" => "compare_exchange_n",
            rest if rest.starts_with("fetch_") => rest,
            _ => return None,
        },
        None => name.strip_prefix("__atomic_").or(name.strip_prefix("__sync_"))?,
    };
    let [p, more @ ..] = arguments else { return None };
    let (pointer, old) = (format!("throng_p{unique}"), format!("throng_old{unique}"));
    let read = format!("__auto_type {pointer} = ({p}); __auto_type {old} = __atomic_load_n({pointer}, 5);");
    let write = |value: String| format!("__atomic_store_n({pointer}, {value}, 5);");
    let first = || more.first().map(|v| format!("({v})"));
    let body = match rest {
        "exchange_n" | "lock_test_and_set" => format!("{read} {} {old};", write(first()?)),
        "exchange" => {
            let [v, result, ..] = more else { return None };
            format!("{read} {} *({result}) = {old};", write(format!("*({v})")))
        }
        "test_and_set" => {
            let read = read.replace(&format!("({p})"), &format!("(unsigned char *)({p})"));
            format!("{read} {} {old} != 0;", write("1".into()))
        }
        "compare_exchange_n" | "compare_exchange" => {
            let [expected, new, ..] = more else { return None };
            let new = if rest.ends_with("_n") { format!("({new})") } else { format!("*({new})") };
            let (e, same) = (format!("throng_e{unique}"), format!("throng_same{unique}"));
            format!(
                "{read} __auto_type {e} = ({expected}); int {same} = {old} == *{e}; if ({same}) {} else *{e} = {old}; {same};",
                write(new)
            )
        }
        "bool_compare_and_swap" | "val_compare_and_swap" => {
            let [expected, new, ..] = more else { return None };
            let same = format!("throng_same{unique}");
            let result = if rest.starts_with("bool") { &same } else { &old };
            format!(
                "{read} int {same} = {old} == ({expected}); if ({same}) {} {result};",
                write(format!("({new})"))
            )
        }
        _ => {
            let (word, gives_old) = if let Some(word) = rest.strip_prefix("fetch_and_") {
                (word, true)
            } else if let Some(word) = rest.strip_prefix("fetch_") {
                (word, true)
            } else {
                (rest.strip_suffix("_and_fetch").or(rest.strip_suffix("_fetch"))?, false)
            };
            let new = match word {
                "add" => format!("({old} + {})", first()?),
                "sub" => format!("({old} - {})", first()?),
                "and" => format!("({old} & {})", first()?),
                "or" => format!("({old} | {})", first()?),
                "xor" => format!("({old} ^ {})", first()?),
                "nand" => format!("~({old} & {})", first()?),
                _ => return None,
            };
            let result = if gives_old { old.clone() } else { format!("throng_new{unique}") };
            format!(
                "{read} __auto_type throng_new{unique} = {new}; {} {result};",
                write(format!("throng_new{unique}"))
            )
        }
    };
    Some(format!("({{ {body} }})"))
}
