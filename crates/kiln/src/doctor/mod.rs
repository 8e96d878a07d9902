//! `kiln doctor`: checks everything that a server needs, and says what to do about every problem.
//!
//! Nothing is changed: no database, no key file and nothing in the cloud is created. Every check ends with a finding, also
//! one that could not be made.

mod broker;
mod configuration;
mod database;
mod endpoints;
mod finding;
mod identity;
pub(crate) mod identity_client;
mod machine;

use crate::cli::{Doctor, Server, ServerRole, TextOrJson};
use crate::commands::db;
use crate::config::{Flavor, Settings};
use crate::stdio::{CommandError, Streams, Verdict};
use finding::{Finding, FindingState};
use std::path::PathBuf;

/// What is checked: the server with these arguments.
pub(crate) struct Subject {
    config: Vec<PathBuf>,
    roles: Vec<ServerRole>,
    database: Option<String>,
    keys: Option<PathBuf>,
}

impl Subject {
    /// The server with the arguments of `kiln doctor`.
    pub(crate) fn of_doctor(arguments: &Doctor) -> Subject {
        let (config, roles) = (arguments.config.clone(), arguments.roles.clone());
        Subject { config, roles, database: None, keys: None }
    }

    /// The server with the arguments of `kiln server --check`.
    pub(crate) fn of_server(arguments: &Server) -> Subject {
        Subject {
            config: arguments.config.clone(),
            roles: arguments.roles.clone(),
            database: arguments.database.clone(),
            keys: arguments.keys.clone(),
        }
    }
}

/// Makes all checks and prints the findings. The verdict is bad if there is a problem.
pub(crate) fn run(
    subject: &Subject,
    format: TextOrJson,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let (mut findings, settings) = configuration::check(subject);
    if let Some(settings) = settings {
        findings.extend(db::wait_for(check(&settings))?);
    }
    match format {
        TextOrJson::Text => finding::print(&findings, streams)?,
        TextOrJson::Json => finding::print_json(&findings, streams)?,
    }
    let is_problem = |finding: &Finding| finding.state == FindingState::Problem;
    Ok(Verdict::of(!findings.iter().any(is_problem)))
}

/// The checks of what the configuration names.
async fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings = database::check(settings).await;
    match settings.flavor {
        Flavor::Keystone | Flavor::Standalone => {
            let (found, token) = identity::check(settings).await;
            findings.extend(found);
            findings.extend(endpoints::check(settings, token.as_ref()).await);
        }
        Flavor::Custom(..) | Flavor::NoAuth(_) => findings.push(Finding::skipped(
            "identity service",
            "not checked, because [paste_deploy] flavor is neither keystone nor standalone",
        )),
    }
    findings.extend(broker::check(settings).await);
    findings.extend(machine::check(settings).await);
    findings
}
