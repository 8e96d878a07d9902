//! The options that say which cloud is asked, and as whom.

use super::clouds::Values;
use super::provider::Provider;
use super::secret::Secret;
use clap::{ArgAction, Args};
use std::path::PathBuf;

/// Which cloud, and as whom. Every option has a variable: `--os-auth-url` is `OS_AUTH_URL`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cloud options (each is also a variable: --os-cloud is OS_CLOUD)")]
pub(crate) struct Connection {
    /// The cloud of clouds.yaml to use
    #[arg(long = "os-cloud", global = true, value_name = "NAME")]
    pub(crate) cloud: Option<String>,

    /// How to log in: password, token, v3applicationcredential, v3totp, v3oidcpassword, http_basic, none…
    #[arg(long = "os-auth-type", alias = "os_auth_type", global = true, value_name = "TYPE")]
    #[arg(hide_short_help = true)]
    auth_type: Option<String>,

    /// Where the identity service is
    #[arg(long = "os-auth-url", alias = "os_auth_url", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    auth_url: Option<String>,

    /// The name of the user
    #[arg(long = "os-username", alias = "os_username", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    username: Option<String>,

    /// The id of the user
    #[arg(long = "os-user-id", alias = "os_user_id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    user_id: Option<String>,

    /// The name of the user's domain
    #[arg(long = "os-user-domain-name", alias = "os_user_domain_name", global = true)]
    #[arg(hide_short_help = true, value_name = "NAME")]
    user_domain_name: Option<String>,

    /// The id of the user's domain
    #[arg(long = "os-user-domain-id", alias = "os_user_domain_id", global = true)]
    #[arg(hide_short_help = true, value_name = "ID")]
    user_domain_id: Option<String>,

    /// The password; better given as OS_PASSWORD, since other users see the words of a command
    #[arg(long = "os-password", alias = "os_password", global = true, value_name = "PASSWORD")]
    #[arg(hide_short_help = true)]
    password: Option<Secret>,

    /// The code of a device, for v3totp
    #[arg(long = "os-passcode", global = true, value_name = "CODE", hide_short_help = true)]
    passcode: Option<Secret>,

    /// The name of the project
    #[arg(long = "os-project-name", alias = "os_project_name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    project_name: Option<String>,

    /// The id of the project
    #[arg(long = "os-project-id", alias = "os_project_id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    project_id: Option<String>,

    /// The name of the project's domain
    #[arg(long = "os-project-domain-name", alias = "os_project_domain_name", global = true)]
    #[arg(hide_short_help = true, value_name = "NAME")]
    project_domain_name: Option<String>,

    /// The id of the project's domain
    #[arg(long = "os-project-domain-id", alias = "os_project_domain_id", global = true)]
    #[arg(hide_short_help = true, value_name = "ID")]
    project_domain_id: Option<String>,

    /// The name of the project, in an older word
    #[arg(long = "os-tenant-name", alias = "os_tenant_name", global = true, hide = true)]
    tenant_name: Option<String>,

    /// The id of the project, in an older word
    #[arg(long = "os-tenant-id", alias = "os_tenant_id", global = true, hide = true)]
    tenant_id: Option<String>,

    /// The domain of user and project if none is named; `default` by default
    #[arg(long = "os-default-domain", global = true, value_name = "ID", hide_short_help = true)]
    default_domain: Option<String>,

    /// A token instead of a password
    #[arg(long = "os-token", aliases = ["os-auth-token", "os_auth_token"], global = true)]
    #[arg(hide_short_help = true, value_name = "TOKEN")]
    token: Option<Secret>,

    /// The trust to act under
    #[arg(long = "os-trust-id", global = true, value_name = "ID", hide_short_help = true)]
    trust_id: Option<String>,

    /// The id of an application credential
    #[arg(long = "os-application-credential-id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    application_credential_id: Option<String>,

    /// The name of an application credential
    #[arg(long = "os-application-credential-name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    application_credential_name: Option<String>,

    /// The secret of an application credential
    #[arg(long = "os-application-credential-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    application_credential_secret: Option<Secret>,

    /// The region
    #[arg(long = "os-region-name", alias = "os_region_name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    region_name: Option<String>,

    /// Which endpoint of the catalogue: public, internal or admin
    #[arg(long = "os-interface", aliases = ["os-endpoint-type", "os_endpoint_type"])]
    #[arg(hide_short_help = true, global = true, value_name = "INTERFACE")]
    interface: Option<String>,

