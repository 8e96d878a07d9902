//! Logging in: the cloud, the user, and the secrets that no output shows.

use crate::client_fake::{Answer, Asked, Fake, ok, refused, run, told, with};
use crate::test_directory::{Run, TestDirectory};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const PASSWORD: &str = "hunter2";
const TOKEN: &str = "gAAAA-token";

/// A cloud with an identity service and an orchestration service in two regions.
pub(crate) fn cloud(heat: impl Fn(&Asked) -> Option<Answer> + Send + 'static) -> Fake {
    let port = Arc::new(AtomicUsize::new(0));
    let inner = port.clone();
    let fake = Fake::new(move |asked| match (&*asked.method, &*asked.path) {
        ("POST", "/v3/auth/tokens") => {
            let user = &asked.body["auth"]["identity"]["password"]["user"];
            if user.is_object() && user["password"] != PASSWORD {
                let error = json!({"error": {"message": "The request you have made requires authentication."}});
                return with(told(401, error), "x-openstack-request-id", "req-9");
            }
            let base = format!("http://127.0.0.1:{}", inner.load(Ordering::SeqCst));
            let endpoint = |region: &str, interface: &str| json!({"region_id": region, "interface": interface, "url": format!("{base}/{region}/{interface}/v1/p/")});
            let endpoints = json!([
                endpoint("one", "internal"),
                endpoint("one", "public"),
                endpoint("two", "public")
            ]);
            let catalogue = json!([
                {"type": "identity", "endpoints": [endpoint("x", "public")]},
                {"type": "object-store", "endpoints": [endpoint("one", "public")]},
                {"type": "orchestration", "endpoints": endpoints},
            ]);
            let token = json!({"token": {"project": {"id": "p"}, "catalog": catalogue}});
            with(told(201, token), "x-subject-token", TOKEN)
        }
        _ => heat(asked),
    });
    port.store(fake_port(&fake), Ordering::SeqCst);
    fake
}

fn fake_port(fake: &Fake) -> usize {
    fake.url("").rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port")
}

fn empty(_: &Asked) -> Option<Answer> {
    ok(json!({"stacks": []}))
}

fn list(cloud: &Fake, variables: &[(&str, &str)], more: &[&str]) -> Run {
    let url = cloud.url("");
    let usual = [
        ("OS_AUTH_URL", &*url),
        ("OS_USERNAME", "ana"),
        ("OS_PASSWORD", PASSWORD),
        ("OS_PROJECT_NAME", "shop"),
    ];
    let directory = TestDirectory::with(&[]);
    run(
        &directory,
        &[&["stack", "list", "-f", "json"][..], more].concat(),
        &[&usual[..], variables].concat(),
    )
}

#[test]
fn a_token_is_got_and_the_endpoint_found() {
    let cloud = cloud(empty);
    let run = list(&cloud, &[("OS_USER_DOMAIN_NAME", "d"), ("OS_REGION_NAME", "two")], &[]);
    assert_eq!((run.status, &*run.out, &*run.err), (0, "[]\n", ""));
    let asked = cloud.asked();
    let user = json!({"name": "ana", "domain": {"name": "d"}, "password": PASSWORD});
    let identity = json!({"methods": ["password"], "password": {"user": user}});
    let scope = json!({"project": {"name": "shop", "domain": {"id": "default"}}});
    assert_eq!(asked[0].body, json!({"auth": {"identity": identity, "scope": scope}}));
    assert_eq!(asked[1].line(), "GET /two/public/v1/p/stacks");
    assert_eq!(asked[1].header("x-auth-token"), Some(TOKEN));
    assert_eq!(asked[1].header("x-region-name"), Some("two"));
    assert!(asked[1].header("user-agent").is_some_and(|agent| agent.starts_with("kiln/")));
}

#[test]
fn options_count_more_than_variables() {
    let cloud = cloud(empty);
    let run = list(
        &cloud,
        &[("OS_INTERFACE", "admin")],
        &["--os-interface", "internal", "--os-project-id", "7"],
    );
    assert_eq!(run.status, 0, "{}", run.err);
    let asked = cloud.asked();
    assert_eq!(asked[0].body["auth"]["scope"], json!({"project": {"id": "7"}}));
    assert_eq!(asked[1].line(), "GET /one/internal/v1/p/stacks");
}

#[test]
fn what_is_missing_or_wrong_is_told_with_a_next_step() {
    let cloud = cloud(empty);
    let run = list(&cloud, &[("OS_PASSWORD", "wrong")], &[]);
    assert_eq!(run.status, 1);
    let first = run.err.lines().next().expect("a line");
    assert_eq!(
        first,
        "The request you have made requires authentication. (HTTP 401) (Request-ID: req-9)"
    );
    assert!(run.err.contains("Check user, password, project"), "{}", run.err);
    let run = list(&cloud, &[("OS_REGION_NAME", "nowhere")], &[]);
    assert_eq!(
        run.err,
        "The catalogue has no public endpoint for orchestration in region nowhere.\n\
         Check OS_REGION_NAME and OS_INTERFACE; the catalogue has the service for others.\n"
    );
    let directory = TestDirectory::with(&[]);
    let run = crate::client_fake::run(&directory, &["stack", "list"], &[]);
    assert_eq!((run.status, run.err.lines().next()), (1, Some("No cloud is selected.")));
    let run = crate::client_fake::run(
        &directory,
        &["stack", "list"],
        &[("OS_AUTH_URL", "http://127.0.0.1:9/v3")],
    );
    assert_eq!(run.err.lines().next(), Some("The user is missing."));
    let refused =
        [("OS_AUTH_URL", "http://127.0.0.1:9/v3"), ("OS_USERNAME", "u"), ("OS_PASSWORD", PASSWORD)];
    let run = crate::client_fake::run(&directory, &["stack", "list"], &refused);
    let told = "Unable to establish connection to http://127.0.0.1:9/v3/auth/tokens: ";
    assert!(run.status == 1 && run.err.starts_with(told), "{}", run.err);
}

