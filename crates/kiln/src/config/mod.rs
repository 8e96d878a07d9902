//! The configuration file: oslo.config's format and Heat's option names, so that a `heat.conf` works unchanged.

mod file;
mod ini;
mod notices;
mod option;
mod options;
mod policy_files;
#[cfg(test)]
mod reference;
mod sample;

pub(crate) use file::{ConfigFile, ValueSource};
pub(crate) use notices::Notices;
pub(crate) use option::OptionRow;
pub(crate) use options::accepted::{ACCEPTED, AcceptedRow};
pub(crate) use options::rows;
pub(crate) use policy_files::PolicyFiles;
pub(crate) use sample::sample;

use crate::cli::ServerRole;
use crate::dashboard::DashboardSettings;
use crate::load::global_environment::EnvironmentDirs;
use crate::stdio::CommandError;
use kiln_api::policy;
use kiln_cloud::{EntityRef, Tls};
use kiln_engine::Rules;
use kiln_resources::TypeSettings;
use option::OptionKey;
use options::api::ConnectionSettings;
use policy_files::{POLICY_DIRS, PolicyFileError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The roles that a process may have.
const ROLES: [&str; 4] = ["api", "cfn", "cloudwatch", "engine"];

const ROLES_KEY: OptionKey = ("kiln", "roles");

const ENVIRONMENT_DIR: OptionKey = ("DEFAULT", "environment_dir");

/// How callers are authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// By tokens.
    Keystone,
    /// By user name and password.
    Standalone,
    /// By an operator's program at this URL; accepted callers have these roles.
    Custom(String, Vec<String>),
    /// Not at all; a file may contain the token response.
    NoAuth(Option<PathBuf>),
}

/// The login of the service user.
#[derive(Clone, Debug)]
pub(crate) struct ServiceLogin {
    pub(crate) auth_url: String,
    pub(crate) www_authenticate_uri: String,
    pub(crate) user: EntityRef,
    pub(crate) password: String,
    pub(crate) project: EntityRef,
    pub(crate) tls: Tls,
    pub(crate) cache: Duration,
    pub(crate) service_token_roles: Vec<String>,
    pub(crate) service_token_roles_required: bool,
    /// The identity services among which clients choose, if they do.
    pub(crate) choice: Option<Vec<String>>,
}

/// The socket of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    /// The section of the file that configures it.
    pub(crate) section: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The certificate and its key, if connections are encrypted.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
}

impl Socket {
    /// The scheme of its URLs.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

/// What is logged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogSettings {
    pub(crate) is_json: bool,
    pub(crate) is_debug: bool,
    /// Levels of single modules: `kiln_engine=DEBUG`.
    pub(crate) levels: Vec<String>,
}

/// The settings of a server.
pub(crate) struct Settings {
    pub(crate) has_api: bool,
    pub(crate) has_cfn: bool,
    pub(crate) has_cloudwatch: bool,
    pub(crate) has_engine: bool,
    /// The dashboard, if it is served.
    pub(crate) dashboard: Option<DashboardSettings>,
    pub(crate) native: Socket,
    pub(crate) cfn: Socket,
    pub(crate) cloudwatch: Socket,
    pub(crate) database: String,
    pub(crate) keys: PathBuf,
    /// The address of metrics, if they are served.
    pub(crate) metrics: Option<(String, u16)>,
    pub(crate) flavor: Flavor,
    pub(crate) login: ServiceLogin,
    /// The identity services that check signatures, if not the one that checks tokens.
    pub(crate) examiners: Option<Vec<ServiceLogin>>,
    /// How the cloud is reached, if there is one.
    pub(crate) cloud: Option<kiln_cloud::Settings>,
    pub(crate) policy_files: PolicyFiles,
    /// The contents of the policy files.
    pub(crate) policy_texts: Vec<policy::PolicyText>,
    pub(crate) policy: policy::Options,
    pub(crate) rules: Rules,
    pub(crate) engine: kiln_engine::Config,
    /// How notifications are sent, if they are.
    pub(crate) notifications: Option<kiln_bus::BusConfig>,
    /// The broker that carries wake-ups between the processes of this site.
    pub(crate) broker: Option<kiln_bus::BusConfig>,
    /// Directories with files that define resource types.
    pub(crate) plugin_dirs: Vec<PathBuf>,
    /// The directories of the global environment.
    pub(crate) environment_dirs: EnvironmentDirs,
    pub(crate) api: kiln_api::Options,
    /// The limits of connections.
    pub(crate) connections: ConnectionSettings,
    pub(crate) lease: Duration,
    /// The maximum number of simultaneous calls to one service of the cloud.
    pub(crate) calls_per_service: usize,
    /// The requests per second that a project may send.
    pub(crate) rate: Option<u32>,
    pub(crate) log: LogSettings,
    /// What the operator decides about built-in types.
    pub(crate) types: TypeSettings,
    /// Messages about the file.
    pub(crate) notices: Notices,
}

