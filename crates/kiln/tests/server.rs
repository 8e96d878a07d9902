//! The server: its start, its end, and what its file says.

use crate::client_fake::{Fake, nothing};
use crate::test_directory::TestDirectory;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_server_starts_on_nothing_and_stops_when_asked() {
    let directory = TestDirectory::with(&[]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["server", "--role", "engine"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut out = BufReader::new(server.stdout.take().expect("its output"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "The engine runs. Stop it with Ctrl-C: nothing is lost.\n");
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("a signal").success());
    assert!(server.wait().expect("it stops").success());
    line.clear();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "Stopped.\n");
}

#[test]
fn a_server_waits_for_its_database_and_says_for_which_one() {
    let directory = TestDirectory::with(&[]);
    // Nothing listens on this port.
    let database = "postgres://kiln:SECRET@127.0.0.1:1/kiln";
    let arguments = ["server", "--role", "engine", "--database", database];
    let mut served = Served::of(directory.command(&arguments).spawn().expect("the program starts"));
    let log = BufReader::new(served.log().expect("its log"));
    let mut lines = log.lines().map_while(Result::ok);
    let waits = lines.find(|line| line.contains("WARN")).expect("a warning");
    assert!(waits.contains("the database server at 127.0.0.1:1 cannot be reached"), "{waits}");
    assert!(waits.contains("onnection refused") && !waits.contains("SECRET"), "{waits}");
    assert!(served.stop(), "it stops when asked");
}

#[test]
fn a_server_waits_for_its_database_behind_a_balancer() {
    let directory = TestDirectory::with(&[]);
    // A balancer whose servers are all gone accepts connections, and closes them when it hears what they want.
    let balancer = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = balancer.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut connection in balancer.incoming().flatten() {
            _ = connection.read(&mut [0; 64]);
        }
    });
    let database = format!("postgres://kiln:SECRET@127.0.0.1:{port}/kiln");
    let arguments = ["server", "--role", "engine", "--database", &database];
    let mut served = Served::of(directory.command(&arguments).spawn().expect("the program starts"));
    let log = BufReader::new(served.log().expect("its log"));
    let line = log.lines().map_while(Result::ok).next().expect("a line");
    assert!(line.contains("WARN") && line.contains("cannot be reached"), "{line}");
    assert!(served.stop(), "it stops when asked");
}

#[test]
fn a_process_without_an_api_has_metrics() {
    let directory = TestDirectory::with(&[("kiln.conf", "[kiln]\nmetrics_port = 0\n")]);
    let arguments = ["server", "--config", "kiln.conf", "--role", "engine"];
    let mut process = directory.command(&arguments).spawn().expect("the program starts");
    let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let mut served = Served { process, lines };
    let url = served.address();
    let text = wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        client.get(url).send().await.expect("an answer").text().await.expect("text")
    });
    assert!(text.contains("kiln_trees_owned 0"), "{text}");
    assert!(served.stop());
}

#[test]
fn what_cannot_be_used_is_told_with_what_to_do() {
    let directory = TestDirectory::with(&[]);
    let run = directory.run(&["server", "--endpoint", "network"]);
    assert_eq!((run.status, &*run.err), (2, "kiln: --endpoint network: write it as SERVICE=URL\n"));
    let run = directory.run(&["server", "--endpoint", "nets=http://x"]);
    assert!(
        run.err.starts_with("kiln: --endpoint: there is no service nets; it is one of alarming,")
    );
}

