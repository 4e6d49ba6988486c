//! Runs on other machines: the first process has the queue, the others make runs and send back what
//! came of them.
//!
//! Every connection makes one run at a time; a process opens as many as it may make runs at once. A
//! message is a line of JSON; the files of the instance follow. Both sides give signs of life, so a
//! machine that is gone is noticed, and its run goes back into the queue.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Run;
use super::instances::Instance;
use super::schedule::{self, Failed, Guests, Place, Plan};
use super::tools::Tool;
use crate::cluster::frame::{self, Hello, Kind, Purpose};
use crate::cluster::{BEAT, SILENCE};

/// Time limit for a greeting.
const GREETING: Duration = Duration::from_secs(5);

/// A run to be made; the texts follow.
#[derive(Serialize, Deserialize)]
struct Task {
    throng: String,
    instance: Instance,
    tool: Tool,
    timeout: f64,
    wall: f64,
    memory: u64,
    /// Lengths of the files of the instance, in the order of [`Instance::files`]; none: there is no
    /// such file.
    files: Vec<Option<usize>>,
}

/// The result of a run: none if it was stopped; or the reason why it could not be made.
type Made = Result<Option<Run>, String>;

/// Processes that come to help.
pub struct Visitors {
    listener: TcpListener,
    token: Vec<u8>,
}

impl Visitors {
    /// Listens at an address.
    pub fn at(address: &str, token: Vec<u8>) -> io::Result<Visitors> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Visitors { listener, token })
    }
}

impl Guests for Visitors {
    fn next(&self, over: &dyn Fn() -> bool) -> Option<Box<dyn Place + Send>> {
        while !over() {
            let Ok((mut stream, _)) = self.listener.accept() else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let greeted = stream
                .set_nonblocking(false)
                .and_then(|()| frame::welcome(&mut stream, &self.token, GREETING))
                .and_then(|hello| {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(SILENCE))?;
                    stream.set_write_timeout(Some(SILENCE))?;
                    Ok(hello)
                });
            if let Ok(hello) = greeted {
                return Some(Box::new(Visitor { process: hello.process, stream }));
            }
        }
        None
    }
}

/// A process that makes runs for this one.
struct Visitor {
    process: usize,
    stream: TcpStream,
}

