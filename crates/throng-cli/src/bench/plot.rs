//! Pictures as SVG, each self-contained: scatter plots, curves, bars. One place that draws, for
//! every benchmark of this project.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Side of the area inside the frame, and what is left around it.
const SIDE: f64 = 340.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 22.0;
const BOTTOM: f64 = 48.0;

/// Colours that the colour-blind can tell apart (Okabe and Ito), black last.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#000000"];

/// A scale.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The measured quantity, with its unit.
    pub label: String,
    /// The value at its beginning.
    pub from: f64,
    /// The value at its end.
    pub to: f64,
    /// True if it is logarithmic; then both are above 0.
    pub log: bool,
}

impl Axis {
    /// A logarithmic axis that covers all values, to a power of ten; at least one decade.
    pub fn log(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = range(values.into_iter().filter(|v| *v > 0.0));
        let from = 10f64.powf(low.log10().floor());
        let to = 10f64.powf(high.log10().ceil()).max(from * 10.0);
        Axis { label: label.into(), from, to, log: true }
    }

    /// A linear axis that covers all values.
    pub fn linear(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = range(values);
        Axis { label: label.into(), from: low, to: if high > low { high } else { low + 1.0 }, log: false }
    }

    /// Returns the position of a value on the axis, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        match self.log {
            true => (value / self.from).log10() / (self.to / self.from).log10(),
            false => (value - self.from) / (self.to - self.from),
        }
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (low, high) = (self.from.log10().round() as i32, self.to.log10().round() as i32);
            return (low..=high).map(|e| 10f64.powi(e)).collect();
        }
        let rough = (self.to - self.from) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough).unwrap_or(power);
        let step = step.max(1.0);
        let first = (self.from / step).ceil() as i64;
        (first..=(self.to / step).floor() as i64).map(|i| i as f64 * step).collect()
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (1.0, 10.0) }
}

/// A point of a scatter plot.
#[derive(Clone, Debug)]
pub struct Dot {
    /// To the right.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Index of the group it belongs to.
    pub group: usize,
    /// Shown when the mouse is on it.
    pub title: String,
}

/// A scatter plot on two equal logarithmic axes, with the diagonal. `limit`: where those are drawn
/// that did not finish.
pub fn scatter(title: &str, x: &str, y: &str, groups: &[&str], dots: &[Dot], limit: Option<f64>) -> String {
    let values = || dots.iter().flat_map(|d| [d.x, d.y]).chain(limit);
    let (x, y) = (Axis::log(x, values()), Axis::log(y, values()));
    let mut svg = begin(title, &x, &y, if groups.len() > 1 { groups.len() } else { 0 });
    line(&mut svg, (0.0, 0.0), (1.0, 1.0), "stroke='#555'");
    let tenth = 1.0 / (x.to / x.from).log10();
    if tenth < 1.0 {
        line(&mut svg, (tenth, 0.0), (1.0, 1.0 - tenth), "stroke='#aaa' stroke-dasharray='2 3'");
        line(&mut svg, (0.0, tenth), (1.0 - tenth, 1.0), "stroke='#aaa' stroke-dasharray='2 3'");
    }
    if let Some(limit) = limit {
        let at = x.at(limit);
        line(&mut svg, (at, 0.0), (at, 1.0), "stroke='#d55e00' stroke-dasharray='5 4'");
        line(&mut svg, (0.0, at), (1.0, at), "stroke='#d55e00' stroke-dasharray='5 4'");
    }
    for dot in dots {
        let (cx, cy) = place((x.at(dot.x), y.at(dot.y)));
        let colour = COLOURS[dot.group % COLOURS.len()];
        let title = escape(&dot.title);
        _ = writeln!(
            svg,
            "<circle cx='{cx:.1}' cy='{cy:.1}' r='3.2' fill='{colour}' fill-opacity='.45' stroke='{colour}' stroke-width='.6'>\
             <title>{title}</title></circle>"
        );
    }
    if groups.len() > 1 {
        legend(&mut svg, groups);
    }
    svg + "</svg>\n"
}

