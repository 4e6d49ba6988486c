//! Formatting: indentation and blanks at the ends of lines. Everything else, comments in
//! particular, stays as it was written; the printer of `throng translate` would lose comments.

use throng_lang::bp::lexer::{Lexer, Tok};

use crate::position::Text;

/// Indents the lines of a text by `unit` per level. Tokens stay the same.
pub fn indent(text: &Text, unit: &str) -> String {
    let lines = Lines::new(text);
    let mut out = String::with_capacity(text.text.len());
    for (i, &start) in text.starts().iter().enumerate() {
        let end = text.starts().get(i + 1).copied().unwrap_or(text.text.len());
        let line = &text.text[start..end];
        let (content, ending) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
        match lines.depths[i] {
            // Inside a comment.
            None => out.push_str(content),
            Some(depth) => {
                let content = content.trim();
                if !content.is_empty() {
                    out.extend(std::iter::repeat_n(unit, depth));
                    out.push_str(content);
                }
            }
        }
        out.push_str(ending);
    }
    out
}

struct Lines {
    /// The depth of each line; `None` if it begins or ends inside a comment and must not change.
    depths: Vec<Option<usize>>,
}

impl Lines {
    fn new(text: &Text) -> Lines {
        let line_of = |byte: usize| text.starts().partition_point(|&s| s <= byte) - 1;
        let mut lexer = Lexer::new(&text.text);
        let mut depths = vec![None; text.starts().len()];
        // `next` is the first line that has no token so far: only blanks and comments precede it.
        let (mut next, mut depth, mut behind) = (0, 0_usize, 0);
        let mut complete = true;
        loop {
            let token = lexer.token();
            let (start, line) = (token.span.start as usize, line_of(token.span.start as usize));
            let closes = matches!(token.tok, Tok::End | Tok::Fi | Tok::Od | Tok::RBrace);
            let inner = usize::from(matches!(token.tok, Tok::Else | Tok::Elsif));
            // Comments on lines of their own belong to the next statement, except before the end of
            // a block.
            for comment in &mut depths[next.min(line)..line] {
                *comment = Some(depth);
            }
            depth = depth.saturating_sub(usize::from(closes));
            if next <= line {
                let continues =
                    !complete && !matches!(token.tok, Tok::Begin | Tok::Then | Tok::Do | Tok::LBrace);
                depths[line] = Some(depth.saturating_sub(inner) + usize::from(continues));
            }
            keep_comments(text, behind, start, &mut depths, &line_of);
            if token.tok == Tok::Eof {
                return Lines { depths };
            }
            let opens = matches!(token.tok, Tok::Begin | Tok::Then | Tok::Do | Tok::LBrace);
            // `else` closes and opens; `elsif` closes, and its `then` opens.
            depth = depth.saturating_sub(usize::from(token.tok == Tok::Elsif)) + usize::from(opens);
            complete = opens || closes || matches!(token.tok, Tok::Semi | Tok::Colon | Tok::Else);
            behind = token.span.end as usize;
            next = line_of(behind.saturating_sub(1)) + 1;
        }
    }
}

/// Marks the lines that a comment `/* … */` in `from..to` extends into, which must not change.
fn keep_comments(
    text: &Text,
    from: usize,
    to: usize,
    depths: &mut [Option<usize>],
    line_of: &dyn Fn(usize) -> usize,
) {
    let mut at = from;
    while let Some(gap) = text.text.get(at..to) {
        let (line, block) = (gap.find("//"), gap.find("/*"));
        match (line, block) {
            (Some(line), block) if block.is_none_or(|block| line < block) => {
                at += line + gap[line..].find('\n').unwrap_or(gap.len() - line);
            }
            (_, Some(block)) => {
                let length = gap[block + 2..].find("*/").map_or(gap.len() - block, |n| n + 4);
                let (first, last) = (line_of(at + block), line_of(at + block + length));
                depths[first + 1..=last].fill(None);
                at += block + length;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::bp::parser::parse;
    use throng_lang::bp::spans::strip_spans;

    fn formatted(text: &str) -> String {
        indent(&Text::new(text.into()), "  ")
    }

    #[test]
    fn blocks_are_indented_and_comments_stay() {
        let text = "decl x; // shared\n void main()\n begin\n// first\nif x then\nskip; else\n x :=\n!x;\nelsif * then\nskip;\nfi\n/* a\n   b */ skip;  \n\n\tL: while * do atomic {\nskip;\n}\nod\n  end\n";
        let expected = "decl x; // shared\nvoid main()\nbegin\n  // first\n  if x then\n    skip; else\n    x :=\n      !x;\n  elsif * then\n    skip;\n  fi\n  /* a\n   b */ skip;  \n\n  L: while * do atomic {\n      skip;\n    }\n  od\nend\n";
        assert_eq!(formatted(text), expected);
    }

    #[test]
    fn formatting_twice_changes_nothing_more_and_the_program_is_the_same() {
        for file in std::fs::read_dir("../../examples").expect("examples").map(|e| e.expect("entry").path()) {
            if file.extension().is_none_or(|e| e != "bp") {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("readable");
            let squashed: String = text.lines().map(|l| l.trim_start().to_string() + "\n").collect();
            let once = formatted(&squashed);
            assert_eq!(formatted(&once), once, "{}", file.display());
            let tree = |text: &str| {
                let mut tree = parse(text).0;
                strip_spans(&mut tree);
                tree
            };
            assert!(tree(&once) == tree(&text), "{}", file.display());
            let comments = |text: &str| text.matches("//").count();
            assert_eq!(comments(&once), comments(&text));
        }
    }
}
