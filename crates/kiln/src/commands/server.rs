//! `kiln server`: carries out what is wanted of the stacks in a database.

use crate::cli::Server;
use crate::commands::db;
use crate::streams::{Failure, Streams, Verdict};
use kiln_cloud::{Http, NoCloud, Service, Transport};
use kiln_engine::config::Config;
use kiln_engine::runtime::{Engine, Settings};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) fn run(arguments: &Server, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    let transport = transport(&arguments.endpoints)?;
    db::wait_for(serve(arguments, transport, streams))?
}

async fn serve(
    arguments: &Server,
    transport: Arc<dyn Transport>,
    streams: &mut Streams<'_>,
) -> Result<Verdict, Failure> {
    let store = Arc::new(db::open(&arguments.database).await?);
    let config = Config { quiet: Duration::from_secs(arguments.quiet), ..Config::default() };
    let lease = Duration::from_secs(arguments.lease.max(1));
    let lock = sole_engine(&arguments.database.url);
    let is_alone = lock.is_some();
    let settings = Settings { lease, look: lease / 8, is_alone, ..Settings::default() };
    let mut stops = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let [Ok(interrupt), Ok(terminate)] = &mut stops else {
        return Err(Failure::Usage("signals cannot be listened to on this system".into()));
    };
    let engine = Engine::start(Arc::new(config), store.clone(), transport, settings);
    writeln!(streams.out, "The engine runs. Stop it with Ctrl-C: nothing is lost.")?;
    streams.out.flush()?;
    tokio::select! {
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = engine.finish(), if arguments.once => {}
    }
    engine.stop().await;
    store.close().await;
    drop(lock);
    writeln!(streams.out, "Stopped.")?;
    Ok(Verdict::Good)
}

/// A lock that only one engine on a file can hold; nothing if another holds it, or for a server's
/// database, which engines on other machines may share.
fn sole_engine(url: &str) -> Option<File> {
    let path = url.strip_prefix("sqlite://")?;
    let path = path.split('?').next().unwrap_or(path);
    let lock = File::create(format!("{path}.lock")).ok()?;
    lock.try_lock().ok().map(|()| lock)
}

/// How calls are made: to the endpoints that were named.
fn transport(endpoints: &[String]) -> Result<Arc<dyn Transport>, Failure> {
    if endpoints.is_empty() {
        return Ok(Arc::new(NoCloud));
    }
    let mut known = BTreeMap::new();
    for endpoint in endpoints {
        let Some((name, url)) = endpoint.split_once('=') else {
            let message = format!("--endpoint {endpoint}: write it as SERVICE=URL");
            return Err(Failure::Usage(message));
        };
        let Some(service) = Service::ALL.into_iter().find(|it| it.catalogue_type() == name) else {
            let names: Vec<&str> = Service::ALL.iter().map(|it| it.catalogue_type()).collect();
            let message = format!(
                "--endpoint: there is no service {name}; it is one of {}",
                names.join(", ")
            );
            return Err(Failure::Usage(message));
        };
        known.insert(service, url.to_owned());
    }
    match Http::new(known) {
        Ok(http) => Ok(Arc::new(http)),
        Err(error) => Err(Failure::Usage(format!("HTTP cannot be used: {error}"))),
    }
}
