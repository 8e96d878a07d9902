//! The options of federated logins: identity providers and OAuth servers.

use super::secret::Secret;
use clap::Args;

/// Options of federated logins.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FederationOptions {
    /// Identity provider, as registered in the identity service
    #[arg(long = "os-identity-provider", global = true, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    identity_provider: Option<String>,

    /// Federation protocol, as registered in the identity service
    #[arg(long = "os-protocol", global = true, value_name = "NAME", hide_short_help = true)]
    protocol: Option<String>,

    /// Discovery document of the identity provider
    #[arg(long = "os-discovery-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    discovery_endpoint: Option<String>,

    /// Token endpoint of the identity provider, if there is no discovery document
    #[arg(long = "os-access-token-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    access_token_endpoint: Option<String>,

    /// Device authorization endpoint, if there is no discovery document
    #[arg(long = "os-device-authorization-endpoint", global = true, value_name = "URL")]
    #[arg(hide_short_help = true)]
    device_authorization_endpoint: Option<String>,

    /// Client id at the identity provider
    #[arg(long = "os-client-id", global = true, value_name = "ID", hide_short_help = true)]
    client_id: Option<String>,

    /// Client secret at the identity provider
    #[arg(long = "os-client-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    client_secret: Option<Secret>,

    /// OpenID Connect scope [default: openid profile]
    #[arg(long = "os-openid-scope", global = true, value_name = "WORDS", hide_short_help = true)]
    openid_scope: Option<String>,

    /// Access token of the identity provider, for v3oidcaccesstoken
    #[arg(long = "os-access-token", global = true, value_name = "TOKEN", hide_short_help = true)]
    access_token: Option<Secret>,

    /// Token to use: access_token or id_token
    #[arg(long = "os-access-token-type", global = true, value_name = "TYPE")]
    #[arg(hide_short_help = true)]
    access_token_type: Option<String>,

    /// Authorization code, for v3oidcauthcode
    #[arg(long = "os-authorization-code", alias = "os-code", global = true, value_name = "CODE")]
    #[arg(hide_short_help = true)]
    authorization_code: Option<Secret>,

    /// Redirect URI of the authorization code
    #[arg(long = "os-redirect-uri", global = true, value_name = "URL", hide_short_help = true)]
    redirect_uri: Option<String>,

    /// OAuth 2.0 token endpoint, for v3oauth2clientcredential
    #[arg(long = "os-oauth2-endpoint", global = true, value_name = "URL", hide_short_help = true)]
    oauth2_endpoint: Option<String>,

    /// OAuth 2.0 client id
    #[arg(long = "os-oauth2-client-id", global = true, value_name = "ID", hide_short_help = true)]
    oauth2_client_id: Option<String>,

    /// OAuth 2.0 client secret
    #[arg(long = "os-oauth2-client-secret", global = true, value_name = "SECRET")]
    #[arg(hide_short_help = true)]
    oauth2_client_secret: Option<Secret>,

    /// Comma-separated methods of v3multifactor
    #[arg(long = "os-auth-methods", global = true, value_name = "A,B", hide_short_help = true)]
    auth_methods: Option<String>,

    /// System scope: all
    #[arg(long = "os-system-scope", global = true, value_name = "WORD", hide_short_help = true)]
    system_scope: Option<String>,

    /// Id of the domain scope
    #[arg(long = "os-domain-id", global = true, value_name = "ID", hide_short_help = true)]
    domain_id: Option<String>,

    /// Name of the domain scope
    #[arg(long = "os-domain-name", global = true, value_name = "NAME", hide_short_help = true)]
    domain_name: Option<String>,
}

impl FederationOptions {
    /// The given options by setting name.
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
