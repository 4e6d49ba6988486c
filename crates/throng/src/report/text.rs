//! The report as text for a terminal: the verdict first, then the question, then the run step by
//! step.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use super::facts::{LineFacts, facts};
use super::findings;
use super::lanes::{LOOP, lanes};
use super::story::{Culprit, Event, Participant, Situation, Story, Values, call_stack, describe_run};
use super::{advice, all_threads, detail, duration, evidence, plural, threads_of};
use crate::outcome::{Outcome, Status, shows_value};
use crate::undecided::{Look, Possible};
use throng_model::problem::Target;
use throng_model::thread_names::{Role, ThreadId};
use throng_model::verdict::{Unknown, Verdict};

/// The extent and style of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// True to use colours.
    pub colour: bool,
    /// True to write verdict lines only.
    pub quiet: bool,
    /// True to write all shared variables after every step.
    pub verbose: bool,
}

/// Width of the text: lines are broken before this column where possible.
pub(super) const WIDTH: usize = 80;

/// The colours of threads, used in turn.
const THREADS: [AnsiColor; 6] = [
    AnsiColor::BrightBlue,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::BrightRed,
];

impl Options {
    fn styled(self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Returns text in the colour of a thread.
    pub(super) fn thread(self, thread: ThreadId, text: &str) -> String {
        let colour = THREADS[thread.0.saturating_sub(1) as usize % THREADS.len()];
        self.styled(Style::new().fg_color(Some(colour.into())), text)
    }
}

/// Returns the whole report.
pub fn write(report: &Outcome, options: Options) -> String {
    let mut out = verdict_lines(report, options);
    if options.quiet {
        return out;
    }
    out.push_str(&question(report, options));
    out.push_str(&undecided(report, options));
    if options.verbose {
        out.push_str(&proved(report));
    }
    if let Some(found) = &report.findings {
        out.push_str(&findings::write(found, options.verbose));
    }
    for (target, verdict) in report.problem.targets.iter().zip(&report.shown().verdicts) {
        // A run to the largest value of a sum violates nothing; it is in the certificate.
        if let Verdict::Unsafe(trace) = verdict
            && !shows_value(target)
        {
            out.push('\n');
            let threads = threads_of(report, trace);
            out.push_str(&story(
                &describe_run(&report.problem, target, trace),
                &threads,
                report.file(),
                options,
            ));
        }
    }
    out
}

fn verdict_lines(report: &Outcome, options: Options) -> String {
    // A run that is simplified for people keeps its numbers of threads and steps.
    let verdicts = &report.answer.verdicts;
    let overall = report.status();
    let targets = &report.problem.targets;
    let mark =
        |word: Status| if report.is_checked() || word == Status::Unknown { "" } else { "  (unchecked)" };
    let unchecked = mark(overall);
    if let ([target], [verdict]) = (&targets[..], &verdicts[..]) {
        let word = paint(overall, &overall.to_string(), options.colour);
        let head = format!("{overall}  {}  ", target.name);
        let indent = overall.to_string().len() + 2;
        let line =
            wrap(&head, &format!("{}{}{unchecked}", detail(report, verdict), truth(target, verdict)), indent);
        return line.replacen(&overall.to_string(), &word, 1);
    }
    let violations = || targets.iter().zip(verdicts).filter(|(target, _)| !shows_value(target));
    let count = violations().filter(|(_, v)| Status::of(v) == overall).count();
    let what = match overall {
        Status::Safe => "cannot be reached",
        Status::Unsafe => "can be reached",
        Status::Unknown => "undecided",
    };
    let word = paint(overall, &overall.to_string(), options.colour);
    let mut out =
        format!("{word}  {count} of {} {what}{unchecked}\n", plural(violations().count() as u64, "target"));
    let widest = targets.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).min(40);
    for (target, verdict) in targets.iter().zip(verdicts) {
        let word = Status::of(verdict);
        let unchecked = mark(word);
        let word = if shows_value(target) && word == Status::Unsafe {
            "REACHED".to_string()
        } else {
            paint(word, &format!("{word:7}"), options.colour)
        };
        let (detail, truth) = (detail(report, verdict), truth(target, verdict));
        out.push_str(&format!("{word} {:widest$}  {detail}{truth}{unchecked}\n", target.name));
    }
    out
}

