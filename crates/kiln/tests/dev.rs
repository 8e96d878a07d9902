//! `kiln dev`: a first stack in a moment.

use crate::test_directory::TestDirectory;

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