/// A named line of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Curves, e.g. how many runs finish within which time, or time against the number of threads.
/// `marks`: each point is marked.
pub fn curves(title: &str, x: &Axis, y: &Axis, series: &[Series], limit: Option<f64>, marks: bool) -> String {
    let mut svg = begin(title, x, y, series.len());
    if let Some(limit) = limit.filter(|l| (y.from..=y.to).contains(l)) {
        line(&mut svg, (0.0, y.at(limit)), (1.0, y.at(limit)), "stroke='#d55e00' stroke-dasharray='5 4'");
    }
    for (i, one) in series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let places: Vec<(f64, f64)> = one.points.iter().map(|p| place((x.at(p.0), y.at(p.1)))).collect();
        let path: Vec<String> = places.iter().map(|(px, py)| format!("{px:.1},{py:.1}")).collect();
        _ = writeln!(
            svg,
            "<polyline points='{}' fill='none' stroke='{colour}' stroke-width='1.6'/>",
            path.join(" ")
        );
        for ((px, py), (vx, vy)) in places.iter().zip(&one.points).filter(|_| marks) {
            let title = escape(&format!("{}: {vx}, {vy:.4}", one.name));
            _ = writeln!(
                svg,
                "<circle cx='{px:.1}' cy='{py:.1}' r='2.6' fill='{colour}'><title>{title}</title></circle>"
            );
        }
    }
    legend(&mut svg, &series.iter().map(|s| s.name.as_str()).collect::<Vec<_>>());
    svg + "</svg>\n"
}

/// Bars, one for each whole number that occurs, stacked by group.
pub fn bars(title: &str, x: &str, y: &str, groups: &[&str], values: &[(u64, usize)]) -> String {
    let highest = values.iter().map(|v| v.0).max().unwrap_or(0);
    let lowest = values.iter().map(|v| v.0).min().unwrap_or(0);
    let count = |value: u64, group: usize| values.iter().filter(|v| **v == (value, group)).count();
    let total = |value: u64| values.iter().filter(|v| v.0 == value).count();
    let distinct: BTreeSet<u64> = values.iter().map(|v| v.0).collect();
    let most = distinct.iter().map(|&value| total(value)).max().unwrap_or(0).max(1);
    let x = Axis { label: x.into(), from: lowest as f64 - 0.6, to: highest as f64 + 0.6, log: false };
    let y = Axis { label: y.into(), from: 0.0, to: most as f64 * 1.08, log: false };
    let mut svg = begin(title, &x, &y, if groups.len() > 1 { groups.len() } else { 0 });
    for value in distinct {
        let (left, right) = (x.at(value as f64 - 0.38), x.at(value as f64 + 0.38));
        let mut below = 0;
        for (group, name) in groups.iter().enumerate() {
            let here = count(value, group);
            if here == 0 {
                continue;
            }
            let (px, top) = place((left, y.at((below + here) as f64)));
            let bottom = place((left, y.at(below as f64))).1;
            below += here;
            _ = writeln!(
                svg,
                "<rect x='{px:.1}' y='{top:.1}' width='{:.1}' height='{:.1}' fill='{}' fill-opacity='.8'><title>{}</title></rect>",
                (right - left) * SIDE,
                bottom - top,
                COLOURS[group % COLOURS.len()],
                escape(&format!("{name}: {here} with {value}"))
            );
        }
        let (px, py) = place((x.at(value as f64), y.at(below as f64)));
        if below > 0 {
            _ = writeln!(svg, "<text x='{px:.1}' y='{:.1}' text-anchor='middle'>{below}</text>", py - 4.0);
        }
    }
    if groups.len() > 1 {
        legend(&mut svg, groups);
    }
    svg + "</svg>\n"
}

