//! The laboratory from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_lab::command::main()
}