/// A server with a configuration file, until it is dropped.
pub(crate) struct Served {
    process: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Served {
    pub(crate) fn start(directory: &TestDirectory, config: &str) -> Served {
        Served::start_with(directory, config, Stdio::inherit())
    }

    /// Starts it, with its log going there.
    pub(crate) fn start_with(directory: &TestDirectory, config: &str, log: Stdio) -> Served {
        let process = Command::new(env!("CARGO_BIN_EXE_kiln"))
            .args(["server", "--config", config])
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        Served::of(process)
    }

    /// The server that runs as this process.
    pub(crate) fn of(mut process: std::process::Child) -> Served {
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        Served { process, lines }
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The address in the next line that has one.
    pub(crate) fn address(&mut self) -> String {
        let line = self.lines.find_map(|line| line.ok().filter(|line| line.contains("://")));
        let line = line.expect("a line with an address");
        let address =
            line.split_whitespace().find(|word| word.contains("://")).expect("an address");
        address.trim_end_matches('.').to_owned()
    }

    /// The log of the process, if the test requested it.
    pub(crate) fn log(&mut self) -> Option<std::process::ChildStderr> {
        self.process.stderr.take()
    }

    /// Waits for a line that begins so.
    pub(crate) fn wait_for(&mut self, start: &str) {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with(start)), "{start} does not come");
    }

    pub(crate) fn stop(mut self) -> bool {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("a signal").success());
        self.process.wait().expect("it stops").success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        _ = self.process.kill();
    }
}

pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

const CONFIG: &str = "\
[DEFAULT]
max_stacks_per_tenant = 1
[heat_api]
bind_host = 127.0.0.1
bind_port = 0
[paste_deploy]
flavor = noauth
[kiln]
metrics_port = 0
";

#[test]
fn a_server_does_as_its_file_says_and_goes_on_where_it_stopped() {
    let directory = TestDirectory::with(&[("kiln.conf", CONFIG)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let (api, metrics) = (served.address(), served.address());
    let client = kiln_cloud::client_builder().build().expect("a client");
    let stack = serde_json::json!({
        "stack_name": "kept",
        "template": "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::RandomString}}\n",
    });
    wait(async {
        let health = client.get(format!("{api}/healthcheck")).send().await.expect("an answer");
        assert_eq!(health.status(), 200);
        let url = format!("{api}/v1/admin/stacks");
        let made = client.post(&url).json(&stack).send().await.expect("an answer");
        assert_eq!(made.status(), 201, "{}", made.text().await.unwrap_or_default());
        let rows = [
            "kiln_http_requests_total{method=\"POST\",status=\"201\"} 1",
            "kiln_trees_owned 1",
            "kiln_operations_started_total{operation=\"create\"} 1",
            "kiln_operations_running 0",
            "kiln_commits_failed_total 0",
            "kiln_doubts_open 0",
            "kiln_delegations_to_revoke 0",
        ];
        // The stack is created in the background.
        let is_counted = |text: &str| {
            let commits = text.lines().find_map(|it| it.strip_prefix("kiln_commit_seconds_count "));
            rows.iter().all(|row| text.contains(row)) && commits.is_some_and(|it| it != "0")
        };
        loop {
            let counted = client.get(&metrics).send().await.expect("an answer");
            if is_counted(&counted.text().await.expect("text")) {
                break;
            }
        }
    });
    assert!(served.stop());

    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let found = client.get(format!("{api}/v1/admin/stacks/kept")).send().await;
        assert_eq!(found.expect("an answer").status(), 200, "followed to the stack");
    });
    assert!(served.stop());
}

