//! Policy files: where they are found, what stops the start, and changes without a restart.

use crate::server::{Served, wait};
use crate::test_directory::TestDirectory;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const CONFIG: &str = "\
[heat_api]
bind_host = 127.0.0.1
bind_port = 0
[paste_deploy]
flavor = noauth
";

/// Names and contents of files.
type Files = &'static [(&'static str, &'static str)];

const NOBODY: &str = "\"stacks:index\": \"!\"\n";
const EVERYBODY: &str = "\"stacks:index\": \"@\"\n";

/// The status of a list of stacks.
async fn listed(api: &str) -> u16 {
    let client = kiln_cloud::client_builder().build().expect("a client");
    let reply = client.get(format!("{api}/v1/admin/stacks")).send().await;
    reply.expect("an answer").status().as_u16()
}

#[test]
fn policy_files_are_found_beside_the_configuration() {
    // The options, the files below the directory of the configuration, and the status that they lead to.
    let cases: [(&str, Files, u16); 5] = [
        ("", &[("policy.yaml", NOBODY)], 403),
        ("", &[("policy.json", "{\"stacks:index\": \"!\"}")], 403),
        ("", &[("policy.d/a.yaml", NOBODY)], 403),
        ("policy_file = rules/mine.yaml", &[("rules/mine.yaml", NOBODY)], 403),
        (
            "policy_dirs = one\npolicy_dirs = two",
            &[("one/a.yaml", NOBODY), ("two/a.yaml", EVERYBODY), ("policy.d/z.yaml", NOBODY)],
            200,
        ),
    ];
    for (options, files, status) in cases {
        let directory = TestDirectory::with(&[]);
        directory.put("etc/kiln.conf", format!("{CONFIG}[oslo_policy]\n{options}\n").as_bytes());
        for (name, text) in files {
            directory.put(&format!("etc/{name}"), text.as_bytes());
        }
        let mut served = Served::start(&directory, "etc/kiln.conf");
        let api = served.address();
        assert_eq!(wait(listed(&api)), status, "{options} {files:?}");
        assert!(served.stop());
    }
}

#[test]
fn a_policy_that_is_not_understood_stops_the_start() {
    let cases: [(&str, Files, &str); 7] = [
        (
            "policy_file = typo.yaml",
            &[],
            "kiln: etc/kiln.conf: line 7: [oslo_policy] policy_file: etc/typo.yaml does not exist: \
             correct the name, or create the file\n",
        ),
        (
            "policy_flie = policy.yaml",
            &[],
            "kiln: etc/kiln.conf: line 7: [oslo_policy] policy_flie is not known, and the policy must \
             not be weaker than it was meant; did you mean `policy_file`?\n",
        ),
        (
            "remote_timeout = 60",
            &[],
            "kiln: etc/kiln.conf: line 7: [oslo_policy] remote_timeout is for checks that ask another \
             server, which are not supported; remove it\n",
        ),
        (
            "",
            &[("policy.yaml", "\n\"stacks:index\": \"http://h/%(project_id)s\"\n")],
            "kiln: etc/policy.yaml:2:18: rule `stacks:index`: `http:` asks another server, which is not \
             supported; say it with roles and attributes\n",
        ),
        (
            "",
            &[("policy.d/a.yaml", "\"stacks:index\": \"role:a or\"\n")],
            "kiln: etc/policy.d/a.yaml:1:27: rule `stacks:index`: a check is missing at the end; ",
        ),
        (
            "",
            &[("policy.yaml", "a: 'rule:b'\n"), ("policy.d/a.yaml", "b: 'rule:a'\n")],
            "kiln: etc/policy.yaml:1:1: rule `a`: it needs its own answer: a -> b -> a; ",
        ),
        (
            "policy_dirs = policy.yaml",
            &[("policy.yaml", NOBODY)],
            "kiln: etc/kiln.conf: line 7: [oslo_policy] policy_dirs: cannot read etc/policy.yaml: ",
        ),
    ];
    for (options, files, message) in cases {
        let directory = TestDirectory::with(&[]);
        directory.put("etc/kiln.conf", format!("{CONFIG}[oslo_policy]\n{options}\n").as_bytes());
        for (name, text) in files {
            directory.put(&format!("etc/{name}"), text.as_bytes());
        }
        // A server that starts nevertheless ends by itself.
        let run = directory.run(&["server", "--config", "etc/kiln.conf", "--once"]);
        assert_eq!(run.status, 2, "{}", run.err);
        assert!(run.err.contains(message), "{}", run.err);
        assert!(!directory.path().join("kiln.db").exists(), "nothing is created for it");
    }
}

#[test]
fn changes_of_policy_files_take_effect_without_a_restart() {
    let directory = TestDirectory::with(&[]);
    directory.put("etc/kiln.conf", CONFIG.as_bytes());
    let mut served = Served::start_with(&directory, "etc/kiln.conf", Stdio::piped());
    let mut log = BufReader::new(served.log().expect("its log")).lines().map_while(Result::ok);
    let api = served.address();
    let until = |status: u16| wait(async { while listed(&api).await != status {} });
    until(200);
    directory.put("etc/policy.yaml", NOBODY.as_bytes());
    until(403);
    directory.put("etc/policy.d/a.yaml", EVERYBODY.as_bytes());
    until(200);
    std::fs::remove_file(directory.path().join("etc/policy.d/a.yaml")).expect("it is removed");
    until(403);
    directory.put("etc/policy.yaml", b"\"stacks:index\": \"role:\n");
    let kept = "the policy files cannot be used: the former policy stays in force";
    let line = log.find(|line| line.contains(kept)).expect("an error in the log");
    assert!(line.contains("etc/policy.yaml:2:1: expected a closing quote"), "{line}");
    assert_eq!(wait(listed(&api)), 403);
    directory.put("etc/policy.yaml", EVERYBODY.as_bytes());
    until(200);
    assert!(served.stop());
}
