//! The program under its classic name: other words and other looks for the same.

use crate::client_fake::{Answer, Asked, Fake, found, nothing, ok, refused, told};
use crate::test_directory::{Run, TestDirectory};
use serde_json::{Value, json};

fn stack(name: &str, created: &str) -> Value {
    json!({
        "id": "1", "stack_name": name, "stack_status": "CREATE_COMPLETE", "creation_time": created, "updated_time": null,
        "links": [{"href": "http://h/stacks/web/1", "rel": "self"}], "parameters": {"a": "1", "b": "2"}, "tags": [],
        "description": "A text that is a little longer than fifty-five characters",
    })
}

fn web(asked: &Asked) -> Option<Answer> {
    match (&*asked.method, &*asked.path) {
        ("GET", "/stacks") => {
            ok(json!({"stacks": [stack("web", "2026-02"), stack("old", "2026-01")]}))
        }
        ("POST", "/stacks") => told(201, json!({"stack": {"id": "1"}})),
        (_, "/stacks/web") => found("http://h/v1/p/stacks/web/1"),
        ("GET", "/stacks/web/1") => ok(json!({"stack": stack("web", "2026-02")})),
        ("PUT" | "PATCH", "/stacks/web/1") => told(202, json!({})),
        ("DELETE", "/stacks/web/1") => nothing(204),
        ("POST", "/stacks/web/1/actions") => ok(json!(null)),
        ("GET", "/stacks/web/1/template") => {
            ok(json!({"heat_template_version": "2021-04-16", "a": [1]}))
        }
        ("GET", "/stacks/web/1/outputs/m") => {
            ok(json!({"output": {"output_key": "m", "output_value": {"a": [1, "é"], "b": null}}}))
        }
        ("GET", "/stacks/web/1/resources") => ok(json!({"resources": [
            {"resource_name": "z", "updated_time": "1"},
            {"resource_name": "b", "updated_time": "2"},
            {"resource_name": "a", "updated_time": "2"},
        ]})),
        ("GET", "/stacks/web/1/events") => ok(json!({"events": [{
            "id": "e", "resource_name": "web", "physical_resource_id": "1", "resource_status": "CREATE_COMPLETE",
            "event_time": "2026-01-31T12:00:00Z", "resource_status_reason": "done",
            "links": [{"rel": "stack", "href": "http://h/v1/p/stacks/web/1"}],
        }]})),
        _ => refused(404, "EntityNotFound", "The Stack (nosuch) could not be found."),
    }
}

/// Runs a classic command; gives its output, its errors after the warning, and its status.
fn run(heat: &Fake, directory: &TestDirectory, command: &str) -> Run {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut run = heat.run_classic(directory, &words);
    let warning = run.err.lines().next().unwrap_or_default().to_owned();
    let start =
        format!("WARNING (shell) \"heat {}\" is deprecated, please use \"openstack ", words[0]);
    assert!(warning.starts_with(&start), "{command}: {}", run.err);
    run.err = run.err[warning.len() + 1..].to_owned();
    run
}

const LIST: &str = "\
+----+------------+-----------------+---------------+--------------+
| id | stack_name | stack_status    | creation_time | updated_time |
+----+------------+-----------------+---------------+--------------+
| 1  | old        | CREATE_COMPLETE | 2026-01       | None         |
| 1  | web        | CREATE_COMPLETE | 2026-02       | None         |
+----+------------+-----------------+---------------+--------------+
";

#[test]
fn stacks_are_listed_and_shown() {
    let (directory, heat) = (TestDirectory::with(&[]), Fake::heat(web));
    assert_eq!(run(&heat, &directory, "stack-list").out, LIST);
    run(
        &heat,
        &directory,
        "stack-list -s -n -f status=COMPLETE;name=x -k stack_name;stack_status -d asc --not-tags-any a -l 2",
    );
    assert_eq!(
        heat.lines()[1],
        "GET /stacks?status=COMPLETE&name=x&show_deleted=True&show_nested=True&not_tags_any=a&sort_dir=asc\
         &sort_keys=stack_name&sort_keys=stack_status&limit=2"
    );
    assert_eq!(
        run(&heat, &directory, "stack-show web").out,
        "\
+---------------+------------------------------------------------+
| Property      | Value                                          |
+---------------+------------------------------------------------+
| creation_time | 2026-02                                        |
| description   | A text that is a little longer than fifty-five |
|               | characters                                     |
| id            | 1                                              |
| links         | http://h/stacks/web/1 (self)                   |
| parameters    | {                                              |
|               |   \"a\": \"1\",                                    |
|               |   \"b\": \"2\"                                     |
|               | }                                              |
| stack_name    | web                                            |
| stack_status  | CREATE_COMPLETE                                |
| tags          | []                                             |
| updated_time  | None                                           |
+---------------+------------------------------------------------+
"
    );
    let sorted = run(&heat, &directory, "stack-list -k bogus");
    assert_eq!(sorted.status, 1);
    assert!(
        sorted
            .err
            .starts_with("Sorting key 'bogus' not one of the supported keys: ['stack_name', ")
    );
    let gone = run(&heat, &directory, "stack-show nosuch");
    assert_eq!((gone.status, &*gone.err), (1, "Stack not found: nosuch\n"));
}

