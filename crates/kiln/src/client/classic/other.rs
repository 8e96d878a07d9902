//! Classic words for what is outside of stacks: types, templates, configurations, deployments.

use super::super::Client;
use super::super::format::yaml::{Top, yaml};
use super::super::heat::{Query, list};
use super::super::orchestration::{self, functions, show_type, template_of, types};
use super::super::problem::{OrNotFound, Problem, Result};
use super::super::software::config::{self, UNGROUPED};
use super::super::software::deployment;
use super::super::stack::list::pairs;
use super::look;
use super::stack::Template;
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Shows how the service was built.
pub(super) async fn build_info(client: &mut Client<'_, '_>) -> Result<()> {
    let info = client.heat.get("/build_info", Query::new()).await?;
    look::details(client, &info)
}

/// Lists the engines of the service.
pub(super) async fn services(client: &mut Client<'_, '_>) -> Result<()> {
    let answer = client.heat.get("/services", Query::new()).await?;
    let columns = ["hostname", "binary", "engine_id", "host", "topic", "updated_at", "status"];
    look::list(client, &columns, &list(&answer, "services"), Some("hostname"))
}

/// Lists the versions of templates.
pub(super) async fn versions(client: &mut Client<'_, '_>) -> Result<()> {
    let answer = client.heat.get("/template_versions", Query::new()).await?;
    look::list(client, &["version", "type"], &list(&answer, "template_versions"), Some("version"))
}

/// Something by its id or name.
#[derive(Debug, Args)]
pub(crate) struct Id {
    /// Its id or name
    #[arg(value_name = "ID")]
    id: String,
}

impl Id {
    pub(super) async fn deployment(self, client: &mut Client<'_, '_>) -> Result<()> {
        let shown = deployment::deployment(client, &self.id, "Deployment").await?;
        look::document(client, &shown)
    }

    pub(super) async fn deployment_metadata(self, client: &mut Client<'_, '_>) -> Result<()> {
        let metadata = deployment::metadata(client, &self.id).await?;
        look::document(client, &metadata)
    }

    pub(super) async fn functions(self, client: &mut Client<'_, '_>) -> Result<()> {
        let functions = functions(client, &self.id, false).await?;
        look::list(client, &["functions", "description"], &functions, Some("functions"))
    }

    pub(super) async fn resource_type(self, client: &mut Client<'_, '_>) -> Result<()> {
        let shown = show_type(client, &self.id, false).await;
        let shown = shown.or_not_found(|| format!("Resource Type not found: {}", self.id))?;
        look::document(client, &shown)
    }
}

/// Several things by their ids.
#[derive(Debug, Args)]
pub(crate) struct Ids {
    /// Their ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

impl Ids {
    pub(super) async fn delete_configs(self, client: &mut Client<'_, '_>) -> Result<()> {
        let deleted = config::Delete { configs: self.ids }.run(client).await;
        deleted.map_err(|problem| Problem {
            text: problem.text.replace("software configs", "configs"),
            ..problem
        })
    }

    pub(super) async fn delete_deployments(self, client: &mut Client<'_, '_>) -> Result<()> {
        deployment::Delete { deployments: self.ids }.run(client).await
    }
}

/// Arguments of `heat config-create`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCreate {
    /// The name of the configuration
    #[arg(value_name = "CONFIG_NAME")]
    name: String,

    /// A file with a map of inputs, outputs and options
    #[arg(short = 'f', long, value_name = "FILE")]
    definition_file: Option<String>,

    /// A file with the configuration itself
    #[arg(short = 'c', long, value_name = "FILE")]
    config_file: Option<String>,

    /// What kind of configuration it is
    #[arg(short, long, value_name = "GROUP", default_value = UNGROUPED)]
    group: String,
}

impl ConfigCreate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let create = config::Create {
            name: self.name,
            config_file: self.config_file,
            definition_file: self.definition_file,
            group: self.group,
            shown: Default::default(),
        };
        let made = create.create(client).await?;
        look::document(client, &made)
    }
}

/// Arguments of `heat config-list`.
#[derive(Debug, Args)]
pub(crate) struct ConfigList {
    /// At most so many
    #[arg(short, long, value_name = "LIMIT")]
    limit: Option<usize>,

    /// Only those after this one, by id
    #[arg(short, long, value_name = "ID")]
    marker: Option<String>,
}

impl ConfigList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let configs = config::configs(client, self.limit, self.marker.as_deref()).await?;
        look::list(client, &["id", "name", "group", "creation_time"], &configs, None)
    }
}

/// Arguments of `heat config-show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// The configuration, by id
    #[arg(value_name = "ID")]
    id: String,

    /// Print nothing but the configuration itself
    #[arg(short, long)]
    config_only: bool,
}

impl ConfigShow {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let config = config::config(client, &self.id).await?;
        match self.config_only {
            true => client.console.line(config["config"].as_str().unwrap_or_default()),
            false => look::document(client, &config),
        }
    }
}

