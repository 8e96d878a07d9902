//! Options of the APIs: sockets, policy, health, CORS and limits of requests.

use crate::config::Socket;
use crate::config::file::ConfigFile;
use crate::config::option::{OptionKey, OptionRow, Setting};
use crate::config::policy_files::PolicyFiles;
use crate::serving::{self, ConnectionLimits, max_connections, max_per_address};
use crate::stdio::CommandError;
use kiln_api::cfn::Prices;
use kiln_api::policy;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The health check that a file can fail.
const BY_FILE: &str = "disable_by_file";

const PRICE_FILE: OptionKey = ("kiln", "price_file");

/// The values of the options of one socket.
#[derive(Default)]
pub(in crate::config) struct SocketOptions {
    host: String,
    port: Option<u16>,
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

/// The values.
#[derive(Default)]
pub(in crate::config) struct ApiOptions {
    pub(in crate::config) native: SocketOptions,
    pub(in crate::config) cfn: SocketOptions,
    pub(in crate::config) cloudwatch: SocketOptions,
    max_body_bytes: u64,
    max_bodies_bytes: u64,
    max_streams: u64,
    max_streams_per_project: u64,
    revision: Option<String>,
    trusts_proxy: bool,
    origins: Vec<String>,
    pub(in crate::config) dashboard: bool,
    websso: Vec<String>,
    old_signatures: bool,
    price_file: Option<PathBuf>,
    health_backends: Vec<String>,
    health_file: Option<PathBuf>,
    rate: Option<u64>,
    header_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    max_connections: u64,
    max_per_address: Option<u64>,
    policy_default_rule: String,
    policy_dirs: Vec<String>,
    policy_file: Option<PathBuf>,
    enforce_new_defaults: bool,
    enforce_scope: bool,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "max_json_body_size",
        "The maximum size of a request in bytes.",
        Setting::Number {
            default: 1_048_576,
            min: 1,
            max: u64::MAX,
            field: |it| &mut it.api.max_body_bytes,
        },
    ),
    OptionRow::new(
        "DEFAULT",
        "template_fetch_timeout",
        "The timeout of fetching a template, in seconds.",
        Setting::Seconds(60, |it| &mut it.engine.fetch_timeout),
    ),
    OptionRow::new(
        "cors",
        "allowed_origin",
        "Origins whose pages may send requests.",
        Setting::List(&[], |it| &mut it.api.origins),
    ),
    OptionRow::new(
        "healthcheck",
        "backends",
        "The checks of /healthcheck; disable_by_file is known, others are ignored.",
        Setting::List(&[], |it| &mut it.api.health_backends),
    ),
    OptionRow::new(
        "healthcheck",
        "disable_by_file_path",
        "A file whose existence makes the check disable_by_file fail.",
        Setting::File(None, |it| &mut it.api.health_file),
    ),
    OptionRow::new(
        "heat_api",
        "bind_host",
        "The address of the orchestration API.",
        Setting::Text("0.0.0.0", |it| &mut it.api.native.host),
    ),
    OptionRow::new(
        "heat_api",
        "bind_port",
        "The port of the orchestration API.",
        Setting::Port(Some(8004), |it| &mut it.api.native.port),
    ),
    OptionRow::new(
        "heat_api",
        "cert_file",
        "The TLS certificate of the orchestration API, in PEM format.",
        Setting::File(None, |it| &mut it.api.native.cert_file),
    ),
    OptionRow::new(
        "heat_api",
        "key_file",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.api.native.key_file),
    ),
    OptionRow::new(
        "heat_api_cfn",
        "bind_host",
        "The address of the CloudFormation API.",
        Setting::Text("0.0.0.0", |it| &mut it.api.cfn.host),
    ),
    OptionRow::new(
        "heat_api_cfn",
        "bind_port",
        "The port of the CloudFormation API, which is served if a port or its role is set; 8000 with the role alone.",
        Setting::Port(None, |it| &mut it.api.cfn.port),
    ),
    OptionRow::new(
        "heat_api_cfn",
        "cert_file",
        "The TLS certificate of the CloudFormation API, in PEM format.",
        Setting::File(None, |it| &mut it.api.cfn.cert_file),
    ),
    OptionRow::new(
        "heat_api_cfn",
        "key_file",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.api.cfn.key_file),
    ),
    OptionRow::new(
        "heat_api_cloudwatch",
        "bind_host",
        "The address of the CloudWatch API.",
        Setting::Text("0.0.0.0", |it| &mut it.api.cloudwatch.host),
    ),
    OptionRow::new(
        "heat_api_cloudwatch",
        "bind_port",
        "The port of the CloudWatch API, which is served if a port or its role is set; 8003 with the role alone.",
        Setting::Port(None, |it| &mut it.api.cloudwatch.port),
    ),
    OptionRow::new(
        "heat_api_cloudwatch",
        "cert_file",
        "The TLS certificate of the CloudWatch API, in PEM format.",
        Setting::File(None, |it| &mut it.api.cloudwatch.cert_file),
    ),
    OptionRow::new(
        "heat_api_cloudwatch",
        "key_file",
        "The key of that certificate, in PEM format.",
        Setting::File(None, |it| &mut it.api.cloudwatch.key_file),
    ),
    OptionRow::new(
        "kiln",
        "dashboard",
        "Whether the port of the orchestration API also serves the dashboard, at /dashboard/.",
        Setting::Flag(false, |it| &mut it.api.dashboard),
    ),
    OptionRow::new(
        "kiln",
        "dashboard_websso",
        "Keystone's protocols of single sign-on that the dashboard offers, each with its name for people: openid=Company login.",
        Setting::List(&[], |it| &mut it.api.websso),
    ),
    OptionRow::new(
        "kiln",
        "fetch_allowed",
        "Prefixes of the URLs from which templates may be fetched, whatever their addresses are; * allows every URL.",
        Setting::List(&[], |it| &mut it.engine.fetch_allowed),
    ),
    OptionRow::new(
        "kiln",
        "fetch_public",
        "Whether templates may be fetched from every public address.",
        Setting::Flag(true, |it| &mut it.engine.fetch_public),
    ),
    OptionRow::new(
        "kiln",
        "header_timeout",
        "How long a client may take to send the head of a request, in seconds.",
        Setting::Seconds(30, |it| &mut it.api.header_timeout),
    ),
    OptionRow::new(
        "kiln",
        "idle_timeout",
        "How long a connection may be idle between two requests, in seconds.",
        Setting::Seconds(75, |it| &mut it.api.idle_timeout),
    ),
    OptionRow::new(
        "kiln",
        "max_bodies_size",
        "The maximum size of all requests whose bodies are held at the same time, in bytes; further ones are told to come back.",
        Setting::Number {
            default: 134_217_728,
            min: 1,
            max: u64::MAX,
            field: |it| &mut it.api.max_bodies_bytes,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_connections",
        "The maximum number of open connections of all APIs; 0 for as many as the limit of open files allows, with a reserve.",
        Setting::Number {
            default: 0,
            min: 0,
            max: u64::MAX,
            field: |it| &mut it.api.max_connections,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_connections_per_address",
        "The maximum number of open connections of one address, which may be a proxy; 0 for no limit, -1 for three quarters of max_connections.",
        Setting::Limit(None, |it| &mut it.api.max_per_address),
    ),
    OptionRow::new(
        "kiln",
        "max_event_streams",
        "The maximum number of open event streams; 0 for no limit.",
        Setting::Number {
            default: 2000,
            min: 0,
            max: u64::MAX,
            field: |it| &mut it.api.max_streams,
        },
    ),
    OptionRow::new(
        "kiln",
        "max_event_streams_per_project",
        "The maximum number of open event streams of a project; 0 for no limit.",
        Setting::Number {
            default: 32,
            min: 0,
            max: u64::MAX,
            field: |it| &mut it.api.max_streams_per_project,
        },
    ),
    OptionRow::new(
        "kiln",
        "old_signatures",
        "Whether requests to the AWS-style APIs that change something may be signed with version 0 or 1, or with \
         version 2 without a time, for old images.",
        Setting::Flag(false, |it| &mut it.api.old_signatures),
    ),
    OptionRow::new(
        "kiln",
        "price_file",
        "A list of prices, for cost estimates of templates.",
        Setting::File(None, |it| &mut it.api.price_file),
    ),
    OptionRow::new(
        "kiln",
        "rate",
        "The maximum number of requests per second of a project; 0 for no limit.",
        Setting::Limit(Some(0), |it| &mut it.api.rate),
    ),
    OptionRow::new(
        "kiln",
        "write_timeout",
        "How long a client may receive nothing of a response, in seconds.",
        Setting::Seconds(60, |it| &mut it.api.write_timeout),
    ),
    OptionRow::new(
        "oslo_middleware",
        "enable_proxy_headers_parsing",
        "Whether the headers of a proxy in front of the APIs are trusted.",
        Setting::Flag(false, |it| &mut it.api.trusts_proxy),
    ),
    OptionRow::new(
        "oslo_policy",
        "enforce_new_defaults",
        "Whether deprecated default rules are ignored.",
        Setting::Flag(true, |it| &mut it.api.enforce_new_defaults),
    ),
    OptionRow::new(
        "oslo_policy",
        "enforce_scope",
        "Whether the scope of a token must be the one that the rule asks for.",
        Setting::Flag(true, |it| &mut it.api.enforce_scope),
    ),
    OptionRow::new(
        "oslo_policy",
        "policy_default_rule",
        "The rule that is used in place of a missing one that another rule names.",
        Setting::Text("default", |it| &mut it.api.policy_default_rule),
    ),
    OptionRow::new(
        "oslo_policy",
        "policy_dirs",
        "A directory whose files replace rules of policy_file, in the order of their names; may be repeated. A \
         relative name belongs to the directory of the configuration file.",
        Setting::Repeated(&["policy.d"], |it| &mut it.api.policy_dirs),
    ),
    OptionRow::new(
        "oslo_policy",
        "policy_file",
        "A file with rules that replace the built-in ones, which must exist; if not set, policy.yaml or else \
         policy.json, which need not. A relative name belongs to the directory of the configuration file.",
        Setting::File(None, |it| &mut it.api.policy_file),
    ),
    OptionRow::new(
        "revision",
        "heat_revision",
        "The revision that build_info shows; the version and the commit of Kiln if not set.",
        Setting::MaybeText(|it| &mut it.api.revision),
    ),
];

/// The operator's limits of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionSettings {
    header_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    /// How many connections there may be; as many as files allow if zero.
    max_connections: usize,
    /// How many of them one address may have; no limit if zero.
    max_per_address: Option<usize>,
}

