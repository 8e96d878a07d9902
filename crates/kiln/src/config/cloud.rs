//! How the cloud is reached.

use super::Config;
use super::options::{Flavor, Login};
use crate::streams::Failure;
use std::path::Path;

/// What the options come to; nothing if there is no identity service to ask.
pub(super) fn cloud(
    config: &Config,
    flavor: &Flavor,
    login: &Login,
) -> Result<Option<kiln_cloud::Settings>, Failure> {
    if !matches!(flavor, Flavor::Keystone | Flavor::Standalone) {
        return Ok(None);
    }
    let trustee = |option: &str| config.text("trustee", option);
    let password = trustee("password").unwrap_or_else(|| login.password.clone());
    let domain = trustee("user_domain_name").unwrap_or_else(|| login.user_domain.clone());
    let trustee = kiln_cloud::Login {
        user: trustee("username").unwrap_or_else(|| login.username.clone()),
        domain: Some(domain),
        password,
    };
    let auth_url = config.text("clients_keystone", "auth_uri");
    let auth_url = auth_url.or_else(|| config.text("trustee", "auth_url"));
    let endpoint_type = config.text("clients", "endpoint_type");
    Ok(Some(kiln_cloud::Settings {
        region: config.text("DEFAULT", "region_name_for_services"),
        interface: endpoint_type.map_or("public".into(), |kind| kind.replace("URL", "")),
        trustee: Some(trustee),
        roles: config.list("DEFAULT", "trusts_delegated_roles"),
        authorities: match config.text("clients", "ca_file") {
            Some(path) => std::fs::read(Path::new(&path)).map_err(|error| {
                config.wrong("clients", "ca_file", &format!("{path} cannot be read: {error}"))
            })?,
            None => Vec::new(),
        },
        is_insecure: config.flag("clients", "insecure", false)?,
        ..kiln_cloud::Settings::new(auth_url.unwrap_or_else(|| login.auth_url.clone()))
    }))
}
