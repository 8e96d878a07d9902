//! Options of authentication: how callers are known, and where tokens are checked.

use super::login::{EntityOptions, TlsKeys, TlsOptions, in_default_domain};
use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::config::{Flavor, ServiceLogin};
use crate::stdio::CommandError;
use std::path::PathBuf;
use std::time::Duration;

/// The files of the connection to the identity service.
const TLS_KEYS: TlsKeys = TlsKeys {
    ca_file: ("keystone_authtoken", "cafile"),
    cert_file: ("keystone_authtoken", "certfile"),
    key_file: ("keystone_authtoken", "keyfile"),
};

const FLAVOR: OptionKey = ("paste_deploy", "flavor");

/// The values.
#[derive(Default)]
pub(in crate::config) struct IdentityOptions {
    flavor: String,
    backend: Option<String>,
    backend_roles: Vec<String>,
    token_response: Option<PathBuf>,
    auth_url: String,
    www_authenticate_uri: Option<String>,
    user: EntityOptions,
    password: Option<String>,
    project: EntityOptions,
    tls: TlsOptions,
    cache_seconds: Option<u64>,
    service_token_roles: Vec<String>,
    service_token_roles_required: bool,
    is_multi_cloud: bool,
    allowed_auth_uris: Vec<String>,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "auth_password",
        "allowed_auth_uris",
        "The identity services that clients may choose, with multi_cloud.",
        Setting::List(&[], |it| &mut it.identity.allowed_auth_uris),
    ),
    OptionRow::new(
        "auth_password",
        "multi_cloud",
        "Whether clients choose the identity service of each request.",
        Setting::Flag(false, |it| &mut it.identity.is_multi_cloud),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "auth_url",
        "The URL of the identity service.",
        Setting::Text("http://127.0.0.1:5000", |it| &mut it.identity.auth_url),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "cafile",
        "The CA certificates to trust in calls to the identity service, in PEM format.",
        Setting::File(None, |it| &mut it.identity.tls.ca_file),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "certfile",
        "The certificate of Kiln for calls to the identity service, in PEM format.",
        Setting::File(None, |it| &mut it.identity.tls.cert_file),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "insecure",
        "Whether the TLS certificate of the identity service is not verified.",
        Setting::MaybeFlag(|it| &mut it.identity.tls.insecure),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "keyfile",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.identity.tls.key_file),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "password",
        "The password of the service user.",
        Setting::Password(|it| &mut it.identity.password),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_domain_id",
        "The id of the domain of the service project.",
        Setting::MaybeText(|it| &mut it.identity.project.domain_id),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_domain_name",
        "The domain of the service project, if its id is not set; Default without either.",
        Setting::MaybeText(|it| &mut it.identity.project.domain_name),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_id",
        "The id of the project of the service user.",
        Setting::MaybeText(|it| &mut it.identity.project.id),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_name",
        "The project of the service user, if its id is not set; service without either.",
        Setting::MaybeText(|it| &mut it.identity.project.name),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "service_token_roles",
        "Roles of a service token that make an expired user token acceptable.",
        Setting::List(&["service"], |it| &mut it.identity.service_token_roles),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "service_token_roles_required",
        "Whether a service token without one of these roles is refused.",
        Setting::Flag(true, |it| &mut it.identity.service_token_roles_required),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "token_cache_time",
        "Seconds for which a validated token is cached; -1 or 0 for no cache.",
        Setting::Limit(Some(300), |it| &mut it.identity.cache_seconds),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "user_domain_id",
        "The id of the domain of the service user.",
        Setting::MaybeText(|it| &mut it.identity.user.domain_id),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "user_domain_name",
        "The domain of the service user, if its id is not set; Default without either.",
        Setting::MaybeText(|it| &mut it.identity.user.domain_name),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "user_id",
        "The id of the service user.",
        Setting::MaybeText(|it| &mut it.identity.user.id),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "username",
        "The service user, if the id is not set; heat without either.",
        Setting::MaybeText(|it| &mut it.identity.user.name),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "www_authenticate_uri",
        "The identity service that clients are referred to; auth_url if not set.",
        Setting::Url(None, |it| &mut it.identity.www_authenticate_uri),
    ),
    OptionRow::new(
        "kiln",
        "auth_backend",
        "The URL of the program that authenticates callers, with the flavor custombackend.",
        Setting::Url(None, |it| &mut it.identity.backend),
    ),
    OptionRow::new(
        "kiln",
        "auth_backend_roles",
        "The roles of the callers that this program accepts.",
        Setting::List(&["member", "reader"], |it| &mut it.identity.backend_roles),
    ),
    OptionRow::new(
        "noauth",
        "token_response",
        "A file with the token response of an identity service, with the flavor noauth.",
        Setting::File(None, |it| &mut it.identity.token_response),
    ),
    OptionRow::new(
        "paste_deploy",
        "flavor",
        "How callers are authenticated: by tokens (keystone), passwords (standalone), a program (custombackend) or not at all (noauth).",
        Setting::Choice("", &["", "keystone", "standalone", "custombackend", "noauth"], |it| {
            &mut it.identity.flavor
        }),
    ),
];

impl IdentityOptions {
    /// How callers are authenticated.
    pub(in crate::config) fn flavor(&self, file: &ConfigFile) -> Result<Flavor, CommandError> {
        Ok(match self.flavor.as_str() {
            "standalone" => Flavor::Standalone,
            "custombackend" => {
                let Some(url) = &self.backend else {
                    let message = "custombackend needs the URL of a program in [kiln] auth_backend";
                    return Err(file.error_at(FLAVOR, message));
                };
                Flavor::Custom(url.clone(), self.backend_roles.clone())
            }
            "noauth" => Flavor::NoAuth(self.token_response.clone()),
            _ => Flavor::Keystone,
        })
    }

    /// The login of the service user.
    pub(in crate::config) fn login(&self, file: &ConfigFile) -> Result<ServiceLogin, CommandError> {
        let uri = self.www_authenticate_uri.as_ref().unwrap_or(&self.auth_url);
        Ok(ServiceLogin {
            www_authenticate_uri: uri.clone(),
            auth_url: self.auth_url.clone(),
            user: self.user.or(&in_default_domain("heat")),
            password: self.password.clone().unwrap_or_default(),
            project: self.project.or(&in_default_domain("service")),
            tls: self.tls.settings(file, &TLS_KEYS)?,
            choice: self.is_multi_cloud.then(|| self.allowed_auth_uris.clone()),
            cache: Duration::from_secs(self.cache_seconds.unwrap_or(0)),
            service_token_roles: self.service_token_roles.clone(),
            service_token_roles_required: self.service_token_roles_required,
        })
    }
}
