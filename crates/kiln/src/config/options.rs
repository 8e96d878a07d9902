//! The options that there are, and what they come to.

use super::Config;
use super::cloud::{cloud, outside, stack_domain, stack_user_role};
use super::notifications::notifications;
use super::signatures::examiners;
use super::sockets::{Socket, port, roles};
use crate::streams::Failure;
use kiln_api::cfn::Prices;
use kiln_api::policy;
use kiln_engine::service::Rules;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The options that have an effect: section, name, and what for.
pub(crate) const KNOWN: &[(&str, &str, &str)] = &[
    ("DEFAULT", "action_retry_limit", "How often a resource that failed is made anew."),
    ("DEFAULT", "amqp_auto_delete", "The older place of that option of [oslo_messaging_rabbit]."),
    (
        "DEFAULT",
        "amqp_durable_queues",
        "The older place of that option of [oslo_messaging_rabbit].",
    ),
    ("DEFAULT", "control_exchange", "The exchange that notifications are published on."),
    ("DEFAULT", "default_notification_level", "The level of notifications of what went well."),
    (
        "DEFAULT",
        "default_publisher_id",
        "Who sends notifications; orchestration.HOST if nothing is said.",
    ),
    ("DEFAULT", "enable_stack_abandon", "Whether stacks can be given up, and exported."),
    ("DEFAULT", "enable_stack_adopt", "Whether stacks can be made of what another left behind."),
    ("DEFAULT", "error_wait_time", "Seconds that what is under way may go on after a failure."),
    ("DEFAULT", "heat_metadata_server_url", "Where servers read their metadata."),
    ("DEFAULT", "heat_stack_user_role", "The role of the users of stacks."),
    (
        "DEFAULT",
        "heat_waitcondition_server_url",
        "Where servers tell of wait conditions; the catalogue says so if this does not.",
    ),
    ("DEFAULT", "heat_watch_server_url", "Where servers report to: the CloudWatch API."),
    ("DEFAULT", "hidden_stack_tags", "Stacks with one of these tags are not listed."),
    ("DEFAULT", "host", "What this machine is called in notifications."),
    ("DEFAULT", "kombu_ssl_ca_certs", "An older name of ssl_ca_file."),
    ("DEFAULT", "kombu_ssl_certfile", "An older name of ssl_cert_file."),
    ("DEFAULT", "kombu_ssl_keyfile", "An older name of ssl_key_file."),
    ("DEFAULT", "max_events_per_stack", "How many events of a stack are kept; -1 for all."),
    ("DEFAULT", "max_json_body_size", "How many bytes a request may have."),
    ("DEFAULT", "max_nested_stack_depth", "How deep stacks may be nested."),
    (
        "DEFAULT",
        "max_resources_per_stack",
        "How many resources a tree of stacks may have; -1 for any.",
    ),
    ("DEFAULT", "max_snapshots_per_stack", "How many snapshots a stack may have; -1 for any."),
    ("DEFAULT", "max_software_configs_per_tenant", "How many configurations a project may have."),
    ("DEFAULT", "max_software_deployments_per_tenant", "How many deployments a project may have."),
    ("DEFAULT", "max_stacks_per_tenant", "How many stacks a project may have; -1 for any."),
    ("DEFAULT", "max_template_size", "How many bytes a template may have."),
    ("DEFAULT", "notification_driver", "An older name of [oslo_messaging_notifications] driver."),
    ("DEFAULT", "notification_topics", "An older name of [oslo_messaging_notifications] topics."),
    (
        "DEFAULT",
        "notification_transport_url",
        "An older name of [oslo_messaging_notifications] transport_url.",
    ),
    (
        "DEFAULT",
        "observe_on_update",
        "Whether every update compares objects with what they should be.",
    ),
    ("DEFAULT", "periodic_interval", "Seconds between two looks for alarms that are due."),
    (
        "DEFAULT",
        "plugin_dirs",
        "Folders with files (*.yaml) that describe resource types; those that are not there are passed over.",
    ),
    ("DEFAULT", "rabbit_host", "The machine of the broker, if there is no transport_url."),
    ("DEFAULT", "rabbit_hosts", "The machines of the broker, if there is no transport_url."),
    ("DEFAULT", "rabbit_password", "The password at the broker, if there is no transport_url."),
    ("DEFAULT", "rabbit_port", "The port of the broker, if there is no transport_url."),
    (
        "DEFAULT",
        "rabbit_quorum_queue",
        "The older place of that option of [oslo_messaging_rabbit].",
    ),
    ("DEFAULT", "rabbit_use_ssl", "An older name of [oslo_messaging_rabbit] ssl."),
    ("DEFAULT", "rabbit_userid", "The user at the broker, if there is no transport_url."),
    (
        "DEFAULT",
        "rabbit_virtual_host",
        "The virtual host of the broker, if there is no transport_url.",
    ),
    ("DEFAULT", "region_name_for_services", "The region whose services are used."),
    ("DEFAULT", "stack_action_timeout", "Seconds that an action on a stack may take."),
    (
        "DEFAULT",
        "stack_domain_admin",
        "The user who may do anything in the domain of stacks' users.",
    ),
    ("DEFAULT", "stack_domain_admin_password", "The password of that user."),
    ("DEFAULT", "stack_user_domain_id", "The domain of the users of stacks, by its id."),
    ("DEFAULT", "stack_user_domain_name", "The domain of the users of stacks, by its name."),
    ("DEFAULT", "template_fetch_timeout", "Seconds that fetching a template may take."),
    ("DEFAULT", "transport_url", "The broker of notifications, if they have none of their own."),
    (
        "DEFAULT",
        "trusts_delegated_roles",
        "The roles that users lend; all that they have if none is named.",
    ),
    ("auth_password", "allowed_auth_uris", "The identity services among which clients choose."),
    ("auth_password", "multi_cloud", "Whether clients choose an identity service, and must."),
    ("clients", "ca_file", "Certificates of authorities that are trusted, in PEM."),
    ("clients", "endpoint_type", "Which endpoints are used: publicURL, internalURL or adminURL."),
    ("clients", "insecure", "Whether any certificate is taken."),
    (
        "clients_keystone",
        "auth_uri",
        "Where the identity service is, for calls on behalf of users.",
    ),
    ("cors", "allowed_origin", "Origins whose pages may send requests."),
    ("database", "connection", "The database."),
    ("ec2authtoken", "auth_url", "Where signatures are examined, if not where tokens are."),
    (
        "ec2authtoken",
        "clouds",
        "Names of identity services, each with a section [ec2authtoken.NAME].",
    ),
    ("ec2authtoken", "multi_cloud", "Whether those are asked, one after the other."),
    ("ec2authtoken", "password", "The password of the service's own user there."),
    ("ec2authtoken", "project_domain_name", "The domain of the service's project there."),
    ("ec2authtoken", "project_name", "The project of the service's own user there."),
    ("ec2authtoken", "user_domain_name", "The domain of the service's own user there."),
    ("ec2authtoken", "username", "The service's own user there."),
    ("healthcheck", "backends", "disable_by_file: a file can say that no requests should come."),
    ("healthcheck", "disable_by_file_path", "That file."),
    ("heat_api", "bind_host", "The address that the native API listens on."),
    ("heat_api", "bind_port", "The port that the native API listens on."),
    ("heat_api", "cert_file", "The certificate of the native API, in PEM."),
    ("heat_api", "key_file", "The key of that certificate, in PEM."),
    ("heat_api_cfn", "bind_host", "The address that the CloudFormation API listens on."),
    (
        "heat_api_cfn",
        "bind_port",
        "The port that the CloudFormation API listens on; it does if a port or its role is named.",
    ),
    ("heat_api_cfn", "cert_file", "The certificate of the CloudFormation API, in PEM."),
    ("heat_api_cfn", "key_file", "The key of that certificate, in PEM."),
    ("heat_api_cloudwatch", "bind_host", "The address that the CloudWatch API listens on."),
    (
        "heat_api_cloudwatch",
        "bind_port",
        "The port that the CloudWatch API listens on; it does if a port or its role is named.",
    ),
    ("heat_api_cloudwatch", "cert_file", "The certificate of the CloudWatch API, in PEM."),
    ("heat_api_cloudwatch", "key_file", "The key of that certificate, in PEM."),
    ("keystone_authtoken", "auth_url", "Where the identity service is."),
    ("keystone_authtoken", "password", "The password of the service's own user."),
    ("keystone_authtoken", "project_domain_name", "The domain of the service's project."),
    ("keystone_authtoken", "project_name", "The project of the service's own user."),
    ("keystone_authtoken", "service_token_roles", "Roles that let an expired token pass."),
    ("keystone_authtoken", "token_cache_time", "Seconds that a token is believed without asking."),
    ("keystone_authtoken", "user_domain_name", "The domain of the service's own user."),
    ("keystone_authtoken", "username", "The service's own user."),
    ("keystone_authtoken", "www_authenticate_uri", "Where clients are told to get a token."),
    ("kiln", "auth_backend", "The address of the program that custombackend asks."),
    ("kiln", "auth_backend_roles", "The roles of whoever that program lets in."),
    (
        "kiln",
        "calls_per_service",
        "Calls that may be under way to one service of the cloud at once; look-ups for many have a tenth beside.",
    ),
    ("kiln", "fetch_allowed", "What the addresses of templates must begin with to be fetched."),
    ("kiln", "keep_alarm_history_hours", "How many hours it is kept what happened to alarms."),
    ("kiln", "keep_metrics_hours", "How many hours samples of metrics are kept; at least 25."),
    ("kiln", "keys_file", "The file with the keys of the database; made if it is not there."),
    ("kiln", "lease", "Seconds after which another engine takes over from one that is gone."),
    ("kiln", "log_format", "How log lines are written: text or json."),
    ("kiln", "max_alarms_per_project", "How many alarms a project may have; -1 for any."),
    ("kiln", "metrics_host", "The address that metrics are served on."),
    ("kiln", "metrics_port", "The port that metrics are served on; none are served without it."),
    ("kiln", "notify_allowed", "What addresses must begin with to be told by alarms."),
    ("kiln", "price_file", "A list of prices, for estimates of what a template would cost."),
    ("kiln", "rate", "Requests a second that a project may send; 0 for any."),
    ("kiln", "roles", "What this process does: api, cfn, cloudwatch, engine, or all."),
    (
        "kiln",
        "stack_users_in_projects",
        "Whether the users of stacks are in the projects of their owners, if there is no domain for them.",
    ),
    ("noauth", "token_response", "A file with a token as the identity service describes it."),
    (
        "oslo_messaging_notifications",
        "driver",
        "How operators are told of stacks: messagingv2, messaging, log or noop; may be repeated.",
    ),
    (
        "oslo_messaging_notifications",
        "retry",
        "How often a notification that was not sent is tried again; -1 for ever.",
    ),
    (
        "oslo_messaging_notifications",
        "topics",
        "What the names of the queues of notifications begin with.",
    ),
    (
        "oslo_messaging_notifications",
        "transport_url",
        "The broker: rabbit://USER:PASSWORD@HOST:PORT,.../VIRTUAL_HOST.",
    ),
    (
        "oslo_messaging_rabbit",
        "amqp_auto_delete",
        "Whether the exchange and the queues go with those who use them.",
    ),
    (
        "oslo_messaging_rabbit",
        "amqp_durable_queues",
        "Whether the exchange and the queues outlive the broker.",
    ),
    ("oslo_messaging_rabbit", "kombu_ssl_ca_certs", "An older name of ssl_ca_file."),
    ("oslo_messaging_rabbit", "kombu_ssl_certfile", "An older name of ssl_cert_file."),
    ("oslo_messaging_rabbit", "kombu_ssl_keyfile", "An older name of ssl_key_file."),
    (
        "oslo_messaging_rabbit",
        "rabbit_host",
        "The machine of the broker, if there is no transport_url.",
    ),
    (
        "oslo_messaging_rabbit",
        "rabbit_hosts",
        "The machines of the broker, if there is no transport_url.",
    ),
    (
        "oslo_messaging_rabbit",
        "rabbit_password",
        "The password at the broker, if there is no transport_url.",
    ),
    (
        "oslo_messaging_rabbit",
        "rabbit_port",
        "The port of the broker, if there is no transport_url.",
    ),
    ("oslo_messaging_rabbit", "rabbit_quorum_queue", "Whether the broker replicates the queues."),
    ("oslo_messaging_rabbit", "rabbit_use_ssl", "An older name of ssl."),
    (
        "oslo_messaging_rabbit",
        "rabbit_userid",
        "The user at the broker, if there is no transport_url.",
    ),
    (
        "oslo_messaging_rabbit",
        "rabbit_virtual_host",
        "The virtual host of the broker, if there is no transport_url.",
    ),
    ("oslo_messaging_rabbit", "ssl", "Whether the connection to the broker is encrypted."),
    (
        "oslo_messaging_rabbit",
        "ssl_ca_file",
        "Certificates of authorities that are trusted there, in PEM.",
    ),
    ("oslo_messaging_rabbit", "ssl_cert_file", "The certificate of our own for that, in PEM."),
    ("oslo_messaging_rabbit", "ssl_key_file", "The key of that certificate, in PEM."),
    ("oslo_middleware", "enable_proxy_headers_parsing", "Whether a proxy's headers are believed."),
    ("oslo_policy", "enforce_new_defaults", "Whether rules ask no less than their newest form."),
    ("oslo_policy", "enforce_scope", "Whether tokens must be for a project."),
    ("oslo_policy", "policy_file", "A file with rules that replace the built-in ones."),
    (
        "paste_deploy",
        "flavor",
        "How callers are known: empty for tokens, standalone, custombackend or noauth.",
    ),
    ("revision", "heat_revision", "What build_info tells."),
    ("rpc_notifier2", "topics", "An older name of [oslo_messaging_notifications] topics."),
    ("trustee", "auth_url", "Where the identity service is, for calls on behalf of users."),
    ("trustee", "password", "The password of whoever users lend their rights to."),
    ("trustee", "user_domain_name", "The domain of whoever users lend their rights to."),
    ("trustee", "username", "Whoever users lend their rights to."),
];

