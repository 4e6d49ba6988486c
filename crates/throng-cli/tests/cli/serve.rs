//! `throng serve`, asked directly: who gets an answer, and which. The page itself is tested in a
//! browser (`tests/browser/serve.mjs`).

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use throng_dev::harness::{Scratch, example, has_compiler, throng};

pub struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the server; it prints its address.
pub fn serve(folder: &str, more: &[&str]) -> Served {
    let mut command = throng();
    command.args(["serve", folder]).args(more).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let (port, token) =
        line.trim().strip_prefix("http://127.0.0.1:").expect("loopback").split_once('/').expect("a path");
    Served { child, port: port.parse().expect("a port"), token: token.trim_end_matches('/').to_string() }
}

impl Served {
    /// Sends bytes: status and body of the answer.
    fn raw(&self, bytes: &[u8]) -> (u32, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_default();
        (status, body.to_string())
    }

    fn get(&self, path: &str, fields: &str) -> (u32, String) {
        self.raw(format!("GET {path} HTTP/1.1\r\n{fields}\r\n").as_bytes())
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    /// Sends a question to a path: status and body of the answer.
    pub fn post(&self, path: &str, value: &Value) -> (u32, String) {
        let (host, token, body) = (self.host(), &self.token, value.to_string());
        let length = body.len();
        self.raw(
            format!("POST /{token}/{path} HTTP/1.1\r\n{host}Content-Length: {length}\r\n\r\n{body}")
                .as_bytes(),
        )
    }
}

fn examples() -> String {
    example("").to_str().expect("UTF-8").to_string()
}

fn asked(name: &str) -> Value {
    json!({ "name": name, "text": std::fs::read_to_string(example(name)).expect("an example") })
}

fn asking(name: &str, question: Value) -> Value {
    let mut asked = asked(name);
    asked["question"] = question;
    asked
}

#[test]
fn only_this_machine_this_host_this_origin_and_this_token_get_answers() {
    let served = serve(&examples(), &[]);
    let (host, token) = (served.host(), &served.token);
    assert_eq!(served.get(&format!("/{token}/"), &host).0, 200);
    assert!(served.get(&format!("/{token}/files"), &host).1.contains("\"spinlock.bp\""));
    for path in ["/", "/files", "/00000000000000000000000000000000/", &format!("/{token}x/")] {
        let (status, body) = served.get(path, &host);
        assert_eq!((status, body.as_str()), (403, "the address lacks the token"), "{path}");
    }
    for other in ["", "Host: evil.example\r\n", "Host: 127.0.0.1\r\n"] {
        assert_eq!(served.get(&format!("/{token}/"), other).0, 403, "{other}");
    }
    for (origin, status) in [
        ("http://evil.example".to_string(), 403),
        ("null".into(), 403),
        (format!("http://127.0.0.1:{}", served.port), 200),
    ] {
        let fields = format!("{host}Origin: {origin}\r\n");
        assert_eq!(served.get(&format!("/{token}/files"), &fields).0, status, "{origin}");
    }
    #[cfg(target_os = "linux")]
    {
        // It listens on 127.0.0.1 and on no other address: 0100007F is how the kernel writes it.
        let table = std::fs::read_to_string("/proc/net/tcp").expect("readable");
        let port = format!(":{:04X} ", served.port);
        let listens = table.lines().filter(|l| l.contains(&port) && l.contains(" 0A ")).collect::<Vec<_>>();
        assert!(!listens.is_empty() && listens.iter().all(|l| l.contains("0100007F")), "{listens:?}");
    }
}

#[test]
fn no_file_outside_the_folder_is_read() {
    let dir = Scratch::new("serve");
    dir.file("secret.bp", "void main() begin skip; end // secret");
    std::fs::create_dir(dir.0.join("inside")).expect("a folder");
    dir.file("inside/a.bp", "void main() begin skip; end");
    let served = serve(&dir.argument("inside"), &[]);
    assert_eq!(served.post("file", &json!("a.bp")), (200, "void main() begin skip; end".into()));
    for name in ["../secret.bp", &dir.argument("secret.bp"), "/etc/passwd", "..", "", "nothing.bp"] {
        let (status, body) = served.post("file", &json!(name));
        assert!(status == 400 && body.starts_with("there is no input"), "{name}: {body}");
    }
    // A text stands for a file of the folder, whether or not there is one.
    let asked = |name| json!({ "name": name, "text": "decl x; void main() begin assert(!x); end" });
    assert!(served.post("check", &asked("new.bp")).1.contains("UNSAFE"));
    let (status, body) = served.post("check", &asked("../secret.bp"));
    assert_eq!((status, body.as_str()), (400, "`../secret.bp` is not in the folder"));
}

#[test]
fn requests_are_limited() {
    let served = serve(&examples(), &["--timeout", "0.3"]);
    let (host, token) = (served.host(), &served.token);
    let huge = format!("POST /{token}/check HTTP/1.1\r\n{host}Content-Length: 99999999999\r\n\r\n");
    assert_eq!(served.raw(huge.as_bytes()).0, 413);
    let endless = format!("GET /{token}/{} HTTP/1.1\r\n{host}\r\n", "x".repeat(1 << 20));
    assert!(
        matches!(served.raw(endless.as_bytes()).0, 0 | 400),
        "refused, or reset before the answer was read"
    );
    for bytes in [&b"\r\n\r\n"[..], b"\xff\xfe\r\n\r\n", b"GET\r\n\r\n"] {
        assert!(matches!(served.raw(bytes).0, 400 | 403));
    }
    assert_eq!(served.post("check", &json!({ "name": "a.bp" })).0, 400);
    assert_eq!(served.post("check", &json!({ "name": "a.exe", "text": "" })).0, 400);
    assert_eq!(served.post("nothing", &json!({})).0, 404);
    // A counter of 24 bits: the answer is far away, and a third of a second is not enough.
    let bits: Vec<String> = (0..24).map(|i| format!("x{i}")).collect();
    let declared: Vec<String> = bits.iter().map(|b| format!("{b} := 0")).collect();
    let mut text =
        format!("decl {};\nvoid main() begin while * do\n  atomic_begin; x0 := !x0;\n", declared.join(", "));
    for i in 1..24 {
        let low: Vec<String> = bits[..i].iter().map(|b| format!("!{b}")).collect();
        text += &format!("  if ({}) then x{i} := !x{i}; fi;\n", low.join(" & "));
    }
    text += &format!("  atomic_end; assert(!({}));\nod end\n", bits.join(" & "));
    let (status, body) = served.post("check", &json!({ "name": "long.bp", "text": text }));
    assert_eq!(status, 200);
    let last: Value = serde_json::from_str(body.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["status"], "UNKNOWN", "{last}");
}

#[test]
fn connections_without_the_token_block_no_client() {
    let served = serve(&examples(), &[]);
    let connect = |_| TcpStream::connect(("127.0.0.1", served.port)).expect("connected");
    let mut slow: Vec<TcpStream> = (0..200).map(connect).collect();
    slow.iter_mut().for_each(|stream| _ = stream.write_all(b"GET /"));
    let (host, token) = (served.host(), &served.token);
    for _ in 0..20 {
        assert_eq!(served.get(&format!("/{token}/files"), &host).0, 200);
    }
    // Those that go on, byte by byte, are not waited for: the server closes them, and their reader
    // finds the end.
    let mut last = slow.pop().expect("a connection");
    last.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
    let began = Instant::now();
    let waits = |why: std::io::Error| matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    while last.read(&mut [0; 1]).is_err_and(waits) {
        let _ = last.write_all(b"x");
        assert!(began.elapsed() < Duration::from_secs(200), "it is not closed");
    }
}

#[test]
fn a_request_with_the_token_has_a_deadline() {
    let served = serve(&examples(), &[]);
    let mut slow = TcpStream::connect(("127.0.0.1", served.port)).expect("connected");
    let head =
        format!("POST /{}/file HTTP/1.1\r\n{}Content-Length: 99999\r\n\r\n", served.token, served.host());
    slow.write_all(head.as_bytes()).expect("sent");
    slow.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
    let began = Instant::now();
    while slow.write_all(b"x").is_ok() && slow.read(&mut [0; 1]).is_err() {
        assert!(began.elapsed() < Duration::from_secs(200), "it is not closed");
    }
}

#[test]
fn a_check_reports_its_outcome_and_its_page() {
    let served = serve(&examples(), &[]);
    let (_, body) = served.post("check", &asked("spinlock-broken.bp"));
    let last: Value = serde_json::from_str(body.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["status"], "UNSAFE");
    assert!(last["report"].as_str().is_some_and(|r| r.contains("initial: any number of threads")));
    let path = format!("/{}/{}", served.token, last["page"].as_str().expect("a path"));
    let (status, page) = served.get(&path, &served.host());
    assert!(status == 200 && page.contains("id=\"data\""));
    let (status, body) =
        served.post("check", &json!({ "name": "a.bp", "text": "void main() begin x := 1; end" }));
    assert!(status == 400 && body.contains("is not declared"), "{body}");
}

fn explore(served: &Served, run: Option<u32>, path: &[u32]) -> Value {
    let question = asking("spinlock-broken.bp", json!({ "threads": 2 }));
    let (status, body) = served.post("explore", &json!({ "question": question, "run": run, "path": path }));
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).expect("JSON")
}