/// Frame, title, labels, ticks with lines across. `entries` of a legend need room below.
fn begin(title: &str, x: &Axis, y: &Axis, entries: usize) -> String {
    let (width, height) = (LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM + 15.0 * entries as f64);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}' \
         font-family='sans-serif' font-size='11'>\n<rect width='{width}' height='{height}' fill='white'/>\n"
    );
    let middle = LEFT + SIDE / 2.0;
    _ = writeln!(
        svg,
        "<text x='{middle}' y='20' text-anchor='middle' font-size='13'>{}</text>",
        escape(title)
    );
    for tick in x.ticks() {
        let at = x.at(tick);
        let (px, py) = place((at, 0.0));
        line(&mut svg, (at, 0.0), (at, 1.0), "stroke='#e4e4e4'");
        _ = writeln!(
            svg,
            "<text x='{px:.1}' y='{:.1}' text-anchor='middle'>{}</text>",
            py + 15.0,
            number(tick)
        );
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        let (px, py) = place((0.0, at));
        line(&mut svg, (0.0, at), (1.0, at), "stroke='#e4e4e4'");
        _ = writeln!(
            svg,
            "<text x='{:.1}' y='{:.1}' text-anchor='end'>{}</text>",
            px - 5.0,
            py + 4.0,
            number(tick)
        );
    }
    _ = writeln!(
        svg,
        "<rect x='{LEFT}' y='{TOP}' width='{SIDE}' height='{SIDE}' fill='none' stroke='#333'/>\n\
         <text x='{middle}' y='{}' text-anchor='middle'>{}</text>\n\
         <text transform='translate(14 {}) rotate(-90)' text-anchor='middle'>{}</text>",
        TOP + SIDE + 34.0,
        escape(&x.label),
        TOP + SIDE / 2.0,
        escape(&y.label)
    );
    svg
}

fn legend(svg: &mut String, names: &[&str]) {
    for (i, name) in names.iter().enumerate() {
        let (y, colour) = (TOP + SIDE + BOTTOM + 15.0 * i as f64, COLOURS[i % COLOURS.len()]);
        _ = writeln!(
            svg,
            "<rect x='{LEFT}' y='{}' width='10' height='10' fill='{colour}'/><text x='{}' y='{y}'>{}</text>",
            y - 9.0,
            LEFT + 16.0,
            escape(name)
        );
    }
}

/// Returns where a point of the unit square is drawn.
fn place((x, y): (f64, f64)) -> (f64, f64) {
    (LEFT + SIDE * x, TOP + SIDE * (1.0 - y))
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    let ((x1, y1), (x2, y2)) = (place(from), place(to));
    _ = writeln!(svg, "<line x1='{x1:.1}' y1='{y1:.1}' x2='{x2:.1}' y2='{y2:.1}' {style}/>");
}

/// `0.001`, `10`, `1000`, `10⁴`
fn number(value: f64) -> String {
    if (1e-4..1e6).contains(&value.abs()) || value == 0.0 {
        format!("{}", (value * 1e6).round() / 1e6)
    } else {
        format!("{value:e}")
    }
}

/// Text as XML and HTML want it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&#39;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_cover_their_values_and_have_few_ticks() {
        let log = Axis::log("s", [0.004, 12.0, 0.0]);
        assert!((log.from - 0.001).abs() < 1e-9 && (log.to - 100.0).abs() < 1e-9, "{log:?}");
        assert_eq!(log.ticks().len(), 6);
        assert!(log.at(0.001) < 1e-9 && (log.at(100.0) - 1.0).abs() < 1e-9);
        let linear = Axis::linear("n", [1.0, 30.0]);
        assert_eq!(linear.ticks(), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert!(Axis::linear("n", []).to > 0.0, "nothing to draw is not an error");
    }

    /// Every picture can be read as XML, whatever the names are.
    #[test]
    fn pictures_are_well_formed() {
        let dot = Dot { x: 0.1, y: 9.0, group: 0, title: "a<b & 'c'".into() };
        let series = [Series { name: "<x>".into(), points: vec![(1.0, 2.0), (2.0, 4.0)] }];
        let pictures = [
            scatter("t<", "x&", "y", &["g"], &[dot], Some(10.0)),
            scatter("empty", "x", "y", &[], &[], None),
            curves(
                "c",
                &Axis::linear("x", [1.0, 2.0]),
                &Axis::log("y", [2.0, 4.0]),
                &series,
                Some(3.0),
                true,
            ),
            bars("b", "x", "y", &["<g>", "h"], &[(1, 0), (1, 1), (4, 0)]),
            bars("none", "x", "y", &[], &[]),
        ];
        for svg in pictures {
            let mut reader = quick_xml::Reader::from_str(&svg);
            let mut elements = 0;
            loop {
                match reader.read_event().unwrap_or_else(|why| panic!("{why}: {svg}")) {
                    quick_xml::events::Event::Eof => break,
                    quick_xml::events::Event::Start(_) | quick_xml::events::Event::Empty(_) => elements += 1,
                    _ => {}
                }
            }
            assert!(elements > 5 && !svg.contains("NaN"), "{svg}");
        }
    }
}