/// How callers are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    /// By tokens.
    Keystone,
    /// By user name and password.
    Standalone,
    /// By an operator's own program, at this address; whoever it lets in has these roles.
    Custom(String, Vec<String>),
    /// Not at all; a file tells which services there are.
    NoAuth(Option<PathBuf>),
}

/// The service's own login.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    pub(crate) auth_url: String,
    pub(crate) www_authenticate_uri: String,
    pub(crate) username: String,
    pub(crate) password: String,
    pub(crate) project: String,
    pub(crate) user_domain: String,
    pub(crate) project_domain: String,
    pub(crate) cache: Duration,
    pub(crate) service_token_roles: Vec<String>,
    /// The identity services among which clients choose, and must, if they may.
    pub(crate) choice: Option<Vec<String>>,
}

/// What the options come to.
pub(crate) struct Settings {
    pub(crate) has_api: bool,
    pub(crate) has_cfn: bool,
    pub(crate) has_cloudwatch: bool,
    pub(crate) has_engine: bool,
    /// Where the native API listens.
    pub(crate) native: Socket,
    /// Where the CloudFormation API listens.
    pub(crate) cfn: Socket,
    /// Where the CloudWatch API listens.
    pub(crate) cloudwatch: Socket,
    pub(crate) database: String,
    pub(crate) keys: PathBuf,
    pub(crate) metrics: Option<(String, u16)>,
    pub(crate) flavor: Flavor,
    pub(crate) login: Login,
    /// Who examines signatures, if not whoever examines tokens.
    pub(crate) examiners: Option<Vec<Login>>,
    /// How the cloud is reached, if there is one.
    pub(crate) cloud: Option<kiln_cloud::Settings>,
    pub(crate) policy_file: Option<PathBuf>,
    pub(crate) policy: policy::Options,
    pub(crate) rules: Rules,
    pub(crate) engine: kiln_engine::config::Config,
    /// How operators are told of what happens to stacks, if they are.
    pub(crate) notifications: Option<kiln_bus::Settings>,
    /// Folders with files that describe resource types.
    pub(crate) plugin_dirs: Vec<PathBuf>,
    pub(crate) api: kiln_api::Options,
    pub(crate) lease: Duration,
    /// Requests a second that a project may send.
    pub(crate) rate: Option<u32>,
    pub(crate) is_json_log: bool,
    /// What an operator should know of the file.
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// What a configuration comes to.
    pub(crate) fn of(config: &Config) -> Result<Settings, Failure> {
        let roles = roles(config)?;
        let has = |role: &str| roles.is_empty() || roles.iter().any(|known| known == role);
        let text = |section: &str, option: &str, default: &str| {
            config.text(section, option).unwrap_or_else(|| default.to_owned())
        };
        // An interface that not every deployment has is there if its port or its role is named.
        let has_named = |role: &str, section: &str| match roles.is_empty() {
            true => config.text(section, "bind_port").is_some(),
            false => has(role),
        };
        let flavor = match text("paste_deploy", "flavor", "").as_str() {
            "" | "keystone" => Flavor::Keystone,
            "standalone" => Flavor::Standalone,
            "custombackend" => {
                let Some(url) = config.text("kiln", "auth_backend") else {
                    let message =
                        "custombackend needs the address of a program in [kiln] auth_backend";
                    return Err(config.wrong("paste_deploy", "flavor", message));
                };
                let roles = match config.list("kiln", "auth_backend_roles") {
                    roles if roles.is_empty() => vec!["member".to_owned(), "reader".to_owned()],
                    roles => roles,
                };
                Flavor::Custom(url, roles)
            }
            "noauth" => Flavor::NoAuth(config.text("noauth", "token_response").map(Into::into)),
            other => {
                let message = format!(
                    "{other} is not known; it is empty, standalone, custombackend or noauth"
                );
                return Err(config.wrong("paste_deploy", "flavor", &message));
            }
        };
        let file = |section: &str, option: &str| config.text(section, option).map(PathBuf::from);
        let metrics = match config.text("kiln", "metrics_port") {
            Some(_) => {
                let host = text("kiln", "metrics_host", "127.0.0.1");
                Some((host, port(config, "kiln", "metrics_port", 0)?))
            }
            None => None,
        };
        let login = login(config)?;
        Ok(Settings {
            has_api: has("api"),
            has_cfn: has_named("cfn", "heat_api_cfn"),
            has_cloudwatch: has_named("cloudwatch", "heat_api_cloudwatch"),
            has_engine: has("engine"),
            native: Socket::of(config, "heat_api", 8004)?,
            cfn: Socket::of(config, "heat_api_cfn", 8000)?,
            cloudwatch: Socket::of(config, "heat_api_cloudwatch", 8003)?,
            database: database_url(&text("database", "connection", "sqlite://kiln.db")),
            keys: text("kiln", "keys_file", "kiln.keys").into(),
            metrics,
            cloud: cloud(config, &flavor, &login)?,
            engine: engine(config, &login)?,
            notifications: notifications(config)?,
            examiners: examiners(config, &flavor, &login)?,
            flavor,
            login,
            policy_file: file("oslo_policy", "policy_file"),
            policy: policy::Options {
                enforce_new_defaults: config.flag("oslo_policy", "enforce_new_defaults", true)?,
                enforce_scope: config.flag("oslo_policy", "enforce_scope", true)?,
            },
            rules: rules(config)?,
            plugin_dirs: plugin_dirs(config),
            api: api(config)?,
            lease: Duration::from_secs(positive(config, "kiln", "lease", 15)?),
            rate: match config.limit("kiln", "rate", 0)?.unwrap_or(0) {
                0 => None,
                rate => Some(u32::try_from(rate).unwrap_or(u32::MAX)),
            },
            is_json_log: text("kiln", "log_format", "text") == "json",
            warnings: config.unknown(),
        })
    }
}