#[test]
fn an_operators_own_program_says_who_is_let_in() {
    let program = Fake::new(|asked| {
        let is_ann = asked.header("x-auth-user") == Some("ann")
            && asked.header("x-auth-key") == Some("hunter2")
            && asked.header("x-project-id") == Some("lab");
        nothing(if is_ann { 204 } else { 403 })
    });
    let config = CONFIG.replace("flavor = noauth", "flavor = custombackend").replace(
        "[kiln]\n",
        &format!("[kiln]\nauth_backend = {}\nauth_backend_roles = reader\n", program.url("/ask")),
    );
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let ask = async |user: &str, project: &str, name: Option<&str>| {
            let url = format!("{api}/v1/{project}/stacks");
            let request = match name {
                None => client.get(&url),
                Some(name) => {
                    let template = serde_json::json!({"heat_template_version": "2021-04-16"});
                    let body = serde_json::json!({"stack_name": name, "template": template});
                    client.post(&url).json(&body)
                }
            };
            let request = request.header("x-auth-user", user).header("x-auth-key", "hunter2");
            let reply = request.header("accept", "application/json").send().await;
            let reply = reply.expect("an answer");
            (reply.status().as_u16(), reply.text().await.expect("text"))
        };
        assert_eq!(ask("ann", "lab", None).await, (200, "{\"stacks\": []}".to_owned()));
        let (status, body) = ask("bob", "lab", None).await;
        assert!(status == 401 && body.contains("Backend authentication failed"), "{body}");
        assert_eq!(ask("ann", "other", None).await.0, 401);
        // An authenticated user may do what the roles allow, and no more.
        let (status, body) = ask("ann", "lab", Some("x")).await;
        assert!(status == 403 && body.contains("stacks:create"), "{body}");
    });
    assert_eq!(program.asked()[0].line(), "POST /ask");
    assert!(served.stop());
}

#[test]
fn clients_choose_among_identity_services_where_they_may() {
    let config = CONFIG.replace("flavor = noauth", "flavor = standalone")
        + "[auth_password]\nmulti_cloud = true\nallowed_auth_uris = http://one.example/v3\n";
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        let ask = async |url: Option<&str>| {
            let mut request = client.get(format!("{api}/v1/p/stacks"));
            if let Some(value) = url {
                request = request.header("x-auth-url", value);
            }
            let reply = request.header("x-auth-user", "u").header("x-auth-key", "k").send().await;
            let reply = reply.expect("an answer");
            (reply.status().as_u16(), reply.text().await.expect("text"))
        };
        let (status, body) = ask(None).await;
        assert_eq!(status, 400);
        assert!(body.contains("Request missing required header X-Auth-Url"), "{body}");
        let (status, body) = ask(Some("http://two.example/v3")).await;
        assert_eq!(status, 401);
        assert!(body.contains("not an allowed endpoint"), "{body}");
    });
    assert!(served.stop());
}

#[test]
fn every_option_that_has_an_effect_is_known() {
    // A warning about an option that does something would send operators astray.
    let config = "[auth_password]\nmulti_cloud = false\n[heat_api]\nbind_host = 127.0.0.1\n\
                  bind_port = 0\n[kiln]\nauth_backend = http://127.0.0.1:9/\nroles = api\n\
                  nonsense = 1\n[noauth]\ntoken_response = missing.json\n[paste_deploy]\n\
                  flavor = noauth\n";
    let directory = TestDirectory::with(&[("kiln.conf", config)]);
    let run = directory.run(&["server", "--config", "kiln.conf"]);
    assert_eq!(run.status, 2);
    let told: Vec<&str> = run.err.lines().filter(|line| line.contains("WARN")).collect();
    assert!(told.len() == 1 && told[0].contains("[kiln] nonsense"), "{}", run.err);
    assert!(run.err.contains("kiln: cannot read missing.json: No such file"), "{}", run.err);
}

#[test]
fn a_server_speaks_tls_with_the_certificate_that_it_is_given() {
    let certificate = include_str!("tls/cert.pem");
    let others = ["[heat_api_cfn]", "[heat_api_cloudwatch]"]
        .map(|section| format!("{section}\nbind_host = 127.0.0.1\nbind_port = 0\n"));
    let config = format!("{CONFIG}{}", others.concat())
        .replace("bind_port = 0\n", "bind_port = 0\ncert_file = cert.pem\nkey_file = key.pem\n")
        .replace("metrics_port = 0\n", "");
    let files = [
        ("kiln.conf", config.as_str()),
        ("cert.pem", certificate),
        ("key.pem", include_str!("tls/key.pem")),
    ];
    let directory = TestDirectory::with(&files);
    let mut served = Served::start(&directory, "kiln.conf");
    let trusted = reqwest::Certificate::from_pem(certificate.as_bytes()).expect("a certificate");
    let client = kiln_cloud::client_builder().tls_certs_only([trusted]).build().expect("a client");
    // The native API, CloudFormation's and CloudWatch's.
    for _ in 0..3 {
        let api = served.address();
        assert!(api.starts_with("https://"), "{api}");
        wait(async {
            let reply = client.get(format!("{api}/versions")).send().await.expect("an answer");
            assert_eq!(reply.status(), 300);
            let text = reply.text().await.expect("text");
            assert!(text.contains(&format!("{api}/v1/")), "{text}");
        });
    }
    assert!(served.stop());
}

