//! A page to work on: an editor with the files of a folder, checks with live progress, and an
//! explorer that walks through configurations.
//!
//! The server listens on the loopback interface alone, and serves only who knows the token in its
//! address ([`http`]). It writes no file, and reads those of its folder alone (`folder`). What a
//! request may use is limited ([`Limited`]).

mod explore;
mod folder;
mod graph;
pub mod http;
mod strangers;

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use self::folder::Folder;
use self::http::{Refusal, Request, Site};
use self::strangers::Strangers;
use throng::{Engine, Input, Job, Limits, Outcome, Progress, Question, Settings, TextOptions};
use throng_lang::load::{Reading, decode};

/// The most requests with the token that are served at the same time.
const MOST_AT_ONCE: usize = 16;

/// The most searches that run at the same time.
const MOST_SEARCHES: usize = 2;

/// The stack of threads that read and search.
const STACK: usize = 256 << 20;

/// Interval at which progress is sent.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Limits on one request.
#[derive(Clone, Copy, Debug)]
pub struct Limited {
    /// Time limit of a search.
    pub timeout: Duration,
    /// Memory limit of the server meanwhile, in bytes.
    pub memory: u64,
    /// Number of processor cores that it uses.
    pub jobs: usize,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    site: Site,
    folder: Folder,
    limited: Limited,
    strangers: Strangers,
    requests: AtomicUsize,
    searches: AtomicUsize,
    outcomes: AtomicUsize,
    last: Mutex<Option<Arc<Found>>>,
}

/// The last outcome, to look at, and for walks that begin at its violation.
struct Found {
    number: usize,
    asked: Asked,
    outcome: Outcome,
}

/// A text that stands for a file of the folder, and the question about it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    text: String,
    #[serde(default)]
    question: throng_lsp::Asked,
}

/// What the answer is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A verdict, as that of `throng check`.
    Verdict,
    /// A walk, for which nothing need be asked.
    Walk,
}

impl Asked {
    fn job<'a>(&self, purpose: Purpose, shared: &Shared, limits: &Limits) -> Result<Job<'a>, String> {
        let place = shared.folder.place(&self.name)?;
        // Values are for people to see.
        let reading = Reading { keep_dead: true, ..Reading::default() };
        let read = || {
            let source = decode(self.name.clone(), self.text.clone().into_bytes())?;
            Input::edited_within(place, source, reading, limits)
        };
        let input = read().map_err(|why| why.to_string())?;
        let question = Question { may_lack_target: purpose == Purpose::Walk, ..self.question.question() };
        let mut settings = Settings::default();
        settings.jobs = shared.limited.jobs;
        Ok(Job::new(&input).question(question).settings(settings))
    }
}

impl Server {
    /// Listens on a port of the loopback interface; 0 is any that is free.
    pub fn bind(folder: &Path, port: u16, limited: Limited) -> io::Result<Server> {
        let folder = Folder::open(folder)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let site = Site::new(listener.local_addr()?.port())?;
        let shared = Shared {
            site,
            folder,
            limited,
            strangers: Strangers::default(),
            requests: AtomicUsize::new(0),
            searches: AtomicUsize::new(0),
            outcomes: AtomicUsize::new(0),
            last: Mutex::default(),
        };
        Ok(Server { listener, shared: Arc::new(shared) })
    }

    /// The address of the page, with its token.
    pub fn address(&self) -> String {
        self.shared.site.address()
    }

    /// Serves until the process ends.
    pub fn run(&self) -> io::Result<()> {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else { continue };
            let (shared, stream) = (self.shared.clone(), Arc::new(stream));
            shared.strangers.admit(&stream);
            let newcomer = stream.clone();
            let meeting = thread::Builder::new().spawn(move || meet(&shared, newcomer));
            if meeting.is_err() {
                self.shared.strangers.leave(&stream);
                let _ = http::refuse(&stream, &Refusal::busy());
            }
        }
        Ok(())
    }
}

/// Reads a request, and answers it on a larger stack if it may be answered. A client that is gone
/// needs no answer.
fn meet(shared: &Arc<Shared>, stream: Arc<TcpStream>) {
    let known = || {
        shared.strangers.leave(&stream);
        Guard::enter(shared, |s| &s.requests, MOST_AT_ONCE).ok_or_else(Refusal::busy)
    };
    let read = http::read(&stream, &shared.site, known);
    shared.strangers.leave(&stream);
    let begun = read.and_then(|(request, guard)| {
        let (shared, stream) = (shared.clone(), stream.clone());
        let work = move || {
            let _guard = guard;
            let _ = serve(&shared, &request, &stream);
        };
        thread::Builder::new().stack_size(STACK).spawn(work).map_err(|_| Refusal::busy())
    });
    if let Err(refusal) = begun {
        let _ = http::refuse(&stream, &refusal);
    }
}

/// A place among those that work at the same time.
struct Guard {
    shared: Arc<Shared>,
    counter: fn(&Shared) -> &AtomicUsize,
}