#[test]
fn the_graph_has_every_configuration_of_a_small_system() {
    let served = serve(&examples(), &[]);
    let graph = |name: &str, threads: u32| -> Value {
        let question = asking(name, json!({ "threads": threads }));
        let (status, body) = served.post("graph", &question);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    };
    let alone = graph("spinlock.bp", 1);
    let nodes = alone["nodes"].as_array().expect("nodes");
    // A thread alone goes round: the head of the loop and five statements; or to the end, and then
    // there is none.
    assert_eq!((nodes.len(), &alone["complete"]), (8, &json!(true)), "{alone}");
    assert!(nodes.iter().any(|n| n["name"] == "lock=0 busy=0 | no thread"), "{alone}");
    assert!(nodes.iter().all(|n| n["violated"] == json!([])));
    assert_eq!(alone["edges"].as_array().map(Vec::len), Some(8));

    let broken = graph("spinlock-broken.bp", 2);
    assert_eq!(broken["complete"], json!(true));
    let nodes = broken["nodes"].as_array().expect("nodes");
    let bad: Vec<&Value> = nodes.iter().filter(|n| n["violated"] != json!([])).collect();
    // The nearest violation is as far away as the shortest run is long, and its path leads there.
    let nearest = bad.iter().min_by_key(|n| n["depth"].as_u64()).expect("a violation");
    assert_eq!(nearest["depth"], 8);
    let path: Vec<u32> = serde_json::from_value(nearest["path"].clone()).expect("numbers");
    let there = explore(&served, None, &path);
    assert_eq!((&there["name"], &there["violated"]), (&nearest["name"], &nearest["violated"]));

    let large = graph("rockall.bp", 3);
    assert_eq!(large["complete"], json!(false));
    assert!(large["nodes"].as_array().is_some_and(|n| n.len() <= 150));
    let (status, why) = served.post("graph", &json!({ "name": "a.bp", "text": "nonsense" }));
    assert!(status == 400 && !why.is_empty());
}

