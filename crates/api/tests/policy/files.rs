//! Files of operators.

use super::caller;
use kiln_api::policy::{Options, Policy, PolicyText, SharedPolicy, Target};

fn load(text: &str) -> Policy {
    Policy::load("policy.yaml", text, Options::default())
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn errors(text: &str) -> Vec<String> {
    match Policy::load("policy.yaml", text, Options::default()) {
        Ok(_) => panic!("this can be read: {text}"),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn warnings(text: &str) -> Vec<String> {
    load(text).warnings().iter().map(ToString::to_string).collect()
}

fn may(policy: &Policy, roles: &[&str], rule: &str) -> bool {
    policy.check(rule, &caller("p", roles), &Target::project("p")).is_ok()
}

#[test]
fn rules_of_a_file_replace_those_that_are_built_in() {
    let policy = load(
        r#"
# operators may list everything
"ops": "role:operator"
"stacks:index": "rule:ops or (role:reader and project_id:%(project_id)s)"
stacks:delete: "!"
"stacks:show": []
"stacks:detail": [["role:a", "role:b"], "role:c"]
"#,
    );
    assert_eq!(policy.warnings(), []);
    assert!(may(&policy, &["operator"], "stacks:index"));
    assert!(may(&policy, &["reader"], "stacks:index"));
    assert!(!may(&policy, &["admin", "member", "reader"], "stacks:delete"));
    assert!(may(&policy, &["nothing"], "stacks:show"));
    assert!(may(&policy, &["a", "b"], "stacks:detail"));
    assert!(may(&policy, &["c"], "stacks:detail"));
    assert!(!may(&policy, &["a"], "stacks:detail"));
    assert!(may(&policy, &["member"], "stacks:create"));
    // A rule of the file's own is no action.
    assert!(!may(&policy, &["operator"], "ops"));
}

#[test]
fn a_rule_of_a_file_takes_the_place_of_the_former_check_too() {
    let options = Options { enforce_new_defaults: false, ..Options::default() };
    let policy = Policy::load("policy.yaml", "stacks:create: 'role:x'", options).unwrap();
    assert!(!may(&policy, &["member"], "stacks:create"));
    assert!(may(&policy, &["x"], "stacks:create"));
}

#[test]
fn json_and_nothing_at_all_are_files_too() {
    let policy = load(r#"{"stacks:index": "role:x"}"#);
    assert!(may(&policy, &["x"], "stacks:index"));
    for text in ["", "# nothing\n", "{}", "---\n"] {
        assert!(may(&load(text), &["reader"], "stacks:index"), "{text}");
    }
}

#[test]
fn the_default_rule_answers_for_rules_that_are_not_there_but_not_for_actions() {
    let policy = load("default: '@'\nstacks:index: 'rule:missing'\n");
    assert!(may(&policy, &["x"], "stacks:index"));
    assert!(!may(&policy, &["x"], "stacks:frobnicate"));
}

#[test]
fn types_can_be_given_rules() {
    let policy = load(
        "resource_types:OS::Nova::Server: '!'\n\
         resource_types:OS::Heat::*: 'role:x'\n\
         resource_types:OS::Heat::None: '@'\n\
         resource_types:OS::Keystone::*: '@'\n",
    );
    assert_eq!(policy.warnings(), []);
    let (member, x) = (caller("p", &["member"]), caller("p", &["x"]));
    assert!(!policy.allows_type(&member, "OS::Nova::Server"));
    assert!(policy.allows_type(&member, "OS::Keystone::User"));
    // Both rules must agree.
    assert!(!policy.allows_type(&member, "OS::Heat::None"));
    assert!(policy.allows_type(&x, "OS::Heat::None"));
}

#[test]
fn who_is_an_administrator_can_be_said_otherwise() {
    let policy = load("context_is_admin: 'role:boss'\nstacks:show: 'is_admin:True'\n");
    assert!(policy.is_admin(&caller("p", &["boss"])));
    assert!(!policy.is_admin(&caller("p", &["admin"])));
    assert!(may(&policy, &["boss"], "stacks:show"));
    assert!(!may(&policy, &["admin"], "stacks:show"));
}

#[test]
fn mistakes_name_the_rule_the_place_and_the_next_step() {
    let found =
        errors("a: '@'\nstacks:index: \"role:reader and admin\"\nstacks:show: 'role:a or'\n");
    assert_eq!(
        found,
        [
            "policy.yaml:2:32: rule `stacks:index`: `admin` has no colon; a check is `@`, `!`, or two words \
             with a colon, such as `role:member` or `rule:project_admin`",
            "policy.yaml:3:24: rule `stacks:show`: a check is missing at the end; a check is `@`, `!`, or two \
             words with a colon, such as `role:member` or `rule:project_admin`",
        ]
    );
}

#[test]
fn what_looks_like_a_mistake_is_not_taken_for_everybody() {
    for text in ["stacks:index:\n", "stacks:index: !\n", "stacks:index: ~\n", "stacks:index: yes\n"]
    {
        let found = errors(text);
        assert!(found[0].contains("\"!\" to allow nobody"), "{text}: {found:?}");
    }
    assert!(may(&load("stacks:index: ''"), &[], "stacks:index"));
    assert!(errors("stacks:index: '  '\n")[0].contains("only blanks"));
    assert!(errors("- a\n- b\n")[0].starts_with("policy.yaml:1:1: the file is not a map of rules"));
    assert!(errors("a: @\n")[0].starts_with("policy.yaml:1:4:"));
    assert!(errors("a: [[1]]\n")[0].contains("not text"));
    assert!(
        errors("a: [['role:x', 'y']]\n")[0]
            .starts_with("policy.yaml:1:17: rule `a`: `y` has no colon")
    );
}

#[test]
fn rules_that_need_each_other_are_refused() {
    let found = errors("a: 'rule:b'\nb: 'not rule:a'\nstacks:index: 'rule:a'\n");
    assert_eq!(
        found,
        [
            "policy.yaml:1:1: rule `a`: it needs its own answer: a -> b -> a; have one of them say what it asks \
          without the others"
        ]
    );
    let found = errors("stacks:update_patch: 'rule:stacks:update_no_change'\n");
    assert!(
        found[0]
            .starts_with("policy.yaml:1:1: rule `stacks:update_patch`: it needs its own answer")
    );
}

#[test]
fn what_is_hardly_meant_is_a_warning() {
    assert_eq!(
        warnings("stacks:idnex: '@'\nstacks:show: 'rule:nobody_knows or tenantid:x'\n"),
        [
            "policy.yaml:1:1: rule `stacks:idnex`: nothing asks for this rule; compare its name with the list \
             of rules, or remove it",
            "policy.yaml:2:14: rule `stacks:show`: there is no rule `nobody_knows`; correct the name, or write \
             such a rule",
            "policy.yaml:2:14: rule `stacks:show`: nothing called `tenantid` is known of callers; use user_id, \
             project_id, domain_id, roles or another attribute",
        ]
    );
    assert!(!may(&load("stacks:show: 'rule:nobody_knows'\n"), &["admin"], "stacks:show"));
    assert!(warnings("stacks:show: '@'\nstacks:show: '!'\n")[0].starts_with("policy.yaml:2:"));
}

fn load_all(files: &[(&str, &str)]) -> Result<Policy, Vec<String>> {
    let text = |(name, text): &(&str, &str)| PolicyText {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    };
    let files: Vec<PolicyText> = files.iter().map(text).collect();
    Policy::load_all(&files, Options::default())
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

#[test]
fn later_files_replace_rules_of_earlier_ones_and_all_are_one_set() {
    let policy = load_all(&[
        ("policy.yaml", "stacks:index: 'rule:ops'\nstacks:show: '!'\nstacks:delete: '!'\n"),
        ("policy.d/a.yaml", "ops: '!'\nstacks:show: 'role:a'\n"),
        ("policy.d/b.json", r#"{"ops": "role:operator"}"#),
    ]);
    let policy = policy.expect("a policy");
    assert_eq!(policy.warnings(), [], "a rule of another file is known");
    assert!(may(&policy, &["operator"], "stacks:index"));
    assert!(may(&policy, &["a"], "stacks:show"));
    assert!(!may(&policy, &["member"], "stacks:delete"));
    // A circle that a later file breaks is none, and one through several files is found.
    assert!(load_all(&[("a", "x: 'rule:y'\ny: 'rule:x'\n"), ("b", "y: '@'\n")]).is_ok());
    let found = load_all(&[("a", "x: 'rule:y'\n"), ("b", "\ny: 'rule:x'\n")]).err();
    let found = found.expect("errors");
    assert!(
        found[0].starts_with("a:1:1: rule `x`: it needs its own answer: x -> y -> x"),
        "{found:?}"
    );
    // A mistake counts even if a later file replaces the rule.
    assert!(load_all(&[("a", "stacks:show: 'role'\n"), ("b", "stacks:show: '@'\n")]).is_err());
}

#[test]
fn the_name_of_the_default_rule_can_be_chosen() {
    let options = Options { default_rule: "fallback".to_owned(), ..Options::default() };
    let text = "fallback: 'role:x'\nstacks:show: 'rule:missing'\n";
    let policy = Policy::load("policy.yaml", text, options).expect("a policy");
    assert!(may(&policy, &["x"], "stacks:show"));
    assert!(!may(&load(text), &["x"], "stacks:show"));
}

#[test]
fn a_policy_is_replaced_as_a_whole() {
    let shared = SharedPolicy::new(load("stacks:show: '!'\n"));
    let kept = shared.get();
    shared.replace(load("stacks:show: '@'\n"));
    assert!(!may(&kept, &["reader"], "stacks:show"));
    assert!(may(&shared.get(), &["reader"], "stacks:show"));
}
