//! How the cloud is reached.

use super::Config;
use super::options::{Flavor, Login};
use crate::streams::Failure;
use kiln_resources::op::{Domain, Outside};
use std::path::Path;

/// Where the users of stacks are, if the operator says so.
pub(super) fn stack_domain(config: &Config) -> Result<Option<Domain>, Failure> {
    let text = |option: &str| config.text("DEFAULT", option);
    Ok(match (text("stack_user_domain_id"), text("stack_user_domain_name")) {
        (Some(id), _) => Some(Domain::Id(id.into())),
        (None, Some(name)) => Some(Domain::Name(name.into())),
        (None, None) => {
            config.flag("kiln", "stack_users_in_projects", false)?.then_some(Domain::Owner)
        }
    })
}

/// The role of the users of stacks.
pub(super) fn stack_user_role(config: &Config) -> String {
    config.text("DEFAULT", "heat_stack_user_role").unwrap_or_else(|| "heat_stack_user".to_owned())
}

/// How those outside reach what is in stacks.
pub(super) fn outside(config: &Config, login: &Login) -> Result<Outside, Failure> {
    let text = |option: &str| config.text("DEFAULT", option).map(Into::into);
    let auth_url = login.www_authenticate_uri.trim_end_matches('/');
    let auth_url = match auth_url.ends_with("/v3") {
        true => auth_url.to_owned(),
        false => format!("{auth_url}/v3"),
    };
    Ok(Outside {
        domain: stack_domain(config)?,
        role: stack_user_role(config).into(),
        auth_url: auth_url.into(),
        region: text("region_name_for_services"),
        waitcondition_url: text("heat_waitcondition_server_url"),
        metadata_url: text("heat_metadata_server_url"),
        watch_url: text("heat_watch_server_url"),
        is_insecure: config.flag("clients", "insecure", false)?,
    })
}

/// Whoever owns the domain of the users of stacks, or makes them where there is none.
fn owner_of_domain(
    config: &Config,
    login: &Login,
) -> Result<Option<kiln_cloud::StackDomain>, Failure> {
    let text = |option: &str| config.text("DEFAULT", option);
    match stack_domain(config)? {
        None => return Ok(None),
        Some(Domain::Owner) => {
            return Ok(Some(kiln_cloud::StackDomain {
                id: None,
                name: login.user_domain.clone(),
                admin: login.username.clone(),
                password: login.password.as_str().into(),
                project: Some((login.project.clone(), login.project_domain.clone())),
            }));
        }
        Some(_) => {}
    }
    let (Some(admin), Some(password)) =
        (text("stack_domain_admin"), text("stack_domain_admin_password"))
    else {
        let message = "a domain for the users of stacks needs stack_domain_admin and \
                       stack_domain_admin_password, too";
        return Err(config.wrong("DEFAULT", "stack_user_domain_name", message));
    };
    let (id, name) = (text("stack_user_domain_id"), text("stack_user_domain_name"));
    let name = name.unwrap_or_default();
    Ok(Some(kiln_cloud::StackDomain { id, name, admin, password: password.into(), project: None }))
}

/// What the options come to; nothing if there is no identity service to ask.
pub(super) fn cloud(
    config: &Config,
    flavor: &Flavor,
    login: &Login,
    calls: usize,
) -> Result<Option<kiln_cloud::Settings>, Failure> {
    if !matches!(flavor, Flavor::Keystone | Flavor::Standalone) {
        return Ok(None);
    }
    let trustee = |option: &str| config.text("trustee", option);
    let password = trustee("password").unwrap_or_else(|| login.password.clone()).into();
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
        stack_domain: owner_of_domain(config, login)?,
        authorities: match config.text("clients", "ca_file") {
            Some(path) => std::fs::read(Path::new(&path)).map_err(|error| {
                config.wrong("clients", "ca_file", &format!("{path} cannot be read: {error}"))
            })?,
            None => Vec::new(),
        },
        is_insecure: config.flag("clients", "insecure", false)?,
        max_calls: calls,
        ..kiln_cloud::Settings::new(auth_url.unwrap_or_else(|| login.auth_url.clone()))
    }))
}