/// Arguments of `heat deployment-create`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentCreate {
    /// The name of the deployment
    #[arg(value_name = "DEPLOYMENT_NAME")]
    name: String,

    /// The value of an input; may be given several times
    #[arg(short, long, value_name = "KEY=VALUE")]
    input_value: Vec<String>,

    /// What the stack is said to be doing
    #[arg(short, long, value_name = "ACTION", default_value = "UPDATE")]
    action: String,

    /// The configuration, by id
    #[arg(short, long, value_name = "CONFIG")]
    config: Option<String>,

    /// The server, by id
    #[arg(short, long, value_name = "SERVER")]
    server: String,

    /// How the server tells that it is done
    #[arg(short = 't', long, value_name = "TRANSPORT", default_value = "TEMP_URL_SIGNAL")]
    signal_transport: String,

    /// The container for signals
    #[arg(long, value_name = "CONTAINER")]
    container: Option<String>,

    /// Minutes that a signal may take
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    timeout: u64,
}

impl DeploymentCreate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let create = deployment::Create {
            name: self.name,
            server: self.server,
            config: self.config,
            input_value: self.input_value,
            action: self.action,
            signal_transport: self.signal_transport,
            container: self.container,
            timeout: self.timeout,
            shown: Default::default(),
        };
        let made = create.create(client).await?;
        look::document(client, &made)
    }
}

/// Arguments of `heat deployment-list`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentList {
    /// Only those on this server, by id
    #[arg(short, long, value_name = "SERVER")]
    server: Option<String>,
}

impl DeploymentList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let deployments = deployment::deployments(client, self.server.as_deref()).await?;
        let columns =
            ["id", "config_id", "server_id", "action", "status", "creation_time", "status_reason"];
        look::list(client, &columns, &deployments, Some("creation_time"))
    }
}

/// How an output of a deployment is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// Its value
    #[default]
    Raw,
    /// As JSON
    Json,
}

/// Arguments of `heat deployment-output-show`.
#[derive(Debug, Args)]
pub(crate) struct DeploymentOutput {
    /// The deployment, by id
    #[arg(value_name = "ID")]
    id: String,

    /// The output
    #[arg(value_name = "OUTPUT NAME")]
    output: Option<String>,

    /// Print all outputs
    #[arg(short, long)]
    all: bool,

    /// What is printed: raw for the value alone, or json
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: OutputForm,
}

impl DeploymentOutput {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        if self.output.is_none() && !self.all {
            return Err(Problem::new("Error: either <OUTPUT NAME> or --all argument is needed."));
        }
        let deployment = deployment::deployment(client, &self.id, "Deployment").await?;
        let values = &deployment["output_values"];
        match &self.output {
            Some(name) if !self.all => {
                let Some(value) = values.get(name) else {
                    return Err(deployment::no_output(name, &self.id));
                };
                match self.form {
                    OutputForm::Raw => look::value(client, value),
                    OutputForm::Json => look::document(client, value),
                }
            }
            _ => look::value(client, values),
        }
    }
}

/// Arguments of `heat resource-type-list`.
#[derive(Debug, Args)]
pub(crate) struct TypeList {
    /// Only those with these properties: name, version, support_status
    #[arg(short, long, value_name = "KEY=VALUE;KEY=VALUE")]
    filters: Vec<String>,
}

impl TypeList {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let types = types(client, pairs(&self.filters)?).await?;
        look::list(client, &["resource_type"], &types, Some("resource_type"))
    }
}

/// How a template is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TemplateForm {
    /// As YAML
    #[default]
    Yaml,
    /// As JSON
    Json,
}

/// Arguments of `heat resource-type-template`.
#[derive(Debug, Args)]
pub(crate) struct TypeTemplate {
    /// The type
    #[arg(value_name = "RESOURCE_TYPE")]
    name: String,

    /// The dialect of the template: hot or cfn
    #[arg(short, long, value_name = "DIALECT", default_value = "cfn")]
    template_type: String,

    /// How the template is printed: yaml or json
    #[arg(short = 'F', long = "format", value_name = "FORMAT", value_enum, default_value_t)]
    #[arg(hide_possible_values = true)]
    form: TemplateForm,
}

impl TypeTemplate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let template = template_of(client, &self.name, &self.template_type).await;
        let template =
            template.or_not_found(|| format!("Resource Type {} not found.", self.name))?;
        match self.form {
            TemplateForm::Yaml => client.console.line(&yaml(&template, Top::Sorted)),
            TemplateForm::Json => look::document(client, &template),
        }
    }
}

/// Arguments of `heat template-validate`.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    #[command(flatten)]
    template: Template,

    /// Look into nested templates too
    #[arg(short = 'n', long)]
    show_nested: bool,

    /// Codes of errors to overlook, with commas between them
    #[arg(short = 'I', long, value_name = "CODE,CODE")]
    ignore_errors: Option<String>,
}

impl Validate {
    pub(super) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let upload = self.template.gather(client, false).await?;
        let ignore = self.ignore_errors.as_deref();
        let answer: Value =
            orchestration::validate(client, upload, self.show_nested, ignore).await?;
        look::document(client, &answer)
    }
}