/// A number above zero.
pub(super) fn positive(
    config: &Config,
    section: &str,
    option: &str,
    default: i64,
) -> Result<u64, Failure> {
    let number = config.number(section, option, default)?;
    match u64::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(config.wrong(section, option, "it must be above zero")),
    }
}

/// A database URL in our words: SQLAlchemy names the driver, too.
fn database_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let scheme = scheme.split('+').next().unwrap_or(scheme);
    match scheme {
        // Three slashes and a relative path there, two here.
        "sqlite" => format!("sqlite://{}", rest.strip_prefix('/').unwrap_or(rest)),
        "postgresql" => format!("postgres://{rest}"),
        "mariadb" => format!("mysql://{rest}"),
        scheme => format!("{scheme}://{rest}"),
    }
}

fn login(config: &Config) -> Result<Login, Failure> {
    let section = "keystone_authtoken";
    let text = |option: &str, default: &str| {
        config.text(section, option).unwrap_or_else(|| default.to_owned())
    };
    let auth_url = text("auth_url", "http://127.0.0.1:5000");
    Ok(Login {
        www_authenticate_uri: text("www_authenticate_uri", &auth_url),
        auth_url,
        username: text("username", "heat"),
        password: text("password", ""),
        project: text("project_name", "service"),
        user_domain: text("user_domain_name", "Default"),
        project_domain: text("project_domain_name", "Default"),
        choice: match config.flag("auth_password", "multi_cloud", false)? {
            true => Some(config.list("auth_password", "allowed_auth_uris")),
            false => None,
        },
        cache: Duration::from_secs(config.limit(section, "token_cache_time", 300)?.unwrap_or(0)),
        service_token_roles: match config.list(section, "service_token_roles") {
            roles if roles.is_empty() => vec!["service".to_owned()],
            roles => roles,
        },
    })
}

