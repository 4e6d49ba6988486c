//! Several processes as one: who takes part, how they find each other, and how each finds out that
//! another one is gone.
//!
//! Process 0 is in charge. The others connect to it (`control`), get the input and the command from
//! it, and send it a sign of life every second; it does the same. A connection that closes, or
//! [`SILENCE`] without a sign of life, ends the run everywhere. Timely's own connections, one
//! between each two processes, are made when a search begins; timely does without deadlines and
//! signs of life, so these are here.
//!
//! Nothing is encrypted. A process only talks to those that know the token of the run
//! (`THRONG_CLUSTER_TOKEN`, empty unless set).

pub mod control;
pub mod frame;

use std::path::Path;
use std::time::Duration;

/// The port of a host that names none.
pub const PORT: u16 = 7790;

/// Time between two signs of life.
pub const BEAT: Duration = Duration::from_secs(1);

/// A process that sends nothing for this long is considered dead.
pub const SILENCE: Duration = Duration::from_secs(6);

/// The processes of a run: `host:port` for each, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(pub Vec<String>);

impl Hosts {
    /// Reads a file with one host per line, `host` or `host:port`; `#` begins a comment.
    pub fn read(path: &Path) -> Result<Hosts, String> {
        let text =
            std::fs::read_to_string(path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        Hosts::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn parse(text: &str) -> Result<Hosts, String> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let hosts: Vec<String> =
            lines.filter(|line| !line.is_empty()).map(Hosts::address).collect::<Result<_, _>>()?;
        if hosts.is_empty() { Err("there is no host in it".into()) } else { Ok(Hosts(hosts)) }
    }

    fn address(line: &str) -> Result<String, String> {
        let wrong = || format!("`{line}` is not a `host` or `host:port`");
        let is_name = |host: &str| !host.is_empty() && !host.contains(char::is_whitespace);
        match line.rsplit_once(':') {
            // More than one colon without brackets: an IPv6 address alone.
            Some((host, _)) if host.contains(':') && !host.starts_with('[') => Ok(format!("[{line}]:{PORT}")),
            _ if line.starts_with('[') && line.ends_with(']') => Ok(format!("{line}:{PORT}")),
            Some((host, port)) if is_name(host) && port.parse::<u16>().is_ok() => Ok(line.into()),
            Some(_) => Err(wrong()),
            None if is_name(line) => Ok(format!("{line}:{PORT}")),
            None => Err(wrong()),
        }
    }

    /// Returns the address on which a process listens.
    pub fn listening(&self, process: usize) -> String {
        let mine = &self.0[process];
        let port = mine.rsplit_once(':').map_or(mine.as_str(), |(_, port)| port);
        // Loopback stays loopback; elsewhere names may stand for any of a machine's addresses.
        let local = mine.starts_with("127.") || mine.starts_with("localhost:") || mine.starts_with("[::1]:");
        if local { mine.clone() } else { format!("0.0.0.0:{port}") }
    }

    /// Returns the name of a process for messages.
    pub fn describe(&self, process: usize) -> String {
        match self.0.get(process) {
            Some(host) => format!("process {process} ({host})"),
            None => format!("process {process}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_ports() {
        let hosts = Hosts::parse("a:1 # first\n\n# none\nb\n[::1]:9\n::1\n[fe80::2]\n");
        let expected = ["a:1", "b:7790", "[::1]:9", "[::1]:7790", "[fe80::2]:7790"];
        assert_eq!(hosts, Ok(Hosts(expected.map(String::from).to_vec())));
        for wrong in ["", "# only", "a b", "a:x", ":7", "a:70000"] {
            assert!(Hosts::parse(wrong).is_err(), "{wrong}");
        }
    }
}
