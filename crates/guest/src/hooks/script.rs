//! Scripts: the configuration is executed with its inputs as environment variables.

use super::{config, folder, id, limit, outputs_path, report};
use crate::deploy::plan;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::process;
use serde_json::Value;

/// Variables that affect every program; an input with such a name may be a mistake.
const SURPRISING: [&str; 4] = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "IFS"];

pub(super) fn run(host: &Host, deployment: &Value) -> Result<Value> {
    let id = id(deployment)?;
    let working = folder(host, "HEAT_SCRIPT_WORKING", "/var/lib/heat-config/heat-config-script")?;
    let outputs = outputs_path(host, "HEAT_SCRIPT_OUTPUTS", "script", id)?;
    let script = working.join(id);
    files::write(&script, config(deployment).as_bytes(), 0o700)?;
    let mut command = process::program(host, &script.display().to_string());
    command.current_dir(&working);
    for (name, value) in plan::inputs(deployment) {
        if name.is_empty() || name.contains(['=', '\0']) {
            host.warn(format!("input {name:?} is not a valid environment variable name"));
            continue;
        }
        if SURPRISING.contains(&name) {
            host.warn(format!("input {name} overrides an environment variable of the system"));
        }
        // A variable cannot contain a zero byte.
        command.env(name, json::plain(value).replace('\0', ""));
    }
    command.env("heat_outputs_path", &outputs);
    let ran = match process::capture(&mut command, None, limit(deployment)) {
        Ok(ran) => ran,
        // A text without a shebang line is run by the shell.
        Err(error) if config(deployment).starts_with("#!") => {
            let err = format!("{error}\n");
            process::Captured { status: 127, out: String::new(), err }
        }
        Err(_) => {
            let mut shell = process::program(host, "/bin/sh");
            shell.arg(&script).current_dir(&working);
            let variables: Vec<_> = command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
                .collect();
            for (name, value) in variables {
                if let Some(value) = value {
                    shell.env(name, value);
                }
            }
            process::capture(&mut shell, None, limit(deployment))?
        }
    };
    Ok(report(deployment, Some(&outputs), &ran))
}
