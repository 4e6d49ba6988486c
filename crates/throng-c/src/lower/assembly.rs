//! Inline assembly: barriers for the compiler, values that it is not to know, and hints.

use super::{Lower, Result, Value, unsupported};
use crate::constructs::ASSEMBLY_WITHOUT_EFFECT;
use crate::syntax::ast::*;
use throng_goto::program::{Doubt, Expr};

impl<'a> Lower<'a> {
    /// Lowers assembly without instructions, or with some that do nothing that sequential
    /// consistency could show. An output is then the input that it shares its place with.
    pub(super) fn assembly(&mut self, a: &'a AsmStatement, span: Span) -> Result<()> {
        let template: String = a.template.node.iter().map(|t| t.trim_matches('"')).collect();
        let parts = template.split([';', '\n']).flat_map(|p| p.split("\\n")).map(|p| p.replace("\\t", " "));
        let mut instructions = parts.filter(|p| !p.trim().is_empty()).peekable();
        let empty = instructions.peek().is_none();
        let known = instructions.all(|i| ASSEMBLY_WITHOUT_EFFECT.contains(&i.trim()));
        if !known || !empty && (!a.outputs.is_empty() || a.goto) {
            return unsupported(span, "inline assembly");
        }
        let (mut inputs, mut in_memory) = (Vec::new(), Vec::new());
        for i in &a.inputs {
            match constraints(&i.node).trim_matches(|c| c == 'm' || c == ',') {
                // It is not read.
                "" => {
                    self.place(&i.node.expression)?;
                    in_memory.push(self.written(i.node.expression.span));
                }
                shared => {
                    let v = self.value(&i.node.expression)?;
                    inputs.push((shared.to_string(), self.kept(v)));
                }
            }
        }
        for (n, output) in a.outputs.iter().enumerate() {
            let place = self.place(&output.node.expression)?;
            let constraints = constraints(&output.node);
            let text = self.written(output.node.expression.span);
            if constraints.starts_with('+') || constraints == "=m" && in_memory.contains(&text) {
                continue;
            }
            let name = output.node.symbolic_name.as_ref().map(|name| format!("[{}]", name.node.name));
            let same = |shared: &str| shared == n.to_string() || Some(shared) == name.as_deref();
            match inputs.iter().find(|(shared, _)| same(shared)) {
                Some((_, v)) => self.assign(&place, v.clone(), output.span)?,
                // Nothing writes it, and the compiler takes it to be written.
                None => {
                    let ty = place.ty();
                    let Some(i) = ty.scalar() else { return unsupported(span, "inline assembly") };
                    let r = self.register(i, None);
                    self.emit_doubtful(r, Doubt::Result("asm".into()));
                    self.assign(&place, Value { expr: Expr::Reg(r), ty }, output.span)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the text of a passage without its blanks.
    fn written(&self, span: Span) -> String {
        self.prepared.text[span.start..span.end].split_whitespace().collect()
    }
}

fn constraints(operand: &AsmOperand) -> String {
    operand.constraints.node.iter().map(|t| t.trim_matches('"')).collect()
}
