//! What the options of a configuration come to.

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
    /// How many calls to one service of the cloud may be under way at once.
    pub(crate) calls_per_service: usize,
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
        let calls_per_service =
            positive(config, "kiln", "calls_per_service", kiln_cloud::DEFAULT_MAX_CALLS as i64)?;
        let calls_per_service = calls_per_service.min(1_000_000) as usize;
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
            cloud: cloud(config, &flavor, &login, calls_per_service)?,
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
            calls_per_service,
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
fn positive(config: &Config, section: &str, option: &str, default: i64) -> Result<u64, Failure> {
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
}
