//! What is attacked: `kiln server` on a database, with a simulated cloud in this process.

use super::databases::Database;
use crate::cloud::kiln_process::KilnProcess;
use crate::test_directory::TestDirectory;
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{self, Clock, Identity, IdentityOptions, Seed};
use std::sync::Arc;
use tokio::net::TcpListener;

/// The quota of stacks of each project.
pub(super) const MAX_STACKS: usize = 24;

/// A server that is attacked, and its database.
pub(crate) struct Target {
    pub(crate) kiln: KilnProcess,
    database: Database,
}

async fn bind() -> (TcpListener, String) {
    let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", socket.local_addr().expect("an address"));
    (socket, url)
}

impl Target {
    pub(super) async fn start(database: Database) -> Target {
        Target::start_with(database, "", &[]).await
    }

    /// A server on SQLite with some more lines of configuration, and files beside the configuration file.
    pub(crate) async fn with_files(options: &str, files: &[(&str, &str)]) -> Target {
        Target::start_with(Database::sqlite(), options, files).await
    }

    async fn start_with(database: Database, options: &str, files: &[(&str, &str)]) -> Target {
        let ((front, identity_url), (back, cloud_url)) = (bind().await, bind().await);
        // The catalogue names the server's addresses, so they are chosen before it starts.
        let [api, cfn] = [bind().await.1, bind().await.1];
        let clock = Clock::new(|| kiln_engine::now().micros());
        let seed = Seed::new(&identity_url)
            .service("orchestration", "heat", &format!("{api}/v1/%(project_id)s"))
            .service("cloudformation", "heat-cfn", &format!("{cfn}/v1"))
            .services(Cloud::catalogue(&cloud_url));
        let identity = Identity::open(None, IdentityOptions::new(seed, clock.clone()));
        let identity = Arc::new(identity.expect("an identity service"));
        let cloud = Options { quota: Some(-1), ..Options::new(clock) };
        let cloud = Cloud::open(cloud, identity.clone()).expect("a cloud");
        let config = config(&database.url(), [&api, &cfn], &identity, &identity_url) + options;
        tokio::spawn(axum::serve(back, cloud.router()).into_future());
        tokio::spawn(axum::serve(front, identity::router(identity)).into_future());
        let directory = TestDirectory::with(&[("kiln.conf", &config), ("log", "")]);
        files.iter().for_each(|(name, text)| directory.put(name, text.as_bytes()));
        let identity_url = format!("{identity_url}/v3");
        let kiln = KilnProcess::on_simulated_cloud(directory, [identity_url, cloud_url]).await;
        Target { kiln, database }
    }

    /// Searches the log of the server and everything in the database for a text; another one is stored in clear, and is
    /// found in the database.
    pub(crate) fn search(&self, hidden: &str, clear: &str) {
        let log = std::fs::read(self.kiln.directory.path().join("log")).expect("a log");
        let dump = self.database.dump();
        assert!(!log.is_empty(), "the server writes a log");
        assert!(found(clear, &dump).is_some(), "{clear} is in the database");
        for (name, bytes) in [("the log", log), ("the database", dump)] {
            let place = found(hidden, &bytes);
            assert!(place.is_none(), "{name} has {hidden}: {place:?}");
        }
    }

    /// The size of everything in the database.
    pub(super) fn size(&self) -> usize {
        self.database.dump().len()
    }
}

/// The line that has a text, as it is or in hexadecimal digits.
fn found(text: &str, bytes: &[u8]) -> Option<String> {
    let all = String::from_utf8_lossy(bytes);
    let forms = [text.to_owned(), hex::encode(text), hex::encode_upper(text)];
    let line = all.lines().find(|line| forms.iter().any(|form| line.contains(form)))?;
    Some(line.chars().take(2000).collect())
}

fn config(database: &str, [api, cfn]: [&str; 2], identity: &Identity, url: &str) -> String {
    let port = |url: &str| url.rsplit(':').next().expect("a port").to_owned();
    let (own, domain) = (identity.service_login(), identity.domain_admin_login());
    let (domain_id, admin) = (identity.stack_domain_id(), &domain.user_name);
    let (domain_password, password) = (&domain.password, &own.password);
    let (api, cfn) = (port(api), port(cfn));
    format!(
        "[DEFAULT]\nregion_name_for_services = RegionOne\nenable_stack_adopt = true\nenable_stack_abandon = true\naction_retry_limit = 1\n\
         max_stacks_per_tenant = {MAX_STACKS}\nstack_user_domain_id = {domain_id}\nstack_domain_admin = {admin}\n\
         stack_domain_admin_password = {domain_password}\n\
         [database]\nconnection = {database}\n\
         [heat_api]\nbind_host = 127.0.0.1\nbind_port = {api}\n\
         [heat_api_cfn]\nbind_host = 127.0.0.1\nbind_port = {cfn}\n\
         [heat_api_cloudwatch]\nbind_host = 127.0.0.1\nbind_port = 0\n\
         [keystone_authtoken]\nauth_url = {url}\nusername = heat\nproject_name = service\npassword = {password}\n"
    )
}
