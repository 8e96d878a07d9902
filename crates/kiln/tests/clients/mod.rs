//! Unmodified clients against `kiln dev`: what they print, and what the suites that others wrote say.
//!
//! The clients are Python programs; `dev/clients` makes an environment with them, and `KILN_CLIENTS` says
//! where it is. Each test is a server of its own and a script of this folder.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the suites tell what they tried")]

use crate::test_directory::TestDirectory;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The last line that the server prints when it is ready.
const READY: &str = "Stop with Ctrl-C.";

#[test]
fn outputs_are_compared_by_the_rules() {
    let Some(clients) = clients() else { return };
    python(&clients, "compare_test.py", Vec::new());
}

#[test]
fn our_flows_are_as_written() {
    let page = here("flows.md");
    run("replay.py", |clouds| vec![page, clouds.into()]);
}

/// Twelve flows of a newcomer, as the reference answered. The last one needs servers, networks and images,
/// which there are not yet; and what is known to differ is listed, with the reason.
#[test]
fn recorded_flows_are_as_written() {
    const KNOWN: [&str; 2] = [
        // Handles have no users of their own yet, and so no token to signal with.
        "openstack stack output show waiter curl -f value -c output_value",
        // The reference knows no revision, unless it is told one.
        "openstack orchestration build info -f json",
    ];
    // The flows were recorded in this order, and lists show what earlier ones left.
    let first = "Flow 1; Flow 2";
    let second = "openstack stack create -t hello.yaml --parameter length=10 --wait hello; Flow 6; \
                  Flow 7; Flow 8; Flow 9; Flow 10; Flow 11; \
                  openstack stack delete -y --wait parent hooked waiter broken; Flow 3; Flow 4; \
                  Flow 5; The same through the classic client; Output formats";
    let Some(page) = shared("conformance/cli-flows.md") else { return };
    run("replay.py", |clouds| {
        let mut arguments: Vec<PathBuf> = vec![page, clouds.into()];
        arguments.extend(["--as", "newcomer", "--chain", first, "--chain", second].map(Into::into));
        arguments
            .extend(KNOWN.into_iter().flat_map(|command| ["--known", command]).map(Into::into));
        arguments
    });
}

#[test]
fn the_api_tests_of_the_reference_pass() {
    run("interface.py", |clouds| vec![clouds.into(), "api".into()]);
}

#[test]
fn the_functional_tests_of_the_reference_pass() {
    run("interface.py", |clouds| vec![clouds.into(), "functional".into()]);
}

#[test]
fn the_development_kit_works() {
    run("sdk.py", |clouds| vec![clouds.into()]);
}

#[test]
fn the_tools_of_aws_work() {
    run("cloudformation.py", |clouds| vec![clouds.into()]);
}

#[test]
fn the_command_line_of_aws_deploys_stacks() {
    run("awscli.py", |clouds| vec![clouds.into()]);
}

/// The agent in a server reads what it has to apply; the server has a key of its own for that.
#[test]
fn an_agent_in_a_server_reads_its_metadata() {
    let Some(clients) = clients() else { return };
    let server = Dev::start_with(&[]);
    python(&clients, "cfn_guest.py", vec![server.clouds()]);
}

#[test]
fn alarms_are_kept_for_the_tools_of_aws() {
    run("cloudwatch.py", |clouds| vec![clouds.into()]);
}

#[test]
fn the_identity_service_is_used_as_clients_use_one() {
    run("identity.py", |clouds| vec![clouds.into()]);
}

#[test]
fn every_answer_is_one_that_the_document_tells_of() {
    run("fuzz.py", |clouds| vec![clouds.into()]);
}

#[test]
fn examples_of_the_language_have_their_answers_over_the_wire() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../resources/tests/language");
    run("language.py", |clouds| vec![clouds.into(), pages]);
}

#[test]
fn recorded_templates_have_their_answers_over_the_wire() {
    let Some(runner) = shared("conformance/run_templates.py") else { return };
    let Some(cases) = shared("conformance/templates") else { return };
    run("recorded_templates.py", |clouds| vec![clouds.into(), runner, cases]);
}

/// A server for one test.
pub(crate) struct Dev {
    process: Child,
    /// Closed only with the server, which would fail to print otherwise.
    _out: BufReader<ChildStdout>,
    directory: TestDirectory,
}

impl Dev {
    fn start() -> Dev {
        // The answers were recorded without a cloud.
        Dev::start_with(&["--no-cloud"])
    }

    /// A server with some more arguments.
    pub(crate) fn start_with(more: &[&str]) -> Dev {
        let directory = TestDirectory::with(&[]);
        let arguments = ["dev", "--free-ports", "--clouds", "clouds.yaml"];
        let mut command = directory.command(&[&arguments[..], more].concat());
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let mut process = command.spawn().expect("the program starts");
        let mut out = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        while line.trim_end() != READY {
            line.clear();
            let length = out.read_line(&mut line).expect("a line");
            assert_ne!(length, 0, "the server ended before it could be used");
        }
        Dev { process, _out: out, directory }
    }

    pub(crate) fn clouds(&self) -> PathBuf {
        self.directory.path().join("clouds.yaml")
    }

    pub(crate) fn directory(&self) -> &TestDirectory {
        &self.directory
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = Command::new("kill").arg(self.process.id().to_string()).status();
        _ = self.process.wait();
    }
}

/// Runs a script of this folder against a server of its own.
fn run(script: &str, arguments: impl FnOnce(&Path) -> Vec<PathBuf>) {
    let Some(clients) = clients() else { return };
    let server = Dev::start();
    python(&clients, script, arguments(&server.clouds()));
}

pub(crate) fn python(clients: &Path, script: &str, arguments: Vec<PathBuf>) {
    let mut command = Command::new(clients.join("bin/python"));
    // Clients warn of what they use themselves.
    command.args(["-B", "-W", "ignore"]).arg(here(script)).args(arguments).stdin(Stdio::null());
    command.env("KILN", env!("CARGO_BIN_EXE_kiln"));
    let output = command.output().expect("Python starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    println!("{out}");
    assert!(output.status.success(), "{script} failed:\n{out}\n{err}");
}

/// The environment with the clients; nothing if the test is run by hand without them.
pub(crate) fn clients() -> Option<PathBuf> {
    let clients = env::var_os("KILN_CLIENTS").map(PathBuf::from);
    let is_needed = env::var_os("KILN_NEEDS_CLIENTS").is_some();
    assert!(
        clients.is_some() || !is_needed,
        "KILN_CLIENTS is not set: it must name the environment that dev/clients makes"
    );
    if clients.is_none() {
        eprintln!("skipped: run it by dev/test, or with KILN_CLIENTS=$(dev/clients)");
    }
    clients
}

/// A file of this folder.
fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(file)
}

/// A file of the record of the reference, where it is at hand.
fn shared(file: &str) -> Option<PathBuf> {
    let all = match env::var_os("KILN_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(all.join(file)).filter(|path| path.exists())
}
