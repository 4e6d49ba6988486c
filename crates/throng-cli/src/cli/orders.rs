//! `throng orders`: the weakest memory orders with which a program stays SAFE.

use serde_json::json;

use super::OrdersArgs;
use super::console::{Console, Failure};
use throng::{Error, Job, WeakestOrder};
use throng_model::limits::Limits;

pub(super) fn run(args: &OrdersArgs, console: &Console) -> Result<u8, Failure> {
    let limits = args.search.limits()?;
    console.stoppable(&limits);
    let reading = args.question.question().reading(args.input.reading());
    let opened = console.open_within(&args.input, &args.more, reading, &Limits::none())?;
    let input = opened.map_err(Error::Impossible)?;
    let job = Job::new(&input)
        .question(args.input.asking(args.question.question()))
        .settings(args.search.settings())
        .watch(console);
    let (outcome, found) = job.weakest_orders(&limits)?;
    let file = args.input.file().display().to_string();
    let text = match (args.json, outcome.is_safe()) {
        (true, safe) => document(&file, safe, &found),
        (false, true) => table(&found),
        (false, false) => format!("{} is not SAFE as it stands: throng check says why\n", file),
    };
    console.print(&text)?;
    Ok(if outcome.is_safe() { 0 } else { 1 })
}

fn table(found: &[WeakestOrder]) -> String {
    let weaker = found.iter().filter(|o| o.alone != o.order).count();
    let mut out = format!(
        "{weaker} of {} atomic operations and fences can have a weaker memory order\n\n\
         line  what    order    alone    together\n",
        found.len()
    );
    for o in found {
        let file = o.file.as_ref().map_or_else(String::new, |f| format!("  {f}"));
        out.push_str(&format!(
            "{:>4}  {:6}  {:7}  {:7}  {:8}  {}{file}\n",
            o.line, o.kind, o.order, o.alone, o.together, o.text
        ));
    }
    out
}

fn document(file: &str, safe: bool, found: &[WeakestOrder]) -> String {
    let operations: Vec<_> = found
        .iter()
        .map(|o| {
            json!({
                "file": o.file,
                "line": o.line,
                "text": o.text,
                "kind": o.kind,
                "order": o.order.to_string(),
                "alone": o.alone.to_string(),
                "together": o.together.to_string(),
            })
        })
        .collect();
    json!({ "file": file, "safe": safe, "operations": operations }).to_string() + "\n"
}