#[test]
fn a_bad_file_is_refused_with_its_place() {
    for (text, expected) in [
        ("max = 1", "kiln: kiln.conf: line 1: an option before the first section\n"),
        (
            "[heat_api]\nbind_port = many",
            "kiln: kiln.conf: line 2: [heat_api] bind_port must be a whole number, not \"many\"\n",
        ),
        (
            "[kiln]\nroles = api, cook",
            "kiln: kiln.conf: line 2: [kiln] roles: there is no role cook; they are api, cfn, cloudwatch and engine\n",
        ),
        (
            "[paste_deploy]\nflavor = noauth",
            "kiln: [paste_deploy] flavor is noauth, which lets everybody do everything: it is for \
             127.0.0.1 alone; set [heat_api] bind_host to that, or choose another flavor\n",
        ),
        (
            "[paste_deploy]\nflavor = noauth\n[heat_api]\nbind_host = localhost\n[heat_api_cfn]\nbind_port = 0",
            "kiln: [paste_deploy] flavor is noauth, which lets everybody do everything: it is for \
             127.0.0.1 alone; set [heat_api_cfn] bind_host to that, or choose another flavor\n",
        ),
    ] {
        let directory = TestDirectory::with(&[("kiln.conf", text)]);
        let run = directory.run(&["server", "--config", "kiln.conf"]);
        assert_eq!((run.status, run.err.as_str()), (2, expected));
    }
}

/// What systemd learns of a service: that it is ready, alive, reads its files again, and stops.
#[test]
fn the_service_manager_is_told_what_happens() {
    let directory = TestDirectory::with(&[("kiln.conf", "[DEFAULT]\n")]);
    // The path of a socket is at most 108 bytes long, so it is relative.
    let socket = directory.path().join("n");
    let socket = std::os::unix::net::UnixDatagram::bind(&socket).expect("a socket");
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a limit");
    let next = || {
        let mut buffer = [0; 1000];
        let length = socket.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let message = |start: &str| loop {
        let message = next();
        if message.starts_with(start) {
            return message;
        }
    };
    let mut command = directory.command(&["server", "--config", "kiln.conf", "--role", "engine"]);
    command.env("NOTIFY_SOCKET", "n").env("WATCHDOG_USEC", "200000");
    let served = Served::of(command.spawn().expect("the program starts"));
    assert!(message("READY=1").contains("STATUS=kiln "));
    assert_eq!(message("WATCHDOG=1"), "WATCHDOG=1");
    let id = served.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().expect("a signal").success());
    assert!(message("RELOADING=1").contains("\nMONOTONIC_USEC="));
    assert!(message("READY=1").contains("STATUS=kiln "));
    assert!(served.stop());
    assert!(message("STOPPING=1").contains("STATUS="));
}

#[test]
fn a_server_says_whether_it_is_alive_and_whether_it_is_ready() {
    let directory = TestDirectory::with(&[("kiln.conf", CONFIG)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let (api, metrics) = (served.address(), served.address().replace("/metrics", ""));
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        for url in [&api, &metrics] {
            let alive = client.get(format!("{url}/livez")).send().await.expect("an answer");
            assert_eq!(alive.status(), 200);
            // The engine reports itself a moment after the start.
            loop {
                let ready = client.get(format!("{url}/readyz")).send().await.expect("an answer");
                assert_eq!(ready.status(), 200);
                let report: serde_json::Value = ready.json().await.expect("JSON");
                assert_eq!((&report["ready"], &report["database"]), (&true.into(), &"ok".into()));
                if report["engines_up"] == 1 {
                    assert_eq!(report["oldest_request_seconds"], 0);
                    break;
                }
            }
        }
    });
    assert!(served.stop());
}

