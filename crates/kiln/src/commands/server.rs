//! `kiln server`: the services with a configuration file.

mod authenticators;
mod engine_lock;
mod reload;

use crate::cli::{Server, TextOrJson};
use crate::commands::db;
use crate::config::{ConfigFile, Flavor, Settings, Socket};
use crate::dashboard;
use crate::doctor::{self, Subject};
use crate::load::plugins;
use crate::serving::tls::Certificate;
use crate::serving::{
    self, ConnectionLimits, ConnectionTable, FileWatch, HttpServer, Readiness, ServiceManager,
    WatchedEnvironment, WatchedPolicy,
};
use crate::stdio::{CommandError, Streams, Verdict};
use authenticators::authenticator;
use axum::Router;
use engine_lock::EngineLock;
use kiln_api::auth::NoAuth;
use kiln_api::policy::{Policy, SharedPolicy};
use kiln_api::{App, Metrics};
use kiln_cloud::{Http, NoCloud, OpenStack, Service as CloudService};
use kiln_engine::loopback::Loopback;
use kiln_engine::store::{Store, StoreError};
use kiln_engine::{
    Engine, EngineSettings, Service, WakeupChannel, follow_store_clock, keep_following_store_clock,
    now,
};
use kiln_store::{OpenError, SqlStore};
use reload::Reloading;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The interval of scans for stacks without an owner, such as those of a process that stopped.
const SCAN_INTERVAL: Duration = Duration::from_millis(500);

/// The time for which a server that stops waits for the broker to accept notifications.
const LAST_NOTIFICATIONS: Duration = Duration::from_secs(3);

/// The number of connections for metrics.
const METRICS_CONNECTIONS: usize = 16;

/// How often a server that starts looks for its database.
const DATABASE_RETRY_PAUSE: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &Server, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    if arguments.check {
        return doctor::run(&Subject::of_server(arguments), TextOrJson::Text, streams);
    }
    run_with(arguments, &ConfigFile::load_all(&arguments.config)?, streams)
}

/// Runs the server with a configuration that was read.
pub(crate) fn run_with(
    arguments: &Server,
    file: &ConfigFile,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let mut settings = settings(arguments, file)?;
    let types = plugins::types(&settings.plugin_dirs, streams)?;
    settings.engine.types = plugins::adjusted(types, &settings.types);
    let loopback = Arc::new(transport(&arguments.endpoints, &settings)?);
    let logging = serving::log::start(&settings.log, streams.err_styled)?;
    settings.notices.tell();
    for warning in plugins::warnings(&settings.plugin_dirs) {
        tracing::warn!("{warning}");
    }
    let policy = policy(&settings)?;
    let reloading = Reloading { arguments, file, logging, certificates: Vec::new() };
    db::wait_for(serve(reloading, settings, policy, loopback, streams))?
}

/// The settings of the file, overridden by the command line.
pub(crate) fn settings(arguments: &Server, file: &ConfigFile) -> Result<Settings, CommandError> {
    let mut settings = Settings::from_file(file)?;
    settings.restrict(&arguments.roles);
    if let Some(url) = &arguments.database {
        settings.database.clone_from(url);
    }
    if let Some(keys) = &arguments.keys {
        settings.keys.clone_from(keys);
    }
    if let Some(lease) = arguments.lease {
        settings.lease = Duration::from_secs(lease.max(1));
    }
    settings.engine.lost_call_window = Duration::from_secs(arguments.quiet);
    Ok(settings)
}