/// Returns what the verdict means for a formula as it is written.
fn truth(target: &Target, verdict: &Verdict) -> String {
    match (target.holds(verdict), target.bound(verdict)) {
        (Some(true), _) => "; the formula is true".into(),
        (Some(false), _) => "; the formula is false".into(),
        (None, Some(most)) => format!("; the bound is {most}"),
        (None, None) => String::new(),
    }
}

fn question(report: &Outcome, options: Options) -> String {
    let numbers = &report.shown().statistics;
    let mut rows = vec![
        ("file", report.file().to_string()),
        ("initial", report.problem.initial_text.clone()),
        (if report.unit() == "token" { "tokens" } else { "threads" }, all_threads(report)),
        ("engine", report.answered_by()),
        ("proof", evidence(report)),
        (
            "search",
            format!(
                "{}, {}, {}, {} MiB",
                plural(numbers.configurations, "configuration"),
                plural(numbers.steps, "step"),
                duration(report.time),
                report.peak_memory >> 20
            ),
        ),
    ];
    let occupied = numbers.occupied.filter(|o| o.configurations > 0);
    let occupied = occupied.map(|o| {
        let each = if numbers.tree.is_some() { "label" } else { "configuration" };
        format!("{:.1} occupied local states per {each}, at most {}", o.average(), o.most)
    });
    if let Some(tree) = &numbers.tree {
        let mut parts = vec![
            plural(tree.nodes, "node"),
            format!("{} maximal (at most {})", tree.antichain, tree.antichain_peak),
            plural(tree.accelerations, "acceleration"),
        ];
        parts.extend(occupied);
        rows.push(("tree", parts.join(", ")));
    } else if let Some(occupied) = occupied {
        rows.push(("states", occupied));
    }
    if let Some(flow) = &numbers.flow {
        let (programs, cuts) = (plural(flow.programs, "integer program"), plural(flow.cuts, "cut"));
        rows.push(("flow", format!("{programs}, {cuts} for steps that are not connected")));
    }
    let times = report.phases.named().map(|(name, time)| format!("{name} {}", duration(time)));
    rows.push(("time", times.join(", ")));
    let unused = report.thrown_away();
    if options.verbose && !unused.is_zero() {
        rows.push(("unused", format!("{} by engines that decided nothing", duration(unused))));
    }
    if let Some(found) = &report.findings {
        rows.insert(3, ("objects", findings::summary(found)));
    }
    if !report.assumptions.is_empty() {
        rows.insert(3, ("assumes", report.assumed().join("; ")));
    }
    if let (Some(model), Some(words)) = (report.memory_model, &report.memory_words) {
        rows.insert(3, ("memory", format!("{model}: {words}")));
    }
    let saved = report.certificate.as_ref().map(|written| {
        let certified = match written.seconds {
            Some(s) => format!("certified in {}", duration(Duration::from_secs_f64(s.max(0.0)))),
            None => "not certified".into(),
        };
        ("saved", format!("{}, {} bytes; {certified}", written.file, written.bytes))
    });
    rows.into_iter().chain(saved).map(|(name, value)| row(name, &value, options)).collect()
}

/// Formats a row: `name:    value`, the name faint.
fn row(name: &str, value: &str, options: Options) -> String {
    let label = if name.is_empty() { String::new() } else { format!("{name}:") };
    let line = wrap(&format!("{label:INDENT$}"), value, INDENT);
    match options.colour && !label.is_empty() {
        true => line.replacen(&label, &options.styled(Style::new().dimmed(), &label), 1),
        false => line,
    }
}

