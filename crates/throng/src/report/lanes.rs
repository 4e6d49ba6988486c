//! A run as columns, one per thread, for a terminal.
//!
//! With few threads and short statements, each statement stands in its thread's column. Otherwise the columns are narrow, and the
//! statements stand to the right of them. With very many threads there are no columns ([`super::text`] lists the steps).

use std::collections::BTreeMap;

use super::story::{Event, Story};
use super::text::{Options, WIDTH, effects, values_text, wrap_words};
use throng_model::thread_names::ThreadId;

/// SizeLimit for the number of a step.
const GUTTER: usize = 6;

/// Columns that hold statements are at least this wide.
const NARROWEST: usize = 18;

/// More narrow columns than this cannot be distinguished.
const MOST: usize = 12;

/// When a thread begins and ends to exist, as numbers of steps.
type Lives = BTreeMap<ThreadId, (usize, usize)>;

/// The columns, or `None` if there would be too many.
pub fn lanes(story: &Story, options: Options) -> Option<String> {
    let lives = lives(story)?;
    let threads: Vec<ThreadId> = lives.keys().copied().collect();
    if threads.is_empty() || threads.len() > MOST {
        return None;
    }
    let width = (WIDTH - GUTTER) / threads.len();
    let longest = story.steps.iter().map(|s| statement(s).chars().count()).max().unwrap_or(0);
    let sheet = Sheet { threads, lives, options, own: width >= NARROWEST && longest <= 2 * width, width };
    let mut out = sheet.head();
    for step in &story.steps {
        out.push_str(&sheet.step(step));
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

/// `12: lock := 1`, with the function if that is not `main`.
fn statement(event: &Event) -> String {
    let inside = match event.function.as_str() {
        "" | "main" => String::new(),
        function => format!(" in {function}"),
    };
    match event.line {
        0 => event.statement.clone(),
        line => format!("{line}{inside}: {}", event.statement),
    }
}

struct Sheet {
    threads: Vec<ThreadId>,
    lives: Lives,
    options: Options,
    /// Whether statements stand in their thread's column.
    own: bool,
    /// How wide such a column is.
    width: usize,
}

impl Sheet {
    fn lane(&self) -> usize {
        if self.own { self.width } else { 4 }
    }

    fn paint(&self, thread: ThreadId, text: &str) -> String {
        self.options.thread(thread, text)
    }

    fn head(&self) -> String {
        let mut line = " ".repeat(GUTTER);
        for &t in &self.threads {
            let name = t.to_string();
            let blanks = self.lane().saturating_sub(name.len());
            line.push_str(&self.paint(t, &name));
            line.push_str(&" ".repeat(blanks));
        }
        finish(line)
    }

    fn step(&self, event: &Event) -> String {
        let lane = self.lane();
        let room = if self.own { lane - 1 } else { WIDTH - GUTTER - lane * self.threads.len() };
        let mut text_lines = wrap_words(&statement(event), room, 4);
        let mut more = effects(event);
        more.extend(event.origin.as_ref().map(|o| format!("from {o}")));
        if self.options.verbose && !event.shared_after.0.is_empty() {
            more.push(format!("now {}", values_text(&event.shared_after)));
        }
        for effect in more {
            text_lines.extend(unbroken(&effect, room.saturating_sub(2)));
        }
        let mut out = String::new();
        for (i, text) in text_lines.iter().enumerate() {
            let number = if i == 0 { format!("{:>4}  ", event.step) } else { " ".repeat(GUTTER) };
            out.push_str(&finish(self.line(event, number, text, i == 0)));
        }
        out
    }

    fn line(&self, event: &Event, mut line: String, text: &str, first: bool) -> String {
        let actor = event.thread;
        for &t in &self.threads {
            let (born, gone) = self.lives[&t];
            let part = first && event.participants.iter().any(|p| p.thread == t);
            let alive = born <= event.step && (event.step < gone || first && event.step == gone);
            let cell = match () {
                () if self.own && Some(t) == actor => text.to_string(),
                () if !self.own && first && Some(t) == actor => "●".into(),
                () if part => "○".into(),
                () if alive && (born < event.step || !first) => "│".into(),
                () => String::new(),
            };
            let blanks = self.lane().saturating_sub(cell.chars().count());
            line.push_str(&self.paint(t, &cell));
            line.push_str(&" ".repeat(blanks));
        }
        if !self.own {
            line.push_str(&actor.map_or_else(|| text.to_string(), |t| self.paint(t, text)));
        } else if actor.is_none() {
            line.push_str(text);
        }
        line
    }
}

/// Lines of an effect: `x: 0 -> 1` is not broken.
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