async fn serve(
    mut reloading: Reloading<'_>,
    settings: Settings,
    policy: Arc<SharedPolicy>,
    loopback: Arc<Loopback>,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let arguments = reloading.arguments;
    let mut stop = serving::StopSignals::new()?;
    let manager = ServiceManager::from_environment();
    manager.status("Starting: the database is opened");
    let environment = global_environment(&settings);
    let limits = settings.connections.limits(serving::raise_file_limit());
    let table = ConnectionTable::new(limits);
    let store = tokio::select! {
        biased;
        () = stop.asked() => return Ok(Verdict::Good),
        () = manager.keep_alive() => return Ok(Verdict::Good),
        store = open_store(&settings) => Arc::new(store?),
    };
    let mut config = settings.engine.clone();
    config.site_mark = store.site_mark();
    if let Some(max) = store.max_row_bytes()
        && config.byte_limits.fit_into_rows(max)
    {
        let bytes = config.byte_limits.resource;
        tracing::info!(
            bytes,
            "the database takes smaller rows than max_resource_bytes: raise its max_allowed_packet"
        );
    }
    let start_bus = |bus| kiln_bus::Bus::start(bus, config.metrics.notifications.clone());
    let bus = settings.notifications.clone().map(start_bus);
    config.listener = bus.as_ref().map(kiln_bus::Bus::listener);
    let carrying = carry_wakeups(&settings, &mut config);
    let config = Arc::new(config);
    let clock = keep_following_store_clock(store.clone(), config.metrics.clone());
    let following = serving::spawn(clock);
    let lock = settings.has_engine.then(|| EngineLock::acquire(&settings.database)).flatten();
    let engine = settings.has_engine.then(|| {
        let engine = EngineSettings {
            lease_duration: settings.lease,
            scan_interval: SCAN_INTERVAL.min(settings.lease / 8),
            is_alone: lock.as_ref().is_some_and(|lock| lock.is_alone),
            delegation_grace: settings.engine.lost_call_window * 6,
            ..EngineSettings::default()
        };
        Engine::start(config.clone(), store.clone() as Arc<dyn Store>, loopback.clone(), engine)
    });
    let rules = settings.rules.clone();
    let service = Service::new(store.clone(), config, rules, loopback.clone(), engine.clone());
    let watching = [watch_policy(&settings, &policy), serving::spawn(environment.run())];
    let app = app(&settings, service.clone(), policy)?;
    loopback.connect(&app);
    let telling = serving::spawn(service.clone().report_engine(serving::host_name()));
    let exchanging = match settings.has_cfn || settings.has_cloudwatch {
        true => tokio::select! {
            biased;
            () = stop.asked() => return Ok(Verdict::Good),
            () = manager.keep_alive() => return Ok(Verdict::Good),
            exchanging = when_available(|| serving::exchange(&app)) => Some(exchanging?),
        },
        false => None,
    };
    let mut listening = Vec::new();
    let certificates = &mut reloading.certificates;
    let readiness = readiness(&settings, &store)?;
    if settings.has_api {
        let native = serving::native(app.clone()).merge(dashboard(&settings)?);
        let native = native.merge(readiness.clone().router());
        listening.push(
            listen("orchestration", &settings.native, native, &table, certificates, streams)
                .await?,
        );
    }
    let own = serving::metrics(&app).merge(readiness.router());
    listening.extend(metrics(&settings, own, limits, streams).await?);
    if settings.has_cfn {
        let cfn = serving::cfn(app.clone(), settings.cfn.scheme());
        listening.push(
            listen("CloudFormation", &settings.cfn, cfn, &table, certificates, streams).await?,
        );
    }
    if settings.has_cloudwatch {
        let cloudwatch = serving::cloudwatch(app.clone(), settings.cloudwatch.scheme());
        let socket = &settings.cloudwatch;
        listening
            .push(listen("CloudWatch", socket, cloudwatch, &table, certificates, streams).await?);
    }
    if settings.has_engine {
        writeln!(streams.out, "The engine runs. Stop it with Ctrl-C: nothing is lost.")?;
    }
    streams.out.flush()?;
    let finished = async {
        match engine.as_ref().filter(|_| arguments.once) {
            Some(engine) => engine.wait_until_all_idle().await,
            None => std::future::pending().await,
        }
    };
    manager.ready(serving::REVISION);
    let reload = || {
        manager.reloading();
        reloading.reload();
        manager.ready(serving::REVISION);
    };
    tokio::select! {
        biased;
        () = stop.asked_or(reload) => {}
        () = manager.keep_alive() => {}
        () = finished => {}
    }
    manager.stopping();
    // From now on the others share the stacks without this engine.
    telling.abort();
    service.remove_engine().await;
    // They take the stacks over at once; requests are still answered meanwhile.
    let hand_over = async {
        if let Some(engine) = &engine {
            engine.stop().await;
        }
    };
    tokio::join!(biased; hand_over, serving::leave(listening));
    following.abort();
    watching.iter().for_each(JoinHandle::abort);
    if let Some(exchanging) = exchanging {
        exchanging.abort();
        // The last signatures. If they cannot be stored, the next process may accept them once more.
        _ = app.replay_guard.sync(&*store, now()).await;
    }
    if let Some(engine) = &engine {
        // Stacks that were requested in the meantime.
        engine.stop().await;
    }
    if let Some(bus) = bus {
        bus.close(LAST_NOTIFICATIONS).await;
    }
    carrying.iter().for_each(JoinHandle::abort);
    store.close().await;
    drop(lock);
    writeln!(streams.out, "Stopped.")?;
    Ok(Verdict::Good)
}

