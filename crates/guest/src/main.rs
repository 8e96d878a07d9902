//! The program inside servers. Which tool it is, its name says or its first argument.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    kiln_guest::main()
}
