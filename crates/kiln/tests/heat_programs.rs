//! Links with the names of Heat's programs: each starts the right role or tool, with the flags of its namesake.

use crate::server::Served;
use crate::test_directory::{Run, TestDirectory};
use std::io::Read;
use std::process::{Command, Stdio};

/// The program under the name of another one.
fn program(directory: &TestDirectory, name: &str) -> Command {
    let link = directory.path().join(name);
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kiln"), &link).expect("a link");
    }
    let mut command = Command::new(link);
    command.current_dir(directory.path()).env("HOME", directory.path());
    command.env_remove("KILN_LOG").stdin(Stdio::null());
    command
}

fn run(directory: &TestDirectory, name: &str, arguments: &[&str]) -> Run {
    let output = program(directory, name).args(arguments).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Run {
        status: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn serve(directory: &TestDirectory, name: &str, arguments: &[&str]) -> Served {
    let mut command = program(directory, name);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    Served::of(command.spawn().expect("the program starts"))
}

/// Stops a service, and returns what it has logged.
fn log_of(mut served: Served) -> String {
    let mut log = served.log().expect("its log");
    assert!(served.stop());
    let mut text = String::new();
    log.read_to_string(&mut text).expect("text");
    text
}

const NO_LOGIN: &str = "[paste_deploy]\nflavor = noauth\n";

#[test]
fn heat_engine_reads_files_and_directories_and_the_last_one_counts() {
    let directory = TestDirectory::with(&[
        ("a.conf", "[database]\nconnection = sqlite:///a.db\n[kiln]\nkeys_file = a.keys\n"),
        ("b.conf", "[database]\nconnection = sqlite:///b.db\n"),
        ("conf.d/2.conf", "[database]\nconnection = sqlite:///c.db\n"),
        ("conf.d/1.conf", "[kiln]\nkeys_file = c.keys\n[DEFAULT]\nmax_stacks_per_tenant = 5\n"),
        ("conf.d/unread.txt", "[nothing"),
    ]);
    let files = ["--config-file", "a.conf", "--config-file=b.conf"];
    let mut served = serve(&directory, "heat-engine", &files);
    served.wait_for("The engine runs.");
    assert!(served.stop());
    assert!(directory.path().join("b.db").exists() && directory.path().join("a.keys").exists());
    assert!(!directory.path().join("a.db").exists());
    let files = ["--config-file", "a.conf", "--config-dir", "conf.d", "-d"];
    let mut served = serve(&directory, "heat-engine", &files);
    served.wait_for("The engine runs.");
    let log = log_of(served);
    assert!(directory.path().join("c.db").exists() && directory.path().join("c.keys").exists());
    assert!(log.contains("DEBUG"), "{log}");
}

#[test]
fn an_error_names_the_file_that_it_is_in() {
    let directory = TestDirectory::with(&[
        ("a.conf", "[DEFAULT]\n"),
        ("b.conf", "[DEFAULT]\nmax_stacks_per_tenant = many\n"),
    ]);
    let files = ["--config-file", "a.conf", "--config-file", "b.conf"];
    let failed = run(&directory, "heat-engine", &files);
    let expected = "kiln: b.conf: line 2: [DEFAULT] max_stacks_per_tenant must be a whole number, not \"many\"\n";
    assert_eq!((failed.status, &*failed.err), (2, expected));
    let failed = run(&directory, "heat-engine", &["--config-file", "none.conf"]);
    assert!(failed.err.starts_with("kiln: cannot read none.conf: "), "{}", failed.err);
}

#[test]
fn each_api_has_its_program() {
    for (program, section, name) in [
        ("heat-api", "heat_api", "orchestration"),
        ("heat-api-cfn", "heat_api_cfn", "CloudFormation"),
        ("heat-api-cloudwatch", "heat_api_cloudwatch", "CloudWatch"),
    ] {
        let file = format!("{NO_LOGIN}[{section}]\nbind_host = 127.0.0.1\nbind_port = 0\n");
        let directory = TestDirectory::with(&[(".heat/heat.conf", &*file)]);
        let mut served = serve(&directory, program, &[]);
        served.wait_for(&format!("The {name} API listens on http://127.0.0.1:"));
        // It is the only role of this process: the next line is about its end.
        let log = log_of(served);
        assert!(!log.contains("ERROR"), "{log}");
    }
}

#[test]
fn flags_that_cannot_be_followed_are_warned_of() {
    let directory = TestDirectory::with(&[("heat.conf", NO_LOGIN)]);
    let mut served = serve(&directory, "heat-engine", &["--log-file", "/var/log/x", "--use-json"]);
    served.wait_for("The engine runs.");
    let log = log_of(served);
    assert!(
        log.contains("log_file is not supported. The log is written to standard error"),
        "{log}"
    );
    assert!(log.lines().all(|line| line.starts_with('{')), "{log}");
}

#[test]
fn every_program_has_a_version_and_help() {
    let directory = TestDirectory::with(&[]);
    for name in ["heat-api", "heat-api-cfn", "heat-api-cloudwatch", "heat-engine", "heat-manage"] {
        let version = run(&directory, name, &["--version"]);
        assert!(version.out.starts_with(&format!("{name} kiln {}", env!("CARGO_PKG_VERSION"))));
        let help = run(&directory, name, &["--help"]);
        assert_eq!(help.status, 0);
        assert!(help.out.contains("--config-file <PATH>"), "{}", help.out);
    }
    assert!(run(&directory, "heat", &["--version"]).out.starts_with("heat "));
    assert_eq!(run(&directory, "heat-engine", &["--unknown"]).status, 2);
}

#[test]
fn heat_manage_creates_a_database_and_tells_its_version() {
    let config = "[database]\nconnection = sqlite:///heat.db\n[kiln]\nkeys_file = heat.keys\n";
    let directory = TestDirectory::with(&[("heat.conf", config)]);
    let manage = |arguments: &[&str]| {
        run(&directory, "heat-manage", &[&["--config-file", "heat.conf"], arguments].concat())
    };
    assert_eq!(manage(&["db_version"]).out, "0\n");
    assert!(!directory.path().join("heat.db").exists(), "a question creates nothing");
    let purged = manage(&["purge_deleted", "30"]);
    assert_eq!(purged.status, 2);
    assert!(purged.err.contains("there is no database"), "{}", purged.err);
    let synced = manage(&["db_sync"]);
    assert_eq!((synced.status, &*synced.err), (0, ""));
    assert!(synced.out.starts_with("The tables were created, with schema "), "{}", synced.out);
    assert!(manage(&["db_sync"]).out.ends_with(" already.\n"));
    let version = manage(&["db_version"]).out;
    assert!(version.trim().parse::<u64>().expect("a number") >= 6);
    let purge = ["purge_deleted", "-g", "hours", "-p", "abc", "-b", "5", "2"];
    assert_eq!(manage(&purge).out, "Purged 0 deleted stacks.\n");
    let listed = manage(&["service", "list"]);
    assert_eq!((listed.status, &*listed.out), (0, ""));
}

#[test]
fn heat_manage_tells_what_is_not_needed_and_what_is_not_supported() {
    let directory = TestDirectory::with(&[("heat.conf", "[DEFAULT]\n")]);
    let manage = |arguments: &[&str]| run(&directory, "heat-manage", arguments);
    let run = manage(&["update_params", "encrypt"]);
    let expected = "Not needed: hidden parameters and properties are always encrypted.\n";
    assert_eq!((run.status, &*run.out), (0, expected));
    assert_eq!(manage(&["migrate_convergence_1", "a", "b"]).status, 0);
    assert_eq!(manage(&["migrate_properties_data"]).status, 0);
    let run = manage(&["resource_data_list", "abc"]);
    assert_eq!(run.status, 2);
    assert!(run.err.starts_with("kiln: not supported: "), "{}", run.err);
    assert_eq!(manage(&["reset_stack_status", "abc"]).status, 2, "no id");
    assert_eq!(manage(&["update_params", "decrypt"]).status, 2);
}
