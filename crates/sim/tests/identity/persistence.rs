//! What is on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use kiln_sim::identity::{OpenError, project_id, user_id};
use serde_json::{Value, json};

use super::world::{World, password, project};

/// A file of its own for every test, removed with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let folder =
            std::env::temp_dir().join(format!("kiln-identity-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Place(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("identity.json")
    }

    fn open(&self) -> World {
        World::open(Some(&self.file()), |_| {}).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn everything_survives_a_restart_tokens_too() {
    let place = Place::new("restart");
    let world = place.open();
    let joe = world.user("joe", "member");
    let token = world.log_in(password("joe", "joe", project("demo"))).token();
    let revoked = world.demo();
    world.ask_about("DELETE", "/v3/auth/tokens", &revoked, &revoked, Value::Null).has(204);
    let keys = format!("/v3/users/{joe}/credentials/OS-EC2");
    let key = world.post(&keys, &token, json!({ "tenant_id": project_id("demo") })).has(201);
    let trust = json!({ "trust": {
        "trustor_user_id": joe, "trustee_user_id": user_id("heat"), "project_id": project_id("demo"),
        "impersonation": true, "roles": [{ "name": "member" }],
    } });
    let trust = world.post("/v3/OS-TRUST/trusts", &token, trust).text_at("/trust/id");
    let group = json!({ "group": { "name": "g" } });
    let group = world.post("/v3/groups", &world.admin(), group).text_at("/group/id");
    let member = format!("/v3/groups/{group}/users/{joe}");
    world.put(&member, &world.admin()).has(204);
    let seen = world.get("/v3/users", &world.admin()).body["users"].clone();
    drop(world);

    let world = place.open();
    assert_eq!(world.get("/v3/users", &world.admin()).body["users"], seen);
    world.get(&member, &world.admin()).has(204);
    assert_eq!(world.validate(&token).has(200).roles(), ["member", "reader"]);
    world.validate(&revoked).says(404, "Failed to validate token");
    assert_eq!(world.get(&keys, &token).body["credentials"][0], key.body["credential"]);
    let scope = json!({ "OS-TRUST:trust": { "id": trust } });
    world.log_in(password("heat", "secret", scope)).has(201);
    world.delete(&format!("/v3/users/{joe}"), &world.admin()).has(204);
    drop(world);

    let world = place.open();
    world.validate(&token).says(404, &format!("Could not find user: {joe}."));
}

#[test]
fn passwords_of_services_stay_the_same() {
    let place = Place::new("services");
    let open = || {
        World::open(Some(&place.file()), |settings| settings.seed.service_password = None).unwrap()
    };
    let first = open().identity.service_login().password.clone();
    let world = open();
    assert_eq!(world.identity.service_login().password, first);
    // Somebody changes it: whoever opens the service can log in again all the same.
    let path = format!("/v3/users/{}", user_id("heat"));
    world.patch(&path, &world.admin(), json!({ "user": { "password": "other" } })).has(200);
    drop(world);
    let world = open();
    world.log_in(password("heat", &first, project("service"))).has(201);
}

#[test]
fn a_restart_keeps_what_people_changed_and_renews_the_catalogue() {
    let place = Place::new("renew");
    let world = place.open();
    let path = format!("/v3/users/{}", user_id("demo"));
    world.patch(&path, &world.admin(), json!({ "user": { "password": "mine" } })).has(200);
    let own = json!({ "service": { "type": "compute", "name": "nova" } });
    world.post("/v3/services", &world.admin(), own).has(201);
    drop(world);
    let moved = |settings: &mut kiln_sim::identity::IdentityOptions| {
        settings.seed.services =
            vec![("orchestration".into(), "heat".into(), "http://moved/v1".into())];
    };
    let world = World::open(Some(&place.file()), moved).unwrap();
    let demo = world.log_in(password("demo", "mine", project("demo"))).has(201);
    let catalog = demo.body["token"]["catalog"].as_array().unwrap();
    let mut types: Vec<_> =
        catalog.iter().map(|service| service["type"].as_str().unwrap()).collect();
    types.sort_unstable();
    assert_eq!(types, ["compute", "orchestration"]);
    assert!(demo.text.contains("http://moved/v1") && !demo.text.contains("heat.example"));
}

#[test]
fn nobody_else_can_read_the_file_and_it_tells_no_password() {
    let place = Place::new("private");
    let world = place.open();
    world.user("joe", "member");
    let mode = fs::metadata(place.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(place.file()).unwrap();
    assert!(text.contains("$argon2id$"));
    assert!(!text.contains("\"joe-password\"") && !text.contains("\"secret\":\"secret\""));
}

#[test]
fn an_unfinished_change_is_dropped() {
    let place = Place::new("torn");
    let world = place.open();
    let joe = world.user("joe", "");
    world.user("jim", "");
    drop(world);
    let text = fs::read(place.file()).unwrap();
    // A process that dies while it writes leaves a line without an end.
    let cut = text.len() - 7;
    fs::write(place.file(), &text[..cut]).unwrap();
    let world = place.open();
    let names = world.get("/v3/users?name__startswith=j", &world.admin()).column("users", "id");
    assert_eq!(names, [joe]);
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let place = Place::new("corrupt");
    for (text, line) in [
        ("hello\n", 1),
        ("{\"kiln-identity\":2}\n", 1),
        ("{\"kiln-identity\":1}\n[[\"cats\",\"1\",{}]]\n", 2),
    ] {
        fs::write(place.file(), text).unwrap();
        match World::open(Some(&place.file()), |_| {}) {
            Err(OpenError::Corrupt { line: at, .. }) => assert_eq!(at, line),
            other => panic!("{text}: {:?}", other.map(|_| ())),
        }
        assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
    }
}

#[test]
fn a_file_is_opened_once_at_a_time() {
    let place = Place::new("lock");
    let world = place.open();
    assert!(matches!(World::open(Some(&place.file()), |_| {}), Err(OpenError::InUse { .. })));
    drop(world);
    place.open();
}