#[test]
fn the_explorer_walks_back_and_forth_and_jumps_to_the_violation() {
    let served = serve(&examples(), &[]);
    let start = explore(&served, None, &[]);
    assert_eq!((&start["steps"], &start["violated"]), (&json!(0), &json!([])));
    assert_eq!(start["situation"]["shared"], json!({ "lock": "0", "busy": "0" }));
    assert_eq!(start["situation"]["counts"][0]["count"], 2);
    assert!(start["choices"].as_array().is_some_and(|c| !c.is_empty()));
    let first = explore(&served, None, &[0]);
    assert_eq!(first["steps"], 1);
    assert_eq!(explore(&served, None, &[]), start, "back");
    let end = explore(&served, Some(1_000_000), &[]);
    assert_eq!(end["run"], json!({ "at": 8, "of": 8 }));
    assert_eq!(end["violated"], json!(["assertions"]));
    let before = explore(&served, Some(7), &[]);
    assert_eq!((&before["steps"], &before["violated"]), (&json!(7), &json!([])));
    // One of the choices there is the one that violates.
    let choices = before["choices"].as_array().expect("choices");
    let bad = choices.iter().find(|c| c["violated"] != json!([])).expect("the last step of the run");
    let number = bad["choice"].as_u64().expect("a number") as u32;
    assert_eq!(explore(&served, Some(7), &[number])["violated"], json!(["assertions"]));
    let (status, why) = served.post("explore", &json!({ "question": asked("spinlock.bp"), "path": [999] }));
    assert!(status == 400 && why.contains("choices, not 999"), "{why}");
    let (status, why) = served.post("explore", &json!({ "question": asked("spinlock.bp"), "run": 3 }));
    assert!(status == 400 && why.contains("no violation is known: SAFE"), "{why}");
}

