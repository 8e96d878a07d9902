//! What is special about single types.

use super::rest::Rest;
use super::{drive, kind, update};
use crate::driving::World;
use crate::stack::members;
use kiln_cloud::{Call, CallError, Method, Reply};
use kiln_resources::behaviour::Verb;
use kiln_resources::declare::Value;
use kiln_resources::op::Demand;
use serde_json::{Value as Json, json};

fn refusal(name: &str, properties: &str) -> Option<String> {
    let check = kind(name).check.unwrap_or_else(|| panic!("{name} checks nothing"));
    check(&members(properties)).err().map(|refusal| refusal.message)
}

fn made(name: &str, properties: &str, world: &mut Rest) -> crate::driving::Drive {
    let mut drive = drive(kind(name), properties);
    drive.run(kind(name), Verb::Create, world);
    drive
}

// --- identity ---

#[test]
fn a_role_is_on_a_project_or_on_a_domain() {
    let refusal = |role: &str| {
        refusal(
            "OS::Keystone::UserRoleAssignment",
            &format!(r#"{{"user": "u", "roles": [{role}]}}"#),
        )
    };
    assert_eq!(refusal(r#"{"role": "r", "project": "p"}"#), None);
    assert_eq!(
        refusal(r#"{"role": "r", "project": "p", "domain": "d"}"#).as_deref(),
        Some("Cannot define the following properties at the same time: project, domain.")
    );
    assert_eq!(
        refusal(r#"{"role": "r"}"#).as_deref(),
        Some("Either project or domain must be specified for role r")
    );
}

#[test]
fn nobody_elses_role_is_taken_for_ours() {
    let theirs = json!({ "id": "theirs", "name": "operator" });
    let mut world = Rest::default().with("/roles/theirs", theirs);
    let made = made("OS::Keystone::Role", r#"{"name": "operator"}"#, &mut world);
    assert_eq!(made.context.physical_id.as_deref(), Some("made-1"));
    assert_eq!(world.told, ["POST /roles", "PATCH /roles/made-1"]);
    assert_eq!(world.only("/roles")["name"], "operator");
}

#[test]
fn a_project_takes_its_default_security_group_with_it() {
    let ours = json!({ "id": "1", "name": "default", "project_id": "made-1" });
    let other = json!({ "id": "2", "name": "default", "project_id": "other" });
    let mut world =
        Rest::default().with("/security-groups/1", ours).with("/security-groups/2", other);
    let mut made = made("OS::Keystone::Project", "{}", &mut world);
    made.run(kind("OS::Keystone::Project"), Verb::Delete, &mut world);
    assert_eq!(world.told[1..], ["DELETE /security-groups/1", "DELETE /projects/made-1"]);
}

#[test]
fn a_domain_is_disabled_before_it_goes() {
    let mut world = Rest::default();
    let name = "OS::Keystone::Domain";
    let mut made = made(name, "{}", &mut world);
    update(&mut made, kind(name), r#"{"enabled": false}"#);
    made.run(kind(name), Verb::Delete, &mut world);
    assert_eq!(world.told[1..], ["PATCH /domains/made-1", "DELETE /domains/made-1"]);
}

// --- load balancers ---

#[test]
fn what_a_load_balancers_parts_need_is_asked_for() {
    let pool = |rest: &str| {
        refusal("OS::Octavia::Pool", &format!(r#"{{"lb_algorithm": "ROUND_ROBIN", {rest}}}"#))
    };
    let neither =
        "At least one of the following properties must be specified: listener, loadbalancer.";
    assert_eq!(pool(r#""protocol": "HTTP""#).as_deref(), Some(neither));
    let cookie = r#""listener": "l", "session_persistence": {"type": "APP_COOKIE"}"#;
    let told =
        "Property cookie_name is required when session_persistence type is set to APP_COOKIE.";
    assert_eq!(pool(cookie).as_deref(), Some(told));
    let policy = |rest: &str| refusal("OS::Octavia::L7Policy", rest);
    let told = "Property redirect_url is required when action type is set to REDIRECT_TO_URL.";
    assert_eq!(policy(r#"{"action": "REDIRECT_TO_URL"}"#).as_deref(), Some(told));
    assert_eq!(policy(r#"{"action": "REDIRECT_TO_URL", "redirect_url": "http://a"}"#), None);
    assert!(refusal("OS::Octavia::L7Rule", r#"{"type": "COOKIE", "value": "x"}"#).is_some());
    assert!(refusal("OS::Octavia::Listener", r#"{"protocol": "TERMINATED_HTTPS"}"#).is_some());
}

#[test]
fn a_conflict_means_patience_for_parts_and_failure_for_a_new_balancer() {
    let mut world = Rest::default();
    world.busy = vec![(Method::Post, "loadbalancers")];
    let properties = r#"{"vip_subnet": "00000000000000000000000000000001"}"#;
    let failed = made("OS::Octavia::LoadBalancer", properties, &mut world);
    assert_eq!(failed.failure(), "Conflict: no (HTTP 409)");
}

// --- object store ---

#[test]
fn a_container_that_is_not_empty_is_emptied_at_once_or_kept() {
    /// A store with a container of three objects.
    struct Store(Vec<&'static str>, Vec<String>);
    impl World for Store {
        fn call(&mut self, call: &Call) -> Result<Reply, CallError> {
            self.1.push(format!("{} {}", call.method, call.path));
            let ok = |body| Ok(Reply::new(200, body));
            match (call.method, call.path.as_str()) {
                (Method::Delete, "/c") if !self.0.is_empty() => {
                    Err(CallError::Refused(Reply::new(409, Json::Null)))
                }
                (Method::Get, "/c") => {
                    ok(self.0.iter().map(|name| json!({ "name": name })).collect::<Json>())
                }
                (Method::Post, "") => {
                    assert_eq!(call.body, Some("/c/a\n/c/b%2Fc\n/c/d%20e".into()));
                    self.0.clear();
                    ok(json!({ "Number Deleted": 3 }))
                }
                _ => ok(Json::Null),
            }
        }
    }
    let name = "OS::Swift::Container";
    for is_purged in [true, false] {
        let mut store = Store(vec!["a", "b/c", "d e"], Vec::new());
        let mut drive = drive(kind(name), &format!(r#"{{"PurgeOnDelete": {is_purged}}}"#));
        drive.context.physical_id = Some("c".into());
        drive.run(kind(name), Verb::Delete, &mut store);
        if is_purged {
            assert_eq!(drive.result(), &Ok(()));
            assert_eq!(store.1, ["DELETE /c", "GET /c", "POST ", "GET /c", "DELETE /c"]);
        } else {
            let told = "ResourceActionNotSupported: Deleting non-empty container (c) when PurgeOnDelete is \
                        False is not supported for resource.";
            assert_eq!(drive.failure(), told);
        }
    }
}

// --- key manager ---

#[test]
fn an_order_tells_what_was_made_of_it() {
    let container = json!({ "secret_refs": [
        { "name": "private_key", "secret_ref": "http://key/v1/secrets/1" },
        { "name": "other", "secret_ref": "http://key/v1/secrets/2" },
    ]});
    let name = "OS::Barbican::Order";
    let mut world = Rest::of(kind(name).behaviour.plain.as_deref());
    world.addresses = Some("http://key/v1");
    let order = json!({ "status": "ACTIVE", "container_ref": "http://key/v1/containers/7" });
    world.answers = vec![
        (Method::Get, "/orders/", order),
        (Method::Get, "/containers/7", container),
        (Method::Get, "/secrets/1/payload", json!("pem")),
    ];
    let properties = r#"{"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}"#;
    let drive = made(name, properties, &mut world);
    assert_eq!(drive.context.physical_id.as_deref(), Some("http://key/v1/orders/made-1"));
    let shown = drive.shown.as_map().expect("something is shown");
    let Some(Value::Secret(key)) = shown.get("private_key") else { panic!("no key: {shown:?}") };
    assert_eq!(key.expose(), &Value::from("pem"));
    let sent = world.only("/orders");
    assert_eq!(sent["meta"]["name"], "stack-x-abcdefghijkl");
    assert_eq!(sent["type"], "asymmetric");
}

#[test]
fn an_order_takes_what_was_made_of_it_along_but_not_the_key_that_was_there_before() {
    let container = json!({ "secret_refs": [
        { "name": "certificate", "secret_ref": "http://key/v1/secrets/1" },
        { "name": "private_key", "secret_ref": "http://key/v1/secrets/2" },
    ]});
    let several = json!({ "status": "ACTIVE", "container_ref": "http://key/v1/containers/7" });
    let single = json!({ "status": "ACTIVE", "secret_ref": "http://key/v1/secrets/3" });
    let certificate =
        r#"{"type": "certificate", "source_container_ref": "http://key/v1/containers/6"}"#;
    let all = ["/secrets/1", "/secrets/2", "/containers/7", "/orders/made-1"];
    for (properties, order, gone) in [
        (r#"{"type": "asymmetric", "algorithm": "rsa", "bit_length": 2048}"#, &several, &all[..]),
        (certificate, &several, &["/secrets/1", "/containers/7", "/orders/made-1"]),
        (
            r#"{"type": "key", "algorithm": "aes", "bit_length": 256}"#,
            &single,
            &["/secrets/3", "/orders/made-1"],
        ),
    ] {
        let name = "OS::Barbican::Order";
        let mut world = Rest::of(kind(name).behaviour.plain.as_deref());
        world.addresses = Some("http://key/v1");
        world.answers = vec![
            (Method::Get, "/orders/", order.clone()),
            (Method::Get, "/containers/7", container.clone()),
            (Method::Get, "/payload", json!("pem")),
        ];
        let mut drive = made(name, properties, &mut world);
        world.told.clear();
        drive.run(kind(name), Verb::Delete, &mut world);
        assert_eq!(drive.result(), &Ok(()), "{properties}");
        let deleted = world.told.iter().filter_map(|told| told.strip_prefix("DELETE "));
        assert_eq!(deleted.collect::<Vec<_>>(), gone, "{properties}");
    }
}

#[test]
fn an_order_that_fails_is_not_tried_again() {
    let name = "OS::Barbican::Order";
    let mut world = Rest::of(kind(name).behaviour.plain.as_deref());
    let broken =
        json!({ "status": "ERROR", "error_status_code": "400", "error_reason": "no such" });
    world.answers = vec![(Method::Get, "/orders/", broken)];
    let drive = made(name, r#"{"type": "key", "algorithm": "x", "bit_length": 1}"#, &mut world);
    assert_eq!(drive.failure(), "Error: Order 'x' failed: 400 - no such");
}

#[test]
fn secrets_are_what_they_are_said_to_be() {
    let secret = |rest: &str| refusal("OS::Barbican::Secret", rest);
    let binary = r#""payload_content_type": "application/octet-stream""#;
    assert_eq!(
        secret(r#"{"payload_content_type": "text/plain"}"#).as_deref(),
        Some("payload_content_type cannot be specified without payload.")
    );
    assert!(secret(&format!(r#"{{"payload": "YQ==", {binary}}}"#)).is_some(), "no encoding");
    let encoded = r#""payload_content_encoding": "base64""#;
    assert!(secret(&format!(r#"{{"payload": "Y!", {binary}, {encoded}}}"#)).is_some());
    assert_eq!(secret(&format!(r#"{{"payload": "YQ==", {binary}, {encoded}}}"#)), None);
    let orders = refusal(
        "OS::Barbican::Order",
        r#"{"type": "key", "algorithm": "a", "bit_length": 1, "ca_id": "c"}"#,
    );
    let told = "Unexpected properties: ca_id. Only these properties are allowed for key type of order: \
                algorithm, bit_length, expiration, mode, name, payload_content_type.";
    assert_eq!(orders.as_deref(), Some(told));
    let twice = r#"{"secrets": [{"name": "a", "ref": "r"}, {"name": "b", "ref": "r"}]}"#;
    assert_eq!(
        refusal("OS::Barbican::GenericContainer", twice).as_deref(),
        Some("Duplicate refs are not allowed.")
    );
}

// --- alarms ---

#[test]
fn an_alarm_is_sent_as_a_whole() {
    let name = "OS::Aodh::Alarm";
    let mut world = Rest::of(kind(name).behaviour.plain.as_deref());
    let properties = r#"{"meter_name": "cpu_util", "threshold": 5, "alarm_actions": ["http://a", "", null],
        "alarm_queues": ["q 1"], "matching_metadata": {"metadata.metering.group": 7}}"#;
    let mut drive = made(name, properties, &mut world);
    let alarm = world.only("/alarms").clone();
    assert_eq!(alarm["name"], "stack-x-abcdefghijkl");
    assert_eq!(alarm["type"], "threshold");
    assert_eq!(alarm["enabled"], true);
    assert_eq!(alarm["alarm_actions"], json!(["http://a", "trust+zaqar://?queue_name=q%201"]));
    let query = json!([{ "field": "metadata.user_metadata.group", "op": "eq", "value": "7" }]);
    assert_eq!(alarm["threshold_rule"]["query"], query);
    for (verb, enabled) in [(Verb::Suspend, false), (Verb::Resume, true)] {
        drive.context.journal = Default::default();
        drive.run(kind(name), verb, &mut world);
        assert_eq!(world.only("/alarms")["enabled"], enabled, "{verb:?}");
    }
}

// --- messages ---

#[test]
fn a_signed_url_lasts_as_long_as_was_asked_for() {
    let signed = json!({ "signature": "abc", "expires": "2026-11-16T01:57:38", "paths": ["/v2/queues/q/messages"],
                         "methods": ["GET", "POST"], "project": "p" });
    let mut world = Rest::default();
    world.answers = vec![(Method::Post, "/queues/q/share", signed)];
    let drive = made("OS::Zaqar::SignedQueueURL", r#"{"queue": "q", "ttl": 3600}"#, &mut world);
    let Some(Demand::Call { call, .. }) = drive.demands.first() else {
        panic!("nothing is signed")
    };
    assert_eq!(call.body, Some(json!({ "expires": "2026-11-16T01:57:38" })));
    let shown = drive.shown.as_map().expect("something is shown");
    let Some(Value::Secret(query)) = shown.get("query_str") else { panic!("no query: {shown:?}") };
    let query = query.expose().as_text().expect("a text");
    assert!(
        query.starts_with("signature=abc&expires=2026-11-16T01%3A57%3A38&methods=GET%2CPOST&"),
        "{query}"
    );
}

#[test]
fn subscribers_have_an_address_that_can_be_told() {
    let told =
        "The subscriber type of must be one of: http, https, mailto, trust+http, trust+https.";
    let refusal =
        |it: &str| refusal("OS::Zaqar::Subscription", &format!(r#"{{"subscriber": "{it}"}}"#));
    assert_eq!(refusal("ftp://a").as_deref(), Some(told));
    assert_eq!(refusal("mailto:a@b.c"), None);
}
