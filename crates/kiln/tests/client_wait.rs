//! Waiting for a stack, and what gets in the way.

use crate::client_fake::{Answer, Asked, Fake, found, nothing, ok, refused, told, with};
use crate::server::wait;
use crate::test_directory::{Run, TestDirectory};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

const TEMPLATE: (&str, &str) = ("t.yaml", "heat_template_version: 2021-04-16\n");

fn event(id: &str, resource: &str, status: &str) -> Value {
    let physical = if resource == "web" { "1" } else { "web-net-x" };
    json!({
        "id": id, "resource_name": resource, "resource_status": status, "physical_resource_id": physical,
        "resource_status_reason": "state changed", "event_time": "2026-11-15T19:11:02Z",
        "links": [{"rel": "stack", "href": "http://h/v1/p/stacks/web/1"}],
    })
}

/// A service that makes a stack `web`: each look at its events gives the next ones.
fn making(looks: Vec<Option<Vec<Value>>>, status: &'static str) -> Fake {
    let looked = AtomicUsize::new(0);
    Fake::heat(move |asked| match (&*asked.method, &*asked.path) {
        ("POST", "/stacks") => told(201, json!({"stack": {"id": "1"}})),
        ("GET", "/stacks/web") => found("http://h/v1/p/stacks/web/1"),
        ("GET", "/stacks/web/1") => ok(
            json!({"stack": {"id": "1", "stack_name": "web", "stack_status": status, "disable_rollback": true}}),
        ),
        ("GET", "/stacks/web/1/events") if asked.query.contains("sort_dir=desc") => {
            ok(json!({"events": [event("e0", "web", "CREATE_COMPLETE")]}))
        }
        ("GET", "/stacks/web/1/events") => match looks.get(looked.fetch_add(1, Ordering::SeqCst)) {
            Some(None) => None,
            Some(Some(events)) => ok(json!({ "events": events })),
            None => ok(json!({"events": []})),
        },
        ("DELETE", "/stacks/web/1") => nothing(204),
        ("POST", "/stacks/web/1/actions") => ok(json!(null)),
        _ => refused(404, "EntityNotFound", "nothing here"),
    })
}

fn create(heat: &Fake, more: &[&str]) -> Run {
    let directory = TestDirectory::with(&[TEMPLATE]);
    let words = ["stack", "create", "-t", "t.yaml", "--wait", "--poll", "0.01", "web"];
    heat.run(&directory, &[&words[..], more].concat())
}

