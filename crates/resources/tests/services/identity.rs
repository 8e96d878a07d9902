//! Identity and load balancers.

use super::rest::Rest;
use super::{kind, made, refusal, update};
use kiln_cloud::Method;
use kiln_resources::behaviour::OperationKind;
use serde_json::json;

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
    made.run(kind("OS::Keystone::Project"), OperationKind::Delete, &mut world);
    assert_eq!(world.told[1..], ["DELETE /security-groups/1", "DELETE /projects/made-1"]);
}

#[test]
fn a_domain_is_disabled_before_it_goes() {
    let mut world = Rest::default();
    let name = "OS::Keystone::Domain";
    let mut made = made(name, "{}", &mut world);
    update(&mut made, kind(name), r#"{"enabled": false}"#);
    made.run(kind(name), OperationKind::Delete, &mut world);
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
    assert_eq!(
        failed.failure(),
        "OctaviaClientException: no (HTTP 409) (Request-ID: None). Next: see what it clashes with, and update the stack when that is over."
    );
}
