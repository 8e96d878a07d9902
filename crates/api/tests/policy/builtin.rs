//! The rules as they are built in.

use super::caller;
use kiln_api::caller::{Caller, Scope};
use kiln_api::policy::language::Check;
use kiln_api::policy::{Options, Policy, Target, defaults};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

#[test]
fn built_in_rules_agree_with_our_facts() {
    let facts: Json = serde_json::from_str(include_str!("../facts/policies.json")).expect("facts");
    let facts = facts.as_array().into_iter().flatten();
    compare(facts.map(|row| (name(&row[0]), json!([row[1], row[2], row[3]]))).collect());
}

#[test]
fn built_in_rules_agree_with_the_record_of_the_reference() {
    let Some(path) = crate::shared("facts/policies.json") else { return };
    let record = std::fs::read_to_string(path).expect("a readable record");
    let record: Json = serde_json::from_str(&record).expect("a record");
    let rows = record.as_array().into_iter().flatten().map(|row| {
        let scopes = match &row["scope_types"] {
            Json::Null => json!([]),
            scopes => scopes.clone(),
        };
        let former = &row["deprecated_rule"]["check_str"];
        (name(&row["name"]), json!([row["check_str"], former, scopes]))
    });
    compare(rows.collect());
}

fn name(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

/// Whether a rule is for something that Heat has not.
fn is_ours(rule: &str) -> bool {
    let actions = ["ChangeSet", "ChangeSets", "GetTemplateSummary"];
    rule.starts_with("cloudwatch:")
        || rule.starts_with("plans:")
        || rule == "stacks:export_in_clear"
        || actions.iter().any(|action| rule.ends_with(action))
}

/// Compares check, former check and scopes of every rule; what Heat has not is not in the record.
fn compare(facts: BTreeMap<String, Json>) {
    assert_eq!(facts.len(), 100);
    let scope = |scope: &Scope| match scope {
        Scope::Project => "project",
        Scope::Domain => "domain",
        Scope::System => "system",
        Scope::None => "none",
    };
    let declared: BTreeMap<_, _> = defaults::all()
        .filter(|row| !is_ours(row.name))
        .map(|row| {
            let scopes: Vec<_> = row.scopes.iter().map(scope).collect();
            (row.name.to_owned(), json!([row.check, row.deprecated, scopes]))
        })
        .collect();
    assert_eq!(declared, facts);
}

#[test]
fn every_built_in_rule_can_be_read_and_is_there_once() {
    let mut names: Vec<_> = defaults::all().map(|row| row.name).collect();
    for row in defaults::all() {
        assert!(Check::parse(row.check).is_ok(), "{}", row.name);
        assert!(row.deprecated.is_none_or(|former| Check::parse(former).is_ok()), "{}", row.name);
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

fn may(policy: &Policy, caller: &Caller, rule: &str) -> bool {
    policy.check(rule, caller, &Target::project("p")).is_ok()
}

#[test]
fn readers_read_and_members_change() {
    let policy = Policy::new();
    let reader = caller("p", &["reader"]);
    let member = caller("p", &["member", "reader"]);
    for rule in ["stacks:index", "stacks:preview", "actions:check", "resource:signal"] {
        assert!(may(&policy, &reader, rule), "{rule}");
    }
    for rule in ["stacks:create", "stacks:validate_template", "stacks:generate_template"] {
        assert!(!may(&policy, &reader, rule), "{rule}");
        assert!(may(&policy, &member, rule), "{rule}");
    }
    for rule in ["stacks:global_index", "software_configs:global_index", "service:index"] {
        assert!(!may(&policy, &member, rule), "{rule}");
    }
    let admin = caller("p", &["admin", "member", "reader"]);
    assert!(may(&policy, &admin, "service:index"));
    assert!(!may(&policy, &admin, "stacks:global_index"));
}

#[test]
fn nobody_may_anything_in_another_project() {
    let policy = Policy::new();
    let other = caller("q", &["admin", "member", "reader", "heat_stack_user"]);
    let without = caller("", &["admin", "member", "reader", "heat_stack_user"]);
    for row in defaults::all().filter(|row| row.check.contains("project_id")) {
        assert!(!may(&policy, &other, row.name), "{}", row.name);
        // A caller without a project has no rights in a project without a name.
        assert!(policy.check(row.name, &without, &Target::project("")).is_err(), "{}", row.name);
    }
}

#[test]
fn stack_users_may_do_little() {
    let policy = Policy::new();
    let user = caller("p", &["heat_stack_user"]);
    let allowed: Vec<_> = defaults::all()
        .filter(|row| row.name.contains(':') && !row.name.starts_with("resource_types:"))
        .filter(|row| may(&policy, &user, row.name))
        .map(|row| row.name)
        .collect();
    let expected = [
        "resource:metadata",
        "resource:signal",
        "software_deployments:metadata",
        "stacks:lookup",
        "cloudformation:DescribeStackResource",
        "cloudwatch:PutMetricData",
    ];
    assert_eq!(allowed, expected);
}

#[test]
fn tokens_for_something_else_than_a_project_are_refused() {
    let scoped = |scope| Caller { scope, ..caller("p", &["admin", "member", "reader"]) };
    let strict = Policy::new();
    let lax = Policy::with(Options { enforce_scope: false, ..Options::default() });
    for scope in [Scope::System, Scope::Domain, Scope::None] {
        assert!(!may(&strict, &scoped(scope), "stacks:index"), "{scope:?}");
        assert!(may(&lax, &scoped(scope), "stacks:index"), "{scope:?}");
        assert!(!strict.allows_type(&scoped(scope), "OS::Nova::Flavor"), "{scope:?}");
    }
    assert!(may(&strict, &scoped(Scope::Project), "stacks:index"));
}

#[test]
fn former_checks_suffice_where_new_ones_are_not_enforced() {
    let lax = Policy::with(Options { enforce_new_defaults: false, ..Options::default() });
    let stranger = caller("q", &["some_role"]);
    assert!(may(&lax, &stranger, "stacks:create"));
    assert!(!may(&Policy::new(), &stranger, "stacks:create"));
    assert!(!may(&lax, &caller("q", &["heat_stack_user"]), "stacks:create"));
    assert!(may(&lax, &caller("q", &["heat_stack_user"]), "stacks:lookup"));
    assert!(may(&lax, &caller("p", &["heat_stack_user", "member"]), "stacks:create"));
    assert!(!may(&lax, &stranger, "software_deployments:metadata"));
}

#[test]
fn what_has_no_rule_is_refused() {
    let policy = Policy::new();
    let admin = caller("p", &["admin", "member", "reader"]);
    let refusal = policy.check("stacks:frobnicate", &admin, &Target::project("p")).unwrap_err();
    assert_eq!(refusal.to_string(), "You are not authorized to use stacks:frobnicate.");
}

#[test]
fn administrators_hold_the_role_in_the_project_for_them() {
    let policy = Policy::new();
    assert!(policy.is_admin(&caller("p", &["Admin"])));
    assert!(!policy.is_admin(&caller("p", &["member"])));
    let elsewhere = Caller { is_admin_project: false, ..caller("p", &["admin"]) };
    assert!(!policy.is_admin(&elsewhere));
}

#[test]
fn types_are_guarded_by_their_rule_and_their_familys() {
    let policy = Policy::new();
    let member = caller("p", &["member", "reader"]);
    let admin = caller("p", &["admin", "member", "reader"]);
    for (name, guarded) in [
        ("OS::Nova::Server", false),
        ("OS::Nova::Flavor", true),
        ("OS::Keystone::User", true),
        ("OS::Keystone::Anything", true),
        ("OS::Keystone", false),
        ("https://example.org/types.yaml", false),
    ] {
        assert_eq!(policy.allows_type(&member, name), !guarded, "{name}");
        assert!(policy.allows_type(&admin, name), "{name}");
    }
    let refusal = policy.check_type(&member, "OS::Nova::Flavor").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "You are not authorized to use resource_types:OS::Nova::Flavor."
    );
}
