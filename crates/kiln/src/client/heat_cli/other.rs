//! `heat` commands for everything but stacks: types, templates, configurations, deployments.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::yaml;
use super::super::heat::{Query, list};
use super::super::orchestration::{self, functions, show_type, template_of, types};
use super::super::software::config::{self, UNGROUPED};
use super::super::software::deployment;
use super::super::stack::list::pairs;
use super::contents::OutputFormat;
use super::list::HeatPage;
use super::print;
use super::stack::HeatTemplate;
use clap::{Args, ValueEnum};
use kiln_template::print::Keys;
use serde_json::Value;

/// Prints the build information of the service.
pub(super) async fn build_info(client: &mut Client<'_, '_>) -> Result<()> {
    let info = client.heat.get("/build_info", Query::new()).await?;
    print::details(client, &info)
}

/// Lists the engines of the service.
pub(super) async fn services(client: &mut Client<'_, '_>) -> Result<()> {
    let answer = client.heat.get("/services", Query::new()).await?;
    let columns = ["hostname", "binary", "engine_id", "host", "topic", "updated_at", "status"];
    print::list(client, &columns, &list(&answer, "services"), Some("hostname"))
}

/// Lists the versions of templates.
pub(super) async fn versions(client: &mut Client<'_, '_>) -> Result<()> {
    let answer = client.heat.get("/template_versions", Query::new()).await?;
    print::list(client, &["version", "type"], &list(&answer, "template_versions"), Some("version"))
}

/// One object, named by its id or name.
#[derive(Debug, Args)]
pub(crate) struct OneId {
    /// Id or name of the object
    #[arg(value_name = "ID")]
    id: String,
}

impl OneId {
    pub(super) async fn deployment(self, client: &mut Client<'_, '_>) -> Result<()> {
        let shown = deployment::deployment(client, &self.id, "Deployment").await?;
        print::document(client, &shown)
    }

    pub(super) async fn deployment_metadata(self, client: &mut Client<'_, '_>) -> Result<()> {
        let metadata = deployment::metadata(client, &self.id).await?;
        print::document(client, &metadata)
    }

    pub(super) async fn functions(self, client: &mut Client<'_, '_>) -> Result<()> {
        let functions = functions(client, &self.id, false).await?;
        print::list(client, &["functions", "description"], &functions, Some("functions"))
    }

    pub(super) async fn resource_type(self, client: &mut Client<'_, '_>) -> Result<()> {
        let shown = show_type(client, &self.id, false).await;
        let shown = shown.or_not_found(|| format!("Resource Type not found: {}", self.id))?;
        print::document(client, &shown)
    }
}

/// Several objects, named by their ids.
#[derive(Debug, Args)]
pub(crate) struct ManyIds {
    /// Ids of the objects
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

impl ManyIds {
    pub(super) async fn delete_configs(self, client: &mut Client<'_, '_>) -> Result<()> {
        let deleted = config::ConfigDelete { configs: self.ids }.run(client).await;
        deleted.map_err(|problem| ClientError {
            text: problem.text.replace("software configs", "configs"),
            ..problem
        })
    }

    pub(super) async fn delete_deployments(self, client: &mut Client<'_, '_>) -> Result<()> {
        deployment::DeploymentDelete { deployments: self.ids }.run(client).await
    }
}

/// Arguments of `heat config-create`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCreate {
    /// Name of the configuration
    #[arg(value_name = "CONFIG_NAME")]
    name: String,

    /// File with a map of inputs, outputs and options
    #[arg(short = 'f', long, value_name = "FILE")]
    definition_file: Option<String>,

    /// File with the configuration, such as a script
    #[arg(short = 'c', long, value_name = "FILE")]
    config_file: Option<String>,

    /// Group of the configuration, such as script
    #[arg(short, long, value_name = "GROUP", default_value = UNGROUPED)]
    group: String,
}

impl ConfigCreate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let create = config::ConfigCreate {
            name: self.name,
            config_file: self.config_file,
            definition_file: self.definition_file,
            group: self.group,
            output_format: Default::default(),
        };
        let made = create.create(client).await?;
        print::document(client, &made)
    }
}

/// Arguments of `heat config-list`.
#[derive(Debug, Args)]
pub(crate) struct ConfigList {
    #[command(flatten)]
    page: HeatPage,
}

impl ConfigList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let configs = config::configs(client, self.page.limit, self.page.marker.as_deref()).await?;
        print::list(client, &["id", "name", "group", "creation_time"], &configs, None)
    }
}

/// Arguments of `heat config-show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Id of the configuration
    #[arg(value_name = "ID")]
    id: String,

    /// Print the configuration text alone
    #[arg(short, long)]
    config_only: bool,
}

impl ConfigShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let config = config::config(client, &self.id).await?;
        match self.config_only {
            true => client.console.line(config["config"].as_str().unwrap_or_default()),
            false => print::document(client, &config),
        }
    }
}