#[test]
fn a_process_whose_database_is_gone_is_alive_and_not_ready() {
    let postgres = crate::attacks::servers::Postgres::start();
    let config = format!("[database]\nconnection = {}\n{CONFIG}", postgres.database("kiln"));
    let directory = TestDirectory::with(&[("kiln.conf", &config)]);
    let mut served = Served::start(&directory, "kiln.conf");
    let api = served.address();
    drop(postgres);
    wait(async {
        let client = kiln_cloud::client_builder().build().expect("a client");
        loop {
            let ready = client.get(format!("{api}/readyz")).send().await.expect("an answer");
            if ready.status() == 503 {
                let report: serde_json::Value = ready.json().await.expect("JSON");
                assert_eq!(report["database"], "does not answer");
                break;
            }
        }
        let alive = client.get(format!("{api}/livez")).send().await.expect("an answer");
        assert_eq!(alive.status(), 200);
    });
}

/// A signal has the levels of the log and the certificates in force, and the log names what has to wait.
#[test]
fn a_server_reads_its_files_again() {
    let tls = "bind_port = 0\ncert_file = cert.pem\nkey_file = key.pem\n";
    let config = CONFIG.replace("bind_port = 0\n", tls).replace("metrics_port = 0\n", "");
    let files = [
        ("kiln.conf", config.as_str()),
        ("cert.pem", include_str!("tls/cert.pem")),
        ("key.pem", include_str!("tls/key.pem")),
    ];
    let directory = TestDirectory::with(&files);
    let mut served = Served::start_with(&directory, "kiln.conf", Stdio::piped());
    let mut log = BufReader::new(served.log().expect("a log")).lines();
    served.address();
    let reload = || {
        let id = served.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("a signal").success());
    };
    let mut next = |text: &str| {
        log.by_ref().map_while(Result::ok).find(|line| line.contains(text)).expect("a line")
    };
    reload();
    next("the certificate was read again");
    next("all of it is in force");
    directory.put("cert.pem", b"nonsense");
    let more = format!("{config}[DEFAULT]\ndebug = true\n[kiln]\nlease = 7\n");
    directory.put("kiln.conf", more.as_bytes());
    reload();
    let bad = next("the certificate cannot be used: the former one stays");
    assert!(bad.contains("ERROR") && bad.contains("cert.pem"), "{bad}");
    next("the levels of the log were read again");
    let waits = next("take effect at a restart");
    assert!(waits.contains("[kiln] lease") && !waits.contains("debug"), "{waits}");
    directory.put("cert.pem", include_bytes!("tls/cert.pem"));
    let quiet = format!("{config}[DEFAULT]\ndefault_log_levels = kiln=ERROR\n");
    directory.put("kiln.conf", quiet.as_bytes());
    reload();
    next("the certificate was read again");
    reload();
    assert!(served.stop());
    let rest: Vec<String> = log.map_while(Result::ok).collect();
    assert!(!rest.iter().any(|line| line.contains("the certificate was read again")), "{rest:?}");
}

/// A container may have no certificates of authorities; services without TLS need none.
#[test]
fn a_machine_without_authorities_will_do() {
    let directory = TestDirectory::with(&[("kiln.conf", "[DEFAULT]\n"), ("none.pem", "")]);
    let mut command = directory.command(&["config", "list", "--config", "kiln.conf"]);
    command.env("SSL_CERT_FILE", "none.pem").env("SSL_CERT_DIR", "none");
    let output = command.output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