impl Guard {
    fn enter(shared: &Arc<Shared>, counter: fn(&Shared) -> &AtomicUsize, most: usize) -> Option<Guard> {
        let guard = Guard { shared: shared.clone(), counter };
        (counter(shared).fetch_add(1, Ordering::SeqCst) < most).then_some(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        (self.counter)(&self.shared).fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve(shared: &Arc<Shared>, request: &Request, stream: &TcpStream) -> io::Result<()> {
    match answer(shared, request, stream) {
        Ok(()) => Ok(()),
        Err(Failed::Refused(refusal)) => http::refuse(stream, &refusal),
        Err(Failed::Gone(why)) => Err(why),
    }
}

/// Reasons why a request got no answer.
enum Failed {
    Refused(Refusal),
    Gone(io::Error),
}

impl From<io::Error> for Failed {
    fn from(why: io::Error) -> Failed {
        Failed::Gone(why)
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Refused(Refusal { status: "400 Bad Request", why })
    }
}

fn answer(shared: &Arc<Shared>, request: &Request, stream: &TcpStream) -> Result<(), Failed> {
    let page =
        |kind: &str, text: &str| -> Result<(), Failed> { Ok(http::respond(stream, kind, text.as_bytes())?) };
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "") => page("text/html", include_str!("serve/page.html")),
        ("GET", "page.css") => page("text/css", include_str!("serve/page.css")),
        ("GET", "page.js") => page("text/javascript", include_str!("serve/page.js")),
        ("GET", "files") => page("application/json", &json!(shared.folder.list()).to_string()),
        ("POST", "file") => {
            let name: String = from_json(&request.body)?;
            page("text/plain", &shared.folder.read(&name)?)
        }
        ("POST", "check") => {
            let asked: Asked = from_json(&request.body)?;
            let _guard = search(shared)?;
            check(shared, asked, stream)
        }
        ("POST", "explore") => {
            let route: explore::Route = from_json(&request.body)?;
            let _guard = search(shared)?;
            let found = explore::explore(&route, shared)?;
            page("application/json", &found.to_string())
        }
        ("POST", "graph") => {
            let asked: Asked = from_json(&request.body)?;
            let _guard = search(shared)?;
            page("application/json", &graph::graph(&asked, shared)?.to_string())
        }
        ("GET", path)
            if let Some(found) = shared.last().filter(|f| path == format!("outcome/{}", f.number)) =>
        {
            Ok(http::respond_framed(stream, &found.outcome.html())?)
        }
        (_, path) => Err(Failed::Refused(Refusal {
            status: "404 Not Found",
            why: format!("there is no `{}` here", path.escape_debug()),
        })),
    }
}

fn from_json<T: for<'a> Deserialize<'a>>(body: &[u8]) -> Result<T, Failed> {
    serde_json::from_slice(body).map_err(|why| why.to_string().into())
}

fn search(shared: &Arc<Shared>) -> Result<Guard, Failed> {
    Guard::enter(shared, |s| &s.searches, MOST_SEARCHES).ok_or(Failed::Refused(Refusal::busy()))
}

impl Shared {
    fn limits(&self) -> Limits {
        Limits::none().timeout(self.limited.timeout).memory(self.limited.memory)
    }

    fn keep(&self, asked: Asked, outcome: Outcome) -> Arc<Found> {
        let number = self.outcomes.fetch_add(1, Ordering::SeqCst);
        let found = Arc::new(Found { number, asked, outcome });
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
        found
    }

    fn last(&self) -> Option<Arc<Found>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The outcome about this question: the last one if it was the same, else a new one.
fn found(shared: &Shared, asked: &Asked) -> Result<Arc<Found>, String> {
    if let Some(found) = shared.last().filter(|found| found.asked == *asked) {
        return Ok(found);
    }
    let limits = shared.limits();
    let job = asked.job(Purpose::Verdict, shared, &limits)?;
    let outcome = job.check(Engine::Auto, &limits).map_err(|why| why.to_string())?;
    Ok(shared.keep(asked.clone(), outcome))
}

/// Checks, and sends a line of JSON for progress now and then, and one for the outcome. A client
/// that is gone ends the search.
fn check(shared: &Shared, asked: Asked, stream: &TcpStream) -> Result<(), Failed> {
    let limits = shared.limits();
    let job = asked.job(Purpose::Verdict, shared, &limits)?;
    // What is wrong with the input or the question is said before anything else.
    job.prepare().map_err(|why| why.to_string())?;
    let stopper = limits.stopper();
    http::begin(stream, "application/x-ndjson")?;
    let line = |value: Value| http::go_on(stream, format!("{value}\n").as_bytes());
    let last = Mutex::new(Instant::now());
    let watch = |now: &Progress| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < PROGRESS_EVERY {
            return;
        }
        *last = Instant::now();
        let progress =
            json!({ "engine": now.engine, "phase": now.phase, "configurations": now.configurations });
        if line(json!({ "progress": progress })).is_err() {
            stopper.stop();
        }
    };
    match job.watch(&watch).check(Engine::Auto, &limits) {
        Err(why) => line(json!({ "error": why.to_string() }))?,
        Ok(outcome) => {
            let found = shared.keep(asked, outcome);
            let outcome = &found.outcome;
            let report = outcome.text(TextOptions::default());
            line(json!({
                "status": outcome.status().to_string(),
                "report": report,
                "page": format!("outcome/{}", found.number),
            }))?;
        }
    }
    Ok(())
}