#[test]
fn stacks_are_made_changed_and_deleted() {
    let directory =
        TestDirectory::with(&[("t.yaml", "heat_template_version: 2021-04-16\n"), ("f", "text")]);
    let heat = Fake::heat(web);
    assert_eq!(
        run(&heat, &directory, "stack-create -f t.yaml -P a=1;b=2 -Pf c=f -r -c 7 web").out,
        LIST
    );
    let body = &heat.asked()[0].body;
    assert_eq!(body["parameters"], json!({"a": "1", "b": "2", "c": "text"}));
    assert_eq!((&body["disable_rollback"], &body["timeout_mins"]), (&json!(false), &json!(7)));
    let polled = run(&heat, &directory, "stack-create -f t.yaml --poll 0.01 web");
    assert_eq!(polled.out.matches("| Property ").count(), 2, "{}", polled.out);
    assert!(
        polled.out.contains("2026-01-31 12:00:00Z e [web]: CREATE_COMPLETE  done\n"),
        "{}",
        polled.out
    );
    assert!(polled.out.ends_with("\n Stack web CREATE_COMPLETE \n\n"), "{}", polled.out);
    assert_eq!(run(&heat, &directory, "stack-update -x --rollback off -c a web").out, LIST);
    let patch = heat.asked().into_iter().find(|asked| asked.method == "PATCH").expect("a change");
    assert_eq!(
        (&patch.body["disable_rollback"], &patch.body["clear_parameters"]),
        (&json!(true), &json!(["a"]))
    );
    assert_eq!(run(&heat, &directory, "action-suspend web").out, LIST);
    let deleted = run(&heat, &directory, "stack-delete web nosuch");
    assert_eq!(
        deleted.out,
        "Request to delete stack web has been accepted.\nERROR: The Stack (nosuch) could not be found.\n"
    );
    assert_eq!((deleted.status, &*deleted.err), (1, "Unable to delete 1 of the 2 stacks.\n"));
    let none = run(&heat, &directory, "stack-create web");
    assert!(
        none.err.starts_with("Need to specify exactly one of [--template-file,"),
        "{}",
        none.err
    );
}

#[test]
fn what_is_inside_is_shown() {
    let (directory, heat) = (TestDirectory::with(&[]), Fake::heat(web));
    // Blanks at the ends of lines are as they have always been.
    let value = "{\n  \"a\": [\n    1, \n    \"é\"\n  ], \n  \"b\": null\n}\n";
    assert_eq!(run(&heat, &directory, "output-show web m").out, value);
    let names = run(&heat, &directory, "resource-list web").out;
    let rows: Vec<&str> =
        names.lines().skip(3).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(rows, ["z", "a", "b"], "{names}");
    assert_eq!(
        run(&heat, &directory, "event-list -F log web").out,
        "2026-01-31 12:00:00Z e [web]: CREATE_COMPLETE  done\n"
    );
    assert_eq!(
        run(&heat, &directory, "template-show web").out,
        "a:\n- 1\nheat_template_version: '2021-04-16'\n\n"
    );
    let depth = run(&heat, &directory, "event-list -n x web");
    assert_eq!((depth.status, &*depth.err), (1, "--nested-depth invalid value x\n"));
}

#[test]
fn help_is_there_without_a_cloud() {
    let directory = TestDirectory::with(&[]);
    let heat = Fake::heat(|_| None);
    let help = |arguments: &[&str]| heat.run_classic(&directory, arguments);
    for arguments in [&[][..], &["help"], &["-h"]] {
        let run = help(arguments);
        assert_eq!((run.status, &*run.err), (0, ""), "{arguments:?}");
        assert!(run.out.contains("stack-create") && run.out.contains("Usage: heat"), "{}", run.out);
    }
    assert!(help(&["help", "stack-list"]).out.contains("--show-deleted"));
    let unknown = help(&["help", "bogus"]);
    assert_eq!((unknown.status, &*unknown.err), (1, "'bogus' is not a valid subcommand\n"));
    assert_eq!(help(&["bogus"]).status, 2);
    let completion = help(&["bash-completion"]).out;
    assert!(
        completion.contains("stack-create ") && completion.contains(" --template-file "),
        "{completion}"
    );
    assert_eq!(heat.lines(), [""; 0]);
}
