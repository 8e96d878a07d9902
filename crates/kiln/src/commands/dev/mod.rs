//! `kiln dev`: everything in one process, with nothing to install.
//!
//! API, engine, database and a simulated cloud, for evaluation, development and tests. The service
//! is the one of `kiln server`; only the cloud is simulated.

mod clouds;
mod first;
mod progress;
mod state_dir;

use crate::cli::Dev;
use crate::commands::db;
use crate::dashboard::{self, DashboardSettings};
use crate::load::global_environment::EnvironmentDirs;
use crate::load::plugins;
use crate::serving::{
    self, ConnectionLimits, ConnectionTable, FileWatch, HttpServer, WatchedEnvironment,
};
use crate::stdio::{CommandError, Streams, Verdict};
use kiln_api::auth::{self, AuthScope, Login};
use kiln_api::{App, Metrics, Options};
use kiln_cloud::{DomainRef, EntityRef, NoCloud, OpenStack, Tls, Transport};
use kiln_engine::loopback::Loopback;
use kiln_engine::store::Store;
use kiln_engine::{Config, Engine, EngineSettings, Rules, Service, SharedGlobalEnvironment, now};
use kiln_resources::op::{Domain, GuestAccess};
use kiln_resources::registry::Registry;
use kiln_sim::cloud::Cloud;
use kiln_sim::identity::{self, Identity, Seed};
use kiln_store::SqlStore;
use kiln_template::Secret;
use state_dir::StateDir;
use std::sync::Arc;
use std::time::Duration;

/// The role of stack users.
const STACK_USER_ROLE: &str = "heat_stack_user";

/// The running services.
struct DevServer {
    service: Service,
    engine: Engine,
    store: Arc<SqlStore>,
    listening: Vec<HttpServer>,
    identity_url: String,
    api_url: String,
    cfn_url: String,
    watch_url: String,
    identity: Arc<Identity>,
    /// The simulated cloud and its URL, unless there is none.
    cloud: Option<(Cloud, String)>,
    /// The state directory; removed on drop unless it is kept.
    _home: StateDir,
}

pub(crate) fn run(arguments: &Dev, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    let _traces = serving::log::start_if_asked(streams.err_styled)?;
    db::wait_for(serve(arguments, streams))?
}

async fn serve(arguments: &Dev, streams: &mut Streams<'_>) -> Result<Verdict, CommandError> {
    // Errors of the template are reported before anything is started.
    let first = arguments.template.as_ref().map(|_| first::load(arguments)).transpose()?;
    let types = plugins::types(&arguments.plugin_dirs, streams)?;
    let global = global_environment(arguments, streams)?;
    let mut stop = serving::StopSignals::new()?;
    let files = serving::raise_file_limit();
    let running = start(arguments, (types, global), files).await?;
    let clouds = clouds::write(arguments, &running.identity_url)?;
    welcome(&running, &clouds, streams)?;
    let mut verdict = Verdict::Good;
    let mut is_over = arguments.exit && first.is_none();
    if let Some(first) = first {
        tokio::select! {
            made = first::make(&running, first, streams) => {
                verdict = made?;
                is_over = arguments.exit;
            }
            () = stop.asked() => is_over = true,
        }
    }
    if !is_over {
        stop.asked().await;
    }
    for listening in running.listening {
        listening.stop().await;
    }
    running.engine.stop().await;
    running.store.close().await;
    let kept = running.cloud.map_or(Ok(()), |(cloud, _)| cloud.close());
    kept.map_err(|error| {
        CommandError::Usage(format!("cannot store the simulated cloud: {error}"))
    })?;
    Ok(verdict)
}

/// The global environment of the directories that the arguments name, which is kept up to date. Files that cannot be
/// used are errors.
fn global_environment(
    arguments: &Dev,
    streams: &mut Streams<'_>,
) -> Result<Arc<SharedGlobalEnvironment>, CommandError> {
    let dirs = EnvironmentDirs {
        environments: arguments.environment_dir.clone(),
        templates: arguments.template_dir.clone(),
    };
    if let Some(directory) = dirs.environments.as_deref().filter(|it| !it.is_dir()) {
        let directory = directory.display();
        return Err(CommandError::usage(format!("--environment-dir: {directory} is no directory")));
    }
    let texts = dirs.read();
    let loaded = texts.load();
    if !loaded.errors.is_empty() {
        return Err(CommandError::usage(loaded.errors.join("\nkiln: ")));
    }
    for warning in &loaded.warnings {
        writeln!(streams.err, "kiln: {warning}")?;
    }
    let shared = Arc::new(SharedGlobalEnvironment::new(loaded.environment));
    let files = WatchedEnvironment { dirs, shared: shared.clone() };
    serving::spawn(FileWatch::new(files, texts).run());
    Ok(shared)
}

