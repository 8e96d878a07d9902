//! How callers are authenticated, according to the configuration.

use crate::config::{Flavor, ServiceLogin, Settings, Socket};
use crate::serving;
use crate::stdio::CommandError;
use kiln_api::auth::{
    self, AuthScope, Authenticator, Custom, Login, NoAuth, Password, SignatureAuth,
};
use kiln_cloud::Tls;
use kiln_engine::now;
use kiln_template::Secret;
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The time for which a password login is cached in the standalone pipeline.
const LOGIN_REMEMBERED: Duration = Duration::from_secs(10);

/// The authenticator of requests.
pub(super) fn authenticator(settings: &Settings) -> Result<Arc<dyn Authenticator>, CommandError> {
    let others = by_flavor(settings)?;
    let Some(examiners) = &settings.examiners else { return Ok(others) };
    let mut signed = SignatureAuth::beside(others);
    for login in examiners {
        let identity = auth::IdentityClient::new(serving::client(&login.tls)?, &login.auth_url);
        let url = format!("{}/v3", login.auth_url.trim_end_matches('/').trim_end_matches("/v3"));
        signed = signed.asking(identity, own(login), &url, Arc::new(now));
    }
    Ok(Arc::new(signed))
}

/// The login of the service user.
fn own(login: &ServiceLogin) -> Login {
    Login {
        user: login.user.clone(),
        password: Secret::new(login.password.as_str().into()),
        scope: AuthScope::Project(login.project.clone()),
    }
}

/// The authenticator of requests without signatures.
fn by_flavor(settings: &Settings) -> Result<Arc<dyn Authenticator>, CommandError> {
    let login = &settings.login;
    match &settings.flavor {
        Flavor::Keystone => {
            let rules = auth::Settings {
                www_authenticate_uri: login.www_authenticate_uri.clone(),
                auth_url: chosen(login, format!("{}/v3", login.auth_url)),
                cache_time: login.cache,
                service_token_roles: login.service_token_roles.clone(),
                service_token_roles_required: login.service_token_roles_required,
                ..auth::Settings::default()
            };
            Ok(serving::keystone(&login.auth_url, &login.tls, own(login), rules)?)
        }
        Flavor::Standalone => {
            let identity = auth::IdentityClient::new(serving::client(&login.tls)?, &login.auth_url);
            let url = chosen(login, login.auth_url.clone());
            let password = Password::new(identity, url, LOGIN_REMEMBERED, Arc::new(now));
            let failed =
                |error| CommandError::usage(format!("no random numbers are available: {error}"));
            Ok(Arc::new(password.map_err(failed)?))
        }
        Flavor::Custom(url, roles) => {
            let client = serving::client(&Tls::default())?;
            let backend = serving::HttpBackend { client, url: url.clone() };
            Ok(Arc::new(Custom::new(Arc::new(backend), roles.clone())))
        }
        Flavor::NoAuth(described) => {
            if let Some(socket) = exposed_socket(settings) {
                return Err(CommandError::usage(format!(
                    "[paste_deploy] flavor is noauth, which lets everybody do everything: it is for \
                     127.0.0.1 alone; set [{}] bind_host to that, or choose another flavor",
                    socket.section
                )));
            }
            let described = described.as_deref().map(described_token).transpose()?;
            Ok(Arc::new(NoAuth::new(described.as_ref())))
        }
    }
}

/// An API that other machines can reach.
fn exposed_socket(settings: &Settings) -> Option<&Socket> {
    let served = [
        (settings.has_api, &settings.native),
        (settings.has_cfn, &settings.cfn),
        (settings.has_cloudwatch, &settings.cloudwatch),
    ];
    let is_open =
        |socket: &Socket| !["127.0.0.1", "::1", "localhost"].contains(&socket.host.as_str());
    served
        .into_iter()
        .find(|(is_served, socket)| *is_served && is_open(socket))
        .map(|(_, socket)| socket)
}

/// The identity service of requests: the configured one, or one that the client chooses.
fn chosen(login: &ServiceLogin, ours: String) -> auth::AuthUrl {
    auth::AuthUrl {
        configured: ours,
        multi_cloud: login.choice.is_some(),
        allowed: login.choice.clone().unwrap_or_default(),
    }
}

/// Reads a token response of an identity service from a file.
fn described_token(path: &Path) -> Result<Json, CommandError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::usage(format!("cannot read {shown}: {error}")))?;
    serde_json::from_str(&text)
        .map_err(|error| CommandError::usage(format!("{shown} is not valid JSON: {error}")))
}
