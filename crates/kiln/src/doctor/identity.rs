//! The identity service, the clock, the service user and its roles, trusts, and the domain of stack users.

use super::finding::Finding;
use super::identity_client::{IdentityService, RequestFailure, ServiceToken};
use crate::config::{ServiceLogin, Settings};
use crate::serving;
use crate::stdio::CommandError;
use jiff::Timestamp;
use kiln_cloud::{EntityRef, StackDomain};
use serde_json::{Value, json};

/// The difference of clocks from which operators are warned, and from which tokens and signatures are refused.
const CLOCK_WARNING_SECS: i64 = 5;
const CLOCK_PROBLEM_SECS: i64 = 60;

/// Roles with which Keystone lets a user validate the tokens of others.
const VALIDATING_ROLES: [&str; 2] = ["admin", "service"];

/// The findings about the identity service, and the token of the service user if it could log in.
pub(super) async fn check(settings: &Settings) -> (Vec<Finding>, Option<ServiceToken>) {
    let login = &settings.login;
    let client = match serving::client(&login.tls) {
        Ok(client) => client,
        Err(error) => return (vec![no_client(error)], None),
    };
    let identity = IdentityService::new(client, &login.auth_url);
    let root = identity.root();
    let version = match identity.version().await {
        Ok(version) => Finding::ok("identity service", format!("{root} is {version}")),
        Err(failure) => {
            let next = "correct [keystone_authtoken] auth_url, or start the identity service; the cloud was not checked";
            let text = format!("{root} {failure}");
            return (vec![Finding::problem("identity service", text, next)], None);
        }
    };
    let mut findings = vec![version];
    let scope = json!({ "project": login.project.json() });
    let token = match identity.log_in(&login.user, &login.password, Some(scope)).await {
        Ok(token) => token,
        Err(failure) => {
            findings.push(refused_user(login, &failure));
            return (findings, None);
        }
    };
    findings.push(clock(&token));
    findings.push(roles(login, &token));
    findings.extend(trusts(settings, &identity, &token).await);
    findings.extend(stack_domain(settings, &identity).await);
    (findings, Some(token))
}

fn no_client(error: CommandError) -> Finding {
    let text = match error {
        CommandError::Usage(message) => message,
        other => format!("{other:?}"),
    };
    Finding::problem(
        "identity service",
        text,
        "correct cafile, certfile and keyfile in [keystone_authtoken]",
    )
}

/// The name of a user or a project.
fn name(entity: &EntityRef) -> &str {
    match entity {
        EntityRef::Id(name)
        | EntityRef::NameInDomainId { name, .. }
        | EntityRef::NameInDomainName { name, .. } => name,
    }
}

fn refused_user(login: &ServiceLogin, failure: &RequestFailure) -> Finding {
    let text = format!(
        "user {} cannot log in to project {}: the identity service {failure}",
        name(&login.user),
        name(&login.project)
    );
    let next = "check username, password, user_domain_name, project_name and project_domain_name in \
                [keystone_authtoken]; docs/install.md creates the user. The cloud was not checked";
    Finding::problem("service user", text, next)
}

fn clock(token: &ServiceToken) -> Finding {
    let Some(date) = token.date else {
        return Finding::skipped("clock", "the identity service does not tell its time");
    };
    let apart = (Timestamp::now().as_second() - date.as_second()).abs();
    let text = format!("{apart} s apart from the clock of the identity service");
    let next = "synchronise the clocks of all machines (`timedatectl set-ntp true`)";
    match apart {
        0..CLOCK_WARNING_SECS => Finding::ok("clock", text),
        CLOCK_WARNING_SECS..CLOCK_PROBLEM_SECS => Finding::warning("clock", text, next),
        _ => Finding::problem("clock", text, next),
    }
}

fn roles(login: &ServiceLogin, token: &ServiceToken) -> Finding {
    let (user, project) = (name(&login.user), name(&login.project));
    let roles = token.roles();
    let text = format!("{user} has the roles {} in project {project}", roles.join(", "));
    if VALIDATING_ROLES.iter().any(|role| roles.contains(role)) {
        return Finding::ok("service user", text);
    }
    let next = format!(
        "give it the role that lets it check the tokens of users: `openstack role add --project {project} --user {user} \
         service`"
    );
    Finding::problem("service user", text, next)
}