/// The database of a server, and the file with its keys.
pub(crate) struct DatabaseSettings {
    pub(crate) url: String,
    pub(crate) keys: PathBuf,
}

impl DatabaseSettings {
    /// The database that a file names, or the default one.
    pub(crate) fn from_file(file: &ConfigFile) -> Result<DatabaseSettings, CommandError> {
        let engine = file.options()?.engine;
        Ok(DatabaseSettings {
            url: engine.database(),
            keys: engine.keys_file.clone().unwrap_or_default(),
        })
    }
}

impl Settings {
    /// Leaves these roles to the process; all that it has, if there are none here.
    pub(crate) fn restrict(&mut self, roles: &[ServerRole]) {
        if roles.is_empty() {
            return;
        }
        self.has_api = roles.contains(&ServerRole::Api);
        self.has_cfn = roles.contains(&ServerRole::Cfn);
        self.has_cloudwatch = roles.contains(&ServerRole::Cloudwatch);
        self.has_engine = roles.contains(&ServerRole::Engine);
    }

    /// The settings of a file.
    pub(crate) fn from_file(file: &ConfigFile) -> Result<Settings, CommandError> {
        let options = file.options()?;
        let (api, cloud, engine) = (&options.api, &options.cloud, &options.engine);
        let roles = &engine.roles;
        check_roles(file, roles)?;
        let has = |role: &str| roles.iter().any(|it| it == role);
        let is_all = roles.is_empty();
        let flavor = options.identity.flavor(file)?;
        let login = options.identity.login(file)?;
        let has_cloud = matches!(flavor, Flavor::Keystone | Flavor::Standalone);
        let engine_config = kiln_engine::Config {
            outside: cloud.outside(&login).into(),
            region: cloud.region().map(Into::into),
            ..engine.engine()
        };
        let api_options = kiln_api::Options {
            stack_domain: cloud.stack_domain(),
            stack_user_role: cloud.stack_user_role().to_owned(),
            ..api.options(file)?
        };
        file.check_policy_options()?;
        let policy_files = api.policy_files(file);
        let unreadable = |error: PolicyFileError| file.error_at(error.option(), &error.to_string());
        engine.check_encryption_key(file)?;
        let mut notices = file.notices();
        notices.warnings.extend(missing_policy_dirs(file, &policy_files));
        notices.warnings.extend(missing_environment_dir(file, &engine.environment_dirs()));
        Ok(Settings {
            has_api: is_all || has("api"),
            // Not every deployment has these APIs, so their port, their role, or a URL that leads to them must be set.
            has_cfn: has("cfn") || is_all && (api.cfn.has_port() || cloud.names_cfn()),
            has_cloudwatch: has("cloudwatch")
                || is_all && (api.cloudwatch.has_port() || cloud.names_cloudwatch()),
            has_engine: is_all || has("engine"),
            dashboard: api.dashboard.then(|| DashboardSettings {
                users: Vec::new(),
                public_identity: login.www_authenticate_uri.clone(),
                websso: api.websso(),
            }),
            native: api.native.socket(file, "heat_api", 8004)?,
            cfn: api.cfn.socket(file, "heat_api_cfn", 8000)?,
            cloudwatch: api.cloudwatch.socket(file, "heat_api_cloudwatch", 8003)?,
            database: engine.database(),
            keys: engine.keys_file.clone().unwrap_or_default(),
            metrics: options.logging.metrics(),
            examiners: options.signatures.examiners(file, &flavor, &login)?,
            cloud: has_cloud
                .then(|| cloud.settings(file, &login, &options.services))
                .transpose()?,
            flavor,
            login,
            policy_texts: policy_files.read().map_err(unreadable)?,
            policy_files,
            policy: api.policy(),
            rules: engine.rules(),
            engine: engine_config,
            notifications: options.notifications.settings(file)?,
            broker: options.notifications.broker(file)?,
            plugin_dirs: engine.plugin_dirs(),
            environment_dirs: engine.environment_dirs(),
            api: api_options,
            lease: engine.lease,
            calls_per_service: cloud.calls(),
            rate: api.rate(),
            connections: api.connections(),
            log: options.logging.settings(),
            types: engine.type_settings(),
            notices,
        })
    }
}

