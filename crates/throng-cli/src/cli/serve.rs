//! `throng serve`

use super::console::{Console, Failure};
use super::{ServeArgs, cores};
use crate::serve::{Limited, Server};

/// Prints the address of the page and serves it until the process is stopped.
pub(super) fn run(args: &ServeArgs, console: &Console) -> Result<u8, Failure> {
    let limited = Limited {
        timeout: args.timeout,
        memory: args.memory.saturating_mul(1 << 20),
        jobs: cores() as usize,
    };
    let folder = args.folder.display();
    let server = Server::bind(&args.folder, args.port, limited)
        .map_err(|why| Failure::Other(format!("cannot serve {folder}: {why}")))?;
    console.print(&format!("{}\n", server.address()))?;
    console.note("note: open this address in your browser; it works on this machine only, and as long as this command runs");
    server.run().map_err(|why| Failure::Other(format!("the server stopped: {why}")))?;
    Ok(0)
}
