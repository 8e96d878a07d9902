//! Ignition configurations as user data.

use crate::server::{Run, Server};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

fn boot(server: &Server, config: &Value) -> Run {
    server.put("/user-data", &config.to_string(), 0o600);
    let file = server.path("/user-data").display().to_string();
    server.run("kiln-guest", &["boot", "--user-data", &file])
}

#[test]
fn version_3_is_applied_and_can_be_applied_again() {
    let server = Server::new();
    let user =
        std::fs::metadata(&server.root).map(|it| std::os::unix::fs::MetadataExt::uid(&it)).unwrap();
    server.put("/etc/passwd", &format!("core:x:{user}:{user}::/srv/core:/bin/sh\n"), 0o644);
    server.put("/srv/core/.ssh/authorized_keys", "ssh-ed25519 OLD", 0o644);
    server.put("/etc/hosts", "127.0.0.1 localhost\n", 0o644);
    let config = json!({
        "ignition": {"version": "3.4.0", "config": {"merge": [{"source": "data:,%7B%22ignition%22%3A%7B%22version%22%3A%223.0.0%22%7D%2C%22storage%22%3A%7B%22files%22%3A%5B%7B%22path%22%3A%22%2Fetc%2Fmerged%22%2C%22contents%22%3A%7B%22source%22%3A%22data%3A%2Cyes%22%7D%7D%5D%7D%7D"}]}},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 NEW", "ssh-ed25519 OLD"]}]},
        "storage": {
            "directories": [{"path": "/opt/app", "mode": 448}],
            "files": [
                {"path": "/opt/app/settings", "mode": 384, "contents": {"source": "data:,a%3D1%0A"}},
                {"path": "/opt/app/packed", "contents": {"compression": "gzip",
                    "source": "data:;base64,H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="}},
                {"path": "/etc/hosts", "append": [{"source": "data:,10.0.0.1%20db%0A"}]},
            ],
            "links": [{"path": "/opt/current", "target": "app"}],
        },
        "systemd": {"units": [
            {"name": "app.service", "enabled": true, "contents": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"},
            {"name": "noise.service", "mask": true},
            {"name": "ssh.service", "dropins": [{"name": "10-more.conf", "contents": "[Unit]\n"}]},
        ]},
    });
    for round in 1..=2 {
        let run = boot(&server, &config);
        assert_eq!(run.status, 0, "{round}: {run:?}");
    }
    assert_eq!(server.read("/opt/app/settings"), "a=1\n");
    assert_eq!((server.mode("/opt/app/settings"), server.mode("/opt/app")), (0o600, 0o700));
    assert_eq!(
        (server.read("/opt/app/packed"), server.mode("/opt/app/packed")),
        ("hello".into(), 0o644)
    );
    assert_eq!(server.read("/etc/hosts"), "127.0.0.1 localhost\n10.0.0.1 db\n", "added once");
    assert_eq!(server.read("/opt/current/settings"), "a=1\n");
    assert_eq!(server.read("/etc/merged"), "yes");
    assert_eq!(server.read("/srv/core/.ssh/authorized_keys"), "ssh-ed25519 OLD\nssh-ed25519 NEW\n");
    assert_eq!(server.mode("/srv/core/.ssh/authorized_keys"), 0o600);
    let units = server.path("/etc/systemd/system");
    let lead = |name: &str| std::fs::read_link(units.join(name)).unwrap().display().to_string();
    assert_eq!(lead("multi-user.target.wants/app.service"), "/etc/systemd/system/app.service");
    assert_eq!(lead("noise.service"), "/dev/null");
    assert_eq!(server.read("/etc/systemd/system/ssh.service.d/10-more.conf"), "[Unit]\n");

    // An existing file is not overwritten silently.
    let other = json!({"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/opt/app/settings", "contents": {"source": "data:,b"}},
        {"path": "/opt/app/next", "contents": {"source": "data:,b"}}]}});
    let run = boot(&server, &other);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("exists, and overwrite is not set"), "{}", run.err);
    assert_eq!(
        (server.read("/opt/app/settings"), server.read("/opt/app/next")),
        ("a=1\n".into(), "b".into())
    );
}

