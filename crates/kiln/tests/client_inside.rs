//! The client commands for the contents of a stack: events, hooks, outputs, resources, snapshots, failures.

use crate::client_fake::{Answer, Asked, Fake, found, nothing, ok, refused, told};
use crate::test_directory::{Run, TestDirectory, prints};
use serde_json::{Value, json};

/// A service with a stack `web`, whose paths are answered by a function.
fn web(answer: impl Fn(&Asked, &str) -> Option<Answer> + Send + 'static) -> Fake {
    Fake::heat(move |asked| {
        if asked.path == "/stacks/web" {
            return found("http://h/v1/p/stacks/web/1");
        }
        let below = asked.path.strip_prefix("/stacks/web/1").map(str::to_owned);
        let told =
            below.and_then(|below| answer(asked, &below)).or_else(|| answer(asked, &asked.path));
        told.or_else(|| refused(404, "NotFound", "not here"))
    })
}

fn links(stack: &str, resource: &str, nested: Option<&str>) -> Value {
    let stack = format!("http://h/v1/p/stacks/{stack}");
    let mut links = json!([
        {"rel": "self", "href": format!("{stack}/resources/{resource}")},
        {"rel": "stack", "href": stack},
    ]);
    if let (Some(nested), Some(all)) = (nested, links.as_array_mut()) {
        all.push(json!({"rel": "nested", "href": format!("http://h/v1/p/stacks/{nested}")}));
    }
    links
}

