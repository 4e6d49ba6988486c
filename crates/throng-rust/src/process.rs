//! Running a program, for as long as it may take.

use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Maximum number of bytes that are read of what a program writes.
const LONGEST: u64 = 256 << 20;

/// What a program wrote, and how it ended.
pub struct Done {
    pub succeeded: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Why a program did not end by itself.
#[derive(Debug)]
pub enum Failure {
    NotStarted(io::Error),
    TooLong(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotStarted(why) => why.fmt(f),
            Failure::TooLong(limit) => write!(f, "it took longer than {limit:?}"),
        }
    }
}

/// Runs a program to its end, and kills it where that takes longer than `limit`.
pub fn run(command: &mut Command, limit: Duration) -> Result<Done, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Failure::NotStarted)?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, limit)?;
    let read = |bytes: JoinHandle<Vec<u8>>| bytes.join().unwrap_or_default();
    let stderr = String::from_utf8_lossy(&read(stderr)).into_owned();
    Ok(Done { succeeded: status.success(), stdout: read(stdout), stderr })
}

/// Reads a pipe beside the program, which would wait for a reader when it is full.
fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            _ = pipe.take(LONGEST).read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus, Failure> {
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(Failure::NotStarted)? {
            Some(status) => return Ok(status),
            None if begun.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            None => {
                _ = child.kill();
                _ = child.wait();
                return Err(Failure::TooLong(limit));
            }
        }
    }
}
