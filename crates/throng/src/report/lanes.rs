//! A run as columns, one per thread, for a terminal.
//!
//! With few threads and short statements, each statement is in its thread's column. Otherwise the
//! columns are narrow, and the statements are to the right of them. If there are many threads,
//! those that do the same at different times share a column. If there are still too many columns,
//! none are shown ([`super::text`] lists the steps).

use std::collections::BTreeMap;

use super::story::{Event, Story, call_stack, folded};
use super::text::{Options, WIDTH, accessed, effects, values_text, way, wrap_words};
use throng_model::thread_names::{Role, ThreadId};

/// Minimum width of columns with statements.
const NARROWEST: usize = 18;

/// Maximum number of narrow columns: more cannot be distinguished.
const MOST: usize = 12;

/// Number of threads above which those that do the same share a column.
const ALONE: usize = 8;

/// Number of consecutive silent steps above which the middle ones are only counted.
const FOLDED: usize = 8;

/// What is written above the steps of a lasso that are repeated.
pub(super) const LOOP: &str = " repeated for ever ";

/// The first and the last step of each thread's life.
type Lives = BTreeMap<ThreadId, (usize, usize)>;

/// Returns the columns, or `None` if there would be too many.
pub fn lanes(story: &Story, options: Options) -> Option<String> {
    let lives = lives(story)?;
    let lanes = if lives.len() > ALONE { alike(story) } else { lives.keys().map(|&t| vec![t]).collect() };
    if lanes.is_empty() || lanes.len() > MOST {
        return None;
    }
    let gutter = if story.length < 100 { 6 } else { 9 };
    let width = (WIDTH - gutter) / lanes.len();
    let longest = story.steps.iter().map(|s| statement(s, "main").chars().count()).max().unwrap_or(0);
    let shared = lanes.iter().any(|lane| lane.len() > 1);
    let own = !shared && width >= NARROWEST && longest <= 2 * width;
    let sheet = Sheet { lanes, lives, options, own, width, gutter };
    let mut out = sheet.head();
    let (stem, around) = story.stem_and_loop();
    sheet.rows(stem, &mut out);
    if !around.is_empty() {
        out.push_str(&finish(sheet.rule(LOOP)));
        sheet.rows(around, &mut out);
        out.push_str(&finish(sheet.rule("")));
    }
    Some(out)
}

fn lives(story: &Story) -> Option<Lives> {
    let mut lives = Lives::new();
    for count in &story.start.counts {
        if count.threads.is_empty() {
            return None;
        }
        lives.extend(count.threads.iter().map(|&t| (t, (0, usize::MAX))));
    }
    for step in &story.steps {
        for p in &step.participants {
            let life = lives.entry(p.thread).or_insert((step.step, usize::MAX));
            if p.after.is_none() {
                life.1 = step.step;
            }
        }
        if step.participants.is_empty() {
            return None;
        }
    }
    Some(lives)
}

/// Groups threads that start in the same state and go through the same states in the same roles.
fn alike(story: &Story) -> Vec<Vec<ThreadId>> {
    let mut histories: BTreeMap<ThreadId, Vec<(Role, &str)>> = BTreeMap::new();
    for count in &story.start.counts {
        for &thread in &count.threads {
            histories.entry(thread).or_default().push((Role::Created, &count.state.name));
        }
    }
    for p in story.steps.iter().flat_map(|step| &step.participants) {
        let name = p.after.as_ref().map_or("", |state| &state.name);
        histories.entry(p.thread).or_default().push((p.role, name));
    }
    type Story<'s> = Vec<(Role, &'s str)>;
    let mut lanes: Vec<(Story<'_>, Vec<ThreadId>)> = Vec::new();
    for (thread, history) in histories {
        match lanes.iter_mut().find(|lane| lane.0 == history) {
            Some(lane) => lane.1.push(thread),
            None => lanes.push((history, vec![thread])),
        }
    }
    lanes.into_iter().map(|lane| lane.1).collect()
}

/// Formats a statement: `12: lock := 1`, with the function if that differs from the previous one.
fn statement(event: &Event, function: &str) -> String {
    let inside = match event.function.as_str() {
        same if same == function => String::new(),
        "" | "main" => String::new(),
        function => format!(" in {}", call_stack(function, &event.calls)),
    };
    match event.line {
        0 => event.statement.clone(),
        line => format!("{line}{inside}: {}", event.statement),
    }
}

/// Formats the statements of steps that are shown as one.
fn statements(steps: &[Event]) -> String {
    let mut parts = Vec::new();
    let mut function = "main";
    for (i, event) in steps.iter().enumerate() {
        let is_middle = steps.len() > FOLDED && (3..steps.len() - 3).contains(&i);
        if is_middle && i == 3 {
            parts.push(format!("… {} steps …", steps.len() - 6));
        }
        if is_middle {
            continue;
        }
        // The next statement already shows which way this one went.
        let obvious = i + 1 < steps.len() && !(steps.len() > FOLDED && i == 2);
        let way = if obvious { String::new() } else { way(event) };
        parts.push(format!("{}{way}", statement(event, function)));
        function = &event.function;
    }
    parts.join("; ")
}

