//! Software deployments.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::options::{ListArgs, ShowArgs, ShowFormat};
use super::super::format::text::plain;
use super::super::format::{Details, Listing};
use super::super::heat::{Query, list, path, text};
use super::super::stack::delete::undeleted;
use super::super::stack::failures::block;
use super::super::upload::given_parameters;
use super::config::{UNGROUPED, told};
use super::temp_url;
use clap::{Args, Subcommand};
use kiln_template::print;
use serde_json::{Value, json};

/// `kiln software deployment`.
#[derive(Debug, Subcommand)]
pub(crate) enum DeploymentCommand {
    /// Deploy a configuration to a server
    Create(DeploymentCreate),
    /// List deployments
    List(DeploymentList),
    /// Show a deployment
    Show(DeploymentShow),
    /// Deployments as servers see them
    #[command(subcommand)]
    Metadata(MetadataCommand),
    /// Outputs of deployments
    #[command(subcommand)]
    Output(OutputCommand),
    /// Delete deployments
    Delete(DeploymentDelete),
}

/// Arguments of `kiln software deployment create`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentCreate {
    /// Name of the deployment
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Id of the server
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: String,

    /// Id of the configuration
    #[arg(long, value_name = "CONFIG")]
    pub(crate) config: Option<String>,

    /// Value of an input; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) input_value: Vec<String>,

    /// Action of the stack that the deployment belongs to
    #[arg(long, value_name = "ACTION", default_value = "UPDATE")]
    pub(crate) action: String,

    /// Signal transport: TEMP_URL_SIGNAL or NO_SIGNAL
    #[arg(long, value_name = "TRANSPORT", default_value = "TEMP_URL_SIGNAL")]
    pub(crate) signal_transport: String,

    /// Object container for signals [default: derived from the name]
    #[arg(long, value_name = "CONTAINER")]
    pub(crate) container: Option<String>,

    /// Minutes after which the signal URL expires
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub(crate) timeout: u64,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

