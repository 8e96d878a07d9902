//! One file per command: each takes its arguments and the streams, and gives a verdict.

mod completions;
mod db;
mod dev;
mod explain;
mod functions;
mod graph;
mod server;
mod validate;
mod versions;
mod yaql;

use crate::cli::{Command, Template};
use crate::client;
use crate::streams::{Failure, Streams, Verdict};

/// Runs a command.
pub(crate) fn run(command: Command, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    match command {
        Command::Validate(arguments) => validate::run(&arguments, streams),
        Command::Template(Template::Graph(arguments)) => graph::run(&arguments, streams),
        Command::Template(Template::Functions(arguments)) => functions::run(&arguments, streams),
        Command::Template(Template::Versions(arguments)) => versions::run(&arguments, streams),
        Command::Yaql(arguments) => yaql::run(&arguments, streams),
        Command::Explain(arguments) => explain::run(&arguments, streams),
        Command::Dev(arguments) => dev::run(&arguments, streams),
        Command::Server(arguments) => server::run(&arguments, streams),
        Command::Db(command) => db::run(&command, streams),
        Command::Stack(it) => client::run(client::Command::Stack(it.verb), &it.connection, streams),
        Command::Orchestration(it) => {
            client::run(client::Command::Orchestration(it.verb), &it.connection, streams)
        }
        Command::Software(it) => {
            client::run(client::Command::Software(it.verb), &it.connection, streams)
        }
        Command::Completions(arguments) => completions::run(&arguments, streams),
    }
}
