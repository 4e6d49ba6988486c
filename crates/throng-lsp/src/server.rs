//! The server handles requests and notifications one after another; checks report back through the
//! same queue.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::document::{Document, input_diagnostics};
use crate::format::indent;
use crate::position::Text;
use crate::transport::{self, Incoming};
use crate::verdict::{self, Found};
use throng::{Error, Limits, Progress, Settings, Status};
use throng_lang::source::Diagnostic;
use throng_model::limits::Stopper;

/// Size of the stack of threads that read and check: functions on trees are recursive.
const STACK: usize = 256 << 20;

/// Maximum number of outcomes that are kept.
const MOST_KEPT: usize = 16;

/// Time between two reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

// Error codes of the protocol.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
const NOT_INITIALIZED: i64 = -32002;
const REQUEST_FAILED: i64 = -32803;
const CONTENT_MODIFIED: i64 = -32801;
const CANCELLED: i64 = -32800;

/// What a check may use.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Limit on its time.
    pub timeout: Duration,
    /// Limit on the server's memory, in bytes.
    pub memory: u64,
    /// Number of processor cores that it uses.
    pub jobs: usize,
}

/// Serves one client until it sends `exit` or closes the connection. Returns `Ok(true)` if it sent
/// `shutdown` before.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    config: Config,
) -> io::Result<bool> {
    let (events, queue) = channel();
    let output: Output = Output(Arc::new(Mutex::new(Box::new(output))));
    let mut server = Server {
        config,
        output,
        events: events.clone(),
        documents: HashMap::new(),
        stale: Vec::new(),
        c: HashMap::new(),
        checks: Vec::new(),
        kept: Vec::new(),
        client: Client::default(),
        state: State::New,
        requests: 0,
    };
    thread::Builder::new().name("reader".into()).spawn(move || receive(input, &events))?;
    server.run(&queue)
}