    /// The orchestration endpoint to use whatever the catalogue says
    #[arg(long = "os-endpoint", aliases = ["os-endpoint-override", "heat-url", "heat_url"])]
    #[arg(hide_short_help = true, global = true, value_name = "URL")]
    endpoint: Option<String>,

    /// The type under which the catalogue has the service; `orchestration` by default
    #[arg(long = "os-service-type", alias = "os_service_type", global = true)]
    #[arg(hide_short_help = true, value_name = "TYPE")]
    service_type: Option<String>,

    /// A file with certificates to trust
    #[arg(long = "os-cacert", aliases = ["os_cacert", "ca-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    cacert: Option<String>,

    /// A file with the certificate to show to services
    #[arg(long = "os-cert", aliases = ["os_cert", "cert-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    cert: Option<String>,

    /// A file with the key of that certificate
    #[arg(long = "os-key", aliases = ["os_key", "key-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    key: Option<String>,

    /// Take any certificate for good: whoever listens in between can read everything
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) insecure: bool,

    /// The version of the orchestration API; there is only version 1
    #[arg(long = "os-orchestration-api-version", alias = "heat-api-version", global = true)]
    #[arg(hide_short_help = true, value_name = "VERSION")]
    orchestration_api_version: Option<String>,

    /// Seconds after which a request is given up
    #[arg(long = "api-timeout", global = true, value_name = "SECONDS", hide_short_help = true)]
    api_timeout: Option<u64>,

    #[command(flatten)]
    provider: Provider,

    /// Tell every request on standard error with what it consists of; secrets are left out
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) debug: bool,

    /// Tell more on standard error: every request, and where in the service an error came from
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,

    /// Tell nothing on standard error but what went wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Write what is told of requests to the end of a file, too
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) log_file: Option<PathBuf>,

    /// Tell how long every request took
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// How much is told beside answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// Only what went wrong.
    Quiet,
    /// And what to do about it.
    Usual,
    /// And what was asked for.
    Verbose,
    /// And how.
    Debug,
}

impl Loudness {
    /// Whether more than usual is told.
    pub(crate) fn is_loud(self) -> bool {
        matches!(self, Loudness::Verbose | Loudness::Debug)
    }
}

impl Connection {
    /// How much is told beside answers.
    pub(crate) fn loudness(&self) -> Loudness {
        match (self.debug, self.verbose, self.quiet) {
            (true, ..) => Loudness::Debug,
            (_, 1.., _) => Loudness::Verbose,
            (.., true) => Loudness::Quiet,
            _ => Loudness::Usual,
        }
    }

    /// What was given, by the names of the settings.
    pub(crate) fn values(&self) -> Values {
        let secret = |secret: &Option<Secret>| secret.as_ref().map(|it| it.expose().to_owned());
        let all = [
            ("api_timeout", self.api_timeout.map(|seconds| seconds.to_string())),
            ("application_credential_id", self.application_credential_id.clone()),
            ("application_credential_name", self.application_credential_name.clone()),
            ("application_credential_secret", secret(&self.application_credential_secret)),
            ("auth_type", self.auth_type.clone()),
            ("auth_url", self.auth_url.clone()),
            ("cacert", self.cacert.clone()),
            ("cert", self.cert.clone()),
            ("default_domain", self.default_domain.clone()),
            ("endpoint", self.endpoint.clone()),
            ("insecure", self.insecure.then(|| "true".to_owned())),
            ("interface", self.interface.clone()),
            ("key", self.key.clone()),
            ("orchestration_api_version", self.orchestration_api_version.clone()),
            ("passcode", secret(&self.passcode)),
            ("password", secret(&self.password)),
            ("project_domain_id", self.project_domain_id.clone()),
            ("project_domain_name", self.project_domain_name.clone()),
            ("project_id", self.project_id.clone()),
            ("project_name", self.project_name.clone()),
            ("region_name", self.region_name.clone()),
            ("service_type", self.service_type.clone()),
            ("tenant_id", self.tenant_id.clone()),
            ("tenant_name", self.tenant_name.clone()),
            ("token", secret(&self.token)),
            ("trust_id", self.trust_id.clone()),
            ("user_domain_id", self.user_domain_id.clone()),
            ("user_domain_name", self.user_domain_name.clone()),
            ("user_id", self.user_id.clone()),
            ("username", self.username.clone()),
        ];
        let given = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
        let all = all.into_iter().chain(self.provider.values());
        all.filter_map(given).filter(|(_, value)| !value.is_empty()).collect()
    }
}
