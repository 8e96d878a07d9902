//! The options of those who log in by way of an identity provider or an authorisation server.

use super::secret::Secret;
use clap::Args;

/// How to log in by way of somebody else.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Provider {
    /// The identity provider that vouches for the user, as the identity service calls it
    #[arg(long = "os-identity-provider", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    identity_provider: Option<String>,

    /// The protocol of the identity provider, as the identity service calls it
    #[arg(long = "os-protocol", global = true, value_name = "NAME", hide_short_help = true)]
    protocol: Option<String>,

    /// Where the identity provider tells about itself
    #[arg(long = "os-discovery-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    discovery_endpoint: Option<String>,

    /// Where the identity provider gives tokens, if it does not tell
    #[arg(long = "os-access-token-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    access_token_endpoint: Option<String>,

    /// Where the identity provider gives codes to devices, if it does not tell
    #[arg(long = "os-device-authorization-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    device_authorization_endpoint: Option<String>,

    /// The id of the client at the identity provider
    #[arg(long = "os-client-id", global = true, value_name = "ID", hide_short_help = true)]
    client_id: Option<String>,

    /// The secret of the client at the identity provider
    #[arg(long = "os-client-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    client_secret: Option<Secret>,

    /// What the identity provider is asked for; `openid profile` by default
    #[arg(long = "os-openid-scope", global = true, value_name = "WORDS", hide_short_help = true)]
    openid_scope: Option<String>,

    /// A token of the identity provider, for v3oidcaccesstoken
    #[arg(long = "os-access-token", global = true, value_name = "TOKEN", hide_short_help = true)]
    access_token: Option<Secret>,

    /// Which token of the identity provider is shown: access_token or id_token
    #[arg(long = "os-access-token-type", global = true, value_name = "TYPE")]
    #[arg(hide_short_help = true)]
    access_token_type: Option<String>,

    /// The code that the identity provider gave, for v3oidcauthcode
    #[arg(long = "os-authorization-code", alias = "os-code", global = true, value_name = "CODE")]
    #[arg(hide_short_help = true)]
    authorization_code: Option<Secret>,

    /// The address to which the identity provider sent the code
    #[arg(long = "os-redirect-uri", global = true, value_name = "URL", hide_short_help = true)]
    redirect_uri: Option<String>,

    /// Where an authorisation server gives tokens, for v3oauth2clientcredential
    #[arg(long = "os-oauth2-endpoint", global = true, value_name = "URL", hide_short_help = true)]
    oauth2_endpoint: Option<String>,

    /// The id of the client at the authorisation server
    #[arg(long = "os-oauth2-client-id", global = true, value_name = "ID", hide_short_help = true)]
    oauth2_client_id: Option<String>,

    /// The secret of the client at the authorisation server
    #[arg(long = "os-oauth2-client-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    oauth2_client_secret: Option<Secret>,

    /// The methods that v3multifactor combines
    #[arg(long = "os-auth-methods", global = true, value_name = "A,B", hide_short_help = true)]
    auth_methods: Option<String>,

    /// Act on the whole cloud: `all`
    #[arg(long = "os-system-scope", global = true, value_name = "WORD", hide_short_help = true)]
    system_scope: Option<String>,

    /// The id of the domain to act on
    #[arg(long = "os-domain-id", global = true, value_name = "ID", hide_short_help = true)]
    domain_id: Option<String>,

    /// The name of the domain to act on
    #[arg(long = "os-domain-name", global = true, value_name = "NAME", hide_short_help = true)]
    domain_name: Option<String>,
}

impl Provider {
    /// What was given, by the names of the settings.
    pub(super) fn values(&self) -> [(&'static str, Option<String>); 19] {
        let secret = |secret: &Option<Secret>| secret.as_ref().map(|it| it.expose().to_owned());
        [
            ("access_token", secret(&self.access_token)),
            ("access_token_endpoint", self.access_token_endpoint.clone()),
            ("access_token_type", self.access_token_type.clone()),
            ("auth_methods", self.auth_methods.clone()),
            ("authorization_code", secret(&self.authorization_code)),
            ("client_id", self.client_id.clone()),
            ("client_secret", secret(&self.client_secret)),
            ("device_authorization_endpoint", self.device_authorization_endpoint.clone()),
            ("discovery_endpoint", self.discovery_endpoint.clone()),
            ("domain_id", self.domain_id.clone()),
            ("domain_name", self.domain_name.clone()),
            ("identity_provider", self.identity_provider.clone()),
            ("oauth2_client_id", self.oauth2_client_id.clone()),
            ("oauth2_client_secret", secret(&self.oauth2_client_secret)),
            ("oauth2_endpoint", self.oauth2_endpoint.clone()),
            ("openid_scope", self.openid_scope.clone()),
            ("protocol", self.protocol.clone()),
            ("redirect_uri", self.redirect_uri.clone()),
            ("system_scope", self.system_scope.clone()),
        ]
    }
}
