//! Options of signatures: the identity services that check the requests of AWS clients.

use super::login::{EntityOptions, TlsKeys, TlsOptions};
use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::config::{Flavor, ServiceLogin};
use crate::stdio::CommandError;

/// The section of the services that check signatures.
pub(in crate::config) const SIGNATURES: &str = "ec2authtoken";

const CLOUDS: OptionKey = (SIGNATURES, "clouds");

/// The files of the connection to such a service.
const TLS_KEYS: TlsKeys = TlsKeys {
    ca_file: (SIGNATURES, "cafile"),
    cert_file: (SIGNATURES, "certfile"),
    key_file: (SIGNATURES, "keyfile"),
};

/// The values of one service that checks signatures.
#[derive(Default)]
pub(in crate::config) struct SignatureOptions {
    is_multi_cloud: bool,
    clouds: Vec<String>,
    allowed_auth_uris: Vec<String>,
    auth_url: Option<String>,
    endpoint: Option<String>,
    user: EntityOptions,
    password: Option<String>,
    project: EntityOptions,
    tls: TlsOptions,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        SIGNATURES,
        "allowed_auth_uris",
        "The identity services that check signatures with multi_cloud, with the login of this section, after those of clouds.",
        Setting::List(&[], |it| &mut it.signatures.allowed_auth_uris),
    ),
    OptionRow::new(
        SIGNATURES,
        "auth_url",
        "The identity service that checks signatures; the one that checks tokens if not set.",
        Setting::Url(None, |it| &mut it.signatures.auth_url),
    )
    .formerly(&[(SIGNATURES, "auth_uri")]),
    OptionRow::new(
        SIGNATURES,
        "cafile",
        "The CA certificates to trust in calls to the identity service there, in PEM format; as for tokens if not set.",
        Setting::File(None, |it| &mut it.signatures.tls.ca_file),
    ),
    OptionRow::new(
        SIGNATURES,
        "certfile",
        "The certificate of Kiln there, in PEM format; as for tokens if not set.",
        Setting::File(None, |it| &mut it.signatures.tls.cert_file),
    ),
    OptionRow::new(
        SIGNATURES,
        "clouds",
        "Names of identity services, each with a section [ec2authtoken.NAME] with the options of this one.",
        Setting::List(&[], |it| &mut it.signatures.clouds),
    ),
    OptionRow::new(
        SIGNATURES,
        "endpoint_override",
        "The URL to which signatures are sent; that of auth_url if not set.",
        Setting::Url(None, |it| &mut it.signatures.endpoint),
    ),
    OptionRow::new(
        SIGNATURES,
        "insecure",
        "Whether the TLS certificate of the identity service there is not verified; as for tokens if not set.",
        Setting::MaybeFlag(|it| &mut it.signatures.tls.insecure),
    ),
    OptionRow::new(
        SIGNATURES,
        "keyfile",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.signatures.tls.key_file),
    ),
    OptionRow::new(
        SIGNATURES,
        "multi_cloud",
        "Whether the identity services of clouds check signatures, in that order.",
        Setting::Flag(false, |it| &mut it.signatures.is_multi_cloud),
    ),
    OptionRow::new(
        SIGNATURES,
        "password",
        "The password of the service user there; as for tokens if not set.",
        Setting::Password(|it| &mut it.signatures.password),
    ),
    OptionRow::new(
        SIGNATURES,
        "project_domain_id",
        "The id of the domain of the service project there.",
        Setting::MaybeText(|it| &mut it.signatures.project.domain_id),
    ),
    OptionRow::new(
        SIGNATURES,
        "project_domain_name",
        "The domain of the service project there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.signatures.project.domain_name),
    ),
    OptionRow::new(
        SIGNATURES,
        "project_id",
        "The id of the service project there.",
        Setting::MaybeText(|it| &mut it.signatures.project.id),
    ),
    OptionRow::new(
        SIGNATURES,
        "project_name",
        "The service project there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.signatures.project.name),
    ),
    OptionRow::new(
        SIGNATURES,
        "user_domain_id",
        "The id of the domain of the service user there.",
        Setting::MaybeText(|it| &mut it.signatures.user.domain_id),
    ),
    OptionRow::new(
        SIGNATURES,
        "user_domain_name",
        "The domain of the service user there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.signatures.user.domain_name),
    ),
    OptionRow::new(
        SIGNATURES,
        "user_id",
        "The id of the service user there.",
        Setting::MaybeText(|it| &mut it.signatures.user.id),
    ),
    OptionRow::new(
        SIGNATURES,
        "username",
        "The service user there; as for tokens if not set.",
        Setting::MaybeText(|it| &mut it.signatures.user.name),
    ),
];

