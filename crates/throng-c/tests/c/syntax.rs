//! The parser: what it reads, what it says about what it does not, and any text at all.

mod errors;
mod hostile;
mod printer;
mod reads;

use throng_c::syntax::{self, SyntaxError, ast::TranslationUnit};

/// Parses on a stack like that of a program, and not like that of the reader, which is larger.
fn parse(text: &str) -> Result<TranslationUnit, Vec<SyntaxError>> {
    syntax::parse(text, 0..text.len())
}

/// Returns the errors of a text, each as `LINE: message | expected … | hint`.
fn errors(text: &str) -> Vec<String> {
    let shown = |e: SyntaxError| {
        let line = text[..e.span.start].matches('\n').count() + 1;
        let parts = [Some(e.message), e.label, e.hint];
        format!("{line}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" | "))
    };
    parse(text).err().into_iter().flatten().map(shown).collect()
}

/// Prints a tree. Which alignment a pragma sets is a remark, which is not read again.
fn print(tree: &TranslationUnit) -> String {
    let text = printer::unit(tree);
    let mut parts = text.split(" /* pack ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| all + part.split_once("*/").map_or("", |p| p.1))
}
