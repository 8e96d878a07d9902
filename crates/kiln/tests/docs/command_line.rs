//! The reference of the command line, `docs/reference/command-line.md`: the help of every command.

use super::compare;
use crate::test_directory::TestDirectory;
use std::fmt::Write;

const HEAD: &str = "\
# The command line

The help of every command of `kiln`, as `-h` prints it. `--help` prints more, such as the options for logging in, which all client commands (`stack`,
`orchestration`, `software`) have. A link named `heat` to the program is the older client, with its commands and output. Generated:
`KILN_BLESS=1 cargo nextest run -p kiln docs::command_line` writes it.

Exit statuses: 0 success; 1 failure; 2 a mistake in the command line, or a file that cannot be read; 4 the time of `--wait-timeout` is over.
";

#[test]
fn the_page_of_the_command_line_is_in_step() {
    let directory = TestDirectory::with(&[]);
    let mut page = HEAD.to_owned();
    describe(&directory, &[], &mut page);
    compare("command-line.md", &page);
}

fn describe(directory: &TestDirectory, command: &[String], page: &mut String) {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("-h");
    let run = directory.run(&arguments);
    assert_eq!(run.status, 0, "{command:?}: {}", run.err);
    let title = ["kiln".to_owned()].iter().chain(command).cloned().collect::<Vec<_>>().join(" ");
    let level = if command.is_empty() { "##" } else { "###" };
    let help: Vec<&str> = run.out.lines().map(str::trim_end).collect();
    _ = write!(page, "\n{level} {title}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for name in subcommands(&run.out) {
        let inner: Vec<String> = command.iter().cloned().chain([name]).collect();
        describe(directory, &inner, page);
    }
}

/// The commands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        (!line.starts_with("   ") && name != "help").then(|| name.to_owned())
    });
    names.collect()
}
