//! What modules say to debuggers: places in the source, names and types of variables.

mod types;

use rustc_hash::FxHashMap;

use crate::syntax::DEEPEST;
use crate::syntax::metadata::{Meta, Node};
use throng_goto::program::{Int, PTR};

pub(crate) use types::Variant;

/// A part of an object: its offset, its type, and the suffix of its name.
pub(crate) type Part = (u32, Int, String);

/// Maximum number of parts of an object that have names.
const MOST_PARTS: usize = 64;

/// A place in the source: of an instruction, or of a call that was inlined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame<'t> {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: &'t str,
}

impl Frame<'_> {
    /// Returns whether it is in a file of the standard library.
    pub fn is_library(&self) -> bool {
        self.file.starts_with("/rustc/")
            || self.file.contains("/lib/rustlib/src/")
            || self.file == "<unknown>"
    }
}

/// The metadata of a module.
#[derive(Clone, Copy)]
pub(crate) struct Debug<'a, 't> {
    nodes: &'a FxHashMap<u32, Node<'t>>,
}

impl<'a, 't> Debug<'a, 't> {
    pub fn new(nodes: &'a FxHashMap<u32, Node<'t>>) -> Debug<'a, 't> {
        Debug { nodes }
    }

    fn node(&self, n: Option<u32>) -> Option<&'a Node<'t>> {
        self.nodes.get(&n?)
    }

    fn field(&self, of: &'a Node<'t>, name: &str) -> Option<&'a Node<'t>> {
        match of.get(name)? {
            Meta::Number(n) => self.nodes.get(n),
            Meta::Node(node) => Some(node),
            _ => None,
        }
    }