/// What the process needs for its work, for those who ask whether it is ready.
fn readiness(settings: &Settings, store: &Arc<SqlStore>) -> Result<Arc<Readiness>, CommandError> {
    let serves = settings.has_api || settings.has_cfn || settings.has_cloudwatch;
    let has_tokens = settings.flavor == Flavor::Keystone;
    let identity = match serves && has_tokens {
        true => Some((serving::client(&settings.login.tls)?, settings.login.auth_url.clone())),
        false => None,
    };
    Ok(Arc::new(Readiness { store: store.clone(), identity, last: Default::default() }))
}

/// Opens the store; waits for a database server that cannot be reached yet.
async fn open_store(settings: &Settings) -> Result<SqlStore, CommandError> {
    loop {
        match SqlStore::open(&settings.database, &settings.keys).await {
            Err(error @ OpenError::Unreachable { .. }) => {
                tracing::warn!("{error}; waiting for it");
                tokio::time::sleep(DATABASE_RETRY_PAUSE).await;
            }
            Err(error) => return Err(CommandError::Usage(error.to_string())),
            Ok(store) => {
                when_available(|| follow_store_clock(&store)).await?;
                return Ok(store);
            }
        }
    }
}

/// Does something that the start needs the database for; waits while it is not available.
async fn when_available<T, F: Future<Output = Result<T, StoreError>>>(
    work: impl Fn() -> F,
) -> Result<T, CommandError> {
    loop {
        match work().await {
            Err(error @ StoreError::Unavailable(_)) => {
                tracing::warn!("{error}; waiting for the database");
                tokio::time::sleep(DATABASE_RETRY_PAUSE).await;
            }
            done => return done.map_err(|error| CommandError::Usage(error.to_string())),
        }
    }
}

/// Connects the wake-up channel of this process with those of others: by the site's broker, or else by the database, if it can do that.
fn carry_wakeups(settings: &Settings, config: &mut kiln_engine::Config) -> Option<JoinHandle<()>> {
    let (wakeups, carried) = WakeupChannel::with_carrier();
    let carrying = match &settings.broker {
        Some(broker) => serving::spawn(kiln_bus::carry_wakeups(broker.clone(), carried)),
        None if SqlStore::carries_wakeups(&settings.database) => {
            serving::spawn(SqlStore::carry_wakeups(settings.database.clone(), carried))
        }
        None => return None,
    };
    config.wakeups = wakeups;
    Some(carrying)
}

/// The application that serves requests of clients and of resources that create stacks.
fn app(
    settings: &Settings,
    service: Service,
    policy: Arc<SharedPolicy>,
) -> Result<Arc<App>, CommandError> {
    Ok(Arc::new(App {
        service,
        auth: match settings.has_api || settings.has_cfn || settings.has_cloudwatch {
            true => authenticator(settings)?,
            // The process serves no API.
            false => Arc::new(NoAuth::default()),
        },
        policy,
        options: settings.api.clone(),
        metrics: Metrics::default(),
        long_polls: Default::default(),
        event_streams: Default::default(),
        rate: settings.rate.map(kiln_api::RateLimit::new),
        replay_guard: Default::default(),
        body_bytes: Default::default(),
    }))
}

/// The routes of the dashboard, if it is served.
fn dashboard(settings: &Settings) -> Result<Router, CommandError> {
    let Some(dashboard) = &settings.dashboard else { return Ok(Router::new()) };
    if settings.flavor != Flavor::Keystone {
        return Err(CommandError::usage(
            "[kiln] dashboard needs [paste_deploy] flavor = keystone: its users log in at Keystone",
        ));
    }
    let client = serving::client(&settings.login.tls)?;
    let keystone = dashboard::Keystone::new(&settings.login.auth_url, client);
    Ok(dashboard::router(keystone, dashboard))
}