impl ApiOptions {
    /// The protocols of single sign-on, each with its name for people.
    pub(in crate::config) fn websso(&self) -> Vec<(String, String)> {
        let named = |it: &String| {
            let (id, label) = it.split_once('=').unwrap_or((it, it));
            (id.trim().to_owned(), label.trim().to_owned())
        };
        self.websso.iter().map(named).collect()
    }
}

impl ConnectionSettings {
    /// The limits of a process that may open this many files.
    pub(crate) fn limits(&self, files: usize) -> ConnectionLimits {
        let max_connections = match self.max_connections {
            0 => max_connections(files),
            count => count,
        };
        ConnectionLimits {
            header_timeout: self.header_timeout,
            idle_timeout: self.idle_timeout,
            write_timeout: self.write_timeout,
            max_connections,
            max_per_address: match self.max_per_address {
                None => max_per_address(max_connections),
                Some(0) => usize::MAX,
                Some(count) => count,
            },
        }
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl SocketOptions {
    /// Whether the file names a port.
    pub(in crate::config) fn has_port(&self) -> bool {
        self.port.is_some()
    }

    /// The socket.
    pub(in crate::config) fn socket(
        &self,
        file: &ConfigFile,
        section: &'static str,
        default_port: u16,
    ) -> Result<Socket, CommandError> {
        let tls = match (&self.cert_file, &self.key_file) {
            (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
            (None, None) => None,
            _ => {
                let message = "cert_file and key_file must be set together";
                return Err(file.error_at((section, "cert_file"), message));
            }
        };
        let port = self.port.unwrap_or(default_port);
        Ok(Socket { section, host: self.host.clone(), port, tls })
    }
}

impl ApiOptions {
    /// The options of the API crate, as far as they do not depend on the cloud.
    pub(in crate::config) fn options(
        &self,
        file: &ConfigFile,
    ) -> Result<kiln_api::Options, CommandError> {
        let is_by_file = self.health_backends.iter().any(|backend| backend == BY_FILE);
        Ok(kiln_api::Options {
            max_body_bytes: count(self.max_body_bytes),
            max_bodies_bytes: count(self.max_bodies_bytes),
            max_streams: count(self.max_streams),
            max_streams_per_project: count(self.max_streams_per_project),
            stream_send_timeout: self.write_timeout,
            revision: self.revision.clone().unwrap_or_else(|| serving::REVISION.to_owned()),
            scheme: if self.native.cert_file.is_some() { "https" } else { "http" },
            trusts_proxy: self.trusts_proxy,
            origins: self.origins.clone(),
            allows_old_signatures: self.old_signatures,
            prices: self.prices(file)?,
            health_file: self.health_file.clone().filter(|_| is_by_file),
            ..kiln_api::Options::default()
        })
    }

    /// The requests per second that a project may send.
    pub(in crate::config) fn rate(&self) -> Option<u32> {
        let rate = self.rate.filter(|rate| *rate > 0)?;
        Some(u32::try_from(rate).unwrap_or(u32::MAX))
    }

    /// The limits of connections.
    pub(in crate::config) fn connections(&self) -> ConnectionSettings {
        ConnectionSettings {
            header_timeout: self.header_timeout,
            idle_timeout: self.idle_timeout,
            write_timeout: self.write_timeout,
            max_connections: count(self.max_connections),
            max_per_address: self.max_per_address.map(count),
        }
    }

    /// How rules are applied.
    pub(in crate::config) fn policy(&self) -> policy::Options {
        policy::Options {
            enforce_new_defaults: self.enforce_new_defaults,
            enforce_scope: self.enforce_scope,
            default_rule: self.policy_default_rule.clone(),
        }
    }

    /// The policy files.
    pub(in crate::config) fn policy_files(&self, file: &ConfigFile) -> PolicyFiles {
        PolicyFiles::new(file.directory(), self.policy_file.as_deref(), &self.policy_dirs)
    }

    /// The operator's list of prices.
    fn prices(&self, file: &ConfigFile) -> Result<Option<Arc<Prices>>, CommandError> {
        let Some(path) = &self.price_file else { return Ok(None) };
        let path = path.display().to_string();
        let wrong = |why: String| file.error_at(PRICE_FILE, &format!("{path}: {why}"));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        Prices::read(&path, &text).map(|prices| Some(Arc::new(prices))).map_err(wrong)
    }
}