async fn start(
    arguments: &Dev,
    (types, global): (&'static Registry, Arc<SharedGlobalEnvironment>),
    files: usize,
) -> Result<DevServer, CommandError> {
    let port = |port: u16| if arguments.free_ports { 0 } else { port };
    let identity_socket =
        serving::bind(&arguments.listen, port(arguments.identity_port), "--identity-port").await?;
    let api_socket =
        serving::bind(&arguments.listen, port(arguments.api_port), "--api-port").await?;
    let cfn_socket =
        serving::bind(&arguments.listen, port(arguments.cfn_port), "--cfn-port").await?;
    let watch_socket =
        serving::bind(&arguments.listen, port(arguments.cloudwatch_port), "--cloudwatch-port")
            .await?;
    let cloud_socket = match arguments.no_cloud {
        true => None,
        false => {
            let port = port(arguments.cloud_port);
            Some(serving::bind(&arguments.listen, port, "--cloud-port").await?)
        }
    };
    let cloud_url = cloud_socket.as_ref().map(serving::url).transpose()?;
    let identity_url = serving::url(&identity_socket)?;
    let api_url = serving::url(&api_socket)?;
    let cfn_url = serving::url(&cfn_socket)?;
    let watch_url = serving::url(&watch_socket)?;

    let home = StateDir::create(arguments.state.as_deref())?;
    let url = format!("sqlite://{}", home.path.join("kiln.db").display());
    let store = SqlStore::open(&url, &home.path.join("kiln.keys")).await;
    let store = Arc::new(store.map_err(|error| CommandError::Usage(error.to_string()))?);

    let orchestration = format!("{api_url}/v1/%(project_id)s");
    let seed = Seed::new(&identity_url)
        .service("orchestration", "heat", &orchestration)
        .service("cloudformation", "heat-cfn", &format!("{cfn_url}/v1"))
        .service("cloudwatch", "heat-cloudwatch", &format!("{watch_url}/v1"))
        .services(cloud_url.as_deref().map(Cloud::catalogue).unwrap_or_default());
    let region: Option<Arc<str>> = Some(seed.region.as_str().into());
    let clock = identity::Clock::new(|| now().micros());
    let path = home.is_kept().then(|| home.path.join("identity.json"));
    let identity =
        Identity::open(path.as_deref(), identity::IdentityOptions::new(seed, clock.clone()));
    let identity =
        Arc::new(identity.map_err(|error| CommandError::Usage(format!("identity: {error}")))?);

    let options = kiln_sim::cloud::Options {
        seed: arguments.seed,
        latency: Duration::from_millis(arguments.latency),
        build_time: Duration::from_millis(arguments.build_time),
        file: home.is_kept().then(|| home.path.join("cloud.json")),
        quota: Some(-1),
        ..kiln_sim::cloud::Options::new(clock)
    };
    let cloud = cloud_url.as_ref().map(|_| Cloud::open(options, identity.clone())).transpose();
    let cloud = cloud.map_err(|error| CommandError::Usage(format!("cloud: {error}")))?;
    let transport = match arguments.no_cloud {
        true => Arc::new(NoCloud),
        false => transport(&identity_url, &identity)?,
    };

    let domain = Domain::Id(identity.stack_domain_id().into());
    let outside = Arc::new(GuestAccess {
        domain: cloud_url.is_some().then_some(domain),
        role: STACK_USER_ROLE.into(),
        auth_url: format!("{identity_url}/v3").into(),
        region: region.clone(),
        ..GuestAccess::default()
    });
    let stack_domain = outside.domain.clone();
    let quiet = Duration::from_secs(arguments.quiet);
    // Alarms are evaluated often, so that users need not wait for them.
    let watch = Duration::from_secs(1);
    let config = Config {
        types,
        global,
        outside,
        region,
        lost_call_window: quiet,
        alarm_scan_interval: watch,
        ..Config::default()
    };
    let config = Arc::new(config);
    // No other process uses the state, so leases of other engines are invalid.
    let settings = EngineSettings { is_alone: true, ..EngineSettings::default() };
    let loopback = Arc::new(Loopback::new(transport));
    let engine =
        Engine::start(config.clone(), store.clone() as Arc<dyn Store>, loopback.clone(), settings);
    let rules = Rules { allows_adopt: true, allows_abandon: true, ..Rules::default() };
    let service =
        Service::new(store.clone(), config, rules, loopback.clone(), Some(engine.clone()));

    serving::spawn(service.clone().report_engine(serving::host_name()));
    let login = identity.service_login();
    let auth = serving::keystone(
        &identity_url,
        &Tls::default(),
        Login {
            user: EntityRef::Id(login.user_id.clone()),
            password: Secret::new(login.password.as_str().into()),
            scope: AuthScope::Project(EntityRef::Id(login.project_id.clone().unwrap_or_default())),
        },
        auth::Settings {
            www_authenticate_uri: identity_url.clone(),
            auth_url: auth::AuthUrl::fixed(format!("{identity_url}/v3")),
            ..Default::default()
        },
    )?;
    let app = Arc::new(App {
        service: service.clone(),
        auth,
        policy: Default::default(),
        options: Options {
            stack_domain,
            revision: serving::REVISION.to_owned(),
            ..Options::default()
        },
        metrics: Metrics::default(),
        long_polls: Default::default(),
        event_streams: Default::default(),
        rate: None,
        replay_guard: Default::default(),
        body_bytes: Default::default(),
    });
    loopback.connect(&app);
    let exchanging = serving::exchange(&app).await;
    exchanging.map_err(|error| CommandError::usage(error.to_string()))?;
    let dashboard = dashboard::router(
        dashboard::Keystone::new(&identity_url, serving::client(&Tls::default())?),
        &DashboardSettings {
            users: vec!["demo", "admin"],
            public_identity: identity_url.clone(),
            websso: Vec::new(),
        },
    );
    // All clients are on this machine, so no address has a limit of its own. The services of the cloud are called by
    // the process itself, which opens a file at either end of a connection.
    let table = ConnectionTable::new(ConnectionLimits::for_one_address(files - files / 4));
    let cloud_table = ConnectionTable::new(ConnectionLimits::for_one_address(files / 4));
    let mut listening = vec![
        serving::serve(identity_socket, None, identity::router(identity.clone()), &cloud_table),
        serving::serve(api_socket, None, serving::native(app.clone()).merge(dashboard), &table),
        serving::serve(cfn_socket, None, serving::cfn(app.clone(), "http"), &table),
        serving::serve(watch_socket, None, serving::cloudwatch(app, "http"), &table),
    ];
    if let (Some(socket), Some(cloud)) = (cloud_socket, &cloud) {
        listening.push(serving::serve(socket, None, cloud.router(), &cloud_table));
    }
    Ok(DevServer {
        service,
        engine,
        store,
        listening,
        identity_url,
        api_url,
        cfn_url,
        watch_url,
        identity,
        cloud: cloud.zip(cloud_url),
        _home: home,
    })
}

/// The engine reaches the simulated cloud as it would a real one.
fn transport(identity_url: &str, identity: &Identity) -> Result<Arc<dyn Transport>, CommandError> {
    let login = identity.service_login();
    let trustee = kiln_cloud::Login {
        user: EntityRef::Id(login.user_id.clone()),
        password: login.password.as_str().into(),
    };
    let owner = identity.domain_admin_login();
    let stack_domain = kiln_cloud::StackDomain::Domain {
        domain: DomainRef::Id(owner.domain_id.clone().unwrap_or_default()),
        admin: owner.user_name.clone(),
        password: owner.password.as_str().into(),
    };
    let settings = kiln_cloud::Settings {
        trustee: Some(trustee),
        stack_domain: Some(stack_domain),
        ..kiln_cloud::Settings::new(identity_url)
    };
    match OpenStack::new(settings) {
        Ok(cloud) => Ok(Arc::new(cloud)),
        Err(error) => Err(CommandError::Usage(format!("cannot create an HTTP client: {error}"))),
    }
}

fn welcome(
    running: &DevServer,
    clouds: &clouds::CloudsFile,
    streams: &mut Streams<'_>,
) -> Result<(), CommandError> {
    let DevServer { identity_url, api_url, cfn_url, watch_url, cloud, .. } = running;
    let out = &mut streams.out;
    writeln!(out, "identity       {identity_url}/v3")?;
    writeln!(out, "orchestration  {api_url}/v1/PROJECT_ID")?;
    writeln!(out, "cloudformation {cfn_url}/v1")?;
    writeln!(out, "cloudwatch     {watch_url}/v1")?;
    if let Some((_, url)) = cloud {
        writeln!(out, "cloud          {url} (simulated: compute, network, volumes and the rest)")?;
    }
    writeln!(out, "dashboard      {api_url}/dashboard/")?;
    writeln!(out, "users          admin/admin and demo/demo, with projects of the same names")?;
    writeln!(out)?;
    writeln!(out, "{}", clouds.advice())?;
    writeln!(out, "Stop with Ctrl-C.")?;
    out.flush()?;
    Ok(())
}
