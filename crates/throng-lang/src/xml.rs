//! Just enough XML for nets and properties: a tree, read with limits on every input.
//!
//! Document type declarations are refused (so there are no entities to expand), and nesting is
//! limited, so that functions on trees may be recursive.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::configuration::shortened;
use crate::patience::Patience;
use crate::source::{Diagnostic, Span};

/// Maximum nesting of elements.
const DEEPEST: usize = 200;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// Name without its namespace prefix.
    pub name: String,
    /// Attributes, names without prefix; those about the document (`xml:`, `xmlns:`, `xsi:`) are
    /// left out.
    pub attributes: Vec<(String, String)>,
    /// All text directly inside.
    pub text: String,
    /// Elements directly inside.
    pub children: Vec<Element>,
    /// Its start tag.
    pub span: Span,
}

impl Element {
    /// Returns the value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|a| a.0 == name).map(|a| a.1.as_str())
    }

    /// Returns the first element of this name directly inside.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }
}

/// Reads the root element. Elements named in `skip` are omitted with their contents, and so is the
/// rest of the text once the patience is over.
pub(crate) fn tree(text: &str, skip: &[&str], patience: &Patience) -> Result<Element, Diagnostic> {
    // The reader would skip one and then count positions without it.
    let marks = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut reader = Reader::from_str(&text[marks..]);
    let mut open: Vec<Element> = vec![Element::default()];
    while !patience.is_over() {
        let start = marks + reader.buffer_position() as usize;
        let event = reader.read_event();
        let span = Span::new(start, marks + reader.buffer_position() as usize);
        let event = event.map_err(|e| malformed(span, &e.to_string()))?;
        let top = open.len() - 1;
        match event {
            Event::Start(tag) => {
                let element = element(&tag, span)?;
                if skip.contains(&element.name.as_str()) {
                    reader.read_to_end(tag.name()).map_err(|e| malformed(span, &e.to_string()))?;
                    continue;
                }
                if open.len() > DEEPEST {
                    let message = format!("elements are nested more than {DEEPEST} deep");
                    return Err(Diagnostic::error("E502", span, message));
                }
                open.push(element);
            }
            Event::Empty(tag) => {
                let element = element(&tag, span)?;
                if !skip.contains(&element.name.as_str()) {
                    open[top].children.push(element);
                }
            }
            Event::End(_) => {
                if let (Some(done), Some(parent)) = (open.pop(), open.last_mut()) {
                    parent.children.push(done);
                }
            }
            Event::Text(t) => {
                open[top].text.push_str(&t.decode().map_err(|e| malformed(span, &e.to_string()))?)
            }
            Event::CData(t) => {
                open[top].text.push_str(&t.decode().map_err(|e| malformed(span, &e.to_string()))?)
            }
            Event::GeneralRef(r) => open[top].text.push_str(&reference(&r, span)?),
            Event::DocType(_) => {
                return Err(Diagnostic::error("E503", span, "document type declarations are not accepted")
                    .hint("remove the `<!DOCTYPE …>`"));
            }
            Event::Eof => break,
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
    }
    let end = Span::new(text.len(), text.len());
    if open.len() > 1 {
        let name = shortened(&open[open.len() - 1].name);
        return Err(malformed(end, &format!("`<{name}>` is not closed")));
    }
    let mut roots = open.pop().map(|top| top.children).unwrap_or_default();
    if let Some(second) = roots.get(1) {
        return Err(malformed(second.span, "there is a second root element"));
    }
    roots.pop().ok_or_else(|| malformed(end, "there is no element"))
}

fn malformed(span: Span, why: &str) -> Diagnostic {
    Diagnostic::error("E501", span, format!("this is not well-formed XML: {}", shortened_message(why)))
}

fn shortened_message(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn element(tag: &BytesStart<'_>, span: Span) -> Result<Element, Diagnostic> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| malformed(span, &e.to_string()))?;
        let prefix = attribute.key.prefix().map(|prefix| text(prefix.as_ref()));
        if prefix.is_some_and(|prefix| ["xml", "xmlns", "xsi"].contains(&prefix.as_str())) {
            continue; // about the document: `xml:id`, `xsi:schemaLocation`
        }
        let value = attribute.unescape_value().map_err(|e| malformed(span, &e.to_string()))?;
        attributes.push((text(attribute.key.local_name().as_ref()), value.into_owned()));
    }
    Ok(Element { name: text(tag.local_name().as_ref()), attributes, span, ..Element::default() })
}

/// Resolves `&lt;` or `&#65;`; there are no other references, as none can be declared.
fn reference(r: &BytesRef<'_>, span: Span) -> Result<String, Diagnostic> {
    if let Some(c) = r.resolve_char_ref().map_err(|e| malformed(span, &e.to_string()))? {
        return Ok(c.to_string());
    }
    let name = r.decode().map_err(|e| malformed(span, &e.to_string()))?;
    let known = resolve_predefined_entity(&name).map(str::to_string);
    known.ok_or_else(|| malformed(span, &format!("`&{name};` is not declared")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_byte_order_marks() {
        let text = "\u{feff}\u{feff}<a></b>";
        let wrong = tree(text, &[], &Patience::default()).unwrap_err().span.unwrap();
        assert_eq!(&text[wrong.range()], "</b>");
    }

    #[test]
    fn a_tree_is_read() {
        let root = tree(
            "<?xml version='1.0'?><!-- c --><x:a xml:k='2' k='1&lt;'>p&amp;<b/><![CDATA[<]]>&#65;<z><q/></z></x:a>",
            &["z"],
            &Patience::default(),
        )
        .unwrap();
        assert_eq!((root.name.as_str(), root.text.as_str()), ("a", "p&<A"));
        assert_eq!(root.attribute("k"), Some("1<"));
        assert_eq!(root.children.len(), 1);
        assert!(root.child("b").is_some());
    }

    #[test]
    fn bad_xml_is_refused() {
        for (text, code) in [
            ("", "E501"),
            ("<a>", "E501"),
            ("<a></b>", "E501"),
            ("</a>", "E501"),
            ("<a k=1/>", "E501"),
            ("<a>&nope;</a>", "E501"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "E503"),
            ("<z><z>", "E501"),
            ("<a/><a/>", "E501"),
        ] {
            assert_eq!(tree(text, &["z"], &Patience::default()).map_err(|d| d.code), Err(code), "{text}");
        }
        let deep = "<a>".repeat(100_000);
        assert_eq!(tree(&deep, &[], &Patience::default()).map_err(|d| d.code), Err("E502"));
        assert_eq!(tree("plain", &[], &Patience::default()).map_err(|d| d.code), Err("E501"));
    }
}
