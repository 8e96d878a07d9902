//! Options of Heat, and of the libraries that it is configured with, that set nothing in Kiln: each with the reason.
//!
//! With [`super::rows`], this table has every option of Heat. What an option of this table asks for is either what Kiln
//! always does, or not needed, or not supported; the message at the start tells these apart.

use std::fmt;

/// What becomes of an option that sets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    /// Kiln always does what the option switches on.
    AlwaysOn,
    /// There is nothing in Kiln that the option could set.
    NotNeeded,
    /// Kiln cannot do what the option asks for, unless it is one of these values.
    NotSupported(&'static [&'static str]),
}

impl fmt::Display for Acceptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Acceptance::AlwaysOn => "always on",
            Acceptance::NotNeeded => "not needed",
            Acceptance::NotSupported(_) => "not supported",
        })
    }
}

/// Options that set nothing.
pub(crate) struct AcceptedRow {
    /// The section of the file.
    pub(crate) section: &'static str,
    /// The names within the section.
    pub(crate) names: &'static [&'static str],
    /// What becomes of them.
    pub(crate) acceptance: Acceptance,
    /// Why, and for what is not supported, what to do instead.
    pub(crate) reason: &'static str,
}

const fn always(
    section: &'static str,
    names: &'static [&'static str],
    reason: &'static str,
) -> AcceptedRow {
    AcceptedRow { section, names, acceptance: Acceptance::AlwaysOn, reason }
}

const fn unneeded(
    section: &'static str,
    names: &'static [&'static str],
    reason: &'static str,
) -> AcceptedRow {
    AcceptedRow { section, names, acceptance: Acceptance::NotNeeded, reason }
}

const fn unsupported(
    section: &'static str,
    names: &'static [&'static str],
    harmless: &'static [&'static str],
    reason: &'static str,
) -> AcceptedRow {
    AcceptedRow { section, names, acceptance: Acceptance::NotSupported(harmless), reason }
}

/// Why options of a Python session have no counterpart.
const SESSION: &str =
    "Kiln has its own timeouts and retries of calls, and logs calls at level DEBUG.";
const SCOPE: &str =
    "The service user logs in to a project; name it with project_name or project_id.";
const PASSWORD: &str =
    "The service user logs in with a password; give username and password in this section.";

