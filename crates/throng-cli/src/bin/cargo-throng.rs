//! The command `cargo throng`: `throng check --cargo` for the package around.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(throng_cli::cli::main_of_cargo())
}
