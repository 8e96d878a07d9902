//! The program inside servers. Its name or its first argument selects the tool.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    kiln_guest::main()
}
