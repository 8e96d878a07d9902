//! Puppet manifests.

use super::{config, folder, id, limit, option, outputs_path, report};
use crate::deploy::plan;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::json::{self, Style};
use crate::process;
use serde_json::{Map, Value};

pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let default = "/var/lib/heat-config/heat-config-puppet";
    let working = folder(host, "HEAT_PUPPET_WORKING", default)?;
    let outputs = outputs_path(host, "HEAT_PUPPET_OUTPUTS", "puppet", id)?;
    let options = &deployment["options"];
    let is_set = |name: &str| json::is_true(options.get(name));
    let manifest = working.join(format!("{id}.pp"));
    files::write(&manifest, config(deployment).as_bytes(), 0o700)?;
    let mut command = process::program(host, host.variable("HEAT_PUPPET_CMD").unwrap_or("puppet"));
    command.env("FACTER_heat_outputs_path", &outputs);
    if let Some(name) = fqdn(host) {
        command.env("FACTER_fqdn", name);
    }
    if options.get("enable_facter").is_none_or(|value| json::is_true(Some(value))) {
        for (name, value) in plan::inputs(deployment) {
            command.env(format!("FACTER_{name}"), json::plain(value).replace('\0', ""));
        }
    }
    if is_set("enable_hiera") {
        let name = json::text(deployment, "name").unwrap_or(id);
        let folder = host.path_of("HEAT_PUPPET_HIERA_DATADIR", "/etc/puppet/hieradata");
        files::folder(&folder, 0o755)?;
        let data: Map<String, Value> = plan::inputs(deployment)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let path = files::inside(&folder, &format!("heat_config_{name}.json"))?;
        files::write(&path, json::print(&data.into(), Style::Sorted(4)).as_bytes(), 0o600)?;
        command.env("FACTER_deploy_config_name", name);
    }
    command.args(["apply", "--color", "false", "--detailed-exitcodes", "--logdest", "console"]);
    for (name, argument) in [("modulepath", "--modulepath"), ("tags", "--tags")] {
        if let Some(value) = option(deployment, name) {
            command.args([argument, value]);
        }
    }
    for (name, argument, file) in [
        ("enable_debug", "--debug", "/var/log/puppet/heat-debug.log"),
        ("enable_verbose", "--verbose", "/var/log/puppet/heat-verbose.log"),
    ] {
        if is_set(name) {
            command.arg(argument).arg("--logdest").arg(host.path(file));
        }
    }
    command.arg(&manifest);
    let mut ran = process::capture(&mut command, None, limit(deployment))?;
    keep(host, deployment, id, &ran)?;
    if ran.status == 2 {
        // Status 2 means that Puppet has changed something successfully.
        ran.status = 0;
    }
    Ok(report(deployment, Some(&outputs), &ran))
}

/// Stores the output.
fn keep(host: &Host, deployment: &Value, id: &str, ran: &process::Captured) -> Result<()> {
    let folder = host.path_of("HEAT_PUPPET_LOGDIR", "/var/run/heat-config/deployed");
    files::private_folder(&folder)?;
    let time = json::text(deployment, "creation_time").unwrap_or("unknown").replace('/', "-");
    for (text, name) in [(&ran.out, "stdout"), (&ran.err, "stderr")] {
        let path = folder.join(format!("{time}-{id}-{name}.log"));
        files::write(&path, text.as_bytes(), 0o600)?;
    }
    Ok(())
}

fn fqdn(host: &Host) -> Option<String> {
    let mut command = process::program(host, "hostname");
    let output = process::capture(command.arg("-f"), None, None).ok()?;
    Some(output.out.trim().to_owned()).filter(|name| !name.is_empty())
}
