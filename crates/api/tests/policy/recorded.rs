//! Checks made up at random, against the recorded answers of oslo.policy.

use kiln_api::caller::{Caller, Scope};
use kiln_api::policy::{Options, Policy, Target};
use serde_json::{Value as Json, json};

#[test]
fn checks_mean_what_they_mean_elsewhere() {
    let record = include_str!("../facts/policy_checks.json");
    let record: Json = serde_json::from_str(record).expect("a record");
    let callers: Vec<_> = list(&record["callers"]).iter().map(caller).collect();
    for case in list(&record["cases"]) {
        let policy = policy(&record["rules"], case);
        let readable = case[2].as_str().filter(|answers| !answers.contains('E'));
        let Some(answers) = readable else {
            assert!(policy.is_none(), "{} is not a check", case[0]);
            continue;
        };
        let policy = policy.unwrap_or_else(|| panic!("{} is a check", case[0]));
        let mut found = String::new();
        for caller in &callers {
            for target in list(&record["targets"]) {
                let more: Vec<_> = fields(target);
                let target = Target { project_id: text(&target["project_id"]), more: &more };
                found.push(if policy.check("stacks:index", caller, &target).is_ok() {
                    '1'
                } else {
                    '0'
                });
            }
        }
        assert_eq!(found, answers, "{}", case[0]);
    }
}

/// The rules of the record with a case's check as one that Kiln asks for; nothing if it cannot be read.
fn policy(rules: &Json, case: &Json) -> Option<Policy> {
    let mut file = rules.clone();
    file["stacks:index"] = case[0].clone();
    if case[1] == json!(true) {
        file["default"] = json!("role:reader");
    }
    let options = Options { enforce_scope: false, ..Options::default() };
    Policy::load("policy.json", &file.to_string(), options).ok()
}

fn caller(known: &Json) -> Caller {
    Caller {
        user_id: text(&known["user_id"]).into(),
        project_id: text(&known["project_id"]).into(),
        domain_id: text(&known["domain_id"]).into(),
        user_domain_id: text(&known["user_domain_id"]).into(),
        project_domain_id: text(&known["project_domain_id"]).into(),
        scope: if known["system_scope"] == json!("all") { Scope::System } else { Scope::None },
        is_admin_project: known["is_admin_project"] == json!(true),
        roles: list(&known["roles"]).iter().map(|role| text(role).to_owned()).collect(),
        ..Caller::default()
    }
}

fn fields(target: &Json) -> Vec<(&str, &str)> {
    let fields = target.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.as_str(), text(value))).collect()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
