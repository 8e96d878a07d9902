//! Scripts: the configuration is run, its inputs are variables.

use super::{config, folder, id, limit, outputs_path, report};
use crate::deploy::plan;
use crate::files;
use crate::host::Host;
use crate::json;
use crate::problem::Result;
use crate::process;
use serde_json::Value;

/// Variables that change how every program runs: somebody may not have meant that.
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
            host.warn(format!("input {name:?} cannot be a variable"));
            continue;
        }
        if SURPRISING.contains(&name) {
            host.warn(format!("input {name} takes the place of a variable of the system"));
        }
        // Variables end where a zero is.
        command.env(name, json::plain(value).replace('\0', ""));
    }
    command.env("heat_outputs_path", &outputs);
    let ran = match process::caught(&mut command, None, limit(deployment)) {
        Ok(ran) => ran,
        // A text without a first line that says how to run it is for the shell, as others run it.
        Err(problem) if config(deployment).starts_with("#!") => {
            let err = format!("{problem}\n");
            process::Caught { status: 127, out: String::new(), err }
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
            process::caught(&mut shell, None, limit(deployment))?
        }
    };
    Ok(report(deployment, Some(&outputs), &ran))
}
