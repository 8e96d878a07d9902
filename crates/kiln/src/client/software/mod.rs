//! `kiln software …`: configuration of what runs on servers, and where it is put to use.

pub(crate) mod config;
pub(crate) mod deployment;
mod temp_url;

use super::Client;
use super::connection::Connection;
use super::problem::Result;
use clap::{Args, Subcommand};

/// Arguments of `kiln software`.
#[derive(Debug, Args)]
pub(crate) struct Software {
    #[command(subcommand)]
    pub(crate) verb: Verb,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `kiln software`.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Configurations: scripts and the like
    #[command(subcommand)]
    Config(config::Verb),
    /// Configurations put to use on servers
    #[command(subcommand)]
    Deployment(deployment::Verb),
}

/// Carries a verb out.
pub(crate) async fn run(verb: Verb, client: &mut Client<'_, '_>) -> Result<()> {
    match verb {
        Verb::Config(verb) => config::run(verb, client).await,
        Verb::Deployment(verb) => deployment::run(verb, client).await,
    }
}
