//! Serves the identity service and all other services of the simulated cloud on two local ports: `cloud IDENTITY_PORT
//! CLOUD_PORT [--seed N] [--build MILLISECONDS] [--latency MILLISECONDS] [--file FILE] [--quota N]`.
//!
//! The users `admin` and `demo` have their names as passwords; use `curl` or any OpenStack client.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{Clock, Identity, IdentityOptions, Seed, router};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: cloud IDENTITY_PORT CLOUD_PORT [--seed N] [--build MS] [--latency MS] [--file FILE] [--quota N]";
    let ports: (u16, u16) =
        (words.next().ok_or(usage)?.parse()?, words.next().ok_or(usage)?.parse()?);
    let clock = Clock::new(|| Timestamp::now().as_microsecond());
    let mut options = Options::new(clock.clone());
    while let Some(word) = words.next() {
        let value = words.next().ok_or(usage)?;
        match word.as_str() {
            "--seed" => options.seed = value.parse()?,
            "--build" => options.build_time = Duration::from_millis(value.parse()?),
            "--latency" => options.latency = Duration::from_millis(value.parse()?),
            "--file" => options.file = Some(PathBuf::from(value)),
            "--quota" => options.quota = Some(value.parse()?),
            _ => return Err(usage.into()),
        }
    }
    let front = tokio::net::TcpListener::bind(("127.0.0.1", ports.0)).await?;
    let back = tokio::net::TcpListener::bind(("127.0.0.1", ports.1)).await?;
    let identity_url = format!("http://{}", front.local_addr()?);
    let cloud_url = format!("http://{}", back.local_addr()?);
    let seed = Seed::new(&identity_url).services(Cloud::catalogue(&cloud_url));
    let identity = Arc::new(Identity::open(None, IdentityOptions::new(seed, clock))?);
    let cloud = Cloud::open(options, Arc::clone(&identity))?;
    writeln!(std::io::stdout(), "identity at {identity_url}/v3, cloud at {cloud_url}")?;
    #[allow(clippy::disallowed_methods, reason = "it runs until the program ends")]
    let services = tokio::spawn(axum::serve(back, cloud.router()).into_future());
    axum::serve(front, router(identity)).await?;
    services.await??;
    Ok(())
}
