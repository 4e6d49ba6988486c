//! Names of functions: mangled in the text, and as they are written in the source.

/// Returns a name as it is written in the source, without hashes: `core::ptr::drop_in_place::<u8>`.
/// A name that is not mangled stays.
pub fn demangled(name: &str) -> String {
    match rustc_demangle::try_demangle(name) {
        Ok(name) => format!("{name:#}"),
        Err(_) => name.to_string(),
    }
}

/// Returns a name without the types that generic functions were made for: `core::ptr::read`.
pub fn without_types(name: &str) -> String {
    let (mut found, mut depth, mut last) = (String::new(), 0usize, ' ');
    // The brackets of `<T as Trait>::f` are part of the path.
    for (at, c) in name.char_indices() {
        match c {
            '<' if at == 0 && depth == 0 => found.push(c),
            '<' => depth += 1,
            '>' if last == '-' => {}
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => found.push(c),
            _ => {}
        }
        last = c;
    }
    found.trim_end_matches("::").to_string()
}

/// Returns the last part of a path: `worker` of `crate::module::worker`.
pub fn last_part(name: &str) -> &str {
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Returns whether a path ends with the parts that were asked for: `a::b::f` ends with `b::f`.
pub fn ends_with(path: &str, asked: &str) -> bool {
    path == asked || path.strip_suffix(asked).is_some_and(|rest| rest.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_where_they_are_joined() {
        assert_eq!(demangled("_RNvCs1irAoxdLcRm_10spin_guard6INSIDE"), "spin_guard::INSIDE");
        assert_eq!(demangled("worker"), "worker");
        assert_eq!(without_types("core::ptr::drop_in_place::<a::G<u32>>"), "core::ptr::drop_in_place");
        assert_eq!(last_part("<a::Lock<b::T>>::lock"), "lock");
        assert!(ends_with("a::tests::worker", "tests::worker"));
        assert!(ends_with("worker", "worker"));
        assert!(!ends_with("a::my_worker", "worker"));
    }
}
