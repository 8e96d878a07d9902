//! The program inside servers, built together with the tests that play servers.

use std::process::ExitCode;

fn main() -> ExitCode {
    kiln_guest::main()
}
