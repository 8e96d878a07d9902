//! `heat-manage`: maintenance of the database, with the commands that operators have in their scripts.
//!
//! Commands for what Kiln does by itself say so and succeed; commands that cannot do what they say fail, with what to
//! do instead.

use super::options::CommonOptions;
use crate::cli::Color;
use crate::commands::{admin, db};
use crate::config::{ConfigFile, DatabaseSettings};
use crate::stdio::{self, CommandError, Streams, Verdict};
use clap::{Parser, Subcommand, ValueEnum};
use kiln_engine::{ObjectKind, Objects, StackId, now};
use kiln_store::SqlStore;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// Maintenance of the database of the orchestration service
#[derive(Debug, Parser)]
#[command(name = "heat-manage", bin_name = "heat-manage", max_term_width = 100)]
#[command(version = crate::serving::REVISION)]
struct Manage {
    #[command(flatten)]
    common: CommonOptions,

    #[command(subcommand)]
    command: ManageCommand,
}

#[derive(Debug, Subcommand)]
#[command(rename_all = "snake_case")]
enum ManageCommand {
    /// Print the number of the database's schema
    DbVersion,
    /// Create the database's tables, or upgrade them
    DbSync {
        /// Ignored: the schema is always the newest
        version: Option<String>,
    },
    /// Remove the records of stacks that were deleted some time ago
    PurgeDeleted {
        /// Minimum age of the deletion
        #[arg(default_value_t = 90)]
        age: u64,
        /// Unit of the age
        #[arg(short, long, value_enum, default_value_t = Granularity::Days)]
        granularity: Granularity,
        /// Purge only the stacks of this project
        #[arg(short, long, value_name = "ID")]
        project_id: Option<String>,
        /// Number of stacks that are purged in one transaction
        #[arg(short, long = "batch_size", value_name = "N", default_value_t = 20)]
        batch_size: u64,
    },
    /// List the engines, or remove those that have stopped
    Service {
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Not needed: stacks are always processed by the convergent engine
    #[command(name = "migrate_convergence_1", alias = "migrate-convergence-1")]
    MigrateConvergence {
        /// Stacks
        stack_ids: Vec<String>,
    },
    /// Not needed: the data has one form
    MigratePropertiesData,
    /// Not needed: hidden parameters are always encrypted
    UpdateParams {
        /// encrypt or decrypt
        operation: Operation,
        /// Ignored
        batch_size: Option<u64>,
        /// Ignored
        #[arg(short, long)]
        verbose_update_params: bool,
    },
    /// Fail everything that is under way in a stack, and drop its waiting requests; no object in the cloud is touched
    ResetStackStatus {
        /// Stack
        stack_id: uuid::Uuid,
    },
    /// Not supported: `kiln stack resource show` shows a resource
    ResourceDataList {
        /// Resource
        resource_id: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Granularity {
    Days,
    Hours,
    Minutes,
    Seconds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Operation {
    Encrypt,
    Decrypt,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum ServiceAction {
    /// List the engines
    List,
    /// Remove engines that have stopped without saying so
    Clean,
}

/// Runs the program when it was started as `heat-manage`.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let manage = Manage::parse_from(arguments);
    stdio::with_standard(Color::Auto, |streams| {
        let file = manage.common.load("heat-manage")?;
        run(&manage.command, &file, streams)
    })
}

fn run(
    command: &ManageCommand,
    file: &ConfigFile,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let not_needed = |streams: &mut Streams<'_>, why: &str| {
        writeln!(streams.out, "Not needed: {why}.")?;
        Ok(Verdict::Good)
    };
    let unsupported = |what: &str| Err(CommandError::usage(format!("not supported: {what}")));
    match command {
        ManageCommand::DbVersion => db::wait_for(version(file, streams))?,
        ManageCommand::DbSync { .. } => db::wait_for(sync(file, streams))?,
        ManageCommand::PurgeDeleted { age, granularity, project_id, batch_size } => {
            let age = Duration::from_secs(age.saturating_mul(granularity.seconds()));
            db::wait_for(async {
                let store = db::open_of(file).await?;
                db::purge_before(&store, now() - age, project_id.as_deref(), *batch_size, streams)
                    .await
            })?
        }
        ManageCommand::Service { action } => db::wait_for(services(*action, file, streams))?,
        ManageCommand::MigrateConvergence { .. } => {
            not_needed(streams, "every stack is processed by the convergent engine")
        }
        ManageCommand::MigratePropertiesData => {
            not_needed(streams, "the properties of resources are stored in one form")
        }
        ManageCommand::UpdateParams { operation: Operation::Encrypt, .. } => {
            not_needed(streams, "hidden parameters and properties are always encrypted")
        }
        ManageCommand::UpdateParams { operation: Operation::Decrypt, .. } => {
            unsupported("hidden parameters and properties are always encrypted")
        }
        ManageCommand::ResetStackStatus { stack_id } => db::wait_for(async {
            let store = db::open_of(file).await?;
            admin::fail(&store, StackId(*stack_id), streams).await
        })?,
        ManageCommand::ResourceDataList { .. } => {
            unsupported("`kiln stack resource show STACK RESOURCE` shows a resource")
        }
    }
}

impl Granularity {
    fn seconds(self) -> u64 {
        match self {
            Granularity::Days => 86_400,
            Granularity::Hours => 3_600,
            Granularity::Minutes => 60,
            Granularity::Seconds => 1,
        }
    }
}

async fn version(file: &ConfigFile, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let DatabaseSettings { url, keys } = DatabaseSettings::from_file(file)?;
    let inspection = SqlStore::inspect(&url, &keys).await;
    let inspection = inspection.map_err(|error| CommandError::usage(error.to_string()))?;
    writeln!(streams.out, "{}", inspection.schema.unwrap_or(0))?;
    Ok(Verdict::Good)
}

async fn sync(file: &ConfigFile, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let DatabaseSettings { url, keys } = DatabaseSettings::from_file(file)?;
    let failed = |error: kiln_store::OpenError| CommandError::usage(error.to_string());
    let former = SqlStore::inspect(&url, &keys).await.map_err(failed)?;
    SqlStore::open(&url, &keys).await.map_err(failed)?.close().await;
    let known = former.known_schema;
    match former.schema {
        Some(schema) if schema == known => writeln!(streams.out, "The schema is {known} already.")?,
        Some(schema) => writeln!(streams.out, "The schema was {schema} and is {known} now.")?,
        None => writeln!(streams.out, "The tables were created, with schema {known}.")?,
    }
    Ok(Verdict::Good)
}

async fn services(
    action: ServiceAction,
    file: &ConfigFile,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let store = db::open_of(file).await?;
    for engine in kiln_engine::engines(&store).await.map_err(db::failed)? {
        match action {
            ServiceAction::List => {
                let state = if engine.is_up { "up" } else { "down" };
                writeln!(streams.out, "{} heat-engine {} {state}", engine.id, engine.host)?;
            }
            ServiceAction::Clean if !engine.is_up => {
                let dropped = store.drop_object(ObjectKind::Engine, engine.id.0).await;
                dropped.map_err(db::failed)?;
                writeln!(streams.out, "Removed engine {} of {}.", engine.id, engine.host)?;
            }
            ServiceAction::Clean => {}
        }
    }
    Ok(Verdict::Good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Manage::command().debug_assert();
    }
}
