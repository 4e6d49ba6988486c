//! Messages of the base protocol: a header with the length, then JSON.
//!
//! This is not taken from a crate for two reasons. A length is a claim of the peer, so memory is
//! only allocated for bytes that have arrived. And the crate with the types of the whole protocol
//! takes three times as long to compile as `serde_json` (`cargo build --timings`).

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// Maximum size of a message, larger than any program that a person edits.
const LONGEST: u64 = 64 << 20;

/// Maximum length of a line of a header.
const LONGEST_LINE: u64 = 4096;

/// A frame that arrived.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Value),
    /// A frame whose content is not JSON, and why.
    NotJson(String),
}

/// Reads the next message; `None` at the end of the input. After an error the start of the next
/// message is unknown.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = header(input)? else { return Ok(None) };
    if length > LONGEST {
        return Err(wrong(format!("a message of {length} bytes is longer than {LONGEST}")));
    }
    let mut content = Vec::new();
    input.take(length).read_to_end(&mut content)?;
    if (content.len() as u64) < length {
        return Err(wrong("the input ends inside a message".into()));
    }
    Ok(Some(match serde_json::from_slice(&content) {
        Ok(message) => Incoming::Message(message),
        Err(why) => Incoming::NotJson(why.to_string()),
    }))
}

/// Reads the length in a header; `None` at the end of the input.
fn header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    let mut first = true;
    loop {
        let mut line = Vec::new();
        input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && first {
            return Ok(None);
        }
        first = false;
        let line = String::from_utf8_lossy(&line);
        let Some(line) = line.strip_suffix('\n') else {
            return Err(wrong("a header ends early or is too long".into()));
        };
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| wrong("a header has no Content-Length".into()));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(wrong(format!("`{}` is not a header", line.escape_debug())));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| wrong("Content-Length is not a number".into()))?);
        }
    }
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let content = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{content}", content.len())?;
    output.flush()
}

fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            match read(&mut bytes) {
                Ok(None) => return found,
                Ok(Some(Incoming::Message(m))) => found.push(m.to_string()),
                Ok(Some(Incoming::NotJson(_))) => found.push("not JSON".into()),
                Err(why) => {
                    found.push(why.to_string());
                    return found;
                }
            }
        }
    }

    #[test]
    fn messages_follow_one_another() {
        let text = b"Content-Length: 2\r\n\r\n{}content-length:1\r\nX: y\r\n\r\n7Content-Length: 1\r\n\r\n{";
        assert_eq!(all(text), ["{}", "7", "not JSON"]);
        let mut written = Vec::new();
        write(&mut written, &serde_json::json!({"é": 1})).expect("written");
        assert_eq!(all(&written), [r#"{"é":1}"#]);
    }

    #[test]
    fn a_length_is_not_believed() {
        for (text, why) in [
            (&b"Content-Length: 99999999999999\r\n\r\n{}"[..], "longer than"),
            (b"Content-Length: 1000000\r\n\r\n{}", "ends inside a message"),
            (b"Content-Length: -1\r\n\r\n{}", "is not a number"),
            (b"X: 1\r\n\r\n{}", "no Content-Length"),
            (b"nonsense\r\n", "is not a header"),
            (b"Content-Le", "ends early"),
        ] {
            assert!(all(text)[0].contains(why), "{:?}", all(text));
        }
        assert!(all(&b"x".repeat(1 << 20))[0].contains("too long"));
    }
}
