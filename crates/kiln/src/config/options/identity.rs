//! Options of authentication: how callers are known, and where tokens and signatures are checked.

use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::config::{Flavor, ServiceLogin};
use crate::stdio::CommandError;
use std::path::PathBuf;
use std::time::Duration;

/// The section of the services that check signatures.
pub(in crate::config) const SIGNATURES: &str = "ec2authtoken";

const CLOUDS: OptionKey = (SIGNATURES, "clouds");
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
    username: String,
    password: Option<String>,
    project: String,
    user_domain: String,
    project_domain: String,
    cache_seconds: Option<u64>,
    service_token_roles: Vec<String>,
    is_multi_cloud: bool,
    allowed_auth_uris: Vec<String>,
    signatures: SignatureOptions,
}

/// The values of one service that checks signatures.
#[derive(Default)]
struct SignatureOptions {
    is_multi_cloud: bool,
    clouds: Vec<String>,
    auth_url: Option<String>,
    username: Option<String>,
    password: Option<String>,
    project: Option<String>,
    user_domain: Option<String>,
    project_domain: Option<String>,
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
        "ec2authtoken",
        "auth_url",
        "The identity service that checks signatures; the one that checks tokens if not set.",
        Setting::Url(None, |it| &mut it.identity.signatures.auth_url),
    ),
    OptionRow::new(
        "ec2authtoken",
        "clouds",
        "Names of identity services, each with a section [ec2authtoken.NAME] with the options of this one.",
        Setting::List(&[], |it| &mut it.identity.signatures.clouds),
    ),
    OptionRow::new(
        "ec2authtoken",
        "multi_cloud",
        "Whether the identity services of clouds check signatures, in that order.",
        Setting::Flag(false, |it| &mut it.identity.signatures.is_multi_cloud),
    ),
    OptionRow::new(
        "ec2authtoken",
        "password",
        "The password of the service user there; as for tokens if not set.",
        Setting::Password(|it| &mut it.identity.signatures.password),
    ),
    OptionRow::new(
        "ec2authtoken",
        "project_domain_name",
        "The domain of the service project there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.identity.signatures.project_domain),
    ),
    OptionRow::new(
        "ec2authtoken",
        "project_name",
        "The service project there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.identity.signatures.project),
    ),
    OptionRow::new(
        "ec2authtoken",
        "user_domain_name",
        "The domain of the service user there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.identity.signatures.user_domain),
    ),
    OptionRow::new(
        "ec2authtoken",
        "username",
        "The service user there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.identity.signatures.username),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "auth_url",
        "The URL of the identity service.",
        Setting::Text("http://127.0.0.1:5000", |it| &mut it.identity.auth_url),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "password",
        "The password of the service user.",
        Setting::Password(|it| &mut it.identity.password),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_domain_name",
        "The domain of the service project.",
        Setting::Text("Default", |it| &mut it.identity.project_domain),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "project_name",
        "The project of the service user.",
        Setting::Text("service", |it| &mut it.identity.project),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "service_token_roles",
        "Roles of a service token that make an expired user token acceptable.",
        Setting::List(&["service"], |it| &mut it.identity.service_token_roles),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "token_cache_time",
        "Seconds for which a validated token is cached; -1 or 0 for no cache.",
        Setting::Limit(Some(300), |it| &mut it.identity.cache_seconds),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "user_domain_name",
        "The domain of the service user.",
        Setting::Text("Default", |it| &mut it.identity.user_domain),
    ),
    OptionRow::new(
        "keystone_authtoken",
        "username",
        "The service user.",
        Setting::Text("heat", |it| &mut it.identity.username),
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
    pub(in crate::config) fn login(&self) -> ServiceLogin {
        let uri = self.www_authenticate_uri.as_ref().unwrap_or(&self.auth_url);
        ServiceLogin {
            www_authenticate_uri: uri.clone(),
            auth_url: self.auth_url.clone(),
            username: self.username.clone(),
            password: self.password.clone().unwrap_or_default(),
            project: self.project.clone(),
            user_domain: self.user_domain.clone(),
            project_domain: self.project_domain.clone(),
            choice: self.is_multi_cloud.then(|| self.allowed_auth_uris.clone()),
            cache: Duration::from_secs(self.cache_seconds.unwrap_or(0)),
            service_token_roles: self.service_token_roles.clone(),
        }
    }

    /// The identity services that check signatures, in the order in which they are asked; `None` if it is the one that
    /// checks tokens.
    pub(in crate::config) fn examiners(
        &self,
        file: &ConfigFile,
        flavor: &Flavor,
        login: &ServiceLogin,
    ) -> Result<Option<Vec<ServiceLogin>>, CommandError> {
        if self.signatures.is_multi_cloud {
            let clouds = self.signatures.clouds.iter();
            return clouds
                .map(|name| examiner(file, name, login))
                .collect::<Result<_, _>>()
                .map(Some);
        }
        Ok(match (self.signatures.login(login), flavor) {
            (Some(login), _) => Some(vec![login]),
            // The standalone flavor has no service that checks tokens.
            (None, Flavor::Standalone) => Some(vec![login.clone()]),
            (None, _) => None,
        })
    }
}