#[test]
fn the_last_events_are_shown_although_the_stack_came_to_rest_before_they_were_read() {
    let looks = vec![
        Some(vec![event("e1", "web", "CREATE_IN_PROGRESS")]),
        Some(vec![]),
        Some(vec![]),
        // The state of the stack is read here, and says that it is complete.
        Some(vec![event("e2", "net", "CREATE_COMPLETE"), event("e3", "web", "CREATE_COMPLETE")]),
    ];
    let run = create(&making(looks, "CREATE_COMPLETE"), &["-f", "value", "-c", "stack_status"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert_eq!(run.out.lines().count(), 4, "{}", run.out);
    assert!(run.out.contains(" e3 [web]: CREATE_COMPLETE"), "{}", run.out);
}

#[test]
fn events_are_told_as_they_come() {
    let heat = making(
        vec![
            Some(vec![event("e1", "web", "CREATE_IN_PROGRESS")]),
            Some(vec![]),
            // A connection that breaks does not end the wait.
            None,
            Some(vec![
                event("e2", "net", "CREATE_IN_PROGRESS"),
                event("e3", "net", "CREATE_COMPLETE"),
            ]),
            Some(vec![event("e4", "web", "CREATE_COMPLETE")]),
        ],
        "CREATE_COMPLETE",
    );
    let run = create(&heat, &["-f", "value", "-c", "stack_status"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert_eq!(
        run.out,
        "\
2026-11-15 19:11:02Z e1 [web]: CREATE_IN_PROGRESS  state changed
2026-11-15 19:11:02Z e2 [web.net]: CREATE_IN_PROGRESS  state changed
2026-11-15 19:11:02Z e3 [web.net]: CREATE_COMPLETE  state changed
2026-11-15 19:11:02Z e4 [web]: CREATE_COMPLETE  state changed
CREATE_COMPLETE
"
    );
    let lines = heat.lines();
    assert_eq!(
        lines[1..],
        [
            "GET /stacks/web/1/events?sort_dir=asc",
            "GET /stacks/web/1/events?sort_dir=asc&marker=e1",
            "GET /stacks/web/1/events?sort_dir=asc&marker=e1",
            "GET /stacks/web/1/events?sort_dir=asc&marker=e1",
            "GET /stacks/web/1/events?sort_dir=asc&marker=e3",
            "GET /stacks/web/1?resolve_outputs=False",
        ]
    );
}

#[test]
fn a_stream_tells_when_to_look() {
    let looks = vec![
        Some(vec![event("e1", "web", "CREATE_IN_PROGRESS")]),
        Some(vec![event("e2", "web", "CREATE_COMPLETE")]),
    ];
    let polled = making(looks, "CREATE_COMPLETE");
    let base = polled.url("/v1/p");
    let client = kiln_cloud::client_builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().expect("a client");
    // All but streams is answered by the other one.
    let heat = Fake::heat(move |asked| {
        if asked.header("accept") == Some("text/event-stream") {
            let last = asked.header("last-event-id").unwrap_or_default();
            let stream = told(200, json!(null)).map(|told| {
                told.with_body(&format!(": after {last}\n\nid: e2\nevent: event\ndata: {{}}\n\n"))
            });
            return with(stream, "content-type", "text/event-stream");
        }
        let url = format!("{base}{}?{}", asked.path, asked.query);
        let method = asked.method.parse().expect("a method");
        wait(async {
            let reply = client.request(method, url).json(&asked.body).send().await.expect("it");
            let (status, location) =
                (reply.status().as_u16(), reply.headers().get("location").cloned());
            let body = reply.text().await.expect("a body");
            let told = told(status, json!(null)).map(|told| told.with_body(&body));
            match location.as_ref().and_then(|location| location.to_str().ok()) {
                Some(location) => with(told, "location", location),
                None => told,
            }
        })
    });
    let directory = TestDirectory::with(&[TEMPLATE]);
    let run = heat.run(&directory, &["stack", "create", "-t", "t.yaml", "--wait", "web"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert!(run.out.contains("e2 [web]: CREATE_COMPLETE  state changed\n"), "{}", run.out);
    let asked = heat.asked();
    let stream = asked.iter().find(|it| it.header("accept") == Some("text/event-stream"));
    let stream = stream.expect("a stream");
    assert_eq!(stream.line(), "GET /v1/p/stacks/web/1/events?nested_depth=0");
    assert_eq!(stream.header("last-event-id"), Some("e1"));
}

#[test]
fn a_failure_is_told_as_scripts_know_it() {
    let failed = vec![event("e1", "net", "CREATE_FAILED"), event("e2", "web", "CREATE_FAILED")];
    let run = create(&making(vec![Some(failed)], "CREATE_FAILED"), &[]);
    assert_eq!((run.status, &*run.err), (1, "\n Stack web CREATE_FAILED \n\n"));
    assert!(run.out.ends_with("[web]: CREATE_FAILED  state changed\n"), "{}", run.out);
}

#[test]
fn a_rollback_is_waited_for() {
    let heat = making(
        vec![
            Some(vec![event("e1", "web", "CREATE_FAILED")]),
            Some(vec![event("e2", "web", "ROLLBACK_IN_PROGRESS")]),
            Some(vec![event("e3", "web", "ROLLBACK_COMPLETE")]),
        ],
        "ROLLBACK_IN_PROGRESS",
    );
    let run = create(&heat, &["--enable-rollback"]);
    assert_eq!((run.status, &*run.err), (1, "\n Stack web CREATE_FAILED \n\n"));
    assert!(run.out.ends_with("[web]: ROLLBACK_COMPLETE  state changed\n"), "{}", run.out);
}

#[test]
fn a_stack_whose_events_are_lost_is_asked_itself() {
    let run = create(&making(vec![], "CREATE_COMPLETE"), &["-f", "value", "-c", "stack_status"]);
    assert_eq!((run.status, &*run.out), (0, "CREATE_COMPLETE\n"));
}

#[test]
fn waiting_ends_when_the_user_has_waited_enough() {
    let run = create(&making(vec![], "CREATE_IN_PROGRESS"), &["--wait-timeout", "0.05"]);
    assert_eq!(run.status, 4);
    assert_eq!(
        run.err,
        "Stack web is still in CREATE_IN_PROGRESS; the action continues.\n\
         `kiln stack event list --follow web` shows its progress.\n"
    );
}

#[test]
fn an_interruption_leaves_the_stack_alone() {
    let heat = making(vec![], "CREATE_IN_PROGRESS");
    let directory = TestDirectory::with(&[TEMPLATE]);
    let mut command =
        directory.command(&["stack", "create", "-t", "t.yaml", "--wait", "--poll", "0.01", "web"]);
    command.env("OS_AUTH_TYPE", "none").env("OS_ENDPOINT", heat.url("/v1/p"));
    let child = command.spawn().expect("the program");
    while !heat.lines().iter().any(|line| line.contains("/events")) {
        std::thread::yield_now();
    }
    let status =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill").success());
    let run = Run::from(child.wait_with_output().expect("an end"));
    assert_eq!(run.status, 130);
    assert_eq!(
        run.err,
        "Interrupted.\nThe action continues. `kiln stack event list --follow web` shows its progress.\n"
    );
}

#[test]
fn only_what_comes_after_the_last_event_counts() {
    let deleted =
        vec![event("e1", "web", "DELETE_IN_PROGRESS"), event("e2", "web", "DELETE_COMPLETE")];
    let heat = making(vec![Some(deleted)], "DELETE_COMPLETE");
    let directory = TestDirectory::with(&[]);
    let run = heat.run(&directory, &["stack", "delete", "--wait", "--poll", "0.01", "web"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert_eq!(
        run.out,
        "2026-11-15 19:11:02Z e1 [web]: DELETE_IN_PROGRESS  state changed\n\
         2026-11-15 19:11:02Z e2 [web]: DELETE_COMPLETE  state changed\n"
    );
    assert!(heat.lines().contains(&"GET /stacks/web/1/events?sort_dir=asc&marker=e0".to_owned()));
}

#[test]
fn actions_are_waited_for_and_listed() {
    let done = vec![event("e1", "web", "SUSPEND_COMPLETE")];
    let heat = making(vec![Some(done)], "SUSPEND_COMPLETE");
    let directory = TestDirectory::with(&[]);
    let words = [
        "stack",
        "suspend",
        "--wait",
        "--poll",
        "0.01",
        "web",
        "-f",
        "value",
        "-c",
        "Stack Status",
    ];
    let run = heat.run(&directory, &words);
    assert_eq!(
        run.out,
        "2026-11-15 19:11:02Z e1 [web]: SUSPEND_COMPLETE  state changed\nSUSPEND_COMPLETE\n"
    );
    let sent: Vec<Asked> =
        heat.asked().into_iter().filter(|asked| asked.method == "POST").collect();
    assert_eq!((sent.len(), &sent[0].body), (1, &json!({"suspend": null})));
}

#[test]
fn only_what_is_in_progress_can_be_broken_off() {
    let directory = TestDirectory::with(&[]);
    let cancel = |status: &'static str, more: &[&str]| -> (Run, Option<Value>) {
        let heat = making(vec![], status);
        let run = heat.run(&directory, &[&["stack", "cancel", "web"][..], more].concat());
        let sent = heat.asked().into_iter().find(|asked| asked.method == "POST");
        (run, sent.map(|asked| asked.body))
    };
    let (run, sent) = cancel("CREATE_IN_PROGRESS", &[]);
    assert_eq!(run.err, "Stack web with status 'create_in_progress' not in cancelable state\n");
    assert_eq!((run.status, sent), (1, None));
    let (run, sent) = cancel("CREATE_IN_PROGRESS", &["--no-rollback"]);
    assert_eq!((run.status, sent), (0, Some(json!({"cancel_without_rollback": null}))));
    let (_, sent) = cancel("UPDATE_IN_PROGRESS", &[]);
    assert_eq!(sent, Some(json!({"cancel_update": null})));
}

#[test]
fn answers_may_be_strange() {
    let strange = |body: fn() -> Option<Answer>| {
        let heat = Fake::heat(move |asked| match &*asked.method {
            "POST" => body(),
            _ => ok(json!([1])),
        });
        create(&heat, &[])
    };
    let run = strange(|| ok(json!([])));
    assert_eq!(
        (run.status, &*run.err),
        (1, "The response does not contain the id of the new stack.\n")
    );
    let run = strange(|| found("http://evil.example/steal"));
    assert_eq!(run.status, 1);
    assert!(
        run.err.starts_with("The service redirects to http://evil.example/steal, which is not"),
        "{}",
        run.err
    );
    let run = strange(|| nothing(302));
    assert_eq!((run.status, &*run.err), (1, "Location not returned with redirect\n"));
}
