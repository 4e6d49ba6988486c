//! The command `throng`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(throng_cli::cli::main())
}
