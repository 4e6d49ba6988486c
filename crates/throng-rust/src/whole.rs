//! Which functions are kept whole, because they are modelled: their calls are what is read, not
//! their code.

use std::collections::BTreeSet;

/// Returns the symbols of a module in LLVM IR that are kept whole, sorted, as the file that the
/// pass `forceattrs` reads.
///
/// Before each function, rustc writes a comment with the name that people know it by.
pub fn listed<'a>(modules: impl IntoIterator<Item = &'a str>, is_modelled: &dyn Fn(&str) -> bool) -> String {
    let found: BTreeSet<&str> = modules
        .into_iter()
        .flat_map(definitions)
        .filter(|(name, _)| is_modelled(name))
        .map(|(_, s)| s)
        .collect();
    let mut lines: Vec<String> = found.into_iter().map(|symbol| format!("{symbol},noinline\n")).collect();
    lines.sort();
    lines.concat()
}

/// Returns the functions that a module defines: the name for people, and the symbol.
pub fn definitions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut name = None;
    text.lines().filter_map(move |line| {
        if let Some(comment) = line.strip_prefix("; ") {
            if !comment.starts_with("Function Attrs:") {
                name = Some(comment);
            }
            return None;
        }
        let found =
            line.strip_prefix("define ").and_then(symbol).map(|symbol| (name.unwrap_or(symbol), symbol));
        name = None;
        found
    })
}

/// Returns the symbol in the head of a definition.
pub(crate) fn symbol(head: &str) -> Option<&str> {
    let (_, after) = head.split_once('@')?;
    let end = after.find('(')?;
    Some(after[..end].trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
; a::lock
; Function Attrs: nonlazybind uwtable
define hidden void @_Ra(ptr %x) unnamed_addr #0 {
}

define i32 @plain() {
}
; std::park
declare void @_Rb()
define void @\"odd name\"() {
}
";

    #[test]
    fn functions_have_the_names_of_the_comments_before_them() {
        let found: Vec<_> = definitions(TEXT).collect();
        assert_eq!(found, [("a::lock", "_Ra"), ("plain", "plain"), ("odd name", "odd name")]);
    }

    #[test]
    fn what_is_modelled_is_listed_once_and_sorted() {
        let modelled = |name: &str| name != "plain";
        assert_eq!(listed([TEXT, TEXT], &modelled), "_Ra,noinline\nodd name,noinline\n");
    }
}