/// Warnings about directories of policy files that the file names and that do not exist.
fn missing_policy_dirs(file: &ConfigFile, files: &PolicyFiles) -> Vec<String> {
    if !file.sets(POLICY_DIRS) {
        return Vec::new();
    }
    let warning = |directory: &Path| {
        let directory = directory.display();
        let message = format!("{directory} does not exist; its files will be read once it does");
        file.message_at(POLICY_DIRS, &message)
    };
    files.missing_dirs().map(warning).collect()
}

/// A warning about the directory of the global environment, if the file names it and it does not exist.
fn missing_environment_dir(file: &ConfigFile, dirs: &EnvironmentDirs) -> Option<String> {
    let directory = dirs.environments.as_deref().filter(|it| !it.exists())?;
    let message =
        format!("{} does not exist; its files will be read once it does", directory.display());
    file.sets(ENVIRONMENT_DIR).then(|| file.message_at(ENVIRONMENT_DIR, &message))
}

fn check_roles(file: &ConfigFile, roles: &[String]) -> Result<(), CommandError> {
    match roles.iter().find(|role| !ROLES.contains(&role.as_str())) {
        None => Ok(()),
        Some(role) => {
            let message =
                format!("there is no role {role}; they are api, cfn, cloudwatch and engine");
            Err(file.error_at(ROLES_KEY, &message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notices(text: &str) -> Notices {
        ConfigFile::parse(text).unwrap().notices()
    }

    fn error(text: &str) -> String {
        match Settings::from_file(&ConfigFile::parse(text).unwrap()) {
            Err(CommandError::Usage(message)) => message,
            _ => "no error".to_owned(),
        }
    }

    #[test]
    fn unknown_options_are_warned_of_with_what_was_meant() {
        let text = "\
[DEFAULT]
max_stacks_per_tennant = 1
[keystone_authtoken]
auth_backend = http://x
[ec2authtoken.one]
auth_ulr = http://1
[somebody_elses]
anything = 1
";
        assert_eq!(
            notices(text).warnings,
            [
                "kiln.conf: line 2: [DEFAULT] max_stacks_per_tennant is not known and is ignored; did you mean \
                 `max_stacks_per_tenant`?",
                "kiln.conf: line 4: [keystone_authtoken] auth_backend is not known and is ignored; did you mean \
                 `[kiln] auth_backend`?",
                "kiln.conf: line 6: [ec2authtoken.one] auth_ulr is not known and is ignored; did you mean \
                 `auth_url`?",
            ]
        );
    }

    /// An operator can tell what is lost from what is done anyway.
    #[test]
    fn only_what_is_lost_is_warned_of() {
        let text = "\
[DEFAULT]
num_engine_workers = 4
encrypt_parameters_and_properties = True
cloud_backend = heat.engine.clients.OpenStackClients
keystone_backend = acme.Keystone
stack_scheduler_hints = false
[clients_nova]
endpoint_type = internal
http_log_debug = true
[trustee]
auth_type = v3password
";
        let notices = notices(text);
        assert_eq!(
            notices.warnings,
            [
                "kiln.conf: line 5: [DEFAULT] keystone_backend is not supported. It names Python code. For another \
              identity service, use [paste_deploy] flavor = custombackend."
            ]
        );
        assert_eq!(
            notices.summary.as_deref(),
            Some(
                "kiln.conf: 3 options set nothing because Kiln needs no such setting: [DEFAULT] \
                 num_engine_workers, [DEFAULT] encrypt_parameters_and_properties, [clients_nova] http_log_debug; \
                 `kiln config list` gives the reasons"
            )
        );
        assert_eq!(notices.details.len(), 3);
        assert_eq!(
            notices.details[1],
            "kiln.conf: line 3: [DEFAULT] encrypt_parameters_and_properties is always on. Hidden values are always \
             stored encrypted, with the keys of [kiln] keys_file."
        );
        assert_eq!(self::notices("[DEFAULT]\ndebug = true\n"), Notices::default());
    }

    #[test]
    fn an_encryption_key_has_the_length_that_heat_asks_for() {
        assert_eq!(
            error(&format!("[DEFAULT]\nauth_encryption_key = {}\n", "k".repeat(32))),
            "no error"
        );
        assert_eq!(
            error("[DEFAULT]\nauth_encryption_key = short\n"),
            "kiln.conf: line 2: [DEFAULT] auth_encryption_key: the key must have 32 characters, not 5"
        );
    }

    #[test]
    fn the_cloudformation_api_is_served_if_servers_are_sent_to_it() {
        let has = |text: &str| {
            let settings = Settings::from_file(&ConfigFile::parse(text).unwrap()).unwrap();
            (settings.has_cfn, settings.has_cloudwatch)
        };
        assert_eq!(has(""), (false, false));
        assert_eq!(has("[DEFAULT]\nheat_metadata_server_url = http://h:8000\n"), (true, false));
        assert_eq!(has("[DEFAULT]\nheat_watch_server_url = http://h:8003\n"), (false, true));
        let alone = "[DEFAULT]\nheat_waitcondition_server_url = http://h\n[kiln]\nroles = engine\n";
        assert_eq!(has(alone), (false, false));
    }

    #[test]
    fn logins_name_domains_by_id() {
        let text = "\
[keystone_authtoken]
username = kiln
user_domain_id = d1
project_domain_id = d2
[trustee]
username = trustee
[ec2authtoken]
auth_url = http://e
user_domain_id = d3
";
        let settings = Settings::from_file(&ConfigFile::parse(text).unwrap()).unwrap();
        let named = |name: &str, id: &str| EntityRef::NameInDomainId {
            name: name.into(),
            domain_id: id.into(),
        };
        assert_eq!(settings.login.user, named("kiln", "d1"));
        assert_eq!(settings.login.project, named("service", "d2"));
        assert_eq!(settings.cloud.unwrap().trustee.unwrap().user, named("trustee", "d1"));
        assert_eq!(settings.examiners.unwrap()[0].user, named("kiln", "d3"));
    }

    #[test]
    fn values_that_do_not_fit_are_errors_with_their_line() {
        assert_eq!(
            error("[DEFAULT]\n\nmax_stacks_per_tenant = many\n"),
            "kiln.conf: line 3: [DEFAULT] max_stacks_per_tenant must be a whole number, not \"many\""
        );
        assert_eq!(
            error("[kiln]\nlease = 0\n"),
            "kiln.conf: line 2: [kiln] lease must be 1 or more, not \"0\""
        );
        assert_eq!(
            error("[DEFAULT]\nrabbit_port = 70000\n"),
            "kiln.conf: line 2: [DEFAULT] rabbit_port must be between 0 and 65535, not \"70000\""
        );
        assert!(error("[kiln]\nroles = cook\n").contains("there is no role cook"));
    }
}
