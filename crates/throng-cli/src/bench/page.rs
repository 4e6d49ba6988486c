//! The pictures of a benchmark, and one self-contained page with everything.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::plot::{Axis, Dot, Series, bars, curves, escape, scatter};
use super::summary::{growing, side_by_side};
use super::{Run, names};

/// A picture and the name of its file, without extension.
pub struct Picture {
    /// The name.
    pub name: String,
    /// The drawing.
    pub svg: String,
}

/// Everything there is to draw.
pub fn pictures(runs: &[Run], pairs: &[(String, String)]) -> Vec<Picture> {
    let mut found = vec![Picture { name: "cactus".into(), svg: cactus(runs) }];
    for (a, b) in pairs {
        let name = format!("{}-vs-{}", file_name(a), file_name(b));
        found.push(Picture { name: format!("time-{name}"), svg: times(runs, a, b) });
        found.push(Picture { name: format!("memory-{name}"), svg: memory(runs, a, b) });
    }
    found.extend(growth(runs));
    found.extend(values(runs));
    found
}

fn file_name(tool: &str) -> String {
    tool.chars().map(|c| if c.is_alphanumeric() || "-+._".contains(c) { c } else { '_' }).collect()
}

/// The largest limit, if they all had one.
fn limit(runs: &[Run]) -> f64 {
    runs.iter().map(|r| r.timeout).fold(0.0, f64::max)
}

/// Draws how many runs each tool finishes within a given time.
fn cactus(runs: &[Run]) -> String {
    let series: Vec<Series> = names(runs)
        .into_iter()
        .map(|tool| {
            let mut times: Vec<f64> =
                runs.iter().filter(|r| r.tool == tool && r.solved()).map(|r| r.cpu.max(1e-3)).collect();
            times.sort_by(f64::total_cmp);
            let points: Vec<(f64, f64)> =
                times.iter().enumerate().map(|(i, t)| ((i + 1) as f64, *t)).collect();
            Series { name: format!("{tool} ({} solved)", points.len()), points }
        })
        .collect();
    let all = || series.iter().flat_map(|s| &s.points);
    let x = Axis::linear("runs solved, fastest first", all().map(|p| p.0).chain([0.0]));
    let y = Axis::log("processor time of each (s)", all().map(|p| p.1).chain([limit(runs)]));
    curves("solved within", &x, &y, &series, Some(limit(runs)), false)
}

fn times(runs: &[Run], a: &str, b: &str) -> String {
    let limit = limit(runs);
    let time = |r: &Run| if r.solved() { r.cpu.max(1e-3) } else { limit };
    let pairs = side_by_side(runs, a, b);
    let families: BTreeSet<&str> = pairs.iter().map(|p| p.0.family.as_str()).collect();
    let families: Vec<&str> = families.into_iter().collect();
    let dots: Vec<Dot> = pairs
        .iter()
        .filter(|p| p.0.solved() || p.1.solved())
        .map(|(one, other)| Dot {
            x: time(one),
            y: time(other),
            group: families.iter().position(|f| *f == one.family).unwrap_or(0),
            title: format!(
                "{}: {a} {} {:.3} s, {b} {} {:.3} s",
                one.title(),
                one.result,
                one.cpu,
                other.result,
                other.cpu
            ),
        })
        .collect();
    let title = format!("{} runs; above the diagonal {a} is faster", dots.len());
    scatter(
        &title,
        &format!("{a}: processor time (s)"),
        &format!("{b}: processor time (s)"),
        &families,
        &dots,
        Some(limit),
    )
}

