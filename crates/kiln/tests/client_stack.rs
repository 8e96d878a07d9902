//! Stacks: what is asked, and how the answers look.

use crate::client_fake::{Answer, Asked, Fake, found, nothing, ok, refused, told};
use crate::test_directory::{Run, TestDirectory, prints};
use serde_json::{Value, json};

const ID: &str = "ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b";

fn stack() -> Value {
    json!({
        "id": ID,
        "links": [{"href": format!("http://h/v1/p/stacks/hello/{ID}"), "rel": "self"}],
        "stack_name": "hello", "description": "One random string", "template_description": "One random string",
        "stack_status": "CREATE_COMPLETE", "stack_status_reason": "Stack CREATE completed successfully",
        "creation_time": "2026-11-15T19:10:56Z", "updated_time": null, "deletion_time": null,
        "parameters": {"OS::stack_id": ID, "length": "10", "salt": "******"},
        "outputs": [{"output_key": "parts", "description": "A list", "output_value": ["one", 2]}],
        "capabilities": [], "disable_rollback": true, "timeout_mins": 5, "tags": ["web"],
    })
}

/// A service with one stack, `hello`; what the function does not answer is answered as usual.
fn one_stack(answer: impl Fn(&Asked) -> Option<Answer> + Send + 'static) -> Fake {
    Fake::heat(move |asked| {
        let special = answer(asked);
        let below = asked.path.strip_prefix(&format!("/stacks/hello/{ID}"));
        match (special, &*asked.method, &*asked.path) {
            (Some(told), ..) => Some(told),
            (None, "GET", "/stacks") => ok(json!({"stacks": [stack()]})),
            (None, "POST", "/stacks") => told(201, json!({"stack": {"id": ID, "links": []}})),
            (None, _, "/stacks/hello") | (None, _, _) if asked.path == "/stacks/hello" => {
                let query = if asked.query.is_empty() {
                    String::new()
                } else {
                    format!("?{}", asked.query)
                };
                found(&format!("http://elsewhere/v1/p/stacks/hello/{ID}{query}"))
            }
            (None, "GET", _) if below == Some("") => ok(json!({"stack": stack()})),
            (None, "PUT" | "PATCH", _) if below == Some("") => {
                told(202, json!({"code": "202 Accepted"}))
            }
            (None, "DELETE", _) if below == Some("") => nothing(204),
            _ => refused(404, "EntityNotFound", "The Stack (x) could not be found."),
        }
    })
}

fn usual() -> Fake {
    one_stack(|_| None)
}

fn fails(run: &Run, why: &str) {
    assert_eq!((run.status, &*run.err), (1, &*format!("{why}\n")), "{}", run.out);
}

#[test]
fn stacks_are_listed() {
    let (directory, heat) = (TestDirectory::with(&[]), usual());
    prints(
        &heat.run(&directory, &["stack", "list"]),
        0,
        "\
+--------------------------------------+------------+-----------------+----------------------+--------------+
| ID                                   | Stack Name | Stack Status    | Creation Time        | Updated Time |
+--------------------------------------+------------+-----------------+----------------------+--------------+
| ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b | hello      | CREATE_COMPLETE | 2026-11-15T19:10:56Z | None         |
+--------------------------------------+------------+-----------------+----------------------+--------------+
",
    );
    let csv = "\"ID\",\"Stack Name\",\"Stack Status\"\n\"ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b\",\"hello\",\"CREATE_COMPLETE\"\n";
    prints(&heat.run(&directory, &["stack", "list", "--short", "-f", "csv"]), 0, csv);
    let all = "--deleted --nested --hidden --property status=COMPLETE --tags a,b --tag-mode not-any --marker m --limit 1";
    let mut arguments = vec!["stack", "list"];
    arguments.extend(all.split(' '));
    heat.run(&directory, &arguments);
    assert_eq!(
        heat.lines().last().unwrap(),
        "GET /stacks?show_deleted=True&show_nested=True&show_hidden=True&marker=m&not_tags_any=a%2Cb&status=COMPLETE&limit=1"
    );
    fails(
        &heat.run(&directory, &["stack", "list", "--sort", "nope"]),
        "Resource doesn't have field nope",
    );
    fails(
        &heat.run(&directory, &["stack", "list", "--tags", "a", "--tag-mode", "bad"]),
        "tag mode must be one of \"any\", \"not\", \"not-any\"",
    );
}

