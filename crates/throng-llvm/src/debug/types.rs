//! What is known about types of the standard library by their descriptions: sizes, where fields
//! are, how a variant is told.

use super::Debug;
use crate::syntax::metadata::{Meta, Node};

/// How a variant of an enumeration is in memory.
pub(crate) struct Variant {
    /// Where what tells it is, its size, and its value; none if its contents tell it.
    pub tag: Option<(u64, u64, i64)>,
    /// Where its first field is, and the size of that.
    pub at: u64,
    pub size: u64,
}

impl<'a, 't> Debug<'a, 't> {
    /// Returns where fields of a type are, each by its path: `lock.data.value`. Of several types of
    /// this name, one that has them all.
    pub fn places(&self, name: &str, paths: &[&[&str]]) -> Option<Vec<u64>> {
        let named = |n: &&Node<'t>| {
            let plain = n.text("name").and_then(|text| text.split('<').next());
            n.kind == "DICompositeType" && plain == Some(name)
        };
        let mut found: Vec<Vec<u64>> = self
            .nodes
            .values()
            .filter(named)
            .filter_map(|n| paths.iter().map(|path| self.place(n, path)).collect())
            .collect();
        found.sort();
        found.dedup();
        // Types that lie differently are different types.
        if found.len() == 1 { found.pop() } else { None }
    }

    fn place(&self, of: &'a Node<'t>, path: &[&str]) -> Option<u64> {
        let [first, rest @ ..] = path else { return Some(0) };
        let member = self.elements(of).into_iter().find(|m| m.text("name") == Some(first))?;
        let inner = self.field(member, "baseType")?;
        Some(Self::bytes(member, "offset") + if rest.is_empty() { 0 } else { self.place(inner, rest)? })
    }

    fn elements(&self, of: &'a Node<'t>) -> Vec<&'a Node<'t>> {
        let list = self.field(of, "elements").map_or(&[][..], |list| &list.fields);
        let node = |(_, m): &'a (&'t str, Meta<'t>)| match m {
            Meta::Number(n) => self.nodes.get(n),
            Meta::Node(node) => Some(node),
            _ => None,
        };
        list.iter().filter_map(node).collect()
    }

    /// Returns the sizes of the types that a generic function was made for.
    pub fn type_sizes(&self, function: Option<u32>) -> Vec<u64> {
        let Some(f) = self.node(function) else { return Vec::new() };
        let list = self.field(f, "templateParams").map_or(&[][..], |list| &list.fields);
        let size = |(_, m): &'a (&'t str, Meta<'t>)| {
            let Meta::Number(n) = m else { return None };
            let ty = self.field(self.nodes.get(n)?, "type");
            Some(ty.map_or(0, |ty| Self::bytes(ty, "size")))
        };
        list.iter().filter_map(size).collect()
    }

    /// Returns how a variant of the type of a function's result is in memory.
    pub fn result_variant(&self, function: Option<u32>, name: &str) -> Option<Variant> {
        let f = self.node(function)?;
        let types = self.field(self.field(f, "type")?, "types")?;
        let Some((_, Meta::Number(n))) = types.fields.first() else { return None };
        let result = self.nodes.get(n)?;
        let part =
            self.elements(result).into_iter().find(|p| p.word("tag") == Some("DW_TAG_variant_part"))?;
        let variant = self.elements(part).into_iter().find(|v| v.text("name") == Some(name))?;
        let tag = match (variant.int("extraData"), self.field(part, "discriminator")) {
            (Some(value), Some(place)) => {
                Some((Self::bytes(place, "offset"), Self::bytes(place, "size"), value))
            }
            _ => None,
        };
        let first = self.elements(self.field(variant, "baseType")?).into_iter().next();
        let contents = first.and_then(|m| self.field(m, "baseType"));
        let at = first.map_or(0, |m| Self::bytes(m, "offset"));
        let size = contents.map_or(0, |ty| Self::bytes(ty, "size"));
        Some(Variant { tag, at, size })
    }
}
