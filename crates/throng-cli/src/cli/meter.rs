//! Progress on standard error while something takes long: one line that is rewritten on a terminal,
//! plain lines elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::OutputArgs;
use throng_engine::Progress;
use throng_model::limits::Limits;

/// Conditions under which progress is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum When {
    /// If standard error is a terminal
    #[default]
    Auto,
    /// Also elsewhere, as plain lines
    Always,
    /// Not at all
    Never,
}

/// Time before progress is first shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Columns of the line on a terminal.
const WIDTH: usize = 79;

/// The last report of an engine that has been silent for this long is not shown any more.
const FRESH: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Line,
    Plain,
}

/// Shows progress. Without a style it is silent.
pub(super) struct Meter {
    style: Option<Style>,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    engines: Vec<Seen>,
    running: bool,
    /// True if there is a line on the terminal.
    drawn: bool,
}

/// The last that was heard from an engine.
struct Seen {
    now: Progress,
    at: Instant,
    /// Time and number of configurations when the rate was last computed.
    since: (Instant, u64),
    rate: f64,
}

impl Meter {
    pub(super) fn new(output: OutputArgs) -> Meter {
        let terminal = io::stderr().is_terminal();
        let style = match output.progress {
            When::Never => None,
            _ if output.quiet => None,
            When::Auto if !terminal && !output.verbose => None,
            When::Auto | When::Always => Some(if terminal { Style::Line } else { Style::Plain }),
        };
        Meter { style, state: Arc::default() }
    }

    /// Starts to show what is heard from now on.
    pub(super) fn start(&self, limits: &Limits) {
        let Some(style) = self.style else { return };
        lock(&self.state.0).running = true;
        let (state, limits, began) = (self.state.clone(), limits.clone(), Instant::now());
        let draw = move || {
            let mut wait = PATIENCE;
            let mut state_now = lock(&state.0);
            while state_now.running {
                let waited = state.1.wait_timeout(state_now, wait);
                state_now = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !state_now.running || began.elapsed() < PATIENCE {
                    continue;
                }
                state_now.show(style, began.elapsed(), limits.time_left());
                wait = if style == Style::Line { Duration::from_millis(200) } else { Duration::from_secs(2) };
            }
        };
        // Without the thread there is no progress; the work does not depend on it.
        let _ = thread::Builder::new().name("progress".into()).spawn(draw);
    }

    /// An engine says how far it is.
    pub(super) fn hear(&self, now: &Progress) {
        if self.style.is_none() {
            return;
        }
        let mut state = lock(&self.state.0);
        let at = Instant::now();
        match state.engines.iter_mut().find(|s| s.now.engine == now.engine) {
            Some(seen) => {
                (seen.now, seen.at) = (now.clone(), at);
                let (then, count) = seen.since;
                if now.configurations < count {
                    seen.since = (at, now.configurations);
                } else if at - then >= Duration::from_secs(1) {
                    seen.rate = (now.configurations - count) as f64 / (at - then).as_secs_f64();
                    seen.since = (at, now.configurations);
                }
            }
            None => {
                let since = (at, now.configurations);
                state.engines.push(Seen { now: now.clone(), at, since, rate: 0.0 });
            }
        }
    }

    /// Ends it and removes the line.
    pub(super) fn stop(&self) {
        let mut state = lock(&self.state.0);
        state.running = false;
        self.state.1.notify_all();
        if std::mem::take(&mut state.drawn) {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn show(&mut self, style: Style, elapsed: Duration, left: Option<Duration>) {
        let left = left.map(|left| format!("{} s left", left.as_secs()));
        let active: Vec<&Seen> = self.engines.iter().filter(|s| s.at.elapsed() < FRESH).collect();
        let mut err = io::stderr().lock();
        match style {
            Style::Plain => {
                let tail = left.map_or_else(String::new, |left| format!(", {left}"));
                let head = format!("progress: {} s", elapsed.as_secs());
                if active.is_empty() {
                    let _ = writeln!(err, "{head}{tail}");
                }
                for seen in active {
                    let Progress { engine, phase, configurations, frontier } = &seen.now;
                    let rate = seen.rate(elapsed);
                    let _ = writeln!(
                        err,
                        "{head}, {engine}, {phase}: {configurations} configurations, {frontier} to explore, {rate:.0}/s{tail}"
                    );
                }
            }
            Style::Line => {
                let mut line = format!("{} s", elapsed.as_secs());
                left.into_iter().for_each(|left| line.push_str(&format!(", {left}")));
                for seen in active {
                    let Progress { engine, phase, configurations, frontier } = &seen.now;
                    let (stored, open) = (short(*configurations as f64), short(*frontier as f64));
                    let _ = write!(
                        line,
                        " | {engine}, {phase}: {stored}, {open} open, {}/s",
                        short(seen.rate(elapsed))
                    );
                }
                if line.chars().count() > WIDTH {
                    line = line.chars().take(WIDTH - 1).collect();
                    line.push('…');
                }
                let _ = write!(err, "\r{line}\x1b[K");
                let _ = err.flush();
                self.drawn = true;
            }
        }
    }
}

impl Seen {
    /// Configurations per second, lately; before that is known, on average.
    fn rate(&self, elapsed: Duration) -> f64 {
        if self.rate > 0.0 {
            self.rate
        } else {
            self.now.configurations as f64 / elapsed.as_secs_f64().max(0.1)
        }
    }
}

/// `1.2M`
fn short(n: f64) -> String {
    match n {
        n if n < 10_000.0 => format!("{n:.0}"),
        n if n < 1e6 => format!("{:.0}k", n / 1e3),
        n if n < 1e9 => format!("{:.1}M", n / 1e6),
        n => format!("{:.1}G", n / 1e9),
    }
}