    /// Returns the places of an instruction, the innermost first.
    pub fn frames(&self, place: Option<u32>) -> Vec<Frame<'t>> {
        let mut frames = Vec::new();
        let mut next = self.node(place);
        while let Some(at) = next.filter(|at| at.kind == "DILocation" && frames.len() < DEEPEST) {
            let scope = self.field(at, "scope");
            let subprogram = scope.and_then(|s| self.subprogram(s));
            frames.push(Frame {
                file: scope.and_then(|s| self.file(s)).unwrap_or_default(),
                line: at.int("line").and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
                column: at.int("column").and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
                function: subprogram.and_then(|s| s.text("name")).unwrap_or_default(),
            });
            next = self.field(at, "inlinedAt");
        }
        frames
    }

    fn subprogram(&self, mut scope: &'a Node<'t>) -> Option<&'a Node<'t>> {
        for _ in 0..DEEPEST {
            if scope.kind == "DISubprogram" {
                return Some(scope);
            }
            scope = self.field(scope, "scope")?;
        }
        None
    }

    /// Returns the file of a scope.
    fn file(&self, mut scope: &'a Node<'t>) -> Option<String> {
        for _ in 0..DEEPEST {
            if let Some(file) = self.field(scope, "file") {
                let (name, folder) = (file.text("filename")?, file.text("directory").unwrap_or_default());
                return Some(match name.starts_with('/') || folder.is_empty() {
                    true => name.to_string(),
                    false => format!("{}/{name}", folder.trim_end_matches('/')),
                });
            }
            scope = self.field(scope, "scope")?;
        }
        None
    }

    /// Returns the name, the line and the file of a function.
    pub fn function(&self, n: Option<u32>) -> Option<Frame<'t>> {
        let f = self.node(n)?;
        Some(Frame {
            file: self.file(f)?,
            line: f.int("line").and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            column: 0,
            function: f.text("name")?,
        })
    }

    /// Returns the name of a variable of a function, whether it is in a file of the user, and its
    /// type.
    pub fn variable(&self, n: u32) -> Option<(&'t str, bool, Option<&'a Node<'t>>)> {
        let v = self.node(Some(n))?;
        let file = self.file(v).unwrap_or_default();
        let frame = Frame { file, line: 0, column: 0, function: "" };
        Some((v.text("name")?, !frame.is_library(), self.field(v, "type")))
    }

    /// Returns the name of a variable outside functions, with the modules around it, and its type.
    pub fn global(&self, n: Option<u32>) -> Option<(String, Option<&'a Node<'t>>)> {
        let node = self.node(n)?;
        let v = self.field(node, "var").unwrap_or(node);
        Some((v.text("name")?.to_string(), self.field(v, "type")))
    }

    /// Returns the parts of an object of a type.
    pub fn parts(&self, ty: &'a Node<'t>) -> Vec<Part> {
        let mut found = Vec::new();
        self.collect(ty, 0, String::new(), 0, &mut found);
        found.sort_by_key(|p| p.0);
        // Of variants that lie over one another, the first is shown.
        let mut end = 0;
        found.retain(|p| {
            let free = p.0 >= end;
            if free {
                end = p.0 + u32::from(p.1.size);
            }
            free
        });
        found
    }

    fn bytes(node: &Node<'_>, field: &str) -> u64 {
        node.int(field).and_then(|n| u64::try_from(n / 8).ok()).unwrap_or(0)
    }

    fn collect(&self, ty: &'a Node<'t>, at: u64, name: String, depth: usize, found: &mut Vec<Part>) {
        let size = Self::bytes(ty, "size");
        if depth > DEEPEST || found.len() >= MOST_PARTS || at > u64::from(u32::MAX / 2) {
            return;
        }
        let leaf = |int: Int| (at as u32, int, name.clone());
        match (ty.kind, ty.word("tag").unwrap_or_default()) {
            ("DIBasicType", _) => {
                let encoding = ty.word("encoding").unwrap_or_default();
                let signed = encoding == "DW_ATE_signed" || encoding == "DW_ATE_signed_char";
                let float = encoding == "DW_ATE_float";
                if matches!(size, 1 | 2 | 4 | 8) {
                    found.push(leaf(Int { float, ..Int::new(size as u8, signed) }));
                }
            }
            (_, "DW_TAG_pointer_type" | "DW_TAG_reference_type") => found.push(leaf(PTR)),
            (_, "DW_TAG_enumeration_type") if matches!(size, 1 | 2 | 4 | 8) => {
                found.push(leaf(Int::new(size as u8, false)));
            }
            (_, "DW_TAG_array_type") => self.collect_array(ty, size, at, name, depth, found),
            (
                _,
                "DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type" | "DW_TAG_variant_part",
            ) => {
                self.collect_members(ty, size, at, name, depth, found);
            }
            (
                _,
                "DW_TAG_typedef"
                | "DW_TAG_const_type"
                | "DW_TAG_volatile_type"
                | "DW_TAG_atomic_type"
                | "DW_TAG_restrict_type",
            ) => {
                if let Some(base) = self.field(ty, "baseType") {
                    self.collect(base, at, name, depth + 1, found);
                }
            }
            _ => {}
        }
    }

    fn collect_array(
        &self,
        ty: &'a Node<'t>,
        size: u64,
        at: u64,
        name: String,
        depth: usize,
        found: &mut Vec<Part>,
    ) {
        let Some(of) = self.field(ty, "baseType") else { return };
        let element = Self::bytes(of, "size").max(1);
        for k in (0..size / element).take(MOST_PARTS) {
            self.collect(of, at + k * element, format!("{name}[{k}]"), depth + 1, found);
        }
    }

    fn collect_members(
        &self,
        ty: &'a Node<'t>,
        size: u64,
        at: u64,
        name: String,
        depth: usize,
        found: &mut Vec<Part>,
    ) {
        let list = self.field(ty, "elements").map_or(&[][..], |list| &list.fields);
        let members: Vec<&Node<'t>> = list
            .iter()
            .filter_map(|(_, m)| match m {
                Meta::Number(n) => self.nodes.get(n),
                Meta::Node(node) => Some(node),
                _ => None,
            })
            .collect();
        if let Some(tag) = self.field(ty, "discriminator") {
            self.collect_member(tag, at, format!("{name}.tag"), depth, found);
        }
        for m in members {
            // What is the whole of a structure has no name of its own: `UnsafeCell::value`.
            let whole = Self::bytes(m, "size") == size && Self::bytes(m, "offset") == 0;
            let variant = m.kind == "DICompositeType" || ty.word("tag") == Some("DW_TAG_variant_part");
            let suffix = match m.text("name").filter(|_| !whole && !variant) {
                Some(n) if n.starts_with("__") => name.clone() + "." + &n[2..],
                Some(n) => format!("{name}.{n}"),
                None => name.clone(),
            };
            match m.kind {
                "DICompositeType" => self.collect(m, at, suffix, depth + 1, found),
                _ => self.collect_member(m, at, suffix, depth, found),
            }
        }
    }

    fn collect_member(&self, m: &'a Node<'t>, at: u64, name: String, depth: usize, found: &mut Vec<Part>) {
        if let Some(of) = self.field(m, "baseType") {
            self.collect(of, at + Self::bytes(m, "offset"), name, depth + 1, found);
        }
    }
}
