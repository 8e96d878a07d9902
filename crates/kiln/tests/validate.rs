//! `kiln validate` as people see it.

use crate::test_directory::{TestDirectory, fails, prints};

const GOOD: &str = "\
heat_template_version: 2021-04-16
parameters:
  name: {type: string}
resources:
  net:
    type: OS::Neutron::Net
    properties: {name: {get_param: name}}
outputs:
  id: {value: {get_resource: net}}
";

#[test]
fn a_good_template_is_told_in_a_line() {
    let directory = TestDirectory::with(&[("good.yaml", GOOD)]);
    let verdict = "good.yaml: valid (HOT 2021-04-16, 1 resource, 1 parameter, 1 output)\n";
    prints(&directory.run(&["validate", "good.yaml"]), 0, verdict);
    let here = directory.path().to_str().expect("a path");
    let url = format!("file://{here}/good.yaml");
    prints(&directory.run(&["validate", &url]), 0, &format!("{url}{}", &verdict[9..]));
    prints(
        &directory.run_with(&["validate", "-"], GOOD.as_bytes()),
        0,
        &format!("<stdin>{}", &verdict[9..]),
    );
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let directory = TestDirectory::with(&[(
        "bad.yaml",
        "\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Nett}
  server:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: small
      networks: [{prot: x}]
outputs:
  ip: {value: {get_attr: [servr, first_address]}}
  ip: {value: 1}
",
    )]);
    prints(
        &directory.run(&["validate", "bad.yaml"]),
        1,
        "\
error[K0402]: The Resource Type (OS::Neutron::Nett) could not be found.
 --> bad.yaml:3:15
  |
3 |   net: {type: OS::Neutron::Nett}
  |               ^^^^^^^^^^^^^^^^^
  |
  = help: did you mean OS::Neutron::Net?

error[K0403]: Property error: resources.server.properties.networks[0]: Unknown Property prot
 --> bad.yaml:9:19
  |
9 |       networks: [{prot: x}]
  |                   ^^^^
  |
  = help: did you mean `port`?

warning[K0106]: duplicate key `ip`; the last value is used
  --> bad.yaml:12:3
   |
11 |   ip: {value: {get_attr: [servr, first_address]}}
   |   -- first occurrence
12 |   ip: {value: 1}
   |   ^^ this value replaces the earlier one

bad.yaml: 2 errors, 1 warning
",
    );
}

#[test]
fn warnings_alone_do_not_refuse_unless_they_are_denied() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "heat_template_version: 2018-08-31\ndescription: a\ndescription: b\n",
    )]);
    let warning = "\
warning[K0106]: duplicate key `description`; the last value is used
 --> t.yaml:3:1
  |
2 | description: a
  | ----------- first occurrence
3 | description: b
  | ^^^^^^^^^^^ this value replaces the earlier one

";
    let valid = "t.yaml: valid (HOT 2018-08-31, 0 resources, 0 parameters, 0 outputs), 1 warning\n";
    prints(&directory.run(&["validate", "t.yaml"]), 0, &[warning, valid].concat());
    let denied = directory.run(&["validate", "--deny-warnings", "t.yaml"]);
    prints(&denied, 1, &[warning, "t.yaml: 1 warning\n"].concat());
}

#[test]
fn mistakes_in_an_environment_point_into_it() {
    let directory = TestDirectory::with(&[
        ("t.yaml", GOOD),
        ("envs/e.yaml", "parameters:\n  nmae: x\n"),
        ("envs/f.yaml", "parameter: {name: x}\n"),
        ("envs/g.yaml", "parameters:\n\tname: x\n"),
    ]);
    prints(
        &directory.run(&[
            "validate",
            "t.yaml",
            "-e",
            "envs/e.yaml",
            "--environment",
            "envs/f.yaml",
        ]),
        1,
        "\
error[K0901]: Environment not in valid format: environment has wrong section \"parameter\"
 --> envs/f.yaml:1:1
  |
1 | parameter: {name: x}
  | ^^^^^^^^^
  |
  = help: did you mean `parameters`?

error[K0303]: The Parameter (nmae) was not defined in template.
 --> envs/e.yaml:2:9
  |
2 |   nmae: x
  |         ^
  |
  = help: did you mean `name`?

t.yaml: 2 errors
",
    );
    let tab = directory.run(&["validate", "t.yaml", "-e", "envs/g.yaml"]);
    assert!(tab.out.contains("--> envs/g.yaml:2:1\n"), "{}", tab.out);
    assert!(tab.out.contains("help: indent with spaces; tabs cannot indent"), "{}", tab.out);
}

