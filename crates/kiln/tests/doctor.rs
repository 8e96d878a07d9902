//! `kiln doctor` and `kiln server --check`, against the simulated cloud: what is well, and one case for each thing that may
//! be broken.

use crate::server::{Served, wait};
use crate::test_directory::{Run, TestDirectory};
use kiln_sim::cloud::{Cloud, Options};
use kiln_sim::identity::{self, Clock, Identity, IdentityOptions, Seed};
use serde_json::Value;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A simulated cloud, and a configuration that fits it.
struct Site {
    directory: TestDirectory,
    config: String,
    identity_url: String,
    _runtime: Runtime,
}

async fn bind() -> (TcpListener, String) {
    let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", socket.local_addr().expect("an address"));
    (socket, url)
}

impl Site {
    fn new() -> Site {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().expect("threads");
        let (config, identity_url) = runtime.block_on(async {
            let ((front, identity_url), (back, cloud_url)) = (bind().await, bind().await);
            let clock = Clock::new(|| kiln_engine::now().micros());
            let seed = Seed::new(&identity_url)
                .service("orchestration", "heat", "http://127.0.0.1:1/v1/%(project_id)s")
                .services(Cloud::catalogue(&cloud_url));
            let identity = Identity::open(None, IdentityOptions::new(seed, clock.clone()));
            let identity = Arc::new(identity.expect("an identity service"));
            let cloud = Cloud::open(Options::new(clock), identity.clone()).expect("a cloud");
            let config = config(&identity, &identity_url);
            tokio::spawn(axum::serve(back, cloud.router()).into_future());
            tokio::spawn(axum::serve(front, identity::router(identity)).into_future());
            (config, identity_url)
        });
        Site { directory: TestDirectory::with(&[]), config, identity_url, _runtime: runtime }
    }

    /// The findings of a configuration in which some lines are others.
    fn examine(&self, changes: &[(&str, &str)]) -> (i32, Vec<Value>) {
        let run = self.run(changes, &["doctor", "--config", "kiln.conf", "-f", "json"]);
        assert_eq!(run.err, "");
        (run.status, serde_json::from_str(&run.out).expect("JSON"))
    }

    fn run(&self, changes: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut config = self.config.clone();
        for (former, new) in changes {
            assert!(config.contains(former), "{former} is not in {config}");
            config = config.replace(former, new);
        }
        self.directory.put("kiln.conf", config.as_bytes());
        self.directory.run(arguments)
    }

    /// The only problem of a broken configuration, with what to do about it.
    fn problem(&self, changes: &[(&str, &str)]) -> (String, String, String) {
        let (status, findings) = self.examine(changes);
        assert_eq!(status, 1, "{findings:#?}");
        let mut problems = of_state(&findings, "problem");
        assert_eq!(problems.len(), 1, "{problems:#?}");
        problems.remove(0)
    }
}

/// The findings of a state: what was checked, the text, and what to do.
fn of_state(findings: &[Value], state: &str) -> Vec<(String, String, String)> {
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let of_state = findings.iter().filter(|it| it["state"] == state);
    of_state.map(|it| (text(it, "check"), text(it, "text"), text(it, "next"))).collect()
}

fn config(identity: &Identity, url: &str) -> String {
    let (own, domain) = (identity.service_login(), identity.domain_admin_login());
    let (password, domain_password) = (&own.password, &domain.password);
    format!(
        "[DEFAULT]\nregion_name_for_services = RegionOne\nstack_user_domain_name = heat\n\
         stack_domain_admin = heat_domain_admin\nstack_domain_admin_password = {domain_password}\n\
         [database]\nconnection = sqlite:///kiln.db\n\
         [heat_api]\nbind_host = 127.0.0.1\nbind_port = 0\n\
         [keystone_authtoken]\nauth_url = {url}\nusername = heat\nproject_name = service\npassword = {password}\n\
         [kiln]\nkeys_file = kiln.keys\n"
    )
}

#[test]
fn what_is_well_is_said_to_be() {
    let site = Site::new();
    let (status, findings) = site.examine(&[]);
    assert_eq!(status, 0, "{findings:#?}");
    let well: Vec<String> = of_state(&findings, "ok").into_iter().map(|it| it.0).collect();
    for check in [
        "configuration",
        "database",
        "schema",
        "keys",
        "identity service",
        "clock",
        "service user",
        "trusts",
        "stack domain",
        "endpoints",
        "port",
        "open files",
    ] {
        assert!(well.iter().any(|it| it == check), "{check}: {findings:#?}");
    }
    let texts = findings.iter().filter_map(|it| it["text"].as_str());
    let compute = texts.clone().find(|it| it.starts_with("compute: ")).expect("compute");
    assert!(compute.contains("answers, version 2."), "{compute}");
    assert!(!site.directory.path().join("kiln.db").exists(), "nothing is created");
    assert!(!site.directory.path().join("kiln.keys").exists(), "nothing is created");
    let text = site.run(&[], &["server", "--check", "--config", "kiln.conf"]);
    assert_eq!((text.status, &*text.err), (0, ""));
    assert!(text.out.starts_with("ok       configuration     kiln.conf is valid"), "{}", text.out);
    assert!(text.out.ends_with("0 problems, 0 warnings.\n"), "{}", text.out);
    let engine = site.run(&[], &["doctor", "--config", "kiln.conf", "--role", "engine"]);
    assert!(!engine.out.contains("[heat_api] bind_port"), "{}", engine.out);
}