impl Place for Visitor {
    fn make(
        &mut self,
        instance: &Instance,
        tool: &Tool,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Run>, Failed> {
        let made = self.ask(instance, tool, plan, stop);
        let made = made.map_err(|why| Failed::Lost(format!("process {} is gone: {why}", self.process)))?;
        let run = made.map_err(|why| Failed::Here(format!("process {}: {why}", self.process)))?;
        // What was asked is known here; only what came of it comes from there.
        let asked = schedule::blank(instance, tool, plan);
        Ok(run.map(|run| Run {
            file: asked.file,
            property: asked.property,
            initial: asked.initial,
            threads: asked.threads,
            family: asked.family,
            expected: asked.expected,
            tool: asked.tool,
            command: asked.command,
            hash: asked.hash,
            timeout: asked.timeout,
            memory: asked.memory,
            ..run
        }))
    }

    fn wait(&mut self) -> Result<(), Failed> {
        let sent = frame::send(&mut self.stream, Kind::Beat, &[]);
        sent.map_err(|why| Failed::Lost(format!("process {} is gone: {why}", self.process)))
    }
}

impl Visitor {
    fn ask(
        &mut self,
        instance: &Instance,
        tool: &Tool,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<Made> {
        let texts: Vec<Option<Vec<u8>>> =
            instance.files().iter().map(|path| path.as_ref().and_then(|path| fs::read(path).ok())).collect();
        let task = Task {
            throng: env!("CARGO_PKG_VERSION").into(),
            instance: instance.clone(),
            tool: tool.clone(),
            timeout: plan.timeout,
            wall: plan.wall,
            memory: plan.memory,
            files: texts.iter().map(|text| text.as_ref().map(Vec::len)).collect(),
        };
        let mut body = serde_json::to_vec(&task)?;
        body.push(b'\n');
        texts.into_iter().flatten().for_each(|text| body.extend(text));
        frame::send(&mut self.stream, Kind::Work, &body)?;
        let mut stopped = false;
        loop {
            if let (Kind::Done, body) = frame::receive(&mut self.stream)? {
                return Ok(serde_json::from_slice(&body)?);
            }
            if !stopped && stop() {
                stopped = true;
                frame::send(&mut self.stream, Kind::Stop, &[])?;
            }
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        let _ = frame::send(&mut self.stream, Kind::Done, &[]);
    }
}

/// Makes runs for the process at `first`, `plan.jobs` at once, until it has no more. `folder` is
/// for the files of the instances.
pub fn help(
    first: &str,
    me: usize,
    token: &[u8],
    patience: Duration,
    plan: &Plan,
    folder: &Path,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), String> {
    let deadline = Instant::now() + patience;
    let failed: Mutex<Option<String>> = Mutex::new(None);
    thread::scope(|scope| {
        for job in 0..plan.jobs {
            let (failed, folder) = (&failed, folder.join(job.to_string()));
            scope.spawn(move || {
                let helped = dial(first, me, token, deadline, stop)
                    .and_then(|stream| serve(&stream, plan, &folder, stop))
                    .map_err(|why| format!("the first process ({first}): {why}"));
                if let Err(why) = helped {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Connects to the first process, which may not be listening yet.
fn dial(
    first: &str,
    me: usize,
    token: &[u8],
    deadline: Instant,
    stop: &dyn Fn() -> bool,
) -> io::Result<TcpStream> {
    let attempt = || {
        let address = first.to_socket_addrs()?.next();
        let address = address.ok_or_else(|| io::Error::other("the name has no address"))?;
        let mut stream = TcpStream::connect_timeout(&address, GREETING)?;
        stream.set_nodelay(true)?;
        frame::greet(&mut stream, Hello { process: me, purpose: Purpose::Control }, token, GREETING)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        Ok(stream)
    };
    loop {
        match attempt() {
            Ok(stream) => return Ok(stream),
            Err(why) if stop() || Instant::now() >= deadline => return Err(why),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Makes one run after the other for one connection.
fn serve(stream: &TcpStream, plan: &Plan, folder: &Path, stop: &(dyn Fn() -> bool + Sync)) -> io::Result<()> {
    let mut reading = stream.try_clone()?;
    let writing = Mutex::new(stream.try_clone()?);
    let send = |kind, body: &[u8]| {
        frame::send(&mut writing.lock().unwrap_or_else(PoisonError::into_inner), kind, body)
    };
    loop {
        let work = match frame::receive(&mut reading)? {
            (Kind::Work, body) => body,
            (Kind::Done, _) => return Ok(()),
            _ => continue,
        };
        let (ended, asked_to_stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let made = thread::scope(|scope| {
            // While the run is made: signs of life to the first process, and its word to stop.
            scope.spawn(|| {
                let mut last = Instant::now();
                while !ended.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                    if last.elapsed() >= BEAT {
                        last = Instant::now();
                        if send(Kind::Beat, &[]).is_err() {
                            asked_to_stop.store(true, Ordering::SeqCst);
                        }
                    }
                }
            });
            let watched = || stop() || asked_to_stop.load(Ordering::SeqCst) || is_asked_to_stop(stream);
            let made = make(&work, plan, folder, &watched);
            ended.store(true, Ordering::SeqCst);
            made
        });
        if stop() {
            return Err(io::Error::other("stopped"));
        }
        send(Kind::Done, &serde_json::to_vec(&made)?)?;
    }
}

/// Returns whether anything arrived while a run is made: only the request to stop arrives then, or
/// the end of the connection.
fn is_asked_to_stop(stream: &TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    let peeked = stream.peek(&mut [0]);
    let _ = stream.set_read_timeout(Some(SILENCE));
    !matches!(peeked, Err(why) if matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}

/// Writes the files of a task and makes its run.
fn make(work: &[u8], plan: &Plan, folder: &Path, stop: &dyn Fn() -> bool) -> Made {
    let wrong = || "this is not a run to be made".to_string();
    let end = work.iter().position(|&b| b == b'\n').ok_or_else(wrong)?;
    let mut task: Task = serde_json::from_slice(&work[..end]).map_err(|_| wrong())?;
    if task.throng != env!("CARGO_PKG_VERSION") {
        return Err(format!("the first process is throng {}, and this is not", task.throng));
    }
    let failed = |why: io::Error| format!("cannot write the input: {why}");
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(failed)?;
    let mut texts = &work[end + 1..];
    let mut placed: Vec<Option<PathBuf>> = Vec::new();
    for (path, length) in task.instance.files().into_iter().zip(&task.files) {
        let (Some(path), Some(length)) = (path, length) else {
            placed.push(None);
            continue;
        };
        let text = texts.split_off(..*length).ok_or_else(wrong)?;
        let path = folder.join(path.file_name().ok_or_else(wrong)?);
        fs::write(&path, text).map_err(failed)?;
        placed.push(Some(path));
    }
    let [Some(path), targets, ..] = &placed[..] else { return Err("there is no input".into()) };
    task.instance.path = path.clone();
    task.instance.targets = task.instance.targets.and_then(|_| targets.clone());
    let plan = Plan { timeout: task.timeout, wall: task.wall, memory: task.memory, ..plan.clone() };
    schedule::one(&task.instance, &task.tool, &plan, stop)
}
