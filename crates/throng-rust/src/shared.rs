//! Generic functions that another crate has compiled already.
//!
//! Without optimisation, rustc only declares an instance of a generic function that std has in it,
//! such as those of `Vec<u8>`: the machine code is shared. A run that says it will be optimised, and
//! is not, has their code. Only what is missing is taken from there: functions of std, whose MIR is
//! that of the compiled std in either run, so that nothing of the program is lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::whole::symbol;

/// Returns the code of functions that a module declares and that the other one defines, with all
/// that they need of it, as a module of its own; `None` if there are none.
pub(crate) fn missing(module: &str, other: &str) -> Option<String> {
    let parts = Parts::of(other);
    let defined: BTreeSet<&str> =
        module.lines().filter_map(|l| l.strip_prefix("define ")).filter_map(symbol).collect();
    let declared = module.lines().filter_map(|l| l.strip_prefix("declare ")).filter_map(symbol);
    let instances: BTreeMap<&str, &str> =
        parts.functions.keys().filter_map(|&name| Some((instance(name)?, name))).collect();
    let renamed: BTreeMap<&str, &str> =
        declared.filter_map(|name| Some((*instances.get(instance(name)?)?, name))).collect();
    if renamed.is_empty() {
        return None;
    }
    let mut text = parts.head.join("\n") + "\n";
    let (mut work, mut seen) = (renamed.keys().copied().collect::<Vec<_>>(), BTreeSet::new());
    while let Some(name) = work.pop() {
        if !seen.insert(name) || defined.contains(name) {
            continue;
        }
        let Some(lines) = parts.lines(name) else { continue };
        for line in lines {
            work.extend(names(line).map(|(_, name)| name));
            text.push_str(&rewritten(line, &renamed));
            text.push('\n');
        }
    }
    Some(text)
}

/// Returns whether a module declares functions that another crate has instances of.
pub(crate) fn may_miss(module: &str) -> bool {
    let declared = module.lines().filter_map(|l| l.strip_prefix("declare ")).filter_map(symbol);
    declared.into_iter().any(|name| instance(name).is_some())
}

/// Returns a mangled name without the crate that has compiled the instance, which comes last.
fn instance(name: &str) -> Option<&str> {
    let at = name.strip_prefix("_R").and_then(|_| name.rfind("Cs"))?;
    let (hash, rest) = name[at + 2..].split_once('_')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest[..digits].parse().ok()?;
    let krate = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
    let is_last = krate.len() == length && hash.bytes().all(|b| b.is_ascii_alphanumeric());
    // A name that ends with the crate it is defined in has nothing before it.
    (is_last && at > 4).then(|| &name[..at])
}

/// A module in parts: functions, variables and descriptions by name, and the rest.
struct Parts<'t> {
    head: Vec<&'t str>,
    functions: BTreeMap<&'t str, Vec<&'t str>>,
    others: BTreeMap<&'t str, &'t str>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Parts<'t> {
        let mut parts = Parts { head: Vec::new(), functions: BTreeMap::new(), others: BTreeMap::new() };
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("define ").and_then(symbol) {
                let mut body = vec![line];
                for line in lines.by_ref() {
                    body.push(line);
                    if line == "}" {
                        break;
                    }
                }
                parts.functions.insert(name, body);
            } else if let Some((name, _)) = line.split_once(" = ").filter(|_| line.starts_with(['@', '!'])) {
                parts.others.insert(name.trim_start_matches('@').trim_matches('"'), line);
            } else if !line.starts_with(';') && !line.starts_with("declare ") {
                parts.head.push(line);
            }
        }
        parts
    }

    fn lines(&self, name: &str) -> Option<&[&'t str]> {
        match self.functions.get(name) {
            Some(lines) => Some(lines),
            None => self.others.get(name).map(std::slice::from_ref),
        }
    }
}

/// The names in a line of functions, variables and descriptions, with their places.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts = line.match_indices(['@', '!']);
    starts.filter_map(|(at, sign)| {
        let rest = &line[at + 1..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        match (sign, rest.strip_prefix('"')) {
            ("@", Some(quoted)) => Some((at + 2, quoted.split('"').next()?)),
            ("@", None) => Some((at + 1, &rest[..end])),
            _ => rest[..end].parse::<u32>().ok().map(|_| (at, &line[at..at + 1 + end])),
        }
    })
}

/// Returns a line with other names. A function may be defined in several modules alike.
fn rewritten(line: &str, renamed: &BTreeMap<&str, &str>) -> String {
    let (mut found, mut from) = (String::new(), 0);
    for (at, name) in names(line) {
        if let Some(new) = renamed.get(name) {
            found.push_str(&line[from..at]);
            found.push_str(new);
            from = at + name.len();
        }
    }
    found.push_str(&line[from..]);
    match found.strip_prefix("define ") {
        Some(head) => {
            let words = ["internal ", "hidden ", "dso_local ", "linkonce_odr "];
            let plain = words.iter().fold(head, |head, word| head.strip_prefix(word).unwrap_or(head));
            format!("define linkonce_odr {plain}")
        }
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_the_same_whichever_crate_has_compiled_them() {
        let one = "_RNvMs2_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner10deallocateCsduwmD7cSIQq_5gimli";
        let two = "_RNvMs2_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner10deallocateCs1qsuw7F4uma_2rw";
        assert!(instance(one).is_some() && instance(one) == instance(two));
        assert_eq!(instance("_RNvNtCsgEmfK2I1SDS_4core6option13unwrap_failed"), None);
        assert_eq!(instance("memcpy"), None);
    }

    #[test]
    fn what_is_missing_comes_with_all_that_it_needs() {
        let module =
            "declare void @_RNvNtCsa_5alloc4growCsb_5gimli()\ndefine void @_RNvCsc_1x4mineCsc_1x() {\n}\n";
        let other = "%T = type { i8 }\n@text = private constant [1 x i8] c\"x\"\n@unused = global i8 0\n\
                     define hidden void @_RNvNtCsa_5alloc4growCsc_1x() !dbg !1 {\n  call void @helper(ptr @text)\n  \
                     call void @_RNvCsc_1x4mineCsc_1x()\n}\ndefine internal void @helper() {\n}\n\
                     define void @_RNvCsc_1x4mineCsc_1x() {\n}\n!1 = !{!2}\n!2 = !{}\n!3 = !{}\n";
        let text = missing(module, other).expect("one is missing");
        for part in [
            "define linkonce_odr void @_RNvNtCsa_5alloc4growCsb_5gimli()",
            "@text =",
            "void @helper() {",
            "!2 =",
            "%T =",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["@unused", "define linkonce_odr void @_RNvCsc_1x4mine", "!3"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
        assert_eq!(missing("declare void @memcpy()\n", other), None);
    }
}