#[test]
fn mistakes_in_a_nested_template_point_into_it() {
    let directory = TestDirectory::with(&[
        (
            "root.yaml",
            "\
heat_template_version: 2021-04-16
resources:
  one: {type: parts/disk.yaml}
  two: {type: My::Disk}
",
        ),
        ("env.yaml", "resource_registry: {'My::Disk': parts/disk.yaml}\n"),
        (
            "parts/disk.yaml",
            "\
heat_template_version: 2021-04-16
resources:
  disk:
    type: OS::Cinder::Volume
    properties: {siez: 1, size: 1}
",
        ),
    ]);
    prints(
        &directory.run(&["validate", "root.yaml", "-e", "env.yaml"]),
        1,
        "\
error[K0403]: Property error: resources.one<parts/disk.yaml>.resources.disk.properties: Unknown Property siez
 --> parts/disk.yaml:5:18
  |
5 |     properties: {siez: 1, size: 1}
  |                  ^^^^
  |
 ::: root.yaml:3:15
  |
3 |   one: {type: parts/disk.yaml}
  |               --------------- in the stack of this resource
  |
  = help: did you mean `size`?

root.yaml: 1 error
",
    );
}

#[test]
fn what_a_template_names_and_cannot_be_had_is_a_finding_told_once() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "\
heat_template_version: 2021-04-16
resources:
  gone: {type: gone.yaml}
  far: {type: 'http://example.com/far.yaml'}
  key: {type: OS::Heat::RandomString, properties: {salt: {get_file: .}}}
",
    )]);
    let told = directory.run(&["validate", "t.yaml"]);
    assert_eq!(told.status, 1);
    assert!(told.out.ends_with("\nt.yaml: 3 errors\n"), "{}", told.out);
    for expected in [
        "error[K1004]: Could not fetch contents for gone.yaml\n --> t.yaml:3:16\n",
        "help: No such file or directory; names are relative",
        "error[K1004]: Could not fetch contents for http://example.com/far.yaml\n",
        "help: remote files are not fetched; ",
        "help: not a plain file; ",
    ] {
        assert!(told.out.contains(expected), "{expected} in\n{}", told.out);
    }
}

#[test]
fn all_members_of_groups_count_as_resources() {
    let group = |count: usize, inner: &str| {
        format!(
            "heat_template_version: 2021-04-16\nresources:\n  outer:\n    type: OS::Heat::ResourceGroup\n    properties:\n      \
             count: {count}\n      resource_def: {inner}\n"
        )
    };
    let bomb = "{type: OS::Heat::ResourceGroup, properties: {count: 999, resource_def: {type: OS::Heat::None}}}";
    let scaling = "{type: OS::Heat::AutoScalingGroup, properties: {min_size: 1, max_size: 9, desired_capacity: 9, resource: \
                   {type: OS::Heat::None}}}";
    let directory = TestDirectory::with(&[
        ("bomb.yaml", &group(999, bomb)),
        // The outer group, 99 inner ones, and nine members of each.
        ("small.yaml", &group(99, scaling)),
        ("large.yaml", &group(100, scaling)),
    ]);
    for (file, is_refused) in [("bomb.yaml", true), ("small.yaml", false), ("large.yaml", true)] {
        let told = directory.run(&["validate", file]);
        let too_many = "Maximum resources per stack exceeded";
        assert_eq!(told.out.contains(too_many), is_refused, "{file}: {}", told.out);
        assert_eq!(told.status, i32::from(is_refused), "{file}: {}", told.out);
    }
}