/// The last line of a check: its outcome.
fn outcome(served: &Served, asked: &Value) -> Value {
    let (status, body) = served.post("check", asked);
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(body.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn programs_in_c_are_opened_checked_and_walked_through() {
    if !has_compiler() {
        return;
    }
    let served = serve(&examples(), &[]);
    let host = served.host();
    assert!(served.get(&format!("/{}/files", served.token), &host).1.contains("\"c/spinlock.c\""));
    assert!(served.post("file", &json!("c/spinlock.c")).1.contains("atomic_exchange"));

    let broken = asking("c/spinlock-broken.c", json!({ "entries": ["worker"] }));
    let found = outcome(&served, &broken);
    assert_eq!(found["status"], "UNSAFE", "{found}");
    let page = format!("/{}/{}", served.token, found["page"].as_str().expect("a path"));
    assert!(served.get(&page, &host).1.contains("c/spinlock-broken.c"));
    let all = json!({ "entries": ["worker"], "dataRace": true, "assertions": true });
    assert_eq!(outcome(&served, &asking("c/spinlock.c", all))["status"], "SAFE");

    // The explorer walks to the violation, and from the start by steps of threads.
    let explore = |run: Option<u32>, path: &[u32]| -> Value {
        let (status, body) = served.post("explore", &json!({ "question": broken, "run": run, "path": path }));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    };
    let end = explore(Some(1_000_000), &[]);
    assert!(end["violated"].as_array().is_some_and(|v| !v.is_empty()), "{end}");
    let first = explore(None, &[0]);
    assert_eq!((&first["steps"], &first["violated"]), (&json!(1), &json!([])), "{first}");
    let few = asking("c/spinlock-broken.c", json!({ "entries": ["worker"], "threads": 1 }));
    let (status, graph) = served.post("graph", &few);
    assert!(status == 200 && graph.contains("\"nodes\":["), "{graph}");
}

#[test]
fn texts_in_c_find_the_files_beside_them_and_questions_are_refused_by_name() {
    if !has_compiler() {
        return;
    }
    let dir = Scratch::new("serve-c");
    std::fs::create_dir(dir.0.join("deep")).expect("a folder");
    dir.file("deep/limit.h", "#define LIMIT 3\n");
    let served = serve(&dir.argument(""), &[]);
    let text =
        "#include <assert.h>\n#include \"limit.h\"\nint main(void) { assert(LIMIT == 3); return 0; }\n";
    // The file itself need not exist.
    let asked = |question: Value| json!({ "name": "deep/new.c", "text": text, "question": question });
    assert_eq!(outcome(&served, &asked(json!({})))["status"], "SAFE");
    let (status, why) =
        served.post("check", &json!({ "name": "new.c", "text": text.replace("limit.h", "none.h") }));
    assert!(status == 400 && why.contains("new.c:2") && why.contains("none.h"), "{why}");
    let refused = |asked: &Value, option: &str| {
        let (status, why) = served.post("check", asked);
        assert!(status == 400 && why.contains(&format!("`{option}`")), "{option}: {why}");
    };
    for (option, value) in [("initial", json!("2")), ("invariants", json!(["x"]))] {
        refused(&asked(json!({ option: value })), option);
    }
    for (option, value) in [("entries", json!(["f"])), ("overflow", json!(true)), ("locks", json!(true))] {
        refused(&asking("spinlock.bp", json!({ option: value })), option);
    }
}