/// Peak memory of both as curves, sorted by the second (IJIT, figure 6).
fn memory(runs: &[Run], a: &str, b: &str) -> String {
    let mut pairs = side_by_side(runs, a, b);
    pairs.retain(|p| p.0.solved() || p.1.solved());
    pairs.sort_by(|p, q| {
        (p.1.peak, p.0.peak).partial_cmp(&(q.1.peak, q.0.peak)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let of = |get: fn(&(&Run, &Run)) -> f64| {
        pairs.iter().enumerate().map(|(i, p)| ((i + 1) as f64, get(p))).collect()
    };
    let series = [
        Series { name: a.into(), points: of(|p| p.0.peak) },
        Series { name: b.into(), points: of(|p| p.1.peak) },
    ];
    let all = || series.iter().flat_map(|s| &s.points);
    let x = Axis::linear(&format!("runs that either solves, sorted by the peak of {b}"), all().map(|p| p.0));
    let y = Axis::log("peak memory (MiB)", all().map(|p| p.1.max(1.0)));
    curves("peak memory", &x, &y, &series, None, false)
}

/// Time and memory against the thread bound, for files that were run with at least three.
fn growth(runs: &[Run]) -> Vec<Picture> {
    let mut found = Vec::new();
    for file in growing(runs) {
        let stem = file.rsplit('/').next().unwrap_or(file);
        let stem = stem.split_once('.').map_or(stem, |s| s.0);
        let curve = |what: &str, get: fn(&Run) -> f64, least: f64, limit: Option<f64>| {
            let of = |tool: &str| {
                let mut points: Vec<(f64, f64)> = runs
                    .iter()
                    .filter(|r| r.file == file && r.tool == tool && r.solved())
                    .filter_map(|r| Some((f64::from(r.threads?), get(r).max(least))))
                    .collect();
                points.sort_by(|p, q| p.0.total_cmp(&q.0));
                points
            };
            let series: Vec<Series> =
                names(runs).into_iter().map(|t| Series { name: t.into(), points: of(t) }).collect();
            let all = || series.iter().flat_map(|s| &s.points);
            let x = Axis::linear("threads at most", all().map(|p| p.0));
            let y = Axis::log(what, all().map(|p| p.1).chain(limit));
            curves(stem, &x, &y, &series, limit, true)
        };
        let times = curve("processor time (s)", |r| r.cpu, 1e-3, Some(limit(runs)));
        found.push(Picture { name: format!("growth-{stem}-time"), svg: times });
        found.push(Picture {
            name: format!("growth-{stem}-memory"),
            svg: curve("peak memory (MiB)", |r| r.peak, 1.0, None),
        });
    }
    found
}

/// Histograms of the numbers that tools were asked for.
fn values(runs: &[Run]) -> Vec<Picture> {
    let mut found = Vec::new();
    for tool in names(runs) {
        let of: Vec<(&Run, f64)> =
            runs.iter().filter(|r| r.tool == tool).filter_map(|r| Some((r, r.value?))).collect();
        if of.is_empty() {
            continue;
        }
        let families: BTreeSet<&str> = of.iter().map(|(r, _)| r.family.as_str()).collect();
        let families: Vec<&str> = families.into_iter().collect();
        let group = |r: &Run| families.iter().position(|f| *f == r.family).unwrap_or(0);
        let values: Vec<(u64, usize)> =
            of.iter().map(|(r, v)| (v.max(0.0).round() as u64, group(r))).collect();
        let svg = bars(&format!("{tool}: {} instances", of.len()), tool, "instances", &families, &values);
        found.push(Picture { name: format!("values-{}", file_name(tool)), svg });
    }
    found
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:1rem 0;font-size:14px}th,td{border:1px solid #ccc;padding:.15rem .5rem;text-align:left}\
th{background:#f2f2f2}.pictures{display:flex;flex-wrap:wrap;gap:1rem}.pictures svg{border:1px solid #eee}.bad{background:#fdd}";

/// The page: tables, pictures, every run. Needs nothing but itself.
pub fn page(title: &str, summary: &str, pictures: &[Picture], runs: &[Run]) -> String {
    let title = escape(title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
    );
    html += &markdown(summary);
    html += "<div class='pictures'>\n";
    pictures.iter().for_each(|p| html += &p.svg);
    html += "</div>\n<details><summary>All runs</summary><table><tr><th>instance</th><th>expected</th><th>tool</th><th>result</th>\
             <th>processor s</th><th>wall s</th><th>peak MiB</th><th>note</th></tr>\n";
    for r in runs {
        _ = writeln!(
            html,
            "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.3}</td><td>{:.3}</td><td>{:.0}</td><td>{}</td></tr>",
            if r.wrong() { " class='bad'" } else { "" },
            escape(&r.title()),
            escape(&r.expected),
            escape(&r.tool),
            r.result,
            r.cpu,
            r.wall,
            r.peak,
            escape(&r.note)
        );
    }
    html + "</table></details>\n</body></html>\n"
}

/// The little Markdown that [`super::summary`] writes, as HTML.
fn markdown(text: &str) -> String {
    let bold = |line: &str| {
        let parts = escape(line);
        let parts: Vec<&str> = parts.split("**").collect();
        parts
            .iter()
            .enumerate()
            .map(|(i, p)| if i % 2 == 1 { format!("<b>{p}</b>") } else { p.to_string() })
            .collect::<String>()
    };
    let mut html = String::new();
    let mut open = "";
    let mut switch = |html: &mut String, to: &'static str| {
        let fresh = open != to;
        if fresh {
            html.push_str(match open {
                "table" => "</table>\n",
                "ul" => "</ul>\n",
                _ => "",
            });
            html.push_str(match to {
                "table" => "<table>\n",
                "ul" => "<ul>\n",
                _ => "",
            });
            open = to;
        }
        fresh
    };
    for line in text.lines() {
        if line.starts_with("|---") {
            continue;
        } else if let Some(row) = line.strip_prefix("| ") {
            let cell = if switch(&mut html, "table") { "th" } else { "td" };
            let cells = row.trim_end_matches(" |").split(" | ");
            let cells: String = cells.map(|c| format!("<{cell}>{}</{cell}>", bold(c))).collect();
            _ = writeln!(html, "<tr>{cells}</tr>");
        } else if let Some(item) = line.strip_prefix("- ") {
            switch(&mut html, "ul");
            _ = writeln!(html, "<li>{}</li>", bold(item));
        } else {
            switch(&mut html, "");
            if !line.is_empty() {
                _ = writeln!(html, "<p>{}</p>", bold(line));
            }
        }
    }
    switch(&mut html, "");
    html
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::super::store::tests::run;
    use super::super::summary::summary;
    use super::*;

    #[test]
    fn the_page_needs_nothing_but_itself_and_draws_what_is_there() {
        let mut runs = Vec::new();
        for n in 1..=4 {
            for tool in ["x", "y"] {
                let one = run("lock.bp", tool, Ending::Safe, f64::from(n));
                runs.push(Run { threads: Some(n), value: Some(f64::from(n)), note: "<odd>".into(), ..one });
            }
        }
        let pairs = [("x".to_string(), "y".to_string())];
        let pictures = pictures(&runs, &pairs);
        let names: Vec<&str> = pictures.iter().map(|p| p.name.as_str()).collect();
        let expected = [
            "cactus",
            "time-x-vs-y",
            "memory-x-vs-y",
            "growth-lock-time",
            "growth-lock-memory",
            "values-x",
            "values-y",
        ];
        assert_eq!(names, expected);
        let html = page("t & t", &summary(&runs, &pairs, &[]), &pictures, &runs);
        assert_eq!(html.matches("<svg").count(), 7);
        assert!(html.contains("t &amp; t") && html.contains("&lt;odd&gt;") && !html.contains("<odd>"));
        assert!(!html.contains("src=") && !html.contains("href="), "nothing is loaded from elsewhere");
        assert_eq!(html.matches("<table>").count(), html.matches("</table>").count());
    }
}