/// The column of values in the lines below a verdict.
const INDENT: usize = 9;

/// Returns a description of the evidence, and whether it was checked.
fn evidence(report: &Outcome) -> String {
    let mut kinds: Vec<String> = Vec::new();
    let verdicts = report.shown().verdicts.iter().enumerate();
    for (i, _) in verdicts.filter(|(_, v)| !matches!(v, Verdict::Unknown(_))) {
        let line = evidence::line(report, i);
        if !kinds.contains(&line) {
            kinds.push(line);
        }
    }
    let more = kinds.len().saturating_sub(3);
    kinds.truncate(3);
    let mut text = if kinds.is_empty() { "none".to_string() } else { kinds.join("; ") };
    if more > 0 {
        text.push_str(&format!("; {more} more"));
    }
    match (kinds.is_empty(), report.is_checked()) {
        (true, _) => text,
        (false, true) => format!("{text}; checked in {}", duration(report.answer.checking)),
        (false, false) => format!("{text}; NOT checked"),
    }
}

/// Returns the facts that the proofs show about each line.
fn proved(report: &Outcome) -> String {
    let facts = facts(report);
    let head = if facts.is_empty() { "" } else { "\nWhenever a thread is about to run a line:\n" };
    let line = |at: &LineFacts| wrap(&format!("{:>5}  ", at.line), &at.facts.join(", "), 7);
    head.to_string() + &facts.iter().map(line).collect::<String>()
}

/// Returns the text about undecided targets: what is known, where to look, the record of each
/// engine, what to try, and runs that may be violations. The first line has said the reason.
fn undecided(report: &Outcome, options: Options) -> String {
    let Some(why) = report.unknown() else { return String::new() };
    let known = advice::established(report, why).unwrap_or_else(|| "nothing was established".into());
    let mut out = format!("\n{}", row("known", &known, options));
    out.push_str(&rows("look at", report.look.iter().map(place), options));
    out.push_str(&rows("tried", tried(report, why), options));
    out.push_str(&rows("next", advice::next(report, why), options));
    for possible in &report.possible {
        out.push_str(&may_be(possible, report.file(), options));
    }
    out
}

/// Formats rows under one name. What follows the first line of a value is to be copied.
fn rows(name: &str, values: impl IntoIterator<Item = String>, options: Options) -> String {
    let mut out = String::new();
    for (i, value) in values.into_iter().enumerate() {
        let mut lines = value.lines();
        out.push_str(&row(if i == 0 { name } else { "" }, lines.next().unwrap_or_default(), options));
        lines.for_each(|line| _ = writeln!(out, "             {line}"));
    }
    out
}

/// Formats a place to look at.
fn place(look: &Look) -> String {
    let function = match look.function.as_str() {
        "" => String::new(),
        function => format!(" in `{function}`"),
    };
    let text = match look.statement.as_str() {
        "" => String::new(),
        statement => format!("\n{} | {statement}", look.line),
    };
    format!("{}:{}{function}: {}{text}", look.file, look.line, look.why)
}

/// Returns what the engines said, each reason once; what none of them could be asked is left out.
fn tried(report: &Outcome, why: &Unknown) -> Vec<String> {
    let refused = Unknown::NotForThisModel(String::new()).cause();
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for a in report.shown().attempts.iter().filter(|a| a.cause != Some(refused)) {
        let time = duration(Duration::from_secs_f64(a.seconds.max(0.0)));
        let work = match a.statistics.configurations {
            0 => time,
            count => format!("{}, {time}", plural(count, "configuration")),
        };
        let engine = format!("{} ({work})", a.engine);
        match said.iter_mut().find(|(outcome, _)| *outcome == a.outcome) {
            Some((_, engines)) => engines.push(engine),
            None => said.push((&a.outcome, vec![engine])),
        }
    }
    let why = why.to_string();
    let line = |(outcome, engines): &(&str, Vec<String>)| match *outcome == why {
        true => engines.join(", "),
        false => format!("{}: {outcome}", engines.join(", ")),
    };
    said.iter().map(line).collect()
}

