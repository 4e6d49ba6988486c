//! As much of HTTP/1.1 as one page needs: one request per connection, with limits on everything
//! that a client sends.
//!
//! Who may ask: the address holds a token of 128 random bits; the `Host` must be this server's, so
//! that no name that was made to point to 127.0.0.1 works; and an `Origin`, which browsers send
//! with requests of other pages, must be this server's own.
//!
//! Time is limited for the whole of a request and of an answer, not for each byte; and most of it
//! is for those that have shown the token, which is in the first line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head of a request.
const LONGEST_HEAD: u64 = 16 << 10;

/// The longest body of a request.
const LONGEST_BODY: u64 = 4 << 20;

/// Time limit for a client to show the token.
const INTRODUCTION: Duration = Duration::from_secs(5);

/// Time limit for a client that has shown the token to send the rest of its request, or to read
/// an answer, or a line of one that comes in lines.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection until some moment, after which nothing is read or written.
struct Until<'s> {
    stream: &'s TcpStream,
    deadline: Instant,
}

impl<'s> Until<'s> {
    fn new(stream: &'s TcpStream, patience: Duration) -> Until<'s> {
        Until { stream, deadline: Instant::now() + patience }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        left.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The address of the page, and the secret that one must know to see it.
#[derive(Debug)]
pub struct Site {
    port: u16,
    token: String,
}

impl Site {
    /// A site with a new token.
    pub fn new(port: u16) -> io::Result<Site> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|why| io::Error::other(why.to_string()))?;
        Ok(Site { port, token: bytes.iter().map(|b| format!("{b:02x}")).collect() })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    fn is_host(&self, host: &str) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{}", self.port))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|host| self.is_host(host))
    }

    /// The path behind the token. Every byte is compared, so that time says nothing about the
    /// token.
    fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (given, rest) = path.strip_prefix('/')?.split_once('/')?;
        let differences = given.bytes().zip(self.token.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
        (given.len() == self.token.len() && differences == 0).then_some(rest)
    }
}

/// A request that may be answered.
#[derive(Debug)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// The part of the path after the token.
    pub path: String,
    /// The bytes that were sent.
    pub body: Vec<u8>,
}

/// Reason why a request is not answered.
#[derive(Debug)]
pub struct Refusal {
    /// Status line.
    pub status: &'static str,
    /// For people.
    pub why: String,
}

impl Refusal {
    fn new(status: &'static str, why: &str) -> Refusal {
        Refusal { status, why: why.into() }
    }

    /// Too much is going on.
    pub fn busy() -> Refusal {
        Refusal::new("503 Service Unavailable", "the server is busy: try again")
    }
}

/// Reads a request and decides whether it may be answered. `known` is called as soon as the token
/// was shown, and may refuse what follows.
pub fn read<T>(
    stream: &TcpStream,
    site: &Site,
    known: impl FnOnce() -> Result<T, Refusal>,
) -> Result<(Request, T), Refusal> {
    let malformed = |_| Refusal::new("400 Bad Request", "this is not a request");
    let mut input = BufReader::new(Until::new(stream, INTRODUCTION));
    let first = line(&mut input, LONGEST_HEAD).map_err(malformed)?;
    let mut words = first.trim_end().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path =
        site.inside(path).ok_or_else(|| Refusal::new("403 Forbidden", "the address lacks the token"))?;
    let place = known()?;
    input.get_mut().deadline = Instant::now() + PATIENCE;
    let head = head(&mut input).map_err(malformed)?;
    let field = |name: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    if !field("Host").is_some_and(|host| site.is_host(host)) {
        return Err(Refusal::new("403 Forbidden", "another host was asked for"));
    }
    if !field("Origin").is_none_or(|origin| site.is_own_origin(origin)) {
        return Err(Refusal::new("403 Forbidden", "pages of other origins may not ask"));
    }
    let length = match field("Content-Length").map(str::parse::<u64>) {
        None => 0,
        Some(Ok(length)) if length <= LONGEST_BODY => length,
        Some(Ok(_)) => return Err(Refusal::new("413 Content Too Large", "more than 4 MiB were sent")),
        Some(Err(_)) => return Err(Refusal::new("400 Bad Request", "the length is not a number")),
    };
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body).map_err(malformed)?;
    if (body.len() as u64) < length {
        return Err(Refusal::new("400 Bad Request", "the request ends early"));
    }
    Ok((Request { method: method.into(), path: path.into(), body }, place))
}

