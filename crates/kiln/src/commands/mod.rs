//! One file per command: each takes its arguments and the streams, and returns a verdict.

pub(crate) mod admin;
mod completions;
mod config;
pub(crate) mod db;
#[cfg(feature = "dev")]
mod dev;
mod explain;
mod functions;
mod graph;
mod manual_pages;
pub(crate) mod server;
mod validate;
mod versions;
mod yaql;

use crate::cli::{KilnCommand, TemplateCommand};
use crate::client;
use crate::doctor::{self, Subject};
use crate::stdio::{CommandError, Streams, Verdict};

/// Runs a command.
pub(crate) fn run(
    command: KilnCommand,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    match command {
        KilnCommand::Validate(arguments) => validate::run(&arguments, streams),
        KilnCommand::Template(TemplateCommand::Graph(arguments)) => graph::run(&arguments, streams),
        KilnCommand::Template(TemplateCommand::Functions(arguments)) => {
            functions::run(&arguments, streams)
        }
        KilnCommand::Template(TemplateCommand::Versions(arguments)) => {
            versions::run(&arguments, streams)
        }
        KilnCommand::Yaql(arguments) => yaql::run(&arguments, streams),
        KilnCommand::Explain(arguments) => explain::run(&arguments, streams),
        #[cfg(feature = "dev")]
        KilnCommand::Dev(arguments) => dev::run(&arguments, streams),
        KilnCommand::Server(arguments) => server::run(&arguments, streams),
        KilnCommand::Doctor(arguments) => {
            doctor::run(&Subject::of_doctor(&arguments), arguments.format, streams)
        }
        KilnCommand::Db(command) => db::run(&command, streams),
        KilnCommand::Admin(command) => admin::run(&command, streams),
        KilnCommand::Config(command) => config::run(&command, streams),
        KilnCommand::Stack(it) => {
            client::run(client::ClientCommand::Stack(it.subcommand), &it.connection, streams)
        }
        KilnCommand::Plan(it) => {
            let connection = it.connection.clone();
            client::run(client::ClientCommand::Plan(it), &connection, streams)
        }
        KilnCommand::Apply(it) => {
            let connection = it.connection.clone();
            client::run(client::ClientCommand::Apply(it), &connection, streams)
        }
        KilnCommand::Orchestration(it) => client::run(
            client::ClientCommand::Orchestration(it.subcommand),
            &it.connection,
            streams,
        ),
        KilnCommand::Software(it) => {
            client::run(client::ClientCommand::Software(it.subcommand), &it.connection, streams)
        }
        KilnCommand::Completions(arguments) => completions::run(&arguments, streams),
        KilnCommand::ManualPages(arguments) => manual_pages::run(&arguments, streams),
    }
}
