//! What the answers look like: a table of objects, and which route answers with which.

use super::{list, members, object};
use crate::routes::Route;
use kiln_template::Value;
use kiln_template::value::Members;
use std::sync::Arc;

/// An object and its members. A kind that ends in `?` may be null, a name that ends in `?` may be missing.
type Shape = (&'static str, &'static [(&'static str, &'static str)]);

#[rustfmt::skip]
const SHAPES: [Shape; 15] = [
    ("Link", &[("href", "text"), ("rel", "text")]),
    ("NewStack", &[("id", "text"), ("links", "Link*")]),
    ("ListedStack", &[
        ("id", "text"), ("links", "Link*"), ("stack_name", "text"), ("description", "any"),
        ("stack_status", "text"), ("stack_status_reason", "text"), ("creation_time", "time"),
        ("updated_time", "time?"), ("deletion_time", "time?"), ("stack_owner", "text?"),
        ("parent", "text?"), ("stack_user_project_id", "text?"), ("tags", "list?"),
        ("project?", "text"),
    ]),
    ("Stack", &[
        ("id", "text"), ("links", "Link*"), ("stack_name", "text"), ("description", "any"),
        ("stack_status?", "text"), ("stack_status_reason?", "text"), ("creation_time", "time"),
        ("updated_time", "time?"), ("deletion_time", "time?"), ("stack_owner", "text?"),
        ("parent", "text?"), ("stack_user_project_id", "text?"), ("tags", "list"),
        ("template_description", "any"), ("parameters", "map"), ("outputs?", "Output*"),
        ("capabilities", "list"), ("notification_topics", "list"), ("disable_rollback", "flag"),
        ("timeout_mins", "count?"), ("resources?", "list"),
    ]),
    ("ListedOutput", &[("output_key", "text"), ("description", "any")]),
    ("Output", &[
        ("output_key", "text"), ("description", "any"), ("output_value", "any"),
        ("output_error?", "text"),
    ]),
    ("Resource", &[
        ("updated_time", "time"), ("creation_time", "time"), ("logical_resource_id", "text"),
        ("resource_name", "text"), ("physical_resource_id", "text"), ("resource_status", "text"),
        ("resource_status_reason", "text"), ("resource_type", "text"), ("links", "Link*"),
        ("required_by", "list"), ("parent_resource?", "text"), ("description?", "text"),
        ("attributes?", "map"),
    ]),
    ("Event", &[
        ("id", "text"), ("links", "Link*"), ("event_time", "time"), ("logical_resource_id", "text"),
        ("resource_name", "text"), ("physical_resource_id", "text"), ("resource_status", "text"),
        ("resource_status_reason", "text"), ("resource_type?", "text"),
        ("resource_properties?", "map?"),
    ]),
    ("Changes", &[
        ("unchanged", "list"), ("updated", "list"), ("replaced", "list"), ("added", "list"),
        ("deleted", "list"),
    ]),
    ("Document", &[
        ("name", "text"), ("id", "text"), ("action", "text"), ("status", "text"), ("template", "map"),
        ("environment", "map"), ("files", "map"), ("project_id", "text"),
        ("stack_user_project_id", "text"), ("tags", "list"), ("resources", "map"),
    ]),
    ("Snapshot", &[
        ("id", "text"), ("name", "text?"), ("action", "text"), ("status", "text"),
        ("status_reason", "text?"), ("data", "map"), ("creation_time", "time"),
    ]),
    ("Validation", &[
        ("Description", "any"), ("Parameters", "map"), ("ParameterGroups?", "list"),
        ("NestedParameters?", "map"), ("Environment", "map"),
    ]),
    ("ListedConfig", &[
        ("id", "text"), ("name", "text?"), ("group", "text?"), ("creation_time", "time"),
        ("project?", "text"),
    ]),
    ("Config", &[
        ("id", "text"), ("name", "text?"), ("group", "text?"), ("creation_time", "time"),
        ("config", "any"), ("inputs", "list"), ("outputs", "list"), ("options", "map"),
    ]),
    ("Deployment", &[
        ("id", "text"), ("server_id", "text"), ("config_id", "text?"), ("input_values", "map?"),
        ("output_values", "map?"), ("action", "text?"), ("status", "text?"), ("status_reason", "text?"),
        ("creation_time", "time"), ("updated_time?", "time"),
    ]),
];

