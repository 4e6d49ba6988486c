//! What processes send each other, besides timely's messages: greetings and frames.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The first bytes of a connection. A peer that sends anything else gets no answer.
const GREETING: &[u8; 8] = b"THRONG-1";

/// No token and no frame is longer.
const LONGEST_TOKEN: usize = 256;
const LONGEST_FRAME: u32 = 1 << 30;

/// Purposes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Commands and signs of life.
    Control,
    /// Timely's messages, of the search with this number.
    Data(u32),
}

/// The greeting of a process that connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The number of the process.
    pub process: usize,
    /// The purpose of the connection.
    pub purpose: Purpose,
}

/// Greets the process that listens, and waits until it agrees.
pub fn greet(stream: &mut TcpStream, hello: Hello, token: &[u8], patience: Duration) -> io::Result<()> {
    let (kind, search) = match hello.purpose {
        Purpose::Control => (0, 0),
        Purpose::Data(search) => (1, search),
    };
    let mut bytes = GREETING.to_vec();
    bytes.push(kind);
    bytes.extend((hello.process as u32).to_le_bytes());
    bytes.extend(search.to_le_bytes());
    bytes.extend((token.len().min(LONGEST_TOKEN) as u32).to_le_bytes());
    bytes.extend(&token[..token.len().min(LONGEST_TOKEN)]);
    stream.write_all(&bytes)?;
    stream.set_read_timeout(Some(patience))?;
    let mut answer = [0; 8];
    stream.read_exact(&mut answer)?;
    stream.set_read_timeout(None)?;
    if answer == *GREETING { Ok(()) } else { Err(io::Error::other("no process of this run listens there")) }
}

/// Reads a greeting and agrees, if it is one of this run.
pub fn welcome(stream: &mut TcpStream, token: &[u8], patience: Duration) -> io::Result<Hello> {
    let refused = || io::Error::other("this is not a process of the run");
    stream.set_read_timeout(Some(patience))?;
    let mut head = [0; 21];
    stream.read_exact(&mut head)?;
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let length = number(17) as usize;
    if head[..8] != *GREETING || head[8] > 1 || length > LONGEST_TOKEN {
        return Err(refused());
    }
    let mut theirs = vec![0; length];
    stream.read_exact(&mut theirs)?;
    if theirs != token {
        return Err(refused());
    }
    stream.write_all(GREETING)?;
    stream.set_read_timeout(None)?;
    let purpose = if head[8] == 0 { Purpose::Control } else { Purpose::Data(number(13)) };
    Ok(Hello { process: number(9) as usize, purpose })
}

/// Kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sign of life.
    Beat,
    /// The command and its input.
    Work,
    /// Stop searching.
    Stop,
    /// The exit status, at the end.
    Done,
    /// A process died: what to report about it.
    Dead,
}

const KINDS: [Kind; 5] = [Kind::Beat, Kind::Work, Kind::Stop, Kind::Done, Kind::Dead];

/// Sends a frame.
pub fn send(stream: &mut TcpStream, kind: Kind, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).ok().filter(|&n| n <= LONGEST_FRAME);
    let length = length.ok_or_else(|| io::Error::other("this is too large to send"))?;
    let mut head = length.to_le_bytes().to_vec();
    head.push(kind as u8);
    stream.write_all(&head)?;
    stream.write_all(body)
}

/// Receives a frame.
pub fn receive(stream: &mut TcpStream) -> io::Result<(Kind, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let kind = KINDS.get(head[4] as usize).copied().filter(|_| length <= LONGEST_FRAME);
    let kind = kind.ok_or_else(|| io::Error::other("this is not a frame"))?;
    // Read as it comes: memory is only taken for what is really sent.
    let mut body = Vec::new();
    Read::by_ref(stream).take(length.into()).read_to_end(&mut body)?;
    if body.len() == length as usize { Ok((kind, body)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