/// Forwards messages until the input ends.
fn receive(mut input: impl BufRead, events: &Sender<Happened>) {
    loop {
        let (event, last) = match transport::read(&mut input) {
            Ok(Some(message)) => (Happened::Received(message), false),
            Ok(None) => (Happened::Closed(Ok(())), true),
            Err(why) => (Happened::Closed(Err(why)), true),
        };
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// An event that the server handles.
enum Happened {
    Received(Incoming),
    Closed(io::Result<()>),
    Checked(Box<Checked>),
    ReadC { uri: String, text: String, found: Vec<Diagnostic> },
}

/// A check that ended.
struct Checked {
    id: Value,
    uri: String,
    text: Arc<Text>,
    asked: Asked,
    found: Result<Found, Failed>,
}

/// The reason why there is no outcome.
enum Failed {
    Refused(String),
    Panicked,
}

/// The output, to which any thread may send whole messages.
#[derive(Clone)]
struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    fn send(&self, message: Value) {
        let mut message = message;
        message["jsonrpc"] = "2.0".into();
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that is gone has also closed the input, which ends the server.
        let _ = transport::write(&mut *output, &message);
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

/// The capabilities of the client.
#[derive(Clone, Copy, Default)]
struct Client {
    progress: bool,
    refreshes_lenses: bool,
}

/// A running check.
struct Check {
    id: Value,
    uri: String,
    token: Option<Value>,
    stopper: Stopper,
    /// The reason why it was stopped, if it was.
    stopped: Option<Stopped>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    ByClient,
    ByChange,
}

/// An outcome, with its text and question.
struct Kept {
    uri: String,
    text: Arc<Text>,
    asked: Asked,
    found: Arc<Found>,
}

/// A text in C, which is read on a thread of its own because the preprocessor may take long, and
/// its diagnostics once they are known.
struct ReadingC {
    text: String,
    found: Option<Vec<Diagnostic>>,
}

struct Server {
    config: Config,
    output: Output,
    events: Sender<Happened>,
    documents: HashMap<String, Document>,
    /// Texts whose diagnostics are to be published.
    stale: Vec<String>,
    /// The last reading of each text in C.
    c: HashMap<String, ReadingC>,
    checks: Vec<Check>,
    kept: Vec<Kept>,
    client: Client,
    state: State,
    /// Number of requests that the server has sent.
    requests: u64,
}

/// A result, or an error as code and message.
type Answer = Result<Value, (i64, String)>;

fn invalid(what: &str) -> (i64, String) {
    (INVALID_PARAMS, what.to_string())
}

impl Server {
    fn run(&mut self, queue: &Receiver<Happened>) -> io::Result<bool> {
        loop {
            let event = match queue.try_recv() {
                Ok(event) => event,
                Err(_) => {
                    // The queue is empty: of a burst of changes, only the last text is read.
                    self.publish();
                    match queue.recv() {
                        Ok(event) => event,
                        Err(_) => return Ok(false),
                    }
                }
            };
            match event {
                Happened::Received(Incoming::Message(message)) => {
                    if message["method"] == "exit" {
                        return Ok(self.end());
                    }
                    self.message(&message);
                }
                Happened::Received(Incoming::NotJson(why)) => {
                    self.respond(&Value::Null, Err((PARSE_ERROR, why)));
                }
                Happened::Closed(Ok(())) => return Ok(self.end()),
                Happened::Closed(Err(why)) => {
                    self.end();
                    return Err(why);
                }
                Happened::Checked(checked) => self.checked(*checked),
                Happened::ReadC { uri, text, found } => {
                    if let Some(reading) = self.c.get_mut(&uri).filter(|c| c.text == text) {
                        reading.found = Some(found);
                        self.is_stale(&uri);
                    }
                }
            }
        }
    }

    fn end(&mut self) -> bool {
        self.checks.iter().for_each(|check| check.stopper.stop());
        self.state == State::ShutDown
    }

    fn respond(&self, id: &Value, answer: Answer) {
        self.output.send(match answer {
            Ok(result) => json!({ "id": id, "result": result }),
            Err((code, message)) => json!({ "id": id, "error": { "code": code, "message": message } }),
        });
    }

    /// Sends a request to the client and does not wait for the answer.
    fn request(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let id = format!("throng-{}", self.requests);
        self.output.send(json!({ "id": id, "method": method, "params": params }));
    }

    fn message(&mut self, message: &Value) {
        let params = &message["params"];
        match (message.get("id"), message["method"].as_str()) {
            (Some(id), Some("initialize")) if self.state == State::New => {
                let answer = self.initialize(params);
                self.respond(id, Ok(answer));
            }
            (Some(id), Some(_)) if self.state == State::New => {
                self.respond(id, Err((NOT_INITIALIZED, "`initialize` comes first".into())));
            }
            (Some(id), Some(_)) if self.state == State::ShutDown => {
                self.respond(id, Err((INVALID_REQUEST, "the server was shut down".into())));
            }
            (Some(id), Some("workspace/executeCommand")) => self.command(id, params),
            (Some(id), Some(method)) => {
                let answer = self.answer(method, params);
                self.respond(id, answer);
            }
            (None, Some(method)) if self.state == State::Running => self.notification(method, params),
            // An answer to a request of the server.
            (Some(_), None) if message.get("result").is_some() || message.get("error").is_some() => {}
            (None, Some(_)) => {}
            _ => {
                let why = "this is neither a request nor a notification nor a response";
                self.respond(&Value::Null, Err((INVALID_REQUEST, why.into())));
            }
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.state = State::Running;
        let capabilities = &params["capabilities"];
        self.client = Client {
            progress: capabilities["window"]["workDoneProgress"] == true,
            refreshes_lenses: capabilities["workspace"]["codeLens"]["refreshSupport"] == true,
        };
        json!({
            "serverInfo": { "name": "throng", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": { "openClose": true, "change": 2, "save": {} },
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "renameProvider": { "prepareProvider": true },
                "documentSymbolProvider": true,
                "documentFormattingProvider": true,
                "codeLensProvider": {},
                "executeCommandProvider": {
                    "commands": ["throng.check", "throng.stop", "throng.showRun", "throng.showProof"],
                    "workDoneProgress": true,
                },
            },
        })
    }

    // ── texts ──

    fn notification(&mut self, method: &str, params: &Value) {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_string();
        let version = params["textDocument"]["version"].as_i64().unwrap_or_default();
        match method {
            "textDocument/didOpen" => {
                let text = params["textDocument"]["text"].as_str().unwrap_or_default().to_string();
                self.documents.insert(uri.clone(), Document::new(&uri, version, text));
                self.is_stale(&uri);
            }
            "textDocument/didChange" => {
                let Some(document) = self.documents.get_mut(&uri) else { return };
                let before = document.text.text.clone();
                let changes = params["contentChanges"].as_array().map_or(&[][..], Vec::as_slice);
                if !document.change(version, changes) {
                    self.show(1, &format!("a change of {uri} makes no sense: close it and open it again"));
                }
                if self.documents.get(&uri).is_some_and(|d| d.text.text != before) {
                    self.stop(&uri, Stopped::ByChange);
                }
                self.is_stale(&uri);
            }
            // The files that a C text includes may have changed.
            "textDocument/didSave" if self.c.get(&uri).is_some_and(|c| c.found.is_some()) => {
                self.c.remove(&uri);
                self.is_stale(&uri);
            }
            "textDocument/didClose" if self.documents.remove(&uri).is_some() => {
                self.stop(&uri, Stopped::ByChange);
                self.c.remove(&uri);
                let none = json!({ "uri": uri, "diagnostics": [] });
                self.output.notify("textDocument/publishDiagnostics", none);
            }
            "$/cancelRequest" => self.cancel(|check| check.id == params["id"]),
            "window/workDoneProgress/cancel" => {
                self.cancel(|check| check.token.as_ref() == Some(&params["token"]));
            }
            _ => {}
        }
    }

    fn is_stale(&mut self, uri: &str) {
        if !self.stale.iter().any(|u| u == uri) {
            self.stale.push(uri.into());
        }
    }

    /// Publishes the diagnostics of texts that changed.
    fn publish(&mut self) {
        for uri in std::mem::take(&mut self.stale) {
            let Some(document) = self.documents.get(&uri) else { continue };
            let mut found = document.diagnostics();
            let kept = self.kept_for(document);
            if verdict::is_c(&document.path) {
                match self.c.get(&uri) {
                    Some(ReadingC { text, found: Some(read) }) if *text == document.text.text => {
                        found.extend(read.iter().map(|d| document.diagnostic(d)));
                    }
                    // The next reading begins when this one has ended.
                    Some(ReadingC { found: None, .. }) if kept.is_none() => continue,
                    Some(ReadingC { found: None, .. }) => {}
                    _ => {
                        self.read_c(&uri);
                        continue;
                    }
                }
            }
            if let Some(kept) = kept {
                found.extend(verdict::diagnostics(&kept.found.outcome, &uri, &document.text));
            }
            let params = json!({ "uri": uri, "version": document.version, "diagnostics": found });
            self.output.notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Reads a C text in the background.
    fn read_c(&mut self, uri: &str) {
        let Some(document) = self.documents.get(uri) else { return };
        let (path, text) = (document.path.clone(), document.text.text.clone());
        let reading = ReadingC { text: text.clone(), found: None };
        let (events, about) = (self.events.clone(), uri.to_string());
        let work = move || {
            let read = || input_diagnostics(&path, &text);
            let found = catch_unwind(AssertUnwindSafe(read)).unwrap_or_default();
            let _ = events.send(Happened::ReadC { uri: about, text, found });
        };
        if thread::Builder::new().stack_size(STACK).spawn(work).is_ok() {
            self.c.insert(uri.into(), reading);
        }
    }

    /// Shows a message to the user: 1 is an error, 3 information.
    fn show(&self, kind: u8, message: &str) {
        self.output.notify("window/showMessage", json!({ "type": kind, "message": message }));
    }

    // ── answers at once ──

    fn answer(&mut self, method: &str, params: &Value) -> Answer {
        if method == "shutdown" {
            self.state = State::ShutDown;
            return Ok(Value::Null);
        }
        let position = &params["position"];
        let document = params["textDocument"]["uri"].as_str().and_then(|uri| self.documents.get(uri));
        let document = document.ok_or_else(|| match method.starts_with("textDocument/") {
            true => invalid("this document is not open"),
            false => (METHOD_NOT_FOUND, format!("`{method}` is not served")),
        });
        match method {
            "textDocument/hover" => Ok(self.hover(document?, position).into()),
            "textDocument/definition" => Ok(document?.definition(position).into()),
            "textDocument/references" => {
                let declaration = params["context"]["includeDeclaration"] != false;
                Ok(document?.references(position, declaration).into())
            }
            "textDocument/documentHighlight" => {
                let places = document?.references(position, true).unwrap_or_default();
                Ok(places.into_iter().map(|place| json!({ "range": place["range"] })).collect())
            }
            "textDocument/prepareRename" => document?.renamed(position).map_err(|why| (REQUEST_FAILED, why)),
            "textDocument/rename" => {
                let name = params["newName"].as_str().ok_or_else(|| invalid("`newName` is missing"))?;
                document?.rename(position, name).map_err(|why| (REQUEST_FAILED, why))
            }
            "textDocument/documentSymbol" => Ok(document?.outline().into()),
            "textDocument/formatting" => Ok(formatted(document?, &params["options"])),
            "textDocument/codeLens" => Ok(self.lenses(document?)),
            _ => Err((METHOD_NOT_FOUND, format!("`{method}` is not served"))),
        }
    }

    /// Returns the declaration of a name, and the facts about the line in the last proof about
    /// exactly this text that has some.
    fn hover(&self, document: &Document, position: &Value) -> Option<Value> {
        let line = position["line"].as_u64().and_then(|line| u32::try_from(line).ok()?.checked_add(1));
        let proved = line.and_then(|line| self.all_kept_for(document).find_map(|k| k.found.about(line)));
        let Some(proved) = proved else { return document.hover(position) };
        let markdown = |text: String| json!({ "contents": { "kind": "markdown", "value": text } });
        let Some(mut declared) = document.hover(position) else { return Some(markdown(proved)) };
        let declaration = declared["contents"]["value"].as_str().unwrap_or_default();
        declared["contents"] = markdown(format!("{declaration}\n\n{proved}"))["contents"].take();
        Some(declared)
    }

    fn lenses(&self, document: &Document) -> Value {
        if document.format().is_none() {
            return json!([]);
        }
        let lens = |title: String, command: &str| {
            json!({
                "range": document.lens_range(),
                "command": { "title": title, "command": command, "arguments": [document.uri] },
            })
        };
        if self.checks.iter().any(|check| check.uri == document.uri) {
            return json!([lens("checking … (stop)".into(), "throng.stop")]);
        }
        let kept = self.kept_for(document);
        let entries = document.entries();
        let mut lenses = Vec::new();
        if !verdict::is_code(&document.path) || entries.is_empty() || document.has_main() {
            let whole = kept.filter(|kept| kept.asked.entries().is_empty());
            let title = whole.map_or_else(|| "check".into(), |kept| verdict::headline(&kept.found.outcome));
            lenses.push(lens(title, "throng.check"));
        }
        lenses.extend(entry_lenses(document, &entries, kept));
        let Some(kept) = kept else { return lenses.into() };
        let mut shown = match kept.found.outcome.status() {
            Status::Unsafe => lens("show run".into(), "throng.showRun"),
            Status::Safe => lens("show proof".into(), "throng.showProof"),
            Status::Unknown => return lenses.into(),
        };
        if let Some((_, range)) = entries.iter().find(|(name, _)| kept.asked.entries() == [*name]) {
            shown["range"] = range.clone();
        }
        lenses.push(shown);
        lenses.into()
    }

    /// Returns the last outcome about exactly this text.
    fn kept_for(&self, document: &Document) -> Option<&Kept> {
        self.all_kept_for(document).next()
    }

    /// Returns all outcomes about exactly this text, the last one first.
    fn all_kept_for<'a>(&'a self, document: &Document) -> impl Iterator<Item = &'a Kept> {
        self.kept.iter().rev().filter(|k| k.uri == document.uri && k.text.text == document.text.text)
    }

    // ── checks ──

    fn command(&mut self, id: &Value, params: &Value) {
        let command = params["command"].as_str().unwrap_or_default();
        let uri = params["arguments"][0].as_str().unwrap_or_default();
        let Some(document) = self.documents.get(uri) else {
            let why = format!("the first argument of `{command}` is the address of an open document");
            return self.respond(id, Err(invalid(&why)));
        };
        let answer = match command {
            "throng.check" => {
                let asked = match &params["arguments"][1] {
                    Value::Null => Ok(Asked::default()),
                    given => serde_json::from_value(given.clone()),
                };
                match asked {
                    Err(why) => Err(invalid(&why.to_string())),
                    Ok(asked) => match self.known(document, &asked) {
                        Some(answer) => Ok(answer),
                        None => {
                            let uri = uri.to_string();
                            return self.start(id, &uri, asked, params.get("workDoneToken"));
                        }
                    },
                }
            }
            "throng.stop" => {
                let uri = uri.to_string();
                self.cancel(|check| check.uri == uri);
                Ok(Value::Null)
            }
            "throng.showRun" => match self.kept_for(document) {
                Some(kept) if kept.found.outcome.is_unsafe() => {
                    Ok(verdict::runs(&kept.found.outcome, uri, &document.text).into())
                }
                _ => Err((REQUEST_FAILED, "no run of this text is known: check it first".into())),
            },
            "throng.showProof" => match self.kept_for(document) {
                Some(kept) if kept.found.outcome.is_safe() => Ok(json!({
                    "report": verdict::report(&kept.found.outcome),
                    "html": kept.found.outcome.html(),
                })),
                _ => Err((REQUEST_FAILED, "no proof about this text is known: check it first".into())),
            },
            other => Err((METHOD_NOT_FOUND, format!("`{other}` is not a command of this server"))),
        };
        self.respond(id, answer);
    }

    /// Returns the answer to the same question about the same text, if there was one. There is none
    /// about C, which may depend on other files.
    fn known(&self, document: &Document, asked: &Asked) -> Option<Value> {
        let same =
            |k: &&Kept| k.uri == document.uri && k.text.text == document.text.text && k.asked == *asked;
        let kept = self.kept.iter().rev().find(same).filter(|_| !verdict::is_c(&document.path))?;
        Some(verdict::answer(&kept.found.outcome, &document.uri, &document.text))
    }

    fn start(&mut self, id: &Value, uri: &str, asked: Asked, token: Option<&Value>) {
        self.stop(uri, Stopped::ByChange);
        let document = &self.documents[uri];
        let (text, path) = (Arc::new(document.text.clone()), document.path.clone());
        let earlier = self.kept.iter().rev().find(|k| k.uri == uri && k.asked == asked);
        let earlier = earlier.map(|kept| kept.found.clone());
        let limits = Limits::none().timeout(self.config.timeout).memory(self.config.memory);
        let stopper = limits.stopper();
        let token = token.cloned().or_else(|| {
            self.client.progress.then(|| {
                let token = json!(format!("throng-check-{}", self.requests));
                self.request("window/workDoneProgress/create", json!({ "token": token }));
                token
            })
        });
        if let Some(token) = &token {
            let title = format!("checking {}", path.file_name().unwrap_or_default().display());
            progress(&self.output, token, json!({ "kind": "begin", "title": title, "cancellable": true }));
        }
        let mut settings = Settings::default();
        settings.jobs = self.config.jobs;
        let (output, events) = (self.output.clone(), self.events.clone());
        let (id, uri) = (id.clone(), uri.to_string());
        self.checks.push(Check {
            id: id.clone(),
            uri: uri.clone(),
            token: token.clone(),
            stopper,
            stopped: None,
        });
        let failed = Checked {
            id: id.clone(),
            uri: uri.clone(),
            text: text.clone(),
            asked: asked.clone(),
            found: Err(Failed::Refused("cannot start a thread".into())),
        };
        let work = move || {
            let watch = Shown::new(output, token);
            let watch = |now: &Progress| watch.progress(now);
            let earlier = earlier.as_deref();
            let check = || verdict::check(&path, &text.text, &asked, earlier, settings, &limits, &watch);
            let found = match catch_unwind(AssertUnwindSafe(check)) {
                Ok(Ok(found)) => Ok(found),
                Ok(Err(why)) => Err(Failed::Refused(refusal(&why))),
                Err(_) => Err(Failed::Panicked),
            };
            let _ = events.send(Happened::Checked(Box::new(Checked { id, uri, text, asked, found })));
        };
        if thread::Builder::new().stack_size(STACK).spawn(work).is_err() {
            self.checked(failed);
        }
        self.refresh_lenses();
    }

    fn refresh_lenses(&mut self) {
        if self.client.refreshes_lenses {
            self.request("workspace/codeLens/refresh", Value::Null);
        }
    }

    /// Stops the checks of a text.
    fn stop(&mut self, uri: &str, why: Stopped) {
        for check in self.checks.iter_mut().filter(|check| check.uri == uri) {
            check.stopper.stop();
            check.stopped.get_or_insert(why);
        }
    }

    /// Stops the checks for which `meant` returns `true`.
    fn cancel(&mut self, meant: impl Fn(&Check) -> bool) {
        for check in self.checks.iter_mut().filter(|check| meant(check)) {
            check.stopper.stop();
            check.stopped.get_or_insert(Stopped::ByClient);
        }
    }

    fn checked(&mut self, done: Checked) {
        let Some(at) = self.checks.iter().position(|check| check.id == done.id) else { return };
        let check = self.checks.remove(at);
        let answer = match (done.found, check.stopped) {
            (Err(Failed::Panicked), _) => {
                Err((INTERNAL_ERROR, "the check failed inside: please report it with the program".into()))
            }
            (found, Some(stopped)) => {
                // A check that finished nevertheless is kept: undoing the edit restores its text.
                if let Ok(found) = found {
                    let found = Arc::new(found);
                    self.keep(Kept { uri: done.uri.clone(), text: done.text, asked: done.asked, found });
                }
                Err(match stopped {
                    Stopped::ByChange => (CONTENT_MODIFIED, "the text was changed meanwhile".into()),
                    Stopped::ByClient => (CANCELLED, "the check was cancelled".into()),
                })
            }
            (Err(Failed::Refused(why)), None) => Err((REQUEST_FAILED, why)),
            (Ok(found), None) => {
                let (answer, found) =
                    (verdict::answer(&found.outcome, &done.uri, &done.text), Arc::new(found));
                self.keep(Kept { uri: done.uri.clone(), text: done.text, asked: done.asked, found });
                Ok(answer)
            }
        };
        // Diagnostics are sent first: a client that has the answer may read them.
        self.is_stale(&done.uri);
        self.publish();
        if let Some(token) = &check.token {
            let how = match &answer {
                Ok(answer) => answer["headline"].clone(),
                Err((_, why)) => why.lines().next().unwrap_or_default().into(),
            };
            progress(&self.output, token, json!({ "kind": "end", "message": how }));
        }
        self.respond(&done.id, answer);
        self.refresh_lenses();
    }

    /// Keeps an outcome, unless it is unknown: the next check may get further.
    fn keep(&mut self, kept: Kept) {
        if kept.found.outcome.status() == Status::Unknown {
            return;
        }
        if self.kept.len() >= MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(kept);
    }
}

/// Returns what can be asked about the functions of a program in C or Rust. A verdict about one of
/// them stands in its place.
fn entry_lenses(document: &Document, entries: &[(&str, Value)], kept: Option<&Kept>) -> Vec<Value> {
    let mut lenses = Vec::new();
    let mut add = |range: &Value, title: &str, question: Value| {
        let arguments = json!([document.uri, question]);
        let command = json!({ "title": title, "command": "throng.check", "arguments": arguments });
        lenses.push(json!({ "range": range, "command": command }));
    };
    for (name, range) in entries {
        let asked = kept.filter(|kept| kept.asked.entries() == [*name]);
        let verdict = asked.map(|kept| verdict::headline(&kept.found.outcome));
        let title = verdict.unwrap_or_else(|| "check with any number of threads".into());
        add(range, &title, json!({ "entries": [name] }));
        add(range, "races?", json!({ "entries": [name], "dataRace": true }));
    }
    lenses
}

/// Returns one edit that replaces the text, unless it is already formatted.
fn formatted(document: &Document, options: &Value) -> Value {
    if document.format() != Some(throng::Format::Bp) {
        return Value::Null;
    }
    let width = options["tabSize"].as_u64().unwrap_or(2).clamp(1, 16) as usize;
    let unit = if options["insertSpaces"] == false { "\t".to_string() } else { " ".repeat(width) };
    let text = &document.text;
    let new = indent(text, &unit);
    if new == text.text {
        return json!([]);
    }
    let range = json!({ "start": text.position(0), "end": text.position(text.text.len()) });
    json!([{ "range": range, "newText": new }])
}

/// Returns why a question was not answered, in a line or two.
fn refusal(why: &Error) -> String {
    match why {
        Error::Refused(messages) => {
            let errors = messages.iter().filter(|m| m.diagnostic.is_error());
            errors.map(|m| m.diagnostic.message.clone()).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

fn progress(output: &Output, token: &Value, value: Value) {
    output.notify("$/progress", json!({ "token": token, "value": value }));
}

/// Reports the progress of a check, at intervals of [`PROGRESS_EVERY`].
struct Shown {
    output: Output,
    token: Option<Value>,
    last: Mutex<Instant>,
}

impl Shown {
    fn new(output: Output, token: Option<Value>) -> Shown {
        Shown { output, token, last: Mutex::new(Instant::now()) }
    }

    fn progress(&self, now: &Progress) {
        let Some(token) = &self.token else { return };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < PROGRESS_EVERY {
            return;
        }
        *last = Instant::now();
        let message = format!("{}, {}: {} configurations", now.engine, now.phase, now.configurations);
        progress(&self.output, token, json!({ "kind": "report", "message": message }));
    }
}
