//! Options of the cloud: how its services are reached, and who owns the users of stacks.

use super::login::{EntityOptions, TlsKeys, TlsOptions};
use super::services::{self, ENDPOINT_TYPES, ServiceOptions};
use crate::config::ServiceLogin;
use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::stdio::CommandError;
use kiln_cloud::DomainRef;
use kiln_resources::op::{Domain, GuestAccess};

/// The files of connections to the cloud.
const TLS_KEYS: TlsKeys = TlsKeys {
    ca_file: ("clients", "ca_file"),
    cert_file: ("clients", "cert_file"),
    key_file: ("clients", "key_file"),
};

const DOMAIN_NAME: OptionKey = ("DEFAULT", "stack_user_domain_name");

/// The values.
#[derive(Default)]
pub(in crate::config) struct CloudOptions {
    region: Option<String>,
    endpoint_type: String,
    tls: TlsOptions,
    calls: u64,
    auth_uri: Option<String>,
    trustee_auth_url: Option<String>,
    trustee: EntityOptions,
    trustee_password: Option<String>,
    allows_redelegation: bool,
    delegated_roles: Vec<String>,
    stack_user_role: String,
    domain_id: Option<String>,
    domain_name: Option<String>,
    domain_admin: Option<String>,
    domain_admin_password: Option<String>,
    users_in_projects: bool,
    metadata_url: Option<String>,
    waitcondition_url: Option<String>,
    watch_url: Option<String>,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "allow_trusts_redelegation",
        "Whether the trusts of users may be delegated further.",
        Setting::Flag(false, |it| &mut it.cloud.allows_redelegation),
    ),
    OptionRow::new(
        "DEFAULT",
        "heat_metadata_server_url",
        "The URL from which servers read their metadata; the catalogue's if not set.",
        Setting::Url(None, |it| &mut it.cloud.metadata_url),
    ),
    OptionRow::new(
        "DEFAULT",
        "heat_stack_user_role",
        "The role of stack users.",
        Setting::Text("heat_stack_user", |it| &mut it.cloud.stack_user_role),
    ),
    OptionRow::new(
        "DEFAULT",
        "heat_waitcondition_server_url",
        "The URL to which servers signal wait conditions; the catalogue's if not set.",
        Setting::Url(None, |it| &mut it.cloud.waitcondition_url),
    ),
    OptionRow::new(
        "DEFAULT",
        "heat_watch_server_url",
        "The URL to which servers send metrics; the catalogue's CloudWatch API if not set.",
        Setting::Url(None, |it| &mut it.cloud.watch_url),
    ),
    OptionRow::new(
        "DEFAULT",
        "region_name_for_services",
        "The region whose services are used.",
        Setting::MaybeText(|it| &mut it.cloud.region),
    ),
    OptionRow::new(
        "DEFAULT",
        "stack_domain_admin",
        "The administrator of the domain of stack users.",
        Setting::MaybeText(|it| &mut it.cloud.domain_admin),
    ),
    OptionRow::new(
        "DEFAULT",
        "stack_domain_admin_password",
        "The password of that administrator.",
        Setting::Password(|it| &mut it.cloud.domain_admin_password),
    ),
    OptionRow::new(
        "DEFAULT",
        "stack_user_domain_id",
        "The id of the domain of stack users.",
        Setting::MaybeText(|it| &mut it.cloud.domain_id),
    ),
    OptionRow::new(
        "DEFAULT",
        "stack_user_domain_name",
        "The name of the domain of stack users, if its id is not set.",
        Setting::MaybeText(|it| &mut it.cloud.domain_name),
    ),
    OptionRow::new(
        "DEFAULT",
        "trusts_delegated_roles",
        "The roles that users delegate to their stacks; all of their roles if empty.",
        Setting::List(&[], |it| &mut it.cloud.delegated_roles),
    ),
    OptionRow::new(
        "clients",
        "ca_file",
        "The CA certificates to trust in calls to the cloud, in PEM format.",
        Setting::File(None, |it| &mut it.cloud.tls.ca_file),
    ),
    OptionRow::new(
        "clients",
        "cert_file",
        "The certificate of Kiln for calls to the cloud, in PEM format.",
        Setting::File(None, |it| &mut it.cloud.tls.cert_file),
    ),
    OptionRow::new(
        "clients",
        "endpoint_type",
        "The type of the endpoints that are used.",
        Setting::Choice("publicURL", ENDPOINT_TYPES, |it| &mut it.cloud.endpoint_type),
    ),
    OptionRow::new(
        "clients",
        "insecure",
        "Whether TLS certificates of the cloud are not verified.",
        Setting::MaybeFlag(|it| &mut it.cloud.tls.insecure),
    ),
    OptionRow::new(
        "clients",
        "key_file",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.cloud.tls.key_file),
    ),
    OptionRow::new(
        "clients_keystone",
        "auth_uri",
        "The URL of the identity service for calls on behalf of users.",
        Setting::Url(None, |it| &mut it.cloud.auth_uri),
    ),
    OptionRow::new(
        "kiln",
        "calls_per_service",
        "The maximum number of simultaneous calls to a service of the cloud; shared lookups have a tenth in addition.",
        Setting::Number {
            default: kiln_cloud::DEFAULT_MAX_CALLS as u64,
            min: 1,
            max: 1_000_000,
            field: |it| &mut it.cloud.calls,
        },
    ),
    OptionRow::new(
        "kiln",
        "stack_users_in_projects",
        "Whether stack users are created in the projects of their stacks, if there is no domain for them.",
        Setting::Flag(false, |it| &mut it.cloud.users_in_projects),
    ),
    OptionRow::new(
        "trustee",
        "auth_url",
        "The URL of the identity service for calls on behalf of users, if [clients_keystone] auth_uri is not set.",
        Setting::Url(None, |it| &mut it.cloud.trustee_auth_url),
    ),
    OptionRow::new(
        "trustee",
        "password",
        "The password of the trustee; the service user's if not set.",
        Setting::Password(|it| &mut it.cloud.trustee_password),
    ),
    OptionRow::new(
        "trustee",
        "user_domain_id",
        "The id of the domain of the trustee.",
        Setting::MaybeText(|it| &mut it.cloud.trustee.domain_id),
    )
    .formerly(&[("trustee", "default_domain_id")]),
    OptionRow::new(
        "trustee",
        "user_domain_name",
        "The domain of the trustee, if its id is not set; the service user's without either.",
        Setting::MaybeText(|it| &mut it.cloud.trustee.domain_name),
    )
    .formerly(&[("trustee", "default_domain_name")]),
    OptionRow::new(
        "trustee",
        "user_id",
        "The id of the user to whom users delegate their roles.",
        Setting::MaybeText(|it| &mut it.cloud.trustee.id),
    ),
    OptionRow::new(
        "trustee",
        "username",
        "The user to whom users delegate their roles; the service user if not set.",
        Setting::MaybeText(|it| &mut it.cloud.trustee.name),
    ),
];