/// All rows, in order of section.
pub(crate) const ACCEPTED: &[AcceptedRow] = &[
    unneeded(
        "DEFAULT",
        &["client_retry_limit"],
        "Kiln repeats a call that failed for a reason that may pass, until the action's timeout.",
    ),
    unsupported(
        "DEFAULT",
        &["cloud_backend"],
        &["heat.engine.clients.OpenStackClients"],
        "It names Python code. For services of your own, declare resource types in YAML in plugin_dirs.",
    ),
    unsupported(
        "DEFAULT",
        &["keystone_backend"],
        &["heat.engine.clients.os.keystone.heat_keystoneclient.KsClientWrapper"],
        "It names Python code. For another identity service, use [paste_deploy] flavor = custombackend.",
    ),
    always(
        "DEFAULT",
        &["convergence_engine"],
        "Every stack is processed by the convergent engine.",
    ),
    always(
        "DEFAULT",
        &["deferred_auth_method", "reauthentication_auth_method"],
        "Stacks act by a trust, or by the password if the client sent one; tokens are renewed with it.",
    ),
    always(
        "DEFAULT",
        &["encrypt_parameters_and_properties"],
        "Hidden values are always stored encrypted, with the keys of [kiln] keys_file.",
    ),
    unneeded(
        "DEFAULT",
        &["engine_life_check_timeout"],
        "Engines find lost ones by their leases; [kiln] lease sets the time.",
    ),
    unneeded(
        "DEFAULT",
        &["event_purge_batch_size"],
        "The oldest event goes when max_events_per_stack is reached.",
    ),
    always(
        "DEFAULT",
        &["instance_connection_https_validate_certificates", "instance_connection_is_secure"],
        "Servers verify certificates, and encrypt connections if the URL that they are given says so.",
    ),
    unsupported(
        "DEFAULT",
        &["loadbalancer_template"],
        &[],
        "AWS::ElasticLoadBalancing::LoadBalancer has a template of its own; map that type to yours in a file of \
         environment_dir.",
    ),
    unneeded(
        "DEFAULT",
        &["max_interface_check_attempts"],
        "An interface is waited for until the action's timeout.",
    ),
    unneeded(
        "DEFAULT",
        &["metadata_put_timeout"],
        "Metadata is stored when the request is answered.",
    ),
    unneeded("DEFAULT", &["num_engine_workers"], "A process uses all cores."),
    unsupported(
        "DEFAULT",
        &["server_keystone_endpoint_type"],
        &[""],
        "Servers are given [keystone_authtoken] www_authenticate_uri; set that to the URL that they can reach.",
    ),
    unsupported(
        "DEFAULT",
        &["stack_scheduler_hints"],
        &["false"],
        "Servers and volumes get the hints of their properties only; give them scheduler_hints in templates.",
    ),
    // oslo.log
    unsupported(
        "DEFAULT",
        &[
            "log_config_append",
            "log_dir",
            "log_file",
            "use_eventlog",
            "use_journal",
            "use_syslog",
            "watch_log_file",
        ],
        &["", "false"],
        "The log is written to standard error; let systemd, the container or the shell direct it to its place.",
    ),
    unneeded(
        "DEFAULT",
        &[
            "fatal_deprecations",
            "instance_format",
            "instance_uuid_format",
            "log_color",
            "log_date_format",
            "log_options",
            "log_rotate_interval",
            "log_rotate_interval_type",
            "log_rotation_type",
            "logging_context_format_string",
            "logging_debug_format_suffix",
            "logging_default_format_string",
            "logging_exception_prefix",
            "logging_user_identity_format",
            "max_logfile_count",
            "max_logfile_size_mb",
            "publish_errors",
            "rate_limit_burst",
            "rate_limit_except_level",
            "rate_limit_interval",
            "syslog_log_facility",
            "use_stderr",
        ],
        "Log lines have one format, or are JSON objects with use_json.",
    ),
    // oslo.messaging and oslo.service
    unneeded(
        "DEFAULT",
        &[
            "conn_pool_min_size",
            "conn_pool_ttl",
            "executor_thread_pool_size",
            "rpc_ping_enabled",
            "rpc_poll_timeout",
            "rpc_response_timeout",
            "rpc_thread_pool_size",
            "rpc_zmq_bind_address",
        ],
        "Processes of Kiln share the database; by the broker they only tell each other to look into it.",
    ),
    unneeded(
        "DEFAULT",
        &[
            "backdoor_port",
            "backdoor_socket",
            "graceful_shutdown_timeout",
            "run_external_periodic_tasks",
        ],
        "Kiln has no such console and no such tasks; it stops when its requests are answered.",
    ),
    unneeded("clients_cinder", &["http_log_debug"], SESSION),
    unneeded("clients_nova", &["http_log_debug"], SESSION),
    unneeded(
        "clients_heat",
        &["url"],
        "Calls of stacks to their own service do not leave the process; other regions are in the catalogue.",
    ),
    unneeded(
        "constraint_validation_cache",
        &["caching", "expiration_time"],
        "What was found in the cloud is remembered for a minute at most.",
    ),
    unneeded(
        "resource_finder_cache",
        &["caching", "expiration_time"],
        "What was found in the cloud is remembered for a minute at most.",
    ),
    unneeded(
        "service_extension_cache",
        &["caching", "expiration_time"],
        "Kiln does not look for extensions of services.",
    ),
    unneeded(
        "database",
        &[
            "asyncio_connection",
            "asyncio_slave_connection",
            "backend",
            "connection_debug",
            "connection_recycle_time",
            "connection_trace",
            "db_inc_retry_interval",
            "db_max_retries",
            "db_max_retry_interval",
            "db_retry_interval",
            "max_overflow",
            "max_pool_size",
            "max_retries",
            "mysql_sql_mode",
            "mysql_wsrep_sync_wait",
            "pool_timeout",
            "retry_interval",
            "slave_connection",
            "sqlite_synchronous",
            "synchronous_reader",
            "use_db_reconnect",
        ],
        "Kiln manages its few connections itself, and reconnects.",
    ),
    unsupported(
        "database",
        &["connection_parameters"],
        &[""],
        "Append the parameters to the URL of connection, behind a question mark.",
    ),
    unneeded(
        "ec2authtoken",
        &[
            "collect_timing",
            "connect_retries",
            "connect_retry_delay",
            "interface",
            "max_version",
            "min_version",
            "region_name",
            "retriable_status_codes",
            "service_name",
            "service_type",
            "split_loggers",
            "status_code_retries",
            "status_code_retry_delay",
            "timeout",
            "tls_ciphers",
            "tls_min_version",
            "valid_interfaces",
            "version",
        ],
        SESSION,
    ),
    unsupported("ec2authtoken", &["auth_section"], &[""], PASSWORD),
    unsupported("ec2authtoken", &["auth_type"], &["password", "v3password", ""], PASSWORD),
    unsupported(
        "ec2authtoken",
        &[
            "default_domain_id",
            "default_domain_name",
            "domain_id",
            "domain_name",
            "system_scope",
            "trust_id",
        ],
        &[""],
        SCOPE,
    ),
    unneeded(
        "heat_api",
        &["backlog", "max_header_line", "max_json_body_size", "tcp_keepidle", "workers"],
        "A process uses all cores; [kiln] max_connections and the timeouts there limit connections.",
    ),
    unneeded(
        "heat_api_cfn",
        &["backlog", "max_header_line", "tcp_keepidle", "workers"],
        "A process uses all cores; [kiln] max_connections and the timeouts there limit connections.",
    ),
    unneeded(
        "heat_api_cloudwatch",
        &["backlog", "max_header_line", "tcp_keepidle", "workers"],
        "A process uses all cores; [kiln] max_connections and the timeouts there limit connections.",
    ),
    unneeded(
        "keystone_authtoken",
        &[
            "auth_version",
            "cache",
            "enforce_token_bind",
            "http_connect_timeout",
            "http_request_max_retries",
            "include_service_catalog",
            "interface",
            "memcache_password",
            "memcache_pool_conn_get_timeout",
            "memcache_pool_dead_retry",
            "memcache_pool_maxsize",
            "memcache_pool_socket_timeout",
            "memcache_pool_unused_timeout",
            "memcache_secret_key",
            "memcache_security_strategy",
            "memcache_username",
            "memcache_use_advanced_pool",
            "memcached_servers",
            "region_name",
            "service_type",
        ],
        "Tokens are remembered in memory; calls to the identity service have their own timeouts.",
    ),
    unsupported("keystone_authtoken", &["auth_section"], &[""], PASSWORD),
    unsupported("keystone_authtoken", &["auth_type"], &["password", "v3password", ""], PASSWORD),
    unsupported(
        "keystone_authtoken",
        &["delay_auth_decision"],
        &["false"],
        "Callers are always authenticated; use [paste_deploy] flavor for another way.",
    ),
    unneeded(
        "paste_deploy",
        &["api_paste_config"],
        "The pipelines of Heat's own file are built in, and flavor chooses one; filters of other programs are not \
         loaded.",
    ),
    unsupported("trustee", &["auth_section"], &[""], PASSWORD),
    unsupported("trustee", &["auth_type"], &["password", "v3password", ""], PASSWORD),
    unneeded(
        "trustee",
        &["project_domain_id", "project_domain_name", "project_id", "project_name"],
        "The trustee acts in the project of each trust.",
    ),
    unsupported(
        "trustee",
        &["domain_id", "domain_name", "system_scope", "trust_id"],
        &[""],
        "The trustee acts by the trust of each stack alone; remove the option.",
    ),
];

