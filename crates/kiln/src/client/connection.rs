//! The options that select the cloud and the credentials.

use super::clouds::Values;
use super::federation::FederationOptions;
use super::secret::Secret;
use clap::{ArgAction, Args};
use std::path::PathBuf;

/// Cloud and credentials. Every option has a variable: `--os-auth-url` is `OS_AUTH_URL`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cloud options (each is also a variable: --os-cloud is OS_CLOUD)")]
pub(crate) struct Connection {
    /// Name of the cloud in clouds.yaml
    #[arg(long = "os-cloud", global = true, value_name = "NAME")]
    pub(crate) cloud: Option<String>,

    /// Authentication method: password, token, v3applicationcredential, v3totp, v3oidcpassword, http_basic, none…
    #[arg(long = "os-auth-type", alias = "os_auth_type", global = true, value_name = "TYPE")]
    #[arg(hide_short_help = true)]
    auth_type: Option<String>,

    /// URL of the identity service
    #[arg(long = "os-auth-url", alias = "os_auth_url", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    auth_url: Option<String>,

    /// User name
    #[arg(long = "os-username", alias = "os_username", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    username: Option<String>,

    /// User id
    #[arg(long = "os-user-id", alias = "os_user_id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    user_id: Option<String>,

    /// Name of the user's domain
    #[arg(long = "os-user-domain-name", alias = "os_user_domain_name", global = true)]
    #[arg(hide_short_help = true, value_name = "NAME")]
    user_domain_name: Option<String>,

    /// Id of the user's domain
    #[arg(long = "os-user-domain-id", alias = "os_user_domain_id", global = true)]
    #[arg(hide_short_help = true, value_name = "ID")]
    user_domain_id: Option<String>,

    /// Password; prefer OS_PASSWORD, because other users can see command lines
    #[arg(long = "os-password", alias = "os_password", global = true, value_name = "PASSWORD")]
    #[arg(hide_short_help = true)]
    password: Option<Secret>,

    /// One-time passcode, for v3totp
    #[arg(long = "os-passcode", global = true, value_name = "CODE", hide_short_help = true)]
    passcode: Option<Secret>,

    /// Project name
    #[arg(long = "os-project-name", alias = "os_project_name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    project_name: Option<String>,

    /// Project id
    #[arg(long = "os-project-id", alias = "os_project_id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    project_id: Option<String>,

    /// Name of the project's domain
    #[arg(long = "os-project-domain-name", alias = "os_project_domain_name", global = true)]
    #[arg(hide_short_help = true, value_name = "NAME")]
    project_domain_name: Option<String>,

    /// Id of the project's domain
    #[arg(long = "os-project-domain-id", alias = "os_project_domain_id", global = true)]
    #[arg(hide_short_help = true, value_name = "ID")]
    project_domain_id: Option<String>,

    /// Deprecated name of --os-project-name
    #[arg(long = "os-tenant-name", alias = "os_tenant_name", global = true, hide = true)]
    tenant_name: Option<String>,

    /// Deprecated name of --os-project-id
    #[arg(long = "os-tenant-id", alias = "os_tenant_id", global = true, hide = true)]
    tenant_id: Option<String>,

    /// Id of the default domain of user and project [default: default]
    #[arg(long = "os-default-domain", global = true, value_name = "ID", hide_short_help = true)]
    default_domain: Option<String>,

    /// Authentication token, instead of a password
    #[arg(long = "os-token", aliases = ["os-auth-token", "os_auth_token"], global = true)]
    #[arg(hide_short_help = true, value_name = "TOKEN")]
    token: Option<Secret>,

    /// Id of the trust to use
    #[arg(long = "os-trust-id", global = true, value_name = "ID", hide_short_help = true)]
    trust_id: Option<String>,

    /// Id of the application credential
    #[arg(long = "os-application-credential-id", global = true, value_name = "ID")]
    #[arg(hide_short_help = true)]
    application_credential_id: Option<String>,

    /// Name of the application credential
    #[arg(long = "os-application-credential-name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    application_credential_name: Option<String>,

    /// Secret of the application credential
    #[arg(long = "os-application-credential-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    application_credential_secret: Option<Secret>,

    /// Region
    #[arg(long = "os-region-name", alias = "os_region_name", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    region_name: Option<String>,

    /// Endpoint interface: public, internal or admin
    #[arg(long = "os-interface", aliases = ["os-endpoint-type", "os_endpoint_type"])]
    #[arg(hide_short_help = true, global = true, value_name = "INTERFACE")]
    interface: Option<String>,

    /// Orchestration endpoint, instead of the catalogue's
    #[arg(long = "os-endpoint", aliases = ["os-endpoint-override", "heat-url", "heat_url"])]
    #[arg(hide_short_help = true, global = true, value_name = "URL")]
    endpoint: Option<String>,

    /// Service type in the catalogue [default: orchestration]
    #[arg(long = "os-service-type", alias = "os_service_type", global = true)]
    #[arg(hide_short_help = true, value_name = "TYPE")]
    service_type: Option<String>,

    /// File with the CA certificates to trust
    #[arg(long = "os-cacert", aliases = ["os_cacert", "ca-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    cacert: Option<String>,

    /// File with the client certificate
    #[arg(long = "os-cert", aliases = ["os_cert", "cert-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    cert: Option<String>,

    /// File with the key of the client certificate
    #[arg(long = "os-key", aliases = ["os_key", "key-file"], global = true)]
    #[arg(hide_short_help = true, value_name = "FILE")]
    key: Option<String>,

    /// Skip TLS certificate verification
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) insecure: bool,

    /// Version of the orchestration API; only version 1 exists
    #[arg(long = "os-orchestration-api-version", alias = "heat-api-version", global = true)]
    #[arg(hide_short_help = true, value_name = "VERSION")]
    orchestration_api_version: Option<String>,

    /// Timeout of each request, in seconds
    #[arg(long = "api-timeout", global = true, value_name = "SECONDS", hide_short_help = true)]
    api_timeout: Option<u64>,

    #[command(flatten)]
    provider: FederationOptions,

    /// Log every request with its headers to standard error, without secrets
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) debug: bool,

    /// Log every request to standard error, and show tracebacks of the service
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,

    /// Print only errors to standard error
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Append the log of requests to a file as well
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) log_file: Option<PathBuf>,

    /// Print the duration of every request
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) timing: bool,
}

/// The verbosity of messages on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Also advice on how to fix an error.
    Usual,
    /// Also the requests.
    Verbose,
    /// Also the headers of the requests.
    Debug,
}

impl Verbosity {
    /// Whether requests are logged.
    pub(crate) fn is_loud(self) -> bool {
        matches!(self, Verbosity::Verbose | Verbosity::Debug)
    }
}

impl Connection {
    /// The verbosity of messages on standard error.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.debug, self.verbose, self.quiet) {
            (true, ..) => Verbosity::Debug,
            (_, 1.., _) => Verbosity::Verbose,
            (.., true) => Verbosity::Quiet,
            _ => Verbosity::Usual,
        }
    }

    /// The given options by setting name.
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
