//! Persistence.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use kiln_sim::identity::{OpenError, project_id, user_id};
use serde_json::{Value, json};

use super::test_identity::{TestIdentity, password, project};

/// A file for one test, removed with it.
struct StateFile(PathBuf);

impl StateFile {
    fn new(name: &str) -> StateFile {
        let folder =
            std::env::temp_dir().join(format!("kiln-identity-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        StateFile(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("identity.json")
    }

    fn open(&self) -> TestIdentity {
        TestIdentity::open(Some(&self.file()), |_| {}).unwrap()
    }
}

impl Drop for StateFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn everything_survives_a_restart_tokens_too() {
    let scope_path = StateFile::new("restart");
    let service = scope_path.open();
    let joe = service.user("joe", "member");
    let token = service.log_in(password("joe", "joe", project("demo"))).token();
    let revoked = service.demo();
    service.ask_about("DELETE", "/v3/auth/tokens", &revoked, &revoked, Value::Null).has(204);
    let keys = format!("/v3/users/{joe}/credentials/OS-EC2");
    let key = service.post(&keys, &token, json!({ "tenant_id": project_id("demo") })).has(201);
    let trust = json!({ "trust": {
        "trustor_user_id": joe, "trustee_user_id": user_id("heat"), "project_id": project_id("demo"),
        "impersonation": true, "roles": [{ "name": "member" }],
    } });
    let trust = service.post("/v3/OS-TRUST/trusts", &token, trust).text_at("/trust/id");
    let group = json!({ "group": { "name": "g" } });
    let group = service.post("/v3/groups", &service.admin(), group).text_at("/group/id");
    let member = format!("/v3/groups/{group}/users/{joe}");
    service.put(&member, &service.admin()).has(204);
    let seen = service.get("/v3/users", &service.admin()).body["users"].clone();
    drop(service);

    let service = scope_path.open();
    assert_eq!(service.get("/v3/users", &service.admin()).body["users"], seen);
    service.get(&member, &service.admin()).has(204);
    assert_eq!(service.validate(&token).has(200).roles(), ["member", "reader"]);
    service.validate(&revoked).says(404, "Failed to validate token");
    assert_eq!(service.get(&keys, &token).body["credentials"][0], key.body["credential"]);
    let scope = json!({ "OS-TRUST:trust": { "id": trust } });
    service.log_in(password("heat", "secret", scope)).has(201);
    service.delete(&format!("/v3/users/{joe}"), &service.admin()).has(204);
    drop(service);

    let service = scope_path.open();
    service.validate(&token).says(404, &format!("Could not find user: {joe}."));
}

#[test]
fn passwords_of_services_stay_the_same() {
    let scope_path = StateFile::new("services");
    let open = || {
        TestIdentity::open(Some(&scope_path.file()), |settings| {
            settings.seed.service_password = None
        })
        .unwrap()
    };
    let first = open().identity.service_login().password.clone();
    let service = open();
    assert_eq!(service.identity.service_login().password, first);
    // A client changes the password; the login from inside the process still works.
    let path = format!("/v3/users/{}", user_id("heat"));
    service.patch(&path, &service.admin(), json!({ "user": { "password": "other" } })).has(200);
    drop(service);
    let service = open();
    service.log_in(password("heat", &first, project("service"))).has(201);
}

#[test]
fn a_restart_keeps_what_people_changed_and_renews_the_catalogue() {
    let scope_path = StateFile::new("renew");
    let service = scope_path.open();
    let path = format!("/v3/users/{}", user_id("demo"));
    service.patch(&path, &service.admin(), json!({ "user": { "password": "mine" } })).has(200);
    let own = json!({ "service": { "type": "compute", "name": "nova" } });
    service.post("/v3/services", &service.admin(), own).has(201);
    drop(service);
    let moved = |settings: &mut kiln_sim::identity::IdentityOptions| {
        settings.seed.services =
            vec![("orchestration".into(), "heat".into(), "http://moved/v1".into())];
    };
    let service = TestIdentity::open(Some(&scope_path.file()), moved).unwrap();
    let demo = service.log_in(password("demo", "mine", project("demo"))).has(201);
    let catalog = demo.body["token"]["catalog"].as_array().unwrap();
    let mut types: Vec<_> =
        catalog.iter().map(|service| service["type"].as_str().unwrap()).collect();
    types.sort_unstable();
    assert_eq!(types, ["compute", "orchestration"]);
    assert!(demo.text.contains("http://moved/v1") && !demo.text.contains("heat.example"));
}

#[test]
fn nobody_else_can_read_the_file_and_it_tells_no_password() {
    let scope_path = StateFile::new("private");
    let service = scope_path.open();
    service.user("joe", "member");
    let mode = fs::metadata(scope_path.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(scope_path.file()).unwrap();
    assert!(text.contains("$argon2id$"));
    assert!(!text.contains("\"joe-password\"") && !text.contains("\"secret\":\"secret\""));
}

#[test]
fn an_unfinished_change_is_dropped() {
    let scope_path = StateFile::new("torn");
    let service = scope_path.open();
    let joe = service.user("joe", "");
    service.user("jim", "");
    drop(service);
    let text = fs::read(scope_path.file()).unwrap();
    // A process that dies while writing leaves an incomplete line.
    let cut = text.len() - 7;
    fs::write(scope_path.file(), &text[..cut]).unwrap();
    let service = scope_path.open();
    let names = service.get("/v3/users?name__startswith=j", &service.admin()).column("users", "id");
    assert_eq!(names, [joe]);
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let scope_path = StateFile::new("corrupt");
    for (text, line) in [
        ("hello\n", 1),
        ("{\"kiln-identity\":2}\n", 1),
        ("{\"kiln-identity\":1}\n[[\"cats\",\"1\",{}]]\n", 2),
    ] {
        fs::write(scope_path.file(), text).unwrap();
        match TestIdentity::open(Some(&scope_path.file()), |_| {}) {
            Err(OpenError::Corrupt { line: at, .. }) => assert_eq!(at, line),
            other => panic!("{text}: {:?}", other.map(|_| ())),
        }
        assert_eq!(fs::read_to_string(scope_path.file()).unwrap(), text);
    }
}

#[test]
fn a_file_is_opened_once_at_a_time() {
    let scope_path = StateFile::new("lock");
    let service = scope_path.open();
    assert!(matches!(
        TestIdentity::open(Some(&scope_path.file()), |_| {}),
        Err(OpenError::InUse { .. })
    ));
    drop(service);
    scope_path.open();
}