/// Reads the lines between the first line and the body.
fn head(input: &mut impl BufRead) -> io::Result<String> {
    let mut head = String::new();
    loop {
        let line = line(input, LONGEST_HEAD - head.len() as u64)?;
        if line.trim_end_matches(['\r', '\n']).is_empty() {
            return Ok(head);
        }
        head += &line;
    }
}

/// Reads a line with its end, which must come within this many bytes.
fn line(input: &mut impl BufRead, longest: u64) -> io::Result<String> {
    let mut line = String::new();
    input.take(longest).read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Content security policy of the page: its own scripts and styles, and requests to this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-src 'self'; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'none'";

/// Content security policy of a report in a frame of the page: its scripts and styles are in it,
/// and it asks for nothing.
const FRAMED: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-scripts";

/// Sends the head of an answer whose length is not known: it ends with the connection.
pub fn begin(stream: &TcpStream, kind: &str) -> io::Result<()> {
    send_head(stream, "200 OK", kind, POLICY, "")
}

/// Sends a whole answer.
pub fn respond(stream: &TcpStream, kind: &str, body: &[u8]) -> io::Result<()> {
    send(stream, "200 OK", kind, POLICY, body)
}

/// Sends a report for a frame of the page.
pub fn respond_framed(stream: &TcpStream, html: &str) -> io::Result<()> {
    send(stream, "200 OK", "text/html", FRAMED, html.as_bytes())
}

/// Says why there is no answer.
pub fn refuse(stream: &TcpStream, refusal: &Refusal) -> io::Result<()> {
    send(stream, refusal.status, "text/plain", POLICY, refusal.why.as_bytes())
}

/// Sends a part of an answer that was begun.
pub fn go_on(stream: &TcpStream, part: &[u8]) -> io::Result<()> {
    Until::new(stream, PATIENCE).write_all(part)
}

fn send(stream: &TcpStream, status: &str, kind: &str, policy: &str, body: &[u8]) -> io::Result<()> {
    send_head(stream, status, kind, policy, &format!("Content-Length: {}\r\n", body.len()))?;
    go_on(stream, body)
}

fn send_head(stream: &TcpStream, status: &str, kind: &str, policy: &str, more: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Content-Security-Policy: {policy}\r\n{more}\r\n"
    );
    go_on(stream, head.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens_the_site() {
        let site = Site::new(1234).expect("random bytes");
        let path = site.address().strip_prefix("http://127.0.0.1:1234").expect("the address").to_string();
        assert_eq!(site.inside(&path), Some(""));
        assert_eq!(site.inside(&format!("{path}files")), Some("files"));
        for wrong in [
            "/",
            "/files",
            "",
            &path[..path.len() - 1],
            &path[1..],
            &path.replace(|c: char| c.is_ascii_hexdigit(), "x"),
        ] {
            assert_eq!(site.inside(wrong), None, "{wrong}");
        }
        assert_ne!(site.token, Site::new(1234).expect("random bytes").token);
    }

    #[test]
    fn other_hosts_and_origins_are_not_this_server() {
        let site = Site::new(1234).expect("random bytes");
        assert!(site.is_host("127.0.0.1:1234") && site.is_host("localhost:1234"));
        assert!(
            !site.is_host("127.0.0.1")
                && !site.is_host("evil.example:1234")
                && !site.is_host("127.0.0.1:12345")
        );
        assert!(site.is_own_origin("http://127.0.0.1:1234"));
        for other in
            ["null", "https://127.0.0.1:1234", "http://evil.example", "http://127.0.0.1:1234.evil.example"]
        {
            assert!(!site.is_own_origin(other), "{other}");
        }
    }
}