#[test]
fn what_the_command_line_names_must_be_readable() {
    let directory = TestDirectory::with(&[("t.yaml", GOOD)]);
    for (arguments, why) in [
        (&["gone.yaml"][..], "cannot read gone.yaml: No such file or directory"),
        (&["."], "cannot read .: Is a directory"),
        (&["t.yaml", "-e", "gone.yaml"], "cannot read gone.yaml: No such file or directory"),
        (
            &["t.yaml", "--parameter-file", "name=gone"],
            "cannot read gone: No such file or directory",
        ),
        (
            &["https://example.com/t.yaml"],
            "cannot read https://example.com/t.yaml: remote files are not fetched",
        ),
        (
            &["swift://container/t.yaml"],
            "cannot read swift://container/t.yaml: only paths and file:// URLs can be read",
        ),
        (&["t.yaml", "-P", "name"], "Malformed parameter(name). Use the key=value format."),
    ] {
        fails(&directory.run(&[&["validate"], arguments].concat()), why);
    }
    let usage = directory.run(&["validate"]);
    assert_eq!((usage.status, &*usage.out), (2, ""));
    assert!(usage.err.contains("Usage: kiln validate"), "{}", usage.err);
}

#[test]
fn parameters_are_asked_for_only_on_request() {
    let directory = TestDirectory::with(&[("t.yaml", GOOD), ("name.txt", "front")]);
    let ask = |more: &[&str]| {
        let arguments = [&["validate", "t.yaml", "--require-parameters"], more].concat();
        directory.run(&arguments)
    };
    let missing = ask(&[]);
    assert_eq!(missing.status, 1);
    let told = "error[K0302]: The Parameter (name) was not provided.\n --> t.yaml:3:3\n";
    assert!(missing.out.starts_with(told), "{}", missing.out);
    assert_eq!(ask(&["-P", "name=front"]).status, 0);
    assert_eq!(ask(&["--parameter", "name=front"]).status, 0);
    assert_eq!(ask(&["--parameter-file", "name=name.txt"]).status, 0);
    let unknown = ask(&["-P", "name=a;mane=b"]);
    assert!(unknown.out.starts_with("error[K0303]: The Parameter (mane)"), "{}", unknown.out);
}

#[test]
fn values_of_hidden_parameters_never_appear() {
    let directory = TestDirectory::with(&[
        (
            "t.yaml",
            "\
heat_template_version: 2021-04-16
parameters:
  pin:
    type: string
    hidden: true
    default: hunter1
    constraints: [{length: {max: 3}}]
  list: {type: json, hidden: yes, default: {}}
resources:
  a: {type: nested.yaml, properties: {token: hunter2, list: 1}}
",
        ),
        (
            "nested.yaml",
            "\
heat_template_version: 2021-04-16
parameters:
  token: {type: string, hidden: true, constraints: [{length: {max: 3}}]}
",
        ),
        ("env.yaml", "parameters: {pin: hunter3, lits: 1}\nparameter_defaults: {token: hunter4}\n"),
        ("broken.yaml", "parameters:\n  pin: hunter5\n   list: [hunter6\n"),
    ]);
    for arguments in [
        &["-e", "env.yaml"][..],
        &["-e", "broken.yaml"],
        &["-P", "pin=hunter7"],
        &["-P", "pin=hunter7", "-P", "list={hunter8", "-e", "env.yaml"],
    ] {
        for format in ["text", "json"] {
            let common = ["validate", "t.yaml", "--require-parameters", "--format", format];
            let run = directory.run(&[&common, arguments].concat());
            assert_eq!(run.status, 1);
            assert!(!run.out.contains("hunter"), "{arguments:?}\n{}", run.out);
        }
    }
    let told = directory.run(&["validate", "t.yaml", "-e", "env.yaml"]);
    assert!(told.out.contains("default: *******\n"), "{}", told.out);
}

