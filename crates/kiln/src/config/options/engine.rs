//! Options of the engine, the store and the limits of stacks.

use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::load::global_environment::EnvironmentDirs;
use crate::stdio::CommandError;
use kiln_engine::{Rules, WorkLimits, WorkPriority};
use kiln_resources::TypeSettings;
use kiln_template::QueryLimits;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The directories of plug-ins that Heat searches by default.
const PLUGIN_DIRS: &[&str] =
    &["/usr/lib64/heat", "/usr/lib/heat", "/usr/local/lib/heat", "/usr/local/lib64/heat"];

const ENCRYPTION_KEY: OptionKey = ("DEFAULT", "auth_encryption_key");

/// The values.
#[derive(Default)]
pub(in crate::config) struct EngineOptions {
    action_timeout: Duration,
    error_wait: Duration,
    ride_out: Duration,
    retries: u64,
    observe_on_update: bool,
    alarm_interval: Duration,
    metrics_hours: u64,
    alarm_history_hours: u64,
    pub(in crate::config) notify_allowed: Vec<String>,
    pub(in crate::config) fetch_timeout: Duration,
    pub(in crate::config) fetch_allowed: Vec<String>,
    pub(in crate::config) fetch_public: bool,
    pub(in crate::config) lease: Duration,
    pub(in crate::config) roles: Vec<String>,
    database: Option<String>,
    pub(in crate::config) keys_file: Option<PathBuf>,
    plugin_dirs: Vec<String>,
    environment_dir: Option<PathBuf>,
    template_dir: Option<PathBuf>,
    max_stacks: Option<u64>,
    max_resources: Option<u64>,
    max_validations: u64,
    max_waiting_validations: u64,
    low_priority_work: bool,
    max_depth: u64,
    max_events: Option<u64>,
    max_event_bytes: u64,
    max_snapshots: Option<u64>,
    max_configs: Option<u64>,
    max_deployments: Option<u64>,
    max_alarms: Option<u64>,
    max_template_bytes: u64,
    max_value_bytes: u64,
    max_resource_bytes: u64,
    max_stack_bytes: u64,
    max_signals: u64,
    max_signal_bytes: u64,
    allows_adopt: bool,
    allows_abandon: bool,
    exports_in_clear: bool,
    hidden_tags: Vec<String>,
    encryption_key: Option<String>,
    user_data_format: String,
    software_config_transport: String,
    signal_transport: String,
    max_server_name: u64,
    has_volume_backups: bool,
    query_elements: u64,
    query_bytes: u64,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "action_retry_limit",
        "The number of times that the creation of a failed resource is retried.",
        Setting::Number {
            default: 5,
            min: 0,
            max: u32::MAX as u64,
            field: |it| &mut it.engine.retries,
        },
    ),
    OptionRow::new(
        "DEFAULT",
        "auth_encryption_key",
        "The key of Heat's database, 32 characters; Kiln checks it, and encrypts its own database with keys_file.",
        Setting::Password(|it| &mut it.engine.encryption_key),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_deployment_signal_transport",
        "How servers report the results of deployments, unless a template says otherwise.",
        Setting::Choice(
            "CFN_SIGNAL",
            &["CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "ZAQAR_SIGNAL"],
            |it| &mut it.engine.signal_transport,
        ),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_software_config_transport",
        "How servers get their configuration, unless a template says otherwise.",
        Setting::Choice(
            "POLL_SERVER_CFN",
            &["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"],
            |it| &mut it.engine.software_config_transport,
        ),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_user_data_format",
        "The form of the user data of servers, unless a template says otherwise.",
        Setting::Choice("HEAT_CFNTOOLS", &["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"], |it| {
            &mut it.engine.user_data_format
        }),
    ),
    OptionRow::new(
        "DEFAULT",
        "enable_stack_abandon",
        "Whether stacks can be abandoned and exported.",
        Setting::Flag(false, |it| &mut it.engine.allows_abandon),
    ),
    OptionRow::new(
        "DEFAULT",
        "enable_stack_adopt",
        "Whether existing resources can be adopted as a stack.",
        Setting::Flag(false, |it| &mut it.engine.allows_adopt),
    ),
    OptionRow::new(
        "DEFAULT",
        "environment_dir",
        "The directory with the files of the global environment, which are loaded in the order of their names, and \
         again when they change.",
        Setting::File(Some("/etc/heat/environment.d"), |it| &mut it.engine.environment_dir),
    ),
    OptionRow::new(
        "DEFAULT",
        "error_wait_time",
        "Seconds for which running operations of a stack may continue after a failure.",
        Setting::Seconds(240, |it| &mut it.engine.error_wait),
    ),
    OptionRow::new(
        "DEFAULT",
        "hidden_stack_tags",
        "Stacks with one of these tags are not listed.",
        Setting::List(&[], |it| &mut it.engine.hidden_tags),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_events_per_stack",
        "The maximum number of events that are kept for a stack; -1 for no limit.",
        Setting::Limit(Some(1000), |it| &mut it.engine.max_events),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_nested_stack_depth",
        "The maximum nesting depth of stacks.",
        Setting::Number { default: 5, min: 1, max: u64::MAX, field: |it| &mut it.engine.max_depth },
    ),
    OptionRow::new(
        "DEFAULT",
        "max_resources_per_stack",
        "The maximum number of resources of a stack with its nested stacks; -1 for no limit.",
        Setting::Limit(Some(1000), |it| &mut it.engine.max_resources),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_server_name_length",
        "The maximum length of the names that are made for servers.",
        Setting::Number {
            default: 53,
            min: 1,
            max: 53,
            field: |it| &mut it.engine.max_server_name,
        },
    ),
    OptionRow::new(
        "DEFAULT",
        "max_snapshots_per_stack",
        "The maximum number of snapshots of a stack; -1 for no limit.",
        Setting::Limit(Some(32), |it| &mut it.engine.max_snapshots),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_software_configs_per_tenant",
        "The maximum number of software configurations of a project; -1 for no limit.",
        Setting::Limit(Some(4096), |it| &mut it.engine.max_configs),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_software_deployments_per_tenant",
        "The maximum number of software deployments of a project; -1 for no limit.",
        Setting::Limit(Some(4096), |it| &mut it.engine.max_deployments),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_stacks_per_tenant",
        "The maximum number of stacks of a project; -1 for no limit.",
        Setting::Limit(Some(512), |it| &mut it.engine.max_stacks),
    ),
    OptionRow::new(
        "DEFAULT",
        "max_template_size",
        "The maximum size of a template in bytes.",
        Setting::Number {
            default: 524_288,
            min: 1,
            max: u64::MAX,
            field: |it| &mut it.engine.max_template_bytes,
        },
    ),
    OptionRow::new(
        "DEFAULT",
        "observe_on_update",
        "Whether every update compares the actual state of resources with their definition.",
        Setting::Flag(false, |it| &mut it.engine.observe_on_update),
    ),
    OptionRow::new(
        "DEFAULT",
        "periodic_interval",
        "Seconds between two evaluations of alarms.",
        Setting::Seconds(60, |it| &mut it.engine.alarm_interval),
    ),
    OptionRow::new(
        "DEFAULT",
        "plugin_dirs",
        "Directories with files (*.yaml) that define resource types; missing directories are skipped.",
        Setting::List(PLUGIN_DIRS, |it| &mut it.engine.plugin_dirs),
    ),
    OptionRow::new(
        "DEFAULT",
        "stack_action_timeout",
        "The default timeout of an action on a stack, in seconds.",
        Setting::Seconds(3600, |it| &mut it.engine.action_timeout),
    ),
    OptionRow::new(
        "DEFAULT",
        "template_dir",
        "The directory that relative names of templates in the global environment belong to.",
        Setting::File(Some("/etc/heat/templates"), |it| &mut it.engine.template_dir),
    ),
    OptionRow::new(
        "database",
        "connection",
        "The URL of the database, as SQLAlchemy writes it: sqlite, postgresql or mysql.",
        Setting::Url(Some("sqlite:///kiln.db"), |it| &mut it.engine.database),
    ),
    OptionRow::new(
        "kiln",
        "export_in_clear",
        "Whether exports of stacks have hidden values in clear, as Heat needs them to adopt a stack, for users whom the policy rule stacks:export_in_clear allows to see them. Otherwise they are encrypted with the keys of the database, and only a service with these keys can adopt them.",
        Setting::Flag(false, |it| &mut it.engine.exports_in_clear),
    ),
    OptionRow::new(
        "kiln",
        "keep_alarm_history_hours",
        "Hours for which the history of alarms is kept.",
        Setting::Number {
            default: 720,
            min: 1,
            max: u64::MAX,
            field: |it| &mut it.engine.alarm_history_hours,
        },
    ),
    OptionRow::new(
        "kiln",
        "keep_metrics_hours",
        "Hours for which samples of metrics are kept; alarms need those of the last day.",
        Setting::Number {
            default: 48,
            min: 25,
            max: u64::MAX,
            field: |it| &mut it.engine.metrics_hours,
        },
    ),
    OptionRow::new(
        "kiln",
        "keys_file",
        "The file with the encryption keys of the database; created if it does not exist.",
        Setting::File(Some("kiln.keys"), |it| &mut it.engine.keys_file),
    ),
    OptionRow::new(
        "kiln",
        "lease",
        "Seconds after which another engine takes over the stacks of a lost one.",
        Setting::Seconds(15, |it| &mut it.engine.lease),
    ),
    OptionRow::new(
        "kiln",
        "low_priority_work",
        "Whether long work, such as validations and previews, runs at a lower priority (nice +10) than requests; false for machines whose cores other processes keep busy.",
        Setting::Flag(true, |it| &mut it.engine.low_priority_work),
    ),
    OptionRow::new(
        "kiln",
        "max_alarms_per_project",
        "The maximum number of alarms of a project; -1 for no limit.",
        Setting::Limit(Some(5000), |it| &mut it.engine.max_alarms),
    ),
    OptionRow::new(
        "kiln",
        "max_resource_bytes",
        "The maximum size of the properties, data, metadata and attributes that a resource keeps, in bytes.",
        Setting::Number {
            default: 16 << 20,
            min: 1024,
            max: 1 << 30,
            field: |it| &mut it.engine.max_resource_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_signal_bytes_per_resource",
        "The maximum size of all signals that a wait condition handle keeps, in bytes.",
        Setting::Number {
            default: 1 << 20,
            min: 1024,
            max: 64 << 20,
            field: |it| &mut it.engine.max_signal_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_signals_per_resource",
        "The maximum number of signals that a wait condition handle keeps.",
        Setting::Number {
            default: 4096,
            min: 1,
            max: 1 << 20,
            field: |it| &mut it.engine.max_signals,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_stack_bytes",
        "The maximum size of what the resources of a stack and its nested stacks keep, in bytes.",
        Setting::Number {
            default: 64 << 20,
            min: 1024,
            max: 1 << 40,
            field: |it| &mut it.engine.max_stack_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_stack_event_bytes",
        "The maximum size of the events that are kept for a stack and its nested stacks, in bytes; the oldest go first.",
        Setting::Number {
            default: 64 << 20,
            min: 1024,
            max: 1 << 40,
            field: |it| &mut it.engine.max_event_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_validations_per_project",
        "How many requests of a project are validated or previewed at the same time, on half of the cores at most; further ones wait.",
        Setting::Number {
            default: 4,
            min: 1,
            max: 10_000,
            field: |it| &mut it.engine.max_validations,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_value_bytes",
        "The maximum size of a property, a resource's metadata, an attribute or an output after evaluation, in bytes.",
        Setting::Number {
            default: 4 << 20,
            min: 1024,
            max: 64 << 20,
            field: |it| &mut it.engine.max_value_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_waiting_validations_per_project",
        "How many requests of a project may wait to be validated or previewed; further ones get the status 429.",
        Setting::Number {
            default: 1000,
            min: 0,
            max: 1_000_000,
            field: |it| &mut it.engine.max_waiting_validations,
        },
    ),
    OptionRow::new(
        "kiln",
        "notify_allowed",
        "Prefixes of the URLs to which alarms may send webhooks; none are sent without one.",
        Setting::List(&[], |it| &mut it.engine.notify_allowed),
    ),
    OptionRow::new(
        "kiln",
        "ride_out",
        "For how many seconds a service of the cloud that is down or busy is waited for, within the timeout of the stack.",
        Setting::Seconds(900, |it| &mut it.engine.ride_out),
    ),
    OptionRow::new(
        "kiln",
        "roles",
        "The roles of this process: api, cfn, cloudwatch, engine; all if empty.",
        Setting::List(&[], |it| &mut it.engine.roles),
    ),
    OptionRow::new(
        "volumes",
        "backups_enabled",
        "Whether the deletion policy Snapshot may be used for volumes.",
        Setting::Flag(true, |it| &mut it.engine.has_volume_backups),
    ),
    OptionRow::new(
        "yaql",
        "limit_iterators",
        "The maximum number of elements of a collection in a YAQL query.",
        Setting::Number {
            default: 200,
            min: 1,
            max: 1 << 20,
            field: |it| &mut it.engine.query_elements,
        },
    ),
    OptionRow::new(
        "yaql",
        "memory_quota",
        "The maximum size of a value in a YAQL query, in bytes.",
        Setting::Number {
            default: 10_000,
            min: 1,
            max: 64 << 20,
            field: |it| &mut it.engine.query_bytes,
        },
    ),
];

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The path of a SQLite database behind `sqlite://`. SQLAlchemy writes a relative path after three slashes, and most
/// others an absolute one: if only one of them has a directory, it is meant.
fn sqlite_path(rest: &str, is_directory: &dyn Fn(&Path) -> bool) -> String {
    let Some(relative) = rest.strip_prefix('/') else { return rest.to_owned() };
    let has_directory = |path: &str| {
        let path = path.split('?').next().unwrap_or(path);
        let directory = Path::new(path).parent();
        directory.is_none_or(|it| it.as_os_str().is_empty() || is_directory(it))
    };
    let is_absolute = !has_directory(relative) && has_directory(rest);
    if is_absolute { rest.to_owned() } else { relative.to_owned() }
}

impl EngineOptions {
    /// The limits of the service.
    pub(in crate::config) fn rules(&self) -> Rules {
        Rules {
            max_stacks: self.max_stacks,
            max_snapshots: self.max_snapshots,
            max_configs: self.max_configs,
            max_deployments: self.max_deployments,
            max_alarms: self.max_alarms,
            max_template_bytes: size(self.max_template_bytes),
            allows_adopt: self.allows_adopt,
            allows_abandon: self.allows_abandon,
            exports_in_clear: self.exports_in_clear,
            work: WorkLimits {
                running: size(self.max_validations),
                waiting: size(self.max_waiting_validations),
            },
            hidden_tags: self.hidden_tags.iter().map(|tag| Arc::from(tag.as_str())).collect(),
        }
    }

    /// The configuration of the engine, as far as it does not depend on the cloud.
    pub(in crate::config) fn engine(&self) -> kiln_engine::Config {
        let hours = |hours: u64| Duration::from_secs(hours.saturating_mul(3600));
        kiln_engine::Config {
            action_timeout: self.action_timeout,
            error_wait: self.error_wait,
            ride_out: self.ride_out,
            retries: u32::try_from(self.retries).unwrap_or(u32::MAX),
            max_depth: size(self.max_depth),
            max_resources: self.max_resources.map(size),
            max_events: self.max_events,
            max_event_bytes: self.max_event_bytes,
            work_priority: match self.low_priority_work {
                true => WorkPriority::Low,
                false => WorkPriority::Usual,
            },
            query_limits: QueryLimits {
                elements: size(self.query_elements),
                bytes: size(self.query_bytes),
            },
            byte_limits: kiln_engine::ByteLimits {
                value: size(self.max_value_bytes),
                resource: size(self.max_resource_bytes),
                tree: size(self.max_stack_bytes),
                signals: size(self.max_signal_bytes),
                max_signals: size(self.max_signals),
            },
            observe_on_update: self.observe_on_update,
            alarm_scan_interval: self.alarm_interval,
            metric_retention: hours(self.metrics_hours),
            alarm_history_retention: hours(self.alarm_history_hours),
            webhook_client: Arc::new(kiln_api::WebhookSender::new(self.notify_allowed.clone())),
            template_fetcher: Arc::new(kiln_api::UrlFetcher::new(
                self.fetch_allowed.clone(),
                self.fetch_public,
                self.fetch_timeout,
            )),
            ..kiln_engine::Config::default()
        }
    }

    /// What the operator decides about built-in types.
    pub(in crate::config) fn type_settings(&self) -> TypeSettings {
        TypeSettings {
            user_data_format: self.user_data_format.clone(),
            software_config_transport: self.software_config_transport.clone(),
            signal_transport: self.signal_transport.clone(),
            max_server_name: size(self.max_server_name),
            has_volume_backups: self.has_volume_backups,
        }
    }

    /// Refuses a key that Heat would refuse, too: with it, a database of Heat could not be read.
    pub(in crate::config) fn check_encryption_key(
        &self,
        file: &ConfigFile,
    ) -> Result<(), CommandError> {
        match self.encryption_key.as_ref().map(|key| key.chars().count()) {
            None | Some(16 | 24 | 32) => Ok(()),
            Some(count) => {
                let message = format!("the key must have 32 characters, not {count}");
                Err(file.error_at(ENCRYPTION_KEY, &message))
            }
        }
    }

    /// The plug-in directories that exist.
    pub(in crate::config) fn plugin_dirs(&self) -> Vec<PathBuf> {
        self.plugin_dirs.iter().map(PathBuf::from).filter(|folder| folder.is_dir()).collect()
    }

    /// The directories of the global environment.
    pub(in crate::config) fn environment_dirs(&self) -> EnvironmentDirs {
        EnvironmentDirs {
            environments: self.environment_dir.clone(),
            templates: self.template_dir.clone(),
        }
    }

    /// The database URL without the driver that SQLAlchemy names.
    pub(in crate::config) fn database(&self) -> String {
        let url = self.database.as_deref().unwrap_or_default();
        let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
        let scheme = scheme.split('+').next().unwrap_or(scheme);
        match scheme {
            "sqlite" => format!("sqlite://{}", sqlite_path(rest, &|directory| directory.is_dir())),
            "postgresql" => format!("postgres://{rest}"),
            "mariadb" => format!("mysql://{rest}"),
            scheme => format!("{scheme}://{rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_named_as_sqlalchemy_names_them() {
        let database = |url: &str| {
            EngineOptions { database: Some(url.to_owned()), ..EngineOptions::default() }.database()
        };
        assert_eq!(database("mysql+pymysql://u:p@h/heat"), "mysql://u:p@h/heat");
        assert_eq!(database("postgresql+psycopg2://h/heat"), "postgres://h/heat");
        assert_eq!(database("sqlite:////var/kiln.db"), "sqlite:///var/kiln.db");
        assert_eq!(database("sqlite:///kiln.db"), "sqlite://kiln.db");
        assert_eq!(database("sqlite://kiln.db"), "sqlite://kiln.db");
        let exists = |directory: &Path| directory == Path::new("/var/lib");
        assert_eq!(sqlite_path("/var/lib/kiln.db?mode=ro", &exists), "/var/lib/kiln.db?mode=ro");
        assert_eq!(sqlite_path("//var/lib/kiln.db", &exists), "/var/lib/kiln.db");
        assert_eq!(sqlite_path("/var/none/kiln.db", &exists), "var/none/kiln.db");
        assert_eq!(sqlite_path("/kiln.db", &exists), "kiln.db");
    }
}