/// The row of an option.
pub(in crate::config) fn find(section: &str, name: &str) -> Option<&'static AcceptedRow> {
    ACCEPTED.iter().find(|row| row.section == section && row.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::options;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    /// Every option of Heat 27, as `section name`, one in each line.
    const HEAT: &str = include_str!("heat_options.txt");

    fn is_known(section: &str, name: &str) -> bool {
        let table = options::table_section(section);
        let works =
            options::keys().any(|key| (key.0 == section || key.0 == table) && key.1 == name);
        works || find(section, name).is_some()
    }

    #[test]
    fn every_option_of_heat_is_in_a_table() {
        let pairs = HEAT.lines().filter_map(|line| line.split_once(' '));
        let missing: Vec<_> = pairs.filter(|(section, name)| !is_known(section, name)).collect();
        assert_eq!(missing, []);
        assert!(HEAT.lines().count() > 240);
    }

    /// The copy of the names is complete, if the facts about Heat are at hand.
    #[test]
    fn the_names_are_those_of_heat() {
        let shared = std::env::var_os("KILN_SHARED").map(PathBuf::from);
        let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
        let path = shared.unwrap_or(beside).join("facts/config_defaults.json");
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let facts: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
        let facts: BTreeSet<String> =
            facts.iter().map(|it| format!("{} {}", text(it, "group"), text(it, "name"))).collect();
        let ours: BTreeSet<String> = HEAT.lines().map(str::to_owned).collect();
        assert_eq!(facts, ours);
    }

    #[test]
    fn an_option_has_one_place() {
        let mut seen = BTreeSet::new();
        for row in ACCEPTED {
            assert!(row.reason.ends_with('.') && row.reason.starts_with(char::is_uppercase));
            for name in row.names {
                assert!(seen.insert((row.section, *name)), "[{}] {name} occurs twice", row.section);
                let works = options::keys().any(|key| key == (row.section, *name));
                assert!(!works, "[{}] {name} works", row.section);
            }
        }
    }
}