#[test]
fn lists_are_asked_for_page_by_page() {
    let directory = TestDirectory::with(&[]);
    let heat = Fake::heat(|asked| {
        let names: &[&str] = match () {
            () if asked.query.contains("marker=b") => &["c"],
            () => &["a", "b"],
        };
        let stacks: Value =
            names.iter().map(|name| json!({"id": name, "stack_name": name})).collect();
        ok(json!({ "stacks": stacks }))
    });
    let run = heat.run(&directory, &["stack", "list", "--limit", "3", "-f", "value", "-c", "ID"]);
    prints(&run, 0, "a\nb\nc\n");
    assert_eq!(heat.lines(), ["GET /stacks?limit=3", "GET /stacks?limit=1&marker=b"]);
}

#[test]
fn a_stack_is_shown() {
    let (directory, heat) = (TestDirectory::with(&[]), usual());
    prints(
        &heat.run(&directory, &["stack", "show", "hello"]),
        0,
        "\
+---------------------+-------------------------------------------------------------------------+
| Field               | Value                                                                   |
+---------------------+-------------------------------------------------------------------------+
| id                  | ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b                                    |
| stack_name          | hello                                                                   |
| description         | One random string                                                       |
| creation_time       | 2026-11-15T19:10:56Z                                                    |
| updated_time        | None                                                                    |
| stack_status        | CREATE_COMPLETE                                                         |
| stack_status_reason | Stack CREATE completed successfully                                     |
| parameters          | OS::stack_id: ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b                      |
|                     | length: '10'                                                            |
|                     | salt: '******'                                                          |
|                     |                                                                         |
| outputs             | - description: A list                                                   |
|                     |   output_key: parts                                                     |
|                     |   output_value:                                                         |
|                     |   - one                                                                 |
|                     |   - 2                                                                   |
|                     |                                                                         |
| links               | - href: http://h/v1/p/stacks/hello/ac5c6bf4-36de-4ccb-82dd-9b9d2e65502b |
|                     |   rel: self                                                             |
|                     |                                                                         |
| deletion_time       | None                                                                    |
| capabilities        | []                                                                      |
| disable_rollback    | True                                                                    |
| timeout_mins        | 5                                                                       |
| tags                | - web                                                                   |
|                     |                                                                         |
+---------------------+-------------------------------------------------------------------------+
",
    );
    let shell = heat.run(
        &directory,
        &["stack", "show", "hello", "-f", "shell", "-c", "tags", "-c", "stack_status"],
    );
    prints(&shell, 0, "stack_status=\"CREATE_COMPLETE\"\ntags=\"[\\\"web\\\"]\"\n");
    fails(&heat.run(&directory, &["stack", "show", "nosuch"]), "Stack not found: nosuch");
    assert_eq!(
        heat.lines()[..2],
        ["GET /stacks/hello".to_owned(), format!("GET /stacks/hello/{ID}")],
        "the service is asked at its own address, wherever it points"
    );
    heat.run(&directory, &["stack", "show", &format!("hello/{ID}"), "--no-resolve-outputs"]);
    assert_eq!(
        *heat.lines().last().unwrap(),
        format!("GET /stacks/hello/{ID}?resolve_outputs=False")
    );
}

