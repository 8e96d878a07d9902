//! os-apply-config, os-refresh-config and dib-run-parts.

use crate::server::Server;

const TEMPLATES: &str = "/usr/libexec/os-apply-config/templates";

#[test]
fn nothing_is_written_before_all_is_rendered() {
    let server = Server::new();
    server.put("/m.json", r#"{"name": "web", "empty": "", "l": [1, {"a": true}]}"#, 0o600);
    let metadata = server.path("/m.json").display().to_string();
    server.put(&format!("{TEMPLATES}/etc/one"), "{{name}} {{l}}\n", 0o644);
    server.put(&format!("{TEMPLATES}/etc/one.oac"), "mode: 0640\n", 0o644);
    server.put(&format!("{TEMPLATES}/etc/two"), "#!/bin/sh\nexit 3\n", 0o755);
    let run = server.run("os-apply-config", &["-m", &metadata]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(!server.path("/etc/one").exists());
    server.put(&format!("{TEMPLATES}/etc/two"), "#!/bin/sh\nwc -c\n", 0o755);
    server.put(&format!("{TEMPLATES}/etc/three"), "{{empty}}", 0o644);
    server.put(&format!("{TEMPLATES}/etc/three.oac"), "allow_empty: false\n", 0o644);
    server.put("/etc/three", "old", 0o644);
    server.good("os-config-applier", &["-m", &metadata]);
    assert_eq!(server.read("/etc/one"), "web [1, {\"a\": true}]\n");
    assert_eq!(server.mode("/etc/one"), 0o640);
    assert!(server.read("/etc/two").trim().parse::<u32>().is_ok());
    assert!(!server.path("/etc/three").exists(), "an empty one is not wanted");
}

#[test]
fn values_can_be_asked_for() {
    let server = Server::new();
    server.put("/a.json", r#"{"a": {"b": [1, 2], "yes": true}, "url": "http://x"}"#, 0o600);
    let file = server.path("/a.json").display().to_string();
    let ask = |arguments: &[&str]| {
        let run = server.run("os-apply-config", &[&["-m", &file], arguments].concat());
        (run.status, run.out)
    };
    assert_eq!(ask(&["--key", "a.b.1"]), (0, "2\n".into()));
    assert_eq!(
        ask(&["--key", "a", "--type", "raw"]),
        (0, "{\"b\": [1, 2], \"yes\": true}\n".into())
    );
    assert_eq!(ask(&["--key", "url"]), (1, String::new()));
    assert_eq!(ask(&["--key", "url", "--type", "dsn"]), (0, "http://x\n".into()));
    assert_eq!(ask(&["--key", "nothing"]), (1, String::new()));
    assert_eq!(ask(&["--key", "nothing", "--key-default", "x"]), (0, "x\n".into()));
    assert_eq!(ask(&["--boolean-key", "a.yes"]).0, 0);
    assert_eq!(ask(&["--boolean-key", "a.no"]).0, 1);
    assert_eq!(ask(&["--boolean-key", "url"]).0, 255);
    assert_eq!(ask(&["--key", "a.b", "--type", "nonsense"]).0, 1);
}

#[test]
fn parts_run_in_order_with_what_files_export() {
    let server = Server::new();
    let note = server.path("/note").display().to_string();
    let script = format!("#!/bin/sh\necho $(basename $0) $GREETING >> {note}\n");
    for name in ["10-a", "9-b", "2-c", "020-d", "x", "100-z", "a.sh", "5_ok", "README", "-1n"] {
        server.put(&format!("/parts/run.d/{name}"), &script, 0o755);
    }
    server.put("/parts/run.d/30-noexec", &script, 0o644);
    server.put("/parts/environment.d/10-x.sh", "export GREETING=hi\n", 0o644);
    let folder = server.path("/parts/run.d").display().to_string();
    server.good("dib-run-parts", &[&folder]);
    let order = ["-1n", "README", "x", "2-c", "5_ok", "9-b", "10-a", "020-d", "100-z"];
    let expected: String = order.iter().map(|name| format!("{name} hi\n")).collect();
    assert_eq!(server.read("/note"), expected);
    let listed = server.good("dib-run-parts", &["--list", &folder]).out;
    assert_eq!(listed.lines().count(), order.len());
}

#[test]
fn a_phase_that_fails_ends_all() {
    let server = Server::new();
    let base = "/usr/libexec/os-refresh-config";
    let note = server.path("/note").display().to_string();
    let says =
        |word: &str, status: u8| format!("#!/bin/sh\necho {word} >> {note}\nexit {status}\n");
    server.put(&format!("{base}/pre-configure.d/1"), &says("first", 0), 0o755);
    server.put(&format!("{base}/configure.d/1"), &says("second", 4), 0o755);
    server.put(&format!("{base}/migration.d/1"), &says("never", 0), 0o755);
    server.put(&format!("{base}/error.d/1"), &says("error", 1), 0o755);
    assert_eq!(server.run("os-refresh-config", &[]).status, 1);
    assert_eq!(server.read("/note"), "first\nsecond\nerror\n");
    let phases = server.good("os-refresh-config", &["--print-phases"]).out;
    assert_eq!(phases, "pre-configure\tconfigure\tpost-configure\tmigration\n");
    let lock = server.path("/var/run/os-refresh-config.lock");
    let held = std::fs::File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    assert_eq!(server.run("os-refresh-config", &[]).status, 11);
    drop(held);
    server.put(&format!("{base}/configure.d/1"), "#!/bin/sh\nsleep 600\n", 0o755);
    assert_eq!(server.run("os-refresh-config", &["--timeout", "0"]).status, 1);
}
