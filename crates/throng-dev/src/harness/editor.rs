//! An editor, as far as a language server can tell: the protocol over pipes to the built program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::command::throng;

/// Time limit of an answer before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with its server.
pub struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that arrived and were not asked for yet.
    pending: Vec<Value>,
    requests: i64,
}

impl Editor {
    /// Starts `throng lsp` with these further arguments, without a word.
    pub fn connect(args: &[&str]) -> Editor {
        let mut command = throng();
        command.arg("lsp").args(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = receive(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Editor { child, input, messages, pending: Vec::new(), requests: 0 }
    }

    /// Starts `throng lsp` and says hello.
    pub fn start() -> Editor {
        let mut editor = Editor::connect(&[]);
        let capabilities = json!({
            "window": { "workDoneProgress": true },
            "workspace": { "codeLens": { "refreshSupport": true } },
        });
        let hello = editor.request("initialize", json!({ "processId": null, "capabilities": capabilities }));
        assert_eq!(hello["result"]["serverInfo"]["name"], "throng");
        editor.notify("initialized", json!({}));
        editor
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("open");
        // A server that has ended reads no more.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// A notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; its number.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for the response.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.response(id)
    }

    /// Waits for the response to a request.
    pub fn response(&mut self, id: i64) -> Value {
        self.wait(|m| m["id"] == id && m.get("method").is_none())
    }

    /// Waits for a notification or a request of the server.
    pub fn heard(&mut self, method: &str) -> Value {
        self.wait(|m| m["method"] == method)["params"].take()
    }

    /// Waits for a message like this.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.pending.iter().position(&wanted) {
            return self.pending.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("a message in time");
            assert_eq!(message["jsonrpc"], "2.0");
            if wanted(&message) {
                return message;
            }
            self.pending.push(message);
        }
    }

    /// Opens a text and waits for its diagnostics.
    pub fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri, "languageId": "bp", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(uri)
    }

    /// Waits for diagnostics of a text.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let about = |m: &Value| m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri;
        self.wait(about)["params"]["diagnostics"].as_array().cloned().expect("a list")
    }

    /// Replaces a text.
    pub fn replace(&mut self, uri: &str, version: i64, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", params);
    }

    /// Executes a command of the server.
    pub fn command(&mut self, command: &str, arguments: Value) -> Value {
        self.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }))
    }

    /// Closes the pipe to the server and waits for its end: the exit status.
    pub fn hang_up(&mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn receive(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", n)) => length = n.parse().ok(),
            Some(_) => {}
            None if line == "\r\n" => break,
            None => return None,
        }
    }
    let mut content = vec![0; length?];
    output.read_exact(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}
