//! The API described for programs: an OpenAPI document made of the table of routes.

mod responses;

use crate::routes::{BodyNeed, ROUTES, Route};
use kiln_template::{Members, Value};
use std::sync::Arc;

/// Parameters that are numbers.
const NUMBERS: [&str; 2] = ["limit", "nested_depth"];

/// Parameters that are yes or no.
const FLAGS: [&str; 10] = [
    "global_tenant",
    "resolve_outputs",
    "show_deleted",
    "show_hidden",
    "show_nested",
    "with_condition_func",
    "with_count",
    "with_description",
    "with_detail",
    "existing",
];

/// The document.
pub(crate) fn document() -> Value {
    let mut paths: Vec<(String, Members)> = Vec::new();
    for route in ROUTES {
        for path in written_out(route.path) {
            let operations = match paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, operations)) => operations,
                None => {
                    paths.push((path.clone(), Members::new()));
                    let last = paths.len() - 1;
                    &mut paths[last].1
                }
            };
            operations.insert(route.method.to_lowercase().into(), operation(route, &path));
        }
    }
    let paths = paths.into_iter().map(|(path, operations)| (path, Value::Map(operations.into())));
    object([
        ("openapi", "3.0.3".into()),
        (
            "info",
            object([
                ("title", "Kiln orchestration API".into()),
                ("version", "1.0".into()),
                (
                    "description",
                    "The native API, as OpenStack's clients speak it. A stack's name or ARN alone is \
                     answered with a redirect to its full address."
                        .into(),
                ),
            ]),
        ),
        ("security", Value::list([object([("token", Value::list([]))])])),
        ("paths", Value::map(paths)),
        ("components", components()),
    ])
}

/// The paths of a route: one for each of the words that a part may be. What OpenAPI cannot tell apart
/// from another path is left out.
fn written_out(path: &str) -> Vec<String> {
    if path.contains("{arn}") {
        return Vec::new();
    }
    match path.split_once("{path:") {
        None => vec![format!("/v1{path}")],
        Some((head, rest)) => {
            let (choices, tail) = rest.split_once('}').unwrap_or((rest, ""));
            choices.split('|').map(|choice| format!("/v1{head}{choice}{tail}")).collect()
        }
    }
}

fn operation(route: &Route, path: &str) -> Value {
    let varying = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let of_path = varying.map(|name| parameter("path", name));
    let of_query = route.query.iter().map(|name| parameter("query", name));
    let mut operation = members([
        ("summary", route.about.into()),
        ("operationId", operation_id(route, path).into()),
        ("parameters", Value::list(of_path.chain(of_query))),
        ("responses", responses(route)),
    ]);
    if matches!(route.body, BodyNeed::Object | BodyNeed::Any) {
        let content = object([("application/json", object([("schema", body(route))]))]);
        let is_required = route.body == BodyNeed::Object;
        let body = object([("required", is_required.into()), ("content", content)]);
        operation.insert("requestBody".into(), body);
    }
    Value::Map(Arc::new(operation))
}

/// A name that no other operation has.
fn operation_id(route: &Route, path: &str) -> String {
    let words = path.split('/').filter(|it| !it.is_empty() && *it != "v1" && *it != "{tenant_id}");
    let words: Vec<String> = words.map(|it| it.trim_matches(['{', '}']).to_owned()).collect();
    format!("{}_{}", route.method.to_lowercase(), words.join("_"))
}

fn parameter(place: &str, name: &str) -> Value {
    let schema = match place {
        "path" => object([("type", "string".into()), ("minLength", 1.into())]),
        _ if NUMBERS.contains(&name) => object([("type", "integer".into()), ("minimum", 0.into())]),
        _ if FLAGS.contains(&name) => object([("type", "boolean".into())]),
        _ if name == "sort_dir" => {
            let words = Value::list(["asc", "desc"].map(Value::from));
            object([("type", "string".into()), ("enum", words)])
        }
        _ => object([("type", "string".into())]),
    };
    object([
        ("name", name.into()),
        ("in", place.into()),
        ("required", (place == "path").into()),
        ("schema", schema),
    ])
}