/// What a route answers with if all goes well: an object under a name, several of them (`*`), or a kind
/// alone. Nothing for an answer that only says that it is one.
fn shape(route: &Route) -> Option<(&'static str, &'static str)> {
    let path = route.path.strip_prefix("/{tenant_id}").unwrap_or(route.path);
    let path = path.strip_prefix("/stacks/{stack_name}/{stack_id}").unwrap_or(path);
    Some(match (route.method, path) {
        (_, "/validate") => ("", "Validation"),
        (_, "/resource_types") => ("resource_types", "any*"),
        (_, "/template_versions") => ("template_versions", "map*"),
        (_, "/template_versions/{template_version}/functions") => ("template_functions", "map*"),
        ("GET", "/stacks" | "/stacks/detail") => ("stacks", "ListedStack*"),
        ("POST", "/stacks") => ("stack", "NewStack"),
        ("POST", "/stacks/preview") | ("GET", "") => ("stack", "Stack"),
        (_, "/preview") => ("resource_changes", "Changes"),
        ("POST", "/snapshots") => ("", "Snapshot"),
        (_, "/snapshots") => ("snapshots", "Snapshot*"),
        ("GET", "/snapshots/{snapshot_id}") => ("snapshot", "Snapshot"),
        (_, "/outputs") => ("outputs", "ListedOutput*"),
        (_, "/outputs/{output_key}") => ("output", "Output"),
        (_, "/abandon" | "/export") => ("", "Document"),
        ("GET", "/resources") => ("resources", "Resource*"),
        ("GET", "/resources/{resource_name}") => ("resource", "Resource"),
        (_, "/resources/{resource_name}/metadata") => ("metadata", "any"),
        (_, "/events" | "/resources/{resource_name}/events") => ("events", "Event*"),
        (_, "/resources/{resource_name}/events/{event_id}") => ("event", "Event"),
        ("GET", "/software_configs") => ("software_configs", "ListedConfig*"),
        (_, "/software_configs" | "/software_configs/{config_id}") => ("software_config", "Config"),
        ("GET", "/software_deployments") => ("software_deployments", "Deployment*"),
        (_, "/software_deployments/metadata/{server_id}") => ("metadata", "Config*"),
        (_, "/software_deployments" | "/software_deployments/{deployment_id}") => {
            ("software_deployment", "Deployment")
        }
        (_, "/services") => ("services", "map*"),
        ("GET", _) => ("", "map"),
        // Actions, signals and marks answer with null.
        _ => return None,
    })
}

/// What a route answers with if all goes well, by content type.
pub(super) fn content(route: &Route) -> Value {
    let is_text = matches!(route.success, 202 | 302);
    let schema = match shape(route) {
        _ if is_text => object([("type", "object".into())]),
        None => object([("nullable", true.into())]),
        Some(("", what)) => kind(what),
        Some((name, what)) => object([
            ("type", "object".into()),
            ("required", Value::list([name.into()])),
            ("properties", object([(name, kind(what))])),
        ]),
    };
    let mut content = members([("application/json", object([("schema", schema)]))]);
    let text = || object([("schema", object([("type", "string".into())]))]);
    if is_text {
        content.insert("text/plain".into(), text());
    }
    if route.path.ends_with("{stack_id}/events") {
        content.insert("text/event-stream".into(), text());
    }
    Value::Map(Arc::new(content))
}

/// The objects, by their names.
pub(super) fn schemas() -> Members {
    SHAPES.iter().map(|(name, parts)| ((*name).into(), record(parts))).collect()
}

fn record(parts: &[(&str, &str)]) -> Value {
    let bare = |name: &str| name.trim_end_matches('?').to_owned();
    let required = parts.iter().filter(|(name, _)| !name.ends_with('?'));
    let properties = parts.iter().map(|(name, what)| (bare(name), kind(what)));
    object([
        ("type", "object".into()),
        ("required", Value::list(required.map(|(name, _)| Value::from(*name)))),
        ("properties", Value::map(properties)),
    ])
}

fn kind(what: &str) -> Value {
    if let Some(of) = what.strip_suffix('*') {
        return list(kind(of));
    }
    let (what, is_nullable) = match what.strip_suffix('?') {
        Some(what) => (what, true),
        None => (what, false),
    };
    let word = match what {
        "any" => return object([("nullable", true.into())]),
        "list" => return nullable(list(object([("nullable", true.into())])), is_nullable),
        "text" => "string",
        "time" => {
            let time = object([("type", "string".into()), ("format", "date-time".into())]);
            return nullable(time, is_nullable);
        }
        "flag" => "boolean",
        "count" => "integer",
        "map" => "object",
        shape => return object([("$ref", format!("#/components/schemas/{shape}").into())]),
    };
    nullable(object([("type", word.into())]), is_nullable)
}

fn nullable(schema: Value, is_nullable: bool) -> Value {
    match schema {
        Value::Map(mut schema) if is_nullable => {
            Arc::make_mut(&mut schema).insert("nullable".into(), true.into());
            Value::Map(schema)
        }
        schema => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_answer_is_of_a_known_kind() {
        let words = ["any", "list", "text", "time", "flag", "count", "map"];
        let of_routes = ROUTES.iter().filter_map(|route| Some(shape(route)?.1));
        let of_shapes = SHAPES.iter().flat_map(|(_, parts)| parts.iter().map(|(_, what)| *what));
        for what in of_routes.chain(of_shapes) {
            let what = what.trim_end_matches(['*', '?']);
            let is_shape = SHAPES.iter().any(|(name, _)| *name == what);
            assert!(is_shape || words.contains(&what), "{what}");
        }
    }

    #[test]
    fn every_route_that_shows_something_says_what() {
        for route in ROUTES.iter().filter(|route| route.method == "GET" && route.success == 200) {
            assert!(shape(route).is_some(), "{} {}", route.method, route.path);
        }
    }
}
