//! `kiln server`: the services with a configuration file.

use crate::cli::{Role, Server};
use crate::commands::db;
use crate::config::{self, Config, Flavor, Settings, Socket};
use crate::load::plugins;
use crate::serving::{self, Listening};
use crate::streams::{Failure, Streams, Verdict};
use axum::Router;
use kiln_api::auth::{self, Authenticator, Custom, Login, Named, NoAuth, Password, Reach, Signed};
use kiln_api::policy::Policy;
use kiln_api::{App, Metrics, Own};
use kiln_cloud::{Http, NoCloud, OpenStack, Service as CloudService};
use kiln_engine::runtime::{Engine, Settings as EngineSettings, now};
use kiln_engine::service::Service;
use kiln_engine::store::Store;
use kiln_store::SqlStore;
use kiln_template::value::Secret;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often to look for stacks that nobody attends to: those of a process that took leave, too.
const LOOK: Duration = Duration::from_millis(500);

/// How long a login with a password is remembered in the standalone pipeline.
const LOGIN_REMEMBERED: Duration = Duration::from_secs(10);

/// How long a server that leaves waits for a broker to take what is to be told.
const LAST_NOTIFICATIONS: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: &Server, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    let mut settings = settings(arguments)?;
    settings.engine.types = plugins::types(&settings.plugin_dirs, streams)?;
    let own = Arc::new(transport(&arguments.endpoints, &settings)?);
    serving::log(settings.is_json_log);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    db::wait_for(serve(arguments, settings, own, streams))?
}

