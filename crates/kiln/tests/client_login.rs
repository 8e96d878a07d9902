//! Logging in by way of others, and being asked for what is missing.

use crate::client_auth::{PASSWORD, cloud};
use crate::client_fake::{Answer, Asked, Fake, ok, refused, run, told, with};
use crate::test_directory::{Run, TestDirectory};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

const TOKEN: &str = "at-the-end";

/// An identity service, an identity provider, an authorisation server and an orchestration service.
fn everything() -> Fake {
    let answer = |asked: &Asked| -> Option<Answer> {
        let host = asked.header("host").unwrap_or_default().to_owned();
        let catalogue = json!([{"type": "orchestration", "endpoints": [
            {"interface": "public", "url": format!("http://{host}/v1/p")},
        ]}]);
        let token = json!({"token": {"project": {"id": "p"}, "catalog": catalogue}});
        match (&*asked.method, &*asked.path) {
            ("GET", "/idp/.well-known/openid-configuration") => ok(json!({
                "token_endpoint": format!("http://{host}/idp/token"),
                "device_authorization_endpoint": format!("http://{host}/idp/device"),
            })),
            ("POST", "/idp/token") if asked.body.as_str()?.contains("wrong") => {
                told(401, json!({"error": "invalid_grant", "error_description": "No such user."}))
            }
            ("POST", "/idp/token") => ok(json!({"access_token": "granted", "id_token": "named"})),
            ("POST", "/idp/device") => ok(json!({
                "device_code": "dev-1", "user_code": "AB-CD", "interval": 1,
                "verification_uri": "http://idp/device",
            })),
            ("POST", path) if path.starts_with("/v3/OS-FEDERATION/") => {
                with(told(201, json!({"token": {}})), "x-subject-token", "unscoped")
            }
            (_, "/v3/auth/tokens") => with(told(201, token), "x-subject-token", TOKEN),
            _ => ok(json!({"stacks": []})),
        }
    };
    Fake::new(answer)
}

fn list(cloud: &Fake, variables: &[(&str, &str)]) -> Run {
    let (keystone, discovery) =
        (cloud.url("/v3"), cloud.url("/idp/.well-known/openid-configuration"));
    let usual = [
        ("OS_AUTH_URL", &*keystone),
        ("OS_PROJECT_ID", "p"),
        ("OS_IDENTITY_PROVIDER", "corp"),
        ("OS_PROTOCOL", "openid"),
        ("OS_DISCOVERY_ENDPOINT", &discovery),
        ("OS_CLIENT_ID", "kiln"),
        ("OS_CLIENT_SECRET", "client-secret"),
    ];
    let is_other = |(name, _): &(&str, &str)| variables.iter().all(|(given, _)| given != name);
    let usual: Vec<(&str, &str)> = usual.into_iter().filter(is_other).collect();
    let all = [&usual[..], variables].concat();
    run(&TestDirectory::with(&[]), &["stack", "list", "-f", "json", "--debug"], &all)
}

fn lines(cloud: &Fake) -> Vec<String> {
    cloud.asked().iter().map(Asked::line).collect()
}

const FEDERATED: &str = "POST /v3/OS-FEDERATION/identity_providers/corp/protocols/openid/auth";

#[test]
fn an_identity_provider_vouches_for_a_user_and_the_token_is_scoped() {
    let cloud = everything();
    let user =
        [("OS_AUTH_TYPE", "v3oidcpassword"), ("OS_USERNAME", "ana"), ("OS_PASSWORD", PASSWORD)];
    let ran = list(&cloud, &user);
    assert_eq!((ran.status, &*ran.out), (0, "[]\n"), "{}", ran.err);
    assert_eq!(
        lines(&cloud),
        [
            "GET /idp/.well-known/openid-configuration",
            "POST /idp/token",
            FEDERATED,
            "POST /v3/auth/tokens",
            "GET /v1/p/stacks",
        ]
    );
    let asked = cloud.asked();
    let form = asked[1].body.as_str().expect("a form");
    assert_eq!(form, "grant_type=password&username=ana&password=hunter2&scope=openid+profile");
    let basic = asked[1].header("authorization").expect("the client");
    assert_eq!(basic, "Basic a2lsbjpjbGllbnQtc2VjcmV0");
    assert_eq!(asked[2].header("authorization"), Some("Bearer granted"));
    let auth = &asked[3].body["auth"];
    assert_eq!(auth["identity"], json!({"methods": ["token"], "token": {"id": "unscoped"}}));
    assert_eq!(auth["scope"], json!({"project": {"id": "p"}}));
    assert_eq!(asked[4].header("x-auth-token"), Some(TOKEN));
    for secret in [PASSWORD, "client-secret", "granted", "unscoped", TOKEN, "a2lsbjpj"] {
        assert!(!ran.err.contains(secret), "{secret} in {}", ran.err);
    }
}

