//! `kiln dev`: a first stack in a moment.

use crate::test_directory::TestDirectory;
use std::io::{BufRead, BufReader};

const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
parameters: {size: {type: number, default: 2}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: {get_param: size}, resource_def: {type: child.yaml}}
outputs:
  members: {value: {get_attr: [group, word]}}
";

const CHILD: &str = "\
heat_template_version: 2021-04-16
resources: {value: {type: OS::Heat::Value, properties: {value: here}}}
outputs: {word: {value: {get_attr: [value, value]}}}
";

const ARGUMENTS: [&str; 4] = ["dev", "stack.yaml", "--free-ports", "--exit"];

#[test]
fn a_template_becomes_a_stack_with_all_that_it_names() {
    let directory = TestDirectory::with(&[("stack.yaml", TEMPLATE), ("child.yaml", CHILD)]);
    let run = directory.run(&[&ARGUMENTS[..], &["-P", "size=3"]].concat());
    assert_eq!(run.status, 0, "{}\n{}", run.out, run.err);
    assert!(run.out.contains("[stack.group]: CREATE_COMPLETE  state changed"), "{}", run.out);
    let end = "stack CREATE_COMPLETE: Stack CREATE completed successfully\n\
               outputs\n  members  [\"here\", \"here\", \"here\"]\n";
    assert!(run.out.ends_with(end), "{}", run.out);
    let clouds = std::fs::read_to_string(directory.path().join("clouds.yaml")).expect("clouds");
    assert!(clouds.contains("  kiln:\n    auth:\n      auth_url: http://127.0.0.1:"), "{clouds}");
}

#[test]
fn a_stack_that_fails_or_is_refused_is_told_by_the_exit_status() {
    let failing = "\
heat_template_version: 2021-04-16
resources: {r: {type: OS::Heat::TestResource, properties: {fail: true}}}
";
    let directory = TestDirectory::with(&[("stack.yaml", failing)]);
    let run = directory.run(&ARGUMENTS);
    assert_eq!(run.status, 1, "{}\n{}", run.out, run.err);
    assert!(run.out.contains("CREATE_FAILED"), "{}", run.out);
    let refused = "heat_template_version: 2021-04-16\nresources: {r: {type: No::Such}}\n";
    let directory = TestDirectory::with(&[("stack.yaml", refused)]);
    let run = directory.run(&ARGUMENTS);
    assert_eq!(run.status, 1, "{}\n{}", run.out, run.err);
    assert!(run.err.contains("The Resource Type (No::Such) could not be found."), "{}", run.err);
}

#[test]
fn the_log_names_the_stack_the_resource_and_the_cause_if_it_is_asked_for() {
    let failing = "\
heat_template_version: 2021-04-16
resources: {r: {type: OS::Heat::TestResource, properties: {fail: true}}}
";
    let directory = TestDirectory::with(&[("stack.yaml", failing)]);
    assert_eq!(directory.run(&ARGUMENTS).err, "", "there is no log by default");
    let run = |levels: &str| {
        let output = directory.command(&ARGUMENTS).env("KILN_LOG", levels).output();
        let output = output.expect("an end");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, log) = run("warn,kiln=info");
    assert_eq!(status, Some(1), "{log}");
    for (message, fields) in [
        ("stack accepted", " name=\"stack\""),
        ("operation failed", " error=\"ValueError: Test Resource failed r\""),
        ("resource failed", " reason=\"ValueError: resources.r: Test Resource failed r\""),
        ("stack state changed", " state=CREATE_FAILED"),
    ] {
        let line = log.lines().find(|line| line.contains(message));
        assert!(line.is_some_and(|line| line.contains(fields)), "{message}: {log}");
    }
    let (status, log) = run("kiln=loud");
    assert_eq!(status, Some(2), "{log}");
    assert!(log.starts_with("kiln: the levels in KILN_LOG: "), "{log}");
}

#[test]
fn what_is_kept_is_there_again_and_somebody_elses_clouds_are_left_alone() {
    let others = "clouds: {}\n";
    let directory = TestDirectory::with(&[
        ("stack.yaml", TEMPLATE),
        ("child.yaml", CHILD),
        ("clouds.yaml", others),
    ]);
    let kept = [&ARGUMENTS[..], &["--state", "state"]].concat();
    assert_eq!(directory.run(&kept).status, 0);
    let clouds = std::fs::read_to_string(directory.path().join("clouds.yaml")).expect("clouds");
    assert_eq!(clouds, others);
    let run = directory.run(&kept);
    assert_eq!(run.status, 1, "{}\n{}", run.out, run.err);
    assert!(run.err.contains("The Stack (stack) already exists."), "{}", run.err);
    assert!(run.out.contains("OS_CLIENT_CONFIG_FILE=kiln-clouds.yaml"), "{}", run.out);
}

#[test]
fn what_a_killed_process_left_is_removed_by_the_next_one() {
    let directory = TestDirectory::with(&[("stack.yaml", TEMPLATE), ("child.yaml", CHILD)]);
    let start = |arguments: &[&str]| {
        let mut command = directory.command(arguments);
        command.env("TMPDIR", directory.path()).spawn().expect("the program")
    };
    let left = || {
        let entries = directory.path().read_dir().expect("a directory").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("kiln-dev-")).collect::<Vec<_>>()
    };
    let running = |process: &mut std::process::Child| {
        let out = BufReader::new(process.stdout.take().expect("standard output"));
        let mut lines = out.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with("Stop with")), "it did not start");
    };
    let (mut killed, mut other) =
        (start(&["dev", "--free-ports"]), start(&["dev", "--free-ports"]));
    running(&mut killed);
    running(&mut other);
    assert_eq!(left().len(), 2);
    killed.kill().expect("a kill");
    killed.wait().expect("an end");
    assert_eq!(left().len(), 2);
    let next = start(&ARGUMENTS).wait_with_output().expect("an end");
    assert!(next.status.success(), "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(left().len(), 1, "that of the running process stays");
    other.kill().expect("a kill");
    other.wait().expect("an end");
}