/// What the file says, with what the command line says over it.
fn settings(arguments: &Server) -> Result<Settings, Failure> {
    let mut settings = Settings::of(&Config::load(arguments.config.as_deref())?)?;
    if !arguments.roles.is_empty() {
        settings.has_api = arguments.roles.contains(&Role::Api);
        settings.has_cfn = arguments.roles.contains(&Role::Cfn);
        settings.has_cloudwatch = arguments.roles.contains(&Role::Cloudwatch);
        settings.has_engine = arguments.roles.contains(&Role::Engine);
    }
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
    arguments: &Server,
    settings: Settings,
    own: Arc<Own>,
    streams: &mut Streams<'_>,
) -> Result<Verdict, Failure> {
    let mut stop = serving::Stop::new()?;
    serving::take_many_connections();
    let store = SqlStore::open(&settings.database, &settings.keys).await;
    let store = Arc::new(store.map_err(|error| Failure::Usage(error.to_string()))?);
    let bus = settings.notifications.clone().map(kiln_bus::Bus::start);
    let mut config = settings.engine.clone();
    config.listener = bus.as_ref().map(kiln_bus::Bus::listener);
    let config = Arc::new(config);
    let place = settings.has_engine.then(|| Place::of(&settings.database)).flatten();
    let engine = settings.has_engine.then(|| {
        let engine = EngineSettings {
            lease: settings.lease,
            look: LOOK.min(settings.lease / 8),
            is_alone: place.as_ref().is_some_and(|place| place.is_alone),
            promises: settings.engine.lost_call_window * 6,
            ..EngineSettings::default()
        };
        Engine::start(config.clone(), store.clone() as Arc<dyn Store>, own.clone(), engine)
    });
    let rules = settings.rules.clone();
    let service = Service::new(store.clone(), config, rules, own.clone(), engine.clone());
    let app = app(&settings, service.clone())?;
    own.serves(&app);
    let telling = tokio::spawn(service.clone().tell_of_engine(serving::host_name()));
    let exchanging = match settings.has_cfn || settings.has_cloudwatch {
        true => Some(serving::exchange(&app).await?),
        false => None,
    };
    let mut listening = Vec::new();
    if settings.has_api {
        let native = serving::native(app.clone());
        listening.push(listen("orchestration", &settings.native, native, streams).await?);
        listening.extend(metrics(&settings, app.clone(), streams).await?);
    }
    if settings.has_cfn {
        let cfn = serving::cfn(app.clone(), settings.cfn.scheme());
        listening.push(listen("CloudFormation", &settings.cfn, cfn, streams).await?);
    }
    if settings.has_cloudwatch {
        let cloudwatch = serving::cloudwatch(app.clone(), settings.cloudwatch.scheme());
        listening.push(listen("CloudWatch", &settings.cloudwatch, cloudwatch, streams).await?);
    }
    if settings.has_engine {
        writeln!(streams.out, "The engine runs. Stop it with Ctrl-C: nothing is lost.")?;
    }
    streams.out.flush()?;
    let finished = async {
        match engine.as_ref().filter(|_| arguments.once) {
            Some(engine) => engine.finish().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = stop.asked() => {}
        () = finished => {}
    }
    // Stacks go to whoever else is there at once; whoever still asks is answered meanwhile.
    let hand_over = async {
        if let Some(engine) = &engine {
            engine.stop().await;
        }
    };
    tokio::join!(biased; hand_over, serving::leave(listening));
    telling.abort();
    service.forget_engine().await;
    if let Some(exchanging) = exchanging {
        exchanging.abort();
        // What was answered last. If it cannot be told, whoever comes next may be asked the same again.
        _ = app.spent.exchange(&*store, now()).await;
    }
    if let Some(engine) = &engine {
        // What was asked for in the meantime.
        engine.stop().await;
    }
    if let Some(bus) = bus {
        bus.close(LAST_NOTIFICATIONS).await;
    }
    store.close().await;
    drop(place);
    writeln!(streams.out, "Stopped.")?;
    Ok(Verdict::Good)
}

/// What serves requests: of clients, and of stacks that make others.
fn app(settings: &Settings, service: Service) -> Result<Arc<App>, Failure> {
    Ok(Arc::new(App {
        service,
        auth: match settings.has_api || settings.has_cfn || settings.has_cloudwatch {
            true => authenticator(settings)?,
            // Nobody from outside can ask.
            false => Arc::new(NoAuth::default()),
        },
        policy: Arc::new(policy(settings)?),
        options: settings.api.clone(),
        metrics: Metrics::default(),
        waiting: Default::default(),
        rate: settings.rate.map(kiln_api::Rate::new),
        spent: Default::default(),
    }))
}

/// Serves an interface where it is to listen.
async fn listen(
    name: &str,
    place: &Socket,
    router: Router,
    streams: &mut Streams<'_>,
) -> Result<Listening, Failure> {
    let option = format!("[{}] bind_port", place.section);
    let socket = serving::bind_shared(&place.host, place.port, &option).await?;
    let address = serving::address(&socket)?;
    let listening = match &place.tls {
        None => serving::serve(socket, router),
        Some((certificate, key)) => {
            serving::serve_tls(socket, serving::tls::acceptor(certificate, key)?, router)?
        }
    };
    writeln!(streams.out, "The {name} API listens on {}://{address}.", place.scheme())?;
    Ok(listening)
}

/// Serves what is counted, if that is asked for.
async fn metrics(
    settings: &Settings,
    app: Arc<App>,
    streams: &mut Streams<'_>,
) -> Result<Option<Listening>, Failure> {
    let Some((host, port)) = &settings.metrics else { return Ok(None) };
    let socket = serving::bind_shared(host, *port, "[kiln] metrics_port").await?;
    let address = serving::address(&socket)?;
    let listening = serving::serve(socket, serving::metrics(app));
    writeln!(streams.out, "Metrics are at http://{address}/metrics.")?;
    Ok(Some(listening))
}

/// Who finds out who asks.
fn authenticator(settings: &Settings) -> Result<Arc<dyn Authenticator>, Failure> {
    let others = by_flavor(settings)?;
    let Some(examiners) = &settings.examiners else { return Ok(others) };
    let mut signed = Signed::beside(others);
    for login in examiners {
        let identity = auth::Identity::new(serving::client()?, &login.auth_url);
        let url = format!("{}/v3", login.auth_url.trim_end_matches('/').trim_end_matches("/v3"));
        signed = signed.asking(identity, own(login), &url, Arc::new(now));
    }
    Ok(Arc::new(signed))
}

/// Our own login at an identity service.
fn own(login: &config::Login) -> Login {
    let named = |name: &str, domain: &str| Named::InDomainNamed {
        name: name.to_owned(),
        domain_name: domain.to_owned(),
    };
    Login {
        user: named(&login.username, &login.user_domain),
        password: Secret::new(login.password.as_str().into()),
        reach: Reach::Project(named(&login.project, &login.project_domain)),
    }
}

/// Who finds out who asks, but for signatures.
fn by_flavor(settings: &Settings) -> Result<Arc<dyn Authenticator>, Failure> {
    let login = &settings.login;
    match &settings.flavor {
        Flavor::Keystone => {
            let rules = auth::Settings {
                www_authenticate_uri: login.www_authenticate_uri.clone(),
                auth_url: chosen(login, format!("{}/v3", login.auth_url)),
                cache_time: login.cache,
                service_token_roles: login.service_token_roles.clone(),
                ..auth::Settings::default()
            };
            Ok(serving::keystone(&login.auth_url, own(login), rules)?)
        }
        Flavor::Standalone => {
            let identity = auth::Identity::new(serving::client()?, &login.auth_url);
            let url = chosen(login, login.auth_url.clone());
            let password = Password::new(identity, url, LOGIN_REMEMBERED, Arc::new(now));
            let failed = |error| Failure::usage(format!("there is no randomness: {error}"));
            Ok(Arc::new(password.map_err(failed)?))
        }
        Flavor::Custom(url, roles) => {
            let backend = serving::Asked { client: serving::client()?, url: url.clone() };
            Ok(Arc::new(Custom::new(Arc::new(backend), roles.clone())))
        }
        Flavor::NoAuth(described) => {
            if let Some(place) = open_place(settings) {
                return Err(Failure::usage(format!(
                    "[paste_deploy] flavor is noauth, which lets everybody do everything: it is for \
                     127.0.0.1 alone; set [{}] bind_host to that, or choose another flavor",
                    place.section
                )));
            }
            let described = described.as_deref().map(described_token).transpose()?;
            Ok(Arc::new(NoAuth::new(described.as_ref())))
        }
    }
}

/// An interface that others than those on this machine can reach.
fn open_place(settings: &Settings) -> Option<&Socket> {
    let served = [
        (settings.has_api, &settings.native),
        (settings.has_cfn, &settings.cfn),
        (settings.has_cloudwatch, &settings.cloudwatch),
    ];
    let is_open =
        |place: &Socket| !["127.0.0.1", "::1", "localhost"].contains(&place.host.as_str());
    served
        .into_iter()
        .find(|(is_served, place)| *is_served && is_open(place))
        .map(|(_, place)| place)
}

/// The identity service of a request: ours, or one of those among which clients choose.
fn chosen(login: &config::Login, ours: String) -> auth::AuthUrl {
    auth::AuthUrl {
        configured: ours,
        multi_cloud: login.choice.is_some(),
        allowed: login.choice.clone().unwrap_or_default(),
    }
}

/// A token as an identity service describes it, from a file.
fn described_token(path: &Path) -> Result<Json, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{shown} is no JSON: {error}")))
}