/// Formats a run that may be a violation, and what is uncertain about it.
fn may_be(possible: &Possible, file: &str, options: Options) -> String {
    let mut out = format!("\nPOSSIBLE run into {}, which may not be one of the program:\n", possible.target);
    for doubt in &possible.uncertain {
        out.push_str(&wrap("  uncertain: ", doubt, 13));
    }
    for stretch in &possible.lines {
        let lines: Vec<String> = stretch.lines.iter().map(u32::to_string).collect();
        let head = format!("  thread {}: ", stretch.thread);
        out.push_str(&wrap(&head, &format!("lines {}", lines.join(", ")), head.len()));
    }
    if let Some(trace) = &possible.trace {
        out.push_str(&story(trace, &plural(trace.threads.into(), "thread"), file, options));
    }
    out
}

/// Formats a run, step by step.
fn story(story: &Story, threads: &str, file: &str, options: Options) -> String {
    let mut out =
        format!("Trace for {}: {threads}, {}\n", story.violation.target, plural(story.length as u64, "step"));
    match lanes(story, options) {
        Some(columns) => {
            out.push_str(&wrap("start ", &situation_text(&story.start), 6));
            out.push('\n');
            out.push_str(&columns);
            out.push('\n');
        }
        None => {
            out.push_str(&wrap("   start  ", &situation_text(&story.start), 10));
            for (i, step) in story.steps.iter().enumerate() {
                if story.omitted > 0 && i == story.steps.len() / 2 {
                    out.push_str(&format!("    ...  {} left out\n", plural(story.omitted as u64, "step")));
                }
                if story.repeats_from == Some(step.step) {
                    out.push_str(&format!("     --{LOOP}--\n"));
                }
                out.push_str(&event(step, options));
            }
        }
    }
    out.push_str(&violation(story, file, options));
    out
}

/// Formats one step: number, thread, line and statement; below it the changes.
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
        format!("{}{}: ", at.replace(": ", " in "), call_stack(&event.function, &event.calls))
    };
    let times = event.times.map_or_else(String::new, |n| format!(" ({n} times)"));
    let mut out = wrap(&head, &format!("{at}{}{}{times}", event.statement, way(event)), 16);
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

/// Formats where control goes, if it could have gone elsewhere: ` → line 12`.
pub(super) fn way(event: &Event) -> String {
    event.goes_to.as_ref().map_or_else(String::new, |to| format!(" → {to}"))
}

/// Returns the effects of a step: changed variables first, then changes of threads.
pub fn effects(event: &Event) -> Vec<String> {
    let mut changed: Vec<String> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    for change in &event.changes {
        let arrow = format!("{} -> {}", change.before, change.after);
        match change.thread {
            None => changed.push(format!("{}: {arrow}", change.variable)),
            Some(t) if change.variable == "local" => changed.push(format!("{t}: {arrow}")),
            Some(t) => changed.push(format!("{t}.{}: {arrow}", change.variable)),
        }
    }
    for p in &event.participants {
        parts.extend(happening(p));
    }
    let mut lines = Vec::new();
    let accessed = accessed(std::slice::from_ref(event));
    if !accessed.is_empty() {
        lines.push(accessed);
    }
    if !changed.is_empty() {
        lines.push(changed.join(", "));
    }
    if !parts.is_empty() {
        lines.push(parts.join(", "));
    }
    lines
}

