//! Serves the identity service on a local port: `identity PORT [--state FILE] [--service-password WORD]`.
//!
//! The catalogue lists the orchestration services at their usual ports, whether they run or not.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kiln_sim::identity::{Clock, Identity, IdentityOptions, Seed, router};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: identity PORT [--state FILE] [--service-password WORD]";
    let port: u16 = words.next().ok_or(usage)?.parse()?;
    let (mut file, mut password) = (None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--state" => file = words.next().map(PathBuf::from),
            "--service-password" => password = words.next(),
            _ => return Err(usage.into()),
        }
    }
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut seed = Seed::new(&url)
        .service("orchestration", "heat", "http://127.0.0.1:8004/v1/%(project_id)s")
        .service("cloudformation", "heat-cfn", "http://127.0.0.1:8000/v1");
    seed.service_password = password.clone();
    seed.domain_admin_password = password;
    let clock = Clock::new(|| Timestamp::now().as_microsecond());
    let identity = Arc::new(Identity::open(file.as_deref(), IdentityOptions::new(seed, clock))?);
    let heat = identity.service_login();
    writeln!(std::io::stdout(), "identity at {url}/v3, heat's password {}", heat.password)?;
    let owner = identity.domain_admin_login();
    writeln!(std::io::stdout(), "heat_domain_admin's password {}", owner.password)?;
    axum::serve(listener, router(identity)).await?;
    Ok(())
}
