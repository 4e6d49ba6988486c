//! As much YAML as witnesses need: lists and maps in block style, `[]`, plain and quoted texts in
//! one line.

/// A part of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Option<&[Node]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(entries) => entries.iter().find(|e| e.0 == key).map(|e| &e.1),
            _ => None,
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Node> {
        let entries = match self {
            Node::Map(entries) => &entries[..],
            _ => &[],
        };
        entries.iter().map(|e| &e.1)
    }
}

/// The deepest nesting.
const DEEPEST: usize = 50;

pub(super) fn read(text: &str) -> Result<Node, String> {
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start_matches(' ');
        if rest.contains('\t') {
            return Err("tabs are not supported".into());
        }
        if !rest.is_empty() && !rest.starts_with('#') && rest != "---" {
            lines.push((line.len() - rest.len(), rest.trim_end()));
        }
    }
    let mut reader = Reader { lines, at: 0 };
    let indent = reader.lines.first().ok_or("the file is empty")?.0;
    let node = reader.block(indent, 0)?;
    match reader.lines.get(reader.at) {
        Some((_, line)) => Err(format!("unexpected: {line}")),
        None => Ok(node),
    }
}

struct Reader<'t> {
    /// Indentation and text of each line; a list item's text is read in place of its line.
    lines: Vec<(usize, &'t str)>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn block(&mut self, indent: usize, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err("nested too deeply".into());
        }
        let Some(&(_, first)) = self.lines.get(self.at) else {
            return Err("something is missing at the end".into());
        };
        if first == "-" || first.starts_with("- ") {
            self.list(indent, depth)
        } else {
            self.map(indent, depth)
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Node, String> {
        let mut items = Vec::new();
        while let Some(&(here, line)) = self.lines.get(self.at) {
            if here != indent || !(line == "-" || line.starts_with("- ")) {
                break;
            }
            let rest = line[1..].trim_start();
            if rest.is_empty() {
                self.at += 1;
                items.push(self.inner(indent, depth)?);
            } else if key(rest).is_some() {
                // A map whose first entry stands in the same line.
                let inside = here + (line.len() - rest.len());
                self.lines[self.at] = (inside, rest);
                items.push(self.block(inside, depth + 1)?);
            } else {
                self.at += 1;
                items.push(scalar(rest)?);
            }
        }
        Ok(Node::List(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Node, String> {
        let mut entries = Vec::new();
        while let Some(&(here, line)) = self.lines.get(self.at) {
            if here != indent || line.starts_with("- ") {
                break;
            }
            let (name, rest) = key(line).ok_or_else(|| format!("expected `key: value`: {line}"))?;
            self.at += 1;
            let value = if rest.is_empty() { self.inner(indent, depth)? } else { scalar(rest)? };
            entries.push((name, value));
        }
        match entries.is_empty() {
            true => Err(format!("unexpected: {}", self.lines[self.at].1)),
            false => Ok(Node::Map(entries)),
        }
    }

    /// What belongs to the line before: it is indented further, or is a list with the same
    /// indentation.
    fn inner(&mut self, indent: usize, depth: usize) -> Result<Node, String> {
        match self.lines.get(self.at) {
            Some(&(here, line)) if here > indent || here == indent && line.starts_with("- ") => {
                self.block(here, depth + 1)
            }
            _ => Ok(Node::Text(String::new())),
        }
    }
}

/// Returns the key that a line begins with, and the rest.
fn key(line: &str) -> Option<(String, &str)> {
    let end = match line.as_bytes().first()? {
        b'"' => closing(line)?,
        _ => line.find(": ").or(line.strip_suffix(':').map(str::len))?,
    };
    let rest = line[end..].strip_prefix(':')?;
    let name = match scalar(&line[..end]).ok()? {
        Node::Text(text) => text,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with(' ')).then(|| (name, rest.trim_start()))
}

/// Returns one past the quotation mark that closes a text.
fn closing(line: &str) -> Option<usize> {
    let mut escaped = false;
    for (i, b) in line.bytes().enumerate().skip(1) {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(i + 1),
            _ => {}
        }
    }
    None
}

fn scalar(text: &str) -> Result<Node, String> {
    if text == "[]" {
        return Ok(Node::List(Vec::new()));
    }
    if let Some(inner) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return Ok(Node::Text(inner.replace("''", "'")));
    }
    if !text.starts_with('"') {
        return match text.starts_with(['[', '{', '&', '*', '|', '>', '!']) {
            true => Err(format!("not supported: {text}")),
            false => Ok(Node::Text(text.to_string())),
        };
    }
    if closing(text) != Some(text.len()) {
        return Err(format!("a text that does not end: {text}"));
    }
    let (mut out, mut chars) = (String::new(), text[1..text.len() - 1].chars());
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('x')) => {
                let digits: String = chars.by_ref().take(2).collect();
                let code = u8::from_str_radix(&digits, 16).map_err(|_| format!("not supported: {text}"))?;
                out.push(char::from(code));
            }
            ('\\', Some(c)) => out.push(c),
            (c, _) => out.push(c),
        }
    }
    Ok(Node::Text(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_and_nonsense_is_refused() {
        let text = "- a: \"x \\\"y\\\"\"\n  list:\n    - b: 1\n      c:\n        - 'it''s'\n    - two\n  same:\n  - d\n  empty: []\n";
        let root = read(text).unwrap();
        let first = &root.items().unwrap()[0];
        assert_eq!(first.get("a").and_then(Node::text), Some("x \"y\""));
        let list = first.get("list").and_then(Node::items).unwrap();
        assert_eq!(list[0].get("c").and_then(Node::items).unwrap()[0].text(), Some("it's"));
        assert_eq!(list[1].text(), Some("two"));
        assert_eq!(first.get("same").and_then(Node::items).unwrap().len(), 1);
        assert_eq!(first.get("empty").and_then(Node::items), Some(&[][..]));
        let deep: String = (0..200).map(|n| format!("{}- a:\n", " ".repeat(n))).collect();
        for bad in ["", "a", "- a: \"x", "- a: {b}", "a: 1\n  b: 2", "a: 1\n b", &deep] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
