//! The report as text for a terminal: the verdict first, then the question, then the run step by step.

use anstyle::{AnsiColor, Style};

use super::story::{Event, Participant, Situation, Story, Values, tell};
use super::{Report, Word, bound_text, detail, plural};
use crate::threads::Role;
use crate::verdict::Verdict;

/// How much to write, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Use colours.
    pub colour: bool,
    /// Verdict lines only.
    pub quiet: bool,
    /// All shared variables after every step.
    pub verbose: bool,
}

/// Lines are broken before this column where that is possible.
const WIDTH: usize = 80;

/// The whole report.
pub fn write(report: &Report, options: Options) -> String {
    let mut out = verdict_lines(report, options);
    if options.quiet {
        return out;
    }
    out.push_str(&question(report));
    for (target, verdict) in report.problem.targets.iter().zip(&report.answer.verdicts) {
        if let Verdict::Unsafe(trace) = verdict {
            out.push('\n');
            out.push_str(&story(&tell(report.problem, target, trace), report.unit, options));
        }
    }
    out
}

fn verdict_lines(report: &Report, options: Options) -> String {
    let verdicts = &report.answer.verdicts;
    let overall = Word::overall(verdicts);
    let targets = &report.problem.targets;
    let unchecked = if report.checked || overall == Word::Unknown { "" } else { "  (unchecked)" };
    if let ([target], [verdict]) = (&targets[..], &verdicts[..]) {
        let word = paint(overall, &overall.to_string(), options.colour);
        return format!("{word}  {}  {}{unchecked}\n", target.name, detail(report, verdict));
    }
    let count = verdicts.iter().filter(|v| Word::of(v) == overall).count();
    let what = match overall {
        Word::Safe => "cannot be reached",
        Word::Unsafe => "can be reached",
        Word::Unknown => "undecided",
    };
    let word = paint(overall, &overall.to_string(), options.colour);
    let mut out =
        format!("{word}  {count} of {} {what}{unchecked}\n", plural(targets.len() as u64, "target"));
    let widest = targets.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).min(40);
    for (target, verdict) in targets.iter().zip(verdicts) {
        let word = Word::of(verdict);
        let word = paint(word, &format!("{word:7}"), options.colour);
        out.push_str(&format!("{word} {:widest$}  {}\n", target.name, detail(report, verdict)));
    }
    out
}

fn question(report: &Report) -> String {
    let numbers = &report.answer.statistics;
    let rows = [
        ("file", report.file.to_string()),
        ("initial", report.problem.initial_text.clone()),
        (if report.unit == "token" { "tokens" } else { "threads" }, bound_text(report.problem.bound)),
        ("engine", report.engine.to_string()),
        (
            "search",
            format!(
                "{}, {}, {:.2} s, {} MiB",
                plural(numbers.configurations, "configuration"),
                plural(numbers.steps, "step"),
                report.time.as_secs_f64(),
                report.memory >> 20
            ),
        ),
    ];
    let rows = rows.into_iter().chain(evidence(report));
    rows.map(|(name, value)| wrap(&format!("{:9}", format!("{name}:")), &value, 9)).collect()
}

/// What the verdicts rest on, once for each piece of evidence.
fn evidence(report: &Report) -> Vec<(&'static str, String)> {
    let (mut kinds, mut seen) = (Vec::new(), Vec::new());
    for verdict in &report.answer.verdicts {
        if let Verdict::Safe(certificate) = verdict {
            if seen.contains(&certificate.identity()) {
                continue;
            }
            seen.push(certificate.identity());
        }
        kinds
            .extend(verdict.evidence().map(|(kind, n)| format!("{kind} of {}", plural(n as u64, "element"))));
    }
    if kinds.is_empty() {
        return Vec::new();
    }
    let more = kinds.len().saturating_sub(4);
    kinds.truncate(4);
    if more > 0 {
        kinds.push(format!("{more} more"));
    }
    let checked = match report.checked {
        true => format!("checked in {:.3} s", report.checking.as_secs_f64()),
        false => "unchecked".into(),
    };
    let mut rows = vec![("proof", format!("{}; {checked}", kinds.join(", ")))];
    if let Some(written) = report.certificate {
        let certified = written.seconds.map_or("not certified".into(), |s| format!("certified in {s:.3} s"));
        rows.push(("saved", format!("{}, {} bytes; {certified}", written.file, written.bytes)));
    }
    rows
}