#[test]
fn clouds_are_read_from_files() {
    let cloud = cloud(empty);
    let clouds = format!(
        "clouds:\n  mine:\n    auth: {{auth_url: '{}', username: bob, project_id: '8'}}\n    region_name: one\n  \
         other:\n    auth_type: none\n    endpoint: {}\n",
        cloud.url("/v3"),
        cloud.url("/direct"),
    );
    let secure = format!("clouds:\n  mine:\n    auth: {{password: {PASSWORD}}}\n");
    let directory = TestDirectory::with(&[
        ("clouds.yaml", &clouds),
        ("home/.config/openstack/secure.yaml", &secure),
    ]);
    let home = directory.path().join("home");
    let home = home.to_str().expect("a path");
    let at = |arguments: &[&str], cloud: &str| {
        run(&directory, arguments, &[("HOME", home), ("OS_CLOUD", cloud)])
    };
    let listed = at(&["stack", "list", "-f", "value"], "mine");
    assert_eq!((listed.status, &*listed.err), (0, ""));
    assert_eq!(cloud.asked()[0].body["auth"]["identity"]["password"]["user"]["name"], "bob");
    assert_eq!(cloud.asked()[1].line(), "GET /one/public/v1/p/stacks");
    at(&["stack", "--os-cloud", "other", "list"], "mine");
    assert_eq!(cloud.asked()[2].line(), "GET /direct/stacks");
    assert_eq!(cloud.asked()[2].header("x-auth-token"), None);
    let unknown = at(&["stack", "list"], "mien");
    assert_eq!(unknown.status, 1);
    assert!(
        unknown.err.starts_with("Cloud mien was not found.\ndid you mean `mine`?"),
        "{}",
        unknown.err
    );
    let none = run(&directory, &["stack", "list"], &[("HOME", home)]);
    assert_eq!(
        none.err,
        "No cloud is selected.\nChoose one with OS_CLOUD or --os-cloud: mine, other\n"
    );
}

#[test]
fn a_token_that_has_run_out_is_replaced_once() {
    let count = AtomicUsize::new(0);
    let cloud = cloud(move |asked| match count.fetch_add(1, Ordering::SeqCst) {
        0 => told(401, json!({"error": {"message": "expired"}})),
        _ => empty(asked),
    });
    assert_eq!(list(&cloud, &[], &[]).status, 0);
    let lines: Vec<String> = cloud.asked().iter().map(Asked::line).collect();
    let stacks = "GET /one/public/v1/p/stacks";
    assert_eq!(lines, ["POST /v3/auth/tokens", stacks, "POST /v3/auth/tokens", stacks]);
    let closed = self::cloud(|_| told(401, json!({"error": {"message": "The token is no good."}})));
    let run = list(&closed, &[], &[]);
    assert_eq!((run.status, closed.asked().len()), (1, 4));
    assert_eq!(run.err, "ERROR: The token is no good.\n");
}

#[test]
fn no_secret_is_ever_told() {
    let cloud = cloud(|asked| match &*asked.path {
        "/one/public/v1/p/stacks" => empty(asked),
        _ => refused(500, "X", "boom"),
    });
    for more in [
        &["--debug", "--timing"][..],
        &["--debug", "--marker", "x"],
        &["--debug", "--os-password", PASSWORD],
    ] {
        let run = list(&cloud, &[], more);
        assert!(run.err.contains("DEBUG REQ: curl -g -i -X GET "), "{}", run.err);
        assert!(run.err.contains("-H \"x-auth-token: {SHA256}"), "{}", run.err);
        for secret in [PASSWORD, TOKEN] {
            assert!(
                !run.err.contains(secret) && !run.out.contains(secret),
                "{more:?}: {}",
                run.err
            );
        }
    }
    let url = cloud.url("").replace("http://", "http://ana:hunter2@");
    let run = list(&cloud, &[("OS_AUTH_URL", &url)], &["--debug"]);
    assert!(!run.err.contains(PASSWORD), "{}", run.err);
}

#[test]
fn a_token_and_an_endpoint_are_enough() {
    let cloud = cloud(empty);
    let endpoint = cloud.url("/v1");
    let directory = TestDirectory::with(&[]);
    let variables = [("OS_TOKEN", "abc"), ("OS_ENDPOINT", &*endpoint), ("OS_PROJECT_ID", "77")];
    assert_eq!(run(&directory, &["stack", "list"], &variables).status, 0);
    let asked = &cloud.asked()[0];
    assert_eq!(
        (asked.line(), asked.header("x-auth-token")),
        ("GET /v1/77/stacks".into(), Some("abc"))
    );
    let credential = [
        ("OS_AUTH_URL", &*cloud.url("/v3")),
        ("OS_AUTH_TYPE", "v3applicationcredential"),
        ("OS_APPLICATION_CREDENTIAL_ID", "i"),
        ("OS_APPLICATION_CREDENTIAL_SECRET", "s"),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let credential: Vec<(&str, &str)> =
        credential.iter().map(|(name, value)| (*name, &**value)).collect();
    assert_eq!(run(&directory, &["stack", "list"], &credential).status, 0);
    let auth: Value = cloud.asked()[1].body["auth"].clone();
    let proof = json!({"id": "i", "secret": "s"});
    assert_eq!(
        auth["identity"],
        json!({"methods": ["application_credential"], "application_credential": proof})
    );
    assert_eq!(auth.get("scope"), None);
}
