//! Chef run lists, with the kitchen that they use.

use super::{action, config, folder, id, limit, option, outputs_path, report};
use crate::deploy::plan;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::json::{self, Style};
use crate::process::{self, Captured};
use serde_json::{Map, Value};
use std::path::Path;

pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let working = folder(host, "HEAT_CHEF_WORKING", "/var/lib/heat-config/heat-config-chef")?;
    let outputs = outputs_path(host, "HEAT_CHEF_OUTPUTS", "chef", id)?;
    let kitchen = match option(deployment, "kitchen_path") {
        Some(configured) => host.path(configured),
        None => working.join("kitchen"),
    };
    if let Some(failed) = prepare(host, deployment, &kitchen)? {
        return Ok(report(deployment, None, &failed));
    }
    let run_list: Value = serde_json::from_str(&config(deployment))
        .map_err(|error| GuestError::new(format!("the run list is not valid JSON: {error}")))?;
    let mut node: Map<String, Value> = plan::inputs(deployment)
        .into_iter()
        .filter(|(name, _)| !name.starts_with("deploy_") && *name != "environment")
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    node.insert("run_list".into(), run_list);
    let environment = plan::input(deployment, "environment").unwrap_or_else(|| "_default".into());
    let name = "localhost";
    let nodes = working.join("node");
    files::private_folder(&nodes)?;
    let node_file = nodes.join(format!("{name}.json"));
    files::write(&node_file, json::print(&node.into(), Style::Sorted(4)).as_bytes(), 0o600)?;
    let config = format!(
        "log_level :debug\nlog_location STDOUT\nlocal_mode true\nchef_zero.enabled true\n\
         cookbook_path {:?}\nrole_path {:?}\nenvironment_path {:?}\nnode_path {:?}\n\
         node_name {name:?}\nenvironment {environment:?}\n",
        kitchen.join("cookbooks"),
        kitchen.join("roles"),
        kitchen.join("environments"),
        nodes
    );
    let client = working.join("client.rb");
    files::write(&client, config.as_bytes(), 0o600)?;
    let mut command = process::program(host, "chef-client");
    command.args(["-z", "--config"]).arg(&client).arg("-j").arg(&node_file);
    command.current_dir(&kitchen).env("heat_outputs_path", &outputs);
    let ran = process::capture(&mut command, None, limit(deployment))?;
    Ok(report(deployment, Some(&outputs), &ran))
}

/// Fetches the kitchen. Returns the failed program, if any.
fn prepare(host: &Host, deployment: &Value, kitchen: &Path) -> Result<Option<Captured>> {
    let Some(url) = option(deployment, "kitchen") else {
        files::private_folder(kitchen)?;
        return Ok(None);
    };
    if action(deployment) == "UPDATE" && kitchen.exists() {
        std::fs::remove_dir_all(kitchen).map_err(|error| GuestError::at(kitchen, error))?;
    }
    if kitchen.exists() {
        return Ok(None);
    }
    let mut command = process::program(host, "git");
    let output = process::capture(command.args(["clone", "--", url]).arg(kitchen), None, None)?;
    Ok((output.status != 0).then_some(output))
}