/// A run, step by step.
fn story(story: &Story, unit: &str, options: Options) -> String {
    let mut out = format!(
        "Trace for {}: {}, {}\n",
        story.violation.target,
        plural(story.threads.into(), unit),
        plural(story.length as u64, "step")
    );
    out.push_str(&wrap("   start  ", &situation_text(&story.start), 10));
    for step in &story.steps {
        out.push_str(&event(step, options));
    }
    out.push_str(&violation(story, options));
    out
}

/// One step: number, thread, line and statement; below it what changed.
pub fn event(event: &Event, options: Options) -> String {
    let who = event.thread.map_or_else(|| "-".to_string(), |t| t.to_string());
    let head = format!("{:>5}  {who:4} ", event.step);
    let at = match event.line {
        0 => String::new(),
        line => format!("line {line}: "),
    };
    let at = if event.function.is_empty() || event.function == "main" {
        at
    } else {
        format!("{}{}: ", at.replace(": ", " in "), event.function)
    };
    let mut out = wrap(&head, &format!("{at}{}", event.statement), 16);
    for line in effects(event) {
        out.push_str(&wrap("            ", &line, 14));
    }
    if let Some(origin) = &event.origin {
        out.push_str(&wrap("            ", &format!("from {origin}"), 14));
    }
    if options.verbose && !event.shared_after.0.is_empty() {
        out.push_str(&wrap("            ", &format!("now {}", values_text(&event.shared_after)), 14));
    }
    out
}

/// What a step did: changed variables first, then what happened to threads.
pub fn effects(event: &Event) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for change in &event.changes {
        let arrow = format!("{} -> {}", change.before, change.after);
        match change.thread {
            None => changed.push(format!("{}: {arrow}", change.variable)),
            Some(t) if change.variable == "local" => changed.push(format!("{t}: {arrow}")),
            Some(t) => changed.push(format!("{t}.{}: {arrow}", change.variable)),
        }
    }
    for p in &event.participants {
        told.extend(happening(p));
    }
    let mut lines = Vec::new();
    if !changed.is_empty() {
        lines.push(changed.join(", "));
    }
    if !told.is_empty() {
        lines.push(told.join(", "));
    }
    lines
}

fn happening(p: &Participant) -> Option<String> {
    let thread = p.thread;
    match (&p.before, &p.after, p.role) {
        (_, None, _) => Some(format!("{thread} ends")),
        (None, Some(state), _) => Some(format!("{thread} starts at {}", state.name)),
        (_, Some(state), Role::Woken) => Some(format!("{thread} is woken and goes on at {}", state.name)),
        _ => None,
    }
}

fn violation(story: &Story, options: Options) -> String {
    let violation = &story.violation;
    let mut text = violation.target.clone();
    let culprits: Vec<String> = violation
        .threads
        .iter()
        .map(|c| match (&c.state.line, &c.state.statement) {
            (Some(line), Some(statement)) => format!("{} at line {line}: {statement}", c.thread),
            _ => format!("{} is in {}", c.thread, c.state.name),
        })
        .collect();
    if !culprits.is_empty() {
        text.push_str(&format!(": {}", culprits.join("; ")));
    }
    if !violation.shared.0.is_empty() {
        text.push_str(&format!("; {}", values_text(&violation.shared)));
    }
    let painted = paint(Word::Unsafe, "violated", options.colour);
    wrap("violated: ", &text, 10).replacen("violated", &painted, 1)
}

/// The shared variables and who is where.
pub fn situation_text(situation: &Situation) -> String {
    let mut parts = Vec::new();
    if !situation.shared.0.is_empty() {
        parts.push(values_text(&situation.shared));
    }
    for count in &situation.counts {
        let names: Vec<String> = match count.threads.len() {
            1..=6 => count.threads.iter().map(ToString::to_string).collect(),
            _ => vec![format!("{} x", count.count)],
        };
        parts.push(format!("{} at {}", names.join(" "), count.state.name));
    }
    if parts.is_empty() { "no threads".into() } else { parts.join("; ") }
}

/// `lock=1 free=0`
pub fn values_text(values: &Values) -> String {
    values.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// `text` after `head`, broken at blanks; later lines are indented.
pub fn wrap(head: &str, text: &str, indent: usize) -> String {
    let mut out = head.to_string();
    let mut column = head.chars().count();
    let mut fresh = true;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if !fresh && column + 1 + width > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
        fresh = false;
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn paint(word: Word, text: &str, colour: bool) -> String {
    if !colour {
        return text.to_string();
    }
    let colour = match word {
        Word::Safe => AnsiColor::Green,
        Word::Unsafe => AnsiColor::Red,
        Word::Unknown => AnsiColor::Yellow,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}
