//! Attributes and pragmas: what they say about what they stand on.

use super::{Lower, Result, unsupported, wrong};
use crate::constructs::{self, Effect, On};
use crate::syntax::ast::*;
use crate::types::{STRICTEST, Ty};
use throng_goto::program::{Int, PTR};

/// What the attributes of something say.
#[derive(Clone, Default)]
pub(super) struct Said<'a> {
    pub(super) packed: bool,
    /// The least alignment.
    pub(super) aligned: Option<u64>,
    /// The name of the machine mode.
    pub(super) mode: Option<&'a str>,
    /// The priorities of a function that runs before `main`, and after it.
    pub(super) constructor: Option<i64>,
    pub(super) destructor: Option<i64>,
    /// The function that is called with the address of a variable when its block is left.
    pub(super) cleanup: Option<&'a Node<Identifier>>,
    pub(super) noreturn: bool,
    pub(super) weak: bool,
    /// The function that this is another name for.
    pub(super) alias: Option<String>,
    pub(super) transparent: bool,
    /// The number of bytes of a vector.
    pub(super) vector: Option<u64>,
}

/// The priority of functions that run before or after `main` without saying when.
const DEFAULT_PRIORITY: i64 = 65_536;

impl<'a> Lower<'a> {
    /// Returns what attributes say; the first that is not modelled is an error.
    pub(super) fn said(
        &mut self,
        attributes: impl IntoIterator<Item = &'a Attribute>,
        on: On,
    ) -> Result<Said<'a>> {
        let mut said = Said::default();
        for a in attributes {
            match constructs::attribute(&a.name.node, &a.text, on) {
                Effect::None => {}
                Effect::Understood => self.understand(a, &mut said)?,
                // It runs though nothing uses it.
                Effect::Refused if a.name.node == "section" => _ = self.record(refused::<()>(a)),
                Effect::Refused => return refused(a),
            }
        }
        Ok(said)
    }

    fn understand(&mut self, a: &'a Attribute, said: &mut Said<'a>) -> Result<()> {
        match a.name.node.as_str() {
            "packed" => said.packed = true,
            "aligned" => {
                let align = match a.arguments.first() {
                    Some(e) => self.constant(e)?,
                    // A type that is measured stands in the text alone.
                    None if a.text.trim().is_empty() => STRICTEST as i64,
                    None => return refused(a),
                };
                let align = power_of_two(align, a.name.span)?;
                said.aligned = Some(said.aligned.unwrap_or(1).max(align));
            }
            "mode" => said.mode = Some(constructs::bare(a.text.trim())),
            "constructor" => said.constructor = Some(self.priority(a)?),
            "destructor" => said.destructor = Some(self.priority(a)?),
            "cleanup" => match a.arguments.first().map(|e| &e.node) {
                Some(Expression::Identifier(n)) => said.cleanup = Some(n),
                _ => return wrong(a.name.span, "`cleanup` needs the name of a function"),
            },
            "noreturn" => said.noreturn = true,
            "weak" => said.weak = true,
            "alias" => match a.arguments.first().map(|e| &e.node) {
                Some(Expression::StringLiteral(s)) => {
                    let bytes = super::literals::string_bytes(&s.node, s.span)?;
                    said.alias = Some(String::from_utf8_lossy(&bytes).into_owned());
                }
                _ => return wrong(a.name.span, "`alias` needs the name of a function"),
            },
            "vector_size" => match a.arguments.first() {
                Some(e) => match u64::try_from(self.constant(e)?) {
                    Ok(bytes) if said.vector.is_none() => said.vector = Some(bytes),
                    _ => return refused(a),
                },
                None => return refused(a),
            },
            "transparent_union" => said.transparent = true,
            // Where in the program something is does not matter.
            "section" => {}
            _ => return refused(a),
        }
        Ok(())
    }

    fn priority(&mut self, a: &'a Attribute) -> Result<i64> {
        a.arguments.first().map_or(Ok(DEFAULT_PRIORITY), |e| self.constant(e))
    }

    /// Refuses attributes with an effect, where none is understood.
    pub(super) fn without_effect(&mut self, attributes: &'a [Attribute]) -> Result<()> {
        self.said(attributes, On::Other).map(|_| ())
    }

    /// Returns a type as a machine mode changes it.
    pub(super) fn in_mode(&self, ty: Ty, mode: Option<&str>, span: Span) -> Result<Ty> {
        let Some(mode) = mode else { return Ok(ty) };
        let size = match (mode, ty.plain()) {
            ("QI" | "byte", Ty::Int(_)) => 1,
            ("HI", Ty::Int(_)) => 2,
            ("SI", Ty::Int(_)) => 4,
            ("DI", Ty::Int(_)) => 8,
            ("word" | "pointer" | "unwind_word", Ty::Int(_)) => self.long().size,
            ("SF", Ty::Float(_)) => return Ok(Ty::Float(4)),
            ("DF", Ty::Float(_)) => return Ok(Ty::Float(8)),
            ("XF" | "TF", Ty::Float(_)) => return Ok(Ty::Float(16)),
            ("DI", Ty::Ptr(_)) => PTR.size,
            _ => return unsupported(span, format!("the mode `{mode}`")),
        };
        Ok(match ty {
            Ty::Int(i) => Ty::Int(Int { size, ..i }),
            ty => ty,
        })
    }
}

/// Refuses an attribute by name.
fn refused<T>(a: &Attribute) -> Result<T> {
    unsupported(a.name.span, format!("the attribute `{}`", a.name.node))
}

/// Refuses a pragma that may change the program.
pub(super) fn pragma(text: &str, span: Span) -> Result<()> {
    match constructs::is_pragma_without_effect(text) {
        true => Ok(()),
        false => unsupported(span, format!("`#pragma {}`", text.trim())),
    }
}

/// Returns an alignment as it is given.
pub(super) fn power_of_two(align: i64, span: Span) -> Result<u64> {
    match u64::try_from(align).ok().filter(|n| n.is_power_of_two() && *n < 1 << 29) {
        Some(align) => Ok(align),
        None => wrong(span, "this is not an alignment"),
    }
}