/// Arguments of `kiln software deployment list`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentList {
    /// Show only deployments to the server with this id
    #[arg(long, value_name = "SERVER")]
    server: Option<String>,

    /// Show more details of each deployment
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln software deployment show`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentShow {
    /// Id of the deployment
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,

    /// Show the outputs as well
    #[arg(long)]
    long: bool,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// `kiln software deployment metadata`.
#[derive(Debug, Subcommand)]
pub(crate) enum MetadataCommand {
    /// Print the deployments of a server
    Show(MetadataShow),
}

/// Arguments of `kiln software deployment metadata show`.
#[derive(Debug, Args)]
pub(crate) struct MetadataShow {
    /// Id of the server
    #[arg(value_name = "SERVER")]
    server: String,
}

/// `kiln software deployment output`.
#[derive(Debug, Subcommand)]
pub(crate) enum OutputCommand {
    /// Print outputs of a deployment
    Show(DeploymentOutputShow),
}

/// Arguments of `kiln software deployment output show`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentOutputShow {
    /// Id of the deployment
    #[arg(value_name = "DEPLOYMENT")]
    deployment: String,

    /// Name of the output
    #[arg(value_name = "OUTPUT")]
    output: Option<String>,

    /// Show all outputs
    #[arg(long)]
    all: bool,

    /// Show long values in full
    #[arg(long)]
    long: bool,
}

/// Arguments of `kiln software deployment delete`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentDelete {
    /// Ids of the deployments
    #[arg(value_name = "DEPLOYMENT", required = true)]
    pub(crate) deployments: Vec<String>,
}

pub(crate) async fn run(subcommand: DeploymentCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        DeploymentCommand::Create(create) => {
            let mut made = create.create(client).await?;
            made.sort_all_objects();
            client.console.raw(&made, &create.output_format, ShowFormat::Yaml)
        }
        DeploymentCommand::List(DeploymentList { server, long, output_format }) => {
            let mut names = vec!["id", "config_id", "server_id", "action", "status"];
            if long {
                names.extend(["creation_time", "status_reason"]);
            }
            let columns: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
            let deployments = deployments(client, server.as_deref()).await?;
            client.console.list(Listing::of(&columns, &deployments), &output_format)
        }
        DeploymentCommand::Show(DeploymentShow { deployment: id, long, output_format }) => {
            let deployment = deployment(client, &id, "Software Deployment").await?;
            client.console.show(details(deployment, long), &output_format)
        }
        DeploymentCommand::Metadata(MetadataCommand::Show(MetadataShow { server })) => {
            let metadata = metadata(client, &server).await?;
            client.console.raw(&metadata, &ShowArgs::default(), ShowFormat::Json)
        }
        DeploymentCommand::Output(OutputCommand::Show(show)) => show.run(client).await,
        DeploymentCommand::Delete(delete) => delete.run(client).await,
    }
}

fn details(mut deployment: Value, long: bool) -> Details {
    // A deployment that was never updated has no `updated_time`.
    if deployment["updated_time"].is_null() {
        deployment["updated_time"] = "".into();
    }
    let mut keys = vec![
        "id",
        "server_id",
        "config_id",
        "creation_time",
        "updated_time",
        "status",
        "status_reason",
        "input_values",
        "action",
    ];
    if long {
        keys.push("output_values");
    }
    Details::members(&keys, &deployment)
}

/// Lists deployments.
pub(crate) async fn deployments(
    client: &Client<'_, '_>,
    server: Option<&str>,
) -> Result<Vec<Value>> {
    let asked: Query =
        server.map(|server| ("server_id".into(), server.to_owned())).into_iter().collect();
    Ok(list(&client.heat.get("/software_deployments", asked).await?, "software_deployments"))
}

/// Reads a deployment; `called` names it in the message if it does not exist.
pub(crate) async fn deployment(client: &Client<'_, '_>, id: &str, called: &str) -> Result<Value> {
    let answer = client.heat.get(&path(&["software_deployments", id]), Query::new()).await;
    Ok(answer.or_not_found(|| format!("{called} not found: {id}"))?["software_deployment"].clone())
}

/// The deployments of a server.
pub(crate) async fn metadata(client: &Client<'_, '_>, server: &str) -> Result<Value> {
    let path = path(&["software_deployments", "metadata", server]);
    Ok(client.heat.get(&path, Query::new()).await?["metadata"].clone())
}

impl DeploymentCreate {
    /// Creates a derived configuration for the deployment, then the deployment.
    pub(crate) async fn create(&self, client: &Client<'_, '_>) -> Result<Value> {
        let transport = &*self.signal_transport;
        if !["NO_SIGNAL", "TEMP_URL_SIGNAL"].contains(&transport) {
            return Err(ClientError::new(format!("Unsupported signal transport {transport}"))
                .hint("NO_SIGNAL and TEMP_URL_SIGNAL are supported."));
        }
        let values = given_parameters(&self.input_value)?;
        let config = match &self.config {
            None => {
                json!({ "group": UNGROUPED, "config": "", "options": {}, "inputs": [], "outputs": [] })
            }
            Some(id) => {
                let answer = client.heat.get(&path(&["software_configs", id]), Query::new()).await;
                let words = || format!("Software configuration not found: {id}");
                answer.or_not_found(words)?["software_config"].clone()
            }
        };
        let mut inputs = list(&config, "inputs");
        for (name, value) in &values {
            let value = Value::from(print::plain(value));
            match inputs.iter_mut().find(|input| text(input, "name") == &**name) {
                Some(input) => input["value"] = value,
                None => inputs.push(json!({ "name": &**name, "type": "String", "value": value })),
            }
        }
        let mut told = vec![
            ("deploy_server_id", "ID of the server being deployed to", self.server.clone()),
            ("deploy_action", "Name of the current action being deployed", self.action.clone()),
            (
                "deploy_signal_transport",
                "How the server should signal to heat with the deployment output values.",
                self.signal_transport.clone(),
            ),
        ];
        if transport == "TEMP_URL_SIGNAL" {
            let container = self.container.as_deref();
            let url =
                temp_url::make(&client.heat.session, &self.name, container, self.timeout).await?;
            let signal = "ID of signal to use for signaling output values";
            let subcommand = "HTTP verb to use for signaling output values";
            told.push(("deploy_signal_id", signal, url));
            told.push(("deploy_signal_verb", subcommand, "PUT".to_owned()));
        }
        for (name, description, value) in told {
            inputs.push(json!({
                "name": name, "description": description, "type": "String", "value": value,
            }));
        }
        let derived = json!({
            "group": config["group"], "config": config["config"], "options": config["options"],
            "inputs": inputs, "outputs": config["outputs"], "name": self.name,
        });
        let derived = client.heat.post("/software_configs", &derived).await?;
        let deployment = json!({
            "config_id": derived["software_config"]["id"], "server_id": self.server,
            "action": self.action, "status": "IN_PROGRESS",
        });
        let made = client.heat.post("/software_deployments", &deployment).await?;
        Ok(made["software_deployment"].clone())
    }
}

impl DeploymentOutputShow {
    async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.output.is_none() && !self.all {
            return Err(ClientError::new(
                "Error: either <output-name> or --all argument is needed.",
            ));
        }
        let deployment = deployment(client, &self.deployment, "Deployment").await?;
        let Some(values) = deployment["output_values"].as_object() else { return Ok(()) };
        let mut out = String::new();
        match &self.output {
            Some(name) if !self.all => {
                let Some(value) = values.get(name) else {
                    return Err(no_output(name, &self.deployment));
                };
                out += "output_value:\n\n";
                out += &told_output(name, value, self.long);
            }
            _ => {
                out += "output_values:\n\n";
                for (name, value) in values {
                    out += &told_output(name, value, self.long);
                }
            }
        }
        client.console.write(&out)
    }
}

/// The problem of a missing output.
pub(crate) fn no_output(name: &str, deployment: &str) -> ClientError {
    ClientError::new(format!("Output {name} does not exist in deployment {deployment}"))
}

/// Formats an output: outputs of scripts as a block, others on one line.
fn told_output(name: &str, value: &Value, long: bool) -> String {
    match (name, value.as_str()) {
        ("deploy_stdout" | "deploy_stderr", Some(text)) => block(name, text, long),
        _ => format!("  {name}: {}\n", plain(value)),
    }
}

impl DeploymentDelete {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut failed = 0;
        for id in &self.deployments {
            if let Err(problem) = delete(client, id).await {
                failed += 1;
                client
                    .console
                    .line(&told(problem, &format!("Deployment with ID {id} not found")))?;
            }
        }
        undeleted(failed, self.deployments.len(), "deployments")
    }
}

/// Deletes a deployment and its derived configuration.
async fn delete(client: &Client<'_, '_>, id: &str) -> Result<()> {
    let deployment = deployment(client, id, "Deployment").await?;
    client.heat.delete(&path(&["software_deployments", id])).await?;
    if let Some(config) = deployment["config_id"].as_str() {
        // Another deployment may use the configuration as well.
        _ = client.heat.delete(&path(&["software_configs", config])).await;
    }
    Ok(())
}