impl SignatureOptions {
    /// The identity services that check signatures, in the order in which they are asked; `None` if it is the one that
    /// checks tokens.
    pub(in crate::config) fn examiners(
        &self,
        file: &ConfigFile,
        flavor: &Flavor,
        login: &ServiceLogin,
    ) -> Result<Option<Vec<ServiceLogin>>, CommandError> {
        if self.is_multi_cloud {
            let clouds = self.clouds.iter().map(|name| examiner(file, name, login));
            let allowed = self.allowed_auth_uris.iter().map(|url| self.login_at(file, url, login));
            return clouds.chain(allowed).collect::<Result<_, _>>().map(Some);
        }
        Ok(match (self.login(file, login)?, flavor) {
            (Some(login), _) => Some(vec![login]),
            // The standalone flavor has no service that checks tokens.
            (None, Flavor::Standalone) => Some(vec![login.clone()]),
            (None, _) => None,
        })
    }

    /// The login there, with the values for tokens as defaults; `None` without a URL.
    fn login(
        &self,
        file: &ConfigFile,
        login: &ServiceLogin,
    ) -> Result<Option<ServiceLogin>, CommandError> {
        let url = self.endpoint.as_ref().or(self.auth_url.as_ref());
        url.map(|url| self.login_at(file, url, login)).transpose()
    }

    fn login_at(
        &self,
        file: &ConfigFile,
        url: &str,
        login: &ServiceLogin,
    ) -> Result<ServiceLogin, CommandError> {
        let tls = match self.tls.is_empty() {
            true => login.tls.clone(),
            false => self.tls.settings(file, &TLS_KEYS)?,
        };
        Ok(ServiceLogin {
            auth_url: url.to_owned(),
            user: self.user.or(&login.user),
            password: self.password.as_ref().unwrap_or(&login.password).clone(),
            project: self.project.or(&login.project),
            tls,
            ..login.clone()
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
    options.signatures.login(file, login)?.ok_or_else(|| {
        let message = format!("{name} needs a section [{section}] with its auth_url");
        file.error_at(CLOUDS, &message)
    })
}

#[cfg(test)]
mod tests {
    use crate::config::{ConfigFile, Settings};
    use kiln_cloud::EntityRef;

    fn urls(text: &str) -> Option<Vec<(String, String)>> {
        let settings = Settings::from_file(&ConfigFile::parse(text).unwrap()).unwrap();
        let examiners = settings.examiners?;
        let name = |user: EntityRef| user.json()["name"].as_str().unwrap_or_default().to_owned();
        Some(examiners.into_iter().map(|it| (it.auth_url, name(it.user))).collect())
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
        let allowed =
            format!("{token}[ec2authtoken]\nmulti_cloud = true\nallowed_auth_uris = http://3\n");
        assert_eq!(urls(&allowed), Some(vec![("http://3".into(), "kiln".into())]));
        let elsewhere = format!("{apart}endpoint_override = http://c\n");
        assert_eq!(urls(&elsewhere), Some(vec![("http://c".into(), "kiln".into())]));
        let older = format!("{token}[ec2authtoken]\nauth_uri = http://b\n");
        assert_eq!(urls(&older), Some(vec![("http://b".into(), "kiln".into())]));
        let wrong =
            ConfigFile::parse("[ec2authtoken]\nmulti_cloud = true\nclouds = one\n").unwrap();
        assert!(Settings::from_file(&wrong).is_err());
    }
}
