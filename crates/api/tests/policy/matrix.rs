//! The matrix of policy: every route, action and restricted resource type × every kind of caller.
//!
//! The requests go through the whole API. What each kind of caller may is in `facts/policy_matrix.txt`, which
//! `KILN_BLESS=1` writes anew; every row of it is also derived here from the recorded check of the rule, without the
//! parser of policy files.

use crate::test_api::{Reply, TestApi, signature};
use axum::body::Body;
use axum::http::Request as HttpRequest;
use kiln_api::routes::{BodyNeed, ROUTES, Rule};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The callers, by their tokens: the project of the stacks is `demo`.
const CALLERS: [&str; 9] = [
    "demo-admin",
    "manager",
    "demo",
    "reader",
    "service",
    "stack-user",
    "system-admin",
    "system-reader",
    "other",
];

/// A request that a rule guards.
struct Guarded {
    /// How it is named in the matrix.
    name: String,
    rule: String,
    request: Target,
}

/// The answer of the policy to a caller.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// The rule lets the caller pass.
    Allowed,
    /// The rule does, but only for what belongs to the caller.
    OwnOnly,
    /// The rule refuses the caller.
    Refused,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Allowed => "yes",
            Verdict::OwnOnly => "own",
            Verdict::Refused => "-",
        }
    }
}