#[test]
fn version_2_with_what_the_orchestration_adds() {
    let server = Server::new();
    let data = "data:,%7B%22deployments%22%3A%20%5B%5D%7D";
    let file = |path: &str| {
        json!({"filesystem": "root", "path": path, "mode": 416,
        "user": {}, "contents": {"source": data}})
    };
    let config = json!({
        "ignition": {"version": "2.2.0"},
        "kernelArguments": {"shouldExist": ["quiet"]},
        "networkd": {"units": [{"name": "10-eth.network", "contents": "[Match]\n"}]},
        "storage": {
            "disks": [{"device": "/dev/sdb"}],
            "files": [file("/var/lib/heat-cfntools/cfn-init-data"), file("/var/lib/cloud/data/cfn-init-data"),
                {"filesystem": "oem", "path": "/grub.cfg"}],
        },
    });
    let run = boot(&server, &config);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(server.json("/var/lib/heat-cfntools/cfn-init-data"), json!({"deployments": []}));
    assert_eq!(server.mode("/var/lib/cloud/data/cfn-init-data"), 0o640);
    assert_eq!(server.read("/etc/systemd/network/10-eth.network"), "[Match]\n");
    for section in ["kernelArguments", "storage.disks", "storage.files on oem"] {
        assert!(
            run.err.contains(&format!("ignoring {section}, which is not supported")),
            "{section}: {}",
            run.err
        );
    }
    assert!(!server.path("/grub.cfg").exists());
    let run = boot(&server, &json!({"ignition": {"version": "1.0"}}));
    assert_eq!(run.status, 1);
    assert!(run.err.contains("unsupported Ignition version \"1.0\""), "{}", run.err);
}

#[test]
fn nothing_leads_out_of_the_root() {
    let server = Server::new();
    let outside = Server::new();
    let away = outside.root.display().to_string();
    symlink(&outside.root, server.path("/away")).unwrap();
    let file =
        |path: &str| json!({"path": path, "contents": {"source": "data:,x"}, "overwrite": true});
    let config = json!({
        "ignition": {"version": "3.0.0"},
        "passwd": {"users": [{"name": "a", "homeDir": "/away/home", "sshAuthorizedKeys": ["key"]},
            {"name": "../b", "sshAuthorizedKeys": ["key"]}]},
        "storage": {
            "links": [{"path": "/etc/out", "target": away}, {"path": "/hard", "hard": true, "target": "/away/x"}],
            "directories": [{"path": "/away/folder"}, {"path": "/a/../../b"}],
            "files": [file("/away/file"), file("../file"), file("/a/../../file"), file("/"), file("relative"),
                file("/good")],
        },
        "systemd": {"units": [{"name": "../../x.service", "contents": "x"}, {"name": "a.service", "contents": "x",
            "dropins": [{"name": "../../../y", "contents": "y"}]}]},
    });
    let run = boot(&server, &config);
    assert_eq!(run.status, 1);
    assert_eq!(server.read("/good"), "x");
    assert_eq!(outside.names("/"), [""; 0], "{}", run.err);
    // The symlink that was just created must not be followed either.
    let next =
        json!({"ignition": {"version": "3.0.0"}, "storage": {"files": [file("/etc/out/file")]}});
    let run = boot(&server, &next);
    assert!(run.err.contains("a symlink leads out of the root"), "{}", run.err);
    assert_eq!(outside.names("/"), [""; 0]);
}

#[test]
fn configurations_that_name_each_other_end() {
    let server = Server::new();
    let source = |config: &Value| {
        let text: String = config.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
        json!({"source": format!("data:,{text}")})
    };
    let mut config = json!({"ignition": {"version": "3.0.0"},
        "storage": {"files": [{"path": "/deep", "contents": {"source": "data:,x"}}]}});
    for _ in 0..4 {
        config = json!({"ignition": {"version": "3.0.0", "config": {"replace": source(&config)}},
            "storage": {"files": [{"path": "/replaced", "contents": {"source": "data:,x"}}]}});
    }
    assert_eq!(boot(&server, &config).status, 0);
    assert_eq!(server.read("/deep"), "x");
    assert!(!server.path("/replaced").exists());
    for _ in 0..2 {
        config = json!({"ignition": {"version": "3.0.0", "config": {"merge": [source(&config)]}}});
    }
    let run = boot(&server, &config);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("too many nested configurations"), "{}", run.err);
}
