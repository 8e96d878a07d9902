//! The client: commands that call the orchestration service of a cloud.
//!
//! Requests are separate from output formats: [`heat`] sends requests, [`mod@format`]
//! makes text. Nothing is stored between two commands.

mod answer;
mod auth_method;
mod clouds;
mod connection;
mod console;
mod environment;
mod error;
mod event_stream;
mod events;
mod federation;
mod format;
mod heat;
pub(crate) mod heat_cli;
mod login;
mod oauth;
pub(crate) mod orchestration;
pub(crate) mod plan;
mod prompt;
mod secret;
mod session;
mod settings;
pub(crate) mod software;
pub(crate) mod stack;
mod tree;
mod upload;
mod wait;

use crate::stdio::{CommandError, Streams, Verdict};
use connection::{Connection, Verbosity};
use console::Console;
use environment::ProcessEnvironment;
use error::{Advice, ClientError, ClientErrorKind, Result};
use heat::HeatApi;
use session::HeatSession;
use settings::SessionSettings;
use std::cell::Cell;
use std::ffi::OsString;
use std::io::IsTerminal;

pub(crate) use format::Listing;
pub(crate) use format::options::ListArgs;

/// Prints a list in the output format that the user asked for.
pub(crate) fn print_list(
    listing: Listing,
    output_format: &ListArgs,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let environment = ProcessEnvironment::from_process();
    match Console::new(streams, &environment).list(listing, output_format) {
        Ok(()) => Ok(Verdict::Good),
        Err(problem) => report(problem, Verbosity::Usual, streams),
    }
}

/// Flags that may come before the subcommand.
const FLAGS: [&str; 8] =
    ["--debug", "--insecure", "--quiet", "--timing", "--verbose", "-q", "-v", "-vv"];

/// Moves cloud options from before the subcommand to behind it, where clap expects them:
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

/// The state of a client command.
pub(crate) struct Client<'a, 'b> {
    heat: HeatApi,
    console: Console<'a, 'b>,
    /// The name of the stack that the command waits for.
    watching: &'a Cell<Option<String>>,
}

/// A client command.
pub(crate) enum ClientCommand {
    /// `kiln stack …`
    Stack(stack::StackCommand),
    /// `kiln plan`
    Plan(Box<plan::PlanArgs>),
    /// `kiln apply`
    Apply(Box<plan::ApplyArgs>),
    /// `kiln orchestration …`
    Orchestration(orchestration::OrchestrationCommand),
    /// `kiln software …`
    Software(software::SoftwareCommand),
    /// `heat …`
    HeatCli(heat_cli::HeatCommand),
}

/// Runs a command of a client.
pub(crate) fn run(
    command: ClientCommand,
    connection: &Connection,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::usage(format!("cannot start a runtime: {error}")))?;
    let watching = Cell::new(None);
    let is_heat_cli = matches!(command, ClientCommand::HeatCli(_));
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Err(interrupted(is_heat_cli, watching.take())),
            ended = execute(command, connection, streams, &watching) => ended,
        }
    });
    // A pending prompt must not keep the process alive.
    runtime.shutdown_background();
    match ended {
        Ok(()) => Ok(Verdict::Good),
        Err(problem) => report(problem, connection.verbosity(), streams),
    }
}

async fn execute(
    command: ClientCommand,
    connection: &Connection,
    streams: &mut Streams<'_>,
    watching: &Cell<Option<String>>,
) -> Result<()> {
    let environment = ProcessEnvironment::from_process();
    let mut values = settings::values(connection, &environment)?;
    for (name, question) in auth_method::missing_secrets(&values) {
        values.extend(prompt::hidden(question).await?.map(|answer| (name.to_owned(), answer)));
    }
    let session = HeatSession::open(SessionSettings::from_values(&values)?, connection).await?;
    let console = Console::new(streams, &environment);
    let mut client = Client { heat: HeatApi { session }, console, watching };
    let ended = match command {
        ClientCommand::Stack(subcommand) => stack::run(subcommand, &mut client).await,
        ClientCommand::Plan(arguments) => arguments.run(&mut client).await,
        ClientCommand::Apply(arguments) => arguments.run(&mut client).await,
        ClientCommand::Orchestration(subcommand) => {
            orchestration::run(subcommand, &mut client).await
        }
        ClientCommand::Software(subcommand) => software::run(subcommand, &mut client).await,
        ClientCommand::HeatCli(subcommand) => heat_cli::run(subcommand, &mut client).await,
    };
    if connection.timing {
        for (request, took) in client.heat.session.took() {
            client.console.note(&format!("{:9.6} s  {request}", took.as_secs_f64()))?;
        }
    }
    ended
}

fn interrupted(is_heat_cli: bool, watched: Option<String>) -> ClientError {
    let problem = match is_heat_cli {
        true => ClientError::new("... terminating heat client"),
        false => ClientError::new("Interrupted."),
    };
    let problem = problem.of(ClientErrorKind::Interrupted);
    match watched {
        Some(stack) => problem.next(format!(
            "The action continues. `kiln stack event list --follow {stack}` shows its progress."
        )),
        None => problem,
    }
}

/// Prints a problem and returns its exit status.
fn report(
    problem: ClientError,
    verbosity: Verbosity,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let verdict = Verdict::Ended(problem.exit_status());
    if let ClientErrorKind::Output(error) = problem.kind {
        return Err(error.into());
    }
    // Earlier output must appear first.
    streams.out.flush()?;
    writeln!(streams.err, "{}", problem.text)?;
    match problem.next.filter(|_| verbosity != Verbosity::Quiet) {
        Some(Advice::Told(next)) => writeln!(streams.err, "{next}")?,
        Some(Advice::Hinted(next)) if std::io::stderr().is_terminal() => {
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
}
