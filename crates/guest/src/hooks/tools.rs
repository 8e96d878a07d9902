//! Hooks that call another tool of this program.

use super::report;
use crate::error::Result;
use crate::files;
use crate::host::Host;
use crate::process;
use serde_json::{Value, json};

/// Renders the templates of the machine.
pub(super) fn apply_config(host: &Host, deployment: &Value) -> Result<Value> {
    let ran = called(host, "HEAT_APPLY_CONFIG_CMD", "os-apply-config")?;
    Ok(report(deployment, None, &ran))
}

/// Applies the configuration as cfn-init does.
pub(super) fn cfn_init(host: &Host, deployment: &Value) -> Result<Value> {
    let folder = host.path_of("HEAT_CFN_INIT_LAST_METADATA_DIR", "/var/cache/heat-cfntools");
    files::private_folder(&folder)?;
    let config = match &deployment["config"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        config => config.clone(),
    };
    let metadata = json!({ "AWS::CloudFormation::Init": config });
    files::write(&folder.join("last_metadata"), metadata.to_string().as_bytes(), 0o600)?;
    let ran = called(host, "HEAT_CFN_INIT_CMD", "cfn-init")?;
    Ok(report(deployment, None, &ran))
}

/// Runs the program that a variable names, or this program as another tool.
fn called(host: &Host, variable: &str, tool: &str) -> Result<process::Captured> {
    let mut command = match host.variable(variable) {
        Some(other) => process::shell(host, other),
        None => {
            let me =
                std::env::current_exe().map_or("kiln-guest".into(), |it| it.display().to_string());
            let mut command = process::program(host, &me);
            command.arg(tool);
            command
        }
    };
    process::capture(&mut command, None, None)
}