/// Returns what steps read, and what they wrote without changing it.
pub(super) fn accessed(steps: &[Event]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for event in steps {
        let changed = |name: &str| event.changes.iter().any(|c| c.thread.is_none() && c.variable == name);
        for access in event.accesses.iter().filter(|a| a.kind == "read" || !changed(&a.variable)) {
            let text = format!("{} {}={}", access.kind, access.variable, access.value);
            if parts.last() != Some(&text) {
                parts.push(text);
            }
        }
    }
    parts.join(", ")
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

/// Formats a responsible thread: `T2 at lock.c:14: x++; with i=3: about to write x`.
pub(super) fn blamed(culprit: &Culprit, file: &str) -> String {
    let Culprit { thread, does, state, .. } = culprit;
    let line = state.line.unwrap_or_default();
    let place = state.origin.clone().unwrap_or_else(|| format!("{file}:{line}"));
    let statement = state.statement.as_deref().unwrap_or_default();
    let with = if state.locals.is_empty() { "" } else { " with " };
    let does = does.as_deref().unwrap_or_default();
    format!("{thread} at {place}: {statement}{with}{}: {does}", values_text(&state.locals))
}

fn violation(story: &Story, file: &str, options: Options) -> String {
    let violation = &story.violation;
    let mut text = violation.target.clone();
    let culprits: Vec<String> = violation
        .threads
        .iter()
        .map(|c| match (&c.state.line, &c.state.statement) {
            _ if c.does.is_some() => blamed(c, file),
            (Some(line), Some(statement)) if c.state.locals.is_empty() => {
                format!("{} at line {line}: {statement}", c.thread)
            }
            (Some(line), Some(statement)) => {
                format!("{} at line {line}: {statement} with {}", c.thread, values_text(&c.state.locals))
            }
            _ => format!("{} is in {}", c.thread, c.state.name),
        })
        .collect();
    if !culprits.is_empty() {
        text.push_str(&format!(": {}", culprits.join("; ")));
    }
    text.extend(story.for_ever().map(|words| format!("; {words}")));
    if !violation.shared.0.is_empty() {
        text.push_str(&format!("; {}", values_text(&violation.shared)));
    }
    let chances = violation.threads.iter().filter_map(|c| Some((c.thread, c.last_chance?)));
    let chances: Vec<String> = chances.map(|(thread, step)| chance(thread, step)).collect();
    if !chances.is_empty() {
        text.push_str(&format!("; could have gone on for the last time: {}", chances.join(", ")));
    }
    let painted = paint(Status::Unsafe, "violated", options.colour);
    wrap("violated: ", &text, 10).replacen("violated", &painted, 1)
}

/// Formats the last step after which a thread could have gone on: `T2 after step 3`.
fn chance(thread: ThreadId, step: usize) -> String {
    match step {
        0 => format!("{thread} at the start"),
        step => format!("{thread} after step {step}"),
    }
}

/// Formats a configuration: the shared variables and the threads.
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

/// Formats values: `lock=1 free=0`.
pub fn values_text(values: &Values) -> String {
    values.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Breaks text into lines of at most `width` characters; later ones are indented. A longer word is
/// broken.
pub(super) fn wrap_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(indent + 4);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word = word.to_string();
        loop {
            let used = line.chars().count();
            let gap = usize::from(!line.trim().is_empty());
            let size = word.chars().count();
            if used + gap + size <= width {
                line.push_str(&" ".repeat(gap));
                line.push_str(&word);
                break;
            }
            if line.trim().is_empty() {
                let rest = word.split_off(word.char_indices().nth(width - used).map_or(word.len(), |c| c.0));
                line.push_str(&word);
                word = rest;
            }
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
    }
    lines.push(line);
    lines
}

/// Returns `text` after `head`, broken at blanks; later lines are indented.
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

fn paint(word: Status, text: &str, colour: bool) -> String {
    if !colour {
        return text.to_string();
    }
    let colour = match word {
        Status::Safe => AnsiColor::Green,
        Status::Unsafe => AnsiColor::Red,
        Status::Unknown => AnsiColor::Yellow,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}
