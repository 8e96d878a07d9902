//! Options of the cloud: how its services are reached, and who owns the users of stacks.

use crate::config::ServiceLogin;
use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::stdio::CommandError;
use kiln_resources::op::{Domain, GuestAccess};
use std::path::PathBuf;

const CA_FILE: OptionKey = ("clients", "ca_file");
const DOMAIN_NAME: OptionKey = ("DEFAULT", "stack_user_domain_name");

/// The endpoint types, with and without the suffix of older files.
const ENDPOINT_TYPES: &[&str] =
    &["publicURL", "internalURL", "adminURL", "public", "internal", "admin"];

/// The values.
#[derive(Default)]
pub(in crate::config) struct CloudOptions {
    region: Option<String>,
    endpoint_type: String,
    ca_file: Option<PathBuf>,
    is_insecure: bool,
    calls: u64,
    auth_uri: Option<String>,
    trustee_auth_url: Option<String>,
    trustee_username: Option<String>,
    trustee_password: Option<String>,
    trustee_domain: Option<String>,
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
        Setting::File(None, |it| &mut it.cloud.ca_file),
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
        Setting::Flag(false, |it| &mut it.cloud.is_insecure),
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
        "user_domain_name",
        "The domain of the trustee; the service user's if not set.",
        Setting::MaybeText(|it| &mut it.cloud.trustee_domain),
    ),
    OptionRow::new(
        "trustee",
        "username",
        "The user to whom users delegate their roles; the service user if not set.",
        Setting::MaybeText(|it| &mut it.cloud.trustee_username),
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
            is_insecure: self.is_insecure,
        }
    }

    /// The settings of the connection to the cloud.
    pub(in crate::config) fn settings(
        &self,
        file: &ConfigFile,
        login: &ServiceLogin,
    ) -> Result<kiln_cloud::Settings, CommandError> {
        let or =
            |value: &Option<String>, default: &String| value.as_ref().unwrap_or(default).clone();
        let trustee = kiln_cloud::Login {
            user: or(&self.trustee_username, &login.username),
            domain: Some(or(&self.trustee_domain, &login.user_domain)),
            password: or(&self.trustee_password, &login.password).into(),
        };
        let auth_url = self.auth_uri.as_ref().or(self.trustee_auth_url.as_ref());
        Ok(kiln_cloud::Settings {
            region: self.region.clone(),
            interface: self.endpoint_type.replace("URL", ""),
            trustee: Some(trustee),
            roles: self.delegated_roles.clone(),
            stack_domain: self.domain_admin(file, login)?,
            authorities: self.authorities(file)?,
            is_insecure: self.is_insecure,
            max_calls: self.calls(),
            ..kiln_cloud::Settings::new(auth_url.unwrap_or(&login.auth_url).clone())
        })
    }

    fn authorities(&self, file: &ConfigFile) -> Result<Vec<u8>, CommandError> {
        let Some(path) = &self.ca_file else { return Ok(Vec::new()) };
        std::fs::read(path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            file.error_at(CA_FILE, &message)
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
                return Ok(Some(kiln_cloud::StackDomain {
                    id: None,
                    name: login.user_domain.clone(),
                    admin: login.username.clone(),
                    password: login.password.as_str().into(),
                    project: Some((login.project.clone(), login.project_domain.clone())),
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
        Ok(Some(kiln_cloud::StackDomain {
            id: self.domain_id.clone(),
            name: self.domain_name.clone().unwrap_or_default(),
            admin: admin.clone(),
            password: password.as_str().into(),
            project: None,
        }))
    }
}