/// Whether users can delegate their roles to the engine.
async fn trusts(
    settings: &Settings,
    identity: &IdentityService,
    token: &ServiceToken,
) -> Vec<Finding> {
    let Some(cloud) = &settings.cloud else { return Vec::new() };
    let mut findings = Vec::new();
    if let Some(trustee) = cloud.trustee.as_ref().filter(|it| it.user != settings.login.user) {
        let logged_in = identity.log_in(&trustee.user, trustee.password.expose(), None).await;
        let user = name(&trustee.user);
        findings.push(match logged_in {
            Ok(_) => Finding::ok("trusts", format!("the trustee {user} can log in")),
            Err(failure) => Finding::problem(
                "trusts",
                format!("the trustee {user} cannot log in: the identity service {failure}"),
                "check username, password and user_domain_name in [trustee]",
            ),
        });
    }
    let path = format!("/OS-TRUST/trusts?trustee_user_id={}", token.user());
    findings.push(match identity.get(&path, token).await {
        Ok(_) => Finding::ok("trusts", "the identity service has trusts"),
        Err(RequestFailure::Refused(403, _)) => {
            Finding::skipped("trusts", "the service user may not list them")
        }
        Err(failure) => Finding::problem(
            "trusts",
            format!("the identity service {failure}"),
            "enable trusts in the identity service ([trust] enabled): stacks act for their users by them",
        ),
    });
    for role in &cloud.roles {
        findings
            .extend(missing_role(identity, token, role, "[DEFAULT] trusts_delegated_roles").await);
    }
    findings
}

/// A problem if a role does not exist; nothing if it does, or if the user may not see it.
async fn missing_role(
    identity: &IdentityService,
    token: &ServiceToken,
    role: &str,
    option: &str,
) -> Option<Finding> {
    let listed = identity.get(&format!("/roles?name={role}"), token).await.ok()?;
    let roles = listed.get("roles").and_then(Value::as_array)?;
    roles.is_empty().then(|| {
        let next = format!("create it with `openstack role create {role}`, or correct {option}");
        Finding::problem("roles", format!("{option} names {role}, and there is no such role"), next)
    })
}

/// Whether the domain of stack users can be used.
async fn stack_domain(settings: &Settings, identity: &IdentityService) -> Vec<Finding> {
    const SUBJECT: &str = "stack domain";
    let domain = settings.cloud.as_ref().and_then(|cloud| cloud.stack_domain.as_ref());
    let (domain, admin, password) = match domain {
        None => {
            let next = "for servers that report back, set stack_user_domain_name, stack_domain_admin and \
                        stack_domain_admin_password (docs/guests.md)";
            return vec![Finding::warning(SUBJECT, "there is none", next)];
        }
        Some(StackDomain::Projects { .. }) => {
            return vec![Finding::ok(SUBJECT, "stack users are created in the projects of stacks")];
        }
        Some(StackDomain::Domain { domain, admin, password }) => (domain, admin, password),
    };
    let user = EntityRef::named(admin, domain.clone());
    let scope = json!({ "domain": domain.json() });
    let token = match identity.log_in(&user, password.expose(), Some(scope)).await {
        Ok(token) => token,
        Err(failure) => {
            let text = format!("{admin} cannot log in to it: the identity service {failure}");
            let next = "check stack_user_domain_name, stack_domain_admin and stack_domain_admin_password; \
                        docs/install.md creates them";
            return vec![Finding::problem(SUBJECT, text, next)];
        }
    };
    let mut findings = vec![match token.roles().contains(&"admin") {
        true => Finding::ok(SUBJECT, format!("{admin} administrates it")),
        false => Finding::problem(
            SUBJECT,
            format!("{admin} does not have the role admin in it"),
            format!(
                "`openstack role add --domain DOMAIN --user-domain DOMAIN --user {admin} admin`"
            ),
        ),
    }];
    let role = &settings.api.stack_user_role;
    findings.extend(missing_role(identity, &token, role, "[DEFAULT] heat_stack_user_role").await);
    findings
}
