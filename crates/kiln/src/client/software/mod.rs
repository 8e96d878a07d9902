//! `kiln software …`: software configurations and their deployments.

pub(crate) mod config;
pub(crate) mod deployment;
mod temp_url;

use super::Client;
use super::connection::Connection;
use super::error::Result;
use clap::{Args, Subcommand};

/// Arguments of `kiln software`.
#[derive(Debug, Args)]
pub(crate) struct SoftwareArgs {
    #[command(subcommand)]
    pub(crate) subcommand: SoftwareCommand,

    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// `kiln software`.
#[derive(Debug, Subcommand)]
pub(crate) enum SoftwareCommand {
    /// Software configurations
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Software deployments
    #[command(subcommand)]
    Deployment(deployment::DeploymentCommand),
}

/// Runs a subcommand.
pub(crate) async fn run(subcommand: SoftwareCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        SoftwareCommand::Config(subcommand) => config::run(subcommand, client).await,
        SoftwareCommand::Deployment(subcommand) => deployment::run(subcommand, client).await,
    }
}