#[test]
fn clients_and_tokens_are_vouched_for_too() {
    let cloud = everything();
    let alone = [("OS_AUTH_TYPE", "v3oidcclientcredentials"), ("OS_CLIENT_SECRET", "")];
    assert_eq!(list(&cloud, &alone).status, 0);
    let form = cloud.asked()[1].body.clone();
    assert_eq!(form, "grant_type=client_credentials&scope=openid+profile&client_id=kiln");
    let cloud = everything();
    let given = [("OS_AUTH_TYPE", "v3oidcaccesstoken"), ("OS_ACCESS_TOKEN", "mine")];
    assert_eq!(list(&cloud, &given).status, 0);
    assert_eq!(cloud.asked()[0].line(), FEDERATED);
    assert_eq!(cloud.asked()[0].header("authorization"), Some("Bearer mine"));
    let cloud = everything();
    let code = [
        ("OS_AUTH_TYPE", "v3oidcauthcode"),
        ("OS_AUTHORIZATION_CODE", "c0de"),
        ("OS_REDIRECT_URI", "http://here"),
        ("OS_ACCESS_TOKEN_TYPE", "id_token"),
    ];
    assert_eq!(list(&cloud, &code).status, 0);
    let form = cloud.asked()[1].body.clone();
    assert_eq!(form, "grant_type=authorization_code&redirect_uri=http%3A%2F%2Fhere&code=c0de");
    assert_eq!(cloud.asked()[2].header("authorization"), Some("Bearer named"));
    let cloud = everything();
    let ran = list(&cloud, &[("OS_AUTH_TYPE", "v3oidcdeviceauthz")]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let page = "Open http://idp/device in a browser and enter AB-CD there.\n";
    assert!(ran.err.contains(page), "{}", ran.err);
    let form = cloud.asked()[2].body.clone();
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code";
    assert_eq!(form, format!("grant_type={grant}&device_code=dev-1"));
}

#[test]
fn an_authorisation_server_gives_a_token_that_goes_along() {
    let cloud = everything();
    let endpoint = cloud.url("/idp/token");
    let client = [
        ("OS_AUTH_TYPE", "v3oauth2clientcredential"),
        ("OS_OAUTH2_ENDPOINT", &*endpoint),
        ("OS_OAUTH2_CLIENT_ID", "i"),
        ("OS_OAUTH2_CLIENT_SECRET", "s"),
    ];
    assert_eq!(list(&cloud, &client).status, 0);
    let asked = cloud.asked();
    let proof = json!({"id": "i", "secret": "s"});
    let identity = json!({"methods": ["application_credential"], "application_credential": proof});
    assert_eq!(asked[0].body, json!({"auth": {"identity": identity}}));
    assert_eq!(asked[1].body, "grant_type=client_credentials");
    assert_eq!(asked[1].header("authorization"), Some("Basic aTpz"));
    assert_eq!(asked[2].header("authorization"), Some("Bearer granted"));
    assert_eq!(asked[2].header("x-auth-token"), Some(TOKEN));
    let cloud = everything();
    let endpoint = cloud.url("/idp/token");
    let certificate = [
        ("OS_AUTH_TYPE", "v3oauth2mtlsclientcredential"),
        ("OS_OAUTH2_ENDPOINT", &*endpoint),
        ("OS_OAUTH2_CLIENT_ID", "i"),
    ];
    assert_eq!(list(&cloud, &certificate).status, 0);
    let asked = cloud.asked();
    assert_eq!(asked[0].body, "grant_type=client_credentials&client_id=i");
    assert_eq!(asked[1].line(), "GET /v3/auth/tokens");
    assert_eq!(asked[1].header("x-subject-token"), Some("granted"));
    assert_eq!(asked[2].header("x-auth-token"), Some("granted"));
}

#[test]
fn what_others_refuse_is_told_with_a_next_step() {
    let cloud = everything();
    let wrong =
        [("OS_AUTH_TYPE", "v3oidcpassword"), ("OS_USERNAME", "wrong"), ("OS_PASSWORD", PASSWORD)];
    let ran = list(&cloud, &wrong);
    let told =
        format!("{} did not issue a token (HTTP 401): No such user.\n", cloud.url("/idp/token"));
    assert!(ran.status == 1 && ran.err.contains(&told), "{}", ran.err);
    let lacking = [("OS_AUTH_TYPE", "v3oidcclientcredentials"), ("OS_IDENTITY_PROVIDER", "")];
    let ran = list(&cloud, &lacking);
    assert_eq!(
        ran.err,
        "The name of the identity provider is missing.\nSet OS_IDENTITY_PROVIDER or \
         --os-identity-provider, or select a cloud of clouds.yaml with OS_CLOUD.\n"
    );
}

#[test]
fn a_service_may_ask_for_user_and_password_itself() {
    let cloud = everything();
    let endpoint = cloud.url("/v1/p");
    let directory = TestDirectory::with(&[]);
    let ran = run(
        &directory,
        &["stack", "list", "--debug"],
        &[
            ("OS_AUTH_TYPE", "http_basic"),
            ("OS_ENDPOINT", &endpoint),
            ("OS_USERNAME", "ana"),
            ("OS_PASSWORD", PASSWORD),
        ],
    );
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(cloud.asked()[0].header("authorization"), Some("Basic YW5hOmh1bnRlcjI="));
    assert!(!ran.err.contains("YW5hOmh1bnRlcjI"), "{}", ran.err);
}

#[test]
fn a_password_is_asked_for_at_a_terminal_and_never_shown() {
    let cloud = cloud(|_| ok(json!({"stacks": []})));
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("its name");
    let end = || {
        let path = name.to_str().expect("a path");
        File::options().read(true).write(true).open(path).expect("its end")
    };
    let directory = TestDirectory::with(&[]);
    let mut command = directory.command(&["stack", "list", "-f", "json"]);
    command.stdin(Stdio::from(end())).stderr(Stdio::from(end()));
    let url = cloud.url("");
    command.env("OS_AUTH_URL", &url).env("OS_USERNAME", "ana").env("OS_PROJECT_NAME", "shop");
    let child = command.spawn().expect("the program");
    drop(command);
    let mut terminal = File::from(master);
    let mut seen = String::new();
    let mut buffer = [0; 256];
    while !seen.contains("Password: ") {
        let count = terminal.read(&mut buffer).expect("a question");
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    terminal.write_all(format!("{PASSWORD}\n").as_bytes()).expect("an answer");
    let output = child.wait_with_output().expect("an end");
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"[]\n"[..]), "{seen}");
    // The other end is closed by now: what is left is read, then an error comes.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    assert_eq!(seen.trim_end(), "Password:");
    let user = &cloud.asked()[0].body["auth"]["identity"]["password"]["user"];
    assert_eq!(user["password"], PASSWORD);
}