/// The body of a request.
fn body(route: &Route) -> Value {
    let any = || object([("description", "Anything.".into())]);
    let kind = |kind: &str| object([("type", Value::from(kind))]);
    let mut required = Vec::new();
    let properties = match (route.method, route.path.rsplit('/').next().unwrap_or_default()) {
        ("POST", "actions") => {
            let words = ["cancel_update", "cancel_without_rollback", "check", "resume", "suspend"];
            words.map(|word| (word, any())).to_vec()
        }
        ("POST", "signal") => Vec::new(),
        ("PATCH", "{resource_name}") => {
            required.push("mark_unhealthy");
            vec![("mark_unhealthy", kind("boolean")), ("resource_status_reason", kind("string"))]
        }
        ("POST", "software_configs") => vec![
            ("name", kind("string")),
            ("group", kind("string")),
            ("config", any()),
            ("inputs", list(kind("object"))),
            ("outputs", list(kind("object"))),
            ("options", kind("object")),
        ],
        (_, "software_deployments" | "{deployment_id}") => vec![
            ("config_id", kind("string")),
            ("server_id", kind("string")),
            ("input_values", kind("object")),
            ("output_values", kind("object")),
            ("action", kind("string")),
            ("status", kind("string")),
            ("status_reason", kind("string")),
        ],
        ("POST", "apply") => vec![("digest", kind("string")), ("allow_replace", kind("boolean"))],
        ("POST", "snapshots") => vec![("name", kind("string"))],
        (_, last) => {
            if matches!(last, "stacks" | "preview") && route.method == "POST" {
                required.push("stack_name");
            }
            vec![
                ("stack_name", kind("string")),
                ("template", any()),
                ("template_url", kind("string")),
                ("environment", any()),
                ("environment_files", list(kind("string"))),
                ("files", kind("object")),
                ("parameters", kind("object")),
                ("disable_rollback", kind("boolean")),
                ("timeout_mins", kind("integer")),
                ("tags", kind("string")),
            ]
        }
    };
    let mut schema = members([("type", "object".into()), ("properties", Value::map(properties))]);
    if !required.is_empty() {
        let required = required.into_iter().map(Value::from);
        schema.insert("required".into(), Value::list(required));
    }
    Value::Map(Arc::new(schema))
}

fn list(of: Value) -> Value {
    object([("type", "array".into()), ("items", of)])
}

fn responses(route: &Route) -> Value {
    let fault = || object([("$ref", "#/components/responses/Fault".into())]);
    let mut responses = members([(&*route.success.to_string(), success(route))]);
    for status in [400, 403, 404, 409, 503] {
        responses.insert(status.to_string().into(), fault());
    }
    if route.query.contains(&"wait") {
        let same = object([("description", "It is as the client knows it.".into())]);
        responses.insert("304".into(), same);
    }
    responses
        .insert("401".into(), object([("$ref", "#/components/responses/Unauthorized".into())]));
    Value::Map(Arc::new(responses))
}

fn success(route: &Route) -> Value {
    let mut response = members([("description", route.about.into())]);
    if route.success != 204 {
        response.insert("content".into(), responses::content(route));
    }
    Value::Map(Arc::new(response))
}

fn components() -> Value {
    let kind = |kind: &str| object([("type", Value::from(kind))]);
    let error = object([
        ("type", "object".into()),
        ("required", Value::list(["type", "traceback"].map(Value::from))),
        (
            "properties",
            object([
                ("type", kind("string")),
                ("message", kind("string")),
                ("traceback", object([("type", "string".into()), ("nullable", true.into())])),
                ("findings", list(kind("object"))),
            ]),
        ),
    ]);
    let fault = object([
        ("type", "object".into()),
        ("required", Value::list(["code", "title", "explanation", "error"].map(Value::from))),
        (
            "properties",
            object([
                ("code", kind("integer")),
                ("title", kind("string")),
                ("explanation", kind("string")),
                ("error", error),
            ]),
        ),
    ]);
    let token = object([
        ("type", "apiKey".into()),
        ("in", "header".into()),
        ("name", "X-Auth-Token".into()),
    ]);
    let content = |schema: Value| object([("application/json", object([("schema", schema)]))]);
    let mut schemas = responses::schemas();
    schemas.insert("Fault".into(), fault);
    object([
        ("schemas", Value::Map(Arc::new(schemas))),
        (
            "responses",
            object([
                (
                    "Fault",
                    object([
                        ("description", "What is wrong.".into()),
                        (
                            "content",
                            content(object([("$ref", "#/components/schemas/Fault".into())])),
                        ),
                    ]),
                ),
                (
                    "Unauthorized",
                    object([
                        ("description", "The token is missing, wrong or expired.".into()),
                        ("content", content(kind("object"))),
                    ]),
                ),
            ]),
        ),
        ("securitySchemes", object([("token", token)])),
    ])
}

fn members<const N: usize>(parts: [(&str, Value); N]) -> Members {
    parts.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn object<const N: usize>(parts: [(&str, Value); N]) -> Value {
    Value::Map(Arc::new(members(parts)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_route_is_described_once() {
        let document = document();
        let paths = document.as_map().and_then(|it| it.get("paths")?.as_map()).unwrap();
        let mut ids = BTreeSet::new();
        let mut count = 0;
        for operations in paths.values() {
            for operation in operations.as_map().unwrap().values() {
                let id = operation.as_map().and_then(|it| it.get("operationId")?.as_text());
                assert!(ids.insert(id.unwrap().clone()), "{id:?}");
                count += 1;
            }
        }
        let expected: usize = ROUTES.iter().map(|route| written_out(route.path).len()).sum();
        assert_eq!(count, expected);
    }
}