fn policy(settings: &Settings) -> Result<Policy, Failure> {
    let Some(path) = &settings.policy_file else { return Ok(Policy::with(settings.policy)) };
    let shown = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        // A file that is only named by default need not be there.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            tracing::warn!("there is no policy file {shown}: the built-in rules hold");
            return Ok(Policy::with(settings.policy));
        }
        Err(error) => return Err(Failure::usage(format!("cannot read {shown}: {error}"))),
    };
    Policy::load(&shown, &text, settings.policy).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::usage(errors.join("\n"))
    })
}

/// A place among the engines that work on one file. Engines on a server's database have none: others may
/// be on other machines.
struct Place {
    /// Whether nobody else was there when it was taken.
    is_alone: bool,
    /// Held as long as the engine works.
    _lock: Option<File>,
}

impl Place {
    fn of(url: &str) -> Option<Place> {
        let path = url.strip_prefix("sqlite://")?;
        let path = format!("{}.lock", path.split('?').next().unwrap_or(path));
        let lock = File::create(&path).ok()?;
        if lock.try_lock().is_ok() {
            return Some(Place { is_alone: true, _lock: Some(lock) });
        }
        // Whoever comes next is not alone either, also when the first one has gone.
        if lock.try_lock_shared().is_ok() {
            return Some(Place { is_alone: false, _lock: Some(lock) });
        }
        // The lock comes when the first one goes, and goes with this process.
        std::thread::spawn(move || {
            if lock.lock_shared().is_ok() {
                std::mem::forget(lock);
            }
        });
        Some(Place { is_alone: false, _lock: None })
    }
}

/// How calls are made: to ourselves, and to the endpoints that were named or the cloud of the configuration.
fn transport(endpoints: &[String], settings: &Settings) -> Result<Own, Failure> {
    if endpoints.is_empty() {
        let Some(cloud) = &settings.cloud else { return Ok(Own::before(Arc::new(NoCloud))) };
        return match OpenStack::new(cloud.clone()) {
            Ok(cloud) => Ok(Own::before(Arc::new(cloud))),
            Err(error) => Err(Failure::Usage(format!("the cloud cannot be used: {error}"))),
        };
    }
    let mut known = BTreeMap::new();
    for endpoint in endpoints {
        let Some((name, url)) = endpoint.split_once('=') else {
            let message = format!("--endpoint {endpoint}: write it as SERVICE=URL");
            return Err(Failure::Usage(message));
        };
        let all = CloudService::ALL;
        let Some(service) = all.into_iter().find(|it| it.catalogue_type() == name) else {
            let names: Vec<&str> = all.iter().map(|it| it.catalogue_type()).collect();
            let message = format!(
                "--endpoint: there is no service {name}; it is one of {}",
                names.join(", ")
            );
            return Err(Failure::Usage(message));
        };
        known.insert(service, url.to_owned());
    }
    let are_elsewhere = known.contains_key(&CloudService::Orchestration);
    match Http::new(known, settings.calls_per_service) {
        Ok(http) => Ok(Own::before(Arc::new(http)).with_stacks_elsewhere(are_elsewhere)),
        Err(error) => Err(Failure::Usage(format!("HTTP cannot be used: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_while_another_is_there_is_not_alone() {
        let name = format!("kiln-place-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        let url = format!("sqlite://{}?mode=rwc", path.display());
        let take = || Place::of(&url).unwrap();
        let first = take();
        assert!(first.is_alone);
        let second = take();
        assert!(!second.is_alone);
        drop(first);
        // The second has the lock now, or gets it in a moment; in this process it never lets go of it.
        while File::create(format!("{}.lock", path.display())).unwrap().try_lock().is_ok() {
            std::thread::yield_now();
        }
        assert!(!take().is_alone);
        std::fs::remove_file(format!("{}.lock", path.display())).unwrap();
        assert!(Place::of("postgres://h/kiln").is_none());
    }
}