/// The identity service of a section `[ec2authtoken.NAME]`.
fn examiner(
    file: &ConfigFile,
    name: &str,
    login: &ServiceLogin,
) -> Result<ServiceLogin, CommandError> {
    let section = format!("{SIGNATURES}.{name}");
    let options = file.options_as(SIGNATURES, &section)?;
    options.identity.signatures.login(login).ok_or_else(|| {
        let message = format!("{name} needs a section [{section}] with its auth_url");
        file.error_at(CLOUDS, &message)
    })
}

impl SignatureOptions {
    /// The login there, with the values for tokens as defaults; `None` without an `auth_url`.
    fn login(&self, login: &ServiceLogin) -> Option<ServiceLogin> {
        let or =
            |value: &Option<String>, default: &String| value.as_ref().unwrap_or(default).clone();
        Some(ServiceLogin {
            auth_url: self.auth_url.clone()?,
            username: or(&self.username, &login.username),
            password: or(&self.password, &login.password),
            project: or(&self.project, &login.project),
            user_domain: or(&self.user_domain, &login.user_domain),
            project_domain: or(&self.project_domain, &login.project_domain),
            ..login.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{ConfigFile, Settings};

    fn urls(text: &str) -> Option<Vec<(String, String)>> {
        let settings = Settings::from_file(&ConfigFile::parse(text).unwrap()).unwrap();
        let examiners = settings.examiners?;
        Some(examiners.into_iter().map(|it| (it.auth_url, it.username)).collect())
    }

    #[test]
    fn signatures_are_examined_where_the_file_says() {
        assert_eq!(urls(""), None);
        let token = "[keystone_authtoken]\nauth_url = http://a\nusername = kiln\n";
        let standalone = format!("{token}[paste_deploy]\nflavor = standalone\n");
        assert_eq!(urls(&standalone), Some(vec![("http://a".into(), "kiln".into())]));
        let apart = format!("{token}[ec2authtoken]\nauth_url = http://b\n");
        assert_eq!(urls(&apart), Some(vec![("http://b".into(), "kiln".into())]));
        let several = format!(
            "{token}[ec2authtoken]\nmulti_cloud = true\nclouds = one, two\n\
             [ec2authtoken.one]\nauth_url = http://1\n[ec2authtoken.two]\nauth_url = http://2\nusername = u\n"
        );
        let both = [("http://1".into(), "kiln".into()), ("http://2".into(), "u".into())];
        assert_eq!(urls(&several), Some(both.to_vec()));
        assert_eq!(urls("[ec2authtoken]\nmulti_cloud = true\n"), Some(Vec::new()));
        let wrong =
            ConfigFile::parse("[ec2authtoken]\nmulti_cloud = true\nclouds = one\n").unwrap();
        assert!(Settings::from_file(&wrong).is_err());
    }
}