const CHILD: &str = "heat_template_version: 2021-04-16\nparameters: {n: {type: number}}\n";
const PARENT: &str = "\
heat_template_version: 2021-04-16
resources:
  direct: {type: child.yaml}
  mapped: {type: My::Thing}
  cfg: {type: X, properties: {config: {get_file: script.sh}, big: 123456789012345678901234567890}}
";
const ENVIRONMENT: &str = "parameters: {motd: hi}\nresource_registry: {'My::Thing': child.yaml}\n";

#[test]
fn files_go_along_with_a_template() {
    let files = [
        ("parent.yaml", PARENT),
        ("child.yaml", CHILD),
        ("script.sh", "#!/bin/sh\n"),
        ("env.yaml", ENVIRONMENT),
        ("key", "secret\n"),
    ];
    let (directory, heat) = (TestDirectory::with(&files), usual());
    let here = directory.path().canonicalize().unwrap();
    let url = |name: &str| format!("file://{}/{name}", here.display());
    let words = "stack create -t parent.yaml -e env.yaml --parameter a=1;b=2 --parameter-file k=key \
                 --pre-create direct --tags x,y --timeout 5 --enable-rollback hello";
    let run = heat.run(&directory, &words.split_whitespace().collect::<Vec<_>>());
    assert_eq!((run.status, &*run.err), (0, ""));
    assert!(
        run.out.contains("| stack_status_reason | Stack CREATE completed successfully  |"),
        "{}",
        run.out
    );
    let asked = &heat.asked()[0];
    assert_eq!(asked.line(), "POST /v1/p/stacks");
    let child =
        r#"{"heat_template_version": "2021-04-16", "parameters": {"n": {"type": "number"}}}"#;
    let registry = json!({"My::Thing": url("child.yaml")});
    let environment = json!({"parameters": {"motd": "hi"}, "resource_registry": registry});
    let sent = format!(
        r#"{{"parameters": {{"motd": "hi"}}, "resource_registry": {{"My::Thing": "{}"}}}}"#,
        url("child.yaml")
    );
    let mut hooked = environment.clone();
    hooked["resource_registry"]["resources"] = json!({"direct": {"hooks": "pre-create"}});
    let expected = json!({
        "stack_name": "hello",
        "disable_rollback": false,
        "parameters": {"a": "1", "b": "2", "k": "secret\n"},
        "template": asked.body["template"],
        "files": {
            (url("child.yaml")): child,
            (url("script.sh")): "#!/bin/sh\n",
            (url("env.yaml")): sent,
        },
        "environment": hooked,
        "environment_files": [url("env.yaml")],
        "tags": "x,y",
        "timeout_mins": 5,
    });
    assert_eq!(asked.body, expected);
    let resources = &asked.body["template"]["resources"];
    assert_eq!(resources["direct"]["type"], url("child.yaml"));
    assert_eq!(resources["mapped"]["type"], "My::Thing");
    assert_eq!(resources["cfg"]["properties"]["config"]["get_file"], url("script.sh"));
}