struct Sheet {
    lanes: Vec<Vec<ThreadId>>,
    lives: Lives,
    options: Options,
    /// True if statements are in their thread's column.
    own: bool,
    /// Width of such a column.
    width: usize,
    /// Width of the numbers of steps.
    gutter: usize,
}

impl Sheet {
    fn lane(&self) -> usize {
        if self.own { self.width } else { 4 }
    }

    fn head(&self) -> String {
        let mut out = String::new();
        for lane in self.lanes.iter().filter(|lane| lane.len() > 1) {
            let names: Vec<String> = lane.iter().map(ToString::to_string).collect();
            let legend = format!("{}× {}: the same, one sooner, one later", lane.len(), names.join(" "));
            wrap_words(&legend, WIDTH - self.gutter, 4)
                .into_iter()
                .for_each(|line| out.push_str(&finish(format!("{}{line}", " ".repeat(self.gutter)))));
        }
        let mut line = " ".repeat(self.gutter);
        for lane in &self.lanes {
            let name = if lane.len() > 1 { format!("{}×", lane.len()) } else { lane[0].to_string() };
            let blanks = self.lane().saturating_sub(name.chars().count());
            line.push_str(&self.options.thread(lane[0], &name));
            line.push_str(&" ".repeat(blanks));
        }
        out.push_str(&finish(line));
        out
    }

    fn rows(&self, steps: &[Event], out: &mut String) {
        match self.options.verbose {
            true => steps.chunks(1).for_each(|step| out.push_str(&self.steps(step))),
            false => folded(steps).for_each(|steps| out.push_str(&self.steps(steps))),
        }
    }

    /// A line across all columns.
    fn rule(&self, text: &str) -> String {
        format!("{}--{text:-<width$}", " ".repeat(self.gutter), width = WIDTH - self.gutter - 2)
    }

    fn steps(&self, steps: &[Event]) -> String {
        let [first, .., last] = steps else {
            return self.row(&steps[0], steps, steps[0].step.to_string());
        };
        self.row(last, steps, format!("{}-{}", first.step, last.step))
    }

    fn row(&self, event: &Event, steps: &[Event], number: String) -> String {
        let lane = self.lane();
        let room = if self.own { lane - 1 } else { WIDTH - self.gutter - lane * self.lanes.len() };
        let shared =
            self.lanes.iter().find(|lane| lane.len() > 1 && event.thread.is_some_and(|t| lane.contains(&t)));
        let who = event.thread.filter(|_| shared.is_some()).map_or_else(String::new, |t| format!("{t} "));
        let mut text_lines = wrap_words(&format!("{who}{}", statements(steps)), room, 4);
        let mut more = effects(event);
        if steps.len() > 1 {
            // Silent steps have no effects besides what they read.
            more = Some(accessed(steps)).filter(|text| !text.is_empty()).into_iter().collect();
        }
        more.extend(event.origin.as_ref().map(|o| format!("from {o}")));
        if self.options.verbose && !event.shared_after.0.is_empty() {
            more.push(format!("now {}", values_text(&event.shared_after)));
        }
        for effect in more {
            text_lines.extend(unbroken(&effect, room.saturating_sub(2)));
        }
        let mut out = String::new();
        for (i, text) in text_lines.iter().enumerate() {
            let number = if i == 0 { &number } else { "" };
            // One digit takes the space of two, unless the number is a range.
            let number = format!("{number:>width$}", width = self.gutter - 2);
            let number = format!("{number:<width$}", width = self.gutter);
            out.push_str(&finish(self.line(event, number, text, i == 0)));
        }
        out
    }

    fn line(&self, event: &Event, mut line: String, text: &str, first: bool) -> String {
        let actor = event.thread;
        for lane in &self.lanes {
            let part = first && event.participants.iter().any(|p| lane.contains(&p.thread));
            let acts = actor.is_some_and(|t| lane.contains(&t));
            let cell = match () {
                () if self.own && acts => text.to_string(),
                () if !self.own && first && acts => "●".into(),
                () if part => "○".into(),
                () if lane.iter().any(|t| self.is_there(*t, event.step, first)) => "│".into(),
                () => String::new(),
            };
            let blanks = self.lane().saturating_sub(cell.chars().count());
            line.push_str(&self.options.thread(lane[0], &cell));
            line.push_str(&" ".repeat(blanks));
        }
        if !self.own {
            line.push_str(&actor.map_or_else(|| text.to_string(), |t| self.options.thread(t, text)));
        } else if actor.is_none() {
            line.push_str(text);
        }
        line
    }

    /// Returns whether a thread exists beside a step: before it on the step's first line, after it
    /// on the others.
    fn is_there(&self, thread: ThreadId, step: usize, first: bool) -> bool {
        let (born, gone) = self.lives[&thread];
        let alive = born <= step && (step < gone || first && step == gone);
        alive && (born < step || !first)
    }
}

/// Splits an effect into parts that are not broken, such as `x: 0 -> 1`.
fn unbroken(effect: &str, width: usize) -> Vec<String> {
    const GLUE: &str = "\u{1}";
    let glued = effect.replace(": ", &format!(":{GLUE}")).replace(" -> ", &format!("{GLUE}->{GLUE}"));
    wrap_words(&glued, width, 2).into_iter().map(|l| format!("  {}", l.replace(GLUE, " "))).collect()
}

fn finish(mut line: String) -> String {
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}
