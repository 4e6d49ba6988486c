//! One process, measured: processor time, time on the wall, peak memory; stopped when it uses more
//! than it may.
//!
//! The numbers are the kernel's, read when the process is reaped (`wait4`), so they are exact even
//! for runs of a millisecond; they include descendants that the process waited for. While it runs,
//! `/proc` tells how far it is. Where there is no `/proc`, only the limit on the wall clock stops a
//! process early. Peak memory is never below that of the process which starts the others (about 6
//! MiB), since the kernel counts from the moment of the fork.

use std::fs;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wait4::Wait4;

use super::group::Group;

/// Limits on what a process uses.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Processor time.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
    /// Resident bytes.
    pub memory: Option<u64>,
}

/// Resources that a process used, and its output.
#[derive(Debug)]
pub struct Measured {
    /// User and system time.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
    /// Resident bytes at most.
    pub peak: u64,
    /// The exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The limit that it exceeded, if any.
    pub exceeded: Option<Exceeded>,
}

/// Part of an allowance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// Processor time.
    Time,
    /// Time on the wall.
    Wall,
    /// Memory.
    Memory,
    /// Nothing: the benchmark was stopped.
    Stopped,
}

/// After being asked to stop, a process has this long to say what it knows.
const GRACE: Duration = Duration::from_secs(3);
/// Interval at which limits are checked.
const LOOK: Duration = Duration::from_millis(40);
/// More output than this is dropped.
const MOST_OUTPUT: usize = 64 << 20;

/// Runs a command line within an allowance. `stop` is asked now and then whether to end it.
pub fn run(words: &[String], allowance: &Allowance, stop: &dyn Fn() -> bool) -> io::Result<Measured> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let group = Group::new()?;
    group.admit(&mut command);
    let began = Instant::now();
    let mut child = command.spawn()?;
    let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let (mut exceeded, mut deadline, mut next_look) = (None, None, began + LOOK);
    let mut pause = Duration::from_micros(200);
    let used = loop {
        if let Some(used) = child.try_wait4()? {
            break used;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(4));
        let now = Instant::now();
        if exceeded.is_none() && now >= next_look {
            next_look = now + LOOK;
            exceeded = if stop() { Some(Exceeded::Stopped) } else { over(child.id(), began, allowance) };
            if exceeded.is_some() {
                deadline = Some(now + GRACE);
                group.ask_to_stop(&mut child);
            }
        }
        if deadline.is_some_and(|d| now >= d) {
            group.end(&mut child);
        }
    };
    let wall = began.elapsed();
    // What the process has left running would keep its pipes open.
    drop(group);
    Ok(Measured {
        cpu: used.rusage.utime + used.rusage.stime,
        wall,
        peak: used.rusage.maxrss,
        status: used.status.code(),
        out: out.text(),
        err: err.text(),
        exceeded,
    })
}

/// Output read from a pipe.
struct Drained {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
}

impl Drained {
    /// All of it. A process that has left the group may keep the pipe open for ever; it is not
    /// waited for long.
    fn text(self) -> String {
        let until = Instant::now() + GRACE;
        while !self.reader.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> Drained {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let kept = bytes.clone();
    let reader = thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut part = vec![0; 1 << 16];
        while let Ok(n) = pipe.read(&mut part)
            && n > 0
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_OUTPUT.saturating_sub(kept.len());
            kept.extend_from_slice(&part[..n.min(room)]);
        }
    });
    Drained { bytes, reader }
}

fn over(id: u32, began: Instant, allowance: &Allowance) -> Option<Exceeded> {
    let (cpu, memory) =
        family(id).into_iter().map(usage).fold((Duration::ZERO, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if cpu >= allowance.cpu {
        Some(Exceeded::Time)
    } else if began.elapsed() >= allowance.wall {
        Some(Exceeded::Wall)
    } else {
        (memory > allowance.memory.unwrap_or(u64::MAX)).then_some(Exceeded::Memory)
    }
}

/// A process and its descendants.
fn family(id: u32) -> Vec<u32> {
    let mut found = vec![id];
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        next += 1;
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|c| c.parse::<u32>().ok()));
        }
    }
    found
}

/// Processor time so far and resident bytes now.
fn usage(id: u32) -> (Duration, u64) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
    // The name of the command, in brackets, may contain anything; user and system time are fields
    // 14 and 15 of proc_pid_stat(5).
    let stat = read("stat");
    let fields = stat.rsplit_once(')').map_or("", |s| s.1).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum();
    let status = read("status");
    let resident =
        status.lines().find_map(|l| l.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse::<u64>().ok());
    // Linux shows hundredths of seconds to programs, whatever the kernel counts in.
    (Duration::from_millis(ticks * 10), resident.unwrap_or(0) * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const PLENTY: Allowance =
        Allowance { cpu: Duration::from_secs(60), wall: Duration::from_secs(60), memory: None };

    fn shell(script: &str, allowance: Allowance) -> Measured {
        run(&["sh", "-c", script].map(String::from), &allowance, &|| false).unwrap()
    }

    #[test]
    fn output_and_status_are_kept() {
        let done = shell("echo out; echo err >&2; exit 7", PLENTY);
        assert_eq!((done.out.as_str(), done.err.as_str(), done.status), ("out\n", "err\n", Some(7)));
        assert_eq!(done.exceeded, None);
        assert!(done.peak > 0);
        assert_eq!(shell("kill -9 $$", PLENTY).status, None);
    }

    #[test]
    fn processor_time_is_limited_and_measured_also_of_descendants() {
        let cpu = Duration::from_millis(300);
        let done = shell("(while :; do :; done); echo never", Allowance { cpu, ..PLENTY });
        assert_eq!(done.exceeded, Some(Exceeded::Time));
        assert!(done.wall < Duration::from_secs(30), "{done:?}");
        assert!(!done.out.contains("never"));
    }

    #[test]
    fn sleeping_is_limited_by_the_wall_clock() {
        let wall = Duration::from_millis(200);
        let done = shell("trap '' INT; sleep 50", Allowance { wall, ..PLENTY });
        assert_eq!(done.exceeded, Some(Exceeded::Wall));
        assert!(done.wall < Duration::from_secs(20) && done.cpu < Duration::from_secs(1), "{done:?}");
    }

    #[test]
    fn who_leaves_is_not_waited_for() {
        let done = shell("setsid sleep 30 & sleep 0.2; echo said", PLENTY);
        assert_eq!(done.out, "said\n");
        assert!(done.wall < Duration::from_secs(10));
    }

    #[test]
    fn memory_is_limited() {
        let greedy = "x=$(head -c 4000000 /dev/zero | tr '\\0' x); y=; while :; do y=$y$x; done";
        let done = shell(greedy, Allowance { memory: Some(64 << 20), ..PLENTY });
        assert_eq!(done.exceeded, Some(Exceeded::Memory), "{done:?}");
    }

    #[test]
    fn what_cannot_be_started_is_an_error() {
        assert!(run(&["/no/such/program".into()], &PLENTY, &|| false).is_err());
        assert!(run(&[], &PLENTY, &|| false).is_err());
    }
}
