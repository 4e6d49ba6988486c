//! A self-contained picture like IJIT's figure 6: per engine, times as a scatter with logarithmic scales, and memory as two
//! curves sorted by the unfolded version.

use std::fmt::Write;

use super::report::Pair;

/// Side of a panel and what is left around it.
const SIDE: f64 = 320.0;
const MARGIN: f64 = 60.0;

/// Shortest time drawn.
const SHORTEST: f64 = 1e-4;

/// The whole picture.
pub(super) fn draw(by_engine: &[(&str, Vec<Pair>)], timeout: f64) -> String {
    let (width, height) = (2.0 * (SIDE + 2.0 * MARGIN), by_engine.len() as f64 * (SIDE + 2.0 * MARGIN));
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}' \
         font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n"
    );
    for (row, (engine, pairs)) in by_engine.iter().enumerate() {
        let top = row as f64 * (SIDE + 2.0 * MARGIN) + MARGIN;
        times(&mut svg, engine, pairs, timeout, (MARGIN, top));
        memory(&mut svg, engine, pairs, (SIDE + 3.0 * MARGIN, top));
    }
    svg + "</svg>\n"
}

/// A scale from `from` to `to`, both above 0, over the side of a panel.
struct Log {
    from: f64,
    to: f64,
}

impl Log {
    fn at(&self, value: f64) -> f64 {
        SIDE * (value.clamp(self.from, self.to) / self.from).log10() / (self.to / self.from).log10()
    }

    /// Powers of ten inside.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = (self.from.log10().ceil() as i32, self.to.log10().floor() as i32);
        (low..=high).map(|e| 10f64.powi(e)).collect()
    }
}

fn frame(svg: &mut String, title: &str, (left, top): (f64, f64)) {
    let _ = writeln!(
        svg,
        "<rect x='{left}' y='{top}' width='{SIDE}' height='{SIDE}' fill='none' stroke='black'/>\n\
         <text x='{left}' y='{}' font-size='13'>{title}</text>",
        top - 8.0
    );
}

fn times(svg: &mut String, engine: &str, pairs: &[Pair], timeout: f64, (left, top): (f64, f64)) {
    frame(svg, &format!("{engine}: seconds, unfolded (up) against just in time (right)"), (left, top));
    let scale = Log { from: SHORTEST, to: timeout };
    let bottom = top + SIDE;
    for tick in scale.ticks() {
        let at = scale.at(tick);
        let _ = writeln!(
            svg,
            "<line x1='{x}' y1='{top}' x2='{x}' y2='{bottom}' stroke='#ddd'/><line x1='{left}' y1='{y}' x2='{r}' y2='{y}' \
             stroke='#ddd'/><text x='{x}' y='{under}' text-anchor='middle'>{tick}</text><text x='{before}' y='{y}' \
             text-anchor='end'>{tick}</text>",
            x = left + at,
            y = bottom - at,
            r = left + SIDE,
            under = bottom + 14.0,
            before = left - 4.0
        );
    }
    let _ = writeln!(
        svg,
        "<line x1='{left}' y1='{bottom}' x2='{}' y2='{top}' stroke='#888' stroke-dasharray='4'/>",
        left + SIDE
    );
    for (jit, table) in pairs {
        let seconds = |r: &super::Run| if r.finished() { r.seconds } else { timeout };
        let colour = match (jit.finished(), table.finished()) {
            (true, true) => "#1f6fb4",
            (true, false) => "#d62728",
            _ => "#999",
        };
        let _ = writeln!(
            svg,
            "<circle cx='{:.1}' cy='{:.1}' r='3' fill='{colour}' fill-opacity='0.5'><title>{}: jit {:.4} s {}, unfolded \
             {:.4} s {}</title></circle>",
            left + scale.at(seconds(jit)),
            bottom - scale.at(seconds(table)),
            jit.program,
            jit.seconds,
            jit.result,
            table.seconds,
            table.result
        );
    }
}

fn memory(svg: &mut String, engine: &str, pairs: &[Pair], (left, top): (f64, f64)) {
    let title = format!("{engine}: peak MiB, sorted by unfolded (red); just in time (blue)");
    frame(svg, &title, (left, top));
    let mut sorted: Vec<&Pair> = pairs.iter().collect();
    sorted.sort_by(|a, b| a.1.mebibytes.total_cmp(&b.1.mebibytes));
    let most = sorted.iter().map(|p| p.0.mebibytes.max(p.1.mebibytes)).fold(10.0, f64::max);
    let scale = Log { from: 1.0, to: most };
    let bottom = top + SIDE;
    for tick in scale.ticks() {
        let y = bottom - scale.at(tick);
        let _ = writeln!(
            svg,
            "<line x1='{left}' y1='{y}' x2='{}' y2='{y}' stroke='#ddd'/><text x='{}' y='{y}' \
             text-anchor='end'>{tick}</text>",
            left + SIDE,
            left - 4.0
        );
    }
    for (colour, of) in [("#d62728", 1), ("#1f6fb4", 0)] {
        let step = SIDE / sorted.len().saturating_sub(1).max(1) as f64;
        let points = sorted.iter().enumerate().map(|(i, pair)| {
            let mebibytes = if of == 1 { pair.1.mebibytes } else { pair.0.mebibytes };
            format!("{:.1},{:.1}", left + i as f64 * step, bottom - scale.at(mebibytes))
        });
        let points: Vec<String> = points.collect();
        let _ = writeln!(svg, "<polyline points='{}' fill='none' stroke='{colour}'/>", points.join(" "));
    }
}