fn fails(run: &Run, why: &str) {
    assert_eq!((run.status, &*run.err), (1, &*format!("{why}\n")), "{}", run.out);
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn resources() -> Value {
    let resource = |name: &str,
                    stack: &str,
                    nested: Option<&str>,
                    status: &str,
                    needed: &[&str]| {
        json!({
            "resource_name": name, "physical_resource_id": "", "resource_type": "T", "resource_status": status,
            "updated_time": "2026-11-15T19:11:02Z", "required_by": needed, "links": links(stack, name, nested),
            "resource_status_reason": "because",
        })
    };
    json!({"resources": [
        resource("group", "web/1", Some("web-group-x/2"), "CREATE_COMPLETE", &["app"]),
        resource("app", "web/1", None, "CREATE_FAILED", &[]),
        resource("0", "web-group-x/2", None, "CREATE_COMPLETE", &[]),
    ]})
}

#[test]
fn resources_are_listed_as_a_table_and_as_a_graph() {
    let directory = TestDirectory::with(&[]);
    let heat = web(|_, below| if below == "/resources" { ok(resources()) } else { None });
    prints(
        &heat.run(
            &directory,
            &words("stack resource list web -n 2 --filter status=X -c resource_name -c stack_name"),
        ),
        0,
        "\
+---------------+-------------+
| resource_name | stack_name  |
+---------------+-------------+
| group         | web         |
| app           | web         |
| 0             | web-group-x |
+---------------+-------------+
",
    );
    assert_eq!(heat.lines()[1], "GET /stacks/web/1/resources?status=X&nested_depth=2");
    prints(
        &heat.run(&directory, &words("stack resource list web -f dot")),
        0,
        "digraph G {
  graph [
    fontsize=10 fontname=\"Verdana\" compound=true rankdir=LR
  ]
  r_0f76414c4dce6fcfc00b [label=\"group
T\" ];
  r_8f35138961f6b2484a7e [label=\"app
T\" style=filled color=red];

  subgraph cluster_stack_4cbe7bfcd64efcaaf95a {
    label=\"group\";
    r_c8361167b11437f9d305 [label=\"0
T\" ];

  }

  r_0f76414c4dce6fcfc00b -> r_c8361167b11437f9d305 [
    color=dimgray lhead=cluster_stack_4cbe7bfcd64efcaaf95a arrowhead=none
  ];

  r_0f76414c4dce6fcfc00b -> r_8f35138961f6b2484a7e;

}
",
    );
    fails(&heat.run(&directory, &words("stack resource list nosuch")), "Stack not found: nosuch");
}

#[test]
fn a_resource_is_shown_marked_and_signalled() {
    let directory = TestDirectory::with(&[("data.json", "{\"a\": 1}")]);
    let heat = web(|asked, below| match (&*asked.method, below) {
        ("GET", "/resources/app") => {
            ok(json!({"resource": {"resource_name": "app", "attributes": {"ip": "::1"}}}))
        }
        ("GET", "/resources/app/metadata") => ok(json!({"metadata": {"b": 2, "a": [1]}})),
        ("POST", "/resources/app/signal") | ("PATCH", "/resources/app") => ok(json!(null)),
        _ => None,
    });
    let shown = heat.run(
        &directory,
        &words("stack resource show web app --with-attr ip --with-attr x -f yaml"),
    );
    prints(&shown, 0, "resource_name: app\nattributes:\n  ip: ::1\n");
    assert_eq!(heat.lines()[1], "GET /stacks/web/1/resources/app?with_attr=ip&with_attr=x");
    let metadata = heat.run(&directory, &words("stack resource metadata web app"));
    prints(&metadata, 0, "{\n  \"b\": 2,\n  \"a\": [\n    1\n  ]\n}\n");
    prints(
        &heat.run(&directory, &words("stack resource signal web app --data-file data.json")),
        0,
        "",
    );
    assert_eq!(heat.asked().last().map(|asked| asked.body.clone()), Some(json!({"a": 1})));
    prints(&heat.run(&directory, &words("stack resource mark unhealthy web app broken")), 0, "");
    let expected = json!({"mark_unhealthy": true, "resource_status_reason": "broken"});
    assert_eq!(heat.asked().last().map(|asked| asked.body.clone()), Some(expected));
    prints(&heat.run(&directory, &words("stack resource mark unhealthy --reset web app")), 0, "");
    assert_eq!(
        heat.asked().last().map(|asked| asked.body.clone()),
        Some(json!({"mark_unhealthy": false}))
    );
    for (command, why) in [
        ("show web ghost", "Stack or resource not found: web ghost"),
        ("metadata web ghost", "Stack web or resource ghost not found."),
        ("signal web ghost", "Stack web or resource ghost not found."),
        ("mark unhealthy web ghost", "Stack or resource not found: web ghost"),
        ("signal web app --data {} --data-file x", "Should only specify one of data or data-file"),
        ("signal web app --data [1]", "Data should be a JSON dict"),
        (
            "signal web app --data x",
            "Data should be in JSON format: Expecting value: line 1 column 1 (char 0)",
        ),
    ] {
        let words: Vec<&str> =
            ["stack", "resource"].into_iter().chain(command.split(' ')).collect();
        fails(&heat.run(&directory, &words), why);
    }
}

#[test]
fn outputs_are_shown() {
    let directory = TestDirectory::with(&[]);
    let heat = web(|_, below| match below {
        "" => ok(
            json!({"stack": {"outputs": [{"output_key": "a", "output_value": [1]}, {"output_key": "b"}]}}),
        ),
        "/outputs" => ok(json!({"outputs": [{"output_key": "a", "description": "An a"}]})),
        "/outputs/a" => ok(
            json!({"output": {"output_key": "a", "description": "An a", "output_value": {"k": null}}}),
        ),
        "/outputs/e" => {
            ok(json!({"output": {"output_key": "e", "output_value": null, "output_error": "why"}}))
        }
        _ => None,
    });
    prints(&heat.run(&directory, &words("stack output list web -f value")), 0, "a An a\n");
    let shown = heat.run(&directory, &words("stack output show web a"));
    assert!(shown.out.contains("| output_value | {'k': None} |"), "{}", shown.out);
    let all = heat.run(&directory, &words("stack output show web --all -f yaml"));
    prints(&all, 0, "a:\n  output_key: a\n  output_value:\n  - 1\nb:\n  output_key: b\n");
    for (command, why) in [
        ("web ghost", "Stack web or output ghost not found."),
        ("web", "Either <OUTPUT NAME> or --all must be specified."),
        ("web a --all", "Cannot specify both <OUTPUT NAME> and --all."),
        ("web e", "Output error: why"),
    ] {
        let words: Vec<&str> =
            ["stack", "output", "show"].into_iter().chain(command.split(' ')).collect();
        fails(&heat.run(&directory, &words), why);
    }
}

fn event(id: &str, stack: &str, resource: &str, reason: &str) -> Value {
    json!({
        "id": id, "resource_name": resource, "resource_status": "CREATE_IN_PROGRESS",
        "resource_status_reason": reason, "event_time": format!("2026-11-15T19:11:0{id}Z"),
        "physical_resource_id": format!("{resource}-x"), "logical_resource_id": resource,
        "links": links(stack, resource, None),
    })
}

#[test]
fn events_are_listed_as_a_log_and_as_a_table() {
    let directory = TestDirectory::with(&[]);
    let heat = web(|_, below| match below {
        "/events" => {
            ok(json!({"events": [event("2", "web/1", "b", "x"), event("1", "web/1", "a", "y")]}))
        }
        "/resources/a/events" => ok(json!({"events": [event("1", "web/1", "a", "y")]})),
        "/resources/a/events/1" => {
            ok(json!({"event": {"id": "1", "resource_properties": {"n": 1}}}))
        }
        _ => None,
    });
    prints(
        &heat.run(&directory, &words("stack event list web --limit 5 --marker m")),
        0,
        "2026-11-15 19:11:01Z 1 [web.a]: CREATE_IN_PROGRESS  y\n2026-11-15 19:11:02Z 2 [web.b]: CREATE_IN_PROGRESS  x\n",
    );
    assert_eq!(heat.lines()[1], "GET /stacks/web/1/events?sort_dir=asc&limit=5&marker=m");
    let csv = heat.run(&directory, &words("stack event list web --nested-depth 2 --sort event_time:desc -f csv -c id -c stack_name"));
    prints(&csv, 0, "\"id\",\"stack_name\"\n\"2\",\"web\"\n\"1\",\"web\"\n");
    assert_eq!(heat.lines()[3], "GET /stacks/web/1/events?sort_dir=desc&nested_depth=2");
    let one = heat.run(&directory, &words("stack event list web --resource a -f value -c id"));
    prints(&one, 0, "1\n");
    prints(
        &heat.run(&directory, &words("stack event show web a 1 -f yaml")),
        0,
        "id: '1'\nresource_properties:\n  n: 1\n",
    );
    let both = heat.run(&directory, &words("stack event list web --resource a --nested-depth 1"));
    fails(&both, "--nested-depth cannot be specified with --resource");
    let follow = heat.run(&directory, &words("stack event list web --follow -f table"));
    fails(&follow, "--follow can only be specified with --format log");
}

#[test]
fn hooks_are_found_and_cleared() {
    let directory = TestDirectory::with(&[]);
    let paused = "CREATE paused until Hook pre-create is cleared";
    let heat = web(move |asked, below| match (&*asked.method, below) {
        ("GET", "") => ok(
            json!({"stack": {"id": "1", "stack_name": "web", "stack_status": "CREATE_IN_PROGRESS"}}),
        ),
        ("GET", "/events") => ok(json!({"events": [
            event("1", "web/1", "a", paused),
            event("2", "web/1", "b", paused),
            event("3", "web/1", "a", "Hook pre-create is cleared"),
        ]})),
        ("GET", "/resources" | "/stacks/web-group-x/2/resources") => ok(resources()),
        ("POST", _) => ok(json!(null)),
        _ => None,
    });
    let open = heat.run(
        &directory,
        &["stack", "hook", "poll", "web", "-f", "value", "-c", "Resource Name", "-c", "ID"],
    );
    prints(&open, 0, "b 2\n");
    prints(&heat.run(&directory, &words("stack hook clear web b")), 0, "");
    assert_eq!(*heat.lines().last().expect("a line"), "POST /stacks/web/1/resources/b/signal");
    assert_eq!(
        heat.asked().last().map(|asked| asked.body.clone()),
        Some(json!({"unset_hook": "pre-create"}))
    );
    prints(&heat.run(&directory, &words("stack hook clear web gr*/0 --pre-update")), 0, "");
    assert_eq!(
        *heat.lines().last().expect("a line"),
        "POST /stacks/web-group-x/2/resources/0/signal"
    );
    assert_eq!(
        heat.asked().last().map(|asked| asked.body.clone()),
        Some(json!({"unset_hook": "pre-update"}))
    );
    fails(
        &heat.run(&directory, &words("stack hook clear web x*/0")),
        "Stack or resource not found: web x*/0",
    );
}

#[test]
fn snapshots_are_taken_listed_and_gone_back_to() {
    let directory = TestDirectory::with(&[]);
    let snapshot = json!({"id": "s", "name": null, "action": "CREATE", "status": "COMPLETE",
                          "status_reason": null, "data": {"k": [1]}, "creation_time": "t"});
    let heat = web(move |asked, below| match (&*asked.method, below) {
        ("POST", "/snapshots") => ok(snapshot.clone()),
        ("GET", "/snapshots") => ok(json!({"snapshots": [snapshot]})),
        ("GET", "/snapshots/s") => ok(json!({"snapshot": snapshot})),
        ("DELETE", "/snapshots/s") => nothing(204),
        ("POST", "/snapshots/s/restore") => told(202, json!({})),
        _ => None,
    });
    let made = heat.run(&directory, &words("stack snapshot create --name before web -f value"));
    prints(&made, 0, "s\nNone\nCREATE\nCOMPLETE\nNone\n{\"k\": [1]}\nt\n");
    assert_eq!(heat.asked()[1].body, json!({"name": "before"}));
    prints(
        &heat.run(&directory, &words("stack snapshot list web -f csv -c id")),
        0,
        "\"id\"\n\"s\"\n",
    );
    let shown = heat.run(&directory, &words("stack snapshot show web s"));
    assert!(shown.out.starts_with("snapshot:\n  action: CREATE\n"), "{}", shown.out);
    prints(&heat.run(&directory, &words("stack snapshot restore web s")), 0, "");
    prints(&heat.run(&directory, &words("stack snapshot delete web s")), 0, "");
    let gone = heat.run(&directory, &words("stack snapshot show web x"));
    fails(&gone, "Snapshot ID <x> not found for stack <web>");
    fails(
        &heat.run(&directory, &words("stack snapshot restore web x")),
        "Stack web or snapshot x not found.",
    );
}

#[test]
fn failures_are_told_where_they_are_known_best() {
    let directory = TestDirectory::with(&[]);
    let heat = web(|_, below| {
        let failed = |name: &str, stack: &str, nested: Option<&str>, kind: &str| {
            json!({"resource_name": name, "resource_status": "CREATE_FAILED", "resource_type": kind,
                   "physical_resource_id": "d1", "resource_status_reason": "one\ntwo",
                   "links": links(stack, name, nested)})
        };
        let many: Vec<String> = (1..=12).map(|line| format!("line {line}")).collect();
        match below {
            "" => ok(
                json!({"stack": {"id": "1", "stack_name": "web", "stack_status": "CREATE_FAILED"}}),
            ),
            "/resources" => ok(json!({"resources": [
                failed("group", "web/1", Some("web-group-x/2"), "OS::Heat::ResourceGroup"),
                {"resource_name": "fine", "resource_status": "CREATE_COMPLETE"},
            ]})),
            "/stacks/web-group-x/2/resources" => ok(
                json!({"resources": [failed("0", "web-group-x/2", None, "OS::Heat::SoftwareDeployment")]}),
            ),
            "/software_deployments/d1" => ok(
                json!({"software_deployment": {"output_values": {"deploy_stdout": many.join("\n")}}}),
            ),
            _ => None,
        }
    });
    let last: String = (3..=12).map(|line| format!("    line {line}\n")).collect();
    let head = "web.group.0:\n  resource_type: OS::Heat::SoftwareDeployment\n  physical_resource_id: d1\n  \
                status: CREATE_FAILED\n  status_reason: |\n    one\n    two\n  deploy_stdout: |\n";
    prints(
        &heat.run(&directory, &words("stack failures list web")),
        0,
        &format!("{head}    ...\n{last}    (truncated, view all with --long)\n"),
    );
    let long = heat.run(&directory, &words("stack failures list --long web"));
    prints(&long, 0, &format!("{head}    line 1\n    line 2\n{last}"));
}

#[test]
fn documents_of_a_stack_are_printed() {
    let directory =
        TestDirectory::with(&[("old.json", "{\"template\": {}, \"files\": {\"f\": \"x\"}}")]);
    let heat = web(|asked, below| match (&*asked.method, below) {
        ("GET", "/template") => ok(json!({"z": 1, "heat_template_version": "2021-04-16"})),
        ("GET", "/environment") => {
            ok(json!({"event_sinks": [], "parameters": {"a": 1}, "resource_registry": {}}))
        }
        ("GET", "/files") => ok(json!({"f": "#!/bin/sh\necho\n"})),
        ("GET", "/export") | ("DELETE", "/abandon") => ok(json!({"name": "web"})),
        ("POST", "/stacks") => told(201, json!({"stack": {"id": "1"}})),
        ("GET", "") => ok(json!({"stack": {"id": "1"}})),
        _ => None,
    });
    prints(
        &heat.run(&directory, &words("stack template show web")),
        0,
        "z: 1\nheat_template_version: '2021-04-16'\n",
    );
    prints(
        &heat.run(&directory, &words("stack environment show web")),
        0,
        "parameters:\n  a: 1\nresource_registry: {}\n",
    );
    prints(
        &heat.run(&directory, &words("stack file list web")),
        0,
        "files:\n  f: '#!/bin/sh\n\n    echo\n\n    '\n",
    );
    prints(&heat.run(&directory, &words("stack export web")), 0, "{\n  \"name\": \"web\"\n}\n");
    prints(&heat.run(&directory, &words("stack abandon web --output-file out.json")), 0, "");
    let written = std::fs::read_to_string(directory.path().join("out.json")).expect("the file");
    assert_eq!(written, "{\n  \"name\": \"web\"\n}");
    // An abandoned stack cannot be requested again, so a file that cannot be written is reported first.
    let count = heat.lines().len();
    let run = heat.run(&directory, &words("stack abandon web --output-file no/such/dir"));
    assert_eq!((run.status, heat.lines().len()), (1, count));
    let run = heat.run(
        &directory,
        &words("stack adopt --adopt-file old.json --timeout 3 web -f value -c id"),
    );
    prints(&run, 0, "1\n");
    let asked = heat.asked().into_iter().rfind(|asked| asked.method == "POST").expect("a request");
    let expected = json!({
        "stack_name": "web", "disable_rollback": true, "timeout_mins": 3, "parameters": {}, "template": null,
        "adopt_stack_data": "{\"template\": {}, \"files\": {\"f\": \"x\"}}", "files": {"f": "x"}, "environment": {},
    });
    assert_eq!(asked.body, expected);
}
