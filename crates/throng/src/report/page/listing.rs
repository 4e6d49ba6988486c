//! Pages for lists of thread states: `reach` and `cutoff`. They need no script; the browser's own
//! search finds everything.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::escape;
use crate::outcome::Subject;
use throng_model::{Model, Place};

/// The content of a page.
pub(crate) struct Listing<'a> {
    pub subject: &'a Subject,
    /// The answer in a few words.
    pub headline: String,
    /// Names and values below the headline.
    pub facts: Vec<(&'static str, String)>,
    /// The headings of the table's columns.
    pub columns: &'static [&'static str],
    pub rows: Vec<Vec<String>>,
    /// Lines that threads reach, and those that none reaches.
    pub lines: Option<(BTreeSet<u32>, BTreeSet<u32>)>,
}

/// Returns the lines that threads reach, and those with statements that none reaches.
pub(crate) fn lines(model: &dyn Model, dead: &[Place]) -> Option<(BTreeSet<u32>, BTreeSet<u32>)> {
    let written: BTreeSet<u32> = model.places().iter().map(|p| p.line).filter(|&line| line > 0).collect();
    let dead: BTreeSet<u32> = dead.iter().map(|p| p.line).collect();
    (!written.is_empty()).then(|| (written.difference(&dead).copied().collect(), dead))
}

/// Returns the page.
pub(crate) fn write(listing: &Listing) -> String {
    let mut body = format!("<h1>{}</h1>\n<dl class=\"facts\">\n", escape(&listing.headline));
    for (name, value) in &listing.facts {
        let _ = writeln!(body, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    body.push_str("</dl>\n<div class=\"halves\">\n");
    if let Some(source) = &listing.subject.source {
        body.push_str("<section class=\"card\"><h2>The input</h2><pre class=\"listing\">");
        for (i, line) in source.text.lines().enumerate() {
            let number = i as u32 + 1;
            let class = match &listing.lines {
                Some((_, dead)) if dead.contains(&number) => "dead",
                Some((reached, _)) if reached.contains(&number) => "reached",
                _ => "",
            };
            let _ = write!(body, "<span class=\"{class}\"><i>{number:>4}</i> {}</span>", escape(line));
        }
        body.push_str("</pre>");
        if listing.lines.is_some() {
            body.push_str("<p class=\"note\">Lines with a bar are reached by some thread, struck-out lines by none.</p>");
        }
        body.push_str("</section>\n");
    }
    body.push_str("<section class=\"card\"><table><thead><tr>");
    listing.columns.iter().for_each(|name| _ = write!(body, "<th>{name}</th>"));
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in &listing.rows {
        body.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(body, "<td>{}</td>", escape(cell)));
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></section>\n</div>\n");
    let file = listing.subject.name();
    format!(
        include_str!("listing.html"),
        title = escape(&format!("{}: {file} - Throng", listing.headline)),
        style = include_str!("page.css"),
        body = body,
    )
}