#[test]
fn more_is_told_to_whoever_wants_it_and_less_to_whoever_does_not() {
    let cloud = Fake::heat(|_| {
        let error = json!({"type": "X", "message": "boom", "traceback": "at line 7\n"});
        let body: Value = json!({"code": 500, "title": "Internal Error", "error": error});
        with(told(500, body), "x-openstack-request-id", "req-1")
    });
    let directory = TestDirectory::with(&[]);
    let err = |words: &[&str]| cloud.run(&directory, &[words, &["stack", "list"]].concat()).err;
    let usual = "ERROR: boom\nReport the request id req-1 to the operator.\n";
    assert_eq!(err(&[]), usual);
    assert_eq!(err(&["-q"]), "ERROR: boom\n");
    let loud = err(&["-v"]);
    assert!(loud.starts_with("INFO GET http://127.0.0.1:"), "{loud}");
    assert!(loud.contains("/v1/p/stacks: 500 after "), "{loud}");
    assert!(loud.contains("ERROR: boom\nat line 7\nReport the request id req-1"), "{loud}");
    let classic = cloud.run_classic(&directory, &["-q", "stack-list"]).err;
    assert_eq!(classic, "ERROR: boom\n");
    let fine = Fake::heat(|asked| match &*asked.path {
        "/stacks" => ok(json!({"stacks": []})),
        _ => refused(404, "NotFound", "no"),
    });
    let noted = ["-q", "stack", "list", "-f", "json", "--log-file", "log"];
    let ran = fine.run(&directory, &noted);
    assert_eq!((&*ran.out, &*ran.err), ("[]\n", ""));
    let log = std::fs::read_to_string(directory.path().join("log")).expect("a log");
    assert!(log.starts_with("INFO GET ") && log.contains("/v1/p/stacks: 200 after"), "{log}");
}
