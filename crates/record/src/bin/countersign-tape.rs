//! The command `countersign-tape`: records, shows, redacts and compares sessions with Claude Code.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_record::command::main()
}