#[test]
fn long_lines_are_cut_around_the_mistake() {
    let resource = |n: usize| format!("\"r{n}\":{{\"type\":\"OS::Neutron::Net\"}},");
    let many: String = (0..400).map(resource).collect();
    let text = format!(
        "{{\"heat_template_version\":\"2021-04-16\",\"resources\":{{{many}\"bad\":{{\"type\":\"é界::No\"}},{many}\"z\":{{\"type\":\"OS::Neutron::Net\"}}}}}}"
    );
    // The same names again: warnings, which are told after the error.
    let directory = TestDirectory::with(&[("t.json", &text)]);
    let column = text[..text.find("\"é界").expect("it is there")].chars().count() + 1;
    let told = directory.run(&["validate", "t.json"]);
    let lines: Vec<&str> = told.out.lines().collect();
    assert_eq!(lines[0], "error[K0402]: The Resource Type (é界::No) could not be found.");
    assert_eq!(lines[1], format!(" --> t.json:1:{column}"));
    assert!(lines[3].contains("\"type\":\"é界::No\"") && lines[3].chars().count() < 140);
    assert_eq!(lines[4].trim_start_matches(['|', ' ']), "^^^^^^^^^");
    assert!(
        told.out.contains("note: 1 more finding omitted; --format json shows all\n"),
        "{}",
        told.out
    );
}

#[test]
fn tabs_and_wide_characters_keep_marks_in_place() {
    let directory = TestDirectory::with(&[(
        "t.yaml",
        "heat_template_version: 2021-04-16\nresources: {\t界: {type: Nö}, b: {type: Né}}\n",
    )]);
    let told = directory.run(&["validate", "t.yaml"]);
    assert!(
        told.out.contains(
            "\
 --> t.yaml:2:24
  |
2 | resources: {    界: {type: Nö}, b: {type: Né}}
  |                            ^^
"
        ),
        "{}",
        told.out
    );
    assert!(
        told.out.contains(
            "\
 --> t.yaml:2:39
  |
2 | resources: {    界: {type: Nö}, b: {type: Né}}
  |                                           ^^
"
        ),
        "{}",
        told.out
    );
}

#[test]
fn colours_come_when_they_are_wanted() {
    let directory = TestDirectory::with(&[("t.yaml", "a: 1\n")]);
    let plain = directory.run(&["validate", "t.yaml"]);
    assert!(!plain.out.contains('\x1b'));
    let always = directory.run(&["validate", "t.yaml", "--color", "always"]);
    assert!(always.out.contains("\x1b["));
    let mut stripped = String::new();
    for (at, part) in always.out.split("\x1b[").enumerate() {
        stripped.push_str(if at == 0 { part } else { part.split_once('m').expect("a style").1 });
    }
    assert_eq!(stripped, plain.out);
}

#[test]
fn what_looks_like_a_function_and_is_none_is_a_warning() {
    let directory = TestDirectory::with(&[(
        "old.yaml",
        "\
heat_template_version: 2013-05-23
resources:
  value:
    type: OS::Heat::Value
    properties:
      value: {get_parm: OS::stack_name}
outputs:
  plain: {value: {network: private}}
  split: {value: {str_split: [',', 'a,b']}}
  filter: {value: {filter: anything}}
",
    )]);
    prints(
        &directory.run(&["validate", "old.yaml"]),
        0,
        "\
warning[K0705]: `get_parm` is no function of this version, and stays as it is
 --> old.yaml:6:15
  |
6 |       value: {get_parm: OS::stack_name}
  |               ^^^^^^^^
  |
  = help: did you mean `get_param`?

warning[K0705]: `str_split` is no function of this version, and stays as it is
 --> old.yaml:9:19
  |
9 |   split: {value: {str_split: [',', 'a,b']}}
  |                   ^^^^^^^^^
  |
  = help: `str_split` needs heat_template_version 2015-10-15 or later

old.yaml: valid (HOT 2013-05-23, 1 resource, 0 parameters, 3 outputs), 2 warnings
",
    );
}
