//! What is special about single types.

use super::rest::Rest;
use super::{drive, kind, update};
use crate::stack::members;
use kiln_resources::behaviour::Verb;
use serde_json::json;

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
