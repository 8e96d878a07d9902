//! Salt states, applied without a master.

use super::{id, limit, report};
use crate::deploy::plan;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::process;
use serde_json::{Map, Value};

pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let working =
        super::folder(host, "HEAT_SALT_WORKING", "/var/lib/heat-config/heat-config-salt")?;
    // JSON is YAML, so a map needs no conversion.
    let states = json::plain(&deployment["config"]);
    files::write(&working.join(format!("{id}.sls")), states.as_bytes(), 0o600)?;
    let values: Map<String, Value> = plan::inputs(deployment)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let known = files::text(&host.path_of("SALT_MINION_CONFIG", "/etc/salt/minion"));
    let mut minion = known.unwrap_or_default();
    minion.push_str("\nfile_client: local\n");
    minion.push_str(&format!(
        "file_roots: {{base: [{}]}}\n",
        Value::from(working.display().to_string())
    ));
    for (name, value) in &values {
        minion.push_str(&format!("{}: {value}\n", Value::from(name.as_str())));
    }
    let folder = working.join("config");
    files::private_folder(&folder)?;
    files::write(&folder.join("minion"), minion.as_bytes(), 0o600)?;
    let mut command = process::program(host, "salt-call");
    command.args(["--local", "--retcode-passthrough", "--out=yaml", "--config-dir"]);
    command.arg(&folder).args(["state.sls", id]);
    let ran = process::capture(&mut command, None, limit(deployment))?;
    Ok(report(deployment, None, &ran))
}
