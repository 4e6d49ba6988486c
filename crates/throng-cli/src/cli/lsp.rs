//! `throng lsp`

use std::io;

use super::console::Failure;
use super::{LspArgs, cores};
use throng_lsp::{Config, serve};

/// Serves the client at standard input. As the protocol asks: 0 after `shutdown`, else 1.
pub(super) fn run(args: &LspArgs) -> Result<u8, Failure> {
    let config =
        Config { timeout: args.timeout, memory: args.memory.saturating_mul(1 << 20), jobs: cores() as usize };
    match serve(io::BufReader::new(io::stdin()), io::stdout(), config) {
        Ok(shut_down) => Ok(u8::from(!shut_down)),
        Err(why) => Err(Failure::Other(format!("standard input: {why}"))),
    }
}