#[test]
fn options_are_always_on_not_needed_or_not_supported() {
    let site = Site::new();
    let options = "[DEFAULT]\nconvergence_engine = true\nnum_engine_workers = 4\nkeystone_backend = acme.Keystone\n\
                   max_stacks_per_tennant = 1\n";
    let (status, findings) = site.examine(&[("[DEFAULT]\n", options)]);
    assert_eq!(status, 0);
    let warnings = of_state(&findings, "warning");
    let expected = [
        (
            "kiln.conf: line 4: [DEFAULT] keystone_backend is not supported",
            "It names Python code. For another identity service, use [paste_deploy] flavor = custombackend",
        ),
        (
            "kiln.conf: line 5: [DEFAULT] max_stacks_per_tennant is not known and is ignored",
            "did you mean `max_stacks_per_tenant`?",
        ),
    ];
    let warnings: Vec<_> = warnings.iter().map(|(_, text, next)| (&**text, &**next)).collect();
    assert_eq!(warnings, expected);
    let well: Vec<String> = of_state(&findings, "ok").into_iter().map(|it| it.1).collect();
    let is_there = |start: &str| well.iter().any(|it| it.starts_with(start));
    assert!(is_there("kiln.conf: line 2: [DEFAULT] convergence_engine is always on. "), "{well:?}");
    assert!(
        is_there("kiln.conf: line 3: [DEFAULT] num_engine_workers is not needed. "),
        "{well:?}"
    );
}

#[test]
fn a_file_that_cannot_be_used_is_a_problem() {
    let site = Site::new();
    let (check, text, next) = site.problem(&[("bind_port = 0", "bind_port = many")]);
    assert_eq!(check, "configuration");
    assert!(text.contains("line 10: [heat_api] bind_port must be a whole number"), "{text}");
    assert!(next.contains("Nothing else was checked"), "{next}");
    let run = site.directory.run(&["doctor", "--config", "none.conf"]);
    assert_eq!(run.status, 1);
    assert!(run.out.starts_with("problem  configuration  cannot read none.conf: "), "{}", run.out);
}

#[test]
fn a_broken_database_is_a_problem() {
    let site = Site::new();
    let there = "connection = sqlite:///kiln.db";
    let (check, text, next) =
        site.problem(&[(there, "connection = postgresql://u:SECRET@127.0.0.1:1/k")]);
    assert_eq!(check, "database");
    assert!(text.contains("127.0.0.1:1 cannot be reached") && !text.contains("SECRET"), "{text}");
    assert!(next.starts_with("start the database server"), "{next}");
    let (_, text, _) = site.problem(&[(there, "connection = sqlite:///nowhere/kiln.db")]);
    assert!(text.contains("there is no directory nowhere"), "{text}");
    let (_, text, _) = site.problem(&[(there, "connection = oracle://x/y")]);
    assert!(text.starts_with("the URL of the store must begin with"), "{text}");
}

#[test]
fn keys_that_do_not_fit_are_a_problem() {
    let site = Site::new();
    site.run(&[], &["doctor", "--config", "kiln.conf"]);
    let mut served = Served::start(&site.directory, "kiln.conf");
    served.wait_for("The engine runs.");
    assert!(served.stop());
    let (status, findings) = site.examine(&[]);
    assert_eq!(status, 0, "{findings:#?}");
    let keys = of_state(&findings, "ok").into_iter().find(|it| it.0 == "keys").expect("keys");
    assert_eq!(keys.1, "kiln.keys has the keys of the database");
    let (check, text, next) = site.problem(&[("kiln.keys", "other.keys")]);
    assert_eq!(check, "keys");
    assert!(
        text.contains("other.keys is missing") && next.starts_with("restore it"),
        "{text}: {next}"
    );
    let path = site.directory.path().join("kiln.keys");
    let mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, mode).expect("a mode");
    };
    mode(0o644);
    let (_, text, next) = site.problem(&[]);
    assert!(
        text.contains("can be read by others") && next.starts_with("chmod 600"),
        "{text}: {next}"
    );
    mode(0o600);
    let digit = |line: &str| {
        if line.starts_with("key ") { format!("key {}", "0".repeat(64)) } else { line.into() }
    };
    let keys = std::fs::read_to_string(&path).expect("keys");
    let others: Vec<String> = keys.lines().map(digit).collect();
    std::fs::write(&path, others.join("\n")).expect("other keys");
    let (_, text, _) = site.problem(&[]);
    assert!(text.contains("has not the keys that the store was encrypted with"), "{text}");
}

