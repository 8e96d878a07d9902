//! The client: commands that ask the orchestration service of a cloud.
//!
//! What a command asks is separate from how the answer looks: [`heat`] sends requests, [`mod@format`]
//! makes text. Nothing is kept between two commands.

mod answer;
mod bell;
pub(crate) mod classic;
mod clouds;
mod connection;
mod console;
mod entry;
mod events;
mod format;
mod grant;
mod heat;
mod login;
pub(crate) mod orchestration;
mod problem;
mod prompt;
mod provider;
mod secret;
mod session;
mod settings;
pub(crate) mod software;
pub(crate) mod stack;
mod surroundings;
mod tree;
mod upload;
mod wait;

use crate::streams::{Failure, Streams, Verdict};
use connection::{Connection, Loudness};
use console::Console;
use heat::Heat;
use problem::{Kind, Next, Problem, Result};
use session::Session;
use settings::Settings;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;
use surroundings::Surroundings;

/// Whether the program was called by its classic name.
pub(crate) fn is_heat(program: Option<OsString>) -> bool {
    program.is_some_and(|program| Path::new(&program).file_stem() == Some(OsStr::new("heat")))
}

/// Flags that may stand first.
const FLAGS: [&str; 8] =
    ["--debug", "--insecure", "--quiet", "--timing", "--verbose", "-q", "-v", "-vv"];

/// A command line on which options for the cloud may stand first, as others have them:
/// `--os-cloud mine stack list` is `stack --os-cloud mine list`.
pub(crate) fn reordered(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = arguments.peekable();
    let mut all: Vec<OsString> = words.next().into_iter().collect();
    let mut moved = Vec::new();
    while let Some(word) = words.peek().and_then(|word| word.to_str()).map(str::to_owned) {
        let takes_value = word.starts_with("--os-") && !word.contains('=');
        let is_flag = FLAGS.contains(&&*word);
        if !is_flag && !word.starts_with("--os-") {
            break;
        }
        moved.extend(words.by_ref().take(if takes_value { 2 } else { 1 }));
    }
    all.extend(words.next());
    all.extend(moved);
    all.extend(words);
    all
}

/// What a command works with.
pub(crate) struct Client<'a, 'b> {
    heat: Heat,
    console: Console<'a, 'b>,
    /// The stack that is waited for.
    watching: &'a Cell<Option<String>>,
}

/// What a command line of a client asks for.
pub(crate) enum Command {
    /// `kiln stack …`
    Stack(stack::Verb),
    /// `kiln orchestration …`
    Orchestration(orchestration::Verb),
    /// `kiln software …`
    Software(software::Verb),
    /// `heat …`
    Classic(classic::Verb),
}

/// Runs a command of a client.
pub(crate) fn run(
    command: Command,
    connection: &Connection,
    streams: &mut Streams<'_>,
) -> Result<Verdict, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::usage(format!("no runtime: {error}")))?;
    let watching = Cell::new(None);
    let is_classic = matches!(command, Command::Classic(_));
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Err(interrupted(is_classic, watching.take())),
            ended = carry_out(command, connection, streams, &watching) => ended,
        }
    });
    // A question that nobody has answered must not keep the process.
    runtime.shutdown_background();
    match ended {
        Ok(()) => Ok(Verdict::Good),
        Err(problem) => told(problem, connection.loudness(), streams),
    }
}

async fn carry_out(
    command: Command,
    connection: &Connection,
    streams: &mut Streams<'_>,
    watching: &Cell<Option<String>>,
) -> Result<()> {
    let surroundings = Surroundings::of_process();
    let mut values = settings::values(connection, &surroundings)?;
    for (name, question) in entry::to_be_asked(&values) {
        values.extend(prompt::hidden(question).await?.map(|answer| (name.to_owned(), answer)));
    }
    let session = Session::open(Settings::of(&values)?, connection).await?;
    let console = Console::new(streams, &surroundings);
    let mut client = Client { heat: Heat { session }, console, watching };
    let ended = match command {
        Command::Stack(verb) => stack::run(verb, &mut client).await,
        Command::Orchestration(verb) => orchestration::run(verb, &mut client).await,
        Command::Software(verb) => software::run(verb, &mut client).await,
        Command::Classic(verb) => classic::run(verb, &mut client).await,
    };
    if connection.timing {
        for (request, took) in client.heat.session.took() {
            client.console.note(&format!("{:9.6} s  {request}", took.as_secs_f64()))?;
        }
    }
    ended
}

fn interrupted(is_classic: bool, watched: Option<String>) -> Problem {
    let problem = match is_classic {
        true => Problem::new("... terminating heat client"),
        false => Problem::new("Interrupted."),
    };
    let problem = problem.of(Kind::Interrupted);
    match watched {
        Some(stack) => problem.next(format!(
            "The stack goes on. `kiln stack event list --follow {stack}` tells what happens next."
        )),
        None => problem,
    }
}

/// Tells what went wrong, and gives the verdict that goes with it.
fn told(
    problem: Problem,
    loudness: Loudness,
    streams: &mut Streams<'_>,
) -> Result<Verdict, Failure> {
    let verdict = Verdict::Ended(problem.exit_status());
    if let Kind::Output(error) = problem.kind {
        return Err(error.into());
    }
    // What was written before belongs before it.
    streams.out.flush()?;
    writeln!(streams.err, "{}", problem.text)?;
    match problem.next.filter(|_| loudness != Loudness::Quiet) {
        Some(Next::Told(next)) => writeln!(streams.err, "{next}")?,
        Some(Next::Hinted(next)) if std::io::stderr().is_terminal() => {
            writeln!(streams.err, "{next}")?
        }
        _ => {}
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_the_cloud_may_stand_first() {
        let reordered = |line: &str| {
            let words = reordered(line.split(' ').map(OsString::from));
            let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            words.join(" ")
        };
        for (typed, meant) in [
            ("kiln stack list", "kiln stack list"),
            ("kiln --os-cloud a stack list -c x", "kiln stack --os-cloud a list -c x"),
            (
                "kiln --debug --os-cloud=a --os-x y stack list",
                "kiln stack --debug --os-cloud=a --os-x y list",
            ),
            ("kiln -v -q stack list", "kiln stack -v -q list"),
            ("kiln --version", "kiln --version"),
            ("kiln --os-cloud", "kiln --os-cloud"),
        ] {
            assert_eq!(reordered(typed), meant);
        }
    }

    #[test]
    fn the_classic_name_is_known() {
        let is_heat = |name: &str| is_heat(Some(name.into()));
        assert!(is_heat("heat") && is_heat("/usr/bin/heat") && is_heat("heat.exe"));
        assert!(!is_heat("kiln") && !is_heat("/opt/heat/kiln"));
    }
}