/// Serves an API on its socket.
async fn listen(
    name: &str,
    api: &Socket,
    router: Router,
    table: &Arc<ConnectionTable>,
    certificates: &mut Vec<Arc<Certificate>>,
    streams: &mut Streams<'_>,
) -> Result<HttpServer, CommandError> {
    let option = format!("[{}] bind_port", api.section);
    let socket = serving::bind_shared(&api.host, api.port, &option).await?;
    let address = serving::address(&socket)?;
    let tls = api.tls.as_ref().map(|(chain, key)| Certificate::load(chain, key)).transpose()?;
    certificates.extend(tls.clone());
    let listening = serving::serve(socket, tls, router, table);
    writeln!(streams.out, "The {name} API listens on {}://{address}.", api.scheme())?;
    Ok(listening)
}

/// Serves metrics, if a port is configured.
async fn metrics(
    settings: &Settings,
    router: Router,
    limits: ConnectionLimits,
    streams: &mut Streams<'_>,
) -> Result<Option<HttpServer>, CommandError> {
    let Some((host, port)) = &settings.metrics else { return Ok(None) };
    let socket = serving::bind_shared(host, *port, "[kiln] metrics_port").await?;
    let address = serving::address(&socket)?;
    // Metrics are there when the APIs have all the connections they may have.
    let most = METRICS_CONNECTIONS;
    let limits = ConnectionLimits { max_connections: most, max_per_address: most, ..limits };
    let table = ConnectionTable::new(limits);
    let listening = serving::serve(socket, None, router, &table);
    writeln!(streams.out, "Metrics are at http://{address}/metrics.")?;
    Ok(Some(listening))
}

/// The policy: the built-in rules, and those of the operator's files.
fn policy(settings: &Settings) -> Result<Arc<SharedPolicy>, CommandError> {
    let policy = Policy::load_all(&settings.policy_texts, settings.policy.clone());
    let policy = policy.map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        CommandError::usage(errors.join("\n"))
    })?;
    Ok(Arc::new(SharedPolicy::new(policy)))
}

/// Watches the policy files.
fn watch_policy(settings: &Settings, policy: &Arc<SharedPolicy>) -> JoinHandle<()> {
    let files = WatchedPolicy {
        files: settings.policy_files.clone(),
        options: settings.policy.clone(),
        shared: policy.clone(),
    };
    serving::spawn(FileWatch::new(files, Ok(settings.policy_texts.clone())).run())
}

/// The global environment, as its files are at the start, and the watch over them.
fn global_environment(settings: &Settings) -> FileWatch<WatchedEnvironment> {
    let dirs = settings.environment_dirs.clone();
    let files = WatchedEnvironment { dirs, shared: settings.engine.global.clone() };
    let texts = files.dirs.read();
    files.start(&texts);
    FileWatch::new(files, texts)
}

/// The transport of calls: loopback, then the given endpoints or the configured cloud.
fn transport(endpoints: &[String], settings: &Settings) -> Result<Loopback, CommandError> {
    if endpoints.is_empty() {
        let Some(cloud) = &settings.cloud else { return Ok(Loopback::new(Arc::new(NoCloud))) };
        return match OpenStack::new(cloud.clone()) {
            Ok(cloud) => Ok(Loopback::new(Arc::new(cloud))),
            Err(error) => Err(CommandError::Usage(format!("cannot connect to the cloud: {error}"))),
        };
    }
    let mut known = BTreeMap::new();
    for endpoint in endpoints {
        let Some((name, url)) = endpoint.split_once('=') else {
            let message = format!("--endpoint {endpoint}: write it as SERVICE=URL");
            return Err(CommandError::Usage(message));
        };
        let all = CloudService::ALL;
        let Some(service) = all.into_iter().find(|it| it.catalogue_type() == name) else {
            let names: Vec<&str> = all.iter().map(|it| it.catalogue_type()).collect();
            let message = format!(
                "--endpoint: there is no service {name}; it is one of {}",
                names.join(", ")
            );
            return Err(CommandError::Usage(message));
        };
        known.insert(service, url.to_owned());
    }
    let are_elsewhere = known.contains_key(&CloudService::Orchestration);
    match Http::new(known, settings.calls_per_service) {
        Ok(http) => Ok(Loopback::new(Arc::new(http)).with_remote_stacks(are_elsewhere)),
        Err(error) => Err(CommandError::Usage(format!("cannot create an HTTP client: {error}"))),
    }
}