#[test]
fn templates_may_lie_behind_http() {
    let web = Fake::new(|asked| match &*asked.path {
        "/t/root.yaml" => {
            told(200, json!({"heat_template_version": "2021-04-16", "a": {"type": "sub/n.yaml"}}))
        }
        "/t/sub/n.yaml" => {
            told(200, json!({"heat_template_version": "2021-04-16", "b": {"get_file": "f"}}))
        }
        "/t/sub/f" => told(200, json!("text")),
        _ => nothing(404),
    });
    let (directory, heat) = (TestDirectory::with(&[]), usual());
    let run = heat.run(&directory, &["stack", "create", "-t", &web.url("/t/root.yaml"), "hello"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    let body = &heat.asked()[0].body;
    assert_eq!(body["template"]["a"]["type"], web.url("/t/sub/n.yaml"));
    assert_eq!(body["files"][web.url("/t/sub/f")], "\"text\"");
    fails(
        &heat.run(&directory, &["stack", "create", "-t", &web.url("/nosuch"), "x"]),
        "HTTP Error 404 Not Found",
    );
}

#[test]
fn nothing_is_sent_if_a_file_is_wrong() {
    let files = [
        ("empty.yaml", ""),
        ("noversion.yaml", "a: 1\n"),
        ("missing.yaml", "heat_template_version: 2021-04-16\na: {get_file: gone}\n"),
        ("bad.yaml", "heat_template_version: 2021-04-16\na: ]\n"),
        ("good.yaml", "heat_template_version: 2021-04-16\n"),
        ("env.yaml", "params: {}\n"),
    ];
    let (directory, heat) = (TestDirectory::with(&files), usual());
    let here = directory.path().canonicalize().unwrap();
    let here = here.display();
    for (words, why) in [
        (
            "-t gone.yaml",
            format!("<urlopen error [Errno 2] No such file or directory: '{here}/gone.yaml'>"),
        ),
        ("-t .", format!("<urlopen error [Errno 21] Is a directory: '{here}'>")),
        ("-t empty.yaml", format!("Could not fetch template from file://{here}/empty.yaml")),
        (
            "-t noversion.yaml",
            format!(
                "Error parsing template file://{here}/noversion.yaml Template format version not found."
            ),
        ),
        ("-t missing.yaml", format!("Could not fetch contents for file://{here}/gone")),
        ("-t good.yaml -e env.yaml", "environment has wrong section \"params\"".into()),
        ("-t good.yaml --parameter a", "Malformed parameter(a). Use the key=value format.".into()),
        (
            "-t good.yaml --parameter-file a=gone",
            format!("Could not fetch contents for file://{here}/gone"),
        ),
    ] {
        let words: Vec<&str> =
            ["stack", "create", "hello"].into_iter().chain(words.split(' ')).collect();
        fails(&heat.run(&directory, &words), &why);
    }
    let bad = heat.run(&directory, &["stack", "create", "hello", "-t", "bad.yaml"]);
    assert!(
        bad.err.starts_with(&format!("Error parsing template file://{here}/bad.yaml ")),
        "{}",
        bad.err
    );
    assert!(bad.err.ends_with("(line 2, column 4)\n"), "{}", bad.err);
    assert_eq!(heat.lines(), [""; 0]);
}

#[test]
fn a_stack_is_changed() {
    let files = [("t.yaml", "heat_template_version: 2021-04-16\n")];
    let (directory, heat) = (TestDirectory::with(&files), usual());
    let words = "stack update --existing --parameter length=20 --clear-parameter salt --rollback enabled hello";
    let run = heat.run(&directory, &words.split(' ').collect::<Vec<_>>());
    assert_eq!((run.status, &*run.err), (0, ""));
    let asked = &heat.asked()[1];
    assert_eq!(asked.line(), format!("PATCH /v1/p/stacks/hello/{ID}"));
    let expected = json!({
        "parameters": {"length": "20"}, "template": null, "files": {}, "environment": {},
        "disable_rollback": false, "clear_parameters": ["salt"],
    });
    assert_eq!(asked.body, expected);
    heat.run(
        &directory,
        &["stack", "update", "-t", "t.yaml", "--tags", "a", "--converge", "hello"],
    );
    let asked = heat.asked().into_iter().rfind(|asked| asked.method == "PUT").unwrap();
    assert_eq!(asked.body["template"], json!({"heat_template_version": "2021-04-16"}));
    assert_eq!((&asked.body["tags"], &asked.body["converge"]), (&json!("a"), &json!(true)));
    fails(
        &heat.run(&directory, &["stack", "update", "hello"]),
        "Need to specify exactly one of [--template-file, --template-url or --template-object] or --existing",
    );
    fails(
        &heat.run(&directory, &["stack", "update", "--existing", "nosuch"]),
        "ERROR: The Stack (x) could not be found.",
    );
}

#[test]
fn changes_are_previewed() {
    let files = [("t.yaml", "heat_template_version: 2021-04-16\n")];
    let directory = TestDirectory::with(&files);
    let heat = one_stack(|asked| match &*asked.path {
        "/stacks/preview" => {
            ok(json!({"stack": {"stack_name": "new", "id": "None", "resources": [],
            "description": "A description of more than fifty-five characters, so that it is folded",
            "links": [{"href": "http://h/stacks/new/None", "rel": "self"}]}}))
        }
        path if path.ends_with("/preview") => {
            ok(json!({"resource_changes": {"updated": [], "added": [{"resource_name": "extra"}]}}))
        }
        _ => None,
    });
    let run = heat.run(&directory, &["stack", "create", "-t", "t.yaml", "--dry-run", "new"]);
    prints(
        &run,
        0,
        "\
+-------------+------------------------------------------------------+
| Field       | Value                                                |
+-------------+------------------------------------------------------+
| description | A description of more than fifty-five characters, so |
|             | that it is folded                                    |
| id          | None                                                 |
| links       | http://h/stacks/new/None (self)                      |
| resources   | []                                                   |
| stack_name  | new                                                  |
+-------------+------------------------------------------------------+
",
    );
    prints(&heat.run(&directory, &["stack", "preview", "-t", "t.yaml", "new"]), 0, &run.out);
    let run = heat.run(
        &directory,
        &["stack", "update", "-t", "t.yaml", "--dry-run", "--show-nested", "hello", "-f", "yaml"],
    );
    prints(&run, 0, "added:\n- resource_name: extra\nupdated: []\n");
    assert_eq!(
        *heat.lines().last().unwrap(),
        format!("PUT /stacks/hello/{ID}/preview?show_nested=True")
    );
}

#[test]
fn stacks_are_deleted_one_by_one() {
    let (directory, heat) = (TestDirectory::with(&[]), usual());
    let run = heat.run(&directory, &["stack", "delete", "nosuch", "hello"]);
    assert_eq!(run.out, "Stack not found: nosuch\n");
    fails(&run, "Unable to delete 1 of the 2 stacks.");
    assert_eq!(*heat.lines().last().unwrap(), format!("DELETE /stacks/hello/{ID}"));
    prints(&heat.run(&directory, &["stack", "delete", "-y", "hello"]), 0, "");
}

#[test]
fn refusals_are_told_in_the_services_words() {
    let directory = TestDirectory::with(&[]);
    let heat = Fake::heat(|asked| match &*asked.path {
        "/stacks" => refused(403, "Forbidden", "You are not authorized to use stacks:index."),
        "/services" => refused(500, "RemoteError", "No engine."),
        "/build_info" => {
            told(400, json!({"code": 400, "title": "Bad Request", "error": {"type": "ValueError"}}))
        }
        "/resource_types" => Some(html()),
        _ => told(300, json!({"versions": []})),
    });
    fails(
        &heat.run(&directory, &["stack", "list"]),
        "ERROR: You are not authorized to use stacks:index.",
    );
    fails(
        &heat.run(&directory, &["orchestration", "service", "list"]),
        "ERROR: No engine.\nReport the request id req-1 to the operator.",
    );
    fails(
        &heat.run(&directory, &["orchestration", "build", "info"]),
        "ERROR: Bad Request (ValueError)",
    );
    fails(
        &heat.run(&directory, &["orchestration", "resource", "type", "list"]),
        "ERROR: 502 Bad Gateway: Bad Gateway from nginx",
    );
    fails(
        &heat.run(&directory, &["software", "config", "list"]),
        "Requested version of Heat API is not available.\n\
         Check that the orchestration endpoint ends in /v1/ and the id of the project.",
    );
}

fn html() -> Answer {
    let told = told(502, json!(null)).expect("an answer");
    told.with_body("<html><head></head>\n<body><h1>Bad Gateway</h1> from nginx\n</body></html>")
}