enum Target {
    /// A request to the native API.
    Native { method: &'static str, path: String, body: String },
    /// An action of the CloudFormation API.
    CloudFormation(&'static str),
    /// An action of the CloudWatch API.
    CloudWatch(&'static str),
}

impl Target {
    /// Whether the project is that of the caller's key, and not named in a path.
    fn is_in_own_project(&self) -> bool {
        !matches!(self, Target::Native { .. })
    }
}

#[tokio::test]
async fn every_caller_may_what_the_matrix_says() {
    let api = TestApi::new();
    let checks = recorded_checks();
    let mut matrix = format!("{:<96} {}\n", "", CALLERS.join(" "));
    for guarded in everything() {
        let mut row = format!("{:<96}", guarded.name);
        for caller in CALLERS {
            let verdict = ask(&api, caller, &guarded.request).await;
            if let Some(check) = checks.get(&guarded.rule) {
                let may = verdict != Verdict::Refused;
                let is_own = guarded.request.is_in_own_project();
                let expected = expected(check, caller, is_own);
                assert_eq!(may, expected, "{} by {caller}: {check}", guarded.name);
            }
            let _ = write!(row, " {:^1$}", verdict.word(), caller.len());
        }
        matrix.push_str(row.trim_end());
        matrix.push('\n');
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/policy_matrix.txt");
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(file, &matrix).expect("the matrix is written");
    }
    assert_eq!(matrix, std::fs::read_to_string(file).expect("the matrix"));
}

/// The checks of the rules, as recorded of the reference.
fn recorded_checks() -> BTreeMap<String, String> {
    let facts: Json = serde_json::from_str(include_str!("../facts/policies.json")).expect("facts");
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    facts.as_array().expect("rows").iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
}

/// Whether a caller may by a check, in the project `demo` or in the caller's own.
fn expected(check: &str, caller: &str, is_own: bool) -> bool {
    const OWN: &str = "project_id:%(project_id)s";
    let roles: &[&str] = match caller {
        "demo-admin" => &["admin", "manager", "member", "reader"],
        "manager" => &["manager", "member", "reader"],
        "demo" => &["member", "reader"],
        "reader" => &["reader"],
        "stack-user" => &["heat_stack_user"],
        "other" if is_own => &["member", "reader"],
        // A service role is none of a project, and others have no token for this project.
        _ => &[],
    };
    let has = |role: &str| roles.contains(&role);
    let either = format!("(role:reader and {OWN}) or (role:heat_stack_user and {OWN})");
    match check {
        "rule:project_admin" => has("admin"),
        "rule:deny_everybody" => false,
        "rule:stacks:update_patch" => has("member"),
        check if check == either => has("reader") || has("heat_stack_user"),
        check => match check.strip_suffix(OWN).and_then(|it| it.strip_suffix(" and ")) {
            Some(role) => has(role.trim_start_matches("role:")),
            None => panic!("a check that the matrix does not know: {check}"),
        },
    }
}

/// Every request that a rule guards.
fn everything() -> Vec<Guarded> {
    let mut all: Vec<Guarded> = ROUTES.iter().flat_map(of_route).collect();
    let named = |scope: &str, name: &str| (format!("{scope} {name}"), format!("{scope}:{name}"));
    for action in kiln_api::cfn::ACTIONS {
        let (name, rule) = named("cloudformation", action.name);
        all.push(Guarded { name, rule, request: Target::CloudFormation(action.name) });
    }
    for action in kiln_api::cloudwatch::ACTIONS {
        let (name, rule) = named("cloudwatch", action.name);
        all.push(Guarded { name, rule, request: Target::CloudWatch(action.name) });
    }
    let types = recorded_checks().into_keys();
    all.extend(types.filter_map(|rule| {
        let type_name = rule.strip_prefix("resource_types:")?.to_owned();
        let template = format!(
            "{{heat_template_version: 2021-04-16, resources: {{r: {{type: '{type_name}'}}}}}}"
        );
        let body = json!({ "stack_name": "typed", "template": template }).to_string();
        let request =
            Target::Native { method: "POST", path: "/v1/demo/stacks/preview".into(), body };
        Some(Guarded { name: format!("use of {type_name}"), rule, request })
    }));
    all
}

/// The requests of a route: one for each rule that it may have.
fn of_route(route: &'static kiln_api::routes::Route) -> Vec<Guarded> {
    let rules = match route.rule {
        Rule::Named(rule) => vec![rule],
        Rule::OfBody(_, rules) => rules.to_vec(),
    };
    let guarded = |rule: &&'static str| {
        let body = match (route.body, rule.strip_prefix("actions:")) {
            (_, Some(action)) if route.path.ends_with("/actions") => {
                format!("{{\"{action}\": null}}")
            }
            _ if *rule == "stacks:update_patch" => r#"{"tags": "a"}"#.to_owned(),
            (BodyNeed::Object, _) => "{}".to_owned(),
            _ => String::new(),
        };
        let path = crate::rights::concrete(route.path);
        let name = match rules.len() {
            1 => format!("{} {}", route.method, route.path),
            _ => format!("{} {} ({rule})", route.method, route.path),
        };
        let request = Target::Native { method: route.method, path, body };
        Guarded { name, rule: (*rule).to_owned(), request }
    };
    rules.iter().map(guarded).collect()
}

/// Makes a request of a caller; what is asked for need not exist.
async fn ask(api: &TestApi, caller: &str, request: &Target) -> Verdict {
    let (reply, refusal) = match request {
        Target::Native { method, path, body } => {
            (api.raw(caller, method, path, body).await, "You are not authorized to use ")
        }
        Target::CloudFormation(action) => {
            (api.cfn(caller, &format!("Action={action}&StackName=x")).await, "not allowed for user")
        }
        Target::CloudWatch(action) => (watch(api, caller, action).await, "not allowed for user"),
    };
    assert_ne!(reply.status, 401, "{caller}: {reply:?}");
    // Where the path names another project than the token, no rule is asked.
    let is_by_policy = reply.text.contains(refusal) && !reply.text.contains("use this action.")
        || reply.text.contains("HTTPForbidden");
    match reply.status {
        403 if is_by_policy => Verdict::Refused,
        403 => Verdict::OwnOnly,
        _ => Verdict::Allowed,
    }
}

async fn watch(api: &TestApi, caller: &str, action: &str) -> Reply {
    let path = format!("/v1/?{}&Action={action}", signature(caller));
    let request = HttpRequest::builder().uri(path).header("host", "kiln.example:8003");
    let request = request.body(Body::empty()).expect("a request");
    crate::test_api::reply(kiln_api::cloudwatch::answer(api.app.clone(), request).await).await
}