impl CloudOptions {
    /// The maximum number of simultaneous calls to one service.
    pub(in crate::config) fn calls(&self) -> usize {
        usize::try_from(self.calls).unwrap_or(usize::MAX)
    }

    /// The region whose services are used.
    pub(in crate::config) fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    /// Whether the file says where servers reach the CloudFormation API, so that it has to be served.
    pub(in crate::config) fn names_cfn(&self) -> bool {
        self.metadata_url.is_some() || self.waitcondition_url.is_some()
    }

    /// Whether the file says where servers reach the CloudWatch API.
    pub(in crate::config) fn names_cloudwatch(&self) -> bool {
        self.watch_url.is_some()
    }

    /// The role of stack users.
    pub(in crate::config) fn stack_user_role(&self) -> &str {
        &self.stack_user_role
    }

    /// The domain of stack users, if there is one.
    pub(in crate::config) fn stack_domain(&self) -> Option<Domain> {
        match (&self.domain_id, &self.domain_name) {
            (Some(id), _) => Some(Domain::Id(id.as_str().into())),
            (None, Some(name)) => Some(Domain::Name(name.as_str().into())),
            (None, None) => self.users_in_projects.then_some(Domain::Owner),
        }
    }

    /// How servers reach the service.
    pub(in crate::config) fn outside(&self, login: &ServiceLogin) -> GuestAccess {
        let text = |value: &Option<String>| value.as_deref().map(Into::into);
        let auth_url = login.www_authenticate_uri.trim_end_matches('/');
        let auth_url =
            if auth_url.ends_with("/v3") { auth_url.to_owned() } else { format!("{auth_url}/v3") };
        GuestAccess {
            domain: self.stack_domain(),
            role: self.stack_user_role.as_str().into(),
            auth_url: auth_url.into(),
            region: text(&self.region),
            waitcondition_url: text(&self.waitcondition_url),
            metadata_url: text(&self.metadata_url),
            watch_url: text(&self.watch_url),
            is_insecure: self.tls.insecure.unwrap_or(false),
        }
    }

    /// The settings of the connection to the cloud.
    pub(in crate::config) fn settings(
        &self,
        file: &ConfigFile,
        login: &ServiceLogin,
        services: &ServiceOptions,
    ) -> Result<kiln_cloud::Settings, CommandError> {
        let password = self.trustee_password.as_ref().unwrap_or(&login.password);
        let trustee = kiln_cloud::Login {
            user: self.trustee.or(&login.user),
            password: password.as_str().into(),
        };
        let auth_url = self.auth_uri.as_ref().or(self.trustee_auth_url.as_ref());
        Ok(kiln_cloud::Settings {
            region: self.region.clone(),
            interface: self.endpoint_type.replace("URL", ""),
            trustee: Some(trustee),
            roles: self.delegated_roles.clone(),
            stack_domain: self.domain_admin(file, login)?,
            tls: self.tls.settings(file, &TLS_KEYS)?,
            services: services::settings(file, services, &self.tls)?,
            allows_redelegation: self.allows_redelegation,
            max_calls: self.calls(),
            ..kiln_cloud::Settings::new(auth_url.unwrap_or(&login.auth_url).clone())
        })
    }

    /// The administrator of the domain of stack users; the service user if they are in the projects of stacks.
    fn domain_admin(
        &self,
        file: &ConfigFile,
        login: &ServiceLogin,
    ) -> Result<Option<kiln_cloud::StackDomain>, CommandError> {
        match self.stack_domain() {
            None => return Ok(None),
            Some(Domain::Owner) => {
                return Ok(Some(kiln_cloud::StackDomain::Projects {
                    login: kiln_cloud::Login {
                        user: login.user.clone(),
                        password: login.password.as_str().into(),
                    },
                    project: login.project.clone(),
                }));
            }
            Some(_) => {}
        }
        let (Some(admin), Some(password)) = (&self.domain_admin, &self.domain_admin_password)
        else {
            let message = "a domain of stack users needs stack_domain_admin and \
                           stack_domain_admin_password, too";
            return Err(file.error_at(DOMAIN_NAME, message));
        };
        let domain = match &self.domain_id {
            Some(id) => DomainRef::Id(id.clone()),
            None => DomainRef::Name(self.domain_name.clone().unwrap_or_default()),
        };
        Ok(Some(kiln_cloud::StackDomain::Domain {
            domain,
            admin: admin.clone(),
            password: password.as_str().into(),
        }))
    }
}