fn rules(config: &Config) -> Result<Rules, Failure> {
    let limit = |option: &str, default: u64| config.limit("DEFAULT", option, default);
    Ok(Rules {
        max_stacks: limit("max_stacks_per_tenant", 512)?,
        max_snapshots: limit("max_snapshots_per_stack", 32)?,
        max_configs: limit("max_software_configs_per_tenant", 4096)?,
        max_deployments: limit("max_software_deployments_per_tenant", 4096)?,
        max_alarms: config.limit("kiln", "max_alarms_per_project", 5000)?,
        max_template_bytes: bytes(config, "max_template_size", 524_288)?,
        allows_adopt: config.flag("DEFAULT", "enable_stack_adopt", false)?,
        allows_abandon: config.flag("DEFAULT", "enable_stack_abandon", false)?,
        hidden_tags: config
            .list("DEFAULT", "hidden_stack_tags")
            .iter()
            .map(|it| Arc::from(it.as_str()))
            .collect(),
    })
}

/// The folders that are there: the reference passes over others as well.
fn plugin_dirs(config: &Config) -> Vec<PathBuf> {
    const USUAL: [&str; 4] =
        ["/usr/lib64/heat", "/usr/lib/heat", "/usr/local/lib/heat", "/usr/local/lib64/heat"];
    let folders = match config.list("DEFAULT", "plugin_dirs") {
        folders if folders.is_empty() => USUAL.map(str::to_owned).to_vec(),
        folders => folders,
    };
    folders.into_iter().map(PathBuf::from).filter(|folder| folder.is_dir()).collect()
}