/// Arguments of `heat deployment-create`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentCreate {
    /// Name of the deployment
    #[arg(value_name = "DEPLOYMENT_NAME")]
    name: String,

    /// Value of an input; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE")]
    input_value: Vec<String>,

    /// Action of the stack that the deployment belongs to
    #[arg(short, long, value_name = "ACTION", default_value = "UPDATE")]
    action: String,

    /// Id of the configuration
    #[arg(short, long, value_name = "CONFIG")]
    config: Option<String>,

    /// Id of the server
    #[arg(short, long, value_name = "SERVER")]
    server: String,

    /// Signal transport
    #[arg(short = 't', long, value_name = "TRANSPORT", default_value = "TEMP_URL_SIGNAL")]
    signal_transport: String,

    /// Object container for signals
    #[arg(long, value_name = "CONTAINER")]
    container: Option<String>,

    /// Minutes after which the signal URL expires
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    timeout: u64,
}

impl DeploymentCreate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let create = deployment::DeploymentCreate {
            name: self.name,
            server: self.server,
            config: self.config,
            input_value: self.input_value,
            action: self.action,
            signal_transport: self.signal_transport,
            container: self.container,
            timeout: self.timeout,
            output_format: Default::default(),
        };
        let made = create.create(client).await?;
        print::document(client, &made)
    }
}

/// Arguments of `heat deployment-list`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentList {
    /// Show only deployments to the server with this id
    #[arg(short, long, value_name = "SERVER")]
    server: Option<String>,
}

impl DeploymentList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let deployments = deployment::deployments(client, self.server.as_deref()).await?;
        let columns =
            ["id", "config_id", "server_id", "action", "status", "creation_time", "status_reason"];
        print::list(client, &columns, &deployments, Some("creation_time"))
    }
}

/// Arguments of `heat deployment-output-show`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentOutput {
    /// Id of the deployment
    #[arg(value_name = "ID")]
    id: String,

    /// Name of the output
    #[arg(value_name = "OUTPUT NAME")]
    output: Option<String>,

    /// Show all outputs
    #[arg(short, long)]
    all: bool,

    /// Output format: raw (the value alone) or json
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: OutputFormat,
}

impl DeploymentOutput {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.output.is_none() && !self.all {
            return Err(ClientError::new(
                "Error: either <OUTPUT NAME> or --all argument is needed.",
            ));
        }
        let deployment = deployment::deployment(client, &self.id, "Deployment").await?;
        let values = &deployment["output_values"];
        match &self.output {
            Some(name) if !self.all => {
                let Some(value) = values.get(name) else {
                    return Err(deployment::no_output(name, &self.id));
                };
                match self.form {
                    OutputFormat::Raw => print::value(client, value),
                    OutputFormat::Json => print::document(client, value),
                }
            }
            _ => print::value(client, values),
        }
    }
}

/// Arguments of `heat resource-type-list`.
#[derive(Debug, Args)]
pub(crate) struct TypeList {
    /// Filters: name, version, support_status
    #[arg(short, long, value_name = "KEY=VALUE;KEY=VALUE")]
    filters: Vec<String>,
}

impl TypeList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let types = types(client, pairs(&self.filters)?).await?;
        print::list(client, &["resource_type"], &types, Some("resource_type"))
    }
}

/// Output formats of templates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TemplateFormat {
    /// YAML
    #[default]
    Yaml,
    /// JSON
    Json,
}

/// Arguments of `heat resource-type-template`.
#[derive(Debug, Args)]
pub(crate) struct TypeTemplate {
    /// Name of the resource type
    #[arg(value_name = "RESOURCE_TYPE")]
    name: String,

    /// Template language: hot or cfn
    #[arg(short, long, value_name = "DIALECT", default_value = "cfn")]
    template_type: String,

    /// Output format: yaml or json
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: TemplateFormat,
}

impl TypeTemplate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = template_of(client, &self.name, &self.template_type).await;
        let template =
            template.or_not_found(|| format!("Resource Type {} not found.", self.name))?;
        match self.form {
            TemplateFormat::Yaml => client.console.line(&yaml(&template, Keys::Sorted)),
            TemplateFormat::Json => print::document(client, &template),
        }
    }
}

/// Arguments of `heat template-validate`.
#[derive(Debug, Args)]
pub(crate) struct TemplateValidate {
    #[command(flatten)]
    template: HeatTemplate,

    /// Validate nested templates as well
    #[arg(short = 'n', long)]
    show_nested: bool,

    /// Comma-separated error codes to ignore
    #[arg(short = 'I', long, value_name = "CODE,CODE")]
    ignore_errors: Option<String>,
}

impl TemplateValidate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = self.template.gather(client, false).await?;
        let ignore = self.ignore_errors.as_deref();
        let answer: Value =
            orchestration::validate(client, upload, self.show_nested, ignore).await?;
        print::document(client, &answer)
    }
}