#[test]
fn a_database_of_a_later_version_is_a_problem() {
    let site = Site::new();
    site.run(&[], &["doctor", "--config", "kiln.conf"]);
    let mut served = Served::start(&site.directory, "kiln.conf");
    served.wait_for("The engine runs.");
    assert!(served.stop());
    let url = format!("sqlite://{}", site.directory.path().join("kiln.db").display());
    wait(async {
        use sqlx::Connection;
        sqlx::any::install_default_drivers();
        let mut connection = sqlx::AnyConnection::connect(&url).await.expect("a connection");
        let insert = sqlx::query("INSERT INTO migrations (number) VALUES (999)");
        insert.execute(&mut connection).await.expect("a row");
        connection.close().await.expect("an end");
    });
    let (check, text, next) = site.problem(&[]);
    assert_eq!((&*check, &*next), ("schema", "upgrade Kiln on this machine"));
    assert!(text.starts_with("999, but this program knows "), "{text}");
}

#[test]
fn an_identity_service_that_is_not_there_is_a_problem() {
    let site = Site::new();
    let there = format!("auth_url = {}", site.identity_url);
    let (check, text, next) = site.problem(&[(&there, "auth_url = http://127.0.0.1:1")]);
    assert_eq!(check, "identity service");
    assert!(text.starts_with("http://127.0.0.1:1/v3 does not answer: "), "{text}");
    assert!(next.starts_with("correct [keystone_authtoken] auth_url"), "{next}");
}

#[test]
fn a_service_user_who_cannot_log_in_is_a_problem() {
    let site = Site::new();
    let (check, text, next) = site.problem(&[("username = heat\n", "username = nobody\n")]);
    assert_eq!(check, "service user");
    assert!(text.starts_with("user nobody cannot log in to project service: "), "{text}");
    assert!(next.contains("[keystone_authtoken]"), "{next}");
}

#[test]
fn a_service_user_without_the_role_is_a_problem() {
    let site = Site::new();
    // The demonstration user has a project, but may not check the tokens of others.
    let start = site.config.find("username = heat\n").expect("a user");
    let end = site.config.find("[kiln]").expect("a section");
    let former = site.config[start..end].to_owned();
    let demo = "username = demo\nproject_name = demo\npassword = demo\n";
    let (check, text, next) = site.problem(&[(&former, demo)]);
    assert_eq!(check, "service user");
    assert!(text.starts_with("demo has the roles "), "{text}");
    assert!(next.contains("openstack role add --project demo --user demo service"), "{next}");
}

#[test]
fn a_stack_domain_that_cannot_be_used_is_a_problem() {
    let site = Site::new();
    let wrong = [("stack_domain_admin = heat_domain_admin", "stack_domain_admin = nobody")];
    let (check, text, next) = site.problem(&wrong);
    assert_eq!(check, "stack domain");
    assert!(text.starts_with("nobody cannot log in to it: "), "{text}");
    assert!(next.contains("stack_domain_admin_password"), "{next}");
    let without = [("stack_user_domain_name = heat\n", "")];
    let (status, findings) = site.examine(&without);
    assert_eq!(status, 0);
    assert!(
        of_state(&findings, "warning").iter().any(|it| it.0 == "stack domain"),
        "{findings:#?}"
    );
}

#[test]
fn a_role_that_does_not_exist_is_a_problem() {
    let site = Site::new();
    let option = "[DEFAULT]\nheat_stack_user_role = unheard_of\n";
    let (check, text, next) = site.problem(&[("[DEFAULT]\n", option)]);
    assert_eq!(check, "roles");
    assert!(text.contains("names unheard_of, and there is no such role"), "{text}");
    assert!(next.contains("openstack role create unheard_of"), "{next}");
}

#[test]
fn a_region_without_endpoints_is_told_for_each_service() {
    let site = Site::new();
    let (status, findings) = site.examine(&[("= RegionOne", "= Atlantis")]);
    assert_eq!(status, 1);
    let problems = of_state(&findings, "problem");
    let compute = problems.iter().find(|it| it.1.starts_with("compute ")).expect("compute");
    assert_eq!(compute.1, "compute has no public endpoint in region Atlantis");
    assert!(compute.2.contains("region_name_for_services"), "{}", compute.2);
}

#[test]
fn a_broker_that_is_not_there_is_a_warning() {
    let site = Site::new();
    let option = "[DEFAULT]\ntransport_url = rabbit://u:SECRET@127.0.0.1:1/\n";
    let (status, findings) = site.examine(&[("[DEFAULT]\n", option)]);
    assert_eq!(status, 0);
    let broker =
        of_state(&findings, "warning").into_iter().find(|it| it.0 == "broker").expect("broker");
    assert!(
        broker.1.starts_with("127.0.0.1:1 cannot be used: ") && !broker.1.contains("SECRET"),
        "{}",
        broker.1
    );
    assert!(broker.2.contains("transport_url"), "{}", broker.2);
}

#[test]
fn a_port_that_another_program_has_is_a_problem() {
    let site = Site::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("bind_port = {}", taken.local_addr().expect("an address").port());
    let (check, text, next) = site.problem(&[("bind_port = 0", &port)]);
    assert_eq!(check, "port");
    assert!(text.contains("is in use by another program"), "{text}");
    assert!(next.contains("[heat_api] bind_port"), "{next}");
}