fn bytes(config: &Config, option: &str, default: i64) -> Result<usize, Failure> {
    let bytes = positive(config, "DEFAULT", option, default)?;
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn engine(config: &Config, login: &Login) -> Result<kiln_engine::config::Config, Failure> {
    let seconds = |option: &str, default: i64| {
        positive(config, "DEFAULT", option, default).map(Duration::from_secs)
    };
    // Alarms look back a day at most.
    let hours = |option: &str, default: i64, least: u64| {
        let hours = positive(config, "kiln", option, default)?;
        Ok::<_, Failure>(Duration::from_secs(hours.max(least).saturating_mul(3600)))
    };
    let limit = config.limit("DEFAULT", "max_resources_per_stack", 1000)?;
    let depth = positive(config, "DEFAULT", "max_nested_stack_depth", 5)?;
    let retries = config.limit("DEFAULT", "action_retry_limit", 5)?.unwrap_or(0);
    Ok(kiln_engine::config::Config {
        global: kiln_resources::environment::shipped(),
        outside: outside(config, login)?.into(),
        region: config.text("DEFAULT", "region_name_for_services").map(Into::into),
        action_timeout: seconds("stack_action_timeout", 3600)?,
        error_wait: seconds("error_wait_time", 240)?,
        retries: u32::try_from(retries).unwrap_or(u32::MAX),
        max_depth: usize::try_from(depth).unwrap_or(usize::MAX),
        max_resources: limit.map(|it| usize::try_from(it).unwrap_or(usize::MAX)),
        max_events: config.limit("DEFAULT", "max_events_per_stack", 1000)?,
        observe_on_update: config.flag("DEFAULT", "observe_on_update", false)?,
        watch: seconds("periodic_interval", 60)?,
        keep_metrics: hours("keep_metrics_hours", 48, 25)?,
        keep_history: hours("keep_alarm_history_hours", 30 * 24, 1)?,
        messenger: Arc::new(kiln_api::Outgoing::to(config.list("kiln", "notify_allowed"))),
        ..kiln_engine::config::Config::default()
    })
}

/// The one way to judge health that is known.
const BY_FILE: &str = "disable_by_file";

fn api(config: &Config) -> Result<kiln_api::Options, Failure> {
    let revision = config.text("revision", "heat_revision").unwrap_or_else(|| "unknown".into());
    let timeout = positive(config, "DEFAULT", "template_fetch_timeout", 60)?;
    Ok(kiln_api::Options {
        max_body_bytes: bytes(config, "max_json_body_size", 1_048_576)?,
        revision,
        fetch_timeout: Duration::from_secs(timeout),
        fetch_allowed: config.list("kiln", "fetch_allowed"),
        scheme: match config.text("heat_api", "cert_file") {
            Some(_) => "https",
            None => "http",
        },
        trusts_proxy: config.flag("oslo_middleware", "enable_proxy_headers_parsing", false)?,
        origins: config.list("cors", "allowed_origin"),
        stack_domain: stack_domain(config)?,
        stack_user_role: stack_user_role(config),
        prices: prices(config)?,
        health_file: match config.list("healthcheck", "backends").iter().any(|it| it == BY_FILE) {
            true => config.text("healthcheck", "disable_by_file_path").map(PathBuf::from),
            false => None,
        },
    })
}

/// The operator's list of prices.
fn prices(config: &Config) -> Result<Option<Arc<Prices>>, Failure> {
    let Some(path) = config.text("kiln", "price_file") else { return Ok(None) };
    let wrong = |why: String| config.wrong("kiln", "price_file", &format!("{path}: {why}"));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    Prices::read(&path, &text).map(|prices| Some(Arc::new(prices))).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_named_as_sqlalchemy_names_them() {
        assert_eq!(database_url("mysql+pymysql://u:p@h/heat"), "mysql://u:p@h/heat");
        assert_eq!(database_url("postgresql+psycopg2://h/heat"), "postgres://h/heat");
        assert_eq!(database_url("sqlite:////var/kiln.db"), "sqlite:///var/kiln.db");
        assert_eq!(database_url("sqlite:///kiln.db"), "sqlite://kiln.db");
    }

    #[test]
    fn options_are_sorted() {
        assert!(KNOWN.is_sorted_by_key(|row| (row.0, row.1)));
    }
}
