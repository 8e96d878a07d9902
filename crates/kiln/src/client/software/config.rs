//! Software configurations.

use super::super::Client;
use super::super::error::{ClientError, OrNotFound, Result};
use super::super::format::Listing;
use super::super::format::options::{ListArgs, ShowArgs, ShowFormat};
use super::super::heat::{Query, list, path};
use super::super::stack::delete::undeleted;
use super::super::stack::target::Page;
use super::super::upload::{parsed, text_of};
use clap::{Args, Subcommand};
use kiln_template::print::{self, Keys};
use kiln_template::{Members, Value as Data};
use reqwest::Method;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The default group of a configuration.
pub(crate) const UNGROUPED: &str = "Heat::Ungrouped";

/// `kiln software config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Create a configuration
    Create(ConfigCreate),
    /// List configurations
    List(ConfigList),
    /// Print a configuration
    Show(ConfigShow),
    /// Delete configurations
    Delete(ConfigDelete),
}

/// Arguments of `kiln software config create`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCreate {
    /// Name of the configuration
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// File with the configuration, such as a script
    #[arg(long, value_name = "FILE")]
    pub(crate) config_file: Option<String>,

    /// File with a map of inputs, outputs and options
    #[arg(long, value_name = "FILE")]
    pub(crate) definition_file: Option<String>,

    /// Group of the configuration, such as script
    #[arg(long, value_name = "GROUP", default_value = UNGROUPED)]
    pub(crate) group: String,

    #[command(flatten)]
    pub(crate) output_format: ShowArgs,
}

/// Arguments of `kiln software config list`.
#[derive(Debug, Args)]
pub(crate) struct ConfigList {
    #[command(flatten)]
    page: Page,

    #[command(flatten)]
    output_format: ListArgs,
}

/// Arguments of `kiln software config show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Id of the configuration
    #[arg(value_name = "CONFIG")]
    config: String,

    /// Print the configuration text alone
    #[arg(long)]
    config_only: bool,

    #[command(flatten)]
    output_format: ShowArgs,
}

/// Arguments of `kiln software config delete`.
#[derive(Debug, Args)]
pub(crate) struct ConfigDelete {
    /// Ids of the configurations
    #[arg(value_name = "CONFIG", required = true)]
    pub(crate) configs: Vec<String>,
}

pub(crate) async fn run(subcommand: ConfigCommand, client: &mut Client<'_, '_>) -> Result<()> {
    match subcommand {
        ConfigCommand::Create(create) => {
            let made = create.create(client).await?;
            client.console.raw(&made, &create.output_format, ShowFormat::Json)
        }
        ConfigCommand::List(ConfigList { page, output_format }) => {
            let configs = configs(client, page.limit, page.marker.as_deref()).await?;
            client.console.list(Listing::of(&COLUMNS, &configs), &output_format)
        }
        ConfigCommand::Show(ConfigShow { config, config_only, output_format }) => {
            let config = self::config(client, &config).await?;
            if config_only {
                return client.console.line(config["config"].as_str().unwrap_or_default());
            }
            let keys =
                ["id", "name", "group", "config", "inputs", "outputs", "options", "creation_time"];
            let member =
                |key: &&str| ((*key).to_owned(), config.get(*key).cloned().unwrap_or_default());
            let ordered = Value::Object(keys.iter().map(member).collect::<Map<_, _>>());
            client.console.raw(&ordered, &output_format, ShowFormat::Yaml)
        }
        ConfigCommand::Delete(delete) => delete.run(client).await,
    }
}

impl ConfigCreate {
    /// Has the service validate the configuration, then creates it.
    pub(crate) async fn create(&self, client: &Client<'_, '_>) -> Result<Value> {
        let mut config = Members::new();
        config.insert("group".into(), self.group.as_str().into());
        config.insert("config".into(), "".into());
        if let Some(file) = &self.definition_file {
            let (_, text) = text_of(&client.heat.session, file).await?;
            if let Some(definition) = parsed(&text)?.as_map() {
                config.extend(definition.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
        }
        if let Some(file) = &self.config_file {
            let (_, text) = text_of(&client.heat.session, file).await?;
            config.insert("config".into(), text.into());
        }
        let config = Data::Map(Arc::new(config));
        let resource =
            [("type", "OS::Heat::SoftwareConfig".into()), ("properties", config.clone())];
        let template = Data::map([
            ("heat_template_version", "2013-05-23".into()),
            ("resources", Data::map([(&*self.name, Data::map(resource))])),
        ]);
        send(client, "/validate", &Data::map([("template", template)])).await?;
        let mut body = config.as_map().cloned().unwrap_or_default();
        body.insert("name".into(), self.name.as_str().into());
        let answer = send(client, "/software_configs", &Data::Map(Arc::new(body))).await?;
        Ok(answer["software_config"].clone())
    }
}

async fn send(client: &Client<'_, '_>, path: &str, body: &Data) -> Result<Value> {
    let body = print::json(body, Keys::Ordered);
    client.heat.call(Method::POST, path, Query::new(), Some(body)).await
}

/// Lists configurations.
pub(crate) async fn configs(
    client: &Client<'_, '_>,
    limit: Option<usize>,
    marker: Option<&str>,
) -> Result<Vec<Value>> {
    let mut asked = Query::new();
    asked.extend(limit.map(|limit| ("limit".into(), limit.to_string())));
    asked.extend(marker.map(|marker| ("marker".into(), marker.to_owned())));
    Ok(list(&client.heat.get("/software_configs", asked).await?, "software_configs"))
}

/// The columns of configuration lists.
const COLUMNS: [(&str, &str); 4] =
    [("id", "id"), ("name", "name"), ("group", "group"), ("creation_time", "creation_time")];

/// Reads a configuration.
pub(crate) async fn config(client: &Client<'_, '_>, id: &str) -> Result<Value> {
    let answer = client.heat.get(&path(&["software_configs", id]), Query::new()).await;
    Ok(answer.or_not_found(|| format!("Configuration not found: {id}"))?["software_config"].clone())
}

impl ConfigDelete {
    pub(crate) async fn run(self, client: &mut Client<'_, '_>) -> Result<()> {
        let mut failed = 0;
        for id in &self.configs {
            match client.heat.delete(&path(&["software_configs", id])).await {
                Ok(_) => {}
                Err(problem) => {
                    failed += 1;
                    client
                        .console
                        .line(&told(problem, &format!("Software config with ID {id} not found")))?;
                }
            }
        }
        undeleted(failed, self.configs.len(), "software configs")
    }
}

/// The message for an object that could not be deleted.
pub(super) fn told(problem: ClientError, not_found: &str) -> String {
    if problem.is_not_found() { not_found.to_owned() } else { problem.text }
}
