//! Ansible playbooks.

use super::{config, folder, id, limit, option, outputs_path, report};
use crate::deploy::plan;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::process;
use serde_json::{Map, Value};

/// The options and the arguments for them.
const OPTIONS: [(&str, &str); 3] =
    [("modulepath", "--module-path"), ("skip_tags", "--skip-tags"), ("tags", "--tags")];

pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let default = "/var/lib/heat-config/heat-config-ansible";
    let working = folder(host, "HEAT_ANSIBLE_WORKING", default)?;
    let outputs = outputs_path(host, "HEAT_ANSIBLE_OUTPUTS", "ansible", id)?;
    let playbook = working.join(format!("{id}_playbook.yaml"));
    let variables = working.join(format!("{id}_variables.json"));
    let mut values: Map<String, Value> = plan::inputs(deployment)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    values.insert("heat_config_id".into(), id.into());
    values.insert("heat_outputs_path".into(), outputs.display().to_string().into());
    files::write(&variables, Value::Object(values).to_string().as_bytes(), 0o600)?;
    files::write(&playbook, config(deployment).as_bytes(), 0o600)?;
    let inventory = match option(deployment, "inventory") {
        // A comma makes it a list of hosts; anything else is a file.
        Some(configured) if !configured.contains(',') => {
            working.join(configured).display().to_string()
        }
        Some(configured) => configured.to_owned(),
        None => host.variable("HEAT_ANSIBLE_INVENTORY").unwrap_or("localhost,").to_owned(),
    };
    let program = host.variable("HEAT_ANSIBLE_CMD").unwrap_or("ansible-playbook");
    let mut command = process::program(host, program);
    command.args(["-i", &inventory]);
    for (name, argument) in OPTIONS {
        if let Some(value) = option(deployment, name) {
            command.args([argument, value]);
        }
    }
    command.arg(&playbook).arg("--extra-vars").arg(format!("@{}", variables.display()));
    command.current_dir(&working);
    if let Some(plugins) = option(deployment, "callback_plugins") {
        command.env("ANSIBLE_CALLBACK_PLUGINS", working.join(plugins));
    }
    let ran = process::capture(&mut command, None, limit(deployment))?;
    Ok(report(deployment, Some(&outputs), &ran))
}
